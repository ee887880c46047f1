/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - layouts of tensors in device memory that consists of sticks; views, transfers and loop nests.
 *
 * A device layout is a list of *device dims*, outermost first. Each is (host dim, step, extent): its digit counts steps
 * of `step` elements along that host dim. A host coordinate is split greedily: largest step first, the outer device dim
 * first for equal steps; a device dim of extent 1 is skipped. Places that no host coordinate reaches are padding. The
 * last `stick_dims` device dims are the lanes of a stick.
 *
 *   f16[1000,200], sticks of 128 bytes (64 lanes) along dim 1, rows outside:
 *
 *     device dim   host dim   step   extent   device stride
 *     0               1        64       4       64000          blocks of 64 columns: 200 need 4, the last has 8
 *     1               0         1    1000          64          rows
 *     2               1         1      64           1          lanes
 *
 *   element (2,70): 70 is block 1, lane 6: place 64000 + 2*64 + 6 = 64134. 256000 places, 56000 of them padding.
 *
 * A device dim without a host dim is *synthetic* (only digit 0 holds data, as in the lanes of layouts with one element
 * per stick) or *replicated* (each digit holds the same element). tesela_device_to_layout gives the functions of
 * layout.h. Offsets, strides, steps and extents count elements, never bytes.
 *
 * Source: PyTorch RFC "Tensors with device-specific layouts", sections Contiguous tiles and Padded tensors.
 * A tesela_device_layout is a plain value; no function here allocates; any thread.
 */
#ifndef TESELA_DEVICE_H
#define TESELA_DEVICE_H

#include <tesela/layout.h>
#include <tesela/relayout.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ==== Targets: the requirements of an accelerator, as data
 *
 * A *stick* is the unit of device memory: `stick_bytes` contiguous, aligned bytes; it has `lanes` elements. Host and
 * device types may differ, and lanes follow the device type: 128-byte sticks have 64 lanes of f16 and 32 of s32.
 *
 * A target has a default order of sticks (`order`), the supported types, the limits of its transfer engine (`dma`), and
 * what its operators require of their operands (`rule`). Two are built in:
 *
 *   spyre   128-byte sticks, order generic, s64 stored as s32, bool and bf16 as a 16-bit float
 *   tiles   64-byte sticks, tiles of 32x32 made of faces of 16x16, every type stored in 32 bits
 *
 * Others are read from a small text file (tesela_target_read, docs/device.md). A tesela_target is a plain value.
 */

#define TESELA_TARGET_NAME 32  ///< bytes of a target's name, the NUL included
#define TESELA_TARGET_TYPES 40 ///< rows of types
#define TESELA_TARGET_RULES 64 ///< rows of rules
#define TESELA_TARGET_TILES 4  ///< levels of tiles
#define TESELA_RULE_OPCODE 64  ///< bytes of an opcode that a rule is for, the NUL included

/* symbol, value, name, device dims for dim_order p0..pn with stick s = pn. Outermost first; blocks and lanes are of
 * s. */
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

/* symbol, value, name, what it computes: the classes of operators of a graph (graph.h) */
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

/* symbol, value, name, operands (0: depends on the dims to fold or the pieces), what a pointwise operator or a fold
 * computes */
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

/* symbol, value, name, the requirement on an operand for a given stick of the result. "lane of d": the operand's
 * element is in lane (index of d) mod lanes, and stays in one stick while only that lane changes. */
#define TESELA_NEED_MAP(X)                                                                          \
  X(TESELA_NEED_ANY, 0, "any", "may have any layout, also one that starts inside a stick")          \
  X(TESELA_NEED_RESULT, 1, "result",                                                                \
    "must have the result's stick dim along the stick, or be broadcast along it from lane 0")       \
  X(TESELA_NEED_CLEAN, 2, "clean", "must have a dim along the stick, or use lane 0 only")           \
  X(TESELA_NEED_CONTRACTED, 3, "contracted", "must have a contracted (summed) dim along the stick") \
  X(TESELA_NEED_COLUMN, 4, "column",                                                                \
    "must have the result's stick dim, a dim of the second operand only, along the stick")          \
  X(TESELA_NEED_NOT_INDEXED, 5, "not_indexed",                                                      \
    "must satisfy the rule 'result' without the indexed dim along the stick")                       \
  X(TESELA_NEED_SEAM, 6, "seam",                                                                    \
    "must satisfy the rule 'result', and its part of the result must start on a stick")             \
  X(TESELA_NEED_SAME, 7, "same", "must have the same device layout as operand 0, field by field")   \
  X(TESELA_NEED_DEFAULT, 8, "default", "must have the target's default layout")                     \
  X(TESELA_NEED_UNFOLDED, 9, "unfolded",                                                            \
    "must have a dim along the stick that is neither folded nor run along, or use lane 0 only")     \
  X(TESELA_NEED_LAST, 10, "last", "must have its last dim along the stick")

typedef enum tesela_need {
#define TESELA__ROW(symbol, value, name, text) symbol = value,
  TESELA_NEED_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_need;

/* symbol, value, name, the sticks that the result may have */
#define TESELA_YIELD_MAP(X)                                                                            \
  X(TESELA_YIELD_ANY, 0, "any", "any stick, or one element per stick, that the operands' needs allow") \
  X(TESELA_YIELD_SURVIVES, 1, "survives",                                                              \
    "the dim along the operand's stick; one element per stick if that dim is folded")                  \
  X(TESELA_YIELD_COLUMN, 2, "column", "a dim of the second operand only (n of a matmul)")              \
  X(TESELA_YIELD_DEFAULT, 3, "default", "the target's default layout")                                 \
  X(TESELA_YIELD_TARGET, 4, "target", "the stick of operand 0, the tensor that is updated")            \
  X(TESELA_YIELD_SPARSE, 5, "sparse", "one element per stick")

typedef enum tesela_yield {
#define TESELA__ROW(symbol, value, name, text) symbol = value,
  TESELA_YIELD_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_yield;

/// The requirement of an operator on one operand, or on its result. The most specific row applies: a row with an opcode before one
/// without, then with a function before without, then with an operand number before TESELA_RULE_ALL; among equal rows, the
/// target's before the default table.
///
/// For an unknown operator (TESELA_OP_FALLBACK) an operand of the result's shape is assumed to have the result's dims, one by
/// one. The dims of an operand of any other shape have no known relation to the result: such an operand can meet only the needs
/// any, clean, last, same and default, and the result cannot follow it.
typedef struct tesela_rule {
  tesela_op op;
  tesela_fn fn; ///< TESELA_FN_NONE: all
  int32_t
      operand; ///< 0 ..; TESELA_RULE_ALL: those without their own row; TESELA_RULE_RESULT: `yield` applies
  tesela_need need;
  tesela_yield yield;
  int64_t price; ///< -1: hard; else soft: the cost in elements if the need, or the yield, is not met
  char opcode[TESELA_RULE_OPCODE]; ///< opcode of a FALLBACK or FUSED node, "all-reduce"; "": all
} tesela_rule;

#define TESELA_RULE_ALL (-1)
#define TESELA_RULE_RESULT (-2)

/// Limits of the transfer engine for one loop nest; 0: no limit.
typedef struct tesela_dma_limits {
  int32_t max_dims;   ///< loops of a nest
  int64_t max_extent; ///< iterations of a loop
  int64_t
      alignment; ///< bytes: device offsets, and strides of all loops but the innermost, are multiples of it
  int64_t min_burst; ///< bytes: least contiguous run on the device
  int64_t max_burst; ///< bytes: greatest contiguous run; longer runs are cut
  int64_t max_nests; ///< nests of a transfer
} tesela_dma_limits;

/// A host type and its storage on the device.
typedef struct tesela_target_type {
  tesela_dtype host, device;
  int32_t device_bits; ///< multiple of 8; may exceed the width of the type: 32 for an s8 in 32 bits
} tesela_target_type;

typedef struct tesela_target {
  char name[TESELA_TARGET_NAME];
  int64_t stick_bytes;
  int64_t alignment; ///< bytes: of a buffer
  int32_t max_rank;  ///< of tensors; <= TESELA_MAX_RANK
  tesela_order order;
  int32_t n_tiles;                      ///< TESELA_ORDER_TILES: levels, the largest first
  int64_t tile[TESELA_TARGET_TILES][2]; ///< rows, columns
  bool sparse;                          ///< layouts with one element per stick are supported
  bool keep_host_bytes;                 ///< an allocation has at least the bytes of the host tensor
  int32_t n_types;
  tesela_target_type type[TESELA_TARGET_TYPES];
  int32_t n_rules;
  tesela_rule rule[TESELA_TARGET_RULES]; ///< in addition to the default rules (graph.h)
  tesela_dma_limits dma;
  int32_t cores;            ///< cores that can share an operator
  int64_t scratchpad_bytes; ///< per core; 0: none
} tesela_target;

/// A built-in target by name, "spyre" or "tiles". Static; NULL for any other name.
TESELA_API const tesela_target *tesela_target_find(const char *name);
/// The k-th built-in target, NULL after the last.
TESELA_API const tesela_target *tesela_target_at(int32_t k);

/// A target with sticks of `stick_bytes` that stores every type as on the host; the rest is as in spyre.
/// @return TESELA_OK; TESELA_E_RANGE unless 1 <= stick_bytes <= 2^20.
TESELA_API tesela_status tesela_target_plain(tesela_target *target, int64_t stick_bytes, tesela_error *err);

/// The device storage of a host type. Example: spyre, TESELA_S64: s32 in 32 bits, 32 lanes.
/// @return TESELA_OK; TESELA_E_UNSUPPORTED if the target lacks the type, or its width does not divide a stick.
TESELA_API tesela_status tesela_target_type_of(const tesela_target *target, tesela_dtype host,
                                               tesela_target_type *type, int64_t *lanes, tesela_error *err);

/// Check a target. @return TESELA_OK; TESELA_E_RANGE, TESELA_E_INVALID with the field and what is allowed.
TESELA_API tesela_status tesela_target_check(const tesela_target *target, tesela_error *err);

/// Number of operands of a function: 2 for TESELA_FN_ADD, 0 if it varies, -1 for an unknown function.
TESELA_API int32_t tesela_fn_operands(tesela_fn fn);

/// Names of the enumerations, "generic", "matmul", "contracted", "survives", NULL for an unknown number; and the number of
/// a name of `length` bytes, -1 for an unknown name. Static texts.
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

/* ==== Device layouts ==== */

#define TESELA_DEVICE_DIMS 48      ///< device dims of a layout
#define TESELA_DIM_SYNTHETIC (-1)  ///< tesela_device_dim.dim: only digit 0 holds data
#define TESELA_DIM_REPLICATED (-2) ///< tesela_device_dim.dim: every digit holds the same element
#define TESELA_STICK_SPARSE (-1)   ///< in place of a stick dim: one element per stick

typedef struct tesela_device_dim {
  int64_t extent; ///< digits 0 .. extent-1, padding included
  int64_t step;   ///< host elements per digit along `dim`, >= 1; 0 without a host dim
  int64_t stride; ///< places per digit
  int32_t dim;    ///< host dim; TESELA_DIM_SYNTHETIC or TESELA_DIM_REPLICATED
} tesela_device_dim;

/* symbol, value, name as it is printed, meaning */
#define TESELA_STICK_FORMAT_MAP(X)                                                 \
  X(TESELA_STICKS_DENSE, 0, "Dense", "lanes hold neighbours along the stick dims") \
  X(TESELA_STICKS_SPARSE, 1, "Sparse", "one element per stick, in lane 0")         \
  X(TESELA_STICKS_PAIR, 2, "SparseMulti", "two elements per stick, in lanes 0 and 1")

typedef enum tesela_stick_format {
#define TESELA__ROW(symbol, value, name, text) symbol = value,
  TESELA_STICK_FORMAT_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_stick_format;

/// The input of a device layout: shape and type of the host tensor, and the sticks.
typedef struct tesela_device_host {
  tesela_dtype dtype;        ///< on the host; TESELA_DTYPE_NONE: only widths are known
  tesela_dtype device_dtype; ///< on the device
  int32_t bits;              ///< of an element on the host
  int32_t device_bits;       ///< of an element on the device, a multiple of 8
  int64_t stick_bytes;       ///< a multiple of device_bits / 8
  int32_t rank;
  int64_t shape[TESELA_MAX_RANK];
} tesela_device_host;

typedef struct tesela_device_layout {
  tesela_device_host host;
  tesela_stick_format format;
  int32_t n_dims;     ///< device dims
  int32_t stick_dims; ///< number of last device dims that form a stick, >= 1
  int64_t lanes;      ///< stick_bytes * 8 / device_bits
  int64_t places;     ///< all device elements, gaps and padding included
  tesela_device_dim dim[TESELA_DEVICE_DIMS];
} tesela_device_layout;

/// The host side of a tensor on a target. Example: spyre, TESELA_S64, [1000,200]: device type s32, 32 bits.
/// @return TESELA_OK; TESELA_E_LIMIT for a rank above the target's; TESELA_E_RANGE for a negative extent;
///         TESELA_E_UNSUPPORTED for a type that the target lacks; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_device_host_of(tesela_device_host *host, const tesela_target *target,
                                               tesela_dtype dtype, int32_t rank, const int64_t *shape,
                                               tesela_error *err);

/* ---- construction ---------------------------------------------------------------------------------------------- */

/// Least extents of dims, beyond the usual padding. Zeros: no extra padding.
typedef struct tesela_device_padding {
  int64_t to
      [TESELA_MAX_RANK]; ///< host dim d is laid out as if it had max(shape[d], to[d]) elements; 0: no change
} tesela_device_padding;

/// A layout from an order of dims: the host dims in `dim_order`, the last one in sticks. TESELA_STICK_SPARSE after all
/// dims means one element per stick. `order` arranges the dims; rank 0 is one stick.
///
/// Example: f16[1000,200], dim_order {0,1}, generic: the layout at the top of this file.
/// Example: f16[256], dim_order {0,-1}, generic: extents 1, 256, 64, the first and last synthetic.
///
/// @param n        host->rank, or host->rank + 1 if the last entry is TESELA_STICK_SPARSE
/// @param target   source of the tiles of TESELA_ORDER_TILES; may be NULL for the other orders
/// @param padding  NULL: no extra padding
/// @return TESELA_OK; TESELA_E_INVALID if dim_order repeats or misses a dim, or tiles do not fit the sticks; TESELA_E_RANGE;
///         TESELA_E_LIMIT for more than TESELA_DEVICE_DIMS; TESELA_E_OVERFLOW if places exceed int64.
TESELA_API tesela_status tesela_device_from_order(tesela_device_layout *layout,
                                                  const tesela_device_host *host, tesela_order order,
                                                  const tesela_target *target, int32_t n,
                                                  const int32_t *dim_order,
                                                  const tesela_device_padding *padding, tesela_error *err);

/// The default layout of a target: its order, with dims 0 .. rank-1.
/// Example: spyre, f16[6,100,150]: extents 100, 3, 6, 64 of host dims 1, 2, 0, 2.
TESELA_API tesela_status tesela_device_default(tesela_device_layout *layout, const tesela_target *target,
                                               tesela_dtype dtype, int32_t rank, const int64_t *shape,
                                               tesela_error *err);

/// The target's layout with stick dim `stick` and the other dims in host order; TESELA_STICK_SPARSE: one element per stick.
/// The tensors of a graph choose from this family of layouts (propagate.h). TESELA_E_UNSUPPORTED for one element per stick
/// if the target does not support it; rank 0 accepts only TESELA_STICK_SPARSE.
TESELA_API tesela_status tesela_device_with_stick(tesela_device_layout *layout,
                                                  const tesela_device_host *host, const tesela_target *target,
                                                  int32_t stick, tesela_error *err);

/// A layout from its device dims. Their `stride` is used if `strided`, else strides are row-major over the extents.
///
/// Example: f32[33,40] with dims {1,2,20} {0,16,3} {1,1,2} {0,1,16} (host dim, step, extent) and stick_dims 2: sticks of 2 x 16.
///
/// @return TESELA_OK; TESELA_E_INVALID if a device dim is too small for its host dim (with the smallest coordinate without a
///         place), if the last `stick_dims` extents do not multiply to the lanes, if two elements share a place (`strided`), or
///         if a host dim above 1 has no device dim; TESELA_E_RANGE for an extent below 0, a step below 1, an unknown host
///         dim; TESELA_E_LIMIT; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_device_from_dims(tesela_device_layout *layout, const tesela_device_host *host,
                                                 int32_t n_dims, const tesela_device_dim *dims, bool strided,
                                                 int32_t stick_dims, tesela_error *err);

/// A layout from device sizes and the host elements per digit of each device dim: step * stride of its host dim; -1 without a
/// host dim or for a host dim of 1, 0 for a replicated dim (or a host dim of stride 0, if that is consistent).
///
/// Example: device_size {4,1000,64}, stride_map {64,200,1} for f16[1000,200] with strides {200,1}: the layout at the top.
///
/// @param host_strides  NULL: row-major
/// @return as tesela_device_from_dims; TESELA_E_INVALID if no host dims and steps fit; TESELA_E_UNSUPPORTED if several fit and
///         place elements differently: the message names two.
TESELA_API tesela_status tesela_device_from_stride_map(tesela_device_layout *layout,
                                                       const tesela_device_host *host,
                                                       const int64_t *host_strides, int32_t n_dims,
                                                       const int64_t *device_size, const int64_t *stride_map,
                                                       tesela_error *err);

/// Restickify: the stick dim and `dim` swap their positions in the order.
/// Example: f16[1000,200] in sticks along 1, dim 0: extents 16, 200, 64 of host dims 0, 1, 0.
/// @return TESELA_OK; TESELA_E_RANGE; TESELA_E_UNSUPPORTED unless the layout has one stick dim with two digits;
///         TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_device_restick(tesela_device_layout *layout, const tesela_device_layout *from,
                                               int32_t dim, tesela_error *err);

/// Apply a layout to a host tensor of another shape: for each host dim the device dim of the largest step gets as many
/// digits as it needs, the rest stays. For shapes that are known only at run time.
/// Example: f16[1000,200] in sticks along 1, for [7,65]: extents 2, 7, 64.
/// @return TESELA_OK; TESELA_E_RANGE; TESELA_E_INVALID if the other digits cannot hold the dim (a stick of a dim with only one
///         digit); TESELA_E_UNSUPPORTED for strides that are not row-major; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_device_rebind(tesela_device_layout *layout, const tesela_device_layout *from,
                                              const int64_t *shape, tesela_error *err);

/// Set the stick format; constructors set dense or sparse. TESELA_STICKS_PAIR is for lanes that hold at most two
/// elements. Example: f16[1000,2] in sticks along dim 1: TESELA_STICKS_PAIR, 2 of 64 lanes used.
/// TESELA_E_INVALID if the lanes contradict the format.
TESELA_API tesela_status tesela_device_set_format(tesela_device_layout *layout, tesela_stick_format format,
                                                  tesela_error *err);

/* ---- queries ---------------------------------------------------------------------------------------------------- */

/// The relation: one axis "memory" of `places` elements of device_bits, type device_dtype.
/// To compare two device layouts as relations, pass the results to tesela_layout_compare.
/// @return TESELA_OK; TESELA_E_LIMIT, TESELA_E_OVERFLOW as in layout.h.
TESELA_API tesela_status tesela_device_to_layout(const tesela_device_layout *layout, tesela_layout *out,
                                                 tesela_error *err);

/// The device layout whose places are those of a layout with one axis: its inverse, for layouts that come from anywhere.
///
/// Example: f16[1000,200]{0,1:T(64,1)}: device extents 4, 1000, 64 of host dims 1, 0, 1, as stick(dim_order=[0,1]) has them.
/// Example: f32[4,6] at 3*i + 12*j + 5: impossible, since element (0,0) is not at place 0.
///
/// Device dims are row-major where the strides allow it, with padding up to whole sticks; else they have strides. Copies become
/// replicated dims. The host has the layout's type.
///
/// Complete: impossible only if no device dims have these places, with or without strides; a synthetic dim below the others makes sticks of any.
/// The contradiction is the smallest one.
///
/// @param target  source of stick bytes and the largest rank; NULL: spyre
/// @param out     receives the layout; unchanged if impossible
/// @param answer  receives TESELA_EXACT or TESELA_IMPOSSIBLE, with what contradicts
/// @return TESELA_OK, also if impossible; TESELA_E_UNSUPPORTED for a layout without a type, and as tesela_layout_compare;
///         TESELA_E_LIMIT for more than TESELA_DEVICE_DIMS; TESELA_E_INVALID for a layout that is not finished. No allocation;
///         any thread; needs 60 KiB of stack.
TESELA_API tesela_status tesela_device_from_layout(const tesela_layout *layout, const tesela_target *target,
                                                   tesela_device_layout *out, tesela_translation *answer,
                                                   tesela_error *err);

/// Sizes. Example: f16[1000,200]: 256000 places, 512000 bytes, 56000 padding; allocation 512000.
typedef struct tesela_device_sizes {
  int64_t elements;     ///< of the host tensor
  int64_t places;       ///< device elements
  int64_t padding;      ///< places without an element
  int64_t sticks;       ///< places / lanes, rounded up
  int64_t device_bytes; ///< places * device_bits / 8
  int64_t host_bytes;   ///< elements * bits / 8
  int64_t
      allocation_bytes; ///< device_bytes rounded up to the target's alignment; with keep_host_bytes at least host_bytes
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_device_sizes;

/// @param target  NULL: allocation_bytes is device_bytes
TESELA_API tesela_status tesela_device_sizes_of(const tesela_device_layout *layout,
                                                const tesela_target *target, tesela_device_sizes *sizes,
                                                tesela_error *err);

/// Host elements per digit of each device dim: step * stride of its host dim; -1 for a synthetic dim and for a host dim of
/// 1, 0 for a replicated dim. `host_strides` NULL: row-major. TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_device_stride_map(const tesela_device_layout *layout,
                                                  const int64_t *host_strides,
                                                  int64_t stride_map[TESELA_DEVICE_DIMS], tesela_error *err);

/// Are all fields equal? Layouts with different fields may still be the same relation.
/// Example: {0,1} and {1,0} of f16[512,256]: not equal.
TESELA_API bool tesela_device_equal(const tesela_device_layout *a, const tesela_device_layout *b);

/// The host dim in the lanes; TESELA_STICK_SPARSE for one element per stick; -2 if several host dims share a
/// stick.
TESELA_API int32_t tesela_device_stick(const tesela_device_layout *layout);

/*
 * ==== Places of a strided view on the device
 *
 * A view (sizes, strides, offset) selects elements of a host tensor; on the device nothing moves. Whether an operator
 * can use it depends on its *lanes*: the lane of a stick that each index reads. Offsets count on the device: x[1:] of
 * f16[4,100] starts at host offset 100, which is 36 mod 64, but on the device its rows start at stick boundaries.
 *
 *   base f16[6,100], sticks along dim 1; view [4,100], strides (100,1), offset 200
 *     view dim 0 feeds the rows (stride 64), dim 1 feeds blocks (stride 384) and lanes (stride 1): clean, view dim 1 in
 *     the lanes
 *
 * Source: RFC, sections on views and offsets.
 */

/* symbol, value, name, meaning */
#define TESELA_LANE_MAP(X)                                                                             \
  X(TESELA_LANE_CLEAN, 0, "clean", "the lane is one view index mod lanes, or always 0")                \
  X(TESELA_LANE_OFFSET, 1, "offset", "as clean, but shifted by a constant: data must move before use") \
  X(TESELA_LANE_MIXED, 2, "mixed",                                                                     \
    "the lane is another function of the indices: no layout with sticks says it")                      \
  X(TESELA_LANE_UNKNOWN, 3, "unknown", "could not be decided within a fixed effort")

typedef enum tesela_lane {
#define TESELA__ROW(symbol, value, name, text) symbol = value,
  TESELA_LANE_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_lane;

/// Name of a verdict, "clean"; NULL for an unknown number. Static text.
TESELA_API const char *tesela_lane_name(tesela_lane lane);

/// A view of a base tensor; strides and offset count host elements of the base's storage.
typedef struct tesela_host_view {
  int32_t rank;
  int64_t offset;
  int64_t shape[TESELA_MAX_RANK], stride[TESELA_MAX_RANK];
} tesela_host_view;

/// A contribution of one view dim: digit * stride places, digit = (index div step) mod extent. With `plain` false the
/// contribution depends on other indices (carries) and is not listed.
typedef struct tesela_view_feed {
  int32_t view_dim;
  int64_t step, extent, stride;
} tesela_view_feed;

typedef struct tesela_device_view {
  /// View index -> device place, axis "memory": every question of layout.h. The axis has the places that its digits reach, which may
  /// be more than the base has: the padding of a view is other elements, so plans that write it leave padding (TESELA_FILL_LEAVE).
  tesela_layout layout;
  tesela_lane lane;
  int32_t lane_dim;    ///< clean or offset: the view dim in the lanes; -1: constant lane
  int64_t lane_offset; ///< offset: the shift, 1 .. lanes-1
  int64_t first;       ///< place of index 0; -1 for an empty view
  bool plain;          ///< every place is a sum over `feed`, plus first
  int32_t n_feeds;
  tesela_view_feed feed[TESELA_MAX_DIGITS]; ///< by view dim, then decreasing step
} tesela_device_view;

/// Device coordinates of a view.
///
/// Example: base f16[32,128] in sticks along dim 1, view [128,32] with strides (1,128) (the transpose): clean, lane_dim 0.
/// Example: base f16[6,192], view [6,64], strides (192,1): offset 64: clean, lane_dim 1; offset 40: offset, lane_offset 40.
///
/// @param base_strides  strides of the base tensor as created; NULL: row-major. An offset must determine the element: by
///                      decreasing stride, each is a multiple of the next and covers the range of those below it.
/// The lane is unknown if sticks of the base are not contiguous or do not start at multiples of the lanes, and for some large
/// views that start inside a row and read rows of partial sticks as one dim.
///
/// @return TESELA_OK; TESELA_E_RANGE for a view that reaches outside the base's elements, with the smallest such index;
///         TESELA_E_INVALID for a view that reaches a gap between them, with the first such element; TESELA_E_UNSUPPORTED for
///         base strides that overlap or are below 1, and for a view of a base with gaps if a fixed effort cannot prove that
///         it reaches elements only; TESELA_E_LIMIT; TESELA_E_OVERFLOW.
/// No allocation; about half a microsecond, some milliseconds for rare large views that need a comparison of layouts;
/// about 50 KiB of stack. Any thread.
TESELA_API tesela_status tesela_device_view_of(tesela_device_view *out, const tesela_device_layout *base,
                                               const int64_t *base_strides, const tesela_host_view *view,
                                               tesela_error *err);

/// Relation of an operand to the sticks of an iteration (used in propagate.h).
typedef enum tesela_agreement {
  TESELA_AGREE_ALIGNED, ///< its lane is index[dim] mod lanes, and nothing else changes inside a stick of dim
  TESELA_AGREE_BROADCAST, ///< always lane 0, and one place for all of a stick of dim
  TESELA_AGREE_NOT,       ///< neither
  TESELA_AGREE_UNKNOWN,   ///< could not be decided
} tesela_agreement;

/// Relate an operand's view to sticks of `lanes` elements along view dim `dim`. With TESELA_STICK_SPARSE each index is its own
/// stick: BROADCAST if the lane is always 0, else NOT. If both hold (an extent of 1), ALIGNED.
///
/// Example: bias f16[4096] in sticks, expanded to [512,4096]: ALIGNED along dim 1, NOT along dim 0.
///
/// @param view   of `base`, from tesela_device_view_of
/// @param dim    of the view; any other number gives NOT
/// @param lanes  of the iteration's sticks; ALIGNED is decided by the operand's own lanes
/// Some nanoseconds if view->plain; else as tesela_device_view_of.
TESELA_API tesela_agreement tesela_device_view_agrees(const tesela_device_view *view,
                                                      const tesela_device_layout *base, int32_t dim,
                                                      int64_t lanes);

/*
 * ==== Transfers between host and device order, and between device layouts, at memory speed
 *
 * A transfer is planned once and run often, by the engine of relayout.h. It writes:
 *
 *   to device   every element, converted to the device's type; padding by the fill policy, else untouched
 *   to host     every element of the host tensor, nothing between or around its elements
 *   device to device   every element; padding of dst by the fill policy
 *
 * Types are converted as in tesela_transform_check. An integer outside the narrower type (s64 to s32, or s32 back to an
 * s8 on the host) stops the transfer, with an error about the first of them, unless `lossy` is set.
 */

/// What padding lanes of dst receive.
typedef enum tesela_pad {
  TESELA_PAD_LEAVE, ///< not written: old bytes stay
  TESELA_PAD_ZERO,
  TESELA_PAD_MINUS_INF, ///< the least value of an integer type
  TESELA_PAD_PLUS_INF,  ///< the greatest value of an integer type
  TESELA_PAD_VALUE,     ///< options->value
} tesela_pad;

typedef struct tesela_transfer_options {
  tesela_pad pad;
  double value;                      ///< TESELA_PAD_VALUE: rounded to dst's type; refused outside its range
  bool lossy;                        ///< integers outside dst's type keep their low bits
  int32_t threads;                   ///< as tesela_plan_options
  const tesela_allocator *allocator; ///< NULL: malloc and free; must outlive the transfer
  int64_t reserved[4];               ///< 0: room to grow (base.h)
} tesela_transfer_options;

typedef struct tesela_transfer tesela_transfer;

/// Host to device.
///
/// Example: f16[1000,200] to spyre's default layout, TESELA_PAD_ZERO: 400000 bytes read, 512000 written, and device places
/// 192008 to 192063 are zeros.
///
/// @param host_strides, host_offset  of the host tensor, in elements; NULL: row-major
/// @param layout  a valid layout (from tesela_device_with_stick, .., tesela_device_parse)
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for a conversion or padding value that the device type does not have; TESELA_E_RANGE
///         for a host tensor that reaches below element offset 0, a padding value, pad or number of threads out of range;
///         TESELA_E_OVERFLOW for host places beyond int64; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_transfer_to_device(tesela_transfer **out, const tesela_device_layout *layout,
                                                   const int64_t *host_strides, int64_t host_offset,
                                                   const tesela_transfer_options *options, tesela_error *err);

/// Device to host: the reverse of to_device. Writes only the elements of the host tensor; pad is ignored.
///
/// Example: f16[1000,200] from spyre's default layout: 400000 bytes written; padding is not read.
/// @return as tesela_transfer_to_device; TESELA_E_UNSUPPORTED also for host elements that share a place (stride 0).
TESELA_API tesela_status tesela_transfer_to_host(tesela_transfer **out, const tesela_device_layout *layout,
                                                 const int64_t *host_strides, int64_t host_offset,
                                                 const tesela_transfer_options *options, tesela_error *err);

/// Between two layouts of one host shape: restickify, spread (dense to one element per stick), compact (the reverse), change
/// padding, convert types.
///
/// Example: f16[128,128] of spyre from stick dim 1 to stick dim 0: 32768 bytes read and written.
/// @return as tesela_transfer_to_device; TESELA_E_MISMATCH if the shapes differ.
TESELA_API tesela_status tesela_transfer_between(tesela_transfer **out, const tesela_device_layout *dst,
                                                 const tesela_device_layout *src,
                                                 const tesela_transfer_options *options, tesela_error *err);

/// NULL is allowed.
TESELA_API void tesela_transfer_destroy(tesela_transfer *transfer);

/// Run a transfer. `src` and `dst` are the addresses of device place 0, or of host element offset 0. They may overlap or be
/// equal: src is then first copied to temporary memory (TESELA_E_MEMORY). Progress is called while elements are copied, not
/// during the range check of integers before.
/// @return TESELA_OK; TESELA_E_RANGE for a value that does not fit (dst is unchanged); TESELA_E_STOPPED; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_transfer_run(const tesela_transfer *transfer, void *dst, const void *src,
                                             const tesela_run_options *options, tesela_error *err);

/// Facts about a transfer.
typedef struct tesela_transfer_facts {
  int64_t elements;
  int64_t bytes_read, bytes_written; ///< padding that is filled included
  int64_t src_bytes, dst_bytes;      ///< from place 0 to the last place that may be read or written
  tesela_plan_info plan;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_transfer_facts;
/// The facts of a transfer, known at its creation.
TESELA_API tesela_transfer_facts tesela_transfer_facts_of(const tesela_transfer *transfer);

/// The first wrong element of a dump of device memory, compared with the host tensor.
typedef struct tesela_misplaced {
  bool same;                       ///< every element is at its place
  int64_t n_different;             ///< wrong elements
  int64_t index[TESELA_MAX_RANK];  ///< the first one, row-major
  int64_t place;                   ///< its place
  uint8_t expected[16], found[16]; ///< bits in the device's type, in the first bytes
  bool is_padding_value;           ///< `found` is all zero bits, like cleared memory and zeroed padding
  bool have_source;                ///< another element with the bits of `found` is known
  int64_t source[TESELA_MAX_RANK]; ///< the first host element, row-major, with the bits of `found`
} tesela_misplaced;

/// Verify a dump: `dump` holds `dump_bytes` bytes of device memory from place 0 on, `host` the tensor. Padding is ignored;
/// for integers outside the device type the low bits are expected.
///
/// Example: two rows of f16[6,100] swapped in the dump: n_different 200, and `source` of the first is the same column of the
/// other row, unless an equal value precedes it.
///
/// @return TESELA_OK; TESELA_E_RANGE if the dump is shorter than the layout; as tesela_transfer_to_device; TESELA_E_MEMORY: it
///         allocates a copy of the tensor in the device type; TESELA_E_STOPPED. options as for tesela_values_compare.
/// O(elements).
TESELA_API tesela_status tesela_transfer_verify(const tesela_device_layout *layout, const void *dump,
                                                int64_t dump_bytes, const int64_t *host_strides,
                                                int64_t host_offset, const void *host,
                                                tesela_misplaced *misplaced,
                                                const tesela_run_options *options,
                                                const tesela_allocator *allocator, tesela_error *err);

/*
 * ==== Transfers between a host tensor and a device layout as loop nests, for engines that move blocks
 *
 * A *nest* moves host_offset + sum i*host_stride <-> device_offset + sum i*device_stride for all i below its ranges.
 * The nests of a transfer are disjoint and cover exactly the elements that exist; no device place occurs twice.
 *
 *   f16[1000,200], sticks along dim 1            ranges        device strides   host strides    device, host offset
 *     whole sticks                              3, 1000, 64    64000, 64, 1     64, 200, 1            0,      0
 *     the last of each row has 8 of 64 lanes    1, 1000,  8    64000, 64, 1     64, 200, 1       192000,    192
 *
 * Ranges, device strides and host strides of the first nest are the RFC's three tuples. All numbers count elements
 * unless a name says bytes. The host tensor may have any strides: permuted, gapped, 0 (broadcast), negative. The host
 * stride of a block is step * the actual stride of its dim, never a product of sizes.
 *
 * Two forms. In *plain* form a nest has one loop per device dim, in the order of the device dims, over a range of its
 * digits. In *merged* form (the default) device dims that are contiguous on both sides are merged first, loops of one
 * iteration are removed, and loops are sorted by decreasing device stride; nests may have any strides, and nests whose
 * union is a nest are merged. f16[200] is one merged nest of 200, or two plain nests of 3x64 and 1x8.
 *
 * Source: RFC, section Padded tensors; the greedy split of nested, uneven tiles is device.h's.
 */

#define TESELA_DMA_NESTS \
  (1 << 16) ///< most nests of a transfer; a max_nests in its limits may raise this to 2^20

/// One loop nest, outermost loop first. n may be 0: one element.
typedef struct tesela_nest {
  int32_t n;
  int64_t device_offset, host_offset;
  int64_t range[TESELA_DEVICE_DIMS];
  int64_t device_stride[TESELA_DEVICE_DIMS];
  int64_t host_stride[TESELA_DEVICE_DIMS]; ///< 0 for loops over padding (tesela_dma_options.padding)
} tesela_nest;

typedef enum tesela_dma_direction {
  TESELA_DMA_TO_DEVICE, ///< replicated dims: every copy is written
  TESELA_DMA_TO_HOST,   ///< replicated dims: the first copy is read; refused if host elements share a place
} tesela_dma_direction;

typedef struct tesela_dma_options {
  tesela_dma_direction direction;
  bool plain;           ///< one loop per device dim (limits may split loops, and drop those of one iteration)
  bool innermost_first; ///< loops of each nest in reverse order, as engines list them
  bool padding;         ///< instead, nests over the places without an element, for a fill; host and
                        ///< direction are ignored; in plain form, if strides leave single places
                        ///< free, a last loop over them follows the loops of the device dims
  const tesela_dma_limits *limits;     ///< NULL: no limits; otherwise nests are cut until each is within them
  const int64_t *box_start, *box_size; ///< only these elements, rank numbers each; NULL: all
  const tesela_allocator *allocator;   ///< NULL: malloc and free; must outlive the nests
  int64_t reserved[4];                 ///< 0: room to grow (base.h)
} tesela_dma_options;

/// Facts about a list of nests.
typedef struct tesela_dma_facts {
  int32_t n_nests;
  /// Lower bound on the nests of any list: any strides, loops by decreasing device stride, each nest within the limits. It is
  /// n_nests if all lists were tried (for at most 64 elements or places), 2 if the elements are not their own mirror image (the
  /// elements of one nest are), otherwise 1.
  int32_t bound;
  /// Lower bound on the nests of lists whose loops run over ranges of digits (of device dims, merged in merged form): there
  /// are this many elements of which no two fit into one such nest, or all such lists were tried. Lists of other nests may be
  /// shorter: n_nests may be below this number.
  int32_t digit_bound;
  int64_t elements;    ///< elements moved, counting each copy; or places of padding
  int64_t bursts;      ///< contiguous runs on the device, over all nests: inner loops form one run as long as
                       ///< each stride equals the span of the loops inside it, up to max_burst
  int64_t burst_bytes; ///< average bytes of a burst, rounded down; 0 without bursts
  int64_t least_burst_bytes, most_burst_bytes;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_dma_facts;

typedef struct tesela_dma tesela_dma;

/// Compute the nests of a transfer.
///
/// Example: f16[1000,200] above: two nests, bound 2. f16[200], one row of sticks: one merged nest of 200 (both sides are
/// contiguous), two plain ones. Columns 60 to 129 of f16[10,200]: 3 nests, digit_bound 3, bound 2.
///
/// @param host_strides  of the host tensor, rank numbers; NULL: row-major
/// @param host_offset   of element 0
/// @param options       NULL: all zeros
/// @return TESELA_OK, also without elements (no nests); TESELA_E_UNSUPPORTED if a limit cannot be met (the message names it and a
///         remedy), if two elements have the same device place or, to host, the same host place, if strides interleave so
///         much that a bounded search decides neither this nor the padding, and for a box of padding;
///         TESELA_E_INVALID for a layout with a coordinate or an element without a place;
///         TESELA_E_RANGE for a box outside the shape, a limit below 0, a field of the layout out of range;
///         TESELA_E_LIMIT for more than TESELA_DMA_NESTS nests without max_nests, 2^20
///         with it, or padding around more than 4096; TESELA_E_OVERFLOW; TESELA_E_MEMORY.
/// O(nests), independent of the elements; up to 2^16 more steps per host dim if the least count is not obvious. At most 768 nests
/// are compared in pairs to merge them. For at most 64 elements up to 2^16 steps try all lists, and limits are refused only if no
/// list is within them.
TESELA_API tesela_status tesela_dma_create(tesela_dma **out, const tesela_device_layout *layout,
                                           const int64_t *host_strides, int64_t host_offset,
                                           const tesela_dma_options *options, tesela_error *err);
/// NULL is allowed.
TESELA_API void tesela_dma_destroy(tesela_dma *dma);
TESELA_API tesela_dma_facts tesela_dma_facts_of(const tesela_dma *dma);
/// Nest k, 0 <= k < n_nests: first the nest with the most elements, then the others by their host elements, host dim 0 slowest
/// (padding: by places). NULL if k is out of range. Owned by the list.
TESELA_API const tesela_nest *tesela_dma_nest(const tesela_dma *dma, int32_t k);

/// Print nests as source text, the RFC's loops: one `for` per loop, the move in the middle. Deterministic.
///
///   for (i0 = 0; i0 < 3; i0++)
///     for (i1 = 0; i1 < 1000; i1++)
///       for (i2 = 0; i2 < 64; i2++)
///         device[i0 * 64000 + i1 * 64 + i2] = host[i0 * 64 + i1 * 200 + i2];
///
/// To host the sides are swapped; padding is `device[..] = fill;`. The outermost loop is always i0.
/// @return TESELA_OK; TESELA_E_STOPPED.
TESELA_API tesela_status tesela_dma_print(const tesela_dma *dma, const tesela_writer *to, tesela_error *err);

/// Print one nest as the RFC's three tuples: ((4, 1024, 64), (65536, 64, 1), (64, 256, 1)). Tuples of one number end in a
/// comma; offsets are not part of them. The order is ranges, device strides, host strides, as in the RFC's example (its prose
/// names host strides second).
TESELA_API tesela_status tesela_dma_print_tuples(const tesela_nest *nest, const tesela_writer *to,
                                                 tesela_error *err);

#ifdef __cplusplus
}
#endif

#endif
