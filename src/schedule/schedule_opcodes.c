/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_opcodes.c - what an opcode does with memory: one line per opcode that is not ordinary, sorted by name; then the endings.
 */
#include "schedule/schedule.h"

#define OP(which) TESELA__OP_##which

static const struct schedule_row {
  const char *opcode;
  tesela__schedule_op op;
} schedule_rows[] = {
    {"abs", OP(ELEMENTWISE)},
    {"add", OP(ELEMENTWISE)},
    {"add-dependency", OP(VIEW)},
    {"all-reduce-done", OP(VIEW)},
    {"all-reduce-start", OP(ORDINARY)},
    {"and", OP(ELEMENTWISE)},
    {"atan2", OP(ELEMENTWISE)},
    {"bitcast", OP(VIEW)},
    {"bitcast-convert", OP(ELEMENTWISE)},
    {"call", OP(CALL)},
    {"cbrt", OP(ELEMENTWISE)},
    {"ceil", OP(ELEMENTWISE)},
    {"clamp", OP(ELEMENTWISE)},
    {"clz", OP(ELEMENTWISE)},
    {"compare", OP(ELEMENTWISE)},
    {"complex", OP(ELEMENTWISE)},
    {"conditional", OP(CONDITIONAL)},
    {"constant", OP(CONSTANT)},
    {"convert", OP(ELEMENTWISE)},
    {"copy-done", OP(DONE_FIRST)},
    {"copy-start", OP(COPY_START)},
    {"cosine", OP(ELEMENTWISE)},
    {"divide", OP(ELEMENTWISE)},
    {"domain", OP(VIEW)},
    {"dynamic-update-slice", OP(IN_PLACE)},
    {"erf", OP(ELEMENTWISE)},
    {"exponential", OP(ELEMENTWISE)},
    {"exponential-minus-one", OP(ELEMENTWISE)},
    {"floor", OP(ELEMENTWISE)},
    {"fusion", OP(FUSION)},
    {"get-tuple-element", OP(MEMBER)},
    {"imag", OP(ELEMENTWISE)},
    {"is-finite", OP(ELEMENTWISE)},
    {"log", OP(ELEMENTWISE)},
    {"log-plus-one", OP(ELEMENTWISE)},
    {"logistic", OP(ELEMENTWISE)},
    {"maximum", OP(ELEMENTWISE)},
    {"minimum", OP(ELEMENTWISE)},
    {"multiply", OP(ELEMENTWISE)},
    {"negate", OP(ELEMENTWISE)},
    {"not", OP(ELEMENTWISE)},
    {"opt-barrier", OP(VIEW)},
    {"optimization-barrier", OP(VIEW)},
    {"or", OP(ELEMENTWISE)},
    {"parameter", OP(PARAMETER)},
    {"popcnt", OP(ELEMENTWISE)},
    {"power", OP(ELEMENTWISE)},
    {"real", OP(ELEMENTWISE)},
    {"recv", OP(ORDINARY)},
    {"recv-done", OP(RECV_DONE)},
    {"reduce-precision", OP(ELEMENTWISE)},
    {"remainder", OP(ELEMENTWISE)},
    {"round-nearest-afz", OP(ELEMENTWISE)},
    {"round-nearest-even", OP(ELEMENTWISE)},
    {"rsqrt", OP(ELEMENTWISE)},
    {"scatter", OP(IN_PLACE)},
    {"select", OP(ELEMENTWISE)},
    {"send", OP(SEND)},
    {"send-done", OP(ORDINARY)},
    {"shift-left", OP(ELEMENTWISE)},
    {"shift-right-arithmetic", OP(ELEMENTWISE)},
    {"shift-right-logical", OP(ELEMENTWISE)},
    {"sign", OP(ELEMENTWISE)},
    {"sine", OP(ELEMENTWISE)},
    {"sqrt", OP(ELEMENTWISE)},
    {"subtract", OP(ELEMENTWISE)},
    {"tan", OP(ELEMENTWISE)},
    {"tanh", OP(ELEMENTWISE)},
    {"tuple", OP(TUPLE)},
    {"while", OP(WHILE)},
    {"xor", OP(ELEMENTWISE)},
};

static const struct schedule_row schedule_endings[] = {
    {"-done", OP(DONE)},
    {"-start", OP(START)},
    {"-update", OP(VIEW)},
};

tesela__schedule_op tesela__schedule_op_of(tesela__span opcode) {
  size_t low = 0, high = sizeof schedule_rows / sizeof schedule_rows[0];
  while (low < high) {
    size_t middle = (low + high) / 2;
    const char *name = schedule_rows[middle].opcode;
    int order = *name - *opcode.text;
    if (order == 0) order = strncmp(name, opcode.text, opcode.n);
    if (order == 0 && strlen(name) == opcode.n) return schedule_rows[middle].op;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (size_t i = 0; i < sizeof schedule_endings / sizeof schedule_endings[0]; i++) {
    size_t n = strlen(schedule_endings[i].opcode);
    if (opcode.n > n && memcmp(opcode.text + opcode.n - n, schedule_endings[i].opcode, n) == 0)
      return schedule_endings[i].op;
  }
  return TESELA__OP_ORDINARY;
}
