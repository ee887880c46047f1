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
 * Both layouts have the same shape and exactly one axis. A buffer is given by the address of place 0 of its axis;
 * it needs no alignment. Elements of 1, 2 and 4 bits lie in a byte from its low bits up.
 *
 * What is written: every element, at every place that holds it (replicas), and the padding as options->fill says.
 * Padding is what the digits of dst reach without an element there - the rest of partial tiles, the values of holes -
 * and what lies behind the last place they reach, up to the extent of the axis. The places between digits (the gaps
 * of a strided view) and before the offset are not dst's: they are never written, in no mode.
 *
 * A plan is immutable: any number of threads may run one at a time. Running allocates nothing; it takes up to
 * TESELA_PLAN_STACK bytes of stack in each thread that copies.
 */
#ifndef TESELA_RELAYOUT_H
#define TESELA_RELAYOUT_H

#include <tesela/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_PLAN_STACK (128 << 10) ///< most bytes of stack that tesela_plan_run takes in a thread

/// A plan: what to copy from where to where, and how.
typedef struct tesela_plan tesela_plan;

/// What becomes of padding in dst.
typedef enum tesela_fill {
  TESELA_FILL_ZERO,  ///< all bits 0
  TESELA_FILL_LEAVE, ///< not written
  TESELA_FILL_VALUE, ///< options->fill_value
} tesela_fill;

/// What happens to each value on its way.
typedef enum tesela_transform {
  TESELA_TRANSFORM_NONE,    ///< bits are moved; both types are the same, or one is not given
  TESELA_TRANSFORM_SWAP,    ///< the bytes of each number are reversed (each half of a complex one)
  TESELA_TRANSFORM_CONVERT, ///< from src's type to dst's: see tesela_transform_check
  TESELA_TRANSFORM_SPLIT, ///< f64 -> two f32 in its 8 bytes: (f32)x, then (f32)(x - (f32)x), or 0 if the first is not finite
  TESELA_TRANSFORM_MERGE, ///< the reverse: the sum of the two f32 as f64
} tesela_transform;

/// Instruction sets, the least first; a plan uses what the CPU has, up to the cap.
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
  TESELA_EFFORT_MEASURE, ///< several plans are run on buffers of their own, the fastest is kept; seconds, memory
} tesela_effort;

/// Ways to copy. A plan has pieces (the whole tiles, the partial ones at each edge); each piece has one solver.
/* symbol, value, name, what it does */
#define TESELA_SOLVER_MAP(X)                                                                    \
  X(TESELA_SOLVER_ANY, 0, "any", "the planner chooses")                                         \
  X(TESELA_SOLVER_MEMCPY, 1, "memcpy", "one run of bytes")                                      \
  X(TESELA_SOLVER_ROWS, 2, "rows", "rows of bytes that stay together")                          \
  X(TESELA_SOLVER_TRANSPOSE, 3, "transpose", "blocks with another contiguous dim on each side") \
  X(TESELA_SOLVER_INTERLEAVE, 4, "interleave", "k rows become one, element by element")         \
  X(TESELA_SOLVER_DEINTERLEAVE, 5, "deinterleave", "one row becomes k, element by element")     \
  X(TESELA_SOLVER_BITS, 6, "bits", "nibble and bit transposes: several elements share a byte")  \
  X(TESELA_SOLVER_STRIDED, 7, "strided", "element by element in regular loops")                 \
  X(TESELA_SOLVER_GATHER, 8, "gather", "runs from a walk through both layouts; takes everything")

typedef enum tesela_solver {
#define TESELA__ROW(symbol, value, name, text) symbol = value,
  TESELA_SOLVER_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela_solver;

/// Name of a solver, "transpose"; NULL for a number that is none. Static text.
TESELA_API const char *tesela_solver_name(tesela_solver solver);
/// Name of an instruction set, "avx2"; NULL for a number that is none. Static text.
TESELA_API const char *tesela_isa_name(tesela_isa isa);
/// Can this CPU run it, and is it built in? TESELA_ISA_BEST and TESELA_ISA_C always.
TESELA_API bool tesela_isa_available(tesela_isa isa);

/// What a plan is asked for. Start from zeros (`tesela_plan_options o = {0};`): that is the default of every field.
typedef struct tesela_plan_options {
  tesela_fill fill;
  uint8_t fill_value
      [16]; ///< for TESELA_FILL_VALUE: one element of dst, in its first bytes (1 to 4 bits: the low ones)
  tesela_transform transform;
  int32_t threads; ///< most threads, the caller's included; 0: the CPUs this process may use
  tesela_isa isa;  ///< cap; one the CPU lacks is refused
  tesela_effort effort;
  tesela_solver solver; ///< use this one wherever it applies; refused if it applies to no piece
  int64_t
      memory_bytes; ///< windows of src and dst of this size in all suffice at any time; for files larger than
                    ///< memory, where layouts allow it; 0: no bound
  uint64_t shuffle; ///< for tests: not 0 picks solvers, tiles and store kinds at random (a seed)
  const tesela_allocator *allocator; ///< NULL: malloc and free; must outlive the plan
  int64_t reserved[4];               ///< 0: room to grow (base.h)
} tesela_plan_options;

/// Plan a copy of all elements from `src` to `dst`.
///
/// Example: dst f32[1000,200]{1,0:T(8,128)}, src f32[1000,200]{1,0}: two pieces: whole tiles, and tiles
/// of 72 columns that are filled up to 128.
///
/// @param plan     receives the plan; tesela_plan_destroy frees it
/// @param options  NULL: all defaults
/// @return TESELA_OK; TESELA_E_INVALID for an unfinished layout; TESELA_E_MISMATCH if the shapes differ, or the types or
///         widths and the transform does not bridge them; TESELA_E_UNSUPPORTED for a layout with another number of
///         axes than 1, element widths other than 1, 2, 4, 8, 16, 32, 64 and 128 bits, dst digits that overlap (two
///         elements at one place) or of which that was not decided, padding to fill between strides of dst that
///         interleave, a forced solver that does not apply, a transform that does not exist;
///         TESELA_E_RANGE for an option outside its range; TESELA_E_OVERFLOW if the bits of a side exceed int64;
///         TESELA_E_MEMORY.
/// A few microseconds, a few allocations; any thread. The layouts are copied.
TESELA_API tesela_status tesela_plan_create(tesela_plan **plan, const tesela_layout *dst,
                                            const tesela_layout *src, const tesela_plan_options *options,
                                            tesela_error *err);

/// Free a plan (or give back one from a cache). NULL is fine.
TESELA_API void tesela_plan_destroy(tesela_plan *plan);

/// Who runs the chunks of a copy instead of threads that tesela starts. `run` must call chunk(data, i) once for each
/// 0 <= i < n, on any threads and in any order, and return after the last has returned.
typedef struct tesela_executor {
  void (*run)(void *user, int32_t n, void (*chunk)(void *data, int32_t i), void *data);
  void *user;
} tesela_executor;

/// How to run. Zeros are the defaults.
typedef struct tesela_run_options {
  const tesela_executor *executor; ///< NULL: threads started for this run and joined before it returns
  tesela_progress
      *progress; ///< NULL: none; with bytes, about every 10 ms. After a stop dst is partly written
  void *progress_user;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_run_options;

/// Copy. `dst` and `src` are the addresses of place 0 of each layout's axis.
///
/// Threads are started for this run only if at least 4 MiB are to be moved, and joined before it returns, so nothing of
/// tesela's outlives the call and a process may fork at any time. If the system refuses a thread, the others do
/// its part.
///
/// @param options  NULL: all defaults
/// @return TESELA_OK; TESELA_E_INVALID if the bytes of dst and src overlap (use tesela_plan_run_in_place);
///         TESELA_E_STOPPED if progress asked to stop.
TESELA_API tesela_status tesela_plan_run(const tesela_plan *plan, void *dst, const void *src,
                                         const tesela_run_options *options, tesela_error *err);

/// Copy within one buffer: before it holds src's layout from `buffer` on, after it dst's. Places of neither are kept.
///
/// Each element is moved once, along the cycles of the permutation. With `scratch` (info.in_place_scratch_bytes bytes,
/// any content) cycles are marked there; with NULL each cycle is found again from each of its members, which needs no
/// memory and can take much longer. One thread; options->executor is not used. A stop by progress leaves the buffer in
/// neither layout.
///
/// @return TESELA_OK; TESELA_E_UNSUPPORTED if info.in_place is false: element widths differ or are below 8 bits, dst has
///         replicas, or elements of src share a place; TESELA_E_STOPPED.
TESELA_API tesela_status tesela_plan_run_in_place(const tesela_plan *plan, void *buffer, void *scratch,
                                                  const tesela_run_options *options, tesela_error *err);

/// Facts about a plan.
typedef struct tesela_plan_info {
  int64_t dst_bytes;              ///< from place 0 to the last place that may be written
  int64_t src_bytes;              ///< from place 0 to the last place that may be read
  int64_t bytes_read;             ///< data read from src
  int64_t bytes_written;          ///< data and padding written to dst
  int64_t scratch_bytes;          ///< stack that a thread needs for staging, at most TESELA_PLAN_STACK
  int64_t in_place_scratch_bytes; ///< what tesela_plan_run_in_place can use
  bool in_place;                  ///< tesela_plan_run_in_place can run it
  int32_t threads;                ///< threads a run uses
  int32_t n_pieces, n_fills;      ///< pieces that copy, pieces that fill padding
  tesela_solver solver;           ///< of the piece with the most bytes
  tesela_isa isa;                 ///< most that it uses
  int64_t reserved[4];            ///< 0: room to grow (base.h)
} tesela_plan_info;

TESELA_API void tesela_plan_describe(const tesela_plan *plan, tesela_plan_info *info);

/// The plan as one line, for logs and golden tests:
///   transpose x32 8192x8192, tile 64x64, stream, avx512, 2 threads
/// @return TESELA_OK; TESELA_E_STOPPED if the writer refused.
TESELA_API tesela_status tesela_plan_print(const tesela_plan *plan, const tesela_writer *to,
                                           tesela_error *err);

/// The plan for people: the loops after normalisation, each piece with its solver, and for the largest piece what every
/// solver said: applies and at what cost, or why not. Several lines.
TESELA_API tesela_status tesela_plan_explain(const tesela_plan *plan, const tesela_writer *to,
                                             tesela_error *err);

/// Does a transform exist between two types? TESELA_TRANSFORM_CONVERT knows, and any type to itself:
///   f32, f16, bf16, each to each other   round to nearest, ties to even; overflow to infinity; NaN stays NaN
///   s8 <-> s4                            values outside -8..7 are clamped
///   s64, s16, s8 <-> s32; the same of u  to fewer bits the low ones are kept
///   pred of different widths             anything but 0 is true, true is 1
///   pred in 8 bits <-> f32, f16, bf16    true is 1; back, anything but 0 and -0 is true, NaN too
/// @return TESELA_OK; TESELA_E_MISMATCH, TESELA_E_UNSUPPORTED with the reason.
TESELA_API tesela_status tesela_transform_check(tesela_transform transform, tesela_dtype dst,
                                                int32_t dst_bits, tesela_dtype src, int32_t src_bits,
                                                tesela_error *err);

/* ---- a cache of plans --------------------------------------------------------------------------------------- */

/// Plans that were used last, for code that gets its layouts anew on each call. Any thread may use a cache.
typedef struct tesela_plan_cache tesela_plan_cache;

/// @param capacity  plans kept, 1 to 65536; the one not used for the longest time goes first
/// @return TESELA_OK; TESELA_E_RANGE; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_plan_cache_create(tesela_plan_cache **cache, int32_t capacity,
                                                  const tesela_allocator *allocator, tesela_error *err);

/// The plan for these layouts and options, from the cache or made now. Give it back with tesela_plan_destroy; it stays
/// valid until then even if the cache drops it or is destroyed.
/// About 150 ns for a hit. options->allocator is not used: the cache's is.
TESELA_API tesela_status tesela_plan_cache_get(tesela_plan_cache *cache, tesela_plan **plan,
                                               const tesela_layout *dst, const tesela_layout *src,
                                               const tesela_plan_options *options, tesela_error *err);

/// Hits and misses so far. Either pointer may be NULL.
TESELA_API void tesela_plan_cache_count(tesela_plan_cache *cache, int64_t *hits, int64_t *misses);

/// NULL is fine. No other thread may be inside a call on this cache.
TESELA_API void tesela_plan_cache_destroy(tesela_plan_cache *cache);

/*
 * ==== Questions about the values of a tensor that do not depend on its layout: are they equal, and a fingerprint
 *
 * Values are compared as bits: -0.0 and 0.0 differ, a NaN equals a NaN of the same bits.
 */

/// What tesela_values_compare found.
typedef struct tesela_values_difference {
  bool same;
  int64_t n_different;            ///< how many elements differ
  int64_t index[TESELA_MAX_RANK]; ///< the first one in row-major order, if not same
  int64_t place_a, place_b;       ///< where it lies in each
  uint8_t a[16], b[16];           ///< its bits, in the first bytes (below 8 bits: the low bits of the first)
} tesela_values_difference;

/// Do two buffers hold the same logical values?
///
/// Example: f32[3,5] row-major and the same values in {1,0:T(2,2)}: same, whatever the padding holds.
///
/// @param a, data_a  a layout with one axis and the address of its place 0; with replicas every copy must be equal
/// @return TESELA_OK; TESELA_E_MISMATCH if shapes, widths or types differ (a type may be absent);
///         TESELA_E_UNSUPPORTED for several axes or a width other than 1, 2, 4, 8, 16, 32, 64 or 128 bits.
/// O(elements), no allocation.
TESELA_API tesela_status tesela_values_compare(const tesela_layout *a, const void *data_a,
                                               const tesela_layout *b, const void *data_b,
                                               tesela_values_difference *difference, tesela_error *err);

/// A fingerprint of the logical values: the same for every layout of one tensor. It covers type, width, shape and the
/// bits of each element in row-major order, with replicas those of the first copy; padding does not count. 128 bits, not
/// cryptographic; src/relayout/values_digest.c defines it, for ever.
///
/// @param digest  receives 16 bytes
/// @return as tesela_values_compare. O(elements), no allocation.
TESELA_API tesela_status tesela_values_digest(const tesela_layout *layout, const void *data,
                                              uint8_t digest[16], tesela_error *err);

#ifdef __cplusplus
}
#endif

#endif
