/* SPDX-License-Identifier: Apache-2.0 */
/* support_cute_text.c - see support_cute_text.h. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tesela/cute.h>
#include "support_cute_text.h"

static uint64_t draw_state;

void cute_draw_from(uint64_t seed) { draw_state = seed; }

uint64_t cute_draw(uint64_t n) { /* 0 .. n-1 */
  draw_state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t z = draw_state;
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return (z ^ z >> 31) % n;
}

int64_t cute_xor(int bits, int base, int shift, int64_t x) {
  int64_t mask = (INT64_C(1) << bits) - 1;
  if (shift >= 0) return x ^ ((x >> (base + shift) & mask) << base);
  return x ^ ((x >> base & mask) << (base - shift));
}

int64_t cute_formula(const random_cute *c, const int64_t *index) {
  int64_t sum = c->offset;
  for (int d = 0; d < c->rank; d++) {
    int64_t x = index[d];
    for (int i = 0; i < c->n[d]; i++) {
      sum += x % c->extent[d][i] * c->stride[d][i];
      x /= c->extent[d][i];
    }
  }
  return cute_xor(c->bits, c->base, c->shift, sum);
}

void cute_random_text(random_cute *c) {
  size_t n = 0;
  if (c->bits > 0 || c->offset != 0)
    n += (size_t)sprintf(c->text, "Sw<%d,%d,%d> o %" PRId64 " o ", c->bits, c->base, c->shift, c->offset);
  for (int part = 0; part < 2; part++) {
    n += (size_t)sprintf(c->text + n, part ? ":(" : "(");
    for (int d = 0; d < c->rank; d++) {
      n += (size_t)sprintf(c->text + n, d ? ",(" : "(");
      for (int i = 0; i < c->n[d]; i++)
        n += (size_t)sprintf(c->text + n, "%s%" PRId64, i ? "," : "", (part ? c->stride : c->extent)[d][i]);
      n += (size_t)sprintf(c->text + n, ")");
    }
    n += (size_t)sprintf(c->text + n, ")");
  }
}

/* At most `most` elements. `compact`: strides are those of some order of the leaves, now and then padded. */
void cute_random_draw(random_cute *c, int64_t most, bool compact) {
  int64_t low = 0, next = 1;
  int order[CUTE_DIMS * 4], leaves = 0;
  memset(c, 0, sizeof *c);
  c->rank = 1 + (int)cute_draw(3);
  c->size = 1;
  for (int d = 0; d < c->rank; d++) {
    c->n[d] = 1 + (int)cute_draw(3);
    c->shape[d] = 1;
    for (int i = 0; i < c->n[d]; i++) {
      int64_t extent = cute_draw(3) ? INT64_C(1) << cute_draw(3) : 1 + (int64_t)cute_draw(5);
      if (c->size * extent > most) extent = 1;
      c->extent[d][i] = extent;
      c->shape[d] *= extent;
      c->size *= extent;
      order[leaves++] = d * 4 + i;
    }
  }
  for (int k = leaves - 1; k > 0; k--) {
    int other = (int)cute_draw((uint64_t)k + 1), swap = order[k];
    order[k] = order[other];
    order[other] = swap;
  }
  for (int k = 0; k < leaves; k++) {
    int d = order[k] / 4, i = order[k] % 4;
    c->stride[d][i] = compact ? next : (int64_t)cute_draw(40) - (cute_draw(4) == 0 ? 20 : 0);
    next *= c->extent[d][i];
    if (compact && cute_draw(5) == 0) next += 1 + (int64_t)cute_draw(3);
    if (c->stride[d][i] < 0) low += c->stride[d][i] * (c->extent[d][i] - 1);
  }
  c->offset = cute_draw(3) ? -low : -low + (int64_t)cute_draw(20);
  if (cute_draw(3) == 0) {
    c->bits = 1 + (int)cute_draw(3);
    c->base = (int)cute_draw(3);
    c->shift = (c->bits + (int)cute_draw(3)) * (cute_draw(3) ? 1 : -1);
  }
  cute_random_text(c);
}

tesela_layout cute_read_layout(const char *text, const char *as, const tesela_xla_shape *array) {
  tesela_any_layout any;
  tesela_error err = {.message = ""};
  const tesela_layout_read_options options = {.as = as, .array = array};
  if (tesela_layout_read(text, strlen(text), &options, &any, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  assert_int_equal(any.kind, TESELA_KIND_RELATION);
  return any.relation;
}

tesela_any_layout cute_read_any(const char *text) {
  tesela_any_layout any;
  tesela_error err = {.message = ""};
  if (tesela_layout_read(text, strlen(text), NULL, &any, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  return any;
}

tesela_translation cute_translate(const tesela_any_layout *any, char *text, size_t room) {
  tesela_buffer buffer = {text, room, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_translation answer;
  tesela_error err = {.message = ""};
  text[0] = '\0';
  if (tesela_translate(any, "cute", &to, &answer, &err) != TESELA_OK) fail_msg("%s", err.message);
  assert_true(buffer.length < room);
  assert_int_equal(buffer.length == 0, answer.verdict == TESELA_IMPOSSIBLE);
  return answer;
}

/* The value of a text at an index. */
int64_t cute_text_value(const tesela_cute *c, const int64_t *index) {
  int64_t sum = c->offset, rest = 0;
  int depth = 0, d = -1;
  for (int32_t i = 0; i < c->n; i++) {
    if (depth <= 1) rest = index[++d];
    sum += rest % c->extent[i] * c->stride[i];
    rest /= c->extent[i];
    depth += c->open[i] - c->close[i];
  }
  return cute_xor(c->bits, c->base, c->shift, sum);
}
