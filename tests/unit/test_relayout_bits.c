/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relayout_bits.c - copies of elements of 1, 2 and 4 bits, whose rows begin at any bit on both sides.
 *
 * The definition is here, and uses neither layouts nor plans of the library: the place of an element is an offset plus its digits times
 * their strides; padding is what the digits reach besides; all other bits of dst stay, up to inaccessible pages on both sides.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/relayout.h>

#include "support_pages.h"
#include "support_seed.h"

enum {
  MOST_DIMS = 5,
  MOST_DIGITS = 2 * MOST_DIMS,
  MOST_PLACES = 1 << 20,
  CASES = 400,
  TRIALS = 4,
  TEXT = 600
};

/* ---- cases ------------------------------------------------------------------------------------------------- */

typedef struct digit {
  int32_t dim;
  int64_t step, extent, stride;
} digit;

typedef struct side {
  int32_t n;
  digit digit[MOST_DIGITS]; /* outermost first */
  int64_t offset, places;   /* places: one more than the last one */
} side;

typedef struct copy_case {
  int32_t bits, rank;
  int64_t shape[MOST_DIMS];
  side dst, src;
  tesela_fill fill;
} copy_case;

static uint64_t state;

static int64_t below(int64_t n) {
  uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return (int64_t)((x ^ x >> 31) % (uint64_t)n);
}

static void draw_shape(copy_case *c) {
  static const int64_t most[] = {9, 40, 300, 2000};
  int64_t room = below(4) ? 30000 : 300000;
  c->rank = 1 + (int32_t)below(MOST_DIMS);
  for (int32_t d = 0; d < c->rank; d++) {
    int64_t n = 1 + below(most[below(4)]);
    if (below(3) == 0) n = (n + 7) / 8 * 8;
    if (n > room) n = room;
    c->shape[d] = n;
    room /= n;
  }
}

/* The dims in any order, some of them split with the low part at the end; then strides, with gaps or not. */
static void draw_side(const copy_case *c, side *s) {
  static const int64_t tiles[] = {2, 3, 4, 8, 8, 16, 32, 64, 128};
  s->n = 0;
  for (int32_t d = 0; d < c->rank; d++) s->digit[s->n++] = (digit){d, 1, c->shape[d], 0};
  for (int32_t i = s->n - 1; i > 0 && below(3); i--) {
    const int32_t j = (int32_t)below(i + 1);
    const digit x = s->digit[i];
    s->digit[i] = s->digit[j];
    s->digit[j] = x;
  }
  for (int32_t i = below(2) ? 0 : c->rank; i < c->rank; i++) {
    digit *g = &s->digit[i];
    const int64_t tile = tiles[below(sizeof tiles / sizeof tiles[0])];
    if (below(3) == 0 || tile >= 2 * g->extent) continue;
    s->digit[s->n++] = (digit){g->dim, 1, tile, 0};
    g->step = tile;
    g->extent = (g->extent + tile - 1) / tile;
  }
  const bool gaps = below(3) == 0;
  int64_t stride = gaps && below(3) == 0 ? 1 + below(3) : 1;
  s->offset = below(3) ? 0 : below(30);
  s->places = s->offset + 1;
  for (int32_t i = s->n - 1; i >= 0; i--) {
    digit *g = &s->digit[i];
    g->stride = stride;
    s->places += (g->extent - 1) * stride;
    stride *= g->extent;
    if (gaps) stride += below(2) * below(9);
  }
}

static bool draw_case(copy_case *c) {
  static const tesela_fill fills[] = {TESELA_FILL_ZERO, TESELA_FILL_VALUE, TESELA_FILL_LEAVE};
  c->bits = 1 << below(3);
  c->fill = fills[below(3)];
  draw_shape(c);
  draw_side(c, &c->dst);
  draw_side(c, &c->src);
  return c->dst.places < MOST_PLACES && c->src.places < MOST_PLACES;
}

static void put_side(char *text, const side *s) {
  for (int32_t i = 0; i < s->n; i++)
    snprintf(text + strlen(text), TEXT - strlen(text), " %d/%" PRId64 "(%" PRId64 ")@%" PRId64,
             (int)s->digit[i].dim, s->digit[i].step, s->digit[i].extent, s->digit[i].stride);
  snprintf(text + strlen(text), TEXT - strlen(text), " +%" PRId64, s->offset);
}

static void put_case(char *text, const copy_case *c) {
  snprintf(text, TEXT, "%d bits [", (int)c->bits);
  for (int32_t d = 0; d < c->rank; d++)
    snprintf(text + strlen(text), TEXT - strlen(text), "%s%" PRId64, d ? "," : "", c->shape[d]);
  snprintf(text + strlen(text), TEXT - strlen(text), "] fill %d, dst", (int)c->fill);
  put_side(text, &c->dst);
  snprintf(text + strlen(text), TEXT - strlen(text), ", src");
  put_side(text, &c->src);
}

/* ---- the definition ---------------------------------------------------------------------------------------- */

static int64_t place_of(const side *s, const int64_t *index) {
  int64_t place = s->offset;
  for (int32_t i = 0; i < s->n; i++) {
    const digit *g = &s->digit[i];
    place += index[g->dim] / g->step % g->extent * g->stride;
  }
  return place;
}

static unsigned element(const unsigned char *data, int64_t place, int32_t bits) {
  return (unsigned)data[place * bits / 8] >> place * bits % 8 & ((1u << bits) - 1);
}

static void set_element(unsigned char *data, int64_t place, int32_t bits, unsigned value) {
  const unsigned mask = ((1u << bits) - 1) << place * bits % 8;
  unsigned char *byte = &data[place * bits / 8];
  *byte = (unsigned char)((*byte & ~mask) | value << place * bits % 8);
}

/* Next numbers below `limit`, the last the fastest; false after the last ones. */
static bool count_up(int64_t *number, const int64_t *limit, int32_t n) {
  for (int32_t i = n - 1; i >= 0; i--) {
    if (++number[i] < limit[i]) return true;
    number[i] = 0;
  }
  return false;
}

static void expect(const copy_case *c, unsigned char *dst, const unsigned char *src, unsigned fill) {
  int64_t number[MOST_DIGITS] = {0}, limit[MOST_DIGITS];
  for (int32_t i = 0; i < c->dst.n; i++) limit[i] = c->dst.digit[i].extent;
  do { /* all that the digits reach */
    int64_t place = c->dst.offset;
    for (int32_t i = 0; i < c->dst.n; i++) place += number[i] * c->dst.digit[i].stride;
    if (c->fill != TESELA_FILL_LEAVE) set_element(dst, place, c->bits, fill);
  } while (count_up(number, limit, c->dst.n));
  int64_t index[MOST_DIMS] = {0};
  do {
    set_element(dst, place_of(&c->dst, index), c->bits, element(src, place_of(&c->src, index), c->bits));
  } while (count_up(index, c->shape, c->rank));
}

/* ---- trials ------------------------------------------------------------------------------------------------ */

static void make_layout(const copy_case *c, const side *s, tesela_layout *layout) {
  int32_t axis, outer[MOST_DIMS], low[MOST_DIMS];
  assert_int_equal(tesela_layout_begin(layout, TESELA_DTYPE_NONE, c->bits, c->rank, c->shape, NULL),
                   TESELA_OK);
  for (int32_t i = 0; i < s->n; i++) {
    const digit *g = &s->digit[i];
    if (g->step > 1)
      assert_int_equal(tesela_layout_split(layout, g->dim, g->step, &low[g->dim], NULL), TESELA_OK);
    if (i < c->rank) outer[g->dim] = g->dim;
  }
  assert_int_equal(tesela_layout_add_axis(layout, "memory", &axis, NULL), TESELA_OK);
  for (int32_t i = 0; i < s->n; i++) {
    const digit *g = &s->digit[i];
    const int32_t which = i < c->rank ? outer[g->dim] : low[g->dim];
    assert_int_equal(tesela_layout_place(layout, which, axis, g->stride, NULL), TESELA_OK);
  }
  assert_int_equal(tesela_layout_set_axis(layout, axis, s->offset, -1, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_finish(layout, NULL), TESELA_OK);
}

static tesela_plan_options draw_options(const copy_case *c, int trial, unsigned fill) {
  static const tesela_isa isas[] = {TESELA_ISA_BEST, TESELA_ISA_C, TESELA_ISA_AVX2, TESELA_ISA_NEON};
  tesela_plan_options o = {.fill = c->fill, .threads = 1 + (int32_t)below(4), .isa = isas[below(4)]};
  if (!tesela_isa_available(o.isa)) o.isa = TESELA_ISA_BEST;
  if (trial % 2) o.shuffle = (uint64_t)below(1 << 30) + 1;
  if (c->fill == TESELA_FILL_VALUE) o.fill_value[0] = (uint8_t)fill;
  return o;
}

static int64_t bytes_of(const copy_case *c, const side *s) { return (s->places * c->bits + 7) / 8; }

static long used[TESELA_SOLVER_PERMUTE + 1];

static void try_case(const copy_case *c, const pages *dst_pages, const pages *src_pages,
                     unsigned char *want) {
  const int64_t dst_bytes = bytes_of(c, &c->dst), src_bytes = bytes_of(c, &c->src);
  const unsigned fill = c->fill == TESELA_FILL_VALUE ? (unsigned)below(1 << c->bits) : 0;
  char text[TEXT];
  tesela_layout to, from;
  make_layout(c, &c->dst, &to);
  make_layout(c, &c->src, &from);
  for (int trial = 0; trial < TRIALS; trial++) {
    const bool at_end = below(2);
    unsigned char *dst = dst_pages->data + (at_end ? (int64_t)dst_pages->bytes - dst_bytes : below(70));
    unsigned char *src = src_pages->data + (at_end ? (int64_t)src_pages->bytes - src_bytes : below(70));
    const tesela_plan_options o = draw_options(c, trial, fill);
    for (int64_t i = 0; i < src_bytes; i++) src[i] = (unsigned char)below(256);
    for (int64_t i = 0; i < dst_bytes; i++) want[i] = dst[i] = (unsigned char)below(256);
    expect(c, want, src, fill);
    tesela_plan *plan = NULL;
    tesela_plan_info info;
    assert_int_equal(tesela_plan_create(&plan, &to, &from, &o, NULL), TESELA_OK);
    tesela_plan_describe(plan, &info);
    used[info.solver]++;
    assert_int_equal(tesela_plan_run(plan, dst, src, NULL, NULL), TESELA_OK);
    tesela_plan_destroy(plan);
    for (int64_t i = 0; i < dst_bytes; i++) {
      if (dst[i] == want[i]) continue;
      put_case(text, c);
      fail_msg("%s\nthreads %d, isa %d, shuffle %" PRIu64 ": byte %" PRId64 " of %" PRId64
               " is 0x%02x; expected 0x%02x",
               text, (int)o.threads, (int)o.isa, o.shuffle, i, dst_bytes, dst[i], want[i]);
    }
  }
}

static void run_cases(bool (*draw)(copy_case *c), int n) {
  const pages dst = pages_new(MOST_PLACES / 2 + 4096), src = pages_new(MOST_PLACES / 2 + 4096);
  unsigned char *want = malloc(dst.bytes);
  assert_non_null(want);
  for (int i = 0; i < n;) {
    copy_case c;
    if (!draw(&c)) continue;
    try_case(&c, &dst, &src, want);
    i++;
  }
  free(want);
  pages_drop(dst);
  pages_drop(src);
}

/* ---- tests ------------------------------------------------------------------------------------------------- */

static void test_random(void **unused) {
  (void)unused;
  run_cases(draw_case, slow_run() ? CASES / 10 : CASES);
  assert_true(used[TESELA_SOLVER_BITS] > 0 && used[TESELA_SOLVER_ROWS] > 0);
}

/* Rows at any distance. */
static void set_rows(side *s) {
  int64_t stride = 1;
  s->offset = below(9);
  s->places = s->offset + 1;
  for (int32_t i = s->n - 1; i >= 0; i--) {
    digit *g = &s->digit[i];
    g->stride = stride;
    s->places += (g->extent - 1) * stride;
    stride *= g->extent;
    if (i == s->n - 1) stride += below(4);
  }
}

/* Two long dims, exchanged, with rows that begin at any bit: several tiles on both sides. A few values of a third dim are around these rows, or
 * between them, on each side. */
static bool draw_transpose(copy_case *c) {
  c->bits = 1 << below(3);
  c->rank = 3;
  c->fill = TESELA_FILL_ZERO;
  c->shape[2] = 1 + below(2) * below(5);
  c->shape[0] = 100 + below(1000);
  c->shape[1] = 60 + below((MOST_PLACES - 20000) / c->shape[0] / c->shape[2]);
  if (c->shape[1] > 1500) c->shape[1] = 1500;
  for (int32_t i = 0; i < 2; i++) {
    side *s = i ? &c->dst : &c->src;
    const int32_t few = (int32_t)below(2);
    s->n = 3;
    s->digit[few] = (digit){2, 1, c->shape[2], 0};
    s->digit[1 - few] = (digit){i, 1, c->shape[i], 0};
    s->digit[2] = (digit){1 - i, 1, c->shape[1 - i], 0};
    set_rows(s);
  }
  return c->src.places < MOST_PLACES && c->dst.places < MOST_PLACES;
}

static void test_transposes(void **unused) {
  (void)unused;
  used[TESELA_SOLVER_BITS] = 0;
  run_cases(draw_transpose, slow_run() ? 4 : 30);
  assert_true(used[TESELA_SOLVER_BITS] > 0);
}

/* A side without gaps. */
static void pack(side *s) {
  s->places = 1;
  for (int32_t i = s->n - 1; i >= 0; i--) {
    s->digit[i].stride = s->places;
    s->places *= s->digit[i].extent;
  }
}

/* Rows to tiles of two of three dims, whose last tiles are partial, or back: all of these for one value of the first dim may be one band of up to
 * 60000 elements. Rows have the dims in any order, so that a band may be rows far from each other. */
static bool draw_bands(copy_case *c) {
  static const int64_t tiles[] = {4, 8, 16, 32};
  const int64_t a = tiles[below(4)], b = tiles[below(4)];
  const bool to_rows = below(2);
  c->bits = 1 << below(3);
  c->rank = 3;
  c->fill = TESELA_FILL_ZERO;
  c->shape[0] = 16 + below(5);
  c->shape[1] = 20 + below(60);
  c->shape[2] = 150 + below(600);
  side rows = {3, {{0, 1, c->shape[0], 0}, {1, 1, c->shape[1], 0}, {2, 1, c->shape[2], 0}}, 0, 0};
  side tiled = {5,
                {{0, 1, c->shape[0], 0},
                 {1, a, (c->shape[1] + a - 1) / a, 0},
                 {2, b, (c->shape[2] + b - 1) / b, 0},
                 {1, 1, a, 0},
                 {2, 1, b, 0}},
                0,
                0};
  for (int32_t i = 2; i > 0; i--) {
    const int32_t j = (int32_t)below(i + 1);
    const digit swapped = rows.digit[i];
    rows.digit[i] = rows.digit[j];
    rows.digit[j] = swapped;
  }
  pack(&rows);
  pack(&tiled);
  c->src = to_rows ? tiled : rows;
  c->dst = to_rows ? rows : tiled;
  return tiled.places < MOST_PLACES;
}

static void test_bands(void **unused) {
  (void)unused;
  used[TESELA_SOLVER_BITS] = 0;
  run_cases(draw_bands, slow_run() ? 3 : 20);
  assert_true(used[TESELA_SOLVER_BITS] > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_transposes),
                                     cmocka_unit_test(test_bands)};
  state = first_seed();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
