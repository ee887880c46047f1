/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_copies.c - copies of views as a part of the cheapest plan: prices by hand, shared copies, views that are not copied.
 *
 * spyre's sticks have 64 lanes of f16; a tensor [a,b] in sticks along 1 takes a * ceil(b / 64) * 64 places.
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

#include "support_fault.h"
#include "support_propagate.h"
#include "support_relayout.h"
#include "support_seed.h"

static const tesela_propagate_options copies = {.mode = TESELA_PROPAGATE_AUTO, .copies = true};
static const tesela_propagate_options shared = {.mode = TESELA_PROPAGATE_AUTO, .copies = true, .share = true};
static const tesela_propagate_options strict = {.copies = true};

/* What a program costs: ok, elements moved and copied, moves and copies. */
static void expect(const char *text, tesela_propagate_options options, bool ok, int64_t moved, int32_t moves,
                   int64_t copied, int32_t n_copies) {
  tesela_graph *graph = prog_graph_of(text), *applied;
  OK(tesela_graph_add_output(graph, tesela_graph_count(graph) - 1, &e_));
  tesela_propagation *p = prog_propagate(graph, prog_spyre(), options);
  tesela_propagate_facts facts = tesela_propagation_facts_of(p);
  if (facts.ok != ok || facts.moved != moved || facts.n_moves != moves || facts.copied != copied ||
      facts.n_copies != n_copies || facts.cost != moved + copied || !facts.proven)
    fail_msg("ok %d, cost %" PRId64 ": %" PRId64 " in %d moves, %" PRId64 " in %d copies, proven %d\n%s",
             facts.ok, facts.cost, facts.moved, (int)facts.n_moves, facts.copied, (int)facts.n_copies,
             facts.proven, text);
  if (ok) {
    int32_t n = 0;
    OK(tesela_graph_apply(&applied, p, &e_));
    for (int32_t k = 0; k < tesela_graph_count(applied); k++)
      n += tesela_graph_node(applied, k)->op == TESELA_OP_MOVE;
    assert_int_equal(n, moves + n_copies);
    tesela_graph_destroy(applied);
  }
  tesela_propagation_destroy(p);
  tesela_graph_destroy(graph);
}

/* ---- prices ---- */

#define ACROSS "x = input f16[72,2,50] 2; y = input f16[100,64] 1; r = reshape x 72,100; "

static void a_reshape_across_sticks(void **state) {
  (void)state;
  /* the 100 must be in the lanes: 72 rows of two sticks */
  expect(ACROSS "o = matmul r y", prog_automatic, false, 0, 0, 0, 0);
  expect(ACROSS "o = matmul r y", copies, true, 0, 0, 72 * 128, 1);
  expect(ACROSS "o = matmul r y", strict, true, 0, 0, 72 * 128, 1);
}

static void off_unless_asked_for(void **state) {
  (void)state;
  /* without copies the slice from lane 8 on has to wait for a move of all of x; a copy of it takes a part */
  static const char text[] =
      "x = input f16[64,256] 1; y = input f16[64,64] 1; s = slice x 1 8 64 1; o = pw s y";
  expect(text, prog_automatic, true, 64 * 256 + 64 * 64, 2, 0, 0);
  expect(text, copies, true, 0, 0, 64 * 64, 1);
}

static void a_move_where_that_is_cheaper(void **state) {
  (void)state;
  /* the same rows repeated: of x 64 places are moved; the copy of the view would take 8 * 64 */
  static const char text[] = "x = input f16[64,1] 0; e = expand x 64,8; y = input f16[64,8] 1; o = pw e y";
  tesela_propagate_options spread = prog_automatic, both = copies;
  spread.spread = both.spread = true; /* a stick along the dim of 1 is one element per stick */
  expect(text, spread, true, 64, 1, 0, 0);
  expect(text, both, true, 64, 1, 0, 0);
}

static void what_is_repeated_is_copied_before(void **state) {
  (void)state;
  /* 64 places of the slice, not 8 * 64 of what it is repeated to */
  static const char text[] = "x = input f16[1,200] 1; s = slice x 1 5 64 1; e = expand s 8,64; "
                             "y = input f16[8,64] 1; w = input f16[64,64] 1; o = pw e y; z = matmul o w";
  expect(text, copies, true, 0, 0, 64, 1);
}

static void seams(void **state) {
  (void)state;
  /* the pieces stand at 0 and 40: no seam on a stick, and the result takes dim 0; b comes so, a is a slice inside a stick */
  static const char text[] = "x = input f16[64,104] 1; b = input f16[64,40] 0; a = slice x 1 3 40 1; "
                             "o = cat 1 a b";
  expect(text, prog_automatic, true, 64 * 128, 1, 0, 0);
  expect(text, copies, true, 0, 0, 64 * 40, 1); /* in sticks along 0: 40 sticks */
}

/* ---- sharing ---- */

static void consumers_share_if_asked(void **state) {
  (void)state;
  static const char text[] = ACROSS "a = matmul r y; b = matmul r y; c = pw a b";
  expect(text, copies, true, 0, 0, 2 * 72 * 128, 2);
  expect(text, shared, true, 0, 0, 72 * 128, 1);
}

static void views_that_show_the_same_share(void **state) {
  (void)state;
  static const char text[] =
      ACROSS "q = reshape x 72,100; a = matmul r y; b = matmul q y; c = pw a b; d = matmul q y; e = pw c d";
  expect(text, shared, true, 0, 0, 72 * 128, 1);
  expect(text, copies, true, 0, 0, 3 * 72 * 128, 3);
}

static void views_of_one_copy(void **state) {
  (void)state;
  /* a needs the 100 of r in the lanes, and so does c, which reads r's transpose: one copy, once transposed */
  static const char text[] = "x = input f16[72,2,50] 2; y = input f16[8,72] 1; u = input f16[100,72] 0; "
                             "r = reshape x 72,100; t = permute r 1,0; a = matmul y r; b = permute a 1,0; "
                             "c = pw t u";
  expect(text, shared, true, 0, 0, 72 * 128, 1);
  expect(text, copies, true, 0, 0, 2 * 72 * 128, 2);
}

static void other_parts_are_other_views(void **state) {
  (void)state;
  static const char text[] =
      "x = input f16[64,200] 1; s = slice x 1 1 64 1; t = slice x 1 2 64 1; y = input f16[64,64] 1; "
      "a = pw s y; b = pw t y; c = pw a b";
  expect(text, shared, true, 0, 0, 2 * 64 * 64, 2);
}

static void values_that_were_overwritten_share_nothing(void **state) {
  (void)state;
  static const char text[] = "x = input f16[72,2,50] 2; k = clone x; y = input f16[100,64] 1; "
                             "p = input f16[1,2,50] 2; r = reshape k 72,100; a = matmul r y; "
                             "w = write! k p 3,0,0; q = reshape w 72,100; b = matmul q y; c = pw a b";
  expect(text, shared, true, 0, 0, 2 * 72 * 128, 2);
}

/* ---- what is not copied ---- */

static void hints_forbid_copies(void **state) {
  (void)state;
  for (int32_t operand = -1; operand < 2; operand++) {
    tesela_graph *graph = prog_graph_of(ACROSS "o = matmul r y");
    prog_add_hint(graph, TESELA_HINT_FORBID_MOVE, "o", 0, operand, 0);
    tesela_propagation *p = prog_propagate(graph, prog_spyre(), copies);
    assert_int_equal(tesela_propagation_facts_of(p).ok, operand == 1);
    tesela_propagation_destroy(p);
    tesela_graph_destroy(graph);
  }
}

static void one_element_per_stick(void **state) {
  (void)state;
  /* a sum lies in one element per stick; its reshape would be compacted */
  static const char text[] =
      "x = input f16[100,64] 1; s = sum x 1; r = reshape s 2,50; y = input f16[2,50] 1; o = pw r y";
  tesela_propagate_options compact = strict;
  compact.compact = true;
  expect(text, strict, false, 0, 0, 0, 0);
  expect(text, compact, true, 0, 0, 2 * 64, 1);
  /* or x is moved, so that the sums lie densely */
  expect(text, copies, true, 100 * 64, 1, 2 * 64, 1);
}

static void what_is_too_large_is_not_copied(void **state) {
  (void)state;
  /* 2^42 rows of one stick are 2^48 elements; one row more is too many */
  expect("x = input f16[4398046511104,200] 1; s = slice x 1 5 64 1; m = input f16[4398046511104,64] 1; "
         "o = pw s m",
         strict, true, 0, 0, (int64_t)1 << 48, 1);
  expect("x = input f16[4398046511105,200] 1; s = slice x 1 5 64 1; m = input f16[4398046511105,64] 1; "
         "o = pw s m",
         strict, false, 0, 0, 0, 0);
}

static void orders_of_dims_are_moved(void **state) {
  (void)state;
  /* moved as it lies, 128 * 256, not copied to fewer */
  expect("a = input f16[130,3] 1; t = permute a 1,0; y = input f16[3,130] 1; w = input f16[130,64] 1; "
         "z = pw t y; o = matmul z w",
         copies, true, 130 * 64, 1, 0, 0);
}

/* ---- the caller's price ---- */

static int64_t tens(void *user, const tesela_device_layout *from, const tesela_device_layout *to) {
  (void)user;
  return from->host.rank != to->host.rank ? 10 : 1000; /* of a copy, of a move */
}

/* Cheap from anywhere but the last dim. */
static int64_t by_source(void *user, const tesela_device_layout *from, const tesela_device_layout *to) {
  if (from->host.rank == to->host.rank) return 1000;
  assert_int_equal(from->host.rank, 3); /* the buffer first, then the copy */
  ++*(int *)user;
  return tesela_device_stick(from) == 2 ? 100 : 7;
}

static int64_t below_zero(void *user, const tesela_device_layout *from, const tesela_device_layout *to) {
  (void)user;
  return from->host.rank != to->host.rank ? -1 : 1;
}

static void prices_of_the_caller(void **state) {
  (void)state;
  tesela_propagate_options options = copies;
  options.price = tens;
  expect(ACROSS "o = matmul r y", options, true, 0, 0, 10, 1);
  static const char free_x[] = "x = input f16[72,2,50] ?; y = input f16[100,64] 1; r = reshape x 72,100; "
                               "o = matmul r y; q = matmul r y";
  int calls = 0;
  options.price = by_source;
  options.user = &calls;
  expect(free_x, options, true, 0, 0, 2 * 7, 2);
  options.share = true;
  expect(free_x, options, true, 0, 0, 7, 1);
  assert_true(calls > 0);
  options.price = below_zero;
  tesela_graph *graph = prog_graph_of(ACROSS "o = matmul r y");
  tesela_propagation *p = NULL;
  assert_int_equal(tesela_graph_propagate(&p, graph, prog_spyre(), &options, NULL), TESELA_E_RANGE);
  assert_null(p);
  tesela_graph_destroy(graph);
}

/* ---- what is said ---- */

static void said(const char *text, tesela_propagate_options options, const char *expected) {
  char got[2000];
  tesela_buffer buffer = {got, sizeof got, 0};
  tesela_writer writer = tesela_buffer_writer(&buffer);
  tesela_graph *graph = prog_graph_of(text);
  tesela_propagation *p = prog_propagate(graph, prog_spyre(), options);
  OK(tesela_propagation_explain(p, true, &writer, &e_));
  if (!strstr(got, expected)) fail_msg("%s\nis not in\n%s", expected, got);
  tesela_propagation_destroy(p);
  tesela_graph_destroy(graph);
}

static void plans_are_explained(void **state) {
  (void)state;
  said(ACROSS "o = matmul r y", copies, "cost 9216: 0 elements in 0 moves, 9216 in 1 copy of views\n");
  said(ACROSS "o = matmul r y", copies, "  o     0        r       a copy -> stick 1  9216\n");
  said(ACROSS "a = matmul r y; b = matmul r y", copies, "18432 in 2 copies of views\n");
  said(ACROSS "a = matmul r y; b = matmul r y", shared, "a copy -> stick 1  0, the copy exists\n");
  /* strict: y would have to move, and r to be copied */
  said("x = input f16[72,2,50] 2; y = input f16[100,64] 0; r = reshape x 72,100; o = matmul r y", strict,
       "  would fix it: copy r to stick 1 (9216 elements) before o, and move y to stick 1 (8192 "
       "elements) before o\n");
}

static void moves_say_what_is_copied(void **state) {
  (void)state;
  tesela_graph *graph = prog_graph_of(ACROSS "a = matmul r y; b = matmul r y");
  tesela_propagation *p = prog_propagate(graph, prog_spyre(), shared);
  const tesela_move *first = tesela_propagation_move(p, 0), *second = tesela_propagation_move(p, 1);
  assert_non_null(first);
  assert_non_null(second);
  assert_int_equal(first->node, 3);
  assert_int_equal(first->buffer, 0);
  assert_int_equal(first->view, 2);
  assert_int_equal(first->from, 2);
  assert_int_equal(first->to, 1);
  assert_int_equal(first->price, 9216);
  assert_int_equal(first->shared, -1);
  assert_int_equal(second->view, 2);
  assert_int_equal(second->price, 0);
  assert_int_equal(second->shared, 0);
  assert_null(tesela_propagation_move(p, 2));
  tesela_propagation_destroy(p);
  tesela_graph_destroy(graph);
}

/* Names already in use; views after a copy; the layout of the copy. */
static void programs_with_copies(void **state) {
  (void)state;
  tesela_graph *graph =
      prog_graph_of("x = input f16[1,200] 1; s = slice x 1 5 64 1; s.copy = expand s 8,64; "
                    "y = input f16[8,64] 1; w = input f16[64,64] 1; o = pw s.copy y; z = matmul o w");
  tesela_graph *applied;
  tesela_propagation *p = prog_propagate(graph, prog_spyre(), copies);
  OK(tesela_graph_apply(&applied, p, &e_));
  int32_t made = tesela_graph_find(applied, "s.copy.2"), repeated = tesela_graph_find(applied, "s.copy.copy");
  assert_true(made >= 0 && repeated == made + 1);
  const tesela_node *copy = tesela_graph_node(applied, made), *view = tesela_graph_node(applied, repeated);
  assert_int_equal(copy->op, TESELA_OP_MOVE);
  assert_int_equal(copy->operand[0], tesela_graph_find(applied, "s"));
  assert_non_null(copy->layout);
  assert_int_equal(tesela_device_stick(copy->layout), 1);
  assert_int_equal(view->op, TESELA_OP_EXPAND);
  assert_int_equal(view->buffer, made);
  assert_int_equal(tesela_graph_node(applied, tesela_graph_find(applied, "o"))->operand[0], repeated);
  tesela_graph_destroy(applied);
  tesela_propagation_destroy(p);
  tesela_graph_destroy(graph);
}

/* Seams inside a stick of what has no other dim: only one element per stick does. */
static void materialised_to_one_element_per_stick(void **state) {
  (void)state;
  tesela_graph *graph = prog_graph_of("x = input f16[40] 0; y = input f16[40] 0; o = cat 0 x y"), *made;
  int32_t inserted = -1;
  for (int k = 0; k < 2; k++) {
    tesela_propagation *p = prog_propagate(graph, prog_spyre(), k ? copies : prog_automatic);
    assert_false(tesela_propagation_facts_of(p).ok);
    tesela_propagation_destroy(p);
  }
  OK(tesela_graph_materialise(&made, graph, prog_spyre(), NULL, &inserted, &e_));
  assert_int_equal(inserted, 2);
  tesela_propagation *p = prog_propagate(made, prog_spyre(), prog_strictly);
  assert_true(tesela_propagation_facts_of(p).ok);
  tesela_propagation_destroy(p);
  tesela_graph_destroy(made);
  tesela_graph_destroy(graph);
}

/* ---- a rule that operands lie alike ---- */

/* What copies cost on spyre with another row; there are no moves. */
static void expect_with_row(const char *row, const char *text, tesela_propagate_options options,
                            int64_t copied, int32_t n_copies) {
  tesela_target target;
  tesela_error err = {.message = ""};
  char file[200];
  int length = snprintf(file, sizeof file, "target own\nlike spyre\n%s\n", row);
  tesela_status status = tesela_target_read(&target, file, (size_t)length, &err);
  if (status != TESELA_OK) fail_msg("%s", err.message);
  tesela_graph *graph = prog_graph_of(text);
  tesela_propagation *p = prog_propagate(graph, &target, options);
  tesela_propagate_facts facts = tesela_propagation_facts_of(p);
  assert_true(facts.ok && facts.proven);
  assert_int_equal(facts.copied, copied);
  assert_int_equal(facts.n_copies, n_copies);
  assert_int_equal(facts.n_moves, 0);
  tesela_propagation_destroy(p);
  tesela_graph_destroy(graph);
}

static void operands_that_must_lie_alike(void **state) {
  (void)state;
  /* r and y have one shape; y lies along 1, and so must r: no stick of x puts it there */
  static const char row[] = "rule matmul all needs same\nrule matmul result is any";
  static const char text[] = "x = input f16[64,2,32] 2; y = input f16[64,64] 1; r = reshape x 64,64; ";
  char both[200], turned[200];
  snprintf(both, sizeof both, "%so = matmul r y; q = matmul r y", text);
  snprintf(turned, sizeof turned, "%so = matmul y r", text);
  expect_with_row(row, both, copies, 2 * 64 * 64, 2);
  expect_with_row(row, both, shared, 64 * 64, 1);
  expect_with_row(row, turned, copies, 64 * 64, 1);
}

static void operands_in_the_default_layout(void **state) {
  (void)state;
  /* in sticks along 1, 64 of them; along 0 they would be 8 */
  expect_with_row("rule pointwise all needs default",
                  "x = input f16[64,256] 0; s = slice x 1 8 8 1; o = pw s", copies, 64 * 64, 1);
}

static void a_need_that_is_soft(void **state) {
  (void)state;
  static const char text[] =
      "x = input f16[64,200] 1; s = slice x 1 8 64 1; y = input f16[64,64] 1; o = pw s y";
  expect_with_row("rule pointwise all needs result costs 4095", text, copies, 0, 0);
  expect_with_row("rule pointwise all needs result costs 4097", text, copies, 64 * 64, 1);
}

/* ---- more copies of a view than there are states for ---- */

enum { MANY = 11 };

static void many_copies_of_one_view(void **state) {
  (void)state;
  tesela_graph *graph, *applied;
  int64_t shape[MANY], start[MANY] = {0}, length[MANY];
  for (int d = 0; d < MANY; d++) shape[d] = length[d] = 2;
  shape[MANY - 1] = 3;
  start[MANY - 1] = 1;
  tesela_target target;
  OK(tesela_target_plain(&target, 8, &e_));
  for (int n = 2; n <= MANY; n += MANY - 2) { /* consumers, each in another stick */
    OK(tesela_graph_create(&graph, NULL, &e_));
    int32_t x, s;
    OK(tesela_graph_add(
        graph,
        &(tesela_node_spec){
            .op = TESELA_OP_INPUT, .dtype = TESELA_F16, .rank = MANY, .shape = shape, .stick = MANY - 1},
        &x, &e_));
    OK(tesela_graph_add(
        graph,
        &(tesela_node_spec){
            .op = TESELA_OP_SLICE, .n_operands = 1, .operand = &x, .start = start, .length = length},
        &s, &e_));
    for (int k = 0; k < n; k++) {
      int32_t y[2] = {s}, o;
      OK(tesela_graph_add(
          graph,
          &(tesela_node_spec){
              .op = TESELA_OP_INPUT, .dtype = TESELA_F16, .rank = MANY, .shape = length, .stick = k},
          &y[1], &e_));
      OK(tesela_graph_add(
          graph,
          &(tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD, .n_operands = 2, .operand = y},
          &o, &e_));
      OK(tesela_graph_add_output(graph, o, &e_));
    }
    tesela_propagation *p =
        prog_propagate(graph, &target, (tesela_propagate_options){.copies = true, .share = true});
    tesela_propagate_facts facts = tesela_propagation_facts_of(p);
    assert_true(facts.ok);
    assert_int_equal(facts.proven, n == 2); /* the sets of 11 copies are too many */
    assert_int_equal(facts.n_copies, n);
    assert_int_equal(facts.copied, n * 4096); /* 2^10 sticks of 4 lanes each */
    assert_int_equal(facts.cost, facts.copied);
    assert_true(facts.bound <= facts.cost);
    OK(tesela_graph_apply(&applied, p, &e_));
    tesela_graph_destroy(applied);
    tesela_propagation_destroy(p);
    tesela_graph_destroy(graph);
  }
}

/* ---- allocations ---- */

static void every_allocation_fails_once(void **state) {
  (void)state;
  tesela_graph *graph =
      prog_graph_of(ACROSS "e = unsqueeze r 0; f = squeeze e 0; a = matmul f y; b = matmul r y");
  for (int64_t n = 0;; n += slow_run() ? 7 : 1) {
    fault f = {.countdown = n, .once = true};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_propagate_options options = shared;
    tesela_propagation *p;
    tesela_graph *applied = NULL;
    options.allocator = &allocator;
    tesela_status status = tesela_graph_propagate(&p, graph, prog_spyre(), &options, NULL);
    if (status == TESELA_OK) {
      status = tesela_graph_apply(&applied, p, NULL);
      if (status == TESELA_OK) tesela_graph_destroy(applied);
      tesela_propagation_destroy(p);
    }
    assert_int_equal(f.live, 0);
    if (status == TESELA_OK) {
      assert_true(n > 60);
      break;
    }
    assert_int_equal(status, TESELA_E_MEMORY);
  }
  tesela_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_reshape_across_sticks),
      cmocka_unit_test(off_unless_asked_for),
      cmocka_unit_test(a_move_where_that_is_cheaper),
      cmocka_unit_test(what_is_repeated_is_copied_before),
      cmocka_unit_test(seams),
      cmocka_unit_test(consumers_share_if_asked),
      cmocka_unit_test(views_that_show_the_same_share),
      cmocka_unit_test(views_of_one_copy),
      cmocka_unit_test(other_parts_are_other_views),
      cmocka_unit_test(values_that_were_overwritten_share_nothing),
      cmocka_unit_test(hints_forbid_copies),
      cmocka_unit_test(one_element_per_stick),
      cmocka_unit_test(what_is_too_large_is_not_copied),
      cmocka_unit_test(orders_of_dims_are_moved),
      cmocka_unit_test(prices_of_the_caller),
      cmocka_unit_test(plans_are_explained),
      cmocka_unit_test(moves_say_what_is_copied),
      cmocka_unit_test(programs_with_copies),
      cmocka_unit_test(materialised_to_one_element_per_stick),
      cmocka_unit_test(operands_that_must_lie_alike),
      cmocka_unit_test(operands_in_the_default_layout),
      cmocka_unit_test(a_need_that_is_soft),
      cmocka_unit_test(many_copies_of_one_view),
      cmocka_unit_test(every_allocation_fails_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
