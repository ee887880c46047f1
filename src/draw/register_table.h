/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_table.h - shared by the files that draw register layouts: styles of tables, and odometers over digits.
 */
#ifndef TESELA_SRC_REGISTER_TABLE_H
#define TESELA_SRC_REGISTER_TABLE_H

#include <tesela/draw.h>
#include <tesela/notation.h>

#include "base/base.h"

/* ---- register_style.c ---------------------------------------------------------------------------------- */

enum {
  TESELA__TABLE_PAD = 1,          /* a blank on both sides of a cell */
  TESELA__TABLE_CENTER = 2,       /* cells are centred; default: left */
  TESELA__TABLE_COLONS = 4,       /* rules have a colon at the start of each cell */
  TESELA__TABLE_HIDE_ABOVE = 8,   /* no rule above a heading */
  TESELA__TABLE_HIDE_BELOW = 16,  /* no rule at the end of a table with a heading */
  TESELA__TABLE_DATA = 32,        /* for programs: no colour */
  TESELA__TABLE_EXACT = 64,       /* columns are not aligned */
  TESELA__TABLE_BLANK_LINE = 128, /* a blank line between tables */
  TESELA__TABLE_JSON = 256,
};

/* A rule: left end, repeated character (NULL: print only `left`), crossing, right end; left NULL: no rule. */
typedef struct tesela__table_line {
  const char *left, *fill, *cross, *right;
} tesela__table_line;

typedef struct tesela__table_cells {
  const char *left, *between, *right;
} tesela__table_cells;

typedef struct tesela__table_look {
  unsigned flags;
  tesela__table_line above, under_heading, between, below;
  tesela__table_cells row, heading;
} tesela__table_look;

/* Find a style by name or alias; NULL: simple. TESELA_E_INVALID for an unknown name; the message lists similar ones. */
tesela_status tesela__table_look_of(const char *name, const tesela__table_look **look, tesela_error *err);

/* ---- register_view.c ----------------------------------------------------------------------------------- */

/* An odometer: digits, slowest first; each adds weight * its value to one of several sums. */
typedef struct tesela__digits {
  int32_t n;
  int64_t count; /* product of the extents */
  int64_t sum[TESELA_MAX_RANK];
  struct {
    int64_t extent, weight, at;
    int32_t sum;
  } digit[TESELA_REGISTER_MODES];
} tesela__digits;

/* A picture: tables of rows of columns; copies: the threads of one cell. */
typedef struct tesela__register_view {
  int32_t n_sums; /* 2: thread and local id; by thread: the rank, for an index */
  tesela__digits tables, rows, columns, copies;
  int64_t last_row[TESELA_MAX_RANK]; /* sums of the last row: the largest of all rows */
} tesela__register_view;

/* The layout must be valid (tesela_register_check). */
void tesela__register_view_make(tesela__register_view *view, const tesela_register *layout, bool by_thread);

/* Advance to the next value; from the last one to the first. */
void tesela__digits_step(tesela__digits *digits);

#endif
