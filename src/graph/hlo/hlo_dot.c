/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_dot.c - dot: the result has the batch dims, then the other dims of x, then those of y. These are the labels.
 */
#include "graph/hlo/hlo.h"

static bool dot_has(int32_t n, const int32_t *list, int32_t d) {
  for (int32_t i = 0; i < n; i++)
    if (list[i] == d) return true;
  return false;
}

tesela_status tesela__hlo_dot(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                              tesela__hlo_value *out) {
  static const char *const batch_key[2] = {"lhs_batch_dims", "rhs_batch_dims"};
  static const char *const sum_key[2] = {"lhs_contracting_dims", "rhs_contracting_dims"};
  int32_t operand[2], batch[2][TESELA_GRAPH_RANK], sum[2][TESELA_GRAPH_RANK], n_batch[2], n_sum[2];
  int32_t label[2][TESELA_GRAPH_RANK], next;
  if (in->n_operands != 2) return TESELA_OK;
  for (int32_t k = 0; k < 2; k++) {
    tesela_status status = tesela__hlo_operand_laid_out(b, in, k, &operand[k]);
    if (status != TESELA_OK) return status;
    n_batch[k] = tesela__hlo_list(b->module, in, batch_key[k], TESELA_GRAPH_RANK, batch[k]);
    n_sum[k] = tesela__hlo_list(b->module, in, sum_key[k], TESELA_GRAPH_RANK, sum[k]);
    if (n_batch[k] < 0) n_batch[k] = 0;
    if (n_sum[k] < 0) n_sum[k] = 0;
  }
  if (n_batch[0] != n_batch[1] || n_sum[0] != n_sum[1]) return TESELA_OK;
  next = n_batch[0];
  for (int32_t k = 0; k < 2; k++) {
    int32_t rank = tesela__graph_at(b->graph, operand[k])->rank;
    for (int32_t d = 0; d < rank; d++)
      if (!dot_has(n_batch[k], batch[k], d) && !dot_has(n_sum[k], sum[k], d)) label[k][d] = next++;
    for (int32_t i = 0; i < n_batch[k]; i++) {
      if (batch[k][i] >= rank) return TESELA_OK;
      label[k][batch[k][i]] = i;
    }
  }
  for (int32_t k = 0; k < 2; k++)
    for (int32_t i = 0; i < n_sum[k]; i++) {
      if (sum[k][i] >= tesela__graph_at(b->graph, operand[k])->rank ||
          dot_has(n_batch[k], batch[k], sum[k][i]))
        return TESELA_OK;
      label[k][sum[k][i]] = next + i;
    }
  tesela_node_spec spec = {.op = TESELA_OP_MATMUL,
                           .dtype = b->dtype,
                           .n_operands = 2,
                           .operand = operand,
                           .rank = next,
                           .n_labels = next + n_sum[0],
                           .x_label = label[0],
                           .y_label = label[1]};
  return tesela__hlo_add(b, in, NULL, &spec, &out->node);
}
