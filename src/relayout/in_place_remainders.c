/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place_remainders.c - permutations of digits whose extents have no divisor of use: their last rows are put aside, and what is left
 * has one.
 *
 *   f32[386,17774]{1,0} -> {0,1}         17774 = 17664 + 110
 *     1  the remainder goes to the scratch    386 rows of 110
 *     2  the rest moves together         386 rows of 17774 become 386 of 17664
 *     3  it changes its layout           in_place_digits.c, up to three passes
 *     4  it moves apart                  nothing here, since the remainder is at the end of dst
 *     5  the remainder goes to its place
 *
 * The remainder of the outermost loop of src needs no step 2, that of dst no step 4. Two remainders, one of each, are put aside where one is not enough.
 */
#include "relayout/in_place.h"

enum {
  GOOD_BLOCK = 2048,       /* bytes; without remainders if blocks are as large */
  TIMES = 4,               /* a remainder must make blocks larger by this */
  MOVED_STRIP = 256 << 10, /* bytes */
};

/* A box of which loops keep the values below `left`; remainder k has the other values of its loop, those that are left of the loops of
 * the remainders before it, and all of the others. */
typedef struct cut_box {
  const tesela__box *box;
  int32_t bits, n_remainders, remainder[TESELA__REMAINDERS];
  int64_t left[TESELA__MAX_LOOPS];
} cut_box;

/* ---- passes ----------------------------------------------------------------------------------------------- */

/* The strides that loops of these extents have if they lie densely, in the order of a side of the box. Returns their bits. */
static int64_t dense_strides(const cut_box *c, bool src, const int64_t *extent, int64_t *stride) {
  int64_t before = c->bits, reach = c->bits;
  for (int32_t found = 0; found < c->box->n_loops; found++) {
    const int32_t i = tesela__find_loop(c->box, src ? before : -1, src ? -1 : before);
    stride[i] = reach;
    reach *= extent[i];
    before *= c->box->loop[i].n;
  }
  return reach;
}

static bool sums_of(tesela__sums *sums, tesela__box *box) {
  sums->n = sums->n_digits = 0;
  tesela__box_simplify(box);
  for (int32_t i = 0; i < box->n_loops; i++)
    if (!tesela__sums_add_loop(sums, box->loop[i].n, box->loop[i].ds, box->loop[i].ss)) return false;
  return true;
}

/* Make the pass of remainder k, from src to the scratch or from there to dst. *bytes: what the remainders before it have in the scratch. */
static bool remainder_pass(const cut_box *c, int32_t k, tesela__pass *pass, tesela__pass_kind kind,
                           int64_t *bytes) {
  const tesela__box *box = c->box;
  const bool saves = kind == TESELA__PASS_SAVE;
  const int32_t cut = c->remainder[k];
  int64_t extent[TESELA__MAX_LOOPS] = {0}, stride[TESELA__MAX_LOOPS];
  for (int32_t i = 0; i < box->n_loops; i++) extent[i] = box->loop[i].n;
  for (int32_t i = 0; i < k; i++) extent[c->remainder[i]] = c->left[c->remainder[i]];
  extent[cut] -= c->left[cut];
  const int64_t bits = dense_strides(c, true, extent, stride);
  tesela__box part = {0};
  for (int32_t i = 0; i < box->n_loops; i++)
    if (!tesela__box_add(&part, extent[i], saves ? box->loop[i].ss : stride[i],
                         saves ? stride[i] : box->loop[i].ds))
      return false;
  pass->kind = kind;
  pass->n_levels = 0;
  pass->threads = 1;
  pass->scratch_bytes = 0;
  pass->src = saves ? box->src + c->left[cut] * box->loop[cut].ss : 0;
  pass->dst = saves ? 0 : box->dst + c->left[cut] * box->loop[cut].ds;
  pass->kept = *bytes;
  pass->strip_bytes = tesela__ceil_div(bits, 8);
  *bytes += (pass->strip_bytes + 63) / 64 * 64;
  return sums_of(&pass->sums, &part);
}

/* Add the pass that moves what is left together, or apart, if anything moves. */
static bool moving_pass(const cut_box *c, bool apart, tesela__pass **pass) {
  const tesela__box *box = c->box;
  int64_t stride[TESELA__MAX_LOOPS];
  tesela__sums sums;
  bool moves = false;
  tesela__box part = {0};
  dense_strides(c, !apart, c->left, stride);
  for (int32_t i = 0; i < box->n_loops; i++) {
    const int64_t whole = apart ? box->loop[i].ds : box->loop[i].ss;
    moves = moves || (whole != stride[i] && c->left[i] > 1);
    if (!tesela__box_add(&part, c->left[i], apart ? stride[i] : whole, apart ? whole : stride[i]))
      return false;
  }
  if (!moves) return true;
  tesela__pass *p = (*pass)++;
  if (!sums_of(&sums, &part) ||
      !tesela__strips_find(p, &sums, box->dst, box->dst, c->bits, MOVED_STRIP, MOVED_STRIP, 1))
    return false;
  return true;
}

/* All passes of a cut box, from number `first` of the method on. Returns the bytes of a block; 0: impossible. */
static int64_t passes_of(const cut_box *c, tesela__method *method, int32_t first, const tesela_plan *plan,
                         int64_t limit, int32_t threads) {
  tesela__pass *pass = &method->pass[first];
  int64_t block = INT64_MAX, from[TESELA__MAX_LOOPS], to[TESELA__MAX_LOOPS];
  method->kept_bytes = 0;
  for (int32_t k = 0; k < c->n_remainders; k++)
    if (!remainder_pass(c, k, pass++, TESELA__PASS_SAVE, &method->kept_bytes)) return 0;
  if (method->kept_bytes > limit / 2 || !moving_pass(c, false, &pass)) return 0;
  tesela__box rest = {.src = c->box->src, .dst = c->box->dst};
  dense_strides(c, true, c->left, from);
  dense_strides(c, false, c->left, to);
  for (int32_t i = 0; i < c->box->n_loops; i++)
    if (!tesela__box_add(&rest, c->left[i], from[i], to[i])) return 0;
  tesela__box_simplify(&rest);
  const int32_t n = tesela__digits_find(pass, plan, &rest, limit - method->kept_bytes, threads);
  if (n == 0) return 0;
  for (int32_t i = 0; i < n; i++, pass++)
    if (pass->kind == TESELA__PASS_BLOCKS) block = pass->block_bytes;
  if (!moving_pass(c, true, &pass)) return 0;
  int64_t kept = 0;
  for (int32_t k = 0; k < c->n_remainders; k++)
    if (!remainder_pass(c, k, pass++, TESELA__PASS_PUT, &kept)) return 0;
  method->n_passes = (int32_t)(pass - method->pass);
  return block;
}

/* ---- the choice ------------------------------------------------------------------------------------------- */

/* The outermost loop of src and that of dst, without loops that are outermost on both sides; or -1. */
static void find_outermost(const tesela__box *box, int32_t *of_src, int32_t *of_dst) {
  bool shared[TESELA__MAX_LOOPS] = {0};
  for (;;) {
    *of_src = *of_dst = -1;
    for (int32_t i = 0; i < box->n_loops; i++) {
      if (shared[i]) continue;
      if (*of_src < 0 || box->loop[i].ss > box->loop[*of_src].ss) *of_src = i;
      if (*of_dst < 0 || box->loop[i].ds > box->loop[*of_dst].ds) *of_dst = i;
    }
    if (*of_src < 0 || *of_src != *of_dst) return;
    shared[*of_src] = true;
  }
}

/* Cut a loop at a multiple of `step`; false: nothing would be left, or no remainder. */
static bool cut_loop(cut_box *c, int32_t i, int64_t step) {
  const int64_t n = c->box->loop[i].n, left = n / step * step;
  if (left == 0 || left == n) return false;
  c->remainder[c->n_remainders++] = i;
  c->left[i] = left;
  return true;
}

bool tesela__remainders_find(tesela__method *method, const tesela_plan *plan, const tesela__box *box,
                             int64_t limit, int32_t threads) {
  static const int64_t steps[] = {1024, 256, 64, 16, 4, 2};
  enum { OF_SRC = 1, OF_DST, OF_BOTH };
  const int64_t times = plan->options.shuffle ? 1 : TIMES;
  cut_box best = {.box = box, .bits = plan->dst.bits};
  const int32_t first = method->n_passes;
  int32_t of_src, of_dst;
  for (int32_t i = 0; i < box->n_loops; i++) best.left[i] = box->loop[i].n;
  const cut_box whole = best;
  int64_t most = passes_of(&best, method, first, plan, limit, threads);
  find_outermost(box, &of_src, &of_dst);
  if (most >= GOOD_BLOCK || of_src < 0) return most > 0;
  for (size_t s = 0; s < sizeof steps / sizeof steps[0] && most < GOOD_BLOCK; s++)
    for (int32_t which = OF_SRC; which <= OF_BOTH; which++) {
      cut_box c = whole;
      if ((which & OF_SRC && !cut_loop(&c, of_src, steps[s])) ||
          (which & OF_DST && !cut_loop(&c, of_dst, steps[s])))
        continue;
      const int64_t block = passes_of(&c, method, first, plan, limit, threads);
      if (block == 0 || block / times <= most) continue;
      most = block;
      best = c;
    }
  return most > 0 && passes_of(&best, method, first, plan, limit, threads) > 0;
}
