/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_ask.h - a question about a finished report, and the answer as events. The operations report and diff, and the verbs.
 */
#ifndef TESELA_OPS_REPORT_ASK_H
#define TESELA_OPS_REPORT_ASK_H

#include <tesela/ops.h>
#include <tesela/report.h>

enum { REPORT_SKIPPED = 1000 }; /* files whose names are kept */

/* Files of folders that were not read. */
typedef struct report_skipped {
  int64_t n; /* all of them */
  struct {
    char *name;
    const char *why; /* static */
  } file[REPORT_SKIPPED];
} report_skipped;

typedef struct report_ask {
  const tesela_report *report;
  const tesela_records *records; /* finished, or NULL */
  const report_skipped *skipped; /* or NULL */
  tesela_report_order order;
  int64_t top;                       /* rows to show, INT64_MAX: all */
  int32_t space;                     /* memory space, TESELA_REPORT_ANY: all */
  double max_waste;                  /* share allowed, < 0: any */
  int64_t max_bytes;                 /* < 0: any */
  int64_t max_peak;                  /* < 0: any */
  bool timeline;                     /* the lives of buffers, and the bytes over time */
  const struct report_ask *baseline; /* an earlier report to explain what grew, or NULL */
} report_ask;

/* "10%" or "0.1": a share from 0 to 1. */
bool report_read_share(const char *text, double *share);

/* The filter for the arrays of one source. */
tesela_report_filter report_filter(const report_ask *ask, tesela_report_source source);
/* The first rows, most important first; to be freed. NULL without memory. */
const tesela_report_array **report_rows(const report_ask *ask, tesela_report_source source, int64_t *n);
/* Rows of both sources, and in *left those that `top` leaves out. */
int64_t report_n_rows(const report_ask *ask, int64_t *left);
/* Memory reports or modules that were found. */
int64_t report_n_sections(const report_ask *ask, tesela_report_source source);
/* Bytes of padding as a share of those stored, 0 for nothing. */
double report_share(int64_t padding, int64_t stored);
/* The shape whose layout an array has, as a value, if the reasons of its padding are those of the shape; false if none can be read, or several differ. */
bool report_shape(const tesela_report_array *array, tesela_xla_shape *shape);
/* The name of an input, or "". */
const char *report_input_name(const report_ask *ask, int32_t input);

/* The peak of a memory space: of HLO text, else of memory reports, with the compiler's total where it printed one. *source receives
 * which. false: there is nothing in that space. */
bool report_peak(const report_ask *ask, tesela_report_source source, int32_t space, tesela_report_peak *peak);
/* Is a file of this kind no text? */
static inline bool report_is_binary(tesela_record_kind kind) {
  return kind == TESELA_RECORD_PROTO || kind == TESELA_RECORD_PROFILE;
}
/* Is there more about a program than HLO text? */
bool report_has_records(const tesela_record_program *program);
/* Have the records another program of this name? */
bool report_same_name(const report_ask *ask, const tesela_record_program *program);
/* Do any of the programs have records? */
bool report_any_records(const tesela_records *records);
/* The peak of a program's memory space that follows from its scheduled HLO text, or -1. */
int64_t report_own_peak(const report_ask *ask, const tesela_record_program *program, int32_t space);
/* Where the records' peak and that of the HLO text differ: the number of spaces, the first of them in the text. */
bool report_peak_difference(const report_ask *ask, const tesela_record_program *program,
                            tesela_record_difference *difference);
/* What fragmentation costs; -1 if the lives are not known or the peaks differ. */
int64_t report_fragmentation(const report_ask *ask, const tesela_record_program *program,
                             const tesela_record_space *space);
/* The memory space of a limit on the peak: the main memory unless another one is asked for. */
int32_t report_peak_space(const report_ask *ask);

/* ---- limits: report_limits.c ------------------------------------------------------------------------------ */

typedef enum report_limit_why {
  REPORT_LIMIT_STORED,     /* by the arrays listed */
  REPORT_LIMIT_COMPILER,   /* by the compiler's own figures */
  REPORT_LIMIT_UNREADABLE, /* cannot tell: no array has a readable shape */
  REPORT_LIMIT_UNCERTAIN,  /* cannot tell: the limit is between its least and its most */
  REPORT_LIMIT_UNLISTED,   /* cannot tell: a memory report gives neither a list nor a total */
  REPORT_LIMIT_MISSING,    /* cannot tell: arrays are missing, as the report's `missing` note says */
} report_limit_why;

/* Memory reports and HLO text have totals of their own, and a limit holds for each. */
typedef struct report_limit {
  tesela_report_source source;
  bool is_waste; /* max_waste */
  bool is_peak;  /* max_peak; else max_bytes */
  bool known, holds;
  report_limit_why why;
  double least, most;              /* of max_waste, unless unreadable: the share that is padding */
  int64_t bytes;                   /* of max_bytes: the bytes that were found */
  int64_t least_bytes, most_bytes; /* of max_peak; most INT64_MAX: unknown */
} report_limit;

enum { REPORT_LIMITS = 3 * TESELA_REPORT_N_SOURCES };
/* The limits of the request, checked. *missing receives the note of why REPORT_LIMIT_MISSING. Returns how many. */
int report_limits(const report_ask *ask, report_limit limit[REPORT_LIMITS],
                  const tesela_report_note **missing);

/* ---- two reports: report_changes.c ------------------------------------------------------------------------ */

typedef struct changes_ask {
  report_ask before, after; /* both with the same options */
  const tesela_report_diff *diff;
  int64_t n; /* changes to show */
} changes_ask;

/* A memory space of a program that both sides have records of. */
typedef struct report_memory_change {
  const tesela_record_program *before, *after;
  const tesela_record_space *old_space, *new_space;
} report_memory_change;

enum { REPORT_GREW = 5 }; /* buffers that are listed */
/* Space `number` of all of them; false after the last. */
bool report_space_change(const changes_ask *ask, int64_t number, report_memory_change *change);
/* By how many bytes buffer i of `after` grew at the peak; all of them if it is new there. */
int64_t report_growth(const report_memory_change *change, int64_t i);
/* The member `memory`, if there are records on both sides. */
void report_put_memory_changes(tesela_sink *out, const changes_ask *ask);
/* The shape with its layout; of a row whose shape is not certain, all that it lists. */
const char *report_shape_text(const tesela_report_array *array);
bool report_lists_arrays(const report_ask *ask);
/* Are there memory reports on both sides, and no list of arrays on one of them? Then only the compiler's totals can be compared. */
bool report_compares_totals(const changes_ask *ask);
/* A figure of the first memory report that has it, or "". */
const char *report_figure_of(const report_ask *ask, int figure);
bool report_figure_differs(const changes_ask *ask, int figure);
int64_t report_figures_changed(const changes_ask *ask);

/* ---- more than a baseline: report_since.c ------------------------------------------------------------------ */

/* The arrays of one type and dims that live at both peaks. */
typedef struct report_grown {
  tesela_report_buffer array,
      was; /* the largest of each side; `array` that of before if none is left, `was` valid if there is one */
  int64_t before_bytes, after_bytes, n_before, n_after;
} report_grown;

/* The peaks before and after; false if one of them is not known with what lives then. */
bool report_since_peaks(const report_ask *before, const report_ask *after, int32_t space, int64_t bytes[2]);
/* The types and dims whose bytes at the peak differ, the largest growth first; *rows is to be freed. TESELA_OK or TESELA_E_MEMORY. */
tesela_status report_since(const report_ask *before, const report_ask *after, int32_t space,
                           report_grown **rows, int64_t *n);
/* The change that adds most bytes, or most padding; NULL if nothing grew. */
const tesela_report_change *report_since_change(const tesela_report_diff *diff, bool padding, int64_t *bytes);
/* The member `at_peak`. */
void report_put_since_peak(tesela_sink *out, const changes_ask *ask);
/* The member `baseline`. TESELA_OK or TESELA_E_MEMORY. */
tesela_status report_put_since(tesela_sink *out, const report_ask *ask);

/* ---- the answers: members of the object that is open ------------------------------------------------------ */

/* TESELA_OK or TESELA_E_MEMORY. */
tesela_status report_put_answer(tesela_sink *out, const report_ask *ask);
/* The member `allocator` of a section; none without one. */
void report_put_pool(tesela_sink *out, const report_ask *ask, const tesela_report_pool *pool);
/* The members `peak` and, if it is asked for, `lives`. */
tesela_status report_put_peak(tesela_sink *out, const report_ask *ask);

/* ---- what to change: remedies_put.c ------------------------------------------------------------------------ */

enum { REPORT_CULPRITS = 5 /* arrays that are shown */ };
/* "argument", "temporary". */
const char *report_buffer_role(tesela_report_buffer_role role);
tesela_status report_put_culprits(tesela_sink *out, const report_ask *ask);
/* The member `programs`, if there are records. */
void report_put_records(tesela_sink *out, const report_ask *ask);
void report_put_changes(tesela_sink *out, const changes_ask *ask);
/* A key with a number, null where it is not known. */
static inline void report_put_known(tesela_sink *j, const char *name, bool known, int64_t value) {
  tesela_put_key(j, name);
  if (known)
    tesela_put_int(j, value);
  else
    tesela_put_null(j);
}

#endif
