/* SPDX-License-Identifier: Apache-2.0 */
/*
 * legend.c - the meaning of the marks that a grid contains.
 */
#include "draw/scene.h"

/* Cells between lines of one level on a side: the size of its block at this level, or of its smallest; 0: no lines. */
static int64_t block_at(const tesela__side *side, int32_t level) {
  if (!side || side->n_blocks == 0) return 0;
  return side->block[level < side->n_blocks ? level : side->n_blocks - 1];
}

static void put_blocks(tesela__sink *sink, const tesela__side *down, const tesela__side *across,
                       int32_t level) {
  int64_t rows = block_at(down, level), columns = block_at(across, level);
  if (rows > 0) tesela__put_int(sink, rows);
  if (rows > 0 && columns > 0) tesela__puts(sink, " x ");
  if (columns > 0) tesela__put_int(sink, columns);
  if (rows == 0 && down) tesela__puts(sink, " across");
  if (columns == 0 && across) tesela__puts(sink, " down");
}

static void put_lines(tesela__sink *sink, const tesela__side *down, const tesela__side *across,
                      const char *what) {
  static const char *const words[] = {"Heavy lines: ", "; light lines: ", "; dashed lines: "};
  int32_t n = across ? across->n_blocks : 0;
  if (down && down->n_blocks > n) n = down->n_blocks;
  for (int32_t level = 0; level < n && level < 3; level++) {
    tesela__puts(sink, words[level]);
    if (level == 0) tesela__puts(sink, what);
    put_blocks(sink, down, across, level);
  }
  if (n > 0) tesela__puts(sink, ".\n");
}

static void legend_number(tesela__sink *sink, const tesela_layout *layout) {
  tesela__puts(sink, layout->n_axes > 1 ? "Each cell is a place, " : "Each number is a place in ");
  for (int32_t a = 0; a < layout->n_axes; a++) {
    if (a > 0) tesela__putc(sink, ':');
    tesela__puts(sink, layout->axis[a].name);
  }
}

/* XLA's tail: the places after the last one that digits reach. */
static void put_tail(tesela__sink *sink, const tesela_layout *layout) {
  int64_t end = 1;
  if (layout->n_axes != 1 || layout->swizzle.n > 0) return;
  end += layout->axis[0].offset;
  for (int32_t i = 0; i < layout->n_active; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (digit->axis == 0 && digit->stride > 0)
      end += (digit->extent - 1) * digit->stride; /* fits: tesela_layout_finish checked it */
  }
  if (end < layout->axis[0].extent)
    tesela__putf(sink, "; places %" PRId64 " to %" PRId64 " are padding at the end", end,
                 layout->axis[0].extent - 1);
}

tesela_status tesela_draw_legend(const tesela_layout *layout, const tesela_draw_options *options,
                                 const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, layout, to);
  TESELA__NEED_CLEAR(err, options);
  static const tesela_draw_options defaults;
  tesela__scene scene;
  if (!options) options = &defaults;
  tesela_status status = tesela__scene_make(&scene, layout, options, err);
  if (status != TESELA_OK || scene.empty) return status;
  const tesela__side *down = scene.down < 0 ? NULL : &scene.side[scene.down];
  const tesela__side *across = scene.across < 0 ? NULL : &scene.side[scene.across];
  bool padding = false;
  for (int32_t s = 0; s < scene.n_sides + scene.n_holes; s++)
    if (tesela__side_has_padding(&scene, &scene.side[s], scene.first[s], scene.end[s])) padding = true;
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  legend_number(&sink, layout);
  if (padding) tesela__puts(&sink, options->ascii ? "; ~ is padding" : "; · is padding");
  if (options->n_slice == 0 && tesela__scene_lacks_padding(&scene))
    tesela__puts(&sink, "; some of the padding is not drawn");
  if (tesela_layout_copies(layout) > 1) tesela__puts(&sink, "; the first of several copies");
  put_tail(&sink, layout);
  tesela__puts(&sink, ".\n");
  put_lines(&sink, down, across, options->tile ? "tiles of " : "blocks of ");
  return tesela__sink_finish(&sink, err);
}
