/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_picture.c - the picture of a layout: its window, its slices, and the notes under it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "main/say.h"
#include "picture.h"
#include "show/show.h"

enum { ROWS = 24, MAX_ROWS = 1000, MAX_SLICES = 64 };

/* ---- the window -------------------------------------------------------------------------------------- */

/* Read a number at *text and move *text past it; false if *text does not start with a number of 64 bits. */
static bool read_bound(const char **text, int64_t *bound) {
  char *end;
  if (**text < '0' || **text > '9') return false;
  errno = 0;
  *bound = strtoll(*text, &end, 10);
  *text = end;
  return errno == 0;
}

static bool read_range(const char **text, tesela_draw_range *range) {
  *range = (tesela_draw_range){.first = 0, .end = -1};
  bool number = read_bound(text, &range->first);
  if (**text != ':') {
    range->fixed = true;
    return number;
  }
  ++*text;
  read_bound(text, &range->end);
  return **text == ',' || **text == '\0';
}

static bool read_slice(const cli_context *cli, const char *text, tesela_draw_options *options) {
  const char *at = text;
  char quote[SAY_QUOTE];
  options->n_slice = 0;
  while (options->n_slice < TESELA_MAX_RANK && read_range(&at, &options->slice[options->n_slice])) {
    options->n_slice++;
    if (*at == '\0') return true;
    if (*at++ != ',') break;
  }
  say_usage(cli, "--slice is %s; expected an index or a range for each dim, such as 0,:,8:16",
            say_quote(text, quote));
  return false;
}

bool show_no_table_options(const cli_context *cli) {
  static const char *const others[] = {"format", "by", "warp"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (cli_has(cli, others[i])) {
      say_usage(cli, "--%s applies to register layouts only", others[i]);
      return false;
    }
  return true;
}

bool show_picture_options(const cli_context *cli, tesela_draw_options *options) {
  int64_t rows, width;
  const char *slice = cli_value(cli, "slice");
  if (!cli_integer(cli, "rows", 1, MAX_ROWS, ROWS, &rows)) return false;
  if (!cli_integer(cli, "width", 20, MAX_ROWS, cli->out.width, &width)) return false;
  *options = (tesela_draw_options){.width = (int32_t)width, .max_rows = (int32_t)rows};
  options->ascii = !cli->out.utf8;
  options->color = cli->out.color;
  if (cli_has(cli, "all") && (slice || cli_has(cli, "linear"))) {
    say_usage(cli, "--all draws every slice; it cannot be combined with --%s", slice ? "slice" : "linear");
    return false;
  }
  return !slice || read_slice(cli, slice, options);
}

/* ---- notes ------------------------------------------------------------------------------------------- */

/* Eight (or sixteen) indices around the end of the elements, which is rarely in the window. */
static void add_window(show_text *to, const tesela_draw_side *side, int64_t length) {
  int64_t first = side->extent / length * length;
  if (first == side->extent) first -= length;
  int64_t end = first + length < side->padded ? first + length : side->padded;
  show_add(to, "%" PRId64 ":%" PRId64, first > 0 ? first : 0, end);
}

/* A slice that can be copied: a window where cells are left out, or the slice after the one that was drawn.
 */
static void add_slice(show_text *to, const tesela_draw_view *view, bool window) {
  for (int32_t s = 0; s < view->n_sides; s++) {
    const tesela_draw_side *side = &view->side[s];
    bool drawn = s == view->down || s == view->across;
    if (s > 0) show_add(to, ",");
    if (drawn && window)
      add_window(to, side, s == view->down ? 8 : 16);
    else if (drawn)
      show_add(to, ":");
    else
      show_add(to, "%" PRId64, window ? side->first : side->extent - 1);
  }
}

static void put_notes(const tesela_draw_view *view, int64_t slices, int64_t drawn) {
  show_text text = {.length = 0};
  if (view->cut && view->n_sides > 0) {
    show_add(&text, "Cells omitted. To see a window: --slice ");
    add_slice(&text, view, true);
    show_add(&text, "\n");
  }
  if (drawn < slices) {
    show_add(&text, "%" PRId64 " of %" PRId64 " slices drawn. To see another: --slice ", drawn, slices);
    add_slice(&text, view, false);
    show_add(&text, "%s\n", slices <= MAX_SLICES ? "; to see all: --all" : "");
  }
  fputs(text.text, stdout);
}

/* ---- grids ------------------------------------------------------------------------------------------- */

/* ", dim 1 down"; without the comma at the start. */
static void add_side(show_text *to, const tesela_draw_view *view, int32_t s, const char *what) {
  if (s == -1) return;
  if (to->length > 0) show_add(to, ", ");
  if (s == TESELA_HOLE)
    show_add(to, "padding");
  else
    show_add_dims(to, view->side[s].n_dims, view->side[s].dim);
  show_add(to, "%s", what);
}

/* "dim 1 down, dim 2 across, dim 0 = 3" */
static void put_title(const tesela_draw_view *view) {
  show_text text = {.length = 0};
  add_side(&text, view, view->down, " down");
  add_side(&text, view, view->across, " across");
  for (int32_t s = 0; s < view->n_sides; s++) {
    if (s == view->down || s == view->across) continue;
    add_side(&text, view, s, " = ");
    show_add(&text, "%" PRId64, view->side[s].first);
  }
  if (text.length > 0) printf("%s\n", text.text);
}

/* Number of slices; INT64_MAX if it overflows. */
static int64_t count_slices(const tesela_draw_view *view) {
  int64_t slices = 1;
  for (int32_t s = 0; s < view->n_sides; s++)
    if (s != view->down && s != view->across && __builtin_mul_overflow(slices, view->side[s].extent, &slices))
      return INT64_MAX;
  return slices;
}

/* The default slice with every entry given. */
static void fill_slice(const tesela_draw_view *view, tesela_draw_options *options) {
  options->n_slice = view->n_sides;
  for (int32_t s = 0; s < view->n_sides; s++) {
    bool drawn = s == view->down || s == view->across;
    options->slice[s] = (tesela_draw_range){.first = 0, .end = -1, .fixed = !drawn};
  }
}

/* The next slice in row-major order. */
static void next_slice(const tesela_draw_view *view, tesela_draw_options *options) {
  for (int32_t s = view->n_sides - 1; s >= 0; s--) {
    if (!options->slice[s].fixed) continue;
    if (++options->slice[s].first < view->side[s].extent) return;
    options->slice[s].first = 0;
  }
}

/* Draw slices from one on: all, or those that fit the rows, at least one. *drawn counts them, *view is the last. */
static tesela_status draw_slices(const tesela_layout *layout, tesela_draw_options slice, int64_t slices,
                                 bool all, int64_t *drawn, tesela_draw_view *view, tesela_error *err) {
  tesela_draw_view next;
  int64_t rows = 0;
  for (*drawn = 0; *drawn < slices; ++*drawn) {
    tesela_status status = tesela_draw_view_of(layout, &slice, &next, err);
    if (status != TESELA_OK) return status;
    rows += next.down >= 0 ? next.side[next.down].shown : 1;
    if (*drawn > 0 && !all && rows > slice.max_rows) break;
    *view = next;
    if (*drawn > 0) printf("\n");
    put_title(view);
    status = tesela_draw_grid(layout, &slice, &cli_stdout, err);
    if (status != TESELA_OK) return status;
    next_slice(view, &slice);
  }
  return TESELA_OK;
}

static int draw_grids(const cli_context *cli, const tesela_layout *layout,
                      const tesela_draw_options *options) {
  tesela_draw_options first = *options;
  tesela_draw_view view;
  tesela_error err;
  bool all = cli_has(cli, "all");
  tesela_status status = tesela_draw_view_of(layout, options, &view, &err);
  if (status != TESELA_OK) return say_failure(cli, &err);
  int64_t slices = options->n_slice > 0 ? 1 : count_slices(&view), drawn;
  if (slices > 1) fill_slice(&view, &first);
  status = draw_slices(layout, first, slices, all, &drawn, &view, &err);
  if (status == TESELA_E_STOPPED) return CLI_YES; /* main handles output failures */
  if (status != TESELA_OK) return say_failure(cli, &err);
  tesela_draw_legend(layout, options, &cli_stdout, NULL);
  put_notes(&view, slices, drawn);
  return CLI_YES;
}

/* ---- places in order --------------------------------------------------------------------------------- */

static int draw_line(const cli_context *cli, const tesela_layout *layout,
                     const tesela_draw_options *options) {
  tesela_draw_view view;
  tesela_error err;
  tesela_status status = tesela_draw_linear_view_of(layout, options, &view, &err);
  if (status == TESELA_OK) status = tesela_draw_linear(layout, options, &cli_stdout, &err);
  if (status == TESELA_E_STOPPED) return CLI_YES;
  if (status != TESELA_OK) return say_failure(cli, &err);
  printf("Each cell is the element at a place in memory; %s is padding.\n", options->ascii ? "~" : "·");
  show_text text = {.length = 0};
  if (view.cut) {
    int64_t first = view.side[0].extent / 2 / 64 * 64;
    show_add(&text, "Places omitted. To see a part: --slice %" PRId64 ":%" PRId64 "\n", first,
             first + 64 < view.side[0].extent ? first + 64 : view.side[0].extent);
  }
  fputs(text.text, stdout);
  return CLI_YES;
}

/* Refuse ranges that end after the padding; the drawing functions of the library clip them. */
static bool ranges_fit(const cli_context *cli, const tesela_draw_view *view,
                       const tesela_draw_options *options) {
  for (int32_t s = 0; s < options->n_slice && s < view->n_sides; s++) {
    if (options->slice[s].fixed || options->slice[s].end <= view->side[s].padded) continue;
    say_error(cli,
              "slice entry %" PRId32 " ends at %" PRId64 "; expected at most %" PRId64
              ", the extent with padding",
              s, options->slice[s].end, view->side[s].padded);
    return false;
  }
  return true;
}

bool show_picture_check_layout(const cli_context *cli, const tesela_layout *layout,
                               const tesela_draw_options *options) {
  tesela_draw_view view;
  tesela_error err;
  bool all = cli_has(cli, "all");
  if (!all && options->n_slice == 0) return true;
  tesela_status status = cli_has(cli, "linear") ? tesela_draw_linear_view_of(layout, options, &view, &err)
                                                : tesela_draw_view_of(layout, options, &view, &err);
  if (status != TESELA_OK) {
    say_failure(cli, &err);
    return false;
  }
  int64_t slices = all ? count_slices(&view) : 1;
  if (slices <= MAX_SLICES) return ranges_fit(cli, &view, options);
  show_text text = {.length = 0};
  add_slice(&text, &view, false);
  say_usage(cli, "--all draws up to %d slices; this layout has %" PRId64 ". To see one of them: --slice %s",
            MAX_SLICES, slices, text.text);
  return false;
}

bool show_picture_check(const cli_context *cli, const tesela_xla_shape *shape,
                        const tesela_draw_options *options) {
  tesela_layout layout;
  tesela_error err;
  int64_t tile[TESELA_MAX_RANK];
  tesela_draw_options drawn = *options;
  drawn.shape = shape->dim;
  if (!cli_has(cli, "all") && options->n_slice == 0) return true;
  if (picture_of_xla(shape, &layout, tile, &err) == TESELA_OK)
    return show_picture_check_layout(cli, &layout, &drawn);
  say_failure(cli, &err);
  return false;
}

int show_picture_layout(const cli_context *cli, const tesela_layout *layout,
                        const tesela_draw_options *options) {
  return cli_has(cli, "linear") ? draw_line(cli, layout, options) : draw_grids(cli, layout, options);
}

int show_picture(const cli_context *cli, const tesela_xla_shape *shape, tesela_draw_options *options) {
  tesela_layout layout;
  tesela_error err;
  int64_t tile[TESELA_MAX_RANK];
  if (picture_of_xla(shape, &layout, tile, &err) != TESELA_OK) return say_failure(cli, &err);
  options->shape = shape->dim;
  options->tile = tile;
  return show_picture_layout(cli, &layout, options);
}
