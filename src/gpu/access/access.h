/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - declarations that the files of tile accesses share: a register tile over a tile in memory, digit by digit.
 *
 * In most tiles the modes of registers and memory have a common refinement: each digit of a thread id or a local id
 * moves the place by a fixed number of elements, independent of the other digits, and
 *
 *   place(thread, local) = swizzle(P[thread] + Q[local])
 *
 *   local(2,1).spatial(8,4).local(1,4) over 16x16 row-major: thread digits, fastest first, (4, 4) (8, 16); local digits
 *   (4, 1) (2, 128). Thread 5 at local id 6: 1*4 + 1*16 + 2*1 + 1*128.
 *
 * A dim whose modes do not refine each other (2x3 over 3x2) is *rough* above the largest cut that both allow: there the
 * digits give an index, which the modes of the memory split for every register.
 *
 * Places are sums in a checked tile: they stay below memory->size and need no further checks.
 */
#ifndef TESELA_SRC_TILE_ACCESS_H
#define TESELA_SRC_TILE_ACCESS_H

#include <tesela/access.h>

#include "base/base.h"

/* Bounds that follow from threads times registers <= 2^24. */
enum {
  TESELA__ACCESS_DIGITS = 24,                       /* each of extent 2 or more */
  TESELA__ACCESS_ROUGH = 9,                         /* rough dims have an extent of 6 or more */
  TESELA__ACCESS_MODES = 24 + TESELA__ACCESS_ROUGH, /* one mode of each rough dim is cut */
  TESELA__ACCESS_BANKS = 128,
  TESELA__ACCESS_KEYS = 256, /* words of a phase: banks + 2 * warp at most, or those of one vector */
};

/* A digit of a thread or local id. */
typedef struct tesela__access_digit {
  int64_t extent; /* > 1 */
  int64_t stride; /* elements of memory per step, or steps of the index of a rough dim */
  int32_t part;   /* number of the rough dim, or -1 for memory */
} tesela__access_digit;

typedef struct tesela__access_digits {
  int32_t n; /* fastest first */
  tesela__access_digit digit[TESELA__ACCESS_DIGITS];
} tesela__access_digits;

/* Modes of memory of one dim, innermost first: a run in mode_extent, mode_stride and mode_end. */
typedef struct tesela__access_modes {
  int32_t first, n;
} tesela__access_modes;

/* An XOR stage: bits from `from` on act on those from `to` on. All zeros: no stage. */
typedef struct tesela__access_swizzle {
  uint64_t mask;
  int32_t from, to;
} tesela__access_swizzle;

typedef struct tesela__access {
  int32_t bits;
  int32_t max_vector_bytes;
  int64_t threads, locals; /* threads * locals <= TESELA_ACCESS_LIMIT */
  int64_t offset;
  tesela__access_swizzle swizzle;
  tesela__access_digits thread, local;
  int32_t n_rough;
  tesela__access_modes rough[TESELA__ACCESS_ROUGH];
  int64_t mode_extent[TESELA__ACCESS_MODES], mode_stride[TESELA__ACCESS_MODES];
  int64_t mode_end[TESELA__ACCESS_MODES]; /* indices of the dim below the end of the mode */
} tesela__access;

/* The state of a walk over thread or local ids: the parts of the place, and of the index along each rough dim, that
 * they contribute. */
typedef struct tesela__access_walk {
  const tesela__access_digits *digits;
  int64_t place;
  int64_t part[TESELA__ACCESS_ROUGH];
  int64_t at[TESELA__ACCESS_DIGITS];
} tesela__access_walk;

/* The same parts for up to TESELA_ACCESS_WARP threads. */
typedef struct tesela__access_lanes {
  int32_t n;
  int64_t place[TESELA_ACCESS_WARP];
  int64_t part[TESELA_ACCESS_WARP][TESELA__ACCESS_ROUGH];
} tesela__access_lanes;

/* The vectors of a phase and the banks. A bank delivers `1 << shift` bytes, in `deliveries` wavefronts; vectors that
 * are wider than a bank and aligned to their own width count as those of one wide bank. */
typedef struct tesela__access_phase {
  int32_t lanes;      /* threads of a phase */
  int32_t shift;      /* log2 of the bytes of a bank */
  int32_t groups;     /* banks, a power of two */
  int64_t deliveries; /* wavefronts for one word of a bank */
  int64_t span;       /* a vector from byte x on reads words x >> shift .. (x + span) >> shift */
} tesela__access_phase;

/* Replace zeros by defaults (machine may be NULL), and check ranges. TESELA_E_RANGE. */
tesela_status tesela__access_machine(const tesela_access_machine *machine, tesela_access_machine *full,
                                     tesela_error *err);

/* Lay registers over memory. TESELA_E_RANGE for bits, _MISMATCH, _LIMIT, _OVERFLOW for the bits of memory. */
tesela_status tesela__access_make(tesela__access *access, const tesela_register *registers,
                                  const tesela_tile_memory *memory, int32_t bits,
                                  const tesela_access_machine *full, tesela_error *err);

void tesela__access_start(tesela__access_walk *walk, const tesela__access_digits *digits, int64_t id);

static inline void tesela__access_next(tesela__access_walk *walk) {
  const tesela__access_digits *digits = walk->digits;
  for (int32_t i = 0; i < digits->n; i++) {
    const tesela__access_digit *digit = &digits->digit[i];
    int64_t *share = digit->part < 0 ? &walk->place : &walk->part[digit->part];
    if (++walk->at[i] < digit->extent) {
      *share += digit->stride;
      return;
    }
    *share -= digit->stride * (digit->extent - 1);
    walk->at[i] = 0;
  }
}

/* Read the parts of n threads, and step past them. */
void tesela__access_take(tesela__access_lanes *lanes, const tesela__access *access,
                         tesela__access_walk *thread, int32_t n);

static inline int64_t tesela__access_xor(const tesela__access_swizzle *swizzle, int64_t x) {
  uint64_t y = ((uint64_t)x >> swizzle->from) & swizzle->mask;
  return (int64_t)((uint64_t)x ^ (y << swizzle->to));
}

int64_t tesela__access_through_rough(const tesela__access *access, const int64_t *thread_part,
                                     const int64_t *local_part);

/* The place of a register, from the thread's part and the local id's part. */
static inline int64_t tesela__access_place(const tesela__access *access, int64_t thread_place,
                                           const int64_t *thread_part, const tesela__access_walk *local) {
  int64_t place = access->offset + thread_place + local->place;
  if (access->n_rough > 0) place += tesela__access_through_rough(access, thread_part, local->part);
  return tesela__access_xor(&access->swizzle, place);
}

/* ---- vectors (access_vector.c) ------------------------------------------------------------------------------- */

/* Bytes of a vector of v elements; 0 if no instruction moves such a vector. */
int32_t tesela__access_vector_bytes(const tesela__access *access, int64_t v);

/* Can every thread use vectors of v elements? Needs tesela__access_vector_bytes(v) > 0. */
bool tesela__access_fits(const tesela__access *access, int64_t v);

/* The same, register by register, threads first; if false, the first register at fault. */
bool tesela__access_follow(const tesela__access *access, int64_t v, int64_t *bad_thread, int64_t *bad_local);

/* The widest vector that fits, or 0. */
int64_t tesela__access_widest(const tesela__access *access);

/* 0 becomes the widest vector; any other width must fit. TESELA_E_RANGE, TESELA_E_INVALID. */
tesela_status tesela__access_choose(const tesela__access *access, int64_t asked, int64_t *vector,
                                    tesela_error *err);

/* Is the access possible with vectors of some width? The answer of tesela_access_cost_of with vector 0 on NVIDIA's
 * machine, without counting; *vector receives the widest. Elements of whole bytes can be moved one at a time, so for
 * them TESELA_ACCESS_LIMIT does not apply (*vector is 1 beyond it). */
tesela_status tesela__access_possible(const tesela_register *registers, const tesela_tile_memory *memory,
                                      int32_t bits, int64_t *vector, tesela_error *err);

/* ---- phases (access_phase.c) ----------------------------------------------------------------------------------- */

/* lanes 0: the number that the banks serve together. */
tesela__access_phase tesela__access_phase_of(const tesela_access_machine *full, int64_t vector_bytes,
                                             int32_t lanes);

/* The same with banks of their own width, for vectors of any width; sets lanes to 0. */
tesela__access_phase tesela__access_phase_by_bank(const tesela_access_machine *full, int64_t vector_bytes);

/* Wavefronts of n vectors that start at these bytes. `words`, if not NULL, receives the words of each bank. */
int64_t tesela__access_wavefronts(const tesela__access_phase *phase, int32_t n, const int64_t *bytes,
                                  uint8_t *words);

/* Wavefronts of all instructions, with warps of `warp`; or any number above `most` if they exceed it. *steps is reduced
 * by the vectors that are examined; once it is below 0 the number is meaningless. */
int64_t tesela__access_total(const tesela__access *access, const tesela__access_phase *phase, int32_t warp,
                             int64_t vector, int64_t most, int64_t *steps);

/* Phases of all instructions. */
int64_t tesela__access_phases(const tesela__access *access, const tesela__access_phase *phase, int32_t warp,
                              int64_t vector);

/* Fill all fields of tesela_access_cost. */
void tesela__access_count(const tesela__access *access, const tesela__access_phase *phase,
                          const tesela_access_machine *full, int64_t vector, tesela_access_cost *cost);

/* ---- ldmatrix (access_ldmatrix.c) ------------------------------------------------------------------------------- */

enum { TESELA__LDMATRIX_ROWS = 8, TESELA__LDMATRIX_LANES = 32, TESELA__LDMATRIX_ROW_BYTES = 16 };

/* The layout of the row reads of a tile: thread 8 * warp + row holds the elements of a row, tile after tile. False if
 * the registers are not a multiple of an atom; why (of `room` bytes, or NULL) receives the reason. */
bool tesela__ldmatrix_rows(const tesela_register *registers, int32_t bits, bool *transposed,
                           tesela_register *quotient, tesela_register *rows, char *why, size_t room);

#endif
