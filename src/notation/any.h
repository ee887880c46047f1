/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any.h - the row of a notation. docs/design.md, "How a notation is added", describes how to write one.
 */
#ifndef TESELA_NOTATION_ANY_H
#define TESELA_NOTATION_ANY_H

#include <tesela/notation.h>

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
  tesela_status (*print)(const tesela_any_layout *any, const tesela_writer *to, tesela_error *err);
  tesela_status (*to_layout)(const tesela_any_layout *any, tesela_layout *layout, tesela_error *err);
} tesela__notation_row;

/* ---- recognize.c: looks_like of each ---- */

bool tesela__looks_xla(const char *text, size_t length);
bool tesela__looks_jax(const char *text, size_t length);
bool tesela__looks_expression(const char *text, size_t length);
bool tesela__looks_device(const char *text, size_t length);
bool tesela__looks_map(const char *text, size_t length);
bool tesela__looks_cute(const char *text, size_t length);
bool tesela__looks_triton(const char *text, size_t length);
bool tesela__looks_onednn(const char *text, size_t length);
bool tesela__looks_mlir(const char *text, size_t length);
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
tesela_status tesela__any_print_map(const tesela_any_layout *any, const tesela_writer *to, tesela_error *err);
tesela_status tesela__any_relate_map(const tesela_any_layout *any, tesela_layout *layout, tesela_error *err);

#endif
