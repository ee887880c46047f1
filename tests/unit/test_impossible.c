/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_impossible.c - "impossible" is refuted nowhere: for relations of up to 64 elements a search through all texts of a notation
 * finds one exactly if tesela_translate writes one, and the contradiction is at the first element, row-major, with which no text
 * agrees any more.
 *
 * TESELA_SEEDS: relations for each notation (default: 400, 100 in slow runs).
 */
#include "support_forms.h"
#include "support_seed.h"
#include "support_xla.h"

static uint64_t random_state;

static int64_t below(int64_t n) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (int64_t)((random_state >> 11) % (uint64_t)n);
}

static int64_t runs(void) {
  const char *text = getenv("TESELA_SEEDS");
  if (text) return strtoll(text, NULL, 10);
  return slow_run() ? 100 : 400;
}

/* clang-format off */
static const form separate = /* tiles without `*` */
    {.notation = "xla", .kind = FORM_DIGITS, .steps = STEPS_ANY, .strides = STRIDES_MULTIPLE, .at_zero = true};

static const form modes = /* CuTe layouts without a swizzle, for layouts without one */
    {.notation = "cute", .kind = FORM_DIGITS, .steps = STEPS_CHAIN};

static const form blocks = /* the texts of oneDNN: a contradiction of all blocks is one of those with a tile of each dim */
    {.notation = "onednn", .kind = FORM_RADIX, .at_zero = true};

static const form forms[] = {
    {.notation = "xla", .kind = FORM_DIGITS, .numbers = NUMBERS_JOINED, .steps = STEPS_ANY, .strides = STRIDES_MULTIPLE, .at_zero = true,
     .contradicts = &separate},
    {.notation = "jax", .kind = FORM_DIGITS, .steps = STEPS_ANY, .strides = STRIDES_MULTIPLE, .at_zero = true},
    {.notation = "onednn", .kind = FORM_RADIX, .at_zero = true},
    {.notation = "tvm", .kind = FORM_STRING, .at_zero = true, .contradicts = &blocks},
    {.notation = "iree", .kind = FORM_IREE, .at_zero = true, .contradicts = &blocks},
    {.notation = "einops", .kind = FORM_DIGITS, .steps = STEPS_CHAIN, .strides = STRIDES_FILLED, .replicas = true, .at_zero = true},
    {.notation = "verbose", .kind = FORM_TILED, .at_zero = true},
    {.notation = "pack", .kind = FORM_RADIX, .at_zero = true, .pack = true, .contradicts = &blocks},
    {.notation = "mosaic", .kind = FORM_TILED, .registers = true, .at_zero = true},
    {.notation = "mlir", .kind = FORM_DIGITS, .steps = STEPS_ONE},
    {.notation = "torch", .kind = FORM_DIGITS, .steps = STEPS_ONE, .strides = STRIDES_UP},
    {.notation = "axe", .kind = FORM_DIGITS, .numbers = NUMBERS_ALL, .steps = STEPS_DIVIDE, .replicas = true},
    {.notation = "cute", .kind = FORM_DIGITS, .steps = STEPS_CHAIN, .flips = true, .contradicts = &modes},
    {.notation = "shared", .kind = FORM_DIGITS, .steps = STEPS_DIVIDE, .strides = STRIDES_UP, .flips = true},
    {.notation = "device", .kind = FORM_DIGITS, .steps = STEPS_ANY, .strides = STRIDES_APART, .replicas = true, .at_zero = true},
};
/* clang-format on */

/* ---- random relations ---------------------------------------------------------------------------------------- */

static void shuffle(int32_t n, int32_t *list) {
  for (int32_t i = n - 1; i > 0; i--) {
    int32_t k = (int32_t)below(i + 1), x = list[i];
    list[i] = list[k];
    list[k] = x;
  }
}

static bool draw_shape(int32_t *rank, int64_t *shape, int64_t most, int64_t elements_most) {
  int64_t elements = 1;
  *rank = (int32_t)below(4);
  for (int32_t d = 0; d < *rank; d++) {
    shape[d] = 1 + below(most);
    while (elements * shape[d] > elements_most) shape[d]--;
    elements *= shape[d];
  }
  return elements > 3 || below(20) == 0;
}

/* Digits of random splits, in any order; `hard`: gaps, strides that do not fit, an offset, joined dims, an XOR, copies. */
static bool draw_layout(const form *f, tesela_layout *layout) {
  int32_t rank, digit[16], n, axis;
  int64_t shape[FORM_DIMS], stride = 1, gaps = below(3);
  bool hard = below(2) == 0;
  if (!draw_shape(&rank, shape, 3 + below(10), f->numbers == NUMBERS_JOINED ? 16 : 32)) return false;
  OK(tesela_layout_begin(layout, TESELA_F16, 16, rank, shape, &e_));
  OK(tesela_layout_add_axis(layout, "memory", &axis, &e_));
  for (n = 0; n < rank; n++) digit[n] = n;
  if (rank > 1 && (f->numbers != NUMBERS_DIMS || hard) && below(3) == 0) {
    int32_t pair[2] = {0, 1};
    if (f->numbers != NUMBERS_ALL) shuffle(2, pair);
    OK(tesela_layout_join(layout, 2, pair, &digit[0], &e_));
    digit[1] = digit[--n];
  }
  for (int64_t k = n > 0 ? below(4) : 0; k > 0; k--) {
    int32_t from = (int32_t)below(n);
    int64_t extent = layout->digit[digit[from]].extent, t = 1 + below(5);
    while (f->steps == STEPS_DIVIDE && extent % t != 0 && below(6) > 0) t = 1 + below(5);
    OK(tesela_layout_split(layout, digit[from], t, &digit[n++], &e_));
  }
  if (below(f->replicas ? 3 : 30) == 0)
    OK(tesela_layout_add_digit(layout, TESELA_REPLICA, 2 + below(2), &digit[n++], &e_));
  shuffle(n, digit);
  for (int32_t k = n - 1; k >= 0; k--) {
    if (gaps == 0 && below(3) == 0) stride *= 1 + below(3);
    if ((gaps == 1 || f->kind == FORM_DIGITS) && below(hard ? 4 : 8) == 0) stride += below(3);
    int64_t used = hard && below(8) == 0 ? below(12) : stride;
    OK(tesela_layout_place(layout, digit[k], axis, used, &e_));
    stride *= layout->digit[digit[k]].extent;
  }
  if (below(f->at_zero ? 25 : 3) == 0) (void)tesela_layout_set_axis(layout, axis, below(5), -1, NULL);
  if (f->flips ? below(2) == 0 : hard && below(6) == 0) {
    int16_t bits = (int16_t)(1 + below(2));
    tesela_swizzle swizzle = {0, bits, (int16_t)below(2), (int16_t)(bits + below(2))};
    if (below(3) == 0) swizzle.shift = (int16_t)-swizzle.shift;
    OK(tesela_layout_add_swizzle(layout, swizzle, &e_));
    if (below(6) == 0) OK(tesela_layout_add_swizzle(layout, (tesela_swizzle){0, 1, 0, 2}, &e_));
  }
  return tesela_layout_finish(layout, NULL) == TESELA_OK && layout->axis[0].extent <= 96;
}

static const char *map_of(const tesela_layout *layout) {
  static char map[4096];
  tesela_buffer buffer = {map, sizeof map, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  OK(tesela_map_print(layout, &to, &e_));
  return map;
}

/* ---- verdicts -------------------------------------------------------------------------------------------------- */

static tesela_status verdict_of(const form *f, const tesela_layout *layout, tesela_translation *answer,
                                tesela_error *err) {
  char text[2048] = "";
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_any_layout any = {.kind = TESELA_KIND_RELATION};
  tesela_target target;
  tesela_device_layout device;
  OK(tesela_notation_find("map() -> m[1]: 0", 16, &any.notation, NULL, &e_));
  any.relation = *layout;
  if (strcmp(f->notation, "device") != 0) return tesela_translate(&any, f->notation, &to, answer, err);
  OK(tesela_target_plain(&target, 8, &e_)); /* sticks of 4 elements */
  return tesela_device_from_layout(layout, &target, &device, answer, err);
}

static void check_contradiction(const form *f, const form_table *t, const tesela_translation *answer,
                                const char *map, int64_t *kinds) {
  int at = form_number(t, answer->index);
  kinds[answer->contradiction]++;
  if (answer->contradiction == TESELA_CONTRADICTION_NONE) return;
  assert_int_not_equal(answer->contradiction, TESELA_CONTRADICTION_BIT);
  if (!form_exists(f, t, at))
    fail_msg("%s: %s: element %d, but an earlier element contradicts: %s", f->notation, map, at,
             answer->reason);
  if (form_exists(f, t, at + 1))
    fail_msg("%s: %s: element %d does not contradict: %s", f->notation, map, at, answer->reason);
  bool is_place = false;
  for (int k = 0; k < t->copies; k++) is_place = is_place || t->copy[at][k] == answer->place;
  assert_true(is_place);
  if (answer->contradiction == TESELA_CONTRADICTION_SHARED) {
    AGREE(map, t->place[form_number(t, answer->index2)], answer->place);
    assert_true(form_number(t, answer->index2) < at);
    return;
  }
  form_next next = form_expected(f, t, at);
  if (answer->contradiction == TESELA_CONTRADICTION_ELEMENT && next.n == 1) kinds[5]++;
  if (answer->contradiction == TESELA_CONTRADICTION_ELEMENT) return;
  if (next.n != 1 || next.place != answer->expected)
    fail_msg("%s: %s: element %d is expected at %" PRId64 "; a search finds %d places, such as %" PRId64,
             f->notation, map, at, answer->expected, next.n, next.place);
}

static void check_form(const form *f) {
  int64_t rates[2] = {0}, kinds[6] = {0}, undecided = 0;
  random_state = first_seed() * 2 + 1;
  while (rates[0] + rates[1] + undecided < runs()) {
    tesela_layout layout;
    tesela_translation answer;
    form_table t;
    tesela_error err = {.message = ""};
    if (!draw_layout(f, &layout) || !form_tabulate(&layout, &t)) continue;
    if (t.rank == 0 && f->kind != FORM_DIGITS) continue; /* these notations need a dim */
    tesela_status status = verdict_of(f, &layout, &answer, &err);
    if (status == TESELA_E_UNSUPPORTED) undecided++;
    if (status == TESELA_E_UNSUPPORTED) continue;
    if (status != TESELA_OK) fail_msg("%s: %s: %s", f->notation, map_of(&layout), err.message);
    bool exists = form_exists(f, &t, t.n);
    if (exists != (answer.verdict != TESELA_IMPOSSIBLE))
      fail_msg("%s: %s: %s (%s), but a search finds %s", f->notation, map_of(&layout),
               tesela_verdict_name(answer.verdict), answer.reason, exists ? "a text" : "none");
    rates[exists]++;
    if (!exists)
      check_contradiction(f->contradicts && (!f->flips || layout.swizzle.n == 0) ? f->contradicts : f, &t,
                          &answer, map_of(&layout), kinds);
  }
  printf("%s: %" PRId64 " written, %" PRId64 " impossible (%" PRId64 " places, %" PRId64 " shared, %" PRId64
         " elements, %" PRId64 " of them with one place, %" PRId64 " reasons), %" PRId64 " undecided\n",
         f->notation, rates[1], rates[0], kinds[TESELA_CONTRADICTION_PLACE],
         kinds[TESELA_CONTRADICTION_SHARED], kinds[TESELA_CONTRADICTION_ELEMENT], kinds[5],
         kinds[TESELA_CONTRADICTION_NONE], undecided);
  assert_true(12 * rates[0] > rates[1] && 12 * rates[1] > rates[0]);
  assert_true(12 * undecided < runs()); /* copies that a swizzle turns */
}

static void nothing_expressible_is_missed(void **state) {
  (void)state;
  const char *only = getenv("FORM");
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
    if (!only || strcmp(only, forms[i].notation) == 0) check_form(&forms[i]);
}

/* ---- hard inputs ----------------------------------------------------------------------------------------------- */

/* Ranks from 0, extents 0, 1 up to 10^6 elements, offsets, holes at the end, copies, an XOR. */
static bool draw_hard(tesela_layout *layout) {
  int32_t rank = (int32_t)below(4), digit[16], n, axis;
  int64_t shape[FORM_DIMS], stride = 1;
  for (int32_t d = 0; d < rank; d++) {
    int64_t extents[] = {0, 1, 1, 2, 3, 6, 8, 12, 10, 97, 100, 128, 1000};
    shape[d] = extents[below(13)];
  }
  OK(tesela_layout_begin(layout, TESELA_F16, 16, rank, shape, &e_));
  OK(tesela_layout_add_axis(layout, "memory", &axis, &e_));
  for (n = 0; n < rank; n++) digit[n] = n;
  for (int64_t k = rank > 0 ? below(3) : 0; k > 0; k--, n++)
    OK(tesela_layout_split(layout, digit[below(n)], 1 + below(4), &digit[n], &e_));
  if (below(6) == 0) OK(tesela_layout_add_digit(layout, TESELA_REPLICA, 1 + below(3), &digit[n++], &e_));
  if (below(6) == 0) OK(tesela_layout_add_digit(layout, TESELA_HOLE, 1 + below(3), &digit[n++], &e_));
  shuffle(n, digit);
  for (int32_t k = n - 1; k >= 0; k--) {
    if (below(6) == 0) stride += below(3);
    OK(tesela_layout_place(layout, digit[k], axis, stride, &e_));
    stride *= layout->digit[digit[k]].extent > 0 ? layout->digit[digit[k]].extent : 1;
  }
  (void)tesela_layout_set_axis(layout, axis, below(4) == 0 ? below(9) : 0, -1, NULL);
  if (below(6) == 0)
    OK(tesela_layout_add_swizzle(layout, (tesela_swizzle){0, 1, (int16_t)below(2), (int16_t)(1 + below(3))},
                                 &e_));
  return tesela_layout_finish(layout, NULL) == TESELA_OK;
}

/* What the text says of some elements, and the verdict by the counts of places. */
static void check_hard(const char *notation, const tesela_layout *layout, const char *text,
                       const tesela_translation *answer) {
  tesela_xla_shape array = {.dtype = layout->dtype, .rank = layout->rank};
  tesela_any_layout any;
  tesela_layout back;
  bool larger = false, empty = false;
  for (int32_t d = 0; d < layout->rank; d++) {
    array.dim[d] = answer->shape[d];
    larger = larger || answer->shape[d] > layout->shape[d];
    empty = empty || layout->shape[d] == 0;
    assert_true(answer->shape[d] >= layout->shape[d]);
  }
  if (answer->verdict == TESELA_EXACT) assert_false(larger);
  if (answer->verdict == TESELA_VALID_PART) assert_true(larger && answer->text_places <= answer->places);
  if (answer->verdict == TESELA_NEEDS_PADDING) assert_true(larger && answer->text_places > answer->places);
  if (strcmp(notation, "c") == 0 || strcmp(notation, "cuda") == 0) return;
  tesela_layout_read_options options = {.notation = notation,
                                        .flags = TESELA_XLA_STRICT,
                                        .array = &array,
                                        .as = answer->as[0] ? answer->as : NULL};
  tesela_error err = {.message = ""};
  if (tesela_layout_read(text, strlen(text), &options, &any, &err) != TESELA_OK ||
      tesela_any_to_layout(&any, &back, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  for (int k = 0; k < 20 && !empty; k++) {
    int64_t index[FORM_DIMS] = {0}, a[8], b[8], copies = tesela_layout_copies(layout), sum[2] = {0};
    for (int32_t d = 0; d < layout->rank; d++)
      index[d] = k == 0 ? layout->shape[d] - 1 : below(layout->shape[d]);
    AGREE(text, tesela_layout_copies(&back), copies);
    for (int64_t c = 0; c < copies; c++) {
      OK(tesela_layout_copy_of(layout, index, c, a, &e_));
      OK(tesela_layout_copy_of(&back, index, c, b, &e_));
      sum[0] += a[0];
      sum[1] += b[0];
    }
    if (back.n_axes == 1) AGREE(text, sum[1], sum[0]);
  }
}

/* tesela_translate never fails, and gives no wrong text; index arithmetic expresses all layouts without copies. */
static void hard_layouts_are_translated_or_refused(void **state) {
  (void)state;
  static const char *const names[] = {"xla",  "jax",        "register", "device", "shared", "global",
                                      "map",  "cute",       "triton",   "onednn", "tvm",    "pack",
                                      "mlir", "torch",      "mosaic",   "axe",    "numpy",  "c",
                                      "cuda", "affine_map", "index_map"};
  int64_t rates[5] = {0}, undecided = 0;
  random_state = first_seed() * 2 + 3;
  for (int64_t i = 0; i < runs() / 4; i++) {
    tesela_any_layout any = {.kind = TESELA_KIND_RELATION};
    if (!draw_hard(&any.relation)) continue;
    OK(tesela_notation_find("map() -> m[1]: 0", 16, &any.notation, NULL, &e_));
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
      static char text[1 << 14];
      tesela_buffer buffer = {text, sizeof text, 0};
      tesela_writer to = tesela_buffer_writer(&buffer);
      tesela_translation answer;
      tesela_error err = {.message = ""};
      text[0] = '\0';
      tesela_status status = tesela_translate(&any, names[k], &to, &answer, &err);
      if (status == TESELA_E_UNSUPPORTED || status == TESELA_E_LIMIT) undecided++;
      if (status == TESELA_E_UNSUPPORTED || status == TESELA_E_LIMIT) continue;
      if (status != TESELA_OK) fail_msg("%s: %s: %s", names[k], map_of(&any.relation), err.message);
      rates[answer.verdict]++;
      bool code = k >= 16 || strcmp(names[k], "map") == 0;
      if (code && tesela_layout_copies(&any.relation) == 1) AGREE(names[k], answer.verdict, TESELA_EXACT);
      if (answer.verdict != TESELA_IMPOSSIBLE) check_hard(names[k], &any.relation, text, &answer);
    }
  }
  printf("%" PRId64 " exact, %" PRId64 " valid part, %" PRId64 " need padding, %" PRId64
         " impossible, %" PRId64 " undecided\n",
         rates[TESELA_EXACT], rates[TESELA_VALID_PART], rates[TESELA_NEEDS_PADDING], rates[TESELA_IMPOSSIBLE],
         undecided);
  assert_true(20 * undecided < rates[TESELA_EXACT]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_expressible_is_missed),
                                     cmocka_unit_test(hard_layouts_are_translated_or_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
