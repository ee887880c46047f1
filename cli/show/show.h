/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.h - what the files of the verb show share.
 *
 *   cmd_show.c      the verb: which parts are printed
 *   show_words.c    an array in words: sizes, what pads, a verdict
 *   show_levels.c   what one tile level does, in a sentence
 *   show_picture.c  the picture, its window and its notes
 *   show_json.c     the same facts as JSON
 *   show_tuple.c    tuples: a table of the arrays in it
 *   show_expression.c  register layouts and tiles in memory
 *   show_device.c   device layouts
 */
#ifndef TESELA_CLI_SHOW_H
#define TESELA_CLI_SHOW_H

#include <tesela/draw.h>
#include <tesela/notation.h>
#include <tesela/report.h>
#include <tesela/xla.h>

#include "main/json.h"
#include "main/options.h"

/* A piece of text; what does not fit is cut. */
#define SHOW_TEXT 600
typedef struct show_text {
  char text[SHOW_TEXT];
  size_t length;
} show_text;
void show_add(show_text *to, const char *format, ...) TESELA_PRINTF(2, 3);
void show_add_dims(show_text *to, int32_t n, const int32_t *dims); /* "dim 1", "dims 2*0" */
/* The same for bits of dims, as they are joined: the most major of the layout first. */
void show_add_joined(show_text *to, const tesela_xla_layout *layout, uint32_t dims);
void show_add_bytes(show_text *to, int64_t bytes); /* "96 B", "24.00 KiB (24576 B)" */

/* How much of `whole` is not `part`: "22%", never 0 or 100 where it is something else. */
void show_add_percent(show_text *to, double part, double whole);
/* A label of the words and a text, continued under the text. */
void show_wrapped(const cli_context *cli, const char *label, const char *text);

#define SHOW_MAX_PADS 96

/* All that is said about one array, computed once. */
typedef struct show_facts {
  const tesela_xla_shape *shape;
  tesela_xla_sizes sizes;
  int32_t n_pads;
  tesela_xla_pad pad[SHOW_MAX_PADS];
  int32_t n_bounds; /* of memory, row-major */
  int64_t bound[TESELA_MAX_DIGITS];
} show_facts;

/* TESELA_E_UNSUPPORTED for what has no size: token, opaque, `?`. */
tesela_status show_facts_of(const tesela_xla_shape *shape, show_facts *facts, tesela_error *err);

/* What tile level `level` does, a sentence without its full stop. */
void show_level(const tesela_xla_shape *shape, int32_t level, show_text *out);
/* What one cause of padding costs: "dim 1: 200 of 256 used (22% padding)". */
void show_pad(const tesela_xla_layout *layout, const tesela_xla_pad *pad, show_text *out);
void show_order(const tesela_xla_shape *shape, show_text *out);
/* One line: how much is padding and what causes most of it. */
void show_verdict(const show_facts *facts, show_text *out);

void show_words(const cli_context *cli, const show_facts *facts);
void show_json(tesela_sink *j, const show_facts *facts); /* into the object that is open */
/* The same for what has no size; the JSON has null for each fact that is not there. */
void show_words_no_size(const cli_context *cli, const tesela_xla_shape *shape);
void show_json_no_size(tesela_sink *j, const tesela_xla_shape *shape);
/* The dims that are dynamic and have a bound. */
uint32_t show_bounded(const tesela_xla_shape *shape);
/* Why there is no size. */
void show_no_size(const tesela_xla_shape *shape, show_text *out);

/* A tuple, from its parenthesis on: one line for each array, and the total. An exit status. */
int show_tuple(const cli_context *cli, const char *text, size_t length);

/* A layout of another kind that was read from this text. An exit status. */
int show_expression(const cli_context *cli, const tesela_any_layout *any, const char *text, size_t length);
/* A device layout. An exit status. */
int show_device(const cli_context *cli, const tesela_device_layout *layout);
/* None of the options that are for register layouts? False: said. */
bool show_no_table_options(const cli_context *cli);

/* How to draw, by the options of the verb. False: said on stderr. */
bool show_picture_options(const cli_context *cli, tesela_draw_options *options);
/* Can it be drawn so: are the slices there? False: said on stderr. */
bool show_picture_check(const cli_context *cli, const tesela_xla_shape *shape,
                        const tesela_draw_options *options);
/* The same, of any layout with the axis memory. */
bool show_picture_check_layout(const cli_context *cli, const tesela_layout *layout,
                               const tesela_draw_options *options);
/* Draw a layout that has elements; an exit status. */
int show_picture_layout(const cli_context *cli, const tesela_layout *layout,
                        const tesela_draw_options *options);
/* Draw an array that has elements, with notes on what was left out; an exit status. */
int show_picture(const cli_context *cli, const tesela_xla_shape *shape, tesela_draw_options *options);

#endif
