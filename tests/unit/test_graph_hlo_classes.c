/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_hlo_classes.c - the classes of windows, groups, collectives and dynamic dims in HLO text, by rows.
 *
 * Expected nodes are what the operations of HLO are defined to compute, written by hand. The numbers are tested by
 * test_graph_hlo_windows, _lookups and _along.
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

#include "support_fault.h"
#include "support_graph_text.h"

/* name, computations before, body of the entry computation, nodes */
typedef struct read_row {
  const char *name, *in_front, *body, *nodes;
} read_row;

#define P "p = f32[2,3]{1,0} parameter(0)\n"
#define NODE_P "p input f32[2,3]\n"
#define SUM "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
#define TOP "top { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(a, b) }\n"

static const read_row rows[] = {
    {"a depthwise convolution", "",
     "x = f32[1,8,9,6] parameter(0)\n w = f32[3,3,1,6] parameter(1)\n"
     " ROOT c = f32[1,6,7,6] convolution(x, w), window={size=3x3}, dim_labels=b01f_01io->b01f, "
     "feature_group_count=6\n",
     "x input f32[1,8,9,6]\nw input f32[3,3,1,6]\nc.w squeeze f32[3,3,6](1) dims 2\n"
     "c conv2d f32[1,6,7,6](0 2) conv 0,-1,1,2 -1,-1,0,1 0,-1,1,2 groups 3,2,3 stride 1,1 dilation 1,1 low "
     "0,0 high 0,0 "
     "out\n"},
    {"a depthwise convolution with two results for each", "",
     "x = f32[1,8,9,3] parameter(0)\n w = f32[3,3,1,6] parameter(1)\n"
     " ROOT c = f32[1,6,7,6] convolution(x, w), window={size=3x3}, dim_labels=b01f_01io->b01f, "
     "feature_group_count=3\n",
     "x input f32[1,8,9,3]\nw input f32[3,3,1,6]\nc.w squeeze f32[3,3,6](1) dims 2\nc.w.groups reshape "
     "f32[3,3,3,2](2)\n"
     "c.conv conv2d f32[1,6,7,3,2](0 3) conv 0,-1,1,2 3,-1,0,1 0,4,1,2 groups 3,2,3 stride 1,1 dilation 1,1 "
     "low 0,0 high "
     "0,0\nc reshape f32[1,6,7,6](4) out\n"},
    {"groups of the batch", "",
     "x = f32[6,4,8] parameter(0)\n w = f32[4,10,3] parameter(1)\n"
     " ROOT c = f32[3,10,6] convolution(x, w), window={size=3}, dim_labels=bf0_io0->bf0, "
     "batch_group_count=2\n",
     "x input f32[6,4,8]\nw input f32[4,10,3]\nc.x reshape f32[2,3,4,8](0)\nc.w reshape f32[4,2,5,3](1)\n"
     "c.conv conv2d f32[3,2,5,6](2 3) conv 1,2,3 2,0,3 0,2,3 groups 0,1,1 stride 1 dilation 1 low 0 high 0\n"
     "c reshape f32[3,10,6](4) out\n"},
    {"a window that runs backwards over x pulled apart", "",
     "x = f32[1,5,2] parameter(0)\n w = f32[3,2,4] parameter(1)\n"
     " ROOT c = f32[1,9,4] convolution(x, w), window={size=3 pad=1_1 lhs_dilate=2 rhs_reversal=1}, "
     "dim_labels=b0f_0io->b0f\n",
     "x input f32[1,5,2]\nw input f32[3,2,4]\nc.reversed slice f32[3,2,4](1) start 2,0,0 step -1,1,1\n"
     "c conv2d f32[1,9,4](0 2) conv 0,2,1 2,1,0 0,2,1 stride 1 dilation 1 x_dilation 2 low 1 high 1 out\n"},
    {"groups that do not divide the channels", "",
     "x = f32[1,8,5] parameter(0)\n w = f32[3,2,6] parameter(1)\n"
     " ROOT c = f32[1,6,6] convolution(x, w), window={size=3}, dim_labels=b0f_0io->b0f, "
     "feature_group_count=2\n",
     "x input f32[1,8,5]\nw input f32[3,2,6]\nc fallback convolution f32[1,6,6](0 1) out\n"},
    {"a size that is said twice", SUM,
     "x = f32[3] parameter(0)\n z = f32[] constant(0)\n"
     " ROOT r = f32[2] reduce-window(x, z), window={size=3 size=2}, to_apply=sum\n",
     "x input f32[3]\nz constant f32[] 0\nr fallback reduce-window f32[2](0 1) out\n"},
    {"an x behind the sizes", SUM,
     "x = f32[3] parameter(0)\n z = f32[] constant(0)\n"
     " ROOT r = f32[1] reduce-window(x, z), window={size=3x}, to_apply=sum\n",
     "x input f32[3]\nz constant f32[] 0\nr fallback reduce-window f32[1](0 1) out\n"},
    {"a window without a size", SUM,
     "x = f32[3] parameter(0)\n z = f32[] constant(0)\n"
     " ROOT r = f32[3] reduce-window(x, z), window={stride=1}, to_apply=sum\n",
     "x input f32[3]\nz constant f32[] 0\nr fallback reduce-window f32[3](0 1) out\n"},
    {"a window that is not that of w", "",
     "x = f32[1,9,4] parameter(0)\n w = f32[3,4,6] parameter(1)\n"
     " ROOT c = f32[1,7,6] convolution(x, w), window={size=2}, dim_labels=b0f_0io->b0f\n",
     "x input f32[1,9,4]\nw input f32[3,4,6]\nc fallback convolution f32[1,7,6](0 1) out\n"},
    {"batches of a lookup that are no numbers", "",
     "x = f32[4,6] parameter(0)\n i = s32[3] parameter(1)\n"
     " ROOT g = f32[3,6] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
     "operand_batching_dims={a}, index_vector_dim=1, slice_sizes={1,6}\n",
     "x input f32[4,6]\ni input s32[3]\ng fallback gather f32[3,6](0 1) out\n"},
    {"a start that is no scalar", "",
     "x = f32[4,6] parameter(0)\n s = s32[] parameter(1)\n v = s32[1] parameter(2)\n"
     " ROOT d = f32[2,3] dynamic-slice(x, s, v), dynamic_slice_sizes={2,3}\n",
     "x input f32[4,6]\ns input s32[]\nv input s32[1]\nd fallback dynamic-slice f32[2,3](0 1 2) out\n"},
    {"four spatial dims", "",
     "x = f32[1,2,3,3,3,3] parameter(0)\n w = f32[1,2,3,3,3,3] parameter(1)\n"
     " ROOT c = f32[1,1,1,1,1,1] convolution(x, w), window={size=3x3x3x3}, "
     "dim_labels=bf0123_oi0123->bf0123\n",
     "x input f32[1,2,3,3,3,3]\nw input f32[1,2,3,3,3,3]\nc fallback convolution f32[1,1,1,1,1,1](0 1) "
     "out\n"},
    {"the greatest of windows", TOP,
     "x = f32[2,8,9] parameter(0)\n l = f32[] constant(-inf)\n"
     " ROOT r = f32[2,4,5] reduce-window(x, l), window={size=1x2x2 stride=1x2x2 pad=0_0x0_0x0_1}, "
     "to_apply=top\n",
     "x input f32[2,8,9]\nr pool max f32[2,4,5](0) length 1,2,2 step 1,2,2 low 0,0,0 high 0,0,1 dilation "
     "1,1,1 x_dilation "
     "1,1,1 out\n"},
    {"the greatest of windows and of another value", TOP,
     "x = f32[8] parameter(0)\n z = f32[] constant(0)\n"
     " ROOT r = f32[4] reduce-window(x, z), window={size=3 stride=2 pad=0_1}, to_apply=top\n",
     "x input f32[8]\nr.fold pool max f32[4](0) length 3 step 2 low 0 high 1 dilation 1 x_dilation 1\nz "
     "constant f32[] 0\n"
     "r pointwise max f32[4](1 2) out\n"},
    {"sums of windows with a border of another value", SUM,
     "x = f32[8] parameter(0)\n z = f32[] constant(1)\n"
     " ROOT r = f32[4] reduce-window(x, z), window={size=3 stride=2 pad=0_1}, to_apply=sum\n",
     "x input f32[8]\nz constant f32[] 1\nr fallback reduce-window f32[4](0 1) out\n"},
    {"sums up to each element, from either end", SUM,
     "x = f32[2,8] parameter(0)\n z = f32[] constant(0)\n"
     " a = f32[2,8] reduce-window(x, z), window={size=1x8 pad=0_0x7_0}, to_apply=sum\n"
     " ROOT b = f32[2,8] reduce-window(a, z), window={size=2x1 pad=0_1x0_0}, to_apply=sum\n",
     "x input f32[2,8]\na along cumsum f32[2,8](0) dims 1\nb along cumsum f32[2,8](1) dims 0 reverse out\n"},
    {"windows along two dims are no cumulative sum", SUM,
     "x = f32[2,2] parameter(0)\n z = f32[] constant(0)\n"
     " ROOT b = f32[2,2] reduce-window(x, z), window={size=2x2 pad=1_0x1_0}, to_apply=sum\n",
     "x input f32[2,2]\nb pool sum f32[2,2](0) length 2,2 step 1,1 low 1,1 high 0,0 dilation 1,1 x_dilation "
     "1,1 out\n"},
    {"the least of integers is found from below, that of floats from above",
     "pick { a = s32[] parameter(0)\n i = s32[] parameter(1)\n b = s32[] parameter(2)\n j = s32[] "
     "parameter(3)\n"
     " l = pred[] compare(a, b), direction=LT\n e = pred[] compare(a, b), direction=EQ\n v = s32[] "
     "minimum(a, b)\n"
     " m = s32[] minimum(i, j)\n w = s32[] select(l, i, j)\n k = s32[] select(e, m, w)\n ROOT t = (s32[], "
     "s32[]) tuple(v, k) }\n",
     "x = s32[4,5] parameter(0)\n i = s32[4,5] iota(), iota_dimension=1\n t = s32[] constant(2147483647)\n"
     " z = s32[] constant(0)\n r = (s32[4], s32[4]) reduce(x, i, t, z), dimensions={1}, to_apply=pick\n"
     " ROOT g = s32[4] get-tuple-element(r), index=1\n",
     "x input s32[4,5]\ni constant s32[4,5] 0 dims 1\nr.value reduce min s32[4](0) dims 1\nr.place along "
     "argsort s32[4,1](0) "
     "dims 1\nr.result squeeze s32[4](3) dims 1 out\n"},
    {"collectives: one node for each result", SUM,
     P "q = f32[5] parameter(1)\n a = (f32[2,3], f32[5]) all-reduce(p, q), replica_groups={}, to_apply=sum\n"
       " g = f32[5] get-tuple-element(a), index=1\n b = f32[5] all-reduce(g), to_apply=sum\n"
       " ROOT c = f32[5] collective-permute(b), source_target_pairs={{0,1}}\n",
     NODE_P "q input f32[5]\na.0 fallback all-reduce f32[2,3](0)\na.1 fallback all-reduce f32[5](1)\n"
            "b fallback all-reduce f32[5](3)\nc fallback collective-permute f32[5](4) out\n"},
    {"a start and its done are one", SUM,
     P "s = f32[2,3] all-reduce-start(p), to_apply=sum\n d = f32[2,3] all-reduce-done(s)\n"
       " t = (f32[2,3], f32[4,3]) all-gather-start(d), dimensions={0}\n e = f32[4,3] all-gather-done(t)\n"
       " u = (f32[4,3], f32[4,3], u32[], u32[]) collective-permute-start(e), source_target_pairs={{0,1}}\n"
       " ROOT f = f32[4,3] collective-permute-done(u)\n",
     NODE_P "s fallback all-reduce f32[2,3](0)\nt.1 fallback all-gather f32[4,3](1)\nu.1 fallback "
            "collective-permute f32[4,3](2) out\n"},
    {"dynamic dims count as long as they may be", SUM,
     "x = f32[<=8,4] parameter(0)\n n = f32[<=8,4] negate(x)\n t = f32[4,<=8] transpose(n), "
     "dimensions={1,0}\n"
     " z = f32[] constant(0)\n r = f32[4] reduce(n, z), dimensions={0}, to_apply=sum\n"
     " ROOT o = (f32[4,<=8], f32[4]) tuple(t, r)\n",
     "x input f32[8,4]\nn pointwise neg f32[8,4](0)\nt permute f32[4,8](1) dims 1,0 out\nz constant f32[] 0\n"
     "r fallback reduce f32[4](1 3) out\n"},
    {"attributes with braces, quotes and comments in them", "",
     P "ROOT n = f32[2,3] negate(p), sharding={devices=[2,1]<=[2]}, frontend_attributes={a=\"{\\\"k\\\": [1, "
       "{}]}\",b={{1,2}}}, "
       "backend_config={\"outer\":{\"inner\":[\"}\",{\"s\":\"a\\\"b\"}]},\"n\":[]}, "
       "control-predecessors={p}, /*index=5*/ "
       "metadata={op_type=\"x\" op_name=\"y\"}\n",
     NODE_P "n pointwise neg f32[2,3](0) out\n"},
    {"halves of wide numbers", "",
     "x = f64[4] parameter(0)\n l = f32[4] custom-call(x), custom_call_target=\"X64SplitLow\"\n"
     " ROOT y = f64[4] custom-call(l, l), custom_call_target=\"X64Combine\"\n",
     "x input f64[4]\nl pointwise fused X64SplitLow f32[4](0)\ny pointwise fused X64Combine f64[4](1 1) "
     "out\n"},
    {"layouts that a call asks for", "",
     P "ROOT k = (f32[2,3]{1,0}, s32[]) custom-call(p), custom_call_target=\"f\", "
       "operand_layout_constraints={f32[2,3]{1,0}}, "
       "api_version=API_VERSION_TYPED_FFI, output_to_operand_aliasing={{0}: (0, {})}\n",
     NODE_P "k fallback f token[](0) out\n"},
};

static void modules_by_rows(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    char text[4096], have[8192];
    tesela_graph *graph;
    tesela_error err = {.message = ""};
    snprintf(text, sizeof text, "HloModule m\n\n%s\nENTRY main {\n %s}\n", rows[r].in_front, rows[r].body);
    if (tesela_graph_read_hlo(&graph, text, strlen(text), NULL, NULL, NULL, &err) != TESELA_OK)
      fail_msg("%s: %s at '%.40s'", rows[r].name, err.message, err.at >= 0 ? text + err.at : "");
    graph_describe(graph, have, sizeof have);
    if (strcmp(have, rows[r].nodes) != 0) fail_msg("%s:\n%s\nwanted\n%s", rows[r].name, have, rows[r].nodes);
    graph_round_trip(graph, rows[r].name);
    tesela_graph_destroy(graph);
  }
}

/* Any part of a text is read or refused, and no failure of an allocation harms. */
static void every_allocation_may_fail(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    char text[4096];
    snprintf(text, sizeof text, "HloModule m\n\n%s\nENTRY main {\n %s}\n", rows[r].in_front, rows[r].body);
    for (int64_t n = 0;; n++) {
      fault f = {.countdown = n};
      tesela_allocator allocator = fault_allocator(&f);
      tesela_graph *graph = NULL;
      tesela_error err = {.message = ""};
      tesela_status status = tesela_graph_read_hlo(&graph, text, strlen(text), NULL, &allocator, NULL, &err);
      if (status == TESELA_OK) {
        tesela_graph_destroy(graph);
        assert_int_equal(f.live, 0);
        break;
      }
      if (status != TESELA_E_MEMORY) fail_msg("%s, allocation %" PRId64 ": %s", rows[r].name, n, err.message);
      assert_null(graph);
      assert_int_equal(f.live, 0);
    }
  }
}

static void parts_are_read_or_refused(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    char text[4096];
    snprintf(text, sizeof text, "HloModule m\n\n%s\nENTRY main {\n %s}\n", rows[r].in_front, rows[r].body);
    for (size_t cut = 0; cut < strlen(text); cut++) { /* one byte left out */
      char part[4096];
      memcpy(part, text, cut);
      strcpy(part + cut, text + cut + 1);
      tesela_graph *graph = NULL;
      if (tesela_graph_read_hlo(&graph, part, strlen(part), NULL, NULL, NULL, NULL) == TESELA_OK)
        tesela_graph_destroy(graph);
      else
        assert_null(graph);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(modules_by_rows),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(parts_are_read_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
