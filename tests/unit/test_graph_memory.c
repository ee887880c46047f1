/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_memory.c - plans of memory: live ranges, results in an operand's place, external buffers, the scratchpad.
 *
 * Small programs with every number by hand; random ones by the definition of right offsets. test_graph_run_random.c runs programs in
 * such memory, reused places included.
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

#include "support_fault.h"
#include "support_graph_build.h"
#include "support_graph_random.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

static uint64_t seed;
static tesela_graph *graph;
static tesela_graph_memory *memory;

static const tesela_target *spyre(void) { return tesela_target_find("spyre"); }

static int32_t input(const char *name, const char *shape, int32_t stick) {
  return build_laid_out(graph, spyre(), name, shape, stick);
}

static int32_t add(tesela_node_spec spec, int32_t stick) { return build_node(graph, spyre(), spec, stick); }

#define UNARY(f, x) \
  (tesela_node_spec) { .op = TESELA_OP_POINTWISE, .fn = TESELA_FN_##f, NODES(x) }
#define BINARY(f, x, y) \
  (tesela_node_spec) { .op = TESELA_OP_POINTWISE, .fn = TESELA_FN_##f, NODES(x, y) }

static int begin(void **unused) {
  (void)unused;
  memory = NULL;
  return tesela_graph_create(&graph, NULL, NULL) != TESELA_OK;
}
static int end(void **unused) {
  (void)unused;
  tesela_graph_memory_destroy(memory);
  tesela_graph_destroy(graph);
  return 0;
}

static void plan(tesela_graph_memory_options options) {
  tesela_graph_memory_destroy(memory);
  memory = NULL;
  OK(tesela_graph_plan_memory(&memory, graph, spyre(), &options, &e_));
}

static void check_place(int32_t node, int32_t lower, int32_t upper, int64_t bytes, int32_t in_place_of) {
  const tesela_graph_place *place = tesela_graph_memory_of(memory, node);
  assert_non_null(place);
  if (place->lower != lower || place->upper != upper || place->bytes != bytes ||
      place->in_place_of != in_place_of)
    fail_msg("node %d: %d..%d, %" PRId64 " bytes, in place of %d", (int)node, (int)place->lower,
             (int)place->upper, place->bytes, (int)place->in_place_of);
}

/* f16[100,130]: 3 blocks of 100 sticks of 128 bytes, 38400 bytes; 26000 on the host. */
static void a_chain(void **unused) {
  (void)unused;
  int32_t x = input("x", "f16[100,130]", 1), a = add(UNARY(NEG, x), 1), b = add(UNARY(EXP, a), 1);
  int32_t c = add(UNARY(ABS, b), 0), d = add(UNARY(NEG, c), 0);
  OK(tesela_graph_add_output(graph, d, &e_));
  plan((tesela_graph_memory_options){0});
  check_place(a, 1, 3, 38400, -1);
  check_place(b, 2, 4, 38400, a);
  int64_t other = 130 * 2 * 128;   /* 2 blocks along dim 0, 130 sticks each */
  check_place(c, 3, 5, other, -1); /* another stick: elements lie elsewhere */
  tesela_graph_memory_facts facts = tesela_graph_memory_facts_of(memory);
  assert_int_equal(facts.naive, 2 * 38400 + other);
  assert_int_equal(facts.host_bytes, 3 * 26000);
  assert_int_equal(facts.external, 38400 + other);
  assert_int_equal(facts.reused, 1);
  assert_int_equal(facts.arena.peak, 38400 + other); /* b and c live at once */
  assert_int_equal(facts.traffic, 8 * 26000);        /* four operators that read and write 13000 elements */
  assert_true(tesela_graph_memory_of(memory, x)->external);
  assert_int_equal(tesela_graph_memory_of(memory, x)->offset, -1);
  assert_true(tesela_graph_memory_of(memory, d)->external);
  assert_ptr_equal(tesela_graph_memory_place(memory, 2), tesela_graph_memory_of(memory, b));
  assert_null(tesela_graph_memory_place(memory, 5));
  assert_null(tesela_graph_memory_place(memory, -1));
  assert_null(tesela_graph_memory_of(memory, 5));
  plan((tesela_graph_memory_options){.no_reuse = true});
  check_place(b, 2, 4, 38400, -1);
  assert_int_equal(tesela_graph_memory_facts_of(memory).reused, 0);
  assert_int_equal(tesela_graph_memory_facts_of(memory).arena.peak, 2 * 38400);
  plan((tesela_graph_memory_options){.inputs = true});
  check_place(x, 0, 2, 38400, -1);
  check_place(a, 1, 3, 38400, x); /* the input ends there and is ours */
  check_place(d, 4, 5, other, c);
  assert_int_equal(tesela_graph_memory_facts_of(memory).external, 0);
  assert_int_equal(tesela_graph_memory_facts_of(memory).arena.peak, 38400 + other);
  tesela_graph_memory *none = NULL;
  tesela_graph_memory_options tight = {.capacity = 38400 + other - 1};
  assert_int_equal(tesela_graph_plan_memory(&none, graph, spyre(), &tight, NULL), TESELA_E_LIMIT);
  assert_null(none);
  build_input(graph, "late", "f16[3]");
  assert_int_equal(tesela_graph_plan_memory(&none, graph, spyre(), NULL, NULL), TESELA_E_INVALID);
}

static int stop_at(void *user, int64_t done, int64_t total) {
  int64_t *left = user;
  assert_true(done >= 0 && done <= total);
  return --*left == 0;
}

/* Stopped at each call in turn there is no plan; with all calls it is the one without progress. */
static void a_plan_can_be_stopped(void **unused) {
  (void)unused;
  int32_t x = input("x", "f16[100,130]", 1), a = add(UNARY(NEG, x), 1), b = add(UNARY(EXP, a), 1);
  OK(tesela_graph_add_output(graph, add(BINARY(ADD, a, b), 1), &e_));
  int64_t stop = 1, left;
  tesela_graph_memory_options options = {.progress = stop_at, .progress_user = &left, .scratchpad = 38400};
  tesela_error err;
  for (;; stop++) {
    tesela_graph_memory *none = NULL;
    left = stop;
    tesela_status status = tesela_graph_plan_memory(&none, graph, spyre(), &options, &err);
    if (status == TESELA_OK) memory = none;
    if (status == TESELA_OK) break;
    assert_int_equal(status, TESELA_E_STOPPED);
    assert_null(none);
  }
  assert_true(stop > 4); /* the four buffers are looked at */
  assert_true(tesela_graph_memory_of(memory, a)->scratchpad || tesela_graph_memory_of(memory, b)->scratchpad);
}

/* Who may not take whose place. */
static void places_that_are_not_taken(void **unused) {
  (void)unused;
  int32_t x = input("x", "f16[64,64]", 1), a = add(UNARY(NEG, x), 1);
  int32_t turned = add((tesela_node_spec){.op = TESELA_OP_PERMUTE, DIMS(1, 0), NODES(a)}, 1);
  int32_t both = add(BINARY(ADD, a, turned), 1);   /* reads elements of a that it has overwritten */
  int32_t twice = add(BINARY(ADD, both, both), 1); /* reads the same element twice */
  int32_t still = add(BINARY(ADD, twice, x), 1);   /* twice is read later */
  int32_t wide = add(
      (tesela_node_spec){.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_COPY, .dtype = TESELA_F32, NODES(still)},
      1);
  int32_t part = add((tesela_node_spec){.op = TESELA_OP_SLICE,
                                        NODES(twice),
                                        .start = (const int64_t[]){1, 0},
                                        .length = (const int64_t[]){63, 64}},
                     1);
  int32_t shifted = add(UNARY(NEG, part), 1);
  int32_t sum = add(
      (tesela_node_spec){
          .op = TESELA_OP_REDUCE, .fn = TESELA_FN_SUM, DIMS(0), .keepdim = true, NODES(shifted)},
      1);
  int32_t broad = add(BINARY(MUL, sum, wide), 1);
  OK(tesela_graph_add_output(graph, broad, &e_));
  plan((tesela_graph_memory_options){0});
  check_place(a, 1, 4, 8192, -1);
  check_place(both, 3, 5, 8192, -1);
  check_place(twice, 4, 9, 8192, both); /* to the slice's reader */
  check_place(still, 5, 7, 8192, -1);
  check_place(wide, 6, 11, 16384, -1);       /* 32 bits an element: longer than that of 16 */
  check_place(shifted, 8, 10, 63 * 128, -1); /* one row off */
  check_place(sum, 9, 11, 128, -1);
  assert_int_equal(tesela_graph_memory_of(memory, part)->node, twice);
}

/* The example of the header. */
static void the_example(void **unused) {
  (void)unused;
  int32_t x = input("x", "f16[64,64]", 1), a = add(UNARY(NEG, x), 1), b = add(UNARY(EXP, a), 1);
  int32_t turned = add((tesela_node_spec){.op = TESELA_OP_PERMUTE, DIMS(1, 0), NODES(b)}, 1);
  int32_t c = add(BINARY(ADD, b, turned), 1), d = add(UNARY(NEG, c), 1);
  OK(tesela_graph_add_output(graph, d, &e_));
  plan((tesela_graph_memory_options){0});
  check_place(a, 1, 3, 8192, -1);
  check_place(b, 2, 5, 8192, a);
  check_place(c, 4, 6, 8192, -1);
  assert_int_equal(tesela_graph_memory_facts_of(memory).arena.peak, 16384);
  assert_int_equal(tesela_graph_memory_facts_of(memory).naive, 24576);
}

/* An operator that writes in place has no buffer; what it writes to lives on. */
static void writes_in_place(void **unused) {
  (void)unused;
  int32_t x = input("x", "f16[10,64]", 1), piece = input("piece", "f16[2,64]", 1), a = add(UNARY(NEG, x), 1);
  int32_t w = add(
      (tesela_node_spec){
          .op = TESELA_OP_WRITE, NODES(a, piece), .start = (const int64_t[]){3, 0}, .in_place = true},
      1);
  int32_t v =
      add((tesela_node_spec){.op = TESELA_OP_WRITE, NODES(w, piece), .start = (const int64_t[]){0, 0}}, 1);
  int32_t o = add(UNARY(EXP, v), 1);
  OK(tesela_graph_add_output(graph, o, &e_));
  plan((tesela_graph_memory_options){0});
  check_place(a, 2, 5, 1280, -1);
  assert_int_equal(tesela_graph_memory_of(memory, w)->node, a);
  check_place(v, 4, 6, 1280, a); /* operand 0 element by element */
  /* neg 640+640, write 128+128, write 640+128+640, exp 640+640: elements of two bytes */
  assert_int_equal(tesela_graph_memory_facts_of(memory).traffic, 2 * (1280 + 256 + 1408 + 1280));
}

/* A scatter reads its values after it has copied operand 0: they must lie elsewhere, even where the places are the same. */
static void values_of_a_scatter(void **unused) {
  (void)unused;
  int32_t x = input("x", "f16[1,64]", 1), i = input("i", "s32[1]", 0), a = add(UNARY(NEG, x), 1),
          b = add(UNARY(ABS, a), 1);
  int32_t s = add((tesela_node_spec){.op = TESELA_OP_SCATTER, .fn = TESELA_FN_ADD, NODES(b, i, b)}, 1);
  int32_t c = add(UNARY(NEG, s), 1), d = add(UNARY(NEG, c), 1);
  int32_t t = add((tesela_node_spec){.op = TESELA_OP_SCATTER, .fn = TESELA_FN_ADD, NODES(x, i, d)}, 1);
  int32_t u = add(UNARY(NEG, t), 1), v = add((tesela_node_spec){.op = TESELA_OP_SCATTER, NODES(u, i, x)}, 1),
          o = add(UNARY(NEG, v), 1);
  OK(tesela_graph_add_output(graph, o, &e_));
  plan((tesela_graph_memory_options){0});
  check_place(s, 4, 6, 128, -1); /* b is operand 0 and the values */
  check_place(t, 7, 9, 128, -1); /* d is the values only */
  check_place(v, 9, 11, 128, u);
}

/* Softmax over rows: 8MN + 4N elements of traffic, of which 5MN + 4N are of buffers inside. */
static void softmax_in_a_scratchpad(void **unused) {
  (void)unused;
  int64_t m = 64, n = 96, bytes = 2; /* rows n, columns m */
  int32_t x = input("x", "f16[96,64]", 1);
  int32_t most =
      add((tesela_node_spec){.op = TESELA_OP_REDUCE, .fn = TESELA_FN_MAX, DIMS(1), .keepdim = true, NODES(x)},
          -1);
  int32_t less = add(BINARY(SUB, x, most), 1), e = add(UNARY(EXP, less), 1);
  int32_t sum =
      add((tesela_node_spec){.op = TESELA_OP_REDUCE, .fn = TESELA_FN_SUM, DIMS(1), .keepdim = true, NODES(e)},
          -1);
  int32_t o = add(BINARY(DIV, e, sum), 1);
  OK(tesela_graph_add_output(graph, o, &e_));
  plan((tesela_graph_memory_options){.scratchpad = 1 << 20});
  tesela_graph_memory_facts facts = tesela_graph_memory_facts_of(memory);
  assert_int_equal(facts.traffic, bytes * (8 * m * n + 4 * n));
  assert_int_equal(facts.traffic_saved, bytes * (5 * m * n + 4 * n));
  assert_int_equal(facts.arena.peak, 0);
  assert_true(tesela_graph_memory_of(memory, e)->scratchpad);
  assert_int_equal(tesela_graph_memory_of(memory, e)->in_place_of, less);
  assert_int_equal(tesela_graph_memory_of(memory, e)->offset, tesela_graph_memory_of(memory, less)->offset);
  plan((tesela_graph_memory_options){.scratchpad = 96 * 128}); /* room for one at a time */
  facts = tesela_graph_memory_facts_of(memory);
  assert_int_equal(facts.traffic_saved, bytes * 5 * m * n); /* less and e are worth most */
  assert_false(tesela_graph_memory_of(memory, sum)->scratchpad);
  assert_int_equal(facts.arena.peak, 96 * 128); /* most and sum, one after the other */
}

/* ---- random ------------------------------------------------------------------------------------------------------ */

static void check_plan(const random_program *p, const tesela_graph_memory_options *options, uint64_t number) {
  tesela_graph_memory_facts facts = tesela_graph_memory_facts_of(memory);
  int32_t count = tesela_graph_count(p->graph), n = 0, reused = 0;
  int64_t naive = 0, external = 0, host = 0;
  for (int32_t k = 0; k < count; k++) {
    const tesela_node *node = tesela_graph_node(p->graph, k);
    const tesela_graph_place *place = tesela_graph_memory_of(memory, k);
    assert_non_null(place);
    assert_int_equal(place->node, node->buffer);
    if (node->buffer != k) continue;
    assert_ptr_equal(place, tesela_graph_memory_place(memory, n++));
    int32_t upper = k + 1;
    bool output = false;
    for (int32_t r = 0; r < count; r++) {
      const tesela_node *reader = tesela_graph_node(p->graph, r);
      output = output || (reader->output && reader->buffer == k);
      for (int32_t o = 0; o < reader->n_operands && !reader->view; o++)
        if (tesela_graph_node(p->graph, reader->operand[o])->buffer == k)
          upper = r + 1 > upper ? r + 1 : upper;
    }
    if (output) upper = count;
    bool outside = !options->inputs && (output || node->op == TESELA_OP_INPUT);
    int64_t bytes = node->layout->places * (node->layout->host.device_bits / 8), elements = 1,
            unit = p->target.alignment;
    bytes = (bytes + unit - 1) / unit * unit;
    for (int32_t d = 0; d < node->rank; d++) elements *= node->shape[d];
    if (place->upper != upper || place->lower != (node->op == TESELA_OP_INPUT ? 0 : k) ||
        place->external != outside)
      fail_msg("seed %" PRIu64 ", node %d: %d..%d, not ..%d", number, (int)k, (int)place->lower,
               (int)place->upper, (int)upper);
    assert_true(place->bytes == bytes ||
                place->bytes == elements * node->bits / 8); /* target keeps host bytes, at least */
    assert_true(place->bytes >= bytes);
    if (outside) {
      external += place->bytes;
      assert_int_equal(place->offset, -1);
      continue;
    }
    naive += place->bytes;
    host += elements * node->bits / 8;
    reused += place->in_place_of >= 0;
    assert_true(place->offset >= 0 && place->offset % unit == 0);
    assert_true(place->offset + place->bytes <=
                (place->scratchpad ? facts.scratchpad.peak : facts.arena.peak));
    if (place->scratchpad) assert_true(place->offset + place->bytes <= options->scratchpad);
    if (place->in_place_of < 0) continue;
    const tesela_graph_place *old = tesela_graph_memory_of(memory, place->in_place_of);
    assert_true(old->offset == place->offset && old->scratchpad == place->scratchpad && old->upper == k + 1);
    assert_true(old->bytes >= place->bytes && !old->external);
  }
  assert_null(tesela_graph_memory_place(memory, n));
  assert_int_equal(facts.naive, naive);
  assert_int_equal(facts.external, external);
  assert_int_equal(facts.host_bytes, host);
  assert_int_equal(facts.reused, reused);
  for (int32_t a = 0; a < n; a++)
    for (int32_t b = a + 1; b < n; b++) {
      const tesela_graph_place *x = tesela_graph_memory_place(memory, a),
                               *y = tesela_graph_memory_place(memory, b);
      if (x->external || y->external || x->scratchpad != y->scratchpad) continue;
      if (x->upper <= y->lower || y->upper <= x->lower) continue;
      if (x->offset + x->bytes <= y->offset || y->offset + y->bytes <= x->offset) continue;
      if (y->in_place_of != x->node)
        fail_msg("seed %" PRIu64 ": nodes %d and %d overlap", number, (int)x->node, (int)y->node);
    }
}

static void random_plans(void **unused) {
  (void)unused;
  for (int32_t k = 0; k < 300; k++) {
    uint64_t number = seed + (uint64_t)k, state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    random_program p;
    random_program_make(&p, &state, 12);
    random_program_layouts(&p, &state);
    p.target.alignment = 1 << random_below(&state, 8);
    tesela_graph_memory_options options = {.effort = 2000,
                                           .inputs = random_below(&state, 2),
                                           .no_reuse = random_below(&state, 4) == 0,
                                           .scratchpad =
                                               random_below(&state, 2) ? random_below(&state, 4000) : 0};
    OK(tesela_graph_plan_memory(&memory, p.graph, &p.target, &options, &e_));
    check_plan(&p, &options, number);
    tesela_graph_memory_destroy(memory);
    random_program_free(&p);
  }
  memory = NULL;
}

/* ---- allocations ------------------------------------------------------------------------------------------------- */

static void allocations_fail(void **unused) {
  (void)unused;
  fault f = {.once = true};
  tesela_allocator allocator = fault_allocator(&f);
  uint64_t state = 77;
  random_program p;
  random_program_make(&p, &state, 8);
  random_program_layouts(&p, &state);
  tesela_graph_memory_options options = {.effort = 500, .scratchpad = 512, .allocator = &allocator};
  int32_t failures = 0;
  for (int64_t k = 0;; k++) {
    tesela_graph_memory *made = NULL;
    f.countdown = k;
    tesela_status status = tesela_graph_plan_memory(&made, p.graph, &p.target, &options, NULL);
    if (status != TESELA_OK) {
      assert_int_equal(status, TESELA_E_MEMORY);
      assert_null(made);
      assert_int_equal(f.live, 0);
      failures++;
      continue;
    }
    tesela_graph_memory_destroy(made);
    assert_int_equal(f.live, 0);
    break;
  }
  assert_true(failures > 6);
  random_program_free(&p);
  tesela_graph_memory_destroy(NULL);
}

static void nothing_to_plan(void **unused) {
  (void)unused;
  plan((tesela_graph_memory_options){.scratchpad = 100});
  assert_null(tesela_graph_memory_place(memory, 0));
  assert_int_equal(tesela_graph_memory_facts_of(memory).arena.peak, 0);
}

int main(void) {
  seed = first_seed();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_chain, begin, end),
      cmocka_unit_test_setup_teardown(a_plan_can_be_stopped, begin, end),
      cmocka_unit_test_setup_teardown(places_that_are_not_taken, begin, end),
      cmocka_unit_test_setup_teardown(the_example, begin, end),
      cmocka_unit_test_setup_teardown(writes_in_place, begin, end),
      cmocka_unit_test_setup_teardown(values_of_a_scatter, begin, end),
      cmocka_unit_test_setup_teardown(softmax_in_a_scratchpad, begin, end),
      cmocka_unit_test_setup_teardown(nothing_to_plan, begin, end),
      cmocka_unit_test(random_plans),
      cmocka_unit_test(allocations_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
