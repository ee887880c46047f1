/* SPDX-License-Identifier: Apache-2.0 */
/* also.c - see also.h. */
#include "also.h"

int also_in(const tesela_any_layout *any, int32_t i) {
  const tesela_notation *notation = tesela_notation_at(i);
  tesela_translation t;
  tesela_buffer nothing = {NULL, 0, 0};
  const tesela_writer measure = tesela_buffer_writer(&nothing);
  if (!notation) return -1;
  if (!notation->written || notation->kinds == 0 || notation == any->notation) return 0;
  return tesela_translate(any, notation->name, &measure, &t, NULL) == TESELA_OK &&
         t.verdict <= TESELA_VALID_PART;
}
