/* SPDX-License-Identifier: Apache-2.0 */
/* support_hlo_run.c - see support_hlo_run.h. */
#include "support_hlo_run.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_graph_text.h"

int64_t hlo_below(hlo_case *c, int64_t n) {
  c->state ^= c->state << 13;
  c->state ^= c->state >> 7;
  c->state ^= c->state << 17;
  return (int64_t)(c->state % (uint64_t)n);
}

int64_t hlo_count(const hlo_tensor *t) {
  int64_t n = 1;
  for (int32_t d = 0; d < t->rank; d++) n *= t->shape[d];
  return n;
}

bool hlo_step(int32_t rank, const int64_t *shape, int64_t *index) {
  for (int32_t d = rank - 1; d >= 0; d--) {
    if (++index[d] < shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

int64_t *hlo_at(hlo_tensor *t, const int64_t *index) {
  int64_t place = 0;
  for (int32_t d = 0; d < t->rank; d++) place = place * t->shape[d] + index[d];
  assert_true(place >= 0 && place < HLO_MOST);
  return &t->at[place];
}

bool hlo_inside(const hlo_tensor *t, const int64_t *index) {
  for (int32_t d = 0; d < t->rank; d++)
    if (index[d] < 0 || index[d] >= t->shape[d]) return false;
  return true;
}

void hlo_fill(hlo_case *c, hlo_tensor *t, int64_t below) {
  int64_t n = hlo_count(t);
  assert_true(n <= HLO_MOST);
  for (int64_t i = 0; i < n; i++) t->at[i] = hlo_below(c, below);
}

void hlo_put(hlo_case *c, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(c->text + c->length, sizeof c->text - c->length, format, args);
  va_end(args);
  assert_true(n >= 0 && c->length + (size_t)n < sizeof c->text);
  c->length += (size_t)n;
}

void hlo_put_list(hlo_case *c, const char *key, int32_t n, const int32_t *list) {
  hlo_put(c, ", %s={", key);
  for (int32_t i = 0; i < n; i++) hlo_put(c, "%s%" PRId32, i ? "," : "", list[i]);
  hlo_put(c, "}");
}

void hlo_shuffle(hlo_case *c, int32_t n, int32_t *list) {
  for (int32_t i = 0; i < n; i++) list[i] = i;
  for (int32_t i = n - 1; i > 0; i--) {
    int32_t k = (int32_t)hlo_below(c, i + 1), swap = list[i];
    list[i] = list[k];
    list[k] = swap;
  }
}

/* ---- the module ---- */

static size_t put_shape(char *text, size_t room, const char *type, const hlo_tensor *t) {
  size_t n = (size_t)snprintf(text, room, "%s[", type);
  for (int32_t d = 0; d < t->rank; d++)
    n += (size_t)snprintf(text + n, room - n, "%s%" PRId64, d ? "," : "", t->shape[d]);
  return n + (size_t)snprintf(text + n, room - n, "]");
}

static void write_module(const hlo_case *c, char *text, size_t room) {
  size_t n =
      (size_t)snprintf(text, room, "HloModule m\n\n%s\nENTRY main {\n", c->in_front ? c->in_front : "");
  for (int32_t k = 0; k < c->n; k++) {
    n += (size_t)snprintf(text + n, room - n, "  p%d = ", (int)k);
    n += put_shape(text + n, room - n, c->index[k] ? "s32" : "f32", &c->in[k]);
    n += (size_t)snprintf(text + n, room - n, " parameter(%d)\n", (int)k);
  }
  n += (size_t)snprintf(
      text + n, room - n,
      "  zero = f32[] constant(0)\n  least = f32[] constant(-inf)\n%s  ROOT r = ", c->lines ? c->lines : "");
  n += put_shape(text + n, room - n, c->want_index ? "s32" : "f32", &c->want);
  n += (size_t)snprintf(text + n, room - n, " %s\n}\n", c->text);
  assert_true(n < room);
}

/* Inputs in the types of the module. */
static void *input_of(const hlo_tensor *t, bool index) {
  int64_t n = hlo_count(t);
  float *data = malloc((size_t)n * 4 + 4);
  assert_non_null(data);
  for (int64_t i = 0; i < n; i++) {
    int32_t whole = (int32_t)t->at[i];
    float number = (float)t->at[i];
    memcpy(&data[i], index ? (void *)&whole : (void *)&number, 4);
  }
  return data;
}

static void run(hlo_case *c, const tesela_graph *graph, const tesela_target *target, bool plain,
                const char *name, uint64_t number, const char *text) {
  const void *inputs[HLO_TENSORS];
  void *outputs[1];
  int64_t n = hlo_count(&c->want);
  float *out = malloc((size_t)n * 4 + 4);
  assert_non_null(out);
  outputs[0] = out;
  for (int32_t k = 0; k < c->n; k++) inputs[k] = input_of(&c->in[k], c->index[k]);
  tesela_error err = {.message = ""};
  tesela_graph_run_facts facts;
  tesela_graph_run_options options = {.plain = plain};
  if (tesela_graph_run(graph, target, inputs, outputs, &options, &facts, &err) != TESELA_OK)
    fail_msg("%s %" PRIu64 "%s: %s\n%s", name, number, plain ? "" : ", tiled", err.message, text);
  for (int64_t i = 0; i < n; i++) {
    int32_t whole;
    memcpy(&whole, &out[i], sizeof whole);
    double have = c->want_index ? whole : (double)out[i];
    if (have != (double)c->want.at[i])
      fail_msg("%s %" PRIu64 "%s: element %" PRId64 " is %g, not %" PRId64 "\n%s", name, number,
               plain ? "" : ", tiled", i, have, c->want.at[i], text);
  }
  if (facts.poison_read != 0) fail_msg("%s %" PRIu64 ": padding was read\n%s", name, number, text);
  for (int32_t k = 0; k < c->n; k++) free((void *)(uintptr_t)inputs[k]);
  free(out);
}

void hlo_check(hlo_case *c, const char *name, uint64_t number) {
  char text[16384];
  tesela_graph *graph = NULL, *laid_out = NULL;
  tesela_propagation *p = NULL;
  tesela_graph_read_facts facts;
  tesela_error err = {.message = ""};
  tesela_target target;
  write_module(c, text, sizeof text);
  if (tesela_graph_read_hlo(&graph, text, strlen(text), NULL, NULL, &facts, &err) != TESELA_OK)
    fail_msg("%s %" PRIu64 ": %s\n%s", name, number, err.message, text);
  if (facts.fallbacks != 0) fail_msg("%s %" PRIu64 ": a fallback\n%s", name, number, text);
  run(c, graph, NULL, true, name, number, text);
  graph_round_trip(graph, name);
  assert_int_equal(tesela_target_plain(&target, 16 << hlo_below(c, 3), &err), TESELA_OK);
  tesela_propagate_options options = {
      .mode = TESELA_PROPAGATE_AUTO, .spread = true, .compact = true, .copies = true, .effort = 2000};
  if (tesela_graph_propagate(&p, graph, &target, &options, &err) != TESELA_OK ||
      tesela_graph_apply(&laid_out, p, &err) != TESELA_OK)
    fail_msg("%s %" PRIu64 ": no layouts: %s\n%s", name, number, err.message, text);
  run(c, laid_out, &target, false, name, number, text);
  graph_round_trip(laid_out, name);
  tesela_graph_destroy(laid_out);
  tesela_propagation_destroy(p);
  tesela_graph_destroy(graph);
}
