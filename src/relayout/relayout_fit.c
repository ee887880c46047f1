/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout_fit.c - choose the tile of a piece: its kernel, its run, and its entries on each side.
 *
 * The tile starts with the loops that the solver needs. It grows on side A by loops that continue where its src ends,
 * on side B by loops that continue where its dst ends, until it reads and writes stretches that are long enough for
 * memory. The last loop of a side may be cut: the tile has a part of it, and a level of tiles covers the loop, the last
 * tile shorter.
 *
 *   f32 transpose 7264 x 7264     a tile of 64 x 64: 256 bytes from each row, 256 to each row
 *   f32 (8,128) tiles             a run of 512 bytes; side B is the 8 rows of a tile, 4 KiB in dst
 *
 * Small tiles are better than large ones: a later tile is prefetched, and a tile that is too large evicts itself from
 * the cache. Sizes from bench/bench_relayout on a 2-core AMD EPYC (Zen 5) with AVX-512, 2026-11.
 */
#include "relayout/solve.h"

enum {
  ENOUGH_BYTES = 4096
}; /* of a tile, so that the costs of a tile are small against those of its bytes */

enum { NO_EXTENT = -(1 << 30) - 1 }; /* of blocks with gaps: no loop continues them */

/* ---- growth ------------------------------------------------------------------------------------------------ */

/* Add a loop to a side, which then has at most `most` entries. */
static void side_add(tesela__tile_side *s, tesela__loop loop, int64_t most, int64_t multiple) {
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

/* The unused loop that continues where the side's own bytes end, or -1. */
static int32_t next_dense(const tesela__builder *b, const tesela__tile_side *s, bool src) {
  const tesela__box *box = b->job->box;
  for (int32_t i = 0; i < box->n_loops; i++)
    if (!b->used[i] && (src ? box->loop[i].ss : box->loop[i].ds) == s->extent) return i;
  return -1;
}

/* Both sides of a transpose could take loop i: side A takes it where it reads less than a line at a time, side B less so. */
static bool is_for_a(const tesela__builder *b, int32_t i) {
  return b->piece->transpose_fn && b->a.extent < TESELA__LINE && b->a.extent < b->b.extent &&
         !side_is_cut(&b->a) && b->job->box->loop[i].ss == b->a.extent;
}

/* Grow a side until it covers `target` bytes. With a row kernel, a last loop that is cut may grow, too. */
static void grow_side(tesela__builder *b, tesela__tile_side *s, bool src, int64_t target) {
  if (side_is_cut(s) && s->extent < target && !b->piece->transpose_fn) {
    tesela__loop last = s->loop[--s->n];
    int64_t want = tesela__ceil_div(target, s->extent / s->chunk) * (s->entries / s->chunk);
    s->entries /= s->chunk;
    s->extent /= s->chunk;
    side_add(s, last, want, 1);
  }
  while (s->extent < target && !side_is_cut(s)) {
    int32_t i = next_dense(b, s, src);
    if (i < 0 || (!src && is_for_a(b, i))) return;
    int64_t want = tesela__ceil_div(target, s->extent) * s->entries;
    b->used[i] = true;
    side_add(s, b->job->box->loop[i], want,
             b->job->permute.bits && s->entries == 1 ? TESELA__PERMUTE_BLOCKS : 1);
  }
}

/* The loop of a side, not yet `seen`, that continues `bytes` bytes of dst; or -1. */
static int32_t find_next(const tesela__tile_side *s, int32_t n, uint64_t seen, int64_t bytes) {
  for (int32_t i = 0; i < n; i++)
    if (!(seen >> i & 1) && s->loop[i].ds == bytes) return i;
  return -1;
}

int64_t tesela__dense_bytes(const tesela__builder *b, int32_t a_loops) {
  int64_t bytes = b->piece->transpose_fn ? b->job->wd : b->piece->entry_dst;
  uint64_t seen[2] = {0, 0};
  bool whole = true;
  for (int32_t left = a_loops + b->b.n; left > 0; left--) {
    const tesela__tile_side *s = &b->b;
    int32_t i = find_next(s, s->n, seen[0], bytes);
    if (i < 0) s = &b->a, i = find_next(s, a_loops, seen[1], bytes);
    if (i < 0 || !whole) return 0; /* a loop that is cut must be the last */
    seen[s == &b->a] |= (uint64_t)1 << i;
    whole = i < s->n - 1 || s->chunk == s->loop[i].n;
    bytes *= i < s->n - 1 ? s->loop[i].n : s->chunk;
  }
  return bytes;
}

/* Rows of dst that end within a line: loops that follow them in dst join the tile, so that it covers whole lines. */
static void complete_lines(tesela__builder *b) {
  enum { COVERED = 4096, BOTH = 16 << 10 };
  const tesela__box *box = b->job->box;
  if (side_is_cut(&b->b) || b->b.extent % TESELA__LINE == 0) return;
  int64_t bytes = tesela__dense_bytes(b, b->a.n);
  for (; bytes > 0 && bytes < COVERED && !side_is_cut(&b->a) && !side_is_cut(&b->b);
       bytes = tesela__dense_bytes(b, b->a.n)) {
    int32_t i = 0;
    while (i < box->n_loops && (b->used[i] || box->loop[i].ds != bytes)) i++;
    if (i == box->n_loops) return;
    tesela__tile_side *s = box->loop[i].ss == b->a.extent ? &b->a : &b->b;
    int64_t most = tesela__ceil_div(2 * COVERED, bytes) * s->entries;
    if (s == &b->b) most = tesela__min(most, BOTH / b->target.in); /* each further row is a stretch of src */
    if (most < 2 * s->entries) return;
    b->used[i] = true;
    s->dense = s == &b->a;
    side_add(s, box->loop[i], most, 1);
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
  side_add(s, loop, want, 64 / b->job->wd);
}

/* A tile of a few short rows: add the loops with the shortest steps, as further rows. */
static void take_more_rows(tesela__builder *b) {
  const tesela__box *box = b->job->box;
  for (int32_t i = box->n_loops - 1; i >= 0; i--) {
    int64_t room = ENOUGH_BYTES / (b->a.entries * b->b.entries * b->piece->entry_dst);
    if (room < 2 || side_is_cut(&b->a)) return;
    if (b->used[i]) continue;
    b->used[i] = true;
    b->a.dense = b->a.dense && box->loop[i].ss == b->a.extent;
    side_add(&b->a, box->loop[i], room * b->a.entries, 1);
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
    side_add(&b->b, box->loop[i], reach > 0 ? tesela__min(MOST, reach / step) : MOST, 1);
    if (!b->piece->bitwise) return;
  }
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
    side_add(&b->b, *loop, room * b->b.entries, 1);
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

/* Rows of src so many bytes apart meet in one set of L2. */
static int64_t l2_set(const tesela_plan *plan) {
  enum { WAYS = 8, PAGE = 4096 };
  return tesela__max(PAGE, plan->info.l2_bytes / WAYS);
}

/* Rows that are a part of a loop leave gaps in dst until the tiles of the other parts fill these. Where stores stay in the cache more rows
 * are faster, if they do not all meet in one set of L2: `32 [12,174368]` to tiles of 32 from 15 to 38 GB/s. */
static void close_gaps(tesela__builder *b) {
  enum { COVERED = 8192 };
  const tesela__tile_side *s = &b->b;
  if (b->job->random || b->job->plan->stream || b->piece->transpose_fn || !side_is_cut(s)) return;
  if (s->loop[0].ss % l2_set(b->job->plan) == 0) return;
  grow_side(b, &b->b, false, tesela__min(COVERED, s->extent / s->chunk * s->loop[s->n - 1].n));
}

/* Short rows of src that meet in one set of the caches evict the lines that they share with the next ones: then a tile takes what follows in
 * a row first. Where stores go past the cache dst comes first. */
static bool rows_share_sets(const tesela__builder *b, tesela_solver solver) {
  enum { PAGE = 4096, WAYS = 8 };
  const tesela__job *job = b->job;
  if (solver != TESELA_SOLVER_ROWS || job->fill || job->conversion || job->bitwise || b->b.n == 0)
    return false;
  if (job->random) return tesela__random(job->random) % 4 == 0;
  return !job->plan->stream && b->piece->run < 2 * TESELA__LINE && b->b.entries > WAYS &&
         b->b.loop[0].n > WAYS && b->b.loop[0].ss % PAGE == 0;
}

/* In the cache a call of a kernel costs as much as some lines: its rows are those of both sides, and of loops around them. */
static void join_rows(tesela__builder *b) {
  enum { CACHED_BYTES = 16 << 10, PAGE = 4096 };
  const tesela__box *box = b->job->box;
  const int64_t streams = b->piece->solver == TESELA_SOLVER_DEINTERLEAVE ? b->piece->rows.k : 1;
  const int64_t row = streams * tesela__max(TESELA__LINE, b->piece->entry_dst);
  const bool a_first = side_is_cut(&b->b);
  if (streams > 1 && b->piece->rows.dst_pitch % PAGE == 0) return; /* they meet in one set of the caches */
  if (b->a.n > 0) {
    if (a_first && side_is_cut(&b->a)) return;
    tesela__tile_side inner = a_first ? b->a : b->b, *outer = a_first ? &b->b : &b->a;
    if (inner.entries * outer->entries > b->b.most) return;
    for (int32_t i = 0; i < outer->n; i++) inner.loop[inner.n++] = outer->loop[i];
    inner.entries *= outer->entries;
    inner.chunk = outer->chunk;
    inner.dense = false;
    b->b = inner;
    b->a = (tesela__tile_side){
        .entries = 1, .extent = 1, .chunk = 1, .most = b->a.most, .dense = true, .dense_entries = 1};
  }
  for (int32_t i = box->n_loops - 1; i >= 0 && !side_is_cut(&b->b); i--) {
    const int64_t room = tesela__min(CACHED_BYTES / (b->b.entries * row), b->b.most / b->b.entries);
    if (b->used[i]) continue;
    if (room < 2) return;
    b->used[i] = true;
    b->b.dense = false;
    side_add(&b->b, box->loop[i], room * b->b.entries, 1);
  }
}

/* ---- the start of each solver ------------------------------------------------------------------------------ */

static void set_rows_kernel(tesela__builder *b, tesela__kernel_kind kind, int32_t width, int64_t k) {
  const tesela__kernel *kernel = tesela__kernel_for(b->job, kind, width, k);
  b->piece->rows_fn = (tesela__rows_fn *)kernel->fn;
  b->piece->kernel = kernel->name;
  b->piece->isa |= kernel->isa;
  b->piece->rows.k = k;
}

static void set_run(tesela__builder *b, int32_t loop, int64_t most) {
  b->run = b->job->box->loop[loop];
  b->used[loop] = true;
  b->chunk = tesela__min(b->run.n, most);
}

static void start_convert(tesela__builder *b) {
  const tesela__kernel *kernel =
      tesela__kernel_for(b->job, TESELA__K_CONVERT, (int32_t)b->job->conversion, 0);
  b->piece->convert_fn = (tesela__convert_fn *)kernel->fn;
  b->piece->convert_rows_fn = kernel->rows;
  b->piece->kernel = kernel->name;
  b->piece->isa |= kernel->isa;
}

/* Units of the run: bytes; bits in bitwise pieces; elements in conversions. */
static void start_rows(tesela__builder *b) {
  const tesela__job *job = b->job;
  tesela__piece *piece = b->piece;
  bool converts = job->conversion && !job->fill;
  int64_t unit = converts ? 1 : job->wd, most = converts ? 4096 : (64 << 10) / unit;
  if (job->bitwise) most = job->fill ? 512 / unit : 1 << 16;
  if (job->random) most = converts ? 512 : tesela__max(1, 512 / unit);
  if (job->tail) most = INT64_MAX; /* whole rows, which are short */
  if (job->shared >= 0) set_run(b, job->shared, most);
  piece->run = job->shared >= 0 ? b->chunk * unit : unit;
  piece->run_src = piece->run_dst = 1;
  if (job->shared >= 0) b->run = (tesela__loop){b->run.n * unit, 1, 1};
  b->chunk = piece->run;
  piece->entry_dst = piece->run + job->tail;
  piece->bitwise = job->bitwise;
  if (converts) {
    start_convert(b);
    piece->entry_dst = tesela__ceil_div(piece->run * job->dst_bits, 8);
  } else if (!job->fill) {
    set_rows_kernel(b, job->bitwise ? TESELA__K_COPY_BITS : TESELA__K_COPY, 0, 0);
  } else if (job->bitwise) {
    set_rows_kernel(b, TESELA__K_COPY_BITS, 0, 0);
  }
}

static void start_weave(tesela__builder *b, bool interleave) {
  const tesela__job *job = b->job;
  const tesela__loop *streams = &job->box->loop[interleave ? job->b : job->a];
  int64_t k = streams->n, w = job->wd, most = tesela__max(64, (32 << 10) / (k * w) / 64 * 64);
  if (job->random) most = 64;
  if (job->tail) most = INT64_MAX; /* whole rows, which are short */
  set_run(b, interleave ? job->a : job->b, most);
  b->used[interleave ? job->b : job->a] = true;
  set_rows_kernel(b, interleave ? TESELA__K_INTERLEAVE : TESELA__K_DEINTERLEAVE, (int32_t)w, k);
  b->piece->run = b->chunk;
  b->piece->run_src = interleave ? w : k * w;
  b->piece->run_dst = interleave ? k * w : w;
  b->piece->rows.src_pitch = streams->ss;
  b->piece->rows.dst_pitch = streams->ds;
  b->piece->entry_dst = b->chunk * b->piece->run_dst + job->tail;
}

/* Most elements of a run: 4 KiB of neighbours on one side, with up to 16 KiB of src, which can be prefetched. */
static int64_t most_strided(const tesela__job *job, const tesela__loop *run) {
  if (job->conversion) return 64;
  if (job->bitwise || job->random || (run->ds != job->wd && run->ss != job->ws)) return 256;
  const int64_t step = run->ss < 0 ? -run->ss : run->ss;
  int64_t most = 4096 / job->wd;
  while (most * step > 16384 && most * job->wd > 512) most /= 2;
  return most;
}

static void start_strided(tesela__builder *b) {
  const tesela__job *job = b->job;
  tesela__piece *piece = b->piece;
  piece->bitwise = job->bitwise;
  piece->run = 1;
  b->chunk = 1;
  if (job->box->n_loops > 0) {
    int32_t inner = job->box->n_loops - 1;
    set_run(b, inner, most_strided(job, &job->box->loop[inner]));
    piece->run = b->chunk;
    piece->run_src = piece->rows.src_pitch = b->run.ss;
    piece->run_dst = piece->rows.dst_pitch = b->run.ds;
  }
  piece->width = job->wd;
  piece->entry_dst = job->bitwise ? 1 : piece->rows.dst_pitch == job->wd ? piece->run * job->wd : job->wd;
  if (job->conversion) {
    start_convert(b);
    return;
  }
  set_rows_kernel(b, job->bitwise ? TESELA__K_STRIDED_BITS : TESELA__K_STRIDED, job->wd, 0);
}

static tesela__tile_target random_target(uint64_t *random, int32_t most) {
  static const int64_t sizes[] = {64, 128, 256, 512, 1024};
  int64_t in = sizes[tesela__random(random) % (uint64_t)most],
          out = sizes[tesela__random(random) % (uint64_t)most];
  return (tesela__tile_target){in, out, in * out};
}

static tesela__tile_target target_of_rows(const tesela__job *job) {
  const tesela__tuning *tuning = &job->plan->tuning;
  if (job->random) return random_target(job->random, 5);
  if (tuning->in) return (tesela__tile_target){tuning->in, tuning->out, tuning->total};
  return (tesela__tile_target){8192, 1024, 8 << 10};
}

/* For a transpose. Bytes have many short columns, elements of 8 bytes and more few: both sides take more. Src rows that all meet in one
 * set of L2 evict each other: few of them, each for longer. */
static tesela__tile_target target_of_blocks(const tesela__job *job) {
  enum { PAGE = 4096 };
  const tesela__tuning *tuning = &job->plan->tuning;
  const int64_t pitch = job->box->loop[job->b].ss;
  tesela__tile_target target = {job->wd == 1 || job->wd >= 8 ? 512 : 256, job->wd >= 8 ? 512 : 256, 0};
  bool copied = job->plan->stream && job->wd <= 2 && job->group == 1 && !job->conversion && !job->apart;
  if (copied && pitch % PAGE == 0)
    target.in = 512; /* see rows_meet */
  else if (pitch % l2_set(job->plan) == 0)
    target = (tesela__tile_target){1024, 128, 0};
  if (tuning->in) target = (tesela__tile_target){tuning->in, tuning->out, 0};
  if (job->inner) target = (tesela__tile_target){1024, 1024, 0};
  if (job->random) target = random_target(job->random, job->wd == 1 ? 3 : 5);
  return target;
}

/* Limit a tile to the packing buffer: b.most rows of a.most elements. */
static void set_most_packed(tesela__builder *b, int32_t m) {
  enum { PACKED = 32 << 10 };
  int64_t width = b->job->wd;
  b->a.most = m == 2 ? 256 : m > 2 ? 64 * m : width <= 4 ? 128 : 512 / width;
  b->b.most = PACKED * m / (b->a.most * width);
}

/* Blocks of bits with few elements on one side, dense with the other, as (8,1) packs of nibbles: weave their bytes. */
static bool weaves_bits(const tesela__job *job, bool out) {
  enum { MOST_STREAMS = 8 };
  const tesela__loop *a = &job->box->loop[job->a], *b = &job->box->loop[job->b];
  return out ? b->n <= MOST_STREAMS && a->ds * 8 == b->n * job->dst_bits
             : a->n <= MOST_STREAMS && b->ss * 8 == a->n * job->dst_bits;
}

bool tesela__is_woven_bits(const tesela__job *job) {
  return weaves_bits(job, true) || weaves_bits(job, false);
}

static bool start_woven_bits(tesela__builder *b) {
  enum { WOVEN = 1024 };
  const tesela__job *job = b->job;
  const tesela__loop a_loop = job->box->loop[job->a], b_loop = job->box->loop[job->b];
  const bool out = weaves_bits(job, true);
  if (!tesela__is_woven_bits(job)) return false;
  int64_t k = out ? b_loop.n : a_loop.n;
  const tesela__kernel *kernel =
      tesela__kernel_for(job, out ? TESELA__K_INTERLEAVE : TESELA__K_DEINTERLEAVE, 1, k);
  b->piece->weave_fn = (tesela__rows_fn *)kernel->fn;
  b->piece->kernel = kernel->name;
  b->piece->weaves_out = out;
  b->piece->isa |= kernel->isa;
  tesela__tile_side *cut = out ? &b->a : &b->b;
  side_add(&b->a, a_loop, WOVEN, 64);
  side_add(&b->b, b_loop, WOVEN, 64);
  b->used[job->a] = b->used[job->b] = true;
  b->piece->pack_pitch = cut->entries / job->group;
  return true;
}

/* Src rows that are a little longer are taken whole; so are dst rows that follow each other and end within a line: they are staged
 * as one row, and only its ends are parts of lines. Other rows that end within a line each carry one, so their number is limited. */
static void set_whole(tesela__builder *b, int64_t *na, int64_t *nb, int64_t multiple) {
  enum { LITTLE = 4 };
  const tesela__job *job = b->job;
  const tesela__loop *a_loop = &job->box->loop[job->a], *b_loop = &job->box->loop[job->b];
  if (a_loop->n <= LITTLE * *na) *na = tesela__max(*na, a_loop->n);
  if (job->random || a_loop->ds % TESELA__LINE == 0) return;
  const int64_t row = b_loop->n * job->wd + job->tail;
  int64_t most = (TESELA__STAGE - 2 * TESELA__LINE) / row;
  most -= most % multiple;
  if (a_loop->ds != row || row / job->wd > TESELA__MAX_TILE || most == 0) {
    b->a.most = TESELA__CARRIED;
    return;
  }
  *nb = row / job->wd;
  *na = tesela__min(*na, most);
}

/* In the cache, do dst rows follow each other? A tile takes many of them, since it reads and writes in order. */
static bool follows_in_cache(const tesela__job *job) {
  const int64_t row = job->box->loop[job->b].n * job->wd + job->tail;
  return !job->plan->stream && !job->random && !job->inner && !job->conversion && !job->apart &&
         job->group == 1 && row <= 4 * TESELA__LINE && job->box->loop[job->a].ds == row;
}

static void start_transpose(tesela__builder *b) {
  const tesela__job *job = b->job;
  tesela__piece *piece = b->piece;
  int32_t m = job->group;
  const tesela__kernel *kernel = tesela__kernel_for(job, TESELA__K_TRANSPOSE, job->wd, 0);
  piece->transpose_fn = (tesela__transpose_fn *)kernel->fn;
  piece->kernel = kernel->name;
  piece->isa |= kernel->isa;
  piece->block = kernel->block;
  piece->width = job->wd;
  piece->group = m;
  piece->run = 1;
  piece->entry_dst = job->wd;
  b->chunk = 1;
  if (m > 1) {
    const tesela__kernel *blocks = tesela__kernel_for(job, TESELA__K_BIT_BLOCK, job->plan->dst.bits, 0);
    piece->bit_block_fn = (tesela__bit_block_fn *)blocks->fn;
    piece->isa |= blocks->isa;
    if (start_woven_bits(b)) return;
  } else if (job->conversion) {
    start_convert(b);
  } else if (job->apart) {
    const tesela__kernel *pack = tesela__kernel_for(job, TESELA__K_STRIDED, job->wd, 0);
    piece->rows_fn = (tesela__rows_fn *)pack->fn;
    piece->isa |= pack->isa;
    piece->rows.src_pitch = job->box->loop[job->a].ss;
    piece->rows.dst_pitch = job->wd;
  }
  int64_t src_width = job->conversion ? job->src_bits : 8 * (int64_t)job->ws;
  b->target = target_of_blocks(job);
  int64_t na = b->target.in * 8 / src_width, nb = b->target.out / job->wd, multiple = 64 / job->wd;
  if (m > 1 || job->conversion || job->apart) set_most_packed(b, m);
  if (m > 1) na = b->a.most, nb = b->b.most, multiple = 64;
  if (m == 1 && !job->conversion && !job->apart) set_whole(b, &na, &nb, multiple);
  if (follows_in_cache(job)) na = tesela__max(na, TESELA__MAX_TILE);
  b->a.extent = job->apart ? job->box->loop[job->a].ss : job->ws;
  b->b.extent = job->wd;
  tesela__loop b_loop = job->box->loop[job->b];
  b_loop.n += job->tail / job->wd * m;
  if (job->tail) nb = b_loop.n;
  side_add(&b->a, job->box->loop[job->a], tesela__max(na, multiple), job->ws ? multiple : 64);
  side_add(&b->b, b_loop, tesela__max(nb, multiple), multiple);
  b->used[job->a] = b->used[job->b] = true;
}

/* Bytes of src that loops of a block cover without a gap. */
static int64_t src_of_block(const tesela__builder *b) {
  const tesela__box *box = b->job->box;
  int64_t bytes = b->job->wd;
  for (int32_t i = 0; i < box->n_loops; i++) {
    if (!b->used[i] || box->loop[i].ss != bytes) continue;
    bytes *= box->loop[i].n;
    i = -1;
  }
  return bytes;
}

/* Blocks that are dense in dst follow each other there; others in src, if they are near each other in dst and all of a loop does. */
static void set_extents_of_blocks(tesela__builder *b) {
  enum { IN = 1024, NEAR = 4096 };
  const tesela__job *job = b->job;
  if (!job->permute.dense) b->a.extent = src_of_block(b), b->b.extent = NO_EXTENT;
  const int32_t next = job->permute.dense || job->permute.bits ? -1 : next_dense(b, &b->a, true);
  const tesela__loop *loop = next >= 0 ? &job->box->loop[next] : NULL;
  if (loop && loop->ds <= NEAR && (job->random || loop->n * b->a.extent <= IN))
    grow_side(b, &b->a, true, job->random ? b->target.in : IN);
  b->a.extent = NO_EXTENT;
}

/* A block for each entry; those of side B follow each other in dst. */
static void start_permute(tesela__builder *b) {
  const tesela__job *job = b->job;
  tesela__piece *piece = b->piece;
  const tesela__permute_fit *fit = &job->permute;
  set_rows_kernel(b, fit->bits ? TESELA__K_PERMUTE_BITS : TESELA__K_PERMUTE, 0, 0);
  piece->span = fit->span;
  b->chunk = piece->run = piece->entry_dst = fit->bytes;
  piece->run_src = piece->run_dst = 1;
  for (int32_t i = 0; i < job->box->n_loops; i++) b->used[i] = fit->take[i] > 1;
}

/* Elements below 8 bits that begin at any bit, or whole bytes, whose tiles are always of blocks. */
static void start_bits_tile(tesela__builder *b) {
  const tesela__job *job = b->job;
  tesela__piece *piece = b->piece;
  const bool bytes = job->plan->dst.bits >= 8;
  const int64_t most = bytes ? TESELA__BYTES_ELEMENTS : TESELA__BITS_ELEMENTS;
  tesela__bits_fit_tile(&b->bits, job, job->random ? most >> tesela__random(job->random) % 12 : most);
  if (bytes && !b->bits.blocks) tesela__bits_fit_tile(&b->bits, job, most);
  piece->bitwise = true;
  piece->run = 1;
  for (int32_t i = 0; i < job->box->n_loops; i++) b->used[i] = b->bits.chunk[i] > 1;
}

/* Are the converted runs whole bytes on both sides? */
static bool whole_bytes(const tesela__builder *b) {
  const int64_t n = b->piece->run;
  return n * b->job->src_bits % 8 == 0 && n * b->job->dst_bits % 8 == 0;
}

void tesela__fit_tile(tesela__builder *b, tesela_solver solver) {
  const tesela__job *job = b->job;
  if (solver == TESELA_SOLVER_BITS && job->bitwise) {
    start_bits_tile(b);
    return;
  }
  b->target = target_of_rows(job);
  switch (solver) {
  case TESELA_SOLVER_MEMCPY:
  case TESELA_SOLVER_ROWS:
    start_rows(b);
    break;
  case TESELA_SOLVER_INTERLEAVE:
  case TESELA_SOLVER_DEINTERLEAVE:
    start_weave(b, solver == TESELA_SOLVER_INTERLEAVE);
    break;
  case TESELA_SOLVER_TRANSPOSE:
  case TESELA_SOLVER_BITS:
    start_transpose(b);
    break;
  case TESELA_SOLVER_PERMUTE:
    start_permute(b);
    break;
  default:
    start_strided(b);
    break;
  }
  if (job->permute.bits)
    b->target.out = b->target.total =
        tesela__max(b->target.out, 2 * TESELA__PERMUTE_BLOCKS * b->piece->entry_dst);
  bool blocks = b->piece->transpose_fn, whole = job->group == 1 && job->ws > 0 && job->wd > 0;
  if (!blocks && b->piece->convert_fn && solver != TESELA_SOLVER_STRIDED) whole = whole_bytes(b);
  if (!blocks) {
    bool converts = job->conversion && solver != TESELA_SOLVER_STRIDED;
    b->a.extent = solver == TESELA_SOLVER_INTERLEAVE ? b->chunk * job->ws
                  : converts                         ? b->piece->run * job->src_bits / 8
                                                     : b->piece->run * b->piece->run_src;
    b->b.extent = solver == TESELA_SOLVER_DEINTERLEAVE ? b->chunk * job->wd : b->piece->entry_dst;
  }
  if (solver == TESELA_SOLVER_PERMUTE) set_extents_of_blocks(b);
  bool grows =
      !b->piece->bitwise && tesela__writes_runs(b->piece) && b->chunk >= b->run.n && (whole || job->fill);
  if (grows) {
    int64_t streams = solver == TESELA_SOLVER_DEINTERLEAVE ? b->piece->rows.k : 1;
    grow_side(b, &b->b, false, b->target.out); /* first: a loop that both sides can use is better here */
    close_gaps(b);
    if (blocks) widen_rows(b);
    if (blocks && !job->fill && !job->apart && job->wd > 1 && tesela__may_stream(job)) complete_lines(b);
    if (!job->fill && solver != TESELA_SOLVER_STRIDED && !job->apart && (blocks || job->plan->reach == 0))
      grow_side(b, &b->a, true, b->target.in);
    if (!blocks) grow_side(b, &b->b, false, b->target.total / (b->a.entries * streams));
  }
  if (!blocks && b->a.entries > 1 && (b->b.entries == 1 || rows_share_sets(b, solver))) give_to_b(b);
  if (!blocks && b->chunk >= b->run.n && job->plan->reach > 0) take_rows_in_reach(b);
  if (!blocks && b->b.entries == 1 && b->chunk >= b->run.n) take_any(b);
  if (!blocks && grows && !job->fill && solver != TESELA_SOLVER_STRIDED && job->plan->reach == 0)
    take_more_rows(b);
  const bool joins = !blocks && b->chunk >= b->run.n && !job->plan->stream && !job->inner && !job->fill &&
                     !job->conversion && !b->piece->bitwise && job->plan->reach == 0 &&
                     b->piece->entry_dst >= 8;
  if (joins && !(job->random && tesela__random(job->random) % 2)) join_rows(b);
}
