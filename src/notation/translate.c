/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translate.c - a layout in another notation, with a verdict. No text is written before it was read back and compared.
 */
#include <stdio.h>

#include "base/base.h"
#include "layout/layout.h"
#include "notation/any.h"

/* The elements of the layout, in the layout of a larger array. */
static tesela_status take_valid_part(const tesela_layout *layout, tesela_layout *back, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t d = 0; d < layout->rank && back->rank == layout->rank && status == TESELA_OK; d++)
    if (back->shape[d] > layout->shape[d])
      status = tesela_layout_slice(back, d, 0, layout->shape[d], 1, back, err);
  return status;
}

static tesela_status check_text(const tesela_layout *layout, const char *notation, const tesela_buffer *text,
                                tesela_translation *answer, tesela_error *err) {
  tesela_xla_shape array = {.dtype = layout->dtype, .rank = layout->rank};
  tesela_any_layout any;
  tesela_layout back;
  tesela_difference difference = {.same = false};
  for (int32_t d = 0; d < layout->rank; d++) array.dim[d] = answer->shape[d];
  tesela_layout_read_options options = {.notation = notation,
                                        .flags = TESELA_XLA_STRICT,
                                        .array = &array,
                                        .dtype = layout->dtype,
                                        .as = answer->as[0] ? answer->as : NULL};
  tesela_status status = tesela_layout_read(text->text, text->length, &options, &any, err);
  if (status == TESELA_OK) status = tesela_any_to_layout(&any, &back, err);
  if (status == TESELA_OK) status = tesela__count_places(&back, &answer->text_places, err);
  if (status == TESELA_OK && layout->dtype != TESELA_DTYPE_NONE && back.dtype == layout->dtype &&
      back.bits != layout->bits)
    return tesela__impossible(answer, "%s stores %s in %" PRId32 " bits; the layout has %" PRId32, notation,
                              tesela_dtype_name(layout->dtype), back.bits, layout->bits);
  if (status == TESELA_OK) status = take_valid_part(layout, &back, err);
  if (status == TESELA_OK) status = tesela__compare_by_meaning(layout, &back, &difference, err);
  if (status == TESELA_OK && answer->verdict != TESELA_EXACT)
    answer->verdict = answer->text_places > answer->places ? TESELA_NEEDS_PADDING : TESELA_VALID_PART;
  if (status == TESELA_OK && !difference.same)
    status = tesela__fail(err, TESELA_E_INVALID, -1, "the translation is wrong: please report this layout");
  return status;
}

/* Write, read back, and pass on; a text longer than the buffer is only measured. */
static tesela_status translate(const tesela__notation_row *row, const tesela_layout *layout,
                               tesela_buffer *text, const tesela_writer *to, tesela_translation *answer,
                               tesela_error *err) {
  tesela_writer into = tesela_buffer_writer(text);
  tesela_status status = tesela__start_answer(layout, answer, err);
  if (status == TESELA_OK) status = row->write(layout, &into, answer, err);
  if (status != TESELA_OK || text->length >= text->capacity || answer->verdict == TESELA_IMPOSSIBLE)
    return status;
  if (row->read) status = check_text(layout, row->facts.name, text, answer, err);
  if (status == TESELA_OK && answer->verdict != TESELA_IMPOSSIBLE &&
      to->write(to->user, text->text, text->length) != 0)
    status = tesela__fail(err, TESELA_E_STOPPED, -1, "the writer returned an error");
  return status;
}

tesela_status tesela_translate(const tesela_any_layout *any, const char *notation, const tesela_writer *to,
                               tesela_translation *out, tesela_error *err) {
  TESELA__NEED(err, any, notation, to, out);
  const tesela_allocator memory = tesela__allocator(NULL);
  const tesela__notation_row *row = tesela__notation_row_of(notation);
  tesela_layout layout;
  char usual[4096];
  tesela_buffer text = {usual, sizeof usual, 0};
  if (!row || !row->facts.written) return tesela__fail_target(notation, err);
  tesela_status status = tesela_any_to_layout(any, &layout, err);
  if (status == TESELA_OK) status = translate(row, &layout, &text, to, out, err);
  if (status != TESELA_OK || out->verdict == TESELA_IMPOSSIBLE || text.length < text.capacity) return status;
  text.capacity = text.length + 1;
  text.length = 0;
  text.text = tesela__alloc(&memory, text.capacity, 1);
  if (!text.text) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the text");
  status = translate(row, &layout, &text, to, out, err);
  tesela__release(&memory, text.text);
  return status;
}
