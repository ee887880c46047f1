/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_linear.c - operations on linear layouts of 20 bits: register, lane, warp and block to two dims of 1024. Goal: 10 us each.
 */
#include "timing.h"

#include <string.h>

#include <tesela/tesela.h>

enum { N = 256, BITS = 20 };

typedef struct linear_case {
  tesela_linear a, b, low, product,
      result; /* a and b are bijections of the same dims; product is low times another */
} linear_case;

static void linear_compose(void *data) {
  linear_case *c = data;
  for (int k = 0; k < N; k++) (void)tesela_linear_compose(&c->a, &c->b, &c->result, NULL);
}

static void linear_invert(void *data) {
  linear_case *c = data;
  for (int k = 0; k < N; k++) (void)tesela_linear_invert(&c->a, &c->result, NULL, NULL);
}

static void linear_pseudoinvert(void *data) {
  linear_case *c = data;
  for (int k = 0; k < N; k++) (void)tesela_linear_pseudoinvert(&c->a, &c->result, NULL, NULL);
}

static void linear_convert(void *data) {
  linear_case *c = data;
  for (int k = 0; k < N; k++) (void)tesela_linear_invert_and_compose(&c->a, &c->b, &c->result, NULL, NULL);
}

static void linear_multiply(void *data) {
  linear_case *c = data;
  for (int k = 0; k < N; k++) (void)tesela_linear_product(&c->low, &c->low, &c->result, NULL);
}

static void linear_divide(void *data) {
  linear_case *c = data;
  for (int k = 0; k < N; k++) (void)tesela_linear_divide_left(&c->product, &c->low, &c->result, NULL, NULL);
}

static void linear_rank(void *data) {
  linear_case *c = data;
  int32_t sum = 0;
  for (int k = 0; k < N; k++) sum += tesela_linear_rank(&c->a);
  c->result.n_ins = sum;
}

/* Output bits in another order, each with others below it: triangular, so a bijection. */
static bool linear_make(uint64_t seed, int32_t n_ins, const tesela_linear_dim *ins, int32_t n_outs,
                        const tesela_linear_dim *outs, tesela_linear *out) {
  int64_t bases[BITS * 4];
  int32_t bits = 0, at[BITS];
  for (int32_t i = 0; i < n_ins; i++) bits += ins[i].bits;
  for (int32_t k = 0; k < bits; k++) at[k] = k;
  for (int32_t k = bits - 1; k > 0; k--) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    int32_t other = (int32_t)((seed >> 33) % (uint64_t)(k + 1)), was = at[k];
    at[k] = at[other];
    at[other] = was;
  }
  for (int32_t k = 0; k < bits; k++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t word = UINT64_C(1) << at[k] | (seed >> 40 & ((UINT64_C(1) << at[k]) - 1));
    for (int32_t d = 0; d < n_outs; d++) {
      bases[k * n_outs + d] = (int64_t)(word & ((UINT64_C(1) << outs[d].bits) - 1));
      word >>= outs[d].bits;
    }
  }
  return tesela_linear_make(out, n_ins, ins, n_outs, outs, bases, NULL) == TESELA_OK;
}

int main(void) {
  const tesela_linear_dim ins[] = {{"register", 5}, {"lane", 5}, {"warp", 4}, {"block", 6}};
  const tesela_linear_dim outs[] = {{"dim0", 10}, {"dim1", 10}};
  const tesela_linear_dim half_ins[] = {{"register", 3}, {"lane", 3}, {"warp", 2}, {"block", 2}};
  const tesela_linear_dim half_outs[] = {{"dim0", 5}, {"dim1", 5}};
  static linear_case c;
  tesela_linear turn;
  if (!linear_make(1, 4, ins, 2, outs, &c.a) || !linear_make(2, 4, ins, 2, outs, &c.b) ||
      !linear_make(3, 4, half_ins, 2, half_outs, &c.low) || !linear_make(4, 2, outs, 2, outs, &turn) ||
      tesela_linear_product(&c.low, &c.low, &c.product, NULL) != TESELA_OK ||
      tesela_linear_rank(&c.a) != BITS)
    return 1;
  bench_way ways[] = {{"tesela_linear_invert", linear_invert, N, 0},
                      {"tesela_linear_pseudoinvert", linear_pseudoinvert, N, 0},
                      {"tesela_linear_invert_and_compose", linear_convert, N, 0},
                      {"tesela_linear_product", linear_multiply, N, 0},
                      {"tesela_linear_divide_left", linear_divide, N, 0},
                      {"tesela_linear_rank", linear_rank, N, 0}};
  const int n = sizeof ways / sizeof ways[0];
  bench_compare("20 bits: (register, lane, warp, block) to (dim0, dim1)", ways, n, &c);
  for (int w = 0; w < n; w++) bench_figure("linear.us", ways[w].ns / 1000);
  c.b = turn;
  bench_way way = {"tesela_linear_compose", linear_compose, N, 0};
  bench_compare("the same, then (dim0, dim1) to (dim0, dim1)", &way, 1, &c);
  bench_figure("linear.us", way.ns / 1000);
  return 0;
}
