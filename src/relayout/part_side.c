/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_side.c - one side of a part: the digits of its ranges, and its places as stretches of a file and of a buffer.
 *
 * A dim is cut at the multiples of a size where that cuts no digit of either side: with one digit of each side the part has some of
 * its values, with the digits above one value, with those below all. So the places of a part are again a sum of digits, and a part's
 * layout has these digits with the strides of its buffer.
 *
 *   dim 1 of f32[1000,900]{1,0:T(8,128)}, digits of steps 128 and 1: sizes 128 n, of n tiles; or 64, 32, ..., within a tile
 *
 * Padding of dst belongs to the part before it. Nothing is cut where padding would be left over, where elements of other parts lie
 * within a stretch of dst, or across the bytes of narrow elements.
 */
#include "relayout/part.h"

enum { PART_NEAR = 2048 /* stretches that are so close, and not shorter than the gap, are one with it */ };

/* ---- a range of a dim -------------------------------------------------------------------------------------- */

/* The digit of a chain whose values a range of `size` limits: the first whose step is not larger, or -1. */
static int32_t part_digit(const tesela_layout *layout, tesela__chain chain, int64_t size) {
  for (int32_t i = 0; i < chain.n; i++)
    if (layout->digit[chain.first + i].step <= size) return i;
  return -1;
}

/* Have the digits before i, and i itself, no values without elements that would be in no part? */
static bool part_keeps_padding(const tesela_digit *digit, int32_t i, int64_t extent, int64_t size) {
  int64_t whole;
  if (!tesela__mul(tesela__ceil_div(extent, size), size, &whole)) return false;
  if (i == 0) return digit[0].extent <= whole / digit[0].step;
  for (int32_t j = 0; j <= i; j++)
    if (digit[j].extent != tesela__ceil_div(j == 0 ? extent : digit[j - 1].step, digit[j].step)) return false;
  return whole % digit[0].step == 0;
}

bool tesela__part_cuts(const tesela_layout *layout, int32_t dim, int64_t size, bool dst) {
  const tesela__chain chain = tesela__chain_of(layout, dim);
  const tesela_digit *digit = &layout->digit[chain.first];
  const int32_t i = part_digit(layout, chain, size);
  if (i < 0 || size % digit[i].step != 0) return false;
  for (int32_t j = 0; j < chain.n; j++)
    if (digit[j].axis < 0) return false;
  for (int32_t j = 1; j <= i; j++)
    if (digit[j - 1].step % (j == i ? size : digit[j].step) != 0) return false;
  return !dst || part_keeps_padding(digit, i, layout->shape[dim], size);
}

/* Limit a dim of a part's layout to the range from index `at` on: n indices, and in dst room for up to `size`. False: a part would begin
 * within a byte. */
static bool part_limit(tesela_layout *part, int32_t dim, const tesela__part_range *range, bool dst) {
  const tesela__chain chain = tesela__chain_of(part, dim);
  const int64_t size = range->size[dim], n = range->n[dim];
  const int32_t i = part_digit(part, chain, size);
  tesela_digit *digit = &part->digit[chain.first];
  const int64_t left = i == 0 ? digit[0].extent - range->at[dim] / digit[0].step : digit[i].extent;
  digit[i].extent = tesela__min(left, tesela__ceil_div(dst ? size : n, digit[i].step));
  if (size / digit[i].step * digit[i].stride * part->bits % 8 != 0) return false;
  for (int32_t j = 0; j < i; j++) {
    digit[j].extent = 1;
    if (digit[j].stride * part->bits % 8 != 0) return false;
  }
  part->shape[dim] = n;
  return true;
}

int64_t tesela__part_offset(const tesela_layout *layout, int32_t dim, int64_t at) {
  const tesela__chain chain = tesela__chain_of(layout, dim);
  int64_t places = 0;
  for (int32_t i = 0; i < chain.n; i++) {
    const tesela_digit *digit = &layout->digit[chain.first + i];
    places += at / digit->step * digit->stride;
    at %= digit->step;
  }
  return places;
}

/* ---- one side ---------------------------------------------------------------------------------------------- */

/* The places of a part so far, digit by digit, those with the shortest strides first. */
typedef struct part_places {
  const tesela_layout *layout;
  tesela__part_side *side;
  int64_t file, buffer; /* places from the first to the last, of both */
  int64_t stretch;
  bool whole; /* all digits so far have all their values */
} part_places;

static int64_t part_abs(int64_t x) { return x < 0 ? -x : x; }

/* Distance of stretches in a buffer: lines, but not of a power of two, where all stretches would share a few sets of the cache. */
static int64_t part_pitch(int64_t places, int32_t bits) {
  int64_t bytes = tesela__ceil_div(places * bits, 8);
  bytes = tesela__ceil_div(bytes, TESELA__LINE) * TESELA__LINE;
  if (bytes % 1024 == 0) bytes += TESELA__LINE;
  return bytes * 8 / bits;
}

static int64_t part_near(const part_places *p) {
  return tesela__min(PART_NEAR, p->stretch * p->layout->bits / 8);
}

/* Add a digit. False: dst cannot be cut so. */
static bool part_add(part_places *p, tesela_digit *digit, bool dst) {
  const int64_t step = part_abs(digit->stride), more = (digit->extent - 1) * step;
  const bool meets = step < p->file;
  if (dst && meets) return false;
  if (!dst && meets && p->side->n_loops > 0) { /* one stretch of all */
    for (int32_t i = 0; i < p->side->layout.n_active; i++)
      p->side->layout.digit[i].stride = p->layout->digit[i].stride;
    p->side->n_loops = 0;
    p->stretch = p->file;
  }
  const int64_t gap = (step - p->stretch) * p->layout->bits / 8;
  if (p->side->n_loops == 0 && (step <= p->stretch || (gap <= part_near(p) && (!dst || p->whole)))) {
    p->stretch += more;
    p->file = p->buffer = p->stretch;
  } else {
    if (p->side->n_loops == 0) p->buffer = part_pitch(p->stretch, p->layout->bits);
    if (step * p->layout->bits % 8 != 0) return false;
    p->side->loop[p->side->n_loops++] =
        (tesela__part_loop){digit->extent, step * p->layout->bits / 8, p->buffer * p->layout->bits / 8};
    digit->stride = digit->stride < 0 ? -p->buffer : p->buffer;
    p->file += more;
    p->buffer *= digit->extent;
  }
  return true;
}

static void part_turn_loops(tesela__part_side *side) {
  for (int32_t i = 0, j = side->n_loops - 1; i < j; i++, j--) {
    const tesela__part_loop loop = side->loop[i];
    side->loop[i] = side->loop[j];
    side->loop[j] = loop;
  }
}

bool tesela__part_find_side(const tesela_layout *layout, const tesela__part_range *range, bool dst,
                            tesela__part_side *side) {
  part_places p = {layout, side, 1, 1, 1, true};
  tesela_layout *part = &side->layout;
  int64_t before = 0; /* places before index 0 */
  *part = *layout;
  side->n_loops = 0;
  bool cut = false;
  for (int32_t d = 0; d < layout->rank; d++) {
    if (range->size[d] >= layout->shape[d]) continue;
    if (!part_limit(part, d, range, dst)) return false;
    cut = true;
  }
  for (int32_t k = layout->n_active - 1; k >= 0; k--) {
    tesela_digit *digit = &part->digit[layout->by_place[k]];
    if (digit->axis < 0) continue;
    if (digit->stride < 0) before += (digit->extent - 1) * -digit->stride;
    if (digit->extent > 1 && digit->stride != 0 && !part_add(&p, digit, dst)) return false;
    p.whole = p.whole && digit->extent == layout->digit[layout->by_place[k]].extent;
  }
  const int64_t bits = layout->bits, first = (layout->axis[0].offset - before) * bits;
  if (first % 8 != 0 || ((cut || side->n_loops > 0) && p.stretch * bits % 8 != 0)) return false;
  side->begin = first / 8;
  side->stretch = tesela__ceil_div(p.stretch * bits, 8);
  side->bytes = side->n_loops > 0 ? p.buffer * bits / 8 : side->stretch;
  part_turn_loops(side);
  part->axis[0].offset = 0;
  for (int32_t i = 0; i < part->n_active; i++)
    if (part->digit[i].axis >= 0 && part->digit[i].stride < 0)
      part->axis[0].offset += (part->digit[i].extent - 1) * -part->digit[i].stride;
  part->axis[0].extent = -1;
  part->finished = false;
  return tesela_layout_finish(part, NULL) == TESELA_OK;
}

tesela_status tesela__part_stretches(const tesela__part_side *side, int64_t at,
                                     tesela_status (*move)(void *data, int64_t file, int64_t buffer,
                                                           int64_t bytes),
                                     void *data) {
  int64_t count[TESELA_MAX_DIGITS] = {0}, buffer = 0;
  for (int32_t i = 0; i >= 0;) {
    const tesela_status status = move(data, at, buffer, side->stretch);
    if (status != TESELA_OK) return status;
    for (i = side->n_loops - 1; i >= 0; i--) {
      const tesela__part_loop *loop = &side->loop[i];
      at += loop->file;
      buffer += loop->buffer;
      if (++count[i] < loop->n) break;
      at -= loop->n * loop->file;
      buffer -= loop->n * loop->buffer;
      count[i] = 0;
    }
  }
  return TESELA_OK;
}
