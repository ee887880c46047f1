/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_opcodes.c - the opcodes of HLO that a class of operators says. All others become fallbacks.
 */
#include "graph/hlo/hlo.h"

/* Sorted by name. FUSED: element by element, with no function of ours. */
static const tesela__hlo_opcode hlo_opcodes[] = {
    {"abs", tesela__hlo_pointwise, TESELA_FN_ABS},
    {"add", tesela__hlo_pointwise, TESELA_FN_ADD},
    {"add-dependency", tesela__hlo_same_value, TESELA_FN_NONE},
    {"all-gather-done", tesela__hlo_collective_done, TESELA_FN_NONE},
    {"all-gather-start", tesela__hlo_collective, TESELA_FN_NONE},
    {"all-reduce", tesela__hlo_collective, TESELA_FN_NONE},
    {"all-reduce-done", tesela__hlo_same_value, TESELA_FN_NONE},
    {"all-reduce-start", tesela__hlo_collective, TESELA_FN_NONE},
    {"all-to-all", tesela__hlo_collective, TESELA_FN_NONE},
    {"and", tesela__hlo_pointwise, TESELA_FN_AND},
    {"async-done", tesela__hlo_same_value, TESELA_FN_NONE},
    {"async-start", tesela__hlo_call, TESELA_FN_NONE},
    {"async-update", tesela__hlo_same_value, TESELA_FN_NONE},
    {"atan2", tesela__hlo_pointwise, TESELA_FN_ATAN2},
    {"bitcast", tesela__hlo_bitcast, TESELA_FN_NONE},
    {"bitcast-convert", tesela__hlo_pointwise, TESELA_FN_BITCAST},
    {"broadcast", tesela__hlo_broadcast, TESELA_FN_NONE},
    {"call", tesela__hlo_call, TESELA_FN_NONE},
    {"cbrt", tesela__hlo_pointwise, TESELA_FN_CBRT},
    {"ceil", tesela__hlo_pointwise, TESELA_FN_CEIL},
    {"clamp", tesela__hlo_pointwise, TESELA_FN_CLAMP},
    {"collective-broadcast", tesela__hlo_collective, TESELA_FN_NONE},
    {"collective-permute", tesela__hlo_collective, TESELA_FN_NONE},
    {"collective-permute-done", tesela__hlo_collective_done, TESELA_FN_NONE},
    {"collective-permute-start", tesela__hlo_collective, TESELA_FN_NONE},
    {"compare", tesela__hlo_pointwise, TESELA_FN_EQ},
    {"complex", tesela__hlo_pointwise, TESELA_FN_FUSED},
    {"concatenate", tesela__hlo_concatenate, TESELA_FN_NONE},
    {"constant", tesela__hlo_constant, TESELA_FN_NONE},
    {"convert", tesela__hlo_pointwise, TESELA_FN_COPY},
    {"convolution", tesela__hlo_convolution, TESELA_FN_NONE},
    {"copy", tesela__hlo_pointwise, TESELA_FN_COPY},
    {"copy-done", tesela__hlo_done, TESELA_FN_NONE},
    {"copy-start", tesela__hlo_copy_start, TESELA_FN_COPY},
    {"cosine", tesela__hlo_pointwise, TESELA_FN_COS},
    {"count-leading-zeros", tesela__hlo_pointwise, TESELA_FN_CLZ},
    {"custom-call", tesela__hlo_custom_call, TESELA_FN_NONE},
    {"divide", tesela__hlo_pointwise, TESELA_FN_DIV},
    {"domain", tesela__hlo_same_value, TESELA_FN_NONE},
    {"dot", tesela__hlo_dot, TESELA_FN_NONE},
    {"dynamic-slice", tesela__hlo_dynamic_slice, TESELA_FN_NONE},
    {"dynamic-update-slice", tesela__hlo_dynamic_update, TESELA_FN_NONE},
    {"erf", tesela__hlo_pointwise, TESELA_FN_ERF},
    {"exponential", tesela__hlo_pointwise, TESELA_FN_EXP},
    {"exponential-minus-one", tesela__hlo_pointwise, TESELA_FN_EXPM1},
    {"floor", tesela__hlo_pointwise, TESELA_FN_FLOOR},
    {"fusion", tesela__hlo_call, TESELA_FN_NONE},
    {"gather", tesela__hlo_gather, TESELA_FN_NONE},
    {"get-tuple-element", tesela__hlo_element, TESELA_FN_NONE},
    {"imag", tesela__hlo_pointwise, TESELA_FN_FUSED},
    {"iota", tesela__hlo_iota, TESELA_FN_NONE},
    {"is-finite", tesela__hlo_pointwise, TESELA_FN_ISFINITE},
    {"log", tesela__hlo_pointwise, TESELA_FN_LOG},
    {"log-plus-one", tesela__hlo_pointwise, TESELA_FN_LOG1P},
    {"logistic", tesela__hlo_pointwise, TESELA_FN_SIGMOID},
    {"map", tesela__hlo_map, TESELA_FN_FUSED},
    {"maximum", tesela__hlo_pointwise, TESELA_FN_MAX},
    {"minimum", tesela__hlo_pointwise, TESELA_FN_MIN},
    {"multiply", tesela__hlo_pointwise, TESELA_FN_MUL},
    {"negate", tesela__hlo_pointwise, TESELA_FN_NEG},
    {"not", tesela__hlo_pointwise, TESELA_FN_NOT},
    {"opt-barrier", tesela__hlo_same_value, TESELA_FN_NONE},
    {"optimization-barrier", tesela__hlo_same_value, TESELA_FN_NONE},
    {"or", tesela__hlo_pointwise, TESELA_FN_OR},
    {"pad", tesela__hlo_pad, TESELA_FN_NONE},
    {"parameter", tesela__hlo_parameter, TESELA_FN_NONE},
    {"popcnt", tesela__hlo_pointwise, TESELA_FN_POPCNT},
    {"power", tesela__hlo_pointwise, TESELA_FN_POW},
    {"real", tesela__hlo_pointwise, TESELA_FN_FUSED},
    {"reduce", tesela__hlo_reduce, TESELA_FN_NONE},
    {"reduce-precision", tesela__hlo_pointwise, TESELA_FN_FUSED},
    {"reduce-window", tesela__hlo_reduce_window, TESELA_FN_NONE},
    {"remainder", tesela__hlo_pointwise, TESELA_FN_REM},
    {"reshape", tesela__hlo_reshaped, TESELA_FN_NONE},
    {"reverse", tesela__hlo_reverse, TESELA_FN_NONE},
    {"round-nearest-afz", tesela__hlo_pointwise, TESELA_FN_ROUND},
    {"round-nearest-even", tesela__hlo_pointwise, TESELA_FN_ROUND_EVEN},
    {"rsqrt", tesela__hlo_pointwise, TESELA_FN_RSQRT},
    {"scatter", tesela__hlo_scatter, TESELA_FN_NONE},
    {"select", tesela__hlo_pointwise, TESELA_FN_SELECT},
    {"shift-left", tesela__hlo_pointwise, TESELA_FN_SHIFT_LEFT},
    {"shift-right-arithmetic", tesela__hlo_pointwise, TESELA_FN_SHIFT_RIGHT},
    {"shift-right-logical", tesela__hlo_pointwise, TESELA_FN_SHIFT_RIGHT_LOGICAL},
    {"sign", tesela__hlo_pointwise, TESELA_FN_SIGN},
    {"sine", tesela__hlo_pointwise, TESELA_FN_SIN},
    {"slice", tesela__hlo_sliced, TESELA_FN_NONE},
    {"sort", tesela__hlo_sort, TESELA_FN_NONE},
    {"sqrt", tesela__hlo_pointwise, TESELA_FN_SQRT},
    {"stochastic-convert", tesela__hlo_pointwise, TESELA_FN_FUSED},
    {"subtract", tesela__hlo_pointwise, TESELA_FN_SUB},
    {"tan", tesela__hlo_pointwise, TESELA_FN_TAN},
    {"tanh", tesela__hlo_pointwise, TESELA_FN_TANH},
    {"topk", tesela__hlo_topk, TESELA_FN_NONE},
    {"transpose", tesela__hlo_transpose, TESELA_FN_NONE},
    {"tuple", tesela__hlo_tuple, TESELA_FN_NONE},
    {"xor", tesela__hlo_pointwise, TESELA_FN_XOR},
};
enum { HLO_OPCODES = sizeof hlo_opcodes / sizeof hlo_opcodes[0] };

const tesela__hlo_opcode *tesela__hlo_opcode_find(const char *text, tesela__hlo_span opcode) {
  size_t low = 0, high = HLO_OPCODES;
  while (low < high) {
    size_t middle = (low + high) / 2, n = strlen(hlo_opcodes[middle].name);
    int order = memcmp(text + opcode.at, hlo_opcodes[middle].name, opcode.n < n ? opcode.n : n);
    if (order == 0 && opcode.n == n) return &hlo_opcodes[middle];
    if (order > 0 || (order == 0 && opcode.n > n))
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

const char *tesela__hlo_opcode_of(tesela_fn fn) {
  if (fn == TESELA_FN_FUSED) return NULL;
  for (size_t i = 0; i < HLO_OPCODES; i++)
    if (hlo_opcodes[i].build == tesela__hlo_pointwise && hlo_opcodes[i].fn == fn) return hlo_opcodes[i].name;
  return NULL;
}
