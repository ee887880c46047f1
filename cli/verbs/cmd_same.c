/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_same.c - the verb same: do two layouts put every element at the same place? Tuples are compared member by
 * member, up to the first that differs. same_expression.c compares register layouts and tiles in memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "main/input.h"
#include "main/json.h"
#include "kind.h"
#include "verbs/same_expression.h"
#include "main/say.h"

enum { MAX_PATH = 32, PATH_TEXT = 400 };

typedef struct side {
  const char *name; /* "A", "B" */
  tesela_xla_tree *tree;
  tesela_layout layout; /* of the array that is compared */
  int64_t place;        /* of the first element that differs */
} side;

typedef struct comparison {
  side a, b;
  bool tuples;
  int32_t node;           /* that is compared */
  char member[PATH_TEXT]; /* "1,0": member 0 of member 1 */
  tesela_difference d;
} comparison;

/* ---- read -------------------------------------------------------------------------------------------- */

static bool read_side(const cli_context *cli, const char *text, side *s, int *status) {
  tesela_error err = {.at = -1};
  tesela_xla_repairs repairs = {0};
  tesela_xla_shape shape;
  size_t length = strlen(text), used = 0;
  bool known = kind_prefix(text, length, &used, &err) == TESELA_OK;
  bool is_tuple = known && text[used + strspn(text + used, " \t\r\n")] == '(';
  bool done = is_tuple || input_layout(cli, text, length, &shape, &s->layout, status);
  if (done) {
    /* An array was read before, and what was mended in it is said. */
    tesela_status read = tesela_xla_tree_create(&s->tree, text + used, length - used, TESELA_XLA_LENIENT,
                                                NULL, &repairs, &err);
    kind_shift(used, &repairs, read == TESELA_OK ? NULL : &err);
    done = read == TESELA_OK;
    if (done && is_tuple) input_repairs(cli, &repairs);
    if (!done) *status = say_failure_in(cli, text, length, &err);
  }
  if (!done) fprintf(stderr, "This was %s.\n", s->name);
  return done;
}

/* ---- compare ----------------------------------------------------------------------------------------- */

/* The members that lead to a node, the last MAX_PATH of them. */
static void name_member(comparison *c) {
  int32_t members[MAX_PATH], n = 0, node = c->node;
  const tesela_xla_tree *tree = c->a.tree;
  for (; node > 0 && n < MAX_PATH; node = tesela_xla_tree_node(tree, node).parent) {
    members[n] = 0;
    for (int32_t i = tesela_xla_tree_node(tree, node).parent + 1; i < node;
         i = tesela_xla_tree_node(tree, i).next)
      members[n]++;
    n++;
  }
  size_t used = (size_t)snprintf(c->member, PATH_TEXT, "%s", node > 0 ? "..," : "");
  while (n-- > 0)
    used +=
        (size_t)snprintf(c->member + used, PATH_TEXT - used, "%" PRId32 "%s", members[n], n > 0 ? "," : "");
}

static const char *noun(const tesela_xla_node *node) {
  if (node->kind == TESELA_XLA_TUPLE) return "a tuple";
  if (node->kind == TESELA_XLA_TOKEN) return "a token";
  return node->kind == TESELA_XLA_OPAQUE ? "an opaque" : "an array";
}

static bool is_array(const tesela_xla_node *node) {
  return node->kind == TESELA_XLA_ARRAY || node->kind == TESELA_XLA_BUFFER;
}

/* Are both of one kind, tuples of one length? Else says why not in c->d. */
static bool same_structure(comparison *c, const tesela_xla_node *a, const tesela_xla_node *b) {
  c->d = (tesela_difference){.same = a->kind == b->kind || (is_array(a) && is_array(b))};
  if (!c->d.same)
    snprintf(c->d.reason, sizeof c->d.reason, "%s in a, %s in b", noun(a), noun(b));
  else if (a->kind == TESELA_XLA_TUPLE && a->n_members != b->n_members) {
    c->d.same = false;
    snprintf(c->d.reason, sizeof c->d.reason, "%" PRId32 " member%s in a, %" PRId32 " in b", a->n_members,
             a->n_members == 1 ? "" : "s", b->n_members);
  }
  c->d.same_extent = c->d.same;
  return c->d.same;
}

static int fail_member(const cli_context *cli, comparison *c, const char *of, const tesela_error *err) {
  if (!c->tuples) return say_failure(cli, err);
  name_member(c);
  say_error(cli, "member {%s}%s: %s", c->member, of, err->message);
  return say_exit(err->status);
}

/* What differs although every element is at the same place. */
static void say_other_differences(const cli_context *cli, comparison *c) {
  const tesela_layout *a = &c->a.layout, *b = &c->b.layout;
  char where[PATH_TEXT + 16] = "";
  if (a->axis[0].extent == b->axis[0].extent && a->dtype == b->dtype) return;
  if (c->tuples) name_member(c);
  if (c->tuples) snprintf(where, sizeof where, "member {%s}: ", c->member);
  if (a->axis[0].extent != b->axis[0].extent)
    say_note(cli, "%sthe sizes differ: %" PRId64 " and %" PRId64 " places, padding included", where,
             a->axis[0].extent, b->axis[0].extent);
  if (a->dtype != b->dtype)
    say_note(cli, "%sthe element types differ: %s and %s", where, tesela_dtype_name(a->dtype),
             tesela_dtype_name(b->dtype));
}

static int compare_arrays(const cli_context *cli, comparison *c, const tesela_xla_shape *a,
                          const tesela_xla_shape *b) {
  tesela_error err = {.at = -1};
  tesela_difference *d = &c->d;
  if (tesela_xla_to_layout(a, &c->a.layout, &err) != TESELA_OK) return fail_member(cli, c, " of A", &err);
  if (tesela_xla_to_layout(b, &c->b.layout, &err) != TESELA_OK) return fail_member(cli, c, " of B", &err);
  if (tesela_layout_compare(&c->a.layout, &c->b.layout, d, &err) != TESELA_OK)
    return fail_member(cli, c, "", &err);
  if (d->have_index && (tesela_layout_place_of(&c->a.layout, d->index, &c->a.place, &err) != TESELA_OK ||
                        tesela_layout_place_of(&c->b.layout, d->index, &c->b.place, &err) != TESELA_OK))
    return fail_member(cli, c, "", &err);
  return d->same ? CLI_YES : CLI_NO;
}

/* Up to the first member that differs: c->d says how. */
static int compare(const cli_context *cli, comparison *c) {
  bool same_size = true;
  int status = CLI_YES;
  for (int32_t i = 0; i < tesela_xla_tree_count(c->a.tree) && status == CLI_YES; i++) {
    tesela_xla_node a = tesela_xla_tree_node(c->a.tree, i), b = tesela_xla_tree_node(c->b.tree, i);
    c->node = i;
    if (!same_structure(c, &a, &b))
      status = CLI_NO;
    else if (is_array(&a))
      status = compare_arrays(cli, c, a.shape, b.shape);
    same_size = same_size && c->d.same_extent;
  }
  if (status == CLI_NO && c->tuples) name_member(c);
  c->d.same_extent = same_size;
  return status;
}

/* Notes, when every member is the same. */
static void say_notes(const cli_context *cli, comparison *c) {
  for (c->node = 0; c->node < tesela_xla_tree_count(c->a.tree); c->node++) {
    const tesela_xla_shape *a = tesela_xla_tree_node(c->a.tree, c->node).shape;
    const tesela_xla_shape *b = tesela_xla_tree_node(c->b.tree, c->node).shape;
    if (a && b && tesela_xla_to_layout(a, &c->a.layout, NULL) == TESELA_OK &&
        tesela_xla_to_layout(b, &c->b.layout, NULL) == TESELA_OK)
      say_other_differences(cli, c);
  }
}

/* ---- print ------------------------------------------------------------------------------------------- */

static bool print_json(const comparison *c) {
  const tesela_difference *d = &c->d;
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_put_object(&j.sink);
  tesela_put_key_bool(&j.sink, "same", d->same);
  tesela_put_key_bool(&j.sink, "same_size", d->same_extent);
  if (!d->same) {
    if (c->tuples) tesela_put_key_text(&j.sink, "member", c->member);
    tesela_put_key(&j.sink, "first_difference");
    if (d->have_index) {
      tesela_put_object(&j.sink);
      tesela_put_key(&j.sink, "index");
      tesela_put_ints(&j.sink, c->a.layout.rank, d->index);
      tesela_put_key_int(&j.sink, "a", c->a.place);
      tesela_put_key_int(&j.sink, "b", c->b.place);
      tesela_put_end(&j.sink);
    } else {
      tesela_put_null(&j.sink);
    }
    tesela_put_key_text(&j.sink, "reason", d->reason);
  }
  tesela_put_end(&j.sink);
  bool done = json_line(&j, stdout) || ferror(stdout);
  tesela_json_out_free(&j);
  return done;
}

static void print_text(const comparison *c) {
  const tesela_difference *d = &c->d;
  if (d->same) {
    puts("same");
    return;
  }
  fputs("differ: ", stdout);
  if (c->tuples && c->member[0]) printf("member {%s}: ", c->member);
  if (d->have_index) {
    fputs("first at [", stdout);
    if (c->a.layout.rank > 0) input_print_index(c->a.layout.rank, d->index);
    printf("]: %" PRId64 " in a, %" PRId64 " in b\n", c->a.place, c->b.place);
  } else {
    printf("%s\n", d->reason);
  }
}

static bool is_expression(const char *text) {
  layout_kind kind;
  size_t used;
  tesela_error err;
  if (kind_of(text, strlen(text), &kind, &used, &err) != TESELA_OK) return err.status == TESELA_E_SYNTAX;
  return kind != KIND_XLA;
}

int cmd_same(const cli_context *cli) {
  comparison c = {.a.name = "A", .b.name = "B"};
  int status;
  if (is_expression(cli->arg[0]) || is_expression(cli->arg[1])) return same_any(cli);
  if (read_side(cli, cli->arg[0], &c.a, &status) && read_side(cli, cli->arg[1], &c.b, &status)) {
    c.tuples = tesela_xla_tree_node(c.a.tree, 0).kind == TESELA_XLA_TUPLE ||
               tesela_xla_tree_node(c.b.tree, 0).kind == TESELA_XLA_TUPLE;
    status = compare(cli, &c);
    bool answered = status == CLI_YES || status == CLI_NO;
    if (answered && !cli->json) print_text(&c);
    if (status == CLI_YES && !cli->json) say_notes(cli, &c);
    if (answered && cli->json && !print_json(&c)) status = CLI_FAILED;
  }
  tesela_xla_tree_destroy(c.a.tree);
  tesela_xla_tree_destroy(c.b.tree);
  return status;
}
