/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_translate.c - the verb translate: a layout in another notation, or in all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "main/input.h"
#include "main/json.h"
#include "main/say.h"

/* "element [2,0] is at place 8; a text that agrees on the elements before has it at 2", unless the reason names the element. */
static void print_contradiction(FILE *to, const tesela_translation *t) {
  const bool bit = t->contradiction == TESELA_CONTRADICTION_BIT;
  if (t->contradiction == TESELA_CONTRADICTION_NONE || strstr(t->reason, "element (")) return;
  fputs(bit ? "; a bit of the place moves [" : "; element [", to);
  for (int32_t d = 0; d < t->rank; d++) fprintf(to, "%s%" PRId64, d ? "," : "", t->index[d]);
  fputc(']', to);
  if (t->contradiction == TESELA_CONTRADICTION_PLACE)
    fprintf(to, " is at place %" PRId64 "; a text that agrees on the elements before has it at %" PRId64,
            t->place, t->expected);
  if (t->contradiction == TESELA_CONTRADICTION_ELEMENT)
    fprintf(to, " is at place %" PRId64 ", but in no text that agrees on the elements before", t->place);
  if (t->contradiction != TESELA_CONTRADICTION_SHARED) return;
  fputs(" and element [", to);
  for (int32_t d = 0; d < t->rank; d++) fprintf(to, "%s%" PRId64, d ? "," : "", t->index2[d]);
  fprintf(to, "] are both at place %" PRId64, t->place);
}

static void print_shape(FILE *to, const tesela_translation *t) {
  fputc('[', to);
  for (int32_t d = 0; d < t->rank; d++) fprintf(to, "%s%" PRId64, d ? "," : "", t->shape[d]);
  fputc(']', to);
}

/* What the text alone does not say. */
static void say_beside(const cli_context *cli, const tesela_translation *t) {
  if (t->verdict != TESELA_EXACT) {
    fputs("note: the text is of ", stderr);
    print_shape(stderr, t);
    fprintf(stderr,
            t->verdict == TESELA_VALID_PART ? "; keep the shape of the array beside it\n"
                                            : ", which takes %" PRId64 " places; the layout has %" PRId64
                                              "\n",
            t->text_places, t->places);
  }
  if (t->as[0]) say_note(cli, "read it with --as=%s", t->as);
}

/* ---- one notation ------------------------------------------------------------------------------------------ */

static bool is_code(const char *name) {
  const tesela_notation *notation;
  for (int32_t i = 0; (notation = tesela_notation_at(i)) != NULL; i++)
    if (strcmp(notation->name, name) == 0) return notation->kinds == 0;
  return false;
}

static int translate_one(const cli_context *cli, const tesela_any_layout *any, const char *to) {
  tesela_translation t;
  tesela_error err = {.at = -1};
  if (tesela_translate(any, to, &cli_stdout, &t, &err) != TESELA_OK) return say_failure(cli, &err);
  if (t.verdict == TESELA_IMPOSSIBLE) {
    printf("impossible: %s", t.reason);
    print_contradiction(stdout, &t);
    putchar('\n');
    return CLI_NO;
  }
  if (!is_code(to)) putchar('\n'); /* code ends with one */
  cli_flush();
  say_beside(cli, &t);
  return CLI_YES;
}

/* ---- all notations ----------------------------------------------------------------------------------------- */

/* A line for each: name, verdict, text or reason. Code, of several lines, follows its line. */
static int translate_all(const cli_context *cli, const tesela_any_layout *any) {
  const tesela_notation *notation;
  for (int32_t i = 0; (notation = tesela_notation_at(i)) != NULL && !ferror(stdout); i++) {
    tesela_translation t;
    tesela_error err = {.at = -1};
    tesela_buffer nothing = {NULL, 0, 0};
    tesela_writer measure = tesela_buffer_writer(&nothing);
    if (!notation->written || notation == any->notation) continue;
    tesela_status status = tesela_translate(any, notation->name, &measure, &t, &err);
    if (status == TESELA_E_MEMORY) return say_failure(cli, &err);
    printf("%-11s  %-13s  ", notation->name,
           status == TESELA_OK ? tesela_verdict_name(t.verdict) : "refused");
    if (status != TESELA_OK) {
      puts(err.message);
    } else if (t.verdict == TESELA_IMPOSSIBLE) {
      fputs(t.reason, stdout);
      print_contradiction(stdout, &t);
      putchar('\n');
    } else if (notation->kinds == 0) { /* code */
      printf("tesela translate --to=%s\n", notation->name);
    } else {
      (void)tesela_translate(any, notation->name, &cli_stdout, &t, &err);
      if (t.as[0]) printf("   --as=%s", t.as);
      putchar('\n');
    }
  }
  return CLI_YES;
}

int cmd_translate(const cli_context *cli) {
  tesela_any_layout any;
  int status = CLI_YES;
  const char *to = cli_value(cli, "to"), *text = cli->arg[0];
  if (!to) return say_usage(cli, "missing --to=NOTATION: a notation, or all");
  if (!input_any(cli, text, strlen(text), NULL, &any, NULL, &status)) return status;
  if (cli->json) {
    const tesela_value fields[] = {tesela_value_of_text("from", text), tesela_value_of_text("to", to)};
    return json_verb(cli, sizeof fields / sizeof fields[0], fields, NULL);
  }
  return strcmp(to, "all") == 0 ? translate_all(cli, &any) : translate_one(cli, &any, to);
}
