/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_bands.c - elements below 8 bits whose partial tiles lie between the others: boxes that one tile in buffers moves together.
 *
 *   u1[14,6535918,12] to {2,1,0:T(2,8)}   2 rows of 12 bits are a band: 24 bits of src become 32 of dst, 16 of the first tile and 2 x 4
 *                                         of the second one, with 8 of padding. Each box alone has runs of 16 and of 4 bits in dst.
 *
 * A band is contiguous in src, and everything else between its first and its last bit of dst is padding; both are counted. Bands follow each
 * other on both sides, so a tile has runs of as many as there is room for (bits_tile.c), and a pass from one buffer to the other for each box.
 * The other way, from such tiles, a band is contiguous in dst, and what else src has between its first and its last bit is read, too.
 */
#include "relayout/solve.h"

enum { MOST_BOXES = 16, LEAST_BANDS = 16 };

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

/* The loops of a box within a band of ss bits of src and ds of dst, and those outside it, with the loop of bands. False: some are neither. */
static bool split_at_bands(const tesela__box *box, int64_t ss, int64_t ds, tesela__box *within,
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

/* The boxes that are parts of bands as those of `main` by its loop i, from the first bits of a band on. False: they are not all of the shorter
 * side there. */
static bool find_bands_of(tesela__bits_bands *bands, const found_boxes *found, const tesela__box *main,
                          int32_t i, int32_t bits) {
  tesela__box outside, within;
  const int64_t ss = main->loop[i].ss, ds = main->loop[i].ds;
  int64_t all = 0;
  bands->n = 0;
  bands->ss = ss;
  bands->ds = ds;
  bands->count = main->loop[i].n;
  if (!split_at_bands(main, ss, ds, &within, &bands->outside)) return false;
  bands->src = main->src;
  bands->dst = main->dst;
  for (int32_t k = 0; k < found->n; k++) {
    const tesela__box *box = &found->box[k];
    const int64_t from = box->src - main->src, to = box->dst - main->dst;
    if (!split_at_bands(box, ss, ds, &within, &outside) || !same_loops(&outside, &bands->outside)) continue;
    if (from <= -ss || from >= ss || to <= -ds || to >= ds) continue;
    if (bands->n == TESELA__BITS_PASSES) return false;
    within.src = box->src;
    within.dst = box->dst;
    tesela__box_copy(&bands->box[bands->n++], &within);
    bands->src = tesela__min(bands->src, box->src);
    bands->dst = tesela__min(bands->dst, box->dst);
    all += elements_of_box(&within) * bits;
  }
  int64_t out = 0;
  bands->in = 0;
  for (int32_t k = 0; k < bands->n; k++) {
    tesela__box *box = &bands->box[k];
    box->src -= bands->src;
    box->dst -= bands->dst;
    bands->in = tesela__max(bands->in, box->src + reach_of_box(box, true, bits));
    out = tesela__max(out, box->dst + reach_of_box(box, false, bits));
  }
  return bands->in <= ss && out <= ds && (ss < ds ? all == ss && bands->in == ss : all == ds && out == ds);
}

static bool has_outer(const tesela__bits_bands *bands, const tesela__loop *loop) {
  for (int32_t k = 0; k < bands->outside.n_loops; k++)
    if (bands->outside.loop[k].ds == loop->ds && bands->outside.loop[k].n == loop->n) return true;
  return false;
}

/* The bits of a box of padding in each band, if it has all of them: *loop is that of the bands. Else 0. */
static int64_t padding_in_bands(const tesela__bits_bands *bands, const tesela__box *fill, int32_t bits,
                                int32_t *loop) {
  const int64_t at = fill->dst - bands->dst;
  int64_t within = bits, reach = bits;
  int32_t outer = 1; /* the loop of bands */
  *loop = -1;
  for (int32_t i = 0; i < fill->n_loops; i++) {
    const tesela__loop *l = &fill->loop[i];
    if (l->ds <= 0 || (l->ds > bands->ds && !has_outer(bands, l))) return 0;
    if (l->ds < bands->ds) within *= l->n, reach += (l->n - 1) * l->ds;
    if (l->ds == bands->ds && l->n >= bands->count) *loop = i;
    outer += l->ds > bands->ds;
  }
  if (*loop < 0 || outer != bands->outside.n_loops || at < 0 || at + reach > bands->ds) return 0;
  return within;
}

/* Is all that bands have in dst, besides elements, in the boxes of padding? Then those lose it. */
static bool take_padding_of_bands(tesela__bits_bands *bands, tesela_plan *plan) {
  const int32_t bits = plan->dst.bits;
  int64_t padding = 0;
  int32_t loop;
  for (int32_t f = 0; f < plan->n_fill_boxes; f++) {
    tesela__split_as(&plan->fill_box[f], &bands->outside, bits);
    padding += padding_in_bands(bands, &plan->fill_box[f], bits, &loop);
  }
  if (padding != bands->ds - bands->ss) return false;
  for (int32_t f = plan->n_fill_boxes - 1; f >= 0; f--) {
    tesela__box *fill = &plan->fill_box[f];
    if (padding_in_bands(bands, fill, bits, &loop) == 0) continue;
    const int64_t left = fill->loop[loop].n -= bands->count;
    fill->dst += bands->count * bands->ds;
    if (left == 0) *fill = plan->fill_box[--plan->n_fill_boxes];
    if (left == 1) tesela__drop_loop(fill, loop);
  }
  return true;
}

bool tesela__bits_bands_find(tesela__bits_bands *bands, tesela_plan *plan, const tesela__problem *problem,
                             uint64_t *random) {
  enum { CHEAP = 2, DEAR = 8, MOST = TESELA__BITS_ELEMENTS, SMALL = MOST / 8, GAPS = 3, LONG_GAPS = 2 };
  const int32_t bits = plan->dst.bits;
  found_boxes found;
  const tesela__box *main = NULL;
  found.n = 0;
  bands->n = 0;
  if (bits >= 8 || plan->src.bits != bits || plan->conversion || plan->reach > 0 || plan->fill_first ||
      tesela__wanted(plan) != TESELA_SOLVER_ANY || (random && tesela__random(random) % 2) ||
      !tesela__problem_boxes(problem, collect_box, &found))
    return false;
  for (int32_t k = 0; k < found.n; k++)
    if (!main || elements_of_box(&found.box[k]) > elements_of_box(main)) main = &found.box[k];
  if (!main) return false;
  const float cost = random ? DEAR : tesela__cost_of_bits(plan, main);
  if (cost < CHEAP) return false;
  for (int32_t i = 0; i < main->n_loops; i++) {
    const tesela__loop *l = &main->loop[i];
    const int64_t longer = tesela__max(l->ss, l->ds), shorter = tesela__min(l->ss, l->ds);
    if (l->ds == l->ss || l->ss > GAPS * l->ds || longer / bits > MOST || l->n < (random ? 2 : LEAST_BANDS))
      continue;
    /* Long bands of which more than half is padding are few in a tile, and their boxes have long runs. */
    if (!random && longer / bits > SMALL && longer > LONG_GAPS * shorter) continue;
    if (!find_bands_of(bands, &found, main, i, bits)) continue;
    /* Boxes between the elements of others would bring each of their lines once more, however few elements they have. */
    if (cost < DEAR && bands->n == 1) continue;
    if (l->ss > l->ds || take_padding_of_bands(bands, plan)) return true;
  }
  bands->n = 0;
  return false;
}

bool tesela__bits_bands_have(const tesela__bits_bands *bands, const tesela__box *box) {
  tesela__box within, outside;
  if (bands->n == 0 || !split_at_bands(box, bands->ss, bands->ds, &within, &outside) ||
      !same_loops(&outside, &bands->outside))
    return false;
  for (int32_t k = 0; k < bands->n; k++)
    if (box->src - bands->src == bands->box[k].src && box->dst - bands->dst == bands->box[k].dst) return true;
  return false;
}
