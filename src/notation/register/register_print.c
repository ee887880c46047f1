/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_print.c - prints register layouts and tiles in memory with all their fields, or a register layout as a chain
 * of primitives if there is one (register_chain.c).
 *
 * Printed fields read back as the same fields.
 */
#include "notation/register/register_read.h"

static void print_field(tesela__sink *sink, const char *name, int32_t n, const int64_t *number) {
  tesela__puts(sink, name);
  tesela__puts(sink, "=[");
  for (int32_t i = 0; i < n; i++) {
    if (i > 0) tesela__puts(sink, ", ");
    tesela__put_int(sink, number[i]);
  }
  tesela__putc(sink, ']');
}

static void print_register(tesela__sink *sink, const tesela_register *layout) {
  int64_t local[TESELA_REGISTER_MODES];
  for (int32_t i = 0; i < layout->n_local; i++) local[i] = layout->local_modes[i];
  print_field(sink, "RegisterLayout(shape", layout->rank, layout->shape);
  print_field(sink, ", mode_shape", layout->n_modes, layout->mode_shape);
  print_field(sink, ", spatial_modes", layout->n_spatial, layout->spatial_modes);
  print_field(sink, ", local_modes", layout->n_local, local);
  tesela__putc(sink, ')');
}

tesela_status tesela_register_print(const tesela_register *layout, const tesela_writer *to,
                                    tesela_error *err) {
  TESELA__NEED(err, layout, to);
  tesela__sink sink;
  tesela_status status = tesela_register_check(layout, err);
  if (status != TESELA_OK) return status;
  tesela__sink_init(&sink, to);
  print_register(&sink, layout);
  return tesela__sink_finish(&sink, err);
}

tesela_status tesela_register_print_expression(const tesela_register *layout, const tesela_writer *to,
                                               tesela_error *err) {
  TESELA__NEED(err, layout, to);
  tesela__sink sink;
  tesela_register reduced;
  bool found;
  tesela_status status = tesela_register_check(layout, err);
  if (status != TESELA_OK) return status;
  tesela_register_reduced(&reduced, layout);
  tesela__sink_init(&sink, to);
  tesela__register_chain(&reduced, &sink, &found);
  if (!found) print_register(&sink, layout);
  return tesela__sink_finish(&sink, err);
}

tesela_status tesela_tile_memory_print(const tesela_tile_memory *layout, const tesela_writer *to,
                                       tesela_error *err) {
  TESELA__NEED(err, layout, to);
  tesela__sink sink;
  tesela_tile_memory same; /* with the size that the other fields give */
  tesela_status status = tesela_tile_memory_make(&same, layout->space, layout->rank, layout->shape,
                                                 layout->n_modes, layout->mode_shape, layout->mode_strides,
                                                 layout->offset, &layout->swizzle, err);
  if (status == TESELA_OK && layout->size < same.size)
    status = tesela__fail(err, TESELA_E_RANGE, -1, "size is %" PRId64 "; the layout needs %" PRId64 " places",
                          layout->size, same.size);
  if (status != TESELA_OK) return status;
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, layout->space == TESELA_TILE_GLOBAL ? "Global" : "Shared");
  print_field(&sink, "Layout(shape", layout->rank, layout->shape);
  print_field(&sink, ", mode_shape", layout->n_modes, layout->mode_shape);
  print_field(&sink, ", mode_strides", layout->n_modes, layout->mode_strides);
  if (layout->swizzle.bits != 0)
    tesela__putf(&sink, ", swizzle=Swizzle(base=%" PRId32 ", bits=%" PRId32 ", shift=%" PRId32 ")",
                 layout->swizzle.base, layout->swizzle.bits, layout->swizzle.shift);
  if (layout->offset != 0) tesela__putf(&sink, ", offset=%" PRId64, layout->offset);
  if (layout->size != same.size) tesela__putf(&sink, ", size=%" PRId64, layout->size);
  tesela__putc(&sink, ')');
  return tesela__sink_finish(&sink, err);
}
