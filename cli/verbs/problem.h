/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem.h - a relayout problem in one line, for plan, check, bench and bug reports:
 *
 *   f32[1024,1024]{1,0} -> {1,0:T(8,128)}
 *
 * On the left what the data is; on the right what it shall become: a layout alone, or a whole shape, whose type may be
 * another one (a conversion).
 */
#ifndef TESELA_CLI_PROBLEM_H
#define TESELA_CLI_PROBLEM_H

#include <tesela/notation.h>
#include <tesela/relayout.h>

#include "main/options.h"
#include "problem_side.h"

/* Read a problem line, leniently; what was mended is said as notes. Returns false after saying why, with the exit status
 * in *status. */
bool problem_read(const cli_context *cli, const char *text, problem *p, int *status);

/* The options --threads, --isa and --solver of a verb, and the problem's transformation; "all" stays BEST and ANY.
 * Returns false after saying why: CLI_BAD. */
bool problem_options(const cli_context *cli, const problem *p, tesela_plan_options *options);

/* What --fill says: "zero" (also NULL), "leave", or one element of `to`. false after saying what is wrong: CLI_BAD. */
bool problem_fill(const cli_context *cli, const char *text, const tesela_layout *to,
                  tesela_plan_options *options);

/* Print the line, both sides in full: "f32[8,128]{1,0} -> f32[8,128]{1,0:T(8,128)}". */
void problem_print(const problem *p, const tesela_writer *to);

#endif
