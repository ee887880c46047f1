/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_window.c - the attribute `window` of convolutions and reduce-window, and reduce-window as pool; reduce.
 *
 *   window={size=3x3 stride=2x2 pad=0_1x0_1 lhs_dilate=1x1 rhs_dilate=1x1 rhs_reversal=0x0}
 *
 * A fold has an initial value. A neutral one (0 for a sum, -inf for max) is left out; otherwise one more operation with it
 * follows the fold.
 *
 * lhs_dilate spreads the elements of the operand, rhs_dilate those of the window. The initial value of a fold of windows also
 * replaces missing elements; so a value that is not neutral is folded in afterwards only if each window is full of elements, or
 * if repetitions of the value do not matter.
 *
 * Windows that extend from an end to each element are a cumulative fold along that dim.
 */
#include "graph/hlo/hlo.h"

/* Numbers with x between them; pairs low_high if `high` is there. */
static bool window_numbers(const char *text, tesela__hlo_span word, int32_t n, int64_t *low, int64_t *high) {
  if (word.n > 0 && text[word.at + word.n - 1] == 'x') return false;
  for (int32_t i = 0; i < n; i++) {
    tesela__hlo_span part = tesela__hlo_cut(text, &word, 'x');
    if (!tesela__hlo_integer(text, high ? tesela__hlo_cut(text, &part, '_') : part, &low[i])) return false;
    if (high && !tesela__hlo_integer(text, part, &high[i])) return false;
  }
  return word.n == 0;
}

bool tesela__hlo_window_read(const tesela__hlo_module *m, const tesela__hlo_instruction *in, int32_t n,
                             tesela__hlo_window *w) {
  tesela__hlo_span rest = tesela__hlo_attribute(m, in, "window");
  const struct {
    const char *key;
    int64_t *low, *high;
  } rows[] = {{"size", w->size, NULL},
              {"stride", w->stride, NULL},
              {"pad", w->low, w->high},
              {"rhs_dilate", w->dilation, NULL},
              {"lhs_dilate", w->x_dilation, NULL},
              {"rhs_reversal", w->reversed, NULL}};
  for (int32_t i = 0; i < n; i++) {
    w->size[i] = w->stride[i] = w->dilation[i] = w->x_dilation[i] = 1;
    w->low[i] = w->high[i] = w->reversed[i] = 0;
  }
  uint32_t seen = 0;
  while ((rest = tesela__hlo_trim(m->text, rest)).n > 0) {
    tesela__hlo_span value = tesela__hlo_cut(m->text, &rest, ' '),
                     key = tesela__hlo_cut(m->text, &value, '=');
    bool known = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !known; i++) {
      if (!tesela__hlo_same(m->text, key, rows[i].key)) continue;
      known = (seen >> i & 1) == 0 && window_numbers(m->text, value, n, rows[i].low, rows[i].high);
      seen |= (uint32_t)1 << i;
      if (!known) return false;
    }
    if (!known) return false;
  }
  if (n > 0 && (seen & 1) == 0) return false; /* size, the first of the rows */
  for (int32_t i = 0; i < n; i++)
    if (w->size[i] < 1 || w->stride[i] < 1 || w->dilation[i] < 1 || w->x_dilation[i] < 1) return false;
  return true;
}

/* ---- reduce-window ---- */

/* Do all windows contain only elements? */
static bool window_full(int32_t n, const tesela__hlo_window *w) {
  for (int32_t d = 0; d < n; d++)
    if (w->low[d] > 0 || w->high[d] > 0 || w->x_dilation[d] > 1) return false;
  return true;
}

int32_t tesela__hlo_window_cumulates(const tesela_node *x, const tesela__hlo_window *w, bool *reverse) {
  int32_t dim = -1;
  for (int32_t d = 0; d < x->rank; d++) {
    if (w->stride[d] != 1 || w->x_dilation[d] != 1 || w->dilation[d] != 1) return -1;
    if (w->size[d] == 1 && w->low[d] == 0 && w->high[d] == 0) continue;
    int64_t others = x->shape[d] - 1;
    bool ends = (w->low[d] == others && w->high[d] == 0) || (w->low[d] == 0 && w->high[d] == others);
    if (dim >= 0 || w->size[d] != x->shape[d] || !ends) return -1;
    dim = d;
    *reverse = w->low[d] == 0;
  }
  return dim;
}

static tesela_fn window_cumulative(tesela_fn fold) {
  switch (fold) {
  case TESELA_FN_SUM:
    return TESELA_FN_CUMSUM;
  case TESELA_FN_PROD:
    return TESELA_FN_CUMPROD;
  case TESELA_FN_MAX:
    return TESELA_FN_CUMMAX;
  case TESELA_FN_MIN:
    return TESELA_FN_CUMMIN;
  default:
    return TESELA_FN_NONE;
  }
}

tesela_status tesela__hlo_reduce_window(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                        tesela__hlo_value *out) {
  tesela__hlo_window w;
  int32_t x, operand[2];
  double neutral, start;
  bool second, reverse = false;
  tesela_fn fold, fn = tesela__hlo_region(b, in, &second);
  if (in->tuple || in->n_operands != 2 || !tesela__hlo_neutral(fn, b->dtype, &fold, &neutral))
    return TESELA_OK;
  tesela_status status = tesela__hlo_operand(b, in, 0, &x);
  if (status != TESELA_OK) return status;
  const tesela_node *of = tesela__graph_at(b->graph, x);
  if (of->rank != b->rank || !tesela__hlo_window_read(b->module, in, b->rank, &w)) return TESELA_OK;
  for (int32_t d = 0; d < b->rank; d++)
    if (w.reversed[d] != 0) return TESELA_OK;
  bool plain = tesela__hlo_scalar(b, in, 1, &start) && start == neutral;
  bool often = fn == TESELA_FN_MAX || fn == TESELA_FN_MIN || fn == TESELA_FN_AND || fn == TESELA_FN_OR;
  if (!plain && !often && !window_full(b->rank, &w)) return TESELA_OK;
  int32_t dim = tesela__hlo_window_cumulates(of, &w, &reverse);
  tesela_fn cumulative = dim < 0 ? TESELA_FN_NONE : window_cumulative(fold);
  tesela_node_spec spec = {.op = cumulative == TESELA_FN_NONE ? TESELA_OP_POOL : TESELA_OP_ALONG,
                           .fn = cumulative == TESELA_FN_NONE ? fold : cumulative,
                           .dtype = b->dtype,
                           .n_operands = 1,
                           .operand = &x,
                           .step = w.stride,
                           .low = w.low,
                           .high = w.high,
                           .dilation = w.dilation,
                           .x_dilation = w.x_dilation,
                           .reverse = reverse};
  if (cumulative == TESELA_FN_NONE) {
    spec.length = w.size;
  } else {
    spec.n_dims = 1;
    spec.dims = &dim;
  }
  status = tesela__hlo_add(b, in, plain ? NULL : "fold", &spec, &operand[0]);
  out->node = operand[0];
  if (plain || status != TESELA_OK) return status;
  status = tesela__hlo_operand(b, in, 1, &operand[1]);
  tesela_node_spec more = {
      .op = TESELA_OP_POINTWISE, .fn = fn, .dtype = b->dtype, .n_operands = 2, .operand = operand};
  return status == TESELA_OK ? tesela__hlo_add(b, in, NULL, &more, &out->node) : status;
}

/* ---- reduce ---- */

tesela_status tesela__hlo_reduce(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                 tesela__hlo_value *out) {
  int32_t x, folded, dims[TESELA_GRAPH_RANK];
  double neutral, start;
  bool second;
  tesela_fn fn = tesela__hlo_region(b, in, &second), fold;
  int32_t n = tesela__hlo_list(b->module, in, "dimensions", TESELA_GRAPH_RANK, dims);
  if (n < 0) return TESELA_OK;
  if (in->tuple || in->n_operands != 2 || !tesela__hlo_neutral(fn, b->dtype, &fold, &neutral))
    return n == 1 ? tesela__hlo_fold_along(b, in, dims[0], out) : TESELA_OK;
  tesela_status status = tesela__hlo_operand(b, in, 0, &x);
  if (status != TESELA_OK) return status;
  bool plain = tesela__hlo_scalar(b, in, 1, &start) && start == neutral;
  tesela_node_spec spec = {.op = TESELA_OP_REDUCE,
                           .fn = fold,
                           .dtype = b->dtype,
                           .n_operands = 1,
                           .operand = &x,
                           .n_dims = n,
                           .dims = dims};
  if (n == 0) { /* each element is folded alone */
    spec.op = TESELA_OP_POINTWISE;
    spec.fn = TESELA_FN_COPY;
  }
  status = tesela__hlo_add(b, in, plain ? NULL : "fold", &spec, &folded);
  out->node = folded;
  if (plain || status != TESELA_OK) return status;
  int32_t operand[2] = {folded, 0};
  status = tesela__hlo_operand(b, in, 1, &operand[1]);
  tesela_node_spec more = {
      .op = TESELA_OP_POINTWISE, .fn = fn, .dtype = b->dtype, .n_operands = 2, .operand = operand};
  return status == TESELA_OK ? tesela__hlo_add(b, in, NULL, &more, &out->node) : status;
}
