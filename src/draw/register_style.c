/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_style.c - the styles of tables, and their search by name. The styles are rows of register_styles.inc.
 */
#include "draw/register_table.h"

#include <stdio.h>

#define STYLE_LINE(left, fill, cross, right) \
  { left, fill, cross, right }
#define STYLE_CELLS(left, between, right) \
  { left, between, right }
#define STYLE_NONE \
  { NULL, NULL, NULL, NULL }

static const tesela_draw_style table_styles[] = {
#define TESELA__STYLE(name, alias, summary, flags, above, under, between, below, row, heading) \
  {name, alias, summary},
#include "draw/register_styles.inc"
#undef TESELA__STYLE
};

enum {
  STYLE_PAD = TESELA__TABLE_PAD,
  STYLE_CENTER = TESELA__TABLE_CENTER,
  STYLE_COLONS = TESELA__TABLE_COLONS,
  STYLE_HIDE_ABOVE = TESELA__TABLE_HIDE_ABOVE,
  STYLE_HIDE_BELOW = TESELA__TABLE_HIDE_BELOW,
  STYLE_DATA = TESELA__TABLE_DATA,
  STYLE_EXACT = TESELA__TABLE_EXACT,
  STYLE_BLANK_LINE = TESELA__TABLE_BLANK_LINE,
  STYLE_JSON = TESELA__TABLE_JSON,
};

static const tesela__table_look table_looks[] = {
#define TESELA__STYLE(name, alias, summary, flags, above, under, between, below, row, heading) \
  {flags, above, under, between, below, row, heading},
#include "draw/register_styles.inc"
#undef TESELA__STYLE
};

#undef STYLE_LINE
#undef STYLE_CELLS
#undef STYLE_NONE

enum { STYLE_COUNT = sizeof table_styles / sizeof table_styles[0], STYLE_LENGTH = 24 };

const tesela_draw_style *tesela_draw_styles(int32_t *n) {
  if (n) *n = STYLE_COUNT;
  return table_styles;
}

static size_t style_distance(const char *a, const char *b) {
  return tesela__edits(a, strlen(a), b, strlen(b));
}

/* Distance of a name from a style, in edits; 0 if one contains the other. */
static size_t style_unlike(const char *name, const tesela_draw_style *style) {
  if (strlen(name) > 2 && (strstr(style->name, name) || strstr(name, style->name))) return 0;
  size_t least = style_distance(name, style->name), other = style_distance(name, style->alias);
  return style->alias[0] && other < least ? other : least;
}

/* For a message: "; similar: a, b, c", up to three styles with similar names, or else a list of common ones. */
static void style_near(const char *name, char text[128]) {
  size_t used = 0;
  int found = 0, length = strlen(name) < STYLE_LENGTH ? (int)strlen(name) : 0;
  for (int far = 0; far <= 3 && 2 * far < length && found < 3; far++)
    for (int i = 0; i < STYLE_COUNT && found < 3; i++)
      if (style_unlike(name, &table_styles[i]) == (size_t)far)
        used += (size_t)snprintf(text + used, 128 - used, "%s%s", found++ == 0 ? "; similar: " : ", ",
                                 table_styles[i].name);
  if (found == 0) snprintf(text, 128, "; expected simple, plain, grid, pipe, html, csv, json or another");
}

tesela_status tesela__table_look_of(const char *name, const tesela__table_look **look, tesela_error *err) {
  char near[128];
  if (!name) name = table_styles[0].name;
  for (int i = 0; i < STYLE_COUNT; i++) {
    const tesela_draw_style *style = &table_styles[i];
    if (strcmp(name, style->name) != 0 && (style->alias[0] == '\0' || strcmp(name, style->alias) != 0))
      continue;
    *look = &table_looks[i];
    return TESELA_OK;
  }
  style_near(name, near);
  return tesela__fail(err, TESELA_E_INVALID, -1, "unknown table style '%.40s'%s", name, near);
}
