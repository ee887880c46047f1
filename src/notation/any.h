/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any.h - the row of a notation. docs/notations.md, "How a notation is added", says how one is written.
 */
#ifndef TESELA_NOTATION_ANY_H
#define TESELA_NOTATION_ANY_H

#include <tesela/notation.h>

/* A text has no blanks before it; of a notation with TESELA_NEEDS_ARRAY the array before it is taken off and stands in the options. */
typedef struct tesela__notation_row {
  tesela_notation facts;
  /* Does the text, without blanks at its end, begin as this notation does? True for no text that another notation can mean, but for real ties. */
  bool (*looks_like)(const char *text, size_t length);
  /* NULL: recognised, not read yet. Sets out->kind and the value of that kind; the whole text must be used. With
     TESELA_NEEDS_ARRAY options->array is there. */
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
bool tesela__looks_cute(const char *text, size_t length);
bool tesela__looks_triton(const char *text, size_t length);
bool tesela__looks_onednn(const char *text, size_t length);
bool tesela__looks_mlir(const char *text, size_t length);
bool tesela__looks_tvm(const char *text, size_t length);
bool tesela__looks_torch(const char *text, size_t length);
bool tesela__looks_einops(const char *text, size_t length);

/* The bytes of an array before a text, "f32[3,5] " of "f32[3,5] Layout(..)"; 0 if no array or no text stands there. */
size_t tesela__array_before(const char *text, size_t length);

/* Is a text that no notation claims, since it is wrong, a register layout or tile with a misspelt name? */
bool tesela__near_expression(const char *text, size_t length);

#endif
