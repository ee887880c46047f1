/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_einops_write.c - a layout as a pattern of einops.
 *
 *   (a1 a2) (b1 b2) -> a1 b1 a2 b2  a2=2 b2=4          parts of dims from the slowest to the fastest
 *   a -> copy1 a  copy1=4                               copies
 *
 * A pattern has no padding, so an array is as large as its parts need: a gap makes the part below larger, or is a part of another
 * dim.
 */
#include <string.h>

#include "base/base.h"
#include "notation/index/index.h"
#include "notation/parts.h"

/* The parts by increasing stride, those of gaps too. */
typedef struct einops_writing {
  int32_t n, rank;
  tesela__dim_part part[2 * TESELA__MAX_PARTS];
  int64_t shape[TESELA_MAX_RANK];
} einops_writing;

/* The dim that a gap makes larger: the last one of extent 1, else the last one. */
static int32_t einops_gap_dim(int32_t rank, const int64_t *shape) {
  for (int32_t d = rank - 1; d >= 0; d--)
    if (shape[d] == 1) return d;
  return rank - 1;
}

static bool einops_fit(void *user, const tesela__parts *parts, int32_t rank, const int64_t *shape) {
  einops_writing *w = user;
  int32_t gap_dim = einops_gap_dim(rank, shape), n_names = rank;
  int64_t size = 1, gap;
  w->n = 0;
  w->rank = rank;
  for (int32_t i = 0; i < parts->n; i++) {
    const tesela__dim_part *part = &parts->part[i];
    tesela__dim_part *below = w->n > 0 ? &w->part[w->n - 1] : NULL;
    if (!tesela__close_gap(below, size, part->stride, &gap)) return false;
    if (gap > 1 && gap_dim < 0) return false;
    if (gap > 1) w->part[w->n++] = (tesela__dim_part){gap_dim, 0, INT64_MAX, gap, size, false};
    w->part[w->n++] = *part;
    if (!tesela__mul(part->stride, part->extent, &size)) return false;
    n_names += (gap > 1) + !part->top;
  }
  for (int32_t d = 0; d < rank; d++) w->shape[d] = parts->n == 0 ? shape[d] : 1;
  for (int32_t i = 0; i < w->n; i++)
    if (w->part[i].dim >= 0 &&
        !tesela__mul(w->shape[w->part[i].dim], w->part[i].extent, &w->shape[w->part[i].dim]))
      return false;
  return n_names <= TESELA_MAX_RANK; /* of the right side */
}

/* The parts of a dim, the coarsest first: the number of each in w->part. */
static int32_t einops_parts_of(const einops_writing *w, int32_t dim, int32_t *part) {
  int32_t n = 0;
  for (int32_t i = 0; i < w->n; i++) {
    int32_t k = n;
    if (w->part[i].dim != dim) continue;
    for (; k > 0 && w->part[part[k - 1]].step < w->part[i].step; k--) part[k] = part[k - 1];
    part[k] = i;
    n++;
  }
  return n;
}

/* The k-th of n names: a, b, .. for whole dims, a1, a2, .. for parts. */
static void einops_put_name(tesela__sink *sink, int32_t dim, int32_t k, int32_t n) {
  if (dim >= 0)
    tesela__putc(sink, (char)('a' + dim)); /* below TESELA_MAX_RANK */
  else
    tesela__puts(sink, "copy");
  if (dim < 0 || n > 1) tesela__putf(sink, "%" PRId32, k + 1);
}

static void einops_put_pattern(tesela__sink *sink, const einops_writing *w) {
  int32_t part[2 * TESELA__MAX_PARTS];
  for (int32_t d = 0; d < w->rank; d++) {
    int32_t n = einops_parts_of(w, d, part);
    if (d > 0) tesela__putc(sink, ' ');
    if (n > 1) tesela__putc(sink, '(');
    for (int32_t k = 0; k < tesela__max(n, 1); k++) {
      if (k > 0) tesela__putc(sink, ' ');
      einops_put_name(sink, d, k, n);
    }
    if (n > 1) tesela__putc(sink, ')');
  }
  tesela__puts(sink, w->rank > 0 ? " ->" : "->");
  for (int32_t d = 0; d < w->rank; d++) { /* dims of one element, or of none, are anywhere */
    if (einops_parts_of(w, d, part) > 0) continue;
    tesela__putc(sink, ' ');
    einops_put_name(sink, d, 0, 1);
  }
  for (int32_t i = w->n - 1; i >= 0; i--) {
    int32_t k = 0, n = einops_parts_of(w, w->part[i].dim, part);
    while (part[k] != i) k++;
    tesela__putc(sink, ' ');
    einops_put_name(sink, w->part[i].dim, k, n);
  }
}

/* " a2=2 b2=4": those that do not follow from the array. */
static void einops_put_lengths(tesela__sink *sink, const einops_writing *w) {
  int32_t part[2 * TESELA__MAX_PARTS];
  bool first = true;
  for (int32_t d = 0; d <= w->rank; d++) {
    int32_t dim = d < w->rank ? d : TESELA_REPLICA, n = einops_parts_of(w, dim, part);
    for (int32_t k = dim >= 0; k < n; k++) {
      tesela__puts(sink, first ? "  " : " ");
      einops_put_name(sink, dim, k, n);
      tesela__putf(sink, "=%" PRId64, w->part[part[k]].extent);
      first = false;
    }
  }
}

tesela_status tesela__einops_write(const tesela_layout *layout, const tesela_writer *to,
                                   tesela_translation *answer, tesela_error *err) {
  einops_writing w = {.n = 0};
  tesela__sink sink;
  if (layout->n_axes != 1)
    return tesela__impossible(answer, "a pattern places elements on one axis; the layout has %" PRId32,
                              layout->n_axes);
  tesela_status status =
      tesela__find_parts(layout, "pattern", TESELA__PARTS_COPIES, einops_fit, &w, w.shape, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  tesela__sink_init(&sink, to);
  einops_put_pattern(&sink, &w);
  einops_put_lengths(&sink, &w);
  return tesela__sink_finish(&sink, err);
}
