/* SPDX-License-Identifier: Apache-2.0 */
/*
 * to_strided.c - the strides of a layout, if it has them.
 *
 * The strides can only be the distances from element 0 to its neighbours. Whether all other elements follow is a comparison.
 */
#include <stdio.h>

#include "layout/layout.h"

/* The distance from element 0 to the next one along each dim; 0 along dims without one. */
static void distances(const tesela_layout *layout, int64_t *strides, int64_t *offset) {
  int64_t index[TESELA_MAX_RANK] = {0}, place;
  (void)tesela_layout_place_of(layout, index, offset, NULL); /* the layout has elements */
  for (int32_t d = 0; d < layout->rank; d++) {
    strides[d] = 0;
    if (layout->shape[d] < 2) continue;
    index[d] = 1;
    (void)tesela_layout_place_of(layout, index, &place, NULL);
    index[d] = 0;
    strides[d] = place - *offset; /* both are 0 or more */
  }
}

static tesela_status not_strided(const tesela_layout *layout, const int64_t *strides, int64_t offset,
                                 const tesela_difference *difference, tesela_error *err) {
  int64_t place = 0, wanted = offset;
  char text[128] = "";
  size_t used = 0;
  bool fits = true;
  for (int32_t d = 0; d < layout->rank; d++) {
    int64_t step = 0;
    fits = fits && tesela__mul(strides[d], difference->index[d], &step) && tesela__add(wanted, step, &wanted);
    if (used < sizeof text)
      used +=
          (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId64, d ? "," : "", difference->index[d]);
  }
  (void)tesela_layout_place_of(layout, difference->index, &place, NULL);
  if (!fits || used >= sizeof text)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "no strides give the places of this layout");
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                      "no strides: element (%s) is at place %" PRId64
                      "; the elements before it give %" PRId64,
                      text, place, wanted);
}

tesela_status tesela_layout_to_strided(const tesela_layout *layout, int64_t *strides, int64_t *offset,
                                       tesela_error *err) {
  TESELA__NEED(err, layout, offset);
  TESELA__NEED_LIST(err, strides, layout->rank);
  tesela_layout strided;
  tesela_difference difference;
  int64_t found[TESELA_MAX_RANK] = {0}, start = 0;
  tesela_status status = tesela__check_finished(layout, err);
  if (status != TESELA_OK) return status;
  if (layout->n_axes != 1)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "strides need one axis; the layout has %" PRId32,
                        layout->n_axes);
  if (tesela_layout_copies(layout) != 1 && !tesela__is_empty(layout))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "strides give each element one place; the layout has %" PRId64,
                        tesela_layout_copies(layout));
  if (tesela__is_empty(layout)) {
    start = layout->axis[0].offset;
  } else {
    distances(layout, found, &start);
    status = tesela_layout_strided(&strided, layout->dtype, layout->bits, layout->rank, layout->shape, found,
                                   start, NULL);
    if (status == TESELA_OK) {
      memcpy(strided.axis[0].name, layout->axis[0].name, sizeof strided.axis[0].name);
      status = tesela_layout_compare(layout, &strided, &difference, err);
      if (status == TESELA_OK && !difference.same) return not_strided(layout, found, start, &difference, err);
    } else { /* the last element would be outside of all places */
      status = tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "no strides give the places of this layout");
    }
    if (status != TESELA_OK) return status;
  }
  for (int32_t d = 0; d < layout->rank; d++) strides[d] = found[d];
  *offset = start;
  return TESELA_OK;
}
