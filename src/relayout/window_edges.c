/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_edges.c - where dst can be cut into windows.
 *
 * The levels of a piece, from the outermost on, divide it into steps whose bytes follow each other in dst as long as a step of a level is
 * at least as long as all that is within it. So the steps of a piece that begin before a byte are counted without a walk, and dst is
 * cut where no step of any piece goes across.
 *
 *   bf16[4096,4000] to {1,0:T(8,128)}     tiles and their padding are pieces; a cut after each row of tiles, of 64 KiB
 */
#include "relayout/window.h"

enum { WINDOW_TRIES = 64 };

/* ---- steps -------------------------------------------------------------------------------------------------- */

static int64_t window_last(const int64_t *table, int64_t n) {
  int64_t last = 0;
  for (int64_t i = 0; i < n; i++) last = tesela__max(last, table[i] < 0 ? INT64_MAX : table[i]);
  return last;
}

/* Bits of dst from the first to the last of a tile in buffers; -1: it also has some before. */
static int64_t window_bits_tile(const tesela_plan *plan, const tesela__piece *piece) {
  const tesela__bits_tile *tile = &plan->bits_tile[piece->bits_tile - 1];
  const tesela__bits_side *out = &tile->out;
  int64_t bits = (out->unit * out->run.n - out->less) * (tile->blocks ? 1 : piece->dst_bits);
  for (int32_t i = 0; i < out->n_loops; i++) {
    if (out->loop[i].memory < 0) return -1;
    bits += (out->loop[i].n - 1) * out->loop[i].memory;
  }
  return bits;
}

/* Bytes from where a tile begins to where it ends, or bits; -1: it also has some before, or is not known. */
static int64_t window_tile_bytes(const tesela_plan *plan, const tesela__piece *piece) {
  if (piece->convert_fn) return -1;
  if (piece->bits_tile) return window_bits_tile(plan, piece);
  const int64_t a = window_last(&plan->table[piece->da], piece->na);
  const int64_t b = window_last(&plan->table[piece->db], piece->nb);
  int64_t bytes = piece->fill ? piece->run : piece->entry_dst;
  if (a == INT64_MAX || b == INT64_MAX) return -1;
  if (piece->group > 1) return a + b + piece->nb / piece->group;
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

/* How much shorter the last tile of a level is than the others. */
static int64_t window_less(const tesela_plan *plan, const tesela__piece *piece, const tesela__level *l) {
  if (piece->bits_tile) return 0;
  if (l->kind == TESELA__TILE_A)
    return window_last(&plan->table[piece->da], piece->na) - window_last(&plan->table[piece->da], l->last);
  if (l->kind == TESELA__TILE_B && piece->group > 1) return (piece->nb - l->last) / piece->group;
  if (l->kind == TESELA__TILE_B)
    return window_last(&plan->table[piece->db], piece->nb) - window_last(&plan->table[piece->db], l->last);
  return l->kind == TESELA__TILE_RUN ? (piece->run - l->last) * piece->run_dst : 0;
}

bool tesela__window_steps_of(const tesela_plan *plan, const tesela__piece *piece,
                             tesela__window_steps *steps) {
  *steps = (tesela__window_steps){piece->n_levels, 1, window_tile_bytes(plan, piece)};
  if (steps->bytes < 0) return false;
  int64_t tiles = 1, bytes = steps->bytes;
  for (int32_t i = piece->n_levels - 1; i >= 0; i--) {
    const tesela__level *l = &piece->level[i];
    if (l->ds < 0) return false;
    const bool follow = l->ds >= bytes;
    tiles *= l->n;
    const int64_t last = bytes - window_less(plan, piece, l);
    if (l->n > 1) bytes = tesela__max((l->n - 2) * l->ds + bytes, (l->n - 1) * l->ds + last);
    if (!follow) *steps = (tesela__window_steps){i, tiles, bytes};
  }
  return true;
}

static int64_t window_unit(const tesela__piece *piece) { return piece->bitwise ? 8 : 1; }

int64_t tesela__window_before(const tesela__piece *piece, const tesela__window_steps *steps, int64_t at,
                              int64_t *last) {
  int64_t n = 0;
  *last = piece->dst;
  at *= window_unit(piece);
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

/* Does a step of a piece go across byte `at`? *begin and *end: the bytes of that step. */
static bool window_across(const tesela_plan *plan, const tesela__window_steps *steps, int64_t at,
                          int64_t *begin, int64_t *end) {
  for (int32_t i = 0; i < plan->n_pieces; i++) {
    const int64_t unit = window_unit(&plan->piece[i]);
    if (tesela__window_before(&plan->piece[i], &steps[i], at, begin) == 0) continue;
    *end = tesela__ceil_div(*begin + steps[i].bytes, unit);
    *begin /= unit;
    if (*end > at) return true;
  }
  return false;
}

int64_t tesela__window_edge(const tesela_plan *plan, const tesela__window_steps *steps, int64_t from,
                            int64_t to, int64_t most) {
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

bool tesela__windows_steps(const tesela_plan *plan, tesela__window_steps *steps) {
  if (plan->n_pieces > TESELA__WINDOW_PIECES) return false;
  for (int32_t i = 0; i < plan->n_pieces; i++)
    if (!tesela__window_steps_of(plan, &plan->piece[i], &steps[i])) return false;
  return true;
}

int64_t tesela__window_element_edge(const tesela_plan *plan, const tesela__window_steps *steps, int64_t from,
                                    int64_t to, int64_t most) {
  const int64_t edge = tesela__window_edge(plan, steps, from, to, most),
                width = tesela__max(8, plan->dst.bits) / 8;
  return edge < 0 ? edge : tesela__ceil_div(edge, width) * width;
}

/* ---- windows of a run -------------------------------------------------------------------------------------------------- */

/* Lines that a piece writes in part or through the cache, about. */
static int64_t lines_by_cache(const tesela__piece *piece) {
  if (piece->bits_tile || piece->bit_block_fn || piece->lines || piece->carry_level >= 0 || piece->row == 0)
    return 0;
  if (!piece->stream) return piece->bytes / TESELA__LINE;
  return 2 * (piece->bytes / piece->row);
}

bool tesela__windows_wanted(const tesela_plan *plan) {
  enum { PART = 8 }; /* of the lines of dst */
  int64_t lines = 0;
  for (int32_t i = 0; i < plan->n_pieces; i++)
    if (plan->n_pieces > 1 || !plan->piece[i].stream) lines += lines_by_cache(&plan->piece[i]);
  return lines > plan->info.dst_bytes / TESELA__LINE / PART;
}

bool tesela__window_of_last(const tesela_plan *plan) {
  tesela__window_steps steps;
  if (plan->n_pieces == 0) return true;
  const tesela__piece *piece = &plan->piece[plan->n_pieces - 1];
  if (plan->n_pieces > TESELA__WINDOW_PIECES || !tesela__window_steps_of(plan, piece, &steps)) return false;
  return piece->dst != 0 || plan->info.dst_bytes <= plan->window ||
         steps.bytes <= TESELA__WINDOW_MOST * window_unit(piece);
}

bool tesela__windows_fit(const tesela_plan *plan, int64_t wanted) {
  enum { SAMPLES = 8 };
  tesela__window_steps steps[TESELA__WINDOW_PIECES];
  const int64_t bytes = plan->info.dst_bytes;
  if (!tesela__windows_steps(plan, steps)) return false;
  for (int32_t i = 0; i < SAMPLES; i++) {
    const int64_t at = bytes / SAMPLES * i;
    const int64_t from = at == 0 ? 0 : tesela__window_element_edge(plan, steps, at - 1, at, bytes);
    if (from < 0) return false;
    if (bytes - from > wanted && tesela__window_edge(plan, steps, from, from + wanted,
                                                     tesela__min(bytes, from + TESELA__WINDOW_MOST)) < 0)
      return false;
  }
  return true;
}
