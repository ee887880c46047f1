/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kind.c - which notation a LAYOUT text is in. This version reads one, so there is nothing to guess yet.
 */
#include "kind.h"

#include <stdio.h>
#include <string.h>

static bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

tesela_status kind_prefix(const char *text, size_t length, size_t *used, tesela_error *err) {
  size_t blanks = 0, n = 0;
  while (blanks < length && (text[blanks] == ' ' || text[blanks] == '\t')) blanks++;
  const char *word = text + blanks;
  while (blanks + n < length && is_letter(word[n])) n++;
  if (n == 0 || blanks + n == length || word[n] != ':') {
    *used = 0;
    return TESELA_OK;
  }
  if (n == 3 && memcmp(word, "xla", 3) == 0) {
    *used = blanks + n + 1;
    return TESELA_OK;
  }
  err->status = TESELA_E_UNSUPPORTED;
  err->at = (int64_t)blanks;
  snprintf(err->message, sizeof err->message, "layouts of the kind %.*s are not read; the kind is xla",
           n < 40 ? (int)n : 40, word);
  return err->status;
}

void kind_shift(size_t used, tesela_xla_repairs *repairs, tesela_error *err) {
  if (err && err->at >= 0) err->at += (int64_t)used;
  for (int32_t i = 0; repairs && i < repairs->count && i < TESELA_XLA_MAX_REPAIRS; i++)
    repairs->repair[i].at += (int64_t)used;
}

tesela_status kind_read(const char *text, size_t length, int32_t flags, tesela_xla_shape *shape,
                        tesela_layout *layout, tesela_xla_repairs *repairs, tesela_error *err) {
  size_t used;
  tesela_status status = kind_prefix(text, length, &used, err);
  if (status != TESELA_OK) return status;
  status = tesela_xla_parse(text + used, length - used, flags, shape, repairs, err);
  kind_shift(used, status == TESELA_OK ? repairs : NULL, status == TESELA_OK ? NULL : err);
  if (status != TESELA_OK || !layout) return status;
  return tesela_xla_to_layout(shape, layout, err);
}
