/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_pieces.c - coordinates of an array that holds the elements of another one: reshape, transpose, pad.
 *
 * A coordinate is a term of the dims of the first array. Reshaping joins neighbouring coordinates until their number of elements is
 * that of some new ones, and divides the sum.
 */
#include "base/base.h"
#include "notation/index/index.h"

void tesela__pieces_begin(const tesela__map_text *m, tesela__pieces *p) {
  p->n = m->n_dims;
  for (int32_t d = 0; d < m->n_dims; d++)
    p->piece[d] = (tesela__index_piece){
        .term = {.kind = TESELA__MAP_DIM, .number = d, .factor = 1, .divisor = 1}, .extent = m->shape[d]};
}

static tesela_status pieces_push(tesela__map_text *m, const tesela__index_piece *piece) {
  size_t at = m->reader.at;
  tesela_status status = tesela__map_push_number(m, piece->constant, at);
  if (status != TESELA_OK || piece->term.factor == 0) return status;
  tesela__map_term term = piece->term;
  term.at = at;
  status = tesela__map_push_term(m, &term, at);
  return status == TESELA_OK ? tesela__map_operate(m, TESELA__MAP_ADD, at) : status;
}

/* Pop the value on top as a coordinate; a sum of several terms becomes one. */
static tesela_status pieces_pop(tesela__map_text *m, int64_t extent, tesela__index_piece *piece) {
  const tesela__map_value *v = &m->value[m->n_values - 1];
  *piece = (tesela__index_piece){.constant = v->constant, .extent = extent};
  if (v->n == 1) piece->term = m->term[v->first];
  if (v->n < 2) {
    m->n_values--;
    return TESELA_OK;
  }
  piece->constant = 0;
  tesela_status status = tesela__map_keep_sum(m);
  piece->term =
      (tesela__map_term){.kind = TESELA__MAP_SUM, .number = m->n_sums - 1, .factor = 1, .divisor = 1};
  return status;
}

/* Push the row-major number of some coordinates. */
static tesela_status pieces_push_number(tesela__map_text *m, const tesela__index_piece *piece, int32_t n) {
  size_t at = m->reader.at;
  tesela_status status = tesela__map_push_number(m, 0, at);
  for (int32_t k = 0; k < n && status == TESELA_OK; k++) {
    status = tesela__map_push_number(m, piece[k].extent, at);
    if (status == TESELA_OK) status = tesela__map_operate(m, TESELA__MAP_MULTIPLY, at);
    if (status == TESELA_OK) status = pieces_push(m, &piece[k]);
    if (status == TESELA_OK) status = tesela__map_operate(m, TESELA__MAP_ADD, at);
  }
  return status;
}

/* Divide n old coordinates into n_new ones of as many elements. */
static tesela_status pieces_regroup(tesela__map_text *m, const tesela__index_piece *old, int32_t n,
                                    const int64_t *extent, int32_t n_new, tesela__index_piece *new) {
  int64_t step = 1;
  for (int32_t k = n_new - 1; k >= 0; k--) {
    if (n == 1 && n_new == 1) {
      new[k] = old[0];
      continue;
    }
    tesela_status status = pieces_push_number(m, old, n);
    if (status == TESELA_OK && step > 1) {
      status = tesela__map_push_number(m, step, m->reader.at);
      if (status == TESELA_OK) status = tesela__map_operate(m, TESELA__MAP_DIVIDE, m->reader.at);
    }
    if (status == TESELA_OK && k > 0) {
      status = tesela__map_push_number(m, extent[k], m->reader.at);
      if (status == TESELA_OK) status = tesela__map_operate(m, TESELA__MAP_MODULO, m->reader.at);
    }
    if (status == TESELA_OK) status = pieces_pop(m, extent[k], &new[k]);
    if (status != TESELA_OK) return status;
    step *= extent[k]; /* a part of the number of elements */
  }
  return TESELA_OK;
}

tesela_status tesela__pieces_reshape(tesela__map_text *m, tesela__pieces *p, int32_t n,
                                     const int64_t *extent) {
  tesela__pieces result = {.n = n};
  bool empty = false;
  for (int32_t k = 0; k < n; k++) empty = empty || extent[k] == 0;
  for (int32_t k = 0; k < n; k++) result.piece[k] = (tesela__index_piece){.extent = extent[k]};
  for (int32_t i = 0, k = 0; !empty && (i < p->n || k < n);) {
    int32_t i0 = i, k0 = k;
    int64_t old = 1, new = 1;
    do { /* extents of 1 go with what is next to them */
      if (i < p->n && (old <= new || k == n))
        old *= p->piece[i++].extent;
      else
        new *= extent[k++];
    } while (old != new || (i == p->n) != (k == n));
    tesela_status status = pieces_regroup(m, &p->piece[i0], i - i0, &extent[k0], k - k0, &result.piece[k0]);
    if (status != TESELA_OK) return status;
  }
  *p = result;
  return TESELA_OK;
}

tesela_status tesela__pieces_place(tesela__map_text *m, const tesela__pieces *p) {
  int64_t extent[TESELA_MAX_RANK];
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < p->n && status == TESELA_OK; k++) {
    extent[k] = p->piece[k].extent;
    status = pieces_push(m, &p->piece[k]);
  }
  return status == TESELA_OK ? tesela__index_results(m, NULL, 0, NULL, extent) : status;
}
