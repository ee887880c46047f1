/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_register_laws.c - laws of the operations on register layouts: equations that hold for all layouts.
 * On random layouts whose products have up to some 10^5 elements; nothing is enumerated. TESELA_SEED chooses them.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support_register.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

enum { ROUNDS = 20000 };

typedef tesela_register reg;

/* Calls that succeed, as values. */
static reg layout(reg_rng *rng, int64_t most) {
  register_lists lists;
  reg made;
  reg_random_lists(rng, most, &lists);
  OK(reg_make(&made, &lists, reg_below(rng, 2), &e_));
  return made;
}

static reg compose(reg a, reg b) {
  OK(tesela_register_compose(&a, &a, &b, &e_));
  return a;
}

static reg concat(reg a, reg b) {
  OK(tesela_register_concat(&a, &a, &b, &e_));
  return a;
}

static reg divide(reg a, reg b) {
  OK(tesela_register_divide(&a, &a, &b, &e_));
  return a;
}

static reg left_divide(reg a, reg b) {
  OK(tesela_register_left_divide(&a, &a, &b, &e_));
  return a;
}

static reg permute(reg a, const int64_t *dims) {
  OK(tesela_register_permute(&a, &a, a.rank, dims, &e_));
  return a;
}

static reg reshape(reg a, int32_t rank, const int64_t *shape) {
  OK(tesela_register_reshape(&a, &a, rank, shape, &e_));
  return a;
}

static reg reduce(reg a, int32_t n, const int64_t *dims, bool keepdims) {
  OK(tesela_register_reduce(&a, &a, n, dims, keepdims, &e_));
  return a;
}

/* With leading dims of 1, up to `rank` dims. */
static reg lengthen(reg a, int32_t rank) {
  int64_t dims[TESELA_MAX_RANK];
  int32_t n = 0;
  while (n < rank - a.rank) {
    dims[n] = n;
    n++;
  }
  OK(tesela_register_unsqueeze(&a, &a, n, dims, &e_));
  return a;
}

static void equal(const char *law, const reg *a, const reg *b) {
  reg x, y;
  tesela_register_canonical(&x, a);
  tesela_register_canonical(&y, b);
  if (!tesela_register_same(a, b) || !reg_equal(&x, &y))
    fail_msg("TESELA_SEED=%" PRIu64 ": %s: %s is not %s", first_seed(), law, reg_text(a), reg_text(b));
}
#define LAW(name, left, right)        \
  do {                                \
    reg left_ = left, right_ = right; \
    equal(name, &left_, &right_);     \
  } while (0)

static void random_order(reg_rng *rng, int32_t n, int64_t *order) {
  for (int32_t i = 0; i < n; i++) order[i] = i;
  for (int32_t i = n - 1; i > 0; i--) {
    int64_t j = reg_below(rng, i + 1), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

static void composing(void **state) {
  (void)state;
  reg_rng rng = {first_seed()};
  reg one;
  OK(tesela_register_spatial(&one, 0, NULL, NULL, &e_));
  for (int i = 0; i < ROUNDS; i++) {
    reg a = layout(&rng, 64), b = layout(&rng, 48), c = layout(&rng, 32);
    int32_t rank = a.rank > b.rank ? a.rank : b.rank;
    LAW("compose is associative", compose(compose(a, b), c), compose(a, compose(b, c)));
    LAW("concat is associative", concat(concat(a, b), c), concat(a, concat(b, c)));
    LAW("spatial() is neutral", compose(a, one), a);
    LAW("spatial() is neutral on the left", compose(one, a), a);
    LAW("divide undoes compose", divide(compose(a, b), b), lengthen(a, rank));
    LAW("left_divide undoes compose", left_divide(compose(a, b), a), lengthen(b, rank));
    LAW("a / a", compose(divide(a, a), a), a);
    LAW("a / (b c) = a / c / b", divide(compose(a, compose(b, c)), compose(b, c)),
        divide(divide(compose(a, compose(b, c)), c), b));
  }
}

static void permuting(void **state) {
  (void)state;
  reg_rng rng = {first_seed()};
  for (int i = 0; i < ROUNDS; i++) {
    reg a = layout(&rng, 512), b = layout(&rng, 64);
    int32_t rank = a.rank > b.rank ? a.rank : b.rank;
    a = lengthen(a, rank);
    b = lengthen(b, rank);
    int64_t p[TESELA_MAX_RANK], q[TESELA_MAX_RANK], both[TESELA_MAX_RANK], back[TESELA_MAX_RANK];
    random_order(&rng, rank, p);
    random_order(&rng, rank, q);
    for (int32_t k = 0; k < rank; k++) {
      both[k] = p[q[k]];
      back[p[k]] = k;
    }
    LAW("permutations compose", permute(permute(a, p), q), permute(a, both));
    LAW("a permutation is undone", permute(permute(a, p), back), a);
    LAW("compose commutes with permute", permute(compose(a, b), p), compose(permute(a, p), permute(b, p)));
    reg reduced = reduce(permute(a, p), rank, p, true), first = reduce(a, rank, p, true);
    LAW("all reduced", reduced, permute(first, p));
  }
}

static void reshaping(void **state) {
  (void)state;
  reg_rng rng = {first_seed()};
  int64_t there = 0, refused = 0;
  for (int i = 0; i < ROUNDS; i++) {
    reg a = layout(&rng, 4096), flat, other;
    int64_t shape[TESELA_MAX_RANK], elements = a.spatial_size / tesela_register_copies(&a) * a.local_size;
    OK(tesela_register_flatten(&flat, &a, 0, -1, &e_));
    assert_true(flat.rank == 1 && flat.shape[0] == elements);
    LAW("flat and back", reshape(flat, a.rank, a.shape), a);
    int32_t rank = reg_random_shape(&rng, elements, 6, shape);
    if (tesela_register_reshape(&other, &a, rank, shape, NULL) == TESELA_OK) {
      there++;
      LAW("there and back", reshape(other, a.rank, a.shape), a);
      LAW("over flat", reshape(flat, rank, shape), other);
    } else {
      refused++;
      assert_int_equal(tesela_register_reshape(&other, &flat, rank, shape, NULL), TESELA_E_INVALID);
    }
    int64_t dims[TESELA_MAX_RANK];
    int32_t more = (int32_t)reg_below(&rng, 4);
    random_order(&rng, a.rank + more, dims);
    OK(tesela_register_unsqueeze(&other, &a, more, dims, &e_));
    OK(tesela_register_squeeze(&other, &other, more, dims, &e_));
    LAW("squeeze undoes unsqueeze", other, a);
    OK(tesela_register_with_shape(&other, &a, a.rank, a.shape, &e_));
    assert_true(reg_equal(&other, &a));
  }
  print_message("%" PRId64 " reshaped, %" PRId64 " refused\n", there, refused);
  assert_true(there > ROUNDS / 8 && refused > ROUNDS / 50);
}

/* All dims from `first` on. */
static reg reduce_from(reg a, int32_t first) {
  int64_t dims[TESELA_MAX_RANK];
  for (int32_t d = first; d < a.rank; d++) dims[d - first] = d;
  return reduce(a, a.rank - first, dims, false);
}

static void reducing(void **state) {
  (void)state;
  reg_rng rng = {first_seed()};
  for (int i = 0; i < ROUNDS; i++) {
    reg a = layout(&rng, 256), b = layout(&rng, 256), other;
    int64_t order[TESELA_MAX_RANK], shape[TESELA_MAX_RANK];
    random_order(&rng, a.rank, order);
    int32_t n = (int32_t)reg_below(&rng, a.rank + 1), k = (int32_t)reg_below(&rng, n + 1);
    LAW("one after the other", reduce(reduce(a, k, order, true), n - k, order + k, true),
        reduce(a, n, order, true));
    LAW("one of two side by side", reduce_from(concat(a, b), a.rank), concat(a, reduce_from(b, 0)));
    reg c = lengthen(b, a.rank), whole = lengthen(a, c.rank);
    LAW("both of two composed", reduce(compose(whole, c), n, order, true),
        compose(reduce(whole, n, order, true), reduce(c, n, order, true)));
    for (int32_t d = 0; d < a.rank; d++) shape[d] = a.shape[d];
    for (int32_t j = 0; j < n; j++) shape[order[j]] = 1;
    OK(tesela_register_reduce_to(&other, &a, a.rank, shape, &e_));
    LAW("reduce_to is reduce", other, reduce(a, n, order, true));
    bool covers;
    OK(tesela_register_covers(&other, &other, &covers, &e_));
    assert_true(covers);
  }
}

static void repeating(void **state) {
  (void)state;
  reg_rng rng = {first_seed()};
  for (int i = 0; i < ROUNDS; i++) {
    reg a = layout(&rng, 512), times, repeated;
    int64_t shape[TESELA_MAX_RANK], factor[TESELA_MAX_RANK];
    int32_t lead = (int32_t)reg_below(&rng, 3), rank = a.rank + lead;
    for (int32_t d = 0; d < rank; d++) {
      factor[d] = 1 + reg_below(&rng, 4);
      shape[d] = factor[d] * (d < lead ? 1 : a.shape[d - lead]);
    }
    OK(tesela_register_local(&times, rank, factor, NULL, &e_));
    OK(tesela_register_repeat_to(&repeated, &a, rank, shape, &e_));
    LAW("repeat_to is composing with local", repeated, compose(times, a));
    LAW("a tile is divided away", divide(repeated, a), times);
  }
}

/* Replicas spelt otherwise: a 1 put in, one taken apart. */
static void spelling(void **state) {
  (void)state;
  reg_rng rng = {first_seed()};
  for (int i = 0; i < ROUNDS; i++) {
    reg a = layout(&rng, 64), b;
    register_lists l;
    uint64_t x, y;
    lists_of_register(&l, &a);
    for (int32_t at = l.n_spatial; at >= 0; at--) {
      int64_t factor = reg_below(&rng, 2) ? 1 : 0;
      if (at < l.n_spatial && l.spatial_modes[at] < -1 && l.spatial_modes[at] % 2 == 0) {
        factor = 2;
        l.spatial_modes[at] /= 2;
      }
      if (factor == 0) continue;
      memmove(&l.spatial_modes[at + 1], &l.spatial_modes[at],
              (size_t)(l.n_spatial - at) * sizeof l.spatial_modes[0]);
      l.spatial_modes[at] = -factor;
      l.n_spatial++;
    }
    OK(reg_make(&b, &l, true, &e_));
    equal("spelt otherwise", &a, &b);
    OK(tesela_register_hash(&a, &x, &e_));
    OK(tesela_register_hash(&b, &y, &e_));
    assert_true(x == y);
    tesela_layout core;
    OK(tesela_register_to_layout(&b, TESELA_F32, 32, &core, &e_));
    tesela_translation answer;
    OK(tesela_register_from_layout(&core, &b, &answer, &e_));
    assert_int_equal(answer.verdict, TESELA_EXACT);
    equal("through the core", &a, &b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(composing), cmocka_unit_test(permuting), cmocka_unit_test(reshaping),
      cmocka_unit_test(reducing),  cmocka_unit_test(repeating), cmocka_unit_test(spelling),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
