/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_oracle.h - the meaning of a tiled XLA layout, written twice and slowly, as reference of the tests.
 *
 * Shares nothing with src/ and includes none of its headers. The published description of tiled layouts gives two
 * formulations; both are here and neither uses the other:
 *
 *   oracle_place   the index formula: coordinates in, one offset out
 *   oracle_image   pad, reshape, transpose: really moves an array of element numbers
 *
 * oracle_self_test compares them on random arrays. Arrays are small (the image is built in memory); sizes and places of
 * large ones are right as long as every number fits in int64_t, and a function that finds one that does not returns -1.
 * Every -1 means "does not exist" or "too large".
 */
#ifndef ORACLE_XLA_ORACLE_H
#define ORACLE_XLA_ORACLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ORACLE_COMBINE (-1) /* a `*` entry of a tile; never the last entry */

enum {
  ORACLE_MAX_RANK = 32,
  ORACLE_MAX_TILES = 16,
  ORACLE_MAX_TILE_RANK = 16,
  ORACLE_MAX_BOUNDS = 288, /* 32 dims and 16 levels that append 16 bounds each */
  ORACLE_MAX_CUTS = 16,
  ORACLE_RANDOM_ELEMENTS = 5000 /* the usual bound for oracle_random */
};

/// One array: f32[3,5]{1,0:T(2,2)} is rank 2, dim {3,5}, minor_to_major {1,0}, one tile {2,2},
/// tail 1, bits 32, type_bytes 4, e_bits 0.
struct oracle_array {
  int rank;
  int64_t dim[ORACLE_MAX_RANK];        // logical extents, >= 0
  int minor_to_major[ORACLE_MAX_RANK]; // [0] is the logical dimension that varies fastest
  int n_tiles;
  int tile_rank[ORACLE_MAX_TILES];
  int64_t tile[ORACLE_MAX_TILES][ORACLE_MAX_TILE_RANK]; // >= 1 or ORACLE_COMBINE
  int64_t tail;       // L: the element count is rounded up to a multiple; 1 without
  int bits;           // bits of one element by the definition: e_bits, or else 8 * type_bytes
  int64_t type_bytes; // whole bytes of the type
  int64_t e_bits;     // E; 0 without
};

/// One SC property: physical dimension `dim` (0 = most major) is cut before each `cut`.
struct oracle_split {
  int dim;
  int n_cuts;
  int64_t cut[ORACLE_MAX_CUTS]; // strictly increasing, 0 < cut < bound
};

/// NULL if every field of `a` is in range, else the fault.
const char *oracle_invalid(const struct oracle_array *a);

/// Logical elements: the product of the dims.
int64_t oracle_count(const struct oracle_array *a);

/// Coordinates of logical element `number` in row-major order of the dims. 0, or -1 outside.
int oracle_index(const struct oracle_array *a, int64_t number, int64_t *index);

/// Bounds after `level` tiles (0 = the physical bounds), most major first. Returns their number.
int oracle_bounds(const struct oracle_array *a, int level, int64_t out[ORACLE_MAX_BOUNDS]);

/// Coordinates within oracle_bounds(a, level) of the element at `index`. Returns their number.
int oracle_coordinates(const struct oracle_array *a, const int64_t *index, int level,
                       int64_t out[ORACLE_MAX_BOUNDS]);

/// The index formula: offset, in elements, of the element at `index`; -1 outside the dims.
int64_t oracle_place(const struct oracle_array *a, const int64_t *index);

/// Elements in memory with all padding: product of the final bounds, rounded up to L.
int64_t oracle_elements(const struct oracle_array *a);

/// Bytes by the definition: oracle_elements times `bits`, rounded up to a whole byte once.
int64_t oracle_bytes(const struct oracle_array *a);

/// The allocation of XLA (its ArraySize). Without tiles: the dims, no L, no splits. With tiles: only the first one
/// pads, a split dimension counts with its largest part, then L; then E or the type's bytes. A `*` of the first tile
/// joins first. `splits` may be NULL if n_splits is 0.
int64_t oracle_allocated_bytes(const struct oracle_array *a, const struct oracle_split *splits, int n_splits);

/// Pad, reshape, transpose: image[offset] is the row-major number of the element there, or -1 for padding, tail
/// included. Returns the length, or -1 if it exceeds `capacity`.
int64_t oracle_image(const struct oracle_array *a, int64_t *image, int64_t capacity);

/// An array of numbers with an explicit shape, row-major. `value` is owned: oracle_release.
struct oracle_nd {
  int rank;
  int64_t dim[ORACLE_MAX_BOUNDS];
  int64_t *value;
};

/// The operations of oracle_image; each replaces *x and returns 0, or returns -1 and does not change it.
int oracle_iota(struct oracle_nd *x, int rank, const int64_t *dim); // 0, 1, 2, ...
int oracle_reshape(struct oracle_nd *x, int rank, const int64_t *dim);
int oracle_transpose(struct oracle_nd *x, const int *axis); // new dim i is the old dim axis[i]
int oracle_pad(struct oracle_nd *x, const int64_t *dim);    // grows at the high end with -1
void oracle_release(struct oracle_nd *x);

/// All tile levels of oracle_image without the tail, keeping the shape. 0, or -1 above `capacity`.
int oracle_tiled(const struct oracle_array *a, int64_t capacity, struct oracle_nd *x);

/// Next number of a splitmix64 stream.
uint64_t oracle_next(uint64_t *state);

/// A valid array that depends only on `seed`: rank 0 to 5, with extents of 0 and 1, up to three tiles, each of a rank
/// up to two above its bounds, `*`, L, E; at most max_elements (1 or more) elements in memory. *type_word receives a
/// type name of type_bytes bytes for oracle_print (may be NULL).
void oracle_random(uint64_t seed, int64_t max_elements, struct oracle_array *a, const char **type_word);

/// The canonical text, f32[3,5]{1,0:T(2,2)L(8)E(4)}: without L if 1, E if 0, and empty braces. Returns the length like
/// snprintf; truncates the text unless it is less than capacity.
int oracle_print(const struct oracle_array *a, const char *type_word, char *text, size_t capacity);

/// The number of differences between `image` and the index formula.
int64_t oracle_disagreements(const struct oracle_array *a, const int64_t *image, int64_t length);

/// Both formulations on `n_seeds` random arrays. Returns the number of failures and names each on `report`.
int64_t oracle_self_test(uint64_t first_seed, int64_t n_seeds, FILE *report);

#endif
