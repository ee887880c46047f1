/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_rounds.c - shuffle rounds of a warp with one unit per lane: as few as possible.
 *
 * In a round a lane offers one unit, which any number of lanes may take, and takes at most one. So there are at least
 * as many rounds as units that a lane takes, and at least ceil(D / m) if m lanes have the same elements (a class of
 * src) and others take D different units of theirs. (For several units per word see exchange_bound.c.)
 *
 * Units to take are edges between lanes; rounds are colours. A bipartite graph with at most n edges per vertex can be
 * coloured with n colours (König), so the bound is met if each take is an edge. It may not be met if several lanes take
 * one unit. Those lanes have the same elements in dst, so they are one class of dst, and can take the unit together:
 * then an edge is from a lane to a class. The graph that needs fewer colours is used.
 *
 * Coloured rounds look random, so patterns are tried first: `from` linear in the bits of the lane (exchange_linear.c),
 * lane ^ k, and lane + k. A pattern is used if it needs no more rounds.
 */
#include "gpu/exchange/exchange.h"

enum { ROUND_LANES = TESELA__LANES };

/* One unit that a lane takes, and its edge in the graph. */
typedef struct round_take {
  int32_t into, unit, edge;
  uint8_t lane, class;
} round_take;

typedef struct round_edge {
  uint8_t from, to; /* a lane; a lane or a class of dst */
  int32_t colour;
} round_edge;

typedef struct round_work {
  tesela__warp_program *w;
  const tesela_allocator *alloc;
  int32_t warp;
  int64_t src_units, dst_units, n_takes, n_edges;
  round_take *take;
  round_edge *edge;
  int32_t *edge_of;                  /* [class * src_units + unit]: an edge, or -1 */
  int32_t members[ROUND_LANES];      /* number of lanes of a class of src */
  int64_t wanted[ROUND_LANES];       /* of a class of src: number of different units that others take */
  int64_t wanted_often[ROUND_LANES]; /* likewise, counted once per take */
  int64_t takes[ROUND_LANES];        /* of a lane */
  int64_t takes_of_all[ROUND_LANES]; /* of a class of dst: number of different units that its lanes take */
} round_work;

/* ---- counting ----------------------------------------------------------------------------------------------- */

static void collect_takes(round_work *work) {
  const tesela__warp_program *w = work->w;
  for (int32_t lane = 0; lane < w->src_lanes; lane++) work->members[w->src_class[lane]]++;
  for (int64_t i = 0; i < work->warp * work->src_units; i++) work->edge_of[i] = -1;
  for (int32_t lane = 0; lane < w->dst_lanes; lane++)
    for (int64_t into = 0; into < work->dst_units; into++) {
      if (tesela__own(w, work->dst_units, lane, into)) continue;
      int64_t at = lane * work->dst_units + into;
      round_take take = {(int32_t)into, w->need_unit[at], -1, (uint8_t)lane, w->need_class[at]};
      int32_t *seen = &work->edge_of[take.class * work->src_units + take.unit];
      work->takes[lane]++;
      work->wanted_often[take.class]++;
      if (*seen < 0) {
        *seen = 0;
        work->wanted[take.class]++;
        work->takes_of_all[w->dst_class[lane]]++; /* only one class of dst needs a unit */
      }
      work->take[work->n_takes++] = take;
    }
}

static int64_t most_of(const int64_t *counts) {
  int64_t most = 0;
  for (int i = 0; i < ROUND_LANES; i++) most = tesela__max(most, counts[i]);
  return most;
}

static int64_t most_per_member(const round_work *work, const int64_t *counts) {
  int64_t most = 0;
  for (int i = 0; i < ROUND_LANES; i++)
    if (counts[i] > 0) most = tesela__max(most, tesela__ceil_div(counts[i], work->members[i]));
  return most;
}

/* ---- the graph ------------------------------------------------------------------------------------------------ */

/* The lane of a class with the fewest offers so far. */
static uint8_t least_busy(const tesela__warp_program *w, uint8_t class, const int64_t *offers) {
  int32_t best = -1;
  for (int32_t lane = class; lane < w->src_lanes; lane++)
    if (w->src_class[lane] == class && (best < 0 || offers[lane] < offers[best])) best = lane;
  return (uint8_t)best;
}

/* One edge per take, or with `together` one per unit, for all lanes of its class of dst. */
static void make_edges(round_work *work, bool together) {
  int64_t offers[ROUND_LANES] = {0};
  for (int64_t i = 0; i < work->warp * work->src_units; i++) work->edge_of[i] = -1;
  for (int64_t i = 0; i < work->n_takes; i++) {
    round_take *take = &work->take[i];
    int32_t *of_unit = &work->edge_of[take->class * work->src_units + take->unit];
    if (!together || *of_unit < 0) {
      uint8_t from = least_busy(work->w, take->class, offers);
      offers[from]++;
      *of_unit = (int32_t)work->n_edges;
      work->edge[work->n_edges++] =
          (round_edge){from, together ? work->w->dst_class[take->lane] : take->lane, -1};
    }
    take->edge = *of_unit;
  }
}

/* ---- colouring ------------------------------------------------------------------------------------------------ */

/* edge_at[side][vertex * n + colour] is an edge or -1; all colours below lowest[side][vertex] are used. */
typedef struct round_colours {
  round_edge *edge;
  int64_t n;
  int32_t *edge_at[2];
  int64_t lowest[2][ROUND_LANES];
} round_colours;

static int32_t *colour_slot(round_colours *c, int side, const round_edge *edge, int64_t colour) {
  return &c->edge_at[side][(side == 0 ? edge->from : edge->to) * c->n + colour];
}

static int64_t free_colour(round_colours *c, int side, const round_edge *edge) {
  int64_t *lowest = &c->lowest[side][side == 0 ? edge->from : edge->to];
  while (*colour_slot(c, side, edge, *lowest) >= 0) ++*lowest;
  return *lowest;
}

static void put_colour(round_colours *c, int32_t e, int64_t colour) {
  c->edge[e].colour = (int32_t)colour;
  for (int side = 0; side < 2; side++) *colour_slot(c, side, &c->edge[e], colour) = e;
}

static void drop_colour(round_colours *c, int32_t e) {
  round_edge *edge = &c->edge[e];
  for (int side = 0; side < 2; side++) {
    int64_t *lowest = &c->lowest[side][side == 0 ? edge->from : edge->to];
    *colour_slot(c, side, edge, edge->colour) = -1;
    *lowest = tesela__min(*lowest, edge->colour);
  }
}

/* Swap the colours a and b along the path that starts at the right end of e with a. The path visits a vertex at most
 * once and never reaches the left end of e: it would arrive there with a, which is free there. */
static void swap_path(round_colours *c, const round_edge *e, int64_t a, int64_t b) {
  int32_t path[2 * ROUND_LANES];
  int n = 0, side = 1;
  int64_t colour = a;
  for (int32_t next = *colour_slot(c, 1, e, a); next >= 0;) {
    path[n++] = next;
    side = 1 - side;
    colour = colour == a ? b : a;
    next = *colour_slot(c, side, &c->edge[next], colour);
  }
  for (int i = 0; i < n; i++) drop_colour(c, path[i]);
  for (int i = 0; i < n; i++) put_colour(c, path[i], c->edge[path[i]].colour == a ? b : a);
}

static tesela_status colour_edges(round_work *work, int64_t rounds, tesela_error *err) {
  round_colours c = {.edge = work->edge, .n = rounds};
  uint64_t slots = (uint64_t)(2 * work->warp * rounds);
  int32_t *memory = tesela__alloc(work->alloc, slots * sizeof(int32_t), alignof(int32_t));
  if (!memory) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to plan %" PRId64 " rounds", rounds);
  for (size_t i = 0; i < slots; i++) memory[i] = -1;
  c.edge_at[0] = memory;
  c.edge_at[1] = memory + work->warp * rounds;
  for (int32_t e = 0; e < work->n_edges; e++) {
    int64_t a = free_colour(&c, 0, &c.edge[e]);
    if (*colour_slot(&c, 1, &c.edge[e], a) >= 0) {
      int64_t b = free_colour(&c, 1, &c.edge[e]);
      if (*colour_slot(&c, 0, &c.edge[e], b) < 0)
        a = b;
      else
        swap_path(&c, &c.edge[e], a, b);
    }
    put_colour(&c, e, a);
  }
  tesela__release(work->alloc, memory);
  return TESELA_OK;
}

static void write_step(round_work *work, const round_take *take, int64_t round, int32_t from) {
  tesela__warp_program *w = work->w;
  int64_t row = round * work->warp;
  w->offer[row + from] = take->unit;
  w->from[row + take->lane] = (uint8_t)from;
  w->into[row + take->lane] = take->into;
}

static tesela_status rounds_by_colour(round_work *work, bool together, int64_t rounds, tesela_error *err) {
  make_edges(work, together);
  tesela_status status = colour_edges(work, rounds, err);
  if (status == TESELA_OK) status = tesela__rounds_room(work->w, work->warp, rounds, work->alloc, err);
  for (int64_t i = 0; i < work->n_takes && status == TESELA_OK; i++) {
    const round_edge *edge = &work->edge[work->take[i].edge];
    write_step(work, &work->take[i], edge->colour, edge->from);
  }
  return status;
}

/* ---- patterns: lane ^ k, lane + k ------------------------------------------------------------------------------- */

static int32_t pattern_lane(int32_t lane, int32_t k, int32_t warp, bool add) {
  return add ? (lane + k) % warp : lane ^ k;
}

/* Choose a distance k for each take, to keep the sum over k of most[k], the most takes of a lane at distance k, small:
 * if several lanes have the unit, a distance that is needed anyway, else the first. Sets edge to k; returns the sum. */
static int64_t choose_distances(round_work *work, bool add, int64_t *most) {
  int64_t have[ROUND_LANES] = {0}, rounds = 0;
  int32_t lane = -1, end = add ? work->warp : ROUND_LANES;
  for (int64_t i = 0; i < work->n_takes; i++) {
    round_take *take = &work->take[i];
    if (take->lane != lane) memset(have, 0, sizeof have);
    lane = take->lane;
    int32_t best = -1;
    for (int32_t k = 1; k < end; k++) {
      int32_t from = pattern_lane(lane, k, work->warp, add);
      if (from >= work->w->src_lanes || work->w->src_class[from] != take->class) continue;
      if (best < 0) best = k;
      if (have[k] >= most[k]) continue;
      best = k;
      break;
    }
    take->edge = best;
    if (++have[best] <= most[best]) continue;
    most[best]++;
    rounds++;
  }
  return rounds;
}

static tesela_status rounds_by_distance(round_work *work, bool add, int64_t rounds, bool *found,
                                        tesela_error *err) {
  int64_t most[ROUND_LANES] = {0}, start[ROUND_LANES], next[ROUND_LANES], sum = 0;
  *found = choose_distances(work, add, most) <= rounds;
  if (!*found) return TESELA_OK;
  for (int k = 0; k < ROUND_LANES; k++) {
    start[k] = sum;
    sum += most[k];
  }
  tesela_status status = tesela__rounds_room(work->w, work->warp, sum, work->alloc, err);
  if (status != TESELA_OK) return status;
  int32_t lane = -1;
  for (int64_t i = 0; i < work->n_takes; i++) {
    const round_take *take = &work->take[i];
    if (take->lane != lane) memcpy(next, start, sizeof next);
    lane = take->lane;
    write_step(work, take, next[take->edge]++, pattern_lane(lane, take->edge, work->warp, add));
  }
  return TESELA_OK;
}

/* ---- the rounds of a warp -------------------------------------------------------------------------------------- */

static tesela_status best_rounds(round_work *work, tesela_error *err) {
  int64_t takes = most_of(work->takes);
  int64_t single = tesela__max(takes, most_per_member(work, work->wanted_often));
  int64_t together = tesela__max(most_of(work->takes_of_all), most_per_member(work, work->wanted));
  int64_t rounds = tesela__min(single, together);
  bool found = false;
  tesela_status status =
      tesela__rounds_linear(work->w, work->warp, work->dst_units, rounds, work->alloc, &found, err);
  for (int add = 0; add < 2 && status == TESELA_OK && !found; add++)
    status = rounds_by_distance(work, add, rounds, &found, err);
  if (status != TESELA_OK || found) return status;
  return rounds_by_colour(work, together <= single, rounds, err);
}

tesela_status tesela__rounds_plan(tesela__warp_program *w, int32_t warp, int64_t src_units, int64_t dst_units,
                                  const tesela_allocator *alloc, tesela_error *err) {
  round_work work = {.w = w, .alloc = alloc, .warp = warp, .src_units = src_units, .dst_units = dst_units};
  uint64_t n = (uint64_t)(warp * dst_units);
  work.take = tesela__alloc(alloc, n * sizeof *work.take, alignof(round_take));
  work.edge = tesela__alloc(alloc, n * sizeof *work.edge, alignof(round_edge));
  work.edge_of = tesela__alloc(alloc, (uint64_t)(warp * src_units) * sizeof(int32_t), alignof(int32_t));
  tesela_status status = TESELA_OK;
  if (!work.take || !work.edge || !work.edge_of) {
    status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to plan the rounds of a warp");
  } else {
    collect_takes(&work);
    status = best_rounds(&work, err);
  }
  tesela__release(alloc, work.take);
  tesela__release(alloc, work.edge);
  tesela__release(alloc, work.edge_of);
  return status;
}
