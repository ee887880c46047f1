/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cute_write_search.c - writing CuTe layouts against an exhaustive search.
 *
 * The search knows only values: it tries every shifted XOR and every ordered factorisation of every extent, with the strides read
 * from the values, and an exact, a larger or no text has to exist as the verdict says.
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

#include <tesela/cute.h>
#include <tesela/notation.h>

#include "support_cute.h"
#include "support_cute_text.h"
#include "support_seed.h"

enum { SEARCHED = 64 };

/* The values of an array, row-major. */
typedef struct values {
  int rank;
  int64_t shape[CUTE_DIMS], n, value[SEARCHED], places;
} values;

static bool next_index(const values *v, int64_t *index) {
  return tesela_index_next(v->rank, v->shape, index);
}

/* How modes of some factorisation fit: NONE, CUT (the last extent is larger than the dim needs) or WHOLE. */
typedef enum fit { NONE, CUT, WHOLE } fit;

/* All ordered factorisations of dim d: steps step[0..n-1] are chosen, the next is any multiple below the extent. y: values along d. */
static fit search_dim(const int64_t *y, int64_t extent, int64_t *step, int n) {
  fit best = NONE;
  bool fits = true;
  for (int64_t x = 0; x < extent && fits; x++) {
    int64_t sum = y[0];
    for (int k = 0; k < n; k++) sum += (k + 1 < n ? x % step[k + 1] : x) / step[k] * (y[step[k]] - y[0]);
    fits = sum == y[x];
  }
  if (fits) best = n == 0 || extent % step[n - 1] == 0 ? WHOLE : CUT;
  for (int64_t next = n == 0 ? 1 : 2 * step[n - 1]; next < extent && best != WHOLE;
       next += n == 0 ? extent : step[n - 1]) {
    step[n] = next;
    fit found = search_dim(y, extent, step, n + 1);
    if (found > best) best = found;
  }
  return best;
}

/* Without an XOR, or after one: every dim, and the dims add up. */
static fit search_modes(const values *v, int bits, int base, int shift) {
  int64_t y[SEARCHED], index[CUTE_DIMS] = {0}, n = 0, step[8], weight[CUTE_DIMS];
  fit best = WHOLE;
  for (int64_t i = 0; i < v->n; i++) y[i] = cute_xor(bits, base, shift, v->value[i]);
  for (int d = v->rank - 1, w = 1; d >= 0; d--) {
    weight[d] = w;
    w *= (int)v->shape[d];
  }
  do {
    int64_t sum = y[0];
    for (int d = 0; d < v->rank; d++) sum += y[index[d] * weight[d]] - y[0];
    if (sum != y[n++]) return NONE;
  } while (next_index(v, index));
  for (int d = 0; d < v->rank; d++) {
    int64_t along[SEARCHED];
    for (int64_t x = 0; x < v->shape[d]; x++) along[x] = y[x * weight[d]];
    fit found = search_dim(along, v->shape[d], step, 0);
    if (found < best) best = found;
  }
  return best;
}

/* Any XOR whose bits are not all above the places. */
static fit search_xors(const values *v) {
  fit best = NONE;
  int width = 0;
  while ((v->places - 1) >> width > 0) width++;
  for (int bits = 1; bits <= width; bits++)
    for (int base = 0; base < width; base++)
      for (int shift = -width; shift <= width; shift++) {
        if (abs(shift) < bits) continue;
        fit found = search_modes(v, bits, base, shift);
        if (found > best) best = found;
      }
  return best;
}

static bool values_of(const tesela_layout *layout, values *v) {
  int64_t index[CUTE_DIMS] = {0};
  *v = (values){.rank = layout->rank, .n = 1, .places = layout->axis[0].extent};
  for (int d = 0; d < v->rank; d++) {
    v->shape[d] = layout->shape[d];
    v->n *= v->shape[d];
    if (v->n > SEARCHED) return false;
  }
  int64_t n = 0;
  do assert_int_equal(tesela_layout_place_of(layout, index, &v->value[n++], NULL), TESELA_OK);
  while (next_index(v, index));
  return true;
}

/* The text has the values, its extents are those of the answer, and a text is as good as the search finds. */
static void check_written(const char *from, const tesela_any_layout *any, bool has_xor, int64_t *verdicts) {
  static tesela_layout layout;
  values v;
  char text[512];
  int64_t index[CUTE_DIMS] = {0}, n = 0;
  tesela_error err = {.message = ""};
  if (tesela_any_to_layout(any, &layout, &err) != TESELA_OK) fail_msg("%s: %s", from, err.message);
  if (layout.rank > CUTE_DIMS || !values_of(&layout, &v)) return;
  tesela_translation answer = {.verdict = TESELA_EXACT};
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_status status = tesela_translate(any, "cute", &to, &answer, &err);
  if (status == TESELA_E_UNSUPPORTED && strstr(err.message, "with places below 0")) return;
  if (status != TESELA_OK) fail_msg("%s: %s", from, err.message);
  fit best = search_modes(&v, 0, 0, 1);
  if (best == NONE || (has_xor && best == CUT)) {
    fit other = search_xors(&v);
    if (other > best) best = other;
  }
  fit got = answer.verdict == TESELA_IMPOSSIBLE ? NONE : answer.verdict == TESELA_EXACT ? WHOLE : CUT;
  if (got != best)
    fail_msg("%s: %s, the search %d: %s", from, tesela_verdict_name(answer.verdict), (int)best, text);
  verdicts[answer.verdict - 1]++;
  if (got == NONE) {
    if (answer.contradiction == TESELA_CONTRADICTION_NONE ||
        answer.contradiction == TESELA_CONTRADICTION_ELEMENT) /* test_impossible.c */
      return;
    /* Before it modes exist, with it none. */
    values part = v;
    int64_t at = 0;
    for (int d = 0; d < v.rank; d++) at = at * v.shape[d] + answer.index[d];
    assert_int_equal(answer.contradiction, TESELA_CONTRADICTION_PLACE);
    assert_int_equal(v.value[at], answer.place);
    assert_true(answer.expected != answer.place);
    if (has_xor) return;
    part.value[at] = answer.expected; /* a box that ends there is a layout with this value alone changed */
    for (int d = 0; d < v.rank; d++) part.shape[d] = answer.index[d] + 1;
    part.n = 0;
    memset(index, 0, sizeof index);
    do {
      int64_t whole = 0;
      for (int d = 0; d < v.rank; d++) whole = whole * v.shape[d] + index[d];
      part.value[part.n++] = whole == at ? answer.expected : v.value[whole];
    } while (next_index(&part, index));
    if (search_modes(&part, 0, 0, 1) == NONE)
      fail_msg("%s: no modes have %" PRId64 " there", from, answer.expected);
    part.value[part.n - 1] = answer.place;
    if (search_modes(&part, 0, 0, 1) != NONE) fail_msg("%s: modes exist up to there", from);
    return;
  }
  tesela_cute cute = cute_read(text);
  do
    if (cute_text_value(&cute, index) != v.value[n]) fail_msg("%s: %s at %d", from, text, (int)n);
  while (n++, next_index(&v, index));
  bool larger = false;
  for (int d = 0; d < v.rank; d++) {
    assert_true(answer.shape[d] >= v.shape[d]);
    larger = larger || answer.shape[d] > v.shape[d];
  }
  assert_int_equal(larger, got == CUT);
  if (larger && cute.bits == 0) { /* places of the whole text; after a swizzle only bounded */
    int64_t most = 0;
    memset(index, 0, sizeof index);
    do
      if (cute_text_value(&cute, index) > most) most = cute_text_value(&cute, index);
    while (tesela_index_next(v.rank, answer.shape, index));
    if ((answer.verdict == TESELA_VALID_PART) != (most < v.places))
      fail_msg("%s: %s of %" PRId64 " places: %s", from, tesela_verdict_name(answer.verdict), v.places, text);
  }
}

static void say(const char *what, const int64_t *verdicts) {
  int64_t all = verdicts[0] + verdicts[1] + verdicts[2] + verdicts[3];
  printf("%s: %" PRId64 " exact, %" PRId64 " valid_part, %" PRId64 " needs_padding, %" PRId64 " impossible\n",
         what, verdicts[0], verdicts[1], verdicts[2], verdicts[3]);
  assert_true(verdicts[3] * 100 >= all * (slow_run() ? 1 : 7)); /* about 11 of 100 */
  assert_true(verdicts[0] * 10 >= all);
}

static void xla_tiles_are_written_if_the_search_finds_a_text(void **state) {
  (void)state;
  int64_t verdicts[4] = {0};
  cute_draw_from(first_seed() + 1);
  for (int k = 0; k < (slow_run() ? 300 : 2000); k++) {
    char text[128];
    int a = 1 + (int)cute_draw(10), b = 1 + (int)cute_draw(64 / (uint64_t)a), n;
    n = sprintf(text, "f32[%d,%d]{%s", a, b, cute_draw(2) ? "1,0" : "0,1");
    for (int t = 0, most = 1 + (int)cute_draw(3); t < most; t++) {
      if (t == 0) n += sprintf(text + n, ":T");
      if (t == 0 && cute_draw(8) == 0)
        n += sprintf(text + n, "(*,%d)", 1 + (int)cute_draw(6));
      else
        n += sprintf(text + n, "(%d,%d)", 1 + (int)cute_draw(5), 1 + (int)cute_draw(5));
    }
    sprintf(text + n, "}");
    tesela_any_layout any = cute_read_any(text);
    check_written(text, &any, false, verdicts);
  }
  say("XLA tiles", verdicts);
}

/* Random strides; parts of larger texts; reshaped, so that dims are joined and cut elsewhere. */
static void relations_are_written_if_the_search_finds_a_text(void **state) {
  (void)state;
  int64_t verdicts[4] = {0}, swizzled[4] = {0};
  cute_draw_from(first_seed() + 2);
  for (int k = 0; k < (slow_run() ? 400 : 3000); k++) {
    random_cute c;
    tesela_any_layout any = cute_read_any("map(d0:1) -> memory[1]: 0");
    cute_random_draw(&c, SEARCHED, cute_draw(4) != 0);
    tesela_layout layout = cute_read_layout(c.text, NULL, NULL);
    if (cute_draw(4)) {
      int d = (int)cute_draw((uint64_t)c.rank);
      int64_t length = 1 + (int64_t)cute_draw((uint64_t)c.shape[d]);
      assert_int_equal(tesela_layout_slice(&layout, d, 0, length, 1, &layout, NULL), TESELA_OK);
    }
    if (cute_draw(4)) {
      int64_t n = 1, shape[2];
      for (int d = 0; d < layout.rank; d++) n *= layout.shape[d];
      int tries = 0; /* a proper divisor, if one is found */
      do shape[0] = 1 + (int64_t)cute_draw((uint64_t)n);
      while (n % shape[0] != 0 || (tries++ < 50 && (shape[0] == 1 || shape[0] == n)));
      shape[1] = n / shape[0];
      assert_int_equal(tesela_layout_reshape(&layout, 2, shape, &layout, NULL), TESELA_OK);
    }
    if (c.bits > 0 && cute_draw(4) == 0) { /* two stages */
      layout.finished = false;
      assert_int_equal(
          tesela_layout_add_swizzle(&layout, (tesela_swizzle){0, 1, 0, (int16_t)(1 + cute_draw(4))}, NULL),
          TESELA_OK);
      layout.axis[0].extent = -1;
      assert_int_equal(tesela_layout_finish(&layout, NULL), TESELA_OK);
    }
    any.relation = layout;
    bool has_xor = layout.swizzle.n > 0;
    check_written(c.text, &any, has_xor, has_xor ? swizzled : verdicts);
  }
  say("relations", verdicts);
  say("swizzled", swizzled);
}

/* The numbers of elements, first dim fastest, that threads and local ids have; false: some have none. */
static bool elements_of(const tesela_layout *layout, values *v) {
  int64_t index[CUTE_DIMS] = {0}, place[2];
  *v = (values){.rank = 2, .shape = {layout->axis[0].extent, layout->axis[1].extent}};
  v->n = v->shape[0] * v->shape[1];
  if (v->n > SEARCHED) return false;
  for (int64_t i = 0; i < v->n; i++) v->value[i] = -1;
  do {
    int64_t number = 0;
    for (int d = layout->rank - 1; d >= 0; d--) number = number * layout->shape[d] + index[d];
    for (int64_t k = 0; k < tesela_layout_copies(layout); k++) {
      assert_int_equal(tesela_layout_copy_of(layout, index, k, place, NULL), TESELA_OK);
      v->value[place[0] * v->shape[1] + place[1]] = number;
    }
  } while (tesela_index_next(layout->rank, layout->shape, index));
  for (int64_t i = 0; i < v->n; i++)
    if (v->value[i] < 0) return false;
  return true;
}

/* Leaves of threads and values in any order over a tile, copies, backward ones; reshaped now and then. */
static bool random_map(char *text, char *as, int64_t *shape) {
  int64_t extent[2][4], stride[2][4], size = 1, next = 1, offset = 0;
  int n[2] = {1 + (int)cute_draw(3), 1 + (int)cute_draw(3)}, left[2] = {n[0], n[1]}, width = 0;
  bool swizzled = cute_draw(3) == 0; /* of powers of two */
  for (int a = 0; a < 2; a++)
    for (int i = 0; i < n[a]; i++) {
      extent[a][i] = swizzled || cute_draw(3) ? INT64_C(1) << cute_draw(3) : 1 + (int64_t)cute_draw(5);
      if (size * extent[a][i] > SEARCHED) extent[a][i] = 1;
      size *= extent[a][i];
      stride[a][i] = -1; /* not yet */
    }
  while (left[0] + left[1] > 0) {
    int a = (int)cute_draw(2), i = (int)cute_draw(4);
    if (i >= n[a] || stride[a][i] != -1) continue;
    bool copies = cute_draw(8) == 0, backward = cute_draw(8) == 0 && !copies && !swizzled;
    stride[a][i] = copies ? 0 : backward ? -1000 * next : next;
    if (backward) offset += next * (extent[a][i] - 1);
    if (!copies) next *= extent[a][i];
    left[a]--;
  }
  int at = offset ? sprintf(text, "Sw<0,0,0> o %" PRId64 " o ", offset) : 0;
  while (INT64_C(1) << width < next) width++;
  swizzled = swizzled && width > 1;
  if (swizzled) {
    int bits = 1 + (int)cute_draw((uint64_t)width / 2),
        shift = bits + (int)cute_draw((uint64_t)(width - 2 * bits + 1));
    at = sprintf(text, "Sw<%d,%d,%d> o 0 o ", bits, (int)cute_draw((uint64_t)(width - shift - bits + 1)),
                 cute_draw(2) ? shift : -shift);
  }
  for (int part = 0; part < 2; part++)
    for (int a = 0; a < 2; a++) {
      at += sprintf(text + at, a ? ",(" : part ? ":((" : "((");
      for (int i = 0; i < n[a]; i++) {
        int64_t number = part ? stride[a][i] : extent[a][i];
        at += sprintf(text + at, "%s%" PRId64, i ? "," : "", number <= -1000 ? number / 1000 : number);
      }
      at += sprintf(text + at, a ? "))" : ")");
    }
  do shape[0] = 1 + (int64_t)cute_draw((uint64_t)next);
  while (next % shape[0] != 0);
  shape[1] = next / shape[0];
  sprintf(as, "tv:%" PRId64 "x%" PRId64, shape[0], shape[1]);
  return swizzled;
}

static void register_layouts_are_written_if_the_search_finds_a_text(void **state) {
  (void)state;
  int64_t verdicts[4] = {0};
  cute_draw_from(first_seed() + 4);
  for (int k = 0; k < (slow_run() ? 300 : 2000); k++) {
    char from[256], as[64], text[512];
    int64_t shape[2], index[2] = {0}, n = 0;
    values v;
    bool swizzled = random_map(from, as, shape), reshaped = cute_draw(4) != 0;
    tesela_layout layout = cute_read_layout(from, as, NULL);
    tesela_cute given = cute_read(from);
    if (!elements_of(&layout, &v)) fail_msg("%s %s: a thread has no element", from, as);
    do
      if (cute_text_value(&given, index) != v.value[n]) fail_msg("%s %s: reading", from, as);
    while (n++, next_index(&v, index));
    memset(index, 0, sizeof index);
    n = 0;
    assert_string_equal(layout.axis[0].name, "thread");
    if (reshaped) {
      int64_t other[2], all = shape[0] * shape[1];
      do other[0] = 1 + (int64_t)cute_draw((uint64_t)all);
      while (all % other[0] != 0);
      other[1] = all / other[0];
      assert_int_equal(tesela_layout_reshape(&layout, 2, other, &layout, NULL), TESELA_OK);
    } else if (cute_draw(2)) {
      const int32_t order[2] = {1, 0};
      assert_int_equal(tesela_layout_permute(&layout, order, &layout, NULL), TESELA_OK);
    }
    tesela_any_layout any = cute_read_any("map(d0:1) -> memory[1]: 0");
    any.relation = layout;
    if (!elements_of(&layout, &v)) fail_msg("%s %s: a thread has no element", from, as);
    tesela_translation answer = cute_translate(&any, text, sizeof text);
    fit best = search_modes(&v, 0, 0, 1), plain = best;
    v.places = v.shape[0] * v.shape[1];
    if (best != WHOLE && (v.places & (v.places - 1)) == 0) best = search_xors(&v);
    if (best == WHOLE && plain != WHOLE && answer.verdict == TESELA_IMPOSSIBLE && !(swizzled && !reshaped))
      continue; /* backwards */
    verdicts[answer.verdict - 1]++;
    if (answer.verdict != (best == WHOLE ? TESELA_EXACT : TESELA_IMPOSSIBLE))
      fail_msg("%s %s: %s, the search %d: %s", from, as, tesela_verdict_name(answer.verdict), (int)best,
               text);
    if (best != WHOLE) continue;
    sprintf(as, "tv:%" PRId64 "x%" PRId64, layout.shape[0], layout.shape[1]);
    assert_string_equal(answer.as, as);
    tesela_cute cute = cute_read(text);
    do
      if (cute_text_value(&cute, index) != v.value[n]) fail_msg("%s %s: %s at %d", from, as, text, (int)n);
    while (n++, next_index(&v, index));
  }
  say("registers", verdicts);
}

static void register_layouts_that_do_not_fill_their_threads(void **state) {
  (void)state;
  static const struct {
    const char *from, *text, *as, *reason;
    tesela_verdict verdict;
  } rows[] = {
      {"map(d0:3) -> thread[4]: d0; local[1]: 0", "(4,1):(1,0)", "tv:4", "", TESELA_VALID_PART},
      {"map(d0:7) -> thread[2]: d0/4; local[4]: d0%4", "(2,4):(4,1)", "tv:8", "", TESELA_VALID_PART},
      {"map(d0:3, d1:3) -> thread[16]: 4*d0 + d1; local[1]: 0", "((4,4),1):((4,1),0)", "tv:4x4", "",
       TESELA_VALID_PART},
      {"map(d0:2, d1:2) -> thread[7]: 4*d0 + d1; local[1]: 0", "", "", "thread 2, local id 0 has no element",
       TESELA_IMPOSSIBLE},
      {"map(d0:2, d1:2) -> thread[3]: d0 + d1; local[1]: 0", "", "", "two elements share a place",
       TESELA_IMPOSSIBLE},
      {"map(d0:4; copies r0:3) -> thread[12]: 4*r0 + d0; local[1]: 0", "((4,3),1):((1,0),0)", "tv:4", "",
       TESELA_EXACT},
      {"map(d0:16, d1:8) -> register[4]: 2*(d0/8) + d1%2; lane[32]: 4*(d0%8) + d1/2; warp[1]: 0",
       "((4,8),(2,2)):((32,1),(16,8))", "tv:16x8", "", TESELA_EXACT},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[256];
    tesela_any_layout any = cute_read_any(rows[i].from);
    tesela_translation answer = cute_translate(&any, text, sizeof text);
    if (answer.verdict != rows[i].verdict || strcmp(text, rows[i].text) != 0 ||
        strcmp(answer.as, rows[i].as) != 0 || !strstr(answer.reason, rows[i].reason))
      fail_msg("%s: %s %s %s %s", rows[i].from, tesela_verdict_name(answer.verdict), answer.as, text,
               answer.reason);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(xla_tiles_are_written_if_the_search_finds_a_text),
      cmocka_unit_test(relations_are_written_if_the_search_finds_a_text),
      cmocka_unit_test(register_layouts_are_written_if_the_search_finds_a_text),
      cmocka_unit_test(register_layouts_that_do_not_fill_their_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
