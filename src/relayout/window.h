/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - the steps of pieces in dst, and the edges between them (window_edges.c): for windows of files and those of a run.
 */
#ifndef TESELA_SRC_WINDOW_H
#define TESELA_SRC_WINDOW_H

#include "relayout/plan.h"

/* The first n_levels levels of a piece count steps of `tiles` tiles each, which take up to `bytes` bytes; bits, if the piece counts these. */
typedef struct tesela__window_steps {
  int32_t n_levels;
  int64_t tiles, bytes;
} tesela__window_steps;

/* False: a step would also have bytes before it begins, or is not known. */
bool tesela__window_steps_of(const tesela_plan *plan, const tesela__piece *piece,
                             tesela__window_steps *steps);

/* The steps that begin before byte `at` of dst; *last: where the last of them begins, in the units of the piece. */
int64_t tesela__window_before(const tesela__piece *piece, const tesela__window_steps *steps, int64_t at,
                              int64_t *last);

/* The last edge after `from` and up to `to`, or else the first one after `from`, up to `most`; or -1. `steps`: of all pieces. */
int64_t tesela__window_edge(const tesela_plan *plan, const tesela__window_steps *steps, int64_t from,
                            int64_t to, int64_t most);

/* How far the tiles of pieces for windows of so many bytes may go in dst: plan->reach. */
static inline int64_t tesela__window_reach(int64_t bytes) { return tesela__max(1, bytes / 8); }

enum {
  TESELA__WINDOW_PIECES = 32,    /* of a plan that is run by windows, most */
  TESELA__WINDOW_MOST = 64 << 10 /* bytes of a window of a run in its buffer */
};

/* The steps of all pieces, up to TESELA__WINDOW_PIECES. False: there are more, or those of one are not known. */
bool tesela__windows_steps(const tesela_plan *plan, tesela__window_steps *steps);

/* The same as tesela__window_edge, but at an element: within padding any byte is an edge. */
int64_t tesela__window_element_edge(const tesela_plan *plan, const tesela__window_steps *steps, int64_t from,
                                    int64_t to, int64_t most);

/* Would the pieces of a plan write parts of lines, so that it is better run by windows? */
bool tesela__windows_wanted(const tesela_plan *plan);

/* Can the last piece, alone, be run by windows of plan->window bytes? False only if tesela__windows_fit is then false, too. */
bool tesela__window_of_last(const tesela_plan *plan);

/* Can it be run by windows of up to `wanted` bytes, nearly everywhere? */
bool tesela__windows_fit(const tesela_plan *plan, int64_t wanted);

/* window_stage.c. Run all pieces of a plan with plan->window, in chunk number `chunk`; goes_on(data, bytes) after each window, false: stop. */
void tesela__windows_run(const tesela_plan *plan, unsigned char *dst, const unsigned char *src, int32_t chunk,
                         bool (*goes_on)(void *data, int64_t bytes), void *data);

#endif
