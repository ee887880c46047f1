/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_hlo_windows.c - convolutions and folds of windows in HLO text, drawn at random, against their definitions.
 *
 * A convolution is computed here on the flat tensors: feature groups take a part of x's channels for a part of the result's,
 * batch groups a part of the batch; the parts follow each other. A window over an element's neighbours in x, spread by lhs_dilate and
 * padded, is what the definition goes through.
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

enum { CASES = 250, SPATIAL = 3 };

static uint64_t seed;

/* A window along some dims. */
typedef struct window {
  int32_t n;
  int64_t size[HLO_RANK], stride[HLO_RANK], low[HLO_RANK], high[HLO_RANK], dilation[HLO_RANK],
      spread[HLO_RANK];
  int64_t reversed[HLO_RANK];
} window;

static void put_numbers(hlo_case *c, const char *key, int32_t n, const int64_t *list) {
  hlo_put(c, " %s=", key);
  for (int32_t i = 0; i < n; i++) hlo_put(c, "%s%" PRId64, i ? "x" : "", list[i]);
}

static void put_window(hlo_case *c, const window *w) {
  hlo_put(c, ", window={size=");
  for (int32_t i = 0; i < w->n; i++) hlo_put(c, "%s%" PRId64, i ? "x" : "", w->size[i]);
  put_numbers(c, "stride", w->n, w->stride);
  hlo_put(c, " pad=");
  for (int32_t i = 0; i < w->n; i++)
    hlo_put(c, "%s%" PRId64 "_%" PRId64, i ? "x" : "", w->low[i], w->high[i]);
  put_numbers(c, "lhs_dilate", w->n, w->spread);
  put_numbers(c, "rhs_dilate", w->n, w->dilation);
  if (hlo_below(c, 2)) put_numbers(c, "rhs_reversal", w->n, w->reversed);
  hlo_put(c, "}");
}

/* Places where the window can be along a dim of n elements: gone through one by one. */
static int64_t places(const window *w, int32_t i, int64_t n) {
  int64_t whole = (n - 1) * w->spread[i] + 1 + w->low[i] + w->high[i], count = 0;
  for (int64_t at = 0; at + (w->size[i] - 1) * w->dilation[i] + 1 <= whole; at += w->stride[i]) count++;
  return count;
}

/* The element of x under element k of the window at o; false: none. */
static bool element(const window *w, int32_t i, int64_t o, int64_t k, int64_t n, int64_t *at) {
  int64_t spread = o * w->stride[i] + k * w->dilation[i] - w->low[i];
  if (spread < 0 || spread % w->spread[i] != 0 || spread / w->spread[i] >= n) return false;
  *at = spread / w->spread[i];
  return true;
}

static void draw_window(hlo_case *c, window *w, int32_t i) {
  w->size[i] = 1 + hlo_below(c, 3);
  w->stride[i] = 1 + hlo_below(c, 2);
  w->low[i] = hlo_below(c, 4) - 1;
  w->high[i] = hlo_below(c, 4) - 1;
  w->dilation[i] = 1 + hlo_below(c, 2);
  w->spread[i] = hlo_below(c, 3) ? 1 : 2;
  w->reversed[i] = 0;
}

/* ---- convolution ------------------------------------------------------------------------------------------------ */

static void put_labels(hlo_case *c, const int32_t *at, const char *letters, int32_t n) {
  char text[8] = "";
  for (int32_t i = 0; i < n; i++) text[at[i]] = letters[i];
  hlo_put(c, "%s", text);
}

static void draw_convolution(hlo_case *c) {
  window w = {.n = 1 + (int32_t)hlo_below(c, SPATIAL)};
  int32_t at[3][2 + SPATIAL], rank = w.n + 2;
  int64_t features = 1, batches = 1, in, out, n;
  hlo_tensor *x = &c->in[0], *y = &c->in[1];
  x->rank = y->rank = c->want.rank = rank;
  for (int32_t k = 0; k < 3; k++) hlo_shuffle(c, rank, at[k]);
  if (hlo_below(c, 3) == 0) features = 1 + hlo_below(c, 4);
  if (features == 1 && hlo_below(c, 3) == 0) batches = 1 + hlo_below(c, 3);
  in = 1 + hlo_below(c, 2); /* of a group */
  out = features * batches * (1 + hlo_below(c, 2));
  n = batches * (1 + hlo_below(c, 2));
  x->shape[at[0][0]] = n;
  x->shape[at[0][1]] = in * features;
  y->shape[at[1][0]] = out;
  y->shape[at[1][1]] = in;
  c->want.shape[at[2][0]] = n / batches;
  c->want.shape[at[2][1]] = out;
  for (int32_t i = 0; i < w.n; i++) {
    draw_window(c, &w, i);
    w.reversed[i] = hlo_below(c, 2);
    x->shape[at[0][2 + i]] = 2 + hlo_below(c, 4);
    y->shape[at[1][2 + i]] = w.size[i];
    c->want.shape[at[2][2 + i]] = places(&w, i, x->shape[at[0][2 + i]]);
  }
  hlo_fill(c, x, 9);
  hlo_fill(c, y, 9);
  c->n = 2;
  hlo_put(c, "convolution(p0, p1)");
  size_t before = c->length;
  put_window(c, &w);
  if (!strstr(c->text + before, "rhs_reversal")) memset(w.reversed, 0, sizeof w.reversed);
  hlo_put(c, ", dim_labels=");
  put_labels(c, at[0], "bf012", rank);
  hlo_put(c, "_");
  put_labels(c, at[1], "oi012", rank);
  hlo_put(c, "->");
  put_labels(c, at[2], "bf012", rank);
  if (features > 1 || hlo_below(c, 2)) hlo_put(c, ", feature_group_count=%" PRId64, features);
  if (batches > 1 || hlo_below(c, 2)) hlo_put(c, ", batch_group_count=%" PRId64, batches);
  if (hlo_count(&c->want) == 0) return;
  int64_t o[HLO_RANK] = {0}, i[HLO_RANK], f[HLO_RANK];
  do {
    int64_t sum = 0, k[SPATIAL] = {0}, to = o[at[2][1]];
    do
      for (int64_t ch = 0; ch < in; ch++) {
        bool there = true;
        i[at[0][0]] = o[at[2][0]] + to / (out / batches) * (n / batches);
        i[at[0][1]] = to / (out / features) * in + ch;
        f[at[1][0]] = to;
        f[at[1][1]] = ch;
        if (batches > 1) i[at[0][1]] = ch;
        if (features > 1) i[at[0][0]] = o[at[2][0]];
        for (int32_t d = 0; d < w.n; d++) {
          f[at[1][2 + d]] = w.reversed[d] ? w.size[d] - 1 - k[d] : k[d];
          there = element(&w, d, o[at[2][2 + d]], k[d], x->shape[at[0][2 + d]], &i[at[0][2 + d]]) && there;
        }
        if (there) sum += *hlo_at(x, i) * *hlo_at(y, f);
      }
    while (hlo_step(w.n, w.size, k));
    *hlo_at(&c->want, o) = sum;
  } while (hlo_step(rank, c->want.shape, o));
}

/* ---- folds of windows ------------------------------------------------------------------------------------------- */

static const char regions[] =
    "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
    "top { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(a, b) }\n";

/* A sum, or the greatest. Where a window has no element its greatest is -inf, no whole number: such a case is left out. */
static void draw_reduce_window(hlo_case *c) {
  bool sum = hlo_below(c, 2), empty = false, cumulates = hlo_below(c, 4) == 0;
  window w = {.n = 1 + (int32_t)hlo_below(c, 4)};
  hlo_tensor *x = &c->in[0];
  x->rank = c->want.rank = w.n;
  int32_t line = (int32_t)hlo_below(c, w.n);
  for (int32_t i = 0; i < w.n; i++) {
    draw_window(c, &w, i);
    x->shape[i] = 2 + hlo_below(c, 5);
    if (cumulates || !hlo_below(c, 2))
      w.size[i] = w.stride[i] = w.dilation[i] = w.spread[i] = 1, w.low[i] = w.high[i] = 0;
    if (cumulates && i == line) {
      w.size[i] = x->shape[i];
      *(hlo_below(c, 2) ? &w.low[i] : &w.high[i]) = x->shape[i] - 1;
    }
    c->want.shape[i] = places(&w, i, x->shape[i]);
  }
  hlo_fill(c, x, 9);
  c->in_front = regions;
  if (hlo_count(&c->want) > 0) {
    int64_t o[HLO_RANK] = {0}, i[HLO_RANK];
    do {
      int64_t all = sum ? 0 : -1, k[HLO_RANK] = {0};
      do {
        bool there = true;
        for (int32_t d = 0; d < w.n; d++) there = element(&w, d, o[d], k[d], x->shape[d], &i[d]) && there;
        if (there && sum) all += *hlo_at(x, i);
        if (there && !sum && *hlo_at(x, i) > all) all = *hlo_at(x, i);
      } while (hlo_step(w.n, w.size, k));
      empty = empty || all < 0;
      *hlo_at(&c->want, o) = all;
    } while (hlo_step(w.n, c->want.shape, o));
  }
  if (empty) return; /* not run: c->n is 0 */
  c->n = 1;
  hlo_put(c, "reduce-window(p0, %s)", sum ? "zero" : "least");
  put_window(c, &w);
  hlo_put(c, ", to_apply=%s", sum ? "sum" : "top");
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

typedef void draw_case(hlo_case *c);

static void check(draw_case *draw, const char *name) {
  static hlo_case c;
  int32_t done = 0;
  for (uint64_t k = 0; k < 4 * CASES && done < CASES; k++) {
    uint64_t number = seed + k;
    memset(&c, 0, sizeof c);
    c.state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    draw(&c);
    if (c.n == 0) continue;
    hlo_check(&c, name, number);
    done++;
  }
  assert_int_equal(done, CASES);
}

static void convolutions(void **unused) {
  (void)unused;
  check(draw_convolution, "convolution");
}

static void windows(void **unused) {
  (void)unused;
  check(draw_reduce_window, "reduce-window");
}

int main(void) {
  seed = first_seed();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convolutions),
      cmocka_unit_test(windows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
