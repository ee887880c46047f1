/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h - shared by the files of exchange plans: tables of two layouts, the program of a warp, the plan.
 *
 *   exchange_table.c   element numbers of threads and local ids; the holder of an element; the unit
 *   exchange_create.c  create, the kind
 *   exchange_ask.c     queries
 *   exchange_program.c memory for the rounds of a warp; all of a program is released
 *   exchange_rounds.c  shuffle rounds in which each lane takes one word: patterns, else a colouring
 *   exchange_linear.c  the pattern of layouts whose numbers are powers of two
 *   exchange_bound.c   a lower bound on the number of shuffles
 *   exchange_route.c   several units per word, some through other lanes: the lanes, the phases
 *   exchange_pack.c    phases as words and their rounds
 *   exchange_parts.c   the sources of a word of a phase
 *   exchange_memory.c  the layout in shared memory
 *   exchange_run.c     execution on the host
 *   exchange_form.c    the pattern of the lanes in a round
 *   exchange_print.c   the plan as text
 */
#ifndef TESELA_SRC_TILE_EXCHANGE_H
#define TESELA_SRC_TILE_EXCHANGE_H

#include <tesela/access.h>

#include "base/base.h"

enum { TESELA__LANES = TESELA_ACCESS_WARP, TESELA__NO_LANE = 255 };

/* ---- tables of two layouts ---------------------------------------------------------------------------------- */

/* Row-major element numbers: of_thread[thread] + of_local[local]; base_thread: the first thread with these elements. */
typedef struct tesela__element_table {
  int64_t threads, registers;
  int32_t *of_thread, *base_thread, *of_local;
} tesela__element_table;

typedef struct tesela__exchange_table {
  tesela__element_table dst, src;
  int32_t *src_thread, *src_local; /* of an element: the first thread that holds it, and its local id there */
  void *memory;
} tesela__exchange_table;

/* TESELA_E_MEMORY. The caller checked the sizes. */
tesela_status tesela__exchange_table_make(tesela__exchange_table *table, const tesela_register *dst,
                                          const tesela_register *src, const tesela_allocator *alloc,
                                          tesela_error *err);

/* The registers of a unit: digits of 2 that are local on both sides. Digit i has these steps in register numbers
 * without digits 0 .. i-1; the number without all digits is the unit's. */
typedef struct tesela__unit_digits {
  int32_t n;
  int64_t dst[5], src[5];
} tesela__unit_digits;

/* The unit with the most digits that fits in 32 bits. */
tesela__unit_digits tesela__exchange_units(const tesela__exchange_table *table, int32_t bits);

/* The register of element k of a unit; `step` is dst or src of the digits. */
int64_t tesela__unit_register(const int64_t *step, int32_t n, int64_t unit, int64_t k);

/* The unit that contains a register. */
int64_t tesela__unit_of_register(const int64_t *step, int32_t n, int64_t local);

/* ---- the program of a warp ------------------------------------------------------------------------------------ */

typedef struct tesela__exchange_phase tesela__exchange_phase;

/* Lanes, classes and units are numbered within the warp. A class is the lanes with the same elements; its number is its
 * first lane. Without phases the rounds move units; with phases offer, into and from are NULL, and each phase has
 * rounds. */
typedef struct tesela__warp_program {
  int32_t src_lanes, dst_lanes; /* lanes with registers of src, of dst */
  uint8_t src_class[TESELA__LANES], dst_class[TESELA__LANES];
  uint8_t *need_class; /* [lane * dst_units + into]: the class of src with this unit, or TESELA__NO_LANE */
  int32_t *need_unit;  /* likewise: the number of the unit there */
  int64_t rounds, least;
  int32_t *offer, *into; /* [round * warp + lane]: units, or -1 */
  uint8_t *from;         /* likewise: a lane */
  int32_t n_phases;
  tesela__exchange_phase *phase;
  int32_t *result; /* with phases: [lane * dst_units + into]: a place in the words of the last phase */
} tesela__warp_program;

/* Words of up to `parts` units, which move like units in a program without phases. Part k of word w is place
 * w * parts + k. Parts come from places at the end of the previous phase; in phase 0, from units of src at part 0. */
struct tesela__exchange_phase {
  tesela__warp_program moves; /* its units are words: src_words at the start, dst_words at the end */
  int64_t src_words, dst_words;
  int32_t *part; /* [(lane * src_words + word) * parts + k]: a place, or -1 */
};

/* The moves of phase i, or the program itself without phases. */
static inline const tesela__warp_program *tesela__phase_moves(const tesela__warp_program *w, int32_t i) {
  return w->n_phases ? &w->phase[i].moves : w;
}

/* Does this lane hold dst unit `into` itself? */
static inline bool tesela__own(const tesela__warp_program *w, int64_t dst_units, int32_t lane, int64_t into) {
  return lane < w->src_lanes && w->need_class[lane * dst_units + into] == w->src_class[lane];
}

struct tesela_exchange {
  tesela_allocator alloc;
  tesela_exchange_facts facts;
  tesela_register dst, src;
  tesela__unit_digits units;
  int32_t parts;             /* units that fit in a word of 32 bits */
  int32_t full_warp;         /* options: lanes of a warp */
  int64_t max_steps;         /* options: limit of the search */
  tesela_progress *progress; /* only during create */
  void *progress_user;
  int32_t warp; /* full_warp, or the number of threads if that is less */
  int64_t n_warps;
  int32_t *program_of;           /* number of a warp's program; NULL for a plan through shared memory */
  tesela__warp_program *program; /* each different one once */
  size_t n_programs, capacity;
  tesela_tile_memory memory;
  int64_t write_vector, read_vector; /* elements */
};

/* Allocate `rounds` rounds in offer, into and from, filled with -1, -1 and the lane itself. TESELA_E_MEMORY. */
tesela_status tesela__rounds_room(tesela__warp_program *w, int32_t warp, int64_t rounds,
                                  const tesela_allocator *alloc, tesela_error *err);

/* Fewest rounds of one unit per lane, for a warp in which every unit has a class: fills rounds, offer, into, from. */
tesela_status tesela__rounds_plan(tesela__warp_program *w, int32_t warp, int64_t src_units, int64_t dst_units,
                                  const tesela_allocator *alloc, tesela_error *err);

/* If needs are linear in the bits of lanes and units: a pattern with linear `from`, `offer` and `into`, if it has at
 * most `rounds` rounds. *found: it was written to w. */
tesela_status tesela__rounds_linear(tesela__warp_program *w, int32_t warp, int64_t dst_units, int64_t rounds,
                                    const tesela_allocator *alloc, bool *found, tesela_error *err);

/* The lane that each lane takes from in the first round of that pattern; false without a pattern. */
bool tesela__linear_lanes(const tesela__warp_program *w, int64_t dst_units, uint8_t *from);

/* A lower bound on the number of 32-bit shuffles, including plans that go through other lanes. TESELA_E_MEMORY. */
tesela_status tesela__rounds_least(const tesela__warp_program *w, int64_t src_units, int64_t dst_units,
                                   int64_t bits, const tesela_allocator *alloc, int64_t *least,
                                   tesela_error *err);

/* Replace the rounds of w by phases if that needs fewer rounds. */
tesela_status tesela__rounds_pack(tesela__warp_program *w, int32_t warp, int64_t src_units, int64_t dst_units,
                                  int32_t parts, const tesela_allocator *alloc, tesela_error *err);

/* ---- routes: the lanes on the way of a unit ---------------------------------------------------------------------- */

enum { TESELA__ROUTE_LANES = 8, TESELA__ROUTE_TAKES = 1 << 17 }; /* limit of the takes of all warps */

/* A unit and a lane that needs it, ascending by unit. lane[0] has it in src, lane[n] needs it, phase i moves it from
 * lane[i] to lane[i + 1]. A unit is class * src_units + its number. */
typedef struct tesela__route_take {
  int32_t unit, into;
  int32_t place, entry; /* while phases are made: its place in lane[i]; its pack_entry */
  uint8_t lane[TESELA__ROUTE_LANES];
} tesela__route_take;

typedef struct tesela__route {
  const tesela__warp_program *w;
  int32_t lanes, parts, n_phases;
  int64_t src_units, dst_units, n_takes;
  tesela__route_take *take;
  struct tesela__route_cost *cost; /* buffers for counting */
  uint8_t
      shared[TESELA__ROUTE_LANES]; /* of a phase: lanes that differ only in these bits take the same words */
} tesela__route;

/* Choose lanes and phases, from one direct phase, until `enough` rounds. *rounds: an estimate. TESELA_E_MEMORY. */
tesela_status tesela__route_choose(tesela__route *route, int64_t enough, const tesela_allocator *alloc,
                                   int64_t *rounds, tesela_error *err);

/* A layout in shared memory for both sides: fills memory, vectors, shared_bytes and wavefronts of the plan. */
tesela_status tesela__exchange_memory_plan(tesela_exchange *plan, tesela_error *err);

/* ---- the sources of words ---------------------------------------------------------------------------------------- */

enum { TESELA__PARTS = 32 };

/* Part k is part[k][lane] of word source[source_of[k]][lane]; -1: any word, or no part. */
typedef struct tesela__word_parts {
  int32_t n, sources, source_of[TESELA__PARTS];
  int32_t part[TESELA__PARTS][TESELA__LANES], source[TESELA__PARTS][TESELA__LANES];
} tesela__word_parts;

/* From n places per lane, `stride` apart. */
void tesela__word_parts_of(tesela__word_parts *out, const int32_t *place, int64_t stride, int32_t n,
                           int32_t parts, int32_t lanes);

/* Of a word at the start of a phase, or of a unit of dst if phase is n_phases. */
void tesela__phase_word(tesela__word_parts *out, const tesela_exchange *plan, const tesela__warp_program *w,
                        int32_t phase, int64_t word);

/* The number of byte permutes that make a word: one for two sources, one per further source; and of a whole program. */
int32_t tesela__word_permutes(const tesela__word_parts *w);
int64_t tesela__program_permutes(const tesela_exchange *plan, const tesela__warp_program *w);

void tesela__program_release(const tesela_allocator *alloc, tesela__warp_program *w);

/* ---- patterns of lanes ------------------------------------------------------------------------------------------ */

typedef enum tesela__lane_form {
  TESELA__LANE_ANY,    /* no lane has a value */
  TESELA__LANE_SAME,   /* a */
  TESELA__LANE_XOR,    /* lane ^ a */
  TESELA__LANE_ADD,    /* (lane + a) % warp */
  TESELA__LANE_LINEAR, /* a ^ m[b] for each set bit b of lane */
  TESELA__LANE_TABLE,  /* no formula */
} tesela__lane_form;

typedef struct tesela__lane_pattern {
  tesela__lane_form form;
  int32_t a, bits;
  int32_t m[6];
} tesela__lane_pattern;

/* The simplest form of value[0 .. warp-1]; a value below 0 matches anything. */
tesela__lane_pattern tesela__lane_pattern_of(const int32_t *value, int32_t warp);

/* The value of the pattern for a lane; -1 for a table and for ANY. */
int32_t tesela__lane_pattern_at(const tesela__lane_pattern *pattern, int32_t lane, int32_t warp);

#endif
