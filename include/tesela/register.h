/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register.h - register layouts: the thread of a GPU block that holds an element, and the register. Tiles in memory.
 *
 * The notation is that of Tilus ("Register Layout"; paper arXiv 2504.12984):
 *
 *   shape          extents of the tile, each >= 1; rank 0 is one element
 *   mode_shape     each dim split into modes, outermost first, dim after dim; their products are the shape
 *   spatial_modes  the digits of the thread id, slowest first: a mode, or -n for a replica (n threads hold the same)
 *   local_modes    the digits of the local id (the number of a register within a thread), slowest first
 *
 *   local(3, 4).spatial(2, 3) has shape [6,12], mode_shape [3,2,4,3], spatial_modes [1,3], local_modes [0,2].
 *   Element (5,7): modes 2,1 and 2,1, so thread 1*3 + 1 = 4 and local id 2*4 + 2 = 10.
 *
 * Every mode is placed exactly once; modes of extent 1 may be omitted. (Tilus accepts some layouts with modes in
 * neither list, whose elements share a register; half of its operations fail on them. Here the error is
 * TESELA_REASON_MODE_NOT_PLACED.)
 *
 * Functions return layouts in *reduced form*: modes of extent 1 are dropped, and neighbouring modes of one dim are
 * joined if they are neighbours in one list. Replicas keep their spelling. tesela_register_canonical simplifies
 * further.
 *
 * A tesela_register is a plain value of about 1.5 KiB: copy it with `=`. No function here allocates; any number of
 * threads may read one layout. `out` may always be the same object as an input. Errors have a reason
 * (tesela_error.reason). Every function that makes a layout may also return TESELA_E_LIMIT for more than
 * TESELA_MAX_RANK dims or TESELA_REGISTER_MODES modes and TESELA_E_OVERFLOW if threads times registers exceed int64.
 */
#ifndef TESELA_REGISTER_H
#define TESELA_REGISTER_H

#include <tesela/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_REGISTER_MODES 64 ///< modes of a layout, and entries of spatial_modes

/// A register layout. Read the fields, but change them only with the functions below, which keep them consistent.
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

/* ---- construction -------------------------------------------------------------------------------------- */

/// Make a reduced layout from four lists.
///
/// Example: shape [4,6], mode_shape [2,2,3,2], spatial_modes [0,2], local_modes [3,1]: element (i,j) is in thread
/// (i / 2) * 3 + j / 2 at local id (j % 2) * 2 + i % 2.
///
/// @return TESELA_OK; TESELA_E_RANGE, reason SHAPE_NOT_POSITIVE, MODE_NOT_POSITIVE, SPATIAL_MODE_OUT_OF_RANGE or
///         LOCAL_MODE_OUT_OF_RANGE; TESELA_E_INVALID, reason MODE_DOES_NOT_FIT_SHAPE (modes do not multiply to the
///         dims), MODE_USED_TWICE or MODE_NOT_PLACED.
TESELA_API tesela_status tesela_register_make(tesela_register *out, int32_t rank, const int64_t *shape,
                                              int32_t n_modes, const int64_t *mode_shape, int32_t n_spatial,
                                              const int64_t *spatial_modes, int32_t n_local,
                                              const int64_t *local_modes, tesela_error *err);

/// The same without reducing: the exact fields of RegisterLayout(...).
TESELA_API tesela_status tesela_register_make_raw(tesela_register *out, int32_t rank, const int64_t *shape,
                                                  int32_t n_modes, const int64_t *mode_shape,
                                                  int32_t n_spatial, const int64_t *spatial_modes,
                                                  int32_t n_local, const int64_t *local_modes,
                                                  tesela_error *err);

/// Check that tesela_register_make_raw would accept the fields, sizes included. For values from another program.
TESELA_API tesela_status tesela_register_check(const tesela_register *layout, tesela_error *err);

/// One element per thread: the thread id is the row-major number of the index.
///
/// Example: spatial(2,3): element (1,2) is in thread 5. With ranks [1,0] it is in thread 2*2 + 1 = 5, (0,2) in 4.
///
/// @param ranks  `rank` numbers: ranks[d] is the position of dim d in the order, 0 the slowest; NULL: 0, 1, 2, ...
/// @return TESELA_OK; TESELA_E_RANGE, reason SHAPE_NOT_POSITIVE or RANKS_OUT_OF_RANGE; TESELA_E_INVALID, reason
///         RANKS_DUPLICATE.
TESELA_API tesela_status tesela_register_spatial(tesela_register *out, int32_t rank, const int64_t *shape,
                                                 const int64_t *ranks, tesela_error *err);

/// All elements in one thread: the local id is the row-major number of the index. Otherwise as tesela_register_spatial.
TESELA_API tesela_status tesela_register_local(tesela_register *out, int32_t rank, const int64_t *shape,
                                               const int64_t *ranks, tesela_error *err);

/// spatial and local with the first dim fastest. Example: column_spatial(2,3): element (1,2) is in thread 2*2 + 1 = 5,
/// (0,1) in thread 2.
TESELA_API tesela_status tesela_register_column_spatial(tesela_register *out, int32_t rank,
                                                        const int64_t *shape, tesela_error *err);
TESELA_API tesela_status tesela_register_column_local(tesela_register *out, int32_t rank,
                                                      const int64_t *shape, tesela_error *err);

/// All elements, row-major, in each of `workers` threads. Example: replicated(3, num_workers=2): element 2 is in threads 0
/// and 1, at local id 2. TESELA_E_RANGE, reason WORKERS_NOT_POSITIVE or SHAPE_NOT_POSITIVE.
TESELA_API tesela_status tesela_register_replicated(tesela_register *out, int32_t rank, const int64_t *shape,
                                                    int64_t workers, tesela_error *err);

/// local(rest).spatial(s): from the last dim to the first, s[d] = gcd(remaining threads, shape[d]); threads that remain at
/// the end become an outermost replica.
///
/// Example: 16 threads, shape [8,4]: s = (4,4), so local(2,1).spatial(4,4).
///
/// @return TESELA_OK; TESELA_E_RANGE, reason WORKERS_NOT_POSITIVE or SHAPE_NOT_POSITIVE; TESELA_E_INVALID, reason
///         THREADS_DO_NOT_FIT unless one of threads and elements divides the other.
TESELA_API tesela_status tesela_register_auto_local_spatial(tesela_register *out, int64_t threads,
                                                            int32_t rank, const int64_t *shape,
                                                            tesela_error *err);

/* ---- shape changes; thread and local ids of each element stay ------------------------------------------ */

/// Drop dims of extent 1. Example: shape [1,5], dims [0]: [5].
/// In all functions dims count from 0; negative dims count from the end: -1 is the last.
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

/// Another shape with the same row-major element numbers. Complete: refused only if no modes can express it.
///
/// Example: local(2,3) reshaped to [3,2] is local(3,2); spatial(3).local(4) to [6,2] has modes [3,2,2].
///
/// @return TESELA_OK; TESELA_E_RANGE, reason SHAPE_NOT_POSITIVE; TESELA_E_INVALID, reason RESHAPE_SIZE_MISMATCH or
///         RESHAPE_NOT_REPRESENTABLE (spatial(3).local(4) to [4,3]: the first dim would cut a mode of 3 in 4).
TESELA_API tesela_status tesela_register_reshape(tesela_register *out, const tesela_register *layout,
                                                 int32_t rank, const int64_t *shape, tesela_error *err);

/// Merge dims first .. last, both included; negative numbers count from the end, so 0, -1 merges all. Rank 0 becomes
/// [1]. Example: shape [2,3,4], 1, 2: [2,12]. (Tilus documents `end` as included but excludes it.)
/// TESELA_E_RANGE, reason DIM_OUT_OF_RANGE, also for first > last.
TESELA_API tesela_status tesela_register_flatten(tesela_register *out, const tesela_register *layout,
                                                 int64_t first, int64_t last, tesela_error *err);

/// The same modes with another shape that they fit. Example: spatial(2,3) with shape [6] keeps modes [2,3]; reduced they
/// would be [6]. TESELA_E_INVALID, reason MODE_DOES_NOT_FIT_SHAPE; TESELA_E_RANGE, reason SHAPE_NOT_POSITIVE.
TESELA_API tesela_status tesela_register_with_shape(tesela_register *out, const tesela_register *layout,
                                                    int32_t rank, const int64_t *shape, tesela_error *err);

/* ---- composition and division -------------------------------------------------------------------------- */

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

/// The q of the layout's rank with q * divisor = layout. Complete: found if it exists, with replicas split and merged as
/// needed; q is unique.
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

/// Drop dims: threads that differ only along them hold the same element, and registers that differ only along them become
/// one. keepdims keeps the dims with extent 1.
///
/// Example: reduce(spatial(3,4), [0]): shape [4], spatial_modes [-3,0]; element 1 is in threads 1, 5 and 9.
///
/// @return TESELA_OK; TESELA_E_RANGE, reason DIM_OUT_OF_RANGE; TESELA_E_INVALID, reason DIM_DUPLICATE.
TESELA_API tesela_status tesela_register_reduce(tesela_register *out, const tesela_register *layout,
                                                int32_t n, const int64_t *dims, bool keepdims,
                                                tesela_error *err);

/// Reduce to a shape that broadcasts to this layout's shape. Shapes are aligned at their ends; leading dims that `shape`
/// lacks are dropped, and dims where it has 1 are reduced to 1.
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

/* ---- form and equality --------------------------------------------------------------------------------- */

/// Reduced form; see the top of the file. Cannot fail.
TESELA_API void tesela_register_reduced(tesela_register *out, const tesela_register *layout);

/// Canonical form: reduced, replicas of 1 dropped and neighbouring replicas multiplied. Two layouts are the same relation
/// with the same sizes exactly if shape and lists of their canonical forms are equal. Cannot fail.
///
/// Example: spatial_modes [-2,-1,-3,0] becomes [-6,0].
TESELA_API void tesela_register_canonical(tesela_register *out, const tesela_register *layout);

/// Does every element have the same threads and the same local id in both, and are the sizes the same?
TESELA_API bool tesela_register_same(const tesela_register *a, const tesela_register *b);

/// Are all fields in use equal (the same spelling)?
TESELA_API bool tesela_register_identical(const tesela_register *a, const tesela_register *b);

/// Is every element that a thread needs for `need` already in that thread in `have`, in any register? Shapes must be
/// equal; `need` may have fewer threads. If not, the operand must be converted first.
///
/// Example: have spatial(4) * local(2), need local(2) * spatial(4): no, thread 1 has elements 2 and 3, needs 1 and 5.
///
/// @return TESELA_OK; TESELA_E_MISMATCH for different shapes; TESELA_E_LIMIT for more than 2^24 registers of all threads
///         if the digits alone do not decide.
TESELA_API tesela_status tesela_register_covers(const tesela_register *have, const tesela_register *need,
                                                bool *covers, tesela_error *err);

/* ---- queries ------------------------------------------------------------------------------------------- */

/// Number of threads that hold each element: the product of the replicas.
TESELA_API int64_t tesela_register_copies(const tesela_register *layout);

/// The k-th thread that holds an element, 0 <= k < copies; k counts row-major over the replicas, slowest first.
///
/// Example: reduce(spatial(3,4),[0]), element 1, k = 2: thread 9.
///
/// @return TESELA_OK; TESELA_E_RANGE for an index outside the shape, or k out of range.
TESELA_API tesela_status tesela_register_get_spatial(const tesela_register *layout, const int64_t *index,
                                                     int64_t k, int64_t *thread, tesela_error *err);

/// The local id of an element. TESELA_E_RANGE.
TESELA_API tesela_status tesela_register_get_local(const tesela_register *layout, const int64_t *index,
                                                   int64_t *local, tesela_error *err);

/// The element that a thread holds at a local id. Every (thread, local) holds one.
/// TESELA_E_RANGE for a thread or a local id outside the layout.
TESELA_API tesela_status tesela_register_get_global(const tesela_register *layout, int64_t thread,
                                                    int64_t local, int64_t *index, tesela_error *err);

/// Does this thread hold this element? TESELA_E_RANGE.
TESELA_API tesela_status tesela_register_locate_at(const tesela_register *layout, const int64_t *index,
                                                   int64_t thread, bool *holds, tesela_error *err);

/// A hash of the relation: 64-bit FNV-1a (offset basis cbf29ce484222325, prime 100000001b3) over 32-bit
/// little-endian words: for every index in row-major order the number of its threads, the threads ascending, its local id.
/// @return TESELA_OK; TESELA_E_LIMIT for more than 2^24 threads-of-elements. O(elements * copies).
TESELA_API tesela_status tesela_register_hash(const tesela_register *layout, uint64_t *hash,
                                              tesela_error *err);

/* ---- the core model ------------------------------------------------------------------------------------ */

/// The relation: axes "thread" (0) and "local" (1); replicas stay replicas. Every function of layout.h works on it:
/// place_of returns (thread, local) of the first copy, element_at is its inverse.
/// @param bits  of one element, 1 to 1024
TESELA_API tesela_status tesela_register_to_layout(const tesela_register *layout, tesela_dtype dtype,
                                                   int32_t bits, tesela_layout *out, tesela_error *err);

/// The register layout whose threads and local ids are those of a layout, with axes "thread" and "local" in any order: the
/// inverse of tesela_register_to_layout, for layouts that come from anywhere.
///
/// Example: element x of [12] in threads x/3 and x/3 + 4, at local id x%3: spatial_modes [-2,0], local_modes [1].
/// Example: element (i,j) of [4,4] in thread 4*i + (i^j): impossible, thread 5 has element (1,0), so one bit moves two dims.
///
/// Complete: impossible only if no register layout has these threads and local ids. Axes of the layout may have further places,
/// which no element uses: then answer->text_places is less than answer->places.
///
/// @param out     receives the layout, reduced; unchanged if impossible
/// @param answer  receives TESELA_EXACT or TESELA_IMPOSSIBLE, with what contradicts
/// @return TESELA_OK, also if impossible; TESELA_E_LIMIT for more than TESELA_REGISTER_MODES modes; TESELA_E_UNSUPPORTED as
///         tesela_layout_compare; TESELA_E_INVALID for a layout that is not finished. No allocation; any thread; needs 60 KiB of
///         stack.
TESELA_API tesela_status tesela_register_from_layout(const tesela_layout *layout, tesela_register *out,
                                                     tesela_translation *answer, tesela_error *err);

/*
 * ==== Fragments: which lane of a warp holds which element of a matrix instruction's operands
 *
 * Each entry is a register layout. Its name is the instruction, shape, type and operand, with dots:
 *
 *   mma.m16n8k16.f16.A     mma.sync, A is (M,K) = [16,16]: lane = thread id, g = lane / 4, t = lane % 4,
 *                          element i of the lane is row g + 8*((i/2) % 2), column 2t + i%2 + 8*(i/4)
 *   mma.m16n8k16.f16.C     its accumulator; the type in a name is that of A and B
 *   wmma.m16n16k16.f16.A   as compilers lay it out; unspecified in PTX
 *   ldmatrix.x4            result of ldmatrix, 8x8 tiles of 16 bits stacked: [32,8]; ldmatrix.x4.trans, .b8, .b32
 *   wgmma.m64n256k16.f16.D a warpgroup's accumulator; n is 8, 16, ... 256
 *   tcgen05.16x256b        tcgen05.ld and .st, cells of 32 bits
 *   mfma.f32_32x32x8_f16.A AMD CDNA, 64 lanes
 *   amd_wmma.gfx12.f32_16x16x16_f16.A  AMD RDNA, 32 lanes
 *   mma.sp.m16n8k32.f16.E  the metadata of a sparse A, [selector,M,K/2]; .A has the elements that are stored
 *   mma.m16n8k64.e2m1.SFA_2X  the scales of A of block scaling, [selector,M,scale]
 *
 * A is (M,K), B is (K,N), C and D are (M,N); i counts a lane's elements, from the low bits of the first register. The
 * formulas are in tools/fragments_*.py; tools/fragments.py derives each layout from its row and column formula, checks
 * it element by element, and writes src/gpu/register/fragments.inc. docs/fragments.md lists all entries, the source of
 * each family, and what is not covered.
 */

/// One entry of the catalogue. Texts are static.
typedef struct tesela_fragment {
  const char *name;   ///< "mma.m16n8k16.f16.A"; with "nN" in it for every N = n_step, 2*n_step, ... n_max
  const char *family; ///< the first part of the name: "mma", "ldmatrix", "wgmma", "mfma", ...
  const char *instruction; ///< as the vendor writes it: "mma.sync.aligned.m16n8k16"
  const char *types;       ///< types of its elements: "f16,bf16"; of an accumulator "f16,f32"
  const char *operand;     ///< "A", "B", "C" or "D"; "" if the instruction has only one
  const char *axes;        ///< "M,K"; for three dims "block,M,K"
  const char *block;       ///< formula of the first of three dims; "" for two dims
  const char *row, *col;   ///< formulas in lane, g = lane/4, t = lane%4, i, C syntax: "g + 8*((i/2)%2)"
  const char *expression;  ///< "column_local(2, 2).spatial(8, 4).local(1, 2)"; N/8 in it for n / n_step
  const char *since;       ///< "sm_80", "gfx90a"
  const char *note;        ///< "" or a sentence with a caution
  int32_t bits;            ///< of an element, of the widest of `types`
  int32_t threads;         ///< 32, 64 or 128
  int32_t n_step, n_max;   ///< 0: not a family of n
} tesela_fragment;

/// The catalogue, in the order of the documents; *n receives how many entries. Static memory, any thread.
TESELA_API const tesela_fragment *tesela_fragments(int32_t *n);

/// Find an entry by name, ignoring case. A name is that of the entry, of the instruction in PTX, or of the atom in CUTLASS,
/// the last two followed by the operand. The type may be any type of the entry; an accumulator may be named by its own type;
/// AMD instructions may have their older spelling; C and D are the same.
///
/// Example: "mma.m16n8k16.bf16.D" finds mma.m16n8k16.f16.C, "mfma.f32_32x32x8f16.A" finds mfma.f32_32x32x8_f16.A,
/// "wgmma.m64n128k16.f16.D" is the layout of wgmma.m64nNk16.f16.D for N = 128, shape [64,128].
/// "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.C", "SM80_16x8x16_F32F16F16F32_TN.C", "SM80_16x8_Row" and
/// "mma.m16n8k16.f32.C" find mma.m16n8k16.f16.C.
///
/// @param text    `length` bytes, any
/// @param layout  receives the layout; may be NULL
/// @param entry   receives the entry; may be NULL
/// @return TESELA_OK; TESELA_E_SYNTAX for an unknown name: err->at is the byte of the first unknown part, the message
///         lists what is allowed there and the nearest name.
/// Some ten microseconds, no allocation; any thread.
TESELA_API tesela_status tesela_fragment_find(const char *text, size_t length, tesela_register *layout,
                                              const tesela_fragment **entry, tesela_error *err);

/// Whose name it is.
typedef enum tesela_fragment_naming {
  TESELA_FRAGMENT_OWN,            ///< of this catalogue
  TESELA_FRAGMENT_CUTLASS_LAYOUT, ///< of a thread-value layout in CUTLASS: SM80_16x8_Row
  TESELA_FRAGMENT_CUTLASS,        ///< of an atom in CUTLASS, with the operand: SM80_16x8x16_F32F16F16F32_TN.C
  TESELA_FRAGMENT_INSTRUCTION     ///< of the instruction in PTX or AMD's assembler, with the operand
} tesela_fragment_naming;

enum { TESELA_FRAGMENT_NAME = 128 }; ///< bytes of a name, with the 0 at its end

/// Name `number` of an entry of the catalogue: this catalogue's first, then those of CUTLASS, then the instruction's, one for
/// each form of its syntax, without its optional parts. In a family of n, N is part of the name.
///
/// Example: names of mma.m16n8k16.f16.C: "mma.m16n8k16.f16.C", "SM80_16x8_Row", "SM80_16x8x16_F32F16F16F32_TN.C", ...,
/// "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16.C".
///
/// @param entry   its number in tesela_fragments
/// @param text    receives the name
/// @param naming  receives whose name it is; may be NULL
/// @return false if the entry has no more names; then nothing is written. No allocation; any thread.
TESELA_API bool tesela_fragment_name(int32_t entry, int32_t number, char text[TESELA_FRAGMENT_NAME],
                                     tesela_fragment_naming *naming);

/// Find the entries that a layout consists of: layout = q * fragment for some q. Writes up to `capacity` entry numbers,
/// those with most registers per thread first, then in catalogue order, and returns their total number. In a family of
/// n the largest n that fits is used. Types and bits are ignored: a layout has neither.
///
/// Example: spatial(2,2) * mma.m16n8k16.f16.C consists of that entry with q = spatial(2,2), of ldmatrix.x2, ldmatrix.x1
/// and of operands of other instructions with the same layout.
///
/// @param entries  room for `capacity` numbers; may be NULL if that is 0
TESELA_API int32_t tesela_fragment_recognize(const tesela_register *layout, int32_t capacity,
                                             int32_t *entries);

/*
 * ==== Layouts of a tile in shared or global memory: modes with strides, and one XOR stage
 *
 *   shape         extents of the tile, each >= 1; rank 0 is one element
 *   mode_shape    each dim split into modes, outermost first, dim after dim
 *   mode_strides  elements per step of each mode, >= 0
 *   offset        place of the element whose modes are all 0, before the swizzle
 *   swizzle       (base, bits, shift): y = (x >> (base + shift)) & (2^bits - 1), the place is x ^ (y << base)
 *
 * The place of an element, in elements, is swizzle(offset + sum of mode * stride). These fields describe Tilus'
 * SharedLayout (`shape, mode_shape, mode_strides, optional_swizzle`) and, without a swizzle, its GlobalLayout. The
 * swizzle is CuTe's Swizzle<bits, base, shift> with the arguments in another order; for byte addresses base grows by
 * log2 of the bytes of an element.
 *
 *   shared_row_major_swizzle(64, 64, nbytes=2): shape [64,64], row pitch 128 bytes, Swizzle(base=3, bits=3, shift=3):
 *   element (3,17): 3*64 + 17 = 209 = 0b11_010_001; bits 6..8 are 3, so 209 ^ (3 << 3) = 201.
 *
 * "Shared" and "global" differ in the Tilus operations that use them and in print, not in the meaning of a place. A
 * tesela_tile_memory is a plain value; no function here allocates; `out` may be an input; any number of threads may
 * read one. Every function that makes one may return TESELA_E_LIMIT (dims, modes) and TESELA_E_OVERFLOW (places).
 *
 * Every operation is defined by places: an element of the result has the place of the element it comes from. An
 * operation that a swizzle makes impossible is refused; the swizzle is never dropped.
 *
 * Least size. It is exactly 1 + the largest place if at most 2^16 elements share all bits above those that the swizzle
 * changes with the largest plain place (before the swizzle). This holds for every swizzle that changes bits below 16 of
 * a layout whose modes do not overlap. Otherwise it is 1 + the largest plain place with all bits up to these set.
 */

typedef enum tesela_tile_space { TESELA_TILE_SHARED, TESELA_TILE_GLOBAL } tesela_tile_space;

/// An XOR stage; bits 0: no swizzle. Numbers are in elements. 0 <= bits, base; |shift| >= bits; base + |shift| + bits <= 62.
/// With a negative shift the low bits change the high ones: x ^ ((x >> base & (2^bits - 1)) << (base + |shift|)).
typedef struct tesela_tile_swizzle {
  int32_t base, bits, shift;
} tesela_tile_swizzle;

/// A tile in memory. Read the fields, but change them only with the functions below, which keep them consistent.
typedef struct tesela_tile_memory {
  tesela_tile_space space;
  int32_t rank, n_modes;
  int64_t offset; ///< >= 0
  int64_t size;   ///< places 0 .. size-1 are reserved: at least 1 + the largest place, after the swizzle
  tesela_tile_swizzle swizzle;
  int64_t shape[TESELA_MAX_RANK];
  int64_t mode_shape[TESELA_REGISTER_MODES];
  int64_t mode_strides[TESELA_REGISTER_MODES];
} tesela_tile_memory;

/* ---- construction -------------------------------------------------------------------------------------- */

/// Make a tile from its parts; modes of 1 are dropped, and neighbours of one dim are joined if stride = stride' * extent'.
/// (Tilus joins some that overlap: [2,2,2] with strides [2,1,1] is [4,2] with strides [1,1] here, two modes.) swizzle NULL:
/// no swizzle. size is the least size, swizzle included (Tilus' count_size ignores the swizzle).
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

/// One stride per dim. Example: shape [3,5], strides [8,1]: element (2,3) at 19; size 21.
TESELA_API tesela_status tesela_tile_memory_strided(tesela_tile_memory *out, tesela_tile_space space,
                                                    int32_t rank, const int64_t *shape,
                                                    const int64_t *strides, int64_t offset,
                                                    tesela_error *err);

/// Tilus' shared_row_major_swizzle: rank >= 2; the last two dims are rows and columns. v = gcd(cols, 128 / bytes); the
/// columns are modes cols/v and v; order, slowest first: leading dims, cols/v, rows, v; swizzle base log2(16 / bytes),
/// shift 3, bits 3, 2, 1, 0 for v * bytes = 128, 64, 32, 16. If a row exceeds 128 bytes the order is not row-major.
///
/// @param bytes  of an element: 1, 2, 4, 8 or 16
/// @return TESELA_OK; TESELA_E_RANGE for other bytes; TESELA_E_INVALID unless rank >= 2, rows % 8 = 0 and
///         cols * bytes % 16 = 0.
TESELA_API tesela_status tesela_tile_memory_swizzled(tesela_tile_memory *out, int32_t rank,
                                                     const int64_t *shape, int32_t bytes, tesela_error *err);

/// Result of tesela_tile_memory_recognize_wgmma.
typedef struct tesela_wgmma_form {
  int32_t swizzle_bytes; ///< 0, 32, 64 or 128
  bool k_major;          ///< neighbours along k are neighbours in memory
  int64_t leading_bytes; ///< LBO, the "leading dimension byte offset"; 0 if it does not apply
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
///         k_major: mn % 8 = 0 and k % (S*T) = 0, else k % 8 = 0 and mn % (S*T) = 0. Limits of the instruction (its k,
///         its types; wgmma has the mn-major form for 16 bits only) are not checked.
TESELA_API tesela_status tesela_tile_memory_wgmma(tesela_tile_memory *out, int64_t mn, int64_t k,
                                                  int32_t bits, int32_t swizzle_bytes, bool k_major,
                                                  tesela_error *err);

/// Recognize a layout of shape [mn,k] as one of these forms, with atoms at any even distance. The comparison is by element,
/// not by spelling; distances and the offset must be multiples of an atom. At most one form fits.
///
///   k_major              LBO from one S*T columns to the next (the hardware reads it without a swizzle only), SBO from 8
///                        rows of mn to the next
///   mn-major, swizzled   LBO from one S*T of mn to the next, SBO from 8 of k to the next
///   mn-major, plain      SBO from one T of mn to the next, LBO from 8 of k to the next
///
/// Example: the layout above: 128, k_major, leading 0 (64 columns are one atom), stride 1024.
///
/// @param is  false for any other layout or rank; *form is written only if true
/// @return TESELA_OK; TESELA_E_RANGE for bits; as tesela_tile_memory_same.
TESELA_API tesela_status tesela_tile_memory_recognize_wgmma(const tesela_tile_memory *layout, int32_t bits,
                                                            tesela_wgmma_form *form, bool *is,
                                                            tesela_error *err);

/* ---- operations; a swizzle is kept if it can be expressed, else TESELA_E_UNSUPPORTED, reason SWIZZLE ---- */

/// Reserve `size` places; 0: the least size (see above). compose and prepend use the size as the distance between tiles.
///
/// Example: 9 rows of 64 with Swizzle(3,3,3) need 576 places, and prepend refuses that; with 1024 it does not.
///
/// @return TESELA_OK; TESELA_E_RANGE for less than the least size.
TESELA_API tesela_status tesela_tile_memory_set_size(tesela_tile_memory *out,
                                                     const tesela_tile_memory *layout, int64_t size,
                                                     tesela_error *err);

/// Add a swizzle to a layout without one; size grows if the swizzle needs it. TESELA_E_INVALID, reason SWIZZLE if the layout
/// already has a swizzle; TESELA_E_RANGE for numbers out of range.
TESELA_API tesela_status tesela_tile_memory_with_swizzle(tesela_tile_memory *out,
                                                         const tesela_tile_memory *layout,
                                                         tesela_tile_swizzle swizzle, tesela_error *err);

/// Each element of outer becomes a whole inner: place = outer(x / inner.shape) * inner.size + inner(x % inner.shape). The
/// shorter rank gets leading 1s; size is the product of the sizes, space that of outer. Associative unless refused.
///
/// A swizzle of inner stays if all outer strides and the outer offset, times inner.size, are multiples of 2^h, h = base +
/// |shift| + bits; a swizzle of outer stays if inner.size is a power of two (its base grows). If it helps, bits that the
/// swizzle reads but that are 0 in every element are removed from it first, and a side with all elements at one place is
/// reduced to that place. Two effective swizzles are refused. (Tilus drops them silently, and its global_compose lets
/// elements overlap.)
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED, reason SWIZZLE; TESELA_E_OVERFLOW. A larger size of inner
///         (tesela_tile_memory_set_size) may help a swizzle.
///
/// Example: row_major(2,2) * row_major(2,2): element (1,2) is in block (0,1) at (1,0): 1*4 + 2 = 6.
TESELA_API tesela_status tesela_tile_memory_compose(tesela_tile_memory *out, const tesela_tile_memory *outer,
                                                    const tesela_tile_memory *inner, tesela_error *err);

/// As tesela_register_permute, _unsqueeze, _squeeze and _reshape, with their reasons. The set of places, the swizzle and
/// the size stay. reshape is complete: refused only if no modes before this swizzle can express it.
TESELA_API tesela_status tesela_tile_memory_permute(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                                    int32_t n, const int64_t *dims, tesela_error *err);
TESELA_API tesela_status tesela_tile_memory_unsqueeze(tesela_tile_memory *out,
                                                      const tesela_tile_memory *layout, int32_t n,
                                                      const int64_t *dims, tesela_error *err);
TESELA_API tesela_status tesela_tile_memory_squeeze(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                                    int32_t n, const int64_t *dims, tesela_error *err);
TESELA_API tesela_status tesela_tile_memory_reshape(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                                    int32_t rank, const int64_t *shape, tesela_error *err);

/// The part of a tile that starts at `start` and has extents `shape` (one number per dim each). The offset is added before
/// the swizzle, so the swizzle always stays; size stays that of the whole tile, since the part is a view.
///
/// Example: row_major(4,8), start [2,4], shape [2,4]: offset 20, strides 8, 1.
///
/// @return TESELA_OK; TESELA_E_RANGE if the part leaves the tile, reason SHAPE_NOT_POSITIVE for an extent below 1;
///         TESELA_E_UNSUPPORTED, reason NOT_LINEAR if it cuts a mode so that no modes with strides >= 0 express the rest:
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
/// composed with the layout. TESELA_E_RANGE, reason SHAPE_NOT_POSITIVE for n < 1; reason SWIZZLE as in compose.
///
/// Example: 2 stages of a swizzled 64 x 64: element (1,3,17) at 4096 + 201.
TESELA_API tesela_status tesela_tile_memory_prepend(tesela_tile_memory *out, const tesela_tile_memory *layout,
                                                    int64_t n, tesela_error *err);

/* ---- queries ------------------------------------------------------------------------------------------- */

/// The place of an element, in elements. TESELA_E_RANGE for an index outside the shape. O(modes).
TESELA_API tesela_status tesela_tile_memory_place(const tesela_tile_memory *layout, const int64_t *index,
                                                  int64_t *place, tesela_error *err);

/// Do both have the same shape and the same place of every element? Sizes and spaces may differ. Returns the statuses of
/// tesela_layout_compare; swizzles without effect are removed first.
TESELA_API tesela_status tesela_tile_memory_same(const tesela_tile_memory *a, const tesela_tile_memory *b,
                                                 bool *same, tesela_error *err);

/// The relation: one axis "memory" of `size` places (a few more if the core's bound for swizzled places is higher), with
/// the swizzle as its XOR stage. TESELA_E_RANGE for bits outside 1 to 1024.
TESELA_API tesela_status tesela_tile_memory_to_layout(const tesela_tile_memory *layout, tesela_dtype dtype,
                                                      int32_t bits, tesela_layout *out, tesela_error *err);

/// The tile whose places are those of a layout with one axis: even modes, an offset and at most one swizzle. The inverse of
/// tesela_tile_memory_to_layout, for layouts that come from anywhere.
///
/// Example: element (i,j) of [4,8] at 8*i + (j ^ 2*(i%4)): mode_strides [8,1], Swizzle(base 1, bits 2, shift 2).
/// Example: f32[3,5]{1,0:T(2,2)}: impossible; 2 does not cut dim 0 of 3 evenly: element (2,0) is at 12, the ones before put it at 4.
///
/// Complete: impossible only if no tile has these places. Of several swizzles the layout's own is used, else one of fewest bits. The size is the layout's
/// number of places, or the least size of the tile if that is more.
///
/// @param space   of the tile; shared or global does not change the places
/// @param out     receives the tile; unchanged if impossible
/// @param answer  receives TESELA_EXACT or TESELA_IMPOSSIBLE, with the smallest contradiction of all tiles with any swizzle of the
///                bits of the layout's places, for up to 4096 places
/// @return TESELA_OK, also if impossible; TESELA_E_LIMIT for more than TESELA_REGISTER_MODES modes; TESELA_E_UNSUPPORTED as
///         tesela_layout_compare; TESELA_E_INVALID for a layout that is not finished. No allocation; any thread; needs 200 KiB of
///         stack. Some microseconds; some milliseconds where swizzles are tried: few elements exclude all but some of them.
TESELA_API tesela_status tesela_tile_memory_from_layout(const tesela_layout *layout, tesela_tile_space space,
                                                        tesela_tile_memory *out, tesela_translation *answer,
                                                        tesela_error *err);

#ifdef __cplusplus
}
#endif

#endif
