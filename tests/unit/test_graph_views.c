/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_views.c - random chains of views against an oracle that composes index functions.
 *
 * A step maps an index of its result to an index of its operand, by the definition of the operator; the chain ends at an
 * index of the buffer. Offset and strides must name the same element for every index. A reshape must be refused exactly if no
 * offset and strides could: if the places of its elements are not an affine function of the index.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_graph_build.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

enum { STEPS = 8, RANK = TESELA_GRAPH_RANK, MOST = 3000 };

/* One step of a chain, in the test's own words. */
typedef struct step {
  tesela_op op;
  int32_t rank, from_rank; /* of the result and the operand */
  int64_t shape[RANK], from[RANK];
  int32_t dim[RANK];
  int64_t start[RANK], step[RANK];
} step;

static uint64_t seed, dice;
static int64_t roll(int64_t n) { /* 0 .. n-1 */
  dice ^= dice << 13, dice ^= dice >> 7, dice ^= dice << 17;
  return (int64_t)(dice % (uint64_t)n);
}

static int64_t elements(int32_t rank, const int64_t *shape) {
  int64_t n = 1;
  for (int32_t d = 0; d < rank; d++) n *= shape[d];
  return n;
}

/* ---- the oracle ---- */

static void unrank(int64_t at, int32_t rank, const int64_t *shape, int64_t *index) {
  for (int32_t d = rank - 1; d >= 0; at /= shape[d--]) index[d] = at % shape[d];
}
static int64_t rank_of(int32_t rank, const int64_t *shape, const int64_t *index) {
  int64_t at = 0;
  for (int32_t d = 0; d < rank; d++) at = at * shape[d] + index[d];
  return at;
}

static bool names(const step *s, int32_t d, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (s->dim[i] == d) return true;
  return false;
}

/* index: of the result, becomes that of the operand. */
static void step_back(const step *s, int64_t *index) {
  int64_t out[RANK] = {0};
  int32_t n = 0;
  switch (s->op) {
  case TESELA_OP_PERMUTE:
    for (int32_t d = 0; d < s->rank; d++) out[s->dim[d]] = index[d];
    break;
  case TESELA_OP_RESHAPE:
    unrank(rank_of(s->rank, s->shape, index), s->from_rank, s->from, out);
    break;
  case TESELA_OP_SQUEEZE:
    for (int32_t d = 0; d < s->from_rank; d++) out[d] = names(s, d, s->from_rank - s->rank) ? 0 : index[n++];
    break;
  case TESELA_OP_UNSQUEEZE:
    for (int32_t d = 0; d < s->rank; d++)
      if (!names(s, d, s->rank - s->from_rank)) out[n++] = index[d];
    break;
  case TESELA_OP_EXPAND:
    for (int32_t d = 0; d < s->from_rank; d++) out[d] = s->from[d] == 1 ? 0 : index[s->dim[d]];
    break;
  default: /* slice */
    for (int32_t d = 0; d < s->rank; d++) out[d] = s->start[d] + index[d] * s->step[d];
  }
  memcpy(index, out, sizeof out);
}

static int64_t place_by_steps(const step *chain, int32_t n, int64_t at) {
  int64_t index[RANK] = {0};
  unrank(at, chain[n - 1].rank, chain[n - 1].shape, index);
  for (int32_t i = n - 1; i >= 0; i--) step_back(&chain[i], index);
  return rank_of(chain[0].from_rank, chain[0].from, index);
}

/* Could any offset and strides say the places of the chain? */
static bool is_affine(const step *chain, int32_t n) {
  const step *last = &chain[n - 1];
  int64_t count = elements(last->rank, last->shape), stride[RANK] = {0}, unit[RANK] = {0};
  if (count == 0) return true;
  int64_t zero = place_by_steps(chain, n, 0);
  for (int32_t d = 0; d < last->rank; d++) {
    memset(unit, 0, sizeof unit);
    unit[d] = 1;
    if (last->shape[d] > 1)
      stride[d] = place_by_steps(chain, n, rank_of(last->rank, last->shape, unit)) - zero;
  }
  for (int64_t at = 0; at < count; at++) {
    int64_t index[RANK] = {0}, place = zero;
    unrank(at, last->rank, last->shape, index);
    for (int32_t d = 0; d < last->rank; d++) place += index[d] * stride[d];
    if (place != place_by_steps(chain, n, at)) return false;
  }
  return true;
}

/* ---- random steps ---- */

static void draw_reshape(step *s) {
  int64_t left = elements(s->from_rank, s->from);
  s->rank = 0;
  if (left == 0) {
    s->rank = 1 + (int32_t)roll(3);
    for (int32_t d = 0; d < s->rank; d++) s->shape[d] = roll(3);
    s->shape[0] = 0;
    return;
  }
  while (left > 1 && s->rank < 5) { /* factors in any order */
    int64_t f = 1 + roll(left);
    while (left % f != 0) f--;
    s->shape[s->rank++] = f;
    left /= f;
  }
  if (left > 1) s->shape[s->rank++] = left;
  while (s->rank < 6 && roll(4) == 0) s->shape[s->rank++] = 1;
}

static void shuffle_dims(step *s, int32_t rank) {
  for (int32_t d = 0; d < rank; d++) s->dim[d] = d;
  for (int32_t d = rank - 1; d > 0; d--) {
    int32_t e = (int32_t)roll(d + 1), t = s->dim[d];
    s->dim[d] = s->dim[e], s->dim[e] = t;
  }
}

static void draw_step(step *s) {
  static const tesela_op ops[] = {TESELA_OP_PERMUTE, TESELA_OP_RESHAPE,   TESELA_OP_RESHAPE,
                                  TESELA_OP_SQUEEZE, TESELA_OP_UNSQUEEZE, TESELA_OP_EXPAND,
                                  TESELA_OP_SLICE};
  s->op = ops[roll(7)];
  s->rank = s->from_rank;
  memcpy(s->shape, s->from, sizeof s->shape);
  if (s->op == TESELA_OP_RESHAPE) draw_reshape(s);
  if (s->op == TESELA_OP_PERMUTE) {
    shuffle_dims(s, s->rank);
    for (int32_t d = 0; d < s->rank; d++) s->shape[d] = s->from[s->dim[d]];
  }
  if (s->op == TESELA_OP_SQUEEZE) {
    s->rank = 0;
    for (int32_t d = 0, n = 0; d < s->from_rank; d++)
      if (s->from[d] == 1)
        s->dim[n++] = d;
      else
        s->shape[s->rank++] = s->from[d];
  }
  if (s->op == TESELA_OP_UNSQUEEZE) {
    s->rank = s->from_rank + 1;
    s->dim[0] = (int32_t)roll(s->rank);
    for (int32_t d = 0; d < s->rank; d++)
      s->shape[d] = d == s->dim[0] ? 1 : s->from[d < s->dim[0] ? d : d - 1];
  }
  if (s->op == TESELA_OP_EXPAND) {
    s->rank = s->from_rank + (int32_t)roll(2);
    shuffle_dims(s, s->rank); /* the first from_rank of them are the operand's dims */
    for (int32_t d = 0; d < s->rank; d++) s->shape[d] = 1 + roll(3);
    for (int32_t d = 0; d < s->from_rank; d++)
      if (s->from[d] != 1) s->shape[s->dim[d]] = s->from[d];
  }
  for (int32_t d = 0; d < s->rank && s->op == TESELA_OP_SLICE; d++) {
    int64_t n = s->from[d];
    s->step[d] = 1 + roll(3);
    s->shape[d] = n == 0 || roll(20) == 0 ? 0 : 1 + roll((n - 1) / s->step[d] + 1);
    int64_t reach = s->shape[d] ? (s->shape[d] - 1) * s->step[d] : 0;
    s->start[d] = n == 0 ? 0 : roll(n - reach);
    if (roll(3) == 0) s->start[d] += reach, s->step[d] = -s->step[d];
  }
}

static tesela_status add_step(tesela_graph *graph, const step *s, int32_t x, int32_t *node,
                              tesela_error *err) {
  tesela_node_spec spec = {.op = s->op,
                           .n_operands = 1,
                           .operand = &x,
                           .rank = s->rank,
                           .shape = s->shape,
                           .dims = s->dim,
                           .start = s->start,
                           .length = s->shape,
                           .step = s->step};
  if (s->op == TESELA_OP_PERMUTE || s->op == TESELA_OP_EXPAND) spec.n_dims = s->from_rank;
  if (s->op == TESELA_OP_UNSQUEEZE) spec.n_dims = 1;
  return tesela_graph_add(graph, &spec, node, err);
}

static void check_view(const tesela_graph *graph, int32_t k, const step *chain, int32_t n) {
  const tesela_node *node = tesela_graph_node(graph, k);
  const step *last = &chain[n - 1];
  assert_int_equal(node->buffer, 0);
  assert_true(node->view);
  assert_int_equal(node->rank, last->rank);
  int64_t count = elements(last->rank, last->shape);
  for (int32_t d = 0; d < last->rank; d++) assert_int_equal(node->shape[d], last->shape[d]);
  for (int64_t at = 0; at < count; at++) {
    int64_t index[RANK] = {0}, place = node->offset, want = place_by_steps(chain, n, at);
    unrank(at, last->rank, last->shape, index);
    for (int32_t d = 0; d < last->rank; d++) place += index[d] * node->stride[d];
    if (place != want)
      fail_msg("TESELA_SEED=%" PRIu64 ": element %" PRId64 " of step %d (%s) at %" PRId64 ", not %" PRId64,
               seed, at, (int)n, tesela_op_name(last->op), place, want);
  }
}

static void chains_of_views_name_the_right_elements(void **state) {
  (void)state;
  int64_t views = 0, refused = 0, reshapes = 0;
  for (int32_t round = 0; round < 4000; round++) {
    step chain[STEPS];
    tesela_graph *graph;
    OK(tesela_graph_create(&graph, NULL, &e_));
    memset(chain, 0, sizeof chain);
    chain[0].from_rank = (int32_t)roll(5);
    for (int32_t d = 0; d < chain[0].from_rank; d++) chain[0].from[d] = roll(25) == 0 ? 0 : 1 + roll(6);
    tesela_node_spec x = {.op = TESELA_OP_INPUT,
                          .dtype = TESELA_F32,
                          .rank = chain[0].from_rank,
                          .shape = chain[0].from,
                          .stick = TESELA_STICK_FREE};
    int32_t k = 0;
    OK(tesela_graph_add(graph, &x, &k, &e_));
    for (int32_t n = 0; n < STEPS;) {
      tesela_error err = {.message = ""};
      draw_step(&chain[n]);
      if (chain[n].rank > 8 || elements(chain[n].rank, chain[n].shape) > MOST) break;
      tesela_status status = add_step(graph, &chain[n], k, &k, &err);
      bool can = is_affine(chain, n + 1);
      if ((status == TESELA_OK) != can)
        fail_msg("TESELA_SEED=%" PRIu64 ": %s %s, but it %s be said: %s", seed, tesela_op_name(chain[n].op),
                 status == TESELA_OK ? "accepted" : "refused", can ? "can" : "cannot", err.message);
      if (chain[n].op == TESELA_OP_RESHAPE) reshapes++;
      if (status != TESELA_OK) {
        assert_int_equal(status, TESELA_E_INVALID);
        assert_non_null(strstr(err.message, "clone it first"));
        refused++;
        break;
      }
      check_view(graph, k, chain, n + 1);
      views++;
      if (++n == STEPS) break;
      chain[n].from_rank = chain[n - 1].rank;
      memcpy(chain[n].from, chain[n - 1].shape, sizeof chain[n].from);
    }
    tesela_graph_destroy(graph);
  }
  print_message("%" PRId64 " views, %" PRId64 " reshapes, %" PRId64 " of them need a copy\n", views, reshapes,
                refused);
  assert_true(views > 8000 && refused > 200);
}

int main(void) {
  seed = first_seed();
  dice = seed * 2654435769u + 88172645463325252u;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_of_views_name_the_right_elements),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
