/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.h - declarations that the files of the verb show share.
 *
 *   cmd_show.c      the verb: which parts are printed
 *   show_words.c    an array in words: sizes, what pads, a verdict
 *   show_picture.c  the picture, its window and its notes
 *   show_tuple.c    tuples: a table of the arrays in it
 *   show_expression.c  register layouts and tiles in memory
 *   show_device.c   device layouts
 *   show_relation.c layouts of which only the places are known; and the other notations of any layout
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

/* Is this part, "words" or "picture", printed? */
bool show_wants(const cli_context *cli, const char *part);

/* Print a label and a text; further lines of the text are indented under its first. */
void show_wrapped(const cli_context *cli, const char *label, const char *text);

void show_words(const cli_context *cli, const show_facts *facts);
/* The same for shapes without a known size. */
void show_words_no_size(const cli_context *cli, const tesela_xla_shape *shape);

/* A tuple, from its parenthesis on: one line for each array, and the total. Returns an exit status. */
int show_tuple(const cli_context *cli, const char *text, size_t length);

/* A layout of another kind, read from this text. Returns an exit status. */
int show_expression(const cli_context *cli, const tesela_any_layout *any, const char *text, size_t length);
/* A relation. Returns an exit status. */
int show_relation(const cli_context *cli, const tesela_any_layout *any);
/* Print a line with the other notations that express a layout, if there are some. Returns an exit status. */
int show_also(const cli_context *cli, const tesela_any_layout *any);
/* A device layout. Returns an exit status. */
int show_device(const cli_context *cli, const tesela_any_layout *any);
/* Are the options for register layouts absent? Returns false after reporting the first one given. */
bool show_no_table_options(const cli_context *cli);

/* Drawing options from those of the verb. Returns false after reporting the error. */
bool show_picture_options(const cli_context *cli, tesela_draw_options *options);
/* Are the slices within the array? Returns false after reporting the error. */
bool show_picture_check(const cli_context *cli, const tesela_xla_shape *shape,
                        const tesela_draw_options *options);
/* The same for any layout with the axis memory. */
bool show_picture_check_layout(const cli_context *cli, const tesela_layout *layout,
                               const tesela_draw_options *options);
/* Draw a layout that has elements. Returns an exit status. */
int show_picture_layout(const cli_context *cli, const tesela_layout *layout,
                        const tesela_draw_options *options);
/* Draw an array that has elements, with notes on what is not drawn. Returns an exit status. */
int show_picture(const cli_context *cli, const tesela_xla_shape *shape, tesela_draw_options *options);

#endif
