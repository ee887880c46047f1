/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - iteration: all elements in logical order, all places in physical order; and indices as plain numbers.
 *
 * Walk and scan are plain values that advance by additions: one addition inside a run, a carry between runs, no
 * division.
 *
 *   tesela_walk walk;
 *   if (tesela_walk_begin(&walk, &layout, err) == TESELA_OK)
 *     for (; walk.more; tesela_walk_next(&walk)) use(walk.index, walk.place);
 */
#ifndef TESELA_WALK_H
#define TESELA_WALK_H

#include <tesela/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

/// All elements in row-major order of the shape, with their place on axis 0 (the first copy).
typedef struct tesela_walk {
  bool more;                      ///< index and place are valid
  int64_t place;                  ///< place of the element
  int64_t index[TESELA_MAX_RANK]; ///< the element
  /* The rest is the walk's own. */
  int64_t *moving;                  ///< the coordinate that moves in a run
  int64_t stride;                   ///< places between neighbours of the run
  int64_t left;                     ///< elements of the run after this one
  int64_t run;                      ///< elements of the run
  const tesela_layout *layout;      ///< the caller's, must outlive the walk
  int32_t inner;                    ///< last dim of an extent above 1, -1: none
  bool general;                     ///< joins or uneven steps: a run starts with a full mapping
  int64_t share[TESELA_MAX_RANK];   ///< what each dim adds to place
  int64_t count[TESELA_MAX_DIGITS]; ///< value of each digit at the start of the run
  uint8_t first[TESELA_MAX_RANK], n[TESELA_MAX_RANK]; ///< the digits of each dim
} tesela_walk;

/// Start at element 0. TESELA_E_UNSUPPORTED if the layout has a swizzle or not exactly one axis. `walk` must not
/// be copied (it points into itself).
TESELA_API tesela_status tesela_walk_begin(tesela_walk *walk, const tesela_layout *layout, tesela_error *err);

/// Out of the run: carries. Called by tesela_walk_next.
TESELA_API void tesela_walk_carry(tesela_walk *walk);

/// The next element; more is false after the last. O(1) amortised.
static inline void tesela_walk_next(tesela_walk *walk) {
  if (walk->left > 0) {
    walk->left--;
    walk->place += walk->stride;
    ++*walk->moving;
  } else {
    tesela_walk_carry(walk);
  }
}

/// All places of axis 0 in increasing order, with the element there or padding.
typedef struct tesela_scan {
  bool more;                      ///< place (and index, unless padding) are valid
  bool padding;                   ///< no element here; index is not meaningful
  int64_t place;                  ///< 0, 1, 2, ...
  int64_t index[TESELA_MAX_RANK]; ///< the element
  /* The rest is the scan's own. */
  int64_t *moving;             ///< the coordinate that moves in a run
  int64_t step;                ///< by how much
  int64_t left;                ///< places of the run after this one
  int64_t pending;             ///< padded places after the run, of the same digit
  int64_t start;               ///< the moving coordinate at the start of the run
  int64_t room;                ///< the extent of the moving coordinate
  int64_t length;              ///< places of a whole run
  int64_t none;                ///< what moves when no coordinate does: a hole's value
  const tesela_layout *layout; ///< the caller's, must outlive the scan
  int32_t n_bad;               ///< coordinates at or beyond their extent, and holes not at 0
  int32_t n_levels;
  bool general; ///< joins, uneven steps or gaps: a run starts with a full inverse
  struct {
    int64_t *at;                   ///< the coordinate it moves, or a hole's value
    int64_t count, extent, step;   ///< value now, values, what one adds to *at
    int64_t room;                  ///< *at below this is no padding
  } level[TESELA_MAX_DIGITS];      ///< digits after the moving one, fastest first
  int64_t hole[TESELA_MAX_DIGITS]; ///< values of the holes
} tesela_scan;

/// Start at place 0. TESELA_E_UNSUPPORTED if the layout has a swizzle, replicas, overlap or not exactly one axis.
/// `scan` must not be copied (it points into itself).
TESELA_API tesela_status tesela_scan_begin(tesela_scan *scan, const tesela_layout *layout, tesela_error *err);

/// Out of the run: carries. Called by tesela_scan_next.
TESELA_API void tesela_scan_carry(tesela_scan *scan);

/// The next place; more is false after the last. O(1) amortised.
static inline void tesela_scan_next(tesela_scan *scan) {
  if (scan->left > 0) {
    scan->left--;
    scan->place++;
    *scan->moving += scan->step;
  } else {
    tesela_scan_carry(scan);
  }
}

/* ---- indices without a layout ----------------------------------------------------------------------------- */

/// Number of an element when all are counted in one order of the dims, the last one fastest.
///
/// Example: shape (3,5), index (2,3): 13. With minor_to_major {0,1} the first dim is fastest: 11.
///
/// @param shape           `rank` extents; 0 <= index[d] < shape[d]
/// @param minor_to_major  the dims, fastest first, as XLA lists them; NULL: {rank-1, ..., 0}
/// @return TESELA_OK; TESELA_E_RANGE for a coordinate outside the shape; TESELA_E_INVALID if the order is no
///         permutation; TESELA_E_LIMIT for rank > TESELA_MAX_RANK; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_index_to_number(int32_t rank, const int64_t *shape,
                                                const int32_t *minor_to_major, const int64_t *index,
                                                int64_t *number, tesela_error *err);

/// The element with a number, 0 <= number < product of the shape. Statuses as above.
TESELA_API tesela_status tesela_index_from_number(int32_t rank, const int64_t *shape,
                                                  const int32_t *minor_to_major, int64_t number,
                                                  int64_t *index, tesela_error *err);

/// The next index in row-major order; false after the last one, and the index is all 0 then.
///
/// Example: in shape (3,5) (1,4) becomes (2,0), and (2,4) becomes (0,0) and the answer is false.
TESELA_API bool tesela_index_next(int32_t rank, const int64_t *shape, int64_t *index);

/// Is 0 <= index[d] < shape[d] for every d?
TESELA_API bool tesela_index_in_bounds(int32_t rank, const int64_t *shape, const int64_t *index);

/// -1, 0 or 1: does `a` stand before, at or behind `b` in row-major order?
TESELA_API int tesela_index_compare(int32_t rank, const int64_t *a, const int64_t *b);

#ifdef __cplusplus
}
#endif
#endif
