/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.c - tokens of kernel programs, read with base/reader.h: lists, names of tensors; errors of other modules.
 */
#include "infer/reader.h"

tesela_status tesela__infer_reader_pass(infer_reader *reader, tesela_status status, size_t at,
                                        const tesela_error *inner) {
  tesela_reason reason = inner->reason;
  size_t inside = inner->at > 0 ? (size_t)inner->at : 0;
  tesela__read_fail(&reader->in, status, at + inside, "%s", inner->message);
  if (reader->in.err) reader->in.err->reason = reason;
  return status;
}

tesela_status tesela__infer_reader_list(infer_reader *reader, int32_t most, int64_t *list, int32_t *n) {
  return tesela__read_integers(&reader->in, '[', false, "a list of integers, [0, 1]", TESELA_E_OVERFLOW, most,
                               list, n);
}

tesela_status tesela__infer_reader_name(infer_reader *reader, size_t *at, size_t *length) {
  *length = tesela__infer_reader_word(reader, at);
  if (*length == 0) return tesela__read_unexpected(&reader->in, "a name", "");
  if (*length > TESELA_KERNEL_NAME)
    return tesela__read_fail(&reader->in, TESELA_E_LIMIT, *at, "a name has at most %d bytes",
                             TESELA_KERNEL_NAME);
  return TESELA_OK;
}
