/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cases.c - read cases with jansson, build their layouts, check results place by place.
 */
#include "cases.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "race.h"

/* ---- reading --------------------------------------------------------------------------------------------------- */

static double number_or_0(const json_t *object, const char *key) {
  return json_number_value(json_object_get(object, key)); /* null and absent give 0 */
}

static const char *text_of(const json_t *object, const char *key, const char *name) {
  const char *text = json_string_value(json_object_get(object, key));
  if (!text) race_fail("%s: no text \"%s\"", name, key);
  return text;
}

static void must(tesela_status status, const char *name, const tesela_error *err) {
  if (status != TESELA_OK) race_fail("%s: %s", name, err->message);
}

static void read_digits(const json_t *list, const bench_case *c, case_side *side) {
  side->n = (int)json_array_size(list);
  if (side->n < 1 || side->n > CASE_DIGITS) race_fail("%s: %d digits", c->name, side->n);
  side->places = 1;
  for (int i = side->n - 1; i >= 0; i--) {
    const json_t *entry = json_array_get(list, (size_t)i);
    case_digit *g = &side->digit[i];
    g->dim = json_integer_value(json_array_get(entry, 0));
    g->step = json_integer_value(json_array_get(entry, 1));
    g->extent = json_integer_value(json_array_get(entry, 2));
    if (json_array_size(entry) != 3 || g->dim < 0 || g->dim >= c->rank || g->step < 1 || g->extent < 1)
      race_fail("%s: digit %d is not [dim, step, extent]", c->name, i);
    g->stride = side->places;
    side->places *= g->extent;
  }
  side->bytes = (side->places * c->bits + 7) / 8;
}

/* The digit of `dim` with the largest step below `limit`; or -1. */
static int next_digit(const case_side *side, int64_t dim, int64_t limit) {
  int best = -1;
  for (int i = 0; i < side->n; i++) {
    const case_digit *g = &side->digit[i];
    if (g->dim == dim && g->step < limit && (best < 0 || g->step > side->digit[best].step)) best = i;
  }
  return best;
}

/* Each dim is split by its steps from the largest down; then all digits are placed row-major. */
static void make_layout(const bench_case *c, case_side *side, tesela_dtype dtype) {
  tesela_error err;
  int32_t digit[CASE_DIGITS], axis;
  tesela_layout *layout = &side->layout;
  must(tesela_layout_begin(layout, dtype, c->bits, c->rank, c->shape, &err), c->name, &err);
  for (int32_t dim = 0; dim < c->rank; dim++) {
    int32_t rest = dim;
    for (int i = next_digit(side, dim, INT64_MAX); i >= 0; i = next_digit(side, dim, side->digit[i].step)) {
      digit[i] = rest;
      if (side->digit[i].step > 1)
        must(tesela_layout_split(layout, digit[i], side->digit[i].step, &rest, &err), c->name, &err);
      if (layout->digit[digit[i]].extent != side->digit[i].extent)
        race_fail("%s: digit %d has extent %" PRId64, c->name, i, layout->digit[digit[i]].extent);
    }
  }
  must(tesela_layout_add_axis(layout, "memory", &axis, &err), c->name, &err);
  must(tesela_layout_place_row_major(layout, side->n, digit, axis, 1, NULL, &err), c->name, &err);
  must(tesela_layout_finish(layout, &err), c->name, &err);
}

static void read_case(const json_t *object, bench_case *c) {
  snprintf(c->name, sizeof c->name, "%s", text_of(object, "name", "a case"));
  snprintf(c->regime, sizeof c->regime, "%s", text_of(object, "regime", c->name));
  const char *type = text_of(object, "dtype", c->name);
  tesela_dtype dtype = tesela_dtype_find(type, strlen(type));
  c->bits = tesela_dtype_bits(dtype);
  const json_t *shape = json_object_get(object, "shape");
  c->rank = (int32_t)json_array_size(shape);
  if (!c->bits || c->rank < 1 || c->rank > CASE_RANK) race_fail("%s: dtype or shape", c->name);
  int64_t elements = 1;
  for (int32_t d = 0; d < c->rank; d++) {
    c->shape[d] = json_integer_value(json_array_get(shape, (size_t)d));
    elements *= c->shape[d];
  }
  c->logical_bytes = (elements * c->bits + 7) / 8;
  read_digits(json_object_get(object, "from_digits"), c, &c->src);
  read_digits(json_object_get(object, "to_digits"), c, &c->dst);
  make_layout(c, &c->src, dtype);
  make_layout(c, &c->dst, dtype);
  c->counted_bytes = c->logical_bytes + c->dst.bytes;
  if (c->counted_bytes != (int64_t)number_or_0(object, "counted_bytes"))
    race_fail("%s: %" PRId64 " bytes are counted, the file says otherwise", c->name, c->counted_bytes);
  c->goal_memcpy[0] = number_or_0(object, "goal_vs_memcpy_1t");
  c->goal_memcpy[1] = number_or_0(object, "goal_vs_memcpy_2t");
  c->goal_nt = number_or_0(object, "goal_vs_nt");
}

int cases_read(const char *path, bench_case **cases) {
  json_error_t error;
  json_t *file = json_load_file(path, 0, &error);
  if (!file) race_fail("%s:%d: %s", path, error.line, error.text);
  const json_t *list = json_object_get(file, "cases");
  int n = (int)json_array_size(list);
  bench_case *all = calloc((size_t)n + 1, sizeof *all);
  if (!all) race_fail("no memory for %d cases", n);
  for (int i = 0; i < n; i++) read_case(json_array_get(list, (size_t)i), &all[i]);
  json_decref(file);
  *cases = all;
  return n;
}

/* ---- checking -------------------------------------------------------------------------------------------------- */

enum { CHECK_ALL = 1 << 20, CHECK_SAMPLES = 200000 };

static uint64_t draw(uint64_t *state) { /* splitmix64 */
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* Greedy: the digits of a dim by decreasing step, each takes what it can of the coordinate. */
static int64_t place_of(const bench_case *c, const case_side *side, const int64_t *index) {
  int64_t place = 0;
  for (int32_t dim = 0; dim < c->rank; dim++) {
    int64_t rest = index[dim];
    for (int i = next_digit(side, dim, INT64_MAX); i >= 0; i = next_digit(side, dim, side->digit[i].step)) {
      place += rest / side->digit[i].step * side->digit[i].stride;
      rest %= side->digit[i].step;
    }
  }
  return place;
}

/* Find the element at a place; false for padding. */
static bool element_at(const bench_case *c, const case_side *side, int64_t place, int64_t *index) {
  memset(index, 0, CASE_RANK * sizeof *index);
  for (int i = 0; i < side->n; i++) {
    const case_digit *g = &side->digit[i];
    index[g->dim] += place / g->stride % g->extent * g->step;
  }
  for (int32_t dim = 0; dim < c->rank; dim++)
    if (index[dim] >= c->shape[dim]) return false;
  return place_of(c, side, index) == place; /* a digit beyond its share of the one above it is padding too */
}

static bool same_bits(int32_t bits, const unsigned char *a, int64_t i, const unsigned char *b, int64_t j) {
  if (bits >= 8) return memcmp(a + i * (bits / 8), b + j * (bits / 8), (size_t)bits / 8) == 0;
  unsigned mask = (1u << bits) - 1;
  return ((unsigned)a[i * bits / 8] >> (i * bits % 8) & mask) ==
         ((unsigned)b[j * bits / 8] >> (j * bits % 8) & mask);
}

static bool place_right(const bench_case *c, const unsigned char *dst, const unsigned char *src,
                        int64_t place) {
  static const unsigned char zero[16];
  int64_t index[CASE_RANK];
  if (element_at(c, &c->dst, place, index))
    return same_bits(c->bits, dst, place, src, place_of(c, &c->src, index));
  return same_bits(c->bits, dst, place, zero, 0);
}

/* Any place; with `last`, one where a digit drawn at random has its last value. */
static int64_t draw_place(const case_side *side, uint64_t *state, bool last) {
  int64_t place = (int64_t)(draw(state) % (uint64_t)side->places);
  if (!last) return place;
  const case_digit *g = &side->digit[draw(state) % (uint64_t)side->n];
  return place + (g->extent - 1 - place / g->stride % g->extent) * g->stride;
}

const char *case_check(const bench_case *c, const void *dst, const void *src) {
  static char wrong[64];
  uint64_t state = 1;
  bool all = c->dst.places <= CHECK_ALL;
  for (int64_t i = 0; i < (all ? c->dst.places : CHECK_SAMPLES); i++) {
    int64_t place = all ? i : draw_place(&c->dst, &state, i % 2);
    if (place_right(c, dst, src, place)) continue;
    snprintf(wrong, sizeof wrong, "wrong value at place %" PRId64, place);
    return wrong;
  }
  return NULL;
}
