/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kernels_transpose.c - every transpose kernel of the table that this CPU can run, on every block size it takes
 * and on tiles of several blocks, against the definition in kernels.h: one element after the other.
 *
 * Rows lie in an arena in random order, with random gaps and alignment; the first and the last are flush against
 * memory that may not be touched. src may not be written, and all bytes of dst outside the rows must stay.
 *
 * TESELA_SEED sets the seed.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/kernels.h"
#include "support_seed.h"

#ifndef MAP_ANONYMOUS /* needs more than the POSIX that the tests ask for */
#define MAP_ANONYMOUS 0x20
#endif

enum {
  MOST_BLOCK = 64,
  MOST_ROWS = 160,   /* of a tile of several blocks */
  MOST_GAP = 70,     /* bytes between two rows */
  ARENA_MIN = 16384, /* bytes; holds MOST_BLOCK rows of 64 bytes with their gaps, and is whole pages */
  FAULT_TRIALS = 20
};

static size_t arena; /* bytes of each */
static unsigned char *dst_arena, *src_arena, *before, *want;

/* ---- random numbers ---------------------------------------------------------------------------------------- */

static uint64_t seed, random_state;

static uint64_t random_bits(void) { /* splitmix64 */
  uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static int64_t below(int64_t n) { return (int64_t)(random_bits() % (uint64_t)n); }

static void fill_random(unsigned char *memory) {
  for (size_t i = 0; i < arena; i++) memory[i] = (unsigned char)random_bits();
}

/* ---- memory ------------------------------------------------------------------------------------------------ */

static unsigned char *guarded(size_t page) {
  unsigned char *memory = mmap(NULL, arena + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(memory != MAP_FAILED);
  assert_int_equal(mprotect(memory + page, arena, PROT_READ | PROT_WRITE), 0);
  return memory + page;
}

static int set_up(void **unused) {
  (void)unused;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  arena = page > ARENA_MIN ? page : ARENA_MIN;
  dst_arena = guarded(page);
  src_arena = guarded(page);
  before = malloc(arena);
  want = malloc(arena);
  assert_true(before && want);
  fill_random(before);
  fill_random(src_arena);
  assert_int_equal(mprotect(src_arena, arena, PROT_READ), 0);
  return 0;
}

static int tear_down(void **unused) {
  (void)unused;
  free(before);
  free(want);
  return 0;
}

/* ---- blocks ------------------------------------------------------------------------------------------------ */

typedef struct block_case {
  int32_t width, rows, cols;
  tesela__stores stores;
  int64_t dst_base, src_base; /* places in the arenas that offsets count from */
  int64_t dst_off[MOST_ROWS], src_off[MOST_ROWS];
} block_case;

/* Places for n rows of `bytes` bytes that do not overlap, the first at the begin and the last at the end of the
   arena, in random order. All are multiples of `align`. */
static void place_rows(int64_t *place, int32_t n, int64_t bytes, int64_t align) {
  int64_t at = 0;
  bytes = (bytes + align - 1) / align * align;
  for (int32_t i = 0; i < n; i++) {
    place[i] = at;
    at += bytes + (align > 1 ? align * below(2) : below(3) ? below(MOST_GAP) : 0);
  }
  if (n > 1 || below(2)) place[n - 1] = (int64_t)arena - bytes;
  for (int32_t i = n - 1; i > 0; i--) {
    const int64_t other = below(i + 1), kept = place[i];
    place[i] = place[other];
    place[other] = kept;
  }
}

/* Places for n rows that follow each other, at the begin or the end of the arena; at times two of them change places. */
static void place_together(int64_t *place, int32_t n, int64_t bytes) {
  const int64_t first = below(2) ? 0 : (int64_t)arena - n * bytes;
  for (int32_t i = 0; i < n; i++) place[i] = first + i * bytes;
  if (below(4)) return;
  const int64_t i = below(n), other = below(n), kept = place[i];
  place[i] = place[other];
  place[other] = kept;
}

static block_case draw_case(int32_t width, int32_t rows, int32_t cols, tesela__stores stores) {
  block_case c = {.width = width, .rows = rows, .cols = cols, .stores = stores};
  place_rows(c.dst_off, cols, (int64_t)rows * width, stores == TESELA__PAST_CACHE ? 64 : 1);
  place_rows(c.src_off, rows, (int64_t)cols * width, 1);
  c.dst_base = below((int64_t)arena);
  c.src_base = below((int64_t)arena);
  for (int32_t j = 0; j < cols; j++) c.dst_off[j] -= c.dst_base;
  for (int32_t i = 0; i < rows; i++) c.src_off[i] -= c.src_base;
  return c;
}

/* The definition. */
static void transpose(const block_case *c, unsigned char *dst) {
  const size_t width = (size_t)c->width;
  for (int32_t j = 0; j < c->cols; j++)
    for (int32_t i = 0; i < c->rows; i++)
      memcpy(dst + c->dst_base + c->dst_off[j] + i * c->width,
             src_arena + c->src_base + c->src_off[i] + j * c->width, width);
}

/* The tables go to the kernel as copies of their own size, so that sanitizers see reads past their ends. */
static void run(tesela__transpose_fn *kernel, const block_case *c) {
  const size_t dst_size = (size_t)c->cols * sizeof(int64_t), src_size = (size_t)c->rows * sizeof(int64_t);
  int64_t *dst_off = malloc(dst_size), *src_off = malloc(src_size);
  assert_true(dst_off && src_off);
  memcpy(dst_off, c->dst_off, dst_size);
  memcpy(src_off, c->src_off, src_size);
  kernel(dst_arena + c->dst_base, dst_off, src_arena + c->src_base, src_off, c->rows, c->cols, c->stores);
  if (c->stores == TESELA__PAST_CACHE) tesela__fence();
  free(dst_off);
  free(src_off);
}

/* The first byte of dst that is wrong after the kernel, or -1. */
static int64_t wrong_byte(tesela__transpose_fn *kernel, const block_case *c) {
  memcpy(dst_arena, before, arena);
  memcpy(want, before, arena);
  transpose(c, want);
  run(kernel, c);
  if (!memcmp(dst_arena, want, arena)) return -1;
  int64_t at = 0;
  while (dst_arena[at] == want[at]) at++;
  return at;
}

static void check_case_with(const tesela__kernel *kernel, int32_t rows, int32_t cols, tesela__stores stores,
                            bool together) {
  const uint64_t state = random_state;
  block_case c = draw_case(kernel->width, rows, cols, stores);
  if (together) {
    place_together(c.dst_off, cols, (int64_t)rows * c.width);
    for (int32_t j = 0; j < cols; j++) c.dst_off[j] -= c.dst_base;
  }
  const int64_t at = wrong_byte((tesela__transpose_fn *)kernel->fn, &c);
  if (at >= 0)
    fail_msg("%s, %" PRId32 " rows, %" PRId32 " cols, stores %d, seed %" PRIu64 " (state %" PRIu64
             "): byte %" PRId64 " of dst is 0x%02x, not 0x%02x (was 0x%02x)",
             kernel->name, rows, cols, stores, seed, state, at, dst_arena[at], want[at], before[at]);
}

static void check_case(const tesela__kernel *kernel, int32_t rows, int32_t cols, tesela__stores stores) {
  check_case_with(kernel, rows, cols, stores, false);
}

/* ---- tests ------------------------------------------------------------------------------------------------- */

static void kernels_follow_the_definition(void **unused) {
  (void)unused;
  int32_t n;
  const tesela__kernel *kernels = tesela__kernels(&n);
  for (int32_t k = 0; k < n; k++) {
    const tesela__kernel *kernel = &kernels[k];
    if (kernel->kind != TESELA__K_TRANSPOSE || (kernel->isa & ~tesela__cpu())) continue;
    const int32_t block = kernel->block;
    assert_true(block >= 1 && block <= MOST_BLOCK);
    random_state = seed;
    for (int32_t rows = 1; rows <= block; rows++)
      for (int32_t cols = 1; cols <= block; cols++)
        for (int trial = 0; trial < (block <= 16 ? 8 : 1); trial++)
          check_case(kernel, rows, cols, TESELA__TO_CACHE);
    for (int32_t rows = 1; rows <= block; rows++)
      for (int trial = 0; trial < 16; trial++) check_case_with(kernel, rows, block, TESELA__TO_CACHE, true);
    for (int32_t cols = 1; cols <= block && block * kernel->width % 64 == 0; cols++)
      for (int trial = 0; trial < 4; trial++) check_case(kernel, block, cols, TESELA__PAST_CACHE);
    printf("%s: %" PRId32 " x %" PRId32 "\n", kernel->name, block, block);
  }
}

/* Tiles of several blocks, of which the last ones of a row and of a column may be partial. */
static void tiles_follow_the_definition(void **unused) {
  (void)unused;
  enum { TRIALS = 400 };
  int32_t n;
  const tesela__kernel *kernels = tesela__kernels(&n);
  for (int32_t k = 0; k < n; k++) {
    const tesela__kernel *kernel = &kernels[k];
    if (kernel->kind != TESELA__K_TRANSPOSE || (kernel->isa & ~tesela__cpu())) continue;
    const int32_t width = kernel->width, most = MOST_ROWS / width;
    int tried = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
      tesela__stores stores = (tesela__stores)(trial % 3);
      if (kernel->block * width % 64) stores = TESELA__TO_CACHE_AHEAD;
      const int32_t rows = (int32_t)(1 + below(most)), cols = (int32_t)(1 + below(most));
      const int64_t dst_row = rows * width + 64 + MOST_GAP, src_row = cols * width + MOST_GAP;
      if (dst_row * cols > (int64_t)arena || src_row * rows > (int64_t)arena) continue;
      check_case(kernel, rows, cols, stores);
      tried += rows > kernel->block || cols > kernel->block;
    }
    assert_true(tried > TRIALS / 10);
  }
}

static void every_width_has_a_kernel_for_every_cpu(void **unused) {
  (void)unused;
  for (int32_t width = 1; width <= 16; width *= 2) {
    const tesela__kernel *kernel = tesela__kernel_find(TESELA__K_TRANSPOSE, width, 0, 0);
    assert_true(kernel && kernel->isa == 0 && kernel->block >= 4);
  }
}

/* ---- planted faults: the definition of 4-byte elements with something wrong -------------------------------- */

#define ARGUMENTS                                                                               \
  unsigned char *dst, const int64_t *dst_off, const unsigned char *src, const int64_t *src_off, \
      int32_t rows, int32_t cols, tesela__stores stores

static void right(ARGUMENTS) {
  (void)stores;
  for (int32_t j = 0; j < cols; j++)
    for (int32_t i = 0; i < rows; i++) memcpy(dst + dst_off[j] + i * 4, src + src_off[i] + j * 4, 4);
}

static void leaves_the_last_element(ARGUMENTS) {
  const int64_t last = dst_off[cols - 1] + (rows - 1) * 4;
  unsigned char kept[4];
  memcpy(kept, dst + last, 4);
  right(dst, dst_off, src, src_off, rows, cols, stores);
  memcpy(dst + last, kept, 4);
}

static void writes_a_byte_behind_a_row(ARGUMENTS) {
  right(dst, dst_off, src, src_off, rows, cols, stores);
  dst[dst_off[0] + rows * 4] ^= 1;
}

static void reads_a_byte_behind_each_row(ARGUMENTS) {
  volatile unsigned char sum = 0;
  for (int32_t i = 0; i < rows; i++) sum = (unsigned char)(sum + src[src_off[i] + cols * 4]);
  right(dst, dst_off, src, src_off, rows, cols, stores);
}

static void reads_a_byte_before_each_row(ARGUMENTS) {
  volatile unsigned char sum = 0;
  for (int32_t i = 0; i < rows; i++) sum = (unsigned char)(sum + src[src_off[i] - 1]);
  right(dst, dst_off, src, src_off, rows, cols, stores);
}

static void writes_src(ARGUMENTS) {
  *(unsigned char *)(uintptr_t)(src + src_off[0]) ^= 1;
  right(dst, dst_off, src, src_off, rows, cols, stores);
}

static void exit_quietly(int number) {
  (void)number;
  _exit(1);
}

/* Does a process of its own notice the fault, by a wrong byte or by a signal? */
static bool is_noticed(tesela__transpose_fn *kernel) {
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGSEGV, exit_quietly); /* cmocka would report a failed test */
    signal(SIGBUS, exit_quietly);
    bool wrong = false;
    for (int trial = 0; trial < FAULT_TRIALS && !wrong; trial++) {
      const block_case c = draw_case(4, (int32_t)(1 + below(16)), (int32_t)(1 + below(16)), false);
      wrong = wrong_byte(kernel, &c) >= 0;
    }
    _exit(wrong);
  }
  int status;
  assert_true(waitpid(child, &status, 0) == child);
  return status != 0;
}

static void planted_faults_are_noticed(void **unused) {
  (void)unused;
  assert_true(!is_noticed(right));
  assert_true(is_noticed(leaves_the_last_element));
  assert_true(is_noticed(writes_a_byte_behind_a_row));
  assert_true(is_noticed(reads_a_byte_behind_each_row));
  assert_true(is_noticed(reads_a_byte_before_each_row));
  assert_true(is_noticed(writes_src));
}

int main(void) {
  random_state = seed = test_seed(20260307);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_follow_the_definition),
      cmocka_unit_test(tiles_follow_the_definition),
      cmocka_unit_test(every_width_has_a_kernel_for_every_cpu),
      cmocka_unit_test(planted_faults_are_noticed),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
