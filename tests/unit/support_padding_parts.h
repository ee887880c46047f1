/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_padding_parts.h - declarations that the files of the padding oracle (support_padding_oracle.h) share.
 */
#ifndef TESELA_TESTS_SUPPORT_PADDING_PARTS_H
#define TESELA_TESTS_SUPPORT_PADDING_PARTS_H

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_graph_random.h"
#include "support_padding_oracle.h"

enum { RANK = TESELA_GRAPH_RANK, ROOM = 40 };

/* ---- support_padding_values.c --------------------------------------------------------------------------- */

pad_number pad_apply(pad_oracle *o, const tesela_node *node, tesela_fn fn, const tesela_dtype *type,
                     const pad_number *v);

/* Convert a number from type `from` to type `to`. */
pad_number pad_converted(pad_oracle *o, tesela_dtype to, tesela_dtype from, pad_number v);
double pad_float_fn(pad_oracle *o, tesela_fn fn, double x, double y, double z);
int64_t pad_whole_fn(pad_oracle *o, tesela_fn fn, bool logic, int64_t x, int64_t y, int64_t z);
int64_t pad_wrapped(int64_t x);
void pad_failed(pad_oracle *o, int32_t node, const char *what, int64_t at);

/* A number that would show in a result. */
pad_number pad_garbage(pad_oracle *o, tesela_dtype dtype);
bool pad_is_float(tesela_dtype dtype);
const tesela_node *pad_node(const pad_oracle *o, int32_t k);

/* ---- support_padding_places.c --------------------------------------------------------------------------- */

bool pad_first_digits(const tesela_device_layout *layout, int64_t *digit, int64_t *x, int64_t *place,
                      bool *lane);
bool pad_inside(int32_t rank, const int64_t *shape, const int64_t *x);
void pad_make_memory(pad_oracle *o, int32_t k);

/* The index of every place that digits reach, one per call. */
bool pad_next_digits(const tesela_device_layout *layout, int64_t *digit, int64_t *x, int64_t *place,
                     bool *lane);

/* The place of an index, which may exceed extents, or -1. */
int64_t pad_place_of(const tesela_device_layout *layout, const int64_t *x);

/* The place of a node's tensor at an index, which may exceed extents; or -1. */
int64_t pad_locate(const pad_oracle *o, int32_t k, const int64_t *t);
pad_number pad_read_at(pad_oracle *o, int32_t k, const int64_t *t);

/* ---- support_padding_folds.c ---------------------------------------------------------------------------- */

bool pad_all_fine(const pad_oracle *o, int32_t number, bool *any);

/* The end of a whole-stick fold along iteration dim i: while an operand is in a stick with elements, or in padding. */
int64_t pad_fold_end(const pad_oracle *o, int32_t number, const tesela_iteration *iteration, int32_t i);
pad_number pad_fold_first(const tesela_node *node, tesela_fn fn, tesela_dtype dtype);

/* One place of a fold. */
pad_number pad_fold_place(pad_oracle *o, int32_t number, const tesela_iteration *iteration, const int64_t *x);

/* The index of operand k at an iteration. False between elements (a step), where it has none. */
bool pad_operand_index(const pad_oracle *o, int32_t number, int32_t k, const int64_t *it, int64_t looked,
                       int64_t *t);
bool pad_same_bits(tesela_dtype dtype, pad_number a, pad_number b);
pad_number pad_line_place(pad_oracle *o, int32_t number, const tesela_iteration *iteration, const int64_t *x);

#endif
