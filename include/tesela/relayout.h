/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout.h - copy a tensor from one layout to another.
 *
 * Plan once, run often:
 *
 *   tesela_plan *plan;
 *   tesela_plan_create(&plan, &tiled, &row_major, NULL, &err);   f32[1000,200]{1,0:T(8,128)} <- f32[1000,200]{1,0}
 *   tesela_plan_run(plan, device, host, NULL, &err);
 *   tesela_plan_destroy(plan);
 *
 * Both layouts have the same shape and exactly one axis. A buffer is the address of place 0 of its axis and needs no
 * alignment. Elements of 1, 2 and 4 bits fill a byte from its low bits up.
 *
 * A run writes every element, to every place that holds it (replicas), and the padding as options->fill requests.
 * Padding consists of the places that the digits of dst reach without an element - the rest of partial tiles, the
 * values of holes - and of all places after the last one they reach, up to the extent of the axis. Never written, in
 * any mode: places between digits (the gaps of a strided view) and places before the offset.
 *
 * A plan is immutable: any number of threads may run it at the same time. Running allocates nothing, but within one buffer; it
 * uses up to TESELA_PLAN_STACK bytes of stack in each thread that copies.
 */
#ifndef TESELA_RELAYOUT_H
#define TESELA_RELAYOUT_H

#include <tesela/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_PLAN_STACK (384 << 10) ///< most bytes of stack that tesela_plan_run uses in a thread

/// How to copy a tensor from one layout to another. Opaque; owns memory.
typedef struct tesela_plan tesela_plan;

/// What to write to padding in dst.
typedef enum tesela_fill {
  TESELA_FILL_ZERO,  ///< all bits 0
  TESELA_FILL_LEAVE, ///< not written
  TESELA_FILL_VALUE, ///< options->fill_value
} tesela_fill;

/// A change to each value during the copy.
typedef enum tesela_transform {
  TESELA_TRANSFORM_NONE,    ///< bits are moved; the types are equal, or one is unknown
  TESELA_TRANSFORM_SWAP,    ///< the bytes of each number are reversed (each half of a complex one)
  TESELA_TRANSFORM_CONVERT, ///< from src's type to dst's: see tesela_transform_check
  TESELA_TRANSFORM_SPLIT, ///< f64 -> two f32 in its 8 bytes: (f32)x, then (f32)(x - (f32)x), or 0 if the first is not finite
  TESELA_TRANSFORM_MERGE, ///< the reverse: the sum of the two f32 as f64
} tesela_transform;

/// Instruction sets in increasing order; a plan uses those of the CPU, up to the cap.
/* symbol, value, name */
#define TESELA_ISA_MAP(X)       \
  X(TESELA_ISA_BEST, 0, "best") \
  X(TESELA_ISA_C, 1, "c")       \
  X(TESELA_ISA_NEON, 2, "neon") \
  X(TESELA_ISA_AVX2, 3, "avx2") \
  X(TESELA_ISA_AVX512, 4, "avx512")

typedef enum tesela_isa {
#define TESELA__ROW(symbol, value, name) symbol = value,
  TESELA_ISA_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_isa;

/// How a plan is found.
typedef enum tesela_effort {
  TESELA_EFFORT_ESTIMATE, ///< from the cost model, a few microseconds
  TESELA_EFFORT_MEASURE, ///< several plans run on scratch buffers, the fastest is kept; takes seconds and memory
} tesela_effort;

/// Ways to copy. A plan has pieces (the whole tiles, the partial tiles at each edge); each piece has one solver.
/* symbol, value, name, what it does */
#define TESELA_SOLVER_MAP(X)                                                                             \
  X(TESELA_SOLVER_ANY, 0, "any", "the planner chooses")                                                  \
  X(TESELA_SOLVER_MEMCPY, 1, "memcpy", "one run of bytes")                                               \
  X(TESELA_SOLVER_ROWS, 2, "rows", "rows of bytes that stay together")                                   \
  X(TESELA_SOLVER_TRANSPOSE, 3, "transpose", "blocks with another contiguous dim on each side")          \
  X(TESELA_SOLVER_INTERLEAVE, 4, "interleave", "k rows become one, element by element")                  \
  X(TESELA_SOLVER_DEINTERLEAVE, 5, "deinterleave", "one row becomes k, element by element")              \
  X(TESELA_SOLVER_BITS, 6, "bits", "elements that share bytes, or whole bytes in tiles through buffers") \
  X(TESELA_SOLVER_STRIDED, 7, "strided", "element by element in regular loops")                          \
  X(TESELA_SOLVER_GATHER, 8, "gather",                                                                   \
    "by tables of offsets, or a walk through both layouts; takes everything")                            \
  X(TESELA_SOLVER_PERMUTE, 9, "permute", "blocks of a few lines whose bytes change places")

typedef enum tesela_solver {
#define TESELA__ROW(symbol, value, name, text) symbol = value,
  TESELA_SOLVER_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_solver;

/// Name of a solver, "transpose"; NULL for an unknown number. Static text.
TESELA_API const char *tesela_solver_name(tesela_solver solver);
/// Name of an instruction set, "avx2"; NULL for an unknown number. Static text.
TESELA_API const char *tesela_isa_name(tesela_isa isa);
/// Is the instruction set built in, and can this CPU run it? TESELA_ISA_BEST and TESELA_ISA_C: always true.
TESELA_API bool tesela_isa_available(tesela_isa isa);

/// Options of a plan. Start from zeros (`tesela_plan_options o = {0};`): 0 is the default of every field.
typedef struct tesela_plan_options {
  tesela_fill fill;
  uint8_t fill_value
      [16]; ///< for TESELA_FILL_VALUE: one element of dst, in the first bytes (1 to 4 bits: the low bits)
  tesela_transform transform;
  int32_t threads; ///< most threads, including the caller's; 0: the CPUs this process may use
  tesela_isa isa;  ///< cap; refused if the CPU lacks it
  tesela_effort effort;
  tesela_solver solver; ///< use this solver wherever it applies; refused if it applies to no piece
  int64_t
      memory_bytes; ///< total size of the windows of src and dst that the copy touches at any time, if the layouts
                    ///< allow it; for files larger than memory; 0: unbounded
  uint64_t shuffle; ///< for tests: a nonzero seed picks solvers, tiles and store kinds at random
  const tesela_allocator *allocator; ///< NULL: malloc and free; must outlive the plan
  int64_t reserved[4];               ///< 0: room to grow (base.h)
} tesela_plan_options;

/// Plan a copy of all elements from `src` to `dst`.
///
/// Example: dst f32[1000,200]{1,0:T(8,128)}, src f32[1000,200]{1,0}: two pieces: whole tiles, and tiles
/// of 72 columns that are padded to 128.
///
/// @param plan     receives the plan; tesela_plan_destroy frees it
/// @param options  NULL: all defaults
/// @return TESELA_OK; TESELA_E_INVALID for an unfinished layout; TESELA_E_MISMATCH if the shapes differ, or if types or
///         widths differ and the transform does not convert them; TESELA_E_UNSUPPORTED for a layout with more or less
///         than one axis, element widths other than 1, 2, 4, 8, 16, 32, 64 and 128 bits, dst digits that overlap (two
///         elements at one place) or may overlap (undecided), padding to fill between interleaved strides of dst,
///         a forced solver that does not apply, an unknown transform;
///         TESELA_E_RANGE for an option outside its range; TESELA_E_OVERFLOW if the bits of a side exceed int64;
///         TESELA_E_MEMORY.
/// A few microseconds, a few allocations; any thread. The layouts are copied.
TESELA_API tesela_status tesela_plan_create(tesela_plan **plan, const tesela_layout *dst,
                                            const tesela_layout *src, const tesela_plan_options *options,
                                            tesela_error *err);

/// Free a plan, or return it to its cache. NULL is allowed.
TESELA_API void tesela_plan_destroy(tesela_plan *plan);

/// Runs the chunks of a copy in place of tesela's own threads. `run` must call chunk(data, i) once for each
/// 0 <= i < n, on any threads and in any order, and return after the last call has returned.
typedef struct tesela_executor {
  void (*run)(void *user, int32_t n, void (*chunk)(void *data, int32_t i), void *data);
  void *user;
} tesela_executor;

/// Options of a run. Zeros are the defaults.
typedef struct tesela_run_options {
  const tesela_executor *executor; ///< NULL: threads are started for this run and joined before it returns
  tesela_progress
      *progress; ///< NULL: no calls; with bytes, about every 10 ms. After a stop dst is partly written
  void *progress_user;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_run_options;

/// Copy. `dst` and `src` are the addresses of place 0 of each layout's axis.
///
/// Threads are started only to move 4 MiB or more, and joined before the call returns: nothing outlives the call,
/// and a process may fork at any time. If the system refuses a thread, the others do its work.
///
/// @param options  NULL: all defaults
/// @return TESELA_OK; TESELA_E_INVALID if the bytes of dst and src overlap (use tesela_plan_run_in_place);
///         TESELA_E_STOPPED if progress asked to stop; TESELA_E_LIMIT for a buffer of more bytes than a pointer of this
///         machine can count (2^31 and more where it has 32 bits), as everywhere that memory is read or written.
TESELA_API tesela_status tesela_plan_run(const tesela_plan *plan, void *dst, const void *src,
                                         const tesela_run_options *options, tesela_error *err);

/// Copy within one buffer: it holds src's layout before and dst's layout after. Places outside both are not changed.
///
/// `scratch` has info.in_place_scratch_bytes bytes of any content, at most the larger of 1 MiB and a 64th of the tensor (beyond,
/// 1 bit for each group of elements that stay together, where only cycles apply). Then the buffer is read and written one to three
/// times, up to seven with padded tiles or extents that are primes, by info.threads threads; tesela_plan_explain lists the passes.
/// With NULL each element is moved once along the cycles of the permutation, each found again from its members, by one thread: no
/// memory, but it can take several hundred times longer.
///
/// Example: f32[8192,8192]{1,0} to {0,1}: pairs of blocks of 64 x 64 change places, with 16 KiB of scratch.
///
/// Allocates the plans of its passes, some 100 KiB, with the plan's allocator, before any byte changes.
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED if info.in_place is false: element widths differ, dst has replicas, or elements of src
///         share a place; TESELA_E_MEMORY. After these the buffer is as it was. TESELA_E_STOPPED if progress stopped the run: then
///         the buffer is in neither layout.
TESELA_API tesela_status tesela_plan_run_in_place(const tesela_plan *plan, void *buffer, void *scratch,
                                                  const tesela_run_options *options, tesela_error *err);

/// Facts about a plan.
typedef struct tesela_plan_info {
  int64_t dst_bytes;              ///< from place 0 to the last place that may be written
  int64_t src_bytes;              ///< from place 0 to the last place that may be read
  int64_t bytes_read;             ///< data read from src
  int64_t bytes_written;          ///< data and padding written to dst
  int64_t scratch_bytes;          ///< stack that a thread needs for staging, at most TESELA_PLAN_STACK
  int64_t in_place_scratch_bytes; ///< scratch that tesela_plan_run_in_place can use
  bool in_place;                  ///< tesela_plan_run_in_place can run it
  int32_t threads;                ///< threads a run uses
  int32_t n_pieces, n_fills;      ///< pieces that copy, pieces that fill padding
  tesela_solver solver;           ///< of the piece with the most bytes
  tesela_isa isa;                 ///< highest that it uses
  int64_t l2_bytes, l3_bytes;     ///< caches it is made for: of a core, and the last one, which cores share
  int64_t reserved[4];            ///< 0: room to grow (base.h)
} tesela_plan_info;

TESELA_API void tesela_plan_describe(const tesela_plan *plan, tesela_plan_info *info);

/// Print the plan as one line, for logs and golden tests:
///   transpose x32 8192x8192, tile 64x64, stream, avx512, 2 threads
/// @return TESELA_OK; TESELA_E_STOPPED if the writer refused.
TESELA_API tesela_status tesela_plan_print(const tesela_plan *plan, const tesela_writer *to,
                                           tesela_error *err);

/// Print the plan in full: the loops after normalisation, each piece with its solver, and for the largest piece the verdict
/// of every solver: its cost, or why it does not apply. Several lines.
TESELA_API tesela_status tesela_plan_explain(const tesela_plan *plan, const tesela_writer *to,
                                             tesela_error *err);

/// Is a transform available between two types? TESELA_TRANSFORM_CONVERT converts any type to itself, and:
///   f32, f16, bf16, each to each other   round to nearest, ties to even; overflow to infinity; NaN stays NaN
///   f64 <-> f32                          likewise
///   s8 <-> s4                            values outside -8..7 are clamped
///   a type of 1, 2 or 4 bits, packed and in 8 bits   the low bits; back, with the sign or zeros above
///   s64, s16, s8 <-> s32; likewise for u  narrowing keeps the low bits
///   pred of different widths             anything but 0 is true, true is 1
///   pred in 8 bits <-> f32, f16, bf16    true is 1; back, anything but 0 and -0 is true, NaN included
/// @return TESELA_OK; TESELA_E_MISMATCH, TESELA_E_UNSUPPORTED with the reason.
TESELA_API tesela_status tesela_transform_check(tesela_transform transform, tesela_dtype dst,
                                                int32_t dst_bits, tesela_dtype src, int32_t src_bits,
                                                tesela_error *err);

/* ---- a cache of plans --------------------------------------------------------------------------------------- */

/// The most recently used plans, for code that receives its layouts on each call. Any thread may use a cache.
typedef struct tesela_plan_cache tesela_plan_cache;

/// @param capacity  plans kept, 1 to 65536; the least recently used is dropped first
/// @return TESELA_OK; TESELA_E_RANGE; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_plan_cache_create(tesela_plan_cache **cache, int32_t capacity,
                                                  const tesela_allocator *allocator, tesela_error *err);

/// The plan for these layouts and options, from the cache or new. Return it with tesela_plan_destroy; until then it stays
/// valid, even if the cache drops it or is destroyed.
/// About 150 ns for a hit. Uses the allocator of the cache, not options->allocator.
TESELA_API tesela_status tesela_plan_cache_get(tesela_plan_cache *cache, tesela_plan **plan,
                                               const tesela_layout *dst, const tesela_layout *src,
                                               const tesela_plan_options *options, tesela_error *err);

/// Hits and misses so far. Either pointer may be NULL.
TESELA_API void tesela_plan_cache_count(tesela_plan_cache *cache, int64_t *hits, int64_t *misses);

/// NULL is allowed. No other thread may use the cache during the call.
TESELA_API void tesela_plan_cache_destroy(tesela_plan_cache *cache);

/*
 * ==== Comparison and digest of the values of a tensor, independent of its layout
 *
 * Values are compared as bits: -0.0 and 0.0 differ, a NaN equals a NaN of the same bits.
 */

/// What tesela_values_compare found.
typedef struct tesela_values_difference {
  bool same;
  int64_t n_different;            ///< how many elements differ
  int64_t index[TESELA_MAX_RANK]; ///< the first one in row-major order, if not same
  int64_t place_a, place_b;       ///< where it lies in each
  uint8_t a[16], b[16]; ///< its bits, in the first bytes (below 8 bits: the low bits of the first byte)
} tesela_values_difference;

/// Compare the logical values of two buffers.
///
/// Example: f32[3,5] row-major and the same values in {1,0:T(2,2)}: same, whatever the padding holds.
///
/// @param a, data_a  a layout with one axis and the address of its place 0; with replicas every copy must be equal
/// @return TESELA_OK; TESELA_E_MISMATCH if shapes, widths or types differ (a type may be unknown);
///         TESELA_E_UNSUPPORTED for several axes or a width other than 1, 2, 4, 8, 16, 32, 64 or 128 bits;
///         TESELA_E_STOPPED if options->progress, which gets elements about every 2^20, asked to stop.
/// @param options  NULL: no progress; options->executor is ignored
/// O(elements), no allocation.
TESELA_API tesela_status tesela_values_compare(const tesela_layout *a, const void *data_a,
                                               const tesela_layout *b, const void *data_b,
                                               tesela_values_difference *difference,
                                               const tesela_run_options *options, tesela_error *err);

/// A digest of the logical values: equal for all layouts of a tensor. It covers type, width, shape and the bits of each
/// element in row-major order (with replicas, of the first copy), without padding. 128 bits, not cryptographic. Its
/// definition, in src/relayout/values_digest.c, never changes.
///
/// @param digest  receives 16 bytes
/// @return as tesela_values_compare. O(elements), no allocation.
TESELA_API tesela_status tesela_values_digest(const tesela_layout *layout, const void *data,
                                              uint8_t digest[16], const tesela_run_options *options,
                                              tesela_error *err);

#ifdef __cplusplus
}
#endif

#endif
