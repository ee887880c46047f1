/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - shared by the files on views of device layouts.
 *
 *   device_view.c       public functions: checks, feeds
 *   view_form.c  view index -> device place, as a layout
 *   view_lane.c  the index that is the lane, and an operand's relation to the sticks of an iteration
 *   view_test.c  the same by samples, and by the comparison of layouts
 */
#ifndef TESELA_SRC_VIEW_H
#define TESELA_SRC_VIEW_H

#include <tesela/device.h>

#include "base/base.h"
#include "layout/layout.h"

/* Host dims of a base by decreasing original stride, without dims of extent 1. */
typedef struct tesela__view_storage {
  int32_t n, dim[TESELA_MAX_RANK];
  int64_t stride[TESELA_MAX_RANK]; /* of the base's host dims, in this order */
  int64_t span; /* storage from the first to the last element of the base, in elements; 0: no elements */
  bool dense;   /* every offset below span is an element */
} tesela__view_storage;

/* The layout of a view inside storage 0 .. span-1; TESELA_E_INVALID if it reaches a gap. view_form.c */
tesela_status tesela__view_layout(tesela_layout *out, const tesela_device_layout *base,
                                  const tesela__view_storage *storage, const tesela_host_view *view,
                                  tesela_error *err);

/* Are the sticks of a layout contiguous, and does each begin at a multiple of lanes? view_lane.c */
bool tesela__view_sticks_aligned(const tesela_device_layout *base);

/* The lane verdict: which index equals place mod lanes; *dim and *offset as in tesela_device_view. view_lane.c */
tesela_lane tesela__view_lane(const tesela_layout *places, int64_t lanes, int32_t *dim, int64_t *offset);

typedef enum tesela__view_answer {
  TESELA__VIEW_NO,
  TESELA__VIEW_YES,
  TESELA__VIEW_UNDECIDED
} tesela__view_answer;

/* Is place mod lanes = (index[dim] + offset) mod lanes for all indices (dim -1: = offset)? view_test.c */
tesela__view_answer tesela__view_lane_is(const tesela_layout *places, int64_t lanes, int32_t dim,
                                         int64_t offset);

/* Is place(i) = place(i with index[dim] rounded down to a multiple of r) + slope * (index[dim] mod r)? slope 0 or 1.
   view_test.c */
tesela__view_answer tesela__view_steady(const tesela_layout *places, int32_t dim, int64_t r, int64_t slope);

#endif
