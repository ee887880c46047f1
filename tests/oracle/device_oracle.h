/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_oracle.h - the place of an element of a host tensor on a device, by the definition and one element at a time.
 *
 * Shares nothing with src/ and includes none of its headers. A host coordinate is split by decreasing step, with the
 * outer device dim first for equal steps; a device dim of extent 1 has no digit. The place is the sum of digits times
 * strides. The caller keeps numbers small enough for int64.
 */
#ifndef ORACLE_DEVICE_ORACLE_H
#define ORACLE_DEVICE_ORACLE_H

#include <stdint.h>

enum {
  ORACLE_DEVICE_DIMS = 48,
  ORACLE_DEVICE_RANK = 32,
  ORACLE_SYNTHETIC = -1, /* only digit 0 holds data */
  ORACLE_REPLICATED = -2 /* every digit holds the same element */
};

struct oracle_device_dim {
  int dim; /* host dim, ORACLE_SYNTHETIC or ORACLE_REPLICATED */
  int64_t step, extent, stride;
};

struct oracle_device {
  int rank;
  int64_t shape[ORACLE_DEVICE_RANK];
  int n; /* device dims, outermost first */
  struct oracle_device_dim dim[ORACLE_DEVICE_DIMS];
};

/// Digits of the element at `index`; 0 for dims without a host dim. 0, or -1 if it has no place.
int oracle_device_digits(const struct oracle_device *d, const int64_t *index, int64_t *digit);

/// Copies of each element: the product of the extents of replicated dims.
int64_t oracle_device_copies(const struct oracle_device *d);

/// Place of copy `copy` of the element at `index` (the last replicated dim varies fastest); -1 if it has none.
int64_t oracle_device_place(const struct oracle_device *d, const int64_t *index, int64_t copy);

/// Advance to the next index of the box, row-major. 0 after the last one, with index at the first again.
int oracle_device_next(int rank, const int64_t *start, const int64_t *size, int64_t *index);

#endif
