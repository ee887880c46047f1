/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout_run.c - run all pieces of a plan, in chunks on threads.
 *
 * A chunk is a range of tiles of every piece, the fills first. Tiles are counted in the order of the levels, so a range is
 * contiguous in dst except for its edges, or in src if they go along that. A second odometer runs some tiles ahead of the work, for the
 * prefetch.
 */

#include "relayout/tile.h"
#include "relayout/window.h"

/* ---- the odometer ------------------------------------------------------------------------------------------ */

typedef struct tile_odometer {
  const tesela__piece *piece;
  int64_t src, dst;
  int64_t at[TESELA__MAX_LOOPS + 3];
} tile_odometer;

static void seek_tile(tile_odometer *o, const tesela__piece *piece, int64_t tile) {
  o->piece = piece;
  o->src = piece->src;
  o->dst = piece->dst;
  for (int32_t i = piece->n_levels - 1; i >= 0; i--) {
    const tesela__level *l = &piece->level[i];
    o->at[i] = tile % l->n;
    tile /= l->n;
    o->src += o->at[i] * l->ss;
    o->dst += o->at[i] * l->ds;
  }
}

static void next_tile(tile_odometer *o) {
  for (int32_t i = o->piece->n_levels - 1; i >= 0; i--) {
    const tesela__level *l = &o->piece->level[i];
    o->src += l->ss;
    o->dst += l->ds;
    if (++o->at[i] < l->n) return;
    o->at[i] = 0;
    o->src -= l->n * l->ss;
    o->dst -= l->n * l->ds;
  }
}

/* ---- one piece --------------------------------------------------------------------------------------------- */

typedef struct plan_run {
  const tesela_plan *plan;
  unsigned char *dst;
  const unsigned char *src;
  int32_t n_chunks;
  int32_t first_piece, end_piece;
  bool cached;      /* all stores go through the cache */
  bool goes_on;     /* the next tiles of a piece will follow those that are run */
  uintptr_t caller; /* the thread that progress is called from */
  const tesela_run_options *options;
  atomic_llong done; /* bytes */
  atomic_bool stopped;
} plan_run;

/* Rows from `LONG` on are stored past the cache as they are: only their ends share a line with others. Shorter ones are staged, 2.5
 * times as fast for rows of 512 bytes that begin within a line, and so are long ones of a src in the cache, as only stores take time. */
static tesela__store store_of(const tesela__piece *piece, const unsigned char *dst) {
  enum { LONG = 1024, SHORT = 7 * TESELA__LINE };
  bool aligned = (uintptr_t)dst % TESELA__LINE == 0;
  if (!piece->stream) return TESELA__STORE_CACHED;
  if (piece->bits_tile || piece->fill) return TESELA__STORE_STREAM;
  bool converts = piece->convert_fn && !piece->transpose_fn;
  bool whole = !piece->transpose_fn || piece->block * piece->width % TESELA__LINE == 0;
  const bool lines = piece->lines && aligned;
  if (whole && lines && !piece->fine) return TESELA__STORE_STREAM;
  const bool is_long = piece->entry_dst >= LONG && !(piece->repeats && piece->stage);
  if (!converts && !piece->transpose_fn && !piece->n_lines && !piece->tail && is_long)
    return TESELA__STORE_STREAM;
  /* Staged alone, a row writes two lines in part: u8 rows of 160 of 174 bytes, from 6 to 14 GB/s through the cache. */
  const bool alone = piece->carry_level < 0 && piece->row < SHORT && !lines;
  return piece->stage && !alone ? TESELA__STORE_STAGED : TESELA__STORE_CACHED;
}

static void set_tile(tesela__tile *tile, const tile_odometer *o, const plan_run *run) {
  const tesela__piece *piece = o->piece;
  int64_t unit = piece->bitwise ? 8 : 1;
  int64_t dst = piece->bitwise ? o->dst >> 3 : o->dst, src = piece->bitwise ? o->src >> 3 : o->src;
  *tile = (tesela__tile){.dst = run->dst + dst,
                         .src = piece->fill ? NULL : run->src + src,
                         .dst_bit = o->dst - dst * unit,
                         .src_bit = o->src - src * unit,
                         .na = piece->na,
                         .nb = piece->nb,
                         .run = piece->run};
  if (!piece->bitwise) tile->dst_bit = tile->src_bit = 0;
  for (int32_t i = 0; i < piece->n_levels; i++) {
    const tesela__level *l = &piece->level[i];
    if (l->kind == TESELA__PLAIN || o->at[i] < l->n - 1) continue;
    if (l->kind == TESELA__TILE_A) tile->na = l->last;
    if (l->kind == TESELA__TILE_B) tile->nb = l->last;
    if (l->kind == TESELA__TILE_RUN) tile->run = l->last;
  }
}

/* What is carried to and from tile t, of those from `first` to end - 1. */
static void set_carried(const tesela__worker *w, tesela__tile *tile, const tile_odometer *o, int64_t t,
                        int64_t first, int64_t end) {
  const tesela__piece *piece = o->piece;
  const int64_t step = piece->carry_step, at = o->at[piece->carry_level];
  tile->carry = w->carry + t % step * (piece->na / piece->staged_a);
  tile->begins = t - first < step || at == 0;
  tile->ends = end - t <= step || at == piece->level[piece->carry_level].n - 1;
}

/* Lines to prefetch at each call of a kernel, enough for all stretches of a tile. */
static int32_t prefetch_share(const tesela__piece *piece) {
  int64_t lines = (int64_t)piece->n_prefetch * piece->prefetch_lines;
  int64_t per_call = piece->transpose_fn ? tesela__rows_of_call(piece)
                                         : tesela__max(1, 4096 / tesela__max(1, piece->entry_dst));
  bool long_row = piece->convert_fn && !piece->transpose_fn && piece->nb == 1;
  int64_t pieces_of_run = long_row ? tesela__ceil_div(piece->run, tesela__long_row_step(piece)) : 1;
  int64_t columns = piece->transpose_fn ? tesela__ceil_div(piece->na, piece->block) : piece->na;
  int64_t calls = columns * tesela__ceil_div(piece->nb, per_call) * pieces_of_run;
  if (piece->bit_block_fn) calls = piece->nb / piece->group + calls / piece->group;
  return (int32_t)tesela__max(1, tesela__ceil_div(lines, tesela__max(1, calls)));
}

static bool should_stop(plan_run *run) { return atomic_load_explicit(&run->stopped, memory_order_relaxed); }

static void run_tiles(tesela__worker *w, plan_run *run, int64_t first, int64_t end) {
  const tesela__piece *piece = w->piece;
  bool prefetches = piece->n_prefetch > 0;
  int32_t share = prefetches ? prefetch_share(piece) : 0;
  tile_odometer o, ahead; /* of the work, of the prefetch */
  int64_t distance = prefetches ? piece->n_ahead : 0;
  const int64_t known = run->goes_on ? piece->n_tiles : end;
  seek_tile(&o, piece, first);
  ahead.piece = piece;
  ahead.src = ahead.dst = 0;
  if (prefetches && first + distance < known) seek_tile(&ahead, piece, first + distance);
  for (int64_t t = first; t < end; t++) {
    tesela__tile tile;
    set_tile(&tile, &o, run);
    if (piece->carry_level >= 0) set_carried(w, &tile, &o, t, first, end);
    if (t < end - 1) next_tile(&o);
    if ((piece->bits_tile || (piece->bit_block_fn && piece->stream) || (piece->jumps && !run->cached)) &&
        t < end - 1) {
      const int64_t unit = piece->bitwise ? 8 : 1;
      tile.next_dst = run->dst + o.dst / unit;
      tile.next_src = run->src + o.src / unit;
    }
    if (!w->inner && !w->slices) w->prefetch.n_rows = 0;
    if (prefetches && t + distance < known) {
      const unsigned char *later = run->src + (piece->bitwise ? ahead.src >> 3 : ahead.src);
      if (!w->slices)
        w->prefetch = tesela__prefetch_of(w, later, share);
      else if (w->slices->n_ahead < TESELA__SLICES)
        w->slices->ahead[w->slices->n_ahead++] = later;
      if (t + distance < known - 1) next_tile(&ahead);
    }
    tesela__tile_run(w, &tile);
  }
  if (w->slices) tesela__bits_tiles_end(w);
}

/* run_tiles with room for what is carried; separate functions, here and below, so that other plans need less stack. */
static __attribute__((noinline)) void run_tiles_carrying(tesela__worker *w, plan_run *run, int64_t first,
                                                         int64_t end) {
  alignas(TESELA__LINE) unsigned char carry[TESELA__CARRIED][TESELA__LINE];
  w->carry = carry;
  run_tiles(w, run, first, end);
}

static __attribute__((noinline)) void run_tiles_carrying_far(tesela__worker *w, plan_run *run, int64_t first,
                                                             int64_t end) {
  alignas(TESELA__LINE) unsigned char carry[TESELA__CARRIED_FAR][TESELA__LINE];
  w->carry = carry;
  run_tiles(w, run, first, end);
}

/* The same with the buffers of staging and packing. */
static __attribute__((noinline)) void run_tiles_buffered(tesela__worker *w, plan_run *run, int64_t first,
                                                         int64_t end) {
  alignas(TESELA__LINE) unsigned char stage[TESELA__STAGE], pack[TESELA__PACK];
  w->stage = stage;
  w->pack = pack;
  if (w->store == TESELA__STORE_STAGED && w->piece->carry_step > 1)
    run_tiles_carrying_far(w, run, first, end);
  else
    run_tiles_carrying(w, run, first, end);
}

/* The same for tiles of bits. */
static __attribute__((noinline)) void run_tiles_of_bits(tesela__worker *w, plan_run *run, int64_t first,
                                                        int64_t end) {
  alignas(TESELA__LINE) unsigned char stage[TESELA__BITS_STAGE], pack[TESELA__BITS_STAGE];
  tesela__slices slices;
  w->stage = stage;
  w->pack = pack;
  if (w->plan->bits_tile[w->piece->bits_tile - 1].slices > 1) {
    for (int32_t i = 0; i < TESELA__SLICE_SIZES; i++) slices.waiting[i].n = 0;
    slices.n_ahead = 0;
    w->slices = &slices;
  }
  run_tiles_carrying(w, run, first, end);
}

static void run_inner(tesela__worker *outer, const tesela__piece *inner, unsigned char *dst,
                      const unsigned char *src) {
  plan_run run = {.plan = outer->plan, .dst = dst, .src = src};
  tesela__worker w = {.plan = outer->plan,
                      .piece = inner,
                      .prefetch = outer->prefetch,
                      .pack = outer->carry[0],
                      .inner = true};
  run_tiles(&w, &run, 0, inner->n_tiles);
  outer->prefetch = w.prefetch;
}

static void run_piece(plan_run *run, const tesela__piece *piece, int64_t first, int64_t end) {
  if (first >= end) return;
  tesela__worker w = {.plan = run->plan, .piece = piece, .run_inner = run_inner};
  w.store = run->cached ? TESELA__STORE_CACHED : store_of(piece, run->dst + piece->dst);
  if (piece->bits_tile)
    run_tiles_of_bits(&w, run, first, end);
  else if (w.store == TESELA__STORE_STAGED || piece->pack_pitch)
    run_tiles_buffered(&w, run, first, end);
  else
    run_tiles(&w, run, first, end);
}

void tesela__run_tiles(const tesela_plan *plan, const tesela__piece *piece, void *dst, const void *src,
                       int64_t first, int64_t end, bool goes_on) {
  plan_run run = {.plan = plan, .dst = dst, .src = src, .cached = true, .goes_on = goes_on};
  run_piece(&run, piece, first, end);
}

/* ---- chunks ------------------------------------------------------------------------------------------------ */

static int64_t cut_point(int64_t n, int64_t i, int64_t of) { return n / of * i + n % of * i / of; }

/* Run tiles, with about 8 MiB between two checks of the clock and of the request to stop. */
static void run_piece_watched(plan_run *run, const tesela__piece *piece, int64_t first, int64_t end,
                              bool reports, int64_t *last) {
  int64_t tile_bytes = piece->bytes / piece->n_tiles + 1, step = tesela__max(1, (8 << 20) / tile_bytes);
  for (int64_t t = first; t < end && !should_stop(run); t += step) {
    int64_t n = tesela__min(step, end - t);
    run_piece(run, piece, t, t + n);
    int64_t done = atomic_fetch_add(&run->done, n * (tile_bytes - 1)) + n * (tile_bytes - 1);
    if (!reports || tesela__clock_ns() - *last < 10000000) continue;
    *last = tesela__clock_ns();
    done = tesela__min(done, run->plan->total_bytes);
    if (run->options->progress(run->options->progress_user, done, run->plan->total_bytes))
      atomic_store(&run->stopped, true);
  }
}

/* Windows count what they write, and are stopped, as tiles. */
typedef struct watched_windows {
  plan_run *run;
  bool reports;
  int64_t last;
} watched_windows;

static bool window_done(void *data, int64_t bytes) {
  watched_windows *w = data;
  if (should_stop(w->run)) return false;
  const int64_t done = atomic_fetch_add(&w->run->done, bytes) + bytes;
  if (w->reports && tesela__clock_ns() - w->last >= 10000000) {
    w->last = tesela__clock_ns();
    if (w->run->options->progress(w->run->options->progress_user, done, w->run->plan->total_bytes))
      atomic_store(&w->run->stopped, true);
  }
  return !should_stop(w->run);
}

static void run_chunk_of_windows(plan_run *run, int32_t chunk) {
  watched_windows w = {run, run->options && run->options->progress && run->caller == tesela__thread_self(),
                       0};
  if (w.reports) w.last = tesela__clock_ns();
  tesela__windows_run(run->plan, run->dst, run->src, chunk, window_done, &w);
  tesela__fence();
}

static void run_chunk(void *data, int32_t chunk) {
  plan_run *run = data;
  const tesela_plan *plan = run->plan;
  bool watched = run->options && run->options->progress;
  if (plan->window > 0) {
    run_chunk_of_windows(run, chunk);
    return;
  }
  int64_t last = watched ? tesela__clock_ns() : 0;
  for (int32_t i = run->first_piece; i < run->end_piece; i++) {
    const tesela__piece *piece = &plan->piece[i];
    int64_t first = cut_point(piece->n_tiles, chunk, run->n_chunks);
    int64_t end = cut_point(piece->n_tiles, chunk + 1, run->n_chunks);
    if (watched)
      run_piece_watched(run, piece, first, end, run->caller == tesela__thread_self(), &last);
    else
      run_piece(run, piece, first, end);
  }
  if (plan->stream || plan->options.shuffle) tesela__fence();
}

static void run_pieces(plan_run *run, int32_t first, int32_t end) {
  run->first_piece = first;
  run->end_piece = end;
  if (first == end) return;
  if (run->n_chunks == 1)
    run_chunk(run, 0);
  else
    tesela__run_chunks(run->options ? run->options->executor : NULL, run->n_chunks, run_chunk, run);
}

static bool overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes) {
  uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return a_bytes > 0 && b_bytes > 0 && x < y + (uintptr_t)b_bytes && y < x + (uintptr_t)a_bytes;
}

tesela_status tesela_plan_run(const tesela_plan *plan, void *dst, const void *src,
                              const tesela_run_options *options, tesela_error *err) {
  TESELA__NEED(err, plan);
  TESELA__NEED_LIST(err, dst, plan->info.dst_bytes);
  TESELA__NEED_LIST(err, src, plan->info.src_bytes);
  TESELA__NEED_CLEAR(err, options);
  TESELA__NEED_ROOM(err, plan->info.dst_bytes);
  TESELA__NEED_ROOM(err, plan->info.src_bytes);
  if (overlap(dst, plan->info.dst_bytes, src, plan->info.src_bytes))
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "dst and src overlap: %" PRId64 " and %" PRId64
                        " bytes; tesela_plan_run_in_place works within one buffer",
                        plan->info.dst_bytes, plan->info.src_bytes);
  plan_run run = {.plan = plan,
                  .dst = dst,
                  .src = src,
                  .options = options,
                  .n_chunks = plan->info.threads,
                  .caller = tesela__thread_self()};
  if (plan->fill_first) run_pieces(&run, 0, plan->n_fills);
  run_pieces(&run, plan->fill_first ? plan->n_fills : 0, plan->n_pieces);
  if (should_stop(&run)) return tesela__fail_stopped(err);
  return plan->irregular ? tesela__gather(plan, dst, src, options, atomic_load(&run.done), err) : TESELA_OK;
}
