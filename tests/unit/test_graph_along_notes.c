/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_along_notes.c - HLO text whose notes of operators that run along a dim leave the dim out, or count it from the end.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_propagate.h"

static void a_note_may_leave_the_dim_out(void **state) {
  (void)state;
  static const struct {
    const char *note;
    int64_t shape[2];
    int32_t dim;
  } rows[] = {
      {"along fn=sort", {4, 3}, 1},           {"along fn=sort dims=-1", {4, 3}, 1},
      {"along fn=sort dims=1", {4, 3}, 1},    {"along fn=sort dims=-2", {2, 6}, 0},
      {"along fn=sort dims=0", {2, 6}, 0},    {"along fn=cumsum", {4, 6}, 1},
      {"along fn=argsort dims=0", {2, 6}, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[400];
    tesela_graph *graph;
    int n = snprintf(text, sizeof text,
                     "HloModule m\nENTRY e {\n  x = s32[4,6]{1,0} parameter(0)\n"
                     "  ROOT y = s32[%" PRId64 ",%" PRId64
                     "]{1,0} custom-call(x), custom_call_target=\"tesela\", "
                     "frontend_attributes={tesela=\"%s\"}\n}\n",
                     rows[i].shape[0], rows[i].shape[1], rows[i].note);
    OK(tesela_graph_read_hlo(&graph, text, (size_t)n, NULL, NULL, NULL, &e_));
    const tesela_node *y = tesela_graph_node(graph, tesela_graph_find(graph, "y"));
    assert_int_equal(y->op, TESELA_OP_ALONG);
    assert_int_equal(y->dim[0], rows[i].dim);
    assert_memory_equal(y->shape, rows[i].shape, sizeof rows[i].shape);
    tesela_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_note_may_leave_the_dim_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
