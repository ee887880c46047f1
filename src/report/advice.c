/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.c - fit the same elements in less memory: another order of the dims, another tile format, dims made one.
 *
 * Tiles pad the two most minor dims, so an order is a choice of these two; the others follow in descending
 * order. A format is what tesela_xla_choose gives for an order. Merging neighbouring dims changes the logical
 * shape, but no element number: a reshape. All are measured, none is guessed: rank^2 orders, twice, and
 * rank^2 merges, at well below a microsecond each.
 */
#include "report/report_state.h"

typedef struct advice_search {
  tesela_report_advice *advice;
  int64_t bytes; /* a shape must be smaller */
  bool found;
} advice_search;

static void try_shape(advice_search *search, tesela_report_advice_kind kind, const tesela_xla_shape *shape) {
  tesela_xla_sizes sizes;
  if (tesela_xla_size(shape, &sizes, NULL) != TESELA_OK || sizes.allocated_bytes >= search->bytes) return;
  *search->advice = (tesela_report_advice){.kind = kind, .shape = *shape, .bytes = sizes.allocated_bytes};
  search->bytes = sizes.allocated_bytes;
  search->found = true;
}

void tesela__report_set_order(tesela_xla_layout *layout, int32_t minor, int32_t second) {
  int32_t n = 0;
  layout->minor_to_major[n++] = minor;
  if (second >= 0) layout->minor_to_major[n++] = second;
  for (int32_t d = layout->rank - 1; d >= 0; d--)
    if (d != minor && d != second) layout->minor_to_major[n++] = d;
}

/* All orders, with the tiles there are or with those a TPU compiler would choose. */
static void try_orders(advice_search *search, tesela_report_advice_kind kind, const tesela_xla_shape *from,
                       bool choose) {
  tesela_xla_shape shape = *from;
  int32_t rank = shape.rank;
  for (int32_t minor = rank - 1; minor >= 0; minor--)
    for (int32_t second = rank - 1; second >= (rank > 1 ? 0 : -1); second--) {
      if (minor == second) continue;
      tesela__report_set_order(&shape.layout, minor, second);
      if (choose && tesela_xla_choose(&shape, 0, NULL) != TESELA_OK) return;
      try_shape(search, kind, &shape);
    }
}

/* Dims first .. last as one; false if the extent does not fit, or one of them is dynamic: no reshape makes
 * a bounded dim part of another. The result has no marks of dynamic dims. */
static bool merge_dims(const tesela_xla_shape *from, int32_t first, int32_t last, tesela_xla_shape *shape) {
  *shape = *from;
  shape->dynamic = 0;
  for (int32_t d = first; d <= last; d++)
    if (from->dynamic >> d & 1) return false;
  for (int32_t d = first + 1; d <= last; d++)
    if (!tesela__mul(shape->dim[first], from->dim[d], &shape->dim[first])) return false;
  for (int32_t d = last + 1; d < from->rank; d++) shape->dim[first + d - last] = from->dim[d];
  shape->rank = from->rank - (last - first);
  shape->layout.rank = shape->rank;
  if (shape->rank == 1)
    shape->layout.minor_to_major[0] = 0;
  else
    tesela__report_set_order(&shape->layout, shape->rank - 1, shape->rank - 2);
  return true;
}

/* Few merged dims first: merging more of them must save a tenth of what is left, for it changes more. */
static void try_merges(advice_search *search, const tesela_xla_shape *from) {
  tesela_xla_shape shape;
  for (int32_t n = 2; n <= from->rank; n++) {
    for (int32_t last = from->rank - 1; last >= n - 1; last--)
      if (merge_dims(from, last - n + 1, last, &shape) && tesela_xla_choose(&shape, 0, NULL) == TESELA_OK)
        try_shape(search, TESELA_REPORT_ADVICE_MERGE, &shape);
    if (search->found) search->bytes = search->advice->bytes - search->advice->bytes / 10;
  }
  if (search->found) search->bytes = search->advice->bytes;
}

/* The shape without what advice cannot keep: marks of dynamic dims, and elements wider than their type. */
static tesela_xla_shape plain_shape(const tesela_xla_shape *from) {
  tesela_xla_shape shape = *from;
  shape.dynamic = 0;
  shape.has_layout = true;
  shape.layout.tail = 1;
  shape.layout.metadata_bytes = 0;
  if (shape.layout.element_bits > 8 * tesela_dtype_bytes(shape.dtype)) shape.layout.element_bits = 0;
  return shape;
}

tesela_status tesela_report_advise(const tesela_xla_shape *shape,
                                   tesela_report_advice advice[TESELA_REPORT_MAX_ADVICE], int32_t *n,
                                   tesela_error *err) {
  TESELA__NEED(err, shape, advice, n);
  tesela_xla_sizes sizes;
  tesela_status status = tesela_xla_size(shape, &sizes, err);
  if (status != TESELA_OK) return status;
  *n = 0;
  if (shape->kind != TESELA_XLA_ARRAY || shape->rank == 0 || shape->layout.n_splits > 0) return TESELA_OK;
  tesela_xla_shape plain = plain_shape(shape);
  int64_t bytes = sizes.allocated_bytes;
  for (int kind = 0; kind < TESELA_REPORT_MAX_ADVICE; kind++) {
    advice_search search = {.advice = &advice[*n], .bytes = bytes - bytes / 100};
    if (kind == TESELA_REPORT_ADVICE_ORDER) try_orders(&search, TESELA_REPORT_ADVICE_ORDER, shape, false);
    if (kind == TESELA_REPORT_ADVICE_FORMAT) try_orders(&search, TESELA_REPORT_ADVICE_FORMAT, &plain, true);
    plain.dynamic = kind == TESELA_REPORT_ADVICE_MERGE ? shape->dynamic : 0;
    if (kind == TESELA_REPORT_ADVICE_MERGE) try_merges(&search, &plain);
    if (!search.found) continue;
    search.advice->saved = sizes.allocated_bytes - search.bytes;
    bytes = search.bytes;
    ++*n;
  }
  for (int32_t i = 0, j = *n - 1; i < j; i++, j--) { /* most saved first */
    tesela_report_advice swapped = advice[i];
    advice[i] = advice[j];
    advice[j] = swapped;
  }
  return TESELA_OK;
}

/* ---- words --------------------------------------------------------------------------------------------- */

/* The first dim that is not the same in both, from the front. */
static int32_t first_merged(const tesela_xla_shape *from, const tesela_xla_shape *to) {
  int32_t d = 0;
  while (d < to->rank && from->dim[d] == to->dim[d]) d++;
  return d;
}

static void put_merge(tesela__sink *sink, const tesela_xla_shape *from, const tesela_xla_shape *to) {
  int32_t first = first_merged(from, to), n = from->rank - to->rank + 1;
  while (first + n > from->rank) first--; /* ones at the end look unchanged */
  tesela__puts(sink, "merge dims ");
  for (int32_t d = first; d < first + n; d++) tesela__putf(sink, d > first ? ",%" PRId32 : "%" PRId32, d);
  tesela__puts(sink, ": ");
  for (int32_t d = first; d < first + n; d++)
    tesela__putf(sink, d > first ? "*%" PRId64 : "%" PRId64, from->dim[d]);
  tesela__putf(sink, " = %" PRId64, to->dim[first]);
}

tesela_status tesela_report_advice_words(const tesela_xla_shape *from, const tesela_report_advice *advice,
                                         const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, from, advice, to);
  tesela__sink sink;
  const tesela_xla_layout *layout = &advice->shape.layout;
  tesela__sink_init(&sink, to);
  if (advice->kind == TESELA_REPORT_ADVICE_MERGE) {
    put_merge(&sink, from, &advice->shape);
    return tesela__sink_finish(&sink, err);
  }
  bool same_order = tesela_xla_layout_equal(&from->layout, layout, TESELA_XLA_ORDER_ONLY);
  if (same_order)
    tesela__puts(&sink, "same order");
  else
    tesela__putf(&sink, "dim %" PRId32 " minor", layout->minor_to_major[0]);
  if (!same_order && layout->rank > 1)
    tesela__putf(&sink, ", dim %" PRId32 " next", layout->minor_to_major[1]);
  if (advice->kind == TESELA_REPORT_ADVICE_FORMAT) tesela__puts(&sink, ", other tiles");
  return tesela__sink_finish(&sink, err);
}
