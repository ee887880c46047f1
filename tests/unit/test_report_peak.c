/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report_peak.c - peaks of scheduled HLO text, by hand: what shares memory and what does not; buffers, spans, timeline.
 *
 * V is a vector of 4096 bytes, so that most figures are multiples of 4096: how many vectors live at the peak.
 */
#include "support_report.h"

#define V "f32[1024]{0}"
#define V1 "f32[1024]{0:S(1)}"
#define W "f32[32768]{0}" /* 131072 bytes: large enough for the idle memory of results */
#define HEAD "HloModule m, is_scheduled=true\n"
#define MAIN "ENTRY %main {\n  %a = " V " parameter(0)\n"
#define LISTS(groups) "backend_config={\"aliasing_operands\":{\"lists\":[" groups "]}}"

#define check(ok, ...)          \
  do {                          \
    if (!(ok)) {                \
      print_error(__VA_ARGS__); \
      print_error("\n");        \
      fail();                   \
    }                           \
  } while (0)

/* Bytes of the parts at the peak of the main memory; -1 at: no peak. */
static const struct {
  const char *name, *text;
  int64_t arguments, outputs, temporaries, at;
} peak_rows[] = {
    {"an argument is the result", HEAD MAIN "}\n", 4096, 0, 0, 0},
    {"a temporary lives to its last use",
     HEAD MAIN "  %b = " V " rev(%a)\n  %c = " V " dot(%b, %b)\n  ROOT %d = " V " dot(%c, %c)\n}\n", 4096,
     4096, 8192, 2},
    {"a bitcast is the same array",
     HEAD MAIN "  %b = " V " rev(%a)\n  %c = " V " bitcast(%b)\n  ROOT %d = " V " dot(%c, %c)\n}\n", 4096,
     4096, 4096, 1},
    {"a tuple has a table, a member of it nothing",
     HEAD MAIN "  %b = " V " rev(%a)\n  %t = (" V ", " V ") tuple(%a, %b)\n  %c = " V
               " get-tuple-element(%t), index=1\n  ROOT %d = " V " dot(%c, %c)\n}\n",
     4096, 4096, 4096 + 512, 2},
    {"tables are as large as scalars",
     HEAD MAIN "  %z = s32[]{:T(256)} constant(0)\n  %t = (" V ") tuple(%a)\n  %c = " V
               " get-tuple-element(%t), index=0\n  ROOT %d = " V " dot(%c, %c)\n}\n",
     4096, 4096, 2048, 2},
    {"an elementwise operation writes over an operand that dies",
     HEAD MAIN "  %b = " V " rev(%a)\n  %c = " V " negate(%b)\n  ROOT %d = " V " dot(%c, %c)\n}\n", 4096,
     4096, 4096, 1},
    {"not if the operand is used later",
     HEAD MAIN "  %b = " V " rev(%a)\n  %c = " V " negate(%b)\n  ROOT %d = " V " dot(%c, %b)\n}\n", 4096,
     4096, 8192, 2},
    {"not if the compiler lists other aliases",
     HEAD MAIN "  %b = " V " rev(%a)\n  %c = " V " negate(%b), " LISTS("") "\n  ROOT %d = " V
                                                                           " dot(%c, %c)\n}\n",
     4096, 4096, 8192, 2},
    {"a sort writes over the operands that the compiler lists",
     HEAD MAIN
     "  %b = " V " rev(%a)\n  %c = " V " rev(%a)\n  %s = (" V ", " V ") sort(%b, %c), to_apply=%less, " LISTS(
         "{\"indices\":[\"0\",\"2\"]},{\"indices\":[\"1\",\"3\"]}") "\n  %d = " V " get-tuple-element(%s), "
                                                                    "index=0\n  ROOT %e = " V
                                                                    " dot(%d, %d)\n}\n",
     4096, 4096, 8192 + 512, 3},
    {"dynamic-update-slice writes in place",
     HEAD MAIN "  %b = " V " rev(%a)\n  %c = " V " dynamic-update-slice(%b, %a)\n  ROOT %d = " V
               " dot(%c, %c)\n}\n",
     4096, 4096, 4096, 1},
    {"so does a fusion rooted in one, through a bitcast",
     HEAD "%f {\n  %p = " V " parameter(0)\n  %q = " V " parameter(1)\n  %u = " V
          " dynamic-update-slice(%p, %q)\n"
          "  ROOT %r = " V " bitcast(%u)\n}\n" MAIN "  %b = " V " rev(%a)\n  %c = " V
          " fusion(%b, %a), kind=kOutput, calls=%f\n  ROOT %d = " V " dot(%c, %c)\n}\n",
     4096, 4096, 4096, 1},
    {"an elementwise loop fusion writes over an operand that dies",
     HEAD "%f {\n  %p = " V " parameter(0)\n  ROOT %r = " V " negate(%p)\n}\n" MAIN "  %b = " V
          " rev(%a)\n  %c = " V " fusion(%b), kind=kLoop, calls=%f\n  ROOT %d = " V " dot(%c, %c)\n}\n",
     4096, 4096, 4096, 1},
    {"not if it moves elements",
     HEAD "%f {\n  %p = " V " parameter(0)\n  %n = " V " negate(%p)\n  ROOT %r = " V " rev(%n)\n}\n" MAIN
          "  %b = " V " rev(%a)\n  %c = " V " fusion(%b), kind=kLoop, calls=%f\n  ROOT %d = " V
          " dot(%c, %c)\n}\n",
     4096, 4096, 8192, 2},
    {"output_to_operand_aliasing",
     HEAD MAIN "  %b = " V " rev(%a)\n  %c = (" V ", " V
               ") custom-call(%b), output_to_operand_aliasing={{1}: (0, {})}\n  %d = " V
               " get-tuple-element(%c), index=1\n  ROOT %e = " V " dot(%d, %d)\n}\n",
     4096, 4096, 8192 + 512, 2},
    {"a donated argument becomes the result",
     "HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }\n" MAIN "  ROOT %b = " V
     " negate(%a)\n}\n",
     4096, 0, 0, 0},
    {"two of them",
     "HloModule m, is_scheduled=true, input_output_alias={ {0}: (1, {}, may-alias), {1}: (0, {}) }\n" MAIN
     "  %b = " V " parameter(1)\n  %c = " V " rev(%a)\n  %d = " V " rev(%b)\n  ROOT %t = (" V ", " V
     ") tuple(%c, %d)\n}\n",
     8192, 512, 0, 0},
    {"an asynchronous copy lives from its start",
     HEAD MAIN "  %s = (" V ", " V ", u32[]{:S(2)}) copy-start(%a)\n  %b = " V " rev(%a)\n  %c = " V
               " copy-done(%s)\n  ROOT %d = " V " dot(%b, %c)\n}\n",
     4096, 4096, 8192 + 512, 2},
    {"a collective's start has its operands and its results",
     HEAD MAIN "  %s = ((" V "), (" V ")) all-gather-start(%a)\n  %c = (" V ") all-gather-done(%s)\n  %m = " V
               " get-tuple-element(%c), index=0\n  ROOT %d = " V " dot(%m, %m)\n}\n",
     4096, 4096, 4096 + 3 * 512, 1},
    {"slices side by side become one array",
     HEAD MAIN "  %b = f32[512]{0} slice(%a)\n  %c = f32[512]{0} slice(%a)\n  %d = " V
               " custom-call(%b, %c), custom_call_target=\"ConcatBitcast\"\n  ROOT %e = " V
               " dot(%d, %d)\n}\n",
     4096, 4096, 4096, 2},
    {"a loop: init, parameter, root and result are one",
     HEAD "%body {\n  %p = (" V ") parameter(0)\n  %x = " V " get-tuple-element(%p), index=0\n  %y = " V
          " rev(%x)\n  ROOT %r = (" V ") tuple(%y)\n}\n%cond {\n  %p = (" V
          ") parameter(0)\n  ROOT %t = pred[]{:T(512)} "
          "constant(false)\n}\n" MAIN "  %b = " V " rev(%a)\n  %i = (" V ") tuple(%b)\n  %w = (" V
          ") while(%i), condition=%cond, body=%body\n  %c = " V
          " get-tuple-element(%w), index=0\n  ROOT %d = " V " dot(%c, %c)\n}\n",
     4096, 4096, 4096 + 2 * 512, 2},
    {"what a loop carries unchanged is one array",
     HEAD "%body {\n  %p = (" V ") parameter(0)\n  %x = " V " get-tuple-element(%p), index=0\n  ROOT %r = (" V
          ") tuple(%x)\n}\n%cond {\n  %p = (" V
          ") parameter(0)\n  ROOT %t = pred[]{:T(512)} constant(false)\n}\n" MAIN "  %b = " V
          " rev(%a)\n  %i = (" V ") tuple(%b)\n  %w = (" V
          ") while(%i), condition=%cond, body=%body\n  %c = " V
          " get-tuple-element(%w), index=0\n  ROOT %d = " V " dot(%c, %c)\n}\n",
     4096, 4096, 4096 + 2 * 512, 2},
    {"branches share the memory of the result",
     HEAD "%f {\n  %p = " V " parameter(0)\n  ROOT %x = " V " rev(%p)\n}\n%g {\n  %p = " V
          " parameter(0)\n  ROOT %x = " V " rev(%p)\n}\n" MAIN "  %c = " V
          " conditional(%a, %a, %a), branch_computations={%f, %g}\n  ROOT %d = " V " dot(%c, %c)\n}\n",
     4096, 4096, 4096, 2},
    {"a branch keeps what another one uses later",
     HEAD "%f {\n  %p = " V " parameter(0)\n  %x = " V " dot(%p, %p)\n  ROOT %y = " V
          " dot(%x, %x)\n}\n%g {\n  %p = " V " parameter(0)\n  %x = " V " dot(%p, %p)\n  ROOT %y = " V
          " dot(%x, %p)\n}\n" MAIN "  %b = " V " rev(%a)\n  %c = " V
          " conditional(%a, %b, %b), branch_computations={%f, %g}\n  ROOT %d = " V " dot(%c, %c)\n}\n",
     4096, 4096, 3 * 4096, 4},
    {"idle memory of a result",
     HEAD "ENTRY %main {\n  %a = " W " parameter(0)\n  %b = " W " rev(%a)\n  %c = " V
          " reduce(%b)\n  ROOT %d = " W " broadcast(%c)\n}\n",
     131072, 131072, 4096, 2},
    {"not while the result is there",
     HEAD "ENTRY %main {\n  %a = " W " parameter(0)\n  %b = " W " rev(%a)\n  %c = " W " rev(%a)\n  %d = " V
          " reduce(%b)\n  ROOT %t = (" W ", " V ") tuple(%c, %d)\n}\n",
     131072, 131072 + 4096 + 512, 131072, 1},
    {"host memory has its own peak", HEAD MAIN "  ROOT %b = f32[1024]{0:S(5)} copy(%a)\n}\n", 4096, 0, 0, 0},
    {"an unknown size", HEAD MAIN "  ROOT %b = f32[?]{0} copy(%a)\n}\n", 0, 0, 0, -1},
    {"no schedule", "HloModule m\n" MAIN "}\n", 0, 0, 0, -1},
};

static const tesela_report_options with_peak = {.peak = 1};

static void test_peaks(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof peak_rows / sizeof peak_rows[0]; i++) {
    const char *text = peak_rows[i].text;
    tesela_report *report = report_of(text, strlen(text), 0, &with_peak);
    tesela_report_peak peak;
    bool found = tesela_report_highest_peak(report, TESELA_REPORT_HLO, 0, &peak);
    check(found, "%s: there is a peak", peak_rows[i].name);
    check(peak.at == peak_rows[i].at && peak.argument_bytes == peak_rows[i].arguments &&
              peak.output_bytes == peak_rows[i].outputs && peak.temporary_bytes == peak_rows[i].temporaries,
          "%s: %" PRId64 " + %" PRId64 " + %" PRId64 " at %" PRId64, peak_rows[i].name, peak.argument_bytes,
          peak.output_bytes, peak.temporary_bytes, peak.at);
    int64_t sum = peak.argument_bytes + peak.output_bytes + peak.temporary_bytes;
    check(peak.at < 0 || (peak.least_bytes == sum && peak.most_bytes == sum), "%s: the sum",
          peak_rows[i].name);
    tesela_report_destroy(report);
  }
}

/* In vector memory a branch gives away what it does not use again, whatever another branch does. The first branch: b and x, then x and
 * y; the second: b and y of the first branch's memory. */
static const char branch_text[] =
    HEAD "%f {\n  %p = " V1 " parameter(0)\n  %x = " V1 " dot(%p, %p)\n  ROOT %y = " V1
         " dot(%x, %x)\n}\n%g {\n  %p = " V1 " parameter(0)\n  ROOT %y = " V1 " dot(%p, %p)\n}\n" MAIN
         "  %b = " V1 " copy(%a)\n  %c = " V1
         " conditional(%a, %b, %b), branch_computations={%f, %g}\n  ROOT %d = " V " dot(%c, %c)\n}\n";

static void test_branches(void **state) {
  (void)state;
  tesela_report *report = report_of(branch_text, strlen(branch_text), 1, &with_peak);
  int64_t bytes[9];
  check(tesela_report_timeline(report, 1, 9, bytes, NULL) == TESELA_OK, "a timeline");
  /* a; b; f: p, x, y; g: p, y; c; d */
  const int64_t expected[] = {0, 4096, 4096, 8192, 8192, 4096, 8192, 4096, 4096};
  for (int i = 0; i < 9; i++) check(bytes[i] == expected[i], "instant %d: %" PRId64, i, bytes[i]);
  tesela_report_destroy(report);
}

/* ---- buffers, spans, timeline ----------------------------------------------------------------------------- */

static const char lives_text[] =
    HEAD MAIN "  %b = " V1 " copy(%a)\n  %t = (" V ", " V ") custom-call(%b)\n  %c = " V
              " get-tuple-element(%t), index=1\n  ROOT %d = " V " rev(%c)\n}\n";

static void test_lives(void **state) {
  (void)state;
  tesela_report *report = report_of(lives_text, strlen(lives_text), 1, &with_peak);
  tesela_report_buffer buffer;
  int64_t n = tesela_report_n_buffers(report), list[8], alive, bytes[5], span[4];
  check(n == 6, "%" PRId64 " buffers", n);
  check(tesela_report_n_peaks(report) == 2 && tesela_report_peak_at(report, 1)->space == 1,
        "the main memory comes first");
  check(tesela_report_alive(report, 0, 8, list, &alive, NULL) == TESELA_OK && alive == 5, "%" PRId64 " alive",
        alive);
  check(tesela_report_buffer_at(report, list[0], &buffer, NULL) == TESELA_OK && buffer.bytes == 4096,
        "the largest first");
  for (int64_t i = 0; i < n; i++) {
    check(tesela_report_buffer_at(report, i, &buffer, NULL) == TESELA_OK, "buffer %" PRId64, i);
    if (strcmp(buffer.instruction, "t") != 0 || strcmp(buffer.member, "{1}") != 0) continue;
    check(buffer.from == 2 && buffer.to == 4 && buffer.spans == 1 &&
              buffer.shape_bytes == (int64_t)strlen(V) && memcmp(buffer.shape, V, strlen(V)) == 0,
          "t{1}: %" PRId64 " to %" PRId64, buffer.from, buffer.to);
    check(tesela_report_buffer_spans(report, i, 2, span, &alive, NULL) == TESELA_OK && alive == 1 &&
              span[0] == 2 && span[1] == 4,
          "its span");
  }
  check(tesela_report_timeline(report, 0, 5, bytes, NULL) == TESELA_OK, "a timeline");
  const int64_t expected[] = {8192, 8192, 8192 + 8192 + 512, 8192 + 4096 + 512, 8192 + 4096};
  for (int i = 0; i < 5; i++) check(bytes[i] == expected[i], "instant %d: %" PRId64, i, bytes[i]);
  check(tesela_report_timeline(report, 1, 5, bytes, NULL) == TESELA_OK && bytes[0] == 0 && bytes[1] == 4096,
        "S(1)");
  check(tesela_report_timeline(report, 0, 4, bytes, NULL) == TESELA_E_MISMATCH, "another number of instants");
  check(tesela_report_buffer_at(report, n, &buffer, NULL) == TESELA_E_RANGE, "a buffer that is not there");
  check(tesela_report_buffer_spans(report, -1, 2, span, &alive, NULL) == TESELA_E_RANGE, "likewise");
  check(tesela_report_peak_at(report, 2) == NULL && tesela_report_peak_at(report, -1) == NULL,
        "a peak that is not there");
  tesela_report_destroy(report);
}

static void test_without_schedule(void **state) {
  (void)state;
  tesela_report *report = report_of(lives_text, strlen(lives_text), 0, NULL);
  int64_t bytes[5];
  tesela_report_peak peak;
  check(tesela_report_n_peaks(report) == 0 && tesela_report_n_buffers(report) == 0,
        "without the option nothing is kept");
  check(tesela_report_timeline(report, 0, 5, bytes, NULL) == TESELA_E_INVALID, "no timeline");
  check(tesela_report_highest_peak(report, TESELA_REPORT_HLO, 0, &peak) && peak.at == -1 &&
            peak.least_bytes == 4096 && peak.most_bytes == 4 * 4096,
        "%" PRId64 " to %" PRId64, peak.least_bytes, peak.most_bytes);
  check(!tesela_report_highest_peak(report, TESELA_REPORT_MEMORY, 0, &peak), "no memory report");
  tesela_report_destroy(report);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_peaks),
      cmocka_unit_test(test_branches),
      cmocka_unit_test(test_lives),
      cmocka_unit_test(test_without_schedule),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
