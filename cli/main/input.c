/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c - what people write as arguments.
 */
#include "main/input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kind.h"
#include "main/lines.h"
#include "main/say.h"

enum { LINE_LIMIT = 1 << 16, SUGGESTION = 160 };

/* ---- layouts ----------------------------------------------------------------------------------------------
 */

/* text[at] replaced by `by` (inserted, if drop is 0), if that makes a layout with nothing left to mend. */
static bool mends(const char *text, size_t length, size_t at, size_t drop, const char *by,
                  char into[SUGGESTION]) {
  size_t n = strlen(by);
  tesela_xla_shape shape;
  tesela_xla_repairs repairs = {0};
  tesela_error err;
  if (at + drop > length || length + n - drop >= SUGGESTION) return false;
  memcpy(into, text, at);
  memcpy(into + at, by, n);
  memcpy(into + at + n, text + at + drop, length - at - drop);
  length += n - drop;
  into[length] = '\0';
  return kind_read(into, length, TESELA_XLA_STRICT, &shape, NULL, &repairs, &err) == TESELA_OK &&
         repairs.count == 0;
}

/* Say a small change that makes a text a layout, if there is one. Nothing that was written is taken away, but for a
   separator: what is left would be a layout, seldom the one that was meant. */
static void suggest(const char *text, size_t length, int64_t at) {
  static const struct {
    size_t drop;
    const char *by;
  } changes[] = {{0, ")"}, {0, "]"}, {0, "}"}, {0, ","}, {0, ":"}, {0, "T"}, {1, ","}, {0, "0"}};
  char mended[SUGGESTION], quote[SAY_QUOTE];
  if (at < 0) return;
  bool separator = (size_t)at < length && memchr(";:.|/", text[at], 5);
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
    if ((changes[i].drop == 0 || separator) &&
        mends(text, length, (size_t)at, changes[i].drop, changes[i].by, mended)) {
      fprintf(stderr, "Did you mean %s?\n", say_quote(mended, quote));
      return;
    }
}

void input_repairs(const cli_context *cli, const tesela_xla_repairs *repairs) {
  char quote[SAY_QUOTE];
  for (int32_t i = 0; i < repairs->count && i < TESELA_XLA_MAX_REPAIRS; i++)
    say_note(cli, "%s (byte %" PRId64 ")", say_quote(repairs->repair[i].what, quote), repairs->repair[i].at);
}

bool input_layout(const cli_context *cli, const char *text, size_t length, tesela_xla_shape *shape,
                  tesela_layout *layout, int *status) {
  tesela_error err = {.at = -1};
  tesela_xla_repairs repairs = {0};
  if (kind_read(text, length, TESELA_XLA_LENIENT, shape, layout, &repairs, &err) != TESELA_OK) {
    *status = say_failure_in(cli, text, length, &err);
    suggest(text, length, err.at);
    return false;
  }
  input_repairs(cli, &repairs);
  return true;
}

bool input_any(const cli_context *cli, const char *text, size_t length, any_layout *any,
               tesela_layout *layout, int *status) {
  tesela_error err = {.at = -1};
  layout_kind kind;
  size_t used;
  if (kind_of(text, length, &kind, &used, &err) == TESELA_OK && kind == KIND_XLA) {
    any->kind = KIND_XLA;
    return input_layout(cli, text, length, &any->shape, layout, status);
  }
  if (kind_read_any(text, length, TESELA_XLA_LENIENT, any, layout, NULL, &err) == TESELA_OK) return true;
  *status = say_failure_in(cli, text, length, &err);
  return false;
}

/* ---- words and lines --------------------------------------------------------------------------------------
 */

void input_print_index(int32_t rank, const int64_t *index) {
  if (rank == 0) fputs("[]", stdout);
  for (int32_t d = 0; d < rank; d++) printf("%s%" PRId64, d ? "," : "", index[d]);
}

static bool is_blank(const char *text, size_t length) {
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t' || text[length - 1] == '\r'))
    length--;
  return length == 0;
}

static int each_line(const cli_context *cli, int (*each)(void *user, const char *text, size_t length),
                     void *user) {
  line_reader lines = lines_begin(STDIN_FILENO, LINE_LIMIT);
  const char *text;
  size_t length;
  line_result got;
  int64_t number = 0;
  int status = CLI_YES;
  while (status == CLI_YES && (got = lines_next(&lines, &text, &length)) != LINE_END) {
    number++;
    if (got == LINE_FAILED) {
      status = errno == ENOMEM ? CLI_FAILED : CLI_BAD;
      say_error(cli, "standard input: %s", strerror(errno));
    } else if (got == LINE_TOO_LONG) {
      status = CLI_BAD;
      say_error(cli, "the line is longer than %d bytes", LINE_LIMIT);
    } else if (!is_blank(text, length)) {
      status = each(user, text, length);
    }
    if (ferror(stdout)) break; /* nobody reads on, or nothing can be written: main sees to it */
  }
  if (status != CLI_YES) fprintf(stderr, "This was line %" PRId64 " of standard input.\n", number);
  lines_end(&lines);
  return status;
}

int input_each(const cli_context *cli, int first, int (*each)(void *user, const char *text, size_t length),
               void *user) {
  int status = CLI_YES;
  for (int i = first; i < cli->n_args && status == CLI_YES && !ferror(stdout); i++)
    status = strcmp(cli->arg[i], "-") == 0 ? each_line(cli, each, user)
                                           : each(user, cli->arg[i], strlen(cli->arg[i]));
  return status;
}
