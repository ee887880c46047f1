/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_along.c - operators along one dim: sort, topk, and folds of several tensors or by an unknown function.
 *
 *   sort(x), sort(x, iota)       sort and argsort; other payloads, and unknown comparisons, as an unknown function along the dim
 *   topk(x), k=5                 sort and argsort with the greatest first, of which 5
 *   reduce(x, iota, -inf, 0)     the greatest and its index: max, and the first of argsort with the greatest first
 */
#include <stdio.h>

#include "graph/hlo/hlo.h"

enum { ALONG_RESULTS = 16 }; /* of one fold */

/* An operator along a dim; `length` below 0: as long as the operand. */
typedef struct lines_piece {
  tesela_fn fn;
  const char *opcode;
  int32_t n, dim;
  const int32_t *operand;
  int64_t length;
  bool reverse;
  tesela_dtype dtype;
} lines_piece;

static tesela_status lines_add(tesela__hlo_build *b, const tesela__hlo_instruction *in, const char *suffix,
                               const lines_piece *a, int32_t *node) {
  tesela_node_spec spec = {.op = TESELA_OP_ALONG,
                           .fn = a->fn,
                           .opcode = a->opcode,
                           .dtype = a->dtype,
                           .n_operands = a->n,
                           .operand = a->operand,
                           .n_dims = 1,
                           .dims = &a->dim,
                           .length = a->length < 0 ? NULL : &a->length,
                           .reverse = a->reverse};
  return tesela__hlo_add(b, in, suffix, &spec, node);
}

/* Are the values of a node 0, 1, 2, .. along a dim? */
static bool lines_counts(const tesela__hlo_build *b, int32_t k, int32_t dim) {
  const tesela_node *node = tesela__graph_at(b->graph, k);
  if (node->op == TESELA_OP_EXPAND) {
    const tesela_node *x = tesela__graph_operand(b->graph, node, 0);
    return x->op == TESELA_OP_CONSTANT && x->n_dims == 1 && x->value == 0 && node->dim[x->dim[0]] == dim &&
           x->shape[x->dim[0]] == node->shape[dim];
  }
  return node->op == TESELA_OP_CONSTANT && node->n_dims == 1 && node->value == 0 && node->dim[0] == dim;
}

/* The first n operands as nodes of one shape with dim d; *fits false: they are not. The caller releases the list. */
static tesela_status lines_operands(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t n,
                                    int32_t dim, int32_t **operand, bool *fits) {
  *operand = tesela__alloc(&b->allocator, (uint64_t)n * sizeof **operand + 1, alignof(int32_t));
  if (!*operand) return tesela__fail(b->err, TESELA_E_MEMORY, -1, "no memory for operands");
  tesela_status status = TESELA_OK;
  *fits = n > 0;
  for (int32_t k = 0; k < n && status == TESELA_OK; k++) {
    status = tesela__hlo_operand(b, in, k, &(*operand)[k]);
    if (status != TESELA_OK) break;
    const tesela_node *x = tesela__graph_at(b->graph, (*operand)[0]),
                      *y = tesela__graph_at(b->graph, (*operand)[k]);
    *fits = *fits && dim < x->rank && x->rank == y->rank &&
            memcmp(x->shape, y->shape, (size_t)x->rank * sizeof *x->shape) == 0;
  }
  return status;
}

/* The value of n nodes: one of them, or a tuple. */
static tesela_status lines_result(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t n,
                                  const int32_t *node, tesela__hlo_value *out) {
  if (!in->tuple) {
    out->node = node[0];
    return TESELA_OK;
  }
  tesela_status status = tesela__hlo_make_tuple(b, n, out);
  for (int32_t k = 0; k < n && status == TESELA_OK; k++)
    b->pool[out->first + k] = (tesela__hlo_value){.node = node[k]};
  return status;
}

/* ---- sort ---- */

/* The compared operand and its order: 1 the least first, -1 the greatest first; 0: unknown. */
static int32_t lines_key(const tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t n,
                         const int32_t *operand, int32_t *key) {
  int32_t computation = tesela__hlo_module_find(b->module, tesela__hlo_attribute(b->module, in, "to_apply")),
          order = 0;
  for (int32_t k = 0; k < n && computation >= 0 && order == 0; k++) {
    *key = k;
    order =
        tesela__hlo_region_order(b->module, computation, n, k, tesela__graph_at(b->graph, operand[k])->dtype);
  }
  return order;
}

static tesela_status lines_sort(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t n,
                                int32_t dim, int32_t *operand, tesela__hlo_value *out) {
  int32_t key = 0, order = lines_key(b, in, n, operand, &key);
  int32_t *node = tesela__alloc(&b->allocator, (uint64_t)n * sizeof *node + 1, alignof(int32_t));
  if (!node) return tesela__fail(b->err, TESELA_E_MEMORY, -1, "no memory for a sort");
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < n && status == TESELA_OK; k++) {
    const tesela_node *x = tesela__graph_at(b->graph, operand[k]);
    lines_piece piece = {.fn = TESELA_FN_FUSED,
                         .opcode = "sort",
                         .n = n,
                         .dim = dim,
                         .operand = operand,
                         .length = -1,
                         .dtype = x->dtype};
    tesela_dtype_family family = tesela_dtype_family_of(x->dtype);
    bool whole = family == TESELA_FAMILY_SIGNED || family == TESELA_FAMILY_UNSIGNED;
    if (order != 0 && (k == key || (whole && lines_counts(b, operand[k], dim)))) {
      piece.fn = k == key ? TESELA_FN_SORT : TESELA_FN_ARGSORT;
      piece.opcode = NULL;
      piece.n = 1;
      piece.operand = &operand[key];
      piece.reverse = order < 0;
    }
    char suffix[16];
    snprintf(suffix, sizeof suffix, "%" PRId32, k);
    status = lines_add(b, in, n == 1 ? NULL : suffix, &piece, &node[k]);
  }
  if (status == TESELA_OK) status = lines_result(b, in, n, node, out);
  tesela__release(&b->allocator, node);
  return status;
}

tesela_status tesela__hlo_sort(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                               tesela__hlo_value *out) {
  int32_t dim, *operand = NULL;
  bool fits;
  if (tesela__hlo_list(b->module, in, "dimensions", 1, &dim) != 1 || (in->n_operands > 1) != in->tuple)
    return TESELA_OK;
  tesela_status status = lines_operands(b, in, in->n_operands, dim, &operand, &fits);
  if (status == TESELA_OK && fits) status = lines_sort(b, in, in->n_operands, dim, operand, out);
  tesela__release(&b->allocator, operand);
  return status;
}

/* ---- topk ---- */

tesela_status tesela__hlo_topk(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                               tesela__hlo_value *out) {
  int32_t x, node[2];
  tesela_xla_shape shape[2];
  if (in->n_operands != 1 || !in->tuple) return TESELA_OK;
  tesela_status status = tesela__hlo_operand(b, in, 0, &x);
  if (status != TESELA_OK) return status;
  const tesela_node *of = tesela__graph_at(b->graph, x);
  tesela__hlo_span largest = tesela__hlo_attribute(b->module, in, "largest");
  bool least = largest.n > 0 && !tesela__hlo_same(b->module->text, largest, "true");
  if (!tesela__hlo_elements(b->module, in, 2, shape) || of->rank == 0 || shape[0].rank != of->rank || least)
    return TESELA_OK;
  lines_piece piece = {.fn = TESELA_FN_SORT,
                       .n = 1,
                       .dim = of->rank - 1,
                       .operand = &x,
                       .length = shape[0].dim[of->rank - 1],
                       .reverse = true,
                       .dtype = shape[0].dtype};
  if (piece.length > of->shape[piece.dim]) return TESELA_OK;
  status = lines_add(b, in, "values", &piece, &node[0]);
  piece.fn = TESELA_FN_ARGSORT;
  piece.dtype = shape[1].dtype;
  if (status == TESELA_OK) status = lines_add(b, in, "indices", &piece, &node[1]);
  return status == TESELA_OK ? lines_result(b, in, 2, node, out) : status;
}

/* Known custom calls: topk, and halves of 64-bit numbers, element by element. */
tesela_status tesela__hlo_custom_call(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                      tesela__hlo_value *out) {
  static const char *const halves[] = {"X64Combine", "X64SplitHigh", "X64SplitLow"};
  tesela__hlo_span target = tesela__hlo_attribute(b->module, in, "custom_call_target");
  if (tesela__hlo_same(b->module->text, target, "TopK")) return tesela__hlo_topk(b, in, out);
  for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
    if (tesela__hlo_same(b->module->text, target, halves[i])) return tesela__hlo_fused(b, in, halves[i], out);
  return TESELA_OK;
}

/* ---- folds ---- */

/* Remove the dim of 1 that remains of the folded dim. */
static tesela_status lines_fold(tesela__hlo_build *b, const tesela__hlo_instruction *in, const char *suffix,
                                const lines_piece *piece, int32_t *node) {
  int32_t line, dim = piece->dim;
  tesela_status status = lines_add(b, in, suffix, piece, &line);
  tesela_node_spec spec = {
      .op = TESELA_OP_SQUEEZE, .n_operands = 1, .operand = &line, .n_dims = 1, .dims = &dim};
  return status == TESELA_OK ? tesela__hlo_add(b, in, in->tuple ? "result" : NULL, &spec, node) : status;
}

/* The greatest (the least) of operand 0, and its index: operand 1 counts. */
static tesela_status lines_extreme(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t dim,
                                   const int32_t *operand, int32_t sign, int32_t *node) {
  const tesela_node *x = tesela__graph_at(b->graph, operand[0]);
  int32_t from = operand[0];
  bool is_float = tesela_dtype_family_of(x->dtype) == TESELA_FAMILY_FLOAT;
  tesela_node_spec value = {.op = TESELA_OP_REDUCE,
                            .fn = sign > 0 ? TESELA_FN_MAX : TESELA_FN_MIN,
                            .n_operands = 1,
                            .operand = operand,
                            .n_dims = 1,
                            .dims = &dim};
  tesela_node_spec negated = {
      .op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG, .n_operands = 1, .operand = operand};
  tesela_status status = tesela__hlo_add(b, in, "value", &value, &node[0]);
  if (status == TESELA_OK && sign < 0 && is_float) /* both orders put NaN first */
    status = tesela__hlo_add(b, in, "negated", &negated, &from);
  lines_piece place = {.fn = TESELA_FN_ARGSORT,
                       .n = 1,
                       .dim = dim,
                       .operand = &from,
                       .length = 1,
                       .reverse = sign > 0 || is_float,
                       .dtype = tesela__graph_at(b->graph, operand[1])->dtype};
  return status == TESELA_OK ? lines_fold(b, in, "place", &place, &node[1]) : status;
}

/* Is each initial value known, and that of operand 0 neutral? */
static bool lines_starts(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t n, tesela_fn fn,
                         tesela_dtype dtype) {
  double start, neutral;
  tesela_fn fold;
  for (int32_t k = 0; k < n; k++)
    if (!tesela__hlo_scalar(b, in, n + k, &start)) return false;
  return fn == TESELA_FN_FUSED || (tesela__hlo_neutral(fn, dtype, &fold, &neutral) &&
                                   tesela__hlo_scalar(b, in, n, &start) && start == neutral);
}

tesela_status tesela__hlo_fold_along(tesela__hlo_build *b, const tesela__hlo_instruction *in, int32_t dim,
                                     tesela__hlo_value *out) {
  int32_t n = in->n_operands / 2, *operand = NULL, node[ALONG_RESULTS];
  int32_t computation = tesela__hlo_module_find(b->module, tesela__hlo_attribute(b->module, in, "to_apply"));
  tesela_xla_shape shape[ALONG_RESULTS];
  bool fits;
  if (n < 1 || n > ALONG_RESULTS || in->n_operands != 2 * n || computation < 0 || (n > 1) != in->tuple ||
      !lines_starts(b, in, n, TESELA_FN_FUSED, TESELA_DTYPE_NONE))
    return TESELA_OK;
  tesela_status status = lines_operands(b, in, n, dim, &operand, &fits);
  if (in->tuple && !tesela__hlo_elements(b->module, in, n, shape)) fits = false;
  if (status == TESELA_OK && fits) {
    tesela_dtype dtype = tesela__graph_at(b->graph, operand[0])->dtype;
    int32_t sign = n == 2 && lines_counts(b, operand[1], dim)
                       ? tesela__hlo_region_extreme(b->module, computation, dtype)
                       : 0;
    if (tesela__graph_at(b->graph, operand[0])->shape[dim] == 0 ||
        !lines_starts(b, in, n, sign > 0 ? TESELA_FN_MAX : TESELA_FN_MIN, dtype))
      sign = 0;
    if (sign != 0) status = lines_extreme(b, in, dim, operand, sign, node);
    for (int32_t k = 0; k < n && sign == 0 && status == TESELA_OK; k++) {
      lines_piece piece = {.fn = TESELA_FN_FUSED,
                           .opcode = "reduce",
                           .n = n,
                           .dim = dim,
                           .operand = operand,
                           .length = 1,
                           .dtype = in->tuple ? shape[k].dtype : b->dtype};
      status = lines_fold(b, in, "fold", &piece, &node[k]);
    }
    if (status == TESELA_OK) status = lines_result(b, in, n, node, out);
  }
  tesela__release(&b->allocator, operand);
  return status;
}
