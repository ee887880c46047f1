/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_forms.h - which places the texts of a notation can give to the first elements of an array: a search through all splits of the
 * dims, for tests that refute "impossible" and the smallest contradiction. It shares no code with the library.
 */
#ifndef UNIT_SUPPORT_FORMS_H
#define UNIT_SUPPORT_FORMS_H

#include <stdbool.h>
#include <stdint.h>

#include <tesela/layout.h>

enum { FORM_ELEMENTS = 64, FORM_DIMS = 4 };

/* A layout as a table: the elements in row-major order. */
typedef struct form_table {
  int rank, n;
  int64_t shape[FORM_DIMS], index[FORM_ELEMENTS][FORM_DIMS];
  int64_t place[FORM_ELEMENTS], most; /* the first place of each; the largest */
  int bits;                           /* of the places of the axis: an XOR is of these */
  int copies;
  int64_t copy[FORM_ELEMENTS][4]; /* ascending */
} form_table;

typedef enum form_kind {
  FORM_DIGITS, /* numbers are cut by steps, each digit has a stride */
  FORM_RADIX,  /* the parts of all numbers, in an order, without gaps */
  FORM_TILED,  /* parts without gaps, then the rest of each dim at multiples of their product */
  FORM_STRING, /* one block of each dim; only whole tables, without contradictions */
  FORM_IREE    /* tiles, or row-major with padding; the same */
} form_kind;

typedef enum form_numbers {
  NUMBERS_DIMS,
  NUMBERS_ALL,
  NUMBERS_JOINED
} form_numbers; /* joined: some dims, in any order */
typedef enum form_steps { STEPS_ONE, STEPS_DIVIDE, STEPS_CHAIN, STEPS_ANY } form_steps;
typedef enum form_strides {
  STRIDES_ANY,
  STRIDES_UP,
  STRIDES_APART,
  STRIDES_MULTIPLE,
  STRIDES_FILLED
} form_strides;

typedef struct form form;
struct form {
  const char *notation;
  form_kind kind;
  form_numbers numbers;
  form_steps steps;
  form_strides strides;
  bool flips;              /* one shifted XOR of the places */
  bool replicas;           /* all elements have the same copies */
  bool at_zero;            /* element 0 is at 0 */
  const form *contradicts; /* the form of which contradictions are the smallest, if another */
  bool registers;          /* or vector registers of TPUs */
  bool pack;               /* one part of a dim at most, then the dims */
};

/* Strides: any; 0 or more; more than the places of all digits below; a multiple of the next smaller one, with room for its values; and
 * of all its values, if it is not the last digit of its number. */
/* Places of an element; 2: at least two. */
typedef struct form_next {
  int n;
  int64_t place;
} form_next;

/* False for a layout of more than 64 elements, of several axes, or of more than 4 copies. */
bool form_tabulate(const tesela_layout *layout, form_table *t);
int form_number(const form_table *t, const int64_t *index);
/* Does a text of the notation place the first `count` elements as the table? All lists of steps, parts and XORs are tried. */
bool form_exists(const form *f, const form_table *t, int count);
/* Where the texts that agree with the first `count` elements place the next one. */
form_next form_expected(const form *f, const form_table *t, int count);

#endif
