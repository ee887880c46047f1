/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_convolution.c - convolution as conv2d: of 1 to 3 spatial dims, in groups, with reversed windows; without windows as matmul.
 *
 *   feature_group_count=g   x[n,h,w,c], w[3,3,c/g,o]      x as [n,h,w,g,c/g], w as [3,3,c/g,g,o/g], result [n,h,w,g,o/g] as [n,h,w,o]
 *     ... c of them         depthwise                     x as it is, w as [3,3,c,o/c], or [3,3,c] if o is c
 *   batch_group_count=g     x[n,h,w,c], w[3,3,c,o]        x as [g,n/g,h,w,c], w as above
 *
 * Splitting a dim is a view; so is joining those of the result, and reversing a window.
 */
#include "graph/hlo/hlo.h"

enum { CONVOLUTION_ROLES = 6, CONVOLUTION_GROUP = 5, CONVOLUTION_SPATIAL = 3 };

/* The fields of the text: positions in x, w, result as in tesela_conv2d, then window and groups. */
typedef struct convolution {
  int32_t spatial, place[3][CONVOLUTION_ROLES];
  tesela__hlo_window window;
  int64_t features, batches; /* groups */
} convolution;

/* "b01f", "01io" or "bf01" as places. */
static bool convolution_places(const char *text, tesela__hlo_span word, const char *letters, int32_t spatial,
                               int32_t place[CONVOLUTION_ROLES]) {
  if (word.n != (size_t)spatial + 2) return false;
  for (int32_t i = 0; i < CONVOLUTION_ROLES; i++) place[i] = -1;
  for (size_t i = 0; i < word.n; i++) {
    char c = text[word.at + i];
    int32_t which = c == letters[0]                 ? 0
                    : c == letters[1]               ? 1
                    : c >= '0' && c < '0' + spatial ? 2 + c - '0'
                                                    : -1;
    if (which < 0 || place[which] >= 0) return false;
    place[which] = (int32_t)i;
  }
  return true;
}

static bool convolution_labels(const tesela__hlo_module *m, const tesela__hlo_instruction *in,
                               convolution *c) {
  tesela__hlo_span rest = tesela__hlo_attribute(m, in, "dim_labels");
  tesela__hlo_span x = tesela__hlo_cut(m->text, &rest, '_'), w = tesela__hlo_cut(m->text, &rest, '-');
  if (rest.n < 1 || m->text[rest.at] != '>' || x.n < 2 || x.n > 2 + CONVOLUTION_SPATIAL) return false;
  rest.at++, rest.n--;
  c->spatial = (int32_t)x.n - 2;
  return convolution_places(m->text, x, "bf", c->spatial, c->place[0]) &&
         convolution_places(m->text, w, "oi", c->spatial, c->place[1]) &&
         convolution_places(m->text, rest, "bf", c->spatial, c->place[2]);
}

static bool convolution_count(const tesela__hlo_module *m, const tesela__hlo_instruction *in, const char *key,
                              int64_t *count) {
  tesela__hlo_span word = tesela__hlo_attribute(m, in, key);
  *count = 1;
  return word.n == 0 || (tesela__hlo_integer(m->text, word, count) && *count >= 1);
}

/* ---- pieces ---- */

/* Without windows: a product over the channels. */
static tesela_status convolution_product(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                         const convolution *c, const int32_t *operand,
                                         tesela__hlo_value *out) {
  int32_t x_label[2], y_label[2];
  x_label[c->place[0][0]] = c->place[2][0];
  y_label[c->place[1][0]] = c->place[2][1];
  x_label[c->place[0][1]] = y_label[c->place[1][1]] = 2;
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

/* A reversed window: reverse w. */
static tesela_status convolution_reverse(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                         const convolution *c, int32_t *w) {
  int32_t dims[CONVOLUTION_SPATIAL], n = 0;
  for (int32_t i = 0; i < c->spatial; i++)
    if (c->window.reversed[i] != 0) dims[n++] = c->place[1][2 + i];
  return n > 0 ? tesela__hlo_reverse_dims(b, in, "reversed", n, dims, *w, w) : TESELA_OK;
}

/* Insert a dim of `groups` before the dim of a role; later positions move. */
static void convolution_insert(int32_t place[CONVOLUTION_ROLES], int32_t role) {
  int32_t at = place[role];
  for (int32_t i = 0; i < CONVOLUTION_ROLES; i++) place[i] += place[i] >= at;
  place[CONVOLUTION_GROUP] = at;
}

/* Split the dim with a role into groups and the rest. */
static tesela_status convolution_split(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                       const char *suffix, int32_t place[CONVOLUTION_ROLES], int32_t role,
                                       int64_t groups, int32_t *node) {
  const tesela_node *of = tesela__graph_at(b->graph, *node);
  int64_t shape[TESELA_GRAPH_RANK];
  int32_t at = place[role], n = 0;
  for (int32_t d = 0; d < of->rank; d++) {
    if (d == at) shape[n++] = groups;
    shape[n++] = d == at ? of->shape[d] / groups : of->shape[d];
  }
  convolution_insert(place, role);
  return tesela__hlo_reshape(b, in, suffix, *node, n, shape, node);
}

/* Remove a dim: the groups take the position of a role, and another role, with a dim of 1, has no dim. */
static tesela_status convolution_depthwise(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                           convolution *c, int64_t groups, int64_t out, int32_t *w) {
  int32_t *x = c->place[0], *y = c->place[1], *result = c->place[2], one = y[1], from = *w;
  tesela_status status = TESELA_OK;
  x[CONVOLUTION_GROUP] = x[1];
  x[1] = -1;
  tesela_node_spec spec = {
      .op = TESELA_OP_SQUEEZE, .n_operands = 1, .operand = &from, .n_dims = 1, .dims = &one};
  status = tesela__hlo_add(b, in, "w", &spec, w);
  for (int32_t i = 0; i < CONVOLUTION_ROLES; i++) y[i] -= y[i] > one;
  y[1] = -1;
  if (status != TESELA_OK) return status;
  if (out == groups) {
    y[CONVOLUTION_GROUP] = y[0];
    result[CONVOLUTION_GROUP] = result[1];
    y[0] = result[1] = -1;
    return TESELA_OK;
  }
  convolution_insert(result, 1);
  return convolution_split(b, in, "w.groups", y, 0, groups, w);
}

static tesela_status convolution_groups(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                        convolution *c, int32_t *operand) {
  const tesela_node *x = tesela__graph_at(b->graph, operand[0]), *w = tesela__graph_at(b->graph, operand[1]);
  int64_t groups = c->features > 1 ? c->features : c->batches, out = w->shape[c->place[1][0]];
  int32_t role = c->features > 1 ? 1 : 0;
  int64_t in_x = x->shape[c->place[0][role]];
  if (c->features > 1 && in_x == groups && w->shape[c->place[1][1]] == 1)
    return convolution_depthwise(b, in, c, groups, out, &operand[1]);
  tesela_status status = convolution_split(b, in, "x", c->place[0], role, groups, &operand[0]);
  if (status == TESELA_OK) status = convolution_split(b, in, "w", c->place[1], 0, groups, &operand[1]);
  convolution_insert(c->place[2], 1);
  return status;
}

/* Join the adjacent groups and channels of the result into one dim. */
static tesela_status convolution_join(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                      const convolution *c, int32_t *node) {
  const tesela_node *of = tesela__graph_at(b->graph, *node);
  int64_t shape[TESELA_GRAPH_RANK];
  int32_t n = 0;
  for (int32_t d = 0; d < of->rank; d++)
    if (d == c->place[2][1])
      shape[n - 1] *= of->shape[d];
    else
      shape[n++] = of->shape[d];
  return tesela__hlo_reshape(b, in, NULL, *node, n, shape, node);
}

/* ---- the instruction ---- */

static void convolution_spec(const convolution *c, bool grouped, tesela_conv2d *conv) {
  conv->spatial = c->spatial;
  conv->grouped = grouped;
  memcpy(conv->x, c->place[0], sizeof conv->x);
  memcpy(conv->w, c->place[1], sizeof conv->w);
  memcpy(conv->result, c->place[2], sizeof conv->result);
  for (int32_t i = 0; i < c->spatial; i++) {
    conv->stride[i] = c->window.stride[i];
    conv->dilation[i] = c->window.dilation[i];
    conv->x_dilation[i] = c->window.x_dilation[i];
    conv->low[i] = c->window.low[i];
    conv->high[i] = c->window.high[i];
  }
}

/* Does the window match w, and can the groups be expressed: of one kind, and divisors of their dims? */
static bool convolution_fits(const tesela__hlo_build *b, const convolution *c, const int32_t *operand) {
  const tesela_node *x = tesela__graph_at(b->graph, operand[0]), *w = tesela__graph_at(b->graph, operand[1]);
  if (x->rank != c->spatial + 2 || w->rank != c->spatial + 2) return false;
  for (int32_t i = 0; i < c->spatial; i++)
    if (c->window.size[i] != w->shape[c->place[1][2 + i]]) return false;
  if (c->features == 1 && c->batches == 1) return true;
  return (c->features == 1 || c->batches == 1) && c->spatial > 0 &&
         x->shape[c->place[0][1]] % c->features == 0 && x->shape[c->place[0][0]] % c->batches == 0 &&
         w->shape[c->place[1][0]] % (c->features * c->batches) == 0;
}

tesela_status tesela__hlo_convolution(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                      tesela__hlo_value *out) {
  convolution c;
  int32_t operand[2];
  if (in->n_operands != 2 || !convolution_labels(b->module, in, &c) ||
      !tesela__hlo_window_read(b->module, in, c.spatial, &c.window) ||
      !convolution_count(b->module, in, "feature_group_count", &c.features) ||
      !convolution_count(b->module, in, "batch_group_count", &c.batches))
    return TESELA_OK;
  tesela_status status = tesela__hlo_operand_laid_out(b, in, 0, &operand[0]);
  if (status == TESELA_OK) status = tesela__hlo_operand_laid_out(b, in, 1, &operand[1]);
  if (status != TESELA_OK || !convolution_fits(b, &c, operand)) return status;
  if (c.spatial == 0) return convolution_product(b, in, &c, operand, out);
  status = convolution_reverse(b, in, &c, &operand[1]);
  bool grouped = c.features > 1 || c.batches > 1;
  if (status == TESELA_OK && grouped) status = convolution_groups(b, in, &c, operand);
  bool joins = grouped && c.place[2][1] >= 0;
  tesela_node_spec spec = {.op = TESELA_OP_CONV2D, .dtype = b->dtype, .n_operands = 2, .operand = operand};
  convolution_spec(&c, grouped, &spec.conv);
  if (status == TESELA_OK) status = tesela__hlo_add(b, in, joins ? "conv" : NULL, &spec, &out->node);
  if (status != TESELA_OK || !joins) return status;
  return convolution_join(b, in, &c, &out->node);
}
