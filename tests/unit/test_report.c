/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report.c - HLO text as a stream: what counts and what does not, cuts, limits, memory, damage.
 *
 * Figures are by hand: an array of f32 in tiles of 8x128 takes rows rounded up to 8 times columns rounded up
 * to 128 times 4 bytes. Memory reports: test_report_memory.c. Reasons, advice, diff: test_report_answers.c.
 */
#include "support_fault.h"
#include "support_report.h"
#include "support_seed.h"

/* ---- what counts --------------------------------------------------------------------------------------- */

#define F32_8x3 "f32[8,3]{1,0:T(8,128)}" /* 4096 bytes stored, 96 of data */

static const struct {
  const char *name, *text;
  int64_t arrays, stored, data;
} count_rows[] = {
    {"an instruction alone", "%a = " F32_8x3 " add(%x, %y)\n", 1, 4096, 96},
    {"without a percent sign", "  a.1 = " F32_8x3 " add(x, y)\n", 1, 4096, 96},
    {"the root", "  ROOT %a = " F32_8x3 " add(%x, %y)\n", 1, 4096, 96},
    {"without a newline at the end", "%a = " F32_8x3 " add(%x, %y)", 1, 4096, 96},
    {"with carriage returns", "%a = " F32_8x3 " add(%x)\r\n%b = " F32_8x3 " add(%x)\r\n", 2, 8192, 192},
    {"behind the prefix of a log", "I0000 hlo.cc:12]   %a = " F32_8x3 " add(%x)\n", 1, 4096, 96},
    {"behind a prefix with an equals sign", "x = 3 rank=0]   %a = " F32_8x3 " add(%x)\n", 1, 4096, 96},
    {"a tuple of results", "%a = (" F32_8x3 ", /*index=1*/" F32_8x3 ") fusion(%x), kind=kLoop\n", 2, 8192,
     192},
    {"a tuple in a tuple", "%a = ((" F32_8x3 "), " F32_8x3 ") custom-call(%x)\n", 2, 8192, 192},
    {"a buffer", "%a = b(f32[4]{0}) custom-call()\n", 1, 16, 16},
    {"tiles of operands do not count", "%a = f32[4]{0} reduce(" F32_8x3 " %x)\n", 1, 16, 16},
    {"T of replica groups is no tile", "%a = f32[4]{0} all-reduce(%x), replica_groups=[4,2]<=[2,4]T(1,0)\n",
     1, 16, 16},
    {"a bitcast is the same memory", "%a = " F32_8x3 " bitcast(%x)\n", 0, 0, 0},
    {"so is a tuple", "%a = (" F32_8x3 ") tuple(%x)\n", 0, 0, 0},
    {"and a member of one", "%a = " F32_8x3 " get-tuple-element(%x), index=0\n", 0, 0, 0},
    {"and a loop", "%a = (" F32_8x3 ") while(%x), condition=%c, body=%b\n", 0, 0, 0},
    {"tokens take none", "%a = token[] after-all()\n%b = token[] create-token()\n", 0, 0, 0},
    {"of a copy only the destination", "%a = (" F32_8x3 ", f32[8,3]{1,0}, u32[]{:S(2)}) copy-start(%x)\n", 1,
     4096, 96},
    {"not a second time when it is done", "%a = " F32_8x3 " copy-done(%x)\n", 0, 0, 0},
    {"of a permute only the result",
     "%a = (f32[4]{0}, " F32_8x3 ", u32[], u32[]) collective-permute-start(%x)\n", 1, 4096, 96},
    {"of an asynchronous operation too",
     "%a = ((f32[4]{0}, f32[]), " F32_8x3 ", u32[]) slice-start(%x, %y)\n", 1, 4096, 96},
    {"all-reduce-start has nothing else", "%a = (f32[4]{0}, f32[4]{0}) all-reduce-start(%x, %y)\n", 2, 32,
     32},
    {"received data", "%a = (" F32_8x3 ", u32[], token[]) recv(%t)\n", 1, 4096, 96},
    {"an infeed may have a tuple", "%a = ((" F32_8x3 ", f32[4]{0}), token[]) infeed(%t)\n", 2, 4112, 112},
    {"a result that is an operand", "%a = " F32_8x3 " fusion(%x), output_to_operand_aliasing={{}: (0, {})}\n",
     0, 0, 0},
    {"one of two results that is",
     "%a = (" F32_8x3 ", f32[4]{0}) custom-call(%x), output_to_operand_aliasing={{0}: (0, {})}\n", 1, 16, 16},
    {"both",
     "%a = (f32[4]{0}, f32[4]{0}) custom-call(%x), output_to_operand_aliasing={{0}: (0, {}), {1}: (1, {})}\n",
     0, 0, 0},
    {"four bits an element", "%a = s4[8,3]{1,0:T(8,128)(8,1)E(4)} convert(%x)\n", 1, 512, 12},
    {"host memory", "%a = f32[8,3]{1,0:T(8,128)S(5)} copy(%x)\n", 1, 4096, 96},
    {"no elements", "%a = f32[0,3]{1,0} constant({})\n", 1, 0, 0},
    {"the old way to write a scalar", "%a = f32[]{} add(%x)\n", 1, 4, 4},
    {"a long constant", "%a = f32[4]{0} constant({1, 2, 3, 4})\n", 1, 16, 16},
    {"no HLO text", "foo = bar[3] baz(\nx = y\n% = f32[4] add(\n%a = f32[4]{0}\n%a = f32[4]{0} add\n", 0, 0,
     0},
    {"the only member of a parameter",
     "ENTRY %m (p: (f32[4])) -> f32[4] {\n %p = (f32[4]{0}) parameter(0)\n}\n", 1, 16, 16},
    {"bodies of fusions do not count",
     "%fused_computation.3 (p: f32[4]) -> f32[4] {\n ROOT %a = f32[4]{0} add(%p, %p)\n}\n\n"
     "ENTRY %m () -> f32[4] {\n ROOT %f = f32[4]{0} fusion(%p), kind=kLoop, calls=%fused_computation.3\n}\n",
     1, 16, 16},
    {"whatever they are called",
     "%region_1 (p: f32[4]) -> f32[4] {\n ROOT %a = f32[4]{0} add(%p, %p)\n}\n"
     "ENTRY %m () -> f32[4] {\n ROOT %f = f32[4]{0} fusion(%p), kind=kLoop, calls=%region_1\n}\n",
     1, 16, 16},
    {"nor do reducers",
     "%region_1 (p: f32[]) -> f32[] {\n ROOT %a = f32[]{:T(128)} add(%p, %p)\n}\n"
     "ENTRY %m () -> f32[4] {\n ROOT %f = f32[4]{0} reduce(%p), to_apply=%region_1\n}\n",
     1, 16, 16},
    {"bodies of loops do",
     "%region_1 (p: f32[4]) -> f32[4] {\n %p = f32[4]{0} parameter(0)\n ROOT %a = f32[4]{0} add(%p, %p)\n}\n"
     "%region_2 (p: f32[4]) -> pred[] {\n %p = f32[4]{0} parameter(0)\n ROOT %a = pred[] constant(true)\n}\n"
     "ENTRY %m () -> f32[4] {\n ROOT %f = f32[4]{0} while(%p), condition=%region_2, body=%region_1\n}\n",
     2, 17, 17},
    {"branches too, old and new",
     "%t (p: f32[4]) -> f32[4] {\n ROOT %a = f32[4]{0} add(%p, %p)\n}\n"
     "%f (p: f32[4]) -> f32[4] {\n ROOT %a = f32[2]{0} add(%p, %p)\n}\n"
     "%g (p: f32[4]) -> f32[4] {\n ROOT %a = f32[1]{0} add(%p, %p)\n}\n"
     "ENTRY %m () -> f32[4] {\n %a = f32[4] conditional(%p), true_computation=%t, false_computation=%f\n"
     " ROOT %b = f32[4] conditional(%p), branch_computations={%t, %g}\n}\n",
     3, 28, 28},
    {"a loop in a loop",
     "%inner (p: f32[4]) -> f32[4] {\n ROOT %a = f32[4]{0} add(%p, %p)\n}\n"
     "%outer (p: f32[4]) -> f32[4] {\n ROOT %w = f32[4]{0} while(%p), condition=%c, body=%inner\n}\n"
     "%never (p: f32[4]) -> f32[4] {\n ROOT %a = f32[4]{0} add(%p, %p)\n}\n"
     "%also (p: f32[4]) -> f32[4] {\n ROOT %w = f32[4]{0} while(%p), condition=%c, body=%never\n}\n"
     "ENTRY %m () -> f32[4] {\n ROOT %f = f32[4]{0} call(%p), to_apply=%outer\n}\n",
     1, 16, 16},
    {"called twice, counted once",
     "%f (p: f32[4]) -> f32[4] {\n ROOT %a = f32[4]{0} add(%p, %p)\n}\n"
     "ENTRY %m () -> f32[4] {\n %b = f32[4]{0} call(%p), to_apply=%f\n ROOT %c = f32[4]{0} call(%p), "
     "to_apply=%f\n}\n",
     1, 16, 16},
    {"the called one stands behind",
     "ENTRY %m () -> f32[4] {\n ROOT %f = f32[4]{0} call(%p), to_apply=%later\n}\n"
     "%later (p: f32[4]) -> f32[4] {\n ROOT %a = f32[4]{0} add(%p, %p)\n}\n",
     1, 16, 16},
    {"names of one module mean nothing in the next",
     "HloModule a\n%f (p: f32[4]) -> f32[4] {\n ROOT %a = f32[4]{0} add(%p, %p)\n}\nENTRY %m () -> f32[] "
     "{\n}\n"
     "HloModule b\nENTRY %m () -> f32[4] {\n ROOT %c = f32[4]{0} call(%p), to_apply=%f\n}\n",
     0, 0, 0},
    {"headers without percent signs and signatures",
     "HloModule a\nfused_computation {\n  a = f32[4]{0} add(p, p)\n}\nENTRY m {\n  b = f32[2]{0} "
     "fusion(p)\n}\n",
     1, 8, 8},
    {"everything behind a prefix",
     "I] HloModule a\nI] %fused_computation (p: f32[4]) -> f32[4] {\nI]   %a = f32[4]{0} add(%p)\nI] }\n"
     "I] ENTRY %m () -> f32[2] {\nI]   %b = f32[2]{0} fusion(%p)\nI] }\n",
     1, 8, 8},
    {"ends with an execution thread",
     "%f (p: f32[4]) -> f32[4] {\n %a = f32[4]{0} add(%p)\n}, execution_thread=\"host\"\n%b = f32[2]{0} "
     "add(%x)\n"
     "ENTRY %m () -> f32[] {\n}\n",
     1, 8, 8},
};

static void test_counts(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof count_rows / sizeof count_rows[0]; r++) {
    tesela_report *report = report_text(count_rows[r].text);
    tesela_report_totals totals = tesela_report_total(report, NULL);
    AGREE(count_rows[r].name, totals.arrays, count_rows[r].arrays);
    AGREE(count_rows[r].name, totals.stored_bytes, count_rows[r].stored);
    AGREE(count_rows[r].name, totals.data_bytes, count_rows[r].data);
    tesela_report_destroy(report);
  }
}

/* What is not counted is said. */
static const struct {
  const char *name, *text;
  tesela_report_note_kind kind;
  int64_t count, arrays;
} note_rows[] = {
    {"an unbounded dim", "%a = f32[?,3]{1,0} add(%x)\n", TESELA_REPORT_UNBOUNDED, 1, 0},
    {"a shape with a damaged layout", "%a = f32[2,3]{1,0:T(0,128)} add(%x)\n%b = f32[2,3]{0} add(%x)\n",
     TESELA_REPORT_UNREADABLE, 2, 0},
    {"a type nobody knows, inside a module", "HloModule m\n%a = f7[2,3]{1,0} add(%x)\n",
     TESELA_REPORT_UNREADABLE, 1, 0},
    {"more than 64 bits can say", "%a = f32[4611686018427387904,2]{1,0} add(%x)\n", TESELA_REPORT_UNREADABLE,
     1, 0},
    {"a sum that does not fit",
     "%a = s8[9223372036854775807]{0} add(%x)\n%b = s8[9223372036854775807]{0} add(%x)\n",
     TESELA_REPORT_SATURATED, 2, 2},
    {"the end is cut off", "HloModule m\n%body (p: f32[4]) -> f32[4] {\n  %a = f32[4]{0} add(%x)\n}\n",
     TESELA_REPORT_BY_NAME, 1, 1},
    {"and the name says fusion",
     "HloModule m\n%a_fusion (p: f32[4]) -> f32[4] {\n  %a = f32[4]{0} add(%x)\n}\n", TESELA_REPORT_BY_NAME,
     0, 0},
    {"a loop whose body is named as a fusion's",
     "%fused_x (p: f32[4]) -> f32[4] {\n %a = f32[4]{0} add(%x)\n}\n"
     "ENTRY %m () -> f32[4] {\n %b = f32[4]{0} while(%x), condition=%c, body=%fused_x\n}\n",
     TESELA_REPORT_PASSED_OVER, 1, 0},
};

static void test_notes(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof note_rows / sizeof note_rows[0]; r++) {
    tesela_report *report = report_text(note_rows[r].text);
    const tesela_report_note *note = note_of(report, note_rows[r].kind);
    AGREE(note_rows[r].name, note ? note->count : 0, note_rows[r].count);
    AGREE(note_rows[r].name, tesela_report_total(report, NULL).arrays, note_rows[r].arrays);
    if (note) assert_true(note->line > 0 && note->text[0] && note->code[0]);
    tesela_report_destroy(report);
  }
}

static void test_rows(void **state) {
  (void)state;
  tesela_report *report = report_text(mixed_text);
  const tesela_report_array *row[16];
  int64_t n;
  tesela_report_filter hlo = {TESELA_REPORT_HLO, TESELA_REPORT_ANY, TESELA_REPORT_ANY};
  tesela_report_top(report, &hlo, TESELA_REPORT_BY_SIZE, 16, row, &n);
  /* fusion of the body, x, the copy in another order, the predicate of the loop, the result */
  AGREE("rows", n, 5);
  assert_string_equal(row[0]->shape, "f32[100,3]{1,0:T(8,128)}"); /* 104 * 128 * 4, two roles */
  AGREE("stored", row[0]->stored_bytes, 53248);
  AGREE("data", row[0]->data_bytes, 1200);
  assert_string_equal(row[0]->name, "fusion.1"); /* of two equal ones the first that was seen */
  assert_string_equal(row[0]->opcode, "fusion");
  assert_string_equal(row[0]->op_name, "step/add");
  AGREE("line", row[0]->line, 24);
  assert_string_equal(row[1]->name, "x");
  assert_string_equal(row[1]->op_name, "x");
  AGREE("role", row[1]->role, TESELA_REPORT_ARGUMENT);
  AGREE("line", row[1]->line, 34);
  AGREE("the copy", row[2]->stored_bytes, 2048);
  AGREE("role", row[2]->role, TESELA_REPORT_COPY);
  AGREE("result or predicate", row[3]->stored_bytes + row[4]->stored_bytes, 512 + 512);
  const tesela_report_section *module = tesela_report_section_at(report, 1);
  assert_string_equal(module->name, "jit_step");
  AGREE("arguments", module->n_arguments, 2);
  AGREE("argument bytes", module->argument_bytes, 53248 + 4);
  AGREE("argument data", module->argument_data_bytes, 1200 + 4);
  AGREE("results", module->n_results, 1);
  AGREE("result bytes", module->result_bytes, 1200);
  tesela_report_destroy(report);
}

/* Source lines: in the metadata, or in tables before the module. */
static void test_locations(void **state) {
  (void)state;
  static const char tables[] =
      "HloModule m\n\nFileNames\n1 \"a.py\"\n2 \"lib/b.py\"\n\nFunctionNames\n1 \"f\"\n\n"
      "FileLocations\n1 {file_name_id=1 function_name_id=1 line=7 end_line=8}\n"
      "2 {file_name_id=2 function_name_id=1 line=30 end_line=31}\n\n"
      "StackFrames\n1 {file_location_id=2 parent_frame_id=1}\n"
      "2 {file_location_id=1 parent_frame_id=1}\n4 {file_location_id=1 parent_frame_id=1}\n\n";
  static const struct {
    const char *metadata, *location;
  } rows[] = {
      {"source_file=\"x.py\" source_line=12", "x.py:12"},
      {"source_file=\"x.py\"", "x.py"},
      {"stack_frame_id=1", "lib/b.py:30"},
      {"stack_frame_id=2", "a.py:7"},
      {"stack_frame_id=3", ""},
      {"stack_frame_id=4", ""},
      {"stack_frame_id=99999999999", ""},
      {"op_name=\"stack_frame_id=1\"", ""},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    char text[1024];
    snprintf(text, sizeof text, "%s%%a = f32[4]{0} add(%%x), metadata={op_type=\"t\" %s}\n", tables,
             rows[r].metadata);
    tesela_report *report = report_text(text);
    assert_string_equal(first_row(report)->location, rows[r].location);
    AGREE("tables are no arrays", tesela_report_total(report, NULL).arrays, 1);
    tesela_report_destroy(report);
  }
}

static void test_opcodes(void **state) {
  (void)state;
  static const struct {
    const char *opcode;
    tesela_report_counts counts;
  } rows[] = {
      {"add-dependency", TESELA_REPORT_COUNTS_NONE},
      {"while", TESELA_REPORT_COUNTS_NONE},
      {"copy", TESELA_REPORT_COUNTS_ALL},
      {"copy-start", TESELA_REPORT_COUNTS_FIRST},
      {"copy-done", TESELA_REPORT_COUNTS_NONE},
      {"async-start", TESELA_REPORT_COUNTS_SECOND},
      {"async-update", TESELA_REPORT_COUNTS_NONE},
      {"dynamic-update-slice", TESELA_REPORT_COUNTS_ALL},
      {"whil", TESELA_REPORT_COUNTS_ALL},
      {"whiles", TESELA_REPORT_COUNTS_ALL},
      {"-done", TESELA_REPORT_COUNTS_ALL},
      {"", TESELA_REPORT_COUNTS_ALL},
      {"tuple", TESELA_REPORT_COUNTS_NONE},
      {"parameter", TESELA_REPORT_COUNTS_ALL},
      {"opt-barrier", TESELA_REPORT_COUNTS_NONE},
      {"all-reduce-start", TESELA_REPORT_COUNTS_ALL},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_report_opcode_rule rule = tesela_report_opcode(rows[r].opcode, strlen(rows[r].opcode));
    AGREE(rows[r].opcode, rule.counts, rows[r].counts);
    assert_non_null(rule.reason);
  }
  AGREE("a NUL inside", tesela_report_opcode("tuple\0x", 7).counts, TESELA_REPORT_COUNTS_ALL);
}

/* ---- cuts ---------------------------------------------------------------------------------------------- */

static void test_chunks(void **state) {
  (void)state;
  tesela_report *whole = report_text(mixed_text);
  char *want = report_dump(whole);
  for (size_t chunk = 1; chunk < 200; chunk += chunk < 40 ? 1 : 17) {
    tesela_report *report = report_of(mixed_text, strlen(mixed_text), chunk, NULL);
    char *got = report_dump(report);
    assert_string_equal(got, want);
    free(got);
    tesela_report_destroy(report);
  }
  free(want);
  tesela_report_destroy(whole);
}

static void test_inputs(void **state) {
  (void)state;
  tesela_report *report = NULL;
  static const char first[] = "%a = f32[4]{0} add(%x", second[] = ")\n%b = f32[2]{0} add(%x)\n";
  OK(tesela_report_create(&report, NULL, NULL, &e_));
  OK(tesela_report_begin_input(report, "a.txt", &e_));
  OK(tesela_report_feed(report, first, sizeof first - 1, &e_));
  OK(tesela_report_begin_input(report, "b.txt", &e_));
  OK(tesela_report_feed(report, second, sizeof second - 1, &e_));
  OK(tesela_report_begin_input(report, "empty", &e_));
  OK(tesela_report_finish(report, &e_));
  AGREE("an unfinished line ends with its input", tesela_report_total(report, NULL).stored_bytes, 24);
  AGREE("inputs", tesela_report_n_inputs(report), 3);
  assert_string_equal(tesela_report_input_at(report, 1)->name, "b.txt");
  AGREE("lines", tesela_report_input_at(report, 1)->lines, 2);
  AGREE("arrays", tesela_report_input_at(report, 1)->arrays, 1);
  AGREE("sections", tesela_report_input_at(report, 2)->sections, 0);
  AGREE("no such input", tesela_report_input_at(report, 3) != NULL, 0);
  AGREE("line within its input", first_row(report)->line, 1);
  assert_int_equal(tesela_report_feed(report, first, 1, NULL), TESELA_E_INVALID);
  tesela_report_destroy(report);
  tesela_report_destroy(NULL);
}

/* ---- limits -------------------------------------------------------------------------------------------- */

static void test_long_lines(void **state) {
  (void)state;
  char text[4000] = "%a = f32[4]{0} constant({";
  memset(text + strlen(text), '1', 3000);
  strcat(text, "})\n%b = f32[2]{0} add(%x)\n");
  tesela_report_options options = {.line_bytes = 100};
  for (size_t chunk = 0; chunk < 3; chunk++) {
    tesela_report *report = report_of(text, strlen(text), chunk * 7, &options);
    AGREE("both count", tesela_report_total(report, NULL).stored_bytes, 24);
    AGREE("the cut is said", note_of(report, TESELA_REPORT_CUT_LINE)->count, 1);
    tesela_report_destroy(report);
  }
}

/* Beyond a limit the totals stay right and the lists get shorter. */
static void test_many_shapes(void **state) {
  (void)state;
  char text[64 * 100] = "";
  for (int i = 0; i < 100; i++) snprintf(text + strlen(text), 64, "%%a.%d = s8[%d]{0} add(%%x)\n", i, i + 1);
  tesela_report_options options = {.shapes = 10};
  tesela_report *report = report_of(text, strlen(text), 0, &options);
  AGREE("all count", tesela_report_total(report, NULL).stored_bytes, 5050);
  AGREE("ten are listed", tesela_report_total(report, NULL).rows, 10);
  AGREE("the section has all", tesela_report_section_at(report, 0)->arrays, 100);
  AGREE("it is said", note_of(report, TESELA_REPORT_TOO_MANY)->count, 90);
  tesela_report_destroy(report);
}

static void test_many_computations(void **state) {
  (void)state;
  static char text[400 * 120];
  text[0] = '\0';
  for (int i = 0; i < 100; i++)
    snprintf(text + strlen(text), 300,
             "%%%s.%d (p: f32[4]) -> f32[4] {\n  %%a.%d = f32[4]{0} add(%%x)\n  %%w = f32[4]{0} while(%%x), "
             "condition=%%c, body=%%body.%d\n}\n",
             i % 2 ? "body" : "copy_fusion", i, i, i - 1);
  strcat(text, "ENTRY %m () -> f32[4] {\n  %w = f32[4]{0} while(%x), condition=%c, body=%body.99\n}\n");
  tesela_report *report = report_text(text);
  AGREE("within the limit only what is called", tesela_report_total(report, NULL).arrays, 1);
  tesela_report_destroy(report);
  tesela_report_options options = {.waiting = 20};
  report = report_of(text, strlen(text), 0, &options);
  /* 20 calls stand in the first 10 computations, of which none is called; of the other 90 half are bodies */
  AGREE("beyond it the name decides", tesela_report_total(report, NULL).arrays, 45);
  AGREE("and that is said", note_of(report, TESELA_REPORT_BY_NAME)->loud, true);
  tesela_report_destroy(report);
}

/* The same text a hundred times takes no more memory once the limit of waiting computations is reached. */
static void test_memory_does_not_grow(void **state) {
  (void)state;
  size_t most[2];
  for (int long_one = 0; long_one < 2; long_one++) {
    fault f = {.countdown = -1, .weigh = true};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_report *report = NULL;
    const char *module = strstr(mixed_text, "HloModule"), *body = strchr(module, '\n') + 1;
    tesela_report_options options = {.waiting = 50};
    OK(tesela_report_create(&report, &options, &allocator, &e_));
    OK(tesela_report_feed(report, module, (size_t)(body - module), &e_));
    for (int i = 0; i < (long_one ? 4000 : 40); i++) OK(tesela_report_feed(report, body, strlen(body), &e_));
    OK(tesela_report_finish(report, &e_));
    most[long_one] = f.most;
    tesela_report_destroy(report);
    AGREE("no leak", f.live, 0);
  }
  if (most[1] > most[0]) fail_msg("4 MB of text took %zu bytes, 40 KB took %zu", most[1], most[0]);
}

static void test_no_memory(void **state) {
  (void)state;
  for (long n = 0;; n++) {
    fault f = {.countdown = n};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_report *report = NULL;
    tesela_status status = tesela_report_create(&report, NULL, &allocator, NULL);
    for (size_t at = 0; at < strlen(mixed_text) && status == TESELA_OK; at += 100) {
      size_t left = strlen(mixed_text) - at;
      status = tesela_report_feed(report, mixed_text + at, left < 100 ? left : 100, NULL);
    }
    if (status == TESELA_OK) status = tesela_report_begin_input(report, "more", NULL);
    if (status == TESELA_OK) status = tesela_report_finish(report, NULL);
    if (status != TESELA_OK) {
      AGREE("status", status, TESELA_E_MEMORY);
      if (report) AGREE("and it stays so", tesela_report_feed(report, "x", 1, NULL), TESELA_E_MEMORY);
    }
    tesela_report_destroy(report);
    AGREE("no leak", f.live, 0);
    if (status == TESELA_OK) break;
    assert_true(n < 1000);
  }
  tesela_report *report = NULL;
  tesela_report_options options = {.shapes = -1};
  assert_int_equal(tesela_report_create(&report, &options, NULL, NULL), TESELA_E_RANGE);
  assert_null(report);
}

/* ---- damage -------------------------------------------------------------------------------------------- */

static uint64_t random_next(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *seed >> 33;
}

/* Change, cut out or double pieces of a text. */
static size_t damage(char *text, size_t n, size_t capacity, uint64_t *seed) {
  for (uint64_t i = random_next(seed) % 8; n > 0 && i-- > 0;) {
    size_t at = random_next(seed) % n, length = random_next(seed) % 60;
    if (length > n - at) length = n - at;
    switch (random_next(seed) % 4) {
    case 0:
      text[at] = (char)random_next(seed);
      break;
    case 1:
      text[at] = "\n\\{}()[]:,=%\"x0"[random_next(seed) % 15];
      break;
    case 2:
      memmove(text + at, text + at + length, n - at - length);
      n -= length;
      break;
    default:
      if (n + length > capacity) break;
      memmove(text + at + length, text + at, n - at);
      n += length;
    }
  }
  return n;
}

static void check_sums(const tesela_report *report) {
  tesela_report_totals totals = tesela_report_total(report, NULL);
  assert_true(totals.arrays >= 0 && totals.stored_bytes >= totals.data_bytes && totals.data_bytes >= 0);
  int64_t arrays = 0, repeated = 0;
  for (int64_t i = 0; i < tesela_report_n_sections(report); i++) {
    arrays += tesela_report_section_at(report, i)->arrays;
    repeated += tesela_report_section_at(report, i)->repeated;
  }
  AGREE("sections and totals", arrays - repeated, totals.arrays);
}

static void test_damaged_text(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  static char text[2 * 8192];
  for (int i = 0; i < 3000; i++) {
    size_t n = strlen(mixed_text);
    memcpy(text, mixed_text, n);
    n = damage(text, n, sizeof text, &seed);
    tesela_report *whole = report_of(text, n, 0, NULL),
                  *parts = report_of(text, n, 1 + random_next(&seed) % 50, NULL);
    char *a = report_dump(whole), *b = report_dump(parts);
    assert_string_equal(a, b);
    check_sums(whole);
    free(a);
    free(b);
    tesela_report_destroy(whole);
    tesela_report_destroy(parts);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_notes),
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_locations),
      cmocka_unit_test(test_opcodes),
      cmocka_unit_test(test_chunks),
      cmocka_unit_test(test_inputs),
      cmocka_unit_test(test_long_lines),
      cmocka_unit_test(test_many_shapes),
      cmocka_unit_test(test_many_computations),
      cmocka_unit_test(test_memory_does_not_grow),
      cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_damaged_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
