/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_divide.c - operators over cores.
 *
 * Of random operators: shares are disjoint and cover every counter, lanes are whole, factors are as good as the best of all
 * (found by going through them), the busiest core and the places that a core touches are counted one by one. Results of
 * shares are compared with the whole in test_graph_run_random.c.
 */
#include <inttypes.h>
#include <math.h>
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

enum { DIMS = TESELA_DEVICE_DIMS };

static uint64_t seed;

/* ---- an operator of a size to count ----------------------------------------------------------------------------- */

typedef struct operation {
  random_program p;
  uint64_t number, state;
  int32_t node;
  tesela_op_loops loops;
  int64_t all; /* counters */
} operation;

static bool draw(operation *o, uint64_t number) {
  static const tesela_op ops[] = {
      TESELA_OP_POINTWISE, TESELA_OP_REDUCE, TESELA_OP_MATMUL, TESELA_OP_CONV2D, TESELA_OP_GATHER,
      TESELA_OP_SCATTER,   TESELA_OP_CAT,    TESELA_OP_PAD,    TESELA_OP_WRITE,  TESELA_OP_CLONE,
      TESELA_OP_CONSTANT,  TESELA_OP_ALONG,  TESELA_OP_POOL};
  *o = (operation){.number = number, .state = number * UINT64_C(0x9e3779b97f4a7c15) + 1};
  tesela_op op = ops[random_below(&o->state, (int64_t)(sizeof ops / sizeof ops[0]))];
  bool ok = random_program_of(&o->p, &o->state, op, TESELA_DTYPE_NONE);
  if (ok) {
    o->node = tesela_graph_count(o->p.graph) - 1;
    random_program_layouts(&o->p, &o->state);
    OK(tesela_graph_loops(o->p.graph, o->node, &o->loops, &e_));
    o->all = 1;
    for (int32_t l = 0; l < o->loops.n; l++) o->all *= o->loops.loop[l].extent;
    ok = o->all > 0 && o->all < 60000;
  }
  if (!ok) random_program_free(&o->p);
  return ok;
}

static void unrank(const operation *o, int64_t at, int64_t *counter) {
  for (int32_t l = o->loops.n - 1; l >= 0; l--) {
    counter[l] = at % o->loops.loop[l].extent;
    at /= o->loops.loop[l].extent;
  }
}

/* The iteration of a set of counters; false: padding. */
static bool iteration_of(const operation *o, const int64_t *counter, int64_t *iteration) {
  memset(iteration, 0, TESELA_GRAPH_ITERATION * sizeof *iteration);
  for (int32_t l = 0; l < o->loops.n; l++)
    iteration[o->loops.loop[l].dim] += counter[l] * o->loops.loop[l].step;
  for (int32_t i = 0; i < o->loops.iteration.n; i++)
    if (iteration[i] >= o->loops.iteration.extent[i]) return false;
  return true;
}

static bool in_share(const operation *o, const tesela_core_share *share, const int64_t *counter) {
  for (int32_t l = 0; l < o->loops.n; l++)
    if (counter[l] < share->start[l] || counter[l] >= share->start[l] + share->extent[l]) return false;
  return true;
}

/* ---- shares ------------------------------------------------------------------------------------------------------ */

static void check_shares(const operation *o, const tesela_division *division) {
  int64_t counter[DIMS], iteration[TESELA_GRAPH_ITERATION], most = 0, whole = 0, product = 1;
  tesela_core_share share;
  for (int32_t l = 0; l < o->loops.n; l++) {
    product *= division->factor[l];
    assert_int_equal(o->loops.loop[l].extent % division->factor[l], 0);
    if (o->loops.loop[l].lane) assert_int_equal(division->factor[l], 1);
  }
  assert_int_equal(product, division->cores);
  uint8_t *seen = calloc((size_t)o->all, 1);
  for (int32_t c = 0; c < division->cores; c++) {
    int64_t mine = 0;
    OK(tesela_graph_share(&o->loops, division, c, &share, &e_));
    for (int64_t at = 0; at < o->all; at++) {
      unrank(o, at, counter);
      if (!in_share(o, &share, counter)) continue;
      if (seen[at]++) fail_msg("seed %" PRIu64 ": two cores do the same", o->number);
      mine += iteration_of(o, counter, iteration);
    }
    most = mine > most ? mine : most;
    whole += mine;
  }
  for (int64_t at = 0; at < o->all; at++)
    if (!seen[at]) fail_msg("seed %" PRIu64 ": no core does counter %" PRId64, o->number, at);
  free(seen);
  if (division->most != most)
    fail_msg("seed %" PRIu64 ": the busiest core does %" PRId64 ", not %" PRId64, o->number, most,
             division->most);
  if (fabs(division->balance - (double)most * division->cores / (double)whole) > 1e-9)
    fail_msg("seed %" PRIu64 ": balance %g", o->number, division->balance);
  assert_int_equal(tesela_graph_share(&o->loops, division, division->cores, &share, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_graph_share(&o->loops, division, -1, &share, NULL), TESELA_E_RANGE);
}

/* ---- the best of all --------------------------------------------------------------------------------------------- */

typedef struct best {
  int64_t cores;
  double read;
} best;

/* Counters of the loops that an operand moves with, summed over operands. */
static double reads_of(const operation *o, const int64_t *factor) {
  const tesela_node *node = tesela_graph_node(o->p.graph, o->node);
  double sum = 0;
  for (int32_t k = 0; k < node->n_operands; k++) {
    tesela_index index[TESELA_GRAPH_RANK];
    OK(tesela_graph_operand_index(o->p.graph, o->node, k, index, &e_));
    double n = 1;
    for (int32_t l = 0; l < o->loops.n; l++) {
      bool moves = false;
      for (int32_t d = 0; d < tesela_graph_node(o->p.graph, node->operand[k])->rank; d++)
        moves = moves || index[d].dim[0] == o->loops.loop[l].dim || index[d].dim[1] == o->loops.loop[l].dim;
      if (moves) n *= (double)(o->loops.loop[l].extent / factor[l]);
    }
    sum += n;
  }
  return sum;
}

static void go_through(const operation *o, int32_t cores, int32_t folds, int32_t l, int64_t product,
                       int64_t *factor, best *found) {
  if (product > cores) return;
  if (l == o->loops.n) {
    double read = reads_of(o, factor);
    if (product > found->cores || (product == found->cores && read < found->read))
      *found = (best){product, read};
    return;
  }
  const tesela_loop *loop = &o->loops.loop[l];
  for (factor[l] = 1; factor[l] <= loop->extent; factor[l]++) {
    bool cut = factor[l] > 1;
    if (cut && (loop->lane || (loop->folded && folds == 0))) break;
    if (loop->extent % factor[l] == 0)
      go_through(o, cores, folds - (loop->folded && cut), l + 1, product * factor[l], factor, found);
  }
}

static void check_best(const operation *o, int32_t cores, const tesela_division *division) {
  int64_t factor[DIMS];
  best whole = {0, 0}, cut;
  go_through(o, cores, 0, 0, 1, factor, &whole);
  cut = whole;
  bool line = tesela_graph_node(o->p.graph, o->node)->op == TESELA_OP_ALONG; /* never cut */
  if (whole.cores < cores && !line) {
    cut = (best){0, 0};
    go_through(o, cores, 1, 0, 1, factor, &cut);
    if (cut.cores == whole.cores) cut = whole; /* a fold is cut only for more cores */
  }
  double read = reads_of(o, division->factor);
  if (division->cores != cut.cores || read != cut.read)
    fail_msg("seed %" PRIu64 ", %d cores: %d cores that read %g; %" PRId64 " that read %g are possible",
             o->number, (int)cores, (int)division->cores, read, cut.cores, cut.read);
  int32_t folded = -1, n = 0;
  for (int32_t l = 0; l < o->loops.n; l++)
    if (o->loops.loop[l].folded && division->factor[l] > 1) folded = l, n++;
  assert_true(n <= 1);
  assert_int_equal(division->folded, folded);
}

static void divisions_are_best(void **unused) {
  (void)unused;
  int32_t done = 0, cut = 0;
  for (uint64_t number = seed; done < 250; number++) {
    operation o;
    if (!draw(&o, number)) continue;
    int32_t cores = 1 + (int32_t)random_below(&o.state, 40);
    tesela_division division;
    OK(tesela_graph_divide(o.p.graph, o.node, cores, NULL, &division, &e_));
    check_shares(&o, &division);
    check_best(&o, cores, &division);
    cut += division.folded >= 0;
    random_program_free(&o.p);
    done++;
  }
  assert_true(cut > 0);
}

/* ---- what a core touches ----------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static void check_view(const operation *o, const tesela_core_share *share, int32_t k) {
  const tesela_node *node = tesela_graph_node(o->p.graph, o->node);
  int32_t tensor = k < 0 ? o->node : node->operand[k], looked = -1;
  const tesela_device_layout *layout =
      tesela_graph_node(o->p.graph, tesela_graph_node(o->p.graph, tensor)->buffer)->layout;
  int64_t lookups = 1, n = 0, room = 1024, *places = malloc((size_t)room * sizeof *places);
  if (k == 0 && node->op == TESELA_OP_GATHER) looked = node->dim[0];
  if (looked >= 0) lookups = tesela_graph_node(o->p.graph, tensor)->shape[looked];
  for (int64_t at = 0; at < o->all; at++) {
    int64_t counter[DIMS], iteration[TESELA_GRAPH_ITERATION], index[TESELA_GRAPH_RANK],
        own[TESELA_GRAPH_RANK];
    unrank(o, at, counter);
    if (!in_share(o, share, counter) || !iteration_of(o, counter, iteration)) continue;
    for (int64_t value = 0; value < lookups; value++) {
      int64_t copies = 1;
      if (!random_operand_index(o->p.graph, o->node, k, iteration, value, index)) continue;
      random_buffer_index(o->p.graph, tensor, index, own);
      for (int64_t c = 0; c < (k < 0 ? copies : 1); c++) { /* one copy is read, all are written */
        if (n == room) places = realloc(places, (size_t)(room *= 2) * sizeof *places);
        places[n++] = random_place(layout, own, c, &copies);
      }
    }
  }
  qsort(places, (size_t)n, sizeof *places, compare);
  tesela_core_view want = {n ? places[0] : 0, n ? places[n - 1] : -1, n > 0}, have;
  for (int64_t i = 1; i < n; i++) want.places += places[i] != places[i - 1];
  free(places);
  OK(tesela_graph_core_view(o->p.graph, o->node, &o->loops, share, k, &have, &e_));
  if (have.first != want.first || have.last != want.last || have.places != want.places)
    fail_msg("seed %" PRIu64 ", %s, operand %d: %" PRId64 " places %" PRId64 "..%" PRId64 ", not %" PRId64
             " of %" PRId64 "..%" PRId64,
             o->number, tesela_op_name(node->op), (int)k, want.places, want.first, want.last, have.places,
             have.first, have.last);
}

static void views_are_what_is_touched(void **unused) {
  (void)unused;
  for (int32_t done = 0, more = 0; done < 200; more++) {
    operation o;
    if (!draw(&o, seed + 7000000 + (uint64_t)more)) continue;
    done++;
    tesela_division division;
    tesela_core_share share;
    OK(tesela_graph_divide(o.p.graph, o.node, 1 + (int32_t)random_below(&o.state, 12), NULL, &division, &e_));
    OK(tesela_graph_share(&o.loops, &division, (int32_t)random_below(&o.state, division.cores), &share, &e_));
    if (o.all < 8000)
      for (int32_t k = -1; k < o.loops.n_operands; k++) check_view(&o, &share, k);
    random_program_free(&o.p);
  }
}

/* ---- by hand ------------------------------------------------------------------------------------------------------ */

static void matmul_over_32_cores(void **unused) {
  (void)unused;
  tesela_graph *graph;
  const tesela_target *spyre = tesela_target_find("spyre");
  tesela_division division;
  int32_t o;
  OK(tesela_graph_create(&graph, NULL, &e_));
  int32_t x = build_input(graph, "x", "f16[6,256]"), y = build_input(graph, "y", "f16[256,192]");
  OK(tesela_graph_add(
      graph, &(tesela_node_spec){.op = TESELA_OP_MATMUL, .n_operands = 2, .operand = (int32_t[]){x, y}}, &o,
      &e_));
  for (int32_t k = 0; k < 3; k++) {
    const tesela_node *node = tesela_graph_node(graph, k);
    tesela_device_layout layout;
    OK(tesela_device_default(&layout, spyre, node->dtype, node->rank, node->shape, &e_));
    OK(tesela_graph_set_layout(graph, k, &layout, &e_));
  }
  /* loops: 3 blocks of n, 6 rows, 64 lanes; folded 4 blocks, 64 lanes */
  OK(tesela_graph_divide(graph, o, 32, NULL, &division, &e_));
  assert_int_equal(division.cores,
                   24); /* 18 without the fold; 3*6*1, 3*2*4 = 24, 1*6*4 = 24, 3*3*2 = 18 .. */
  assert_int_equal(division.folded, 3);
  assert_int_equal(division.factor[3], 4);
  assert_int_equal(division.factor[2], 1);
  assert_true(division.balance == 1);
  int64_t forced[TESELA_DEVICE_DIMS] = {3, 1, 1, 1, 1};
  OK(tesela_graph_divide(graph, o, 32, forced, &division, &e_));
  assert_int_equal(division.cores, 3);
  assert_int_equal(division.most, 6 * 64 * 256);
  forced[1] = 0; /* free again */
  OK(tesela_graph_divide(graph, o, 17, forced, &division, &e_));
  assert_int_equal(division.cores, 9);
  forced[0] = 2;
  assert_int_equal(tesela_graph_divide(graph, o, 32, forced, &division, NULL), TESELA_E_RANGE);
  forced[0] = 1, forced[2] = 2;
  assert_int_equal(tesela_graph_divide(graph, o, 32, forced, &division, NULL), TESELA_E_RANGE);
  forced[2] = 1, forced[0] = 3;
  assert_int_equal(tesela_graph_divide(graph, o, 2, forced, &division, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_graph_divide(graph, o, 0, NULL, &division, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_graph_divide(graph, 7, 4, NULL, &division, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_graph_divide(graph, x, 4, NULL, &division, NULL), TESELA_E_UNSUPPORTED);
  tesela_graph_destroy(graph);
}

/* 5 elements as digits of steps 4, 2, 1: counters 5, 6, 7 are padding. */
static void padding_is_no_work(void **unused) {
  (void)unused;
  tesela_graph *graph;
  tesela_target target;
  tesela_device_host host;
  tesela_device_layout layout;
  tesela_division division;
  int32_t n;
  OK(tesela_graph_create(&graph, NULL, &e_));
  OK(tesela_target_plain(&target, 8, &e_));
  int32_t x = build_input(graph, "x", "f32[5]");
  OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_CLONE, .n_operands = 1, .operand = &x}, &n,
                      &e_));
  OK(tesela_device_host_of(&host, &target, TESELA_F32, 1, (const int64_t[]){5}, &e_));
  OK(tesela_device_from_dims(&layout, &host, 3,
                             (const tesela_device_dim[]){{2, 4, 0, 0}, {2, 2, 0, 0}, {2, 1, 0, 0}}, false, 1,
                             &e_));
  OK(tesela_graph_set_layout(graph, x, &layout, &e_));
  OK(tesela_graph_set_layout(graph, n, &layout, &e_));
  OK(tesela_graph_divide(graph, n, 1, NULL, &division, &e_));
  assert_int_equal(division.most, 5);
  assert_true(division.balance == 1);
  OK(tesela_graph_divide(graph, n, 2, NULL, &division, &e_)); /* the outer digit: 0..3 and 4 */
  assert_int_equal(division.factor[0], 2);
  assert_int_equal(division.most, 4);
  assert_true(fabs(division.balance - 1.6) < 1e-12);
  OK(tesela_graph_divide(graph, n, 7, NULL, &division, &e_));
  assert_int_equal(division.cores, 4); /* one of them has no element */
  tesela_graph_destroy(graph);
}

/* Twelve elements, each read twice, of a view that goes across both dims of its buffer. */
static void repeated_elements_are_one_place(void **unused) {
  (void)unused;
  tesela_graph *graph;
  tesela_target target;
  tesela_op_loops loops;
  tesela_core_view view;
  int32_t flat, wide, n;
  OK(tesela_graph_create(&graph, NULL, &e_));
  OK(tesela_target_plain(&target, 8, &e_));
  int32_t x = build_input(graph, "x", "f32[3,4]");
  OK(tesela_graph_add(
      graph,
      &(tesela_node_spec){
          .op = TESELA_OP_RESHAPE, .n_operands = 1, .operand = &x, .rank = 1, .shape = (const int64_t[]){12}},
      &flat, &e_));
  OK(tesela_graph_add(graph,
                      &(tesela_node_spec){.op = TESELA_OP_EXPAND,
                                          .n_operands = 1,
                                          .operand = &flat,
                                          .rank = 2,
                                          .shape = (const int64_t[]){2, 12}},
                      &wide, &e_));
  OK(tesela_graph_add(graph, &(tesela_node_spec){.op = TESELA_OP_CLONE, .n_operands = 1, .operand = &wide},
                      &n, &e_));
  for (int32_t k = 0; k < 4; k += 3) {
    const tesela_node *node = tesela_graph_node(graph, k);
    tesela_device_layout layout;
    OK(tesela_device_default(&layout, &target, node->dtype, node->rank, node->shape, &e_));
    OK(tesela_graph_set_layout(graph, k, &layout, &e_));
  }
  tesela_core_share share = {.start = {0}};
  OK(tesela_graph_loops(graph, n, &loops, &e_));
  for (int32_t l = 0; l < loops.n; l++) share.extent[l] = loops.loop[l].extent;
  OK(tesela_graph_core_view(graph, n, &loops, &share, 0, &view, &e_));
  assert_int_equal(view.places, 12);
  assert_int_equal(view.first, 0);
  assert_int_equal(view.last, 11);
  OK(tesela_graph_core_view(graph, n, &loops, &share, -1, &view, &e_));
  assert_int_equal(view.places, 24);
  assert_int_equal(tesela_graph_core_view(graph, n, &loops, &share, 1, &view, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_graph_core_view(graph, 4, &loops, &share, 0, &view, NULL), TESELA_E_RANGE);
  tesela_graph_destroy(graph);
}

int main(void) {
  seed = first_seed();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matmul_over_32_cores),
      cmocka_unit_test(padding_is_no_work),
      cmocka_unit_test(repeated_elements_are_one_place),
      cmocka_unit_test(divisions_are_best),
      cmocka_unit_test(views_are_what_is_touched),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
