/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_read.c - the array beside a text of a memory layout, and the end of the text; the threads of a layout to be written.
 */
#include "notation/memory/memory.h"

tesela_status tesela__memory_array(const tesela_layout_read_options *options, int32_t rank, const char *words,
                                   const tesela_xla_shape **array, tesela_error *err) {
  *array = options->array;
  if (!*array)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, 0, "%s needs type and dims before it, such as f32[3,5]",
                        words);
  if (rank >= 0 && (*array)->rank != rank)
    return tesela__fail(err, TESELA_E_MISMATCH, 0, "%s has %" PRId32 " dims; the array has %" PRId32, words,
                        rank, (*array)->rank);
  return TESELA_OK;
}

tesela_status tesela__text_end(tesela__reader *r) {
  return tesela__read_peek(r) < 0 ? TESELA_OK : tesela__read_unexpected(r, "the end of the text", "");
}

tesela_status tesela__memory_blocks(const tesela__blocks *blocks, const tesela_layout_read_options *options,
                                    const tesela_xla_shape *array, const int64_t *strides,
                                    tesela_any_layout *out, tesela_error *err) {
  tesela_layout_read_options given = *options;
  int32_t bits;
  given.array = array;
  tesela_dtype dtype = tesela__given_dtype(&given, &bits);
  out->kind = TESELA_KIND_RELATION;
  return tesela__blocks_lower(blocks, dtype, bits, array->dim, strides, 0, &out->relation, err);
}

tesela_status tesela__memory_threads(const tesela_layout *layout, tesela_layout *threads,
                                     tesela_translation *answer, tesela_error *err) {
  tesela_error why;
  tesela_status status = tesela__axes_to_threads(layout, threads, &why);
  if (status == TESELA_E_UNSUPPORTED) return tesela__impossible(answer, "%s", why.message);
  if (status != TESELA_OK && err) *err = why;
  if (status == TESELA_OK && !tesela__axes_are_threads(threads))
    return tesela__impossible(answer, "a register layout has the axes thread and local; the layout has %s",
                              layout->n_axes > 0 ? layout->axis[0].name : "no axis");
  return status;
}
