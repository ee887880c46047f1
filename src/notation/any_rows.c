/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any_rows.c - reading, printing and lowering in the rows of any.c: each calls the functions of its notation.
 */
#include <stdio.h>
#include <string.h>

#include "base/reader.h"
#include "notation/any.h"
#include "xla/xla.h"

tesela_status tesela__any_print_xla(const tesela_any_layout *any, const tesela_writer *to,
                                    tesela_error *err) {
  return tesela_xla_print(&any->shape, true, to, err);
}

tesela_status tesela__any_relate_xla(const tesela_any_layout *any, tesela_layout *layout, tesela_error *err) {
  return tesela_xla_to_layout(&any->shape, layout, err);
}

/* The caller's array with an XLA layout. */
static tesela_status any_on_array(const tesela_layout_read_options *options, const tesela_xla_layout *layout,
                                  tesela_any_layout *out, tesela_error *err) {
  if (layout->rank != options->array->rank)
    return tesela__fail(err, TESELA_E_MISMATCH, 0,
                        "the layout orders %" PRId32 " dim%s; the array has %" PRId32, layout->rank,
                        layout->rank == 1 ? "" : "s", options->array->rank);
  out->kind = TESELA_KIND_XLA;
  out->shape = *options->array;
  if (out->shape.dtype == TESELA_DTYPE_NONE) out->shape.dtype = options->dtype;
  out->shape.has_layout = true;
  out->shape.layout = *layout;
  return tesela_xla_validate(&out->shape, err);
}

tesela_status tesela__any_read_xla(const char *text, size_t length, const tesela_layout_read_options *options,
                                   tesela_any_layout *out, tesela_error *err) {
  tesela_xla_layout layout;
  out->kind = TESELA_KIND_XLA;
  if (!options->array || length == 0 || text[0] != '{')
    return tesela_xla_parse(text, length, options->flags, &out->shape, &out->repairs, err);
  tesela_status status = tesela_xla_parse_layout(text, length, options->flags, &layout, &out->repairs, err);
  return status == TESELA_OK ? any_on_array(options, &layout, out, err) : status;
}

tesela_status tesela__any_read_jax(const char *text, size_t length, const tesela_layout_read_options *options,
                                   tesela_any_layout *out, tesela_error *err) {
  tesela_xla_layout layout;
  size_t path = 0, end = 0;
  for (; end < length && text[end] != '('; end++)
    if (text[end] == '.') path = end + 1;
  tesela_status status = tesela_xla_parse_jax(text + path, length - path, &layout, err);
  if (status != TESELA_OK && err && err->at >= 0) err->at += (int64_t)path;
  return status == TESELA_OK ? any_on_array(options, &layout, out, err) : status;
}

/* tpu, which is tpu(v5e), or another TPU: what tesela_xla_choose gives an argument. */
tesela_status tesela__any_read_tpu(const char *text, size_t length, const tesela_layout_read_options *options,
                                   tesela_any_layout *out, tesela_error *err) {
  tesela__reader r = {.text = text, .length = length, .err = err, .word = TESELA__BYTE_NAME};
  const tesela__tpu *tpu = tesela__tpu_named("v5e", 3);
  if (!tesela__read_take_text(&r, "tpu")) return tesela__read_unexpected(&r, "tpu or tpu(v5e)", "");
  if (tesela__read_take(&r, '(')) {
    const size_t begin = r.at;
    while (r.at < length && text[r.at] != ')') r.at++;
    if (r.at == length) return tesela__read_unexpected(&r, "')'", "");
    tpu = tesela__tpu_named(text + begin, r.at - begin);
    if (!tpu) return tesela__tpu_unknown(text + begin, r.at - begin, (int64_t)begin, err);
    r.at++;
  }
  if (tesela__read_peek(&r) >= 0) return tesela__read_unexpected(&r, "the end of the text", "");
  out->kind = TESELA_KIND_XLA;
  out->shape = *options->array;
  if (out->shape.dtype == TESELA_DTYPE_NONE) out->shape.dtype = options->dtype;
  out->shape.has_layout = false;
  tesela_status status = tesela_xla_layout_make(&out->shape.layout, out->shape.rank, NULL, err);
  if (status != TESELA_OK) return status;
  return tesela_xla_choose(&out->shape, tpu->choose | TESELA_XLA_CHOOSE_ARGUMENT | TESELA_XLA_CHOOSE_ORDER,
                           err);
}

tesela_status tesela__any_print_jax(const tesela_any_layout *any, const tesela_writer *to,
                                    tesela_error *err) {
  uint32_t lost = 0;
  tesela_buffer buffer = {NULL, 0, 0};
  tesela_writer measure = tesela_buffer_writer(&buffer);
  tesela_status status = tesela_xla_print_jax(&any->shape.layout, &measure, &lost, err);
  if (status == TESELA_OK && lost != 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "a JAX layout has only order, tiles and bits");
  if (status == TESELA_OK) status = tesela_xla_print(&any->shape, false, to, err);
  if (status == TESELA_OK && to->write(to->user, " ", 1) != 0)
    return tesela__fail(err, TESELA_E_STOPPED, -1, "the writer returned an error");
  return status == TESELA_OK ? tesela_xla_print_jax(&any->shape.layout, to, NULL, err) : status;
}

tesela_status tesela__any_read_expression(const char *text, size_t length,
                                          const tesela_layout_read_options *options, tesela_any_layout *out,
                                          tesela_error *err) {
  tesela_expression read;
  (void)options;
  tesela_status status = tesela_expression_parse(text, length, &read, err);
  if (status != TESELA_OK) return status;
  if (read.kind == TESELA_EXPRESSION_REGISTER) {
    out->kind = TESELA_KIND_REGISTER;
    out->registers = read.registers;
  } else {
    out->kind = read.memory.space == TESELA_TILE_SHARED ? TESELA_KIND_SHARED : TESELA_KIND_GLOBAL;
    out->memory = read.memory;
  }
  return TESELA_OK;
}

tesela_status tesela__any_print_expression(const tesela_any_layout *any, const tesela_writer *to,
                                           tesela_error *err) {
  if (any->kind == TESELA_KIND_REGISTER) return tesela_register_print(&any->registers, to, err);
  return tesela_tile_memory_print(&any->memory, to, err);
}

tesela_status tesela__any_relate_expression(const tesela_any_layout *any, tesela_layout *layout,
                                            tesela_error *err) {
  if (any->kind == TESELA_KIND_REGISTER)
    return tesela_register_to_layout(&any->registers, TESELA_DTYPE_NONE, 8, layout, err);
  return tesela_tile_memory_to_layout(&any->memory, TESELA_DTYPE_NONE, 8, layout, err);
}

tesela_status tesela__any_read_device(const char *text, size_t length,
                                      const tesela_layout_read_options *options, tesela_any_layout *out,
                                      tesela_error *err) {
  tesela_device_text_options device = options->device;
  tesela_device_host host = {.stick_bytes = 0};
  if (options->array && !device.host) {
    host.dtype = options->array->dtype;
    host.rank = options->array->rank;
    for (int32_t d = 0; d < host.rank; d++) host.shape[d] = options->array->dim[d];
    device.host = &host;
  }
  out->kind = TESELA_KIND_DEVICE;
  return tesela_device_parse(&out->device, text, length, &device, err);
}

tesela_status tesela__any_print_device(const tesela_any_layout *any, const tesela_writer *to,
                                       tesela_error *err) {
  static const tesela_device_notation order[] = {TESELA_DEVICE_SHORT, TESELA_DEVICE_PRINTED,
                                                 TESELA_DEVICE_TUPLES};
  tesela_status status = TESELA_E_UNSUPPORTED;
  for (size_t i = 0; i < sizeof order / sizeof order[0] && status == TESELA_E_UNSUPPORTED; i++)
    status = tesela_device_print(&any->device, order[i], to, err);
  return status;
}

tesela_status tesela__any_relate_device(const tesela_any_layout *any, tesela_layout *layout,
                                        tesela_error *err) {
  return tesela_device_to_layout(&any->device, layout, err);
}

tesela_status tesela__any_read_map(const char *text, size_t length, const tesela_layout_read_options *options,
                                   tesela_any_layout *out, tesela_error *err) {
  (void)options;
  out->kind = TESELA_KIND_RELATION;
  return tesela_map_parse(&out->relation, text, length, err);
}

tesela_status tesela__map_write(const tesela_layout *layout, const tesela_writer *to,
                                tesela_translation *answer, tesela_error *err) {
  (void)answer;
  return tesela_map_print(layout, to, err);
}
