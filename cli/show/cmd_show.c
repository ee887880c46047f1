/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_show.c - the verb show: a layout in words, and its picture.
 */
#include <stdlib.h>
#include <string.h>

#include "main/input.h"
#include "main/say.h"
#include "show/show.h"
#include "main/tile_input.h"
#include "main/json.h"

/* The canonical text, as a headline. */
static void print_text(const cli_context *cli, const tesela_xla_shape *shape) {
  cli_styled_begin(&cli->out, "1");
  tesela_xla_print(shape, true, &cli_stdout, NULL);
  cli_styled_end(&cli->out);
  printf("\n");
}

/* token[], opaque[] and `?`: their kind; they have no known size. */
static int say_no_size(const cli_context *cli, const tesela_xla_shape *shape, const tesela_error *err) {
  if (err->status != TESELA_E_UNSUPPORTED) return say_failure(cli, err);
  bool words = show_wants(cli, "words");
  if (words) {
    print_text(cli, shape);
    show_words_no_size(cli, shape);
  }
  if (show_wants(cli, "picture")) printf("%sNothing to draw: no size.\n", words ? "\n" : "");
  return CLI_YES;
}

static int show_array(const cli_context *cli, const tesela_any_layout *array) {
  const tesela_xla_shape *shape = &array->shape;
  tesela_error err;
  show_facts facts;
  tesela_draw_options options;
  if (!show_no_table_options(cli) || !show_picture_options(cli, &options)) return CLI_BAD;
  if (show_facts_of(shape, &facts, &err) != TESELA_OK) return say_no_size(cli, shape, &err);
  bool words = show_wants(cli, "words"), picture = show_wants(cli, "picture"),
       any = facts.sizes.logical_elements > 0;
  if (picture && any && !show_picture_check(cli, shape, &options)) return CLI_BAD;
  if (words) {
    print_text(cli, shape);
    show_words(cli, &facts);
    const int status = show_also(cli, array);
    if (status != CLI_YES) return status;
  }
  if (!picture) return CLI_YES;
  if (!any) {
    printf("%sNothing to draw: no elements.\n", words ? "\n" : "");
    return CLI_YES;
  }
  if (words) printf("\n");
  return show_picture(cli, shape, &options);
}

/* The answer of --json. */
static int answer(const cli_context *cli, const char *text, size_t length) {
  char *copy = malloc(length + 1); /* a line has no NUL */
  if (!copy) return CLI_FAILED;
  memcpy(copy, text, length);
  copy[length] = '\0';
  const tesela_value fields[] = {tesela_value_of_text("op", "info"), tesela_value_of_text("layout", copy),
                                 tesela_value_of_bool("details", true)};
  int status = json_answer(cli, sizeof fields / sizeof fields[0], fields);
  free(copy);
  return status;
}

static int show_text_of(const cli_context *cli, const char *text, size_t length) {
  size_t used = 0;
  int status;
  tesela_any_layout any;
  bool tuple = input_is_tuple(text, length, &used);
  if (!tuple && !input_any(cli, text, length, NULL, &any, NULL, &status)) return status;
  if (!tuple && any.kind == TESELA_KIND_DEVICE)
    return cli->json ? answer(cli, text, length) : show_device(cli, &any);
  if (cli_has(cli, "target"))
    return say_usage(cli, "--target applies to device layouts only; this is %s",
                     tesela_kind_words(tuple ? TESELA_KIND_XLA : any.kind));
  if (cli->json) return answer(cli, text, length);
  if (tuple) return show_no_table_options(cli) ? show_tuple(cli, text + used, length - used) : CLI_BAD;
  if (any.kind == TESELA_KIND_XLA) return show_array(cli, &any);
  if (any.kind == TESELA_KIND_RELATION) return show_relation(cli, &any);
  return show_expression(cli, &any, text, length);
}

/* Layouts from several lines are separated by a blank line. */
typedef struct several {
  const cli_context *cli;
  bool second;
} several;

static int show_line(void *user, const char *text, size_t length) {
  several *s = user;
  if (s->second && !s->cli->json) printf("\n");
  s->second = true;
  return show_text_of(s->cli, text, length);
}

int cmd_show(const cli_context *cli) {
  several s = {cli, false};
  return input_each(cli, 0, show_line, &s);
}
