/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - what the files that read a kernel program share.
 */
#ifndef TESELA_SRC_INFER_READER_H
#define TESELA_SRC_INFER_READER_H

#include "base/reader.h"
#include "infer/infer_state.h"

/* Where the reader is. */
typedef struct infer_reader {
  tesela_kernel_program *program;
  tesela__reader in; /* of the line, comment and blanks at the end not counted */
} infer_reader;

/* Pass on an error of another module; its place, if it has one, counts from `at`. */
tesela_status tesela__infer_reader_pass(infer_reader *reader, tesela_status status, size_t at,
                                        const tesela_error *inner);
/* A list of at most `most` integers in brackets. */
tesela_status tesela__infer_reader_list(infer_reader *reader, int32_t most, int64_t *list, int32_t *n);
/* Take a word of letters, digits and _: where it is and how long. 0: none comes next. */
static inline size_t tesela__infer_reader_word(infer_reader *reader, size_t *at) {
  size_t length = tesela__read_word(&reader->in);
  *at = reader->in.at;
  reader->in.at += length;
  return length;
}
/* The name of a tensor: where it is and how long. */
tesela_status tesela__infer_reader_name(infer_reader *reader, size_t *at, size_t *length);

/* The rest of the line of an operation, whose word began at `at`. */
tesela_status tesela__infer_reader_operation(infer_reader *reader, const tesela__infer_op *op, size_t at);

#endif
