/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlir_type.c - extents and element types of MLIR: 4x8xf32, 2x3xcomplex<f32>, 16xi4, 4xf8E4M3FN.
 */
#include <stdio.h>

#include "notation/memory/memory.h"

/* Names that differ from those of XLA; i8 is signed where the sign is not given. */
static const struct {
  const char *name;
  tesela_dtype dtype;
} mlir_types[] = {
    {"f16", TESELA_F16},
    {"f32", TESELA_F32},
    {"f64", TESELA_F64},
    {"bf16", TESELA_BF16},
    {"i1", TESELA_PRED},
    {"i2", TESELA_S2},
    {"i4", TESELA_S4},
    {"i8", TESELA_S8},
    {"i16", TESELA_S16},
    {"i32", TESELA_S32},
    {"i64", TESELA_S64},
    {"ui2", TESELA_U2},
    {"ui4", TESELA_U4},
    {"ui8", TESELA_U8},
    {"ui16", TESELA_U16},
    {"ui32", TESELA_U32},
    {"ui64", TESELA_U64},
    {"complex<f32>", TESELA_C64},
    {"complex<f64>", TESELA_C128},
    {"f8E5M2", TESELA_F8E5M2},
    {"f8E4M3", TESELA_F8E4M3},
    {"f8E4M3FN", TESELA_F8E4M3FN},
    {"f8E3M4", TESELA_F8E3M4},
    {"f8E4M3FNUZ", TESELA_F8E4M3FNUZ},
    {"f8E5M2FNUZ", TESELA_F8E5M2FNUZ},
    {"f8E4M3B11FNUZ", TESELA_F8E4M3B11FNUZ},
    {"f8E8M0FNU", TESELA_F8E8M0FNU},
    {"f4E2M1FN", TESELA_F4E2M1FN},
    {"f6E2M3FN", TESELA_F6E2M3FN},
    {"f6E3M2FN", TESELA_F6E3M2FN},
    {"si2", TESELA_S2},
    {"si4", TESELA_S4},
    {"si8", TESELA_S8},
    {"si16", TESELA_S16},
    {"si32", TESELA_S32},
    {"si64", TESELA_S64},
    {"index", TESELA_S64},
};

enum { MLIR_TYPES = sizeof mlir_types / sizeof mlir_types[0] };

static const char *mlir_type_at(int32_t i) { return i < MLIR_TYPES ? mlir_types[i].name : NULL; }

static tesela_status mlir_element(tesela__reader *r, tesela_xla_shape *array, int32_t *bits) {
  size_t n = tesela__read_word(r), at = r->at;
  int64_t width;
  size_t end;
  if (n == 0) return tesela__read_unexpected(r, "an element type, such as f32", "");
  if (at + n < r->length && r->text[at + n] == '<') {
    const char *close = memchr(r->text + at, '>', r->length - at);
    if (close) n = (size_t)(close - r->text) + 1 - at;
  }
  for (int32_t i = 0; i < MLIR_TYPES; i++)
    if (tesela__same_word(r->text + at, n, mlir_types[i].name)) {
      array->dtype = mlir_types[i].dtype;
      *bits = 8 * tesela_dtype_bytes(array->dtype);
      r->at += n;
      return TESELA_OK;
    }
  tesela__reader number = {.text = r->text, .length = at + n, .at = at + 1};
  if (r->text[at] == 'i' && tesela__read_integer_next(&number) &&
      tesela__read_scan(&number, &end, &width) == 1 && end == at + n && width >= 1 && width <= 1024) {
    *bits = (int32_t)width;
    r->at += n;
    return TESELA_OK;
  }
  return tesela__read_unknown_of(r, at, n, "element type", mlir_type_at);
}

tesela_status tesela__mlir_type(tesela__reader *r, tesela_xla_shape *array, int32_t *bits) {
  *array = (tesela_xla_shape){.dtype = TESELA_DTYPE_NONE};
  for (;;) {
    int c = tesela__read_peek(r);
    if (c == '?')
      return tesela__read_fail(r, TESELA_E_UNSUPPORTED, r->at,
                               "'?' is an extent known at run time only; write a number");
    if (c == '*')
      return tesela__read_fail(r, TESELA_E_UNSUPPORTED, r->at, "'*' is a rank known at run time only");
    if (c < '0' || c > '9') return mlir_element(r, array, bits);
    if (array->rank == TESELA_MAX_RANK)
      return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d dims", TESELA_MAX_RANK);
    tesela_status status = tesela__read_integer(r, "extent", 0, INT64_MAX, &array->dim[array->rank++]);
    if (status == TESELA_OK) status = tesela__read_expect(r, 'x', "after the extent");
    if (status != TESELA_OK) return status;
  }
}

const char *tesela__mlir_print_type(const tesela_layout *layout, char text[16]) {
  for (int32_t i = 0; i < MLIR_TYPES; i++)
    if (mlir_types[i].dtype == layout->dtype && layout->bits == 8 * tesela_dtype_bytes(layout->dtype))
      return mlir_types[i].name;
  (void)snprintf(text, 16, "i%" PRId32, layout->bits);
  return text;
}
