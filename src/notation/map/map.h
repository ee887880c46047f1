/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - shared by all notations of index expressions: a text as terms, before they become digits, and sums as text.
 *
 *   map_read.c         map(d0:3, d1:5) -> memory[24]: ...
 *   map_expression.c   an expression in any spelling -> a value: "12 * (d0 // 2)", "(d0 floordiv 2) * 12"
 *   map_value.c        values: sums of terms; their sum, quotient, remainder, XOR
 *   map_bits.c         bits of places; terms that are XORs of bits -> a bit matrix
 *   map_lower.c        terms -> digits
 *   map_print.c        digits -> text, in any spelling
 */
#ifndef TESELA_NOTATION_MAP_H
#define TESELA_NOTATION_MAP_H

#include <tesela/notation.h>

#include "base/reader.h"

enum {
  TESELA__MAP_NAMES = TESELA_MAX_RANK + TESELA_MAX_DIGITS + TESELA_MAX_JOINS + TESELA_MAX_AXES,
  TESELA__MAP_TERMS = 2 * TESELA_MAX_DIGITS,
  TESELA__MAP_MODULI = 16,
  TESELA__MAP_VALUES = 80, /* results and operands of one expression */
  TESELA__MAP_BITS = 64,   /* different bits of names that are operands of an XOR */
  TESELA__MAP_PARITIES = 128
};

typedef enum tesela__map_kind {
  TESELA__MAP_DIM,
  TESELA__MAP_COPY,
  TESELA__MAP_SUM,
  TESELA__MAP_AXIS,
  TESELA__MAP_PARITY /* the XOR of some bits of names: 0 or 1 */
} tesela__map_kind;

typedef struct tesela__map_name {
  tesela__map_kind kind;
  int32_t number; /* dim, copy, sum or axis */
  size_t at, length;
} tesela__map_name;

/* factor * (x % modulus[0] % modulus[1] .. / divisor), x a coordinate or a copy; the moduli decrease, and none divides the one
 * before it. */
typedef struct tesela__map_term {
  tesela__map_kind kind; /* DIM, COPY, SUM or PARITY */
  int32_t number;        /* of x */
  int32_t target;        /* the sum that it is a part of; or -1 - axis */
  int64_t factor, divisor;
  int32_t n_moduli;
  int64_t modulus[TESELA__MAP_MODULI];
  size_t at; /* in the text */
} tesela__map_term;

/* constant + the sum of term[first .. first + n - 1], a number from low to high. */
typedef struct tesela__map_value {
  int32_t first, n;
  int64_t constant, low, high;
  int64_t
      most;   /* `high` if every remainder by n may be n - 1: the extent that others give a result, less 1 */
  bool fixed; /* a number, without names */
  size_t at;  /* in the text */
} tesela__map_value;

/* A text whose expressions are read; or terms that are put together without one. */
typedef struct tesela__map_text {
  tesela__reader reader;
  int32_t n_names, n_dims, n_copies, n_sums, n_axes, n_terms;
  tesela_dtype dtype;
  int32_t bits;
  int64_t shape[TESELA_MAX_RANK], copies[TESELA_MAX_DIGITS],
      sum[TESELA_MAX_JOINS]; /* of a sum: its constant */
  size_t sum_at[TESELA_MAX_JOINS], axis_at[TESELA_MAX_AXES];
  char axis_name[TESELA_MAX_AXES][TESELA_AXIS_NAME];
  int64_t axis_extent[TESELA_MAX_AXES], axis_offset[TESELA_MAX_AXES];
  uint64_t flip[TESELA_MAX_AXES][62]
               [TESELA_MAX_AXES]; /* bits of the last axis that a bit of the first one flips */
  size_t stage_at;
  int64_t sum_high[TESELA_MAX_JOINS]; /* greatest value of a sum */
  uint32_t named_sums;                /* bit j: sum j was declared, so it must be used */
  bool tight_sign;                    /* -x / 2 is (-x) / 2, not -(x / 2) */
  bool grows;                         /* an axis has at least the places that its digits reach */
  bool as_written;                    /* quotients of sums are not simplified */
  bool parities;                      /* the remainder by 2 of a sum of bits is their XOR */
  int32_t n_values, n_kept;           /* n_kept: terms of sums and axes, the last ones of `term` */
  int32_t n_bits, n_parities;
  uint64_t parity[TESELA__MAP_PARITIES]; /* its operands among `bit` */
  tesela__map_value value[TESELA__MAP_VALUES];
  tesela__map_name name[TESELA__MAP_NAMES];
  tesela__map_term term[TESELA__MAP_TERMS];
  tesela__map_term bit[TESELA__MAP_BITS];
} tesela__map_text;

/* ---- map_read.c ---- */

/* An empty text; `r` reads what follows. */
void tesela__map_begin(tesela__map_text *m, const tesela__reader *r);
/* Reads a text, or puts terms together: keeps sums and axes, calls no lowering. */
typedef tesela_status (*tesela__map_reading)(tesela__map_text *m, const void *user);
/* Make a layout of what `read` reads: quotients of sums are simplified, or kept as written; remainders by 2 are digits, or XORs.
 * The first way that gives a layout counts; else the error of the first one. On failure *out keeps its value. */
tesela_status tesela__map_make(const tesela__reader *r, tesela__map_reading read, const void *user,
                               tesela_layout *out, tesela_error *err);
/* ---- map_names.c ---- */

/* Read a new name, at most TESELA__MAP_NAMES; `what` is expected. */
tesela_status tesela__map_declare(tesela__map_text *m, tesela__map_kind kind, int32_t number,
                                  const char *what);
/* The name of this text; NULL: unknown. */
const tesela__map_name *tesela__map_find(const tesela__map_text *m, size_t at, size_t length);

/* ---- map_value.c: a stack of values ---- */

typedef enum tesela__map_operation {
  TESELA__MAP_OPEN, /* not an operation: an opening parenthesis */
  TESELA__MAP_XOR,
  TESELA__MAP_AND,
  TESELA__MAP_LEFT, /* a shift */
  TESELA__MAP_RIGHT,
  TESELA__MAP_ADD,
  TESELA__MAP_SUBTRACT,
  TESELA__MAP_MULTIPLY,
  TESELA__MAP_DIVIDE, /* rounded down */
  TESELA__MAP_DIVIDE_UP,
  TESELA__MAP_MODULO,
  TESELA__MAP_NEGATE
} tesela__map_operation;

tesela_status tesela__map_push_number(tesela__map_text *m, int64_t number, size_t at);
/* A dim, a copy or a sum. */
tesela_status tesela__map_push_name(tesela__map_text *m, tesela__map_kind kind, int32_t number, size_t at);
tesela_status tesela__map_push_term(tesela__map_text *m, const tesela__map_term *term, size_t at);
/* Replace the operands on top of the stack with the result; `at` is the operator's. */
tesela_status tesela__map_operate(tesela__map_text *m, tesela__map_operation operation, size_t at);
/* x / n or x % n, of a term with factor 1. */
tesela_status tesela__map_apply(const tesela__map_text *m, tesela__map_term *term, bool divide, int64_t n);
/* Make a new sum of the value on top of the stack, and pop it. */
tesela_status tesela__map_keep_sum(tesela__map_text *m);
/* Add scale * value number v, which stays on the stack, to an axis. */
tesela_status tesela__map_keep_on_axis(tesela__map_text *m, int32_t v, int32_t axis, int64_t scale);

/* ---- map_expression.c ---- */

typedef struct tesela__map_operator {
  const char *text;
  tesela__map_operation operation;
} tesela__map_operator;

/* Read an expression and push its value. Operators end with a NULL text; those that begin others come later. */
tesela_status tesela__map_expression(tesela__map_text *m, const tesela__map_operator *operators);

/* ---- map_bits.c ---- */

typedef enum tesela__bit_kind { TESELA__BIT_ZERO, TESELA__BIT_DIGIT, TESELA__BIT_MIXED } tesela__bit_kind;

/* Bit k of the places on an axis, before the bit matrix: always 0, or bit *of of digit *digit, or neither. */
tesela__bit_kind tesela__bit_of_place(const tesela_layout *layout, int32_t axis, int32_t k, int32_t *digit,
                                      int32_t *of);

/* Make the layout of all kept terms; empties the stack. */
tesela_status tesela__map_finish(tesela__map_text *m, tesela_layout *out, tesela_error *err);

/* ---- map_print.c: canonical layouts as text ---- */

typedef enum tesela__places_text {
  TESELA__PLACES_BY_NAME,   /* a place is written as the name of its axis */
  TESELA__PLACES_BY_NUMBER, /* as p0, p1 */
  TESELA__PLACES_INSIDE     /* as its sum; bits of it as those of dims, where they are some */
} tesela__places_text;

typedef struct tesela__spelling {
  const char *divide, *modulo, *times; /* with their blanks */
  const char *suffix;                  /* of numbers: "u" */
  char dim;                            /* 'd': dims are d0, d1 */
  bool number_first;                   /* 12*x; else x * 12 */
  uint32_t named_sums;                 /* bit j: sum j was declared, so it must be used */
  bool tight_sign;                     /* as in tesela__map_text */
  bool sums_inside;                    /* sums in parentheses; else s0, s1 */
  bool exclusive;                      /* has ^ */
  tesela__places_text places;
} tesela__spelling;

/* TESELA_E_UNSUPPORTED unless the names of the axes are different words. */
tesela_status tesela__check_axis_names(const tesela_layout *layout, tesela_error *err);
/* The digits of axis or n_axes + join, and an offset. */
void tesela__put_sum(tesela__sink *sink, const tesela__spelling *sp, const tesela_layout *layout,
                     int32_t target, int64_t offset);
/* How many terms that has if sums are inside; at most 2^40 for more. */
int64_t tesela__sum_terms(const tesela_layout *layout, int32_t target);
/* Does the bit matrix change places on this axis? */
/* Of bits of the places on axis a, those of axis b? */
bool tesela__axis_flips_axis(const tesela_layout *layout, int32_t a, int32_t b);
bool tesela__axis_flips(const tesela_layout *layout, int32_t axis);
/* The place on an axis, after the bit matrix. */
void tesela__put_place_on(tesela__sink *sink, const tesela__spelling *sp, const tesela_layout *layout,
                          int32_t axis);
/* Digit i, without its stride. */
void tesela__put_digit(tesela__sink *sink, const tesela__spelling *sp, const tesela_layout *layout,
                       int32_t i);

/* ---- map_lower.c ---- */

/* Make the layout of terms without parities. */
tesela_status tesela__map_lower(const tesela__map_text *map, tesela_layout *out, tesela_error *err);

#endif
