/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_print.h - a finished report on stdout: for people, as JSON, as TSV.
 */
#ifndef TESELA_CLI_REPORT_PRINT_H
#define TESELA_CLI_REPORT_PRINT_H

#include "main/process.h"
#include "main/options.h"
#include "report_ask.h"
#include "report/report_input.h"

/* The request. */
typedef struct report_view {
  const cli_context *cli;
  tesela_units units;
  report_ask ask;
} report_view;

/* The options --units, --space and --top, which report and diff share. Returns false after reporting the error: CLI_BAD. */
bool report_view_options(report_view *view);

/* Note the rows that are not printed, unless --top was given. */
void report_say_rows_left(const report_view *view);

/* report_people.c, report_details.c */
bool report_print_people(const report_view *view);
/* report_peak_text.c: the headline of HLO text; the bytes over time. */
void report_print_peak(const report_view *view);
/* report_pool_text.c: an allocator at run time; NULL: nothing */
void report_print_pool(const report_view *view, const tesela_report_pool *pool);
/* report_records_text.c. false: no memory */
bool report_print_records(const report_view *view);
bool report_print_timeline(const report_view *view);
/* "HBM", "VMEM", "S(5)" */
const char *report_space_name(int32_t space, char text[16]);
/* ", train.py:12, jit(step)/dot_general": where an array at the peak comes from, if it is known. */
void report_put_source(const report_view *view, const tesela_report_buffer *buffer);
/* report_since_text.c: the peak before and after, and the arrays that made it larger, or smaller. false: no memory. */
bool report_print_since_peak(const report_view *view, const report_ask *before, const report_ask *after);
/* What takes more than in the baseline. false: no memory. */
bool report_print_since(const report_view *view);
/* The array that adds most to what a limit is about, as a note on stderr; false: no memory. */
bool report_say_since(const report_view *view, const report_limit *limit);
/* report_change_text.c: what to change. false: no memory. */
bool report_print_changes(const report_view *view);
void report_print_details(const report_view *view, int64_t number, const tesela_report_array *array);
/* report_data.c. false: no memory or ferror(stdout). */
bool report_print_json(const report_view *view);
bool report_print_tsv(const report_view *view);

/* report_text.c: pieces of text. */

/* Print text from outside, with control characters replaced, in at most `columns` columns (< 0: no limit). Returns the columns
 * used. */
int report_put(const cli_term *term, const char *text, int columns);
/* The same as a TSV cell: tab, newline and backslash are escaped. */
void report_put_cell(const char *text);
/* "82%", with a decimal near 0 and 100. */
#define REPORT_PERCENT 16
const char *report_percent(double share, char text[REPORT_PERCENT]);
/* "12.8x"; "-" for arrays without data. */
#define REPORT_RATIO 24
const char *report_ratio(int64_t stored, int64_t data, char text[REPORT_RATIO]);
/* A number of bytes in the units of the view. */
const char *report_bytes(const report_view *view, int64_t bytes, char text[TESELA_UNITS_TEXT]);
/* "20.56 GiB"; "0 B to 15.62 GiB" if only a range is known. */
#define REPORT_RANGE (2 * TESELA_UNITS_TEXT + 4)
const char *report_range(const report_view *view, int64_t least, int64_t most, char text[REPORT_RANGE]);
/* "88%", "0% to 98%". */
const char *report_shares(double least, double most, char text[REPORT_RANGE]);
/* The same as a share of the bytes stored: "88%", "0% to 98%". */
const char *report_range_share(int64_t least, int64_t most, int64_t stored, char text[REPORT_RANGE]);
/* Print an array for a table: its shape, or its possible shapes. */
int report_put_array(const cli_term *term, const tesela_report_array *array, int columns);
/* "train.log:16", "line 16" of standard input. */
void report_place(const report_view *view, const cli_term *term, int32_t input, int64_t line);
void report_put_place(const report_view *view, int32_t input, int64_t line); /* on stdout */
/* "3 arrays", "1 array". */
void report_put_count(int64_t n, const char *noun);

/* A line that is collected first: text written to `term` is printed at the end, broken at blanks to the width of the terminal, if
 * any, with `indent` blanks before each further line. */
typedef struct report_line {
  cli_term term;
  const cli_term *out;
  process_text memory;
} report_line;
void report_line_begin(report_line *line, const cli_term *out);
void report_line_end(report_line *line, int indent);
/* Was a line lost, or not wrapped, because memory ran out? */
bool report_line_lost(void);

#endif
