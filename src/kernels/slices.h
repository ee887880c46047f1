/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.h - rows of elements below 8 bits <-> bytes that have an element of each of several rows.
 *
 * With m = 8 / width elements to a byte, m rows become one of bytes, and what is done to these bytes is done to m tensors at a time:
 *
 *   1 bit, 8 rows of 40 elements      byte e has element e of row t as its bit t: 40 bytes
 *
 * Long rows are read where they are, from any bit on, and written there if they begin at bytes; the others, and what is left of a row after whole
 * steps, go through a buffer, where they begin at bytes. A step has as many bytes of each row there. First m x m elements
 * are transposed inside its bytes (bit_block), so that byte c of row j has the elements c*m + j of all rows; then bytes
 * are put in the order of these numbers. Back it is the same, from the last to the first.
 */
#ifndef TESELA_SRC_SLICES_H
#define TESELA_SRC_SLICES_H

#include "kernels/bits.h"

enum {
  TESELA__SLICED = 256,     /* bytes of a row in the buffer */
  TESELA__SLICE_STEP = 512, /* bytes that a step makes at most */
  TESELA__SLICED_RUNS = 64, /* rows that are copied at a time, at most */
};

tesela__rows_fn tesela__k_copy_bits_c, tesela__k_copy_bits_avx2, tesela__k_copy_bits_avx512;

/* Rows of bytes that follow each other are made together, as one: runs of `n` from number i on, whose bytes are at off[i]. */
static inline int64_t tesela__runs_together(const int64_t *off, int64_t i, int64_t count, int64_t n,
                                            int64_t k, int64_t most) {
  int64_t runs = 1;
  while (i + runs < count && (runs + 1) * n <= most && (runs + 1) * k <= TESELA__SLICED_RUNS &&
         off[i + runs] == off[i] + runs * n)
    runs++;
  return runs;
}

/* The places in memory, and in the buffer, of rows of bits from element e on: `n` elements of each of k * runs rows. */
typedef struct tesela__sliced_rows {
  int64_t memory[TESELA__SLICED_RUNS], buffer[TESELA__SLICED_RUNS];
} tesela__sliced_rows;

static inline void tesela__place_slices(tesela__sliced_rows *rows, const int64_t *off, int64_t runs,
                                        int64_t k, int64_t e, int64_t n, int64_t width) {
  for (int64_t r = 0; r < runs; r++)
    for (int64_t t = 0; t < k; t++) {
      rows->memory[r * k + t] = off[r * k + t] + e * width;
      rows->buffer[r * k + t] = 8 * t * TESELA__SLICED + r * n * width;
    }
}

/* The bytes where rows begin, and the bits of each before it. */
typedef struct tesela__sliced_from {
  const unsigned char *at[8];
  int shift[8];
} tesela__sliced_from;

typedef struct tesela__sliced_to {
  unsigned char *at[8];
} tesela__sliced_to;

TESELA__INLINE void tesela__from_buffer(tesela__sliced_from *from, const unsigned char *row, int m) {
  for (int t = 0; t < m; t++) from->at[t] = row + t * TESELA__SLICED, from->shift[t] = 0;
}

TESELA__INLINE void tesela__to_buffer(tesela__sliced_to *to, unsigned char *row, int m) {
  for (int t = 0; t < m; t++) to->at[t] = row + t * TESELA__SLICED;
}

/* The first k of m rows are in memory. */
TESELA__INLINE void tesela__from_memory(tesela__sliced_from *from, const unsigned char *src,
                                        const int64_t *bits, int64_t k) {
  for (int64_t t = 0; t < k; t++) from->at[t] = src + (bits[t] >> 3), from->shift[t] = (int)(bits[t] & 7);
}

/* The same, if all begin at bytes. */
TESELA__INLINE bool tesela__to_memory(tesela__sliced_to *to, unsigned char *dst, const int64_t *bits,
                                      int64_t k) {
  int64_t low = 0;
  for (int64_t t = 0; t < k; t++) to->at[t] = dst + (bits[t] >> 3), low |= bits[t];
  return low % 8 == 0;
}

/* With slice_isa(bytes, rows, from, width), a step of `step` bytes of each row from byte number `from` on. Whole steps of one run are made
 * from memory, others from the buffer. */
#define TESELA__SLICE(symbol, isa, target, width, step)                                              \
  target void symbol(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,           \
                     const unsigned char *src, const int64_t *src_off, int64_t count) {              \
    enum { M = 8 / (width), SOME = TESELA__SLICED * M };                                             \
    const int64_t k = rows->k;                                                                       \
    unsigned char row[M * TESELA__SLICED], last[TESELA__SLICE_STEP];                                 \
    tesela__sliced_rows at;                                                                          \
    tesela__sliced_from from;                                                                        \
    if (k < M)                                                                                       \
      memset(row + k * TESELA__SLICED, 0, (size_t)(M - k) * TESELA__SLICED); /* absent rows are 0 */ \
    for (int64_t i = 0, runs; i < count; i += runs) {                                                \
      runs = tesela__runs_together(dst_off, i, count, rows->n, k, SOME);                             \
      for (int64_t e = 0; e < rows->n; e += SOME) {                                                  \
        int64_t n = tesela__min(SOME, rows->n - e), c = 0, first = e;                                \
        unsigned char *out = dst + dst_off[i] + e;                                                   \
        tesela__from_buffer(&from, row, M);                                                          \
        if (runs == 1) {                                                                             \
          tesela__place_slices(&at, src_off + i * k, 1, k, e, n, width);                             \
          tesela__from_memory(&from, src, at.memory, k);                                             \
          for (; (c + (step)) * M <= n; c += (step)) slice_##isa(out + c * M, &from, c, width);      \
          if (c * M == n) continue;                                                                  \
          tesela__from_buffer(&from, row, M);                                                        \
          out += c * M, first += c * M, n -= c * M, c = 0;                                           \
        }                                                                                            \
        const int64_t all = runs * n;                                                                \
        const tesela__rows part = {.n = n * (width), .k = 1};                                        \
        tesela__place_slices(&at, src_off + i * k, runs, k, first, n, width);                        \
        tesela__k_copy_bits_##isa(&part, row, at.buffer, src, at.memory, runs *k);                   \
        for (; (c + (step)) * M <= all; c += (step)) slice_##isa(out + c * M, &from, c, width);      \
        if (c * M == all) continue;                                                                  \
        slice_##isa(last, &from, c, width);                                                          \
        memcpy(out + c * M, last, (size_t)(all - c * M));                                            \
      }                                                                                              \
    }                                                                                                \
  }

/* With unslice_isa(rows, to, bytes, width). */
#define TESELA__UNSLICE(symbol, isa, target, width, step)                                        \
  target void symbol(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,       \
                     const unsigned char *src, const int64_t *src_off, int64_t count) {          \
    enum { M = 8 / (width), SOME = TESELA__SLICED * M };                                         \
    const int64_t k = rows->k;                                                                   \
    unsigned char row[M * TESELA__SLICED], last[TESELA__SLICE_STEP];                             \
    tesela__sliced_rows at;                                                                      \
    tesela__sliced_to to;                                                                        \
    for (int64_t i = 0, runs; i < count; i += runs) {                                            \
      runs = tesela__runs_together(src_off, i, count, rows->n, k, SOME);                         \
      for (int64_t e = 0; e < rows->n; e += SOME) {                                              \
        int64_t n = tesela__min(SOME, rows->n - e), c = 0, first = e;                            \
        const unsigned char *in = src + src_off[i] + e;                                          \
        tesela__to_buffer(&to, row, M);                                                          \
        if (runs == 1) {                                                                         \
          tesela__place_slices(&at, dst_off + i * k, 1, k, e, n, width);                         \
          if (tesela__to_memory(&to, dst, at.memory, k))                                         \
            for (; (c + (step)) * M <= n; c += (step)) unslice_##isa(&to, c, in + c * M, width); \
          if (c * M == n) continue;                                                              \
          tesela__to_buffer(&to, row, M);                                                        \
          in += c * M, first += c * M, n -= c * M, c = 0;                                        \
        }                                                                                        \
        const int64_t all = runs * n;                                                            \
        const tesela__rows part = {.n = n * (width), .k = 1};                                    \
        for (; (c + (step)) * M <= all; c += (step)) unslice_##isa(&to, c, in + c * M, width);   \
        if (c * M < all) {                                                                       \
          memcpy(last, in + c * M, (size_t)(all - c * M));                                       \
          unslice_##isa(&to, c, last, width);                                                    \
        }                                                                                        \
        tesela__place_slices(&at, dst_off + i * k, runs, k, first, n, width);                    \
        tesela__k_copy_bits_##isa(&part, dst, at.memory, row, at.buffer, runs *k);               \
      }                                                                                          \
    }                                                                                            \
  }

#define TESELA__SLICES(isa, target, step)                         \
  TESELA__SLICE(tesela__k_slice1_##isa, isa, target, 1, step)     \
  TESELA__SLICE(tesela__k_slice2_##isa, isa, target, 2, step)     \
  TESELA__SLICE(tesela__k_slice4_##isa, isa, target, 4, step)     \
  TESELA__UNSLICE(tesela__k_unslice1_##isa, isa, target, 1, step) \
  TESELA__UNSLICE(tesela__k_unslice2_##isa, isa, target, 2, step) \
  TESELA__UNSLICE(tesela__k_unslice4_##isa, isa, target, 4, step)

#endif
