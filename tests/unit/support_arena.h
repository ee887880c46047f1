/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_arena.h - memory plans by the definition, for the tests of tesela_arena; uses no code of the planner.
 */
#ifndef UNIT_SUPPORT_ARENA_H
#define UNIT_SUPPORT_ARENA_H

#include "support_xla.h"

enum { ARENA_MOST = 512 };

int64_t arena_random(uint64_t *state, int64_t n); /* 0 to n - 1 */

/* Do two buffers live at a common step, and do both use bytes? */
bool arena_meet(const tesela_arena_buffer *a, const tesela_arena_buffer *b);
/* Check a plan, by steps if lives are short, else by pairs; fails the test if it is wrong. */
void arena_must_hold(int32_t n, const tesela_arena_buffer *before, const tesela_arena_buffer *plan,
                     int64_t capacity);
/* The lowest offset of buffer i among those of the first n with place[j] >= 0. */
int64_t arena_lowest(int32_t n, const tesela_arena_buffer *b, const int64_t *place, int32_t i);
/* The least peak of the buffers in `keep` (bits), over all orders of placing; n <= 9. */
int64_t arena_least_peak(int32_t n, const tesela_arena_buffer *b, unsigned keep);
int64_t arena_live(int32_t n, const tesela_arena_buffer *b);      /* most bytes at a step */
int64_t arena_peak(int32_t n, const tesela_arena_buffer *b);      /* without spilled ones */
int64_t arena_first_fit(int32_t n, const tesela_arena_buffer *b); /* the naive planner */

/* Are all facts equal? (Padding bytes may differ.) */
bool arena_same_facts(const tesela_arena_facts *a, const tesela_arena_facts *b);

/* Random buffers: `kinds` is a sum of ARENA_ALIGNED, ARENA_FIXED (disjoint places), ARENA_ODD (empty ones). */
enum { ARENA_ALIGNED = 1, ARENA_FIXED = 2, ARENA_ODD = 4 };
void arena_make(uint64_t *state, int32_t n, int64_t steps, int64_t most, int kinds, tesela_arena_buffer *b);

/* Cut a rectangle of `steps` by `height` into n buffers, in a random order: the least peak is `height`. */
void arena_cut(uint64_t *state, int32_t n, int64_t steps, int64_t height, tesela_arena_buffer *b);

#endif
