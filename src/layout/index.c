/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.c - indices <-> numbers of elements, in any order of the dims; no layout, no padding.
 *
 *   shape (3,5)   last dim fastest: (2,3) is 2*5 + 3 = 13   first dim fastest: 3*3 + 2 = 11
 */
#include <tesela/layout.h>

#include "layout/layout.h"

/* The k-th dim, fastest first. */
static int32_t index_dim(int32_t rank, const int32_t *minor_to_major, int32_t k) {
  return minor_to_major ? minor_to_major[k] : rank - 1 - k;
}

/* Check a shape, an order of its dims, and that there are at most 2^63 - 1 elements. */
static tesela_status check_index_shape(int32_t rank, const int64_t *shape, const int32_t *minor_to_major,
                                       int64_t *elements, tesela_error *err) {
  uint32_t seen = 0;
  if (rank < 0 || rank > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "rank is %" PRId32 "; expected 0 to %d", rank,
                        TESELA_MAX_RANK);
  *elements = 1;
  for (int32_t k = 0; k < rank; k++) {
    int32_t d = index_dim(rank, minor_to_major, k);
    if (d < 0 || d >= rank || (seen >> d & 1))
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "minor_to_major[%" PRId32 "] is %" PRId32 "; expected each dim from 0 to %" PRId32
                          " once",
                          k, d, rank - 1);
    seen |= (uint32_t)1 << d;
    if (shape[d] < 0)
      return tesela__fail(err, TESELA_E_RANGE, -1, "extent %" PRId64 " of dim %" PRId32 " is negative",
                          shape[d], d);
    if (!tesela__mul(*elements, shape[d], elements))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of elements does not fit in 64 bits");
  }
  return TESELA_OK;
}

tesela_status tesela_index_to_number(int32_t rank, const int64_t *shape, const int32_t *minor_to_major,
                                     const int64_t *index, int64_t *number, tesela_error *err) {
  TESELA__NEED(err, number);
  TESELA__NEED_LIST(err, shape, rank);
  TESELA__NEED_LIST(err, index, rank);
  int64_t elements, sum = 0;
  tesela_status status = check_index_shape(rank, shape, minor_to_major, &elements, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < rank; d++)
    if (index[d] < 0 || index[d] >= shape[d])
      return tesela_error_outside(err, -1, "index", d, index[d], 0, shape[d] - 1);
  for (int32_t k = rank - 1; k >= 0; k--) { /* below `elements`, so it fits */
    int32_t d = index_dim(rank, minor_to_major, k);
    sum = sum * shape[d] + index[d];
  }
  *number = sum;
  return TESELA_OK;
}

tesela_status tesela_index_from_number(int32_t rank, const int64_t *shape, const int32_t *minor_to_major,
                                       int64_t number, int64_t *index, tesela_error *err) {
  TESELA__NEED_LIST(err, shape, rank);
  TESELA__NEED_LIST(err, index, rank);
  int64_t elements;
  tesela_status status = check_index_shape(rank, shape, minor_to_major, &elements, err);
  if (status != TESELA_OK) return status;
  if (number < 0 || number >= elements)
    return tesela__fail(err, TESELA_E_RANGE, -1, "element %" PRId64 " does not exist; the array has %" PRId64,
                        number, elements);
  for (int32_t k = 0; k < rank; k++) {
    int32_t d = index_dim(rank, minor_to_major, k);
    index[d] = number % shape[d];
    number /= shape[d];
  }
  return TESELA_OK;
}

bool tesela_index_next(int32_t rank, const int64_t *shape, int64_t *index) {
  if (rank > 0 && (!shape || !index)) return false;
  for (int32_t d = rank - 1; d >= 0; d--) {
    if (index[d] + 1 < shape[d]) {
      index[d]++;
      return true;
    }
    index[d] = 0;
  }
  return false;
}

bool tesela_index_in_bounds(int32_t rank, const int64_t *shape, const int64_t *index) {
  if (rank > 0 && (!shape || !index)) return false;
  for (int32_t d = 0; d < rank; d++)
    if (index[d] < 0 || index[d] >= shape[d]) return false;
  return true;
}

int tesela_index_compare(int32_t rank, const int64_t *a, const int64_t *b) {
  if (rank > 0 && (!a || !b)) return 0;
  for (int32_t d = 0; d < rank; d++)
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  return 0;
}
