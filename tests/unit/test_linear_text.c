/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_linear_text.c - linear layouts as texts, and relations written for Triton.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <tesela/linear.h>
#include <tesela/notation.h>

#include "support_seed.h"

static uint64_t state_;

static uint64_t draw(uint64_t n) {
  state_ += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = state_;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (z ^ z >> 31) % n;
}

static char text_[8192];

static const char *printed(const tesela_linear *a) {
  tesela_buffer buffer = {text_, sizeof text_, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  assert_int_equal(tesela_linear_print(a, &to, NULL), TESELA_OK);
  return text_;
}

/* ---- texts ---------------------------------------------------------------------------------------------------- */

#define PLAIN "register [[0,1],[8,0]], lane [[0,2],[0,4],[1,0],[2,0],[4,0]]"

static void spellings_are_read(void **state) {
  (void)state;
  static const struct {
    const char *text;
    const char *printed; /* NULL: as text */
    int ins, outs, bits;
    uint64_t basis[8];
  } rows[] = {
      /* dim0 has 16 values (4 bits), dim1 8 */
      {PLAIN, NULL, 2, 2, 7, {1 << 4, 8, 2 << 4, 4 << 4, 1, 2, 4}},
      {" register=[ [0, 1] ,[8,0]],\n lane = [[0,2],[0,4],[1,0],[2,0],[4,0]] ",
       PLAIN,
       2,
       2,
       7,
       {1 << 4, 8, 2 << 4, 4 << 4, 1, 2, 4}},
      {"#ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}>",
       PLAIN,
       2,
       2,
       7,
       {1 << 4, 8, 2 << 4, 4 << 4, 1, 2, 4}},
      {"#ttg.linear<{register = [[1]], lane = [[0]], warp = [], block = []}>",
       "register [[1]], lane [[0]], warp [], block []",
       4,
       1,
       2,
       {1, 0}},
      {"#ttg.shared_linear<{offset = [[1], [3]], block = []}, alignment = 128>",
       "offset [[1],[3]], block []",
       2,
       1,
       2,
       {1, 3}},
      {"{\"bases\": {\"x\": [[1], [3]]}, \"outs\": [[\"y\", 8]]}",
       "{\"bases\":{\"x\":[[1],[3]]},\"outs\":[[\"y\",8]]}",
       1,
       1,
       2,
       {1, 3}},
      {"{\"outs\": [\"dim0\"], \"bases\": {\"x\": [[1], [3]]}}", "x [[1],[3]]", 1, 1, 2, {1, 3}},
      {"{\"bases\":{},\"outs\":[]}", NULL, 0, 0, 0, {0}},
      {"{\"bases\":{\"x\":[]},\"outs\":[[\"dim0\",1]]}", NULL, 1, 1, 0, {0}},
      {"lane []", NULL, 1, 0, 0, {0}},
      {"lane [[0,0]]", NULL, 1, 2, 1, {0}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_linear a;
    tesela_error err = {.message = ""};
    if (tesela_linear_parse(&a, rows[i].text, strlen(rows[i].text), &err) != TESELA_OK)
      fail_msg("%s at %d: %s", err.message, (int)err.at, rows[i].text);
    assert_int_equal(a.n_ins, rows[i].ins);
    assert_int_equal(a.n_outs, rows[i].outs);
    int bits = 0;
    for (int k = 0; k < a.n_ins; k++) bits += a.in[k].bits;
    assert_int_equal(bits, rows[i].bits);
    for (int k = 0; k < bits; k++) assert_int_equal(a.basis[k], rows[i].basis[k]);
    assert_string_equal(printed(&a), rows[i].printed ? rows[i].printed : rows[i].text);
  }
}

static void faults_are_at_their_byte(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int at;
    const char *message;
  } rows[] = {
      {"", 0, "expected an input"},
      {"lane", 4, "expected '['"},
      {"lane [[1]", 9, "expected ',' or ']'"},
      {"lane [[1,]]", 9, "expected a whole number"},
      {"lane [[1],[1,2]]", 10, "a basis of 2 numbers; those before it have 1"},
      {"lane [[-1]]", 6, "a basis has -1; expected 0 or more"},
      {"lane [[1]], lane [[2]]", 12, "the input lane is repeated"},
      {"lane [[1]] x", 11, "expected the end of the layout"},
      {"a_name_of_16_byt [[1]]", 0, "a name of 16 bytes"},
      {"#ttg.linear<lane = []>", 12, "expected '{'"},
      {"#ttg.linear<{lane [[1]]}>", 18, "expected '='"},
      {"#ttg.linear<{lane = [[1]]}", 26, "expected '>'"},
      {"#ttg.shared_linear<{offset = []}, align = 16>", 34, "expected alignment"},
      {"#ttg.shared_linear<{offset = []}, alignment = 0>", 46, "alignment is 0"},
      {"{\"outs\": []}", 12, "\"bases\" is missing"},
      {"{\"bases\": {}}", 13, "\"outs\" is missing"},
      {"{\"bases\": {\"x\": [[1]]}, \"outs\": []}", 35, "the bases have 1 numbers for 0 outputs"},
      {"{\"bases\": {\"x\": [[4]]}, \"outs\": [[\"y\", 4]]}", -1, "y is 4; expected 0 to 3"},
      {"{\"bases\": {\"x\": [[1]]}, \"outs\": [[\"y\", 3]]}", 38, "is 3; expected a power of two"},
      {"{\"bases\": {x: [[1]]}, \"outs\": [\"y\"]}", 11, "expected a name in quotes"},
      {"{\"bases\": {}, \"bases\": {}}", 14, "expected \"outs\""},
      {"lane [[4611686018427387904]]", -1, "dim0 is 4611686018427387904"},
      {"lane [[99999999999999999999]]", 7, "does not fit in 64 bits"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_linear a;
    tesela_error err = {.at = -7};
    tesela_status status = tesela_linear_parse(&a, rows[i].text, strlen(rows[i].text), &err);
    if (status == TESELA_OK || err.at != rows[i].at || !strstr(err.message, rows[i].message))
      fail_msg("'%s': '%s' at %d; expected '%s' at %d", rows[i].text, status ? err.message : "no error",
               (int)err.at, rows[i].message, rows[i].at);
  }
}

static void layouts_are_read_back(void **state) {
  (void)state;
  int plain = 0, tried = slow_run() ? 200 : 3000;
  state_ = first_seed();
  for (int i = 0; i < tried; i++) {
    tesela_linear a = {.n_ins = (int32_t)draw(4), .n_outs = (int32_t)draw(4)}, back;
    tesela_error err = {.message = ""};
    bool standard = draw(2);
    int outs = 0, n = 0;
    for (int d = 0; d < a.n_outs; d++) {
      snprintf(a.out[d].name, sizeof a.out[d].name, standard ? "dim%d" : "o_%d", d);
      outs += a.out[d].bits = (int32_t)draw(8);
    }
    for (int d = 0; d < a.n_ins; d++) {
      snprintf(a.in[d].name, sizeof a.in[d].name, "in%d", d);
      for (a.in[d].bits = (int32_t)draw(9); n < 62 && a.in[d].bits + n > 62;) a.in[d].bits--;
      for (int k = 0; k < a.in[d].bits; k++, n++) a.basis[n] = draw((uint64_t)1 << outs);
    }
    const char *text = printed(&a);
    plain += text[0] != '{';
    if (tesela_linear_parse(&back, text, strlen(text), &err) != TESELA_OK)
      fail_msg("%s: %s", err.message, text);
    if (!tesela_linear_equal(&a, &back, false)) fail_msg("%s", text);
  }
  assert_true(plain > tried / 10 && plain < tried / 10 * 9);
}

/* ---- written for Triton --------------------------------------------------------------------------------------- */

/* Digits of powers of two at powers of two, in random order on one or two axes; some with copies, gaps, XOR, sums that carry. */
static bool draw_layout(tesela_layout *layout) {
  int64_t shape[3], room[2] = {1, 1};
  int32_t digit[24], n = 0, rank = 1 + (int32_t)draw(3), axis;
  bool memory = draw(2);
  for (int d = 0; d < rank; d++) shape[d] = draw(4) ? (int64_t)1 << draw(6) : 1 + (int64_t)draw(20);
  if (tesela_layout_begin(layout, TESELA_F16, 16, rank, shape, NULL) != TESELA_OK) return false;
  tesela_layout_add_axis(layout, memory ? "memory" : "thread", &axis, NULL);
  if (!memory) tesela_layout_add_axis(layout, "local", &axis, NULL);
  for (int d = 0; d < rank; d++) {
    digit[n++] = d;
    for (int splits = (int)draw(3); splits > 0; splits--)
      if (tesela_layout_split(layout, d, draw(12) ? (int64_t)1 << draw(3) : 3, &digit[n++], NULL) !=
          TESELA_OK)
        return false;
  }
  if (draw(3) == 0 &&
      tesela_layout_add_digit(layout, TESELA_REPLICA, draw(4) ? 2 : 3, &digit[n], NULL) == TESELA_OK)
    n++;
  for (int i = n - 1; i > 0; i--) {
    int with = (int)draw((uint64_t)i + 1);
    int32_t kept = digit[i];
    digit[i] = digit[with];
    digit[with] = kept;
  }
  for (int i = 0; i < n; i++) {
    int a = memory ? 0 : (int)draw(2);
    if (draw(14) == 0) room[a] *= 2;
    if (draw(24) == 0) room[a] += 1;
    if (tesela_layout_place(layout, digit[i], a, room[a], NULL) != TESELA_OK) return false;
    room[a] *= layout->digit[digit[i]].extent;
    while (draw(20) && (room[a] & (room[a] - 1)) != 0) room[a]++;
  }
  if (draw(3) == 0)
    tesela_layout_add_swizzle(layout, (tesela_swizzle){0, 1, (int16_t)draw(3), (int16_t)(1 + draw(3))}, NULL);
  return tesela_layout_finish(layout, NULL) == TESELA_OK;
}

/* The place of an element in the text's relation is that of the layout; threads are lane + lanes * warp. */
static void check_places(const tesela_layout *layout, const tesela_layout *text) {
  int64_t index[TESELA_MAX_RANK] = {0};
  assert_true(tesela_layout_copies(layout) == tesela_layout_copies(text));
  do {
    int64_t own[TESELA_MAX_AXES], place[TESELA_MAX_AXES];
    bool found = false;
    tesela_layout_place_of(layout, index, own, NULL);
    for (int64_t k = 0; k < tesela_layout_copies(text) && !found; k++) {
      tesela_layout_copy_of(text, index, k, place, NULL);
      if (layout->n_axes == 1)
        found = place[0] == own[0];
      else
        found = place[0] == own[1] && place[1] + text->axis[1].extent * place[2] == own[0];
    }
    if (!found) fail_msg("element (%d,..) is elsewhere", (int)index[0]);
  } while (tesela_index_next(layout->rank, layout->shape, index));
}

static void relations_are_written_for_triton(void **state) {
  (void)state;
  int count[5] = {0}, tried = 0, wanted = slow_run() ? 150 : 2000;
  state_ = first_seed() + 1;
  while (tried < wanted) {
    tesela_any_layout any = {.kind = TESELA_KIND_RELATION}, read;
    assert_int_equal(tesela_notation_find("map(", 4, &any.notation, NULL, NULL), TESELA_OK);
    tesela_layout back;
    tesela_linear linear;
    tesela_translation answer, bits;
    tesela_error err = {.message = ""};
    tesela_buffer buffer = {text_, sizeof text_, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    if (!draw_layout(&any.relation)) continue;
    tried++;
    if (tesela_translate(&any, "triton", &to, &answer, &err) != TESELA_OK) {
      tesela_map_print(&any.relation, &to, NULL);
      fail_msg("%s: %s", err.message, text_);
    }
    count[answer.verdict]++;
    assert_int_equal(tesela_linear_from_layout(&any.relation, &linear, &bits, NULL), TESELA_OK);
    assert_true((bits.verdict == TESELA_IMPOSSIBLE) == (answer.verdict == TESELA_IMPOSSIBLE));
    if (answer.verdict == TESELA_IMPOSSIBLE) {
      assert_true(buffer.length == 0 && answer.reason[0] != 0);
      continue;
    }
    tesela_xla_shape array = {.dtype = TESELA_F16, .rank = answer.rank};
    memcpy(array.dim, answer.shape, sizeof array.dim);
    tesela_layout_read_options options = {.notation = "triton", .array = &array};
    if (tesela_layout_read(text_, buffer.length, &options, &read, &err) != TESELA_OK ||
        tesela_any_to_layout(&read, &back, &err) != TESELA_OK)
      fail_msg("%s: %s", err.message, text_);
    check_places(&any.relation, &back);
    bool larger = false;
    for (int d = 0; d < answer.rank; d++) larger = larger || answer.shape[d] != any.relation.shape[d];
    assert_int_equal(answer.verdict == TESELA_EXACT, !larger);
  }
  printf("%d exact, %d valid part, %d need padding, %d impossible\n", count[1], count[2], count[3], count[4]);
  for (int v = 1; v <= 4; v++) assert_true(count[v] > tried / 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spellings_are_read),
      cmocka_unit_test(faults_are_at_their_byte),
      cmocka_unit_test(layouts_are_read_back),
      cmocka_unit_test(relations_are_written_for_triton),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
