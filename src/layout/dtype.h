/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtype.h - what notations need to know about the names of types beyond the public header.
 */
#ifndef TESELA_SRC_DTYPE_H
#define TESELA_SRC_DTYPE_H

#include <tesela/layout.h>

/* The type that another spelling means without doubt: "F32", "float32", "fp32", "int8", "bool". Not "fp8" or
   "long", which mean different types to different people. TESELA_DTYPE_NONE for any other text. */
tesela_dtype tesela__dtype_alias(const char *name, size_t length);

#endif
