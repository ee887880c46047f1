/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_names.c - the names of a text: declared, found.
 */
#include "notation/map/map.h"

const tesela__map_name *tesela__map_find(const tesela__map_text *m, size_t at, size_t length) {
  for (int32_t i = 0; i < m->n_names; i++)
    if (m->name[i].length == length &&
        memcmp(m->reader.text + m->name[i].at, m->reader.text + at, length) == 0)
      return &m->name[i];
  return NULL;
}

tesela_status tesela__map_declare(tesela__map_text *m, tesela__map_kind kind, int32_t number,
                                  const char *what) {
  tesela__reader *r = &m->reader;
  size_t length = tesela__read_word(r);
  if (length == 0) return tesela__read_unexpected(r, what, "");
  if (tesela__map_find(m, r->at, length))
    return tesela__read_fail(r, TESELA_E_INVALID, r->at, "the name '%.*s' is used twice",
                             (int)tesela__min((int64_t)length, 40), r->text + r->at);
  m->name[m->n_names++] = (tesela__map_name){kind, number, r->at, length}; /* fewer than TESELA__MAP_NAMES */
  r->at += length;
  return TESELA_OK;
}
