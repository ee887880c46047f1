/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layout.c - the core against the oracle: every element and every place of random tiled arrays.
 *
 * The layouts are built here with the builder functions, straight from the rules of tiling, and the expected
 * numbers come from tests/oracle, which shares no code with src/.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "../oracle/xla_oracle.h"
#include "support_seed.h"

enum { SEEDS = 3000, MOST = 600 };

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

/* The rules of tiling with the builder: order, then per level leading ones, joins, splits, appended parts. */
static void build(const struct oracle_array *a, tesela_layout *layout) {
  int32_t digit[TESELA_MAX_DIGITS], n = a->rank, axis;
  int64_t bound[TESELA_MAX_DIGITS], dim[32], elements = 1;
  for (int d = 0; d < a->rank; d++) dim[d] = a->dim[d];
  OK(tesela_layout_begin(layout, TESELA_DTYPE_NONE, 8, a->rank, dim, &e_));
  for (int p = 0; p < a->rank; p++) {
    digit[p] = a->minor_to_major[a->rank - 1 - p];
    bound[p] = a->dim[digit[p]];
  }
  for (int level = 0; level < a->n_tiles; level++) {
    int t = a->tile_rank[level];
    while (n < t) {
      memmove(digit + 1, digit, (size_t)n * sizeof *digit);
      memmove(bound + 1, bound, (size_t)n * sizeof *bound);
      OK(tesela_layout_add_digit(layout, TESELA_HOLE, 1, &digit[0], &e_));
      bound[0] = 1;
      n++;
    }
    int32_t next[TESELA_MAX_DIGITS], lows[TESELA_MAX_DIGITS], n_next = 0, n_lows = 0;
    int64_t next_bound[TESELA_MAX_DIGITS], low_bound[TESELA_MAX_DIGITS];
    for (int p = 0; p < n - t; p++) {
      next[n_next] = digit[p];
      next_bound[n_next++] = bound[p];
    }
    for (int k = 0, p = n - t; k < t; k++, p++) {
      int first = p;
      int64_t joined = bound[p];
      while (a->tile[level][k] == ORACLE_COMBINE) {
        k++;
        p++;
        joined *= bound[p];
      }
      int32_t whole = digit[p];
      if (p > first) OK(tesela_layout_join(layout, p - first + 1, &digit[first], &whole, &e_));
      int64_t tile = a->tile[level][k];
      OK(tesela_layout_split(layout, whole, tile, &lows[n_lows], &e_));
      low_bound[n_lows++] = tile;
      next[n_next] = whole;
      next_bound[n_next++] = (joined + tile - 1) / tile;
    }
    n = 0;
    for (int p = 0; p < n_next; p++, n++) digit[n] = next[p], bound[n] = next_bound[p];
    for (int p = 0; p < n_lows; p++, n++) digit[n] = lows[p], bound[n] = low_bound[p];
  }
  for (int p = 0; p < n; p++) elements *= bound[p];
  elements = (elements + a->tail - 1) / a->tail * a->tail;
  OK(tesela_layout_add_axis(layout, "memory", &axis, &e_));
  OK(tesela_layout_place_row_major(layout, n, digit, axis, 1, NULL, &e_));
  OK(tesela_layout_set_axis(layout, axis, 0, elements, &e_));
  OK(tesela_layout_finish(layout, &e_));
}

/* One random array with what the oracle says about it. */
typedef struct sample {
  uint64_t seed;
  struct oracle_array array;
  char text[512];
  int64_t count, length, image[MOST];
  tesela_layout layout;
} sample;

static void draw(sample *s, uint64_t seed) {
  const char *type;
  s->seed = seed;
  oracle_random(seed, MOST, &s->array, &type);
  oracle_print(&s->array, type, s->text, sizeof s->text);
  s->count = oracle_count(&s->array);
  s->length = oracle_image(&s->array, s->image, MOST);
  assert_true(s->length >= 0);
  build(&s->array, &s->layout);
}

static int64_t number_of(const tesela_layout *layout, const int64_t *index) {
  int64_t number = 0;
  for (int d = 0; d < layout->rank; d++) number = number * layout->shape[d] + index[d];
  return number;
}

#define AGREE(what, s, got, want)                                                                  \
  do {                                                                                             \
    if ((int64_t)(got) != (int64_t)(want))                                                         \
      fail_msg("%s: %s (seed %" PRIu64 "): %" PRId64 ", not %" PRId64, what, (s)->text, (s)->seed, \
               (int64_t)(got), (int64_t)(want));                                                   \
  } while (0)

static void check_all_elements(const sample *s, const tesela_layout *layout) {
  int64_t index[32], place;
  for (int64_t e = 0; e < s->count; e++) {
    oracle_index(&s->array, e, index);
    OK(tesela_layout_place_of(layout, index, &place, &e_));
    AGREE("place", s, place, oracle_place(&s->array, index));
  }
}

static void check_all_places(const sample *s, const tesela_layout *layout) {
  int64_t index[32];
  bool padding;
  AGREE("extent", s, layout->axis[0].extent, s->length);
  for (int64_t p = 0; p < s->length; p++) {
    OK(tesela_layout_element_at(layout, &p, index, &padding, &e_));
    AGREE("element", s, padding ? -1 : number_of(layout, index), s->image[p]);
  }
}

static void places_and_elements_agree_with_the_oracle(void **state) {
  (void)state;
  static sample s;
  for (uint64_t i = 0; i < SEEDS; i++) {
    draw(&s, first_seed() + i);
    AGREE("elements", &s, s.layout.axis[0].extent, oracle_elements(&s.array));
    check_all_elements(&s, &s.layout);
    check_all_places(&s, &s.layout);
  }
}

static void walks_and_scans_agree_with_the_oracle(void **state) {
  (void)state;
  static sample s;
  static tesela_walk walk;
  static tesela_scan scan;
  for (uint64_t i = 0; i < SEEDS; i++) {
    draw(&s, first_seed() + i);
    int64_t n = 0;
    OK(tesela_walk_begin(&walk, &s.layout, &e_));
    for (; walk.more; tesela_walk_next(&walk), n++) {
      AGREE("walk index", &s, number_of(&s.layout, walk.index), n);
      AGREE("walk place", &s, walk.place, oracle_place(&s.array, walk.index));
    }
    AGREE("walk length", &s, n, s.count);
    n = 0;
    OK(tesela_scan_begin(&scan, &s.layout, &e_));
    for (; scan.more; tesela_scan_next(&scan), n++) {
      AGREE("scan place", &s, scan.place, n);
      AGREE("scan element", &s, scan.padding ? -1 : number_of(&s.layout, scan.index), s.image[n]);
    }
    AGREE("scan length", &s, n, s.length);
  }
}

static void batches_agree_with_the_oracle(void **state) {
  (void)state;
  static sample s;
  static int64_t indices[MOST * 32], places[MOST];
  for (uint64_t i = 0; i < SEEDS; i++) {
    draw(&s, first_seed() + i);
    for (int64_t e = 0; e < s.count; e++)
      oracle_index(&s.array, s.count - 1 - e, indices + e * s.layout.rank);
    OK(tesela_layout_places(&s.layout, 0, s.count, indices, places, &e_));
    for (int64_t e = 0; e < s.count; e++)
      AGREE("batch", &s, places[e], oracle_place(&s.array, indices + e * s.layout.rank));
    if (s.layout.rank == 0 || s.count < 2) continue;
    int64_t bad = (int64_t)(s.seed % (uint64_t)s.count);
    tesela_error err;
    indices[bad * s.layout.rank] = s.seed % 2 ? -1 : INT64_MAX;
    AGREE("bad row", &s, tesela_layout_places(&s.layout, 0, s.count, indices, places, &err), TESELA_E_RANGE);
    char row[32];
    snprintf(row, sizeof row, "row %" PRId64 ":", bad);
    if (!strstr(err.message, row)) fail_msg("%s is not in: %s", row, err.message);
  }
}

static void batches_of_places_agree_with_the_oracle(void **state) {
  (void)state;
  static sample s;
  static int64_t places[MOST], indices[MOST * 32];
  static bool padding[MOST];
  for (uint64_t i = 0; i < SEEDS; i++) {
    draw(&s, first_seed() + i);
    const int64_t n = s.length < MOST ? s.length : MOST;
    for (int64_t p = 0; p < n; p++) places[p] = n - 1 - p;
    OK(tesela_layout_elements(&s.layout, n, places, indices, i % 2 ? padding : NULL, &e_));
    for (int64_t p = 0; p < n; p++) {
      const int64_t *index = indices + p * s.layout.rank;
      const bool none = s.image[places[p]] < 0;
      if (i % 2) AGREE("padding", &s, padding[p], none);
      for (int32_t d = 0; d < s.layout.rank && none; d++) AGREE("row of padding", &s, index[d], -1);
      if (!none) AGREE("element of a row", &s, number_of(&s.layout, index), s.image[places[p]]);
    }
    if (n < 2) continue;
    const int64_t bad = (int64_t)(s.seed % (uint64_t)n);
    tesela_error err;
    places[bad] = s.seed % 2 ? -1 : s.length;
    AGREE("bad row", &s, tesela_layout_elements(&s.layout, n, places, indices, NULL, &err), TESELA_E_RANGE);
    char row[32];
    snprintf(row, sizeof row, "row %" PRId64 ":", bad);
    if (!strstr(err.message, row)) fail_msg("%s is not in: %s", row, err.message);
  }
}

/* The definition: the largest n for which element numbers go up by one step, or all is padding. */
static tesela_run run_by_definition(const sample *s, int64_t place) {
  tesela_run run = {1, 1, s->image[place] < 0};
  if (run.padding) {
    run.step = 0;
    while (place + run.length < s->length && s->image[place + run.length] < 0) run.length++;
    return run;
  }
  if (place + 1 < s->length && s->image[place + 1] >= 0) run.step = s->image[place + 1] - s->image[place];
  while (place + run.length < s->length && s->image[place + run.length] >= 0 &&
         s->image[place + run.length] == s->image[place] + run.length * run.step)
    run.length++;
  return run;
}

static void runs_agree_with_the_image(void **state) {
  (void)state;
  static sample s;
  for (uint64_t i = 0; i < SEEDS; i++) {
    draw(&s, first_seed() + i);
    for (int64_t p = 0; p < s.length; p++) {
      tesela_run run, want = run_by_definition(&s, p);
      OK(tesela_layout_run(&s.layout, p, &run, &e_));
      AGREE("run padding", &s, run.padding, want.padding);
      AGREE("run length", &s, run.length, want.length);
      AGREE("run step", &s, run.step, want.step);
    }
  }
}

static void canonical_form_keeps_the_relation(void **state) {
  (void)state;
  static sample s;
  static tesela_layout form, again;
  int64_t joins_before = 0, joins_after = 0;
  for (uint64_t i = 0; i < SEEDS; i++) {
    draw(&s, first_seed() + i);
    OK(tesela_layout_canonical(&s.layout, &form, &e_));
    check_all_elements(&s, &form);
    check_all_places(&s, &form);
    OK(tesela_layout_canonical(&form, &again, &e_));
    AGREE("digits again", &s, again.n_digits, form.n_digits);
    for (int k = 0; k < form.n_digits; k++)
      AGREE("digit again", &s, memcmp(&again.digit[k], &form.digit[k], sizeof form.digit[k]), 0);
    joins_before += s.layout.n_joins;
    joins_after += form.n_joins;
  }
  assert_true(joins_after < joins_before);
}

/* Expected by going through all elements. */
static void check_comparison(const sample *a, const sample *b) {
  tesela_difference difference;
  int64_t index[32], pa, pb, first = -1;
  for (int64_t e = 0; e < a->count && first < 0; e++) {
    oracle_index(&a->array, e, index);
    pa = oracle_place(&a->array, index);
    pb = oracle_place(&b->array, index);
    if (pa != pb) first = e;
  }
  OK(tesela_layout_compare(&a->layout, &b->layout, &difference, &e_));
  if (difference.same != (first < 0) || difference.have_index != (first >= 0) ||
      (first >= 0 && number_of(&a->layout, difference.index) != first))
    fail_msg("%s and %s: same %d, first %" PRId64 "; expected %" PRId64, a->text, b->text, difference.same,
             difference.have_index ? number_of(&a->layout, difference.index) : -1, first);
}

static void comparison_agrees_with_enumeration(void **state) {
  (void)state;
  static sample a, b;
  int64_t equal = 0;
  for (uint64_t i = 0; i < SEEDS; i++) {
    draw(&a, first_seed() + i);
    check_comparison(&a, &a);
    for (uint64_t k = 1; k < 4; k++) { /* the same dims, the tiles of another array */
      draw(&b, first_seed() + i + k * 1000003);
      struct oracle_array mixed = b.array;
      mixed.rank = a.array.rank;
      memcpy(mixed.dim, a.array.dim, sizeof mixed.dim);
      memcpy(mixed.minor_to_major, a.array.minor_to_major, sizeof mixed.minor_to_major);
      if (oracle_elements(&mixed) < 0 || oracle_elements(&mixed) > 100000) continue;
      b.array = mixed;
      oracle_print(&b.array, "s8", b.text, sizeof b.text);
      build(&b.array, &b.layout);
      check_comparison(&a, &b);
      tesela_difference difference;
      OK(tesela_layout_compare(&a.layout, &b.layout, &difference, &e_));
      equal += difference.same;
    }
  }
  assert_true(equal > SEEDS / 20); /* both answers were tried */
}

static void composition_agrees_with_its_definition(void **state) {
  (void)state;
  static sample inner, outer;
  static tesela_layout both;
  int64_t tried = 0;
  for (uint64_t i = 0; i < 2 * SEEDS; i++) {
    draw(&inner, first_seed() + i);
    draw(&outer, first_seed() + i + 7777777);
    tesela_error err;
    if (outer.count < inner.length) {
      AGREE("too small", &inner, tesela_layout_compose(&outer.layout, &inner.layout, &both, &err),
            TESELA_E_MISMATCH);
      continue;
    }
    OK(tesela_layout_compose(&outer.layout, &inner.layout, &both, &e_));
    tried++;
    int64_t index[32], middle[32], place, back[32];
    bool padding;
    for (int64_t e = 0; e < inner.count; e++) {
      oracle_index(&inner.array, e, index);
      oracle_index(&outer.array, oracle_place(&inner.array, index), middle);
      OK(tesela_layout_place_of(&both, index, &place, &e_));
      AGREE(outer.text, &inner, place, oracle_place(&outer.array, middle));
      OK(tesela_layout_element_at(&both, &place, back, &padding, &e_));
      AGREE("back", &inner, padding ? -1 : number_of(&both, back), e);
    }
  }
  assert_true(tried > SEEDS / 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_and_elements_agree_with_the_oracle),
      cmocka_unit_test(walks_and_scans_agree_with_the_oracle),
      cmocka_unit_test(batches_agree_with_the_oracle),
      cmocka_unit_test(batches_of_places_agree_with_the_oracle),
      cmocka_unit_test(runs_agree_with_the_image),
      cmocka_unit_test(canonical_form_keeps_the_relation),
      cmocka_unit_test(comparison_agrees_with_enumeration),
      cmocka_unit_test(composition_agrees_with_its_definition),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
