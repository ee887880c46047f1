/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assign_search.c - branch and bound, depth first.
 *
 * Each decision has two branches: a node has its best state, or any other. After a decision, costs are shifted outwards from
 * the nodes that it changes while much moves, and states that reach the best known cost are dropped. Nodes that were part of a
 * dead end are decided first from then on, then those with few states left. All decisions are on one stack, and all changes in
 * one undo list with each value once per level. The search ends when the list reaches SEARCH_UNDO_MOST entries of 32 bytes.
 *
 * A branch ends when the undecided rest can be reduced and eliminated cheaply: then its best answer is known. This is tried
 * from the depth at which it succeeded recently.
 */
#include "solve/assign/work.h"

static const size_t SEARCH_UNDO_MOST = (size_t)1 << 22;

typedef struct searcher {
  tesela__assign_run *run;
  tesela__assign_bound *b;
  tesela__assign_answer *answer;
  tesela__assign_pool pool;
  struct search_level {
    int32_t node, state;
    size_t n_undo;
    tesela__key base;
  } * level;
  int32_t n_levels;
  int32_t *queue, head, n_queue; /* a ring */
  bool *is_queued;
  int32_t *left;   /* states left of each node */
  int64_t *weight; /* dead ends that a node was part of */
  int32_t *state;
  int64_t last;                  /* the last number of a level */
  int32_t deep, wins;            /* the depth from which elimination is tried; how often it succeeded there */
  tesela__assign_vertex *masked; /* the nodes, with excluded states dead */
  tesela__key *mask;
  int32_t *all, *place, *state_left;
} searcher;

static bool search_begin(searcher *s) {
  const int32_t n = s->b->g->n_nodes;
  int64_t states = 1;
  for (int32_t v = 0; v < n; v++) states += s->b->g->node[v].n;
  s->level = tesela__assign_take(&s->pool, tesela__min(states, n + (int64_t)1), sizeof *s->level);
  s->queue = tesela__assign_take(&s->pool, n, sizeof *s->queue);
  s->is_queued = tesela__assign_take(&s->pool, n, sizeof *s->is_queued);
  s->left = tesela__assign_take(&s->pool, n, sizeof *s->left);
  s->weight = tesela__assign_take(&s->pool, n, sizeof *s->weight);
  s->state = tesela__assign_take(&s->pool, n, sizeof *s->state);
  s->masked = tesela__assign_take(&s->pool, n, sizeof *s->masked);
  s->mask = tesela__assign_take(&s->pool, states, sizeof *s->mask);
  s->all = tesela__assign_take(&s->pool, n, sizeof *s->all);
  s->place = tesela__assign_take(&s->pool, n, sizeof *s->place);
  s->state_left = tesela__assign_take(&s->pool, n, sizeof *s->state_left);
  if (!s->level || !s->queue || !s->is_queued || !s->left || !s->weight || !s->state || !s->masked ||
      !s->mask || !s->all || !s->place || !s->state_left)
    return false;
  for (int32_t v = 0; v < n; v++) {
    s->is_queued[v] = false;
    s->weight[v] = 1;
  }
  return true;
}

/* ---- following up a decision ---------------------------------------------------------------------------------- */

static void search_queue(searcher *s, int32_t v) {
  if (s->is_queued[v]) return;
  const int32_t n = s->b->g->n_nodes;
  s->is_queued[v] = true;
  s->queue[(s->head + s->n_queue++) % n] = v;
}

static int32_t search_count(const searcher *s, int32_t v) {
  int32_t n = 0;
  for (int32_t i = 0; i < s->b->g->node[v].n; i++) n += !tesela__assign_is_out(s->b, v, i);
  return n;
}

static void search_queue_near(searcher *s, int32_t v) {
  for (int32_t h = s->b->g->node[v].first; h >= 0; h = tesela__assign_next(s->b->g, h))
    search_queue(s, tesela__assign_other(s->b->g, h));
}

/* Distribute the costs of v to the edges to undecided nodes; nodes that get at least `enough` for a state are queued. */
static void search_hand_out(searcher *s, int32_t v, tesela__key enough) {
  tesela__assign_bound *b = s->b;
  int32_t open = 0;
  for (int32_t h = b->g->node[v].first; h >= 0; h = tesela__assign_next(b->g, h))
    open += s->left[tesela__assign_other(b->g, h)] > 1;
  if (open == 0) return;
  bool much = false;
  for (int32_t i = 0; i < b->g->node[v].n; i++) {
    const int64_t at = b->node_at[v] + i;
    if (b->value[at] == 0 || tesela__key_is_infinite(b->value[at])) continue;
    const tesela__key share = b->value[at] / open;
    if (share < enough) continue;
    much = true;
    tesela__key rest = b->value[at];
    for (int32_t h = b->g->node[v].first; h >= 0; h = tesela__assign_next(b->g, h)) {
      const int64_t to = b->half_at[h] + i;
      if (s->left[tesela__assign_other(b->g, h)] <= 1 || b->value[to] - share < -TESELA__SHIFT_MOST) continue;
      tesela__assign_set(b, to, b->value[to] - share);
      rest -= share;
    }
    tesela__assign_set(b, at, rest);
  }
  if (!much) return;
  for (int32_t h = b->g->node[v].first; h >= 0; h = tesela__assign_next(b->g, h))
    if (s->left[tesela__assign_other(b->g, h)] > 1) search_queue(s, tesela__assign_other(b->g, h));
}

/* Process the queue. false: no assignment below the limit is left here. */
static bool search_follow(searcher *s) {
  tesela__assign_bound *b = s->b;
  const int32_t n = b->g->n_nodes;
  const tesela__key span = tesela__key_is_infinite(b->limit) ? b->base : b->limit - b->base;
  const tesela__key enough = span / 64 + 1;
  int64_t patience = 8 * (int64_t)n;
  bool alive = true;
  while (s->n_queue > 0) {
    const int32_t v = s->queue[s->head];
    s->head = (s->head + 1) % n;
    s->n_queue--;
    s->is_queued[v] = false;
    if (!alive) continue; /* empty the queue */
    bool dropped = false;
    const int32_t before = s->left[v];
    tesela__assign_collect(b, v);
    s->left[v] = tesela__assign_settle(b, v, &dropped);
    if (s->left[v] == 0) {
      s->weight[v]++;
      alive = false;
      continue;
    }
    if (s->left[v] < before) search_queue_near(s, v);
    if (patience-- > 0 && s->left[v] > 1) search_hand_out(s, v, enough);
  }
  return alive && !b->no_memory;
}

/* ---- the stack ------------------------------------------------------------------------------------------------ */

static void search_recount(searcher *s) {
  for (int32_t v = 0; v < s->b->g->n_nodes; v++) s->left[v] = search_count(s, v);
}

/* The node to decide next; -1: all are decided. */
static int32_t search_pick(const searcher *s) {
  int32_t best = -1;
  for (int32_t v = 0; v < s->b->g->n_nodes; v++) {
    if (s->left[v] < 2) continue;
    if (best < 0) {
      best = v;
      continue;
    }
    const int64_t a = s->weight[v] * s->b->g->node[v].degree * s->left[best];
    const int64_t c = s->weight[best] * s->b->g->node[best].degree * s->left[v];
    if (a > c) best = v;
  }
  return best;
}

/* The state of v with the least cost, of equal ones that of the best answer. */
static int32_t search_state(const searcher *s, int32_t v) {
  const tesela__key *cost = &s->b->value[s->b->node_at[v]];
  int32_t best = 0;
  for (int32_t i = 1; i < s->b->g->node[v].n; i++)
    if (cost[i] < cost[best] ||
        (cost[i] == cost[best] && i == s->answer->state[v] && !tesela__key_is_infinite(s->answer->upper)))
      best = i;
  return best;
}

static void search_descend(searcher *s, int32_t v, int32_t state) {
  tesela__assign_bound *b = s->b;
  s->level[s->n_levels++] = (struct search_level){v, state, b->n_undo, b->base};
  b->now = ++s->last;
  for (int32_t i = 0; i < b->g->node[v].n; i++)
    if (i != state && !tesela__assign_is_out(b, v, i))
      tesela__assign_set(b, b->node_at[v] + i, TESELA__KEY_INFINITE);
  s->left[v] = 1;
  search_queue(s, v);
  search_queue_near(s, v);
}

/* Undo the last decision, and enter its other branch. */
static void search_return(searcher *s) {
  tesela__assign_bound *b = s->b;
  const struct search_level *level = &s->level[--s->n_levels];
  while (b->n_undo > level->n_undo) {
    b->n_undo--;
    b->value[b->undo[b->n_undo].at] = b->undo[b->n_undo].old;
  }
  b->base = level->base;
  b->now = s->n_levels == 0 ? 0 : ++s->last; /* changes without a decision are permanent */
  tesela__assign_set(b, b->node_at[level->node] + level->state, TESELA__KEY_INFINITE);
  search_recount(s);
  search_queue(s, level->node);
  search_queue_near(s, level->node);
}

/* Keep an answer if it is better. */
static void search_keep(searcher *s, const int32_t *state) {
  const tesela__key sum = tesela__assign_sum(s->b->g, state);
  if (sum >= s->answer->upper) return;
  s->answer->upper = sum;
  memcpy(s->answer->state, state, (size_t)s->b->g->n_nodes * sizeof *state);
  s->b->limit = sum - s->run->step + 1;
}

/* All nodes are decided. */
static void search_leaf(searcher *s) {
  for (int32_t v = 0; v < s->b->g->n_nodes; v++)
    for (int32_t i = 0; i < s->b->g->node[v].n; i++)
      if (!tesela__assign_is_out(s->b, v, i)) s->state[v] = i;
  search_keep(s, s->state);
}

/* ---- the rest of a branch ------------------------------------------------------------------------------------- */

/* A graph of the remaining states. */
static tesela_status search_rest(searcher *s, tesela__assign_graph *rest) {
  tesela__assign_graph shell = *s->b->g;
  int64_t at = 0;
  for (int32_t v = 0; v < shell.n_nodes; v++) {
    const tesela__assign_vertex *node = &shell.node[v];
    s->all[v] = v;
    s->masked[v] = *node;
    s->masked[v].cost = &s->mask[at];
    for (int32_t i = 0; i < node->n; i++)
      s->mask[at++] = tesela__assign_is_out(s->b, v, i) ? TESELA__KEY_INFINITE : node->cost[i];
  }
  shell.node = s->masked;
  return tesela__assign_extract(rest, &shell, s->all, shell.n_nodes, s->place);
}

/* Solve the part of `rest` that remains after reduction; s->state gets the states of rest. */
static tesela_status search_end_core(searcher *s, tesela__assign_graph *rest, bool *done) {
  tesela__assign_graph core;
  tesela__key cost;
  int32_t n = 0;
  for (int32_t v = 0; v < rest->n_nodes; v++)
    if (!rest->node[v].gone) s->all[n++] = v;
  tesela_status status = tesela__assign_extract(&core, rest, s->all, n, s->place);
  if (status != TESELA_OK) return status;
  status = tesela__assign_eliminate(&core, s->run->leaf, s->state_left, &cost, done, &s->b->work);
  for (int32_t v = 0; v < n && *done; v++) s->state[s->all[v]] = core.node[v].origin_state[s->state_left[v]];
  tesela__assign_drop(&core);
  return status;
}

/* Reduce and eliminate the undecided nodes; *done: the best answer of this branch is known. */
static tesela_status search_eliminate(searcher *s, bool *done) {
  tesela__assign_graph rest;
  tesela_status status = search_rest(s, &rest);
  *done = false;
  if (status != TESELA_OK) return status;
  s->b->work += 4 * tesela__assign_weight(&rest);
  status = tesela__assign_reduce(&rest, false);
  if (status == TESELA_OK && rest.impossible)
    *done = true;
  else if (status == TESELA_OK)
    status = search_end_core(s, &rest, done);
  if (status == TESELA_OK && *done && !rest.impossible) {
    tesela__assign_restore(&rest, s->state);
    for (int32_t v = 0; v < rest.n_nodes; v++) s->state[v] = rest.node[v].origin_state[s->state[v]];
    search_keep(s, s->state);
  }
  tesela__assign_drop(&rest);
  return status;
}

/* Is the branch finished? */
static bool search_ends(searcher *s, bool *memory) {
  bool done;
  if (s->n_levels < s->deep || s->run->leaf <= 0) return false;
  *memory = search_eliminate(s, &done) == TESELA_OK;
  if (!done) {
    s->deep = s->n_levels + 1;
    s->wins = 0;
  } else if (++s->wins % 8 == 0 && s->deep > 0) {
    s->deep--;
  }
  return done;
}

/* ---- the search ----------------------------------------------------------------------------------------------- */

static bool search_may_go_on(const searcher *s) {
  return !tesela__assign_asked(s->run) && s->run->effort < s->run->most &&
         s->run->work + s->b->work < s->run->most_work && s->b->n_undo < SEARCH_UNDO_MOST && !s->b->no_memory;
}

static void search_run(searcher *s) {
  search_recount(s);
  for (int32_t v = 0; v < s->b->g->n_nodes; v++) search_queue(s, v);
  for (;;) {
    if (!search_may_go_on(s)) return;
    s->run->effort++;
    bool alive = search_follow(s);
    if (s->b->no_memory) return;
    if (s->n_levels == 0) {
      const tesela__key known = alive ? s->b->base : s->answer->upper;
      if (known > s->answer->lower) s->answer->lower = tesela__key_less(known, s->answer->upper);
    }
    int32_t v = alive ? search_pick(s) : -1;
    bool memory = true;
    if (alive && v < 0)
      search_leaf(s);
    else if (alive && search_ends(s, &memory))
      v = -1;
    s->b->no_memory = s->b->no_memory || !memory;
    if (v >= 0) {
      search_descend(s, v, search_state(s, v));
      continue;
    }
    if (s->n_levels == 0) { /* no decision was open */
      s->answer->lower = s->answer->upper;
      return;
    }
    search_return(s);
  }
}

tesela_status tesela__assign_search(tesela__assign_run *run, tesela__assign_bound *b,
                                    tesela__assign_answer *answer) {
  searcher s = {.run = run, .b = b, .answer = answer, .pool = {.allocator = b->pool.allocator}};
  const bool memory = search_begin(&s);
  b->limit = tesela__key_is_infinite(answer->upper) ? answer->upper : answer->upper - run->step + 1;
  if (memory) {
    b->work = 0;
    search_run(&s);
    run->work += b->work;
  }
  tesela__assign_give_back(&s.pool);
  return memory && !b->no_memory ? TESELA_OK : TESELA_E_MEMORY;
}
