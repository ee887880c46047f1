/* SPDX-License-Identifier: Apache-2.0 */
/* graph_json_op.c - one operator of a program in JSON: its names and attributes. */
#include "graph_json_op.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "nearest.h"

/* A list of up to TESELA_GRAPH_RANK numbers, or one number where a list of one is meant. *at: NULL if it is not there. */
static bool graph_numbers(const jr_object *op, const char *key, int32_t *n, int64_t *room,
                          const int64_t **at) {
  *at = NULL;
  if (json_is_integer(json_object_get(op->value, key))) {
    *n = 1;
    *at = room;
    return jr_int(op, key, 0, room);
  }
  if (!jr_ints(op, key, false, TESELA_GRAPH_RANK, n, room)) return false;
  if (*n >= 0) *at = room;
  return true;
}

static bool graph_narrow(const jr_object *op, const char *key, int32_t n, const int64_t *from, int32_t *to) {
  for (int32_t k = 0; k < n; k++) {
    if (from[k] < INT32_MIN || from[k] > INT32_MAX)
      return jr_fail(op, TESELA_E_RANGE, "%s.%s[%" PRId32 "] is %" PRId64, op->name, key, k, from[k]);
    to[k] = (int32_t)from[k];
  }
  return true;
}

/* conv: {"x": "nchw", "w": "oihw", "result": "nchw", "stride": [1,1], "dilation": [1,1], "low": [0,0], "high": [0,0]} */
static bool graph_conv(const jr_object *op, tesela_conv2d *conv) {
  static const char *const keys[] = {"x", "w", "result"}, *const usual[] = {"nchw", "oihw", "nchw"};
  static const char *const pairs[] = {"stride", "dilation", "low", "high"};
  int32_t *const dims[] = {conv->x, conv->w, conv->result};
  int64_t *const numbers[] = {conv->stride, conv->dilation, conv->low, conv->high};
  jr_object in;
  if (!jr_member(op, "conv", false, &in)) return false;
  if (in.value && !jr_done(&in, "x|w|result|stride|dilation|low|high")) return false;
  for (int k = 0; k < 3; k++) {
    const char *order = usual[k];
    if (in.value && !jr_text(&in, keys[k], usual[k], &order)) return false;
    for (int d = 0; d < 4; d++) {
      const char *at = strchr(order, usual[k][d]);
      if (!at || strlen(order) != 4)
        return jr_fail(op, TESELA_E_INVALID, "conv.%s is %.20s; it takes an order of %s", keys[k], order,
                       usual[k]);
      dims[k][d] = (int32_t)(at - order);
    }
  }
  for (int k = 0; k < 4; k++) {
    int32_t n = -1;
    if (in.value && !jr_ints(&in, pairs[k], false, 2, &n, numbers[k])) return false;
    if (n < 0) numbers[k][0] = numbers[k][1] = k < 2 ? 1 : 0;
    if (n >= 0 && n != 2) return jr_fail(op, TESELA_E_INVALID, "conv.%s takes two numbers", pairs[k]);
  }
  return true;
}

/* "value": a number, or what JSON has no number for: "inf", "-inf", "nan". */
static bool graph_value(const jr_object *op, double *value) {
  static const struct {
    const char *word;
    double value;
  } words[] = {{"inf", INFINITY}, {"-inf", -INFINITY}, {"nan", NAN}};
  const json_t *member = json_object_get(op->value, "value");
  if (!json_is_string(member)) return jr_real(op, "value", 0, value);
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (strcmp(json_string_value(member), words[k].word) == 0) {
      *value = words[k].value;
      return true;
    }
  return jr_fail(op, TESELA_E_INVALID, "%s.value takes this: number, or inf, -inf or nan as a string",
                 op->name);
}

/* Labels of an operand's dims, in `label`. Without a count the labels are those from 0 to the largest one. */
static bool graph_labels(const jr_object *op, const char *key, int32_t label[TESELA_GRAPH_RANK],
                         const int32_t **at, tesela_node_spec *spec) {
  int64_t room[TESELA_GRAPH_RANK];
  const int64_t *wide;
  int32_t n;
  if (!graph_numbers(op, key, &n, room, &wide) || !graph_narrow(op, key, wide ? n : 0, room, label))
    return false;
  for (int32_t k = 0; wide && k < n && !jr_has(op, "labels"); k++)
    if (label[k] >= spec->n_labels && label[k] < TESELA_GRAPH_ITERATION) spec->n_labels = label[k] + 1;
  *at = wide ? label : NULL;
  return true;
}

bool graph_json_attributes(const jr_object *op, graph_lists *lists, tesela_node_spec *spec) {
  const int64_t *dims;
  int32_t n;
  int64_t labels;
  const char *dims_key = jr_has(op, "dim") ? "dim" : "dims";
  if (!jr_int_in(op, "labels", 0, 0, TESELA_GRAPH_ITERATION, &labels)) return false;
  spec->n_labels = (int32_t)labels;
  if (!graph_numbers(op, "size", &spec->rank, lists->shape, &spec->shape) ||
      !graph_numbers(op, dims_key, &spec->n_dims, lists->dims64, &dims) ||
      !graph_numbers(op, "start", &n, lists->start, &spec->start) ||
      !graph_numbers(op, "length", &n, lists->length, &spec->length) ||
      !graph_numbers(op, "step", &n, lists->step, &spec->step) ||
      !graph_numbers(op, "low", &n, lists->low, &spec->low) ||
      !graph_numbers(op, "high", &n, lists->high, &spec->high) ||
      !graph_labels(op, "x_label", lists->label[0], &spec->x_label, spec) ||
      !graph_labels(op, "y_label", lists->label[1], &spec->y_label, spec))
    return false;
  spec->n_dims = dims ? spec->n_dims : 0;
  spec->rank = spec->shape ? spec->rank : 0;
  spec->dims = dims ? lists->dims : NULL;
  return graph_narrow(op, dims_key, spec->n_dims, lists->dims64, lists->dims) &&
         graph_conv(op, &spec->conv) && graph_value(op, &spec->value) &&
         jr_flag(op, "keepdim", &spec->keepdim) && jr_flag(op, "in_place", &spec->in_place);
}

bool graph_json_check_lists(const tesela_graph *graph, const jr_object *op, const tesela_node_spec *spec) {
  static const char *const keys[] = {"start", "length", "step", "low", "high"};
  int32_t rank = spec->n_operands > 0 ? tesela_graph_node(graph, spec->operand[0])->rank : spec->rank;
  int32_t expected = spec->op == TESELA_OP_SLICE && spec->n_dims > 0 ? spec->n_dims : rank;
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    const json_t *list = json_object_get(op->value, keys[k]);
    size_t n = json_is_array(list) ? json_array_size(list) : list ? 1 : (size_t)expected;
    if (n != (size_t)expected)
      return jr_fail(op, TESELA_E_INVALID, "%s.%s has %zu numbers; it takes %" PRId32, op->name, keys[k], n,
                     expected);
  }
  int32_t y_rank = spec->n_operands > 1 ? tesela_graph_node(graph, spec->operand[1])->rank : 0;
  if ((spec->x_label && json_array_size(json_object_get(op->value, "x_label")) != (size_t)rank) ||
      (spec->y_label && json_array_size(json_object_get(op->value, "y_label")) != (size_t)y_rank))
    return jr_fail(op, TESELA_E_INVALID, "%s has labels for another rank than its operands'", op->name);
  return true;
}

static const char *graph_op_name(const void *user, int i) {
  (void)user;
  return tesela_op_name((tesela_op)i);
}

static const char *graph_fn_name(const void *user, int i) {
  (void)user;
  return tesela_fn_name((tesela_fn)i);
}

bool graph_json_names(const jr_object *op, tesela_node_spec *spec) {
  const char *name, *fn;
  if (!jr_text(op, "op", JR_TEXT_NEEDED, &name) || !jr_text(op, "out", NULL, &spec->name) ||
      !jr_text(op, "fn", NULL, &fn) || !jr_text(op, "opcode", NULL, &spec->opcode))
    return false;
  for (const char *at = spec->opcode; at && *at; at++)
    if ((unsigned char)*at < ' ' || *at == 0x7f)
      return jr_fail(op, TESELA_E_INVALID, "%s.opcode has a control character in it", op->name);
  int32_t number = tesela_op_find(name, strlen(name));
  if (number < 0 || number == TESELA_OP_INPUT) {
    const char *near = nearest(name, graph_op_name, NULL);
    return jr_fail(op, TESELA_E_INVALID, "%s: there is no op %.40s%s%s%s", op->name, name,
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  }
  spec->op = (tesela_op)number;
  number = fn                                ? tesela_fn_find(fn, strlen(fn))
           : spec->op == TESELA_OP_POINTWISE ? TESELA_FN_FUSED
                                             : TESELA_FN_NONE;
  if (number < 0) {
    const char *near = nearest(fn, graph_fn_name, NULL);
    return jr_fail(op, TESELA_E_INVALID, "%s: there is no function %.40s%s%s%s", op->name, fn,
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  }
  spec->fn = (tesela_fn)number;
  return true;
}

void graph_json_fit_function(tesela_node_spec *spec) {
  int32_t operands = tesela_fn_operands(spec->fn);
  if (spec->op == TESELA_OP_POINTWISE && operands > 0 && operands != spec->n_operands)
    spec->fn = TESELA_FN_FUSED;
}
