/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_hlo_along.c - sort, topk and folds of pairs in HLO text: which comparisons are known, and what comes out.
 *
 * Lines are sorted here by counting, for each element, those that stand before it.
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
#include <tesela/tesela.h>

#include "support_hlo_run.h"
#include "support_seed.h"

enum { CASES = 60 };

static uint64_t seed;

#define PAIR(type) "a = " type "[] parameter(0)\n b = " type "[] parameter(1)\n"

/* As a framework writes it: -0 is 0 and all NaN are one before they are compared. */
#define CANONICAL(direction)                                                               \
  PAIR("f32")                                                                              \
  "nan = f32[] constant(nan)\n zero = f32[] constant(0)\n"                                 \
  "na = pred[] compare(a, a), direction=NE\n za = pred[] compare(a, zero), direction=EQ\n" \
  "sa = f32[] select(za, zero, a)\n ta = f32[] select(na, nan, sa)\n"                      \
  "nb = pred[] compare(b, b), direction=NE\n zb = pred[] compare(b, zero), direction=EQ\n" \
  "sb = f32[] select(zb, zero, b)\n tb = f32[] select(nb, nan, sb)\n"                      \
  "ROOT r = pred[] compare(ta, tb), direction=" direction ", type=TOTALORDER }\n"

/* The same as bits that are compared as integers. */
static const char bits[] = "less { " PAIR(
    "f32") "nan = f32[] constant(nan)\n zero = f32[] constant(0)\n none = s32[] constant(0)\n"
           "most = s32[] constant(2147483647)\n"
           "na = pred[] compare(a, a), direction=NE\n za = pred[] compare(a, zero), direction=EQ\n"
           "sa = f32[] select(za, zero, a)\n ta = f32[] select(na, nan, sa)\n ia = s32[] "
           "bitcast-convert(ta)\n"
           "xa = s32[] xor(most, ia)\n ca = pred[] compare(ia, none), direction=LT\n ka = s32[] select(ca, "
           "xa, ia)\n"
           "nb = pred[] compare(b, b), direction=NE\n zb = pred[] compare(b, zero), direction=EQ\n"
           "sb = f32[] select(zb, zero, b)\n tb = f32[] select(nb, nan, sb)\n ib = s32[] "
           "bitcast-convert(tb)\n"
           "xb = s32[] xor(most, ib)\n cb = pred[] compare(ib, none), direction=LT\n kb = s32[] select(cb, "
           "xb, ib)\n"
           "ROOT r = pred[] compare(ka, kb), direction=LT }\n";

/* What puts lines in order, and how: 1 the least first, -1 the greatest, 0: it is not known. */
static const struct order_row {
  const char *name, *text;
  int32_t order;
} orders[] = {
    {"less", "less { " PAIR("f32") "ROOT r = pred[] compare(a, b), direction=LT }\n", 1},
    {"greater", "less { " PAIR("f32") "ROOT r = pred[] compare(a, b), direction=GT }\n", -1},
    {"less, the other way round", "less { " PAIR("f32") "ROOT r = pred[] compare(b, a), direction=GT }\n", 1},
    {"less, through converts",
     "less { " PAIR("f32") "c = f64[] convert(a)\n d = f64[] convert(b)\n ROOT r = pred[] compare(c, d), "
                           "direction=LT }\n",
     1},
    {"one zero, one NaN", "less { " CANONICAL("LT"), 1},
    {"one zero, one NaN, the greatest first", "less { " CANONICAL("GT"), -1},
    {"as bits", bits, 1},
    {"in total order, two zeros",
     "less { " PAIR("f32") "ROOT r = pred[] compare(a, b), direction=LT, "
                           "type=TOTALORDER }\n",
     0},
    {"less or equal", "less { " PAIR("f32") "ROOT r = pred[] compare(a, b), direction=LE }\n", 0},
    {"never", "less { " PAIR("f32") "ROOT r = pred[] constant(false) }\n", 0},
    {"by magnitude",
     "less { " PAIR(
         "f32") "c = f32[] abs(a)\n d = f32[] abs(b)\n ROOT r = pred[] compare(c, d), direction=LT }\n",
     0},
    {"not beyond a bound",
     "less { " PAIR("f32") "t = f32[] constant(7)\n c = f32[] minimum(a, t)\n d = f32[] minimum(b, t)\n"
                           " ROOT r = pred[] compare(c, d), direction=LT }\n",
     0},
    {"clamped at 0",
     "less { " PAIR("f32") "t = f32[] constant(0)\n c = f32[] maximum(a, t)\n d = f32[] maximum(b, t)\n"
                           " ROOT r = pred[] compare(c, d), direction=LT }\n",
     0},
};

static void draw_tensor(hlo_case *c, hlo_tensor *x) {
  x->rank = 1 + (int32_t)hlo_below(c, 3);
  for (int32_t d = 0; d < x->rank; d++) x->shape[d] = 1 + hlo_below(c, 7);
  hlo_fill(c, x, 6);
}

/* Where the element at `of` stands in its line; of equal ones the first is first. */
static int64_t place_of(hlo_tensor *x, int32_t dim, int32_t order, const int64_t *of) {
  int64_t index[HLO_RANK], n = 0, own = *hlo_at(x, of);
  memcpy(index, of, sizeof index);
  for (index[dim] = 0; index[dim] < x->shape[dim]; index[dim]++) {
    int64_t other = *hlo_at(x, index);
    n += order > 0 ? other < own : other > own;
    n += other == own && index[dim] < of[dim];
  }
  return n;
}

/* The first `length` of each sorted line, or where they stood. */
static void sorted(hlo_case *c, int32_t dim, int32_t order, int64_t length, bool places) {
  int64_t of[HLO_RANK] = {0}, to[HLO_RANK];
  hlo_tensor *x = &c->in[0];
  c->want.rank = x->rank;
  memcpy(c->want.shape, x->shape, sizeof x->shape);
  c->want.shape[dim] = length;
  c->want_index = places;
  do {
    memcpy(to, of, sizeof to);
    to[dim] = place_of(x, dim, order, of);
    if (to[dim] < length) *hlo_at(&c->want, to) = places ? of[dim] : *hlo_at(x, of);
  } while (hlo_step(x->rank, x->shape, of));
}

static char lines_[1024];
static void put_shape(char *text, size_t room, const hlo_tensor *t) {
  size_t n = 0;
  for (int32_t d = 0; d < t->rank; d++)
    n += (size_t)snprintf(text + n, room - n, "%s%" PRId64, d ? "," : "", t->shape[d]);
}

static void draw_sort(hlo_case *c, const struct order_row *row) {
  draw_tensor(c, &c->in[0]);
  int32_t dim = (int32_t)hlo_below(c, c->in[0].rank);
  c->n = 1;
  c->in_front = row->text;
  hlo_put(c, "sort(p0), dimensions={%d}, is_stable=true, to_apply=less", (int)dim);
  sorted(c, dim, row->order, c->in[0].shape[dim], false);
}

/* With a payload that counts: where elements come from. */
static void draw_argsort(hlo_case *c, const struct order_row *row) {
  static char text[4096];
  char shape[64] = "";
  draw_tensor(c, &c->in[0]);
  int32_t dim = (int32_t)hlo_below(c, c->in[0].rank);
  put_shape(shape, sizeof shape, &c->in[0]);
  snprintf(text, sizeof text, "%.*s p = s32[] parameter(2)\n q = s32[] parameter(3)\n%s", 7, row->text,
           row->text + 7);
  snprintf(lines_, sizeof lines_,
           "  i = s32[%s] iota(), iota_dimension=%d\n  t = (f32[%s], s32[%s]) sort(p0, i), dimensions={%d}, "
           "is_stable=true, to_apply=less\n",
           shape, (int)dim, shape, shape, (int)dim);
  c->n = 1;
  c->in_front = text;
  c->lines = lines_;
  bool places = hlo_below(c, 2);
  hlo_put(c, "get-tuple-element(t), index=%d", places);
  sorted(c, dim, row->order, c->in[0].shape[dim], places);
}

static void draw_topk(hlo_case *c, const struct order_row *row) {
  char shape[64] = "";
  (void)row;
  draw_tensor(c, &c->in[0]);
  hlo_tensor part = c->in[0];
  int32_t dim = part.rank - 1;
  part.shape[dim] = hlo_below(c, part.shape[dim] + 1);
  if (part.shape[dim] == 0) part.shape[dim] = 1;
  put_shape(shape, sizeof shape, &part);
  bool custom = hlo_below(c, 2), places = hlo_below(c, 2);
  snprintf(lines_, sizeof lines_, "  t = (f32[%s]{%s}, s32[%s]) %s\n", shape,
           part.rank == 1   ? "0"
           : part.rank == 2 ? "1,0"
                            : "2,1,0",
           shape, custom ? "custom-call(p0), custom_call_target=\"TopK\"" : "topk(p0), k=0, largest=true");
  c->n = 1;
  c->lines = lines_;
  hlo_put(c, "get-tuple-element(t), index=%d", places);
  sorted(c, dim, -1, part.shape[dim], places);
}

/* The greatest or the least and its place, as frameworks write it. */
static void draw_extreme(hlo_case *c, const struct order_row *row) {
  static char text[2048];
  char shape[64] = "", result[64] = "";
  (void)row;
  draw_tensor(c, &c->in[0]);
  hlo_tensor *x = &c->in[0];
  int32_t dim = (int32_t)hlo_below(c, x->rank);
  bool greatest = hlo_below(c, 2), place = hlo_below(c, 2);
  const char *way = greatest ? "GT" : "LT";
  sorted(c, dim, greatest ? -1 : 1, 1, place);
  for (int32_t d = dim; d + 1 < c->want.rank; d++) c->want.shape[d] = c->want.shape[d + 1];
  c->want.rank--;
  snprintf(text, sizeof text,
           "pick { a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n j = s32[] "
           "parameter(3)\n"
           "g = pred[] compare(a, b), direction=%s\n n = pred[] compare(a, a), direction=NE\n o = pred[] "
           "or(g, n)\n"
           "v = f32[] select(o, a, b)\n e = pred[] compare(a, b), direction=EQ\n l = pred[] compare(i, j), "
           "direction=LT\n"
           "f = pred[] and(e, l)\n s = pred[] or(o, f)\n k = s32[] select(s, i, j)\n ROOT t = (f32[], s32[]) "
           "tuple(v, k) }\n",
           way);
  put_shape(shape, sizeof shape, x);
  put_shape(result, sizeof result, &c->want);
  snprintf(lines_, sizeof lines_,
           "  i = s32[%" PRId64 "] iota(), iota_dimension=0\n  j = s32[%s] broadcast(i), dimensions={%d}\n"
           "  from = f32[] constant(%s)\n  none = s32[] constant(0)\n"
           "  t = (f32[%s], s32[%s]) reduce(p0, j, from, none), dimensions={%d}, to_apply=pick\n",
           x->shape[dim], shape, (int)dim, greatest ? "-inf" : "inf", result, result, (int)dim);
  c->n = 1;
  c->in_front = text;
  c->lines = lines_;
  hlo_put(c, "get-tuple-element(t), index=%d", place);
}

typedef void draw_case(hlo_case *c, const struct order_row *row);

static void check(draw_case *draw, const struct order_row *row) {
  static hlo_case c;
  for (uint64_t k = 0; k < CASES; k++) {
    uint64_t number = seed + k;
    memset(&c, 0, sizeof c);
    c.state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    draw(&c, row);
    hlo_check(&c, row->name, number);
  }
}

static void sorts(void **unused) {
  (void)unused;
  for (size_t r = 0; r < sizeof orders / sizeof *orders; r++)
    if (orders[r].order != 0) {
      check(draw_sort, &orders[r]);
      check(draw_argsort, &orders[r]);
    }
}

/* What is not known has layouts, and no function. */
static void comparisons(void **unused) {
  (void)unused;
  for (size_t r = 0; r < sizeof orders / sizeof *orders; r++) {
    char text[4096];
    tesela_graph *graph;
    tesela_error err = {.message = ""};
    snprintf(
        text, sizeof text,
        "HloModule m\n%s\nENTRY e { x = f32[3,4] parameter(0)\n ROOT s = f32[3,4] sort(x), dimensions={1}, "
        "to_apply=less }\n",
        orders[r].text);
    if (tesela_graph_read_hlo(&graph, text, strlen(text), NULL, NULL, NULL, &err) != TESELA_OK)
      fail_msg("%s: %s", orders[r].name, err.message);
    const tesela_node *node = tesela_graph_node(graph, 1);
    assert_int_equal(node->op, TESELA_OP_ALONG);
    if (node->fn != (orders[r].order == 0 ? TESELA_FN_FUSED : TESELA_FN_SORT) ||
        node->reverse != (orders[r].order < 0))
      fail_msg("%s: %s%s", orders[r].name, tesela_fn_name(node->fn), node->reverse ? " reverse" : "");
    tesela_graph_destroy(graph);
  }
}

/* The comparison of two floats as compilers expand a total order: both are made one zero and one NaN (unless `raw`), perhaps
 * widened; the bits below 0 are mirrored and compared as integers. */
static void put_expanded(char *text, size_t room, const char *type, const char *wide, const char *whole,
                         const char *unsigned_, const char *most, const char *way, bool raw) {
  size_t n = (size_t)snprintf(text, room, "HloModule m\nless {\n");
  for (int k = 0; k < 2; k++)
    n += (size_t)snprintf(text + n, room - n, " p%d = %s[] parameter(%d)\n", k, type, k);
  n += (size_t)snprintf(text + n, room - n,
                        " zero = %s[] constant(0)\n nan = %s[] constant(nan)\n none = %s[] constant(0)\n"
                        " most = %s[] constant(%s)\n",
                        type, type, whole, unsigned_ ? unsigned_ : whole, most);
  for (int k = 0; k < 2; k++) {
    n += (size_t)snprintf(
        text + n, room - n,
        " z%d = pred[] compare(p%d, zero), direction=EQ\n s%d = %s[] select(z%d, zero, p%d)\n"
        " n%d = pred[] compare(p%d, p%d), direction=NE\n c%d = %s[] select(n%d, nan, s%d)\n"
        " w%d = %s[] convert(%s%d)\n i%d = %s[] bitcast-convert(w%d)\n",
        k, k, k, type, k, k, k, k, k, k, type, k, k, k, wide, raw ? "p" : "c", k, k, whole, k);
    if (unsigned_)
      n += (size_t)snprintf(text + n, room - n,
                            " u%d = %s[] bitcast-convert(w%d)\n d%d = %s[] subtract(most, u%d)\n"
                            " m%d = %s[] bitcast-convert(d%d)\n",
                            k, unsigned_, k, k, unsigned_, k, k, whole, k);
    else
      n += (size_t)snprintf(text + n, room - n, " m%d = %s[] xor(i%d, most)\n", k, whole, k);
    n += (size_t)snprintf(
        text + n, room - n,
        " l%d = pred[] compare(i%d, none), direction=LT\n k%d = %s[] select(l%d, m%d, i%d)\n", k, k, k, whole,
        k, k, k);
  }
  snprintf(text + n, room - n,
           " ROOT r = pred[] compare(k0, k1), direction=%s }\nENTRY e { x = %s[3,4] parameter(0)\n"
           " ROOT s = %s[3,4] sort(x), dimensions={1}, to_apply=less }\n",
           way, type, type);
}

static void expanded_total_orders(void **unused) {
  (void)unused;
  static const struct {
    const char *type, *wide, *whole, *unsigned_, *most;
    bool known;
  } rows[] = {
      {"f32", "f32", "s32", NULL, "2147483647", true},
      {"f32", "f32", "s32", "u32", "2147483647", true},
      {"bf16", "f32", "s32", "u32", "2147483647", true},
      {"bf16", "bf16", "s16", "u16", "32767", true},
      {"bf16", "bf16", "s16", NULL, "32767", true},
      {"f16", "f16", "s16", "u16", "32767", true},
      {"f16", "f32", "s32", NULL, "2147483647", true},
      {"f64", "f64", "s64", "u64", "9223372036854775807", true},
      {"f64", "f64", "s64", NULL, "9223372036854775807", true},
      {"f32", "f32", "s32", NULL, "2147483646", false}, /* another constant */
      {"f32", "f32", "s16", NULL, "32767", false},      /* bits of another width */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int k = 0; k < 4; k++) {
      char text[4096];
      tesela_graph *graph;
      tesela_error err = {.message = ""};
      bool raw = k > 1,
           known = rows[i].known && !raw; /* raw: -0 before 0, NaN on both ends: no order of values */
      put_expanded(text, sizeof text, rows[i].type, rows[i].wide, rows[i].whole, rows[i].unsigned_,
                   rows[i].most, k % 2 ? "GT" : "LT", raw);
      if (tesela_graph_read_hlo(&graph, text, strlen(text), NULL, NULL, NULL, &err) != TESELA_OK)
        fail_msg("%s\n%s", err.message, text);
      const tesela_node *node = tesela_graph_node(graph, 1);
      assert_int_equal(node->op, TESELA_OP_ALONG);
      if (node->fn != (known ? TESELA_FN_SORT : TESELA_FN_FUSED) || node->reverse != (known && k % 2))
        fail_msg("%s%s\n%s", tesela_fn_name(node->fn), node->reverse ? " reverse" : "", text);
      tesela_graph_destroy(graph);
    }
}

static void largest(void **unused) {
  (void)unused;
  check(draw_topk, &(struct order_row){"topk", "", -1});
}

static void extremes(void **unused) {
  (void)unused;
  check(draw_extreme, &(struct order_row){"argmax", "", 0});
}

int main(void) {
  seed = first_seed();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(comparisons), cmocka_unit_test(expanded_total_orders),
      cmocka_unit_test(sorts),       cmocka_unit_test(largest),
      cmocka_unit_test(extremes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
