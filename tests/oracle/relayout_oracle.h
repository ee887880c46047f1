/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout_oracle.h - the expected memory after a copy between two layouts, element by element.
 *
 * Calls nothing of the library. Uses the fields of a finished tesela_layout by the definition in <tesela/layout.h>:
 * each coordinate is split greedily by decreasing step, a place is the offset plus the sum of digit * stride, a join is
 * its offset plus the sum of part * weight. This gives lists: the places of every element, and for each place whether
 * it is an element, padding or a gap.
 *
 *   relayout_map    one side: all places
 *   relayout_image  expected bytes of dst from its bytes before, the bytes of src, the fill and the transform
 *   relayout_value  one value through a transform, by exact arithmetic (relayout_values.c)
 */
#ifndef ORACLE_RELAYOUT_ORACLE_H
#define ORACLE_RELAYOUT_ORACLE_H

#include <tesela/relayout.h>

enum { RELAYOUT_MOST_PLACES = 1 << 25 }; /* more are too many to list */

typedef enum relayout_kind { RELAYOUT_GAP, RELAYOUT_PADDING, RELAYOUT_ELEMENT } relayout_kind;

/// All places of a layout with one axis.
typedef struct relayout_map {
  int64_t n_elements, n_copies;
  int64_t *place;      ///< n_elements rows (row-major over the shape) of n_copies places each
  int64_t n_places;    ///< of the axis
  unsigned char *kind; ///< relayout_kind of each place; only on request
  int64_t n_padding;   ///< number of padding places
  int64_t end;         ///< one after the last place of an element, 0 without elements
  int64_t end_padded;  ///< one after the last place of an element or of padding
  bool collide;        ///< do two elements, or two copies, share a place? Only with kinds
} relayout_map;

/// `kinds`: also find the kind of each place. False for too many places or without memory; then nothing has to be
/// freed.
bool relayout_map_make(relayout_map *map, const tesela_layout *layout, bool kinds);
void relayout_map_free(relayout_map *map);

/// Bytes up to the end of place `end` - 1, for elements of `bits`.
int64_t relayout_bytes(int64_t end, int32_t bits);

/// One element of `bits` at a place; below 8 bits in the low bits of value[0].
void relayout_get(const unsigned char *image, int64_t place, int32_t bits, unsigned char value[16]);
void relayout_put(unsigned char *image, int64_t place, int32_t bits, const unsigned char value[16]);

/// Change `dst_image` to the expected result of a plan with these options. `dst` has kinds.
void relayout_image(const relayout_map *dst, const tesela_layout *dst_layout, const relayout_map *src,
                    const tesela_layout *src_layout, const tesela_plan_options *options,
                    unsigned char *dst_image, const unsigned char *src_image);

/// The result of a transform for one value.
void relayout_value(tesela_transform transform, const tesela_layout *dst, const tesela_layout *src,
                    const unsigned char in[16], unsigned char out[16]);

/// Are two results of a transform equal: the same bits, or two NaNs where arithmetic makes one?
bool relayout_same(tesela_transform transform, const tesela_layout *dst, const unsigned char a[16],
                   const unsigned char b[16]);

#endif
