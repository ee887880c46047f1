/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_pool.c - shape of pool: windows along dims, each folded to one element.
 *
 *   x[9], window 3, step 2              y[4]: y[i] folds x[2*i], x[2*i + 1], x[2*i + 2]
 *   low 1, high 1                       y[5]: the first and the last window have two elements
 *
 * Along a dim x is read at (step * out + dilation * window - low) / x_dilation if that is an element.
 */
#include "graph/program/graph.h"

enum { WINDOW_STEP_BITS = 32, WINDOW_REACH_BITS = 62 };

/* A product plus an amount, both and their sum below 2^62. */
static bool window_reach(int64_t n, int64_t step, int64_t more, int64_t *reach) {
  return tesela__mul(tesela__max(n - 1, 0), step, reach) && tesela__add(*reach, more, reach) &&
         *reach >> WINDOW_REACH_BITS == 0;
}

bool tesela__window_places(int64_t n, int64_t k, const tesela__window *w, int64_t *places) {
  const int64_t most = (int64_t)1 << WINDOW_STEP_BITS, end = (int64_t)1 << WINDOW_REACH_BITS;
  int64_t padded, window;
  if (w->stride > most || w->dilation > most || w->x_dilation > most || w->low <= -end || w->low >= end ||
      w->high <= -end || w->high >= end || !window_reach(n, w->x_dilation, n > 0, &padded) ||
      !window_reach(k, w->dilation, k > 0, &window))
    return false;
  if (!tesela__add(padded, w->low, &padded) || !tesela__add(padded, w->high, &padded) || padded >= end)
    return false;
  *places = k > 0 && padded >= window ? (padded - window) / w->stride + 1 : 0;
  return true;
}

static int64_t pool_of(const int64_t *list, int32_t d, int64_t otherwise) {
  return list ? list[d] : otherwise;
}

static tesela_status pool_extent(const tesela_node_spec *spec, tesela_node *node, int32_t d,
                                 tesela_error *err) {
  const tesela__window w = {.stride = pool_of(spec->step, d, 1),
                            .dilation = pool_of(spec->dilation, d, 1),
                            .x_dilation = pool_of(spec->x_dilation, d, 1),
                            .low = pool_of(spec->low, d, 0),
                            .high = pool_of(spec->high, d, 0)};
  int64_t length = pool_of(spec->length, d, 1);
  node->length[d] = length;
  node->step[d] = w.stride;
  node->low[d] = w.low;
  node->high[d] = w.high;
  node->dilation[d] = w.dilation;
  node->x_dilation[d] = w.x_dilation;
  if (length < 1 || w.stride < 1 || w.dilation < 1 || w.x_dilation < 1)
    return tesela__graph_fail(err, TESELA_E_RANGE, node,
                              "length %" PRId64 ", step %" PRId64 ", dilation %" PRId64
                              " and x_dilation %" PRId64 " of dim %" PRId32 "; expected 1 or more",
                              length, w.stride, w.dilation, w.x_dilation, d);
  if (tesela__window_places(node->shape[d], length, &w, &node->shape[d])) return TESELA_OK;
  return tesela__graph_fail(err, TESELA_E_OVERFLOW, node,
                            "the windows of dim %" PRId32 " exceed 2^62, or are more than 2^32 apart", d);
}

tesela_status tesela__shape_pool(const tesela_graph *graph, const tesela_node_spec *spec, tesela_node *node,
                                 tesela_error *err) {
  static const tesela_fn folds[] = {TESELA_FN_SUM, TESELA_FN_PROD, TESELA_FN_MAX, TESELA_FN_MIN,
                                    TESELA_FN_AND, TESELA_FN_OR,   TESELA_FN_XOR};
  bool known = false;
  for (size_t i = 0; i < sizeof folds / sizeof *folds; i++) known = known || node->fn == folds[i];
  if (!known)
    return tesela__graph_fail(err, TESELA_E_INVALID, node,
                              "%s does not fold windows; expected sum, prod, max, min, and, or or xor",
                              tesela_fn_name(node->fn));
  tesela_status status = tesela__graph_check_bits(graph, node, err);
  for (int32_t d = 0; d < node->rank && status == TESELA_OK; d++) status = pool_extent(spec, node, d, err);
  if (status == TESELA_OK) tesela__graph_type_of_first(graph, node);
  return status;
}
