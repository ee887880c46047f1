/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_state.h - the state of a report while it reads, and the files that work on it.
 *
 *   feed.c          chunks -> lines -> pieces; inputs; create, finish, destroy
 *   clean.c         colours, entities and escapes of a line
 *   report_line.c   passes one line to its reader; splits a text on one line into its lines
 *   prefix.c streams.c    lines of several processes, each read as a text of its own
 *   signs.c         can something start on a line?
 *   wrap.c          joins lines that were cut at the width of a terminal
 *   hlo.c           one line of HLO text: instruction, computation header, module header
 *   hlo_instruction.c    an instruction as stretches of its line; its metadata
 *   hlo_count.c     the arrays of one instruction
 *   opcodes.c       which results are separate arrays
 *   frames.c        source locations, from tables before a module
 *   computations.c  keeps the arrays of a computation until it is known to count
 *   computation_names.c    finds a computation by its name
 *   module_end.c    the end of a module: which of them count
 *   report_peak.c   peaks of scheduled modules, and the lives of their buffers
 *   memory_text.c memory_heading.c memory_table.c    one line of a memory report
 *   memory_runtime.c runtime_bfc.c runtime_torch.c    messages of allocators at run time, and what they print about themselves
 *   runtime_pool.c runtime_why.c    one allocator: its chunks by size; why it refused a request
 *   memory_entry.c report_memory_shape.c    an entry: its fields, its row, its shape, the compiler's figures compared with ours
 *   memory_fit.c memory_decide.c     which shapes have the size of an entry; which of them HLO text confirms
 *   report_table.c         distinct shapes, and the rows of the report
 *   sections.c      memory reports and modules; notes; names
 *   query.c         totals and top lists of a finished report
 *   reasons.c advice.c diff.c report_units.c    without state
 */
#ifndef TESELA_SRC_REPORT_STATE_H
#define TESELA_SRC_REPORT_STATE_H

#include <tesela/report.h>

#include "base/spans.h"
#include "schedule/schedule.h"

/* An HLO instruction, as parts of its line; rest starts at the operands. */
typedef struct tesela__instruction {
  tesela__span name, shape, opcode, rest;
  bool root;
} tesela__instruction;

/* ---- report_arena.c: texts that live as long as the report ---------------------------------------------------- */

typedef struct tesela__arena {
  struct tesela__arena_block *blocks;
  size_t bytes; /* copied since the last clear */
} tesela__arena;

/* A copy that ends in NUL; NULL: no memory. */
const char *tesela__arena_copy(tesela__arena *arena, const tesela_allocator *allocator, tesela__span text);
/* Room for a list, at any alignment; NULL: no memory. */
void *tesela__arena_take(tesela__arena *arena, const tesela_allocator *allocator, size_t bytes);
void tesela__arena_clear(tesela__arena *arena, const tesela_allocator *allocator);

/* ---- report_table.c, sections.c ------------------------------------------------------------------------------- */

typedef struct tesela__array_bytes { /* of one array */
  int64_t stored, data, least_padding, most_padding;
} tesela__array_bytes;

typedef enum tesela__shape_state {
  TESELA__SHAPE_SIZED,
  TESELA__SHAPE_NO_ARRAY,   /* token, opaque: without memory here */
  TESELA__SHAPE_UNBOUNDED,  /* a dim `?` */
  TESELA__SHAPE_UNREADABLE, /* looks like a shape but cannot be read */
  TESELA__SHAPE_FOREIGN,    /* the type is unknown: the line is not HLO text; never kept */
} tesela__shape_state;

/* A distinct shape text and its meaning. */
typedef struct tesela__shape {
  const char *text;
  uint32_t length;
  tesela__shape_state state;
  uint64_t hash;
  bool tiled, ordered; /* it has T(...); it has braces */
  int32_t space;
  int64_t stored, data, unpadded;
  int32_t array[TESELA_REPORT_N_ROLES]; /* its row per role, or -1 */
} tesela__shape;

/* A row, with data to count it fast. */
typedef struct tesela__array {
  tesela_report_array public;
  uint32_t stamp;      /* serial of the waiting computation that has it */
  int32_t stamp_entry; /* its entry in that computation */
  int64_t number;      /* of an entry of a memory report */
  int64_t offset;      /* of a table's row, -1: unknown */
} tesela__array;

/* An occurrence of an array, as it goes into the row. Spans into the line. */
typedef struct tesela__sighting {
  tesela__span name, opcode, rest; /* rest: after the opcode, with the metadata */
  int64_t line;
} tesela__sighting;

/* ---- frames.c: source lines of a module ---------------------------------------------------------------- */

typedef enum tesela__frame_table {
  TESELA__TABLE_NONE,
  TESELA__TABLE_FILES,
  TESELA__TABLE_LOCATIONS,
  TESELA__TABLE_FRAMES,
  TESELA__TABLE_OTHER, /* a table that is not needed */
} tesela__frame_table;

typedef struct tesela__location {
  int32_t file, line;
} tesela__location;

typedef struct tesela__frames {
  tesela__frame_table table; /* that is being read */
  const char **file;         /* number i is in row i - 1 */
  tesela__location *location;
  int32_t *frame; /* its location */
  size_t n_files, cap_files, n_locations, cap_locations, n_frames, cap_frames;
} tesela__frames;

/* ---- computations.c ------------------------------------------------------------------------------------ */

typedef struct tesela__waiting { /* arrays of one row in one computation */
  int32_t array, next;
  int64_t count, line;
  const char *name, *opcode, *op_name, *op_type, *location; /* in the waiting arena; NULL: not kept */
} tesela__waiting;

typedef struct tesela__call {
  uint64_t callee;
  int32_t next;
} tesela__call;

typedef struct tesela__computation {
  uint64_t name;
  int32_t first_waiting, first_call, next_reached;
  bool counted; /* reached by a call from counted text */
  bool helper;  /* its name is that of a fusion or a wrapper */
} tesela__computation;

typedef enum tesela__where {
  TESELA__OUTSIDE, /* outside any computation: counts */
  TESELA__ENTRY,   /* counts */
  TESELA__CALLED,  /* counts, by its name */
  TESELA__WAITING, /* counts if it is called */
  TESELA__FUSED,   /* never counts */
} tesela__where;

typedef struct tesela__module {
  bool open; /* a header or an instruction was seen */
  bool entry_seen;
  bool outside_seen; /* an array outside any computation was seen */
  bool scheduled;    /* is_scheduled=true: the text after optimisation */
  bool large, tiled; /* it has an array of 1 MiB or more; one of these has tiles */
  bool assignment;   /* the text is XLA's buffer assignment; its instructions are not HLO text */
  tesela__where where;
  int32_t section;
  uint64_t fingerprint;  /* of the rows that counted, in any order */
  int32_t current;       /* the computation, if WAITING */
  uint32_t serial;       /* of the current computation, over all modules */
  int32_t first_waiting; /* arrays of the entry computation, if one of several processes prints the module */
  int32_t first_layout;  /* arguments and results of the header, for a module without its entry computation */
  tesela__computation *computation;
  tesela__waiting *waiting;
  tesela__call *call;
  size_t n_computations, cap_computations, n_waiting, cap_waiting, n_calls, cap_calls;
  int32_t entry_call; /* calls of counted text, or -1 */
  int32_t *index;     /* hash of names -> computation */
  size_t index_size;
  tesela__arena text;
  tesela__frames frames;
  tesela__schedule *schedule; /* of a module with is_scheduled=true, if peaks are wanted; else NULL */
} tesela__module;

/* ---- memory_text.c ------------------------------------------------------------------------------------- */

typedef enum tesela__field {
  TESELA__FIELD_SIZE,
  TESELA__FIELD_OPERATOR,
  TESELA__FIELD_SHAPE,
  TESELA__FIELD_UNPADDED,
  TESELA__FIELD_EXTRA,
  TESELA__FIELD_LABEL,
  TESELA__FIELD_ALLOCATION,
  TESELA__FIELD_OFFSET, /* of a table */
  TESELA__N_FIELDS,
} tesela__field;

enum { TESELA__FIELD_TEXT = 1024 };

/* The entry that is being read. */
typedef struct tesela__entry {
  bool open;
  bool doubled; /* its first line occurred twice: two processes write the same text */
  int64_t number, line;
  tesela__span shapes;               /* of a row of a table, in its line; else n = 0 */
  int64_t values;                    /* values that use the row */
  bool peak;                         /* in a list of peak buffers, which every backend prints */
  uint32_t length[TESELA__N_FIELDS]; /* 0: not there */
  char text[TESELA__N_FIELDS][TESELA__FIELD_TEXT];
} tesela__entry;

typedef enum tesela__part { /* of a memory report: the words expected on the next lines */
                            TESELA__PART_NONE,
                            TESELA__PART_USAGE,
                            TESELA__PART_REQUIREMENT,
                            TESELA__PART_LIST,
                            TESELA__PART_TABLE,
                            TESELA__PART_STATS,
                            TESELA__PART_RUNTIME,
} tesela__part;

/* ---- runtime_pool.c ------------------------------------------------------------------------------------ */

typedef struct tesela__pool_size { /* of chunks in use */
  int64_t bytes, listed, summed;   /* how many in the list of chunks, and in the summary by size */
  const char *op;
} tesela__pool_size;

typedef enum tesela__pool_kind { TESELA__POOL_OTHER, TESELA__POOL_BFC, TESELA__POOL_TORCH } tesela__pool_kind;

/* Of a BFC allocator: each bin is twice as large as the one before. */
enum { TESELA__LEAST_BIN = 256, TESELA__LARGEST_BIN = TESELA__LEAST_BIN << 20 };

/* An allocator at run time, while it is read. */
typedef struct tesela__pool {
  tesela_report_pool public;
  int32_t section;
  tesela__pool_kind kind;
  bool dumped;   /* a part of a dump was read */
  bool noted;    /* what to get beside its figures */
  bool has_next; /* its chunks end in "next N": one without is cut */
  bool cut, summed;
  bool tagged;          /* free memory between the two ends is in no bin */
  int64_t size_at_last; /* of the summary by size, which ascends */
  int64_t last_bin;     /* of the line before, which is half as large; -1: no line */
  bool bins_lost;       /* the first is not the least, or one between is missing */
  int64_t region_bytes, region_free, central_gap;
  int64_t largest_free[3];                                 /* of any end, of the lower and of the upper */
  tesela_report_printed sum, summary_free, summary_usable; /* rounded */
  char end[8];                                             /* "lower": where the request was to be placed */
  tesela_report_bin *bin;
  tesela_report_metric *metric;
  tesela__pool_size *size;
  size_t n_sizes, cap_sizes, index_size;
  int32_t *index;
  const struct tesela__message *message; /* of a line that may go on */
  char *held;                            /* that line, and what was added */
  size_t n_held;
  int32_t lines_left;
} tesela__pool;

/* ---- memory_fit.c -------------------------------------------------------------------------------------- */

/* Tiles and order for a shape without a layout: a row of the table of choices, or -1 for the tiles as given; the two most minor
 * dims, or -1 for the order as given. */
typedef struct tesela__layout_choice {
  int32_t tiles, minor, second;
} tesela__layout_choice;

/* A shape that can have the size of an entry. */
typedef struct tesela__fit {
  tesela__span shape;           /* in the text of the entry */
  tesela__layout_choice choice; /* the most likely */
  bool by_default;              /* in the default order */
  bool granule;                 /* a scalar or table in the smallest piece of an allocator */
  int32_t space, layouts;
  int64_t stored, data; /* with that choice */
  int64_t unpadded;
  int64_t least_padding, most_padding, least_data, most_data; /* over all layouts */
  bool one_size, explained; /* bytes, or reasons, are equal in all layouts */
} tesela__fit;

/* The owner of the list: an entry of any backend, perhaps without tiles; an entry of a TPU; a row of a TPU's table, in which a
 * tuple means the table of its members. */
typedef enum tesela__fit_kind {
  TESELA__FIT_ANY_DEVICE,
  TESELA__FIT_TPU,
  TESELA__FIT_ROW,
} tesela__fit_kind;

typedef struct tesela__fits {
  size_t n;                      /* in report->fit, most likely first */
  tesela__shape first;           /* array of the list, or FOREIGN */
  int64_t n_arrays;              /* arrays with a size */
  int64_t least_data, most_data; /* of the arrays */
  int64_t values;                /* values, with counts */
  bool unread;                   /* a part of the list cannot be read */
} tesela__fits;

/* ---- memory_decide.c ----------------------------------------------------------------------------------- */

/* An array with its tiles, of a buffer assignment or of HLO text. */
typedef struct tesela__value {
  const char *shape;
  int64_t offset, stored, data; /* offset: -1 for HLO text */
  int32_t space;
} tesela__value;

typedef struct tesela__memory_text {
  int32_t section; /* the open section, or -1 */
  tesela__part part;
  int quiet;     /* lines since the last one with a word of a report */
  bool listed;   /* the list of the section was read */
  int32_t space; /* memory space of the next lines; TESELA_REPORT_ANY: the shape has it */
  int64_t last_number;
  int64_t cumulative; /* of the last row of a table, or 0 */
  uint64_t row;       /* its hash */
  bool all;           /* it is the last: "(100%)" */
  bool headed;        /* the line "cumulative_size; ..." came before it */
  tesela__pool *pool; /* the allocator that the section is about, or NULL */
  tesela__entry entry;
} tesela__memory_text;

/* ---- clean.c, wrap.c, streams.c ------------------------------------------------------------------------ */

enum { TESELA__CLEAN_DEPTH = 4 }; /* nested texts: a JSON string of Python's repr of ... */

typedef struct tesela__bytes {
  char *text;
  size_t capacity;
} tesela__bytes;

typedef struct tesela__width {
  size_t bytes, columns;
} tesela__width;

/* A line that may continue in the next one. Widths: without and with its prefix, and before its entities were decoded. */
enum { TESELA__N_WIDTHS = 3 };

typedef struct tesela__wrap {
  tesela__bytes text;
  size_t n; /* 0: no line is held */
  int64_t line;
  tesela__width piece[TESELA__N_WIDTHS], most[TESELA__N_WIDTHS];
  size_t scanned;                                    /* bytes whose brackets were counted */
  bool prefixed, marked, entities, quoted, one_line; /* one_line: its newlines are written \\n */
  char before;                                       /* the last character */
  int64_t depth;
} tesela__wrap;

/* The text of one of several processes. */
typedef struct tesela__stream {
  uint64_t who;
  const char *prefix;
  tesela__module module;
  tesela__memory_text memory;
  tesela__wrap wrap;
} tesela__stream;

/* ---- the report ---------------------------------------------------------------------------------------- */

struct tesela_report {
  tesela_allocator allocator;
  tesela_report_options options;
  tesela_status failed; /* after a failed allocation only destroy is allowed */
  bool finished;

  char *carry; /* an unfinished line */
  size_t n_carry, cap_carry;
  bool carry_cut;
  tesela__width raw;         /* of the line before its entities were decoded; 0: without entities */
  bool marked, carry_marked; /* the chunk, or the carried part, may need cleaning */
  tesela__bytes clean, unescaped[TESELA__CLEAN_DEPTH];
  tesela__stream **stream; /* stream 0: lines without a prefix; n_streams 0: the only one */
  size_t n_streams, cap_streams, current;
  size_t owner;       /* stream of the last recognised line */
  size_t held_by;     /* stream that holds the previous line, or SIZE_MAX */
  size_t last_stream; /* the last stream with a prefix */
  int64_t line;       /* number of the current line in its input, from 1 */

  tesela__shape *shape;
  size_t n_shapes, cap_shapes;
  tesela__shape unlisted_shape; /* the last shape that was not kept */
  int32_t *shape_index;
  size_t shape_index_size;

  tesela__array *array;
  size_t n_arrays, cap_arrays;
  int64_t n_entries;                                      /* rows that are entries of memory reports */
  tesela_report_totals unlisted[TESELA_REPORT_N_SOURCES]; /* counted beyond the limits */
  uint64_t *seen;                                         /* hashes of entries, 0: free */
  size_t n_seen, seen_size;

  tesela_report_section *section;
  size_t n_sections, cap_sections;
  const void **by_name; /* sections, sorted; NULL before the end */
  tesela__pool **pool;
  size_t n_pools, cap_pools;
  tesela_report_input *input;
  size_t n_inputs, cap_inputs;
  tesela_report_note note[TESELA_REPORT_N_NOTES]; /* count 0: absent */

  tesela__fit *fit; /* of the entry that is being read */
  size_t cap_fits;
  int64_t n_candidates; /* kept candidates, over all rows */
  tesela__value *value; /* of buffer assignments */
  size_t n_values, cap_values;
  bool values_cut; /* some were not kept */

  tesela_report_peak *peak; /* of scheduled modules, by section and space */
  size_t n_peaks, cap_peaks;
  tesela__schedule *lives; /* of the module with the highest peak in the main memory */
  int32_t lives_section;

  tesela__module module;
  tesela__memory_text memory;
  tesela__wrap wrap;
  uint32_t serial;                               /* of the last computation */
  size_t n_waiting, n_computations, n_all_calls; /* of all streams, limited by options.waiting */
  tesela__arena text;
};

/* Remember that memory ran out; returns false for `return tesela__report_no_memory(report)`. */
static inline bool tesela__report_no_memory(tesela_report *report) {
  report->failed = TESELA_E_MEMORY;
  return false;
}

/* ---- functions between the files; all return false only when memory ran out ---------------------------- */

/* report_line.c: a line as the compiler wrote it; depth of nested texts around it. */
bool tesela__read_line(tesela_report *report, tesela__span line, int depth);

/* clean.c */
bool tesela__clean_room(tesela_report *report, tesela__bytes *bytes, size_t n);
/* Does it have a character that may need cleaning? */
bool tesela__clean_is_marked(const char *bytes, size_t n);
/* Remove colours and decode entities; *line keeps its memory or moves to `room`. */
bool tesela__clean_line(tesela_report *report, tesela__bytes *room, tesela__span *line);
/* The start of an entity that the end of a line cuts, else n; decode in place, returns the new number of bytes. */
size_t tesela__clean_open_entity(tesela__span line);
size_t tesela__clean_entities(char *text, size_t n);
/* The next line of a text on one line, without its escapes, colours and entities; *from moves after it. */
size_t tesela__clean_unescape(const char **from, const char *end, char *to);
tesela__width tesela__width_of(tesela__span line);

/* prefix.c: bytes of the prefix of a process, or 0; *who identifies the process. */
size_t tesela__rank_prefix(tesela__span line, uint64_t *who);

/* streams.c: the stream of a line, whose prefix is removed; switch to a stream; the end of an input; forget all. */
bool tesela__stream_of(tesela_report *report, tesela__span *line, size_t *number);
void tesela__stream_select(tesela_report *report, size_t number);
/* Does the current line have the prefix of a process? Then the entry computation waits, too: another process may print the same
 * module. */
static inline bool tesela__stream_is_one_of_several(const tesela_report *report) {
  return report->current > 0;
}
bool tesela__streams_end(tesela_report *report);
void tesela__streams_clear(tesela_report *report);

/* wrap.c: read a line, or hold it until the next one; read the held line. `full`: with its prefix; `marked`: may be a text on
 * one line. */
bool tesela__wrap_line(tesela_report *report, tesela__span line, tesela__span full, bool marked);
bool tesela__wrap_flush(tesela_report *report);
/* Note the width of a line on which nothing starts. */
void tesela__wrap_measure(tesela_report *report, tesela__span line);

/* The shape of a text, read and measured once. *found is the shape, valid until the next call, or NULL for an unknown type;
 * *index its number, or -1 if the table is full. */
bool tesela__report_shape(tesela_report *report, tesela__span text, const tesela__shape **found,
                          int32_t *index);
/* Read and measure without keeping. */
void tesela__report_measure(tesela__span text, tesela__shape *shape);
/* The row of a shape and role, created with count 0 on first use. */
bool tesela__report_row(tesela_report *report, int32_t shape, tesela_report_role role, int32_t *row);
/* A new row; its fields are set, its texts empty, its count 0. */
bool tesela__report_new_row(tesela_report *report, int32_t *row);
/* Add arrays of a row to its section; fills in its first occurrence. */
bool tesela__report_count(tesela_report *report, int32_t row, int64_t count, int32_t section,
                          const tesela__sighting *sighting);
/* The bytes of a row's arrays. */
tesela__array_bytes tesela__report_bytes(const tesela_report_array *array);
/* Was this number seen before? Remembers it otherwise, up to options.entries numbers. */
bool tesela__report_seen(tesela_report *report, uint64_t identity, bool *seen);
/* Add arrays to a section only. */
void tesela__report_section_add(tesela_report *report, int32_t section, tesela__array_bytes bytes,
                                int64_t count);
/* Add one array to a section and to the unlisted ones. */
void tesela__report_count_unlisted(tesela_report *report, tesela_report_source source, int32_t section,
                                   tesela__array_bytes bytes);
void tesela__report_add(tesela_report *report, int64_t *sum, int64_t value); /* saturates, with a note */
bool tesela__report_new_section(tesela_report *report, tesela_report_source source, tesela__span name,
                                int32_t *section);
/* At the end: sections by their names. */
bool tesela__report_sort_sections(tesela_report *report);
/* Count a note; the text is that of the first case. */
void tesela__report_note(tesela_report *report, tesela_report_note_kind kind, int64_t line,
                         const char *format, ...) TESELA_PRINTF(4, 5);

/* hlo.c: a line that is not a plain instruction. *is_one: it is an instruction, a header or an end of HLO text. */
bool tesela__hlo_line(tesela_report *report, tesela__span line, bool *is_one);

/* hlo_instruction.c: the instruction on a line, alone or after a prefix. */
bool tesela__hlo_plain(tesela__span line, tesela__instruction *out);
bool tesela__hlo_prefixed(tesela__span line, tesela__instruction *out);
/* Do `name = ` or `%name = ` and an array's type start here, or a tuple of them, whether or not complete? */
bool tesela__hlo_instruction_starts(const char *p, const char *end);
/* Does a line of HLO text start here, by a word that is rare elsewhere? */
bool tesela__hlo_starts(tesela__span text);
/* The parts of a label: an instruction, "name = opcode(...)", or a word. Missing parts are empty. */
void tesela__hlo_label(tesela__span text, tesela__instruction *out);
/* The value of metadata such as op_name="..." in a text; n = 0 if it is missing. */
tesela__span tesela__hlo_metadata(tesela__span text, const char *key);
/* source_file and source_line, or those of stack_frame_id, as "file:12"; in `room` if both exist. */
tesela__span tesela__hlo_location(const tesela__frames *frames, tesela__span text, char *room, size_t size);
/* The end of the shape or tuple that starts at p, or NULL. */
const char *tesela__skip_shape(const char *p, const char *end);

/* hlo_count.c */
bool tesela__hlo_count(tesela_report *report, const tesela__instruction *instruction);

/* frames.c: read a line of one of the tables; the file and line of a stack frame; forget all. */
bool tesela__frames_line(tesela__frames *frames, tesela__arena *text, const tesela_allocator *allocator,
                         tesela__span line, bool *is_one);
bool tesela__frames_find(const tesela__frames *frames, int32_t id, tesela__span *file, int32_t *line);
void tesela__frames_free(tesela__frames *frames, const tesela_allocator *allocator);
void tesela__frames_clear(tesela__frames *frames);

/* computations.c */
bool tesela__computation_begin(tesela_report *report, tesela__span name, bool entry);
void tesela__computation_end(tesela_report *report);
bool tesela__computation_count(tesela_report *report, int32_t row, const tesela__sighting *sighting);
bool tesela__computation_calls(tesela_report *report, tesela__span callee);
bool tesela__module_begin(tesela_report *report, tesela__span name);
bool tesela__module_need_section(tesela_report *report);
/* An argument or result of the header: counts if the entry computation is missing. */
bool tesela__module_layout(tesela_report *report, int32_t shape, bool is_result);

/* computation_names.c */
/* The number of a computation by the hash of its name, or -1. */
int32_t tesela__computation_find(const tesela__module *module, uint64_t name);
/* Make room for one more; then it can be put. */
bool tesela__computation_index_grow(tesela_report *report);
void tesela__computation_index_put(tesela__module *module, uint64_t name, int32_t computation);
/* Add a note that the name alone decided, and why. */
void tesela__computation_note_by_name(tesela_report *report, const char *why);

/* module_end.c */
bool tesela__module_end(tesela_report *report);
void tesela__module_release(tesela__module *module, const tesela_allocator *allocator);

/* report_peak.c: a scheduled module starts, and ends. */
bool tesela__peak_begin(tesela_report *report, tesela__span header);
bool tesela__peak_end(tesela_report *report);

/* memory_text.c: read a line of a memory report; the end of an input. */
bool tesela__memory_line(tesela_report *report, tesela__span line, bool *is_one);
bool tesela__memory_end(tesela_report *report);
/* Does a word of a report start here? */
bool tesela__memory_starts_word(tesela__span text);

/* signs.c */
/* Can this line start a report or an entry? A quick test; false is certain. */
bool tesela__memory_may_start(tesela__span line);
/* Or a module, its entry computation, a buffer assignment? */
bool tesela__may_start(tesela__span line);
/* May a report, a module or a part of one start on this line? */
bool tesela__starts_something(tesela__span line);

/* memory_runtime.c */
bool tesela__memory_runtime(tesela_report *report, tesela__span line, bool *is_one);
/* Does a line of an allocator start here? */
bool tesela__memory_starts_runtime(tesela__span text);

/* runtime_bfc.c runtime_torch.c: a line of a dump or summary; inside one, or one that may start it. */
bool tesela__bfc_line(tesela_report *report, tesela__span line, bool inside, bool *is_one);
bool tesela__torch_line(tesela_report *report, tesela__span line, bool *is_one);
bool tesela__bfc_starts(tesela__span text);

/* runtime_pool.c: the allocator of the open section, or of a new one; *pool NULL: there are too many. */
bool tesela__pool_open(tesela_report *report, bool another, tesela__span name, tesela__pool **pool);
/* Chunks of one size that are in use: `listed` in the list of chunks, `summed` in the summary. */
bool tesela__pool_add(tesela_report *report, tesela__pool *pool, int64_t bytes, int64_t listed,
                      int64_t summed, tesela__span op);
/* Note what to get beside an allocator's figures. */
void tesela__runtime_note(tesela_report *report, tesela__pool *pool, const char *whose);
/* Sort, compare and judge all of them. */
bool tesela__pools_finish(tesela_report *report);
void tesela__pools_free(tesela_report *report);
/* An integer at p without sign; NULL if none starts there or it does not fit. */
const char *tesela__pool_number(const char *p, const char *end, int64_t *number);

/* runtime_why.c */
void tesela__pool_judge(tesela__pool *pool, const tesela_report_printed *figure);

/* memory_heading.c */
bool tesela__memory_heading(tesela_report *report, tesela__span line, bool *is_one);
bool tesela__memory_starts_heading(tesela__span text);
/* "    program          19.46G" under a heading. */
bool tesela__memory_figure_line(tesela_report *report, tesela__span line);

/* memory_table.c: a row of a table; a message about one array. */
bool tesela__memory_starts_row(tesela__span text);
bool tesela__memory_row(tesela_report *report, tesela__span line, bool *is_one);
bool tesela__memory_message(tesela_report *report, tesela__span line);

/* memory_entry.c: make the open entry, if any, a row. */
bool tesela__memory_close_entry(tesela_report *report);
/* Continue the open report, or start one. Closes the entry. */
bool tesela__memory_need_section(tesela_report *report, bool start, tesela__span space);
bool tesela__memory_open_entry(tesela_report *report, int64_t number);
void tesela__memory_set_field(tesela__entry *entry, tesela__field field,
                              tesela__span value); /* if it does not have one */
void tesela__memory_note_mixed(tesela_report *report, const char *what);
/* The figure at the start of a text, "14.00G"; false and bytes -1 without a figure and unit. */
bool tesela__memory_figure(tesela__span text, tesela_report_printed *printed);

/* memory_fit.c */

/* Does this number of bytes print so, rounded as the compiler rounds ("14.00G", "2.63GiB", "0B")? */
bool tesela__prints_as(int64_t bytes, const tesela_report_printed *printed);
/* Take the next shape or tuple from "2×f32[3], (f32[2], u32[])", and its count; n = 0 at the end. */
tesela__span tesela__next_listed(tesela__span *list, int64_t *count);
/* The shapes of a list that can have a size, in report->fit. */
bool tesela__fit_list(tesela_report *report, tesela__span list, tesela__fit_kind kind,
                      const tesela_report_printed *size, tesela__fits *fits);
/* The shape of a fit with its most likely tiles, in `room`; "" if they are not needed. */
tesela__span tesela__fit_text(const tesela__fit *fit, char *room, size_t size);

/* report_memory_shape.c: the shape of the entry, its bytes, and the printed figures that differ. The caller fills in the
 * printed figures and the label. */
typedef struct tesela__entry_facts {
  tesela_report_array array; /* without texts */
  tesela__span shape, fitted, operation, allocation;
  tesela__instruction label;
  int64_t unpadded;      /* of `shape`, as the compiler counts it */
  size_t n_candidates;   /* in report->fit; 0: `shape` is certain */
  char fitted_text[512]; /* of `fitted` */
} tesela__entry_facts;
bool tesela__memory_measure(tesela_report *report, const tesela__entry *entry, tesela__entry_facts *facts);

/* memory_decide.c: read a line of a buffer assignment; at the end, decide the rows of uncertain shape by HLO text and
 * assignments. */
bool tesela__memory_value(tesela_report *report, tesela__span line, bool *is_one);
bool tesela__memory_decide(tesela_report *report);

/* advice.c: the order with these two most minor dims, the others descending. second -1: rank 1. */
void tesela__report_set_order(tesela_xla_layout *layout, int32_t minor, int32_t second);

/* ---- culprit.c -------------------------------------------------------------------------------------------- */

/* The culprit's shape as a value; false: no array that can be read. */
bool tesela__culprit_shape(const tesela_report_culprit *culprit, tesela_xla_shape *shape);
/* Is a buffer one of those that are alike? */
bool tesela__culprit_is(const tesela_report_culprit *culprit, const tesela_report_buffer *buffer);
/* Is the operation's name one of PyTorch/XLA? */
bool tesela__culprit_is_torch(const tesela_report_culprit *culprit);

/* ---- remedy.c --------------------------------------------------------------------------------------------- */

/* Dims of up to 4 indices, 16 arrays; or of up to 64, 64 arrays. */
typedef enum tesela__remedy_apart { TESELA__REMEDY_SMALL, TESELA__REMEDY_WIDE } tesela__remedy_apart;

/* A bit for each dim of few indices, which become *arrays arrays of their own. */
uint64_t tesela__remedy_few(const tesela_xla_shape *shape, tesela__remedy_apart apart, int64_t *arrays);

/* ---- remedy_near.c ---------------------------------------------------------------------------------------- */

/* Does a custom call return an array with these dims? */
bool tesela__remedy_is_called(const tesela_report *report, const tesela_xla_shape *from);
/* Rows [m * k, w] that are taken by numbers [m, k]: k, else 0. */
int64_t tesela__remedy_taken(const tesela_report *report, const tesela_xla_shape *from);

/* query.c: does the row match a query? Rows that never counted do not. */
bool tesela__report_matches(const tesela_report_array *array, const tesela_report_filter *filter);

/* The contribution of a row's arrays to the fingerprint of a module, in any order. */
static inline uint64_t tesela__row_mark(int32_t row, int64_t count) {
  uint64_t mark = ((uint64_t)row + 1) * UINT64_C(0x9e3779b97f4a7c15);
  mark = (mark ^ mark >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
  return (mark ^ mark >> 32) * (uint64_t)count;
}

#endif
