/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_xla_text.c - see support_xla_text.h.
 */
#include "support_xla_text.h"

char *xla_text_exact(const char *text, size_t length) {
  char *copy = malloc(length ? length : 1);
  assert_non_null(copy);
  memcpy(copy, text, length);
  return copy;
}

tesela_status xla_text_read(const char *text, size_t length, int32_t flags, tesela_xla_shape *shape,
                            tesela_xla_repairs *repairs, tesela_error *err) {
  char *copy = xla_text_exact(text, length);
  tesela_status status = tesela_xla_parse(copy, length, flags, shape, repairs, err);
  free(copy);
  return status;
}

void xla_text_print(const tesela_xla_shape *shape, bool with_layout, char text[LONG]) {
  tesela_buffer buffer = {text, LONG, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  OK(tesela_xla_print(shape, with_layout, &to, &e_));
  assert_true(buffer.length < LONG);
}

void xla_text_same(const char *name, const char *got, const char *want) {
  if (strcmp(got, want) != 0) fail_msg("%s: '%s', not '%s'", name, got, want);
}

void xla_text_refused(const char *text, tesela_status got, const tesela_error *err, tesela_status want,
                      int64_t at, const char *fragment) {
  if (got == TESELA_OK) fail_msg("%s: accepted", text);
  if (got != want || err->status != want)
    fail_msg("%s: %s, not %s: %s", text, tesela_status_code(got), tesela_status_code(want), err->message);
  if (err->at != at)
    fail_msg("%s: at byte %" PRId64 ", not %" PRId64 ": %s", text, err->at, at, err->message);
  if (!strstr(err->message, fragment)) fail_msg("%s: \"%s\" lacks \"%s\"", text, err->message, fragment);
}
