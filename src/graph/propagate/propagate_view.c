/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_view.c - an operand in terms of its operator's indices, and its lanes for each layout.
 *
 * The view of an operand is in its own dims: the question is whether lanes run along a dim, not along an index of the operator,
 * and an index that the operand lacks changes nothing. Of the pieces of cat, pad and write the view has only the elements in
 * use:
 *
 *   pad f16[100] by -64 before and 8 after    axis of 36 elements from element 64, position 0 of the result
 *
 * Programs repeat their shapes, so answers are cached: one for each (type and shape, view, lanes).
 */
#include "graph/propagate/propagate.h"

/* The part of an operand dim of `n` elements that a result dim of `extent` reads: element j is at index (j - j0) * step +
 * position. */
static void axes_piece(const tesela_index *index, int64_t n, int64_t extent, int64_t *j0, int64_t *length,
                       int64_t *position) {
  int64_t step = tesela__max(index->divide, 1), start = index->start;
  *j0 = start > 0 ? tesela__ceil_div(start, step) : 0;
  int64_t end; /* the width of a border that is cut away may be any int64 */
  if (!tesela__add(extent, start, &end)) end = INT64_MAX;
  int64_t behind = end > 0 ? tesela__min(n, tesela__ceil_div(end, step)) : 0;
  *length = tesela__max(behind - *j0, 0);
  *position = *length > 0 ? *j0 * step - start : 0;
}

typedef struct axes_source {
  const tesela_node *tensor;
  const tesela_iteration *iteration;
  int32_t looked; /* dim that is looked up, or -1 */
} axes_source;

enum { AXES_WINDOW = -2 }; /* of an iteration dim: it moves a window */

/* Make a dim of the operand an axis. No operator uses one index for two dims of an operand. */
static void axes_add(const axes_source *from, int32_t d, const tesela_index *index,
                     int32_t of_iteration[TESELA_GRAPH_ITERATION], tesela__operand_axes *axes) {
  const tesela_node *tensor = from->tensor;
  int32_t at = index->dim[0], a = axes->view.rank;
  int64_t stride = tensor->stride[d], length = tensor->shape[d], position = 0, j0 = 0;
  bool plain = at >= 0 && index->dim[1] < 0 && index->factor[0] == 1;
  if (at == -1 && index->dim[1] < 0) { /* one element, the same for all indices */
    axes->view.offset += length > 0 ? index->start * stride : 0;
    if (length == 0) axes->empty = true;
    return;
  }
  if (plain) axes_piece(index, tensor->shape[d], from->iteration->extent[at], &j0, &length, &position);
  if (length > 0) axes->view.offset += j0 * stride;
  axes->view.rank++;
  axes->view.shape[a] = length;
  axes->view.stride[a] = stride;
  axes->dim[a] = d;
  axes->plain[a] = plain;
  axes->folded[a] = plain;
  axes->label_of[a] = -1;
  axes->position[a] = position;
  axes->step[a] = tesela__max(index->divide, 1);
  if (d == from->looked) axes->lookup = a;
  if (at >= 0) of_iteration[at] = plain ? a : AXES_WINDOW;
}

bool tesela__operand_apart(const tesela_graph *graph, const tesela_node *node, int32_t k) {
  const tesela_node *operand = tesela_graph_node(graph, node->operand[k]);
  return node->op == TESELA_OP_FALLBACK &&
         (operand->rank != node->rank ||
          memcmp(operand->shape, node->shape, (size_t)node->rank * sizeof *node->shape) != 0);
}

/* An operand of an unknown operator: its own dims, which are the result's if the shapes are equal. */
static void axes_unknown(const tesela_graph *graph, const tesela_node *op, int32_t k,
                         const tesela_node *tensor, tesela__operand_axes *axes) {
  *axes = (tesela__operand_axes){.view = {.rank = tensor->rank, .offset = tensor->offset}, .lookup = -1};
  axes->apart = tesela__operand_apart(graph, op, k);
  for (int32_t r = 0; r < op->rank; r++) axes->of_label[r] = axes->apart ? -1 : r;
  for (int32_t a = 0; a < tensor->rank; a++) {
    axes->view.shape[a] = tensor->shape[a];
    axes->view.stride[a] = tensor->stride[a];
    axes->dim[a] = a;
    axes->plain[a] = true;
    axes->label_of[a] = axes->apart ? -1 : a;
    axes->step[a] = 1;
    if (tensor->shape[a] == 0) axes->empty = true;
  }
}

tesela_status tesela__operand_axes_of(const tesela_graph *graph, int32_t node, int32_t k,
                                      const tesela_iteration *iteration, tesela__operand_axes *axes,
                                      tesela_error *err) {
  const tesela_node *tensor = tesela_graph_node(graph, tesela_graph_node(graph, node)->operand[k]);
  return tesela__operand_axes_on(graph, node, k, tensor, iteration, axes, err);
}

tesela_status tesela__operand_axes_on(const tesela_graph *graph, int32_t node, int32_t k,
                                      const tesela_node *tensor, const tesela_iteration *iteration,
                                      tesela__operand_axes *axes, tesela_error *err) {
  tesela_index index[TESELA_GRAPH_RANK];
  int32_t of_iteration[TESELA_GRAPH_ITERATION];
  const tesela_node *op = tesela_graph_node(graph, node);
  axes_source from = {tensor, iteration, -1};
  if (op->op == TESELA_OP_FALLBACK) {
    axes_unknown(graph, op, k, tensor, axes);
    return TESELA_OK;
  }
  tesela_status status = tesela_graph_operand_index(graph, node, k, index, err);
  if (status != TESELA_OK) return status;
  if ((op->op == TESELA_OP_GATHER || op->op == TESELA_OP_SCATTER) && k == 0) from.looked = op->dim[0];
  *axes = (tesela__operand_axes){.view = {.offset = from.tensor->offset}, .lookup = -1};
  for (int32_t i = 0; i < TESELA_GRAPH_ITERATION; i++) of_iteration[i] = -1;
  for (int32_t d = 0; d < from.tensor->rank; d++) axes_add(&from, d, &index[d], of_iteration, axes);
  for (int32_t r = 0; r < op->rank; r++) {
    int32_t at = iteration->result[r], a = at < 0 ? -1 : of_iteration[at];
    axes->of_label[r] = a < 0 ? -1 : a;
    if (a == AXES_WINDOW) axes->windows |= (uint32_t)1 << r;
    if (a < 0) continue;
    axes->label_of[a] = r;
    axes->folded[a] = false;
  }
  for (int32_t a = 0; a < axes->view.rank; a++)
    if (axes->view.shape[a] == 0) axes->empty = true;
  for (int32_t i = 0; i < iteration->n; i++)
    if (iteration->extent[i] == 0) axes->empty = true;
  return TESELA_OK;
}

/* ---- agreements ---- */

static uint64_t agree_hash_of(int32_t family, const tesela__buffer_view *view, int64_t lanes) {
  uint64_t hash = tesela__propagate_hash(14695981039346656037u, family);
  hash = tesela__propagate_hash(hash, lanes);
  hash = tesela__propagate_hash(hash, view->offset);
  for (int32_t d = 0; d < view->rank; d++) {
    hash = tesela__propagate_hash(hash, view->shape[d]);
    hash = tesela__propagate_hash(hash, view->stride[d]);
  }
  return hash;
}

static uint64_t agree_hash(const tesela_propagation *p, int32_t k) { return p->agreements[k].hash; }

static bool agree_same(const tesela__buffer_view *a, const tesela__buffer_view *b) {
  return a->rank == b->rank && a->offset == b->offset &&
         memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0 &&
         memcmp(a->stride, b->stride, (size_t)a->rank * sizeof *a->stride) == 0;
}

/* One candidate; an undecided answer is unknown, so never legal. */
static void agree_candidate(tesela_propagation *p, const tesela_device_layout *layout, int64_t lanes,
                            const tesela_host_view *view, tesela__agreements *entry, uint8_t *how) {
  tesela_status status = tesela_device_view_of(p->scratch, layout, NULL, view, NULL);
  for (int32_t d = 0; d <= view->rank; d++) {
    int32_t dim = d == view->rank ? TESELA_STICK_SPARSE : d;
    tesela_agreement a = status != TESELA_OK ? TESELA_AGREE_UNKNOWN
                                             : tesela_device_view_agrees(p->scratch, layout, dim, lanes);
    how[d] = (uint8_t)a;
    if (a == TESELA_AGREE_UNKNOWN) entry->unknown = true;
  }
}

static void agree_fill(tesela_propagation *p, tesela__agreements *entry) {
  const tesela__family *family = &p->families[entry->family];
  tesela_host_view view = {.rank = entry->view.rank, .offset = entry->view.offset};
  for (int32_t d = 0; d < view.rank; d++) {
    view.shape[d] = entry->view.shape[d];
    view.stride[d] = entry->view.stride[d];
  }
  for (int32_t c = 0; c < family->n; c++)
    agree_candidate(p, &family->layout[c], entry->lanes, &view, entry, entry->how[c]);
}

tesela_status tesela__agreements_of(tesela_propagation *p, int32_t family, const tesela__buffer_view *view,
                                    int64_t lanes, int32_t *number, tesela_error *err) {
  uint64_t hash = agree_hash_of(family, view, lanes);
  if (!tesela__slots_room(&p->agreement_slots, &p->allocator, p->n_agreements + 1, agree_hash, p))
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for views");
  size_t mask = p->agreement_slots.n - 1, i = (size_t)hash & mask;
  for (; p->agreement_slots.slot[i] != 0; i = (i + 1) & mask) {
    const tesela__agreements *entry = &p->agreements[p->agreement_slots.slot[i] - 1];
    if (entry->hash != hash || entry->family != family || entry->lanes != lanes ||
        !agree_same(&entry->view, view))
      continue;
    *number = p->agreement_slots.slot[i] - 1;
    return TESELA_OK;
  }
  void *items = p->agreements;
  if (!tesela__grow(&p->allocator, &items, sizeof *p->agreements, &p->agreement_capacity,
                    (uint64_t)p->n_agreements + 1))
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for views");
  p->agreements = items;
  p->agreements[p->n_agreements] =
      (tesela__agreements){.hash = hash, .family = family, .lanes = lanes, .view = *view};
  agree_fill(p, &p->agreements[p->n_agreements]);
  *number = p->n_agreements++;
  p->agreement_slots.slot[i] = p->n_agreements;
  return TESELA_OK;
}
