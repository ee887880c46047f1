/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_infer_text.c - reading programs: what is refused, where, with which words; limits; memory that runs out.
 *
 * In the texts '$' marks the byte that the error names; it is removed before the text is read.
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

#define T "threads 32\n"
#define X T "register x: f32[4, 8] = spatial(4, 8)\n"
#define XY X "register y: f32[4, 8]\n"
#define ABC T "register a: f16[16, 16]\nregister b: f16[16, 8]\nregister c: f32[16, 8]\n"
#define MEM T "global g: f32[4, 8]\nshared s: f32[4, 8]\nregister x: f32[4, 8]\n"

static const struct {
  const char *text;
  tesela_status status;
  const char *message; /* the whole of it */
} refused[] = {
    {"$", TESELA_E_SYNTAX, "the number of threads is missing: threads 128"},
    {"# nothing\n\n$", TESELA_E_SYNTAX, "the number of threads is missing: threads 128"},
    {"$register x: f32[4]\n", TESELA_E_SYNTAX, "line 1: the number of threads must come first: threads 128"},
    {"threads$\n", TESELA_E_SYNTAX, "line 1: expected a number of threads, found the end of the line"},
    {"threads $many\n", TESELA_E_SYNTAX, "line 1: expected a number of threads, found 'many'"},
    {"$threads 0\n", TESELA_E_RANGE, "line 1: threads is 0; expected 1 to 65536"},
    {"$threads 65537\n", TESELA_E_RANGE, "line 1: threads is 65537; expected 1 to 65536"},
    {"threads $99999999999999999999\n", TESELA_E_OVERFLOW,
     "line 1: '99999999999999999999' does not fit in 64 bits"},
    {"threads 32 $64\n", TESELA_E_SYNTAX, "line 1: expected the end of the line, found '64'"},
    {T "$threads 32\n", TESELA_E_INVALID, "line 2: the number of threads is already given"},
    {T "$lod x, y\n", TESELA_E_SYNTAX, "line 2: unknown operation 'lod'; did you mean load?"},
    {T "$registr x: f32[4]\n", TESELA_E_SYNTAX,
     "line 2: unknown operation 'registr'; did you mean register?"},
    {T "$thread 4\n", TESELA_E_SYNTAX, "line 2: unknown operation 'thread'; did you mean threads?"},
    {T "$frobnicate x\n", TESELA_E_SYNTAX, "line 2: unknown operation 'frobnicate'"},
    {T "$= 4\n", TESELA_E_SYNTAX, "line 2: expected an operation or the space of a tensor, found '='"},
    {T "\r\n  $\x80\n", TESELA_E_SYNTAX,
     "line 3: expected an operation or the space of a tensor, found byte 0x80, which is not UTF-8"},

    {T "register$\n", TESELA_E_SYNTAX, "line 2: expected a name, found the end of the line"},
    {T "register $4: f32[4]\n", TESELA_E_SYNTAX, "line 2: expected a name, found '4'"},
    {T "register x$ f32[4]\n" /* the blank is skipped first */, TESELA_E_SYNTAX, NULL},
    {T "register x: $[4]\n", TESELA_E_SYNTAX, "line 2: expected a type, found '['"},
    {T "register x: $float16[4]\n", TESELA_E_SYNTAX,
     "line 2: unknown element type 'float16'; did you mean f16?"},
    {T "register x: $token[4]\n", TESELA_E_SYNTAX, "line 2: unknown element type 'token'"},
    {T "register x: f32$\n", TESELA_E_SYNTAX,
     "line 2: expected a list of integers, [0, 1], found the end of the line"},
    {T "register x: f32[4$\n", TESELA_E_SYNTAX, "line 2: expected ',' or ']', found the end of the line"},
    {T "register x: f32[4,$]\n", TESELA_E_SYNTAX, "line 2: expected a whole number, found ']'"},
    {T "register x: f32$[0]\n", TESELA_E_RANGE, "line 2: dim 0 is 0; expected 1 or more"},
    {T "register x: f32$[4, -2]\n", TESELA_E_RANGE, "line 2: dim 1 is -2; expected 1 or more"},
    {T "register x: f32$[4294967296, 4294967296]\n", TESELA_E_OVERFLOW,
     "line 2: the number of elements does not fit in 64 bits"},
    {T "register x: f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,$1]\n",
     TESELA_E_LIMIT, "line 2: more than 32 numbers; expected a list of integers, [0, 1]"},
    {T "register x: f32[4] $spatial(4)\n", TESELA_E_SYNTAX,
     "line 2: expected = and a layout, or the end of the line, found 'spatial'"},
    {T "register x: f32[4] =$\n", TESELA_E_SYNTAX, "line 2: expected a layout, found the end of the line"},
    {T "register x: f32[4] =$ # none\n", TESELA_E_SYNTAX,
     "line 2: expected a layout, found the end of the line"},
    {T "register x: f32[32]\nregister $x: f32[32]\n", TESELA_E_INVALID,
     "line 3: x is already declared in line 2"},
    {T "register $a234567890123456789012345678901234567890123456789012345678901234: f32[4]\n", TESELA_E_LIMIT,
     "line 2: a name has at most 63 bytes"},
    {T "register x: f32[32] = $spatial(31)\n", TESELA_E_INVALID,
     "line 2: dim 0 of the layout is 31, but that of x is 32"},
    {T "register x: f32[32] = $spatial(32, 1)\n", TESELA_E_INVALID,
     "line 2: the layout has rank 2, but x has 1"},
    {T "register x: f32[8] = $spatial(8)\n", TESELA_E_INVALID,
     "line 2: the layout has 8 threads, but the program has 32: if all hold copies, write replicated(1, "
     "num_workers=4) * (...)"},
    {T "register x: f32[8] = $local(8)\n", TESELA_E_INVALID,
     "line 2: the layout has 1 thread, but the program has 32: if all hold copies, write replicated(1, "
     "num_workers=32) * (...)"},
    {T "register x: f32[64] = $spatial(64)\n", TESELA_E_INVALID,
     "line 2: the layout has 64 threads, but the program has 32"},
    {T "register x: f32[32] = $shared_row_major(32)\n", TESELA_E_MISMATCH, NULL},
    {T "shared x: f32[32] = $spatial(32)\n", TESELA_E_MISMATCH, NULL},
    {T "shared x: f32[32] = $global_row_major(32)\n", TESELA_E_INVALID,
     "line 2: x is in shared memory, but its layout is for global memory"},
    {T "register x: f32[32] = spatial(32).$loca(2)\n", TESELA_E_SYNTAX, NULL},
    {T "register x: f32[32] = $spatial(0)\n", TESELA_E_RANGE, NULL},

    {XY "cast$\n", TESELA_E_SYNTAX, "line 4: expected a name, found the end of the line"},
    {XY "cast y, $z\n", TESELA_E_INVALID, "line 4: unknown tensor 'z'"},
    {XY "cast y,$\n", TESELA_E_SYNTAX, "line 4: expected a name, found the end of the line"},
    {XY "$cast y\n", TESELA_E_SYNTAX, "line 4: cast expects 2 tensors, found 1"},
    {XY "$cast y, x, x\n", TESELA_E_SYNTAX, "line 4: cast expects 2 tensors, found 3"},
    {ABC "$dot c, a\n", TESELA_E_SYNTAX, "line 5: dot expects at least 3 tensors, found 2"},
    {ABC "$dot c, a, b, c, c\n", TESELA_E_SYNTAX, "line 5: dot expects 4 tensors, found 5"},
    {MEM "load x $g\n", TESELA_E_SYNTAX, "line 5: expected a comma, found 'g'"},
    {MEM "load x, g $s\n", TESELA_E_SYNTAX, "line 5: expected the end of the line, found 's'"},
    {XY "elementwise y, x $y\n", TESELA_E_SYNTAX,
     "line 4: expected a comma or the end of the line, found 'y'"},
    {ABC "dot c, a, b $c\n", TESELA_E_SYNTAX, "line 5: expected a comma or atom= or warps=, found 'c'"},
    {XY "reduce y, x $y dims=[0]\n", TESELA_E_SYNTAX, "line 4: expected dims= or keepdims=, found 'y'"},
    {XY "cast y, x $; \n", TESELA_E_SYNTAX, "line 4: expected the end of the line, found ';'"},
    {XY "cast y, x $dims=[0]\n", TESELA_E_SYNTAX,
     "line 4: unknown key 'dims' of cast; expected the end of the line"},
    {XY "reduce y, x $dim=[0]\n", TESELA_E_SYNTAX,
     "line 4: unknown key 'dim' of reduce; expected dims= or keepdims="},
    {XY "permute y, x$\n", TESELA_E_SYNTAX, "line 4: permute needs dims="},
    {XY "permute y, x dims=[0, 1] $dims=[0, 1]\n", TESELA_E_SYNTAX, "line 4: dims is given twice"},
    {XY "permute y, x dims $[0, 1]\n", TESELA_E_SYNTAX, "line 4: expected =, found '['"},
    {XY "permute y, x dims=$0\n", TESELA_E_SYNTAX, "line 4: expected a list of integers, [0, 1], found '0'"},
    {XY "reduce y, x dims=[0] keepdims=$yes\n", TESELA_E_SYNTAX,
     "line 4: expected True or False, found 'yes'"},
    {XY "$permute y, x dims=[0]\n", TESELA_E_INVALID, "line 4: dims= has length 1; x has rank 2"},
    {XY "$permute y, x dims=[1, 0]\n", TESELA_E_INVALID, "line 4: dim 0 of y is 4; it must be 8"},
    {XY "$permute y, x dims=[0, 2]\n", TESELA_E_RANGE, NULL},
    {XY "$permute y, x dims=[1, -1]\n", TESELA_E_INVALID, NULL},
    {XY "$transpose y, x\n", TESELA_E_INVALID, "line 4: dim 0 of y is 4; it must be 8"},
    {XY "$reduce y, x dims=[0]\n", TESELA_E_INVALID, "line 4: y has rank 2; it must be 1"},
    {XY "$reduce y, x dims=[0] keepdims=True\n", TESELA_E_INVALID, "line 4: dim 0 of y is 4; it must be 1"},
    {XY "$squeeze y, x dims=[0]\n", TESELA_E_INVALID, "line 4: dim 0 of x is 4; it must be 1"},
    {XY "$unsqueeze y, x dims=[0]\n", TESELA_E_INVALID, "line 4: dim 0 of y is 4; it must be 1"},
    {X "register y: f32[5]\n$reshape y, x\n", TESELA_E_INVALID, "line 4: y has 5 elements, but x has 32"},
    {X "register y: f32[1]\n$reshape y, x\n", TESELA_E_INVALID, "line 4: y has 1 element, but x has 32"},
    {X "register y: f32[8, 8]\n$elementwise y, x\n", TESELA_E_INVALID,
     "line 4: dim 0 of x is 4; it must be 1 or 8"},
    {X "register y: f32[8]\n$elementwise y, x\n", TESELA_E_INVALID,
     "line 4: x has rank 2, more than the 1 of y"},
    {X "register y: s32[4, 8]\n$copy y, x\n", TESELA_E_INVALID,
     "line 4: y is s32, but x is f32; the types must be equal"},
    {X "register y: s32[4, 8]\n$convert y, x\n", TESELA_E_INVALID,
     "line 4: y is s32, but x is f32; the types must be equal"},
    {X "register y: f32[4, 4]\n$cast y, x\n", TESELA_E_INVALID, "line 4: dim 1 of y is 4; it must be 8"},
    {MEM "$load g, x\n", TESELA_E_INVALID,
     "line 5: load expects registers, then memory, but g is in global memory and x is in registers"},
    {MEM "$store x, g\n", TESELA_E_INVALID,
     "line 5: store expects memory, then registers, but x is in registers and g is in global memory"},
    {MEM "$copy x, g\n", TESELA_E_INVALID,
     "line 5: x is in registers and g is in global memory; use load or store between them"},
    {MEM "$elementwise x, s\n", TESELA_E_INVALID,
     "line 5: s is in shared memory; the tensors of elementwise must be in registers"},
    {T "global g: f32[4, 8] = global_strides([4, 8], [0, 1])\nregister x: f32[4, 8]\n$store g, x\n",
     TESELA_E_INVALID, "line 4: the layout of g has several elements at one place: it cannot be written"},
    /* [0, 1] and [1, 0] at place 2, and nothing at 1 and 3 */
    {T "global g: f32[2, 2] = global_strides([2, 2], [2, 2])\nregister x: f32[2, 2]\n$store g, x\n",
     TESELA_E_INVALID,
     "line 4: the layout of g has strides that overlap, so several elements may be at one place: it cannot "
     "be "
     "written"},

    {ABC "$dot c, b, a\n", TESELA_E_INVALID, "line 5: [16, 8] times [16, 16] is not [16, 8]"},
    {ABC "register d: f16[16, 8]\n$dot c, a, b, d\n", TESELA_E_INVALID,
     "line 6: d is added to c but has another shape or type"},
    {ABC "dot c, a, b atom=mma.$m16n8k17.f16\n", TESELA_E_SYNTAX, NULL},
    {ABC "dot c, a, b atom=$mma.m16n8k16.f16.A\n", TESELA_E_SYNTAX,
     "line 5: atom= takes an instruction; write it without the operand: mma.m16n8k16.f16"},
    {ABC "dot c, a, b atom=$mma.m16n8k16.bf16.D\n", TESELA_E_SYNTAX,
     "line 5: atom= takes an instruction; write it without the operand: mma.m16n8k16.bf16"},
    {ABC "dot c, a, b atom=$ldmatrix.x4\n", TESELA_E_SYNTAX,
     "line 5: ldmatrix.x4 has no operand A in registers; atom= takes the name of an instruction"},
    {ABC "dot c, a, b atom=$wgmma.m64n64k16.f16\n", TESELA_E_SYNTAX,
     "line 5: wgmma.m64n64k16.f16 has no operand B in registers; atom= takes the name of an instruction"},
    {ABC "dot c, a, b atom=$\n", TESELA_E_SYNTAX,
     "line 5: expected the name of a fragment, found the end of the line"},
    {ABC "dot c, a, b warps=$[1]\n", TESELA_E_RANGE,
     "line 5: expected two numbers of 1 or more for warps: along rows and columns"},
    {ABC "dot c, a, b warps=[1, 1, $1]\n", TESELA_E_LIMIT,
     "line 5: more than 2 numbers; expected a list of integers, [0, 1]"},
    {ABC "$dot c, a, b warps=[2, 1]\n", TESELA_E_INVALID,
     "line 5: warps=[2, 1] does not divide the number of groups of 32 threads, which is 1"},
    {ABC "$dot c, a, b atom=mma.m16n8k16.s8\n", TESELA_E_INVALID,
     "line 5: a is f16; mma.m16n8k16.s8 expects s8,u8 there"},
    {ABC "dot c, a, b atom=$mfma.f32_32x32x4_2b_f16\n", TESELA_E_UNSUPPORTED,
     "line 5: A, B and C of mfma.f32_32x32x4_2b_f16 are not (M,K), (K,N) and (M,N) of one product"},
    {T "register a: f16[16, 4]\nregister b: f16[4, 8]\nregister c: f32[16, 8]\n$dot c, a, b\n",
     TESELA_E_INVALID, "line 5: no instruction for f16 divides m = 16, n = 8, k = 4"},
    {T "register a: f16[24, 16]\nregister b: f16[16, 8]\nregister c: f32[24, 8]\n$dot c, a, b "
       "atom=mma.m16n8k16.f16\n",
     TESELA_E_INVALID, "line 5: m = 24, n = 8, k = 16 are not multiples of 16, 8, 16 of mma.m16n8k16.f16"},
    {"threads 48\nregister a: f16[16, 16]\nregister b: f16[16, 8]\nregister c: f32[16, 8]\n$dot c, a, b\n",
     TESELA_E_INVALID,
     "line 5: the number of threads is 48, not a multiple of the 32 lanes of mma.m16n8k16.f16"},
    {T "register a: s16[16, 16]\nregister b: s16[16, 8]\nregister c: s32[16, 8]\n$dot c, a, b\n",
     TESELA_E_INVALID, "line 5: no instruction for operands of type s16; write atom="},
    {"threads 128\nregister a: f16[32, 16]\nregister b: f16[16, 16]\nregister c: f32[32, 16]\n"
     "$dot c, a, b warps=[4, 1]\n",
     TESELA_E_INVALID, "line 5: 4 warps along rows do not share 2 tiles of 16 evenly"},
    {"threads 64\nregister a: f16[32, 16]\nregister b: f16[16, 8]\nregister c: f32[32, 8]\n"
     "$dot c, a, b warps=[1, 2]\n",
     TESELA_E_INVALID, "line 5: 2 warps along columns do not share 1 tile of 8 evenly"},
    {T "register a: f16[16]\nregister b: f16[16, 8]\nregister c: f32[16, 8]\n$dot c, a, b\n",
     TESELA_E_INVALID, "line 5: a has rank 1; the tensors of dot must have rank 2"},
};

static void refusals_name_the_byte(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    char text[600];
    const char *mark = strchr(refused[i].text, '$');
    size_t at = (size_t)(mark - refused[i].text), length = strlen(refused[i].text) - 1;
    tesela_error err = {.message = ""};
    tesela_kernel_program *program = NULL;
    assert_true(length < sizeof text);
    memcpy(text, refused[i].text, at);
    memcpy(text + at, mark + 1, length - at);
    text[length] = '\0';
    if (text[at] == ' ' && refused[i].message == NULL) at++; /* blanks are skipped before */
    tesela_status status = tesela_kernel_program_create(&program, text, length, NULL, &err);
    if (status != refused[i].status || err.status != status || err.at != (int64_t)at || program ||
        (refused[i].message && strcmp(err.message, refused[i].message) != 0)) {
      print_error("%s: %s at %" PRId64 ", not %zu: %s\n", refused[i].text, tesela_status_code(status), err.at,
                  at, err.message);
      wrong++;
    }
    assert_int_equal(tesela_kernel_program_create(&program, text, length, NULL, NULL), status);
  }
  assert_int_equal(wrong, 0);
}

static void reasons_pass_through(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_reason reason;
  } rows[] = {
      {T "register x: f32[32] = spatial(0)\n", TESELA_REASON_SHAPE_NOT_POSITIVE},
      {T "register x: f32[0]\n", TESELA_REASON_SHAPE_NOT_POSITIVE},
      {XY "permute y, x dims=[0, 2]\n", TESELA_REASON_DIM_OUT_OF_RANGE},
      {XY "permute y, x dims=[1, -1]\n", TESELA_REASON_DIM_DUPLICATE},
      {XY "permute y, x dims=[0]\n", TESELA_REASON_DIMS_LENGTH},
      {X "register y: f32[5]\nreshape y, x\n", TESELA_REASON_RESHAPE_SIZE_MISMATCH},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_error err = {.message = ""};
    tesela_kernel_program *program = NULL;
    assert_true(tesela_kernel_program_create(&program, rows[i].text, strlen(rows[i].text), NULL, &err) !=
                TESELA_OK);
    assert_int_equal(err.reason, rows[i].reason);
  }
}

static void blanks_and_comments_are_free(void **state) {
  (void)state;
  static const char text[] =
      "# first\r\n\r\n  threads\t32 # of a warp\r\n\tregister  x:f32[ 4 ,8 ]=spatial( 4, 8 )  # x\r\n"
      "register y :f32 [8, 4]\r\npermute y,x dims = [ 1 , 0 ]\r\n#last";
  tesela_kernel_program *program = NULL;
  tesela_error err = {.message = ""};
  if (tesela_kernel_program_create(&program, text, sizeof text - 1, NULL, &err) != TESELA_OK)
    fail_msg("%" PRId64 ": %s", err.at, err.message);
  assert_int_equal(tesela_kernel_program_count(program), 2);
  assert_int_equal(tesela_kernel_program_threads(program), 32);
  tesela_tensor x = tesela_kernel_program_tensor(program, 0), y = tesela_kernel_program_tensor(program, 1);
  assert_string_equal(x.name, "x");
  assert_int_equal(x.line, 4);
  assert_true(x.given && x.registers && x.rank == 2 && x.shape[1] == 8 && x.dtype == TESELA_F32);
  assert_string_equal(x.rule, "given");
  assert_true(!y.given && !y.registers && !y.memory && y.rule[0] == '\0');
  assert_int_equal(tesela_kernel_program_find(program, "y"), 1);
  assert_int_equal(tesela_kernel_program_find(program, "z"), -1);
  assert_string_equal(tesela_kernel_program_tensor(program, 2).name, "");
  assert_string_equal(tesela_kernel_program_tensor(program, -1).name, "");
  assert_int_equal(tesela_kernel_program_infer(program, &err), TESELA_OK);
  tesela_kernel_program_destroy(program);
  tesela_kernel_program_destroy(NULL);
}

static void operations_are_listed(void **state) {
  (void)state;
  int32_t n;
  const tesela_kernel_operation *list = tesela_kernel_operations(&n);
  assert_int_equal(n, 13);
  for (int32_t i = 0; i < n; i++) {
    assert_true(strlen(list[i].operands) > 0 && strlen(list[i].summary) > 0);
    if (i > 0) assert_true(strcmp(list[i - 1].name, list[i].name) < 0);
  }
}

static char *file_of_the_tree(const char *name) {
  char path[1000];
  static char text[40000];
  const char *tree = getenv("TESELA_SOURCE");
  snprintf(path, sizeof path, "%s/%s", tree ? tree : ".", name);
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("%s is not here: tests run in the top folder of the source", path);
  size_t n = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[n] = '\0';
  return text;
}

static void operations_are_documented(void **state) {
  (void)state;
  int32_t n;
  const tesela_kernel_operation *list = tesela_kernel_operations(&n);
  const char *document = file_of_the_tree("docs/infer.md");
  for (int32_t i = 0; i < n; i++) {
    char row[200];
    snprintf(row, sizeof row, "\n| `%s` | `%s` |", list[i].name, list[i].operands);
    if (!strstr(document, row)) fail_msg("docs/infer.md has no row%s", row);
  }
}

static void examples_are_inferred(void **state) {
  (void)state;
  static const char *const names[] = {"examples/matmul.kernel", "examples/attention.kernel"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    tesela_kernel_program *program = NULL;
    tesela_error err = {.message = ""};
    const char *text = file_of_the_tree(names[i]);
    if (tesela_kernel_program_create(&program, text, strlen(text), NULL, &err) != TESELA_OK ||
        tesela_kernel_program_infer(program, &err) != TESELA_OK)
      fail_msg("%s: %s", names[i], err.message);
    tesela_kernel_program_destroy(program);
  }
}

/* ---- limits ------------------------------------------------------------------------------------------------------------- */

static tesela_status status_of(const char *text, size_t length, tesela_error *err) {
  tesela_kernel_program *program = NULL;
  tesela_status status = tesela_kernel_program_create(&program, text, length, NULL, err);
  if (status == TESELA_OK) tesela_kernel_program_destroy(program);
  return status;
}

static void limits_hold(void **state) {
  (void)state;
  static char text[TESELA_KERNEL_TEXT + 2];
  tesela_error err;
  memset(text, ' ', sizeof text);
  memcpy(text, "threads 32", 10);
  assert_int_equal(status_of(text, TESELA_KERNEL_TEXT, &err), TESELA_OK);
  assert_int_equal(status_of(text, TESELA_KERNEL_TEXT + 1, &err), TESELA_E_LIMIT);
  memset(text + 10, '\n', TESELA_KERNEL_LINES + 1);
  assert_int_equal(status_of(text, 10 + TESELA_KERNEL_LINES, &err), TESELA_OK);
  text[10 + TESELA_KERNEL_LINES] = ' ';
  assert_int_equal(status_of(text, 10 + TESELA_KERNEL_LINES + 1, &err), TESELA_E_LIMIT);
  assert_int_equal(err.at, 10 + TESELA_KERNEL_LINES);
  size_t n = 0;
  for (int i = 0; i <= TESELA_KERNEL_TENSORS; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%sregister t%d: f32[1]\n", i == 0 ? "threads 1\n" : "",
                          i);
  assert_int_equal(status_of(text, n, &err), TESELA_E_LIMIT);
  assert_true(strstr(err.message, "at most 1024 tensors") != NULL);
  assert_int_equal(status_of(text, n - strlen("register t1024: f32[1]\n"), &err), TESELA_OK);
}

/* The largest program: a chain of tensors, each from the one before, given only at one end, in the order that takes the
 * most rounds. */
static void a_long_chain_is_followed(void **state) {
  (void)state;
  static char text[TESELA_KERNEL_TEXT];
  size_t n = (size_t)snprintf(text, sizeof text, "threads 4\n");
  enum { CHAIN = 1000 };
  for (int i = 0; i < CHAIN; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "register t%d: f32[4]%s\n", i,
                          i == 0 ? " = spatial(4)" : "");
  for (int i = CHAIN - 1; i > 0; i--)
    n += (size_t)snprintf(text + n, sizeof text - n, "copy t%d, t%d\n", i, i - 1);
  tesela_kernel_program *program = NULL;
  tesela_error err = {.message = ""};
  assert_true(n < sizeof text);
  assert_int_equal(tesela_kernel_program_create(&program, text, n, NULL, &err), TESELA_OK);
  if (tesela_kernel_program_infer(program, &err) != TESELA_OK) fail_msg("%s", err.message);
  assert_int_equal(tesela_kernel_program_tensor(program, CHAIN - 1).registers->spatial_size, 4);
  tesela_kernel_program_destroy(program);
}

/* ---- memory that runs out ------------------------------------------------------------------------------------------------ */

static int swallow(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
  return 0;
}

/* Fail allocation n, n + 1, .. until the program comes through; a failure is not a conflict. Returns how many there are. */
static long allocations_of(const char *text, tesela_status expected) {
  for (long n = 0;; n++) {
    fault f = {.countdown = n, .once = true};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_kernel_program *program = NULL;
    tesela_status status = tesela_kernel_program_create(&program, text, strlen(text), &allocator, NULL);
    if (status == TESELA_OK) {
      status = tesela_kernel_program_infer(program, NULL);
      assert_int_equal(tesela_kernel_program_conflict(program)->found, status == TESELA_E_INVALID);
      tesela_status printed = tesela_kernel_program_print(program, &(tesela_writer){swallow, NULL}, NULL);
      if (printed != TESELA_OK) status = printed;
      tesela_kernel_program_destroy(program);
    } else
      assert_null(program);
    assert_int_equal(f.live, 0);
    if (status == expected) return n;
    assert_int_equal(status, TESELA_E_MEMORY);
  }
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  assert_true(
      allocations_of("threads 64\nglobal ga: f16[32, 16]\nshared sa: f16[32, 16]\nregister ta: f16[32, 16]\n"
                     "register ra: f16[32, 16]\nregister rb: f16[16, 16]\nregister acc: f32[32, 16]\n"
                     "register z: f32[32, 16] = spatial(32, 2).local(1, 8)\nregister y: f32[32, 16]\n"
                     "load ta, ga\nstore sa, ta\nload ra, sa\ndot acc, ra, rb, acc\nconvert y, z\n",
                     TESELA_OK) > 15);
  assert_true(allocations_of("threads 32\nregister a: f32[32, 32] = spatial(32, 1).local(1, 32)\n"
                             "register b: f32[32, 32] = local(32, 1).spatial(1, 32)\ncopy b, a\n",
                             TESELA_E_INVALID) > 5);
  /* with other grids of warps */
  assert_true(
      allocations_of("threads 64\nregister q: f16[32, 16]\nregister k: f16[16, 32]\n"
                     "register v: f16[32, 16]\nregister s: f32[32, 32] \nregister t: f32[32, 1] = "
                     "reduce(spatial(1, 2).local(2, 2) * mma.m16n8k16.f16.C, dims=[1], keepdims=True)\n"
                     "register o: f32[32, 16]\nregister p: f16[32, 32]\n"
                     "dot s, q, k\nreduce t, s dims=[1] keepdims=True\ncast p, s\ndot o, p, v\n",
                     TESELA_OK) > 25);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_name_the_byte),
      cmocka_unit_test(reasons_pass_through),
      cmocka_unit_test(blanks_and_comments_are_free),
      cmocka_unit_test(operations_are_listed),
      cmocka_unit_test(operations_are_documented),
      cmocka_unit_test(examples_are_inferred),
      cmocka_unit_test(limits_hold),
      cmocka_unit_test(a_long_chain_is_followed),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
