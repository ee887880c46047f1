/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_graph_text.c - programs as lines for tests, and round trips through HLO text.
 */
#include "support_graph_text.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct lines {
  char *text;
  size_t used, room;
} lines;

__attribute__((format(printf, 2, 3))) static void put(lines *l, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(l->text + l->used, l->room - l->used, format, args);
  va_end(args);
  if (n < 0 || (size_t)n >= l->room - l->used) fail_msg("a program that does not fit its text");
  l->used += (size_t)n;
}

static void put64(lines *l, const char *word, int32_t n, const int64_t *list) {
  put(l, "%s", word);
  for (int32_t i = 0; i < n; i++) put(l, "%s%" PRId64, i ? "," : " ", list[i]);
}
static void put32(lines *l, const char *word, int32_t n, const int32_t *list) {
  put(l, "%s", word);
  for (int32_t i = 0; i < n; i++) put(l, "%s%" PRId32, i ? "," : " ", list[i]);
}

static void put_attributes(lines *l, const tesela_graph *graph, const tesela_node *node) {
  if (node->op == TESELA_OP_CONSTANT) put(l, " %g", node->value);
  if (node->n_dims > 0) put32(l, " dims", node->n_dims, node->dim);
  if (node->reverse) put(l, " reverse");
  if (node->op == TESELA_OP_SLICE || node->op == TESELA_OP_WRITE) put64(l, " start", node->rank, node->start);
  if (node->op == TESELA_OP_SLICE || node->op == TESELA_OP_WRITE || node->op == TESELA_OP_PAD)
    put64(l, " step", node->rank, node->step);
  if (node->op == TESELA_OP_PAD) put64(l, " low", node->rank, node->low);
  if (node->op == TESELA_OP_PAD) put64(l, " high", node->rank, node->high);
  if (node->op == TESELA_OP_POOL) {
    put64(l, " length", node->rank, node->length);
    put64(l, " step", node->rank, node->step);
    put64(l, " low", node->rank, node->low);
    put64(l, " high", node->rank, node->high);
    put64(l, " dilation", node->rank, node->dilation);
    put64(l, " x_dilation", node->rank, node->x_dilation);
  }
  if (node->op == TESELA_OP_MATMUL) {
    put32(l, " x", tesela_graph_node(graph, node->operand[0])->rank, node->label[0]);
    put32(l, " y", tesela_graph_node(graph, node->operand[1])->rank, node->label[1]);
  }
  if (node->op == TESELA_OP_CONV2D) {
    const tesela_conv2d *conv = &node->conv;
    const int32_t groups[3] = {conv->x[5], conv->w[5], conv->result[5]};
    int32_t n = conv->spatial;
    put32(l, " conv", 2 + n, conv->x);
    put32(l, "", 2 + n, conv->w);
    put32(l, "", 2 + n, conv->result);
    if (conv->grouped) put32(l, " groups", 3, groups);
    put64(l, " stride", n, conv->stride);
    put64(l, " dilation", n, conv->dilation);
    if (conv->x_dilation[0] * conv->x_dilation[1] * conv->x_dilation[2] != 1)
      put64(l, " x_dilation", n, conv->x_dilation);
    put64(l, " low", n, conv->low);
    put64(l, " high", n, conv->high);
  }
}

void graph_describe(const tesela_graph *graph, char *text, size_t room) {
  lines l = {text, 0, room};
  *text = '\0';
  for (int32_t k = 0; k < tesela_graph_count(graph); k++) {
    const tesela_node *node = tesela_graph_node(graph, k);
    put(&l, "%s %s", node->name, tesela_op_name(node->op));
    if (node->fn != TESELA_FN_NONE) put(&l, " %s", tesela_fn_name(node->fn));
    if (node->opcode) put(&l, " %s", node->opcode);
    put(&l, " %s[", tesela_dtype_name(node->dtype));
    for (int32_t d = 0; d < node->rank; d++) put(&l, "%s%" PRId64, d ? "," : "", node->shape[d]);
    put(&l, "]");
    if (node->op != TESELA_OP_INPUT && node->op != TESELA_OP_CONSTANT) {
      put(&l, "(");
      for (int32_t i = 0; i < node->n_operands; i++) put(&l, "%s%" PRId32, i ? " " : "", node->operand[i]);
      put(&l, ")");
    }
    put_attributes(&l, graph, node);
    put(&l, "%s\n", node->output ? " out" : "");
  }
}

/* ---- round trips ------- */

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

bool graph_same_node(const tesela_node *a, const tesela_node *b, const char **what) {
#define SAME(field) (*what = #field, memcmp(&a->field, &b->field, sizeof a->field) == 0)
  if (!SAME(op) || !SAME(fn) || !SAME(dtype) || !SAME(bits) || !SAME(rank) || !SAME(shape) ||
      !SAME(n_operands) || !SAME(buffer) || !SAME(offset) || !SAME(stride) || !SAME(host_stride) ||
      !SAME(view) || !SAME(in_place) || !SAME(output) || !SAME(n_dims) || !SAME(n_labels) || !SAME(dim) ||
      !SAME(start) || !SAME(step) || !SAME(low) || !SAME(high) || !SAME(length) || !SAME(dilation) ||
      !SAME(x_dilation) || !SAME(label) || !SAME(conv) || !SAME(value) || !SAME(keepdim) || !SAME(reverse) ||
      !SAME(stick))
    return false;
#undef SAME
  *what = "name";
  if (!same_text(a->name, b->name)) return false;
  *what = "opcode";
  if (!same_text(a->opcode, b->opcode)) return false;
  *what = "operand";
  if (memcmp(a->operand, b->operand, (size_t)a->n_operands * sizeof *a->operand) != 0) return false;
  *what = "layout";
  return !a->layout == !b->layout && (!a->layout || tesela_device_equal(a->layout, b->layout));
}

void graph_round_trip(const tesela_graph *graph, const char *name) {
  size_t room = 1 << 20;
  char *text = malloc(room);
  assert_non_null(text);
  tesela_buffer buffer = {text, room, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_error err = {.message = ""};
  tesela_graph *back = NULL;
  if (tesela_graph_print_hlo(graph, "again", &to, &err) != TESELA_OK)
    fail_msg("%s: not printed: %s", name, err.message);
  assert_true(buffer.length < room);
  tesela_graph_read_facts facts;
  if (tesela_graph_read_hlo(&back, text, buffer.length, NULL, NULL, &facts, &err) != TESELA_OK)
    fail_msg("%s: the print is refused: %s\n%.200s", name, err.message, err.at >= 0 ? text + err.at : "");
  if (tesela_graph_count(back) != tesela_graph_count(graph))
    fail_msg("%s: %d nodes become %d\n%s", name, (int)tesela_graph_count(graph),
             (int)tesela_graph_count(back), text);
  for (int32_t k = 0; k < tesela_graph_count(graph); k++) {
    const char *what = "";
    const tesela_node *node = tesela_graph_node(graph, k);
    if (!graph_same_node(node, tesela_graph_node(back, k), &what))
      fail_msg("%s: %s of node %d, %s, differs in\n%.8000s", name, what, (int)k, node->name, text);
  }
  tesela_graph_destroy(back);
  free(text);
}
