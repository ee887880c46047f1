/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - answers in JSON, put together in memory, go out.
 */
#ifndef TESELA_CLI_JSON_H
#define TESELA_CLI_JSON_H

#include <stdio.h>

#include <tesela/notation.h>
#include <tesela/ops.h>

#include "main/options.h"

/* Write what there is (json_line: and a newline) to a file, and empty the writer. false: no memory or ferror. */
bool json_write(tesela_json_out *j, FILE *file);
bool json_line(tesela_json_out *j, FILE *file);

/* A sink that prints JSON on a file as it comes, for answers that cannot fail any more and may be large. json_stream_end prints the
 * newline; false: no memory or ferror. */
typedef struct json_stream {
  tesela_sink sink; /* first: the callback finds the rest through it */
  tesela_json_out out;
  FILE *file;
} json_stream;
json_stream json_stream_begin(FILE *file);
bool json_stream_end(json_stream *j);

/* What --json prints: the answer of an operation to a request of n fields, op among them, as a line on stdout. Texts are read
 * leniently. A failure is said on stderr, with the text of the field at fault; nothing is printed then. An exit status. */
int json_answer(const cli_context *cli, size_t n, const tesela_value *fields);

/* The same; *answer receives a member of the answer that is true or false ("same"). */
int json_answer_flag(const cli_context *cli, size_t n, const tesela_value *fields, const char *member,
                     bool *flag);

/* The same in two parts. `a` has zeros but for `member`, which may be NULL, and members of `r` that these do not set: progress and
 * unfinished. Without --json the answer is not printed, and failures are said all the same. json_tell frees; after a status other
 * than CLI_YES of json_ask, which was said, it is not called. */
typedef struct json_request {
  tesela_sink sink; /* first: the callback finds the rest through it */
  tesela_request r;
  const char *member;
  bool flag; /* its value */
  tesela_status done;
  /* Its own: */
  tesela_json_out out;
  int depth;
  bool next;
  tesela_value value;
  tesela_error err;
  tesela_target own;
  tesela_layout_read_options reading;
} json_request;
int json_ask(const cli_context *cli, size_t n, const tesela_value *fields, json_request *a);
int json_tell(const cli_context *cli, json_request *a);

/* For verbs that do in words what an operation does: only the request, for what the operations share, with flags and deadline; what
 * json_say says of a failure. `a` as for json_ask; tesela_request_free of a->r. */
int json_begin(const cli_context *cli, size_t n, const tesela_value *fields, json_request *a);
int json_say(const cli_context *cli, const json_request *a, tesela_status done);

/* Options of the verb that were given and are fields of an operation, "_" for "-": field[*n] and on; not target. false after saying
 * what is wrong: CLI_BAD. */
bool json_fields(const cli_context *cli, const char *op, tesela_value *field, size_t *n);

/* The answer of the operation that is named as the verb: op is added to the fields. CLI_NO if the member, which may be NULL, is
 * false. */
int json_verb(const cli_context *cli, size_t n, const tesela_value *fields, const char *member);

#endif
