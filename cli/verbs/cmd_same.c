/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_same.c - the verb same: do two layouts store every element at the same place? Tuples are compared member by
 * member, up to the first that differs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "expression.h"
#include "main/input.h"
#include "main/json.h"
#include "same_tuple.h"
#include "main/say.h"

/* ---- read -------------------------------------------------------------------------------------------- */

static bool read_side(const cli_context *cli, const char *text, same_side *s, int *status) {
  tesela_error err = {.at = -1};
  tesela_xla_repairs repairs = {0};
  tesela_xla_shape shape;
  char array[4096];
  tesela_buffer buffer = {array, sizeof array, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  size_t length = strlen(text), used = 0;
  bool is_tuple = input_is_tuple(text, length, &used);
  bool done = is_tuple || input_layout(cli, text, length, &shape, &s->layout, status);
  if (done && !is_tuple) { /* a tree of one array, from any notation */
    tesela_xla_print(&shape, true, &to, NULL);
    text = array;
    length = strlen(array);
    used = 0;
  }
  if (done) {
    done = tesela_xla_tree_create(&s->tree, text + used, length - used, TESELA_XLA_LENIENT, NULL, &repairs,
                                  &err) == TESELA_OK;
    if (done)
      input_repairs(cli, &repairs);
    else
      *status = say_failure_in(cli, text + used, length - used, &err);
  }
  if (!done) fprintf(stderr, "The error is in %s.\n", s->name);
  return done;
}

/* ---- notes ---------------------------------------------------------------------------------------------- */

/* Differences other than places: sizes and element types. */
static void say_other_differences(const cli_context *cli, same_comparison *c) {
  const tesela_layout *a = &c->a.layout, *b = &c->b.layout;
  char where[SAME_PATH + 16] = "";
  if (a->axis[0].extent == b->axis[0].extent && a->dtype == b->dtype) return;
  if (same_is_tuple(c)) same_name_member(c);
  if (same_is_tuple(c)) snprintf(where, sizeof where, "member {%s}: ", c->member);
  if (a->axis[0].extent != b->axis[0].extent)
    say_note(cli, "%sthe sizes differ: %" PRId64 " and %" PRId64 " places, including padding", where,
             a->axis[0].extent, b->axis[0].extent);
  if (a->dtype != b->dtype)
    say_note(cli, "%sthe element types differ: %s and %s", where, tesela_dtype_name(a->dtype),
             tesela_dtype_name(b->dtype));
}

/* Notes, when every member is the same. */
static void say_notes(const cli_context *cli, same_comparison *c) {
  for (c->node = 0; c->node < tesela_xla_tree_count(c->a.tree); c->node++) {
    const tesela_xla_shape *a = tesela_xla_tree_node(c->a.tree, c->node).shape;
    const tesela_xla_shape *b = tesela_xla_tree_node(c->b.tree, c->node).shape;
    if (a && b && tesela_xla_to_layout(a, &c->a.layout, NULL) == TESELA_OK &&
        tesela_xla_to_layout(b, &c->b.layout, NULL) == TESELA_OK)
      say_other_differences(cli, c);
  }
}

/* ---- print ------------------------------------------------------------------------------------------- */

static void print_text(const same_comparison *c) {
  const tesela_difference *d = &c->d;
  if (d->same) {
    puts("same");
    return;
  }
  fputs("differ: ", stdout);
  if (same_is_tuple(c) && c->member[0]) printf("member {%s}: ", c->member);
  if (d->have_index) {
    fputs("first at [", stdout);
    if (c->a.layout.rank > 0) input_print_index(c->a.layout.rank, d->index);
    printf("]: %" PRId64 " in a, %" PRId64 " in b\n", c->a.place, c->b.place);
  } else {
    printf("%s\n", d->reason);
  }
}

static int answer(const cli_context *cli) {
  const tesela_value fields[] = {tesela_value_of_text("a", cli->arg[0]),
                                 tesela_value_of_text("b", cli->arg[1])};
  return json_verb(cli, 2, fields, "same");
}

/* ---- any layouts ------------------------------------------------------------------------------------- */

/* Print the place of an element. */
static tesela_status print_place(const tesela_any_layout *any, const int64_t *index, tesela_error *err) {
  tesela_layout layout;
  int64_t place[TESELA_MAX_AXES] = {0};
  if (any->kind == TESELA_KIND_REGISTER)
    return expression_print_place(&any->registers, index, &cli_stdout, err);
  tesela_status status = tesela_any_to_layout(any, &layout, err);
  if (status == TESELA_OK) status = tesela_layout_place_of(&layout, index, place, err);
  if (status == TESELA_OK) input_print_place(&layout, place);
  return status;
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

/* Two layouts of which one is not in XLA's notation. */
static int same_any(const cli_context *cli) {
  tesela_any_layout any[2];
  tesela_difference d = {.same = false};
  tesela_error err = {.at = -1};
  tesela_layout first;
  size_t used;
  int status = CLI_YES;
  for (int i = 0; i < 2; i++) {
    if (input_is_tuple(cli->arg[i], strlen(cli->arg[i]), &used))
      return say_usage(cli, "%s is a tuple; a tuple can be compared only with another tuple", i ? "B" : "A");
    if (input_any(cli, cli->arg[i], strlen(cli->arg[i]), NULL, &any[i], i ? NULL : &first, &status)) continue;
    fprintf(stderr, "The error is in %s.\n", i ? "B" : "A");
    return status;
  }
  if (cli->json) return answer(cli);
  if (tesela_any_compare(&any[0], &any[1], &d, &err) != TESELA_OK) return say_failure(cli, &err);
  for (int i = 0; i < 2 && d.have_index; i++) /* before anything is written */
    if (any[i].kind == TESELA_KIND_REGISTER && expression_check_copies(&any[i].registers, &err) != TESELA_OK)
      return say_failure(cli, &err);
  return print_any_text(cli, any, first.rank, &d);
}

/* ---- the verb ---------------------------------------------------------------------------------------- */

/* Is the text in a notation other than XLA's? */
static bool is_other(const char *text) {
  const tesela_notation *notation;
  tesela_error err;
  if (tesela_notation_find(text, strlen(text), &notation, NULL, &err) != TESELA_OK) return false;
  return notation->kinds != UINT32_C(1) << TESELA_KIND_XLA;
}

int cmd_same(const cli_context *cli) {
  same_comparison c = {.a.name = "A", .b.name = "B"};
  tesela_error err = {.at = -1};
  int status;
  if (is_other(cli->arg[0]) || is_other(cli->arg[1])) return same_any(cli);
  if (read_side(cli, cli->arg[0], &c.a, &status) && read_side(cli, cli->arg[1], &c.b, &status)) {
    if (cli->json) {
      status = answer(cli);
    } else if (same_compare_trees(&c, &err) != TESELA_OK) {
      status = say_failure(cli, &err);
    } else {
      print_text(&c);
      if (c.d.same) say_notes(cli, &c);
      status = c.d.same ? CLI_YES : CLI_NO;
    }
  }
  tesela_xla_tree_destroy(c.a.tree);
  tesela_xla_tree_destroy(c.b.tree);
  return status;
}
