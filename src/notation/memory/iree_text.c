/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iree_text.c - encodings of IREE that say where elements are; others are refused by name.
 *
 *   #iree_encoding.layout<[#iree_cpu.vmvx_encoding_resolver<configuration = {encoding_info =
 *       {innerDimsPos = [0, 1], innerTileSizes = [8, 4], outerDimsPerm = [1, 0]}}>]>         linalg.pack
 *   #iree_encoding.padding<[0, 64]>          row-major with 64 elements after each row
 *   #iree_encoding.packed_storage            row-major, bits of i1 side by side
 */
#include "notation/memory/memory.h"

/* Row-major with padding at the end of each dim. */
static tesela_status iree_padding(tesela__reader *r, const tesela_xla_shape *array, tesela_dtype dtype,
                                  int32_t bits, tesela_layout *out) {
  int64_t padding[TESELA_MAX_RANK], strides[TESELA_MAX_RANK], next = 1, padded;
  int32_t n;
  size_t begin = r->at;
  if (memchr(r->text + r->at, '?', r->length - r->at))
    return tesela__read_fail(r, TESELA_E_UNSUPPORTED, begin, "'?' is known at run time only; write a number");
  tesela_status status = tesela__read_integers(r, '[', false, "a number of elements", TESELA_E_OVERFLOW,
                                               TESELA_MAX_RANK, padding, &n);
  if (status == TESELA_OK) status = tesela__read_expect(r, '>', "after the padding");
  if (status == TESELA_OK) status = tesela__text_end(r);
  if (status != TESELA_OK) return status;
  if (n != array->rank)
    return tesela__read_fail(r, TESELA_E_MISMATCH, begin,
                             "padding of %" PRId32 " dims; the array has %" PRId32, n, array->rank);
  for (int32_t d = n - 1; d >= 0; d--) {
    strides[d] = next;
    if (padding[d] < 0)
      return tesela__read_fail(r, TESELA_E_RANGE, begin, "a padding is %" PRId64, padding[d]);
    if (!tesela__add(array->dim[d], padding[d], &padded) || !tesela__mul(next, tesela__max(padded, 1), &next))
      return tesela__read_fail(r, TESELA_E_OVERFLOW, begin, "the padded array does not fit in 64 bits");
  }
  return tesela_layout_strided(out, dtype, bits, array->rank, array->dim, strides, 0, r->err);
}

tesela_status tesela__iree_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                tesela_any_layout *out, tesela_error *err) {
  tesela__reader r = {
      .text = text, .length = length, .err = err, .blanks = TESELA__BLANKS_TEXT, .word = TESELA__BYTE_NAME};
  int32_t bits;
  const tesela_xla_shape *array;
  tesela_dtype dtype = tesela__given_dtype(options, &bits);
  tesela_status status = tesela__memory_array(options, -1, "the encoding", &array, err);
  if (status != TESELA_OK) return status;
  out->kind = TESELA_KIND_RELATION;
  if (tesela__read_take_text(&r, "#iree_encoding.padding<"))
    return iree_padding(&r, array, dtype, bits, &out->relation);
  if (tesela__read_take_text(&r, "#iree_encoding.packed_storage")) {
    status = tesela__text_end(&r);
    if (status != TESELA_OK) return status;
    if (dtype != TESELA_DTYPE_NONE && dtype != TESELA_PRED)
      return tesela__fail(err, TESELA_E_MISMATCH, 0, "packed storage is of pred; the type is %s",
                          tesela_dtype_name(dtype));
    return tesela_layout_strided(&out->relation, TESELA_PRED, 1, array->rank, array->dim, NULL, 0, err);
  }
  return tesela__pack_read(text, length, options, out, err);
}
