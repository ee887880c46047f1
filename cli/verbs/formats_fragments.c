/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_fragments.c - the catalogue of fragments as a table, and as JSON.
 */
#include "verbs/formats.h"

#include <inttypes.h>
#include <string.h>

#include "expression.h"
#include "main/tile_input.h"

enum { NAME = 80, SHAPE = 48, COLUMNS = 6 };

/* A name with the number n in place of N. */
static void put_number(const char *name, int32_t n, char text[NAME]) {
  const char *at = strstr(name, "nN");
  if (at)
    snprintf(text, NAME, "%.*s%" PRId32 "%s", (int)(at + 1 - name), name, n, at + 2);
  else
    snprintf(text, NAME, "%s", name);
}

/* The layout of an entry; for a family, the one with this n. */
static bool layout_of(const tesela_fragment *entry, int32_t n, tesela_register *layout) {
  char name[NAME];
  put_number(entry->name, n, name);
  return tesela_fragment_find(name, strlen(name), layout, NULL, NULL) == TESELA_OK;
}

/* "16 x 8"; "64 x N" for an extent that grows with n. */
static void put_shape(const tesela_fragment *entry, char text[SHAPE]) {
  tesela_register one, two;
  size_t used = 0;
  text[0] = '\0';
  if (!layout_of(entry, entry->n_step, &one) || !layout_of(entry, 2 * entry->n_step, &two)) return;
  for (int32_t d = 0; d < one.rank && used < SHAPE; d++) {
    const char *by = d > 0 ? " x " : "";
    int n = one.shape[d] == two.shape[d] ? snprintf(text + used, SHAPE - used, "%s%" PRId64, by, one.shape[d])
                                         : snprintf(text + used, SHAPE - used, "%sN", by);
    used += (size_t)n;
  }
}

/* The texts of a line, and storage for some of them. */
typedef struct line {
  char shape[SHAPE], row[2 * NAME];
  const char *cell[COLUMNS];
} line;

static void line_of(const tesela_fragment *entry, line *out) {
  put_shape(entry, out->shape);
  snprintf(out->row, sizeof out->row, "%s%s%s", entry->block, entry->block[0] ? "; " : "", entry->row);
  const char *cells[COLUMNS] = {entry->name, out->shape, entry->types,
                                out->row,    entry->col, entry->expression};
  memcpy(out->cell, cells, sizeof cells);
}

static int print_table(const tesela_fragment *entry, int32_t n) {
  static const char *const headings[COLUMNS] = {"name", "shape", "types", "row", "column", "expression"};
  int width[COLUMNS];
  line row;
  for (int c = 0; c < COLUMNS; c++) width[c] = (int)strlen(headings[c]);
  for (int32_t i = 0; i < n; i++) {
    line_of(&entry[i], &row);
    for (int c = 0; c < COLUMNS; c++)
      if ((int)strlen(row.cell[c]) > width[c]) width[c] = (int)strlen(row.cell[c]);
  }
  for (int32_t i = -1; i < n && !ferror(stdout); i++) {
    if (i >= 0) line_of(&entry[i], &row);
    for (int c = 0; c < COLUMNS; c++) {
      const char *text = i < 0 ? headings[c] : row.cell[c];
      if (c + 1 < COLUMNS)
        printf("%-*s  ", width[c], text);
      else
        printf("%s\n", text);
    }
  }
  return CLI_YES;
}

/* A list of objects; shape has null for the extent that is N. */
static int print_json(const tesela_fragment *entry, int32_t n) {
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_put_list(&j.sink);
  for (int32_t i = 0; i < n; i++) {
    tesela_register one, two;
    tesela_put_object(&j.sink);
    expression_put_fragment(&j.sink, &entry[i]);
    tesela_put_key_text(&j.sink, "expression", entry[i].expression);
    tesela_put_key_list(&j.sink, "shape");
    if (layout_of(&entry[i], entry[i].n_step, &one) && layout_of(&entry[i], 2 * entry[i].n_step, &two))
      for (int32_t d = 0; d < one.rank; d++)
        one.shape[d] == two.shape[d] ? tesela_put_int(&j.sink, one.shape[d]) : tesela_put_null(&j.sink);
    tesela_put_end(&j.sink);
    tesela_put_end(&j.sink);
  }
  return tile_print_json(&j);
}

int formats_fragments(const cli_context *cli) {
  int32_t n;
  const tesela_fragment *entry = tesela_fragments(&n);
  return cli->json ? print_json(entry, n) : print_table(entry, n);
}
