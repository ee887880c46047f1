/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_register_rows.c - see support_register_rows.h.
 */
#include "support_register_rows.h"

int32_t rows_list(const char **text, int64_t *list) {
  int32_t n = 0;
  char *end;
  while (**text != '\0' && **text != '|') {
    list[n] = strtoll(*text, &end, 10);
    n += end != *text;
    *text = end + (end == *text || *end == ',');
  }
  *text += **text == '|';
  return n;
}

register_lists rows_lists(const char *text) {
  register_lists l;
  memset(&l, 0, sizeof l);
  l.rank = rows_list(&text, l.shape);
  l.n_modes = rows_list(&text, l.mode_shape);
  l.n_spatial = rows_list(&text, l.spatial_modes);
  l.n_local = rows_list(&text, l.local_modes);
  return l;
}

tesela_register rows_layout(const char *text) {
  tesela_register layout;
  register_lists lists = rows_lists(text);
  OK(reg_make(&layout, &lists, true, &e_));
  return layout;
}

bool rows_has_lists(const tesela_register *layout, const char *text) {
  tesela_register expected = rows_layout(text);
  return reg_equal(layout, &expected) && tesela_register_identical(layout, &expected);
}

tesela_register rows_filled(void) {
  tesela_register out;
  memset(&out, 0xA5, sizeof out);
  return out;
}

bool rows_is_filled(const void *object, size_t size) {
  const unsigned char *byte = object;
  for (size_t i = 0; i < size; i++)
    if (byte[i] != 0xA5) return false;
  return true;
}
