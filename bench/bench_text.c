/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_text.c - layout texts: reading, printing, reading into a layout.
 *
 * The texts are of the kinds that compilers' dumps hold. The yardstick is one pass over the same bytes that adds them
 * up. Goal: at least a million texts read a second, 1000 ns each.
 */
#include "timing.h"

#include <string.h>

#include <tesela/tesela.h>

static const char *const texts[] = {
    "f32[]",
    "s32[]{:T(128)}",
    "pred[1,16384]{1,0:T(4,128)(4,1)}",
    "bf16[4096,8192]{1,0:T(8,128)(2,1)S(1)}",
    "f32[128,256,896,18]{0,3,2,1:T(8,128)}",
    "s4[8,32768,1,256]{3,1,0,2:T(8,128)(8,1)E(4)}",
    "bf16[1,20,256,2,1,4,288,1]{2,6,3,1,0,7,5,4:T(8,128)(2,1)}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
    "s32[6]{0:T(128)S(1)SC(0:3)}",
};
enum { N_TEXTS = sizeof texts / sizeof texts[0], ROUNDS = 4000 };

typedef struct text_case {
  size_t length[N_TEXTS];
  tesela_xla_shape shape[N_TEXTS];
  int64_t sum;
} text_case;

static void touch(void *data) {
  text_case *c = data;
  for (int r = 0; r < ROUNDS; r++)
    for (int i = 0; i < N_TEXTS; i++)
      for (size_t k = 0; k < c->length[i]; k++) c->sum += (unsigned char)texts[i][k] ^ r;
}

static void need(tesela_status status, const char *what) {
  if (status == TESELA_OK) return;
  fprintf(stderr, "bench_text: %s failed\n", what);
  exit(1);
}

static void read_texts(void *data) {
  text_case *c = data;
  for (int r = 0; r < ROUNDS; r++)
    for (int i = 0; i < N_TEXTS; i++) {
      tesela_xla_shape shape;
      need(tesela_xla_parse(texts[i], c->length[i], TESELA_XLA_STRICT, &shape, NULL, NULL), texts[i]);
      c->sum += shape.rank;
    }
}

static void print_texts(void *data) {
  text_case *c = data;
  char text[256];
  for (int r = 0; r < ROUNDS; r++)
    for (int i = 0; i < N_TEXTS; i++) {
      tesela_buffer buffer = {text, sizeof text, 0};
      tesela_writer writer = tesela_buffer_writer(&buffer);
      need(tesela_xla_print(&c->shape[i], true, &writer, NULL), texts[i]);
      c->sum += text[buffer.length - 1];
    }
}

static void read_sizes(void *data) {
  text_case *c = data;
  for (int r = 0; r < ROUNDS; r++)
    for (int i = 0; i < N_TEXTS; i++) {
      tesela_xla_shape shape;
      tesela_xla_sizes sizes;
      need(tesela_xla_parse(texts[i], c->length[i], TESELA_XLA_STRICT, &shape, NULL, NULL), texts[i]);
      need(tesela_xla_size(&shape, &sizes, NULL), texts[i]);
      c->sum += sizes.bytes;
    }
}

static void read_layouts(void *data) {
  text_case *c = data;
  for (int r = 0; r < ROUNDS; r++)
    for (int i = 0; i < N_TEXTS; i++) {
      tesela_xla_shape shape;
      tesela_layout layout;
      need(tesela_xla_parse(texts[i], c->length[i], TESELA_XLA_STRICT, &shape, NULL, NULL), texts[i]);
      need(tesela_xla_to_layout(&shape, &layout, NULL), texts[i]);
      c->sum += layout.n_digits;
    }
}

int main(void) {
  static text_case c;
  for (int i = 0; i < N_TEXTS; i++) {
    char text[256];
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer writer = tesela_buffer_writer(&buffer);
    c.length[i] = strlen(texts[i]);
    need(tesela_xla_parse(texts[i], c.length[i], TESELA_XLA_STRICT, &c.shape[i], NULL, NULL), texts[i]);
    need(tesela_xla_print(&c.shape[i], true, &writer, NULL), texts[i]);
    if (strcmp(text, texts[i]) != 0 && strcmp(text, "f32[]") != 0) need(TESELA_E_INVALID, texts[i]);
  }
  double units = (double)ROUNDS * N_TEXTS;
  bench_way ways[] = {
      {"one pass over the bytes", touch, units, 0},
      {"tesela_xla_parse", read_texts, units, 0},
      {"tesela_xla_print", print_texts, units, 0},
      {"tesela_xla_parse + _size", read_sizes, units, 0},
      {"tesela_xla_parse + _to_layout", read_layouts, units, 0},
  };
  bench_compare("layout texts, ns a text", ways, sizeof ways / sizeof ways[0], &c);
  bench_figure("text.read_millions", 1000.0 / ways[1].ns);
  return 0;
}
