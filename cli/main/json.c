/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - see json.h. */
#include "main/json.h"

#include <string.h>

#include "main/input.h"
#include "main/say.h"

bool json_write(tesela_json_out *j, FILE *file) {
  bool whole = !j->sink.stopped;
  if (whole) fwrite(j->text, 1, j->length, file);
  j->length = 0;
  return whole && !ferror(file);
}

bool json_line(tesela_json_out *j, FILE *file) {
  if (!json_write(j, file)) return false;
  j->comma = false;
  putc('\n', file);
  return !ferror(file);
}

static int take_stream(tesela_sink *sink, const tesela_event *event) {
  json_stream *j = (json_stream *)sink; /* its first member */
  int failed = tesela_json_take(&j->out.sink, event);
  if (failed) j->out.sink.stopped = true;
  return failed || (j->out.length > 1 << 16 && !json_write(&j->out, j->file));
}

json_stream json_stream_begin(FILE *file) {
  return (json_stream){.sink = {take_stream, NULL, false}, .out = TESELA_JSON_OUT, .file = file};
}

bool json_stream_end(json_stream *j) {
  bool done = !j->sink.stopped && json_line(&j->out, j->file);
  tesela_json_out_free(&j->out);
  return done;
}

/* ---- answers ---------------------------------------------------------------------------------------------- */

/* Writes JSON and looks out for one member of the answer. */
typedef struct watched {
  tesela_sink sink;
  tesela_json_out *out;
  const char *member;
  int depth;
  bool next, flag;
} watched;

static int take_watched(tesela_sink *sink, const tesela_event *event) {
  watched *w = (watched *)sink; /* its first member */
  if (w->next && event->kind == TESELA_EVENT_BOOL) w->flag = event->integer != 0;
  w->next = event->kind == TESELA_EVENT_KEY && w->depth == 1 && event->length == strlen(w->member) &&
            memcmp(event->text, w->member, event->length) == 0;
  w->depth += (event->kind == TESELA_EVENT_OBJECT || event->kind == TESELA_EVENT_LIST) -
              (event->kind == TESELA_EVENT_END);
  return tesela_json_take(&w->out->sink, event);
}

static int say_refused(const cli_context *cli, const tesela_request *r) {
  const tesela_value *field = r->field ? tesela_value_get(r->value, r->field) : NULL;
  if (tesela_value_is(field, TESELA_VALUE_TEXT)) return say_failure_in(cli, field->as.text, field->n, r->err);
  return say_failure(cli, r->err);
}

int json_answer_flag(const cli_context *cli, size_t n, const tesela_value *fields, const char *member,
                     bool *flag) {
  tesela_json_out out = TESELA_JSON_OUT;
  watched w = {{take_watched, NULL, false}, &out, member, 0, false, false};
  tesela_error err;
  tesela_value request = tesela_value_of_object(NULL, n, fields);
  tesela_request r = {
      .value = &request, .out = &w.sink, .err = &err, .lenient = true, .files_anywhere = true};
  tesela_target own;
  tesela_layout_read_options reading;
  int status = CLI_YES;
  *flag = false;
  if (!input_options(cli, &own, &reading, &status)) return status;
  r.target = reading.device.target;
  status = CLI_YES;
  tesela_put_object(&w.sink);
  bool answered = tesela_request_answer(&r) == TESELA_OK;
  tesela_put_end(&w.sink);
  if (w.sink.stopped) { /* that sink stops for one reason */
    say_error(cli, "no memory for the answer");
    status = CLI_FAILED;
  } else if (!answered) {
    status = say_refused(cli, &r);
  } else {
    if (!json_line(&out, stdout) && !ferror(stdout)) status = CLI_FAILED;
  }
  tesela_request_free(&r);
  tesela_json_out_free(&out);
  *flag = w.flag;
  return status;
}

int json_answer(const cli_context *cli, size_t n, const tesela_value *fields) {
  bool unused;
  return json_answer_flag(cli, n, fields, "", &unused);
}

bool json_fields(const cli_context *cli, const char *const *options, tesela_value *field, size_t *n) {
  static const struct {
    const char *option, *field;
  } names[] = {{"max-header", "max_header"}, {"tensor-a", "tensor_a"}, {"tensor-b", "tensor_b"}};
  for (; *options; options++) {
    const char *name = *options;
    int64_t size;
    if (!cli_value(cli, *options)) continue;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
      if (strcmp(name, names[i].option) == 0) name = names[i].field;
    if (strncmp(name, "max_", 4) != 0)
      field[(*n)++] = tesela_value_of_text(name, cli_value(cli, *options));
    else if (cli_size(cli, *options, 0, &size))
      field[(*n)++] = tesela_value_of_int(name, size);
    else
      return false;
  }
  return true;
}

int json_verb(const cli_context *cli, size_t n, const tesela_value *fields, const char *member) {
  tesela_value all[TESELA_OP_FIELDS + 1] = {tesela_value_of_text("op", cli->verb->name)};
  bool yes;
  memcpy(all + 1, fields, n * sizeof *fields);
  const int status = json_answer_flag(cli, n + 1, all, member ? member : "", &yes);
  return status == CLI_YES && member && !yes ? CLI_NO : status;
}
