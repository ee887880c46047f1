/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_bands.c - elements below 8 bits whose partial tiles lie between the others: boxes that one tile in buffers moves together.
 *
 *   u1[14,6535918,12] to {2,1,0:T(2,8)}   2 rows of 12 bits are a band: 24 bits of src become 32 of dst, 16 of the first tile and 2 x 4
 *                                         of the second one, with 8 of padding. Each box alone has runs of 16 and of 4 bits in dst.
 *
 * On its long side a band has all that lies between its elements: padding, if that is dst, which is counted; of src it is read, too. On the
 * other side nothing lies between them. Where bands follow each other on both sides, a tile has runs of as many as there is room for
 * (bits_tile.c), and a pass from one buffer to the other for each box.
 *
 *   s4[2976,1072,11,10]{3,2,1,0:T(4,4)} to {2,0,1,3}      9 tiles are a band, of which 4 boxes have 110 elements. In dst these are 10 rows
 *                                                         of 11, far from each other: a grid, each box a rectangle of it
 */
#include "relayout/solve.h"

enum { MOST_BOXES = 16, LEAST_BANDS = 16, DEAR = 8 };

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

/* The loops of a box within a band, whose next one is `step` bits later on the long side, and those outside it, with the loop of bands. False:
 * steps are not positive. */
static bool split_at_bands(const tesela__box *box, bool long_src, int64_t step, tesela__box *within,
                           tesela__box *outside) {
  within->n_loops = outside->n_loops = 0;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const tesela__loop *l = &box->loop[i];
    if (l->ss <= 0 || l->ds <= 0) return false;
    tesela__box *to = (long_src ? l->ss : l->ds) < step ? within : outside;
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

/* Collect the boxes that are parts of bands, as `main` is. False: too many, or one reaches into the next band. */
static bool collect_parts(tesela__bits_bands *bands, const found_boxes *found, const tesela__box *main) {
  tesela__box within, outside;
  bands->row = 0;
  bands->n = 0;
  bands->src = main->src;
  bands->dst = main->dst;
  if (!split_at_bands(main, bands->long_src, bands->step, &within, &bands->outside)) return false;
  for (int32_t k = 0; k < found->n; k++) {
    const tesela__box *box = &found->box[k];
    const int64_t from = bands->long_src ? box->src - main->src : box->dst - main->dst;
    if (!split_at_bands(box, bands->long_src, bands->step, &within, &outside) ||
        !same_loops(&outside, &bands->outside) || from <= -bands->step || from >= bands->step)
      continue;
    if (bands->n == TESELA__BITS_PASSES) return false;
    within.src = box->src;
    within.dst = box->dst;
    tesela__box_copy(&bands->box[bands->n++], &within);
    bands->src = tesela__min(bands->src, box->src);
    bands->dst = tesela__min(bands->dst, box->dst);
    bands->row += tesela__box_elements(&within);
  }
  bands->in = 0;
  for (int32_t k = 0; k < bands->n; k++) {
    tesela__box *box = &bands->box[k];
    box->src -= bands->src;
    box->dst -= bands->dst;
    const int64_t at = bands->long_src ? box->src : box->dst;
    bands->in = tesela__max(bands->in, at + reach_of_box(box, bands->long_src, bands->bits));
  }
  return bands->in <= bands->step;
}

/* The boxes that are parts of bands as those of `main` by its loop i. False: they are not all of a grid on the shorter side. */
static bool find_bands_of(tesela__bits_bands *bands, const found_boxes *found, const tesela__box *main,
                          int32_t i) {
  const tesela__loop *l = &main->loop[i];
  bands->step = bands->long_src ? l->ss : l->ds;
  bands->count = l->n;
  bands->short_step = bands->long_src ? l->ds : l->ss;
  return collect_parts(bands, found, main) && bands->row * bands->bits < bands->step &&
         tesela__bits_grid_set(bands);
}

static bool has_outer(const tesela__bits_bands *bands, const tesela__loop *loop) {
  for (int32_t k = 0; k < bands->outside.n_loops; k++)
    if (bands->outside.loop[k].ds == loop->ds && bands->outside.loop[k].n == loop->n) return true;
  return false;
}

/* The bits of a box of padding in each band, if it has all of them: *loop is that of the bands. Else 0. */
static int64_t padding_in_bands(const tesela__bits_bands *bands, const tesela__box *fill, int32_t *loop) {
  const int64_t at = fill->dst - bands->dst;
  int64_t within = bands->bits, reach = bands->bits;
  int32_t outer = 1; /* the loop of bands */
  *loop = -1;
  for (int32_t i = 0; i < fill->n_loops; i++) {
    const tesela__loop *l = &fill->loop[i];
    if (l->ds <= 0 || (l->ds > bands->step && !has_outer(bands, l))) return 0;
    if (l->ds < bands->step) within *= l->n, reach += (l->n - 1) * l->ds;
    if (l->ds == bands->step && l->n >= bands->count) *loop = i;
    outer += l->ds > bands->step;
  }
  if (*loop < 0 || outer != bands->outside.n_loops || at < 0 || at + reach > bands->step) return 0;
  return within;
}

/* Is all that bands have in dst, besides elements, in the boxes of padding? Then those lose it. */
static bool take_padding_of_bands(tesela__bits_bands *bands, tesela_plan *plan) {
  int64_t padding = 0;
  int32_t loop;
  for (int32_t f = 0; f < plan->n_fill_boxes; f++) {
    tesela__split_as(&plan->fill_box[f], &bands->outside, bands->bits);
    padding += padding_in_bands(bands, &plan->fill_box[f], &loop);
  }
  if (padding != bands->step - bands->row * bands->bits) return false;
  for (int32_t f = plan->n_fill_boxes - 1; f >= 0; f--) {
    tesela__box *fill = &plan->fill_box[f];
    if (padding_in_bands(bands, fill, &loop) == 0) continue;
    const int64_t left = fill->loop[loop].n -= bands->count;
    fill->dst += bands->count * bands->step;
    if (left == 0) *fill = plan->fill_box[--plan->n_fill_boxes];
    if (left == 1) tesela__drop_loop(fill, loop);
  }
  return true;
}

/* Are a loop's steps short enough for bands, and enough of them? */
static bool may_be_bands(const tesela__loop *l, bool long_src, int32_t bits, const uint64_t *random) {
  enum { MOST = TESELA__BITS_ELEMENTS };
  return (long_src ? l->ss : l->ds) / bits <= MOST && l->n >= (random ? 2 : LEAST_BANDS);
}

/* Are bands cheaper than the boxes one by one, whose largest has runs of `run` elements? Not long ones of which more than half does not move:
 * they are few in a tile, and their boxes have long runs. */
static bool is_worth_it(tesela_plan *plan, const tesela__bits_bands *bands, float cost, int64_t run) {
  enum { SMALL = TESELA__BITS_ELEMENTS / 8, GAPS = 3, LONG_GAPS = 2, TIMES = 4, SHORT = 8 * TESELA__LINE };
  const int64_t row = bands->row * bands->bits, elements = bands->step / bands->bits;
  if (bands->long_src && bands->step > GAPS * row) return false;
  if (elements > SMALL && bands->step > LONG_GAPS * row) return false;
  if (bands->short_step != row || !tesela__bits_grid_is_dense(bands)) /* where a box alone has short runs */
    return run * bands->bits < SHORT && tesela__run_of_bands(plan, bands) >= TIMES * run;
  /* Boxes between the elements of others would bring each of their lines once more, however few elements they have. */
  return cost >= DEAR || bands->n > 1;
}

bool tesela__bits_bands_find(tesela__bits_bands *bands, tesela_plan *plan, const tesela__problem *problem,
                             uint64_t *random) {
  enum { CHEAP = 2 };
  found_boxes found;
  const tesela__box *main = NULL;
  found.n = 0;
  bands->n = 0;
  bands->bits = plan->dst.bits;
  if (bands->bits >= 8 || plan->src.bits != bands->bits || plan->conversion || plan->reach > 0 ||
      plan->fill_first || tesela__wanted(plan) != TESELA_SOLVER_ANY ||
      (random && tesela__random(random) % 2) || !tesela__problem_boxes(problem, collect_box, &found))
    return false;
  for (int32_t k = 0; k < found.n; k++)
    if (!main || tesela__box_elements(&found.box[k]) > tesela__box_elements(main)) main = &found.box[k];
  if (!main) return false;
  int64_t run;
  const float cost = tesela__cost_of_bits(plan, main, &run);
  if (!random && cost < CHEAP) return false;
  for (int32_t k = 0; k < 2 * main->n_loops; k++) {
    const tesela__loop *l = &main->loop[k / 2];
    bands->long_src = k % 2 == 0;
    if (!may_be_bands(l, bands->long_src, bands->bits, random) ||
        !find_bands_of(bands, &found, main, k / 2) || !(random || is_worth_it(plan, bands, cost, run)))
      continue;
    if (bands->long_src || take_padding_of_bands(bands, plan)) return true;
  }
  bands->n = 0;
  return false;
}

bool tesela__bits_bands_have(const tesela__bits_bands *bands, const tesela__box *box) {
  tesela__box within, outside;
  if (bands->n == 0 || !split_at_bands(box, bands->long_src, bands->step, &within, &outside) ||
      !same_loops(&outside, &bands->outside))
    return false;
  for (int32_t k = 0; k < bands->n; k++)
    if (box->src - bands->src == bands->box[k].src && box->dst - bands->dst == bands->box[k].dst) return true;
  return false;
}
