/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_print_window.c - convolutions without groups, and folds of windows, in HLO.
 */
#include "graph/hlo/hlo.h"

/* " key=1x2", one number for each dim. */
static void window_put(tesela__sink *sink, const char *key, int32_t n, const int64_t *list) {
  tesela__putf(sink, " %s=", key);
  for (int32_t i = 0; i < n; i++) {
    if (i > 0) tesela__putc(sink, 'x');
    tesela__put_int(sink, list[i]);
  }
}

static void window_put_all(tesela__sink *sink, int32_t n, const tesela__hlo_window *w) {
  tesela__puts(sink, ", window={size=");
  for (int32_t i = 0; i < n; i++) tesela__putf(sink, "%s%" PRId64, i > 0 ? "x" : "", w->size[i]);
  window_put(sink, "stride", n, w->stride);
  tesela__puts(sink, " pad=");
  for (int32_t i = 0; i < n; i++)
    tesela__putf(sink, "%s%" PRId64 "_%" PRId64, i > 0 ? "x" : "", w->low[i], w->high[i]);
  bool spread = false;
  for (int32_t i = 0; i < n; i++) spread = spread || w->x_dilation[i] > 1;
  if (spread) window_put(sink, "lhs_dilate", n, w->x_dilation);
  window_put(sink, "rhs_dilate", n, w->dilation);
  tesela__putc(sink, '}');
}

static void window_letters(tesela__sink *sink, int32_t n, const int32_t *at, const char *letters) {
  char text[8] = "";
  for (int32_t i = 0; i < n; i++) text[at[i]] = letters[i];
  tesela__puts(sink, text);
}

bool tesela__hlo_print_convolution(tesela__hlo_printer *p, const tesela_node *node) {
  const tesela_conv2d *c = &node->conv;
  const tesela_node *w = tesela__graph_operand(p->graph, node, 1);
  tesela__hlo_window window = {{0}, {0}, {0}, {0}, {0}, {0}, {0}};
  if (c->grouped || c->x[0] < 0 || c->x[1] < 0 || c->w[0] < 0) return false;
  for (int32_t i = 0; i < c->spatial; i++)
    if (w->shape[c->w[2 + i]] == 0) return false; /* HLO cannot express a window without elements */
  if (!p->sink) return true;
  for (int32_t i = 0; i < c->spatial; i++) {
    window.size[i] = w->shape[c->w[2 + i]];
    window.stride[i] = c->stride[i];
    window.low[i] = c->low[i];
    window.high[i] = c->high[i];
    window.dilation[i] = c->dilation[i];
    window.x_dilation[i] = c->x_dilation[i];
  }
  tesela__puts(p->sink, "convolution");
  tesela__hlo_print_operands(p, node);
  window_put_all(p->sink, c->spatial, &window);
  tesela__puts(p->sink, ", dim_labels=");
  window_letters(p->sink, 2 + c->spatial, c->x, "bf012");
  tesela__putc(p->sink, '_');
  window_letters(p->sink, 2 + c->spatial, c->w, "oi012");
  tesela__puts(p->sink, "->");
  window_letters(p->sink, 2 + c->spatial, c->result, "bf012");
  return true;
}

bool tesela__hlo_print_reduce_window(tesela__hlo_printer *p, const tesela_node *node) {
  tesela__hlo_window window;
  if (node->rank == 0 || tesela_dtype_family_of(node->dtype) == TESELA_FAMILY_COMPLEX ||
      tesela__graph_operand(p->graph, node, 0)->dtype != node->dtype)
    return false;
  bool reverse;
  memcpy(window.size, node->length, sizeof window.size);
  memcpy(window.stride, node->step, sizeof window.stride);
  memcpy(window.low, node->low, sizeof window.low);
  memcpy(window.high, node->high, sizeof window.high);
  memcpy(window.dilation, node->dilation, sizeof window.dilation);
  memcpy(window.x_dilation, node->x_dilation, sizeof window.x_dilation);
  if (tesela__hlo_window_cumulates(tesela__graph_operand(p->graph, node, 0), &window, &reverse) >= 0)
    return false; /* it would be read as a cumulative fold */
  if (!p->sink) return true;
  tesela__hlo_print_with_scalars(p, "reduce-window", node, "start", -1);
  window_put_all(p->sink, node->rank, &window);
  tesela__putf(p->sink, ", to_apply=%%%s_%s", tesela_fn_name(node->fn), tesela_dtype_name(node->dtype));
  return true;
}
