/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_copies_written.c - copies of values that were written in place through a view of all of their buffer: no move copies
 * these, since their dims are not the buffer's.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_propagate.h"

/* w is b transposed and written; as it comes its lanes are along dim 1, those of z along dim 0. z may not be moved. */
#define WRITTEN                                                                           \
  "x = input f16[64,128] 0; u = input f16[128,64] 1; z = input f16[128,64] 0; b = pw x; " \
  "p = permute b 1,0; w = write! p u 0,0; "

static const struct {
  const char *program;
  bool automatic, copies, share;
  int64_t cost; /* -1: no layouts */
  int32_t moves, made;
} rows[] = {
    {WRITTEN "o = pw w z", false, false, false, -1, 0, 0},
    {WRITTEN "o = pw w z", true, false, false, 2 * 8192, 2, 0}, /* x, so that b lies otherwise, and u */
    {WRITTEN "o = pw w z", false, true, false, 8192, 0, 1},     /* w */
    {WRITTEN "o = pw w z", true, true, false, 8192, 0, 1},
    {WRITTEN "o = pw w z; q = pw o w", true, true, true, 8192, 0, 1},
    /* of what was not written so, the transpose is moved */
    {"x = input f16[64,128] 0; z = input f16[128,64] 0; t = permute x 1,0; o = pw t z", false, true, false,
     -1, 0, 0},
    {"x = input f16[64,128] 0; z = input f16[128,64] 0; t = permute x 1,0; o = pw t z", true, true, false,
     8192, 1, 0},
};

static void what_no_move_copies(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tesela_graph *graph = prog_graph_of(rows[i].program), *made;
    prog_add_hint(graph, TESELA_HINT_FORBID_MOVE, "o", 0, 1, 0);
    tesela_propagate_options options = {.mode = rows[i].automatic ? TESELA_PROPAGATE_AUTO
                                                                  : TESELA_PROPAGATE_STRICT,
                                        .copies = rows[i].copies,
                                        .share = rows[i].share};
    tesela_propagation *p = prog_propagate(graph, prog_spyre(), options);
    tesela_propagate_facts facts = tesela_propagation_facts_of(p);
    int64_t cost = facts.ok ? facts.cost : -1;
    if (cost != rows[i].cost || facts.n_moves != rows[i].moves || facts.n_copies != rows[i].made)
      fail_msg("%s: cost %" PRId64 " in %" PRId32 " moves and %" PRId32 " copies", rows[i].program, cost,
               facts.n_moves, facts.n_copies);
    if (facts.ok) { /* the plan as a program needs no other */
      OK(tesela_graph_apply(&made, p, &e_));
      prog_check(made, prog_spyre(), prog_strictly, true, 0, 0, "o", -9);
      assert_int_equal(tesela_graph_find(made, "w.copy") >= 0, rows[i].made > 0);
      tesela_graph_destroy(made);
    }
    tesela_propagation_destroy(p);
    tesela_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_no_move_copies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
