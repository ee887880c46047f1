/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create.c - the primitive register layouts: each dim is one mode, and all modes are spatial or all are local.
 */
#include "gpu/register/register.h"

/* One mode per dim; reducing removes those of 1. */
static tesela_status create_begin(tesela_register *result, int32_t rank, const int64_t *shape,
                                  tesela_error *err) {
  int64_t elements;
  tesela_status status = tesela__check_extents(rank, shape, &elements, err);
  if (status != TESELA_OK) return status;
  tesela__register_clear(result);
  result->rank = result->n_modes = rank;
  for (int32_t d = 0; d < rank; d++) result->shape[d] = result->mode_shape[d] = shape[d];
  return TESELA_OK;
}

static tesela_status create_end(tesela_register *out, tesela_register *result, tesela_error *err) {
  tesela_status status = tesela__register_sizes(result, err);
  if (status == TESELA_OK) tesela_register_reduced(out, result);
  return status;
}

/* order[ranks[d]] = d. */
static tesela_status create_order(int32_t rank, const int64_t *ranks, int32_t *order, tesela_error *err) {
  uint32_t seen = 0;
  for (int32_t d = 0; d < rank; d++) {
    int64_t r = ranks ? ranks[d] : d;
    if (r < 0 || r >= rank)
      return tesela__refuse(err, TESELA_E_RANGE, TESELA_REASON_RANKS_OUT_OF_RANGE,
                            "ranks[%" PRId32 "] is %" PRId64 "; with %" PRId32
                            " dims, expected 0 to %" PRId32,
                            d, r, rank, rank - 1);
    if (seen >> r & 1)
      return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_RANKS_DUPLICATE,
                            "ranks[%" PRId32 "] is %" PRId64 " again; each rank must be listed once", d, r);
    seen |= UINT32_C(1) << r;
    order[r] = d;
  }
  return TESELA_OK;
}

static tesela_status create_ordered(tesela_register *out, bool spatial, int32_t rank, const int64_t *shape,
                                    const int64_t *ranks, tesela_error *err) {
  tesela_register result;
  int32_t order[TESELA_MAX_RANK];
  tesela_status status = create_begin(&result, rank, shape, err);
  if (status == TESELA_OK) status = create_order(rank, ranks, order, err);
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < rank; i++) {
    if (spatial)
      result.spatial_modes[result.n_spatial++] = order[i];
    else
      result.local_modes[result.n_local++] = order[i];
  }
  return create_end(out, &result, err);
}

tesela_status tesela_register_spatial(tesela_register *out, int32_t rank, const int64_t *shape,
                                      const int64_t *ranks, tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, shape, rank);
  return create_ordered(out, true, rank, shape, ranks, err);
}

tesela_status tesela_register_local(tesela_register *out, int32_t rank, const int64_t *shape,
                                    const int64_t *ranks, tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, shape, rank);
  return create_ordered(out, false, rank, shape, ranks, err);
}

static tesela_status create_column(tesela_register *out, bool spatial, int32_t rank, const int64_t *shape,
                                   tesela_error *err) {
  int64_t ranks[TESELA_MAX_RANK];
  for (int32_t d = 0; d < rank && d < TESELA_MAX_RANK; d++) ranks[d] = rank - 1 - d;
  return create_ordered(out, spatial, rank, shape, ranks, err);
}

tesela_status tesela_register_column_spatial(tesela_register *out, int32_t rank, const int64_t *shape,
                                             tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, shape, rank);
  return create_column(out, true, rank, shape, err);
}

tesela_status tesela_register_column_local(tesela_register *out, int32_t rank, const int64_t *shape,
                                           tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, shape, rank);
  return create_column(out, false, rank, shape, err);
}

tesela_status tesela__register_check_workers(const char *name, int64_t n, tesela_error *err) {
  if (n >= 1) return TESELA_OK;
  return tesela__refuse(err, TESELA_E_RANGE, TESELA_REASON_WORKERS_NOT_POSITIVE,
                        "%s is %" PRId64 "; expected 1 or more", name, n);
}

tesela_status tesela_register_replicated(tesela_register *out, int32_t rank, const int64_t *shape,
                                         int64_t workers, tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, shape, rank);
  tesela_register result;
  tesela_status status = create_begin(&result, rank, shape, err);
  if (status == TESELA_OK) status = tesela__register_check_workers("num_workers", workers, err);
  if (status != TESELA_OK) return status;
  result.spatial_modes[result.n_spatial++] = -workers;
  for (int32_t d = 0; d < rank; d++) result.local_modes[result.n_local++] = d;
  return create_end(out, &result, err);
}
