/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_factor.c - the modes of a function of an index, from its values, row-major.
 *
 *   0, 6, 7, 13     step 1 stride 6 misses 7 at 2, so 2 is the next step: (2,2):(6,7)
 *   0, 6, 7, 8      13 is forced at 3: no modes
 *
 * Of elements before e that agree with the modes found so far, every other modes that agree have the same leaves there. So at e the
 * modes are forced, unless e is on one dim at a multiple of its greatest step: then it may be the step of a new leaf.
 */
#include "cute/cute_factor.h"
#include "layout/layout.h"

int64_t tesela__cute_xor(const tesela__cute_modes *modes, int64_t place) {
  return place < 0 ? place : tesela__xor(modes->bits, modes->base, modes->shift, place);
}

int64_t tesela__cute_sum(const tesela__cute_modes *modes, const int64_t *index) {
  uint64_t sum = (uint64_t)modes->offset;
  for (int32_t i = 0; i < modes->n; i++) {
    const tesela__mode_leaf *leaf = &modes->leaf[i];
    int64_t x = index[leaf->dim];
    if (i + 1 < modes->n && modes->leaf[i + 1].dim == leaf->dim) x %= modes->leaf[i + 1].step;
    sum += (uint64_t)(x / leaf->step) * (uint64_t)leaf->stride;
  }
  return (int64_t)sum;
}

/* Add a leaf after the others of its dim. */
static tesela_status factor_add(tesela__cute_modes *modes, int32_t dim, int64_t step, int64_t stride,
                                tesela_error *err) {
  int32_t at = 0;
  if (modes->n == TESELA_CUTE_LEAVES)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "the layout needs more than %d leaves", TESELA_CUTE_LEAVES);
  while (at < modes->n && modes->leaf[at].dim <= dim) at++;
  memmove(&modes->leaf[at + 1], &modes->leaf[at], (size_t)(modes->n - at) * sizeof modes->leaf[0]);
  modes->leaf[at] = (tesela__mode_leaf){dim, step, stride};
  modes->n++;
  return TESELA_OK;
}

/* The greatest step of a dim, 0 without leaves. */
static int64_t factor_step(const tesela__cute_modes *modes, int32_t dim) {
  int64_t step = 0;
  for (int32_t i = 0; i < modes->n; i++)
    if (modes->leaf[i].dim == dim) step = modes->leaf[i].step;
  return step;
}

/* The modes miss the element: add a leaf, or find a conflict. `place`: before the XOR. */
static tesela_status factor_refine(tesela__cute_modes *modes, int32_t rank, const int64_t *index,
                                   int64_t place, tesela__cute_conflict *conflict, tesela_error *err) {
  int32_t dim = -1, n = 0;
  for (int32_t d = 0; d < rank; d++)
    if (index[d] > 0) {
      dim = d;
      n++;
    }
  int64_t step = n == 1 ? factor_step(modes, dim) : 0, stride;
  if (n == 1 && (step == 0 || index[dim] % step == 0)) {
    tesela_status status = TESELA_OK;
    if (!tesela__sub(place, modes->offset, &stride))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "a stride does not fit in 64 bits");
    if (step == 0 && index[dim] > 1) status = factor_add(modes, dim, 1, 0, err);
    return status == TESELA_OK ? factor_add(modes, dim, index[dim], stride, err) : status;
  }
  *conflict = (tesela__cute_conflict){.found = true, .certain = true};
  for (int32_t d = 0; d < rank; d++) conflict->index[d] = index[d];
  conflict->expected = tesela__cute_xor(modes, tesela__cute_sum(modes, index));
  return TESELA_OK;
}

tesela_status tesela__cute_factor_values(const tesela__cute_box *box, tesela__cute_modes *modes,
                                         tesela__cute_conflict *conflict, tesela_error *err) {
  int64_t index[TESELA_MAX_RANK] = {0}, n = 0;
  tesela_status status = TESELA_OK;
  conflict->found = false;
  modes->n = 0;
  modes->offset = tesela__cute_xor(modes, box->value[0]);
  while (status == TESELA_OK && !conflict->found && tesela_index_next(box->rank, box->extent, index)) {
    int64_t place = tesela__cute_xor(modes, box->value[++n]);
    if (place != tesela__cute_sum(modes, index))
      status = factor_refine(modes, box->rank, index, place, conflict, err);
  }
  for (int32_t d = 0; d < box->rank && status == TESELA_OK; d++)
    if (box->extent[d] > 1 && factor_step(modes, d) == 0) status = factor_add(modes, d, 1, 0, err);
  return status;
}

/* ---- of any size --------------------------------------------------------------------------------------------- */

tesela_status tesela__cute_modes_to_layout(const tesela__cute_modes *modes, const tesela_layout *like,
                                           const int64_t *shape, int64_t raised, tesela_layout *out,
                                           tesela_error *err) {
  int32_t axis = 0, low = 0, digit[TESELA_MAX_RANK];
  int64_t offset;
  tesela_status status = tesela_layout_begin(out, like->dtype, like->bits, like->rank, shape, err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(out, like->axis[0].name, &axis, err);
  for (int32_t d = 0; d < like->rank; d++) digit[d] = d;
  for (int32_t i = modes->n - 1; i >= 0 && status == TESELA_OK; i--) { /* the greatest step of a dim first */
    const tesela__mode_leaf *leaf = &modes->leaf[i];
    if (leaf->step >= shape[leaf->dim]) continue;
    if (leaf->step == 1) {
      status = tesela_layout_place(out, digit[leaf->dim], axis, leaf->stride, err);
      digit[leaf->dim] = -1;
      continue;
    }
    status = tesela_layout_split(out, digit[leaf->dim], leaf->step, &low, err);
    if (status == TESELA_OK) status = tesela_layout_place(out, digit[leaf->dim], axis, leaf->stride, err);
    digit[leaf->dim] = low;
  }
  for (int32_t d = 0; d < like->rank && status == TESELA_OK; d++)
    if (digit[d] >= 0) status = tesela_layout_place(out, digit[d], axis, 0, err);
  if (status == TESELA_OK && !tesela__add(modes->offset, raised, &offset))
    status = tesela__fail(err, TESELA_E_OVERFLOW, -1, "the offset does not fit in 64 bits");
  if (status == TESELA_OK) status = tesela_layout_set_axis(out, axis, offset, -1, err);
  if (status == TESELA_OK && modes->bits > 0)
    status = tesela_layout_add_swizzle(
        out, (tesela_swizzle){0, (int16_t)modes->bits, (int16_t)modes->base, (int16_t)modes->shift}, err);
  return status == TESELA_OK ? tesela_layout_finish(out, err) : status;
}

/* The layout with coordinates 0 .. box[d]-1. */
static tesela_status factor_part(const tesela_layout *layout, const int64_t *box, tesela_layout *out,
                                 tesela_error *err) {
  tesela_status status = TESELA_OK;
  *out = *layout;
  for (int32_t d = 0; d < layout->rank && status == TESELA_OK; d++)
    if (out->shape[d] != box[d]) status = tesela_layout_slice(out, d, 0, box[d], 1, out, err);
  return status;
}

/* How far below 0 the modes reach within a box, padding included; false: beyond 64 bits. */
static bool factor_below(const tesela__cute_modes *modes, const int64_t *box, int64_t *below) {
  int64_t low = modes->offset;
  for (int32_t i = 0; i < modes->n; i++) {
    const tesela__mode_leaf *leaf = &modes->leaf[i];
    int64_t end = box[leaf->dim], span;
    if (leaf->stride >= 0 || leaf->step >= end) continue;
    if (i + 1 < modes->n && modes->leaf[i + 1].dim == leaf->dim)
      end = tesela__min(end, modes->leaf[i + 1].step);
    span = tesela__ceil_div(end, leaf->step) - 1;
    if (!tesela__mul(span, leaf->stride, &span) || !tesela__add(low, span, &low)) return false;
  }
  *below = low < 0 ? -low : 0;
  return low > INT64_MIN;
}

/* Compare the modes with the layout in a box. With the layout's XOR, both are compared without it. */
static tesela_status factor_compare(const tesela_layout *layout, const tesela__cute_modes *modes,
                                    const int64_t *box, tesela_difference *difference, tesela_error *err) {
  tesela_layout part, candidate;
  int64_t below;
  if (!factor_below(modes, box, &below))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the places of the modes exceed 64 bits");
  tesela_status status = factor_part(layout, box, &part, err);
  if (status == TESELA_OK) status = tesela__cute_modes_to_layout(modes, layout, box, below, &candidate, err);
  if (status != TESELA_OK) return status;
  if (part.swizzle.n == candidate.swizzle.n &&
      memcmp(part.swizzle.image, candidate.swizzle.image, (size_t)part.swizzle.n * sizeof(uint64_t)) == 0) {
    part.swizzle.n = candidate.swizzle.n = 0;
    memset(part.swizzle.width, 0, sizeof part.swizzle.width);
    memset(candidate.swizzle.width, 0, sizeof candidate.swizzle.width);
    if (!tesela__add(part.axis[0].offset, below, &part.axis[0].offset) ||
        !tesela__add(part.axis[0].extent, below, &part.axis[0].extent))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the places of the modes exceed 64 bits");
  } else if (below > 0) {
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "cannot decide: the modes reach below 0 before a swizzle");
  }
  return tesela_layout_compare(&part, &candidate, difference, err);
}

/* The place of an element before the XOR of the modes. */
static int64_t factor_place(const tesela_layout *layout, const tesela__cute_modes *modes,
                            const int64_t *index) {
  int64_t place = 0;
  (void)tesela_layout_place_of(layout, index, &place, NULL); /* an element */
  return tesela__cute_xor(modes, place);
}

/* The leaves of one dim; all other coordinates are 0. */
static tesela_status factor_dim(const tesela_layout *layout, int32_t dim, tesela__cute_modes *all,
                                tesela__cute_conflict *conflict, tesela_error *err) {
  tesela__cute_modes modes = *all;
  tesela_difference difference;
  int64_t box[TESELA_MAX_RANK], index[TESELA_MAX_RANK] = {0}, n = layout->shape[dim], stride;
  tesela_status status = TESELA_OK;
  modes.n = 0;
  for (int32_t d = 0; d < layout->rank; d++) box[d] = 1;
  index[dim] = 1;
  if (n > 1)
    status = factor_refine(&modes, layout->rank, index, factor_place(layout, all, index), conflict, err);
  for (int64_t done = n > 1 ? 1 : n; done < n && status == TESELA_OK && !conflict->found;) {
    /* Beyond its greatest place the modes miss it, so comparing so far is enough at first. */
    const tesela__mode_leaf *last = &modes.leaf[modes.n - 1];
    stride = last->stride < 0 ? -last->stride : last->stride;
    box[dim] = stride == 0 ? n : layout->axis[0].extent / stride + 2;
    if (!tesela__mul(box[dim], last->step, &box[dim]) || box[dim] > n) box[dim] = n;
    if (box[dim] <= done && !tesela__mul(done, 2, &box[dim])) box[dim] = n;
    box[dim] = tesela__min(box[dim], n);
    status = factor_compare(layout, &modes, box, &difference, err);
    if (status != TESELA_OK) return status;
    done = box[dim];
    if (!difference.same) {
      done = difference.index[dim];
      status = factor_refine(&modes, layout->rank, difference.index,
                             factor_place(layout, all, difference.index), conflict, err);
    }
  }
  for (int32_t i = 0; i < modes.n && status == TESELA_OK; i++)
    status = factor_add(all, dim, modes.leaf[i].step, modes.leaf[i].stride, err);
  return status;
}

/* The last dim first: its elements come first in row-major order. After a conflict only elements before it can contradict. */
tesela_status tesela__cute_factor_large(const tesela_layout *layout, tesela__cute_modes *modes,
                                        tesela__cute_conflict *conflict, tesela_error *err) {
  int64_t box[TESELA_MAX_RANK], zero[TESELA_MAX_RANK] = {0};
  tesela_difference difference;
  tesela_status status = TESELA_OK;
  conflict->found = false;
  modes->n = 0;
  modes->offset = factor_place(layout, modes, zero);
  for (int32_t d = 0; d < layout->rank; d++) box[d] = 1;
  for (int32_t d = layout->rank - 1; d >= 0 && status == TESELA_OK && !conflict->found; d--) {
    status = factor_dim(layout, d, modes, conflict, err);
    box[d] = conflict->found ? conflict->index[d] : layout->shape[d];
  }
  if (status == TESELA_OK) status = factor_compare(layout, modes, box, &difference, err);
  if (status != TESELA_OK || difference.same) return status;
  *conflict = (tesela__cute_conflict){.found = true, .certain = true};
  for (int32_t d = 0; d < layout->rank; d++) conflict->index[d] = difference.index[d];
  conflict->expected = tesela__cute_xor(modes, tesela__cute_sum(modes, conflict->index));
  return TESELA_OK;
}
