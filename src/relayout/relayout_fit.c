/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout_fit.c - choose the tile of a piece: its kernel, its run, and its entries on each side.
 *
 * The tile starts with the loops that the solver needs (transpose_fit.c: those of a transpose); tile_grow.c adds others to its sides.
 *
 *   f32 transpose 7264 x 7264     a tile of 64 x 64: 256 bytes from each row, 256 to each row
 *   f32 (8,128) tiles             a run of 512 bytes; side B is the 8 rows of a tile, 4 KiB in dst
 *
 * Small tiles are better than large ones: a later tile is prefetched, and a tile that is too large evicts itself from
 * the cache. Sizes from bench/bench_relayout on a 2-core AMD EPYC (Zen 5) with AVX-512, 2026-11.
 */
#include "relayout/solve.h"

enum { NO_EXTENT = -(1 << 30) - 1 }; /* of blocks with gaps: no loop continues them */

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

void tesela__start_convert(tesela__builder *b) {
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
    tesela__start_convert(b);
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

/* Most elements of a run: 4 KiB of neighbours on one side, of one that is repeated more, with up to 256 KiB of src. Of a run with other elements
 * between its own 16 KiB, so that their lines are in the cache for these. */
static int64_t most_strided(const tesela__job *job, const tesela__loop *run) {
  enum { REPEATED = 32 << 10, ALONE = 256 << 10, SHARED = 16 << 10 };
  if (job->conversion) return 64;
  if (job->bitwise || job->random || (run->ds != job->wd && run->ss != job->ws)) return 256;
  const int64_t step = run->ss < 0 ? -run->ss : run->ss;
  int64_t reach = ALONE;
  for (int32_t i = 0; i < job->box->n_loops; i++) {
    const int64_t ss = job->box->loop[i].ss, between = ss < 0 ? -ss : ss;
    if (&job->box->loop[i] != run && between < TESELA__LINE) reach = SHARED;
  }
  int64_t most = (step == 0 ? REPEATED : 4096) / job->wd;
  while (most * step > reach && most * job->wd > 512) most /= 2;
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
    tesela__start_convert(b);
    return;
  }
  set_rows_kernel(b, job->bitwise ? TESELA__K_STRIDED_BITS : TESELA__K_STRIDED, job->wd, 0);
}

tesela__tile_target tesela__random_target(uint64_t *random, int32_t most) {
  static const int64_t sizes[] = {64, 128, 256, 512, 1024};
  int64_t in = sizes[tesela__random(random) % (uint64_t)most],
          out = sizes[tesela__random(random) % (uint64_t)most];
  return (tesela__tile_target){in, out, in * out};
}

static tesela__tile_target target_of_rows(const tesela__job *job) {
  const tesela__tuning *tuning = &job->plan->tuning;
  if (job->random) return tesela__random_target(job->random, 5);
  if (tuning->in) return (tesela__tile_target){tuning->in, tuning->out, tuning->total};
  return (tesela__tile_target){8192, 1024, 8 << 10};
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
  const int32_t next = job->permute.dense || job->permute.bits ? -1 : tesela__next_dense(b, &b->a, true);
  const tesela__loop *loop = next >= 0 ? &job->box->loop[next] : NULL;
  if (loop && loop->ds <= NEAR && (job->random || loop->n * b->a.extent <= IN))
    tesela__grow_side(b, &b->a, true, job->random ? b->target.in : IN);
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

/* Elements below 8 bits that begin at any bit, or whole bytes. */
static void start_bits_tile(tesela__builder *b) {
  const tesela__job *job = b->job;
  tesela__piece *piece = b->piece;
  const int64_t most = job->plan->dst.bits >= 8 ? TESELA__BYTES_ELEMENTS : TESELA__BITS_ELEMENTS;
  tesela__bits_fit_tile(&b->bits, job, job->random ? most >> tesela__random(job->random) % 12 : most);
  piece->bitwise = true;
  piece->run = 1;
  for (int32_t i = 0; i < job->box->n_loops; i++) b->used[i] = b->bits.chunk[i] > 1;
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
    tesela__start_transpose(b);
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
  if (!b->piece->transpose_fn) {
    bool converts = job->conversion && solver != TESELA_SOLVER_STRIDED;
    b->a.extent = solver == TESELA_SOLVER_INTERLEAVE ? b->chunk * job->ws
                  : converts                         ? b->piece->run * job->src_bits / 8
                                                     : b->piece->run * b->piece->run_src;
    b->b.extent = solver == TESELA_SOLVER_DEINTERLEAVE ? b->chunk * job->wd : b->piece->entry_dst;
  }
  if (solver == TESELA_SOLVER_PERMUTE) set_extents_of_blocks(b);
  tesela__grow_tile(b);
}
