/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw_register.h - register layouts as tables: which thread and register holds each element, or the other way round.
 *
 *   tesela_draw_register of local(2).spatial(3):     ┌──────┬──────┬──────┬──────┬──────┬──────┐
 *                                                    │ 0: 0 │ 1: 0 │ 2: 0 │ 0: 1 │ 1: 1 │ 2: 1 │
 *                                                    └──────┴──────┴──────┴──────┴──────┴──────┘
 *
 * A cell is `thread: local`, with replicas `[0, 4, 8]: local`. Shapes of rank 0 to 3 get leading 1s up to rank 3; of
 * higher ranks extents of 1 are dropped, then the leading two are multiplied until the rank is 3. One table for each
 * leading index, one after the other. This is what Tilus' visualize_layout prints.
 *
 * The other way round (by_thread) there is one table with a row for each thread and a column for each local id, and a cell
 * is the index of the element:                     ┌──────────┬─────┬─────┐
 *                                                  │ thread   │ 0   │ 1   │
 *                                                  ├──────────┼─────┼─────┤
 *                                                  │ 0        │ [0] │ [3] │
 *                                                  ...
 */
#ifndef TESELA_DRAW_REGISTER_H
#define TESELA_DRAW_REGISTER_H

#include <tesela/register.h>

#ifdef __cplusplus
extern "C" {
#endif

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
/// lines is what tabulate calls simple. csv and json are none of tabulate's: csv has quotes around cells with commas and an
/// empty line between tables; json is one line, a list of tables of rows of cells [[thread, ...], local], by thread a list of
/// rows of cells that are indices.
TESELA_API const tesela_draw_style *tesela_draw_styles(int32_t *n);

/// How to draw; {0} is right. Colours: each warp (of up to `warp` threads) has a hue, each group of four threads a shade; of
/// an element in several threads the first counts. A picture without its escape sequences is the one without colours.
typedef struct tesela_draw_register_options {
  const char *style; ///< NULL: simple; a name or an alias
  bool by_thread;    ///< rows are threads, columns local ids, cells elements "[2, 3]" with a heading
  bool header;       ///< the line RegisterLayout(...) first, in front of csv and json, too
  bool color;        ///< ANSI colours, see below; tsv, csv, html and json have none
  bool ascii;        ///< + - = | in place of box-drawing characters
  int32_t warp;      ///< threads of a warp for the colours; 0: 32
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
///         tesela_register_check says of a layout that is none. O(threads * registers), no allocation.
TESELA_API tesela_status tesela_draw_register(const tesela_register *layout,
                                              const tesela_draw_register_options *options,
                                              const tesela_writer *to, tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
