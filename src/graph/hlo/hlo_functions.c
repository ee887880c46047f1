/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_functions.c - the opcodes of HLO that compute element by element, and their functions; the search in a table of opcodes.
 */
#include "graph/hlo/hlo.h"

const tesela__hlo_opcode *tesela__hlo_opcode_in(const tesela__hlo_opcode *rows, size_t n, const char *text,
                                                tesela__hlo_span opcode) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = (low + high) / 2, length = strlen(rows[middle].name);
    int order = memcmp(text + opcode.at, rows[middle].name, opcode.n < length ? opcode.n : length);
    if (order == 0 && opcode.n == length) return &rows[middle];
    if (order > 0 || (order == 0 && opcode.n > length))
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

/* Sorted by name. FUSED: a function unknown here. */
static const tesela__hlo_opcode hlo_functions[] = {
    {"abs", NULL, TESELA_FN_ABS},
    {"add", NULL, TESELA_FN_ADD},
    {"and", NULL, TESELA_FN_AND},
    {"atan2", NULL, TESELA_FN_ATAN2},
    {"bitcast-convert", NULL, TESELA_FN_BITCAST},
    {"cbrt", NULL, TESELA_FN_CBRT},
    {"ceil", NULL, TESELA_FN_CEIL},
    {"clamp", NULL, TESELA_FN_CLAMP},
    {"compare", NULL, TESELA_FN_EQ},
    {"complex", NULL, TESELA_FN_FUSED},
    {"convert", NULL, TESELA_FN_COPY},
    {"copy", NULL, TESELA_FN_COPY},
    {"cosine", NULL, TESELA_FN_COS},
    {"count-leading-zeros", NULL, TESELA_FN_CLZ},
    {"divide", NULL, TESELA_FN_DIV},
    {"erf", NULL, TESELA_FN_ERF},
    {"exponential", NULL, TESELA_FN_EXP},
    {"exponential-minus-one", NULL, TESELA_FN_EXPM1},
    {"floor", NULL, TESELA_FN_FLOOR},
    {"imag", NULL, TESELA_FN_FUSED},
    {"is-finite", NULL, TESELA_FN_ISFINITE},
    {"log", NULL, TESELA_FN_LOG},
    {"log-plus-one", NULL, TESELA_FN_LOG1P},
    {"logistic", NULL, TESELA_FN_SIGMOID},
    {"maximum", NULL, TESELA_FN_MAX},
    {"minimum", NULL, TESELA_FN_MIN},
    {"multiply", NULL, TESELA_FN_MUL},
    {"negate", NULL, TESELA_FN_NEG},
    {"not", NULL, TESELA_FN_NOT},
    {"or", NULL, TESELA_FN_OR},
    {"popcnt", NULL, TESELA_FN_POPCNT},
    {"power", NULL, TESELA_FN_POW},
    {"real", NULL, TESELA_FN_FUSED},
    {"reduce-precision", NULL, TESELA_FN_FUSED},
    {"remainder", NULL, TESELA_FN_REM},
    {"round-nearest-afz", NULL, TESELA_FN_ROUND},
    {"round-nearest-even", NULL, TESELA_FN_ROUND_EVEN},
    {"rsqrt", NULL, TESELA_FN_RSQRT},
    {"select", NULL, TESELA_FN_SELECT},
    {"shift-left", NULL, TESELA_FN_SHIFT_LEFT},
    {"shift-right-arithmetic", NULL, TESELA_FN_SHIFT_RIGHT},
    {"shift-right-logical", NULL, TESELA_FN_SHIFT_RIGHT_LOGICAL},
    {"sign", NULL, TESELA_FN_SIGN},
    {"sine", NULL, TESELA_FN_SIN},
    {"sqrt", NULL, TESELA_FN_SQRT},
    {"stochastic-convert", NULL, TESELA_FN_FUSED},
    {"subtract", NULL, TESELA_FN_SUB},
    {"tan", NULL, TESELA_FN_TAN},
    {"tanh", NULL, TESELA_FN_TANH},
    {"xor", NULL, TESELA_FN_XOR},
};
enum { HLO_FUNCTIONS = sizeof hlo_functions / sizeof hlo_functions[0] };

tesela_fn tesela__hlo_function_of(const char *text, tesela__hlo_span opcode) {
  const tesela__hlo_opcode *row = tesela__hlo_opcode_in(hlo_functions, HLO_FUNCTIONS, text, opcode);
  return row ? row->fn : TESELA_FN_NONE;
}

const char *tesela__hlo_opcode_of(tesela_fn fn) {
  if (fn == TESELA_FN_FUSED) return NULL;
  for (size_t i = 0; i < HLO_FUNCTIONS; i++)
    if (hlo_functions[i].fn == fn) return hlo_functions[i].name;
  return NULL;
}
