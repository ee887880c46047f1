/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_in_place.h - runs of tesela_plan_run_in_place against the definition: for every place of the axis a test
 * gives the element, padding or gap there; the tables of both sides give every byte of the buffer afterwards. Buffers
 * end at a page that is inaccessible.
 */
#ifndef TESELA_TESTS_SUPPORT_IN_PLACE_H
#define TESELA_TESTS_SUPPORT_IN_PLACE_H

#include "support_xla.h"

enum {
  GAP = -1, /* a place without an element: a gap or padding */
  PADDING = -2
};

/* One copy: tables of both sides, and the options. */
typedef struct in_place_job {
  const char *name;
  int64_t dst_places, src_places;
  const int64_t *dst, *src; /* tables */
  int bits;                 /* of an element */
  tesela_plan_options options;
} in_place_job;

/* Restart the random numbers. */
void in_place_begin(uint64_t seed);

/* Byte b of element e; elements of a test differ in some byte, except by chance. */
unsigned char in_place_byte(int64_t e, int b);

/* Run a plan with scratch, which ends at an inaccessible page, and without. */
void in_place_run(const in_place_job *j, const tesela_plan *plan);

/* The same for plans of every instruction set, of 1 to 4 threads, and `n_random` ones that may use little scratch, so that small
 * tensors have passes that otherwise only large ones have. Counts the methods that the plans explain. */
void in_place_run_all(const in_place_job *j, const tesela_layout *dst, const tesela_layout *src,
                      int n_random);

/* Plans so far whose passes include one with these words. */
int in_place_count(const char *words);
void in_place_draw_options(tesela_plan_options *options, int bits);
uint64_t in_place_bits(void);
int64_t in_place_below(int64_t n);
bool in_place_one_in(int64_t n);
int64_t in_place_product(int n, const int64_t *factor);
tesela_layout in_place_layout(const char *text);

#endif
