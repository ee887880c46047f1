/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_grow.c - the growth of a tile's sides, after relayout_fit.c has set its kernel and its run.
 *
 * The tile grows on side A by loops that continue where its src ends, on side B by loops that continue where its dst ends, until it reads and
 * writes stretches that are long enough for memory. The last loop of a side may be cut: the tile has a part of it, and a level of tiles
 * covers the loop, the last tile shorter. A tile that is still small takes further loops, dense or not.
 */
#include "relayout/solve.h"

enum {
  ENOUGH_BYTES = 4096
}; /* of a tile, so that the costs of a tile are small against those of its bytes */

void tesela__side_add(tesela__tile_side *s, tesela__loop loop, int64_t most, int64_t multiple) {
  int64_t room = tesela__max(1, tesela__min(most, s->most) / s->entries), chunk = tesela__min(loop.n, room);
  if (chunk < loop.n && chunk > multiple) chunk -= chunk % multiple;
  int64_t part = tesela__ceil_div(loop.n, tesela__ceil_div(loop.n, chunk)); /* nearly equal parts */
  chunk = tesela__min(chunk, tesela__ceil_div(part, multiple) * multiple);
  s->loop[s->n++] = loop;
  s->chunk = chunk;
  s->entries *= chunk;
  s->extent *= chunk;
  if (s->dense) s->dense_entries = s->entries;
}

static bool side_is_cut(const tesela__tile_side *s) { return s->n > 0 && s->chunk < s->loop[s->n - 1].n; }

int32_t tesela__next_dense(const tesela__builder *b, const tesela__tile_side *s, bool src) {
  const tesela__box *box = b->job->box;
  for (int32_t i = 0; i < box->n_loops; i++)
    if (!b->used[i] && (src ? box->loop[i].ss : box->loop[i].ds) == s->extent) return i;
  return -1;
}

/* Both sides of a transpose could take loop i: side A takes it where it reads less than a line at a time before it, also by loops that are
 * to follow, and side B less so. */
static bool is_for_a(const tesela__builder *b, int32_t i) {
  const tesela__box *box = b->job->box;
  int64_t extent = b->a.extent;
  if (!b->piece->transpose_fn || side_is_cut(&b->a)) return false;
  for (int32_t k = 0; k < box->n_loops && extent < TESELA__LINE && extent < b->b.extent; k++) {
    if (b->used[k] || box->loop[k].n == 1 || box->loop[k].ss != extent) continue;
    if (k == i) return true;
    extent *= box->loop[k].n;
    k = -1;
  }
  return false;
}

void tesela__grow_side(tesela__builder *b, tesela__tile_side *s, bool src, int64_t target) {
  if (side_is_cut(s) && s->extent < target && !b->piece->transpose_fn) {
    tesela__loop last = s->loop[--s->n];
    int64_t want = tesela__ceil_div(target, s->extent / s->chunk) * (s->entries / s->chunk);
    s->entries /= s->chunk;
    s->extent /= s->chunk;
    tesela__side_add(s, last, want, 1);
  }
  while (s->extent < target && !side_is_cut(s)) {
    int32_t i = tesela__next_dense(b, s, src);
    if (i < 0 || (!src && is_for_a(b, i))) return;
    int64_t want = tesela__ceil_div(target, s->extent) * s->entries;
    b->used[i] = true;
    tesela__side_add(s, b->job->box->loop[i], want,
                     b->job->permute.bits && s->entries == 1 ? TESELA__PERMUTE_BLOCKS : 1);
  }
}

/* The loop of a side, not yet `seen`, that continues `bytes` bytes of src or dst; or -1. */
static int32_t find_next(const tesela__tile_side *s, bool src, int32_t first, int32_t n, uint64_t seen,
                         int64_t bytes) {
  for (int32_t i = first; i < first + n; i++)
    if (!(seen >> i & 1) && (src ? s->loop[i].ss : s->loop[i].ds) == bytes) return i;
  return -1;
}

int64_t tesela__dense_bytes(const tesela__builder *b, int32_t a_first, int32_t a_loops) {
  int64_t bytes = b->piece->transpose_fn ? b->job->wd : b->piece->entry_dst;
  uint64_t seen[2] = {0, 0};
  bool whole = true;
  for (int32_t left = a_loops + b->b.n; left > 0; left--) {
    const tesela__tile_side *s = &b->b;
    int32_t i = find_next(s, false, 0, s->n, seen[0], bytes);
    if (i < 0) s = &b->a, i = find_next(s, false, a_first, a_loops, seen[1], bytes);
    if (i < 0 || !whole) return 0; /* a loop that is cut must be the last */
    seen[s == &b->a] |= (uint64_t)1 << i;
    whole = i < s->n - 1 || s->chunk == s->loop[i].n;
    bytes *= i < s->n - 1 ? s->loop[i].n : s->chunk;
  }
  return bytes;
}

int64_t tesela__bytes_together(const tesela__builder *b, bool src) {
  int64_t bytes = !b->piece->transpose_fn ? b->piece->run : src ? b->job->ws : b->job->wd;
  uint64_t seen[2] = {0, 0};
  for (;;) {
    const tesela__tile_side *s = &b->b;
    int32_t i = find_next(s, src, 0, s->n, seen[0], bytes);
    if (i < 0) s = &b->a, i = find_next(s, src, 0, s->n, seen[1], bytes);
    if (i < 0) return bytes;
    if (i == s->n - 1 && side_is_cut(s)) return 0;
    seen[s == &b->a] |= (uint64_t)1 << i;
    bytes *= s->loop[i].n;
  }
}

/* Entries of A, of which `apart` are not near each other in dst, that are staged together. */
static int64_t most_staged(const tesela__builder *b, int64_t apart) {
  return (TESELA__STAGE - apart * tesela__stage_pitch(0)) / (b->b.entries * b->job->wd);
}

/* Rows of dst that end within a line: loops that follow them in dst join the tile, so that it covers whole lines. `in`: bytes that it will
 * read of each row of src. */
static void complete_lines(tesela__builder *b, int64_t in) {
  enum { COVERED = 4096, BOTH = 48 << 10, FEW_LINES = 2 * TESELA__LINE };
  const tesela__box *box = b->job->box;
  if (side_is_cut(&b->b) || b->b.extent % TESELA__LINE == 0) return;
  for (;;) {
    const int64_t bytes = tesela__bytes_together(b, false);
    if (bytes == 0 || bytes >= COVERED) return;
    int32_t i = 0;
    while (i < box->n_loops && (b->used[i] || box->loop[i].ds != bytes)) i++;
    if (i == box->n_loops) return;
    tesela__tile_side *s = box->loop[i].ss == b->a.extent ? &b->a : &b->b;
    if (s == &b->b && is_for_a(b, i)) return;
    int64_t most = tesela__ceil_div(2 * COVERED, bytes) * s->entries;
    if (s == &b->b) most = tesela__min(most, BOTH / in); /* each further row is a stretch of src */
    if (s == &b->a) {                                    /* with some lines of each row of src */
      most = tesela__max(most, tesela__min(in, FEW_LINES) / b->job->wd);
      most = tesela__min(most, most_staged(b, s->entries));
    }
    if (most < 2 * s->entries || side_is_cut(s)) return;
    b->used[i] = true;
    s->dense = s == &b->a || (s->dense && box->loop[i].ds == s->extent);
    tesela__side_add(s, box->loop[i], most, 1);
  }
}

/* A transpose with few rows of dst makes up for it with long ones of src. */
static void widen_rows(tesela__builder *b) {
  tesela__tile_side *s = &b->a;
  int64_t want = ENOUGH_BYTES / (b->b.entries * b->job->wd);
  if (!side_is_cut(s) || s->n > 1 || want <= s->entries || b->job->random) return;
  tesela__loop loop = s->loop[--s->n];
  s->extent /= s->chunk;
  s->entries = 1;
  tesela__side_add(s, loop, want, 64 / b->job->wd);
}

/* Take the last loop of a side of a transpose whole, if it then has at most so many entries. */
static void complete_side(tesela__builder *b, tesela__tile_side *s, int64_t most) {
  const bool wanted =
      b->job->random ? tesela__random(b->job->random) % 2 : b->job->plan->stream && !b->job->inner;
  if (!side_is_cut(s) || !b->piece->transpose_fn || !wanted) return;
  const int64_t n = s->loop[s->n - 1].n, entries = s->entries / s->chunk * n;
  if (entries > tesela__min(most, s->most)) return;
  s->extent = s->extent / s->chunk * n;
  s->entries = entries;
  s->chunk = n;
  if (s->dense) s->dense_entries = entries;
}

/* Rows of dst that are not much longer than wanted follow each other if they are whole; not where rows of src meet in one set of L2, or, if the
 * tile reads many of them, in few sets of the caches. */
static void complete_rows(tesela__builder *b) {
  enum { LITTLE = 4, PAGE = 4096 };
  const int64_t pitch = b->b.loop[0].ss;
  if (b->b.n == 0 || pitch % tesela__l2_set(b->job->plan) == 0 || (b->fine && pitch % (PAGE / 2) == 0))
    return;
  complete_side(b, &b->b, LITTLE * b->target.out / b->job->wd);
}

/* So do those of the last of several loops of src. `32 [26,1715,53,3]` to 1 3 2 0: rows of 3 * 53, which dst has together, from 8 to
 * 25 GB/s. */
static void complete_columns(tesela__builder *b) {
  enum { TILE = 32 << 10 };
  if (b->a.n > 1) complete_side(b, &b->a, TILE / (b->b.entries * b->job->wd));
}

/* Of a permute a tile has several blocks, which share the loads of indices. */
static int64_t enough_bytes(const tesela__builder *b) {
  const bool permutes = b->piece->solver == TESELA_SOLVER_PERMUTE;
  return tesela__max(ENOUGH_BYTES, permutes ? 2 * TESELA__PERMUTE_BLOCKS * b->piece->entry_dst : 0);
}

/* A tile of a few short rows: add the loops with the shortest steps, as further rows. */
static void take_more_rows(tesela__builder *b) {
  const tesela__box *box = b->job->box;
  for (int32_t i = box->n_loops - 1; i >= 0; i--) {
    int64_t room = enough_bytes(b) / (b->a.entries * b->b.entries * b->piece->entry_dst);
    if (room < 2 || side_is_cut(&b->a)) return;
    if (b->used[i]) continue;
    b->used[i] = true;
    b->a.dense = b->a.dense && box->loop[i].ss == b->a.extent;
    tesela__side_add(&b->a, box->loop[i], room * b->a.entries, 1);
  }
}

/* A tile of a small block of a transpose past the cache: the same, as further rows that do not follow the others in dst. */
static void take_more_blocks(tesela__builder *b) {
  enum { SMALL = 512 };
  const tesela__job *job = b->job;
  const tesela__box *box = job->box;
  const bool plain =
      !job->fill && !job->conversion && !job->apart && job->padding == 0 && job->plan->reach == 0;
  const bool small = b->a.entries * b->b.entries * job->wd <= SMALL && job->plan->stream && !job->inner;
  if (!plain || !(job->random ? tesela__random(job->random) % 2 : small)) return;
  for (int32_t i = box->n_loops - 1; i >= 0 && !side_is_cut(&b->b); i--) {
    const int64_t room = ENOUGH_BYTES / (b->a.entries * b->b.entries * job->wd);
    if (room < 2) return;
    if (b->used[i]) continue;
    b->used[i] = true;
    b->b.dense = b->b.dense && box->loop[i].ds == b->b.extent;
    tesela__side_add(&b->b, box->loop[i], room * b->b.entries, 1);
  }
}

/* For a tile with too few rows: add the loop with the shortest dst steps, dense or not, within the tile's reach if that is
 * bounded; short runs of bits take more loops. */
static void take_any(tesela__builder *b) {
  enum { MOST = 64 };
  const tesela__box *box = b->job->box;
  for (int32_t i = box->n_loops - 1; i >= 0 && b->b.entries < MOST && !side_is_cut(&b->b); i--) {
    if (b->used[i]) continue;
    b->used[i] = true;
    b->b.dense = b->b.dense && box->loop[i].ds == b->b.extent;
    const int64_t unit = b->piece->bitwise ? 8 : 1, reach = b->job->plan->reach * unit;
    const int64_t step = tesela__max(1, box->loop[i].ds);
    tesela__side_add(&b->b, box->loop[i], reach > 0 ? tesela__min(MOST, reach / step) : MOST, 1);
    if (!b->piece->bitwise) return;
  }
}

/* Runs of bits that follow each other in src, but not in dst, share lines: a tile has those of some lines. */
static void take_row_of_src(tesela__builder *b) {
  enum { ROW = 8 * 1024 }; /* bits */
  if (b->job->plan->reach == 0) tesela__grow_side(b, &b->a, true, ROW);
}

/* Within a reach in dst: all loops of short steps are rows of one side, for few calls of the kernel. */
static void take_rows_in_reach(tesela__builder *b) {
  const tesela__box *box = b->job->box;
  const int64_t unit = b->piece->bitwise ? 8 : 1, reach = b->job->plan->reach * unit;
  for (int32_t i = box->n_loops - 1; i >= 0 && !side_is_cut(&b->b); i--) {
    const tesela__loop *loop = &box->loop[i];
    if (b->used[i]) continue;
    int64_t room = ENOUGH_BYTES * unit / (b->b.entries * b->piece->entry_dst);
    room = tesela__min(room, reach / tesela__max(1, loop->ds < 0 ? -loop->ds : loop->ds));
    if (room < 2) return;
    b->used[i] = true;
    b->b.dense = b->b.dense && loop->ds == b->b.extent;
    tesela__side_add(&b->b, *loop, room * b->b.entries, 1);
  }
}

/* Rows that follow each other only in src are entries of side B, too: a call of the kernel moves all of them. */
static void give_to_b(tesela__builder *b) {
  const tesela__tile_side rows = b->a;
  b->a = b->b;
  b->b = rows;
  b->a.extent = rows.extent / rows.entries; /* of the run in src */
  b->b.dense = false;
}

int64_t tesela__l2_set(const tesela_plan *plan) {
  enum { WAYS = 8, PAGE = 4096 };
  return tesela__max(PAGE, plan->info.l2_bytes / WAYS);
}

/* Rows that are a part of a loop leave gaps in dst until the tiles of the other parts fill these. Where stores stay in the cache more rows
 * are faster, if they do not all meet in one set of L2: `32 [12,174368]` to tiles of 32 from 15 to 38 GB/s. */
static void close_gaps(tesela__builder *b) {
  enum { COVERED = 8192 };
  const tesela__tile_side *s = &b->b;
  if (b->job->random || b->job->plan->stream || b->piece->transpose_fn || !side_is_cut(s)) return;
  if (s->loop[0].ss % tesela__l2_set(b->job->plan) == 0) return;
  tesela__grow_side(b, &b->b, false, tesela__min(COVERED, s->extent / s->chunk * s->loop[s->n - 1].n));
}

/* Short rows of src that meet in one set of the caches evict the lines that they share with the next ones: then a tile takes what follows in
 * a row first. Where stores go past the cache dst comes first. */
static bool rows_share_sets(const tesela__builder *b) {
  enum { PAGE = 4096, WAYS = 8 };
  const tesela__job *job = b->job;
  if (b->piece->solver != TESELA_SOLVER_ROWS || job->fill || job->conversion || job->bitwise || b->b.n == 0)
    return false;
  if (job->random) return tesela__random(job->random) % 4 == 0;
  return !job->plan->stream && b->piece->run < 2 * TESELA__LINE && b->b.entries > WAYS &&
         b->b.loop[0].n > WAYS && b->b.loop[0].ss % PAGE == 0;
}

/* Rows of dst that each row of src is divided into. */
static int64_t streams_of(const tesela__builder *b) {
  return b->piece->solver == TESELA_SOLVER_DEINTERLEAVE ? b->piece->rows.k : 1;
}

/* Take fewer values of the last loop of a side, so that it has at most so many entries; false: that is not enough. */
static bool cut_side(tesela__tile_side *s, int64_t most) {
  const int64_t others = s->entries / s->chunk, chunk = most / others;
  if (chunk < 1) return false;
  s->chunk = chunk;
  s->entries = others * chunk;
  return true;
}

/* In the cache a call of a kernel costs as much as some lines: its rows are those of both sides, and of loops around them. */
static void join_rows(tesela__builder *b) {
  enum { CACHED_BYTES = 16 << 10, PAGE = 4096 };
  const tesela__box *box = b->job->box;
  const int64_t streams = streams_of(b);
  const int64_t row = streams * tesela__max(TESELA__LINE, b->piece->entry_dst);
  const bool a_first = side_is_cut(&b->b);
  if (streams > 1 && b->piece->rows.dst_pitch % PAGE == 0) return; /* they meet in one set of the caches */
  if (b->a.n > 0) {
    if (a_first && side_is_cut(&b->a)) return;
    tesela__tile_side inner = a_first ? b->a : b->b, *outer = a_first ? &b->b : &b->a;
    if (inner.entries * outer->entries > b->b.most && !cut_side(outer, b->b.most / inner.entries)) return;
    for (int32_t i = 0; i < outer->n; i++) inner.loop[inner.n++] = outer->loop[i];
    inner.entries *= outer->entries;
    inner.chunk = outer->chunk;
    inner.dense = false;
    b->b = inner;
    b->a = (tesela__tile_side){
        .entries = 1, .extent = 1, .chunk = 1, .most = b->a.most, .dense = true, .dense_entries = 1};
  }
  for (int32_t i = box->n_loops - 1;
       i >= 0 && !side_is_cut(&b->b) && (!b->job->plan->stream || b->job->inner); i--) {
    const int64_t room = tesela__min(CACHED_BYTES / (b->b.entries * row), b->b.most / b->b.entries);
    if (b->used[i]) continue;
    if (room < 2) return;
    b->used[i] = true;
    b->b.dense = false;
    tesela__side_add(&b->b, box->loop[i], room * b->b.entries, 1);
  }
}

/* Would each call of a kernel write little, where stores go past the cache? */
static bool has_few_rows(const tesela__builder *b) {
  return b->a.entries > 1 && b->b.entries * b->piece->entry_dst < 2 * TESELA__LINE;
}

/* Are the converted runs whole bytes on both sides? */
static bool whole_bytes(const tesela__builder *b) {
  const int64_t n = b->piece->run;
  return n * b->job->src_bits % 8 == 0 && n * b->job->dst_bits % 8 == 0;
}

void tesela__grow_tile(tesela__builder *b) {
  const tesela__job *job = b->job;
  const tesela_solver solver = b->piece->solver;
  const bool blocks = b->piece->transpose_fn;
  bool whole = job->group == 1 && job->ws > 0 && job->wd > 0;
  if (!blocks && b->piece->convert_fn && solver != TESELA_SOLVER_STRIDED) whole = whole_bytes(b);
  bool grows =
      !b->piece->bitwise && tesela__writes_runs(b->piece) && b->chunk >= b->run.n && (whole || job->fill);
  if (grows) {
    /* first: a loop that both sides can use is better here */
    tesela__grow_side(b, &b->b, false, b->target.out);
    if (blocks) complete_rows(b);
    close_gaps(b);
    if (blocks) widen_rows(b);
    const bool completes = blocks && !job->fill && !job->apart && tesela__may_stream(job);
    const bool longer = completes && (side_is_cut(&b->a) || tesela__next_dense(b, &b->a, true) >= 0);
    if (completes) complete_lines(b, longer ? b->target.in : b->a.entries * job->wd);
    if (!job->fill && solver != TESELA_SOLVER_STRIDED && !job->apart && (blocks || job->plan->reach == 0))
      tesela__grow_side(b, &b->a, true, b->target.in);
    if (blocks) complete_columns(b);
    if (completes) complete_lines(b, b->a.entries * job->wd);
    if (!blocks) tesela__grow_side(b, &b->b, false, b->target.total / (b->a.entries * streams_of(b)));
  }
  if (b->piece->bitwise && solver == TESELA_SOLVER_ROWS && !job->fill && b->chunk >= b->run.n)
    take_row_of_src(b);
  if (!blocks && b->a.entries > 1 && !b->piece->bitwise && (b->b.entries == 1 || rows_share_sets(b)))
    give_to_b(b);
  if (!blocks && b->chunk >= b->run.n && job->plan->reach > 0) take_rows_in_reach(b);
  if (!blocks && b->b.entries == 1 && b->chunk >= b->run.n) take_any(b);
  if (!blocks && grows && !job->fill && solver != TESELA_SOLVER_STRIDED && job->plan->reach == 0)
    take_more_rows(b);
  if (blocks && grows) take_more_blocks(b);
  const bool joins = !blocks && b->chunk >= b->run.n &&
                     (!job->plan->stream || has_few_rows(b) || job->inner) && !job->fill &&
                     !job->conversion && !b->piece->bitwise && job->plan->reach == 0 &&
                     (b->piece->entry_dst >= 8 || job->inner);
  if (joins && !(job->random && tesela__random(job->random) % 2)) join_rows(b);
}
