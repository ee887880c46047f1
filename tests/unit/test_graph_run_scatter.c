/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_run_scatter.c - what a scatter leaves out: values of index -1, and no others.
 *
 * The expected values come from a loop over the values in row-major order. Each program runs plain, on tiled buffers, and in one planned
 * arena, in place and not; dims and values of more elements than a row of the executor.
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

#include "support_graph_build.h"
#include "support_graph_random.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

enum { ROUNDS = 60 };

/* x of `front` by `extent` by `back`, values of front by n by back, n indices: in one dim or in two. */
typedef struct scattering {
  int64_t front, extent, back, n, columns; /* columns: of the indices, 0: they have one dim */
  bool add, in_place, whole;               /* whole: s32, else f32 */
  int32_t *index;
  float *x, *values, *out, *want;
} scattering;

static uint64_t state;

static void *numbers(int64_t n, bool whole) {
  float *data = malloc((size_t)n * sizeof *data + 1);
  assert_non_null(data);
  for (int64_t k = 0; k < n; k++) {
    int32_t small = (int32_t)random_below(&state, 2001) - 1000;
    float real = (float)small + (float)random_below(&state, 1 << 20) / (1 << 20);
    if (whole)
      memcpy(&data[k], &small, 4);
    else
      data[k] = real;
  }
  return data;
}

/* By the definition: sums are rounded each time; integers are as they are. */
static void expect(const scattering *s) {
  memcpy(s->want, s->x, (size_t)(s->front * s->extent * s->back) * 4);
  for (int64_t f = 0; f < s->front; f++)
    for (int64_t i = 0; i < s->n; i++)
      for (int64_t b = 0; b < s->back && s->index[i] >= 0; b++) {
        float *to = &s->want[(f * s->extent + s->index[i]) * s->back + b];
        float value = s->values[(f * s->n + i) * s->back + b];
        uint32_t whole[2];
        memcpy(&whole[0], to, 4);
        memcpy(&whole[1], &value, 4);
        whole[0] += whole[1];
        if (!s->add)
          *to = value;
        else if (s->whole)
          memcpy(to, &whole[0], 4);
        else
          *to = (float)((double)*to + (double)value);
      }
}

/* In place: into a copy, since an input's buffer may be given to others. */
static tesela_graph *build(const scattering *s) {
  tesela_graph *graph;
  char text[200];
  int32_t input[3], o;
  const char *type = s->whole ? "s32" : "f32";
  int64_t front = s->front, back = s->back;
  OK(tesela_graph_create(&graph, NULL, &e_));
  char of[40];
  if (s->columns > 0)
    snprintf(of, sizeof of, "%d,%d", (int)(s->n / s->columns), (int)s->columns);
  else
    snprintf(of, sizeof of, "%d", (int)s->n);
  snprintf(text, sizeof text, "%s[%d,%d,%d] s32[%s] %s[%d,%s,%d]", type, (int)front, (int)s->extent,
           (int)back, of, type, (int)front, of, (int)back);
  build_inputs(graph, text, input);
  if (s->in_place)
    OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_CLONE, NODES(input[0])}, &input[0], &e_));
  OK(tesela_graph_add(graph,
                      &(tesela_node_spec){.op = TESELA_OP_SCATTER,
                                          .fn = s->add ? TESELA_FN_ADD : TESELA_FN_NONE,
                                          .in_place = s->in_place,
                                          NODES(input[0], input[1], input[2]),
                                          DIMS(1)},
                      &o, &e_));
  OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_CLONE, NODES(o)}, &o, &e_));
  OK(tesela_graph_add_output(graph, o, &e_));
  return graph;
}

static tesela_status run(const scattering *s, tesela_graph *graph, const tesela_target *target,
                         const tesela_graph_run_options *options, tesela_error *err) {
  tesela_graph_run_facts facts = {.poison_read = 0};
  memset(s->out, 0x5a, (size_t)(s->front * s->extent * s->back) * 4);
  tesela_status status = tesela_graph_run(graph, target, (const void *const[]){s->x, s->index, s->values},
                                          (void *const[]){s->out}, options, &facts, err);
  assert_int_equal(facts.poison_read, 0);
  return status;
}

static void lay_out(tesela_graph *graph, const tesela_target *target) {
  for (int32_t k = 0; k < tesela_graph_count(graph); k++) {
    const tesela_node *node = tesela_graph_node(graph, k);
    tesela_device_layout layout;
    if (node->buffer != k) continue;
    random_layout(&layout, target, node->dtype, node->rank, node->shape, &state);
    OK(tesela_graph_set_layout(graph, k, &layout, &e_));
  }
}

/* Plain, tiled, and in an arena. */
static void all_ways(const scattering *s, const char *name) {
  static const char *const ways[] = {"plain", "tiled", "arena"};
  tesela_target target;
  tesela_graph *graph = build(s);
  tesela_graph_memory *memory;
  OK(tesela_target_plain(&target, INT64_C(8) << random_below(&state, 4), &e_));
  expect(s);
  lay_out(graph, &target);
  OK(tesela_graph_plan_memory(&memory, graph, &target, &(tesela_graph_memory_options){.inputs = true}, &e_));
  for (int32_t way = 0; way < 3; way++) {
    const tesela_graph_run_options options = {.plain = way == 0, .memory = way == 2 ? memory : NULL};
    OK(run(s, graph, &target, &options, &e_));
    if (memcmp(s->out, s->want, (size_t)(s->front * s->extent * s->back) * 4) != 0)
      fail_msg("%s, %s: x [%d,%d,%d], %d indices%s%s", name, ways[way], (int)s->front, (int)s->extent,
               (int)s->back, (int)s->n, s->add ? ", add" : "", s->in_place ? ", in place" : "");
  }
  tesela_graph_memory_destroy(memory);
  tesela_graph_destroy(graph);
}

static void begin(scattering *s) {
  int64_t elements = s->front * s->extent * s->back;
  s->x = numbers(elements, s->whole);
  s->values = numbers(s->front * s->n * s->back, s->whole);
  s->out = numbers(elements, s->whole);
  s->want = numbers(elements, s->whole);
  s->index = malloc((size_t)s->n * sizeof *s->index + 1);
  assert_non_null(s->index);
  for (int64_t i = 0; i < s->n; i++) s->index[i] = (int32_t)random_below(&state, s->extent + 1) - 1;
}

static void end(scattering *s) {
  free(s->x);
  free(s->values);
  free(s->out);
  free(s->want);
  free(s->index);
}

static void index_minus_one_is_nowhere(void **unused) {
  (void)unused;
  for (int32_t ways = 0; ways < 8; ways++) {
    scattering s = {.front = 2, .extent = 3, .back = 5, .n = 4};
    s.add = ways & 1, s.in_place = ways & 2, s.whole = ways & 4;
    begin(&s);
    memcpy(s.index, (const int32_t[]){-1, 2, -1, 2}, 4 * sizeof *s.index);
    all_ways(&s, "some");
    for (int32_t i = 0; i < 4; i++) s.index[i] = -1;
    all_ways(&s, "all");
    assert_memory_equal(s.out, s.x, 30 * 4);
    end(&s);
  }
}

static void random_ones(void **unused) {
  (void)unused;
  static const int64_t sizes[] = {1, 2, 63, 64, 65, 127, 129, 257};
  for (int32_t round = 0; round < ROUNDS; round++) {
    scattering s = {.front = 1 + random_below(&state, 3),
                    .extent = sizes[random_below(&state, 8)],
                    .back = sizes[random_below(&state, 3)],
                    .n = sizes[random_below(&state, 8)],
                    .add = random_below(&state, 2),
                    .in_place = random_below(&state, 2),
                    .whole = random_below(&state, 2)};
    if (random_below(&state, 2)) s.columns = 3, s.n = 3 * (s.n / 3 + 1);
    begin(&s);
    all_ways(&s, "random");
    end(&s);
  }
}

/* What is left out must be -1: all else outside is refused, and no output is written. A gather leaves out nothing. */
static void others_outside_are_refused(void **unused) {
  (void)unused;
  static const int32_t outside[] = {-2, 3, INT32_MIN, INT32_MAX};
  for (int32_t ways = 0; ways < 16; ways++) {
    scattering s = {.front = 1, .extent = 3, .back = 2, .n = 4, .add = ways & 1, .in_place = ways & 2};
    begin(&s);
    memcpy(s.index, (const int32_t[]){0, -1, outside[ways >> 2], 1}, 4 * sizeof *s.index);
    tesela_graph *graph = build(&s);
    tesela_error err = {.message = ""};
    assert_int_equal(run(&s, graph, NULL, &(tesela_graph_run_options){.plain = true}, &err),
                     TESELA_E_INVALID);
    assert_non_null(strstr(err.message, "0 to 2"));
    for (int32_t i = 0; i < 6; i++) assert_memory_equal(&s.out[i], "\x5a\x5a\x5a\x5a", 4);
    tesela_graph_destroy(graph);
    end(&s);
  }
  tesela_graph *graph;
  int32_t input[2], o;
  float x[3] = {1, 2, 3}, out[2] = {-7, -7};
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_inputs(graph, "f32[3] s32[2]", input);
  OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_GATHER, NODES(input[0], input[1])}, &o,
                      &e_));
  OK(tesela_graph_add_output(graph, o, &e_));
  assert_int_equal(tesela_graph_run(graph, NULL, (const void *const[]){x, (int32_t[]){0, -1}},
                                    (void *const[]){out}, &(tesela_graph_run_options){.plain = true}, NULL,
                                    NULL),
                   TESELA_E_INVALID);
  assert_true(out[0] == -7 && out[1] == -7);
  tesela_graph_destroy(graph);
}

int main(void) {
  state = first_seed() * UINT64_C(0x9e3779b97f4a7c15) + 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(index_minus_one_is_nowhere),
      cmocka_unit_test(random_ones),
      cmocka_unit_test(others_outside_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
