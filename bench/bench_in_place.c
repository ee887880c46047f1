/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_in_place.c - changes of layout within one buffer, beside the same change out of place and the non-temporal copy.
 *
 * Before a case is timed, its result is compared with that of the run out of place. All contestants count the bytes of the
 * run out of place. `times`: the time in place over the time out of place, median of pairs; goals are 2 for squares, 2.5 for
 * tiles, 6 for rectangles. Uneven: coprime extents, and transposes between padded tiles.
 */
#include <string.h>

#include "race.h"
#include "timing.h"

enum { BUFFER_BYTES = 288 << 20, ROUNDS = 7 };

static unsigned char *buffer, *from, *to, *scratch;

typedef struct place_case {
  const char *kind, *dst, *src;
} place_case;

static const place_case cases[] = {
    {"square", "f32[8192,8192]{0,1}", "f32[8192,8192]{1,0}"},
    {"square", "f32[7264,7264]{0,1}", "f32[7264,7264]{1,0}"},
    {"square", "u8[16000,16000]{0,1}", "u8[16000,16000]{1,0}"},
    {"square", "bf16[11584,11584]{0,1}", "bf16[11584,11584]{1,0}"},
    {"square", "f64[5792,5792]{0,1}", "f64[5792,5792]{1,0}"},
    {"square", "c128[4000,4000]{0,1}", "c128[4000,4000]{1,0}"},
    {"square", "s4[22000,22000]{0,1:E(4)}", "s4[22000,22000]{1,0:E(4)}"},
    {"square", "f32[64,1000,1000]{1,2,0}", "f32[64,1000,1000]{2,1,0}"},
    {"tiles", "f32[8192,8192]{1,0:T(8,128)}", "f32[8192,8192]{1,0}"},
    {"tiles", "f32[8192,8192]{1,0}", "f32[8192,8192]{1,0:T(8,128)}"},
    {"tiles", "f32[8190,8180]{1,0:T(8,128)}", "f32[8190,8180]{1,0}"},
    {"tiles", "f32[8190,8180]{1,0}", "f32[8190,8180]{1,0:T(8,128)}"},
    {"tiles", "bf16[8192,16384]{1,0:T(8,128)(2,1)}", "bf16[8192,16384]{1,0}"},
    {"tiles", "s8[16384,16384]{1,0:T(32,128)(4,1)}", "s8[16384,16384]{1,0}"},
    {"tiles", "f32[8190,8180]{1,0:T(8,128)}", "f32[8190,8180]{1,0:T(6,100)}"},
    {"rectangle", "f32[8192,6144]{0,1}", "f32[8192,6144]{1,0}"},
    {"rectangle", "f32[4096,16384]{0,1}", "f32[4096,16384]{1,0}"},
    {"rectangle", "bf16[12000,9000]{0,1}", "bf16[12000,9000]{1,0}"},
    {"rectangle", "u8[10000,24000]{0,1}", "u8[10000,24000]{1,0}"},
    {"rectangle", "f32[20000000,3]{0,1}", "f32[20000000,3]{1,0}"},
    {"rectangle", "f32[384,384,368]{0,2,1}", "f32[384,384,368]{2,1,0}"},
    {"rectangle", "bf16[8,4096,32,128]{3,1,2,0}", "bf16[8,4096,32,128]{3,2,1,0}"},
    {"uneven", "f32[8189,8171]{0,1}", "f32[8189,8171]{1,0}"},
    {"uneven", "u8[2179,46771]{0,1}", "u8[2179,46771]{1,0}"},
    {"uneven", "f32[8190,8180]{1,0:T(8,128)}", "f32[8190,8180]{0,1}"},
    {"uneven", "f32[8190,8180]{0,1:T(8,128)}", "f32[8190,8180]{1,0:T(8,128)}"},
};

static void make_layout(const char *text, tesela_layout *layout) {
  tesela_xla_shape shape;
  tesela_error err;
  if (tesela_xla_parse(text, strlen(text), TESELA_XLA_STRICT, &shape, NULL, &err) != TESELA_OK ||
      tesela_xla_to_layout(&shape, layout, &err) != TESELA_OK)
    race_fail("%s: %s", text, err.message);
}

static void run_in_place(void *plan) {
  tesela_error err;
  if (tesela_plan_run_in_place(plan, buffer, scratch, NULL, &err) != TESELA_OK)
    race_fail("in place: %s", err.message);
}

static void check(const place_case *c, const tesela_plan *plan, const tesela_layout *dst) {
  tesela_values_difference difference;
  tesela_plan_info info;
  tesela_error err;
  tesela_plan_describe(plan, &info);
  if (!info.in_place || info.dst_bytes > BUFFER_BYTES || info.src_bytes > BUFFER_BYTES)
    race_fail("%s: not in place", c->dst);
  memcpy(buffer, from, (size_t)info.src_bytes);
  run_in_place((void *)(uintptr_t)plan);
  if (tesela_plan_run(plan, to, from, NULL, &err) != TESELA_OK) race_fail("%s: %s", c->dst, err.message);
  if (tesela_values_compare(dst, to, dst, buffer, &difference, NULL, &err) != TESELA_OK || !difference.same)
    race_fail("%s: in place and out of place differ", c->dst);
}

static void bench_case(const place_case *c, int threads) {
  tesela_layout dst, src;
  tesela_plan *plan;
  tesela_plan_info info;
  tesela_error err;
  const tesela_plan_options options = {.threads = threads};
  make_layout(c->dst, &dst);
  make_layout(c->src, &src);
  if (tesela_plan_create(&plan, &dst, &src, &options, &err) != TESELA_OK)
    race_fail("%s: %s", c->dst, err.message);
  check(c, plan, &dst);
  tesela_plan_describe(plan, &info);
  const double bytes = (double)(info.bytes_read + info.bytes_written);
  race_plan out_plan = {plan, to, from};
  race_copy copy = {to, from, (size_t)(bytes / 2), threads};
  racer in = {run_in_place, plan, bytes, {0}}, out = {race_run_plan, &out_plan, bytes, {0}},
        nt = {race_nt_copy, &copy, bytes, {0}};
  racer *all[] = {&in, &out, &nt};
  race(all, 3, ROUNDS);
  const double times = race_ratio(&out, &in, ROUNDS);
  char name[64];
  printf("  %-9s %-38s %-34s %d %7.1f %7.1f %6.2f %6.2f %9lld\n", c->kind, c->src, strchr(c->dst, '{'),
         threads, race_gbs(&in, ROUNDS), race_gbs(&out, ROUNDS), times, race_ratio(&in, &nt, ROUNDS),
         (long long)info.in_place_scratch_bytes);
  snprintf(name, sizeof name, "in_place.%s_times_%d", c->kind, threads);
  bench_figure(name, times);
  fflush(stdout);
  tesela_plan_destroy(plan);
}

int main(int argc, char **argv) {
  buffer = race_buffer(BUFFER_BYTES);
  from = race_buffer(BUFFER_BYTES);
  to = race_buffer(BUFFER_BYTES);
  scratch = race_buffer(BUFFER_BYTES / 64 + (1 << 20));
  race_fill(from, BUFFER_BYTES);
  printf("  %-9s %-38s %-34s th %7s %7s %6s %6s %9s\n", "kind", "src", "dst", "in GB/s", "out", "times",
         "of NT", "scratch");
  for (int threads = 1; threads <= 2; threads++)
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
      if (argc < 2 || strstr(cases[k].src, argv[1])) bench_case(&cases[k], threads);
  return 0;
}
