/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtype.h - element types: name, width of the value, width of its ordinary storage.
 *
 * Source: XLA's primitive types (xla_data.proto, primitive_util.cc); the numbers are XLA's, so that they can
 * be exchanged with it.
 */
#ifndef TESELA_DTYPE_H
#define TESELA_DTYPE_H

#include <tesela/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* symbol, number, name, bits of the value, bytes one element takes when nothing else is said, family */
#define TESELA_DTYPE_MAP(X)                                               \
  X(TESELA_PRED, 1, "pred", 1, 1, TESELA_FAMILY_BOOL)                     \
  X(TESELA_S8, 2, "s8", 8, 1, TESELA_FAMILY_SIGNED)                       \
  X(TESELA_S16, 3, "s16", 16, 2, TESELA_FAMILY_SIGNED)                    \
  X(TESELA_S32, 4, "s32", 32, 4, TESELA_FAMILY_SIGNED)                    \
  X(TESELA_S64, 5, "s64", 64, 8, TESELA_FAMILY_SIGNED)                    \
  X(TESELA_U8, 6, "u8", 8, 1, TESELA_FAMILY_UNSIGNED)                     \
  X(TESELA_U16, 7, "u16", 16, 2, TESELA_FAMILY_UNSIGNED)                  \
  X(TESELA_U32, 8, "u32", 32, 4, TESELA_FAMILY_UNSIGNED)                  \
  X(TESELA_U64, 9, "u64", 64, 8, TESELA_FAMILY_UNSIGNED)                  \
  X(TESELA_F16, 10, "f16", 16, 2, TESELA_FAMILY_FLOAT)                    \
  X(TESELA_F32, 11, "f32", 32, 4, TESELA_FAMILY_FLOAT)                    \
  X(TESELA_F64, 12, "f64", 64, 8, TESELA_FAMILY_FLOAT)                    \
  X(TESELA_OPAQUE, 14, "opaque", 0, 0, TESELA_FAMILY_NONE)                \
  X(TESELA_C64, 15, "c64", 64, 8, TESELA_FAMILY_COMPLEX)                  \
  X(TESELA_BF16, 16, "bf16", 16, 2, TESELA_FAMILY_FLOAT)                  \
  X(TESELA_TOKEN, 17, "token", 0, 0, TESELA_FAMILY_NONE)                  \
  X(TESELA_C128, 18, "c128", 128, 16, TESELA_FAMILY_COMPLEX)              \
  X(TESELA_F8E5M2, 19, "f8e5m2", 8, 1, TESELA_FAMILY_FLOAT)               \
  X(TESELA_F8E4M3FN, 20, "f8e4m3fn", 8, 1, TESELA_FAMILY_FLOAT)           \
  X(TESELA_S4, 21, "s4", 4, 1, TESELA_FAMILY_SIGNED)                      \
  X(TESELA_U4, 22, "u4", 4, 1, TESELA_FAMILY_UNSIGNED)                    \
  X(TESELA_F8E4M3B11FNUZ, 23, "f8e4m3b11fnuz", 8, 1, TESELA_FAMILY_FLOAT) \
  X(TESELA_F8E5M2FNUZ, 24, "f8e5m2fnuz", 8, 1, TESELA_FAMILY_FLOAT)       \
  X(TESELA_F8E4M3FNUZ, 25, "f8e4m3fnuz", 8, 1, TESELA_FAMILY_FLOAT)       \
  X(TESELA_S2, 26, "s2", 2, 1, TESELA_FAMILY_SIGNED)                      \
  X(TESELA_U2, 27, "u2", 2, 1, TESELA_FAMILY_UNSIGNED)                    \
  X(TESELA_F8E4M3, 28, "f8e4m3", 8, 1, TESELA_FAMILY_FLOAT)               \
  X(TESELA_F8E3M4, 29, "f8e3m4", 8, 1, TESELA_FAMILY_FLOAT)               \
  X(TESELA_S1, 30, "s1", 1, 1, TESELA_FAMILY_SIGNED)                      \
  X(TESELA_U1, 31, "u1", 1, 1, TESELA_FAMILY_UNSIGNED)                    \
  X(TESELA_F4E2M1FN, 32, "f4e2m1fn", 4, 1, TESELA_FAMILY_FLOAT)           \
  X(TESELA_F8E8M0FNU, 33, "f8e8m0fnu", 8, 1, TESELA_FAMILY_FLOAT)         \
  X(TESELA_F6E3M2FN, 35, "f6e3m2fn", 6, 1, TESELA_FAMILY_FLOAT)           \
  X(TESELA_F6E2M3FN, 36, "f6e2m3fn", 6, 1, TESELA_FAMILY_FLOAT)

typedef enum tesela_dtype {
  TESELA_DTYPE_NONE = 0, ///< no type: "not given"
#define TESELA__ROW(symbol, number, name, bits, bytes, family) symbol = number,
  TESELA_DTYPE_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_dtype;

typedef enum tesela_dtype_family {
  TESELA_FAMILY_NONE, ///< token and opaque: no array of them exists
  TESELA_FAMILY_BOOL,
  TESELA_FAMILY_SIGNED,
  TESELA_FAMILY_UNSIGNED,
  TESELA_FAMILY_FLOAT,
  TESELA_FAMILY_COMPLEX,
} tesela_dtype_family;

/// Name of a type, "bf16" for TESELA_BF16; NULL for TESELA_DTYPE_NONE and numbers that are no type.
TESELA_API const char *tesela_dtype_name(tesela_dtype dtype);

/// The type a text of `length` bytes names, in lower case exactly: "bf16" -> TESELA_BF16. TESELA_DTYPE_NONE
/// for any other text. O(1).
TESELA_API tesela_dtype tesela_dtype_find(const char *name, size_t length);

/// The known name nearest to a text nobody knows, for an error message: "fp16", "float16" and "F16" -> "f16".
/// NULL if nothing is near.
TESELA_API const char *tesela_dtype_suggest(const char *name, size_t length);

/// Bits the value has: 1 for pred, 4 for s4, 6 for f6e3m2fn, 32 for f32; 0 for token, opaque and no type.
TESELA_API int32_t tesela_dtype_bits(tesela_dtype dtype);

/// Bytes one element takes when the layout does not say otherwise: 1 for pred and s4, 4 for f32; 0 for token.
TESELA_API int32_t tesela_dtype_bytes(tesela_dtype dtype);

/// Family of a type; TESELA_FAMILY_NONE for token, opaque and no type.
TESELA_API tesela_dtype_family tesela_dtype_family_of(tesela_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
