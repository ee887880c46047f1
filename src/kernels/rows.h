/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - shared by the row kernels of all instruction sets: the C kernels that they fall back on, short copies,
 * tables.
 */
#ifndef TESELA_SRC_ROWS_H
#define TESELA_SRC_ROWS_H

#include "kernels/kernels.h"

/* Unroll a loop of a few steps over vectors. Clang unrolls it without the pragma, and with it needs minutes under
 * sanitizers if the number of steps is unknown; without optimization gcc warns that it ignores the pragma. */
#if defined(__clang__) || !defined(__OPTIMIZE__)
#define TESELA__UNROLL_GCC
#else
#define TESELA__UNROLL_GCC _Pragma("GCC unroll 16")
#endif

/* Bytes of src that a loop which stores past the cache fetches ahead. Copies of 128 MiB on a Zen 5 virtual machine, as ratio to memcpy, median
 * of 25 pairs, November 2026: no look-ahead 1.43, 1 KiB 1.43, 2 KiB 1.66, 4 and 8 KiB 1.71, 4 KiB into L2 instead of L1 1.60. With other work on
 * the machine all are about 1.45. */
enum { TESELA__STREAM_AHEAD = 4096 };

tesela__rows_fn tesela__k_copy_c, tesela__k_interleave1_c, tesela__k_interleave2_c, tesela__k_interleave4_c,
    tesela__k_interleave8_c, tesela__k_interleave16_c, tesela__k_deinterleave1_c, tesela__k_deinterleave2_c,
    tesela__k_deinterleave4_c, tesela__k_deinterleave8_c, tesela__k_deinterleave16_c, tesela__k_strided1_c,
    tesela__k_strided2_c, tesela__k_strided4_c, tesela__k_strided8_c, tesela__k_strided16_c,
    tesela__k_strided1_avx2, tesela__k_strided2_avx2, tesela__k_strided4_avx2, tesela__k_strided8_avx2,
    tesela__k_strided16_avx2;
tesela__stream_fn tesela__k_stream_avx2;
tesela__bit_block_fn tesela__k_bit_block1_c, tesela__k_bit_block2_c, tesela__k_bit_block4_c;
tesela__convert_fn tesela__k_f32_to_bf16_c, tesela__k_bf16_to_f32_c, tesela__k_f32_to_f16_c,
    tesela__k_f16_to_f32_c, tesela__k_s8_to_s4_c, tesela__k_s4_to_s8_c, tesela__k_pred8_to_1_c,
    tesela__k_pred1_to_8_c, tesela__k_pred8_to_32_c, tesela__k_pred32_to_8_c, tesela__k_pred1_to_32_c,
    tesela__k_pred32_to_1_c, tesela__k_split_f64_c, tesela__k_merge_f64_c, tesela__k_swap16_c,
    tesela__k_swap32_c, tesela__k_swap64_c, tesela__k_swap128_c, tesela__k_bf16_to_f16_c,
    tesela__k_f16_to_bf16_c, tesela__k_pred8_to_f16_c, tesela__k_pred8_to_bf16_c, tesela__k_pred8_to_f32_c,
    tesela__k_f16_to_pred8_c, tesela__k_bf16_to_pred8_c, tesela__k_f32_to_pred8_c, tesela__k_s64_to_s32_c,
    tesela__k_u64_to_u32_c, tesela__k_s32_to_s64_c, tesela__k_u32_to_u64_c, tesela__k_s32_to_s16_c,
    tesela__k_u32_to_u16_c, tesela__k_s16_to_s32_c, tesela__k_u16_to_u32_c, tesela__k_s32_to_s8_c,
    tesela__k_u32_to_u8_c, tesela__k_s8_to_s32_c, tesela__k_u8_to_u32_c, tesela__k_f64_to_f32_c,
    tesela__k_f32_to_f64_c;

/* Copy 1 <= n <= 64 bytes: two overlapping moves of the largest power of two, or four of 16 bytes above 32. */
static inline void tesela__copy_short(unsigned char *dst, const unsigned char *src, size_t n) {
  unsigned char a[16], b[16], c[16], d[16];
  if (n > 32) {
    memcpy(a, src, 16), memcpy(b, src + 16, 16), memcpy(c, src + n - 32, 16), memcpy(d, src + n - 16, 16);
    memcpy(dst, a, 16), memcpy(dst + 16, b, 16), memcpy(dst + n - 32, c, 16), memcpy(dst + n - 16, d, 16);
  } else if (n >= 16) {
    memcpy(a, src, 16), memcpy(b, src + n - 16, 16);
    memcpy(dst, a, 16), memcpy(dst + n - 16, b, 16);
  } else if (n >= 8) {
    memcpy(a, src, 8), memcpy(b, src + n - 8, 8);
    memcpy(dst, a, 8), memcpy(dst + n - 8, b, 8);
  } else if (n >= 4) {
    memcpy(a, src, 4), memcpy(b, src + n - 4, 4);
    memcpy(dst, a, 4), memcpy(dst + n - 4, b, 4);
  } else {
    a[0] = src[0], a[1] = src[n / 2], a[2] = src[n - 1];
    dst[0] = a[0], dst[n / 2] = a[1], dst[n - 1] = a[2];
  }
}

/* Fetch lines of dst that are to be stored to. A store to a line that is not in the first cache waits for it, and one to two lines for both.
 * Inlined, as gcc removes calls of a function that does no more.
 * Emerald Rapids, tensors that fill L2, GB/s of both sides: rows of 132 bytes from 35 to 48, `f32 [32777,2]` taken apart from 31 to 66. */
enum { TESELA__DST_AHEAD = 512 };
TESELA__INLINE void tesela__fetch_dst(const unsigned char *dst, int64_t n) {
  for (int64_t at = 0; at < n; at += 64) __builtin_prefetch(dst + at, 1, 3);
  __builtin_prefetch(dst + n - 1, 1, 3);
}

/* How a kernel stores what cannot go past the cache. */
static inline tesela__stores tesela__stores_to_cache(const tesela__rows *rows) {
  return tesela__past_cache(rows) ? TESELA__TO_CACHE : rows->stores;
}

/* AHEAD: fetch the start of the row of dst after row i. */
TESELA__INLINE void tesela__fetch_next(const tesela__rows *rows, const unsigned char *dst,
                                       const int64_t *dst_off, int64_t i, int64_t count) {
  if (rows->stores == TESELA__TO_CACHE_AHEAD && i + 1 < count)
    tesela__fetch_dst(dst + dst_off[i + 1], tesela__min(rows->n, TESELA__DST_AHEAD));
}

/* Bytes of a stream, whole elements and less than 64, before `dst` reaches a cache line if it advances by `step` per
 * byte; -1 if it never does. */
static inline int64_t tesela__peel(const unsigned char *dst, int64_t width, int64_t step) {
  for (int64_t bytes = 0; bytes < 64; bytes += width)
    if ((((uintptr_t)dst + (uintptr_t)(bytes * step)) & 63) == 0) return bytes;
  return -1;
}

/* A table with entry(p, x, y) for 0 <= p < 16 or 64; `entry` is a macro. */
#define TESELA__EACH4(entry, p, x, y) \
  entry(p, x, y), entry(p + 1, x, y), entry(p + 2, x, y), entry(p + 3, x, y)
#define TESELA__EACH16(entry, p, x, y)                                                                 \
  TESELA__EACH4(entry, p, x, y), TESELA__EACH4(entry, p + 4, x, y), TESELA__EACH4(entry, p + 8, x, y), \
      TESELA__EACH4(entry, p + 12, x, y)
#define TESELA__EACH64(entry, x, y)                                                                 \
  TESELA__EACH16(entry, 0, x, y), TESELA__EACH16(entry, 16, x, y), TESELA__EACH16(entry, 32, x, y), \
      TESELA__EACH16(entry, 48, x, y)

#endif
