/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canonical_bench.c - the digits of a layout as a short list in which they are found, dropped and made constant.
 */
#include "layout/canonical.h"

int32_t tesela__bench_digits(const tesela__bench *bench, int32_t coordinate, int32_t *numbers) {
  int32_t n = 0;
  for (int32_t i = 0; i < bench->n; i++)
    if (bench->digit[i].source == coordinate) numbers[n++] = i;
  return n;
}

void tesela__bench_drop(tesela__bench *bench, int32_t number) {
  bench->n--;
  for (int32_t i = number; i < bench->n; i++) bench->digit[i] = bench->digit[i + 1];
}

int32_t tesela__bench_parts(const tesela__bench *bench, int32_t join, int32_t *part) {
  int32_t n = 0;
  for (int32_t i = 0; i < bench->n; i++) {
    if (bench->digit[i].join != join) continue;
    int32_t k = n++;
    for (; k > 0 && bench->digit[part[k - 1]].stride < bench->digit[i].stride; k--) part[k] = part[k - 1];
    part[k] = i;
  }
  return n;
}

int64_t *tesela__bench_offset(tesela__bench *bench, const tesela_digit *digit) {
  return digit->axis >= 0 ? &bench->layout->axis[digit->axis].offset
                          : &bench->layout->join[digit->join].offset;
}

void tesela__bench_add_constants(tesela__bench *bench, const int32_t *number, int32_t k, int32_t n,
                                 int64_t rest) {
  for (; k < n; k++) {
    const tesela_digit *digit = &bench->digit[number[k]];
    *tesela__bench_offset(bench, digit) += rest / digit->step * digit->stride;
    rest %= digit->step;
  }
}
