/* SPDX-License-Identifier: Apache-2.0 */
/* problem_side.c - see problem_side.h. */
#include "problem_side.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kind.h"

/* A layout in braces, for the type and the dims of another shape. */
static tesela_status read_braces(const char *text, size_t length, int32_t flags, const tesela_xla_shape *of,
                                 tesela_xla_shape *shape, tesela_xla_repairs *repairs, tesela_error *err) {
  *shape = *of;
  shape->has_layout = true;
  tesela_status status = tesela_xla_parse_layout(text, length, flags, &shape->layout, repairs, err);
  if (status != TESELA_OK) return status;
  if (shape->layout.rank != of->rank) {
    err->status = TESELA_E_MISMATCH;
    err->at = 0;
    snprintf(err->message, sizeof err->message, "the layout orders %" PRId32 " dim%s; the array has %" PRId32,
             shape->layout.rank, shape->layout.rank == 1 ? "" : "s", of->rank);
    return err->status;
  }
  return tesela_xla_validate(shape, err);
}

/* stick(...) alone, for the type and the dims of another shape: put behind them, it is a whole text. */
static tesela_status read_stick(const char *text, size_t length, int32_t flags, const tesela_xla_shape *of,
                                tesela_xla_shape *shape, tesela_xla_repairs *repairs, tesela_error *err) {
  char whole[4096];
  tesela_buffer buffer = {whole, sizeof whole, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_xla_print(of, false, &to, NULL);
  size_t front = buffer.length;
  if (front + 1 + length >= sizeof whole) {
    *err = (tesela_error){.status = TESELA_E_LIMIT, .at = -1};
    snprintf(err->message, sizeof err->message, "a device layout of more than %zu bytes",
             sizeof whole - 1 - front);
    return err->status;
  }
  whole[front] = ' ';
  memcpy(whole + front + 1, text, length);
  tesela_status status = kind_read(whole, front + 1 + length, flags, shape, NULL, repairs, err);
  if (status != TESELA_OK && err->at >= 0) {
    err->at -= (int64_t)front + 1;
    if (err->at < 0) err->at = 0;
  }
  return status;
}

tesela_status problem_read_side(const char *text, size_t length, int32_t flags, const tesela_xla_shape *of,
                                problem_side *side, tesela_xla_repairs *repairs, tesela_error *err) {
  size_t used = 0, blanks;
  tesela_sizes sizes;
  tesela_status status = kind_prefix(text, length, &used, err);
  if (status != TESELA_OK) return status;
  for (blanks = used; blanks < length && strchr(" \t\r\n", text[blanks]); blanks++) continue;
  if (of && blanks < length && text[blanks] == '{') {
    status = read_braces(text + blanks, length - blanks, flags, of, &side->shape, repairs, err);
    kind_shift(blanks, status == TESELA_OK ? repairs : NULL, status == TESELA_OK ? NULL : err);
  } else if (of && length - blanks >= 6 && memcmp(text + blanks, "stick(", 6) == 0) {
    status = read_stick(text + blanks, length - blanks, flags, of, &side->shape, repairs, err);
    kind_shift(blanks, NULL, status == TESELA_OK ? NULL : err);
  } else {
    status = kind_read(text, length, flags, &side->shape, NULL, repairs, err);
  }
  if (status == TESELA_OK) status = tesela_xla_to_layout(&side->shape, &side->layout, err);
  if (status == TESELA_OK) status = tesela_layout_sizes(&side->layout, &sizes, err);
  if (status == TESELA_OK) side->bytes = sizes.bytes;
  return status;
}

tesela_transform problem_transform(const problem *p) {
  bool same = p->from.layout.dtype == p->to.layout.dtype && p->from.layout.bits == p->to.layout.bits;
  return same ? TESELA_TRANSFORM_NONE : TESELA_TRANSFORM_CONVERT;
}
