/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_expression.c - comparing layouts of any kind, and the verb same for others than two XLA layouts.
 */
#include "verbs/same_expression.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "expression.h"
#include "main/input.h"
#include "main/say.h"
#include "main/json.h"

/* ---- the verb -------------------------------------------------------------------------------------------- */

static int write_stdout(void *user, const char *text, size_t length) {
  (void)user;
  return fwrite(text, 1, length, stdout) != length;
}

/* Print the place of an element; the relation is read again to have it. */
static tesela_status print_place(const char *text, const int64_t *index, tesela_error *err) {
  any_layout any;
  tesela_layout layout;
  int64_t place[TESELA_MAX_AXES] = {0};
  tesela_status status = kind_read_any(text, strlen(text), TESELA_XLA_LENIENT, &any, &layout, NULL, err);
  if (status != TESELA_OK) return status;
  const tesela_writer to = {write_stdout, NULL};
  if (any.kind == KIND_REGISTER) return expression_print_place(&any.registers, index, &to, err);
  status = tesela_layout_place_of(&layout, index, place, err);
  printf("%" PRId64, place[0]);
  return status;
}

int same_answer(const cli_context *cli) {
  const tesela_value fields[] = {tesela_value_of_text("op", "same"), tesela_value_of_text("a", cli->arg[0]),
                                 tesela_value_of_text("b", cli->arg[1])};
  bool same;
  int status = json_answer_flag(cli, sizeof fields / sizeof fields[0], fields, "same", &same);
  return status == CLI_YES && !same ? CLI_NO : status;
}

static int print_any_text(const cli_context *cli, int32_t rank, const tesela_difference *d) {
  tesela_error err = {.at = -1};
  if (d->same) {
    puts("same");
    if (!d->same_extent) say_note(cli, "the sizes differ");
    return CLI_YES;
  }
  if (!d->have_index) {
    printf("differ: %s\n", d->reason);
    return CLI_NO;
  }
  fputs("differ: first at [", stdout);
  if (rank > 0) input_print_index(rank, d->index);
  fputs("]: ", stdout);
  tesela_status status = print_place(cli->arg[0], d->index, &err);
  fputs(" in a, ", stdout);
  if (status == TESELA_OK) status = print_place(cli->arg[1], d->index, &err);
  fputs(" in b\n", stdout);
  return status == TESELA_OK ? CLI_NO : say_failure(cli, &err);
}

/* A tuple is unlike all of them. */
static bool begins_tuple(const char *text) {
  layout_kind kind;
  size_t used;
  tesela_error err;
  return kind_of(text, strlen(text), &kind, &used, &err) == TESELA_OK && kind == KIND_XLA &&
         text[used + strspn(text + used, " \t\r\n")] == '(';
}

int same_any(const cli_context *cli) {
  any_layout any[2];
  tesela_difference d = {.same = false};
  tesela_error err = {.at = -1};
  int status = CLI_YES;
  for (int i = 0; i < 2; i++) {
    if (begins_tuple(cli->arg[i]))
      return say_usage(cli, "%s is a tuple; only tuples are compared with it", i ? "B" : "A");
    if (input_any(cli, cli->arg[i], strlen(cli->arg[i]), &any[i], NULL, &status)) continue;
    fprintf(stderr, "This was %s.\n", i ? "B" : "A");
    return status;
  }
  if (cli->json) return same_answer(cli);
  if (same_compare(&any[0], &any[1], &d, &err) != TESELA_OK) return say_failure(cli, &err);
  for (int i = 0; i < 2 && d.have_index; i++) /* before anything is written */
    if (any[i].kind == KIND_REGISTER && expression_check_copies(&any[i].registers, &err) != TESELA_OK)
      return say_failure(cli, &err);
  int32_t rank = any[0].kind == KIND_XLA        ? any[0].shape.rank
                 : any[0].kind == KIND_DEVICE   ? any[0].device.host.rank
                 : any[0].kind == KIND_REGISTER ? any[0].registers.rank
                                                : any[0].memory.rank;
  return print_any_text(cli, rank, &d);
}
