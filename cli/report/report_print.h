/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_print.h - a finished report on stdout: for people, as JSON, as TSV.
 */
#ifndef TESELA_CLI_REPORT_PRINT_H
#define TESELA_CLI_REPORT_PRINT_H

#include "main/options.h"
#include "report_ask.h"
#include "report/report_input.h"

/* What was asked. */
typedef struct report_view {
  const cli_context *cli;
  tesela_units units;
  report_ask ask;
} report_view;

/* The options --units, --space and --top, which report and diff share. false after saying why: CLI_BAD. */
bool report_view_options(report_view *view);

/* The words on stderr about rows that --top leaves out, unless --top was asked for. */
void report_say_rows_left(const report_view *view);

/* report_people.c, report_details.c */
bool report_print_people(const report_view *view);
void report_print_details(const report_view *view, int64_t number, const tesela_report_array *array);
/* report_data.c. false: no memory or ferror(stdout). */
bool report_print_json(const report_view *view);
bool report_print_tsv(const report_view *view);

/* report_text.c: pieces of text. */

/* Text from outside, made harmless, in at most `columns` columns (< 0: no limit). Returns the columns it
 * took. */
int report_put(const cli_term *term, const char *text, int columns);
/* The same without a terminal in mind: tab, newline and backslash escaped, as a TSV cell. */
void report_put_cell(const char *text);
/* "82%", with a decimal near 0 and 100. */
#define REPORT_PERCENT 16
const char *report_percent(double share, char text[REPORT_PERCENT]);
/* "12.8x"; "-" for arrays without data. */
#define REPORT_RATIO 24
const char *report_ratio(int64_t stored, int64_t data, char text[REPORT_RATIO]);
/* A number of bytes in the units of the view. */
const char *report_bytes(const report_view *view, int64_t bytes, char text[TESELA_UNITS_TEXT]);
/* "20.56 GiB"; "0 B to 15.62 GiB" if that is all that is known. */
#define REPORT_RANGE (2 * TESELA_UNITS_TEXT + 4)
const char *report_range(const report_view *view, int64_t least, int64_t most, char text[REPORT_RANGE]);
/* "88%", "0% to 98%". */
const char *report_shares(double least, double most, char text[REPORT_RANGE]);
/* The same as a share of the bytes stored: "88%", "0% to 98%". */
const char *report_range_share(int64_t least, int64_t most, int64_t stored, char text[REPORT_RANGE]);
/* What an array is, in a table: its shape, or those it can be one of. */
int report_put_array(const cli_term *term, const tesela_report_array *array, int columns);
/* "train.log:16", "line 16" of standard input. */
void report_place(const report_view *view, const cli_term *term, int32_t input, int64_t line);
void report_put_place(const report_view *view, int32_t input, int64_t line); /* on stdout */
/* "3 arrays", "1 array". */
void report_put_count(int64_t n, const char *noun);

/* A line that is put together first: what is written to `term` comes out at the end, broken at blanks to
 * the width of the terminal if there is one, with `indent` blanks before the lines that follow. */
typedef struct report_line {
  cli_term term;
  const cli_term *out;
  char *text;
  size_t length;
} report_line;
void report_line_begin(report_line *line, const cli_term *out);
void report_line_end(report_line *line, int indent);
/* Was a line lost, or not wrapped, for want of memory? */
bool report_line_lost(void);

#endif
