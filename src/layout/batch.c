/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.c - places of many elements in one call.
 *
 * In a chain whose steps divide each other a digit is a difference of two quotients:
 *
 *   x div s_k mod (s_{k-1} / s_k) = (x div s_k) - (x div s_{k-1}) * (s_{k-1} / s_k)
 *
 * so the place is a sum of terms (x div s_k) * c_k with constant c_k, one per digit, without a rest to carry. The
 * quotient is a shift if s_k is a power of two, else a multiplication by a reciprocal. Rows are processed in blocks,
 * one dim at a time; wrong sums of rows outside the shape are discarded. The coefficients wrap mod 2^64; the sum is a
 * place, so it is exact.
 */
#include "layout/layout.h"

#if TESELA__X86
#include <immintrin.h>
#endif

enum { BLOCK = 256, MOST_TERMS = 3 };

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 wide;
#endif

/* (x div step) * factor */
typedef struct batch_term {
  int64_t step;
  uint64_t factor;
  uint64_t
      reciprocal; /* x div step = (x * reciprocal >> 64) >> shift, for 0 <= x < 2^63; 0: step = 2^shift */
  int32_t shift;
} batch_term;

/* The terms of one dim. */
typedef struct batch_dim {
  batch_term term[MOST_TERMS];
  int32_t n;
  int64_t extent;
  uint64_t (*add)(const struct batch_dim *dim, int64_t n, const int64_t *x, int32_t rank, uint64_t *sum);
} batch_dim;

/* For 2^(k-1) < step < 2^k, ceil(2^(63+k) / step) fits in 64 bits; it makes x / step too large by less than x /
 * 2^(63+k), too little to change the quotient for x < 2^63. False: the compiler has no 128-bit products. */
static bool set_divisor(batch_term *term) {
  term->reciprocal = 0;
  term->shift = 0;
  while (term->shift < 62 && ((int64_t)1 << term->shift) < term->step) term->shift++;
  if (((int64_t)1 << term->shift) == term->step) return true;
#if defined(__SIZEOF_INT128__)
  term->reciprocal = (uint64_t)((((wide)1 << (63 + term->shift)) + (wide)term->step - 1) / (wide)term->step);
  term->shift -= 1;
  return true;
#else
  return false;
#endif
}

static uint64_t quotient(const batch_term *term, uint64_t x) {
#if defined(__SIZEOF_INT128__)
  if (term->reciprocal) return (uint64_t)(((wide)x * term->reciprocal) >> 64) >> term->shift;
#endif
  return x >> term->shift;
}

/* False: the dim is not a sum of few terms. */
static bool set_terms(const tesela_layout *layout, int32_t d, int32_t axis, batch_dim *dim) {
  tesela__chain chain = tesela__chain_of(layout, d);
  if (chain.n > MOST_TERMS || !tesela__chain_is_even(layout, chain)) return false;
  dim->n = chain.n;
  dim->extent = layout->shape[d];
  uint64_t finer = 0; /* stride * extent of the next finer digit */
  for (int32_t k = chain.n - 1; k >= 0; k--) {
    const tesela_digit *digit = &layout->digit[chain.first + k];
    uint64_t stride = digit->axis == axis ? (uint64_t)digit->stride : 0;
    batch_term *term = &dim->term[k];
    term->step = digit->step;
    term->factor = stride - finer;
    finer = stride * (uint64_t)digit->extent;
    if (!set_divisor(term)) return false;
  }
  return true;
}

/* For n rows with coordinates x[k * rank], add their parts to sum[k]. Returns a number whose sign bit is set if a
   coordinate is outside 0 .. extent-1. */
static uint64_t add_terms(const batch_dim *dim, int64_t n, const int64_t *x, int32_t rank, uint64_t *sum) {
  batch_dim own = *dim; /* a copy: writes to `sum` cannot change it */
  uint64_t outside = 0, last = (uint64_t)dim->extent - 1;
  for (int64_t k = 0; k < n; k++) {
    uint64_t at = (uint64_t)x[k * rank], to = sum[k];
    outside |= at | (last - at);
    for (int32_t t = 0; t < own.n; t++) to += quotient(&own.term[t], at) * own.term[t].factor;
    sum[k] = to;
  }
  return outside;
}

#if TESELA__X86
/* The same for shifts, with coordinates and factors below 2^32, four rows at a time. */
TESELA__TARGET("avx2")
static uint64_t add_terms_avx2(const batch_dim *dim, int64_t n, const int64_t *x, int32_t rank,
                               uint64_t *sum) {
  __m256i factor[MOST_TERMS], outside = _mm256_setzero_si256(), last = _mm256_set1_epi64x(dim->extent - 1);
  __m128i shift[MOST_TERMS];
  for (int32_t t = 0; t < MOST_TERMS; t++) {
    factor[t] = _mm256_set1_epi64x(t < dim->n ? (int64_t)dim->term[t].factor : 0);
    shift[t] = _mm_cvtsi32_si128(t < dim->n ? dim->term[t].shift : 0);
  }
  int64_t k = 0, row = rank;
  for (; k + 4 <= n; k += 4) {
    const int64_t *four = x + k * row;
    __m256i at = _mm256_set_epi64x(four[3 * row], four[2 * row], four[row], four[0]);
    __m256i to = _mm256_loadu_si256((const __m256i *)(const void *)(sum + k));
    outside = _mm256_or_si256(outside, _mm256_or_si256(at, _mm256_sub_epi64(last, at)));
    to = _mm256_add_epi64(to, _mm256_mul_epu32(_mm256_srl_epi64(at, shift[0]), factor[0]));
    to = _mm256_add_epi64(to, _mm256_mul_epu32(_mm256_srl_epi64(at, shift[1]), factor[1]));
    if (dim->n > 2) to = _mm256_add_epi64(to, _mm256_mul_epu32(_mm256_srl_epi64(at, shift[2]), factor[2]));
    _mm256_storeu_si256((__m256i *)(void *)(sum + k), to);
  }
  uint64_t tail = add_terms(dim, n - k, x + k * row, rank, sum + k);
  return tail | (_mm256_movemask_pd(_mm256_castsi256_pd(outside)) != 0 ? (uint64_t)1 << 63 : 0);
}
#endif

static void choose_way(batch_dim *dim) {
  dim->add = add_terms;
#if TESELA__X86
  bool small = dim->extent <= UINT32_MAX && (tesela__cpu() & TESELA__CPU_AVX2);
  for (int32_t t = 0; t < dim->n; t++)
    small = small && dim->term[t].reciprocal == 0 && dim->term[t].factor <= UINT32_MAX;
  if (small) dim->add = add_terms_avx2;
#endif
}

/* Row by row; `first` is the number of the first row, for the message. */
static tesela_status batch_rows(const tesela_layout *layout, int32_t axis, int64_t first, int64_t n,
                                const int64_t *indices, int64_t *places, tesela_error *err) {
  int64_t place[TESELA_MAX_AXES];
  tesela_error inner;
  for (int64_t row = 0; row < n; row++) {
    tesela_status status = tesela_layout_place_of(layout, indices + row * layout->rank, place, &inner);
    if (status != TESELA_OK)
      return tesela__fail(err, status, -1, "row %" PRId64 ": %s", first + row, inner.message);
    places[row] = place[axis];
  }
  return TESELA_OK;
}

tesela_status tesela_layout_places(const tesela_layout *layout, int32_t axis, int64_t n,
                                   const int64_t *indices, int64_t *places, tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, indices, n > 0 ? layout->rank : 0);
  TESELA__NEED_LIST(err, places, n);
  tesela_status status = tesela__check_finished(layout, err);
  if (status != TESELA_OK) return status;
  if (axis < 0 || axis >= layout->n_axes)
    return tesela__fail(err, TESELA_E_RANGE, -1, "axis %" PRId32 " does not exist; the layout has %" PRId32,
                        axis, layout->n_axes);
  batch_dim dim[TESELA_MAX_RANK];
  int32_t rank = layout->rank;
  bool terms = n >= 8 && rank > 0 && layout->n_joins == 0 && layout->swizzle.n == 0;
  for (int32_t d = 0; d < rank && terms; d++) {
    terms = set_terms(layout, d, axis, &dim[d]);
    if (terms) choose_way(&dim[d]);
  }
  if (!terms) return batch_rows(layout, axis, 0, n, indices, places, err);
  uint64_t sum[BLOCK];
  for (int64_t row = 0; row < n; row += BLOCK) {
    int64_t rows = tesela__min(n - row, BLOCK);
    const int64_t *block = indices + row * rank;
    uint64_t outside = 0;
    for (int64_t k = 0; k < rows; k++) sum[k] = (uint64_t)layout->axis[axis].offset;
    for (int32_t d = 0; d < rank; d++) outside |= dim[d].add(&dim[d], rows, block + d, rank, sum);
    if (outside >> 63)
      return batch_rows(layout, axis, row, rows, block, places + row, err); /* reports the row */
    memcpy(places + row, sum, (size_t)rows * sizeof *places);
  }
  return TESELA_OK;
}
