/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_in_place.h - runs of tesela_plan_run_in_place against the definition: for every place of the axis
 * a test says what it is, an element, padding, or none of the layout's; from the tables of both sides comes
 * every byte of the buffer afterwards. Buffers end at a page that cannot be touched.
 */
#ifndef TESELA_TESTS_SUPPORT_IN_PLACE_H
#define TESELA_TESTS_SUPPORT_IN_PLACE_H

#include "support_xla.h"

enum {
  GAP = -1, /* what a place is, if no number of an element */
  PADDING = -2
};

/* One copy: tables of both sides, and what is asked for. */
typedef struct in_place_job {
  const char *name;
  int64_t dst_places, src_places;
  const int64_t *dst, *src; /* tables */
  int width;                /* bytes of an element */
  tesela_plan_options options;
} in_place_job;

/* Random numbers begin anew. */
void in_place_begin(uint64_t seed);

/* Byte b of element e; no two elements of a test are equal in all bytes but by chance. */
unsigned char in_place_byte(int64_t e, int b);

/* Run a plan with marks (and a byte after them that must stay) and without. */
void in_place_run(const in_place_job *j, const tesela_plan *plan);
void in_place_draw_options(tesela_plan_options *options, int width);
uint64_t in_place_bits(void);
int64_t in_place_below(int64_t n);
bool in_place_one_in(int64_t n);
int64_t in_place_product(int n, const int64_t *factor);
tesela_layout in_place_layout(const char *text);

#endif
