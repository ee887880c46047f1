/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place.h - shared by the files that copy within one buffer.
 *
 *   in_place.c              makes the plans of the passes, runs them, then fills the padding
 *   in_place_choose.c       chooses the passes, and explains them
 *   in_place_strips.c       finds strips that go through the scratch, one after the other
 *   in_place_digits.c       permutations of whole digits: swaps, or strips and cycles of blocks
 *   in_place_remainders.c   the same, without the rows that a divisor leaves over
 *   in_place_dense.c        the same between layouts with padding
 *   in_place_blocks.c       runs strips, swaps of pairs of blocks, and cycles of blocks
 *   in_place_parts.c        plans of parts; progress
 *   in_place_cycles.c       moves units along paths and cycles: slow, for everything, without scratch
 *   in_place_map.c          finds the units of places that stay together, and their places on both sides
 *   in_place_fill.c         writes the padding
 */
#ifndef TESELA_SRC_IN_PLACE_H
#define TESELA_SRC_IN_PLACE_H

#include "relayout/sums.h"

/* ---- passes ----------------------------------------------------------------------------------------------- */

/* Symbol, what a pass does. */
#define TESELA__PASS_MAP(X)                               \
  X(TESELA__PASS_WHOLE, "everything through the scratch") \
  X(TESELA__PASS_STRIPS, "strips through the scratch")    \
  X(TESELA__PASS_SWAPS, "pairs of blocks change places")  \
  X(TESELA__PASS_BLOCKS, "blocks move along cycles")      \
  X(TESELA__PASS_SAVE, "the last rows to the scratch")    \
  X(TESELA__PASS_PUT, "the last rows to their places")    \
  X(TESELA__PASS_CYCLES, "units of elements move along cycles")

typedef enum tesela__pass_kind {
#define TESELA__ROW(symbol, text) symbol,
  TESELA__PASS_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela__pass_kind;

enum {
  TESELA__STRIP_LEVELS = 3,
  TESELA__REMAINDERS = 2,
  TESELA__PASSES = 3 + 2 + 2 * TESELA__REMAINDERS +
                   2,     /* of digits, together and apart, remainders, to dense and from dense */
  TESELA__PASS_PLANS = 9, /* of swaps; strips have 2^levels at most */
};

/* Values of one coordinate that a strip has, and the bits from one strip to the next. */
typedef struct tesela__strip_level {
  int32_t coordinate;
  int64_t step, last, n, ds, ss; /* values of a strip, of the last strip; strips */
} tesela__strip_level;

/* One pass over the buffer. Offsets and strides in bits. */
typedef struct tesela__pass {
  tesela__pass_kind kind;
  bool converts; /* the plan's conversion is applied by this pass */
  int32_t threads;
  int64_t scratch_bytes; /* of each thread */
  /* strips: what a strip is, except for its extents along the levels; the levels, outermost first */
  tesela__sums sums;
  int64_t dst, src, strip_bytes; /* of src */
  int32_t n_levels;
  tesela__strip_level level[TESELA__STRIP_LEVELS];
  bool independent, backwards; /* strips do not overlap others; must run from the last to the first */
  int64_t kept; /* of remainders, which are such parts without levels: where in the scratch, bytes */
  /* swaps: at each combination of `loops` a matrix of n x n units with strides x and y becomes its transpose */
  int32_t n_loops;
  tesela__loop loop[TESELA__MAX_LOOPS];
  int64_t n, x, y, unit, side; /* bits of a unit; units of a block's side */
  /* blocks: `batch` groups of n blocks; the digits of a block's number after the pass, outermost first, and their weights before */
  int64_t batch, block_bytes, piece_bytes; /* a piece of a block moves at a time */
  int32_t n_digits;
  struct {
    int64_t n, weight;
  } digit[TESELA__MAX_LOOPS];
} tesela__pass;

typedef struct tesela__method {
  int32_t n_passes;
  int64_t scratch_bytes, kept_bytes; /* the remainders stay at its start, the passes have the rest */
  tesela__pass pass[TESELA__PASSES];
} tesela__method;

/* Choose the passes for a plan whose problem can be solved in place. in_place_choose.c */
void tesela__in_place_choose(tesela__method *method, const tesela_plan *plan, const tesela__problem *problem);

/* Make a pass of strips of up to `most` bytes of src, if possible of `wanted`, for up to `threads` threads that have `most` bytes
 * together. False: impossible. */
bool tesela__strips_find(tesela__pass *pass, const tesela__sums *sums, int64_t dst, int64_t src, int32_t bits,
                         int64_t wanted, int64_t most, int32_t threads);

/* Is the problem a permutation of whole digits, one box whose loops fill a stretch of bytes on both sides? */
bool tesela__digits_box(const tesela_plan *plan, const tesela__problem *problem, tesela__box *box);

/* Make its passes, three at most, with up to `limit` bytes of scratch. Returns their number; 0: impossible. */
int32_t tesela__digits_find(tesela__pass *pass, const tesela_plan *plan, const tesela__box *box,
                            int64_t limit, int32_t threads);

/* Add them to a method, with remainders where blocks become much larger without them. False: impossible. */
bool tesela__remainders_find(tesela__method *method, const tesela_plan *plan, const tesela__box *box,
                             int64_t limit, int32_t threads);

/* Add passes by way of layouts without padding. False: impossible. */
bool tesela__dense_find(tesela__method *method, const tesela_plan *plan, const tesela__problem *problem,
                        int64_t limit, int32_t threads);

/* ---- the run ---------------------------------------------------------------------------------------------- */

struct tesela__place_map;

/* One run; `work`: done since the last call of progress. */
typedef struct tesela__in_place {
  const tesela_plan *plan;
  const tesela_layout *dst, *src;    /* canonical */
  const tesela_run_options *options; /* or NULL */
  unsigned char *buffer, *scratch;   /* scratch: or NULL */
  unsigned char *kept;               /* the remainders */
  int64_t done_bytes, total_bytes;   /* of elements */
  int64_t work;
  bool stopped;
  /* of passes that run on threads */
  uintptr_t caller; /* the thread that progress is called from */
  int32_t n_passes;
  int64_t next; /* bytes after which progress is called */
  atomic_llong moved;
  atomic_bool stop;
} tesela__in_place;

/* The plans of a pass, made before anything is moved. */
typedef struct tesela__pass_plans {
  tesela_plan *plan[TESELA__PASS_PLANS];
} tesela__pass_plans;

/* A plan in one thread for a part of the tensor, with padding left alone. */
tesela_status tesela__part_plan(const tesela_plan *plan, const tesela__sums *sums, const int64_t *extent,
                                int64_t dst_bit, int64_t src_bit, bool converts, tesela_plan **part,
                                tesela_error *err);

/* Run such a plan with stores through the cache; the bytes from the first to the last of dst and src may overlap. */
void tesela__part_run(const tesela_plan *part, unsigned char *dst, const unsigned char *src);

/* Copy bytes that do not overlap, with the plan's kernel, as memcpy may be slow (rows_avx2.c). */
void tesela__part_copy(const tesela_plan *plan, unsigned char *dst, const unsigned char *src, int64_t bytes);

tesela_status tesela__strips_prepare(const tesela_plan *plan, const tesela__pass *pass,
                                     tesela__pass_plans *plans, tesela_error *err);
void tesela__strips_run(tesela__in_place *run, const tesela__pass *pass, const tesela__pass_plans *plans);
tesela_status tesela__swaps_prepare(const tesela_plan *plan, const tesela__pass *pass,
                                    tesela__pass_plans *plans, tesela_error *err);
void tesela__swaps_run(tesela__in_place *run, const tesela__pass *pass, const tesela__pass_plans *plans);
void tesela__blocks_run(tesela__in_place *run, const tesela__pass *pass);
void tesela__remainder_run(tesela__in_place *run, const tesela__pass *pass, const tesela__pass_plans *plans);

/* False: stopped. */
bool tesela__cycles_run(tesela__in_place *run);

/* Count bytes that a thread of a pass has moved; in the caller's thread, call progress every few MiB. False: stop. */
bool tesela__pass_go_on(tesela__in_place *run, int64_t bytes);

/* Count work, in units of about 100 ns, and call progress every few milliseconds. False: stop. */
bool tesela__in_place_go_on(tesela__in_place *run, int64_t work);

/* Fill the padding of dst, after all elements are in place. False: stopped. */
bool tesela__in_place_fill(tesela__in_place *run);

/* ---- units ------------------------------------------------------------------------------------------------ */

/* One digit that both sides share, to map a place of one side to the other: place div stride is its value. */
typedef struct tesela__jump {
  int64_t stride;     /* > 0, on the `from` side */
  int64_t other;      /* stride on the `to` side */
  int64_t room, step; /* number of values; step in its coordinate */
  int32_t coordinate; /* -1: all its values are elements */
} tesela__jump;

/* From a place of one side to the place of the same element on the other. */
typedef struct tesela__direction {
  const tesela_layout *from, *to; /* canonical; if not by_jumps, places are mapped through the index */
  bool by_jumps;
  int32_t n;
  int64_t from_offset, to_offset;
  tesela__jump jump[2 * TESELA_MAX_DIGITS]; /* by decreasing stride */
  int32_t n_coordinates;
  int64_t extent[TESELA_MAX_RANK];
} tesela__direction;

/* The permutation, or a part of it if the two sides do not cover the same places. Elements stay together in units of
 * `unit` neighbouring places, `block` indices of each dim. A unit has elements at all of its places, or only padding.
 * Below, a place means the unit that starts there. */
typedef struct tesela__place_map {
  const tesela_layout *dst, *src; /* canonical */
  int64_t unit;
  int64_t block[TESELA_MAX_RANK];
  tesela__direction to_src, to_dst;
} tesela__place_map;

/* Both layouts must pass tesela__in_place_possible, and outlive the map. */
void tesela__place_map_set(tesela__place_map *map, const tesela_layout *dst, const tesela_layout *src);

/* The places of a unit. */
int64_t tesela__unit_places(const tesela_layout *dst, const tesela_layout *src);

/* Bytes of a bit for each unit. */
int64_t tesela__marks_bytes(const tesela_layout *dst, const tesela_layout *src);

/* The place on the other side of the element at `place` of direction->from, or -1. Any place >= 0 is valid. */
int64_t tesela__go(const tesela__direction *direction, int64_t place);

#endif
