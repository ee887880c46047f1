/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_linear.c - operations on linear layouts against their definitions, by enumeration of inputs and XOR of bases.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <tesela/linear.h>

#include "support_seed.h"

static uint64_t state_;

static uint64_t draw(uint64_t n) {
  state_ += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = state_;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (z ^ z >> 31) % n;
}

static int cases(void) { return slow_run() ? 100 : 1500; }

/* ---- the definition ------------------------------------------------------------------------------------------- */

static int bits_of(const tesela_linear_dim *dim, int n) {
  int bits = 0;
  for (int i = 0; i < n; i++) bits += dim[i].bits;
  return bits;
}

static int in_bits(const tesela_linear *a) { return bits_of(a->in, a->n_ins); }
static int out_bits(const tesela_linear *a) { return bits_of(a->out, a->n_outs); }

static uint64_t apply(const tesela_linear *a, uint64_t x) {
  uint64_t y = 0;
  for (int k = 0; x >> k; k++)
    if (x >> k & 1) y ^= a->basis[k];
  return y;
}

/* The value of the dim of this name in a word. */
static uint64_t value_of(const tesela_linear_dim *dim, int n, uint64_t word, const char *name) {
  for (int i = 0; i < n; i++) {
    if (strcmp(dim[i].name, name) == 0) return word & (((uint64_t)1 << dim[i].bits) - 1);
    word >>= dim[i].bits;
  }
  return 0;
}

/* A word over dims whose values are those of the same names in another word. */
static uint64_t word_by_name(const tesela_linear_dim *dim, int n, const tesela_linear_dim *from, int n_from,
                             uint64_t word) {
  uint64_t out = 0;
  for (int i = n - 1; i >= 0; i--) out = out << dim[i].bits | value_of(from, n_from, word, dim[i].name);
  return out;
}

static bool is_output(const tesela_linear *a, uint64_t y) {
  for (uint64_t x = 0; x >> in_bits(a) == 0; x++)
    if (apply(a, x) == y) return true;
  return false;
}

static uint64_t word_of(const tesela_linear_dim *dim, int n, const int64_t *values) {
  uint64_t out = 0;
  for (int i = n - 1; i >= 0; i--) out = out << dim[i].bits | (uint64_t)values[i];
  return out;
}

static void print_linear(const char *what, const tesela_linear *a) {
  char text[1024];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_linear_print(a, &to, NULL);
  printf("%s %s\n", what, text);
}

#define CHECK(condition, a, b)                         \
  do {                                                 \
    if (!(condition)) {                                \
      print_linear("a", a);                            \
      print_linear("b", b);                            \
      fail_msg("%s at line %d", #condition, __LINE__); \
    }                                                  \
  } while (0)

/* ---- random layouts ------------------------------------------------------------------------------------------- */

static const char *const in_names[] = {"register", "lane", "warp", "block"};
static const char *const out_names[] = {"dim0", "dim1", "dim2", "dim3"};

/* `n` of four names in random order, with up to `most` bits each. */
static void draw_dims(tesela_linear_dim *dim, int n, const char *const *names, int most) {
  int order[] = {0, 1, 2, 3};
  for (int i = 3; i > 0; i--) {
    int with = (int)draw((uint64_t)i + 1), kept = order[i];
    order[i] = order[with];
    order[with] = kept;
  }
  for (int i = 0; i < n; i++) {
    memset(&dim[i], 0, sizeof dim[i]);
    snprintf(dim[i].name, sizeof dim[i].name, "%s", names[order[i]]);
    dim[i].bits = (int32_t)draw((uint64_t)most + 1);
  }
}

/* Random bases, or a permutation of units with some of them mixed. */
static void draw_bases(tesela_linear *a) {
  int n = in_bits(a), outs = out_bits(a);
  bool units = draw(2) == 0;
  for (int k = 0; k < n; k++)
    a->basis[k] = units ? (k < outs ? (uint64_t)1 << k : 0) : draw((uint64_t)1 << outs);
  for (int k = n - 1; k > 0 && units; k--) {
    int with = (int)draw((uint64_t)k + 1);
    uint64_t kept = a->basis[k];
    a->basis[k] = a->basis[with];
    a->basis[with] = kept;
  }
  for (int i = (int)draw(4); i > 0 && units && n > 1; i--) {
    int k = (int)draw((uint64_t)n), with = (int)draw((uint64_t)n);
    if (k != with) a->basis[k] ^= a->basis[with];
  }
}

static void draw_linear(tesela_linear *a) {
  *a = (tesela_linear){.n_ins = 1 + (int32_t)draw(3), .n_outs = 1 + (int32_t)draw(2)};
  draw_dims(a->in, a->n_ins, in_names, 2);
  draw_dims(a->out, a->n_outs, out_names, 2);
  draw_bases(a);
}

/* ---- one layout ----------------------------------------------------------------------------------------------- */

static void values_are_xors(void **state) {
  (void)state;
  state_ = first_seed();
  for (int i = 0; i < cases(); i++) {
    tesela_linear a;
    int64_t in[4], out[4], masks[4];
    draw_linear(&a);
    uint64_t x = draw((uint64_t)1 << in_bits(&a)), rest = x;
    for (int k = 0; k < a.n_ins; k++) {
      in[k] = (int64_t)(rest & (((uint64_t)1 << a.in[k].bits) - 1));
      rest >>= a.in[k].bits;
    }
    assert_int_equal(tesela_linear_apply(&a, in, out, NULL), TESELA_OK);
    CHECK(word_of(a.out, a.n_outs, out) == apply(&a, x), &a, &a);
    in[0] = (int64_t)1 << a.in[0].bits;
    assert_int_equal(tesela_linear_apply(&a, in, out, NULL), TESELA_E_RANGE);

    int image = 0, rank = 0;
    for (uint64_t y = 0; y >> out_bits(&a) == 0; y++) image += is_output(&a, y);
    while (1 << rank < image) rank++;
    CHECK(tesela_linear_rank(&a) == rank, &a, &a);
    CHECK(tesela_linear_is_zero(&a) == (rank == 0), &a, &a);

    /* each bit that is free is a XOR of earlier ones, and the others are not */
    assert_int_equal(tesela_linear_free_variable_masks(&a, masks, NULL), TESELA_OK);
    uint64_t free = word_of(a.in, a.n_ins, masks);
    for (int k = 0; k < in_bits(&a); k++) {
      bool sum = false;
      for (uint64_t before = 0; before >> k == 0; before++) sum = sum || apply(&a, before) == a.basis[k];
      CHECK(sum == (free >> k & 1), &a, &a);
    }
  }
}

/* L(a * V + v, ...) = L(a * V, ...) + v in the first output, for all v below V; V grows to the size of the first input. */
static bool runs(const tesela_linear *a, uint64_t v) {
  uint64_t mask = ((uint64_t)1 << a->out[0].bits) - 1;
  for (uint64_t x = 0; x >> in_bits(a) == 0; x++) {
    uint64_t low = x & (v - 1), y = apply(a, x), start = apply(a, x & ~(v - 1));
    if ((y & mask) != (start & mask) + low || (y & ~mask) != (start & ~mask)) return false;
  }
  return true;
}

static void runs_are_the_longest(void **state) {
  (void)state;
  int long_ones = 0;
  state_ = first_seed() + 1;
  for (int i = 0; i < cases(); i++) {
    tesela_linear a;
    draw_linear(&a);
    for (int k = 0; k < a.in[0].bits && draw(3); k++)
      if (k < a.out[0].bits) a.basis[k] = (uint64_t)1 << k;
    uint64_t v = 1;
    while (v >> a.in[0].bits == 0 && runs(&a, 2 * v)) v *= 2;
    CHECK((uint64_t)tesela_linear_num_consecutive_in_out(&a) == v, &a, &a);
    long_ones += v > 1;
  }
  assert_true(long_ones > cases() / 20);
}

static void inverses_invert(void **state) {
  (void)state;
  int inverted = 0, not_injective = 0, not_onto = 0, right = 0;
  state_ = first_seed() + 2;
  for (int i = 0; i < cases(); i++) {
    tesela_linear a, b;
    tesela_linear_example example;
    tesela_error err;
    draw_linear(&a);
    if (draw(2)) { /* as many bits on both sides */
      a.n_outs = 1;
      a.out[0].bits = in_bits(&a);
      draw_bases(&a);
    }
    tesela_status status = tesela_linear_invert(&a, &b, &example, &err);
    if (status == TESELA_OK) {
      inverted++;
      CHECK(in_bits(&b) == out_bits(&a) && out_bits(&b) == in_bits(&a), &a, &b);
      for (uint64_t x = 0; x >> in_bits(&a) == 0; x++) CHECK(apply(&b, apply(&a, x)) == x, &a, &b);
    } else if (err.reason == TESELA_REASON_NOT_INJECTIVE) {
      not_injective++;
      uint64_t x = word_of(a.in, a.n_ins, example.in);
      CHECK(example.have_in && x != 0 && apply(&a, x) == 0, &a, &a);
    } else {
      not_onto++;
      assert_int_equal(err.reason, TESELA_REASON_NOT_SURJECTIVE);
      CHECK(example.have_out && !is_output(&a, word_of(a.out, a.n_outs, example.out)), &a, &a);
    }
    status = tesela_linear_pseudoinvert(&a, &b, &example, &err);
    bool onto = tesela_linear_rank(&a) == out_bits(&a);
    CHECK((status == TESELA_OK) == onto, &a, &a);
    if (!onto) CHECK(!is_output(&a, word_of(a.out, a.n_outs, example.out)), &a, &a);
    for (uint64_t y = 0; onto && y >> out_bits(&a) == 0; y++) CHECK(apply(&a, apply(&b, y)) == y, &a, &b);
    right += onto;
  }
  printf("%d inverses, %d right inverses; %d not injective, %d not onto\n", inverted, right, not_injective,
         not_onto);
  assert_true(inverted > cases() / 10 && not_injective > cases() / 10 && not_onto > 0 &&
              right > cases() / 10);
}

/* ---- two layouts ---------------------------------------------------------------------------------------------- */

static void composition_applies_both(void **state) {
  (void)state;
  state_ = first_seed() + 3;
  for (int i = 0; i < cases(); i++) {
    tesela_linear a = {.n_ins = 0}, b, c;
    draw_linear(&b);
    a.n_ins = 2;
    a.n_outs = b.n_ins;
    draw_dims(a.in, 2, in_names, 3);
    for (int k = 0; k < b.n_ins; k++) { /* in another order, and perhaps smaller */
      a.out[k] = b.in[(k + 1) % b.n_ins];
      if (a.out[k].bits > 0 && draw(4) == 0) a.out[k].bits--;
    }
    draw_bases(&a);
    assert_int_equal(tesela_linear_compose(&a, &b, &c, NULL), TESELA_OK);
    for (uint64_t x = 0; x >> in_bits(&a) == 0; x++) {
      uint64_t between = word_by_name(b.in, b.n_ins, a.out, a.n_outs, apply(&a, x));
      CHECK(apply(&c, x) == apply(&b, between), &a, &b);
    }
    a.out[0].bits = b.in[1 % b.n_ins].bits + 1;
    assert_int_equal(tesela_linear_compose(&a, &b, &c, NULL), TESELA_E_MISMATCH);
  }
}

static bool common_in_order(const tesela_linear_dim *a, int n_a, const tesela_linear_dim *b, int n_b) {
  int last = -1;
  for (int i = 0; i < n_a; i++)
    for (int k = 0; k < n_b; k++)
      if (strcmp(a[i].name, b[k].name) == 0) {
        if (k < last) return false;
        last = k;
      }
  return true;
}

/* The low bits of each input go through a, the high ones through b, to the low and high bits of each output. */
static void products_are_direct_sums(void **state) {
  (void)state;
  int done = 0, refused = 0;
  state_ = first_seed() + 4;
  for (int i = 0; i < cases(); i++) {
    tesela_linear a, b, c, back;
    draw_linear(&a);
    draw_linear(&b);
    bool ordered =
        common_in_order(a.in, a.n_ins, b.in, b.n_ins) && common_in_order(a.out, a.n_outs, b.out, b.n_outs);
    tesela_status status = tesela_linear_product(&a, &b, &c, NULL);
    assert_int_equal(status, ordered ? TESELA_OK : TESELA_E_MISMATCH);
    refused += !ordered;
    if (!ordered) continue;
    done++;
    for (uint64_t x = 0; x >> in_bits(&c) == 0; x++) {
      uint64_t low = 0, high = 0;
      for (int k = a.n_ins - 1; k >= 0; k--) {
        uint64_t v = value_of(c.in, c.n_ins, x, a.in[k].name);
        low = low << a.in[k].bits | (v & (((uint64_t)1 << a.in[k].bits) - 1));
      }
      for (int k = b.n_ins - 1; k >= 0; k--) {
        uint64_t v = value_of(c.in, c.n_ins, x, b.in[k].name);
        for (int of = 0; of < a.n_ins; of++)
          if (strcmp(a.in[of].name, b.in[k].name) == 0) v >>= a.in[of].bits;
        high = high << b.in[k].bits | v;
      }
      uint64_t y = apply(&c, x), ya = apply(&a, low), yb = apply(&b, high);
      for (int k = 0; k < c.n_outs; k++) {
        const char *name = c.out[k].name;
        int under = 0;
        for (int of = 0; of < a.n_outs; of++)
          if (strcmp(a.out[of].name, name) == 0) under = a.out[of].bits;
        CHECK(value_of(c.out, c.n_outs, y, name) ==
                  (value_of(a.out, a.n_outs, ya, name) | value_of(b.out, b.n_outs, yb, name) << under),
              &a, &b);
      }
    }
    /* divided by a it multiplies back */
    tesela_linear again;
    assert_int_equal(tesela_linear_divide_left(&c, &a, &back, NULL, NULL), TESELA_OK);
    if (tesela_linear_product(&a, &back, &again, NULL) != TESELA_OK) continue; /* other orders */
    for (uint64_t x = 0; x >> in_bits(&c) == 0; x++) {
      uint64_t y = apply(&again, word_by_name(again.in, again.n_ins, c.in, c.n_ins, x));
      CHECK(word_by_name(c.out, c.n_outs, again.out, again.n_outs, y) == apply(&c, x), &a, &b);
    }
  }
  assert_true(done > cases() / 4 && refused > cases() / 20);
}

/* All layouts c with the missing bits of a: does one give product(b, c) = a? */
static bool quotient_exists(const tesela_linear *a, const tesela_linear *b) {
  tesela_linear c = *a, product;
  int n, outs;
  for (int i = 0; i < b->n_ins; i++) {
    int k = 0;
    while (k < a->n_ins && strcmp(a->in[k].name, b->in[i].name) != 0) k++;
    if (k == a->n_ins || (c.in[k].bits -= b->in[i].bits) < 0) return false;
  }
  for (int i = 0; i < b->n_outs; i++) {
    int k = 0;
    while (k < a->n_outs && strcmp(a->out[k].name, b->out[i].name) != 0) k++;
    if (k == a->n_outs || (c.out[k].bits -= b->out[i].bits) < 0) return false;
  }
  n = in_bits(&c);
  outs = out_bits(&c);
  for (uint64_t all = 0; all >> (n * outs) == 0; all++) {
    memset(c.basis, 0, sizeof c.basis);
    for (int k = 0; k < n; k++) c.basis[k] = all >> (k * outs) & (((uint64_t)1 << outs) - 1);
    if (tesela_linear_product(b, &c, &product, NULL) == TESELA_OK && in_bits(&product) == in_bits(a)) {
      bool same = true;
      for (uint64_t x = 0; x >> in_bits(a) == 0 && same; x++) {
        uint64_t at = word_by_name(product.in, product.n_ins, a->in, a->n_ins, x);
        same =
            word_by_name(a->out, a->n_outs, product.out, product.n_outs, apply(&product, at)) == apply(a, x);
      }
      if (same) return true;
    }
  }
  return false;
}

static void quotients_are_found_if_there_are_some(void **state) {
  (void)state;
  int found = 0, refused = 0;
  state_ = first_seed() + 5;
  for (int i = 0; i < cases() / 2; i++) {
    tesela_linear a = {.n_ins = 1, .n_outs = 1}, b = a, c;
    tesela_linear_example example;
    tesela_error err;
    a.n_ins = 1 + (int32_t)draw(2);
    for (int k = 0; k < a.n_ins; k++) a.in[k] = (tesela_linear_dim){"", 1 + (int32_t)draw(2)};
    for (int k = 0; k < a.n_ins; k++) snprintf(a.in[k].name, sizeof a.in[k].name, "%s", in_names[k]);
    a.out[0] = (tesela_linear_dim){"dim0", 2};
    draw_bases(&a);
    b.in[0] = (tesela_linear_dim){"register", 1};
    b.out[0] = (tesela_linear_dim){"dim0", (int32_t)draw(2)};
    b.basis[0] = b.out[0].bits > 0 ? draw(2) : 0;
    if (draw(2)) { /* as a product has it */
      a.basis[0] = b.basis[0];
      for (int k = 1; k < in_bits(&a); k++) a.basis[k] &= ~(((uint64_t)1 << b.out[0].bits) - 1);
    }
    tesela_status status = tesela_linear_divide_left(&a, &b, &c, &example, &err);
    CHECK((status == TESELA_OK) == quotient_exists(&a, &b), &a, &b);
    found += status == TESELA_OK;
    refused += status != TESELA_OK;
    if (status == TESELA_OK) continue;
    assert_int_equal(err.reason, TESELA_REASON_NOT_DIVISIBLE);
    CHECK(apply(&a, word_of(a.in, a.n_ins, example.in)) == word_of(a.out, a.n_outs, example.out), &a, &b);
  }
  assert_true(found > cases() / 20 && refused > cases() / 20);

  /* the identity on some dims beside a layout is its quotient */
  for (int i = 0; i < cases(); i++) {
    tesela_linear a, identity, c, back;
    const char *over[] = {"cta"};
    draw_linear(&a);
    assert_int_equal(tesela_linear_strided_1d((int64_t)1 << draw(4), 1, "cta", "cta", &identity, NULL),
                     TESELA_OK);
    assert_int_equal(draw(2) ? tesela_linear_product(&a, &identity, &c, NULL)
                             : tesela_linear_product(&identity, &a, &c, NULL),
                     TESELA_OK);
    assert_int_equal(tesela_linear_quotient(&c, 1, over, &back, NULL, NULL), TESELA_OK);
    CHECK(tesela_linear_equal(&a, &back, false), &a, &back);
    int bit = (int)draw((uint64_t)in_bits(&c) + 1), out = (int)draw((uint64_t)out_bits(&c) + 1);
    if (bit == in_bits(&c) || out == out_bits(&c)) continue;
    c.basis[bit] ^= (uint64_t)1 << out; /* is it still the identity there, and there alone? */
    bool trivial = true;
    for (uint64_t x = 0; x >> in_bits(&c) == 0; x++) {
      uint64_t cta = value_of(c.in, c.n_ins, x, "cta"), y = apply(&c, x);
      trivial = trivial && value_of(c.out, c.n_outs, y, "cta") == cta;
      uint64_t alone = word_by_name(c.in, c.n_ins, identity.in, 1, cta); /* only this input */
      uint64_t there =
          word_by_name(c.out, c.n_outs, identity.out, 1, value_of(c.out, c.n_outs, apply(&c, alone), "cta"));
      trivial = trivial && apply(&c, alone) == there;
    }
    assert_int_equal(tesela_linear_quotient(&c, 1, over, &back, NULL, NULL) == TESELA_OK, trivial);
  }
}

static void solutions_solve(void **state) {
  (void)state;
  int solved = 0, refused = 0;
  state_ = first_seed() + 6;
  for (int i = 0; i < cases(); i++) {
    tesela_linear a, b, c;
    tesela_linear_example example;
    tesela_error err;
    draw_linear(&b);
    draw_linear(&a);
    a.n_outs = b.n_outs;
    for (int k = 0; k < b.n_outs; k++) a.out[k] = b.out[(k + 1) % b.n_outs];
    draw_bases(&a);
    if (draw(2)) /* what b has */
      for (int k = 0; k < in_bits(&a); k++)
        a.basis[k] =
            word_by_name(a.out, a.n_outs, b.out, b.n_outs, apply(&b, draw((uint64_t)1 << in_bits(&b))));
    bool possible = true;
    for (uint64_t x = 0; x >> in_bits(&a) == 0; x++)
      possible = possible && is_output(&b, word_by_name(b.out, b.n_outs, a.out, a.n_outs, apply(&a, x)));
    tesela_status status = tesela_linear_invert_and_compose(&a, &b, &c, &example, &err);
    CHECK((status == TESELA_OK) == possible, &a, &b);
    solved += possible;
    refused += !possible;
    if (!possible) {
      uint64_t x = word_of(a.in, a.n_ins, example.in);
      CHECK(!is_output(&b, word_by_name(b.out, b.n_outs, a.out, a.n_outs, apply(&a, x))), &a, &b);
      continue;
    }
    for (uint64_t x = 0; x >> in_bits(&a) == 0; x++)
      CHECK(apply(&b, apply(&c, x)) == word_by_name(b.out, b.n_outs, a.out, a.n_outs, apply(&a, x)), &a, &b);
  }
  printf("%d solved, %d refused\n", solved, refused);
  assert_true(solved > cases() / 10 && refused > cases() / 10);
}

/* ---- dims ----------------------------------------------------------------------------------------------------- */

static void dims_change_and_values_stay(void **state) {
  (void)state;
  state_ = first_seed() + 7;
  for (int i = 0; i < cases(); i++) {
    tesela_linear a, b;
    int32_t order[4];
    draw_linear(&a);
    for (int outs = 0; outs < 2; outs++) {
      int n = outs ? a.n_outs : a.n_ins;
      const tesela_linear_dim *dims = outs ? a.out : a.in;
      int turn = (int)draw((uint64_t)n);
      for (int k = 0; k < n; k++) order[k] = (k + turn) % n;
      assert_int_equal(tesela_linear_transpose(&a, outs, order, &b, NULL), TESELA_OK);
      for (int k = 0; k < n; k++) assert_string_equal((outs ? b.out : b.in)[k].name, dims[order[k]].name);
      for (uint64_t x = 0; x >> in_bits(&a) == 0; x++) {
        uint64_t to = word_by_name(b.in, b.n_ins, a.in, a.n_ins, x);
        CHECK(apply(&b, to) == word_by_name(b.out, b.n_outs, a.out, a.n_outs, apply(&a, x)), &a, &b);
      }
      tesela_linear_dim two[] = {{"low", 0}, {"high", 0}};
      int bits = outs ? out_bits(&a) : in_bits(&a);
      two[0].bits = (int32_t)draw((uint64_t)bits + 1);
      two[1].bits = bits - two[0].bits;
      assert_int_equal(tesela_linear_reshape(&a, outs, 2, two, &b, NULL), TESELA_OK);
      for (uint64_t x = 0; x >> in_bits(&a) == 0; x++) CHECK(apply(&b, x) == apply(&a, x), &a, &b);
      two[1].bits++;
      assert_int_equal(tesela_linear_reshape(&a, outs, 2, two, &b, NULL), TESELA_E_MISMATCH);
    }
    uint32_t ins = (uint32_t)draw((uint64_t)1 << a.n_ins), outs = (uint32_t)draw((uint64_t)1 << a.n_outs);
    assert_int_equal(tesela_linear_sublayout(&a, ins, outs, &b, NULL), TESELA_OK);
    assert_int_equal(b.n_ins, __builtin_popcount(ins));
    for (uint64_t x = 0; x >> in_bits(&b) == 0; x++) { /* inputs that are not there are 0 */
      uint64_t all = apply(&a, word_by_name(a.in, a.n_ins, b.in, b.n_ins, x));
      CHECK(apply(&b, x) == word_by_name(b.out, b.n_outs, a.out, a.n_outs, all), &a, &b);
    }
    /* columns and values */
    int32_t action[4], n = 0;
    int64_t from[16], to[16];
    for (int k = a.in[0].bits - 1; k >= 0; k--)
      if (draw(4)) action[n++] = k;
    for (int k = 0; k < 16; k++) from[k] = 100 + k;
    assert_int_equal(tesela_linear_permute_columns(&a, 0, n, action, &b, NULL), TESELA_OK);
    assert_int_equal(tesela_linear_permute_values(a.in[0].bits, n, action, from, to, NULL), TESELA_OK);
    for (uint64_t x = 0; x >> in_bits(&b) == 0; x++) {
      uint64_t own = x & (((uint64_t)1 << n) - 1), source = 0;
      for (int k = 0; k < n; k++) source |= (own >> k & 1) << action[k];
      CHECK(apply(&b, x) == apply(&a, source | x >> n << a.in[0].bits), &a, &b);
      assert_int_equal(to[own], 100 + (int64_t)source);
    }
  }
}

static void small_layouts_and_refusals(void **state) {
  (void)state;
  tesela_linear a, b, kept;
  tesela_error err;
  assert_int_equal(tesela_linear_strided_1d(4, 2, "i", "o", &a, NULL), TESELA_OK);
  assert_true(a.basis[0] == 2 && a.basis[1] == 4 && a.out[0].bits == 3 && a.in[0].bits == 2);
  assert_int_equal(tesela_linear_zeros_1d(8, "i", "o", 4, &b, NULL), TESELA_OK);
  assert_true(b.in[0].bits == 3 && b.out[0].bits == 2 && b.basis[0] == 0);
  kept = b;
  assert_int_equal(tesela_linear_strided_1d(3, 1, "i", "o", &b, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_linear_strided_1d(4, 0, "i", "o", &b, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_linear_strided_1d((int64_t)1 << 40, (int64_t)1 << 40, "i", "o", &b, NULL),
                   TESELA_E_RANGE);
  assert_int_equal(tesela_linear_strided_1d(4, 1, "a b", "o", &b, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_linear_strided_1d(4, 1, "", "o", &b, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_linear_strided_1d(4, 1, "a_name_of_16_byt", "o", &b, NULL), TESELA_E_INVALID);
  assert_memory_equal(&b, &kept, sizeof b);
  b.basis[0] = 4; /* outside the outputs */
  assert_int_equal(tesela_linear_compose(&b, &a, &kept, &err), TESELA_E_RANGE);
  assert_false(tesela_linear_equal(&b, &b, false));
  assert_int_equal(tesela_linear_rank(&b), 0);
  b.basis[0] = 0;
  b.in[0].bits = -1;
  assert_int_equal(tesela_linear_invert(&b, &kept, NULL, &err), TESELA_E_RANGE);
  b.in[0].bits = 3;
  b.n_ins = 33;
  assert_int_equal(tesela_linear_pseudoinvert(&b, &kept, NULL, &err), TESELA_E_RANGE);
  /* equal except for the size of an output */
  tesela_linear c = a;
  c.out[0].bits++;
  assert_false(tesela_linear_equal(&a, &c, false));
  assert_true(tesela_linear_equal(&a, &c, true));
  c.basis[0] |= 8;
  assert_false(tesela_linear_equal(&a, &c, true));
  /* 62 bits */
  assert_int_equal(tesela_linear_strided_1d((int64_t)1 << 62, 1, "i", "o", &a, NULL), TESELA_OK);
  assert_int_equal(tesela_linear_invert(&a, &c, NULL, NULL), TESELA_OK);
  assert_true(c.basis[61] == (uint64_t)1 << 61 && tesela_linear_rank(&c) == 62);
  int64_t in[] = {((int64_t)1 << 62) - 1}, out[1];
  assert_int_equal(tesela_linear_apply(&a, in, out, NULL), TESELA_OK);
  assert_true(out[0] == in[0]);
  assert_int_equal(tesela_linear_make(&b, 1, a.in, 1, a.out, NULL, NULL), TESELA_E_INVALID);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_xors),
      cmocka_unit_test(runs_are_the_longest),
      cmocka_unit_test(inverses_invert),
      cmocka_unit_test(composition_applies_both),
      cmocka_unit_test(products_are_direct_sums),
      cmocka_unit_test(quotients_are_found_if_there_are_some),
      cmocka_unit_test(solutions_solve),
      cmocka_unit_test(dims_change_and_values_stay),
      cmocka_unit_test(small_layouts_and_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
