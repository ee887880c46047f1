/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any_write.c - writing in the rows of any.c whose layouts have a kind: each finds the value of its kind and prints it.
 */
#include "base/base.h"
#include "notation/any.h"
#include "xla/xla.h"

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
    if (shape.layout.tile[i] == TESELA_XLA_COMBINE) {
      status = tesela__xla_refute(layout, answer, err);
      return status == TESELA_OK
                 ? tesela__impossible(answer, "only tiles that combine dims (*) express it; JAX's do not")
                 : status;
    }
  shape.layout.tail = 1;
  return tesela_xla_print_jax(&shape.layout, to, NULL, err);
}

/* ---- register, shared, global ------------------------------------------------------------------------------------- */

/* The shortest chain, or all fields. */
tesela_status tesela__write_register(const tesela_layout *layout, const tesela_writer *to,
                                     tesela_translation *answer, tesela_error *err) {
  tesela_register registers;
  tesela_layout threads;
  tesela_error why;
  tesela_status status = tesela__axes_to_threads(layout, &threads, &why);
  if (status == TESELA_E_UNSUPPORTED) return tesela__impossible(answer, "%s", why.message);
  if (status != TESELA_OK && err) *err = why;
  if (status == TESELA_OK) status = tesela_register_from_layout(&threads, &registers, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  return tesela_register_print_expression(&registers, to, err);
}

/* row_major, column_major or swizzled of its shape, if that is the tile; else all fields. */
static tesela_status write_tile(const tesela_tile_memory *tile, const tesela_writer *to, tesela_error *err) {
  static const char *const names[] = {"row_major", "column_major"};
  for (int i = 0; i < 2; i++) {
    tesela_tile_memory plain;
    tesela__sink sink;
    bool same = false;
    tesela_status status =
        i ? tesela_tile_memory_column_major(&plain, tile->space, tile->rank, tile->shape, err)
          : tesela_tile_memory_row_major(&plain, tile->space, tile->rank, tile->shape, err);
    if (status == TESELA_OK) status = tesela_tile_memory_same(&plain, tile, &same, err);
    if (status != TESELA_OK) return status;
    if (!same || plain.size != tile->size) continue;
    tesela__sink_init(&sink, to);
    tesela__puts(&sink, tile->space == TESELA_TILE_GLOBAL ? "global_" : "shared_");
    tesela__puts(&sink, names[i]);
    for (int32_t d = 0; d < tile->rank; d++) {
      tesela__puts(&sink, d ? ", " : "(");
      tesela__put_int(&sink, tile->shape[d]);
    }
    tesela__puts(&sink, tile->rank ? ")" : "()");
    return tesela__sink_finish(&sink, err);
  }
  return tesela_tile_memory_print(tile, to, err);
}

static tesela_status write_memory(const tesela_layout *layout, tesela_tile_space space,
                                  const tesela_writer *to, tesela_translation *answer, tesela_error *err) {
  tesela_tile_memory tile;
  tesela_status status = tesela_tile_memory_from_layout(layout, space, &tile, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  return write_tile(&tile, to, err);
}

tesela_status tesela__write_shared(const tesela_layout *layout, const tesela_writer *to,
                                   tesela_translation *answer, tesela_error *err) {
  return write_memory(layout, TESELA_TILE_SHARED, to, answer, err);
}

tesela_status tesela__write_global(const tesela_layout *layout, const tesela_writer *to,
                                   tesela_translation *answer, tesela_error *err) {
  return write_memory(layout, TESELA_TILE_GLOBAL, to, answer, err);
}

/* ---- device -------------------------------------------------------------------------------------------------------- */

/* On the default target, in the first notation that expresses it. */
tesela_status tesela__write_device(const tesela_layout *layout, const tesela_writer *to,
                                   tesela_translation *answer, tesela_error *err) {
  tesela_any_layout any = {.kind = TESELA_KIND_DEVICE};
  tesela_status status = tesela_device_from_layout(layout, NULL, &any.device, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  return tesela__any_print_device(&any, to, err);
}
