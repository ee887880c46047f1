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
  X(TESELA_REPORT_FRAGMENTATION, "fragmentation", "fragmentation")

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
  X(TESELA_REPORT_JOINED, "joined_lines", false)

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
#undef TESELA__ROW

/// The name in JSON: "memory_report", "copy", "hlo_temp". Static text; NULL for a number outside the list.
TESELA_API const char *tesela_report_source_name(tesela_report_source source);
TESELA_API const char *tesela_report_role_name(tesela_report_role role);
TESELA_API const char *tesela_report_figure_name(tesela_report_figure figure);
/// The words for people: "HLO temp unpadded".
TESELA_API const char *tesela_report_figure_text(tesela_report_figure figure);

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
  int64_t line_bytes;  ///< a longer line is cut there: 16 MiB
  int64_t shapes;      ///< distinct shape texts that are kept: 1048576; more are counted but not listed
  int64_t entries;     ///< entries of memory reports that are kept: 65536; more are counted but not listed
  int64_t waiting;     ///< distinct (computation, shape) pairs that wait for a caller in a module: 262144
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
