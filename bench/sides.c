/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sides.c - places of digits, layouts from digits, touched lines, and a check place by place.
 */
#include "sides.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "race.h"

enum { LINE_BITS = 512 };

/* ---- places ---------------------------------------------------------------------------------------------------- */

void side_pack(bench_side *side) {
  int64_t stride = 1;
  for (int i = side->n - 1; i >= 0; i--) {
    side->digit[i].stride = stride;
    stride *= side->digit[i].extent;
  }
}

/* The digit of `dim` with the largest step below `limit`; or -1. */
static int next_digit(const bench_side *side, int64_t dim, int64_t limit) {
  int best = -1;
  for (int i = 0; i < side->n; i++) {
    const side_digit *g = &side->digit[i];
    if (g->dim == dim && g->step < limit && (best < 0 || g->step > side->digit[best].step)) best = i;
  }
  return best;
}

/* Greedy: the digits of a dim by decreasing step, each takes what it can of the coordinate. */
int64_t side_place(const bench_pair *pair, const bench_side *side, const int64_t *index) {
  int64_t place = side->offset;
  for (int32_t dim = 0; dim < pair->rank; dim++) {
    int64_t rest = index[dim];
    for (int i = next_digit(side, dim, INT64_MAX); i >= 0; i = next_digit(side, dim, side->digit[i].step)) {
      place += rest / side->digit[i].step * side->digit[i].stride;
      rest %= side->digit[i].step;
    }
  }
  return place;
}

static int64_t size_of(int64_t stride) { return stride < 0 ? -stride : stride; }

/* The digits of a place by decreasing stride, from the lowest place on; false if it lies between them. */
static bool read_digits_of(const bench_side *side, int64_t place, int64_t *index) {
  int64_t limit = INT64_MAX;
  for (int i = 0; i < side->n; i++)
    if (side->digit[i].stride < 0) place -= (side->digit[i].extent - 1) * side->digit[i].stride;
  place -= side->offset;
  if (place < 0) return false;
  for (;;) {
    const side_digit *g = NULL;
    for (int i = 0; i < side->n; i++) {
      const side_digit *other = &side->digit[i];
      if (other->extent > 1 && size_of(other->stride) < limit &&
          (!g || size_of(other->stride) > size_of(g->stride)))
        g = other;
    }
    if (!g || g->stride == 0) return place == 0;
    limit = size_of(g->stride);
    int64_t value = place / limit;
    if (value >= g->extent) return false;
    place -= value * limit;
    index[g->dim] += (g->stride < 0 ? g->extent - 1 - value : value) * g->step;
  }
}

side_kind side_kind_at(const bench_pair *pair, const bench_side *side, int64_t place, int64_t *index) {
  memset(index, 0, SIDE_RANK * sizeof *index);
  if (!read_digits_of(side, place, index)) return SIDE_GAP;
  for (int32_t dim = 0; dim < pair->rank; dim++)
    if (index[dim] >= pair->shape[dim]) return SIDE_PADDING;
  /* a digit beyond its share of the one above it is padding, too */
  return side_place(pair, side, index) == place ? SIDE_ELEMENT : SIDE_PADDING;
}

/* ---- layouts --------------------------------------------------------------------------------------------------- */

static void must(tesela_status status, const char *name, const tesela_error *err) {
  if (status != TESELA_OK) race_fail("%s: %s", name, err->message);
}

/* Each dim is split by its steps from the largest down; then all digits are placed with their strides. */
static void make_layout(const bench_pair *pair, bench_side *side, tesela_dtype dtype, const char *name) {
  tesela_error err;
  int32_t axis;
  tesela_layout *layout = &side->layout;
  must(tesela_layout_begin(layout, dtype, pair->bits, pair->rank, pair->shape, &err), name, &err);
  must(tesela_layout_add_axis(layout, "memory", &axis, &err), name, &err);
  for (int32_t dim = 0; dim < pair->rank; dim++) {
    int32_t rest = dim;
    for (int i = next_digit(side, dim, INT64_MAX); i >= 0; i = next_digit(side, dim, side->digit[i].step)) {
      const side_digit *g = &side->digit[i];
      int32_t digit = rest;
      if (g->step > 1) must(tesela_layout_split(layout, digit, g->step, &rest, &err), name, &err);
      if (layout->digit[digit].extent != g->extent)
        race_fail("%s: digit %d has extent %" PRId64, name, i, layout->digit[digit].extent);
      must(tesela_layout_place(layout, digit, axis, g->stride, &err), name, &err);
    }
  }
  must(tesela_layout_set_axis(layout, axis, side->offset, -1, &err), name, &err);
  must(tesela_layout_finish(layout, &err), name, &err);
}

void side_finish(const bench_pair *pair, bench_side *side, tesela_dtype dtype, const char *name) {
  int64_t last = 0, first = 0;
  for (int i = 0; i < side->n; i++) {
    int64_t reach = (side->digit[i].extent - 1) * side->digit[i].stride;
    *(reach < 0 ? &first : &last) += reach;
  }
  if (side->offset < -first) side->offset = -first;
  side->places = side->offset + last + 1;
  side->bytes = (side->places * pair->bits + 7) / 8;
  make_layout(pair, side, dtype, name);
}

/* ---- lines ----------------------------------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *state) { /* splitmix64 */
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static bool touches(const bench_pair *pair, const bench_side *side, int64_t line, bool padding) {
  int64_t index[SIDE_RANK], places = LINE_BITS / pair->bits;
  for (int64_t i = line * places; i < (line + 1) * places && i < side->places; i++) {
    side_kind kind = side_kind_at(pair, side, i, index);
    if (kind == SIDE_ELEMENT || (padding && kind == SIDE_PADDING)) return true;
  }
  return false;
}

int64_t side_lines(const bench_pair *pair, const bench_side *side, bool padding) {
  enum { LOOKS = 65536 };
  int64_t lines = (side->bytes + 63) / 64, found = 0;
  uint64_t state = 1;
  int64_t looks = lines < LOOKS ? lines : LOOKS;
  for (int64_t i = 0; i < looks; i++) {
    int64_t first = lines * i / looks, n = lines * (i + 1) / looks - first;
    found += touches(pair, side, first + (int64_t)(draw(&state) % (uint64_t)n), padding);
  }
  return lines <= LOOKS ? found : (int64_t)((double)lines * (double)found / LOOKS + 0.5);
}

/* ---- checking -------------------------------------------------------------------------------------------------- */

static bool same_bits(int32_t bits, const unsigned char *a, int64_t i, const unsigned char *b, int64_t j) {
  if (bits >= 8) return memcmp(a + i * (bits / 8), b + j * (bits / 8), (size_t)bits / 8) == 0;
  unsigned mask = (1u << bits) - 1;
  return ((unsigned)a[i * bits / 8] >> (i * bits % 8) & mask) ==
         ((unsigned)b[j * bits / 8] >> (j * bits % 8) & mask);
}

static bool place_right(const bench_pair *pair, const unsigned char *dst, const unsigned char *src,
                        int64_t place) {
  static const unsigned char zero[16];
  int64_t index[SIDE_RANK];
  unsigned char untouched[16];
  memset(untouched, SIDE_UNTOUCHED, sizeof untouched);
  side_kind kind = side_kind_at(pair, &pair->dst, place, index);
  if (kind == SIDE_ELEMENT)
    return same_bits(pair->bits, dst, place, src, side_place(pair, &pair->src, index));
  if (kind == SIDE_PADDING) return same_bits(pair->bits, dst, place, zero, 0);
  return same_bits(pair->bits, dst, place, untouched, pair->bits < 8 ? place % (8 / pair->bits) : 0);
}

/* Any place; with `last`, one where a digit drawn at random has its last value, in a side without gaps. */
static int64_t draw_place(const bench_side *side, uint64_t *state, bool last) {
  int64_t place = (int64_t)(draw(state) % (uint64_t)side->places);
  if (!last) return place;
  const side_digit *g = &side->digit[draw(state) % (uint64_t)side->n];
  if (g->stride <= 0) return place;
  place += (g->extent - 1 - place / g->stride % g->extent) * g->stride;
  return place < side->places ? place : side->places - 1;
}

const char *pair_check(const bench_pair *pair, const void *dst, const void *src, int64_t most) {
  static char wrong[64];
  uint64_t state = 1;
  bool all = pair->dst.places <= most;
  for (int64_t i = 0; i < (all ? pair->dst.places : most); i++) {
    int64_t place = all ? i : draw_place(&pair->dst, &state, i % 2);
    if (place_right(pair, dst, src, place)) continue;
    snprintf(wrong, sizeof wrong, "wrong value at place %" PRId64, place);
    return wrong;
  }
  return NULL;
}
