/* SPDX-License-Identifier: Apache-2.0 */
/* also.c - see also.h. */
#include "also.h"

tesela_status also_in(const tesela_any_layout *any, int32_t i, int *in, tesela_error *err) {
  const tesela_notation *notation = tesela_notation_at(i);
  tesela_translation t;
  tesela_buffer nothing = {NULL, 0, 0};
  const tesela_writer measure = tesela_buffer_writer(&nothing);
  *in = notation ? 0 : -1;
  if (!notation || !notation->written || notation->kinds == 0 || notation == any->notation) return TESELA_OK;
  tesela_status status = tesela_translate(any, notation->name, &measure, &t, err);
  *in = status == TESELA_OK && t.verdict <= TESELA_VALID_PART;
  return status == TESELA_E_MEMORY ? status : TESELA_OK;
}
