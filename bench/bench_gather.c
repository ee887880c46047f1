/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_gather.c - copies between layouts whose steps do not nest, beside the non-temporal copy of as many bytes.
 *
 * Before a case is timed, its result is copied back by a plan of its own and compared with the source.
 */
#include <string.h>

#include "race.h"
#include "timing.h"

enum { BUFFER_BYTES = 288 << 20, ROUNDS = 7 };

static unsigned char *from, *to, *back;

static const struct {
  const char *dst, *src;
} cases[] = {
    {"f32[8192,8192]{1,0:T(8,128)}", "f32[8192,8192]{1,0:T(6,100)}"},
    {"f32[8192,8192]{1,0:T(6,100)}", "f32[8192,8192]{1,0:T(8,128)}"},
    {"f32[8192,8192]{0,1:T(8,128)}", "f32[8192,8192]{1,0:T(6,100)}"},
    {"bf16[8192,16000]{1,0:T(8,128)(2,1)}", "bf16[8192,16000]{1,0:T(6,100)}"},
    {"u8[16000,16000]{1,0:T(32,128)}", "u8[16000,16000]{1,0:T(24,80)}"},
    {"f64[4096,8192]{1,0:T(8,128)}", "f64[4096,8192]{1,0:T(12,20)}"},
    {"f32[64,1000,1000]{2,1,0:T(8,128)}", "f32[64,1000,1000]{2,1,0:T(6,100)}"},
    {"f32[8192,8192]{1,0:T(5,7)}", "f32[8192,8192]{1,0:T(3,4)}"},
    {"f32[6000,10000]{1,0:T(*,700)}", "f32[6000,10000]{0,1}"},
    {"s4[16000,16000]{1,0:T(8,128)E(4)}", "s4[16000,16000]{1,0:T(6,100)E(4)}"},
};

static void make_layout(const char *text, tesela_layout *layout) {
  tesela_xla_shape shape;
  tesela_error err;
  if (tesela_xla_parse(text, strlen(text), TESELA_XLA_STRICT, &shape, NULL, &err) != TESELA_OK ||
      tesela_xla_to_layout(&shape, layout, &err) != TESELA_OK)
    race_fail("%s: %s", text, err.message);
}

static void check(const char *name, const tesela_plan *plan, const tesela_layout *dst,
                  const tesela_layout *src) {
  tesela_values_difference difference;
  tesela_plan *other;
  tesela_plan_info info;
  tesela_error err;
  tesela_plan_describe(plan, &info);
  if (info.dst_bytes > BUFFER_BYTES || info.src_bytes > BUFFER_BYTES) race_fail("%s: too large", name);
  if (tesela_plan_create(&other, src, dst, NULL, &err) != TESELA_OK ||
      tesela_plan_run(plan, to, from, NULL, &err) != TESELA_OK ||
      tesela_plan_run(other, back, to, NULL, &err) != TESELA_OK ||
      tesela_values_compare(src, from, src, back, &difference, NULL, &err) != TESELA_OK)
    race_fail("%s: %s", name, err.message);
  if (!difference.same) race_fail("%s: the way there and back changes values", name);
  tesela_plan_destroy(other);
}

int main(int argc, char **argv) {
  from = race_buffer(BUFFER_BYTES);
  to = race_buffer(BUFFER_BYTES);
  back = race_buffer(BUFFER_BYTES);
  race_fill(from, BUFFER_BYTES);
  printf("  %-38s %-38s th %7s %6s\n", "src", "dst", "GB/s", "of NT");
  for (int threads = 1; threads <= 2; threads++)
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
      tesela_layout dst, src;
      tesela_plan *plan;
      tesela_plan_info info;
      tesela_error err;
      const tesela_plan_options options = {.threads = threads};
      if (argc > 1 && !strstr(cases[k].src, argv[1])) continue;
      make_layout(cases[k].dst, &dst);
      make_layout(cases[k].src, &src);
      if (tesela_plan_create(&plan, &dst, &src, &options, &err) != TESELA_OK)
        race_fail("%s: %s", cases[k].dst, err.message);
      if (threads == 1) check(cases[k].dst, plan, &dst, &src);
      tesela_plan_describe(plan, &info);
      const double bytes = (double)(info.bytes_read + info.bytes_written);
      race_plan run = {plan, to, from};
      race_copy copy = {to, from, (size_t)(bytes / 2), threads};
      racer own = {race_run_plan, &run, bytes, {0}}, nt = {race_nt_copy, &copy, bytes, {0}};
      racer *both[] = {&own, &nt};
      race(both, 2, ROUNDS);
      const double ratio = race_ratio(&own, &nt, ROUNDS);
      char name[32];
      printf("  %-38s %-38s %d %7.1f %6.3f\n", cases[k].src, cases[k].dst, threads, race_gbs(&own, ROUNDS),
             ratio);
      snprintf(name, sizeof name, "gather.nt_%d", threads);
      bench_figure(name, ratio);
      fflush(stdout);
      tesela_plan_destroy(plan);
    }
  return 0;
}
