/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_device_view.c - see support_device_view.h.
 */
#include "support_device_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t view_draw(uint64_t *state, uint64_t n) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (z ^ z >> 31) % n;
}

static int64_t draw(uint64_t *state, int64_t n) { return (int64_t)view_draw(state, (uint64_t)n); }

/* ---- bases --------------------------------------------------------------------------------------------------- */

static void add_dim(tesela_device_layout *layout, int32_t dim, int64_t step, int64_t extent) {
  layout->dim[layout->n_dims++] = (tesela_device_dim){.dim = dim, .step = step, .extent = extent};
}

/* Digits of a host dim above the lowest `taken` elements, which belong to a stick dim (1: no stick dim). */
static void add_outer_digits(uint64_t *state, tesela_device_layout *layout, int32_t dim, int64_t taken) {
  int64_t n = layout->host.shape[dim], above = n;
  for (int more = (int)draw(state, 3) == 0; more && above > taken + 1; more = (int)draw(state, 2)) {
    int64_t step = taken + 1 + draw(state, above - taken - 1);
    if (draw(state, 2)) step = (step + taken - 1) / taken * taken;
    if (step >= above) break;
    add_dim(layout, dim, step, (above + step - 1) / step + (draw(state, 6) == 0));
    above = step;
  }
  if (n == 0 || above > taken || draw(state, 8) == 0)
    add_dim(layout, dim, taken, (above + taken - 1) / taken + (draw(state, 6) == 0 && n > 0));
}

static void shuffle_dims(uint64_t *state, tesela_device_layout *layout) {
  for (int32_t k = layout->n_dims - 1; k > 0; k--) {
    int32_t other = (int32_t)draw(state, k + 1);
    tesela_device_dim swap = layout->dim[k];
    layout->dim[k] = layout->dim[other];
    layout->dim[other] = swap;
  }
}

static void set_strides(uint64_t *state, tesela_device_layout *layout) {
  bool gaps = draw(state, 5) == 0, empty = false;
  int64_t stride = 1;
  layout->places = 1;
  for (int32_t j = layout->n_dims - 1; j >= 0; j--) {
    if (gaps && j < layout->n_dims - layout->stick_dims) stride += layout->lanes * draw(state, 3);
    layout->dim[j].stride = stride;
    if (layout->dim[j].extent) layout->places += (layout->dim[j].extent - 1) * stride;
    stride *= layout->dim[j].extent ? layout->dim[j].extent : 1;
    empty = empty || layout->dim[j].extent == 0;
  }
  if (empty) layout->places = 0;
}

void view_draw_layout(uint64_t *state, tesela_device_layout *layout) {
  static const int64_t lanes[] = {1, 2, 4, 8, 8, 16, 32, 64, 6};
  int64_t taken[TESELA_MAX_RANK];
  layout->lanes = lanes[draw(state, 9)];
  layout->host.dtype = layout->host.device_dtype = TESELA_F16;
  layout->host.bits = layout->host.device_bits = 16;
  layout->host.stick_bytes = 2 * layout->lanes;
  tesela_device_dim stick[2] = {{.extent = layout->lanes, .step = 0, .dim = TESELA_DIM_SYNTHETIC}};
  layout->stick_dims = 1;
  for (int32_t d = 0; d < layout->host.rank; d++) taken[d] = 1;
  if (layout->host.rank > 0 && draw(state, 5)) {
    int32_t a = (int32_t)draw(state, layout->host.rank), b = (int32_t)draw(state, layout->host.rank);
    stick[0] = (tesela_device_dim){.dim = a, .step = 1, .extent = layout->lanes};
    if (draw(state, 5) == 0 && a != b && layout->lanes % 2 == 0) { /* two dims share the stick */
      layout->stick_dims = 2;
      stick[0].extent = layout->lanes / 2;
      stick[1] = (tesela_device_dim){.dim = b, .step = 1, .extent = 2};
      taken[b] = 2;
    }
    taken[a] = stick[0].extent;
  }
  layout->format = stick[0].dim < 0 ? TESELA_STICKS_SPARSE : TESELA_STICKS_DENSE;
  for (int32_t d = 0; d < layout->host.rank; d++) add_outer_digits(state, layout, d, taken[d]);
  if (draw(state, 12) == 0) add_dim(layout, TESELA_DIM_REPLICATED, 0, 2);
  shuffle_dims(state, layout);
  for (int32_t k = 0; k < layout->stick_dims; k++) layout->dim[layout->n_dims++] = stick[k];
  set_strides(state, layout);
}

static void set_storage(drawn_base *base) {
  const tesela_device_host *host = &base->layout.host;
  int64_t index[TESELA_MAX_RANK] = {0}, elements = 1;
  for (int64_t p = 0; p < VIEW_STORAGE; p++) base->element[p] = -1;
  base->span = 0;
  for (int32_t d = 0; d < host->rank; d++) elements *= host->shape[d];
  for (int64_t e = 0; e < elements; e++) {
    int64_t offset = 0, rest = e;
    for (int32_t d = host->rank - 1; d >= 0; d--) {
      index[d] = rest % host->shape[d];
      rest /= host->shape[d];
      offset += index[d] * base->stride[d];
    }
    base->element[offset] = (int32_t)e;
    if (offset + 1 > base->span) base->span = offset + 1;
  }
}

void view_draw_base(uint64_t *state, drawn_base *base) {
  static const int64_t sizes[] = {1,  2,  3,  4,  5,   6,   8,   12,  16,  20,
                                  33, 64, 65, 70, 100, 128, 130, 150, 192, 7};
  for (;;) {
    memset(base, 0, offsetof(drawn_base, element));
    base->layout.host.rank = (int32_t)draw(state, 5);
    int64_t storage = 1;
    for (int32_t d = 0; d < base->layout.host.rank; d++)
      base->layout.host.shape[d] = sizes[draw(state, base->layout.host.rank > 2 ? 12 : 20)];
    if (draw(state, 40) == 0 && base->layout.host.rank) base->layout.host.shape[0] = 0;
    int32_t order[TESELA_MAX_RANK];
    base->row_major = draw(state, 3) != 0;
    for (int32_t d = 0; d < base->layout.host.rank; d++) order[d] = d;
    for (int32_t k = base->layout.host.rank - 1; k > 0 && !base->row_major; k--) {
      int32_t other = (int32_t)draw(state, k + 1), swap = order[k];
      order[k] = order[other];
      order[other] = swap;
    }
    int64_t stride = base->row_major || draw(state, 6) ? 1 : 2;
    for (int32_t k = base->layout.host.rank - 1; k >= 0; k--) {
      int64_t n = base->layout.host.shape[order[k]];
      base->stride[order[k]] = stride;
      if (n > 0) storage *= n;
      if (n > 0) stride *= n + (!base->row_major && draw(state, 3) == 0 ? draw(state, 4) : 0);
    }
    if (stride > VIEW_STORAGE || storage > 20000) continue;
    view_draw_layout(state, &base->layout);
    if (base->layout.places > 4000000) continue;
    set_storage(base);
    return;
  }
}

/* ---- views --------------------------------------------------------------------------------------------------- */

static void remove_dim(tesela_host_view *view, int32_t d) {
  view->rank--;
  for (int32_t k = d; k < view->rank; k++) {
    view->shape[k] = view->shape[k + 1];
    view->stride[k] = view->stride[k + 1];
  }
}

static void insert_dim(tesela_host_view *view, int32_t d, int64_t extent, int64_t stride) {
  for (int32_t k = view->rank; k > d; k--) {
    view->shape[k] = view->shape[k - 1];
    view->stride[k] = view->stride[k - 1];
  }
  view->shape[d] = extent;
  view->stride[d] = stride;
  view->rank++;
}

static void slice(uint64_t *state, tesela_host_view *view, int32_t d, int64_t lanes) {
  int64_t n = view->shape[d];
  if (n == 0) return;
  int64_t start = draw(state, n), step = 1 + (draw(state, 3) == 0 ? draw(state, 4) : 0);
  if (draw(state, 2)) start = start / lanes * lanes;
  if (draw(state, 5) == 0) step = lanes;
  bool back = draw(state, 5) == 0;
  int64_t most = (back ? start : n - 1 - start) / step + 1;
  int64_t length = draw(state, 3) ? most : draw(state, 12) == 0 ? 0 : 1 + draw(state, most);
  view->offset += start * view->stride[d];
  view->stride[d] *= back ? -step : step;
  view->shape[d] = length;
}

static void reshape(uint64_t *state, tesela_host_view *view, int32_t d) {
  if (draw(state, 2) && d + 1 < view->rank && view->stride[d] == view->stride[d + 1] * view->shape[d + 1]) {
    view->shape[d] *= view->shape[d + 1]; /* flatten */
    view->stride[d] = view->stride[d + 1];
    remove_dim(view, d + 1);
    return;
  }
  for (int tries = 0; tries < 6; tries++) { /* unflatten */
    int64_t f = 1 + draw(state, view->shape[d] < 2 ? 1 : view->shape[d]);
    if (view->shape[d] % f != 0 || view->rank > 6) continue;
    int64_t stride = view->stride[d];
    view->shape[d] /= f;
    view->stride[d] = stride * f;
    insert_dim(view, d + 1, f, stride);
    return;
  }
}

static void permute(uint64_t *state, tesela_host_view *view, int32_t d) {
  int32_t other = (int32_t)draw(state, view->rank);
  int64_t extent = view->shape[d], stride = view->stride[d];
  view->shape[d] = view->shape[other];
  view->stride[d] = view->stride[other];
  view->shape[other] = extent;
  view->stride[other] = stride;
}

static int64_t elements_of(const tesela_host_view *view) {
  int64_t n = 1;
  for (int32_t d = 0; d < view->rank; d++) n *= view->shape[d];
  return n;
}

static void free_view(uint64_t *state, const drawn_base *base, tesela_host_view *view) {
  memset(view, 0, sizeof *view);
  view->rank = (int32_t)draw(state, 4);
  view->offset = draw(state, base->span + 1) - (draw(state, 20) == 0);
  for (int32_t d = 0; d < view->rank; d++) {
    view->shape[d] = 1 + draw(state, 8);
    view->stride[d] = draw(state, 30) - 4;
    if (base->layout.host.rank && draw(state, 2))
      view->stride[d] = base->stride[draw(state, base->layout.host.rank)] + (draw(state, 3) == 0);
  }
}

void view_draw_large_view(uint64_t *state, const drawn_base *base, tesela_host_view *view) {
  memset(view, 0, sizeof *view);
  view->rank = base->layout.host.rank;
  for (int32_t d = 0; d < view->rank; d++) {
    view->shape[d] = base->layout.host.shape[d];
    view->stride[d] = base->stride[d];
  }
  for (int64_t steps = draw(state, 7); steps > 0; steps--) {
    int32_t d = view->rank ? (int32_t)draw(state, view->rank) : 0;
    int64_t op = view->rank ? draw(state, 8) : 6;
    if (op < 3)
      slice(state, view, d, base->layout.lanes);
    else if (op < 5)
      reshape(state, view, d);
    else if (op == 5)
      permute(state, view, d);
    else if (op == 6 && view->rank < 6)
      insert_dim(view, d, draw(state, 2) ? 1 : 1 + draw(state, 70), 0);
    else if (op == 7 && view->shape[d] == 1)
      remove_dim(view, d);
  }
}

void view_draw_view(uint64_t *state, const drawn_base *base, tesela_host_view *view) {
  do {
    if (draw(state, 8) == 0)
      free_view(state, base, view);
    else
      view_draw_large_view(state, base, view);
  } while (elements_of(view) > VIEW_ELEMENTS);
}

/* ---- the definition ------------------------------------------------------------------------------------------ */

int64_t view_place_by_definition(const tesela_device_layout *layout, const int64_t *index, int64_t *lane) {
  int64_t rest[TESELA_MAX_RANK], digit[TESELA_DEVICE_DIMS] = {0}, place = 0;
  bool done[TESELA_DEVICE_DIMS] = {false};
  for (int32_t d = 0; d < layout->host.rank; d++) rest[d] = index[d];
  for (int32_t k = 0; k < layout->n_dims; k++) {
    int32_t next = -1; /* the largest remaining step, the outermost of equal ones */
    for (int32_t j = 0; j < layout->n_dims; j++)
      if (!done[j] && layout->dim[j].dim >= 0 && (next < 0 || layout->dim[j].step > layout->dim[next].step))
        next = j;
    if (next < 0) break;
    done[next] = true;
    digit[next] = rest[layout->dim[next].dim] / layout->dim[next].step;
    rest[layout->dim[next].dim] %= layout->dim[next].step;
    place += digit[next] * layout->dim[next].stride;
  }
  *lane = 0;
  for (int32_t j = layout->n_dims - layout->stick_dims; j < layout->n_dims; j++)
    *lane = *lane * layout->dim[j].extent + digit[j];
  return place;
}

bool view_element_by_definition(const drawn_base *base, const tesela_host_view *view, const int64_t *index,
                                int64_t *place, int64_t *lane) {
  int64_t offset = view->offset, of_base[TESELA_MAX_RANK];
  for (int32_t d = 0; d < view->rank; d++) offset += index[d] * view->stride[d];
  if (offset < 0 || offset >= base->span || base->element[offset] < 0) return false;
  int64_t element = base->element[offset];
  for (int32_t d = base->layout.host.rank - 1; d >= 0; d--) {
    of_base[d] = element % base->layout.host.shape[d];
    element /= base->layout.host.shape[d];
  }
  *place = view_place_by_definition(&base->layout, of_base, lane);
  return true;
}

void view_print_case(const drawn_base *base, const tesela_host_view *view) {
  printf("base [");
  for (int32_t d = 0; d < base->layout.host.rank; d++)
    printf("%" PRId64 "@%" PRId64 " ", base->layout.host.shape[d], base->stride[d]);
  printf("] lanes %" PRId64 ", stick dims %d, dims (host dim, step, extent, stride)", base->layout.lanes,
         (int)base->layout.stick_dims);
  for (int32_t j = 0; j < base->layout.n_dims; j++)
    printf(" (%d,%" PRId64 ",%" PRId64 ",%" PRId64 ")", (int)base->layout.dim[j].dim,
           base->layout.dim[j].step, base->layout.dim[j].extent, base->layout.dim[j].stride);
  printf("\nview [");
  for (int32_t d = 0; d < view->rank; d++)
    printf("%" PRId64 "@%" PRId64 " ", view->shape[d], view->stride[d]);
  printf("] offset %" PRId64 "\n", view->offset);
}
