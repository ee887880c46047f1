/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_infer.c - the layouts that a kernel gets, worked out by hand from the rules of access.h.
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

#include "support_infer.h"

/* Fragments, by their definition: C is row g + 8*(i/2), column 2t + i%2, and so on. */
#define A16 "column_local(2, 2).spatial(8, 4).local(1, 2)"
#define B16 "local(2, 1).column_spatial(4, 8).local(2, 1)"
#define C16 "local(2, 1).spatial(8, 4).local(1, 2)"

#define MATMUL                  \
  "threads 128\n"               \
  "global ga: f16[64, 32]\n"    \
  "shared sa: f16[64, 32]\n"    \
  "shared sb: f16[32, 64]\n"    \
  "register ta: f16[64, 32]\n"  \
  "register ra: f16[64, 32]\n"  \
  "register rb: f16[32, 64]\n"  \
  "register acc: f32[64, 64]\n" \
  "load ta, ga\n"               \
  "store sa, ta\n"              \
  "load ra, sa\n"               \
  "load rb, sb\n"               \
  "dot acc, ra, rb, acc"

#define SOFTMAX                          \
  "threads 128\n"                        \
  "global gx: f32[32, 256]\n"            \
  "global gg: f32[256]\n"                \
  "register x: f32[32, 256]\n"           \
  "register g: f32[256]\n"               \
  "register m: f32[32, 1]\n"             \
  "register e: f32[32, 256]\n"           \
  "register s: f32[32]\n"                \
  "register s1: f32[32, 1]\n"            \
  "register y: f32[32, 256]\n"           \
  "load g, gg\n"                         \
  "load x, gx\n"                         \
  "reduce m, x dims=[1] keepdims=True\n" \
  "elementwise e, x, m\n"                \
  "reduce s, e dims=[-1]\n"              \
  "unsqueeze s1, s dims=[1]\n"           \
  "elementwise y, e, s1, g\n"

#define ROW_SUM               \
  "threads 128\n"             \
  "global x: f32[64, 64]\n"   \
  "global r: f32[64]\n"       \
  "register a: f32[64, 64]\n" \
  "register b: f32[64, 64]\n" \
  "register c: f32[64]\n"     \
  "load a, x\n"               \
  "convert b, a\n"            \
  "reduce c, b dims=[1]\n"    \
  "store r, c\n"

static const struct {
  const char *name, *text, *tensor, *layout;
} rows[] = {
    /* 2048 elements, 16 a thread, 8 in a vector: [64,4] vectors, 4 threads along a row, 32 rows at once, twice */
    {"a load has vectors of 16 bytes", MATMUL, "ta", "local(2, 1).spatial(32, 4).local(1, 8)"},
    /* 4 x 8 tiles; (2,2) warps need 2*8 + 4*4 = 32 registers, (4,1) 8 + 32, (1,4) 32 + 8 */
    {"warps are a grid with few registers", MATMUL, "acc", "spatial(2, 2).local(2, 4) * " C16},
    {"warps as written", MATMUL " warps=[4, 1]", "acc", "spatial(4, 1).local(1, 8) * " C16},
    {"A is shared by the warps of a row", MATMUL, "ra",
     "reduce(spatial(2, 1, 2, ranks=[1, 0, 2]), dims=[2]).local(2, 2) * " A16},
    {"B is shared by the warps of a column", MATMUL, "rb",
     "reduce(spatial(2, 1, 2), dims=[0]).local(1, 4).local(2, 1) * " B16},
    /* 2 x 6 tiles of tf32: A 4 registers, B 2: (1,2) needs 8 + 6, (2,1) 4 + 12 */
    /* 2 x 4 tiles: (2,1) needs 8 + 16, (1,2) 16 + 8 */
    {"of two grids the one with more rows",
     "threads 64\nregister a: f16[32, 16]\nregister b: f16[16, 32]\nregister c: f32[32, 32]\ndot c, a, b\n",
     "c", "spatial(2, 1).local(1, 4) * " C16},
    {"other types, other atoms",
     "threads 64\nregister a: f32[32, 24]\nregister b: f32[24, 48]\nregister c: f32[32, 48]\ndot c, a, b\n",
     "c", "spatial(1, 2).local(2, 3) * " C16},
    {"tf32 operands",
     "threads 64\nregister a: f32[32, 24]\nregister b: f32[24, 48]\nregister c: f32[32, 48]\ndot c, a, b\n",
     "a", "replicated(1, 1, num_workers=2).local(2, 1).local(1, 3).column_local(2, 2).spatial(8, 4)"},
    {"warps beyond the tiles hold copies",
     "threads 96\nregister a: f16[16, 16]\nregister b: f16[16, 16]\nregister c: f32[16, 16]\ndot c, a, b\n",
     "c", "replicated(1, 1, num_workers=3).local(1, 2) * " C16},
    {"a product of 64 lanes",
     "threads 256\nregister a: f16[64, 16]\nregister b: f16[16, 64]\nregister c: f32[64, 64]\n"
     "dot c, a, b atom=mfma.f32_32x32x8_f16 warps=[2, 2]\n",
     "c", "spatial(2, 2) * mfma.f32_32x32x8_f16.C"},
    {"an accumulator decides",
     "threads 64\nregister a: f16[32, 16]\nregister b: f16[16, 16]\nregister d: f32[32, 16]\n"
     "register c: f32[32, 16] = column_spatial(2, 1).local(1, 2) * " C16 "\ndot d, a, b, c\n",
     "d", "spatial(2, 1).local(1, 2) * " C16},
    {"a result decides on its accumulator",
     "threads 64\nregister a: f16[32, 16]\nregister b: f16[16, 16]\nregister c: f32[32, 16]\n"
     "register d: f32[32, 16] = spatial(1, 2).local(2, 1) * " C16 "\ndot d, a, b, c\n",
     "c", "spatial(1, 2).local(2, 1) * " C16},
    {"A decides: warps that share rows take columns",
     "threads 128\nregister a: f16[32, 32] = reduce(spatial(2, 2), dims=[1], keepdims=True).local(1, 2) "
     "* " A16 "\n"
     "register b: f16[32, 32]\nregister d: f32[32, 32]\ndot d, a, b\n",
     "d", "spatial(2, 2).local(1, 2) * " C16},
    {"A decides: more warps than columns",
     "threads 128\nregister a: f16[16, 16] = replicated(1, 1, num_workers=4) * " A16 "\n"
     "register b: f16[16, 24]\nregister d: f32[16, 24]\ndot d, a, b\n",
     "d", "replicated(1, 1, num_workers=4).local(1, 3) * " C16},
    {"B decides: warps that share columns take rows",
     "threads 128\nregister a: f16[64, 16]\n"
     "register b: f16[16, 32] = reduce(spatial(2, 2), dims=[0], keepdims=True).local(1, 2) * " B16 "\n"
     "register d: f32[64, 32]\ndot d, a, b\n",
     "d", "spatial(2, 2).local(2, 2) * " C16},
    {"B decides where A alone would not fit it",
     "threads 128\nregister a: f16[32, 16] = replicated(1, 1, num_workers=4).local(2, 1) * " A16 "\n"
     "register b: f16[16, 32] = reduce(spatial(2, 2), dims=[0], keepdims=True).local(1, 2) * " B16 "\n"
     "register d: f32[32, 32]\ndot d, a, b\n",
     "d", "spatial(2, 2).local(1, 2) * " C16},
    {"the result of a product is an operand of the next",
     "threads 128\nregister q: f16[64, 32]\nregister k: f16[32, 64]\nregister v: f16[64, 32]\n"
     "register s: f32[64, 64]\nregister p: f16[64, 64]\nregister o: f32[64, 32]\n"
     "dot s, q, k warps=[4, 1]\ncast p, s\ndot o, p, v\n",
     "o", "spatial(4, 1).local(1, 4) * " C16},

    {"rows and columns are reduced where they are", SOFTMAX, "s",
     "reduce(local(16, 1).spatial(2, 64).local(1, 4), dims=[1])"},
    {"what is loaded first but is smaller follows", SOFTMAX, "g",
     "reduce(local(16, 1).spatial(2, 64).local(1, 4), dims=[0])"},
    {"a broadcast result follows its operand of full shape", SOFTMAX, "y",
     "local(16, 1).spatial(2, 64).local(1, 4)"},
    {"a replicated operand waits for the product",
     "threads 32\nregister a: f16[16, 16]\nregister b: f16[16, 8]\nregister c: f32[16, 8]\n"
     "register bias: f32[16, 8] = replicated(16, 8, num_workers=32)\nregister z: f32[16, 8]\n"
     "elementwise z, bias, c\ndot c, a, b\n",
     "z", C16},
    {"of two operands the one without copies",
     "threads 8\nregister x: f32[8] = replicated(8, num_workers=8)\nregister y: f32[8] = spatial(8)\n"
     "register z: f32[8]\nelementwise z, x, y\n",
     "z", "spatial(8)"},
    {"an operand without leading ones",
     "threads 8\nregister x: f32[8] = spatial(8)\nregister z: f32[1, 8]\nelementwise z, x\n", "z",
     "spatial(1, 8)"},
    {"operands from the result",
     "threads 8\nregister x: f32[4, 1]\nregister z: f32[4, 2] = spatial(4, 2)\nelementwise z, x\n", "x",
     "reduce(spatial(4, 2), dims=[1], keepdims=True)"},

    {"the vector goes along the fastest dim of the memory",
     "threads 32\nglobal g: f16[64, 32] = global_column_major(64, 32)\nregister x: f16[64, 32]\nload x, g\n",
     "x", "permute(local(8, 1).spatial(4, 8).local(1, 8), dims=[1, 0])"},
    {"a pitch of 20 leaves vectors of 4",
     "threads 32\nglobal g: f32[16, 16] = global_strides([16, 16], [20, 1])\nregister x: f32[16, 16]\nload "
     "x, g\n",
     "x", "local(2, 1).spatial(8, 4).local(1, 4)"},
    {"a pitch of 18 leaves vectors of 2",
     "threads 32\nglobal g: f32[16, 16] = global_strides([16, 16], [18, 1])\nregister x: f32[16, 16]\nload "
     "x, g\n",
     "x", "local(4, 1).spatial(4, 8).local(1, 2)"},
    {"a pitch of 17 leaves none",
     "threads 32\nglobal g: f32[16, 16] = global_strides([16, 16], [17, 1])\nregister x: f32[16, 16]\nload "
     "x, g\n",
     "x", "local(8, 1).spatial(2, 16)"},
    {"an offset of 2 leaves vectors of 2",
     "threads 32\nglobal g: f32[16, 16] = global_strides([16, 16], [20, 1], offset=2)\nregister x: f32[16, "
     "16]\n"
     "load x, g\n",
     "x", "local(4, 1).spatial(4, 8).local(1, 2)"},
    {"a swizzle of base 1 leaves vectors of 2",
     "threads 32\nshared s: f32[16, 16] = shared_row_major(16, 16).with_swizzle(Swizzle(1, 2, 3))\n"
     "register x: f32[16, 16]\nload x, s\n",
     "x", "local(4, 1).spatial(4, 8).local(1, 2)"},
    {"a stride of 2 leaves none",
     "threads 4\nglobal g: f32[16] = global_strides([16], [2])\nregister x: f32[16]\nload x, g\n", "x",
     "local(4).spatial(4)"},
    {"fewer elements than threads", "threads 128\nglobal g: f32[64]\nregister x: f32[64]\nload x, g\n", "x",
     "replicated(1, num_workers=2).spatial(64)"},
    {"elements and threads without a common measure",
     "threads 6\nglobal g: f32[3, 5]\nregister x: f32[3, 5]\nstore g, x\n", "x",
     "replicated(1, 1, num_workers=2).local(1, 5).spatial(3, 1)"},
    {"rank 0", "threads 32\nglobal g: f32[]\nregister x: f32[]\nload x, g\n", "x",
     "replicated(num_workers=32)"},

    /* t(b,c,a) = x(a,b,c), t in thread b*12 + c*4 + a */
    {"an operand of a permutation",
     "threads 24\nregister x: f32[4, 2, 3]\nregister t: f32[2, 3, 4] = spatial(2, 3, 4)\npermute t, x "
     "dims=[1, 2, 0]\n",
     "x", "spatial(4, 2, 3, ranks=[2, 0, 1])"},
    {"a permutation",
     "threads 24\nregister x: f32[4, 2, 3] = spatial(4, 2, 3)\nregister t: f32[2, 3, 4]\n"
     "permute t, x dims=[1, 2, 0]\n",
     "t", "spatial(2, 3, 4, ranks=[1, 2, 0])"},
    {"transpose swaps the last two dims",
     "threads 6\nregister x: f32[2, 2, 3] = local(2, 1, 1).spatial(1, 2, 3)\nregister t: f32[2, 3, "
     "2]\ntranspose t, x\n",
     "t", "local(2, 1, 1).column_spatial(1, 3, 2)"},
    {"an operand of squeeze",
     "threads 6\nregister x: f32[1, 2, 1, 3]\nregister t: f32[2, 3] = spatial(2, 3)\nsqueeze t, x dims=[0, "
     "-2]\n",
     "x", "spatial(1, 2, 1, 3)"},
    {"an operand of unsqueeze",
     "threads 6\nregister x: f32[2, 3]\nregister t: f32[2, 1, 3] = spatial(2, 1, 3)\nunsqueeze t, x "
     "dims=[1]\n",
     "x", "spatial(2, 3)"},
    {"the operand of a reshape",
     "threads 4\nregister x: f32[4, 3]\nregister t: f32[12] = spatial(4).local(3)\nreshape t, x\n", "x",
     "spatial(4, 1).local(1, 3)"},
    {"a reshape",
     "threads 4\nregister x: f32[4, 3] = spatial(4, 1).local(1, 3)\nregister t: f32[12]\nreshape t, x\n", "t",
     "spatial(4).local(3)"},
    {"the operand of a reduction of ones",
     "threads 6\nregister x: f32[6, 1]\nregister r: f32[6] = spatial(6)\nreduce r, x dims=[1]\n", "x",
     "spatial(6, 1)"},
    {"a conversion of one known side",
     "threads 6\nregister x: f32[6] = spatial(6)\nregister y: f32[6]\nconvert y, x\n", "y", "spatial(6)"},

    /* 4096 elements in 128 threads: vectors of 4, 16 threads along a row, 8 rows at once; each row's sum is in 16 threads */
    {"a row sum of a converted tensor follows it, not its store", ROW_SUM, "b",
     "local(8, 1).spatial(8, 16).local(1, 4)"},
    {"and is where its terms are", ROW_SUM, "c", "reduce(local(8, 1).spatial(8, 16).local(1, 4), dims=[1])"},
    {"a row of scales waits for the converted matrix that it is added to",
     "threads 32\nglobal g: f32[8]\nglobal h: f32[16, 8]\nregister s: f32[8]\n"
     "register m: f32[16, 8] = spatial(16, 2).local(1, 4)\nregister w: f32[16, 8]\nregister z: f32[16, 8]\n"
     "load s, g\nconvert w, m\nelementwise z, w, s\nreduce s, z dims=[0]\n",
     "s", "reduce(spatial(16, 2).local(1, 4), dims=[0])"},
    /* 128 elements, 4 to a vector: 2 vectors in a row, 16 rows */
    {"what is converted to be stored is as the store likes it",
     "threads 32\nglobal g: f32[16, 8]\nregister acc: f32[16, 8] = " C16 "\nregister y: f32[16, 8]\n"
     "convert y, acc\nstore g, y\n",
     "y", "spatial(16, 2).local(1, 4)"},
    /* 128 elements of 16 bits, 4 to a vector, since with 8 half of the threads had none */
    {"also through a cast behind the convert",
     "threads 32\nglobal g: f16[16, 8]\nregister acc: f32[16, 8] = " C16 "\nregister y: f32[16, 8]\n"
     "register z: f16[16, 8]\nconvert y, acc\ncast z, y\nstore g, z\n",
     "y", "spatial(16, 2).local(1, 4)"},
    {"converts go forward before they go back",
     "threads 4\nglobal g: f32[4]\nregister u: f32[4, 4] = spatial(4, 1).local(1, 4)\n"
     "register a: f32[4, 4]\nregister r: f32[4]\nregister y: f32[4]\n"
     "convert y, r\nstore g, y\nreduce r, a dims=[0]\nconvert a, u\n",
     "r", "reduce(spatial(4, 1).local(1, 4), dims=[0])"},
    {"what nothing makes is as what it is converted to",
     "threads 4\nglobal g: f32[4]\nregister r: f32[4]\nregister y: f32[4]\n"
     "elementwise r\nconvert y, r\nstore g, y\n",
     "r", "spatial(4)"},
    {"registers to registers", "threads 6\nregister x: f32[6] = spatial(6)\nregister y: f32[6]\ncopy y, x\n",
     "y", "spatial(6)"},
};

static void layouts_are_those_of_the_rules(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_error err = {.message = ""};
    tesela_register expected;
    tesela_kernel_program *program = infer_program(rows[i].name, rows[i].text);
    if (tesela_kernel_program_infer(program, &err) != TESELA_OK)
      fail_msg("%s: %s", rows[i].name, err.message);
    if (tesela_register_parse(rows[i].layout, strlen(rows[i].layout), &expected, &err) != TESELA_OK)
      fail_msg("%s: %s", rows[i].layout, err.message);
    tesela_tensor tensor = infer_tensor(program, rows[i].tensor);
    if (!tensor.registers || !tesela_register_same(tensor.registers, &expected)) {
      char text[600];
      tesela_buffer buffer = {text, sizeof text, 0};
      tesela_writer to = tesela_buffer_writer(&buffer);
      if (tensor.registers) tesela_register_print(tensor.registers, &to, NULL);
      fail_msg("%s: %s is %s (%s)", rows[i].name, rows[i].tensor, text, tensor.rule);
    }
    assert_true(tensor.rule[0] != '\0' && !tensor.memory);
    tesela_kernel_program_destroy(program);
  }
}

static void rules_are_named(void **state) {
  (void)state;
  static const struct {
    const char *text, *tensor, *rule;
  } named[] = {
      {MATMUL, "ga", "row-major (default)"},
      {MATMUL, "ta", "line 9, load: vectors of 8 in the order of ga"},
      {MATMUL, "sa", "fewest bank conflicts for its loads and stores"},
      {MATMUL, "ra", "line 13, dot: operand A of acc"},
      {MATMUL, "rb", "line 13, dot: operand B of acc"},
      {MATMUL, "acc", "line 13, dot: grid of warps chosen"},
      {MATMUL " warps=[4, 1]", "acc", "line 13, dot: grid of warps as written"},
      {SOFTMAX, "m", "line 13, reduce: from x"},
      {SOFTMAX, "g", "line 17, elementwise: operand of y"},
      {"threads 6\nregister x: f32[6] = spatial(6)\n", "x", "given"},
  };
  for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
    tesela_kernel_program *program = infer_program(named[i].tensor, named[i].text);
    assert_int_equal(tesela_kernel_program_infer(program, NULL), TESELA_OK);
    assert_string_equal(infer_tensor(program, named[i].tensor).rule, named[i].rule);
    tesela_kernel_program_destroy(program);
  }
}

/* Shared memory between vector stores and ldmatrix, by row-major tiles of 64 and 128 bytes a row: without conflicts. */
static void shared_memory_has_no_conflicts(void **state) {
  (void)state;
  tesela_kernel_program *program = infer_program("matmul", MATMUL);
  assert_int_equal(tesela_kernel_program_infer(program, NULL), TESELA_OK);
  const tesela_tile_memory *sa = infer_tensor(program, "sa").memory;
  tesela_access_cost cost;
  tesela_ldmatrix plan;
  assert_non_null(sa);
  assert_int_equal(tesela_access_cost_of(infer_tensor(program, "ta").registers, sa, 16, 8, NULL, &cost, NULL),
                   TESELA_OK);
  assert_int_equal(cost.conflicts, 0);
  assert_int_equal(tesela_ldmatrix_of(infer_tensor(program, "ra").registers, sa, 16, &plan, NULL), TESELA_OK);
  assert_true(plan.applies);
  assert_int_equal(plan.cost.conflicts, 0);
  tesela_kernel_program_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layouts_are_those_of_the_rules),
      cmocka_unit_test(rules_are_named),
      cmocka_unit_test(shared_memory_has_no_conflicts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
