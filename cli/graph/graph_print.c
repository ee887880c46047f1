/* SPDX-License-Identifier: Apache-2.0 */
/* graph_print.c - tables of a program with layouts; the loops of one operator. */
#include "graph/graph_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tesela/graph.h>

#include "main/say.h"
#include "main/tile_input.h"

const char *graph_shape_text(const tesela_node *node, char text[GRAPH_TYPE_TEXT]) {
  return graph_type_text(node->dtype, node->bits, node->rank, node->shape, text);
}

const char *graph_name_text(const char *name, char text[GRAPH_NAME_TEXT]) {
  size_t length = strlen(name), shown = length;
  if (length >= GRAPH_NAME_TEXT)
    for (shown = GRAPH_NAME_TEXT - 3; shown > 0 && ((unsigned char)name[shown] & 0xc0) == 0x80;) shown--;
  snprintf(text, GRAPH_NAME_TEXT, "%.*s%s", (int)shown, name, shown < length ? ".." : "");
  return text;
}

/* The cells of a row, in the order of the columns. */
enum {
  COLUMN_NAME,
  COLUMN_OP,
  COLUMN_SHAPE,
  COLUMN_STICK,
  COLUMN_SIZE,
  COLUMN_BYTES,
  COLUMN_PADDING,
  COLUMNS
};
enum { COLUMN_TEXT = 128 };

typedef char graph_row[COLUMNS][COLUMN_TEXT];

static void row_layout(const tesela_device_layout *layout, graph_row row) {
  tesela_device_sizes sizes;
  int32_t stick = tesela_device_stick(layout);
  size_t used = 0;
  if (stick >= 0)
    snprintf(row[COLUMN_STICK], COLUMN_TEXT, "%" PRId32, stick);
  else
    snprintf(row[COLUMN_STICK], COLUMN_TEXT, "%s", stick == TESELA_STICK_SPARSE ? "sparse" : "several");
  for (int32_t k = 0; k < layout->n_dims && used < COLUMN_TEXT; k++)
    used += (size_t)snprintf(row[COLUMN_SIZE] + used, COLUMN_TEXT - used, "%s%" PRId64, k ? "," : "",
                             layout->dim[k].extent);
  if (tesela_device_sizes_of(layout, NULL, &sizes, NULL) != TESELA_OK) return;
  snprintf(row[COLUMN_BYTES], COLUMN_TEXT, "%" PRId64, sizes.device_bytes);
  if (sizes.places > 0)
    snprintf(row[COLUMN_PADDING], COLUMN_TEXT, "%.1f%%",
             100.0 * (double)sizes.padding / (double)sizes.places);
}

static void row_make(const tesela_graph *graph, const tesela_node *node, graph_row row) {
  char shape[GRAPH_TYPE_TEXT], name[GRAPH_NAME_TEXT];
  memset(row, 0, sizeof(graph_row));
  snprintf(row[COLUMN_NAME], COLUMN_TEXT, "%s", graph_name_text(node->name, name));
  snprintf(row[COLUMN_OP], COLUMN_TEXT, "%s%s%.20s", node->opcode ? node->opcode : tesela_op_name(node->op),
           node->fn ? " " : "", node->fn ? tesela_fn_name(node->fn) : "");
  snprintf(row[COLUMN_SHAPE], COLUMN_TEXT, "%s", graph_shape_text(node, shape));
  if (node->layout)
    row_layout(node->layout, row);
  else if (node->buffer != tesela_graph_find(graph, node->name))
    snprintf(row[COLUMN_STICK], COLUMN_TEXT, "(%s)",
             graph_name_text(tesela_graph_node(graph, node->buffer)->name, name));
}

void graph_print_table(const graph_work *work) {
  static const char *const heads[COLUMNS] = {"name",        "operator", "shape",  "stick",
                                             "device size", "bytes",    "padding"};
  int width[COLUMNS];
  const tesela_node *node;
  graph_row row;
  for (int c = 0; c < COLUMNS; c++) width[c] = (int)strlen(heads[c]);
  for (int32_t k = 0; (node = tesela_graph_node(work->placed, k)); k++) {
    row_make(work->placed, node, row);
    for (int c = 0; c < COLUMNS; c++)
      if ((int)strlen(row[c]) > width[c]) width[c] = (int)strlen(row[c]);
  }
  for (int32_t k = -1; k < 0 || (node = tesela_graph_node(work->placed, k)); k++) {
    if (k >= 0) row_make(work->placed, node, row);
    int last = COLUMNS - 1; /* no blanks at the end of a line */
    while (k >= 0 && last > 0 && row[last][0] == '\0') last--;
    for (int c = 0; c <= last; c++) {
      bool right = c == COLUMN_BYTES || c == COLUMN_PADDING;
      printf("%s%*s", c ? "  " : "", right ? width[c] : c == last ? 0 : -width[c], k < 0 ? heads[c] : row[c]);
    }
    putchar('\n');
  }
  putchar('\n');
}

/* ---- loops ------------------------------------------------------------------------------------------------------ */

static int print_division(const cli_context *cli, const graph_work *work, int32_t node, int32_t cores) {
  tesela_division division;
  tesela_op_loops loops;
  tesela_core_share share;
  tesela_error err = {.at = -1};
  if (tesela_graph_loops(work->placed, node, &loops, &err) != TESELA_OK ||
      tesela_graph_divide(work->placed, node, cores, NULL, &division, &err) != TESELA_OK)
    return say_failure(cli, &err);
  printf("\n%" PRId32 " of %" PRId32 " cores used, factors", division.cores, cores);
  for (int32_t k = 0; k < division.n; k++) printf("%s%" PRId64, k ? " x " : " ", division.factor[k]);
  if (division.folded >= 0) printf("; loop %" PRId32 " is a reduction: partial results", division.folded);
  printf("\n%4s  %-*s  %12s  %12s  %12s\n", "core", 24, "first counters", "first place", "last place",
         "places");
  for (int32_t c = 0; c < division.cores && c < 64; c++) {
    char text[COLUMN_TEXT];
    size_t used = 0;
    tesela_core_view view;
    if (tesela_graph_share(&loops, &division, c, &share, &err) != TESELA_OK ||
        tesela_graph_core_view(work->placed, node, &loops, &share, -1, &view, &err) != TESELA_OK)
      return say_failure(cli, &err);
    for (int32_t k = 0; k < loops.n && used < sizeof text; k++)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId64, k ? "," : "", share.start[k]);
    printf("%4" PRId32 "  %-24s  %12" PRId64 "  %12" PRId64 "  %12" PRId64 "\n", c, text, view.first,
           view.last, view.places);
  }
  return CLI_YES;
}

int graph_print_loops(const cli_context *cli, const graph_work *work, const char *name) {
  tesela_error err = {.at = -1};
  int64_t cores;
  int32_t node;
  if (!graph_work_node(work->placed, name, &node, &err)) return say_failure(cli, &err);
  if (!cli_integer(cli, "cores", 1, 1 << 16, 0, &cores)) return CLI_BAD;
  if (tesela_graph_print_loops(work->placed, node, &cli_stdout, &err) != TESELA_OK)
    return say_failure(cli, &err);
  return cores > 0 ? print_division(cli, work, node, (int32_t)cores) : CLI_YES;
}
