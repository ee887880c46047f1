/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_tensor.c - the places of the elements of an operand, a row at a time.
 *
 * A row is elements along one iteration dim. A layout without joins places an element at a sum of functions of one coordinate each;
 * tables hold these, and if one dim of the tensor moves along the row, one table gives its places. All other rows are located
 * element by element.
 */
#include "graph/run/run.h"
#include "layout/layout.h"

static tesela_status tensor_no_memory(tesela_error *err) {
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for tables of places");
}

static tesela_status tensor_tables(tesela__run *run, tesela__run_tensor *tensor, tesela_error *err) {
  const tesela_layout *base = &tensor->at.base;
  if (base->n_joins > 0) return TESELA_OK;
  for (int32_t c = 0; c < base->rank; c++) {
    int64_t *table = tesela__run_take(run, &run->scratch, base->shape[c], sizeof *table);
    if (!table) return tensor_no_memory(err);
    int32_t *even = tesela__run_take(run, &run->scratch, base->shape[c], sizeof *even);
    if (!even) return tensor_no_memory(err);
    int64_t last = base->shape[c] - 1;
    for (int64_t x = 0; x <= last; x++) table[x] = tesela__coordinate_place(base, c, x);
    even[last] = 0;
    for (int64_t x = last - 1; x >= 0; x--) {
      bool more = x + 2 <= last && table[x + 2] - table[x + 1] == table[x + 1] - table[x];
      even[x] = more && even[x + 1] < INT32_MAX ? even[x + 1] + 1 : 1;
    }
    tensor->table[c] = table;
    tensor->even[c] = even;
  }
  tensor->tabled = true;
  return TESELA_OK;
}

/* Places of the further copies of an element: sums of the replica digits, except all 0. */
static tesela_status tensor_copies(tesela__run *run, tesela__run_tensor *tensor, tesela_error *err) {
  const tesela_layout *base = &tensor->at.base;
  int64_t n = tesela_layout_copies(base);
  if (n <= 1) return TESELA_OK;
  tensor->copy = tesela__run_take(run, &run->scratch, n - 1, sizeof *tensor->copy);
  if (!tensor->copy) return tensor_no_memory(err);
  for (int64_t k = 1; k < n; k++) {
    int64_t rest = k, place = 0;
    for (int32_t i = base->n_active - 1; i >= base->n_mapped; i--) {
      const tesela_digit *digit = &base->digit[i];
      if (digit->source != TESELA_REPLICA) continue;
      place += rest % digit->extent * digit->stride;
      rest /= digit->extent;
    }
    tensor->copy[tensor->n_copies++] = place;
  }
  return TESELA_OK;
}

tesela_status tesela__run_tensor_make(tesela__run *run, const tesela__op_tensor *at,
                                      tesela__run_tensor *tensor, tesela_error *err) {
  *tensor = (tesela__run_tensor){.at = *at, .buffer = &run->buffer[at->buffer], .id = at->buffer};
  tensor->at.base.dtype = tensor->buffer->dtype; /* on plain memory also a device's type */
  tensor->at.base.bits = tensor->buffer->width * 8;
  tensor->origin = at->base.axis[0].offset;
  for (int32_t d = 0; d < at->rank; d++)
    if (at->shape[d] == 0) return TESELA_OK;
  tesela_status status = tensor_tables(run, tensor, err);
  if (status == TESELA_OK) status = tensor_copies(run, tensor, err);
  return status;
}

bool tesela__run_moves(const tesela__run_tensor *tensor, int32_t dim) {
  for (int32_t d = 0; d < tensor->at.rank; d++)
    for (int32_t i = 0; i < 2; i++)
      if (dim >= 0 && tensor->at.index[d].dim[i] == dim) return true;
  return false;
}

/* ---- where ---- */

/* Index t of a dim as its coordinate; false: no element. */
static inline bool tensor_index(const tesela__op_tensor *at, int32_t d, int64_t *t) {
  int64_t divide = at->index[d].divide;
  if (*t < 0) return false;
  if (divide > 1) {
    if (*t % divide != 0) return false;
    *t /= divide;
  }
  return *t < at->shape[d];
}

bool tesela__run_locate(const tesela__run_tensor *tensor, const int64_t *iteration, int64_t looked_up,
                        int64_t *place) {
  const tesela__op_tensor *at = &tensor->at;
  int64_t x[TESELA_MAX_RANK];
  for (int32_t c = 0; c < at->base.rank; c++) x[c] = at->offset[c];
  for (int32_t d = 0; d < at->rank; d++) {
    const tesela_index *index = &at->index[d];
    int64_t t = index->start;
    if (index->dim[0] == TESELA_INDEX_LOOKUP) t += looked_up;
    for (int32_t i = 0; i < 2; i++)
      if (index->dim[i] >= 0) t += index->factor[i] * iteration[index->dim[i]];
    if (!tensor_index(at, d, &t)) return false;
    if (at->to[d] >= 0) x[at->to[d]] += at->by[d] * t;
  }
  if (!tensor->tabled) return tesela_layout_place_of(&at->base, x, place, NULL) == TESELA_OK;
  int64_t sum = tensor->origin;
  for (int32_t c = 0; c < at->base.rank; c++) sum += tensor->table[c][x[c]];
  *place = sum;
  return true;
}

static int64_t tensor_one_by_one(const tesela__run_tensor *tensor, const int64_t *iteration,
                                 tesela__run_line line, int64_t looked_up, int64_t n, int64_t *list,
                                 tesela__run_places *places) {
  int64_t own[TESELA_GRAPH_ITERATION], there = 0;
  memcpy(own, iteration, sizeof own);
  for (int64_t j = 0; j < n; j++) {
    if (tesela__run_locate(tensor, own, looked_up, &list[j]))
      there++;
    else
      list[j] = -1;
    if (line.dim >= 0) own[line.dim] += line.step;
  }
  *places = (tesela__run_places){.list = list};
  return there;
}

/* One dim of the tensor moves, from t by `by`; x are the coordinates without it. */
static int64_t tensor_along(const tesela__run_tensor *tensor, int32_t d, int64_t t, int64_t by,
                            const int64_t *x, int64_t n, int64_t *list, tesela__run_places *places) {
  const tesela__op_tensor *at = &tensor->at;
  int32_t to = at->to[d];
  int64_t sum = tensor->origin, there = 0, last = t + (n - 1) * by;
  for (int32_t c = 0; c < at->base.rank; c++)
    if (c != to) sum += tensor->table[c][x[c]];
  const int64_t *table = to >= 0 ? tensor->table[to] + x[to] : NULL;
  int64_t factor = to >= 0 ? at->by[d] : 0;
  if (at->index[d].divide <= 1 && tesela__min(t, last) >= 0 && tesela__max(t, last) < at->shape[d]) {
    int64_t low = factor * t, span = (n - 1) * by * factor, step = by * factor;
    if (span < 0) low += span;
    if (step == 0) {
      *places = (tesela__run_places){.first = sum + (table ? table[low] : 0)};
    } else if (n == 1 || tensor->even[to][x[to] + low] >= (span < 0 ? -span : span)) {
      int64_t each = n > 1 ? table[low + 1] - table[low] : 0;
      *places = (tesela__run_places){.first = sum + table[factor * t], .step = each * step};
    } else {
      for (int64_t j = 0; j < n; j++) list[j] = sum + table[factor * t + j * step];
      *places = (tesela__run_places){.list = list};
    }
    return n;
  }
  for (int64_t j = 0; j < n; j++) {
    int64_t own = t + j * by;
    bool has = tensor_index(at, d, &own);
    list[j] = !has ? -1 : table ? sum + table[factor * own] : sum;
    there += has;
  }
  *places = (tesela__run_places){.list = list};
  return there;
}

int64_t tesela__run_find(const tesela__run_tensor *tensor, const int64_t *iteration, tesela__run_line line,
                         int64_t looked_up, int64_t n, int64_t *list, tesela__run_places *places) {
  const tesela__op_tensor *at = &tensor->at;
  int64_t x[TESELA_MAX_RANK], first = 0, step = 0;
  int32_t moving = -1;
  if (!tensor->tabled) return tensor_one_by_one(tensor, iteration, line, looked_up, n, list, places);
  for (int32_t c = 0; c < at->base.rank; c++) x[c] = at->offset[c];
  for (int32_t d = 0; d < at->rank; d++) {
    const tesela_index *index = &at->index[d];
    int64_t t = index->start, by = 0;
    if (index->dim[0] == TESELA_INDEX_LOOKUP) t += looked_up;
    for (int32_t i = 0; i < 2; i++) {
      if (index->dim[i] < 0) continue;
      t += index->factor[i] * iteration[index->dim[i]];
      if (index->dim[i] == line.dim) by += index->factor[i] * line.step;
    }
    if (by != 0 && moving >= 0) return tensor_one_by_one(tensor, iteration, line, looked_up, n, list, places);
    if (by != 0) {
      moving = d;
      first = t;
      step = by;
    } else if (!tensor_index(at, d, &t)) {
      for (int64_t j = 0; j < n; j++) list[j] = -1;
      *places = (tesela__run_places){.list = list};
      return 0;
    } else if (at->to[d] >= 0) {
      x[at->to[d]] += at->by[d] * t;
    }
  }
  if (moving >= 0) return tensor_along(tensor, moving, first, step, x, n, list, places);
  int64_t sum = tensor->origin;
  for (int32_t c = 0; c < at->base.rank; c++) sum += tensor->table[c][x[c]];
  *places = (tesela__run_places){.first = sum};
  return n;
}
