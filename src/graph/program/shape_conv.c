/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_conv.c - shape of conv2d: convolutions over 1 to 3 spatial dims, plain, in groups, or depthwise.
 *
 *   x[n,c,h,w] * w[o,i,h,w]            i = c                  result[n,o,h,w]
 *   x[n,g,c,h,w] * w[g,o,i,h,w]        i = c, in groups       result[n,g,o,h,w]
 *   x[n,g,h,w] * w[g,h,w]              depthwise              result[n,g,h,w]
 *
 * Along a spatial dim x is read at (stride * out + dilation * window - low) / x_dilation if that is an element.
 */
#include "graph/program/graph.h"

enum { CONV_ROLES = 6, CONV_SPATIAL = 2, CONV_GROUP = 5 };

/* Does the role have a dim in one of x, w, result? Then the other two must have one, too. */
static bool conv_counts(const tesela_conv2d *conv, int32_t role) {
  return role < CONV_SPATIAL + conv->spatial || (role == CONV_GROUP && conv->grouped);
}

/* Positions of the dims of one tensor. All 0: in order, groups before the channels (after the batch, `batch`). */
static tesela_status conv_positions(const char *what, bool batch, int32_t at[CONV_ROLES], int32_t *rank,
                                    const tesela_node *node, tesela_error *err) {
  const tesela_conv2d *conv = &node->conv;
  bool zeros = true;
  uint32_t seen = 0;
  *rank = 0;
  for (int32_t i = 0; i < CONV_ROLES; i++)
    if (conv_counts(conv, i)) zeros = zeros && at[i] == 0;
  for (int32_t i = 0, shift = conv->grouped; i < CONV_ROLES && zeros; i++)
    at[i] = i == CONV_GROUP ? batch : i + (i > 0 || !batch ? shift : 0);
  for (int32_t i = 0; i < CONV_ROLES; i++) {
    if (!conv_counts(conv, i)) at[i] = -1;
    *rank += at[i] != -1;
  }
  for (int32_t i = CONV_SPATIAL; i < CONV_ROLES; i++)
    if (at[i] == -1 && conv_counts(conv, i))
      return tesela__graph_fail(err, TESELA_E_RANGE, node, "conv.%s has no dim for %s", what,
                                i == CONV_GROUP ? "groups" : "a spatial dim");
  for (int32_t i = 0; i < CONV_ROLES; i++) {
    if (at[i] == -1) continue;
    if (at[i] < 0 || at[i] >= *rank)
      return tesela__graph_fail(err, TESELA_E_RANGE, node,
                                "conv.%s has dim %" PRId32 "; there are %" PRId32 " dims", what, at[i],
                                *rank);
    if (seen >> at[i] & 1)
      return tesela__graph_fail(err, TESELA_E_INVALID, node, "conv.%s has dim %" PRId32 " twice", what,
                                at[i]);
    seen |= (uint32_t)1 << at[i];
  }
  return TESELA_OK;
}

/* A dim that two of the tensors share is in both or in none. */
static tesela_status conv_both(const tesela_node *node, const char *what, int32_t a, int32_t b,
                               tesela_error *err) {
  if ((a < 0) == (b < 0)) return TESELA_OK;
  return tesela__graph_fail(err, TESELA_E_INVALID, node, "conv has %s on one side only", what);
}

static const char *conv_side(const tesela_conv2d *conv, int32_t i) {
  static const char *const side[3] = {"depth", "height", "width"};
  return side[i + 3 - conv->spatial];
}

/* The number of positions of a window of `k` elements over `n` elements of x: one dim of the result. */
static tesela_status conv_extent(tesela_node *node, int32_t i, int64_t n, int64_t k, int64_t *extent,
                                 tesela_error *err) {
  tesela_conv2d *conv = &node->conv;
  if (conv->stride[i] == 0) conv->stride[i] = 1;
  if (conv->dilation[i] == 0) conv->dilation[i] = 1;
  if (conv->x_dilation[i] == 0) conv->x_dilation[i] = 1;
  const tesela__window w = {conv->stride[i], conv->dilation[i], conv->x_dilation[i], conv->low[i],
                            conv->high[i]};
  if (w.stride < 1 || w.dilation < 1 || w.x_dilation < 1)
    return tesela__graph_fail(err, TESELA_E_RANGE, node,
                              "stride %" PRId64 ", dilation %" PRId64 " and x_dilation %" PRId64
                              " of the %s; expected 1 or more",
                              w.stride, w.dilation, w.x_dilation, conv_side(conv, i));
  if (tesela__window_places(n, k, &w, extent)) return TESELA_OK;
  return tesela__graph_fail(err, TESELA_E_OVERFLOW, node,
                            "the windows of the %s exceed 2^62, or are more than 2^32 apart",
                            conv_side(conv, i));
}

/* The attributes, completed; ranks of x, w and the result. */
static tesela_status conv_complete(const tesela_node_spec *spec, tesela_node *node, int32_t rank[3],
                                   tesela_error *err) {
  tesela_conv2d *conv = &node->conv;
  *conv = spec->conv;
  if (conv->spatial == 0) conv->spatial = 2;
  conv->grouped = conv->grouped != 0;
  if (conv->spatial < 1 || conv->spatial > 3)
    return tesela__graph_fail(err, TESELA_E_RANGE, node, "%" PRId32 " spatial dims; expected 1 to 3",
                              conv->spatial);
  for (int32_t i = conv->spatial; i < 3; i++) {
    conv->stride[i] = conv->dilation[i] = conv->x_dilation[i] = 1;
    conv->low[i] = conv->high[i] = 0;
  }
  tesela_status status = conv_positions("x", true, conv->x, &rank[0], node, err);
  if (status == TESELA_OK) status = conv_positions("w", false, conv->w, &rank[1], node, err);
  if (status == TESELA_OK) status = conv_positions("result", true, conv->result, &rank[2], node, err);
  if (status == TESELA_OK) status = conv_both(node, "a batch", conv->x[0], conv->result[0], err);
  if (status == TESELA_OK) status = conv_both(node, "an output channel", conv->w[0], conv->result[1], err);
  if (status == TESELA_OK) status = conv_both(node, "a channel", conv->x[1], conv->w[1], err);
  return status;
}

tesela_status tesela__shape_conv2d(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                   tesela_error *err) {
  const tesela_node *x = tesela__graph_operand(graph, node, 0), *w = tesela__graph_operand(graph, node, 1);
  const tesela_conv2d *conv = &node->conv;
  int32_t rank[3] = {0};
  tesela_status status = conv_complete(spec, node, rank, err);
  if (status != TESELA_OK) return status;
  if (x->rank != rank[0] || w->rank != rank[1]) {
    char left[TESELA__SHAPE_TEXT], right[TESELA__SHAPE_TEXT];
    return tesela__graph_fail(err, TESELA_E_INVALID, node,
                              "%s and %s must have %" PRId32 " dims and %" PRId32 " dims",
                              tesela__shape_text(left, x->rank, x->shape),
                              tesela__shape_text(right, w->rank, w->shape), rank[0], rank[1]);
  }
  if (conv->x[1] >= 0 && x->shape[conv->x[1]] != w->shape[conv->w[1]])
    return tesela__graph_fail(err, TESELA_E_INVALID, node,
                              "x has %" PRId64 " channels, but w has %" PRId64
                              "; groups need a dim of their own",
                              x->shape[conv->x[1]], w->shape[conv->w[1]]);
  if (conv->grouped && x->shape[conv->x[CONV_GROUP]] != w->shape[conv->w[CONV_GROUP]])
    return tesela__graph_fail(err, TESELA_E_INVALID, node, "x has %" PRId64 " groups, but w has %" PRId64,
                              x->shape[conv->x[CONV_GROUP]], w->shape[conv->w[CONV_GROUP]]);
  node->rank = rank[2];
  if (conv->result[0] >= 0) node->shape[conv->result[0]] = x->shape[conv->x[0]];
  if (conv->result[1] >= 0) node->shape[conv->result[1]] = w->shape[conv->w[0]];
  if (conv->grouped) node->shape[conv->result[CONV_GROUP]] = x->shape[conv->x[CONV_GROUP]];
  for (int32_t i = 0; i < conv->spatial && status == TESELA_OK; i++)
    status = conv_extent(node, i, x->shape[conv->x[CONV_SPATIAL + i]], w->shape[conv->w[CONV_SPATIAL + i]],
                         &node->shape[conv->result[CONV_SPATIAL + i]], err);
  if (status == TESELA_OK) tesela__graph_type_of_first(graph, node);
  return status;
}
