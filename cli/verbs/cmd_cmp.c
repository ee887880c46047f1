/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_cmp.c - the verb cmp: do two files hold the same values, whatever their layouts?
 *
 * Of .safetensors with several tensors those of one name are compared; one that only one file has is a difference.
 */
#include <inttypes.h>
#include <string.h>
#include <tesela/relayout.h>

#include "main/input.h"
#include "main/json.h"
#include "main/say.h"
#include "tensor_native.h"

typedef struct cmp {
  tensor_native a, b;
  tesela_values_difference d;
  int64_t elements;
} cmp;

/* Two files and what is said about them. */
typedef struct pair {
  const cli_context *cli;
  const tensor_file *a, *b;
  tensor_says says_a, says_b;
} pair;

/* {"place":17,"bits":"0x3f800000","value":"1"} */
static void put_side(tesela_sink *j, const char *name, const tensor *t, int64_t place, const uint8_t *value) {
  char text[TESELA_ELEMENT_TEXT];
  tesela_put_key(j, name);
  tesela_put_object(j);
  tesela_put_key_int(j, "place", place);
  tesela_put_key_text(j, "bits", tesela_element_bits(value, t->layout.bits, text));
  tesela_element_print(value, t->layout.dtype, t->layout.bits, text);
  tesela_put_key_text(j, "value", *text ? text : NULL);
  tesela_put_end(j);
}

static void put_result(tesela_sink *j, const cmp *c) {
  tesela_put_key_bool(j, "same", c->d.same);
  tesela_put_key_int(j, "elements", c->elements);
  tesela_put_key_int(j, "n_different", c->d.n_different);
  if (c->d.same) return;
  tesela_put_key(j, "first_difference");
  tesela_put_object(j);
  tesela_put_key(j, "index");
  tesela_put_ints(j, c->a.tensor.layout.rank, c->d.index);
  put_side(j, "a", &c->a.tensor, c->d.place_a, c->d.a);
  put_side(j, "b", &c->b.tensor, c->d.place_b, c->d.b);
  tesela_put_end(j);
}

static int print_json(const cmp *c) {
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_put_object(&j.sink);
  put_result(&j.sink, c);
  tesela_put_end(&j.sink);
  bool done = json_line(&j, stdout) || ferror(stdout);
  tesela_json_out_free(&j);
  return done ? CLI_YES : CLI_FAILED;
}

static void print_side(const char *name, const tensor *t, int64_t place, const uint8_t *value) {
  char bits[TESELA_ELEMENT_TEXT], number[TESELA_ELEMENT_TEXT];
  tesela_element_print(value, t->layout.dtype, t->layout.bits, number);
  printf("  %s  place %-12" PRId64 "  %s%s%s\n", name, place,
         tesela_element_bits(value, t->layout.bits, bits), *number ? "  " : "", number);
}

static void print_text(const cmp *c) {
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

/* ---- two tensors --------------------------------------------------------------------------------------- */

static void free_sides(cmp *c) {
  tensor_native_free(&c->a);
  tensor_native_free(&c->b);
}

/* Entries of NULL: the tensors that are named, or the only ones. Returns CLI_YES with c->d set, to be freed with
   free_sides; else a status after saying why. */
static int compare(const pair *p, const tesela_file_tensor *a, const tesela_file_tensor *b, cmp *c) {
  tesela_error err = {.at = -1};
  tesela_sizes sizes;
  *c = (cmp){0};
  int exit_status = tensor_native_read(p->cli, p->a, a, &p->says_a, &c->a);
  if (exit_status == CLI_YES) exit_status = tensor_native_read(p->cli, p->b, b, &p->says_b, &c->b);
  if (exit_status == CLI_YES) {
    const tensor *ta = &c->a.tensor, *tb = &c->b.tensor;
    tesela_status status = tesela_values_compare(&ta->layout, c->a.data, &tb->layout, c->b.data, &c->d, &err);
    if (status == TESELA_OK) status = tesela_layout_sizes(&ta->layout, &sizes, &err);
    if (status == TESELA_OK) c->elements = sizes.logical_elements;
    if (status != TESELA_OK) exit_status = say_failure(p->cli, &err);
  }
  if (exit_status != CLI_YES) free_sides(c);
  return exit_status;
}

static int compare_two(const pair *p) {
  cmp c;
  int status = compare(p, NULL, NULL, &c);
  if (status != CLI_YES) return status;
  if (p->cli->json)
    status = print_json(&c);
  else
    print_text(&c);
  if (status == CLI_YES && !c.d.same) status = CLI_NO;
  free_sides(&c);
  return status;
}

/* ---- all tensors, by name ------------------------------------------------------------------------------ */

/* One name that a and b (one may be NULL) have. Only what differs is printed as text. */
static int compare_named(const pair *p, const tesela_file_tensor *a, const tesela_file_tensor *b,
                         tesela_sink *j) {
  const char *name = a ? a->name : b->name, *only = !b ? "a" : !a ? "b" : NULL;
  char quote[SAY_QUOTE];
  cmp c = {0};
  int status = only ? CLI_NO : compare(p, a, b, &c);
  if (status > CLI_NO) {
    fprintf(stderr, "This was for tensor %s.\n", say_quote(name, quote));
    return status;
  }
  if (!only && !c.d.same) status = CLI_NO;
  if (p->cli->json) {
    tesela_put_object(j);
    tesela_put_key_text(j, "name", name);
    if (only) tesela_put_key_bool(j, "same", false);
    if (only) tesela_put_key_text(j, "only_in", only);
    if (!only) put_result(j, &c);
    tesela_put_end(j);
  } else if (status == CLI_NO) {
    printf("%s: ", say_quote(name, quote));
    if (only) printf("only in %s\n", only);
    if (!only) print_text(&c);
  }
  free_sides(&c);
  return status;
}

static int compare_all(const pair *p) {
  tesela_json_out j = TESELA_JSON_OUT;
  int64_t n = 0, n_different = 0;
  int worst = CLI_YES;
  tesela_put_object(&j.sink);
  tesela_put_key(&j.sink, "tensors");
  tesela_put_list(&j.sink);
  for (int64_t i = 0; i < p->a->info.n_tensors + p->b->info.n_tensors && !ferror(stdout); i++) {
    bool in_a = i < p->a->info.n_tensors;
    const tesela_file_tensor *a = in_a ? &p->a->info.tensor[i] : NULL;
    const tesela_file_tensor *b =
        in_a ? tesela_file_find(p->b->file, a->name) : &p->b->info.tensor[i - p->a->info.n_tensors];
    if (!in_a && tesela_file_find(p->a->file, b->name)) continue;
    int status = compare_named(p, a, b, &j.sink);
    n++;
    n_different += status == CLI_NO;
    if (status > worst) worst = status;
  }
  tesela_put_end(&j.sink);
  tesela_put_key_bool(&j.sink, "same", worst == CLI_YES);
  tesela_put_end(&j.sink);
  if (!p->cli->json && worst == CLI_YES) printf("same: %" PRId64 " tensors\n", n);
  if (!p->cli->json && worst == CLI_NO)
    printf("differ: %" PRId64 " of %" PRId64 " tensors\n", n_different, n);
  if (p->cli->json && worst <= CLI_NO && !json_line(&j, stdout) && !ferror(stdout)) worst = CLI_FAILED;
  tesela_json_out_free(&j);
  return worst;
}

/* ---- the verb ------------------------------------------------------------------------------------------ */

/* What is said about one side: its own option, or the one for both. */
static const char *either(const cli_context *cli, const char *own, const char *both) {
  return cli_value(cli, own) ? cli_value(cli, own) : cli_value(cli, both);
}

int cmd_cmp(const cli_context *cli) {
  const char *dtype = cli_value(cli, "dtype");
  tensor_file *a = NULL, *b = NULL;
  pair p = {.cli = cli,
            .says_a = {either(cli, "a", "layout"), dtype, either(cli, "tensor-a", "tensor"), "--a"},
            .says_b = {either(cli, "b", "layout"), dtype, either(cli, "tensor-b", "tensor"), "--b"}};
  if (strcmp(cli->arg[0], "-") == 0 && strcmp(cli->arg[1], "-") == 0)
    return say_usage(cli, "standard input can be only one of the two");
  int status = tensor_file_open(cli, cli->arg[0], &a);
  if (status == CLI_YES) status = tensor_file_open(cli, cli->arg[1], &b);
  p.a = a;
  p.b = b;
  if (status == CLI_YES) {
    bool named = p.says_a.name || p.says_b.name;
    bool several = tensor_native_goes_through(a, &p.says_a) || tensor_native_goes_through(b, &p.says_b);
    bool all = !named && several && a->info.format == TESELA_FILE_SAFETENSORS &&
               b->info.format == TESELA_FILE_SAFETENSORS;
    status = all ? compare_all(&p) : compare_two(&p);
  }
  tensor_file_close(a);
  tensor_file_close(b);
  return status;
}
