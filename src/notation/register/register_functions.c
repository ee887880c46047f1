/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_functions.c - the functions of layout expressions: one table.
 *
 * A row has the name, its evaluator, the layouts it accepts, the arguments and one line of help. Calls are read by the
 * arguments' text (register_arguments.c), so a new name needs only a row.
 */
#include "notation/register/register_read.h"

#define NONE_ 0
#define REGISTER_ TESELA__OPERAND_REGISTER
#define SHARED_ TESELA__OPERAND_SHARED
#define GLOBAL_ TESELA__OPERAND_GLOBAL
#define MEMORY_ TESELA__OPERAND_MEMORY
#define LAYOUT_ TESELA__OPERAND_LAYOUT

/* name, evaluator, accepted layouts, composes as a method?, arguments, summary; sorted by name. */
#define FUNCTION_ROWS(X)                                                                                     \
  X("GlobalLayout", tesela__eval_global_parts, NONE_, false,                                                 \
    "shape, mode_shape, mode_strides, swizzle=None, offset=0, size=None",                                    \
    "tile in global memory, given by its modes and their strides")                                           \
  X("RegisterLayout", tesela__eval_layout_raw, NONE_, false,                                                 \
    "shape, mode_shape, spatial_modes, local_modes", "register layout from its four lists, not reduced")     \
  X("SharedLayout", tesela__eval_shared_parts, NONE_, false,                                                 \
    "shape, mode_shape, mode_strides, swizzle=None, offset=0, size=None",                                    \
    "tile in shared memory, given by its modes and their strides")                                           \
  X("Swizzle", tesela__eval_swizzle, NONE_, false, "base, bits, shift",                                      \
    "XOR stage x ^ (((x >> (base + shift)) & (2^bits - 1)) << base)")                                        \
  X("auto_local_spatial", tesela__eval_auto, NONE_, false, "num_threads, shape",                             \
    "spread a tile over threads, last dim first; each thread holds the rest")                                \
  X("auto_repeat_spatial", tesela__eval_auto, NONE_, false, "num_threads, shape",                            \
    "older name of auto_local_spatial")                                                                      \
  X("canonicalize", tesela__eval_canonicalize, REGISTER_, false, "layout",                                   \
    "canonical form: reduced, neighbouring replicas multiplied")                                             \
  X("column_local", tesela__eval_column_local, NONE_, true, "*shape",                                        \
    "one thread holds all elements, first dim fastest")                                                      \
  X("column_repeat", tesela__eval_column_local, NONE_, true, "*shape", "older name of column_local")         \
  X("column_spatial", tesela__eval_column_spatial, NONE_, true, "*shape",                                    \
    "one element per thread, first dim fastest")                                                             \
  X("compose", tesela__eval_compose, LAYOUT_, false, "outer, inner",                                         \
    "replace each element of outer by a whole inner: outer * inner")                                         \
  X("concat", tesela__eval_concat, REGISTER_, false, "lhs, rhs",                                             \
    "side by side: the dims of lhs, then those of rhs")                                                      \
  X("divide", tesela__eval_divide, REGISTER_, false, "layout, divisor",                                      \
    "the q with q * divisor = layout: layout / divisor")                                                     \
  X("flatten", tesela__eval_flatten, REGISTER_, false, "layout, start_dim=0, end_dim=-1",                    \
    "merge dims start_dim to end_dim, both included")                                                        \
  X("global_column_major", tesela__eval_global_column, NONE_, false, "*shape",                               \
    "compact in global memory, first dim fastest")                                                           \
  X("global_compose", tesela__eval_compose, GLOBAL_, false, "outer, inner",                                  \
    "compose for two global layouts")                                                                        \
  X("global_row_major", tesela__eval_global_row, NONE_, false, "*shape",                                     \
    "compact in global memory, last dim fastest")                                                            \
  X("global_slice", tesela__eval_slice, GLOBAL_, false, "layout, start, shape",                              \
    "part of a global layout from start on")                                                                 \
  X("global_strides", tesela__eval_global_strided, NONE_, false, "shape, strides, offset=0",                 \
    "in global memory, one stride per dim")                                                                  \
  X("left_divide", tesela__eval_left_divide, REGISTER_, false, "layout, divisor",                            \
    "the q with divisor * q = layout")                                                                       \
  X("local", tesela__eval_local, NONE_, true, "*shape, ranks=None",                                          \
    "one thread holds all elements, last dim fastest; ranks[d] is the position of dim d")                    \
  X("permute", tesela__eval_permute, LAYOUT_, false, "layout, dims",                                         \
    "permute dims: dim k of the result is dim dims[k]")                                                      \
  X("prepend", tesela__eval_prepend, MEMORY_, false, "layout, n",                                            \
    "add a new slowest dim of n: n consecutive tiles")                                                       \
  X("reduce", tesela__eval_reduce, REGISTER_, false, "layout, dims, keepdims=False",                         \
    "remove dims: their threads hold the same elements, their registers become one")                         \
  X("reduce_to", tesela__eval_reduce_to, REGISTER_, false, "layout, shape",                                  \
    "reduce to what broadcasts to the layout's shape")                                                       \
  X("reduced", tesela__eval_reduced, REGISTER_, false, "layout",                                             \
    "reduced form: no modes of 1, neighbouring modes joined")                                                \
  X("register_layout", tesela__eval_layout, NONE_, false, "shape, mode_shape, spatial_modes, local_modes",   \
    "register layout from its four lists, reduced")                                                          \
  X("repeat", tesela__eval_local, NONE_, true, "*shape, ranks=None", "older name of local")                  \
  X("repeat_to", tesela__eval_repeat_to, REGISTER_, false, "layout, shape",                                  \
    "repeat the layout over a larger tile, in registers")                                                    \
  X("replicated", tesela__eval_replicated, NONE_, false, "*shape, num_workers",                              \
    "every one of num_workers threads holds all elements")                                                   \
  X("reshape", tesela__eval_reshape, LAYOUT_, false, "layout, shape",                                        \
    "another shape with the same row-major element numbers")                                                 \
  X("retain", tesela__eval_retain, MEMORY_, false, "layout, dims", "keep these dims; index 0 in the others") \
  X("shared_column_major", tesela__eval_shared_column, NONE_, false, "*shape",                               \
    "compact in shared memory, first dim fastest")                                                           \
  X("shared_compose", tesela__eval_compose, SHARED_, false, "outer, inner",                                  \
    "compose for two shared layouts")                                                                        \
  X("shared_layout", tesela__eval_shared_parts, NONE_, false,                                                \
    "shape, mode_shape, mode_strides, swizzle=None, offset=0, size=None", "same as SharedLayout")            \
  X("shared_permute", tesela__eval_permute, SHARED_, false, "layout, dims", "permute for a shared layout")   \
  X("shared_prepend", tesela__eval_prepend, SHARED_, false, "layout, n", "prepend for a shared layout")      \
  X("shared_reshape", tesela__eval_reshape, SHARED_, false, "layout, shape", "reshape for a shared layout")  \
  X("shared_retain", tesela__eval_retain, SHARED_, false, "layout, dims", "retain for a shared layout")      \
  X("shared_row_major", tesela__eval_shared_row, NONE_, false, "*shape",                                     \
    "compact in shared memory, last dim fastest")                                                            \
  X("shared_row_major_swizzle", tesela__eval_swizzled, NONE_, false, "*shape, nbytes",                       \
    "rows of up to 128 bytes in shared memory, swizzled so that ldmatrix has no bank conflicts")             \
  X("shared_slice", tesela__eval_slice, SHARED_, false, "layout, start, shape", "slice for a shared layout") \
  X("shared_squeeze", tesela__eval_squeeze, SHARED_, false, "layout, dims", "squeeze for a shared layout")   \
  X("shared_strided", tesela__eval_shared_strided, NONE_, false, "shape, strides, offset=0",                 \
    "in shared memory, one stride per dim")                                                                  \
  X("shared_transpose", tesela__eval_transpose, SHARED_, false, "layout", "transpose for a shared layout")   \
  X("shared_unsqueeze", tesela__eval_unsqueeze, SHARED_, false, "layout, dims",                              \
    "unsqueeze for a shared layout")                                                                         \
  X("shared_wgmma", tesela__eval_wgmma, NONE_, false, "mn, k, bits, swizzle_bytes, k_major=True",            \
    "operand of wgmma or tcgen05.mma in shared memory, in its canonical layout")                             \
  X("slice", tesela__eval_slice, MEMORY_, false, "layout, start, shape",                                     \
    "part of a tile in memory from start on")                                                                \
  X("spatial", tesela__eval_spatial, NONE_, true, "*shape, ranks=None",                                      \
    "one element per thread, last dim fastest; ranks[d] is the position of dim d")                           \
  X("squeeze", tesela__eval_squeeze, LAYOUT_, false, "layout, dims", "remove dims of extent 1")              \
  X("transpose", tesela__eval_transpose, LAYOUT_, false, "layout", "reverse the order of all dims")          \
  X("unsqueeze", tesela__eval_unsqueeze, LAYOUT_, false, "layout, dims",                                     \
    "add dims of extent 1 at these positions of the result")                                                 \
  X("with_shape", tesela__eval_with_shape, REGISTER_, false, "layout, shape",                                \
    "same modes with another shape, not reduced")                                                            \
  X("with_size", tesela__eval_with_size, MEMORY_, false, "layout, size",                                     \
    "reserve size places, as room between this tile and the next; 0 for the minimum")                        \
  X("with_swizzle", tesela__eval_with_swizzle, MEMORY_, false, "layout, swizzle",                            \
    "add a swizzle to a layout without one")

static const tesela_expression_function function_texts[] = {
#define FUNCTION_ROW(name, evaluate, takes, composes, arguments, summary) {name, arguments, summary},
    FUNCTION_ROWS(FUNCTION_ROW)
#undef FUNCTION_ROW
};

static const struct {
  tesela__evaluate *evaluate;
  int32_t takes;
  bool composes;
} function_rows[] = {
#define FUNCTION_ROW(name, evaluate, takes, composes, arguments, summary) {evaluate, takes, composes},
    FUNCTION_ROWS(FUNCTION_ROW)
#undef FUNCTION_ROW
};

#undef FUNCTION_ROWS
#undef NONE_
#undef REGISTER_
#undef SHARED_
#undef GLOBAL_
#undef MEMORY_
#undef LAYOUT_

enum { N_FUNCTIONS = sizeof function_texts / sizeof function_texts[0] };

const tesela_expression_function *tesela_expression_functions(int32_t *n) {
  if (n) *n = N_FUNCTIONS;
  return function_texts;
}

bool tesela__function_find(const char *name, size_t length, tesela__function_call *call) {
  int32_t low = 0, high = N_FUNCTIONS;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    const char *other = function_texts[middle].name;
    int order = strncmp(other, name, length);
    if (order == 0 && other[length] == '\0') {
      call->function = &function_texts[middle];
      call->evaluate = function_rows[middle].evaluate;
      call->takes = function_rows[middle].takes;
      call->composes = function_rows[middle].composes;
      return true;
    }
    if (order < 0) low = middle + 1;
    if (order >= 0) high = middle;
  }
  return false;
}

static const char *function_candidate(const void *user, int32_t i) {
  (void)user;
  return i < N_FUNCTIONS ? function_texts[i].name : NULL;
}

const char *tesela__function_nearest(const char *name, size_t length) {
  return tesela__nearest(name, length, function_candidate, NULL);
}
