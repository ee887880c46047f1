/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_choose.c - the tiles a TPU compiler chooses, and the document's named formats.
 *
 * Expected values are choices of real compilers: rows from HLO dumps that others published in 2026, and all
 * of tests/data/tpu_tiles.tsv and tests/data/tpu_orders.tsv.
 */
#include "support_xla.h"

enum {
  ALTERNATIVE = TESELA_XLA_CHOOSE_ALTERNATIVE_16BIT,
  LARGE = TESELA_XLA_CHOOSE_LARGE_TILE,
  EARLY = TESELA_XLA_CHOOSE_EARLY_TPU,
  ARGUMENT = TESELA_XLA_CHOOSE_ARGUMENT,
  ORDER = TESELA_XLA_CHOOSE_ORDER,
};

static const struct {
  const char *name, *shape;
  uint32_t options;
  const char *chosen; /* NULL: no rule is known */
} choose_rows[] = {
    {"a scalar fills 512 bytes", "f32[]", 0, "f32[]{:T(128)}"},
    {"a scalar of 2 bytes too", "bf16[]", 0, "bf16[]{:T(256)}"},
    {"a scalar of 1 byte too", "pred[]", 0, "pred[]{:T(512)}"},
    {"a short vector", "f32[3]{0}", 0, "f32[3]{0:T(128)}"},
    {"128 fit in one", "f32[128]{0}", 0, "f32[128]{0:T(128)}"},
    {"129 do not", "f32[129]{0}", 0, "f32[129]{0:T(256)}"},
    {"512", "s32[512]{0}", 0, "s32[512]{0:T(512)}"},
    {"513", "s32[513]{0}", 0, "s32[513]{0:T(1024)}"},
    {"a long vector", "f32[100000]{0}", 0, "f32[100000]{0:T(1024)}"},
    {"a short vector of 2 bytes", "bf16[100]{0}", 0, "bf16[100]{0:T(256)(128)(2,1)}"},
    {"512 of 2 bytes", "bf16[512]{0}", 0, "bf16[512]{0:T(512)(128)(2,1)}"},
    {"a long vector of 2 bytes", "bf16[4096]{0}", 0, "bf16[4096]{0:T(1024)(128)(2,1)}"},
    {"a vector of 1 byte", "s8[10000]{0}", 0, "s8[10000]{0:T(1024)(128)(4,1)}"},
    {"one row", "f32[1,200]{1,0}", 0, "f32[1,200]{1,0:T(1,128)}"},
    {"two rows", "f32[2,200]{1,0}", 0, "f32[2,200]{1,0:T(2,128)}"},
    {"three rows", "f32[3,200]{1,0}", 0, "f32[3,200]{1,0:T(4,128)}"},
    {"four rows", "f32[4,200]{1,0}", 0, "f32[4,200]{1,0:T(4,128)}"},
    {"five rows", "f32[5,200]{1,0}", 0, "f32[5,200]{1,0:T(8,128)}"},
    {"the order says which dim has the rows", "f32[14,40,100]{0,2,1}", 0, "f32[14,40,100]{0,2,1:T(8,128)}"},
    {"a one at the second place of the order", "f32[8,4,1]{1,2,0}", 0, "f32[8,4,1]{1,2,0:T(1,128)}"},
    {"one row of 2 bytes", "bf16[1,200]{1,0}", 0, "bf16[1,200]{1,0:T(2,128)(2,1)}"},
    {"three rows of 2 bytes", "bf16[3,200]{1,0}", 0, "bf16[3,200]{1,0:T(4,128)(2,1)}"},
    {"rows of 2 bytes", "bf16[20,200]{1,0}", 0, "bf16[20,200]{1,0:T(8,128)(2,1)}"},
    {"one row of 1 byte", "pred[1,16384]{1,0}", 0, "pred[1,16384]{1,0:T(4,128)(4,1)}"},
    {"rows of 1 byte", "s8[9216,6144]{1,0}", 0, "s8[9216,6144]{1,0:T(8,128)(4,1)}"},
    {"pred of 4 bytes", "pred[8,8,8]{0,2,1:E(32)}", 0, "pred[8,8,8]{0,2,1:T(8,128)E(32)}"},
    {"nibbles are packed", "s4[64,256]{1,0}", 0, "s4[64,256]{1,0:T(8,128)(8,1)E(4)}"},
    {"the alternative", "bf16[32,256]{1,0}", ALTERNATIVE, "bf16[32,256]{1,0:T(8,128)(2,1,1,1)}"},
    {"the alternative is for 16 bits", "f32[32,256]{1,0}", ALTERNATIVE, "f32[32,256]{1,0:T(8,128)}"},
    {"and for matrices", "bf16[512]{0}", ALTERNATIVE, "bf16[512]{0:T(512)(128)(2,1)}"},
    {"large tiles of 2 bytes", "bf16[2048,1,7168]{2,0,1}", LARGE, "bf16[2048,1,7168]{2,0,1:T(16,128)(2,1)}"},
    {"large tiles of 1 byte", "s8[32,256]{1,0}", LARGE, "s8[32,256]{1,0:T(32,128)(4,1)}"},
    {"large tiles of nibbles", "s4[64,256]{1,0}", LARGE, "s4[64,256]{1,0:T(64,128)(8,1)E(4)}"},
    {"no large tile for few rows", "bf16[8,256]{1,0}", LARGE, "bf16[8,256]{1,0:T(8,128)(2,1)}"},
    {"4 bytes have one size", "f32[32,256]{1,0}", LARGE, "f32[32,256]{1,0:T(8,128)}"},
    {"old tiles go, the rest stays", "f32[20,200]{0,1:T(2,2)(2,1)S(1)}", 0, "f32[20,200]{0,1:T(8,128)S(1)}"},
    {"8 bytes take the tiles of 4", "f64[3,5]{1,0}", 0, "f64[3,5]{1,0:T(4,128)}"},
    {"16 bytes too", "c128[9,5]{1,0}", 0, "c128[9,5]{1,0:T(8,128)}"},
    {"a vector of nibbles", "s4[64]{0}", 0, "s4[64]{0:T(1024)(128)(8,1)E(4)}"},
    {"2 bits", "s2[64,256]{1,0}", 0, "s2[64,256]{1,0:T(16,128)(16,1)E(2)}"},
    {"an argument of 1 byte", "s8[64,256]{1,0}", ARGUMENT, "s8[64,256]{1,0:T(32,128)(4,1)}"},
    {"32 rows do not divide", "s8[40,256]{1,0}", ARGUMENT, "s8[40,256]{1,0:T(8,128)(4,1)}"},
    {"an argument of 2 bytes", "bf16[64,256]{1,0}", ARGUMENT, "bf16[64,256]{1,0:T(8,128)(2,1)}"},
    {"a scalar on early TPUs", "f32[]", EARLY, "f32[]{:T(256)}"},
    {"one row on early TPUs", "f32[1,200]{1,0}", EARLY, "f32[1,200]{1,0:T(2,128)}"},
    {"early TPUs do not pack", "s4[64,256]{1,0}", EARLY, "s4[64,256]{1,0:T(8,128)(4,1)}"},
    {"no elements, no tiles", "s4[0,256]{1,0}", 0, "s4[0,256]{1,0:E(4)}"},
    {"the order that pads least", "f32[300,12]", ORDER, "f32[300,12]{0,1:T(8,128)}"},
    {"whatever order was given", "f32[12,300]{0,1}", ORDER, "f32[12,300]{1,0:T(8,128)}"},
    {"of equals row-major", "f32[128,128]{0,1}", ORDER, "f32[128,128]{1,0:T(8,128)}"},
    {"of equals without it the higher dims", "f32[1,128,3,128]", ORDER, "f32[1,128,3,128]{3,1,2,0:T(8,128)}"},
    {"the middle dim is the most minor", "bf16[5,65,2]", ORDER, "bf16[5,65,2]{1,2,0:T(2,128)(2,1)}"},
    {"four dims", "s32[64,31,12,7]", ORDER, "s32[64,31,12,7]{0,1,3,2:T(8,128)}"},
    {"2 bits: rows of 8 count, then no padding", "s2[16,8,128]", ORDER,
     "s2[16,8,128]{2,0,1:T(16,128)(16,1)E(2)}"},
    {"a vector has one order", "f32[300]", ORDER, "f32[300]{0:T(512)}"},
    {"a scalar has one too", "f32[]", ORDER, "f32[]{:T(128)}"},
    {"no elements, row-major", "f32[0,128,8]{0,1,2}", ORDER, "f32[0,128,8]{2,1,0}"},
    {"large tiles are weighed as 8 rows", "bf16[24,128,16]", ORDER | LARGE,
     "bf16[24,128,16]{1,2,0:T(16,128)(2,1)}"},
    {"1 bit", "s1[64,256]{1,0}", 0, NULL},
    {"6 bits", "f6e3m2fn[64,256]{1,0}", 0, NULL},
    {"an odd width", "s8[64,256]{1,0:E(5)}", 0, NULL},
    {"an unbounded dim", "f32[?,5]{1,0}", 0, NULL},
    {"a token", "token[]", 0, NULL},
};

static void test_choose(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof choose_rows / sizeof choose_rows[0]; r++) {
    tesela_xla_shape shape = shape_of(choose_rows[r].shape);
    tesela_error err = {.message = ""};
    char before[TEXT];
    text_of(&shape, before);
    tesela_status status = tesela_xla_choose(&shape, choose_rows[r].options, &err);
    AGREE(choose_rows[r].name, status, choose_rows[r].chosen ? TESELA_OK : TESELA_E_UNSUPPORTED);
    AGREE(choose_rows[r].name, err.message[0] != '\0', choose_rows[r].chosen == NULL);
    check_text(choose_rows[r].name, &shape, choose_rows[r].chosen ? choose_rows[r].chosen : before);
    OK(tesela_xla_validate(&shape, &e_));
  }
}

/* One bit is one bit. */
static void test_words(void **state) {
  (void)state;
  static const struct {
    const char *shape, *words;
  } rows[] = {{"u1[64,256]{1,0}", " of 1 bit (u1)"}, {"s8[64,256]{1,0:E(5)}", " of 5 bits (s8)"}};
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_xla_shape shape = shape_of(rows[r].shape);
    tesela_error err = {.message = ""};
    assert_int_equal(tesela_xla_choose(&shape, 0, &err), TESELA_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, rows[r].words));
  }
}

/* A tile that would pad beyond 64 bits is refused, and the shape stays. */
static void test_overflow(void **state) {
  (void)state;
  tesela_xla_shape shape = shape_of("s8[9223372036854775807]{0}");
  assert_int_equal(tesela_xla_choose(&shape, 0, NULL), TESELA_E_OVERFLOW);
  check_text("unchanged", &shape, "s8[9223372036854775807]{0}");
}

/* ---- choices of a real compiler ---- */

static FILE *open_data(const char *name) {
  const char *source = getenv("TESELA_SOURCE");
  char path[1024];
  snprintf(path, sizeof path, "%s/tests/data/%s", source ? source : ".", name);
  FILE *file = fopen(path, "r");
  if (!file) fail_msg("%s: cannot be read", path);
  return file;
}

/* "f32[3,5]{0,1:T(4,128)}" is chosen for its array. With `order` no order is given. Returns the bytes. */
static int64_t check_observed(const char *text, bool early, bool order) {
  tesela_xla_shape shape = shape_of(text);
  tesela_xla_sizes sizes;
  OK(tesela_xla_size(&shape, &sizes, &e_));
  tesela_xla_clear_tiles(&shape.layout);
  shape.layout.element_bits = 0;
  for (int32_t d = 0; order && d < shape.rank; d++) shape.layout.minor_to_major[d] = d;
  OK(tesela_xla_choose(&shape, ARGUMENT | (early ? EARLY : 0) | (order ? ORDER : 0), &e_));
  check_text(early ? "v2, v3" : "v4 and later", &shape, text);
  return sizes.allocated_bytes;
}

static void test_observed(void **state) {
  (void)state;
  char line[TEXT], text[TEXT];
  int n_early = 0, n_late = 0;
  FILE *file = open_data("tpu_tiles.tsv");
  while (fgets(line, sizeof line, file)) {
    char *array = strtok(line, "\t\n"), *targets = strtok(NULL, "\t\n"), *layout = strtok(NULL, "\t\n");
    if (!array || array[0] == '#' || !layout) continue;
    bool early = strstr(targets, "v2"), late = strstr(targets, "v4");
    snprintf(text, sizeof text, "%s%s", array,
             strcmp(layout, "{}") == 0 ? "" : layout); /* a scalar prints no braces */
    for (int order = 0; order < 2; order++) {
      if (early) check_observed(text, true, order);
      if (late) check_observed(text, false, order);
    }
    n_early += early;
    n_late += late;
  }
  fclose(file);
  assert_true(n_early > 4000 && n_late > 4000);
}

/* Arguments that the rule was not found from, and what all arguments of a program take. */
static void test_held_out(void **state) {
  (void)state;
  char line[TEXT];
  int n_arguments = 0, n_programs = 0;
  int64_t left = 0;
  bool early = false;
  FILE *file = open_data("tpu_orders.tsv");
  while (fgets(line, sizeof line, file)) {
    char *word = strtok(line, "\t\n"), *total = strtok(NULL, "\t\n");
    if (!word || word[0] == '#') continue;
    if (total) {
      AGREE(word, left, 0);
      left = strtoll(total, NULL, 10);
      early = strcmp(word, "v2") == 0;
      n_programs++;
    } else {
      left -= check_observed(word, early, true);
      n_arguments++;
    }
  }
  fclose(file);
  AGREE("the last program", left, 0);
  assert_true(n_arguments >= 2000 && n_programs <= 40);
}

static void test_formats(void **state) {
  (void)state;
  static const char *const names[] = {"untiled", "8x128", "small tile", "16-bit", "alternative 16-bit",
                                      "8-bit",   "1-bit"};
  int32_t n;
  const tesela_xla_format *formats = tesela_xla_formats(&n);
  AGREE("formats", n, 7);
  for (int32_t i = 0; i < n; i++) {
    char text[TEXT];
    tesela_xla_shape shape = shape_of(formats[i].example);
    assert_string_equal(formats[i].name, names[i]);
    assert_non_null(strstr(formats[i].example, formats[i].tiles));
    assert_true(strlen(formats[i].use) > 20);
    text_of(&shape, text);
    assert_string_equal(text, formats[i].example);
    AGREE(formats[i].example, shape.layout.n_tiles > 0, formats[i].tiles[0] != '\0');
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_choose),   cmocka_unit_test(test_words),
                                     cmocka_unit_test(test_overflow), cmocka_unit_test(test_observed),
                                     cmocka_unit_test(test_held_out), cmocka_unit_test(test_formats)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
