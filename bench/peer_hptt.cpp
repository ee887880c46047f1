/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_hptt.cpp - HPTT and tesela on the permutations of HPTT's own benchmark, f32.
 *
 *   peer_hptt [--measure] [--only=TEXT] [--rounds=N] [--threads=1,2]
 *
 * Built only if TESELA_HPTT_ROOT names a folder with HPTT's include/hptt.h and lib/. --measure adds HPTT's MEASURE
 * plans, which take up to 10 seconds each to make. The two results are compared byte by byte before the race.
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <hptt.h>

#include "race.h"
#include "timing.h"

namespace {

constexpr size_t buffer_bytes = 320u << 20;

struct peer_options {
  std::string only;
  std::vector<int> threads{1, 2};
  int rounds = 7;
  bool measure = false;
};

struct permutation {
  std::string text;
  std::vector<int> perm, size;
};

/* The three contestants of each count of threads, and what is summed up of them. */
struct means {
  double vs_memcpy = 0, vs_nt = 0, vs_estimate = 0, vs_measure = 0;
  int n = 0, slower = 0;
};

float *dst_own, *dst_hptt, *src_both;

std::vector<permutation> read_permutations(const char *path) {
  std::ifstream file(path);
  std::vector<permutation> all;
  if (!file) race_fail("%s cannot be read", path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    permutation p{line, {}, {}};
    std::istringstream perm(line.substr(0, line.find('|'))), size(line.substr(line.find('|') + 1));
    for (int x; perm >> x;) p.perm.push_back(x);
    for (int x; size >> x;) p.size.push_back(x);
    if (p.perm.empty() || p.perm.size() != p.size.size())
      race_fail("%s: not PERMUTATION | SIZES", line.c_str());
    all.push_back(p);
  }
  return all;
}

/* Both are column-major: dim i of the result is dim perm[i] of the input. */
tesela_plan *plan_of(const permutation &p, int threads) {
  const auto rank = static_cast<int32_t>(p.perm.size());
  int64_t shape[TESELA_MAX_RANK], from[TESELA_MAX_RANK], to[TESELA_MAX_RANK], next = 1;
  for (int32_t d = 0; d < rank; next *= p.size[d++]) {
    shape[d] = p.size[d];
    from[d] = next;
  }
  next = 1;
  for (int32_t d = 0; d < rank; next *= p.size[p.perm[d++]]) to[p.perm[d]] = next;
  tesela_layout dst, input;
  tesela_plan_options o{};
  tesela_plan *plan = nullptr;
  tesela_error err{};
  o.threads = threads;
  if (tesela_layout_strided(&dst, TESELA_F32, 32, rank, shape, to, 0, &err) != TESELA_OK ||
      tesela_layout_strided(&input, TESELA_F32, 32, rank, shape, from, 0, &err) != TESELA_OK ||
      tesela_plan_create(&plan, &dst, &input, &o, &err) != TESELA_OK)
    race_fail("%s: %s", p.text.c_str(), err.message);
  return plan;
}

using hptt_plan = std::shared_ptr<hptt::Transpose<float>>;

hptt_plan hptt_plan_of(const permutation &p, int threads, hptt::SelectionMethod method) {
  return hptt::create_plan(p.perm.data(), static_cast<int>(p.perm.size()), 1.0f, src_both, p.size.data(),
                           nullptr, 0.0f, dst_hptt, nullptr, method, threads);
}

void run_hptt(void *plan) { static_cast<hptt_plan *>(plan)->get()->execute(); }

void run_case(const permutation &p, int threads, const peer_options &o, means &m) {
  size_t bytes = sizeof(float);
  for (int s : p.size) bytes *= static_cast<size_t>(s);
  if (bytes > buffer_bytes) race_fail("%s: too large", p.text.c_str());
  tesela_plan *plan = plan_of(p, threads);
  hptt_plan estimate = hptt_plan_of(p, threads, hptt::ESTIMATE), measured = estimate;
  if (o.measure) measured = hptt_plan_of(p, threads, hptt::MEASURE);
  race_copy copy{reinterpret_cast<unsigned char *>(dst_own),
                 reinterpret_cast<const unsigned char *>(src_both), bytes, threads};
  race_plan own{plan, dst_own, src_both};
  const double counted = 2.0 * static_cast<double>(bytes);
  racer r[5]{};
  r[0] = {race_memcpy, &copy, counted, {}};
  r[1] = {race_nt_copy, &copy, counted, {}};
  r[2] = {run_hptt, &estimate, counted, {}};
  r[3] = {race_run_plan, &own, counted, {}};
  r[4] = {run_hptt, &measured, counted, {}};
  std::memset(static_cast<void *>(dst_own), 0xa5, bytes);
  std::memset(static_cast<void *>(dst_hptt), 0x5a, bytes);
  race_run_plan(&own);
  estimate->execute();
  if (std::memcmp(dst_own, dst_hptt, bytes) != 0) race_fail("%s: the results differ", p.text.c_str());
  racer *all[] = {&r[0], &r[1], &r[2], &r[3], &r[4]};
  race(all, o.measure ? 5 : 4, o.rounds);
  const double vs_memcpy = race_ratio(&r[3], &r[0], o.rounds), vs_nt = race_ratio(&r[3], &r[1], o.rounds);
  const double vs_estimate = race_ratio(&r[3], &r[2], o.rounds);
  const double vs_measure = o.measure ? race_ratio(&r[3], &r[4], o.rounds) : 1;
  std::printf("%-40s %2d %7.1f %8.2f %6.2f %9.2f", p.text.c_str(), threads, race_gbs(&r[3], o.rounds),
              vs_memcpy, vs_nt, vs_estimate);
  if (o.measure) std::printf(" %8.2f", vs_measure);
  std::printf("  %s%s\n", vs_estimate < 1 || vs_measure < 1 ? "SLOWER  " : "", race_plan_line(plan));
  bench_figure(threads == 1 ? "hptt.estimate_1" : "hptt.estimate_2", vs_estimate);
  m.vs_memcpy += std::log(vs_memcpy);
  m.vs_nt += std::log(vs_nt);
  m.vs_estimate += std::log(vs_estimate);
  m.vs_measure += std::log(vs_measure);
  m.slower += vs_estimate < 1 || vs_measure < 1;
  m.n++;
  tesela_plan_destroy(plan);
}

void print_means(int threads, const means &m, bool measure) {
  if (m.n == 0) return;
  std::printf("%d threads, %d cases, geometric means: %.2f x memcpy, %.2f x NT copy, %.2f x HPTT ESTIMATE",
              threads, m.n, std::exp(m.vs_memcpy / m.n), std::exp(m.vs_nt / m.n),
              std::exp(m.vs_estimate / m.n));
  if (measure) std::printf(", %.2f x HPTT MEASURE", std::exp(m.vs_measure / m.n));
  std::printf("; slower on %d\n", m.slower);
}

peer_options peer_options_of(int argc, char **argv) {
  peer_options o;
  for (int i = 1; i < argc; i++) {
    const std::string text = argv[i], value = text.substr(text.find('=') + 1);
    if (text == "--measure") {
      o.measure = true;
    } else if (text.rfind("--only=", 0) == 0) {
      o.only = value;
    } else if (text.rfind("--rounds=", 0) == 0) {
      o.rounds = std::atoi(value.c_str());
    } else if (text.rfind("--threads=", 0) == 0) {
      std::istringstream list(value);
      o.threads.clear();
      for (std::string x; std::getline(list, x, ',');) o.threads.push_back(std::atoi(x.c_str()));
    } else {
      race_fail("usage: peer_hptt [--measure] [--only=TEXT] [--rounds=N] [--threads=1,2]");
    }
  }
  return o;
}

} // namespace

int main(int argc, char **argv) {
  const peer_options o = peer_options_of(argc, argv);
  dst_own = static_cast<float *>(race_buffer(buffer_bytes));
  dst_hptt = static_cast<float *>(race_buffer(buffer_bytes));
  src_both = static_cast<float *>(race_buffer(buffer_bytes));
  for (size_t i = 0; i < buffer_bytes / sizeof(float); i++)
    src_both[i] = static_cast<float>(i % 16777213); /* no NaN */
  std::printf("%-40s %2s %7s %8s %6s %9s%s\n", "permutation | sizes", "th", "GB/s", "x memcpy", "x NT",
              "x ESTIM.", o.measure ? " x MEAS." : "");
  for (int threads : o.threads) {
    means m;
    for (const permutation &p : read_permutations(BENCH_DIR "/hptt_cases.txt"))
      if (p.text.find(o.only) != std::string::npos) run_case(p, threads, o, m);
    print_means(threads, m, o.measure);
  }
  return 0;
}
