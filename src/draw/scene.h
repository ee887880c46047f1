/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene.h - what the files of the drawing share: sides, chosen positions, frames.
 *
 *   layout -> sides (side.c) -> which two, which window (draw_view.c) -> which cells fit (pick.c)
 *          -> frame and cells as text (grid.c, linear.c, with cell.c and frame.c)
 *
 * A *position* counts the cells along a side, padding included: 0 .. extent-1. Where every split fills its
 * digit, the position is the index, continued beyond the shape. Where a tile inside a tile pads, padding
 * stands between elements, and positions run ahead of indices.
 */
#ifndef TESELA_SRC_SCENE_H
#define TESELA_SRC_SCENE_H

#include <tesela/draw.h>

#include "base/base.h"

enum {
  TESELA__SAMPLE = 4096,   /* positions that are looked at one by one */
  TESELA__LEGIBLE = 16,    /* lines at every cell are drawn up to this many cells */
  TESELA__SIDE_LEVELS = 8, /* sizes of nested blocks that are drawn */
  TESELA__MAX_SIDES = TESELA_MAX_RANK + 2
};

/* Weight of a line, from none. */
enum { TESELA__LINE_NONE, TESELA__LINE_DASHED, TESELA__LINE_LIGHT, TESELA__LINE_HEAVY };

/* One coordinate as a row of cells. */
typedef struct tesela__side {
  int32_t source;   /* dim, rank + join, or TESELA_HOLE */
  int32_t n_digits; /* digits that make it, by decreasing step */
  int32_t n_blocks; /* sizes of its blocks, largest first; block[0] is the first-level tile */
  int64_t logical;  /* values below have elements */
  int64_t mapped;   /* values below have places by the mapping of the layout; >= logical */
  int64_t tile;     /* values of a first-level tile; 0: not tiled; -1: not known */
  int64_t extent;   /* positions */
  int64_t block[TESELA__SIDE_LEVELS];
  uint8_t digit[TESELA_MAX_DIGITS];
} tesela__side;

typedef struct tesela__scene {
  const tesela_layout *layout;
  const int64_t *shape; /* of the elements */
  bool by_index;        /* parts of several dims are joined: positions are indices, and padding has no cell */
  bool empty;           /* no element */
  int32_t n_sides;      /* sides a slice names; up to two digits of holes follow them */
  int32_t n_holes;
  int32_t down, across;             /* or -1 */
  int64_t first[TESELA__MAX_SIDES]; /* window of positions; of a fixed side the position */
  int64_t end[TESELA__MAX_SIDES];
  tesela__side side[TESELA__MAX_SIDES];
} tesela__scene;

/* What is drawn when the options do not say otherwise. */
enum { TESELA__DEFAULT_WIDTH = 80, TESELA__DEFAULT_ROWS = 24 };

/* Columns a number >= 0 takes. */
static inline int tesela__columns_of(int64_t n) {
  int columns = 1;
  for (; n > 9; n /= 10) columns++;
  return columns;
}

/* ---- side.c ------------------------------------------------------------------------------------------ */

/* All sides of a finished layout whose elements are those of `shape`; nothing is chosen yet. tile may be
 * NULL. */
bool tesela__scene_sides(tesela__scene *scene, const tesela_layout *layout, const int64_t *shape,
                         const int64_t *tile);
/* The value of the coordinate at a position, continued beyond the last one; -1 for padding between elements.
 *valid: an element is there. */
int64_t tesela__side_value(const tesela__scene *scene, const tesela__side *side, int64_t position,
                           bool *valid);
/* The position of a value; values beyond the last one continue from there. */
int64_t tesela__side_position(const tesela__scene *scene, const tesela__side *side, int64_t value);
/* What the position adds to the place on an axis. */
int64_t tesela__side_places(const tesela__scene *scene, const tesela__side *side, int64_t position,
                            int32_t axis);
/* Are there positions first .. end-1 without an element? Of more than TESELA__SAMPLE, an estimate: perhaps. */
bool tesela__side_has_padding(const tesela__scene *scene, const tesela__side *side, int64_t first,
                              int64_t end);
/* Weight of the line between position-1 and position; the ends have none. */
int tesela__side_line(const tesela__side *side, int64_t position);
/* The dims that a side represents, the most significant first. Returns how many. */
int32_t tesela__side_dims(const tesela__scene *scene, const tesela__side *side, int32_t dim[TESELA_MAX_RANK]);
/* Position after the last element. */
int64_t tesela__side_elements(const tesela__scene *scene, const tesela__side *side);
/* Write the coordinates of a value into `index`, by dim. */
void tesela__side_index(const tesela__scene *scene, const tesela__side *side, int64_t value, int64_t *index);

/* ---- draw_view.c ------------------------------------------------------------------------------------------ */

/* Sides, slice and window by the options. */
tesela_status tesela__scene_make(tesela__scene *scene, const tesela_layout *layout,
                                 const tesela_draw_options *options, tesela_error *err);

/* Are there places of digits that no slice shows: of joined parts of dims, of holes, after the last slice? */
bool tesela__scene_lacks_padding(const tesela__scene *scene);

/* ---- cell.c ---- */

enum { TESELA__CELL_TEXT = TESELA_MAX_AXES * 21 };

typedef struct tesela__cell {
  bool padding;
  char place[TESELA__CELL_TEXT]; /* "17"; "3:1" on two axes; "" where padding has no known place */
} tesela__cell;

void tesela__cell_find(const tesela__scene *scene, int64_t row, int64_t column, tesela__cell *cell);
/* Columns of the widest place of the slice, at least. */
int tesela__cell_columns(const tesela__scene *scene);
/* "3"; "0,3" for joined dims; after the dot of padding "5" or nothing. Returns its columns, the dot included. */
int tesela__index_text(const tesela__scene *scene, const tesela__side *side, int64_t position, bool *padding,
                       char text[TESELA__CELL_TEXT]);
/* Columns of the widest index of positions first .. end-1. */
int tesela__index_columns(const tesela__scene *scene, const tesela__side *side, int64_t first, int64_t end);

/* ---- pick.c ------------------------------------------------------------------------------------------ */

/* Positions that are drawn, increasing. */
typedef struct tesela__pick {
  int32_t n;
  int64_t at[TESELA_DRAW_MAX_CELLS];
} tesela__pick;

/* What the pieces of a row cost, and what all may cost. */
typedef struct tesela__budget {
  int32_t cell, line, gap, all;
} tesela__budget;

/* Choose from positions first .. end-1 of a side, at least one, within the budget; the elements end before
   `elements`. */
void tesela__pick_make(tesela__pick *pick, const tesela__side *side, int64_t first, int64_t end,
                       int64_t elements, tesela__budget budget);

/* ---- frame.c ----------------------------------------------------------------------------------------- */

/* A row of cells, lines and gaps: the picked positions and what lies between them. */
typedef enum tesela__slot_kind { TESELA__SLOT_CELL, TESELA__SLOT_LINE, TESELA__SLOT_GAP } tesela__slot_kind;
typedef struct tesela__slot {
  tesela__slot_kind kind;
  int weight;       /* of a line */
  int64_t position; /* of a cell */
} tesela__slot;

enum { TESELA__MAX_SLOTS = 4 * TESELA_DRAW_MAX_CELLS + 2 };
typedef struct tesela__track {
  int32_t n;
  tesela__slot slot[TESELA__MAX_SLOTS];
} tesela__track;

/* The slots between the two outer lines, which come first and last. */
void tesela__track_make(tesela__track *track, const tesela__side *side, const tesela__pick *pick);

/* How a picture is painted. */
typedef struct tesela__brush {
  tesela__sink *to;
  bool ascii, color;
  int cell; /* columns of a cell, its leading blank included */
} tesela__brush;

void tesela__put_blanks(tesela__sink *sink, int64_t n);
/* A horizontal line across a track; row: -1 the top, 0 inside, 1 the bottom. */
void tesela__brush_rule(const tesela__brush *brush, const tesela__track *track, int row, int weight);
void tesela__brush_upright(const tesela__brush *brush, int weight);
/* A light horizontal line that crosses a light upright after `left` columns. */
void tesela__brush_divider(const tesela__brush *brush, int64_t left, int64_t right);
const char *tesela__brush_dot(const tesela__brush *brush);
const char *tesela__brush_gap(const tesela__brush *brush); /* TESELA__GAP columns with its leading blank */
enum { TESELA__GAP = 3 };

#endif
