/* SPDX-License-Identifier: Apache-2.0 */
/* graph_answer.c - graph --json: what the operations graph_assign, graph_loops, graph_plan and graph_run answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "graph/graph_print.h"
#include "graph/graph_progress.h"
#include "main/say.h"
#include "main/text_file.h"

/* Writes JSON, and knows from it how the command ends. "ok" is the old name of "placed". */
typedef struct answer_sink {
  tesela_sink sink;
  tesela_json_out out;
  int depth;
  char key[16]; /* the last one of the outermost object */
  bool no;
  int64_t copies, copied, poison;
} answer_sink;

static int take_answer(tesela_sink *sink, const tesela_event *event) {
  answer_sink *a = (answer_sink *)sink; /* its first member */
  int failed = tesela_json_take(&a->out.sink, event);
  if (a->depth == 1 && event->kind == TESELA_EVENT_KEY)
    snprintf(a->key, sizeof a->key, "%.*s", event->length < 15 ? (int)event->length : 0, event->text);
  if (a->depth == 1 && event->kind == TESELA_EVENT_BOOL && !event->integer)
    a->no = a->no || strcmp(a->key, "placed") == 0 || strcmp(a->key, "same") == 0;
  if (a->depth == 1 && event->kind == TESELA_EVENT_BOOL && strcmp(a->key, "placed") == 0)
    tesela_put_key_bool(&a->out.sink, "ok", event->integer != 0);
  int64_t unused, *number = strcmp(a->key, "copies") == 0         ? &a->copies
                            : strcmp(a->key, "copied_elems") == 0 ? &a->copied
                            : strcmp(a->key, "poison_read") == 0  ? &a->poison
                                                                  : &unused;
  if (a->depth == 1 && event->kind == TESELA_EVENT_INT) *number = event->integer;
  a->depth += (event->kind == TESELA_EVENT_OBJECT || event->kind == TESELA_EVENT_LIST) -
              (event->kind == TESELA_EVENT_END);
  return failed;
}

enum { MOST_FIELDS = 24, MOST_FILES = 64 };

typedef struct answer_fields {
  tesela_value field[MOST_FIELDS], in[MOST_FILES], out[MOST_FILES];
  char name[2][MOST_FILES][TESELA_GRAPH_NAME];
  size_t n;
} answer_fields;

static void add(answer_fields *f, tesela_value value) { f->field[f->n++] = value; }

/* NAME=FILE of --in or --out. */
static int add_files(const cli_context *cli, const char *option, tesela_value *files,
                     char name[][TESELA_GRAPH_NAME], answer_fields *f) {
  size_t n = 0;
  char quote[SAY_QUOTE];
  const char *said;
  for (int at = 0; (said = cli_each(cli, option, &at)); n++) {
    if (n == MOST_FILES) return say_usage(cli, "--%s is given more than %d times", option, MOST_FILES);
    if (!graph_file_option(said, name[n]))
      return say_usage(cli, "--%s is %s; expected NAME=FILE", option, say_quote(said, quote));
    files[n] = tesela_value_of_text(name[n], said + strlen(name[n]) + 1);
  }
  if (n > 0) add(f, tesela_value_of_object(option, n, files));
  return CLI_YES;
}

static int answer(const cli_context *cli, tesela_request *r, const tesela_value *text) {
  static const char *const what = "on tiled and on plain memory";
  answer_sink a = {.sink = {take_answer, NULL, false}, .out = TESELA_JSON_OUT};
  graph_progress progress;
  int status = CLI_YES;
  graph_progress_begin(cli, &what, &progress);
  r->out = &a.sink;
  r->progress = graph_progress_call;
  r->progress_user = &progress;
  tesela_put_object(&a.sink);
  tesela_status done = tesela_request_answer(r);
  graph_progress_hide(&progress);
  tesela_put_end(&a.sink);
  if (a.sink.stopped) { /* that sink stops for one reason */
    say_error(cli, "no memory for the answer");
    status = CLI_FAILED;
  } else if (done == TESELA_OK) {
    graph_note_copies(cli, a.copies, a.copied);
    bool failed = !json_line(&a.out, stdout) && !ferror(stdout);
    status = failed ? CLI_FAILED : a.no || a.poison > 0 ? CLI_NO : CLI_YES;
  } else if (r->field && strcmp(r->field, text->name) == 0) {
    status = text_file_fail(cli, cli->arg[1], text->as.text, text->n, r->err);
  } else if (done != TESELA_E_STOPPED) {
    status = say_failure(cli, r->err);
    bool full = done == TESELA_E_LIMIT && strcmp(cli->arg[0], "plan") == 0;
    status = full ? CLI_NO : r->err->reason == TESELA_REASON_PATH ? CLI_BAD : status;
  }
  tesela_json_out_free(&a.out);
  return status;
}

/* With --target as the request's own target. */
static int answer_for(const cli_context *cli, answer_fields *f, tesela_value text) {
  tesela_target own;
  const tesela_target *target;
  tesela_error err;
  int status = CLI_BAD;
  if (!device_target(cli, &own, &target, &status)) return status;
  if (target) add(f, tesela_value_of_text("target", target->name));
  add(f, text);
  tesela_value request = tesela_value_of_object(NULL, f->n, f->field);
  tesela_request r = {.value = &request, .err = &err, .target = target, .files_anywhere = true};
  status = answer(cli, &r, &text);
  tesela_request_free(&r);
  graph_progress_end();
  return status;
}

int graph_answer(const cli_context *cli, const char *name, const char *field, bool strict) {
  const char *mode = cli_value(cli, "mode");
  answer_fields f = {.n = 0};
  size_t length;
  int status = CLI_YES;
  add(&f, tesela_value_of_text("op", name));
  add(&f, tesela_value_of_text("mode", mode ? mode : strict ? "strict" : "auto"));
  if (cli_has(cli, "loops")) add(&f, tesela_value_of_text("node", cli_value(cli, "loops")));
  if (!json_fields(cli, name, f.field, &f.n)) return CLI_BAD;
  if (status == CLI_YES && strcmp(name, "graph_run") == 0) status = add_files(cli, "in", f.in, f.name[0], &f);
  if (status == CLI_YES && strcmp(name, "graph_run") == 0)
    status = add_files(cli, "out", f.out, f.name[1], &f);
  if (status != CLI_YES) return status;
  char *text = graph_input_text(cli, cli->arg[1], &length, &status);
  if (!text) return status;
  char *ended = realloc(text, length + 1);
  if (ended) ended[length] = '\0'; /* as a text value ends */
  tesela_value value = {.name = field, .kind = TESELA_VALUE_TEXT, .n = length, .as.text = ended};
  status = ended ? answer_for(cli, &f, value) : CLI_FAILED;
  free(ended ? ended : text);
  return status;
}
