/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla.h - declarations that the files of src/xla share: tile levels resolved, sizes, checks, reshapes.
 *
 * A tile level applies to a list of bounds. tesela__xla_level_of computes its effect on a list of that length,
 * independent of the extents, so extents, digits, padding and programs all follow the same plan:
 *
 *   T(2,*,128) on bounds b0 b1 b2 b3       ones 0, untouched 1, groups (b1; 2) (b2 b3; 128)
 *   T(2,2,2)   on bounds b0                ones 2, untouched 0, groups (1; 2) (1; 2) (b0; 2)
 *
 *   1. `ones` leading bounds of extent 1 are added.
 *   2. The bounds of each group are joined into one, the first most significant.
 *   3. Each joined bound d becomes ceil(d / tile) tiles of extent `tile`.
 *   4. New list: the untouched bounds, the tile counts of all groups, the tile extents of all groups.
 */
#ifndef TESELA_SRC_XLA_XLA_H
#define TESELA_SRC_XLA_XLA_H

#include <tesela/xla.h>

/* Bounds that are joined and tiled together: bounds first .. first+n-1 of the list with the added ones. */
typedef struct tesela__xla_group {
  int32_t first, n;
  int32_t entry; /* index of `tile` in the tile */
  int64_t tile;
} tesela__xla_group;

typedef struct tesela__xla_level {
  int32_t level, ones, untouched, n_groups;
  tesela__xla_group group[TESELA_XLA_MAX_TILE_NUMBERS];
} tesela__xla_level;

void tesela__xla_level_of(const tesela_xla_layout *layout, int32_t level, int32_t n_bounds,
                          tesela__xla_level *plan);

/* Bounds of one level, most major first, and the logical dims (bit d = dim d) in each. A list fits in
 * TESELA_MAX_DIGITS: with r entries a level makes at most max(n, r) + r bounds, and all tiles together have 64
 * entries. */
typedef struct tesela__xla_bounds {
  int32_t n;
  int64_t extent[TESELA_MAX_DIGITS];
  uint32_t dims[TESELA_MAX_DIGITS];
} tesela__xla_bounds;

/* The physical bounds of a shape that tesela__xla_check_sized accepted. */
void tesela__xla_bounds_begin(const tesela_xla_shape *shape, tesela__xla_bounds *bounds);
/* Steps 1 and 2 of a level; then group g is bound untouched + g. TESELA_E_OVERFLOW. */
tesela_status tesela__xla_bounds_join(tesela__xla_bounds *bounds, const tesela__xla_level *plan,
                                      tesela_error *err);
/* Steps 3 and 4. */
void tesela__xla_bounds_split(tesela__xla_bounds *bounds, const tesela__xla_level *plan);
/* The bounds before `level`. */
tesela_status tesela__xla_bounds_at(const tesela_xla_shape *shape, int32_t level, tesela__xla_bounds *bounds,
                                    tesela_error *err);

/* A TPU: options of tesela_xla_choose, and the bytes that a table of a tuple's members is rounded up to. */
typedef struct tesela__tpu {
  const char *name;
  uint32_t choose;
  int64_t table_unit;
} tesela__tpu;

/* v2, v3, v4, v5e, v5p, v6e or tpu7x; NULL for another name. */
const tesela__tpu *tesela__tpu_named(const char *name, size_t length);
/* Fails with TESELA_E_INVALID: "unknown TPU 'v5x'; expected v2, .." */
tesela_status tesela__tpu_unknown(const char *name, size_t length, int64_t at, tesela_error *err);

/* Product of n numbers >= 0. An overflow returns false, except that any 0 makes the product 0. */
bool tesela__xla_product(int32_t n, const int64_t *number, int64_t *product);

/* Does the shape have elements and a size: a valid array or buffer without `?`? TESELA_E_UNSUPPORTED, and the errors of
 * tesela_xla_validate. */
tesela_status tesela__xla_check_sized(const tesela_xla_shape *shape, tesela_error *err);
/* Is 0 <= dim < rank? TESELA_E_RANGE. */
tesela_status tesela__xla_check_dim(int32_t rank, int32_t dim, tesela_error *err);
/* Is it a permutation of 0 .. rank-1? TESELA_E_INVALID names the first wrong entry. */
tesela_status tesela__xla_check_permutation(int32_t rank, const int32_t *permutation, tesela_error *err);

/* *shape = *edited if that is valid: padding by tiles can make an edited shape exceed 64 bits. */
tesela_status tesela__xla_replace(tesela_xla_shape *shape, const tesela_xla_shape *edited, tesela_error *err);

/* Bits of one element in memory: E, or else the whole bytes of the type. */
int64_t tesela__xla_bits(const tesela_xla_shape *shape);

/* Bytes of `elements` elements of `bits` bits, rounded up once; false if they do not fit. The bits need not fit. */
bool tesela__xla_bytes(int64_t elements, int64_t bits, int64_t *bytes);

/* Elements in memory by the definition: every level pads, then L. */
tesela_status tesela__xla_elements(const tesela_xla_shape *shape, int64_t *elements, tesela_error *err);

/* Is every element at the place that the order of the dims alone gives, despite tiles? Padding at the end is allowed.
 * TESELA_E_UNSUPPORTED as in tesela_layout_compare. */
tesela_status tesela__xla_in_order(const tesela_xla_shape *shape, bool *in_order, tesela_error *err);

/* A reshape cut into the shortest stretches of dims with equal numbers of elements. Stretch s has the input's dims
 * in_end[s-1] .. in_end[s]-1. Dims of 1 belong to the stretch before them, leading ones to the first. */
typedef struct tesela__xla_stretches {
  int32_t n;
  int64_t extent[TESELA_MAX_RANK];
  int32_t in_end[TESELA_MAX_RANK], out_end[TESELA_MAX_RANK];
} tesela__xla_stretches;

/* Are both arrays with a size and the same number of elements? TESELA_E_MISMATCH. */
tesela_status tesela__xla_check_reshape(const tesela_xla_shape *in, const tesela_xla_shape *out,
                                        int64_t *elements, tesela_error *err);
/* For shapes with elements that tesela__xla_check_reshape accepted. */
void tesela__xla_find_stretches(const tesela_xla_shape *in, const tesela_xla_shape *out,
                                tesela__xla_stretches *found);

/* The TESELA_XLA_IGNORE_* flags of attributes other than order and tiles. */
uint32_t tesela__xla_beyond_tiles(const tesela_xla_layout *layout);

/* Start a layout with the type and width of a shape, over other extents with the same number of elements. */
tesela_status tesela__xla_layout_begin(const tesela_xla_shape *shape, int32_t rank, const int64_t *extent,
                                       tesela_layout *layout, tesela_error *err);

/* The relation of a shape over the coordinates of `digit`: one digit of the started `layout` for each logical dim, with
 * the dim's extent. Finishes the layout. */
tesela_status tesela__xla_lower(const tesela_xla_shape *shape, const int32_t *digit, tesela_layout *layout,
                                tesela_error *err);

/* The smallest contradiction of a layout with elements, one axis and no copies that no tiles without `*` express. */
tesela_status tesela__xla_refute(const tesela_layout *layout, tesela_translation *answer, tesela_error *err);

#endif
