/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - a compiler's records of its programs, as they are read and joined.
 *
 *   records.c            create, read, destroy
 *   record_program.c     to which program a file belongs
 *   record_list.c        lists, texts, lines, numbers, differences
 *   record_names.c       instructions and values by name
 *   record_assignment.c  buffer assignments
 *   record_lines.c       live ranges, memory usage reports, memory space assignment, HLO text
 *   record_proto.c       HloProto, by wire.c; record_shape.c: its shapes
 *   record_profile.c     the HloProtos in a profile
 *   record_peak.c        bytes in use over time
 *   record_plan.c        the least that other offsets would take
 *   record_finish.c      the joined programs
 *   record_check.c       where records do not say the same
 */
#ifndef TESELA_SRC_RECORDS_H
#define TESELA_SRC_RECORDS_H

#include "report/report_state.h"

/* A list that grows; `items` of one type. */
typedef struct tesela__list {
  void *items;
  size_t n, capacity;
} tesela__list;

typedef struct tesela__record_instruction {
  const char *name, *shape, *op_name, *location;
  bool proto; /* not in the text yet */
} tesela__record_instruction;

/* A life: "fusion.8" and "{}" from 5 to 10. */
typedef struct tesela__record_range {
  const char *name, *member;
  int64_t from, to;
} tesela__record_range;

typedef struct tesela__record_total {
  int32_t space;
  int64_t bytes;
  bool exact; /* not rounded to KiB or MiB */
} tesela__record_total;

/* An index of names: numbers of items + 1 in a table of 2^n places. */
typedef struct tesela__record_names {
  uint32_t *place;
  size_t capacity, n;
} tesela__record_names;

typedef struct tesela__record_program {
  tesela_record_program told; /* the lists below after finish */
  size_t key;                 /* bytes of told.source that files of the program share */
  tesela__list allocation, buffer, stay, space, difference, instant;
  tesela__list instruction, range, total, space_name, space_instant;
  tesela__list proto_allocation, proto_buffer;
  bool profile;                         /* out of a profile: no other file belongs to it */
  struct tesela__record_program *match; /* the one that a program of a profile fits best, and how well */
  size_t fit;                           /* of a match: the best of those that fit it */
  tesela__record_names instructions, ranges;
  tesela__frames frames;
} tesela__record_program;

struct tesela_records {
  tesela_allocator allocator;
  tesela__arena text;
  tesela__list program; /* pointers */
  size_t joined;        /* programs at the start of the list, after finish */
  bool finished;
};

/* A file that is read. */
typedef struct tesela__record_file {
  tesela_records *records;
  tesela__record_program *program;
  const char *path;
  tesela__span rest; /* lines still to read */
  int64_t line;      /* number of the last one */
  bool broken;
} tesela__record_file;

/* Functions that return bool return false only without memory. */

/* A new item at the end of a list, all zero; NULL: no memory. */
void *tesela__record_more(tesela_records *records, tesela__list *list, size_t size);
const char *tesela__record_text(tesela_records *records, tesela__span text);
/* The next line, without blanks at its end; false at the end of the text. */
bool tesela__record_next_line(tesela__record_file *file, tesela__span *line);
/* Stop reading: a line is not of its form. */
bool tesela__record_break(tesela__record_file *file, const char *expected);
bool tesela__record_differ(tesela_records *records, tesela__record_program *program,
                           tesela_record_difference_kind kind, const char *format, ...) TESELA_PRINTF(4, 5);
/* Digits to a number; false if there are none or it is too large. Moves *p. */
bool tesela__record_number(const char **p, const char *end, int64_t *number);

/* record_names.c: the item of a name, or -1; `item` gives the two parts of the name of item i. */
typedef void (*tesela__record_name)(const void *items, size_t i, const char *part[2]);
int64_t tesela__record_find(const tesela__record_names *names, const void *items, tesela__record_name name,
                            const char *first, const char *second);
/* Put item n - 1 of a list into the index, unless its name is there. */
bool tesela__record_index(tesela_records *records, tesela__record_names *names, const tesela__list *list,
                          tesela__record_name name);
void tesela__record_instruction_name(const void *items, size_t i, const char *part[2]);
void tesela__record_range_name(const void *items, size_t i, const char *part[2]);
tesela__record_instruction *tesela__record_instruction_find(const tesela__record_program *program,
                                                            const char *name);
/* The same instruction in an HloProto and in the HLO text. */
bool tesela__record_compare_shapes(tesela_records *records, tesela__record_program *program, const char *name,
                                   const char *proto, const char *text);

bool tesela__record_assignment(tesela__record_file *file);
bool tesela__record_values(tesela__record_file *file);
bool tesela__record_live_range(tesela__record_file *file);
bool tesela__record_usage(tesela__record_file *file);
bool tesela__record_space_buffers(tesela__record_file *file);
bool tesela__record_space_allocations(tesela__record_file *file);
bool tesela__record_space_schedule(tesela__record_file *file);
bool tesela__record_hlo(tesela__record_file *file);
bool tesela__record_instruction_line(tesela__record_file *file, tesela__span line);
bool tesela__record_proto(tesela__record_file *file);
bool tesela__record_profile(tesela__record_file *file);

/* The program of a file, by its name. NULL: no memory. */
tesela__record_program *tesela__record_program_of(tesela_records *records, const char *path,
                                                  tesela_record_kind kind);
/* Begin a program for what the file says next. */
bool tesela__record_open(tesela__record_file *file, tesela_record_kind kind);
/* Compare a program of a profile with the records of the same module, or complete them. */
bool tesela__record_compare_profile(tesela_records *records, tesela__record_program *to,
                                    tesela__record_program *from);
/* The buffer assignment of an HloProto against the text, or instead of it. */
bool tesela__record_compare_proto(tesela_records *records, tesela__record_program *program);
bool tesela__record_peaks(tesela_records *records, tesela__record_program *program);
/* Other offsets for temporaries, after the peaks. */
bool tesela__record_plan(tesela_records *records, tesela__record_program *program);
bool tesela__record_check(tesela_records *records, tesela__record_program *program);

#endif
