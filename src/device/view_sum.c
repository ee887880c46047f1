/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_sum.c - sums of digits of a view's index, divided term by term.
 *
 *   i + 3 with i < 600, divided by 100: i = 100*a + b: the quotient is a, and the rest b + 3, which is not below 100
 */
#include "device/view_sum.h"

void tesela__view_sums_begin(tesela__view_sums *w, const tesela_host_view *view) {
  w->view = view;
  w->n = w->n_sums = 0;
  for (int32_t d = 0; d < view->rank; d++)
    if (view->shape[d] > 1) w->digit[w->n++] = (tesela__view_digit){d, 1, view->shape[d]};
}

tesela__view_sum *tesela__view_new_sum(tesela__view_sums *w) {
  tesela__view_sum *sum = &w->sum[w->n_sums++];
  sum->constant = 0;
  for (int32_t k = 0; k < w->n; k++) sum->weight[k] = 0;
  return sum;
}

/* Digit k becomes f * (a new digit) + k. */
static bool dview_split(tesela__view_sums *w, int32_t k, int64_t f) {
  if (w->n == TESELA__VIEW_DIGITS) return false;
  tesela__view_digit *low = &w->digit[k], *high = &w->digit[w->n];
  *high = (tesela__view_digit){low->dim, low->step * f, tesela__ceil_div(low->extent, f)};
  low->extent = f;
  for (int32_t s = 0; s < w->n_sums; s++) w->sum[s].weight[w->n] = w->sum[s].weight[k] * f;
  w->n++;
  return true;
}

void tesela__view_range(const tesela__view_sums *w, const tesela__view_sum *sum, int64_t *low,
                        int64_t *high) {
  *low = *high = 0;
  for (int32_t k = 0; k < w->n; k++)
    *(sum->weight[k] < 0 ? low : high) += sum->weight[k] * (w->digit[k].extent - 1);
}

bool tesela__view_divide(tesela__view_sums *w, tesela__view_sum *sum, int64_t t, tesela__view_sum *quotient,
                         bool *full) {
  *full = false;
  for (int32_t k = 0; k < w->n; k++) {
    int64_t a = sum->weight[k] / t, b = sum->weight[k] % t, size = b < 0 ? -b : b;
    if (b != 0 && t % size == 0 && w->digit[k].extent > t / size && !dview_split(w, k, t / size)) {
      *full = true;
      return false;
    }
    quotient->weight[k] = a;
    sum->weight[k] = b;
  }
  int64_t low, high;
  tesela__view_range(w, sum, &low, &high);
  int64_t k = sum->constant + low;
  k = k >= 0 ? k / t : -tesela__ceil_div(-k, t);
  quotient->constant = k;
  sum->constant -= k * t;
  return sum->constant + high < t;
}

bool tesela__view_is_zero(const tesela__view_sums *w, const tesela__view_sum *sum) {
  for (int32_t k = 0; k < w->n; k++)
    if (sum->weight[k] != 0) return false;
  return sum->constant == 0;
}
