/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transform.c - the conversions between types.
 */
#include "relayout/plan.h"

const char *tesela__conversion_name(tesela__conversion conversion) {
  switch (conversion) {
#define TESELA__ROW(symbol, value, name, src_bits, dst_bits) \
  case symbol:                                               \
    return name;
    TESELA__CONVERSION_MAP(TESELA__ROW)
#undef TESELA__ROW
  case TESELA__CONVERSION_NONE:
    break;
  }
  return "";
}

static const struct {
  tesela_dtype src;
  int32_t src_bits;
  tesela_dtype dst;
  int32_t dst_bits;
  tesela__conversion conversion;
} convert_rows_of_types[] = {
    {TESELA_F32, 32, TESELA_BF16, 16, TESELA__F32_TO_BF16},
    {TESELA_BF16, 16, TESELA_F32, 32, TESELA__BF16_TO_F32},
    {TESELA_F32, 32, TESELA_F16, 16, TESELA__F32_TO_F16},
    {TESELA_F16, 16, TESELA_F32, 32, TESELA__F16_TO_F32},
    {TESELA_S8, 8, TESELA_S4, 4, TESELA__S8_TO_S4},
    {TESELA_S4, 4, TESELA_S8, 8, TESELA__S4_TO_S8},
    {TESELA_PRED, 8, TESELA_PRED, 1, TESELA__PRED8_TO_1},
    {TESELA_PRED, 1, TESELA_PRED, 8, TESELA__PRED1_TO_8},
    {TESELA_PRED, 8, TESELA_PRED, 32, TESELA__PRED8_TO_32},
    {TESELA_PRED, 32, TESELA_PRED, 8, TESELA__PRED32_TO_8},
    {TESELA_PRED, 1, TESELA_PRED, 32, TESELA__PRED1_TO_32},
    {TESELA_PRED, 32, TESELA_PRED, 1, TESELA__PRED32_TO_1},
    {TESELA_F64, 64, TESELA_F32, 32, TESELA__F64_TO_F32},
    {TESELA_F32, 32, TESELA_F64, 64, TESELA__F32_TO_F64},
    {TESELA_BF16, 16, TESELA_F16, 16, TESELA__BF16_TO_F16},
    {TESELA_F16, 16, TESELA_BF16, 16, TESELA__F16_TO_BF16},
    {TESELA_PRED, 8, TESELA_F16, 16, TESELA__PRED8_TO_F16},
    {TESELA_F16, 16, TESELA_PRED, 8, TESELA__F16_TO_PRED8},
    {TESELA_PRED, 8, TESELA_BF16, 16, TESELA__PRED8_TO_BF16},
    {TESELA_BF16, 16, TESELA_PRED, 8, TESELA__BF16_TO_PRED8},
    {TESELA_PRED, 8, TESELA_F32, 32, TESELA__PRED8_TO_F32},
    {TESELA_F32, 32, TESELA_PRED, 8, TESELA__F32_TO_PRED8},
    {TESELA_S64, 64, TESELA_S32, 32, TESELA__S64_TO_S32},
    {TESELA_S32, 32, TESELA_S64, 64, TESELA__S32_TO_S64},
    {TESELA_S32, 32, TESELA_S8, 8, TESELA__S32_TO_S8},
    {TESELA_S8, 8, TESELA_S32, 32, TESELA__S8_TO_S32},
    {TESELA_S32, 32, TESELA_S16, 16, TESELA__S32_TO_S16},
    {TESELA_S16, 16, TESELA_S32, 32, TESELA__S16_TO_S32},
    {TESELA_U64, 64, TESELA_U32, 32, TESELA__U64_TO_U32},
    {TESELA_U32, 32, TESELA_U64, 64, TESELA__U32_TO_U64},
    {TESELA_U32, 32, TESELA_U8, 8, TESELA__U32_TO_U8},
    {TESELA_U8, 8, TESELA_U32, 32, TESELA__U8_TO_U32},
    {TESELA_U32, 32, TESELA_U16, 16, TESELA__U32_TO_U16},
    {TESELA_U16, 16, TESELA_U32, 32, TESELA__U16_TO_U32},
};

static const char *type_name(tesela_dtype dtype) {
  const char *name = tesela_dtype_name(dtype);
  return name ? name : "no type";
}

/* A type of 4, 2 or 1 bits, in bytes of its own and packed. */
static tesela__conversion find_narrow(tesela_dtype dtype, int32_t dst_bits, int32_t src_bits) {
  int32_t bits = tesela_dtype_bits(dtype);
  bool is_signed = tesela_dtype_family_of(dtype) == TESELA_FAMILY_SIGNED;
  if (bits != 4 && bits != 2 && bits != 1) return TESELA__CONVERSION_NONE;
  if (src_bits == 8 && dst_bits == bits)
    return bits == 4 ? TESELA__LOW_8_TO_4 : bits == 2 ? TESELA__LOW_8_TO_2 : TESELA__LOW_8_TO_1;
  if (src_bits != bits || dst_bits != 8) return TESELA__CONVERSION_NONE;
  if (bits == 4) return is_signed ? TESELA__S4_TO_S8 : TESELA__U4_TO_8;
  if (bits == 2) return is_signed ? TESELA__S2_TO_8 : TESELA__U2_TO_8;
  return is_signed ? TESELA__S1_TO_8 : TESELA__PRED1_TO_8;
}

static tesela_status find_convert(tesela_dtype dst, int32_t dst_bits, tesela_dtype src, int32_t src_bits,
                                  tesela__conversion *conversion, tesela_error *err) {
  *conversion = TESELA__CONVERSION_NONE;
  if (dst == src && dst_bits == src_bits) return TESELA_OK;
  for (size_t i = 0; i < sizeof convert_rows_of_types / sizeof convert_rows_of_types[0]; i++) {
    if (convert_rows_of_types[i].src != src || convert_rows_of_types[i].src_bits != src_bits ||
        convert_rows_of_types[i].dst != dst || convert_rows_of_types[i].dst_bits != dst_bits)
      continue;
    *conversion = convert_rows_of_types[i].conversion;
    return TESELA_OK;
  }
  if (dst == src) *conversion = find_narrow(dst, dst_bits, src_bits);
  if (*conversion != TESELA__CONVERSION_NONE) return TESELA_OK;
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                      "no conversion from %s in %" PRId32 " bits to %s in %" PRId32
                      "; available: between f32, f16 and bf16, f64<->f32, between 32 bits and 8, 16 or 64 of "
                      "s and of u, s8<->s4, types of 1, 2 and 4 bits in 8, pred in 1, 8 and 32 bits, and "
                      "pred in 8 <-> f32, f16 and bf16",
                      type_name(src), src_bits, type_name(dst), dst_bits);
}

static tesela_status find_swap(tesela_dtype dtype, int32_t bits, tesela__conversion *conversion,
                               tesela_error *err) {
  if (bits < 8)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "elements of %" PRId32 " bits have no bytes to swap",
                        bits);
  bool complex = tesela_dtype_family_of(dtype) == TESELA_FAMILY_COMPLEX;
  *conversion = bits == 8    ? TESELA__CONVERSION_NONE
                : bits == 16 ? TESELA__SWAP16
                : bits == 32 ? TESELA__SWAP32
                : bits == 64 ? (complex ? TESELA__SWAP_C64 : TESELA__SWAP64)
                             : (complex ? TESELA__SWAP_C128 : TESELA__SWAP128);
  return TESELA_OK;
}

static tesela_status find_pair(tesela_dtype wide, int32_t wide_bits, int32_t pair_bits,
                               tesela__conversion wanted, tesela__conversion *conversion, tesela_error *err) {
  if (wide != TESELA_F64 || wide_bits != 64 || pair_bits != 64)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "a pair of f32 needs f64 in 64 bits; found %s in %" PRId32
                        " bits and pairs of %" PRId32 " bits",
                        type_name(wide), wide_bits, pair_bits);
  *conversion = wanted;
  return TESELA_OK;
}

static tesela_status check_same_type(tesela_dtype dst, int32_t dst_bits, tesela_dtype src, int32_t src_bits,
                                     tesela_error *err) {
  if (dst_bits != src_bits)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "elements of %" PRId32 " bits in src and of %" PRId32 " bits in dst", src_bits,
                        dst_bits);
  if (dst != src && dst != TESELA_DTYPE_NONE && src != TESELA_DTYPE_NONE)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "src holds %s and dst %s, and no conversion was requested", type_name(src),
                        type_name(dst));
  return TESELA_OK;
}

tesela_status tesela__conversion_find(tesela_transform transform, tesela_dtype dst, int32_t dst_bits,
                                      tesela_dtype src, int32_t src_bits, tesela__conversion *conversion,
                                      tesela_error *err) {
  tesela__conversion found = TESELA__CONVERSION_NONE;
  tesela_status status;
  switch (transform) {
  case TESELA_TRANSFORM_NONE:
    status = check_same_type(dst, dst_bits, src, src_bits, err);
    break;
  case TESELA_TRANSFORM_SWAP:
    status = check_same_type(dst, dst_bits, src, src_bits, err);
    if (status == TESELA_OK) status = find_swap(dst ? dst : src, dst_bits, &found, err);
    break;
  case TESELA_TRANSFORM_CONVERT:
    status = find_convert(dst, dst_bits, src, src_bits, &found, err);
    break;
  case TESELA_TRANSFORM_SPLIT:
    status = find_pair(src, src_bits, dst_bits, TESELA__SPLIT_F64, &found, err);
    break;
  case TESELA_TRANSFORM_MERGE:
    status = find_pair(dst, dst_bits, src_bits, TESELA__MERGE_F64, &found, err);
    break;
  default:
    status = tesela__fail(err, TESELA_E_RANGE, -1, "unknown transform %d", (int)transform);
  }
  if (status == TESELA_OK) *conversion = found;
  return status;
}

tesela_status tesela_transform_check(tesela_transform transform, tesela_dtype dst, int32_t dst_bits,
                                     tesela_dtype src, int32_t src_bits, tesela_error *err) {
  tesela__conversion conversion;
  return tesela__conversion_find(transform, dst, dst_bits, src, src_bits, &conversion, err);
}
