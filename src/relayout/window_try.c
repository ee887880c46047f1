/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_try.c - try to run a plan by windows of dst: its pieces are kept aside, others are made with tiles that are short in dst, and if
 * these do not fit windows, the first ones come back.
 */
#include "relayout/pieces.h"
#include "relayout/solve.h"
#include "relayout/window.h"

/* Are all bytes of dst written? */
static bool writes_everything(const tesela_plan *plan) {
  const tesela_layout *dst = &plan->dst;
  int64_t tail, places = tesela_layout_copies(dst);
  const int64_t padding = tesela__padding_places(dst, &tail);
  for (int32_t d = 0; d < dst->rank; d++) places *= dst->shape[d];
  if (padding < 0 || (padding > 0 && plan->fill == TESELA_FILL_LEAVE)) return false;
  return places + padding == dst->axis[0].extent && dst->axis[0].offset == 0 && !dst->swizzle.n &&
         dst->axis[0].extent * dst->bits % 8 == 0;
}

/* The pieces of a plan, aside while others are tried. */
typedef struct kept_pieces {
  tesela__piece *piece;
  int32_t n_pieces, n_fills, largest, unit_bytes;
  bool bitwise;
  int64_t total_bytes;
  tesela__verdict verdict[TESELA__N_SOLVERS];
  tesela__box shape;
} kept_pieces;

/* Their tables stay where they are, before those of the others. */
static tesela_status keep_pieces(kept_pieces *kept, tesela_plan *plan, tesela_error *err) {
  const size_t bytes = (size_t)plan->n_pieces * sizeof *plan->piece;
  kept->piece = tesela__alloc(&plan->allocator, bytes + 1, alignof(tesela__piece));
  if (!kept->piece) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the pieces of the plan");
  if (bytes > 0) memcpy(kept->piece, plan->piece, bytes);
  kept->n_pieces = plan->n_pieces;
  kept->n_fills = plan->n_fills;
  kept->largest = plan->largest;
  kept->unit_bytes = plan->unit_bytes;
  kept->bitwise = plan->bitwise;
  kept->total_bytes = plan->total_bytes;
  memcpy(kept->verdict, plan->verdict, sizeof kept->verdict);
  kept->shape = plan->shape;
  plan->n_pieces = plan->n_fills = plan->n_fill_boxes = 0;
  plan->largest = -1;
  plan->bitwise = false;
  plan->total_bytes = 0;
  return TESELA_OK;
}

static void put_pieces_back(const kept_pieces *kept, tesela_plan *plan) {
  memcpy(plan->piece, kept->piece, (size_t)kept->n_pieces * sizeof *plan->piece);
  plan->n_pieces = kept->n_pieces;
  plan->n_fills = kept->n_fills;
  plan->largest = kept->largest;
  plan->unit_bytes = kept->unit_bytes;
  plan->bitwise = kept->bitwise;
  plan->total_bytes = kept->total_bytes;
  memcpy(plan->verdict, kept->verdict, sizeof kept->verdict);
  plan->shape = kept->shape;
  plan->window = 0;
  plan->irregular = NULL;
}

tesela_status tesela__use_windows(tesela_plan *plan, const tesela__problem *problem, uint64_t *random,
                                  tesela_error *err) {
  enum { WINDOW = 32 << 10 };
  const int64_t window = random ? 64 << tesela__random(random) % 10 : WINDOW;
  if (plan->reach > 0 || plan->fill_first || plan->options.memory_bytes > 0 || !writes_everything(plan))
    return TESELA_OK;
  if (random ? tesela__random(random) % 2 : !plan->stream || !tesela__windows_wanted(plan)) return TESELA_OK;
  kept_pieces kept;
  tesela_status status = keep_pieces(&kept, plan, err);
  if (status != TESELA_OK) return status;
  plan->reach = tesela__window_reach(window);
  plan->window = window;
  status = tesela__make_regular(plan, problem, random, err);
  plan->reach = 0;
  const bool fits = status == TESELA_OK && plan->window > 0 && tesela__windows_fit(plan, window);
  if (!fits) put_pieces_back(&kept, plan);
  tesela__release(&plan->allocator, kept.piece);
  if (!fits) return status;
  plan->window_filled = plan->n_fills > 0;
  plan->n_pieces -= plan->n_fills;
  plan->n_fills = 0;
  plan->total_bytes = plan->info.dst_bytes;
  for (int32_t i = 0; i < plan->n_pieces; i++)
    plan->window_filled = plan->window_filled || plan->piece[i].bitwise || plan->piece[i].keeps_bits;
  return TESELA_OK;
}
