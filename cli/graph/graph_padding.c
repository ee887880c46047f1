/* SPDX-License-Identifier: Apache-2.0 */
/* graph_padding.c - graph --padding: the values in padding lanes, the operators that would read them, and fills that help. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/graph.h>

#include "graph/graph_print.h"
#include "main/say.h"

enum { PADDING_ROWS = 200, PADDING_TYPE_SHOWN = 40 };

static const char *padding_advice(const tesela_padding_read *read, char text[2 * PADDING_TEXT]) {
  char value[PADDING_TEXT];
  if (read->verdict == TESELA_PADDING_FINE) return "fine";
  if (read->verdict == TESELA_PADDING_MASK) return "mask it";
  snprintf(text, (size_t)2 * PADDING_TEXT, "fill it with %s, or mask it", padding_text(&read->needed, value));
  return text;
}

/* ---- tables -------------------------------------------------------------------------------------------------- */

static void padding_buffers(const graph_work *work, const tesela_padding *padding) {
  char name[GRAPH_NAME_TEXT], shape[GRAPH_TYPE_TEXT], text[PADDING_TEXT];
  int32_t count = tesela_graph_count(work->placed), n = 0;
  int wide = 6, type = 5;
  int64_t places;
  for (int32_t k = 0; k < count; k++) {
    const tesela_node *node = padding_row(work, k, &places);
    if (!node) continue;
    int length = (int)strlen(graph_name_text(node->name, name)),
        shown = (int)strlen(graph_shape_text(node, shape));
    if (length > wide) wide = length;
    if (shown > type) type = shown > PADDING_TYPE_SHOWN ? PADDING_TYPE_SHOWN : shown;
  }
  printf("%-*s  %-*s  %14s  holds\n", wide, "buffer", type, "shape", "padding places");
  for (int32_t k = 0; k < count; k++) {
    const tesela_node *node = padding_row(work, k, &places);
    if (!node || n++ >= PADDING_ROWS) continue;
    tesela_padding_state state = tesela_padding_state_of(padding, k);
    printf("%-*s  %-*s  %14" PRId64 "  %s\n", wide, graph_name_text(node->name, name), type,
           graph_shape_text(node, shape), places, padding_text(&state, text));
  }
  if (n > PADDING_ROWS) printf(".. %" PRId32 " more; --json lists all\n", n - PADDING_ROWS);
}

/* Print the reads; returns the number of harmless ones. */
static int32_t padding_reads(const graph_work *work, const tesela_padding *padding, int32_t *count) {
  char name[GRAPH_NAME_TEXT], operand[GRAPH_NAME_TEXT], needs[PADDING_TEXT], finds[PADDING_TEXT];
  char advice[2 * PADDING_TEXT], indices[48];
  const tesela_padding_read *read;
  int wide[2] = {4, 7};
  int32_t fine = 0;
  for (*count = 0; (read = tesela_padding_read_at(padding, *count)); (*count)++) {
    const tesela_node *node = tesela_graph_node(work->placed, read->node);
    int length[2] = {(int)strlen(graph_name_text(node->name, name)),
                     (int)strlen(graph_name_text(
                         tesela_graph_node(work->placed, node->operand[read->operand])->name, operand))};
    for (int i = 0; i < 2; i++)
      if (length[i] > wide[i]) wide[i] = length[i];
    fine += read->verdict == TESELA_PADDING_FINE;
  }
  if (*count > 0)
    printf("\n%-*s  %-*s  dim  %-12s  %-9s  %s\n", wide[0], "node", wide[1], "operand", "reads", "needs",
           "finds");
  for (int32_t k = 0; k < PADDING_ROWS && (read = tesela_padding_read_at(padding, k)); k++) {
    const tesela_node *node = tesela_graph_node(work->placed, read->node);
    snprintf(indices, sizeof indices, "%" PRId64 "..%" PRId64, read->from, read->to - 1);
    printf("%-*s  %-*s  %3" PRId32 "  %-12s  %-9s  %-9s  %s\n", wide[0], graph_name_text(node->name, name),
           wide[1],
           graph_name_text(tesela_graph_node(work->placed, node->operand[read->operand])->name, operand),
           read->dim, indices, padding_text(&read->needed, needs), padding_text(&read->found, finds),
           padding_advice(read, advice));
  }
  if (*count > PADDING_ROWS) printf(".. %" PRId32 " more; --json lists all\n", *count - PADDING_ROWS);
  return fine;
}

/* ---- fills --------------------------------------------------------------------------------------------------- */

static void padding_say_fills(const graph_work *work, const tesela_padding_fill *fill, int32_t fine,
                              int32_t best, int32_t count) {
  char name[GRAPH_NAME_TEXT];
  int32_t input = 0, said = 0;
  printf("\n%" PRId32 " of %" PRId32 " reads are harmless without filling inputs", fine, count);
  if (best == fine) {
    printf(fine < count ? "; filling inputs does not help\n" : "\n");
    return;
  }
  printf("; %" PRId32 " if the padding of inputs is filled:", best);
  for (int32_t k = 0; k < tesela_graph_count(work->placed); k++) {
    const tesela_node *node = tesela_graph_node(work->placed, k);
    if (node->op != TESELA_OP_INPUT || fill[input++].pad == TESELA_PAD_LEAVE) continue;
    if (said++ < PADDING_ROWS)
      printf("%s %s with %s", said > 1 ? "," : "", graph_name_text(node->name, name),
             padding_fills[fill[input - 1].pad]);
  }
  printf(said > PADDING_ROWS ? ", ..\n" : "\n");
}

int graph_print_padding(const cli_context *cli, const graph_work *work) {
  tesela_padding *padding;
  tesela_error err = {.at = -1};
  int32_t best = 0, count;
  if (tesela_graph_padding(&padding, work->placed, NULL, &err) != TESELA_OK) return say_failure(cli, &err);
  tesela_padding_fill *fill = padding_suggested(work, padding, &best, &err);
  if (fill) {
    padding_buffers(work, padding);
    int32_t fine = padding_reads(work, padding, &count);
    if (count > 0)
      padding_say_fills(work, fill, fine, best, count);
    else
      printf("\nNo operator reads padding.\n");
  }
  tesela_padding_destroy(padding);
  bool ok = fill != NULL;
  free(fill);
  return ok ? CLI_YES : say_failure(cli, &err);
}
