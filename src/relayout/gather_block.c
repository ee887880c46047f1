/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather_block.c - one block of the gather by tables: some values of each coordinate, for which the functions of both sides are
 * written to tables, and the copy by these.
 *
 * Two coordinates have runs: P, whose neighbours are next to each other in dst, and Q, whose neighbours are in src. The others, as far as
 * a block has several of their values, are one table C of sums.
 *
 *   P is Q     runs of P that go by constant strides on both sides are rows, one for each entry of C
 *   P, Q       each run of P in dst and each of Q in src are a block for the transpose kernels, which take the tables of the other
 *              sides as they are; where the runs of one side are a few values, as in tiles of (2,1), for the kernels that interleave
 *   neither    with conversions and below 8 bits, runs of P as above, with Q as one of the others
 */
#include "relayout/gather.h"

/* ---- what is the same for all blocks ----------------------------------------------------------------------- */

int64_t tesela__gather_distance(const tesela__sums *sums, tesela__sum_digits digits) {
  const int64_t stride = sums->digit[digits.first + digits.n - 1].stride;
  return stride < 0 ? -stride : stride;
}

/* Values of a coordinate that the last digit has. */
static int64_t gather_last_values(const tesela__sums *sums, tesela__sum_digits digits, int32_t c) {
  return digits.n > 1 ? sums->digit[digits.first + digits.n - 2].step : sums->extent[c];
}

int32_t tesela__gather_nearest(const tesela__sums *sums, const tesela__sum_digits *side) {
  int32_t best = 0;
  int64_t best_stride = INT64_MAX, best_run = 0;
  for (int32_t c = 0; c < sums->n; c++) {
    const int64_t stride = tesela__gather_distance(sums, side[c]), run = gather_last_values(sums, side[c], c);
    if (stride == 0 || stride > best_stride || (stride == best_stride && run <= best_run)) continue;
    best = c;
    best_stride = stride;
    best_run = run;
  }
  return best;
}

bool tesela__gather_transposes(const tesela_plan *plan, const tesela__sums *sums) {
  const int32_t bits = plan->dst.bits;
  return sums->n > 1 && !plan->conversion && bits >= 8 &&
         tesela__gather_distance(sums, sums->dst[tesela__gather_nearest(sums, sums->dst)]) == bits &&
         tesela__gather_distance(sums, sums->src[tesela__gather_nearest(sums, sums->src)]) == bits;
}

/* Find a kernel for the short runs of a transpose. */
static void set_weave(tesela__gather_run *run) {
  const tesela__sums *sums = run->sums;
  const int64_t out = gather_last_values(sums, sums->dst[run->p], run->p);
  const int64_t in = gather_last_values(sums, sums->src[run->q], run->q);
  run->weaves_out = out <= in;
  run->streams = (int32_t)tesela__min(tesela__min(out, in), TESELA__GATHER_STREAMS + 1);
  const int64_t many = run->weaves_out ? gather_last_values(sums, sums->dst[run->q], run->q)
                                       : gather_last_values(sums, sums->src[run->p], run->p);
  if (run->streams < 2 || run->streams > TESELA__GATHER_STREAMS ||
      many * run->bits / 8 < TESELA__GATHER_WOVEN)
    return;
  run->weave =
      (tesela__rows_fn *)tesela__kernel_find(run->weaves_out ? TESELA__K_INTERLEAVE : TESELA__K_DEINTERLEAVE,
                                             run->bits / 8, run->streams, run->plan->isa)
          ->fn;
}

void tesela__gather_begin(tesela__gather_run *run, const tesela_plan *plan, const tesela__sums *sums,
                          int32_t p, int32_t q, int32_t bits) {
  run->plan = plan;
  run->bits = bits;
  run->sums = sums;
  run->p = p;
  run->q = q;
  run->mover = tesela__mover_of(plan);
  run->unit = bits < 8 || plan->src.bits < 8 ? 1 : 8;
  run->caller = tesela__thread_self();
  run->strided = run->mover.take;
  run->copy = (tesela__rows_fn *)tesela__kernel_find(run->unit == 8 ? TESELA__K_COPY : TESELA__K_COPY_BITS, 0,
                                                     0, plan->isa)
                  ->fn;
  run->ds = sums->digit[sums->dst[p].first + sums->dst[p].n - 1].stride / run->unit;
  run->ss = sums->digit[sums->src[p].first + sums->src[p].n - 1].stride / run->unit;
  if (p == q) return;
  const tesela__kernel *kernel = tesela__kernel_find(TESELA__K_TRANSPOSE, bits / 8, 0, plan->isa);
  run->transpose = (tesela__transpose_fn *)kernel->fn;
  run->transpose_block = kernel->block;
  set_weave(run);
}

/* ---- one block --------------------------------------------------------------------------------------------- */

/* Where a part of a block is: some entries of C. */
typedef struct gather_place {
  unsigned char *to;
  const unsigned char *from;
  int64_t dst, src;                     /* units from there */
  const int64_t *other_dst, *other_src; /* units from that */
  int32_t n;                            /* entries */
} gather_place;

/* Bytes of P that follow each other in dst from run i on, up to `most`. */
static int64_t bytes_from(const tesela__gather_table *p, int32_t i, int64_t width, int64_t most) {
  const int32_t first = i;
  int64_t bytes = 0;
  for (; i < p->n_runs && bytes < most && p->dst[i] == p->dst[first] + bytes; i++)
    bytes += (p->first[i + 1] - p->first[i]) * width;
  return bytes;
}

/* Copy a short run as 16 bytes, if the next runs overwrite those after it, and src has a run that ends after them. */
static bool copy_wide(const tesela__gather_run *run, const tesela__gather_tables *t, int32_t i, int64_t bytes,
                      const gather_place *at) {
  enum { WIDE = 16 };
  if (bytes >= WIDE || t->p.src[i] + WIDE > t->p.src_end) return false;
  if (bytes_from(&t->p, i, run->mover.wd / 8, WIDE) < WIDE) return false;
  unsigned char *to = at->to + at->dst;
  const unsigned char *from = at->from + at->src;
  for (int32_t k = 0; k < at->n; k++) memcpy(to + at->other_dst[k], from + at->other_src[k], WIDE);
  return true;
}

/* Copy a run element by element, at each entry: at any distances, with a conversion, or at any bits. */
static void move_run(const tesela__gather_run *run, int64_t n, int64_t ds, int64_t ss,
                     const gather_place *at) {
  const int64_t unit = run->unit;
  const bool dense = ds * unit == run->mover.wd && ss * unit == run->mover.ws;
  for (int32_t k = 0; k < at->n; k++) {
    const int64_t a = at->dst + at->other_dst[k], b = at->src + at->other_src[k];
    const tesela__rows bits = {.n = n * run->mover.wd};
    if (dense && !run->mover.convert)
      run->copy(&bits, at->to, &a, at->from, &b, 1);
    else if (dense && unit == 8)
      run->mover.convert(at->to + a, at->from + b, n);
    else
      tesela__move(&run->mover, n, at->to, a * unit, ds * unit, at->from, b * unit, ss * unit);
  }
}

/* A run of P at each entry. */
static void copy_run(const tesela__gather_run *run, const tesela__gather_tables *t, int32_t i,
                     gather_place at) {
  const int64_t n = t->p.first[i + 1] - t->p.first[i], width = run->mover.wd / 8;
  at.dst += t->p.dst[i];
  at.src += t->p.src[i];
  if (run->mover.convert || run->unit == 1) {
    move_run(run, n, run->ds, run->ss, &at);
  } else if (n > 1 && (run->ds != width || run->ss != width)) {
    const tesela__rows rows = {.n = n, .src_pitch = run->ss, .dst_pitch = run->ds};
    run->strided(&rows, at.to + at.dst, at.other_dst, at.from + at.src, at.other_src, at.n);
  } else if (run->ds != width || run->ss != width || !copy_wide(run, t, i, n * width, &at)) {
    const tesela__rows rows = {.n = n * width};
    run->copy(&rows, at.to + at.dst, at.other_dst, at.from + at.src, at.other_src, at.n);
  }
}

static void prefetch_share_of(tesela__gather_ahead *ahead) {
  if (!ahead) return;
  for (int32_t left = ahead->share; left > 0 && ahead->at < ahead->n;) {
    const struct tesela__gather_stretch *s = &ahead->stretch[ahead->at];
    const unsigned char *row = s->from + ahead->row * s->pitch;
    const int64_t bytes = s->bytes + (int64_t)((uintptr_t)row % TESELA__LINE);
    row -= (uintptr_t)row % TESELA__LINE;
    for (; left > 0 && ahead->done < bytes; left--, ahead->done += TESELA__LINE)
      __builtin_prefetch(row + ahead->done, 0, 2); /* not to L1, which the block uses */
    if (ahead->done < bytes) return;
    ahead->done = 0;
    if (++ahead->row < s->rows) continue;
    ahead->row = 0;
    ahead->at++;
  }
}

/* Transpose a run of P and one of Q at each entry. */
static void transpose_run(const tesela__gather_run *run, const tesela__gather_tables *t, int32_t i, int32_t j,
                          const gather_place *at, tesela__gather_ahead *ahead) {
  const tesela__gather_table *p = &t->p, *q = &t->q;
  const int32_t end_a = p->first[i + 1], end_b = q->first[j + 1], block = run->transpose_block;
  for (int32_t k = 0; k < at->n; k++) {
    unsigned char *to = at->to + at->dst + at->other_dst[k];
    const unsigned char *from = at->from + at->src + at->other_src[k];
    for (int32_t b = q->first[j]; b < end_b; b += block)
      for (int32_t a = p->first[i]; a < end_a; a += block) {
        run->transpose(to + p->dst[a], q->dst + b, from + q->src[b], p->src + a,
                       (int32_t)tesela__min(block, end_a - a), (int32_t)tesela__min(block, end_b - b),
                       TESELA__TO_CACHE);
        prefetch_share_of(ahead);
      }
  }
}

/* The distance of the values of a run, if it is constant; else 0. */
static int64_t constant_distance(const int64_t *offset, int32_t n) {
  for (int32_t i = 2; i < n; i++)
    if (offset[i] - offset[i - 1] != offset[1] - offset[0]) return 0;
  return offset[1] - offset[0];
}

/* Weave rows at any distances through a buffer, where their distance is constant. `n`: elements of a row. */
static void weave_apart(const tesela__gather_run *run, int64_t n, unsigned char *dst, const int64_t *dst_off,
                        const unsigned char *src, const int64_t *src_off) {
  enum { ROW = 256 };
  static const int64_t row[TESELA__GATHER_STREAMS] = {0,       ROW,     2 * ROW, 3 * ROW,
                                                      4 * ROW, 5 * ROW, 6 * ROW, 7 * ROW},
                       zero = 0;
  const int64_t width = run->bits / 8, k = run->streams;
  unsigned char rows[TESELA__GATHER_STREAMS * ROW];
  for (int64_t e = 0; e < n; e += ROW / width) {
    const int64_t m = tesela__min(ROW / width, n - e);
    const tesela__rows weave = {.n = m, .k = k, .src_pitch = ROW, .dst_pitch = ROW}, copy = {.n = m * width};
    if (run->weaves_out) {
      run->copy(&copy, rows, row, src + e * width, src_off, k);
      run->weave(&weave, dst + e * k * width, &zero, rows, &zero, 1);
    } else {
      run->weave(&weave, rows, &zero, src + e * k * width, &zero, 1);
      run->copy(&copy, dst + e * width, dst_off, rows, row, k);
    }
  }
}

/* Interleave or deinterleave a run of P and one of Q, if one of them has as many values as there are streams, and the other one's values
 * are together on the woven side. */
static bool weave_run(const tesela__gather_run *run, const tesela__gather_tables *t, int32_t i, int32_t j,
                      const gather_place *at) {
  const int32_t a = t->p.first[i], b = t->q.first[j], na = t->p.first[i + 1] - a, nb = t->q.first[j + 1] - b;
  const int64_t *p_src = t->p.src + a, *p_dst = t->p.dst + a, *q_src = t->q.src + b, *q_dst = t->q.dst + b;
  const int32_t few = run->weaves_out ? na : nb, many = run->weaves_out ? nb : na;
  const int64_t all = (int64_t)run->streams * run->bits / 8;
  if (few != run->streams || many < 2) return false;
  if ((run->weaves_out ? q_dst[1] - q_dst[0] : p_src[1] - p_src[0]) != all) return false;
  const int64_t pitch = constant_distance(run->weaves_out ? p_src : q_dst, few);
  const tesela__rows rows = {.n = many, .k = few, .src_pitch = pitch, .dst_pitch = pitch};
  unsigned char *to = at->to + at->dst + p_dst[0];
  const unsigned char *from = at->from + at->src + q_src[0];
  if (pitch != 0) run->weave(&rows, to + q_dst[0], at->other_dst, from + p_src[0], at->other_src, at->n);
  for (int32_t k = 0; k < at->n && pitch == 0; k++)
    weave_apart(run, many, to + at->other_dst[k] + (run->weaves_out ? q_dst[0] : 0), q_dst,
                from + at->other_src[k] + (run->weaves_out ? 0 : p_src[0]), p_src);
  return true;
}

/* ---- all of a block ---------------------------------------------------------------------------------------- */

/* Entries of C at a time, to prefetch between them: rows of 2 KiB. */
static int32_t entries_at_a_time(const tesela__gather_run *run, const tesela__gather_tables *t) {
  enum { BYTES = 2048, LEAST = 4, MOST = 128 };
  const int64_t bytes = tesela__max(1, (int64_t)t->p.n * run->bits / 8);
  if (run->p != run->q) return LEAST;
  return (int32_t)tesela__max(LEAST, tesela__min(MOST, BYTES * t->p.n_runs / bytes));
}

static int64_t transpose_blocks(const tesela__gather_table *t, int32_t block) {
  int64_t n = 0;
  for (int32_t i = 0; i < t->n_runs; i++) n += tesela__ceil_div(t->first[i + 1] - t->first[i], block);
  return n;
}

int64_t tesela__gather_calls(const tesela__gather_run *run, const tesela__gather_tables *t) {
  if (run->p != run->q && !run->weave)
    return transpose_blocks(&t->p, run->transpose_block) * transpose_blocks(&t->q, run->transpose_block) *
           t->n_others;
  return (int64_t)t->p.n_runs * (run->p == run->q ? 1 : t->q.n_runs) *
         tesela__ceil_div(t->n_others, entries_at_a_time(run, t));
}

void tesela__gather_copy(const tesela__gather_run *run, const tesela__gather_tables *t, unsigned char *dst,
                         int64_t dst_offset, const unsigned char *src, int64_t src_offset,
                         tesela__gather_ahead *ahead) {
  const bool rows = run->p == run->q;
  const int32_t many = entries_at_a_time(run, t);
  for (int32_t k = 0; k < t->n_others; k += many) {
    const int32_t n = (int32_t)tesela__min(many, t->n_others - k);
    const gather_place at = {dst, src, dst_offset, src_offset, t->other_dst + k, t->other_src + k, n};
    for (int32_t j = 0; j < (rows ? 1 : t->q.n_runs); j++)
      for (int32_t i = 0; i < t->p.n_runs; i++) {
        if (rows)
          copy_run(run, t, i, at);
        else if (!run->weave || !weave_run(run, t, i, j, &at))
          transpose_run(run, t, i, j, &at, ahead);
        if (rows || run->weave) prefetch_share_of(ahead);
      }
  }
}

/* ---- progress ---------------------------------------------------------------------------------------------- */

bool tesela__gather_goes_on(tesela__gather_run *run, int64_t elements, int64_t *last) {
  enum { PROGRESS = 16 << 20 }; /* bytes between two calls */
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
