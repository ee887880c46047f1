/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_factor.h - the modes of CuTe that give the places of a layout, if there are any.
 *
 * Each dim d has leaves of steps 1 = p_0 < p_1 < ..., each a multiple of the one before; leaf k is x_d / p_k % (p_k+1 / p_k). The place is
 * the offset plus the sum of leaf * stride, then a shifted XOR. The form is coalesced, so it is the only one: the first
 * element along d that the leaves found so far miss is the step of the next leaf, or nothing else agrees.
 *
 * layout/factor.h finds other digits: of any steps, of several dims joined, on several axes, of places that only grow. Modes need steps
 * that divide each other; they may run backwards, and an XOR may follow. Places 0 1 5 10 11 15 are digits of steps 1, 2, 3, but not
 * modes; 3 2 1 0 are modes, but not digits.
 */
#ifndef TESELA_CUTE_FACTOR_H
#define TESELA_CUTE_FACTOR_H

#include <tesela/cute.h>

#include "base/base.h"

typedef struct tesela__mode_leaf {
  int32_t dim;
  int64_t step, stride;
} tesela__mode_leaf;

typedef struct tesela__cute_modes {
  int32_t n; /* the leaves of a dim are by increasing step; dims of extent 1 have none */
  tesela__mode_leaf leaf[TESELA_CUTE_LEAVES];
  int64_t offset;
  int32_t bits, base, shift;
} tesela__cute_modes;

/* No modes exist: the first element, row-major, that contradicts; `expected`: where all modes that agree before it put it, valid
 * if `certain`. */
typedef struct tesela__cute_conflict {
  bool found, certain;
  int64_t index[TESELA_MAX_RANK], expected;
} tesela__cute_conflict;

/* The values of an array, row-major. */
typedef struct tesela__cute_box {
  int32_t rank;
  int64_t extent[TESELA_MAX_RANK];
  const int64_t *value;
} tesela__cute_box;

/* The modes of a function that is given by its values, after the XOR of `modes`, whose other fields it sets; or a conflict. O(values).
 * TESELA_E_LIMIT for more leaves than a layout has. */
tesela_status tesela__cute_factor_values(const tesela__cute_box *box, tesela__cute_modes *modes,
                                         tesela__cute_conflict *conflict, tesela_error *err);

/* The same for a finished layout with one axis, one copy and elements, of any size, without enumerating it: candidates and
 * comparisons. Without XOR in `modes`, or with the one of the layout, or undecided: TESELA_E_UNSUPPORTED. */
tesela_status tesela__cute_factor_large(const tesela_layout *layout, tesela__cute_modes *modes,
                                        tesela__cute_conflict *conflict, tesela_error *err);

/* The modes of such a layout: without XOR if the layout has none and that is possible, else with any; those that divide the shape are
 * preferred. The conflict of a layout without XOR is that of modes
 * without one. */
tesela_status tesela__cute_factor(const tesela_layout *layout, tesela__cute_modes *modes,
                                  tesela__cute_conflict *conflict, tesela_error *err);

/* The modes of values below 2^width: without XOR if possible, else with one if the modes are exact and neither begin above 0 nor run
 * backwards. The conflict is that of modes without XOR. */
tesela_status tesela__cute_factor_map(const tesela__cute_box *box, int32_t width, tesela__cute_modes *modes,
                                      tesela__cute_conflict *conflict, tesela_error *err);

/* Sw<bits,base,shift> of a place that is 0 or more. */
int64_t tesela__cute_xor(const tesela__cute_modes *modes, int64_t place);

/* The sum of the modes at an element, before the XOR; wraps around. */
int64_t tesela__cute_sum(const tesela__cute_modes *modes, const int64_t *index);

/* The relation of modes over an array, with one axis; its offset is raised by `raised`. */
tesela_status tesela__cute_modes_to_layout(const tesela__cute_modes *modes, const tesela_layout *like,
                                           const int64_t *shape, int64_t raised, tesela_layout *out,
                                           tesela_error *err);

#endif
