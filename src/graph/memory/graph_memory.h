/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_memory.h - a memory plan under construction.
 */
#ifndef TESELA_SRC_GRAPH_MEMORY_H
#define TESELA_SRC_GRAPH_MEMORY_H

#include <stdio.h>

#include <tesela/graph.h>

#include "base/base.h"

struct tesela_graph_memory {
  tesela_allocator allocator;
  int32_t n, count;          /* places; nodes of the graph */
  tesela_graph_place *place; /* in the order of nodes */
  int32_t *place_of;         /* place of each node's buffer, or -1 */
  tesela_graph_memory_facts facts;
};

typedef struct tesela__memory_plan {
  const tesela_graph *graph;
  const tesela_target *target;
  tesela_graph_memory_options options;
  tesela_allocator allocator;
  int32_t n, count;
  tesela_graph_place *place;
  int32_t *place_of;
  int64_t *traffic, *host_bytes; /* of each place */
  tesela_graph_memory_facts facts;
} tesela__memory_plan;

/* Find the results that reuse an operand's memory, and set in_place_of. Fails only with TESELA_E_STOPPED. */
tesela_status tesela__memory_reuse(tesela__memory_plan *plan, tesela_error *err);

#endif
