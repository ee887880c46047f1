/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_assign_glpk.c - problems too large to go through, against an integer program that glpsol solves, and bounds against its
 * relaxation.
 *
 * A variable for each state of each node, of which one is 1; for each pair of states of an edge a variable, whose sums
 * along each side are the variables of that side. The objective is 1000 * elements + moves, and no sum of moves here
 * reaches 1000. It needs glpsol (Debian: glpk-utils).
 */
#include <unistd.h>

#include "support_assign.h"

#include "solve/assign/work.h"
#include "support_seed.h"

typedef struct glpk_kind {
  const char *name;
  int32_t nodes, states, edges, infinite; /* infinite: per cent of pairs */
  bool alike;                             /* nothing where states match, else the elements of the edge */
} glpk_kind;

static const glpk_kind kinds[] = {
    {"moves between like states", 60, 4, 84, 10, true},
    {"moves, many neighbours", 40, 3, 80, 5, true},
    {"any costs", 30, 3, 42, 10, false},
    {"any costs, hardly a way through", 30, 3, 42, 22, false},
};

static void draw_problem(assign_case *c, const glpk_kind *kind, uint64_t *seed) {
  c->n = kind->nodes;
  c->m = kind->edges;
  for (int32_t v = 0; v < c->n; v++) {
    c->states[v] = kind->states - (assign_draw(seed, 4) == 0);
    const int32_t likes = assign_draw(seed, 3) == 0 ? assign_draw(seed, c->states[v]) : -1;
    for (int32_t i = 0; i < c->states[v]; i++)
      c->node[v][i] = (tesela__cost){likes < 0 || i == likes ? 0 : 8 + 8 * assign_draw(seed, 8), i != likes};
  }
  for (int32_t e = 0; e < c->m; e++) {
    const int32_t a =
        e < c->n - 1 ? e + 1 : assign_draw(seed, c->n); /* a tree first, so that all is connected */
    const int32_t b = e < c->n - 1 ? assign_draw(seed, a) : assign_draw(seed, c->n - 1);
    c->a[e] = a;
    c->b[e] = b == a ? c->n - 1 : b;
    if (c->a[e] == c->b[e]) c->b[e] = 0;
    const int32_t size = 4 << assign_draw(seed, 5), turn = assign_draw(seed, 5) == 0;
    const int32_t wide = c->states[c->b[e]];
    for (int32_t k = 0; k < c->states[a] * wide; k++) {
      c->edge[e][k] =
          kind->alike ? (tesela__cost){size, 1} : (tesela__cost){assign_draw(seed, 60), assign_draw(seed, 3)};
      if (assign_draw(seed, 100) < kind->infinite) c->edge[e][k] = TESELA__COST_INFINITE;
      if (kind->alike && (k / wide + turn) % wide == k % wide) c->edge[e][k] = (tesela__cost){0, 0};
    }
  }
}

/* ---- as an integer program ------------------------------------------------------------------------------------ */

static int64_t weight_of(tesela__cost c) { return 1000 * c.elements + c.moves; }

/* The sum along one side of an edge, less the variable of that side. */
static void write_side(FILE *f, const assign_case *c, int32_t e, bool first) {
  const int32_t n = c->states[c->a[e]], m = c->states[c->b[e]];
  for (int32_t i = 0; i < (first ? n : m); i++) {
    for (int32_t j = 0; j < (first ? m : n); j++)
      fprintf(f, " + y%d_%d_%d\n", (int)e, (int)(first ? i : j), (int)(first ? j : i));
    fprintf(f, " - x%d_%d = 0\n", (int)(first ? c->a[e] : c->b[e]), (int)i);
  }
}

static void write_program(FILE *f, const assign_case *c, bool relaxed) {
  fprintf(f, "Minimize\n cost:\n");
  for (int32_t v = 0; v < c->n; v++)
    for (int32_t i = 0; i < c->states[v]; i++)
      fprintf(f, " + %" PRId64 " x%d_%d\n", weight_of(c->node[v][i]), (int)v, (int)i);
  for (int32_t e = 0; e < c->m; e++)
    for (int32_t i = 0; i < c->states[c->a[e]]; i++)
      for (int32_t j = 0; j < c->states[c->b[e]]; j++) {
        const tesela__cost cost = c->edge[e][i * c->states[c->b[e]] + j];
        if (!tesela__cost_is_infinite(cost))
          fprintf(f, " + %" PRId64 " y%d_%d_%d\n", weight_of(cost), (int)e, (int)i, (int)j);
      }
  fprintf(f, "Subject To\n");
  for (int32_t v = 0; v < c->n; v++) {
    for (int32_t i = 0; i < c->states[v]; i++) fprintf(f, " + x%d_%d", (int)v, (int)i);
    fprintf(f, " = 1\n");
  }
  for (int32_t e = 0; e < c->m; e++) {
    write_side(f, c, e, true);
    write_side(f, c, e, false);
  }
  fprintf(f, "Bounds\n");
  for (int32_t e = 0; e < c->m; e++)
    for (int32_t i = 0; i < c->states[c->a[e]]; i++)
      for (int32_t j = 0; j < c->states[c->b[e]]; j++)
        if (tesela__cost_is_infinite(c->edge[e][i * c->states[c->b[e]] + j]))
          fprintf(f, " y%d_%d_%d = 0\n", (int)e, (int)i, (int)j);
  if (!relaxed) fprintf(f, "Binary\n");
  for (int32_t v = 0; v < c->n && !relaxed; v++)
    for (int32_t i = 0; i < c->states[v]; i++) fprintf(f, " x%d_%d\n", (int)v, (int)i);
  fprintf(f, "End\n");
}

/* What glpsol says: 1 with the objective, 0 that there is no solution, -1 that it did not finish. */
static int ask_glpsol(const assign_case *c, bool relaxed, double *objective) {
  char program[] = "/tmp/tesela-assign-XXXXXX", solution[64], command[256], line[256];
  const int file = mkstemp(program);
  assert_true(file >= 0);
  FILE *f = fdopen(file, "w");
  write_program(f, c, relaxed);
  fclose(f);
  snprintf(solution, sizeof solution, "%s.out", program);
  snprintf(command, sizeof command, "glpsol --lp %s --cuts --tmlim 5 -o %s 2>&1", program, solution);
  int found = -1;
  f = popen(command, "r");
  while (f && fgets(line, sizeof line, f)) {
    if (strstr(line, "PROBLEM HAS NO")) found = 0; /* ... [INTEGER|PRIMAL] FEASIBLE SOLUTION */
    if (strstr(line, relaxed ? "OPTIMAL LP SOLUTION FOUND" : "INTEGER OPTIMAL SOLUTION FOUND")) found = 1;
  }
  if (f) pclose(f);
  f = found == 1 ? fopen(solution, "r") : NULL;
  while (f && fgets(line, sizeof line, f)) sscanf(line, "Objective: cost = %lf", objective);
  if (f) fclose(f);
  remove(program);
  remove(solution);
  return found;
}

static void integer_programs_agree(void **state) {
  (void)state;
  if (system("command -v glpsol >/dev/null 2>&1") != 0) fail_msg("no glpsol (Debian: glpk-utils)");
  uint64_t seed = first_seed();
  int32_t compared = 0, impossible = 0;
  for (int k = 0; k < 24; k++) {
    static assign_case c;
    int32_t answer[ASSIGN_NODES];
    tesela__assigned r;
    double objective = -1;
    const glpk_kind *kind = &kinds[k % 4];
    draw_problem(&c, kind, &seed);
    tesela__assign *problem = assign_build(&c, NULL);
    assert_non_null(problem);
    assert_int_equal(tesela__assign_solve(problem, NULL, 0, answer, &r), TESELA_OK);
    tesela__assign_free(problem);
    const char *fault = assign_fault(&c, NULL, r.cost, true, answer, &r);
    if (fault) fail_msg("%s, case %d: %s", kind->name, k, fault);
    const int found = ask_glpsol(&c, false, &objective);
    if (found < 0) continue; /* it took too long */
    compared++;
    impossible += !r.feasible;
    if (found != r.feasible)
      fail_msg("%s, case %d: glpsol %s", kind->name, k, found ? "finds one" : "finds none");
    if (found && (int64_t)(objective + 0.5) != weight_of(r.cost))
      fail_msg("%s, case %d: %" PRId64 ", glpsol %f", kind->name, k, weight_of(r.cost), objective);
  }
  printf("compared %d, %d of them impossible\n", (int)compared, (int)impossible);
  assert_true(compared >= 12);
}

static bool has_edge(const assign_case *c, int32_t a, int32_t b) {
  for (int32_t e = 0; e < c->m; e++)
    if ((c->a[e] == a && c->b[e] == b) || (c->a[e] == b && c->b[e] == a)) return true;
  return false;
}

/* One edge of two nodes at most, a third of them between turned states, so that many cycles contradict themselves; some nodes
 * want one state. */
static void draw_contradictions(assign_case *c, int32_t degree, uint64_t *seed) {
  c->n = 40;
  c->m = 0;
  for (int32_t v = 0; v < c->n; v++) {
    const int32_t likes = assign_draw(seed, 4) == 0 ? assign_draw(seed, 4) : -1;
    c->states[v] = 4;
    for (int32_t i = 0; i < 4; i++) c->node[v][i] = (tesela__cost){likes < 0 || i == likes ? 0 : 500, 0};
  }
  while (c->m < c->n * degree / 2) {
    const int32_t a = assign_draw(seed, c->n), b = (a + 1 + assign_draw(seed, c->n - 1)) % c->n;
    if (has_edge(c, a, b)) continue;
    const int32_t size = 64 << assign_draw(seed, 6);
    const int32_t turn = assign_draw(seed, 3) == 0 ? 1 + assign_draw(seed, 3) : 0;
    for (int32_t k = 0; k < 16; k++)
      c->edge[c->m][k] = (k / 4 + turn) % 4 == k % 4  ? (tesela__cost){0, 0}
                         : assign_draw(seed, 10) == 0 ? TESELA__COST_INFINITE
                                                      : (tesela__cost){size, 0};
    c->a[c->m] = a;
    c->b[c->m++] = b;
  }
}

/* The elements of the bound that sweeps end at; with `smooth`, after a smooth one. */
static double bound_of(const assign_case *c, bool smooth) {
  tesela__assign_graph g;
  tesela__assign_bound b;
  tesela__assign *problem = assign_build(c, NULL);
  assert_non_null(problem);
  assert_int_equal(tesela__assign_load(&g, problem, NULL), TESELA_OK);
  assert_int_equal(tesela__assign_bound_begin(&b, &g), TESELA_OK);
  for (int k = 0; k < 100; k++) assert_true(tesela__assign_sweep(&b));
  if (smooth) assert_int_equal(tesela__assign_smooth(&b, INT64_MAX), TESELA_OK);
  for (int k = 0; k < 100; k++) assert_true(tesela__assign_sweep(&b));
  const double base = (double)b.base / (double)TESELA__KEY_UNIT;
  tesela__assign_bound_end(&b);
  tesela__assign_drop(&g);
  tesela__assign_free(problem);
  return base;
}

/* No shift of costs can give more than the relaxation has. A smooth bound comes close to that, where sweeps get stuck before. */
static void bounds_reach_the_relaxation(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  double swept = 0, smooth = 0, all = 0;
  for (int k = 0; k < 12; k++) {
    static assign_case c;
    double relaxed = -1;
    draw_contradictions(&c, 3 + k % 3, &seed);
    assert_int_equal(ask_glpsol(&c, true, &relaxed), 1);
    relaxed /= 1000;
    const double with = bound_of(&c, true), without = bound_of(&c, false);
    if (with > relaxed * (1 + 1e-6) || without > with + 1e-6)
      fail_msg("case %d: bounds %f and %f, the relaxation has %f", k, without, with, relaxed);
    if (with < 0.99 * relaxed) fail_msg("case %d: only %f of %f", k, with, relaxed);
    all += relaxed;
    smooth += with;
    swept += without;
  }
  printf("of the relaxation: sweeps %.4f, smooth %.4f\n", swept / all, smooth / all);
  assert_true(smooth > swept);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integer_programs_agree),
      cmocka_unit_test(bounds_reach_the_relaxation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
