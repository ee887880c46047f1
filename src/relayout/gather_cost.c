/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather_cost.c - is the gather, by stretches of dst that are assembled in the cache, faster than the pieces of a plan? Past the cache only.
 *
 * Pieces run one after the other, so a line that several of them write in parts is fetched and written by each:
 *
 *   u8[2000,28,273]{2,1,0:T(20,20)} -> {2,1,0:T(32,2)}   six pieces and two fills, four of them with a part of each line; the gather writes
 *                                                        a line once, from 4.5 to 12 GB/s
 */
#include "relayout/gather.h"
#include "relayout/solve.h"

double tesela__parts_of_lines(const tesela__job *job) {
  const tesela__box *box = job->box;
  int64_t run = job->wd, apart = TESELA__LINE;
  double runs = 1;
  uint64_t seen = 0;
  for (int32_t i; (i = tesela__find_loop(box, -1, run)) >= 0 && !(seen >> i & 1); run *= box->loop[i].n)
    seen |= UINT64_C(1) << i;
  for (int32_t i = 0; i < box->n_loops; i++) {
    if (seen >> i & 1) continue;
    runs *= (double)box->loop[i].n;
    if (box->loop[i].ds > 0) apart = tesela__min(apart, box->loop[i].ds);
  }
  if (run % TESELA__LINE == 0) return 0;
  return run < TESELA__LINE ? runs * (double)apart : 2 * runs * TESELA__LINE;
}

/* Bytes of a run of the coordinate that is nearest on each side. */
typedef struct gather_sides {
  bool rows; /* of one coordinate; else they are transposed */
  int64_t out, in;
} gather_sides;

static int64_t bytes_of_run(const tesela__sums *sums, tesela__sum_digits digits, int32_t c, int64_t width) {
  const int64_t n = digits.n > 1 ? sums->digit[digits.first + digits.n - 2].step : sums->extent[c];
  return tesela__min(n, sums->extent[c]) * width;
}

static gather_sides sides_of_gather(const tesela_plan *plan, const tesela__sums *sums) {
  const int64_t width = plan->dst.bits / 8;
  const int32_t p = tesela__gather_nearest(sums, sums->dst);
  const int32_t q = tesela__gather_transposes(plan, sums) ? tesela__gather_nearest(sums, sums->src) : p;
  return (gather_sides){p == q, bytes_of_run(sums, sums->dst[p], p, width),
                        bytes_of_run(sums, sums->src[q], q, width)};
}

tesela__verdict tesela__gather_cost(const tesela_plan *plan, const tesela__sums *sums) {
  const gather_sides sides = sides_of_gather(plan, sums);
  const int64_t width = plan->dst.bits / 8, line = TESELA__LINE;
  int64_t out = tesela__min(sides.out, line), in = tesela__min(sides.in, line);
  int64_t *few = out < in ? &out : &in;
  if (!sides.rows && *few > width && *few <= TESELA__GATHER_STREAMS * width &&
      tesela__max(out, in) >= TESELA__GATHER_WOVEN)
    *few = line;
  if (plan->stretches.n_passes > 1) out = in = line; /* buffers have long rows */
  const int64_t block = sides.rows ? tesela__min(out, in) : out * in / width;
  const double terms[TESELA__COST_TERMS] = {1,
                                            (double)line / (double)block,
                                            8 / (double)width,
                                            tesela__part_of_line((double)in),
                                            tesela__part_of_line((double)out),
                                            sides.rows};
  tesela__verdict verdict = {.applies = true, .way = TESELA__COST_GATHER};
  for (int32_t i = 0; i < TESELA__COST_TERMS; i++) verdict.term[i] = (float)terms[i];
  verdict.cost = tesela__cost_of(plan, &verdict);
  return verdict;
}

bool tesela__gather_may_be_cheaper(const tesela_plan *plan, const tesela__sums *sums,
                                   const tesela__verdict *gather) {
  double data = plan->dst.bits / 8;
  if (!plan->stream || plan->conversion || plan->dst.bits < 8 || plan->n_pieces < 2) return false;
  for (int32_t c = 0; c < sums->n; c++) data *= (double)sums->extent[c];
  const tesela__verdict least = {.way = TESELA__COST_GATHER, .term = {1}};
  return plan->cost + plan->shared > data * (gather ? gather->cost : tesela__cost_of(plan, &least));
}

bool tesela__gather_writes_once(const tesela_plan *plan, const tesela__sums *sums) {
  /* bytes of a run, and of a block that is transposed, with which the gather is fast */
  enum { ROW = 64, LONG = 512, BLOCK = 400 };
  const tesela__piece *piece = plan->largest < 0 ? NULL : &plan->piece[plan->largest];
  const int64_t width = plan->dst.bits / 8;
  if (!piece || !piece->stream || piece->lines || piece->tail > 0 || plan->conversion || width == 0)
    return false;
  int64_t data = width;
  for (int32_t c = 0; c < sums->n; c++) data *= sums->extent[c];
  const bool apart = plan->n_fills > 0 && !piece->picks_padding && !piece->padded;
  if (plan->info.dst_bytes / 2 >= data && apart)
    return true; /* more padding than data, in fills of their own */
  const gather_sides sides = sides_of_gather(plan, sums);
  if (sides.rows) return tesela__min(sides.out, sides.in) >= ROW && tesela__min(sides.out, sides.in) < LONG;
  return tesela__min(sides.out, TESELA__LINE) * tesela__min(sides.in, TESELA__LINE) / width >= BLOCK;
}
