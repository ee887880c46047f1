/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_divide.c - an operator over cores.
 *
 * A division is a factor for each loop. The search tries all factors that divide their loops, with a product up to the number
 * of cores, and stops after CORES_EFFORT divisions, which operators of up to eight loops do not reach. Of divisions with
 * equally many cores, the one whose cores read least wins, then the one with larger factors in outer loops.
 */
#include "graph/loops/loops.h"

enum { CORES_EFFORT = 1 << 20, CORES_MOST = 1 << 16 };

typedef struct cores_search {
  const tesela_op_loops *loops;
  int32_t cores;
  int64_t forced[TESELA_DEVICE_DIMS];
  uint64_t reads[TESELA_DEVICE_DIMS]; /* bit k: operand k moves with the loop */
  int32_t n_operands;
  bool fold; /* a folded loop may be divided */
  bool line; /* the folded loop is a line that each element needs as a whole: never divided */
  int64_t effort;
  int64_t factor[TESELA_DEVICE_DIMS], best[TESELA_DEVICE_DIMS];
  int64_t best_cores;
  double best_read;
} cores_search;

/* The reads of one core: for each operand the product of the loops that move it. */
static double cores_read(const cores_search *s) {
  double sum = 0;
  for (int32_t k = 0; k < s->n_operands; k++) {
    double count = 1;
    for (int32_t l = 0; l < s->loops->n; l++)
      if (s->reads[l] >> k & 1) count *= (double)(s->loops->loop[l].extent / s->factor[l]);
    sum += count;
  }
  return sum;
}

/* Loops l .. n-1 are open; `product`: of the factors so far. */
static void cores_try(cores_search *s, int32_t l, int64_t product, bool folded) {
  if (++s->effort > CORES_EFFORT) return;
  if (l == s->loops->n) {
    double read = cores_read(s);
    if (product < s->best_cores || (product == s->best_cores && read >= s->best_read)) return;
    s->best_cores = product;
    s->best_read = read;
    memcpy(s->best, s->factor, sizeof s->best);
    return;
  }
  const tesela_loop *loop = &s->loops->loop[l];
  bool whole = loop->lane || loop->extent == 0 || (loop->folded && (folded || !s->fold || s->line));
  int64_t most = s->cores / product;
  for (int64_t f = tesela__min(most, tesela__max(loop->extent, 1)); f >= 1; f--) {
    if (s->forced[l] > 0 ? f != s->forced[l] : f > 1 && (whole || loop->extent % f != 0)) continue;
    s->factor[l] = f;
    cores_try(s, l + 1, product * f, folded || (loop->folded && f > 1));
  }
}

/* Are the given factors valid? */
static tesela_status cores_check(const cores_search *s, tesela_error *err) {
  int64_t product = 1;
  int32_t cut = 0;
  for (int32_t l = 0; l < s->loops->n; l++) {
    const tesela_loop *loop = &s->loops->loop[l];
    int64_t f = s->forced[l];
    if (f == 0) continue;
    if (f < 0 || (f > 1 && (loop->lane || loop->extent % f != 0 || f > loop->extent)))
      return tesela__fail(err, TESELA_E_RANGE, -1,
                          "loop %" PRId32 " of %" PRId64 "%s cut into %" PRId64
                          " parts; a factor must divide its loop, and lanes cannot be cut",
                          l, loop->extent, loop->lane ? " lanes" : "", f);
    cut += loop->folded && f > 1;
    if (loop->folded && f > 1 && s->line)
      return tesela__fail(
          err, TESELA_E_RANGE, -1,
          "loop %" PRId32 " is cut into %" PRId64 " parts; each element needs the whole line along it", l, f);
    if (!tesela__mul(product, f, &product) || product > s->cores)
      return tesela__fail(err, TESELA_E_RANGE, -1, "the factors given need more than %" PRId32 " cores",
                          s->cores);
  }
  if (cut > 1)
    return tesela__fail(err, TESELA_E_RANGE, -1, "%" PRId32 " folded loops are cut; expected at most one",
                        cut);
  return TESELA_OK;
}

/* Which operands move with which loop. */
static tesela_status cores_reads(cores_search *s, const tesela_graph *graph, int32_t node,
                                 tesela_error *err) {
  tesela_index index[TESELA_GRAPH_RANK];
  const tesela_node *of = tesela_graph_node(graph, node);
  s->n_operands = of->n_operands < 64 ? of->n_operands : 64; /* further operands (of cat) are alike */
  for (int32_t k = 0; k < s->n_operands; k++) {
    tesela_status status = tesela_graph_operand_index(graph, node, k, index, err);
    if (status != TESELA_OK) return status;
    int32_t rank = tesela_graph_node(graph, of->operand[k])->rank;
    for (int32_t d = 0; d < rank; d++)
      for (int32_t l = 0; l < s->loops->n; l++)
        if (index[d].dim[0] == s->loops->loop[l].dim || index[d].dim[1] == s->loops->loop[l].dim)
          s->reads[l] |= (uint64_t)1 << k;
  }
  return TESELA_OK;
}

/* ---- balance ------------------------------------------------------------------------------------------------ */

/* The number of indices below `limit` of dim `dim` that a share's counters reach, counting loops with a step below `above`. */
static int64_t cores_count(const tesela_op_loops *loops, const tesela_core_share *share, int32_t dim,
                           int64_t above, int64_t limit) {
  int32_t top = -1;
  int64_t below = 1;
  if (limit <= 0) return 0;
  for (int32_t l = 0; l < loops->n; l++) {
    const tesela_loop *loop = &loops->loop[l];
    if (loop->dim != dim || loop->step >= above) continue;
    below *= share->extent[l];
    if (top < 0 || loop->step > loops->loop[top].step) top = l;
  }
  if (top < 0) return 1;
  if (below == 0) return 0;
  int64_t step = loops->loop[top].step, whole = limit / step; /* smaller counters are all inside */
  int64_t first = share->start[top], end = first + share->extent[top];
  int64_t n = tesela__max(tesela__min(whole, end) - first, 0) * (below / share->extent[top]);
  if (whole >= first && whole < end) n += cores_count(loops, share, dim, step, limit - whole * step);
  return n;
}

/* The most indices of one dim that a core has. */
static int64_t cores_most(const tesela_op_loops *loops, const tesela_division *division, int32_t dim) {
  tesela_core_share share = {{0}, {0}};
  int64_t part[TESELA_DEVICE_DIMS] = {0}, most = 0;
  for (;;) {
    for (int32_t l = 0; l < loops->n; l++) {
      share.extent[l] = loops->loop[l].extent / division->factor[l];
      share.start[l] = part[l] * share.extent[l];
    }
    most = tesela__max(most, cores_count(loops, &share, dim, INT64_MAX, loops->iteration.extent[dim]));
    int32_t l = loops->n - 1;
    for (; l >= 0; l--) {
      if (loops->loop[l].dim != dim) continue;
      if (++part[l] < division->factor[l]) break;
      part[l] = 0;
    }
    if (l < 0) return most;
  }
}

static void cores_balance(const tesela_op_loops *loops, tesela_division *division) {
  double whole = 1;
  division->most = 1;
  for (int32_t i = 0; i < loops->iteration.n; i++) {
    int64_t most = cores_most(loops, division, i);
    if (!tesela__mul(division->most, most, &division->most)) division->most = INT64_MAX;
    whole *= (double)loops->iteration.extent[i];
  }
  division->balance = whole > 0 ? (double)division->most * division->cores / whole : 1;
}

/* ---- the division ------------------------------------------------------------------------------------------- */

static void cores_search_all(cores_search *s) {
  cores_try(s, 0, 1, false);
  if (s->best_cores >= s->cores || s->line) return;
  cores_search folded = *s;
  folded.fold = true;
  folded.effort = 0;
  cores_try(&folded, 0, 1, false);
  if (folded.best_cores > s->best_cores) *s = folded;
}

tesela_status tesela_graph_divide(const tesela_graph *graph, int32_t node, int32_t cores,
                                  const int64_t *forced, tesela_division *division, tesela_error *err) {
  TESELA__NEED(err, graph, division);
  tesela_op_loops loops;
  cores_search s = {.loops = &loops, .cores = cores};
  if (cores < 1 || cores > CORES_MOST)
    return tesela__fail(err, TESELA_E_RANGE, -1, "%" PRId32 " cores; expected 1 to %d", cores, CORES_MOST);
  tesela_status status = tesela_graph_loops(graph, node, &loops, err);
  if (status == TESELA_OK) s.line = tesela_graph_node(graph, node)->op == TESELA_OP_ALONG;
  if (status == TESELA_OK && forced) {
    memcpy(s.forced, forced, sizeof s.forced);
    status = cores_check(&s, err);
  }
  if (status == TESELA_OK) status = cores_reads(&s, graph, node, err);
  if (status != TESELA_OK) return status;
  for (int32_t l = 0; l < loops.n; l++) s.best[l] = s.factor[l] = s.forced[l] > 0 ? s.forced[l] : 1;
  cores_search_all(&s);
  tesela_division made = {.cores = 1, .n = loops.n, .folded = -1};
  for (int32_t l = 0; l < loops.n; l++) {
    made.factor[l] = s.best[l];
    made.cores *= (int32_t)s.best[l];
    if (loops.loop[l].folded && s.best[l] > 1) made.folded = l;
  }
  cores_balance(&loops, &made);
  *division = made;
  return TESELA_OK;
}

tesela_status tesela_graph_share(const tesela_op_loops *loops, const tesela_division *division, int32_t c,
                                 tesela_core_share *share, tesela_error *err) {
  TESELA__NEED(err, loops, division, share);
  if (c < 0 || c >= division->cores)
    return tesela__fail(err, TESELA_E_RANGE, -1, "core %" PRId32 "; expected 0 to %" PRId32, c,
                        division->cores - 1);
  tesela_core_share made = {{0}, {0}};
  for (int32_t l = loops->n - 1; l >= 0; l--) {
    int32_t f = (int32_t)division->factor[l];
    made.extent[l] = loops->loop[l].extent / f;
    made.start[l] = c % f * made.extent[l];
    c /= f;
  }
  *share = made;
  return TESELA_OK;
}
