/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather_passes.c - run the passes of a group of the gather.
 *
 * Each pass is a gather between sums of its own: a side as it is, or a buffer with one digit for each coordinate. In the sums of a pass
 * with wide elements the values of their coordinate are these elements.
 */
#include "relayout/gather.h"

/* Add a side of a coordinate, in elements of `unit` values. */
static tesela__sum_digits add_pass_side(tesela__sums *to, const tesela__sums *from, tesela__sum_digits digits,
                                        int64_t unit) {
  const int32_t first = to->n_digits;
  for (int32_t i = 0; i < digits.n; i++) {
    struct tesela__sum_digit digit = from->digit[digits.first + i];
    if (digit.step < unit) continue;
    digit.step /= unit;
    to->digit[to->n_digits++] = digit;
  }
  if (to->n_digits == first) to->digit[to->n_digits++] = (struct tesela__sum_digit){1, 0}; /* one element */
  return (tesela__sum_digits){first, to->n_digits - first};
}

static tesela__sum_digits add_pass_buffer(tesela__sums *to, int64_t stride, int64_t unit) {
  to->digit[to->n_digits] = (struct tesela__sum_digit){1, stride * 8 * unit};
  return (tesela__sum_digits){to->n_digits++, 1};
}

void tesela__passes_begin(tesela__gather_passes *g, const tesela_plan *plan) {
  const tesela__stretches *s = &plan->stretches;
  const tesela__sums *sides = s->staged ? &s->stage : &plan->sums;
  int64_t room[TESELA_MAX_RANK], stride[2][TESELA_MAX_RANK] = {{0}};
  for (int32_t c = 0; c < sides->n; c++) room[c] = tesela__passes_room(s, sides, c, s->most[c]);
  for (int32_t k = 0; k < s->n_passes; k++) {
    const tesela__stretch_pass *pass = &s->pass[k];
    tesela__sums *sums = &g->sums[k];
    sums->n = sides->n;
    sums->n_digits = 0;
    if (k + 1 < s->n_passes)
      g->bytes[k] = tesela__passes_buffer(pass, sides->n, plan->dst.bits / 8, room, stride[k % 2]);
    for (int32_t c = 0; c < sides->n; c++) {
      const int64_t unit = c == pass->wide ? pass->unit : 1;
      sums->extent[c] = tesela__ceil_div(sides->extent[c], unit);
      sums->dst[c] = k + 1 < s->n_passes ? add_pass_buffer(sums, stride[k % 2][c], unit)
                                         : add_pass_side(sums, sides, sides->dst[c], unit);
      sums->src[c] = k > 0 ? add_pass_buffer(sums, stride[(k + 1) % 2][c], unit)
                           : add_pass_side(sums, sides, sides->src[c], unit);
    }
    if (k == 0) memcpy(g->stride, stride[0], sizeof g->stride);
    tesela__gather_begin(&g->run[k], plan, sums, pass->p, pass->q, plan->dst.bits * (int32_t)pass->unit);
  }
}

/* Where a pass reads and writes the values of a coordinate, of which the group has those of `range`. */
static tesela__gather_range range_of_pass(const tesela_plan *plan, int32_t k, int32_t c,
                                          tesela__gather_range range) {
  const tesela__stretches *s = &plan->stretches;
  const int64_t unit = s->pass[k].wide == c ? s->pass[k].unit : 1, align = s->aligned == c ? s->align : 1;
  const int64_t begin = range.x - range.x % align;
  const int64_t end = tesela__min(plan->sums.extent[c], tesela__ceil_div(range.x + range.n, align) * align);
  if (k + 1 < s->n_passes)
    range = (tesela__gather_range){k == 0 ? begin : 0, end - begin, 0};
  else if (k > 0)
    range.x -= begin;
  return (tesela__gather_range){range.x / unit, tesela__ceil_div(range.n, unit), range.to / unit};
}

/* ---- the end of src ---------------------------------------------------------------------------------------- */

static int64_t largest(const int64_t *value, int32_t n) {
  int64_t most = value[0];
  for (int32_t i = 1; i < n; i++) most = tesela__max(most, value[i]);
  return most;
}

/* Does the first pass read after the last element of src, within the last run of wide elements? */
static bool reads_too_far(const tesela__gather_passes *g, const tesela__gather_tables *t) {
  const tesela_plan *plan = g->run[0].plan;
  int64_t end = plan->dst.bits / 8, stride, left; /* of the element whose values are all the last ones */
  for (int32_t c = 0; c < plan->sums.n; c++)
    end += tesela__sum_at(&plan->sums, plan->sums.src[c], plan->sums.extent[c] - 1, &stride, &left) / 8;
  return largest(t->p.src, t->p.n) + largest(t->q.src, t->q.n) + largest(t->other_src, t->n_others) +
             g->run[0].bits / 8 >
         end;
}

/* Copy elements one by one to the buffer of the first pass, from value x of coordinate `wide` on. */
static void copy_last_values(const tesela__gather_passes *g, unsigned char *to, const unsigned char *from,
                             const tesela__gather_range *range, int32_t wide, int64_t x) {
  const tesela_plan *plan = g->run[0].plan;
  const tesela__sums *sums = &plan->sums;
  const size_t width = (size_t)plan->dst.bits / 8;
  int64_t at[TESELA_MAX_RANK], stride, left;
  for (int32_t c = 0; c < sums->n; c++) at[c] = c == wide ? x : range[c].x;
  for (int32_t c = 0; c >= 0;) {
    int64_t dst = 0, src = 0;
    for (c = 0; c < sums->n; c++) {
      dst += (at[c] - range[c].x) * g->stride[c];
      src += tesela__sum_at(sums, sums->src[c], at[c], &stride, &left) / 8;
    }
    memcpy(to + dst, from + src, width);
    for (c = sums->n - 1; c >= 0; c--) {
      if (++at[c] < range[c].x + range[c].n) break;
      at[c] = c == wide ? x : range[c].x;
    }
  }
}

/* Fill the tables of the first pass, and copy what it must not read as wide elements. False: there is nothing else to copy. */
static bool begin_first_pass(const tesela__gather_passes *g, tesela__passes_worker *w,
                             const unsigned char *src, const tesela__gather_range *range) {
  const tesela_plan *plan = g->run[0].plan;
  const tesela__stretch_pass *pass = &plan->stretches.pass[0];
  tesela__gather_range r[TESELA_MAX_RANK];
  for (int32_t c = 0; c < plan->sums.n; c++) r[c] = range_of_pass(plan, 0, c, range[c]);
  tesela__gather_fill(&g->run[0], &w->tables[0], r);
  if (pass->unit == 1 || (range[pass->wide].x + range[pass->wide].n) % pass->unit == 0) return true;
  if (!reads_too_far(g, &w->tables[0])) return true;
  const int64_t whole = --r[pass->wide].n, x = (r[pass->wide].x + whole) * pass->unit;
  if (whole > 0) tesela__gather_fill(&g->run[0], &w->tables[0], r);
  for (int32_t c = 0; c < plan->sums.n; c++)
    if (c == pass->wide)
      r[c] = (tesela__gather_range){r[c].x * pass->unit, range[c].x + range[c].n - r[c].x * pass->unit, 0};
  copy_last_values(g, w->buffer[0], src, r, pass->wide, x);
  return whole > 0;
}

/* ---- all passes -------------------------------------------------------------------------------------------- */

void tesela__passes_copy(const tesela__gather_passes *g, tesela__passes_worker *w, unsigned char *dst,
                         int64_t dst_offset, const unsigned char *src, int64_t src_offset,
                         const tesela__gather_range *range, tesela__gather_ahead *ahead) {
  const tesela_plan *plan = g->run[0].plan;
  const tesela__stretches *s = &plan->stretches;
  const tesela__stretch_pass *end = &s->pass[s->n_passes - 1];
  tesela__gather_range r[TESELA_MAX_RANK];
  if (s->n_passes > 1 && end->unit > 1 && range[end->wide].n % end->unit != 0) /* padding in elements */
    tesela__fill_row(w->buffer[s->n_passes % 2], g->bytes[s->n_passes - 2], plan->fill_pattern);
  const bool reads = begin_first_pass(g, w, src + src_offset, range);
  int64_t calls = tesela__gather_calls(&g->run[0], &w->tables[0]);
  for (int32_t k = 1; k < s->n_passes; k++) {
    for (int32_t c = 0; c < plan->sums.n; c++) r[c] = range_of_pass(plan, k, c, range[c]);
    tesela__gather_fill(&g->run[k], &w->tables[k], r);
    calls += tesela__gather_calls(&g->run[k], &w->tables[k]);
  }
  ahead->share = (int32_t)tesela__ceil_div(ahead->lines, calls);
  for (int32_t k = reads ? 0 : 1; k < s->n_passes; k++) {
    const bool first = k == 0, last = k + 1 == s->n_passes;
    tesela__gather_copy(&g->run[k], &w->tables[k], last ? dst : w->buffer[k % 2], last ? dst_offset : 0,
                        first ? src : w->buffer[(k + 1) % 2], first ? src_offset : 0, ahead);
  }
}
