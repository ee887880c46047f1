/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_in_place_random.c - tesela_plan_run_in_place against the definition, for random pairs of layouts.
 *
 * A random *side* says how a layout places the elements: which dims are joined, how coordinates are split,
 * in which order the digits lie, what gaps, padding, holes, offset, tail and swizzle there are. It is
 * followed twice: by the builder functions, and by arithmetic of this file, which writes down for every
 * place of the axis what it is.
 *
 * TESELA_SEED sets the first seed, TESELA_SEEDS their number.
 */
#include "support_in_place.h"
#include "support_seed.h"

enum {
  SEEDS = 3000,
  MOST_DIMS = 4,
  MOST_DIGITS = 24,
  MOST_PLACES = 6000 /* of an axis */
};

/* ---- sides ------------------------------------------------------------------------------------------------ */

/* A part of a coordinate: what is left of x above it, div step; or a hole. */
typedef struct part {
  int coordinate;   /* -1: a hole */
  int64_t above[2]; /* x mod the first, mod the second is left; 0: none */
  int64_t step, extent, stride;
  int32_t digit; /* in the library's layout */
} part;

/* Coordinates are one dim or two neighbours joined: dims first .. first + n - 1. */
typedef struct side {
  int rank, n_coordinates, n_parts;
  int first[MOST_DIMS], n[MOST_DIMS];
  int64_t shape[MOST_DIMS], extent[MOST_DIMS]; /* of dims, of coordinates */
  part part[MOST_DIGITS];
  int64_t offset, tail, end; /* `end`: one after the last place the digits reach */
  tesela_swizzle swizzle;    /* bits 0: none */
  int32_t bits;
} side;

static void add_part(side *s, part added) { s->part[s->n_parts++] = added; }

/* Split a coordinate up to twice; the second step need not divide the first. */
static void split_coordinate(side *s, int c) {
  int64_t extent = s->extent[c], inner = in_place_one_in(2) ? 1 : 2 + in_place_below(5),
          outer = in_place_one_in(2) ? 1 : inner * (2 + in_place_below(3));
  if (outer > 1 && inner > 1 && in_place_one_in(4)) outer = inner + 1 + in_place_below(2 * inner);
  if (outer > 1) add_part(s, (part){c, {0, 0}, outer, (extent + outer - 1) / outer, 0, -1});
  int64_t left = outer > 1 ? outer : extent;
  if (inner > 1) add_part(s, (part){c, {outer > 1 ? outer : 0, 0}, inner, (left + inner - 1) / inner, 0, -1});
  add_part(s, (part){c, {outer > 1 ? outer : 0, inner > 1 ? inner : 0}, 1, inner > 1 ? inner : left, 0, -1});
}

/* Strides from the innermost part outwards, mostly without gaps; some lead backwards. */
static void place_parts(side *s, bool simple) {
  int64_t stride = 1, low = 0, high = 0;
  for (int i = s->n_parts - 1; i > 0; i--) { /* any order, sometimes as it is */
    int k = simple ? i : (int)in_place_below(i + 1);
    part swap = s->part[i];
    s->part[i] = s->part[k];
    s->part[k] = swap;
  }
  for (int i = s->n_parts - 1; i >= 0; i--) {
    part *p = &s->part[i];
    if (!simple && in_place_one_in(8)) stride += in_place_below(4);
    p->stride = stride;
    high += (p->extent - 1) * stride;
    stride *= p->extent;
    if (simple || !in_place_one_in(10)) continue;
    low -= (p->extent - 1) * p->stride;
    high -= (p->extent - 1) * p->stride;
    p->stride = -p->stride;
  }
  s->offset = -low + (!simple && in_place_one_in(4) ? in_place_below(20) : 0);
  s->end = s->offset + high + 1;
  s->tail = in_place_one_in(4) ? in_place_below(30) : 0;
}

static void split_all(side *s, int rank, const int64_t *shape) {
  s->rank = rank;
  memcpy(s->shape, shape, (size_t)rank * sizeof *shape);
  for (int d = 0; d < rank;) {
    int c = s->n_coordinates++;
    s->first[c] = d;
    s->n[c] = d + 1 < rank && in_place_one_in(6) ? 2 : 1;
    s->extent[c] = shape[d] * (s->n[c] == 2 ? shape[d + 1] : 1);
    d += s->n[c];
    split_coordinate(s, c);
  }
}

/* Split like another side, or NULL. Returns false if it would need too many places. */
static bool make_side(side *s, const side *like, int rank, const int64_t *shape, int32_t bits) {
  bool simple = in_place_one_in(3);
  memset(s, 0, sizeof *s);
  if (like)
    *s = *like;
  else
    split_all(s, rank, shape);
  s->bits = bits;
  s->swizzle = (tesela_swizzle){0, 0, 0, 0};
  if (in_place_one_in(8)) add_part(s, (part){-1, {0, 0}, 1, 2 + in_place_below(3), 0, -1});
  place_parts(s, simple);
  if (in_place_one_in(12)) { /* as many places as bits that may change */
    int64_t places = 32;
    while (places < s->end) places *= 2;
    s->tail = places - s->end;
    s->swizzle = (tesela_swizzle){0, (int16_t)(1 + in_place_below(2)), (int16_t)in_place_below(2), 2};
    if (in_place_one_in(3)) s->swizzle.shift = -2;
  }
  return s->end + s->tail <= MOST_PLACES;
}

/* By the library. */
static tesela_layout build(side *s) {
  tesela_layout layout;
  int32_t axis;
  OK(tesela_layout_begin(&layout, TESELA_DTYPE_NONE, s->bits, s->rank, s->shape, &e_));
  for (int c = 0; c < s->n_coordinates; c++) {
    int32_t digit = s->first[c], lo;
    const int32_t both[] = {digit, digit + 1};
    if (s->n[c] == 2) OK(tesela_layout_join(&layout, 2, both, &digit, &e_));
    for (int64_t before = INT64_MAX; digit >= 0;) { /* parts by decreasing step */
      part *next = NULL;
      for (int i = 0; i < s->n_parts; i++)
        if (s->part[i].coordinate == c && s->part[i].step < before && (!next || s->part[i].step > next->step))
          next = &s->part[i];
      before = next->step;
      next->digit = digit;
      lo = -1;
      if (next->step > 1) OK(tesela_layout_split(&layout, digit, next->step, &lo, &e_));
      digit = lo;
    }
  }
  OK(tesela_layout_add_axis(&layout, "memory", &axis, &e_));
  for (int i = 0; i < s->n_parts; i++) {
    part *p = &s->part[i];
    if (p->coordinate < 0) OK(tesela_layout_add_digit(&layout, TESELA_HOLE, p->extent, &p->digit, &e_));
    OK(tesela_layout_place(&layout, p->digit, axis, p->stride, &e_));
  }
  OK(tesela_layout_set_axis(&layout, axis, s->offset, s->end + s->tail, &e_));
  if (s->swizzle.bits) OK(tesela_layout_add_swizzle(&layout, s->swizzle, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  return layout;
}

/* The bits that the swizzle says act on the others. */
static int64_t swizzled(const side *s, int64_t place) {
  int shift = s->swizzle.shift, from = s->swizzle.base + (shift > 0 ? shift : 0);
  int to = s->swizzle.base + (shift < 0 ? -shift : 0);
  for (int b = 0; b < s->swizzle.bits; b++)
    if (place >> (from + b) & 1) place ^= (int64_t)1 << (to + b);
  return place;
}

/* By arithmetic: what each place of the axis is. */
static void fill_table(const side *s, int64_t *table) {
  int64_t places = s->end + s->tail, combinations = 1, elements = in_place_product(s->rank, s->shape),
          last = s->offset - 1; /* places before the offset are never padding after the last place */
  for (int64_t p = 0; p < places; p++) table[p] = GAP;
  for (int i = 0; i < s->n_parts; i++) combinations *= s->part[i].extent;
  for (int64_t k = 0; k < combinations; k++) {
    int64_t place = s->offset, rest = k;
    for (int i = 0; i < s->n_parts; i++) {
      place += rest % s->part[i].extent * s->part[i].stride;
      rest /= s->part[i].extent;
    }
    place = swizzled(s, place);
    assert_true(place >= 0 && place < places && table[place] == GAP);
    table[place] = PADDING;
    if (place > last) last = place;
  }
  for (int64_t p = last + 1; p < places; p++) table[p] = PADDING;
  for (int64_t e = 0; e < elements; e++) {
    int64_t index[MOST_DIMS], rest = e, place = s->offset;
    for (int d = s->rank - 1; d >= 0; d--) {
      index[d] = rest % s->shape[d];
      rest /= s->shape[d];
    }
    for (int i = 0; i < s->n_parts; i++) {
      const part *p = &s->part[i];
      if (p->coordinate < 0) continue;
      int d = s->first[p->coordinate];
      int64_t x = s->n[p->coordinate] == 2 ? index[d] * s->shape[d + 1] + index[d + 1] : index[d];
      for (int k = 0; k < 2; k++)
        if (p->above[k]) x %= p->above[k];
      place += x / p->step * p->stride;
    }
    table[swizzled(s, place)] = e;
  }
}

/* ---- random pairs ----------------------------------------------------------------------------------------- */

static tesela_dtype unsigned_of(int width) {
  static const tesela_dtype of[] = {[1] = TESELA_U8, [2] = TESELA_U16, [4] = TESELA_U32, [8] = TESELA_U64};
  return width == 16 ? TESELA_DTYPE_NONE : of[width];
}

static void random_pair(uint64_t seed) {
  static int64_t dst_table[MOST_PLACES], src_table[MOST_PLACES];
  char name[64];
  side dst, src;
  int64_t shape[MOST_DIMS];
  in_place_begin(seed);
  int rank = (int)in_place_below(MOST_DIMS + 1), bits = 1 << in_place_below(8);
  for (int d = 0; d < rank; d++) shape[d] = in_place_one_in(30) ? 0 : 1 + in_place_below(rank > 2 ? 7 : 23);
  while (!make_side(&dst, NULL, rank, shape, bits)) continue;
  bool alike = in_place_one_in(3);
  while (!make_side(&src, alike ? &dst : NULL, rank, shape, bits)) continue;
  snprintf(name, sizeof name, "seed %" PRIu64, seed);
  in_place_job j = {name, dst.end + dst.tail, src.end + src.tail, dst_table, src_table, bits, {0}};
  if (in_place_product(rank, shape) == 0) return; /* a row has no elements */
  in_place_draw_options(&j.options, bits);
  tesela_layout to = build(&dst), from = build(&src);
  if (j.options.transform == TESELA_TRANSFORM_SWAP && bits < 128)
    to.dtype = from.dtype = unsigned_of(bits / 8);
  if (bits == 128) j.options.transform = TESELA_TRANSFORM_NONE;
  fill_table(&dst, dst_table);
  fill_table(&src, src_table);
  in_place_run_all(&j, &to, &from, 3);
}

static void random_pairs_agree_with_the_definition(void **state) {
  (void)state;
  const char *text = getenv("TESELA_SEEDS");
  uint64_t n = text ? strtoull(text, NULL, 10) : slow_run() ? SEEDS / 10 : SEEDS;
  for (uint64_t k = 0; k < n; k++) random_pair(first_seed() + k);
}

/* Whole digits in another order, without padding: one stretch of places on both sides. */
static void random_permutation(uint64_t seed) {
  enum { LEAST = 2, MOST_EXTENT = 24 };
  static int64_t dst_table[MOST_PLACES], src_table[MOST_PLACES];
  char name[64];
  int64_t shape[MOST_DIMS], dst_stride[MOST_DIMS], src_stride[MOST_DIMS], order[MOST_DIMS],
      index[MOST_DIMS] = {0}, n = 1;
  in_place_begin(seed);
  int rank = 2 + (int)in_place_below(MOST_DIMS - 1), bits = 1 << in_place_below(8),
      alike = (int)in_place_below(rank);
  for (int d = 0; d < rank; d++) {
    shape[d] = LEAST + in_place_below(MOST_PLACES / n > MOST_EXTENT * 4 ? MOST_EXTENT : 2);
    if (d > 0 && d == alike) shape[d] = shape[d - 1]; /* two that may change places */
    while (n * shape[d] > MOST_PLACES) shape[d]--;
    n *= shape[d];
  }
  const bool swaps = alike > 0 && in_place_one_in(3);
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; d--) {
    src_stride[d] = stride;
    stride *= shape[d];
    order[d] = d;
  }
  for (int d = rank - 1; d > 0; d--) {
    int k = swaps && d != alike ? d : swaps && d > 0 ? d - 1 : (int)in_place_below(d + 1);
    int64_t swap = order[d];
    order[d] = order[k];
    order[k] = swap;
  }
  stride = 1;
  for (int d = rank - 1; d >= 0; d--) {
    dst_stride[order[d]] = stride;
    stride *= shape[order[d]];
  }
  tesela_layout dst, src;
  OK(tesela_layout_strided(&dst, TESELA_DTYPE_NONE, bits, rank, shape, dst_stride, 0, &e_));
  OK(tesela_layout_strided(&src, TESELA_DTYPE_NONE, bits, rank, shape, src_stride, 0, &e_));
  for (int64_t e = 0; e < n; e++) {
    int64_t to = 0, from = 0;
    for (int d = 0; d < rank; d++) {
      to += index[d] * dst_stride[d];
      from += index[d] * src_stride[d];
    }
    dst_table[to] = src_table[from] = e;
    tesela_index_next(rank, shape, index);
  }
  snprintf(name, sizeof name, "permutation, seed %" PRIu64, seed);
  in_place_job j = {name, n, n, dst_table, src_table, bits, {0}};
  in_place_draw_options(&j.options, bits);
  if (bits < 128) dst.dtype = src.dtype = bits < 8 ? TESELA_DTYPE_NONE : unsigned_of(bits / 8);
  if (bits == 128 || bits < 8) j.options.transform = TESELA_TRANSFORM_NONE;
  in_place_run_all(&j, &dst, &src, 6);
}

static void random_permutations_agree_with_the_definition(void **state) {
  (void)state;
  const char *text = getenv("TESELA_SEEDS");
  uint64_t n = text ? strtoull(text, NULL, 10) : slow_run() ? SEEDS / 30 : SEEDS / 3;
  random_permutation(7947); /* nothing moves, but values are converted */
  for (uint64_t k = 0; k < n; k++) random_permutation(first_seed() + k);
  static const char *const words[] = {
      "everything through the scratch", "strips through the scratch",
      "pairs of blocks change places",  "blocks move along cycles",
      "the last rows to the scratch",   "units of elements move along cycles"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    printf("cases: %d in place, %s\n", in_place_count(words[i]), words[i]);
    if (!text && !slow_run() && in_place_count(words[i]) < 60)
      fail_msg("only %d plans with: %s", in_place_count(words[i]), words[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_pairs_agree_with_the_definition),
      cmocka_unit_test(random_permutations_agree_with_the_definition),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
