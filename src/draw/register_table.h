/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_table.h - what the files that draw register layouts share: styles of tables, and odometers over digits.
 */
#ifndef TESELA_SRC_REGISTER_TABLE_H
#define TESELA_SRC_REGISTER_TABLE_H

#include <tesela/draw.h>
#include <tesela/notation.h>

#include "base/base.h"

/* ---- register_style.c ---------------------------------------------------------------------------------- */

enum {
  TESELA__TABLE_PAD = 1,          /* a blank on both sides of a cell */
  TESELA__TABLE_CENTER = 2,       /* cells are centred, else left */
  TESELA__TABLE_COLONS = 4,       /* rules have a colon where a cell begins */
  TESELA__TABLE_HIDE_ABOVE = 8,   /* no rule above a heading */
  TESELA__TABLE_HIDE_BELOW = 16,  /* no rule at the end of a table with a heading */
  TESELA__TABLE_DATA = 32,        /* for programs: no colour, cells are not boxes */
  TESELA__TABLE_EXACT = 64,       /* columns are not aligned */
  TESELA__TABLE_BLANK_LINE = 128, /* between tables */
  TESELA__TABLE_JSON = 256,
};

/* A rule: left end, what it is made of (NULL: only `left` is put), crossing, right end; left NULL: no rule. */
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

/* By name or alias, NULL: simple. TESELA_E_INVALID for none; the message names the nearest. */
tesela_status tesela__table_look_of(const char *name, const tesela__table_look **look, tesela_error *err);

/* ---- register_view.c ----------------------------------------------------------------------------------- */

/* Digits that count together, slowest first; each adds weight * digit to one of some sums. */
typedef struct tesela__digits {
  int32_t n;
  int64_t count; /* of all their values */
  int64_t sum[TESELA_MAX_RANK];
  struct {
    int64_t extent, weight, at;
    int32_t sum;
  } digit[TESELA_REGISTER_MODES];
} tesela__digits;

/* A picture: tables of rows of columns, and the threads of one cell. */
typedef struct tesela__register_view {
  int32_t n_sums; /* 2: thread and local id; by thread the rank: an index */
  tesela__digits tables, rows, columns, copies;
  int64_t last_row
      [TESELA_MAX_RANK]; /* what the last row adds: as each digit is at its most, all numbers are longest there */
} tesela__register_view;

/* Of a layout that was checked. */
void tesela__register_view_make(tesela__register_view *view, const tesela_register *layout, bool by_thread);

/* Go to the next value; after the last comes the first again. */
void tesela__digits_step(tesela__digits *digits);

#endif
