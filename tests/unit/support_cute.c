/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_cute.c - the oracle of the algebra of CuTe layouts, and random layouts.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_cute.h"
#include "support_seed.h"

/* ---- the oracle ---- */

/* The value before the XOR at a flat coordinate, which may be beyond the size: digits, the last one without an end. */
int64_t cute_value(const tesela_cute *c, int64_t i) {
  int64_t value = c->offset;
  for (int32_t k = 0; k + 1 < c->n; k++) {
    value += (i % c->extent[k]) * c->stride[k];
    i = i / c->extent[k];
  }
  return c->n > 0 ? value + i * c->stride[c->n - 1] : value;
}

int64_t cute_size(const tesela_cute *c) {
  int64_t size = 1;
  for (int32_t k = 0; k < c->n; k++) size *= c->extent[k];
  return size;
}

/* Sizes of the outer modes. */
int cute_modes(const tesela_cute *c, int64_t *size) {
  int depth = 0, n = 0;
  const int outer = c->n > 0 && c->open[0] > 0;
  for (int32_t k = 0; k < c->n; k++) {
    if (k == 0 || depth == outer) size[n++] = 1;
    size[n - 1] *= c->extent[k];
    depth += c->open[k] - c->close[k];
  }
  return n;
}

/* Do extents, tried one after the other with the strides read from the values, have the values of one mode? Those tried so far have
 * `size` values. `unit`: coordinates between neighbours; `left`: the product of the extents to try. */
static bool one_mode(const int64_t *value, int64_t unit, int64_t size, int64_t left) {
  if (left == 1) return true;
  for (int64_t extent = 2; extent <= left; extent++) {
    if (left % extent != 0) continue;
    const int64_t stride = value[size * unit] - value[0];
    bool agrees = true;
    for (int64_t i = size; i < size * extent && agrees; i++)
      agrees = value[i * unit] == value[i % size * unit] + i / size * stride;
    if (agrees && one_mode(value, unit, size * extent, left / extent)) return true;
  }
  return false;
}

/* Are there extents and strides with these values, of outer modes of these sizes? */
bool cute_exists(const int64_t *value, int modes, const int64_t *mode) {
  int64_t size = 1;
  for (int m = 0; m < modes; m++) size *= mode[m];
  for (int64_t i = 0; i < size; i++) { /* the sum over modes */
    int64_t sum = value[0], rest = i, unit = 1;
    for (int m = 0; m < modes; m++) {
      sum += value[rest % mode[m] * unit] - value[0];
      rest /= mode[m];
      unit *= mode[m];
    }
    if (sum != value[i]) return false;
  }
  int64_t unit = 1;
  for (int m = 0; m < modes; m++) {
    if (!one_mode(value, unit, 1, mode[m])) return false;
    unit *= mode[m];
  }
  return true;
}

/* The fewest extents that have the values, by trying all; more than 16 if none do. */
int cute_fewest_leaves(const int64_t *value, int64_t size, int64_t left) {
  int fewest = left == 1 ? 0 : 100;
  for (int64_t extent = 2; extent <= left; extent++) {
    if (left % extent != 0) continue;
    const int64_t stride = value[size] - value[0];
    bool agrees = true;
    for (int64_t i = size; i < size * extent && agrees; i++)
      agrees = value[i] == value[i % size] + i / size * stride;
    const int more = agrees ? 1 + cute_fewest_leaves(value, size * extent, left / extent) : 100;
    if (more < fewest) fewest = more;
  }
  return fewest;
}

/* ---- random layouts ---- */

static uint64_t state;
void cute_seed(void) { state = first_seed() | 1; }

int64_t cute_cases(int64_t usual) {
  const char *wanted = getenv("TESELA_CASES");
  return wanted ? strtoll(wanted, NULL, 10) : slow_run() ? usual / 10 : usual;
}

void cute_print_cases(int64_t n, const char *what, const char *verdict) {
  if (n > 0) print_message("cases: %" PRId64 " CuTe %s, %s\n", n, what, verdict);
}

int64_t cute_below(int64_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int64_t)((state * 0x9e3779b97f4a7c15u >> 20) % (uint64_t)n);
}

static void wrap(tesela_cute *c, int first, int last) {
  c->open[first]++;
  c->close[last]++;
}

/* Random brackets around the leaves: rank 0, flat, or nested once. */
static void add_brackets(tesela_cute *c) {
  if (c->n == 1 && cute_below(2) == 0) return;
  for (int k = 0; k + 1 < c->n; k++)
    if (cute_below(3) == 0) {
      int last = k + 1 + (int)cute_below(c->n - k - 1);
      if (last - k + 1 < c->n || cute_below(2) == 0) wrap(c, k, last);
      k = last;
    }
  wrap(c, 0, c->n - 1);
}

static int64_t an_extent(int kind) {
  static const int64_t odd[] = {3, 5, 6, 7, 9, 10, 12, 15};
  if (kind == CUTE_ODD || (kind != CUTE_USUAL && cute_below(3) == 0)) return odd[cute_below(8)];
  return cute_below(12) == 0 ? 1 : (int64_t)1 << (1 + cute_below(3));
}

void cute_random_a(tesela_cute *a, int kind) {
  memset(a, 0, sizeof *a);
  a->n = 1 + (int32_t)cute_below(4);
  int64_t stride = 1;
  for (int k = 0; k < a->n; k++) a->extent[k] = an_extent(kind);
  int order[4] = {0, 1, 2, 3};
  for (int k = a->n - 1; k > 0; k--) {
    int j = (int)cute_below(k + 1), swap = order[k];
    order[k] = order[j];
    order[j] = swap;
  }
  for (int k = 0; k < a->n; k++) {
    const int leaf = order[k];
    a->stride[leaf] = kind == CUTE_WILD ? cute_below(20) : stride;
    stride *= a->extent[leaf];
    if (cute_below(5) == 0) stride += 1 + cute_below(4);
    if (kind == CUTE_ZERO && cute_below(2) == 0) a->stride[leaf] = 0;
    if (kind == CUTE_NEGATIVE && cute_below(2) == 0) a->stride[leaf] = -a->stride[leaf];
  }
  if (kind == CUTE_SWIZZLED) {
    a->bits = 1 + (int32_t)cute_below(3);
    a->base = (int32_t)cute_below(4);
    a->shift = a->bits + (int32_t)cute_below(2);
    if (cute_below(3) == 0) a->shift = -a->shift;
    a->offset = cute_below(3) == 0 ? cute_below(32) : 0;
  }
  add_brackets(a);
}

/* A layout whose steps often fall on digits of A. */
void cute_random_b(tesela_cute *b, const tesela_cute *a, int kind, int64_t most) {
  int64_t size = 1, next = 1, digits[9];
  int n_digits = 0;
  memset(b, 0, sizeof *b);
  for (int k = 0; k <= a->n; k++) {
    digits[n_digits++] = size;
    if (k < a->n && a->extent[k] % 2 == 0) digits[n_digits++] = size * 2;
    if (k < a->n) size *= a->extent[k];
    if (n_digits > 7) break;
  }
  const int leaves = 1 + (int)cute_below(4);
  for (int64_t total = 1; b->n < leaves;) {
    int64_t extent = an_extent(kind);
    if (total * extent > most) break;
    total *= extent;
    int64_t stride = digits[cute_below(n_digits)];
    if (cute_below(3) == 0) stride = next;
    if (cute_below(6) == 0) stride = cute_below(12);
    if (kind == CUTE_ZERO && cute_below(4) == 0) stride = 0;
    if (kind == CUTE_BEYOND && cute_below(2) == 0) stride = size;
    b->extent[b->n] = extent;
    b->stride[b->n++] = stride;
    next = stride * extent;
  }
  if (b->n == 0) {
    b->n = 1;
    b->extent[0] = 1 + cute_below(most < 8 ? most : 8);
    b->stride[0] = 1 + cute_below(3);
  }
  if (kind == CUTE_TRUNCATED && b->n > 0) { /* cut off in a digit of A */
    const int k = (int)cute_below(b->n);
    if (b->extent[k] > 2) b->extent[k] -= 1 + cute_below(b->extent[k] - 2);
  }
  add_brackets(b);
}

const char *cute_text(const tesela_cute *c) {
  static char room[4][512];
  static int next;
  char *text = room[next++ % 4];
  tesela_buffer buffer = {text, sizeof room[0], 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  if (tesela_cute_print(c, &to, NULL) != TESELA_OK) snprintf(text, sizeof room[0], "(cannot be printed)");
  return text;
}

tesela_cute cute_read(const char *text) {
  tesela_cute c;
  tesela_error err;
  if (tesela_cute_parse(&c, text, strlen(text), &err) != TESELA_OK) fail_msg("%s: %s", text, err.message);
  return c;
}
