/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_transfer.c - transfers to the device's order, back, and between two stick dims, in times of memcpy of as many bytes; and
 * what asking about a view costs.
 *
 * Every transfer is checked before it is timed: the dump is verified against the host tensor, and what comes back is compared.
 * Sizes leave the caches. Counted are the bytes read and written; memcpy runs with as many threads and moves as many. `noise`
 * is the spread of the transfer's rounds (90th over 10th percentile).
 *
 *   bench_transfer [threads [word [rounds]]]   1 and 2 threads if none is given; only what has the word in its name
 */
#include <string.h>

#include "race.h"
#include "timing.h"

enum { ROUNDS = 9, BUFFER_BYTES = 288 << 20 };

static int rounds = ROUNDS;
static const char *word = ""; /* only transfers with it in their name */

static unsigned char *host_buffer, *device_buffer, *other_buffer;

static void must(tesela_status status, const tesela_error *err) {
  if (status != TESELA_OK) race_fail("%s", err->message);
}

/* ---- transfers --------------------------------------------------------------------------------------------------- */

typedef struct timed_transfer {
  const tesela_transfer *transfer;
  void *dst;
  const void *src;
} timed_transfer;

static void run_transfer(void *data) {
  timed_transfer *t = data;
  tesela_error err;
  must(tesela_transfer_run(t->transfer, t->dst, t->src, NULL, &err), &err);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void race_transfer(const char *what, tesela_transfer *transfer, void *dst, const void *src,
                          int threads) {
  if (!strstr(what, word)) return;
  tesela_transfer_facts facts = tesela_transfer_facts_of(transfer);
  timed_transfer timed = {transfer, dst, src};
  size_t half = (size_t)(facts.bytes_read + facts.bytes_written) / 2;
  race_copy copy = {other_buffer, host_buffer, half, threads};
  if (dst == (void *)other_buffer) copy = (race_copy){host_buffer, device_buffer, half, threads};
  racer ours = {.run = run_transfer, .data = &timed, .bytes = 2.0 * (double)half};
  racer theirs = {.run = race_memcpy, .data = &copy, .bytes = 2.0 * (double)half};
  racer *both[] = {&ours, &theirs};
  race(both, 2, rounds);
  double ratio = race_ratio(&ours, &theirs, rounds), sorted[RACE_MOST_ROUNDS];
  memcpy(sorted, ours.ns, sizeof sorted);
  qsort(sorted, (size_t)rounds, sizeof sorted[0], ascending);
  printf("  %-58s %d %8.1f %8.1f %7.2f  %5.2f\n", what, threads, race_gbs(&ours, rounds),
         race_gbs(&theirs, rounds), ratio, sorted[rounds - 1 - rounds / 10] / sorted[rounds / 10]);
  bench_figure(threads == 1 ? "transfer.ratio_1" : "transfer.ratio_2", ratio);
  fflush(stdout);
}

typedef struct transfer_case {
  const char *name;
  const char *target;
  tesela_dtype dtype;
  int32_t rank;
  int64_t shape[4];
  int32_t stick; /* of the other layout; the default has its own */
} transfer_case;

static const transfer_case cases[] = {
    {"f16[8192,8192], spyre", "spyre", TESELA_F16, 2, {8192, 8192}, 0},
    {"f16[8191,8100], spyre", "spyre", TESELA_F16, 2, {8191, 8100}, 0},
    {"f16[64,512,2048], spyre", "spyre", TESELA_F16, 3, {64, 512, 2048}, 1},
    {"f32[4096,8192], spyre", "spyre", TESELA_F32, 2, {4096, 8192}, 0},
    {"bf16[8192,8192] as f16, spyre", "spyre", TESELA_BF16, 2, {8192, 8192}, 0},
    {"s64[4096,8192] as s32, spyre", "spyre", TESELA_S64, 2, {4096, 8192}, 0},
    {"bf16[4096,8192] as f32, tiles", "tiles", TESELA_BF16, 2, {4096, 8192}, 0},
    {"f32[4096,8192], tiles", "tiles", TESELA_F32, 2, {4096, 8192}, 0},
};

/* Small numbers that all types hold. */
static void fill_host(const tesela_device_host *host, int64_t elements) {
  size_t bytes = (size_t)host->bits / 8;
  race_fill(host_buffer, (size_t)elements * bytes);
  for (int64_t e = 0; e < elements && host->dtype != host->device_dtype; e++) {
    unsigned char *at = host_buffer + (size_t)e * bytes;
    if (host->dtype == TESELA_S64) memset(at + 3, 0, 5);
    if (host->dtype == TESELA_BF16) at[1] = 0x3f; /* 0.5 to 2 */
  }
}

/* Is one of the case's three transfers asked for? */
static bool is_asked_for(const transfer_case *c) {
  char what[3][120];
  snprintf(what[0], sizeof what[0], "%s: to device", c->name);
  snprintf(what[1], sizeof what[1], "%s: to host", c->name);
  snprintf(what[2], sizeof what[2], "%s: sticks along dim %d", c->name, (int)c->stick);
  return strstr(what[0], word) || strstr(what[1], word) || strstr(what[2], word);
}

static void run_case(const transfer_case *c, int threads) {
  if (!is_asked_for(c)) return;
  const tesela_target *target = tesela_target_find(c->target);
  tesela_device_layout layout, other;
  tesela_transfer *to, *back, *between;
  tesela_transfer_options options = {.threads = threads};
  tesela_misplaced m;
  tesela_error err;
  char what[120];
  must(tesela_device_default(&layout, target, c->dtype, c->rank, c->shape, &err), &err);
  must(tesela_device_with_stick(&other, &layout.host, target, c->stick, &err), &err);
  must(tesela_transfer_to_device(&to, &layout, NULL, 0, &options, &err), &err);
  must(tesela_transfer_to_host(&back, &layout, NULL, 0, &options, &err), &err);
  must(tesela_transfer_between(&between, &other, &layout, &options, &err), &err);
  tesela_transfer_facts facts = tesela_transfer_facts_of(to);
  int64_t dump = layout.places * layout.host.device_bits / 8,
          moved = other.places * other.host.device_bits / 8;
  if (dump > BUFFER_BYTES || moved > BUFFER_BYTES || facts.src_bytes > BUFFER_BYTES)
    race_fail("%s is too large", c->name);
  fill_host(&layout.host, facts.elements);
  must(tesela_transfer_run(to, device_buffer, host_buffer, NULL, &err), &err);
  must(tesela_transfer_verify(&layout, device_buffer, dump, NULL, 0, host_buffer, &m, NULL, NULL, &err),
       &err);
  if (!m.same) race_fail("%s: %lld elements are misplaced", c->name, (long long)m.n_different);
  must(tesela_transfer_run(between, other_buffer, device_buffer, NULL, &err), &err);
  must(tesela_transfer_verify(&other, other_buffer, moved, NULL, 0, host_buffer, &m, NULL, NULL, &err), &err);
  if (!m.same)
    race_fail("%s: %lld elements are misplaced after the re-stick", c->name, (long long)m.n_different);
  snprintf(what, sizeof what, "%s: to device", c->name);
  race_transfer(what, to, device_buffer, host_buffer, threads);
  must(tesela_transfer_run(to, device_buffer, host_buffer, NULL, &err), &err);
  must(tesela_transfer_run(back, other_buffer, device_buffer, NULL, &err), &err);
  if (layout.host.dtype == layout.host.device_dtype &&
      memcmp(other_buffer, host_buffer, (size_t)facts.src_bytes) != 0)
    race_fail("%s: what comes back differs", c->name);
  snprintf(what, sizeof what, "%s: to host", c->name);
  race_transfer(what, back, other_buffer, device_buffer, threads);
  must(tesela_transfer_run(to, device_buffer, other_buffer, NULL, &err), &err);
  snprintf(what, sizeof what, "%s: sticks along dim %d", c->name, (int)c->stick);
  race_transfer(what, between, other_buffer, device_buffer, threads);
  tesela_transfer_destroy(to);
  tesela_transfer_destroy(back);
  tesela_transfer_destroy(between);
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

typedef struct view_case {
  const char *name;
  int32_t rank;
  int64_t base[3];
  tesela_host_view view;
} view_case;

static const view_case views[] = {
    {"the whole of [4096,4096]", 2, {4096, 4096}, {2, 0, {4096, 4096}, {4096, 1}}},
    {"its transpose", 2, {4096, 4096}, {2, 0, {4096, 4096}, {1, 4096}}},
    {"its columns from 40", 2, {4096, 4096}, {2, 40, {4096, 4000}, {4096, 1}}},
    {"heads of 64 in front", 2, {2048, 1024}, {3, 0, {16, 2048, 64}, {64, 1024, 1}}},
    {"[4096,100] flattened", 2, {4096, 100}, {1, 0, {409600}, {1}}},
    {"the same from 3 on", 2, {4096, 100}, {1, 3, {409597}, {1}}},
};

enum { REPEATS = 2000 };

static void time_views(void) {
  const tesela_target *target = tesela_target_find("spyre");
  printf("views, ns a question (median of %d rounds)%36s\n", BENCH_ROUNDS, "of    agrees");
  for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
    tesela_device_layout base;
    static tesela_device_view view;
    tesela_error err;
    double of[BENCH_ROUNDS], agrees[BENCH_ROUNDS];
    int sum = 0;
    must(tesela_device_default(&base, target, TESELA_F16, views[i].rank, views[i].base, &err), &err);
    for (int r = 0; r < BENCH_ROUNDS; r++) {
      double start = bench_now();
      for (int k = 0; k < REPEATS; k++)
        must(tesela_device_view_of(&view, &base, NULL, &views[i].view, &err), &err);
      of[r] = (bench_now() - start) / REPEATS;
      start = bench_now();
      for (int k = 0; k < REPEATS; k++)
        sum += (int)tesela_device_view_agrees(&view, &base, k % view.layout.rank, 64);
      agrees[r] = (bench_now() - start) / REPEATS;
    }
    if (sum < 0) race_fail("never");
    printf("  %-58s %14.0f %9.0f   lane %s\n", views[i].name, race_median(of, BENCH_ROUNDS),
           race_median(agrees, BENCH_ROUNDS), tesela_lane_name(view.lane));
  }
}

int main(int argc, char **argv) {
  int first = argc > 1 ? atoi(argv[1]) : 1, last = argc > 1 ? first : 2;
  if (first < 1) race_fail("threads: 1 or more");
  if (argc > 2) word = argv[2];
  if (argc > 3) rounds = atoi(argv[3]);
  if (rounds < 1 || rounds > RACE_MOST_ROUNDS) race_fail("rounds: 1 to %d", RACE_MOST_ROUNDS);
  if (argc < 3) time_views();
  host_buffer = race_buffer(BUFFER_BYTES);
  device_buffer = race_buffer(BUFFER_BYTES);
  other_buffer = race_buffer(BUFFER_BYTES);
  printf("transfers, GB/s read plus written\n%61s   ours   memcpy   ratio  noise\n", "threads");
  for (int threads = first; threads <= last; threads++)
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) run_case(&cases[i], threads);
  return 0;
}
