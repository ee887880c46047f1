/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_hlo.c - programs read from HLO text: small modules by rows, each cut anywhere and with failing
 * allocations.
 *
 * Expected nodes are what the operations of HLO are defined to compute, written by hand.
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

/* name, body of the entry computation (and what stands before it), nodes as `name class fn dtype[shape](operands) ...` */
typedef struct read_row {
  const char *name, *in_front, *body, *nodes;
} read_row;

#define P "p = f32[2,3]{1,0} parameter(0)\n"
#define NODE_P "p input f32[2,3]\n"
static const char sum_region[] =
    "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n";
static const char max_region[] =
    "top { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(b, a) }\n";
static const char set_region[] = "set { a = f32[] parameter(0)\n ROOT b = f32[] parameter(1) }\n";
static const char odd_region[] = "odd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] add(a, "
                                 "b)\n ROOT d = f32[] add(c, b) }\n";
static const char wide_region[] =
    "sum { a = bf16[] parameter(0)\n c = f32[] convert(a)\n b = bf16[] parameter(1)\n d = f32[] convert(b)\n"
    " e = f32[] add(c, d)\n ROOT f = bf16[] convert(e) }\n";

static const read_row rows[] = {
    {"the example of the header", "", "x = f32[4]{0} parameter(0)\n ROOT y = f32[4]{0} negate(x)\n",
     "x input f32[4]\ny pointwise neg f32[4](0) out\n"},
    {"with percent signs, shapes of operands, comments and metadata", "",
     "%x = f32[4]{0:T(128)} parameter(0), metadata={op_name=\"a \\\"b\\\" {\"}\n"
     " ROOT %y = f32[4]{0} add(f32[4]{0} %x, /*index=1*/f32[4]{0} %x), backend_config={\"k\":[\"}\"]} // "
     "end\n",
     "x input f32[4]\ny pointwise add f32[4](0 0) out\n"},
    {"several outputs", "",
     P "q = f32[2,3]{1,0} exponential(p)\n ROOT t = (f32[2,3]{1,0}, f32[2,3]{1,0}) tuple(p, q)\n",
     "p input f32[2,3] out\nq pointwise exp f32[2,3](0) out\n"},
    {"through tuples", "",
     P "t = (f32[2,3], (f32[2,3])) tuple(p, p)\n g = f32[2,3] get-tuple-element(t), index=1\n"
       " b = (f32[2,3], f32[2,3]) opt-barrier(t)\n h = f32[2,3] get-tuple-element(b), index=0\n ROOT r = "
       "f32[2,3] add(g, h)\n",
     NODE_P "r pointwise add f32[2,3](0 0) out\n"},
    {"parameters in another order", "",
     "b = f32[2] parameter(1)\n c = f32[2] negate(b)\n a = f32[3] parameter(0)\n ROOT d = f32[2] add(b, c)\n",
     "a input f32[3]\nb input f32[2]\nc pointwise neg f32[2](1)\nd pointwise add f32[2](1 2) out\n"},
    {"a tuple that is given", "",
     "t = (f32[2], (s32[], f32[3])) parameter(0)\n a = f32[2] get-tuple-element(t), index=0\n"
     " u = (s32[], f32[3]) get-tuple-element(t), index=1\n ROOT n = s32[] get-tuple-element(u), index=0\n",
     "a input f32[2]\nn input s32[] out\n"},
    {"a fusion is walked, its root has its name",
     "f { x = f32[2,3] parameter(0)\n y = f32[2,3] negate(x)\n ROOT z = f32[2,3] exponential(y) }\n",
     P "ROOT g = f32[2,3] fusion(p), kind=kLoop, calls=%f\n",
     NODE_P "g.y pointwise neg f32[2,3](0)\ng pointwise exp f32[2,3](1) out\n"},
    {"a call twice, with a tuple as its result",
     "f (x: f32[2,3]) -> (f32[2,3], f32[2,3]) { x = f32[2,3] parameter(0)\n y = f32[2,3] negate(x)\n ROOT z "
     "= (f32[2,3], f32[2,3]) tuple(x, y) }\n",
     P "c = (f32[2,3], f32[2,3]) call(p), to_apply=f\n g = f32[2,3] get-tuple-element(c), index=1\n"
       " d = (f32[2,3], f32[2,3]) call(g), to_apply=f\n ROOT h = f32[2,3] get-tuple-element(d), index=1\n",
     NODE_P "c.y pointwise neg f32[2,3](0)\nd.y pointwise neg f32[2,3](1) out\n"},
    {"a call of a call",
     "f { x = f32[2,3] parameter(0)\n y = f32[2,3] negate(x)\n ROOT z = f32[2,3] abs(y) }\n"
     "g { x = f32[2,3] parameter(0)\n w = f32[2,3] fusion(x), calls=f\n ROOT v = f32[2,3] fusion(w), calls=f "
     "}\n",
     P "ROOT o = f32[2,3] fusion(p), calls=g\n",
     NODE_P "o.w.y pointwise neg f32[2,3](0)\no.w pointwise abs f32[2,3](1)\no.y pointwise neg "
            "f32[2,3](2)\no pointwise abs f32[2,3](3) out\n"},
    {"copies that run beside", "",
     P
     "s = (f32[2,3]{1,0}, f32[2,3]{1,0:S(1)}, u32[]{:S(2)}) copy-start(p)\n ROOT d = f32[2,3] copy-done(s)\n",
     NODE_P "s pointwise copy f32[2,3](0) out\n"},
    {"a constant where it is used as a tensor", "",
     "c = f32[] constant(1.5)\n b = f32[2,3] broadcast(c), dimensions={}\n" P "ROOT a = f32[2,3] add(p, b)\n",
     "c constant f32[] 1.5\nb expand f32[2,3](0)\np input f32[2,3]\na pointwise add f32[2,3](2 1) out\n"},
    {"constants of equal elements, of others, and left out", "",
     "a = f32[2,2] constant({ { 1e-1, 0.1 }, {.1, 0.1} })\n b = s32[3] constant({1,2,3})\n c = f32[9] "
     "constant({...})\n"
     " d = pred[] constant(true)\n e = f32[0] constant({})\n f = f32[] constant(-inf)\n g = c64[] "
     "constant((1,2))\n ROOT h = f32[] constant(nan)\n",
     "a constant f32[2,2] 0.1\nb fallback constant s32[3]()\nc fallback constant f32[9]()\nd constant pred[] "
     "1\n"
     "e constant f32[0] 0\nf constant f32[] -inf\ng fallback constant c64[]()\nh constant f32[] nan out\n"},
    {"iota", "", "ROOT i = s32[2,3] iota(), iota_dimension=1\n", "i constant s32[2,3] 0 dims 1 out\n"},
    {"compare, select, clamp, convert", "",
     P "c = pred[2,3] compare(p, p), direction=GE\n s = f32[2,3] select(c, p, p)\n v = bf16[2,3] convert(s)\n"
       " l = bf16[] constant(0)\n h = bf16[] constant(6)\n ROOT k = bf16[2,3] clamp(l, v, h)\n",
     NODE_P
     "c pointwise ge pred[2,3](0 0)\ns pointwise select f32[2,3](1 0 0)\nv pointwise copy bf16[2,3](2)\n"
     "l constant bf16[] 0\nh constant bf16[] 6\nk pointwise clamp bf16[2,3](4 3 5) out\n"},
    {"what HLO computes element by element and no function here does", "",
     P "ROOT t = f32[2,3] reduce-precision(p), exponent_bits=5, mantissa_bits=10\n",
     NODE_P "t pointwise fused reduce-precision f32[2,3](0) out\n"},
    {"a bitcast-convert of another width", "", P "ROOT t = u16[2,3,2] bitcast-convert(p)\n",
     NODE_P "t fallback bitcast-convert u16[2,3,2](0) out\n"},
    {"views", "",
     P "t = f32[3,2] transpose(p), dimensions={1,0}\n r = f32[6] reshape(p)\n s = f32[2,1] slice(p), "
       "slice={[0:2], [1:3:2]}\n"
       " b = f32[5,2,3] broadcast(p), dimensions={1,2}\n ROOT v = f32[2,3] reverse(p), dimensions={1}\n",
     NODE_P "t permute f32[3,2](0) dims 1,0\nr reshape f32[6](0)\ns slice f32[2,1](0) start 0,1 step 1,2\n"
            "b expand f32[5,2,3](0) dims 1,2\nv slice f32[2,3](0) start 0,2 step 1,-1 out\n"},
    {"a reshape that needs a copy", "",
     P "t = f32[3,2] transpose(p), dimensions={1,0}\n ROOT r = f32[6] reshape(t)\n",
     NODE_P "t permute f32[3,2](0) dims 1,0\nr.clone clone f32[3,2](1)\nr reshape f32[6](2) out\n"},
    {"bitcasts: reshape, transpose, both", "",
     P
     "r = f32[3,2]{1,0} bitcast(p)\n t = f32[3,2]{0,1} bitcast(p)\n ROOT c = f32[2,1,3]{0,1,2} bitcast(r)\n",
     NODE_P "r reshape f32[3,2](0)\nt permute f32[3,2](0) dims 1,0\nc.shape reshape f32[3,1,2](1)\nc permute "
            "f32[2,1,3](3) dims 2,1,0 out\n"},
    {"a bitcast that mixes tiles", "",
     "p = f32[16,256]{1,0:T(8,128)} parameter(0)\n ROOT b = f32[4096]{0} bitcast(p)\n",
     "p input f32[16,256]\nb fallback bitcast f32[4096](0) out\n"},
    {"concatenate and pad", "",
     P "z = f32[] constant(0)\n c = f32[2,6] concatenate(p, p), dimensions={1}\n ROOT d = f32[3,9] pad(p, "
       "z), padding=1_0x0_2_2\n",
     NODE_P "c cat f32[2,6](0 0) dims 1\nd pad f32[3,9](0) step 1,3 low 1,0 high 0,2 out\n"},
    {"pad with what is not known", "",
     P "z = f32[] parameter(1)\n ROOT d = f32[3,3] pad(p, z), padding=1_0x0_0\n",
     NODE_P "z input f32[]\nd.value expand f32[3,3](1)\nd write f32[3,3](2 0) start 1,0 step 1,1 out\n"},
    {"slices from places that are known, moved so that they fit", "",
     P "a = s32[] constant(1)\n b = s32[] constant(9)\n s = f32[1,2] dynamic-slice(p, a, b), "
       "dynamic_slice_sizes={1,2}\n"
       " ROOT u = f32[2,3] dynamic-update-slice(p, s, a, a)\n",
     NODE_P "s slice f32[1,2](0) start 1,1 step 1,1\nu write f32[2,3](0 1) start 1,1 step 1,1 out\n"},
    {"slices from places that are not", "",
     P "a = s32[] parameter(1)\n ROOT s = f32[1,3] dynamic-slice(p, a, a), dynamic_slice_sizes={1,3}\n",
     NODE_P "a input s32[]\ns.number constant s32[] 0\nconstant.3 constant s32[] 1\ns.clamp pointwise clamp "
            "s32[](2 1 3)\ns.each expand s32[1](4)\ns gather f32[1,3](0 5) dims 0 out\n"},
    {"a sum", sum_region,
     P "z = f32[] constant(0)\n ROOT r = f32[2] reduce(p, z), dimensions={1}, to_apply=%sum\n",
     NODE_P "r reduce sum f32[2](0) dims 1 out\n"},
    {"a sum from 1", sum_region,
     P "z = f32[] constant(1)\n ROOT r = f32[2] reduce(p, z), dimensions={1}, to_apply=%sum\n",
     NODE_P "r.fold reduce sum f32[2](0) dims 1\nz constant f32[] 1\nr pointwise add f32[2](1 2) out\n"},
    {"a sum from what is given", sum_region,
     P "z = f32[] parameter(1)\n ROOT r = f32[] reduce(p, z), dimensions={0,1}, to_apply=%sum\n",
     NODE_P "z input f32[]\nr.fold reduce sum f32[](0) dims 0,1\nr pointwise add f32[](2 1) out\n"},
    {"a maximum", max_region,
     P "z = f32[] constant(-inf)\n ROOT r = f32[3] reduce(p, z), dimensions={0}, to_apply=top\n",
     NODE_P "r reduce max f32[3](0) dims 0 out\n"},
    {"a fold of narrow numbers in wide ones", wide_region,
     "p = bf16[2,3] parameter(0)\n z = bf16[] constant(0)\n ROOT r = bf16[3] reduce(p, z), dimensions={0}, "
     "to_apply=sum\n",
     "p input bf16[2,3]\nr reduce sum bf16[3](0) dims 0 out\n"},
    {"a fold with something else", odd_region,
     P "z = f32[] constant(0)\n ROOT r = f32[3] reduce(p, z), dimensions={0}, to_apply=odd\n",
     NODE_P "r.fold along fused reduce f32[1,3](0) dims 0\nr squeeze f32[3](1) dims 0 out\n"},
    {"a fold of two dims with something else", odd_region,
     P "z = f32[] constant(0)\n ROOT r = f32[] reduce(p, z), dimensions={0,1}, to_apply=odd\n",
     NODE_P "z constant f32[] 0\nr fallback reduce f32[](0 1) out\n"},
    {"a fold of two tensors", odd_region,
     P "z = f32[] constant(0)\n r = (f32[3], f32[3]) reduce(p, p, z, z), dimensions={0}, to_apply=odd\n"
       " ROOT g = f32[3] get-tuple-element(r), index=1\n",
     NODE_P
     "r.fold along fused reduce f32[1,3](0 0) dims 0\nr.result squeeze f32[3](1) dims 0\nfused.3 along fused "
     "reduce f32[1,3](0 0) dims 0\nsqueeze.4 squeeze f32[3](3) dims 0 out\n"},
    {"dot", "",
     P "q = f32[4,3] parameter(1)\n ROOT d = f32[2,4] dot(p, q), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={1}\n",
     NODE_P "q input f32[4,3]\nd matmul f32[2,4](0 1) x 0,2 y 1,2 out\n"},
    {"dot with batches", "",
     "a = f32[7,2,3] parameter(0)\n b = f32[3,5,7] parameter(1)\n"
     " ROOT d = f32[7,2,5] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={2}, "
     "rhs_contracting_dims={0}\n",
     "a input f32[7,2,3]\nb input f32[3,5,7]\nd matmul f32[7,2,5](0 1) x 0,1,3 y 3,2,0 out\n"},
    {"an outer product", "",
     "a = f32[2] parameter(0)\n b = f32[5] parameter(1)\n ROOT d = f32[2,5] dot(a, b), "
     "lhs_contracting_dims={}, rhs_contracting_dims={}\n",
     "a input f32[2]\nb input f32[5]\nd matmul f32[2,5](0 1) x 0 y 1 out\n"},
    {"convolution", "",
     "x = f32[1,8,9,4] parameter(0)\n w = f32[3,3,4,6] parameter(1)\n"
     " ROOT c = f32[1,4,9,6] convolution(x, w), window={size=3x3 stride=2x1 pad=1_0x1_1}, "
     "dim_labels=b01f_01io->b01f\n",
     "x input f32[1,8,9,4]\nw input f32[3,3,4,6]\nc conv2d f32[1,4,9,6](0 1) conv 0,3,1,2 3,2,0,1 0,3,1,2 "
     "stride 2,1 dilation 1,1 low 1,1 high 0,1 out\n"},
    {"convolution along one dim", "",
     "x = f32[1,8,4] parameter(0)\n w = f32[3,4,6] parameter(1)\n"
     " ROOT c = f32[1,4,6] convolution(x, w), window={size=3 rhs_dilate=2}, dim_labels=b0f_0io->b0f\n",
     "x input f32[1,8,4]\nw input f32[3,4,6]\nc conv2d f32[1,4,6](0 1) conv 0,2,1 2,1,0 0,2,1 stride 1 "
     "dilation 2 low 0 "
     "high 0 out\n"},
    {"convolution without windows", "",
     P "q = f32[4,3] parameter(1)\n ROOT c = f32[4,2] convolution(p, q), dim_labels=bf_oi->fb\n",
     NODE_P "q input f32[4,3]\nc matmul f32[4,2](0 1) x 1,2 y 0,2 out\n"},
    {"convolution in groups", "",
     "x = f32[1,8,9,4] parameter(0)\n w = f32[3,3,2,6] parameter(1)\n"
     " ROOT c = f32[1,6,7,6] convolution(x, w), window={size=3x3}, dim_labels=b01f_01io->b01f, "
     "feature_group_count=2\n",
     "x input f32[1,8,9,4]\nw input f32[3,3,2,6]\nc.x reshape f32[1,8,9,2,2](0)\nc.w reshape "
     "f32[3,3,2,2,3](1)\n"
     "c.conv conv2d f32[1,6,7,2,3](2 3) conv 0,4,1,2 4,2,0,1 0,4,1,2 groups 3,3,3 stride 1,1 dilation 1,1 "
     "low 0,0 "
     "high 0,0\nc reshape f32[1,6,7,6](4) out\n"},
    {"gather of rows", "",
     "e = f32[100,8] parameter(0)\n i = s32[5,1] parameter(1)\n"
     " ROOT g = f32[5,8] gather(e, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=1, slice_sizes={1,8}\n",
     "e input f32[100,8]\ni input s32[5,1]\ng.indices squeeze s32[5](1) dims 1\ng gather f32[5,8](0 2) dims "
     "0 out\n"},
    {"gather, the dim stays and the indices come last", "",
     "e = f32[4,100,8] parameter(0)\n i = s32[5,6] parameter(1)\n"
     " ROOT g = f32[4,1,8,5,6] gather(e, i), offset_dims={0,1,2}, start_index_map={1}, index_vector_dim=2, "
     "slice_sizes={4,1,8}\n",
     "e input f32[4,100,8]\ni input s32[5,6]\ng.rows gather f32[4,5,6,8](0 1) dims 1\ng.kept unsqueeze "
     "f32[4,5,6,1,8](2) dims 3\n"
     "g permute f32[4,1,8,5,6](3) dims 0,3,4,1,2 out\n"},
    {"gather, one index dim behind all others", "",
     "e = f32[4,100,8] parameter(0)\n i = s32[5] parameter(1)\n"
     " ROOT g = f32[4,1,8,5] gather(e, i), offset_dims={0,1,2}, start_index_map={1}, index_vector_dim=1, "
     "slice_sizes={4,1,8}\n",
     "e input f32[4,100,8]\ni input s32[5]\ng.rows gather f32[4,5,8](0 1) dims 1\ng.kept unsqueeze "
     "f32[4,5,1,8](2) dims 2\n"
     "g permute f32[4,1,8,5](3) dims 0,2,3,1 out\n"},
    {"gather of parts of rows", "",
     "e = f32[100,8] parameter(0)\n i = s32[5,1] parameter(1)\n"
     " ROOT g = f32[5,4] gather(e, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=1, slice_sizes={1,4}\n",
     "e input f32[100,8]\ni input s32[5,1]\ng.part slice f32[100,4](0) start 0,0 step 1,1\ng.component slice "
     "s32[5,1](1) start 0,0 step 1,1\ng.index squeeze s32[5](3) dims 1\ng.number constant s32[] "
     "0\nconstant.6 "
     "constant s32[] 99\ng.clamp pointwise clamp s32[5](5 4 6)\ng gather f32[5,4](2 7) dims 0 out\n"},
    {"scatter that adds rows", sum_region,
     "e = f32[100,8] parameter(0)\n i = s32[5,1] parameter(1)\n u = f32[5,1,8] parameter(2)\n"
     " ROOT s = f32[100,8] scatter(e, i, u), update_window_dims={1,2}, inserted_window_dims={}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum\n",
     "e input f32[100,8]\ni input s32[5,1]\nu input f32[5,1,8]\ns.indices squeeze s32[5](1) dims 1\ns.rows "
     "squeeze f32[5,8](2) dims 1\n"
     "s scatter add f32[100,8](0 3 4) dims 0 out\n"},
    {"scatter that sets columns", set_region,
     "e = f32[8,100] parameter(0)\n i = s32[5] parameter(1)\n u = f32[5,8] parameter(2)\n"
     " ROOT s = f32[8,100] scatter(e, i, u), update_window_dims={1}, inserted_window_dims={1}, "
     "scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=set\n",
     "e input f32[8,100]\ni input s32[5]\nu input f32[5,8]\ns.values permute f32[8,5](2) dims 1,0\ns scatter "
     "f32[8,100](0 1 3) dims 1 out\n"},
    {"loops and calls to elsewhere", "c { x = f32[] parameter(0) }\n",
     P "t = (f32[2,3], f32[2,3]) tuple(p, p)\n w = (f32[2,3], f32[2,3]) while(t), condition=c, body=c\n"
       " g = f32[2,3] get-tuple-element(w), index=0\n ROOT k = f32[2,3] custom-call(g, w), "
       "custom_call_target=\"my call\"\n",
     NODE_P "w fallback while token[](0 0)\ng fallback get-tuple-element f32[2,3](1)\nk fallback my call "
            "f32[2,3](2 1) out\n"},
    {"a broadcast that converts", "",
     "p = bf16[3] parameter(0)\n ROOT b = f32[2,3] broadcast(p), dimensions={1}\n",
     "p input bf16[3]\nb expand bf16[2,3](0) dims 1\nb.convert pointwise copy f32[2,3](1) out\n"},
    {"a token", "", P "a = token[] after-all()\n ROOT d = f32[2,3] add-dependency(p, a)\n",
     "p input f32[2,3] out\na fallback after-all token[]()\n"},
};

static char *module_of(const read_row *row) {
  size_t n = strlen(row->in_front) + strlen(row->body) + 100;
  char *text = malloc(n);
  assert_non_null(text);
  snprintf(text, n, "HloModule m, is_scheduled=true\n\n%s\nENTRY main {\n %s}\n", row->in_front, row->body);
  return text;
}

static void modules_by_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char *text = module_of(&rows[i]), have[4096];
    tesela_graph *graph = NULL;
    tesela_error err = {.message = ""};
    if (tesela_graph_read_hlo(&graph, text, strlen(text), NULL, NULL, NULL, &err) != TESELA_OK)
      fail_msg("%s: %s at '%.40s'", rows[i].name, err.message, err.at >= 0 ? text + err.at : "");
    graph_describe(graph, have, sizeof have);
    if (strcmp(have, rows[i].nodes) != 0) fail_msg("%s:\n%s\nwanted\n%s", rows[i].name, have, rows[i].nodes);
    tesela_graph_destroy(graph);
    free(text);
  }
}

static bool has_entry(const char *text, size_t n) {
  for (size_t i = 0; i + 5 <= n; i++)
    if (memcmp(text + i, "ENTRY", 5) == 0) return true;
  return false;
}

static void any_part_of_a_module_is_read_or_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char *text = module_of(&rows[i]);
    for (size_t n = 0; n < strlen(text); n++) {
      tesela_graph *graph = NULL;
      tesela_error err = {.message = ""};
      char *part = malloc(n + 1);
      assert_non_null(part);
      memcpy(part, text, n);
      tesela_status status = tesela_graph_read_hlo(&graph, part, n, NULL, NULL, NULL, &err);
      if (status != TESELA_OK && (err.at < 0 || err.at > (int64_t)n))
        fail_msg("%s: at %" PRId64, rows[i].name, err.at);
      bool part_is_a_module = rows[i].in_front[0] != '\0' && !has_entry(part, n);
      if (status == TESELA_OK && n + 2 < strlen(text) && !part_is_a_module)
        fail_msg("%s: read without its end", rows[i].name);
      tesela_graph_destroy(graph);
      free(part);
    }
    free(text);
  }
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  const read_row *some[] = {&rows[1], &rows[8], &rows[23], &rows[30]};
  for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
    char *text = module_of(some[i]);
    for (int64_t n = 0;; n++) {
      fault f = {.countdown = n};
      tesela_allocator alloc = fault_allocator(&f);
      tesela_graph *graph = NULL;
      tesela_status status = tesela_graph_read_hlo(&graph, text, strlen(text), NULL, &alloc, NULL, NULL);
      tesela_graph_destroy(graph);
      assert_int_equal(f.live, 0);
      if (status == TESELA_OK) break;
      assert_int_equal(status, TESELA_E_MEMORY);
      assert_null(graph);
    }
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(modules_by_rows),
      cmocka_unit_test(any_part_of_a_module_is_read_or_refused),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
