/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h - layouts as pictures in text.
 *
 * A grid shows two dims of a layout, one down and one across, and in each cell the place of the element:
 * f32[3,5] in tiles of 2 x 2 is
 *
 *           0   1     2   3     4  ·5
 *       ┏━━━━━━━━━┳━━━━━━━━━┳━━━━━━━━━┓
 *     0 ┃   0   1 ┃   4   5 ┃   8  ·9 ┃
 *     1 ┃   2   3 ┃   6   7 ┃  10 ·11 ┃
 *       ┣━━━━━━━━━╋━━━━━━━━━╋━━━━━━━━━┫
 *     2 ┃  12  13 ┃  16  17 ┃  20 ·21 ┃
 *    ·3 ┃ ·14 ·15 ┃ ·18 ·19 ┃ ·22 ·23 ┃
 *       ┗━━━━━━━━━┻━━━━━━━━━┻━━━━━━━━━┛
 *
 * A dot marks padding: a cell that has a place and no element. Lines mark the splits of a dim: heavy at
 * the largest step of its digits, light at the next, dashed at the others. A linear picture is the reverse:
 * the places in order, and in each cell the element.
 *
 * The *sides* of a picture are drawn down or across: the dims, in their order; dims that are joined as a
 * whole (XLA's `*`) are one side, at the position of the first.
 *
 * Work is proportional to the number of drawn cells, whatever the size of the array. No function here allocates.
 */
#ifndef TESELA_DRAW_H
#define TESELA_DRAW_H

#include <tesela/arena.h>
#include <tesela/layout.h>
#include <tesela/register.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_DRAW_MAX_CELLS 256 ///< cells in one row of a picture, and rows

/// The part of one side that a picture shows.
typedef struct tesela_draw_range {
  int64_t first; ///< index of the first cell
  int64_t end;   ///< index after the last; -1: all that follow, padding included
  bool fixed;    ///< the side is not drawn; the picture is the slice at `first`
} tesela_draw_range;

/// How to draw. {0} is right: the default slice, 80 columns, 24 rows of cells, Unicode, no colour.
///
/// Padding that no digit of a dim reaches is a digit of its own (TESELA_HOLE) and seldom in the picture: of
/// f32[1,200] in tiles of 2 x 128 the second row. To have it in its place, draw the layout of the padded
/// array, f32[2,256], and give 1,200 as `shape`.
typedef struct tesela_draw_options {
  int32_t width;    ///< columns of text a line may have; 0: 80
  int32_t max_rows; ///< rows of cells, or lines of a linear picture; 0: 24
  bool ascii;       ///< + - | = ~ .. in place of box-drawing characters, the dot and the ellipsis
  bool color;       ///< ANSI colours: one for each tile of four neighbours, faint padding
  int32_t n_slice;  ///< entries of slice; 0: default
  /// rank extents, each up to that of the layout: what is beyond is padding. NULL: those of the layout.
  const int64_t *shape;
  /// rank sizes of first-level tiles, which have the heavy lines; 0: not tiled. NULL: a block is what the
  /// first digit of a dim counts.
  const int64_t *tile;
  /// Grid: one entry a side, two at most not fixed. By default the two sides with the smallest strides, the
  /// others fixed at 0. Linear: one entry, a range of places.
  tesela_draw_range slice[TESELA_MAX_RANK];
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_draw_options;

/// One side of a picture.
typedef struct tesela_draw_side {
  int32_t n_dims; ///< dims it stands for: several if they are joined; 0: the places of a linear picture
  int32_t dim[TESELA_MAX_RANK]; ///< those, the most significant first
  int64_t extent;               ///< indices 0 .. extent-1 have elements
  int64_t padded;               ///< cells, padding included
  int64_t shown;                ///< cells in the picture; 1 for a fixed side
  int64_t first;                ///< index of the first cell in the window
  int64_t end;                  ///< index after the last cell in the window
} tesela_draw_side;

/// The sides and the window of a picture.
typedef struct tesela_draw_view {
  int32_t n_sides; ///< entries a slice has
  int32_t down;    ///< side whose cells go down; TESELA_HOLE: padding alone; -1: a single row
  int32_t across;  ///< side whose cells go across; likewise
  bool cut;        ///< cells of the window were left out
  bool
      bare; ///< some padding has no cell in any slice: of joined parts of dims, of holes, after the last slice
  tesela_draw_side side[TESELA_MAX_RANK];
} tesela_draw_view;

/// Describe the picture of tesela_draw_grid without drawing it.
///
/// Example: f32[2,3,5]{2,1,0:T(2,2)}, options {0}: three sides, down 1, across 2; side 1 has extent 3,
/// padded 4.
///
/// @return as tesela_draw_grid
TESELA_API tesela_status tesela_draw_view_of(const tesela_layout *layout, const tesela_draw_options *options,
                                             tesela_draw_view *view, tesela_error *err);

/// The same for tesela_draw_linear: one side, the places.
TESELA_API tesela_status tesela_draw_linear_view_of(const tesela_layout *layout,
                                                    const tesela_draw_options *options,
                                                    tesela_draw_view *view, tesela_error *err);

/// Draw a two-dimensional slice of a layout: a line of column indices (none for a single cell), then the rows in a frame.
///
/// Cells that do not fit are replaced by an ellipsis; the first and the last cells, those at the first tile
/// border and at the end of the elements stay. With several axes a cell has the places joined by `:`. Of several
/// copies the first is shown. A layout without elements prints nothing.
///
/// @param layout   a finished layout
/// @param options  NULL means {0}
/// @param to       receives UTF-8 (with ascii: ASCII) lines, each with its newline
/// @return TESELA_OK; TESELA_E_INVALID for a layout that is not finished, or more than two sides that are not
///         fixed; TESELA_E_MISMATCH if n_slice is not the number of sides; TESELA_E_RANGE for an index
///         outside its side or an empty range; TESELA_E_OVERFLOW if a padded dim exceeds int64; TESELA_E_STOPPED.
TESELA_API tesela_status tesela_draw_grid(const tesela_layout *layout, const tesela_draw_options *options,
                                          const tesela_writer *to, tesela_error *err);

/// Draw the places in their order, each with its element as an index (`2,3`) or the dot for padding. A line
/// takes the largest piece of the layout that is not more than one tile and fits the width.
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for several axes, or where a place has no single element
///         (tesela_layout_element_at); TESELA_E_MISMATCH, TESELA_E_RANGE, TESELA_E_INVALID and
///         TESELA_E_STOPPED as for tesela_draw_grid.
TESELA_API tesela_status tesela_draw_linear(const tesela_layout *layout, const tesela_draw_options *options,
                                            const tesela_writer *to, tesela_error *err);

/// Print the meaning of the marks of a grid, one or two lines: what a number is, what the dot is, what the
/// lines enclose; for the default slice also whether some padding is in no slice.
///
/// Example: "Each number is a place in memory; · is padding. Heavy lines: blocks of 2 x 2."
TESELA_API tesela_status tesela_draw_legend(const tesela_layout *layout, const tesela_draw_options *options,
                                            const tesela_writer *to, tesela_error *err);

/*
 * ==== Register layouts as tables: the thread and register of each element, or the reverse
 *
 *   tesela_draw_register of local(2).spatial(3):     ┌──────┬──────┬──────┬──────┬──────┬──────┐
 *                                                    │ 0: 0 │ 1: 0 │ 2: 0 │ 0: 1 │ 1: 1 │ 2: 1 │
 *                                                    └──────┴──────┴──────┴──────┴──────┴──────┘
 *
 * A cell is `thread: local`, with replicas `[0, 4, 8]: local`. Shapes of rank 0 to 3 get leading 1s up to rank 3; of
 * higher ranks extents of 1 are dropped, then the leading two are multiplied until the rank is 3. One table for each
 * leading index, in order. This is what Tilus' visualize_layout prints.
 *
 * The reverse (by_thread) is one table with a row for each thread and a column for each local id; a cell is the index
 * of the element:                                  ┌──────────┬─────┬─────┐
 *                                                  │ thread   │ 0   │ 1   │
 *                                                  ├──────────┼─────┼─────┤
 *                                                  │ 0        │ [0] │ [3] │
 *                                                  ...
 */

#define TESELA_DRAW_REGISTER_CELLS (1 << 22) ///< threads times registers of a picture at most

/// A style of tables: lines and separators. Names and looks are those of the Python package tabulate, whose tables of the
/// same texts are byte for byte the same, and shorter names for its grids.
typedef struct tesela_draw_style {
  const char *name;    ///< "simple"
  const char *alias;   ///< "simple_grid": the name in tabulate; "" if it is the same
  const char *summary; ///< one line
} tesela_draw_style;

/// All styles: simple (the default), plain, lines, grid, rounded, heavy, mixed, double, fancy, outline and outlines of these,
/// github, pipe, orgtbl, jira, presto, pretty, psql, rst, tsv, csv, html, json. *n receives how many. Static memory.
///
/// lines is what tabulate calls simple. csv and json are not from tabulate: csv has quotes around cells with commas and an
/// empty line between tables; json is one line, a list of tables of rows of cells [[thread, ...], local], by thread a list of
/// rows of cells that are indices.
TESELA_API const tesela_draw_style *tesela_draw_styles(int32_t *n);

/// How to draw; {0} is right. Colours: each warp (of up to `warp` threads) has a hue, each group of four threads a shade; of
/// an element in several threads the first counts. A picture without its escape sequences is the one without colours.
typedef struct tesela_draw_register_options {
  const char *style;   ///< NULL: simple; a name or an alias
  bool by_thread;      ///< rows are threads, columns local ids, cells elements "[2, 3]" with a heading
  bool header;         ///< first the line RegisterLayout(...), also before csv and json
  bool color;          ///< ANSI colours, see below; tsv, csv, html and json have none
  bool ascii;          ///< + - = | in place of box-drawing characters
  int32_t warp;        ///< threads of a warp for the colours; 0: 32
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_draw_register_options;

/// Draw. The last line has no newline, as the document's tool prints it.
///
/// Example: spatial(3), {.style = "lines"}:  ----  ----  ----
///                                           0: 0  1: 0  2: 0
///                                           ----  ----  ----
///
/// @param options  NULL: {0}
/// @param to       receives UTF-8 (with ascii: ASCII)
/// @return TESELA_OK; TESELA_E_INVALID for an unknown style (the message lists near ones); TESELA_E_LIMIT for more than
///         TESELA_DRAW_REGISTER_CELLS cells, one counted for each thread that holds the element; TESELA_E_STOPPED; what
///         tesela_register_check returns for an invalid layout. O(threads * registers), no allocation.
TESELA_API tesela_status tesela_draw_register(const tesela_register *layout,
                                              const tesela_draw_register_options *options,
                                              const tesela_writer *to, tesela_error *err);

/*
 * ==== Arenas as pictures: steps across, offsets upwards, a letter for each buffer
 *
 *   id  lower upper size offset          5 │······bbbbbbbbbbbbbbbbbbbbbbbb······
 *   a     0     3    4     0             4 │······bbbbbbbbbbbbbbbbbbbbbbbb······
 *   b     1     5    2     4             3 │aaaaaaaaaaaaaaaaaacccccccccccccccccc
 *   c     3     6    4     0             2 │aaaaaaaaaaaaaaaaaacccccccccccccccccc
 *                                        1 │aaaaaaaaaaaaaaaaaacccccccccccccccccc
 *                                        0 │aaaaaaaaaaaaaaaaaacccccccccccccccccc
 *                                          └┬───────────┬───────────┬───────────
 *                                           0           2           4
 *
 * A cell of the picture covers a number of steps and bytes; it shows the buffer that fills most of it, or free space.
 */

/// How to draw. {0} is right: 80 columns, 24 rows, Unicode, no colour.
typedef struct tesela_draw_arena_options {
  int32_t width;                     ///< columns of text a line may have, up to 1000; 0: 80
  int32_t max_rows;                  ///< rows of cells, up to 1000; 0: 24
  bool ascii;                        ///< . | + - in place of the dot and of box-drawing characters
  bool color;                        ///< ANSI colours, by letter; the letters stay
  const tesela_allocator *allocator; ///< NULL: malloc and free
  int64_t reserved[4];               ///< 0: room to grow (base.h)
} tesela_draw_arena_options;

/// Draw a plan. The buffers with most cells have the letters a .. z, A .. Z, in their order; others are `#`; cells of which at
/// least half is free have a dot. Buffers that are not placed, have no size, or never live are left out.
///
/// Example: the three buffers above in 40 columns: the picture above, marks "abc", and a last line that says
/// "A row is 1 byte, a column 1 step; · is free."
///
/// @param n        0 to 2^20; nothing is printed if no buffer is left
/// @param buffers  a plan, as tesela_arena_plan leaves it
/// @param marks    receives n letters, `#` or a blank (not in the picture), no NUL; may be NULL
/// @param to       receives UTF-8 (with ascii: ASCII) lines; the last says what a row and a column are
/// @return TESELA_OK; TESELA_E_RANGE for n, width or rows, a negative size, upper < lower; TESELA_E_OVERFLOW for an end
///         beyond 2^62; TESELA_E_MEMORY; TESELA_E_STOPPED. O(52 n + cells that buffers cover).
TESELA_API tesela_status tesela_draw_arena(int32_t n, const tesela_arena_buffer *buffers,
                                           const tesela_draw_arena_options *options, char *marks,
                                           const tesela_writer *to, tesela_error *err);

#ifdef __cplusplus
}
#endif

#endif
