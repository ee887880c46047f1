/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_tuple.c - a tuple: one line for each array in it, and the total.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "main/input.h"
#include "main/say.h"
#include "leaves.h"
#include "show/show.h"
#include "main/tile_input.h"

enum { MAX_LINES = 200, MAX_SHAPE = 60 };

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
  printf("  %-*s  ", path_columns, l->path.text);
  tesela_xla_print(l->shape, true, &cli_stdout, NULL);
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
  if (lines < leaves) printf("  %" PRId64 " more; to list all: --all\n", leaves - lines);
  int64_t bytes, allocated;
  tesela_error err;
  if (tesela_xla_tree_bytes(t->tree, &bytes, &allocated, &err) != TESELA_OK) {
    say_note(cli, "total unknown: %s", err.message);
    return;
  }
  printf("  %-*s", path_columns + 2 + shape_columns, "total");
  print_bytes(data);
  print_bytes(bytes);
  printf("  %6.2f\n", data > 0 ? (double)bytes / (double)data : 1.0);
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
  } else {
    print_table(cli, &t, cli_has(cli, "all") ? INT64_MAX : MAX_LINES);
  }
  free(t.member);
  tesela_xla_tree_destroy(t.tree);
  return exit;
}
