/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_cmp.c - the verb cmp: do two files hold the same values, whatever their layouts?
 *
 * In .safetensors files with several tensors, tensors of the same name are compared; one that is in only one file is a difference.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "main/input.h"
#include "main/json.h"
#include "main/say.h"
#include "tensor_native.h"
#include "verbs/tensor_signals.h"

static void print_side(const char *name, const tensor *t, int64_t place, const uint8_t *value) {
  char bits[TESELA_ELEMENT_TEXT], number[TESELA_ELEMENT_TEXT];
  tesela_element_print(value, t->layout.dtype, t->layout.bits, number);
  printf("  %s  place %-12" PRId64 "  %s%s%s\n", name, place,
         tesela_element_bits(value, t->layout.bits, bits), *number ? "  " : "", number);
}

static void print_text(const tensor_comparison *c) {
  if (c->d.same) {
    puts("same");
    return;
  }
  int32_t rank = c->a.tensor.layout.rank;
  fputs("differ: first at [", stdout);
  if (rank > 0) input_print_index(rank, c->d.index);
  printf("]; %" PRId64 " of %" PRId64 " element%s\n", c->d.n_different, c->elements,
         c->elements == 1 ? "" : "s");
  print_side("a", &c->a.tensor, c->d.place_a, c->d.a);
  print_side("b", &c->b.tensor, c->d.place_b, c->d.b);
}

/* Entries NULL: the tensors named by options, or the only ones. Names are printed with differences. */
static int compare(const cli_context *cli, json_request *ask, const tensor_pair *p,
                   const tesela_file_tensor *a, const tesela_file_tensor *b, const char *name) {
  tensor_comparison c;
  char quote[SAY_QUOTE];
  tensor_reading r = tensor_request_reading(&ask->r);
  const tesela_status done = tensor_request_failed(&ask->r, &r, tensor_compare(&r, p, a, b, &c));
  if (done != TESELA_OK) return json_say(cli, ask, done);
  if (name && !c.d.same) printf("%s: ", say_quote(name, quote));
  if (!name || !c.d.same) print_text(&c);
  const int status = c.d.same ? CLI_YES : CLI_NO;
  tensor_comparison_free(&c);
  return status;
}

/* Tensors of one name; a or b may be NULL. Only differences are printed. */
static int compare_named(const cli_context *cli, json_request *ask, const tensor_pair *p,
                         const tesela_file_tensor *a, const tesela_file_tensor *b) {
  char quote[SAY_QUOTE];
  const char *name = a ? a->name : b->name;
  if (!a || !b) printf("%s: only in %s\n", say_quote(name, quote), a ? "a" : "b");
  const int status = a && b ? compare(cli, ask, p, a, b, name) : CLI_NO;
  if (status > CLI_NO) fprintf(stderr, "The error is in tensor %s.\n", say_quote(name, quote));
  return status;
}

static int compare_all(const cli_context *cli, json_request *ask, const tensor_pair *p) {
  const tesela_file_tensor *a, *b;
  int64_t n = 0, n_different = 0;
  int worst = CLI_YES;
  for (int64_t i = 0; !ferror(stdout) && tensor_pair_next(p, &i, &a, &b); n++) {
    int status = compare_named(cli, ask, p, a, b);
    n_different += status == CLI_NO;
    if (status > worst) worst = status;
  }
  if (worst == CLI_YES) printf("same: %" PRId64 " tensors\n", n);
  if (worst == CLI_NO) printf("differ: %" PRId64 " of %" PRId64 " tensors\n", n_different, n);
  return worst;
}

/* ---- the verb ------------------------------------------------------------------------------------------ */

/* The option of one side, else the option for both. */
static const char *either(const cli_context *cli, const char *own, const char *both) {
  return cli_value(cli, own) ? cli_value(cli, own) : cli_value(cli, both);
}

static int compare_files(const cli_context *cli, json_request *ask) {
  const char *dtype = cli_value(cli, "dtype");
  tensor_file a = {.file = NULL}, b = {.file = NULL};
  tensor_pair p = {&a,
                   &b,
                   {either(cli, "a", "layout"), dtype, either(cli, "tensor-a", "tensor"), "a"},
                   {either(cli, "b", "layout"), dtype, either(cli, "tensor-b", "tensor"), "b"}};
  tesela_status done = tensor_request_open(&ask->r, "file_a", &a);
  if (done == TESELA_OK) done = tensor_request_open(&ask->r, "file_b", &b);
  int status = json_say(cli, ask, done);
  if (status == CLI_YES)
    status = tensor_pair_all(&p) ? compare_all(cli, ask, &p) : compare(cli, ask, &p, NULL, NULL, NULL);
  tensor_request_close(&a);
  tensor_request_close(&b);
  return status;
}

int cmd_cmp(const cli_context *cli) {
  tesela_value field[JSON_FIELDS] = {tesela_value_of_text("file_a", cli->arg[0]),
                                     tesela_value_of_text("file_b", cli->arg[1])};
  size_t n = 2;
  if (strcmp(cli->arg[0], "-") == 0 && strcmp(cli->arg[1], "-") == 0)
    return say_usage(cli, "standard input can be used for only one of the two files");
  if (!json_fields(cli, "cmp", field, &n)) return CLI_BAD;
  tensor_catch_shrinking();
  if (cli->json) return json_verb(cli, n, field, "same");
  json_request ask = {.member = NULL};
  int status = json_begin(cli, n, field, &ask);
  if (status == CLI_YES) status = compare_files(cli, &ask);
  tesela_request_free(&ask.r);
  return status;
}
