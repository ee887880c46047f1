/* SPDX-License-Identifier: Apache-2.0 */
/*
 * padding_build.c - what each operator reads at indices beyond an extent.
 *
 * Result: in the padding of its dim d, index X[d] is at least the extent, and an operand whose dim follows X[d] is read beyond
 * its own extent: in its padding if the view ends at the end of the buffer and the padding is large enough. If several dims of
 * the result have padding, an operand is read in its padding if one of those dims leads there.
 *
 * Folds: a folded dim continues to the end of an operand's last stick, or of its padding; so does a line of an "along"
 * operator, unless values after an element do not count.
 */
#include "graph/padding/padding.h"

enum { PAD_OPERANDS = 3 };

typedef struct pad_build {
  tesela_padding *padding;
  int32_t number;
  const tesela_node *node;
  tesela_iteration iteration;
  tesela__pad_dims result;
  tesela__pad_view view; /* of the current operand */
  tesela_index index[TESELA_GRAPH_RANK];
} pad_build;

static tesela_status pad_operand(pad_build *b, int32_t k, tesela_error *err) {
  const tesela_graph *graph = b->padding->graph;
  tesela_status status = tesela_graph_operand_index(graph, b->number, k, b->index, err);
  return status == TESELA_OK ? tesela__pad_view_of(graph, b->node->operand[k], &b->view, err) : status;
}

/* The one dim of an operand that iteration dim i alone indexes; -1: no such dim; -2: indexed in another way. */
static int32_t pad_indexed(const pad_build *b, const tesela_node *operand, int32_t i) {
  int32_t found = -1;
  for (int32_t e = 0; e < operand->rank; e++) {
    const tesela_index *index = &b->index[e];
    if (index->dim[0] != i && index->dim[1] != i) continue;
    if (found != -1 || index->dim[0] != i || index->dim[1] >= 0 || index->factor[0] != 1 || index->divide > 1)
      return -2;
    found = e;
  }
  return found;
}

/* ---- padding of the result ---------------------------------------------------------------------------------- */

/* What an operator reads of the operand in the padding of result dim d. */
static tesela__pad_sight pad_result_sight(const pad_build *b, const tesela_node *operand, int32_t d) {
  int32_t e = pad_indexed(b, operand, b->iteration.result[d]);
  if (e == -1) return TESELA__PAD_ELEMENTS;
  if (e < 0) return TESELA__PAD_HIDDEN;
  if (operand->shape[e] > 1 && operand->stride[e] == 0)
    return TESELA__PAD_ELEMENTS; /* repeated beyond the extent, too */
  if (!b->view.known) return TESELA__PAD_HIDDEN;
  int32_t c = b->view.at[e];
  if (c < 0 || b->view.by[e] != 1 || !tesela__pad_alone(&b->view, operand->rank, e))
    return TESELA__PAD_HIDDEN;
  const tesela__pad_coordinate *coordinate = &b->view.coordinate[c];
  int64_t first = coordinate->offset + b->index[e].start;
  if (first + b->node->shape[d] != coordinate->extent) return TESELA__PAD_HIDDEN;
  return first + b->result.to[d] <= coordinate->to ? TESELA__PAD_PADDING : TESELA__PAD_OUTSIDE;
}

static uint8_t pad_closure(uint8_t cases) {
  for (int32_t a = 0; a < 8; a++)
    for (int32_t c = 0; c < 8; c++)
      if (cases >> a & 1 && cases >> c & 1) cases |= (uint8_t)(1 << (a | c));
  return cases;
}

/* Cases for the first n operands; other: operands that must be at elements. False: unknown. */
static bool pad_cases(pad_build *b, int32_t n, bool gather, uint8_t *cases, tesela_status *status,
                      tesela_error *err) {
  uint8_t mask[TESELA_GRAPH_RANK] = {0};
  for (int32_t k = 0; k < n; k++) {
    const tesela_node *operand = tesela__graph_operand(b->padding->graph, b->node, k);
    *status = pad_operand(b, k, err);
    if (*status != TESELA_OK) return false;
    for (int32_t d = 0; d < b->node->rank; d++) {
      if (b->result.to[d] == b->node->shape[d]) continue;
      if (b->iteration.result[d] < 0) return false;
      tesela__pad_sight sight = pad_result_sight(b, operand, d);
      if (sight == TESELA__PAD_PADDING && !(gather && k == 1))
        mask[d] |= (uint8_t)(1 << k);
      else if (sight != TESELA__PAD_ELEMENTS)
        return false;
    }
  }
  for (int32_t d = 0; d < b->node->rank; d++)
    if (b->result.to[d] != b->node->shape[d]) *cases |= (uint8_t)(1 << mask[d]);
  *cases = pad_closure(pad_closure(*cases)); /* unions of up to four cover all of three operands */
  return true;
}

/* Each piece of a cat is read in the padding of the other dims, and the last one in that of its dim. */
static bool pad_cat(pad_build *b, tesela_status *status, tesela_error *err) {
  const tesela_graph *graph = b->padding->graph;
  int32_t last = -1, dim = b->node->dim[0];
  for (int32_t k = 0; k < b->node->n_operands; k++)
    if (tesela__graph_operand(graph, b->node, k)->shape[dim] > 0) last = k;
  for (int32_t k = 0; k < b->node->n_operands; k++) {
    const tesela_node *operand = tesela__graph_operand(graph, b->node, k);
    if (operand->shape[dim] == 0) continue;
    *status = pad_operand(b, k, err);
    if (*status != TESELA_OK || !b->view.whole) return false;
    for (int32_t d = 0; d < b->node->rank; d++) {
      if (b->result.to[d] == b->node->shape[d] || (d == dim && k != last)) continue;
      if (pad_result_sight(b, operand, d) != TESELA__PAD_PADDING) return false;
    }
  }
  return true;
}

static tesela_status pad_node_cases(pad_build *b, tesela__pad_node *at, tesela_error *err) {
  tesela_status status = TESELA_OK;
  bool told = false;
  switch (b->node->op) {
  case TESELA_OP_POINTWISE:
  case TESELA_OP_REDUCE:
  case TESELA_OP_MATMUL:
  case TESELA_OP_CONV2D:
  case TESELA_OP_POOL:
  case TESELA_OP_GATHER:
    told = b->node->n_operands <= PAD_OPERANDS && b->node->fn != TESELA_FN_FUSED &&
           pad_cases(b, b->node->n_operands, b->node->op == TESELA_OP_GATHER, &at->cases, &status, err);
    break;
  case TESELA_OP_ALONG: /* only dims across the line: after the end of a line no operand is in padding, which gives no information */
    told = b->node->n_operands == 1 && pad_cases(b, 1, false, &at->cases, &status, err);
    break;
  case TESELA_OP_SCATTER:
  case TESELA_OP_WRITE: /* of operand 0; of the others all padding counts */
    told = b->node->in_place || pad_cases(b, 1, false, &at->cases, &status, err);
    break;
  case TESELA_OP_PAD: /* the value, unless elements that were cut off are there */
    told = true;
    for (int32_t d = 0; d < b->node->rank; d++) told = told && b->node->high[d] >= 0;
    break;
  case TESELA_OP_CAT:
    told = pad_cat(b, &status, err);
    break;
  default:
    told = true; /* by itself: input, constant, clone, move; fallback is garbage */
  }
  at->open = !told;
  return status;
}

/* ---- what is folded ------------------------------------------------------------------------------------------ */

/* The end of a folded dim for an operand, the end of its buffer's places, and the content between and after. */
typedef struct pad_reach {
  int32_t dim;
  int64_t own, room;
  tesela__pad_sight behind;
} pad_reach;

static pad_reach pad_hidden(int32_t dim, int64_t own, int64_t n) {
  return (pad_reach){dim, own, n, TESELA__PAD_HIDDEN};
}
/* Reads to an unknown end. */
static pad_reach pad_open(int32_t dim, int64_t n) { return pad_hidden(dim, n + 1, n); }

/* A dim whose position in the buffer is unknown: it may read more if lanes or padding exist. */
static pad_reach pad_reach_unknown(const pad_build *b, const tesela_node *operand, int32_t e, int64_t n) {
  const tesela__pad_dims *buffer = &b->view.buffer;
  const tesela_node *of = tesela__graph_at(b->padding->graph, operand->buffer);
  bool lanes = !buffer->regular, padded = !buffer->regular, padded_one = !buffer->regular, one_result = true;
  for (int32_t d = 0; d < of->rank; d++) {
    lanes = lanes || buffer->unit[d] > 1;
    padded = padded || buffer->to[d] != of->shape[d];
    padded_one = padded_one || (of->shape[d] == 1 && buffer->to[d] > 1);
  }
  for (int32_t d = 0; d < b->node->rank; d++) one_result = one_result && b->node->shape[d] == 1;
  if (b->view.known && b->view.whole) /* a dim of 1 */
    return padded_one ? pad_open(e, n) : pad_hidden(e, n, n);
  if (b->view.whole && !buffer->any && one_result) return pad_hidden(e, n, n);
  return lanes || padded ? pad_open(e, n) : pad_hidden(e, n, n);
}

/* A dim along which a window moves: read element by element only if it has neither lanes nor padding. */
static pad_reach pad_reach_window(const pad_build *b, const tesela_node *operand, int32_t i, int64_t n) {
  for (int32_t e = 0; e < operand->rank; e++) {
    if (b->index[e].dim[0] != i && b->index[e].dim[1] != i) continue;
    if (!b->view.known) return pad_reach_unknown(b, operand, e, n);
    const tesela__pad_coordinate *at = b->view.at[e] < 0 ? NULL : &b->view.coordinate[b->view.at[e]];
    if (at ? at->unit > 1 || at->to > at->extent : operand->shape[e] == 1 && b->view.buffer.any)
      return pad_open(e, n);
  }
  return pad_hidden(-1, n, n);
}

static pad_reach pad_reach_of(const pad_build *b, int32_t k, int32_t i) {
  const tesela_node *operand = tesela__graph_operand(b->padding->graph, b->node, k);
  int64_t n = b->iteration.extent[i];
  int32_t e = pad_indexed(b, operand, i);
  if (e == -1) return (pad_reach){-1, n, n, TESELA__PAD_ELEMENTS};
  if (e == -2) return pad_reach_window(b, operand, i, n);
  if (!b->view.known) return pad_reach_unknown(b, operand, e, n);
  int32_t c = b->view.at[e];
  if (operand->shape[e] == 1 && c < 0)
    return operand->buffer == b->node->operand[k] ? pad_hidden(e, n, n) : pad_reach_unknown(b, operand, e, n);
  if (c < 0) return (pad_reach){e, n, n, TESELA__PAD_ELEMENTS}; /* repeated */
  const tesela__pad_coordinate *at = &b->view.coordinate[c];
  int64_t first = at->offset + b->index[e].start, by = b->view.by[e];
  bool whole_sticks = by == 1 && first % at->unit == 0;
  for (int32_t other = 0; other < operand->rank; other++)
    if (other != e && b->view.at[other] == c)
      whole_sticks = whole_sticks && b->view.by[other] % at->unit == 0;
  bool alone = tesela__pad_alone(&b->view, operand->rank, e);
  if (by == 1 && alone && whole_sticks && first + n == at->extent)
    return (pad_reach){e, at->to - first, at->to - first, TESELA__PAD_OUTSIDE};
  if (by % at->unit == 0 && (by != 1 || at->unit == 1)) { /* whole sticks; a step may meet padding */
    bool meets = !alone || (first + by * n >= at->extent && first + by * n < at->to);
    return at->to > at->extent && meets ? pad_open(e, n) : pad_hidden(e, n, n);
  }
  int64_t lanes = n % at->unit;
  if (whole_sticks) return pad_hidden(e, lanes ? n - lanes + at->unit : n, n);
  return pad_open(e, n);
}

static tesela_status pad_add_group(pad_build *b, const pad_reach *reach, int32_t first, int32_t n,
                                   int64_t from, tesela_error *err) {
  tesela_padding *padding = b->padding;
  tesela__pad_group group = {.node = b->number, .first = first, .n = n, .from = from, .to = from};
  for (int32_t k = 0; k < n; k++) group.to = tesela__max(group.to, reach[k].own);
  if (group.to == from) return TESELA_OK;
  for (int32_t k = 0; k < n; k++) {
    group.dim[k] = reach[k].dim;
    group.sight[k] = reach[k].behind == TESELA__PAD_OUTSIDE && reach[k].room >= group.to ? TESELA__PAD_PADDING
                                                                                         : reach[k].behind;
    padding->n_reads += group.dim[k] >= 0;
  }
  void *items = padding->group;
  bool grown = tesela__grow(&padding->allocator, &items, sizeof group, &padding->group_room,
                            (uint64_t)padding->n_groups + 1);
  padding->group = items;
  if (!grown) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the reads of padding");
  padding->group[padding->n_groups++] = group;
  return TESELA_OK;
}

static bool pad_in_result(const pad_build *b, int32_t i) {
  for (int32_t d = 0; d < b->node->rank; d++)
    if (b->iteration.result[d] == i) return true;
  return false;
}

static tesela_status pad_folds(pad_build *b, tesela_error *err) {
  int32_t n = b->node->n_operands;
  tesela_status status = TESELA_OK;
  for (int32_t i = 0; i < b->iteration.n && status == TESELA_OK; i++) {
    pad_reach reach[2];
    if (pad_in_result(b, i)) continue;
    for (int32_t k = 0; k < n && status == TESELA_OK; k++) {
      status = pad_operand(b, k, err);
      if (status == TESELA_OK) reach[k] = pad_reach_of(b, k, i);
    }
    if (status == TESELA_OK) status = pad_add_group(b, reach, 0, n, b->iteration.extent[i], err);
  }
  return status;
}

/* Each operand follows its own line, the last iteration dim. */
static tesela_status pad_lines(pad_build *b, tesela_error *err) {
  int32_t i = b->iteration.n - 1;
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < b->node->n_operands && status == TESELA_OK; k++) {
    status = pad_operand(b, k, err);
    if (status != TESELA_OK) return status;
    pad_reach reach = pad_reach_of(b, k, i);
    status = pad_add_group(b, &reach, k, 1, b->iteration.extent[i], err);
  }
  return status;
}

/* ---- nodes --------------------------------------------------------------------------------------------------- */

static bool pad_is_fold(const tesela_node *node) {
  return node->op == TESELA_OP_REDUCE || node->op == TESELA_OP_MATMUL || node->op == TESELA_OP_CONV2D ||
         node->op == TESELA_OP_POOL;
}

static tesela_status pad_node(pad_build *b, tesela_error *err) {
  const tesela_graph *graph = b->padding->graph;
  const tesela_node *node = b->node, *buffer = tesela__graph_at(graph, node->buffer);
  tesela__pad_node *at = &b->padding->node[b->number];
  *at = (tesela__pad_node){.dtype = buffer->dtype, .device = buffer->dtype};
  if (buffer->dtype == TESELA_TOKEN) return TESELA_OK;
  if (buffer->layout == NULL)
    return tesela__fail(err, TESELA_E_INVALID, -1, "%.80s has no layout; apply a propagation first",
                        buffer->name);
  at->device = buffer->layout->host.device_dtype;
  tesela_status status = tesela__pad_view_of(graph, b->number, &b->view, err);
  if (status != TESELA_OK) return status;
  b->result = b->view.buffer;
  at->any = b->result.any;
  at->whole = b->view.whole;
  if (node->view || node->op == TESELA_OP_INPUT || node->op == TESELA_OP_FALLBACK) return TESELA_OK;
  status = tesela_graph_iteration(graph, b->number, &b->iteration, err);
  if (status == TESELA_OK && pad_is_fold(node)) status = pad_folds(b, err);
  bool ahead = node->reverse || node->fn < TESELA_FN_CUMSUM || node->fn > TESELA_FN_CUMMIN;
  if (status == TESELA_OK && node->op == TESELA_OP_ALONG && ahead) status = pad_lines(b, err);
  if (status != TESELA_OK || !at->any || node->op == TESELA_OP_CONSTANT || node->op == TESELA_OP_CLONE ||
      node->op == TESELA_OP_MOVE)
    return status;
  at->open = !b->result.regular || b->result.synthetic;
  return at->open ? TESELA_OK : pad_node_cases(b, at, err);
}

tesela_status tesela__padding_build(tesela_padding *padding, tesela_error *err) {
  pad_build b = {.padding = padding};
  for (b.number = 0; b.number < padding->count; b.number++) {
    b.node = tesela__graph_at(padding->graph, b.number);
    tesela_status status = pad_node(&b, err);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}
