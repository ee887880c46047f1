/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values_compare.c - do two buffers have the same logical values?
 *
 * Both sides are walked in logical order, in stretches of constant stride on both. Two contiguous stretches are one
 * memcmp; elements are compared one by one only in stretches that differ.
 */
#include <tesela/relayout.h>

#include "relayout/values.h"

enum { COMPARE_BLOCK = 256 };

/* One side of a stretch: element i is at place + i * stride. */
typedef struct compare_side {
  const uint8_t *data;
  int64_t place, stride;
} compare_side;

/* Blocks without a branch, of elements of a known size: loads, and the bits in which any two differ. */
#define TESELA__SAME(name, type)                                                                      \
  static bool name(const uint8_t *a, int64_t pitch_a, const uint8_t *b, int64_t pitch_b, int64_t n) { \
    while (n > 0) {                                                                                   \
      const int64_t m = tesela__min(n, COMPARE_BLOCK);                                                \
      type differ = 0, x, y;                                                                          \
      for (int64_t i = 0; i < m; i++, a += pitch_a, b += pitch_b) {                                   \
        memcpy(&x, a, sizeof x);                                                                      \
        memcpy(&y, b, sizeof y);                                                                      \
        differ = (type)(differ | (x ^ y));                                                            \
      }                                                                                               \
      if (differ != 0) return false;                                                                  \
      n -= m;                                                                                         \
    }                                                                                                 \
    return true;                                                                                      \
  }
TESELA__SAME(same_8, uint8_t)
TESELA__SAME(same_16, uint16_t)
TESELA__SAME(same_32, uint32_t)
TESELA__SAME(same_64, uint64_t)
#undef TESELA__SAME

static bool same_whole_bytes(const compare_side *a, const compare_side *b, int64_t width, int64_t n) {
  const uint8_t *at_a = a->data + a->place * width, *at_b = b->data + b->place * width;
  int64_t pitch_a = a->stride * width, pitch_b = b->stride * width;
  if (n == 1 || (a->stride == 1 && b->stride == 1)) return memcmp(at_a, at_b, (size_t)(n * width)) == 0;
  switch (width) {
  case 1:
    return same_8(at_a, pitch_a, at_b, pitch_b, n);
  case 2:
    return same_16(at_a, pitch_a, at_b, pitch_b, n);
  case 4:
    return same_32(at_a, pitch_a, at_b, pitch_b, n);
  case 8:
    return same_64(at_a, pitch_a, at_b, pitch_b, n);
  default:
    for (int64_t i = 0; i < n; i++)
      if (memcmp(at_a + i * pitch_a, at_b + i * pitch_b, 16) != 0) return false;
    return true;
  }
}

static bool same_parts_of_bytes(const compare_side *a, const compare_side *b, int32_t bits, int64_t n) {
  int64_t per_byte = 8 / bits, i = 0;
  if (a->stride == 1 && b->stride == 1 && a->place % per_byte == 0 && b->place % per_byte == 0) {
    i = n - n % per_byte;
    if (memcmp(a->data + a->place / per_byte, b->data + b->place / per_byte, (size_t)(i / per_byte)) != 0)
      return false;
  }
  for (; i < n; i++)
    if (tesela__values_bits(a->data, a->place + i * a->stride, bits) !=
        tesela__values_bits(b->data, b->place + i * b->stride, bits))
      return false;
  return true;
}

static bool same_stretch(const compare_side *a, const compare_side *b, int32_t bits, int64_t n) {
  return bits < 8 ? same_parts_of_bytes(a, b, bits, n) : same_whole_bytes(a, b, bits / 8, n);
}

static void take_value(const compare_side *side, int32_t bits, int64_t *place, uint8_t value[16]) {
  *place = side->place;
  memset(value, 0, 16);
  if (bits < 8)
    value[0] = (uint8_t)tesela__values_bits(side->data, side->place, bits);
  else
    memcpy(value, side->data + side->place * (bits / 8), (size_t)bits / 8);
}

/* Two tensors and their walks. */
typedef struct compare_pair {
  tesela__values a, b;
  const uint8_t *data_a, *data_b;
  int64_t copies_a, copies_b;
  int32_t bits;
} compare_pair;

static compare_side side_of(const tesela__values *v, const uint8_t *data, int64_t copy, int64_t skip) {
  return (compare_side){data, tesela__values_copy(v, copy) + skip * v->stride, v->stride};
}

/* Are all copies of n elements equal, from element `skip` of the stretch on? If not, *a and *b are two that differ. The
 * first copy of A is compared with every one of B, and the others of A with the first of B. */
static bool same_copies(const compare_pair *p, int64_t skip, int64_t n, compare_side *a, compare_side *b) {
  *a = side_of(&p->a, p->data_a, 0, skip);
  for (int64_t k = p->copies_b - 1; k >= 0; k--) {
    *b = side_of(&p->b, p->data_b, k, skip);
    if (!same_stretch(a, b, p->bits, n)) return false;
  }
  for (int64_t k = 1; k < p->copies_a; k++) {
    *a = side_of(&p->a, p->data_a, k, skip);
    if (!same_stretch(a, b, p->bits, n)) return false;
  }
  return true;
}

/* Count the elements of the stretch that differ; describe the first one of all stretches. */
static void count_differences(const compare_pair *p, int64_t n, tesela_values_difference *difference) {
  compare_side a, b;
  for (int64_t i = 0; i < n; i++) {
    if (same_copies(p, i, 1, &a, &b)) continue;
    if (difference->n_different++ > 0) continue;
    int32_t rank = p->a.layout->rank, inner = rank - 1;
    memcpy(difference->index, p->a.index, sizeof difference->index[0] * (size_t)rank);
    while (i > 0 && p->a.layout->shape[inner] == 1) inner--; /* stretches run along the last dim > 1 */
    if (i > 0) difference->index[inner] += i;
    take_value(&a, p->bits, &difference->place_a, difference->a);
    take_value(&b, p->bits, &difference->place_b, difference->b);
  }
}

static tesela_status check_alike(const tesela_layout *a, const tesela_layout *b, tesela_error *err) {
  if (a->rank != b->rank)
    return tesela__fail(err, TESELA_E_MISMATCH, -1, "ranks differ: %" PRId32 " and %" PRId32, a->rank,
                        b->rank);
  for (int32_t d = 0; d < a->rank; d++)
    if (a->shape[d] != b->shape[d])
      return tesela__fail(err, TESELA_E_MISMATCH, -1,
                          "shapes differ: dim %" PRId32 " has %" PRId64 " and %" PRId64 " elements", d,
                          a->shape[d], b->shape[d]);
  if (a->bits != b->bits)
    return tesela__fail(err, TESELA_E_MISMATCH, -1, "element widths differ: %" PRId32 " and %" PRId32 " bits",
                        a->bits, b->bits);
  if (a->dtype != b->dtype && a->dtype != TESELA_DTYPE_NONE && b->dtype != TESELA_DTYPE_NONE)
    return tesela__fail(err, TESELA_E_MISMATCH, -1, "element types differ: %s and %s",
                        tesela_dtype_name(a->dtype), tesela_dtype_name(b->dtype));
  return TESELA_OK;
}

tesela_status tesela_values_compare(const tesela_layout *a, const void *data_a, const tesela_layout *b,
                                    const void *data_b, tesela_values_difference *difference,
                                    const tesela_run_options *options, tesela_error *err) {
  TESELA__NEED(err, a, b, difference);
  TESELA__NEED_CLEAR(err, options);
  compare_pair p = {.data_a = data_a, .data_b = data_b, .bits = a->bits};
  compare_side side_a, side_b;
  tesela_status status = tesela__values_begin(&p.a, a, err);
  if (status == TESELA_OK) status = tesela__values_begin(&p.b, b, err);
  if (status == TESELA_OK) status = check_alike(a, b, err);
  if (status != TESELA_OK) return status;
  TESELA__NEED_LIST(err, data_a, p.a.more);
  TESELA__NEED_LIST(err, data_b, p.b.more);
  *difference = (tesela_values_difference){.same = true};
  p.copies_a = tesela_layout_copies(a);
  p.copies_b = tesela_layout_copies(b);
  tesela__values_watch watch = tesela__values_watch_begin(a, options);
  while (p.a.more) {
    int64_t n = tesela__min(tesela__min(p.a.left, p.b.left), TESELA__VALUES_STEP);
    if (tesela__values_stops(&watch, n)) return tesela__fail_stopped(err);
    if (!same_copies(&p, 0, n, &side_a, &side_b)) count_differences(&p, n, difference);
    tesela__values_skip(&p.a, n);
    tesela__values_skip(&p.b, n);
  }
  difference->same = difference->n_different == 0;
  return TESELA_OK;
}
