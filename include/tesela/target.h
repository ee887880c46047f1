/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - what an accelerator asks of tensors in its memory, as data.
 *
 * A *stick* is the unit of device memory: `stick_bytes` contiguous, aligned bytes; it has `lanes` elements. Host and
 * device types may differ, and lanes follow the device type: 128-byte sticks have 64 lanes of f16 and 32 of s32.
 *
 * A target says how sticks are laid out when nobody says otherwise (`order`), which types there are, what its engine for
 * transfers can do, and what its operators ask of their operands (`rule`). Two are built in:
 *
 *   spyre   128-byte sticks, order generic, s64 stored as s32, bool and bf16 as a 16-bit float
 *   tiles   64-byte sticks, tiles of 32x32 made of faces of 16x16, every type stored in 32 bits
 *
 * Others are read from a small text file (tesela_target_read, docs/device.md). A tesela_target is a plain value.
 */
#ifndef TESELA_TARGET_H
#define TESELA_TARGET_H

#include <tesela/dtype.h>
#include <tesela/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_TARGET_NAME 32  ///< bytes of a target's name, the NUL included
#define TESELA_TARGET_TYPES 40 ///< rows of types
#define TESELA_TARGET_RULES 64 ///< rows of rules
#define TESELA_TARGET_TILES 4  ///< levels of tiles
#define TESELA_RULE_OPCODE 64  ///< bytes of an opcode that a rule is for, the NUL included

/* symbol, value, name, device dims for dim_order p0..pn with stick s = pn. Outermost first; blocks and lanes are of s. */
#define TESELA_ORDER_MAP(X)                                                                                \
  X(TESELA_ORDER_GENERIC, 0, "generic", "p1..p(n-1), blocks, p0, lanes")                                   \
  X(TESELA_ORDER_STICK_OUTER, 1, "stick_outer", "blocks, p0..p(n-1), lanes")                               \
  X(TESELA_ORDER_INNER_PAIR, 2, "inner_pair", "p0..p(n-2), blocks, p(n-1), lanes")                         \
  X(TESELA_ORDER_GENERIC_JAN26, 3, "generic_jan26", "as generic, but rank 4 is p0, blocks, p1, p2, lanes") \
  X(TESELA_ORDER_TILES, 4, "tiles",                                                                        \
    "p0..p(n-2), then rows p(n-1) and columns pn in tiles of tiles, row-major")

typedef enum tesela_order {
#define TESELA__ROW(symbol, value, name, text) symbol = value,
  TESELA_ORDER_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_order;

/* symbol, value, name, what it computes: the classes of operators of a program (graph.h) */
#define TESELA_OP_MAP(X)                                                                     \
  X(TESELA_OP_INPUT, 0, "input", "a tensor that is given")                                   \
  X(TESELA_OP_CONSTANT, 1, "constant", "one value everywhere, or 0, 1, 2, ... along a dim")  \
  X(TESELA_OP_POINTWISE, 2, "pointwise", "element by element, with broadcasting")            \
  X(TESELA_OP_REDUCE, 3, "reduce", "folds dims with sum, min, max, prod")                    \
  X(TESELA_OP_MATMUL, 4, "matmul", "sum over k of x[..,m,k] * y[..,k,n]")                    \
  X(TESELA_OP_CONV2D, 5, "conv2d", "sum over a window and channels")                         \
  X(TESELA_OP_GATHER, 6, "gather", "x[i] along a dim; embedding")                            \
  X(TESELA_OP_SCATTER, 7, "scatter", "x with rows i set to, or added, values")               \
  X(TESELA_OP_CAT, 8, "cat", "pieces one after the other along a dim")                       \
  X(TESELA_OP_PAD, 9, "pad", "a value around, or between, the elements")                     \
  X(TESELA_OP_WRITE, 10, "write", "x with a slice of it replaced by a piece")                \
  X(TESELA_OP_CLONE, 11, "clone", "a copy in the default layout")                            \
  X(TESELA_OP_MOVE, 12, "move", "a copy in another layout: restickify, spread, compact")     \
  X(TESELA_OP_FALLBACK, 13, "fallback", "anything else: computed elsewhere, default layout") \
  X(TESELA_OP_PERMUTE, 14, "permute", "view: dims in another order")                         \
  X(TESELA_OP_RESHAPE, 15, "reshape", "view: the same elements in another shape")            \
  X(TESELA_OP_SQUEEZE, 16, "squeeze", "view: a dim of 1 goes")                               \
  X(TESELA_OP_UNSQUEEZE, 17, "unsqueeze", "view: a dim of 1 comes")                          \
  X(TESELA_OP_EXPAND, 18, "expand", "view: dims repeated, or put in front")                  \
  X(TESELA_OP_SLICE, 19, "slice", "view: start, step and length along dims")                 \
  X(TESELA_OP_ALONG, 20, "along", "runs along a dim: sort, top-k, cumulative sum")           \
  X(TESELA_OP_POOL, 21, "pool", "folds windows along dims with sum, min, max")

typedef enum tesela_op {
#define TESELA__ROW(symbol, value, name, text) symbol = value,
  TESELA_OP_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_op;

/* symbol, value, name, operands (0: as many as dims to fold or pieces need), what a pointwise operator or a fold computes */
#define TESELA_FN_MAP(X)                                                                        \
  X(TESELA_FN_NONE, 0, "none", 0, "no function")                                                \
  X(TESELA_FN_ADD, 1, "add", 2, "x + y")                                                        \
  X(TESELA_FN_SUB, 2, "sub", 2, "x - y")                                                        \
  X(TESELA_FN_MUL, 3, "mul", 2, "x * y")                                                        \
  X(TESELA_FN_DIV, 4, "div", 2, "x / y; of integers towards 0")                                 \
  X(TESELA_FN_MAX, 5, "max", 2, "the greater; NaN if one is")                                   \
  X(TESELA_FN_MIN, 6, "min", 2, "the less; NaN if one is")                                      \
  X(TESELA_FN_POW, 7, "pow", 2, "x to the y")                                                   \
  X(TESELA_FN_REM, 8, "rem", 2, "remainder with the sign of x")                                 \
  X(TESELA_FN_AND, 9, "and", 2, "bits of integers; logic of bool")                              \
  X(TESELA_FN_OR, 10, "or", 2, "bits of integers; logic of bool")                               \
  X(TESELA_FN_XOR, 11, "xor", 2, "bits of integers; logic of bool")                             \
  X(TESELA_FN_EQ, 12, "eq", 2, "1 if x == y, else 0")                                           \
  X(TESELA_FN_NE, 13, "ne", 2, "1 if x != y, else 0")                                           \
  X(TESELA_FN_LT, 14, "lt", 2, "1 if x < y, else 0")                                            \
  X(TESELA_FN_LE, 15, "le", 2, "1 if x <= y, else 0")                                           \
  X(TESELA_FN_GT, 16, "gt", 2, "1 if x > y, else 0")                                            \
  X(TESELA_FN_GE, 17, "ge", 2, "1 if x >= y, else 0")                                           \
  X(TESELA_FN_SELECT, 18, "select", 3, "y if x is not 0, else z")                               \
  X(TESELA_FN_CLAMP, 19, "clamp", 3, "y, not below x, not above z")                             \
  X(TESELA_FN_COPY, 20, "copy", 1, "x; converted to the result's type")                         \
  X(TESELA_FN_NEG, 21, "neg", 1, "-x")                                                          \
  X(TESELA_FN_ABS, 22, "abs", 1, "|x|")                                                         \
  X(TESELA_FN_EXP, 23, "exp", 1, "e to the x")                                                  \
  X(TESELA_FN_EXPM1, 24, "expm1", 1, "e to the x, minus 1")                                     \
  X(TESELA_FN_LOG, 25, "log", 1, "natural logarithm")                                           \
  X(TESELA_FN_LOG1P, 26, "log1p", 1, "natural logarithm of 1 + x")                              \
  X(TESELA_FN_SQRT, 27, "sqrt", 1, "square root")                                               \
  X(TESELA_FN_RSQRT, 28, "rsqrt", 1, "1 / sqrt(x)")                                             \
  X(TESELA_FN_TANH, 29, "tanh", 1, "hyperbolic tangent")                                        \
  X(TESELA_FN_SIGMOID, 30, "sigmoid", 1, "1 / (1 + exp(-x))")                                   \
  X(TESELA_FN_RELU, 31, "relu", 1, "max(x, 0)")                                                 \
  X(TESELA_FN_SIN, 32, "sin", 1, "sine")                                                        \
  X(TESELA_FN_COS, 33, "cos", 1, "cosine")                                                      \
  X(TESELA_FN_ERF, 34, "erf", 1, "error function")                                              \
  X(TESELA_FN_FLOOR, 35, "floor", 1, "greatest integer not above x")                            \
  X(TESELA_FN_CEIL, 36, "ceil", 1, "least integer not below x")                                 \
  X(TESELA_FN_SIGN, 37, "sign", 1, "-1, 0 or 1")                                                \
  X(TESELA_FN_NOT, 38, "not", 1, "bits of integers; logic of bool")                             \
  X(TESELA_FN_ISFINITE, 39, "isfinite", 1, "1 if x is finite, else 0")                          \
  X(TESELA_FN_SUM, 40, "sum", 0, "fold: the sum, from 0")                                       \
  X(TESELA_FN_PROD, 41, "prod", 0, "fold: the product, from 1")                                 \
  X(TESELA_FN_MEAN, 42, "mean", 0, "fold: the sum over the count")                              \
  X(TESELA_FN_FUSED, 43, "fused", 0, "an unknown function of its operands, element by element") \
  X(TESELA_FN_CUMSUM, 44, "cumsum", 0, "along: sum of the elements up to this one")             \
  X(TESELA_FN_CUMPROD, 45, "cumprod", 0, "along: product of the elements up to this one")       \
  X(TESELA_FN_CUMMAX, 46, "cummax", 0, "along: the greatest up to this one; NaN once one is")   \
  X(TESELA_FN_CUMMIN, 47, "cummin", 0, "along: the least up to this one; NaN once one is")      \
  X(TESELA_FN_SORT, 48, "sort", 0,                                                              \
    "along: the elements from the least on; NaN last; equal ones keep their order")             \
  X(TESELA_FN_ARGSORT, 49, "argsort", 0, "along: where the elements of sort come from")         \
  X(TESELA_FN_SHIFT_LEFT, 50, "shift_left", 2, "bits of x by y places; 0 beyond")               \
  X(TESELA_FN_SHIFT_RIGHT, 51, "shift_right", 2, "bits of x by y places, sign in front")        \
  X(TESELA_FN_SHIFT_RIGHT_LOGICAL, 52, "shift_right_logical", 2, "the same, 0 in front")        \
  X(TESELA_FN_POPCNT, 53, "popcnt", 1, "how many bits are 1")                                   \
  X(TESELA_FN_CLZ, 54, "clz", 1, "how many bits in front are 0")                                \
  X(TESELA_FN_ROUND, 55, "round", 1, "nearest integer, ties away from 0")                       \
  X(TESELA_FN_ROUND_EVEN, 56, "round_even", 1, "nearest integer, ties to even")                 \
  X(TESELA_FN_TAN, 57, "tan", 1, "tangent")                                                     \
  X(TESELA_FN_CBRT, 58, "cbrt", 1, "cube root")                                                 \
  X(TESELA_FN_ATAN2, 59, "atan2", 2, "angle of the point y, x")                                 \
  X(TESELA_FN_BITCAST, 60, "bitcast", 1, "the bits of x as the result's type, of the same width")

typedef enum tesela_fn {
#define TESELA__ROW(symbol, value, name, operands, text) symbol = value,
  TESELA_FN_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_fn;

/* symbol, value, name, what an operand must be for a choice of the result's stick. "lane of d": the operand's element is
 * in lane (index of d) mod lanes, and in one stick as long as only that lane changes. */
#define TESELA_NEED_MAP(X)                                                                  \
  X(TESELA_NEED_ANY, 0, "any", "nothing: also an operand that starts inside a stick")       \
  X(TESELA_NEED_RESULT, 1, "result",                                                        \
    "the result's stick dim in its lanes, or lane 0 and the same along them")               \
  X(TESELA_NEED_CLEAN, 2, "clean", "some dim in its lanes, or always lane 0")               \
  X(TESELA_NEED_CONTRACTED, 3, "contracted", "a dim that is summed over in its lanes")      \
  X(TESELA_NEED_COLUMN, 4, "column",                                                        \
    "the result's stick dim in its lanes, a dim of the second operand only")                \
  X(TESELA_NEED_NOT_INDEXED, 5, "not_indexed",                                              \
    "as result, and the dim that is looked up is not in its lanes")                         \
  X(TESELA_NEED_SEAM, 6, "seam", "as result, and its part of the result starts on a stick") \
  X(TESELA_NEED_SAME, 7, "same", "the same device layout as operand 0, field by field")     \
  X(TESELA_NEED_DEFAULT, 8, "default", "the target's default layout")                       \
  X(TESELA_NEED_UNFOLDED, 9, "unfolded",                                                    \
    "a dim that is neither folded nor run along in its lanes, or always lane 0")            \
  X(TESELA_NEED_LAST, 10, "last", "its last dim in its lanes")

typedef enum tesela_need {
#define TESELA__ROW(symbol, value, name, text) symbol = value,
  TESELA_NEED_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_need;

/* symbol, value, name, which stick the result may have */
#define TESELA_YIELD_MAP(X)                                                                            \
  X(TESELA_YIELD_ANY, 0, "any", "any stick, or one element per stick, that the operands' needs allow") \
  X(TESELA_YIELD_SURVIVES, 1, "survives",                                                              \
    "the dim in the operand's lanes; one per stick if it is folded away")                              \
  X(TESELA_YIELD_COLUMN, 2, "column", "a dim of the second operand only (n of a matmul)")              \
  X(TESELA_YIELD_DEFAULT, 3, "default", "the target's default layout")                                 \
  X(TESELA_YIELD_TARGET, 4, "target", "that of operand 0, which is written to")                        \
  X(TESELA_YIELD_SPARSE, 5, "sparse", "one element per stick")

typedef enum tesela_yield {
#define TESELA__ROW(symbol, value, name, text) symbol = value,
  TESELA_YIELD_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_yield;

/// What an operator asks of one operand, or gives. The most specific row counts: with an opcode before without, then with a
/// function before without, then with an operand number before TESELA_RULE_ALL; among equals, a target's row before the table of
/// rules every target starts from.
///
/// Of an operator that the graph does not know (TESELA_OP_FALLBACK) an operand of the result's shape is taken to have the
/// result's dims, one by one. How dims of another shape go with the result's is not known: only the needs any, clean, last, same
/// and default can be met by such an operand, and no result can follow it.
typedef struct tesela_rule {
  tesela_op op;
  tesela_fn fn; ///< TESELA_FN_NONE: all
  int32_t
      operand; ///< 0 ..; TESELA_RULE_ALL: those without a row of their own; TESELA_RULE_RESULT: `yield` counts
  tesela_need need;
  tesela_yield yield;
  int64_t
      price; ///< -1: hard; else soft: what it costs in elements if the need is not met, or the result lies elsewhere
  char opcode[TESELA_RULE_OPCODE]; ///< of a FALLBACK or FUSED node, "all-reduce"; "": all
} tesela_rule;

#define TESELA_RULE_ALL (-1)
#define TESELA_RULE_RESULT (-2)

/// What the engine of transfers can do in one loop nest; 0: no limit.
typedef struct tesela_dma_limits {
  int32_t max_dims;   ///< loops of a nest
  int64_t max_extent; ///< iterations of a loop
  int64_t alignment;  ///< bytes: device offsets and strides of all loops but the innermost are multiples
  int64_t min_burst;  ///< bytes: contiguous on the device at least
  int64_t max_burst;  ///< bytes: contiguous at most; longer runs are cut
  int64_t max_nests;  ///< nests of a transfer
} tesela_dma_limits;

/// A host type and how it is stored.
typedef struct tesela_target_type {
  tesela_dtype host, device;
  int32_t device_bits; ///< multiple of 8; may be above the type's own: 32 for an s8 in 32 bits
} tesela_target_type;

typedef struct tesela_target {
  char name[TESELA_TARGET_NAME];
  int64_t stick_bytes;
  int64_t alignment; ///< bytes: of a buffer
  int32_t max_rank;  ///< of tensors; <= TESELA_MAX_RANK
  tesela_order order;
  int32_t n_tiles;                      ///< TESELA_ORDER_TILES: levels, the largest first
  int64_t tile[TESELA_TARGET_TILES][2]; ///< rows, columns
  bool sparse;                          ///< one element per stick is a layout
  bool keep_host_bytes;                 ///< an allocation has at least the bytes of the host tensor
  int32_t n_types;
  tesela_target_type type[TESELA_TARGET_TYPES];
  int32_t n_rules;
  tesela_rule rule[TESELA_TARGET_RULES]; ///< beside the rules all targets start from (graph.h)
  tesela_dma_limits dma;
  int32_t cores;            ///< over which an operator may be divided
  int64_t scratchpad_bytes; ///< per core; 0: none
} tesela_target;

/// A built-in target by name, "spyre" or "tiles". Static; NULL for any other name.
TESELA_API const tesela_target *tesela_target_find(const char *name);
/// The k-th built-in target, NULL from their number on.
TESELA_API const tesela_target *tesela_target_at(int32_t k);

/// A target with sticks of `stick_bytes`, every type stored as it is on the host, and all else as spyre has it.
/// @return TESELA_OK; TESELA_E_RANGE unless 1 <= stick_bytes <= 2^20.
TESELA_API tesela_status tesela_target_plain(tesela_target *target, int64_t stick_bytes, tesela_error *err);

/// How a host type is stored. Example: spyre, TESELA_S64: s32 in 32 bits, 32 lanes.
/// @return TESELA_OK; TESELA_E_UNSUPPORTED if the target has no such type, or its width does not divide a stick.
TESELA_API tesela_status tesela_target_type_of(const tesela_target *target, tesela_dtype host,
                                               tesela_target_type *type, int64_t *lanes, tesela_error *err);

/// Is the target consistent? @return TESELA_OK; TESELA_E_RANGE, TESELA_E_INVALID with the field and what is allowed.
TESELA_API tesela_status tesela_target_check(const tesela_target *target, tesela_error *err);

/// Operands a function takes: 2 for TESELA_FN_ADD, 0 where it is not fixed, -1 for a number that is none.
TESELA_API int32_t tesela_fn_operands(tesela_fn fn);

/// Names of the enumerations, "generic", "matmul", "contracted", "survives"; NULL for a number that is none; and the number of
/// a name of `length` bytes, -1 if it is none. Static texts.
TESELA_API const char *tesela_order_name(tesela_order order);
TESELA_API const char *tesela_op_name(tesela_op op);
TESELA_API const char *tesela_fn_name(tesela_fn fn);
TESELA_API const char *tesela_need_name(tesela_need need);
TESELA_API const char *tesela_yield_name(tesela_yield yield);
TESELA_API int32_t tesela_order_find(const char *name, size_t length);
TESELA_API int32_t tesela_op_find(const char *name, size_t length);
TESELA_API int32_t tesela_fn_find(const char *name, size_t length);
TESELA_API int32_t tesela_need_find(const char *name, size_t length);
TESELA_API int32_t tesela_yield_find(const char *name, size_t length);

#ifdef __cplusplus
}
#endif
#endif
