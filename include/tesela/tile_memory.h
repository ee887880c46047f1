/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_memory.h - layouts of a tile in shared or global memory: modes with strides, and one XOR stage.
 *
 *   shape         extents of the tile, each >= 1; rank 0 is one element
 *   mode_shape    each dim taken apart into modes, outermost first, dim after dim
 *   mode_strides  elements per step of each mode, >= 0
 *   offset        of the element whose modes are all 0
 *   swizzle       (base, bits, shift): y = (x >> (base + shift)) & (2^bits - 1), the place is x ^ (y << base)
 *
 * The place of an element, in elements, is swizzle(offset + sum of mode * stride). The same five numbers say what Tilus
 * calls a SharedLayout (`shape, mode_shape, mode_strides, optional_swizzle`) and, without a swizzle, a GlobalLayout.
 * The swizzle is CuTe's Swizzle<bits, base, shift> with the arguments in another order; for byte addresses base grows by
 * log2 of the bytes of an element.
 *
 *   shared_row_major_swizzle(64, 64, nbytes=2): shape [64,64], row pitch 128 bytes, Swizzle(base=3, bits=3, shift=3):
 *   element (3,17): 3*64 + 17 = 209 = 0b11_010_001; bits 6..8 are 3, so 209 ^ (3 << 3) = 201.
 *
 * "Shared" and "global" differ in what Tilus' operations do with them and how they print, not in what a place is.
 * A tesela_tile_memory is a plain value; no function here allocates; `out` may be an input; any number of threads may read
 * one. Every function that makes one may return TESELA_E_LIMIT (dims, modes) and TESELA_E_OVERFLOW (places).
 *
 * Every operation is defined by places: an element of the result is where the element it comes from was. An operation
 * that a swizzle stands against is refused, never done without it.
 *
 * Least size. 1 + the largest place, exactly, wherever at most 2^16 elements share with the largest plain place (the
 * one before the swizzle) all bits above those that the swizzle changes; so for every swizzle that changes bits below
 * 16 of a layout whose modes do not overlap. Beyond that it is the largest plain place with all bits up to these set, + 1.
 */
#ifndef TESELA_TILE_MEMORY_H
#define TESELA_TILE_MEMORY_H

#include <tesela/register.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tesela_tile_space { TESELA_TILE_SHARED, TESELA_TILE_GLOBAL } tesela_tile_space;

/// An XOR stage; bits 0 is none. Numbers are in elements. 0 <= bits, base; |shift| >= bits; base + |shift| + bits <= 62.
/// A negative shift lets the low bits act on the high ones: x ^ ((x >> base & (2^bits - 1)) << (base + |shift|)).
typedef struct tesela_tile_swizzle {
  int32_t base, bits, shift;
} tesela_tile_swizzle;

/// A tile in memory. Fields are for reading; the functions below keep them consistent.
typedef struct tesela_tile_memory {
  tesela_tile_space space;
  int32_t rank, n_modes;
  int64_t offset; ///< >= 0
  int64_t size;   ///< places 0 .. size-1 are reserved: at least 1 + the largest place, the swizzle included
  tesela_tile_swizzle swizzle;
  int64_t shape[TESELA_MAX_RANK];
  int64_t mode_shape[TESELA_REGISTER_MODES];
  int64_t mode_strides[TESELA_REGISTER_MODES];
} tesela_tile_memory;

/* ---- making -------------------------------------------------------------------------------------------------- */

/// From its parts; modes of 1 are dropped, and neighbours of one dim joined where stride = stride' * extent'. (Tilus
/// joins some that overlap: [2,2,2] with strides [2,1,1] is [4,2] with strides [1,1] here, two modes.) swizzle NULL: none.
/// size is the least one, with the swizzle (Tilus' count_size leaves the swizzle out).
///
/// Example: shape [9], one mode of stride 1, Swizzle(base 0, bits 1, shift 3): element 8 is at 9, so size is 10.
///
/// @return TESELA_OK; TESELA_E_RANGE, reason SHAPE_NOT_POSITIVE or MODE_NOT_POSITIVE, also for a negative stride or
///         offset and swizzle numbers out of range; TESELA_E_INVALID, reason MODE_DOES_NOT_FIT_SHAPE.
TESELA_API tesela_status tesela_tile_memory_make(tesela_tile_memory *out, tesela_tile_space space,
                                                 int32_t rank, const int64_t *shape, int32_t n_modes,
                                                 const int64_t *mode_shape, const int64_t *mode_strides,
                                                 int64_t offset, const tesela_tile_swizzle *swizzle,
                                                 tesela_error *err);

/// Compact, last dim fastest; compact, first dim fastest.
TESELA_API tesela_status tesela_tile_memory_row_major(tesela_tile_memory *out, tesela_tile_space space,
                                                      int32_t rank, const int64_t *shape, tesela_error *err);
TESELA_API tesela_status tesela_tile_memory_column_major(tesela_tile_memory *out, tesela_tile_space space,
                                                         int32_t rank, const int64_t *shape,
                                                         tesela_error *err);

/// One stride a dim. Example: shape [3,5], strides [8,1]: element (2,3) at 19; size 21.
TESELA_API tesela_status tesela_tile_memory_strided(tesela_tile_memory *out, tesela_tile_space space,
                                                    int32_t rank, const int64_t *shape,
                                                    const int64_t *strides, int64_t offset,
                                                    tesela_error *err);

/// Tilus' shared_row_major_swizzle: rank >= 2; the last two dims are rows and columns. v = gcd(cols, 128 / bytes); the
/// columns are modes cols/v and v; order, slowest first: leading dims, cols/v, rows, v; swizzle base log2(16 / bytes),
/// shift 3, bits 3, 2, 1, 0 for v * bytes = 128, 64, 32, 16. Where a row exceeds 128 bytes it is not plain row-major.
///
/// @param bytes  of an element: 1, 2, 4, 8 or 16
/// @return TESELA_OK; TESELA_E_RANGE for other bytes; TESELA_E_INVALID unless rank >= 2, rows % 8 = 0 and
///         cols * bytes % 16 = 0.
TESELA_API tesela_status tesela_tile_memory_swizzled(tesela_tile_memory *out, int32_t rank,
                                                     const int64_t *shape, int32_t bytes, tesela_error *err);

/// As tesela_tile_memory_recognize_wgmma found it; see there.
typedef struct tesela_wgmma_form {
  int32_t swizzle_bytes; ///< 0, 32, 64 or 128
  bool k_major;          ///< neighbours along k are neighbours in memory
  int64_t leading_bytes; ///< LBO, the "leading dimension byte offset"; 0 where nothing is that far apart
  int64_t stride_bytes;  ///< SBO, the "stride dimension byte offset"; 0 likewise
} tesela_wgmma_form;

/// The operand of wgmma or tcgen05.mma in shared memory, compact: the canonical layouts of the PTX ISA ("Asynchronous
/// Warpgroup Level Canonical Layouts"), shape [mn,k]. With T = 128 / bits elements in 16 bytes and S = 1, 2, 4, 8 for
/// swizzle_bytes 0, 32, 64, 128, an atom is 8 x S*T elements, S*T of them in a row along k (k_major) or along mn; atoms
/// follow each other along mn first. Swizzle(base log2 T, bits log2 S, shift 3). The first atom must lie at a multiple of
/// its own size.
///
/// Example: 64 x 64 of 16 bits, 128, k_major is shared_row_major_swizzle(64, 64, nbytes=2): (3,17) at 201.
///
/// @param bits  of an element, a power of two from 1 to 64
/// @return TESELA_OK; TESELA_E_RANGE for bits, swizzle_bytes or extents; TESELA_E_INVALID unless atoms fill the tile:
///         k_major: mn % 8 = 0 and k % (S*T) = 0, else k % 8 = 0 and mn % (S*T) = 0. What an instruction takes of it (its
///         k, its types; wgmma has the mn-major form for 16 bits only) is not asked here.
TESELA_API tesela_status tesela_tile_memory_wgmma(tesela_tile_memory *out, int64_t mn, int64_t k,
                                                  int32_t bits, int32_t swizzle_bytes, bool k_major,
                                                  tesela_error *err);

/// Is a layout of shape [mn,k] one of these forms, atoms at any even distance? Element by element, however it is spelt;
/// distances and the offset must be multiples of an atom. At most one form fits.
///
///   k_major              LBO from one S*T columns to the next (the hardware reads it without a swizzle only), SBO from 8
///                        rows of mn to the next
///   mn-major, swizzled   LBO from one S*T of mn to the next, SBO from 8 of k to the next
///   mn-major, plain      SBO from one T of mn to the next, LBO from 8 of k to the next
///
/// Example: the layout above: 128, k_major, leading 0 (64 columns are one atom), stride 1024.
///
/// @param is  false if it is none, also for another rank; *form is written only if true
/// @return TESELA_OK; TESELA_E_RANGE for bits; what tesela_tile_memory_same returns.
TESELA_API tesela_status tesela_tile_memory_recognize_wgmma(const tesela_tile_memory *layout, int32_t bits,
                                                            tesela_wgmma_form *form, bool *is,
                                                            tesela_error *err);

/* ---- operations; a swizzle is kept where it can be said, else TESELA_E_UNSUPPORTED, reason SWIZZLE ------------------ */

/// Reserve `size` places; 0: the least size (top of this file). More is room between this tile and a next one: what
/// compose and prepend put apart.
///
/// Example: 9 rows of 64 with Swizzle(3,3,3) need 576 places, and prepend refuses that; with 1024 it does not.
///
/// @return TESELA_OK; TESELA_E_RANGE for less than the least size.
TESELA_API tesela_status tesela_tile_memory_set_size(tesela_tile_memory *out,
                                                     const tesela_tile_memory *layout, int64_t size,
                                                     tesela_error *err);

/// Put a swizzle on a layout that has none; size grows where the swizzle needs it. TESELA_E_INVALID, reason SWIZZLE if it
/// has one; TESELA_E_RANGE for numbers out of range.
TESELA_API tesela_status tesela_tile_memory_with_swizzle(tesela_tile_memory *out,
                                                         const tesela_tile_memory *layout,
                                                         tesela_tile_swizzle swizzle, tesela_error *err);

/// Each element of outer becomes a whole inner: place = outer(x / inner.shape) * inner.size + inner(x % inner.shape). The
/// shorter rank gets leading 1s; size is the product of the sizes, space that of outer. Associative where it is not refused.
///
/// A swizzle of inner stays if all outer strides and the outer offset, times inner.size, are multiples of 2^h, h = base +
/// |shift| + bits; one of outer if inner.size is a power of two (its base grows). Bits that the swizzle would read but no
/// element has are left out of it first where that helps, and a side whose elements are all at one place counts as that
/// place. Two swizzles that both act are refused. (Tilus drops them silently, and its global_compose puts elements on each
/// other.)
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED, reason SWIZZLE; TESELA_E_OVERFLOW. tesela_tile_memory_set_size on inner may
///         give a swizzle the room that it wants.
///
/// Example: row_major(2,2) * row_major(2,2): element (1,2) is in block (0,1) at (1,0): 1*4 + 2 = 6.
TESELA_API tesela_status tesela_tile_memory_compose(tesela_tile_memory *out, const tesela_tile_memory *outer,
                                                    const tesela_tile_memory *inner, tesela_error *err);

/// As tesela_register_permute, _unsqueeze, _squeeze and _reshape, with their reasons. The set of places, the swizzle and
/// the size stay. reshape is complete: refused only if no modes say it before this swizzle.
TESELA_API tesela_status tesela_tile_memory_permute(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                                    int32_t n, const int64_t *dims, tesela_error *err);
TESELA_API tesela_status tesela_tile_memory_unsqueeze(tesela_tile_memory *out,
                                                      const tesela_tile_memory *layout, int32_t n,
                                                      const int64_t *dims, tesela_error *err);
TESELA_API tesela_status tesela_tile_memory_squeeze(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                                    int32_t n, const int64_t *dims, tesela_error *err);
TESELA_API tesela_status tesela_tile_memory_reshape(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                                    int32_t rank, const int64_t *shape, tesela_error *err);

/// The part of a tile that starts at `start` and has extents `shape` (one number a dim each). The offset is added before
/// the swizzle, so the swizzle always stays; size is that of the whole, of which the part is a view.
///
/// Example: row_major(4,8), start [2,4], shape [2,4]: offset 20, strides 8, 1.
///
/// @return TESELA_OK; TESELA_E_RANGE if it leaves the tile, reason SHAPE_NOT_POSITIVE for an extent below 1;
///         TESELA_E_UNSUPPORTED, reason NOT_LINEAR if it cuts a mode so that no modes (their strides >= 0) say the rest:
///         elements 1 .. 4 of modes [2,3], strides [8,1], are at 1 2 8 9, modes [2,2], but 1 .. 3 are at 1 2 8.
TESELA_API tesela_status tesela_tile_memory_slice(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                                  const int64_t *start, const int64_t *shape,
                                                  tesela_error *err);

/// Keep these dims, in this order, with index 0 in the others (Tilus' shared_slice). Offset and swizzle stay, and the
/// size, as in a slice. Example: row_major(4,8), dims [1]: shape [8], size 32.
/// Reasons DIM_OUT_OF_RANGE (TESELA_E_RANGE), DIM_DUPLICATE (TESELA_E_INVALID).
TESELA_API tesela_status tesela_tile_memory_retain(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                                   int32_t n, const int64_t *dims, tesela_error *err);

/// A new slowest dim of n, `size` places apart (Tilus' prepend_dim), for several stages of a buffer: row_major(n, 1, ..)
/// composed with the layout. TESELA_E_RANGE, reason SHAPE_NOT_POSITIVE for n < 1; reason SWIZZLE as compose has it.
///
/// Example: 2 stages of a swizzled 64 x 64: element (1,3,17) at 4096 + 201.
TESELA_API tesela_status tesela_tile_memory_prepend(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                                    int64_t n, tesela_error *err);

/* ---- asking ------------------------------------------------------------------------------------------------------- */

/// The place of an element, in elements. TESELA_E_RANGE for an index outside the shape. O(modes).
TESELA_API tesela_status tesela_tile_memory_place(const tesela_tile_memory *layout, const int64_t *index,
                                                  int64_t *place, tesela_error *err);

/// Same shape and same place of every element? Sizes and spaces may differ. Decided by the core (tesela_layout_compare),
/// whose statuses it returns; swizzles that do not act are left out first.
TESELA_API tesela_status tesela_tile_memory_same(const tesela_tile_memory *a, const tesela_tile_memory *b,
                                                 bool *same, tesela_error *err);

/// As a layout of the core: one axis "memory" of `size` places, the swizzle as its XOR stage. (A few places more where the
/// core's bound for swizzled places is higher.) TESELA_E_RANGE for bits outside 1 to 1024.
TESELA_API tesela_status tesela_tile_memory_to_layout(const tesela_tile_memory *layout, tesela_dtype dtype,
                                                      int32_t bits, tesela_layout *out, tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
