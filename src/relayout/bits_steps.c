/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_steps.c - how the bytes of a tile move from the first buffer to the second one: in one step, as any box does, or in two.
 *
 * Two are better where several short loops change places, which no kernel moves at once. Between the steps the loops have an order of their
 * own, so that each step is a transpose, a weave or a copy of runs:
 *
 *   u8 [r,2,c,2] to {0,2,3,1}     in one step, blocks of 2 x 2 bytes
 *      [r,c,2,2] in between       two rows are woven into one; then 4 bytes are an element of a transpose
 *
 * Tried are the orders of each side with one loop elsewhere, or with the last loops of the other side as its own last ones.
 */
#include "relayout/solve.h"

enum { STEP_LOOPS = 7 };

/* ---- orders ------------------------------------------------------------------------------------------------ */

/* The loops of a box by their numbers, the one of the longest steps first. */
typedef struct step_order {
  int32_t n, loop[STEP_LOOPS];
} step_order;

/* The order of a side, without the bytes of an element. False: it is not one of dense loops in a few. */
static bool order_of_side(const tesela__box *box, bool src, step_order *order) {
  order->n = 0;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const tesela__loop *l = &box->loop[i];
    const int64_t step = src ? l->ss : l->ds;
    if (l->ss <= 0 || l->ds <= 0) return false;
    if (l->ss == 8 && l->ds == 8) continue;
    if (order->n == STEP_LOOPS) return false;
    int32_t k = order->n++;
    for (; k > 0; k--) {
      const tesela__loop *before = &box->loop[order->loop[k - 1]];
      if ((src ? before->ss : before->ds) >= step) break;
      order->loop[k] = order->loop[k - 1];
    }
    order->loop[k] = i;
  }
  return order->n > 2;
}

/* Loop number `from` of the order becomes number `to`. */
static step_order moved_order(step_order order, int32_t from, int32_t to) {
  const int32_t loop = order.loop[from];
  for (; from < to; from++) order.loop[from] = order.loop[from + 1];
  for (; from > to; from--) order.loop[from] = order.loop[from - 1];
  order.loop[to] = loop;
  return order;
}

/* The last k loops of `other` are the last ones. */
static step_order ended_order(step_order order, const step_order *other, int32_t k) {
  for (int32_t i = other->n - k; i < other->n; i++) {
    int32_t at = 0;
    while (order.loop[at] != other->loop[i]) at++;
    order = moved_order(order, at, order.n - 1);
  }
  return order;
}

/* ---- two steps --------------------------------------------------------------------------------------------- */

/* The boxes of both steps, with the loops in this order in between. */
static void set_step_boxes(const tesela__box *box, const step_order *order, tesela__box *step) {
  int64_t between = 8;
  tesela__box_copy(&step[0], box);
  tesela__box_copy(&step[1], box);
  for (int32_t i = 0; i < box->n_loops; i++)
    if (box->loop[i].ss == 8 && box->loop[i].ds == 8) between *= box->loop[i].n;
  for (int32_t k = order->n - 1; k >= 0; k--) {
    const int32_t i = order->loop[k];
    step[0].loop[i].ds = step[1].loop[i].ss = between;
    between *= box->loop[i].n;
  }
  step[0].dst = step[1].src = 0;
}

/* Keep the order if its steps cost less than those found so far. */
static void try_order(tesela_plan *plan, const tesela__box *box, const step_order *order,
                      tesela__step_cost *step_cost, tesela__bits_steps *found) {
  enum { EACH = 1 }; /* of a step, beside what the costs say: they only rank */
  tesela__box step[2];
  set_step_boxes(box, order, step);
  float cost = step_cost(plan, &step[0]) + 2 * EACH;
  if (cost >= found->cost) return;
  cost += step_cost(plan, &step[1]);
  if (cost >= found->cost) return;
  found->n = 2;
  found->cost = cost;
  for (int32_t i = 0; i < 2; i++) tesela__box_copy(&found->box[i], &step[i]);
}

static void try_step_orders(tesela_plan *plan, const tesela__box *box, const step_order *order,
                            const step_order *other, tesela__step_cost *step_cost,
                            tesela__bits_steps *found) {
  for (int32_t from = 0; from < order->n; from++)
    for (int32_t to = 0; to < order->n; to++) {
      const step_order one = moved_order(*order, from, to);
      if (to != from && to != from - 1) try_order(plan, box, &one, step_cost, found);
    }
  for (int32_t k = 2; k < order->n; k++) {
    const step_order one = ended_order(*order, other, k);
    try_order(plan, box, &one, step_cost, found);
  }
}

void tesela__bits_divide_step(const tesela__job *job, tesela__step_cost *step_cost,
                              tesela__bits_steps *steps) {
  step_order src, dst;
  tesela__box box;
  tesela__box_copy(&box, &steps->box[0]);
  if (!order_of_side(&box, true, &src) || !order_of_side(&box, false, &dst)) return;
  if (!job->random) {
    try_step_orders(job->plan, &box, &src, &dst, step_cost, steps);
    try_step_orders(job->plan, &box, &dst, &src, step_cost, steps);
  } else if (tesela__random(job->random) % 2) {
    for (int32_t i = 0; i < src.n; i++)
      src = moved_order(src, i, (int32_t)(tesela__random(job->random) % (uint64_t)src.n));
    set_step_boxes(&box, &src, steps->box);
    steps->n = 2;
  }
  for (int32_t i = 0; i < steps->n; i++) tesela__box_simplify(&steps->box[i]);
}
