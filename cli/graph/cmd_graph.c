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

static void assign_json(const cli_context *cli, tesela_sink *j, const graph_work *work) {
  tesela_propagate_facts facts = tesela_propagation_facts_of(work->layouts);
  const tesela_move *move;
  const tesela_node *at = tesela_graph_node(work->in.graph, facts.error_node);
  tesela_put_key_bool(j, "ok", facts.ok);
  tesela_put_key_text(j, "target", work->in.target.name);
  if (!facts.ok) {
    tesela_put_key_text(j, "error_at", at ? at->name : NULL);
    tesela_put_key_int(j, "error_operand", facts.error_operand);
    return;
  }
  tesela_put_key_int(j, "restickify_elems", facts.moved);
  tesela_put_key_int(j, "restickifies", facts.n_moves);
  if (graph_copies(cli)) {
    tesela_put_key_int(j, "copied_elems", facts.copied);
    tesela_put_key_int(j, "copies", facts.n_copies);
  }
  tesela_put_key_int(j, "cost", facts.cost);
  tesela_put_key_int(j, "bound", facts.bound);
  tesela_put_key_bool(j, "proven", facts.proven);
  tesela_put_key_int(j, "operators", facts.operators);
  tesela_put_key_int(j, "unknown", facts.unknown);
  tesela_put_key(j, "moves");
  tesela_put_list(j);
  for (int32_t k = 0; (move = tesela_propagation_move(work->layouts, k)); k++) {
    tesela_put_object(j);
    tesela_put_key_text(j, "at", tesela_graph_node(work->in.graph, move->node)->name);
    tesela_put_key_int(j, "operand", move->operand);
    tesela_put_key_text(j, "buffer", tesela_graph_node(work->in.graph, move->buffer)->name);
    if (move->view >= 0) tesela_put_key_text(j, "view", tesela_graph_node(work->in.graph, move->view)->name);
    tesela_put_key_int(j, "from", move->from);
    tesela_put_key_int(j, "to", move->to);
    tesela_put_key_int(j, "price", move->price);
    tesela_put_end(j);
  }
  tesela_put_end(j);
  tesela_put_key(j, "graph");
  tesela_put_graph(j, work->placed);
}

/* The name of a tensor without a type; NULL if all have one. */
static const char *graph_untyped(const tesela_graph *graph) {
  const tesela_node *node;
  for (int32_t k = 0; (node = tesela_graph_node(graph, k)) != NULL; k++)
    if (node->dtype == TESELA_DTYPE_NONE) return node->name;
  return NULL;
}

/* What is printed instead of the table. */
static int assign_text(const cli_context *cli, const graph_work *work) {
  tesela_error err = {.at = -1};
  tesela_writer to = tile_stdout();
  const char *name = cli_value(cli, "loops");
  if (cli_has(cli, "hlo") && graph_untyped(work->placed)) {
    say_error(cli, "HLO text says the type of every tensor; %.60s has none", graph_untyped(work->placed));
    return CLI_BAD;
  }
  if (cli_has(cli, "hlo")) {
    tesela_status status = tesela_graph_print_hlo(work->placed, "main", &to, &err);
    return status == TESELA_OK ? CLI_YES : say_failure(cli, &err);
  }
  if (name) return graph_print_loops(cli, work, name);
  if (cli_has(cli, "padding")) return graph_print_padding(cli, work);
  graph_print_table(work);
  return say_printed(cli, tesela_propagation_explain(work->layouts, cli_has(cli, "proof"), &to, &err), &err);
}

static int graph_assign(const cli_context *cli, const graph_work *work) {
  if (cli->json) {
    tesela_json_out j = TESELA_JSON_OUT;
    tesela_put_object(&j.sink);
    tesela_error err = {.at = -1};
    assign_json(cli, &j.sink, work);
    if (work->placed && cli_has(cli, "padding") && !graph_padding_put(&j.sink, work, &err)) {
      tesela_json_out_free(&j);
      return say_failure(cli, &err);
    }
    return tile_print_json(&j);
  }
  return assign_text(cli, work);
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

static void graph_free(graph_work *work) {
  tesela_graph_destroy(work->placed);
  tesela_propagation_destroy(work->layouts);
  tesela_graph_destroy(work->in.graph);
}

static void graph_note_copies(const cli_context *cli, const graph_work *work) {
  tesela_propagate_facts facts = tesela_propagation_facts_of(work->layouts);
  if (facts.n_copies > 0)
    say_note(cli, "%" PRId32 " cop%s of views, %" PRId64 " elements", facts.n_copies,
             facts.n_copies == 1 ? "y" : "ies", facts.copied);
}

/* Layouts; to materialise is to copy views, and if that does not do, to move to and from one element per stick. */
static tesela_status graph_lay_out(tesela_propagate_options options, bool materialise, graph_work *work,
                                   tesela_error *err) {
  options.copies = options.copies || materialise;
  tesela_status status =
      tesela_graph_propagate(&work->layouts, work->in.graph, &work->in.target, &options, err);
  if (status != TESELA_OK || !materialise || tesela_propagation_facts_of(work->layouts).ok) return status;
  tesela_propagation_destroy(work->layouts);
  work->layouts = NULL;
  options.spread = options.compact = true;
  return tesela_graph_propagate(&work->layouts, work->in.graph, &work->in.target, &options, err);
}

/* Why there are no layouts; where moves do not help, whether --materialise does. CLI_NO when it is said. */
static int graph_say_why(const cli_context *cli, const tesela_propagate_options *options, graph_work *work) {
  tesela_writer to = tile_stdout();
  tesela_error err = {.at = -1};
  int printed = say_printed(cli, tesela_propagation_explain(work->layouts, false, &to, &err), &err);
  if (printed != CLI_YES) return printed;
  if (options->mode == TESELA_PROPAGATE_STRICT || cli_has(cli, "materialise")) return CLI_NO;
  tesela_propagation_destroy(work->layouts);
  work->layouts = NULL;
  tesela_status status = graph_lay_out(*options, true, work, &err);
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
  int status = graph_input_read(cli, cli->arg[1], &work->in);
  if (status != CLI_YES) return status;
  if (graph_lay_out(options, cli_has(cli, "materialise"), work, &err) != TESELA_OK)
    return say_failure(cli, &err);
  if (!tesela_propagation_facts_of(work->layouts).ok) {
    status = cli->json ? graph_assign(cli, work) : graph_say_why(cli, &options, work);
    return status == CLI_YES ? CLI_NO : status;
  }
  if (tesela_graph_apply(&work->placed, work->layouts, &err) != TESELA_OK) return say_failure(cli, &err);
  graph_note_copies(cli, work);
  return CLI_YES;
}

int cmd_graph(const cli_context *cli) {
  static const struct {
    const char *name;
    bool strict;
    int (*run)(const cli_context *cli, const graph_work *work);
  } tasks[] = {{"propagate", true, graph_assign},
               {"assign", false, graph_assign},
               {"plan", false, graph_plan},
               {"run", false, graph_run}};
  char quote[SAY_QUOTE];
  for (size_t k = 0; k < sizeof tasks / sizeof *tasks; k++) {
    if (strcmp(cli->arg[0], tasks[k].name) != 0) continue;
    if (tasks[k].run == graph_plan && graph_is_csv(cli->arg[1])) return graph_plan_csv(cli);
    graph_work work = {0};
    int status = graph_place(cli, tasks[k].strict, &work);
    if (status == CLI_YES) status = tasks[k].run(cli, &work);
    graph_free(&work);
    return status;
  }
  return say_usage(cli, "graph does propagate, assign, plan or run, not %s", say_quote(cli->arg[0], quote));
}
