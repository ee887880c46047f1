/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.c - the usable instruction sets. The CPU is queried once: in a virtual machine that takes 20 microseconds.
 */
#include <stdatomic.h>

#include "base/base.h"

#if TESELA__X86
#include <cpuid.h>

/* Half-precision conversions: AVX2 does not imply them, but known CPUs have both. Not all compilers know the name. */
static bool has_f16c(void) {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

static unsigned ask_cpu(void) {
  unsigned cpu = 0;
#if TESELA__X86
  if (__builtin_cpu_supports("avx2") && has_f16c()) cpu |= TESELA__CPU_AVX2;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    cpu |= TESELA__CPU_AVX512;
  if ((cpu & TESELA__CPU_AVX512) && __builtin_cpu_supports("avx512vbmi")) cpu |= TESELA__CPU_VBMI;
  if ((cpu & TESELA__CPU_AVX512) && __builtin_cpu_supports("gfni")) cpu |= TESELA__CPU_GFNI;
#elif TESELA__NEON
  cpu |= TESELA__CPU_NEON;
#endif
  return cpu;
}

unsigned tesela__cpu(void) {
  enum { KNOWN = 1 << 30 };
  static atomic_uint known;
  unsigned cpu = atomic_load_explicit(&known, memory_order_relaxed);
  if (!cpu) {
    cpu = ask_cpu() | KNOWN;
    atomic_store_explicit(&known, cpu, memory_order_relaxed);
  }
  return cpu & ~(unsigned)KNOWN;
}
