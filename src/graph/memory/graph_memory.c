/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_memory.c - live ranges, reuse in place, and the arena and scratchpad of a program.
 *
 * A chain of buffers that reuse each other's memory is one buffer of the arena: it lives from the first to the last of them and
 * has the size of the first. tesela_arena_plan places all buffers, the scratchpad first: those whose traffic saves most stay
 * there, the others go to the arena.
 */
#include "graph/memory/graph_memory.h"

/* ---- buffers ------------------------------------------------------------------------------------------ */

static tesela_status lives_sizes(tesela__memory_plan *plan, tesela_error *err) {
  for (int32_t k = 0; k < plan->count; k++) {
    const tesela_node *node = tesela_graph_node(plan->graph, k);
    plan->place_of[k] = -1;
    if (node->buffer != k || node->dtype == TESELA_TOKEN) continue;
    if (!node->layout)
      return tesela__fail(err, TESELA_E_INVALID, -1, "%.80s has no layout; apply a propagation first",
                          node->name);
    tesela_device_sizes sizes;
    tesela_status status = tesela_device_sizes_of(node->layout, plan->target, &sizes, err);
    if (status != TESELA_OK) return status;
    plan->host_bytes[plan->n] = sizes.host_bytes;
    plan->place[plan->n] = (tesela_graph_place){.node = k,
                                                .lower = node->op == TESELA_OP_INPUT ? 0 : k,
                                                .upper = k + 1,
                                                .bytes = sizes.allocation_bytes,
                                                .offset = -1,
                                                .in_place_of = -1};
    plan->place_of[k] = plan->n++;
  }
  for (int32_t k = 0; k < plan->count; k++)
    plan->place_of[k] = plan->place_of[tesela_graph_node(plan->graph, k)->buffer];
  return TESELA_OK;
}

/* Find the last reads of buffers, and the buffers of the caller. */
static void lives(tesela__memory_plan *plan) {
  for (int32_t k = 0; k < plan->count; k++) {
    const tesela_node *node = tesela_graph_node(plan->graph, k);
    tesela_graph_place *own = plan->place_of[k] < 0 ? NULL : &plan->place[plan->place_of[k]];
    if (own && node->output) own->upper = plan->count;
    if (own && !plan->options.inputs && (node->output || node->op == TESELA_OP_INPUT)) own->external = true;
    for (int32_t o = 0; o < node->n_operands && !node->view; o++) {
      int32_t read = plan->place_of[node->operand[o]];
      if (read >= 0 && plan->place[read].upper < k + 1) plan->place[read].upper = k + 1;
    }
  }
}

/* ---- traffic ------------------------------------------------------------------------------------------------ */

/* Different elements of a tensor, in bytes on the device. */
static int64_t lives_elements(const tesela__memory_plan *plan, int32_t number) {
  const tesela_node *node = tesela_graph_node(plan->graph, number);
  const tesela_node *buffer = tesela_graph_node(plan->graph, node->buffer);
  int64_t bytes = buffer->layout ? buffer->layout->host.device_bits / 8 : 0;
  for (int32_t d = 0; d < node->rank; d++)
    if (node->stride[d] != 0 || node->shape[d] == 0) bytes *= node->shape[d];
  return bytes;
}

static bool lives_traffic_add(tesela__memory_plan *plan, int32_t number, int64_t bytes) {
  int32_t at = plan->place_of[number];
  return at < 0 || (tesela__add(plan->traffic[at], bytes, &plan->traffic[at]) &&
                    tesela__add(plan->facts.traffic, bytes, &plan->facts.traffic));
}

/* The traffic of an operator: each different element of its operands once, of a looked-up tensor as many as the result has; in
 * place only the written elements. */
static bool lives_traffic(tesela__memory_plan *plan, int32_t k) {
  const tesela_node *node = tesela_graph_node(plan->graph, k);
  if (node->view || node->op == TESELA_OP_INPUT) return true;
  int64_t written = lives_elements(plan, k);
  for (int32_t o = 0; o < node->n_operands; o++) {
    int64_t read = lives_elements(plan, node->operand[o]);
    if (node->op == TESELA_OP_GATHER && o == 0) read = tesela__min(read, written);
    if (node->in_place && o == 0) continue;
    if (!lives_traffic_add(plan, node->operand[o], read)) return false;
  }
  if (node->in_place) {
    written = lives_elements(plan, node->operand[node->n_operands - 1]);
    if (node->fn == TESELA_FN_ADD && !lives_traffic_add(plan, k, written)) return false;
  }
  return lives_traffic_add(plan, k, written);
}

/* ---- placing ------------------------------------------------------------------------------------------------ */

/* The first buffer of the chain whose memory this one reuses. */
static int32_t lives_root(const tesela__memory_plan *plan, int32_t at) {
  while (plan->place[at].in_place_of >= 0) at = plan->place_of[plan->place[at].in_place_of];
  return at;
}

/* One buffer of the arena for each root, in the order of nodes; place_of_root[i] is its number there or -1. */
static int32_t lives_gather(tesela__memory_plan *plan, tesela_arena_buffer *buffer, int32_t *number,
                            bool left) {
  int32_t n = 0;
  for (int32_t i = 0; i < plan->n; i++) {
    tesela_graph_place *place = &plan->place[i];
    int32_t root = lives_root(plan, i);
    number[i] = -1;
    if (place->external || (left && plan->place[root].scratchpad)) continue;
    if (root == i) {
      buffer[n] = (tesela_arena_buffer){.lower = place->lower,
                                        .upper = place->upper,
                                        .size = place->bytes,
                                        .alignment = tesela__max(plan->target->alignment, 1),
                                        .offset = TESELA_ARENA_FREE};
      snprintf(buffer[n].id, sizeof buffer[n].id, "%" PRId32, place->node);
      number[i] = n++;
    }
    tesela_arena_buffer *of = &buffer[number[root]];
    number[i] = number[root];
    of->upper = tesela__max(of->upper, place->upper);
    if (!tesela__add(of->weight, plan->traffic[i], &of->weight)) of->weight = INT64_MAX;
  }
  return n;
}

static void lives_take(tesela__memory_plan *plan, const tesela_arena_buffer *buffer, const int32_t *number,
                       bool scratchpad) {
  for (int32_t i = 0; i < plan->n; i++) {
    if (number[i] < 0 || buffer[number[i]].offset < 0) continue;
    plan->place[i].offset = buffer[number[i]].offset;
    plan->place[i].scratchpad = scratchpad;
    if (scratchpad) plan->facts.traffic_saved += plan->traffic[i]; /* a part of the checked sum */
  }
}

static tesela_status lives_place(tesela__memory_plan *plan, tesela_arena_buffer *buffer, int32_t *number,
                                 tesela_error *err) {
  tesela_status status = TESELA_OK;
  tesela_arena_options options = {.effort = plan->options.effort,
                                  .allocator = &plan->allocator,
                                  .progress = plan->options.progress,
                                  .progress_user = plan->options.progress_user};
  if (plan->options.scratchpad > 0) {
    options.capacity = plan->options.scratchpad;
    options.spill = true;
    int32_t n = lives_gather(plan, buffer, number, false);
    status = tesela_arena_plan(n, buffer, &options, &plan->facts.scratchpad, err);
    if (status != TESELA_OK) return status;
    lives_take(plan, buffer, number, true);
  }
  options.capacity = plan->options.capacity;
  options.spill = false;
  int32_t n = lives_gather(plan, buffer, number, true);
  status = tesela_arena_plan(n, buffer, &options, &plan->facts.arena, err);
  if (status == TESELA_OK) lives_take(plan, buffer, number, false);
  return status;
}

static bool lives_sums(tesela__memory_plan *plan) {
  tesela_graph_memory_facts *facts = &plan->facts;
  for (int32_t i = 0; i < plan->n; i++) {
    const tesela_graph_place *place = &plan->place[i];
    if (place->external ? !tesela__add(facts->external, place->bytes, &facts->external)
                        : !tesela__add(facts->naive, place->bytes, &facts->naive) ||
                              !tesela__add(facts->host_bytes, plan->host_bytes[i], &facts->host_bytes))
      return false;
    facts->reused += place->in_place_of >= 0;
  }
  for (int32_t k = 0; k < plan->count; k++)
    if (!lives_traffic(plan, k)) return false;
  return true;
}

/* ---- the plan ----------------------------------------------------------------------------------------------- */

static void *lives_array(tesela__memory_plan *plan, size_t size) {
  return tesela__alloc(&plan->allocator, (uint64_t)plan->count * size, alignof(max_align_t));
}

static tesela_status lives_make(tesela__memory_plan *plan, tesela_arena_buffer *buffer, int32_t *number,
                                tesela_error *err) {
  tesela_status status = lives_sizes(plan, err);
  if (status != TESELA_OK) return status;
  lives(plan);
  if (!plan->options.no_reuse) status = tesela__memory_reuse(plan, err);
  if (status != TESELA_OK) return status;
  memset(plan->traffic, 0, (size_t)plan->n * sizeof *plan->traffic);
  if (!lives_sums(plan))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1,
                        "the bytes of the program's buffers do not fit in 64 bits");
  return lives_place(plan, buffer, number, err);
}

tesela_status tesela_graph_plan_memory(tesela_graph_memory **out, const tesela_graph *graph,
                                       const tesela_target *target,
                                       const tesela_graph_memory_options *options, tesela_error *err) {
  TESELA__NEED(err, out, graph, target);
  TESELA__NEED_CLEAR(err, options);
  tesela__memory_plan plan = {.graph = graph, .target = target, .count = tesela_graph_count(graph)};
  if (options) plan.options = *options;
  plan.allocator = tesela__allocator(plan.options.allocator);
  tesela_graph_memory *memory = tesela__alloc(&plan.allocator, sizeof *memory, alignof(tesela_graph_memory));
  if (memory) *memory = (tesela_graph_memory){.allocator = plan.allocator};
  plan.place = lives_array(&plan, sizeof *plan.place);
  plan.place_of = lives_array(&plan, sizeof *plan.place_of);
  plan.traffic = lives_array(&plan, sizeof *plan.traffic);
  plan.host_bytes = lives_array(&plan, sizeof *plan.host_bytes);
  tesela_arena_buffer *buffer = lives_array(&plan, sizeof *buffer);
  int32_t *number = lives_array(&plan, sizeof *number);
  tesela_status status = TESELA_OK;
  if (!memory || !plan.place || !plan.place_of || !plan.traffic || !plan.host_bytes || !buffer || !number)
    status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a plan of %" PRId32 " nodes", plan.count);
  if (status == TESELA_OK) status = lives_make(&plan, buffer, number, err);
  tesela__release(&plan.allocator, number);
  tesela__release(&plan.allocator, buffer);
  tesela__release(&plan.allocator, plan.host_bytes);
  tesela__release(&plan.allocator, plan.traffic);
  if (status != TESELA_OK) {
    tesela__release(&plan.allocator, plan.place_of);
    tesela__release(&plan.allocator, plan.place);
    tesela__release(&plan.allocator, memory);
    return status;
  }
  memory->n = plan.n;
  memory->count = plan.count;
  memory->place = plan.place;
  memory->place_of = plan.place_of;
  memory->facts = plan.facts;
  *out = memory;
  return TESELA_OK;
}

void tesela_graph_memory_destroy(tesela_graph_memory *memory) {
  if (!memory) return;
  tesela_allocator allocator = memory->allocator;
  tesela__release(&allocator, memory->place_of);
  tesela__release(&allocator, memory->place);
  tesela__release(&allocator, memory);
}

tesela_graph_memory_facts tesela_graph_memory_facts_of(const tesela_graph_memory *memory) {
  if (!memory) return (tesela_graph_memory_facts){0};
  return memory->facts;
}

const tesela_graph_place *tesela_graph_memory_place(const tesela_graph_memory *memory, int32_t k) {
  return memory && k >= 0 && k < memory->n ? &memory->place[k] : NULL;
}

const tesela_graph_place *tesela_graph_memory_of(const tesela_graph_memory *memory, int32_t node) {
  if (!memory) return NULL;
  if (node < 0 || node >= memory->count || memory->place_of[node] < 0) return NULL;
  return &memory->place[memory->place_of[node]];
}
