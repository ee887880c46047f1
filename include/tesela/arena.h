/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory planning: buffers with a size and a life get offsets in one arena.
 *
 * Time is counted in steps. A buffer lives from step `lower` up to, but not including, step `upper`: two buffers may
 * share bytes if the upper of one is not above the lower of the other. Offsets are valid if each is a multiple of its
 * buffer's alignment and no two buffers that live at the same step overlap.
 *
 *   id  lower upper size         offset       a and c never live at the same step and share their bytes:
 *   a     0     3    4             0          peak 6; the most bytes alive at one step are 6 too (a and b, b and c)
 *   b     1     5    2             4
 *   c     3     6    4             0
 *
 * The least peak is hard to find in general (dynamic storage allocation). The planner places buffers in several orders,
 * improves the best result by exchanges, and searches exactly; `proven` means that no arena has a lower peak. The peak
 * is never below the most bytes that live at one step (`bound`).
 */
#ifndef TESELA_ARENA_H
#define TESELA_ARENA_H

#include <tesela/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_ARENA_ID 64        ///< bytes of an id, the NUL included
#define TESELA_ARENA_FREE (-1)    ///< tesela_arena_buffer.offset: find an offset
#define TESELA_ARENA_SPILLED (-2) ///< tesela_arena_buffer.offset: spilled (options.spill)

/// One buffer. Sizes and offsets in bytes (or any one unit).
typedef struct tesela_arena_buffer {
  char id[TESELA_ARENA_ID];
  int64_t lower, upper; ///< lives at steps lower <= t < upper; lower == upper: never
  int64_t size;         ///< >= 0; a buffer of size 0, or that never lives, gets offset 0 unless it is fixed
  int64_t alignment;    ///< offset is a multiple of it; 0 means 1
  int64_t offset;       ///< in: FREE (or SPILLED, which means the same), or a fixed offset; out: its offset
  int64_t weight;       ///< options.spill: the gain of keeping it, such as bytes of traffic saved; >= 0
} tesela_arena_buffer;

typedef struct tesela_arena_options {
  int64_t capacity; ///< bytes: stop at the first result that fits; 0: minimize the peak
  int64_t effort;   ///< steps of search, about a microsecond each, independent of time; 0: 2,000,000
  bool first_fit;   ///< only the first order, without search: the naive planner
  bool spill;       ///< for a scratchpad: spill buffers that do not fit, with the least total weight
  const tesela_allocator *allocator; ///< NULL: malloc and free
  tesela_progress *progress; ///< NULL: none; with steps of the current part, every 4096 of them or oftener
  void *progress_user;
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_arena_options;

/// Facts about an arena.
typedef struct tesela_arena_facts {
  int64_t peak;      ///< largest offset + size
  int64_t bound;     ///< lower bound of the peak: `live`, or more by fixed buffers or the search
  int64_t live;      ///< most bytes alive at one step
  int64_t total;     ///< sum of the sizes of all that ever live: an arena without reuse
  int64_t first_fit; ///< peak of the naive planner: in the order of `lower`, at the lowest free offset
  int64_t spilled;   ///< bytes of the spilled buffers; peak, bound and live are of those kept
  int32_t n_spilled;
  int64_t kept_weight; ///< sum of the weights of those kept
  bool proven;         ///< minimal peak (peak == bound); with spill: maximal kept weight
  int64_t effort;      ///< steps of search used
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_arena_facts;

/// Find an offset for every buffer.
///
/// Example: the three buffers above: offsets 0, 4, 0; peak 6, proven.
///
/// @param n        0 to 2^20
/// @param buffers  every `offset` is written, only on success; the other fields are read, ids for messages only
/// @param options  NULL: all zeros
/// @param facts    may be NULL
/// @return TESELA_OK; TESELA_E_RANGE for n, a negative size, alignment, weight, capacity or effort, upper < lower, an offset
///         below SPILLED; TESELA_E_INVALID for fixed buffers that overlap, are unaligned, or exceed the capacity;
///         TESELA_E_LIMIT if no result within `capacity` was found (never with spill): the message says whether it is
///         impossible (the bound is above it) or the search ended, and the best peak; TESELA_E_OVERFLOW if the sizes, each
///         plus its alignment less 1, and the highest fixed offset add up to 2^62 or more, or the weights do; TESELA_E_STOPPED;
///         TESELA_E_MEMORY.
/// Deterministic: equal buffers and options give equal offsets on every machine. The search ends when the peak is proven or
/// `effort` is spent, by default about two seconds; `first_fit` is O(n log n). Groups of buffers that never live at the same
/// step, and buffers above or below all others, are planned separately. If one exact search would need more than an eighth of
/// `effort` (by default about 1,000 buffers), it is skipped. Memory is O(n), about 0.4 KB per buffer.
TESELA_API tesela_status tesela_arena_plan(int32_t n, tesela_arena_buffer *buffers,
                                           const tesela_arena_options *options, tesela_arena_facts *facts,
                                           tesela_error *err);

/// Check offsets by definition: alignment, no overlap of buffers that live at the same step, capacity (0: any).
///
/// Spilled buffers are skipped; empty buffers overlap nothing.
/// @return TESELA_OK; TESELA_E_INVALID: the message names two buffers and the step at which they overlap, or the buffer that is
/// unaligned, unplaced or beyond the capacity; TESELA_E_RANGE as in tesela_arena_plan; TESELA_E_MEMORY. O(n log n).
TESELA_API tesela_status tesela_arena_check(int32_t n, const tesela_arena_buffer *buffers, int64_t capacity,
                                            const tesela_allocator *allocator, tesela_error *err);

/// The unused share of the arena at its fullest step: 1 - live / peak; 0 for an empty arena.
/// Example: peak 1280 with 1024 bytes alive at most: 0.2.
TESELA_API double tesela_arena_fragmentation(const tesela_arena_facts *facts);

/* ---- the CSV form of MiniMalloc ------------------------------------------------------------------------------ */

/// Read buffers from CSV text: a header line that names columns, then one line per buffer.
///
///   id,lower,upper,size            also `buffer`, `buffer_id` for id, `begin`, `start` for lower, `end` for upper, and the
///   b1,0,3,4                       optional columns alignment, offset, weight, hint, gaps; in any order.
///
/// `end` is the last step of a life, so upper = end + 1; `upper` is the step after it. An offset of -1 is FREE, -2 SPILLED, any
/// other fixes the buffer. A hint (a start for other planners) is read and ignored. Gaps (steps within a life at which a
/// buffer needs no bytes) must be empty. A field may be in double quotes, in which "" is a quote.
///
/// @param text     `length` bytes of UTF-8; CRLF, a byte order mark, empty lines, spaces and tabs around fields and a missing
///                 last newline are allowed
/// @param buffers  receives an array to release with tesela_arena_free; *n its length, at most 2^20
/// @return TESELA_OK; else err->at is the byte: TESELA_E_SYNTAX for a missing, repeated or unknown column, too few or too many
///         fields, an invalid number or one beyond int64, an id that is empty or longer than TESELA_ARENA_ID - 1 bytes, a
///         quote that is not closed on its line, invalid UTF-8, control characters; TESELA_E_RANGE for a negative size,
///         alignment or weight, an offset below -2, upper < lower; TESELA_E_INVALID for a repeated id;
///         TESELA_E_UNSUPPORTED for gaps; TESELA_E_LIMIT for more than 2^20 buffers; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_arena_read_csv(const char *text, size_t length, tesela_arena_buffer **buffers,
                                               int32_t *n, const tesela_allocator *allocator,
                                               tesela_error *err);
/// Release the array of tesela_arena_read_csv. NULL is allowed.
TESELA_API void tesela_arena_free(tesela_arena_buffer *buffers, const tesela_allocator *allocator);

/// Write buffers as CSV: id,lower,upper,size, then alignment and weight if any buffer has one, then offset.
///
/// Reading it gives the same buffers (an alignment of 0 may become 1) with their offsets fixed.
/// @return TESELA_OK; TESELA_E_INVALID for an id that tesela_arena_read_csv would refuse, before anything is written;
///         TESELA_E_STOPPED.
TESELA_API tesela_status tesela_arena_write_csv(int32_t n, const tesela_arena_buffer *buffers,
                                                const tesela_writer *to, tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
