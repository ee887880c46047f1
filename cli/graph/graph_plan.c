/* SPDX-License-Identifier: Apache-2.0 */
/* graph_plan.c - graph plan: offsets for the buffers of a program, or of a list of buffers in CSV. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/graph.h>

#include "graph/graph_print.h"
#include "main/say.h"
#include "main/tile_input.h"

static void plan_arena_words(const char *name, const tesela_arena_facts *facts) {
  printf("%-11s peak %" PRId64 " bytes, %s; at most %" PRId64 " live, fragmentation %.1f%%\n", name,
         facts->peak, facts->proven ? "proven minimal" : "not proven minimal", facts->live,
         100 * tesela_arena_fragmentation(facts));
  if (!facts->proven) printf("%-11s lower bound %" PRId64 " bytes\n", "", facts->bound);
  if (facts->n_spilled > 0)
    printf("%-11s %" PRId32 " buffers of %" PRId64 " bytes did not fit\n", "", facts->n_spilled,
           facts->spilled);
}

static int plan_no_memory(const cli_context *cli, int32_t n) {
  say_error(cli, "no memory for %" PRId32 " buffers", n);
  return CLI_FAILED;
}

/* ---- buffers of a program ------------------------------------------------------------------------------------- */

/* The places as *n rows; the caller frees them. */
static graph_plan_row *plan_rows(const graph_work *work, const tesela_graph_memory *memory, int32_t *n) {
  const tesela_graph_place *place;
  for (*n = 0; tesela_graph_memory_place(memory, *n);) ++*n;
  graph_plan_row *rows = calloc((size_t)*n + 1, sizeof *rows);
  for (int32_t k = 0; rows && (place = tesela_graph_memory_place(memory, k)); k++) {
    rows[k] = (graph_plan_row){.name = tesela_graph_node(work->placed, place->node)->name,
                               .where = graph_place_where(place),
                               .lower = place->lower,
                               .upper = place->upper,
                               .bytes = place->bytes,
                               .offset = place->external ? -1 : place->offset,
                               .arena = place->scratchpad};
    if (!place->external && place->in_place_of >= 0)
      rows[k].in_place_of = tesela_graph_node(work->placed, place->in_place_of)->name;
  }
  return rows;
}

static int plan_words(const cli_context *cli, const graph_work *work, const tesela_graph_memory *memory) {
  tesela_graph_memory_facts facts = tesela_graph_memory_facts_of(memory);
  int32_t n;
  graph_plan_row *rows = plan_rows(work, memory, &n);
  if (!rows) return plan_no_memory(cli, n);
  bool printed = graph_plan_print(cli, n, rows);
  free(rows);
  if (!printed) return plan_no_memory(cli, n);
  plan_arena_words("arena", &facts.arena);
  if (facts.scratchpad.total > 0) plan_arena_words("scratchpad", &facts.scratchpad);
  printf("%-11s %" PRId64 " bytes if no memory is reused, %" PRId64 " by first fit; host tensors: %" PRId64
         "\n",
         "compare", facts.naive, facts.arena.first_fit, facts.host_bytes);
  printf("%-11s %" PRId64 " bytes of inputs and outputs; %" PRId32
         " results reuse the memory of an operand\n",
         "outside", facts.external, facts.reused);
  if (facts.traffic_saved > 0)
    printf("%-11s %" PRId64 " of %" PRId64 " bytes stay in the scratchpad\n", "traffic", facts.traffic_saved,
           facts.traffic);
  return CLI_YES;
}

/* The last node at which a place is used: by its buffer, or by a result that reuses it. */
static int32_t plan_upper(const tesela_graph_memory *memory, const tesela_graph_place *place) {
  const tesela_graph_place *next;
  int32_t upper = place->upper, node = place->node;
  for (int32_t k = 0; (next = tesela_graph_memory_place(memory, k)); k++) /* in the order of nodes */
    if (next->in_place_of == node) {
      node = next->node;
      upper = next->upper > upper ? next->upper : upper;
    }
  return upper;
}

/* The buffers in the arena as CSV, for other planners. */
static int plan_csv(const cli_context *cli, const graph_work *work, const tesela_graph_memory *memory) {
  const tesela_graph_place *place;
  int32_t n = 0, m = 0;
  while (tesela_graph_memory_place(memory, n)) n++;
  tesela_arena_buffer *buffers = calloc((size_t)n + 1, sizeof *buffers);
  if (!buffers) return plan_no_memory(cli, n);
  for (int32_t k = 0; (place = tesela_graph_memory_place(memory, k)); k++) {
    if (place->external || place->scratchpad || place->in_place_of >= 0) continue;
    tesela_arena_buffer *buffer = &buffers[m++];
    snprintf(buffer->id, sizeof buffer->id, "%.*s", TESELA_ARENA_ID - 1,
             tesela_graph_node(work->placed, place->node)->name);
    buffer->lower = place->lower;
    buffer->upper = plan_upper(memory, place);
    buffer->size = place->bytes;
    buffer->offset = place->offset;
  }
  tesela_arena_write_csv(m, buffers, &cli_stdout, NULL);
  free(buffers);
  return CLI_YES;
}

int graph_plan(const cli_context *cli, graph_ask *ask, const graph_work *work) {
  tesela_graph_memory *memory;
  tesela_status done = request_plan_memory(&ask->r, work, &memory);
  if (done != TESELA_OK) return graph_say(cli, ask, done);
  int status = cli_has(cli, "csv") ? plan_csv(cli, work, memory) : plan_words(cli, work, memory);
  tesela_graph_memory_destroy(memory);
  return status;
}

/* ---- a list of buffers ------------------------------------------------------------------------------------------- */

bool graph_is_csv(const char *path) {
  size_t length = strlen(path);
  return length > 4 && strcmp(path + length - 4, ".csv") == 0;
}

static int csv_print(const cli_context *cli, int32_t n, const tesela_arena_buffer *buffers,
                     const tesela_arena_facts *facts) {
  if (cli_has(cli, "csv")) {
    tesela_arena_write_csv(n, buffers, &cli_stdout, NULL);
    return CLI_YES;
  }
  graph_plan_row *rows = calloc((size_t)n + 1, sizeof *rows);
  if (!rows) return plan_no_memory(cli, n);
  for (int32_t k = 0; k < n; k++)
    rows[k] = (graph_plan_row){.name = buffers[k].id,
                               .where = "arena",
                               .lower = buffers[k].lower,
                               .upper = buffers[k].upper,
                               .bytes = buffers[k].size,
                               .offset = buffers[k].offset};
  bool printed = graph_plan_print(cli, n, rows);
  free(rows);
  if (!printed) return plan_no_memory(cli, n);
  printf("%-11s %" PRId32 ", %" PRId64 " bytes in total\n", "buffers", n, facts->total);
  plan_arena_words("arena", facts);
  printf("%-11s %" PRId64 " bytes by first fit\n", "compare", facts->first_fit);
  return CLI_YES;
}

int graph_plan_csv(const cli_context *cli, graph_ask *ask) {
  tesela_arena_buffer *buffers;
  tesela_arena_facts facts;
  int32_t n;
  tesela_status done = request_plan_csv(&ask->r, &buffers, &n, &facts);
  int status = done == TESELA_OK ? csv_print(cli, n, buffers, &facts) : graph_say(cli, ask, done);
  tesela_arena_free(buffers, NULL);
  return status;
}
