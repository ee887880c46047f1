/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register.h - register layouts: which thread of a GPU block holds an element, and in which of its registers.
 *
 * The notation is that of Tilus ("Register Layout"; paper arXiv 2504.12984):
 *
 *   shape          extents of the tile, each >= 1; rank 0 is one element
 *   mode_shape     each dim taken apart into modes, outermost first, dim after dim; their products are the shape
 *   spatial_modes  the digits of the thread id, slowest first: a mode, or -n for a replica (n threads hold the same)
 *   local_modes    the digits of the local id - the place among a thread's registers - slowest first
 *
 *   local(3, 4).spatial(2, 3) has shape [6,12], mode_shape [3,2,4,3], spatial_modes [1,3], local_modes [0,2].
 *   Element (5,7): modes 2,1 and 2,1, so thread 1*3 + 1 = 4 and local id 2*4 + 2 = 10.
 *
 * Every mode is placed exactly once; one of extent 1 may be left out. (Tilus accepts some layouts with modes in
 * neither list, whose elements share a register; half of its operations fail on them. Here that is
 * TESELA_REASON_MODE_NOT_PLACED.)
 *
 * What makes a layout returns it in *reduced form*: modes of extent 1 dropped, neighbouring modes of one dim joined where
 * they are neighbours in one list. Replicas stay as they were spelt. tesela_register_canonical goes further.
 *
 * A tesela_register is a plain value of about 1.5 KiB: copy it with `=`. No function here allocates; any number of
 * threads may read one layout. `out` may be the same object as an input everywhere. Refusals carry a reason
 * (tesela_error.reason); every function that makes a layout may also return TESELA_E_LIMIT for more than
 * TESELA_MAX_RANK dims or TESELA_REGISTER_MODES modes and TESELA_E_OVERFLOW if threads times registers exceed int64.
 */
#ifndef TESELA_REGISTER_H
#define TESELA_REGISTER_H

#include <tesela/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_REGISTER_MODES 64 ///< modes of a layout, and entries of spatial_modes

/// A register layout. Fields are for reading; the functions below keep them consistent.
typedef struct tesela_register {
  int32_t rank;
  int32_t n_modes, n_spatial, n_local; ///< entries of mode_shape, spatial_modes, local_modes
  int64_t spatial_size;                ///< thread ids 0 .. spatial_size-1, replicas included
  int64_t local_size;                  ///< local ids 0 .. local_size-1
  int64_t shape[TESELA_MAX_RANK];
  int64_t mode_shape[TESELA_REGISTER_MODES];
  int64_t spatial_modes[TESELA_REGISTER_MODES];
  int32_t local_modes[TESELA_REGISTER_MODES];
} tesela_register;

/* ---- making ------------------------------------------------------------------------------------------------ */

/// Check four lists and make a layout of them, reduced.
///
/// Example: shape [4,6], mode_shape [2,2,3,2], spatial_modes [0,2], local_modes [3,1]: element (i,j) is in thread
/// (i / 2) * 3 + j / 2 at local id (j % 2) * 2 + i % 2.
///
/// @return TESELA_OK; TESELA_E_RANGE, reason SHAPE_NOT_POSITIVE, MODE_NOT_POSITIVE, SPATIAL_MODE_OUT_OF_RANGE or
///         LOCAL_MODE_OUT_OF_RANGE; TESELA_E_INVALID, reason MODE_DOES_NOT_FIT_SHAPE (products of modes that are no
///         dims), MODE_USED_TWICE or MODE_NOT_PLACED.
TESELA_API tesela_status tesela_register_make(tesela_register *out, int32_t rank, const int64_t *shape,
                                              int32_t n_modes, const int64_t *mode_shape, int32_t n_spatial,
                                              const int64_t *spatial_modes, int32_t n_local,
                                              const int64_t *local_modes, tesela_error *err);

/// The same without reducing: what RegisterLayout(...) says, digit by digit.
TESELA_API tesela_status tesela_register_make_raw(tesela_register *out, int32_t rank, const int64_t *shape,
                                                  int32_t n_modes, const int64_t *mode_shape,
                                                  int32_t n_spatial, const int64_t *spatial_modes,
                                                  int32_t n_local, const int64_t *local_modes,
                                                  tesela_error *err);

/// Is it what tesela_register_make_raw would accept, its sizes included? For values that another program filled in.
TESELA_API tesela_status tesela_register_check(const tesela_register *layout, tesela_error *err);

/// One element per thread: the thread id is the row-major number of the index.
///
/// Example: spatial(2,3): element (1,2) is in thread 5. With ranks [1,0] it is in thread 2*2 + 1 = 5, (0,2) in 4.
///
/// @param ranks  `rank` numbers: ranks[d] is the place of dim d in the order, 0 the slowest; NULL: 0, 1, 2, ...
/// @return TESELA_OK; TESELA_E_RANGE, reason SHAPE_NOT_POSITIVE or RANKS_OUT_OF_RANGE; TESELA_E_INVALID, reason
///         RANKS_DUPLICATE.
TESELA_API tesela_status tesela_register_spatial(tesela_register *out, int32_t rank, const int64_t *shape,
                                                 const int64_t *ranks, tesela_error *err);

/// One thread holds all: the local id is the row-major number of the index. Otherwise as tesela_register_spatial.
TESELA_API tesela_status tesela_register_local(tesela_register *out, int32_t rank, const int64_t *shape,
                                               const int64_t *ranks, tesela_error *err);

/// spatial and local with the first dim fastest. Example: column_spatial(2,3): element (1,2) is in thread 2*2 + 1 = 5,
/// (0,1) in thread 2.
TESELA_API tesela_status tesela_register_column_spatial(tesela_register *out, int32_t rank,
                                                        const int64_t *shape, tesela_error *err);
TESELA_API tesela_status tesela_register_column_local(tesela_register *out, int32_t rank,
                                                      const int64_t *shape, tesela_error *err);

/// Every one of n threads holds all, row-major. Example: replicated(3, num_workers=2): element 2 is in threads 0 and 1,
/// at local id 2. TESELA_E_RANGE, reason WORKERS_NOT_POSITIVE or SHAPE_NOT_POSITIVE.
TESELA_API tesela_status tesela_register_replicated(tesela_register *out, int32_t rank, const int64_t *shape,
                                                    int64_t workers, tesela_error *err);

/// local(rest).spatial(s): from the last dim to the first, s[d] = gcd(threads left, shape[d]); threads left at the end
/// are an outermost replica.
///
/// Example: 16 threads, shape [8,4]: s = (4,4), so local(2,1).spatial(4,4).
///
/// @return TESELA_OK; TESELA_E_RANGE, reason WORKERS_NOT_POSITIVE or SHAPE_NOT_POSITIVE; TESELA_E_INVALID, reason
///         THREADS_DO_NOT_FIT unless one of threads and elements divides the other.
TESELA_API tesela_status tesela_register_auto_local_spatial(tesela_register *out, int64_t threads,
                                                            int32_t rank, const int64_t *shape,
                                                            tesela_error *err);

/* ---- changing the shape; thread and local ids of each element stay ------------------------------------------ */

/// Drop dims of extent 1. Example: shape [1,5], dims [0]: [5].
/// Dims count from 0; negative ones from the end: -1 is the last. So in all functions that take dims.
/// @return TESELA_OK; TESELA_E_RANGE, reason DIM_OUT_OF_RANGE; TESELA_E_INVALID, reason DIM_DUPLICATE or DIM_NOT_ONE.
TESELA_API tesela_status tesela_register_squeeze(tesela_register *out, const tesela_register *layout,
                                                 int32_t n, const int64_t *dims, tesela_error *err);

/// Add dims of extent 1; `dims` are their positions in the result. Example: shape [3], dims [0,2]: [1,3,1].
/// TESELA_E_RANGE, reason DIM_OUT_OF_RANGE; TESELA_E_INVALID, reason DIM_DUPLICATE.
TESELA_API tesela_status tesela_register_unsqueeze(tesela_register *out, const tesela_register *layout,
                                                   int32_t n, const int64_t *dims, tesela_error *err);

/// Reorder dims: dim k of the result is dim dims[k] of the layout, n = rank.
/// TESELA_E_INVALID, reason DIMS_LENGTH or DIM_DUPLICATE; TESELA_E_RANGE, reason DIM_OUT_OF_RANGE.
TESELA_API tesela_status tesela_register_permute(tesela_register *out, const tesela_register *layout,
                                                 int32_t n, const int64_t *dims, tesela_error *err);

/// Another shape with the same row-major element numbers. Complete: refused only if no modes say it.
///
/// Example: local(2,3) reshaped to [3,2] is local(3,2); spatial(3).local(4) to [6,2] has modes [3,2,2].
///
/// @return TESELA_OK; TESELA_E_RANGE, reason SHAPE_NOT_POSITIVE; TESELA_E_INVALID, reason RESHAPE_SIZE_MISMATCH or
///         RESHAPE_NOT_REPRESENTABLE (spatial(3).local(4) to [4,3]: the first dim would cut a mode of 3 in 4).
TESELA_API tesela_status tesela_register_reshape(tesela_register *out, const tesela_register *layout,
                                                 int32_t rank, const int64_t *shape, tesela_error *err);

/// Make dims first .. last one, both included; negative numbers count from the end, so 0, -1 flattens all. Rank 0
/// becomes [1]. Example: shape [2,3,4], 1, 2: [2,12]. (Tilus documents `end` as included and leaves it out.)
/// TESELA_E_RANGE, reason DIM_OUT_OF_RANGE, also for first > last.
TESELA_API tesela_status tesela_register_flatten(tesela_register *out, const tesela_register *layout,
                                                 int64_t first, int64_t last, tesela_error *err);

/// The same modes under another shape that they fit. Example: spatial(2,3) with shape [6] has modes [2,3] still; reduced
/// it would be [6]. TESELA_E_INVALID, reason MODE_DOES_NOT_FIT_SHAPE; TESELA_E_RANGE, reason SHAPE_NOT_POSITIVE.
TESELA_API tesela_status tesela_register_with_shape(tesela_register *out, const tesela_register *layout,
                                                    int32_t rank, const int64_t *shape, tesela_error *err);

/* ---- combining and taking apart ----------------------------------------------------------------------------- */

/// outer * inner: each element of outer becomes a whole inner. Shapes multiply, the shorter one padded with leading 1s;
/// with hi = x / inner.shape and lo = x % inner.shape, thread = outer(hi) * inner.spatial_size + inner(lo), and local ids
/// likewise. Associative, not commutative; spatial() is the identity.
///
/// Example: local(3,4) * spatial(2,3): see the top of this file.
TESELA_API tesela_status tesela_register_compose(tesela_register *out, const tesela_register *outer,
                                                 const tesela_register *inner, tesela_error *err);

/// Side by side: shapes one after the other, ids as in compose. Example: concat(spatial(3), column_local(2,2)): shape
/// [3,2,2], element (2,1,0) in thread 2 at local id 1.
TESELA_API tesela_status tesela_register_concat(tesela_register *out, const tesela_register *a,
                                                const tesela_register *b, tesela_error *err);

/// The q of the layout's rank with q * divisor = layout. Complete: found whenever there is one, replicas split and merged
/// as needed; there is never more than one.
///
/// Example: spatial(12) / spatial(4) = spatial(3); spatial(6) / local(3) is refused, and so is spatial(4) / spatial(1,2),
/// since every product with spatial(1,2) has two dims or more.
///
/// @return TESELA_OK; TESELA_E_INVALID, reason NOT_DIVISIBLE; the message names the dim or the list where it fails, or
///         the ranks where the divisor has more dims than the layout. A divisor of fewer dims is extended by leading 1s.
TESELA_API tesela_status tesela_register_divide(tesela_register *out, const tesela_register *layout,
                                                const tesela_register *divisor, tesela_error *err);

/// The q of the layout's rank with divisor * q = layout. Complete likewise. Example: local(2).spatial(6) by local(2).spatial(2) is
/// spatial(3). TESELA_E_INVALID, reason NOT_LEFT_DIVISIBLE.
TESELA_API tesela_status tesela_register_left_divide(tesela_register *out, const tesela_register *layout,
                                                     const tesela_register *divisor, tesela_error *err);

/// Drop dims: threads that held different elements along them now hold the same one; registers that did so are one.
/// keepdims keeps them with extent 1.
///
/// Example: reduce(spatial(3,4), [0]): shape [4], spatial_modes [-3,0]; element 1 is in threads 1, 5 and 9.
///
/// @return TESELA_OK; TESELA_E_RANGE, reason DIM_OUT_OF_RANGE; TESELA_E_INVALID, reason DIM_DUPLICATE.
TESELA_API tesela_status tesela_register_reduce(tesela_register *out, const tesela_register *layout,
                                                int32_t n, const int64_t *dims, bool keepdims,
                                                tesela_error *err);

/// Reduce to what broadcasts to this layout's shape: shapes are aligned at their ends, leading dims that `shape` lacks
/// are dropped, where it has 1 the dim is reduced to 1.
///
/// Example: spatial(3,5) to [1,5]: spatial_modes [-3,0].
///
/// @return TESELA_OK; TESELA_E_INVALID, reason NOT_BROADCASTABLE for any other extent, and for a shape of larger rank.
TESELA_API tesela_status tesela_register_reduce_to(tesela_register *out, const tesela_register *layout,
                                                   int32_t rank, const int64_t *shape, tesela_error *err);

/// Repeat the layout over a larger tile, in registers: local(shape / layout.shape) * layout. The layout may have fewer
/// dims. Example: spatial(8,4) over [16,8]: local(2,2).spatial(8,4).
/// @return TESELA_OK; TESELA_E_INVALID, reason NOT_REPEATABLE if its shape does not divide.
TESELA_API tesela_status tesela_register_repeat_to(tesela_register *out, const tesela_register *layout,
                                                   int32_t rank, const int64_t *shape, tesela_error *err);

/* ---- form and equality --------------------------------------------------------------------------------------- */

/// Reduced form; see the top of the file. Cannot fail.
TESELA_API void tesela_register_reduced(tesela_register *out, const tesela_register *layout);

/// The one form of a relation: reduced, replicas of 1 dropped and neighbouring replicas multiplied. Two layouts are the
/// same relation of the same sizes exactly if shape and lists of their canonical forms are equal. Cannot fail.
///
/// Example: spatial_modes [-2,-1,-3,0] becomes [-6,0].
TESELA_API void tesela_register_canonical(tesela_register *out, const tesela_register *layout);

/// Does every element have the same threads and the same local id in both, and are the sizes the same?
TESELA_API bool tesela_register_same(const tesela_register *a, const tesela_register *b);

/// Are all fields that count equal (the spelling)?
TESELA_API bool tesela_register_identical(const tesela_register *a, const tesela_register *b);

/// Is every element that a thread needs for `need` already in that thread in `have` (in whatever register)? Shapes must
/// be equal; `need` may have fewer threads. This is the question before an operation whose operand lives elsewhere.
///
/// Example: have spatial(4) * local(2), need local(2) * spatial(4): no, thread 1 has elements 2 and 3, needs 1 and 5.
///
/// @return TESELA_OK; TESELA_E_MISMATCH for other shapes; TESELA_E_LIMIT for more than 2^24 registers of all threads
///         where digits alone do not tell.
TESELA_API tesela_status tesela_register_covers(const tesela_register *have, const tesela_register *need,
                                                bool *covers, tesela_error *err);

/* ---- asking -------------------------------------------------------------------------------------------------- */

/// Threads that hold each element: the product of the replicas.
TESELA_API int64_t tesela_register_copies(const tesela_register *layout);

/// The k-th thread that holds an element, 0 <= k < copies; k counts row-major over the replicas, slowest first.
///
/// Example: reduce(spatial(3,4),[0]), element 1, k = 2: thread 9.
///
/// @return TESELA_OK; TESELA_E_RANGE for an index outside the shape or such a k.
TESELA_API tesela_status tesela_register_get_spatial(const tesela_register *layout, const int64_t *index,
                                                     int64_t k, int64_t *thread, tesela_error *err);

/// The local id of an element. TESELA_E_RANGE.
TESELA_API tesela_status tesela_register_get_local(const tesela_register *layout, const int64_t *index,
                                                   int64_t *local, tesela_error *err);

/// The element that a thread holds at a local id. Every (thread, local) holds one.
/// TESELA_E_RANGE for a thread or a local id that the layout has not.
TESELA_API tesela_status tesela_register_get_global(const tesela_register *layout, int64_t thread,
                                                    int64_t local, int64_t *index, tesela_error *err);

/// Does this thread hold this element? TESELA_E_RANGE.
TESELA_API tesela_status tesela_register_locate_at(const tesela_register *layout, const int64_t *index,
                                                   int64_t thread, bool *holds, tesela_error *err);

/// A fingerprint of the relation: 64-bit FNV-1a (offset basis cbf29ce484222325, prime 100000001b3) over 32-bit
/// little-endian words: for every index in row-major order the number of its threads, those ascending, its local id.
/// @return TESELA_OK; TESELA_E_LIMIT for more than 2^24 threads-of-elements. O(elements * copies).
TESELA_API tesela_status tesela_register_hash(const tesela_register *layout, uint64_t *hash,
                                              tesela_error *err);

/* ---- the core model -------------------------------------------------------------------------------------------- */

/// As a layout of the core: axes "thread" (0) and "local" (1), replicas as replicas. Every function of layout.h works
/// on it: place_of gives (thread, local) of the first copy, element_at takes them.
/// @param bits  of one element, 1 to 1024
TESELA_API tesela_status tesela_register_to_layout(const tesela_register *layout, tesela_dtype dtype,
                                                   int32_t bits, tesela_layout *out, tesela_error *err);

/// Back: a layout with the axes "thread" and "local" whose digits are modes in row-major order.
/// @return TESELA_OK; TESELA_E_UNSUPPORTED if it is none (padding, joins, swizzles, offsets, gaps, holes, replicas on
///         local, other axes); the message says which.
TESELA_API tesela_status tesela_register_from_layout(const tesela_layout *layout, tesela_register *out,
                                                     tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
