/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer_scan.c - integers that the narrower type cannot hold, looked for before anything is written.
 *
 * Stretches of equal stride are folded into "was any outside", block by block; only a block with one is looked at again.
 */
#include "device/transfer.h"
#include "relayout/values.h"

bool tesela__transfer_narrows(tesela_dtype from, tesela_dtype to, int64_t *low, int64_t *high) {
  tesela_dtype_family family = tesela_dtype_family_of(from);
  int32_t bits = tesela_dtype_bits(to);
  if (family != tesela_dtype_family_of(to) || bits >= tesela_dtype_bits(from)) return false;
  if (family != TESELA_FAMILY_SIGNED && family != TESELA_FAMILY_UNSIGNED) return false;
  bool has_sign = family == TESELA_FAMILY_SIGNED;
  *high = (int64_t)(((uint64_t)1 << (bits - has_sign)) - 1); /* bits is below 64 */
  *low = has_sign ? -*high - 1 : 0;
  return true;
}

/* Does any of n numbers need more than `bits` bits, the sign included? A number with the bits of its sign cleared (turned
   over, if it is negative) has a bit above those if so; so all of them together tell. Four sums do not wait for each other. */
#define FOLD_SIGNED(x) ((uint64_t)(x) ^ ((x) < 0 ? ~(uint64_t)0 : 0))
#define FOLD_UNSIGNED(x) ((uint64_t)(x))
#define SCAN(name, TYPE, FOLD, sign_bits)                                                \
  static bool name(const unsigned char *data, int64_t n, int64_t stride, int32_t bits) { \
    uint64_t a = 0, b = 0, c = 0, d = 0;                                                 \
    int64_t i = 0, step = stride * (int64_t)sizeof(TYPE);                                \
    TYPE x[4];                                                                           \
    for (; i + 4 <= n && stride == 1; i += 4) {                                          \
      memcpy(x, data + i * (int64_t)sizeof(TYPE), sizeof x);                             \
      a |= FOLD(x[0]);                                                                   \
      b |= FOLD(x[1]);                                                                   \
      c |= FOLD(x[2]);                                                                   \
      d |= FOLD(x[3]);                                                                   \
    }                                                                                    \
    for (; i < n; i++) {                                                                 \
      memcpy(x, data + i * step, sizeof x[0]);                                           \
      a |= FOLD(x[0]);                                                                   \
    }                                                                                    \
    return (a | b | c | d) >> (bits - sign_bits) != 0;                                   \
  }
SCAN(scan_s64, int64_t, FOLD_SIGNED, 1)
SCAN(scan_s32, int32_t, FOLD_SIGNED, 1)
SCAN(scan_u64, uint64_t, FOLD_UNSIGNED, 0)
SCAN(scan_u32, uint32_t, FOLD_UNSIGNED, 0)
#undef SCAN
#undef FOLD_SIGNED
#undef FOLD_UNSIGNED

typedef bool scan_fn(const unsigned char *data, int64_t n, int64_t stride, int32_t bits);

static scan_fn *scan_of(tesela_dtype dtype) {
  switch (dtype) {
  case TESELA_S64:
    return scan_s64;
  case TESELA_S32:
    return scan_s32;
  case TESELA_U64:
    return scan_u64;
  default: /* conversions take no other to fewer bits */
    return scan_u32;
  }
}

static tesela_status scan_found(const tesela_layout *src, const int64_t *index, const unsigned char *data,
                                int64_t low, int64_t high, tesela_dtype to, tesela_error *err) {
  char text[700]; /* 32 coordinates */
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer writer = tesela_buffer_writer(&buffer);
  tesela__sink sink;
  uint64_t x = 0;
  int32_t bits = src->bits;
  memcpy(&x, data, (size_t)bits / 8); /* little-endian, as all of the elements are here */
  if (bits < 64 && tesela_dtype_family_of(src->dtype) == TESELA_FAMILY_SIGNED && x >> (bits - 1) & 1)
    x |= ~(uint64_t)0 << bits;
  text[0] = '\0';
  tesela__sink_init(&sink, &writer);
  for (int32_t d = 0; d < src->rank; d++) tesela__putf(&sink, d ? ",%" PRId64 : "%" PRId64, index[d]);
  (void)tesela__sink_finish(&sink, NULL); /* a buffer never refuses */
  if (src->dtype == TESELA_U64)
    return tesela__fail(err, TESELA_E_RANGE, -1, "element (%s) is %" PRIu64 "; %s holds 0 to %" PRId64, text,
                        x, tesela_dtype_name(to), high);
  return tesela__fail(err, TESELA_E_RANGE, -1,
                      "element (%s) is %" PRId64 "; %s holds %" PRId64 " to %" PRId64, text, (int64_t)x,
                      tesela_dtype_name(to), low, high);
}

tesela_status tesela__transfer_scan(const tesela_layout *src, const void *data, int64_t low, int64_t high,
                                    tesela_dtype to, tesela_error *err) {
  tesela__values v;
  scan_fn *outside = scan_of(src->dtype);
  int32_t bits = tesela_dtype_bits(to);
  tesela_status status = tesela__values_begin(&v, src, err);
  if (status != TESELA_OK) return status;
  for (; v.more; tesela__values_skip(&v, v.left)) {
    const unsigned char *at = (const unsigned char *)data + v.place * (src->bits / 8);
    if (!outside(at, v.left, v.stride, bits)) continue;
    int64_t n = 0;
    while (!outside(at + n * v.stride * (src->bits / 8), 1, 1, bits)) n++;
    at += n * v.stride * (src->bits / 8);
    while (n > 0) { /* on to it, within the stretch */
      tesela__values_skip(&v, 1);
      n--;
    }
    return scan_found(src, v.index, at, low, high, to, err);
  }
  return TESELA_OK;
}
