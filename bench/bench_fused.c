/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_fused.c - what filling padding and converting values cost on top of a plain copy.
 *
 * A conversion is compared with a plain copy between the same two kinds of layout in dst's type, with as many rows as
 * make the bytes read plus written equal: f32[8192,8192] -> bf16 moves 6 bytes an element, and so does
 * bf16[12288,8192] -> bf16 four. A fill of zeros is compared with the same relayout that leaves the padding alone, and
 * with that of a shape without padding. cost: time for a counted byte over that of the comparison, median of pairs.
 * Goal: 1.10; against a shape without padding 1/0.85.
 *
 * limit: the same of one thread that reads as many bytes in order and writes as many, and converts nothing. Reading alone is slower for a byte
 * than a copy, so a conversion that mostly reads, or mostly writes, cannot cost less.
 */
#include <string.h>

#include "nt_copy.h"
#include "race.h"
#include "timing.h"

enum { BUFFER_BYTES = 272 << 20, ROUNDS = 7, COLS = 8192 };

static unsigned char *dst_buffer, *src_buffer;

static void make_layout(const char *type, int rows, int cols, const char *layout_text,
                        tesela_layout *layout) {
  tesela_xla_shape shape;
  tesela_error err;
  char text[96];
  snprintf(text, sizeof text, "%s[%d,%d]%s", type, rows, cols, layout_text);
  if (tesela_xla_parse(text, strlen(text), TESELA_XLA_STRICT, &shape, NULL, &err) != TESELA_OK ||
      tesela_xla_to_layout(&shape, layout, &err) != TESELA_OK)
    race_fail("%s: %s", text, err.message);
}

typedef struct contestant {
  racer racer;
  race_plan run;
  tesela_plan *plan;
} contestant;

/* False, and a line that says why, if there is no plan. */
static bool prepare(contestant *c, const tesela_layout *dst, const tesela_layout *src,
                    const tesela_plan_options *options) {
  tesela_error err;
  tesela_plan_info info;
  if (tesela_plan_create(&c->plan, dst, src, options, &err) != TESELA_OK) {
    printf("  no plan: %s\n", err.message);
    return false;
  }
  tesela_plan_describe(c->plan, &info);
  if (info.dst_bytes > BUFFER_BYTES || info.src_bytes > BUFFER_BYTES) race_fail("a tensor is too large");
  c->run = (race_plan){c->plan, dst_buffer, src_buffer};
  c->racer.run = race_run_plan;
  c->racer.data = &c->run;
  c->racer.bytes = (double)(info.bytes_read + info.bytes_written);
  return true;
}

/* Bytes to read and to write in each step of nt_pass. */
typedef struct bare_pass {
  size_t in, out, steps;
} bare_pass;

static void run_bare(void *data) {
  const bare_pass *pass = data;
  nt_pass(dst_buffer, pass->out, src_buffer, pass->in, pass->steps);
}

/* Race two plans, and a bare pass unless it is NULL; print the line of the first with its cost over the second. */
static void compare(const char *what, int threads, contestant *a, contestant *b, bare_pass *bare,
                    double goal) {
  racer limit = {
      .run = run_bare, .data = bare, .bytes = bare ? (double)((bare->in + bare->out) * bare->steps) : 0};
  racer *all[] = {&a->racer, &b->racer, &limit};
  char of_limit[16] = "-";
  race(all, bare ? 3 : 2, ROUNDS);
  double cost = race_ratio(&b->racer, &a->racer, ROUNDS);
  if (bare) snprintf(of_limit, sizeof of_limit, "%.2f", race_ratio(&b->racer, &limit, ROUNDS));
  printf("  %-56s %d %8.1f %8.1f %7.2f %7s  goal %.2f  %s\n", what, threads, race_gbs(&a->racer, ROUNDS),
         race_gbs(&b->racer, ROUNDS), cost, of_limit, goal, race_plan_line(a->plan));
  bench_figure("fused.of_goal", cost / goal);
  fflush(stdout);
}

/* ---- conversions ------------------------------------------------------------------------------------------------- */

typedef struct conversion {
  tesela_transform transform;
  const char *src, *src_mark, *dst, *dst_mark; /* type, and E(n) if its width is not the ordinary one */
  int src_bits, dst_bits;
  int rows; /* of the conversion */
} conversion;

static const conversion conversions[] = {
    {TESELA_TRANSFORM_CONVERT, "f32", "", "bf16", "", 32, 16, 8192},
    {TESELA_TRANSFORM_CONVERT, "bf16", "", "f32", "", 16, 32, 8192},
    {TESELA_TRANSFORM_CONVERT, "f32", "", "f16", "", 32, 16, 8192},
    {TESELA_TRANSFORM_CONVERT, "f16", "", "f32", "", 16, 32, 8192},
    {TESELA_TRANSFORM_CONVERT, "s8", "", "s4", "E(4)", 8, 4, 16384},
    {TESELA_TRANSFORM_CONVERT, "s4", "E(4)", "s8", "", 4, 8, 16384},
    {TESELA_TRANSFORM_CONVERT, "pred", "", "pred", "E(1)", 8, 1, 16384},
    {TESELA_TRANSFORM_CONVERT, "pred", "E(1)", "pred", "", 1, 8, 16384},
    {TESELA_TRANSFORM_CONVERT, "pred", "", "pred", "E(32)", 8, 32, 8192},
    {TESELA_TRANSFORM_CONVERT, "pred", "E(32)", "pred", "", 32, 8, 8192},
    {TESELA_TRANSFORM_SWAP, "bf16", "", "bf16", "", 16, 16, 8192},
    {TESELA_TRANSFORM_SWAP, "f32", "", "f32", "", 32, 32, 8192},
    {TESELA_TRANSFORM_SWAP, "f64", "", "f64", "", 64, 64, 4096},
    {TESELA_TRANSFORM_SPLIT, "f64", "", "f64", "", 64, 64, 4096},
    {TESELA_TRANSFORM_MERGE, "f64", "", "f64", "", 64, 64, 4096},
};

static const char *transform_name(tesela_transform transform) {
  switch (transform) {
  case TESELA_TRANSFORM_SWAP:
    return "swap";
  case TESELA_TRANSFORM_SPLIT:
    return "split";
  case TESELA_TRANSFORM_MERGE:
    return "merge";
  default:
    return "convert";
  }
}

/* "{1,0}" or "{1,0:T(8,128)E(4)}" */
static void join_marks(char *text, size_t size, const char *tiles, const char *mark) {
  snprintf(text, size, "{1,0%s%s%s}", *tiles || *mark ? ":" : "", tiles, mark);
}

/* src row-major, dst row-major or in `tiles`. */
static void bench_conversion(const conversion *v, const char *tiles, int threads) {
  tesela_layout dst, src;
  tesela_plan_options options = {.transform = v->transform, .threads = threads};
  static contestant fused, plain;
  char from[32], to[32], same[32], what[128];
  int plain_rows = v->rows * (v->src_bits + v->dst_bits) / (2 * v->dst_bits);
  join_marks(from, sizeof from, "", v->src_mark);
  join_marks(to, sizeof to, tiles, v->dst_mark);
  join_marks(same, sizeof same, "", v->dst_mark);
  snprintf(what, sizeof what, "%s %s[%d,%d]%s -> %s%s", transform_name(v->transform), v->src, v->rows, COLS,
           from, v->dst, to);
  make_layout(v->src, v->rows, COLS, from, &src);
  make_layout(v->dst, v->rows, COLS, to, &dst);
  if (!prepare(&fused, &dst, &src, &options)) return;
  options.transform = TESELA_TRANSFORM_NONE;
  make_layout(v->dst, plain_rows, COLS, same, &src);
  make_layout(v->dst, plain_rows, COLS, to, &dst);
  if (!prepare(&plain, &dst, &src, &options)) race_fail("%s: no plain copy", what);
  const size_t elements = (size_t)v->rows * COLS;
  bare_pass bare = {64 * (size_t)v->src_bits, 64 * (size_t)v->dst_bits, elements / 512};
  compare(what, threads, &fused, &plain, threads == 1 && nt_copy_name() ? &bare : NULL, 1.10);
  tesela_plan_destroy(fused.plan);
  tesela_plan_destroy(plain.plan);
}

/* Numbers that are ordinary in f32, bf16 and f16 alike: exponents near 0, any sign and mantissa. */
static void fill_with_numbers(void *buffer, size_t bytes) {
  unsigned char *half = buffer;
  race_fill(buffer, bytes);
  for (size_t i = 1; i < bytes; i += 2) half[i] = (unsigned char)((half[i] & 0x87) | 0x38);
}

/* ---- fills ------------------------------------------------------------------------------------------------------- */

static void bench_fill(const char *type, int rows, int cols, const char *tiles, int threads) {
  tesela_layout dst, src, whole_dst, whole_src;
  tesela_plan_options options = {.threads = threads};
  static contestant zero, leave, value, whole;
  char what[128];
  make_layout(type, rows, cols, "{1,0}", &src);
  make_layout(type, rows, cols, tiles, &dst);
  make_layout(type, (rows + 15) / 16 * 16, (cols + 127) / 128 * 128, "{1,0}", &whole_src);
  make_layout(type, (rows + 15) / 16 * 16, (cols + 127) / 128 * 128, tiles, &whole_dst);
  if (!prepare(&zero, &dst, &src, &options) || !prepare(&whole, &whole_dst, &whole_src, &options)) return;
  options.fill = TESELA_FILL_LEAVE;
  if (!prepare(&leave, &dst, &src, &options)) return;
  options.fill = TESELA_FILL_VALUE;
  options.fill_value[0] = 0x7f;
  if (!prepare(&value, &dst, &src, &options)) return;
  snprintf(what, sizeof what, "zeros / padding left: %s[%d,%d]%s", type, rows, cols, tiles);
  compare(what, threads, &zero, &leave, NULL, 1.10);
  snprintf(what, sizeof what, "a value / zeros: %s[%d,%d]%s", type, rows, cols, tiles);
  compare(what, threads, &value, &zero, NULL, 1.10);
  snprintf(what, sizeof what, "zeros / no padding: %s[%d,%d]%s", type, rows, cols, tiles);
  compare(what, threads, &zero, &whole, NULL, 1 / 0.85);
  tesela_plan_destroy(zero.plan);
  tesela_plan_destroy(leave.plan);
  tesela_plan_destroy(value.plan);
  tesela_plan_destroy(whole.plan);
}

int main(void) {
  dst_buffer = race_buffer(BUFFER_BYTES);
  src_buffer = race_buffer(BUFFER_BYTES);
  fill_with_numbers(src_buffer, BUFFER_BYTES);
  printf("  %-56s %s %8s %8s %7s %7s\n", "relayout / what it is compared with", "th", "GB/s", "GB/s", "cost",
         "limit");
  for (int threads = 1; threads <= 2; threads++) {
    for (size_t k = 0; k < sizeof conversions / sizeof conversions[0]; k++) {
      bench_conversion(&conversions[k], "", threads);
      if (conversions[k].src_bits >= 4 && conversions[k].dst_bits >= 4)
        bench_conversion(&conversions[k], "T(8,128)", threads);
    }
    bench_fill("f32", 8190, 8180, "{1,0:T(8,128)}", threads);
    bench_fill("f32", 60000, 900, "{1,0:T(8,128)}", threads);
    bench_fill("bf16", 8189, 8100, "{1,0:T(8,128)(2,1)}", threads);
  }
  return 0;
}
