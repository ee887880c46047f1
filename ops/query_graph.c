/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_graph.c - the ops about programs: propagate, plan_memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/arena.h>
#include <tesela/propagate.h>

#include "json_device.h"
#include "graph_json.h"
#include "graph_work.h"
#include "request.h"

/* ---- propagate --------------------------------------------------------------------------------------------------- */

enum { MOST_STICKS = TESELA_GRAPH_RANK + 1 };

static int32_t output_sticks(const tesela_propagation *p, int32_t k, int32_t sticks[MOST_STICKS]) {
  int32_t n = tesela_propagation_sticks(p, k, MOST_STICKS, sticks);
  if (n > 0) return n;
  return tesela_propagation_stick(p, k, sticks, NULL) == TESELA_OK ? 1 : 0;
}

static void put_sticks(tesela_sink *j, const tesela_graph *graph, const tesela_propagation *p) {
  const tesela_node *node;
  tesela_put_key_object(j, "output_sticks");
  for (int32_t k = 0; (node = tesela_graph_node(graph, k)); k++) {
    int32_t sticks[MOST_STICKS], n = node->output ? output_sticks(p, k, sticks) : 0;
    if (!node->output) continue;
    tesela_put_key_list(j, node->name);
    for (int32_t i = 0; i < n; i++) tesela_put_int(j, sticks[i]);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

/* A layout for each stick of each output: that of its buffer. */
static tesela_status put_layouts(tesela_request *q, const tesela_graph *graph, const tesela_propagation *p) {
  const tesela_node *node;
  tesela_put_key_object(q->out, "output_layouts");
  for (int32_t k = 0; (node = tesela_graph_node(graph, k)); k++) {
    int32_t sticks[MOST_STICKS], n = node->output ? output_sticks(p, k, sticks) : 0;
    if (!node->output) continue;
    tesela_put_key_object(q->out, node->name);
    for (int32_t i = 0; i < n; i++) {
      char name[16];
      tesela_device_layout layout;
      tesela_status status = tesela_propagation_layout(p, node->buffer, sticks[i], &layout, q->err);
      if (status != TESELA_OK) return status;
      snprintf(name, sizeof name, "%d", (int)sticks[i]);
      tesela_put_key(q->out, name);
      graph_json_put_layout(q->out, &layout, false);
    }
    tesela_put_end(q->out);
  }
  tesela_put_end(q->out);
  return TESELA_OK;
}

void graph_put_copies(tesela_sink *j, const tesela_propagate_facts *facts) {
  tesela_put_key_int(j, "copied_elems", facts->copied);
  tesela_put_key_int(j, "copies", facts->n_copies);
}

void graph_put_facts(tesela_sink *j, const tesela_propagate_facts *facts) {
  tesela_put_key_int(j, "restickify_elems", facts->moved);
  tesela_put_key_int(j, "restickifies", facts->n_moves);
  tesela_put_key_int(j, "cost", facts->cost);
  tesela_put_key_int(j, "bound", facts->bound);
  tesela_put_key_bool(j, "proven", facts->proven);
  tesela_put_key_int(j, "operators", facts->operators);
  tesela_put_key_int(j, "unknown", facts->unknown);
}

void graph_put_moves(tesela_sink *j, const tesela_graph *graph, const tesela_propagation *p) {
  const tesela_move *move;
  tesela_put_key_list(j, "moves");
  for (int32_t k = 0; (move = tesela_propagation_move(p, k)); k++) {
    tesela_put_object(j);
    tesela_put_key_text(j, "at", tesela_graph_node(graph, move->node)->name);
    tesela_put_key_int(j, "operand", move->operand);
    tesela_put_key_text(j, "buffer", tesela_graph_node(graph, move->buffer)->name);
    if (move->view >= 0) tesela_put_key_text(j, "view", tesela_graph_node(graph, move->view)->name);
    tesela_put_key_int(j, "from", move->from);
    tesela_put_key_int(j, "to", move->to);
    tesela_put_key_int(j, "price", move->price);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

/* No layout is compatible with an operator: an error that names it. */
static tesela_status refuse_graph(tesela_request *q, const tesela_graph *graph, const tesela_propagation *p) {
  tesela_propagate_facts facts = tesela_propagation_facts_of(p);
  const tesela_node *node = tesela_graph_node(graph, facts.error_node);
  tesela_buffer buffer = {NULL, 0, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_status status = tesela_propagation_explain(p, false, &to, q->err);
  if (status != TESELA_OK) return status;
  char *text = malloc(buffer.length + 1);
  if (!text)
    return tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory for a message of %zu bytes", buffer.length);
  buffer = (tesela_buffer){text, buffer.length + 1, 0};
  to = tesela_buffer_writer(&buffer);
  status = tesela_propagation_explain(p, false, &to, q->err);
  if (status != TESELA_OK) {
    free(text);
    return status;
  }
  for (char *at = text; *at; at++) /* one line */
    if (*at == '\n') *at = at[1] ? ';' : '\0';
  tesela_request_fail(q, TESELA_E_MISMATCH, -1, "%s", text);
  q->message = text;
  q->err->reason = TESELA_REASON_CONFLICT;
  snprintf(q->error_at, sizeof q->error_at, "%s", node ? node->name : "");
  return TESELA_E_MISMATCH;
}

static tesela_status put_propagation(tesela_request *q, const tesela_graph *graph,
                                     const tesela_propagation *p) {
  tesela_propagate_facts facts = tesela_propagation_facts_of(p);
  if (!facts.ok) return refuse_graph(q, graph, p);
  if (tesela_request_flag(q, "copies")) graph_put_copies(q->out, &facts);
  graph_put_facts(q->out, &facts);
  put_sticks(q->out, graph, p);
  graph_put_moves(q->out, graph, p);
  return put_layouts(q, graph, p);
}

tesela_status op_propagate(tesela_request *q) {
  jr_object in = {tesela_request_get(q, "graph"), "graph", q->err, q->target};
  tesela_graph *graph;
  tesela_target target;
  tesela_propagation *p = NULL;
  const char *mode = tesela_value_text(tesela_request_get(q, "mode"));
  const char *target_name = tesela_value_text(tesela_request_get(q, "target"));
  tesela_propagate_options options = {
      .mode = mode && strcmp(mode, "strict") == 0 ? TESELA_PROPAGATE_STRICT : TESELA_PROPAGATE_AUTO,
      .share = tesela_request_flag(q, "share"),
      .spread = tesela_request_flag(q, "spread"),
      .compact = tesela_request_flag(q, "compact"),
      .copies = tesela_request_flag(q, "copies"),
      .all_sticks = true,
      .progress = tesela_request_progress,
      .progress_user = q,
  };
  q->field = NULL;
  if (!graph_json_read(&in, target_name, &graph, &target)) return q->err->status;
  tesela_status status = tesela_graph_propagate(&p, graph, &target, &options, q->err);
  if (status == TESELA_OK) status = put_propagation(q, graph, p);
  tesela_propagation_destroy(p);
  tesela_graph_destroy(graph);
  return status;
}

/* ---- plan_memory -------------------------------------------------------------------------------------------------- */

static bool read_buffer(tesela_request *q, size_t i, const tesela_value *value, tesela_arena_buffer *buffer) {
  char where[40];
  jr_object in = {value, where, q->err, NULL};
  const char *id;
  snprintf(where, sizeof where, "buffers[%zu]", i);
  if (!tesela_value_is(value, TESELA_VALUE_OBJECT))
    return jr_fail(&in, TESELA_E_INVALID, "%s: expected object, found %s", where, ops_value_words(value));
  memset(buffer, 0, sizeof *buffer);
  if (!jr_done(&in, "id|lower|upper|size|alignment|offset|weight") || !jr_text(&in, "id", where, &id) ||
      !jr_int(&in, "lower", JR_NEEDED, &buffer->lower) || !jr_int(&in, "upper", JR_NEEDED, &buffer->upper) ||
      !jr_int(&in, "size", JR_NEEDED, &buffer->size) || !jr_int(&in, "alignment", 0, &buffer->alignment) ||
      !jr_int(&in, "offset", TESELA_ARENA_FREE, &buffer->offset) ||
      !jr_int(&in, "weight", 0, &buffer->weight))
    return false;
  if (strlen(id) >= sizeof buffer->id)
    return jr_fail(&in, TESELA_E_LIMIT, "%s.id has %zu bytes; expected %zu or fewer", where, strlen(id),
                   sizeof buffer->id - 1);
  memcpy(buffer->id, id, strlen(id) + 1);
  return true;
}

static void put_buffers(tesela_sink *j, size_t n, const tesela_arena_buffer *buffers) {
  tesela_put_key_list(j, "offsets");
  for (size_t i = 0; i < n; i++) {
    if (buffers[i].offset == TESELA_ARENA_SPILLED)
      tesela_put_null(j);
    else
      tesela_put_int(j, buffers[i].offset);
  }
  tesela_put_end(j);
}

void arena_put_facts(tesela_sink *j, const tesela_arena_facts *facts) {
  tesela_put_key_int(j, "peak", facts->peak);
  tesela_put_key_int(j, "bound", facts->bound);
  tesela_put_key_bool(j, "proven", facts->proven);
  tesela_put_key_int(j, "live", facts->live);
  tesela_put_key_int(j, "total", facts->total);
  tesela_put_key_int(j, "first_fit", facts->first_fit);
  tesela_put_key_int(j, "spilled", facts->spilled);
  tesela_put_key_real(j, "fragmentation", tesela_arena_fragmentation(facts));
}

tesela_status op_plan_memory(tesela_request *q) {
  jr_object in = {q->value, "the request", q->err, NULL};
  tesela_arena_facts facts;
  tesela_arena_options options = {
      .spill = tesela_request_flag(q, "spill"), .progress = tesela_request_progress, .progress_user = q};
  q->field = "capacity";
  if (!jr_int_in(&in, "capacity", 0, 0, INT64_MAX, &options.capacity)) return q->err->status;
  const tesela_value *list = tesela_request_get(q, "buffers");
  size_t n = tesela_value_size(list);
  if (n > 1 << 20)
    return tesela_request_fail(q, TESELA_E_LIMIT, -1, "%zu buffers; expected 1048576 or fewer", n);
  tesela_arena_buffer *buffers = malloc((n + 1) * sizeof *buffers);
  if (!buffers) return tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory for %zu buffers", n);
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) ok = read_buffer(q, i, tesela_value_at(list, i), &buffers[i]);
  q->field = ok ? NULL : q->field;
  tesela_status status =
      ok ? tesela_arena_plan((int32_t)n, buffers, &options, &facts, q->err) : q->err->status;
  if (status == TESELA_OK) {
    put_buffers(q->out, n, buffers);
    arena_put_facts(q->out, &facts);
  }
  free(buffers);
  return status;
}
