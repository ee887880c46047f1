/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_fit.c - the tile of a transpose: blocks that are contiguous along one loop in src and along another in dst, in whole lines of
 * both where that is possible.
 *
 *   f32 transpose 7264 x 7264     a tile of 64 x 64: 256 bytes from each row, 256 to each row
 *
 * Blocks of bits with few elements on one side are woven instead (start_woven_bits).
 */
#include "relayout/solve.h"

static bool has_small_l2(const tesela__job *job) { return job->plan->info.l2_bytes <= 512 << 10; }
static bool has_large_l2(const tesela__job *job) { return job->plan->info.l2_bytes > 1 << 20; }

/* Are rows of both sides longer than tiles are? */
static bool has_long_rows(const tesela__job *job) {
  enum { IN = 256, OUT = 1024 };
  return job->box->loop[job->a].n * job->wd >= IN && job->box->loop[job->b].n * job->wd >= OUT;
}

static bool only_copies(const tesela__job *job) {
  return job->group == 1 && !job->conversion && !job->apart && !job->inner && job->plan->reach == 0;
}

/* Where L2 is small, src is read faster in the order of its rows, though dst is then written here and there (Zen 3: `u16 [2048,6992]` from
 * 6.2 to 10 GB/s, by that and by is_fine). What rows of dst that end within a line carry must have room. So it is where L2 is large, for whole
 * lines of dst (Emerald Rapids: `f32 [7264,4640]` from 10.9 to 14 GB/s, `f64 [5792,2904]` from 11 to 17), but not for bytes, nor for 2 bytes
 * whose rows of src are pages apart. */
static bool along_src_pays(const tesela__job *job) {
  enum { PAGE = 4096 };
  const tesela__loop *a = &job->box->loop[job->a], *b = &job->box->loop[job->b];
  if (!job->plan->stream || !only_copies(job) || !has_long_rows(job)) return false;
  const bool lines = a->ds % TESELA__LINE == 0;
  if (has_large_l2(job)) return lines && (job->wd > 2 || (job->wd == 2 && b->ss % PAGE != 0));
  return has_small_l2(job) && (lines || a->n <= TESELA__CARRIED_FAR);
}

bool tesela__goes_along_src(const tesela__job *job) {
  if (job->a < 0 || job->b < 0) return false;
  return job->random && only_copies(job) ? tesela__random(job->random) % 2 : along_src_pays(job);
}

/* Do calls of few rows pay for a tile of elements of up to 2 bytes, since prefetches then are not in bursts? Not where it writes whole lines
 * of dst directly, unless rows of src or dst meet in few sets of the caches; nor where src has a few columns, so that blocks of few rows are
 * cut on both sides (`u8 [1090910,11]` from 6.7 to 10 GB/s without). */
static bool is_fine(const tesela__job *job) {
  enum { PAGE = 4096, FEW = 32 };
  if (job->wd > 2 || !only_copies(job)) return false;
  if (job->random) return tesela__random(job->random) % 2;
  const int64_t in = job->box->loop[job->b].ss, out = job->box->loop[job->a].ds;
  return job->plan->stream && has_small_l2(job) && job->box->loop[job->a].n * job->wd >= FEW &&
         (out % TESELA__LINE != 0 || in % PAGE == 0 || out % (PAGE / 2) == 0);
}

/* Do stretches of dst that a tile writes pay as one, out of the buffer, though they are whole lines? Where L2 is small: those from short rows of src
 * that are whole pages apart (Zen 3: `f32 [32,16384,32]` to 2 1 0 from 0.25 to 0.54 of the NT copy, `f32 [580608,31]` to 1 0 from 0.44 to 0.67), and
 * few bytes that follow each other (T(4,128) of `u8 [385024,412]` from 0.34 to 0.58). */
static bool is_staged_whole(const tesela__job *job) {
  enum { PAGE = 4096, SHORT = 512, LEAST = 4, FEW = 8 };
  const tesela__loop *a = &job->box->loop[job->a], *b = &job->box->loop[job->b];
  if (!job->plan->stream || !has_small_l2(job) || !only_copies(job) || job->random) return false;
  if (job->wd == 1) return a->n >= LEAST && a->n <= FEW && b->ss > a->n && a->ds % TESELA__LINE == 0;
  return job->wd >= 4 && a->n * job->wd <= SHORT && a->ds % PAGE == 0;
}

/* The target where L2 is small, if it is another than `target`. Lines of many rows that are far apart and not in the same sets of L1 are faster than
 * longer stretches of few (Zen 3: `u8 [1539,28171]` from 2.5 to 4.0 GB/s, `u16 [20734,1275]` from 4.2 to 6.5), and are along src, where
 * rows of dst end within a line, also for wider elements (`f32 [7341,1393]` from 4.7 to 6.9); others take longer stretches of src (`f32
 * [16384,512]` from 5.5 to 8.5). Short rows of dst follow each other for longer (`u8 [32,8,2,128,16,2,128]` to 4 2 6 1 3 5 0 from 3.1 to 5.6),
 * and so do those of rows of src that follow each other (`c128 [3,6,3070,22]` from 0.56 to 0.78 of the NT copy). */
static tesela__tile_target target_of_small_l2(const tesela__job *job, bool fine, tesela__tile_target target) {
  enum { PAGE = 4096, APART = 512, FAR = 1024, ROWS = 256, OUT = 512, LONG = 1024, SHORT = 512 };
  const tesela__loop *a = &job->box->loop[job->a], *b = &job->box->loop[job->b];
  const int64_t in_page = b->ss % PAGE;
  const bool is_long = has_long_rows(job);
  const bool follow = only_copies(job) && b->ss == a->n * job->ws && a->n * job->wd <= SHORT;
  if (job->wd >= 4 && (is_staged_whole(job) || (follow && job->wd >= 8)))
    return (tesela__tile_target){target.in, tesela__max(target.out, LONG), 0};
  if (fine && is_long) return (tesela__tile_target){in_page == 0 ? 256 : 128, OUT, 0};
  if ((job->wd == 4 || job->wd == 8) && a->ds % TESELA__LINE != 0 && along_src_pays(job))
    return (tesela__tile_target){128, 1024, 0};
  if (b->ss % tesela__l2_set(job->plan) == 0 && is_long) return target;
  if (job->wd >= 4 && is_long) return (tesela__tile_target){1024, 256, 0};
  if (job->wd > 2 || !only_copies(job)) return target;
  if (b->n >= ROWS && b->ss >= FAR && in_page >= APART && in_page <= PAGE - APART)
    return (tesela__tile_target){TESELA__LINE, ROWS * job->wd, 0};
  if (!is_long && a->n * job->wd >= TESELA__LINE) target.out = OUT;
  return target;
}

/* For a transpose. Bytes have many short columns, elements of 8 bytes and more few: both sides take more. So they do where rows end within a
 * line, which each tile reads or keeps again: `f32 [8253,7936]` from 23.7 to 29 GB/s. Src rows that all meet in one
 * set of L2 evict each other: few of them, each for longer. Where L2 is large, tiles that go along src take longer parts of it. */
static tesela__tile_target target_of_blocks(const tesela__job *job, bool fine) {
  enum { PAGE = 4096 };
  const tesela__tuning *tuning = &job->plan->tuning;
  const int64_t pitch = job->box->loop[job->b].ss;
  const bool lines = (pitch | job->box->loop[job->a].ds) % TESELA__LINE == 0;
  const bool wide = job->wd >= 8 || (job->wd > 1 && !lines);
  tesela__tile_target target = {job->wd == 1 || wide ? 512 : 256, wide ? 512 : 256, 0};
  bool copied = job->plan->stream && job->wd <= 2 && job->group == 1 && !job->conversion && !job->apart;
  if (copied && pitch % PAGE == 0)
    target.in = 512; /* see rows_meet */
  else if (pitch % tesela__l2_set(job->plan) == 0)
    target = (tesela__tile_target){1024, 128, 0};
  else if (has_large_l2(job) && along_src_pays(job))
    target = (tesela__tile_target){512, job->wd > 8 ? 512 : 256, 0};
  if (has_small_l2(job) && job->plan->stream) target = target_of_small_l2(job, fine, target);
  if (tuning->in) target = (tesela__tile_target){tuning->in, tuning->out, 0};
  if (job->inner) target = (tesela__tile_target){1024, 1024, 0};
  if (job->random) target = tesela__random_target(job->random, job->wd == 1 ? 3 : 5);
  return target;
}

/* Limit a tile to the packing buffer: b.most rows of a.most elements. */
static void set_most_packed(tesela__builder *b, int32_t m) {
  enum { PACKED = 32 << 10 };
  int64_t width = b->job->wd;
  b->a.most = m == 2 ? 256 : m > 2 ? 64 * m : width <= 4 ? 128 : 512 / width;
  b->b.most = PACKED * m / (b->a.most * width);
}

/* Blocks of bits with few elements on one side, dense with the other, as (8,1) packs of nibbles: weave their bytes. `padding`: bytes of it after
 * each dst row, woven with the elements. */
static bool weaves_bits(const tesela__job *job, bool out, int64_t padding) {
  enum { MOST_STREAMS = 8 };
  const tesela__loop *a = &job->box->loop[job->a], *b = &job->box->loop[job->b];
  const int64_t n = b->n + padding * job->group;
  return out ? n <= MOST_STREAMS && a->ds * 8 == n * job->dst_bits
             : a->n <= MOST_STREAMS && b->ss * 8 == a->n * job->dst_bits && padding == 0;
}

bool tesela__is_woven_bits(const tesela__job *job) {
  return weaves_bits(job, true, job->behind) || weaves_bits(job, false, job->behind);
}

static bool start_woven_bits(tesela__builder *b) {
  const tesela__job *job = b->job;
  const tesela__loop a_loop = job->box->loop[job->a];
  tesela__loop b_loop = job->box->loop[job->b];
  const bool out = weaves_bits(job, true, job->tail);
  if (!out && !weaves_bits(job, false, job->tail)) return false;
  b_loop.n += job->tail * job->group;
  int64_t k = out ? b_loop.n : a_loop.n;
  const tesela__kernel *kernel =
      tesela__kernel_for(job, out ? TESELA__K_INTERLEAVE : TESELA__K_DEINTERLEAVE, 1, k);
  b->piece->weave_fn = (tesela__rows_fn *)kernel->fn;
  b->piece->kernel = kernel->name;
  b->piece->weaves_out = out;
  b->piece->isa |= kernel->isa;
  tesela__tile_side *cut = out ? &b->a : &b->b;
  tesela__side_add(&b->a, a_loop, TESELA__WOVEN_BITS, 64);
  tesela__side_add(&b->b, b_loop, TESELA__WOVEN_BITS, 64);
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

void tesela__start_transpose(tesela__builder *b) {
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
    tesela__start_convert(b);
  } else if (job->apart) {
    const tesela__kernel *pack = tesela__kernel_for(job, TESELA__K_STRIDED, job->wd, 0);
    piece->rows_fn = (tesela__rows_fn *)pack->fn;
    piece->isa |= pack->isa;
    piece->rows.src_pitch = job->box->loop[job->a].ss;
    piece->rows.dst_pitch = job->wd;
  }
  int64_t src_width = job->conversion ? job->src_bits : 8 * (int64_t)job->ws;
  b->fine = is_fine(job);
  b->target = target_of_blocks(job, b->fine);
  b->fine = b->fine || is_staged_whole(job);
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
  tesela__side_add(&b->a, job->box->loop[job->a], tesela__max(na, multiple), job->ws ? multiple : 64);
  tesela__side_add(&b->b, b_loop, tesela__max(nb, multiple), multiple);
  b->used[job->a] = b->used[job->b] = true;
}
