/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_compose.c - composition of CuTe layouts.
 *
 * A leaf of B whose steps fall on whole digits of A becomes those digits of A; if the digits of all leaves together never carry, that
 * is the answer. Everything else is decided by cute_fit.c. Sw o offset o A composed with B is Sw o offset o (A o B).
 */
#include "cute/cute_algebra.h"
#include "cute/cute_value.h"

/* The simple case, in the brackets of B; false: not simple. B has no offset. */
static bool cute_compose_digits(const tesela__cute_function *a, const tesela_cute *b, tesela_cute *out) {
  int64_t reach[TESELA_CUTE_LEAVES + 1] = {0}; /* of all leaves, in the digit of A below period[k] */
  memset(out, 0, sizeof *out);
  for (int32_t i = 0; i < b->n; i++) {
    int64_t extent = b->extent[i], stride = b->stride[i];
    const int32_t begun = out->n;
    int32_t k = 0;
    while (k < a->n && a->period[k] <= stride) k++;
    if (extent > 1 && k > 0 && stride % a->period[k - 1] != 0) return false;
    for (bool more = true; more; k++) {
      int64_t part = extent, value = a->slope * stride;
      if (out->n == TESELA_CUTE_LEAVES) return false;
      if (k < a->n && (extent - 1) * stride >= a->period[k]) {
        part = a->period[k] / stride;
        if (a->period[k] % stride != 0 || extent % part != 0) return false;
      }
      for (int32_t j = 0; j < k && j < a->n; j++) value += a->jump[j] * (stride / a->period[j]);
      reach[k] += (part - 1) * stride;
      if (k < a->n && reach[k] >= a->period[k]) return false;
      out->extent[out->n] = part;
      out->stride[out->n] = part == 1 ? 0 : value;
      out->n++;
      more = part < extent;
      extent /= part;
      if (more) stride = a->period[k];
    }
    const bool several = out->n > begun + 1;
    out->open[begun] = (uint8_t)(b->open[i] + several);
    out->close[out->n - 1] = (uint8_t)(b->close[i] + several);
  }
  out->offset = a->offset;
  return true;
}

/* Does A continue as one mode, so that it is defined below 0, too? */
static bool cute_is_one_mode(const tesela_cute *a) {
  tesela__cute_function f;
  int64_t size = 1;
  for (int32_t i = 0; i < a->n; i++) size *= a->extent[i];
  return size <= TESELA__CUTE_MOST && tesela__cute_function_of(a, size, &f, NULL) == TESELA_OK && f.n == 0;
}

/* B reaches a coordinate below 0: the first i with B(i) < 0. */
tesela_status tesela__cute_below_zero(const tesela_cute *b, tesela_cute_counter *counter, tesela_error *err) {
  int64_t size = 1, index = 0, value = b->offset;
  int64_t lows[TESELA_CUTE_LEAVES]; /* the sum of what leaves up to i can take off */
  int64_t low = 0;
  for (int32_t i = 0; i < b->n; i++) {
    low += tesela__min(0, (b->extent[i] - 1) * b->stride[i]);
    lows[i] = low;
    size *= b->extent[i];
  }
  for (int32_t i = b->n - 1; i >= 0;
       i--) { /* the fewest of each leaf, the slowest first, so that the rest can get below 0 */
    size /= b->extent[i];
    const int64_t others = value + (i > 0 ? lows[i - 1] : 0);
    if (others < 0 || b->stride[i] >= 0) continue;
    const int64_t digit = others / -b->stride[i] + 1;
    index += digit * size;
    value += digit * b->stride[i];
  }
  *counter =
      (tesela_cute_counter){.given = true, .index = index, .index2 = -1, .value = value, .expected = 0};
  return tesela__fail(err, TESELA_E_RANGE, -1,
                      "coordinate %" PRId64 " of the right layout is coordinate %" PRId64
                      " of the left one; expected 0 or more",
                      index, value);
}

/* A multiplies: places below `high` by 2^k, so the XOR of B is an XOR k bits higher. */
static bool cute_scale_swizzle(const tesela__cute_function *a, const tesela_cute *b, tesela_cute *out) {
  int32_t k = 0;
  if (a->n > 0 || a->slope < 1 || (a->slope & (a->slope - 1)) != 0 || a->offset != 0) return false;
  while ((int64_t)1 << k < a->slope) k++;
  if (b->base + (b->shift < 0 ? -b->shift : b->shift) + b->bits + k > 62) return false;
  *out = *b;
  for (int32_t i = 0; i < b->n; i++) out->stride[i] = b->extent[i] == 1 ? 0 : b->stride[i] * a->slope;
  out->offset = b->offset * a->slope;
  out->base += k;
  return true;
}

/* One more than the highest place after the XOR, rounded up to whole powers of two of its bits. */
static int64_t cute_swizzled_reach(const tesela_cute *b, int64_t most) {
  const int32_t bits = b->base + (b->shift < 0 ? -b->shift : b->shift) + b->bits;
  return most | (((int64_t)1 << bits) - 1);
}

static tesela_status cute_compose_swizzled(const tesela_cute *a, const tesela_cute *b, int64_t most,
                                           tesela_cute *out, tesela_error *err) {
  tesela__cute_function f;
  const int64_t reach = cute_swizzled_reach(b, most);
  tesela_status status =
      reach > TESELA__CUTE_MOST ? TESELA_E_OVERFLOW : tesela__cute_function_of(a, reach, &f, NULL);
  if (status == TESELA_OK && a->bits == 0 && cute_scale_swizzle(&f, b, out)) return TESELA_OK;
  return tesela__fail(
      err, TESELA_E_UNSUPPORTED, -1,
      "the right layout has a swizzle; the left one must be one mode whose stride is a power of two");
}

tesela_status tesela__cute_compose(const tesela_cute *a, const tesela_cute *b, tesela_cute *out,
                                   tesela_cute_counter *counter, tesela_error *err) {
  tesela__cute_function f;
  tesela_cute made;
  int64_t least, most, size = 1;
  tesela__cute_reach(b, &least, &most);
  for (int32_t i = 0; i < b->n; i++) size *= b->extent[i];
  if (size > TESELA__CUTE_MOST || most > TESELA__CUTE_MOST || least < -TESELA__CUTE_MOST)
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the size or the values of the right layout exceed 2^60");
  if (least < 0 && !cute_is_one_mode(a)) return tesela__cute_below_zero(b, counter, err);
  if (b->bits > 0) return cute_compose_swizzled(a, b, most, out, err);
  tesela_status status = tesela__cute_function_of(a, tesela__max(most, -least), &f, err);
  if (status != TESELA_OK) return status;
  if (least < 0) f.n = 0;
  if (b->offset != 0 || !cute_compose_digits(&f, b, &made)) {
    status = tesela__cute_fit(&f, b, &made, counter, err);
    if (status != TESELA_OK) return status;
  }
  made.bits = a->bits;
  made.base = a->base;
  made.shift = a->shift;
  *out = made;
  return TESELA_OK;
}

tesela_status tesela_cute_compose(const tesela_cute *a, const tesela_cute *b, tesela_cute *out,
                                  tesela_cute_counter *counter, tesela_error *err) {
  TESELA__NEED(err, a, b, out);
  tesela_cute_counter unused, *where = counter ? counter : &unused;
  *where = (tesela_cute_counter){.given = false};
  tesela_status status = tesela__cute_plain(a, true, "the left layout", err);
  if (status == TESELA_OK) status = tesela__cute_plain(b, true, "the right layout", err);
  return status == TESELA_OK ? tesela__cute_compose(a, b, out, where, err) : status;
}
