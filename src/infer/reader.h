/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - shared by the files that read a kernel program.
 */
#ifndef TESELA_SRC_INFER_READER_H
#define TESELA_SRC_INFER_READER_H

#include "base/reader.h"
#include "infer/infer_state.h"

/* A reader of a kernel program. */
typedef struct infer_reader {
  tesela_kernel_program *program;
  tesela__reader in; /* of one line, without comment and trailing blanks */
} infer_reader;

/* Pass on an error of another module; its position, if any, counts from `at`. */
tesela_status tesela__infer_reader_pass(infer_reader *reader, tesela_status status, size_t at,
                                        const tesela_error *inner);
/* Read a list of at most `most` integers in brackets. */
tesela_status tesela__infer_reader_list(infer_reader *reader, int32_t most, int64_t *list, int32_t *n);
/* Read a word of letters, digits and _: its position and length, 0 without a word. */
static inline size_t tesela__infer_reader_word(infer_reader *reader, size_t *at) {
  size_t length = tesela__read_word(&reader->in);
  *at = reader->in.at;
  reader->in.at += length;
  return length;
}
/* Read the name of a tensor: its position and length. */
tesela_status tesela__infer_reader_name(infer_reader *reader, size_t *at, size_t *length);

/* Read the rest of the line of an operation; its name is at `at`. */
tesela_status tesela__infer_reader_operation(infer_reader *reader, const tesela__infer_op *op, size_t at);

#endif
