/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_along.c - operators along a dim: cumulative ones, sort, and the indices of sorted elements.
 *
 * Line by line: read the elements of a line, then write those of the result's line. Sorting is by merging, so equal elements
 * keep their order, even with the greatest first; NaN counts as the greatest. n elements of a line take n log n steps.
 *
 * For tests of the division all lines are visited once for each share, and only elements of the share are written.
 */
#include <math.h>

#include "graph/run/run.h"

typedef struct along_state {
  tesela__run *run;
  const tesela_node *node;
  tesela_op_loops loops;
  tesela__run_tensor result, operand;
  int32_t dim, line;                     /* iteration dims of the result's line and of the operand's */
  int64_t n, k;                          /* their extents */
  int64_t index[TESELA_GRAPH_ITERATION]; /* of the current element */
  uint8_t *inside[TESELA_GRAPH_RANK];    /* the indices of a result dim in the share; NULL: all */
  tesela__run_value *value;              /* of the line; n */
  int64_t *place, *order, *spare;        /* of its elements; their sorted order, and room to merge; n */
  tesela__run_class in;
  tesela_fn step;          /* cumulative: the function that is repeated */
  tesela__run_value first; /* its initial value */
} along_state;

/* ---- sorting ------------------------------------------------------------------------------------------------ */

/* Does a come before b by its value? */
static bool along_before(const along_state *s, int64_t a, int64_t b) {
  tesela__run_value x = s->value[s->node->reverse ? b : a], y = s->value[s->node->reverse ? a : b];
  if (s->in == TESELA__RUN_FLOAT) return isnan(y.f) ? !isnan(x.f) : x.f < y.f;
  return s->in == TESELA__RUN_SIGNED ? x.i < y.i : (uint64_t)x.i < (uint64_t)y.i;
}

static bool along_sorts(tesela_fn fn) { return fn == TESELA_FN_SORT || fn == TESELA_FN_ARGSORT; }

int64_t tesela__run_along_times(tesela_fn fn, int64_t n) {
  int64_t times = 1;
  for (int64_t width = 1; along_sorts(fn) && width < n; width *= 2) times++;
  return times;
}

/* Fill s->order with the sorted order. */
static tesela_status along_sort(along_state *s, tesela_error *err) {
  for (int64_t i = 0; i < s->n; i++) s->order[i] = i;
  for (int64_t width = 1; width < s->n; width *= 2) {
    for (int64_t low = 0; low < s->n; low += 2 * width) {
      int64_t middle = tesela__min(low + width, s->n), high = tesela__min(low + 2 * width, s->n);
      for (int64_t a = low, b = middle, to = low; to < high; to++) {
        bool second = a == middle || (b < high && along_before(s, s->order[b], s->order[a]));
        s->spare[to] = s->order[second ? b++ : a++];
      }
      tesela_status status = tesela__run_worked(s->run, high - low, err);
      if (status != TESELA_OK) return status;
    }
    int64_t *merged = s->spare;
    s->spare = s->order;
    s->order = merged;
  }
  return TESELA_OK;
}

/* ---- lines -------------------------------------------------------------------------------------------------- */

static void along_read(along_state *s) {
  for (int64_t i = 0; i < s->n; i++) {
    s->index[s->line] = i;
    (void)tesela__run_locate(&s->operand, s->index, 0, &s->place[i]); /* every element exists */
    s->value[i] = tesela__run_read(s->run, &s->operand, s->place[i]);
  }
}

/* Write element i of the result's line, if it is in the share. */
static tesela_status along_write(along_state *s, int64_t i, tesela__run_value value, tesela_error *err) {
  int64_t to;
  if (s->inside[s->dim] && !s->inside[s->dim][i]) return TESELA_OK;
  s->index[s->dim] = i;
  (void)tesela__run_locate(&s->result, s->index, 0, &to);
  s->run->facts.elements++;
  if (s->node->fn == TESELA_FN_SORT)
    return tesela__run_pass(s->run, &s->result, to, &s->operand, s->place[s->order[i]], err);
  if (s->node->fn == TESELA_FN_ARGSORT)
    return tesela__run_write(s->run, &s->result, to, TESELA__RUN_SIGNED, value, err);
  return tesela__run_write(s->run, &s->result, to, s->in, value, err);
}

static tesela_status along_line(along_state *s, tesela_error *err) {
  bool sorts = along_sorts(s->node->fn);
  tesela__run_value sum[2] = {s->first};
  along_read(s);
  tesela_status status = tesela__run_worked(s->run, s->n, err);
  if (status == TESELA_OK && sorts) status = along_sort(s, err);
  for (int64_t i = 0; i < s->k && status == TESELA_OK; i++) {
    int64_t at = !sorts && s->node->reverse ? s->n - 1 - i : i;
    if (sorts) {
      sum[0].i = s->order[i];
    } else {
      sum[1] = s->value[at];
      sum[0] = tesela__run_apply(s->step, s->in, s->operand.buffer->host, sum);
    }
    status = along_write(s, at, sum[0], err);
  }
  return status == TESELA_OK ? tesela__run_worked(s->run, s->k, err) : status;
}

/* Process all lines, or those of the share. */
static tesela_status along_lines(along_state *s, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t d = 0; d < s->node->rank; d++) {
    if (s->node->shape[d] == 0) return TESELA_OK;
    s->index[d] = 0;
  }
  while (status == TESELA_OK) {
    bool of_share = true;
    for (int32_t d = 0; d < s->node->rank; d++)
      of_share = of_share && (d == s->dim || !s->inside[d] || s->inside[d][s->index[d]]);
    if (of_share) status = along_line(s, err);
    int32_t d = s->node->rank - 1;
    for (; d >= 0; d--) {
      if (d == s->dim) continue;
      if (++s->index[d] < s->node->shape[d]) break;
      s->index[d] = 0;
    }
    if (d < 0) break;
  }
  return status;
}

/* ---- the operator ------------------------------------------------------------------------------------------- */

static tesela_status along_no_memory(tesela_error *err) {
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory to run an operator");
}

static tesela_status along_tensor(along_state *s, int32_t node, int32_t k, tesela__run_tensor *tensor,
                                  tesela_error *err) {
  tesela__op_tensor at;
  tesela_status status = tesela__op_tensor_of(s->run->graph, node, k, s->run->plain, &at, err);
  return status != TESELA_OK ? status : tesela__run_tensor_make(s->run, &at, tensor, err);
}

static void along_function(along_state *s) {
  static const tesela_fn folds[] = {TESELA_FN_SUM, TESELA_FN_PROD, TESELA_FN_MAX, TESELA_FN_MIN};
  tesela_fn fn = s->node->fn;
  s->in = s->operand.buffer->class;
  if (fn >= TESELA_FN_CUMSUM && fn <= TESELA_FN_CUMMIN)
    s->step = tesela__run_fold(folds[fn - TESELA_FN_CUMSUM], s->operand.buffer->host, s->in, &s->first);
}

/* The indices of each dim in a share: the counters of a dim's loops are its digits. */
static void along_share(along_state *s, const tesela_core_share *share) {
  for (int32_t d = 0; d < s->node->rank; d++)
    for (int64_t x = 0; x < s->node->shape[d]; x++) {
      s->inside[d][x] = 1;
      for (int32_t l = 0; l < s->loops.n; l++) {
        const tesela_loop *loop = &s->loops.loop[l];
        int64_t counter = loop->dim == d ? x / loop->step % loop->extent : share->start[l];
        if (counter < share->start[l] || counter >= share->start[l] + share->extent[l]) s->inside[d][x] = 0;
      }
    }
}

static tesela_status along_divided(along_state *s, int32_t node, tesela_error *err) {
  tesela_division division = {0};
  tesela_core_share share;
  for (int32_t d = 0; d < s->node->rank; d++) {
    s->inside[d] = tesela__run_take(s->run, &s->run->scratch, s->node->shape[d], 1);
    if (!s->inside[d]) return along_no_memory(err);
  }
  tesela_status status = tesela_graph_divide(s->run->graph, node, s->run->hooks.cores, NULL, &division, err);
  for (int32_t c = 0; c < division.cores && status == TESELA_OK; c++) {
    int32_t core = s->run->hooks.backwards ? division.cores - 1 - c : c;
    status = tesela_graph_share(&s->loops, &division, core, &share, err);
    if (status != TESELA_OK) return status;
    along_share(s, &share);
    status = along_lines(s, err);
  }
  return status;
}

tesela_status tesela__run_along(tesela__run *run, int32_t node, tesela_error *err) {
  along_state *s = tesela__run_take(run, &run->scratch, 1, sizeof *s);
  if (!s) return along_no_memory(err);
  *s = (along_state){.run = run, .node = tesela_graph_node(run->graph, node)};
  if (s->node->fn == TESELA_FN_FUSED)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%.80s has an unknown function and cannot be run",
                        s->node->name);
  tesela_status status = tesela__op_loops(run->graph, node, run->plain, &s->loops, err);
  if (status == TESELA_OK) status = along_tensor(s, node, -1, &s->result, err);
  if (status == TESELA_OK) status = along_tensor(s, node, 0, &s->operand, err);
  if (status != TESELA_OK) return status;
  s->dim = s->node->dim[0];
  s->line = s->node->rank;
  s->n = s->loops.iteration.extent[s->line];
  s->k = s->node->shape[s->dim];
  s->value = tesela__run_take(run, &run->scratch, s->n, sizeof *s->value);
  s->place = tesela__run_take(run, &run->scratch, s->n, sizeof *s->place);
  s->order = tesela__run_take(run, &run->scratch, s->n, sizeof *s->order);
  s->spare = tesela__run_take(run, &run->scratch, s->n, sizeof *s->spare);
  if (!s->value || !s->place || !s->order || !s->spare) return along_no_memory(err);
  along_function(s);
  return run->hooks.cores > 0 && !run->plain ? along_divided(s, node, err) : along_lines(s, err);
}
