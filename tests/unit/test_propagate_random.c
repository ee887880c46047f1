/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_propagate_random.c - random programs of up to eight operators against exhaustive search by definition: the verdict,
 * the first operator without a layout, the price, the number of moves, and all sticks of the outputs. The program with its moves
 * must then be one that needs none, and compute on the device what the first one computes on plain memory.
 *
 * Sticks are of four f16 or two f32 lanes, so that small extents have whole sticks, parts, and seams on and off them. Programs
 * are made statement by statement; what the library's graph refuses is left out. TESELA_SEED says where to begin,
 * TESELA_ROUNDS how many.
 */
#include "support_propagate_random.h"
#include "support_seed.h"

/* ---- comparing ---- */

static void random_options(prog_maker *m, prog_options *o) {
  memset(o, 0, sizeof *o);
  o->stick_bytes = STICK_BYTES;
  o->share = prog_chance(m, m->flavour == 2 ? 60 : 35);
  o->spread = prog_chance(m, 12);
  o->compact = prog_chance(m, 12);
  for (int k = 0; k < m->p.n; k++) { /* outputs: the last values of buffers that nothing reads */
    bool read = false;
    for (int j = k + 1; j < m->p.n; j++) {
      for (int i = 0; i < m->p.s[j].n_in; i++) read = read || m->p.s[j].in[i] == k;
      read = read || (prog_node(m, j)->in_place && prog_node(m, j)->buffer == prog_node(m, k)->buffer);
    }
    if (!read && o->n_outputs < 3) o->output[o->n_outputs++] = k;
  }
  bool used[PROG_STATEMENTS] = {0};
  for (int i = 0; i < 3 && prog_chance(m, 25); i++) {
    int k = prog_below(m, m->p.n);
    const tesela_node *node = prog_node(m, k);
    prog_hint hint = {TESELA_HINT_PREFER, k, prog_below(m, node->rank + 1) - 1, 0, prog_below(m, 40)};
    if (used[k] || node->view) continue;
    used[k] = true;
    bool input = node->op == TESELA_OP_INPUT;
    int kind = prog_below(m, 4);
    if (kind == 0 && !input && node->buffer == k) hint.kind = TESELA_HINT_REQUIRE;
    if (kind == 1 && !input && node->buffer == k && node->rank > 0) hint.kind = TESELA_HINT_FORBID;
    if (kind == 2) hint.kind = input ? TESELA_HINT_FREE : TESELA_HINT_FORBID_MOVE;
    if (hint.kind == TESELA_HINT_FORBID_MOVE)
      hint.operand = node->n_operands > 0 ? prog_below(m, node->n_operands + 1) - 1 : -1;
    if (hint.kind == TESELA_HINT_PREFER && node->buffer != k) continue;
    o->hint[o->n_hints++] = hint;
  }
}

static void explain(const prog_maker *m, const prog_options *o, const char *what) {
  print_message("%s\n%s", what, m->text);
  print_message("moves %d share %d spread %d compact %d, outputs", o->moves, o->share, o->spread, o->compact);
  for (int i = 0; i < o->n_outputs; i++) print_message(" v%d", o->output[i]);
  for (int i = 0; i < o->n_hints; i++)
    print_message(", hint %d on v%d stick %d operand %d price %d", (int)o->hint[i].kind, o->hint[i].node,
                  o->hint[i].stick, o->hint[i].operand, (int)o->hint[i].price);
  print_message("\n");
}

static void prepare(const prog_maker *m, const prog_options *o) {
  for (int i = 0; i < o->n_outputs; i++) OK(tesela_graph_add_output(m->graph, o->output[i], &e_));
  for (int i = 0; i < o->n_hints; i++) {
    tesela_hint hint = {o->hint[i].kind, o->hint[i].node, o->hint[i].stick, o->hint[i].operand,
                        o->hint[i].price};
    OK(tesela_graph_hint(m->graph, &hint, &e_));
  }
}

typedef struct tally {
  int programs, strict, possible, moved, ran, core, twice;
} tally;

static int write_nothing(void *user, const char *text, size_t length) {
  (void)text;
  *(size_t *)user += length;
  return 0;
}

/* The program with its moves needs no more of them: strict, at what was not paid for moves. */
static bool applied_is_strict(const tesela_propagation *p, const tesela_target *target, bool share) {
  tesela_propagate_facts facts = tesela_propagation_facts_of(p), again;
  tesela_propagate_options options = {.share = share};
  tesela_propagation *strict;
  tesela_graph *graph;
  int32_t moves = 0, outputs = 0;
  OK(tesela_graph_apply(&graph, p, &e_));
  for (int32_t k = 0; k < tesela_graph_count(graph); k++) {
    const tesela_node *node = tesela_graph_node(graph, k);
    moves += node->op == TESELA_OP_MOVE;
    outputs += node->output;
    if ((node->buffer == k) != (node->layout != NULL)) return false;
  }
  OK(tesela_graph_propagate(&strict, graph, target, &options, &e_));
  again = tesela_propagation_facts_of(strict);
  tesela_propagation_destroy(strict);
  tesela_graph_destroy(graph);
  return moves == facts.n_moves && outputs > 0 && again.ok && again.cost == facts.cost - facts.moved;
}

/* ---- running ---- */

enum { RUN_TENSORS = 16, RUN_BYTES = 2048 };

typedef struct tensors {
  int n;
  void *at[RUN_TENSORS];
  unsigned char bytes[RUN_TENSORS][RUN_BYTES];
} tensors;

/* Small numbers in every input; indices inside the dim they look up. false if there are too many. */
static bool fill_inputs(prog_maker *m, tensors *in) {
  static const uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200, 0xbc00, 0x3800};
  static const float floats[] = {0, 1, 2, 3, -1, 0.5f};
  in->n = 0;
  for (int k = 0; k < m->p.n; k++) {
    const tesela_node *node = prog_node(m, k);
    int64_t n = 1, dim = 1;
    if (node->op != TESELA_OP_INPUT) continue;
    if (in->n == RUN_TENSORS) return false;
    for (int d = 0; d < node->rank; d++) n *= node->shape[d];
    for (int j = 0; j < m->p.n; j++)
      if (node->dtype == TESELA_S32 && prog_node(m, j)->n_operands > 1 && prog_node(m, j)->operand[1] == k)
        dim = prog_node(m, prog_node(m, j)->operand[0])->shape[prog_node(m, j)->dim[0]];
    if (n * 4 > RUN_BYTES) return false;
    for (int64_t i = 0; i < n; i++) {
      int pick = prog_below(m, 6);
      int32_t index = prog_below(m, (int)dim);
      if (node->dtype == TESELA_F16) memcpy(in->bytes[in->n] + 2 * i, &halves[pick], 2);
      if (node->dtype == TESELA_F32) memcpy(in->bytes[in->n] + 4 * i, &floats[pick], 4);
      if (node->dtype == TESELA_S32) memcpy(in->bytes[in->n] + 4 * i, &index, 4);
    }
    in->at[in->n] = in->bytes[in->n];
    in->n++;
  }
  return true;
}

/* The program on plain memory, and with its moves on the device: are the outputs the same? A program that cannot be run counts as
 * such. */
static bool runs_alike(prog_maker *m, const tesela_propagation *p, const tesela_target *target, int *ran) {
  static tensors in, plain, device;
  tesela_graph_run_options options = {.plain = true};
  tesela_graph_run_facts facts;
  tesela_graph *applied;
  if (!fill_inputs(m, &in)) return true;
  for (int i = 0; i < RUN_TENSORS; i++) {
    plain.at[i] = memset(plain.bytes[i], 1, RUN_BYTES);
    device.at[i] = memset(device.bytes[i], 1, RUN_BYTES);
  }
  tesela_status status =
      tesela_graph_run(m->graph, target, (const void *const *)in.at, plain.at, &options, &facts, NULL);
  if (status == TESELA_E_UNSUPPORTED || status == TESELA_E_INVALID)
    return true; /* a constant 1 looked up in one row */
  assert_int_equal(status, TESELA_OK);
  options.plain = false;
  OK(tesela_graph_apply(&applied, p, &e_));
  OK(tesela_graph_run(applied, target, (const void *const *)in.at, device.at, &options, &facts, &e_));
  tesela_graph_destroy(applied);
  ++*ran;
  return facts.poison_read == 0 && facts.moved == tesela_propagation_facts_of(p).moved &&
         memcmp(plain.bytes, device.bytes, sizeof plain.bytes) == 0;
}

/* Both answers; false with a message if they differ. */
static bool agree(prog_maker *m, const tesela_target *target, const prog_options *o, tally *sum) {
  prog_answer right;
  tesela_propagation *p;
  char what[256];
  tesela_propagate_options options = {
      .mode = o->moves ? TESELA_PROPAGATE_AUTO : TESELA_PROPAGATE_STRICT,
      .share = o->share,
      .spread = o->spread,
      .compact = o->compact,
      .all_sticks = true,
  };
  prog_search(&m->p, o, &right);
  OK(tesela_graph_propagate(&p, m->graph, target, &options, &e_));
  tesela_propagate_facts facts = tesela_propagation_facts_of(p);
  bool same = facts.ok == right.ok && facts.proven;
  if (same && facts.ok)
    same = facts.cost == right.cost && facts.n_moves == right.moves && facts.bound == facts.cost;
  if (same && !facts.ok) same = facts.error_node == right.error;
  snprintf(what, sizeof what, "ok %d/%d error %d/%d cost %" PRId64 "/%" PRId64 " moves %d/%d proven %d",
           facts.ok, right.ok, (int)facts.error_node, right.error, facts.cost, right.cost, (int)facts.n_moves,
           (int)right.moves, facts.proven);
  for (int i = 0; same && facts.ok && i < o->n_outputs; i++) {
    int32_t sticks[PROG_RANK + 1], n = tesela_propagation_sticks(p, o->output[i], PROG_RANK + 1, sticks);
    unsigned found = 0;
    for (int32_t j = 0; j < n; j++) found |= 1u << (sticks[j] + 1);
    same = found == right.sticks[i];
    if (!same) snprintf(what, sizeof what, "sticks of v%d: %x/%x", o->output[i], found, right.sticks[i]);
  }
  if (same && facts.ok && !applied_is_strict(p, target, o->share)) {
    same = false;
    snprintf(what, sizeof what, "the program with its moves is not strict");
  }
  if (same && facts.ok && !runs_alike(m, p, target, &sum->ran)) {
    same = false;
    snprintf(what, sizeof what, "the program with its moves computes something else");
  }
  size_t length = 0;
  tesela_writer writer = {write_nothing, &length};
  OK(tesela_propagation_explain(p, true, &writer, &e_));
  assert_true(length > 20);
  sum->strict += !o->moves && right.ok;
  sum->possible += o->moves && right.ok;
  sum->moved += o->moves && right.ok && right.moves > 0;
  sum->core += facts.core > 0;
  bool twice = false; /* an operand that repeats is moved once */
  for (int32_t k = 0; !o->share && tesela_propagation_move(p, k); k++)
    twice = twice || tesela_propagation_move(p, k)->shared >= 0;
  sum->twice += twice;
  if (!same) explain(m, o, what);
  tesela_propagation_destroy(p);
  return same;
}

static void programs_agree_with_exhaustive_search(void **state) {
  (void)state;
  const char *rounds_text = getenv("TESELA_ROUNDS");
  const uint64_t seed = first_seed();
  int rounds = rounds_text ? atoi(rounds_text) : slow_run() ? 300 : 3000, wrong = 0;
  tesela_target target;
  tally sum = {0};
  OK(tesela_target_plain(&target, STICK_BYTES, &e_));
  for (int i = 0; i < rounds && wrong < 3; i++) {
    static prog_maker m;
    prog_options options;
    prog_draw(&m, seed + (uint64_t)i);
    random_options(&m, &options);
    prepare(&m, &options);
    sum.programs++;
    for (int moves = 0; moves < 2; moves++) {
      options.moves = moves;
      if (!agree(&m, &target, &options, &sum)) {
        print_message("TESELA_SEED=%" PRIu64 " TESELA_ROUNDS=1\n", seed + (uint64_t)i);
        wrong++;
        break;
      }
    }
    tesela_graph_destroy(m.graph);
  }
  print_message("%d programs: %d without moves, %d with, %d of them moved, %d an operand that repeats; %d "
                "left something to search, %d ran\n",
                sum.programs, sum.strict, sum.possible, sum.moved, sum.twice, sum.core, sum.ran);
  assert_int_equal(wrong, 0);
  if (!rounds_text && !slow_run()) assert_true(sum.twice > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(programs_agree_with_exhaustive_search),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
