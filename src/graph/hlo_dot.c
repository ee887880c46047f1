/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_dot.c - dot and convolution.
 *
 * Of a dot the result has the batch dims, then what is left of x, then of y: these are the labels. A convolution without
 * windows is a dot whose result is in any order; with one window dim it is a conv2d of images one element wide; with two a conv2d.
 * Groups, values between the elements and reversed windows are no class's: fallback.
 */
#include "graph/hlo.h"

static bool dot_has(int32_t n, const int32_t *list, int32_t d) {
  for (int32_t i = 0; i < n; i++)
    if (list[i] == d) return true;
  return false;
}

tesela_status tesela__hlo_dot(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                              tesela__hlo_value *out) {
  static const char *const batch_key[2] = {"lhs_batch_dims", "rhs_batch_dims"};
  static const char *const sum_key[2] = {"lhs_contracting_dims", "rhs_contracting_dims"};
  int32_t operand[2], batch[2][TESELA_GRAPH_RANK], sum[2][TESELA_GRAPH_RANK], n_batch[2], n_sum[2];
  int32_t label[2][TESELA_GRAPH_RANK], next;
  if (in->n_operands != 2) return TESELA_OK;
  for (int32_t k = 0; k < 2; k++) {
    tesela_status status = tesela__hlo_operand(b, in, k, &operand[k]);
    if (status != TESELA_OK) return status;
    n_batch[k] = tesela__hlo_list(b->module, in, batch_key[k], TESELA_GRAPH_RANK, batch[k]);
    n_sum[k] = tesela__hlo_list(b->module, in, sum_key[k], TESELA_GRAPH_RANK, sum[k]);
    if (n_batch[k] < 0) n_batch[k] = 0;
    if (n_sum[k] < 0) n_sum[k] = 0;
  }
  if (n_batch[0] != n_batch[1] || n_sum[0] != n_sum[1]) return TESELA_OK;
  next = n_batch[0];
  for (int32_t k = 0; k < 2; k++) {
    int32_t rank = tesela__graph_at(b->graph, operand[k])->rank;
    for (int32_t d = 0; d < rank; d++)
      if (!dot_has(n_batch[k], batch[k], d) && !dot_has(n_sum[k], sum[k], d)) label[k][d] = next++;
    for (int32_t i = 0; i < n_batch[k]; i++) {
      if (batch[k][i] >= rank) return TESELA_OK;
      label[k][batch[k][i]] = i;
    }
  }
  for (int32_t k = 0; k < 2; k++)
    for (int32_t i = 0; i < n_sum[k]; i++) {
      if (sum[k][i] >= tesela__graph_at(b->graph, operand[k])->rank ||
          dot_has(n_batch[k], batch[k], sum[k][i]))
        return TESELA_OK;
      label[k][sum[k][i]] = next + i;
    }
  tesela_node_spec spec = {.op = TESELA_OP_MATMUL,
                           .dtype = b->dtype,
                           .n_operands = 2,
                           .operand = operand,
                           .rank = next,
                           .n_labels = next + n_sum[0],
                           .x_label = label[0],
                           .y_label = label[1]};
  return tesela__hlo_add(b, in, NULL, &spec, &out->node);
}

/* ---- convolution ---- */

/* What dim_labels and window say: spatial dims, and the place of each dim in x, w and the result. */
typedef struct dot_window {
  int32_t spatial;
  int32_t at[3]
            [2 + 2]; /* batch or out channel, feature or in channel, then the spatial dims; of x, w, result */
  int64_t stride[2], dilation[2], low[2], high[2];
} dot_window;

/* "b01f", "01io" or "bf01" as places. */
static bool dot_places(const char *text, tesela__hlo_span word, const char *letters, int32_t spatial,
                       int32_t at[4]) {
  if (word.n != (size_t)spatial + 2) return false;
  for (int32_t i = 0; i < 4; i++) at[i] = -1;
  for (size_t i = 0; i < word.n; i++) {
    char c = text[word.at + i];
    int32_t which = c == letters[0]                 ? 0
                    : c == letters[1]               ? 1
                    : c >= '0' && c < '0' + spatial ? 2 + c - '0'
                                                    : -1;
    if (which < 0 || at[which] >= 0) return false;
    at[which] = (int32_t)i;
  }
  return true;
}

static bool dot_labels(const tesela__hlo_module *m, const tesela__hlo_instruction *in, dot_window *w) {
  tesela__hlo_span rest = tesela__hlo_attribute(m, in, "dim_labels");
  tesela__hlo_span x = tesela__hlo_cut(m->text, &rest, '_'), y = tesela__hlo_cut(m->text, &rest, '-');
  if (rest.n < 1 || m->text[rest.at] != '>' || x.n < 2 || x.n > 4) return false;
  rest.at++, rest.n--;
  w->spatial = (int32_t)x.n - 2;
  return dot_places(m->text, x, "bf", w->spatial, w->at[0]) &&
         dot_places(m->text, y, "oi", w->spatial, w->at[1]) &&
         dot_places(m->text, rest, "bf", w->spatial, w->at[2]);
}

/* Numbers with x between them; pairs low_high if `high` is there. */
static bool dot_numbers(const char *text, tesela__hlo_span word, int32_t n, int64_t *low, int64_t *high) {
  for (int32_t i = 0; i < n; i++) {
    tesela__hlo_span part = tesela__hlo_cut(text, &word, 'x');
    if (!tesela__hlo_integer(text, high ? tesela__hlo_cut(text, &part, '_') : part, &low[i])) return false;
    if (high && !tesela__hlo_integer(text, part, &high[i])) return false;
  }
  return word.n == 0;
}

static bool dot_all(int32_t n, const int64_t *numbers, int64_t value) {
  for (int32_t i = 0; i < n; i++)
    if (numbers[i] != value) return false;
  return true;
}

/* window={size=3x3 stride=2x2 pad=0_1x0_1 lhs_dilate=.. rhs_dilate=.. rhs_reversal=..}. false: no class says it. */
static bool dot_read_window(const tesela__hlo_module *m, const tesela__hlo_instruction *in, dot_window *w) {
  tesela__hlo_span rest = tesela__hlo_attribute(m, in, "window");
  int64_t other[2] = {0};
  for (int32_t i = 0; i < 2; i++) w->stride[i] = w->dilation[i] = 1;
  while ((rest = tesela__hlo_trim(m->text, rest)).n > 0) {
    tesela__hlo_span value = tesela__hlo_cut(m->text, &rest, ' '),
                     key = tesela__hlo_cut(m->text, &value, '=');
    bool ok;
    if (tesela__hlo_same(m->text, key, "size"))
      ok = dot_numbers(m->text, value, w->spatial, other, NULL);
    else if (tesela__hlo_same(m->text, key, "stride"))
      ok = dot_numbers(m->text, value, w->spatial, w->stride, NULL);
    else if (tesela__hlo_same(m->text, key, "pad"))
      ok = dot_numbers(m->text, value, w->spatial, w->low, w->high);
    else if (tesela__hlo_same(m->text, key, "rhs_dilate"))
      ok = dot_numbers(m->text, value, w->spatial, w->dilation, NULL);
    else if (tesela__hlo_same(m->text, key, "lhs_dilate"))
      ok = dot_numbers(m->text, value, w->spatial, other, NULL) && dot_all(w->spatial, other, 1);
    else
      ok = tesela__hlo_same(m->text, key, "rhs_reversal") &&
           dot_numbers(m->text, value, w->spatial, other, NULL) && dot_all(w->spatial, other, 0);
    if (!ok) return false;
  }
  return true;
}

static bool dot_one_group(const tesela__hlo_module *m, const tesela__hlo_instruction *in, const char *key) {
  tesela__hlo_span word = tesela__hlo_attribute(m, in, key);
  return word.n == 0 || tesela__hlo_same(m->text, word, "1");
}

/* No windows: a product over the channels. */
static tesela_status dot_product(tesela__hlo_build *b, const tesela__hlo_instruction *in, const dot_window *w,
                                 const int32_t *operand, tesela__hlo_value *out) {
  int32_t x_label[2], y_label[2];
  x_label[w->at[0][0]] = w->at[2][0];
  y_label[w->at[1][0]] = w->at[2][1];
  x_label[w->at[0][1]] = y_label[w->at[1][1]] = 2;
  tesela_node_spec spec = {.op = TESELA_OP_MATMUL,
                           .dtype = b->dtype,
                           .n_operands = 2,
                           .operand = operand,
                           .rank = 2,
                           .n_labels = 3,
                           .x_label = x_label,
                           .y_label = y_label};
  return tesela__hlo_add(b, in, NULL, &spec, &out->node);
}

/* Give x and w a second spatial dim of 1, at the end; the result loses it. */
static tesela_status dot_widen(tesela__hlo_build *b, const tesela__hlo_instruction *in, dot_window *w,
                               int32_t *operand) {
  static const char *const suffix[2] = {"x", "w"};
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < 3; k++) w->at[k][3] = 3;
  w->stride[1] = w->dilation[1] = 1;
  w->low[1] = w->high[1] = 0;
  for (int32_t k = 0; k < 2 && status == TESELA_OK; k++) {
    int32_t dim = 3;
    tesela_node_spec spec = {
        .op = TESELA_OP_UNSQUEEZE, .n_operands = 1, .operand = &operand[k], .n_dims = 1, .dims = &dim};
    status = tesela__hlo_add(b, in, suffix[k], &spec, &operand[k]);
  }
  return status;
}

tesela_status tesela__hlo_convolution(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                      tesela__hlo_value *out) {
  dot_window w = {0};
  int32_t operand[2];
  if (in->n_operands != 2 || !dot_labels(b->module, in, &w) || !dot_read_window(b->module, in, &w) ||
      !dot_one_group(b->module, in, "feature_group_count") ||
      !dot_one_group(b->module, in, "batch_group_count"))
    return TESELA_OK;
  tesela_status status = tesela__hlo_operand(b, in, 0, &operand[0]);
  if (status == TESELA_OK) status = tesela__hlo_operand(b, in, 1, &operand[1]);
  if (status != TESELA_OK) return status;
  for (int32_t k = 0; k < 2; k++)
    if (tesela__graph_at(b->graph, operand[k])->rank != w.spatial + 2) return TESELA_OK;
  if (w.spatial == 0) return dot_product(b, in, &w, operand, out);
  if (w.spatial == 1) status = dot_widen(b, in, &w, operand);
  tesela_node_spec spec = {.op = TESELA_OP_CONV2D, .dtype = b->dtype, .n_operands = 2, .operand = operand};
  for (int32_t i = 0; i < 4; i++) {
    spec.conv.x[i] = w.at[0][i];
    spec.conv.w[i] = w.at[1][i];
    spec.conv.result[i] = w.at[2][i];
  }
  for (int32_t i = 0; i < 2; i++) {
    spec.conv.stride[i] = w.stride[i];
    spec.conv.dilation[i] = w.dilation[i];
    spec.conv.low[i] = w.low[i];
    spec.conv.high[i] = w.high[i];
  }
  if (status == TESELA_OK) status = tesela__hlo_add(b, in, w.spatial == 1 ? "conv" : NULL, &spec, &out->node);
  if (status != TESELA_OK || w.spatial == 2) return status;
  int32_t last = 3, wide = out->node;
  tesela_node_spec squeeze = {
      .op = TESELA_OP_SQUEEZE, .n_operands = 1, .operand = &wide, .n_dims = 1, .dims = &last};
  return tesela__hlo_add(b, in, NULL, &squeeze, &out->node);
}
