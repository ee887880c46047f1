/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register.h - declarations that the files of register layouts share.
 *
 *   register_check.c   checks of the lists of a layout, and of dims in arguments
 *   form.c             reduced and canonical form; creation from lists
 *   create.c           spatial, local, replicated
 *   shape.c            squeeze, unsqueeze, permute, reshape, flatten, with_shape
 *   combine.c          compose, concat, repeat_to, auto_local_spatial
 *   register_divide.c  both quotients
 *   register_reduce.c  reduce, reduce_to
 *   register_place.c   element to thread and register, and back
 *   cover.c            same, identical, covers, hash
 *   register_lower.c   to the core model and back
 *   fragment.c         the catalogue of fragments and its names
 */
#ifndef TESELA_SRC_REGISTER_H
#define TESELA_SRC_REGISTER_H

#include <tesela/register.h>

#include "base/base.h"

/* Check that extents are >= 1 and their product, *elements, fits in 64 bits. TESELA_E_LIMIT: rank; reason
 * SHAPE_NOT_POSITIVE. */
tesela_status tesela__check_extents(int32_t rank, const int64_t *shape, int64_t *elements, tesela_error *err);

/* Check n dims: each in 0 .. rank-1, negative ones counted from the end, none twice. Returns them as bits, and in order
 * if `order` is not NULL (n entries, n <= rank). Reasons DIM_OUT_OF_RANGE, DIM_DUPLICATE. */
tesela_status tesela__dims(int32_t rank, int32_t n, const int64_t *dims, uint32_t *bits, int32_t *order,
                           tesela_error *err);

/* Group modes by dim: dim d has modes first[d] .. first[d+1]-1; a mode of 1 belongs to the dim before it, leading ones
 * to dim 0. Reason MODE_DOES_NOT_FIT_SHAPE unless the products are the extents. `first` has rank + 1 entries. */
tesela_status tesela__modes_of_dims(int32_t rank, const int64_t *shape, int32_t n_modes,
                                    const int64_t *mode_shape, int32_t *first, tesela_error *err);

/* The same for a checked layout. */
void tesela__register_dims(const tesela_register *layout, int32_t *first);

/* Does the name of a fragment begin with this word: "mma", "SM80_16x8_Row", "SM90_64x128x16_F32F16F16_RS"? */
bool tesela__fragment_begins(const char *word, size_t length);

/* Pattern `i` of the names of all fragments, for suggestions; NULL after the last. */
const char *tesela__fragment_pattern(int32_t i);

/* Check all lists and set the sizes. */
tesela_status tesela__register_accept(tesela_register *layout, tesela_error *err);

/* Set the sizes from the lists; TESELA_E_OVERFLOW. */
tesela_status tesela__register_sizes(tesela_register *layout, tesela_error *err);

/* TESELA_E_RANGE, reason WORKERS_NOT_POSITIVE, unless the number of that name is 1 or more. */
tesela_status tesela__register_check_workers(const char *name, int64_t n, tesela_error *err);

/* No dims, no modes, one thread, one register; the arrays stay uninitialized. */
void tesela__register_clear(tesela_register *layout);

#endif
