/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_view.h - where the elements of a strided view lie on the device.
 *
 * A view (sizes, strides, offset) names elements of a host tensor; on the device nothing moves. Whether an operator can use
 * it depends on its *lanes*: which element of a stick each index reads. Offsets are judged on the device: x[1:] of
 * f16[4,100] starts at host offset 100, which is 36 mod 64, but on the device its rows start on sticks.
 *
 *   base f16[6,100], sticks along dim 1; view [4,100], strides (100,1), offset 200
 *     view dim 0 feeds the rows (stride 64), dim 1 feeds blocks (stride 384) and lanes (stride 1): clean, lanes are view dim 1
 *
 * Source: RFC, sections on views and offsets; device.md a5 of the reference.
 */
#ifndef TESELA_DEVICE_VIEW_H
#define TESELA_DEVICE_VIEW_H

#include <tesela/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* symbol, value, name, meaning */
#define TESELA_LANE_MAP(X)                                                                             \
  X(TESELA_LANE_CLEAN, 0, "clean", "the lane is one view index mod lanes, or always 0")                \
  X(TESELA_LANE_OFFSET, 1, "offset", "as clean, but shifted by a constant: data must move before use") \
  X(TESELA_LANE_MIXED, 2, "mixed",                                                                     \
    "the lane is another function of the indices: no layout with sticks says it")                      \
  X(TESELA_LANE_UNKNOWN, 3, "unknown", "could not be decided within a fixed effort")

typedef enum tesela_lane {
#define TESELA__ROW(symbol, value, name, text) symbol = value,
  TESELA_LANE_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_lane;

/// Name of a verdict, "clean"; NULL for a number that is none. Static text.
TESELA_API const char *tesela_lane_name(tesela_lane lane);

/// A view of a base tensor; strides and offset count host elements of the base's storage.
typedef struct tesela_host_view {
  int32_t rank;
  int64_t offset;
  int64_t shape[TESELA_MAX_RANK], stride[TESELA_MAX_RANK];
} tesela_host_view;

/// What one view dim feeds: its index contributes digit * stride places, digit = (index div step) mod extent. With
/// `plain` false the contribution depends on other indices (carries) and is not listed.
typedef struct tesela_view_feed {
  int32_t view_dim;
  int64_t step, extent, stride;
} tesela_view_feed;

typedef struct tesela_device_view {
  tesela_layout layout; ///< view index -> device place, axis "memory": every question of layout.h
  tesela_lane lane;
  int32_t lane_dim;    ///< clean or offset: the view dim in the lanes; -1: the lane is constant
  int64_t lane_offset; ///< offset: the constant, 1 .. lanes-1
  int64_t first;       ///< place of index 0; -1 for an empty view
  bool plain;          ///< every place is a sum over `feed`, plus first
  int32_t n_feeds;
  tesela_view_feed feed[TESELA_MAX_DIGITS]; ///< by view dim, then decreasing step
} tesela_device_view;

/// Device coordinates of a view.
///
/// Example: base f16[32,128] in sticks along dim 1, view [128,32] with strides (1,128) (the transpose): clean, lane_dim 0.
/// Example: base f16[6,192], view [6,64], strides (192,1): offset 64: clean, lane_dim 1; offset 40: offset, lane_offset 40.
///
/// @param base_strides  of the base tensor as it was created; NULL: row-major. They must let an offset tell the element:
///                      by decreasing stride, each is a multiple of the next and at least the room below it.
/// The lane is unknown where sticks of the base are not contiguous or do not start at multiples of the lanes, and for some
/// large views of rows that are no whole sticks, entered inside a row and read as one dim.
///
/// @return TESELA_OK; TESELA_E_RANGE for a view that reaches outside the base's elements, with the smallest index that does;
///         TESELA_E_INVALID for a view that reaches a gap between them, with the first element that does; TESELA_E_UNSUPPORTED
///         for base strides that overlap or are below 1, and for a view of a base with gaps of which it cannot be said in a
///         fixed effort that it reaches elements only; TESELA_E_LIMIT; TESELA_E_OVERFLOW.
/// No allocation; about half a microsecond, some milliseconds for the odd large view that only a comparison of layouts
/// decides; about 50 KiB of stack. Any thread.
TESELA_API tesela_status tesela_device_view_of(tesela_device_view *out, const tesela_device_layout *base,
                                               const int64_t *base_strides, const tesela_host_view *view,
                                               tesela_error *err);

/// How an operand stands to the sticks of an iteration (propagate.h says what for).
typedef enum tesela_agreement {
  TESELA_AGREE_ALIGNED, ///< its lane is index[dim] mod lanes, and nothing else changes inside a stick of dim
  TESELA_AGREE_BROADCAST, ///< always lane 0, and one place for all of a stick of dim
  TESELA_AGREE_NOT,       ///< neither
  TESELA_AGREE_UNKNOWN,   ///< could not be decided
} tesela_agreement;

/// How does an operand's view stand to sticks of `lanes` elements along view dim `dim`? `dim` TESELA_STICK_SPARSE: each index
/// is a stick of its own: BROADCAST if the lane is always 0, else NOT. If both hold (an extent of 1), ALIGNED.
///
/// Example: bias f16[4096] in sticks, expanded to [512,4096]: ALIGNED along dim 1, NOT along dim 0, which its lanes do not follow.
///
/// @param view   of `base`, from tesela_device_view_of
/// @param dim    of the view; another number is answered with NOT
/// @param lanes  of the iteration's sticks; ALIGNED is judged by the operand's own lanes
/// Some nanoseconds if view->plain; else as tesela_device_view_of.
TESELA_API tesela_agreement tesela_device_view_agrees(const tesela_device_view *view,
                                                      const tesela_device_layout *base, int32_t dim,
                                                      int64_t lanes);

#ifdef __cplusplus
}
#endif
#endif
