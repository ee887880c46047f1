/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_graph.c - the verb graph: device layouts for a program, the moves it needs, its memory, a run of it.
 *
 *   propagate   layouts without moves, or the first operator that needs one
 *   assign      layouts with the moves of least price
 *   plan        then offsets for all buffers (graph_plan.c)
 *   run         then the program is run on tiled memory and compared with a run on plain memory (graph_run.c)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_json.h"
#include "graph/graph_print.h"
#include "main/say.h"
#include "tile_input.h"
#include "tile_json.h"

/* ---- propagate, assign ------------------------------------------------------------------------------------------- */

static bool graph_copies(const cli_context *cli) {
  return cli_has(cli, "copies") || cli_has(cli, "materialise");
}

/* The name of a tensor without a type; NULL if all have one. */
static const char *graph_untyped(const tesela_graph *graph) {
  const tesela_node *node;
  for (int32_t k = 0; (node = tesela_graph_node(graph, k)) != NULL; k++)
    if (node->dtype == TESELA_DTYPE_NONE) return node->name;
  return NULL;
}

/* The table, or what is printed instead. */
static int graph_assign(const cli_context *cli, const graph_work *work) {
  tesela_error err = {.at = -1};
  const char *name = cli_value(cli, "loops");
  if (cli_has(cli, "hlo") && graph_untyped(work->placed)) {
    say_error(cli, "HLO text says the type of every tensor; %.60s has none", graph_untyped(work->placed));
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

static bool graph_options(const cli_context *cli, bool strict, tesela_propagate_options *options) {
  const char *mode = cli_value(cli, "mode");
  *options = (tesela_propagate_options){
      .mode = (mode ? strcmp(mode, "strict") == 0 : strict) ? TESELA_PROPAGATE_STRICT : TESELA_PROPAGATE_AUTO,
      .share = cli_has(cli, "share"),
      .spread = cli_has(cli, "spread"),
      .compact = cli_has(cli, "compact"),
      .copies = graph_copies(cli),
  };
  return cli_integer(cli, "effort", 1, INT64_MAX, 0, &options->effort);
}

void graph_note_copies(const cli_context *cli, int64_t copies, int64_t elements) {
  if (copies > 0)
    say_note(cli, "%" PRId64 " cop%s of views, %" PRId64 " elements", copies, copies == 1 ? "y" : "ies",
             elements);
}

/* Why there are no layouts; where moves do not help, whether --materialise does. CLI_NO when it is said. */
static int graph_say_why(const cli_context *cli, const tesela_propagate_options *options, graph_work *work) {
  tesela_error err = {.at = -1};
  int printed = say_printed(cli, tesela_propagation_explain(work->layouts, false, &cli_stdout, &err), &err);
  if (printed != CLI_YES) return printed;
  if (options->mode == TESELA_PROPAGATE_STRICT || cli_has(cli, "materialise")) return CLI_NO;
  tesela_status status = graph_work_lay_out(work, *options, true, &err);
  if (status == TESELA_E_MEMORY) return say_failure(cli, &err);
  if (status != TESELA_OK) return CLI_NO;
  tesela_propagate_facts facts = tesela_propagation_facts_of(work->layouts);
  if (facts.ok && cli_flush())
    say_note(cli, "--materialise lays it out: %" PRId64 " elements moved and copied",
             facts.moved + facts.copied);
  return CLI_NO;
}

/* Read, find layouts, and put them into the program. CLI_NO: no layouts, which is said on stdout. */
static int graph_place(const cli_context *cli, bool strict, graph_work *work) {
  tesela_error err = {.at = -1};
  tesela_propagate_options options;
  if (!graph_options(cli, strict, &options)) return CLI_BAD;
  int status = graph_input_read(cli, cli->arg[1], work);
  if (status != CLI_YES) return status;
  if (graph_work_lay_out(work, options, cli_has(cli, "materialise"), &err) != TESELA_OK)
    return say_failure(cli, &err);
  if (!tesela_propagation_facts_of(work->layouts).ok) {
    return graph_say_why(cli, &options, work);
  }
  if (tesela_graph_apply(&work->placed, work->layouts, &err) != TESELA_OK) return say_failure(cli, &err);
  tesela_propagate_facts facts = tesela_propagation_facts_of(work->layouts);
  graph_note_copies(cli, facts.n_copies, facts.copied);
  return CLI_YES;
}

int cmd_graph(const cli_context *cli) {
  static const struct {
    const char *name, *op;
    bool strict;
    int (*run)(const cli_context *cli, const graph_work *work);
  } tasks[] = {{"propagate", "graph_assign", true, graph_assign},
               {"assign", "graph_assign", false, graph_assign},
               {"plan", "graph_plan", false, graph_plan},
               {"run", "graph_run", false, graph_run}};
  char quote[SAY_QUOTE];
  for (size_t k = 0; k < sizeof tasks / sizeof *tasks; k++) {
    if (strcmp(cli->arg[0], tasks[k].name) != 0) continue;
    bool csv = tasks[k].run == graph_plan && graph_is_csv(cli->arg[1]);
    if (cli->json) {
      bool loops = tasks[k].run == graph_assign && cli_has(cli, "loops");
      return graph_answer(cli, loops ? "graph_loops" : tasks[k].op, csv ? "csv" : "text", tasks[k].strict);
    }
    if (csv) return graph_plan_csv(cli);
    graph_work work = {0};
    int status = graph_place(cli, tasks[k].strict, &work);
    if (status == CLI_YES) status = tasks[k].run(cli, &work);
    graph_work_free(&work);
    return status;
  }
  return say_usage(cli, "graph does propagate, assign, plan or run, not %s", say_quote(cli->arg[0], quote));
}
