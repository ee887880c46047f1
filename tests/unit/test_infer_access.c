/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_infer_access.c - loads, stores and copies of a kernel are those that threads can do, bit by bit (support_infer.c).
 *
 * Random programs are judged as they run; registers that are left open are found wherever any register layout is valid, by
 * all of them; a layout of the memory that is proposed works. TESELA_SEED sets the seed.
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

/* ---- by hand -------------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name, *text, *tensor, *other, *why;
  int64_t line;
  const char *would_do; /* NULL: nothing */
  bool for_all;
} conflicts[] = {
    /* lane 0 has (0,0), (1,0), .. of column 0: half bytes side by side where columns are */
    {"a fragment of half bytes by rows",
     "threads 32\nglobal g: u4[16, 8]\nregister r: u4[16, 8] = mma.m16n8k16.f16.B\nload r, g\n", "g", "r",
     "the threads cannot read r from g: no vector of 2 elements: thread 0 has local id 1 not adjacent to the "
     "previous one",
     4, "global_column_major(16, 8)", true},
    {"and written",
     "threads 32\nglobal g: u4[16, 8]\nregister r: u4[16, 8] = mma.m16n8k16.f16.B\nstore g, r\n", "g", "r",
     "the threads cannot write r to g: no vector of 2 elements: thread 0 has local id 1 not adjacent to the "
     "previous one",
     4, "global_column_major(16, 8)", true},
    {"a thread with one half byte", "threads 8\nglobal g: s4[8]\nregister r: s4[8] = spatial(8)\nload r, g\n",
     "g", "r",
     "the threads cannot read r from g: no vector of 1 registers of 4 bits has 1, 2, 4, ... whole bytes", 4,
     NULL, false},
    {"six bits are never bytes", "threads 4\nglobal g: f6e2m3fn[16]\nregister r: f6e2m3fn[16]\nload r, g\n",
     "g", "r",
     "the threads cannot read r from g: no vector of 4 registers of 6 bits has 1, 2, 4, ... whole bytes", 4,
     NULL, false},
    /* four quarters of a byte along rows in r, along columns in q: each alone has a layout */
    {"two loads that want different bytes",
     "threads 4\nglobal g: u2[4, 4]\nregister r: u2[4, 4] = spatial(4, 1).local(1, 4)\n"
     "register q: u2[4, 4] = local(4, 1).spatial(1, 4)\nload r, g\nload q, g\n",
     "g", "q",
     "the threads cannot read q from g: no vector of 4 elements: thread 0 has local id 1 not adjacent to the "
     "previous one",
     6, "global_column_major(4, 4)", false},
    {"half bytes at odd places",
     "threads 2\nglobal g: u4[8] = global_strides([8], [1], offset=1)\nregister r: u4[8]\nload r, g\n", "g",
     "r",
     "the threads cannot read r from g: no vector of 2 elements: thread 0 has local id 0 at a place that is "
     "not a multiple of the vector",
     4, "global_row_major(8)", true},
    {"a copy that would have to turn bytes",
     "threads 32\nglobal g: u4[16, 8]\nshared s: u4[16, 8] = shared_column_major(16, 8)\ncopy s, g\n", "s",
     "g",
     "the threads cannot write s: no vector of 2 elements: thread 0 has local id 1 not adjacent to the "
     "previous one",
     4, "shared_row_major(16, 8)", true},
    {"the middle dim has to be the fastest",
     "threads 4\nglobal g: u4[2, 2, 4]\nregister r: u4[2, 2, 4] = spatial(1, 1, 4).local(2, 2, 1)\nload r, "
     "g\n",
     "g", "r",
     "the threads cannot read r from g: no vector of 2 elements: thread 0 has local id 1 not adjacent to the "
     "previous one",
     4, "global_strides([2, 2, 4], [8, 1, 2])", true},
    {"no dim does, but the order of the registers",
     "threads 1\nglobal g: u4[2, 3]\n"
     "register r: u4[2, 3] = RegisterLayout(shape=[2, 3], mode_shape=[2, 3], spatial_modes=[], "
     "local_modes=[1, 0])\n"
     "register q: u4[2, 3] = RegisterLayout(shape=[2, 3], mode_shape=[2, 3], spatial_modes=[], "
     "local_modes=[1, 0])\n"
     "load r, g\nload q, g\n",
     "g", "r",
     "the threads cannot read r from g: no vector of 2 elements: thread 0 has local id 1 not adjacent to the "
     "previous one",
     5, "global_column_major(2, 3)", true},
};

static void accesses_that_no_thread_can_do_are_named(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof conflicts / sizeof conflicts[0]; i++) {
    const char *name = conflicts[i].name;
    tesela_error err = {.message = ""};
    tesela_kernel_program *program = infer_program(name, conflicts[i].text);
    if (tesela_kernel_program_infer(program, &err) != TESELA_E_INVALID ||
        err.reason != TESELA_REASON_CONFLICT)
      fail_msg("%s: %s", name, err.message);
    const tesela_kernel_conflict *conflict = tesela_kernel_program_conflict(program);
    if (!conflict->is_access || conflict->line != conflicts[i].line ||
        strcmp(conflict->tensor, conflicts[i].tensor) || strcmp(conflict->other, conflicts[i].other) ||
        strcmp(conflict->why, conflicts[i].why))
      fail_msg("%s: line %" PRId64 ", %s, %s: %s", name, conflict->line, conflict->tensor, conflict->other,
               conflict->why);
    assert_int_equal(conflict->repairable, conflicts[i].would_do != NULL);
    assert_int_equal(conflict->would_do_for_all, conflicts[i].for_all);
    assert_int_equal(err.at, conflict->at);
    assert_memory_equal(conflicts[i].text + conflict->at, conflict->operation, strlen(conflict->operation));
    if (conflicts[i].would_do) {
      tesela_tile_memory expected;
      bool same = false;
      assert_int_equal(
          tesela_tile_memory_parse(conflicts[i].would_do, strlen(conflicts[i].would_do), &expected, NULL),
          TESELA_OK);
      assert_int_equal(tesela_tile_memory_same(&conflict->would_do, &expected, &same, NULL), TESELA_OK);
      if (!same || conflict->would_do.space != expected.space) fail_msg("%s: another layout", name);
    }
    tesela_kernel_program_destroy(program);
  }
}

/* ---- random programs ------------------------------------------------------------------------------------------------ */

static uint64_t chance_state;

static int64_t chance(int64_t n) {
  chance_state ^= chance_state << 13;
  chance_state ^= chance_state >> 7;
  chance_state ^= chance_state << 17;
  return (int64_t)(chance_state >> 11) % n;
}

static void begin(uint64_t i) {
  chance_state = (first_seed() * 1000003 + i) * UINT64_C(0x9e3779b97f4a7c15) | 1;
  for (int k = 0; k < 4; k++) chance(2);
}

typedef struct writer {
  char text[4000];
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

/* A tile: its shape, and the primes of its dims. */
typedef struct tile {
  int32_t rank, n;
  int64_t shape[3], modes[16], elements;
} tile;

static tile random_tile(int64_t most) {
  static const int64_t extents[] = {1, 2, 2, 3, 4, 4, 6, 8, 16};
  tile t;
  do {
    t = (tile){.rank = 1 + (int32_t)chance(3), .elements = 1};
    for (int32_t d = 0; d < t.rank; d++) t.elements *= t.shape[d] = extents[chance(9)];
  } while (t.elements > most);
  for (int32_t d = 0; d < t.rank; d++)
    for (int64_t rest = t.shape[d], p = 2; rest > 1; p++)
      for (; rest % p == 0; rest /= p) t.modes[t.n++] = p;
  return t;
}

static void put_type(writer *w, const char *kind, const char *name, const char *type, const tile *t) {
  put(w, "%s %s: %s[", kind, name, type);
  for (int32_t d = 0; d < t->rank; d++) put(w, d > 0 ? ", %" PRId64 : "%" PRId64, t->shape[d]);
  put(w, "]");
}

static void put_registers(writer *w, const tile *t, int64_t threads) {
  int64_t spatial[17], local[16], order[16], left = threads;
  int32_t n_spatial = 0, n_local = 0;
  for (int32_t i = 0; i < t->n; i++) order[i] = i;
  shuffle(t->n, order);
  for (int32_t i = 0; i < t->n; i++)
    if (left % t->modes[order[i]] == 0 && chance(3) > 0) {
      spatial[n_spatial++] = order[i];
      left /= t->modes[order[i]];
    } else
      local[n_local++] = order[i];
  if (chance(2) == 0) /* the fastest last, as memory mostly has it */
    for (int32_t i = 1; i < n_local; i++)
      for (int32_t k = i; k > 0 && local[k - 1] > local[k]; k--) {
        int64_t swapped = local[k];
        local[k] = local[k - 1];
        local[k - 1] = swapped;
      }
  if (left > 1) spatial[n_spatial++] = -left;
  put(w, " = RegisterLayout(");
  put_list(w, "shape", t->rank, t->shape);
  put_list(w, ", mode_shape", t->n, t->modes);
  put_list(w, ", spatial_modes", n_spatial, spatial);
  put_list(w, ", local_modes", n_local, local);
  put(w, ")");
}

/* Modes in any order, at times with a gap, an offset, a swizzle of `base` or more. */
static void put_memory(writer *w, const char *kind, const tile *t, int64_t base) {
  int64_t order[16], strides[16], stride = 1;
  bool row_major = chance(2) == 0;
  for (int32_t i = 0; i < t->n; i++) order[i] = i;
  if (!row_major) shuffle(t->n, order);
  int64_t gap = chance(4) == 0 ? chance(4) : 0;
  for (int32_t k = t->n - 1; k >= 0; k--) {
    strides[order[k]] = stride;
    stride = stride * t->modes[order[k]] + (k == t->n / 2 ? gap : 0);
  }
  put(w, " = %sLayout(", strcmp(kind, "global") == 0 ? "Global" : "Shared");
  put_list(w, "shape", t->rank, t->shape);
  put_list(w, ", mode_shape", t->n, t->modes);
  put_list(w, ", mode_strides", t->n, strides);
  if (chance(6) == 0) put(w, ", offset=%" PRId64, chance(5));
  put(w, ")");
  if (chance(4) == 0) {
    int64_t bits = 1 + chance(2);
    put(w, ".with_swizzle(Swizzle(%" PRId64 ", %" PRId64 ", %" PRId64 "))", base + chance(4 - base), bits,
        bits + chance(2));
  }
}

static const char *const types[] = {"u4", "s4", "u2", "u1", "f4e2m1fn", "u4", "u8", "f16", "f6e2m3fn"};

/* The next order of n numbers, by Heap's way; false after the last. `at` begins as zeros, *i as 0. */
static bool next_order(int32_t n, int64_t *order, int64_t *at, int32_t *i) {
  while (*i < n && at[*i] >= *i) at[(*i)++] = 0;
  if (*i >= n) return false;
  int64_t j = *i % 2 ? at[*i] : 0, swapped = order[*i];
  order[*i] = order[j];
  order[j] = swapped;
  at[*i]++;
  *i = 0;
  return true;
}

/* g is loaded into r, which goes through s and p to h; some of it by copies. Layouts are given at random. With copies
 * swizzles are of whole bytes: one that turns the halves of some bytes would be copied byte by byte, but not through
 * registers, which have one order in all threads. */
static tile random_program(writer *w) {
  static const int64_t threads_list[] = {1, 2, 4, 6, 8, 16, 32};
  int64_t threads = threads_list[chance(7)], given = chance(4);
  const char *type = types[chance(9)];
  tile t = random_tile(96);
  const struct {
    const char *kind, *name;
  } tensors[] = {{"global", "g"}, {"register", "r"}, {"shared", "s"}, {"register", "p"}, {"global", "h"}};
  const bool copies[2] = {chance(3) == 0, chance(3) == 0};
  *w = (writer){.n = 0};
  put(w, "threads %" PRId64 "\n", threads);
  for (int i = 0; i < 5; i++) {
    put_type(w, tensors[i].kind, tensors[i].name, type, &t);
    if (chance(4) < given) {
      if (tensors[i].kind[0] == 'r')
        put_registers(w, &t, threads);
      else
        put_memory(w, tensors[i].kind, &t, copies[0] || copies[1] ? 3 : 0);
    }
    put(w, "\n");
  }
  put(w, copies[0] ? "copy s, g\n" : "load r, g\nstore s, r\n");
  put(w, copies[1] ? "copy h, s\n" : "load p, s\nstore h, p\n");
  if (chance(3) == 0) put(w, "load r, s\n");
  if (!strstr(w->text, " r,") && !strstr(w->text, ", r\n")) put(w, "load r, g\n");
  if (!strstr(w->text, " p,") && !strstr(w->text, ", p\n")) put(w, "load p, s\n");
  return t;
}

/* The text with another layout for one tensor. */
static void put_mended(writer *w, const char *text, const char *tensor, const tesela_tile_memory *memory) {
  char declared[80], printed[1500];
  tesela_buffer buffer = {printed, sizeof printed, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  assert_int_equal(tesela_tile_memory_print(memory, &to, NULL), TESELA_OK);
  snprintf(declared, sizeof declared, " %s: ", tensor);
  const char *at = strstr(text, declared), *type = at + strcspn(at, "=\n"), *end = at + strcspn(at, "\n");
  *w = (writer){.n = 0};
  put(w, "%.*s = %s%s", (int)(type - text), text, printed, end);
}

/* Does a layout of this tensor do for all accesses? */
static bool does_for_all(const tesela_kernel_program *program, const char *text, const char *name,
                         const tesela_tile_memory *memory) {
  int32_t bits = infer_bits(infer_tensor(program, name).dtype);
  for (const char *at = text; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
    char operation[16], to[8], from[8];
    if (sscanf(at, "%15[a-z] %7[a-z], %7[a-z]", operation, to, from) != 3) continue;
    if (strcmp(to, name) != 0 && strcmp(from, name) != 0) continue;
    tesela_tensor other = infer_tensor(program, strcmp(to, name) == 0 ? from : to);
    if (other.registers ? !infer_can_move(other.registers, memory, bits)
                        : !infer_can_copy(strcmp(to, name) == 0 ? memory : other.memory,
                                          strcmp(to, name) == 0 ? other.memory : memory, bits))
      return false;
  }
  return true;
}

/* Does any compact layout of a tensor, with the primes of its dims in any order, do for all accesses? */
static bool any_memory_does(const tile *t, const tesela_kernel_program *program, const char *text,
                            const char *name) {
  int64_t order[8], at[8] = {0};
  int32_t i = 0;
  for (int32_t k = 0; k < t->n; k++) order[k] = k;
  do {
    int64_t strides[8], stride = 1;
    tesela_tile_memory memory;
    for (int32_t k = t->n - 1; k >= 0; stride *= t->modes[order[k--]]) strides[order[k]] = stride;
    assert_int_equal(tesela_tile_memory_make(&memory, TESELA_TILE_GLOBAL, t->rank, t->shape, t->n, t->modes,
                                             strides, 0, NULL, NULL),
                     TESELA_OK);
    if (does_for_all(program, text, name, &memory)) return true;
  } while (next_order(t->n, order, at, &i));
  return false;
}

/* What a conflict about an access says is so. */
static const char *wrong_of(const tesela_kernel_conflict *conflict, tesela_kernel_program *program,
                            const char *text, const tile *t) {
  tesela_tensor tensor = infer_tensor(program, conflict->tensor),
                other = infer_tensor(program, conflict->other);
  int32_t bits = infer_bits(tensor.dtype);
  bool copy = other.memory != NULL;
  if (infer_can_move(&conflict->has, &conflict->memory, bits)) return "it can be moved";
  if (!conflict->would_do_for_all && t->n <= 5 && any_memory_does(t, program, text, conflict->tensor))
    return "a layout would do for all";
  if (!conflict->repairable) {
    if (copy)
      return infer_can_copy(other.memory, other.memory, bits) ? "as the other side lies it would do" : NULL;
    return bits == 6 || conflict->has.local_size * bits % 8 != 0 ? NULL : "a layout would do";
  }
  if (!copy && !infer_can_move(&conflict->has, &conflict->would_do, bits)) return "it would not do";
  if (copy && !infer_can_copy(&conflict->would_do, other.memory, bits) &&
      !infer_can_copy(other.memory, &conflict->would_do, bits))
    return "a copy it would not do for";
  if (!conflict->would_do_for_all) return NULL;
  static writer mended;
  char name[8];
  snprintf(name, sizeof name, "%s", conflict->tensor);
  put_mended(&mended, text, name, &conflict->would_do);
  tesela_kernel_program *again = infer_program(mended.text, mended.text);
  tesela_status status = tesela_kernel_program_infer(again, NULL);
  const tesela_kernel_conflict *left = tesela_kernel_program_conflict(again);
  bool same = status == TESELA_E_INVALID && (!left->is_access || strcmp(left->tensor, name) == 0);
  tesela_kernel_program_destroy(again);
  return same ? "it would not do for all" : NULL;
}

static void random_accesses_are_judged_bit_by_bit(void **state) {
  (void)state;
  int64_t n_ok = 0, n_conflict = 0, n_not_repairable = 0, n_alone = 0;
  for (uint64_t i = 0; i < 3000; i++) {
    static writer w;
    begin(i);
    tile t = random_program(&w);
    tesela_error err = {.message = ""};
    tesela_kernel_program *program = NULL;
    if (tesela_kernel_program_create(&program, w.text, w.n, NULL, &err) != TESELA_OK) {
      if (!strstr(err.message, "in one place"))
        fail_msg("program %" PRIu64 ": %s\n%s", i, err.message, w.text);
      continue;
    }
    tesela_status status = tesela_kernel_program_infer(program, &err);
    const tesela_kernel_conflict *conflict = tesela_kernel_program_conflict(program);
    if (status != TESELA_OK && (status != TESELA_E_INVALID || !conflict->found || !conflict->is_access))
      fail_msg("program %" PRIu64 ": %s\n%s", i, err.message, w.text);
    infer_run run = infer_simulate(program, w.text);
    if (run.line != (conflict->found ? conflict->line : 0))
      fail_msg("program %" PRIu64 ": ran until line %" PRId64 " (%s), but: %s\n%s", i, run.line, run.what,
               err.message, w.text);
    const char *wrong = conflict->found ? wrong_of(conflict, program, w.text, &t) : NULL;
    if (wrong) fail_msg("program %" PRIu64 ": %s: %s\n%s", i, err.message, wrong, w.text);
    n_ok += !conflict->found;
    n_conflict += conflict->found;
    n_not_repairable += conflict->found && !conflict->repairable;
    n_alone += conflict->repairable && !conflict->would_do_for_all;
    tesela_kernel_program_destroy(program);
  }
  printf("%" PRId64 " run, %" PRId64 " conflicts, %" PRId64 " without a layout, %" PRId64 " for one access\n",
         n_ok, n_conflict, n_not_repairable, n_alone);
  assert_true(n_ok > 500 && n_conflict > 300 && n_not_repairable > 50 && n_alone > 10);
}

/* ---- registers that are left open ------------------------------------------------------------------------------------ */

/* Does any register layout of this tile do? Each prime of a dim goes to threads or stays, in every order. */
static bool any_registers(const tile *t, int64_t threads, const tesela_tile_memory *memory, int32_t bits) {
  int64_t order[8], at[8] = {0};
  int32_t i = 0;
  for (int32_t k = 0; k < t->n; k++) order[k] = k;
  do {
    for (int32_t cut = 0; cut <= t->n; cut++) { /* order[0 .. cut-1] are spatial */
      int64_t spatial[9], local[8], left = threads;
      int32_t n_spatial = 0, n_local = 0;
      bool fits = true;
      for (int32_t k = 0; k < t->n; k++)
        if (k < cut) {
          fits = fits && left % t->modes[order[k]] == 0;
          left /= t->modes[order[k]];
          spatial[n_spatial++] = order[k];
        } else
          local[n_local++] = order[k];
      if (!fits) break;
      if (left > 1) spatial[n_spatial++] = -left;
      tesela_register layout;
      assert_int_equal(tesela_register_make(&layout, t->rank, t->shape, t->n, t->modes, n_spatial, spatial,
                                            n_local, local, NULL),
                       TESELA_OK);
      if (infer_can_move(&layout, memory, bits)) return true;
    }
  } while (next_order(t->n, order, at, &i));
  return false;
}

static void open_registers_are_found_wherever_there_are_any(void **state) {
  (void)state;
  static const int64_t threads_list[] = {1, 2, 3, 4, 6, 8};
  int64_t n_ok = 0, n_conflict = 0;
  for (uint64_t i = 0; i < 1500; i++) {
    static writer w;
    begin(i + 1000000);
    tile t = random_tile(32);
    int64_t threads = threads_list[chance(6)];
    const char *type = types[chance(5)];
    if (t.n > 5) continue;
    w = (writer){.n = 0};
    put(&w, "threads %" PRId64 "\n", threads);
    put_type(&w, "global", "g", type, &t);
    put_memory(&w, "global", &t, 0);
    put(&w, "\n");
    put_type(&w, "register", "r", type, &t);
    put(&w, "\nload r, g\n");
    tesela_kernel_program *program = infer_program(w.text, w.text);
    tesela_status status = tesela_kernel_program_infer(program, NULL);
    tesela_tensor g = infer_tensor(program, "g");
    bool any = any_registers(&t, threads, g.memory, infer_bits(g.dtype));
    if (any != (status == TESELA_OK))
      fail_msg("program %" PRIu64 ": %s\n%s", i, any ? "there are registers" : "there are none", w.text);
    if (any && !infer_can_move(infer_tensor(program, "r").registers, g.memory, infer_bits(g.dtype)))
      fail_msg("program %" PRIu64 ": it cannot be loaded\n%s", i, w.text);
    n_ok += any;
    n_conflict += !any;
    tesela_kernel_program_destroy(program);
  }
  printf("%" PRId64 " found, %" PRId64 " without\n", n_ok, n_conflict);
  assert_true(n_ok > 200 && n_conflict > 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accesses_that_no_thread_can_do_are_named),
      cmocka_unit_test(random_accesses_are_judged_bit_by_bit),
      cmocka_unit_test(open_registers_are_found_wherever_there_are_any),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
