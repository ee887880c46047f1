/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_nodes.c - a program and its nodes: life, names, marks.
 *
 * A table of slots with linear probing finds names; entries are never removed.
 */
#include "graph/program/graph.h"

tesela_status tesela_graph_create(tesela_graph **graph, const tesela_allocator *allocator,
                                  tesela_error *err) {
  TESELA__NEED(err, graph);
  tesela_allocator alloc = tesela__allocator(allocator);
  tesela_graph *made = tesela__alloc(&alloc, sizeof *made, alignof(tesela_graph));
  if (!made) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a graph");
  *made = (tesela_graph){.allocator = alloc};
  *graph = made;
  return TESELA_OK;
}

void tesela_graph_destroy(tesela_graph *graph) {
  if (!graph) return;
  tesela_allocator alloc = graph->allocator;
  for (int32_t k = 0; k < graph->count; k++) {
    tesela__release(&alloc, graph->entry[k]->layout);
    tesela__release(&alloc, graph->entry[k]);
  }
  tesela__release(&alloc, graph->entry);
  tesela__release(&alloc, graph->hint);
  tesela__release(&alloc, graph->output);
  tesela__release(&alloc, graph->slot);
  tesela__release(&alloc, graph);
}

int32_t tesela_graph_count(const tesela_graph *graph) { return graph ? graph->count : 0; }

const tesela_node *tesela_graph_node(const tesela_graph *graph, int32_t k) {
  return graph && k >= 0 && k < graph->count ? &graph->entry[k]->node : NULL;
}

const tesela_node *tesela_graph_constant(const tesela_graph *graph, int32_t k) {
  if (!graph) return NULL;
  const tesela_node *shown = tesela_graph_node(graph, k), *node = shown;
  while (node && node->view) node = tesela__graph_operand(graph, node, 0);
  return node && node->op == TESELA_OP_CONSTANT && node->n_dims == 0 && node->dtype == shown->dtype ? node
                                                                                                    : NULL;
}

/* ---- names ---- */

uint64_t tesela__graph_hash(const char *name, size_t length) {
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)name[i]) * 1099511628211u;
  return hash ^ hash >> 29;
}

int32_t tesela_graph_find(const tesela_graph *graph, const char *name) {
  if (!graph || !name) return -1;
  if (graph->n_slots == 0) return -1;
  uint64_t hash = tesela__graph_hash(name, strlen(name));
  for (size_t i = (size_t)hash & (graph->n_slots - 1);; i = (i + 1) & (graph->n_slots - 1)) {
    int32_t k = graph->slot[i] - 1;
    if (k < 0) return -1;
    if (graph->entry[k]->hash == hash && strcmp(graph->entry[k]->node.name, name) == 0) return k;
  }
}

static void graph_put_slot(int32_t *slot, size_t n_slots, uint64_t hash, int32_t node) {
  size_t i = (size_t)hash & (n_slots - 1);
  while (slot[i] != 0) i = (i + 1) & (n_slots - 1);
  slot[i] = node + 1;
}

bool tesela__graph_reserve(tesela_graph *graph) {
  size_t need = (size_t)graph->count + 1;
  void *entries = graph->entry;
  if (!tesela__grow(&graph->allocator, &entries, sizeof *graph->entry, &graph->capacity, need)) return false;
  graph->entry = entries;
  if (graph->n_slots > 2 * need) return true;
  size_t n_slots = graph->n_slots ? graph->n_slots * 4 : 64;
  int32_t *slot = tesela__alloc(&graph->allocator, n_slots * sizeof *slot, alignof(int32_t));
  if (!slot) return false;
  memset(slot, 0, n_slots * sizeof *slot);
  for (int32_t k = 0; k < graph->count; k++) graph_put_slot(slot, n_slots, graph->entry[k]->hash, k);
  tesela__release(&graph->allocator, graph->slot);
  graph->slot = slot;
  graph->n_slots = n_slots;
  return true;
}

void tesela__graph_append(tesela_graph *graph, tesela__graph_entry *entry) {
  entry->hash = tesela__graph_hash(entry->node.name, strlen(entry->node.name));
  graph_put_slot(graph->slot, graph->n_slots, entry->hash, graph->count);
  graph->entry[graph->count++] = entry;
}

/* ---- marks ---- */

tesela_status tesela__graph_check_node(const tesela_graph *graph, int32_t node, tesela_error *err) {
  if (node >= 0 && node < graph->count) return TESELA_OK;
  return tesela__fail(err, TESELA_E_RANGE, -1, "node is %" PRId32 "; expected 0 to %" PRId32, node,
                      graph->count - 1);
}

int32_t tesela_graph_n_outputs(const tesela_graph *graph) { return graph ? graph->n_outputs : 0; }

int32_t tesela_graph_output(const tesela_graph *graph, int32_t k) {
  return graph && k >= 0 && k < graph->n_outputs ? graph->output[k] : -1;
}

tesela_status tesela_graph_add_output(tesela_graph *graph, int32_t node, tesela_error *err) {
  TESELA__NEED(err, graph);
  tesela_status status = tesela__graph_check_node(graph, node, err);
  if (status != TESELA_OK) return status;
  tesela__graph_entry *entry = graph->entry[node], *buffer = graph->entry[entry->node.buffer];
  if (entry->value != buffer->writes)
    return tesela__graph_fail(err, TESELA_E_INVALID, &entry->node,
                              "cannot be an output: its buffer %.40s was overwritten in place",
                              buffer->node.name);
  void *outputs = graph->output;
  if (!tesela__grow(&graph->allocator, &outputs, sizeof *graph->output, &graph->output_capacity,
                    (uint64_t)graph->n_outputs + 1))
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for an output");
  graph->output = outputs;
  graph->output[graph->n_outputs++] = node;
  entry->node.output = true;
  buffer->value_out = true;
  return TESELA_OK;
}

tesela_status tesela_graph_set_layout(tesela_graph *graph, int32_t node, const tesela_device_layout *layout,
                                      tesela_error *err) {
  TESELA__NEED(err, graph, layout);
  tesela_status status = tesela__graph_check_node(graph, node, err);
  if (status != TESELA_OK) return status;
  tesela__graph_entry *entry = graph->entry[node];
  tesela_node *to = &entry->node;
  if (to->buffer != node)
    return tesela__graph_fail(err, TESELA_E_INVALID, to, "has no layout of its own: its buffer is %.40s",
                              graph->entry[to->buffer]->node.name);
  if (layout->host.rank != to->rank ||
      (to->rank > 0 && memcmp(layout->host.shape, to->shape, (size_t)to->rank * sizeof *to->shape) != 0)) {
    char have[TESELA__SHAPE_TEXT], want[TESELA__SHAPE_TEXT];
    return tesela__graph_fail(err, TESELA_E_MISMATCH, to, "has shape %s, but the layout has %s",
                              tesela__shape_text(want, to->rank, to->shape),
                              tesela__shape_text(have, layout->host.rank, layout->host.shape));
  }
  if (!entry->layout) {
    entry->layout = tesela__alloc(&graph->allocator, sizeof *entry->layout, alignof(tesela_device_layout));
    if (!entry->layout) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a layout");
  }
  *entry->layout = *layout;
  to->layout = entry->layout;
  return TESELA_OK;
}

tesela_status tesela__graph_copy_marks(tesela_graph *to, const tesela_graph *from, const int32_t *map,
                                       tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < from->n_outputs && status == TESELA_OK; k++)
    status = tesela_graph_add_output(to, map[from->output[k]], err);
  for (int32_t h = 0; h < from->n_hints && status == TESELA_OK; h++) {
    tesela_hint hint = from->hint[h];
    hint.node = map[hint.node];
    status = tesela_graph_hint(to, &hint, err);
  }
  return status;
}
