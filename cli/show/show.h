/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.h - what the files of the verb show share.
 *
 *   cmd_show.c      the verb: which parts are printed
 *   show_words.c    an array in words: sizes, what pads, a verdict
 *   show_picture.c  the picture, its window and its notes
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
#include "show_facts.h"

/* Is that part printed: "words" or "picture"? */
bool show_wants(const cli_context *cli, const char *part);

/* A label of the words and a text, continued under the text. */
void show_wrapped(const cli_context *cli, const char *label, const char *text);

void show_words(const cli_context *cli, const show_facts *facts);
/* The same for what has no size. */
void show_words_no_size(const cli_context *cli, const tesela_xla_shape *shape);

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
