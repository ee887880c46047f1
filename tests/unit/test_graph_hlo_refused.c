/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_hlo_refused.c - HLO text that is refused: where and why, and the limits.
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
#include <tesela/tesela.h>

static const struct {
  const char *name, *text; /* the error is at the character `@`, which is taken out */
  tesela_status status;
  const char *words;
} refused[] = {
    {"nothing", "@", TESELA_E_SYNTAX, "HloModule"},
    {"another text", "@digraph {}", TESELA_E_SYNTAX, "expected HloModule, found 'digraph'"},
    {"no name", "HloModule @", TESELA_E_SYNTAX, "name of the module"},
    {"no computation", "HloModule m\n@", TESELA_E_SYNTAX, "a computation"},
    {"no end", "HloModule m\nENTRY e { x = f32[] parameter(0)@", TESELA_E_SYNTAX, "'}'"},
    {"no instruction", "HloModule m\nENTRY @e { }", TESELA_E_INVALID, "without instructions"},
    {"no entry", "HloModule m\na { x = f32[] parameter(0) }\nb { x = f32[] parameter(0) }@", TESELA_E_SYNTAX,
     "ENTRY"},
    {"two entries", "HloModule m\nENTRY a { x = f32[] parameter(0) }\nENTRY @b { x = f32[] parameter(0) }",
     TESELA_E_INVALID, "second ENTRY"},
    {"two of a name", "HloModule m\nENTRY a { x = f32[] parameter(0)\n @x = f32[] negate(x) }",
     TESELA_E_INVALID, "two instructions"},
    {"two computations of a name", "HloModule m\na { x = f32[] parameter(0) }\n@a { x = f32[] parameter(0) }",
     TESELA_E_INVALID, "two computations"},
    {"no equals", "HloModule m\nENTRY a { x @f32[] parameter(0) }", TESELA_E_SYNTAX, "'='"},
    {"a type that is none", "HloModule m\nENTRY a { x = @float[] parameter(0) }", TESELA_E_SYNTAX, "float"},
    {"a shape that does not end", "HloModule m\nENTRY a { x = f32[2 @parameter(0) }", TESELA_E_SYNTAX, ""},
    {"no opcode", "HloModule m\nENTRY a { x = f32[] @(0) }", TESELA_E_SYNTAX, "opcode"},
    {"no operands", "HloModule m\nENTRY a { x = f32[] add@, y }", TESELA_E_SYNTAX, "'('"},
    {"an operand that is none", "HloModule m\nENTRY a { x = f32[] negate(@y) }", TESELA_E_INVALID,
     "operand y"},
    {"an operand that comes later", "HloModule m\nENTRY a { x = f32[] negate(@y)\n y = f32[] parameter(0) }",
     TESELA_E_INVALID, "operand y"},
    {"an operand of elsewhere", "HloModule m\nb { y = f32[] parameter(0) }\nENTRY a { x = f32[] negate(@y) }",
     TESELA_E_INVALID, "operand y"},
    {"brackets that do not close", "HloModule m\nENTRY a { x = f32[] parameter@(0 }", TESELA_E_SYNTAX,
     "unclosed bracket"},
    {"quotes that do not close", "HloModule m\nENTRY a { x = f32[] parameter(0), k=@\"v }", TESELA_E_SYNTAX,
     "unterminated string"},
    {"an attribute without value", "HloModule m\nENTRY a { x = f32[] parameter(0), k=@, }", TESELA_E_SYNTAX,
     "a value"},
    {"an attribute without name", "HloModule m\nENTRY a { x = f32[] parameter(0), @}", TESELA_E_SYNTAX,
     "name of an attribute"},
    {"an attribute that is given twice",
     "HloModule m\nENTRY a { x = f32[2] parameter(0)\n y = f32[2] reverse(x), dimensions={0}, @dimensions={} "
     "}",
     TESELA_E_INVALID, "dimensions is given twice"},
    {"joined groups that contradict",
     "HloModule m\nENTRY a { x = f32[2,9,4] parameter(0)\n w = f32[3,2,8] parameter(1)\n @y = f32[2,8,7] "
     "convolution(x, w), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=2 }",
     TESELA_E_INVALID, "give f32[2,7,8]"},
    {"a lookup of nothing that contradicts",
     "HloModule m\nENTRY a { x = f32[4,6] parameter(0)\n i = s32[3,0] parameter(1)\n @y = f32[7,1,6] "
     "gather(x, "
     "i), offset_dims={1,2}, start_index_map={}, index_vector_dim=1, slice_sizes={1,6} }",
     TESELA_E_INVALID, "give f32[3,1,6]"},
    {"borders beyond all numbers",
     "HloModule m\ns { p = f32[] parameter(0)\n q = f32[] parameter(1)\n ROOT r = f32[] add(p, q) }\nENTRY a "
     "{ x "
     "= f32[3] parameter(0)\n z = f32[] constant(0)\n @y = f32[3] reduce-window(x, z), window={size=3 "
     "pad=9223372036854775807_9223372036854775807}, to_apply=s }",
     TESELA_E_OVERFLOW, "2^62"},
    {"spatial dims that differ in a note",
     "HloModule m\nENTRY a { x = f32[1,1,3] parameter(0)\n w = f32[1,1,1] parameter(1)\n y = f32[1,1,3] "
     "custom-call(x, w), frontend_attributes={tesela=\"conv2d conv.x=0,1,2,3 @conv.w=0,1,2\"} }",
     TESELA_E_SYNTAX, "conv.w"},
    {"a parameter without number", "HloModule m\nENTRY a { @x = f32[] parameter(x) }", TESELA_E_SYNTAX,
     "parameter(number)"},
    {"a number that is none", "HloModule m\nENTRY a { x = f32[] constant(@0q) }", TESELA_E_SYNTAX,
     "0q is not a number"},
    {"too few values", "HloModule m\nENTRY a { x = f32[2,2] constant(@{{1,2},{3}}) }", TESELA_E_INVALID,
     "3 values; its shape has 4"},
    {"shapes that contradict", "HloModule m\nENTRY a { x = f32[2] parameter(0)\n @y = f32[3] negate(x) }",
     TESELA_E_INVALID, "has f32[3], but its operands give f32[2]"},
    {"types that contradict",
     "HloModule m\nENTRY a { x = f32[2] parameter(0)\n @y = s32[1] slice(x), slice={[0:1]} }",
     TESELA_E_INVALID, "has s32[1], but its operands give f32[1]"},
    {"operands that do not fit",
     "HloModule m\nENTRY a { x = f32[2] parameter(0)\n z = f32[3] parameter(1)\n @y = f32[3] add(x, z) }",
     TESELA_E_INVALID, "[3] does not broadcast with [2]"},
    {"a slice beyond",
     "HloModule m\nENTRY a { x = f32[2] parameter(0)\n @y = f32[2] slice(x), slice={[1:3]} }", TESELA_E_RANGE,
     "2 elements from 1"},
    {"too few operands", "HloModule m\nENTRY a { x = f32[2] parameter(0)\n @y = f32[2] add(x) }",
     TESELA_E_INVALID, "1 operands; add expects 2"},
    {"a tuple where an array must be",
     "HloModule m\nENTRY a { x = f32[2] parameter(0)\n t = (f32[2]) tuple(x)\n @y = f32[2] negate(t) }",
     TESELA_E_INVALID, "is a tuple"},
    {"an array where a tuple must be",
     "HloModule m\nENTRY a { x = f32[2] parameter(0)\n @y = f32[2] get-tuple-element(x), index=0 }",
     TESELA_E_INVALID, "not a tuple"},
    {"an element beyond",
     "HloModule m\nENTRY a { x = f32[2] parameter(0)\n t = (f32[2]) tuple(x)\n @y = f32[2] "
     "get-tuple-element(t), index=1 }",
     TESELA_E_INVALID, "element 1 of a tuple of 1"},
    {"an element without index",
     "HloModule m\nENTRY a { x = f32[2] parameter(0)\n t = (f32[2]) tuple(x)\n @y = f32[2] "
     "get-tuple-element(t) }",
     TESELA_E_INVALID, "index=number"},
    {"a call of nothing",
     "HloModule m\nENTRY a { x = f32[2] parameter(0)\n @y = f32[2] fusion(x), kind=kLoop }", TESELA_E_INVALID,
     "nothing"},
    {"a call of what is not there",
     "HloModule m\nENTRY a { x = f32[2] parameter(0)\n @y = f32[2] fusion(x), calls=%f }", TESELA_E_INVALID,
     "%f"},
    {"a call with too few operands",
     "HloModule m\nf { @x = f32[2] parameter(1) }\nENTRY a { x = f32[2] parameter(0)\n y = f32[2] fusion(x), "
     "calls=%f }",
     TESELA_E_INVALID, "the call has 1 operands"},
    {"too many dims", "HloModule m\nENTRY a { @x = f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] parameter(0) }",
     TESELA_E_LIMIT, "rank 17"},
    {"recursion",
     "HloModule m\nf { x = f32[2] parameter(0)\n @y = f32[2] call(x), to_apply=f }\nENTRY a { x = f32[2] "
     "parameter(0)\n y = f32[2] call(x), to_apply=f }",
     TESELA_E_LIMIT, "deeper than 64"},
    {"a note of no class",
     "HloModule m\nENTRY a { x = f32[2] parameter(0), frontend_attributes={tesela=\"@nothing\"} }",
     TESELA_E_SYNTAX, "unknown class"},
    {"a note with a key that is none",
     "HloModule m\nENTRY a { x = f32[2] parameter(0), frontend_attributes={tesela=\"input stick=0 @key=1\"} "
     "}",
     TESELA_E_SYNTAX, "unknown key"},
    {"a note with a value that is none",
     "HloModule m\nENTRY a { x = f32[2] parameter(0), frontend_attributes={tesela=\"input @stick=q\"} }",
     TESELA_E_SYNTAX, "stick"},
    {"a layout that is none",
     "HloModule m\nENTRY a { x = f32[2] parameter(0), frontend_attributes={device_layout=\"@sticks\"} }",
     TESELA_E_SYNTAX, ""},
};

static void refusals_by_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    char *text = strdup(refused[i].text);
    assert_non_null(text);
    char *place = strchr(text, '@');
    int64_t at = place - text;
    memmove(place, place + 1, strlen(place));
    tesela_graph *graph = (tesela_graph *)text;
    tesela_error err = {.message = ""};
    tesela_status status = tesela_graph_read_hlo(&graph, text, strlen(text), NULL, NULL, NULL, &err);
    if (status != refused[i].status || err.status != status || err.at != at ||
        !strstr(err.message, refused[i].words))
      fail_msg("%s: %s at %" PRId64 " (wanted %" PRId64 "): %s", refused[i].name, tesela_status_code(status),
               err.at, at, err.message);
    assert_ptr_equal(graph, text); /* unchanged */
    assert_int_equal(tesela_graph_read_hlo(&graph, text, strlen(text), NULL, NULL, NULL, NULL), status);
    free(text);
  }
}

/* Each computation calls the one before it twice. */
static void calls_that_double_stop_at_a_limit(void **state) {
  (void)state;
  char *text = malloc(8192);
  assert_non_null(text);
  size_t n = (size_t)sprintf(text, "HloModule m\nf0 { ROOT x = f32[] parameter(0) }\n");
  for (int i = 1; i < 40; i++)
    n += (size_t)sprintf(text + n,
                         "f%d { x = f32[] parameter(0)\n y = f32[] call(x), to_apply=f%d\n ROOT z = f32[] "
                         "call(y), to_apply=f%d }\n",
                         i, i - 1, i - 1);
  sprintf(text + n, "ENTRY e { x = f32[] parameter(0)\n ROOT y = f32[] call(x), to_apply=f39 }\n");
  tesela_graph *graph = NULL;
  tesela_error err = {.message = ""};
  assert_int_equal(tesela_graph_read_hlo(&graph, text, strlen(text), NULL, NULL, NULL, &err), TESELA_E_LIMIT);
  assert_non_null(strstr(err.message, "2^20"));
  free(text);
}

/* Tuples of the same tuple, 100 each, with nothing in the innermost: 100^5 places, though no array. */
static void empty_tuples_stop_at_a_limit(void **state) {
  (void)state;
  char *text = malloc(8192);
  assert_non_null(text);
  size_t n = (size_t)sprintf(text, "HloModule m\nENTRY e { t0 = () tuple()\n");
  for (int i = 1; i <= 5; i++) {
    n += (size_t)sprintf(text + n, "t%d = (f32[]) tuple(t%d", i, i - 1);
    for (int k = 1; k < 100; k++) n += (size_t)sprintf(text + n, ",t%d", i - 1);
    n += (size_t)sprintf(text + n, ")\n");
  }
  sprintf(text + n, "ROOT r = f32[4] custom-call(t5), custom_call_target=\"f\" }");
  tesela_graph *graph = NULL;
  tesela_error err = {.message = ""};
  assert_int_equal(tesela_graph_read_hlo(&graph, text, strlen(text), NULL, NULL, NULL, &err), TESELA_E_LIMIT);
  assert_non_null(strstr(err.message, "a tuple has"));
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_by_rows),
      cmocka_unit_test(calls_that_double_stop_at_a_limit),
      cmocka_unit_test(empty_tuples_stop_at_a_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
