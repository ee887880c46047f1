/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_map.c - layouts as index arithmetic: examples against the arithmetic itself, every printed layout read back, errors.
 */
#include "support_recipe.h"
#include "support_seed.h"

static char text_of[1 << 16];

static tesela_status print_map(const tesela_layout *layout, tesela_error *err) {
  tesela_buffer buffer = {text_of, sizeof text_of, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_status status = tesela_map_print(layout, &to, err);
  if (buffer.length >= sizeof text_of) fail_msg("a text of %zu bytes", buffer.length);
  return status;
}

/* Every element is where the table has it, and places without elements are padding: what is printed says the relation. */
static void what_is_printed_is_read_back(void **state) {
  (void)state;
  static table t;
  static tesela_layout again;
  static const taste *const tastes[] = {&recipe_small, &recipe_plain, &recipe_joined};
  int64_t copies = 0, sums = 0, flips = 0;
  for (uint64_t i = 0; i < recipe_seeds(); i++) {
    table_draw(&t, first_seed() + i, tastes[i % 3]);
    OK(&t.r, print_map(&t.layout, &e_));
    tesela_error err = {.message = ""};
    if (tesela_map_parse(&again, text_of, strlen(text_of), &err) != TESELA_OK)
      fail_msg("%s at %d: %s%s", err.message, (int)err.at, text_of, recipe_text(&t.r));
    AGREE(&t.r, "axes", again.n_axes, t.layout.n_axes);
    AGREE(&t.r, "bits", again.bits, t.layout.bits);
    for (int a = 0; a < again.n_axes; a++) {
      AGREE(&t.r, "places", again.axis[a].extent, t.layout.axis[a].extent);
      assert_string_equal(again.axis[a].name, t.layout.axis[a].name);
    }
    recipe_check_relation(&t.r, &again, t.n_elements, &t.key[0][0], t.n_keys, false);
    static char first[sizeof text_of];
    memcpy(first, text_of, sizeof first);
    OK(&t.r, print_map(&again, &e_));
    if (strcmp(first, text_of) != 0) fail_msg("%s\n  and then %s", first, text_of);
    copies += strstr(first, "copies") != NULL;
    sums += strstr(first, "; s0 = ") != NULL;
    flips += strstr(first, "^=") != NULL;
  }
  printf("%" PRId64 " with copies, %" PRId64 " with sums, %" PRId64 " with flips\n", copies, sums, flips);
  assert_true(copies > 0 && sums > 0 && flips > 0);
}

/* Layouts of up to 2^40 elements: the texts of canonical forms are equal. */
static void large_layouts_are_read_back(void **state) {
  (void)state;
  static const taste large = {(int64_t)1 << 40, (wide)1 << 58, 4, JOINED};
  static recipe r;
  static tesela_layout layout, again;
  tesela_difference difference;
  int64_t tried = 0;
  for (uint64_t i = 0; i < recipe_seeds(); i++) {
    recipe_seed(first_seed() + i);
    recipe_draw(&r, &large);
    if (recipe_build(&r, &layout, NULL) != TESELA_OK) continue;
    OK(&r, print_map(&layout, &e_));
    OK(&r, tesela_map_parse(&again, text_of, strlen(text_of), &e_));
    tesela_status status = tesela_layout_compare(&layout, &again, &difference, NULL);
    if (status == TESELA_E_UNSUPPORTED) continue;
    AGREE(&r, "status", status, TESELA_OK);
    if (!difference.same) fail_msg("%s%s", text_of, recipe_text(&r));
    tried++;
  }
  assert_true(tried > (int64_t)recipe_seeds() / 2);
}

static tesela_layout read_map(const char *text) {
  tesela_layout layout;
  tesela_error err = {.message = ""};
  if (tesela_map_parse(&layout, text, strlen(text), &err) != TESELA_OK) fail_msg("%s: %s", text, err.message);
  return layout;
}

static int64_t at(const tesela_layout *layout, int64_t i, int64_t j) {
  const int64_t index[2] = {i, j};
  int64_t place[TESELA_MAX_AXES];
  assert_int_equal(tesela_layout_place_of(layout, index, place, NULL), TESELA_OK);
  return place[0];
}

static void examples_are_the_arithmetic(void **state) {
  (void)state;
  tesela_layout tiled =
      read_map("map(d0:3, d1:5) of f32 -> memory[24]: 12*(d0/2) + 2*(d0%2) + 4*(d1/2) + d1%2");
  tesela_layout other = read_map("map(row:3,col:5)of f32->m[24]:(row/2)*12+2*(row%2)+col/2*4 +\n col%2+0");
  tesela_layout swizzled =
      read_map("map(i:64, j:64) of f16 -> memory[4096]: 64*i + j; memory ^= 8*(memory/64%8)");
  tesela_layout crossed = read_map("map(i:4, j:4) -> a[4]: i; b[4]: j; a ^= b%4; b ^= 2*(a%2)");
  tesela_layout shifted = read_map("map(i:5, j:2; s = i + 3) -> m[1000]: 100*(s/4) + s%4 + 500*j");
  tesela_layout uneven = read_map("map(i:20, j:1) -> m[40]: 10*(i/7) + 5*(i%7/5) + i%7%5");
  tesela_layout bits = read_map("map(i:8, j:2) of s4 in 8 bits -> m[64]: 63 - 8*(i%4) - 4*j");
  tesela_layout parts = read_map("map(i:16, j:1) -> m[256]: i + i/4 + 3*(i/2%4)");
  for (int64_t i = 0; i < 3; i++)
    for (int64_t j = 0; j < 5; j++) {
      assert_int_equal(at(&tiled, i, j), 12 * (i / 2) + 2 * (i % 2) + 4 * (j / 2) + j % 2);
      assert_int_equal(at(&other, i, j), at(&tiled, i, j));
    }
  for (int64_t i = 0; i < 64; i++)
    for (int64_t j = 0; j < 64; j++) assert_int_equal(at(&swizzled, i, j), (64 * i + j) ^ 8 * (i % 8));
  for (int64_t i = 0; i < 4; i++)
    for (int64_t j = 0; j < 4; j++) {
      const int64_t index[2] = {i, j};
      int64_t place[2]; /* both at once */
      assert_int_equal(tesela_layout_place_of(&crossed, index, place, NULL), TESELA_OK);
      assert_int_equal(place[0], i ^ j);
      assert_int_equal(place[1], j ^ 2 * (i % 2));
    }
  for (int64_t i = 0; i < 5; i++)
    assert_int_equal(at(&shifted, i, 1), 500 + 100 * ((i + 3) / 4) + (i + 3) % 4);
  for (int64_t i = 0; i < 20; i++)
    assert_int_equal(at(&uneven, i, 0), 10 * (i / 7) + 5 * (i % 7 / 5) + i % 7 % 5);
  for (int64_t i = 0; i < 8; i++) assert_int_equal(at(&bits, i, 1), 63 - 8 * (i % 4) - 4);
  for (int64_t i = 0; i < 16; i++) assert_int_equal(at(&parts, i, 0), i + i / 4 + 3 * (i / 2 % 4));
  assert_int_equal(bits.dtype, TESELA_S4);
  assert_int_equal(bits.bits, 8);
  tesela_layout nothing = read_map("map() ->"),
                empty = read_map("map(d0:0, d1:5) of 1 bits -> m[7]: 2*d1 + 10*d0"),
                copied = read_map("map(d0:8; copies r0:4) -> thread[32]: 4*d0 + r0; local[1]: 0");
  assert_int_equal(nothing.rank + nothing.n_axes, 0);
  assert_int_equal(empty.axis[0].extent, 7);
  assert_int_equal(empty.bits, 1);
  assert_int_equal(tesela_layout_copies(&copied), 4);
  const int64_t five = 5;
  int64_t place[2];
  assert_int_equal(tesela_layout_copy_of(&copied, &five, 3, place, NULL), TESELA_OK);
  assert_int_equal(place[0], 23);
}

static void mistakes_are_said_with_their_place(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_status status;
    int at;
    const char *message;
  } rows[] = {
      {"map(d0:3) -> memory[3]: d1", TESELA_E_INVALID, 24,
       "unknown name 'd1'; expected a dim, a copy or a sum declared before"},
      {"map(d0:3, d0:4) -> memory[3]: d0", TESELA_E_INVALID, 10, "the name 'd0' is used twice"},
      {"map(d0:3) -> memory[2]: d0", TESELA_E_RANGE, 13,
       "places on axis memory reach 2; the axis has 2 places"},
      {"map(d0:3) -> memory[3]: d0/0", TESELA_E_RANGE, 27, NULL},
      {"map(d0:3) -> memory[3] d0", TESELA_E_SYNTAX, 23, "expected ':' and a sum, found 'd0'"},
      {"map(d0:3 -> memory[3]: d0", TESELA_E_SYNTAX, 9, "expected ')' after the dims, found '-'"},
      {"map(d0:3) memory[3]: d0", TESELA_E_SYNTAX, 10, "expected '->', found 'memory'"},
      {"map(d0:3) of f33 -> m[3]: d0", TESELA_E_SYNTAX, 13, "unknown element type 'f33'; did you mean f32?"},
      {"map(d0:30) -> m[99]: d0/3 + d0%5", TESELA_E_UNSUPPORTED, 21, NULL},
      {"map(d0:3) -> a[3]: d0; b[3]: d0", TESELA_E_UNSUPPORTED, 29, NULL},
      {"map(d0:3; s = d0 - 1) -> a[3]: s", TESELA_E_RANGE, 10, "the sum may be -1; expected 0 or more"},
      {"map(d0:3; s = d0) -> a[3]: d0/1", TESELA_E_UNSUPPORTED, 27, NULL},
      {"map(d0:3; s = d0) -> a[3]: 0", TESELA_E_INVALID, 10, "the sum is not used"},
      {"map(d0:3; copies r:2) -> a[8]: d0 + 3*(r/2)", TESELA_E_UNSUPPORTED, 39, NULL},
      {"map(d0:3; copies r:2) -> a[8]: d0", TESELA_E_INVALID, -1, "copy 0 is not used"},
      {"map(d0:4) -> a[4]: d0; a ^= a%2", TESELA_E_INVALID, 23,
       "the bit matrix has no inverse: it would put several places in one"},
      {"map(d0:4) -> a[4]: d0; a ^= a/3%2", TESELA_E_INVALID, 30, "3 is not a power of 2"},
      {"map(d0:4) -> a[4]: d0; a ^= a/2%2; b[1]: 0", TESELA_E_SYNTAX, 35, NULL},
      {"map(d0:4) -> a[4]: d0 extra", TESELA_E_SYNTAX, 22, "expected ';' or the end, found 'extra'"},
      {"map(d0:99999999999999999999) -> a[4]: d0", TESELA_E_RANGE, 7, NULL},
      {"map(d0:4) -> a[4]: 9223372036854775807*d0", TESELA_E_OVERFLOW, 19, NULL},
      {"map(d0:4) -> averylongname[4]: d0", TESELA_E_LIMIT, 13,
       "an axis name of 13 bytes; expected at most 11"},
      {"map", TESELA_E_SYNTAX, 3, "expected '(' after map, found the end of the text"},
      {"map(d0:4) -> a[4]: d0 +", TESELA_E_SYNTAX, 23,
       "expected a number or a name, found the end of the text"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_layout layout;
    tesela_error err = {.message = "", .at = -7};
    tesela_status status = tesela_map_parse(&layout, rows[i].text, strlen(rows[i].text), &err);
    if (status != rows[i].status || err.at != rows[i].at ||
        (rows[i].message && strcmp(err.message, rows[i].message) != 0))
      fail_msg("%s: status %d at %d: %s", rows[i].text, status, (int)err.at, err.message);
  }
  tesela_layout layout, named = read_map("map(d0:4) -> a[4]: d0");
  tesela_error err;
  const int64_t shape[1] = {4};
  assert_int_equal(tesela_layout_begin(&layout, TESELA_F32, 32, 1, shape, NULL), TESELA_OK);
  assert_int_equal(print_map(&layout, &err), TESELA_E_INVALID);
  memcpy(named.axis[0].name, "a b", 4);
  assert_int_equal(print_map(&named, &err), TESELA_E_UNSUPPORTED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_printed_is_read_back), cmocka_unit_test(large_layouts_are_read_back),
      cmocka_unit_test(examples_are_the_arithmetic), cmocka_unit_test(mistakes_are_said_with_their_place)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
