/* SPDX-License-Identifier: Apache-2.0 */
/*
 * piece.c - make a piece from a box and its solver: the tile that relayout_fit.c chooses, tables of its offsets, the
 * levels of loops around it (levels.c), and its kind of stores.
 */
#include "relayout/solve.h"

/* ---- tables ------------------------------------------------------------------------------------------------ */

/* Offsets of the entries of a side, on src or on dst. */
static tesela_status side_table(tesela_plan *plan, const tesela__tile_side *s, bool src, int64_t *at,
                                tesela_error *err) {
  tesela_status status = tesela__reserve_table(plan, s->entries, at, err);
  if (status != TESELA_OK) return status;
  int64_t *table = &plan->table[*at], n = 1;
  table[0] = 0;
  for (int32_t i = 0; i < s->n; i++) {
    int64_t step = src ? s->loop[i].ss : s->loop[i].ds;
    int64_t count = i == s->n - 1 ? s->chunk : s->loop[i].n;
    for (int64_t v = 1; v < count; v++)
      for (int64_t e = 0; e < n; e++) table[v * n + e] = table[e] + v * step;
    n *= count;
  }
  return TESELA_OK;
}

/* The padding that follows the first loop of B has no src. */
static void set_padding(const tesela__builder *b) {
  const tesela__job *job = b->job;
  if (!b->piece->transpose_fn || job->tail == 0) return;
  int64_t rows = b->b.loop[0].n, padding = job->tail / job->wd * job->group,
          *sb = &job->plan->table[b->piece->sb];
  for (int64_t i = 0; i < b->b.entries; i++)
    if (i % rows >= rows - padding) sb[i] = TESELA__PADDING;
  b->piece->padded = true;
}

/* ---- stores and packing ----------------------------------------------------------------------------------- */

static bool all_lines(const tesela_plan *plan, int64_t table, int64_t n) {
  int64_t bits = 0;
  for (int64_t i = 0; i < n; i++) bits |= plan->table[table + i];
  return bits % TESELA__LINE == 0;
}

/* Are the rows of a transpose that follow each other in dst whole lines, and all such groups of them? */
static bool groups_are_lines(const tesela__builder *b) {
  const int64_t *db = &b->job->plan->table[b->piece->db], dense = b->b.dense_entries;
  int64_t bits = dense * b->job->wd;
  for (int64_t i = 0; i < b->b.entries; i += dense) bits |= db[i];
  return bits % TESELA__LINE == 0;
}

/* Are rows converted and contiguous in dst, so that steps of half a line make whole lines? */
static bool converted_in_a_row(const tesela__builder *b) {
  const tesela__piece *piece = b->piece;
  return piece->convert_fn && !piece->transpose_fn && b->b.dense && piece->entry_dst % 16 == 0 &&
         b->b.entries * piece->entry_dst >= TESELA__LINE;
}

static int64_t entries_of(const tesela__tile_side *s, int32_t first, int32_t end) {
  int64_t n = 1;
  for (int32_t i = first; i < end; i++) n *= i == s->n - 1 ? s->chunk : s->loop[i].n;
  return n;
}

/* Set the entries of A of a transpose whose dst rows follow each other, but with other entries between them, so that each of these rows is
 * staged as one; returns the bytes of one. 0 if not all have room. */
static int64_t set_staged_apart(tesela__builder *b) {
  tesela__piece *piece = b->piece;
  for (int32_t first = 1; first < b->a.n && piece->transpose_fn; first++) {
    const int64_t bytes = tesela__dense_bytes(b, first, b->a.n - first), step = entries_of(&b->a, 0, first);
    if (bytes == 0 || step * tesela__stage_pitch(bytes) > TESELA__STAGE) continue;
    piece->staged_step = (int32_t)step;
    piece->staged_a = (int32_t)entries_of(&b->a, first, b->a.n);
    return bytes;
  }
  return 0;
}

/* Rows that follow each other by the first loops of A, but have no room together: stage as many values of the last of these loops as have,
 * parts of equal size if other loops follow. Returns the bytes of them; 0: no two have. */
static int64_t set_staged_part(tesela__builder *b, int32_t loops) {
  const int64_t row = loops > 0 ? tesela__dense_bytes(b, 0, loops - 1) : 0;
  int64_t n = row > 0 ? (TESELA__STAGE - tesela__stage_pitch(0)) / row : 0;
  while (loops < b->a.n && n > 1 && b->a.loop[loops - 1].n % n != 0) n--;
  if (n < 2 || b->a.loop[loops - 1].ds != row) return 0;
  b->piece->staged_a = (int32_t)(n * entries_of(&b->a, 0, loops - 1));
  return n * row;
}

/* Set the entries of A whose dst rows follow each other, so that they are staged as one; returns the bytes of these. */
static int64_t set_staged_row(tesela__builder *b) {
  tesela__piece *piece = b->piece;
  piece->staged_a = piece->staged_step = 1;
  const bool thin =
      piece->transpose_fn && b->job->wd == 1 && b->b.entries < TESELA__LINE / 4; /* slower staged */
  if (!thin && piece->group == 1 && b->job->wd > 0 && (piece->transpose_fn || !piece->convert_fn))
    for (int32_t loops = b->a.n; loops >= 0; loops--) {
      int64_t bytes = tesela__dense_bytes(b, 0, loops);
      if (loops == 0) bytes = tesela__max(bytes, set_staged_apart(b));
      if (bytes == 0) continue;
      if (tesela__stage_pitch(bytes) > TESELA__STAGE) {
        const int64_t part = set_staged_part(b, loops);
        if (part > 0) return part;
        continue;
      }
      if (piece->staged_step == 1) piece->staged_a = (int32_t)entries_of(&b->a, 0, loops);
      return bytes;
    }
  return b->b.dense ? b->b.entries / piece->group * piece->entry_dst : 0;
}

/* Bytes of dst that a tile writes without a gap. */
static int64_t bytes_together(const tesela__builder *b) {
  const tesela__piece *piece = b->piece;
  if (piece->n_lines && !b->job->permute.dense) return piece->entry_dst / piece->n_lines;
  for (int32_t loops = b->a.n; loops >= 0; loops--) {
    const int64_t bytes = tesela__dense_bytes(b, 0, loops);
    if (bytes > 0) return bytes;
  }
  return piece->entry_dst;
}

/* Are rows of dst short, and lines between them that the processor would not bring by itself? */
static bool dst_jumps(const tesela__builder *b) {
  enum { ROWS = 64, SHORT = 4 * TESELA__LINE };
  const tesela__piece *piece = b->piece;
  const int64_t *da = &b->job->plan->table[piece->da], *db = &b->job->plan->table[piece->db];
  const int64_t n = tesela__min(ROWS, b->a.entries * b->b.entries);
  int64_t jumps = 0, last = INT64_MIN / 2;
  if (piece->transpose_fn || piece->bitwise || piece->n_lines || piece->solver == TESELA_SOLVER_STRIDED ||
      piece->entry_dst >= SHORT)
    return false;
  for (int64_t i = 0; i < n; i++) {
    const int64_t at = da[i / b->b.entries] + db[i % b->b.entries];
    jumps += at < last - TESELA__LINE || at > last + TESELA__LINE;
    last = at + piece->entry_dst;
  }
  return 4 * jumps > n;
}

/* Does src fit in the cache of a core, while dst is much larger? */
static bool repeats_src(const tesela__builder *b) {
  enum { TIMES = 8 };
  const tesela__job *job = b->job;
  int64_t reach = job->ws;
  for (int32_t i = 0; i < job->box->n_loops; i++) {
    const int64_t far = (job->box->loop[i].n - 1) * job->box->loop[i].ss;
    reach += tesela__max(far, -far);
  }
  return reach <= job->plan->info.l2_bytes / 2 && reach < b->piece->bytes / TIMES;
}

/* Find the level that continues staged rows of `row` bytes: the innermost one, or the one outside the level of side A. */
static void set_carry(tesela__builder *b, int64_t row) {
  tesela__piece *piece = b->piece;
  const int64_t rows = b->a.entries / piece->staged_a;
  const int32_t last = piece->n_levels - 1;
  piece->carry_level = -1;
  piece->carry_step = 1;
  if (!piece->stage || rows > TESELA__CARRIED || last < 0) return;
  const tesela__level *l = &piece->level[last];
  if (l->kind == TESELA__TILE_B || l->kind == TESELA__TILE_RUN || (piece->group == 1 && l->ds == row)) {
    piece->carry_level = last;
  } else if (l->kind == TESELA__TILE_A && last > 0 && l[-1].kind == TESELA__TILE_B &&
             l->n * rows <= TESELA__CARRIED_FAR) {
    piece->carry_level = last - 1;
    piece->carry_step = l->n;
  }
}

/* Are lines of dst fetched before they are stored to? Not in the first cache, and short rows are near the ones before them. */
static bool fetches_dst(const tesela__builder *b) {
  enum { L1 = 32 << 10, ROW = 2 * TESELA__LINE, BLOCKS = 4 * TESELA__LINE };
  const tesela_plan *plan = b->job->plan;
  const tesela__piece *piece = b->piece;
  if (b->job->random) return tesela__random(b->job->random) % 2;
  if (piece->solver == TESELA_SOLVER_ROWS && piece->entry_dst < ROW) return false;
  if (piece->transpose_fn && b->b.entries * b->job->wd < BLOCKS) return false;
  return plan->info.src_bytes > L1 - tesela__min(L1, plan->info.dst_bytes);
}

static void set_stores(tesela__builder *b) {
  tesela__piece *piece = b->piece;
  const tesela_plan *plan = b->job->plan;
  bool blocks = piece->transpose_fn != NULL, row_by_row = !blocks && !converted_in_a_row(b);
  const bool copies = piece->bits_tile && plan->bits_tile[piece->bits_tile - 1].blocks;
  const bool may_stream = copies || (!piece->bitwise && tesela__writes_runs(piece));
  piece->stream = plan->stream && may_stream;
  if (b->job->random) piece->stream = may_stream && tesela__random(b->job->random) % 2;
  int64_t bits = 0;
  for (int32_t i = 0; i < piece->n_levels; i++) bits |= piece->level[i].ds;
  if (row_by_row) bits |= piece->entry_dst;
  if (piece->tail || (piece->n_lines && !piece->whole_lines)) bits |= 1;
  if (piece->solver == TESELA_SOLVER_DEINTERLEAVE) bits |= piece->rows.dst_pitch;
  piece->lines = bits % TESELA__LINE == 0 && all_lines(plan, piece->da, b->a.entries) &&
                 (!row_by_row || all_lines(plan, piece->db, b->b.entries));
  piece->dense_b = (int32_t)b->b.dense_entries;
  if (blocks && !b->b.dense) piece->lines = piece->lines && groups_are_lines(b);
  int64_t row = set_staged_row(b);
  piece->row = bytes_together(b);
  piece->stage =
      !piece->fill && piece->group == 1 && !piece->bitwise && tesela__writes_runs(piece) &&
      piece->solver != TESELA_SOLVER_DEINTERLEAVE &&
      (piece->n_lines == 0 || (piece->span == piece->entry_dst && !piece->keeps_bits)) &&
      row >= TESELA__LINE &&
      tesela__stage_pitch(row) * (blocks && piece->staged_a == 1 ? piece->block : 1) <= TESELA__STAGE;
  if (piece->convert_fn && plan->dst.bits < 8 && b->run.n % (8 / plan->dst.bits))
    piece->stage = false; /* rows share their last bytes with others */
  const tesela__kernel *kernel = NULL;
  if (piece->stream && piece->fill) {
    kernel = tesela__kernel_for(b->job, TESELA__K_STREAM, 0, 0);
    piece->stream_fn = (tesela__stream_fn *)kernel->fn;
  } else if (piece->stream && piece->stage) {
    kernel = tesela__kernel_for(b->job, TESELA__K_STREAM_ROWS, 0, 0);
    piece->stream_rows_fn = (tesela__stream_rows_fn *)kernel->fn;
  }
  if (kernel) piece->isa |= kernel->isa;
  piece->ahead = fetches_dst(b);
  piece->repeats = repeats_src(b);
  piece->jumps = tesela__may_stream(b->job) && !piece->lines && !piece->stage && !piece->fill && dst_jumps(b);
  piece->fine = b->fine && piece->stage && !tesela__rows_meet(b);
  set_carry(b, row);
}

/* Make the tables of the transpose of packed rows: pack_src[j][g] is row g of kind j, pack_dst[j][c] its dst rows. */
static tesela_status set_packing(tesela__builder *b, tesela_error *err) {
  tesela__piece *piece = b->piece;
  tesela_plan *plan = b->job->plan;
  if (!piece->transpose_fn || piece->weave_fn) return TESELA_OK;
  if (!piece->convert_fn && !piece->bit_block_fn && !piece->rows_fn && !tesela__rows_meet(b))
    return TESELA_OK;
  int64_t m = piece->group, na = b->a.entries, nb = b->b.entries;
  piece->pack_pitch = na / m * piece->width;
  tesela_status status = tesela__reserve_table(plan, nb, &piece->pack_src, err);
  if (status == TESELA_OK) status = tesela__reserve_table(plan, na, &piece->pack_dst, err);
  if (status != TESELA_OK) return status;
  for (int64_t j = 0; j < m; j++) {
    for (int64_t g = 0; g < nb / m; g++)
      plan->table[piece->pack_src + j * (nb / m) + g] = (g * m + j) * piece->pack_pitch;
    for (int64_t c = 0; c < na / m; c++)
      plan->table[piece->pack_dst + j * (na / m) + c] = plan->table[piece->da + c * m + j];
  }
  return TESELA_OK;
}

/* ---- the piece --------------------------------------------------------------------------------------------- */

static int64_t box_bytes(const tesela__job *job) {
  int64_t n = 1;
  for (int32_t i = 0; i < job->box->n_loops; i++) n *= job->box->loop[i].n;
  if (job->group > 1) return n / job->group;
  if (job->permute.bits) return tesela__ceil_div(n * job->dst_bits, 8);
  return job->bitwise || job->wd == 0 ? tesela__ceil_div(n * job->dst_bits, 8) : n * job->wd;
}

static tesela_status new_piece(tesela_plan *plan, tesela__piece **piece, tesela_error *err) {
  void *pieces = plan->piece;
  bool grown = tesela__grow(&plan->allocator, &pieces, sizeof *plan->piece, &plan->piece_capacity,
                            (uint64_t)plan->n_pieces + 1);
  plan->piece = pieces;
  if (!grown) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a piece of the plan");
  *piece = &plan->piece[plan->n_pieces];
  memset(*piece, 0, sizeof **piece);
  return TESELA_OK;
}

static tesela_status build_piece(const tesela__job *job, tesela_solver solver, tesela__piece *piece,
                                 tesela_error *err);

static tesela_status new_bits_tile(tesela_plan *plan, tesela__bits_tile **tile, tesela_error *err) {
  void *tiles = plan->bits_tile;
  const bool grown = tesela__grow(&plan->allocator, &tiles, sizeof *plan->bits_tile,
                                  &plan->bits_tile_capacity, (uint64_t)plan->n_bits_tiles + 1);
  plan->bits_tile = tiles;
  if (!grown) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a tile of the plan");
  *tile = &plan->bits_tile[plan->n_bits_tiles++];
  return TESELA_OK;
}

/* Make the piece of a pass from one buffer to the other. */
static tesela_status build_pass(const tesela__job *outer, const tesela__box *box, tesela__piece *pass,
                                tesela_error *err) {
  tesela_plan *plan = outer->plan;
  const bool stream = plan->stream;
  tesela__box copy;
  tesela__job job = {.plan = plan, .random = outer->random};
  float cost;
  plan->stream = false; /* the buffers are in the cache */
  const tesela_solver solver = tesela__pass_solve(box, &copy, &job, &cost);
  if (solver == TESELA_SOLVER_PERMUTE) {
    tesela__permute_fit_block(&job, &job.permute);
    tesela__permute_split(&job);
  }
  memset(pass, 0, sizeof *pass);
  const tesela_status status = build_piece(&job, solver, pass, err);
  plan->stream = stream;
  pass->stream = false;
  return status;
}

/* Make the tile in buffers, and the pieces that move its bytes. */
static tesela_status set_bits_tile(tesela__builder *b, tesela_error *err) {
  tesela__piece *piece = b->piece;
  tesela__bits_fit *fit = &b->bits;
  tesela__bits_tile *tile = NULL;
  tesela__box inner;
  tesela__bits_passes passes = {.n = 1};
  tesela_status status = new_bits_tile(b->job->plan, &tile, err);
  if (status != TESELA_OK) return status;
  tesela__bits_set_tile(fit, tile, &inner);
  const bool copies = tile->blocks, whole = tile->whole_bytes;
  const tesela__kernel *take = !copies ? tesela__kernel_for(b->job, TESELA__K_SLICE, fit->bits, 0)
                               : whole ? tesela__kernel_for(b->job, TESELA__K_COPY, 0, 0)
                                       : tesela__kernel_for(b->job, TESELA__K_COPY_BITS, 0, 0);
  const tesela__kernel *put = copies ? take : tesela__kernel_for(b->job, TESELA__K_UNSLICE, fit->bits, 0);
  if (tile->kinds > 1) {
    const tesela__kernel *block = tesela__kernel_for(b->job, TESELA__K_BIT_BLOCK, fit->bits, 0);
    tile->bit_block = (tesela__bit_block_fn *)block->fn;
    piece->isa |= block->isa;
    const tesela__kernel *transpose = tesela__kernel_for(b->job, TESELA__K_BIT_TRANSPOSE, fit->bits, 0);
    if (transpose && fit->direct) {
      tile->transpose = (tesela__bit_transpose_fn *)transpose->fn;
      piece->isa |= transpose->isa;
    }
  }
  tile->take = (tesela__rows_fn *)take->fn;
  tile->put = (tesela__rows_fn *)put->fn;
  tile->in_run = fit->in;
  tile->out_run = fit->out;
  piece->isa |= take->isa | put->isa;
  piece->bits_tile = b->job->plan->n_bits_tiles;
  const tesela__bits_bands *bands = b->job->bands;
  if (!bands) tesela__bits_find_passes(b->job, &inner, &passes);
  tile->of_bands = bands != NULL;
  tile->n_passes = bands ? bands->n : passes.n;
  for (int32_t i = 0; i < tile->n_passes && status == TESELA_OK; i++) {
    if (bands) tesela__bits_bands_pass(bands, i, fit->axis_step, &inner, &passes.box[0]);
    status = build_pass(b->job, &passes.box[bands ? 0 : i], &tile->pass[i], err);
    piece->kernel = tile->pass[i].kernel;
    piece->isa |= tile->pass[i].isa;
  }
  return status;
}

/* Piece of a job; *piece is zero. */
static tesela_status build_piece(const tesela__job *job, tesela_solver solver, tesela__piece *piece,
                                 tesela_error *err) {
  tesela_plan *plan = job->plan;
  tesela__builder b = {.job = job, .piece = piece};
  b.a.entries = b.b.entries = b.a.extent = b.b.extent = b.a.chunk = b.b.chunk = 1;
  b.a.dense = b.b.dense = true;
  b.a.dense_entries = b.b.dense_entries = 1;
  b.a.most = b.b.most = TESELA__MAX_TILE;
  piece->solver = solver;
  piece->fill = job->fill;
  piece->group = 1;
  piece->src = job->box->src;
  piece->dst = job->box->dst;
  piece->bytes = box_bytes(job);
  piece->src_bits = job->src_bits;
  piece->dst_bits = job->dst_bits;
  tesela__fit_tile(&b, solver);
  tesela_status status = b.bits.box                        ? set_bits_tile(&b, err)
                         : solver == TESELA_SOLVER_PERMUTE ? tesela__permute_set(&b, err)
                                                           : TESELA_OK;
  if (status != TESELA_OK) return status;
  if (!piece->transpose_fn && !piece->n_lines) piece->tail = job->tail;
  tesela__add_levels(&b);
  piece->na = (int32_t)(b.bits.n_cuts > 0 ? b.bits.chunk[b.bits.cut[0]] : b.a.entries);
  piece->nb = (int32_t)(b.bits.n_cuts > 1 ? b.bits.chunk[b.bits.cut[1]] : b.b.entries);
  if (b.bits.n_cuts > 2) piece->run = b.bits.chunk[b.bits.cut[2]];
  piece->rows.n = piece->run;
  status = side_table(plan, &b.a, true, &piece->sa, err);
  if (status == TESELA_OK) status = side_table(plan, &b.a, false, &piece->da, err);
  if (status == TESELA_OK) status = side_table(plan, &b.b, true, &piece->sb, err);
  if (status == TESELA_OK) status = side_table(plan, &b.b, false, &piece->db, err);
  if (status == TESELA_OK) set_padding(&b);
  if (status == TESELA_OK) set_stores(&b);
  if (status == TESELA_OK) status = tesela__set_prefetch(&b, err);
  if (status == TESELA_OK) status = set_packing(&b, err);
  return status;
}

tesela_status tesela__piece_build(const tesela__job *job, tesela_solver solver, tesela_error *err) {
  tesela_plan *plan = job->plan;
  tesela__piece *piece = NULL;
  tesela_status status = new_piece(plan, &piece, err);
  if (status == TESELA_OK) status = build_piece(job, solver, piece, err);
  if (status != TESELA_OK) return status;
  plan->n_pieces++;
  plan->n_fills += piece->fill;
  plan->bitwise =
      plan->bitwise || piece->keeps_bits || (piece->bitwise && !tesela__bits_own_bytes(plan, piece));
  plan->total_bytes += piece->bytes;
  return TESELA_OK;
}
