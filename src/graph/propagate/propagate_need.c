/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_need.c - the rules of device.h: which layouts of an operand are compatible with which stick of the result.
 *
 * For each operand with a need and each label (the place of the result's stick): a set of candidates of the operand's buffer.
 * "Lane of d" is the answer of tesela_device_view_agrees for the operand's view.
 *
 *   result     lane of the result's stick dim; or always lane 0, and the same along that dim
 *   clean      lane of some dim, or always lane 0
 *   contracted lane of a contracted (summed) dim (of a convolution: the channels; depthwise: as result)
 *   column     lane of the result's stick dim, and only operand 1 has that dim (of a depthwise convolution: as result)
 *   not_indexed  as result; for a dim of the indices, lanes must not depend on the dim that is looked up
 *   seam       as result; if it is cut along the result's stick dim, it starts on a stick
 *   unfolded   lane of a dim that is not folded, or always lane 0; the dim that an operator runs along counts as folded
 *   last       lane of the operand's last dim
 *
 * A missing dim counts as one of extent 1: x[M,K] @ y[K] has a column of 1, so y and the result are in lanes 0. An unknown
 * agreement is not legal; neither is a need that refers to the result's dims if their relation to the operand's dims is
 * unknown. An operand of which no element is read is always legal.
 */
#include "graph/propagate/propagate.h"

/* An operand for one candidate: how[] of tesela__agreements. */
typedef struct need_case {
  const tesela__operand_axes *axes;
  const uint8_t *how;
  int32_t rank;   /* of the result: the label of one element per stick */
  int64_t lanes;  /* the greater of the operand's and the result's */
  int64_t extent; /* of the result dim that is the label; 1 for one element per stick */
  int32_t last;   /* last dim of the operand, or -1 */
} need_case;

static bool need_lane_zero(const need_case *c) {
  uint8_t how = c->how[c->axes->view.rank];
  return how == TESELA_AGREE_ALIGNED || how == TESELA_AGREE_BROADCAST;
}

static bool need_aligned(const need_case *c, int32_t axis) {
  if (!c->axes->plain[axis]) return c->axes->view.shape[axis] <= 1 && need_lane_zero(c);
  return c->how[axis] == TESELA_AGREE_ALIGNED;
}

/* The need "result", for a stick at `label`. */
static bool need_result(const need_case *c, int32_t label, bool seam) {
  const tesela__operand_axes *axes = c->axes;
  if (label < c->rank && axes->windows >> label & 1 && c->extent > 1) return false; /* lanes would shift */
  if (label == c->rank || axes->of_label[label] < 0) return need_lane_zero(c);
  int32_t a = axes->of_label[label];
  bool on_stick = axes->position[a] % c->lanes == 0;
  if (seam && !on_stick) return false;
  if (c->how[a] == TESELA_AGREE_BROADCAST) return true;
  if (axes->step[a] > 1 && axes->view.shape[a] > 1) /* at most one element per stick */
    return axes->step[a] >= c->lanes && on_stick && need_lane_zero(c);
  return c->how[a] == TESELA_AGREE_ALIGNED && on_stick;
}

/* The need "not_indexed": a result dim of the indices reads any element of the dim that is looked up. */
static bool need_not_indexed(const need_case *c, int32_t label, bool gather) {
  const tesela__operand_axes *axes = c->axes;
  int32_t looked = axes->lookup;
  if (looked < 0) return need_result(c, label, false);
  if (!gather && axes->label_of[looked] == label && c->extent > 1) return false;
  if (gather && label < c->rank && axes->of_label[label] < 0)
    return need_lane_zero(c) &&
           (c->extent <= 1 || axes->view.shape[looked] <= 1 || axes->view.stride[looked] == 0);
  return need_result(c, label, false);
}

static bool need_clean(const need_case *c) {
  for (int32_t a = 0; a < c->axes->view.rank; a++)
    if (need_aligned(c, a)) return true;
  return need_lane_zero(c);
}

static bool need_unfolded(const need_case *c) {
  for (int32_t a = 0; a < c->axes->view.rank; a++)
    if (!c->axes->folded[a] && need_aligned(c, a)) return true;
  return need_lane_zero(c);
}

/* A last dim without an axis has one element. */
static bool need_last(const need_case *c) {
  for (int32_t a = 0; a < c->axes->view.rank; a++)
    if (c->axes->dim[a] == c->last) return need_aligned(c, a);
  return need_lane_zero(c);
}

enum {
  NEED_DEPTHWISE = -2
}; /* a convolution without channels: groups are independent, as in pointwise operators */

/* `channel`: of a convolution, the axis of the channels; -1: any contracted dim counts. */
static bool need_contracted(const need_case *c, int32_t channel) {
  bool any = false;
  for (int32_t a = 0; a < c->axes->view.rank; a++) {
    if (!c->axes->folded[a] || (channel >= 0 && a != channel)) continue;
    any = true;
    if (need_aligned(c, a)) return true;
  }
  return !any && need_lane_zero(c);
}

static bool need_column(const need_case *c, int32_t label) {
  if (label == c->rank) return need_lane_zero(c); /* only without a column: see the result's rule */
  int32_t a = c->axes->of_label[label];
  return a < 0 ? need_lane_zero(c) : need_aligned(c, a);
}

/* Do the operand's lanes survive at `label`? */
static bool need_survives(const need_case *c, int32_t label) {
  for (int32_t a = 0; a < c->axes->view.rank; a++)
    if (need_aligned(c, a) && (c->axes->label_of[a] < 0 ? c->rank : c->axes->label_of[a]) == label)
      return true;
  return label == c->rank && need_lane_zero(c);
}

static bool need_met(tesela_need need, const need_case *c, int32_t label, int32_t channel, bool gather) {
  switch (need) {
  case TESELA_NEED_RESULT:
    return need_result(c, label, false);
  case TESELA_NEED_SEAM:
    return need_result(c, label, true);
  case TESELA_NEED_CLEAN:
    return need_clean(c);
  case TESELA_NEED_CONTRACTED:
    return channel == NEED_DEPTHWISE ? need_result(c, label, false) : need_contracted(c, channel);
  case TESELA_NEED_COLUMN:
    return channel == NEED_DEPTHWISE ? need_result(c, label, false) : need_column(c, label);
  case TESELA_NEED_NOT_INDEXED:
    return need_not_indexed(c, label, gather);
  case TESELA_NEED_UNFOLDED:
    return need_unfolded(c);
  case TESELA_NEED_LAST:
    return need_last(c);
  default:
    return true; /* any; "same" and "default" are judged by the buffer's layout */
  }
}

/* ---- an operand ---- */

bool tesela__need_follows(tesela_need need) {
  return need != TESELA_NEED_ANY && need != TESELA_NEED_CLEAN && need != TESELA_NEED_LAST &&
         need != TESELA_NEED_SAME && need != TESELA_NEED_DEFAULT;
}

/* The axis of the channels in an operand of a convolution. */
static int32_t need_channel(const tesela__need_operator *op, int32_t k, const tesela__operand_axes *axes) {
  if (op->node->op != TESELA_OP_CONV2D) return -1;
  if (op->node->conv.x[1] < 0) return NEED_DEPTHWISE;
  int32_t dim = k == 0 ? op->node->conv.x[1] : op->node->conv.w[1];
  for (int32_t a = 0; a < axes->view.rank; a++)
    if (axes->dim[a] == dim) return a;
  return -1;
}

tesela_status tesela__need_judge(const tesela__need_operator *op, const tesela_rule *rule, tesela__edge *edge,
                                 tesela_error *err) {
  tesela_propagation *p = op->p;
  tesela__operand_axes axes;
  int32_t family_number = op->seen ? op->seen_family : p->family[edge->buffer], agreements = 0;
  const tesela_node *tensor =
      op->seen ? op->seen : tesela_graph_node(p->graph, op->node->operand[edge->operand]);
  tesela_status status =
      tesela__operand_axes_on(p->graph, op->number, edge->operand, tensor, &op->iteration, &axes, err);
  if (status != TESELA_OK) return status;
  const tesela__family *family = &p->families[family_number];
  need_case c = {.axes = &axes,
                 .rank = op->node->rank,
                 .lanes = tesela__max(family->lanes, op->lanes),
                 .last = tensor->rank - 1};
  if (!axes.empty) {
    status = tesela__agreements_of(p, family_number, &axes.view, c.lanes, &agreements, err);
    if (status != TESELA_OK) return status;
    edge->unknown = p->agreements[agreements].unknown;
  }
  int32_t channel = need_channel(op, edge->operand, &axes);
  bool survives = op->survives && edge->operand == 0, gather = op->node->op == TESELA_OP_GATHER;
  for (int32_t label = 0; label <= c.rank; label++)
    for (int32_t k = 0; k < family->n; k++) {
      bool met = axes.empty, follow = axes.empty || !survives;
      c.extent = label == c.rank ? 1 : op->node->shape[label];
      if (!axes.empty) {
        c.how = p->agreements[agreements].how[k];
        met = !(axes.apart && tesela__need_follows(rule->need)) &&
              need_met(rule->need, &c, label, channel, gather);
        follow = follow || (!axes.apart && need_survives(&c, label));
      }
      if (met) edge->suits.need[label] |= tesela__stick_bit(k);
      if (follow) edge->suits.follow[label] |= tesela__stick_bit(k);
    }
  return TESELA_OK;
}
