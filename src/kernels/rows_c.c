/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_c.c - rows of bytes and of whole elements, in portable C: copy, interleave, deinterleave, strided, stream.
 *
 * The reference and the fallback of the other instruction sets; `stores` is ignored. Elements are copied by memcpy of a
 * constant size, which compilers turn into one move; they also vectorise the loops with constant width and k.
 */
#include "kernels/rows.h"

/* Rows of the same few bytes: a move of a constant size. */
#define COPY_ALL(bytes) \
  for (int64_t i = 0; i < count; i++) memcpy(dst + dst_off[i], src + src_off[i], bytes)

/* Rows of `bytes` to twice as many: the first ones and the last ones, which may overlap. */
#define COPY_ENDS(bytes)                                        \
  for (int64_t i = 0; i < count; i++) {                         \
    const unsigned char *from = src + src_off[i];               \
    unsigned char *to = dst + dst_off[i], a[bytes], b[bytes];   \
    memcpy(a, from, bytes), memcpy(b, from + n - bytes, bytes); \
    memcpy(to, a, bytes), memcpy(to + n - bytes, b, bytes);     \
  }

void tesela__k_copy_c(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,
                      const unsigned char *src, const int64_t *src_off, int64_t count) {
  size_t n = (size_t)rows->n;
  if (n == 4)
    COPY_ALL(4);
  else if (n == 8)
    COPY_ALL(8);
  else if (n == 16)
    COPY_ALL(16);
  else if (n > 16 && n <= 32)
    COPY_ENDS(16)
  else if (n > 8 && n < 16)
    COPY_ENDS(8)
  else if (n > 4 && n < 8)
    COPY_ENDS(4)
  else if (n == 3 || n == 2)
    COPY_ENDS(2)
  else if (n <= 64)
    for (int64_t i = 0; i < count; i++) tesela__copy_short(dst + dst_off[i], src + src_off[i], n);
  else
    for (int64_t i = 0; i < count; i++) memcpy(dst + dst_off[i], src + src_off[i], n);
}

#undef COPY_ENDS
#undef COPY_ALL

void tesela__k_stream_c(unsigned char *dst, const unsigned char *src, int64_t lines) {
  memcpy(dst, src, (size_t)lines * 64);
}

void tesela__k_stream_rows_c(const tesela__stream_rows *rows) {
  for (int64_t i = 0; i < rows->count; i++) {
    const unsigned char *from = rows->src + i * rows->pitch;
    unsigned char *to = rows->dst + rows->dst_off[i * rows->step];
    const int64_t phase = (int64_t)((uintptr_t)to % 64), end = phase + rows->n;
    const int64_t first = rows->begins ? phase : 0, last = rows->ends ? end : end / 64 * 64;
    memcpy(to - phase + first, from - phase + first, (size_t)(last - first));
    if (!rows->ends) memcpy(rows->keep[i], from + rows->n - 64, 64);
  }
}

/* ---- k streams --------------------------------------------------------------------------------------------- */

static inline void interleave_row_c(unsigned char *dst, const unsigned char *src, int64_t n, int64_t k,
                                    int64_t pitch, int64_t width) {
  for (int64_t e = 0; e < n; e++)
    for (int64_t s = 0; s < k; s++)
      memcpy(dst + (e * k + s) * width, src + s * pitch + e * width, (size_t)width);
}

static inline void deinterleave_row_c(unsigned char *dst, const unsigned char *src, int64_t n, int64_t k,
                                      int64_t pitch, int64_t width) {
  for (int64_t e = 0; e < n; e++)
    for (int64_t s = 0; s < k; s++)
      memcpy(dst + s * pitch + e * width, src + (e * k + s) * width, (size_t)width);
}

#define STREAMS(name, row, pitch, width)                                                                    \
  void name(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off, const unsigned char *src, \
            const int64_t *src_off, int64_t count) {                                                        \
    for (int64_t i = 0; i < count; i++) {                                                                   \
      unsigned char *to = dst + dst_off[i];                                                                 \
      const unsigned char *from = src + src_off[i];                                                         \
      switch (rows->k) {                                                                                    \
      case 2:                                                                                               \
        row(to, from, rows->n, 2, rows->pitch, width);                                                      \
        break;                                                                                              \
      case 3:                                                                                               \
        row(to, from, rows->n, 3, rows->pitch, width);                                                      \
        break;                                                                                              \
      case 4:                                                                                               \
        row(to, from, rows->n, 4, rows->pitch, width);                                                      \
        break;                                                                                              \
      default:                                                                                              \
        row(to, from, rows->n, rows->k, rows->pitch, width);                                                \
      }                                                                                                     \
    }                                                                                                       \
  }
STREAMS(tesela__k_interleave1_c, interleave_row_c, src_pitch, 1)
STREAMS(tesela__k_interleave2_c, interleave_row_c, src_pitch, 2)
STREAMS(tesela__k_interleave4_c, interleave_row_c, src_pitch, 4)
STREAMS(tesela__k_interleave8_c, interleave_row_c, src_pitch, 8)
STREAMS(tesela__k_interleave16_c, interleave_row_c, src_pitch, 16)
STREAMS(tesela__k_deinterleave1_c, deinterleave_row_c, dst_pitch, 1)
STREAMS(tesela__k_deinterleave2_c, deinterleave_row_c, dst_pitch, 2)
STREAMS(tesela__k_deinterleave4_c, deinterleave_row_c, dst_pitch, 4)
STREAMS(tesela__k_deinterleave8_c, deinterleave_row_c, dst_pitch, 8)
STREAMS(tesela__k_deinterleave16_c, deinterleave_row_c, dst_pitch, 16)
#undef STREAMS

/* ---- strided ----------------------------------------------------------------------------------------------- */

static inline void strided_row_c(unsigned char *dst, const unsigned char *src, int64_t n, int64_t dst_pitch,
                                 int64_t src_pitch, int64_t width) {
  int64_t e = 0;
  for (; e + 4 <= n; e += 4, dst += 4 * dst_pitch, src += 4 * src_pitch) {
    memcpy(dst, src, (size_t)width);
    memcpy(dst + dst_pitch, src + src_pitch, (size_t)width);
    memcpy(dst + 2 * dst_pitch, src + 2 * src_pitch, (size_t)width);
    memcpy(dst + 3 * dst_pitch, src + 3 * src_pitch, (size_t)width);
  }
  for (; e < n; e++, dst += dst_pitch, src += src_pitch) memcpy(dst, src, (size_t)width);
}

enum { BIG_ENDIAN_C = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

/* 8 bytes of elements of 1 or 2 bytes each. */
static inline uint64_t word_of_c(const unsigned char *src, int64_t pitch, int64_t width) {
  const int64_t many = 8 / width;
  uint64_t x = 0;
  for (int64_t i = 0; i < many; i++) {
    uint16_t element = src[i * pitch];
    if (width == 2) memcpy(&element, src + i * pitch, 2);
    x |= (uint64_t)element << 8 * width * (BIG_ENDIAN_C ? many - 1 - i : i);
  }
  return x;
}

/* Such elements to neighbours, two words at a time: a store for each element is what limits the loop above. */
static inline void gather_row_c(unsigned char *dst, const unsigned char *src, int64_t n, int64_t pitch,
                                int64_t width) {
  const int64_t many = 8 / width;
  int64_t e = 0;
  for (; e + 2 * many <= n; e += 2 * many, dst += 16, src += 2 * many * pitch) {
    const uint64_t low = word_of_c(src, pitch, width), high = word_of_c(src + many * pitch, pitch, width);
    memcpy(dst, &low, 8);
    memcpy(dst + 8, &high, 8);
  }
  strided_row_c(dst, src, n - e, width, pitch, width);
}

/* Store the same element n times, in lines of 64 bytes. */
static inline void repeat_row_c(unsigned char *dst, const unsigned char *element, int64_t n, int64_t width) {
  typedef uint64_t pair __attribute__((vector_size(16)));
  uint64_t word[2] = {0, 0};
  memcpy(word, element, (size_t)width);
  for (int64_t bits = 8 * width; bits < 64; bits *= 2) word[0] |= word[0] << bits;
  const pair two = {word[0], width < 16 ? word[0] : word[1]};
  const int64_t bytes = n * width;
  int64_t at = 0;
  for (; at + 64 <= bytes; at += 64)
    for (int64_t i = 0; i < 64; i += 16) memcpy(dst + at + i, &two, 16);
  for (; at + 16 <= bytes; at += 16) memcpy(dst + at, &two, 16);
  /* The rest with the last bytes of a whole move again. */
  if (bytes >= 16) {
    memcpy(dst + bytes - 16, &two, 16);
  } else if (bytes >= 8) {
    memcpy(dst, word, 8);
    memcpy(dst + bytes - 8, word, 8);
  } else {
    for (; at < bytes; at += width) memcpy(dst + at, word, (size_t)width);
  }
}

/* The elements of a word in reverse order; width is 1, 2 or 4. */
static inline uint64_t reverse_word_c(uint64_t x, int64_t width) {
  if (width <= 2) x = __builtin_bswap64(x);
  if (width == 2) x = (x & 0x00ff00ff00ff00ff) << 8 | (x >> 8 & 0x00ff00ff00ff00ff);
  if (width == 4) x = x << 32 | x >> 32;
  return x;
}

/* Copy neighbours in reverse order; src is the address of the last one in memory, the first one of dst. */
static inline void reverse_row_c(unsigned char *dst, const unsigned char *src, int64_t n, int64_t width) {
  int64_t e = 0, many = 8 / width;
  for (; width < 8 && e + many <= n; e += many) {
    uint64_t x;
    memcpy(&x, src - (e + many - 1) * width, 8);
    x = reverse_word_c(x, width);
    memcpy(dst + e * width, &x, 8);
  }
  strided_row_c(dst + e * width, src - e * width, n - e, width, -width, width);
}

#define STRIDED(name, width)                                                                                \
  void name(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off, const unsigned char *src, \
            const int64_t *src_off, int64_t count) {                                                        \
    for (int64_t i = 0; i < count; i++) {                                                                   \
      unsigned char *to = dst + dst_off[i];                                                                 \
      const unsigned char *from = src + src_off[i];                                                         \
      if (rows->dst_pitch == (width) && rows->src_pitch == 0)                                               \
        repeat_row_c(to, from, rows->n, width);                                                             \
      else if (rows->dst_pitch == (width) && rows->src_pitch == -(width))                                   \
        reverse_row_c(to, from, rows->n, width);                                                            \
      else if (rows->dst_pitch == (width) && (width) <= 2)                                                  \
        gather_row_c(to, from, rows->n, rows->src_pitch, width);                                            \
      else                                                                                                  \
        strided_row_c(to, from, rows->n, rows->dst_pitch, rows->src_pitch, width);                          \
    }                                                                                                       \
  }
STRIDED(tesela__k_strided1_c, 1)
STRIDED(tesela__k_strided2_c, 2)
STRIDED(tesela__k_strided4_c, 4)
STRIDED(tesela__k_strided8_c, 8)
STRIDED(tesela__k_strided16_c, 16)
#undef STRIDED
