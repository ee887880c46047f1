/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_value.c - the checks of a tesela_cute.
 */
#include "cute/cute_value.h"

/* "((2,2),3)" is open 2, 0, 0 and close 0, 1, 1. */
static bool cute_nests(const tesela_cute *cute) {
  int32_t depth = 0;
  for (int32_t i = 0; i < cute->n; i++) {
    depth += cute->open[i];
    if (depth > TESELA_CUTE_LEAVES || cute->close[i] > depth) return false;
    depth -= cute->close[i];
    if ((depth == 0) != (i == cute->n - 1)) return false;
  }
  return true;
}

static bool cute_swizzles(const tesela_cute *cute) {
  int64_t bits = cute->bits, base = cute->base;
  int64_t shift = cute->shift < 0 ? -(int64_t)cute->shift : cute->shift;
  return bits == 0 || (bits > 0 && base >= 0 && shift >= bits && base + shift + bits <= 62);
}

/* *sum += |number|. */
static bool cute_add_size(int64_t number, int64_t *sum) {
  int64_t size = number;
  return (number >= 0 || tesela__sub(0, number, &size)) && tesela__add(*sum, size, sum);
}

tesela_status tesela__cute_check(const tesela_cute *cute, tesela_error *err) {
  int64_t size = 1, reach = 0;
  bool fits = cute_add_size(cute->offset, &reach);
  if (cute->n < 0 || cute->n > TESELA_CUTE_LEAVES)
    return tesela__fail(err, TESELA_E_INVALID, -1, "the layout has %" PRId32 " leaves; expected 0 to %d",
                        cute->n, TESELA_CUTE_LEAVES);
  if (!cute_nests(cute))
    return tesela__fail(err, TESELA_E_INVALID, -1, "the brackets of the layout do not nest");
  if (!cute_swizzles(cute))
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "invalid swizzle; expected |shift| >= bits and base + |shift| + bits <= 62");
  for (int32_t i = 0; i < cute->n; i++) {
    int64_t step = 0;
    if (cute->extent[i] < 1 || cute->n_path[i] > TESELA_CUTE_PATH)
      return tesela__fail(err, TESELA_E_INVALID, -1, "the extent or the path of leaf %" PRId32 " is invalid",
                          i);
    fits = fits && tesela__mul(size, cute->extent[i], &size) &&
           tesela__mul(cute->extent[i] - 1, cute->stride[i], &step) && cute_add_size(step, &reach);
  }
  return fits ? TESELA_OK
              : tesela__fail(err, TESELA_E_OVERFLOW, -1,
                             "the size or the places of the layout exceed 64 bits");
}
