/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_copies_random.c - random small programs with views across sticks, slices at odd places, cats and pads with odd seams:
 * the cheapest plan with moves and copies of views is that of a search over all ways to put copies in, and the program with
 * its plan computes on tiled memory, with poison in places never written, what it computes on plain memory.
 *
 * Sticks are of four f16 lanes. TESELA_SEED says where to begin, TESELA_ROUNDS how many programs.
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

#include "support_copies.h"
#include "support_relayout.h"
#include "support_seed.h"

enum { TEXT = 1500, STICK_BYTES = 8, MOST_WAYS = 700, TENSORS = 12, BYTES = 4096 };

/* ---- programs ---- */

typedef struct maker {
  uint64_t state;
  char text[TEXT];
  prog p;
  tesela_graph *graph;
} maker;

static int below(maker *m, int n) {
  m->state += 0x9e3779b97f4a7c15u;
  uint64_t z = m->state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (int)((z ^ z >> 31) % (uint64_t)n);
}

static bool chance(maker *m, int percent) { return below(m, 100) < percent; }

static const tesela_node *node_at(const maker *m, int k) { return tesela_graph_node(m->graph, k); }

static int64_t elements_of(const tesela_node *node) {
  int64_t n = 1;
  for (int d = 0; d < node->rank; d++) n *= node->shape[d];
  return n;
}

/* Add a statement; its number, or -1 if the graph refuses it or it is too large. */
static int add(maker *m, const char *what) {
  char text[TEXT];
  tesela_graph *graph;
  prog p;
  if (m->p.n > 14 || snprintf(text, sizeof text, "%sv%d = %s\n", m->text, m->p.n, what) >= TEXT) return -1;
  prog_read(&p, text);
  if (prog_graph(&p, &graph, NULL) != TESELA_OK) return -1;
  const tesela_node *made = tesela_graph_node(graph, p.n - 1);
  if (elements_of(made) > 256 || made->rank > 3) {
    tesela_graph_destroy(graph);
    return -1;
  }
  tesela_graph_destroy(m->graph);
  m->graph = graph;
  m->p = p;
  memcpy(m->text, text, sizeof m->text);
  return p.n - 1;
}

static void list_text(char text[64], int n, const int64_t *list) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < n; i++)
    used += (size_t)snprintf(text + used, 64 - used, "%s%" PRId64, i ? "," : "", list[i]);
}

static int input(maker *m, int rank, const int64_t *shape) {
  char list[64], what[128];
  list_text(list, rank, shape);
  if (chance(m, 8))
    snprintf(what, sizeof what, "input f16[%s] ?", list);
  else
    snprintf(what, sizeof what, "input f16[%s] %d", list, rank > 0 ? below(m, rank) : -1);
  return add(m, what);
}

static int any_input(maker *m) {
  static const int64_t extents[] = {1, 2, 3, 4, 5, 6, 8, 12};
  int64_t shape[3];
  int rank = 1 + below(m, 3);
  for (int d = 0; d < rank; d++) shape[d] = extents[below(m, 8)];
  return input(m, rank, shape);
}

static int view_reshape(maker *m, int of) {
  char list[64], what[128];
  int64_t left = elements_of(node_at(m, of)), shape[3];
  int rank = 1 + below(m, 3);
  for (int d = 0; d < rank - 1; d++) {
    int64_t factor = 1 + below(m, 6);
    shape[d] = left % factor == 0 ? factor : 1;
    left /= shape[d];
  }
  shape[rank - 1] = left;
  list_text(list, rank, shape);
  snprintf(what, sizeof what, "reshape v%d %s", of, list);
  return add(m, what);
}

static int view_slice(maker *m, int of) {
  char what[128];
  const tesela_node *x = node_at(m, of);
  if (x->rank == 0) return -1;
  int d = below(m, x->rank), n = (int)x->shape[d], start = below(m, n), step = chance(m, 20) ? 2 : 1;
  int length = 1 + below(m, (n - start + step - 1) / step);
  snprintf(what, sizeof what, "slice v%d %d %d %d %d", of, d, start, length, step);
  return add(m, what);
}

static int view_permute(maker *m, int of) {
  char what[128];
  static const char *const orders[][3] = {
      {"0", "0", "0"}, {"1,0", "1,0", "1,0"}, {"2,0,1", "0,2,1", "2,1,0"}};
  int rank = node_at(m, of)->rank;
  if (rank < 2) return -1;
  snprintf(what, sizeof what, "permute v%d %s", of, orders[rank - 1][below(m, 3)]);
  return add(m, what);
}

static int view_expand(maker *m, int of) {
  char what[128], list[64];
  const tesela_node *x = node_at(m, of);
  int64_t shape[4] = {2 + below(m, 3)};
  for (int d = 0; d < x->rank; d++) shape[d + 1] = x->shape[d];
  list_text(list, x->rank + 1, shape);
  snprintf(what, sizeof what, "expand v%d %s", of, list);
  return add(m, what);
}

static int view(maker *m, int of) {
  int kind = below(m, 10), made = -1;
  if (kind < 4) made = view_reshape(m, of);
  if (kind >= 4 && kind < 7) made = view_slice(m, of);
  if (kind == 7 || kind == 8) made = view_permute(m, of);
  if (kind == 9) made = view_expand(m, of);
  return made < 0 ? of : made;
}

static int viewed(maker *m, int of) {
  for (int n = below(m, 3); n > 0; n--) of = view(m, of);
  return of;
}

/* One of the tensors there are, of a shape, or a new one. */
static int of_shape(maker *m, int rank, const int64_t *shape) {
  int from = below(m, m->p.n);
  for (int i = 0; i < m->p.n && chance(m, 90); i++) {
    int k = (from + i) % m->p.n;
    if (node_at(m, k)->rank == rank && memcmp(node_at(m, k)->shape, shape, (size_t)rank * sizeof *shape) == 0)
      return k;
  }
  int made = input(m, rank, shape);
  return made < 0 ? m->p.n - 1 : made; /* which the operator may refuse */
}

static int operator_two(maker *m, int x) {
  char what[128];
  int64_t shape[3];
  int rank = node_at(m, x)->rank, kind = below(m, 4);
  memcpy(shape, node_at(m, x)->shape, sizeof shape);
  if (kind == 0 && rank == 2) { /* a matmul, from either side */
    int64_t other[2] = {shape[1], 1 + below(m, 6)};
    bool left = chance(m, 50);
    if (left) {
      other[1] = shape[0];
      other[0] = 1 + below(m, 6);
    }
    int y = of_shape(m, 2, other);
    snprintf(what, sizeof what, "matmul v%d v%d", left ? y : x, left ? x : y);
  } else if (kind == 1 && rank > 0) {
    snprintf(what, sizeof what, "cat %d v%d v%d", below(m, rank), x, of_shape(m, rank, shape));
  } else {
    snprintf(what, sizeof what, "pw v%d v%d", x, of_shape(m, rank, shape));
  }
  return add(m, what);
}

static int operator_one(maker *m, int x) {
  char what[192];
  int rank = node_at(m, x)->rank, kind = below(m, 5);
  if (rank == 0 || kind == 0) {
    snprintf(what, sizeof what, "pw v%d", x);
  } else if (kind < 3) {
    snprintf(what, sizeof what, "%s v%d %d", kind == 1 ? "sum" : "keep", x, below(m, rank));
  } else if (kind == 3) {
    int64_t low[3] = {0}, high[3] = {0};
    char a[64], b[64];
    low[below(m, rank)] = below(m, 4);
    high[below(m, rank)] = below(m, 4);
    list_text(a, rank, low);
    list_text(b, rank, high);
    snprintf(what, sizeof what, "pad v%d %s %s", x, a, b);
  } else { /* a piece written into something, at any seam */
    int64_t shape[3], start[3] = {0};
    char a[64];
    int d = below(m, rank);
    memcpy(shape, node_at(m, x)->shape, sizeof shape);
    start[d] = below(m, 4);
    shape[d] += start[d] + below(m, 3);
    list_text(a, rank, start);
    int to = of_shape(m, rank, shape);
    snprintf(what, sizeof what, "write%s v%d v%d %s", chance(m, 40) ? "!" : "", to, x, a);
  }
  return add(m, what);
}

static void make(maker *m, uint64_t seed) {
  tesela_graph *empty;
  OK(tesela_graph_create(&empty, NULL, &e_));
  *m = (maker){.state = seed, .graph = empty};
  while (m->p.n == 0) any_input(m);
  int operators = 1 + below(m, 3), often = chance(m, 40) ? viewed(m, 0) : -1; /* a view that many read */
  for (int i = 0; i < operators; i++) {
    int x = chance(m, 80) ? viewed(m, below(m, m->p.n)) : below(m, m->p.n);
    if (often >= 0 && chance(m, 70)) x = chance(m, 70) ? often : view(m, often);
    chance(m, 60) ? operator_two(m, x) : operator_one(m, x);
  }
  if (chance(m, 60)) operator_two(m, viewed(m, m->p.n - 1));
}

static void mark(maker *m) {
  bool any = false;
  for (int k = m->p.n - 1; k >= 0; k--)
    if (!any || chance(m, 25)) any |= tesela_graph_add_output(m->graph, k, NULL) == TESELA_OK;
  for (int n = 0; n < 2 && chance(m, 25); n++) {
    int k = below(m, m->p.n);
    tesela_hint hint = {.kind = TESELA_HINT_FORBID_MOVE, .node = k, .operand = -1};
    if (chance(m, 40))
      hint = (tesela_hint){
          .kind = TESELA_HINT_PREFER, .node = k, .stick = below(m, 3) - 1, .price = below(m, 40)};
    (void)tesela_graph_hint(m->graph, &hint, NULL); /* what it cannot be asked of is left */
  }
}

/* ---- running ---- */

typedef struct tensors {
  int n;
  void *at[TENSORS];
  unsigned char bytes[TENSORS][BYTES];
} tensors;

static bool fill(maker *m, tensors *in) {
  static const uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200, 0xbc00, 0x3800};
  in->n = 0;
  for (int k = 0; k < m->p.n; k++) {
    if (node_at(m, k)->op != TESELA_OP_INPUT) continue;
    if (in->n == TENSORS) return false;
    for (int64_t i = 0; i < elements_of(node_at(m, k)); i++)
      memcpy(in->bytes[in->n] + 2 * i, &halves[below(m, 6)], 2);
    in->at[in->n] = in->bytes[in->n];
    in->n++;
  }
  return true;
}

static bool runs_alike(maker *m, const tesela_graph *applied, const tesela_target *target, int64_t moved) {
  static tensors in, plain, device;
  tesela_graph_run_options options = {.plain = true};
  tesela_graph_run_facts facts;
  if (!fill(m, &in)) return true;
  for (int i = 0; i < TENSORS; i++) {
    plain.at[i] = memset(plain.bytes[i], 1, BYTES);
    device.at[i] = memset(device.bytes[i], 1, BYTES);
  }
  OK(tesela_graph_run(m->graph, target, (const void *const *)in.at, plain.at, &options, &facts, &e_));
  options.plain = false;
  OK(tesela_graph_run(applied, target, (const void *const *)in.at, device.at, &options, &facts, &e_));
  return facts.poison_read == 0 && facts.moved == moved &&
         memcmp(plain.bytes, device.bytes, sizeof plain.bytes) == 0;
}

/* ---- judging ---- */

typedef struct tally {
  int programs, many, ok, saved, copied, several, shared, cheaper;
} tally;

static bool listed(const tesela_propagation *p, tally *sum) {
  tesela_propagate_facts facts = tesela_propagation_facts_of(p);
  const tesela_move *move;
  int64_t moved = 0, copied = 0;
  int moves = 0, copies = 0, shared = 0;
  for (int32_t k = 0; (move = tesela_propagation_move(p, k)) != NULL; k++) {
    *(move->view < 0 ? &moved : &copied) += move->price;
    if (move->shared >= 0) {
      const tesela_move *first = tesela_propagation_move(p, move->shared);
      if (move->price != 0 || first->view != move->view || first->to != move->to || first->shared >= 0)
        return false;
      shared += move->view >= 0;
    } else {
      *(move->view < 0 ? &moves : &copies) += 1;
    }
  }
  sum->copied += copies > 0;
  sum->several += copies > 1;
  sum->shared += shared > 0;
  return moved == facts.moved && copied == facts.copied && moves == facts.n_moves && copies == facts.n_copies;
}

/* The plan as a program: strict, with as many MOVEs, and computing the same. */
static const char *judge_plan(maker *m, const tesela_propagation *p, const tesela_target *target,
                              const tesela_propagate_options *options, tally *sum) {
  tesela_propagate_facts facts = tesela_propagation_facts_of(p), again;
  tesela_propagate_options strict = {.share = options->share};
  tesela_propagation *found;
  tesela_graph *applied;
  int moves = 0;
  if (!listed(p, sum)) return "the list of moves is not the price";
  OK(tesela_graph_apply(&applied, p, &e_));
  for (int32_t k = 0; k < tesela_graph_count(applied); k++)
    moves += tesela_graph_node(applied, k)->op == TESELA_OP_MOVE;
  OK(tesela_graph_propagate(&found, applied, target, &strict, &e_));
  again = tesela_propagation_facts_of(found);
  tesela_propagation_destroy(found);
  bool same = runs_alike(m, applied, target, facts.moved + facts.copied);
  tesela_graph_destroy(applied);
  if (moves != facts.n_moves + facts.n_copies) return "moves in the program are not those of the plan";
  if (!again.ok || again.cost != facts.cost - facts.moved - facts.copied) return "the plan is not strict";
  return same ? NULL : "the plan computes something else";
}

/* Copies alone: then moves find layouts, for no more. */
static const char *judge_materialised(const maker *m, const tesela_propagation *p,
                                      const tesela_target *target, const tesela_propagate_options *options) {
  tesela_propagate_facts facts = tesela_propagation_facts_of(p), again;
  tesela_propagate_options without = *options;
  tesela_propagation *found;
  tesela_graph *made;
  int32_t inserted;
  without.copies = false;
  OK(tesela_graph_materialise(&made, m->graph, target, &without, &inserted, &e_));
  OK(tesela_graph_propagate(&found, made, target, &without, &e_));
  again = tesela_propagation_facts_of(found);
  tesela_propagation_destroy(found);
  bool kept = tesela_graph_hint_count(made) == tesela_graph_hint_count(m->graph);
  tesela_graph_destroy(made);
  if (!facts.ok && again.ok) return inserted > 0 && kept ? NULL : "layouts come from nowhere";
  if (!facts.ok) { /* not even with one element per stick */
    tesela_propagate_options all = *options;
    all.spread = all.compact = true;
    OK(tesela_graph_propagate(&found, m->graph, target, &all, &e_));
    facts = tesela_propagation_facts_of(found);
    tesela_propagation_destroy(found);
    return !facts.ok && inserted == 0 && kept ? NULL : "a program without an answer was changed";
  }
  if (inserted != facts.n_copies || !kept) return "other copies than the plan's";
  return again.ok && again.cost <= facts.cost - facts.copied ? NULL : "with its copies it costs more moves";
}

static int write_nothing(void *user, const char *text, size_t length) {
  (void)text;
  *(size_t *)user += length;
  return 0;
}

static bool judge(maker *m, const tesela_target *target, const tesela_propagate_options *options,
                  tally *sum) {
  copies_answer right;
  tesela_propagation *p, *plain;
  tesela_propagate_options without = *options;
  const char *wrong = NULL;
  size_t length = 0;
  tesela_writer writer = {write_nothing, &length};
  if (!copies_search(&m->p, m->graph, target, options, MOST_WAYS, &right)) {
    sum->many++;
    return true;
  }
  without.copies = false;
  OK(tesela_graph_propagate(&p, m->graph, target, options, &e_));
  OK(tesela_graph_propagate(&plain, m->graph, target, &without, &e_));
  tesela_propagate_facts facts = tesela_propagation_facts_of(p), before = tesela_propagation_facts_of(plain);
  tesela_propagation_destroy(plain);
  sum->programs++;
  sum->ok += facts.ok;
  sum->saved += facts.ok && !before.ok;
  sum->cheaper += facts.ok && before.ok && facts.cost < before.cost;
  if (facts.ok != right.ok || !facts.proven)
    wrong = "the verdict";
  else if (facts.ok && (facts.cost != right.cost || facts.n_moves + facts.n_copies != right.moves))
    wrong = "the price";
  else if (facts.ok)
    wrong = judge_plan(m, p, target, options, sum);
  if (!wrong) wrong = judge_materialised(m, p, target, options);
  OK(tesela_propagation_explain(p, true, &writer, &e_));
  assert_true(length > 20);
  tesela_propagation_destroy(p);
  if (!wrong) return true;
  print_message("%s: ok %d/%d cost %" PRId64 "/%" PRId64 " moves %d/%" PRId64 " proven %d; mode %d share %d "
                "spread %d compact %d\n%s",
                wrong, facts.ok, right.ok, facts.cost, right.cost, (int)(facts.n_moves + facts.n_copies),
                right.moves, facts.proven, (int)options->mode, options->share, options->spread,
                options->compact, m->text);
  return false;
}

static void plans_are_the_cheapest(void **state) {
  (void)state;
  const char *rounds_text = getenv("TESELA_ROUNDS");
  const uint64_t seed = first_seed();
  int rounds = rounds_text ? atoi(rounds_text) : slow_run() ? 60 : 800, wrong = 0;
  tesela_target target;
  tally sum = {0};
  OK(tesela_target_plain(&target, STICK_BYTES, &e_));
  for (int i = 0; i < rounds && wrong < 3; i++) {
    static maker m;
    make(&m, seed + (uint64_t)i);
    mark(&m);
    tesela_propagate_options options = {
        .mode = chance(&m, 80) ? TESELA_PROPAGATE_AUTO : TESELA_PROPAGATE_STRICT,
        .share = chance(&m, 50),
        .spread = chance(&m, 25),
        .compact = chance(&m, 25),
        .copies = true,
    };
    if (!judge(&m, &target, &options, &sum)) {
      print_message("TESELA_SEED=%" PRIu64 " TESELA_ROUNDS=1\n", seed + (uint64_t)i);
      wrong++;
    }
    tesela_graph_destroy(m.graph);
  }
  print_message(
      "%d programs (%d had too many ways), %d with layouts, %d of them by copies alone, %d cheaper by them; "
      "%d copied views, %d several, %d shared some\n",
      sum.programs, sum.many, sum.ok, sum.saved, sum.cheaper, sum.copied, sum.several, sum.shared);
  assert_int_equal(wrong, 0);
  if (!rounds_text) assert_true(sum.saved > 0 && sum.copied > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plans_are_the_cheapest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
