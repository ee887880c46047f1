/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - the model: a layout is a relation between the elements of a logical array and places.
 *
 * A layout is built from *coordinates* and *digits*:
 *
 *   coordinate  a number: the index of a dim (coordinates 0 .. rank-1) or of a join (rank, rank+1, ...)
 *   digit       a part of one coordinate; placed on an axis with a stride, or part of a join with a weight
 *   axis        a numbered set of places: "memory", or "thread" and "local", ...
 *
 * The digits of one coordinate, by decreasing step, split it greedily: the first is x div step, the next is
 * computed from the rest x mod step. The place on an axis is the axis offset plus the sum of digit * stride.
 *
 *   f32[3,5]{1,0:T(2,2)}     dim 0: (step 2, extent 2) (step 1, extent 2)
 *                            dim 1: (step 2, extent 3) (step 1, extent 2)
 *   strides on memory                12, 2                4, 1           element (2,3) -> 12 + 0 + 4 + 1 = 17
 *
 * The splits may pad: dim 0 has 3 elements and its digits have room for 4. A place without an element is *padding*.
 * A digit without a source is a *replica* (the element is at all its values) or a *hole* (only value 0 is used).
 * Everything else - size, inverse, equality, copying, drawing - follows from this relation.
 *
 * A tesela_layout is a plain value: copy it with `=`. No function here allocates; any number of threads may
 * read one. Build it with tesela_layout_begin .. tesela_layout_finish, or read it from a notation (xla.h).
 */
#ifndef TESELA_LAYOUT_H
#define TESELA_LAYOUT_H

#include <tesela/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ==== Element types: name, width of the value, width of its ordinary storage
 *
 * Source: XLA's primitive types (xla_data.proto, primitive_util.cc); the numbers are XLA's, for exchange with it.
 */

/* symbol, number, name, bits of the value, bytes of one element by default, family */
#define TESELA_DTYPE_MAP(X)                                               \
  X(TESELA_PRED, 1, "pred", 1, 1, TESELA_FAMILY_BOOL)                     \
  X(TESELA_S8, 2, "s8", 8, 1, TESELA_FAMILY_SIGNED)                       \
  X(TESELA_S16, 3, "s16", 16, 2, TESELA_FAMILY_SIGNED)                    \
  X(TESELA_S32, 4, "s32", 32, 4, TESELA_FAMILY_SIGNED)                    \
  X(TESELA_S64, 5, "s64", 64, 8, TESELA_FAMILY_SIGNED)                    \
  X(TESELA_U8, 6, "u8", 8, 1, TESELA_FAMILY_UNSIGNED)                     \
  X(TESELA_U16, 7, "u16", 16, 2, TESELA_FAMILY_UNSIGNED)                  \
  X(TESELA_U32, 8, "u32", 32, 4, TESELA_FAMILY_UNSIGNED)                  \
  X(TESELA_U64, 9, "u64", 64, 8, TESELA_FAMILY_UNSIGNED)                  \
  X(TESELA_F16, 10, "f16", 16, 2, TESELA_FAMILY_FLOAT)                    \
  X(TESELA_F32, 11, "f32", 32, 4, TESELA_FAMILY_FLOAT)                    \
  X(TESELA_F64, 12, "f64", 64, 8, TESELA_FAMILY_FLOAT)                    \
  X(TESELA_OPAQUE, 14, "opaque", 0, 0, TESELA_FAMILY_NONE)                \
  X(TESELA_C64, 15, "c64", 64, 8, TESELA_FAMILY_COMPLEX)                  \
  X(TESELA_BF16, 16, "bf16", 16, 2, TESELA_FAMILY_FLOAT)                  \
  X(TESELA_TOKEN, 17, "token", 0, 0, TESELA_FAMILY_NONE)                  \
  X(TESELA_C128, 18, "c128", 128, 16, TESELA_FAMILY_COMPLEX)              \
  X(TESELA_F8E5M2, 19, "f8e5m2", 8, 1, TESELA_FAMILY_FLOAT)               \
  X(TESELA_F8E4M3FN, 20, "f8e4m3fn", 8, 1, TESELA_FAMILY_FLOAT)           \
  X(TESELA_S4, 21, "s4", 4, 1, TESELA_FAMILY_SIGNED)                      \
  X(TESELA_U4, 22, "u4", 4, 1, TESELA_FAMILY_UNSIGNED)                    \
  X(TESELA_F8E4M3B11FNUZ, 23, "f8e4m3b11fnuz", 8, 1, TESELA_FAMILY_FLOAT) \
  X(TESELA_F8E5M2FNUZ, 24, "f8e5m2fnuz", 8, 1, TESELA_FAMILY_FLOAT)       \
  X(TESELA_F8E4M3FNUZ, 25, "f8e4m3fnuz", 8, 1, TESELA_FAMILY_FLOAT)       \
  X(TESELA_S2, 26, "s2", 2, 1, TESELA_FAMILY_SIGNED)                      \
  X(TESELA_U2, 27, "u2", 2, 1, TESELA_FAMILY_UNSIGNED)                    \
  X(TESELA_F8E4M3, 28, "f8e4m3", 8, 1, TESELA_FAMILY_FLOAT)               \
  X(TESELA_F8E3M4, 29, "f8e3m4", 8, 1, TESELA_FAMILY_FLOAT)               \
  X(TESELA_S1, 30, "s1", 1, 1, TESELA_FAMILY_SIGNED)                      \
  X(TESELA_U1, 31, "u1", 1, 1, TESELA_FAMILY_UNSIGNED)                    \
  X(TESELA_F4E2M1FN, 32, "f4e2m1fn", 4, 1, TESELA_FAMILY_FLOAT)           \
  X(TESELA_F8E8M0FNU, 33, "f8e8m0fnu", 8, 1, TESELA_FAMILY_FLOAT)         \
  X(TESELA_F6E3M2FN, 35, "f6e3m2fn", 6, 1, TESELA_FAMILY_FLOAT)           \
  X(TESELA_F6E2M3FN, 36, "f6e2m3fn", 6, 1, TESELA_FAMILY_FLOAT)

typedef enum tesela_dtype {
  TESELA_DTYPE_NONE = 0, ///< no type: "not given"
#define TESELA__ROW(symbol, number, name, bits, bytes, family) symbol = number,
  TESELA_DTYPE_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_dtype;

typedef enum tesela_dtype_family {
  TESELA_FAMILY_NONE, ///< token and opaque, which have no arrays
  TESELA_FAMILY_BOOL,
  TESELA_FAMILY_SIGNED,
  TESELA_FAMILY_UNSIGNED,
  TESELA_FAMILY_FLOAT,
  TESELA_FAMILY_COMPLEX,
} tesela_dtype_family;

/// Name of a type, "bf16" for TESELA_BF16; NULL for TESELA_DTYPE_NONE and unknown numbers.
TESELA_API const char *tesela_dtype_name(tesela_dtype dtype);

/// The type of an XLA name of `length` bytes, lower case only: "bf16" -> TESELA_BF16. TESELA_DTYPE_NONE
/// for any other text. O(1).
TESELA_API tesela_dtype tesela_dtype_find(const char *name, size_t length);

/// The known name nearest to an unknown one, for error messages: "fp16", "float16" and "F16" -> "f16".
/// NULL if no name is near.
TESELA_API const char *tesela_dtype_suggest(const char *name, size_t length);

/// Read the name of a type in any unambiguous spelling.
///
/// Example: "bf16", "bfloat16", "torch.bfloat16", "ml_dtypes.bfloat16" -> TESELA_BF16; "jnp.float32", "<f4", "np.dtype('<f4')"
/// -> TESELA_F32 (in either byte order, which is not part of the type); "float8_e4m3fn", "F8E4M3FN" ->
/// TESELA_F8E4M3FN; "bool", "|b1", "?" -> TESELA_PRED; "int4", "i4" -> TESELA_S4, but "<i4" -> TESELA_S32, as in NumPy;
/// "torch.long" -> TESELA_S64, while "long" alone is refused.
///
/// Known names: XLA's; those of NumPy, ml_dtypes, JAX, PyTorch, TensorFlow and Triton, alone or after their module
/// (np. numpy. jnp. jax.numpy. ml_dtypes. torch. tf. tl.); NumPy's codes with their byte order. Upper and lower case are
/// equal, except in NumPy's codes.
///
/// @param dtype  receives the type; never TESELA_DTYPE_NONE
/// @return TESELA_OK; TESELA_E_SYNTAX for another text, with the nearest name; TESELA_E_INVALID if name or dtype is NULL.
/// O(length), no allocation, any thread.
TESELA_API tesela_status tesela_dtype_read(const char *name, size_t length, tesela_dtype *dtype,
                                           tesela_error *err);

/// Bits of the value: 1 for pred, 4 for s4, 6 for f6e3m2fn, 32 for f32; 0 for token, opaque and TESELA_DTYPE_NONE.
TESELA_API int32_t tesela_dtype_bits(tesela_dtype dtype);

/// Bytes of one element by default: 1 for pred and s4, 4 for f32; 0 for token. A layout may use another width.
TESELA_API int32_t tesela_dtype_bytes(tesela_dtype dtype);

/// Family of a type; TESELA_FAMILY_NONE for token, opaque and TESELA_DTYPE_NONE.
TESELA_API tesela_dtype_family tesela_dtype_family_of(tesela_dtype dtype);

/*
 * ==== Elements: numbers <-> bits of every type
 *
 * An element is stored in bits/8 bytes, least significant first, or in 1, 2 or 4 bits, from the low bits of a byte up.
 * `bits` may exceed the width of the type (s4 in 8 bits, pred in 32).
 */

#define TESELA_ELEMENT_BYTES 16 ///< of the largest element
#define TESELA_ELEMENT_TEXT 80  ///< room for any element as text, the NUL included

/// Read one element: its bits in hexadecimal (0x7fc0) or, depending on the type, a number (3, -1.5, 1e-3, nan, -inf), true
/// or false, or a complex number (1-2j, 2j, 3). The decimal point is '.' in every locale.
///
/// Example: "-1.5" as TESELA_BF16 of 16 bits is the bytes c0 bf; "-1" as TESELA_S4 of 4 bits is 0f, of 8 bits ff.
///
/// A number is rounded to the nearest value of the type, ties to even (types below 32 bits: the number is rounded to f64
/// first). A number beyond the largest value is refused; f8e8m0fnu accepts powers of two only.
///
/// @param value  receives the element, then zeros; unchanged on failure
/// @return TESELA_OK; TESELA_E_SYNTAX for a text that is not an element of this type; TESELA_E_RANGE for a number outside
///         the type, more than `bits` bits, or `bits` other than 1, 2, 4, 8, 16, 32, 64 and 128; TESELA_E_UNSUPPORTED
///         for a number without a type, or `bits` less than the type needs; TESELA_E_INVALID for NULL.
/// No allocation, any thread.
TESELA_API tesela_status tesela_element_read(const char *text, size_t length, tesela_dtype dtype,
                                             int32_t bits, uint8_t value[TESELA_ELEMENT_BYTES],
                                             tesela_error *err);

/// An element as a number: "-1.5", "nan", "true", "1-2j"; "" without a type, or with `bits` less than the type needs. Floats
/// have the fewest digits, from 6 up, that tesela_element_read turns into the same number. Returns `text`.
TESELA_API const char *tesela_element_print(const uint8_t *value, tesela_dtype dtype, int32_t bits,
                                            char text[TESELA_ELEMENT_TEXT]);

/// An element as bits, most significant digit first: "0x3f800000"; "0x5" for 4 bits. Returns `text`.
TESELA_API const char *tesela_element_bits(const uint8_t *value, int32_t bits,
                                           char text[TESELA_ELEMENT_TEXT]);

/// Read the element at a place of a buffer; the rest of `value` becomes zeros. `bits` as in tesela_element_read.
TESELA_API void tesela_element_get(const void *data, int64_t place, int32_t bits,
                                   uint8_t value[TESELA_ELEMENT_BYTES]);
/// Write the element at a place; no other bit of its byte changes.
TESELA_API void tesela_element_put(void *data, int64_t place, int32_t bits, const uint8_t *value);

/* ==== Layouts ==== */

#define TESELA_MAX_RANK 32    ///< dims of a layout
#define TESELA_MAX_DIGITS 128 ///< digits, including those in joins
#define TESELA_MAX_JOINS 32   ///< joined coordinates
#define TESELA_MAX_AXES 8     ///< axes
#define TESELA_AXIS_NAME 12   ///< bytes of an axis name, the NUL included

#define TESELA_REPLICA (-1) ///< tesela_digit.source: the element is at every value of this digit
#define TESELA_HOLE (-2)    ///< tesela_digit.source: only value 0 of this digit holds an element

/// One digit of a coordinate.
typedef struct tesela_digit {
  int64_t extent;  ///< values 0 .. extent-1, padding included
  int64_t step;    ///< units of the source coordinate per value, >= 1
  int64_t stride;  ///< places per value on `axis`, or weight per value in `join`; 0 and negative allowed
  int16_t source;  ///< coordinate: dim (< rank) or join (rank + j); TESELA_REPLICA or TESELA_HOLE
  int16_t axis;    ///< the axis it is placed on, or -1
  int16_t join;    ///< the join it is a part of, or -1
  int16_t part_of; ///< for a hole made by a split: 1 + the coordinate it is a part of; else 0
} tesela_digit;

/// One set of places, 0 .. extent-1.
typedef struct tesela_axis {
  char name[TESELA_AXIS_NAME]; ///< "memory", "thread", "local", ...
  bool overlap;                ///< set by finish: two values of the digits share a place, or undecided
  bool undecided;              ///< set by finish: whether values overlap could not be decided
  bool interleaved; ///< set by finish: no overlap, although a stride is within the reach of smaller ones
  int64_t offset;   ///< place with all digits 0
  int64_t extent;   ///< number of places, padding and gaps included
} tesela_axis;

/// A joined coordinate: offset + sum of part * weight over the digits whose `join` names it.
typedef struct tesela_join {
  bool overlap;                ///< set by finish: two values of the parts give one number, or undecided
  bool undecided, interleaved; ///< set by finish: as in tesela_axis
  int64_t extent;              ///< values 0 .. extent-1
  int64_t offset;              ///< value with all parts 0
} tesela_join;

/// A shifted XOR stage on an axis: some bits of the place act on `bits` others, |shift| positions away. With m = 2^bits - 1:
///   shift >= 0   place ^= (place >> (base + shift) & m) << base       higher bits act on the ones at base
///   shift < 0    place ^= (place >> base & m) << (base - shift)       the bits at base act on higher ones
/// Example: bits 2, base 1, shift 2 on place 21 (10101): bits 3 and 4 are 10, so 21 ^ (2 << 1) = 17.
typedef struct tesela_swizzle {
  int16_t axis, bits, base, shift;
} tesela_swizzle;

/// Bit `bit` of the place on an axis, 0 to 61.
typedef struct tesela_axis_bit {
  int16_t axis, bit;
} tesela_axis_bit;

/// The XOR stage of a layout: a matrix of bits with an inverse, applied after offsets and digits. The low width[a] bits of the
/// place on each axis, axis 0 lowest, are one word; its new value is the XOR of image[k] over the bits k that are set.
///
/// Example: the swizzle above: width 5; image[3] = 01010, image[4] = 10100, the others are 1 << k.
typedef struct tesela_bit_matrix {
  int32_t n;                      ///< bits of the word, the sum of the widths; 0: no stage
  uint8_t width[TESELA_MAX_AXES]; ///< the smallest ones, so equal stages have equal fields
  uint64_t moved;                 ///< bits whose image is not the bit alone
  uint64_t image[64];             ///< of the bits 0 .. n-1
  uint64_t source[64];            ///< the inverse: the word whose image is bit k alone
} tesela_bit_matrix;

/// A layout. Read the fields, but change them only with the functions below, which keep them consistent.
typedef struct tesela_layout {
  int32_t rank;
  int32_t n_digits; ///< all digits; those of extent 1 come last and are always 0
  int32_t n_active; ///< digits of any other extent: those with a source first, then others with a stride
  int32_t n_mapped; ///< active digits with a source, sorted by source, then decreasing step
  int32_t n_joins, n_axes;
  int32_t bits;       ///< bits one element takes in its place
  tesela_dtype dtype; ///< TESELA_DTYPE_NONE: only the width is known
  bool finished;      ///< tesela_layout_finish accepted it
  int64_t shape[TESELA_MAX_RANK];
  tesela_join join[TESELA_MAX_JOINS];
  tesela_axis axis[TESELA_MAX_AXES];
  tesela_bit_matrix swizzle;
  uint8_t
      by_place[TESELA_MAX_DIGITS]; ///< active digits by target (axes, then joins), then decreasing |stride|
  tesela_digit digit[TESELA_MAX_DIGITS];
} tesela_layout;

/* ---- building -------------------------------------------------------------------------------------------- */

/// Start a layout of `rank` dims: one digit per dim (digit d is dim d, step 1), placed nowhere, no axis.
///
/// @param bits   bits one element takes in its place, 1 to 1024
/// @param shape  `rank` extents >= 0; may be NULL if rank is 0
/// @return TESELA_OK; TESELA_E_LIMIT for rank > TESELA_MAX_RANK; TESELA_E_RANGE for a negative extent or bits
///         outside 1..1024; TESELA_E_OVERFLOW if the number of elements exceeds int64.
TESELA_API tesela_status tesela_layout_begin(tesela_layout *layout, tesela_dtype dtype, int32_t bits,
                                             int32_t rank, const int64_t *shape, tesela_error *err);

/// Split a digit: it keeps x div t, and the new digit *lo is x mod t. If t does not divide its extent, the
/// split pads: extents become ceil(extent / t) and t.
///
/// Example: a digit of extent 5 split by 2 becomes extents 3 and 2, room for 6.
///
/// @return TESELA_OK; TESELA_E_RANGE for t < 1 or an unknown digit; TESELA_E_LIMIT beyond TESELA_MAX_DIGITS;
///         TESELA_E_INVALID if the digit is already placed, or is a replica that t does not divide;
///         TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_layout_split(tesela_layout *layout, int32_t digit, int64_t t, int32_t *lo,
                                             tesela_error *err);

/// Join n digits, most significant first, into one coordinate a * extent(b) + b, and make a digit of it.
///
/// Example: digits of extents 11 and 10 join to a digit of extent 110; (6, 2) is 62.
///
/// @return TESELA_OK; TESELA_E_RANGE for n < 1 or an unknown digit; TESELA_E_INVALID if a digit is already placed or
///         joined, is listed twice, or is a replica (holes may be joined); TESELA_E_LIMIT; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_layout_join(tesela_layout *layout, int32_t n, const int32_t *digits,
                                            int32_t *joined, tesela_error *err);

/// Add a constant to a digit, before it is split or placed: the new digit *shifted is x + offset, 0 .. extent + offset - 1.
///
/// Example: a digit of extent 5 shifted by 3 and then split by 4 puts x at block (x + 3) div 4, lane (x + 3) mod 4: elements 0 to 4 are at
/// places 3 to 7.
///
/// @param offset   0 or more
/// @param shifted  receives the new digit; the old one is placed. May be `&digit`
/// @return TESELA_OK; TESELA_E_RANGE for a negative offset or an unknown digit; TESELA_E_INVALID if the digit is already
///         placed, or is a replica; TESELA_E_LIMIT beyond TESELA_MAX_JOINS; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_layout_shift(tesela_layout *layout, int32_t digit, int64_t offset,
                                             int32_t *shifted, tesela_error *err);

/// Add a digit without a source: `kind` is TESELA_REPLICA or TESELA_HOLE, extent >= 1.
TESELA_API tesela_status tesela_layout_add_digit(tesela_layout *layout, int32_t kind, int64_t extent,
                                                 int32_t *digit, tesela_error *err);

/// Add an axis. tesela_layout_finish computes its extent unless tesela_layout_set_axis sets it.
TESELA_API tesela_status tesela_layout_add_axis(tesela_layout *layout, const char *name, int32_t *axis,
                                                tesela_error *err);

/// Put a digit on an axis with a stride (any int64; 0 broadcasts, < 0 walks back).
TESELA_API tesela_status tesela_layout_place(tesela_layout *layout, int32_t digit, int32_t axis,
                                             int64_t stride, tesela_error *err);

/// Put n digits on an axis row-major: the last gets stride `stride`, each one before it `stride` times the extents
/// after it (an extent of 0 counts as 1). next, if not NULL, receives the stride for one more digit before these.
///
/// Example: digits of extents 2, 3, 2, 2 from stride 1: strides 12, 4, 2, 1, and 24 in *next.
TESELA_API tesela_status tesela_layout_place_row_major(tesela_layout *layout, int32_t n,
                                                       const int32_t *digits, int32_t axis, int64_t stride,
                                                       int64_t *next, tesela_error *err);

/// Set the offset and the number of places of an axis; extent -1 lets finish compute it.
TESELA_API tesela_status tesela_layout_set_axis(tesela_layout *layout, int32_t axis, int64_t offset,
                                                int64_t extent, tesela_error *err);

/// Add a shifted XOR stage to an axis, after the stages that the layout has.
/// 0 <= bits, base, and base + |shift| + bits <= 62; |shift| >= bits, so that the stage is its own inverse.
/// @return TESELA_OK; TESELA_E_RANGE for other numbers or an unknown axis; TESELA_E_LIMIT as below.
TESELA_API tesela_status tesela_layout_add_swizzle(tesela_layout *layout, tesela_swizzle swizzle,
                                                   tesela_error *err);

/// Add an XOR stage of any form, after the stages that the layout has: bits of the places, of one axis or of several, are
/// replaced by XORs of each other.
///
/// Example: bits {axis 0, bit 0}, {axis 1, bit 2} with images 01, 11: bit 0 of axis 0 becomes the XOR of both bits.
/// Example: two bits with images 10 and 01 are exchanged.
///
/// @param bit    n bits, each once; other bits stay as they are
/// @param image  n words: bit l of image[k] says that bit k of the list is a term of the new bit l of the list
/// @return TESELA_OK; TESELA_E_INVALID for a matrix without an inverse or a bit listed twice; TESELA_E_RANGE for an unknown
///         axis, a bit outside 0 .. 61, or an image with bits beyond n; TESELA_E_LIMIT for more than 64 bits, counted from
///         bit 0 of each axis. On failure the layout does not change.
TESELA_API tesela_status tesela_layout_add_bit_matrix(tesela_layout *layout, int32_t n,
                                                      const tesela_axis_bit *bit, const uint64_t *image,
                                                      tesela_error *err);

/// Check and finish a layout: every digit is placed or joined, every place fits the axis and int64, the last
/// step of each coordinate is 1. Sorts the digits: earlier digit numbers become invalid.
///
/// @return TESELA_OK; TESELA_E_INVALID for an unplaced digit or a replica without a stride; TESELA_E_RANGE for
///         a place < 0 or beyond the axis; TESELA_E_OVERFLOW if places or the number of copies exceed int64.
TESELA_API tesela_status tesela_layout_finish(tesela_layout *layout, tesela_error *err);

/// A strided view: place = offset + sum of index * stride on one axis "memory".
/// strides NULL means row-major. Example: shape (3,5), strides (8,1), offset 2: element (2,3) is at 21.
TESELA_API tesela_status tesela_layout_strided(tesela_layout *layout, tesela_dtype dtype, int32_t bits,
                                               int32_t rank, const int64_t *shape, const int64_t *strides,
                                               int64_t offset, tesela_error *err);

/* ---- element to place, place to element ------------------------------------------------------------------- */

/// The place of one element on each axis; with replicas the first copy (all replica digits 0).
///
/// Example: f32[3,5]{1,0:T(2,2)}, index (2,3) -> place 17.
///
/// @param index  layout->rank coordinates, 0 <= index[d] < shape[d]
/// @param place  receives layout->n_axes numbers
/// @return TESELA_OK; TESELA_E_RANGE for a coordinate outside the shape, *place unchanged.
/// O(n_active), no allocation.
TESELA_API tesela_status tesela_layout_place_of(const tesela_layout *layout, const int64_t *index,
                                                int64_t *place, tesela_error *err);

/// How many places hold each element: the product of the replica extents; 1 without replicas.
TESELA_API int64_t tesela_layout_copies(const tesela_layout *layout);

/// The k-th place of an element, 0 <= k < tesela_layout_copies(); k counts row-major over the replica digits in
/// the order they were added.
TESELA_API tesela_status tesela_layout_copy_of(const tesela_layout *layout, const int64_t *index, int64_t k,
                                               int64_t *place, tesela_error *err);

/// Places of n elements on one axis.
///
/// @param axis     0 <= axis < n_axes
/// @param indices  n rows of `rank` coordinates
/// @param places   receives n places, in the same order
/// @return TESELA_OK; TESELA_E_RANGE for a coordinate outside the shape: the places before that row are written,
///         and the message names the row.
/// The loop divides only by precomputed numbers; about 1 ns per element for two tiled dims (bench/bench_map.c).
TESELA_API tesela_status tesela_layout_places(const tesela_layout *layout, int32_t axis, int64_t n,
                                              const int64_t *indices, int64_t *places, tesela_error *err);

/// The element at a place. For padding *padding is true and index is not written.
///
/// Example: f32[3,5]{1,0:T(2,2)}: place 17 -> (2,3); place 9 -> padding.
///
/// With a stride of 0 (a broadcast dim) several elements share the place; the result is the one with coordinate 0
/// on such digits.
///
/// Strides may interleave: extents 3 and 2 with strides 2 and 3 put (1,1), and no other element, at place 5. Finish
/// decides exactly, by a search of at most 2^14 steps, whether two values share a place. Longer searches, and joins with
/// equal values that may belong to no element, stay undecided and are refused here.
///
/// @param place  layout->n_axes numbers, 0 <= place[a] < axis[a].extent
/// @return TESELA_OK; TESELA_E_RANGE for a place outside the axis; TESELA_E_UNSUPPORTED when the digits of an
///         axis or of a join overlap (windows, a broadcast inside a join), so that a place has several elements, or
///         when that is undecided; the message says which.
/// O(n_digits), no allocation; interleaved strides need a search of at most 2^15 steps.
TESELA_API tesela_status tesela_layout_element_at(const tesela_layout *layout, const int64_t *place,
                                                  int64_t *index, bool *padding, tesela_error *err);

/// The elements at n places, in the order of the places.
///
/// Example: f32[3,5]{1,0:T(2,2)}, places 17 and 9: the rows (2,3) and (-1,-1), and *padding false, true.
///
/// @param places   n rows of `n_axes` numbers
/// @param indices  receives n rows of `rank` coordinates; a row of padding is all -1
/// @param padding  receives n flags; may be NULL
/// @return TESELA_OK; TESELA_E_RANGE for a place outside its axis: the rows before it are written, and the message names the
///         row; TESELA_E_UNSUPPORTED as tesela_layout_element_at.
/// O(n * n_digits), no allocation; any thread.
TESELA_API tesela_status tesela_layout_elements(const tesela_layout *layout, int64_t n, const int64_t *places,
                                                int64_t *indices, bool *padding, tesela_error *err);

/// A stretch of neighbouring places on the only axis.
typedef struct tesela_run {
  int64_t length; ///< places first, first+1, ..., first+length-1
  int64_t step;   ///< element numbers (row-major over the shape) between neighbours; 0 for padding
  bool padding;   ///< all of the places are padding
} tesela_run;

/// The longest run that starts at a place: element numbers increase by a fixed step, or all places are padding.
/// A run of one element has step 1.
///
/// Example: f32[20,200]{1,0:T(8,128)}: at place 0 length 128, step 1; at place 1096 (the end of row 0) padding.
///
/// @return TESELA_OK; TESELA_E_RANGE; TESELA_E_UNSUPPORTED for several axes, replicas, a swizzle or overlap,
///         and for a run of more than 2^20 pieces, possible only with joins that the canonical form keeps.
/// O(n_digits^2) per piece; without such joins about two pieces per digit.
TESELA_API tesela_status tesela_layout_run(const tesela_layout *layout, int64_t place, tesela_run *run,
                                           tesela_error *err);

/* ---- sizes ------------------------------------------------------------------------------------------------ */

/// Sizes of a layout. `logical_*` counts the elements alone; the other fields count every place of all axes.
typedef struct tesela_sizes {
  int64_t logical_elements; ///< product of the shape
  int64_t logical_bits;     ///< logical_elements * the ordinary width of the type, or `bits` if that is less
  int64_t logical_bytes;    ///< rounded up once
  int64_t elements;         ///< places, padding included (product of the axis extents)
  int64_t bits;             ///< elements * bits per element
  int64_t bytes;            ///< rounded up once
  int64_t reserved[4];      ///< 0: room to grow (base.h)
} tesela_sizes;

/// Example: f32[3,5]{1,0:T(2,2)}: 15 elements, 60 bytes of data; 24 places, 96 bytes.
/// @return TESELA_OK; TESELA_E_OVERFLOW if the bits exceed int64.
TESELA_API tesela_status tesela_layout_sizes(const tesela_layout *layout, tesela_sizes *sizes,
                                             tesela_error *err);

/// The padded extent of one dim: the product of its digits' extents. f32[3,5]{1,0:T(2,2)}: 4 for dim 0, 6 for
/// dim 1. For a dim that is joined whole, its own extent.
TESELA_API tesela_status tesela_layout_padded_extent(const tesela_layout *layout, int32_t dim,
                                                     int64_t *extent, tesela_error *err);

/* ---- form, equality, composition -------------------------------------------------------------------------- */

/// The simplest digits for the same relation, axes and sizes: neighbours of the same slope (stride / step) merged if their steps divide,
/// digits that are always 0 dropped, joins that are cut at the borders of their parts resolved, replicas and holes merged.
/// canonical(canonical(x)) = canonical(x). Two layouts whose splits divide and that need no joins have equal relations
/// exactly if their canonical digits are equal.
///
/// Example: f32[24,128]{1,0:T(8,128)} and f32[24,128]{1,0} both become one digit per dim, strides 128 and 1.
TESELA_API tesela_status tesela_layout_canonical(const tesela_layout *layout, tesela_layout *out,
                                                 tesela_error *err);

/// How two layouts differ.
typedef struct tesela_difference {
  bool same;                      ///< every element has the same places in both
  bool have_index;                ///< the first element (row-major order) whose places differ is in `index`
  bool same_extent;               ///< the axes have the same numbers of places of the same width
  int64_t index[TESELA_MAX_RANK]; ///< valid if have_index
  char reason[96];                ///< why not same, one line: "shapes differ: [3,5] and [3,6]", "" if same
} tesela_difference;

/// Compare two layouts as relations, without enumerating elements: from the one-dimensional profiles of their digits.
/// Layouts of 10^12 elements are compared in microseconds.
///
/// Layouts with different swizzles are compared as matrices of bits if no sum of digits carries, whatever their size.
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED if the comparison exceeds a fixed effort (joins of different dims with long
///         periods; different swizzles of sums that carry, above 2^20 elements). The result is never a guess.
TESELA_API tesela_status tesela_layout_compare(const tesela_layout *a, const tesela_layout *b,
                                               tesela_difference *difference, tesela_error *err);

/// Compose two layouts: element e of inner's shape is at outer(inner(e)), where place p of inner is the row-major
/// element number p of outer.
///
/// Example: inner f32[3,5]{1,0:T(2,2)} (24 places) and outer a permutation p -> 23 - p of 24 elements:
/// element (2,3) is at 23 - 17 = 6.
///
/// A swizzle of inner becomes one of the result if the bits that it reads or changes are single bits of outer's places: outer has
/// powers of two there, and no sum carries into them.
///
/// @return TESELA_OK; TESELA_E_MISMATCH if inner has more or less than one axis, replicas, another swizzle or more places
///         than outer has elements, or if the element widths differ; TESELA_E_LIMIT.
TESELA_API tesela_status tesela_layout_compose(const tesela_layout *outer, const tesela_layout *inner,
                                               tesela_layout *out, tesela_error *err);

/*
 * ==== Views: another array over the same places
 *
 * The element at an index of the view is at the places of another index of `layout`; axes, their extents, replicas and
 * swizzles stay. Places of elements that a view leaves out are padding of it. Results are canonical, except those of
 * permute, which keep their digits. `out` may be `layout`. On failure *out keeps its value.
 *
 * All of them: TESELA_E_INVALID if `layout` is not finished; no allocation; any thread; some microseconds.
 */

/// Dim k of the view is dim order[k].
///
/// Example: f32[3,5]{1,0:T(2,2)}, order {1,0}: element (3,2) of the view is at place 17, as (2,3) was.
///
/// @param order  layout->rank dims
/// @return TESELA_OK; TESELA_E_RANGE for an unknown dim; TESELA_E_INVALID for a dim that is listed twice.
TESELA_API tesela_status tesela_layout_permute(const tesela_layout *layout, const int32_t *order,
                                               tesela_layout *out, tesela_error *err);

/// The same elements, in row-major order, in another shape.
///
/// Example: f32[4,6]{1,0:T(2,2)} as [24]: element 13, which is (2,1), at place 13; as [4,3,2], each dim lies regularly.
///
/// @param shape  `rank` extents >= 0
/// @return TESELA_OK; TESELA_E_MISMATCH for another number of elements; TESELA_E_RANGE for a negative extent;
///         TESELA_E_LIMIT for rank > TESELA_MAX_RANK, or if the view needs too many joins or digits; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_layout_reshape(const tesela_layout *layout, int32_t rank,
                                               const int64_t *shape, tesela_layout *out, tesela_error *err);

/// Elements start, start + step, ... of one dim, `length` of them. The step may be negative.
///
/// Example: f32[3,5]{1,0:T(2,2)}, dim 1, start 4, length 3, step -2: (2,0) of the view is (2,4), at place 20.
///
/// @return TESELA_OK; TESELA_E_RANGE for an unknown dim, a step of 0, a negative length, or elements outside the dim;
///         TESELA_E_LIMIT if the view needs too many joins or digits.
TESELA_API tesela_status tesela_layout_slice(const tesela_layout *layout, int32_t dim, int64_t start,
                                             int64_t length, int64_t step, tesela_layout *out,
                                             tesela_error *err);

/// Remove a dim of extent 1. Example: [3,1,5], dim 1: [3,5].
/// @return TESELA_OK; TESELA_E_RANGE for an unknown dim; TESELA_E_INVALID (TESELA_REASON_DIM_NOT_ONE) for another extent.
TESELA_API tesela_status tesela_layout_squeeze(const tesela_layout *layout, int32_t dim, tesela_layout *out,
                                               tesela_error *err);

/// Add a dim of extent 1 that becomes dim `dim`, 0 .. rank. Example: [3,5], dim 2: [3,5,1].
/// @return TESELA_OK; TESELA_E_RANGE for dim outside 0 .. rank; TESELA_E_LIMIT for a rank above TESELA_MAX_RANK.
TESELA_API tesela_status tesela_layout_unsqueeze(const tesela_layout *layout, int32_t dim, tesela_layout *out,
                                                 tesela_error *err);

/// Repeat a dim of extent 1: all `extent` elements along it are at the same places, as with a stride of 0.
///
/// Example: [3,1] with places 0, 1, 2, expanded to [3,4]: (2,0) to (2,3) are at place 2.
///
/// @param extent  0 or more
/// @return TESELA_OK; TESELA_E_RANGE for an unknown dim or a negative extent; TESELA_E_INVALID (TESELA_REASON_DIM_NOT_ONE)
///         for a dim of another extent; TESELA_E_OVERFLOW if the number of elements exceeds int64.
TESELA_API tesela_status tesela_layout_expand(const tesela_layout *layout, int32_t dim, int64_t extent,
                                              tesela_layout *out, tesela_error *err);

/// The strides and the offset of a layout, if there are some: place = offset + sum of index * stride on its only axis. The inverse
/// of tesela_layout_strided.
///
/// Example: f32[24,128]{1,0:T(8,128)}: strides 128 and 1, offset 0, since one tile is as wide as the array.
/// Example: f32[3,5]{1,0:T(2,2)} has none: "element (0,2) is at place 4; the elements before it give 2".
///
/// @param strides  receives `rank` strides; 0 for extents 0 and 1. Unchanged on failure
/// @return TESELA_OK; TESELA_E_UNSUPPORTED if no strides give its places, for several axes, replicas, and as
///         tesela_layout_compare; TESELA_E_INVALID for a layout that is not finished. No allocation; any thread.
TESELA_API tesela_status tesela_layout_to_strided(const tesela_layout *layout, int64_t *strides,
                                                  int64_t *offset, tesela_error *err);

/*
 * ==== Verdicts: how well another notation expresses a layout
 *
 * The functions tesela_*_from_layout and tesela_translate (notation.h) fill one in.
 */

/// Values are part of the ABI.
typedef enum tesela_verdict {
  TESELA_EXACT = 1, ///< the same array, the same places for the same elements
  TESELA_VALID_PART =
      2, ///< exact on the elements; the text is of a larger array, whose further elements are padding of the layout
  TESELA_NEEDS_PADDING =
      3, ///< exact on the elements; the text is of a larger array, which needs more places than the layout has
  TESELA_IMPOSSIBLE = 4 ///< no text has the places of the elements
} tesela_verdict;

/// "exact", "valid_part", "needs_padding", "impossible"; NULL for an unknown number. Static memory.
TESELA_API const char *tesela_verdict_name(tesela_verdict verdict);

/// What contradicts that a layout can be expressed. The smallest one: texts agree with all elements before `index`, row-major, and none with
/// `index`, too. Of the texts that the function documents: those of XLA without `*`, those of CuTe with a swizzle only if the layout has one;
/// for linalg.pack, TVM and IREE of all blocked layouts, oneDNN's tags.
typedef enum tesela_contradiction {
  TESELA_CONTRADICTION_NONE = 0, ///< `reason` alone says it
  TESELA_CONTRADICTION_PLACE =
      1, ///< element `index` is at `place`; all texts that agree before it put it at `expected`
  TESELA_CONTRADICTION_SHARED = 2, ///< elements `index` and `index2` are both at `place`
  TESELA_CONTRADICTION_BIT = 3,    ///< one bit of the place moves several dims: dim d by `index[d]`
  TESELA_CONTRADICTION_ELEMENT =
      4 ///< element `index` is at `place`, where no text puts it that agrees before it; they may have it at several others
} tesela_contradiction;

/// A verdict and its reason.
typedef struct tesela_translation {
  tesela_verdict verdict;
  int32_t rank;                   ///< of the layout
  int64_t shape[TESELA_MAX_RANK]; ///< the array of the text: as the layout's, or larger
  int64_t places; ///< of all axes of the layout: the buffer, which not every notation mentions
  int64_t
      text_places;  ///< those of the text; after tesela_translate, and of the value of tesela_*_from_layout
  char reason[160]; ///< one sentence; "" if exact
  char as[64];      ///< what tesela_layout_read_options.as must be to read the text: "tv:16x8"; "" if nothing
  tesela_contradiction contradiction; ///< if impossible, or if the layout needs padding
  int32_t axis;                       ///< the axis of `place` and `expected`
  int64_t index[TESELA_MAX_RANK], index2[TESELA_MAX_RANK];
  int64_t place, expected;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_translation;

/*
 * ==== A layout as steps: transpose, pad, reshape
 *
 * The second formulation of tiling (XLA's tiled-layout document, "Tiling as pad, reshape, transpose"): start from
 * the dense row-major logical array and apply the steps in order; the row-major order of the last array is memory.
 *
 *   f32[3,5]{1,0:T(2,2)}     pad 1,1         -> [4,6]
 *                            reshape         -> [2,2,3,2]
 *                            transpose 0,2,1,3 -> [2,3,2,2]
 */

#define TESELA_PROGRAM_STEPS 72     ///< steps of a list
#define TESELA_PROGRAM_NUMBERS 4096 ///< numbers of all steps and of the shapes after them

#define TESELA_LEVEL_ORDER (-1) ///< tesela_step.level: the order of the dims

typedef enum tesela_step_kind {
  TESELA_STEP_TRANSPOSE, ///< out[k] = in[number[k]]
  TESELA_STEP_PAD,       ///< number[k] cells are added at the end of dim k
  TESELA_STEP_RESHAPE,   ///< number[k] is the new extent of dim k; the row-major order stays
} tesela_step_kind;

/// One step. Its `rank` numbers start at tesela_program.number[first], the shape after it at number[shape].
typedef struct tesela_step {
  tesela_step_kind kind;
  int32_t
      level; ///< tile level it belongs to, from 0; or TESELA_LEVEL_ORDER; tesela_program.n_levels: tail padding
  int32_t rank;  ///< numbers, and dims of the array after the step
  int32_t first; ///< index of its first number
  int32_t shape; ///< index of the shape after the step
} tesela_step;

/// A list of steps. A plain value.
typedef struct tesela_program {
  int32_t rank; ///< dims of the logical array
  int32_t n_steps, n_numbers;
  int32_t n_levels; ///< tile levels of the layout; INT32_MAX if unknown, as after tesela_program_begin
  int64_t dim[TESELA_MAX_RANK];
  tesela_step step[TESELA_PROGRAM_STEPS];
  int64_t number[TESELA_PROGRAM_NUMBERS];
} tesela_program;

/// Start a list of steps on a dense row-major array of these dims (NULL if rank is 0).
/// @return TESELA_OK; TESELA_E_LIMIT for rank > TESELA_MAX_RANK; TESELA_E_RANGE for a negative dim;
///         TESELA_E_OVERFLOW if the number of elements exceeds int64.
TESELA_API tesela_status tesela_program_begin(tesela_program *program, int32_t rank, const int64_t *dim,
                                              tesela_error *err);

/// Add a step of n numbers, at most TESELA_MAX_DIGITS. A step that changes nothing (pads 0, permutes nothing,
/// reshapes to the same shape) is not stored.
///
/// Example: on [3,5], PAD {1,1} makes [4,6], then RESHAPE {2,2,3,2}; RESHAPE {5,5} is TESELA_E_INVALID.
///
/// @return TESELA_OK; TESELA_E_INVALID if the step does not fit the current shape; TESELA_E_RANGE of an unknown kind;
///         TESELA_E_OVERFLOW; TESELA_E_LIMIT.
///         On failure the list keeps its steps.
TESELA_API tesela_status tesela_program_add(tesela_program *program, tesela_step_kind kind, int32_t level,
                                            int32_t n, const int64_t *numbers, tesela_error *err);

/// The shape after `n_steps` steps; *rank receives its number of dims. Points into `program`. NULL if the list has
/// fewer steps.
TESELA_API const int64_t *tesela_program_shape(const tesela_program *program, int32_t n_steps, int32_t *rank);

/// Elements of the last array.
TESELA_API int64_t tesela_program_elements(const tesela_program *program);

/// The row-major number of the logical element that the steps put at `place`, -1 for padding.
/// @return TESELA_OK; TESELA_E_RANGE for a place outside 0 .. elements-1. O(steps * rank).
TESELA_API tesela_status tesela_program_source(const tesela_program *program, int64_t place, int64_t *element,
                                               tesela_error *err);

/// Run the steps: dst receives tesela_program_elements() cells of `width` bytes from src (dense row-major); padding
/// receives the `width` bytes at fill. dst and src must not overlap. O(elements * steps * rank): a reference
/// implementation, not a fast copy.
/// @return TESELA_OK; TESELA_E_RANGE for a width of 0; TESELA_E_LIMIT for more bytes than a pointer can count.
TESELA_API tesela_status tesela_program_run(const tesela_program *program, void *dst, const void *src,
                                            size_t width, const void *fill, tesela_error *err);

/// Print one step per line: "level 0: pad [1,1] -> [4,6]"; steps outside the tile levels start with "order:" or "tail:".
/// An empty list prints nothing.
TESELA_API tesela_status tesela_program_print(const tesela_program *program, const tesela_writer *to,
                                              tesela_error *err);

/*
 * ==== Iteration: all elements in logical order, all places in physical order; and indices as plain numbers
 *
 * Walk and scan advance by additions: one addition inside a run, a carry between runs, no division.
 *
 *   tesela_walk walk;
 *   if (tesela_walk_begin(&walk, &layout, err) == TESELA_OK)
 *     for (; walk.more; tesela_walk_next(&walk)) use(walk.index, walk.place);
 */

/// Iterator over all elements in row-major order of the shape, with their place on axis 0 (the first copy).
typedef struct tesela_walk {
  bool more;                      ///< index and place are valid
  int64_t place;                  ///< place of the element
  int64_t index[TESELA_MAX_RANK]; ///< the element
  /* The rest is internal. */
  /* The rest is internal. */
  int64_t *moving;                  ///< the coordinate that moves in a run
  int64_t stride;                   ///< places between neighbours of the run
  int64_t left;                     ///< elements of the run after this one
  int64_t run;                      ///< elements of the run
  const tesela_layout *layout;      ///< the caller's, must outlive the walk
  int32_t inner;                    ///< last dim with an extent above 1, or -1
  bool general;                     ///< joins or uneven steps: a run starts with a full mapping
  int64_t share[TESELA_MAX_RANK];   ///< what each dim adds to place
  int64_t count[TESELA_MAX_DIGITS]; ///< value of each digit at the start of the run
  uint8_t first[TESELA_MAX_RANK], n[TESELA_MAX_RANK]; ///< the digits of each dim
} tesela_walk;

/// Start at element 0. TESELA_E_UNSUPPORTED if the layout has a swizzle, or more or less than one axis. Do not copy
/// `walk`: it points into itself.
TESELA_API tesela_status tesela_walk_begin(tesela_walk *walk, const tesela_layout *layout, tesela_error *err);

/// Carry at the end of a run. Called by tesela_walk_next.
TESELA_API void tesela_walk_carry(tesela_walk *walk);

/// Go to the next element; `more` is false after the last. O(1) amortised.
static inline void tesela_walk_next(tesela_walk *walk) {
  if (walk->left > 0) {
    walk->left--;
    walk->place += walk->stride;
    ++*walk->moving;
  } else {
    tesela_walk_carry(walk);
  }
}

/// Iterator over all places of axis 0 in increasing order, with the element there or padding.
typedef struct tesela_scan {
  bool more;                      ///< place (and index, unless padding) are valid
  bool padding;                   ///< no element here; index is unspecified
  int64_t place;                  ///< 0, 1, 2, ...
  int64_t index[TESELA_MAX_RANK]; ///< the element
  /* The rest is internal. */
  int64_t *moving;             ///< the coordinate that moves in a run
  int64_t step;                ///< its increment
  int64_t left;                ///< places of the run after this one
  int64_t pending;             ///< padding after the run, of the same digit
  int64_t start;               ///< the moving coordinate at the start of the run
  int64_t room;                ///< the extent of the moving coordinate
  int64_t length;              ///< places of a whole run
  int64_t none;                ///< moves if no coordinate does: the value of a hole
  const tesela_layout *layout; ///< the caller's, must outlive the scan
  int32_t n_bad;               ///< coordinates at or beyond their extent, and holes not at 0
  int32_t n_levels;
  bool general; ///< joins, uneven steps or gaps: a run starts with a full inverse
  struct {
    int64_t *at;                   ///< the coordinate it moves, or the value of a hole
    int64_t count, extent, step;   ///< current value, number of values, increment of *at
    int64_t room;                  ///< *at is padding from this value on
  } level[TESELA_MAX_DIGITS];      ///< digits after the moving one, fastest first
  int64_t hole[TESELA_MAX_DIGITS]; ///< values of the holes
} tesela_scan;

/// Start at place 0. TESELA_E_UNSUPPORTED if the layout has a swizzle, replicas, overlap, or more or less than one axis.
/// Do not copy `scan`: it points into itself.
TESELA_API tesela_status tesela_scan_begin(tesela_scan *scan, const tesela_layout *layout, tesela_error *err);

/// Carry at the end of a run. Called by tesela_scan_next.
TESELA_API void tesela_scan_carry(tesela_scan *scan);

/// Go to the next place; `more` is false after the last. O(1) amortised.
static inline void tesela_scan_next(tesela_scan *scan) {
  if (scan->left > 0) {
    scan->left--;
    scan->place++;
    *scan->moving += scan->step;
  } else {
    tesela_scan_carry(scan);
  }
}

/* ---- indices without a layout ----------------------------------------------------------------------------- */

/// Read an index: "2,3", "[2,3]" or "(2,3)", blanks allowed; "[]", "()" or "" for rank 0.
///
/// Example: shape (3,5), "[2, 3]": index (2,3). "2,5" is refused: "index[1] is 5; expected 0 to 4" at byte 2.
///
/// @param text   `length` bytes
/// @param shape  `rank` extents
/// @param index  receives `rank` coordinates; unspecified on failure
/// @return TESELA_OK; TESELA_E_SYNTAX for a text of another form; TESELA_E_RANGE for a coordinate outside the shape;
///         TESELA_E_INVALID for more or fewer coordinates than the rank. err->at is the byte. O(length); any thread.
TESELA_API tesela_status tesela_index_parse(const char *text, size_t length, int32_t rank,
                                            const int64_t *shape, int64_t *index, tesela_error *err);

/// Read `n` numbers with a separator between them. Number k is 0 to counts[k] - 1; errors call it names[k].
///
/// Example: names "thread" and "local id", counts 32 and 4, separator ':', text "5: 3": numbers 5 and 3; "32:0" is
/// refused: "thread is 32; expected 0 to 31" at byte 0.
///
/// @param numbers  receives `n` numbers; unspecified on failure
/// @return TESELA_OK; TESELA_E_SYNTAX for a text of another form; TESELA_E_RANGE. err->at is the byte. O(length); any
///         thread.
TESELA_API tesela_status tesela_numbers_parse(const char *text, size_t length, int32_t n,
                                              const char *const *names, const int64_t *counts, char separator,
                                              int64_t *numbers, tesela_error *err);

/// The number of an element in a given order of the dims.
///
/// Example: shape (3,5), index (2,3): 13. With minor_to_major {0,1} the first dim is fastest: 11.
///
/// @param shape           `rank` extents; 0 <= index[d] < shape[d]
/// @param minor_to_major  the dims, fastest first, as XLA lists them; NULL: {rank-1, ..., 0}
/// @return TESELA_OK; TESELA_E_RANGE for a coordinate outside the shape; TESELA_E_INVALID if the order is not a
///         permutation; TESELA_E_LIMIT for rank > TESELA_MAX_RANK; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_index_to_number(int32_t rank, const int64_t *shape,
                                                const int32_t *minor_to_major, const int64_t *index,
                                                int64_t *number, tesela_error *err);

/// The index of an element number, 0 <= number < product of the shape. Statuses as above.
TESELA_API tesela_status tesela_index_from_number(int32_t rank, const int64_t *shape,
                                                  const int32_t *minor_to_major, int64_t number,
                                                  int64_t *index, tesela_error *err);

/// Go to the next index in row-major order. After the last one the index becomes all 0 and the result is false.
///
/// Example: in shape (3,5), (1,4) becomes (2,0); (2,4) becomes (0,0) and the result is false.
TESELA_API bool tesela_index_next(int32_t rank, const int64_t *shape, int64_t *index);

/// Is 0 <= index[d] < shape[d] for every d?
TESELA_API bool tesela_index_in_bounds(int32_t rank, const int64_t *shape, const int64_t *index);

/// -1, 0 or 1: `a` is before, equal to or after `b` in row-major order.
TESELA_API int tesela_index_compare(int32_t rank, const int64_t *a, const int64_t *b);

#ifdef __cplusplus
}
#endif

#endif
