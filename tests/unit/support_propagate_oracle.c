/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_propagate_oracle.c - propagation by definition, for small programs.
 *
 * Every tensor is a list: for each of its elements, the element of the buffer. A layout gives each element of a buffer
 * a stick and a lane. The rules (`graph_rules` of tests/vectors/spyre_seed_examples.json) are judged at every point of
 * the iteration space; then all layouts of all buffers are tried, with every move before every operand. Shares no code
 * with the library. Slow.
 *
 *   pointwise  at every point each operand's lane equals the result's lane and its stick depends only on the result's
 *              stick; or the operand is in lane 0 and does not change inside a result stick
 *   others     see their functions
 *
 * With types of several widths an operand has its own lanes; "inside a stick" is one of the wider sticks.
 */
#include "support_propagate_parts.h"

/* ---- search ---- */

static bool worse(const search *w, int64_t cost, int64_t moves) {
  if (!w->found) return false;
  if (cost != w->best) return cost > w->best;
  return w->any_moves || moves >= w->best_moves;
}

/* Is each element in its own stick, where another layout would have several in one? */
static bool one_per_stick(const tensor *t, int stick) {
  bool longer = false;
  for (int d = 0; d < t->rank; d++) longer = longer || t->shape[d] > 1;
  return longer && (stick == 0 || t->shape[stick - 1] == 1);
}

static bool may_move(const search *w, const need *n, int to) {
  const tensor *t = &w->t[n->buffer];
  bool spreads = to <= t->rank && one_per_stick(t, to), compacts = one_per_stick(t, w->stick[n->buffer]);
  return n->movable && (!spreads || w->options->spread) && (!compacts || w->options->compact) &&
         to <= w->t[n->buffer].rank && (to != 0 || w->t[n->buffer].rank > 0);
}

/* Does an earlier operand of statement k have the same elements of the same value, moved to `to`? Both count as one. */
static bool moved_before(const search *w, int k, int i, int to) {
  const need *all = w->op[k].need;
  const tensor *t = &w->t[all[i].seen];
  for (int j = 0; j < i; j++) {
    const tensor *other = &w->t[all[j].seen];
    bool same = all[j].value == all[i].value && other->rank == t->rank && w->went[k][j] == to;
    for (int d = 0; d < t->rank && same; d++) same = other->shape[d] == t->shape[d];
    for (int64_t e = 0; same && e < t->n; e++) same = other->element[e] == t->element[e];
    if (same) return true;
  }
  return false;
}

static void statement(search *w, int k, int64_t cost, int64_t moves);

/* Operands i and later of statement k for a label, each with every possible move. */
static void operands(search *w, int k, int label, int i, int64_t cost, int64_t moves) {
  const operation *op = &w->op[k];
  if (worse(w, cost, moves)) return;
  if (i == op->n_needs) {
    statement(w, k + 1, cost, moves);
    return;
  }
  const need *n = &op->need[i];
  int at = w->stick[n->buffer];
  w->went[k][i] = -1;
  if (n->legal[label][at]) { /* moving it anyway is never cheaper */
    operands(w, k, label, i + 1, cost, moves);
    return;
  }
  for (int to = 0; to <= w->t[n->buffer].rank; to++) {
    if (to == at || !n->legal[label][to] || !may_move(w, n, to)) continue;
    w->went[k][i] = to;
    if (w->options->share ? w->copied[n->value][to] : moved_before(w, k, i, to)) {
      operands(w, k, label, i + 1, cost, moves);
      continue;
    }
    w->copied[n->value][to] = true;
    operands(w, k, label, i + 1, cost + prog_places(w, n->buffer, at), moves + 1);
    w->copied[n->value][to] = false;
  }
}

static void labels(search *w, int k, int64_t cost, int64_t moves) {
  const tensor *t = &w->t[k];
  for (int label = 0; label <= t->rank; label++)
    if (w->op[k].under[w->stick[t->buffer]][label]) operands(w, k, label, 0, cost, moves);
}

static void statement(search *w, int k, int64_t cost, int64_t moves) {
  if (k > w->deepest) w->deepest = k;
  if (k == w->p->n) {
    if (worse(w, cost, moves)) return;
    w->found = true;
    w->best = cost;
    w->best_moves = moves;
    return;
  }
  if (!w->op[k].used) {
    statement(w, k + 1, cost, moves);
  } else if (w->t[k].buffer != k) {
    labels(w, k, cost, moves);
  } else {
    for (int stick = 0; stick <= w->t[k].rank; stick++) {
      if (!w->allowed[k][stick] || worse(w, cost + w->prefer[k][stick], moves)) continue;
      w->stick[k] = stick;
      labels(w, k, cost + w->prefer[k][stick], moves);
    }
  }
}

/* Lanes, values and allowed sticks of each buffer. */
static void begin(search *w) {
  for (int k = 0; k < w->p->n; k++) {
    const prog_statement *s = &w->p->s[k];
    tesela_dtype dtype = s->dtype;
    bool is_free = s->stick == PROG_FREE;
    if (prog_is(s, "rank")) dtype = TESELA_S32;
    if (dtype == TESELA_DTYPE_NONE) /* pointwise has the type of its last operand, others of the first */
      w->lanes[k] = w->lanes[s->in[prog_is(s, "pw") ? s->n_in - 1 : 0]];
    else
      w->lanes[k] = w->options->stick_bytes / tesela_dtype_bytes(dtype);
    prog_operate(w, k);
    w->value[k] = w->op[k].used ? k : w->value[s->in[0]];
    for (int h = 0; h < w->options->n_hints; h++)
      is_free = is_free || (w->options->hint[h].kind == TESELA_HINT_FREE && w->options->hint[h].node == k);
    for (int stick = 0; stick <= w->t[k].rank; stick++) {
      bool input = prog_is(s, "input");
      w->allowed[k][stick] = !input || w->t[k].rank == 0 ||
                             (is_free ? stick > 0 && !one_per_stick(&w->t[k], stick) : stick == s->stick + 1);
      for (int h = 0; h < w->options->n_hints; h++) {
        const prog_hint *hint = &w->options->hint[h];
        if (hint->node != k) continue;
        if (hint->kind == TESELA_HINT_REQUIRE && hint->stick + 1 != stick) w->allowed[k][stick] = false;
        if (hint->kind == TESELA_HINT_FORBID && hint->stick + 1 == stick) w->allowed[k][stick] = false;
        if (hint->kind == TESELA_HINT_PREFER && hint->stick + 1 != stick) w->prefer[k][stick] += hint->price;
      }
    }
  }
}

void prog_search(const prog *p, const prog_options *options, prog_answer *answer) {
  search *w = calloc(1, sizeof *w);
  *w = (search){.p = p, .options = options};
  memset(answer, 0, sizeof *answer);
  begin(w);
  statement(w, 0, 0, 0);
  answer->ok = w->found;
  answer->error = w->found ? -1 : w->deepest;
  answer->cost = w->best;
  answer->moves = w->best_moves;
  for (int i = 0; i < options->n_outputs && answer->ok; i++) {
    int buffer = w->t[options->output[i]].buffer;
    bool allowed[STICKS];
    memcpy(allowed, w->allowed[buffer], sizeof allowed);
    for (int stick = 0; stick <= w->t[buffer].rank; stick++) {
      if (!allowed[stick]) continue;
      memset(w->allowed[buffer], 0, sizeof allowed);
      w->allowed[buffer][stick] = true;
      w->found = true; /* search for equal cost with any number of moves: one below the next higher cost */
      w->any_moves = true;
      w->best = answer->cost + 1;
      statement(w, 0, 0, 0);
      if (w->best <= answer->cost) answer->sticks[i] |= 1u << stick;
    }
    memcpy(w->allowed[buffer], allowed, sizeof allowed);
    w->any_moves = false;
  }
  for (int k = 0; k < p->n; k++) free(w->t[k].element);
  free(w);
}
