/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cover.c - comparison of register layouts: identical, same relation, covers an operand; and a fingerprint.
 */
#include <tesela/layout.h>

#include "gpu/register/register.h"

enum { COVER_LIMIT = 1 << 24 };

bool tesela_register_identical(const tesela_register *a, const tesela_register *b) {
  if (!a || !b) return false;
  bool same = a->rank == b->rank && a->n_modes == b->n_modes && a->n_spatial == b->n_spatial &&
              a->n_local == b->n_local;
  for (int32_t i = 0; same && i < a->rank; i++) same = a->shape[i] == b->shape[i];
  for (int32_t i = 0; same && i < a->n_modes; i++) same = a->mode_shape[i] == b->mode_shape[i];
  for (int32_t i = 0; same && i < a->n_spatial; i++) same = a->spatial_modes[i] == b->spatial_modes[i];
  for (int32_t i = 0; same && i < a->n_local; i++) same = a->local_modes[i] == b->local_modes[i];
  return same;
}

bool tesela_register_same(const tesela_register *a, const tesela_register *b) {
  if (!a || !b) return false;
  tesela_register x, y;
  if (a->spatial_size != b->spatial_size || a->local_size != b->local_size) return false;
  tesela_register_canonical(&x, a);
  tesela_register_canonical(&y, b);
  return tesela_register_identical(&x, &y);
}

/* ---- covers -------------------------------------------------------------------------------------------------
 *
 * Thread t of `have` holds an element exactly if each spatial digit of t has the value of the element's index. So
 * `have` covers `need` if for each such digit, and for each element that a thread t of `need` holds,
 * (index[dim] / step) % extent is equal to (t / weight) % extent. If that digit is part of a digit of `need`, this is
 * true; otherwise all threads of `need` are checked, with their registers along that one dim. */

/* A digit of a dim and of the thread id; weight 0: a digit of the local id. */
typedef struct cover_digit {
  int32_t dim;
  int64_t step, extent, weight;
} cover_digit;

/* The digits of the modes of a layout; returns their number. */
static int32_t cover_digits(const tesela_register *layout, cover_digit *digits) {
  int32_t first[TESELA_MAX_RANK + 1];
  int64_t weight = 1;
  tesela__register_dims(layout, first);
  for (int32_t d = 0; d < layout->rank; d++) {
    int64_t step = 1;
    for (int32_t m = first[d + 1] - 1; m >= first[d]; step *= layout->mode_shape[m--])
      digits[m] = (cover_digit){d, step, layout->mode_shape[m], 0};
  }
  for (int32_t i = layout->n_spatial - 1; i >= 0; i--) {
    int64_t mode = layout->spatial_modes[i];
    if (mode >= 0) digits[mode].weight = weight;
    weight *= mode >= 0 ? layout->mode_shape[mode] : -mode;
  }
  return layout->n_modes;
}

typedef enum cover_answer { COVER_YES, COVER_NO, COVER_UNKNOWN } cover_answer;

/* The answer for a digit of `have` from the digits of `need` alone. If a local digit of `need` overlaps it, some thread
 * holds two values of it. */
static cover_answer cover_by_digits(const cover_digit *digit, int32_t n, const cover_digit *need) {
  for (int32_t i = 0; i < n; i++) {
    if (need[i].dim != digit->dim || need[i].extent == 1) continue;
    bool below = need[i].step <= digit->step, part = below && digit->step % need[i].step == 0;
    int64_t times = part ? digit->step / need[i].step : 1;
    if (need[i].weight == 0) {
      if (below ? digit->step < need[i].step * need[i].extent : need[i].step < digit->step * digit->extent)
        return COVER_NO;
    } else if (part && need[i].extent % times == 0 && need[i].extent / times % digit->extent == 0 &&
               need[i].weight * times == digit->weight) {
      return COVER_YES;
    }
  }
  return COVER_UNKNOWN;
}

static tesela_status cover_by_threads(const tesela_register *need, const cover_digit *digit, bool *holds,
                                      tesela_error *err) {
  int64_t work, index[1], gone[TESELA_MAX_RANK];
  int32_t n = 0;
  tesela_register one; /* `need` with all other dims reduced */
  for (int32_t d = 0; d < need->rank; d++)
    if (d != digit->dim) gone[n++] = d;
  tesela_status status = tesela_register_reduce(&one, need, n, gone, false, err);
  if (status != TESELA_OK) return status;
  if (!tesela__mul(one.spatial_size, one.local_size, &work) || work > COVER_LIMIT)
    return tesela__fail(err, TESELA_E_LIMIT, -1,
                        "%" PRId64 " threads with %" PRId64
                        " registers each are too many to compare; the limit is %d registers in total",
                        one.spatial_size, one.local_size, COVER_LIMIT);
  *holds = true;
  for (int64_t t = 0; t < one.spatial_size && *holds; t++)
    for (int64_t l = 0; l < one.local_size && *holds; l++) {
      status = tesela_register_get_global(&one, t, l, index, err);
      if (status != TESELA_OK) return status;
      *holds = index[0] / digit->step % digit->extent == t / digit->weight % digit->extent;
    }
  return TESELA_OK;
}

tesela_status tesela_register_covers(const tesela_register *have, const tesela_register *need, bool *covers,
                                     tesela_error *err) {
  TESELA__NEED(err, have, need, covers);
  cover_digit digits[TESELA_REGISTER_MODES], needs[TESELA_REGISTER_MODES];
  cover_answer answer[TESELA_REGISTER_MODES];
  bool all = need->spatial_size <= have->spatial_size, equal = have->rank == need->rank;
  for (int32_t d = 0; d < have->rank && equal; d++) equal = have->shape[d] == need->shape[d];
  if (!equal) return tesela__fail(err, TESELA_E_MISMATCH, -1, "the layouts have different shapes");
  int32_t n = cover_digits(have, digits), n_needs = cover_digits(need, needs);
  for (int32_t i = 0; i < n; i++) {
    bool counts = digits[i].weight > 0 && digits[i].extent > 1;
    answer[i] = counts ? cover_by_digits(&digits[i], n_needs, needs) : COVER_YES;
    all = all && answer[i] != COVER_NO;
  }
  for (int32_t i = 0; i < n && all; i++) {
    if (answer[i] == COVER_YES) continue;
    tesela_status status = cover_by_threads(need, &digits[i], &all, err);
    if (status != TESELA_OK) return status;
  }
  *covers = all;
  return TESELA_OK;
}

/* ---- fingerprint --------------------------------------------------------------------------------------------- */

static uint64_t hash_word(uint64_t hash, int64_t word) {
  for (int k = 0; k < 4; k++) hash = (hash ^ ((uint64_t)word >> 8 * k & 255)) * UINT64_C(0x100000001b3);
  return hash;
}

tesela_status tesela_register_hash(const tesela_register *layout, uint64_t *hash, tesela_error *err) {
  TESELA__NEED(err, layout, hash);
  int64_t copies = tesela_register_copies(layout),
          elements = layout->spatial_size / copies * layout->local_size, work, index[TESELA_MAX_RANK] = {0},
          number;
  uint64_t sum = UINT64_C(0xcbf29ce484222325);
  if (!tesela__mul(elements, copies, &work) || work > COVER_LIMIT)
    return tesela__fail(err, TESELA_E_LIMIT, -1,
                        "%" PRId64 " elements in %" PRId64
                        " threads each are too many for a fingerprint; the limit is %d in total",
                        elements, copies, COVER_LIMIT);
  do {
    sum = hash_word(sum, copies);
    for (int64_t k = 0; k < copies; k++) { /* ascending: the digits of greater weight are slower */
      tesela_status status = tesela_register_get_spatial(layout, index, k, &number, err);
      if (status != TESELA_OK) return status;
      sum = hash_word(sum, number);
    }
    tesela_status status = tesela_register_get_local(layout, index, &number, err);
    if (status != TESELA_OK) return status;
    sum = hash_word(sum, number);
  } while (tesela_index_next(layout->rank, layout->shape, index));
  *hash = sum;
  return TESELA_OK;
}
