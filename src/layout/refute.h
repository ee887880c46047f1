/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refute.h - the first element that contradicts a notation whose texts place each element at the sum of what its coordinates add.
 */
#ifndef TESELA_SRC_REFUTE_H
#define TESELA_SRC_REFUTE_H

#include "layout/layout.h"

/* Does a text give these places? `layout` is a part of the refuted one that begins at element 0. */
typedef tesela_status tesela__expresses(const void *context, const tesela_layout *layout, bool *possible,
                                        tesela_error *err);

/* Sets the smallest contradiction of a layout with axes and elements that no text expresses, where texts that do not express element 0 alone
 * have it at place 0 of each axis: TESELA_CONTRADICTION_PLACE where the elements before leave one place, which differs on answer->axis;
 * _SHARED for the place of one of them, else _ELEMENT. Returns TESELA_OK, or the status of a failure of
 * `expresses`; then there is no contradiction. Calls it some 40 times for each dim at most. */
tesela_status tesela__refute(const tesela_layout *layout, tesela__expresses *expresses, const void *context,
                             tesela_translation *answer, tesela_error *err);

/* After tesela__refute, for texts whose digits may have stride 0, and steps that divide each other; `even`: and the extents of the dims.
 * Where no digit can begin, the elements before leave one place. */
void tesela__refute_steps(const tesela_layout *layout, bool even, tesela_translation *answer);

/* The same as a search for the part: the elements 0 of the first dims, *extent of *dim, and all of the later dims, where *extent is the least
 * without a text. */
tesela_status tesela__refuted_part(const tesela_layout *layout, tesela__expresses *expresses,
                                   const void *context, int32_t *dim, int64_t *extent, tesela_error *err);

/* The layout in which each dim adds to the place of element 0 what it adds alone. *found is false if an element of one dim is before
 * element 0. */
tesela_status tesela__sum_of_dims(const tesela_layout *part, tesela_layout *sum, bool *found,
                                  tesela_error *err);

/* That part, *out, of a layout. */
tesela_status tesela__first_part(const tesela_layout *layout, int32_t dim, int64_t extent, tesela_layout *out,
                                 tesela_error *err);

#endif
