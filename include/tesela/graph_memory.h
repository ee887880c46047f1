/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_memory.h - an arena for the buffers of a program: live ranges, true sizes, reuse.
 *
 * A buffer lives from the node that makes it to the last node that reads it, through any view; an output to the end, an input
 * from the start. Its size is the device layout's, padding included, rounded up to the target's alignment. A result may take the
 * place of an operand that ends there, if each of its elements lies where the operand's element of the same index lay.
 *
 *   0 x, 1 a = neg x, 2 b = exp a, 3 b.T, 4 c = b + b.T, 5 d = neg c      f16[64,64], 8192 bytes each; x and d are the caller's
 *     a lives at nodes 1 and 2, b at 2 to 4 in a's place, c at 4 and 5 not in b's: elements of b.T lie elsewhere. Peak 16384 of 24576
 *
 * Why that suffices: an operator reads all operands of an element before it writes the element, and no other element reads there.
 */
#ifndef TESELA_GRAPH_MEMORY_H
#define TESELA_GRAPH_MEMORY_H

#include <tesela/arena.h>
#include <tesela/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tesela_graph_memory_options {
  int64_t capacity;   ///< bytes; 0: as many as needed
  int64_t scratchpad; ///< bytes of fast memory that buffers are kept in first, by traffic saved; 0: none
  int64_t effort;     ///< as tesela_arena_options
  bool no_reuse;      ///< no result in an operand's place
  bool inputs;        ///< inputs and outputs are in the arena too
  const tesela_allocator *allocator;
} tesela_graph_memory_options;

typedef struct tesela_graph_memory tesela_graph_memory;

/// Where a buffer is.
typedef struct tesela_graph_place {
  int32_t node;              ///< the buffer
  int32_t lower, upper;      ///< nodes lower .. upper-1
  int64_t bytes;             ///< of its layout, rounded up to the alignment
  int64_t offset;            ///< in the arena, or in the scratchpad
  bool scratchpad, external; ///< external: an input or output outside the arena, offset -1
  int32_t in_place_of;       ///< the buffer whose place it takes, -1
} tesela_graph_place;

typedef struct tesela_graph_memory_facts {
  tesela_arena_facts arena, scratchpad;
  int64_t
      host_bytes; ///< sum of the host tensors' bytes of those not external: what planning without padding would count
  int64_t naive;    ///< sum of their device bytes: no reuse at all
  int64_t external; ///< bytes of inputs and outputs outside the arena
  int64_t traffic,
      traffic_saved; ///< bytes read and written by operators (each element once an operand, padding not counted), and those of buffers that stay in the scratchpad
  int32_t reused;    ///< results in an operand's place
} tesela_graph_memory_facts;

/// Plan memory for a graph whose buffers all have layouts (tesela_graph_apply).
/// @return TESELA_OK; TESELA_E_INVALID if a buffer has no layout; TESELA_E_LIMIT if the capacity does not suffice (as
///         tesela_arena_plan); TESELA_E_OVERFLOW; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_graph_plan_memory(tesela_graph_memory **out, const tesela_graph *graph,
                                                  const tesela_target *target,
                                                  const tesela_graph_memory_options *options,
                                                  tesela_error *err);
/// NULL is fine.
TESELA_API void tesela_graph_memory_destroy(tesela_graph_memory *memory);
TESELA_API tesela_graph_memory_facts tesela_graph_memory_facts_of(const tesela_graph_memory *memory);
/// Place k in the order of nodes; NULL behind the last.
TESELA_API const tesela_graph_place *tesela_graph_memory_place(const tesela_graph_memory *memory, int32_t k);
/// The place of a node's buffer; NULL if it has none.
TESELA_API const tesela_graph_place *tesela_graph_memory_of(const tesela_graph_memory *memory, int32_t node);

#ifdef __cplusplus
}
#endif
#endif
