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

static bool is_key(const tesela_event *event, const char *name) {
  return name && event->kind == TESELA_EVENT_KEY && event->length == strlen(name) &&
         memcmp(event->text, name, event->length) == 0;
}

static int take_answer(tesela_sink *sink, const tesela_event *event) {
  json_request *a = (json_request *)sink; /* its first member */
  if (a->next && event->kind == TESELA_EVENT_BOOL) a->flag = event->integer != 0;
  if (a->next_number && event->kind == TESELA_EVENT_INT) *a->next_number = event->integer;
  a->next = a->depth == 1 && is_key(event, a->member);
  a->next_number = NULL;
  for (size_t i = 0; a->depth == 1 && i < sizeof a->number / sizeof a->number[0]; i++)
    if (is_key(event, a->number[i].name)) a->next_number = &a->number[i].value;
  a->depth += (event->kind == TESELA_EVENT_OBJECT || event->kind == TESELA_EVENT_LIST) -
              (event->kind == TESELA_EVENT_END);
  return tesela_json_take(&a->out.sink, event);
}

static void take_note(void *cli, const char *text) { say_note(cli, "%s", text); }

int json_begin(const cli_context *cli, size_t n, const tesela_value *fields, json_request *a) {
  int status = CLI_YES;
  a->sink = (tesela_sink){take_answer, NULL, false};
  a->out = (tesela_json_out)TESELA_JSON_OUT;
  a->value = tesela_value_of_object(NULL, n, fields);
  a->r.value = &a->value;
  a->r.out = &a->sink;
  a->r.err = &a->err;
  a->r.lenient = a->r.files_anywhere = true;
  a->r.dash = "--";
  a->r.note = take_note;
  a->r.note_user = (void *)(uintptr_t)cli;
  a->r.deadline = INT64_MAX;
  if (!input_options(cli, &a->own, &a->reading, &status)) return status;
  a->r.target = a->reading.device.target;
  a->r.reading = &a->reading;
  a->r.flags = TESELA_XLA_LENIENT;
  return CLI_YES;
}

int json_ask(const cli_context *cli, size_t n, const tesela_value *fields, json_request *a) {
  const int status = json_begin(cli, n, fields, a);
  if (status != CLI_YES) return status;
  tesela_put_object(&a->sink);
  a->done = tesela_request_answer(&a->r);
  tesela_put_end(&a->sink);
  return CLI_YES;
}

int json_say(const cli_context *cli, const json_request *a, tesela_status done) {
  const tesela_request *r = &a->r;
  const tesela_value *field = r->field ? tesela_value_get(r->value, r->field) : NULL;
  char quote[SAY_QUOTE];
  int status = CLI_BAD;
  if (done == TESELA_OK) return CLI_YES;
  if (r->text)
    status = input_refuse(cli, r->text, strlen(r->text), &a->reading, r->err);
  else if (r->usage)
    say_usage(cli, "%s", r->message ? r->message : r->err->message);
  else if (tesela_value_is(field, TESELA_VALUE_TEXT))
    status = say_failure_in(cli, field->as.text, field->n, r->err);
  else
    status = say_failure(cli, r->err);
  if (*r->error_at) fprintf(stderr, "The error is in tensor %s.\n", say_quote(r->error_at, quote));
  return r->err->reason == TESELA_REASON_PATH ? CLI_BAD : status;
}

int json_tell(const cli_context *cli, json_request *a) {
  int status = CLI_YES;
  if (a->sink.stopped) { /* this sink stops only without memory */
    say_error(cli, "no memory for the answer");
    status = CLI_FAILED;
  } else if (a->done == TESELA_E_STOPPED) { /* only a reader that left stops a request of a command */
    cli_lose_reader();
  } else if (a->done != TESELA_OK) {
    status = json_say(cli, a, a->done);
  } else if (cli->json && !json_line(&a->out, stdout) && !ferror(stdout)) {
    status = CLI_FAILED;
  }
  tesela_request_free(&a->r);
  tesela_json_out_free(&a->out);
  return status;
}

int json_answer_flag(const cli_context *cli, size_t n, const tesela_value *fields, const char *member,
                     bool *flag) {
  json_request a = {.member = member};
  int status = json_ask(cli, n, fields, &a);
  if (status == CLI_YES) status = json_tell(cli, &a);
  *flag = a.flag;
  return status;
}

int json_answer(const cli_context *cli, size_t n, const tesela_value *fields) {
  bool unused;
  return json_answer_flag(cli, n, fields, NULL, &unused);
}

/* ---- options as fields ------------------------------------------------------------------------------------ */

/* Options that input_options reads, for the texts of all layouts. */
static bool is_beside(const char *option) {
  static const char *const names[] = {"target", "shape", "as", "definitions"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(option, names[i]) == 0) return true;
  return false;
}

static const tesela_field *field_of(const char *op, const char *option) {
  int32_t n;
  char name[32];
  const tesela_op_entry *entry = tesela_ops(&n);
  snprintf(name, sizeof name, "%s", option);
  for (char *at = name; *at; at++)
    if (*at == '-') *at = '_';
  while (strcmp(entry->name, op) != 0) entry++;
  for (int i = 0; entry->field[i].name; i++)
    if (strcmp(entry->field[i].name, name) == 0) return &entry->field[i];
  return NULL;
}

bool json_fields(const cli_context *cli, const char *op, tesela_value *field, size_t *n) {
  static const struct {
    const char *name;
    int64_t low, high;
  } ranges[] = {{"threads", 1, 1024},
                {"rounds", 3, 100000},
                {"effort", 1, INT64_MAX},
                {"max-steps", 1, INT64_MAX},
                {"cores", 1, 1 << 16}};
  for (int k = 0; cli->verb->options[k].name; k++) {
    const cli_option *o = &cli->verb->options[k];
    const tesela_field *f = cli->own[k] && !is_beside(o->name) ? field_of(op, o->name) : NULL;
    int64_t number, low = 0, high = INT64_MAX;
    if (!f || f->type == TESELA_FIELD_OBJECT || (f->type == TESELA_FIELD_FLAG) != !o->value) continue;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
      if (strcmp(o->name, ranges[i].name) == 0) {
        low = ranges[i].low;
        high = ranges[i].high;
      }
    if (f->type == TESELA_FIELD_FLAG)
      field[(*n)++] = tesela_value_of_bool(f->name, true);
    else if (f->type != TESELA_FIELD_NUMBER)
      field[(*n)++] = tesela_value_of_text(f->name, cli->own[k]);
    else if (strcmp(o->value, "SIZE") == 0 ? cli_size(cli, o->name, 0, &number)
                                           : cli_integer(cli, o->name, low, high, 0, &number))
      field[(*n)++] = tesela_value_of_int(f->name, number);
    else
      return false;
  }
  return true;
}

int json_verb(const cli_context *cli, size_t n, const tesela_value *fields, const char *member) {
  tesela_value all[JSON_FIELDS + 1] = {tesela_value_of_text("op", cli->verb->name)};
  bool yes;
  if (n > 0) memcpy(all + 1, fields, n * sizeof *fields);
  const int status = json_answer_flag(cli, n + 1, all, member, &yes);
  return status == CLI_YES && member && !yes ? CLI_NO : status;
}
