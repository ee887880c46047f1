/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla.h - what the files about XLA's meaning share: the tile levels, resolved.
 *
 * A tile level meets a list of bounds. tesela__xla_level_of says what it does to a list of that length,
 * without looking at the extents, so that extents, digits, padding and programs all follow the same plan:
 *
 *   T(2,*,128) on bounds b0 b1 b2 b3       ones 0, untouched 1, groups (b1; 2) (b2 b3; 128)
 *   T(2,2,2)   on bounds b0                ones 2, untouched 0, groups (1; 2) (1; 2) (b0; 2)
 *
 *   1. `ones` leading bounds of extent 1 are added.
 *   2. The bounds of each group join into one, the first of them most significant.
 *   3. Each joined bound d becomes ceil(d / tile) tiles of tile.
 *   4. New list: the untouched bounds, the tile counts of all groups, the tile extents of all groups.
 */
#ifndef TESELA_SRC_XLA_XLA_H
#define TESELA_SRC_XLA_XLA_H

#include <tesela/xla.h>

/* Bounds that are joined and tiled together: bounds first .. first+n-1, counted after the new ones. */
typedef struct tesela__xla_group {
  int32_t first, n;
  int32_t entry; /* the tile's entry with the extent */
  int64_t tile;
} tesela__xla_group;

typedef struct tesela__xla_level {
  int32_t level, ones, untouched, n_groups;
  tesela__xla_group group[TESELA_XLA_MAX_TILE_NUMBERS];
} tesela__xla_level;

void tesela__xla_level_of(const tesela_xla_layout *layout, int32_t level, int32_t n_bounds,
                          tesela__xla_level *plan);

/* Bounds of one level, most major first, and the logical dims (bit d = dim d) that feed each. A list never
 * outgrows TESELA_MAX_DIGITS: with r entries it has at most max(n, r) + r bounds, and all tiles together have
 * 64 entries. */
typedef struct tesela__xla_bounds {
  int32_t n;
  int64_t extent[TESELA_MAX_DIGITS];
  uint32_t dims[TESELA_MAX_DIGITS];
} tesela__xla_bounds;

/* The physical bounds of a shape that tesela__xla_check_sized accepted. */
void tesela__xla_bounds_begin(const tesela_xla_shape *shape, tesela__xla_bounds *bounds);
/* Steps 1 and 2 of a level; afterwards group g is bound untouched + g. TESELA_E_OVERFLOW. */
tesela_status tesela__xla_bounds_join(tesela__xla_bounds *bounds, const tesela__xla_level *plan,
                                      tesela_error *err);
/* Steps 3 and 4. */
void tesela__xla_bounds_split(tesela__xla_bounds *bounds, const tesela__xla_level *plan);
/* All levels before `level`. */
tesela_status tesela__xla_bounds_at(const tesela_xla_shape *shape, int32_t level, tesela__xla_bounds *bounds,
                                    tesela_error *err);

/* Product of n numbers >= 0, 0 if one is 0 whatever the others are; false if it does not fit. */
bool tesela__xla_product(int32_t n, const int64_t *number, int64_t *product);

/* Has the shape elements and a size: an array or buffer without `?`, valid? TESELA_E_UNSUPPORTED and what
 * tesela_xla_validate says. */
tesela_status tesela__xla_check_sized(const tesela_xla_shape *shape, tesela_error *err);
/* Is 0 <= dim < rank? TESELA_E_RANGE. */
tesela_status tesela__xla_check_dim(int32_t rank, int32_t dim, tesela_error *err);
/* Is it a permutation of 0 .. rank-1? TESELA_E_INVALID names the first entry that is wrong. */
tesela_status tesela__xla_check_permutation(int32_t rank, const int32_t *permutation, tesela_error *err);

/* *shape = *edited if that is valid: tiles can pad an edited shape beyond 64 bits. */
tesela_status tesela__xla_replace(tesela_xla_shape *shape, const tesela_xla_shape *edited, tesela_error *err);

/* Bits of one element in memory: E, or else the whole bytes of the type. */
int64_t tesela__xla_bits(const tesela_xla_shape *shape);

/* Bytes of `elements` elements of `bits` bits, rounded up once; false if they do not fit. The bits need not fit. */
bool tesela__xla_bytes(int64_t elements, int64_t bits, int64_t *bytes);

/* Elements in memory by the definition: every level pads, then L. */
tesela_status tesela__xla_elements(const tesela_xla_shape *shape, int64_t *elements, tesela_error *err);

/* Do tiles leave every element where the order of the dims alone puts it? They may pad at the end.
 * TESELA_E_UNSUPPORTED as tesela_layout_compare. */
tesela_status tesela__xla_in_order(const tesela_xla_shape *shape, bool *in_order, tesela_error *err);

/* A reshape cut into the shortest stretches of dims with equal numbers of elements; stretch s covers the dims
 * in_end[s-1] .. in_end[s]-1 of the input. Ones stay with the stretch before them, the first with the first. */
typedef struct tesela__xla_stretches {
  int32_t n;
  int64_t extent[TESELA_MAX_RANK];
  int32_t in_end[TESELA_MAX_RANK], out_end[TESELA_MAX_RANK];
} tesela__xla_stretches;

/* Are both arrays with a size and equally many elements? TESELA_E_MISMATCH. */
tesela_status tesela__xla_check_reshape(const tesela_xla_shape *in, const tesela_xla_shape *out,
                                        int64_t *elements, tesela_error *err);
/* For shapes that tesela__xla_check_reshape accepted, with elements. */
void tesela__xla_find_stretches(const tesela_xla_shape *in, const tesela_xla_shape *out,
                                tesela__xla_stretches *found);

/* The TESELA_XLA_IGNORE_* flags of what order and tiles do not say. */
uint32_t tesela__xla_beyond_tiles(const tesela_xla_layout *layout);

/* Start the layout of a shape over other extents, of the same number of elements. */
tesela_status tesela__xla_layout_begin(const tesela_xla_shape *shape, int32_t rank, const int64_t *extent,
                                       tesela_layout *layout, tesela_error *err);

/* The relation of a shape, but over coordinates that `digit` gives: a layout that tesela__xla_layout_begin
 * started, and one digit of it for each logical dim, of the dim's extent. Finishes the layout. */
tesela_status tesela__xla_lower(const tesela_xla_shape *shape, const int32_t *digit, tesela_layout *layout,
                                tesela_error *err);

#endif
