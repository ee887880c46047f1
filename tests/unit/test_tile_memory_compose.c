/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tile_memory_compose.c - composition, stages, the core and sameness of tiles in memory, over all
 * small layouts of a family, against their definition. TESELA_SEED sets the seed.
 *
 * The place of each element of the result is the place of the element it comes from. What is refused must
 * be what no modes say.
 */
#include "support_seed.h"
#include "support_tile_known.h"

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
    tile_check_form(&t);
    assert_int_equal(t.rank, rank);
    assert_int_equal(t.size, outer->tile.size * inner->tile.size);
    memset(index, 0, sizeof index);
    for (int64_t i = 0; i < n; i++) {
      if (oracle_tile_place(&t, index) != place[i]) fail_msg("compose: %s", tile_text(&t));
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
    print_message("outer %s\n", tile_text(&outer->tile));
    fail_msg("some swizzle does it; inner %s", tile_text(&inner->tile));
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
  random_state = first_seed() * 2654435761u + 1; /* not 0 */
  stored.n = 0;
  oracle_tile_family(8, keep, NULL);
  count c = {.done = 0};
  for (int64_t i = 0; i < 30000; i++) {
    known outer, inner;
    tile_know(&outer, &stored.words[next_random() % (uint64_t)stored.n]);
    tile_know(&inner, &stored.words[next_random() % (uint64_t)stored.n]);
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
    for (int j = 0; j < 3; j++) tile_know(&k[j], &stored.words[next_random() % (uint64_t)stored.n]);
    if (k[0].n * k[1].n * k[2].n > MOST) continue;
    if (tesela_tile_memory_compose(&left, &k[0].tile, &k[1].tile, NULL) != TESELA_OK ||
        tesela_tile_memory_compose(&left, &left, &k[2].tile, NULL) != TESELA_OK ||
        tesela_tile_memory_compose(&right, &k[1].tile, &k[2].tile, NULL) != TESELA_OK ||
        tesela_tile_memory_compose(&right, &k[0].tile, &right, NULL) != TESELA_OK) {
      refused++;
      continue;
    }
    assert_int_equal(tesela_tile_memory_same(&left, &right, &same, NULL), TESELA_OK);
    if (!same || left.size != right.size) fail_msg("one way: %s", tile_text(&left));
    n++;
  }
  assert_true(n > 1000 && refused > 1000);
}

static void check_prepend(const tile_words *w, void *user) {
  count *c = user;
  known k;
  tile_know(&k, w);
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
    tile_check_form(&t);
    assert_int_equal(t.size, n * k.tile.size);
    assert_int_equal(t.shape[0], n);
    int64_t index[5] = {0}, i = 0;
    do {
      if (oracle_tile_place(&t, index) != index[0] * k.tile.size + k.place[i++ % k.n])
        fail_msg("prepend: %s", tile_text(&t));
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
  tile_know(&k, w);
  if (tesela_tile_memory_to_layout(&k.tile, TESELA_F16, 16, &layout, &err) != TESELA_OK)
    fail_msg("%s: %s", err.message, tile_text(&k.tile));
  assert_true(layout.axis[0].extent >= k.tile.size);
  do {
    assert_int_equal(tesela_layout_place_of(&layout, index, &place, NULL), TESELA_OK);
    if (place != k.place[i++]) fail_msg("core: %s", tile_text(&k.tile));
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
      tile_know(&ka, a);
      tile_know(&kb, b);
      if (expected) expected = memcmp(ka.place, kb.place, (size_t)ka.n * sizeof ka.place[0]) == 0;
      assert_int_equal(tesela_tile_memory_same(&ka.tile, &kb.tile, &same, NULL), TESELA_OK);
      if (same != expected) fail_msg("same: %s", tile_text(&ka.tile));
      *(expected ? &same_ones : &different) += 1;
    }
  assert_true(same_ones > 1000 && different > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(composed_tiles_are_tiles_of_tiles), cmocka_unit_test(composition_is_associative),
      cmocka_unit_test(stages_are_a_size_apart),           cmocka_unit_test(the_core_has_the_same_places),
      cmocka_unit_test(sameness_is_that_of_all_places),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
