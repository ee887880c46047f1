/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_lower.c - shapes as relations and as programs: worked cases, and random ones against the oracle.
 */
#include "support_seed.h"
#include "support_xla.h"

enum { SEEDS = 3000, MOST = 600 };

/* ---- worked cases ---- */

/* Places of elements: XLA's tiled-layout document and its figures. */
static const struct {
  const char *name, *shape;
  int64_t index[5], place;
} place_rows[] = {
    {"figure 1", "f32[3,5]{1,0:T(2,2)}", {2, 3}, 17},
    {"figure 2, row 1", "f32[4,8]{1,0:T(2,4)(2,1)}", {1, 7}, 15},
    {"figure 2, row 3", "f32[4,8]{1,0:T(2,4)(2,1)}", {3, 0}, 17},
    {"column-major", "f32[2,3]{0,1}", {0, 2}, 4},
    {"a tile above the rank", "f32[8]{0:T(2,2)}", {5}, 9},
    {"a tile of one row", "f32[3]{0:T(8,128)}", {2}, 2},
    {"a scalar in a tile", "u32[]{:T(128)}", {0}, 0},
    {"combined dims", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", {1, 6, 7, 10, 9}, 12430},
    {"combined dims, inside", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", {0, 2, 3, 6, 8}, 2135},
    {"a combined leading one", "f8e5m2fnuz[7]{0:T(2)(*,2)}", {6}, 6},
    {"packed rows", "bf16[32,256]{1,0:T(8,128)(2,1,1,1)}", {21, 143}, 7454},
    {"one dim, interleaved", "bf16[4096]{0:T(1024)(128)(2,1)}", {1889}, 1986},
    {"an order of four dims", "s32[9,6,1,6]{3,0,1,2:T(4)}", {0, 2, 0, 5}, 149},
    {"a dynamic dim counts as its bound", "s32[<=4096]{0:T(8)M(1024)}", {4095}, 4095},
    {"split configs move nothing", "s32[6]{0:T(128)S(1)SC(0:3)}", {5}, 5},
    {"a buffer is an array", "b(f32[3,5]{1,0:T(2,2)})", {2, 3}, 17},
    {"without braces the order is default", "f32[2,3]", {1, 0}, 3},
};

static void test_places(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof place_rows / sizeof place_rows[0]; r++) {
    tesela_xla_shape shape = shape_of(place_rows[r].shape);
    tesela_layout layout;
    int64_t place, index[5];
    bool padding;
    OK(tesela_xla_to_layout(&shape, &layout, &e_));
    OK(tesela_layout_place_of(&layout, place_rows[r].index, &place, &e_));
    AGREE(place_rows[r].name, place, place_rows[r].place);
    OK(tesela_layout_element_at(&layout, &place, index, &padding, &e_));
    AGREE(place_rows[r].name, padding, false);
    for (int32_t d = 0; d < shape.rank; d++) AGREE(place_rows[r].name, index[d], place_rows[r].index[d]);
    assert_string_equal(layout.axis[0].name, "memory");
  }
}

static const struct {
  const char *name, *shape;
  int32_t level, n;
  int64_t bounds[12];
} bounds_rows[] = {
    {"physical bounds", "f32[3,5]{0,1:T(2,2)}", 0, 2, {5, 3}},
    {"one tile", "f32[3,5]{1,0:T(2,2)}", 1, 4, {2, 3, 2, 2}},
    {"a short tile", "f32[2,20,200]{2,1,0:T(8,128)}", 1, 5, {2, 3, 2, 8, 128}},
    {"combined dims", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", 1, 4, {56, 37, 2, 3}},
    {"a second level", "f32[4,8]{1,0:T(2,4)(2,1)}", 2, 6, {2, 2, 1, 4, 2, 1}},
    {"three levels", "bf16[4096]{0:T(1024)(128)(2,1)}", 3, 5, {4, 4, 128, 2, 1}},
    {"leading ones", "u32[]{:T(128)}", 1, 2, {1, 128}},
    {"leading ones at level 1", "f32[8,8]{1,0:T(2,2)(2,2,2,2,2)}", 1, 4, {4, 4, 2, 2}},
    {"and what they become", "f32[8,8]{1,0:T(2,2)(2,2,2,2,2)}", 2, 10, {1, 2, 2, 1, 1, 2, 2, 2, 2, 2}},
    {"a zero stays", "f32[0,5]{1,0:T(2,2)}", 1, 4, {0, 3, 2, 2}},
};

static void test_bounds(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof bounds_rows / sizeof bounds_rows[0]; r++) {
    tesela_xla_shape shape = shape_of(bounds_rows[r].shape);
    int64_t bounds[TESELA_MAX_DIGITS];
    int32_t n;
    OK(tesela_xla_bounds(&shape, bounds_rows[r].level, bounds, &n, &e_));
    AGREE(bounds_rows[r].name, n, bounds_rows[r].n);
    for (int32_t i = 0; i < n; i++) AGREE(bounds_rows[r].name, bounds[i], bounds_rows[r].bounds[i]);
    assert_int_equal(tesela_xla_bounds(&shape, -1, bounds, &n, NULL), TESELA_E_RANGE);
    assert_int_equal(tesela_xla_bounds(&shape, shape.layout.n_tiles + 1, bounds, &n, NULL), TESELA_E_RANGE);
  }
}

static const struct {
  const char *name, *shape;
  tesela_status layout, program;
} refused_rows[] = {
    {"a token", "token[]", TESELA_E_UNSUPPORTED, TESELA_E_UNSUPPORTED},
    {"an opaque", "opaque[]", TESELA_E_UNSUPPORTED, TESELA_E_UNSUPPORTED},
    {"an unbounded dim", "f32[?,3]{1,0}", TESELA_E_UNSUPPORTED, TESELA_E_UNSUPPORTED},
    {"an element of 2000 bits", "f32[3]{0:E(2000)}", TESELA_E_RANGE, TESELA_OK},
};

static void test_refused(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof refused_rows / sizeof refused_rows[0]; r++) {
    tesela_xla_shape shape = shape_of(refused_rows[r].shape);
    tesela_layout layout = {.rank = 77};
    tesela_program program = {.rank = 77};
    tesela_error err = {.message = ""};
    AGREE(refused_rows[r].name, tesela_xla_to_layout(&shape, &layout, &err), refused_rows[r].layout);
    AGREE("message", err.message[0] != '\0', true);
    AGREE("a failure changes nothing", layout.rank, 77);
    AGREE(refused_rows[r].name, tesela_xla_program(&shape, &program, NULL), refused_rows[r].program);
    if (refused_rows[r].program != TESELA_OK) AGREE("a failure changes nothing", program.rank, 77);
  }
}

/* 32 dims and 16 levels fit a relation; a program has no room for so many numbers and says so. */
static void test_limit(void **state) {
  (void)state;
  static tesela_program program;
  const int64_t tiles[2][4] = {{1, 1, 1, 2}, {1, 1, 1, 3}}; /* each pads the one before */
  int64_t dim[TESELA_MAX_RANK], place;
  const int64_t first[TESELA_MAX_RANK] = {0};
  tesela_xla_layout layout;
  tesela_xla_shape shape;
  tesela_layout relation;
  for (int d = 0; d < TESELA_MAX_RANK; d++) dim[d] = 1;
  OK(tesela_xla_layout_make(&layout, TESELA_MAX_RANK, NULL, &e_));
  for (int k = 0; k < TESELA_XLA_MAX_TILES; k++)
    OK(tesela_xla_layout_add_tile(&layout, 4, tiles[k % 2], &e_));
  OK(tesela_xla_shape_make(&shape, TESELA_F32, TESELA_MAX_RANK, dim, &layout, &e_));
  OK(tesela_xla_to_layout(&shape, &relation, &e_));
  OK(tesela_layout_place_of(&relation, first, &place, &e_));
  AGREE("32 dims, 16 levels", place, 0);
  assert_int_equal(tesela_xla_program(&shape, &program, NULL), TESELA_E_LIMIT);
}

static void test_program_text(void **state) {
  (void)state;
  static const struct {
    const char *shape, *text;
  } rows[] = {
      {"f32[3,5]{1,0}", ""},
      {"f32[3,5]{0,1}", "order: transpose [1,0] -> [5,3]\n"},
      {"f32[3,5]{1,0:T(2,2)}", "level 0: pad [1,1] -> [4,6]\n"
                               "level 0: reshape [2,2,3,2] -> [2,2,3,2]\n"
                               "level 0: transpose [0,2,1,3] -> [2,3,2,2]\n"},
      {"f32[3,5]{1,0:T(*,4)L(32)}", "level 0: reshape [15] -> [15]\n"
                                    "level 0: pad [1] -> [16]\n"
                                    "level 0: reshape [4,4] -> [4,4]\n"
                                    "tail: reshape [16] -> [16]\n"
                                    "tail: pad [16] -> [32]\n"},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_xla_shape shape = shape_of(rows[r].shape);
    tesela_program program;
    char text[TEXT] = "";
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    OK(tesela_xla_program(&shape, &program, &e_));
    OK(tesela_program_print(&program, &to, &e_));
    if (strcmp(text, rows[r].text) != 0) fail_msg("%s:\n%s", rows[r].shape, text);
  }
}

/* ---- random arrays against the oracle ---- */

typedef struct sample {
  struct oracle_array array;
  char text[TEXT];
  int64_t count, length, image[MOST];
  tesela_xla_shape shape;
} sample;

static void draw(sample *s, uint64_t seed) {
  const char *type;
  oracle_random(seed, MOST, &s->array, &type);
  oracle_print(&s->array, type, s->text, sizeof s->text);
  s->count = oracle_count(&s->array);
  s->length = oracle_image(&s->array, s->image, MOST);
  assert_true(s->length >= 0);
  s->shape = shape_of_array(&s->array, type);
}

static void compare_sizes(const sample *s, const tesela_layout *layout) {
  tesela_xla_sizes sizes;
  tesela_sizes of_layout;
  OK(tesela_xla_size(&s->shape, &sizes, &e_));
  OK(tesela_layout_sizes(layout, &of_layout, &e_));
  AGREE(s->text, sizes.elements, oracle_elements(&s->array));
  AGREE(s->text, sizes.logical_elements, s->count);
  AGREE(s->text, sizes.bits_per_element, s->array.bits);
  AGREE(s->text, sizes.bytes, oracle_bytes(&s->array));
  AGREE(s->text, sizes.allocated_bytes, oracle_allocated_bytes(&s->array, NULL, 0));
  AGREE(s->text, sizes.unpadded_bytes, s->count * s->array.type_bytes);
  AGREE(s->text, of_layout.elements, sizes.elements);
  AGREE(s->text, of_layout.bytes, sizes.bytes);
  AGREE(s->text, of_layout.logical_bytes, sizes.logical_bytes);
}

static void compare_bounds(const sample *s) {
  for (int level = 0; level <= s->array.n_tiles; level++) {
    int64_t bounds[TESELA_MAX_DIGITS], want[ORACLE_MAX_BOUNDS];
    int32_t n;
    OK(tesela_xla_bounds(&s->shape, level, bounds, &n, &e_));
    AGREE(s->text, n, oracle_bounds(&s->array, level, want));
    for (int32_t i = 0; i < n; i++) AGREE(s->text, bounds[i], want[i]);
  }
}

static void compare_places(const sample *s, const tesela_layout *layout) {
  int64_t index[ORACLE_MAX_RANK], back[TESELA_MAX_RANK];
  for (int64_t number = 0; number < s->count; number++) {
    int64_t place;
    assert_int_equal(oracle_index(&s->array, number, index), 0);
    OK(tesela_layout_place_of(layout, index, &place, &e_));
    AGREE(s->text, place, oracle_place(&s->array, index));
  }
  for (int64_t place = 0; place < s->length; place++) {
    int64_t number = 0;
    bool padding;
    OK(tesela_layout_element_at(layout, &place, back, &padding, &e_));
    for (int d = 0; d < s->array.rank && !padding; d++) number = number * s->array.dim[d] + back[d];
    AGREE(s->text, padding ? -1 : number, s->image[place]);
  }
}

static void compare_program(const sample *s) {
  static tesela_program program;
  int64_t src[MOST], dst[MOST], element;
  const int64_t fill = -1;
  OK(tesela_xla_program(&s->shape, &program, &e_));
  AGREE(s->text, tesela_program_elements(&program), s->length);
  for (int64_t place = 0; place < s->length; place++) {
    OK(tesela_program_source(&program, place, &element, &e_));
    AGREE(s->text, element, s->image[place]);
  }
  for (int64_t i = 0; i < s->count; i++) src[i] = i;
  OK(tesela_program_run(&program, dst, src, sizeof src[0], &fill, &e_));
  for (int64_t place = 0; place < s->length; place++) AGREE(s->text, dst[place], s->image[place]);
}

static void test_random(void **state) {
  (void)state;
  static sample s;
  for (uint64_t k = 0; k < SEEDS; k++) {
    tesela_layout layout;
    draw(&s, first_seed() + k);
    OK(tesela_xla_to_layout(&s.shape, &layout, &e_));
    compare_sizes(&s, &layout);
    compare_bounds(&s);
    compare_places(&s, &layout);
    compare_program(&s);
  }
}

/* The comparison notices a wrong element order. */
static void test_planted_fault(void **state) {
  (void)state;
  static sample s;
  int found = 0;
  for (uint64_t seed = 1; seed < 200; seed++) {
    tesela_layout layout;
    draw(&s, seed);
    if (s.array.rank != 2 || s.array.dim[0] < 2 || s.array.dim[1] < 2) continue;
    int32_t first = s.shape.layout.minor_to_major[0];
    s.shape.layout.minor_to_major[0] = s.shape.layout.minor_to_major[1];
    s.shape.layout.minor_to_major[1] = first;
    if (tesela_xla_to_layout(&s.shape, &layout, NULL) != TESELA_OK) continue;
    int64_t index[2] = {1, 0}, place, other[2] = {0, 1}, place_of_other;
    OK(tesela_layout_place_of(&layout, index, &place, &e_));
    OK(tesela_layout_place_of(&layout, other, &place_of_other, &e_));
    found += place != oracle_place(&s.array, index) || place_of_other != oracle_place(&s.array, other);
  }
  assert_true(found > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places),        cmocka_unit_test(test_bounds),
      cmocka_unit_test(test_refused),       cmocka_unit_test(test_limit),
      cmocka_unit_test(test_program_text),  cmocka_unit_test(test_random),
      cmocka_unit_test(test_planted_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
