/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer.h - shared by the transfer files.
 *
 *   transfer.c         creates and runs a relayout plan; copies src if it overlaps dst
 *   transfer_pad.c     the bits that fill padding
 *   transfer_scan.c    integers that the narrower type cannot hold
 *   transfer_verify.c  a dump of device memory against the host tensor
 */
#ifndef TESELA_SRC_TRANSFER_H
#define TESELA_SRC_TRANSFER_H

#include <tesela/device.h>

#include "base/base.h"
#include "relayout/plan.h"

/* The bits of the fill in a type of `bits` bits; pad is not TESELA_PAD_LEAVE. TESELA_E_RANGE for a value outside the
 * type's range, TESELA_E_UNSUPPORTED if the type is unknown or cannot express the value. */
tesela_status tesela__transfer_pad_bits(tesela_pad pad, double value, tesela_dtype dtype, int32_t bits,
                                        uint8_t out[16], tesela_error *err);

/* Can values of the integer type `from` be too large or small for the integer type `to`? Then *low and *high are the
 * limits of `to`. */
bool tesela__transfer_narrows(tesela_dtype from, tesela_dtype to, int64_t *low, int64_t *high);

/* A check of all integers of src before any is written. */
typedef struct tesela__look {
  const tesela_layout *src;
  tesela_dtype to;
  int64_t low, high; /* the range of `to` */
  int32_t threads;
  int32_t n_boxes; /* of src's places; 0: unknown, so the check is in row-major order */
  tesela__box *box;
} tesela__look;

/* Set the boxes; the caller has set the other members and releases the boxes. TESELA_E_MEMORY. */
tesela_status tesela__look_make(tesela__look *look, const tesela_allocator *allocator, tesela_error *err);

/* TESELA_E_RANGE with the first element of src (row-major) outside low .. high. */
tesela_status tesela__look_run(const tesela__look *look, const void *data, const tesela_executor *executor,
                               tesela_error *err);

/* The host tensor of a device layout as a layout of the core; strides NULL: row-major. */
tesela_status tesela__transfer_host_layout(const tesela_device_host *host, const int64_t *strides,
                                           int64_t offset, tesela_layout *out, tesela_error *err);

#endif
