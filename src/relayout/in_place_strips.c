/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place_strips.c - strips that lie apart on both sides: each is copied to the scratch, and from there to its places.
 *
 *   f32[8192,8192]{1,0} -> {1,0:T(8,128)}    8 rows are a strip: 256 KiB at the same bytes on both sides
 *   f32[8192,8180]{1,0} -> {1,0:T(8,128)}    8 rows of 32720 bytes become 8 of 32768: the last strip moves first, since each
 *                                            lies at or after the bytes that it comes from
 *
 * A level of strips is a coordinate cut at a common multiple of the largest step of each side, if everything else lies within
 * one of these parts on both sides. Strips that are too large are cut by another level. The last strip of a level may have less.
 */
#include "relayout/in_place.h"

/* Bits that the coordinates reach with these extents, except for coordinate `except`; -1 with negative strides. */
static int64_t strip_span(const tesela__sums *sums, const tesela__sum_digits *side, const int64_t *extent,
                          int32_t except) {
  int64_t bits = 0;
  for (int32_t c = 0; c < sums->n; c++) {
    const int64_t span = c == except ? 0 : tesela__sum_span(sums, side[c], extent[c]);
    if (span < 0) return -1;
    bits += span;
  }
  return bits;
}

/* The first digit that is not always 0. */
static const struct tesela__sum_digit *top_digit(const tesela__sums *sums, tesela__sum_digits digits,
                                                 int64_t extent) {
  const struct tesela__sum_digit *digit = &sums->digit[digits.first];
  while (digit->step > 1 && digit->step >= extent) digit++;
  return digit;
}

/* Do parts of `step` values of coordinate c lie apart on a side? *pitch: bits from one to the next. */
static bool parts_apart(const tesela__sums *sums, const tesela__sum_digits *side, int32_t c, int64_t step,
                        int32_t bits, int64_t *pitch) {
  const struct tesela__sum_digit *top = top_digit(sums, side[c], sums->extent[c]);
  const int64_t others = strip_span(sums, side, sums->extent, c),
                within = tesela__sum_span(sums, side[c], step);
  if (others < 0 || within < 0 || !tesela__mul(top->stride, step / top->step, pitch)) return false;
  return others + within + bits <= *pitch;
}

/* Values of coordinate c whose parts begin at bytes, as few as possible; 0: it cannot be cut. */
static int64_t least_step(const tesela__sums *sums, int32_t c) {
  const struct tesela__sum_digit *to = top_digit(sums, sums->dst[c], sums->extent[c]);
  const struct tesela__sum_digit *from = top_digit(sums, sums->src[c], sums->extent[c]);
  int64_t step;
  if (to->stride <= 0 || from->stride <= 0) return 0;
  if (!tesela__mul(to->step / tesela__gcd(to->step, from->step), from->step, &step)) return 0;
  for (int32_t k = 0; k < 3 && (step / to->step * to->stride % 8 || step / from->step * from->stride % 8);
       k++)
    if (!tesela__mul(step, 2, &step)) return 0;
  return step < sums->extent[c] ? step : 0;
}

/* Add a level that cuts the strip into parts of about `wanted` bytes of src. */
static bool add_strip_level(tesela__pass *pass, int32_t bits, int64_t wanted) {
  tesela__sums *sums = &pass->sums;
  for (int32_t c = 0; c < sums->n; c++) {
    bool cut = sums->extent[c] <= 1;
    for (int32_t i = 0; i < pass->n_levels; i++) cut = cut || pass->level[i].coordinate == c;
    const int64_t step = cut ? 0 : least_step(sums, c);
    int64_t ds, ss;
    if (step == 0 || !parts_apart(sums, sums->dst, c, step, bits, &ds) ||
        !parts_apart(sums, sums->src, c, step, bits, &ss))
      continue;
    const int64_t times = tesela__max(1, tesela__min(wanted * 8 / ss, sums->extent[c] / step));
    const int64_t n = tesela__ceil_div(sums->extent[c], times * step),
                  last = sums->extent[c] - (n - 1) * times * step;
    pass->level[pass->n_levels++] = (tesela__strip_level){c, times * step, last, n, times * ds, times * ss};
    sums->extent[c] = times * step;
    return true;
  }
  return false;
}

bool tesela__strips_find(tesela__pass *pass, const tesela__sums *sums, int64_t dst, int64_t src, int32_t bits,
                         int64_t wanted, int64_t most, int32_t threads) {
  pass->kind = TESELA__PASS_STRIPS;
  pass->sums = *sums;
  pass->dst = dst;
  pass->src = src;
  pass->n_levels = 0;
  for (;;) {
    const int64_t span = strip_span(&pass->sums, pass->sums.src, pass->sums.extent, -1);
    if (span < 0 || strip_span(&pass->sums, pass->sums.dst, pass->sums.extent, -1) < 0) return false;
    pass->strip_bytes = (src % 8 + span + bits + 7) / 8;
    if (pass->strip_bytes <= wanted || pass->n_levels == TESELA__STRIP_LEVELS) break;
    if (!add_strip_level(pass, bits, wanted)) break;
  }
  bool up = dst >= src, down = dst <= src;
  for (int32_t i = 0; i < pass->n_levels; i++) {
    up = up && pass->level[i].ds >= pass->level[i].ss;
    down = down && pass->level[i].ds <= pass->level[i].ss;
  }
  pass->backwards = !down;
  pass->independent = up && down;
  pass->scratch_bytes = (pass->strip_bytes + 63) / 64 * 64;
  pass->threads =
      pass->independent ? (int32_t)tesela__max(1, tesela__min(threads, most / pass->scratch_bytes)) : 1;
  return (up || down) && pass->scratch_bytes <= most;
}
