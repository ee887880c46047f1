/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_infer_run.c - inferred programs are run by the definition (support_infer.c): what the checks accept gives the right
 * values, and what they refuse cannot run, at that operation.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static tesela_kernel_program *program_of(const char *name, const char *text) {
  tesela_kernel_program *program = NULL;
  tesela_error err = {.message = ""};
  if (tesela_kernel_program_create(&program, text, strlen(text), NULL, &err) != TESELA_OK)
    fail_msg("%s: byte %" PRId64 ": %s", name, err.at, err.message);
  return program;
}

static void what_is_accepted_computes_the_right_values(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    tesela_error err = {.message = ""};
    tesela_kernel_program *program = program_of(good[i].name, good[i].text);
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
    tesela_kernel_program *program = program_of(rows[i].name, rows[i].text);
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

/* ---- random programs ------------------------------------------------------------------------------------------------- */

static uint64_t chance_state;

static int64_t chance(int64_t n) {
  chance_state ^= chance_state << 13;
  chance_state ^= chance_state >> 7;
  chance_state ^= chance_state << 17;
  return (int64_t)(chance_state >> 11) % n;
}

typedef struct writer {
  char text[6000];
  size_t n;
} writer;

static void put(writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(w->text + w->n, sizeof w->text - w->n, format, args);
  va_end(args);
  assert_true(n >= 0 && (size_t)n < sizeof w->text - w->n);
  w->n += (size_t)n;
}

static void put_list(writer *w, const char *name, int32_t n, const int64_t *list) {
  put(w, "%s=[", name);
  for (int32_t i = 0; i < n; i++) put(w, i > 0 ? ", %" PRId64 : "%" PRId64, list[i]);
  put(w, "]");
}

static void shuffle(int32_t n, int64_t *list) {
  for (int32_t i = n - 1; i > 0; i--) {
    int32_t j = (int32_t)chance(i + 1);
    int64_t swapped = list[i];
    list[i] = list[j];
    list[j] = swapped;
  }
}

/* " = RegisterLayout(...)" of random modes with just these threads. */
static void put_layout(writer *w, int32_t rank, const int64_t *shape, int64_t threads) {
  int64_t modes[24], spatial[24], local[24], order[24], left = threads;
  int32_t n = 0, n_spatial = 0, n_local = 0;
  for (int32_t d = 0; d < rank; d++)
    for (int64_t rest = shape[d], p = 2; rest > 1; p++)
      for (; rest % p == 0; rest /= p) modes[n++] = p;
  for (int32_t i = 0; i < n; i++) order[i] = i;
  shuffle(n, order);
  for (int32_t i = 0; i < n; i++) {
    int64_t mode = modes[order[i]];
    if (left % mode == 0 && chance(4) > 0) {
      spatial[n_spatial++] = order[i];
      left /= mode;
    } else
      local[n_local++] = order[i];
  }
  if (left > 1) spatial[n_spatial++] = -left;
  shuffle(n_spatial, spatial);
  put(w, " = RegisterLayout(");
  put_list(w, "shape", rank, shape);
  put_list(w, ", mode_shape", n, modes);
  put_list(w, ", spatial_modes", n_spatial, spatial);
  put_list(w, ", local_modes", n_local, local);
  put(w, ")");
}

typedef struct shape {
  int32_t rank;
  int64_t extent[5];
} shape;

static void put_tensor(writer *w, int32_t number, const shape *s, int64_t threads, int64_t given) {
  put(w, "register t%" PRId32 ": f32[", number);
  for (int32_t d = 0; d < s->rank; d++) put(w, d > 0 ? ", %" PRId64 : "%" PRId64, s->extent[d]);
  put(w, "]");
  if (chance(100) < given) put_layout(w, s->rank, s->extent, threads);
  put(w, "\n");
}

/* t0 is loaded, each further tensor computed from the last one; some also from an earlier one of its shape. With `agrees`
 * there is a layout for all of it: none is given, no tensor is put together with one whose elements have been moved
 * around since, dims are not cut anew, and nothing that was reduced is made larger than it was. The last one is stored. */
static void random_program(writer *declared, writer *operations, bool agrees) {
  static const int64_t threads_list[] = {1, 2, 4, 6, 8, 12, 16, 24}, extents[] = {1, 2, 3, 4, 6, 8};
  int64_t threads = threads_list[chance(8)], given = agrees ? 0 : 15 * chance(4);
  shape made[10];
  int32_t n = 0, steps = 2 + (int32_t)chance(5),
          moved = 0; /* moved: up to this one elements have other places */
  *declared = *operations = (writer){.n = 0};
  made[0].rank = 1 + (int32_t)chance(3);
  for (int32_t d = 0; d < made[0].rank; d++) made[0].extent[d] = extents[chance(6)];
  put(declared, "threads %" PRId64 "\nglobal g: f32[", threads);
  for (int32_t d = 0; d < made[0].rank; d++)
    put(declared, d > 0 ? ", %" PRId64 : "%" PRId64, made[0].extent[d]);
  put(declared, "]\n");
  put_tensor(declared, 0, &made[0], threads, given);
  put(operations, "load t0, g\n");
  while (n < steps) {
    shape from = made[n], *to = &made[n + 1];
    int64_t kind = chance(8), dim = from.rank > 0 ? chance(from.rank) : 0;
    *to = from;
    n++;
    if (kind < 4) moved = n;
    if (kind == 7) {
      put(operations, "convert t%" PRId32 ", t%" PRId32, n, n - 1);
    } else if (kind == 0 && from.rank > 0) { /* permute */
      int64_t dims[5];
      for (int32_t d = 0; d < from.rank; d++) dims[d] = d;
      shuffle(from.rank, dims);
      for (int32_t d = 0; d < from.rank; d++) to->extent[d] = from.extent[dims[d]];
      put(operations, "permute t%" PRId32 ", t%" PRId32, n, n - 1);
      put_list(operations, " dims", from.rank, dims);
    } else if (kind == 1 && from.rank > 0) { /* reduce */
      bool keep = chance(2) == 0;
      to->extent[dim] = 1;
      for (int32_t d = (int32_t)dim; !keep && d < from.rank - 1; d++) to->extent[d] = from.extent[d + 1];
      to->rank -= !keep;
      put(operations, "reduce t%" PRId32 ", t%" PRId32 " dims=[%" PRId64 "] keepdims=%s", n, n - 1, dim,
          keep ? "True" : "False");
    } else if (kind == 2 && from.rank < 4) { /* unsqueeze */
      dim = chance(from.rank + 1);
      to->rank++;
      for (int32_t d = from.rank; d > dim; d--) to->extent[d] = from.extent[d - 1];
      to->extent[dim] = 1;
      put(operations, "unsqueeze t%" PRId32 ", t%" PRId32 " dims=[%" PRId64 "]", n, n - 1, dim);
    } else if (kind == 3 && from.rank > 1) { /* reshape: two dims become one, or change places */
      dim = chance(from.rank - 1);
      if (!agrees && chance(2) == 0) {
        to->extent[dim] = from.extent[dim + 1];
        to->extent[dim + 1] = from.extent[dim];
      } else {
        to->extent[dim] *= from.extent[dim + 1];
        for (int32_t d = (int32_t)dim + 1; d < from.rank - 1; d++) to->extent[d] = from.extent[d + 1];
        to->rank--;
      }
      put(operations, "reshape t%" PRId32 ", t%" PRId32, n, n - 1);
    } else if (kind == 4 && agrees && from.rank > 0) { /* along a dim, and the result back to all */
      to->extent[dim] = 1;
      put(operations, "reduce t%" PRId32 ", t%" PRId32 " dims=[%" PRId64 "] keepdims=True\n", n, n - 1, dim);
      put_tensor(declared, n, to, threads, given);
      made[++n] = from;
      to = &made[n];
      put(operations, "elementwise t%" PRId32 ", t%" PRId32 ", t%" PRId32, n, n - 2, n - 1);
    } else if (kind == 4 && !agrees) { /* broadcast */
      for (int32_t d = 0; d < from.rank; d++)
        if (from.extent[d] == 1 && chance(2) == 0) to->extent[d] = extents[chance(6)];
      put(operations, "elementwise t%" PRId32 ", t%" PRId32, n, n - 1);
    } else { /* with an earlier one of the same shape, if there is one */
      int32_t first = !agrees ? 0 : moved < n ? moved : n - 1, other = first + (int32_t)chance(n - first);
      bool same = made[other].rank == from.rank &&
                  memcmp(made[other].extent, from.extent, (size_t)from.rank * sizeof from.extent[0]) == 0;
      put(operations,
          same ? "elementwise t%" PRId32 ", t%" PRId32 ", t%" PRId32 : "copy t%" PRId32 ", t%" PRId32, n,
          n - 1, other);
    }
    put(operations, "\n");
    put_tensor(declared, n, to, threads, given);
  }
  if (chance(2) == 0 && !agrees) return;
  put(declared, "global out: f32[");
  for (int32_t d = 0; d < made[n].rank; d++)
    put(declared, d > 0 ? ", %" PRId64 : "%" PRId64, made[n].extent[d]);
  put(declared, "]\n");
  put(operations, "store out, t%" PRId32 "\n", n);
}

/* The thread and element of a conflict show it, they are the first that do, and the repair is of these layouts. */
static bool conflict_shows(const tesela_kernel_conflict *conflict) {
  const tesela_register *has = &conflict->has, *needs = &conflict->needs;
  int64_t element = 0;
  if (!conflict->have_index || !conflict->repairable) return false;
  for (int32_t d = 0; d < needs->rank; d++) element = element * needs->shape[d] + conflict->index[d];
  if (!infer_holds(needs, conflict->thread, element) || infer_holds(has, conflict->thread, element))
    return false;
  for (int64_t t = 0; t < conflict->thread; t++)
    for (int64_t e = 0; e < has->local_size * has->spatial_size; e++)
      if (infer_holds(needs, t, e) && !infer_holds(has, t, e)) return false;
  return conflict->repair.kind != TESELA_EXCHANGE_NOTHING && conflict->repair.kind != TESELA_EXCHANGE_PERMUTE;
}

static void random_programs_are_judged_as_they_run(void **state) {
  (void)state;
  const char *seed = getenv("TESELA_SEED");
  uint64_t first = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
  int64_t n_ok = 0, n_conflict = 0, n_unknown = 0;
  printf("TESELA_SEED=%" PRIu64 "\n", first);
  for (uint64_t i = 0; i < 3000; i++) {
    static writer declared, operations;
    chance_state = (first * 1000003 + i) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (int k = 0; k < 4; k++) chance(2);
    random_program(&declared, &operations, false);
    put(&declared, "%s", operations.text);
    tesela_kernel_program *program = program_of(declared.text, declared.text);
    tesela_error err = {.message = ""};
    tesela_status status = tesela_kernel_program_infer(program, &err);
    const tesela_kernel_conflict *conflict = tesela_kernel_program_conflict(program);
    bool all = true;
    for (int32_t k = 0; k < tesela_kernel_program_count(program); k++)
      all &= tesela_kernel_program_tensor(program, k).memory ||
             tesela_kernel_program_tensor(program, k).registers;
    n_ok += status == TESELA_OK;
    n_conflict += status == TESELA_E_INVALID;
    n_unknown += status == TESELA_E_UNSUPPORTED;
    if (status != TESELA_OK && status != TESELA_E_INVALID && status != TESELA_E_UNSUPPORTED)
      fail_msg("program %" PRIu64 ": %s\n%s", i, err.message, declared.text);
    if (conflict->found != (status == TESELA_E_INVALID)) fail_msg("program %" PRIu64 ": conflict", i);
    if (conflict->found && !conflict_shows(conflict))
      fail_msg("program %" PRIu64 ": the conflict does not show\n%s", i, declared.text);
    if (all) {
      infer_run run = infer_simulate(program, declared.text);
      if (run.line != (conflict->found ? conflict->line : 0))
        fail_msg("program %" PRIu64 ": ran until line %" PRId64 " (%s), but: %s\n%s", i, run.line, run.what,
                 err.message, declared.text);
    }
    tesela_kernel_program_destroy(program);
  }
  printf("%" PRId64 " run, %" PRId64 " conflicts, %" PRId64 " unknown\n", n_ok, n_conflict, n_unknown);
  assert_true(n_ok > 300 && n_conflict > 300);
}

/* Converts in them, no layout given, and one layout would do: no order of the rules may make a conflict of that. */
static void programs_without_contradictions_have_no_conflict(void **state) {
  (void)state;
  const char *seed = getenv("TESELA_SEED");
  uint64_t first = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
  int64_t n_converts = 0;
  printf("TESELA_SEED=%" PRIu64 "\n", first);
  for (uint64_t i = 0; i < 4000; i++) {
    static writer declared, operations;
    chance_state = (first * 1000003 + i) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (int k = 0; k < 4; k++) chance(2);
    random_program(&declared, &operations, true);
    n_converts += strstr(operations.text, "convert") != NULL;
    put(&declared, "%s", operations.text);
    tesela_kernel_program *program = program_of(declared.text, declared.text);
    tesela_error err = {.message = ""};
    if (tesela_kernel_program_infer(program, &err) != TESELA_OK)
      fail_msg("program %" PRIu64 ": %s\n%s", i, err.message, declared.text);
    infer_run run = infer_simulate(program, declared.text);
    if (run.line != 0)
      fail_msg("program %" PRIu64 ": line %" PRId64 ": %s\n%s", i, run.line, run.what, declared.text);
    tesela_kernel_program_destroy(program);
  }
  assert_true(n_converts > 400);
}

/* A product of random tiles; each tensor is tiles dealt to warps at random, or left open. Returns which are given. */
static unsigned random_product(writer *w) {
  static const char *const names[] = {"a: f16", "b: f16", "c: f32", "d: f32"};
  static const char *const fragments[] = {"A", "B", "C", "C"};
  int64_t m = chance(4) + 1, n = chance(4) + 1, k = chance(3) + 1, warps = INT64_C(1) << chance(3);
  const int64_t tiles[4][2] = {{m, k}, {k, n}, {m, n}, {m, n}};
  static const int64_t extents[4][2] = {{16, 16}, {16, 8}, {16, 8}, {16, 8}};
  unsigned given = 0, wanted = (unsigned)chance(16);
  *w = (writer){.n = 0};
  put(w, "threads %" PRId64 "\n", warps * 32);
  for (int i = 0; i < 4; i++) {
    put(w, "register %s[%" PRId64 ", %" PRId64 "]", names[i], tiles[i][0] * extents[i][0],
        tiles[i][1] * extents[i][1]);
    if (wanted >> i & 1) {
      put_layout(w, 2, tiles[i], warps);
      put(w, " * mma.m16n8k16.f16.%s", fragments[i]);
      given |= 1u << i;
    }
    put(w, "\n");
  }
  put(w, "dot d, a, b, c\n");
  return given;
}

static void random_products_are_judged_as_they_run(void **state) {
  (void)state;
  const char *seed = getenv("TESELA_SEED");
  uint64_t first = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
  int64_t n_ok = 0, n_conflict = 0;
  printf("TESELA_SEED=%" PRIu64 "\n", first);
  for (uint64_t i = 0; i < 1000; i++) {
    static writer w;
    chance_state = (first * 1000003 + i) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (int k = 0; k < 4; k++) chance(2);
    unsigned given = random_product(&w);
    tesela_kernel_program *program = program_of(w.text, w.text);
    tesela_error err = {.message = ""};
    tesela_status status = tesela_kernel_program_infer(program, &err);
    if (status != TESELA_OK && (status != TESELA_E_INVALID || err.reason != TESELA_REASON_CONFLICT))
      fail_msg("program %" PRIu64 ": %s\n%s", i, err.message, w.text);
    if (status != TESELA_OK &&
        (given == 0 || given == 4 || given == 8)) /* a result or an accumulator alone */
      fail_msg("program %" PRIu64 ": a product without a contradiction: %s\n%s", i, err.message, w.text);
    infer_run run = infer_simulate(program, w.text);
    if ((run.line == 0) != (status == TESELA_OK))
      fail_msg("program %" PRIu64 ": %s, but: %s\n%s", i, run.line ? run.what : "it runs", err.message,
               w.text);
    n_ok += status == TESELA_OK;
    n_conflict += status != TESELA_OK;
    tesela_kernel_program_destroy(program);
  }
  printf("%" PRId64 " run, %" PRId64 " conflicts\n", n_ok, n_conflict);
  assert_true(n_ok > 200 && n_conflict > 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_accepted_computes_the_right_values),
      cmocka_unit_test(what_is_refused_cannot_run),
      cmocka_unit_test(random_programs_are_judged_as_they_run),
      cmocka_unit_test(programs_without_contradictions_have_no_conflict),
      cmocka_unit_test(random_products_are_judged_as_they_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
