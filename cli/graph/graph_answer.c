/* SPDX-License-Identifier: Apache-2.0 */
/* graph_answer.c - the request that a command line of graph makes, and its answer for --json. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "main/device.h"
#include "graph/graph_print.h"
#include "graph/graph_progress.h"
#include "main/say.h"
#include "main/text_file.h"

/* Writes JSON and derives the exit status from it. "ok" is the old name of "placed". */
typedef struct answer_sink {
  tesela_sink sink;
  tesela_json_out out;
  int depth;
  char key[16]; /* the last key of the outermost object */
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

/* ---- the request ------------------------------------------------------------------------------------------------- */

enum { FILE_LIMIT = 256 << 20 };

static void add(graph_ask *ask, tesela_value value) { ask->field[ask->n++] = value; }

/* NAME=FILE: the name, before the =. */
static bool file_option(const char *said, char name[TESELA_GRAPH_NAME]) {
  size_t length = strcspn(said, "=");
  if (said[length] != '=' || length == 0 || length >= TESELA_GRAPH_NAME || said[length + 1] == '\0')
    return false;
  memcpy(name, said, length);
  name[length] = '\0';
  return true;
}

/* NAME=FILE of --in or --out. */
static int add_files(const cli_context *cli, const char *option, graph_files *files, graph_ask *ask) {
  size_t n = 0;
  char quote[SAY_QUOTE];
  const char *said;
  files->value = calloc((size_t)cli->n_given + 1, sizeof *files->value);
  files->name = calloc((size_t)cli->n_given + 1, sizeof *files->name);
  if (!files->value || !files->name) return CLI_FAILED;
  for (int at = 0; (said = cli_each(cli, option, &at)); n++) {
    if (!file_option(said, files->name[n]))
      return say_usage(cli, "--%s is %s; expected NAME=FILE", option, say_quote(said, quote));
    files->value[n] = tesela_value_of_text(files->name[n], said + strlen(files->name[n]) + 1);
  }
  if (n > 0) add(ask, tesela_value_of_object(option, n, files->value));
  return CLI_YES;
}

static int take_nothing(tesela_sink *sink, const tesela_event *event) {
  (void)sink;
  (void)event;
  return 0;
}

int graph_ask_begin(const cli_context *cli, const char *op, const char *field, bool strict, graph_ask *ask) {
  const char *mode = cli_value(cli, "mode");
  const tesela_target *target;
  int status = CLI_YES;
  memset(ask, 0, sizeof *ask);
  add(ask, tesela_value_of_text("op", op));
  if (!mode) add(ask, tesela_value_of_text("mode", strict ? "strict" : "auto"));
  if (cli_has(cli, "loops")) add(ask, tesela_value_of_text("node", cli_value(cli, "loops")));
  if (!json_fields(cli, op, ask->field, &ask->n)) return CLI_BAD;
  if (strcmp(op, "graph_run") == 0) status = add_files(cli, "in", &ask->in, ask);
  if (status == CLI_YES && strcmp(op, "graph_run") == 0) status = add_files(cli, "out", &ask->out, ask);
  if (status != CLI_YES) return status;
  ask->text = (tesela_value){.name = field, .kind = TESELA_VALUE_TEXT};
  ask->read = text_file_read(cli, cli->arg[1], FILE_LIMIT, &ask->text.n, &status);
  ask->text.as.text = ask->read;
  if (!ask->read || !device_target(cli, &ask->own, &target, &status)) return status;
  if (target) add(ask, tesela_value_of_text("target", target->name));
  add(ask, ask->text);
  ask->value = tesela_value_of_object(NULL, ask->n, ask->field);
  ask->nowhere = (tesela_sink){take_nothing, NULL, false};
  ask->r = (tesela_request){.value = &ask->value,
                            .out = &ask->nowhere,
                            .err = &ask->err,
                            .target = target,
                            .files_anywhere = true,
                            .deadline = INT64_MAX};
  return CLI_YES;
}

int graph_say(const cli_context *cli, graph_ask *ask, tesela_status done) {
  const tesela_request *r = &ask->r;
  if (done == TESELA_OK || done == TESELA_E_STOPPED) return CLI_YES;
  if (r->field && strcmp(r->field, ask->text.name) == 0)
    return text_file_fail(cli, cli->arg[1], ask->text.as.text, ask->text.n, r->err);
  int status = say_failure(cli, r->err);
  if (done == TESELA_E_LIMIT && strcmp(cli->arg[0], "plan") == 0) return CLI_NO;
  return r->err->reason == TESELA_REASON_PATH ? CLI_BAD : status;
}

void graph_end(graph_ask *ask) {
  tesela_request_free(&ask->r);
  free(ask->in.value);
  free(ask->in.name);
  free(ask->out.value);
  free(ask->out.name);
  free(ask->read);
  graph_progress_end();
}

void graph_note_copies(const cli_context *cli, int64_t copies, int64_t elements) {
  if (copies > 0)
    say_note(cli, "%" PRId64 " view cop%s, %" PRId64 " elements", copies, copies == 1 ? "y" : "ies",
             elements);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

int graph_answer(const cli_context *cli, graph_ask *ask) {
  static const char *const what = "on tiled and on plain memory";
  answer_sink a = {.sink = {take_answer, NULL, false}, .out = TESELA_JSON_OUT};
  graph_progress progress;
  int status = CLI_YES;
  graph_progress_begin(cli, &what, &progress);
  ask->r.out = &a.sink;
  ask->r.progress = graph_progress_call;
  ask->r.progress_user = &progress;
  tesela_put_object(&a.sink);
  tesela_status done = tesela_request_answer(&ask->r);
  graph_progress_hide(&progress);
  tesela_put_end(&a.sink);
  if (a.sink.stopped) { /* this sink stops only without memory */
    say_error(cli, "no memory for the answer");
    status = CLI_FAILED;
  } else if (done == TESELA_OK) {
    graph_note_copies(cli, a.copies, a.copied);
    bool failed = !json_line(&a.out, stdout) && !ferror(stdout);
    status = failed ? CLI_FAILED : a.no || a.poison > 0 ? CLI_NO : CLI_YES;
  } else {
    status = graph_say(cli, ask, done);
  }
  tesela_json_out_free(&a.out);
  return status;
}
