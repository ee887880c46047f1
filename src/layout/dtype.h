/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtype.h - names of types beyond the public header, for notations.
 */
#ifndef TESELA_SRC_DTYPE_H
#define TESELA_SRC_DTYPE_H

#include <tesela/layout.h>

/* The parts of a NumPy code: "f4" is letter f and 4 bytes; dtype is TESELA_DTYPE_NONE for a code without a type
 * ("V2"). */
typedef struct tesela__dtype_code {
  char letter;
  int bytes;
  tesela_dtype dtype;
} tesela__dtype_code;

/* Read a code without its byte order; false if it is not a letter and a number. */
bool tesela__dtype_code_read(const char *text, size_t length, tesela__dtype_code *code);
/* The code of a type, or NULL. */
const tesela__dtype_code *tesela__dtype_code_of(tesela_dtype dtype);

/* The type of an unambiguous other spelling: "F32", "float32", "fp32", "int8", "bool".
   TESELA_DTYPE_NONE for other texts, also for "fp8" and "long", which are ambiguous. */
tesela_dtype tesela__dtype_alias(const char *name, size_t length);

#endif
