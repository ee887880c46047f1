/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph.c - building programs: shapes and types by rows, refusals by rows, names, marks, in-place writes.
 *
 * Expected shapes are NumPy's, PyTorch's and XLA's rules worked out by hand.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_fault.h"
#include "support_graph_build.h"
#include "support_report.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

#define D(...) ((const int32_t[]){__VA_ARGS__})
#define N(...) ((const int64_t[]){__VA_ARGS__})

/* name, operands, spec, result ("" : refused with `status`, and the message has `words`) */
typedef struct shape_row {
  const char *name, *operands;
  tesela_node_spec spec;
  const char *result;
  tesela_status status;
  const char *words;
} shape_row;

static const shape_row good_rows[] = {
    {"same shapes", "f16[2,3] f16[2,3]", {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD}, "f16[2,3]", 0, 0},
    {"aligned at the end",
     "f16[4,1,3] f16[2,1]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD},
     "f16[4,2,3]",
     0,
     0},
    {"a scalar", "f16[] f16[5]", {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_MUL}, "f16[5]", 0, 0},
    {"1 and 0 give 0", "f16[1] f16[0]", {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_MUL}, "f16[0]", 0, 0},
    {"three operands",
     "pred[3,1] f32[1,4] f32[]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_SELECT},
     "f32[3,4]",
     0,
     0},
    {"a comparison is pred",
     "f32[2] f32[2]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_LT},
     "pred[2]",
     0,
     0},
    {"isfinite is pred", "f32[2]", {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ISFINITE}, "pred[2]", 0, 0},
    {"clamp has x's type",
     "s32[] f32[2] s32[]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_CLAMP},
     "f32[2]",
     0,
     0},
    {"a type that is said",
     "f32[2]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_COPY, .dtype = TESELA_BF16},
     "bf16[2]",
     0,
     0},
    {"widths alone", "-[2,3] -[3]", {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD}, "-[2,3]", 0, 0},
    {"fused takes any number",
     "f16[2] f16[1] f16[2] f16[]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_FUSED},
     "f16[2]",
     0,
     0},
    {"and of pred", "pred[2] pred[2]", {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_AND}, "pred[2]", 0, 0},
    {"16 dims",
     "f16[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2] f16[3,1]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD},
     "f16[1,1,1,1,1,1,1,1,1,1,1,1,1,1,3,2]",
     0,
     0},
    {"fold one dim",
     "f16[2,3,4]",
     {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_SUM, .n_dims = 1, .dims = D(1)},
     "f16[2,4]",
     0,
     0},
    {"fold from the end",
     "f16[2,3,4]",
     {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_MAX, .n_dims = 2, .dims = D(-1, 0)},
     "f16[3]",
     0,
     0},
    {"fold and keep",
     "f16[2,3,4]",
     {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_MEAN, .n_dims = 2, .dims = D(0, 2), .keepdim = true},
     "f16[1,3,1]",
     0,
     0},
    {"fold all", "f16[2,3,4]", {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_PROD}, "f16[]", 0, 0},
    {"fold a scalar", "f16[]", {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_SUM}, "f16[]", 0, 0},
    {"matrices", "f16[2,3] f16[3,5]", {.op = TESELA_OP_MATMUL}, "f16[2,5]", 0, 0},
    {"vectors", "f16[3] f16[3]", {.op = TESELA_OP_MATMUL}, "f16[]", 0, 0},
    {"matrix and vector", "f16[2,3] f16[3]", {.op = TESELA_OP_MATMUL}, "f16[2]", 0, 0},
    {"vector and matrix", "f16[3] f16[3,5]", {.op = TESELA_OP_MATMUL}, "f16[5]", 0, 0},
    {"vector and batch", "f16[3] f16[7,3,5]", {.op = TESELA_OP_MATMUL}, "f16[7,5]", 0, 0},
    {"batch and vector", "f16[7,2,3] f16[3]", {.op = TESELA_OP_MATMUL}, "f16[7,2]", 0, 0},
    {"batch dims broadcast", "f16[9,1,2,3] f16[7,3,5]", {.op = TESELA_OP_MATMUL}, "f16[9,7,2,5]", 0, 0},
    {"sum over nothing", "f16[2,0] f16[0,5]", {.op = TESELA_OP_MATMUL}, "f16[2,5]", 0, 0},
    {"another type", "s8[2,3] s8[3,5]", {.op = TESELA_OP_MATMUL, .dtype = TESELA_S32}, "s32[2,5]", 0, 0},
    {"labels: x's last with y's last",
     "f16[2,3] f16[5,3]",
     {.op = TESELA_OP_MATMUL, .rank = 2, .n_labels = 3, .x_label = D(0, 2), .y_label = D(1, 2)},
     "f16[2,5]",
     0,
     0},
    {"labels: the result transposed, a dim of y only summed",
     "f16[2,3] f16[5,3,7]",
     {.op = TESELA_OP_MATMUL, .rank = 2, .n_labels = 4, .x_label = D(1, 2), .y_label = D(0, 2, 3)},
     "f16[5,2]",
     0,
     0},
    {"labels: a product of scalars",
     "f16[] f16[]",
     {.op = TESELA_OP_MATMUL, .x_label = D(0), .y_label = D(0)},
     "f16[]",
     0,
     0},
    {"conv: 3x3, padded by 1",
     "f32[2,4,8,9] f32[6,4,3,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.low = {1, 1}, .high = {1, 1}}},
     "f32[2,6,8,9]",
     0,
     0},
    {"conv: stride and dilation",
     "f32[2,4,11,12] f32[6,4,3,2]",
     {.op = TESELA_OP_CONV2D, .conv = {.stride = {2, 3}, .dilation = {2, 4}}},
     "f32[2,6,4,3]",
     0,
     0},
    {"conv: dims elsewhere",
     "f32[2,8,9,4] f32[3,3,4,6]",
     {.op = TESELA_OP_CONV2D, .conv = {.x = {0, 3, 1, 2}, .w = {3, 2, 0, 1}, .result = {0, 3, 1, 2}}},
     "f32[2,6,7,6]",
     0,
     0},
    {"conv: a window that does not fit",
     "f32[2,4,2,9] f32[6,4,3,3]",
     {.op = TESELA_OP_CONV2D},
     "f32[2,6,0,7]",
     0,
     0},
    {"gather rows", "f16[100,8] s32[2,3]", {.op = TESELA_OP_GATHER}, "f16[2,3,8]", 0, 0},
    {"gather in the middle",
     "f16[4,100,8] s64[5]",
     {.op = TESELA_OP_GATHER, .n_dims = 1, .dims = D(-2)},
     "f16[4,5,8]",
     0,
     0},
    {"gather one row", "f16[100,8] u8[]", {.op = TESELA_OP_GATHER}, "f16[8]", 0, 0},
    {"scatter",
     "f16[4,100,8] s32[2,3] f16[4,2,3,8]",
     {.op = TESELA_OP_SCATTER, .fn = TESELA_FN_ADD, .n_dims = 1, .dims = D(1)},
     "f16[4,100,8]",
     0,
     0},
    {"cat", "f16[2,3] f16[2,0] f16[2,5]", {.op = TESELA_OP_CAT, .n_dims = 1, .dims = D(1)}, "f16[2,8]", 0, 0},
    {"cat of one", "f16[2,3]", {.op = TESELA_OP_CAT, .n_dims = 1, .dims = D(-1)}, "f16[2,3]", 0, 0},
    {"pad around and between",
     "f16[3,4]",
     {.op = TESELA_OP_PAD, .low = N(1, 0), .high = N(2, -1), .step = N(1, 3)},
     "f16[6,9]",
     0,
     0},
    {"pad what is empty",
     "f16[0]",
     {.op = TESELA_OP_PAD, .low = N(2), .high = N(1), .step = N(5)},
     "f16[3]",
     0,
     0},
    {"write",
     "f16[8,9] f16[2,3]",
     {.op = TESELA_OP_WRITE, .start = N(5, 2), .step = N(2, 3)},
     "f16[8,9]",
     0,
     0},
    {"write nothing at the end", "f16[8] f16[0]", {.op = TESELA_OP_WRITE, .start = N(8)}, "f16[8]", 0, 0},
    {"clone", "f16[8]", {.op = TESELA_OP_CLONE}, "f16[8]", 0, 0},
    {"fallback",
     "f16[8]",
     {.op = TESELA_OP_FALLBACK, .opcode = "sort", .dtype = TESELA_S32, .rank = 1, .shape = N(4)},
     "s32[4]",
     0,
     0},
    {"a tuple of a fallback", "f16[8]", {.op = TESELA_OP_FALLBACK, .dtype = TESELA_TOKEN}, "token[]", 0, 0},
    {"constant",
     "",
     {.op = TESELA_OP_CONSTANT, .dtype = TESELA_F32, .rank = 2, .shape = N(2, 3), .value = 1},
     "f32[2,3]",
     0,
     0},
    {"iota",
     "",
     {.op = TESELA_OP_CONSTANT, .dtype = TESELA_S32, .rank = 2, .shape = N(2, 3), .n_dims = 1, .dims = D(-1)},
     "s32[2,3]",
     0,
     0},
    {"permute", "f16[2,3,4]", {.op = TESELA_OP_PERMUTE, .n_dims = 3, .dims = D(2, 0, 1)}, "f16[4,2,3]", 0, 0},
    {"permute a scalar", "f16[]", {.op = TESELA_OP_PERMUTE}, "f16[]", 0, 0},
    {"reshape", "f16[2,3,4]", {.op = TESELA_OP_RESHAPE, .rank = 2, .shape = N(4, -1)}, "f16[4,6]", 0, 0},
    {"reshape to a scalar", "f16[1,1]", {.op = TESELA_OP_RESHAPE}, "f16[]", 0, 0},
    {"reshape nothing", "f16[0,3]", {.op = TESELA_OP_RESHAPE, .rank = 2, .shape = N(7, 0)}, "f16[7,0]", 0, 0},
    {"reshape nothing, open",
     "f16[0,3]",
     {.op = TESELA_OP_RESHAPE, .rank = 2, .shape = N(7, -1)},
     "f16[7,0]",
     0,
     0},
    {"squeeze", "f16[1,3,1]", {.op = TESELA_OP_SQUEEZE, .n_dims = 1, .dims = D(-1)}, "f16[1,3]", 0, 0},
    {"squeeze all", "f16[1,3,1]", {.op = TESELA_OP_SQUEEZE}, "f16[3]", 0, 0},
    {"unsqueeze",
     "f16[2,3]",
     {.op = TESELA_OP_UNSQUEEZE, .n_dims = 2, .dims = D(1, -1)},
     "f16[2,1,3,1]",
     0,
     0},
    {"expand", "f16[2,1]", {.op = TESELA_OP_EXPAND, .rank = 3, .shape = N(4, -1, 5)}, "f16[4,2,5]", 0, 0},
    {"expand by dims",
     "f16[2,3]",
     {.op = TESELA_OP_EXPAND, .rank = 3, .shape = N(2, 7, 3), .n_dims = 2, .dims = D(0, 2)},
     "f16[2,7,3]",
     0,
     0},
    {"expand by dims out of order",
     "f16[2,3]",
     {.op = TESELA_OP_EXPAND, .rank = 2, .shape = N(3, 2), .n_dims = 2, .dims = D(1, 0)},
     "f16[3,2]",
     0,
     0},
    {"expand to nothing", "f16[1]", {.op = TESELA_OP_EXPAND, .rank = 1, .shape = N(0)}, "f16[0]", 0, 0},
    {"slice",
     "f16[10,8]",
     {.op = TESELA_OP_SLICE, .start = N(1, 7), .length = N(3, 4), .step = N(4, -2)},
     "f16[3,4]",
     0,
     0},
    {"slice one dim",
     "f16[9,8]",
     {.op = TESELA_OP_SLICE, .n_dims = 1, .dims = D(-1), .start = N(2), .length = N(5)},
     "f16[9,5]",
     0,
     0},
    {"slice to the end", "f16[9]", {.op = TESELA_OP_SLICE, .start = N(1), .step = N(3)}, "f16[3]", 0, 0},
    {"slice back to the front",
     "f16[9]",
     {.op = TESELA_OP_SLICE, .start = N(7), .step = N(-3)},
     "f16[3]",
     0,
     0},
    {"slice nothing", "f16[9]", {.op = TESELA_OP_SLICE, .start = N(9), .length = N(0)}, "f16[0]", 0, 0},
};

#define BIG INT64_C(4611686018427387904) /* 2^62 */

static const shape_row bad_rows[] = {
    {"no such class", "", {.op = (tesela_op)99}, "", TESELA_E_RANGE, "99"},
    {"no such function",
     "f16[2]",
     {.op = TESELA_OP_POINTWISE, .fn = (tesela_fn)99},
     "",
     TESELA_E_RANGE,
     "99"},
    {"no such type", "f16[2]", {.op = TESELA_OP_CLONE, .dtype = (tesela_dtype)99}, "", TESELA_E_RANGE, "99"},
    {"too few operands", "f16[2]", {.op = TESELA_OP_MATMUL}, "", TESELA_E_INVALID, "1 operands; it takes 2"},
    {"no operands", "", {.op = TESELA_OP_CAT}, "", TESELA_E_INVALID, "1 or more"},
    {"operands of another function",
     "f16[2] f16[2]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_NEG},
     "",
     TESELA_E_INVALID,
     "2 operands; neg takes 1"},
    {"a fold that is none of elements",
     "f16[2] f16[2]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_SUM},
     "",
     TESELA_E_INVALID,
     "sum"},
    {"no function", "f16[2]", {.op = TESELA_OP_POINTWISE}, "", TESELA_E_INVALID, "none is no function"},
    {"shapes that differ",
     "f16[2,3] f16[2,4]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD},
     "",
     TESELA_E_INVALID,
     "operand 1 [2,4] does not broadcast with [2,3]"},
    {"0 and 2 differ",
     "f16[0] f16[2]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD},
     "",
     TESELA_E_INVALID,
     "[2] does not broadcast with [0]"},
    {"bits of a float",
     "f16[2] s32[2]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_OR},
     "",
     TESELA_E_INVALID,
     "or of f16: operand 0"},
    {"too wide when broadcast",
     "f16[4000000000,1] f16[1,4000000000]",
     {.op = TESELA_OP_POINTWISE, .fn = TESELA_FN_ADD},
     "",
     TESELA_E_OVERFLOW,
     "[4000000000,4000000000]"},
    {"fold with div",
     "f16[2]",
     {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_DIV},
     "",
     TESELA_E_INVALID,
     "div is no fold"},
    {"fold a dim that is none",
     "f16[2]",
     {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_SUM, .n_dims = 1, .dims = D(1)},
     "",
     TESELA_E_RANGE,
     "dim 1 is none; there are 1 dims"},
    {"fold a dim twice",
     "f16[2,3]",
     {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_SUM, .n_dims = 2, .dims = D(1, -1)},
     "",
     TESELA_E_INVALID,
     "dim 1 is named twice"},
    {"dims that are not given",
     "f16[2,3]",
     {.op = TESELA_OP_REDUCE, .fn = TESELA_FN_SUM, .n_dims = 1},
     "",
     TESELA_E_INVALID,
     "none are given"},
    {"matmul of other extents",
     "f16[2,3] f16[4,5]",
     {.op = TESELA_OP_MATMUL},
     "",
     TESELA_E_INVALID,
     "[2,3] and [4,5]"},
    {"matmul of a scalar", "f16[] f16[4,5]", {.op = TESELA_OP_MATMUL}, "", TESELA_E_INVALID, "scalar"},
    {"matmul of other batches",
     "f16[2,2,3] f16[4,3,5]",
     {.op = TESELA_OP_MATMUL},
     "",
     TESELA_E_INVALID,
     "batch extents differ"},
    {"labels that contradict",
     "f16[2,3] f16[4,5]",
     {.op = TESELA_OP_MATMUL, .rank = 2, .n_labels = 3, .x_label = D(0, 2), .y_label = D(2, 1)},
     "",
     TESELA_E_INVALID,
     "label 2 is 3 long in x and 4 in y"},
    {"labels do not broadcast",
     "f16[2,1] f16[4,5]",
     {.op = TESELA_OP_MATMUL, .rank = 2, .n_labels = 3, .x_label = D(0, 2), .y_label = D(2, 1)},
     "",
     TESELA_E_INVALID,
     "label 2 is 1 long in x and 4 in y"},
    {"a diagonal",
     "f16[3,3] f16[3]",
     {.op = TESELA_OP_MATMUL, .rank = 1, .n_labels = 1, .x_label = D(0, 0), .y_label = D(0)},
     "",
     TESELA_E_INVALID,
     "two dims of x"},
    {"a label that is none",
     "f16[3] f16[3]",
     {.op = TESELA_OP_MATMUL, .rank = 1, .n_labels = 1, .x_label = D(0), .y_label = D(1)},
     "",
     TESELA_E_RANGE,
     "label 1"},
    {"a label of nothing",
     "f16[3] f16[3]",
     {.op = TESELA_OP_MATMUL, .rank = 1, .n_labels = 2, .x_label = D(0), .y_label = D(0)},
     "",
     TESELA_E_INVALID,
     "no dim has label 1"},
    {"a label left out where there is more than 1",
     "f16[3] f16[3]",
     {.op = TESELA_OP_MATMUL, .rank = 1, .n_labels = 1, .x_label = D(0), .y_label = D(-1)},
     "",
     TESELA_E_RANGE,
     "label -1"},
    {"too many labels",
     "f16[3] f16[3]",
     {.op = TESELA_OP_MATMUL, .n_labels = 33, .x_label = D(0), .y_label = D(0)},
     "",
     TESELA_E_LIMIT,
     "33"},
    {"more dims than labels",
     "f16[3] f16[3]",
     {.op = TESELA_OP_MATMUL, .rank = 2, .n_labels = 1, .x_label = D(0), .y_label = D(0)},
     "",
     TESELA_E_RANGE,
     "rank 2"},
    {"labels of one side",
     "f16[3] f16[3]",
     {.op = TESELA_OP_MATMUL, .rank = 1, .n_labels = 1, .x_label = D(0)},
     "",
     TESELA_E_INVALID,
     "y has no labels"},
    {"conv of matrices", "f32[2,3] f32[2,3]", {.op = TESELA_OP_CONV2D}, "", TESELA_E_INVALID, "4 dims"},
    {"conv in groups",
     "f32[2,4,8,9] f32[6,2,3,3]",
     {.op = TESELA_OP_CONV2D},
     "",
     TESELA_E_INVALID,
     "4 channels, w takes 2"},
    {"conv dims twice",
     "f32[2,4,8,9] f32[6,4,3,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.x = {0, 1, 1, 2}}},
     "",
     TESELA_E_INVALID,
     "conv.x names dim 1 twice"},
    {"conv dim 4",
     "f32[2,4,8,9] f32[6,4,3,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.w = {0, 1, 2, 4}}},
     "",
     TESELA_E_RANGE,
     "conv.w names dim 4"},
    {"conv stride",
     "f32[2,4,8,9] f32[6,4,3,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.stride = {1, -1}}},
     "",
     TESELA_E_RANGE,
     "of the width"},
    {"conv padding",
     "f32[2,4,8,9] f32[6,4,3,3]",
     {.op = TESELA_OP_CONV2D, .conv = {.low = {INT64_MAX, 0}}},
     "",
     TESELA_E_OVERFLOW,
     "height"},
    {"gather with floats",
     "f16[4] f32[2]",
     {.op = TESELA_OP_GATHER},
     "",
     TESELA_E_INVALID,
     "operand 1 is f32"},
    {"gather from a scalar",
     "f16[] s32[2]",
     {.op = TESELA_OP_GATHER},
     "",
     TESELA_E_INVALID,
     "no dim to look up"},
    {"gather two dims",
     "f16[4,4] s32[2]",
     {.op = TESELA_OP_GATHER, .n_dims = 2, .dims = D(0, 1)},
     "",
     TESELA_E_INVALID,
     "2 dims"},
    {"gather of too many dims",
     "f16[1,1,1,1,1,1,1,1,1] s32[1,1,1,1,1,1,1,1,1]",
     {.op = TESELA_OP_GATHER},
     "",
     TESELA_E_LIMIT,
     "rank 17"},
    {"scatter of other values",
     "f16[9,8] s32[2] f16[2,7]",
     {.op = TESELA_OP_SCATTER},
     "",
     TESELA_E_INVALID,
     "[2,7]; x and the indices make it [2,8]"},
    {"scatter with max",
     "f16[9] s32[2] f16[2]",
     {.op = TESELA_OP_SCATTER, .fn = TESELA_FN_MAX},
     "",
     TESELA_E_INVALID,
     "function max"},
    {"cat of other extents",
     "f16[2,3] f16[3,3]",
     {.op = TESELA_OP_CAT, .n_dims = 1, .dims = D(1)},
     "",
     TESELA_E_INVALID,
     "operand 1 [3,3] does not join [2,3] along dim 1"},
    {"cat of other ranks", "f16[2,3] f16[2]", {.op = TESELA_OP_CAT}, "", TESELA_E_INVALID, "operand 1 [2]"},
    {"cat of scalars", "f16[] f16[]", {.op = TESELA_OP_CAT}, "", TESELA_E_INVALID, "scalars"},
    {"pad below nothing",
     "f16[3]",
     {.op = TESELA_OP_PAD, .low = N(-2), .high = N(-2)},
     "",
     TESELA_E_RANGE,
     "extent -1"},
    {"pad by steps of 0", "f16[3]", {.op = TESELA_OP_PAD, .step = N(0)}, "", TESELA_E_RANGE, "step 0"},
    {"pad too far",
     "f16[3]",
     {.op = TESELA_OP_PAD, .low = N(BIG), .high = N(BIG)},
     "",
     TESELA_E_OVERFLOW,
     "dim 0"},
    {"pad to a negative that has no opposite",
     "f16[3]",
     {.op = TESELA_OP_PAD, .low = N(INT64_MIN), .high = N(INT64_MAX)},
     "",
     TESELA_E_OVERFLOW,
     "dim 0"},
    {"write beyond",
     "f16[8] f16[3]",
     {.op = TESELA_OP_WRITE, .start = N(6)},
     "",
     TESELA_E_RANGE,
     "3 elements from 6"},
    {"write before", "f16[8] f16[3]", {.op = TESELA_OP_WRITE, .start = N(-1)}, "", TESELA_E_RANGE, "from -1"},
    {"write another rank", "f16[8,2] f16[3]", {.op = TESELA_OP_WRITE}, "", TESELA_E_INVALID, "ranks differ"},
    {"in place where it cannot be",
     "f16[8]",
     {.op = TESELA_OP_CLONE, .in_place = true},
     "",
     TESELA_E_INVALID,
     "does not write in place"},
    {"a clone of another type",
     "f16[8]",
     {.op = TESELA_OP_CLONE, .dtype = TESELA_F32},
     "",
     TESELA_E_INVALID,
     "not f32"},
    {"a view of another type",
     "f16[8]",
     {.op = TESELA_OP_SQUEEZE, .dtype = TESELA_F32},
     "",
     TESELA_E_INVALID,
     "type f32"},
    {"a constant without type", "", {.op = TESELA_OP_CONSTANT}, "", TESELA_E_INVALID, "neither its type nor"},
    {"a constant of tokens",
     "",
     {.op = TESELA_OP_CONSTANT, .dtype = TESELA_TOKEN},
     "",
     TESELA_E_INVALID,
     "token"},
    {"a constant of wide elements",
     "",
     {.op = TESELA_OP_CONSTANT, .bits = 2000},
     "",
     TESELA_E_RANGE,
     "2000 bits"},
    {"17 dims",
     "",
     {.op = TESELA_OP_CONSTANT, .dtype = TESELA_F32, .rank = 17, .shape = N(1)},
     "",
     TESELA_E_LIMIT,
     "rank 17"},
    {"-1 dims",
     "",
     {.op = TESELA_OP_CONSTANT, .dtype = TESELA_F32, .rank = -1},
     "",
     TESELA_E_RANGE,
     "rank -1"},
    {"a negative extent",
     "",
     {.op = TESELA_OP_CONSTANT, .dtype = TESELA_F32, .rank = 1, .shape = N(-1)},
     "",
     TESELA_E_RANGE,
     "extent -1 of dim 0"},
    {"no shape",
     "",
     {.op = TESELA_OP_CONSTANT, .dtype = TESELA_F32, .rank = 1},
     "",
     TESELA_E_INVALID,
     "no shape"},
    {"2^62 f32",
     "",
     {.op = TESELA_OP_CONSTANT, .dtype = TESELA_F32, .rank = 2, .shape = N(BIG, 0)},
     "",
     TESELA_E_OVERFLOW,
     "32 bits"},
    {"iota along two dims",
     "",
     {.op = TESELA_OP_CONSTANT,
      .dtype = TESELA_F32,
      .rank = 2,
      .shape = N(2, 3),
      .n_dims = 2,
      .dims = D(0, 1)},
     "",
     TESELA_E_INVALID,
     "2 dims"},
    {"input strides beyond int64",
     "",
     {.op = TESELA_OP_INPUT, .dtype = TESELA_F32, .rank = 1, .shape = N(5), .strides = N(BIG)},
     "",
     TESELA_E_OVERFLOW,
     "stride"},
    {"input stick that is none",
     "",
     {.op = TESELA_OP_INPUT, .dtype = TESELA_F32, .rank = 1, .shape = N(5), .stick = 1},
     "",
     TESELA_E_RANGE,
     "stick dim 1"},
    {"input stick -2",
     "",
     {.op = TESELA_OP_INPUT, .dtype = TESELA_F32, .rank = 1, .shape = N(5), .stick = -2},
     "",
     TESELA_E_RANGE,
     "stick dim -2"},
    {"permute too few",
     "f16[2,3]",
     {.op = TESELA_OP_PERMUTE, .n_dims = 1, .dims = D(0)},
     "",
     TESELA_E_INVALID,
     "names all 2"},
    {"permute too many",
     "f16[2]",
     {.op = TESELA_OP_PERMUTE, .n_dims = 2, .dims = D(0, 0)},
     "",
     TESELA_E_RANGE,
     "2 dims are named; there are 1"},
    {"reshape other elements",
     "f16[2,3]",
     {.op = TESELA_OP_RESHAPE, .rank = 1, .shape = N(7)},
     "",
     TESELA_E_INVALID,
     "[2,3] cannot become [7]"},
    {"reshape by a divisor that is none",
     "f16[2,3]",
     {.op = TESELA_OP_RESHAPE, .rank = 2, .shape = N(4, -1)},
     "",
     TESELA_E_INVALID,
     "[4,-1]"},
    {"reshape with two open extents",
     "f16[2,3]",
     {.op = TESELA_OP_RESHAPE, .rank = 2, .shape = N(-1, -1)},
     "",
     TESELA_E_INVALID,
     "dims 0 and 1"},
    {"reshape nothing, open beside 0",
     "f16[0]",
     {.op = TESELA_OP_RESHAPE, .rank = 2, .shape = N(0, -1)},
     "",
     TESELA_E_INVALID,
     "[0,-1]"},
    {"reshape to too many",
     "f16[2]",
     {.op = TESELA_OP_RESHAPE, .rank = 3, .shape = N(BIG, BIG, 2)},
     "",
     TESELA_E_INVALID,
     "differ"},
    {"squeeze a dim above 1",
     "f16[2,1]",
     {.op = TESELA_OP_SQUEEZE, .n_dims = 1, .dims = D(0)},
     "",
     TESELA_E_INVALID,
     "dim 0 has extent 2"},
    {"unsqueeze nothing", "f16[2,1]", {.op = TESELA_OP_UNSQUEEZE}, "", TESELA_E_INVALID, "no dims"},
    {"unsqueeze to 17 dims",
     "f16[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]",
     {.op = TESELA_OP_UNSQUEEZE, .n_dims = 1, .dims = D(0)},
     "",
     TESELA_E_LIMIT,
     "16 and 1"},
    {"unsqueeze beyond",
     "f16[2]",
     {.op = TESELA_OP_UNSQUEEZE, .n_dims = 1, .dims = D(2)},
     "",
     TESELA_E_RANGE,
     "dim 2"},
    {"expand a dim above 1",
     "f16[2]",
     {.op = TESELA_OP_EXPAND, .rank = 1, .shape = N(4)},
     "",
     TESELA_E_INVALID,
     "extent 2 cannot become 4"},
    {"expand to fewer dims",
     "f16[1,1]",
     {.op = TESELA_OP_EXPAND, .rank = 1, .shape = N(1)},
     "",
     TESELA_E_INVALID,
     "[1,1] cannot become [1]"},
    {"expand a new dim by -1",
     "f16[2]",
     {.op = TESELA_OP_EXPAND, .rank = 2, .shape = N(-1, 2)},
     "",
     TESELA_E_INVALID,
     "dim 0 is new"},
    {"expand with dims left out",
     "f16[2,3]",
     {.op = TESELA_OP_EXPAND, .rank = 2, .shape = N(2, 3), .n_dims = 1, .dims = D(0)},
     "",
     TESELA_E_INVALID,
     "operand 0 has 2"},
    {"expand too far",
     "f16[1]",
     {.op = TESELA_OP_EXPAND, .rank = 2, .shape = N(BIG, BIG)},
     "",
     TESELA_E_OVERFLOW,
     "16 bits"},
    {"slice beyond",
     "f16[9]",
     {.op = TESELA_OP_SLICE, .start = N(3), .length = N(4), .step = N(2)},
     "",
     TESELA_E_RANGE,
     "4 elements from 3 in steps of 2"},
    {"slice from beyond", "f16[9]", {.op = TESELA_OP_SLICE, .start = N(10)}, "", TESELA_E_RANGE, "from 10"},
    {"slice from before",
     "f16[9]",
     {.op = TESELA_OP_SLICE, .start = N(-1), .length = N(1)},
     "",
     TESELA_E_RANGE,
     "from -1"},
    {"slice back too far",
     "f16[9]",
     {.op = TESELA_OP_SLICE, .start = N(3), .length = N(3), .step = N(-2)},
     "",
     TESELA_E_RANGE,
     "steps of -2"},
    {"slice by 0", "f16[9]", {.op = TESELA_OP_SLICE, .step = N(0)}, "", TESELA_E_RANGE, "step 0"},
    {"slice a negative length",
     "f16[9]",
     {.op = TESELA_OP_SLICE, .length = N(-1)},
     "",
     TESELA_E_RANGE,
     "-1 elements"},
    {"slice by steps beyond int64",
     "f16[9]",
     {.op = TESELA_OP_SLICE, .length = N(3), .step = N(INT64_MAX)},
     "",
     TESELA_E_RANGE,
     "3 elements"},
    {"slice by the least step",
     "f16[9]",
     {.op = TESELA_OP_SLICE, .start = N(8), .length = N(2), .step = N(INT64_MIN)},
     "",
     TESELA_E_RANGE,
     "2 elements"},
};

static void add_row(const shape_row *row, tesela_status *status, tesela_error *err, tesela_graph **graph,
                    int32_t *node) {
  int32_t operand[8];
  OK(tesela_graph_create(graph, NULL, &e_));
  tesela_node_spec spec = row->spec;
  spec.n_operands = build_inputs(*graph, row->operands, operand);
  spec.operand = operand;
  spec.name = "y";
  *node = -7;
  *status = tesela_graph_add(*graph, &spec, node, err);
}

static void shapes_and_types_by_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof good_rows / sizeof good_rows[0]; i++) {
    const shape_row *row = &good_rows[i];
    tesela_graph *graph;
    tesela_status status;
    tesela_error err = {.message = ""};
    int32_t y;
    add_row(row, &status, &err, &graph, &y);
    if (status != TESELA_OK) fail_msg("%s: %s", row->name, err.message);
    if (!build_is(graph, y, row->result)) fail_msg("%s: not %s", row->name, row->result);
    if (tesela_graph_count(graph) != y + 1 || tesela_graph_find(graph, "y") != y)
      fail_msg("%s: number", row->name);
    tesela_graph_destroy(graph);
  }
}

static void refusals_by_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad_rows / sizeof bad_rows[0]; i++) {
    const shape_row *row = &bad_rows[i];
    tesela_graph *graph;
    tesela_status status;
    tesela_error err = {.message = ""};
    int32_t y;
    add_row(row, &status, &err, &graph, &y);
    if (status != row->status || err.status != status || !strstr(err.message, row->words))
      fail_msg("%s: %s '%s'", row->name, tesela_status_code(status), err.message);
    assert_int_equal(y, -7);
    assert_int_equal(tesela_graph_find(graph, "y"), -1);
    int32_t count = tesela_graph_count(graph);
    tesela_graph_destroy(graph);
    add_row(row, &status, NULL, &graph, &y); /* without an error to fill */
    assert_int_equal(status, row->status);
    assert_int_equal(tesela_graph_count(graph), count);
    tesela_graph_destroy(graph);
  }
}

/* ---- names ---- */

static tesela_status add_op(tesela_graph *graph, tesela_op op, tesela_fn fn, const char *name, int32_t n,
                            const int32_t *operand, int32_t *node, tesela_error *err) {
  tesela_node_spec spec = {.op = op, .fn = fn, .name = name, .n_operands = n, .operand = operand};
  return tesela_graph_add(graph, &spec, node, err);
}

static void names_are_unique_and_found(void **state) {
  (void)state;
  tesela_graph *graph;
  tesela_error err = {.message = ""};
  OK(tesela_graph_create(&graph, NULL, &e_));
  assert_int_equal(tesela_graph_find(graph, "x"), -1);
  int32_t x = build_input(graph, "x", "f16[2]"), y;
  for (int32_t k = 1; k < 3000; k++) { /* through many sizes of the table */
    char name[32];
    snprintf(name, sizeof name, "n%d", (int)k * 7919);
    OK(add_op(graph, TESELA_OP_CLONE, TESELA_FN_NONE, name, 1, D(k - 1), &y, &e_));
    assert_int_equal(y, k);
  }
  for (int32_t k = 1; k < 3000; k++) {
    char name[32];
    snprintf(name, sizeof name, "n%d", (int)k * 7919);
    assert_int_equal(tesela_graph_find(graph, name), k);
  }
  assert_int_equal(tesela_graph_find(graph, "n1"), -1);
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, TESELA_FN_NONE, "n7919", 1, &x, &y, &err),
                   TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "taken by node 1"));
  static const char *const bad[] = {"", "a b", "a\n", "a\"", "50%", "a,b", "a(b", "a{", "a=b", "a\\", "\x7f"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(add_op(graph, TESELA_OP_CLONE, TESELA_FN_NONE, bad[i], 1, &x, &y, &err),
                     TESELA_E_INVALID);
  char longest[TESELA_GRAPH_NAME + 1];
  memset(longest, 'l', sizeof longest);
  longest[TESELA_GRAPH_NAME] = '\0';
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, TESELA_FN_NONE, longest, 1, &x, &y, &err), TESELA_E_LIMIT);
  longest[TESELA_GRAPH_NAME - 1] = '\0';
  OK(add_op(graph, TESELA_OP_CLONE, TESELA_FN_NONE, longest, 1, &x, &y, &e_));
  assert_string_equal(tesela_graph_node(graph, y)->name, longest);
  tesela_graph_destroy(graph);
}

static void names_are_made_where_there_are_none(void **state) {
  (void)state;
  tesela_graph *graph;
  int32_t y, z;
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_input(graph, "exp.1", "f16[2]");
  OK(add_op(graph, TESELA_OP_POINTWISE, TESELA_FN_EXP, NULL, 1, D(0), &y, &e_)); /* exp.1 is taken */
  OK(add_op(graph, TESELA_OP_CLONE, TESELA_FN_NONE, NULL, 1, D(0), &z, &e_));
  assert_string_equal(tesela_graph_node(graph, y)->name, "exp.2");
  assert_string_equal(tesela_graph_node(graph, z)->name, "clone.2");
  assert_int_equal(tesela_graph_find(graph, "exp.2"), y);
  tesela_graph_destroy(graph);
}

/* ---- buffers ---- */

static void a_value_that_was_overwritten_is_gone(void **state) {
  (void)state;
  tesela_graph *graph;
  tesela_error err = {.message = ""};
  int32_t view, w, y, bad, in_buffer, slice;
  OK(tesela_graph_create(&graph, NULL, &e_));
  int32_t x = build_input(graph, "x", "f16[4,6]"), p = build_input(graph, "p", "f16[2,3]");
  tesela_node_spec t = {
      .op = TESELA_OP_PERMUTE, .name = "t", .n_operands = 1, .operand = &x, .n_dims = 2, .dims = D(1, 0)};
  OK(tesela_graph_add(graph, &t, &view, &e_));
  tesela_node_spec s = {.op = TESELA_OP_SLICE,
                        .name = "s",
                        .n_operands = 1,
                        .operand = &x,
                        .start = N(1, 2),
                        .length = N(3, 4)};
  OK(tesela_graph_add(graph, &s, &slice, &e_));
  tesela_node_spec write = {.op = TESELA_OP_WRITE,
                            .name = "w",
                            .n_operands = 2,
                            .operand = D(slice, p),
                            .start = N(0, 1),
                            .in_place = true};
  OK(tesela_graph_add(graph, &write, &w, &e_));
  const tesela_node *node = tesela_graph_node(graph, w);
  assert_int_equal(node->buffer, x); /* the tensor is the slice, its memory x's */
  assert_true(node->in_place && !node->view);
  assert_int_equal(node->offset, 8);
  assert_int_equal(node->stride[0], 6);
  assert_int_equal(node->stride[1], 1);
  assert_int_equal(node->shape[0], 3);
  const int32_t gone[] = {x, view, slice};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(add_op(graph, TESELA_OP_CLONE, 0, "bad", 1, &gone[i], &bad, &err), TESELA_E_INVALID);
    assert_non_null(strstr(err.message, "overwritten in place"));
    assert_int_equal(tesela_graph_set_output(graph, gone[i], &err), TESELA_E_INVALID);
  }
  OK(add_op(graph, TESELA_OP_CLONE, 0, "y", 1, &w, &y, &e_));
  tesela_node_spec again = {.op = TESELA_OP_WRITE, .n_operands = 2, .operand = D(w, w), .in_place = true};
  assert_int_equal(tesela_graph_add(graph, &again, &bad, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "operand 1 reads the buffer"));
  again.operand = D(w, p);
  OK(tesela_graph_add(graph, &again, &in_buffer, &e_));
  assert_int_equal(tesela_graph_node(graph, in_buffer)->buffer, x);
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, 0, "bad", 1, &w, &bad, &err), TESELA_E_INVALID);
  OK(tesela_graph_set_output(graph, in_buffer, &e_));
  again.operand = D(in_buffer, p); /* an output that would change */
  assert_int_equal(tesela_graph_add(graph, &again, &bad, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "is an output"));
  tesela_node_spec e = {
      .op = TESELA_OP_EXPAND, .name = "e", .n_operands = 1, .operand = D(p), .rank = 3, .shape = N(5, 2, 3)};
  OK(tesela_graph_add(graph, &e, &y, &e_));
  again.operand = D(y, y);
  assert_int_equal(tesela_graph_add(graph, &again, &bad, &err), TESELA_E_INVALID);
  again.operand = D(y, x);
  assert_int_equal(tesela_graph_add(graph, &again, &bad, &err), TESELA_E_INVALID);
  tesela_graph_destroy(graph);
}

static void a_repeated_element_is_not_written_in_place(void **state) {
  (void)state;
  tesela_graph *graph;
  tesela_error err = {.message = ""};
  int32_t e, bad;
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_input(graph, "x", "f16[3]");
  build_input(graph, "p", "f16[2,3]");
  tesela_node_spec expand = {
      .op = TESELA_OP_EXPAND, .n_operands = 1, .operand = D(0), .rank = 2, .shape = N(5, 3)};
  OK(tesela_graph_add(graph, &expand, &e, &e_));
  tesela_node_spec write = {.op = TESELA_OP_WRITE, .n_operands = 2, .operand = D(e, 1), .in_place = true};
  assert_int_equal(tesela_graph_add(graph, &write, &bad, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "repeats its elements along dim 0"));
  write.in_place = false;
  OK(tesela_graph_add(graph, &write, &e, &e_));
  assert_int_equal(tesela_graph_node(graph, e)->buffer, e);
  tesela_graph_destroy(graph);
}

static void operands_must_be_nodes(void **state) {
  (void)state;
  tesela_graph *graph;
  tesela_error err = {.message = ""};
  int32_t y = -3;
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_input(graph, "x", "f16[3]");
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, 0, NULL, 1, D(1), &y, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "node 1; the graph has nodes 0 to 0"));
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, 0, NULL, 1, D(-1), &y, &err), TESELA_E_INVALID);
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, 0, NULL, 1, NULL, &y, &err), TESELA_E_INVALID);
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, 0, NULL, -1, NULL, &y, &err), TESELA_E_INVALID);
  tesela_node_spec token = {.op = TESELA_OP_FALLBACK, .dtype = TESELA_TOKEN};
  OK(tesela_graph_add(graph, &token, NULL, &e_));
  assert_int_equal(add_op(graph, TESELA_OP_CLONE, 0, NULL, 1, D(1), &y, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "token"));
  assert_int_equal(y, -3);
  assert_int_equal(tesela_graph_count(graph), 2);
  assert_null(tesela_graph_node(graph, 2));
  assert_null(tesela_graph_node(graph, -1));
  assert_int_equal(tesela_graph_set_output(graph, 2, &err), TESELA_E_RANGE);
  tesela_graph_destroy(graph);
  tesela_graph_destroy(NULL);
}

static void inputs_keep_what_they_come_with(void **state) {
  (void)state;
  tesela_graph *graph;
  OK(tesela_graph_create(&graph, NULL, &e_));
  tesela_node_spec x = {.op = TESELA_OP_INPUT,
                        .dtype = TESELA_BF16,
                        .rank = 2,
                        .shape = N(3, 5),
                        .strides = N(-1, 3),
                        .stick = 1};
  int32_t k;
  OK(tesela_graph_add(graph, &x, &k, &e_));
  const tesela_node *node = tesela_graph_node(graph, k);
  assert_int_equal(node->host_stride[0], -1);
  assert_int_equal(node->host_stride[1], 3);
  assert_int_equal(node->stride[0], 5); /* of the buffer: row-major */
  assert_int_equal(node->stride[1], 1);
  assert_int_equal(node->stick, 1);
  assert_int_equal(node->bits, 16);
  assert_int_equal(node->buffer, k);
  assert_null(node->layout);
  tesela_node_spec scalar = {.op = TESELA_OP_INPUT, .dtype = TESELA_PRED};
  OK(tesela_graph_add(graph, &scalar, &k, &e_));
  assert_int_equal(tesela_graph_node(graph, k)->stick, TESELA_STICK_SPARSE);
  assert_int_equal(tesela_graph_node(graph, k)->bits, 8);
  tesela_graph_destroy(graph);
}

/* ---- layouts and hints ---- */

static void a_buffer_takes_a_layout_of_its_shape(void **state) {
  (void)state;
  tesela_graph *graph;
  tesela_error err = {.message = ""};
  int32_t view;
  tesela_device_layout layout = {.host = {.rank = 2, .shape = {3, 5}}, .lanes = 64}, other = layout;
  other.host.shape[1] = 4;
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_input(graph, "x", "f16[3,5]");
  tesela_node_spec t = {
      .op = TESELA_OP_PERMUTE, .n_operands = 1, .operand = D(0), .n_dims = 2, .dims = D(1, 0)};
  OK(tesela_graph_add(graph, &t, &view, &e_));
  assert_int_equal(tesela_graph_set_layout(graph, 0, &other, &err), TESELA_E_MISMATCH);
  assert_non_null(strstr(err.message, "has shape [3,5]; the layout is of [3,4]"));
  assert_int_equal(tesela_graph_set_layout(graph, view, &layout, &err), TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "its buffer is x"));
  assert_int_equal(tesela_graph_set_layout(graph, 2, &layout, &err), TESELA_E_RANGE);
  assert_null(tesela_graph_node(graph, 0)->layout);
  OK(tesela_graph_set_layout(graph, 0, &layout, &e_));
  layout.lanes = 32; /* it was copied */
  assert_int_equal(tesela_graph_node(graph, 0)->layout->lanes, 64);
  OK(tesela_graph_set_layout(graph, 0, &layout, &e_));
  assert_int_equal(tesela_graph_node(graph, 0)->layout->lanes, 32);
  assert_null(tesela_graph_node(graph, view)->layout);
  tesela_graph_destroy(graph);
}

static void hints_are_checked(void **state) {
  (void)state;
  static const struct {
    tesela_hint hint;
    tesela_status status;
    const char *words;
  } rows[] = {
      {{TESELA_HINT_REQUIRE, 0, 1, 0, 0}, TESELA_OK, ""},
      {{TESELA_HINT_FORBID, 0, -1, 0, 0}, TESELA_OK, ""},
      {{TESELA_HINT_PREFER, 2, 0, 0, 7}, TESELA_OK, ""},
      {{TESELA_HINT_FORBID_MOVE, 2, 0, -1, 0}, TESELA_OK, ""},
      {{TESELA_HINT_FREE, 0, 0, 0, 0}, TESELA_OK, ""},
      {{TESELA_HINT_REQUIRE, 3, 1, 0, 0}, TESELA_E_RANGE, "node 3"},
      {{TESELA_HINT_REQUIRE, -1, 1, 0, 0}, TESELA_E_RANGE, "node -1"},
      {{TESELA_HINT_REQUIRE, 0, 2, 0, 0}, TESELA_E_RANGE, "stick dim 2"},
      {{TESELA_HINT_FORBID, 0, -2, 0, 0}, TESELA_E_RANGE, "stick dim -2"},
      {{TESELA_HINT_REQUIRE, 1, 0, 0, 0}, TESELA_E_INVALID, "hint at its buffer, x"},
      {{TESELA_HINT_PREFER, 0, 0, 0, -1}, TESELA_E_RANGE, "price -1"},
      {{TESELA_HINT_FORBID_MOVE, 2, 0, 1, 0}, TESELA_E_RANGE, "operand 1"},
      {{TESELA_HINT_FORBID_MOVE, 1, 0, 0, 0}, TESELA_E_INVALID, "view"},
      {{TESELA_HINT_FREE, 2, 0, 0, 0}, TESELA_E_INVALID, "only an input"},
      {{(tesela_hint_kind)5, 0, 0, 0, 0}, TESELA_E_RANGE, "hint 5"},
  };
  tesela_graph *graph;
  int32_t view, y, accepted = 0;
  OK(tesela_graph_create(&graph, NULL, &e_));
  build_input(graph, "x", "f16[3,5]");
  tesela_node_spec t = {
      .op = TESELA_OP_PERMUTE, .n_operands = 1, .operand = D(0), .n_dims = 2, .dims = D(1, 0)};
  OK(tesela_graph_add(graph, &t, &view, &e_));
  OK(add_op(graph, TESELA_OP_CLONE, 0, "y", 1, D(1), &y, &e_));
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_error err = {.message = ""};
    tesela_status status = tesela_graph_hint(graph, &rows[i].hint, &err);
    if (status != rows[i].status || !strstr(err.message, rows[i].words))
      fail_msg("row %zu: %s", i, err.message);
    if (status != TESELA_OK) continue;
    assert_memory_equal(tesela_graph_hint_at(graph, accepted), &rows[i].hint, sizeof rows[i].hint);
    accepted++;
  }
  assert_int_equal(tesela_graph_hint_count(graph), accepted);
  assert_null(tesela_graph_hint_at(graph, accepted));
  assert_null(tesela_graph_hint_at(graph, -1));
  tesela_graph_destroy(graph);
}

/* ---- allocations that fail ---- */

/* A program of 40 nodes; stops at the first thing that fails. */
static tesela_status build_all(const tesela_allocator *alloc, tesela_graph **graph) {
  tesela_device_layout layout = {.host = {.rank = 2, .shape = {3, 5}}};
  tesela_status status = tesela_graph_create(graph, alloc, NULL);
  tesela_node_spec x = {.op = TESELA_OP_INPUT, .dtype = TESELA_F16, .rank = 2, .shape = N(3, 5), .stick = 1};
  if (status == TESELA_OK) status = tesela_graph_add(*graph, &x, NULL, NULL);
  for (int32_t k = 0; k < 39 && status == TESELA_OK; k++)
    status = add_op(*graph, TESELA_OP_POINTWISE, TESELA_FN_ADD, NULL, 2, D(k, 0), NULL, NULL);
  if (status == TESELA_OK) status = tesela_graph_set_layout(*graph, 5, &layout, NULL);
  for (int32_t k = 0; k < 20 && status == TESELA_OK; k++)
    status = tesela_graph_hint(*graph, &(tesela_hint){TESELA_HINT_FREE, 0, 0, 0, 0}, NULL);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  for (int64_t n = 0;; n++) {
    fault f = {.countdown = n};
    tesela_allocator alloc = fault_allocator(&f);
    tesela_graph *graph = NULL;
    tesela_status status = build_all(&alloc, &graph);
    if (graph && status != TESELA_OK) { /* still whole: what is there is found, and it can go on */
      for (int32_t k = 0; k < tesela_graph_count(graph); k++)
        assert_int_equal(tesela_graph_find(graph, tesela_graph_node(graph, k)->name), k);
      f.countdown = -1;
      build_input(graph, "more", "f16[2]");
    }
    tesela_graph_destroy(graph);
    assert_int_equal(f.live, 0);
    if (status == TESELA_OK) {
      assert_true(n > 40);
      return;
    }
    assert_int_equal(status, TESELA_E_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_and_types_by_rows),
      cmocka_unit_test(refusals_by_rows),
      cmocka_unit_test(names_are_unique_and_found),
      cmocka_unit_test(names_are_made_where_there_are_none),
      cmocka_unit_test(a_value_that_was_overwritten_is_gone),
      cmocka_unit_test(a_repeated_element_is_not_written_in_place),
      cmocka_unit_test(operands_must_be_nodes),
      cmocka_unit_test(inputs_keep_what_they_come_with),
      cmocka_unit_test(a_buffer_takes_a_layout_of_its_shape),
      cmocka_unit_test(hints_are_checked),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
