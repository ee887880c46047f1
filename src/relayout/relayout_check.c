/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout_check.c - what a plan is asked for: are its options and its two layouts valid?
 */
#include <stdio.h>

#include "relayout/pieces.h"

static tesela_status check_options(const tesela_plan_options *o, tesela_error *err) {
  if (o->fill < TESELA_FILL_ZERO || o->fill > TESELA_FILL_VALUE)
    return tesela__fail(err, TESELA_E_RANGE, -1, "invalid fill mode %d; expected 0 to 2", (int)o->fill);
  if (o->effort < TESELA_EFFORT_ESTIMATE || o->effort > TESELA_EFFORT_MEASURE)
    return tesela__fail(err, TESELA_E_RANGE, -1, "invalid effort %d; expected 0 or 1", (int)o->effort);
  if (!tesela_solver_name(o->solver))
    return tesela__fail(err, TESELA_E_RANGE, -1, "unknown solver %d", (int)o->solver);
  if (o->threads < 0 || o->threads > 1024)
    return tesela__fail(err, TESELA_E_RANGE, -1, "%" PRId32 " threads; expected 0 to 1024", o->threads);
  if (o->memory_bytes < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "memory_bytes is %" PRId64 "; expected 0 or more",
                        o->memory_bytes);
  if (!tesela_isa_name(o->isa))
    return tesela__fail(err, TESELA_E_RANGE, -1, "unknown instruction set %d", (int)o->isa);
  if (!tesela_isa_available(o->isa))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "this CPU or build does not support %s",
                        tesela_isa_name(o->isa));
  return TESELA_OK;
}

static tesela_status check_side(const tesela_layout *layout, const char *name, tesela_error *err) {
  tesela_status status = tesela__check_finished(layout, err);
  if (status != TESELA_OK) return status;
  if (layout->n_axes != 1)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%s has %" PRId32 " axes; expected 1", name,
                        layout->n_axes);
  if (layout->bits < 1 || layout->bits > 128 || (layout->bits & (layout->bits - 1)))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "%s has elements of %" PRId32 " bits; expected 1, 2, 4, 8, 16, 32, 64 or 128", name,
                        layout->bits);
  int64_t bits;
  if (!tesela__mul(layout->axis[0].extent, layout->bits, &bits))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the bits of %s exceed 2^63", name);
  return TESELA_OK;
}

static tesela_status check_shapes(const tesela_layout *dst, const tesela_layout *src, tesela_error *err) {
  if (dst->rank != src->rank)
    return tesela__fail(err, TESELA_E_MISMATCH, -1, "dst has rank %" PRId32 ", but src has %" PRId32,
                        dst->rank, src->rank);
  for (int32_t d = 0; d < dst->rank; d++)
    if (dst->shape[d] != src->shape[d])
      return tesela__fail(err, TESELA_E_MISMATCH, -1,
                          "extent %" PRId64 " of dim %" PRId32 " in dst, but %" PRId64 " in src",
                          dst->shape[d], d, src->shape[d]);
  return TESELA_OK;
}

enum { SHARED_TEXT = 64 };

/* "(2,3)", cut if it is long. */
static const char *shared_index(int32_t rank, const int64_t *index, char text[SHARED_TEXT]) {
  size_t n = 0;
  for (int32_t d = 0; d < rank && n < SHARED_TEXT; d++)
    n += (size_t)snprintf(text + n, SHARED_TEXT - n, "%c%" PRId64 "%s", d ? ',' : '(', index[d],
                          d == rank - 1 ? ")" : "");
  if (n >= SHARED_TEXT) memcpy(text + SHARED_TEXT - 4, "...", 4);
  return text;
}

/* Check that elements of dst do not share places. */
static tesela_status check_unique(const tesela_layout *dst, tesela_error *err) {
  char text[2][SHARED_TEXT];
  int64_t index[2][TESELA_MAX_RANK], place;
  bool overlap = dst->axis[0].overlap, shared = overlap && !dst->axis[0].undecided;
  for (int32_t j = 0; j < dst->n_joins; j++) {
    overlap = overlap || dst->join[j].overlap;
    shared = shared || (dst->join[j].overlap && !dst->join[j].undecided);
  }
  for (int32_t i = 0; i < dst->n_mapped; i++) {
    const tesela_digit *digit = &dst->digit[i];
    shared = shared || (digit->stride == 0 && tesela__coordinate_extent(dst, digit->source) > digit->step);
  }
  if ((!overlap && !shared) || tesela__is_empty(dst)) return TESELA_OK;
  if (tesela__find_shared(dst, index[0], index[1], &place))
    return tesela__fail(
        err, TESELA_E_UNSUPPORTED, -1, "elements of dst share places: %s and %s are both at %" PRId64,
        shared_index(dst->rank, index[0], text[0]), shared_index(dst->rank, index[1], text[1]), place);
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                      shared ? "elements of dst share places"
                             : "cannot decide whether elements of dst share places");
}

tesela_status tesela__check_plan(const tesela_layout *dst, const tesela_layout *src,
                                 const tesela_plan_options *options, tesela_error *err) {
  tesela_status status = check_options(options, err);
  if (status == TESELA_OK) status = check_side(dst, "dst", err);
  if (status == TESELA_OK) status = check_side(src, "src", err);
  if (status == TESELA_OK) status = check_shapes(dst, src, err);
  if (status == TESELA_OK) status = check_unique(dst, err);
  return status;
}
