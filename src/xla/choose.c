/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.c - the tiles and the order that a TPU compiler gives an array.
 *
 * One table by the bits of an element, derived from compiled programs (tests/data/tpu_tiles.tsv has 30870 choices; the
 * test replays them). Elements of less than 32 bits are interleaved: p elements of a column share a 32-bit word.
 *
 *   scalar      T(scalar)
 *   vector      T(x) with x a power of two >= n, then (128)(p,1)
 *   the rest    T(rows,128) with rows a power of two >= the second most minor extent, then (p,1)
 *
 * The table bounds the powers. An array with a dim of 0 gets no tiles. The order of an argument is the one that pads least
 * (tests/data/tpu_orders.tsv has held-out choices).
 */
#include "xla/xla.h"

#include <string.h>

#include "base/base.h"

enum { LANES = 128, SUBLANES = 8 };

typedef struct tpu_rule {
  int32_t bits;          /* of an element; 32 also for 64 and 128 */
  bool early;            /* for v2 and v3 */
  int64_t scalar;        /* tile of a scalar */
  int64_t side, longest; /* of a vector's tile: smallest and largest */
  int64_t rows, most;    /* of a tile: smallest and largest */
  int64_t whole;         /* rows that fill 8 rows of words; 0 if never observed */
  int64_t per_word;      /* p, or 1 */
  int64_t packed;        /* E, or 0 */
} tpu_rule;

/* Left: v4 and later; right: v2 and v3. */
static const tpu_rule tpu_rules[] = {
    {32, false, 128, 128, 1024, 1, 8, 0, 1, 0},       {32, true, 256, 256, 1024, 2, 8, 0, 1, 0},
    {16, false, 256, 256, 1024, 2, 8, 16, 2, 0},      {16, true, 512, 512, 1024, 4, 8, 0, 2, 0},
    {8, false, 512, 512, 1024, 4, 8, 32, 4, 0},       {8, true, 1024, 1024, 1024, 8, 8, 0, 4, 0},
    {4, false, 1024, 1024, 1024, 8, 8, 64, 8, 4},     {4, true, 1024, 1024, 1024, 8, 8, 0, 4, 0},
    {2, false, 2048, 2048, 2048, 16, 16, 128, 16, 2}, {2, true, 1024, 1024, 2048, 16, 16, 0, 4, 0},
};

static const tesela__tpu tpus[] = {{"v2", TESELA_XLA_CHOOSE_EARLY_TPU, 1024},
                                   {"v3", TESELA_XLA_CHOOSE_EARLY_TPU, 1024},
                                   {"v4", 0, 512},
                                   {"v5e", 0, 512},
                                   {"v5p", 0, 32},
                                   {"v6e", 0, 32},
                                   {"tpu7x", 0, 32}};

const tesela__tpu *tesela__tpu_named(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof tpus / sizeof tpus[0]; i++)
    if (strlen(tpus[i].name) == length && memcmp(tpus[i].name, name, length) == 0) return &tpus[i];
  return NULL;
}

tesela_status tesela__tpu_unknown(const char *name, size_t length, int64_t at, tesela_error *err) {
  return tesela__fail(err, TESELA_E_INVALID, at,
                      "unknown TPU '%.*s'; expected v2, v3, v4, v5e, v5p, v6e or tpu7x",
                      (int)tesela__min((int64_t)length, 40), name);
}

/* The rule, or NULL. */
static const tpu_rule *find_rule(int64_t bits, bool early) {
  if (bits == 64 || bits == 128) bits = 32;
  for (size_t i = 0; i < sizeof tpu_rules / sizeof tpu_rules[0]; i++)
    if (tpu_rules[i].bits == bits && tpu_rules[i].early == early) return &tpu_rules[i];
  return NULL;
}

/* The bits that select the rule: E if given, else those of the type; whole bytes for pred. */
static int64_t deciding_bits(const tesela_xla_shape *shape) {
  bool packed = shape->layout.element_bits == 0 && shape->dtype != TESELA_PRED;
  return packed ? tesela_dtype_bits(shape->dtype) : tesela__xla_bits(shape);
}

/* The smallest power of two times `least` that is at least n, but at most `most`. */
static int64_t power_within(int64_t least, int64_t most, int64_t n) {
  while (least < most && least < n) least *= 2;
  return least;
}

/* Of a tile, by the second most minor extent. */
static int64_t choose_rows(const tpu_rule *rule, uint32_t options, int64_t extent) {
  if (rule->bits == 16 && (options & TESELA_XLA_CHOOSE_ALTERNATIVE_16BIT)) return SUBLANES;
  bool large = (options & TESELA_XLA_CHOOSE_LARGE_TILE) && extent > rule->most;
  bool argument = (options & TESELA_XLA_CHOOSE_ARGUMENT) && rule->bits < 16;
  if (rule->whole > 0 && (large || (argument && extent % rule->whole == 0))) return rule->whole;
  return power_within(rule->rows, rule->most, extent);
}

/* ---- order ------------------------------------------------------------------------------------------------- */

/* What an order costs: padded elements, INT64_MAX if they exceed int64; and whether there is padding. */
typedef struct order_cost {
  int64_t elements;
  bool pads;
} order_cost;

static bool cheaper(order_cost a, order_cost b) {
  return a.elements != b.elements ? a.elements < b.elements : a.pads < b.pads;
}

/* Of an order with these dims most minor. The compiler counts at most 8 rows, also where the tile has more. */
static order_cost order_costs(const tesela_xla_shape *shape, int64_t rows, int32_t minor, int32_t second) {
  order_cost cost = {1, shape->dim[minor] % LANES != 0 || shape->dim[second] % rows != 0};
  for (int32_t d = 0; d < shape->rank; d++) {
    int64_t unit = d == minor ? LANES : d == second && rows > SUBLANES ? SUBLANES : d == second ? rows : 1;
    int64_t extent;
    if (!tesela__round_up(shape->dim[d], unit, &extent) ||
        !tesela__mul(cost.elements, extent, &cost.elements))
      return (order_cost){INT64_MAX, true};
  }
  return cost;
}

/* The order of the least cost. Pairs are tried from high to low and the first of equals stays, so that row-major wins ties, then
 * higher dims more minor; the other dims follow from high to low. */
static void choose_order(const tpu_rule *rule, uint32_t options, bool empty, tesela_xla_shape *shape) {
  const int32_t rank = shape->rank;
  int32_t minor = rank - 1, second = rank - 2, n = 0, *order = shape->layout.minor_to_major;
  for (int32_t d = 0; d < rank; d++) order[d] = rank - 1 - d;
  if (rank < 2 || empty) return;
  order_cost least = order_costs(shape, choose_rows(rule, options, shape->dim[second]), minor, second);
  for (int32_t a = rank - 1; a >= 0; a--) {
    for (int32_t b = rank - 1; b >= 0; b--) {
      if (a == b) continue;
      order_cost cost = order_costs(shape, choose_rows(rule, options, shape->dim[b]), a, b);
      if (!cheaper(cost, least)) continue;
      least = cost;
      minor = a;
      second = b;
    }
  }
  order[n++] = minor;
  order[n++] = second;
  for (int32_t d = rank - 1; d >= 0; d--)
    if (d != minor && d != second) order[n++] = d;
}

/* ---- tiles ------------------------------------------------------------------------------------------------- */

static void put_tile(tesela_xla_layout *layout, int32_t n, const int64_t *entries) {
  layout->tile_rank[layout->n_tiles++] = n;
  for (int32_t i = 0; i < n; i++) layout->tile[layout->n_tile_numbers++] = entries[i];
}

static void add_tiles(const tpu_rule *rule, uint32_t options, tesela_xla_shape *shape) {
  tesela_xla_layout *layout = &shape->layout;
  static const int64_t lanes[] = {LANES}, alternative[] = {SUBLANES, LANES}, across[] = {2, 1, 1, 1};
  const int64_t scalar[] = {rule->scalar}, interleaved[] = {rule->per_word, 1};
  if (shape->rank == 0) {
    put_tile(layout, 1, scalar);
    return;
  }
  if (shape->rank >= 2 && rule->bits == 16 && (options & TESELA_XLA_CHOOSE_ALTERNATIVE_16BIT)) {
    put_tile(layout, 2, alternative);
    put_tile(layout, 4, across);
    return;
  }
  if (shape->rank == 1) {
    const int64_t vector[] = {power_within(rule->side, rule->longest, shape->dim[0])};
    put_tile(layout, 1, vector);
    if (rule->per_word > 1) put_tile(layout, 1, lanes);
  } else {
    const int64_t tile[] = {choose_rows(rule, options, shape->dim[tesela_xla_minor(layout, 1)]), LANES};
    put_tile(layout, 2, tile);
  }
  if (rule->per_word > 1) put_tile(layout, 2, interleaved);
}

tesela_status tesela_xla_choose(tesela_xla_shape *shape, uint32_t options, tesela_error *err) {
  TESELA__NEED(err, shape);
  int64_t elements = 0;
  tesela_status status = tesela__xla_check_sized(shape, err);
  if (status != TESELA_OK) return status;
  const tpu_rule *rule = find_rule(deciding_bits(shape), options & TESELA_XLA_CHOOSE_EARLY_TPU);
  if (!rule)
    return tesela__fail(
        err, TESELA_E_UNSUPPORTED, -1,
        "no TPU tiles for elements of %" PRId64 " bit%s (%s); expected 2, 4, 8, 16, 32, 64 or 128 bits",
        deciding_bits(shape), deciding_bits(shape) == 1 ? "" : "s", tesela_dtype_name(shape->dtype));
  tesela_xla_shape chosen = *shape;
  tesela_xla_clear_tiles(&chosen.layout);
  if (chosen.layout.element_bits == 0) chosen.layout.element_bits = rule->packed;
  const bool empty = tesela__xla_product(shape->rank, shape->dim, &elements) && elements == 0;
  if (options & TESELA_XLA_CHOOSE_ORDER) choose_order(rule, options, empty, &chosen);
  if (!empty) add_tiles(rule, options, &chosen);
  chosen.has_layout = true;
  return tesela__xla_replace(shape, &chosen, err);
}
