/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.h - the steps that make the pieces of a plan, for relayout_plan.c.
 */
#ifndef TESELA_SRC_PIECES_H
#define TESELA_SRC_PIECES_H

#include "relayout/plan.h"

/* Can a plan be made from these options and layouts? relayout_check.c. What tesela_plan_create returns. */
tesela_status tesela__check_plan(const tesela_layout *dst, const tesela_layout *src,
                                 const tesela_plan_options *options, tesela_error *err);

/* The number of places without an element that dst's digits reach or that follow them; -1: padding may share places. *tail: those
 * that follow, or 0. relayout_pieces.c */
int64_t tesela__padding_places(const tesela_layout *dst, int64_t *tail);

/* A plan without pieces, before they are made. relayout_pieces.c */
void tesela__forget_pieces(tesela_plan *plan);

/* Make the pieces of all boxes and the fills; sets plan->irregular if there are too many, plan->window to 0 at the first one that does not
 * fit windows. `random`: of options.shuffle, or NULL. relayout_pieces.c. TESELA_E_MEMORY, TESELA_E_UNSUPPORTED. */
tesela_status tesela__make_regular(tesela_plan *plan, const tesela__problem *problem, uint64_t *random,
                                   tesela_error *err);

/* Make what the gather needs instead, for a plan that is irregular. relayout_pieces.c. The same statuses. */
tesela_status tesela__make_irregular(tesela_plan *plan, const tesela__problem *problem, uint64_t *random,
                                     tesela_error *err);

/* Leave a plan of pieces to the gather where that is faster. Pieces stay where each is to be run alone, or within a limit.
 * relayout_pieces.c */
void tesela__use_stretches(tesela_plan *plan, const tesela__problem *problem);

/* Run the pieces by windows where they would write parts of the same lines; they are made again, with tiles that are not long in dst.
 * window_try.c. TESELA_E_MEMORY. */
tesela_status tesela__use_windows(tesela_plan *plan, const tesela__problem *problem, uint64_t *random,
                                  tesela_error *err);

#endif
