/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any.h - the row of a notation. docs/design.md, "How a notation is added", describes how to write one.
 */
#ifndef TESELA_NOTATION_ANY_H
#define TESELA_NOTATION_ANY_H

#include <tesela/notation.h>

#include "layout/layout.h"

/* The bit of a kind in tesela_notation.kinds. */
#define TESELA__KIND(kind) (UINT32_C(1) << (kind))

/* Does the text, without blanks around it, begin like this notation? At most one notation answers true, except for
 * real ties. */
typedef bool tesela__row_looks(const char *text, size_t length);
/* Sets out->kind and the value of that kind, and must use the whole text, which has no leading blanks. With
 * TESELA_NEEDS_ARRAY the array before the layout is removed and passed in the options. */
typedef tesela_status tesela__row_read(const char *text, size_t length,
                                       const tesela_layout_read_options *options, tesela_any_layout *out,
                                       tesela_error *err);
typedef tesela_status tesela__row_print(const tesela_any_layout *any, const tesela_writer *to,
                                        tesela_error *err);
typedef tesela_status tesela__row_relate(const tesela_any_layout *any, tesela_layout *layout,
                                         tesela_error *err);
/* Writes any finished layout, without its array. *answer comes as TESELA_EXACT, with the layout's rank, shape and
 * places; set what differs; of TESELA_VALID_PART and TESELA_NEEDS_PADDING either, since tesela_translate decides which.
 * That no text exists is a verdict, not a failure; then nothing is written. */
typedef tesela_status tesela__row_write(const tesela_layout *layout, const tesela_writer *to,
                                        tesela_translation *answer, tesela_error *err);

typedef struct tesela__notation_row {
  tesela_notation facts;
  tesela__row_looks *looks_like;
  tesela__row_read *read;        /* NULL: only written */
  tesela__row_print *print;      /* NULL for relations: `write` prints them, after their array */
  tesela__row_relate *to_layout; /* NULL for relations, which have it */
  tesela__row_write *write;      /* NULL: not a target */
} tesela__notation_row;

/* ---- any.c ---- */

/* The row of a notation's name, or of a kind that it writes in another way: shared, global. NULL for an unknown name. */
const tesela__notation_row *tesela__notation_row_of(const char *name);
/* All rows that read or recognise a text. */
const tesela__notation_row *tesela__notation_rows(int32_t *n);
/* The name of row `i`, for suggestions; NULL after the last. */
const char *tesela__notation_name(const void *user, int32_t i);
/* The notations that tesela reads, or writes: "xla, jax, register, device". */
enum { TESELA__NOTATION_NAMES = 256 };
void tesela__notation_names(bool written, char *out, size_t room);
/* How many notations claim a text. */
int tesela__notation_claims(const char *text, size_t length);
/* TESELA_E_UNSUPPORTED for a notation that is unknown or not written. */
tesela_status tesela__fail_target(const char *name, tesela_error *err);

/* ---- axes.c: register layouts have the axes thread and local, or register, lane, warp and perhaps block ---- */

bool tesela__axes_are_lanes(const tesela_layout *layout);
bool tesela__axes_are_threads(const tesela_layout *layout);
/* With axes register, lane, warp[, block]: the same with thread and local. Others are copied. TESELA_E_UNSUPPORTED for several
 * blocks. */
tesela_status tesela__axes_to_threads(const tesela_layout *layout, tesela_layout *out, tesela_error *err);
/* With axes thread and local: the same with register, lane and warp. Others are copied. TESELA_E_UNSUPPORTED if threads do
 * not divide into warps. */
tesela_status tesela__axes_to_lanes(const tesela_layout *layout, int64_t lanes, tesela_layout *out,
                                    tesela_error *err);

/* ---- any_value.c ---- */

/* Can a layout of its kind, with its axes, be a layout of another kind? */
bool tesela__any_may_become(const tesela_any_layout *any, tesela_kind kind);
/* Make it one. TESELA_E_UNSUPPORTED with the reason if no layout of that kind is equal; then nothing changes. */
tesela_status tesela__any_become(tesela_any_layout *any, tesela_kind kind, tesela_error *err);

/* ---- any_compare.c ---- */

/* tesela_layout_compare on common axes: lanes and warps as threads, any name for a single axis. A layout without type or width has
 * the width of the other. */
tesela_status tesela__compare_by_meaning(const tesela_layout *a, const tesela_layout *b,
                                         tesela_difference *difference, tesela_error *err);

/* ---- row.c ---- */

/* The type that is given beside a text, of options->array, else options->dtype; and its bits, 8 without a type. */
tesela_dtype tesela__given_dtype(const tesela_layout_read_options *options, int32_t *bits);
/* The places of all axes. */
tesela_status tesela__count_places(const tesela_layout *layout, int64_t *places, tesela_error *err);

/* ---- recognize.c ---- */

tesela__row_looks tesela__looks_xla, tesela__looks_jax, tesela__looks_tpu, tesela__looks_expression,
    tesela__looks_device, tesela__looks_map, tesela__looks_cute, tesela__looks_triton, tesela__looks_onednn,
    tesela__looks_mlir, tesela__looks_pack, tesela__looks_mosaic, tesela__looks_mosaicgpu, tesela__looks_iree,
    tesela__looks_xegpu, tesela__looks_axe, tesela__looks_tvm, tesela__looks_torch, tesela__looks_einops;

/* The length of the array that precedes a layout: 9 for "f32[3,5] Layout(..)". 0 without an array, or without text
 * after it. */
size_t tesela__array_before(const char *text, size_t length);

/* Does a wrong text, which no notation claims, begin like a register layout or tile? */
bool tesela__near_expression(const char *text, size_t length);

/* ---- any_rows.c: values of their own ---- */

tesela__row_read tesela__any_read_xla, tesela__any_read_jax, tesela__any_read_tpu,
    tesela__any_read_expression, tesela__any_read_device, tesela__any_read_map;
tesela__row_print tesela__any_print_xla, tesela__any_print_jax, tesela__any_print_expression,
    tesela__any_print_device;
tesela__row_relate tesela__any_relate_xla, tesela__any_relate_expression, tesela__any_relate_device;

/* ---- any_write.c ---- */

tesela__row_write tesela__write_xla, tesela__write_jax, tesela__write_register, tesela__write_shared,
    tesela__write_global, tesela__write_device;

/* ---- map/, cute/, triton/ ---- */

tesela__row_write tesela__map_write;
tesela__row_read tesela__any_read_cute;
tesela__row_write tesela__cute_write;
tesela__row_read tesela__triton_read;
tesela__row_write tesela__triton_write;

/* ---- memory/ ---- */

tesela__row_looks tesela__looks_verbose;
tesela__row_read tesela__onednn_read, tesela__verbose_read, tesela__tvm_read, tesela__torch_read,
    tesela__mlir_read, tesela__pack_read, tesela__mosaic_read, tesela__mosaicgpu_read, tesela__iree_read,
    tesela__xegpu_read, tesela__axe_read;
tesela__row_print tesela__axe_print_any;
tesela__row_write tesela__onednn_write, tesela__verbose_write, tesela__tvm_write, tesela__torch_write,
    tesela__mlir_write, tesela__pack_write, tesela__mosaic_write, tesela__mosaicgpu_write, tesela__iree_write,
    tesela__xegpu_write, tesela__axe_write;

/* ---- index/ ---- */

/* c and cuda are never read; numpy and einops: the row-major order of the result. */
tesela__row_looks tesela__looks_affine_map, tesela__looks_index_map, tesela__looks_numpy, tesela__looks_code;
tesela__row_read tesela__affine_map_read, tesela__index_map_read, tesela__einops_read, tesela__numpy_read;
tesela__row_write tesela__affine_map_write, tesela__index_map_write, tesela__einops_write,
    tesela__numpy_write, tesela__c_write, tesela__cuda_write;

#endif
