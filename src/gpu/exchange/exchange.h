/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h - what the files of exchange plans share: tables of a pair of layouts, the program of a warp, the plan.
 *
 *   exchange_table.c   element numbers of threads and local ids; who holds an element; the unit
 *   exchange.c         create, the kind
 *   exchange_ask.c     questions
 *   exchange_rounds.c  shuffle rounds in which each lane takes one word: colouring, patterns that are tried first
 *   exchange_linear.c  the pattern of layouts whose numbers are powers of two
 *   exchange_bound.c   how many shuffles are needed at least
 *   exchange_route.c   several units to a word, some by way of other lanes: which lanes, in how many phases
 *   exchange_pack.c    phases as words and their rounds
 *   exchange_parts.c   what a word of a phase is made of
 *   exchange_memory.c  the layout in shared memory
 *   exchange_run.c     execution on the host
 *   exchange_form.c    which pattern the lanes of a round follow
 *   exchange_print.c   the plan for people
 */
#ifndef TESELA_SRC_TILE_EXCHANGE_H
#define TESELA_SRC_TILE_EXCHANGE_H

#include <tesela/access.h>

#include "base/base.h"

enum { TESELA__LANES = TESELA_ACCESS_WARP, TESELA__NO_LANE = 255 };

/* ---- tables of one pair of layouts -------------------------------------------------------------------------- */

/* The number of an element (row-major) is of_thread[thread] + of_local[local]; base_thread is the first of the threads
 * that hold what this one holds. */
typedef struct tesela__element_table {
  int64_t threads, registers;
  int32_t *of_thread, *base_thread, *of_local;
} tesela__element_table;

typedef struct tesela__exchange_table {
  tesela__element_table dst, src;
  int32_t *src_thread, *src_local; /* of an element: the first thread that holds it, and its local id there */
  void *memory;
} tesela__exchange_table;

/* TESELA_E_MEMORY. Sizes were checked by the caller. */
tesela_status tesela__exchange_table_make(tesela__exchange_table *table, const tesela_register *dst,
                                          const tesela_register *src, const tesela_allocator *alloc,
                                          tesela_error *err);

/* Which registers are a unit: digits of 2 that are local on both sides. Digit i has these steps in the numbers of registers
 * from which digits 0 .. i-1 were taken out; what is left after all is the number of the unit. */
typedef struct tesela__unit_digits {
  int32_t n;
  int64_t dst[5], src[5];
} tesela__unit_digits;

/* As many digits as 32 bits allow. */
tesela__unit_digits tesela__exchange_units(const tesela__exchange_table *table, int32_t bits);

/* The register of element k of a unit; `step` is dst or src of the digits. */
int64_t tesela__unit_register(const int64_t *step, int32_t n, int64_t unit, int64_t k);

/* The unit of a register. */
int64_t tesela__unit_of_register(const int64_t *step, int32_t n, int64_t local);

/* ---- what the lanes of a warp do ------------------------------------------------------------------------------ */

typedef struct tesela__exchange_phase tesela__exchange_phase;

/* Lanes, classes and units count inside the warp. A class is the lanes that hold the same; its number is its first lane.
 * Without phases the rounds move the units themselves; with phases offer, into and from are NULL, and each phase has rounds. */
typedef struct tesela__warp_program {
  int32_t src_lanes, dst_lanes; /* lanes with registers of src, of dst */
  uint8_t src_class[TESELA__LANES], dst_class[TESELA__LANES];
  uint8_t *
      need_class; /* [lane * dst_units + into]: the class of src that has this unit, TESELA__NO_LANE: none here */
  int32_t *need_unit; /* likewise: its number there */
  int64_t rounds, least;
  int32_t *offer, *into; /* [round * warp + lane]: units, or -1 */
  uint8_t *from;         /* likewise: a lane */
  int32_t n_phases;
  tesela__exchange_phase *phase;
  int32_t *result; /* with phases: [lane * dst_units + into]: a place in the words of the last phase */
} tesela__warp_program;

/* Words of up to `parts` units, which move as units do in a program without phases. Part k of word w is at place w * parts + k:
 * a place of the phase before, or for the first phase a unit of src at part 0. */
struct tesela__exchange_phase {
  tesela__warp_program moves; /* its units are words: src_words at the start, dst_words at the end */
  int64_t src_words, dst_words;
  int32_t *part; /* [(lane * src_words + word) * parts + k]: a place, -1 for nothing */
};

/* The moves of phase number i; the program itself where there are no phases. */
static inline const tesela__warp_program *tesela__phase_moves(const tesela__warp_program *w, int32_t i) {
  return w->n_phases ? &w->phase[i].moves : w;
}

/* Does this lane hold its dst unit `into` itself? */
static inline bool tesela__own(const tesela__warp_program *w, int64_t dst_units, int32_t lane, int64_t into) {
  return lane < w->src_lanes && w->need_class[lane * dst_units + into] == w->src_class[lane];
}

struct tesela_exchange {
  tesela_allocator alloc;
  tesela_exchange_facts facts;
  tesela_register dst, src;
  tesela__unit_digits units;
  int32_t parts;             /* units that fit a word of 32 bits */
  int32_t full_warp;         /* as asked for */
  int64_t max_steps;         /* likewise */
  tesela_progress *progress; /* only while it is made */
  void *progress_user;
  int32_t warp; /* lanes of the first warp: the same, or all threads if they are fewer */
  int64_t n_warps;
  int32_t *program_of;           /* of a warp; NULL for a plan through shared memory */
  tesela__warp_program *program; /* different ones */
  size_t n_programs, capacity;
  tesela_tile_memory memory;
  int64_t write_vector, read_vector; /* elements */
};

/* Room for `rounds` rounds in offer, into and from, and all of it -1, -1 and the lane itself. TESELA_E_MEMORY. */
tesela_status tesela__rounds_room(tesela__warp_program *w, int32_t warp, int64_t rounds,
                                  const tesela_allocator *alloc, tesela_error *err);

/* Fewest rounds, of one unit per lane each, for a warp in which every need has a class: fills rounds, offer, into and from. */
tesela_status tesela__rounds_plan(tesela__warp_program *w, int32_t warp, int64_t src_units, int64_t dst_units,
                                  const tesela_allocator *alloc, tesela_error *err);

/* Where lanes and units are linear in the bits of their numbers: a pattern in which `from`, `offer` and `into` are too, if it
 * takes at most `rounds` rounds. *found: was it written to w?. */
tesela_status tesela__rounds_linear(tesela__warp_program *w, int32_t warp, int64_t dst_units, int64_t rounds,
                                    const tesela_allocator *alloc, bool *found, tesela_error *err);

/* The lane that each lane takes from in the first round of such a pattern; false without one. */
bool tesela__linear_lanes(const tesela__warp_program *w, int64_t dst_units, uint8_t *from);

/* How many shuffles of 32 bits are needed at least, by way of other lanes as well. TESELA_E_MEMORY. */
tesela_status tesela__rounds_least(const tesela__warp_program *w, int64_t src_units, int64_t dst_units,
                                   int64_t bits, const tesela_allocator *alloc, int64_t *least,
                                   tesela_error *err);

/* Replace the rounds of w by phases with fewer rounds, if some are found. */
tesela_status tesela__rounds_pack(tesela__warp_program *w, int32_t warp, int64_t src_units, int64_t dst_units,
                                  int32_t parts, const tesela_allocator *alloc, tesela_error *err);

/* ---- routes: by which lanes units go ------------------------------------------------------------------------------ */

enum { TESELA__ROUTE_LANES = 8, TESELA__ROUTE_TAKES = 1 << 17 }; /* takes of all warps */

/* A unit and a lane that needs it, ascending by unit; lane[0] has it in src, lane[n] needs it, phase i takes it from lane[i]
 * to lane[i + 1]. A unit is class * src_units + its number. */
typedef struct tesela__route_take {
  int32_t unit, into;
  int32_t place, entry; /* while phases are made: where lane[i] has it; the number of its part of a word */
  uint8_t lane[TESELA__ROUTE_LANES];
} tesela__route_take;

typedef struct tesela__route {
  const tesela__warp_program *w;
  int32_t lanes, parts, n_phases;
  int64_t src_units, dst_units, n_takes;
  tesela__route_take *take;
  struct tesela__route_cost *cost; /* room to count in */
  uint8_t
      shared[TESELA__ROUTE_LANES]; /* of a phase: lanes that differ in these bits only take the same words */
} tesela__route;

/* Choose lanes and phases, starting from one phase straight from lane to lane; *rounds is an estimate. TESELA_E_MEMORY. */
tesela_status tesela__route_choose(tesela__route *route, int64_t enough, const tesela_allocator *alloc,
                                   int64_t *rounds, tesela_error *err);

/* A layout in shared memory for both sides: memory, vectors, shared_bytes and wavefronts of the plan. */
tesela_status tesela__exchange_memory_plan(tesela_exchange *plan, tesela_error *err);

/* ---- what words are made of --------------------------------------------------------------------------------------- */

enum { TESELA__PARTS = 32 };

/* Part k is part[k][lane] of word source[source_of[k]][lane]; -1: of any, or no part. */
typedef struct tesela__word_parts {
  int32_t n, sources, source_of[TESELA__PARTS];
  int32_t part[TESELA__PARTS][TESELA__LANES], source[TESELA__PARTS][TESELA__LANES];
} tesela__word_parts;

/* From places: lane after lane, `stride` apart, n of them each. */
void tesela__word_parts_of(tesela__word_parts *out, const int32_t *place, int64_t stride, int32_t n,
                           int32_t parts, int32_t lanes);

/* Of a word at the start of a phase; of a unit of dst where phase is n_phases. */
void tesela__phase_word(tesela__word_parts *out, const tesela_exchange *plan, const tesela__warp_program *w,
                        int32_t phase, int64_t word);

/* Byte permutes that make it: two sources one, each more one more; all of a program. */
int32_t tesela__word_permutes(const tesela__word_parts *w);
int64_t tesela__program_permutes(const tesela_exchange *plan, const tesela__warp_program *w);

void tesela__program_release(const tesela_allocator *alloc, tesela__warp_program *w);

/* ---- patterns of lanes ------------------------------------------------------------------------------------------ */

typedef enum tesela__lane_form {
  TESELA__LANE_ANY,    /* no lane cares */
  TESELA__LANE_SAME,   /* a */
  TESELA__LANE_XOR,    /* lane ^ a */
  TESELA__LANE_ADD,    /* (lane + a) % warp */
  TESELA__LANE_LINEAR, /* a ^ m[b] for each bit b of lane that is set */
  TESELA__LANE_TABLE,  /* none of these */
} tesela__lane_form;

typedef struct tesela__lane_pattern {
  tesela__lane_form form;
  int32_t a, bits;
  int32_t m[6];
} tesela__lane_pattern;

/* The simplest form of value[0 .. warp-1], where a value below 0 may be anything. */
tesela__lane_pattern tesela__lane_pattern_of(const int32_t *value, int32_t warp);

/* The value of the pattern for a lane; -1 if it is a table, or has none. */
int32_t tesela__lane_pattern_at(const tesela__lane_pattern *pattern, int32_t lane, int32_t warp);

#endif
