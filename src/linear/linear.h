/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear.h - shared by the files of linear layouts: checks, and elimination over words of 64 bits.
 */
#ifndef TESELA_SRC_LINEAR_H
#define TESELA_SRC_LINEAR_H

#include <tesela/linear.h>

#include "base/base.h"

static inline int32_t tesela__bits_of(const tesela_linear_dim *dim, int32_t n) {
  int32_t bits = 0;
  for (int32_t i = 0; i < n; i++) bits += dim[i].bits;
  return bits;
}

/* bits is 0 to 63. */
static inline uint64_t tesela__low_bits(int32_t bits) { return ((uint64_t)1 << bits) - 1; }

/* The number of bits of the indices 0 .. extent-1. */
static inline int32_t tesela__index_bits(int64_t extent) {
  int32_t n = 0;
  while (extent > 0 && (extent - 1) >> n > 0) n++;
  return n;
}

/* Names, numbers of bits, and bases within the outputs; `what` names the layout in the message. */
tesela_status tesela__linear_check(const tesela_linear *a, const char *what, tesela_error *err);

/* The XOR of basis[k] over the bits k of a word. */
static inline uint64_t tesela__linear_word(const uint64_t *basis, uint64_t word) {
  uint64_t sum = 0;
  for (; word != 0; word &= word - 1) sum ^= basis[__builtin_ctzll(word)];
  return sum;
}

enum { TESELA__COLUMNS = 64 };

/* Columns as sums: word[i] is the XOR of the columns in combo[i]. */
typedef struct tesela__echelon {
  int32_t n, n_kernel;
  uint64_t word[TESELA__COLUMNS];  /* independent; bit[i] is set in word[i] alone */
  uint64_t combo[TESELA__COLUMNS]; /* of the columns of `column` alone */
  int32_t bit[TESELA__COLUMNS];
  int32_t column[TESELA__COLUMNS];        /* the first column that needs word[i] */
  uint64_t kernel[TESELA__COLUMNS];       /* sums of columns that are 0; */
  int32_t kernel_column[TESELA__COLUMNS]; /* each has a column that no other kernel has, its last one */
} tesela__echelon;

/* The number of a name among n dims, -1 if it is not there. */
int32_t tesela__linear_find(const tesela_linear_dim *dim, int32_t n, const char *name);
/* Set a dim of 2^bits values. A name that is too long becomes "", which tesela__linear_check refuses. */
void tesela__linear_set(tesela_linear_dim *dim, const char *name, int32_t bits);

/* The values of dims that a word joins. */
void tesela__linear_values(const tesela_linear_dim *dim, int32_t n, uint64_t word, int64_t *values);
/* Fill in an example, which may be NULL. */
void tesela__linear_show_in(tesela_linear_example *example, const tesela_linear *a, uint64_t word);
void tesela__linear_show_out(tesela_linear_example *example, const tesela_linear *a, uint64_t word);

/* Where the bits of dims are among the bits of others: at[k] of bit k, or -1 for a name that is not there, or beyond its bits. */
void tesela__linear_match(const tesela_linear_dim *dim, int32_t n, const tesela_linear_dim *other,
                          int32_t n_other, int32_t *at);
/* Bits of a word at other places; bits with -1 are dropped. */
uint64_t tesela__linear_move(uint64_t word, const int32_t *at);

/* tesela_linear_to_layout for a linear layout that was checked; `block`: an input of one value is an axis. */
tesela_status tesela__linear_lower(const tesela_linear *a, bool block, tesela_dtype dtype, int32_t bits,
                                   int32_t rank, const int64_t *shape, tesela_layout *layout,
                                   tesela_error *err);

/* Gauss and Jordan: columns from the first on, each by its lowest bit that is left. n <= TESELA__COLUMNS; O(n * n). */
void tesela__eliminate(int32_t n, const uint64_t *column, tesela__echelon *e);
/* Subtract the words of an echelon; *combo receives which columns. The rest, 0 for a sum of columns. */
uint64_t tesela__reduce(const tesela__echelon *e, uint64_t word, uint64_t *combo);

#endif
