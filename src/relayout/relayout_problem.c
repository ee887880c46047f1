/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout_problem.c - two layouts of one shape, as coordinates whose digits are common to both sides.
 *
 * In:  the canonical layouts of both sides.
 * Out: for each dim one list of digits (step, stride on each side). An index is the sum of the digits' values times
 *      their steps, each value below (previous step) / step. The steps are those of both sides together:
 *
 *   dst f32[24,256]{1,0:T(8,128)}   dim 0: steps 8, 1     common: 8 (src 8 rows, dst 2048)  1 (src 256, dst 128)
 *   src f32[24,256]{1,0}            dim 0: step 1
 *
 * The remainders by steps of one side must not change those of the other: each step of only one side must be a multiple
 * of the next smaller step of the other. 8 and 6 are not; dims with both are irregular, and only in the sums.
 *
 * Joined dims are one coordinate. If the other side keeps them apart, its steps are those of the dims one after the other:
 * the last dim's, and those of the one before it times the last one's extent.
 */
#include "relayout/plan.h"

/* The dims and joins that have a coordinate. */
typedef struct problem_state {
  tesela__problem *problem;
  bool dim_done[TESELA_MAX_RANK];
  bool dst_join_done[TESELA_MAX_JOINS], src_join_done[TESELA_MAX_JOINS];
} problem_state;

static void set_irregular(tesela__problem *problem, const char *why) {
  if (!problem->irregular) problem->irregular = why;
}

static void set_no_sums(tesela__problem *problem, const char *why) {
  set_irregular(problem, why);
  if (!problem->no_sums) problem->no_sums = why;
}

/* ---- one coordinate: merge the steps of two chains --------------------------------------------------------- */

/* The steps of a chain, and the stride of each in bits; a dim of one element has no steps. */
typedef struct side_steps {
  int32_t n;
  int64_t step[TESELA_MAX_DIGITS], stride[TESELA_MAX_DIGITS];
} side_steps;

/* False: a digit is part of another join. */
static bool side_of_chain(const tesela_layout *layout, int32_t coordinate, side_steps *s) {
  tesela__chain chain = tesela__chain_of(layout, coordinate);
  s->n = chain.n;
  for (int32_t i = 0; i < chain.n; i++) {
    const tesela_digit *digit = &layout->digit[chain.first + i];
    if (digit->axis < 0) return false;
    s->step[i] = digit->step;
    s->stride[i] = digit->stride * layout->bits;
  }
  return true;
}

/* Does a step of the other side, inserted between the steps of this side, keep this side's remainders? */
static bool step_fits(const side_steps *s, int64_t step) {
  for (int32_t i = 0; i < s->n; i++)
    if (s->step[i] <= step) return step % s->step[i] == 0;
  return true;
}

/* The stride of a common digit with this step, from the side's digit that contains it. */
static int64_t stride_at(const side_steps *s, int64_t step) {
  for (int32_t i = 0; i < s->n; i++)
    if (s->step[i] <= step) return s->stride[i] * (step / s->step[i]);
  return 0;
}

/* Add a side to the sums, with a digit of step 1 at the end. False without room. */
static bool add_sum(tesela__sums *sums, const side_steps *s, struct tesela__sum_digits *digits) {
  *digits = (struct tesela__sum_digits){sums->n_digits, s->n};
  if (sums->n_digits + s->n >= (int32_t)(sizeof sums->digit / sizeof sums->digit[0])) return false;
  for (int32_t i = 0; i < s->n; i++)
    sums->digit[sums->n_digits++] = (struct tesela__sum_digit){s->step[i], s->stride[i]};
  if (s->n > 0 && s->step[s->n - 1] == 1) return true;
  sums->digit[sums->n_digits++] = (struct tesela__sum_digit){1, 0};
  digits->n++;
  return true;
}

static void add_coordinate(tesela__problem *problem, int64_t extent, const side_steps *dst,
                           const side_steps *src) {
  tesela__sums *sums = &problem->sums;
  sums->extent[sums->n] = extent;
  if (!add_sum(sums, dst, &sums->dst[sums->n]) || !add_sum(sums, src, &sums->src[sums->n]))
    set_no_sums(problem, "dims have more steps than a sum has room for");
  sums->n++;
  if (problem->irregular) return;
  tesela__coordinate *c = &problem->coordinate[problem->n_coordinates++];
  *c = (tesela__coordinate){extent, problem->n_digits, 0};
  int32_t i = 0, j = 0;
  while (i < dst->n || j < src->n) {
    int64_t a = i < dst->n ? dst->step[i] : 0, b = j < src->n ? src->step[j] : 0;
    int64_t step = a > b ? a : b;
    if ((a < step && !step_fits(dst, step)) || (b < step && !step_fits(src, step))) {
      set_irregular(problem, "the splits of a dim on one side do not nest with the other side's");
      return;
    }
    if (a == step) i++;
    if (b == step) j++;
    problem->digit[problem->n_digits++] = (tesela__digit){step, stride_at(src, step), stride_at(dst, step)};
    c->n++;
  }
}

/* ---- joins ------------------------------------------------------------------------------------------------- */

/* The dims that join j of a layout joins whole, the most significant first; false for any other join. */
static bool dims_of_join(const tesela_layout *layout, int32_t j, int32_t *n, int32_t *dims) {
  *n = 0;
  if (layout->join[j].offset != 0 || layout->join[j].overlap) return false;
  for (int32_t i = 0; i < layout->n_active; i++) { /* by weight, the largest first */
    const tesela_digit *digit = &layout->digit[layout->by_place[i]];
    if (digit->join != j) continue;
    if (digit->source < 0 || digit->source >= layout->rank || digit->step != 1) return false;
    if (tesela__chain_of(layout, digit->source).n != 1) return false;
    dims[(*n)++] = digit->source;
  }
  int64_t weight = 1;
  for (int32_t i = *n - 1; i >= 0; i--) {
    const tesela_digit *digit = &layout->digit[tesela__chain_of(layout, dims[i]).first];
    if (digit->stride != weight) return false;
    weight *= layout->shape[dims[i]];
  }
  return *n > 0;
}

/* Add a step; one that continues the step before it replaces it. False without room. */
static bool add_step(side_steps *s, int64_t step, int64_t stride) {
  if (s->n > 0 && s->step[s->n - 1] % step == 0) {
    int64_t times = s->step[s->n - 1] / step, product;
    if (tesela__mul(stride, times, &product) && product == s->stride[s->n - 1]) s->n--;
  }
  if (s->n == TESELA_MAX_DIGITS) return false;
  s->step[s->n] = step;
  s->stride[s->n++] = stride;
  return true;
}

/* The steps of these dims on the other side as one coordinate: joined in the same way, or dim after dim; else false. */
static bool other_side(const tesela_layout *layout, int32_t n, const int32_t *dims, bool *join_done,
                       side_steps *s) {
  int32_t join = -1, m, same[TESELA_MAX_RANK];
  for (int32_t i = 0; i < n && join < 0; i++) {
    tesela__chain chain = tesela__chain_of(layout, dims[i]);
    for (int32_t k = 0; k < chain.n && join < 0; k++) join = layout->digit[chain.first + k].join;
  }
  if (join >= 0) {
    if (!dims_of_join(layout, join, &m, same) || m != n) return false;
    for (int32_t i = 0; i < n; i++)
      if (same[i] != dims[i]) return false;
    join_done[join] = true;
    return side_of_chain(layout, layout->rank + join, s);
  }
  int64_t weight = 1;
  for (int32_t i = 0; i < n; i++)
    weight *= tesela__max(1, layout->shape[dims[i]]); /* fits: a join of the other layout */
  s->n = 0;
  for (int32_t i = 0; i < n; i++) {
    side_steps dim;
    if (!side_of_chain(layout, dims[i], &dim)) return false;
    weight /= tesela__max(1, layout->shape[dims[i]]);
    for (int32_t k = 0; k < dim.n; k++)
      if (!add_step(s, dim.step[k] * weight, dim.stride[k])) return false;
    if (layout->shape[dims[i]] > 1 && (dim.n == 0 || dim.step[dim.n - 1] > 1) && !add_step(s, weight, 0))
      return false;
  }
  return true;
}

/* Make one coordinate of each join of `layout`, if the other side allows it. */
static void join_coordinates(problem_state *state, const tesela_layout *layout, bool *join_done,
                             const tesela_layout *other, bool *other_done, bool layout_is_dst) {
  for (int32_t j = 0; j < layout->n_joins; j++) {
    int32_t n, dims[TESELA_MAX_RANK];
    side_steps mine, theirs;
    if (join_done[j]) continue;
    if (!dims_of_join(layout, j, &n, dims) || !side_of_chain(layout, layout->rank + j, &mine) ||
        !other_side(other, n, dims, other_done, &theirs)) {
      set_no_sums(state->problem, "parts of dims are joined, or dims in different ways on each side");
      return;
    }
    int64_t extent = 1; /* the join itself may have room for more */
    for (int32_t i = 0; i < n; i++) {
      state->dim_done[dims[i]] = true;
      extent *= layout->shape[dims[i]];
    }
    add_coordinate(state->problem, extent, layout_is_dst ? &mine : &theirs, layout_is_dst ? &theirs : &mine);
  }
}

/* ---- the problem ------------------------------------------------------------------------------------------- */

static void add_replicas(tesela__problem *problem) {
  const tesela_layout *dst = problem->dst;
  for (int32_t i = dst->n_mapped; i < dst->n_active; i++) {
    const tesela_digit *digit = &dst->digit[i];
    if (digit->source != TESELA_REPLICA) continue;
    if (digit->axis < 0) set_no_sums(problem, "a replica is part of a join");
    problem->replica[problem->n_replicas++] = (tesela__loop){digit->extent, 0, digit->stride * dst->bits};
  }
}

void tesela__problem_set(tesela__problem *problem, const tesela_layout *dst, const tesela_layout *src) {
  problem_state state = {.problem = problem};
  problem->dst = dst;
  problem->src = src;
  problem->dst_bits = dst->bits;
  problem->dst_offset = dst->axis[0].offset * dst->bits;
  problem->src_offset = src->axis[0].offset * src->bits;
  problem->n_coordinates = problem->n_digits = problem->n_replicas = 0;
  problem->irregular = problem->no_sums = NULL;
  problem->sums.n = problem->sums.n_digits = 0;
  if (dst->swizzle.n || src->swizzle.n) set_no_sums(problem, "a swizzle mixes bits of the place");
  add_replicas(problem);
  join_coordinates(&state, dst, state.dst_join_done, src, state.src_join_done, true);
  join_coordinates(&state, src, state.src_join_done, dst, state.dst_join_done, false);
  for (int32_t d = 0; d < dst->rank && !problem->no_sums; d++) {
    side_steps to, from;
    if (state.dim_done[d] || dst->shape[d] == 1) continue;
    if (!side_of_chain(dst, d, &to) || !side_of_chain(src, d, &from))
      set_no_sums(problem, "parts of dims are joined, or dims in different ways on each side");
    else
      add_coordinate(problem, dst->shape[d], &to, &from);
  }
}
