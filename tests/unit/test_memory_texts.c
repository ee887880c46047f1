/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_memory_texts.c - blocked memory as text: tags of oneDNN, strings of TVM, linalg.pack.
 *
 * What is read is compared with formulas, element by element. What is written is read back, also here; and where nothing is
 * written, a search through all blocks finds nothing, and finds that the contradiction is the smallest.
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

#include <tesela/notation.h>

#include "support_seed.h"

enum { MOST_DIMS = 4, MOST_ELEMENTS = 64, MOST_BLOCKS = 8 };

static uint64_t state_of_random;

static int64_t below(int64_t n) {
  state_of_random ^= state_of_random << 13;
  state_of_random ^= state_of_random >> 7;
  state_of_random ^= state_of_random << 17;
  return (int64_t)(state_of_random >> 11) % n;
}

/* Blocks, and where they put an element. */
typedef struct blocked {
  int rank, n;
  int order[MOST_DIMS];
  struct {
    int dim;
    int64_t extent;
  } inner[MOST_BLOCKS];
  int64_t shape[MOST_DIMS];
} blocked;

static int64_t formula(const blocked *b, const int64_t *index) {
  int64_t x[MOST_DIMS], n[MOST_DIMS], stride = 1, place = 0;
  for (int d = 0; d < b->rank; d++) {
    x[d] = index[d];
    n[d] = b->shape[d];
  }
  for (int i = b->n - 1; i >= 0; i--) {
    int d = b->inner[i].dim;
    place += x[d] % b->inner[i].extent * stride;
    x[d] /= b->inner[i].extent;
    n[d] = (n[d] + b->inner[i].extent - 1) / b->inner[i].extent;
    stride *= b->inner[i].extent;
  }
  for (int k = b->rank - 1; k >= 0; k--) {
    place += x[b->order[k]] * stride;
    stride *= n[b->order[k]];
  }
  return place;
}

static void shuffle(int *order, int n) {
  for (int k = 0; k < n; k++) order[k] = k;
  for (int k = n - 1; k > 0; k--) {
    int j = (int)below(k + 1), t = order[k];
    order[k] = order[j];
    order[j] = t;
  }
}

static void draw_blocks(blocked *b, int64_t most, int64_t elements) {
  *b = (blocked){.rank = (int)(1 + below(MOST_DIMS)), .n = (int)below(5)};
  int64_t product = 1;
  for (int d = 0; d < b->rank; d++) {
    b->shape[d] = 1 + below(most);
    while (product * b->shape[d] > elements) b->shape[d]--;
    product *= b->shape[d];
  }
  shuffle(b->order, b->rank);
  for (int i = 0; i < b->n; i++) {
    b->inner[i].dim = (int)below(b->rank);
    b->inner[i].extent = 1 + below(5);
  }
}

/* "[3,5] " */
static int write_array(const blocked *b, char *text) {
  int n = 0;
  for (int d = 0; d < b->rank; d++) n += sprintf(text + n, "%c%" PRId64, d ? ',' : '[', b->shape[d]);
  return n + sprintf(text + n, "] ");
}

/* Outer letters in their order, then blocks. */
static void write_tag(const blocked *b, const char *letters, char *text) {
  int n = write_array(b, text);
  for (int k = 0; k < b->rank; k++) {
    char c = letters[b->order[k]];
    for (int i = 0; i < b->n; i++)
      if (b->inner[i].dim == b->order[k]) c = (char)(letters[b->order[k]] - 'a' + 'A');
    text[n++] = c;
  }
  for (int i = 0; i < b->n; i++)
    n += sprintf(text + n, "%" PRId64 "%c", b->inner[i].extent, letters[b->inner[i].dim]);
  text[n] = '\0';
}

static void check_formula(const char *notation, const char *text, const blocked *b) {
  tesela_layout_read_options options = {.notation = notation};
  tesela_any_layout any;
  tesela_error err = {.message = ""};
  if (tesela_layout_read(text, strlen(text), &options, &any, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  int64_t index[TESELA_MAX_RANK] = {0}, place;
  do {
    assert_int_equal(tesela_layout_place_of(&any.relation, index, &place, NULL), TESELA_OK);
    if (place != formula(b, index))
      fail_msg("%s: place %" PRId64 ", not %" PRId64, text, place, formula(b, index));
  } while (tesela_index_next(b->rank, b->shape, index));
}

static void tags_are_the_formula(void **state) {
  (void)state;
  static const char *const letters[MOST_DIMS + 1][3] = {
      {NULL}, {"a", "x", "a"}, {"ab", "nc", "oi"}, {"abc", "ncw", "tnc"}, {"abcd", "nchw", "ldio"}};
  state_of_random = first_seed();
  for (int i = 0; i < (slow_run() ? 200 : 2000); i++) {
    blocked b;
    char text[256];
    draw_blocks(&b, 20, 2000);
    write_tag(&b, letters[b.rank][below(3)], text);
    check_formula("onednn", text, &b);
  }
}

/* Capitals in the order of the array; the order of the dims is that of the array. */
static void strings_are_the_formula(void **state) {
  (void)state;
  state_of_random = first_seed() + 2;
  for (int i = 0; i < (slow_run() ? 200 : 2000); i++) {
    blocked b;
    char text[256];
    draw_blocks(&b, 20, 2000);
    for (int k = 0; k < b.rank; k++) b.order[k] = k;
    int n = write_array(&b, text);
    for (int k = 0; k < b.rank; k++) text[n++] = "OIHW"[k];
    for (int k = 0; k < b.n; k++)
      n += sprintf(text + n, "%" PRId64 "%c", b.inner[k].extent, "oihw"[b.inner[k].dim]);
    text[n] = '\0';
    check_formula("tvm", text, &b);
  }
  /* a block before a capital: the capital is a block */
  blocked b = {.rank = 3, .order = {0, 1, 2}, .n = 2, .inner = {{1, 4}, {2, 5}}, .shape = {3, 10, 5}};
  check_formula("tvm", "[3,10,5] NC4cW", &b);
}

static const struct {
  const char *text;
  int64_t dim[4], order[4];
} verbose_lines[] = {
    {"onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:acdb::f0 "
     "dst_f32::blocked:abcd::f0,,,2x3x4x5,0.1",
     {2, 3, 4, 5},
     {0, 2, 3, 1}},
    {"dst dnnl_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd:f0 "
     "dst_f32::blocked:cdba:f0,,,2x3x4x5,0.1\n",
     {2, 3, 4, 5},
     {2, 3, 1, 0}},
    {"wei "
     "onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx2,forward_training,src:f32:a:blocked:abcd::f0 "
     "wei:f32:a:blocked:cdba::f0 bia:f32::blocked:a::f0 dst:f32:a:blocked:acdb::f0,attr-scratchpad:user ,"
     "alg:convolution_direct,mb2_ic3oc8_ih7oh5kh4sh1dh0ph0_iw9ow7kw2sw1dw0pw0,7",
     {8, 3, 4, 2},
     {2, 3, 1, 0}},
    {"dst "
     "onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx2,forward_training,src:f32:a:blocked:abcd::f0 "
     "wei:f32:a:blocked:cdba::f0 bia:f32::blocked:a::f0 dst:f32:a:blocked:acdb::f0,attr-scratchpad:user ,"
     "alg:convolution_direct,mb2_ic3oc8_ih7oh5kh4sh1dh0ph0_iw9ow7kw2sw1dw0pw0,7",
     {2, 8, 5, 7},
     {0, 2, 3, 1}},
    {"src onednn_verbose,v1,primitive,exec,cpu,binary,jit:uni,undef,wei_f32::blocked:abcd::f0 "
     "src_f32::blocked:dcba::f0 "
     "dst_f32::blocked:abcd::f0,,alg:binary_add,2x3x4x5:2x1x4x1",
     {2, 1, 4, 1},
     {3, 2, 1, 0}},
    {"f32[2,3,4,5] src_f32::blocked:dcba::f0", {2, 3, 4, 5}, {3, 2, 1, 0}},
    {"verbose: src:f8_e4m3:a:blocked:dcba::f0 dst_f32::blocked:abcd::f0,,,2x3x4x5",
     {2, 3, 4, 5},
     {3, 2, 1, 0}},
};

static void verbose_lines_are_the_formula(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof verbose_lines / sizeof verbose_lines[0]; i++) {
    blocked b = {.rank = 4};
    for (int d = 0; d < 4; d++) {
      b.shape[d] = verbose_lines[i].dim[d];
      b.order[d] = (int)verbose_lines[i].order[d];
    }
    check_formula(NULL, verbose_lines[i].text, &b);
  }
  static const char strided[] = "[2,17,3,5] src_f32:p:blocked:aBcd16b:1000x500x90x16:f0";
  tesela_any_layout any;
  int64_t place;
  assert_int_equal(tesela_layout_read(strided, strlen(strided), NULL, &any, NULL), TESELA_OK);
  assert_int_equal(any.relation.dtype, TESELA_F32);
  assert_int_equal(tesela_layout_place_of(&any.relation, (int64_t[]){1, 16, 2, 3}, &place, NULL), TESELA_OK);
  assert_int_equal(place, 1000 + 500 + 2 * 90 + 3 * 16);
}

/* ---- what is refused ---------------------------------------------------------------------------------------- */

static const struct {
  const char *text;
  tesela_status status;
  int64_t at;
  const char *message;
} refused[] = {
    {"onednn: f32[2,3] aBcd16b", TESELA_E_MISMATCH, 17, "the tag has 4 dims; the array has 2"},
    {"onednn: f32[2,3] aBb", TESELA_E_SYNTAX, 19, "the dim 'b' is listed twice"},
    {"onednn: f32[2,3] ab16b", TESELA_E_SYNTAX, 21,
     "the dim 'b' has a block, so it is a capital in the outer dims"},
    {"onednn: f32[2,3] aB", TESELA_E_SYNTAX, 18, "the dim 'B' is a capital, but has no block"},
    {"onednn: f32[2,3] aB0b", TESELA_E_RANGE, 19, "block is 0"},
    {"onednn: f32[2,3] aB16", TESELA_E_SYNTAX, 21,
     "expected the letter of a dim of the tag, found the end of the text"},
    {"onednn: f32[2,3] qr", TESELA_E_SYNTAX, 17, "unknown dims 'qr'"},
    {"onednn: f32[2,3] aB16b x", TESELA_E_SYNTAX, 23, "expected the end of the text, found 'x'"},
    {"onednn: f32[2,3,4,5,6] gIOhw2i8o16i2o", TESELA_E_UNSUPPORTED, 23,
     "oneDNN defines gIOhw2i8o16i2o as aBCde2c8b16c2b"},
    {"tvm: f32[2,3] NC16", TESELA_E_SYNTAX, 18,
     "expected the small letter of a dim, found the end of the text"},
    {"tvm: f32[2,3] NC16h", TESELA_E_SYNTAX, 18, "the block 'h' has no dim 'H'"},
    {"tvm: f32[2,3] NNC", TESELA_E_SYNTAX, 15, "the dim 'N' is listed twice"},
    {"tvm: f32[2,3] NCc", TESELA_E_SYNTAX, 16, "the block 'c' has no size: expected a number before it"},
    {"tvm: f32[2,3] NCHW", TESELA_E_MISMATCH, 14, "the string has 4 dims; the array has 2"},
    {"src_f32::blocked:abcd::f0", TESELA_E_UNSUPPORTED, 0, "the line does not say the dims of this tensor"},
    {"f32[2] src_f32:o:blocked:a::f0", TESELA_E_UNSUPPORTED, 15, "an offset that the line does not say: 'o'"},
    {"f32[2] src_f32:p:blocked:a::f0", TESELA_E_UNSUPPORTED, 15, "padded dims without blocks"},
    {"f32[2,3] src_f32::blocked:*::f0", TESELA_E_UNSUPPORTED, 26, "strides known at run time only: '*'"},
    {"onednn_verbose,v1,primitive,exec,cpu,rnn,x,y,src_f32::rnn_packed:::f0,,,2x3,1", TESELA_E_UNSUPPORTED,
     54, "this kind of memory has no documented places: 'rnn_packed'"},
    {"foo onednn_verbose,v1,primitive,exec,cpu,reorder,x,y,src_f32::blocked:ab::f0,,,2x3,1", TESELA_E_INVALID,
     0, "the line has no tensor of this name: 'foo'"},
    {"f32[2,4] onednn_verbose,v1,primitive,exec,cpu,reorder,x,y,src_f32::blocked:ab::f0,,,2x3,1",
     TESELA_E_MISMATCH, 9, "the line gives this tensor other dims than the array"},
    {"f32[2,4] src_f32::blocked:ab:4x1x1:f0", TESELA_E_SYNTAX, 29, "expected the strides of all dims"},
};

static void refusals_say_what_and_where(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    tesela_any_layout any;
    tesela_error err = {.message = ""};
    tesela_status status = tesela_layout_read(refused[i].text, strlen(refused[i].text), NULL, &any, &err);
    if (status != refused[i].status || err.at != refused[i].at || !strstr(err.message, refused[i].message))
      fail_msg("%s: status %d at %d: %s", refused[i].text, status, (int)err.at, err.message);
  }
}

/* ---- what is written ---------------------------------------------------------------------------------------- */

/* A layout as a table, and a search through all blocks that agree with its first elements. */
typedef struct table {
  int rank, n;
  int64_t shape[MOST_DIMS], index[MOST_ELEMENTS][MOST_DIMS], place[MOST_ELEMENTS], most;
} table;

typedef struct search {
  const table *t;
  int count;      /* elements that must agree */
  int64_t limit;  /* the largest stride */
  int seen;       /* different places of element `count` */
  int64_t at[64]; /* those */
  int depth;
  int dim[64];
  int64_t extent[64];
} search;

static int64_t place_in(const search *s, int element, bool *whole) {
  int64_t x[MOST_DIMS], place = 0, stride = 1;
  for (int d = 0; d < s->t->rank; d++) x[d] = s->t->index[element][d];
  for (int i = 0; i < s->depth; i++) {
    place += x[s->dim[i]] % s->extent[i] * stride;
    x[s->dim[i]] /= s->extent[i];
    stride *= s->extent[i];
  }
  *whole = true;
  for (int d = 0; d < s->t->rank; d++) *whole = *whole && x[d] == 0;
  return place;
}

/* Does a sequence of parts agree with the first elements? All sequences are tried that agree so far. With `at`, all places of the
 * next element are collected. */
static bool exists(search *s, int64_t stride, bool collect) {
  bool whole, all = true;
  for (int e = 0; e < s->count; e++) {
    int64_t place = place_in(s, e, &whole);
    if (whole && place != s->t->place[e]) return false;
    all = all && whole;
  }
  if (all && collect) {
    int64_t place = place_in(s, s->count, &whole);
    if (whole) {
      int i = 0;
      while (i < s->seen && s->at[i] != place) i++;
      if (i == s->seen && i < 64) s->at[s->seen++] = place;
      return false;
    }
  } else if (all) {
    return true;
  }
  for (int d = 0; d < s->t->rank; d++)
    for (int64_t b = 2; stride <= s->limit && b * stride <= 2 * s->limit + 2 * MOST_ELEMENTS; b++) {
      s->dim[s->depth] = d;
      s->extent[s->depth++] = b;
      bool found = exists(s, stride * b, collect);
      s->depth--;
      if (found) return true;
    }
  return false;
}

static bool blocks_exist(const table *t, int count) {
  search s = {.t = t, .count = count, .limit = t->most};
  return exists(&s, 1, false);
}

static void tabulate(const tesela_layout *layout, table *t) {
  int64_t index[TESELA_MAX_RANK] = {0};
  *t = (table){.rank = layout->rank};
  for (int d = 0; d < t->rank; d++) t->shape[d] = layout->shape[d];
  do {
    for (int d = 0; d < t->rank; d++) t->index[t->n][d] = index[d];
    assert_int_equal(tesela_layout_place_of(layout, index, &t->place[t->n], NULL), TESELA_OK);
    if (t->place[t->n] > t->most) t->most = t->place[t->n];
    t->n++;
  } while (tesela_index_next(t->rank, t->shape, index));
}

/* Digits of dims that may or may not divide, in any order, without gaps or with some; sometimes a stride that does not fit. */
static bool draw_layout(tesela_layout *layout) {
  int32_t digit[16], n = 0, order[16], axis;
  int64_t shape[MOST_DIMS], product = 1, stride = 1, most = 3 + below(12);
  int rank = (int)(1 + below(3));
  for (int d = 0; d < rank; d++) {
    shape[d] = 1 + below(most);
    while (product * shape[d] > MOST_ELEMENTS) shape[d]--;
    product *= shape[d];
  }
  if (tesela_layout_begin(layout, TESELA_F32, 32, rank, shape, NULL) != TESELA_OK) return false;
  for (n = 0; n < rank; n++) digit[n] = n;
  for (int64_t k = below(4); k > 0; k--) {
    int from = (int)below(n);
    int64_t extent = layout->digit[digit[from]].extent, t = 1 + below(5);
    if (below(4) > 0)
      while (extent % t != 0 && layout->digit[digit[from]].step == 1 && below(8) > 0) t = 1 + below(5);
    if (tesela_layout_split(layout, digit[from], t, &digit[n], NULL) != TESELA_OK) return false;
    n++;
  }
  int shuffled[16];
  shuffle(shuffled, n);
  for (int k = 0; k < n; k++) order[k] = digit[shuffled[k]];
  if (tesela_layout_add_axis(layout, "memory", &axis, NULL) != TESELA_OK) return false;
  int64_t gaps = below(3);
  for (int k = n - 1; k >= 0; k--) {
    if (gaps == 0 && below(3) == 0) stride *= 1 + below(3);
    if (gaps == 1 && below(6) == 0) stride += below(3);
    if (tesela_layout_place(layout, order[k], axis, below(30) == 0 ? below(4) : stride, NULL) != TESELA_OK)
      return false;
    stride *= layout->digit[order[k]].extent;
  }
  (void)tesela_layout_set_axis(layout, axis, below(25) == 0, -1, NULL);
  return stride < 400 && tesela_layout_finish(layout, NULL) == TESELA_OK;
}

static tesela_translation write_layout(const char *notation, const tesela_layout *layout, char *text,
                                       size_t room) {
  const tesela_notation *from;
  tesela_buffer buffer = {text, room, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_translation answer;
  tesela_error err = {.message = ""};
  assert_int_equal(tesela_notation_find("map() -> m[1]: 0", 16, &from, NULL, NULL), TESELA_OK);
  tesela_any_layout any = {.kind = TESELA_KIND_RELATION, .notation = from};
  any.relation = *layout;
  text[0] = '\0';
  if (tesela_translate(&any, notation, &to, &answer, &err) != TESELA_OK) {
    char map[4096];
    tesela_buffer maps = {map, sizeof map, 0};
    tesela_writer writer = tesela_buffer_writer(&maps);
    (void)tesela_map_print(layout, &writer, NULL);
    fail_msg("%s: %s", map, err.message);
  }
  return answer;
}

static void check_text(const char *notation, const char *text, const tesela_layout *layout, const table *t) {
  tesela_xla_shape array = {.dtype = layout->dtype, .rank = layout->rank};
  for (int d = 0; d < layout->rank; d++) array.dim[d] = layout->shape[d];
  tesela_layout_read_options options = {.notation = notation, .array = &array};
  tesela_any_layout any;
  tesela_error err = {.message = ""};
  if (tesela_layout_read(text, strlen(text), &options, &any, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  for (int e = 0; e < t->n; e++) {
    int64_t place;
    assert_int_equal(tesela_layout_place_of(&any.relation, t->index[e], &place, NULL), TESELA_OK);
    if (place != t->place[e]) fail_msg("%s: element %d", text, e);
  }
}

static int number_of(const table *t, const int64_t *index) {
  int64_t n = 0;
  for (int d = 0; d < t->rank; d++) n = n * t->shape[d] + index[d];
  return (int)n;
}

/* No blocks agree with the elements up to the contradiction, and some agree with those before it. */
static void check_contradiction(const table *t, const tesela_translation *answer, const char *map,
                                int64_t *kinds) {
  int first = 0;
  while (first < t->n && blocks_exist(t, first + 1)) first++;
  kinds[answer->contradiction]++;
  if (first == t->n) fail_msg("%s: %s, but there are blocks", map, answer->reason);
  if (number_of(t, answer->index) != first && answer->contradiction != TESELA_CONTRADICTION_NONE)
    fail_msg("%s: %s; the first contradiction is element %d", map, answer->reason, first);
  if (answer->contradiction == TESELA_CONTRADICTION_SHARED)
    assert_int_equal(t->place[number_of(t, answer->index2)], t->place[first]);
  if (answer->contradiction != TESELA_CONTRADICTION_PLACE) return;
  assert_int_equal(answer->place, t->place[first]);
  search s = {.t = t, .count = first, .limit = t->most};
  (void)exists(&s, 1, true);
  if (s.seen != 1 || s.at[0] != answer->expected)
    fail_msg("%s: %s; %d places, %" PRId64, map, answer->reason, s.seen, s.at[0]);
}

static void blocks_are_complete(const char *notation, uint64_t seed) {
  int64_t exact = 0, impossible = 0, kinds[4] = {0};
  state_of_random = seed;
  while (exact + impossible < (slow_run() ? 300 : 2000)) {
    tesela_layout layout;
    table t;
    char text[512], map[4096];
    if (!draw_layout(&layout)) continue;
    tabulate(&layout, &t);
    tesela_buffer buffer = {map, sizeof map, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    assert_int_equal(tesela_map_print(&layout, &to, NULL), TESELA_OK);
    tesela_translation answer = write_layout(notation, &layout, text, sizeof text);
    if (answer.verdict == TESELA_EXACT) {
      check_text(notation, text, &layout, &t);
      exact++;
    } else {
      assert_int_equal(answer.verdict, TESELA_IMPOSSIBLE);
      check_contradiction(&t, &answer, map, kinds);
      impossible++;
    }
  }
  printf("%s: %" PRId64 " exact, %" PRId64 " impossible (%" PRId64 " places, %" PRId64 " shared, %" PRId64
         " others)\n",
         notation, exact, impossible, kinds[TESELA_CONTRADICTION_PLACE], kinds[TESELA_CONTRADICTION_SHARED],
         kinds[TESELA_CONTRADICTION_NONE]);
  assert_true(exact * 10 > impossible && impossible * 10 > exact);
}

static void tags_are_complete(void **state) {
  (void)state;
  blocks_are_complete("onednn", first_seed() + 1);
}

static void strings_are_complete(void **state) {
  (void)state;
  blocks_are_complete("tvm", first_seed() + 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tags_are_the_formula),
      cmocka_unit_test(strings_are_the_formula),
      cmocka_unit_test(verbose_lines_are_the_formula),
      cmocka_unit_test(refusals_say_what_and_where),
      cmocka_unit_test(tags_are_complete),
      cmocka_unit_test(strings_are_complete),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
