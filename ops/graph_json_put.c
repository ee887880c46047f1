/* SPDX-License-Identifier: Apache-2.0 */
/* graph_json_put.c - programs to JSON. What is printed reads back to an equal program. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph_json.h"

static void put_dims(tesela_sink *j, const char *key, int32_t n, const int32_t *values) {
  int64_t wide[TESELA_GRAPH_RANK];
  for (int32_t k = 0; k < n; k++) wide[k] = values[k];
  tesela_put_key_ints(j, key, n, wide);
}

static void put_list(tesela_sink *j, const char *key, int32_t n, const int64_t *values) {
  tesela_put_key_ints(j, key, n, values);
}

/* JSON has no number for these: "inf", "-inf", "nan". */
static void put_value(tesela_sink *j, double value) {
  tesela_put_key(j, "value");
  if (isfinite(value))
    tesela_put_real(j, value);
  else
    tesela_put_text(j, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

void graph_json_put_layout(tesela_sink *j, const tesela_device_layout *layout, bool with_stick) {
  int64_t size[TESELA_DEVICE_DIMS], map[TESELA_DEVICE_DIMS];
  tesela_device_sizes sizes;
  tesela_put_object(j);
  if (with_stick && tesela_device_stick(layout) >= TESELA_STICK_SPARSE)
    tesela_put_key_int(j, "stick", tesela_device_stick(layout));
  for (int32_t k = 0; k < layout->n_dims; k++) size[k] = layout->dim[k].extent;
  put_list(j, "device_size", layout->n_dims, size);
  if (tesela_device_stride_map(layout, NULL, map, NULL) == TESELA_OK)
    put_list(j, "stride_map", layout->n_dims, map);
  if (tesela_device_sizes_of(layout, NULL, &sizes, NULL) == TESELA_OK)
    tesela_put_key_int(j, "device_bytes", sizes.device_bytes);
  tesela_put_end(j);
}

static void put_conv(tesela_sink *j, const tesela_conv2d *conv) {
  static const char *const keys[] = {"x", "w", "result"}, *const letters[] = {"nc", "oi", "nc"},
                           *const spatial[] = {"w", "hw", "dhw"};
  const int32_t *const places[] = {conv->x, conv->w, conv->result};
  int32_t n = conv->spatial;
  tesela_put_key_object(j, "conv");
  for (int k = 0; k < 3; k++) {
    char order[8] = "";
    const char roles[6] = {letters[k][0],
                           letters[k][1],
                           spatial[n - 1][0],
                           spatial[n - 1][n > 1],
                           n > 2 ? spatial[n - 1][2] : '?',
                           'g'};
    for (int d = 0; d < 6; d++)
      if (places[k][d] >= 0 && places[k][d] < 7) order[places[k][d]] = roles[d];
    tesela_put_key_text(j, keys[k], order);
  }
  put_list(j, "stride", n, conv->stride);
  put_list(j, "dilation", n, conv->dilation);
  put_list(j, "x_dilation", n, conv->x_dilation);
  put_list(j, "low", n, conv->low);
  put_list(j, "high", n, conv->high);
  tesela_put_end(j);
}

/* The attributes that an operator has. */
static void put_attributes(tesela_sink *j, const tesela_graph *graph, const tesela_node *node) {
  int32_t rank = node->n_operands > 0 ? tesela_graph_node(graph, node->operand[0])->rank : node->rank;
  switch (node->op) {
  case TESELA_OP_CONSTANT:
    put_value(j, node->value);
    if (node->n_dims > 0) put_dims(j, "dims", node->n_dims, node->dim);
    break;
  case TESELA_OP_REDUCE:
    put_dims(j, "dims", node->n_dims, node->dim);
    tesela_put_key_bool(j, "keepdim", node->keepdim);
    break;
  case TESELA_OP_MATMUL:
    tesela_put_key_int(j, "labels", node->n_labels);
    put_dims(j, "x_label", rank, node->label[0]);
    put_dims(j, "y_label", tesela_graph_node(graph, node->operand[1])->rank, node->label[1]);
    break;
  case TESELA_OP_CONV2D:
    put_conv(j, &node->conv);
    break;
  case TESELA_OP_PAD:
    put_list(j, "low", rank, node->low);
    put_list(j, "high", rank, node->high);
    put_list(j, "step", rank, node->step);
    put_value(j, node->value);
    break;
  case TESELA_OP_POOL:
    put_list(j, "length", rank, node->length);
    put_list(j, "step", rank, node->step);
    put_list(j, "low", rank, node->low);
    put_list(j, "high", rank, node->high);
    put_list(j, "dilation", rank, node->dilation);
    put_list(j, "x_dilation", rank, node->x_dilation);
    break;
  case TESELA_OP_WRITE:
    put_list(j, "start", rank, node->start);
    put_list(j, "step", rank, node->step);
    break;
  case TESELA_OP_SLICE:
    put_list(j, "start", rank, node->start);
    put_list(j, "length", rank, node->shape);
    put_list(j, "step", rank, node->step);
    break;
  case TESELA_OP_ALONG:
    put_dims(j, "dims", node->n_dims, node->dim);
    tesela_put_key_int(j, "length", node->shape[node->dim[0]]);
    if (node->fn != TESELA_FN_FUSED) tesela_put_key_bool(j, "reverse", node->reverse);
    break;
  case TESELA_OP_GATHER:
  case TESELA_OP_SCATTER:
  case TESELA_OP_CAT:
  case TESELA_OP_PERMUTE:
  case TESELA_OP_SQUEEZE:
  case TESELA_OP_UNSQUEEZE:
  case TESELA_OP_EXPAND:
    put_dims(j, "dims", node->n_dims, node->dim);
    break;
  default:
    break;
  }
  if (node->in_place) tesela_put_key_bool(j, "in_place", true);
}

static void put_input(tesela_sink *j, const tesela_node *node) {
  tesela_put_key_object(j, node->name);
  put_list(j, "size", node->rank, node->shape);
  if (node->dtype != TESELA_DTYPE_NONE) tesela_put_key_text(j, "dtype", tesela_dtype_name(node->dtype));
  int64_t stride = 1;
  bool row_major = true;
  for (int32_t d = node->rank; d-- > 0; stride *= node->shape[d] > 0 ? node->shape[d] : 1)
    row_major = row_major && node->host_stride[d] == stride;
  if (!row_major) put_list(j, "strides", node->rank, node->host_stride);
  int32_t stick = node->layout ? tesela_device_stick(node->layout) : node->stick;
  if (stick >= TESELA_STICK_SPARSE) tesela_put_key_int(j, "stick", stick);
  tesela_put_end(j);
}

static bool gives_shape(tesela_op op) {
  return op == TESELA_OP_CONSTANT || op == TESELA_OP_FALLBACK || op == TESELA_OP_MATMUL ||
         op == TESELA_OP_RESHAPE || op == TESELA_OP_EXPAND;
}

static void put_op(tesela_sink *j, const tesela_graph *graph, const tesela_node *node) {
  tesela_put_object(j);
  tesela_put_key_text(j, "op", tesela_op_name(node->op));
  if (node->fn != TESELA_FN_NONE) tesela_put_key_text(j, "fn", tesela_fn_name(node->fn));
  if (node->opcode) tesela_put_key_text(j, "opcode", node->opcode);
  tesela_put_key_text(j, "out", node->name);
  tesela_put_key_list(j, "in");
  for (int32_t k = 0; k < node->n_operands; k++)
    tesela_put_text(j, tesela_graph_node(graph, node->operand[k])->name);
  tesela_put_end(j);
  if (gives_shape(node->op)) put_list(j, "size", node->rank, node->shape);
  if (node->dtype != TESELA_DTYPE_NONE) tesela_put_key_text(j, "dtype", tesela_dtype_name(node->dtype));
  put_attributes(j, graph, node);
  if (node->layout) {
    tesela_put_key(j, "layout");
    graph_json_put_layout(j, node->layout, true);
  }
  tesela_put_end(j);
}

const char *const graph_json_hints[] = {
    [TESELA_HINT_REQUIRE] = "require", [TESELA_HINT_FORBID] = "forbid",
    [TESELA_HINT_PREFER] = "prefer",   [TESELA_HINT_FORBID_MOVE] = "forbid_move",
    [TESELA_HINT_FREE] = "free",       NULL};

static void put_hint(tesela_sink *j, const tesela_graph *graph, const tesela_hint *hint) {
  tesela_put_object(j);
  tesela_put_key_text(j, "node", tesela_graph_node(graph, hint->node)->name);
  tesela_put_key_text(j, "kind", graph_json_hints[hint->kind]);
  if (hint->kind == TESELA_HINT_FORBID_MOVE)
    tesela_put_key_int(j, "operand", hint->operand);
  else if (hint->kind != TESELA_HINT_FREE)
    tesela_put_key_int(j, "stick", hint->stick);
  if (hint->kind == TESELA_HINT_PREFER) tesela_put_key_int(j, "price", hint->price);
  tesela_put_end(j);
}

void tesela_put_graph(tesela_sink *j, const tesela_graph *graph) {
  const tesela_node *node;
  const tesela_hint *hint;
  if (!j || j->stopped) return;
  tesela_put_object(j);
  for (int32_t k = 0; (node = tesela_graph_node(graph, k)); k++) /* tensors without a type have one width */
    if (node->dtype == TESELA_DTYPE_NONE) {
      tesela_put_key_int(j, "elem_bytes", node->bits / 8);
      break;
    }
  tesela_put_key_object(j, "inputs");
  for (int32_t k = 0; (node = tesela_graph_node(graph, k)); k++)
    if (node->op == TESELA_OP_INPUT) put_input(j, node);
  tesela_put_end(j);
  tesela_put_key_list(j, "ops");
  for (int32_t k = 0; (node = tesela_graph_node(graph, k)) && !j->stopped; k++)
    if (node->op != TESELA_OP_INPUT) put_op(j, graph, node);
  tesela_put_end(j);
  tesela_put_key_list(j, "outputs");
  for (int32_t k = 0; k < tesela_graph_n_outputs(graph); k++)
    tesela_put_text(j, tesela_graph_node(graph, tesela_graph_output(graph, k))->name);
  tesela_put_end(j);
  if (tesela_graph_hint_count(graph) > 0) {
    tesela_put_key_list(j, "hints");
    for (int32_t k = 0; (hint = tesela_graph_hint_at(graph, k)); k++) put_hint(j, graph, hint);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}
