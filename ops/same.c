/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same.c - comparing layouts of any kind.
 */
#include "same.h"

#include <inttypes.h>
#include <stdio.h>

#include "expression.h"
#include "place.h"

#define ENUMERATED ((int64_t)1 << 22) /* most elements compared one by one */

/* The relation of one side. The elements of a tile have no width of their own: they get the width of the other side. */
static tesela_status relation_beside(const tesela_any_layout *any, const tesela_any_layout *other,
                                     tesela_layout *layout, tesela_error *err) {
  tesela_layout beside;
  bool lends = any_has_bytes(other) && other->kind != TESELA_KIND_REGISTER;
  if (any_has_bytes(any) || !lends || tesela_any_to_layout(other, &beside, NULL) != TESELA_OK)
    return tesela_any_to_layout(any, layout, err);
  return tesela_tile_memory_to_layout(&any->memory, beside.dtype, beside.bits, layout, err);
}

/* Element by element, for swizzles that differ. false: too many elements, or copies. */
static bool compare_all(const tesela_layout *a, const tesela_layout *b, tesela_difference *d) {
  int64_t index[TESELA_MAX_RANK] = {0}, elements = 1, place_a = 0, place_b = 0;
  for (int32_t k = 0; k < a->rank; k++) {
    if (a->rank != b->rank || a->shape[k] != b->shape[k] || a->shape[k] == 0) return false;
    if (__builtin_mul_overflow(elements, a->shape[k], &elements) || elements > ENUMERATED) return false;
  }
  if (tesela_layout_copies(a) > 1 || tesela_layout_copies(b) > 1 || a->n_axes != 1 || b->n_axes != 1)
    return false;
  *d = (tesela_difference){.same = true, .same_extent = a->axis[0].extent == b->axis[0].extent};
  do {
    if (tesela_layout_place_of(a, index, &place_a, NULL) != TESELA_OK ||
        tesela_layout_place_of(b, index, &place_b, NULL) != TESELA_OK)
      return false;
    if (place_a == place_b) continue;
    d->same = false;
    d->have_index = true;
    for (int32_t k = 0; k < a->rank; k++) d->index[k] = index[k];
    snprintf(d->reason, sizeof d->reason, "places differ: %" PRId64 " and %" PRId64, place_a, place_b);
    return true;
  } while (expression_next(a->rank, a->shape, index));
  return true;
}

tesela_status same_compare(const tesela_any_layout *a, const tesela_any_layout *b, tesela_difference *d,
                           tesela_error *err) {
  tesela_layout left, right;
  if ((a->kind == TESELA_KIND_REGISTER) != (b->kind == TESELA_KIND_REGISTER)) {
    *d = (tesela_difference){.same = false};
    snprintf(d->reason, sizeof d->reason, "a is %s, b %s", tesela_kind_words(a->kind),
             tesela_kind_words(b->kind));
    return TESELA_OK;
  }
  tesela_status status = relation_beside(a, b, &left, err);
  if (status == TESELA_OK) status = relation_beside(b, a, &right, err);
  if (status != TESELA_OK) return status;
  status = tesela_layout_compare(&left, &right, d, err);
  return status == TESELA_E_UNSUPPORTED && compare_all(&left, &right, d) ? TESELA_OK : status;
}
