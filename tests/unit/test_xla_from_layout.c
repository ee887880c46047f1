/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_from_layout.c - the XLA shape of a relation: of the relations of random tiles (each has a shape), and of random other
 * ones of up to 64 places, where a search through all lists of tiles says whether there is one and how short it is.
 *
 * TESELA_SEEDS: random tiles (default: 3000, 300 in slow runs); lists of tiles with one more entry are searched.
 */
#include "support_seed.h"
#include "support_xla.h"

static uint64_t random_state;

static int64_t below(int64_t n) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (int64_t)((random_state >> 11) % (uint64_t)n);
}

static int64_t runs(void) {
  const char *text = getenv("TESELA_SEEDS");
  if (text) return strtoll(text, NULL, 10);
  return slow_run() ? 300 : 3000;
}

/* ---- the definition: bounds of every element, level by level ------------------------------------------------------ */

enum { ELEMENTS = 4096, BOUNDS = 40 };

typedef struct grid { /* the bounds, and of each element its coordinates */
  int32_t n;
  int64_t n_elements;
  int64_t extent[BOUNDS];
  int64_t at[ELEMENTS][BOUNDS];
} grid;

static void grid_begin(grid *g, int32_t rank, const int64_t *shape, const int32_t *minor_to_major) {
  g->n = rank;
  g->n_elements = 1;
  for (int32_t d = 0; d < rank; d++) g->n_elements *= shape[d];
  for (int32_t p = 0; p < rank; p++) g->extent[p] = shape[minor_to_major[rank - 1 - p]];
  for (int64_t e = 0; e < g->n_elements; e++) {
    int64_t index[8], rest = e;
    for (int32_t d = rank - 1; d >= 0; d--) {
      index[d] = rest % shape[d];
      rest /= shape[d];
    }
    for (int32_t p = 0; p < rank; p++) g->at[e][p] = index[minor_to_major[rank - 1 - p]];
  }
}

/* One tile of n entries, as xla.md defines it: leading ones, `*` joins, quotients, remainders. */
static void grid_tile(grid *out, const grid *g, int32_t n, const int64_t *entry) {
  int32_t ones = n > g->n ? n - g->n : 0, untouched = g->n + ones - n, groups = 0;
  for (int32_t i = 0; i < n; i++) groups += entry[i] != TESELA_XLA_COMBINE;
  out->n = untouched + 2 * groups;
  out->n_elements = g->n_elements;
  for (int64_t e = -1; e < g->n_elements; e++) { /* -1: the extents */
    int64_t joined = 0, size = 1;
    int32_t group = 0;
    for (int32_t k = 0; k < untouched; k++) {
      if (e < 0) out->extent[k] = g->extent[k];
      if (e >= 0) out->at[e][k] = g->at[e][k];
    }
    for (int32_t i = 0; i < n; i++) {
      int32_t k = untouched + i - ones;
      int64_t extent = k < 0 ? 1 : g->extent[k], x = k < 0 || e < 0 ? 0 : g->at[e][k];
      joined = joined * extent + x;
      size *= extent;
      if (entry[i] == TESELA_XLA_COMBINE) continue;
      if (e < 0) {
        out->extent[untouched + group] = (size + entry[i] - 1) / entry[i];
        out->extent[untouched + groups + group] = entry[i];
      } else {
        out->at[e][untouched + group] = joined / entry[i];
        out->at[e][untouched + groups + group] = joined % entry[i];
      }
      joined = 0;
      size = 1;
      group++;
    }
  }
}

static int64_t grid_place(const grid *g, int64_t e) {
  int64_t place = 0;
  for (int32_t k = 0; k < g->n; k++) place = place * g->extent[k] + g->at[e][k];
  return place;
}

static void grid_of(grid *out, const tesela_xla_shape *shape) {
  static grid other;
  const int64_t *entry = shape->layout.tile;
  grid_begin(out, shape->rank, shape->dim, shape->layout.minor_to_major);
  for (int32_t k = 0; k < shape->layout.n_tiles; k++) {
    other = *out;
    grid_tile(out, &other, shape->layout.tile_rank[k], entry);
    entry += shape->layout.tile_rank[k];
  }
}

/* ---- random tiles ---------------------------------------------------------------------------------------------------- */

static void random_order(int32_t rank, int32_t *order) {
  for (int32_t d = 0; d < rank; d++) {
    int32_t k = (int32_t)below(d + 1);
    order[d] = order[k];
    order[k] = d;
  }
}

/* `*` in the first tile only: later ones are outside what the function promises. */
static void random_shape(tesela_xla_shape *shape) {
  int64_t dim[8];
  int32_t order[8], rank = (int32_t)below(5), levels = (int32_t)below(4);
  tesela_xla_layout layout;
  for (int32_t d = 0; d < rank; d++) dim[d] = 1 + below(below(3) ? 6 : 2);
  random_order(rank, order);
  OK(tesela_xla_layout_make(&layout, rank, order, &e_));
  int32_t bounds = rank;
  for (int32_t k = 0; k < levels; k++) {
    int64_t entry[8];
    int32_t n = 1 + (int32_t)below(bounds < 5 ? bounds + 1 : 5), groups = 0;
    for (int32_t i = 0; i < n; i++) {
      entry[i] = below(3) ? 1 + below(5) : 1;
      if (k == 0 && i < n - 1 && below(5) == 0) entry[i] = TESELA_XLA_COMBINE;
      groups += entry[i] != TESELA_XLA_COMBINE;
    }
    OK(tesela_xla_layout_add_tile(&layout, n, entry, &e_));
    bounds = (n > bounds ? 0 : bounds - n) + 2 * groups;
  }
  OK(tesela_xla_shape_make(shape, below(4) ? TESELA_F32 : TESELA_S4, rank, dim, &layout, &e_));
  if (below(8) == 0) shape->layout.tail = 1 + below(40);
  if (shape->dtype == TESELA_S4 && below(2)) shape->layout.element_bits = 4;
}

static void the_tiles_of_any_tiles_are_found(void **state) {
  (void)state;
  static grid want, got;
  int64_t n = runs(), shorter = 0, longer = 0;
  random_state = first_seed() | 1;
  for (int64_t i = 0; i < n; i++) {
    tesela_xla_shape shape, found;
    tesela_layout layout, back;
    tesela_translation answer;
    char text[TEXT], other[TEXT];
    tesela_error err = {.message = ""};
    random_shape(&shape);
    text_of(&shape, text);
    if (tesela_xla_to_layout(&shape, &layout, &err) != TESELA_OK) fail_msg("%s: %s", text, err.message);
    if (tesela_xla_from_layout(&layout, &found, &answer, &err) != TESELA_OK)
      fail_msg("%s: %s", text, err.message);
    if (answer.verdict != TESELA_EXACT) fail_msg("%s: %s", text, answer.reason);
    text_of(&found, other);
    OK(tesela_xla_to_layout(&found, &back, &e_));
    AGREE(text, back.axis[0].extent, layout.axis[0].extent);
    AGREE(text, back.bits, layout.bits);
    shorter += found.layout.n_tile_numbers < shape.layout.n_tile_numbers;
    longer += found.layout.n_tile_numbers > shape.layout.n_tile_numbers;
    grid_of(&want, &shape);
    grid_of(&got, &found);
    for (int64_t e = 0; e < want.n_elements; e++)
      if (grid_place(&want, e) != grid_place(&got, e)) fail_msg("%s: %s is another relation", text, other);
  }
  printf("%" PRId64 " random tiles: all found; %" PRId64 " shorter, %" PRId64 " longer\n", n, shorter,
         longer);
}

/* ---- all lists of tiles of up to 64 places --------------------------------------------------------------------------- */

enum { PLACES = 64, SMALL = 24, KNOWN = 1 << 20, LEVELS = 3 };

typedef struct known { /* a relation that tiles express */
  uint64_t hash;
  int16_t levels, entries; /* fewest, of those with `places`, no joins and no entry that cuts padding apart */
  int32_t places;
} known;

static known *relations;
static int64_t n_relations;

static uint64_t hash_more(uint64_t hash, int64_t x) {
  hash ^= (uint64_t)x + UINT64_C(0x9e3779b97f4a7c15) + (hash << 6) + (hash >> 2);
  return hash * UINT64_C(0xff51afd7ed558ccd);
}

static uint64_t hash_of(int64_t n, const int64_t *place) {
  uint64_t hash = 1;
  for (int64_t e = 0; e < n; e++) hash = hash_more(hash, place[e]);
  return hash;
}

static known *find_relation(uint64_t hash, int32_t places) {
  uint64_t at = hash_more(hash, places) % KNOWN;
  while (relations[at].hash && (relations[at].hash != hash || relations[at].places != places))
    at = (at + 1) % KNOWN;
  return &relations[at];
}

/* places 0: of any number. */
static void remember(uint64_t hash, int32_t places, int32_t levels, int32_t entries) {
  known *k = find_relation(hash, places);
  if (!k->hash) {
    *k = (known){hash, (int16_t)levels, (int16_t)entries, places};
    if (++n_relations > KNOWN / 2) fail_msg("too many relations");
  } else if (levels < k->levels || (levels == k->levels && entries < k->entries)) {
    k->levels = (int16_t)levels;
    k->entries = (int16_t)entries;
  }
}

typedef struct small_grid {
  int32_t n, n_elements;
  int8_t extent[16];
  int8_t at[SMALL][16];
} small_grid;

static void search_level(const small_grid *g, int32_t level, int32_t entries, bool plain);

static int64_t small_places(const small_grid *g) {
  int64_t n = 1;
  for (int32_t k = 0; k < g->n; k++) n *= g->extent[k];
  return n;
}

static void search_record(const small_grid *g, int32_t levels, int32_t entries, bool plain) {
  int64_t place[SMALL];
  for (int32_t e = 0; e < g->n_elements; e++) {
    place[e] = 0;
    for (int32_t k = 0; k < g->n; k++) place[e] = place[e] * g->extent[k] + g->at[e][k];
  }
  uint64_t hash = hash_of(g->n_elements, place);
  if (plain) remember(hash, (int32_t)small_places(g), levels, entries);
  remember(hash, 0, levels, entries);
}

/* Does an entry cut a bound so that no element is in another part than the first? */
static bool cuts_padding(const small_grid *g, int32_t k, int64_t t) {
  if (t == 1 || t >= g->extent[k]) return false;
  for (int32_t e = 0; e < g->n_elements; e++)
    if (g->at[e][k] >= t) return false;
  return true;
}

/* Choose the entry of each bound of `joined` (the untouched ones first); *size is the number of places so far. */
static void search_entries(const small_grid *joined, int32_t untouched, int32_t k, int64_t size,
                           int64_t *entry, int32_t level, int32_t entries, bool plain) {
  if (k < joined->n) {
    for (int64_t t = 1; t <= PLACES; t++) {
      int64_t padded = (joined->extent[k] + t - 1) / t * t, rest = 1;
      for (int32_t i = k + 1; i < joined->n; i++) rest *= joined->extent[i];
      if (size * padded * rest > PLACES) {
        if (t > joined->extent[k]) break;
        continue;
      }
      entry[k] = t;
      search_entries(joined, untouched, k + 1, size * padded, entry, level, entries,
                     plain && !cuts_padding(joined, k, t));
    }
    return;
  }
  int32_t n = joined->n - untouched;
  small_grid next = {.n = untouched + 2 * n, .n_elements = joined->n_elements};
  bool any = joined->n == untouched;
  for (int32_t i = untouched; i < joined->n; i++) any = any || entry[i] > 1;
  if (!any || next.n > 16) return;
  for (int32_t i = 0; i < joined->n; i++) {
    int64_t t = i < untouched ? 1 : entry[i];
    int32_t lo = i + n;
    next.extent[i] = (int8_t)((joined->extent[i] + t - 1) / t);
    if (i >= untouched) next.extent[lo] = (int8_t)t;
    for (int32_t e = 0; e < joined->n_elements; e++) {
      next.at[e][i] = (int8_t)(joined->at[e][i] / t);
      if (i >= untouched) next.at[e][lo] = (int8_t)(joined->at[e][i] % t);
    }
  }
  search_level(&next, level + 1, entries, plain);
}

/* The bounds of g with `ones` leading ones, and joined where bit i of `joins` is set: with the next one. */
static bool search_join(const small_grid *g, int32_t ones, int32_t first, uint32_t joins, small_grid *out) {
  out->n = 0;
  out->n_elements = g->n_elements;
  for (int32_t k = 0; k < g->n + ones; k++) {
    bool more = k > first && (joins >> (k - 1 - first) & 1);
    int32_t to = more ? out->n - 1 : out->n++, from = k - ones;
    if (!more) out->extent[to] = 1;
    int32_t extent = from < 0 ? 1 : g->extent[from];
    out->extent[to] = (int8_t)(out->extent[to] * extent);
    for (int32_t e = 0; e < g->n_elements; e++) {
      int32_t x = from < 0 ? 0 : g->at[e][from];
      out->at[e][to] = (int8_t)(more ? out->at[e][to] * extent + x : x);
    }
  }
  return true;
}

static uint64_t *seen_states;
static int64_t n_seen;

/* Was this state reached with as few levels and entries? */
static bool search_seen(const small_grid *g, int32_t level, int32_t entries) {
  uint64_t hash = hash_more(hash_more(7, level), entries);
  for (int32_t k = 0; k < g->n; k++) hash = hash_more(hash, g->extent[k]);
  for (int32_t e = 0; e < g->n_elements; e++)
    for (int32_t k = 0; k < g->n; k++) hash = hash_more(hash, g->at[e][k]);
  uint64_t at = hash % (4 * KNOWN);
  for (; seen_states[at]; at = (at + 1) % (4 * KNOWN))
    if (seen_states[at] == hash) return true;
  seen_states[at] = hash;
  if (++n_seen > 3 * KNOWN) fail_msg("too many states");
  return false;
}

static int32_t most_levels, most_entries;

static void search_level(const small_grid *g, int32_t level, int32_t entries, bool plain) {
  if (search_seen(g, level, entries + (plain ? 0 : 100))) return;
  search_record(g, level, entries, plain);
  if (level == most_levels) return;
  int32_t most = g->n + 1;
  for (int32_t n = 1; n <= most && entries + n <= most_entries; n++) {
    int32_t ones = n > g->n ? n - g->n : 0, untouched = n > g->n ? 0 : g->n - n;
    for (uint32_t joins = 0; joins < (level == 0 ? (uint32_t)1 << (n - 1) : 1); joins++) {
      small_grid joined;
      int64_t entry[16], size = 1;
      if (g->n + ones > 16) continue;
      search_join(g, ones, untouched, joins, &joined);
      for (int32_t k = 0; k < untouched; k++) size *= joined.extent[k];
      search_entries(&joined, untouched, untouched, size, entry, level, entries + n, plain && joins == 0);
    }
  }
}

static void search_all(int32_t rank, const int64_t *shape, int32_t levels, int32_t entries) {
  int32_t order[4] = {0, 1, 2, 3};
  memset(relations, 0, KNOWN * sizeof *relations);
  memset(seen_states, 0, 4 * KNOWN * sizeof *seen_states);
  n_relations = n_seen = 0;
  most_levels = levels;
  most_entries = entries;
  for (int32_t code = 0; code < (rank > 2 ? 6 : rank); code++) { /* all orders of up to 3 dims */
    static const int32_t orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    small_grid g = {.n = rank, .n_elements = 1};
    for (int32_t k = 0; k < rank; k++) order[k] = orders[code][k];
    for (int32_t d = 0; d < rank; d++) g.n_elements *= (int32_t)shape[d];
    for (int32_t k = 0; k < rank; k++) g.extent[k] = (int8_t)shape[order[k]];
    for (int32_t e = 0; e < g.n_elements; e++) {
      int32_t index[4] = {0}, rest = e;
      for (int32_t d = rank - 1; d >= 0; d--) {
        index[d] = rest % (int32_t)shape[d];
        rest /= (int32_t)shape[d];
      }
      for (int32_t k = 0; k < rank; k++) g.at[e][k] = (int8_t)index[order[k]];
    }
    search_level(&g, 0, 0, true);
  }
}

/* ---- random relations ------------------------------------------------------------------------------------------------ */

/* Digits of random splits, some of joined dims, with random strides; sometimes a swizzle. false: not a layout. */
static bool random_relation(int32_t rank, const int64_t *shape, tesela_layout *layout) {
  int32_t digit[16], n = rank, axis, order[16];
  OK(tesela_layout_begin(layout, TESELA_F32, 32, rank, shape, &e_));
  OK(tesela_layout_add_axis(layout, "memory", &axis, &e_));
  for (int32_t d = 0; d < rank; d++) digit[d] = d;
  if (rank > 1 && below(4) == 0) {
    int32_t pair[2] = {0, 1};
    if (below(2)) pair[0] = 1, pair[1] = 0;
    OK(tesela_layout_join(layout, 2, pair, &digit[0], &e_));
    digit[1] = digit[rank - 1];
    n = rank - 1;
  }
  for (int32_t splits = (int32_t)below(3); splits > 0; splits--, n++)
    OK(tesela_layout_split(layout, digit[below(n)], 1 + below(4), &digit[n], &e_));
  random_order(n, order);
  int64_t stride = below(8) ? 1 : 1 + below(3);
  for (int32_t k = 0; k < n; k++) {
    int32_t i = digit[order[k]];
    int64_t extent = layout->digit[i].extent;
    OK(tesela_layout_place(layout, i, axis, below(12) ? stride : below(20), &e_));
    stride *= extent;
    if (below(5) == 0) stride *= 1 + below(3);
    if (below(6) == 0) stride += below(3);
  }
  if (below(6) == 0) {
    int16_t bits = (int16_t)(1 + below(2));
    tesela_swizzle swizzle = {(int16_t)axis, bits, (int16_t)below(2), (int16_t)(bits + below(2))};
    OK(tesela_layout_add_swizzle(layout, swizzle, &e_));
  }
  return tesela_layout_finish(layout, NULL) == TESELA_OK;
}

static void check_small(int32_t rank, const int64_t *shape, int64_t n, int64_t *rates) {
  for (int64_t i = 0; i < n; i++) {
    tesela_layout layout;
    tesela_xla_shape found;
    tesela_translation answer;
    tesela_error err = {.message = ""};
    int64_t place[SMALL], index[4] = {0}, count = 0;
    if (!random_relation(rank, shape, &layout) || layout.axis[0].extent > PLACES) continue;
    do OK(tesela_layout_place_of(&layout, index, &place[count++], &e_));
    while (tesela_index_next(rank, shape, index));
    if (tesela_xla_from_layout(&layout, &found, &answer, &err) != TESELA_OK) fail_msg("%s", err.message);
    uint64_t hash = hash_of(count, place);
    const known *any = find_relation(hash, 0), *fit = find_relation(hash, (int32_t)layout.axis[0].extent);
    char text[TEXT] = "";
    if (answer.verdict == TESELA_EXACT) text_of(&found, text);
    if (any->hash && answer.verdict == TESELA_IMPOSSIBLE) {
      char places[256] = "";
      for (int64_t e = 0; e < count; e++)
        snprintf(places + strlen(places), sizeof places - strlen(places), " %" PRId64, place[e]);
      fail_msg("[%" PRId64 ",%" PRId64 ",..] at%s: %s, but %d levels express it", shape[0], shape[1], places,
               answer.reason, any->levels);
    }
    rates[answer.verdict == TESELA_EXACT ? (any->hash ? 0 : 2) : 1]++;
    if (answer.verdict != TESELA_EXACT) continue;
    static grid got;
    grid_of(&got, &found);
    for (int64_t e = 0; e < count; e++) AGREE(text, grid_place(&got, e), place[e]);
    if (fit->hash && found.layout.tail != 1) fail_msg("%s: tiles need no L", text);
    if (fit->hash && found.layout.n_tiles > fit->levels) fail_msg("%s: %d levels do", text, fit->levels);
    rates[3] +=
        fit->hash && found.layout.n_tiles == fit->levels && found.layout.n_tile_numbers > fit->entries;
  }
}

static void no_small_relation_is_missed(void **state) {
  (void)state;
  static const struct {
    int32_t rank;
    int64_t shape[3];
    int32_t levels, entries;
  } cases[] = {{1, {5, 1, 1}, 3, 9}, {1, {8, 1, 1}, 3, 8}, {2, {2, 3, 1}, 3, 8}, {2, {3, 4, 1}, 3, 7},
               {2, {4, 4, 1}, 3, 6}, {2, {5, 2, 1}, 3, 7}, {3, {2, 2, 3}, 2, 7}, {3, {2, 3, 1}, 2, 7},
               {3, {2, 2, 2}, 3, 6}, {2, {1, 6, 1}, 3, 7}};
  int64_t rates[4] = {0};
  relations = calloc(KNOWN, sizeof *relations);
  seen_states = calloc(4 * KNOWN, sizeof *seen_states);
  assert_non_null(relations);
  assert_non_null(seen_states);
  random_state = first_seed() | 1;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    search_all(cases[i].rank, cases[i].shape, cases[i].levels,
               cases[i].entries - (getenv("TESELA_SEEDS") ? 0 : 1));
    printf("shape %zu: %" PRId64 " relations, %" PRId64 " states\n", i, n_relations, n_seen);
    check_small(cases[i].rank, cases[i].shape, runs() / 3, rates);
  }
  free(relations);
  free(seen_states);
  printf("relations of up to 64 places: %" PRId64 " exact, %" PRId64 " impossible, %" PRId64
         " exact with longer tiles than were searched\n",
         rates[0], rates[1], rates[2]);
  assert_true(10 * rates[0] > rates[1] && 10 * rates[1] > rates[0]);
  assert_true(1000 * rates[3] <= rates[0]); /* more entries than needed */
}

/* ---- single cases ------------------------------------------------------------------------------------------------------ */

static void translate_text(const char *from, tesela_xla_shape *found, tesela_translation *answer) {
  tesela_any_layout any;
  tesela_layout layout;
  tesela_error err = {.message = ""};
  if (tesela_layout_read(from, strlen(from), NULL, &any, &err) != TESELA_OK ||
      tesela_any_to_layout(&any, &layout, &err) != TESELA_OK ||
      tesela_xla_from_layout(&layout, found, answer, &err) != TESELA_OK)
    fail_msg("%s: %s", from, err.message);
}

static void known_shapes(void **state) {
  (void)state;
  static const struct {
    const char *from, *to; /* to: NULL if impossible */
  } rows[] = {
      {"f32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0:T(2,2)}"},
      {"bf16[20,200]{1,0:T(8,128)(2,1)}", "bf16[20,200]{1,0:T(8,128)(2,1)}"},
      {"bf16[32,256]{1,0:T(8,128)(2,1,1,1)}", "bf16[32,256]{1,0:T(8,128)(2,1,1,1)}"},
      {"f32[6,8]{1,0:T(3,4)(2,1)}", "f32[6,8]{1,0:T(3,4)(2,1)}"},
      {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}"},
      {"f32[24,128]{1,0:T(8,128)}", "f32[24,128]{1,0}"},
      {"f16[1000,200] stick(dim_order=[0,1])", "f16[1000,200]{0,1:T(64,1)}"},
      {"s4[20,256]{1,0:T(8,128)(4,1)E(4)}", "s4[20,256]{1,0:T(8,128)(4,1)E(4)}"},
      {"u32[]{:T(128)}", "u32[]{:T(128)}"},
      {"f32[0,5]{0,1:T(2,2)}", "f32[0,5]{1,0}"},
      {"f32[1000000,1000000]{1,0:T(8,128)}", "f32[1000000,1000000]{1,0:T(8,128)}"},
      {"f32[3,5]{1,0:L(16)}", "f32[3,5]{1,0:L(2)}"},
      {"map(d0:4, d1:6) of u8 -> memory[30]: 8*d0 + d1", "u8[4,6]{1,0:T(8)}"},
      {"map(d0:8) of f32 -> memory[22]: 3*d0", "f32[8]{0:T(3,1)}"},
      {"map(d0:2, d1:2) of f32 -> memory[9]: 3*d0 + 5*d1", NULL},
      {"map(d0:5) of f32 -> memory[6]: d0 + 1", NULL},
      {"map(d0:5, d1:2) of f32 -> memory[5]: d0", NULL},
      {"map(d0:5; copies r0:2) of f32 -> memory[10]: d0 + 5*r0", NULL},
      {"map(d0:4, d1:4) of f32 -> memory[16]: 4*d0 + d1; memory ^= memory/4%4", NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_xla_shape found;
    tesela_translation answer;
    translate_text(rows[i].from, &found, &answer);
    if ((answer.verdict == TESELA_EXACT) != (rows[i].to != NULL))
      fail_msg("%s: %s", rows[i].from, answer.reason);
    if (rows[i].to) check_text(rows[i].from, &found, rows[i].to);
  }
}

static void contradictions_name_elements(void **state) {
  (void)state;
  tesela_xla_shape found;
  tesela_translation answer;
  translate_text("map(d0:5) of f32 -> memory[6]: d0 + 1", &found, &answer);
  AGREE("offset", answer.contradiction, TESELA_CONTRADICTION_PLACE);
  AGREE("offset", answer.place, 1);
  AGREE("offset", answer.expected, 0);
  translate_text("map(d0:5, d1:2) of f32 -> memory[5]: d0", &found, &answer);
  AGREE("broadcast", answer.contradiction, TESELA_CONTRADICTION_SHARED);
  AGREE("broadcast", answer.index[1], 1);
  AGREE("broadcast", answer.place, 0);
  translate_text("map(d0:4, d1:4) of f32 -> memory[16]: 4*d0 + d1; memory ^= memory/4%4", &found, &answer);
  AGREE("swizzle", answer.contradiction, TESELA_CONTRADICTION_PLACE);
  AGREE("swizzle", answer.index[0], 1);
  AGREE("swizzle", answer.index[1], 1);
  AGREE("swizzle", answer.place, 4);
  AGREE("swizzle", answer.expected, 6);
}

static void a_type_is_needed(void **state) {
  (void)state;
  tesela_layout layout;
  tesela_xla_shape found;
  tesela_translation answer;
  int64_t shape[2] = {3, 5};
  OK(tesela_layout_strided(&layout, TESELA_DTYPE_NONE, 8, 2, shape, NULL, 0, &e_));
  assert_int_equal(tesela_xla_from_layout(&layout, &found, &answer, NULL), TESELA_E_UNSUPPORTED);
  layout.finished = false;
  assert_int_equal(tesela_xla_from_layout(&layout, &found, &answer, NULL), TESELA_E_INVALID);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_shapes),
      cmocka_unit_test(contradictions_name_elements),
      cmocka_unit_test(a_type_is_needed),
      cmocka_unit_test(the_tiles_of_any_tiles_are_found),
      cmocka_unit_test(no_small_relation_is_missed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
