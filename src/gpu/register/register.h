/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register.h - what the files of the register layouts share.
 *
 *   register_check.c    the lists of a layout, checked; dims named by a caller
 *   form.c     reduced and canonical form; making from lists
 *   create.c   spatial, local, replicated, auto_local_spatial
 *   shape.c    squeeze, unsqueeze, permute, reshape, flatten, with_shape
 *   combine.c  compose, concat, repeat_to
 *   register_divide.c   both quotients
 *   register_reduce.c   reduce, reduce_to
 *   register_place.c    element to thread and register, and back
 *   cover.c    same, identical, covers, hash
 *   register_lower.c    to the core model and back
 */
#ifndef TESELA_SRC_REGISTER_H
#define TESELA_SRC_REGISTER_H

#include <tesela/register.h>

#include "base/base.h"

/* Every extent >= 1 and their product in int64: *elements. TESELA_E_LIMIT for the rank, reason SHAPE_NOT_POSITIVE. */
tesela_status tesela__check_extents(int32_t rank, const int64_t *shape, int64_t *elements, tesela_error *err);

/* Each of n dims in 0 .. rank-1, negative ones from the end, none twice: as bits, and in the order given where `order`
 * is not NULL (room for n, which is at most rank then). reasons DIM_OUT_OF_RANGE, DIM_DUPLICATE. */
tesela_status tesela__dims(int32_t rank, int32_t n, const int64_t *dims, uint32_t *bits, int32_t *order,
                           tesela_error *err);

/* Group modes by dim: dim d has modes first[d] .. first[d+1]-1; a mode of 1 goes to the dim before it, the first
 * one to dim 0. reason MODE_DOES_NOT_FIT_SHAPE unless the products are the extents. `first` has room for rank + 1. */
tesela_status tesela__modes_of_dims(int32_t rank, const int64_t *shape, int32_t n_modes,
                                    const int64_t *mode_shape, int32_t *first, tesela_error *err);

/* The same for a layout that was checked. */
void tesela__register_dims(const tesela_register *layout, int32_t *first);

/* Check all lists and set the sizes. */
tesela_status tesela__register_accept(tesela_register *layout, tesela_error *err);

/* Set the sizes from the lists; TESELA_E_OVERFLOW. */
tesela_status tesela__register_sizes(tesela_register *layout, tesela_error *err);

/* No dims, no modes, one thread, one register; the arrays are to be filled. */
void tesela__register_clear(tesela_register *layout);

#endif
