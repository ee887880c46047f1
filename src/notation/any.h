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

/* Texts have no leading blanks; with TESELA_NEEDS_ARRAY the array before the layout is removed and passed in the
 * options. */
typedef struct tesela__notation_row {
  tesela_notation facts;
  /* Does the text, without trailing blanks, begin like this notation? At most one notation answers true, except for
   * real ties. */
  bool (*looks_like)(const char *text, size_t length);
  /* Sets out->kind and the value of that kind, and must use the whole text. options->array is set with
   * TESELA_NEEDS_ARRAY. NULL: the notation is recognised, but not read yet. */
  tesela_status (*read)(const char *text, size_t length, const tesela_layout_read_options *options,
                        tesela_any_layout *out, tesela_error *err);
  /* NULL for relations: `write` prints them, after their array. */
  tesela_status (*print)(const tesela_any_layout *any, const tesela_writer *to, tesela_error *err);
  /* NULL for relations, which have it. */
  tesela_status (*to_layout)(const tesela_any_layout *any, tesela_layout *layout, tesela_error *err);
  /* Writes any finished layout, without its array. *answer comes as TESELA_EXACT, with the layout's rank, shape and places; set
   * what differs; of TESELA_VALID_PART and TESELA_NEEDS_PADDING either, tesela_translate decides which. That no text exists is a verdict, not a failure; then nothing is written. NULL: not a target. */
  tesela_status (*write)(const tesela_layout *layout, const tesela_writer *to, tesela_translation *answer,
                         tesela_error *err);
} tesela__notation_row;

/* ---- any.c ---- */

/* The row of a notation's name, or of a kind that it writes in another way: shared, global. NULL for an unknown name. */
const tesela__notation_row *tesela__notation_row_of(const char *name);
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

/* ---- recognize.c: looks_like of each ---- */

bool tesela__looks_xla(const char *text, size_t length);
bool tesela__looks_jax(const char *text, size_t length);
bool tesela__looks_expression(const char *text, size_t length);
bool tesela__looks_device(const char *text, size_t length);
bool tesela__looks_map(const char *text, size_t length);
bool tesela__looks_cute(const char *text, size_t length);
bool tesela__looks_triton(const char *text, size_t length);
bool tesela__looks_onednn(const char *text, size_t length);
bool tesela__looks_verbose(const char *text, size_t length); /* memory/onednn_verbose.c */
bool tesela__looks_mlir(const char *text, size_t length);
bool tesela__looks_pack(const char *text, size_t length);
bool tesela__looks_mosaic(const char *text, size_t length);
bool tesela__looks_mosaicgpu(const char *text, size_t length);
bool tesela__looks_iree(const char *text, size_t length);
bool tesela__looks_xegpu(const char *text, size_t length);
bool tesela__looks_axe(const char *text, size_t length);
bool tesela__looks_tvm(const char *text, size_t length);
bool tesela__looks_torch(const char *text, size_t length);
bool tesela__looks_einops(const char *text, size_t length);

/* The length of the array that precedes a layout: 9 for "f32[3,5] Layout(..)". 0 without an array, or without text
 * after it. */
size_t tesela__array_before(const char *text, size_t length);

/* Does a wrong text, which no notation claims, begin like a register layout or tile? */
bool tesela__near_expression(const char *text, size_t length);

/* ---- any_rows.c: read, print and to_layout of each ---- */

tesela_status tesela__any_read_xla(const char *text, size_t length, const tesela_layout_read_options *options,
                                   tesela_any_layout *out, tesela_error *err);
tesela_status tesela__any_print_xla(const tesela_any_layout *any, const tesela_writer *to, tesela_error *err);
tesela_status tesela__any_relate_xla(const tesela_any_layout *any, tesela_layout *layout, tesela_error *err);
tesela_status tesela__any_read_jax(const char *text, size_t length, const tesela_layout_read_options *options,
                                   tesela_any_layout *out, tesela_error *err);
tesela_status tesela__any_print_jax(const tesela_any_layout *any, const tesela_writer *to, tesela_error *err);
tesela_status tesela__any_read_expression(const char *text, size_t length,
                                          const tesela_layout_read_options *options, tesela_any_layout *out,
                                          tesela_error *err);
tesela_status tesela__any_print_expression(const tesela_any_layout *any, const tesela_writer *to,
                                           tesela_error *err);
tesela_status tesela__any_relate_expression(const tesela_any_layout *any, tesela_layout *layout,
                                            tesela_error *err);
tesela_status tesela__any_read_device(const char *text, size_t length,
                                      const tesela_layout_read_options *options, tesela_any_layout *out,
                                      tesela_error *err);
tesela_status tesela__any_print_device(const tesela_any_layout *any, const tesela_writer *to,
                                       tesela_error *err);
tesela_status tesela__any_relate_device(const tesela_any_layout *any, tesela_layout *layout,
                                        tesela_error *err);
tesela_status tesela__any_read_map(const char *text, size_t length, const tesela_layout_read_options *options,
                                   tesela_any_layout *out, tesela_error *err);
/* ---- any_write.c: write of each ---- */

tesela_status tesela__write_xla(const tesela_layout *layout, const tesela_writer *to,
                                tesela_translation *answer, tesela_error *err);
tesela_status tesela__write_jax(const tesela_layout *layout, const tesela_writer *to,
                                tesela_translation *answer, tesela_error *err);
tesela_status tesela__write_register(const tesela_layout *layout, const tesela_writer *to,
                                     tesela_translation *answer, tesela_error *err);
tesela_status tesela__write_shared(const tesela_layout *layout, const tesela_writer *to,
                                   tesela_translation *answer, tesela_error *err);
tesela_status tesela__write_global(const tesela_layout *layout, const tesela_writer *to,
                                   tesela_translation *answer, tesela_error *err);
tesela_status tesela__write_device(const tesela_layout *layout, const tesela_writer *to,
                                   tesela_translation *answer, tesela_error *err);

tesela_status tesela__map_write(const tesela_layout *layout, const tesela_writer *to,
                                tesela_translation *answer, tesela_error *err);

/* ---- index/: read and write of each ---- */

bool tesela__looks_affine_map(const char *text, size_t length);
bool tesela__looks_index_map(const char *text, size_t length);
/* affine_map<(d0, d1) -> (..)>, perhaps after "#name =": of the array in the options, its results row-major in memory. */
tesela_status tesela__affine_map_read(const char *text, size_t length,
                                      const tesela_layout_read_options *options, tesela_any_layout *out,
                                      tesela_error *err);
tesela_status tesela__affine_map_write(const tesela_layout *layout, const tesela_writer *to,
                                       tesela_translation *answer, tesela_error *err);
/* lambda n, c: (n, c // 16, c % 16), T.index_map(..) */
tesela_status tesela__index_map_read(const char *text, size_t length,
                                     const tesela_layout_read_options *options, tesela_any_layout *out,
                                     tesela_error *err);
tesela_status tesela__index_map_write(const tesela_layout *layout, const tesela_writer *to,
                                      tesela_translation *answer, tesela_error *err);

/* b (h w) c -> b h w c h=4: the row-major order of the right side. */
tesela_status tesela__einops_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                  tesela_any_layout *out, tesela_error *err);
/* x.reshape(2, 3).transpose(1, 0): the row-major order of the result. */
bool tesela__looks_numpy(const char *text, size_t length);
tesela_status tesela__numpy_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                 tesela_any_layout *out, tesela_error *err);
tesela_status tesela__numpy_write(const tesela_layout *layout, const tesela_writer *to,
                                  tesela_translation *answer, tesela_error *err);
/* The place of an element as code: never read. */
bool tesela__looks_code(const char *text, size_t length);
tesela_status tesela__c_write(const tesela_layout *layout, const tesela_writer *to,
                              tesela_translation *answer, tesela_error *err);
tesela_status tesela__cuda_write(const tesela_layout *layout, const tesela_writer *to,
                                 tesela_translation *answer, tesela_error *err);

/* ---- memory/: read and write of each ---- */

tesela_status tesela__onednn_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                  tesela_any_layout *out, tesela_error *err);
tesela_status tesela__onednn_write(const tesela_layout *layout, const tesela_writer *to,
                                   tesela_translation *answer, tesela_error *err);
tesela_status tesela__verbose_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                   tesela_any_layout *out, tesela_error *err);
tesela_status tesela__tvm_read(const char *text, size_t length, const tesela_layout_read_options *options,
                               tesela_any_layout *out, tesela_error *err);
tesela_status tesela__tvm_write(const tesela_layout *layout, const tesela_writer *to,
                                tesela_translation *answer, tesela_error *err);
/* ---- cute/cute_read.c, cute/cute_write.c ---- */

tesela_status tesela__any_read_cute(const char *text, size_t length,
                                    const tesela_layout_read_options *options, tesela_any_layout *out,
                                    tesela_error *err);
tesela_status tesela__cute_write(const tesela_layout *layout, const tesela_writer *to,
                                 tesela_translation *answer, tesela_error *err);

/* ---- triton/triton_layout.c ---- */

tesela_status tesela__triton_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                  tesela_any_layout *out, tesela_error *err);
/* ---- triton/linear_write.c ---- */

tesela_status tesela__triton_write(const tesela_layout *layout, const tesela_writer *to,
                                   tesela_translation *answer, tesela_error *err);
tesela_status tesela__torch_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                 tesela_any_layout *out, tesela_error *err);
tesela_status tesela__torch_write(const tesela_layout *layout, const tesela_writer *to,
                                  tesela_translation *answer, tesela_error *err);
tesela_status tesela__mlir_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                tesela_any_layout *out, tesela_error *err);
tesela_status tesela__mlir_write(const tesela_layout *layout, const tesela_writer *to,
                                 tesela_translation *answer, tesela_error *err);
tesela_status tesela__pack_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                tesela_any_layout *out, tesela_error *err);
tesela_status tesela__pack_write(const tesela_layout *layout, const tesela_writer *to,
                                 tesela_translation *answer, tesela_error *err);
tesela_status tesela__axe_read(const char *text, size_t length, const tesela_layout_read_options *options,
                               tesela_any_layout *out, tesela_error *err);
tesela_status tesela__axe_write(const tesela_layout *layout, const tesela_writer *to,
                                tesela_translation *answer, tesela_error *err);
tesela_status tesela__axe_print_any(const tesela_any_layout *any, const tesela_writer *to, tesela_error *err);
tesela_status tesela__mosaic_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                  tesela_any_layout *out, tesela_error *err);
tesela_status tesela__mosaic_write(const tesela_layout *layout, const tesela_writer *to,
                                   tesela_translation *answer, tesela_error *err);
tesela_status tesela__iree_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                tesela_any_layout *out, tesela_error *err);
tesela_status tesela__xegpu_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                 tesela_any_layout *out, tesela_error *err);
tesela_status tesela__mosaicgpu_read(const char *text, size_t length,
                                     const tesela_layout_read_options *options, tesela_any_layout *out,
                                     tesela_error *err);

#endif
