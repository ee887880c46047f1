/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any_value.c - a layout of any kind: its relation, its text, and the same layout as another kind.
 */
#include "base/base.h"
#include "notation/any.h"

/* The row a layout was read by; of a value made by the caller, that of its kind. */
static const tesela__notation_row *any_row_of(const tesela_any_layout *any) {
  static const char *const names[] = {"xla", "register", "register", "register", "device", "map"};
  if (any->notation) return (const tesela__notation_row *)(const void *)any->notation; /* facts come first */
  return tesela__notation_row_of(
      names[any->kind >= 1 && any->kind <= TESELA_KIND_RELATION ? any->kind - 1 : 5]);
}

tesela_status tesela_any_to_layout(const tesela_any_layout *any, tesela_layout *layout, tesela_error *err) {
  TESELA__NEED(err, any, layout);
  const tesela__notation_row *row = any_row_of(any);
  if (row->to_layout) return row->to_layout(any, layout, err);
  *layout = any->relation;
  return TESELA_OK;
}

/* "f32[3,5] ", unless the text alone gives type and shape. */
static void any_print_array(const tesela_layout *layout, uint32_t needs, const tesela_translation *answer,
                            tesela__sink *sink) {
  const char *type = tesela_dtype_name(layout->dtype);
  if (!(needs & TESELA_NEEDS_ARRAY) &&
      (!(needs & TESELA_TAKES_ARRAY) || (!type && answer->verdict == TESELA_EXACT)))
    return;
  if (type) tesela__puts(sink, type);
  for (int32_t d = 0; d < layout->rank; d++) {
    tesela__putc(sink, d ? ',' : '[');
    tesela__put_int(sink, layout->shape[d]);
  }
  tesela__puts(sink, layout->rank ? "] " : "[] ");
}

/* In its notation; as index arithmetic if that is only read, or is not the only notation of its row. */
static tesela_status any_print_relation(const tesela__notation_row *row, const tesela_layout *layout,
                                        const tesela_writer *to, tesela_error *err) {
  char text[512]; /* longer ones are not ambiguous */
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer measure = tesela_buffer_writer(&buffer);
  tesela_translation answer;
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  tesela_status status = tesela__start_answer(layout, &answer, err);
  if (status == TESELA_OK && row->write) status = row->write(layout, &measure, &answer, err);
  if (status != TESELA_OK) return status;
  if (!row->write || answer.verdict == TESELA_IMPOSSIBLE) return tesela_map_print(layout, to, err);
  if (buffer.length < sizeof text && tesela__notation_claims(text, buffer.length) > 1) {
    tesela__puts(&sink, row->facts.name);
    tesela__puts(&sink, ": ");
  }
  any_print_array(layout, row->facts.needs, &answer, &sink);
  status = tesela__sink_finish(&sink, err);
  if (status == TESELA_OK) status = tesela__start_answer(layout, &answer, err);
  return status == TESELA_OK ? row->write(layout, to, &answer, err) : status;
}

tesela_status tesela_any_print(const tesela_any_layout *any, const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, any, to);
  const tesela__notation_row *row = any_row_of(any);
  return row->print ? row->print(any, to, err) : any_print_relation(row, &any->relation, to, err);
}

static tesela_status any_relation_to_xla(const tesela_layout *layout, tesela_xla_shape *shape,
                                         tesela_error *err) {
  tesela_translation answer;
  tesela_xla_shape found;
  tesela_status status = tesela_xla_from_layout(layout, &found, &answer, err);
  if (status == TESELA_OK && answer.verdict != TESELA_EXACT)
    status = tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "no XLA layout expresses it: %s", answer.reason);
  if (status == TESELA_OK) *shape = found;
  return status;
}

tesela_status tesela_any_to_xla(const tesela_any_layout *any, tesela_xla_shape *shape, tesela_error *err) {
  TESELA__NEED(err, any, shape);
  tesela_xla_layout layout;
  const tesela_device_host *host = &any->device.host;
  if (any->kind == TESELA_KIND_XLA) {
    *shape = any->shape;
    return TESELA_OK;
  }
  if (any->kind == TESELA_KIND_RELATION) return any_relation_to_xla(&any->relation, shape, err);
  if (any->kind != TESELA_KIND_DEVICE)
    return tesela__fail(err, TESELA_E_MISMATCH, -1, "expected %s, found %s",
                        tesela_kind_words(TESELA_KIND_XLA), tesela_kind_words(any->kind));
  tesela_status status = tesela_device_to_xla(&any->device, &layout, err);
  if (status != TESELA_OK) return status;
  return tesela_xla_shape_make(shape, host->device_dtype, host->rank, host->shape, &layout, err);
}

/* ---- another kind ------------------------------------------------------------------------------------------- */

bool tesela__any_may_become(const tesela_any_layout *any, tesela_kind kind) {
  const tesela_layout *layout = &any->relation;
  const bool memory = any->kind == TESELA_KIND_DEVICE || any->kind == TESELA_KIND_XLA ||
                      (any->kind == TESELA_KIND_RELATION && layout->n_axes == 1);
  if (kind == TESELA_KIND_XLA || kind == TESELA_KIND_SHARED || kind == TESELA_KIND_GLOBAL) return memory;
  return kind == TESELA_KIND_REGISTER && any->kind == TESELA_KIND_RELATION &&
         (tesela__axes_are_threads(layout) || tesela__axes_are_lanes(layout));
}

tesela_status tesela__any_become(tesela_any_layout *any, tesela_kind kind, tesela_error *err) {
  tesela_translation answer = {.verdict = TESELA_EXACT};
  tesela_layout layout;
  tesela_status status;
  if (kind == TESELA_KIND_XLA) {
    tesela_xla_shape shape;
    status = tesela_any_to_xla(any, &shape, err);
    if (status == TESELA_OK) any->shape = shape;
  } else if (kind == TESELA_KIND_REGISTER) {
    tesela_register registers;
    status = tesela__axes_to_threads(&any->relation, &layout, err);
    if (status == TESELA_OK) status = tesela_register_from_layout(&layout, &registers, &answer, err);
    if (status == TESELA_OK && answer.verdict == TESELA_EXACT) any->registers = registers;
  } else {
    tesela_tile_memory memory;
    const tesela_tile_space space = kind == TESELA_KIND_SHARED ? TESELA_TILE_SHARED : TESELA_TILE_GLOBAL;
    status = tesela_any_to_layout(any, &layout, err);
    if (status == TESELA_OK) status = tesela_tile_memory_from_layout(&layout, space, &memory, &answer, err);
    if (status == TESELA_OK && answer.verdict == TESELA_EXACT) any->memory = memory;
  }
  if (status == TESELA_OK && answer.verdict != TESELA_EXACT)
    status = tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "it is not %s: %s", tesela_kind_words(kind),
                          answer.reason);
  if (status == TESELA_OK) any->kind = kind;
  return status;
}
