/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_chain.c - the shortest chain of primitives that expresses a register layout.
 *
 *   spatial_modes [1, 3]  local_modes [2, 0, 4]  of modes 2 8 | 2 4 2     column_local(2, 2).spatial(8, 4).local(1, 2)
 *
 * The rightmost primitive of a chain has the last digits of its list, each the innermost remaining mode of its dim. So
 * a chain is a path from (n_spatial, n_local) to (0, 0). In state (s, l) the first s spatial and the first l local
 * digits remain; this determines the possible steps. Modes of a reduced layout need not be split: the two parts of a
 * mode would be neighbours in list and dim, so the inner part can move outwards to the other.
 *
 *   at most 65 * 65 states; the shortest path from each follows from those of smaller states; a step takes O(rank)
 *
 * Steps: the last k local digits as local or column_local; the last k spatial ones likewise; one replica, with the last
 * k local digits if they are in row-major order. Dims rise in local and spatial, and fall in the column_ ones. A layout
 * without a path (an outer mode is a faster digit than an inner one of its dim) has no chain.
 */
#include "notation/register/register_read.h"

enum { CHAIN_PLACES = TESELA_REGISTER_MODES + 1, CHAIN_NONE = 0x7FFF };

typedef enum chain_primitive {
  CHAIN_LOCAL,
  CHAIN_COLUMN_LOCAL,
  CHAIN_SPATIAL,
  CHAIN_COLUMN_SPATIAL,
  CHAIN_REPLICATED,
} chain_primitive;

static const char *const chain_names[] = {"local", "column_local", "spatial", "column_spatial", "replicated"};

/* The first step of the shortest path from a state. */
typedef struct chain_step {
  int16_t cost; /* of the whole path; CHAIN_NONE: no path */
  uint8_t primitive, n;
} chain_step;

typedef struct chain {
  const tesela_register *layout;
  int32_t dim[TESELA_REGISTER_MODES];   /* of each mode */
  int32_t place[TESELA_REGISTER_MODES]; /* position of each mode in its list */
  bool spatial[TESELA_REGISTER_MODES];  /* is it in spatial_modes? */
  chain_step step[CHAIN_PLACES][CHAIN_PLACES];
} chain;

static void chain_init(chain *ways, const tesela_register *layout) {
  int32_t m = 0;
  ways->layout = layout;
  for (int32_t d = 0; d < layout->rank; d++) /* reduced: no modes of 1 */
    for (int64_t rest = layout->shape[d]; rest > 1 && m < layout->n_modes; rest /= layout->mode_shape[m++])
      ways->dim[m] = d;
  for (int32_t i = 0; i < layout->n_local; i++) {
    ways->place[layout->local_modes[i]] = i;
    ways->spatial[layout->local_modes[i]] = false;
  }
  for (int32_t i = 0; i < layout->n_spatial; i++)
    if (layout->spatial_modes[i] >= 0) {
      ways->place[layout->spatial_modes[i]] = i;
      ways->spatial[layout->spatial_modes[i]] = true;
    }
}

/* Is mode m the innermost remaining mode of its dim? */
static bool chain_innermost(const chain *ways, int64_t m, int32_t s, int32_t l) {
  int64_t inner = m + 1;
  if (inner >= ways->layout->n_modes || ways->dim[inner] != ways->dim[m]) return true;
  return ways->place[inner] >= (ways->spatial[inner] ? s : l);
}

/* Use this step from (s, l) if the path through (to_s, to_l) is shorter than the best so far. */
static void chain_offer(chain *ways, int32_t s, int32_t l, int32_t to_s, int32_t to_l,
                        chain_primitive primitive, int32_t n) {
  int32_t below = ways->step[to_s][to_l].cost;
  bool column = primitive == CHAIN_COLUMN_LOCAL || primitive == CHAIN_COLUMN_SPATIAL;
  int32_t cost = below + 2 * TESELA_REGISTER_MODES + column; /* fewest primitives, then fewest column_ ones */
  chain_step *step = &ways->step[s][l];
  if (below == CHAIN_NONE || cost >= step->cost) return;
  *step = (chain_step){(int16_t)cost, (uint8_t)primitive, (uint8_t)n};
}

/* Offer steps with the last 1, 2, ... local digits, or spatial ones. */
static void chain_take_digits(chain *ways, int32_t s, int32_t l, bool spatial) {
  const tesela_register *layout = ways->layout;
  int32_t left = spatial ? s : l, behind = -1;
  bool row = true, column = true;
  uint32_t dims = 0; /* of this step */
  for (int32_t n = 1; n <= left; n++) {
    int64_t m = spatial ? layout->spatial_modes[left - n] : layout->local_modes[left - n];
    if (m < 0 || !chain_innermost(ways, m, s, l) || (dims >> ways->dim[m] & 1)) return;
    dims |= UINT32_C(1) << ways->dim[m];
    row = row && (n == 1 || ways->dim[m] < behind);
    column = column && (n == 1 || ways->dim[m] > behind);
    behind = ways->dim[m];
    int32_t to_s = spatial ? s - n : s, to_l = spatial ? l : l - n;
    if (row) chain_offer(ways, s, l, to_s, to_l, spatial ? CHAIN_SPATIAL : CHAIN_LOCAL, n);
    if (column) chain_offer(ways, s, l, to_s, to_l, spatial ? CHAIN_COLUMN_SPATIAL : CHAIN_COLUMN_LOCAL, n);
    if (!row && !column) return;
    if (!spatial && row && s > 0 && layout->spatial_modes[s - 1] < 0)
      chain_offer(ways, s, l, s - 1, l - n, CHAIN_REPLICATED, n);
  }
}

static void chain_solve(chain *ways) {
  const tesela_register *layout = ways->layout;
  for (int32_t s = 0; s <= layout->n_spatial; s++)
    for (int32_t l = 0; l <= layout->n_local; l++) {
      ways->step[s][l] = (chain_step){CHAIN_NONE, 0, 0};
      if (s == 0 && l == 0) ways->step[s][l].cost = 0;
      chain_take_digits(ways, s, l, false);
      chain_take_digits(ways, s, l, true);
      if (s > 0 && layout->spatial_modes[s - 1] < 0) chain_offer(ways, s, l, s - 1, l, CHAIN_REPLICATED, 0);
    }
}

/* The extents of a step's primitive: those of its modes, 1 in the other dims. Returns the workers of a replica, else
 * 0. */
static int64_t chain_shape(const chain *ways, int32_t s, int32_t l, int64_t *shape) {
  const tesela_register *layout = ways->layout;
  const chain_step *step = &ways->step[s][l];
  bool spatial = step->primitive == CHAIN_SPATIAL || step->primitive == CHAIN_COLUMN_SPATIAL;
  for (int32_t d = 0; d < layout->rank; d++) shape[d] = 1;
  for (int32_t i = 1; i <= step->n; i++) {
    int64_t m = spatial ? layout->spatial_modes[s - i] : layout->local_modes[l - i];
    shape[ways->dim[m]] = layout->mode_shape[m];
  }
  return step->primitive == CHAIN_REPLICATED ? -layout->spatial_modes[s - 1] : 0;
}

/* The state after a step. */
static void chain_follow(const chain_step *step, int32_t *s, int32_t *l) {
  bool local = step->primitive == CHAIN_LOCAL || step->primitive == CHAIN_COLUMN_LOCAL;
  if (local || step->primitive == CHAIN_REPLICATED) *l -= step->n;
  if (step->primitive == CHAIN_REPLICATED) *s -= 1;
  if (!local && step->primitive != CHAIN_REPLICATED) *s -= step->n;
}

static tesela_status chain_make(chain_primitive primitive, int32_t rank, const int64_t *shape,
                                int64_t workers, tesela_register *out) {
  switch (primitive) {
  case CHAIN_LOCAL:
    return tesela_register_local(out, rank, shape, NULL, NULL);
  case CHAIN_COLUMN_LOCAL:
    return tesela_register_column_local(out, rank, shape, NULL);
  case CHAIN_SPATIAL:
    return tesela_register_spatial(out, rank, shape, NULL, NULL);
  case CHAIN_COLUMN_SPATIAL:
    return tesela_register_column_spatial(out, rank, shape, NULL);
  default:
    return tesela_register_replicated(out, rank, shape, workers, NULL);
  }
}

/* Is the chain exactly this layout? `way` receives the states of its steps, from right to left. */
static bool chain_check(const chain *ways, int32_t *n_steps, uint8_t way[][2]) {
  int32_t s = ways->layout->n_spatial, l = ways->layout->n_local;
  int64_t shape[TESELA_MAX_RANK], ones[TESELA_MAX_RANK];
  tesela_register whole, primitive;
  for (int32_t d = 0; d < ways->layout->rank; d++) ones[d] = 1;
  *n_steps = 0;
  if (tesela_register_spatial(&whole, ways->layout->rank, ones, NULL, NULL) != TESELA_OK) return false;
  while (s > 0 || l > 0) {
    const chain_step *step = &ways->step[s][l];
    if (step->cost == CHAIN_NONE) return false;
    int64_t workers = chain_shape(ways, s, l, shape);
    if (chain_make(step->primitive, ways->layout->rank, shape, workers, &primitive) != TESELA_OK ||
        tesela_register_compose(&whole, &primitive, &whole, NULL) != TESELA_OK)
      return false;
    way[*n_steps][0] = (uint8_t)s;
    way[(*n_steps)++][1] = (uint8_t)l;
    chain_follow(step, &s, &l);
  }
  return tesela_register_identical(&whole, ways->layout);
}

static void chain_print_step(const chain *ways, int32_t s, int32_t l, bool first, tesela__sink *sink) {
  int64_t shape[TESELA_MAX_RANK], workers = chain_shape(ways, s, l, shape);
  chain_primitive primitive = ways->step[s][l].primitive;
  if (!first)
    tesela__puts(sink, primitive == CHAIN_REPLICATED ? " * " : "."); /* replicated is not a method */
  tesela__puts(sink, chain_names[primitive]);
  tesela__putc(sink, '(');
  for (int32_t d = 0; d < ways->layout->rank; d++) {
    if (d > 0) tesela__puts(sink, ", ");
    tesela__put_int(sink, shape[d]);
  }
  if (primitive == CHAIN_REPLICATED) {
    tesela__puts(sink, ways->layout->rank > 0 ? ", num_workers=" : "num_workers=");
    tesela__put_int(sink, workers);
  }
  tesela__putc(sink, ')');
}

void tesela__register_chain(const tesela_register *reduced, tesela__sink *sink, bool *found) {
  chain ways;
  uint8_t way[2 * TESELA_REGISTER_MODES][2];
  int32_t n_steps;
  chain_init(&ways, reduced);
  chain_solve(&ways);
  *found = chain_check(&ways, &n_steps, way);
  if (!*found) return;
  if (n_steps == 0) { /* one element, one thread */
    ways.step[0][0].primitive = CHAIN_SPATIAL;
    chain_print_step(&ways, 0, 0, true, sink);
  }
  for (int32_t i = n_steps; i-- > 0;) chain_print_step(&ways, way[i][0], way[i][1], i == n_steps - 1, sink);
}
