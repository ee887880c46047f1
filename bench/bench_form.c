/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_form.c - canonical form, comparison and runs of layouts with 10^12 elements, which must not be gone through.
 */
#include "timing.h"

#include <string.h>

#include <tesela/tesela.h>

enum { ROUNDS = 2000 };

typedef struct form_case {
  tesela_layout a, b;
  int64_t sum;
} form_case;

static void copy_value(void *data) {
  form_case *c = data;
  tesela_layout copy;
  for (int r = 0; r < ROUNDS; r++) {
    copy = r % 2 ? c->a : c->b;
    __asm__ volatile("" : : "r"(&copy) : "memory"); /* the copy is made */
    c->sum += copy.n_digits;
  }
}

static void canonical(void *data) {
  form_case *c = data;
  tesela_layout form;
  for (int r = 0; r < ROUNDS; r++)
    if (tesela_layout_canonical(&c->a, &form, NULL) == TESELA_OK) c->sum += form.n_digits;
}

static void compare(void *data) {
  form_case *c = data;
  tesela_difference difference;
  for (int r = 0; r < ROUNDS; r++)
    if (tesela_layout_compare(&c->a, &c->b, &difference, NULL) == TESELA_OK) c->sum += difference.same;
}

static void run(void *data) {
  form_case *c = data;
  tesela_run run;
  for (int r = 0; r < ROUNDS; r++)
    if (tesela_layout_run(&c->a, r, &run, NULL) == TESELA_OK) c->sum += run.length;
}

static void make(const char *text, tesela_layout *layout) {
  tesela_xla_shape shape;
  if (tesela_xla_parse(text, strlen(text), TESELA_XLA_STRICT, &shape, NULL, NULL) == TESELA_OK &&
      tesela_xla_to_layout(&shape, layout, NULL) == TESELA_OK)
    return;
  fprintf(stderr, "bench_form: %s failed\n", text);
  exit(1);
}

int main(void) {
  static form_case c;
  static const char *const pairs[][2] = {
      {"f32[1000000,1000000]{1,0:T(8,128)}", "f32[1000000,1000000]{1,0:T(16,128)}"},
      {"bf16[1000000,8000,128]{2,1,0:T(8,128)(2,1)}", "bf16[1000000,8000,128]{2,1,0:T(16,128)(8,128)(2,1)}"},
      {"f32[7812500000,128]{1,0:T(8,128)}", "f32[7812500000,128]{1,0}"},
      {"f32[1000000,1000000]{1,0:T(*,3)}", "f32[1000000,1000000]{1,0}"},
  };
  for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
    make(pairs[k][0], &c.a);
    make(pairs[k][1], &c.b);
    bench_way ways[] = {
        {"copy of a layout value", copy_value, ROUNDS, 0},
        {"tesela_layout_canonical", canonical, ROUNDS, 0},
        {"tesela_layout_compare", compare, ROUNDS, 0},
        {"tesela_layout_run", run, ROUNDS, 0},
    };
    printf("%s and %s\n", pairs[k][0], pairs[k][1]);
    bench_compare("  ns a call", ways, sizeof ways / sizeof ways[0], &c);
    bench_figure("form.compare_ns", ways[2].ns);
  }
  return 0;
}
