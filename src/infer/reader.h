/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - what the files that read a kernel program share.
 */
#ifndef TESELA_SRC_INFER_READER_H
#define TESELA_SRC_INFER_READER_H

#include "infer/infer_state.h"

/* Where the reader is. */
typedef struct infer_reader {
  tesela_kernel_program *program;
  const char *text;
  size_t at, end; /* of what is left of the line, comment and blanks at the end not counted */
  int64_t line;
  tesela_error *err;
} infer_reader;

/* Fill err: at a byte of the text, with the line in front. */
tesela_status tesela__infer_reader_fail(infer_reader *reader, tesela_status status, size_t at,
                                        const char *format, ...) TESELA_PRINTF(4, 5);
/* Pass on an error of another module; its place, if it has one, counts from `at`. */
tesela_status tesela__infer_reader_pass(infer_reader *reader, tesela_status status, size_t at,
                                        const tesela_error *inner);
/* Something else stands here. */
tesela_status tesela__infer_reader_unexpected(infer_reader *reader, const char *allowed);

void tesela__infer_reader_blanks(infer_reader *reader);
bool tesela__infer_reader_take(infer_reader *reader, char c); /* blanks, then c if it is next */
/* A word of letters, digits and _, with dots where `dots`; length 0 if there is none. */
size_t tesela__infer_reader_word(infer_reader *reader, bool dots);
bool tesela__infer_reader_word_is(const char *word, size_t length, const char *known);
tesela_status tesela__infer_reader_integer(infer_reader *reader, const char *what, int64_t *value);
tesela_status tesela__infer_reader_list(infer_reader *reader, int32_t most, int64_t *list, int32_t *n);
/* The name of a tensor: where it is and how long. */
tesela_status tesela__infer_reader_name(infer_reader *reader, size_t *at, size_t *length);

/* The rest of the line of an operation, whose word began at `at`. */
tesela_status tesela__infer_reader_operation(infer_reader *reader, const tesela__infer_op *op, size_t at);

#endif
