/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_infer_run.c - inferred programs are run by the definition (support_infer.c): kernels that the checks accept
 * give the right values, and those that they refuse cannot run, at that operation.
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

static const struct {
  const char *name, *text;
} good[] = {
    {"a matrix product through shared memory", "threads 128\n"
                                               "global ga: f16[64, 32]\n"
                                               "global gb: f16[32, 64]\n"
                                               "global gc: f32[64, 64]\n"
                                               "shared sa: f16[64, 32]\n"
                                               "shared sb: f16[32, 64]\n"
                                               "register ta: f16[64, 32]\n"
                                               "register ra: f16[64, 32]\n"
                                               "register rb: f16[32, 64]\n"
                                               "register acc: f32[64, 64]\n"
                                               "load ta, ga\n"
                                               "store sa, ta\n"
                                               "copy sb, gb\n"
                                               "load ra, sa\n"
                                               "load rb, sb\n"
                                               "dot acc, ra, rb, acc atom=mma.m16n8k16.f16 warps=[2, 2]\n"
                                               "store gc, acc\n"},
    {"a product of tf32 whose warps are chosen", "threads 64\n"
                                                 "global ga: f32[32, 24]\n"
                                                 "global gb: f32[24, 48]\n"
                                                 "global gc: f32[32, 48]\n"
                                                 "register ra: f32[32, 24]\n"
                                                 "register rb: f32[24, 48]\n"
                                                 "register rc: f32[32, 48]\n"
                                                 "load ra, ga\n"
                                                 "load rb, gb\n"
                                                 "dot rc, ra, rb\n"
                                                 "store gc, rc\n"},
    {"three warps that cannot share two tiles", "threads 96\n"
                                                "register a: f16[16, 16]\n"
                                                "register b: f16[16, 16]\n"
                                                "register c: f32[16, 16]\n"
                                                "dot c, a, b, c\n"},
    {"softmax along rows", "threads 128\n"
                           "global gx: f32[32, 256]\n"
                           "global gg: f32[256]\n"
                           "global gy: bf16[32, 256]\n"
                           "register x: f32[32, 256]\n"
                           "register g: f32[256]\n"
                           "register m: f32[32, 1]\n"
                           "register e: f32[32, 256]\n"
                           "register s: f32[32]\n"
                           "register s1: f32[32, 1]\n"
                           "register y: f32[32, 256]\n"
                           "register yb: bf16[32, 256]\n"
                           "load g, gg\n"
                           "load x, gx\n"
                           "reduce m, x dims=[1] keepdims=True\n"
                           "elementwise e, x, m\n"
                           "reduce s, e dims=[-1]\n"
                           "unsqueeze s1, s dims=[1]\n"
                           "elementwise y, e, s1, g\n"
                           "cast yb, y\n"
                           "store gy, yb\n"},
    {"attention: the result of one product is an operand of the next", "threads 128\n"
                                                                       "global q: f16[64, 32]\n"
                                                                       "global k: f16[32, 64]\n"
                                                                       "global v: f16[64, 32]\n"
                                                                       "global o: f32[64, 32]\n"
                                                                       "shared sk: f16[32, 64]\n"
                                                                       "register rq: f16[64, 32]\n"
                                                                       "register rk: f16[32, 64]\n"
                                                                       "register rv: f16[64, 32]\n"
                                                                       "register s: f32[64, 64]\n"
                                                                       "register m: f32[64, 1]\n"
                                                                       "register p: f32[64, 64]\n"
                                                                       "register ph: f16[64, 64]\n"
                                                                       "register acc: f32[64, 32]\n"
                                                                       "load rq, q\n"
                                                                       "copy sk, k\n"
                                                                       "load rk, sk\n"
                                                                       "load rv, v\n"
                                                                       "dot s, rq, rk warps=[4, 1]\n"
                                                                       "reduce m, s dims=[1] keepdims=True\n"
                                                                       "elementwise p, s, m\n"
                                                                       "cast ph, p\n"
                                                                       "dot acc, ph, rv, acc\n"
                                                                       "store o, acc\n"},
    {"a transpose by a conversion", "threads 32\n"
                                    "global x: f32[32, 32]\n"
                                    "global y: f32[32, 32] = global_column_major(32, 32)\n"
                                    "register a: f32[32, 32]\n"
                                    "register b: f32[32, 32]\n"
                                    "register c: f32[32, 32] = local(32, 1).spatial(1, 32)\n"
                                    "load a, x\n"
                                    "transpose b, a\n"
                                    "convert c, b\n"
                                    "store y, c\n"},
    {"shapes change, nothing moves", "threads 12\n"
                                     "global x: s32[4, 6]\n"
                                     "global y: s32[3, 8]\n"
                                     "register a: s32[4, 6]\n"
                                     "register b: s32[6, 1, 4]\n"
                                     "register c: s32[6, 4]\n"
                                     "register d: s32[3, 8]\n"
                                     "register e: s32[3, 8]\n"
                                     "register f: s32[1, 6, 4]\n"
                                     "load a, x\n"
                                     "transpose c, a\n"
                                     "unsqueeze b, c dims=[1]\n"
                                     "squeeze c, b dims=[1]\n"
                                     "reshape d, c\n"
                                     "elementwise e, d\n"
                                     "elementwise f, c\n"
                                     "store y, e\n"},
    {"accumulators in other threads than the first operand's rows",
     "threads 64\n"
     "register a: f16[32, 16]\n"
     "register b: f16[16, 16] = spatial(1, 2) * "
     "replicated(1, 1, num_workers=1) * "
     "mma.m16n8k16.f16.B\n"
     "register c: f32[32, 16]\n"
     "dot c, a, b\n"},
};

static void what_is_accepted_computes_the_right_values(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    tesela_error err = {.message = ""};
    tesela_kernel_program *program = infer_program(good[i].name, good[i].text);
    if (tesela_kernel_program_infer(program, &err) != TESELA_OK)
      fail_msg("%s: %s", good[i].name, err.message);
    infer_run run = infer_simulate(program, good[i].text);
    if (run.line != 0) fail_msg("%s: line %" PRId64 ": %s", good[i].name, run.line, run.what);
    tesela_kernel_program_destroy(program);
  }
}

/* The simulator must be able to fail: dots whose operands are elsewhere, each also refused by the library. */
static void what_is_refused_cannot_run(void **state) {
  (void)state;
  static const struct {
    const char *name, *text;
    int64_t line;
  } rows[] = {
      {"A without its copies in the second warp",
       "threads 64\n"
       "register a: f16[32, 16] = spatial(2, 1) * mma.m16n8k16.f16.A\n"
       "register b: f16[16, 16] = replicated(1, 2, num_workers=2) * "
       "mma.m16n8k16.f16.B\n"
       "register c: f32[32, 16] = local(2, 1).spatial(1, 2) * "
       "mma.m16n8k16.f16.C\n"
       "dot c, a, b\n",
       5},
      {"B spread along k",
       "threads 64\n"
       "register a: f16[16, 32]\n"
       "register b: f16[32, 8] = spatial(2, 1) * mma.m16n8k16.f16.B\n"
       "register c: f32[16, 8]\n"
       "dot c, a, b\n",
       5},
      {"an accumulator with its columns in other lanes",
       "threads 32\n"
       "register a: f16[16, 16]\n"
       "register b: f16[16, 8]\n"
       "register c: f32[16, 8] = spatial(8, 4).local(2, 2)\n"
       "register d: f32[16, 8] = mma.m16n8k16.f16.C\n"
       "dot d, a, b, c\n",
       6},
      {"fragments of A in another order of registers",
       "threads 32\n"
       "register a: f16[16, 16] = local(2, 2).spatial(8, 4).local(1, 2)\n"
       "register b: f16[16, 8]\n"
       "register d: f32[16, 8]\n"
       "dot d, a, b\n",
       5},
      {"a result that is no fragment",
       "threads 32\n"
       "register a: f16[16, 16]\n"
       "register b: f16[16, 8]\n"
       "register d: f32[16, 8] = spatial(8, 4).local(2, 2)\n"
       "dot d, a, b\n",
       5},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_error err = {.message = ""};
    tesela_kernel_program *program = infer_program(rows[i].name, rows[i].text);
    if (tesela_kernel_program_infer(program, &err) != TESELA_E_INVALID ||
        err.reason != TESELA_REASON_CONFLICT)
      fail_msg("%s: not refused: %s", rows[i].name, err.message);
    if (tesela_kernel_program_conflict(program)->line != rows[i].line)
      fail_msg("%s: in line %" PRId64, rows[i].name, tesela_kernel_program_conflict(program)->line);
    infer_run run = infer_simulate(program, rows[i].text);
    if (run.line != rows[i].line) fail_msg("%s: ran until line %" PRId64, rows[i].name, run.line);
    tesela_kernel_program_destroy(program);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_accepted_computes_the_right_values),
      cmocka_unit_test(what_is_refused_cannot_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
