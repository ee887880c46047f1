/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opcodes.c - which results of an HLO instruction are arrays of their own.
 *
 * One line per opcode that is not ordinary, sorted by name; then the endings; the rest is ordinary: every
 * array of the result is one in memory.
 */
#include "report/report_state.h"

#define COUNTS(which) TESELA_REPORT_COUNTS_##which
#define ROLE(which) TESELA_REPORT_##which

static const struct opcode_row {
  const char *opcode;
  tesela_report_opcode_rule rule;
} opcode_rows[] = {
    {"add-dependency", {COUNTS(NONE), ROLE(RESULT), "its operand, ordered after a token"}},
    {"after-all", {COUNTS(NONE), ROLE(RESULT), "a token"}},
    {"all-reduce-start", {COUNTS(ALL), ROLE(RESULT), "the destination, its only result"}},
    {"bitcast", {COUNTS(NONE), ROLE(RESULT), "the same memory seen as another shape"}},
    {"call", {COUNTS(NONE), ROLE(RESULT), "the result of the computation it calls, counted there"}},
    {"conditional", {COUNTS(NONE), ROLE(RESULT), "the result of a branch, counted there"}},
    {"constant", {COUNTS(ALL), ROLE(CONSTANT), "an array that comes with the program"}},
    {"copy", {COUNTS(ALL), ROLE(COPY), "an array of its own"}},
    {"copy-start", {COUNTS(FIRST), ROLE(COPY), "the destination; the source and the flag are not new"}},
    {"domain", {COUNTS(NONE), ROLE(RESULT), "its operand"}},
    {"get-tuple-element", {COUNTS(NONE), ROLE(RESULT), "a member of a tuple"}},
    {"infeed", {COUNTS(FIRST), ROLE(RESULT), "the data; the token has no array"}},
    {"opt-barrier", {COUNTS(NONE), ROLE(RESULT), "its operands"}},
    {"optimization-barrier", {COUNTS(NONE), ROLE(RESULT), "its operands"}},
    {"outfeed", {COUNTS(NONE), ROLE(RESULT), "a token"}},
    {"parameter",
     {COUNTS(ALL), ROLE(ARGUMENT), "an argument; outside the entry computation, the caller's array"}},
    {"recv", {COUNTS(FIRST), ROLE(RESULT), "the data; context and token have no array"}},
    {"send", {COUNTS(NONE), ROLE(RESULT), "its operand, in transit"}},
    {"tuple", {COUNTS(NONE), ROLE(RESULT), "a list of arrays that exist"}},
    {"while", {COUNTS(NONE), ROLE(RESULT), "its operand, updated in place"}},
};

static const struct opcode_row ending_rows[] = {
    {"-done", {COUNTS(NONE), ROLE(RESULT), "the destination created by its start"}},
    {"-update", {COUNTS(NONE), ROLE(RESULT), "the destination created by its start"}},
    {"-start", {COUNTS(SECOND), ROLE(RESULT), "the destination; the operands are not new"}},
};

static const tesela_report_opcode_rule ordinary_rule = {COUNTS(ALL), ROLE(RESULT), "an array of its own"};

tesela_report_opcode_rule tesela_report_opcode(const char *opcode, size_t length) {
  if (!opcode) return (tesela_report_opcode_rule){0};
  size_t low = 0, high = sizeof opcode_rows / sizeof opcode_rows[0];
  while (low < high) {
    size_t middle = (low + high) / 2;
    const char *name = opcode_rows[middle].opcode;
    int order = length > 0 && *name != *opcode ? *name - *opcode : strncmp(name, opcode, length);
    if (order == 0 && strlen(name) == length) return opcode_rows[middle].rule;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (size_t i = 0; i < sizeof ending_rows / sizeof ending_rows[0]; i++) {
    size_t n = strlen(ending_rows[i].opcode);
    if (length > n && memcmp(opcode + length - n, ending_rows[i].opcode, n) == 0) return ending_rows[i].rule;
  }
  return ordinary_rule;
}
