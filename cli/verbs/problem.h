/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem.h - a relayout problem in one line, for plan, check, bench and bug reports:
 *
 *   f32[1024,1024]{1,0} -> {1,0:T(8,128)}
 *
 * and the options of a verb as fields of the operation of its name (problem_side.h).
 */
#ifndef TESELA_CLI_PROBLEM_H
#define TESELA_CLI_PROBLEM_H

#include "main/json.h"
#include "problem_side.h"

/* The problem and the request of a verb. It points into itself: do not copy. */
typedef struct problem_request {
  problem p;
  tesela_value field[JSON_FIELDS];
  size_t n;
  json_request ask;
} problem_request;

/* Read the argument PROBLEM, leniently, and all options; repairs are reported as notes. Returns false after reporting the
 * error, with the exit status in *status. */
bool problem_ask(const cli_context *cli, problem_request *ask, int *status);

/* Read --fill, the fill of the padding of `to`. Returns false after reporting the error: CLI_BAD. */
bool problem_say_fill(const cli_context *cli, const tesela_layout *to, tesela_plan_options *options);

#endif
