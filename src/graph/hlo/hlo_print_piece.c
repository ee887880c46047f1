/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_print_piece.c - more nodes that HLO expresses exactly: lookups, pieces, views; and the notes of the others.
 */
#include "graph/hlo/hlo.h"

static void piece_word(tesela__hlo_printer *p, const char *opcode, const tesela_node *node, const char *key) {
  tesela__puts(p->sink, opcode);
  tesela__hlo_print_operands(p, node);
  if (!key) return;
  tesela__putf(p->sink, ", %s={", key);
  tesela__hlo_print_list(p->sink, node->n_dims, node->dim);
  tesela__putc(p->sink, '}');
}

/* Positions of x's dims in gather's result or scatter's values: all except those of the indices. */
static void piece_window(tesela__sink *sink, const tesela_node *node, int32_t x_rank, int32_t n_index) {
  int32_t places[TESELA_GRAPH_RANK], n = 0;
  for (int32_t d = 0; d < x_rank - 1; d++) places[n++] = d < node->dim[0] ? d : d + n_index;
  tesela__hlo_print_list(sink, n, places);
}

static bool piece_gather(tesela__hlo_printer *p, const tesela_node *node) {
  const tesela_node *x = tesela__graph_operand(p->graph, node, 0),
                    *i = tesela__graph_operand(p->graph, node, 1);
  int32_t d = node->dim[0];
  if (node->dtype != x->dtype) return false;
  for (int32_t e = 0; e < x->rank; e++)
    if (x->shape[e] > INT32_MAX) return false;
  if (!p->sink) return true;
  piece_word(p, "gather", node, NULL);
  tesela__puts(p->sink, ", offset_dims={");
  piece_window(p->sink, node, x->rank, i->rank);
  tesela__putf(p->sink, "}, collapsed_slice_dims={%" PRId32 "}, start_index_map={%" PRId32 "}", d, d);
  tesela__putf(p->sink, ", index_vector_dim=%" PRId32 ", slice_sizes={", i->rank);
  for (int32_t e = 0; e < x->rank; e++) {
    if (e > 0) tesela__putc(p->sink, ',');
    tesela__put_int(p->sink, e == d ? 1 : x->shape[e]);
  }
  tesela__putc(p->sink, '}');
  return true;
}

static bool piece_scatter(tesela__hlo_printer *p, const tesela_node *node) {
  const tesela_node *x = tesela__graph_operand(p->graph, node, 0),
                    *i = tesela__graph_operand(p->graph, node, 1);
  int32_t d = node->dim[0];
  if (node->in_place || node->dtype != x->dtype) return false;
  if (!p->sink) return true;
  piece_word(p, "scatter", node, NULL);
  tesela__puts(p->sink, ", update_window_dims={");
  piece_window(p->sink, node, x->rank, i->rank);
  tesela__putf(p->sink, "}, inserted_window_dims={%" PRId32 "}, scatter_dims_to_operand_dims={%" PRId32 "}",
               d, d);
  tesela__putf(p->sink, ", index_vector_dim=%" PRId32 ", to_apply=%%%s_%s", i->rank,
               node->fn == TESELA_FN_NONE ? "set" : "add", tesela_dtype_name(node->dtype));
  return true;
}

static bool piece_pad(tesela__hlo_printer *p, const tesela_node *node) {
  if (node->rank == 0 || node->dtype != tesela__graph_operand(p->graph, node, 0)->dtype ||
      tesela_dtype_family_of(node->dtype) == TESELA_FAMILY_COMPLEX || !tesela__hlo_plain_value(node))
    return false;
  if (!p->sink) return true;
  tesela__hlo_print_with_scalars(p, "pad", node, "value", -1);
  tesela__puts(p->sink, ", padding=");
  for (int32_t d = 0; d < node->rank; d++) {
    tesela__putf(p->sink, "%s%" PRId64 "_%" PRId64, d > 0 ? "x" : "", node->low[d], node->high[d]);
    if (node->step[d] > 1) tesela__putf(p->sink, "_%" PRId64, node->step[d] - 1);
  }
  return true;
}

static bool piece_expand(tesela__hlo_printer *p, const tesela_node *node) {
  const tesela_node *x = tesela__graph_operand(p->graph, node, 0);
  for (int32_t d = 0; d < x->rank; d++)
    if (x->shape[d] != node->shape[node->dim[d]]) return false;
  if (p->sink) piece_word(p, "broadcast", node, "dimensions");
  return true;
}

static bool piece_slice(tesela__hlo_printer *p, const tesela_node *node) {
  for (int32_t d = 0; d < node->rank; d++)
    if (node->step[d] < 1) return false;
  if (!p->sink) return true;
  piece_word(p, "slice", node, NULL);
  tesela__puts(p->sink, ", slice={");
  for (int32_t d = 0; d < node->rank; d++) {
    int64_t n = node->shape[d], last = n > 1 ? (n - 1) * node->step[d] : 0; /* inside the operand */
    tesela__putf(p->sink, "%s[%" PRId64 ":%" PRId64, d > 0 ? ", " : "", node->start[d],
                 node->start[d] + last + (n > 0));
    if (node->step[d] > 1) tesela__putf(p->sink, ":%" PRId64, node->step[d]);
    tesela__putc(p->sink, ']');
  }
  tesela__putc(p->sink, '}');
  return true;
}

bool tesela__hlo_print_piece(tesela__hlo_printer *p, const tesela_node *node) {
  switch (node->op) {
  case TESELA_OP_GATHER:
    return piece_gather(p, node);
  case TESELA_OP_SCATTER:
    return piece_scatter(p, node);
  case TESELA_OP_PAD:
    return piece_pad(p, node);
  case TESELA_OP_EXPAND:
    return piece_expand(p, node);
  case TESELA_OP_SLICE:
    return piece_slice(p, node);
  case TESELA_OP_CAT:
    if (node->dtype != tesela__graph_operand(p->graph, node, 0)->dtype) return false;
    if (p->sink) piece_word(p, "concatenate", node, "dimensions");
    return true;
  case TESELA_OP_PERMUTE:
    if (p->sink) piece_word(p, "transpose", node, "dimensions");
    return true;
  case TESELA_OP_RESHAPE:
    if (p->sink) piece_word(p, "reshape", node, NULL);
    return true;
  default:
    return false;
  }
}

/* ---- notes ---- */

static void note_put64(tesela__sink *sink, const char *key, int32_t n, const int64_t *list) {
  tesela__putf(sink, " %s=", key);
  for (int32_t i = 0; i < n; i++) {
    if (i > 0) tesela__putc(sink, ',');
    tesela__put_int(sink, list[i]);
  }
}

static void note_put32(tesela__sink *sink, const char *key, int32_t n, const int32_t *list) {
  tesela__putf(sink, " %s=", key);
  tesela__hlo_print_list(sink, n, list);
}

static void note_put_opcode(tesela__sink *sink, const char *opcode) {
  tesela__puts(sink, " opcode=");
  for (const char *c = opcode; *c; c++) {
    bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                 strchr("_.-+:@$/", *c);
    if (plain)
      tesela__putc(sink, *c);
    else
      tesela__putf(sink, "%%%02X", (unsigned)(unsigned char)*c);
  }
}

static void note_put_conv(tesela__sink *sink, const tesela_conv2d *conv) {
  const int32_t groups[3] = {conv->x[5], conv->w[5], conv->result[5]};
  note_put32(sink, "conv.x", 2 + conv->spatial, conv->x);
  note_put32(sink, "conv.w", 2 + conv->spatial, conv->w);
  note_put32(sink, "conv.result", 2 + conv->spatial, conv->result);
  if (conv->grouped) note_put32(sink, "conv.groups", 3, groups);
  note_put64(sink, "conv.stride", conv->spatial, conv->stride);
  note_put64(sink, "conv.dilation", conv->spatial, conv->dilation);
  note_put64(sink, "conv.x_dilation", conv->spatial, conv->x_dilation);
  note_put64(sink, "conv.low", conv->spatial, conv->low);
  note_put64(sink, "conv.high", conv->spatial, conv->high);
}

void tesela__hlo_print_note(tesela__hlo_printer *p, const tesela_node *node) {
  tesela__sink *sink = p->sink;
  bool steps = node->op == TESELA_OP_WRITE || node->op == TESELA_OP_SLICE;
  bool borders = node->op == TESELA_OP_PAD || node->op == TESELA_OP_POOL;
  tesela__puts(sink, tesela_op_name(node->op));
  if (node->fn != TESELA_FN_NONE) tesela__putf(sink, " fn=%s", tesela_fn_name(node->fn));
  if (node->opcode) note_put_opcode(sink, node->opcode);
  if (node->n_dims > 0) note_put32(sink, "dims", node->n_dims, node->dim);
  if (steps) note_put64(sink, "start", node->rank, node->start);
  if (steps || borders) note_put64(sink, "step", node->rank, node->step);
  if (borders) note_put64(sink, "low", node->rank, node->low);
  if (borders) note_put64(sink, "high", node->rank, node->high);
  if (node->op == TESELA_OP_POOL) {
    note_put64(sink, "length", node->rank, node->length);
    note_put64(sink, "dilation", node->rank, node->dilation);
    note_put64(sink, "x_dilation", node->rank, node->x_dilation);
  }
  if (node->op == TESELA_OP_MATMUL) {
    tesela__putf(sink, " labels=%" PRId32, node->n_labels);
    note_put32(sink, "x", tesela__graph_operand(p->graph, node, 0)->rank, node->label[0]);
    note_put32(sink, "y", tesela__graph_operand(p->graph, node, 1)->rank, node->label[1]);
  }
  if (node->op == TESELA_OP_CONV2D) note_put_conv(sink, &node->conv);
  if (node->op == TESELA_OP_CONSTANT || node->op == TESELA_OP_PAD) {
    tesela__puts(sink, " value=");
    tesela__hlo_put_number(sink, node->value);
  }
  if (node->op == TESELA_OP_INPUT) {
    tesela__putf(sink, " stick=%" PRId32, node->stick);
    note_put64(sink, "strides", node->rank, node->host_stride);
  }
  if (node->keepdim) tesela__puts(sink, " keepdim=1");
  if (node->reverse) tesela__puts(sink, " reverse=1");
  if (node->in_place) tesela__puts(sink, " in_place=1");
  if (node->dtype == TESELA_DTYPE_NONE) tesela__putf(sink, " bits=%" PRId32, node->bits);
}
