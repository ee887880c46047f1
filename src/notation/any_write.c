/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any_write.c - writing in the rows of any.c whose layouts have a kind: each finds the value of its kind and prints it.
 */
#include "base/base.h"
#include "notation/any.h"

/* ---- xla, jax --------------------------------------------------------------------------------------------------- */

tesela_status tesela__write_xla(const tesela_layout *layout, const tesela_writer *to,
                                tesela_translation *answer, tesela_error *err) {
  tesela_xla_shape shape;
  tesela_status status = tesela_xla_from_layout(layout, &shape, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  return tesela_xla_print(&shape, true, to, err);
}

/* After the array, which the row needs. L only reserves places, so it may be missing. */
tesela_status tesela__write_jax(const tesela_layout *layout, const tesela_writer *to,
                                tesela_translation *answer, tesela_error *err) {
  tesela_xla_shape shape;
  tesela_status status = tesela_xla_from_layout(layout, &shape, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  for (int32_t i = 0; i < shape.layout.n_tile_numbers; i++)
    if (shape.layout.tile[i] == TESELA_XLA_COMBINE)
      return tesela__impossible(answer, "only tiles that combine dims (*) express it; JAX's do not");
  shape.layout.tail = 1;
  return tesela_xla_print_jax(&shape.layout, to, NULL, err);
}
