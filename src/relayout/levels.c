/* SPDX-License-Identifier: Apache-2.0 */
/*
 * levels.c - the levels of a piece: the loops around its tile, outermost first.
 *
 *   f32 [100,1000] to 1 0, tiles of 64 x 64      16 along dim 1, and 2 along dim 0 in each; the last ones are shorter
 *   u8 [8388608,6] to 1 0, runs of every 6th     4096 parts of the runs, and all 6 runs in each
 */
#include "relayout/solve.h"

static int64_t step_rank(int64_t ss, int64_t ds) { return tesela__min(ss < 0 ? -ss : ss, ds < 0 ? -ds : ds); }

static void add_plain_level(tesela__piece *piece, const tesela__loop *loop) {
  const tesela__level l = {loop->n, loop->ss, loop->ds, 0, TESELA__PLAIN};
  int32_t i = piece->n_levels++;
  for (; i > 0 && step_rank(piece->level[i - 1].ss, piece->level[i - 1].ds) < step_rank(l.ss, l.ds); i--)
    piece->level[i] = piece->level[i - 1];
  piece->level[i] = l;
}

static void add_tile_level(tesela__piece *piece, const tesela__loop *loop, int64_t chunk, int64_t entries,
                           tesela__level_kind kind) {
  int64_t n = tesela__ceil_div(loop->n, chunk), last = loop->n - (n - 1) * chunk;
  if (n <= 1) return;
  piece->level[piece->n_levels++] =
      (tesela__level){n, chunk * loop->ss, chunk * loop->ds, last * (entries / chunk), kind};
}

/* Set the steps of the last level if several elements share a byte, since the steps of its loop are 0. */
static void set_level_bits(tesela__piece *piece, tesela__level_kind kind, int64_t entries, int32_t src_bits,
                           int32_t dst_bits) {
  if (piece->n_levels == 0 || piece->level[piece->n_levels - 1].kind != kind) return;
  tesela__level *l = &piece->level[piece->n_levels - 1];
  if (src_bits) l->ss = entries * src_bits / 8;
  if (dst_bits) l->ds = entries * dst_bits / 8;
}

/* The loop in which blocks of bits with rows of less than a line follow each other in dst: innermost, it has their lines in the cache. */
static int32_t next_of_short_rows(const tesela__builder *b) {
  const tesela__job *job = b->job;
  if (job->group == 1 || job->b < 0 || !b->piece->transpose_fn) return -1;
  const int64_t row = job->box->loop[job->b].n / job->group + job->tail;
  for (int32_t i = 0; i < job->box->n_loops && row < TESELA__LINE; i++)
    if (!b->used[i] && job->box->loop[i].ds == row) return i;
  return -1;
}

/* What a tile of a transpose, or of whole runs, reads together, if that is short; or 0. */
static int64_t short_stretch(const tesela__builder *b) {
  enum { SHORT = 1024 };
  const tesela__job *job = b->job;
  const bool runs = b->piece->solver == TESELA_SOLVER_ROWS && b->chunk >= b->run.n && !job->fill &&
                    !job->conversion && !job->bitwise;
  if (!(b->piece->transpose_fn || runs) || job->group > 1 || job->apart || job->inner || !job->plan->stream)
    return 0;
  const int64_t bytes = tesela__bytes_together(b, true);
  return bytes < SHORT ? bytes : 0;
}

/* The loop in which tiles that read short stretches go on in src: innermost, it reads src in order. `f32 [64,876032]{1,0:T(64,16)}` to
 * T(4,32), stretches of 256 bytes from tiles of 4 KiB: from 4.9 to 12 GB/s. */
static int32_t next_of_short_stretches(const tesela__builder *b) {
  const tesela__job *job = b->job;
  const int64_t step = b->bits.direct ? b->bits.in * job->dst_bits : short_stretch(b);
  for (int32_t i = 0; i < job->box->n_loops && step > 0; i++)
    if (!b->used[i] && job->box->loop[i].ss == step) return i;
  return -1;
}

/* Does loop i move elements between those of a strided run, on either side? Then it is inside the levels of the run, while the run's lines are in
 * the cache: `u8 [8388608,6]` to 1 0 reads src once, not 6 times. */
static bool is_in_strided_run(const tesela__builder *b, int32_t i) {
  const tesela__loop *loop = &b->job->box->loop[i];
  const int64_t line = b->piece->bitwise ? 8 * TESELA__LINE : TESELA__LINE;
  return b->piece->solver == TESELA_SOLVER_STRIDED && !b->used[i] && step_rank(loop->ss, loop->ds) < line;
}

/* From the levels of A and B, the last ones, to the opposite order, in which tiles go along rows of src; if what they then carry of rows of
 * dst that end within a line has room. */
static void go_along_src(tesela__builder *b) {
  tesela__piece *piece = b->piece;
  const int32_t last = piece->n_levels - 1;
  if (last < 1 || !tesela__goes_along_src(b->job)) return;
  tesela__level *a = &piece->level[last - 1], *of_b = &piece->level[last];
  if (a->kind != TESELA__TILE_A || of_b->kind != TESELA__TILE_B) return;
  int64_t bits = 0;
  for (int32_t i = 0; i < piece->n_levels; i++) bits |= piece->level[i].ds;
  for (int32_t i = 0; i < b->a.n; i++) bits |= b->a.loop[i].ds;
  if (bits % TESELA__LINE != 0 && a->n * b->a.entries > TESELA__CARRIED_FAR) return;
  const tesela__level swap = *a;
  *a = *of_b;
  *of_b = swap;
}

void tesela__add_levels(tesela__builder *b) {
  tesela__piece *piece = b->piece;
  const tesela__box *box = b->job->box;
  int32_t src_bits = b->job->src_bits, dst_bits = b->job->dst_bits;
  bool parts = piece->transpose_fn && (b->job->group > 1 || b->job->ws == 0);
  const int32_t of_rows = next_of_short_rows(b), next = of_rows < 0 ? next_of_short_stretches(b) : of_rows;
  for (int32_t i = 0; i < box->n_loops; i++)
    if (!b->used[i] && i != next && !is_in_strided_run(b, i)) add_plain_level(piece, &box->loop[i]);
  if (b->a.n) add_tile_level(piece, &b->a.loop[b->a.n - 1], b->a.chunk, b->a.entries, TESELA__TILE_A);
  if (parts) set_level_bits(piece, TESELA__TILE_A, b->a.entries, src_bits, 0);
  if (b->b.n) add_tile_level(piece, &b->b.loop[b->b.n - 1], b->b.chunk, b->b.entries, TESELA__TILE_B);
  if (parts && b->job->group > 1) set_level_bits(piece, TESELA__TILE_B, b->b.entries, 0, dst_bits);
  if (b->run.n == 0 && next < 0) go_along_src(b);
  if (b->run.n) {
    tesela__loop run = {b->run.n, piece->run_src, piece->run_dst};
    add_tile_level(piece, &run, b->chunk, b->chunk, TESELA__TILE_RUN);
    if (piece->convert_fn && piece->solver != TESELA_SOLVER_STRIDED) /* the run counts elements */
      set_level_bits(piece, TESELA__TILE_RUN, b->chunk, src_bits, dst_bits);
  }
  for (int32_t i = 0; i < box->n_loops; i++)
    if (is_in_strided_run(b, i)) add_plain_level(piece, &box->loop[i]);
  for (int32_t i = 0; i < b->bits.n_cuts; i++) {
    static const tesela__level_kind kinds[] = {TESELA__TILE_A, TESELA__TILE_B, TESELA__TILE_RUN};
    const int64_t chunk = b->bits.chunk[b->bits.cut[i]];
    add_tile_level(piece, &box->loop[b->bits.cut[i]], chunk, chunk, kinds[i]);
  }
  if (next >= 0)
    piece->level[piece->n_levels++] =
        (tesela__level){box->loop[next].n, box->loop[next].ss, box->loop[next].ds, 0, TESELA__PLAIN};
  piece->n_tiles = 1;
  for (int32_t i = 0; i < piece->n_levels; i++) piece->n_tiles *= piece->level[i].n;
}
