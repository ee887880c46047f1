/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_print.h - shared by the files of the verb graph: a request in progress, and tables of a program.
 */
#ifndef TESELA_CLI_GRAPH_PRINT_H
#define TESELA_CLI_GRAPH_PRINT_H

#include "graph_work.h"
#include "main/json.h"

/* A row for each node: operator, type and shape, stick, device sizes, bytes, padding. */
void graph_print_table(const graph_work *work);
/* "f16[128,256]" */
const char *graph_shape_text(const tesela_node *node, char text[GRAPH_TYPE_TEXT]);

/* A name; a long one is cut after at most 38 bytes, between characters, and ends with .. */
#define GRAPH_NAME_TEXT 41
const char *graph_name_text(const char *name, char text[GRAPH_NAME_TEXT]);

/* The loops of a node over tiled memory and, with --cores, their division. */
int graph_print_loops(const cli_context *cli, const graph_work *work, const char *name);

/* graph_padding.c: the values in padding, as tables. */
int graph_print_padding(const cli_context *cli, const graph_work *work);

/* A buffer of a memory plan. */
typedef struct graph_plan_row {
  const char *name, *where;
  const char *in_place_of; /* NULL */
  int64_t lower, upper, bytes;
  int64_t offset; /* -1: not placed */
  int32_t arena;  /* one picture for each arena */
} graph_plan_row;

/* graph_picture.c: a plan as a table and as pictures of its arenas, 0 and 1. false: no memory, and nothing is printed. */
bool graph_plan_print(const cli_context *cli, int32_t n, const graph_plan_row *rows);

/* Note how many views are copied, if any. */
void graph_note_copies(const cli_context *cli, int64_t copies, int64_t elements);

/* graph_answer.c: the request that a command line makes. */
typedef struct graph_files {
  tesela_value *value;
  char (*name)[TESELA_GRAPH_NAME];
} graph_files;
typedef struct graph_ask {
  tesela_request r; /* its answer is discarded */
  /* Storage of the request: */
  tesela_value field[JSON_FIELDS + 4], value, text;
  size_t n;
  graph_files in, out;
  char *read;
  tesela_target own;
  tesela_sink nowhere;
  tesela_error err;
} graph_ask;

/* `field` is the operation's name for the text of the file. Returns an exit status; a failure is reported. Call graph_end always. */
int graph_ask_begin(const cli_context *cli, const char *op, const char *field, bool strict, graph_ask *ask);
/* Report why the request failed. Returns an exit status. */
int graph_say(const cli_context *cli, graph_ask *ask, tesela_status done);
void graph_end(graph_ask *ask);
/* --json: print the answer of the operation. */
int graph_answer(const cli_context *cli, graph_ask *ask);

/* graph_plan.c */
int graph_plan(const cli_context *cli, graph_ask *ask, const graph_work *work);
bool graph_is_csv(const char *path); /* by its name: .csv */
int graph_plan_csv(const cli_context *cli, graph_ask *ask);

/* graph_run.c */
int graph_run(const cli_context *cli, graph_ask *ask, const graph_work *work);

#endif
