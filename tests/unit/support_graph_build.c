/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_graph_build.c - small programs for tests.
 */
#include "support_graph_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const char *build_read(const char *text, build_shape *out) {
  const char *open = strchr(text, '[');
  if (!open) fail_msg("no shape in '%s'", text);
  *out = (build_shape){.dtype =
                           *text == '-' ? TESELA_DTYPE_NONE : tesela_dtype_find(text, (size_t)(open - text))};
  const char *p = open + 1;
  while (*p != ']') {
    char *end;
    out->shape[out->rank++] = strtoll(p, &end, 10);
    p = *end == ',' ? end + 1 : end;
  }
  for (p++; *p == ' '; p++) {
  }
  return p;
}

int32_t build_input(tesela_graph *graph, const char *name, const char *shape) {
  build_shape s;
  build_read(shape, &s);
  int32_t node = -1;
  tesela_error err = {.message = ""};
  tesela_node_spec spec = {.op = TESELA_OP_INPUT,
                           .name = name,
                           .dtype = s.dtype,
                           .bits = 16,
                           .rank = s.rank,
                           .shape = s.shape,
                           .stick = TESELA_STICK_FREE};
  if (tesela_graph_add(graph, &spec, &node, &err) != TESELA_OK) fail_msg("input %s: %s", shape, err.message);
  return node;
}

int32_t build_inputs(tesela_graph *graph, const char *shapes, int32_t *node) {
  int32_t n = 0;
  while (*shapes) {
    char name[16];
    build_shape s;
    const char *rest = build_read(shapes, &s);
    snprintf(name, sizeof name, "x%d", (int)n);
    node[n++] = build_input(graph, name, shapes);
    shapes = rest;
  }
  return n;
}

void build_lay_out(tesela_graph *graph, const tesela_target *target, int32_t node, int32_t stick) {
  const tesela_node *of = tesela_graph_node(graph, node);
  tesela_device_host host;
  tesela_device_layout layout;
  tesela_error err = {.message = ""};
  if (tesela_device_host_of(&host, target, of->dtype, of->rank, of->shape, &err) != TESELA_OK ||
      tesela_device_with_stick(&layout, &host, target, stick, &err) != TESELA_OK ||
      tesela_graph_set_layout(graph, node, &layout, &err) != TESELA_OK)
    fail_msg("stick %d of %s: %s", (int)stick, of->name, err.message);
}

void build_lay_out_all(tesela_graph *graph, const tesela_target *target) {
  for (int32_t k = 0; k < tesela_graph_count(graph); k++) {
    const tesela_node *node = tesela_graph_node(graph, k);
    tesela_device_layout layout;
    tesela_error err = {.message = ""};
    if (node->buffer != k) continue;
    if (tesela_device_default(&layout, target, node->dtype, node->rank, node->shape, &err) != TESELA_OK ||
        tesela_graph_set_layout(graph, k, &layout, &err) != TESELA_OK)
      fail_msg("layout of %s: %s", node->name, err.message);
  }
}

int32_t build_node(tesela_graph *graph, const tesela_target *target, tesela_node_spec spec, int32_t stick) {
  int32_t node = -1;
  tesela_error err = {.message = ""};
  if (tesela_graph_add(graph, &spec, &node, &err) != TESELA_OK) fail_msg("node: %s", err.message);
  if (tesela_graph_node(graph, node)->buffer == node) build_lay_out(graph, target, node, stick);
  return node;
}

int32_t build_laid_out(tesela_graph *graph, const tesela_target *target, const char *name, const char *shape,
                       int32_t stick) {
  int32_t node = build_input(graph, name, shape);
  build_lay_out(graph, target, node, stick);
  return node;
}

bool build_is(const tesela_graph *graph, int32_t k, const char *shape) {
  build_shape s;
  build_read(shape, &s);
  const tesela_node *node = tesela_graph_node(graph, k);
  if (!node || node->dtype != s.dtype || node->rank != s.rank) return false;
  for (int32_t d = 0; d < s.rank; d++)
    if (node->shape[d] != s.shape[d]) return false;
  return true;
}
