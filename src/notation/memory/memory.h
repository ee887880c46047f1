/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - shared by the notations of memory layouts.
 */
#ifndef TESELA_SRC_MEMORY_TEXTS_H
#define TESELA_SRC_MEMORY_TEXTS_H

#include "base/reader.h"
#include "notation/any.h"
#include "notation/memory/blocks.h"
#include "notation/parts.h"

/* The array of the options; TESELA_E_UNSUPPORTED without one, TESELA_E_MISMATCH for another rank than `rank` (-1: any). `words`:
 * "the tag". */
tesela_status tesela__memory_array(const tesela_layout_read_options *options, int32_t rank, const char *words,
                                   const tesela_xla_shape **array, tesela_error *err);

/* The end of a text, after blanks. */
tesela_status tesela__text_end(tesela__reader *r);

/* The relation of an array in blocks, with the type given beside the text. `strides` may be NULL. */
tesela_status tesela__memory_blocks(const tesela__blocks *blocks, const tesela_layout_read_options *options,
                                    const tesela_xla_shape *array, const int64_t *strides,
                                    tesela_any_layout *out, tesela_error *err);

/* A layout on the axes thread and local; for others the verdict becomes TESELA_IMPOSSIBLE. */
tesela_status tesela__memory_threads(const tesela_layout *layout, tesela_layout *threads,
                                     tesela_translation *answer, tesela_error *err);

/* ---- onednn_tag.c ---- */

enum { TESELA__ONEDNN_DIMS = 12 }; /* of a tensor, and inner blocks of one */

/* A tag that is the whole text of the reader: aBcd16b, nChw16c. */
tesela_status tesela__onednn_tag(tesela__reader *r, tesela__blocks *blocks);

/* "aBcd16b" */
void tesela__onednn_put_tag(tesela__sink *sink, const tesela__blocks *blocks);

/* ---- strided_find.c ---- */

/* The strides of a finished layout; dims of extent 0 and 1 have those of a row-major array. Without any, the verdict becomes
 * TESELA_IMPOSSIBLE. */
tesela_status tesela__strided_find(const tesela_layout *layout, int64_t *strides, int64_t *offset,
                                   tesela_translation *answer, tesela_error *err);

/* Reduce a layout to the array of the options, if one is given: its type, and its extents, which may be smaller. */
tesela_status tesela__memory_valid(const tesela_layout_read_options *options, tesela_layout *layout,
                                   tesela_error *err);

/* ---- mlir_type.c ---- */

/* "4x8xf32": TESELA_DTYPE_NONE with *bits set for integers of other widths, i24. */
tesela_status tesela__mlir_type(tesela__reader *r, tesela_xla_shape *array, int32_t *bits);

/* The type of the elements, "f32"; an integer of their width without a type. */
const char *tesela__mlir_print_type(const tesela_layout *layout, char text[16]);

/* ---- mosaic_tpu.c ---- */

/* "(8,128)(2,1),[16,1]>", after "#tpu.tiled<", on an array. */
tesela_status tesela__tpu_tiled(tesela__reader *r, const tesela_xla_shape *array, tesela_dtype dtype,
                                int32_t bits, tesela_layout *out);

/* ---- mosaic_vpad.c ---- */

/* "\"32,{0,3},(8,128)\">", after "#tpu.vpad<", on an array. */
tesela_status tesela__tpu_vpad(tesela__reader *r, const tesela_xla_shape *array, tesela_dtype dtype,
                               tesela_layout *out);

/* Write a layout that no tiles express, as *answer says, as vector registers. If those do not either, *answer has the later
 * contradiction. */
tesela_status tesela__tpu_write_vpad(const tesela_layout *layout, const tesela_writer *to,
                                     tesela_translation *answer, tesela_error *err);

#endif
