/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_kernels.c - guarded arenas and random sizes for the tests of kernels.
 */
#include "support_kernels.h"
#include "support_pages.h"
#include "support_seed.h"

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

static pages src_pages;

void protect_src(bool on) { pages_read_only(src_pages, on); }

void fill_src(void) {
  protect_src(false);
  fill_random(src_arena, ARENA);
}

int set_up_arenas(void **unused) {
  (void)unused;
  kernel_seed = test_seed(20240229);
  pages dst_pages = pages_new(ARENA);
  src_pages = pages_new(ARENA);
  assert_int_equal(dst_pages.bytes, ARENA);
  dst_arena = dst_pages.data;
  src_arena = src_pages.data;
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
