/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_tuple.c - a tuple: one line for each array in it, and the total.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "main/input.h"
#include "main/say.h"
#include "show/show.h"
#include "tile_input.h"
#include "main/json.h"

enum { MAX_LINES = 200, MAX_SHAPE = 60, MAX_PATH = 32 };

typedef struct leaf {
  const tesela_xla_shape *shape;
  show_text path; /* "1,0": member 0 of member 1 */
  bool sized;     /* false: token, opaque, `?` */
  show_facts facts;
} leaf;

typedef struct tuple {
  tesela_xla_tree *tree;
  int32_t count;
  int32_t *member; /* of each node: its number among the members of its tuple */
} tuple;

/* ---- the tree ---------------------------------------------------------------------------------------- */

static bool number_members(tuple *t) {
  t->count = tesela_xla_tree_count(t->tree);
  t->member = calloc((size_t)t->count * 2, sizeof *t->member);
  if (!t->member) return false;
  int32_t *seen = t->member + t->count;
  for (int32_t i = 1; i < t->count; i++) t->member[i] = seen[tesela_xla_tree_node(t->tree, i).parent]++;
  return true;
}

/* The members that lead to a node, the last MAX_PATH of them. */
static void path_of(const tuple *t, int32_t node, show_text *path) {
  int32_t members[MAX_PATH], n = 0;
  for (; node > 0 && n < MAX_PATH; node = tesela_xla_tree_node(t->tree, node).parent)
    members[n++] = t->member[node];
  path->length = 0;
  path->text[0] = '\0';
  if (node > 0) show_add(path, "..,");
  while (n-- > 0) show_add(path, "%" PRId32 "%s", members[n], n > 0 ? "," : "");
}

/* The next leaf at or after a node; false behind the last one. */
static bool next_leaf(const tuple *t, int32_t *node, leaf *out) {
  for (; *node < t->count; ++*node) {
    out->shape = tesela_xla_tree_node(t->tree, *node).shape;
    if (!out->shape) continue;
    path_of(t, *node, &out->path);
    out->sized = show_facts_of(out->shape, &out->facts, NULL) == TESELA_OK;
    ++*node;
    return true;
  }
  return false;
}

/* ---- print ------------------------------------------------------------------------------------------- */

static void print_bytes(int64_t bytes) {
  char text[TESELA_UNITS_TEXT];
  tesela_units_print(bytes, TESELA_UNITS_IEC, text);
  printf("  %10s", text);
}

static int shape_length(const tesela_xla_shape *shape) {
  tesela_buffer buffer = {NULL, 0, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_xla_print(shape, true, &to, NULL);
  return (int)buffer.length;
}

static void print_leaf(const leaf *l, int path_columns, int shape_columns) {
  tesela_writer to = tile_stdout();
  printf("  %-*s  ", path_columns, l->path.text);
  tesela_xla_print(l->shape, true, &to, NULL);
  int rest = shape_columns - shape_length(l->shape);
  printf("%*s", rest > 0 ? rest : 0, "");
  if (l->sized) {
    print_bytes(l->facts.sizes.logical_bytes);
    print_bytes(l->facts.sizes.bytes);
    printf("  %6.2f", l->facts.sizes.expansion);
  } else {
    printf("  %10s  %10s  %6s", "-", "-", "-");
  }
  printf("\n");
}

static void print_table(const cli_context *cli, const tuple *t, int64_t limit) {
  leaf l;
  int64_t leaves = 0, data = 0;
  int path_columns = 6, shape_columns = 5;
  for (int32_t node = 0; next_leaf(t, &node, &l); leaves++) {
    int columns = shape_length(l.shape);
    if (columns <= MAX_SHAPE && columns > shape_columns) shape_columns = columns;
    if ((int)l.path.length > path_columns) path_columns = (int)l.path.length;
    if (l.sized && __builtin_add_overflow(data, l.facts.sizes.logical_bytes, &data)) data = INT64_MAX;
  }
  printf("a tuple with %" PRId64 " array%s\n\n", leaves, leaves == 1 ? "" : "s");
  if (leaves == 0) return;
  printf("  %-*s  %-*s  %10s  %10s  %6s\n", path_columns, "member", shape_columns, "shape", "data", "memory",
         "times");
  int64_t lines = 0;
  for (int32_t node = 0; lines < limit && next_leaf(t, &node, &l); lines++)
    print_leaf(&l, path_columns, shape_columns);
  if (lines < leaves) printf("  %" PRId64 " more; all of them: --all\n", leaves - lines);
  int64_t bytes, allocated;
  tesela_error err;
  if (tesela_xla_tree_bytes(t->tree, &bytes, &allocated, &err) != TESELA_OK) {
    say_note(cli, "no total: %s", err.message);
    return;
  }
  printf("  %-*s", path_columns + 2 + shape_columns, "total");
  print_bytes(data);
  print_bytes(bytes);
  printf("  %6.2f\n", data > 0 ? (double)bytes / (double)data : 1.0);
}

static bool print_json(const tuple *t) {
  tesela_json_out j = TESELA_JSON_OUT;
  leaf l;
  int64_t bytes, allocated;
  tesela_put_object(&j.sink);
  tesela_put_key(&j.sink, "leaves");
  tesela_put_list(&j.sink);
  for (int32_t node = 0; next_leaf(t, &node, &l);) {
    tesela_put_object(&j.sink);
    tesela_put_key_text(&j.sink, "member", l.path.text);
    if (l.sized) {
      show_json(&j.sink, &l.facts);
    } else {
      show_json_no_size(&j.sink, l.shape);
    }
    tesela_put_end(&j.sink);
    if (!json_write(&j, stdout)) break; /* a tuple can be long: piece by piece */
  }
  tesela_put_end(&j.sink);
  if (tesela_xla_tree_bytes(t->tree, &bytes, &allocated, NULL) == TESELA_OK) {
    tesela_put_key_int(&j.sink, "bytes", bytes);
    tesela_put_key_int(&j.sink, "allocated_bytes", allocated);
  }
  tesela_put_end(&j.sink);
  bool done = json_line(&j, stdout);
  tesela_json_out_free(&j);
  return done;
}

int show_tuple(const cli_context *cli, const char *text, size_t length) {
  tesela_error err;
  tuple t = {NULL, 0, NULL};
  tesela_xla_repairs repairs = {0};
  int exit = CLI_YES;
  if (tesela_xla_tree_create(&t.tree, text, length, TESELA_XLA_LENIENT, NULL, &repairs, &err) != TESELA_OK)
    return say_failure_in(cli, text, length, &err);
  input_repairs(cli, &repairs);
  if (!number_members(&t)) {
    say_error(cli, "no memory for a tuple of %" PRId32 " shapes", t.count);
    exit = CLI_FAILED;
  } else if (cli->json) {
    exit = print_json(&t) ? CLI_YES : CLI_FAILED;
  } else {
    print_table(cli, &t, cli_has(cli, "all") ? INT64_MAX : MAX_LINES);
  }
  free(t.member);
  tesela_xla_tree_destroy(t.tree);
  return exit;
}
