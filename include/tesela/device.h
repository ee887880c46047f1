/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the layout of a tensor in the memory of a device whose unit is the stick.
 *
 * A device layout is a list of *device dims*, outermost first. Each is (host dim, step, extent): its digit counts steps of
 * `step` elements along that host dim. A host coordinate is split greedily: largest step first, on equal steps the outer device
 * dim first; a device dim of extent 1 takes no digit, whatever its step. What no host coordinate reaches is padding. The last `stick_dims` device dims are the lanes of a stick.
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
 * A device dim without a host dim is *synthetic* (only digit 0 holds data: one element per stick has lanes of that kind) or
 * *replicated* (each digit holds the same element). Every question of layout.h is answered by tesela_device_to_layout.
 * Offsets, strides, steps and extents count elements, never bytes.
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
 * ==== What an accelerator asks of tensors in its memory, as data
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

/// What a device layout is made for: a host tensor's shape and type, and the sticks.
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
  int32_t stick_dims; ///< how many of the last ones make up a stick, >= 1
  int64_t lanes;      ///< stick_bytes * 8 / device_bits
  int64_t places;     ///< device elements in all: gaps and padding included
  tesela_device_dim dim[TESELA_DEVICE_DIMS];
} tesela_device_layout;

/// The host side of a tensor on a target. Example: spyre, TESELA_S64, [1000,200]: device type s32, 32 bits.
/// @return TESELA_OK; TESELA_E_LIMIT for a rank above the target's; TESELA_E_RANGE for a negative extent;
///         TESELA_E_UNSUPPORTED for a type the target has not; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_device_host_of(tesela_device_host *host, const tesela_target *target,
                                               tesela_dtype dtype, int32_t rank, const int64_t *shape,
                                               tesela_error *err);

/* ---- making one ------------------------------------------------------------------------------------------------ */

/// Padding of dims beyond the next multiple: extents at least. Zeros: none.
typedef struct tesela_device_padding {
  int64_t
      to[TESELA_MAX_RANK]; ///< host dim d is laid out as if it had max(shape[d], to[d]) elements; 0: as it is
} tesela_device_padding;

/// A layout from an order of dims: the host dims in `dim_order`, the last one in sticks. A last entry TESELA_STICK_SPARSE
/// behind all dims makes one element per stick. How the dims are arranged is `order`; rank 0 is one stick.
///
/// Example: f16[1000,200], dim_order {0,1}, generic: the layout at the top of this file.
/// Example: f16[256], dim_order {0,-1}, generic: extents 1, 256, 64, the first and last synthetic.
///
/// @param n        host->rank, or host->rank + 1 if the last entry is TESELA_STICK_SPARSE
/// @param target   TESELA_ORDER_TILES takes its tiles from here; may be NULL for the other orders
/// @param padding  NULL: none
/// @return TESELA_OK; TESELA_E_INVALID if dim_order repeats or lacks a dim, or tiles do not fit the sticks; TESELA_E_RANGE;
///         TESELA_E_LIMIT for more than TESELA_DEVICE_DIMS; TESELA_E_OVERFLOW if places exceed int64.
TESELA_API tesela_status tesela_device_from_order(tesela_device_layout *layout,
                                                  const tesela_device_host *host, tesela_order order,
                                                  const tesela_target *target, int32_t n,
                                                  const int32_t *dim_order,
                                                  const tesela_device_padding *padding, tesela_error *err);

/// The target's default layout: its order, dims 0 .. rank-1.
/// Example: spyre, f16[6,100,150]: extents 100, 3, 6, 64 of host dims 1, 2, 0, 2.
TESELA_API tesela_status tesela_device_default(tesela_device_layout *layout, const tesela_target *target,
                                               tesela_dtype dtype, int32_t rank, const int64_t *shape,
                                               tesela_error *err);

/// The target's layout with `stick` as stick dim and the others in host order; TESELA_STICK_SPARSE: one element per stick.
/// This is the family of layouts a program's tensors choose from (propagate.h). TESELA_E_UNSUPPORTED for one element per
/// stick where the target has none; rank 0 takes TESELA_STICK_SPARSE only.
TESELA_API tesela_status tesela_device_with_stick(tesela_device_layout *layout,
                                                  const tesela_device_host *host, const tesela_target *target,
                                                  int32_t stick, tesela_error *err);

/// A layout from its device dims. `stride` of each is taken if `strided`, else row-major over the extents.
///
/// Example: f32[33,40] with dims {1,2,20} {0,16,3} {1,1,2} {0,1,16} (host dim, step, extent) and stick_dims 2: sticks of 2 x 16.
///
/// @return TESELA_OK; TESELA_E_INVALID with the smallest coordinate that has no place if a device dim is too small for its host
///         dim, if the last `stick_dims` extents do not multiply to the lanes, strides let two elements meet (`strided`),
///         or a host dim above 1 is in no device dim; TESELA_E_RANGE for an extent below 0, a step below 1, a host dim that is
///         none; TESELA_E_LIMIT; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_device_from_dims(tesela_device_layout *layout, const tesela_device_host *host,
                                                 int32_t n_dims, const tesela_device_dim *dims, bool strided,
                                                 int32_t stick_dims, tesela_error *err);

/// A layout from device sizes and the host elements that each device dim steps over: step * host stride of the owner; -1 without
/// a host dim or for a host dim of 1, 0 for a replicated one (or a host dim of stride 0, if that reads consistently).
///
/// Example: device_size {4,1000,64}, stride_map {64,200,1} for f16[1000,200] with strides {200,1}: the layout at the top.
///
/// @param host_strides  NULL: row-major
/// @return as tesela_device_from_dims; TESELA_E_INVALID if no host dims and steps fit; TESELA_E_UNSUPPORTED if several fit that
///         place elements differently: the message names two.
TESELA_API tesela_status tesela_device_from_stride_map(tesela_device_layout *layout,
                                                       const tesela_device_host *host,
                                                       const int64_t *host_strides, int32_t n_dims,
                                                       const int64_t *device_size, const int64_t *stride_map,
                                                       tesela_error *err);

/// The same sort of layout with other sticks: the places of the stick dim and of `dim` in the order are swapped
/// (restickify). Example: f16[1000,200] in sticks along 1, dim 0: extents 16, 200, 64 of host dims 0, 1, 0.
/// @return TESELA_OK; TESELA_E_RANGE; TESELA_E_UNSUPPORTED for a layout with several stick dims or other than two digits a stick;
///         TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_device_restick(tesela_device_layout *layout, const tesela_device_layout *from,
                                               int32_t dim, tesela_error *err);

/// The structure of a layout for a host tensor of other extents: the device dim of the largest step of each host dim takes as many
/// digits as it needs, all else stays. For shapes that are known at run time only: one structure, sizes bound late.
/// Example: f16[1000,200] in sticks along 1, for [7,65]: extents 2, 7, 64.
/// @return TESELA_OK; TESELA_E_RANGE; TESELA_E_INVALID if the digits below have no room (a stick of a dim that has one digit
///         only); TESELA_E_UNSUPPORTED for strides that are not row-major; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_device_rebind(tesela_device_layout *layout, const tesela_device_layout *from,
                                              const int64_t *shape, tesela_error *err);

/// Say what sort of sticks these are: constructors say dense or sparse. TESELA_STICKS_PAIR is for lanes that hold at most two
/// elements. Example: f16[1000,2] in sticks along dim 1: TESELA_STICKS_PAIR, 2 of 64 lanes used.
/// TESELA_E_INVALID if the lanes do not say so.
TESELA_API tesela_status tesela_device_set_format(tesela_device_layout *layout, tesela_stick_format format,
                                                  tesela_error *err);

/* ---- reading one ------------------------------------------------------------------------------------------------ */

/// As a layout of the core: one axis "memory" of `places` elements of device_bits, type device_dtype.
/// Two device layouts are the same relation if tesela_layout_compare says so of these.
/// @return TESELA_OK; TESELA_E_LIMIT, TESELA_E_OVERFLOW as layout.h has them.
TESELA_API tesela_status tesela_device_to_layout(const tesela_device_layout *layout, tesela_layout *out,
                                                 tesela_error *err);

/// Sizes. Example: f16[1000,200]: 256000 places, 512000 bytes, 56000 padding; allocation 512000.
typedef struct tesela_device_sizes {
  int64_t elements;     ///< of the host tensor
  int64_t places;       ///< device elements
  int64_t padding;      ///< places that hold no element
  int64_t sticks;       ///< places / lanes, rounded up
  int64_t device_bytes; ///< places * device_bits / 8
  int64_t host_bytes;   ///< elements * bits / 8
  int64_t
      allocation_bytes; ///< device_bytes rounded up to the target's alignment, at least host_bytes if it keeps those
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_device_sizes;

/// @param target  NULL: allocation_bytes is device_bytes
TESELA_API tesela_status tesela_device_sizes_of(const tesela_device_layout *layout,
                                                const tesela_target *target, tesela_device_sizes *sizes,
                                                tesela_error *err);

/// Host elements per digit of each device dim: step * host stride of its dim; -1 for a synthetic dim and a host dim of 1, 0 for a
/// replicated one. `host_strides` NULL: row-major. TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_device_stride_map(const tesela_device_layout *layout,
                                                  const int64_t *host_strides,
                                                  int64_t stride_map[TESELA_DEVICE_DIMS], tesela_error *err);

/// Are all fields equal? Two layouts that are not may still be the same relation.
/// Example: {0,1} and {1,0} of f16[512,256]: not equal.
TESELA_API bool tesela_device_equal(const tesela_device_layout *a, const tesela_device_layout *b);

/// The host dim in the lanes: with one stick dim, its host dim; TESELA_STICK_SPARSE for one element per stick.
/// -2 if several host dims share a stick.
TESELA_API int32_t tesela_device_stick(const tesela_device_layout *layout);

/*
 * ==== Where the elements of a strided view lie on the device
 *
 * A view (sizes, strides, offset) names elements of a host tensor; on the device nothing moves. Whether an operator can use
 * it depends on its *lanes*: which element of a stick each index reads. Offsets are judged on the device: x[1:] of
 * f16[4,100] starts at host offset 100, which is 36 mod 64, but on the device its rows start on sticks.
 *
 *   base f16[6,100], sticks along dim 1; view [4,100], strides (100,1), offset 200
 *     view dim 0 feeds the rows (stride 64), dim 1 feeds blocks (stride 384) and lanes (stride 1): clean, lanes are view dim 1
 *
 * Source: RFC, sections on views and offsets; device.md a5 of the reference.
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

/// Name of a verdict, "clean"; NULL for a number that is none. Static text.
TESELA_API const char *tesela_lane_name(tesela_lane lane);

/// A view of a base tensor; strides and offset count host elements of the base's storage.
typedef struct tesela_host_view {
  int32_t rank;
  int64_t offset;
  int64_t shape[TESELA_MAX_RANK], stride[TESELA_MAX_RANK];
} tesela_host_view;

/// What one view dim feeds: its index contributes digit * stride places, digit = (index div step) mod extent. With
/// `plain` false the contribution depends on other indices (carries) and is not listed.
typedef struct tesela_view_feed {
  int32_t view_dim;
  int64_t step, extent, stride;
} tesela_view_feed;

typedef struct tesela_device_view {
  tesela_layout layout; ///< view index -> device place, axis "memory": every question of layout.h
  tesela_lane lane;
  int32_t lane_dim;    ///< clean or offset: the view dim in the lanes; -1: the lane is constant
  int64_t lane_offset; ///< offset: the constant, 1 .. lanes-1
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
/// @param base_strides  of the base tensor as it was created; NULL: row-major. They must let an offset tell the element:
///                      by decreasing stride, each is a multiple of the next and at least the room below it.
/// The lane is unknown where sticks of the base are not contiguous or do not start at multiples of the lanes, and for some
/// large views of rows that are no whole sticks, entered inside a row and read as one dim.
///
/// @return TESELA_OK; TESELA_E_RANGE for a view that reaches outside the base's elements, with the smallest index that does;
///         TESELA_E_INVALID for a view that reaches a gap between them, with the first element that does; TESELA_E_UNSUPPORTED
///         for base strides that overlap or are below 1, and for a view of a base with gaps of which it cannot be said in a
///         fixed effort that it reaches elements only; TESELA_E_LIMIT; TESELA_E_OVERFLOW.
/// No allocation; about half a microsecond, some milliseconds for the odd large view that only a comparison of layouts
/// decides; about 50 KiB of stack. Any thread.
TESELA_API tesela_status tesela_device_view_of(tesela_device_view *out, const tesela_device_layout *base,
                                               const int64_t *base_strides, const tesela_host_view *view,
                                               tesela_error *err);

/// How an operand stands to the sticks of an iteration (propagate.h says what for).
typedef enum tesela_agreement {
  TESELA_AGREE_ALIGNED, ///< its lane is index[dim] mod lanes, and nothing else changes inside a stick of dim
  TESELA_AGREE_BROADCAST, ///< always lane 0, and one place for all of a stick of dim
  TESELA_AGREE_NOT,       ///< neither
  TESELA_AGREE_UNKNOWN,   ///< could not be decided
} tesela_agreement;

/// How does an operand's view stand to sticks of `lanes` elements along view dim `dim`? `dim` TESELA_STICK_SPARSE: each index
/// is a stick of its own: BROADCAST if the lane is always 0, else NOT. If both hold (an extent of 1), ALIGNED.
///
/// Example: bias f16[4096] in sticks, expanded to [512,4096]: ALIGNED along dim 1, NOT along dim 0, which its lanes do not follow.
///
/// @param view   of `base`, from tesela_device_view_of
/// @param dim    of the view; another number is answered with NOT
/// @param lanes  of the iteration's sticks; ALIGNED is judged by the operand's own lanes
/// Some nanoseconds if view->plain; else as tesela_device_view_of.
TESELA_API tesela_agreement tesela_device_view_agrees(const tesela_device_view *view,
                                                      const tesela_device_layout *base, int32_t dim,
                                                      int64_t lanes);

/*
 * ==== Tensors moved between host and device order, and between device layouts, at memory speed
 *
 * A transfer is planned once and run often, by the engine of relayout.h. What is written and what is not:
 *
 *   to device   every element, converted to the device's type; padding by the fill policy, else untouched
 *   to host     every element of the host tensor, nothing between or around its elements
 *   device to device   every element; padding of dst by the fill policy
 *
 * Types are converted as tesela_transform_check has it. Integers that do not fit the narrower type (s64 to s32, and back
 * from s32 to a host's s8) stop the transfer with the first of them named, unless `lossy` is set.
 */

/// What padding lanes of dst receive.
typedef enum tesela_pad {
  TESELA_PAD_LEAVE, ///< not written: garbage stays
  TESELA_PAD_ZERO,
  TESELA_PAD_MINUS_INF, ///< the least value of an integer type
  TESELA_PAD_PLUS_INF,  ///< the greatest value of an integer type
  TESELA_PAD_VALUE,     ///< options->value
} tesela_pad;

typedef struct tesela_transfer_options {
  tesela_pad pad;
  double value;    ///< TESELA_PAD_VALUE: rounded to dst's type; refused if it is out of its range
  bool lossy;      ///< values that dst's type cannot hold: integers keep their low bits
  int32_t threads; ///< as tesela_plan_options
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
/// @param layout  a right one (tesela_device_with_stick, .., tesela_device_parse), not changed by hand
/// @return TESELA_OK; TESELA_E_UNSUPPORTED for a conversion, or a padding value, that the device's type has not; TESELA_E_RANGE for a
///         host tensor that reaches below its element offset 0, a padding value out of range, a pad or a number of threads that
///         is none; TESELA_E_OVERFLOW for host places beyond int64; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_transfer_to_device(tesela_transfer **out, const tesela_device_layout *layout,
                                                   const int64_t *host_strides, int64_t host_offset,
                                                   const tesela_transfer_options *options, tesela_error *err);

/// Device to host: restores exactly what to_device moved, and writes nothing outside the host tensor's elements; pad is ignored.
///
/// Example: f16[1000,200] from spyre's default layout: 400000 bytes written, whatever lies in the padding.
/// @return as tesela_transfer_to_device; TESELA_E_UNSUPPORTED also for host elements that share a place (stride 0).
TESELA_API tesela_status tesela_transfer_to_host(tesela_transfer **out, const tesela_device_layout *layout,
                                                 const int64_t *host_strides, int64_t host_offset,
                                                 const tesela_transfer_options *options, tesela_error *err);

/// Between two layouts of one host shape: restickify, spread (dense to one element per stick), compact (the reverse), padding
/// changed, types converted.
///
/// Example: f16[128,128] of spyre from stick dim 1 to stick dim 0: 32768 bytes read and written.
/// @return as tesela_transfer_to_device; TESELA_E_MISMATCH if the shapes differ.
TESELA_API tesela_status tesela_transfer_between(tesela_transfer **out, const tesela_device_layout *dst,
                                                 const tesela_device_layout *src,
                                                 const tesela_transfer_options *options, tesela_error *err);

/// NULL is fine.
TESELA_API void tesela_transfer_destroy(tesela_transfer *transfer);

/// Run. dst and src may overlap in any way, the same address included: then the result is as if src had been copied away
/// first (memory for that is taken and released, TESELA_E_MEMORY). `src` and `dst` are addresses of device place 0, or of
/// host element offset 0. Progress is called while elements are copied, not while integers are looked through before.
/// @return TESELA_OK; TESELA_E_RANGE for a value that does not fit (dst is untouched then); TESELA_E_STOPPED; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_transfer_run(const tesela_transfer *transfer, void *dst, const void *src,
                                             const tesela_run_options *options, tesela_error *err);

/// What a transfer moves.
typedef struct tesela_transfer_facts {
  int64_t elements;
  int64_t bytes_read, bytes_written; ///< padding that is filled included
  int64_t src_bytes, dst_bytes;      ///< from place 0 to the last place that may be read or written
  tesela_plan_info plan;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_transfer_facts;
/// The figures of a transfer; known when it is made.
TESELA_API tesela_transfer_facts tesela_transfer_facts_of(const tesela_transfer *transfer);

/// The first element of a dump of device memory that is not what the host tensor says.
typedef struct tesela_misplaced {
  bool same;                       ///< every element is where it belongs
  int64_t n_different;             ///< elements that are not
  int64_t index[TESELA_MAX_RANK];  ///< the first one, row-major
  int64_t place;                   ///< where it belongs
  uint8_t expected[16], found[16]; ///< bits in the device's type, in the first bytes
  bool is_padding_value;           ///< `found` is all zero bits, as cleared memory and zeroed padding are
  bool have_source;                ///< another element with the bits of `found` is known
  int64_t source[TESELA_MAX_RANK]; ///< the first host element, row-major, whose value lies there instead
} tesela_misplaced;

/// Verify a dump: `dump` holds `dump_bytes` bytes of device memory from place 0 on, `host` the tensor. Padding does not count;
/// of integers that the device's type cannot hold the low bits are expected.
///
/// Example: two rows of f16[6,100] swapped in the dump: n_different 200, and `source` of the first is the same column of the
/// other row, unless an equal value stands before it.
///
/// @return TESELA_OK; TESELA_E_RANGE if the dump is shorter than the layout; as tesela_transfer_to_device; TESELA_E_MEMORY: it
///         takes the tensor's elements once more, in the device's type. O(elements).
TESELA_API tesela_status tesela_transfer_verify(const tesela_device_layout *layout, const void *dump,
                                                int64_t dump_bytes, const int64_t *host_strides,
                                                int64_t host_offset, const void *host,
                                                tesela_misplaced *misplaced,
                                                const tesela_allocator *allocator, tesela_error *err);

/*
 * ==== Transfers between a host tensor and a device layout as loop nests, for engines that move blocks
 *
 * A *nest* moves host_offset + sum i*host_stride <-> device_offset + sum i*device_stride for all i below its ranges. The
 * nests of a transfer are disjoint and cover exactly the elements that exist; a device place is never named twice.
 *
 *   f16[1000,200], sticks along dim 1            ranges        device strides   host strides    device, host offset
 *     whole sticks                              3, 1000, 64    64000, 64, 1     64, 200, 1            0,      0
 *     the last of each row has 8 of 64 lanes    1, 1000,  8    64000, 64, 1     64, 200, 1       192000,    192
 *
 * Ranges, device strides, host strides of the first nest are the RFC's three tuples. Everything counts elements but where a name
 * says bytes. The host tensor has any strides: permuted, gapped, 0 (broadcast), negative. Host strides of a block are
 * step * the actual stride of its dim, never a product of sizes.
 *
 * Two forms. In *plain* form a nest has one loop per device dim, in the order of the device dims. In *merged* form (the default)
 * device dims that continue each other on both sides are one before anything is cut, loops of one iteration are gone, and
 * loops stand by decreasing device stride. In plain form each loop runs over a range of its dim's digits. In merged form nests may
 * have any strides; those whose union is a nest are one. f16[200] is one merged nest of 200, two plain ones of 3x64 and 1x8.
 *
 * Source: RFC, section Padded tensors; the greedy split of nested, uneven tiles is device.h's.
 */

#define TESELA_DMA_NESTS \
  (1 << 16) ///< of a transfer at most, unless its limits have a max_nests; that counts up to 2^20

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
  TESELA_DMA_TO_HOST, ///< replicated dims: the first copy is read; host elements that share a place are refused
} tesela_dma_direction;

typedef struct tesela_dma_options {
  tesela_dma_direction direction;
  bool plain;           ///< one loop per device dim (limits may split loops, and drop those of one iteration)
  bool innermost_first; ///< loops of each nest in the other order, as engines list them
  bool padding;         ///< nests over the places that hold no element instead: what a fill writes;
                        ///< the host and the direction do not matter; in plain form a last loop over single
                        ///< places comes behind those of the device dims where strides leave some free
  const tesela_dma_limits *limits;     ///< NULL: none; otherwise nests are cut until each keeps them
  const int64_t *box_start, *box_size; ///< only these elements, rank numbers each; NULL: all
  const tesela_allocator *allocator;   ///< NULL: malloc and free; must outlive the nests
  int64_t reserved[4];                 ///< 0: room to grow (base.h)
} tesela_dma_options;

/// What a list of nests is, in numbers.
typedef struct tesela_dma_facts {
  int32_t n_nests;
  /// No list of nests has fewer, whatever strides they have, loops by decreasing device stride, each within the limits. It is
  /// n_nests where a transfer of at most 64 elements (or places) had all lists tried; 2 where the elements are not their own
  /// mirror image, as those of a nest are; otherwise 1.
  int32_t bound;
  /// No list has fewer whose loops run over ranges of digits (of device dims; in merged form those that continue each other on both
  /// sides are one): there are so many elements of which no two fit into one such nest, or all such lists were tried. Other
  /// nests may be fewer: n_nests may be below this number.
  int32_t digit_bound;
  int64_t elements; ///< moved, each copy counted; or places of padding
  int64_t bursts;   ///< runs of neighbours on the device while the innermost loops run, over all nests: loops
                    ///< are one run as long as each steps by what those inside it span, and max_burst is kept
  int64_t burst_bytes; ///< bytes of a burst on average, rounded down; 0 without bursts
  int64_t least_burst_bytes, most_burst_bytes;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_dma_facts;

typedef struct tesela_dma tesela_dma;

/// The nests of a transfer.
///
/// Example: f16[1000,200] above: two nests, bound 2. f16[200], one row of sticks: one merged nest of 200 (both sides are
/// contiguous), two plain ones. Columns 60 to 129 of f16[10,200]: 3 nests, digit_bound 3, bound 2.
///
/// @param host_strides  of the host tensor, rank numbers; NULL: row-major
/// @param host_offset   of element 0
/// @param options       NULL: all zeros
/// @return TESELA_OK, also without elements (no nests); TESELA_E_UNSUPPORTED if a limit cannot be met: the message names it, and
///         says what would do; if two elements have the same device place; to host, if two share a place on the host;
///         if strides interleave so much that either is not settled by a bounded search, or the padding cannot be told;
///         for a box of padding; TESELA_E_INVALID for a layout with a coordinate, or an element, that has no place;
///         TESELA_E_RANGE for a box outside the shape, a limit below 0, a field of the layout out of its range;
///         TESELA_E_LIMIT for more than TESELA_DMA_NESTS nests without max_nests, 2^20
///         with it, or padding around more than 4096; TESELA_E_OVERFLOW; TESELA_E_MEMORY.
/// O(nests), not of elements; up to 2^16 steps more per host dim where the least count is not at hand. At most 768 nests are
/// compared pair by pair to join them; of at most 64 elements 2^16 steps try lists, and limits refuse only if no list keeps them.
TESELA_API tesela_status tesela_dma_create(tesela_dma **out, const tesela_device_layout *layout,
                                           const int64_t *host_strides, int64_t host_offset,
                                           const tesela_dma_options *options, tesela_error *err);
/// NULL is fine.
TESELA_API void tesela_dma_destroy(tesela_dma *dma);
TESELA_API tesela_dma_facts tesela_dma_facts_of(const tesela_dma *dma);
/// Nest k, 0 <= k < n_nests: the one with the most elements, then the others in the order of their host elements, host dim 0
/// slowest (padding: by places). NULL outside. Belongs to the list.
TESELA_API const tesela_nest *tesela_dma_nest(const tesela_dma *dma, int32_t k);

/// Print nests as source text, the RFC's loops: one `for` per loop, the move in the middle. Deterministic.
///
///   for (i0 = 0; i0 < 3; i0++)
///     for (i1 = 0; i1 < 1000; i1++)
///       for (i2 = 0; i2 < 64; i2++)
///         device[i0 * 64000 + i1 * 64 + i2] = host[i0 * 64 + i1 * 200 + i2];
///
/// To host the sides are swapped; padding is `device[..] = fill;`. The outermost loop is i0 also if nests list it last.
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
