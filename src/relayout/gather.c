/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.c - copies that neither regular loops nor tables can express: joins of parts of dims, swizzles.
 *
 * Both layouts are walked in logical order; neighbours at a constant distance on both sides are moved together. Padding
 * is filled first: all places that dst's digits reach, so elements overwrite the fill. One thread, and memory only for
 * two walks on the stack.
 */
#include <tesela/layout.h>

#include "relayout/tile.h"
#include "relayout/values.h"

typedef struct gathering {
  const tesela_plan *plan;
  tesela__mover mover;
  unsigned char *dst;
  const unsigned char *src;
  int64_t copies;
} gathering;

/* Move n elements with a constant stride on each side. */
static void gather_stretch(const gathering *g, const tesela__values *to, const tesela__values *from,
                           int64_t n) {
  int64_t wd = g->mover.wd, ws = g->mover.ws;
  for (int64_t k = 0; k < g->copies; k++) {
    int64_t place = tesela__values_copy(to, k);
    if (!g->mover.convert && ws >= 8 && to->stride == 1 && from->stride == 1)
      memcpy(g->dst + place * (wd / 8), g->src + from->place * (ws / 8), (size_t)(n * (wd / 8)));
    else
      tesela__move(&g->mover, n, g->dst, place * wd, to->stride * wd, g->src, from->place * ws,
                   from->stride * ws);
  }
}

/* Fill the places that a swizzled layout's digits reach, one by one; then those after the last one, or the offset. */
static void fill_swizzled(const gathering *g) {
  const tesela_layout *dst = &g->plan->dst;
  tesela__mover mover = g->mover;
  int64_t count[TESELA_MAX_DIGITS] = {0}, place = dst->axis[0].offset, end = place;
  const unsigned char *pattern = g->plan->fill_pattern;
  mover.convert = NULL;
  mover.ws = mover.wd;
  mover.take = mover.put;
  bool none = false;
  for (int32_t i = 0; i < dst->n_active; i++)
    none = none || (dst->digit[i].axis >= 0 && dst->digit[i].extent == 0);
  for (int32_t i = none ? -1 : 0; i >= 0;) {
    int64_t at = tesela__swizzle(dst, place);
    end = tesela__max(end, at + 1);
    tesela__move(&mover, 1, g->dst, at * mover.wd, 0, pattern, 0, 0);
    for (i = dst->n_active - 1; i >= 0; i--) {
      const tesela_digit *digit = &dst->digit[i];
      if (digit->axis < 0) continue;
      place += digit->stride;
      if (++count[i] < digit->extent) break;
      place -= digit->extent * digit->stride;
      count[i] = 0;
    }
  }
  int64_t tail = dst->axis[0].extent - end;
  if (tail > 0) tesela__move(&mover, tail, g->dst, end * mover.wd, mover.wd, pattern, 0, 0);
}

static bool wants_stop(const tesela_run_options *options, int64_t done, int64_t total) {
  return options && options->progress && options->progress(options->progress_user, done, total);
}

tesela_status tesela__gather(const tesela_plan *plan, unsigned char *dst, const unsigned char *src,
                             const tesela_run_options *options, int64_t done, tesela_error *err) {
  enum { LOOK_EVERY = 16 << 20 }; /* bytes between two calls of progress */
  if (plan->by_sums) return tesela__gather_sums(plan, dst, src, options, done, err);
  gathering g = {plan, tesela__mover_of(plan), dst, src, tesela_layout_copies(&plan->dst)};
  tesela__values to, from;
  if (plan->dst.swizzle.n && plan->fill != TESELA_FILL_LEAVE) fill_swizzled(&g);
  tesela_status status = tesela__values_begin(&to, &plan->dst, err);
  if (status == TESELA_OK) status = tesela__values_begin(&from, &plan->src, err);
  if (status != TESELA_OK) return status;
  int64_t looked = done;
  while (to.more) {
    int64_t n = tesela__min(to.left, from.left);
    gather_stretch(&g, &to, &from, n);
    tesela__values_skip(&to, n);
    tesela__values_skip(&from, n);
    done += tesela__ceil_div(n * g.copies * plan->dst.bits, 8);
    if (done - looked < LOOK_EVERY) continue;
    looked = done;
    if (wants_stop(options, tesela__min(done, plan->total_bytes), plan->total_bytes))
      return tesela__fail_stopped(err);
  }
  return TESELA_OK;
}
