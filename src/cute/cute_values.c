/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_values.c - a CuTe layout as a function of its flat coordinate.
 *
 * With the sizes P[k] of the leaves before leaf k, the value is the sum of (floor(x / P[k]) mod extent[k]) * stride[k], the last one
 * without the mod. Since y mod s = y - s * floor(y / s), that is stride[0] * x and, for each further leaf, floor(x / P[k]) times
 * stride[k] - extent[k-1] * stride[k-1]. Leaves that coalesce give 0.
 */
#include "cute/cute_algebra.h"
#include "cute/cute_value.h"
#include "layout/layout.h"

static int64_t cute_magnitude(int64_t x) { return x < 0 ? -x : x; }

tesela_status tesela__cute_function_of(const tesela_cute *cute, int64_t most, tesela__cute_function *f,
                                       tesela_error *err) {
  int64_t size = 1, reach = 0, step;
  f->offset = cute->offset;
  f->slope = cute->n > 0 ? cute->stride[0] : 0;
  f->n = 0;
  for (int32_t k = 0; k < cute->n; k++) {
    const int64_t extent = cute->extent[k], stride = cute->stride[k];
    const bool last = k == cute->n - 1;
    const int64_t values = last ? tesela__max(extent, most / size + 1) : extent;
    if (stride < -TESELA__CUTE_MOST || stride > TESELA__CUTE_MOST ||
        !tesela__mul(cute_magnitude(stride), values, &step) || !tesela__add(reach, step, &reach) ||
        reach > TESELA__CUTE_MOST || size > TESELA__CUTE_MOST)
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the values of the left layout exceed 2^60");
    if (k > 0) {
      const int64_t jump = stride - cute->extent[k - 1] * cute->stride[k - 1];
      if (size == 1)
        f->slope += jump;
      else if (f->n > 0 && f->period[f->n - 1] == size)
        f->jump[f->n - 1] += jump;
      else if (size <= most) {
        f->period[f->n] = size;
        f->jump[f->n++] = jump;
      }
      if (f->n > 0 && f->jump[f->n - 1] == 0) f->n--;
    }
    size *= extent;
  }
  return TESELA_OK;
}

void tesela__cute_reach(const tesela_cute *cute, int64_t *least, int64_t *most) {
  *least = *most = cute->offset;
  for (int32_t i = 0; i < cute->n; i++) {
    int64_t reach = (cute->extent[i] - 1) * cute->stride[i];
    *(reach < 0 ? least : most) += reach;
  }
}

int64_t tesela__cute_sum_at(const tesela_cute *cute, int64_t i) {
  int64_t value = cute->offset;
  for (int32_t k = 0; k < cute->n; k++) {
    const bool last = k == cute->n - 1;
    value += (last ? i : i % cute->extent[k]) * cute->stride[k];
    i /= cute->extent[k];
  }
  return value;
}

tesela_status tesela__cute_place(const tesela_cute *cute, int64_t value, int64_t *place, tesela_error *err) {
  if (cute->bits > 0 && value < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "the place before the XOR is %" PRId64 "; expected 0 or more", value);
  *place = cute->bits > 0 ? tesela__xor(cute->bits, cute->base, cute->shift, value) : value;
  return TESELA_OK;
}

int64_t tesela_cute_size(const tesela_cute *cute) {
  int64_t size = 1;
  if (!cute || tesela__cute_check(cute, NULL) != TESELA_OK) return 0;
  for (int32_t i = 0; i < cute->n; i++) size *= cute->extent[i];
  return size;
}

int64_t tesela_cute_cosize(const tesela_cute *cute) {
  int64_t least, most;
  if (!cute || tesela__cute_plain(cute, true, "the layout", NULL) != TESELA_OK) return 0;
  tesela__cute_reach(cute, &least, &most);
  most -= least; /* both are within the sum that was checked */
  return most < INT64_MAX ? most + 1 : 0;
}

tesela_status tesela_cute_at(const tesela_cute *cute, int64_t i, int64_t *place, tesela_error *err) {
  TESELA__NEED(err, cute, place);
  tesela_status status = tesela__cute_plain(cute, true, "the layout", err);
  if (status != TESELA_OK) return status;
  if (i < 0) return tesela_error_outside(err, -1, "the coordinate", -1, i, 0, INT64_MAX);
  int64_t value = cute->offset, step;
  for (int32_t k = 0; k < cute->n; k++) {
    const bool last = k == cute->n - 1;
    if (!tesela__mul(last ? i : i % cute->extent[k], cute->stride[k], &step) ||
        !tesela__add(value, step, &value))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the value at coordinate %" PRId64 " exceeds 64 bits",
                          i);
    i /= cute->extent[k];
  }
  return tesela__cute_place(cute, value, place, err);
}
