/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_xla.c - shapes from texts and from oracle arrays.
 */
#include "support_xla.h"

tesela_xla_shape shape_of(const char *text) {
  tesela_xla_shape shape;
  tesela_error err;
  if (tesela_xla_parse(text, strlen(text), TESELA_XLA_STRICT, &shape, NULL, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  return shape;
}

void text_of(const tesela_xla_shape *shape, char text[TEXT]) {
  tesela_buffer buffer = {text, TEXT, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  OK(tesela_xla_print(shape, true, &to, &e_));
}

void check_text(const char *name, const tesela_xla_shape *shape, const char *want) {
  char text[TEXT];
  text_of(shape, text);
  if (strcmp(text, want) != 0) fail_msg("%s: %s, not %s", name, text, want);
}

tesela_xla_shape shape_of_array(const struct oracle_array *array, const char *type) {
  tesela_xla_shape shape;
  tesela_dtype dtype = tesela_dtype_find(type, strlen(type));
  tesela_xla_layout layout;
  int32_t order[ORACLE_MAX_RANK];
  for (int d = 0; d < array->rank; d++) order[d] = array->minor_to_major[d];
  OK(tesela_xla_layout_make(&layout, array->rank, order, &e_));
  for (int k = 0; k < array->n_tiles; k++) {
    int64_t entries[ORACLE_MAX_TILE_RANK];
    for (int i = 0; i < array->tile_rank[k]; i++)
      entries[i] = array->tile[k][i] == ORACLE_COMBINE ? TESELA_XLA_COMBINE : array->tile[k][i];
    OK(tesela_xla_layout_add_tile(&layout, array->tile_rank[k], entries, &e_));
  }
  layout.tail = array->tail;
  layout.element_bits = array->e_bits;
  OK(tesela_xla_shape_make(&shape, dtype, array->rank, array->dim, &layout, &e_));
  return shape;
}
