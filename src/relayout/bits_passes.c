/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_passes.c - how the bytes of a tile move from the first buffer to the second one: in one pass, as any box does, or in two.
 *
 * Two are better where several short loops change places, which no kernel moves at once. Between the passes the loops have an order of their
 * own, so that each pass is a transpose, a weave or a copy of runs:
 *
 *   u8 [r,2,c,2] to 2 0 3 1      in one pass, blocks of 2 x 2 bytes
 *      0 2 3 1 in between        two rows are woven into one; then 4 bytes are an element of a transpose
 *
 * Tried are the orders of each side with one loop elsewhere, or with the last loops of the other side as its own last ones.
 */
#include "relayout/solve.h"

enum { PASS_LOOPS = 7 };

/* ---- orders ------------------------------------------------------------------------------------------------ */

/* The loops of a box by their numbers, the one of the longest steps first. */
typedef struct pass_order {
  int32_t n, loop[PASS_LOOPS];
} pass_order;

/* The order of a side, without the bytes of an element. False: it is not one of dense loops in a few. */
static bool order_of_side(const tesela__box *box, bool src, pass_order *order) {
  order->n = 0;
  for (int32_t i = 0; i < box->n_loops; i++) {
    const tesela__loop *l = &box->loop[i];
    const int64_t step = src ? l->ss : l->ds;
    if (l->ss <= 0 || l->ds <= 0) return false;
    if (l->ss == 8 && l->ds == 8) continue;
    if (order->n == PASS_LOOPS) return false;
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
static pass_order moved_order(pass_order order, int32_t from, int32_t to) {
  const int32_t loop = order.loop[from];
  for (; from < to; from++) order.loop[from] = order.loop[from + 1];
  for (; from > to; from--) order.loop[from] = order.loop[from - 1];
  order.loop[to] = loop;
  return order;
}

/* The last k loops of `other` are the last ones. */
static pass_order ended_order(pass_order order, const pass_order *other, int32_t k) {
  for (int32_t i = other->n - k; i < other->n; i++) {
    int32_t at = 0;
    while (order.loop[at] != other->loop[i]) at++;
    order = moved_order(order, at, order.n - 1);
  }
  return order;
}

/* ---- two passes -------------------------------------------------------------------------------------------- */

/* The boxes of both passes, with the loops in this order in between. */
static void set_pass_boxes(const tesela__box *box, const pass_order *order, tesela__box *pass) {
  int64_t between = 8;
  tesela__box_copy(&pass[0], box);
  tesela__box_copy(&pass[1], box);
  for (int32_t i = 0; i < box->n_loops; i++)
    if (box->loop[i].ss == 8 && box->loop[i].ds == 8) between *= box->loop[i].n;
  for (int32_t k = order->n - 1; k >= 0; k--) {
    const int32_t i = order->loop[k];
    pass[0].loop[i].ds = pass[1].loop[i].ss = between;
    between *= box->loop[i].n;
  }
  pass[0].dst = pass[1].src = 0;
}

/* Keep the order if its passes cost less than those found so far. */
static void try_order(tesela_plan *plan, const tesela__box *box, const pass_order *order,
                      tesela__pass_cost *pass_cost, tesela__bits_passes *found) {
  enum { EACH = 1, ENOUGH = 3 }; /* of a pass, beside what the costs say: they only rank */
  tesela__box pass[2];
  if (found->n == 2 && found->cost < ENOUGH) return;
  set_pass_boxes(box, order, pass);
  float cost = pass_cost(plan, &pass[0]) + 2 * EACH;
  if (cost >= found->cost) return;
  cost += pass_cost(plan, &pass[1]);
  if (cost >= found->cost) return;
  found->n = 2;
  found->cost = cost;
  for (int32_t i = 0; i < 2; i++) tesela__box_copy(&found->box[i], &pass[i]);
}

static void try_pass_orders(tesela_plan *plan, const tesela__box *box, const pass_order *order,
                            const pass_order *other, tesela__pass_cost *pass_cost,
                            tesela__bits_passes *found) {
  for (int32_t from = 0; from < order->n; from++)
    for (int32_t to = 0; to < order->n; to++) {
      if (to == from || to == from - 1) continue; /* the same, or moved from the loop before it */
      const pass_order one = moved_order(*order, from, to);
      try_order(plan, box, &one, pass_cost, found);
    }
  for (int32_t k = 2; k < order->n; k++) {
    const pass_order one = ended_order(*order, other, k);
    try_order(plan, box, &one, pass_cost, found);
  }
}

void tesela__bits_divide_pass(const tesela__job *job, tesela__pass_cost *pass_cost,
                              tesela__bits_passes *passes) {
  pass_order src, dst;
  tesela__box box;
  tesela__box_copy(&box, &passes->box[0]);
  if (!order_of_side(&box, true, &src) || !order_of_side(&box, false, &dst)) return;
  if (!job->random) {
    try_pass_orders(job->plan, &box, &src, &dst, pass_cost, passes);
    try_pass_orders(job->plan, &box, &dst, &src, pass_cost, passes);
  } else if (tesela__random(job->random) % 2) {
    for (int32_t i = 0; i < src.n; i++)
      src = moved_order(src, i, (int32_t)(tesela__random(job->random) % (uint64_t)src.n));
    set_pass_boxes(&box, &src, passes->box);
    passes->n = 2;
  }
  for (int32_t i = 0; i < passes->n; i++) tesela__box_simplify(&passes->box[i]);
}
