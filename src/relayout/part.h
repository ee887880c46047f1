/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - a copy between files as copies of parts between buffers: part.c; one side of a part: part_side.c.
 *
 * A part is a range of each dim. On each side its places are stretches of bytes at regular distances, which a buffer holds close
 * together; its own layouts, those of the buffers, have a plan. All parts have one shape, except the last ones of a dim.
 *
 *   f32[20000,30000] to {0,1} in 4 MiB     parts of 625 x 938: 625 stretches of 3752 bytes to 938 of 2500
 */
#ifndef TESELA_SRC_PART_H
#define TESELA_SRC_PART_H

#include "relayout/plan.h"

enum { TESELA__PART_DIMS = 6 /* most dims that are cut */ };

/* One loop over stretches: steps in bytes, in the file and in the buffer. */
typedef struct tesela__part_loop {
  int64_t n, file, buffer;
} tesela__part_loop;

/* A part on one side. */
typedef struct tesela__part_side {
  tesela_layout layout;   /* in the buffer */
  int64_t begin;          /* byte of the file that is the first in the buffer, of the part at index 0 */
  int64_t stretch, bytes; /* bytes of a stretch, of the buffer */
  int32_t n_loops;        /* the first has the largest steps */
  tesela__part_loop loop[TESELA_MAX_DIGITS];
} tesela__part_side;

/* Parts of one shape. */
typedef struct tesela__part_kind {
  tesela_plan *plan;
  tesela__part_side dst, src;
} tesela__part_kind;

/* The indices of a part in each dim: from a multiple of the size on, up to `size` of them. */
typedef struct tesela__part_range {
  const int64_t *size;
  int64_t at[TESELA_MAX_RANK], n[TESELA_MAX_RANK];
} tesela__part_range;

/* ---- part_side.c ---- */

/* Can a dim be cut at the multiples of `size`? */
bool tesela__part_cuts(const tesela_layout *layout, int32_t dim, int64_t size, bool dst);
/* Places from index 0 of a dim to index `at`, a multiple of the size it is cut at. */
int64_t tesela__part_offset(const tesela_layout *layout, int32_t dim, int64_t at);
/* One side of the part of a range. False: this side cannot be cut so. */
bool tesela__part_find_side(const tesela_layout *layout, const tesela__part_range *range, bool dst,
                            tesela__part_side *side);

/* Call move(data, byte of the file, byte of the buffer, bytes) for each stretch, until it fails. `at`: where the part begins. */
tesela_status tesela__part_stretches(const tesela__part_side *side, int64_t at,
                                     tesela_status (*move)(void *data, int64_t file, int64_t buffer,
                                                           int64_t bytes),
                                     void *data);

/* ---- part.c ---- */

typedef struct tesela__copy_parts {
  tesela_allocator allocator;
  tesela_layout dst, src;
  int64_t n;                     /* 0: these layouts cannot be cut into parts of so few bytes */
  int64_t dst_bytes, src_bytes;  /* of the largest buffers */
  int64_t size[TESELA_MAX_RANK]; /* extents of a part */
  int32_t n_cut,
      cut[TESELA__PART_DIMS]; /* the dims that are cut, those with the largest steps in dst first */
  tesela__part_kind *kind;    /* 2^n_cut: bit k is set if the part is the last one along cut[k] */
} tesela__copy_parts;

/* Find parts whose two buffers have up to `most` bytes together. To be freed, after a failure too. `options` are those of the plans,
 * which have one thread. Places of dst without an element or a fill are zero in the file. TESELA_E_MEMORY, and as tesela_plan_create. */
tesela_status tesela__copy_parts_find(tesela__copy_parts *parts, const tesela_layout *dst,
                                      const tesela_layout *src, int64_t most,
                                      const tesela_plan_options *options, const tesela_allocator *allocator,
                                      tesela_error *err);
void tesela__copy_parts_free(tesela__copy_parts *parts);

/* Part i: its kind, and the bytes of both files where it begins. */
const tesela__part_kind *tesela__part_at(const tesela__copy_parts *parts, int64_t i, int64_t *dst,
                                         int64_t *src);

#endif
