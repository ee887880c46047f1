/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_map.c - element to place, one by one, in batches and by iteration, against a hand-written expression.
 *
 * The expression is what one would write for the one layout; its numbers of tiles are variables, the tile extents
 * constants. Every way is checked against it before it is timed. Goals: iteration at most 2 ns an element, a batch
 * at most 2x the expression for f32[..]{1,0:T(8,128)}.
 */
#include "timing.h"

#include <string.h>

#include <tesela/tesela.h>

enum { N = 1 << 16 };

typedef struct map_case {
  const char *text;
  int64_t (*by_hand)(int64_t i, int64_t j, int64_t rows, int64_t cols);
  int64_t rows, cols;
  tesela_layout layout;
  int64_t index[N * 2], place[N], sum;
} map_case;

static int64_t hand_8x128(int64_t i, int64_t j, int64_t rows, int64_t cols) {
  (void)rows;
  return ((i >> 3) * ((cols + 127) >> 7) + (j >> 7)) * 1024 + (i & 7) * 128 + (j & 127);
}

static int64_t hand_transposed(int64_t i, int64_t j, int64_t rows, int64_t cols) {
  (void)cols;
  return ((j >> 3) * ((rows + 127) >> 7) + (i >> 7)) * 1024 + (j & 7) * 128 + (i & 127);
}

static int64_t hand_8x128_2x1(int64_t i, int64_t j, int64_t rows, int64_t cols) {
  (void)rows;
  return ((i >> 3) * ((cols + 127) >> 7) + (j >> 7)) * 1024 + ((i & 7) >> 1) * 256 + (j & 127) * 2 + (i & 1);
}

static int64_t hand_6x100(int64_t i, int64_t j, int64_t rows, int64_t cols) {
  (void)rows;
  return ((i / 6) * ((cols + 99) / 100) + j / 100) * 600 + (i % 6) * 100 + j % 100;
}

static void expression(void *data) {
  map_case *c = data;
  int64_t rows = c->rows, cols = c->cols;
  for (int64_t k = 0; k < N; k++) c->place[k] = c->by_hand(c->index[2 * k], c->index[2 * k + 1], rows, cols);
}

/* The expression inlined, as its author would have it. */
#define INLINED(name, function)                                                 \
  static void name(void *data) {                                                \
    map_case *c = data;                                                         \
    int64_t rows = c->rows, cols = c->cols;                                     \
    for (int64_t k = 0; k < N; k++)                                             \
      c->place[k] = function(c->index[2 * k], c->index[2 * k + 1], rows, cols); \
  }
INLINED(inlined_8x128, hand_8x128)
INLINED(inlined_transposed, hand_transposed)
INLINED(inlined_8x128_2x1, hand_8x128_2x1)
INLINED(inlined_6x100, hand_6x100)

static void single(void *data) {
  map_case *c = data;
  for (int64_t k = 0; k < N; k++) tesela_layout_place_of(&c->layout, &c->index[2 * k], &c->place[k], NULL);
}

static void batch(void *data) {
  map_case *c = data;
  tesela_layout_places(&c->layout, 0, N, c->index, c->place, NULL);
}

static void walk_all(void *data) {
  map_case *c = data;
  tesela_walk walk;
  int64_t sum = 0;
  tesela_walk_begin(&walk, &c->layout, NULL);
  for (; walk.more; tesela_walk_next(&walk)) sum += walk.place ^ walk.index[1];
  c->sum = sum;
}

static void scan_all(void *data) {
  map_case *c = data;
  tesela_scan scan;
  int64_t sum = 0;
  tesela_scan_begin(&scan, &c->layout, NULL);
  for (; scan.more; tesela_scan_next(&scan))
    if (!scan.padding) sum += scan.place ^ scan.index[1];
  c->sum = sum;
}

static void verify(map_case *c) {
  void (*ways[])(void *) = {single, batch};
  for (int w = 0; w < 2; w++) {
    ways[w](c);
    for (int64_t k = 0; k < N; k++)
      if (c->place[k] != c->by_hand(c->index[2 * k], c->index[2 * k + 1], c->rows, c->cols)) {
        fprintf(stderr, "bench_map: %s: wrong place of element %d,%d\n", c->text, (int)c->index[2 * k],
                (int)c->index[2 * k + 1]);
        exit(1);
      }
  }
  int64_t sum = 0;
  for (int64_t i = 0; i < c->rows; i++)
    for (int64_t j = 0; j < c->cols; j++) sum += c->by_hand(i, j, c->rows, c->cols) ^ j;
  walk_all(c);
  int64_t walked = c->sum;
  scan_all(c);
  if (walked == sum && c->sum == sum) return;
  fprintf(stderr, "bench_map: %s: iteration is wrong\n", c->text);
  exit(1);
}

int main(void) {
  static map_case c;
  static const struct {
    const char *text;
    int64_t (*by_hand)(int64_t, int64_t, int64_t, int64_t);
    void (*inlined)(void *);
  } cases[] = {
      {"f32[1000,2000]{1,0:T(8,128)}", hand_8x128, inlined_8x128},
      {"f32[1000,2000]{0,1:T(8,128)}", hand_transposed, inlined_transposed},
      {"bf16[1000,2000]{1,0:T(8,128)(2,1)}", hand_8x128_2x1, inlined_8x128_2x1},
      {"f32[1000,2000]{1,0:T(6,100)}", hand_6x100, inlined_6x100},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    tesela_xla_shape shape;
    tesela_sizes sizes;
    c.text = cases[k].text;
    c.by_hand = cases[k].by_hand;
    if (tesela_xla_parse(c.text, strlen(c.text), TESELA_XLA_STRICT, &shape, NULL, NULL) != TESELA_OK ||
        tesela_xla_to_layout(&shape, &c.layout, NULL) != TESELA_OK ||
        tesela_layout_sizes(&c.layout, &sizes, NULL) != TESELA_OK)
      return 1;
    c.rows = c.layout.shape[0];
    c.cols = c.layout.shape[1];
    uint64_t random = 1;
    for (int64_t e = 0; e < N; e++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      c.index[2 * e] = (int64_t)(random >> 33) % c.rows;
      c.index[2 * e + 1] = (int64_t)(random >> 40) % c.cols;
    }
    verify(&c);
    bench_way ways[] = {
        {"hand-written, inlined", cases[k].inlined, N, 0},
        {"hand-written, called", expression, N, 0},
        {"tesela_layout_places (batch)", batch, N, 0},
        {"tesela_layout_place_of (single)", single, N, 0},
        {"tesela_walk, an element", walk_all, (double)sizes.logical_elements, 0},
        {"tesela_scan, a place", scan_all, (double)sizes.elements, 0},
    };
    bench_compare(c.text, ways, sizeof ways / sizeof ways[0], &c);
    bench_figure("map.iterate_ns", ways[4].ns);
    bench_figure("map.iterate_ns", ways[5].ns);
    if (k == 0) bench_figure("map.batch_ratio", ways[2].ns / ways[0].ns);
  }
  return 0;
}
