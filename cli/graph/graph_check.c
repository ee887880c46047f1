/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_check.c - graph run: a program is run on tiled memory, in the arena that was planned, and on plain memory; the bits of
 * the results are compared.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/graph.h>
#include <tesela/report.h>
#include <tesela/relayout.h>

#include "graph/graph_print.h"
#include "graph/graph_progress.h"
#include "main/json.h"
#include "main/say.h"
#include "tile_input.h"

/* The values that inputs of a type are drawn from, integers below `limit` if that is above 0. */
enum { CHECK_VALUES = 129 };
typedef struct check_choice {
  tesela_dtype dtype;
  int32_t bits, n;
  int64_t limit;
  uint8_t value[CHECK_VALUES][16];
} check_choice;

/* The tensors outside the program. */
typedef struct check_data {
  int32_t n_inputs, n_outputs;
  void **input, **tiled, **plain;
  void **memory; /* of the inputs: an input with negative strides begins inside its own */
  int64_t *output_bytes;
  int32_t *output_node;
  check_choice choice;      /* of the last input */
  int64_t bytes, max_bytes; /* of the tensors, and of all that a run takes */
} check_data;

static void check_free(check_data *data) {
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

/* The elements from the first to the last in memory that a host tensor takes with its strides, and how many of them are before
 * element 0; false if they are more than `most`. */
static bool check_span(const tesela_node *node, int64_t most, int64_t *elements, int64_t *before) {
  int64_t span[2] = {0, 0}; /* behind and before element 0 */
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
static bool check_count(int64_t elements, int64_t width, int64_t *bytes, check_data *data) {
  return !__builtin_mul_overflow(elements, width, bytes) && *bytes <= data->max_bytes - data->bytes &&
         (data->bytes += *bytes, true);
}

typedef enum check_made { CHECK_DONE, CHECK_LARGE, CHECK_NO_MEMORY } check_made;

static int64_t check_width(const tesela_node *node) { return (node->bits + 7) / 8; }

static check_made check_input(const tesela_graph *graph, int32_t number, const tesela_node *node,
                              uint64_t *state, check_data *data) {
  int64_t elements, before, width = check_width(node), limit = index_limit(graph, number);
  (void)check_span(node, data->max_bytes, &elements, &before); /* it was counted */
  uint8_t *memory = calloc(1, (size_t)(elements * width) + 16);
  if (!memory) return CHECK_NO_MEMORY;
  data->memory[data->n_inputs] = memory;
  data->input[data->n_inputs++] = memory + before * width;
  check_values(node, limit, &data->choice);
  uint64_t n = (uint64_t)data->choice.n;
  for (int64_t at = 0; at < elements * width;
       at += width) /* what has no type may be wider; a run refuses it */
    memcpy(memory + at, data->choice.value[check_random(state) % n], width < 16 ? (size_t)width : 16);
  return CHECK_DONE;
}

static int64_t check_elements(const tesela_node *node) {
  int64_t elements = 1;
  for (int32_t d = 0; d < node->rank; d++)
    if (node->shape[d] == 0) return 0;
  for (int32_t d = 0; d < node->rank; d++)
    if (__builtin_mul_overflow(elements, node->shape[d], &elements)) return INT64_MAX;
  return elements;
}

static check_made check_output(const tesela_graph *graph, int32_t number, check_data *data) {
  const tesela_node *node = tesela_graph_node(graph, number);
  int32_t o = data->n_outputs++;
  data->output_node[o] = number;
  data->output_bytes[o] = check_elements(node) * check_width(node);
  data->tiled[o] = calloc(1, (size_t)data->output_bytes[o] + 16);
  data->plain[o] = calloc(1, (size_t)data->output_bytes[o] + 16);
  return data->tiled[o] && data->plain[o] ? CHECK_DONE : CHECK_NO_MEMORY;
}

/* Bytes of all inputs and outputs, before one is made; *at is the node with which they are too many. */
static check_made check_count_all(const tesela_graph *graph, check_data *data, const tesela_node **at) {
  for (int32_t k = 0; (*at = tesela_graph_node(graph, k)); k++) {
    int64_t elements, before, bytes, width = check_width(*at);
    if ((*at)->op == TESELA_OP_INPUT && (!check_span(*at, data->max_bytes, &elements, &before) ||
                                         !check_count(elements, width, &bytes, data)))
      return CHECK_LARGE;
  }
  for (int32_t k = 0; k < tesela_graph_n_outputs(graph); k++) {
    int64_t bytes;
    *at = tesela_graph_node(graph, tesela_graph_output(graph, k));
    if (!check_count(check_elements(*at), 2 * check_width(*at), &bytes, data)) return CHECK_LARGE;
  }
  return CHECK_DONE;
}

/* Make inputs, and room for outputs. */
static check_made check_make(const tesela_graph *graph, uint64_t seed, check_data *data) {
  size_t count = (size_t)tesela_graph_count(graph) + 1, outputs = (size_t)tesela_graph_n_outputs(graph) + 1;
  const tesela_node *at;
  check_made made = CHECK_DONE;
  data->input = calloc(count, sizeof *data->input);
  data->memory = calloc(count, sizeof *data->memory);
  data->tiled = calloc(outputs, sizeof *data->tiled);
  data->plain = calloc(outputs, sizeof *data->plain);
  data->output_bytes = calloc(outputs, sizeof *data->output_bytes);
  data->output_node = calloc(outputs, sizeof *data->output_node);
  if (!data->input || !data->memory || !data->tiled || !data->plain || !data->output_bytes ||
      !data->output_node)
    return CHECK_NO_MEMORY;
  for (int32_t k = 0; made == CHECK_DONE && (at = tesela_graph_node(graph, k)); k++)
    if (at->op == TESELA_OP_INPUT) made = check_input(graph, k, at, &seed, data);
  for (int32_t k = 0; made == CHECK_DONE && k < (int32_t)outputs - 1; k++)
    made = check_output(graph, tesela_graph_output(graph, k), data);
  return made;
}

/* ---- what came out ----------------------------------------------------------------------------------------------- */

static void check_digest(const tesela_node *node, const void *data, char text[33]) {
  uint8_t digest[16] = {0};
  tesela_layout layout;
  tesela_error err = {.at = -1};
  text[0] = '\0';
  if (tesela_layout_strided(&layout, node->dtype, node->bits, node->rank, node->shape, NULL, 0, &err) !=
          TESELA_OK ||
      tesela_values_digest(&layout, data, digest, &err) != TESELA_OK)
    return;
  for (int i = 0; i < 16; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

typedef struct check_result {
  const graph_work *work;
  const check_data *data;
  tesela_graph_run_facts tiled, plain;
  int32_t different;
} check_result;

static void check_words(const check_result *r) {
  char shape[GRAPH_SHAPE_TEXT], name[GRAPH_NAME_TEXT], digest[33];
  int wide = 24;
  for (int32_t o = 0; o < r->data->n_outputs; o++) {
    const tesela_node *node = tesela_graph_node(r->work->in.graph, r->data->output_node[o]);
    int length = (int)strlen(graph_name_text(node->name, name));
    wide = length > wide ? length : wide;
  }
  printf("%-*s  %-24s  %-32s  %s\n", wide, "output", "shape", "digest", "tiled and plain");
  for (int32_t o = 0; o < r->data->n_outputs; o++) {
    const tesela_node *node = tesela_graph_node(r->work->in.graph, r->data->output_node[o]);
    bool same = memcmp(r->data->tiled[o], r->data->plain[o], (size_t)r->data->output_bytes[o]) == 0;
    check_digest(node, r->data->plain[o], digest);
    printf("%-*s  %-24s  %-32s  %s\n", wide, graph_name_text(node->name, name), graph_shape_text(node, shape),
           digest, same ? "same bits" : "DIFFER");
  }
  printf("\n%" PRId64 " operators on tiled memory, %" PRId64 " elements, %" PRId64 " moved; arena %" PRId64
         " bytes; %" PRId64 " elements of padding were read\n",
         r->tiled.operators, r->tiled.elements, r->tiled.moved, r->tiled.arena_bytes, r->tiled.poison_read);
}

/* Both runs store elements as the device does: say so where that loses something. */
static void check_note(const cli_context *cli, const graph_work *work) {
  const tesela_node *node;
  for (int32_t k = 0; (node = tesela_graph_node(work->placed, k)); k++) {
    if (!node->layout || tesela_dtype_family_of(node->dtype) != TESELA_FAMILY_FLOAT) continue;
    tesela_dtype device = node->layout->host.device_dtype;
    if (device == node->dtype) continue;
    say_note(cli, "%s is stored as %s on %s, here on plain memory as well", tesela_dtype_name(node->dtype),
             tesela_dtype_name(device), work->in.target.name);
    return;
  }
}

static int check_json(const check_result *r) {
  tesela_json_out j = TESELA_JSON_OUT;
  char digest[33];
  tesela_put_object(&j.sink);
  tesela_put_key_bool(&j.sink, "same", r->different == 0);
  tesela_put_key(&j.sink, "outputs");
  tesela_put_list(&j.sink);
  for (int32_t o = 0; o < r->data->n_outputs; o++) {
    const tesela_node *node = tesela_graph_node(r->work->in.graph, r->data->output_node[o]);
    check_digest(node, r->data->plain[o], digest);
    tesela_put_object(&j.sink);
    tesela_put_key_text(&j.sink, "name", node->name);
    tesela_put_key(&j.sink, "size");
    tesela_put_ints(&j.sink, node->rank, node->shape);
    tesela_put_key_text(&j.sink, "digest", digest);
    tesela_put_key_bool(&j.sink, "same",
                        memcmp(r->data->tiled[o], r->data->plain[o], (size_t)r->data->output_bytes[o]) == 0);
    tesela_put_end(&j.sink);
  }
  tesela_put_end(&j.sink);
  tesela_put_key_int(&j.sink, "operators", r->tiled.operators);
  tesela_put_key_int(&j.sink, "elements", r->tiled.elements);
  tesela_put_key_int(&j.sink, "moved", r->tiled.moved);
  tesela_put_key_int(&j.sink, "arena_bytes", r->tiled.arena_bytes);
  tesela_put_key_int(&j.sink, "poison_read", r->tiled.poison_read);
  return tile_print_json(&j);
}

/* ---- both runs --------------------------------------------------------------------------------------------------- */

/* The options of the run on tiled memory, or on plain memory. */
static tesela_graph_run_options check_options(bool plain, const tesela_graph_memory *memory,
                                              graph_progress *progress) {
  return (tesela_graph_run_options){.plain = plain,
                                    .device_types = plain,
                                    .memory = plain ? NULL : memory,
                                    .progress = graph_progress_call,
                                    .progress_user = progress,
                                    .max_steps = INT64_MAX, /* check_allowed */
                                    .max_bytes = INT64_MAX};
}

/* Both runs together keep --max-steps; the larger one and the tensors --max-bytes. Says why not. */
static int check_allowed(const cli_context *cli, const graph_work *work, const tesela_graph_memory *memory,
                         check_data *data) {
  const tesela_node *at;
  tesela_graph_run_needs tiled, plain;
  tesela_error err = {.at = -1};
  int64_t max_steps;
  char text[3][TESELA_UNITS_TEXT];
  if (!cli_integer(cli, "max-steps", 1, INT64_MAX, TESELA_GRAPH_RUN_STEPS, &max_steps) ||
      !cli_size(cli, "max-bytes", TESELA_GRAPH_RUN_BYTES, &data->max_bytes))
    return CLI_BAD;
  tesela_units_print(data->max_bytes, TESELA_UNITS_IEC, text[2]);
  if (check_count_all(work->in.graph, data, &at) != CHECK_DONE) {
    say_error(cli, "with %.80s the inputs and outputs take more than %s; --max-bytes=SIZE raises this limit",
              at->name, text[2]);
    return CLI_BAD;
  }
  tesela_graph_run_options options = check_options(false, memory, NULL);
  tesela_status status = tesela_graph_run_needs_of(work->placed, &work->in.target, &options, &tiled, &err);
  options = check_options(true, NULL, NULL);
  if (status == TESELA_OK)
    status = tesela_graph_run_needs_of(work->in.graph, &work->in.target, &options, &plain, &err);
  if (status != TESELA_OK) return say_failure(cli, &err);
  if (tiled.steps > max_steps || plain.steps > max_steps) {
    const tesela_graph_run_needs *more = tiled.steps > max_steps ? &tiled : &plain;
    at = tesela_graph_node(more == &tiled ? work->placed : work->in.graph, more->node);
    say_error(cli,
              "a run takes %" PRId64 " steps (results and products), most of them for %.80s; at most %" PRId64
              " are run, --max-steps=N raises this limit",
              more->steps, at->name, max_steps);
    return CLI_BAD;
  }
  int64_t buffers = tiled.bytes > plain.bytes ? tiled.bytes : plain.bytes;
  if (buffers <= data->max_bytes - data->bytes) return CLI_YES;
  tesela_units_print(data->bytes, TESELA_UNITS_IEC, text[0]);
  tesela_units_print(buffers, TESELA_UNITS_IEC, text[1]);
  say_error(cli,
            "a run takes %s for inputs and outputs and %s for buffers and their marks; at most %s are taken, "
            "--max-bytes=SIZE raises this limit",
            text[0], text[1], text[2]);
  return CLI_BAD;
}

static tesela_status check_runs(check_result *r, const tesela_graph_memory *memory, graph_progress *progress,
                                tesela_error *err) {
  const check_data *data = r->data;
  tesela_graph_run_options options = check_options(false, memory, progress);
  progress->what = "on tiled memory";
  tesela_status status =
      tesela_graph_run(r->work->placed, &r->work->in.target, (const void *const *)data->input, data->tiled,
                       &options, &r->tiled, err);
  options = check_options(true, NULL, progress);
  progress->what = "on plain memory";
  if (status == TESELA_OK)
    status = tesela_graph_run(r->work->in.graph, &r->work->in.target, (const void *const *)data->input,
                              data->plain, &options, &r->plain, err);
  graph_progress_hide(progress);
  for (int32_t o = 0; o < data->n_outputs; o++)
    r->different += memcmp(data->tiled[o], data->plain[o], (size_t)data->output_bytes[o]) != 0;
  return status;
}

/* Both runs, and what came out. */
static int check_all(const cli_context *cli, check_result *r, const tesela_graph_memory *memory,
                     uint64_t seed, check_data *data) {
  graph_progress progress;
  tesela_error err = {.at = -1};
  int status = check_allowed(cli, r->work, memory, data);
  if (status != CLI_YES) return status;
  graph_progress_begin(cli, &progress);
  if (check_make(r->work->in.graph, seed, data) != CHECK_DONE) {
    say_error(cli, "no memory for the inputs and outputs of the program");
    return CLI_FAILED;
  }
  if (check_runs(r, memory, &progress, &err) != TESELA_OK)
    return err.status == TESELA_E_STOPPED ? CLI_YES : say_failure(cli, &err);
  if (cli->json) return check_json(r);
  check_words(r);
  check_note(cli, r->work);
  return CLI_YES;
}

int graph_check(const cli_context *cli, const graph_work *work) {
  tesela_graph_memory *memory = NULL;
  check_data data = {0};
  check_result r = {.work = work, .data = &data};
  tesela_error err = {.at = -1};
  int64_t seed;
  if (!cli_integer(cli, "seed", 0, INT64_MAX, 1, &seed)) return CLI_BAD;
  if (tesela_graph_plan_memory(&memory, work->placed, &work->in.target, NULL, &err) != TESELA_OK)
    return say_failure(cli, &err);
  int status = check_all(cli, &r, memory, (uint64_t)seed, &data);
  check_free(&data);
  tesela_graph_memory_destroy(memory);
  graph_progress_end();
  return status == CLI_YES && (r.different > 0 || r.tiled.poison_read > 0) ? CLI_NO : status;
}
