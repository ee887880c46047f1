/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory planning: buffers with a size and a life get offsets in one arena.
 *
 * Time is counted in steps. A buffer lives from step `lower` up to, but not in, step `upper`: two buffers may share
 * bytes if one's upper is not above the other's lower. An offset is right if it is a multiple of the buffer's alignment
 * and no two buffers that live at one step overlap.
 *
 *   id  lower upper size         offset       two buffers of 4 that meet at no step share their bytes:
 *   a     0     3    4             0          peak 6, the most that lives at one step is 6 too (a and b, b and c)
 *   b     1     5    2             4
 *   c     3     6    4             0
 *
 * The least peak is hard to find in general (dynamic storage allocation). The planner places buffers by several orders,
 * improves the best by putting some in and others out, and searches exactly; `proven` says that no plan has a lower
 * peak. The least peak is never below the most bytes that live at one step (`bound`).
 */
#ifndef TESELA_ARENA_H
#define TESELA_ARENA_H

#include <tesela/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_ARENA_ID 64        ///< bytes of an id, the NUL included
#define TESELA_ARENA_FREE (-1)    ///< tesela_arena_buffer.offset: to be found
#define TESELA_ARENA_SPILLED (-2) ///< tesela_arena_buffer.offset: did not fit (options.spill)

/// One buffer. Sizes and offsets in bytes (or any one unit).
typedef struct tesela_arena_buffer {
  char id[TESELA_ARENA_ID];
  int64_t lower, upper; ///< lives at steps lower <= t < upper; lower == upper: never
  int64_t size;         ///< >= 0; a buffer of size 0, or that never lives, gets offset 0 if it is not fixed
  int64_t alignment;    ///< offset is a multiple of it; 0 means 1
  int64_t offset; ///< in: FREE (or SPILLED, which means the same), or a place it is fixed at; out: its place
  int64_t weight; ///< options.spill: what it is worth to keep it, such as bytes of traffic saved; >= 0
} tesela_arena_buffer;

typedef struct tesela_arena_options {
  int64_t capacity; ///< bytes: the first plan found that fits is taken; 0: the peak gets as small as can be
  int64_t effort;   ///< steps of search, about a microsecond each, never timed; 0: 2,000,000
  bool first_fit;   ///< only the first order, no search: what a naive planner does
  bool spill;       ///< a scratchpad: what does not fit is left out, as little weight as possible
  const tesela_allocator *allocator; ///< NULL: malloc and free
  tesela_progress *progress; ///< NULL: none; with steps of the part at hand, every 4096 of them or oftener
  void *progress_user;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_arena_options;

/// What a plan is, in numbers.
typedef struct tesela_arena_facts {
  int64_t peak;      ///< largest offset + size
  int64_t bound;     ///< no plan has a lower peak: `live`, or what fixed buffers or the search prove
  int64_t live;      ///< most bytes alive at one step
  int64_t total;     ///< sum of the sizes of all that ever live: an arena without reuse
  int64_t first_fit; ///< peak of the naive planner: in the order of `lower`, lowest offset that is free
  int64_t spilled;   ///< bytes of the buffers left out; peak, bound and live are then of those kept
  int32_t n_spilled;
  int64_t kept_weight; ///< sum of the weights of those kept
  bool proven;         ///< no plan has a lower peak (peak == bound); with spill: no plan keeps more weight
  int64_t effort;      ///< steps of search used
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_arena_facts;

/// Find an offset for every buffer.
///
/// Example: the three buffers above: offsets 0, 4, 0; peak 6, proven.
///
/// @param n        0 to 2^20
/// @param buffers  `offset` is written, all of them, only on success; the rest is only read, ids for messages
/// @param options  NULL: all zeros
/// @param facts    may be NULL
/// @return TESELA_OK; TESELA_E_RANGE for n, a negative size, alignment, weight, capacity or effort, upper < lower, an offset
///         below SPILLED; TESELA_E_INVALID for buffers fixed at overlapping places, unaligned, or beyond the capacity;
///         TESELA_E_LIMIT if no plan within `capacity` was found (never with spill): the message says whether there is
///         none (the bound is above it) or the search ended, and the best peak; TESELA_E_OVERFLOW if the sizes, each with
///         its alignment less 1, and the highest fixed place add up to 2^62 or more, or the weights do; TESELA_E_STOPPED;
///         TESELA_E_MEMORY.
/// Deterministic: equal buffers and options give equal plans on every machine. The work goes on until the peak is
/// proven or `effort` is spent, two seconds or so by default; `first_fit` is O(n log n). Buffers that never meet in time, and those
/// that live above or below all others, are planned apart. Problems of which one straight search would take more than an eighth
/// of `effort` (some 1,000 buffers, by default) are improved but not searched exactly. Memory is O(n), 0.4 KB a buffer or so.
TESELA_API tesela_status tesela_arena_plan(int32_t n, tesela_arena_buffer *buffers,
                                           const tesela_arena_options *options, tesela_arena_facts *facts,
                                           tesela_error *err);

/// Check a plan by the definition: alignment, no overlap of buffers that live at one step, capacity (0: any).
///
/// Spilled buffers are skipped; those that take up no bytes overlap nothing.
/// @return TESELA_OK; TESELA_E_INVALID names two buffers and the step at which they overlap, or the one that is unaligned,
/// unplaced or beyond the capacity; TESELA_E_RANGE as in tesela_arena_plan; TESELA_E_MEMORY. O(n log n).
TESELA_API tesela_status tesela_arena_check(int32_t n, const tesela_arena_buffer *buffers, int64_t capacity,
                                            const tesela_allocator *allocator, tesela_error *err);

/// Share of the arena that is not used at the step where the arena is fullest: 1 - live / peak; 0 for an empty one.
/// Example: peak 1280 with 1024 bytes alive at most: 0.2.
TESELA_API double tesela_arena_fragmentation(const tesela_arena_facts *facts);

/* ---- the CSV form of MiniMalloc ------------------------------------------------------------------------------ */

/// Read buffers from CSV text: a header line that names columns, then a line a buffer.
///
///   id,lower,upper,size            also `buffer`, `buffer_id` for id, `begin`, `start` for lower, `end` for upper, and the
///   b1,0,3,4                       optional columns alignment, offset, weight, hint, gaps; in any order.
///
/// `end` is the last step that is lived at, so upper = end + 1 in such a file; `upper` is past it. An offset of -1 is FREE,
/// -2 SPILLED, any other fixes the buffer. A hint (where another planner might begin) is read and not used. Gaps, steps within
/// a life at which a buffer needs no bytes, have to be empty. A field may stand in double quotes, "" within them is a quote.
///
/// @param text     `length` bytes of UTF-8; CRLF, a byte order mark, empty lines, spaces and tabs around fields and a missing
///                 last newline are fine
/// @param buffers  receives an array to release with tesela_arena_free; *n its length, at most 2^20
/// @return TESELA_OK; else err->at is the byte: TESELA_E_SYNTAX for a column missing, twice or unknown, a field missing or too
///         many, a number that is none or beyond int64, an id that is empty or longer than TESELA_ARENA_ID - 1 bytes, a quote
///         that does not close on its line, bytes that are no UTF-8, control characters; TESELA_E_RANGE for a negative size,
///         alignment or weight, an offset below -2, upper < lower; TESELA_E_INVALID for an id that stands twice;
///         TESELA_E_UNSUPPORTED for gaps; TESELA_E_LIMIT for more than 2^20 buffers; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_arena_read_csv(const char *text, size_t length, tesela_arena_buffer **buffers,
                                               int32_t *n, const tesela_allocator *allocator,
                                               tesela_error *err);
/// Release what tesela_arena_read_csv gave. NULL is fine.
TESELA_API void tesela_arena_free(tesela_arena_buffer *buffers, const tesela_allocator *allocator);

/// Write buffers as CSV: id,lower,upper,size, then alignment and weight if any buffer has one, then offset.
///
/// Reading it gives the same buffers back (an alignment of 0 may come back as 1), their offsets as fixed ones.
/// @return TESELA_OK; TESELA_E_INVALID for an id that tesela_arena_read_csv would refuse, before anything is written;
///         TESELA_E_STOPPED.
TESELA_API tesela_status tesela_arena_write_csv(int32_t n, const tesela_arena_buffer *buffers,
                                                const tesela_writer *to, tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
