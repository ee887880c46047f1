/* SPDX-License-Identifier: Apache-2.0 */
/*
 * combine.c - two register layouts as one: compose multiplies the dims, concat appends them. The lists of the result
 * are those of the first, then those of the second, so ids of the second are the fast digits. Then what is composed of
 * primitive layouts: repeat_to, auto_local_spatial.
 */
#include "gpu/register/register.h"

/* Append the lists of `from`, whose mode m is mode number[m] of `to`. The caller checked their lengths. */
static void combine_lists(tesela_register *to, const tesela_register *from, const int32_t *number) {
  for (int32_t i = 0; i < from->n_spatial; i++) {
    int64_t mode = from->spatial_modes[i];
    to->spatial_modes[to->n_spatial++] = mode < 0 ? mode : number[mode];
  }
  for (int32_t i = 0; i < from->n_local; i++) to->local_modes[to->n_local++] = number[from->local_modes[i]];
}

static void combine_modes(tesela_register *to, const tesela_register *from, int32_t first, int32_t end,
                          int32_t *number) {
  for (int32_t m = first; m < end; m++) {
    number[m] = to->n_modes;
    to->mode_shape[to->n_modes++] = from->mode_shape[m];
  }
}

/* Set the sizes of the result and check the lengths of its lists. No extent exceeds threads times registers. */
static tesela_status combine_begin(tesela_register *result, const tesela_register *a,
                                   const tesela_register *b, tesela_error *err) {
  int64_t both;
  tesela__register_clear(result);
  if (!tesela__mul(a->spatial_size, b->spatial_size, &result->spatial_size) ||
      !tesela__mul(a->local_size, b->local_size, &result->local_size) ||
      !tesela__mul(result->spatial_size, result->local_size, &both))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "threads times registers do not fit in 64 bits");
  if (a->n_modes + b->n_modes > TESELA_REGISTER_MODES || a->n_spatial + b->n_spatial > TESELA_REGISTER_MODES)
    return tesela__fail(err, TESELA_E_LIMIT, -1,
                        "the result needs %" PRId32 " modes, %" PRId32
                        " of them spatial; a layout can have %d",
                        a->n_modes + b->n_modes, a->n_spatial + b->n_spatial, TESELA_REGISTER_MODES);
  return TESELA_OK;
}

tesela_status tesela_register_compose(tesela_register *out, const tesela_register *outer,
                                      const tesela_register *inner, tesela_error *err) {
  TESELA__NEED(err, out, outer, inner);
  tesela_register result, reduced[2]; /* modes of 1 do not count towards the limits */
  tesela_register_reduced(&reduced[0], outer);
  tesela_register_reduced(&reduced[1], inner);
  outer = &reduced[0];
  inner = &reduced[1];
  int32_t first[2][TESELA_MAX_RANK + 1], number[2][TESELA_REGISTER_MODES];
  tesela_status status = combine_begin(&result, outer, inner, err);
  if (status != TESELA_OK) return status;
  tesela__register_dims(outer, first[0]);
  tesela__register_dims(inner, first[1]);
  result.rank = outer->rank > inner->rank ? outer->rank : inner->rank;
  for (int32_t d = 0; d < result.rank; d++) {
    int32_t a = d - (result.rank - outer->rank), b = d - (result.rank - inner->rank);
    if (a >= 0) combine_modes(&result, outer, first[0][a], first[0][a + 1], number[0]);
    if (b >= 0) combine_modes(&result, inner, first[1][b], first[1][b + 1], number[1]);
    result.shape[d] = (a >= 0 ? outer->shape[a] : 1) * (b >= 0 ? inner->shape[b] : 1);
  }
  combine_lists(&result, outer, number[0]);
  combine_lists(&result, inner, number[1]);
  tesela_register_reduced(out, &result);
  return TESELA_OK;
}

tesela_status tesela_register_concat(tesela_register *out, const tesela_register *a, const tesela_register *b,
                                     tesela_error *err) {
  TESELA__NEED(err, out, a, b);
  tesela_register result, part[2];
  int32_t number[TESELA_REGISTER_MODES];
  if (a->rank + b->rank > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "the result has %" PRId32 " dims; a layout can have %d",
                        a->rank + b->rank, TESELA_MAX_RANK);
  tesela_register_reduced(&part[0], a);
  tesela_register_reduced(&part[1], b);
  tesela_status status = combine_begin(&result, &part[0], &part[1], err);
  if (status != TESELA_OK) return status;
  for (int p = 0; p < 2; p++) {
    for (int32_t d = 0; d < part[p].rank; d++) result.shape[result.rank++] = part[p].shape[d];
    combine_modes(&result, &part[p], 0, part[p].n_modes, number);
    combine_lists(&result, &part[p], number);
  }
  tesela_register_reduced(out, &result);
  return TESELA_OK;
}

tesela_status tesela_register_repeat_to(tesela_register *out, const tesela_register *layout, int32_t rank,
                                        const int64_t *shape, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_LIST(err, shape, rank);
  int64_t elements, times[TESELA_MAX_RANK];
  tesela_register outer;
  tesela_status status = tesela__check_extents(rank, shape, &elements, err);
  if (status != TESELA_OK) return status;
  if (rank < layout->rank)
    return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_NOT_REPEATABLE,
                          "the shape has %" PRId32 " dims, the layout %" PRId32, rank, layout->rank);
  for (int32_t d = 0; d < rank; d++) {
    int32_t own = d - (rank - layout->rank);
    int64_t extent = own >= 0 ? layout->shape[own] : 1;
    times[d] = shape[d] / extent;
    if (shape[d] % extent != 0)
      return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_NOT_REPEATABLE,
                            "extent %" PRId32 " of the shape is %" PRId64 "; the layout's %" PRId64
                            " does not divide it",
                            d, shape[d], extent);
  }
  status = tesela_register_local(&outer, rank, times, NULL, err);
  return status == TESELA_OK ? tesela_register_compose(out, &outer, layout, err) : status;
}

tesela_status tesela_register_auto_local_spatial(tesela_register *out, int64_t threads, int32_t rank,
                                                 const int64_t *shape, tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, shape, rank);
  int64_t elements, left = threads, near[TESELA_MAX_RANK], rest[TESELA_MAX_RANK];
  tesela_register outer, inner;
  tesela_status status = tesela__check_extents(rank, shape, &elements, err);
  if (status == TESELA_OK) status = tesela__register_check_workers("num_threads", threads, err);
  if (status != TESELA_OK) return status;
  if (elements % threads != 0 && threads % elements != 0)
    return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_THREADS_DO_NOT_FIT,
                          "%" PRId64 " threads and %" PRId64 " elements: neither divides the other", threads,
                          elements);
  for (int32_t d = rank - 1; d >= 0; d--) {
    near[d] = tesela__gcd(left, shape[d]);
    rest[d] = shape[d] / near[d];
    left /= near[d];
  }
  status = left > 1 ? tesela_register_replicated(&outer, rank, rest, left, err)
                    : tesela_register_local(&outer, rank, rest, NULL, err);
  if (status == TESELA_OK) status = tesela_register_spatial(&inner, rank, near, NULL, err);
  return status == TESELA_OK ? tesela_register_compose(out, &outer, &inner, err) : status;
}
