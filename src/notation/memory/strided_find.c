/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strided_find.c - the strides of a layout for a text, or the first element that contradicts them; and the valid part of a larger text.
 */
#include "base/base.h"
#include "layout/layout.h"
#include "notation/memory/memory.h"

/* Dims of extent 0 or 1 have any stride: the one of a row-major array. */
static void strided_fill(const tesela_layout *layout, int64_t *strides) {
  for (int32_t d = layout->rank - 1; d >= 0; d--) {
    if (layout->shape[d] > 1 && !tesela__is_empty(layout)) continue;
    int64_t below = d + 1 < layout->rank ? strides[d + 1] : 1;
    int64_t extent = d + 1 < layout->rank ? tesela__max(layout->shape[d + 1], 1) : 1;
    if (below < 0 || !tesela__mul(below, extent, &strides[d])) strides[d] = 1;
  }
}

/* Strides, and the place of element 0. */
typedef struct strided_guess {
  const tesela_layout *layout;
  int64_t stride[TESELA_MAX_RANK], offset;
} strided_guess;

/* Are all elements of a part where the strides put them? The part is index[0 .. dim-1], then the values from `begin` to `end` of dim, then all
 * of the later dims. */
static tesela_status strided_agree(const strided_guess *guess, const int64_t *index, int32_t dim,
                                   int64_t begin, int64_t end, bool *agree, tesela_error *err) {
  tesela_layout part = *guess->layout, strided;
  tesela_difference difference = {.same = false};
  int64_t offset = guess->offset, step;
  tesela_status status = TESELA_OK;
  *agree = false;
  for (int32_t d = 0; d <= dim && status == TESELA_OK; d++) {
    int64_t first = d < dim ? index[d] : begin, n = d < dim ? 1 : end - begin;
    if (!tesela__mul(first, guess->stride[d], &step) || !tesela__add(offset, step, &offset)) return TESELA_OK;
    if (n != part.shape[d]) status = tesela_layout_slice(&part, d, first, n, 1, &part, err);
  }
  if (status != TESELA_OK) return status;
  if (tesela_layout_strided(&strided, part.dtype, part.bits, part.rank, part.shape, guess->stride, offset,
                            NULL) != TESELA_OK)
    return TESELA_OK; /* a place below 0, or beyond 64 bits */
  memcpy(strided.axis[0].name, part.axis[0].name, sizeof strided.axis[0].name);
  status = tesela_layout_compare(&part, &strided, &difference, err);
  *agree = status == TESELA_OK && difference.same;
  return status;
}

/* The first element that is not where the distances of its neighbours put it. */
static tesela_status strided_contradict(const tesela_layout *layout, tesela_translation *answer,
                                        tesela_error *err) {
  strided_guess guess = {.layout = layout};
  int64_t *index = answer->index, place = 0;
  tesela_status status = TESELA_OK;
  char text[64];
  memset(index, 0, sizeof answer->index);
  (void)tesela_layout_place_of(layout, index, &guess.offset, NULL);
  for (int32_t d = 0; d < layout->rank; d++) {
    if (layout->shape[d] < 2) continue;
    index[d] = 1;
    (void)tesela_layout_place_of(layout, index, &place, NULL);
    index[d] = 0;
    guess.stride[d] = place - guess.offset;
  }
  answer->expected = guess.offset;
  for (int32_t d = 0; d < layout->rank && status == TESELA_OK; d++) {
    int64_t good = 0, bad = layout->shape[d]; /* values that agree */
    while (bad - good > 1 && status == TESELA_OK) {
      bool agree;
      int64_t middle = good + (bad - good) / 2;
      status = strided_agree(&guess, index, d, good, middle, &agree, err);
      *(agree ? &good : &bad) = middle;
    }
    index[d] = good;
    answer->expected += good * guess.stride[d];
  }
  if (status != TESELA_OK) return status;
  answer->contradiction = TESELA_CONTRADICTION_PLACE;
  (void)tesela_layout_place_of(layout, index, &answer->place, NULL);
  return tesela__impossible(answer,
                            "no strides: element %s is at %" PRId64 "; the elements before it give %" PRId64,
                            tesela__index_words(index, layout->rank, text), answer->place, answer->expected);
}

tesela_status tesela__strided_find(const tesela_layout *layout, int64_t *strides, int64_t *offset,
                                   tesela_translation *answer, tesela_error *err) {
  if (layout->n_axes != 1)
    return tesela__impossible(answer, "strides place elements on one axis; the layout has %" PRId32,
                              layout->n_axes);
  if (!tesela__is_empty(layout) && tesela_layout_copies(layout) != 1)
    return tesela__impossible(answer, "strides give each element one place; the layout gives it %" PRId64,
                              tesela_layout_copies(layout));
  tesela_error why;
  tesela_status status = tesela_layout_to_strided(layout, strides, offset, &why);
  if (status == TESELA_OK) strided_fill(layout, strides);
  if (status != TESELA_E_UNSUPPORTED) {
    if (status != TESELA_OK && err) *err = why;
    return status;
  }
  return strided_contradict(layout, answer, err);
}

tesela_status tesela__memory_valid(const tesela_layout_read_options *options, tesela_layout *layout,
                                   tesela_error *err) {
  const tesela_xla_shape *array = options->array;
  tesela_status status = TESELA_OK;
  if (!array) return TESELA_OK;
  if (array->rank != layout->rank)
    return tesela__fail(err, TESELA_E_MISMATCH, 0, "the text has %" PRId32 " dims; the array has %" PRId32,
                        layout->rank, array->rank);
  for (int32_t d = 0; d < layout->rank && status == TESELA_OK; d++) {
    if (array->dim[d] > layout->shape[d])
      return tesela__fail(err, TESELA_E_MISMATCH, 0,
                          "dim %" PRId32 " of the array is %" PRId64 "; the text has %" PRId64, d,
                          array->dim[d], layout->shape[d]);
    if (array->dim[d] < layout->shape[d])
      status = tesela_layout_slice(layout, d, 0, array->dim[d], 1, layout, err);
  }
  if (array->dtype != TESELA_DTYPE_NONE) layout->dtype = array->dtype;
  return status;
}
