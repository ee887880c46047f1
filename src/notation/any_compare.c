/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any_compare.c - layouts of any two notations compared: names of axes and missing widths are not differences.
 */
#include <stdio.h>

#include "base/base.h"
#include "layout/layout.h"
#include "notation/any.h"

/* Notations without types have elements of 8 bits. */
static bool lacks_width(const tesela_layout *layout) {
  return layout->dtype == TESELA_DTYPE_NONE && layout->bits == 8;
}

/* Threads and local ids are of one block; layouts of several blocks keep their axes. */
static tesela_status as_threads(const tesela_layout *layout, tesela_layout *out, tesela_error *err) {
  for (int32_t a = 0; a < layout->n_axes; a++)
    if (strcmp(layout->axis[a].name, "block") == 0 && layout->axis[a].extent > 1) {
      *out = *layout;
      return TESELA_OK;
    }
  return tesela__axes_to_threads(layout, out, err);
}

tesela_status tesela__compare_by_meaning(const tesela_layout *a, const tesela_layout *b,
                                         tesela_difference *difference, tesela_error *err) {
  tesela_layout left, right;
  tesela_status status = as_threads(a, &left, err);
  if (status == TESELA_OK) status = as_threads(b, &right, err);
  if (status != TESELA_OK) return status;
  if (left.n_axes == 1 && right.n_axes == 1)
    memcpy(right.axis[0].name, left.axis[0].name, sizeof right.axis[0].name);
  if (lacks_width(&left)) left.bits = right.bits;
  if (lacks_width(&right)) right.bits = left.bits;
  return tesela_layout_compare(&left, &right, difference, err);
}

tesela_status tesela_any_compare(const tesela_any_layout *a, const tesela_any_layout *b,
                                 tesela_difference *difference, tesela_error *err) {
  TESELA__NEED(err, a, b, difference);
  tesela_layout left, right;
  tesela_status status = tesela_any_to_layout(a, &left, err);
  if (status == TESELA_OK) status = tesela_any_to_layout(b, &right, err);
  if (status != TESELA_OK) return status;
  if ((left.n_axes == 1) != (right.n_axes == 1)) {
    *difference = (tesela_difference){.same = false};
    (void)snprintf(difference->reason, sizeof difference->reason, "a is %s, b %s", tesela_kind_words(a->kind),
                   tesela_kind_words(b->kind));
    return TESELA_OK;
  }
  return tesela__compare_by_meaning(&left, &right, difference, err);
}
