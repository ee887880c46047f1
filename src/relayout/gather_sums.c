/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather_sums.c - copies between sides that are sums of one function per coordinate, whatever the functions are.
 *
 *   f32[8192,8192]{1,0:T(6,100)} -> {1,0:T(8,128)}   dim 0 has steps 6 and 8, dim 1 steps 100 and 128
 *
 * The copy goes block by block: some values of each coordinate, for which the two functions are written to tables. Two coordinates
 * have runs: P, whose neighbours are next to each other in dst, and Q, whose neighbours are in src. The others, as far as a block
 * has several of their values, are one table C of sums.
 *
 *   P is Q     runs of P that go by constant strides on both sides are rows, one for each entry of C
 *   P, Q       each run of P in dst and each of Q in src are a block for the transpose kernels, which take the tables of the other
 *              sides as they are
 *   neither    with conversions and below 8 bits, runs of P as above, with Q as one of the others
 *
 * The blocks of threads are apart; elements that share bytes are copied by one thread.
 */
#include "relayout/sums.h"
#include "relayout/tile.h"

enum {
  RUN_VALUES = 1024,           /* of P and Q in a block, most */
  SIDE_VALUES = 128,           /* of each if they differ */
  OTHER_VALUES = 256,          /* of the others together, most */
  BLOCK_BITS = (64 << 10) * 8, /* of a block */
  PROGRESS = 16 << 20          /* bytes between two calls */
};

/* The functions of some values, and runs of these: run i is first[i] to first[i + 1] - 1. */
typedef struct table {
  int32_t n, n_runs;
  int64_t src[RUN_VALUES], dst[RUN_VALUES];
  int32_t first[RUN_VALUES + 1];
} table;

/* The cut of all coordinates. */
typedef struct block_cut {
  int64_t block[TESELA_MAX_RANK], n_blocks[TESELA_MAX_RANK], n_all; /* values of a block; blocks */
  int32_t order[TESELA_MAX_RANK]; /* of the loops over blocks, outermost first */
  int32_t p, q;                   /* equal: rows */
  bool other[TESELA_MAX_RANK];    /* in C */
} block_cut;

typedef struct gather_run {
  const tesela_plan *plan;
  unsigned char *dst;
  const unsigned char *src;
  const tesela_run_options *options;
  block_cut cut;
  tesela__mover mover;
  tesela__rows_fn *copy, *strided;
  tesela__transpose_fn *transpose;
  int32_t transpose_block, threads;
  int64_t unit; /* bits of an offset in tables: 8, or 1 for elements that share bytes */
  uintptr_t caller;
  int64_t before; /* bytes reported so far */
  atomic_llong done;
  atomic_bool stopped;
} gather_run;

/* The tables of one thread. */
typedef struct gather_tables {
  table p, q;
  int32_t n_others;
  int64_t other_src[OTHER_VALUES], other_dst[OTHER_VALUES];
} gather_tables;

/* ---- the cut ---------------------------------------------------------------------------------------------- */

static int64_t last_stride(const tesela__sums *sums, tesela__sum_digits digits) {
  const int64_t stride = sums->digit[digits.first + digits.n - 1].stride;
  return stride < 0 ? -stride : stride;
}

/* The coordinate whose neighbours are nearest on a side; of several the one with the longest runs. */
static int32_t nearest(const tesela__sums *sums, const tesela__sum_digits *side) {
  int32_t best = 0;
  int64_t best_stride = INT64_MAX, best_run = 0;
  for (int32_t c = 0; c < sums->n; c++) {
    const int64_t stride = last_stride(sums, side[c]);
    const int64_t run = side[c].n > 1 ? sums->digit[side[c].first + side[c].n - 2].step : sums->extent[c];
    if (stride == 0 || stride > best_stride || (stride == best_stride && run <= best_run)) continue;
    best = c;
    best_stride = stride;
    best_run = run;
  }
  return best;
}

/* Up to `most` values, whole runs in dst if that is possible. */
static int64_t block_of(const tesela__sums *sums, int32_t c, int64_t most) {
  const tesela__sum_digits digits = sums->dst[c];
  const int64_t step = digits.n > 1 ? sums->digit[digits.first + digits.n - 2].step : 1;
  if (sums->extent[c] <= most) return sums->extent[c];
  return step <= most ? most / step * step : most;
}

/* How far apart two blocks of a coordinate are, on the side where they are nearer. */
static int64_t distance(const tesela__sums *sums, const block_cut *cut, int32_t c) {
  int64_t stride, left, at[2];
  if (cut->n_blocks[c] < 2) return 0;
  at[0] = tesela__sum_at(sums, sums->dst[c], cut->block[c], &stride, &left);
  at[1] = tesela__sum_at(sums, sums->src[c], cut->block[c], &stride, &left);
  for (int i = 0; i < 2; i++) at[i] = at[i] < 0 ? -at[i] : at[i];
  return tesela__min(at[0], at[1]);
}

static void set_cut(block_cut *cut, const tesela__sums *sums, int32_t bits, bool transposes) {
  int64_t elements, others = 1;
  cut->p = nearest(sums, sums->dst);
  cut->q = transposes ? nearest(sums, sums->src) : cut->p;
  const int64_t most = cut->p == cut->q ? RUN_VALUES : SIDE_VALUES;
  for (int32_t c = 0; c < sums->n; c++) {
    cut->block[c] = c == cut->p || c == cut->q ? block_of(sums, c, most) : 1;
    cut->other[c] = false;
  }
  elements = cut->block[cut->p] * (cut->p == cut->q ? 1 : cut->block[cut->q]);
  for (;;) { /* others by their distance in dst */
    int32_t next = -1;
    for (int32_t c = 0; c < sums->n; c++)
      if (c != cut->p && c != cut->q && !cut->other[c] &&
          (next < 0 || last_stride(sums, sums->dst[c]) < last_stride(sums, sums->dst[next])))
        next = c;
    const int64_t room = tesela__min(OTHER_VALUES / others, BLOCK_BITS / bits / (elements * others));
    if (next < 0 || room < 2) break;
    cut->other[next] = true;
    cut->block[next] = block_of(sums, next, room);
    others *= cut->block[next];
  }
  cut->n_all = 1;
  for (int32_t c = 0; c < sums->n; c++) {
    cut->n_blocks[c] = tesela__ceil_div(sums->extent[c], cut->block[c]);
    cut->n_all *= cut->n_blocks[c];
    int32_t i = c;
    for (; i > 0 && distance(sums, cut, cut->order[i - 1]) < distance(sums, cut, c); i--)
      cut->order[i] = cut->order[i - 1];
    cut->order[i] = c;
  }
}

/* ---- tables ----------------------------------------------------------------------------------------------- */

static void fill_side(const tesela__sums *sums, tesela__sum_digits digits, int64_t x, int64_t n, int64_t unit,
                      int64_t *to) {
  for (int64_t i = 0; i < n;) {
    int64_t stride, left, at = tesela__sum_at(sums, digits, x + i, &stride, &left) / unit;
    stride /= unit;
    for (const int64_t end = i + tesela__min(left, n - i); i < end; i++, at += stride) to[i] = at;
  }
}

/* Does value i continue the run from value `first` on? By `on_dst` in dst, or by `on_src` in src; with neither, by the strides of the
 * first two values. */
static bool continues(const table *t, int32_t first, int32_t i, int64_t on_dst, int64_t on_src) {
  const int64_t ds = t->dst[i] - t->dst[i - 1], ss = t->src[i] - t->src[i - 1];
  if (on_dst) return ds == on_dst;
  if (on_src) return ss == on_src;
  return ds == t->dst[first + 1] - t->dst[first] && ss == t->src[first + 1] - t->src[first];
}

static void fill_table(const gather_run *run, table *t, int32_t c, int64_t block, int64_t on_dst,
                       int64_t on_src) {
  const tesela__sums *sums = &run->plan->sums;
  const int64_t x = block * run->cut.block[c];
  t->n = (int32_t)tesela__min(run->cut.block[c], sums->extent[c] - x);
  fill_side(sums, sums->dst[c], x, t->n, run->unit, t->dst);
  fill_side(sums, sums->src[c], x, t->n, run->unit, t->src);
  t->n_runs = 0;
  for (int32_t i = 0, first; i < t->n;) {
    first = t->first[t->n_runs++] = i++;
    while (i < t->n && continues(t, first, i, on_dst, on_src)) i++;
  }
  t->first[t->n_runs] = t->n;
}

static void fill_others(const gather_run *run, gather_tables *t, const int64_t *at) {
  const tesela__sums *sums = &run->plan->sums;
  int32_t n = 1;
  t->other_src[0] = t->other_dst[0] = 0;
  for (int32_t c = 0; c < sums->n; c++) {
    if (!run->cut.other[c]) continue;
    int64_t dst[OTHER_VALUES], src[OTHER_VALUES], x = at[c] * run->cut.block[c];
    const int32_t values = (int32_t)tesela__min(run->cut.block[c], sums->extent[c] - x);
    fill_side(sums, sums->dst[c], x, values, run->unit, dst);
    fill_side(sums, sums->src[c], x, values, run->unit, src);
    for (int32_t v = values - 1; v >= 0; v--) /* entries of value 0 are overwritten last */
      for (int32_t i = 0; i < n; i++) {
        t->other_dst[v * n + i] = t->other_dst[i] + dst[v];
        t->other_src[v * n + i] = t->other_src[i] + src[v];
      }
    n *= values;
  }
  t->n_others = n;
}

/* ---- one block -------------------------------------------------------------------------------------------- */

/* A run of P at each entry of C. Offsets in units. */
static void copy_run(const gather_run *run, const gather_tables *t, int32_t first, int32_t n, int64_t dst,
                     int64_t src) {
  const int64_t *to = t->p.dst + first, *from = t->p.src + first, unit = run->unit, wd = run->mover.wd,
                ws = run->mover.ws;
  const int64_t ds = n > 1 ? to[1] - to[0] : wd / unit, ss = n > 1 ? from[1] - from[0] : ws / unit;
  const bool dense = ds * unit == wd && ss * unit == ws;
  dst += to[0];
  src += from[0];
  tesela__rows rows = {.n = n, .src_pitch = ss, .dst_pitch = ds};
  tesela__rows_fn *fn = run->strided;
  if (dense) {
    rows.n = n * wd / unit;
    fn = run->copy;
  }
  if (!run->mover.convert && unit == 8) {
    fn(&rows, run->dst + dst, t->other_dst, run->src + src, t->other_src, t->n_others);
    return;
  }
  for (int32_t i = 0; i < t->n_others; i++) {
    const int64_t a = dst + t->other_dst[i], b = src + t->other_src[i];
    if (!run->mover.convert)
      fn(&rows, run->dst, &a, run->src, &b, 1);
    else if (dense && unit == 8)
      run->mover.convert(run->dst + a, run->src + b, n);
    else
      tesela__move(&run->mover, n, run->dst, a * unit, ds * unit, run->src, b * unit, ss * unit);
  }
}

/* Runs of P in dst times runs of Q in src. */
static void transpose_runs(const gather_run *run, const gather_tables *t, int64_t dst, int64_t src) {
  const table *p = &t->p, *q = &t->q;
  for (int32_t j = 0; j < q->n_runs; j++)
    for (int32_t i = 0; i < p->n_runs; i++)
      for (int32_t b = q->first[j]; b < q->first[j + 1]; b += run->transpose_block)
        for (int32_t a = p->first[i]; a < p->first[i + 1]; a += run->transpose_block) {
          const int32_t rows = (int32_t)tesela__min(run->transpose_block, p->first[i + 1] - a);
          const int32_t cols = (int32_t)tesela__min(run->transpose_block, q->first[j + 1] - b);
          run->transpose(run->dst + dst + p->dst[a], q->dst + b, run->src + src + q->src[b], p->src + a, rows,
                         cols, false);
        }
}

static void copy_block(const gather_run *run, const gather_tables *t, int64_t dst, int64_t src) {
  if (run->cut.p == run->cut.q)
    for (int32_t i = 0; i < t->p.n_runs; i++)
      copy_run(run, t, t->p.first[i], t->p.first[i + 1] - t->p.first[i], dst, src);
  else
    for (int32_t k = 0; k < t->n_others; k++)
      transpose_runs(run, t, dst + t->other_dst[k], src + t->other_src[k]);
}

/* ---- all blocks ------------------------------------------------------------------------------------------- */

/* The place of copy k of the elements, relative to copy 0, in bits. */
static int64_t copy_offset(const tesela_plan *plan, int64_t k) {
  int64_t bits = 0;
  for (int32_t i = plan->n_replicas - 1; i >= 0; i--) {
    bits += k % plan->replica[i].n * plan->replica[i].ds;
    k /= plan->replica[i].n;
  }
  return bits;
}

static bool goes_on(gather_run *run, int64_t elements, int64_t *last) {
  const tesela_run_options *options = run->options;
  if (!options || !options->progress) return true;
  const int64_t bytes = tesela__ceil_div(elements * run->plan->dst.bits, 8);
  const int64_t done = atomic_fetch_add(&run->done, bytes) + bytes + run->before,
                total = run->plan->total_bytes;
  if (atomic_load_explicit(&run->stopped, memory_order_relaxed)) return false;
  if (run->caller != tesela__thread_self() || done - *last < PROGRESS) return true;
  *last = done;
  if (!options->progress(options->progress_user, tesela__min(done, total), total)) return true;
  atomic_store(&run->stopped, true);
  return false;
}

static void run_blocks_of_sums(void *data, int32_t chunk) {
  gather_run *run = data;
  const tesela_plan *plan = run->plan;
  const tesela__sums *sums = &plan->sums;
  const block_cut *cut = &run->cut;
  const bool rows = cut->p == cut->q;
  const int64_t n = cut->n_all, first = n / run->threads * chunk + n % run->threads * chunk / run->threads;
  const int64_t end = n / run->threads * (chunk + 1) + n % run->threads * (chunk + 1) / run->threads;
  const int64_t copies = tesela_layout_copies(&plan->dst), step = plan->dst.bits / run->unit;
  int64_t at[TESELA_MAX_RANK], stride, left, last = run->before;
  gather_tables t;
  for (int32_t c = 0; c < sums->n; c++) at[c] = -1;
  for (int64_t k = first; k < end; k++) {
    int64_t rest = k, dst = plan->sums_dst, src = plan->sums_src;
    bool new_p = false, new_q = false, new_others = k == first;
    for (int32_t i = sums->n - 1; i >= 0; i--) {
      const int32_t c = cut->order[i];
      const int64_t now = cut->n_blocks[c] > 1 ? rest % cut->n_blocks[c] : 0;
      if (cut->n_blocks[c] > 1) rest /= cut->n_blocks[c];
      if (c == cut->p) new_p = now != at[c];
      if (c == cut->q) new_q = now != at[c];
      if (cut->other[c]) new_others = new_others || now != at[c];
      at[c] = now;
      if (c == cut->p || c == cut->q || cut->other[c]) continue;
      dst += tesela__sum_at(sums, sums->dst[c], now, &stride, &left);
      src += tesela__sum_at(sums, sums->src[c], now, &stride, &left);
    }
    if (new_p) fill_table(run, &t.p, cut->p, at[cut->p], rows ? 0 : step, 0);
    if (new_q && !rows) fill_table(run, &t.q, cut->q, at[cut->q], 0, step);
    if (new_others) fill_others(run, &t, at);
    for (int64_t copy = 0; copy < copies; copy++)
      copy_block(run, &t, (dst + copy_offset(plan, copy)) / run->unit, src / run->unit);
    if (!goes_on(run, copies * t.n_others * t.p.n * (rows ? 1 : t.q.n), &last)) return;
  }
}

tesela_status tesela__gather_sums(const tesela_plan *plan, unsigned char *dst, const unsigned char *src,
                                  const tesela_run_options *options, int64_t done, tesela_error *err) {
  const tesela__sums *sums = &plan->sums;
  const int32_t bits = plan->dst.bits;
  gather_run run = {.plan = plan,
                    .dst = dst,
                    .src = src,
                    .options = options,
                    .mover = tesela__mover_of(plan),
                    .threads = plan->info.threads,
                    .unit = bits < 8 || plan->src.bits < 8 ? 1 : 8,
                    .caller = tesela__thread_self(),
                    .before = done};
  const bool apart = sums->n > 1 && !plan->conversion && run.unit == 8 &&
                     last_stride(sums, sums->dst[nearest(sums, sums->dst)]) == bits &&
                     last_stride(sums, sums->src[nearest(sums, sums->src)]) == bits;
  if (tesela__is_empty(&plan->dst)) return TESELA_OK;
  set_cut(&run.cut, sums, bits, apart);
  if (run.unit == 8 && !plan->conversion) {
    const tesela__kernel *kernel = tesela__kernel_find(TESELA__K_TRANSPOSE, bits / 8, 0, plan->isa);
    run.transpose = (tesela__transpose_fn *)kernel->fn;
    run.transpose_block = kernel->block;
  }
  run.strided = run.mover.take;
  run.copy = (tesela__rows_fn *)tesela__kernel_find(run.unit == 8 ? TESELA__K_COPY : TESELA__K_COPY_BITS, 0,
                                                    0, plan->isa)
                 ->fn;
  tesela__run_chunks(options ? options->executor : NULL, run.threads, run_blocks_of_sums, &run);
  return atomic_load(&run.stopped) ? tesela__fail_stopped(err) : TESELA_OK;
}
