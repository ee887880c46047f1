/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tile_memory_exhaustive.c - making, dims, reshape and slice of tiles in memory, over all small
 * layouts of a family, against their definition.
 *
 * The place of each element of the result is the place of the element it comes from. What is refused must
 * be what no modes say.
 */
#include "support_tile_known.h"

/* ---- making --------------------------------------------------------------------------------------------------------- */

static void check_make(const tile_words *w, void *user) {
  known k;
  int64_t index[4] = {0}, n = 0;
  tile_know(&k, w);
  tile_check_form(&k.tile);
  do {
    if (oracle_tile_place(&k.tile, index) != k.place[n++]) fail_msg("made otherwise: %s", tile_text(&k.tile));
  } while (oracle_tile_next(w->rank, w->shape, index));
  if (k.tile.size != oracle_tile_size(&k.tile)) fail_msg("size is not least: %s", tile_text(&k.tile));
  ++*(int64_t *)user;
}

static void tiles_are_what_was_said_and_their_size_is_least(void **state) {
  (void)state;
  int64_t n = 0;
  oracle_tile_family(32, check_make, &n);
  assert_int_equal(n, 86072);
}

/* ---- dims ----------------------------------------------------------------------------------------------------------- */

static void check_picked(const known *k, const tesela_tile_memory *t, int32_t n, const int64_t *dims,
                         const char *what) {
  int64_t index[4] = {0}, source[4];
  tile_check_form(t);
  assert_int_equal(t->rank, n);
  assert_int_equal(t->size, k->tile.size);
  do {
    memset(source, 0, sizeof source);
    for (int32_t i = 0; i < n; i++)
      if (dims[i] >= 0) source[dims[i]] = index[i];
    if (oracle_tile_place(t, index) != k->place[tile_number(&k->tile, source)])
      fail_msg("%s: %s", what, tile_text(t));
  } while (oracle_tile_next(n, t->shape, index));
}

/* Retain every list of different dims; those of all dims are the permutations. */
static void check_orders(const known *k, int64_t *dims, int32_t n) {
  tesela_tile_memory t;
  assert_int_equal(tesela_tile_memory_retain(&t, &k->tile, n, dims, NULL), TESELA_OK);
  check_picked(k, &t, n, dims, "retain");
  if (n == k->tile.rank) {
    t = k->tile;
    assert_int_equal(tesela_tile_memory_permute(&t, &t, n, dims, NULL), TESELA_OK);
    check_picked(k, &t, n, dims, "permute");
  }
  for (int32_t d = 0; d < k->tile.rank && n < 4; d++) {
    bool twice = false;
    for (int32_t i = 0; i < n; i++) twice = twice || dims[i] == d;
    if (twice) continue;
    dims[n] = d;
    check_orders(k, dims, n + 1);
  }
}

static void check_dims(const tile_words *w, void *user) {
  known k;
  int64_t dims[4];
  (void)user;
  tile_know(&k, w);
  check_orders(&k, dims, 0);
  for (int32_t at = 0; at <= w->rank; at++) {
    tesela_tile_memory t, back;
    int64_t from[4];
    for (int32_t d = 0; d <= w->rank; d++) from[d] = d < at ? d : d == at ? -1 : d - 1;
    assert_int_equal(tesela_tile_memory_unsqueeze(&t, &k.tile, 1, (const int64_t[]){at}, NULL), TESELA_OK);
    check_picked(&k, &t, w->rank + 1, from, "unsqueeze");
    assert_int_equal(tesela_tile_memory_squeeze(&back, &t, 1, (const int64_t[]){at - w->rank - 1}, NULL),
                     TESELA_OK);
    for (int32_t d = 0; d < w->rank; d++) from[d] = d;
    check_picked(&k, &back, w->rank, from, "squeeze");
  }
}

static void dims_move_and_go_with_their_places(void **state) {
  (void)state;
  oracle_tile_family(16, check_dims, NULL);
}

/* ---- reshape -------------------------------------------------------------------------------------------------------- */

/* Is the plain place a sum of one function a dim, each of them sayable by modes? Row-major over `shape`. */
static bool sayable_in_shape(const known *k, int32_t rank, const int64_t *shape) {
  int64_t weight[4], inside = 1, index[4] = {0};
  for (int32_t d = rank - 1; d >= 0; d--) {
    weight[d] = inside;
    if (!oracle_tile_sayable(k->plain, inside, shape[d])) return false;
    inside *= shape[d];
  }
  for (int64_t number = 0; number < k->n; number++) {
    int64_t sum = k->plain[0];
    for (int32_t d = 0; d < rank; d++) sum += k->plain[index[d] * weight[d]] - k->plain[0];
    if (sum != k->plain[number]) return false;
    (void)oracle_tile_next(rank, shape, index);
  }
  return true;
}

static void check_reshape(const known *k, int32_t rank, const int64_t *shape, count *c) {
  tesela_tile_memory t = k->tile;
  tesela_error err = {.reason = TESELA_REASON_NONE};
  tesela_status status = tesela_tile_memory_reshape(&t, &t, rank, shape, &err);
  bool sayable = sayable_in_shape(k, rank, shape);
  if (status != TESELA_OK) {
    assert_int_equal(status, TESELA_E_INVALID);
    assert_int_equal(err.reason, TESELA_REASON_RESHAPE_NOT_REPRESENTABLE);
    if (sayable) fail_msg("refused %" PRId64 " ..: %s", shape[0], tile_text(&k->tile));
    c->refused++;
    return;
  }
  if (!sayable) fail_msg("the oracle says that no modes do: %s", tile_text(&t));
  int64_t index[4] = {0};
  tile_check_form(&t);
  for (int64_t number = 0; number < k->n; number++) {
    if (oracle_tile_place(&t, index) != k->place[number]) fail_msg("reshape: %s", tile_text(&t));
    (void)oracle_tile_next(rank, shape, index);
  }
  c->done++;
}

static void check_reshapes(const tile_words *w, void *user) {
  count *c = user;
  known k;
  if (c->seen++ % c->every != 0) return;
  tile_know(&k, w);
  for (int64_t a = 1; a <= k.n; a++)
    for (int64_t b = 1; k.n % a == 0 && b <= k.n / a; b++) {
      if (k.n / a % b != 0) continue;
      int64_t shape[3] = {a, b, k.n / a / b};
      check_reshape(&k, 3, shape, c);
      if (shape[2] == 1) check_reshape(&k, 2, shape, c);
      if (shape[2] == 1 && b == 1) check_reshape(&k, 1, shape, c);
      if (k.n == 1) check_reshape(&k, 0, shape, c);
    }
}

static void reshape_is_refused_only_where_no_modes_say_it(void **state) {
  (void)state;
  count small = {.every = 1}, large = {.every = 37};
  oracle_tile_family(12, check_reshapes, &small);
  oracle_tile_family(MOST, check_reshapes, &large);
  assert_true(small.done > 10000 && small.refused > 500 && large.done > 10000 && large.refused > 1000);
}

/* ---- slice ---------------------------------------------------------------------------------------------------------- */

static void check_slice(const known *k, const int64_t *start, const int64_t *shape, count *c) {
  tesela_tile_memory t = k->tile;
  tesela_error err = {.reason = TESELA_REASON_NONE};
  tesela_status status = tesela_tile_memory_slice(&t, &t, start, shape, &err);
  bool sayable = true;
  int64_t index[4] = {0}, source[4];
  for (int32_t d = 0; d < k->tile.rank && sayable; d++) { /* plain places are sums over the dims */
    int64_t inside = 1;
    for (int32_t e = d + 1; e < k->tile.rank; e++) inside *= k->tile.shape[e];
    sayable = oracle_tile_sayable(k->plain + start[d] * inside, inside, shape[d]);
  }
  if (sayable != (status == TESELA_OK))
    fail_msg("%s, start %" PRId64 " of %" PRId64 ": %s", sayable ? "refused" : "not sayable", start[0],
             shape[0], tile_text(&k->tile));
  if (!sayable) {
    assert_int_equal(status, TESELA_E_UNSUPPORTED);
    assert_int_equal(err.reason, TESELA_REASON_NOT_LINEAR);
    c->refused++;
    return;
  }
  tile_check_form(&t);
  assert_int_equal(t.size, k->tile.size);
  do {
    for (int32_t d = 0; d < t.rank; d++) source[d] = start[d] + index[d];
    if (oracle_tile_place(&t, index) != k->place[tile_number(&k->tile, source)])
      fail_msg("slice from %" PRId64 ": %s", start[0], tile_text(&t));
  } while (oracle_tile_next(t.rank, t.shape, index));
  c->done++;
}

static void check_slices(const tile_words *w, void *user) {
  count *c = user;
  known k;
  if (c->seen++ % c->every != 0) return;
  tile_know(&k, w);
  int64_t start[4] = {0}, shape[4], room[4];
  do {
    for (int32_t d = 0; d < w->rank; d++) room[d] = w->shape[d] - start[d];
    int64_t less[4] = {0};
    do {
      for (int32_t d = 0; d < w->rank; d++) shape[d] = less[d] + 1;
      check_slice(&k, start, shape, c);
    } while (oracle_tile_next(w->rank, room, less));
  } while (oracle_tile_next(w->rank, w->shape, start));
}

static void slices_are_refused_only_where_no_modes_say_them(void **state) {
  (void)state;
  count small = {.every = 1}, large = {.every = 211};
  oracle_tile_family(8, check_slices, &small);
  oracle_tile_family(32, check_slices, &large);
  assert_true(small.done > 10000 && small.refused > 1000 && large.refused > 1000);
}

/* One dim of three or four modes, all strides up to 9: carries that happen to go on straight. */
static void slices_of_one_dim_with_any_strides(void **state) {
  (void)state;
  static const int64_t lists[][4] = {{2, 2, 2, 1}, {2, 2, 2, 2}, {3, 2, 2, 1},
                                     {2, 2, 3, 1}, {2, 2, 4, 1}, {2, 3, 4, 1}};
  count c = {.every = 1};
  for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++) {
    tile_words w = {.rank = 1, .shape = {1}};
    for (int i = 0; i < 4; i++) {
      w.shape[0] *= lists[l][i];
      if (lists[l][i] > 1) w.mode_shape[w.n_modes++] = lists[l][i];
    }
    static const int64_t all[4] = {10, 10, 10, 3};
    int64_t strides[4] = {0};
    do {
      memcpy(w.mode_strides, strides, sizeof strides);
      check_slices(&w, &c);
    } while (oracle_tile_next(w.n_modes, all, strides));
  }
  assert_true(c.done > 10000 && c.refused > 10000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tiles_are_what_was_said_and_their_size_is_least),
      cmocka_unit_test(dims_move_and_go_with_their_places),
      cmocka_unit_test(reshape_is_refused_only_where_no_modes_say_it),
      cmocka_unit_test(slices_are_refused_only_where_no_modes_say_them),
      cmocka_unit_test(slices_of_one_dim_with_any_strides),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
