/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_program.c - the ops about programs that are laid out: graph_assign, graph_plan, graph_run. Each begins with "placed": was
 * there a layout for every operator?
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_check.h"
#include "graph_json.h"
#include "graph_work.h"
#include "request.h"

/* ---- a program with layouts ---------------------------------------------------------------------------------- */

static tesela_status read_program(tesela_request *q, graph_work *work) {
  const tesela_target *named = tesela_request_get(q, "target") ? q->target : NULL;
  const tesela_value *text = tesela_request_get(q, "text"), *graph = tesela_request_get(q, "graph");
  if (!text == !graph)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "expected one of the fields graph and text, found %s",
                               text ? "both" : "neither");
  q->field = text ? "text" : NULL;
  if (text) return graph_work_read(work, text->as.text, text->n, named, q->target, q->err);
  jr_object in = {graph, "graph", q->err, q->target};
  if (!graph_json_read(&in, NULL, &work->graph, &work->target)) return q->err->status;
  if (named) work->target = *named;
  return TESELA_OK;
}

/* "why": which layouts are compatible and what would help, as text for people. */
static tesela_status put_refusal(tesela_request *q, const graph_work *work,
                                 const tesela_propagate_facts *facts) {
  const tesela_node *at = tesela_graph_node(work->graph, facts->error_node);
  tesela_put_key_text(q->out, "error_at", at ? at->name : NULL);
  tesela_put_key_int(q->out, "error_operand", facts->error_operand);
  tesela_writer to = tesela_put_key_begin(q->out, "why");
  tesela_status status = tesela_propagation_explain(work->layouts, false, &to, q->err);
  tesela_put_text_end(q->out);
  return status;
}

tesela_propagate_options request_propagate_options(tesela_request *q) {
  const char *mode = tesela_value_text(tesela_request_get(q, "mode"));
  return (tesela_propagate_options){
      .mode = mode && strcmp(mode, "strict") == 0 ? TESELA_PROPAGATE_STRICT : TESELA_PROPAGATE_AUTO,
      .share = tesela_request_flag(q, "share"),
      .spread = tesela_request_flag(q, "spread"),
      .compact = tesela_request_flag(q, "compact"),
      .copies = tesela_request_flag(q, "copies"),
      .effort = tesela_value_int(tesela_request_get(q, "effort")),
      .progress = tesela_request_progress,
      .progress_user = q,
  };
}

tesela_status request_place_program(tesela_request *q, graph_work *work, bool *placed) {
  const tesela_propagate_options options = request_propagate_options(q);
  *placed = false;
  tesela_status status = read_program(q, work);
  if (status != TESELA_OK) return status;
  bool materialise = tesela_request_flag(q, "materialise");
  q->field = NULL;
  status = graph_work_lay_out(work, options, materialise, q->err);
  if (status != TESELA_OK) return status;
  tesela_propagate_facts facts = tesela_propagation_facts_of(work->layouts);
  tesela_put_key_bool(q->out, "placed", facts.ok);
  tesela_put_key_text(q->out, "target", work->target.name);
  if (!facts.ok) return put_refusal(q, work, &facts);
  if (options.copies || materialise) graph_put_copies(q->out, &facts);
  *placed = true;
  return tesela_graph_apply(&work->placed, work->layouts, q->err);
}

/* ---- graph_assign -------------------------------------------------------------------------------------------- */

tesela_status op_graph_assign(tesela_request *q) {
  graph_work work = {0};
  bool placed;
  tesela_status status = request_place_program(q, &work, &placed);
  if (status == TESELA_OK && placed) {
    tesela_propagate_facts facts = tesela_propagation_facts_of(work.layouts);
    graph_put_facts(q->out, &facts);
    graph_put_moves(q->out, work.graph, work.layouts);
    tesela_put_key(q->out, "graph");
    tesela_put_graph(q->out, work.placed);
    if (tesela_request_flag(q, "padding")) status = graph_padding_put(q->out, &work, q->err);
  }
  graph_work_free(&work);
  return status;
}

/* ---- graph_plan ---------------------------------------------------------------------------------------------- */

static void put_places(tesela_sink *j, const graph_work *work, const tesela_graph_memory *memory) {
  const tesela_graph_place *place;
  tesela_put_key_list(j, "buffers");
  for (int32_t k = 0; (place = tesela_graph_memory_place(memory, k)); k++) {
    const tesela_node *under = tesela_graph_node(work->placed, place->in_place_of);
    tesela_put_object(j);
    tesela_put_key_text(j, "name", tesela_graph_node(work->placed, place->node)->name);
    tesela_put_key_int(j, "lower", place->lower);
    tesela_put_key_int(j, "upper", place->upper);
    tesela_put_key_int(j, "bytes", place->bytes);
    tesela_put_key_text(j, "where", graph_place_where(place));
    tesela_put_key_int(j, "offset", place->offset);
    tesela_put_key_text(j, "in_place_of", under ? under->name : NULL);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

static void put_arena(tesela_sink *j, const char *name, const tesela_arena_facts *facts) {
  tesela_put_key_object(j, name);
  arena_put_facts(j, facts);
  tesela_put_end(j);
}

static void put_memory(tesela_sink *j, const tesela_graph_memory_facts *facts) {
  put_arena(j, "arena", &facts->arena);
  put_arena(j, "scratchpad", &facts->scratchpad);
  tesela_put_key_int(j, "host_bytes", facts->host_bytes);
  tesela_put_key_int(j, "naive", facts->naive);
  tesela_put_key_int(j, "external", facts->external);
  tesela_put_key_int(j, "reused", facts->reused);
  tesela_put_key_int(j, "traffic", facts->traffic);
  tesela_put_key_int(j, "traffic_saved", facts->traffic_saved);
}

tesela_status request_plan_csv(tesela_request *q, tesela_arena_buffer **buffers, int32_t *n,
                               tesela_arena_facts *facts) {
  const tesela_value *csv = tesela_request_get(q, "csv");
  tesela_arena_options options = {.capacity = tesela_value_int(tesela_request_get(q, "capacity")),
                                  .effort = tesela_value_int(tesela_request_get(q, "effort")),
                                  .progress = tesela_request_progress,
                                  .progress_user = q};
  *buffers = NULL;
  if (tesela_request_get(q, "graph") || tesela_request_get(q, "text"))
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "expected a program or the field csv, found both");
  q->field = "csv";
  tesela_status status = tesela_arena_read_csv(csv->as.text, csv->n, buffers, n, NULL, q->err);
  if (status != TESELA_OK) return status;
  q->field = NULL;
  return tesela_arena_plan(*n, *buffers, &options, facts, q->err);
}

static tesela_status plan_csv(tesela_request *q) {
  tesela_arena_buffer *buffers;
  tesela_arena_facts facts;
  int32_t n;
  tesela_status status = request_plan_csv(q, &buffers, &n, &facts);
  if (status == TESELA_OK) {
    tesela_put_key_object(q->out, "offsets");
    for (int32_t k = 0; k < n; k++) tesela_put_key_int(q->out, buffers[k].id, buffers[k].offset);
    tesela_put_end(q->out);
    put_arena(q->out, "arena", &facts);
  }
  tesela_arena_free(buffers, NULL);
  return status;
}

tesela_status request_plan_memory(tesela_request *q, const graph_work *work, tesela_graph_memory **memory) {
  tesela_graph_memory_options options = {
      .capacity = tesela_value_int(tesela_request_get(q, "capacity")),
      .scratchpad = tesela_value_int(tesela_request_get(q, "scratchpad")),
      .effort = tesela_value_int(tesela_request_get(q, "effort")),
      .no_reuse = tesela_request_flag(q, "no_reuse"),
      .inputs = tesela_request_flag(q, "inputs"),
      .progress = tesela_request_progress,
      .progress_user = q,
  };
  q->field = NULL;
  return tesela_graph_plan_memory(memory, work->placed, &work->target, &options, q->err);
}

tesela_status op_graph_plan(tesela_request *q) {
  graph_work work = {0};
  tesela_graph_memory *memory = NULL;
  bool placed;
  if (tesela_request_get(q, "csv")) return plan_csv(q);
  tesela_status status = request_place_program(q, &work, &placed);
  if (status == TESELA_OK && placed) {
    status = request_plan_memory(q, &work, &memory);
    if (status == TESELA_OK) {
      tesela_graph_memory_facts facts = tesela_graph_memory_facts_of(memory);
      put_places(q->out, &work, memory);
      put_memory(q->out, &facts);
    }
    tesela_graph_memory_destroy(memory);
  }
  graph_work_free(&work);
  return status;
}

/* ---- graph_run ----------------------------------------------------------------------------------------------- */

/* The answer is complete before the files appear. */
static int put_results(graph_check *c) {
  tesela_sink *j = ((tesela_request *)c->progress_user)->out;
  char digest[33];
  tesela_put_key_bool(j, "same", c->different == 0);
  tesela_put_key_list(j, "outputs");
  for (int32_t o = 0; o < c->data.n_outputs; o++) {
    const tesela_node *node = graph_check_output(c, o);
    graph_check_digest(c, o, digest);
    tesela_put_object(j);
    tesela_put_key_text(j, "name", node->name);
    tesela_put_key_ints(j, "size", node->rank, node->shape);
    tesela_put_key_text(j, "digest", digest);
    tesela_put_key_bool(j, "same", graph_check_same(c, o));
    tesela_put_end(j);
  }
  tesela_put_end(j);
  tesela_put_key_int(j, "operators", c->tiled.operators);
  tesela_put_key_int(j, "elements", c->tiled.elements);
  tesela_put_key_int(j, "moved", c->tiled.moved);
  tesela_put_key_int(j, "arena_bytes", c->tiled.arena_bytes);
  tesela_put_key_int(j, "poison_read", c->tiled.poison_read);
  return j->stopped;
}

/* The number of a field that is at least 1 (seed: 0), `otherwise` without it. */
static bool read_number(tesela_request *q, const char *field, int64_t least, int64_t otherwise,
                        int64_t *out) {
  const tesela_value *value = tesela_request_get(q, field);
  *out = value ? tesela_value_int(value) : otherwise;
  if (*out >= least) return true;
  tesela_request_fail(q, TESELA_E_RANGE, -1, "%s is %lld; expected %d or more", field, (long long)*out,
                      (int)least);
  return false;
}

/* Files of `in` or `out`: {"x": "x.npy"}. */
static tesela_status give_files(tesela_request *q, bool out, graph_check *c) {
  const tesela_value *files = tesela_request_get(q, out ? "out" : "in"), *file;
  tesela_status status = TESELA_OK;
  for (size_t i = 0; status == TESELA_OK && (file = tesela_value_at(files, i)); i++) {
    request_path path;
    status = request_path_open(q, file, out, &path);
    if (status != TESELA_OK) return status;
    status = (out ? graph_check_out : graph_check_in)(c, file->name, &path, q->err);
    if (!out || status != TESELA_OK) request_path_close(&path);
  }
  return status;
}

static tesela_status read_numbers(tesela_request *q, graph_check *c) {
  c->made_up = tesela_request_get(q, "seed") != NULL;
  bool read = read_number(q, "seed", 0, 1, &c->seed) &&
              read_number(q, "max_steps", 1, TESELA_GRAPH_RUN_STEPS, &c->max_steps) &&
              read_number(q, "max_bytes", 1, TESELA_GRAPH_RUN_BYTES, &c->max_bytes);
  return read ? TESELA_OK : TESELA_E_RANGE;
}

tesela_status request_run_program(tesela_request *q, const graph_work *work, graph_check *c) {
  c->graph = work->graph;
  c->placed = work->placed;
  c->target = &work->target;
  c->progress = tesela_request_progress;
  c->progress_user = q;
  c->unfinished = q->unfinished;
  tesela_status status = read_numbers(q, c);
  if (status == TESELA_OK) status = give_files(q, false, c);
  if (status == TESELA_OK) status = give_files(q, true, c);
  if (status == TESELA_OK) q->field = NULL;
  return status == TESELA_OK ? graph_check_run(c, q->err) : status;
}

tesela_status op_graph_run(tesela_request *q) {
  graph_work work = {0};
  graph_check c = {.ready = put_results};
  bool placed;
  tesela_status status = read_numbers(q, &c);
  if (status == TESELA_OK) status = request_place_program(q, &work, &placed);
  if (status == TESELA_OK && placed) {
    status = request_run_program(q, &work, &c);
    graph_check_free(&c);
  }
  graph_work_free(&work);
  return status;
}
