/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - the padding in the arrays of a compiled program, from a stream of XLA's memory reports and HLO text.
 *
 *   tesela_report_create -> begin_input, feed, feed, ... -> finish -> totals, top, sections, notes
 *
 * Input, mixed with any other lines:
 *
 *   memory reports   printed by XLA when a program does not fit: the numbered list "Largest program
 *                    allocations in hbm:", the tables "Memory usage report:" of 2026, the list "Peak
 *                    buffers:", messages about a single array, and the totals around them; after any line
 *                    prefix, cut, repeated
 *   HLO text         instructions `%name = shape opcode(operands), attributes`, alone or in modules
 *   assignments      the values of a compiler's buffer assignment, only to identify the rows of memory reports
 *
 * They may contain terminal colours and HTML entities, be cut at the terminal's width, be one line with the two
 * characters \n for each newline (Python's repr, a JSON string), or mix lines of several processes that start with
 * their rank, host or pod; these are split by that prefix, and equal output of several processes counts once.
 *
 * Arrays of HLO text are counted once each:
 *
 *   1. The result of an instruction is an array in memory, unless its opcode only names memory that exists
 *      already (tuple, get-tuple-element, bitcast, while, every -done ...; tesela_report_opcode gives the
 *      reason for each). Of an asynchronous start only the destination counts; of a fusion or custom call with
 *      output_to_operand_aliasing only those results that are not an operand's memory.
 *   2. The entry computation counts; its parameters are the arguments. Any other computation counts only if a
 *      `while`, `conditional` or `call` of a counted computation names it; its parameters are its caller's
 *      arrays. So what a fusion, a reduction or a custom call computes inside never counts.
 *      Without it, the arguments and results of entry_computation_layout count.
 *   3. Computations named fused_... belong to fusions and are skipped. If the caller of a computation is
 *      unknown (the text ends before the entry computation, or the memory bound is exceeded while it waits for
 *      a caller) it counts unless its name contains "fus" or starts with "wrapped_"; a note says so.
 *   4. Instructions outside any computation, as profiles list them, count; their parameters are arguments.
 *
 * Totals of HLO text are the sum over arrays. They are not the peak: arrays that live at different times
 * share memory. Memory reports and HLO text are never added to each other.
 *
 *   stored   bytes that the compiler allocates for the shape (tesela_xla_sizes.allocated_bytes)
 *   data     bytes of the elements alone (tesela_xla_sizes.logical_bytes, at most stored)
 *   padding  stored - data; a range for an entry of uncertain shape
 *
 * Reading keeps distinct shapes, entries of memory reports and one unfinished line, each up to a limit; memory
 * does not grow with the length of the input. Sums beyond int64 stay at INT64_MAX and a note says so.
 */
#ifndef TESELA_REPORT_H
#define TESELA_REPORT_H

#include <tesela/xla.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- report rows and notes ------------------------------------------------------------------------------- */

/* symbol, name in JSON, words */
#define TESELA_REPORT_SOURCE_MAP(X)                         \
  X(TESELA_REPORT_MEMORY, "memory_report", "memory report") \
  X(TESELA_REPORT_HLO, "hlo", "HLO text")

#define TESELA_REPORT_ROLE_MAP(X)                                              \
  X(TESELA_REPORT_ALLOCATION, "allocation", "entry of a memory report")        \
  X(TESELA_REPORT_ARGUMENT, "argument", "parameter of the entry computation")  \
  X(TESELA_REPORT_CONSTANT, "constant", "constant of the program")             \
  X(TESELA_REPORT_COPY, "copy", "copy of an array, often into another layout") \
  X(TESELA_REPORT_RESULT, "result", "result of an operation")

/* Figures the compiler prints around its list. */
#define TESELA_REPORT_FIGURE_MAP(X)                                        \
  X(TESELA_REPORT_USED, "used", "used")                                    \
  X(TESELA_REPORT_CAPACITY, "capacity", "capacity")                        \
  X(TESELA_REPORT_EXCEEDED, "exceeded", "over capacity by")                \
  X(TESELA_REPORT_USAGE, "total_usage", "total usage at least")            \
  X(TESELA_REPORT_RESERVED, "reserved", "reserved")                        \
  X(TESELA_REPORT_PROGRAM, "program", "program")                           \
  X(TESELA_REPORT_ARGUMENTS, "arguments", "arguments")                     \
  X(TESELA_REPORT_OUTPUT, "output", "output")                              \
  X(TESELA_REPORT_SHARED, "shared", "output shared with arguments")        \
  X(TESELA_REPORT_REQUIREMENT, "requirement", "program requirement")       \
  X(TESELA_REPORT_GLOBAL, "global", "global")                              \
  X(TESELA_REPORT_SCOPED, "scoped", "scoped")                              \
  X(TESELA_REPORT_TEMP, "hlo_temp", "HLO temp")                            \
  X(TESELA_REPORT_TEMP_UNPADDED, "hlo_temp_unpadded", "HLO temp unpadded") \
  X(TESELA_REPORT_TEMP_PADDED, "hlo_temp_padded", "HLO temp padded")       \
  X(TESELA_REPORT_FRAGMENTATION, "fragmentation", "fragmentation")         \
  X(TESELA_REPORT_REQUESTED, "requested", "requested")                     \
  X(TESELA_REPORT_FREE, "free", "free")                                    \
  X(TESELA_REPORT_RESERVABLE, "reservable", "reservable")                  \
  X(TESELA_REPORT_IN_USE, "in_use", "in use")                              \
  X(TESELA_REPORT_MOST_IN_USE, "most_in_use", "in use at most")            \
  X(TESELA_REPORT_UNUSED, "reserved_unused", "reserved and unused")        \
  X(TESELA_REPORT_BEFORE, "before", "before rematerialization")            \
  X(TESELA_REPORT_CONSTANTS, "constants", "constants")                     \
  X(TESELA_REPORT_PROCESS, "process", "in use by the process")             \
  X(TESELA_REPORT_PRIVATE, "private_pools", "in private pools")            \
  X(TESELA_REPORT_ALLOWED, "allowed", "allowed")

/* Lines under "Stats:" in the dump of an allocator. symbol, name in JSON, word */
#define TESELA_REPORT_STAT_MAP(X)                                             \
  X(TESELA_REPORT_STAT_LIMIT, "limit_bytes", "Limit:")                        \
  X(TESELA_REPORT_STAT_IN_USE, "in_use_bytes", "InUse:")                      \
  X(TESELA_REPORT_STAT_MOST, "most_in_use_bytes", "MaxInUse:")                \
  X(TESELA_REPORT_STAT_ALLOCATIONS, "allocations", "NumAllocs:")              \
  X(TESELA_REPORT_STAT_LARGEST, "largest_allocation_bytes", "MaxAllocSize:")  \
  X(TESELA_REPORT_STAT_RESERVED, "reserved_bytes", "Reserved:")               \
  X(TESELA_REPORT_STAT_MOST_RESERVED, "most_reserved_bytes", "PeakReserved:") \
  X(TESELA_REPORT_STAT_LARGEST_FREE, "largest_free_block_bytes", "LargestFreeBlock:")

/* Why an allocator refused a request. symbol, name in JSON, meaning */
#define TESELA_REPORT_REFUSAL_MAP(X)                                                                  \
  X(TESELA_REPORT_REFUSAL_UNKNOWN, "unknown", "the text does not tell")                               \
  X(TESELA_REPORT_FRAGMENTED, "fragmented", "enough is free, but in pieces that are too small")       \
  X(TESELA_REPORT_REGIONS, "regions", "enough is free, but in several regions that cannot be joined") \
  X(TESELA_REPORT_OUTSIDE, "outside", "the device has no more memory, though the limit allows it")    \
  X(TESELA_REPORT_FULL, "full", "too little is free")                                                 \
  X(TESELA_REPORT_NEVER, "never", "more than the allocator may ever have")                            \
  X(TESELA_REPORT_FITS, "fits", "a free chunk is large enough: the dump shows another instant")

/* Notes that a reader of the answer needs. symbol, code in JSON, loud: it changes what the figures
 * mean. */
#define TESELA_REPORT_NOTE_MAP(X)                       \
  X(TESELA_REPORT_DISAGREE, "disagree", true)           \
  X(TESELA_REPORT_UNREADABLE, "unreadable_shape", true) \
  X(TESELA_REPORT_UNBOUNDED, "unbounded_shape", true)   \
  X(TESELA_REPORT_ONE_OF, "one_of", false)              \
  X(TESELA_REPORT_NO_TILE, "no_tile", false)            \
  X(TESELA_REPORT_NO_SHAPE, "no_shape", false)          \
  X(TESELA_REPORT_NO_SIZE, "no_size", false)            \
  X(TESELA_REPORT_CUT_ENTRY, "cut_entry", false)        \
  X(TESELA_REPORT_CUT_LINE, "cut_line", true)           \
  X(TESELA_REPORT_REPEATED, "repeated", false)          \
  X(TESELA_REPORT_SAME_MODULE, "same_module", true)     \
  X(TESELA_REPORT_BY_NAME, "counted_by_name", true)     \
  X(TESELA_REPORT_PASSED_OVER, "passed_over", true)     \
  X(TESELA_REPORT_TOO_MANY, "too_many", true)           \
  X(TESELA_REPORT_SATURATED, "saturated", true)         \
  X(TESELA_REPORT_MIXED, "mixed", true)                 \
  X(TESELA_REPORT_BROKEN, "broken_line", true)          \
  X(TESELA_REPORT_CUT_MODULE, "cut_module", true)       \
  X(TESELA_REPORT_NO_ENTRY, "no_entry", true)           \
  X(TESELA_REPORT_SPLIT, "split_by_prefix", false)      \
  X(TESELA_REPORT_JOINED, "joined_lines", false)        \
  X(TESELA_REPORT_NO_PEAK, "no_peak", false)            \
  X(TESELA_REPORT_NO_TILES, "no_tiles", false)          \
  X(TESELA_REPORT_NO_LAYOUTS, "no_layouts", true)       \
  X(TESELA_REPORT_RUNTIME, "runtime", false)

#define TESELA__ROW(symbol, ...) symbol,
typedef enum tesela_report_source {
  TESELA_REPORT_SOURCE_MAP(TESELA__ROW) TESELA_REPORT_N_SOURCES
} tesela_report_source;
typedef enum tesela_report_role {
  TESELA_REPORT_ROLE_MAP(TESELA__ROW) TESELA_REPORT_N_ROLES
} tesela_report_role;
typedef enum tesela_report_figure {
  TESELA_REPORT_FIGURE_MAP(TESELA__ROW) TESELA_REPORT_N_FIGURES
} tesela_report_figure;
typedef enum tesela_report_note_kind {
  TESELA_REPORT_NOTE_MAP(TESELA__ROW) TESELA_REPORT_N_NOTES
} tesela_report_note_kind;
typedef enum tesela_report_stat {
  TESELA_REPORT_STAT_MAP(TESELA__ROW) TESELA_REPORT_N_STATS
} tesela_report_stat;
typedef enum tesela_report_refusal {
  TESELA_REPORT_REFUSAL_MAP(TESELA__ROW) TESELA_REPORT_N_REFUSALS
} tesela_report_refusal;
#undef TESELA__ROW

/// The name in JSON: "memory_report", "copy", "hlo_temp". Static text; NULL for a number outside the list.
TESELA_API const char *tesela_report_source_name(tesela_report_source source);
TESELA_API const char *tesela_report_role_name(tesela_report_role role);
TESELA_API const char *tesela_report_figure_name(tesela_report_figure figure);
/// The words for people: "HLO temp unpadded".
TESELA_API const char *tesela_report_figure_text(tesela_report_figure figure);
/// "limit_bytes"; "fragmented".
TESELA_API const char *tesela_report_stat_name(tesela_report_stat stat);
TESELA_API const char *tesela_report_refusal_name(tesela_report_refusal refusal);

/// A number as the compiler printed it.
typedef struct tesela_report_printed {
  char text[16]; ///< "14.00G", "12.8x"; "" if it is not there
  int64_t bytes; ///< the text as bytes, 14.00G = 15032385536; -1 if it is missing or not a number of bytes
} tesela_report_printed;

/// Bits of tesela_report_array.disagree: which printed figure is not what the shape gives, rounded the same
/// way.
enum {
  TESELA_REPORT_SIZE_DIFFERS = 1,
  TESELA_REPORT_UNPADDED_DIFFERS = 2,
  TESELA_REPORT_EXTRA_DIFFERS = 4,
  TESELA_REPORT_EXPANSION_DIFFERS = 8,
};

/// A possible shape of an entry of a memory report: with some order of the dims and some tiles it has the bytes that the
/// compiler printed. Texts are owned by the report.
typedef struct tesela_report_candidate {
  const char *shape;     ///< "f32[32,8,4096,4096]" as in the text; a tuple means its table of pointers
  const char *fitted;    ///< with the first order and tiles that give the size; "" if not needed
  int64_t stored_bytes;  ///< of one array in this layout
  int64_t data_bytes;    ///< of one array in this layout, <= stored_bytes
  int64_t padding_bytes; ///< stored_bytes - data_bytes
  int32_t layouts;       ///< choices of the two most minor dims and the first tile that give the size, >= 1
} tesela_report_candidate;

/// An entry of a memory report, or all arrays of one shape and role in HLO text. Texts are owned by the report.
///
/// A row of a table is memory that several values share over time: "16.00GiB; 0; 3; bf16[3,32,4096,8,64],
/// 2×f32[32,8,4096,4096]". The shapes have no layout, and one of them has that size. If several can have it, the row has
/// candidates: f32[32,8,4096,4096] without padding, bf16[3,32,4096,8,64]{0,4,3,2,1:T(8,128)(2,1)} with 15.62 GiB of
/// padding. Then the stored bytes are known and the padding is a range. Optimized HLO text or a buffer assignment in the
/// same input decides, if it contains the type and dims of every candidate and only one candidate has these bytes
/// there.
typedef struct tesela_report_array {
  tesela_report_source source;
  tesela_report_role role;
  const char *shape; ///< "s32[29360128,10]{1,0:T(8,128)}" as in the text; "" if missing or ambiguous
  const char
      *fitted; ///< the shape with the tile that gives the compiler's size, if the text has no tile; or ""
  const char *name;       ///< instruction, "iota.2"; of several arrays the first; "" if unknown
  const char *opcode;     ///< "iota"; "" if unknown
  const char *op_name;    ///< operation of the user's program, "model/loss/one_hot"; "" if unknown
  const char *op_type;    ///< "OneHot"; "" if unknown
  const char *location;   ///< line of the user's program, "train.py:12"; "" if unknown
  const char *allocation; ///< allocation type of a memory report, "HLO temp"; "" if unknown
  int64_t count;          ///< arrays, >= 1
  int64_t stored_bytes;   ///< of one array
  int64_t data_bytes;     ///< of one array, <= stored_bytes
  bool data_known;        ///< false: data_bytes is an upper bound
  bool sized;             ///< the bytes are those of `shape` or `fitted`; else the compiler's rounded figures
  int32_t memory_space;   ///< S(n) of the shape; 0 is the device's main memory
  uint32_t disagree;      ///< TESELA_REPORT_*_DIFFERS
  tesela_report_printed size, unpadded, extra, expansion; ///< the compiler's figures
  int32_t section;                                        ///< tesela_report_section_at
  int32_t input;                                          ///< tesela_report_input_at
  int64_t line;                                           ///< line of the first, from 1
  int64_t least_padding_bytes, most_padding_bytes;        ///< of one array; equal if the padding is known
  const char *listed; ///< the shapes of a table's row as in the text, at most 1000 bytes; else ""
  /// n_candidates shapes, likeliest first: the default order before others, then the least padding.
  const tesela_report_candidate *candidate;
  int32_t n_candidates; ///< 0 if the shape is certain or unknown; 1 only for an incomplete row
  int32_t layouts;      ///< of `fitted`, as tesela_report_candidate.layouts; 1 if the text has the layout
  /// `fitted` is padded for the same reasons in all these layouts, so tesela_report_reasons holds.
  bool explained;
  bool decided;    ///< HLO text or a buffer assignment decided the candidate or layout
  bool incomplete; ///< a part of the row is unreadable or missing; it may hold the shape with the size
  bool granule;    ///< a scalar or tuple table that the allocator rounded up to its least allocation
} tesela_report_array;

/// Chunks of one size that an allocator has given away: "145 Chunks of size 256".
typedef struct tesela_report_chunks {
  int64_t bytes, count; ///< of one chunk; how many
  const char *op;       ///< the operation of the first, where the dump names it; ""
} tesela_report_chunks;

/// A bin of the BFC allocator: chunks of `from_bytes` up to the next bin. The figures are as printed, rounded.
typedef struct tesela_report_bin {
  int64_t from_bytes, chunks, in_use;               ///< numbers of chunks, and of those in use
  tesela_report_printed allocated, used, requested; ///< all chunks; those in use; what was asked for
} tesela_report_bin;

/// A cell of PyTorch's memory_summary(): "12345 MiB" means 12345 * 2^20 <= true value < 12346 * 2^20.
typedef struct tesela_report_cell {
  char text[16];       ///< as printed
  int64_t value, step; ///< value <= true value < value + step; -1 and 0 if it is missing
} tesela_report_cell;

/// A row of it.
typedef struct tesela_report_metric {
  const char *name; ///< as memory_stats() has it: "allocated_bytes", "segment"
  const char *pool; ///< "all", "large_pool", "small_pool"
  bool bytes;       ///< bytes; else a number of blocks
  tesela_report_cell now, peak, allocated, freed;
} tesela_report_metric;

/// An allocator at run time: what its message, its dump or its summary says. Bytes and numbers are -1 where the text lacks them.
///
/// Example: "ran out of memory trying to allocate 512.00MiB", and a dump with free chunks of 300 MiB and 200 MiB in one region and of
/// 100 MiB in another: requested_bytes 536870912, free_chunks 3, free_bytes 629145600, largest_free_bytes 314572800,
/// region_free_bytes 524288000, why TESELA_REPORT_REGIONS: not even a region without fragments could hold it.
typedef struct tesela_report_pool {
  tesela_report_refusal why;
  char words[320], instead[200];   ///< one sentence with the figures; what helps; "" if `why` is not known
  int64_t requested_bytes;         ///< rounded up by the allocator where it says so
  int64_t limit_bytes, pool_bytes; ///< that it may have; that it has from the device
  int64_t in_use_bytes, in_use_chunks;
  int64_t free_bytes, free_chunks;    ///< in the pool
  int64_t largest_free_bytes;         ///< the largest piece; if !largest_known at most this
  int64_t region_free_bytes, regions; ///< the most that is free in one region
  bool largest_known;
  bool
      exact; ///< from a list of chunks that agrees with bins, sizes and Stats; else rounded, or without bins to compare with
  int64_t device, ooms, retries; ///< of PyTorch's summary
  int64_t stat[TESELA_REPORT_N_STATS];
  int64_t n_bins, n_sizes, n_metrics;
  const tesela_report_bin *bin;     ///< those with chunks
  const tesela_report_chunks *size; ///< in use; the sizes that take most first
  const tesela_report_metric *metric;
} tesela_report_pool;

/// One memory report, or one HLO module (or the instructions outside any). Texts are owned by the report.
typedef struct tesela_report_section {
  tesela_report_source source;
  const char *name; ///< memory space "hbm" of a report, name of a module; "" if unknown
  int32_t input;    ///< tesela_report_input_at
  int64_t line;     ///< its first line
  int64_t arrays;   ///< arrays in it, including those that an earlier report has too
  int64_t stored_bytes, data_bytes;
  int64_t least_padding_bytes, most_padding_bytes;
  int64_t repeated; ///< entries that an earlier report has too; the grand total counts them once
  int64_t n_arguments, argument_bytes,
      argument_data_bytes;                               ///< from entry_computation_layout; n is -1 without
  int64_t n_results, result_bytes, result_data_bytes;    ///< likewise
  tesela_report_printed figure[TESELA_REPORT_N_FIGURES]; ///< the compiler's figures
  const tesela_report_pool *pool;                        ///< of an allocator at run time; else NULL
} tesela_report_section;

/// One kind of note, with its number of cases and the first of them.
typedef struct tesela_report_note {
  tesela_report_note_kind kind;
  const char *code; ///< "disagree"
  bool loud;        ///< it changes the meaning of the figures
  int64_t count;    ///< cases
  int32_t input;    ///< of the first case
  int64_t line;     ///< of the first case, 0 if it has none
  char text[320];   ///< one sentence with the figures of the first case
} tesela_report_note;

typedef struct tesela_report_totals {
  int64_t arrays; ///< arrays in memory
  int64_t rows;   ///< entries tesela_report_top can return
  int64_t stored_bytes, data_bytes;
  int64_t padding_bytes;                 ///< at least
  int64_t unknown_arrays, unknown_bytes; ///< arrays without data_known, and what they store
  int64_t most_padding_bytes;            ///< padding_bytes where the padding of every array is known
  int64_t reserved[4];                   ///< 0: room to grow (base.h)
} tesela_report_totals;

/* ---- reading ------------------------------------------------------------------------------------------- */

/// A report. Owns memory; one thread at a time until finish, then any number of threads may read it.
typedef struct tesela_report tesela_report;

/// Limits; 0 takes the default.
typedef struct tesela_report_options {
  int64_t line_bytes; ///< a longer line is cut there: 16 MiB
  int64_t shapes;     ///< distinct shape texts that are kept: 1048576; more are counted but not listed
  int64_t entries;    ///< entries of memory reports that are kept: 65536; more are counted but not listed
  int64_t waiting;    ///< distinct (computation, shape) pairs that wait for a caller in a module: 262144
  int64_t peak; ///< 1: keep the instructions of a scheduled module until its end, to find its peak; 0: do not
  int64_t reserved[4]; ///< 0: room to grow (base.h)
} tesela_report_options;

/// @param options    NULL: defaults
/// @param allocator  NULL: malloc and free; must outlive the report
/// @return TESELA_OK; TESELA_E_MEMORY; TESELA_E_RANGE for a negative limit.
TESELA_API tesela_status tesela_report_create(tesela_report **report, const tesela_report_options *options,
                                              const tesela_allocator *allocator, tesela_error *err);

/// Start another file: ends an unfinished line, entry and module. `name` is copied. Optional before the
/// first feed.
TESELA_API tesela_status tesela_report_begin_input(tesela_report *report, const char *name,
                                                   tesela_error *err);

/// Read the next `length` bytes; any bytes, cut anywhere: the result does not depend on the cuts.
///
/// Example: "%iota.2 = s32[29360128,10]{1,0:T(8,128)} iota(), iota_dimension=1\n" adds one array of 14.00 GiB
/// with 1.09 GiB of data.
///
/// @return TESELA_OK; TESELA_E_MEMORY: the report can only be destroyed then; TESELA_E_INVALID after finish.
/// About 1 GB/s for HLO text (bench/bench_report.c).
TESELA_API tesela_status tesela_report_feed(tesela_report *report, const char *bytes, size_t length,
                                            tesela_error *err);

/// Recognize input that is not a compiler's text, by its first bytes: compressed data, UTF-16, MLIR, protobuf,
/// arrays and models, any other binary data.
///
/// Example: "\x1f\x8b..." -> "gzip data", *instead "decompress it first: zcat FILE".
///
/// @param bytes    the start of the input; up to 4096 bytes are read
/// @param instead  receives a remedy, with "FILE" for the file's name; static text, also set if the result is NULL
/// @return static text; NULL: it may be a report or HLO text. tesela_report_feed accepts any bytes anyway.
TESELA_API const char *tesela_report_foreign(const char *bytes, size_t length, const char **instead);

/// End the input. The functions below may be called only after this.
/// @return TESELA_OK; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_report_finish(tesela_report *report, tesela_error *err);
TESELA_API void tesela_report_destroy(tesela_report *report);

/* ---- answers ------------------------------------------------------------------------------------------- */

#define TESELA_REPORT_ANY INT32_MIN

/// Which arrays a question is about; TESELA_REPORT_ANY for all of them.
typedef struct tesela_report_filter {
  int32_t source; ///< a tesela_report_source
  int32_t role;   ///< a tesela_report_role
  int32_t space;  ///< a memory space
} tesela_report_filter;

typedef enum tesela_report_order {
  TESELA_REPORT_BY_WASTE,     ///< least padding bytes of all arrays of the row
  TESELA_REPORT_BY_SIZE,      ///< stored bytes of all arrays of the row
  TESELA_REPORT_BY_EXPANSION, ///< stored / data
} tesela_report_order;

/// Sums over the arrays of a filter (NULL: all, memory reports and HLO text together). O(rows).
TESELA_API tesela_report_totals tesela_report_total(const tesela_report *report,
                                                    const tesela_report_filter *filter);

/// The first `capacity` rows in an order, ties in order of size and appearance. top[i] belong to the report.
/// *n receives how many were written. O(rows log capacity), no allocation.
TESELA_API void tesela_report_top(const tesela_report *report, const tesela_report_filter *filter,
                                  tesela_report_order order, int64_t capacity,
                                  const tesela_report_array **top, int64_t *n);

TESELA_API int64_t tesela_report_n_sections(const tesela_report *report);
TESELA_API const tesela_report_section *tesela_report_section_at(const tesela_report *report, int64_t i);
/// The first section of that name, of any source, from section `from` on; -1 without one, and before tesela_report_finish. Example: 0 for
/// the first "jit_step", then 3 from 1 on. O(log sections).
TESELA_API int64_t tesela_report_find_section(const tesela_report *report, const char *name, int64_t from);
TESELA_API int64_t tesela_report_n_notes(const tesela_report *report);
TESELA_API const tesela_report_note *tesela_report_note_at(const tesela_report *report, int64_t i);

/// One input.
typedef struct tesela_report_input {
  const char *name; ///< as given to begin_input, "" without
  int64_t bytes, lines;
  int64_t sections, arrays; ///< found in it; no section: nothing was recognised
} tesela_report_input;
TESELA_API int64_t tesela_report_n_inputs(const tesela_report *report);
TESELA_API const tesela_report_input *tesela_report_input_at(const tesela_report *report, int64_t i);

/* ---- peaks --------------------------------------------------------------------------------------------- */

/// The most memory that a program needs at one time in one memory space. With options.peak and a schedule
/// (is_scheduled=true in the module's header) it is known:
///
///   arguments and results are there from the first instant to the last; a donated argument and its result are one;
///   a temporary lives from its instruction to its last use; tuple, get-tuple-element, bitcast and the like define none;
///   dynamic-update-slice, fusions rooted in one, output_to_operand_aliasing, the operands that the compiler lists as aliases, and
///   elementwise operations without such a list write over an operand that dies there;
///   init, parameter, root and result of a loop share memory, and so do the results of branches;
///   while the memory of a result is idle, temporaries of 64 KiB or more use it, the largest first.
///
/// Example: %b = f32[1024,1024] negate(%a) of an argument %a, then ROOT %c = dot(%b, %b): 4 MiB of arguments, 4 MiB of results
/// and 4 MiB of temporaries are 12 MiB, at the instant of %c.
///
/// Fragmentation is not part of it: an allocator can need more.
typedef struct tesela_report_peak {
  int32_t section;                 ///< tesela_report_section_at; -1: all HLO text together
  int32_t space;                   ///< n of S(n); 0 is the device's main memory
  int64_t least_bytes, most_bytes; ///< equal if the peak is known; else the largest array and the sum
  int64_t argument_bytes, output_bytes, temporary_bytes; ///< parts of a known peak
  int64_t at;              ///< its first instant, from 0; -1 if the peak is not known
  int64_t instants;        ///< instructions that run, those of loops and branches once
  const char *instruction; ///< that runs at the peak; "" if it is not known
  int64_t line;            ///< of the instruction
  bool lives;              ///< tesela_report_buffer_at and tesela_report_timeline are about this section
  int64_t reserved[4];
} tesela_report_peak;

/// Peaks of each scheduled module, in the order of their sections, the main memory of each first. O(1).
TESELA_API int64_t tesela_report_n_peaks(const tesela_report *report);
TESELA_API const tesela_report_peak *tesela_report_peak_at(const tesela_report *report, int64_t i);

/// The peak of a memory space. HLO text: the highest of the scheduled modules; if there is a module without a known peak, an
/// interval from the largest array, or the highest known peak, to the sum of all arrays. Memory reports: an interval from the largest
/// end of an entry (its offset, if it has one, and its size) to the sum of the entries, or to INT64_MAX if some have no offset, since
/// a list has only the largest; the figures that the compiler printed are in the sections. Returns false if there is no array in that
/// space. O(rows).
TESELA_API bool tesela_report_highest_peak(const tesela_report *report, tesela_report_source source,
                                           int32_t space, tesela_report_peak *peak);

typedef enum tesela_report_buffer_role {
  TESELA_REPORT_BUFFER_ARGUMENT,
  TESELA_REPORT_BUFFER_OUTPUT,
  TESELA_REPORT_BUFFER_DONATED, ///< an argument that becomes a result
  TESELA_REPORT_BUFFER_CONSTANT,
  TESELA_REPORT_BUFFER_TABLE, ///< of a tuple
  TESELA_REPORT_BUFFER_TEMPORARY,
} tesela_report_buffer_role;

/// Memory of one or several arrays in turn. Texts are owned by the report.
typedef struct tesela_report_buffer {
  tesela_report_buffer_role role;
  int32_t space;
  int64_t bytes;           ///< of its largest array
  const char *instruction; ///< that makes the largest array
  char
      member[24]; ///< "{1,0}": the place of the array in the instruction's tuple; "" without; cut at 23 bytes
  const char *shape; ///< of the instruction; of a tuple the largest array alone, with shape_bytes of its text
  int64_t shape_bytes; ///< bytes of `shape` that are the array's
  int64_t from, to;    ///< first and last instant at which one of its arrays lives
  int64_t spans;       ///< disjoint spans of time in which its arrays live: tesela_report_buffer_span
  int64_t inside;      ///< the buffer whose memory it uses, -1: its own
  int64_t line;
  /// Of the user's program: "jit(step)/head/dot_general", "train.py:12"; "" if unknown, or if the array has less than a thousandth of
  /// the largest array's bytes.
  const char *op_name, *location;
  int64_t reserved[4]; ///< 0
} tesela_report_buffer;

/// Buffers of the scheduled module with the highest peak in the main memory, in the order of their first instants. O(1), the shape of
/// a tuple's member O(its text).
TESELA_API int64_t tesela_report_n_buffers(const tesela_report *report);
/// @return TESELA_OK; TESELA_E_RANGE for a number outside 0 to n - 1.
TESELA_API tesela_status tesela_report_buffer_at(const tesela_report *report, int64_t i,
                                                 tesela_report_buffer *buffer, tesela_error *err);
/// Write the first `capacity` spans of a buffer as pairs: span[2 * k] is the first instant, span[2 * k + 1] the last. *n receives how
/// many there are. Arguments and results keep their memory between their spans.
TESELA_API tesela_status tesela_report_buffer_spans(const tesela_report *report, int64_t i, int64_t capacity,
                                                    int64_t *span, int64_t *n, tesela_error *err);
/// The first `capacity` buffers that need memory at the peak of a space, the largest first; those inside others count as theirs. *n
/// receives how many were written. O(buffers log capacity).
TESELA_API tesela_status tesela_report_alive(const tesela_report *report, int32_t space, int64_t capacity,
                                             int64_t *buffer, int64_t *n, tesela_error *err);
/// The bytes of a space at each of `instants` instants (tesela_report_peak.instants of the module), arguments and results included.
/// @return TESELA_OK; TESELA_E_INVALID without a scheduled module; TESELA_E_MISMATCH for another number of instants.
TESELA_API tesela_status tesela_report_timeline(const tesela_report *report, int32_t space, int64_t instants,
                                                int64_t *bytes, tesela_error *err);

/* ---- reasons and advice -------------------------------------------------------------------------------- */

/// Print the reasons for the padding of a shape, one line each:
///
///   s32[29360128,10]{1,0:T(8,128)}:  "dim 1 (10) is minor and fills 10 of 128 lanes: x12.8"
///
/// Prints nothing for a shape without padding.
/// @return TESELA_OK; as tesela_xla_padding; TESELA_E_STOPPED.
TESELA_API tesela_status tesela_report_reasons(const tesela_xla_shape *shape, const tesela_writer *to,
                                               tesela_error *err);

typedef enum tesela_report_advice_kind {
  TESELA_REPORT_ADVICE_ORDER,  ///< the same dims and tiles in another order
  TESELA_REPORT_ADVICE_FORMAT, ///< the same dims, another standard tile format, perhaps another order
  TESELA_REPORT_ADVICE_MERGE,  ///< neighbouring dims made one
} tesela_report_advice_kind;

/// A shape with the same elements that needs less memory.
typedef struct tesela_report_advice {
  tesela_report_advice_kind kind;
  tesela_xla_shape shape;
  int64_t bytes; ///< its size
  int64_t saved; ///< bytes less than the given shape, > 0
} tesela_report_advice;

#define TESELA_REPORT_MAX_ADVICE 3

/// The best shape of each kind, most bytes saved first. A shape must be smaller by 1 % or more; a shape of a more
/// expensive kind must also be that much smaller than the shape of the cheaper kind.
///
/// Example: s32[29360128,10]{1,0:T(8,128)} -> {0,1:T(8,128)}, 1.75 GiB instead of 14.00 GiB.
///
/// @return TESELA_OK; as tesela_xla_size. O(rank^2) sizes, no allocation.
TESELA_API tesela_status tesela_report_advise(const tesela_xla_shape *shape,
                                              tesela_report_advice advice[TESELA_REPORT_MAX_ADVICE],
                                              int32_t *n, tesela_error *err);

/// Print advice: "dim 0 minor", "merge dims 1,2: 8*4 = 32".
TESELA_API tesela_status tesela_report_advice_words(const tesela_xla_shape *from,
                                                    const tesela_report_advice *advice,
                                                    const tesela_writer *to, tesela_error *err);

/* ---- what to change ------------------------------------------------------------------------------------ */

/* What can be done about an array: symbol, class, name, words. The classes: a, what the user sets; b, other dims in the program; c, a
 * constraint on one result; d, nothing. A compiler orders the dims of its results itself, so for those only b and c help. */
#define TESELA_REMEDY_MAP(X)                                                                          \
  X(TESELA_REMEDY_ORDER, 'a', "order", "another order of the dims")                                   \
  X(TESELA_REMEDY_TAKE, 'b', "take", "rows taken by their numbers, without a one-hot array")          \
  X(TESELA_REMEDY_PRODUCTS, 'b', "products", "products of small matrices as sums of products")        \
  X(TESELA_REMEDY_CHANNELS, 'b', "channels", "a convolution of few channels with pixels as channels") \
  X(TESELA_REMEDY_INDICES, 'b', "indices", "one array for each dim that is indexed")                  \
  X(TESELA_REMEDY_COMPONENTS, 'b', "components", "one array for each index of the small dims")        \
  X(TESELA_REMEDY_PACK, 'b', "pack", "several rows side by side")                                     \
  X(TESELA_REMEDY_MERGE, 'b', "merge", "neighbouring dims as one")                                    \
  X(TESELA_REMEDY_CONSTRAIN, 'c', "constrain", "another order of the dims of one result")             \
  X(TESELA_REMEDY_NONE, 'd', "none", "no other layout helps: shard it, smaller batches, or compute again")

#define TESELA__ROW(symbol, ...) symbol,
typedef enum tesela_remedy_kind { TESELA_REMEDY_MAP(TESELA__ROW) TESELA_REMEDY_N_KINDS } tesela_remedy_kind;
#undef TESELA__ROW

/// "components". Static text; NULL for a number outside the list, as the words. The class is 'a' to 'd', or 0.
TESELA_API const char *tesela_remedy_name(tesela_remedy_kind kind);
TESELA_API const char *tesela_remedy_words(tesela_remedy_kind kind);
TESELA_API char tesela_remedy_class(tesela_remedy_kind kind);

/// Arrays of one shape and role: of a schedule, those that need a memory at its peak. Texts are owned by the report.
typedef struct tesela_report_culprit {
  const char *shape; ///< not ended: shape_bytes of it
  int64_t shape_bytes;
  tesela_report_buffer_role role;
  const char *name;          ///< the first one's instruction, or ""
  const char *op_name;       ///< of the user's program, or ""
  const char *location;      ///< "train.py:12" or ""
  int64_t count;             ///< arrays
  int64_t bytes, data_bytes; ///< of all of them; data_bytes without padding
  bool lives;                ///< of a schedule
  int32_t space;             ///< n of S(n)
  int64_t reserved[1];       ///< 0: room to grow (base.h)
} tesela_report_culprit;

/// The arrays of a memory, most padding first, then most bytes: those alive at its peak in the scheduled module with the highest peak, if
/// there is one; else, for space 0, the rows of HLO text, else of memory reports. Padding in the vector memory, space 1, costs time and
/// no bytes of the main memory. *n receives how many were written. O(rows capacity), no allocation.
///
/// @return TESELA_OK; TESELA_E_INVALID for a missing argument.
TESELA_API tesela_status tesela_report_culprits(const tesela_report *report, int32_t space, int64_t capacity,
                                                tesela_report_culprit *culprit, int64_t *n,
                                                tesela_error *err);

typedef struct tesela_report_remedy {
  tesela_remedy_kind kind;
  tesela_xla_shape from, to; ///< to: as a TPU compiler would place it
  int64_t arrays;            ///< of the shape `to` in place of one; 0: it is not made
  int64_t bytes;             ///< of all of them
  int64_t peak_bytes; ///< of the culprit's memory, with this change alone, at most; -1 without a schedule
  int64_t few; ///< of rows taken by [m, k] numbers: k, which are apart, too; 0: the dims of `from` alone
  int64_t reserved[1]; ///< 0: room to grow (base.h)
} tesela_report_remedy;

#define TESELA_REPORT_MAX_REMEDIES TESELA_REMEDY_N_KINDS

/// What can be done about a culprit, that which leaves the fewest bytes first; of those within 10 % the first of TESELA_REMEDY_MAP. Each
/// saves 5 % of the culprit's bytes or more and, of a schedule, 5 % of the peak, an eighth of that of the vector memory; if nothing does the only one is TESELA_REMEDY_NONE.
/// Savings of several culprits do not add: each peak is that of one change.
///
/// A constraint on a result that no copy, reshape or slice makes is a copy: of a schedule one of the arrays that are alike stays as it is
/// at the peak, and where there is but one, none is advised. Nor is one of an array with the dims of what a custom call returns: that has
/// an order of its own.
///
/// Example: two temporaries f32[1000000,3]{1,0:T(8,128)} of 488 MiB each, alone: components, 6 arrays f32[1000000]{0:T(1024)},
/// 22.9 MiB; constrain, {0,1:T(4,128)}, 30.5 MiB, and 518.8 MiB at the peak.
///
/// @return TESELA_OK; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_report_remedies(const tesela_report *report,
                                                const tesela_report_culprit *culprit,
                                                tesela_report_remedy remedy[TESELA_REPORT_MAX_REMEDIES],
                                                int32_t *n, tesela_error *err);

/// Print the change as lines of code, "p0, p1, p2 = (p[:, k] for k in range(3))": for PyTorch/XLA if the operation's name is one of
/// that, else for JAX. Nothing for TESELA_REMEDY_NONE.
TESELA_API tesela_status tesela_report_remedy_code(const tesela_report_culprit *culprit,
                                                   const tesela_report_remedy *remedy,
                                                   const tesela_writer *to, tesela_error *err);

/// The peak of a memory if n buffers had other bytes: buffer[i], ascending, had bytes[i]. Temporaries that used the memory of one
/// that is now smaller get their own, so it is an upper bound. O(buffers + instants), and as much memory.
///
/// Example: peak 12 MiB of 4 of arguments, 4 of results and 4 of a temporary: with 1 MiB for that it is 9 MiB.
///
/// @return TESELA_OK; TESELA_E_INVALID without a schedule; TESELA_E_RANGE for a buffer out of range, or negative bytes;
/// TESELA_E_MEMORY.
TESELA_API tesela_status tesela_report_replay(const tesela_report *report, int32_t space, int64_t n,
                                              const int64_t *buffer, const int64_t *bytes, int64_t *peak,
                                              tesela_error *err);

/// The number of results of an opcode that are separate arrays, and the reason.
typedef enum tesela_report_counts {
  TESELA_REPORT_COUNTS_ALL,    ///< every array of the result
  TESELA_REPORT_COUNTS_NONE,   ///< the result is memory that exists already
  TESELA_REPORT_COUNTS_FIRST,  ///< member 0 of the result tuple
  TESELA_REPORT_COUNTS_SECOND, ///< member 1 of the result tuple
} tesela_report_counts;
typedef struct tesela_report_opcode_rule {
  tesela_report_counts counts;
  tesela_report_role role;
  const char *reason; ///< one line
} tesela_report_opcode_rule;
/// The rule for an opcode text: "bitcast" -> none, "the same memory seen as another shape".
TESELA_API tesela_report_opcode_rule tesela_report_opcode(const char *opcode, size_t length);

/* ---- two reports --------------------------------------------------------------------------------------- */

typedef enum tesela_report_change_kind {
  TESELA_REPORT_CHANGED_LAYOUT, ///< same type and dims, another order, tile or memory space
  TESELA_REPORT_CHANGED_SIZE,   ///< same instruction or operation, other type or dims
  TESELA_REPORT_CHANGED_COUNT,  ///< same shape, more or fewer arrays of it
  TESELA_REPORT_GONE,           ///< only before
  TESELA_REPORT_NEW,            ///< only after
} tesela_report_change_kind;

typedef struct tesela_report_change {
  tesela_report_change_kind kind;
  int64_t count;                     ///< arrays concerned; of a change of count the difference, > 0
  const tesela_report_array *before; ///< NULL for NEW; belongs to the report
  const tesela_report_array *after;  ///< NULL for GONE
  int64_t bytes;                     ///< stored bytes after minus before, all arrays concerned
} tesela_report_change;

/// The arrays that changed, largest change of bytes first. Refers to both finished reports, which must
/// outlive it.
typedef struct tesela_report_diff tesela_report_diff;

/// Compare arrays of one source and role with each other: first equal shapes, then equal type and dims
/// (matched by operation and instruction names where several fit), then equal names with other dims.
/// @param filter  NULL: all
/// @return TESELA_OK; TESELA_E_MEMORY. O(rows log rows).
TESELA_API tesela_status tesela_report_diff_create(tesela_report_diff **diff, const tesela_report *before,
                                                   const tesela_report *after,
                                                   const tesela_report_filter *filter,
                                                   const tesela_allocator *allocator, tesela_error *err);
TESELA_API void tesela_report_diff_destroy(tesela_report_diff *diff);
TESELA_API int64_t tesela_report_diff_count(const tesela_report_diff *diff);
TESELA_API const tesela_report_change *tesela_report_diff_at(const tesela_report_diff *diff, int64_t i);
/// "layout", "size", "count", "gone", "new". NULL for a number outside the list.
TESELA_API const char *tesela_report_change_name(tesela_report_change_kind kind);

/* ---- a compiler's records of a program ------------------------------------------------------------------ */

/// What lies beside the HLO text in a folder of --xla_dump_to or --xla_jf_dump_to. symbol, name in JSON, words
#define TESELA_RECORD_MAP(X)                                                                 \
  X(TESELA_RECORD_NONE, "none", "no record")                                                 \
  X(TESELA_RECORD_HLO, "hlo", "HLO text")                                                    \
  X(TESELA_RECORD_ASSIGNMENT, "buffer_assignment", "buffer assignment")                      \
  X(TESELA_RECORD_VALUES, "values", "values of the buffer assignment")                       \
  X(TESELA_RECORD_LIVE_RANGE, "live_range", "live ranges")                                   \
  X(TESELA_RECORD_USAGE, "memory_usage", "memory usage report")                              \
  X(TESELA_RECORD_SPACE_BUFFERS, "space_buffers", "memory space assignment: buffers")        \
  X(TESELA_RECORD_SPACE_ALLOCATIONS, "space_allocations", "memory space assignment: places") \
  X(TESELA_RECORD_SPACE_SCHEDULE, "space_schedule", "memory space assignment: schedule")     \
  X(TESELA_RECORD_PROTO, "hlo_proto", "HloProto")                                            \
  X(TESELA_RECORD_PROFILE, "profile", "profile (XSpace) with the HloProtos of its programs")

/// Where two records of one program, or a record and a shape, do not say the same. symbol, name in JSON, words
#define TESELA_RECORD_DIFFERENCE_MAP(X)                                                      \
  X(TESELA_RECORD_BROKEN, "broken", "a record cannot be read to its end")                    \
  X(TESELA_RECORD_TOTAL, "total", "the compiler's total and the sum of its allocations")     \
  X(TESELA_RECORD_OUTSIDE, "outside", "a buffer ends outside its allocation")                \
  X(TESELA_RECORD_SIZE, "size", "the bytes of a buffer and those of its shape")              \
  X(TESELA_RECORD_SPACE, "usage", "memory usage report and buffer assignment")               \
  X(TESELA_RECORD_LAYOUT, "layout", "the shape of a buffer and that of its instruction")     \
  X(TESELA_RECORD_UNNAMED, "unnamed", "an instruction that the HLO text does not have")      \
  X(TESELA_RECORD_UNSCHEDULED, "unscheduled", "a buffer of temporary memory without a life") \
  X(TESELA_RECORD_BINARY, "proto", "HloProto and the text of the same module")               \
  X(TESELA_RECORD_PEAK, "peak", "the peak of the records and that of the HLO text")

#define TESELA__ROW(symbol, ...) symbol,
typedef enum tesela_record_kind { TESELA_RECORD_MAP(TESELA__ROW) TESELA_RECORD_N_KINDS } tesela_record_kind;
typedef enum tesela_record_difference_kind {
  TESELA_RECORD_DIFFERENCE_MAP(TESELA__ROW) TESELA_RECORD_N_DIFFERENCES
} tesela_record_difference_kind;
#undef TESELA__ROW

typedef enum tesela_record_use {
  TESELA_RECORD_TEMPORARY, ///< memory that temporaries share over time
  TESELA_RECORD_PARAMETER, ///< an argument; with `live_out` it becomes a result
  TESELA_RECORD_CONSTANT,
  TESELA_RECORD_THREAD_LOCAL, ///< of computations inside fusions and reductions
  TESELA_RECORD_RESULT,       ///< live out, no argument
  TESELA_RECORD_OTHER,
} tesela_record_use;

/// "temporary", "parameter", "constant", "thread_local", "result", "other"; NULL for a number outside the list.
TESELA_API const char *tesela_record_use_name(tesela_record_use use);

/// A piece of memory that the compiler reserves.
typedef struct tesela_record_allocation {
  int64_t number, bytes;
  int32_t space; ///< colour n, as S(n); 0 is the device's main memory
  tesela_record_use use;
  bool live_out;
  int64_t parameter; ///< or -1
} tesela_record_allocation;

/// A value in memory. Texts are owned by the records, "" if no record says it; numbers are -1 then.
typedef struct tesela_record_buffer {
  int64_t id;                     ///< of the compiler
  const char *instruction;        ///< that makes it, "fusion.8"
  const char *member;             ///< "{0}": its place in a tuple; "{}" the tuple's table; "" an array
  const char *shape;              ///< with its layout
  const char *op_name, *location; ///< of the user's program: "model/dot", "train.py:12"
  int64_t allocation;             ///< index in tesela_record_program.allocation
  int32_t space;
  int64_t offset, bytes; ///< in the allocation
  int64_t stored_bytes;  ///< of the shape; -1 for a tuple or a shape that cannot be measured
  int64_t from, to;      ///< first and last instant of its life
  int32_t carried;       ///< 1: a value that a loop carries (phi); 0: not; -1: the records do not say
  /// Temporaries: the place in tesela_record_space.planned_bytes, counted through all temporary allocations of its space; -1 without.
  int64_t planned_offset;
  /// 1: it lives at the peak of its space, or it is the largest of an allocation that is in use then although none of its values lives;
  /// 0: it does not; -1: the peak is not known.
  int32_t at_peak;
} tesela_record_buffer;

/// A stay in faster memory that memory space assignment decided. Instants are those of its own schedule.
typedef struct tesela_record_stay {
  int64_t id;
  const char *buffer; ///< instruction; "" if the records do not name it
  int64_t offset, bytes, from, to;
  const char *first, *last; ///< instructions at `from` and `to`, "" without a schedule
} tesela_record_stay;

/// One memory space of a program.
typedef struct tesela_record_space {
  int32_t space;
  int64_t needs_bytes;   ///< sum of its allocations; without a buffer assignment printed_bytes
  int64_t printed_bytes; ///< total of the memory usage report; -1 without
  /// Bytes in use at the fullest instant: allocations that are not temporary are always in use, of temporary ones the places of
  /// values that live. What cannot be followed counts as always in use. -1 without live ranges.
  int64_t peak_bytes;
  /// Each allocation of temporaries has its values, and each value a life: needs_bytes - peak_bytes is what fragmentation costs.
  /// Otherwise peak_bytes is an upper bound.
  bool followed;
  int64_t at;              ///< its first instant; -1 without
  const char *instruction; ///< at that instant; ""
  /// What the space needs if its temporaries get the offsets `planned_offset`, as tesela_arena_plan finds them: at most needs_bytes.
  /// Values that share memory by the compiler's records stay together. needs_bytes - planned_bytes is fragmentation that other offsets
  /// avoid. -1 without live ranges, if the space is not `followed`, for records that do not say what loops carry, and for more than
  /// 32768 values.
  int64_t planned_bytes;
  /// No offsets that are multiples of alignment_bytes need less, up to a piece of that size; -1 where planned_bytes is. Equal to
  /// planned_bytes: the plan is the best.
  int64_t bound_bytes;
  int64_t
      alignment_bytes; ///< the largest power of two up to 64 KiB that divides all offsets of the compiler's temporaries
  int64_t aligned_bytes; ///< of bound_bytes - peak_bytes: what rounding sizes up to that alignment costs
} tesela_record_space;

/// A kind of difference with the number of cases and the first of them.
typedef struct tesela_record_difference {
  tesela_record_difference_kind kind;
  const char *code; ///< "total"
  int64_t count;
  char text[320]; ///< one sentence with the figures of the first case
} tesela_record_difference;

typedef struct tesela_record_program {
  const char *name;    ///< of the module; "" if no record says it
  const char *source;  ///< folder, or folder and start of the names of its files
  uint32_t kinds;      ///< bit 1 << k for each tesela_record_kind that was read
  int64_t total_bytes; ///< as the buffer assignment says; -1 without
  int64_t sum_bytes;   ///< sum of its allocations
  int64_t n_instants;
  const char *const *instant; ///< instruction of each instant
  int64_t n_allocations, n_buffers, n_stays, n_spaces, n_differences;
  const tesela_record_allocation *allocation;
  const tesela_record_buffer *buffer; ///< the largest first
  const tesela_record_stay *stay;
  const tesela_record_space *space; ///< the main memory first
  const tesela_record_difference *difference;
  int64_t checked; ///< buffers that were compared with those of an HloProto
} tesela_record_program;

/// Records of several programs. Owns memory; one thread at a time until finish, then any number of threads may read it.
typedef struct tesela_records tesela_records;

/// @return TESELA_OK; TESELA_E_MEMORY.
TESELA_API tesela_status tesela_records_create(tesela_records **records, const tesela_allocator *allocator,
                                               tesela_error *err);
TESELA_API void tesela_records_destroy(tesela_records *records);

/// What a text is, by its first bytes: "BufferAssignment:\nallocation 0: ..." -> TESELA_RECORD_ASSIGNMENT. Up to 4096 bytes are
/// read.
TESELA_API tesela_record_kind tesela_records_kind(const char *bytes, size_t length);
/// "buffer_assignment"; NULL for a number outside the list.
TESELA_API const char *tesela_record_kind_name(tesela_record_kind kind);

/// Read a whole file. `path` is copied: files of one folder whose names start with the same "module_0001.NAME." belong to one
/// program, all others of a folder together to another; finish joins them if the names of their instructions are the same.
///
/// Both forms of the buffer assignment are read: values in the same file or in one of their own, allocations with an address
/// or without. A text that breaks off or is not of its form is read up to there, which is a difference TESELA_RECORD_BROKEN with
/// the line, or the byte of a proto.
///
/// A profile (XSpace, "host.xplane.pb") has a program for each HloProto in it; finish joins each with the records of the module
/// that has its name and its instructions, and compares them.
///
/// @return TESELA_OK, also for TESELA_RECORD_NONE, which is ignored; TESELA_E_MEMORY; TESELA_E_INVALID after finish. O(length).
TESELA_API tesela_status tesela_records_read(tesela_records *records, const char *path, const char *bytes,
                                             size_t length, tesela_error *err);

/// Join what was read by name. The functions below may be called only after this.
/// @return TESELA_OK; TESELA_E_MEMORY. O(buffers log buffers).
TESELA_API tesela_status tesela_records_finish(tesela_records *records, tesela_error *err);
TESELA_API int64_t tesela_records_n_programs(const tesela_records *records);
/// Program i in the order of reading; NULL outside 0 to n - 1. Belongs to the records.
TESELA_API const tesela_record_program *tesela_records_program_at(const tesela_records *records, int64_t i);

/* ---- before compiling --------------------------------------------------------------------------------------- */

/// An argument or a result of a program, as the compiler of a TPU will place it.
typedef struct tesela_predicted {
  bool result;            ///< false: an argument
  int32_t number;         ///< from 0 on, among the arguments or the results
  const char *name;       ///< "%arg0", "a.1", "result[0]", in the caller's text; not ended by NUL
  size_t name_length;     ///< 0: the text has no name
  tesela_xla_shape whole; ///< as the program has it, over all devices
  tesela_xla_shape shape; ///< on one device, with its layout; meaningless if `unknown`
  int64_t bytes;          ///< of `shape`, padding included; 0 if `unknown`
  int64_t unpadded_bytes; ///< of `shape`, without padding
  bool host;              ///< in the memory of the host
  bool used;              ///< an instruction reads this argument, or it is a result; true for results
  bool donated;           ///< a result may take its memory
  int32_t alias;          ///< the result that takes it, or -1: not given
  const char *unknown;    ///< why a result is not known, a sentence; NULL: it is known
  int64_t reserved[4];    ///< 0
} tesela_predicted;

/// What all arguments and results of a program take on each device; as memory_analysis() of JAX names them.
typedef struct tesela_prediction_totals {
  int64_t devices; ///< that the program is divided over; 1 if it says nothing
  int32_t
      n_arguments; ///< that the text has; JAX leaves unused ones out, unless it is called with keep_unused
  int32_t n_results;
  int32_t n_unknown;           ///< results that are not known
  int64_t argument_bytes;      ///< argument_size_in_bytes: without those of the host
  int64_t host_argument_bytes; ///< host_argument_size_in_bytes
  int64_t output_bytes;        ///< output_size_in_bytes: with the table; of the known results
  int64_t host_output_bytes;   ///< host_output_size_in_bytes
  int64_t table_bytes;         ///< the table of pointers of several results
  int64_t
      aliased_bytes;   ///< of arguments with an `alias`; alias_size_in_bytes unless the compiler picks others
  int64_t reserved[4]; ///< 0
} tesela_prediction_totals;

typedef struct tesela_prediction tesela_prediction;

/// Read a program before it is compiled, StableHLO text (`lowered.as_text()` of JAX) or HLO text before optimisation, and place its
/// arguments and results as the compiler of a TPU does: tesela_xla_choose with order, on the part of each device. HLO text that is
/// scheduled already keeps its layouts.
///
/// Example: func.func public @main(%arg0: tensor<300x12xf32>) -> tensor<300xf32> for v5e: an argument
/// f32[300,12]{0,1:T(8,128)} of 24576 bytes, a result f32[300]{0:T(512)} of 2048.
///
/// Read are: shapes, mhlo.sharding and sdy.sharding, mhlo.memory_kind, mhlo.layout_mode, tf.aliasing_output, jax.buffer_donor; of HLO
/// entry_computation_layout, sharding, input_output_alias, buffer_donor, and memory spaces and layout modes in frontend_attributes.
/// An argument of another form is refused by its name: dynamic dims, tuples, a layout or a sharding left to the compiler. A result
/// whose sharding is left to the compiler is `unknown`.
///
/// @param text    `length` bytes, UTF-8 or not; must outlive the prediction, which points into it
/// @param target  "v2", "v3", "v4", "v5e", "v5p", "v6e" or "tpu7x"
/// @return TESELA_OK; TESELA_E_SYNTAX with the byte; TESELA_E_UNSUPPORTED with the byte and the name of the argument; TESELA_E_INVALID
///         for another target; TESELA_E_OVERFLOW; TESELA_E_MEMORY. O(length), a few KiB for each argument and result; any thread.
TESELA_API tesela_status tesela_predict_create(tesela_prediction **prediction, const char *text,
                                               size_t length, const char *target,
                                               const tesela_allocator *allocator, tesela_error *err);
/// NULL is allowed.
TESELA_API void tesela_predict_destroy(tesela_prediction *prediction);
/// For NULL all zeros.
TESELA_API tesela_prediction_totals tesela_predict_totals(const tesela_prediction *prediction);
/// Arguments in order, then results; NULL for i outside of the list, or without a prediction.
TESELA_API const tesela_predicted *tesela_predict_at(const tesela_prediction *prediction, int32_t i);

/* ---- numbers of bytes ---------------------------------------------------------------------------------- */

typedef enum tesela_units {
  TESELA_UNITS_IEC,   ///< "12.91 GiB", "512 B"
  TESELA_UNITS_SI,    ///< "13.86 GB"
  TESELA_UNITS_BYTES, ///< "13863223296"
  TESELA_UNITS_XLA,   ///< "12.91G", as XLA's memory reports round
} tesela_units;
#define TESELA_UNITS_TEXT 24 ///< bytes of such a text, the NUL included

/// Write a number of bytes >= 0: thousands with one decimal, millions and more with two. Example: 15360000000
/// -> "14.31 GiB", "15.36 GB", "15360000000", "14.30G": XLA drops what is below the next smaller unit
/// (14648.44M -> 14648M) before it rounds.
TESELA_API void tesela_units_print(int64_t bytes, tesela_units units, char text[TESELA_UNITS_TEXT]);

/// Read one: "16GiB", "1.5 kB", "14.00G" (XLA: binary), "512B", "512". Decimals are rounded to whole bytes.
/// @param used  receives the bytes of text that were read; NULL: the whole text must be one number
/// @return TESELA_OK; TESELA_E_SYNTAX; TESELA_E_OVERFLOW.
TESELA_API tesela_status tesela_units_parse(const char *text, size_t length, int64_t *bytes, size_t *used,
                                            tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
