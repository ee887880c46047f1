/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_cute.c - composition of CuTe layouts, texts read before. Goal: below 1 us. In the first five cases the steps of B fall on digits
 * of A; in the others they do not.
 */
#include "timing.h"

#include <string.h>

#include <tesela/tesela.h>

enum { N = 4096 };

typedef struct composition {
  const char *a, *b;
  tesela_cute left, right, result;
} composition;

static void compose(void *data) {
  composition *c = data;
  for (int k = 0; k < N; k++) (void)tesela_cute_compose(&c->left, &c->right, &c->result, NULL, NULL);
}

int main(void) {
  composition cases[] = {
      {.a = "20:2", .b = "(5,4):(4,1)"},
      {.a = "(10,2):(16,4)", .b = "(5,4):(1,5)"},
      {.a = "((4,8),(2,4)):((1,16),(8,128))", .b = "((2,4),8):((8,1),32)"},
      {.a = "Sw<3,3,3> o 0 o (64,64):(64,1)", .b = "((8,4),(16,8)):((64,1),(512,8))"},
      {.a = "(1000000,1000000):(1000008,1)", .b = "1000000000000:1"},
      {.a = "(4,6,8):(2,3,5)", .b = "6:3"},
      {.a = "(8,2,2):(1,5,21)", .b = "8:7"},
      {.a = "(1000000,1000000):(1000008,1)", .b = "1000000000:7"},
      {.a = "(1000000000,2,2):(1,7,1000000007)", .b = "1000000000:999999999"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    composition *c = &cases[k];
    char title[160];
    bench_way way = {"tesela_cute_compose", compose, N, 0};
    if (tesela_cute_parse(&c->left, c->a, strlen(c->a), NULL) != TESELA_OK ||
        tesela_cute_parse(&c->right, c->b, strlen(c->b), NULL) != TESELA_OK)
      return 1;
    snprintf(title, sizeof title, "%s o %s", c->a, c->b);
    bench_compare(title, &way, 1, c);
    bench_figure(k < 5 ? "cute.compose_ns" : "cute.compose_other_ns", way.ns);
  }
  return 0;
}
