/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout_names.c - the names of solvers and instruction sets, and which of these the CPU has.
 */
#include "relayout/plan.h"

const char *tesela_solver_name(tesela_solver solver) {
  switch (solver) {
#define TESELA__ROW(symbol, value, name, text) \
  case symbol:                                 \
    return name;
    TESELA_SOLVER_MAP(TESELA__ROW)
#undef TESELA__ROW
  }
  return NULL;
}

const char *tesela_isa_name(tesela_isa isa) {
  switch (isa) {
#define TESELA__ROW(symbol, value, name) \
  case symbol:                           \
    return name;
    TESELA_ISA_MAP(TESELA__ROW)
#undef TESELA__ROW
  }
  return NULL;
}

bool tesela_isa_available(tesela_isa isa) {
  unsigned cpu = tesela__cpu();
  switch (isa) {
  case TESELA_ISA_BEST:
  case TESELA_ISA_C:
    return true;
  case TESELA_ISA_NEON:
    return cpu & TESELA__CPU_NEON;
  case TESELA_ISA_AVX2:
    return cpu & TESELA__CPU_AVX2;
  case TESELA_ISA_AVX512:
    return cpu & TESELA__CPU_AVX512;
  }
  return false;
}
