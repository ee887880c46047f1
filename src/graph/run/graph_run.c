/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_run.c - a program from its inputs to its outputs.
 *
 * A buffer is created when its node runs: poison goes to every place and all marks are cleared. A result that reuses an
 * operand's memory is cleaned of old elements once it is complete. Memory is one block for each buffer, or the planned arena
 * and scratchpad and a block for each buffer that is outside of both.
 */
#include "graph/run/run.h"
#include "graph/program/graph.h"

/* ---- memory ------------------------------------------------------------------------------------------------- */

static tesela_status run_no_memory(tesela_error *err) {
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the buffers of a program");
}

/* ---- buffers ------------------------------------------------------------------------------------------------ */

/* How a buffer's elements are stored. */
static tesela_status run_describe(tesela__run *run, int32_t node, tesela_error *err) {
  const tesela_node *of = tesela_graph_node(run->graph, node);
  tesela__run_buffer *buffer = &run->buffer[node];
  buffer->host = of->dtype;
  buffer->class = tesela__run_class_of(of->dtype);
  buffer->dtype = of->dtype;
  int32_t bits = of->bits;
  buffer->places = 1;
  for (int32_t d = 0; d < of->rank; d++) buffer->places *= of->shape[d]; /* the graph checked it */
  if (!run->plain) {
    if (!of->layout)
      return tesela__fail(err, TESELA_E_INVALID, -1, "%.80s has no layout; propagate, or run it plain",
                          of->name);
    buffer->dtype = of->layout->host.device_dtype;
    bits = of->layout->host.device_bits;
    buffer->places = of->layout->places;
  } else if (run->device_types) {
    tesela_target_type type;
    if (tesela_target_type_of(run->target, of->dtype, &type, NULL, NULL) == TESELA_OK) {
      buffer->dtype = type.device;
      bits = type.device_bits;
    }
  }
  if (!tesela__run_known(buffer->host) || !tesela__run_known(buffer->dtype) || bits % 8 != 0 || bits > 128)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%.80s has type %s, which cannot be computed",
                        of->name, of->dtype == TESELA_DTYPE_NONE ? "none" : tesela_dtype_name(of->dtype));
  if (bits / 8 < tesela__run_bytes(buffer->dtype))
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "%.80s is laid out in elements of %" PRId32 " bits; %s needs more", of->name, bits,
                        tesela_dtype_name(buffer->dtype));
  buffer->width = bits / 8;
  int64_t bytes; /* checked: they fit from here on */
  return tesela__mul(buffer->places, buffer->width, &bytes) ? TESELA_OK : run_no_memory(err);
}

static tesela_status run_describe_all(tesela__run *run, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < tesela_graph_count(run->graph) && status == TESELA_OK; k++) {
    const tesela_node *node = tesela_graph_node(run->graph, k);
    run->buffer[k] = (tesela__run_buffer){.bytes = NULL};
    if (node->op == TESELA_OP_FALLBACK)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%.80s is a fallback (%.60s) and cannot be run",
                          node->name, node->opcode ? node->opcode : "?");
    if (node->buffer != k) continue;
    status = run_describe(run, k, err);
    run->grain = (int32_t)tesela__gcd(run->grain, run->buffer[k].width);
    const tesela_graph_place *place = run->memory ? tesela_graph_memory_of(run->memory, k) : NULL;
    if (status == TESELA_OK && run->memory && !place)
      return tesela__fail(err, TESELA_E_INVALID, -1, "%.80s has no place in the memory plan", node->name);
    if (place && !place->external) run->grain = (int32_t)tesela__gcd(run->grain, place->offset);
  }
  return status;
}

/* Bytes of marks for a block; saturates. */
static int64_t run_marks(const tesela__run *run, int64_t bytes) {
  int64_t marks;
  bool fits = tesela__mul(tesela__ceil_div(bytes, run->grain), (int64_t)sizeof(int32_t), &marks);
  return fits ? marks : INT64_MAX;
}

/* A block of bytes and the marks for it. */
static tesela_status run_block(tesela__run *run, int64_t bytes, uint8_t **memory, int32_t **mark,
                               tesela_error *err) {
  *memory = tesela__run_take(run, &run->blocks, bytes, 1);
  *mark = tesela__run_take(run, &run->blocks, run_marks(run, bytes), 1);
  if (!*memory || !*mark) return run_no_memory(err);
  memset(*mark, 0, (size_t)run_marks(run, bytes));
  run->facts.arena_bytes += bytes;
  return TESELA_OK;
}

/* Bytes of a buffer that is not in the plan. */
static tesela_status run_own_bytes(const tesela__run *run, int32_t node, int64_t *bytes, tesela_error *err) {
  const tesela__run_buffer *buffer = &run->buffer[node];
  const tesela_device_layout *layout = tesela_graph_node(run->graph, node)->layout;
  *bytes = buffer->places * buffer->width;
  tesela_device_sizes sizes;
  tesela_status status = run->plain ? TESELA_OK : tesela_device_sizes_of(layout, run->target, &sizes, err);
  if (!run->plain && status == TESELA_OK) *bytes = tesela__max(*bytes, sizes.allocation_bytes);
  return status;
}

static tesela_status run_own_block(tesela__run *run, int32_t node, tesela_error *err) {
  tesela__run_buffer *buffer = &run->buffer[node];
  int64_t bytes;
  tesela_status status = run_own_bytes(run, node, &bytes, err);
  return status != TESELA_OK ? status : run_block(run, bytes, &buffer->bytes, &buffer->mark, err);
}

/* Is the buffer of a node in the arena or the scratchpad? */
static bool run_is_planned(const tesela__run *run, int32_t node) {
  const tesela_graph_place *place = run->memory ? tesela_graph_memory_of(run->memory, node) : NULL;
  return place && !place->external;
}

/* A planned place must be large enough: the plan may be of another graph. */
static tesela_status run_planned(tesela__run *run, int32_t node, uint8_t *memory, int32_t *mark, int64_t size,
                                 tesela_error *err) {
  const tesela_graph_place *place = tesela_graph_memory_of(run->memory, node);
  tesela__run_buffer *buffer = &run->buffer[node];
  int64_t bytes = buffer->places * buffer->width;
  if (place->offset < 0 || bytes > place->bytes || place->offset > size - bytes)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "%.80s needs %" PRId64 " bytes; the memory plan has %" PRId64 " at %" PRId64,
                        tesela_graph_node(run->graph, node)->name, bytes, place->bytes, place->offset);
  buffer->bytes = memory + place->offset;
  buffer->mark = mark + place->offset / run->grain;
  buffer->taken = place->in_place_of >= 0;
  return TESELA_OK;
}

static tesela_status run_buffers(tesela__run *run, tesela_error *err) {
  uint8_t *memory[2] = {NULL, NULL};
  int32_t *mark[2] = {NULL, NULL};
  int64_t size[2] = {0, 0};
  tesela_status status = TESELA_OK;
  if (run->memory) {
    tesela_graph_memory_facts facts = tesela_graph_memory_facts_of(run->memory);
    size[0] = facts.arena.peak;
    size[1] = facts.scratchpad.peak;
    for (int32_t i = 0; i < 2 && status == TESELA_OK; i++)
      status = run_block(run, size[i], &memory[i], &mark[i], err);
  }
  for (int32_t k = 0; k < tesela_graph_count(run->graph) && status == TESELA_OK; k++) {
    if (tesela_graph_node(run->graph, k)->buffer != k) continue;
    bool planned = run_is_planned(run, k);
    int32_t at = planned && tesela_graph_memory_of(run->memory, k)->scratchpad;
    status = planned ? run_planned(run, k, memory[at], mark[at], size[at], err) : run_own_block(run, k, err);
  }
  return status;
}

/* Poison everywhere, and no marks. */
static void run_poison(tesela__run *run, int32_t node) {
  tesela__run_buffer *buffer = &run->buffer[node];
  int64_t all = buffer->places * buffer->width, done = buffer->width;
  if (all == 0) return;
  tesela__run_poison(buffer->dtype, buffer->bytes, buffer->width);
  for (; done < all; done = tesela__min(2 * done, all)) /* twice as much each time */
    memcpy(buffer->bytes + done, buffer->bytes, (size_t)tesela__min(done, all - done));
  memset(buffer->mark, 0, (size_t)(all / run->grain) * sizeof *buffer->mark);
}

/* Poison all places that were not written for the buffer. */
static void run_clean(tesela__run *run, int32_t node) {
  tesela__run_buffer *buffer = &run->buffer[node];
  int32_t n = buffer->width / run->grain, width = buffer->width;
  for (int64_t p = 0; p < buffer->places; p++) {
    int32_t *mark = buffer->mark + p * n;
    bool own = true;
    for (int32_t i = 0; i < n; i++) own = own && mark[i] == node + 1;
    if (own) continue;
    tesela__run_poison(buffer->dtype, buffer->bytes + p * width, width);
    for (int32_t i = 0; i < n; i++) mark[i] = 0;
  }
}

/* ---- progress ----------------------------------------------------------------------------------------------- */

/* The product of extents, at most `most`. */
static int64_t run_product(int32_t n, const int64_t *extent, int64_t most) {
  int64_t all = 1;
  for (int32_t i = 0; i < n; i++)
    if (!tesela__mul(all, extent[i], &all) || all > most) return most;
  return all;
}

/* The results of an operator, plus the products that it folds, the values that it scatters, or the elements of its lines, times
 * the passes over them. Saturates. */
static int64_t run_work(const tesela_graph *graph, int32_t node) {
  const int64_t most = (INT64_C(1) << 59) / (tesela_graph_count(graph) + 1); /* and the same for results */
  const tesela_node *of = tesela_graph_node(graph, node);
  tesela_iteration iteration;
  if (of->view || of->op == TESELA_OP_INPUT) return 0;
  int64_t results = run_product(of->rank, of->shape, most);
  if (tesela_graph_iteration(graph, node, &iteration, NULL) != TESELA_OK) return results;
  bool scatters = of->op == TESELA_OP_SCATTER, along = of->op == TESELA_OP_ALONG;
  if (scatters) iteration.extent[of->dim[0]] = 1;
  if (along) iteration.extent[of->dim[0]] = tesela__run_along_times(of->fn, iteration.extent[of->rank]);
  int64_t all = run_product(iteration.n, iteration.extent, most);
  return results + (scatters || along || all > results ? all : 0);
}

/* Add a block and its marks. */
static void run_need_block(const tesela__run *run, int64_t bytes, tesela_graph_run_needs *needs) {
  const int64_t most = INT64_C(1) << 60;
  if (!tesela__add(bytes, run_marks(run, bytes), &bytes) || !tesela__add(needs->bytes, bytes, &bytes))
    bytes = most;
  needs->bytes = tesela__min(bytes, most);
}

/* Steps and memory that a run needs, before it starts. */
static tesela_status run_needs(tesela__run *run, tesela_graph_run_needs *needs, tesela_error *err) {
  tesela_status status = TESELA_OK;
  int64_t largest = -1;
  *needs = (tesela_graph_run_needs){.node = -1};
  if (run->memory) {
    tesela_graph_memory_facts facts = tesela_graph_memory_facts_of(run->memory);
    run_need_block(run, facts.arena.peak, needs);
    run_need_block(run, facts.scratchpad.peak, needs);
  }
  for (int32_t k = 0; k < tesela_graph_count(run->graph) && status == TESELA_OK; k++) {
    int64_t work = run_work(run->graph, k), bytes = 0;
    needs->steps += work;
    if (work > largest) largest = work, needs->node = k;
    if (tesela_graph_node(run->graph, k)->buffer != k || run_is_planned(run, k)) continue;
    status = run_own_bytes(run, k, &bytes, err);
    if (status == TESELA_OK) run_need_block(run, bytes, needs);
  }
  return status;
}

/* Does the run keep the limits of its options? */
static tesela_status run_check(const tesela__run *run, const tesela_graph_run_needs *needs,
                               const tesela_graph_run_options *options, tesela_error *err) {
  int64_t steps = options && options->max_steps ? options->max_steps : TESELA_GRAPH_RUN_STEPS;
  int64_t bytes = options && options->max_bytes ? options->max_bytes : TESELA_GRAPH_RUN_BYTES;
  if (steps < 0 || bytes < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "max_steps is %" PRId64 ", max_bytes %" PRId64 "; expected 0 or more", steps, bytes);
  if (needs->steps > steps)
    return tesela__refuse(err, TESELA_E_LIMIT, TESELA_REASON_MAX_STEPS,
                          "the run needs %" PRId64 " steps, most of them for %.80s; max_steps is %" PRId64,
                          needs->steps, tesela_graph_node(run->graph, needs->node)->name, steps);
  if (needs->bytes > bytes)
    return tesela__refuse(err, TESELA_E_LIMIT, TESELA_REASON_MAX_BYTES,
                          "the buffers of the run need %" PRId64 " bytes; max_bytes is %" PRId64,
                          needs->bytes, bytes);
  return TESELA_OK;
}

/* ---- the program -------------------------------------------------------------------------------------------- */

/* What a move costs by default: the places of the buffer; of a view, which is copied, those of the copy. */
static int64_t run_moved(const tesela__run *run, int32_t node) {
  const tesela_node *from = tesela_graph_node(run->graph, tesela_graph_node(run->graph, node)->operand[0]);
  const tesela_node *buffer = tesela_graph_node(run->graph, from->buffer);
  bool whole = from->rank == buffer->rank && from->offset == 0;
  for (int32_t d = 0; d < from->rank && whole; d++)
    whole =
        from->shape[d] == buffer->shape[d] && (from->shape[d] <= 1 || from->stride[d] == buffer->stride[d]);
  return run->buffer[whole ? from->buffer : node].places;
}

static tesela_status run_node(tesela__run *run, int32_t node, tesela_error *err) {
  const tesela_node *of = tesela_graph_node(run->graph, node);
  if (of->view || of->op == TESELA_OP_INPUT) return TESELA_OK;
  bool own = of->buffer == node, taken = own && run->buffer[node].taken;
  int64_t worked = run->worked + run_work(run->graph, node);
  if (own && !taken) run_poison(run, node);
  tesela_status status = tesela__run_operator(run, node, err);
  tesela__run_drop(run, &run->scratch);
  if (status != TESELA_OK) return status;
  if (taken) run_clean(run, node);
  run->worked = worked; /* products left out at borders count as done */
  run->facts.operators++;
  if (of->op == TESELA_OP_MOVE) run->facts.moved += run_moved(run, node);
  return TESELA_OK;
}

/* Memory for a tensor, unless it has no elements. */
static tesela_status run_need(const tesela_node *node, const void *memory, tesela_error *err) {
  for (int32_t d = 0; d < node->rank; d++)
    if (node->shape[d] == 0) return TESELA_OK;
  return memory ? TESELA_OK
                : tesela__fail(err, TESELA_E_INVALID, -1, "the memory of %.80s is NULL", node->name);
}

/* Is there memory for each input and output that has elements? */
static tesela_status run_given(const tesela__run *run, const void *const *inputs, void *const *outputs,
                               tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t k = 0, i = 0; k < tesela_graph_count(run->graph) && status == TESELA_OK; k++) {
    const tesela_node *node = tesela_graph_node(run->graph, k);
    if (node->op != TESELA_OP_INPUT) continue;
    TESELA__NEED_LIST(err, inputs, 1);
    status = run_need(node, inputs[i++], err);
  }
  for (int32_t k = 0; k < tesela_graph_n_outputs(run->graph) && status == TESELA_OK; k++) {
    TESELA__NEED_LIST(err, outputs, 1);
    status = run_need(tesela_graph_node(run->graph, tesela_graph_output(run->graph, k)), outputs[k], err);
  }
  return status;
}

static tesela_status run_inputs(tesela__run *run, const void *const *inputs, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t k = 0, n = 0; k < tesela_graph_count(run->graph) && status == TESELA_OK; k++) {
    if (tesela_graph_node(run->graph, k)->op != TESELA_OP_INPUT) continue;
    run_poison(run, k);
    status = tesela__run_input(run, k, inputs[n++], err);
    tesela__run_drop(run, &run->scratch);
  }
  return status;
}

static tesela_status run_outputs(tesela__run *run, void *const *outputs, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < tesela_graph_n_outputs(run->graph) && status == TESELA_OK; k++) {
    status = tesela__run_output(run, tesela_graph_output(run->graph, k), outputs[k], err);
    tesela__run_drop(run, &run->scratch);
  }
  return status;
}

static void run_inspect(const tesela__run *run) {
  for (int32_t k = 0; k < tesela_graph_count(run->graph) && run->hooks.inspect; k++)
    if (tesela_graph_node(run->graph, k)->buffer == k)
      run->hooks.inspect(run->hooks.user, k, &run->buffer[k], run->grain);
}

/* Describe each buffer. */
static tesela_status run_begin(tesela__run *run, tesela_graph_run_needs *needs, tesela_error *err) {
  run->buffer = tesela__run_take(run, &run->blocks, tesela_graph_count(run->graph), sizeof *run->buffer);
  if (!run->buffer) return run_no_memory(err);
  tesela_status status = run_describe_all(run, err);
  if (status == TESELA_OK && run->grain == 0) run->grain = 1;
  if (status == TESELA_OK) status = run_needs(run, needs, err);
  run->work = needs->steps;
  return status;
}

static tesela_status run_all(tesela__run *run, const void *const *inputs, void *const *outputs,
                             const tesela_graph_run_options *options, tesela_error *err) {
  int32_t count = tesela_graph_count(run->graph);
  tesela_graph_run_needs needs = {0};
  tesela_status status = run_begin(run, &needs, err);
  if (status == TESELA_OK) status = run_check(run, &needs, options, err);
  if (status == TESELA_OK) status = run_given(run, inputs, outputs, err);
  if (status == TESELA_OK) status = run_buffers(run, err);
  if (status == TESELA_OK) status = run_inputs(run, inputs, err);
  for (int32_t k = 0; k < count && status == TESELA_OK; k++) status = run_node(run, k, err);
  if (status == TESELA_OK) status = run_outputs(run, outputs, err);
  if (status == TESELA_OK) run_inspect(run);
  return status;
}

static tesela__run run_of(const tesela_graph *graph, const tesela_target *target,
                          const tesela_graph_run_options *options) {
  tesela__run run = {.graph = graph,
                     .target = target,
                     .plain = options && options->plain,
                     .allocator = tesela__allocator(options ? options->allocator : NULL)};
  if (options) {
    run.progress = options->progress;
    run.progress_user = options->progress_user;
  }
  run.device_types = run.plain && options->device_types && target;
  if (!run.plain && options) run.memory = options->memory;
  return run;
}

tesela_status tesela_graph_run_needs_of(const tesela_graph *graph, const tesela_target *target,
                                        const tesela_graph_run_options *options,
                                        tesela_graph_run_needs *needs, tesela_error *err) {
  TESELA__NEED(err, graph, needs);
  TESELA__NEED_CLEAR(err, options);
  tesela__run run = run_of(graph, target, options);
  tesela_graph_run_needs found = {0};
  tesela_status status = run_begin(&run, &found, err);
  tesela__run_drop(&run, &run.blocks);
  if (status == TESELA_OK) *needs = found;
  return status;
}

tesela_status tesela__graph_run(const tesela_graph *graph, const tesela_target *target,
                                const void *const *inputs, void *const *outputs,
                                const tesela_graph_run_options *options, const tesela__run_hooks *hooks,
                                tesela_graph_run_facts *facts, tesela_error *err) {
  tesela__run run = run_of(graph, target, options);
  if (hooks) run.hooks = *hooks;
  tesela_status status = run_all(&run, inputs, outputs, options, err);
  tesela__run_drop(&run, &run.scratch);
  tesela__run_drop(&run, &run.blocks);
  if (status == TESELA_OK && facts) *facts = run.facts;
  return status;
}

tesela_status tesela_graph_run(const tesela_graph *graph, const tesela_target *target,
                               const void *const *inputs, void *const *outputs,
                               const tesela_graph_run_options *options, tesela_graph_run_facts *facts,
                               tesela_error *err) {
  TESELA__NEED(err, graph);
  TESELA__NEED_CLEAR(err, options);
  return tesela__graph_run(graph, target, inputs, outputs, options, NULL, facts, err);
}
