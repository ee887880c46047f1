/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_no_partial.c - partial files on systems without os_posix_partial.c: refused, so an interrupted copy starts again; and the
 * other functions of an output that only POSIX systems have.
 */
#include "base/os.h"

#if !TESELA__OS_POSIX
static tesela_status no_partial(tesela__output **out, tesela_error *err) {
  if (out) *out = NULL;
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                      "this system has no partial files, so nothing is resumed or held");
}

tesela_status tesela__partial_create(tesela__output **out, const char *path, int64_t bytes, const char *first,
                                     bool only_files, const tesela_allocator *allocator, uint8_t **data,
                                     bool *continued, tesela_error *err) {
  (void)path, (void)bytes, (void)first, (void)only_files, (void)allocator, (void)data, (void)continued;
  return no_partial(out, err);
}

int64_t tesela__partial_recall(const tesela__output *out, int64_t at, char *text, int64_t length) {
  (void)out, (void)at, (void)text, (void)length;
  return 0;
}

tesela_status tesela__partial_note(tesela__output *out, int64_t at, const char *text, int64_t length,
                                   tesela_error *err) {
  (void)out, (void)at, (void)text, (void)length;
  return no_partial(NULL, err);
}

tesela_status tesela__partial_hold(tesela__output *out, tesela_error *err) {
  (void)out;
  return no_partial(NULL, err);
}

tesela_status tesela__partial_open(tesela__output **out, const char *path, int64_t bytes, bool removes,
                                   bool only_files, const tesela_allocator *allocator, tesela_error *err) {
  (void)path, (void)bytes, (void)removes, (void)only_files, (void)allocator;
  return no_partial(out, err);
}

tesela_status tesela__output_write(tesela__output *out, uint8_t *to, const void *bytes, int64_t n,
                                   tesela_error *err) {
  (void)out, (void)err;
  memcpy(to, bytes, (size_t)n);
  return TESELA_OK;
}

void tesela__output_begin_sync(tesela__output *out, int64_t at, int64_t bytes) {
  (void)out, (void)at, (void)bytes;
}

tesela_status tesela__output_reread(tesela__output *out, tesela_error *err) {
  (void)out, (void)err;
  return TESELA_OK;
}
#endif
