/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prefetch.c - the lines of src that a piece prefetches, some tiles before they are read.
 *
 * What is read in order is left to the processor, which brings more of it at a time (Zen 4, GB/s of both sides: 40 by its own
 * prefetches, 28 to 32 by ours); what is read to and fro it does not foresee:
 *
 *   rows of src of 8 KiB, one after the other             none
 *   u16 tiles of (16,16) to (4,4), blocks 6 KiB apart     all lines of a tile: 12 GB/s without, 27 with them
 */
#include "relayout/solve.h"

static bool are_sorted(const int64_t *table, int64_t n) {
  int64_t i = 1;
  while (i < n && table[i - 1] <= table[i]) i++;
  return i >= n;
}

/* Sort by address; tables are short, and made of nearly sorted runs. */
static void sort_offsets(int64_t *table, int64_t n) {
  if (are_sorted(table, n)) return;
  for (int64_t gap = n / 2; gap > 0; gap /= 2)
    for (int64_t i = gap; i < n; i++) {
      int64_t offset = table[i], j = i;
      for (; j >= gap && table[j - gap] > offset; j -= gap) table[j] = table[j - gap];
      table[j] = offset;
    }
}

/* ---- what is read in order --------------------------------------------------------------------------------- */

/* Are entries of a tile, each of `bytes`, in order of their places in src, or in the opposite order: those of B, for each of the first na
 * of A? They may go to and fro within `near` bytes, and so may the entries of B that are read `together`. */
static bool entries_in_order(const tesela__builder *b, int64_t na, int64_t bytes, int64_t together,
                             int64_t near) {
  const int64_t *sa = &b->job->plan->table[b->piece->sa], *sb = &b->job->plan->table[b->piece->sb];
  int64_t back = 0, forth = bytes, least = sa[0] + sb[0], most = least;
  for (int64_t i = 0; i < na * b->b.entries; i++) {
    const int64_t in_b = i % b->b.entries, from = sa[i / b->b.entries] + sb[in_b];
    back = tesela__max(back, most - from);
    forth = tesela__max(forth, from + bytes - least);
    least = tesela__min(least, from);
    most = tesela__max(most, from);
    if (back > near && forth > near) return false;
    const int64_t apart = sb[in_b] - sb[in_b - in_b % together];
    if (together > 1 && (apart > near || apart < -near)) return false;
  }
  return true;
}

/* Is src a long stretch that tiles, and the entries in each, read in order, as processors foresee? `bytes`: of the stretch in a tile.
 * A conversion to elements that are not wider mostly reads, which they do not foresee far enough: f32 to f16, Emerald Rapids, from 12 to 14 GB/s. */
static bool reads_in_order(const tesela__builder *b, int64_t bytes) {
  enum { STREAMS_NEAR = 256, LONG = 64 << 10 };
  const tesela__piece *piece = b->piece;
  const tesela__level *inner = piece->n_levels ? &piece->level[piece->n_levels - 1] : NULL;
  if (piece->n_prefetch != 1 || piece->transpose_fn || !inner) return false;
  if (piece->convert_fn && piece->src_bits >= piece->dst_bits) return false;
  if ((inner->ss != bytes && inner->ss != -bytes) || inner->n * bytes < LONG) return false;
  if (piece->solver == TESELA_SOLVER_INTERLEAVE && (piece->rows.k - 1) * piece->rows.src_pitch > STREAMS_NEAR)
    return false;
  const int64_t row = piece->run * piece->run_src;
  return entries_in_order(b, b->a.entries, row, 1, row - 1);
}

/* ---- stretches and lines ----------------------------------------------------------------------------------- */

/* Join n stretches of `bytes` that follow each other, all alike; returns how many make one, and sets how many these are. */
static int64_t join_stretches(int64_t *table, int64_t *n, int64_t bytes) {
  int64_t joined = 1;
  while (joined < *n && table[joined] == table[joined - 1] + bytes) joined++;
  bool even = *n % joined == 0;
  for (int64_t i = 0; i < *n && even; i++) even = table[i] == table[i - i % joined] + i % joined * bytes;
  if (!even) joined = 1;
  *n /= joined;
  for (int64_t i = 0; i < *n; i++) table[i] = table[i * joined];
  return joined;
}

/* The stretches of a tile, while they are listed: of `bytes` each, or lines, if stretches have at most one. */
typedef struct list {
  int64_t *at, n, bytes, all; /* all: bytes of the stretches */
  int64_t phase; /* most bytes from the beginning of a line to a tile, where src begins with a line */
  bool lines;
} list;

/* Room in the plan's table for n stretches. */
static tesela_status list_start(list *l, tesela__builder *b, int64_t n, int64_t bytes, tesela_error *err) {
  enum { MOST_LINES = 3 }; /* of a stretch of up to a line */
  const tesela__piece *piece = b->piece;
  int64_t bits = piece->src | TESELA__LINE;
  for (int32_t i = 0; i < piece->n_levels; i++) bits |= piece->level[i].ss;
  *l = (list){.bytes = bytes, .phase = TESELA__LINE - (bits & -bits), .lines = bytes <= TESELA__LINE};
  tesela_status status =
      tesela__reserve_table(b->job->plan, l->lines ? MOST_LINES * n : n, &b->piece->prefetch, err);
  l->at = &b->job->plan->table[b->piece->prefetch];
  return status;
}

/* Add a stretch; its lines are those that it has in some tile. */
static void list_add(list *l, int64_t from) {
  l->all += l->bytes;
  if (!l->lines) {
    l->at[l->n++] = from;
    return;
  }
  for (int64_t at = from & -TESELA__LINE; at < from + l->bytes + l->phase; at += TESELA__LINE)
    l->at[l->n++] = at;
}

static void leave_out_equals(list *l) {
  int64_t kept = 0;
  for (int64_t i = 0; i < l->n; i++)
    if (kept == 0 || l->at[i] != l->at[kept - 1]) l->at[kept++] = l->at[i];
  l->n = kept;
}

/* Bytes to prefetch ahead of the work, at least the next tile. f32 in faces of 16 x 16 to transposed faces, each a tile
 * of 1 KiB, as ratio to memcpy: the next tile 0.46, 2 KiB 0.65, 4 KiB 0.92, 8 KiB and more 1.05. */
enum { PIECE_AHEAD = 8192 };

static void list_end(list *l, tesela__piece *piece) {
  sort_offsets(l->at, l->n);
  if (l->lines) {
    leave_out_equals(l);
    l->bytes = TESELA__LINE;
  }
  const int64_t joined = join_stretches(l->at, &l->n, l->bytes);
  piece->n_ahead = piece->near_rows ? 1 : (int32_t)tesela__max(1, PIECE_AHEAD / tesela__max(1, l->all));
  piece->n_prefetch = (int32_t)l->n;
  piece->prefetch_lines = (int32_t)tesela__ceil_div(joined * l->bytes + TESELA__LINE - 1, TESELA__LINE);
  if (l->lines && joined == 1) piece->prefetch_lines = 1;
}

/* ---- pieces ------------------------------------------------------------------------------------------------ */

enum {
  NEAR_ROWS = 4,
  MOST_STRETCHES = 4096,
  LONGEST = 16384
}; /* NEAR_ROWS: fewer than the caches have ways */

bool tesela__rows_meet(const tesela__builder *b) {
  enum { PAGE = 4096, FEW = 8, ROOM = 32 << 10 };
  const tesela__piece *piece = b->piece;
  if (!piece->transpose_fn || piece->convert_fn || piece->bit_block_fn || piece->rows_fn || piece->width > 2)
    return false;
  if (!piece->stream || piece->padded || b->b.n == 0 || b->b.entries <= FEW) return false;
  return b->b.loop[0].n > FEW && b->b.loop[0].ss % PAGE == 0 &&
         b->a.entries * b->b.entries * piece->width <= ROOM;
}

/* Has src gaps between the entries of a tile, so long that a processor does not read on? */
static bool has_gaps(const tesela__builder *b) {
  enum { TIMES = 2 };
  const int64_t *sa = &b->job->plan->table[b->piece->sa], *sb = &b->job->plan->table[b->piece->sb];
  const int64_t na = b->a.entries, nb = b->b.entries;
  const int64_t of_a = sa[na - 1] - sa[0], of_b = sb[nb - 1] - sb[0];
  return tesela__max(of_a, -of_a) + tesela__max(of_b, -of_b) > TIMES * na * nb * b->piece->entry_dst;
}

/* A stretch for each pick of a block. */
static tesela_status set_permute(tesela__builder *b, tesela_error *err) {
  tesela__piece *piece = b->piece;
  tesela_plan *plan = b->job->plan;
  enum { NEAR_BYTES = 1024 };
  const int64_t n = piece->n_picks * b->a.entries * b->b.entries;
  const int64_t together = b->job->permute.bits ? TESELA__PERMUTE_BLOCKS : TESELA__PERMUTE_BLOCKS / 2;
  if (n > MOST_STRETCHES) return TESELA_OK;
  if (!has_gaps(b) && entries_in_order(b, 1, TESELA__LINE, together, NEAR_BYTES)) return TESELA_OK;
  list l;
  tesela_status status = list_start(&l, b, n, TESELA__LINE, err);
  if (status != TESELA_OK) return status;
  for (int64_t i = 0; i < b->b.entries; i++)
    for (int64_t j = 0; j < b->a.entries; j++)
      for (int32_t p = piece->first_pick; p < piece->first_pick + piece->n_picks; p++)
        list_add(&l, plan->table[piece->sb + i] + plan->table[piece->sa + j] + plan->pick[p].from);
  list_end(&l, piece);
  return TESELA_OK;
}

/* A stretch for each run of a tile of bits, unless they meet. */
static tesela_status set_bits_prefetch(tesela__builder *b, tesela_error *err) {
  enum { IN_ORDER = 4096 };
  tesela__piece *piece = b->piece;
  tesela_plan *plan = b->job->plan;
  const tesela__bits_tile *tile = &plan->bits_tile[piece->bits_tile - 1];
  const tesela__bits_side *in = &tile->in;
  const int64_t unit = tile->blocks ? 1 : b->bits.bits;
  const int64_t bytes = tesela__ceil_div((in->unit * in->run.n - in->less) * unit, 8);
  int64_t n = 1, at[TESELA__BITS_LOOPS] = {0}, from = 0;
  for (int32_t i = 0; i < in->n_loops; i++) n *= in->loop[i].n;
  if (n > MOST_STRETCHES || bytes > LONGEST || tesela__bits_runs_meet(in) || tile->transpose)
    return TESELA_OK;
  if (n == 1 && bytes > IN_ORDER) return TESELA_OK;
  list l;
  tesela_status status = list_start(&l, b, n, bytes, err);
  if (status != TESELA_OK) return status;
  for (int64_t k = 0; k < n; k++) {
    list_add(&l, from >> 3);
    for (int32_t i = 0; i < in->n_loops; i++) {
      from += in->loop[i].memory;
      if (++at[i] < in->loop[i].n) break;
      at[i] = 0;
      from -= in->loop[i].n * in->loop[i].memory;
    }
  }
  list_end(&l, piece);
  piece->n_ahead = (int32_t)tesela__max(piece->n_ahead, tile->slices);
  return TESELA_OK;
}

tesela_status tesela__set_prefetch(tesela__builder *b, tesela_error *err) {
  tesela__piece *piece = b->piece;
  tesela_plan *plan = b->job->plan;
  if (piece->bits_tile && plan->stream) return set_bits_prefetch(b, err);
  if (!piece->stream || piece->fill || piece->solver == TESELA_SOLVER_STRIDED) return TESELA_OK;
  if (piece->n_lines) return set_permute(b, err);
  if (b->a.extent < 0) return TESELA_OK;
  int64_t streams = piece->solver == TESELA_SOLVER_INTERLEAVE ? piece->rows.k : 1;
  bool a_dense = piece->transpose_fn || (b->a.dense && piece->solver != TESELA_SOLVER_INTERLEAVE);
  int64_t na = a_dense ? 1 : b->a.entries, n = na * b->b.entries * streams;
  int64_t entries = a_dense ? b->a.entries : 1;
  int64_t bytes = piece->transpose_fn ? b->a.extent : piece->run * piece->run_src * entries;
  if (piece->convert_fn)
    bytes = tesela__ceil_div((piece->transpose_fn ? 1 : piece->run) * entries * b->job->src_bits, 8);
  if (piece->bit_block_fn) bytes = b->a.entries / piece->group;
  if (n > MOST_STRETCHES || bytes > LONGEST) return TESELA_OK;
  list l;
  tesela_status status = list_start(&l, b, n, bytes, err);
  if (status != TESELA_OK) return status;
  if (tesela__rows_meet(b)) piece->near_rows = (int32_t)tesela__min(NEAR_ROWS, b->b.entries);
  const int64_t rows = piece->near_rows ? piece->near_rows : b->b.entries;
  for (int64_t s = 0; s < streams; s++)
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < na && plan->table[piece->sb + i] != TESELA__PADDING; j++)
        list_add(&l, plan->table[piece->sb + i] + plan->table[piece->sa + j] + s * piece->rows.src_pitch);
  list_end(&l, piece);
  if (reads_in_order(b, n * bytes)) piece->n_prefetch = 0;
  return TESELA_OK;
}
