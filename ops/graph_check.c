/* SPDX-License-Identifier: Apache-2.0 */
/* graph_check.c - see graph_check.h. */
#include "graph_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/relayout.h>
#include <tesela/report.h>

#include "request.h"

void graph_check_free(graph_check *c) {
  check_data *data = &c->data;
  for (int32_t k = 0; k < data->n_inputs && data->memory; k++) free(data->memory[k]);
  for (int32_t k = 0; k < data->n_outputs && data->tiled && data->plain; k++) {
    free(data->tiled[k]);
    free(data->plain[k]);
  }
  free(data->input);
  free(data->memory);
  free(data->tiled);
  free(data->plain);
  free(data->output_bytes);
  free(data->output_node);
  check_files_free(c);
}

static uint64_t check_random(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15U;
  uint64_t x = *state;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  return x ^ x >> 31;
}

/* Values an input is looked up by are below the extent of what they look in; -1: not an index. */
static int64_t index_limit(const tesela_graph *graph, int32_t input) {
  const tesela_node *node;
  int64_t limit = -1;
  for (int32_t k = 0; (node = tesela_graph_node(graph, k)); k++) {
    if ((node->op != TESELA_OP_GATHER && node->op != TESELA_OP_SCATTER) || node->n_operands < 2) continue;
    if (tesela_graph_node(graph, node->operand[1])->buffer != input) continue;
    int64_t extent = tesela_graph_node(graph, node->operand[0])->shape[node->dim[0]];
    limit = limit < 0 || extent < limit ? extent : limit;
  }
  return limit;
}

/* Floats between -1 and 1, multiples of 1/64 as far as the type has them; small integers; indices in range. */
static void check_values(const tesela_node *node, int64_t limit, check_choice *choice) {
  tesela_dtype_family family = tesela_dtype_family_of(node->dtype);
  tesela_error err = {.at = -1};
  if (choice->n > 0 && choice->dtype == node->dtype && choice->bits == node->bits && choice->limit == limit)
    return;
  *choice = (check_choice){.dtype = node->dtype, .bits = node->bits, .limit = limit};
  int32_t n = family == TESELA_FAMILY_BOOL ? 2 : family == TESELA_FAMILY_FLOAT ? CHECK_VALUES : 17;
  if (limit > 0) n = limit < CHECK_VALUES ? (int32_t)limit : CHECK_VALUES;
  for (int32_t k = 0; k < n; k++) {
    char text[40];
    if (family == TESELA_FAMILY_BOOL)
      snprintf(text, sizeof text, "%s", k ? "true" : "false");
    else if (family == TESELA_FAMILY_FLOAT)
      snprintf(text, sizeof text, "%g", (double)(k - 64) / 64);
    else
      snprintf(text, sizeof text, "%" PRId32, limit <= 0 && family == TESELA_FAMILY_SIGNED ? k - 8 : k);
    choice->n += tesela_element_read(text, strlen(text), node->dtype, node->bits, choice->value[choice->n],
                                     &err) == TESELA_OK;
  }
  if (choice->n == 0) choice->n = 1; /* zeros */
}

/* The elements from the first to the last in memory that a host tensor has with its strides, and how many of them are before
 * element 0; false if they are more than `most`. */
static bool check_span(const tesela_node *node, int64_t most, int64_t *elements, int64_t *before) {
  int64_t span[2] = {0, 0}; /* after and before element 0 */
  *elements = *before = 0;
  for (int32_t d = 0; d < node->rank; d++)
    if (node->shape[d] == 0) return true;
  for (int32_t d = 0; d < node->rank; d++) {
    int64_t part, *side = &span[node->host_stride[d] < 0];
    if (node->host_stride[d] == INT64_MIN ||
        __builtin_mul_overflow(node->shape[d] - 1, llabs(node->host_stride[d]), &part) || part > most - *side)
      return false;
    *side += part;
  }
  *before = span[1];
  *elements = span[0] + span[1] + 1;
  return true;
}

/* Count the bytes of a tensor; false if all are more than allowed. */
static bool check_count(int64_t elements, int64_t width, graph_check *c) {
  int64_t bytes;
  return !__builtin_mul_overflow(elements, width, &bytes) && bytes <= c->max_bytes - c->data.bytes &&
         (c->data.bytes += bytes, true);
}

static int64_t check_width(const tesela_node *node) { return (node->bits + 7) / 8; }

static tesela_status check_no_memory(tesela_error *err) {
  return ops_fail(err, TESELA_E_MEMORY, -1, "no memory for the inputs and outputs of the program");
}

static tesela_status check_input(graph_check *c, int32_t number, const tesela_node *node, uint64_t *state,
                                 tesela_error *err) {
  check_data *data = &c->data;
  tesela_status status;
  int64_t elements, before, width = check_width(node), limit = index_limit(c->graph, number);
  (void)check_span(node, c->max_bytes, &elements, &before); /* it was counted */
  uint8_t *memory = calloc(1, (size_t)(elements * width) + 16);
  if (!memory) return check_no_memory(err);
  data->memory[data->n_inputs] = memory;
  data->input[data->n_inputs++] = memory + before * width;
  if (check_file_copy(c, number, before, memory, &status, err)) return status;
  check_values(node, limit, &data->choice);
  uint64_t n = (uint64_t)data->choice.n;
  for (int64_t at = 0; at < elements * width;
       at += width) /* a tensor without a type may be wider; a run refuses it */
    memcpy(memory + at, data->choice.value[check_random(state) % n], width < 16 ? (size_t)width : 16);
  return TESELA_OK;
}

static int64_t check_elements(const tesela_node *node) {
  int64_t elements = 1;
  for (int32_t d = 0; d < node->rank; d++)
    if (node->shape[d] == 0) return 0;
  for (int32_t d = 0; d < node->rank; d++)
    if (__builtin_mul_overflow(elements, node->shape[d], &elements)) return INT64_MAX;
  return elements;
}

static tesela_status check_output(graph_check *c, int32_t number, tesela_error *err) {
  check_data *data = &c->data;
  const tesela_node *node = tesela_graph_node(c->graph, number);
  int32_t o = data->n_outputs++;
  data->output_node[o] = number;
  data->output_bytes[o] = check_elements(node) * check_width(node);
  data->tiled[o] = calloc(1, (size_t)data->output_bytes[o] + 16);
  data->plain[o] = calloc(1, (size_t)data->output_bytes[o] + 16);
  return data->tiled[o] && data->plain[o] ? TESELA_OK : check_no_memory(err);
}

/* Bytes of all inputs and outputs, before one is made; *at is the node with which they are too many. */
static bool check_count_all(graph_check *c, const tesela_node **at) {
  for (int32_t k = 0; (*at = tesela_graph_node(c->graph, k)); k++) {
    int64_t elements, before;
    if ((*at)->op == TESELA_OP_INPUT &&
        (!check_span(*at, c->max_bytes, &elements, &before) || !check_count(elements, check_width(*at), c)))
      return false;
  }
  for (int32_t k = 0; k < tesela_graph_n_outputs(c->graph); k++) {
    *at = tesela_graph_node(c->graph, tesela_graph_output(c->graph, k));
    if (!check_count(check_elements(*at), 2 * check_width(*at), c)) return false;
  }
  return true;
}

/* Make inputs, and room for outputs. */
static tesela_status check_make(graph_check *c, tesela_error *err) {
  check_data *data = &c->data;
  size_t count = (size_t)tesela_graph_count(c->graph) + 1;
  size_t outputs = (size_t)tesela_graph_n_outputs(c->graph) + 1;
  uint64_t state = (uint64_t)c->seed;
  const tesela_node *at;
  tesela_status status = TESELA_OK;
  data->input = calloc(count, sizeof *data->input);
  data->memory = calloc(count, sizeof *data->memory);
  data->tiled = calloc(outputs, sizeof *data->tiled);
  data->plain = calloc(outputs, sizeof *data->plain);
  data->output_bytes = calloc(outputs, sizeof *data->output_bytes);
  data->output_node = calloc(outputs, sizeof *data->output_node);
  if (!data->input || !data->memory || !data->tiled || !data->plain || !data->output_bytes ||
      !data->output_node)
    return check_no_memory(err);
  for (int32_t k = 0; status == TESELA_OK && (at = tesela_graph_node(c->graph, k)); k++)
    if (at->op == TESELA_OP_INPUT) status = check_input(c, k, at, &state, err);
  for (int32_t k = 0; status == TESELA_OK && k < (int32_t)outputs - 1; k++)
    status = check_output(c, tesela_graph_output(c->graph, k), err);
  return status;
}

/* ---- what came out ----------------------------------------------------------------------------------------------- */

bool graph_check_same(const graph_check *c, int32_t o) {
  return memcmp(c->data.tiled[o], c->data.plain[o], (size_t)c->data.output_bytes[o]) == 0;
}

void graph_check_digest(const graph_check *c, int32_t o, char text[33]) {
  const tesela_node *node = graph_check_output(c, o);
  uint8_t digest[16] = {0};
  tesela_layout layout;
  tesela_error err = {.at = -1};
  text[0] = '\0';
  if (tesela_layout_strided(&layout, node->dtype, node->bits, node->rank, node->shape, NULL, 0, &err) !=
          TESELA_OK ||
      tesela_values_digest(&layout, c->data.plain[o], digest, NULL, &err) != TESELA_OK)
    return;
  for (int i = 0; i < 16; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

/* ---- both runs --------------------------------------------------------------------------------------------------- */

/* The options of the run on tiled memory, or on plain memory. */
static tesela_graph_run_options check_options(const graph_check *c, bool plain,
                                              const tesela_graph_memory *memory) {
  return (tesela_graph_run_options){.plain = plain,
                                    .device_types = plain,
                                    .memory = plain ? NULL : memory,
                                    .progress = c->progress,
                                    .progress_user = c->progress_user,
                                    .max_steps = INT64_MAX, /* check_allowed */
                                    .max_bytes = INT64_MAX};
}

/* Each run keeps max_steps; the larger one and the tensors max_bytes. */
static tesela_status check_allowed(graph_check *c, const tesela_graph_memory *memory, tesela_error *err) {
  const tesela_node *at;
  tesela_graph_run_needs tiled, plain;
  char text[3][TESELA_UNITS_TEXT];
  tesela_units_print(c->max_bytes, TESELA_UNITS_IEC, text[2]);
  if (!check_count_all(c, &at))
    return ops_over(err, TESELA_REASON_MAX_BYTES, "with %.80s the inputs and outputs need more than %s",
                    at->name, text[2]);
  tesela_graph_run_options options = check_options(c, false, memory);
  tesela_status status = tesela_graph_run_needs_of(c->placed, c->target, &options, &tiled, err);
  options = check_options(c, true, NULL);
  if (status == TESELA_OK) status = tesela_graph_run_needs_of(c->graph, c->target, &options, &plain, err);
  if (status != TESELA_OK) return status;
  if (tiled.steps > c->max_steps || plain.steps > c->max_steps) {
    const tesela_graph_run_needs *more = tiled.steps > c->max_steps ? &tiled : &plain;
    at = tesela_graph_node(more == &tiled ? c->placed : c->graph, more->node);
    return ops_over(err, TESELA_REASON_MAX_STEPS,
                    "a run needs %" PRId64
                    " steps (results and products), most of them for %.80s; the limit is %" PRId64,
                    more->steps, at->name, c->max_steps);
  }
  int64_t buffers = tiled.bytes > plain.bytes ? tiled.bytes : plain.bytes;
  if (buffers <= c->max_bytes - c->data.bytes) return TESELA_OK;
  tesela_units_print(c->data.bytes, TESELA_UNITS_IEC, text[0]);
  tesela_units_print(buffers, TESELA_UNITS_IEC, text[1]);
  return ops_over(err, TESELA_REASON_MAX_BYTES,
                  "a run needs %s for inputs and outputs and %s for buffers and their marks; the limit is %s",
                  text[0], text[1], text[2]);
}

static tesela_status check_runs(graph_check *c, const tesela_graph_memory *memory, tesela_error *err) {
  const void *const *input = (const void *const *)c->data.input;
  tesela_graph_run_options options = check_options(c, false, memory);
  c->what = "on tiled memory";
  tesela_status status =
      tesela_graph_run(c->placed, c->target, input, c->data.tiled, &options, &c->tiled, err);
  options = check_options(c, true, NULL);
  c->what = "on plain memory";
  if (status == TESELA_OK)
    status = tesela_graph_run(c->graph, c->target, input, c->data.plain, &options, &c->plain, err);
  for (int32_t o = 0; status == TESELA_OK && o < c->data.n_outputs; o++)
    c->different += !graph_check_same(c, o);
  return status;
}

tesela_status graph_check_run(graph_check *c, tesela_error *err) {
  tesela_graph_memory *memory = NULL;
  const tesela_graph_memory_options options = {.progress = c->progress, .progress_user = c->progress_user};
  c->what = "planning memory";
  tesela_status status = graph_check_all_in(c, err);
  if (status == TESELA_OK) status = tesela_graph_plan_memory(&memory, c->placed, c->target, &options, err);
  if (status == TESELA_OK) status = check_allowed(c, memory, err);
  if (status == TESELA_OK) status = check_make(c, err);
  if (status == TESELA_OK) status = check_runs(c, memory, err);
  if (status == TESELA_OK && c->ready && c->ready(c) != 0)
    status = ops_fail(err, TESELA_E_STOPPED, -1, "the caller asked to stop");
  if (status == TESELA_OK && c->different == 0 && c->tiled.poison_read == 0)
    status = check_files_write(c, err);
  tesela_graph_memory_destroy(memory);
  return status;
}
