/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_assign.c - the assignment of states to nodes: graphs that reduce to nothing, networks, random graphs.
 *
 * Costs are as those of layouts: an edge costs nothing where the states of its ends match (as they are, or across a
 * permutation for some edges: `twisted` of a hundred), else all elements of the larger end and one move; one pair in ten is forbidden, as
 * is one state in ten. For each family the worst of five problems: seconds, nodes left after reduction, nodes of the
 * search tree, the gap between the answer and the bound in per cent, and how many were proven best.
 *
 * Where a third of the edges of random graphs is twisted, no part is small, and half of the cycles contradict themselves. The first
 * problems of these families have a best known answer (from longer runs of this search, below those of others) and the
 * bound of the linear program over pairs (HiGHS), both in elements.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "solve/assign/assign.h"
#include "race.h"
#include "timing.h"

enum { MOST_NODES = 6000, MOST_STATES = 200, PROBLEMS = 5 };

static uint64_t seed;

static int32_t draw(int32_t n) {
  uint64_t x = seed += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (int32_t)((x ^ (x >> 31)) % (uint64_t)n);
}

/* ---- problems ------------------------------------------------------------------------------------------------ */

typedef struct maker {
  tesela__assign *problem;
  int32_t n_nodes, n_edges, states, twisted;
  int64_t size[MOST_NODES]; /* elements */
} maker;

static int32_t add_node(maker *m, int64_t size) {
  tesela__cost cost[MOST_STATES];
  int32_t node;
  for (int32_t i = 0; i < m->states; i++)
    cost[i] = i > 0 && draw(10) == 0 ? TESELA__COST_INFINITE : (tesela__cost){0, 0};
  const int32_t only = draw(12) == 0 ? draw(m->states) : -1; /* pinned from outside, or dear to change */
  for (int32_t i = 0; only >= 0 && i < m->states; i++)
    cost[i] = (tesela__cost){i == only ? 0 : size, i != only};
  if (tesela__assign_node(m->problem, m->states, cost, &node) != TESELA_OK) race_fail("no node");
  m->size[node] = size;
  m->n_nodes++;
  return node;
}

static void add_edge(maker *m, int32_t a, int32_t b) {
  static tesela__cost cost[MOST_STATES * MOST_STATES];
  const int32_t n = m->states, turn = draw(100) < m->twisted ? draw(n) : 0;
  const int64_t size = m->size[a] > m->size[b] ? m->size[a] : m->size[b];
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) {
      const bool same = (i + turn) % n == j;
      cost[i * n + j] = same            ? (tesela__cost){0, 0}
                        : draw(10) == 0 ? TESELA__COST_INFINITE
                                        : (tesela__cost){size, 1};
    }
  if (tesela__assign_edge(m->problem, a, b, cost) != TESELA_OK) race_fail("no edge");
  m->n_edges++;
}

static int64_t some_size(void) { return (int64_t)64 << draw(10); }

static void make_chain(maker *m, int32_t n) {
  for (int32_t v = 0; v < n; v++) {
    add_node(m, some_size());
    if (v > 0) add_edge(m, v - 1, v);
  }
}

static void make_tree(maker *m, int32_t n) {
  for (int32_t v = 0; v < n; v++) {
    add_node(m, some_size());
    if (v > 0) add_edge(m, draw(v), v);
  }
}

/* Paths between two nodes, in place of edges of what there was before. */
static void make_series_parallel(maker *m, int32_t n) {
  static int32_t ends[2 * MOST_NODES][2];
  int32_t n_ends = 1;
  ends[0][0] = add_node(m, some_size());
  ends[0][1] = add_node(m, some_size());
  add_edge(m, ends[0][0], ends[0][1]);
  while (m->n_nodes < n) {
    const int32_t k = draw(n_ends), v = add_node(m, some_size());
    add_edge(m, ends[k][0], v);
    add_edge(m, v, ends[k][1]);
    ends[n_ends][0] = ends[k][0];
    ends[n_ends++][1] = v;
    ends[n_ends][0] = v;
    ends[n_ends++][1] = ends[k][1];
  }
}

/* Blocks with three branches that meet, a skip around each, and weights that every eighth block shares. */
static void make_network(maker *m, int32_t n) {
  int32_t weight[8], x = add_node(m, 1 << 16);
  for (int32_t k = 0; k < 8; k++) weight[k] = add_node(m, 1 << 14);
  for (int32_t block = 0; m->n_nodes + 9 <= n; block++) {
    int32_t branch[3];
    for (int32_t k = 0; k < 3; k++) {
      branch[k] = add_node(m, 1 << 15);
      add_edge(m, x, branch[k]);
    }
    const int32_t score = add_node(m, 1 << 17), mixed = add_node(m, 1 << 15), out = add_node(m, 1 << 16);
    add_edge(m, branch[0], score);
    add_edge(m, branch[1], score);
    add_edge(m, score, mixed);
    add_edge(m, branch[2], mixed);
    add_edge(m, mixed, out);
    add_edge(m, x, out);
    const int32_t up = add_node(m, 1 << 18), down = add_node(m, 1 << 16);
    add_edge(m, out, up);
    add_edge(m, up, down);
    add_edge(m, out, down);
    if (block % 8 == 0)
      for (int32_t k = 0; k < 3; k++) add_edge(m, weight[k], branch[k]);
    else {
      const int32_t own = add_node(m, 1 << 14);
      add_edge(m, own, up);
    }
    x = down;
  }
}

static void make_random(maker *m, int32_t n, int32_t tenths) {
  for (int32_t v = 0; v < n; v++) add_node(m, some_size());
  while (m->n_edges < n * tenths / 20) {
    const int32_t a = draw(n), b = draw(n);
    if (a != b) add_edge(m, a, b);
  }
}

static void make_random_3(maker *m, int32_t n) { make_random(m, n, 30); }
static void make_random_4(maker *m, int32_t n) { make_random(m, n, 40); }
static void make_random_6(maker *m, int32_t n) { make_random(m, n, 60); }

/* Each node with some of the twenty before it. */
static void make_band(maker *m, int32_t n) {
  for (int32_t v = 0; v < n; v++) {
    add_node(m, some_size());
    for (int32_t k = 0; k < 2 && v > 0; k++) {
      const int32_t back = 1 + draw(20);
      if (back <= v) add_edge(m, v - back, v);
    }
  }
}

/* ---- races --------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  void (*make)(maker *, int32_t);
  int32_t nodes, states, twisted;
  bool no_core, proven;     /* goals */
  double most_gap, seconds; /* the same; a gap of 100: none */
} families[] = {
    {"chain", make_chain, 5000, 8, 33, true, true, 0, 1},
    {"chain", make_chain, 300, 200, 33, true, true, 0, 10},
    {"tree", make_tree, 5000, 8, 33, true, true, 0, 1},
    {"series-parallel", make_series_parallel, 5000, 8, 33, true, true, 0, 1},
    {"series-parallel", make_series_parallel, 500, 60, 33, true, true, 0, 10},
    {"network", make_network, 1000, 5, 33, false, true, 0, 10},
    {"network", make_network, 5000, 5, 33, false, true, 0, 10},
    {"network", make_network, 5000, 16, 10, false, true, 0, 10},
    {"network", make_network, 500, 60, 5, false, true, 0, 10},
    {"band of 20, degree 4", make_band, 1000, 5, 5, false, false, 1, 10},
    {"random, degree 3", make_random_3, 1000, 5, 0, false, false, 1, 10},
    {"random, degree 4", make_random_4, 1000, 5, 0, false, false, 1, 10},
    {"random, degree 6", make_random_6, 1000, 5, 0, false, false, 1, 10},
    {"random, degree 3", make_random_3, 1000, 5, 5, false, false, 1, 10},
    {"random, degree 4", make_random_4, 1000, 5, 5, false, false, 1, 10},
    {"network", make_network, 2000, 16, 33, false, true, 0, 10},
    {"random, degree 3", make_random_3, 1000, 5, 33, false, false, 100, 10},
    {"random, degree 4", make_random_4, 1000, 5, 33, false, false, 100, 10},
};

static double gap_of(const tesela__assigned *r) {
  if (!r->feasible || r->proven || r->cost.elements == 0) return 0;
  return 100 * (double)(r->cost.elements - r->bound.elements) / (double)r->cost.elements;
}

/* The first problems of two families, in elements. */
static const struct {
  void (*make)(maker *, int32_t);
  int32_t twisted;
  int64_t best, relaxed; /* the best known answer; the bound of the linear program */
} known[] = {{make_random_3, 33, 1929216, 1471410}, {make_random_4, 33, 3737472, 2459763}};

static void print_known(size_t k, const tesela__assigned *first, double seconds) {
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (known[i].make != families[k].make || known[i].twisted != families[k].twisted) continue;
    const double above = 100 * ((double)first->cost.elements / (double)known[i].best - 1);
    const double below = fmax(0, 100 * (1 - (double)first->bound.elements / (double)known[i].relaxed));
    printf("    the first: cost %" PRId64 ", %.3f %% above the best known; bound %" PRId64
           ", %.3f %% below that of the linear program\n",
           first->cost.elements, above, first->bound.elements, below);
    bench_figure("assign.above_known_percent", above);
    bench_figure("assign.below_relaxed_percent", below);
    bench_figure("assign.seconds", seconds);
  }
}

static void run_family(size_t k) {
  static int32_t state[MOST_NODES];
  double worst = 0, gap = 0;
  int64_t effort = 0;
  int32_t core = 0, feasible = 0, proven = 0, edges = 0;
  tesela__assigned first = {0};
  for (int32_t p = 0; p < PROBLEMS; p++) {
    static maker m;
    tesela__assigned r;
    seed = 1000 * k + (uint64_t)p;
    m.problem = tesela__assign_new(NULL);
    m.n_nodes = m.n_edges = 0;
    m.states = families[k].states;
    m.twisted = families[k].twisted;
    families[k].make(&m, families[k].nodes);
    const double start = bench_now();
    if (tesela__assign_solve(m.problem, NULL, 0, state, &r) != TESELA_OK) race_fail("not solved");
    worst = fmax(worst, (bench_now() - start) * 1e-9);
    gap = fmax(gap, gap_of(&r));
    effort = r.effort > effort ? r.effort : effort;
    core = r.core > core ? r.core : core;
    feasible += r.feasible;
    proven += r.proven;
    edges = m.n_edges;
    if (p == 0) first = r;
    tesela__assign_free(m.problem);
  }
  const bool ok = worst <= families[k].seconds && (!families[k].no_core || core == 0) &&
                  (!families[k].proven || proven == PROBLEMS) && gap <= families[k].most_gap;
  printf("  %-22s %5" PRId32 " nodes %5" PRId32 " edges %3" PRId32 " states %2" PRId32
         " %% twisted %7.3f s  core %5" PRId32 "  search %8" PRId64
         "  gap %6.3f %%  feasible %d/%d  proven %d/%d  %s\n",
         families[k].name, families[k].nodes, edges, families[k].states, families[k].twisted, worst, core,
         effort, gap, feasible, PROBLEMS, proven, PROBLEMS, ok ? "ok" : "MISS");
  print_known(k, &first, worst);
}

int main(void) {
  printf("assignment: the worst of %d problems\n", PROBLEMS);
  for (size_t k = 0; k < sizeof families / sizeof families[0]; k++) run_family(k);
  return 0;
}
