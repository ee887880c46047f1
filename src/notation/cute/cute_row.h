/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_row.h - shared by the files that read and write the row cute.
 */
#ifndef TESELA_CUTE_ROW_H
#define TESELA_CUTE_ROW_H

#include "cute/cute_factor.h"
#include "notation/any.h"

enum { TESELA__TV_PLACES = 1 << 18 }; /* threads times values of a layout that is written */

/* A layout of (thread, value) over a tile, whose elements are counted with the first dim fastest: "tv:16x8". */
tesela_status tesela__tv_read_tile(const char *as, int32_t *rank, int64_t *tile, tesela_error *err);
tesela_status tesela__tv_read(const tesela_cute *cute, const tesela_layout_read_options *options,
                              tesela_layout *out, tesela_error *err);
tesela_status tesela__tv_write(const tesela_layout *layout, const tesela_writer *to,
                               tesela_translation *answer, tesela_error *err);

/* The leaves of each top mode: first[m] .. first[m+1]-1. Returns the number of modes, at most TESELA_CUTE_LEAVES. */
int32_t tesela__cute_tops(const tesela_cute *cute, int32_t first[TESELA_CUTE_LEAVES + 1]);

/* The text of modes over dims: each dim becomes a top mode; cut[d], the extent of the text, is at least shape[d]. */
tesela_status tesela__cute_from_modes(const tesela__cute_modes *modes, int32_t rank, const int64_t *shape,
                                      tesela_cute *cute, int64_t *cut, tesela_error *err);

#endif
