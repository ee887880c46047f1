/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_opcodes.c - the opcodes of HLO that a class of operators expresses. All others become fallbacks.
 */
#include "graph/hlo/hlo.h"

/* Sorted by name; elementwise opcodes are in hlo_functions.c. */
static const tesela__hlo_opcode hlo_opcodes[] = {
    {"add-dependency", tesela__hlo_same_value, TESELA_FN_NONE},
    {"all-gather-done", tesela__hlo_collective_done, TESELA_FN_NONE},
    {"all-gather-start", tesela__hlo_collective, TESELA_FN_NONE},
    {"all-reduce", tesela__hlo_collective, TESELA_FN_NONE},
    {"all-reduce-done", tesela__hlo_same_value, TESELA_FN_NONE},
    {"all-reduce-start", tesela__hlo_collective, TESELA_FN_NONE},
    {"all-to-all", tesela__hlo_collective, TESELA_FN_NONE},
    {"async-done", tesela__hlo_same_value, TESELA_FN_NONE},
    {"async-start", tesela__hlo_call, TESELA_FN_NONE},
    {"async-update", tesela__hlo_same_value, TESELA_FN_NONE},
    {"bitcast", tesela__hlo_bitcast, TESELA_FN_NONE},
    {"broadcast", tesela__hlo_broadcast, TESELA_FN_NONE},
    {"call", tesela__hlo_call, TESELA_FN_NONE},
    {"collective-broadcast", tesela__hlo_collective, TESELA_FN_NONE},
    {"collective-permute", tesela__hlo_collective, TESELA_FN_NONE},
    {"collective-permute-done", tesela__hlo_collective_done, TESELA_FN_NONE},
    {"collective-permute-start", tesela__hlo_collective, TESELA_FN_NONE},
    {"concatenate", tesela__hlo_concatenate, TESELA_FN_NONE},
    {"constant", tesela__hlo_constant, TESELA_FN_NONE},
    {"convolution", tesela__hlo_convolution, TESELA_FN_NONE},
    {"copy-done", tesela__hlo_done, TESELA_FN_NONE},
    {"copy-start", tesela__hlo_copy_start, TESELA_FN_NONE},
    {"custom-call", tesela__hlo_custom_call, TESELA_FN_NONE},
    {"domain", tesela__hlo_same_value, TESELA_FN_NONE},
    {"dot", tesela__hlo_dot, TESELA_FN_NONE},
    {"dynamic-slice", tesela__hlo_dynamic_slice, TESELA_FN_NONE},
    {"dynamic-update-slice", tesela__hlo_dynamic_update, TESELA_FN_NONE},
    {"fusion", tesela__hlo_call, TESELA_FN_NONE},
    {"gather", tesela__hlo_gather, TESELA_FN_NONE},
    {"get-tuple-element", tesela__hlo_element, TESELA_FN_NONE},
    {"iota", tesela__hlo_iota, TESELA_FN_NONE},
    {"map", tesela__hlo_map, TESELA_FN_NONE},
    {"opt-barrier", tesela__hlo_same_value, TESELA_FN_NONE},
    {"optimization-barrier", tesela__hlo_same_value, TESELA_FN_NONE},
    {"pad", tesela__hlo_pad, TESELA_FN_NONE},
    {"parameter", tesela__hlo_parameter, TESELA_FN_NONE},
    {"reduce", tesela__hlo_reduce, TESELA_FN_NONE},
    {"reduce-window", tesela__hlo_reduce_window, TESELA_FN_NONE},
    {"reshape", tesela__hlo_reshaped, TESELA_FN_NONE},
    {"reverse", tesela__hlo_reverse, TESELA_FN_NONE},
    {"scatter", tesela__hlo_scatter, TESELA_FN_NONE},
    {"slice", tesela__hlo_sliced, TESELA_FN_NONE},
    {"sort", tesela__hlo_sort, TESELA_FN_NONE},
    {"topk", tesela__hlo_topk, TESELA_FN_NONE},
    {"transpose", tesela__hlo_transpose, TESELA_FN_NONE},
    {"tuple", tesela__hlo_tuple, TESELA_FN_NONE},
};

tesela__hlo_handler *tesela__hlo_handler_of(const char *text, tesela__hlo_span opcode) {
  const tesela__hlo_opcode *row =
      tesela__hlo_opcode_in(hlo_opcodes, sizeof hlo_opcodes / sizeof hlo_opcodes[0], text, opcode);
  if (row) return row->build;
  return tesela__hlo_function_of(text, opcode) == TESELA_FN_NONE ? NULL : tesela__hlo_pointwise;
}
