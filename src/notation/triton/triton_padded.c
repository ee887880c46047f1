/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triton_padded.c - padded shared memory: after each interval of offsets some places are left out.
 *
 *   [4:+1, 16:+2]     offset 21 = 16 + 4 + 1 is at 21 + 21/4 * 1 + 21/16 * 2 = 28 = 22 + 5 + 1
 */
#include "notation/triton/triton.h"

typedef struct padded {
  const tesela__triton *of;
  tesela_layout *layout;
  int32_t rank, memory, block;
  int32_t digit[TESELA__TRITON_RANK][TESELA_LINEAR_BITS + 1]; /* one for each bit of each dim */
  int32_t n_bits[TESELA__TRITON_RANK];
} padded;

/* The digit of a basis; -1 for a basis of 0. */
static tesela_status padded_digit(padded *p, const int64_t *basis, int32_t *digit, tesela_error *err) {
  int32_t found = -1;
  for (int32_t d = 0; d < p->rank; d++) {
    if (basis[d] == 0) continue;
    if (found >= 0)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          "tesela reads padded_shared only with bases that move one dim each");
    for (found = 0; basis[d] >> found > 1;) found++;
    if (p->digit[d][found] < 0)
      return tesela__fail(err, TESELA_E_INVALID, -1, "two bases of padded_shared are equal");
    *digit = p->digit[d][found];
    p->digit[d][found] = -1;
  }
  if (found < 0) *digit = -1;
  return TESELA_OK;
}

/* A digit of two values for each bit; dims of one element are at place 0. */
static tesela_status padded_split(padded *p, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t d = 0; d < p->rank && status == TESELA_OK; d++) {
    int32_t k = 0;
    for (int64_t extent = p->layout->shape[d]; extent > 2 && status == TESELA_OK; extent /= 2)
      status = tesela_layout_split(p->layout, d, 2, &p->digit[d][k++], err);
    p->digit[d][k++] = d;
    p->n_bits[d] = k;
    if (status == TESELA_OK && p->layout->shape[d] == 1) {
      status = tesela_layout_place(p->layout, d, p->memory, 0, err);
      p->n_bits[d] = 0;
    }
  }
  return status;
}

/* Split the offset at the intervals, the largest first. */
static tesela_status padded_place(padded *p, int32_t offset, int64_t extent, tesela_error *err) {
  const tesela__triton *of = p->of;
  tesela_status status = TESELA_OK;
  for (int64_t below = INT64_MAX; status == TESELA_OK;) {
    int64_t largest = 0, stride;
    for (int32_t i = 0; i < of->n_pairs; i++)
      if (of->interval[i] < below && of->interval[i] < extent)
        largest = tesela__max(largest, of->interval[i]);
    if (largest <= 1) {
      stride = 1;
      for (int32_t i = 0; i < of->n_pairs; i++) stride += of->interval[i] == 1 ? of->padding[i] : 0;
      return tesela_layout_place(p->layout, offset, p->memory, stride, err);
    }
    stride = largest;
    for (int32_t i = 0; i < of->n_pairs; i++)
      if (of->interval[i] <= largest) stride += largest / of->interval[i] * of->padding[i];
    int32_t low = -1;
    status = tesela_layout_split(p->layout, offset, largest, &low, err);
    if (status == TESELA_OK) status = tesela_layout_place(p->layout, offset, p->memory, stride, err);
    offset = low;
    below = largest;
  }
  return status;
}

static tesela_status padded_blocks(padded *p, const tesela__triton_bits *bits, tesela_error *err) {
  tesela_status status = TESELA_OK;
  int32_t n = bits->n[TESELA__TRITON_BLOCK];
  if (n > 0) status = tesela_layout_add_axis(p->layout, "block", &p->block, err);
  for (int32_t k = 0; k < n && status == TESELA_OK; k++) {
    int32_t digit = -1;
    status = padded_digit(p, bits->basis[TESELA__TRITON_BLOCK][k], &digit, err);
    if (status == TESELA_OK && digit < 0)
      status = tesela_layout_add_digit(p->layout, TESELA_REPLICA, 2, &digit, err);
    if (status == TESELA_OK) status = tesela_layout_place(p->layout, digit, p->block, INT64_C(1) << k, err);
  }
  return status;
}

tesela_status tesela__triton_padded(const tesela__triton *of, const tesela__triton_bits *bits,
                                    tesela_layout *layout, tesela_error *err) {
  padded p = {.of = of, .layout = layout, .rank = bits->rank};
  int32_t digits[TESELA_LINEAR_BITS], n = bits->n[TESELA__TRITON_REGISTER], joined = -1;
  tesela_status status = tesela_layout_add_axis(layout, "memory", &p.memory, err);
  if (status == TESELA_OK) status = padded_split(&p, err);
  if (status == TESELA_OK) status = padded_blocks(&p, bits, err);
  for (int32_t k = 0; k < n && status == TESELA_OK; k++) { /* a join begins with its highest digit */
    status = padded_digit(&p, bits->basis[TESELA__TRITON_REGISTER][k], &digits[n - 1 - k], err);
    if (status == TESELA_OK && digits[n - 1 - k] < 0)
      status = tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "a basis of padded_shared is 0");
  }
  for (int32_t d = 0; d < p.rank && status == TESELA_OK; d++)
    for (int32_t k = 0; k < p.n_bits[d] && status == TESELA_OK; k++)
      if (p.digit[d][k] >= 0)
        status =
            tesela__fail(err, TESELA_E_INVALID, -1,
                         "no basis of padded_shared moves dim %" PRId32 " by %" PRId64, d, INT64_C(1) << k);
  if (status == TESELA_OK && n > 0) status = tesela_layout_join(layout, n, digits, &joined, err);
  if (status == TESELA_OK && n > 0) status = padded_place(&p, joined, INT64_C(1) << n, err);
  return status == TESELA_OK ? tesela_layout_finish(layout, err) : status;
}
