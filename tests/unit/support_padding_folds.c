/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_padding_folds.c - the value of an operator at one place: folds and lines.
 */
#include "support_padding_parts.h"

/* ---- operators ------------------------------------------------------------------------------------------------ */

bool pad_operand_index(const pad_oracle *o, int32_t number, int32_t k, const int64_t *it, int64_t looked,
                       int64_t *t) {
  tesela_index index[RANK];
  const tesela_node *x = pad_node(o, pad_node(o, number)->operand[k]);
  assert_int_equal(tesela_graph_operand_index(o->graph, number, k, index, NULL), TESELA_OK);
  memset(t, 0, RANK * sizeof *t);
  for (int32_t e = 0; e < x->rank; e++) {
    t[e] = index[e].start + (index[e].dim[0] == TESELA_INDEX_LOOKUP ? looked : 0);
    for (int32_t i = 0; i < 2; i++)
      if (index[e].dim[i] >= 0) t[e] += index[e].factor[i] * it[index[e].dim[i]];
    if (index[e].divide > 1) {
      if (t[e] % index[e].divide != 0) return false;
      t[e] /= index[e].divide;
    }
  }
  return true;
}

static bool in_result(const tesela_node *node, const tesela_iteration *iteration, int32_t i) {
  for (int32_t d = 0; d < node->rank; d++)
    if (iteration->result[d] == i) return true;
  return false;
}

int64_t pad_fold_end(const pad_oracle *o, int32_t number, const tesela_iteration *iteration, int32_t i) {
  const tesela_node *node = pad_node(o, number);
  int64_t end = iteration->extent[i];
  for (int32_t k = 0; k < node->n_operands; k++) {
    const tesela_node *x = pad_node(o, node->operand[k]);
    const tesela_device_layout *layout = pad_node(o, x->buffer)->layout;
    int64_t it[TESELA_GRAPH_ITERATION] = {0}, t[RANK], first;
    if (iteration->extent[i] == 0) continue;
    it[i] = iteration->extent[i] - 1;
    if (!pad_operand_index(o, number, k, it, 0, t) || !pad_inside(x->rank, x->shape, t)) continue;
    first = pad_locate(o, node->operand[k], t);
    for (int64_t at = iteration->extent[i]; at < iteration->extent[i] + ROOM; at++) {
      it[i] = at;
      pad_operand_index(o, number, k, it, 0, t);
      int64_t place = pad_locate(o, node->operand[k], t);
      if (place < 0 || place == first) break;
      if (place / layout->lanes != first / layout->lanes && o->memory[x->buffer].element[place]) break;
      if (at + 1 > end) end = at + 1;
    }
  }
  return end;
}

pad_number pad_fold_first(const tesela_node *node, tesela_fn fn, tesela_dtype dtype) {
  bool f = pad_is_float(dtype);
  switch (fn) {
  case TESELA_FN_PROD:
    return f ? (pad_number){.f = 1} : (pad_number){.i = 1};
  case TESELA_FN_MAX:
    return f ? (pad_number){.f = -(double)INFINITY} : (pad_number){.i = dtype == TESELA_PRED ? 0 : INT32_MIN};
  case TESELA_FN_MIN:
    return f ? (pad_number){.f = (double)INFINITY} : (pad_number){.i = dtype == TESELA_PRED ? 1 : INT32_MAX};
  case TESELA_FN_AND:
    return (pad_number){.i = -1};
  default:
    (void)node;
    return f ? (pad_number){.f = 0} : (pad_number){.i = 0};
  }
}

/* Is this point, inside the window's extents, outside x? It adds nothing there. */
static bool over_border(const pad_oracle *o, int32_t number, const tesela_iteration *iteration,
                        const int64_t *it, const int64_t *t) {
  const tesela_node *x = pad_node(o, pad_node(o, number)->operand[0]);
  tesela_index index[RANK];
  assert_int_equal(tesela_graph_operand_index(o->graph, number, 0, index, NULL), TESELA_OK);
  for (int32_t e = 0; e < x->rank; e++)
    if (index[e].dim[1] >= 0 && it[index[e].dim[0]] < iteration->extent[index[e].dim[0]] &&
        it[index[e].dim[1]] < iteration->extent[index[e].dim[1]] && (t[e] < 0 || t[e] >= x->shape[e]))
      return true;
  return false;
}

/* The fold at result index x, up to `end` along each folded dim. */
static pad_number folded(pad_oracle *o, int32_t number, const tesela_iteration *iteration, const int64_t *x,
                         const int64_t *end) {
  const tesela_node *node = pad_node(o, number), *operand[2];
  tesela_fn fn = node->op == TESELA_OP_REDUCE ? node->fn : TESELA_FN_SUM;
  int64_t it[TESELA_GRAPH_ITERATION] = {0}, count = 0, t[RANK];
  tesela_dtype type[2] = {TESELA_F64, TESELA_F64};
  for (int32_t k = 0; k < node->n_operands && k < 2; k++) {
    operand[k] = pad_node(o, node->operand[k]);
    type[k] = operand[k]->dtype;
  }
  if (node->n_operands > 1 && type[0] != type[1]) o->unsupported = true;
  pad_number sum = pad_fold_first(node, fn, type[0]);
  for (int32_t d = 0; d < node->rank; d++)
    if (iteration->result[d] >= 0) it[iteration->result[d]] = x[d];
  for (int32_t i = 0; i < iteration->n; i++)
    if (!in_result(node, iteration, i) && end[i] == 0) return sum;
  for (;;) {
    bool there = true;
    pad_number v[2];
    for (int32_t k = 0; k < node->n_operands; k++) {
      if (!pad_operand_index(o, number, k, it, 0, t)) there = false; /* between elements: adds nothing */
      if (node->op == TESELA_OP_CONV2D && k == 0 && over_border(o, number, iteration, it, t)) there = false;
      v[k] = pad_read_at(o, node->operand[k], t);
    }
    count++;
    if (there && pad_is_float(type[0])) {
      double a = node->n_operands > 1 ? v[0].f * v[1].f : v[0].f;
      sum.f = fn == TESELA_FN_PROD                         ? sum.f * a
              : fn == TESELA_FN_MAX || fn == TESELA_FN_MIN ? pad_float_fn(o, fn, sum.f, a, 0)
                                                           : sum.f + a;
      if (fn == TESELA_FN_AND || fn == TESELA_FN_OR || fn == TESELA_FN_XOR) o->unsupported = true;
    } else if (there) {
      int64_t a = node->n_operands > 1 ? pad_wrapped(v[0].i * v[1].i) : v[0].i;
      sum.i = fn == TESELA_FN_PROD                          ? sum.i * a
              : fn == TESELA_FN_SUM || fn == TESELA_FN_MEAN ? sum.i + a
                                                            : pad_whole_fn(o, fn, false, sum.i, a, 0);
      sum.i = pad_wrapped(sum.i);
    }
    int32_t i = iteration->n - 1;
    for (; i >= 0; i--) {
      if (in_result(node, iteration, i)) continue;
      if (++it[i] < end[i]) break;
      it[i] = 0;
    }
    if (i < 0) break;
  }
  if (fn == TESELA_FN_MEAN && !pad_is_float(type[0])) o->unsupported = true;
  if (fn == TESELA_FN_MEAN) sum.f /= (double)count;
  return pad_converted(o, node->dtype, pad_is_float(type[0]) ? TESELA_F64 : TESELA_S64, sum);
}

bool pad_all_fine(const pad_oracle *o, int32_t number, bool *any) {
  const tesela_padding_read *read;
  bool fine = true;
  *any = false;
  for (int32_t k = 0; (read = tesela_padding_read_at(o->padding, k)); k++) {
    if (read->node != number) continue;
    *any = true;
    fine = fine && read->verdict == TESELA_PADDING_FINE;
  }
  return fine;
}

bool pad_same_bits(tesela_dtype dtype, pad_number a, pad_number b) {
  if (!pad_is_float(dtype)) return a.i == b.i;
  return (isnan(a.f) && isnan(b.f)) || memcmp(&a.f, &b.f, 8) == 0;
}

pad_number pad_fold_place(pad_oracle *o, int32_t number, const tesela_iteration *iteration,
                          const int64_t *x) {
  const tesela_node *node = pad_node(o, number);
  int64_t end[TESELA_GRAPH_ITERATION];
  bool further = false, any, fine = pad_all_fine(o, number, &any),
       element = pad_inside(node->rank, node->shape, x);
  for (int32_t i = 0; i < iteration->n; i++) {
    end[i] = iteration->extent[i];
    if (!in_result(node, iteration, i)) end[i] = pad_fold_end(o, number, iteration, i);
    further = further || end[i] > iteration->extent[i];
  }
  if (further && !any) pad_failed(o, number, "reads padding and that is not said, index", x[0]);
  pad_number exact = folded(o, number, iteration, x, iteration->extent);
  if (!further || (element && !fine)) return exact; /* the fold must be masked */
  pad_number whole = folded(o, number, iteration, x, end);
  if (element) {
    o->fine++;
    if (!pad_same_bits(node->dtype, exact, whole))
      pad_failed(o, number, "reads that are FINE change index", x[0]);
  }
  return o->masked ? exact : whole;
}

/* ---- lines: operators that run along a dim ---- */

static bool in_front(tesela_dtype dtype, pad_number a, pad_number b) {
  if (!pad_is_float(dtype)) return a.i < b.i;
  return isnan(b.f) ? !isnan(a.f) : a.f < b.f;
}

/* Element x of the result of the line through x with n elements; cumulative folds use those up to x, or after it. */
static pad_number line_value(pad_oracle *o, int32_t number, const tesela_iteration *iteration,
                             const int64_t *x, int64_t n) {
  static const tesela_fn folds[] = {TESELA_FN_SUM, TESELA_FN_PROD, TESELA_FN_MAX, TESELA_FN_MIN};
  const tesela_node *node = pad_node(o, number);
  tesela_dtype type = pad_node(o, node->operand[0])->dtype;
  int64_t it[TESELA_GRAPH_ITERATION] = {0}, t[RANK], at = x[node->dim[0]];
  bool sorts = node->fn == TESELA_FN_SORT;
  pad_number line[256], sum;
  if (!sorts && !node->reverse) n = at + 1;
  if (n > 256 || node->fn < TESELA_FN_CUMSUM || node->fn > TESELA_FN_SORT || (sorts && at >= n)) {
    o->unsupported = o->unsupported || !sorts || at < n;
    return pad_garbage(o, node->dtype);
  }
  memcpy(it, x, (size_t)node->rank * sizeof *it);
  for (int64_t i = 0; i < n; i++) {
    it[iteration->n - 1] = i;
    pad_operand_index(o, number, 0, it, 0, t);
    line[i] = pad_read_at(o, node->operand[0], t);
  }
  if (sorts) { /* by insertion, so equal ones keep their order */
    for (int64_t i = 1; i < n; i++)
      for (int64_t j = i;
           j > 0 && in_front(type, line[node->reverse ? j - 1 : j], line[node->reverse ? j : j - 1]); j--) {
        pad_number keep = line[j];
        line[j] = line[j - 1];
        line[j - 1] = keep;
      }
    return line[at];
  }
  tesela_fn fold = folds[node->fn - TESELA_FN_CUMSUM];
  sum = pad_fold_first(NULL, fold, type);
  for (int64_t k = 0; k < (node->reverse ? n - at : n); k++) {
    pad_number a = line[node->reverse ? n - 1 - k : k];
    if (pad_is_float(type))
      sum.f = fold == TESELA_FN_SUM    ? sum.f + a.f
              : fold == TESELA_FN_PROD ? sum.f * a.f
                                       : pad_float_fn(o, fold, sum.f, a.f, 0);
    else
      sum.i = pad_wrapped(fold == TESELA_FN_SUM    ? sum.i + a.i
                          : fold == TESELA_FN_PROD ? sum.i * a.i
                                                   : pad_whole_fn(o, fold, false, sum.i, a.i, 0));
  }
  return pad_converted(o, node->dtype, pad_is_float(type) ? TESELA_F64 : TESELA_S64, sum);
}

pad_number pad_line_place(pad_oracle *o, int32_t number, const tesela_iteration *iteration,
                          const int64_t *x) {
  const tesela_node *node = pad_node(o, number);
  int64_t n = iteration->extent[iteration->n - 1], end = n;
  bool any, fine = pad_all_fine(o, number, &any), element = pad_inside(node->rank, node->shape, x);
  bool ahead = node->reverse || node->fn == TESELA_FN_SORT;
  if (ahead) end = pad_fold_end(o, number, iteration, iteration->n - 1);
  if (end > n && !any) pad_failed(o, number, "reads padding and that is not said, index", x[0]);
  pad_number exact = line_value(o, number, iteration, x, n);
  if (end == n || (element && !fine)) return exact; /* the line must be masked */
  pad_number whole = line_value(o, number, iteration, x, end);
  if (element) {
    o->fine++;
    if (!pad_same_bits(node->dtype, exact, whole))
      pad_failed(o, number, "reads that are FINE change index", x[0]);
  }
  return o->masked ? exact : whole;
}
