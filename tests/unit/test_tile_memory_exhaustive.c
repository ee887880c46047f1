/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tile_memory_exhaustive.c - every operation on tiles in memory, over all small layouts of a family, against its
 * definition: the place of each element of the result is the place of the element it comes from. What is refused must be
 * what no modes say.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "support_tile_memory.h"

enum { MOST = 64 };

/* A tile and its places by row-major element number, with and without the swizzle. */
typedef struct known {
  tesela_tile_memory tile;
  int64_t n, place[MOST], plain[MOST];
} known;

static const char *show(const tesela_tile_memory *t) {
  static char text[512];
  int n = snprintf(text, sizeof text, "shape");
  for (int32_t d = 0; d < t->rank; d++)
    n += snprintf(text + n, sizeof text - (size_t)n, " %" PRId64, t->shape[d]);
  for (int32_t m = 0; m < t->n_modes; m++)
    n += snprintf(text + n, sizeof text - (size_t)n, "%s%" PRId64 ":%" PRId64, m ? " " : "; modes ",
                  t->mode_shape[m], t->mode_strides[m]);
  (void)snprintf(text + n, sizeof text - (size_t)n, "; offset %" PRId64 " size %" PRId64 " swizzle %d %d %d",
                 t->offset, t->size, (int)t->swizzle.base, (int)t->swizzle.bits, (int)t->swizzle.shift);
  return text;
}

static void know(known *k, const tile_words *w) {
  tesela_error err = {.message = ""};
  int64_t index[4] = {0};
  if (tesela_tile_memory_make(&k->tile, TESELA_TILE_SHARED, w->rank, w->shape, w->n_modes, w->mode_shape,
                              w->mode_strides, w->offset, &w->swizzle, &err) != TESELA_OK)
    fail_msg("%s", err.message);
  k->n = 0;
  do {
    k->place[k->n] = oracle_tile_place_of_words(w, index);
    k->plain[k->n] = oracle_tile_swizzle(w->swizzle, k->place[k->n]); /* its own inverse */
    k->n++;
  } while (oracle_tile_next(w->rank, w->shape, index));
}

static int64_t number_of(const tesela_tile_memory *t, const int64_t *index) {
  int64_t number = 0;
  for (int32_t d = 0; d < t->rank; d++) number = number * t->shape[d] + index[d];
  return number;
}

/* The result's modes are reduced, its size holds its places, and the library reads them as the definition does. */
static void check_form(const tesela_tile_memory *t) {
  int64_t index[TESELA_MAX_RANK] = {0}, place, most = oracle_tile_size(t);
  int32_t m = 0;
  if (t->size < most) fail_msg("size below %" PRId64 ": %s", most, show(t));
  for (int32_t d = 0; d < t->rank; d++)
    for (int64_t left = t->shape[d], k = 0; left > 1; left /= t->mode_shape[m++], k++) {
      if (t->mode_shape[m] < 2 || t->mode_strides[m] < 0) fail_msg("mode %d: %s", m, show(t));
      if (k > 0 && t->mode_strides[m - 1] == t->mode_strides[m] * t->mode_shape[m])
        fail_msg("not joined: %s", show(t));
    }
  assert_int_equal(m, t->n_modes);
  do {
    assert_int_equal(tesela_tile_memory_place(t, index, &place, NULL), TESELA_OK);
    if (place != oracle_tile_place(t, index)) fail_msg("place %" PRId64 ": %s", place, show(t));
  } while (oracle_tile_next(t->rank, t->shape, index));
}

/* ---- making --------------------------------------------------------------------------------------------------------- */

static void check_make(const tile_words *w, void *user) {
  known k;
  int64_t index[4] = {0}, n = 0;
  know(&k, w);
  check_form(&k.tile);
  do {
    if (oracle_tile_place(&k.tile, index) != k.place[n++]) fail_msg("made otherwise: %s", show(&k.tile));
  } while (oracle_tile_next(w->rank, w->shape, index));
  if (k.tile.size != oracle_tile_size(&k.tile)) fail_msg("size is not least: %s", show(&k.tile));
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
  check_form(t);
  assert_int_equal(t->rank, n);
  assert_int_equal(t->size, k->tile.size);
  do {
    memset(source, 0, sizeof source);
    for (int32_t i = 0; i < n; i++)
      if (dims[i] >= 0) source[dims[i]] = index[i];
    if (oracle_tile_place(t, index) != k->place[number_of(&k->tile, source)])
      fail_msg("%s: %s", what, show(t));
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
  for (int32_t d = 0; d < k->tile.rank; d++) {
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
  know(&k, w);
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

typedef struct count {
  int64_t done, refused, every, seen;
} count;

static void check_reshape(const known *k, int32_t rank, const int64_t *shape, count *c) {
  tesela_tile_memory t = k->tile;
  tesela_error err = {.reason = TESELA_REASON_NONE};
  tesela_status status = tesela_tile_memory_reshape(&t, &t, rank, shape, &err);
  bool sayable = sayable_in_shape(k, rank, shape);
  if (status != TESELA_OK) {
    assert_int_equal(status, TESELA_E_INVALID);
    assert_int_equal(err.reason, TESELA_REASON_RESHAPE_NOT_REPRESENTABLE);
    if (sayable) fail_msg("refused %" PRId64 " ..: %s", shape[0], show(&k->tile));
    c->refused++;
    return;
  }
  if (!sayable) fail_msg("the oracle says that no modes do: %s", show(&t));
  int64_t index[4] = {0};
  check_form(&t);
  for (int64_t number = 0; number < k->n; number++) {
    if (oracle_tile_place(&t, index) != k->place[number]) fail_msg("reshape: %s", show(&t));
    (void)oracle_tile_next(rank, shape, index);
  }
  c->done++;
}

static void check_reshapes(const tile_words *w, void *user) {
  count *c = user;
  known k;
  if (c->seen++ % c->every != 0) return;
  know(&k, w);
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
             shape[0], show(&k->tile));
  if (!sayable) {
    assert_int_equal(status, TESELA_E_UNSUPPORTED);
    assert_int_equal(err.reason, TESELA_REASON_NOT_LINEAR);
    c->refused++;
    return;
  }
  check_form(&t);
  assert_int_equal(t.size, k->tile.size);
  do {
    for (int32_t d = 0; d < t.rank; d++) source[d] = start[d] + index[d];
    if (oracle_tile_place(&t, index) != k->place[number_of(&k->tile, source)])
      fail_msg("slice from %" PRId64 ": %s", start[0], show(&t));
  } while (oracle_tile_next(t.rank, t.shape, index));
  c->done++;
}

static void check_slices(const tile_words *w, void *user) {
  count *c = user;
  known k;
  if (c->seen++ % c->every != 0) return;
  know(&k, w);
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

/* ---- compose and prepend -------------------------------------------------------------------------------------------- */

typedef struct store {
  int64_t n;
  tile_words words[8000];
} store;
static store stored;

static void keep(const tile_words *w, void *user) {
  (void)user;
  if (stored.n < 8000) stored.words[stored.n++] = *w;
}

/* Is there one swizzle that makes the places of `t` from its modes? Small numbers only. */
static bool some_swizzle_does(tesela_tile_memory t, int64_t n, const int64_t *place) {
  for (int32_t bits = 0; bits <= 3; bits++)
    for (int32_t base = 0; base <= 7; base++)
      for (int32_t shift = -6; shift <= 6; shift++) {
        if (abs(shift) < bits) continue;
        t.swizzle = (tesela_tile_swizzle){base, bits, shift};
        int64_t index[4] = {0}, i = 0;
        while (i < n && oracle_tile_place(&t, index) == place[i]) {
          (void)oracle_tile_next(t.rank, t.shape, index);
          i++;
        }
        if (i == n) return true;
      }
  return false;
}

static void check_compose(const known *outer, const known *inner, count *c) {
  tesela_tile_memory t = {.rank = 0};
  tesela_error err = {.reason = TESELA_REASON_NONE};
  int32_t ro = outer->tile.rank, ri = inner->tile.rank, rank = ro > ri ? ro : ri;
  int64_t shape[4], place[MOST], index[4] = {0}, n = 0;
  for (int32_t d = 0; d < rank; d++)
    shape[d] = (d < rank - ro ? 1 : outer->tile.shape[d - (rank - ro)]) *
               (d < rank - ri ? 1 : inner->tile.shape[d - (rank - ri)]);
  do {
    int64_t hi = 0, lo = 0;
    for (int32_t d = 0; d < rank; d++) {
      int64_t e = d < rank - ri ? 1 : inner->tile.shape[d - (rank - ri)];
      if (d >= rank - ro) hi = hi * outer->tile.shape[d - (rank - ro)] + index[d] / e;
      if (d >= rank - ri) lo = lo * e + index[d] % e;
    }
    place[n++] = outer->place[hi] * inner->tile.size + inner->place[lo];
  } while (oracle_tile_next(rank, shape, index));

  tesela_status status = tesela_tile_memory_compose(&t, &outer->tile, &inner->tile, &err);
  if (status == TESELA_OK) {
    check_form(&t);
    assert_int_equal(t.rank, rank);
    assert_int_equal(t.size, outer->tile.size * inner->tile.size);
    memset(index, 0, sizeof index);
    for (int64_t i = 0; i < n; i++) {
      if (oracle_tile_place(&t, index) != place[i]) fail_msg("compose: %s", show(&t));
      (void)oracle_tile_next(rank, shape, index);
    }
    c->done++;
    return;
  }
  assert_int_equal(status, TESELA_E_UNSUPPORTED);
  assert_int_equal(err.reason, TESELA_REASON_SWIZZLE);
  c->refused++;
  tesela_tile_memory o = outer->tile, i = inner->tile; /* the modes alone */
  if (o.offset != 0 || i.offset != 0 || o.swizzle.shift < 0 || i.swizzle.shift < 0)
    return; /* chance gaps in the bits; see compose */
  o.swizzle = i.swizzle = (tesela_tile_swizzle){0, 0, 0};
  assert_int_equal(tesela_tile_memory_compose(&t, &o, &i, NULL), TESELA_OK);
  if (some_swizzle_does(t, n, place)) {
    print_message("outer %s\n", show(&outer->tile));
    fail_msg("some swizzle does it; inner %s", show(&inner->tile));
  }
  c->seen++;
}

static uint64_t random_state;

static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

static void composed_tiles_are_tiles_of_tiles(void **state) {
  (void)state;
  const char *text = getenv("TESELA_SEED");
  random_state = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL) * 2654435761u + 1;
  print_message("TESELA_SEED=%" PRIu64 "\n", random_state);
  stored.n = 0;
  oracle_tile_family(8, keep, NULL);
  count c = {.done = 0};
  for (int64_t i = 0; i < 30000; i++) {
    known outer, inner;
    know(&outer, &stored.words[next_random() % (uint64_t)stored.n]);
    know(&inner, &stored.words[next_random() % (uint64_t)stored.n]);
    if (outer.n * inner.n > MOST) continue;
    int64_t room = 1; /* up to a power of two, as a user may leave it */
    while (room < inner.tile.size) room *= 2;
    if (i % 3 == 0)
      assert_int_equal(tesela_tile_memory_set_size(&inner.tile, &inner.tile, room, NULL), TESELA_OK);
    check_compose(&outer, &inner, &c);
  }
  assert_true(c.done > 5000 && c.refused > 1000 && c.seen > 100);
}

static void composition_is_associative(void **state) {
  (void)state;
  int64_t n = 0, refused = 0;
  for (int64_t i = 0; i < 20000; i++) {
    known k[3];
    tesela_tile_memory left, right;
    bool same = false;
    for (int j = 0; j < 3; j++) know(&k[j], &stored.words[next_random() % (uint64_t)stored.n]);
    if (k[0].n * k[1].n * k[2].n > MOST) continue;
    if (tesela_tile_memory_compose(&left, &k[0].tile, &k[1].tile, NULL) != TESELA_OK ||
        tesela_tile_memory_compose(&left, &left, &k[2].tile, NULL) != TESELA_OK ||
        tesela_tile_memory_compose(&right, &k[1].tile, &k[2].tile, NULL) != TESELA_OK ||
        tesela_tile_memory_compose(&right, &k[0].tile, &right, NULL) != TESELA_OK) {
      refused++;
      continue;
    }
    assert_int_equal(tesela_tile_memory_same(&left, &right, &same, NULL), TESELA_OK);
    if (!same || left.size != right.size) fail_msg("one way: %s", show(&left));
    n++;
  }
  assert_true(n > 1000 && refused > 1000);
}

static void check_prepend(const tile_words *w, void *user) {
  count *c = user;
  known k;
  know(&k, w);
  for (int64_t n = 1; n <= 3; n++) {
    tesela_tile_memory t = k.tile;
    tesela_error err = {.reason = TESELA_REASON_NONE};
    tesela_status status = tesela_tile_memory_prepend(&t, &t, n, &err);
    if (status != TESELA_OK) {
      assert_int_equal(err.reason, TESELA_REASON_SWIZZLE);
      assert_true(n > 1);
      c->refused++;
      continue;
    }
    check_form(&t);
    assert_int_equal(t.size, n * k.tile.size);
    assert_int_equal(t.shape[0], n);
    int64_t index[5] = {0}, i = 0;
    do {
      if (oracle_tile_place(&t, index) != index[0] * k.tile.size + k.place[i++ % k.n])
        fail_msg("prepend: %s", show(&t));
    } while (oracle_tile_next(t.rank, t.shape, index));
    c->done++;
  }
}

static void stages_are_a_size_apart(void **state) {
  (void)state;
  count c = {.done = 0};
  oracle_tile_family(16, check_prepend, &c);
  assert_true(c.done > 10000 && c.refused > 1000);
}

/* ---- the core ------------------------------------------------------------------------------------------------------- */

static void check_core(const tile_words *w, void *user) {
  known k;
  tesela_layout layout;
  tesela_error err = {.message = ""};
  int64_t index[4] = {0}, i = 0, place;
  (void)user;
  know(&k, w);
  if (tesela_tile_memory_to_layout(&k.tile, TESELA_F16, 16, &layout, &err) != TESELA_OK)
    fail_msg("%s: %s", err.message, show(&k.tile));
  assert_true(layout.axis[0].extent >= k.tile.size);
  do {
    assert_int_equal(tesela_layout_place_of(&layout, index, &place, NULL), TESELA_OK);
    if (place != k.place[i++]) fail_msg("core: %s", show(&k.tile));
  } while (oracle_tile_next(w->rank, w->shape, index));
}

static void the_core_has_the_same_places(void **state) {
  (void)state;
  oracle_tile_family(16, check_core, NULL);
}

static void sameness_is_that_of_all_places(void **state) {
  (void)state;
  int64_t same_ones = 0, different = 0;
  for (int64_t i = 0; i < stored.n; i++)
    for (int64_t j = i + 1; j < stored.n && j < i + 60; j++) {
      const tile_words *a = &stored.words[i], *b = &stored.words[j];
      known ka, kb;
      bool same, expected = a->rank == b->rank;
      for (int32_t d = 0; d < a->rank && expected; d++) expected = a->shape[d] == b->shape[d];
      if (!expected && (i + j) % 8 != 0) continue;
      know(&ka, a);
      know(&kb, b);
      if (expected) expected = memcmp(ka.place, kb.place, (size_t)ka.n * sizeof ka.place[0]) == 0;
      assert_int_equal(tesela_tile_memory_same(&ka.tile, &kb.tile, &same, NULL), TESELA_OK);
      if (same != expected) fail_msg("same: %s", show(&ka.tile));
      *(expected ? &same_ones : &different) += 1;
    }
  assert_true(same_ones > 1000 && different > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tiles_are_what_was_said_and_their_size_is_least),
      cmocka_unit_test(dims_move_and_go_with_their_places),
      cmocka_unit_test(reshape_is_refused_only_where_no_modes_say_it),
      cmocka_unit_test(slices_are_refused_only_where_no_modes_say_them),
      cmocka_unit_test(slices_of_one_dim_with_any_strides),
      cmocka_unit_test(composed_tiles_are_tiles_of_tiles),
      cmocka_unit_test(composition_is_associative),
      cmocka_unit_test(stages_are_a_size_apart),
      cmocka_unit_test(the_core_has_the_same_places),
      cmocka_unit_test(sameness_is_that_of_all_places),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
