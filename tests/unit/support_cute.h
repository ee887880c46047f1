/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_cute.h - the oracle of the algebra of CuTe layouts, which shares no code with the library, and random layouts.
 */
#ifndef TESELA_TESTS_SUPPORT_CUTE_H
#define TESELA_TESTS_SUPPORT_CUTE_H

#include <stdbool.h>
#include <stdint.h>

#include <tesela/cute.h>

enum { CUTE_MOST = 4096 }; /* the greatest size of a random layout */

/* The value before the XOR at a flat coordinate, which may be beyond the size: digits, the last one without an end. */
int64_t cute_value(const tesela_cute *c, int64_t i);
int64_t cute_size(const tesela_cute *c);
/* Sizes of the outer modes; returns their number. */
int cute_modes(const tesela_cute *c, int64_t *size);

/* Are there extents and strides with these values, of outer modes of these sizes? All ordered factorisations are tried. */
bool cute_exists(const int64_t *value, int modes, const int64_t *mode);
/* The fewest extents that have the values, by trying all; more than 16 if none do: cute_fewest_leaves(value, 1, size). */
int cute_fewest_leaves(const int64_t *value, int64_t size, int64_t left);

/* Start the random numbers with TESELA_SEED. */
void cute_seed(void);
int64_t cute_below(int64_t n);
/* How many cases to draw: TESELA_CASES, or the usual number. */
int64_t cute_cases(int64_t usual);
/* A line "cases: n CuTe what, verdict", as tools/count_cases.sh adds them up; none for 0. */
void cute_print_cases(int64_t n, const char *what, const char *verdict);

enum {
  CUTE_USUAL,
  CUTE_ZERO,
  CUTE_NEGATIVE,
  CUTE_SWIZZLED,
  CUTE_ODD,
  CUTE_TRUNCATED,
  CUTE_BEYOND,
  CUTE_WILD,
  CUTE_KINDS
};

void cute_random_a(tesela_cute *a, int kind);
/* A layout of size up to `most`, whose steps often fall on digits of A. */
void cute_random_b(tesela_cute *b, const tesela_cute *a, int kind, int64_t most);

/* The text of a layout, in one of four static rooms. */
const char *cute_text(const tesela_cute *c);
tesela_cute cute_read(const char *text);

#endif
