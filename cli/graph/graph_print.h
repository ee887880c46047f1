/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_print.h - what the files of the verb graph share: a program on its way, and tables of it.
 */
#ifndef TESELA_CLI_GRAPH_PRINT_H
#define TESELA_CLI_GRAPH_PRINT_H

#include "graph_work.h"
#include "main/json.h"

/* A row for each node: operator, type and shape, stick, device sizes, bytes, padding. */
void graph_print_table(const graph_work *work);
/* "f16[128,256]" */
const char *graph_shape_text(const tesela_node *node, char text[GRAPH_TYPE_TEXT]);

/* A name; of a long one the first 38 bytes, no part of a character, and .. */
#define GRAPH_NAME_TEXT 41
const char *graph_name_text(const char *name, char text[GRAPH_NAME_TEXT]);

/* The loops of a node over tiled memory, and with --cores their division. */
int graph_print_loops(const cli_context *cli, const graph_work *work, const char *name);

/* graph_padding.c: what padding holds, as tables. */
int graph_print_padding(const cli_context *cli, const graph_work *work);

/* A buffer of a memory plan. */
typedef struct graph_plan_row {
  const char *name, *where;
  const char *in_place_of; /* NULL */
  int64_t lower, upper, bytes;
  int64_t offset; /* -1: not placed */
  int32_t arena;  /* each has a picture of its own */
} graph_plan_row;

/* graph_picture.c: a plan as a table and as pictures of its arenas, 0 and 1. false: no memory, nothing printed. */
bool graph_plan_print(const cli_context *cli, int32_t n, const graph_plan_row *rows);

/* Say how many views are copied, if any. */
void graph_note_copies(const cli_context *cli, int64_t copies, int64_t elements);

/* graph_answer.c: the request that a command line is. */
typedef struct graph_files {
  tesela_value *value;
  char (*name)[TESELA_GRAPH_NAME];
} graph_files;
typedef struct graph_ask {
  tesela_request r; /* its answer goes nowhere */
  /* Its own: */
  tesela_value field[TESELA_OP_FIELDS + 4], value, text;
  size_t n;
  graph_files in, out;
  char *read;
  tesela_target own;
  tesela_sink nowhere;
  tesela_error err;
} graph_ask;

/* `field` is what the operation calls the text of the file. An exit status, after saying why not; graph_end either way. */
int graph_begin(const cli_context *cli, const char *op, const char *field, bool strict, graph_ask *ask);
/* Say why the request failed; an exit status. */
int graph_say(const cli_context *cli, graph_ask *ask, tesela_status done);
void graph_end(graph_ask *ask);
/* --json: the answer of the operation. */
int graph_answer(const cli_context *cli, graph_ask *ask);

/* graph_plan.c */
int graph_plan(const cli_context *cli, graph_ask *ask, const graph_work *work);
bool graph_is_csv(const char *path); /* by its name: .csv */
int graph_plan_csv(const cli_context *cli, graph_ask *ask);

/* graph_run.c */
int graph_run(const cli_context *cli, graph_ask *ask, const graph_work *work);

#endif
