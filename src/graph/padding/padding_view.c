/* SPDX-License-Identifier: Apache-2.0 */
/*
 * padding_view.c - the places of a layout beyond each dim, and the dims of a tensor in its buffer.
 *
 * For a view across dims of the buffer, neighbouring dims without padding count as one coordinate; only the inner one may have
 * lanes.
 */
#include "graph/padding/padding.h"

/* ---- layouts ------------------------------------------------------------------------------------------------ */

/* Do the digits of one host dim count without gaps from the lanes to the largest step? */
static bool pad_dims_one(const tesela_device_layout *layout, int32_t d, tesela__pad_dims *dims) {
  int64_t reach = 1, unit = 1;
  int32_t left = 0;
  for (int32_t j = 0; j < layout->n_dims; j++) left += layout->dim[j].dim == d;
  while (left > 0) {
    int32_t next = -1;
    for (int32_t j = 0; j < layout->n_dims && next < 0; j++)
      if (layout->dim[j].dim == d && layout->dim[j].step == reach && layout->dim[j].extent > 1) next = j;
    if (next < 0) break;
    bool lane = next >= layout->n_dims - layout->stick_dims;
    if (lane && unit != reach) return false; /* lanes above a digit that is not in lanes */
    if (!tesela__mul(reach, layout->dim[next].extent, &reach)) return false;
    if (lane) unit = reach;
    left--;
  }
  for (int32_t j = 0; j < layout->n_dims && left > 0; j++)
    left -= layout->dim[j].dim == d && layout->dim[j].extent <= 1;
  dims->to[d] = reach;
  dims->unit[d] = unit;
  return left == 0 && reach >= layout->host.shape[d];
}

tesela_status tesela__pad_dims_of(const tesela_device_layout *layout, tesela__pad_dims *dims,
                                  tesela_error *err) {
  tesela_device_sizes sizes;
  tesela_status status = tesela_device_sizes_of(layout, NULL, &sizes, err);
  if (status != TESELA_OK) return status;
  int64_t inner = 1;
  *dims = (tesela__pad_dims){.any = sizes.padding > 0, .regular = true};
  for (int32_t j = layout->n_dims - 1; j >= 0; j--) {
    const tesela_device_dim *dim = &layout->dim[j];
    if (dim->dim == TESELA_DIM_SYNTHETIC && dim->extent > 1) dims->synthetic = true;
    if (dim->extent < 1 || (dim->extent > 1 && dim->stride != inner) || dim->dim == TESELA_DIM_REPLICATED ||
        !tesela__mul(inner, dim->extent, &inner))
      dims->regular = false;
    if (!dims->regular) break;
  }
  if (inner != layout->places) dims->regular = false;
  for (int32_t d = 0; d < layout->host.rank; d++) {
    dims->to[d] = layout->host.shape[d];
    dims->unit[d] = 1;
    if (dims->regular && !pad_dims_one(layout, d, dims)) dims->regular = false;
    if (layout->host.shape[d] == 0) dims->regular = false;
  }
  return TESELA_OK;
}

/* ---- views -------------------------------------------------------------------------------------------------- */

/* Coordinates of the buffer; at[d] is that of buffer dim d. */
static void pad_coordinates(const tesela_node *buffer, bool merge, tesela__pad_view *view, int32_t *at) {
  view->n = 0;
  const tesela__pad_dims *dims = &view->buffer;
  for (int32_t d = 0; d < buffer->rank; d++) {
    bool padded = dims->to[d] != buffer->shape[d];
    tesela__pad_coordinate *last = view->n > 0 ? &view->coordinate[view->n - 1] : NULL;
    at[d] = -1;
    if (buffer->shape[d] == 1 && !padded) continue;
    at[d] = view->n;
    if (merge && last && !padded && last->to == last->extent && last->unit == 1) {
      last->extent *= buffer->shape[d]; /* of the elements of a buffer, so it fits */
      last->to = last->extent;
      last->stride = buffer->stride[d];
      last->unit = dims->unit[d];
      at[d]--;
      continue;
    }
    view->coordinate[view->n++] = (tesela__pad_coordinate){
        .extent = buffer->shape[d], .stride = buffer->stride[d], .to = dims->to[d], .unit = dims->unit[d]};
  }
}

static bool pad_view_offset(int64_t rest, tesela__pad_view *view) {
  for (int32_t c = 0; c < view->n; c++) {
    tesela__pad_coordinate *coordinate = &view->coordinate[c];
    int64_t stride = tesela__max(coordinate->stride, 1);
    coordinate->offset = rest / stride;
    rest %= stride;
  }
  return rest == 0;
}

/* Does each dim move along one coordinate, without carries? */
static bool pad_view_dims(const tesela_node *node, tesela__pad_view *view) {
  int64_t low[TESELA_GRAPH_RANK], high[TESELA_GRAPH_RANK];
  for (int32_t c = 0; c < view->n; c++) low[c] = high[c] = view->coordinate[c].offset;
  for (int32_t d = 0; d < node->rank; d++) {
    view->at[d] = -1;
    view->by[d] = 0;
    if (node->shape[d] <= 1 || node->stride[d] == 0) continue;
    for (int32_t c = 0; c < view->n && view->at[d] < 0; c++)
      if (view->coordinate[c].extent > 1 && node->stride[d] % view->coordinate[c].stride == 0)
        view->at[d] = c;
    if (view->at[d] < 0) return false;
    view->by[d] = node->stride[d] / view->coordinate[view->at[d]].stride;
    int64_t reach = (node->shape[d] - 1) * view->by[d]; /* inside the buffer: the graph checked it */
    *(reach < 0 ? &low[view->at[d]] : &high[view->at[d]]) += reach;
  }
  for (int32_t c = 0; c < view->n; c++)
    if (low[c] < 0 || high[c] >= view->coordinate[c].extent) return false;
  return true;
}

static int64_t pad_elements(const tesela_node *node) {
  int64_t n = 1;
  for (int32_t d = 0; d < node->rank; d++)
    n *= node->stride[d] == 0 && node->shape[d] > 1 ? 1 : node->shape[d];
  return n;
}

/* Does the view show each element of the buffer once? A view that repeats elements shows fewer. */
static bool pad_is_whole(const tesela_node *node, const tesela_node *buffer) {
  if (node == buffer) return true;
  for (int32_t d = 0; d < node->rank; d++)
    if (node->stride[d] == 0 && node->shape[d] > 1) return false;
  return pad_elements(node) == pad_elements(buffer);
}

tesela_status tesela__pad_view_of(const tesela_graph *graph, int32_t number, tesela__pad_view *view,
                                  tesela_error *err) {
  const tesela_node *node = tesela__graph_at(graph, number), *buffer = tesela__graph_at(graph, node->buffer);
  int32_t at[TESELA_GRAPH_RANK];
  *view = (tesela__pad_view){.known = false};
  for (int32_t d = 0; d < node->rank; d++) view->at[d] = -1;
  view->whole = pad_is_whole(node, buffer);
  if (buffer->layout == NULL) return TESELA_OK; /* a token */
  tesela_status status = tesela__pad_dims_of(buffer->layout, &view->buffer, err);
  if (status != TESELA_OK || !view->buffer.regular || pad_elements(node) == 0) return status;
  for (int32_t merge = 0; merge < 2 && !view->known; merge++) {
    pad_coordinates(buffer, merge, view, at);
    view->known = pad_view_offset(node->offset, view) && pad_view_dims(node, view);
  }
  for (int32_t d = 0; d < node->rank && node == buffer; d++) { /* dims of 1 with padding, too */
    if (view->at[d] >= 0) continue;
    view->at[d] = at[d];
    view->by[d] = 1;
  }
  return TESELA_OK;
}

bool tesela__pad_alone(const tesela__pad_view *view, int32_t rank, int32_t d) {
  for (int32_t other = 0; other < rank; other++)
    if (other != d && view->at[other] == view->at[d]) return false;
  return true;
}
