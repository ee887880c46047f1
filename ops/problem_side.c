/* SPDX-License-Identifier: Apache-2.0 */
/* problem_side.c - see problem_side.h. */
#include "problem_side.h"

tesela_status problem_read_side(const char *text, size_t length, const tesela_layout_read_options *options,
                                const tesela_xla_shape *of, problem_side *side, tesela_xla_repairs *repairs,
                                tesela_error *err) {
  tesela_any_layout any;
  tesela_sizes sizes;
  tesela_layout_read_options given = *options;
  given.notation = "xla";
  given.array = of;
  tesela_status status = tesela_layout_read(text, length, &given, &any, err);
  if (status == TESELA_OK) status = tesela_any_to_layout(&any, &side->layout, err);
  if (status == TESELA_OK) status = tesela_layout_sizes(&side->layout, &sizes, err);
  if (status != TESELA_OK) return status;
  side->shape = any.shape;
  side->bytes = sizes.bytes;
  if (repairs) *repairs = any.repairs;
  return TESELA_OK;
}

tesela_transform problem_transform(const problem *p) {
  bool same = p->from.layout.dtype == p->to.layout.dtype && p->from.layout.bits == p->to.layout.bits;
  return same ? TESELA_TRANSFORM_NONE : TESELA_TRANSFORM_CONVERT;
}
