/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c - reading arguments: layouts, indices, places.
 */
#include "main/input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "main/beside.h"
#include "main/device.h"
#include "main/lines.h"
#include "main/process.h"
#include "main/say.h"
#include "place.h"

enum { LINE_LIMIT = 1 << 16, SUGGESTION = 160 };

/* ---- layouts ----------------------------------------------------------------------------------------------
 */

bool input_options(const cli_context *cli, tesela_target *own, tesela_layout_read_options *options,
                   int *status) {
  const cli_option *o = cli->verb->options;
  *options = (tesela_layout_read_options){.flags = TESELA_XLA_LENIENT};
  if (!beside_options(cli, options, status)) return false;
  while (o->name && (strcmp(o->name, "target") != 0 || strcmp(o->value, "TARGET") != 0)) o++;
  return !o->name || device_target(cli, own, &options->device.target, status);
}

/* The text with text[at] replaced by `by` (inserted, if drop is 0), if that is a layout that needs no repair. */
static bool mends(const char *text, size_t length, const tesela_layout_read_options *options, size_t at,
                  size_t drop, const char *by, char into[SUGGESTION]) {
  size_t n = strlen(by);
  tesela_any_layout any;
  tesela_layout_read_options strict = *options;
  if (at + drop > length || length + n - drop >= SUGGESTION) return false;
  memcpy(into, text, at);
  memcpy(into + at, by, n);
  memcpy(into + at + n, text + at + drop, length - at - drop);
  length += n - drop;
  into[length] = '\0';
  strict.flags = TESELA_XLA_STRICT;
  return tesela_layout_read(into, length, &strict, &any, NULL) == TESELA_OK && any.repairs.count == 0;
}

/* Say a small change that makes a text a layout, if there is one. Nothing that was written is taken away, except for a
 * separator: what is left would be a layout, seldom the one that was meant. */
static void suggest(const char *text, size_t length, const tesela_layout_read_options *options, int64_t at) {
  static const struct {
    size_t drop;
    const char *by;
  } changes[] = {{0, ")"}, {0, "]"}, {0, "}"}, {0, ","}, {0, ":"}, {0, "T"}, {1, ","}, {0, "0"}};
  char mended[SUGGESTION], quote[SAY_QUOTE];
  if (at < 0) return;
  bool separator = (size_t)at < length && memchr(";:.|/", text[at], 5);
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
    if ((changes[i].drop == 0 || separator) &&
        mends(text, length, options, (size_t)at, changes[i].drop, changes[i].by, mended)) {
      fprintf(stderr, "Did you mean %s?\n", say_quote(mended, quote));
      return;
    }
}

/* Is the text the name of a file? Then name the verb that reads it. */
static bool is_file(const cli_context *cli, const char *text, size_t length) {
  static const struct {
    const char *end, *reader;
  } readers[] = {{".npy", "digest"},
                 {".safetensors", "digest"},
                 {".kernel", "infer"},
                 {".json", "graph propagate"},
                 {".target", "show LAYOUT --target"}};
  char name[SUGGESTION], quote[SAY_QUOTE];
  const char *reader = "report";
  if (length == 0 || length >= sizeof name || memchr(text, '\0', length)) return false;
  memcpy(name, text, length);
  name[length] = '\0';
  if (process_path_kind(name) != PROCESS_FILE) return false;
  for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
    size_t n = strlen(readers[i].end);
    if (length > n && strcmp(name + length - n, readers[i].end) == 0) reader = readers[i].reader;
  }
  say_error(cli, "%s is a file, not a layout", say_quote(name, quote));
  fprintf(stderr, "Did you mean tesela %s %s?\n", reader, quote);
  return true;
}

/* {"op": .., [{.. */
static bool is_json(const char *text, size_t length) {
  size_t at = 0;
  while (at < length && strchr(" \t\r\n", text[at]) && text[at]) at++;
  char open = at < length ? text[at] : '\0';
  if (open != '{' && open != '[') return false;
  for (at++; at < length && strchr(" \t\r\n", text[at]) && text[at];) at++;
  return at < length && (text[at] == '"' || (open == '[' && text[at] == '{'));
}

int input_refuse(const cli_context *cli, const char *text, size_t length,
                 const tesela_layout_read_options *options, const tesela_error *err) {
  if (is_file(cli, text, length)) return CLI_BAD;
  if (is_json(text, length)) {
    say_error(cli, "this is JSON, not a layout; tesela query answers requests, tesela graph reads programs");
    return CLI_BAD;
  }
  int status = say_failure_in(cli, text, length, err);
  suggest(text, length, options, err->at);
  return status;
}

void input_repairs(const cli_context *cli, const tesela_xla_repairs *repairs) {
  char quote[SAY_QUOTE];
  for (int32_t i = 0; i < repairs->count && i < TESELA_XLA_MAX_REPAIRS; i++)
    say_note(cli, "%s (byte %" PRId64 ")", say_quote(repairs->repair[i].what, quote), repairs->repair[i].at);
}

bool input_any(const cli_context *cli, const char *text, size_t length, const char *notation,
               tesela_any_layout *any, tesela_layout *layout, int *status) {
  tesela_error err = {.at = -1};
  tesela_target own;
  tesela_layout_read_options options;
  if (!input_options(cli, &own, &options, status)) return false;
  options.notation = notation;
  tesela_status read = tesela_layout_read(text, length, &options, any, &err);
  if (read == TESELA_OK && layout) read = tesela_any_to_layout(any, layout, &err);
  if (read == TESELA_OK)
    input_repairs(cli, &any->repairs);
  else
    *status = input_refuse(cli, text, length, &options, &err);
  return read == TESELA_OK;
}

bool input_layout(const cli_context *cli, const char *text, size_t length, tesela_xla_shape *shape,
                  tesela_layout *layout, int *status) {
  tesela_any_layout any;
  if (!input_any(cli, text, length, "xla", &any, layout, status)) return false;
  *shape = any.shape;
  return true;
}

bool input_device(const cli_context *cli, const char *text, tesela_target *own, const tesela_target **target,
                  tesela_device_layout *layout, int *status) {
  tesela_error err = {.at = -1};
  tesela_any_layout any;
  tesela_layout_read_options options;
  if (!input_options(cli, own, &options, status)) return false;
  if (!options.device.target) options.device.target = tesela_target_find("spyre");
  *target = options.device.target;
  options.notation = "device";
  if (tesela_layout_read(text, strlen(text), &options, &any, &err) != TESELA_OK) {
    *status = input_refuse(cli, text, strlen(text), &options, &err);
    return false;
  }
  *layout = any.device;
  return true;
}

bool input_is_tuple(const char *text, size_t length, size_t *used) {
  const tesela_notation *notation;
  if (tesela_notation_find(text, length, &notation, used, NULL) != TESELA_OK ||
      strcmp(notation->name, "xla") != 0)
    return false;
  size_t at = *used;
  while (at < length && memchr(" \t\r\n", text[at], 4)) at++;
  return at < length && text[at] == '(';
}

/* ---- words and lines --------------------------------------------------------------------------------------
 */

void input_print_index(int32_t rank, const int64_t *index) {
  if (rank == 0) fputs("[]", stdout);
  for (int32_t d = 0; d < rank; d++) printf("%s%" PRId64, d ? "," : "", index[d]);
}

void input_print_place(const tesela_layout *layout, const int64_t *place) {
  if (layout->n_axes == 1) printf("%" PRId64, place[0]);
  for (int32_t a = 0; layout->n_axes > 1 && a < layout->n_axes; a++)
    printf("%s%s %" PRId64, a ? " " : "", layout->axis[a].name, place[a]);
}

void input_say_place(const tesela_any_layout *any, const tesela_layout *layout, int64_t place) {
  int64_t byte;
  int bit;
  fprintf(stderr, "place %" PRId64, place);
  if (any_has_bytes(any) && place_to_byte(place, layout->bits, &byte, &bit)) {
    fprintf(stderr, ", byte %" PRId64, byte);
    if (layout->bits % 8) fprintf(stderr, ", bit %d", bit);
  }
  fprintf(stderr, " (of %" PRId64 " places)\n", layout->axis[0].extent);
}

static bool is_blank(const char *text, size_t length) {
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t' || text[length - 1] == '\r'))
    length--;
  return length == 0;
}

static int each_line(const cli_context *cli, int (*each)(void *user, const char *text, size_t length),
                     void *user) {
  line_reader lines = lines_begin(PROCESS_STDIN, LINE_LIMIT);
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
    if (ferror(stdout)) break; /* the reader left, or the write failed: main handles both */
  }
  if (status != CLI_YES) fprintf(stderr, "The error is in line %" PRId64 " of standard input.\n", number);
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
