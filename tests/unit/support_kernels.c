/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_kernels.c - guarded arenas and random sizes for the tests of kernels.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "support_kernels.h"
#include "support_seed.h"

#include <sys/mman.h>
#include <unistd.h>

unsigned char *dst_arena, *src_arena, before[ARENA], want[ARENA];
uint64_t kernel_seed;

/* ---- random numbers ---------------------------------------------------------------------------------------- */

static uint64_t state;

uint64_t next(void) { /* splitmix64 */
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

int64_t below(int64_t n) { return (int64_t)(next() % (uint64_t)n); }

int64_t draw_size(int64_t most) {
  int64_t n = 1;
  switch (below(4)) {
  case 0:
    n = 1 + below(24);
    break;
  case 1:
    n = 64 * (1 + below(1 + most / 64));
    break;
  case 2:
    n = 64 * (1 + below(1 + most / 64)) - 1 + below(3);
    break;
  default:
    n = 1 + below(1 + below(most));
  }
  return n < most ? n : most;
}

static void fill_random(unsigned char *memory, int64_t n) {
  for (int64_t i = 0; i < n; i++) memory[i] = (unsigned char)next();
}

/* ---- memory ------------------------------------------------------------------------------------------------ */

static unsigned char *guarded(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char *memory =
      mmap(NULL, ARENA + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(memory != MAP_FAILED);
  assert_int_equal(mprotect(memory, page, PROT_NONE), 0);
  assert_int_equal(mprotect(memory + page + ARENA, page, PROT_NONE), 0);
  return memory + page;
}

void protect_src(bool on) {
  assert_int_equal(mprotect(src_arena, ARENA, on ? PROT_READ : PROT_READ | PROT_WRITE), 0);
}

void fill_src(void) {
  protect_src(false);
  fill_random(src_arena, ARENA);
}

int set_up_arenas(void **unused) {
  (void)unused;
  kernel_seed = test_seed(20240229);
  dst_arena = guarded();
  src_arena = guarded();
  fill_random(before, ARENA);
  return 0;
}

int64_t place(int64_t size) {
  int64_t room = ARENA - size;
  int64_t choice = below(3);
  return choice == 0 ? 0 : choice == 1 ? room : below(room + 1);
}

void check_dst(const tesela__kernel *kernel, const char *what) {
  if (!memcmp(dst_arena, want, ARENA)) return;
  int64_t at = 0;
  while (dst_arena[at] == want[at]) at++;
  fail_msg("%s, seed %" PRIu64 ", %s: byte %" PRId64 " of dst is 0x%02x, not 0x%02x (was 0x%02x)",
           kernel->name, kernel_seed, what, at, dst_arena[at], want[at], before[at]);
}

void reset_dst(void) {
  memcpy(dst_arena, before, ARENA);
  memcpy(want, before, ARENA);
}

/* ---- kernels ------------------------------------------------------------------------------------------------ */

static bool runs_here(const tesela__kernel *kernel) { return !(kernel->isa & ~tesela__cpu()); }

void try_kinds(tesela__kernel_kind first, tesela__kernel_kind last, try_fn *try, int trials) {
  int32_t n;
  const tesela__kernel *kernel = tesela__kernels(&n);
  for (const tesela__kernel *end = kernel + n; kernel < end; kernel++)
    if (kernel->kind >= first && kernel->kind <= last && runs_here(kernel)) {
      for (int i = 0; i < trials; i++) {
        state = (kernel_seed + (uint64_t)i) * 0xd1342543de82ef95; /* the same for every kernel */
        try(kernel);
      }
    }
}
