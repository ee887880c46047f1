/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_program.c - the memory of a warp's program.
 */
#include "gpu/exchange/exchange.h"

tesela_status tesela__rounds_room(tesela__warp_program *w, int32_t warp, int64_t rounds,
                                  const tesela_allocator *alloc, tesela_error *err) {
  uint64_t n = (uint64_t)(warp * rounds);
  int32_t *offer = tesela__alloc(alloc, n * sizeof *offer, alignof(int32_t));
  int32_t *into = tesela__alloc(alloc, n * sizeof *into, alignof(int32_t));
  uint8_t *from = tesela__alloc(alloc, n, 1);
  if (!offer || !into || !from) {
    tesela__release(alloc, offer);
    tesela__release(alloc, into);
    tesela__release(alloc, from);
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for %" PRId64 " rounds", rounds);
  }
  for (size_t i = 0; i < n; i++) {
    offer[i] = into[i] = -1;
    from[i] = (uint8_t)(i % (size_t)warp);
  }
  tesela__release(alloc, w->offer);
  tesela__release(alloc, w->into);
  tesela__release(alloc, w->from);
  w->offer = offer;
  w->into = into;
  w->from = from;
  w->rounds = rounds;
  return TESELA_OK;
}

void tesela__program_release(const tesela_allocator *alloc, tesela__warp_program *w) {
  for (int32_t i = 0; i < w->n_phases; i++) {
    tesela__program_release(alloc, &w->phase[i].moves); /* moves have no phases */
    tesela__release(alloc, w->phase[i].part);
  }
  tesela__release(alloc, w->phase);
  tesela__release(alloc, w->result);
  tesela__release(alloc, w->need_unit);
  tesela__release(alloc, w->need_class);
  tesela__release(alloc, w->offer);
  tesela__release(alloc, w->into);
  tesela__release(alloc, w->from);
}
