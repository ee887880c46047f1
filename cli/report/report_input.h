/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_input.h - the inputs of report and diff: files, folders, standard input.
 */
#ifndef TESELA_CLI_REPORT_INPUT_H
#define TESELA_CLI_REPORT_INPUT_H

#include "main/options.h"
#include "report_ask.h"

void report_skipped_free(report_skipped *skipped);

/*
 * Read everything the words name into a report and finish it. A folder stands for all text files in and below
 * it, in order of their names; links to folders are not followed there; what is skipped and
 * why is in *skipped (to be freed) and a note on stderr. `-` is standard input. A named file that is no text of a
 * compiler is refused by its first bytes.
 *
 * Returns CLI_YES; CLI_BAD after saying why, if a word could not be read (what could be read is in the
 * report) or nothing was recognised in any; CLI_FAILED without memory. *report must be destroyed in any case.
 */
int report_input_read(const cli_context *cli, int n_words, const char *const *words, tesela_report **report,
                      report_skipped *skipped);

#endif
