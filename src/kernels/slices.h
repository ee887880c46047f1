/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.h - rows of elements below 8 bits <-> bytes that have an element of each of several rows.
 *
 * With m = 8 / width elements to a byte, m rows become one of bytes, and what is done to these bytes is done to m tensors at a time:
 *
 *   1 bit, 8 rows of 40 elements      byte e has element e of row t as its bit t: 40 bytes
 *
 * Rows are copied to a buffer, where they begin at bytes. A step has as many bytes of each row there. First m x m elements
 * are transposed inside its bytes (bit_block), so that byte c of row j has the elements c*m + j of all rows; then bytes
 * are put in the order of these numbers. Back it is the same, from the last to the first.
 */
#ifndef TESELA_SRC_SLICES_H
#define TESELA_SRC_SLICES_H

#include "kernels/bits.h"

enum {
  TESELA__SLICED = 256,     /* bytes of a row in the buffer */
  TESELA__SLICE_STEP = 256, /* bytes that a step makes at most */
  TESELA__SLICED_RUNS = 64, /* rows that are copied at a time, at most */
};

tesela__rows_fn tesela__k_copy_bits_c, tesela__k_copy_bits_avx2;

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

/* With slice_isa(bytes, rows, width), a step of `step` bytes of each row, TESELA__SLICED apart. */
#define TESELA__SLICE(symbol, isa, target, width, step)                                        \
  target void symbol(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,     \
                     const unsigned char *src, const int64_t *src_off, int64_t count) {        \
    enum { M = 8 / (width), SOME = TESELA__SLICED * M };                                       \
    const int64_t k = rows->k;                                                                 \
    unsigned char row[M * TESELA__SLICED] = {0}, last[TESELA__SLICE_STEP];                     \
    tesela__sliced_rows at;                                                                    \
    for (int64_t i = 0, runs; i < count; i += runs) {                                          \
      runs = tesela__runs_together(dst_off, i, count, rows->n, k, SOME);                       \
      for (int64_t e = 0; e < rows->n; e += SOME) {                                            \
        const int64_t n = tesela__min(SOME, rows->n - e), all = runs * n;                      \
        const tesela__rows part = {.n = n * (width), .k = 1};                                  \
        unsigned char *out = dst + dst_off[i] + e;                                             \
        int64_t c = 0;                                                                         \
        tesela__place_slices(&at, src_off + i * k, runs, k, e, n, width);                      \
        tesela__k_copy_bits_##isa(&part, row, at.buffer, src, at.memory, runs *k);             \
        for (; (c + (step)) * M <= all; c += (step)) slice_##isa(out + c * M, row + c, width); \
        if (c * M == all) continue;                                                            \
        slice_##isa(last, row + c, width);                                                     \
        memcpy(out + c * M, last, (size_t)(all - c * M));                                      \
      }                                                                                        \
    }                                                                                          \
  }

/* With unslice_isa(rows, bytes, width). */
#define TESELA__UNSLICE(symbol, isa, target, width, step)                                       \
  target void symbol(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,      \
                     const unsigned char *src, const int64_t *src_off, int64_t count) {         \
    enum { M = 8 / (width), SOME = TESELA__SLICED * M };                                        \
    const int64_t k = rows->k;                                                                  \
    unsigned char row[M * TESELA__SLICED] = {0}, last[TESELA__SLICE_STEP] = {0};                \
    tesela__sliced_rows at;                                                                     \
    for (int64_t i = 0, runs; i < count; i += runs) {                                           \
      runs = tesela__runs_together(src_off, i, count, rows->n, k, SOME);                        \
      for (int64_t e = 0; e < rows->n; e += SOME) {                                             \
        const int64_t n = tesela__min(SOME, rows->n - e), all = runs * n;                       \
        const tesela__rows part = {.n = n * (width), .k = 1};                                   \
        const unsigned char *in = src + src_off[i] + e;                                         \
        int64_t c = 0;                                                                          \
        for (; (c + (step)) * M <= all; c += (step)) unslice_##isa(row + c, in + c * M, width); \
        if (c * M < all) {                                                                      \
          memcpy(last, in + c * M, (size_t)(all - c * M));                                      \
          unslice_##isa(row + c, last, width);                                                  \
        }                                                                                       \
        tesela__place_slices(&at, dst_off + i * k, runs, k, e, n, width);                       \
        tesela__k_copy_bits_##isa(&part, dst, at.memory, row, at.buffer, runs *k);              \
      }                                                                                         \
    }                                                                                           \
  }

#define TESELA__SLICES(isa, target, step)                         \
  TESELA__SLICE(tesela__k_slice1_##isa, isa, target, 1, step)     \
  TESELA__SLICE(tesela__k_slice2_##isa, isa, target, 2, step)     \
  TESELA__SLICE(tesela__k_slice4_##isa, isa, target, 4, step)     \
  TESELA__UNSLICE(tesela__k_unslice1_##isa, isa, target, 1, step) \
  TESELA__UNSLICE(tesela__k_unslice2_##isa, isa, target, 2, step) \
  TESELA__UNSLICE(tesela__k_unslice4_##isa, isa, target, 4, step)

#endif
