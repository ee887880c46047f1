/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cute_divide.c - divisions and products of CuTe layouts against their definition.
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

#include "support_cute.h"
#include "support_seed.h"

/* ---- the definitions ---- */

enum { MODES = 5, VALUES = 1 << 13 };

/* A mode of a division or product: its value at tile t and rest r is value[t + tiles * r]. */
typedef struct split {
  int64_t tiles, rests, value[CUTE_MOST];
} split;

typedef enum verdict { FOUND, IMPOSSIBLE, OUTSIDE, TOO_LARGE } verdict;

/* The starts of translates of a layout's values that fill 0, 1, 2, ... once each: the first place that is free is the next. Returns
 * how many are below `most`, up to `room`; -1: they collide. */
static int starts_of(const tesela_cute *c, int64_t most, int room, int64_t *start) {
  static bool taken[2 * VALUES];
  tesela_cute without = *c;
  int n = 0;
  for (int k = 0; k < c->n; k++)
    if (c->stride[k] == 0) without.extent[k] = 1;
  const int64_t size = cute_size(&without);
  memset(taken, 0, sizeof taken);
  for (int64_t place = 0; place < most && n < room; place++) {
    if (taken[place]) continue;
    start[n++] = place;
    for (int64_t i = 0; i < size; i++) {
      const int64_t at = place + cute_value(&without, i) - without.offset;
      if (at >= 2 * VALUES || taken[at]) return -1;
      taken[at] = true;
    }
  }
  return n;
}

/* A(B(t) + C(r)), C the complement of B. */
static verdict divide_by_definition(const tesela_cute *a, const tesela_cute *b, split *made) {
  static int64_t start[VALUES];
  tesela_cute rest;
  int64_t size = cute_size(a), mode[2];
  for (int64_t i = 0; i < cute_size(b); i++)
    if (cute_value(b, i) >= size) return OUTSIDE;
  if (tesela_cute_complement(b, size, &rest, NULL, NULL) != TESELA_OK) return IMPOSSIBLE;
  mode[0] = made->tiles = cute_size(b);
  mode[1] = made->rests = cute_size(&rest);
  if (made->tiles * made->rests > CUTE_MOST) return TOO_LARGE;
  if (starts_of(b, VALUES, (int)made->rests, start) != made->rests) return TOO_LARGE;
  for (int64_t k = 0; k < made->tiles * made->rests; k++)
    made->value[k] = cute_value(a, cute_value(b, k % made->tiles) + start[k / made->tiles]);
  return cute_exists(made->value, 2, mode) ? FOUND : IMPOSSIBLE;
}

/* A(t) + C(B(r)), C the complement of A. */
static verdict multiply_by_definition(const tesela_cute *a, const tesela_cute *b, split *made) {
  static int64_t start[VALUES], tile[CUTE_MOST];
  tesela_cute rest, block = *a;
  int64_t mode[64], last = 0;
  block.bits = block.base = block.shift = 0;
  block.offset = 0;
  made->tiles = cute_size(a);
  made->rests = cute_size(b);
  if (made->tiles * made->rests > CUTE_MOST) return TOO_LARGE;
  for (int64_t i = 0; i < made->rests; i++) last = cute_value(b, i) > last ? cute_value(b, i) : last;
  if (made->tiles * (last + 1) > VALUES) return TOO_LARGE;
  if (tesela_cute_complement(&block, made->tiles * (last + 1), &rest, NULL, NULL) != TESELA_OK)
    return IMPOSSIBLE;
  if (starts_of(&block, VALUES, (int)last + 1, start) != last + 1) return TOO_LARGE;
  for (int64_t r = 0; r < made->rests; r++) tile[r] = start[cute_value(b, r)];
  for (int64_t k = 0; k < made->tiles * made->rests; k++)
    made->value[k] = cute_value(a, k % made->tiles) + tile[k / made->tiles];
  const int modes = cute_modes(b, mode);
  return cute_exists(tile, modes, mode) ? FOUND : IMPOSSIBLE;
}

/* The leaves of mode k as a list; returns how many modes there are. */
static int mode_of(const tesela_cute *c, int k, tesela_cute *out) {
  int depth = 0, n = 0;
  const int outer = c->n > 0 && c->open[0] > 0;
  *out = (tesela_cute){.n = 0};
  for (int32_t i = 0; i < c->n; i++) {
    n += i == 0 || depth == outer;
    if (n == k + 1) {
      out->extent[out->n] = c->extent[i];
      out->stride[out->n++] = c->stride[i];
    }
    depth += c->open[i] - c->close[i];
  }
  if (out->n > 0) out->open[0] = out->close[out->n - 1] = 1;
  return n;
}

/* ---- results against them ---- */

/* Has r these modes, and the values of the splits? The tiles of all modes come first, then the rests; `paired`: the rest of a mode
 * after its tile; `raked`: before it. */
static void check_values(const char *what, const tesela_cute *a, const tesela_cute *r, int n,
                         const split *part, bool paired, bool raked) {
  const split *digit[2 * MODES];
  int64_t weight[2 * MODES], extent[2 * MODES], unit[2 * MODES], size = 1;
  for (int i = 0; i < 2 * n; i++) { /* the digits of the flat coordinate */
    const int k = paired ? i / 2 : i % n;
    const bool rest = paired ? (i % 2 == 1) != raked : i >= n;
    digit[i] = &part[k];
    extent[i] = rest ? part[k].rests : part[k].tiles;
    unit[i] = rest ? part[k].tiles : 1;
    weight[i] = size;
    size *= extent[i];
  }
  if (cute_size(r) != size) fail_msg("%s %s: %s has another size", cute_text(a), what, cute_text(r));
  for (int64_t at = 0; at < size; at++) {
    int64_t value = a->offset;
    for (int k = 0; k < n; k++) {
      int64_t index = 0;
      for (int i = 0; i < 2 * n; i++)
        if (digit[i] == &part[k]) index += at / weight[i] % extent[i] * unit[i];
      value += part[k].value[index];
    }
    if (cute_value(r, at) != value)
      fail_msg("%s %s: %s is wrong at %" PRId64, cute_text(a), what, cute_text(r), at);
  }
  assert_true(r->bits == a->bits && r->base == a->base && r->shift == a->shift);
}

static void check_modes(const char *what, const tesela_cute *r, int n, const int64_t *expected) {
  int64_t mode[64];
  const int found = cute_modes(r, mode);
  if (found != n || memcmp(mode, expected, (size_t)n * sizeof mode[0]) != 0)
    fail_msg("%s: %s has other outer modes", what, cute_text(r));
}

static int64_t product_of(int n, const split *part, bool rests) {
  int64_t size = 1;
  for (int k = 0; k < n; k++) size *= rests ? part[k].rests : part[k].tiles;
  return size;
}

static const char *const forms[] = {"logical", "zipped", "tiled", "flat", "blocked", "raked"};

/* One form of a division or product by mode: `rank` splits, of the first n modes a tile each. */
static void check_form(bool product, tesela_cute_form form, const tesela_cute *a,
                       const tesela_cute_tiler *tiler, verdict expected, int rank, const split *part,
                       int64_t (*seen)[6]) {
  tesela_cute r;
  tesela_error err = {.message = ""};
  int64_t mode[2 * MODES + 1];
  int n = 0;
  const tesela_status status =
      (product ? tesela_cute_product : tesela_cute_divide)(form, a, tiler, &r, NULL, &err);
  if ((status == TESELA_OK) != (expected == FOUND))
    fail_msg("%s, %s %s by %s: %s", cute_text(a), forms[form], product ? "product" : "division",
             cute_text(&tiler->mode[0]), status == TESELA_OK ? cute_text(&r) : err.message);
  seen[status == TESELA_OK][form]++;
  if (expected == OUTSIDE) assert_int_equal(err.reason, TESELA_REASON_SIZE);
  if (status != TESELA_OK) return;
  const bool logical = form == TESELA_CUTE_LOGICAL;
  check_values(forms[form], a, &r, rank, part, logical, false);
  if (logical && tiler->by_mode) {
    for (int k = 0; k < rank; k++) mode[n++] = part[k].tiles * part[k].rests;
  } else {
    if (form == TESELA_CUTE_FLAT)
      for (int k = 0; k < tiler->n; k++) mode[n++] = part[k].tiles;
    else
      mode[n++] = product_of(rank, part, false);
    if (form == TESELA_CUTE_ZIPPED || logical)
      mode[n++] = product_of(rank, part, true);
    else
      for (int k = 0; k < rank; k++) mode[n++] = part[k].rests;
  }
  if (tiler->by_mode || form <= TESELA_CUTE_ZIPPED) check_modes(forms[form], &r, n, mode);
}

static void print_forms(const char *name, int64_t (*seen)[6], int n) {
  char what[64];
  for (int form = 0; form < n; form++) {
    snprintf(what, sizeof what, "%s %s", forms[form], name);
    cute_print_cases(seen[1][form], what, "found");
    cute_print_cases(seen[0][form], what, "impossible");
    assert_true(seen[1][form] > 0 && seen[0][form] > 0);
  }
}

static int a_kind(void) {
  static const int kinds[] = {CUTE_USUAL, CUTE_ODD, CUTE_USUAL, CUTE_ZERO, CUTE_SWIZZLED, CUTE_WILD};
  return kinds[cute_below(6)];
}

/* By one layout. */
static void test_layouts(void **unused) {
  (void)unused;
  static split part;
  int64_t seen[2][2][6] = {{{0}}};
  cute_seed();
  for (int64_t i = 0, cases = cute_cases(20000); i < cases; i++) {
    tesela_cute a, b;
    tesela_cute_tiler tiler = {.by_mode = false, .n = 1};
    const bool product = cute_below(2);
    const int kind = a_kind();
    cute_random_a(&a, kind);
    cute_random_b(&b, &a, kind == CUTE_SWIZZLED ? CUTE_USUAL : kind, 16);
    if (product && cute_below(3) > 0)
      for (int k = 0; k < b.n; k++) b.stride[k] = cute_below(5);
    if (cute_size(&a) > 64) continue;
    if (!product) a.offset = 0; /* check_values adds it */
    tiler.mode[0] = b;
    const int64_t offset = a.offset;
    a.offset = 0;
    const verdict expected = (product ? multiply_by_definition : divide_by_definition)(&a, &b, &part);
    a.offset = offset;
    if (expected == TOO_LARGE) continue;
    for (int form = TESELA_CUTE_LOGICAL; form <= TESELA_CUTE_FLAT; form++)
      check_form(product, (tesela_cute_form)form, &a, &tiler, expected, 1, &part, seen[product]);
  }
  print_forms("division by a layout", seen[0], 4);
  print_forms("product by a layout", seen[1], 4);
}

/* Mode by mode, some of which stay. */
static void test_tilers(void **unused) {
  (void)unused;
  static split part[MODES];
  int64_t seen[2][2][6] = {{{0}}};
  cute_seed();
  for (int64_t i = 0, cases = cute_cases(10000); i < cases; i++) {
    tesela_cute a, mode;
    tesela_cute_tiler tiler = {.by_mode = true};
    const bool product = cute_below(2);
    const int kind = a_kind();
    int64_t size = 1;
    verdict expected = FOUND;
    cute_random_a(&a, kind);
    const int64_t offset = a.offset;
    if (cute_size(&a) > 512) continue;
    const int rank = mode_of(&a, 0, &mode);
    tiler.n = 1 + (int32_t)cute_below(rank);
    for (int k = 0; k < rank; k++) {
      mode_of(&a, k, &mode);
      if (k < tiler.n && cute_below(6) > 0) {
        cute_random_b(&tiler.mode[k], &mode, kind == CUTE_SWIZZLED ? CUTE_USUAL : kind, 8);
        if (!product && cute_below(3) > 0)
          tiler.mode[k] = (tesela_cute){.n = 1, .extent = {1 + cute_below(5)}, .stride = {1}};
        if (product && cute_below(2))
          for (int l = 0; l < tiler.mode[k].n; l++) tiler.mode[k].stride[l] = cute_below(4);
        const verdict one =
            (product ? multiply_by_definition : divide_by_definition)(&mode, &tiler.mode[k], &part[k]);
        if (expected == FOUND || one == TOO_LARGE) expected = one;
      } else {
        if (k < tiler.n) tiler.keep |= 1u << k;
        part[k].tiles = 1;
        part[k].rests = cute_size(&mode);
        for (int64_t v = 0; v < part[k].rests; v++) part[k].value[v] = cute_value(&mode, v);
      }
      if (expected != FOUND) break;
      size *= part[k].tiles * part[k].rests;
    }
    if (expected == TOO_LARGE || size > 4 * CUTE_MOST) continue;
    a.offset = offset;
    for (int form = TESELA_CUTE_LOGICAL; form <= TESELA_CUTE_FLAT; form++)
      check_form(product, (tesela_cute_form)form, &a, &tiler, expected, rank, part, seen[product]);
  }
  print_forms("division by mode", seen[0], 4);
  print_forms("product by mode", seen[1], 4);
}

/* Mode k of the blocked product: mode k of the block and mode k of the tiles; raked: the tiles first. Tiles that fill a shape. */
static void test_interleaved(void **unused) {
  (void)unused;
  static split whole, part[MODES];
  int64_t found[3] = {0}, refused[3] = {0};
  cute_seed();
  for (int64_t i = 0, cases = cute_cases(10000); i < cases; i++) {
    tesela_cute a, b, r, mode;
    tesela_cute_tiler tiler = {.by_mode = false, .n = 1};
    tesela_error err = {.message = ""};
    const int kind = a_kind(), which = (int)cute_below(3);
    int64_t sizes[MODES], shape[MODES], order[MODES];
    cute_random_a(&a, kind);
    a.offset = 0;
    if (cute_size(&a) > 64) continue;
    cute_random_b(&b, &a, kind == CUTE_SWIZZLED ? CUTE_USUAL : kind, 16);
    if (cute_below(3) > 0)
      for (int k = 0; k < b.n; k++) b.stride[k] = cute_below(5);
    const int n_a = mode_of(&a, 0, &mode);
    int rank = n_a;
    if (which == 2) { /* compact tiles in the order */
      rank = n_a + (int)cute_below(2);
      b = (tesela_cute){.n = rank, .open = {1}};
      b.close[rank - 1] = 1;
      int64_t stride = 1;
      for (int k = 0; k < rank; k++) {
        mode_of(&a, k, &mode);
        shape[k] = 1 + cute_below(3 * (mode.n > 0 ? cute_size(&mode) : 1));
        order[k] = cute_below(4);
        b.extent[k] = (shape[k] + cute_size(&mode) - 1) / cute_size(&mode);
      }
      for (int64_t o = 0; o < 4; o++)
        for (int k = 0; k < rank; k++)
          if (order[k] == o) {
            b.stride[k] = b.extent[k] == 1 ? 0 : stride;
            stride *= b.extent[k];
          }
    } else {
      const int n_b = mode_of(&b, 0, &mode);
      rank = n_a > n_b ? n_a : n_b;
    }
    if (rank > MODES) continue;
    tesela_cute tuple = b; /* its modes are those of the result, also of one leaf */
    if (tuple.n > 0 && tuple.open[0] == 0) tuple.open[0] = tuple.close[tuple.n - 1] = 1;
    const verdict expected = multiply_by_definition(&a, &tuple, &whole);
    if (expected == TOO_LARGE) continue;
    tiler.mode[0] = b;
    const tesela_status status = which == 2
                                     ? tesela_cute_tile_to_shape(&a, rank, shape, order, &r, NULL, &err)
                                     : tesela_cute_product(which ? TESELA_CUTE_RAKED : TESELA_CUTE_BLOCKED,
                                                           &a, &tiler, &r, NULL, &err);
    if ((status == TESELA_OK) != (expected == FOUND))
      fail_msg("%s by %s, %d: %s", cute_text(&a), cute_text(&b), which,
               status == TESELA_OK ? cute_text(&r) : err.message);
    (status == TESELA_OK ? found : refused)[which]++;
    if (status != TESELA_OK) continue;
    int64_t block_unit = 1, tile_unit = 1;
    for (int k = 0; k < rank; k++) { /* the values of both, one mode at a time */
      mode_of(&a, k, &mode);
      part[k].tiles = mode.n > 0 ? cute_size(&mode) : 1;
      mode_of(&tuple, k, &mode);
      part[k].rests = mode.n > 0 ? cute_size(&mode) : 1;
      sizes[k] = part[k].tiles * part[k].rests;
      for (int64_t v = 0; v < sizes[k]; v++)
        part[k].value[v] =
            whole.value[v % part[k].tiles * block_unit + whole.tiles * (v / part[k].tiles * tile_unit)];
      block_unit *= part[k].tiles;
      tile_unit *= part[k].rests;
    }
    check_values(which ? "raked or to a shape" : "blocked", &a, &r, rank, part, true, which == 1);
    check_modes("product", &r, rank, sizes);
  }
  static const char *const names[] = {"blocked product", "raked product", "tile to shape"};
  for (int k = 0; k < 3; k++) {
    cute_print_cases(found[k], names[k], "found");
    cute_print_cases(refused[k], names[k], "impossible");
    assert_true(found[k] > 0 && refused[k] > 0);
  }
}

/* The first coordinate of a divisor outside of the layout. */
static void test_outside(void **unused) {
  (void)unused;
  int64_t outside = 0;
  cute_seed();
  for (int64_t i = 0, cases = cute_cases(10000); i < cases; i++) {
    tesela_cute a, b, r;
    tesela_cute_tiler tiler = {.by_mode = false, .n = 1};
    tesela_cute_counter counter;
    tesela_error err;
    cute_random_a(&a, CUTE_USUAL);
    cute_random_b(&b, &a, CUTE_USUAL, 16);
    tiler.mode[0] = b;
    int64_t first = 0;
    while (first < cute_size(&b) && cute_value(&b, first) < cute_size(&a)) first++;
    if (first == cute_size(&b)) continue;
    assert_int_equal(tesela_cute_divide(TESELA_CUTE_LOGICAL, &a, &tiler, &r, &counter, &err), TESELA_E_RANGE);
    assert_int_equal(err.reason, TESELA_REASON_SIZE);
    assert_int_equal(counter.index, first);
    assert_int_equal(counter.value, cute_value(&b, first));
    outside++;
  }
  cute_print_cases(outside, "division", "divisor outside");
}

/* ---- examples ---- */

static const char *divided(tesela_cute_form form, bool product, const char *text, const char *by) {
  const tesela_cute a = cute_read(text);
  tesela_cute r;
  tesela_cute_tiler tiler;
  tesela_error err;
  if (tesela_cute_tiler_parse(&tiler, by, strlen(by), &err) != TESELA_OK) fail_msg("%s: %s", by, err.message);
  if ((product ? tesela_cute_product : tesela_cute_divide)(form, &a, &tiler, &r, NULL, &err) != TESELA_OK)
    fail_msg("%s by %s: %s", text, by, err.message);
  return cute_text(&r);
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
  tesela_cute block = cute_read("(2,2):(2,1)"), r;
  const int64_t shape[] = {4, 6, 3}, order[] = {1, 0};
  assert_int_equal(tesela_cute_tile_to_shape(&block, 2, shape, NULL, &r, NULL, NULL), TESELA_OK);
  assert_string_equal(cute_text(&r), "((2,2),(2,3)):((2,4),(1,8))");
  block = cute_read("(2,2)");
  assert_int_equal(tesela_cute_tile_to_shape(&block, 2, shape, order, &r, NULL, NULL), TESELA_OK);
  assert_string_equal(cute_text(&r), "((2,2),(2,3)):((1,12),(2,4))");
  assert_int_equal(tesela_cute_tile_to_shape(&block, 3, shape, NULL, &r, NULL, NULL), TESELA_OK);
  assert_string_equal(cute_text(&r), "((2,2),(2,3),(1,3)):((1,4),(2,8),(0,24))");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_layouts), cmocka_unit_test(test_tilers), cmocka_unit_test(test_interleaved),
      cmocka_unit_test(test_outside), cmocka_unit_test(test_forms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
