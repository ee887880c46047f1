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
};

tesela__rows_fn tesela__k_copy_bits_c, tesela__k_copy_bits_avx2;

/* With slice_isa(bytes, rows, width), a step of `step` bytes of each row, TESELA__SLICED apart. */
#define TESELA__SLICE(symbol, isa, target, width, step)                                          \
  target void symbol(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,       \
                     const unsigned char *src, const int64_t *src_off, int64_t count) {          \
    enum { M = 8 / (width), SOME = TESELA__SLICED * M };                                         \
    unsigned char row[M * TESELA__SLICED] = {0}, last[TESELA__SLICE_STEP];                       \
    int64_t to[M], from[M];                                                                      \
    for (int64_t t = 0; t < M; t++) to[t] = 8 * t * TESELA__SLICED;                              \
    for (int64_t i = 0; i < count; i++)                                                          \
      for (int64_t e = 0; e < rows->n; e += SOME) {                                              \
        const int64_t n = tesela__min(SOME, rows->n - e);                                        \
        const tesela__rows part = {.n = n * (width), .k = 1};                                    \
        unsigned char *out = dst + dst_off[i] + e;                                               \
        int64_t at = 0;                                                                          \
        for (int64_t t = 0; t < rows->k; t++) from[t] = src_off[i * rows->k + t] + e * (width);  \
        tesela__k_copy_bits_##isa(&part, row, to, src, from, rows->k);                           \
        for (; (at + (step)) * M <= n; at += (step)) slice_##isa(out + at * M, row + at, width); \
        if (at * M == n) continue;                                                               \
        slice_##isa(last, row + at, width);                                                      \
        memcpy(out + at * M, last, (size_t)(n - at * M));                                        \
      }                                                                                          \
  }

/* With unslice_isa(rows, bytes, width). */
#define TESELA__UNSLICE(symbol, isa, target, width, step)                                         \
  target void symbol(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,        \
                     const unsigned char *src, const int64_t *src_off, int64_t count) {           \
    enum { M = 8 / (width), SOME = TESELA__SLICED * M };                                          \
    unsigned char row[M * TESELA__SLICED] = {0}, last[TESELA__SLICE_STEP] = {0};                  \
    int64_t to[M], from[M];                                                                       \
    for (int64_t t = 0; t < M; t++) from[t] = 8 * t * TESELA__SLICED;                             \
    for (int64_t i = 0; i < count; i++)                                                           \
      for (int64_t e = 0; e < rows->n; e += SOME) {                                               \
        const int64_t n = tesela__min(SOME, rows->n - e);                                         \
        const tesela__rows part = {.n = n * (width), .k = 1};                                     \
        const unsigned char *in = src + src_off[i] + e;                                           \
        int64_t at = 0;                                                                           \
        for (; (at + (step)) * M <= n; at += (step)) unslice_##isa(row + at, in + at * M, width); \
        if (at * M < n) {                                                                         \
          memcpy(last, in + at * M, (size_t)(n - at * M));                                        \
          unslice_##isa(row + at, last, width);                                                   \
        }                                                                                         \
        for (int64_t t = 0; t < rows->k; t++) to[t] = dst_off[i * rows->k + t] + e * (width);     \
        tesela__k_copy_bits_##isa(&part, dst, to, row, from, rows->k);                            \
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
