/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - print answers in JSON, and run the operations that give them.
 */
#ifndef TESELA_CLI_JSON_H
#define TESELA_CLI_JSON_H

#include <stdio.h>

#include <tesela/notation.h>
#include <tesela/ops.h>

#include "main/options.h"

/* Write the text so far (json_line: and a newline) to a file, and empty the writer. Returns false for want of memory or on ferror. */
bool json_write(tesela_json_out *j, FILE *file);
bool json_line(tesela_json_out *j, FILE *file);

/* A sink that prints JSON on a file as it comes, for answers that can no longer fail and may be large. json_stream_end prints the
 * newline; it returns false for want of memory or on ferror. */
typedef struct json_stream {
  tesela_sink sink; /* first: the callback finds the rest through it */
  tesela_json_out out;
  FILE *file;
} json_stream;
json_stream json_stream_begin(FILE *file);
bool json_stream_end(json_stream *j);

/* Print the --json answer: a request of n fields, including op, is answered as one line on stdout. Texts are read leniently. A
 * failure is reported on stderr with the text of the faulty field, and nothing is printed. Returns an exit status. */
int json_answer(const cli_context *cli, size_t n, const tesela_value *fields);

/* The same; *flag receives a boolean member of the answer ("same"). */
int json_answer_flag(const cli_context *cli, size_t n, const tesela_value *fields, const char *member,
                     bool *flag);

/* The same in two parts. `a` has zeros except for `member`, which may be NULL, the names of `number`, and members of `r` that
 * these do not set: progress and unfinished. Without --json the answer is not printed, but failures are reported. json_tell frees
 * `a`; do not call it after json_ask returned a status other than CLI_YES, which has been reported. */
typedef struct json_request {
  tesela_sink sink; /* first: the callback finds the rest through it */
  tesela_request r;
  const char *member;
  bool flag; /* its value */
  struct {
    const char *name; /* of an integer in the answer, at its top; NULL: unused */
    int64_t value;
  } number[4];
  tesela_status done;
  /* Storage of the request: */
  tesela_json_out out;
  int depth;
  bool next;
  int64_t *next_number; /* that of the key before; or NULL */
  tesela_value value;
  tesela_error err;
  tesela_target own;
  tesela_layout_read_options reading;
} json_request;
int json_ask(const cli_context *cli, size_t n, const tesela_value *fields, json_request *a);
int json_tell(const cli_context *cli, json_request *a);

/* For verbs that give the answer of an operation in words: json_begin makes only the request, with flags and deadline, for functions
 * shared with the operations; json_say reports a failure. `a` as for json_ask; free a->r with tesela_request_free. */
int json_begin(const cli_context *cli, size_t n, const tesela_value *fields, json_request *a);
int json_say(const cli_context *cli, const json_request *a, tesela_status done);

/* Most fields of an operation: room for a request. */
enum { JSON_FIELDS = 24 };

/* Append the given options that are fields of an operation, with "_" for "-", at field[*n], except target. Returns false after
 * reporting the error: CLI_BAD. */
bool json_fields(const cli_context *cli, const char *op, tesela_value *field, size_t *n);

/* Print the answer of the operation named like the verb: op is added to the fields. CLI_NO if the member (may be NULL) is false. */
int json_verb(const cli_context *cli, size_t n, const tesela_value *fields, const char *member);

#endif
