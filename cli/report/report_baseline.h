/* SPDX-License-Identifier: Apache-2.0 */
/* What grew since a baseline. */
#ifndef TESELA_CLI_REPORT_BASELINE_H
#define TESELA_CLI_REPORT_BASELINE_H

#include "report/report_input.h"
#include "report/report_print.h"

/* Note on stderr the three arrays that grew most since the input `since`, a file or folder. Returns CLI_YES, or what
 * report_input_read returned for it. */
int report_explain_since(const report_view *view, const char *since);

#endif
