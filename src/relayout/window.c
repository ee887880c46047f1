/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.c - dst in windows: a plan that is run window by window, each in a buffer, for outputs that are written and not mapped.
 *
 * The levels of a piece, from the outermost on, divide it into steps whose bytes follow each other in dst as long as a step of a level is
 * at least as long as all that is within it. So the steps of a piece that begin before a byte are counted without a walk, and dst is
 * cut where no step of any piece goes across.
 *
 *   bf16[4096,4000] to {1,0:T(8,128)}     tiles and their padding are pieces; a cut after each row of tiles, of 64 KiB
 */
#include "relayout/plan.h"

enum { WINDOW_TRIES = 64, WINDOW_REACH = 8 };

/* ---- steps -------------------------------------------------------------------------------------------------- */

/* The first n_levels levels of a piece count steps of `tiles` tiles each, which take up to `bytes` bytes. */
typedef struct window_steps {
  int32_t n_levels;
  int64_t tiles, bytes;
} window_steps;

static int64_t window_last(const int64_t *table, int64_t n) {
  int64_t last = 0;
  for (int64_t i = 0; i < n; i++) last = tesela__max(last, table[i] < 0 ? INT64_MAX : table[i]);
  return last;
}

/* Bytes from where a tile begins to where it ends; -1: it also has bytes before, or is not known. */
static int64_t window_tile_bytes(const tesela_plan *plan, const tesela__piece *piece) {
  if (piece->bitwise || piece->group > 1 || piece->convert_fn) return -1;
  const int64_t a = window_last(&plan->table[piece->da], piece->na);
  const int64_t b = window_last(&plan->table[piece->db], piece->nb);
  int64_t bytes = piece->fill ? piece->run : piece->entry_dst;
  if (a == INT64_MAX || b == INT64_MAX) return -1;
  if (piece->solver == TESELA_SOLVER_STRIDED) {
    if (piece->run_dst < 0) return -1;
    bytes = piece->width + (piece->run - 1) * piece->run_dst;
  }
  if (piece->solver == TESELA_SOLVER_PERMUTE) bytes = piece->span;
  if (piece->solver == TESELA_SOLVER_DEINTERLEAVE) {
    if (piece->rows.dst_pitch < 0) return -1;
    bytes += (piece->rows.k - 1) * piece->rows.dst_pitch;
  }
  return a + b + bytes;
}

static bool window_steps_of(const tesela_plan *plan, const tesela__piece *piece, window_steps *steps) {
  *steps = (window_steps){piece->n_levels, 1, window_tile_bytes(plan, piece)};
  if (steps->bytes < 0) return false;
  int64_t tiles = 1, bytes = steps->bytes;
  for (int32_t i = piece->n_levels - 1; i >= 0; i--) {
    const tesela__level *l = &piece->level[i];
    if (l->ds < 0) return false;
    const bool follow = l->ds >= bytes;
    tiles *= l->n;
    bytes += (l->n - 1) * l->ds;
    if (!follow) *steps = (window_steps){i, tiles, bytes};
  }
  return true;
}

/* The steps that begin before byte `at` of dst; *last: where the last of them begins. */
static int64_t window_before(const tesela__piece *piece, const window_steps *steps, int64_t at,
                             int64_t *last) {
  int64_t n = 0;
  *last = piece->dst;
  if (at <= piece->dst) return 0;
  for (int32_t i = 0; i < steps->n_levels; i++) {
    const tesela__level *l = &piece->level[i];
    const int64_t k = l->ds > 0 ? tesela__min(l->n - 1, (at - 1 - *last) / l->ds) : 0;
    n = n * l->n + k;
    *last += k * l->ds;
  }
  return n + 1;
}

/* ---- edges -------------------------------------------------------------------------------------------------- */

/* Does a step of a piece go across `at`? *begin and *end: of that step. */
static bool window_across(const tesela_plan *plan, const window_steps *steps, int64_t at, int64_t *begin,
                          int64_t *end) {
  for (int32_t i = 0; i < plan->n_pieces; i++) {
    if (window_before(&plan->piece[i], &steps[i], at, begin) == 0) continue;
    *end = *begin + steps[i].bytes;
    if (*end > at) return true;
  }
  return false;
}

/* The last edge after `from` and up to `to`, or else the first one after `from`, up to `most`; or -1. */
static int64_t window_edge(const tesela_plan *plan, const window_steps *steps, int64_t from, int64_t to,
                           int64_t most) {
  int64_t at = to, begin, end;
  for (int32_t i = 0; i < WINDOW_TRIES && at > from; i++) {
    if (!window_across(plan, steps, at, &begin, &end)) return at;
    at = begin;
  }
  at = from + 1;
  for (int32_t i = 0; i < WINDOW_TRIES && at <= most; i++) {
    if (!window_across(plan, steps, at, &begin, &end)) return at;
    at = end;
  }
  return -1;
}

tesela_status tesela__windows_find(tesela__windows *windows, tesela_plan *plan, int64_t wanted, int64_t most,
                                   const tesela_allocator *allocator, tesela_error *err) {
  const int64_t bytes = plan->info.dst_bytes;
  window_steps steps[TESELA__MAX_PIECES];
  size_t room = 0;
  *windows = (tesela__windows){.allocator = *allocator};
  plan->reach = tesela__max(1, wanted / WINDOW_REACH);
  tesela_status status = tesela__plan_pieces(plan, err);
  if (status != TESELA_OK) return status;
  bool cut = !plan->irregular && plan->n_pieces <= TESELA__MAX_PIECES;
  for (int32_t i = 0; i < plan->n_pieces && cut; i++) cut = window_steps_of(plan, &plan->piece[i], &steps[i]);
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
      at = window_edge(plan, steps, at, at + wanted, at + tesela__min(most, bytes - at));
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
  window_steps steps;
  int64_t last;
  for (int32_t k = 0; k < plan->n_pieces; k++) {
    const tesela__piece *piece = &plan->piece[k];
    if (!window_steps_of(plan, piece, &steps)) continue; /* not so: windows were found */
    const int64_t first = window_before(piece, &steps, windows->edge[i], &last);
    const int64_t end = window_before(piece, &steps, windows->edge[i + 1], &last);
    tesela__run_tiles(plan, piece, dst, src, first * steps.tiles, end * steps.tiles);
  }
}
