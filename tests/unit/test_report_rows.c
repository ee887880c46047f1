/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report_rows.c - rows of memory tables that several shapes can explain: candidates, padding between two
 * numbers, and text beside the report that decides.
 *
 * Expected bytes are by hand from the definition of tiles. tests/cli/test_report_rows.py compares random rows with an
 * oracle.
 */
#include "support_fault.h"
#include "support_report.h"

#define TABLE                         \
  "Memory Space: default (color=0)\n" \
  "  cumulative_size; size; offset; used_by_n_values; shapes_list\n"
/* 384 MiB with 3 of 128 lanes filled; 16 GiB of data */
#define TWO                                                                 \
  TABLE "  16.00GiB(100%); 16.00GiB; 0; 3; bf16[3,32,4096,8,64], 2\xc3\x97" \
        "f32[32,8,4096,4096]\n"
#define WIDE " value: <1 a @0> (size=17179869184,offset=0): f32[32,8,4096,4096]{3,2,1,0:T(8,128)}\n"
#define NARROW " value: <2 b @0> (size=805306368,offset=0): bf16[3,32,4096,8,64]{4,3,2,1,0:T(8,128)(2,1)}\n"

static const struct {
  const char *name, *text;
  int32_t candidates;
  bool decided;
  int64_t least, most; /* padding */
} two_rows[] = {
    {"two shapes", TWO, 2, false, 0, INT64_C(16777216000)},
    {"decided by an assignment after the report", TWO WIDE NARROW, 0, true, 0, 0},
    {"and before it", WIDE NARROW TWO, 0, true, 0, 0},
    {"an assignment of another program", TWO WIDE, 2, false, 0, INT64_C(16777216000)},
    {"one shape",
     TABLE "  1(1%); 4.0KiB; 0; 2; 2\xc3\x97"
           "f32[8,3]\n",
     0, false, 4000, 4000},
    {"two shapes with the same padding", TABLE "  1(1%); 4.0KiB; 0; 2; f32[8,3], s32[8,3]\n", 2, false, 4000,
     4000},
    {"the same shape twice", TABLE "  1(1%); 4.0KiB; 0; 2; f32[8,3], f32[8,3]\n", 0, false, 4000, 4000},
};

static void test_two_shapes(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof two_rows / sizeof two_rows[0]; r++) {
    const char *text = two_rows[r].text;
    tesela_report *report = report_text(text), *bytewise = report_of(text, strlen(text), 1, NULL);
    const tesela_report_array *row = first_row(report);
    const tesela_report_section *section = tesela_report_section_at(report, 0);
    tesela_report_totals totals = tesela_report_total(report, NULL);
    AGREE(two_rows[r].name, row->n_candidates, two_rows[r].candidates);
    AGREE(two_rows[r].name, row->decided, two_rows[r].decided);
    AGREE(two_rows[r].name, row->least_padding_bytes, two_rows[r].least);
    AGREE(two_rows[r].name, row->most_padding_bytes, two_rows[r].most);
    AGREE(two_rows[r].name, totals.padding_bytes, two_rows[r].least);
    AGREE(two_rows[r].name, totals.most_padding_bytes, two_rows[r].most);
    AGREE(two_rows[r].name, section->least_padding_bytes, two_rows[r].least);
    AGREE(two_rows[r].name, section->most_padding_bytes, two_rows[r].most);
    AGREE(two_rows[r].name, note_of(report, TESELA_REPORT_ONE_OF) != NULL, two_rows[r].candidates > 0);
    AGREE(two_rows[r].name, row->data_known, two_rows[r].least == two_rows[r].most);
    char *a = report_dump(report), *b = report_dump(bytewise);
    assert_string_equal(a, b);
    free(a);
    free(b);
    tesela_report_destroy(report);
    tesela_report_destroy(bytewise);
  }
}

static void test_candidates_within_limits(void **state) {
  (void)state;
  static const char text[] =
      TWO "  1(1%); 16.00GiB; 7; 2; f32[32,8,4096,4096], f32[256,4096,4096]\n" WIDE NARROW
          " value: <3 c @0> (size=805306368,offset=0): bf16[3,32,4096,8,64]{4,3,2,1,0:T(8,128)(2,1)}\n";
  tesela_report_options options = {.entries = 2};
  tesela_report *report = report_of(text, strlen(text), 0, &options);
  const tesela_report_array *top[2];
  int64_t n;
  tesela_report_top(report, NULL, TESELA_REPORT_BY_WASTE, 2, top, &n);
  AGREE("rows", n, 2);
  for (int i = 0; i < 2; i++) {
    AGREE("more values than are kept decide nothing", top[i]->decided, false);
    AGREE("no shape is named", top[i]->shape[0], 0);
  }
  AGREE("candidates beyond the limit are not listed", top[0]->n_candidates + top[1]->n_candidates, 2);
  AGREE("and that is said", note_of(report, TESELA_REPORT_TOO_MANY)->count, 1);
  AGREE("padding all the same", tesela_report_total(report, NULL).most_padding_bytes, INT64_C(16777216000));
  tesela_report_destroy(report);
}

static void test_rows_without_memory(void **state) {
  (void)state;
  static const char text[] =
      TWO WIDE NARROW "%a = f32[8,3]{1,0:T(8,128)} add(%x)\n" TABLE
                      "  1(1%); 16.00GiB; 7; 2; f32[32,8,4096,4096], f32[256,4096,4096]\n";
  for (long n = 0;; n++) {
    fault f = {.countdown = n};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_report *report = NULL;
    tesela_status status = tesela_report_create(&report, NULL, &allocator, NULL);
    if (status == TESELA_OK) status = tesela_report_feed(report, text, strlen(text), NULL);
    if (status == TESELA_OK) status = tesela_report_finish(report, NULL);
    if (status != TESELA_OK) AGREE("status", status, TESELA_E_MEMORY);
    if (status == TESELA_OK) AGREE("rows", tesela_report_total(report, NULL).rows, 3);
    tesela_report_destroy(report);
    AGREE("no leak", f.live, 0);
    if (status == TESELA_OK) break;
    assert_true(n < 1000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_shapes),
      cmocka_unit_test(test_candidates_within_limits),
      cmocka_unit_test(test_rows_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
