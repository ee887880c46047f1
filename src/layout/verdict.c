/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.c - verdicts of conversions: the start of an answer, and "impossible" with its reason.
 */
#include <stdarg.h>
#include <stdio.h>

#include "layout/layout.h"

const char *tesela_verdict_name(tesela_verdict verdict) {
  static const char *const names[] = {"exact", "valid_part", "needs_padding", "impossible"};
  return verdict >= TESELA_EXACT && verdict <= TESELA_IMPOSSIBLE ? names[verdict - 1] : NULL;
}

tesela_status tesela__count_places(const tesela_layout *layout, int64_t *places, tesela_error *err) {
  *places = 1;
  for (int32_t a = 0; a < layout->n_axes; a++)
    if (!tesela__mul(*places, layout->axis[a].extent, places))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of places does not fit in 64 bits");
  return TESELA_OK;
}

tesela_status tesela__start_answer(const tesela_layout *layout, tesela_translation *answer,
                                   tesela_error *err) {
  *answer = (tesela_translation){.verdict = TESELA_EXACT, .rank = layout->rank};
  for (int32_t d = 0; d < layout->rank; d++) answer->shape[d] = layout->shape[d];
  return tesela__count_places(layout, &answer->places, err);
}

tesela_status tesela__impossible(tesela_translation *answer, const char *format, ...) {
  va_list args;
  va_start(args, format);
  answer->verdict = TESELA_IMPOSSIBLE;
  (void)vsnprintf(answer->reason, sizeof answer->reason, format, args);
  va_end(args);
  return TESELA_OK;
}
