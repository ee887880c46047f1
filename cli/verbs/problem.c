/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem.c - a relayout problem in one line, and the options that go with it.
 */
#include "verbs/problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "main/input.h"
#include "main/say.h"

/* ---- the line --------------------------------------------------------------------------------------------- */

/* One side of the line, which is bytes at .. at+length-1 of it. */
static bool read_side(const cli_context *cli, const char *line, size_t at, size_t length,
                      const tesela_layout_read_options *options, const tesela_xla_shape *of,
                      problem_side *side, int *status) {
  tesela_error err = {.at = -1};
  tesela_xla_repairs repairs = {0};
  if (problem_read_side(line + at, length, options, of, side, &repairs, &err) != TESELA_OK) {
    if (err.at >= 0) err.at += (int64_t)at;
    *status = say_failure_in(cli, line, strlen(line), &err);
    fprintf(stderr, "This was %s of the arrow.\n", of ? "right" : "left");
    return false;
  }
  for (int32_t i = 0; i < repairs.count && i < TESELA_XLA_MAX_REPAIRS; i++)
    repairs.repair[i].at += (int64_t)at;
  input_repairs(cli, &repairs);
  return true;
}

/* Say what is wrong at a byte of the line. Returns false. */
static bool wrong_line(const cli_context *cli, const char *line, const char *at, const char *what,
                       int *status) {
  tesela_error err = {.status = TESELA_E_SYNTAX, .at = at - line};
  snprintf(err.message, sizeof err.message, "%s", what);
  *status = say_failure_in(cli, line, strlen(line), &err);
  return false;
}

static bool is_blank(const char *text, const char *end) {
  while (text < end && strchr(" \t\r\n", *text)) text++;
  return text == end;
}

/* Where the extent of a dim stands on the right side of the arrow; its beginning, if that lists no extents. */
static const char *extent_at(const char *right, int32_t dim) {
  const char *at = strchr(right, '[');
  for (; at && dim > 0; dim--) at = strchr(at + 1, ',');
  return at ? at + 1 : right;
}

/* Have both sides the same dims? */
static bool dims_agree(const cli_context *cli, const char *line, const char *right, const problem *p,
                       int *status) {
  const tesela_xla_shape *from = &p->from.shape, *to = &p->to.shape;
  char what[120];
  int32_t d = 0;
  if (from->rank != to->rank) {
    snprintf(what, sizeof what, "the array has %" PRId32 " dim%s on the right and %" PRId32 " on the left",
             to->rank, to->rank == 1 ? "" : "s", from->rank);
    return wrong_line(cli, line, extent_at(right, 0), what, status);
  }
  while (d < to->rank && to->dim[d] == from->dim[d]) d++;
  if (d == to->rank) return true;
  snprintf(what, sizeof what,
           "dim %" PRId32 " has extent %" PRId64 " on the right and %" PRId64 " on the left", d, to->dim[d],
           from->dim[d]);
  return wrong_line(cli, line, extent_at(right, d), what, status);
}

bool problem_read(const cli_context *cli, const char *text, problem *p, int *status) {
  const char *arrow = strstr(text, "->"), *other = strstr(text, "=>"), *end = text + strlen(text);
  if (!arrow && other) return wrong_line(cli, text, other, "expected ->, found =>", status);
  if (!arrow)
    return wrong_line(cli, text, end,
                      "-> is missing; a problem has two sides: f32[1024,1024]{1,0} -> {1,0:T(8,128)}",
                      status);
  if (is_blank(text, arrow))
    return wrong_line(cli, text, arrow, "the left side is missing: what the data is, f32[1024,1024]{1,0}",
                      status);
  if (is_blank(arrow + 2, end))
    return wrong_line(cli, text, end, "the right side is missing: what the data shall become, {1,0:T(8,128)}",
                      status);
  size_t left = (size_t)(arrow - text), right = left + 2;
  tesela_target own;
  tesela_layout_read_options options;
  if (!input_options(cli, &own, &options, status) ||
      !read_side(cli, text, 0, left, &options, NULL, &p->from, status) ||
      !read_side(cli, text, right, (size_t)(end - text) - right, &options, &p->from.shape, &p->to, status))
    return false;
  p->transform = problem_transform(p);
  return dims_agree(cli, text, arrow + 2, p, status);
}

void problem_print(const problem *p, const tesela_writer *to) {
  tesela_xla_print(&p->from.shape, true, to, NULL);
  to->write(to->user, " -> ", 4);
  tesela_xla_print(&p->to.shape, true, to, NULL);
}

/* ---- the options ------------------------------------------------------------------------------------------ */

/* The number of a name in one of the library's lists. */
static bool read_isa(const cli_context *cli, tesela_plan_options *options) {
  const char *text = cli_value(cli, "isa");
  if (!text || strcmp(text, "all") == 0) return true;
  for (int i = 0; tesela_isa_name((tesela_isa)i); i++)
    if (strcmp(text, tesela_isa_name((tesela_isa)i)) == 0) options->isa = (tesela_isa)i;
  if (tesela_isa_available(options->isa)) return true;
  say_error(cli, "this machine has no %s", text);
  return false;
}

static void read_solver(const cli_context *cli, tesela_plan_options *options) {
  const char *text = cli_value(cli, "solver");
  if (!text || strcmp(text, "all") == 0) return;
  for (int i = 0; tesela_solver_name((tesela_solver)i); i++)
    if (strcmp(text, tesela_solver_name((tesela_solver)i)) == 0) options->solver = (tesela_solver)i;
}

bool problem_fill(const cli_context *cli, const char *text, const tesela_layout *to,
                  tesela_plan_options *options) {
  tesela_error err = {.at = -1};
  options->fill = TESELA_FILL_ZERO;
  if (!text || strcmp(text, "zero") == 0) return true;
  options->fill = TESELA_FILL_LEAVE;
  if (strcmp(text, "leave") == 0) return true;
  options->fill = TESELA_FILL_VALUE;
  if (tesela_element_read(text, strlen(text), to->dtype, to->bits, options->fill_value, &err) == TESELA_OK)
    return true;
  char quote[SAY_QUOTE];
  say_usage(cli, "--fill is %s; it takes zero, leave, or an element: %s", say_quote(text, quote),
            err.message);
  return false;
}

bool problem_options(const cli_context *cli, const problem *p, tesela_plan_options *options) {
  int64_t threads;
  *options = (tesela_plan_options){.transform = p->transform};
  if (!cli_integer(cli, "threads", 1, 1024, 0, &threads) || !read_isa(cli, options)) return false;
  options->threads = (int32_t)threads;
  read_solver(cli, options);
  return true;
}
