/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_input.h - the inputs of report and diff: files, folders, standard input.
 */
#ifndef TESELA_CLI_REPORT_INPUT_H
#define TESELA_CLI_REPORT_INPUT_H

#include "main/options.h"
#include "report_ask.h"

void report_skipped_free(report_skipped *skipped);

/* What was read: arrays, and the compiler's records of the same programs. */
typedef struct report_inputs {
  tesela_report *report;
  tesela_records *records;
} report_inputs;

/*
 * Read all inputs named by `words` into a report and finish it. A folder means all text files in and below it, sorted by name; links
 * to folders are not followed there. *skipped, which the caller frees, and a note on stderr list the skipped files and the
 * reasons. `-` is standard input. A named file that is not text of a compiler is refused by its first bytes.
 *
 * Returns CLI_YES; CLI_BAD after reporting the error, if an input could not be read (the others are in the report) or nothing was
 * recognised in any; CLI_FAILED without memory. *inputs must be freed in any case.
 */
int report_input_read(const cli_context *cli, int n_words, const char *const *words, report_inputs *inputs,
                      report_skipped *skipped);
/* Was anything recognised? */
bool report_inputs_any(const report_inputs *inputs);
void report_inputs_free(report_inputs *inputs);

#endif
