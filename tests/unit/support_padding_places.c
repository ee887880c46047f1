/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_padding_places.c - the places of buffers and of views by definition.
 */
#include "support_padding_parts.h"

/* ---- layouts ------------------------------------------------------------------------------------------------ */

int64_t pad_place_of(const tesela_device_layout *layout, const int64_t *x) {
  int64_t place = 0;
  for (int32_t d = 0; d < layout->host.rank; d++) {
    int64_t rest = x[d];
    bool used[TESELA_DEVICE_DIMS] = {false};
    if (rest < 0) return -1;
    for (;;) {
      int32_t next = -1;
      for (int32_t j = 0; j < layout->n_dims; j++)
        if (!used[j] && layout->dim[j].dim == d && (next < 0 || layout->dim[j].step > layout->dim[next].step))
          next = j;
      if (next < 0) break;
      used[next] = true;
      int64_t digit = rest / layout->dim[next].step;
      if (digit >= layout->dim[next].extent) return -1;
      rest -= digit * layout->dim[next].step;
      place += digit * layout->dim[next].stride;
    }
    if (rest != 0) return -1;
  }
  return place;
}

bool pad_next_digits(const tesela_device_layout *layout, int64_t *digit, int64_t *x, int64_t *place,
                     bool *lane) {
  for (int32_t j = layout->n_dims - 1; j >= 0; j--) {
    if (++digit[j] < layout->dim[j].extent) break;
    digit[j] = 0;
    if (j == 0) return false;
  }
  if (layout->n_dims == 0) return false;
  *place = 0;
  *lane = true;
  memset(x, 0, RANK * sizeof *x);
  for (int32_t j = 0; j < layout->n_dims; j++) {
    const tesela_device_dim *dim = &layout->dim[j];
    *place += digit[j] * dim->stride;
    if (dim->dim >= 0) x[dim->dim] += digit[j] * dim->step;
    if (dim->dim == TESELA_DIM_SYNTHETIC && digit[j] > 0) *lane = false; /* not computed */
  }
  return true;
}

bool pad_first_digits(const tesela_device_layout *layout, int64_t *digit, int64_t *x, int64_t *place,
                      bool *lane) {
  for (int32_t j = 0; j < layout->n_dims; j++)
    if (layout->dim[j].extent < 1) return false;
  memset(digit, 0, TESELA_DEVICE_DIMS * sizeof *digit);
  memset(x, 0, RANK * sizeof *x);
  *place = 0;
  *lane = true;
  return true;
}

bool pad_inside(int32_t rank, const int64_t *shape, const int64_t *x) {
  for (int32_t d = 0; d < rank; d++)
    if (x[d] < 0 || x[d] >= shape[d]) return false;
  return true;
}

void pad_make_memory(pad_oracle *o, int32_t k) {
  const tesela_node *node = pad_node(o, k);
  pad_memory *m = &o->memory[k];
  int64_t n = node->layout->places, index[RANK] = {0}, count = 1, copies = 1;
  m->at = calloc((size_t)n + 1, sizeof *m->at);
  m->element = calloc((size_t)n + 1, sizeof *m->element);
  assert_true(m->at && m->element);
  for (int64_t p = 0; p < n; p++) m->at[p] = pad_garbage(o, node->dtype);
  for (int32_t d = 0; d < node->rank; d++) count *= node->shape[d];
  for (int64_t e = 0; e < count; e++) {
    int64_t rest = e;
    for (int32_t d = node->rank - 1; d >= 0; d--) {
      index[d] = rest % node->shape[d];
      rest /= node->shape[d];
    }
    for (int64_t c = 0; c < copies; c++) m->element[random_place(node->layout, index, c, &copies)] = true;
  }
}

/* ---- views --------------------------------------------------------------------------------------------------- */

/* A reshape: dims on both sides keep an index that exceeds the extent. False: unknown. */
static bool through_reshape(const tesela_node *to, const tesela_node *from, const int64_t *t, int64_t *x) {
  int64_t linear = 0, stride = 1, in[RANK];
  bool beyond[RANK] = {false};
  for (int32_t d = to->rank - 1; d >= 0; d--) {
    in[d] = t[d];
    if (t[d] < 0 || t[d] >= to->shape[d]) {
      int64_t other = 1;
      bool found = false;
      for (int32_t b = from->rank - 1; b >= 0; b--) {
        if (from->shape[b] == to->shape[d] && other == stride && to->shape[d] > 1) {
          found = beyond[b] = true;
          x[b] = t[d];
        }
        other *= from->shape[b];
      }
      if (!found) return false;
      in[d] = 0;
    }
    linear += in[d] * stride;
    stride *= to->shape[d];
  }
  for (int32_t b = from->rank - 1; b >= 0; b--) {
    int64_t part = from->shape[b] > 0 ? linear % from->shape[b] : 0;
    linear = from->shape[b] > 0 ? linear / from->shape[b] : 0;
    if (!beyond[b]) x[b] = part;
  }
  return true;
}

static bool names(const tesela_node *node, int32_t d) {
  for (int32_t i = 0; i < node->n_dims; i++)
    if (node->dim[i] == d) return true;
  return false;
}

/* The index in a view's operand. */
static bool through(const tesela_node *to, const tesela_node *from, const int64_t *t, int64_t *x) {
  int32_t next = 0;
  memset(x, 0, RANK * sizeof *x);
  switch (to->op) {
  case TESELA_OP_PERMUTE:
    for (int32_t d = 0; d < to->rank; d++) x[to->dim[d]] = t[d];
    return true;
  case TESELA_OP_SLICE:
    for (int32_t d = 0; d < to->rank; d++) x[d] = to->start[d] + to->step[d] * t[d];
    return true;
  case TESELA_OP_SQUEEZE:
    for (int32_t d = 0; d < from->rank; d++)
      if (!names(to, d)) x[d] = t[next++];
    return true;
  case TESELA_OP_UNSQUEEZE:
    for (int32_t d = 0; d < to->rank; d++) {
      if (!names(to, d))
        x[next++] = t[d];
      else if (t[d] != 0)
        return false;
    }
    return true;
  case TESELA_OP_EXPAND:
    for (int32_t e = 0; e < from->rank; e++) {
      int32_t d = to->n_dims > 0 ? to->dim[e] : e + to->rank - from->rank;
      x[e] = from->shape[e] == to->shape[d] ? t[d] : 0;
    }
    return true;
  default:
    return through_reshape(to, from, t, x);
  }
}

int64_t pad_locate(const pad_oracle *o, int32_t k, const int64_t *t) {
  int64_t x[RANK], y[RANK];
  memcpy(x, t, sizeof x);
  while (pad_node(o, k)->buffer != k) {
    const tesela_node *node = pad_node(o, k), *from = pad_node(o, node->operand[0]);
    if (node->view) {
      if (!through(node, from, x, y)) return -1;
      memcpy(x, y, sizeof x);
    }
    k = node->operand[0];
  }
  return pad_place_of(pad_node(o, k)->layout, x);
}

pad_number pad_read_at(pad_oracle *o, int32_t k, const int64_t *t) {
  const tesela_node *node = pad_node(o, k);
  int64_t place = pad_locate(o, k, t);
  return place < 0 ? pad_garbage(o, node->dtype) : o->memory[node->buffer].at[place];
}
