/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cute_algebra.c - the algebra of CuTe layouts against its post-conditions.
 *
 * The oracle evaluates layouts by its own formula. Whether extents and strides with some values exist is decided by a search over all
 * ordered factorisations of each outer mode, the strides read from the values. It knows nothing of first breaks or floors. Which index
 * contradicts first is the greatest first disagreement over all combinations of factorisations.
 *
 * TESELA_CASES is the number of random compositions up to size 4096 (default 20000).
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tesela/cute.h>

#include "support_seed.h"

enum { MOST = 4096 };

/* ---- the oracle ---- */

/* The value before the XOR at a flat coordinate, which may be beyond the size: digits, the last one without an end. */
static int64_t value_of(const tesela_cute *c, int64_t i) {
  int64_t value = c->offset;
  for (int32_t k = 0; k + 1 < c->n; k++) {
    value += (i % c->extent[k]) * c->stride[k];
    i = i / c->extent[k];
  }
  return c->n > 0 ? value + i * c->stride[c->n - 1] : value;
}

static int64_t size_of(const tesela_cute *c) {
  int64_t size = 1;
  for (int32_t k = 0; k < c->n; k++) size *= c->extent[k];
  return size;
}

/* Sizes of the outer modes. */
static int modes_of(const tesela_cute *c, int64_t *size) {
  int depth = 0, n = 0;
  const int outer = c->n > 0 && c->open[0] > 0;
  for (int32_t k = 0; k < c->n; k++) {
    if (k == 0 || depth == outer) size[n++] = 1;
    size[n - 1] *= c->extent[k];
    depth += c->open[k] - c->close[k];
  }
  return n;
}

/* Extents of a factorisation, the first fastest. */
typedef struct factors {
  int n;
  int64_t extent[16];
} factors;

/* All ordered factorisations of `size`, up to 64; returns their number. */
static factors all_factors[128];
static int list_factors(int64_t size, factors *now, int count) {
  if (size == 1) {
    all_factors[count++] = *now;
    return count;
  }
  for (int64_t f = 2; f <= size; f++)
    if (size % f == 0) {
      now->extent[now->n++] = f;
      count = list_factors(size / f, now, count);
      now->n--;
    }
  return count;
}

/* Do extents, tried one after the other with the strides read from the values, have the values of one mode? Those tried so far have
 * `size` values. `unit`: coordinates between neighbours; `left`: the product of the extents to try. */
static bool one_mode(const int64_t *value, int64_t unit, int64_t size, int64_t left) {
  if (left == 1) return true;
  for (int64_t extent = 2; extent <= left; extent++) {
    if (left % extent != 0) continue;
    const int64_t stride = value[size * unit] - value[0];
    bool agrees = true;
    for (int64_t i = size; i < size * extent && agrees; i++)
      agrees = value[i * unit] == value[i % size * unit] + i / size * stride;
    if (agrees && one_mode(value, unit, size * extent, left / extent)) return true;
  }
  return false;
}

/* Are there extents and strides with these values, of outer modes of these sizes? */
static bool exists(const int64_t *value, int modes, const int64_t *mode) {
  int64_t size = 1;
  for (int m = 0; m < modes; m++) size *= mode[m];
  for (int64_t i = 0; i < size; i++) { /* the sum over modes */
    int64_t sum = value[0], rest = i, unit = 1;
    for (int m = 0; m < modes; m++) {
      sum += value[rest % mode[m] * unit] - value[0];
      rest /= mode[m];
      unit *= mode[m];
    }
    if (sum != value[i]) return false;
  }
  int64_t unit = 1;
  for (int m = 0; m < modes; m++) {
    if (!one_mode(value, unit, 1, mode[m])) return false;
    unit *= mode[m];
  }
  return true;
}

/* The greatest first disagreement of all combinations of factorisations, and what they expect there. */
typedef struct reach {
  int64_t index, expected;
} reach;

static void reach_of(const factors *all, const int64_t *value, int64_t size, reach *best) {
  for (int64_t i = 0; i < size; i++) {
    int64_t sum = value[0], rest = i, weight = 1;
    for (int k = 0; k < all->n; k++) {
      if (rest % all->extent[k] != 0) sum += rest % all->extent[k] * (value[weight] - value[0]);
      rest /= all->extent[k];
      weight *= all->extent[k];
    }
    if (sum == value[i]) continue;
    if (i > best->index) *best = (reach){i, sum};
    if (i == best->index) assert_int_equal(best->expected, sum);
    return;
  }
  fail_msg("a combination agrees everywhere");
}

static void reach_modes(factors *all, const int64_t *value, int64_t size, int modes, const int64_t *mode,
                        int64_t left, reach *best) {
  if (left == 1 && modes == 0) {
    reach_of(all, value, size, best);
  } else if (left == 1) {
    reach_modes(all, value, size, modes - 1, mode + 1, mode[0], best);
  } else {
    for (int64_t f = 2; f <= left; f++)
      if (left % f == 0) {
        all->extent[all->n++] = f;
        reach_modes(all, value, size, modes, mode, left / f, best);
        all->n--;
      }
  }
}

/* ---- random layouts ---- */

static uint64_t state;
static int64_t below(int64_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int64_t)((state * 0x9e3779b97f4a7c15u >> 20) % (uint64_t)n);
}

static void wrap(tesela_cute *c, int first, int last) {
  c->open[first]++;
  c->close[last]++;
}

/* Random brackets around the leaves: rank 0, flat, or nested once. */
static void add_brackets(tesela_cute *c) {
  if (c->n == 1 && below(2) == 0) return;
  for (int k = 0; k + 1 < c->n; k++)
    if (below(3) == 0) {
      int last = k + 1 + (int)below(c->n - k - 1);
      if (last - k + 1 < c->n || below(2) == 0) wrap(c, k, last);
      k = last;
    }
  wrap(c, 0, c->n - 1);
}

enum {
  KIND_USUAL,
  KIND_ZERO,
  KIND_NEGATIVE,
  KIND_SWIZZLED,
  KIND_ODD,
  KIND_TRUNCATED,
  KIND_BEYOND,
  KIND_WILD,
  KINDS
};

static int64_t an_extent(int kind) {
  static const int64_t odd[] = {3, 5, 6, 7, 9, 10, 12, 15};
  if (kind == KIND_ODD || (kind != KIND_USUAL && below(3) == 0)) return odd[below(8)];
  return below(12) == 0 ? 1 : (int64_t)1 << (1 + below(3));
}

static void random_a(tesela_cute *a, int kind) {
  memset(a, 0, sizeof *a);
  a->n = 1 + (int32_t)below(4);
  int64_t stride = 1;
  for (int k = 0; k < a->n; k++) a->extent[k] = an_extent(kind);
  int order[4] = {0, 1, 2, 3};
  for (int k = a->n - 1; k > 0; k--) {
    int j = (int)below(k + 1), swap = order[k];
    order[k] = order[j];
    order[j] = swap;
  }
  for (int k = 0; k < a->n; k++) {
    const int leaf = order[k];
    a->stride[leaf] = kind == KIND_WILD ? below(20) : stride;
    stride *= a->extent[leaf];
    if (below(5) == 0) stride += 1 + below(4);
    if (kind == KIND_ZERO && below(2) == 0) a->stride[leaf] = 0;
    if (kind == KIND_NEGATIVE && below(2) == 0) a->stride[leaf] = -a->stride[leaf];
  }
  if (kind == KIND_SWIZZLED) {
    a->bits = 1 + (int32_t)below(3);
    a->base = (int32_t)below(4);
    a->shift = a->bits + (int32_t)below(2);
    if (below(3) == 0) a->shift = -a->shift;
    a->offset = below(3) == 0 ? below(32) : 0;
  }
  add_brackets(a);
}

/* A layout whose steps often fall on digits of A. */
static void random_b(tesela_cute *b, const tesela_cute *a, int kind, int64_t most) {
  int64_t size = 1, next = 1, digits[9];
  int n_digits = 0;
  memset(b, 0, sizeof *b);
  for (int k = 0; k <= a->n; k++) {
    digits[n_digits++] = size;
    if (k < a->n && a->extent[k] % 2 == 0) digits[n_digits++] = size * 2;
    if (k < a->n) size *= a->extent[k];
    if (n_digits > 7) break;
  }
  const int leaves = 1 + (int)below(4);
  for (int64_t total = 1; b->n < leaves;) {
    int64_t extent = an_extent(kind);
    if (total * extent > most) break;
    total *= extent;
    int64_t stride = digits[below(n_digits)];
    if (below(3) == 0) stride = next;
    if (below(6) == 0) stride = below(12);
    if (kind == KIND_ZERO && below(4) == 0) stride = 0;
    if (kind == KIND_BEYOND && below(2) == 0) stride = size;
    b->extent[b->n] = extent;
    b->stride[b->n++] = stride;
    next = stride * extent;
  }
  if (b->n == 0) {
    b->n = 1;
    b->extent[0] = 1 + below(most < 8 ? most : 8);
    b->stride[0] = 1 + below(3);
  }
  if (kind == KIND_TRUNCATED && b->n > 0) { /* cut off in a digit of A */
    const int k = (int)below(b->n);
    if (b->extent[k] > 2) b->extent[k] -= 1 + below(b->extent[k] - 2);
  }
  add_brackets(b);
}

/* ---- composition ---- */

static const char *text_of(const tesela_cute *c) {
  static char room[4][512];
  static int next;
  char *text = room[next++ % 4];
  tesela_buffer buffer = {text, sizeof room[0], 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  if (tesela_cute_print(c, &to, NULL) != TESELA_OK) snprintf(text, sizeof room[0], "(cannot be printed)");
  return text;
}

enum {
  CLASS_MODES,
  CLASS_ZERO,
  CLASS_NEGATIVE,
  CLASS_SWIZZLED,
  CLASS_ODD,
  CLASS_TRUNCATED,
  CLASS_BEYOND,
  CLASSES
};
static const char *const class_names[CLASSES] = {"not coalescible", "stride 0",  "negative",  "swizzled",
                                                 "no powers of 2",  "truncated", "B beyond A"};

typedef struct tally {
  int64_t cases, expressible, of[CLASSES][2];
} tally;

static bool is_power(int64_t x) { return (x & (x - 1)) == 0; }

static void count(tally *t, const tesela_cute *a, const tesela_cute *b, bool expressible) {
  bool in[CLASSES] = {false};
  int64_t top = 0, largest = 1, size = size_of(a);
  tesela_cute flat;
  assert_int_equal(tesela_cute_coalesce(a, 0, &flat, NULL), TESELA_OK);
  in[CLASS_MODES] = flat.n > 1;
  in[CLASS_SWIZZLED] = a->bits > 0;
  for (int k = 0; k < a->n; k++) {
    in[CLASS_ZERO] = in[CLASS_ZERO] || (a->stride[k] == 0 && a->extent[k] > 1);
    in[CLASS_NEGATIVE] = in[CLASS_NEGATIVE] || (a->stride[k] < 0 && a->extent[k] > 1);
    in[CLASS_ODD] = in[CLASS_ODD] || !is_power(a->extent[k]);
  }
  for (int k = 0; k < b->n; k++) {
    in[CLASS_ZERO] = in[CLASS_ZERO] || (b->stride[k] == 0 && b->extent[k] > 1);
    in[CLASS_ODD] = in[CLASS_ODD] || !is_power(b->extent[k]);
    top += (b->extent[k] - 1) * b->stride[k];
    largest *= b->extent[k];
  }
  in[CLASS_BEYOND] = top >= size;
  in[CLASS_TRUNCATED] = top < size && size % (top + 1) != 0;
  t->cases++;
  t->expressible += expressible;
  for (int c = 0; c < CLASSES; c++) t->of[c][expressible] += in[c];
}

static void print(const tally *t, const char *what) {
  print_message("%s: %" PRId64 " compositions, %.1f %% expressible\n", what, t->cases,
                100.0 * (double)t->expressible / (double)t->cases);
  for (int c = 0; c < CLASSES; c++)
    print_message("  %-16s %9" PRId64 "  %5.1f %% expressible\n", class_names[c], t->of[c][0] + t->of[c][1],
                  100.0 * (double)t->of[c][1] / (double)(t->of[c][0] + t->of[c][1] + 1));
}

static void check_composition(const tesela_cute *a, const tesela_cute *b, bool indices, tally *t) {
  static int64_t value[MOST];
  int64_t mode[64], mode_r[64];
  const int modes = modes_of(b, mode);
  const int64_t size = size_of(b);
  tesela_cute r;
  tesela_cute_counter counter;
  tesela_error err = {.status = TESELA_OK};
  for (int64_t i = 0; i < size; i++) value[i] = value_of(a, value_of(b, i));
  const tesela_status status = tesela_cute_compose(a, b, &r, &counter, &err);
  const bool expressible = exists(value, modes, mode);
  if ((status == TESELA_OK) != expressible ||
      (status != TESELA_OK && err.reason != TESELA_REASON_NOT_EXPRESSIBLE))
    fail_msg("%s o %s: %s, but a search finds %s", text_of(a), text_of(b),
             status == TESELA_OK ? text_of(&r) : err.message, expressible ? "one" : "none");
  count(t, a, b, expressible);
  if (status == TESELA_OK) {
    assert_false(counter.given);
    const bool tuple = b->n == 0 || b->open[0] > 0; /* rank 0 becomes rank 0, or a list of leaves */
    if (size_of(&r) != size || (tuple && (modes_of(&r, mode_r) != modes ||
                                          memcmp(mode, mode_r, (size_t)modes * sizeof mode[0]) != 0)))
      fail_msg("%s o %s: other outer modes: %s", text_of(a), text_of(b), text_of(&r));
    assert_true(r.bits == a->bits && r.base == a->base && r.shift == a->shift);
    for (int64_t i = 0; i < size; i++)
      if (value_of(&r, i) != value[i])
        fail_msg("%s o %s: %s is wrong at %" PRId64, text_of(a), text_of(b), text_of(&r), i);
    assert_string_not_equal(text_of(&r), "(cannot be printed)");
    return;
  }
  assert_true(counter.given && counter.index < size && counter.value == value[counter.index]);
  assert_int_not_equal(counter.value, counter.expected);
  if (!indices) return;
  factors all = {0};
  reach best = {-1, 0};
  reach_modes(&all, value, size, modes, mode, 1, &best);
  if (counter.index != best.index || counter.expected != best.expected)
    fail_msg("%s o %s: index %" PRId64 ", expected %" PRId64 "; the search finds %" PRId64 ", %" PRId64,
             text_of(a), text_of(b), counter.index, counter.expected, best.index, best.expected);
}

static void test_composition(void **unused) {
  (void)unused;
  tally small = {0}, large = {0};
  tesela_cute a, b;
  const char *wanted = getenv("TESELA_CASES");
  const int64_t cases = wanted ? strtoll(wanted, NULL, 10) : slow_run() ? 2000 : 20000;
  state = first_seed() | 1;
  for (int64_t i = 0; i < cases; i++) {
    const int kind = (int)below(KINDS);
    random_a(&a, kind);
    random_b(&b, &a, kind, 64);
    check_composition(&a, &b, true, &small);
    random_b(&b, &a, kind, MOST);
    check_composition(&a, &b, false, &large);
  }
  print(&small, "up to 64");
  print(&large, "up to 4096");
  assert_in_range(small.expressible * 100 / small.cases, 10, 90);
  assert_in_range(large.expressible * 100 / large.cases, 10, 90);
}

/* All A of one to three leaves with small strides, and all B of one leaf. */
static void test_small_compositions(void **unused) {
  (void)unused;
  tally t = {0};
  const int64_t most = slow_run() ? 4 : 7;
  for (int64_t s0 = 1; s0 <= 4; s0++)
    for (int64_t s1 = 1; s1 <= 4; s1++)
      for (int64_t d0 = -1; d0 < most; d0++)
        for (int64_t d1 = 0; d1 < most; d1++)
          for (int64_t d2 = 0; d2 < most; d2++)
            for (int64_t e = 0; e <= 7; e++)
              for (int64_t n = 2; n <= 12; n += 2) {
                const tesela_cute a = {
                    .n = 3, .extent = {s0, s1, 3}, .stride = {d0, d1, d2}, .open = {1}, .close = {0, 0, 1}};
                const tesela_cute b = {.n = 1, .extent = {n}, .stride = {e}};
                check_composition(&a, &b, true, &t);
              }
  print(&t, "all small ones");
}

/* ---- large sizes, where a formula gives the answer ---- */

static tesela_cute read(const char *text) {
  tesela_cute c;
  tesela_error err;
  if (tesela_cute_parse(&c, text, strlen(text), &err) != TESELA_OK) fail_msg("%s: %s", text, err.message);
  return c;
}

static void test_texts(void **unused) {
  (void)unused;
  static const struct {
    const char *a, *b, *r; /* NULL: impossible */
    int64_t index, value, expected;
  } cases[] = {
      {"(6,4):(4,1)", "(3,2):(2,12)", "(3,2):(8,2)", 0, 0, 0},
      {"20:2", "(5,4):(4,1)", "(5,4):(8,2)", 0, 0, 0},
      {"(4,6,8):(2,3,5)", "6:3", NULL, 3, 8, 13},
      {"(10,2):(16,4)", "(5,4):(1,5)", "(5,(2,2)):(16,(80,4))", 0, 0, 0},
      {"(12,(4,8)):(59,(13,1))", "3:4", "3:236", 0, 0, 0},
      {"(8,5):(5,1)", "20:1", NULL, 8, 1, 40},
      {"8:1", "(20):(2)", "(20):(2)", 0, 0, 0},
      {"(4,2):(1,10)", "(8):(1)", "((4,2)):((1,10))", 0, 0, 0},
      {"Sw<3,3,3> o 0 o (8,64):(64,1)", "(8,8):(8,1)", "Sw<3,3,3> o 0 o (8,8):(1,64)", 0, 0, 0},
      {"16:8", "Sw<2,0,3> o 0 o (4,4):(1,4)", "Sw<2,3,3> o 0 o (4,4):(8,32)", 0, 0, 0},
      {"(1000000,1000000):(1000008,1)", "1000000000000:1", "(1000000,1000000):(1000008,1)", 0, 0, 0},
      {"(1000000,1000000):(1000008,1)", "1000000000:7", NULL, 142858, 1000008 * INT64_C(6) + 1,
       1000008 * INT64_C(1000006)},
      {"(1000000000,2,2):(1,7,1000000007)", "1000000000:999999999", "(2,500000000):(999999999,1000000005)", 0,
       0, 0},
      {"(1000000000000,2):(1,7)", "(2,1000000000000):(1,1)", NULL, 0, 0, 0},
      {"7:-3", "5:-2", "5:6", 0, 0, 0},
      {"(4,1):(1,7)", "8:1", "(4,2):(1,7)", 0, 0, 0},
      {"():()", "4:1", "4:0", 0, 0, 0},
      {"(4,8):(8,1)", "():()", "():()", 0, 0, 0},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    const tesela_cute a = read(cases[k].a), b = read(cases[k].b);
    tesela_cute r;
    tesela_cute_counter counter;
    tesela_error err = {.message = ""};
    const tesela_status status = tesela_cute_compose(&a, &b, &r, &counter, &err);
    print_message("%s o %s = %s\n", cases[k].a, cases[k].b, status == TESELA_OK ? text_of(&r) : err.message);
    if (cases[k].r) assert_string_equal(status == TESELA_OK ? text_of(&r) : err.message, cases[k].r);
    if (!cases[k].r) assert_int_equal(err.reason, TESELA_REASON_NOT_EXPRESSIBLE);
    if (!cases[k].r && cases[k].index > 0) {
      assert_int_equal(counter.index, cases[k].index);
      assert_int_equal(counter.value, cases[k].value);
      assert_int_equal(counter.expected, cases[k].expected);
    }
  }
}

/* Values below 0 that A does not have: the first coordinate. */
static void test_below_zero(void **unused) {
  (void)unused;
  const tesela_cute a = read("(4,2):(1,10)");
  state = first_seed() | 1;
  for (int i = 0; i < 2000; i++) {
    tesela_cute b, r;
    tesela_cute_counter counter;
    random_b(&b, &a, KIND_USUAL, 64);
    for (int k = 0; k < b.n; k++)
      if (below(2) == 0) b.stride[k] = -b.stride[k];
    int64_t first = 0;
    while (first < size_of(&b) && value_of(&b, first) >= 0) first++;
    if (first == size_of(&b)) continue;
    assert_int_equal(tesela_cute_compose(&a, &b, &r, &counter, NULL), TESELA_E_RANGE);
    assert_int_equal(counter.index, first);
    assert_int_equal(counter.value, value_of(&b, first));
  }
}

/* ---- complement ---- */

/* The translates of A's values that cover 0, 1, 2, ... once each are forced: the first place that is free is the next. */
static int tiles_of(const tesela_cute *a, int64_t size, int64_t *start) {
  static bool covered[8 * MOST];
  int n = 0;
  memset(covered, 0, sizeof covered);
  for (int64_t place = 0; place < size; place++) {
    if (covered[place]) continue;
    start[n++] = place;
    for (int64_t i = 0; i < size_of(a); i++) {
      const int64_t at = place + value_of(a, i);
      if (at >= (int64_t)(sizeof covered) || covered[at]) return -1;
      covered[at] = true;
    }
  }
  return n;
}

static void test_complement(void **unused) {
  (void)unused;
  static int64_t start[MOST];
  int found = 0, refused = 0;
  state = first_seed() | 1;
  for (int i = 0; i < 40000; i++) {
    tesela_cute a, r, filtered;
    tesela_cute_counter counter;
    tesela_error err;
    random_a(&a, below(2) ? KIND_USUAL : KIND_ODD);
    if (below(3) == 0)
      for (int k = 0; k < a.n; k++) a.stride[k] = (int64_t)1 << below(5);
    else if (below(2) == 0)
      for (int k = 0; k < a.n; k++) a.stride[k] *= 1 + below(3);
    if (size_of(&a) > 64) continue;
    const int64_t size = 1 + below(200);
    assert_int_equal(tesela_cute_filter(&a, 0, &filtered, NULL), TESELA_OK);
    const tesela_status status = tesela_cute_complement(&a, size, &r, &counter, &err);
    const int64_t far =
        (size + size_of(&a) * 200) < 4 * MOST ? 2 * MOST : 4 * MOST; /* far enough to see a collision */
    (void)far;
    if (status == TESELA_OK) {
      const int64_t n = size_of(&r);
      for (int64_t k = 1; k < n; k++)
        if (value_of(&r, k) <= value_of(&r, k - 1))
          fail_msg("%s: %s is not ordered", text_of(&a), text_of(&r));
      const int64_t places = n * size_of(&filtered);
      if (places > 8 * MOST) continue;
      static uint8_t covered[8 * MOST];
      memset(covered, 0, sizeof covered);
      for (int64_t k = 0; k < n; k++)
        for (int64_t e = 0; e < size_of(&filtered); e++) {
          const int64_t at = value_of(&r, k) + value_of(&filtered, e);
          if (at >= places || covered[at]++)
            fail_msg("%s, %" PRId64 ": %s overlaps or leaves a gap", text_of(&a), size, text_of(&r));
        }
      assert_true(places >= size);
      found++;
    } else {
      assert_true(err.reason == TESELA_REASON_NOT_INJECTIVE || err.reason == TESELA_REASON_NOT_EXPRESSIBLE);
      const int tiles = tiles_of(&filtered, MOST, start);
      if (tiles >= 0) fail_msg("%s has translates that fill 0 .. 4095: %s", text_of(&a), err.message);
      if (err.reason == TESELA_REASON_NOT_INJECTIVE)
        assert_int_equal(value_of(&a, counter.index), value_of(&a, counter.index2));
      refused++;
    }
  }
  print_message("complement: %d found, %d impossible\n", found, refused);
  assert_true(found > 1000 && refused > 1000);
}

/* ---- inverses ---- */

/* The greatest n with extents and strides R, A(R(i)) = i for i < n: all factorisations, all coordinates with the right value as strides. */
static bool right_exists(const tesela_cute *a, const factors *f, int level, int64_t weight, int64_t *stride) {
  const int64_t size = size_of(a);
  if (level == f->n) return true;
  for (int64_t c = 1; c < size; c++) {
    if (value_of(a, c) != weight) continue;
    stride[level] = c;
    bool right = true;
    for (int64_t i = 0; i < weight * f->extent[level] && right; i++) {
      int64_t at = 0, rest = i;
      for (int k = 0; k <= level; k++) {
        at += rest % f->extent[k] * stride[k];
        rest /= f->extent[k];
      }
      right = at < size && value_of(a, at) == i;
    }
    if (right && right_exists(a, f, level + 1, weight * f->extent[level], stride)) return true;
  }
  return false;
}

static int64_t greatest_right(const tesela_cute *a) {
  for (int64_t n = size_of(a); n > 1; n--) {
    factors now = {0};
    int64_t stride[16];
    const int count_ = list_factors(n, &now, 0);
    for (int k = 0; k < count_; k++)
      if (right_exists(a, &all_factors[k], 0, 1, stride)) return n;
  }
  return 1;
}

static void test_right_inverse(void **unused) {
  (void)unused;
  int greater[3] = {0};
  state = first_seed() | 1;
  for (int i = 0; i < (slow_run() ? 500 : 6000); i++) {
    tesela_cute a, r;
    random_a(&a, (int)below(KINDS));
    a.bits = 0;
    a.offset = 0;
    if (size_of(&a) > 48) continue;
    if (below(2) == 0)
      for (int k = 0; k < a.n; k++) a.stride[k] = (int64_t)1 << below(4);
    assert_int_equal(tesela_cute_right_inverse(&a, &r, NULL), TESELA_OK);
    for (int64_t k = 0; k < size_of(&r); k++)
      if (value_of(&r, k) < 0 || value_of(&r, k) >= size_of(&a) || value_of(&a, value_of(&r, k)) != k)
        fail_msg("right_inverse %s = %s is wrong at %" PRId64, text_of(&a), text_of(&r), k);
    const int64_t n = greatest_right(&a);
    if (n != size_of(&r))
      fail_msg("right_inverse %s = %s; there is one of size %" PRId64, text_of(&a), text_of(&r), n);
    greater[n == 1 ? 0 : n < size_of(&a) ? 1 : 2]++;
  }
  print_message("right inverse: %d of size 1, %d partial, %d whole\n", greater[0], greater[1], greater[2]);
}

static void test_left_inverse(void **unused) {
  (void)unused;
  int found = 0, shared = 0, impossible = 0, undecided = 0;
  state = first_seed() | 1;
  for (int i = 0; i < (slow_run() ? 2000 : 20000); i++) {
    tesela_cute a, r;
    tesela_cute_counter counter;
    tesela_error err;
    random_a(&a, (int)below(KINDS));
    a.bits = 0;
    a.offset = 0;
    if (size_of(&a) > 128) continue;
    bool negative = false;
    for (int k = 0; k < a.n; k++) {
      if (below(3) == 0) a.stride[k] = 1 + below(12);
      negative = negative || (a.extent[k] > 1 && a.stride[k] < 0);
    }
    int64_t same = 0;
    for (int64_t x = 0; x < size_of(&a); x++)
      for (int64_t y = 0; y < x; y++) same += value_of(&a, x) == value_of(&a, y);
    const tesela_status status = tesela_cute_left_inverse(&a, &r, &counter, &err);
    if (same > 0) {
      assert_int_equal(err.reason, TESELA_REASON_NOT_INJECTIVE);
      assert_true(counter.index < counter.index2 && counter.index2 < size_of(&a));
      assert_int_equal(value_of(&a, counter.index), counter.value);
      assert_int_equal(value_of(&a, counter.index2), counter.value);
      shared++;
    } else if (negative) {
      assert_int_equal(status, TESELA_E_RANGE);
      assert_true(counter.value < 0 && value_of(&a, counter.index) == counter.value);
    } else if (status == TESELA_OK) {
      for (int64_t k = 0; k < size_of(&a); k++)
        if (value_of(&r, value_of(&a, k)) != k)
          fail_msg("left_inverse %s = %s is wrong at %" PRId64, text_of(&a), text_of(&r), k);
      assert_true(size_of(&r) >= tesela_cute_cosize(&a));
      found++;
    } else if (err.reason ==
               TESELA_REASON_NOT_EXPRESSIBLE) { /* tests/cli/test_cute.py decides by fractions */
      impossible++;
    } else {
      assert_int_equal(status, TESELA_E_LIMIT);
      undecided++;
    }
  }
  const tesela_cute a = read("(3,2):(2,3)");
  tesela_cute r;
  assert_int_equal(tesela_cute_left_inverse(&a, &r, NULL, NULL), TESELA_OK);
  assert_string_equal(text_of(&r), "(2,4):(2,1)");
  print_message("left inverse: %d found, %d impossible, %d not injective, %d undecided\n", found, impossible,
                shared, undecided);
  assert_true(undecided * 50 < found);
}

/* ---- divisions and products ---- */

static void test_divisions(void **unused) {
  (void)unused;
  int found = 0, refused = 0, outside = 0;
  static int64_t value[MOST];
  state = first_seed() | 1;
  for (int i = 0; i < 30000; i++) {
    tesela_cute a, b, rest, r;
    tesela_cute_tiler tiler = {.by_mode = false, .n = 1};
    tesela_cute_counter counter;
    tesela_error err;
    const int kind = below(2) ? KIND_USUAL : KIND_ODD;
    random_a(&a, kind);
    random_b(&b, &a, kind, 16);
    if (size_of(&a) > 64) continue;
    tiler.mode[0] = b;
    const tesela_status status = tesela_cute_divide(TESELA_CUTE_LOGICAL, &a, &tiler, &r, &counter, &err);
    int64_t first = 0;
    while (first < size_of(&b) && value_of(&b, first) < size_of(&a)) first++;
    if (first < size_of(&b)) {
      assert_int_equal(err.reason, TESELA_REASON_SIZE);
      assert_int_equal(counter.index, first);
      assert_int_equal(counter.value, value_of(&b, first));
      outside++;
      continue;
    }
    if (tesela_cute_complement(&b, size_of(&a), &rest, NULL, NULL) != TESELA_OK) {
      assert_true(status != TESELA_OK);
      continue;
    }
    const int64_t mode[2] = {size_of(&b), size_of(&rest)};
    const int64_t n = mode[0] * mode[1];
    for (int64_t k = 0; k < n; k++)
      value[k] = value_of(&a, value_of(&b, k % mode[0]) + value_of(&rest, k / mode[0]));
    const bool expressible = exists(value, 2, mode);
    if ((status == TESELA_OK) != expressible)
      fail_msg("%s / %s: %s", text_of(&a), text_of(&b), status == TESELA_OK ? text_of(&r) : err.message);
    if (status == TESELA_OK) {
      int64_t sizes[64];
      assert_int_equal(modes_of(&r, sizes), 2);
      assert_true(sizes[0] == mode[0] && sizes[1] == mode[1]);
      for (int64_t k = 0; k < n; k++) assert_int_equal(value_of(&r, k), value[k]);
      found++;
    } else {
      refused++;
    }
  }
  print_message("division: %d found, %d impossible, %d beyond the layout\n", found, refused, outside);
  assert_true(found > 1000 && refused > 100 && outside > 100);
}

static const char *divided(tesela_cute_form form, bool product, const char *text, const char *by) {
  const tesela_cute a = read(text);
  tesela_cute r;
  tesela_cute_tiler tiler;
  tesela_error err;
  if (tesela_cute_tiler_parse(&tiler, by, strlen(by), &err) != TESELA_OK) fail_msg("%s: %s", by, err.message);
  if ((product ? tesela_cute_product : tesela_cute_divide)(form, &a, &tiler, &r, NULL, &err) != TESELA_OK)
    fail_msg("%s by %s: %s", text, by, err.message);
  return text_of(&r);
}

/* Brackets as CuTe's DSL 4.8.1 prints them, and as its documentation. */
static void test_forms(void **unused) {
  (void)unused;
  static const struct {
    tesela_cute_form form;
    bool product;
    const char *a, *b, *r;
  } cases[] = {
      {TESELA_CUTE_LOGICAL, false, "(4,2,3):(2,1,8)", "4:2", "((2,2),(2,3)):((4,1),(2,8))"},
      {TESELA_CUTE_LOGICAL, false, "(8,6):(6,1)", "<4,2>", "((4,2),(2,3)):((6,24),(1,2))"},
      {TESELA_CUTE_LOGICAL, false, "(8,6):(6,1)", "<4,_>", "((4,2),6):((6,24),1)"},
      {TESELA_CUTE_ZIPPED, false, "(8,6):(6,1)", "[4; 2]", "((4,2),(2,3)):((6,1),(24,2))"},
      {TESELA_CUTE_ZIPPED, false, "(8,6):(6,1)", "<4>", "((4),(2,6)):((6),(24,1))"},
      {TESELA_CUTE_TILED, false, "(8,6):(6,1)", "<4,2>", "((4,2),2,3):((6,1),24,2)"},
      {TESELA_CUTE_FLAT, false, "(8,6):(6,1)", "<4,2>", "(4,2,2,3):(6,1,24,2)"},
      {TESELA_CUTE_TILED, false, "24", "4:2", "(4,2,3):(2,1,8)"},
      {TESELA_CUTE_ZIPPED, false, "24", "4", "(4,6):(1,4)"},
      {TESELA_CUTE_LOGICAL, false, "10", "4", "(4,3):(1,4)"},
      {TESELA_CUTE_LOGICAL, false, "(9,(4,8)):(59,(13,1))", "<3:3,(2,4):(1,8)>",
       "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))"},
      {TESELA_CUTE_LOGICAL, true, "(2,2):(4,1)", "6:1", "((2,2),(2,3)):((4,1),(2,8))"},
      {TESELA_CUTE_LOGICAL, true, "(2,2):(1,2)", "(2,2):(2,1)", "((2,2),(2,2)):((1,2),(8,4))"},
      {TESELA_CUTE_ZIPPED, true, "(2,2)", "(3,4)", "((2,2),(3,4)):((1,2),(4,12))"},
      {TESELA_CUTE_TILED, true, "(2,2)", "(3,4)", "((2,2),3,4):((1,2),4,12)"},
      {TESELA_CUTE_FLAT, true, "(2,2)", "(3,4)", "(2,2,3,4):(1,2,4,12)"},
      {TESELA_CUTE_BLOCKED, true, "(2,5):(5,1)", "(3,4)", "((2,3),(5,4)):((5,10),(1,30))"},
      {TESELA_CUTE_RAKED, true, "(2,5):(5,1)", "(3,4)", "((3,2),(4,5)):((10,5),(30,1))"},
      {TESELA_CUTE_RAKED, true, "4", "(2,3)", "((2,4),3):((4,1),8)"},
      {TESELA_CUTE_RAKED, true, "((2,2),5):((1,2),4)", "(3,4)", "((3,4),(4,5)):((20,1),(60,4))"},
      {TESELA_CUTE_BLOCKED, true, "4", "(2,3)", "((4,2),(1,3)):((1,4),(0,8))"},
      {TESELA_CUTE_BLOCKED, true, "4", "3", "((4,3)):((1,4))"},
      {TESELA_CUTE_BLOCKED, true, "Sw<2,0,3> o 0 o (8,4)", "(1,2)",
       "Sw<2,0,3> o 0 o ((8,1),(4,2)):((1,0),(8,32))"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
    assert_string_equal(divided(cases[k].form, cases[k].product, cases[k].a, cases[k].b), cases[k].r);
  tesela_cute block = read("(2,2):(2,1)"), r;
  const int64_t shape[] = {4, 6, 3}, order[] = {1, 0};
  assert_int_equal(tesela_cute_tile_to_shape(&block, 2, shape, NULL, &r, NULL, NULL), TESELA_OK);
  assert_string_equal(text_of(&r), "((2,2),(2,3)):((2,4),(1,8))");
  block = read("(2,2)");
  assert_int_equal(tesela_cute_tile_to_shape(&block, 2, shape, order, &r, NULL, NULL), TESELA_OK);
  assert_string_equal(text_of(&r), "((2,2),(2,3)):((1,12),(2,4))");
  assert_int_equal(tesela_cute_tile_to_shape(&block, 3, shape, NULL, &r, NULL, NULL), TESELA_OK);
  assert_string_equal(text_of(&r), "((2,2),(2,3),(1,3)):((1,4),(2,8),(0,24))");
}

/* ---- the rest ---- */

static const char *sliced(const char *text, const char *at, int64_t *offset) {
  const tesela_cute a = read(text);
  tesela_cute_tuple tuple;
  tesela_cute r;
  tesela_error err;
  if (tesela_cute_tuple_parse(&tuple, at, strlen(at), &err) != TESELA_OK) fail_msg("%s: %s", at, err.message);
  if (tesela_cute_slice(&a, &tuple, &r, offset, &err) != TESELA_OK)
    fail_msg("%s at %s: %s", text, at, err.message);
  return text_of(&r);
}

static void test_coordinates(void **unused) {
  (void)unused;
  int64_t offset, place;
  assert_string_equal(sliced("(4,(2,3)):(1,(4,8))", "(0,(_,1))", &offset), "(2):(4)");
  assert_int_equal(offset, 8);
  assert_string_equal(sliced("(4,(2,3)):(1,(4,8))", "(2,_)", &offset), "((2,3)):((4,8))");
  assert_int_equal(offset, 2);
  assert_string_equal(sliced("(4,(2,3)):(1,(4,8))", "(_,(_,1))", &offset), "(4,2):(1,4)");
  assert_string_equal(sliced("(4,(2,3)):(1,(4,8))", "_", &offset), "(4,(2,3)):(1,(4,8))");
  assert_string_equal(sliced("(4,(2,3)):(1,(4,8))", "(3,4)", &offset), "():()");
  assert_int_equal(offset, 19);
  assert_string_equal(sliced("Sw<1,0,1> o 0 o (4,8):(8,1)", "(3,_)", &offset), "Sw<1,0,1> o 24 o (8):(1)");
  state = first_seed() | 1;
  for (int i = 0; i < 3000; i++) {
    tesela_cute a;
    tesela_cute_tuple at, again;
    char text[256];
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    random_a(&a, (int)below(KINDS));
    const int64_t k = below(size_of(&a));
    assert_int_equal(tesela_cute_coordinate(&a, k, &at, NULL), TESELA_OK);
    assert_int_equal(tesela_cute_tuple_print(&at, &to, NULL), TESELA_OK);
    assert_int_equal(tesela_cute_tuple_parse(&again, text, strlen(text), NULL), TESELA_OK);
    const tesela_status status = tesela_cute_index(&a, &again, &place, NULL);
    if (value_of(&a, k) < 0 && a.bits > 0) {
      assert_int_equal(status, TESELA_E_RANGE);
      continue;
    }
    assert_int_equal(status, TESELA_OK);
    int64_t flat, x = value_of(&a, k);
    assert_int_equal(tesela_cute_at(&a, k, &flat, NULL), TESELA_OK);
    assert_int_equal(flat, place);
    for (int b = 0; b < a.bits; b++) { /* bit by bit */
      const int from = a.shift > 0 ? a.base + a.shift + b : a.base + b,
                into = a.shift > 0 ? a.base + b : a.base - a.shift + b;
      x ^= (value_of(&a, k) >> from & 1) << into;
    }
    assert_int_equal(place, x);
  }
}

static const char *shape_divided(const char *a, const char *b) {
  static char text[128];
  tesela_cute_tuple x, y, r;
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  assert_int_equal(tesela_cute_tuple_parse(&x, a, strlen(a), NULL), TESELA_OK);
  assert_int_equal(tesela_cute_tuple_parse(&y, b, strlen(b), NULL), TESELA_OK);
  if (tesela_cute_shape_div(&x, &y, &r, NULL) != TESELA_OK) return "refused";
  assert_int_equal(tesela_cute_tuple_print(&r, &to, NULL), TESELA_OK);
  return text;
}

static void test_simple(void **unused) {
  (void)unused;
  tesela_cute a = read("((2,2),3):((0,1),0)"), r;
  assert_string_equal(shape_divided("(4,6)", "2"), "(2,6)");
  assert_string_equal(shape_divided("12", "(2,3)"), "2");
  assert_string_equal(shape_divided("(12,4)", "(3,8)"), "(4,1)");
  assert_string_equal(shape_divided("(4,6)", "8"), "(1,3)");
  assert_string_equal(shape_divided("(4,6)", "3"), "refused");
  assert_int_equal(tesela_cute_filter(&a, 0, &r, NULL), TESELA_OK);
  assert_string_equal(text_of(&r), "2:1");
  assert_int_equal(tesela_cute_flatten(&a, &r, NULL), TESELA_OK);
  assert_string_equal(text_of(&r), "(2,2,3):(0,1,0)");
  a = read("(2,(1,6)):(1,(6,2))");
  assert_int_equal(tesela_cute_coalesce(&a, 0, &r, NULL), TESELA_OK);
  assert_string_equal(text_of(&r), "12:1");
  assert_int_equal(tesela_cute_coalesce(&a, 2, &r, NULL), TESELA_OK);
  assert_string_equal(text_of(&r), "(2,6):(1,2)");
  a = read("(2,3):(-2,8)");
  assert_int_equal(tesela_cute_cosize(&a), 19);
  assert_int_equal(tesela_cute_size(&a), 6);
  state = first_seed() | 1;
  for (int i = 0; i < 5000; i++) {
    random_a(&a, (int)below(KINDS));
    assert_int_equal(tesela_cute_coalesce(&a, (int32_t)below(2), &r, NULL), TESELA_OK);
    assert_int_equal(size_of(&r), size_of(&a));
    for (int64_t k = 0; k < size_of(&a); k++) assert_int_equal(value_of(&a, k), value_of(&r, k));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_texts),
      cmocka_unit_test(test_below_zero),
      cmocka_unit_test(test_small_compositions),
      cmocka_unit_test(test_composition),
      cmocka_unit_test(test_complement),
      cmocka_unit_test(test_right_inverse),
      cmocka_unit_test(test_left_inverse),
      cmocka_unit_test(test_divisions),
      cmocka_unit_test(test_forms),
      cmocka_unit_test(test_coordinates),
      cmocka_unit_test(test_simple),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
