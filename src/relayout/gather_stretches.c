/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather_stretches.c - the gather by groups of stretches of dst: a group is assembled in a buffer in the cache, with its padding, and
 * written in whole lines.
 *
 * While one group is copied, the lines of src for the next one are prefetched. A line of dst that a stretch does not finish is kept for the
 * next one. If both sides fit in the cache, groups are copied to dst directly.
 */
#include "relayout/gather.h"

typedef struct stretches_run {
  tesela__gather_passes passes;
  tesela__gather_run *gather; /* the first of them */
  tesela__stream_fn *stream;  /* NULL: to dst directly */
  int32_t threads;
} stretches_run;

/* The state of a thread. */
typedef struct stretches_worker {
  stretches_run *run;
  int64_t first[TESELA_MAX_DIGITS + 1]; /* steps of the loops where the group begins */
  int64_t kept;                         /* where in dst the part of a line ends that is kept, or -1 */
  tesela__passes_worker passes;
  tesela__gather_ahead ahead;
  alignas(TESELA__LINE) unsigned char line[TESELA__LINE]; /* kept, at its place in the line */
  unsigned char stage[TESELA__GATHER_STAGE];
} stretches_worker;

/* ---- groups and stretches by number ------------------------------------------------------------------------ */

static void first_steps(const tesela__stretches *s, int64_t group, int64_t *first) {
  for (int32_t i = s->n_loops - 1; i >= 0; i--) {
    const struct tesela__stretch_loop *l = &s->loop[s->src_order[i]];
    const int64_t n = tesela__ceil_div(l->n, l->group);
    first[s->src_order[i]] = group % n * l->group;
    group /= n;
  }
}

/* The values of a group; false: it has none. */
static bool values_of_group(const tesela_plan *plan, const int64_t *first, tesela__gather_range *range) {
  const tesela__stretches *s = &plan->stretches;
  int64_t most[TESELA_MAX_RANK];
  bool some = true;
  for (int32_t c = 0; c < plan->sums.n; c++) {
    range[c] = (tesela__gather_range){0, plan->sums.extent[c], 0};
    most[c] = s->block[c];
  }
  for (int32_t i = 0; i < s->n_loops; i++) {
    const struct tesela__stretch_loop *l = &s->loop[i];
    range[l->c].x += first[i] * l->step;
    range[l->c].n = tesela__min(range[l->c].n - first[i] * l->step, l->group * l->step);
    most[l->c] = l->group * s->block[l->c];
  }
  for (int32_t c = 0; c < plan->sums.n; c++) {
    range[c].n = tesela__min(range[c].n, most[c]);
    some = some && range[c].n > 0;
  }
  return some;
}

/* A stretch of a group, by its steps in the loops from those where the group begins. */
typedef struct stretch_place {
  int64_t dst, stage, bytes, step[TESELA_MAX_DIGITS + 1];
} stretch_place;

static void set_stretch_bytes(const tesela__stretches *s, const int64_t *first, stretch_place *place) {
  const bool is_part = s->part >= 0 && first[s->part] + place->step[s->part] == s->loop[s->part].n - 1;
  place->bytes = is_part ? s->part_bytes : s->bytes;
}

static void first_stretch(const tesela_plan *plan, const int64_t *first, stretch_place *place) {
  const tesela__stretches *s = &plan->stretches;
  place->dst = plan->sums_dst / 8;
  place->stage = 0;
  for (int32_t i = 0; i < s->n_loops; i++) {
    place->dst += first[i] * s->loop[i].stride;
    place->step[i] = 0;
  }
  set_stretch_bytes(s, first, place);
}

/* The next one in the order of dst; false: it was the last. */
static bool next_stretch(const tesela_plan *plan, const int64_t *first, stretch_place *place) {
  const tesela__stretches *s = &plan->stretches;
  for (int32_t k = s->n_loops - 1; k >= 0; k--) {
    const int32_t i = s->order[k];
    const struct tesela__stretch_loop *l = &s->loop[i];
    const int64_t step = place->step[i] + 1;
    const bool goes_on = step < l->group && first[i] + step < l->n;
    const int64_t by = goes_on ? 1 : 1 - step;
    place->step[i] += by;
    place->dst += by * l->stride;
    place->stage += by * l->pitch;
    if (!goes_on) continue;
    set_stretch_bytes(s, first, place);
    return true;
  }
  return false;
}

/* ---- writing ----------------------------------------------------------------------------------------------- */

/* Write the part of a line that waits for the next stretch. */
static void write_kept(stretches_worker *w) {
  if (w->kept < 0) return;
  unsigned char *end = w->run->gather->dst + w->kept;
  const int64_t n = (int64_t)((uintptr_t)end % TESELA__LINE);
  memcpy(end - n, w->line, (size_t)n);
  w->kept = -1;
}

/* Write a stretch: with what is kept if that ends where it begins, and keep the part of a line at its end. */
static void write_stretch(stretches_worker *w, const stretch_place *place) {
  unsigned char *dst = w->run->gather->dst + place->dst;
  const unsigned char *from = w->stage + place->stage;
  const int64_t phase = (int64_t)((uintptr_t)dst % TESELA__LINE);
  int64_t left = place->bytes;
  if (w->kept != place->dst) write_kept(w);
  if (phase > 0) {
    const int64_t n = tesela__min(left, TESELA__LINE - phase);
    if (w->kept >= 0)
      memcpy(w->line + phase, from, (size_t)n);
    else
      memcpy(dst, from, (size_t)n);
    if (w->kept >= 0 && phase + n == TESELA__LINE) w->run->stream(dst - phase, w->line, 1);
    if (w->kept >= 0 && phase + n < TESELA__LINE) {
      w->kept += n;
      return;
    }
    dst += n;
    from += n;
    left -= n;
  }
  w->kept = -1;
  w->run->stream(dst, from, left / TESELA__LINE);
  if (left % TESELA__LINE == 0) return;
  memcpy(w->line, from + left / TESELA__LINE * TESELA__LINE, (size_t)(left % TESELA__LINE));
  w->kept = place->dst + place->bytes;
}

/* ---- one group --------------------------------------------------------------------------------------------- */

/* Fill the stretches of a group whose elements leave padding. */
static void fill_group(stretches_worker *w, int64_t elements) {
  const tesela_plan *plan = w->run->gather->plan;
  const tesela__stretches *s = &plan->stretches;
  stretch_place place;
  if (elements * (plan->dst.bits / 8) == s->n * s->bytes) return;
  first_stretch(plan, w->first, &place);
  do tesela__fill_row(w->stage + place.stage, place.bytes, plan->fill_pattern);
  while (next_stretch(plan, w->first, &place));
}

static void prefetch_group(stretches_worker *w, int64_t group) {
  const tesela_plan *plan = w->run->gather->plan;
  int64_t first[TESELA_MAX_DIGITS + 1];
  tesela__gather_range range[TESELA_MAX_RANK];
  first_steps(&plan->stretches, group, first);
  if (values_of_group(plan, first, range))
    tesela__gather_list(&plan->stretches.src, w->run->gather->src + plan->sums_src / 8, range, plan->sums.n,
                        &w->ahead);
}

/* Copy a group, whose next one is to be prefetched (or -1). */
static void run_stretch_group(stretches_worker *w, int64_t group, int64_t next) {
  const tesela_plan *plan = w->run->gather->plan;
  const tesela__stretches *s = &plan->stretches;
  tesela__gather_range range[TESELA_MAX_RANK];
  int64_t elements = 1;
  stretch_place place;
  first_steps(s, group, w->first);
  const bool some = values_of_group(plan, w->first, range);
  for (int32_t c = 0; c < plan->sums.n; c++) {
    elements *= some ? range[c].n : 0;
    if (!w->run->stream) range[c].to = range[c].x;
  }
  if (w->run->stream) fill_group(w, elements);
  w->ahead.n = w->ahead.at = w->ahead.row = 0;
  w->ahead.done = w->ahead.lines = 0;
  if (next >= 0) prefetch_group(w, next);
  if (some) {
    tesela__passes_copy(&w->run->passes, &w->passes, w->run->stream ? w->stage : w->run->gather->dst,
                        w->run->stream ? 0 : plan->sums_dst / 8, w->run->gather->src, plan->sums_src / 8,
                        range, &w->ahead);
  }
  if (!w->run->stream) return;
  first_stretch(plan, w->first, &place);
  do write_stretch(w, &place);
  while (next_stretch(plan, w->first, &place));
}

static void run_groups(void *data, int32_t chunk) {
  stretches_run *run = data;
  const tesela_plan *plan = run->gather->plan;
  const tesela__stretches *s = &plan->stretches;
  const int64_t n = s->n_groups, threads = run->threads;
  const int64_t first = n / threads * chunk + n % threads * chunk / threads;
  const int64_t end = n / threads * (chunk + 1) + n % threads * (chunk + 1) / threads;
  int64_t last = run->gather->before;
  stretches_worker w;
  w.run = run;
  w.kept = -1;
  for (int32_t i = 0; i < s->n_passes; i++) tesela__gather_empty(&w.passes.tables[i]);
  for (int64_t k = first; k < end; k++) {
    run_stretch_group(&w, k, run->stream && s->src.n > 0 && k + 1 < end ? k + 1 : -1);
    if (!tesela__gather_goes_on(run->gather, s->n * s->bytes * 8 / plan->dst.bits, &last)) break;
  }
  write_kept(&w);
  if (run->stream) tesela__fence();
}

tesela_status tesela__gather_stretches(const tesela_plan *plan, unsigned char *dst, const unsigned char *src,
                                       const tesela_run_options *options, int64_t done, tesela_error *err) {
  const tesela__stretches *s = &plan->stretches;
  stretches_run run = {.threads = plan->info.threads};
  run.gather = &run.passes.run[0];
  *run.gather = (tesela__gather_run){.dst = dst, .src = src, .options = options, .before = done};
  tesela__passes_begin(&run.passes, plan);
  if (s->staged) run.stream = (tesela__stream_fn *)tesela__kernel_find(TESELA__K_STREAM, 0, 0, plan->isa)->fn;
  tesela__run_chunks(options ? options->executor : NULL, run.threads, run_groups, &run);
  return atomic_load(&run.gather->stopped) ? tesela__fail_stopped(err) : TESELA_OK;
}
