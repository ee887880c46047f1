/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_propagate_ones.c - dims of extent 1 change nothing: a program whose tensors get such dims, by unsqueeze before an
 * operator and squeeze after it, has layouts exactly if the program without them has, at the same price.
 *
 * Programs at random (support_propagate_random.h), sticks of four f16; dims of 1 go into inputs, constants, pointwise operators,
 * reductions, what runs along a dim, and cats. TESELA_SEED says where to begin, TESELA_ROUNDS how many.
 */
#include "support_propagate_random.h"
#include "support_relayout.h"
#include "support_seed.h"

static int push(prog *p, const prog_statement *s) {
  assert_true(p->n < PROG_STATEMENTS);
  p->s[p->n] = *s;
  snprintf(p->s[p->n].name, sizeof p->s->name, "v%d", p->n);
  return p->n++;
}

static int push_view(prog *p, const char *op, int of, int dim) {
  prog_statement s = {.n_in = 1, .in = {of}, .n_lists = 1, .n_list = {1}, .list = {{dim}}};
  snprintf(s.op, sizeof s.op, "%s", op);
  return push(p, &s);
}

static bool is_one_of(const prog_statement *s, const char *list) {
  char word[24];
  snprintf(word, sizeof word, " %s ", s->op);
  return strstr(list, word) != NULL;
}

/* An input or a constant with one more dim, which is squeezed away. */
static int source_with_one(prog *to, prog_statement s, int at) {
  memmove(&s.shape[at + 1], &s.shape[at], sizeof(int64_t) * (size_t)(s.rank - at));
  s.shape[at] = 1;
  s.rank++;
  if (s.stick >= at) s.stick++;
  return push_view(to, "squeeze", push(to, &s), at);
}

/* An operator over operands with one more dim at `at` of the first, dims counted from the end in the others. */
static int operator_with_one(prog *to, const tesela_graph *graph, prog_statement s, const int *number,
                             int at) {
  int rank = tesela_graph_node(graph, s.in[0])->rank, after = at;
  bool folds = is_one_of(&s, " sum prod "), lists = folds || is_one_of(&s, " keep sort rank cum line cat ");
  for (int i = 0; i < s.n_in; i++) {
    int own = at - (rank - tesela_graph_node(graph, s.in[i])->rank);
    s.in[i] = own < 0 ? number[s.in[i]] : push_view(to, "unsqueeze", number[s.in[i]], own);
  }
  for (int i = 0; lists && i < s.n_list[0]; i++) {
    after -= folds && s.list[0][i] < at;
    s.list[0][i] += s.list[0][i] >= at;
  }
  return push_view(to, "squeeze", push(to, &s), after);
}

/* The program with dims of 1; false if it has something that asks for the layout of a buffer itself. */
static bool with_ones(prog_maker *m, prog *to) {
  int number[PROG_STATEMENTS];
  to->n = 0;
  for (int k = 0; k < m->p.n; k++) {
    prog_statement s = m->p.s[k];
    if (s.in_place || is_one_of(&s, " clone move keeps stats norm fallback ")) return false;
    if (to->n + PROG_OPERANDS + 2 > PROG_STATEMENTS) return false;
    bool source = is_one_of(&s, " input constant ") && s.rank < PROG_RANK;
    bool plain = is_one_of(&s, " pw cast sum keep prod sort rank cum line cat ");
    int rank = source ? s.rank : plain ? prog_node(m, s.in[0])->rank : 0;
    for (int i = 1; plain && i < s.n_in; i++) plain = prog_node(m, s.in[i])->rank <= rank;
    bool changes = (source || plain) && prog_chance(m, 60);
    int at = prog_below(m, rank + 1);
    if (changes && source) {
      number[k] = source_with_one(to, s, at);
    } else if (changes) {
      number[k] = operator_with_one(to, m->graph, s, number, at);
    } else {
      for (int i = 0; i < s.n_in; i++) s.in[i] = number[s.in[i]];
      number[k] = push(to, &s);
    }
  }
  return true;
}

static tesela_propagate_facts facts_of(const tesela_graph *graph, const tesela_target *target,
                                       const tesela_propagate_options *options) {
  tesela_propagation *p;
  OK(tesela_graph_propagate(&p, graph, target, options, &e_));
  tesela_propagate_facts facts = tesela_propagation_facts_of(p);
  tesela_propagation_destroy(p);
  return facts;
}

static void dims_of_1_change_nothing(void **state) {
  (void)state;
  const char *rounds_text = getenv("TESELA_ROUNDS");
  int rounds = rounds_text  ? atoi(rounds_text)
               : slow_run() ? 300
                            : 6000,
      compared = 0, possible = 0, moved = 0;
  uint64_t seed = first_seed();
  tesela_target target;
  OK(tesela_target_plain(&target, STICK_BYTES, &e_));
  for (int i = 0; i < rounds; i++) {
    static prog_maker m;
    static prog more;
    tesela_graph *graph;
    prog_draw(&m, seed + (uint64_t)i);
    if (with_ones(&m, &more)) {
      tesela_propagate_options options = {.mode = prog_chance(&m, 75) ? TESELA_PROPAGATE_AUTO
                                                                      : TESELA_PROPAGATE_STRICT,
                                          .share = prog_chance(&m, 30),
                                          .spread = prog_chance(&m, 25),
                                          .compact = prog_chance(&m, 25)};
      OK(prog_graph(&more, &graph, &e_));
      tesela_propagate_facts a = facts_of(m.graph, &target, &options), b = facts_of(graph, &target, &options);
      if (a.ok != b.ok || (a.ok && (a.cost != b.cost || a.n_moves != b.n_moves))) {
        for (int k = 0; k < more.n; k++) {
          const tesela_node *node = tesela_graph_node(graph, k);
          print_message("  v%d = %s rank %d [%d %d %d %d] of", k, more.s[k].op, node->rank,
                        (int)node->shape[0], (int)node->shape[1], (int)node->shape[2], (int)node->shape[3]);
          for (int j = 0; j < more.s[k].n_in; j++) print_message(" v%d", more.s[k].in[j]);
          print_message("\n");
        }
        fail_msg("TESELA_SEED=%" PRIu64 " TESELA_ROUNDS=1: ok %d cost %" PRId64
                 " moves %d, with dims of 1 ok %d cost "
                 "%" PRId64 " moves %d; mode %d share %d spread %d compact %d\n%s",
                 seed + (uint64_t)i, a.ok, a.cost, (int)a.n_moves, b.ok, b.cost, (int)b.n_moves,
                 (int)options.mode, options.share, options.spread, options.compact, m.text);
      }
      compared++;
      possible += a.ok;
      moved += a.ok && a.n_moves > 0;
      tesela_graph_destroy(graph);
    }
    tesela_graph_destroy(m.graph);
  }
  print_message("%d programs, %d with layouts, %d of them with moves\n", compared, possible, moved);
  assert_true(compared > rounds / 8 && possible > 20 && moved > 5);
}

/* A seam inside a stick is a conflict, whatever dims of 1 are around it. */
static void a_seam_is_a_seam(void **state) {
  (void)state;
  static const struct {
    const char *text;
  } rows[] = {
      {"a = input f16[96] ?; b = input f16[32] ?; c = cat 0 a b"},
      {"a = input f16[1,96] ?; b = input f16[1,32] ?; c = cat 1 a b"},
      {"a = input f16[96,1] ?; b = input f16[32,1] ?; c = cat 0 a b"},
      {"a = input f16[1,96] 1; b = input f16[1,32] 1; c = cat 1 a b"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tesela_graph *graph = prog_graph_of(rows[i].text);
    prog_check(graph, prog_spyre(), prog_strictly, false, 0, 0, "c", -9);
    prog_check(graph, prog_spyre(), prog_automatic, false, 0, 0, "c", -9);
    tesela_propagate_options spread = prog_automatic;
    spread.spread = true;
    tesela_propagate_facts facts = facts_of(graph, prog_spyre(), &spread);
    assert_true(facts.ok && facts.cost == 128 + 64);
    tesela_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dims_of_1_change_nothing),
      cmocka_unit_test(a_seam_is_a_seam),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
