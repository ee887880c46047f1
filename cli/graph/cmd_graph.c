/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_graph.c - the verb graph: device layouts for a program, the moves it needs, its memory, and its run.
 *
 *   propagate   layouts without moves, or the first operator that needs one
 *   assign      layouts with the cheapest moves
 *   plan        also offsets for all buffers (graph_plan.c)
 *   run         also runs the program on tiled memory and compares with a run on plain memory (graph_run.c)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_json.h"
#include "graph/graph_print.h"
#include "main/say.h"
#include "main/tile_input.h"
#include "tile_json.h"

/* ---- propagate, assign ------------------------------------------------------------------------------------------- */

/* The name of a tensor without a type; NULL if all have one. */
static const char *graph_untyped(const tesela_graph *graph) {
  const tesela_node *node;
  for (int32_t k = 0; (node = tesela_graph_node(graph, k)) != NULL; k++)
    if (node->dtype == TESELA_DTYPE_NONE) return node->name;
  return NULL;
}

/* Print the table, or what an option requests instead. */
static int graph_assign(const cli_context *cli, graph_ask *ask, const graph_work *work) {
  (void)ask;
  tesela_error err = {.at = -1};
  const char *name = cli_value(cli, "loops");
  if (cli_has(cli, "hlo") && graph_untyped(work->placed)) {
    say_error(cli, "HLO text needs the type of every tensor; %.60s has no type", graph_untyped(work->placed));
    return CLI_BAD;
  }
  if (cli_has(cli, "hlo")) {
    tesela_status status = tesela_graph_print_hlo(work->placed, "main", &cli_stdout, &err);
    return status == TESELA_OK ? CLI_YES : say_failure(cli, &err);
  }
  if (name) return graph_print_loops(cli, work, name);
  if (cli_has(cli, "padding")) return graph_print_padding(cli, work);
  graph_print_table(work);
  return say_printed(cli, tesela_propagation_explain(work->layouts, cli_has(cli, "proof"), &cli_stdout, &err),
                     &err);
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

/* Explain why no layouts were found and, where moves do not help, whether --materialise does. Returns CLI_NO after that. */
static int graph_say_why(const cli_context *cli, graph_ask *ask, graph_work *work) {
  const tesela_propagate_options options = request_propagate_options(&ask->r);
  tesela_error err = {.at = -1};
  int printed = say_printed(cli, tesela_propagation_explain(work->layouts, false, &cli_stdout, &err), &err);
  if (printed != CLI_YES) return printed;
  if (options.mode == TESELA_PROPAGATE_STRICT || cli_has(cli, "materialise")) return CLI_NO;
  tesela_status status = graph_work_lay_out(work, options, true, &err);
  if (status == TESELA_E_MEMORY) return say_failure(cli, &err);
  if (status != TESELA_OK) return CLI_NO;
  tesela_propagate_facts facts = tesela_propagation_facts_of(work->layouts);
  if (facts.ok && cli_flush())
    say_note(cli, "--materialise finds layouts: %" PRId64 " elements moved and copied",
             facts.moved + facts.copied);
  return CLI_NO;
}

typedef struct graph_task {
  const char *name, *op;
  bool strict;
  int (*run)(const cli_context *cli, graph_ask *ask, const graph_work *work);
} graph_task;

/* The answer in words. CLI_NO: no layouts were found; the explanation goes to stdout. */
static int graph_words(const cli_context *cli, const graph_task *task, graph_ask *ask) {
  graph_work work = {0};
  bool placed = false;
  tesela_status done = request_place_program(&ask->r, &work, &placed);
  int status = graph_say(cli, ask, done);
  if (done == TESELA_OK && !placed) status = graph_say_why(cli, ask, &work);
  if (done == TESELA_OK && placed) {
    tesela_propagate_facts facts = tesela_propagation_facts_of(work.layouts);
    graph_note_copies(cli, facts.n_copies, facts.copied);
    status = task->run(cli, ask, &work);
  }
  graph_work_free(&work);
  return status;
}

int cmd_graph(const cli_context *cli) {
  static const graph_task tasks[] = {{"propagate", "graph_assign", true, graph_assign},
                                     {"assign", "graph_assign", false, graph_assign},
                                     {"plan", "graph_plan", false, graph_plan},
                                     {"run", "graph_run", false, graph_run}};
  char quote[SAY_QUOTE];
  size_t k = 0, n = sizeof tasks / sizeof *tasks;
  while (k < n && strcmp(cli->arg[0], tasks[k].name) != 0) k++;
  if (k == n)
    return say_usage(cli, "unknown task '%s'; expected propagate, assign, plan or run",
                     say_quote(cli->arg[0], quote));
  const graph_task *task = &tasks[k];
  bool csv = task->run == graph_plan && graph_is_csv(cli->arg[1]);
  bool loops = cli->json && task->run == graph_assign && cli_has(cli, "loops");
  graph_ask ask;
  int status =
      graph_ask_begin(cli, loops ? "graph_loops" : task->op, csv ? "csv" : "text", task->strict, &ask);
  if (status == CLI_YES)
    status = cli->json ? graph_answer(cli, &ask)
             : csv     ? graph_plan_csv(cli, &ask)
                       : graph_words(cli, task, &ask);
  graph_end(&ask);
  return status;
}
