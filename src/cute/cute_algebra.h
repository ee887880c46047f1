/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_algebra.h - shared by the files of the CuTe algebra.
 *
 *   cute_tree.c        modes: taken out of a layout, put together; coalesce, filter, flatten
 *   cute_values.c      a layout as a function: slopes and floors
 *   cute_fit.c         extents and strides for a function, or the first coordinate that contradicts
 *   cute_compose.c     composition
 *   cute_complement.c  complement, right inverse
 *   cute_left.c        left inverse
 *   cute_divide.c      divisions and products by a layout or a tiler
 *   cute_tuple.c       coordinates, slices, shape_div
 */
#ifndef TESELA_CUTE_ALGEBRA_H
#define TESELA_CUTE_ALGEBRA_H

#include <tesela/cute.h>

#include "base/base.h"

/* Values above this are refused with TESELA_E_OVERFLOW, so sums of a few of them fit. */
#define TESELA__CUTE_MOST ((int64_t)1 << 60)

static inline bool tesela__cute_is_tuple(const tesela_cute *cute) {
  return cute->n == 0 || cute->open[0] > 0;
}

/* ---- cute_tree.c ---- */

/* Brackets nest, numbers fit, strides are in places: an argument of the algebra. `swizzle`: it may have a swizzle. */
tesela_status tesela__cute_plain(const tesela_cute *cute, bool swizzle, const char *what, tesela_error *err);
/* The first leaf of each top mode, and n after the last. Returns the number of modes. */
int32_t tesela__cute_top_modes(const tesela_cute *cute, int32_t first[TESELA_CUTE_LEAVES + 1]);
/* Mode k as a layout, without offset and swizzle. */
void tesela__cute_mode(const tesela_cute *cute, int32_t k, tesela_cute *out);
/* Put a layout after the modes of *out, as one mode; false: more leaves or brackets than a value has. The brackets of *out come last:
 * tesela__cute_close. */
bool tesela__cute_append(tesela_cute *out, const tesela_cute *mode);
/* The same for each mode of a layout. */
bool tesela__cute_splice(tesela_cute *out, const tesela_cute *modes);
bool tesela__cute_close(tesela_cute *out);
tesela_status tesela__cute_too_many(tesela_error *err);
/* A leaf, rank 0. */
void tesela__cute_leaf(tesela_cute *out, int64_t extent, int64_t stride);
/* A leaf after the others of a list without brackets; merged with the last one if that is the same function. */
bool tesela__cute_join_leaf(tesela_cute *out, int64_t extent, int64_t stride);
/* Brackets around a list of leaves made so: none around one leaf; 1:0 for none. */
void tesela__cute_close_leaves(tesela_cute *out);

/* ---- cute_values.c ---- */

/* A layout as a function of the flat coordinate: offset + slope * x + sum of jump[k] * floor(x / period[k]), which continues beyond the
 * layout with its last mode. Periods increase, each divides the next. */
typedef struct tesela__cute_function {
  int64_t offset, slope;
  int32_t n;
  int64_t period[TESELA_CUTE_LEAVES], jump[TESELA_CUTE_LEAVES];
} tesela__cute_function;

/* Without floors whose period is above `most`. */
tesela_status tesela__cute_function_of(const tesela_cute *cute, int64_t most, tesela__cute_function *f,
                                       tesela_error *err);
/* The values at 0 and below or above it that a layout reaches, offset included. */
void tesela__cute_reach(const tesela_cute *cute, int64_t *least, int64_t *most);
/* The value before the XOR at a flat coordinate; the layout is checked, the coordinate within it, or the result fits. */
int64_t tesela__cute_sum_at(const tesela_cute *cute, int64_t i);
/* The place of a value before the XOR. */
tesela_status tesela__cute_place(const tesela_cute *cute, int64_t value, int64_t *place, tesela_error *err);

/* ---- cute_fit.c ---- */

/* The layout R with the outer modes of B and R(i) = A(B(i)). */
tesela_status tesela__cute_fit(const tesela__cute_function *a, const tesela_cute *b, tesela_cute *out,
                               tesela_cute_counter *counter, tesela_error *err);

/* ---- cute_compose.c ---- */

/* tesela_cute_compose of checked arguments. */
tesela_status tesela__cute_compose(const tesela_cute *a, const tesela_cute *b, tesela_cute *out,
                                   tesela_cute_counter *counter, tesela_error *err);

/* TESELA_E_RANGE with the first coordinate of a value below 0; there is one. */
tesela_status tesela__cute_below_zero(const tesela_cute *b, tesela_cute_counter *counter, tesela_error *err);

/* ---- cute_complement.c ---- */

/* A leaf with a value, for sorting. */
typedef struct tesela__cute_digit {
  int64_t extent, stride, weight; /* weight: coordinates per value */
} tesela__cute_digit;

/* Leaves of extent 2 or more, by increasing |stride|; `zeros`: also those of stride 0. Returns their number. */
int32_t tesela__cute_sorted(const tesela_cute *cute, bool zeros,
                            tesela__cute_digit digit[TESELA_CUTE_LEAVES]);

tesela_status tesela__cute_complement(const tesela_cute *a, int64_t size, tesela_cute *out,
                                      tesela_cute_counter *counter, tesela_error *err);

/* TESELA_E_UNSUPPORTED, NOT_INJECTIVE, if two coordinates have one value; TESELA_E_LIMIT if that is undecided. */
tesela_status tesela__cute_injective(const tesela_cute *cute, tesela_cute_counter *counter,
                                     tesela_error *err);
/* TESELA_E_UNSUPPORTED for an offset. */
tesela_status tesela__cute_no_offset(const tesela_cute *cute, const char *what, tesela_error *err);

#endif
