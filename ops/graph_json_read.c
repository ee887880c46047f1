/* SPDX-License-Identifier: Apache-2.0 */
/* graph_json_read.c - programs from JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_json_op.h"
#include "json_device.h"
#include "request.h"

/* What a node is made from while it is read. */
typedef struct graph_reader {
  const jr_object *in;
  tesela_graph *graph;
  int32_t bits; /* of tensors without a type */
} graph_reader;

/* A fallback may give a token, which has no memory. */
static bool graph_dtype(const graph_reader *r, const jr_object *op, tesela_node_spec *spec) {
  const tesela_value *name = tesela_value_get(op->value, "dtype");
  spec->bits = r->bits;
  if (spec->op == TESELA_OP_FALLBACK && tesela_value_is(name, TESELA_VALUE_TEXT) &&
      strcmp(tesela_value_text(name), "token") == 0) {
    spec->dtype = TESELA_TOKEN;
    return true;
  }
  return json_device_dtype(op, &spec->dtype);
}

/* "stick": a dim, or -1 for one element per stick, or "free". */
static bool graph_stick(const jr_object *op, int32_t *stick) {
  const tesela_value *value = tesela_value_get(op->value, "stick");
  int64_t number;
  *stick = TESELA_STICK_FREE;
  if (!value || (tesela_value_is(value, TESELA_VALUE_TEXT) && strcmp(tesela_value_text(value), "free") == 0))
    return true;
  if (!jr_int_in(op, "stick", 0, TESELA_STICK_SPARSE, TESELA_GRAPH_RANK - 1, &number)) return false;
  *stick = (int32_t)number;
  return true;
}

static bool graph_input(const graph_reader *r, const char *name, const tesela_value *value) {
  jr_object op = {value, name, r->in->err, NULL};
  tesela_node_spec spec = {.op = TESELA_OP_INPUT, .name = name};
  graph_lists lists;
  int32_t n;
  if (!tesela_value_is(value, TESELA_VALUE_OBJECT))
    return jr_fail(&op, TESELA_E_INVALID, "input %.60s: expected object, found %s", name,
                   ops_value_words(value));
  if (!jr_done(&op, "size|dtype|stick|strides|free") ||
      !jr_ints(&op, "size", true, TESELA_GRAPH_RANK, &spec.rank, lists.shape) ||
      !jr_ints(&op, "strides", false, TESELA_GRAPH_RANK, &n, lists.strides) || !graph_dtype(r, &op, &spec) ||
      !graph_stick(&op, &spec.stick))
    return false;
  if (n >= 0 && n != spec.rank)
    return jr_fail(&op, TESELA_E_INVALID, "input %.60s has %" PRId32 " strides; expected %" PRId32, name, n,
                   spec.rank);
  spec.shape = lists.shape;
  spec.strides = n >= 0 ? lists.strides : NULL;
  return tesela_graph_add(r->graph, &spec, NULL, r->in->err) == TESELA_OK;
}

static const char *graph_node_name(const void *user, int i) {
  const tesela_node *node = tesela_graph_node(user, i);
  return node ? node->name : NULL;
}

/* The node that a name refers to. */
static bool graph_use(const graph_reader *r, const char *where, const tesela_value *name, int32_t *node) {
  jr_object op = {NULL, where, r->in->err, NULL};
  if (!tesela_value_is(name, TESELA_VALUE_TEXT))
    return jr_fail(&op, TESELA_E_INVALID, "%s: expected string as the name of a node, found %s", where,
                   ops_value_words(name));
  if (strlen(tesela_value_text(name)) != tesela_value_length(name))
    return jr_fail(&op, TESELA_E_INVALID, "%s: the name of a node has a NUL character", where);
  *node = tesela_graph_find(r->graph, tesela_value_text(name));
  if (*node >= 0) return true;
  const char *near =
      tesela_nearest(tesela_value_text(name), tesela_value_length(name), graph_node_name, r->graph);
  return jr_fail(&op, TESELA_E_INVALID, "%s uses '%.60s', which is not defined before it%s%s%s", where,
                 tesela_value_text(name), near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static bool graph_operands(const graph_reader *r, const jr_object *op, graph_lists *lists,
                           tesela_node_spec *spec) {
  const tesela_value *in;
  if (!jr_list(op, "in", false, &in)) return false;
  size_t n = tesela_value_size(in);
  if (n > 1 << 16)
    return jr_fail(op, TESELA_E_LIMIT, "%s has %zu operands; expected 65536 or fewer", op->name, n);
  lists->operand = n > 0 ? malloc(n * sizeof *lists->operand) : NULL;
  if (n > 0 && !lists->operand) return jr_fail(op, TESELA_E_MEMORY, "no memory for %zu operands", n);
  for (size_t k = 0; k < n; k++)
    if (!graph_use(r, op->name, tesela_value_at(in, k), &lists->operand[k])) return false;
  spec->n_operands = (int32_t)n;
  spec->operand = lists->operand;
  return true;
}

/* Products and convolutions need lanes of their operands. A view of a constant has those of the constant; a constant of the view's
 * own shape may have any. */
static bool graph_constants(const graph_reader *r, const jr_object *op, const tesela_node_spec *spec,
                            graph_lists *lists) {
  if (spec->op != TESELA_OP_MATMUL && spec->op != TESELA_OP_CONV2D) return true;
  for (int32_t k = 0; k < spec->n_operands; k++) {
    const tesela_node *shown = tesela_graph_node(r->graph, lists->operand[k]);
    const tesela_node *constant = tesela_graph_constant(r->graph, lists->operand[k]);
    int64_t shape[TESELA_GRAPH_RANK];
    char name[200];
    if (!constant || !shown->view) continue;
    memcpy(shape, shown->shape, (size_t)shown->rank * sizeof *shape); /* the graph grows */
    snprintf(name, sizeof name, "%.160s.constant%" PRId32, spec->name ? spec->name : "", k);
    tesela_node_spec own = {.op = TESELA_OP_CONSTANT,
                            .name = spec->name && tesela_graph_find(r->graph, name) < 0 ? name : NULL,
                            .dtype = constant->dtype,
                            .rank = shown->rank,
                            .shape = shape,
                            .value = constant->value};
    if (tesela_graph_add(r->graph, &own, &lists->operand[k], op->err) != TESELA_OK) return false;
  }
  return true;
}

/* A program that was printed with layouts: their sticks are required. */
static bool graph_layout(const graph_reader *r, const jr_object *op, int32_t node) {
  jr_object layout;
  int64_t stick;
  if (!jr_member(op, "layout", false, &layout)) return false;
  if (!layout.value) return true;
  if (!jr_done(&layout, "stick|device_size|stride_map|device_bytes")) return false;
  if (jr_has(&layout, "device_size") && !jr_has(&layout, "stick"))
    return true; /* several dims share a stick */
  if (!jr_int_in(&layout, "stick", JR_NEEDED, TESELA_STICK_SPARSE, TESELA_GRAPH_RANK - 1, &stick))
    return false;
  tesela_hint hint = {.kind = TESELA_HINT_REQUIRE, .node = node, .stick = (int32_t)stick};
  return tesela_graph_hint(r->graph, &hint, r->in->err) == TESELA_OK;
}

/* Begin the message with the operator, if it does not yet. Returns false. */
static bool graph_where(const jr_object *op) {
  tesela_error *err = op->err, was = *err;
  if (strncmp(err->message, "ops[", 4) == 0) return false;
  jr_fail(op, was.status, "%s: %s", op->name, was.message);
  return false;
}

static bool graph_op(const graph_reader *r, size_t i, const tesela_value *value) {
  char where[80];
  jr_object op = {value, where, r->in->err, NULL};
  tesela_node_spec spec = {.stick = TESELA_STICK_FREE};
  graph_lists lists = {0};
  int32_t node;
  snprintf(where, sizeof where, "ops[%zu]", i);
  if (!tesela_value_is(value, TESELA_VALUE_OBJECT))
    return jr_fail(&op, TESELA_E_INVALID, "ops[%zu]: expected object, found %s", i, ops_value_words(value));
  bool ok = jr_done(&op, "op|out|in|fn|opcode|dtype|size|dims|dim|start|length|step|low|high|dilation|x_"
                         "dilation|value|keepdim|"
                         "reverse|in_place|labels|x_label|y_label|conv|layout") &&
            graph_json_names(&op, &spec);
  if (ok && spec.name) snprintf(where, sizeof where, "ops[%zu] (%.40s)", i, spec.name);
  ok = ok && graph_operands(r, &op, &lists, &spec) && graph_json_attributes(&op, &lists, &spec) &&
       graph_dtype(r, &op, &spec) && graph_json_check_lists(r->graph, &op, &spec) &&
       graph_constants(r, &op, &spec, &lists);
  if (ok) {
    graph_json_fit_function(&spec);
    tesela_error err = {.at = -1};
    tesela_status status = tesela_graph_add(r->graph, &spec, &node, &err);
    ok = status == TESELA_OK || jr_fail(&op, status, "%s: %s", where, err.message);
    ok = ok && graph_layout(r, &op, node);
  }
  free(lists.operand);
  return ok || graph_where(&op);
}

static bool graph_hint(const graph_reader *r, size_t i, const tesela_value *value) {
  char where[40];
  jr_object in = {value, where, r->in->err, NULL};
  const char *kind;
  int64_t stick, operand;
  tesela_hint hint = {0};
  snprintf(where, sizeof where, "hints[%zu]", i);
  if (!tesela_value_is(value, TESELA_VALUE_OBJECT))
    return jr_fail(&in, TESELA_E_INVALID, "hints[%zu]: expected object, found %s", i, ops_value_words(value));
  if (!jr_done(&in, "node|kind|stick|operand|price") || !jr_text(&in, "kind", JR_TEXT_NEEDED, &kind) ||
      !graph_use(r, where, tesela_value_get(value, "node"), &hint.node) ||
      !jr_int_in(&in, "stick", -1, -1, TESELA_GRAPH_RANK - 1, &stick) ||
      !jr_int_in(&in, "operand", -1, -1, 1 << 16, &operand) || !jr_int(&in, "price", 0, &hint.price))
    return false;
  int k = 0;
  while (graph_json_hints[k] && strcmp(kind, graph_json_hints[k]) != 0) k++;
  if (!graph_json_hints[k])
    return jr_fail(&in, TESELA_E_INVALID,
                   "%s.kind is %.40s; expected require, forbid, prefer, forbid_move or free", where, kind);
  hint.kind = (tesela_hint_kind)k;
  hint.stick = (int32_t)stick;
  hint.operand = (int32_t)operand;
  return tesela_graph_hint(r->graph, &hint, r->in->err) == TESELA_OK;
}

static bool graph_read_all(const graph_reader *r) {
  jr_object inputs;
  const tesela_value *ops, *outputs, *hints;
  if (!jr_member(r->in, "inputs", false, &inputs) || !jr_list(r->in, "ops", false, &ops) ||
      !jr_list(r->in, "outputs", false, &outputs) || !jr_list(r->in, "hints", false, &hints))
    return false;
  for (size_t k = 0; k < tesela_value_size(inputs.value); k++) {
    const tesela_value *input = tesela_value_at(inputs.value, k);
    if (!graph_input(r, input->name, input)) return false;
  }
  for (size_t i = 0; i < tesela_value_size(ops); i++)
    if (!graph_op(r, i, tesela_value_at(ops, i))) return false;
  for (size_t i = 0; i < tesela_value_size(outputs); i++) {
    int32_t node;
    if (!graph_use(r, "outputs", tesela_value_at(outputs, i), &node) ||
        tesela_graph_add_output(r->graph, node, r->in->err) != TESELA_OK)
      return false;
  }
  for (size_t i = 0; i < tesela_value_size(hints); i++)
    if (!graph_hint(r, i, tesela_value_at(hints, i))) return false;
  return true;
}

bool graph_json_read(const jr_object *in, const char *target_name, tesela_graph **graph,
                     tesela_target *target) {
  graph_reader r = {.in = in};
  const char *name;
  int64_t elem_bytes, stick_bytes;
  if (!jr_done(in, "elem_bytes|stick_bytes|target|name|inputs|ops|outputs|hints") ||
      !jr_text(in, "target", NULL, &name) || !jr_int_in(in, "elem_bytes", 2, 1, 128, &elem_bytes) ||
      !jr_int_in(in, "stick_bytes", 0, 1, 1 << 20, &stick_bytes) ||
      !json_device_target(in, target_name ? target_name : name, stick_bytes, target))
    return false;
  r.bits = 8 * (int32_t)elem_bytes;
  if (tesela_graph_create(&r.graph, NULL, in->err) != TESELA_OK) return false;
  if (!graph_read_all(&r)) {
    tesela_graph_destroy(r.graph);
    return false;
  }
  *graph = r.graph;
  return true;
}

tesela_status tesela_graph_read_value(tesela_graph **graph, tesela_target *target,
                                      const tesela_value *program, tesela_error *err) {
  tesela_error unused;
  jr_object in = {program, "the program", err ? err : &unused, NULL};
  tesela_target own;
  if (!graph) return (void)jr_fail(&in, TESELA_E_INVALID, "argument graph is NULL"), TESELA_E_INVALID;
  *graph = NULL;
  if (!program) return (void)jr_fail(&in, TESELA_E_INVALID, "argument program is NULL"), TESELA_E_INVALID;
  if (!tesela_value_is(program, TESELA_VALUE_OBJECT))
    return (void)jr_fail(&in, TESELA_E_INVALID, "expected an object as the program"), TESELA_E_INVALID;
  return graph_json_read(&in, NULL, graph, target ? target : &own) ? TESELA_OK : in.err->status;
}

tesela_status tesela_graph_read_json(tesela_graph **graph, tesela_target *target, const char *text,
                                     size_t length, tesela_error *err) {
  tesela_json_in doc;
  tesela_error bad;
  if (!graph) return tesela_graph_read_value(graph, target, NULL, err);
  *graph = NULL;
  tesela_status status = tesela_json_read(&doc, text, length, &bad);
  if (status != TESELA_OK) {
    if (!err) return status;
    *err = (tesela_error){.status = status, .at = bad.at};
    snprintf(err->message, sizeof err->message, "%s%.160s",
             status == TESELA_E_MEMORY || !text ? "" : "invalid JSON: ", bad.message);
    return status;
  }
  status = tesela_graph_read_value(graph, target, doc.value, err);
  tesela_json_free(&doc);
  return status;
}
