/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_memory.c - the way through shared memory: a layout for both sides, its vectors, its cost.
 *
 * Elements of less than a byte are widened to bytes there if no vector makes whole bytes of them. Of the threads with
 * the same elements only the first writes; the cost counts all of them, as in access.h.
 */
#include "gpu/exchange/exchange.h"

/* The layout with the fewest wavefronts for writing src and reading dst, with elements of `bits`. */
static tesela_status choose_memory(tesela_exchange *plan, int32_t bits, tesela_error *err) {
  const tesela_access_machine machine = {.warp = plan->full_warp};
  const tesela_access_use uses[] = {{.registers = &plan->src}, {.registers = &plan->dst}};
  const tesela_synthesis_options limits = {
      .max_steps = plan->max_steps, .progress = plan->progress, .progress_user = plan->progress_user};
  tesela_synthesis found;
  tesela_vector_width write, read;
  tesela_status status = tesela_synthesize(2, uses, bits, &limits, &machine, &found, err);
  if (status == TESELA_OK)
    status = tesela_vector_width_of(&plan->src, &found.memory, bits, &machine, &write, err);
  if (status == TESELA_OK)
    status = tesela_vector_width_of(&plan->dst, &found.memory, bits, &machine, &read, err);
  if (status != TESELA_OK) return status;
  plan->memory = found.memory;
  plan->write_vector = write.elements;
  plan->read_vector = read.elements;
  plan->facts.wavefronts = found.wavefronts;
  plan->facts.shared_bytes = tesela__ceil_div(found.memory.size * bits, 8);
  return TESELA_OK;
}

tesela_status tesela__exchange_memory_plan(tesela_exchange *plan, tesela_error *err) {
  int32_t bits = plan->facts.bits, whole = (int32_t)tesela__ceil_div(bits, 8) * 8;
  tesela_status status = choose_memory(plan, bits, bits == whole ? err : NULL);
  return status == TESELA_E_INVALID && bits != whole ? choose_memory(plan, whole, err) : status;
}
