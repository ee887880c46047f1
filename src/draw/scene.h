/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene.h - shared by the files that draw layouts: sides, picked positions, frames.
 *
 *   layout -> sides (side.c) -> two sides and a window (draw_view.c) -> cells that fit (pick.c)
 *          -> frame and cells as text (grid.c, linear.c, with cell.c and frame.c)
 *
 * A *position* is the number of a cell along a side, padding included: 0 .. extent-1. If every split fills its
 * digit, the position is the index, continued beyond the shape. If a tile inside a tile pads, there is padding
 * between elements, and positions exceed indices.
 */
#ifndef TESELA_SRC_SCENE_H
#define TESELA_SRC_SCENE_H

#include <tesela/draw.h>

#include "base/base.h"

enum {
  TESELA__SAMPLE = 4096,   /* most positions to visit one by one */
  TESELA__LEGIBLE = 16,    /* most cells to draw with a line at each */
  TESELA__SIDE_LEVELS = 8, /* most sizes of nested blocks */
  TESELA__MAX_SIDES = TESELA_MAX_RANK + 2
};

/* Weight of a line. */
enum { TESELA__LINE_NONE, TESELA__LINE_DASHED, TESELA__LINE_LIGHT, TESELA__LINE_HEAVY };

/* One coordinate as a row of cells. */
typedef struct tesela__side {
  int32_t source;   /* dim, rank + join, or TESELA_HOLE */
  int32_t n_digits; /* its digits, by decreasing step */
  int32_t n_blocks; /* sizes of its blocks, largest first; block[0] is the first-level tile */
  int64_t logical;  /* values below this have elements */
  int64_t mapped;   /* values below this have places in the layout; >= logical */
  int64_t tile;     /* values of a first-level tile; 0: not tiled; -1: unknown */
  int64_t extent;   /* number of positions */
  int64_t block[TESELA__SIDE_LEVELS];
  uint8_t digit[TESELA_MAX_DIGITS];
} tesela__side;

typedef struct tesela__scene {
  const tesela_layout *layout;
  const int64_t *shape; /* of the elements */
  bool by_index;        /* joins contain parts of dims: positions are indices, and padding has no cell */
  bool empty;           /* no element */
  int32_t n_sides;      /* sides with an entry in a slice; up to two sides of holes follow */
  int32_t n_holes;
  int32_t down, across;             /* or -1 */
  int64_t first[TESELA__MAX_SIDES]; /* window of positions; one position if the side is fixed */
  int64_t end[TESELA__MAX_SIDES];
  tesela__side side[TESELA__MAX_SIDES];
} tesela__scene;

/* Columns of text and rows of cells by default. */
enum { TESELA__DEFAULT_WIDTH = 80, TESELA__DEFAULT_ROWS = 24 };

/* Columns of text of a number >= 0. */
static inline int tesela__columns_of(int64_t n) {
  int columns = 1;
  for (; n > 9; n /= 10) columns++;
  return columns;
}

/* ---- side.c ------------------------------------------------------------------------------------------ */

/* Make all sides of a finished layout with the elements of `shape`, none chosen yet. `tile`: first-level tile sizes or
 * NULL. False if the positions of a side exceed int64. */
bool tesela__scene_sides(tesela__scene *scene, const tesela_layout *layout, const int64_t *shape,
                         const int64_t *tile);
/* The value of the coordinate at a position, continued beyond the last one; -1 for padding between elements.
 * *valid: the position has an element. */
int64_t tesela__side_value(const tesela__scene *scene, const tesela__side *side, int64_t position,
                           bool *valid);
/* The position of a value; values beyond the last one continue from there. */
int64_t tesela__side_position(const tesela__scene *scene, const tesela__side *side, int64_t value);
/* The amount that the position adds to the place on an axis. */
int64_t tesela__side_places(const tesela__scene *scene, const tesela__side *side, int64_t position,
                            int32_t axis);
/* Is there padding at positions first .. end-1? For more than TESELA__SAMPLE an estimate, perhaps wrongly true. */
bool tesela__side_has_padding(const tesela__scene *scene, const tesela__side *side, int64_t first,
                              int64_t end);
/* Weight of the line between position-1 and position; no line at the ends of the side. */
int tesela__side_line(const tesela__side *side, int64_t position);
/* The dims that a side represents, the most significant first. Returns their number. */
int32_t tesela__side_dims(const tesela__scene *scene, const tesela__side *side, int32_t dim[TESELA_MAX_RANK]);
/* The position after the last element. */
int64_t tesela__side_elements(const tesela__scene *scene, const tesela__side *side);
/* Write the coordinates of a value into `index`, by dim. */
void tesela__side_index(const tesela__scene *scene, const tesela__side *side, int64_t value, int64_t *index);

/* ---- draw_view.c ------------------------------------------------------------------------------------------ */

/* Choose sides, slice and window from the options. */
tesela_status tesela__scene_make(tesela__scene *scene, const tesela_layout *layout,
                                 const tesela_draw_options *options, tesela_error *err);

/* Does padding exist that no slice shows: in joined parts of dims, in holes, after the last slice? */
bool tesela__scene_lacks_padding(const tesela__scene *scene);

/* ---- cell.c ---- */

enum { TESELA__CELL_TEXT = TESELA_MAX_AXES * 21 };

typedef struct tesela__cell {
  bool padding;
  char place[TESELA__CELL_TEXT]; /* "17"; "3:1" on two axes; "" for padding whose place is unknown */
} tesela__cell;

void tesela__cell_find(const tesela__scene *scene, int64_t row, int64_t column, tesela__cell *cell);
/* Columns of text for the widest place of the slice, perhaps more. */
int tesela__cell_columns(const tesela__scene *scene);
/* "3", or "0,3" for joined dims; for padding "5" or "", without its dot. Returns the columns of text, with the dot. */
int tesela__index_text(const tesela__scene *scene, const tesela__side *side, int64_t position, bool *padding,
                       char text[TESELA__CELL_TEXT]);
/* Columns of text of the widest index of positions first .. end-1. */
int tesela__index_columns(const tesela__scene *scene, const tesela__side *side, int64_t first, int64_t end);

/* ---- pick.c ------------------------------------------------------------------------------------------ */

/* Positions to draw, increasing. */
typedef struct tesela__pick {
  int32_t n;
  int64_t at[TESELA_DRAW_MAX_CELLS];
} tesela__pick;

/* The cost of a cell, a line and a gap, and the limit of their sum. */
typedef struct tesela__budget {
  int32_t cell, line, gap, all;
} tesela__budget;

/* Choose at least one of positions first .. end-1 of a side, within the budget; elements end before `elements`. */
void tesela__pick_make(tesela__pick *pick, const tesela__side *side, int64_t first, int64_t end,
                       int64_t elements, tesela__budget budget);

/* ---- frame.c ----------------------------------------------------------------------------------------- */

/* A row of cells, lines and gaps: the picked positions and their separators. */
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

/* Make all slots of a pick, with an outer line as the first and the last. */
void tesela__track_make(tesela__track *track, const tesela__side *side, const tesela__pick *pick);

/* Output and style of a picture. */
typedef struct tesela__brush {
  tesela__sink *to;
  bool ascii, color;
  int cell; /* columns of text per cell, including its leading blank */
} tesela__brush;

void tesela__put_blanks(tesela__sink *sink, int64_t n);
/* A horizontal line across a track; row: -1 the top, 0 inside, 1 the bottom. */
void tesela__brush_rule(const tesela__brush *brush, const tesela__track *track, int row, int weight);
void tesela__brush_upright(const tesela__brush *brush, int weight);
/* A light horizontal line that crosses a light upright after `left` columns. */
void tesela__brush_divider(const tesela__brush *brush, int64_t left, int64_t right);
const char *tesela__brush_dot(const tesela__brush *brush);
const char *tesela__brush_gap(const tesela__brush *brush); /* TESELA__GAP columns with a leading blank */
enum { TESELA__GAP = 3 };

#endif
