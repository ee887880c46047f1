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

/* Print the place of an element. */
static tesela_status print_place(const tesela_any_layout *any, const int64_t *index, tesela_error *err) {
  tesela_layout layout;
  int64_t place[TESELA_MAX_AXES] = {0};
  const tesela_writer to = {write_stdout, NULL};
  if (any->kind == TESELA_KIND_REGISTER) return expression_print_place(&any->registers, index, &to, err);
  tesela_status status = tesela_any_to_layout(any, &layout, err);
  if (status == TESELA_OK) status = tesela_layout_place_of(&layout, index, place, err);
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

static int print_any_text(const cli_context *cli, const tesela_any_layout *any, int32_t rank,
                          const tesela_difference *d) {
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
  tesela_status status = print_place(&any[0], d->index, &err);
  fputs(" in a, ", stdout);
  if (status == TESELA_OK) status = print_place(&any[1], d->index, &err);
  fputs(" in b\n", stdout);
  return status == TESELA_OK ? CLI_NO : say_failure(cli, &err);
}

int same_any(const cli_context *cli) {
  tesela_any_layout any[2];
  tesela_difference d = {.same = false};
  tesela_error err = {.at = -1};
  tesela_layout first;
  size_t used;
  int status = CLI_YES;
  for (int i = 0; i < 2; i++) {
    if (input_is_tuple(cli->arg[i], strlen(cli->arg[i]), &used))
      return say_usage(cli, "%s is a tuple; only tuples are compared with it", i ? "B" : "A");
    if (input_any(cli, cli->arg[i], strlen(cli->arg[i]), NULL, &any[i], i ? NULL : &first, &status)) continue;
    fprintf(stderr, "This was %s.\n", i ? "B" : "A");
    return status;
  }
  if (cli->json) return same_answer(cli);
  if (same_compare(&any[0], &any[1], &d, &err) != TESELA_OK) return say_failure(cli, &err);
  for (int i = 0; i < 2 && d.have_index; i++) /* before anything is written */
    if (any[i].kind == TESELA_KIND_REGISTER && expression_check_copies(&any[i].registers, &err) != TESELA_OK)
      return say_failure(cli, &err);
  return print_any_text(cli, any, first.rank, &d);
}
