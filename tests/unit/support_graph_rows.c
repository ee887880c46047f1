/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_graph_rows.c - see support_graph_rows.h.
 */
#include "support_graph_rows.h"

static void add_row(const shape_row *row, tesela_status *status, tesela_error *err, tesela_graph **graph,
                    int32_t *node) {
  int32_t operand[8];
  OK(tesela_graph_create(graph, NULL, &e_));
  tesela_node_spec spec = row->spec;
  spec.n_operands = build_inputs(*graph, row->operands, operand);
  spec.operand = operand;
  spec.name = "y";
  *node = -7;
  *status = tesela_graph_add(*graph, &spec, node, err);
}

void graph_rows_hold(const shape_row *rows, size_t n) {
  for (const shape_row *row = rows; row < rows + n; row++) {
    tesela_graph *graph;
    tesela_status status;
    tesela_error err = {.message = ""};
    int32_t y;
    add_row(row, &status, &err, &graph, &y);
    if (status != TESELA_OK) fail_msg("%s: %s", row->name, err.message);
    if (!build_is(graph, y, row->result)) fail_msg("%s: not %s", row->name, row->result);
    if (tesela_graph_count(graph) != y + 1 || tesela_graph_find(graph, "y") != y)
      fail_msg("%s: number", row->name);
    tesela_graph_destroy(graph);
  }
}

void graph_rows_refused(const shape_row *rows, size_t n) {
  for (const shape_row *row = rows; row < rows + n; row++) {
    tesela_graph *graph;
    tesela_status status;
    tesela_error err = {.message = ""};
    int32_t y;
    add_row(row, &status, &err, &graph, &y);
    if (status != row->status || err.status != status || !strstr(err.message, row->words))
      fail_msg("%s: %s '%s'", row->name, tesela_status_code(status), err.message);
    assert_int_equal(y, -7);
    assert_int_equal(tesela_graph_find(graph, "y"), -1);
    int32_t count = tesela_graph_count(graph);
    tesela_graph_destroy(graph);
    add_row(row, &status, NULL, &graph, &y); /* without an error to fill */
    assert_int_equal(status, row->status);
    assert_int_equal(tesela_graph_count(graph), count);
    tesela_graph_destroy(graph);
  }
}
