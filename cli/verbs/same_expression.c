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

/* The place of an element: a number, or {"threads":[..],"local":n}; the relation is read again to have it. */
static tesela_status put_place(tesela_sink *j, const char *text, const int64_t *index, tesela_error *err) {
  any_layout any;
  tesela_layout layout;
  int64_t place[TESELA_MAX_AXES] = {0};
  tesela_status status = kind_read_any(text, strlen(text), TESELA_XLA_LENIENT, &any, &layout, NULL, err);
  if (status != TESELA_OK) return status;
  const tesela_writer to = {write_stdout, NULL};
  if (any.kind == KIND_REGISTER && !j) return expression_print_place(&any.registers, index, &to, err);
  if (any.kind == KIND_REGISTER) {
    tesela_put_object(j);
    status = expression_put_place(j, &any.registers, index, err);
    tesela_put_end(j);
    return status;
  }
  status = tesela_layout_place_of(&layout, index, place, err);
  if (j)
    tesela_put_int(j, place[0]);
  else
    printf("%" PRId64, place[0]);
  return status;
}

static int print_any_json(const cli_context *cli, int32_t rank, const tesela_difference *d) {
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_error err = {.at = -1};
  tesela_status status = TESELA_OK;
  tesela_put_object(&j.sink);
  tesela_put_key_bool(&j.sink, "same", d->same);
  tesela_put_key_bool(&j.sink, "same_size", d->same_extent);
  if (!d->same) {
    tesela_put_key(&j.sink, "first_difference");
    if (d->have_index) {
      tesela_put_object(&j.sink);
      tesela_put_key(&j.sink, "index");
      tesela_put_ints(&j.sink, rank, d->index);
      tesela_put_key(&j.sink, "a");
      status = put_place(&j.sink, cli->arg[0], d->index, &err);
      tesela_put_key(&j.sink, "b");
      if (status == TESELA_OK) status = put_place(&j.sink, cli->arg[1], d->index, &err);
      tesela_put_end(&j.sink);
    } else {
      tesela_put_null(&j.sink);
    }
    tesela_put_key_text(&j.sink, "reason", d->reason);
  }
  tesela_put_end(&j.sink);
  bool done = status == TESELA_OK && (json_line(&j, stdout) || ferror(stdout));
  tesela_json_out_free(&j);
  if (status != TESELA_OK) return say_failure(cli, &err);
  return !done ? CLI_FAILED : d->same ? CLI_YES : CLI_NO;
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
  tesela_status status = put_place(NULL, cli->arg[0], d->index, &err);
  fputs(" in a, ", stdout);
  if (status == TESELA_OK) status = put_place(NULL, cli->arg[1], d->index, &err);
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
  if (same_compare(&any[0], &any[1], &d, &err) != TESELA_OK) return say_failure(cli, &err);
  for (int i = 0; i < 2 && d.have_index; i++) /* before anything is written */
    if (any[i].kind == KIND_REGISTER && expression_check_copies(&any[i].registers, &err) != TESELA_OK)
      return say_failure(cli, &err);
  int32_t rank = any[0].kind == KIND_XLA        ? any[0].shape.rank
                 : any[0].kind == KIND_DEVICE   ? any[0].device.host.rank
                 : any[0].kind == KIND_REGISTER ? any[0].registers.rank
                                                : any[0].memory.rank;
  return cli->json ? print_any_json(cli, rank, &d) : print_any_text(cli, rank, &d);
}
