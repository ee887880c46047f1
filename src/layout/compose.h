/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose.h - what the files of composition share.
 */
#ifndef TESELA_SRC_COMPOSE_H
#define TESELA_SRC_COMPOSE_H

#include "layout/layout.h"

/* The XOR stage of inner as one on outer's places, before outer's own: n <= 64 bits and their images. TESELA_E_MISMATCH unless its
 * bits are bits of outer's places. */
tesela_status tesela__turn_swizzle(const tesela_layout *outer, const tesela_layout *inner, int32_t *n,
                                   tesela_axis_bit *bit, uint64_t *image, tesela_error *err);

/* Add a whole stage of another layout with the same axes. */
tesela_status tesela__add_matrix(tesela_layout *layout, const tesela_bit_matrix *matrix, tesela_error *err);

#endif
