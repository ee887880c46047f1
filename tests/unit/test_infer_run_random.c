/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_infer_run_random.c - random kernels are judged as they run by the definition (support_infer.c):
 * those that the checks accept give the right values, and those that they refuse cannot run, at that operation.
 * TESELA_SEED sets the seed.
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
#include "support_seed.h"

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
  const uint64_t first = first_seed();
  int64_t n_ok = 0, n_conflict = 0, n_unknown = 0;
  for (uint64_t i = 0; i < 3000; i++) {
    static writer declared, operations;
    chance_state = (first * 1000003 + i) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (int k = 0; k < 4; k++) chance(2);
    random_program(&declared, &operations, false);
    put(&declared, "%s", operations.text);
    tesela_kernel_program *program = infer_program(declared.text, declared.text);
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

/* Converts in them, no layout given, and one layout is enough: no order of the rules may make a conflict of that. */
static void programs_without_contradictions_have_no_conflict(void **state) {
  (void)state;
  const uint64_t first = first_seed();
  int64_t n_converts = 0;
  for (uint64_t i = 0; i < 4000; i++) {
    static writer declared, operations;
    chance_state = (first * 1000003 + i) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (int k = 0; k < 4; k++) chance(2);
    random_program(&declared, &operations, true);
    n_converts += strstr(operations.text, "convert") != NULL;
    put(&declared, "%s", operations.text);
    tesela_kernel_program *program = infer_program(declared.text, declared.text);
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
  const uint64_t first = first_seed();
  int64_t n_ok = 0, n_conflict = 0;
  for (uint64_t i = 0; i < 1000; i++) {
    static writer w;
    chance_state = (first * 1000003 + i) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (int k = 0; k < 4; k++) chance(2);
    unsigned given = random_product(&w);
    tesela_kernel_program *program = infer_program(w.text, w.text);
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
      cmocka_unit_test(random_programs_are_judged_as_they_run),
      cmocka_unit_test(programs_without_contradictions_have_no_conflict),
      cmocka_unit_test(random_products_are_judged_as_they_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
