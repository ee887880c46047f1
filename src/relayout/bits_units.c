/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_units.c - elements below 8 bits whose partial tiles lie between the others: boxes that one tile in buffers moves together.
 *
 *   u1[14,6535918,12] to {2,1,0:T(2,8)}   2 rows of 12 bits are a unit: 24 bits of src become 32 of dst, 16 of the first tile and 2 x 4
 *                                         of the second one, with 8 of padding. Each box alone has runs of 16 and of 4 bits in dst.
 *
 * A unit is contiguous in src, and everything else between its first and its last bit of dst is padding; both are counted. Units follow each
 * other on both sides, so a tile has runs of as many as there is room for (bits_tile.c), and a pass from one buffer to the other for each box.
 */
#include "relayout/solve.h"

enum { MOST_BOXES = 16, LEAST_UNITS = 16 };

typedef struct found_boxes {
  int32_t n;
  tesela__box box[MOST_BOXES];
} found_boxes;

static bool collect_box(void *data, tesela__box *box) {
  found_boxes *found = data;
  if (found->n == MOST_BOXES) return false;
  tesela__box_copy(&found->box[found->n++], box);
  return true;
}

static int64_t elements_of_box(const tesela__box *box) {
  int64_t n = 1;
  for (int32_t i = 0; i < box->n_loops; i++) n *= box->loop[i].n; /* fits, as places do */
  return n;
}

/* The loops of a box within a unit of ss bits of src and ds of dst, and those outside it, with the loop of units. False: some are neither. */
static bool split_at_units(const tesela__box *box, int64_t ss, int64_t ds, tesela__box *within,
                           tesela__box *outside) {
  within->n_loops = outside->n_loops = 0;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const tesela__loop *l = &box->loop[i];
    const bool inner = l->ss < ss && l->ds < ds;
    if (l->ss <= 0 || l->ds <= 0 || (!inner && (l->ss < ss || l->ds < ds))) return false;
    tesela__box *to = inner ? within : outside;
    to->loop[to->n_loops++] = *l;
  }
  return true;
}

static bool same_loops(const tesela__box *a, const tesela__box *b) {
  if (a->n_loops != b->n_loops) return false;
  for (int32_t i = 0; i < a->n_loops; i++)
    if (a->loop[i].n != b->loop[i].n || a->loop[i].ss != b->loop[i].ss || a->loop[i].ds != b->loop[i].ds)
      return false;
  return true;
}

/* Bits from the first element of a box to the end of the last one. */
static int64_t reach_of_box(const tesela__box *box, bool src, int32_t bits) {
  int64_t reach = bits;
  for (int32_t i = 0; i < box->n_loops; i++)
    reach += (box->loop[i].n - 1) * (src ? box->loop[i].ss : box->loop[i].ds);
  return reach;
}

/* The boxes that are parts of units as those of `main` by its loop i, from the first bits of a unit on. False: they are not all of src there. */
static bool find_units_of(tesela__bits_units *units, const found_boxes *found, const tesela__box *main,
                          int32_t i, int32_t bits) {
  tesela__box outside, within;
  const int64_t ss = main->loop[i].ss, ds = main->loop[i].ds;
  int64_t all = 0;
  units->n = 0;
  units->ss = ss;
  units->ds = ds;
  units->count = main->loop[i].n;
  if (!split_at_units(main, ss, ds, &within, &units->outside)) return false;
  units->src = main->src;
  units->dst = main->dst;
  for (int32_t k = 0; k < found->n; k++) {
    const tesela__box *box = &found->box[k];
    const int64_t from = box->src - main->src, to = box->dst - main->dst;
    if (!split_at_units(box, ss, ds, &within, &outside) || !same_loops(&outside, &units->outside)) continue;
    if (from <= -ss || from >= ss || to <= -ds || to >= ds) continue;
    if (units->n == TESELA__BITS_PASSES) return false;
    within.src = box->src;
    within.dst = box->dst;
    tesela__box_copy(&units->box[units->n++], &within);
    units->src = tesela__min(units->src, box->src);
    units->dst = tesela__min(units->dst, box->dst);
    all += elements_of_box(&within) * bits;
  }
  for (int32_t k = 0; k < units->n; k++) {
    tesela__box *box = &units->box[k];
    box->src -= units->src;
    box->dst -= units->dst;
    if (box->src + reach_of_box(box, true, bits) > ss || box->dst + reach_of_box(box, false, bits) > ds)
      return false;
  }
  return all == ss;
}

static bool has_outer(const tesela__bits_units *units, const tesela__loop *loop) {
  for (int32_t k = 0; k < units->outside.n_loops; k++)
    if (units->outside.loop[k].ds == loop->ds && units->outside.loop[k].n == loop->n) return true;
  return false;
}

/* The bits of a box of padding in each unit, if it has all of them: *loop is that of the units. Else 0. */
static int64_t padding_in_units(const tesela__bits_units *units, const tesela__box *fill, int32_t bits,
                                int32_t *loop) {
  const int64_t at = fill->dst - units->dst;
  int64_t within = bits, reach = bits;
  int32_t outer = 1; /* the loop of units */
  *loop = -1;
  for (int32_t i = 0; i < fill->n_loops; i++) {
    const tesela__loop *l = &fill->loop[i];
    if (l->ds <= 0 || (l->ds > units->ds && !has_outer(units, l))) return 0;
    if (l->ds < units->ds) within *= l->n, reach += (l->n - 1) * l->ds;
    if (l->ds == units->ds && l->n >= units->count) *loop = i;
    outer += l->ds > units->ds;
  }
  if (*loop < 0 || outer != units->outside.n_loops || at < 0 || at + reach > units->ds) return 0;
  return within;
}

/* Is all that units have in dst, besides elements, in the boxes of padding? Then those lose it. */
static bool take_padding_of_units(tesela__bits_units *units, tesela_plan *plan) {
  const int32_t bits = plan->dst.bits;
  int64_t padding = 0;
  int32_t loop;
  for (int32_t f = 0; f < plan->n_fill_boxes; f++) {
    tesela__split_as(&plan->fill_box[f], &units->outside, bits);
    padding += padding_in_units(units, &plan->fill_box[f], bits, &loop);
  }
  if (padding != units->ds - units->ss) return false;
  for (int32_t f = plan->n_fill_boxes - 1; f >= 0; f--) {
    tesela__box *fill = &plan->fill_box[f];
    if (padding_in_units(units, fill, bits, &loop) == 0) continue;
    const int64_t left = fill->loop[loop].n -= units->count;
    fill->dst += units->count * units->ds;
    if (left == 0) *fill = plan->fill_box[--plan->n_fill_boxes];
    if (left == 1) tesela__drop_loop(fill, loop);
  }
  return true;
}

bool tesela__bits_units_find(tesela__bits_units *units, tesela_plan *plan, const tesela__problem *problem,
                             uint64_t *random) {
  enum { DEAR = 8, PART = 16, MOST = TESELA__BITS_ELEMENTS / 8 };
  const int32_t bits = plan->dst.bits;
  found_boxes found;
  const tesela__box *main = NULL;
  found.n = 0;
  units->n = 0;
  if (bits >= 8 || plan->src.bits != bits || plan->conversion || plan->reach > 0 || plan->fill_first ||
      plan->n_fill_boxes == 0 || tesela__wanted(plan) != TESELA_SOLVER_ANY ||
      (random && tesela__random(random) % 2) || !tesela__problem_boxes(problem, collect_box, &found))
    return false;
  int64_t all = 0;
  for (int32_t k = 0; k < found.n; k++) {
    all += elements_of_box(&found.box[k]);
    if (!main || elements_of_box(&found.box[k]) > elements_of_box(main)) main = &found.box[k];
  }
  if (!main) return false;
  const bool alone = PART * (all - elements_of_box(main)) < all;
  if (!random && alone && tesela__cost_of_bits(plan, main) < DEAR) return false;
  for (int32_t i = 0; i < main->n_loops; i++) {
    const tesela__loop *l = &main->loop[i];
    if (l->ds <= l->ss || l->ds / bits > MOST || l->n < (random ? 2 : LEAST_UNITS)) continue;
    if (find_units_of(units, &found, main, i, bits) && take_padding_of_units(units, plan)) return true;
  }
  units->n = 0;
  return false;
}

bool tesela__bits_units_have(const tesela__bits_units *units, const tesela__box *box) {
  tesela__box within, outside;
  if (units->n == 0 || !split_at_units(box, units->ss, units->ds, &within, &outside) ||
      !same_loops(&outside, &units->outside))
    return false;
  for (int32_t k = 0; k < units->n; k++)
    if (box->src - units->src == units->box[k].src && box->dst - units->dst == units->box[k].dst) return true;
  return false;
}

void tesela__bits_units_box(const tesela__bits_units *units, int32_t bits, tesela__box *box) {
  tesela__box_copy(box, &units->outside);
  box->src = units->src;
  box->dst = units->dst;
  tesela__box_add(box, units->ss / bits, bits, bits);
}
