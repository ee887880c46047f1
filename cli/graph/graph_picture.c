/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_picture.c - a memory plan as a table and as a picture in which each buffer is a letter.
 *
 * The table lists the letters, so the pictures are drawn first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/draw.h>

#include "graph/graph_print.h"
#include "main/process.h"

enum { PLAN_ROWS = 200, PLAN_HEIGHT = 16, PLAN_ARENAS = 2 };

static int picture_write(void *user, const char *text, size_t length) {
  return fwrite(text, 1, length, user) != length;
}

/* Draw the buffers of one arena; those in the picture get their marks. The caller frees *text; it is NULL if nothing was
 * drawn. Returns false without memory. */
static bool picture_of(const cli_context *cli, int32_t n, const graph_plan_row *rows, int32_t arena,
                       char *marks, char **text) {
  tesela_draw_arena_options options = {
      .width = cli->out.width, .max_rows = PLAN_HEIGHT, .ascii = !cli->out.utf8, .color = cli->out.color};
  tesela_arena_buffer *buffers = calloc((size_t)n + 1, sizeof *buffers);
  char *own = malloc((size_t)n + 1);
  process_text picture;
  bool done = buffers && own && process_text_begin(&picture);
  *text = NULL;
  for (int32_t k = 0; done && k < n; k++) {
    buffers[k].lower = rows[k].lower;
    buffers[k].upper = rows[k].upper;
    buffers[k].size = rows[k].bytes;
    buffers[k].offset = rows[k].arena == arena ? rows[k].offset : TESELA_ARENA_FREE;
  }
  if (done) {
    tesela_writer to = {picture_write, picture.file};
    tesela_status status = tesela_draw_arena(n, buffers, &options, own, &to, NULL);
    for (int32_t k = 0; status == TESELA_OK && k < n; k++)
      if (own[k] != ' ') marks[k] = own[k];
    *text = process_text_end(&picture);
    done = *text && status != TESELA_E_MEMORY;
    if (!done || status != TESELA_OK) {
      free(*text);
      *text = NULL;
    }
  }
  free(buffers);
  free(own);
  return done;
}

static void plan_table(int32_t n, const graph_plan_row *rows, const char *marks) {
  char name[GRAPH_NAME_TEXT], steps[48];
  int width = 6;
  for (int32_t k = 0; k < n && k < PLAN_ROWS; k++) {
    int length = (int)strlen(graph_name_text(rows[k].name, name));
    if (length > width) width = length;
  }
  printf("   %-*s  %12s  %11s  %-10s  %12s\n", width, "buffer", "bytes", "steps", "where", "offset");
  for (int32_t k = 0; k < n && k < PLAN_ROWS; k++) {
    const graph_plan_row *row = &rows[k];
    snprintf(steps, sizeof steps, "%" PRId64 "..%" PRId64, row->lower, row->upper - 1);
    printf("%c  %-*s  %12" PRId64 "  %11s  %-10s  ", marks[k], width, graph_name_text(row->name, name),
           row->bytes, row->lower < row->upper ? steps : "-", row->where);
    if (row->offset < 0)
      printf("%12s", "-");
    else
      printf("%12" PRId64, row->offset);
    if (row->in_place_of) printf("  reuses %s", graph_name_text(row->in_place_of, name));
    putchar('\n');
  }
  if (n > PLAN_ROWS) printf(".. %" PRId32 " more; --json lists all\n", n - PLAN_ROWS);
}

bool graph_plan_print(const cli_context *cli, int32_t n, const graph_plan_row *rows) {
  char *marks = malloc((size_t)n + 1), *text[PLAN_ARENAS] = {NULL, NULL};
  bool done = marks != NULL;
  if (done) memset(marks, ' ', (size_t)n + 1);
  for (int32_t a = 0; done && a < PLAN_ARENAS; a++) done = picture_of(cli, n, rows, a, marks, &text[a]);
  if (done) plan_table(n, rows, marks);
  for (int32_t a = 0; a < PLAN_ARENAS; a++) {
    if (done && text[a] && *text[a]) printf("\n%s", text[a]);
    free(text[a]);
  }
  if (done) putchar('\n');
  free(marks);
  return done;
}
