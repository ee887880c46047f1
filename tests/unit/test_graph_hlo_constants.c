/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_hlo_constants.c - in HLO text a constant seen through views is a constant: as the start of a fold, the value of a pad,
 * an offset, and as an operand whose lanes count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

static const char head[] =
    "HloModule m\n"
    "sum { a = f16[] parameter(0)\n b = f16[] parameter(1)\n ROOT c = f16[] add(a, b) }\n"
    "ENTRY e {\n x = f16[64,100] parameter(0)\n";

/* Ways to write the scalar z of a value, the last one a parameter, which is not a constant. */
static const char *const scalars[] = {
    " z = f16[] constant(%s)\n",
    " k = f16[1] constant({%s})\n z = f16[] reshape(k)\n",
    " k = f16[] constant(%s)\n w = f16[2,3] broadcast(k), dimensions={}\n"
    " s = f16[1,1] slice(w), slice={[1:2], [2:3]}\n z = f16[] reshape(s)\n",
    " k = f16[] constant(%s)\n w = f16[4,5] broadcast(k), dimensions={}\n t = f16[5,4] transpose(w), "
    "dimensions={1,0}\n s = f16[1,1] slice(t), slice={[4:5], [0:1]}\n z = f16[] bitcast(s)\n",
    " z = f16[] parameter(1)\n",
};
enum { SCALARS = sizeof scalars / sizeof *scalars };

static tesela_graph *graph_of(int scalar, const char *value, const char *tail) {
  char text[2048];
  size_t n = (size_t)snprintf(text, sizeof text, "%s", head);
  tesela_graph *graph;
  tesela_error err = {.message = ""};
  const char *way = scalars[scalar], *at = strstr(way, "%s");
  n += (size_t)snprintf(text + n, sizeof text - n, "%.*s%s%s", at ? (int)(at - way) : (int)strlen(way), way,
                        at ? value : "", at ? at + 2 : "");
  snprintf(text + n, sizeof text - n, "%s}\n", tail);
  if (tesela_graph_read_hlo(&graph, text, strlen(text), NULL, NULL, NULL, &err) != TESELA_OK)
    fail_msg("%s\n%s", err.message, text);
  return graph;
}

static const tesela_node *node_of(const tesela_graph *graph, const char *name) {
  return tesela_graph_node(graph, tesela_graph_find(graph, name));
}

/* A fold from 0 is the fold alone. */
static void starts_of_folds(void **state) {
  (void)state;
  for (int i = 0; i < SCALARS; i++) {
    tesela_graph *graph = graph_of(i, "0", " ROOT r = f16[64] reduce(x, z), dimensions={1}, to_apply=sum\n");
    assert_int_equal(node_of(graph, "r")->op, i + 1 < SCALARS ? TESELA_OP_REDUCE : TESELA_OP_POINTWISE);
    tesela_graph_destroy(graph);
  }
}

static void values_of_pads(void **state) {
  (void)state;
  for (int i = 0; i < SCALARS; i++) {
    tesela_graph *graph = graph_of(i, "7", " ROOT p = f16[66,100] pad(x, z), padding=1_1x0_0\n");
    const tesela_node *node = node_of(graph, "p");
    assert_int_equal(node->op, i + 1 < SCALARS ? TESELA_OP_PAD : TESELA_OP_WRITE);
    if (i + 1 < SCALARS) assert_true(node->value == 7);
    tesela_graph_destroy(graph);
  }
}

/* A constant operand of a product may lie in any stick, however it is written; a broadcast parameter lies where it lies. */
static void operands_of_products(void **state) {
  (void)state;
  for (int i = 0; i < SCALARS; i++) {
    tesela_graph *graph = graph_of(i, "2",
                                   " w2 = f16[100,64] broadcast(z), dimensions={}\n"
                                   " ROOT d = f16[64,64] dot(x, w2), lhs_contracting_dims={1}, "
                                   "rhs_contracting_dims={0}\n");
    const tesela_node *operand = tesela_graph_node(graph, node_of(graph, "d")->operand[1]);
    tesela_propagation *p;
    bool constant = i + 1 < SCALARS;
    assert_int_equal(operand->op, constant ? TESELA_OP_CONSTANT : TESELA_OP_EXPAND);
    if (constant) assert_true(operand->value == 2 && operand->shape[0] == 100 && operand->shape[1] == 64);
    OK(tesela_graph_propagate(&p, graph, tesela_target_find("spyre"), &(tesela_propagate_options){0}, &e_));
    assert_int_equal(tesela_propagation_facts_of(p).ok, constant);
    tesela_propagation_destroy(p);
    tesela_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(starts_of_folds),
      cmocka_unit_test(values_of_pads),
      cmocka_unit_test(operands_of_products),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
