/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_reuse.c - which results may reuse the memory of an operand.
 *
 * Both are expressed as layouts of the operator's plain loops. If the relations are equal, each iteration writes its element to
 * the place of the operand's element that it reads; since different elements have different places, no other iteration reads
 * there. An operator reads all operands of an element before it writes the element, so this is safe. It must hold for every
 * operand in the buffer. Of a scatter only operand 0 qualifies: its values are read after the copy of operand 0.
 *
 * The buffer may be larger than the result, and keeps its size: of several, the one with the fewest bytes is reused.
 */
#include "graph/loops/loops.h"
#include "graph/memory/graph_memory.h"

/* Does each element of operand o have the place of the same element of the result? */
static bool reuse_same_places(const tesela__memory_plan *plan, int32_t k, int32_t o,
                              const tesela_op_loops *loops, const tesela_layout *result) {
  tesela__op_tensor tensor;
  tesela_layout operand;
  tesela_difference difference;
  int64_t before;
  if (tesela__op_tensor_of(plan->graph, k, o, false, &tensor, NULL) != TESELA_OK) return false;
  if (tesela__op_tensor_looked_up(&tensor)) return false;
  if (tesela__loop_place(loops, &tensor, -1, &operand, &before, NULL) != TESELA_OK || before != 0)
    return false;
  operand.bits = result->bits; /* the widths are equal; types do not matter */
  operand.dtype = result->dtype;
  return tesela_layout_compare(result, &operand, &difference, NULL) == TESELA_OK && difference.same;
}

/* The layout of the result; false: it cannot reuse memory. */
static bool reuse_result(const tesela__memory_plan *plan, int32_t k, tesela_op_loops *loops,
                         tesela_layout *result) {
  tesela__op_tensor tensor;
  int64_t before;
  return tesela__op_loops(plan->graph, k, true, loops, NULL) == TESELA_OK &&
         tesela__op_tensor_of(plan->graph, k, -1, false, &tensor, NULL) == TESELA_OK &&
         tesela__loop_place(loops, &tensor, -1, result, &before, NULL) == TESELA_OK;
}

/* May the buffer of operand o end here, for the result to reuse its bytes? */
static bool reuse_ends(const tesela__memory_plan *plan, int32_t k, int32_t o) {
  const tesela_node *node = tesela_graph_node(plan->graph, k);
  int32_t from = plan->place_of[node->operand[o]], to = plan->place_of[k];
  if (from < 0) return false;
  const tesela_graph_place *a = &plan->place[from], *b = &plan->place[to];
  const tesela_node *old = tesela_graph_node(plan->graph, a->node);
  return !a->external && a->upper == k + 1 && a->node < k && b->bytes <= a->bytes &&
         !(node->op == TESELA_OP_SCATTER && o > 0) &&
         old->layout->host.device_bits == node->layout->host.device_bits;
}

/* An output's buffer stays alive after its last use, even if the last node reads it. */
static bool reuse_is_output(const tesela__memory_plan *plan, int32_t buffer) {
  for (int32_t k = 0; k < plan->count; k++) {
    const tesela_node *node = tesela_graph_node(plan->graph, k);
    if (node->output && node->buffer == buffer) return true;
  }
  return false;
}

static bool reuse_operand(const tesela__memory_plan *plan, int32_t k, int32_t o, const tesela_op_loops *loops,
                          const tesela_layout *result) {
  const tesela_node *node = tesela_graph_node(plan->graph, k);
  if (!reuse_ends(plan, k, o)) return false;
  int32_t buffer = plan->place[plan->place_of[node->operand[o]]].node;
  for (int32_t i = 0; i < node->n_operands; i++) {
    if (tesela_graph_node(plan->graph, node->operand[i])->buffer != buffer) continue;
    if (node->op == TESELA_OP_SCATTER && i > 0) return false;
    if (!reuse_same_places(plan, k, i, loops, result)) return false;
  }
  return k + 1 < plan->count || !reuse_is_output(plan, buffer);
}

/* The bytes that stay alive if the place of operand o is reused: those of the first buffer in it. */
static int64_t reuse_bytes(const tesela__memory_plan *plan, int32_t k, int32_t o) {
  int32_t at = plan->place_of[tesela_graph_node(plan->graph, k)->operand[o]];
  while (plan->place[at].in_place_of >= 0) at = plan->place_of[plan->place[at].in_place_of];
  return plan->place[at].bytes;
}

tesela_status tesela__memory_reuse(tesela__memory_plan *plan, tesela_error *err) {
  const tesela_graph_memory_options *options = &plan->options;
  for (int32_t i = 0; i < plan->n; i++) {
    tesela_graph_place *place = &plan->place[i];
    const tesela_node *node = tesela_graph_node(plan->graph, place->node);
    tesela_op_loops loops;
    tesela_layout result;
    bool known = false;
    int64_t least = INT64_MAX;
    if (options->progress && options->progress(options->progress_user, i, plan->n))
      return tesela__fail_stopped(err);
    if (place->external) continue;
    for (int32_t o = 0; o < node->n_operands; o++) {
      if (!reuse_ends(plan, place->node, o)) continue;
      int64_t bytes = reuse_bytes(plan, place->node, o);
      if (bytes >= least) continue;
      if (!known && !reuse_result(plan, place->node, &loops, &result)) break;
      known = true;
      if (!reuse_operand(plan, place->node, o, &loops, &result)) continue;
      place->in_place_of = plan->place[plan->place_of[node->operand[o]]].node;
      least = bytes;
    }
  }
  return TESELA_OK;
}
