/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report_answers.c - what a finished report answers: top lists, filters, reasons, advice, what changed.
 */
#include "support_fault.h"
#include "support_report.h"
#include "support_seed.h"

/* ---- top lists ----------------------------------------------------------------------------------------- */

static int64_t waste_of(const tesela_report_array *a) { return (a->stored_bytes - a->data_bytes) * a->count; }
static int64_t size_of(const tesela_report_array *a) { return a->stored_bytes * a->count; }
static double expansion_of(const tesela_report_array *a) {
  if (a->stored_bytes == a->data_bytes) return 1;
  return (double)a->stored_bytes / (double)a->data_bytes;
}

static bool in_order(tesela_report_order order, const tesela_report_array *a, const tesela_report_array *b) {
  if (order == TESELA_REPORT_BY_WASTE) return waste_of(a) >= waste_of(b);
  if (order == TESELA_REPORT_BY_SIZE) return size_of(a) >= size_of(b);
  return expansion_of(a) >= expansion_of(b);
}

/* Every capacity gives the start of the whole list, and the whole list is in order. */
static void test_top(void **state) {
  (void)state;
  char text[200 * 64] = "";
  uint64_t seed = first_seed();
  for (int i = 0; i < 200; i++) {
    seed = seed * UINT64_C(6364136223846793005) + 1;
    snprintf(text + strlen(text), 64, "%%a.%d = f32[%d,%d]{1,0:T(8,128)} add(%%x)\n", i, (int)(seed >> 60),
             (int)(seed >> 40 & 1023));
  }
  tesela_report *report = report_text(text);
  for (int order = 0; order < 3; order++) {
    const tesela_report_array *all[200], *some[200];
    int64_t n, m;
    tesela_report_top(report, NULL, (tesela_report_order)order, 200, all, &n);
    AGREE("all", n, tesela_report_total(report, NULL).rows);
    for (int64_t i = 1; i < n; i++) assert_true(in_order((tesela_report_order)order, all[i - 1], all[i]));
    for (int64_t capacity = 0; capacity <= n; capacity += 1 + capacity / 3) {
      tesela_report_top(report, NULL, (tesela_report_order)order, capacity, some, &m);
      AGREE("some", m, capacity);
      for (int64_t i = 0; i < m; i++) assert_ptr_equal(some[i], all[i]);
    }
  }
  tesela_report_destroy(report);
}

static void test_filters(void **state) {
  (void)state;
  tesela_report *report =
      report_text("%a = s8[10]{0} copy(%x)\n%b = s8[100]{0:S(5)} add(%x)\n"
                  "Largest program allocations in hbm:\n  1. Size: 1.0K\n  Shape: s8[1024]{0}\n");
  static const struct {
    int32_t source, role, space;
    int64_t stored;
  } rows[] = {
      {TESELA_REPORT_ANY, TESELA_REPORT_ANY, TESELA_REPORT_ANY, 1134},
      {TESELA_REPORT_HLO, TESELA_REPORT_ANY, TESELA_REPORT_ANY, 110},
      {TESELA_REPORT_MEMORY, TESELA_REPORT_ANY, TESELA_REPORT_ANY, 1024},
      {TESELA_REPORT_ANY, TESELA_REPORT_COPY, TESELA_REPORT_ANY, 10},
      {TESELA_REPORT_ANY, TESELA_REPORT_CONSTANT, TESELA_REPORT_ANY, 0},
      {TESELA_REPORT_ANY, TESELA_REPORT_ANY, 5, 100},
      {TESELA_REPORT_HLO, TESELA_REPORT_ANY, 0, 10},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_report_filter filter = {rows[r].source, rows[r].role, rows[r].space};
    AGREE("stored", tesela_report_total(report, &filter).stored_bytes, rows[r].stored);
  }
  AGREE("all", tesela_report_total(report, NULL).stored_bytes, 1134);
  tesela_report_destroy(report);
}

/* ---- reasons ------------------------------------------------------------------------------------------- */

static const struct {
  const char *shape, *reasons;
} reason_rows[] = {
    {"s32[29360128,10]{1,0:T(8,128)}", "dim 1 (10) is minor and fills 10 of 128 lanes: x12.8\n"},
    {"f32[8,128]{1,0:T(8,128)}", ""},
    {"f32[3,5]{1,0}", ""},
    {"f32[0,5]{1,0:T(8,128)}", "dim 1 (5) is minor and fills 5 of 128 lanes: x25.6\n"},
    {"f32[3,200]{1,0:T(8,128)}", "dim 0 (3) is second-minor and fills 3 of 8 rows: x2.67\n"
                                 "dim 1 (200) is minor and fills 200 of 256 lanes: x1.28\n"},
    {"f32[200,3]{0,1:T(4,128)}", "dim 1 (3) is second-minor and fills 3 of 4 rows: x1.33\n"
                                 "dim 0 (200) is minor and fills 200 of 256 lanes: x1.28\n"},
    {"f32[8388608,8,4]{2,1,0:T(8,128)}", "dim 2 (4) is minor and fills 4 of 128 lanes: x32.0\n"},
    {"f32[]{:T(128)}", "the array has no minor dim: 1 of 128 places is filled: x128\n"},
    {"f32[3]{0:T(8,128)}", "dim 0 (3) is minor and fills 3 of 128 lanes: x42.7\n"
                           "the array has no second-minor dim: 1 of 8 rows is filled: x8.00\n"},
    {"f32[1000]{0:T(1024)}", "dim 0 (1000) fills 1000 of 1024 places in tiles of 1024: x1.02\n"},
    {"pred[64,512,2048]{2,1,0:T(8,128)E(32)}", "every pred takes 32 bits instead of 8: x4.00\n"},
    {"f32[201,8]{1,0:T(8)L(1024)}", "L(1024) rounds 1608 elements up to 2048: x1.27\n"},
    {"bf16[]{:T(512)(2,1)}",
     "the array has no minor dim: 1 of 512 places is filled: x512\n"
     "tile 2 of the layout rounds 1 up to 2 (XLA's allocator does not count this): x2.00\n"},
    {"f32[2,7,3]{2,1,0:T(2,*,16)}", "dims 1*2 (7*3) are minor and fill 21 of 32 lanes: x1.52\n"},
};

static void test_reasons(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof reason_rows / sizeof reason_rows[0]; r++) {
    char text[1024];
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    tesela_xla_shape shape = shape_of(reason_rows[r].shape);
    OK(tesela_report_reasons(&shape, &to, &e_));
    if (strcmp(text, reason_rows[r].reasons) != 0)
      fail_msg("%s: %s, not %s", reason_rows[r].shape, text, reason_rows[r].reasons);
  }
}

static int refuse(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
  return 1;
}

static void test_reasons_stop(void **state) {
  (void)state;
  tesela_writer to = {refuse, NULL};
  tesela_xla_shape shape = shape_of("f32[3,200]{1,0:T(8,128)}"), token = shape_of("token[]");
  assert_int_equal(tesela_report_reasons(&shape, &to, NULL), TESELA_E_STOPPED);
  assert_int_equal(tesela_report_reasons(&token, &to, NULL), TESELA_E_UNSUPPORTED);
}

/* ---- advice -------------------------------------------------------------------------------------------- */

/* What must be among the advice: its kind, its text, its bytes. By hand: rows and lanes rounded up. */
static const struct {
  const char *shape;
  tesela_report_advice_kind kind;
  const char *instead;
  int64_t bytes;
  const char *words;
} advice_rows[] = {
    {"s32[29360128,10]{1,0:T(8,128)}", TESELA_REPORT_ADVICE_ORDER, "s32[29360128,10]{0,1:T(8,128)}",
     1879048192, "dim 0 minor, dim 1 next"},
    {"s32[29360128,10]{1,0:T(8,128)}", TESELA_REPORT_ADVICE_MERGE, "s32[293601280]{0:T(1024)}", 1174405120,
     "merge dims 0,1: 29360128*10 = 293601280"},
    {"s32[8388608,8,4]{2,1,0:T(8,128)}", TESELA_REPORT_ADVICE_ORDER, "s32[8388608,8,4]{0,1,2:T(8,128)}",
     1073741824, "dim 0 minor, dim 1 next"},
    {"f32[64,3,200]{2,1,0:T(8,128)}", TESELA_REPORT_ADVICE_ORDER, "f32[64,3,200]{2,0,1:T(8,128)}", 196608,
     "dim 2 minor, dim 0 next"},
    {"f32[4,200]{1,0:T(8,128)}", TESELA_REPORT_ADVICE_FORMAT, "f32[4,200]{1,0:T(4,128)}", 4096,
     "same order, other tiles"},
    {"f32[100,30,4]{2,1,0:T(8,128)}", TESELA_REPORT_ADVICE_MERGE, "f32[100,120]{1,0:T(8,128)}", 53248,
     "merge dims 1,2: 30*4 = 120"}, /* all three would take 49152, not a tenth less */
    {"pred[40,200]{1,0:T(8,128)E(32)}", TESELA_REPORT_ADVICE_FORMAT, "pred[40,200]{1,0:T(8,128)(4,1)}", 10240,
     "same order, other tiles"},
};

static void test_advice(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof advice_rows / sizeof advice_rows[0]; r++) {
    tesela_report_advice advice[TESELA_REPORT_MAX_ADVICE];
    tesela_xla_shape shape = shape_of(advice_rows[r].shape);
    int32_t n, found = -1;
    char text[TEXT] = "";
    OK(tesela_report_advise(&shape, advice, &n, &e_));
    for (int32_t i = 0; i < n; i++)
      if (advice[i].kind == advice_rows[r].kind) found = i;
    if (found < 0) fail_msg("%s: no advice of that kind", advice_rows[r].shape);
    check_text(advice_rows[r].shape, &advice[found].shape, advice_rows[r].instead);
    AGREE(advice_rows[r].instead, advice[found].bytes, advice_rows[r].bytes);
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    OK(tesela_report_advice_words(&shape, &advice[found], &to, &e_));
    assert_string_equal(text, advice_rows[r].words);
  }
}

static void test_no_advice(void **state) {
  (void)state;
  static const char *const rows[] = {"f32[8,128]{1,0:T(8,128)}", "f32[3,5]{1,0}",   "f32[]{:T(128)}",
                                     "f32[5]{0:T(128)}",         "f32[0,3]{1,0}",   "f32[1023]{0:T(1024)}",
                                     "f32[8,3]{1,0:SC(0:4)}",    "f64[1024,8]{1,0}"};
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_report_advice advice[TESELA_REPORT_MAX_ADVICE];
    tesela_xla_shape shape = shape_of(rows[r]);
    int32_t n = -1;
    OK(tesela_report_advise(&shape, advice, &n, &e_));
    AGREE(rows[r], n, 0);
  }
}

/* Random shapes: what is advised is really so large and so much smaller, has the same elements, and
 * sorted. */
static void test_advice_holds(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  for (int i = 0; i < 2000; i++) {
    static const char *const types[] = {"f32", "bf16", "s8", "pred"};
    static const char *const tiles[] = {"T(8,128)", "T(8,128)(2,1)", "T(8,128)(4,1)", "T(8,128)E(32)"};
    char text[TEXT];
    int64_t d[3];
    for (int k = 0; k < 3; k++) {
      seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      d[k] = (int64_t)(seed >> 40) % (seed >> 63 ? 300 : 20) + 1;
    }
    size_t type = seed >> 33 & 3;
    snprintf(text, sizeof text, "%s[%" PRId64 ",%" PRId64 ",%" PRId64 "]{%s:%s}", types[type], d[0], d[1],
             d[2], seed >> 36 & 1 ? "2,1,0" : "0,2,1", tiles[type]);
    tesela_xla_shape shape = shape_of(text);
    tesela_xla_sizes sizes, other;
    tesela_report_advice advice[TESELA_REPORT_MAX_ADVICE];
    int32_t n;
    OK(tesela_xla_size(&shape, &sizes, &e_));
    OK(tesela_report_advise(&shape, advice, &n, &e_));
    for (int32_t k = 0; k < n; k++) {
      OK(tesela_xla_validate(&advice[k].shape, &e_));
      OK(tesela_xla_size(&advice[k].shape, &other, &e_));
      AGREE(text, other.logical_elements, sizes.logical_elements);
      AGREE(text, advice[k].bytes, other.allocated_bytes);
      AGREE(text, advice[k].saved, sizes.allocated_bytes - other.allocated_bytes);
      assert_true(advice[k].saved * 100 >= sizes.allocated_bytes - 100);
      assert_true(k == 0 || advice[k].saved < advice[k - 1].saved);
    }
  }
}

/* ---- what changed -------------------------------------------------------------------------------------- */

static const struct {
  const char *name, *before, *after;
  const char *changes; /* kind count bytes, one a line */
} diff_rows[] = {
    {"nothing", "%a = f32[4]{0} add(%x)\n", "%b = f32[4]{0} add(%y)\n", ""},
    {"another order", "%a = f32[8,3]{1,0:T(8,128)} add(%x)\n", "%a = f32[8,3]{0,1:T(4,128)} add(%x)\n",
     "layout 1 -2048\n"}, /* 8 * 128 * 4 and 4 * 128 * 4 */
    {"another memory space", "%a = f32[4]{0} add(%x)\n", "%a = f32[4]{0:S(1)} add(%x)\n", "layout 1 0\n"},
    {"one more", "%a = f32[4]{0} add(%x)\n", "%a = f32[4]{0} add(%x)\n%b = f32[4]{0} add(%x)\n",
     "count 1 16\n"},
    {"fewer", "%a = f32[4]{0} add(%x)\n%b = f32[4]{0} add(%x)\n%c = f32[4]{0} add(%x)\n",
     "%a = f32[4]{0} add(%x)\n", "count 2 -32\n"},
    {"gone and new", "%a = f32[4]{0} add(%x)\n", "%a = f32[5]{0} add(%x)\n", "new 1 20\ngone 1 -16\n"},
    {"an operation with other dims", "%a = f32[4]{0} add(%x), metadata={op_name=\"net/add\"}\n",
     "%b = f32[5]{0} add(%x), metadata={op_name=\"net/add\"}\n", "size 1 4\n"},
    {"an argument with other dims", "ENTRY %m {\n%p = f32[4]{0} parameter(0)\n}\n",
     "ENTRY %m {\n%p = f32[5]{0} parameter(0)\n}\n", "size 1 4\n"},
    {"roles do not mix", "%a = f32[4]{0} copy(%x)\n", "%a = f32[4]{0} add(%x)\n", "gone 1 -16\nnew 1 16\n"},
    {"two layouts change places by operation",
     "%a = f32[8,3]{1,0} add(%x), metadata={op_name=\"p\"}\n%b = f32[8,3]{0,1} add(%x), "
     "metadata={op_name=\"q\"}\n",
     "%a = f32[8,3]{1,0:S(1)} add(%x), metadata={op_name=\"q\"}\n"
     "%b = f32[8,3]{0,1:S(1)} add(%x), metadata={op_name=\"p\"}\n",
     "layout 1 0\nlayout 1 0\n"},
    {"some keep their layout", "%a = f32[8,3]{1,0} add(%x)\n%b = f32[8,3]{1,0} add(%x)\n",
     "%a = f32[8,3]{1,0} add(%x)\n%b = f32[8,3]{0,1} add(%x)\n", "layout 1 0\n"},
    {"entries of memory reports by name",
     "  1. Size: 16B\n  Shape: f32[4]{0}\n  XLA label: %a = f32[4]{0} add()\n",
     "  1. Size: 20B\n  Shape: f32[5]{0}\n  XLA label: %a = f32[5]{0} add()\n", "size 1 4\n"},
    {"entries without a shape",
     "  1. Size: 16B\n  XLA label: %a = copy()\n  2. Size: 20B\n  XLA label: %b = copy()\n",
     "  1. Size: 16B\n  XLA label: %a = copy()\n  2. Size: 24B\n  XLA label: %b = copy()\n", "size 1 4\n"},
    {"the largest change first",
     "%a = f32[4]{0} add(%x)\n%b = f32[40]{0} add(%x)\n%c = f32[400]{0} copy(%x)\n",
     "%d = s8[1]{0} add(%x)\n", "gone 1 -1600\ngone 1 -160\ngone 1 -16\nnew 1 1\n"},
};

static void test_diff(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof diff_rows / sizeof diff_rows[0]; r++) {
    tesela_report *before = report_text(diff_rows[r].before), *after = report_text(diff_rows[r].after);
    tesela_report_diff *diff = NULL;
    char text[1024] = "";
    OK(tesela_report_diff_create(&diff, before, after, NULL, NULL, &e_));
    for (int64_t i = 0; i < tesela_report_diff_count(diff); i++) {
      const tesela_report_change *change = tesela_report_diff_at(diff, i);
      snprintf(text + strlen(text), sizeof text - strlen(text), "%s %" PRId64 " %" PRId64 "\n",
               tesela_report_change_name(change->kind), change->count, change->bytes);
      AGREE(diff_rows[r].name, change->before == NULL, change->kind == TESELA_REPORT_NEW);
      AGREE(diff_rows[r].name, change->after == NULL, change->kind == TESELA_REPORT_GONE);
    }
    if (strcmp(text, diff_rows[r].changes) != 0)
      fail_msg("%s:\n%snot\n%s", diff_rows[r].name, text, diff_rows[r].changes);
    tesela_report_diff_destroy(diff);
    tesela_report_destroy(before);
    tesela_report_destroy(after);
  }
  tesela_report_diff_destroy(NULL);
  assert_null(tesela_report_change_name((tesela_report_change_kind)99));
}

/* Pairs by operation even where the order in the text is the other way round. */
static void test_diff_pairs(void **state) {
  (void)state;
  tesela_report *before = report_text(diff_rows[9].before), *after = report_text(diff_rows[9].after);
  tesela_report_diff *diff = NULL;
  OK(tesela_report_diff_create(&diff, before, after, NULL, NULL, &e_));
  for (int64_t i = 0; i < 2; i++) {
    const tesela_report_change *change = tesela_report_diff_at(diff, i);
    assert_string_equal(change->before->op_name, change->after->op_name);
  }
  assert_null(tesela_report_diff_at(diff, 2));
  tesela_report_diff_destroy(diff);
  tesela_report_destroy(before);
  tesela_report_destroy(after);
}

static void test_diff_without_memory(void **state) {
  (void)state;
  tesela_report *before = report_text(mixed_text), *after = report_text("%a = f32[8,3]{1,0} add(%x)\n");
  for (long n = 0;; n++) {
    fault f = {.countdown = n};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_report_diff *diff = NULL;
    tesela_status status = tesela_report_diff_create(&diff, before, after, NULL, &allocator, NULL);
    if (status != TESELA_OK) AGREE("status", status, TESELA_E_MEMORY);
    AGREE("nothing returned", diff != NULL, status == TESELA_OK);
    tesela_report_diff_destroy(diff);
    AGREE("no leak", f.live, 0);
    if (status == TESELA_OK) break;
    assert_true(n < 100);
  }
  tesela_report_destroy(before);
  tesela_report_destroy(after);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_top),          cmocka_unit_test(test_filters),
      cmocka_unit_test(test_reasons),      cmocka_unit_test(test_reasons_stop),
      cmocka_unit_test(test_advice),       cmocka_unit_test(test_no_advice),
      cmocka_unit_test(test_advice_holds), cmocka_unit_test(test_diff),
      cmocka_unit_test(test_diff_pairs),   cmocka_unit_test(test_diff_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
