/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_vpad.h - which places vector registers of TPUs give to elements of 16 bits: all tiles, offsets, implicit dims and copies in
 * rows of `#tpu.vpad`, for places below 2048, which are of one register. It shares no code with the library.
 */
#ifndef UNIT_SUPPORT_VPAD_H
#define UNIT_SUPPORT_VPAD_H

#include "support_forms.h"

/* Does a text place the first `count` elements as the table? `next`, if not NULL, gets where those texts place the next one. */
bool vpad_exists(const form_table *t, int count, form_next *next);

#endif
