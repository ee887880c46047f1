/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_register_huge.c - register layouts at the edges of int64, of the rank and of the mode lists, compared with 128-bit
 * arithmetic.
 *
 * TESELA_SEED chooses the random ones.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support_register.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

__extension__ typedef __int128 wide;

enum { ROUNDS = 4000, POINTS = 8 };

/* ---- random huge layouts --------------------------------------------------------------------------------------------- */

/* Threads times registers up to 2^62, sometimes with a last factor that fills up int64. */
static void huge_lists(reg_rng *rng, int32_t bits, register_lists *l) {
  wide room = (wide)1 << bits;
  int64_t items[LISTS_MOST];
  int32_t n_items = 0;
  if (bits == 63) room -= 1;
  memset(l, 0, sizeof *l);
  l->rank = (int32_t)reg_below(rng, 7);
  for (int32_t d = 0; d < l->rank; d++) {
    l->shape[d] = 1;
    for (int64_t m = reg_below(rng, 4); m >= 0; m--) {
      int64_t top = (int64_t)1 << (1 + reg_below(rng, bits - 2)), f = 1 + reg_below(rng, top);
      if (f > room) f = (int64_t)room;
      if (reg_below(rng, 8) == 0) f = (int64_t)room; /* all that is left */
      room /= f;
      l->shape[d] *= f;
      items[n_items++] = l->n_modes;
      l->mode_shape[l->n_modes++] = f;
    }
  }
  for (int64_t r = reg_below(rng, 4); r > 0; r--) {
    int64_t f = 1 + reg_below(rng, 1000);
    if (f > room) f = (int64_t)room;
    room /= f;
    items[n_items++] = -f;
  }
  for (int32_t i = n_items - 1; i > 0; i--) {
    int64_t j = reg_below(rng, i + 1), kept = items[i];
    items[i] = items[j];
    items[j] = kept;
  }
  for (int32_t i = 0; i < n_items; i++)
    if (items[i] >= 0 && reg_below(rng, 2))
      l->local_modes[l->n_local++] = items[i];
    else
      l->spatial_modes[l->n_spatial++] = items[i];
}

/* Thread of the k-th copy and local id, by the definition, in 128 bits. */
static void place_by_definition(const register_lists *l, const int64_t *index, int64_t k, wide *thread,
                                wide *local) {
  int64_t digit[LISTS_MOST], copy[LISTS_MOST];
  int32_t m = l->n_modes - 1;
  for (int32_t d = l->rank - 1; d >= 0; d--) {
    wide rest = index[d], have = 1;
    while (m >= 0 && have * l->mode_shape[m] <= l->shape[d] && l->shape[d] % (have * l->mode_shape[m]) == 0) {
      digit[m] = (int64_t)(rest % l->mode_shape[m]);
      rest /= l->mode_shape[m];
      have *= l->mode_shape[m--];
    }
  }
  for (int32_t i = l->n_spatial - 1; i >= 0; i--)
    if (l->spatial_modes[i] < 0) {
      copy[i] = k % -l->spatial_modes[i];
      k /= -l->spatial_modes[i];
    }
  *thread = *local = 0;
  for (int32_t i = 0; i < l->n_spatial; i++) {
    int64_t entry = l->spatial_modes[i];
    *thread = entry < 0 ? *thread * -entry + copy[i] : *thread * l->mode_shape[entry] + digit[entry];
  }
  for (int32_t i = 0; i < l->n_local; i++)
    *local = *local * l->mode_shape[l->local_modes[i]] + digit[l->local_modes[i]];
}

static void random_index(reg_rng *rng, int32_t rank, const int64_t *shape, int64_t *index) {
  int64_t corner = reg_below(rng, 4);
  for (int32_t d = 0; d < rank; d++)
    index[d] = corner == 0 ? 0 : corner == 1 ? shape[d] - 1 : reg_below(rng, shape[d]);
}

/* The layout and the lists put one element at the same places, and get it back. */
static void check_point(const tesela_register *layout, const register_lists *l, const int64_t *index,
                        int64_t k) {
  wide thread, local;
  int64_t t, i, back[TESELA_MAX_RANK];
  bool holds;
  place_by_definition(l, index, k, &thread, &local);
  OK(tesela_register_get_spatial(layout, index, k, &t, &e_));
  OK(tesela_register_get_local(layout, index, &i, &e_));
  if (t != thread || i != local) fail_msg("%" PRId64 ": %" PRId64 " of %s", t, i, reg_text(layout));
  OK(tesela_register_get_global(layout, t, i, back, &e_));
  assert_memory_equal(back, index, (size_t)l->rank * sizeof *index);
  OK(tesela_register_locate_at(layout, index, t, &holds, &e_));
  assert_true(holds);
}

static bool locates(const tesela_register *layout, const int64_t *index, int64_t thread) {
  bool holds;
  OK(tesela_register_locate_at(layout, index, thread, &holds, &e_));
  return holds;
}

static void huge_layouts_are_their_definition(void **state) {
  (void)state;
  reg_rng rng = {first_seed()};
  int64_t past_2_61 = 0;
  for (int round = 0; round < ROUNDS; round++) {
    register_lists l;
    tesela_register raw, made, form;
    tesela_layout core;
    int64_t index[TESELA_MAX_RANK], place[TESELA_MAX_AXES], found[TESELA_MAX_RANK];
    huge_lists(&rng, 63 - (int32_t)reg_below(&rng, 3), &l);
    OK(reg_make(&raw, &l, true, &e_));
    OK(reg_make(&made, &l, false, &e_));
    OK(tesela_register_check(&made, &e_));
    tesela_register_canonical(&form, &made);
    OK(tesela_register_check(&form, &e_));
    assert_true(reg_is_reduced(&made, false) && reg_is_reduced(&form, true) &&
                tesela_register_same(&raw, &form));
    OK(tesela_register_to_layout(&made, TESELA_F16, 16, &core, &e_));
    past_2_61 += (wide)made.spatial_size * made.local_size > (wide)1 << 61;
    for (int point = 0; point < POINTS; point++) {
      random_index(&rng, l.rank, l.shape, index);
      int64_t copies = tesela_register_copies(&made), k = reg_below(&rng, copies), t;
      check_point(&raw, &l, index, k);
      check_point(&made, &l, index, k);
      check_point(&form, &l, index, k);
      OK(tesela_register_get_spatial(&made, index, k, &t, &e_));
      OK(tesela_layout_copy_of(&core, index, k, place, &e_));
      assert_true(place[0] == t);
      bool padding;
      OK(tesela_layout_element_at(&core, place, found, &padding, &e_));
      assert_true(!padding && memcmp(found, index, (size_t)l.rank * sizeof *index) == 0);
      t = reg_below(&rng,
                    made.spatial_size); /* a thread holds it exactly if one of its elements there is it */
      OK(tesela_register_get_local(&made, index, &place[1], &e_));
      OK(tesela_register_get_global(&made, t, place[1], found, &e_));
      assert_true(locates(&made, index, t) == (memcmp(found, index, (size_t)l.rank * sizeof *index) == 0));
    }
    tesela_translation answer;
    OK(tesela_register_from_layout(&core, &form, &answer, &e_));
    assert_int_equal(answer.verdict, TESELA_EXACT);
    assert_true(tesela_register_same(&form, &made));
  }
  print_message("%" PRId64 " of %d with more than 2^61 threads times registers (TESELA_SEED=%" PRIu64 ")\n",
                past_2_61, ROUNDS, first_seed());
  assert_true(past_2_61 > ROUNDS / 10);
}

/* compose by its formula at random elements; and both quotients. */
static void huge_products(void **state) {
  (void)state;
  reg_rng rng = {first_seed()};
  for (int round = 0; round < ROUNDS; round++) {
    register_lists l[2];
    tesela_register part[2], whole, back;
    huge_lists(&rng, 31, &l[0]);
    huge_lists(&rng, 31, &l[1]);
    l[1].rank = l[1].rank > 6 ? 6 : l[1].rank;
    for (int p = 0; p < 2; p++) OK(reg_make(&part[p], &l[p], false, &e_));
    OK(tesela_register_compose(&whole, &part[0], &part[1], &e_));
    OK(tesela_register_check(&whole, &e_));
    OK(tesela_register_divide(&back, &whole, &part[1], &e_));
    assert_true(back.rank == whole.rank && back.spatial_size == part[0].spatial_size);
    OK(tesela_register_compose(&back, &back, &part[1], &e_));
    assert_true(tesela_register_same(&back, &whole));
    OK(tesela_register_left_divide(&back, &whole, &part[0], &e_));
    OK(tesela_register_compose(&back, &part[0], &back, &e_));
    assert_true(tesela_register_same(&back, &whole));
    for (int point = 0; point < POINTS; point++) {
      int64_t index[TESELA_MAX_RANK], at[2][TESELA_MAX_RANK], t, i;
      wide thread[2], local[2];
      random_index(&rng, whole.rank, whole.shape, index);
      for (int32_t d = 0; d < whole.rank; d++) {
        int32_t a = d - (whole.rank - l[0].rank), b = d - (whole.rank - l[1].rank);
        int64_t inner = b >= 0 ? l[1].shape[b] : 1;
        if (a >= 0) at[0][a] = index[d] / inner;
        if (b >= 0) at[1][b] = index[d] % inner;
      }
      for (int p = 0; p < 2; p++) place_by_definition(&l[p], at[p], 0, &thread[p], &local[p]);
      OK(tesela_register_get_spatial(&whole, index, 0, &t, &e_));
      OK(tesela_register_get_local(&whole, index, &i, &e_));
      assert_true(t == thread[0] * part[1].spatial_size + thread[1]);
      assert_true(i == local[0] * part[1].local_size + local[1]);
    }
  }
}

/* ---- limits ----------------------------------------------------------------------------------------------------------- */

static tesela_register filled(void) {
  tesela_register out;
  memset(&out, 0xA5, sizeof out);
  return out;
}

/* This status, with and without an error object, `out` as it was. */
#define REFUSED_AS(expected, ...)                                                                            \
  do {                                                                                                       \
    tesela_register out = filled(), untouched = filled();                                                    \
    tesela_error error = {.message = ""}, *err = &error;                                                     \
    tesela_status status = (__VA_ARGS__);                                                                    \
    if (status != (expected) || error.status != status || error.reason != TESELA_REASON_NONE)                \
      fail_msg("%s: status %d: %s", #__VA_ARGS__, (int)status, error.message);                               \
    if (memcmp(&out, &untouched, sizeof out) != 0 || error.message[0] == '\0') fail_msg("%s", #__VA_ARGS__); \
    err = NULL;                                                                                              \
    assert_int_equal((__VA_ARGS__), expected);                                                               \
  } while (0)

static void rank_32_is_the_largest(void **state) {
  (void)state;
  int64_t twos[40], ones[40], dims[40];
  tesela_register layout, other;
  for (int i = 0; i < 40; i++) {
    twos[i] = 2;
    ones[i] = 1;
    dims[i] = i;
  }
  OK(tesela_register_spatial(&layout, 32, twos, NULL, &e_));
  assert_true(layout.rank == 32 && layout.spatial_size == (int64_t)1 << 32);
  for (int32_t d = 0; d < 32; d++) dims[d] = 31 - d;
  OK(tesela_register_permute(&other, &layout, 32, dims, &e_));
  OK(tesela_register_column_spatial(&layout, 32, twos, &e_));
  assert_true(tesela_register_same(&other, &layout));
  OK(tesela_register_reduce(&other, &layout, 32, dims, true, &e_));
  assert_true(other.rank == 32 && tesela_register_copies(&other) == (int64_t)1 << 32);
  OK(tesela_register_reduce(&other, &layout, 32, dims, false, &e_));
  assert_true(other.rank == 0 && other.n_spatial == 32);
  OK(tesela_register_reduce_to(&other, &layout, 32, ones, &e_));
  OK(tesela_register_squeeze(&other, &other, 32, dims, &e_));
  OK(tesela_register_unsqueeze(&other, &other, 32, dims, &e_));
  assert_true(other.rank == 32 && other.spatial_size == (int64_t)1 << 32);
  OK(tesela_register_reduce_to(&other, &layout, 0, NULL, &e_));
  assert_true(other.rank == 0);
  OK(tesela_register_repeat_to(&other, &layout, 32, twos, &e_));
  assert_true(tesela_register_same(&other, &layout));
  OK(tesela_register_flatten(&other, &layout, 0, -1, &e_));
  OK(tesela_register_reshape(&other, &other, 32, twos, &e_));
  assert_true(tesela_register_same(&other, &layout));

  REFUSED_AS(TESELA_E_LIMIT, tesela_register_make(&out, 33, ones, 0, NULL, 0, NULL, 0, NULL, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_spatial(&out, 33, ones, NULL, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_local(&out, 33, ones, NULL, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_local(&out, INT32_MAX, ones, NULL, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_column_spatial(&out, 33, ones, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_column_local(&out, 33, ones, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_replicated(&out, 33, ones, 2, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_auto_local_spatial(&out, 1, 33, ones, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_reshape(&out, &layout, 33, twos, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_with_shape(&out, &layout, 33, twos, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_repeat_to(&out, &layout, 33, twos, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_unsqueeze(&out, &layout, 1, dims, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_unsqueeze(&out, &layout, INT32_MAX, dims, err));
  tesela_register one;
  OK(tesela_register_local(&one, 1, ones, NULL, &e_));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_concat(&out, &layout, &one, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_concat(&out, &one, &layout, err));
}

static void lists_have_64_entries(void **state) {
  (void)state;
  int64_t ones[80], numbers[80], minus_ones[80];
  tesela_register modes, copies, out_of_it;
  for (int i = 0; i < 80; i++) {
    ones[i] = 1;
    numbers[i] = i;
    minus_ones[i] = -1;
  }
  OK(tesela_register_make_raw(&modes, 0, NULL, 64, ones, 64, numbers, 0, NULL, &e_));
  assert_true(modes.n_modes == 64 && modes.n_spatial == 64 && modes.spatial_size == 1);
  OK(tesela_register_make_raw(&modes, 1, ones, 64, ones, 0, NULL, 64, numbers, &e_));
  OK(tesela_register_check(&modes, &e_));
  tesela_register_reduced(&out_of_it, &modes);
  assert_true(out_of_it.n_modes == 0 && out_of_it.n_local == 0);
  OK(tesela_register_make(&copies, 0, NULL, 0, NULL, 64, minus_ones, 0, NULL, &e_));
  assert_true(copies.n_spatial == 64 && tesela_register_copies(&copies) == 1);
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_make(&out, 0, NULL, 65, ones, 65, numbers, 0, NULL, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_make(&out, 0, NULL, 65, ones, 0, NULL, 65, numbers, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_make(&out, 0, NULL, 0, NULL, 65, minus_ones, 0, NULL, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_make_raw(&out, 0, NULL, -1, ones, 0, NULL, 0, NULL, err));
  /* replicas of 1 stay, so they can be too many in a product */
  OK(tesela_register_make(&copies, 0, NULL, 0, NULL, 40, minus_ones, 0, NULL, &e_));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_compose(&out, &copies, &copies, err));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_concat(&out, &copies, &copies, err));
  /* one spatial mode of 8 after 62 replicas of 1: reshaping to [2,2,2] needs 65 entries */
  int64_t list[63];
  for (int i = 0; i < 63; i++) list[i] = i < 62 ? -1 : 0;
  OK(tesela_register_make(&out_of_it, 1, (int64_t[]){8}, 1, (int64_t[]){8}, 63, list, 0, NULL, &e_));
  REFUSED_AS(TESELA_E_LIMIT, tesela_register_reshape(&out, &out_of_it, 3, (int64_t[]){2, 2, 2}, err));
}

static void sizes_fit_64_bits(void **state) {
  (void)state;
  const int64_t e32 = INT64_C(1) << 32, e31 = e32 / 2, e62 = INT64_C(1) << 62;
  tesela_register a, b, c;
  OK(tesela_register_spatial(&a, 1, &e32, NULL, &e_));
  OK(tesela_register_local(&b, 1, &e32, NULL, &e_));
  OK(tesela_register_local(&c, 1, &e31, NULL, &e_));
  REFUSED_AS(TESELA_E_OVERFLOW, tesela_register_compose(&out, &a, &a, err));
  REFUSED_AS(TESELA_E_OVERFLOW, tesela_register_compose(&out, &b, &b, err));
  REFUSED_AS(TESELA_E_OVERFLOW, tesela_register_compose(&out, &a, &b, err)); /* each fits, both do not */
  REFUSED_AS(TESELA_E_OVERFLOW, tesela_register_compose(&out, &a, &c, err)); /* 2^63 */
  REFUSED_AS(TESELA_E_OVERFLOW, tesela_register_concat(&out, &a, &b, err));
  REFUSED_AS(TESELA_E_OVERFLOW, tesela_register_repeat_to(&out, &a, 2, (int64_t[]){e32, e32}, err));
  REFUSED_AS(TESELA_E_OVERFLOW, tesela_register_spatial(&out, 2, (int64_t[]){e32, e31}, NULL, err));
  REFUSED_AS(TESELA_E_OVERFLOW, tesela_register_local(&out, 2, (int64_t[]){e32, e31}, NULL, err));
  REFUSED_AS(TESELA_E_OVERFLOW, tesela_register_replicated(&out, 1, &e32, e31, err));
  REFUSED_AS(TESELA_E_OVERFLOW, tesela_register_replicated(&out, 1, (int64_t[]){2}, e62, err));
  REFUSED_AS(TESELA_E_OVERFLOW, tesela_register_column_local(&out, 2, (int64_t[]){e32, e31}, err));
  REFUSED_AS(TESELA_E_OVERFLOW, tesela_register_auto_local_spatial(&out, 8, 2, (int64_t[]){e32, e32}, err));
  OK(tesela_register_replicated(&a, 0, NULL, INT64_MAX, &e_));
  assert_true(a.spatial_size == INT64_MAX && tesela_register_copies(&a) == INT64_MAX);
  int64_t thread;
  OK(tesela_register_get_spatial(&a, NULL, INT64_MAX - 1, &thread, &e_));
  assert_true(thread == INT64_MAX - 1);
  OK(tesela_register_spatial(&a, 1, (int64_t[]){INT64_MAX}, NULL, &e_));
  OK(tesela_register_get_spatial(&a, (int64_t[]){INT64_MAX - 1}, 0, &thread, &e_));
  assert_true(thread == INT64_MAX - 1);
  OK(tesela_register_divide(&b, &a, &a, &e_));
  assert_true(b.rank == 1 && b.shape[0] == 1 && b.spatial_size == 1);
  OK(tesela_register_auto_local_spatial(&a, e62, 1, &e31, &e_)); /* 2^31 copies of 2^31 elements */
  assert_true(tesela_register_copies(&a) == e31 && a.local_size == 1);
  /* a shape whose product does not fit is another shape, whatever else is said of it */
  assert_true(tesela_register_reshape(&b, &c, 2, (int64_t[]){e32, e32}, NULL) != TESELA_OK);
  assert_true(tesela_register_reduce_to(&b, &c, 2, (int64_t[]){e32, e32}, NULL) != TESELA_OK);
}

static void what_is_too_much_to_enumerate(void **state) {
  (void)state;
  const int64_t e24 = 1 << 24, e25 = 1 << 25, e40 = INT64_C(1) << 40;
  tesela_register a, b;
  tesela_error err;
  uint64_t hash = 5;
  bool covers = true;
  OK(tesela_register_spatial(&a, 1, &e25, NULL, &e_));
  assert_int_equal(tesela_register_hash(&a, &hash, &err), TESELA_E_LIMIT);
  OK(tesela_register_replicated(&a, 1, (int64_t[]){3}, e24, &e_));
  assert_int_equal(tesela_register_hash(&a, &hash, NULL), TESELA_E_LIMIT);
  assert_true(hash == 5 && err.message[0] != '\0');
  OK(tesela_register_replicated(&a, 2, (int64_t[]){1 << 10, 1 << 10}, 1 << 4, &e_)); /* 2^24 exactly */
  OK(tesela_register_hash(&a, &hash, &e_));
  /* spatial digits that are found in both: no enumeration */
  OK(tesela_register_spatial(&a, 1, &e40, NULL, &e_));
  OK(tesela_register_covers(&a, &a, &covers, &e_));
  assert_true(covers);
  OK(tesela_register_local(&b, 1, &e40, NULL, &e_));
  OK(tesela_register_covers(&b, &a, &covers, &e_));
  assert_false(covers); /* 2^40 threads are needed, there is 1 */
  OK(tesela_register_covers(&b, &b, &covers, &e_));
  assert_true(covers);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(huge_layouts_are_their_definition),
      cmocka_unit_test(huge_products),
      cmocka_unit_test(rank_32_is_the_largest),
      cmocka_unit_test(lists_have_64_entries),
      cmocka_unit_test(sizes_fit_64_bits),
      cmocka_unit_test(what_is_too_much_to_enumerate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
