/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.c - which instruction sets may be used.
 */
#include "base/base.h"

unsigned tesela__cpu(void) {
#if TESELA__X86
  return __builtin_cpu_supports("avx2") ? TESELA__CPU_AVX2 : 0;
#else
  return 0;
#endif
}
