/* SPDX-License-Identifier: Apache-2.0 */
/* graph_tensors.c - inputs of a program from files, and its results to files. see graph_check.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/notation.h>

#include "graph_check.h"
#include "graph_work.h"
#include "request.h"

typedef struct check_file {
  tesela_file *file;
  const tesela_file_tensor *tensor;
  tesela_layout layout;
} check_file;

/* ---- names --------------------------------------------------------------------------------------------------- */

enum { NAME_INPUT, NAME_OUTPUT };

typedef struct names {
  const tesela_graph *graph;
  int kind;
} names;

/* Input or output i; NULL after the last. */
static const char *name_at(const void *user, int i) {
  const names *of = user;
  const tesela_node *node;
  if (of->kind == NAME_OUTPUT) {
    node = tesela_graph_node(of->graph, tesela_graph_output(of->graph, i));
    return node ? node->name : NULL;
  }
  for (int32_t k = 0; (node = tesela_graph_node(of->graph, k)); k++)
    if (node->op == TESELA_OP_INPUT && i-- == 0) return node->name;
  return NULL;
}

static tesela_status name_unknown(const tesela_graph *graph, int kind, const char *name, tesela_error *err) {
  const names of = {graph, kind};
  return tesela_error_unknown(err, kind == NAME_INPUT ? "input" : "output", name, name_at, &of);
}

/* ---- inputs -------------------------------------------------------------------------------------------------- */

/* The tensor of a file for an input: the only one, or the one of its name. */
static tesela_status file_pick(check_file *f, const char *name, const char *path, tesela_error *err) {
  tesela_file_info info;
  tesela_file_describe(f->file, &info);
  if (info.format == TESELA_FILE_RAW)
    return ops_fail(err, TESELA_E_INVALID, -1,
                    "input '%.60s': expected a .npy or .safetensors file, found raw bytes (%.80s)", name,
                    path);
  f->tensor = info.n_tensors == 1 ? &info.tensor[0] : tesela_file_find(f->file, name);
  if (f->tensor) return TESELA_OK;
  return ops_fail(err, TESELA_E_INVALID, -1,
                  "input '%.60s': no tensor of this name among the %" PRId64 " of %.80s", name,
                  info.n_tensors, path);
}

/* The layout in the file. Where the file has only a width, the type is the input's. */
static tesela_status file_layout(check_file *f, const tesela_node *node, tesela_error *err) {
  const char *text = f->tensor->layout;
  if (text) {
    tesela_any_layout any;
    tesela_status status = tesela_layout_read(text, strlen(text), NULL, &any, err);
    return status == TESELA_OK ? tesela_any_to_layout(&any, &f->layout, err) : status;
  }
  bool typed = f->tensor->dtype != TESELA_DTYPE_NONE || f->tensor->bits != node->bits;
  return tesela_file_layout(f->tensor, typed ? TESELA_DTYPE_NONE : node->dtype, &f->layout, err);
}

static tesela_status file_check(const check_file *f, const tesela_node *node, const char *path,
                                tesela_error *err) {
  const tesela_layout *is = &f->layout;
  char expected[GRAPH_TYPE_TEXT], found[GRAPH_TYPE_TEXT];
  bool same = is->rank == node->rank && is->bits == node->bits &&
              (is->dtype == node->dtype || node->dtype == TESELA_DTYPE_NONE);
  for (int32_t d = 0; same && d < node->rank; d++) same = is->shape[d] == node->shape[d];
  if (same) return TESELA_OK;
  return ops_fail(err, TESELA_E_MISMATCH, -1, "input '%.60s': expected %s, found %s (%.80s)", node->name,
                  graph_type_text(node->dtype, node->bits, node->rank, node->shape, expected),
                  graph_type_text(is->dtype, is->bits, is->rank, is->shape, found), path);
}

tesela_status graph_check_in(graph_check *c, const char *name, const request_path *path, tesela_error *err) {
  int32_t number = tesela_graph_find(c->graph, name);
  const tesela_node *node = tesela_graph_node(c->graph, number);
  if (!node || node->op != TESELA_OP_INPUT) return name_unknown(c->graph, NAME_INPUT, name, err);
  if (!c->in) c->in = calloc((size_t)tesela_graph_count(c->graph), sizeof *c->in);
  if (!c->in) return ops_fail(err, TESELA_E_MEMORY, -1, "no memory for the inputs of the program");
  check_file *f = &c->in[number];
  if (f->file) return ops_fail(err, TESELA_E_INVALID, -1, "input '%.80s' is given twice", name);
  tesela_error why = {.at = -1};
  tesela_status status = tesela_file_open(&f->file, request_path_text(path), NULL, &why);
  if (status == TESELA_OK && (status = file_pick(f, name, path->name, err)) != TESELA_OK) return status;
  if (status == TESELA_OK) status = file_layout(f, node, &why);
  if (status == TESELA_OK) return file_check(f, node, path->name, err);
  ops_fail(err, status, -1, "input '%.60s': %.80s: %s", name, path->name, why.message);
  err->reason = why.reason;
  return status;
}

tesela_status graph_check_all_in(const graph_check *c, tesela_error *err) {
  const tesela_node *node;
  char text[GRAPH_TYPE_TEXT];
  for (int32_t k = 0; c->in && !c->made_up && (node = tesela_graph_node(c->graph, k)); k++)
    if (node->op == TESELA_OP_INPUT && !c->in[k].file)
      return ops_fail(err, TESELA_E_INVALID, -1,
                      "missing input '%.60s', %s; give a file for every input, or --seed=N to make "
                      "up the others",
                      node->name, graph_type_text(node->dtype, node->bits, node->rank, node->shape, text));
  return TESELA_OK;
}

bool check_file_copy(const graph_check *c, int32_t number, int64_t before, void *memory,
                     tesela_status *status, tesela_error *err) {
  const check_file *f = c->in ? &c->in[number] : NULL;
  const tesela_node *node = tesela_graph_node(c->graph, number);
  tesela_layout to;
  tesela_plan *plan = NULL;
  if (!f || !f->file) return false;
  tesela_plan_options options = {.transform =
                                     f->tensor->swapped ? TESELA_TRANSFORM_SWAP : TESELA_TRANSFORM_NONE};
  *status = tesela_layout_strided(&to, f->layout.dtype, node->bits, node->rank, node->shape,
                                  node->host_stride, before, err);
  if (*status == TESELA_OK) *status = tesela_plan_create(&plan, &to, &f->layout, &options, err);
  if (*status == TESELA_OK) *status = tesela_plan_run(plan, memory, f->tensor->data, NULL, err);
  tesela_plan_destroy(plan);
  return true;
}

/* ---- outputs ------------------------------------------------------------------------------------------------- */

/* An output by name, the first of that name, or by position; -1. */
static int32_t output_find(const tesela_graph *graph, const char *name) {
  int32_t n = tesela_graph_n_outputs(graph), node = tesela_graph_find(graph, name);
  char *end;
  for (int32_t o = 0; node >= 0 && o < n; o++)
    if (tesela_graph_output(graph, o) == node) return o;
  if (*name < '0' || *name > '9') return -1;
  long long o = strtoll(name, &end, 10);
  return *end == '\0' && o < n ? (int32_t)o : -1;
}

tesela_status graph_check_out(graph_check *c, const char *name, const request_path *path, tesela_error *err) {
  int32_t o = output_find(c->graph, name), n = tesela_graph_n_outputs(c->graph);
  size_t length = strlen(path->name);
  if (o < 0) return name_unknown(c->graph, NAME_OUTPUT, name, err);
  if (length < 4 || strcmp(path->name + length - 4, ".npy") != 0)
    return ops_fail(err, TESELA_E_UNSUPPORTED, -1,
                    "output '%.60s': expected a path that ends in .npy, found %.120s", name, path->name);
  if (!c->out) c->out = calloc((size_t)n, sizeof *c->out);
  if (!c->out) return ops_fail(err, TESELA_E_MEMORY, -1, "no memory for the outputs of the program");
  for (int32_t k = 0; k < n; k++)
    if (c->out[k].name && strcmp(c->out[k].name, path->name) == 0)
      return ops_fail(err, TESELA_E_INVALID, -1, "%.120s is given for two outputs", path->name);
  if (c->out[o].name) return ops_fail(err, TESELA_E_INVALID, -1, "output '%.80s' is given twice", name);
  c->out[o] = *path;
  return TESELA_OK;
}

const tesela_node *graph_check_output(const graph_check *c, int32_t o) {
  return tesela_graph_node(c->graph, c->data.output_node[o]);
}

tesela_status check_files_write(const graph_check *c, tesela_error *err) {
  for (int32_t o = 0; c->out && o < c->data.n_outputs; o++) {
    const tesela_node *node = graph_check_output(c, o);
    tesela_error why = {.at = -1};
    tesela_layout layout;
    const tesela_file_tensor tensor = {.name = "",
                                       .type = "",
                                       .dtype = node->dtype,
                                       .bits = node->bits,
                                       .rank = -1,
                                       .data = c->data.tiled[o],
                                       .bytes = c->data.output_bytes[o]};
    const tesela_file_item item = {.name = "", .tensor = &tensor, .from = &layout, .to = &layout};
    if (!c->out[o].name) continue;
    const tesela_file_write_options options = {.unfinished = c->unfinished, .only_files = c->out[o].fd >= 0};
    tesela_status status =
        tesela_layout_strided(&layout, node->dtype, node->bits, node->rank, node->shape, NULL, 0, &why);
    if (status == TESELA_OK)
      status = tesela_file_write(request_path_text(&c->out[o]), TESELA_FILE_NPY, 1, &item, &options, NULL,
                                 NULL, &why);
    if (status == TESELA_OK) continue;
    ops_fail(err, status, -1, "output '%.60s': %.80s: %s", node->name, c->out[o].name, why.message);
    err->reason = why.reason;
    return status;
  }
  return TESELA_OK;
}

void check_files_free(graph_check *c) {
  for (int32_t k = 0; c->in && k < tesela_graph_count(c->graph); k++) tesela_file_close(c->in[k].file);
  for (int32_t o = 0; c->out && o < tesela_graph_n_outputs(c->graph); o++)
    if (c->out[o].name) request_path_close(&c->out[o]);
  free(c->in);
  free(c->out);
}
