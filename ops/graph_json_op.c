/* SPDX-License-Identifier: Apache-2.0 */
/* graph_json_op.c - one operator of a program in JSON: its names and attributes. */
#include "graph_json_op.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A list of up to TESELA_GRAPH_RANK numbers, or one number where a list of one is meant. *at: NULL if it is not there. */
static bool graph_numbers(const jr_object *op, const char *key, int32_t *n, int64_t *room,
                          const int64_t **at) {
  *at = NULL;
  if (tesela_value_is(tesela_value_get(op->value, key), TESELA_VALUE_INT)) {
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
      return jr_fail(op, TESELA_E_RANGE, "%s.%s[%" PRId32 "] is %" PRId64 "; expected a 32-bit number",
                     op->name, key, k, from[k]);
    to[k] = (int32_t)from[k];
  }
  return true;
}

/* The letters of a conv's dims: batch, channel, spatial dims, groups. */
enum { CONV_ROLES = 6 };
static const char *const conv_letters[] = {"nc", "oi", "nc"}, *const conv_spatial[] = {"w", "hw", "dhw"};

/* An order of letters as places; each letter but those of the spatial dims may be left out. */
static bool graph_conv_places(const jr_object *in, const char *key, const char *order, const char *letters,
                              tesela_conv2d *conv, int32_t place[CONV_ROLES]) {
  char roles[CONV_ROLES] = {letters[0], letters[1], 0, 0, 0, 'g'};
  size_t used = 0;
  memcpy(roles + 2, conv_spatial[conv->spatial - 1], (size_t)conv->spatial);
  for (int32_t d = 0; d < CONV_ROLES; d++) {
    const char *at = roles[d] ? strchr(order, roles[d]) : NULL;
    place[d] = at ? (int32_t)(at - order) : -1;
    used += at != NULL;
    if (!at && d >= 2 && d < 2 + conv->spatial)
      return jr_fail(in, TESELA_E_INVALID, "conv.%s is %.20s; missing letter %c", key, order, roles[d]);
  }
  if (used != strlen(order))
    return jr_fail(in, TESELA_E_INVALID,
                   "conv.%s is %.20s; expected an order of the letters %s%s, and g for groups", key, order,
                   letters, conv_spatial[conv->spatial - 1]);
  return true;
}

/* How many spatial dims: from the letters of an order, else from a list of the window, else 2. */
static bool graph_conv_spatial(const jr_object *in, tesela_conv2d *conv) {
  static const char *const keys[] = {"x", "w", "result"};
  static const char *const lists[] = {"stride", "dilation", "x_dilation", "low", "high"};
  size_t n = 0;
  for (int k = 0; k < 3 && n == 0; k++) {
    const tesela_value *order = tesela_value_get(in->value, keys[k]);
    for (const char *c = tesela_value_is(order, TESELA_VALUE_TEXT) ? tesela_value_text(order) : ""; *c; c++)
      n += *c == 'd' || *c == 'h' || *c == 'w';
  }
  for (int k = 0; k < 5 && n == 0; k++) n = tesela_value_size(tesela_value_get(in->value, lists[k]));
  if (n > 3) return jr_fail(in, TESELA_E_RANGE, "conv has %zu spatial dims; expected 1 to 3", n);
  conv->spatial = n == 0 ? 2 : (int32_t)n;
  return true;
}

/* conv: {"x": "nchw", "w": "oihw", "result": "nchw", "stride": [1,1], "dilation": [1,1], "x_dilation": [1,1], "low": [0,0],
 * "high": [0,0]} */
static bool graph_conv(const jr_object *op, tesela_conv2d *conv) {
  static const char *const keys[] = {"x", "w", "result"};
  static const char *const lists[] = {"stride", "dilation", "x_dilation", "low", "high"};
  int32_t *const places[] = {conv->x, conv->w, conv->result};
  int64_t *const numbers[] = {conv->stride, conv->dilation, conv->x_dilation, conv->low, conv->high};
  jr_object in;
  if (!jr_member(op, "conv", false, &in)) return false;
  if (!in.value) return true;
  if (!jr_done(&in, "x|w|result|stride|dilation|x_dilation|low|high") || !graph_conv_spatial(&in, conv))
    return false;
  for (int k = 0; k < 3; k++) {
    char usual[8];
    const char *order;
    snprintf(usual, sizeof usual, "%s%s", conv_letters[k], conv_spatial[conv->spatial - 1]);
    if (!jr_text(&in, keys[k], usual, &order) ||
        !graph_conv_places(&in, keys[k], order, conv_letters[k], conv, places[k]))
      return false;
    if (places[k][5] >= 0) conv->grouped = 1;
  }
  for (int k = 0; k < 5; k++) {
    int32_t n = -1;
    if (!jr_ints(&in, lists[k], false, 3, &n, numbers[k])) return false;
    for (int32_t i = 0; n < 0 && i < 3; i++) numbers[k][i] = k < 3;
    if (n >= 0 && n != conv->spatial)
      return jr_fail(op, TESELA_E_INVALID, "conv.%s has %" PRId32 " numbers; expected %" PRId32, lists[k], n,
                     conv->spatial);
  }
  return true;
}

/* "value": a number, or what JSON has no number for: "inf", "-inf", "nan". */
static bool graph_value(const jr_object *op, double *value) {
  static const struct {
    const char *word;
    double value;
  } words[] = {{"inf", INFINITY}, {"-inf", -INFINITY}, {"nan", NAN}};
  const tesela_value *member = tesela_value_get(op->value, "value");
  if (!tesela_value_is(member, TESELA_VALUE_TEXT)) return jr_real(op, "value", 0, value);
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (strcmp(tesela_value_text(member), words[k].word) == 0) {
      *value = words[k].value;
      return true;
    }
  return jr_fail(op, TESELA_E_INVALID, "%s.value: expected number, or string inf, -inf or nan", op->name);
}

/* Labels of an operand's dims, in `label`. Without a count the labels are 0 to the largest one. */
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
      !graph_numbers(op, "dilation", &n, lists->dilation, &spec->dilation) ||
      !graph_numbers(op, "x_dilation", &n, lists->x_dilation, &spec->x_dilation) ||
      !graph_labels(op, "x_label", lists->label[0], &spec->x_label, spec) ||
      !graph_labels(op, "y_label", lists->label[1], &spec->y_label, spec))
    return false;
  spec->n_dims = dims ? spec->n_dims : 0;
  spec->rank = spec->shape ? spec->rank : 0;
  spec->dims = dims ? lists->dims : NULL;
  return graph_narrow(op, dims_key, spec->n_dims, lists->dims64, lists->dims) &&
         graph_conv(op, &spec->conv) && graph_value(op, &spec->value) &&
         jr_flag(op, "keepdim", &spec->keepdim) && jr_flag(op, "in_place", &spec->in_place) &&
         jr_flag(op, "reverse", &spec->reverse);
}

bool graph_json_check_lists(const tesela_graph *graph, const jr_object *op, const tesela_node_spec *spec) {
  static const char *const keys[] = {"start", "length", "step", "low", "high", "dilation", "x_dilation"};
  int32_t rank = spec->n_operands > 0 ? tesela_graph_node(graph, spec->operand[0])->rank : spec->rank;
  int32_t expected = spec->op == TESELA_OP_SLICE && spec->n_dims > 0 ? spec->n_dims : rank;
  if (spec->op == TESELA_OP_ALONG) expected = 1;
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    const tesela_value *list = tesela_value_get(op->value, keys[k]);
    size_t n = tesela_value_is(list, TESELA_VALUE_LIST) ? tesela_value_size(list)
               : list                                   ? 1
                                                        : (size_t)expected;
    if (n != (size_t)expected)
      return jr_fail(op, TESELA_E_INVALID, "%s.%s has %zu numbers; expected %" PRId32, op->name, keys[k], n,
                     expected);
  }
  int32_t y_rank = spec->n_operands > 1 ? tesela_graph_node(graph, spec->operand[1])->rank : 0;
  if ((spec->x_label && tesela_value_size(tesela_value_get(op->value, "x_label")) != (size_t)rank) ||
      (spec->y_label && tesela_value_size(tesela_value_get(op->value, "y_label")) != (size_t)y_rank))
    return jr_fail(op, TESELA_E_INVALID, "%s: the number of labels differs from the rank of the operand",
                   op->name);
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
      return jr_fail(op, TESELA_E_INVALID, "%s.opcode has a control character", op->name);
  int32_t number = tesela_op_find(name, strlen(name));
  if (number < 0 && tesela_fn_find(name, strlen(name)) > TESELA_FN_NONE)
    return jr_fail(op, TESELA_E_INVALID,
                   "%s: unknown op '%.40s'; it is a function, \"fn\" of pointwise, reduce, along or pool",
                   op->name, name);
  if (number < 0 || number == TESELA_OP_INPUT) {
    const char *near = tesela_nearest(name, strlen(name), graph_op_name, NULL);
    return jr_fail(op, TESELA_E_INVALID, "%s: unknown op '%.40s'%s%s%s", op->name, name,
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  }
  spec->op = (tesela_op)number;
  bool fused = spec->op == TESELA_OP_POINTWISE || spec->op == TESELA_OP_ALONG;
  number = fn ? tesela_fn_find(fn, strlen(fn)) : fused ? TESELA_FN_FUSED : TESELA_FN_NONE;
  if (number < 0) {
    const char *near = tesela_nearest(fn, strlen(fn), graph_fn_name, NULL);
    return jr_fail(op, TESELA_E_INVALID, "%s: unknown function '%.40s'%s%s%s", op->name, fn,
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
