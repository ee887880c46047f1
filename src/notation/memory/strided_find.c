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

/* The first element that is not where the distances of its neighbours put it. */
static tesela_status strided_contradict(const tesela_layout *layout, tesela_translation *answer,
                                        tesela_error *err) {
  int64_t strides[TESELA_MAX_RANK] = {0}, offset = 0, place = 0, index[TESELA_MAX_RANK] = {0};
  tesela_layout strided;
  tesela_difference difference;
  char text[64];
  (void)tesela_layout_place_of(layout, index, &offset, NULL);
  for (int32_t d = 0; d < layout->rank; d++) {
    if (layout->shape[d] < 2) continue;
    index[d] = 1;
    (void)tesela_layout_place_of(layout, index, &place, NULL);
    index[d] = 0;
    strides[d] = place - offset;
  }
  tesela_status status = tesela_layout_strided(&strided, layout->dtype, layout->bits, layout->rank,
                                               layout->shape, strides, offset, NULL);
  if (status != TESELA_OK) return tesela__impossible(answer, "no strides give the places of this layout");
  memcpy(strided.axis[0].name, layout->axis[0].name, sizeof strided.axis[0].name);
  status = tesela_layout_compare(layout, &strided, &difference, err);
  if (status != TESELA_OK) return status;
  if (!difference.have_index) return tesela__impossible(answer, "no strides give the places of this layout");
  answer->contradiction = TESELA_CONTRADICTION_PLACE;
  memcpy(answer->index, difference.index, sizeof answer->index);
  (void)tesela_layout_place_of(layout, answer->index, &answer->place, NULL);
  (void)tesela_layout_place_of(&strided, answer->index, &answer->expected, NULL);
  return tesela__impossible(
      answer, "no strides: element %s is at %" PRId64 "; the elements before it give %" PRId64,
      tesela__blocks_index(answer->index, layout->rank, text), answer->place, answer->expected);
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
