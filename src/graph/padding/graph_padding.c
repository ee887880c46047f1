/* SPDX-License-Identifier: Apache-2.0 */
/* graph_padding.c - the content of padding: analysis, queries, and fills of inputs that would help. */
#include "graph/padding/padding.h"

static tesela_status padding_no_memory(tesela_error *err) {
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the values of padding");
}

/* At least one byte, so that NULL means out of memory. */
static void *padding_take(const tesela_padding *p, int32_t count, size_t size) {
  return tesela__alloc(&p->allocator, (uint64_t)tesela__max(count, 1) * size, _Alignof(max_align_t));
}

/* ---- inputs -------------------------------------------------------------------------------------------------- */

/* The fill of each input as a value. */
static tesela_status padding_inputs(const tesela_padding *p, const tesela_padding_fill *fill,
                                    tesela__pad_value *value, tesela_error *err) {
  int32_t n = 0;
  for (int32_t k = 0; k < p->count; k++) {
    const tesela_node *node = tesela_graph_node(p->graph, k);
    tesela_status status = TESELA_OK;
    tesela__pad_value copy;
    if (node->op == TESELA_OP_INPUT) {
      status = tesela__pad_fill_value(&fill[n], &p->node[k], &value[n], err);
      n++;
    }
    if (node->op == TESELA_OP_CLONE || node->op == TESELA_OP_MOVE)
      status = tesela__pad_fill_value(&p->copy, &p->node[k], &copy, err);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

static int32_t padding_count_inputs(const tesela_graph *graph) {
  int32_t n = 0;
  for (int32_t k = 0; k < tesela_graph_count(graph); k++)
    n += tesela_graph_node(graph, k)->op == TESELA_OP_INPUT;
  return n;
}

/* ---- made ---------------------------------------------------------------------------------------------------- */

/* The arrays of a pass. */
static bool padding_room(tesela_padding *p) {
  p->hold = padding_take(p, p->count, sizeof *p->hold);
  p->uniform = padding_take(p, p->count, sizeof *p->uniform);
  p->read = padding_take(p, p->n_reads, sizeof *p->read);
  return p->hold && p->uniform && p->read;
}

static void padding_drop(tesela_padding *p) {
  tesela__release(&p->allocator, p->hold);
  tesela__release(&p->allocator, p->uniform);
  tesela__release(&p->allocator, p->read);
}

static tesela_status padding_make(tesela_padding *p, const tesela_padding_options *options,
                                  tesela_error *err) {
  p->node = padding_take(p, p->count, sizeof *p->node);
  p->input = padding_take(p, p->n_inputs, sizeof *p->input);
  if (!p->node || !p->input) return padding_no_memory(err);
  for (int32_t i = 0; i < p->n_inputs; i++)
    p->input[i] = options->input ? options->input[i] : (tesela_padding_fill){.pad = TESELA_PAD_LEAVE};
  tesela_status status = tesela__padding_build(p, err);
  if (status != TESELA_OK) return status;
  tesela__pad_value *value = padding_take(p, p->n_inputs, sizeof *value);
  if (!value || !padding_room(p)) {
    tesela__release(&p->allocator, value);
    return padding_no_memory(err);
  }
  status = padding_inputs(p, p->input, value, err);
  if (status == TESELA_OK) (void)tesela__padding_evaluate(p, value);
  tesela__release(&p->allocator, value);
  return status;
}

tesela_status tesela_graph_padding(tesela_padding **out, const tesela_graph *graph,
                                   const tesela_padding_options *options, tesela_error *err) {
  TESELA__NEED(err, out, graph);
  TESELA__NEED_CLEAR(err, options);
  const tesela_padding_options plain = {.input = NULL};
  if (!options) options = &plain;
  tesela_allocator allocator = tesela__allocator(options->allocator);
  tesela_padding *p = tesela__alloc(&allocator, sizeof *p, _Alignof(tesela_padding));
  if (!p) return padding_no_memory(err);
  *p = (tesela_padding){.allocator = allocator,
                        .graph = graph,
                        .count = tesela_graph_count(graph),
                        .n_inputs = padding_count_inputs(graph),
                        .copy = options->copy};
  tesela_status status = padding_make(p, options, err);
  if (status == TESELA_OK)
    *out = p;
  else
    tesela_padding_destroy(p);
  return status;
}

void tesela_padding_destroy(tesela_padding *p) {
  if (!p) return;
  tesela_allocator allocator = p->allocator;
  padding_drop(p);
  tesela__release(&allocator, p->node);
  tesela__release(&allocator, p->group);
  tesela__release(&allocator, p->input);
  tesela__release(&allocator, p);
}

/* ---- asked --------------------------------------------------------------------------------------------------- */

tesela_padding_state tesela_padding_state_of(const tesela_padding *p, int32_t node) {
  if (!p || node < 0 || node >= p->count) return (tesela_padding_state){.kind = TESELA_PADDING_GARBAGE};
  const tesela__pad_value *hold = &p->hold[node];
  tesela_padding_kind kind = hold->known ? TESELA_PADDING_VALUE : TESELA_PADDING_GARBAGE;
  return tesela__pad_state(p->node[node].any ? kind : TESELA_PADDING_NONE, p->node[node].dtype, hold);
}

const tesela_padding_read *tesela_padding_read_at(const tesela_padding *p, int32_t k) {
  return p && k >= 0 && k < p->n_reads ? &p->read[k] : NULL;
}

/* ---- fills that help ----------------------------------------------------------------------------------------- */

enum { PADDING_FILLS = 5 }; /* LEAVE, ZERO, MINUS_INF, PLUS_INF, and the given one */

typedef struct padding_search {
  tesela_padding at;        /* with arrays of its own */
  tesela__pad_value *value; /* PADDING_FILLS of each input */
  tesela__pad_value *tried;
  int32_t *choice, *best;
  int64_t left; /* limit on nodes still to evaluate */
} padding_search;

static int32_t padding_try(padding_search *s, const int32_t *choice) {
  for (int32_t i = 0; i < s->at.n_inputs; i++) s->tried[i] = s->value[i * PADDING_FILLS + choice[i]];
  s->left -= s->at.count;
  return tesela__padding_evaluate(&s->at, s->tried);
}

/* Change one input after the other while that makes more reads FINE. */
static int32_t padding_climb(padding_search *s) {
  int32_t fine = padding_try(s, s->choice);
  for (bool more = true; more;) {
    more = false;
    for (int32_t i = 0; i < s->at.n_inputs; i++) {
      int32_t had = s->choice[i], kept = had;
      for (int32_t c = 0; c < PADDING_FILLS && s->left > 0; c++) {
        s->choice[i] = c;
        int32_t now = c == had ? 0 : padding_try(s, s->choice);
        if (now > fine) {
          fine = now;
          kept = c;
          more = true;
        }
      }
      s->choice[i] = kept;
    }
  }
  return fine;
}

static int32_t padding_find(padding_search *s) {
  static const int32_t starts[] = {PADDING_FILLS - 1, 0, 1, 2, 3};
  int32_t n = s->at.n_inputs, most = -1;
  for (size_t start = 0; start < sizeof starts / sizeof *starts; start++) {
    for (int32_t i = 0; i < n; i++) s->choice[i] = starts[start];
    int32_t fine = padding_climb(s);
    if (fine <= most) continue;
    most = fine;
    memcpy(s->best, s->choice, (size_t)n * sizeof *s->best);
  }
  for (int32_t i = 0; i < n; i++) { /* inputs whose fill changes nothing */
    int32_t had = s->best[i];
    s->best[i] = 0;
    if (had != 0 && s->left > -((int64_t)1 << 24) && padding_try(s, s->best) < most) s->best[i] = had;
  }
  return most;
}

static tesela_status padding_values(padding_search *s, tesela_error *err) {
  int32_t n = 0;
  for (int32_t k = 0; k < s->at.count; k++) {
    if (tesela_graph_node(s->at.graph, k)->op != TESELA_OP_INPUT) continue;
    for (int32_t c = 0; c < PADDING_FILLS; c++) {
      tesela_padding_fill fill =
          c < PADDING_FILLS - 1 ? (tesela_padding_fill){.pad = (tesela_pad)c} : s->at.input[n];
      tesela_status status =
          tesela__pad_fill_value(&fill, &s->at.node[k], &s->value[n * PADDING_FILLS + c], err);
      if (status != TESELA_OK) return status;
    }
    n++;
  }
  return TESELA_OK;
}

tesela_status tesela_padding_suggest(const tesela_padding *padding, tesela_padding_fill *fill, int32_t *fine,
                                     tesela_error *err) {
  TESELA__NEED(err, padding);
  TESELA__NEED_LIST(err, fill, padding->n_inputs);
  padding_search s = {.at = *padding, .left = (int64_t)1 << 24};
  int32_t n = padding->n_inputs;
  bool room = padding_room(&s.at);
  s.value = padding_take(padding, n, PADDING_FILLS * sizeof *s.value);
  s.tried = padding_take(padding, n, sizeof *s.tried);
  s.choice = padding_take(padding, n, sizeof *s.choice);
  s.best = padding_take(padding, n, sizeof *s.best);
  room = room && s.value && s.tried && s.choice && s.best;
  tesela_status status = room ? padding_values(&s, err) : padding_no_memory(err);
  if (status == TESELA_OK) {
    int32_t most = padding_find(&s);
    for (int32_t i = 0; i < n; i++)
      fill[i] = s.best[i] == PADDING_FILLS - 1 ? padding->input[i]
                                               : (tesela_padding_fill){.pad = (tesela_pad)s.best[i]};
    if (fine) *fine = most;
  }
  padding_drop(&s.at);
  tesela__release(&padding->allocator, s.value);
  tesela__release(&padding->allocator, s.tried);
  tesela__release(&padding->allocator, s.choice);
  tesela__release(&padding->allocator, s.best);
  return status;
}
