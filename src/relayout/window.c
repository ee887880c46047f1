/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.c - dst in windows: a plan that is run window by window, each in a buffer, for outputs that are written and not mapped.
 */
#include "relayout/window.h"

tesela_status tesela__windows_find(tesela__windows *windows, tesela_plan *plan, int64_t wanted, int64_t most,
                                   const tesela_allocator *allocator, tesela_error *err) {
  const int64_t bytes = plan->info.dst_bytes;
  tesela__window_steps steps[TESELA__MAX_PIECES];
  size_t room = 0;
  *windows = (tesela__windows){.allocator = *allocator};
  plan->reach = tesela__window_reach(wanted);
  tesela_status status = tesela__plan_pieces(plan, err);
  if (status != TESELA_OK) return status;
  bool cut = !plan->irregular && plan->n_pieces <= TESELA__MAX_PIECES;
  for (int32_t i = 0; i < plan->n_pieces && cut; i++)
    cut = tesela__window_steps_of(plan, &plan->piece[i], &steps[i]);
  for (int64_t at = 0, n = 0; at < bytes && cut; n++) {
    void *edge = windows->edge;
    const bool grown = tesela__grow(allocator, &edge, sizeof *windows->edge, &room, (uint64_t)n + 2);
    windows->edge = edge;
    if (!grown) {
      tesela__windows_free(windows);
      return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the windows of a copy");
    }
    windows->edge[n] = at;
    if (bytes - at > wanted)
      at = tesela__window_edge(plan, steps, at, at + wanted, at + tesela__min(most, bytes - at));
    else
      at = bytes;
    cut = at >= 0;
    if (!cut) break;
    windows->edge[n + 1] = at;
    windows->most = tesela__max(windows->most, at - windows->edge[n]);
    windows->n = n + 1;
  }
  if (cut) return TESELA_OK;
  windows->n = 0;
  plan->reach = 0;
  return tesela__plan_pieces(plan, err);
}

void tesela__windows_free(tesela__windows *windows) {
  tesela__release(&windows->allocator, windows->edge);
  windows->edge = NULL;
  windows->n = 0;
}

void tesela__window_run(const tesela__windows *windows, const tesela_plan *plan, int64_t i, void *window,
                        const void *src) {
  /* where dst would begin if all of it were there */
  unsigned char *dst = (unsigned char *)((uintptr_t)window - (uintptr_t)windows->edge[i]);
  tesela__window_steps steps;
  int64_t last;
  for (int32_t k = 0; k < plan->n_pieces; k++) {
    const tesela__piece *piece = &plan->piece[k];
    if (!tesela__window_steps_of(plan, piece, &steps)) continue; /* not so: windows were found */
    const int64_t first = tesela__window_before(piece, &steps, windows->edge[i], &last);
    const int64_t end = tesela__window_before(piece, &steps, windows->edge[i + 1], &last);
    tesela__run_tiles(plan, piece, dst, src, first * steps.tiles, end * steps.tiles, false);
  }
}
