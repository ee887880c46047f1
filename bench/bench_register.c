/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_register.c - register layouts: algebra, questions, plans of conversions. A table of goals and medians.
 *
 * Every result is checked before it is timed. Goals: compose and divide below 1 us, a thread, a local id or an element below 50
 * ns, a plan for 128x128 of f16 over 128 threads below 1 ms.
 */
#include "timing.h"

#include <inttypes.h>
#include <string.h>

#include <tesela/tesela.h>

enum { CALLS = 1 << 10 };

static struct {
  tesela_register outer, inner, whole, rows, fragments, warps, out;
  int64_t index[CALLS][2], thread[CALLS], local[CALLS], sum;
} b;

static void must(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "bench_register: %s is wrong\n", what);
  exit(1);
}

static void parse(tesela_register *out, const char *text) {
  must(tesela_register_parse(text, strlen(text), out, NULL) == TESELA_OK, text);
}

static bool same(const tesela_register *a, const tesela_register *c) {
  return a->rank == c->rank && a->n_modes == c->n_modes && a->n_spatial == c->n_spatial &&
         a->n_local == c->n_local && memcmp(a->shape, c->shape, (size_t)a->rank * sizeof *a->shape) == 0 &&
         memcmp(a->mode_shape, c->mode_shape, (size_t)a->n_modes * sizeof *a->mode_shape) == 0 &&
         memcmp(a->spatial_modes, c->spatial_modes, (size_t)a->n_spatial * sizeof *a->spatial_modes) == 0 &&
         memcmp(a->local_modes, c->local_modes, (size_t)a->n_local * sizeof *a->local_modes) == 0;
}

static void compose(void *data) {
  (void)data;
  for (int i = 0; i < CALLS; i++) tesela_register_compose(&b.out, &b.outer, &b.inner, NULL);
}

static void divide(void *data) {
  (void)data;
  for (int i = 0; i < CALLS; i++) tesela_register_divide(&b.out, &b.whole, &b.inner, NULL);
}

static void get_spatial(void *data) {
  (void)data;
  for (int i = 0; i < CALLS; i++) tesela_register_get_spatial(&b.whole, b.index[i], 0, &b.thread[i], NULL);
}

static void get_local(void *data) {
  (void)data;
  for (int i = 0; i < CALLS; i++) tesela_register_get_local(&b.whole, b.index[i], &b.local[i], NULL);
}

static void get_global(void *data) {
  (void)data;
  for (int i = 0; i < CALLS; i++) {
    int64_t index[2];
    tesela_register_get_global(&b.whole, b.thread[i], b.local[i], index, NULL);
    b.sum += index[0] + index[1];
  }
}

static void plan(const tesela_register *dst, const tesela_register *src, tesela_exchange_kind kind) {
  tesela_exchange *made;
  must(tesela_exchange_create(&made, dst, src, 16, NULL, NULL, NULL) == TESELA_OK, "a plan");
  must(tesela_exchange_facts_of(made).kind == kind, "the kind of a plan");
  tesela_exchange_destroy(made);
}

static void plan_nothing(void *data) {
  (void)data;
  plan(&b.fragments, &b.fragments, TESELA_EXCHANGE_NOTHING);
}

static void plan_shuffle(void *data) {
  (void)data;
  plan(&b.rows, &b.fragments, TESELA_EXCHANGE_SHUFFLE);
}

static void plan_shared(void *data) {
  (void)data;
  plan(&b.warps, &b.fragments, TESELA_EXCHANGE_SHARED);
}

/* A plan that was made converts each element: its number is its value. */
static void check_plan(const tesela_register *dst, const tesela_register *src) {
  static uint16_t from[1 << 14], to[1 << 14];
  tesela_exchange *made;
  must(tesela_exchange_create(&made, dst, src, 16, NULL, NULL, NULL) == TESELA_OK, "a plan");
  for (int side = 0; side < 2; side++) {
    const tesela_register *layout = side ? dst : src;
    for (int64_t t = 0; t < layout->spatial_size; t++)
      for (int64_t l = 0; l < layout->local_size; l++) {
        int64_t index[2], at = t * layout->local_size + l;
        tesela_register_get_global(layout, t, l, index, NULL);
        uint16_t value = (uint16_t)(index[0] * 128 + index[1]);
        if (side)
          must(to[at] == value, "a converted value");
        else
          from[at] = value;
      }
    if (!side) must(tesela_exchange_run(made, to, from, NULL, NULL) == TESELA_OK, "a run");
  }
  tesela_exchange_facts facts = tesela_exchange_facts_of(made);
  printf("  plan: kind %d, unit %" PRId64 ", %" PRId64 " rounds (at least %" PRId64 "), %" PRId64
         " bytes shared\n",
         (int)facts.kind, facts.unit, facts.rounds, facts.least_rounds, facts.shared_bytes);
  tesela_exchange_destroy(made);
}

static void prepare(void) {
  parse(&b.outer, "spatial(2,2).local(4,8)");
  parse(&b.inner, "column_local(2,2).spatial(8,4).local(1,2)");
  parse(&b.whole, "spatial(2,2).local(4,8).column_local(2,2).spatial(8,4).local(1,2)");
  parse(&b.fragments, "spatial(4,1).local(2,8).column_local(2,2).spatial(8,4).local(1,2)");
  parse(&b.rows, "spatial(4,1).spatial(32,1).local(1,128)");
  parse(&b.warps, "spatial(1,4).spatial(32,1).local(4,32)");
  tesela_register out;
  must(tesela_register_compose(&out, &b.outer, &b.inner, NULL) == TESELA_OK && same(&out, &b.whole),
       "compose");
  must(tesela_register_divide(&out, &b.whole, &b.inner, NULL) == TESELA_OK && same(&out, &b.outer), "divide");
  uint64_t random = 1;
  for (int i = 0; i < CALLS; i++)
    for (int d = 0; d < 2; d++) {
      random = random * UINT64_C(6364136223846793005) + 1;
      b.index[i][d] = (int64_t)(random >> 33) % b.whole.shape[d];
    }
  get_spatial(NULL);
  get_local(NULL);
  for (int i = 0; i < CALLS; i++) {
    int64_t back[2];
    tesela_register_get_global(&b.whole, b.thread[i], b.local[i], back, NULL);
    must(back[0] == b.index[i][0] && back[1] == b.index[i][1], "an index");
  }
  check_plan(&b.rows, &b.fragments);
  check_plan(&b.warps, &b.fragments);
}

int main(void) {
  static const struct {
    const char *name;
    void (*work)(void *);
    double units, goal;
    const char *figure;
  } rows[] = {
      {"compose", compose, CALLS, 1000, "register.algebra_ns"},
      {"divide", divide, CALLS, 1000, "register.algebra_ns"},
      {"get_spatial", get_spatial, CALLS, 50, "register.question_ns"},
      {"get_local", get_local, CALLS, 50, "register.question_ns"},
      {"get_global", get_global, CALLS, 50, "register.question_ns"},
      {"exchange_create, nothing", plan_nothing, 1, 1e6, "register.plan_ns"},
      {"exchange_create, shuffle", plan_shuffle, 1, 1e6, "register.plan_ns"},
      {"exchange_create, shared", plan_shared, 1, 1e6, "register.plan_ns"},
  };
  enum { N = sizeof rows / sizeof rows[0] };
  bench_way ways[N];
  prepare();
  for (int i = 0; i < N; i++) ways[i] = (bench_way){rows[i].name, rows[i].work, rows[i].units, 0};
  bench_compare("register layouts, 128x128 over 128 threads", ways, N, NULL);
  printf("%-28s %12s %12s\n", "", "goal ns", "median ns");
  for (int i = 0; i < N; i++) printf("%-28s %12.0f %12.1f\n", rows[i].name, rows[i].goal, ways[i].ns);
  for (int i = 0; i < N; i++) bench_figure(rows[i].figure, ways[i].ns);
  return 0;
}
