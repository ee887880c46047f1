/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather_sums.c - copies between sides that are sums of one function per coordinate, whatever the functions are.
 *
 *   f32[8192,8192]{1,0:T(6,100)} -> {1,0:T(8,128)}   dim 0 has steps 6 and 8, dim 1 steps 100 and 128
 *
 * The copy goes block by block: some values of each coordinate, which gather_block.c copies by tables. The blocks of threads are
 * apart; elements that share bytes are copied by one thread. What gather_stretches.c can do it does.
 */
#include "relayout/gather.h"

enum {
  SIDE_VALUES = 128,          /* of P and Q in a block, if they differ */
  OTHER_VALUES = 256,         /* of the others together, most */
  BLOCK_BITS = (64 << 10) * 8 /* of a block */
};

/* The cut of all coordinates. */
typedef struct block_cut {
  int64_t block[TESELA_MAX_RANK], n_blocks[TESELA_MAX_RANK], n_all; /* values of a block; blocks */
  int32_t order[TESELA_MAX_RANK]; /* of the loops over blocks, outermost first */
  int32_t p, q;
} block_cut;

typedef struct sums_run {
  tesela__gather_run gather;
  block_cut cut;
  int32_t threads;
} sums_run;

/* ---- the cut ---------------------------------------------------------------------------------------------- */

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
  bool other[TESELA_MAX_RANK] = {false}; /* has several values */
  cut->p = tesela__gather_nearest(sums, sums->dst);
  cut->q = transposes ? tesela__gather_nearest(sums, sums->src) : cut->p;
  const int64_t most = cut->p == cut->q ? TESELA__GATHER_VALUES : SIDE_VALUES;
  for (int32_t c = 0; c < sums->n; c++)
    cut->block[c] = c == cut->p || c == cut->q ? block_of(sums, c, most) : 1;
  elements = cut->block[cut->p] * (cut->p == cut->q ? 1 : cut->block[cut->q]);
  for (;;) { /* others by their distance in dst */
    int32_t next = -1;
    for (int32_t c = 0; c < sums->n; c++)
      if (c != cut->p && c != cut->q && !other[c] &&
          (next < 0 ||
           tesela__gather_distance(sums, sums->dst[c]) < tesela__gather_distance(sums, sums->dst[next])))
        next = c;
    const int64_t room = tesela__min(OTHER_VALUES / others, BLOCK_BITS / bits / (elements * others));
    if (next < 0 || room < 2) break;
    other[next] = true;
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

static void run_blocks_of_sums(void *data, int32_t chunk) {
  sums_run *run = data;
  const tesela_plan *plan = run->gather.plan;
  const tesela__sums *sums = &plan->sums;
  const block_cut *cut = &run->cut;
  const int64_t n = cut->n_all, first = n / run->threads * chunk + n % run->threads * chunk / run->threads;
  const int64_t end = n / run->threads * (chunk + 1) + n % run->threads * (chunk + 1) / run->threads;
  const int64_t copies = tesela_layout_copies(&plan->dst);
  int64_t last = run->gather.before;
  tesela__gather_tables t;
  tesela__gather_range range[TESELA_MAX_RANK];
  tesela__gather_empty(&t);
  for (int64_t k = first; k < end; k++) {
    int64_t rest = k, elements = copies;
    for (int32_t i = sums->n - 1; i >= 0; i--) {
      const int32_t c = cut->order[i];
      const int64_t now = cut->n_blocks[c] > 1 ? rest % cut->n_blocks[c] : 0, x = now * cut->block[c];
      if (cut->n_blocks[c] > 1) rest /= cut->n_blocks[c];
      range[c] = (tesela__gather_range){x, tesela__min(cut->block[c], sums->extent[c] - x), x};
      elements *= range[c].n;
    }
    tesela__gather_fill(&run->gather, &t, range);
    for (int64_t copy = 0; copy < copies; copy++)
      tesela__gather_copy(&run->gather, &t, run->gather.dst,
                          (plan->sums_dst + copy_offset(plan, copy)) / run->gather.unit, run->gather.src,
                          plan->sums_src / run->gather.unit, NULL);
    if (!tesela__gather_goes_on(&run->gather, elements, &last)) return;
  }
}

tesela_status tesela__gather_sums(const tesela_plan *plan, unsigned char *dst, const unsigned char *src,
                                  const tesela_run_options *options, int64_t done, tesela_error *err) {
  sums_run run = {.gather = {.dst = dst, .src = src, .options = options, .before = done},
                  .threads = plan->info.threads};
  if (tesela__is_empty(&plan->dst)) return TESELA_OK;
  if (plan->stretches.n_groups > 0) return tesela__gather_stretches(plan, dst, src, options, done, err);
  set_cut(&run.cut, &plan->sums, plan->dst.bits, tesela__gather_transposes(plan, &plan->sums));
  tesela__gather_begin(&run.gather, plan, &plan->sums, run.cut.p, run.cut.q, plan->dst.bits);
  tesela__run_chunks(options ? options->executor : NULL, run.threads, run_blocks_of_sums, &run);
  return atomic_load(&run.gather.stopped) ? tesela__fail_stopped(err) : TESELA_OK;
}
