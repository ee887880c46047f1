/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h - shared by the files of the gather by tables: what a run needs, the tables of a block, and its copy.
 */
#ifndef TESELA_SRC_GATHER_H
#define TESELA_SRC_GATHER_H

#include "relayout/sums.h"
#include "relayout/tile.h"

enum {
  TESELA__GATHER_STAGE = 64 << 10,  /* bytes of a group of stretches, most */
  TESELA__GATHER_BUFFER = 64 << 10, /* of a buffer between two passes, most */
  TESELA__GATHER_VALUES = 512,      /* of P and Q in a block, or runs of P, most */
  TESELA__GATHER_OTHERS = 512,      /* entries of C, most */
  TESELA__GATHER_AHEAD = 512        /* stretches that are prefetched together, most */
};

/* What is the same for all blocks. P: the coordinate whose neighbours are next to each other in dst; Q: those in src. */
typedef struct tesela__gather_run {
  const tesela_plan *plan;
  const tesela__sums *sums;
  unsigned char *dst;
  const unsigned char *src;
  const tesela_run_options *options;
  int32_t bits; /* of an element */
  int32_t p, q; /* equal: rows */
  tesela__mover mover;
  tesela__rows_fn *copy, *strided, *weave; /* weave: of runs of `streams` values, or NULL */
  tesela__transpose_fn *transpose;
  int32_t transpose_block, streams;
  bool weaves_out; /* runs of P are interleaved; else runs of Q are deinterleaved */
  int64_t unit;    /* bits of an offset in tables: 8, or 1 for elements that share bytes */
  int64_t ds, ss;  /* units between values of a run of P */
  uintptr_t caller;
  int64_t before; /* bytes reported so far */
  atomic_llong done;
  atomic_bool stopped;
} tesela__gather_run;

/* The values x to x + n - 1 of a coordinate in a block; for dst from `to` on. */
typedef struct tesela__gather_range {
  int64_t x, n, to;
} tesela__gather_range;

/* Runs of a coordinate, or its values with their runs: run i is first[i] to first[i + 1] - 1. Offsets of values, or of the first
 * value of each run. */
typedef struct tesela__gather_table {
  int32_t n, n_runs;
  int64_t src_end; /* of runs: where in src the last one ends, if neighbours are next to each other */
  int64_t src[TESELA__GATHER_VALUES], dst[TESELA__GATHER_VALUES];
  int32_t first[TESELA__GATHER_VALUES + 1];
} tesela__gather_table;

/* The functions of a block. Their sums are offsets from dst and src. */
typedef struct tesela__gather_tables {
  tesela__gather_range range[TESELA_MAX_RANK]; /* what they hold; n 0: nothing */
  tesela__gather_table p, q;                   /* rows: runs of P, no q */
  int32_t n_others;
  int64_t other_src[TESELA__GATHER_OTHERS], other_dst[TESELA__GATHER_OTHERS];
} tesela__gather_tables;

/* Bytes of src that later blocks read, by address, to prefetch while blocks are copied: some lines at each call of a kernel. */
typedef struct tesela__gather_ahead {
  int32_t n, at, share;
  int32_t row;                    /* of stretch `at` */
  int64_t done, lines;            /* bytes of that row that are done; lines of all stretches */
  struct tesela__gather_stretch { /* `rows` of them, `pitch` bytes apart */
    const unsigned char *from;
    int32_t bytes, rows;
    int64_t pitch;
  } stretch[TESELA__GATHER_AHEAD];
} tesela__gather_ahead;

/* The distance of neighbours of a coordinate on a side. */
int64_t tesela__gather_distance(const tesela__sums *sums, tesela__sum_digits digits);

/* The coordinate whose neighbours are nearest on a side; of several the one with the longest runs. */
int32_t tesela__gather_nearest(const tesela__sums *sums, const tesela__sum_digits *side);

/* Can blocks be transposed, so that P and Q may differ? */
bool tesela__gather_transposes(const tesela_plan *plan, const tesela__sums *sums);

/* Set up a run of these sums, with P and Q as given; elements of `bits` bits. */
void tesela__gather_begin(tesela__gather_run *run, const tesela_plan *plan, const tesela__sums *sums,
                          int32_t p, int32_t q, int32_t bits);

/* Most runs that `n` values of a coordinate have. */
int64_t tesela__gather_most_runs(const tesela__sums *sums, int32_t c, int64_t n);

/* Tables that hold nothing. */
void tesela__gather_empty(tesela__gather_tables *t);

/* Write the tables of a block, all of whose ranges have values, as far as they do not hold them. */
void tesela__gather_fill(const tesela__gather_run *run, tesela__gather_tables *t,
                         const tesela__gather_range *range);

/* How often the copy of a block calls a kernel, about. */
int64_t tesela__gather_calls(const tesela__gather_run *run, const tesela__gather_tables *t);

/* Copy it. `dst`, `src`: bases of the sums of its tables, in units from the pointers. `ahead`: to prefetch meanwhile, a share at each
 * call. */
void tesela__gather_copy(const tesela__gather_run *run, const tesela__gather_tables *t, unsigned char *dst,
                         int64_t dst_offset, const unsigned char *src, int64_t src_offset,
                         tesela__gather_ahead *ahead);

/* The passes of a run, and what a thread needs for them. */
typedef struct tesela__gather_passes {
  tesela__gather_run run[TESELA__MAX_PASSES];
  tesela__sums sums[TESELA__MAX_PASSES];
  int64_t bytes[TESELA__MAX_PASSES]; /* of the buffers that they write */
  int64_t stride[TESELA_MAX_RANK];   /* bytes, of the first one */
} tesela__gather_passes;

typedef struct tesela__passes_worker {
  tesela__gather_tables tables[TESELA__MAX_PASSES];
  alignas(TESELA__LINE) unsigned char buffer[2][TESELA__GATHER_BUFFER];
} tesela__passes_worker;

/* Choose the passes of stretches, or with `one` a single one. passes.c */
void tesela__passes_set(tesela__stretches *s, const tesela_plan *plan, const tesela__sums *sums, bool one);

/* Do they suit the stretches that were cut since? */
bool tesela__passes_suit(const tesela__stretches *s, const tesela__sums *sums);

/* Most values of a coordinate that a pass moves, if a group has `values`. */
int64_t tesela__passes_room(const tesela__stretches *s, const tesela__sums *sums, int32_t c, int64_t values);

/* Bytes of the buffer that a pass writes, with room for so many values of each of n coordinates; their strides in bytes. */
int64_t tesela__passes_buffer(const tesela__stretch_pass *pass, int32_t n, int64_t width, const int64_t *room,
                              int64_t *stride);

/* Set up the passes of a plan's stretches. gather_passes.c */
void tesela__passes_begin(tesela__gather_passes *g, const tesela_plan *plan);

/* Copy the values `range` of each coordinate, in all passes; offsets in bytes. */
void tesela__passes_copy(const tesela__gather_passes *g, tesela__passes_worker *w, unsigned char *dst,
                         int64_t dst_offset, const unsigned char *src, int64_t src_offset,
                         const tesela__gather_range *range, tesela__gather_ahead *ahead);

/* Count elements that were copied, and report; *last: bytes at the last report. False: stop. */
bool tesela__gather_goes_on(tesela__gather_run *run, int64_t elements, int64_t *last);

/* Cut dst of a plan into stretches that have `padding` places without an element. False: it cannot be cut so. stretches.c */
bool tesela__stretches_set(tesela__stretches *stretches, const tesela_plan *plan, const tesela__sums *sums,
                           int64_t padding, uint64_t *random);

/* Runs that are interleaved: streams, most, and bytes of each, least. */
enum { TESELA__GATHER_STREAMS = 8, TESELA__GATHER_WOVEN = 32 };

/* What the gather costs in the stretches of a plan, by estimate. gather_cost.c */
tesela__verdict tesela__gather_cost(const tesela_plan *plan, const tesela__sums *sums);

/* By estimate: is it cheaper than the pieces of a plan, of which there are several? `gather`: its cost, or NULL for the least estimate. */
bool tesela__gather_may_be_cheaper(const tesela_plan *plan, const tesela__sums *sums,
                                   const tesela__verdict *gather);

/* Would the pieces of a plan, whose dst has padding, write parts of lines, and is the gather fast? */
bool tesela__gather_writes_once(const tesela_plan *plan, const tesela__sums *sums);

/* List the bytes of some values of each of n coordinates in src, whose offset 0 is at `src`. gather_ahead.c */
void tesela__gather_list(const tesela__src_order *order, const unsigned char *src,
                         const tesela__gather_range *range, int32_t n, tesela__gather_ahead *ahead);

/* Copy by plan->stretches; padding in them is filled. gather_stretches.c */
tesela_status tesela__gather_stretches(const tesela_plan *plan, unsigned char *dst, const unsigned char *src,
                                       const tesela_run_options *options, int64_t done, tesela_error *err);

#endif
