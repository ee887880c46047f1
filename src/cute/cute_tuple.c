/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_tuple.c - coordinates of CuTe layouts, (1,(2,_)): places and back; slices; shape_div.
 */
#include "cute/cute_algebra.h"
#include "cute/cute_value.h"

tesela_status tesela__cute_check_tuple(const tesela_cute_tuple *tuple, tesela_error *err) {
  int32_t depth = 0;
  bool nests = tuple->n >= 1 && tuple->n <= TESELA_CUTE_LEAVES;
  for (int32_t i = 0; nests && i < tuple->n; i++) {
    depth += tuple->open[i] - tuple->close[i];
    nests = depth >= 0 && depth <= TESELA_CUTE_LEAVES && (depth == 0) == (i == tuple->n - 1);
  }
  return nests ? TESELA_OK : tesela__fail(err, TESELA_E_INVALID, -1, "the brackets of the tuple do not nest");
}

/* ---- coordinates ---- */

/* The leaves of a layout that number `k` of a coordinate is for, from leaf *first on; false: the brackets differ. *opened receives
 * the brackets of the layout that belong to the number alone. */
static bool cute_leaves_of(const tesela_cute *cute, const tesela_cute_tuple *at, int32_t k, int32_t first,
                           int32_t *end) {
  if (first >= cute->n || cute->open[first] < at->open[k]) return false;
  int32_t depth = cute->open[first] - at->open[k], i = first;
  for (;; i++) {
    if (i > first) depth += cute->open[i];
    if (depth <= cute->close[i]) break;
    depth -= cute->close[i];
  }
  *end = i + 1;
  return cute->close[i] - depth == at->close[k];
}

/* The sum of a number's digits times strides; TESELA_E_RANGE beyond the extents. */
static tesela_status cute_place_in(const tesela_cute *cute, int32_t first, int32_t end, int64_t number,
                                   int64_t *place, tesela_error *err) {
  int64_t size = 1, rest = number;
  for (int32_t i = first; i < end; i++) size *= cute->extent[i];
  if (number < 0 || number >= size)
    return tesela_error_outside(err, -1, "the coordinate", -1, number, 0, size - 1);
  for (int32_t i = first; i < end; rest /= cute->extent[i++])
    *place += rest % cute->extent[i] * cute->stride[i];
  return TESELA_OK;
}

static tesela_status cute_differs(const tesela_cute_tuple *at, tesela_error *err) {
  return tesela__fail(err, TESELA_E_MISMATCH, -1,
                      "the coordinate, of %" PRId32 " numbers, has other brackets than the layout", at->n);
}

tesela_status tesela_cute_slice(const tesela_cute *cute, const tesela_cute_tuple *at, tesela_cute *out,
                                int64_t *offset, tesela_error *err) {
  TESELA__NEED(err, cute, at, out, offset);
  tesela_cute made;
  int64_t place = 0;
  int32_t first = 0, end = 0;
  tesela_status status = tesela__cute_plain(cute, true, "the layout", err);
  if (status == TESELA_OK) status = tesela__cute_check_tuple(at, err);
  if (status != TESELA_OK) return status;
  memset(&made, 0, sizeof made);
  for (int32_t k = 0; k < at->n; k++, first = end) {
    if (!cute_leaves_of(cute, at, k, first, &end)) return cute_differs(at, err);
    if (at->any >> k & 1) {
      const int32_t begun = made.n;
      for (int32_t i = first; i < end; i++) {
        made.extent[made.n] = cute->extent[i];
        made.stride[made.n] = cute->stride[i];
        made.open[made.n] = cute->open[i];
        made.close[made.n++] = cute->close[i];
      }
      made.open[begun] = (uint8_t)(made.open[begun] - at->open[k]);
      made.close[made.n - 1] = (uint8_t)(made.close[made.n - 1] - at->close[k]);
    } else {
      status = cute_place_in(cute, first, end, at->value[k], &place, err);
      if (status != TESELA_OK) return status;
    }
  }
  if (first < cute->n) return cute_differs(at, err);
  if (at->open[0] > 0) (void)tesela__cute_close(&made); /* "_" alone is the layout */
  made.bits = cute->bits;
  made.base = cute->base;
  made.shift = cute->shift;
  made.offset = cute->offset + (cute->bits > 0 ? place : 0); /* of a swizzled layout the offset is a part */
  *out = made;
  *offset = cute->bits > 0 ? 0 : place;
  return TESELA_OK;
}

tesela_status tesela_cute_index(const tesela_cute *cute, const tesela_cute_tuple *at, int64_t *place,
                                tesela_error *err) {
  TESELA__NEED(err, cute, at, place);
  int64_t sum = 0;
  int32_t first = 0, end = 0;
  tesela_status status = tesela__cute_plain(cute, true, "the layout", err);
  if (status == TESELA_OK) status = tesela__cute_check_tuple(at, err);
  if (status != TESELA_OK) return status;
  if (at->any != 0) return tesela__fail(err, TESELA_E_INVALID, -1, "expected integers, found '_'");
  if (at->n == 1 && at->open[0] == 0) return tesela_cute_at(cute, at->value[0], place, err);
  for (int32_t k = 0; k < at->n; k++, first = end) {
    if (!cute_leaves_of(cute, at, k, first, &end)) return cute_differs(at, err);
    status = cute_place_in(cute, first, end, at->value[k], &sum, err);
    if (status != TESELA_OK) return status;
  }
  if (first < cute->n) return cute_differs(at, err);
  return tesela__cute_place(cute, sum + cute->offset, place, err);
}

tesela_status tesela_cute_coordinate(const tesela_cute *cute, int64_t i, tesela_cute_tuple *out,
                                     tesela_error *err) {
  TESELA__NEED(err, cute, out);
  tesela_status status = tesela__cute_check(cute, err);
  if (status != TESELA_OK) return status;
  const int64_t size = tesela_cute_size(cute);
  if (i < 0 || i >= size) return tesela_error_outside(err, -1, "the coordinate", -1, i, 0, size - 1);
  if (cute->n == 0) return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "the layout has no modes");
  memset(out, 0, sizeof *out);
  out->n = cute->n;
  for (int32_t k = 0; k < cute->n; i /= cute->extent[k++]) {
    out->value[k] = i % cute->extent[k];
    out->open[k] = cute->open[k];
    out->close[k] = cute->close[k];
  }
  return TESELA_OK;
}

/* ---- shape_div ---- */

static tesela_status cute_divide_extent(int64_t a, int64_t b, int64_t *out, tesela_error *err) {
  if (a < 1 || b < 1) return tesela_error_outside(err, -1, "an extent", -1, a < 1 ? a : b, 1, INT64_MAX);
  if (a % b != 0 && b % a != 0)
    return tesela__refuse(err, TESELA_E_MISMATCH, TESELA_REASON_NOT_DIVISIBLE,
                          "neither of %" PRId64 " and %" PRId64 " divides the other", a, b);
  *out = tesela__ceil_div(a, b);
  return TESELA_OK;
}

tesela_status tesela_cute_shape_div(const tesela_cute_tuple *a, const tesela_cute_tuple *b,
                                    tesela_cute_tuple *out, tesela_error *err) {
  TESELA__NEED(err, a, b, out);
  tesela_cute_tuple made;
  tesela_status status = tesela__cute_check_tuple(a, err);
  if (status == TESELA_OK) status = tesela__cute_check_tuple(b, err);
  if (status != TESELA_OK) return status;
  if ((a->any | b->any) != 0) return tesela__fail(err, TESELA_E_INVALID, -1, "expected integers, found '_'");
  made = *a;
  bool same = a->n == b->n;
  for (int32_t i = 0; same && i < a->n; i++) same = a->open[i] == b->open[i] && a->close[i] == b->close[i];
  if (same) {
    for (int32_t i = 0; i < a->n && status == TESELA_OK; i++)
      status = cute_divide_extent(a->value[i], b->value[i], &made.value[i], err);
  } else if (a->n == 1 || (b->n == 1 && b->open[0] == 0)) { /* by one number, the first extent first */
    int64_t rest = 1;
    for (int32_t i = 0; i < b->n; i++)
      if (!tesela__mul(rest, b->value[i], &rest))
        return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the divisor exceeds 64 bits");
    for (int32_t i = 0; i < a->n && status == TESELA_OK; i++) {
      status = cute_divide_extent(a->value[i], rest, &made.value[i], err);
      if (status == TESELA_OK) status = cute_divide_extent(rest, a->value[i], &rest, err);
    }
  } else {
    status = tesela__fail(err, TESELA_E_MISMATCH, -1, "the tuples have different brackets");
  }
  if (status == TESELA_OK) *out = made;
  return status;
}
