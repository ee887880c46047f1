/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_cute_text.h - random texts of CuTe layouts with their formulas, and reading and writing them.
 */
#ifndef TESELA_TESTS_SUPPORT_CUTE_TEXT_H
#define TESELA_TESTS_SUPPORT_CUTE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <tesela/cute.h>
#include <tesela/notation.h>

enum { CUTE_DIMS = 4 };

/* A random layout: dims of nested leaves, and its formula. */
typedef struct random_cute {
  int rank, n[CUTE_DIMS];
  int64_t extent[CUTE_DIMS][4], stride[CUTE_DIMS][4], shape[CUTE_DIMS], size, offset;
  int bits, base, shift;
  char text[512];
} random_cute;

/* Random numbers 0 .. n-1, from a seed on. */
void cute_draw_from(uint64_t seed);
uint64_t cute_draw(uint64_t n);

int64_t cute_xor(int bits, int base, int shift, int64_t x);
/* The place of an element. */
int64_t cute_formula(const random_cute *c, const int64_t *index);
/* Write the text of the other members. */
void cute_random_text(random_cute *c);
/* Draw a layout of at most `most` elements; compact: leaves of increasing strides with few gaps. */
void cute_random_draw(random_cute *c, int64_t most, bool compact);

/* Read a layout; a refusal fails the test. */
tesela_layout cute_read_layout(const char *text, const char *as, const tesela_xla_shape *array);
tesela_any_layout cute_read_any(const char *text);
/* Write a layout as CuTe text, "" if that is impossible. */
tesela_translation cute_translate(const tesela_any_layout *any, char *text, size_t room);
/* The value of a text at an index. */
int64_t cute_text_value(const tesela_cute *c, const int64_t *index);

#endif
