/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - shared by the files of the layout core.
 */
#ifndef TESELA_SRC_LAYOUT_H
#define TESELA_SRC_LAYOUT_H

#include <tesela/layout.h>

#include "base/base.h"

/* Coordinates: dims 0 .. rank-1, then joins. */
enum { TESELA__MAX_COORDINATES = TESELA_MAX_RANK + TESELA_MAX_JOINS };

static inline int32_t tesela__n_coordinates(const tesela_layout *layout) {
  return layout->rank + layout->n_joins;
}

static inline int64_t tesela__coordinate_extent(const tesela_layout *layout, int32_t coordinate) {
  return coordinate < layout->rank ? layout->shape[coordinate]
                                   : layout->join[coordinate - layout->rank].extent;
}

/* The target of a digit as one number: axis a, or n_axes + join. */
static inline int32_t tesela__target(const tesela_layout *layout, const tesela_digit *digit) {
  return digit->axis >= 0 ? digit->axis : layout->n_axes + digit->join;
}

/* Active digits of one coordinate: first .. first+n-1, by decreasing step. */
typedef struct tesela__chain {
  int32_t first, n;
} tesela__chain;
tesela__chain tesela__chain_of(const tesela_layout *layout, int32_t coordinate);

/* Is the chain even: does every digit except the first fill the previous step exactly? */
bool tesela__chain_is_even(const tesela_layout *layout, tesela__chain chain);

/* Does any dim have extent 0? Then there is no element. */
bool tesela__is_empty(const tesela_layout *layout);

/* Values of all coordinates of an element and its places before any swizzle; no range check. `value` has room for
   all coordinates. */
void tesela__map(const tesela_layout *layout, const int64_t *index, int64_t *value, int64_t *place);

/* Compute a coordinate from its digits, the finest first; false: a value that no element has. */
bool tesela__put_together(const tesela_layout *layout, int32_t coordinate, const int64_t *q, int64_t *value);

/* Does a place (of a join: a value) belong to two values of the digits of a target? For strides that do not nest. */
typedef enum tesela__sharing {
  TESELA__PLACES_UNIQUE,
  TESELA__PLACES_SHARED,
  TESELA__PLACES_UNDECIDED
} tesela__sharing;
tesela__sharing tesela__places_shared(const tesela_layout *layout, int32_t target);

/* Two elements at one place of the only axis; false if none are found. O(digits) and the search. */
bool tesela__find_shared(const tesela_layout *layout, int64_t a[TESELA_MAX_RANK], int64_t b[TESELA_MAX_RANK],
                         int64_t *place);

/* Find the values q of the digits of an interleaved target, whose sum is `place`; false: not of an element. */
bool tesela__value_at(const tesela_layout *layout, int32_t target, int64_t place, int64_t *q);

/* The places on all axes after the swizzle, and before it; of a layout with one axis, the place alone. */
void tesela__swizzle_places(const tesela_layout *layout, int64_t *place);
void tesela__unswizzle_places(const tesela_layout *layout, int64_t *place);
int64_t tesela__swizzle(const tesela_layout *layout, int64_t place);

/* A shifted XOR stage on one place of 0 or more, as tesela_swizzle defines it. */
static inline int64_t tesela__xor(int32_t bits, int32_t base, int32_t shift, int64_t place) {
  int32_t from = shift < 0 ? base : base + shift, to = shift < 0 ? base - shift : base;
  return place ^ ((place >> from & (((int64_t)1 << bits) - 1)) << to);
}

/* The XOR of the images of the bits that are set. */
uint64_t tesela__sum_of_images(const uint64_t *image, uint64_t word);

/* An upper bound of the swizzled places on an axis for plain ones up to high[a] on each axis; or -1 without places. */
int64_t tesela__swizzled_high(const tesela_layout *layout, int32_t axis, const int64_t *high);

/* TESELA_E_INVALID for a finished layout, which cannot change. */
tesela_status tesela__check_open(const tesela_layout *layout, tesela_error *err);

/* The same, and TESELA_E_RANGE for an axis that does not exist. */
tesela_status tesela__check_axis(const tesela_layout *layout, int32_t axis, tesela_error *err);

/* The values of all active digits and coordinates at a place on each axis; false: padding. No checks. */
bool tesela__locate(const tesela_layout *layout, const int64_t *place, int64_t *q, int64_t *value);

/* The number of places, from the one of q and value (tesela__locate) on, whose elements continue along one dim by a
 * fixed step, without a carry. If no dim continues, it is 1 and *dim is -1. */
int64_t tesela__places_without_carry(const tesela_layout *layout, const int64_t *q, const int64_t *value,
                                     int32_t *dim, int64_t *step);

/* TESELA_E_RANGE for a place outside an axis. */
tesela_status tesela__check_place(const tesela_layout *layout, const int64_t *place, tesela_error *err);

/* TESELA_E_RANGE for an index outside a shape. */
tesela_status tesela__check_index(int32_t rank, const int64_t *shape, const int64_t *index,
                                  tesela_error *err);

/* TESELA_E_INVALID for a layout that is not finished. */
tesela_status tesela__check_finished(const tesela_layout *layout, tesela_error *err);

/* Check that the places of a layout can be walked: finished, one axis, no swizzle; `unique`: and each place has one
 * element (no replicas, no overlap). `what` names the operation in the message. */
tesela_status tesela__check_plain(const tesela_layout *layout, bool unique, const char *what,
                                  tesela_error *err);

/* ---- verdict.c ---- */

/* An answer that starts as TESELA_EXACT, with the layout's rank, shape and places. TESELA_E_OVERFLOW. */
tesela_status tesela__start_answer(const tesela_layout *layout, tesela_translation *answer,
                                   tesela_error *err);
/* TESELA_IMPOSSIBLE with its reason; the caller sets the contradiction. Always TESELA_OK. */
tesela_status tesela__impossible(tesela_translation *answer, const char *format, ...) TESELA_PRINTF(2, 3);

/* ---- scan.c ---- */

/* A scan that stands at the first place of a run of elements goes on after that run, or after many that have no padding between them:
 * for who looks for padding. scan->index is right again where the next run begins. */
void tesela__scan_pass_elements(tesela_scan *scan);

#endif
