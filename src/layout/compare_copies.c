/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_copies.c - compares elements copy by copy; keeps the first difference.
 */
#include "layout/compare.h"

enum { WALK_LIMIT = 1 << 20 };

void tesela__offer_difference(tesela__comparison *c, const int64_t *index) {
  if (c->found) {
    int32_t d = 0;
    while (d < c->a->rank && index[d] == c->index[d]) d++;
    if (d == c->a->rank || index[d] > c->index[d]) return;
  }
  for (int32_t d = 0; d < c->a->rank; d++) c->index[d] = index[d];
  c->found = true;
}

tesela_status tesela__undecided(tesela_error *err, const char *why) {
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "cannot decide whether the layouts are the same: %s",
                      why);
}

bool tesela__covers(const tesela_layout *a, const tesela_layout *b, const int64_t *index) {
  int64_t pa[TESELA_MAX_AXES], pb[TESELA_MAX_AXES], copies_a = tesela_layout_copies(a),
                                                    copies_b = tesela_layout_copies(b);
  for (int64_t k = 0; k < copies_a; k++) {
    bool found = false;
    (void)tesela_layout_copy_of(a, index, k, pa, NULL); /* the index and the copy are in range */
    for (int64_t l = 0; l < copies_b && !found; l++) {
      (void)tesela_layout_copy_of(b, index, l, pb, NULL);
      found = true;
      for (int32_t axis = 0; axis < a->n_axes; axis++) found = found && pa[axis] == pb[axis];
    }
    if (!found) return false;
  }
  return true;
}

bool tesela__few_pairs(const tesela__comparison *c, int64_t elements) {
  int64_t pairs;
  return tesela__mul(tesela_layout_copies(c->a), tesela_layout_copies(c->b), &pairs) &&
         tesela__mul(pairs, elements, &pairs) && pairs <= WALK_LIMIT;
}
