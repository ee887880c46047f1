/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.h - questions about the values of a tensor that do not depend on its layout: are they equal, and a fingerprint.
 *
 * Values are compared as bits: -0.0 and 0.0 differ, a NaN equals a NaN of the same bits.
 */
#ifndef TESELA_VALUES_H
#define TESELA_VALUES_H

#include <tesela/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What tesela_values_compare found.
typedef struct tesela_values_difference {
  bool same;
  int64_t n_different;            ///< how many elements differ
  int64_t index[TESELA_MAX_RANK]; ///< the first one in row-major order, if not same
  int64_t place_a, place_b;       ///< where it lies in each
  uint8_t a[16], b[16];           ///< its bits, in the first bytes (below 8 bits: the low bits of the first)
} tesela_values_difference;

/// Do two buffers hold the same logical values?
///
/// Example: f32[3,5] row-major and the same values in {1,0:T(2,2)}: same, whatever the padding holds.
///
/// @param a, data_a  a layout with one axis and the address of its place 0; with replicas every copy must be equal
/// @return TESELA_OK; TESELA_E_MISMATCH if shapes, widths or types differ (a type may be absent);
///         TESELA_E_UNSUPPORTED for several axes or a width other than 1, 2, 4, 8, 16, 32, 64 or 128 bits.
/// O(elements), no allocation.
TESELA_API tesela_status tesela_values_compare(const tesela_layout *a, const void *data_a,
                                               const tesela_layout *b, const void *data_b,
                                               tesela_values_difference *difference, tesela_error *err);

/// A fingerprint of the logical values: the same for every layout of one tensor. It covers type, width, shape and the
/// bits of each element in row-major order, with replicas those of the first copy; padding does not count. 128 bits, not
/// cryptographic; src/relayout/values_digest.c defines it, for ever.
///
/// @param digest  receives 16 bytes
/// @return as tesela_values_compare. O(elements), no allocation.
TESELA_API tesela_status tesela_values_digest(const tesela_layout *layout, const void *data,
                                              uint8_t digest[16], tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
