/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_numpy_write.c - a layout in NumPy: the buffer from the array where padding, reshape and transpose make it, else the places.
 *
 *   np.pad(x, ((0, 1), (0, 1))).reshape(2, 2, 3, 2).transpose(0, 2, 1, 3).ravel()
 *   (lambda d0, d1: (64 * d0 + d1) ^ 8 * d0)(*np.indices((8, 64)))
 */
#include "layout/layout.h"
#include "notation/index/index.h"

enum { NUMPY_DIMS = 32 };

/* The digits by dim and decreasing step, which is their order in the layout, and by decreasing stride. */
typedef struct numpy_steps {
  int32_t n, by_stride[TESELA_MAX_DIGITS];
  int64_t extent[TESELA_MAX_DIGITS]; /* of each digit, padding included */
  int64_t padded[TESELA_MAX_RANK];
} numpy_steps;

/* Is the digit the first of its dim? Padding of a dim makes only that one larger. */
static bool numpy_is_top(const tesela_layout *form, int32_t i) {
  return tesela__chain_of(form, form->digit[i].source).first == i;
}

/* Do the digits have the places as row-major order, with padding at the ends of dims? */
static bool numpy_steps_of(const tesela_layout *form, numpy_steps *s) {
  int64_t stride = 1;
  s->n = form->n_active;
  if (form->n_axes != 1 || form->n_joins > 0 || form->swizzle.n > 0 || form->axis[0].offset != 0 ||
      form->n_mapped < form->n_active || s->n > NUMPY_DIMS || form->rank > NUMPY_DIMS ||
      tesela__is_empty(form))
    return false;
  for (int32_t d = 0; d < form->rank; d++) s->padded[d] = 1;
  for (int32_t i = 0; i < s->n; i++) {
    tesela__chain chain = tesela__chain_of(form, form->digit[i].source);
    bool last = i + 1 == chain.first + chain.n;
    if (!tesela__chain_is_even(form, chain) || (last && form->digit[i].step != 1)) return false;
    s->extent[i] = form->digit[i].extent;
    s->by_stride[i] = form->by_place[i];
  }
  for (int32_t k = s->n - 1; k >= 0; k--) {
    const tesela_digit *digit = &form->digit[s->by_stride[k]];
    if (digit->stride < stride) return false;
    if (digit->stride > stride) { /* the dim below is padded up to here */
      int32_t below = k + 1 < s->n ? s->by_stride[k + 1] : -1;
      if (below < 0 || !numpy_is_top(form, below) || digit->stride % form->digit[below].stride != 0)
        return false;
      s->extent[below] = digit->stride / form->digit[below].stride;
    }
    if (!tesela__mul(digit->stride, digit->extent, &stride)) return false;
  }
  for (int32_t i = 0; i < s->n; i++)
    if (numpy_is_top(form, i) &&
        !tesela__mul(s->extent[i], form->digit[i].step, &s->padded[form->digit[i].source]))
      return false;
  for (int32_t d = 0; d < form->rank; d++)
    if (s->padded[d] < form->shape[d]) return false; /* elements that share their places */
  return true;
}

static void numpy_put_steps(tesela__sink *sink, const tesela_layout *form, const numpy_steps *s) {
  bool pads = false, same = s->n == form->rank, sorted = true;
  for (int32_t d = 0; d < form->rank; d++) pads = pads || s->padded[d] != form->shape[d];
  for (int32_t i = 0; i < s->n; i++) {
    same = same && s->extent[i] == s->padded[form->digit[i].source];
    sorted = sorted && s->by_stride[i] == i;
  }
  tesela__puts(sink, pads ? "np.pad(x, (" : "x");
  for (int32_t d = 0; d < form->rank && pads; d++)
    tesela__putf(sink, "%s(0, %" PRId64 ")", d ? ", " : "", s->padded[d] - form->shape[d]);
  if (pads) tesela__puts(sink, form->rank == 1 ? ",))" : "))");
  if (!same && !sorted) {
    tesela__puts(sink, ".reshape(");
    for (int32_t i = 0; i < s->n; i++) tesela__putf(sink, "%s%" PRId64, i ? ", " : "", s->extent[i]);
    tesela__putc(sink, ')');
  }
  if (!sorted) {
    tesela__puts(sink, ".transpose(");
    for (int32_t i = 0; i < s->n; i++) tesela__putf(sink, "%s%" PRId32, i ? ", " : "", s->by_stride[i]);
    tesela__putc(sink, ')');
  }
  tesela__puts(sink, ".ravel()");
}

static void numpy_put_places(tesela__sink *sink, const tesela_layout *form) {
  tesela__puts(sink, "(lambda ");
  tesela__index_put_dims(sink, form);
  tesela__puts(sink, form->n_axes > 1 ? ": (" : ": ");
  for (int32_t a = 0; a < form->n_axes; a++) {
    if (a > 0) tesela__puts(sink, ", ");
    tesela__put_place_on(sink, &tesela__python_spelling, form, a);
  }
  tesela__puts(sink, form->n_axes > 1 ? "))(*np.indices((" : ")(*np.indices((");
  for (int32_t d = 0; d < form->rank; d++) tesela__putf(sink, "%s%" PRId64, d ? ", " : "", form->shape[d]);
  tesela__puts(sink, form->rank == 1 ? ",)))" : ")))");
}

tesela_status tesela__numpy_write(const tesela_layout *layout, const tesela_writer *to,
                                  tesela_translation *answer, tesela_error *err) {
  tesela_layout form;
  numpy_steps steps;
  tesela__sink sink;
  tesela_status status = tesela__index_expressible(layout, &form, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  tesela__sink_init(&sink, to);
  if (numpy_steps_of(&form, &steps))
    numpy_put_steps(&sink, &form, &steps);
  else
    numpy_put_places(&sink, &form);
  return tesela__sink_finish(&sink, err);
}
