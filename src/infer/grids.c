/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grids.c - infers all layouts; after a conflict tries other grids of warps, for the products whose grid was chosen.
 *
 * A run applies all rules with some products in another grid than their first. Products choose their grids in order. A
 * run has the grids of its parent up to one product, which gets another grid; later products get their first grid
 * again, if they choose at all. So every combination occurs once:
 *
 *   run 0: d1 d2 d3 their first grid        its children: d1 another; d2 another; d3 another
 *   run 5: d2 its third                     its children: d3 another, and products that choose after d2 now
 *
 * The next parent is the run whose first conflict comes last in the text, where conflicts at searched shared memory
 * count after all others; of equal ones the earliest run. A product that chose after all tensors of the conflict had
 * their layouts is not tried: the conflict would be the same. So a conflict that does not depend on products is known
 * immediately, and a search that ends before its limit proves that no grids avoid the conflict.
 */
#include "infer/infer_state.h"

/* One run: the grids of its parent, except `grid` for `step`. */
typedef struct grids_run {
  int32_t parent; /* -1: the first run */
  int32_t step, grid;
  bool expanded;
  bool late; /* progress: only checks that wait for shared memory failed */
  size_t at; /* progress: the operation of the conflict */
} grids_run;

typedef struct grids_search {
  tesela_kernel_program *program;
  int32_t n, most;
  grids_run run[TESELA_KERNEL_GRIDS];
  int32_t *order; /* of the current parent: the steps that chose, in order; owned */
} grids_search;

/* Set the choices of the steps to those of this run. */
static void grids_set(grids_search *search, int32_t run) {
  for (size_t s = 0; s < search->program->n_steps; s++) search->program->step[s].grid = 0;
  for (; search->run[run].parent >= 0; run = search->run[run].parent)
    search->program->step[search->run[run].step].grid = search->run[run].grid;
}

/* Note the progress of a run. Failures other than a conflict count as no progress. */
static void grids_note(grids_search *search, grids_run *run, bool late) {
  const tesela_kernel_program *program = search->program;
  run->late = program->failed && late;
  run->at = program->failed ? (size_t)(program->failed - program->step) : 0;
}

/* The next parent; -1: all runs are expanded. */
static int32_t grids_furthest(const grids_search *search) {
  int32_t best = -1;
  for (int32_t i = 0; i < search->n; i++) {
    const grids_run *run = &search->run[i], *other = &search->run[best < 0 ? i : best];
    if (run->expanded) continue;
    if (best < 0 || (run->late != other->late ? run->late : run->at > other->at)) best = i;
  }
  return best;
}

/* The number of choices before all tensors of the conflict had their layouts; all choices for another failure. */
static int32_t grids_that_matter(const tesela_kernel_program *program) {
  int32_t most = program->failed ? 0 : program->n_decided;
  for (int32_t i = 0; program->failed && i < program->failed->n; i++)
    most = (int32_t)tesela__max(most, tesela__infer_arg(program, program->failed, i)->decided);
  return most;
}

/* The steps that chose in the last run, in order; returns the number of leading ones that affect its conflict. */
static int32_t grids_order(grids_search *search) {
  const tesela_kernel_program *program = search->program;
  for (size_t s = 0; s < program->n_steps; s++)
    if (program->step[s].decided > 0) search->order[program->step[s].decided - 1] = (int32_t)s;
  return grids_that_matter(program);
}

/* Run all children, those that differ last first, until one has no conflict. *left: stopped at the limit. */
static tesela_status grids_expand(grids_search *search, int32_t parent, bool *left, tesela_error *err) {
  tesela_kernel_program *program = search->program;
  bool late;
  grids_set(search, parent);
  tesela_status status = tesela__infer_once(program, &late, err);
  if (status == TESELA_E_MEMORY) return status;
  int32_t first = parent == 0 ? 0 : program->step[search->run[parent].step].decided;
  int32_t n = grids_order(search);
  search->run[parent].expanded = true;
  for (int32_t k = n - 1; k >= first; k--) {
    int32_t grids = tesela__infer_dot_grids(program, &program->step[search->order[k]]);
    for (int32_t grid = 1; grid < grids; grid++) {
      if (search->n == search->most) {
        *left = true;
        return TESELA_E_INVALID;
      }
      grids_run *run = &search->run[search->n];
      *run = (grids_run){.parent = parent, .step = search->order[k], .grid = grid};
      grids_set(search, search->n++);
      status = tesela__infer_once(program, &late, err);
      if (status == TESELA_OK || status == TESELA_E_MEMORY) return status;
      grids_note(search, run, late);
    }
  }
  return TESELA_E_INVALID;
}

static tesela_status grids_search_all(grids_search *search, bool *left, tesela_error *err) {
  for (;;) {
    int32_t next = grids_furthest(search);
    if (next < 0) return TESELA_E_INVALID;
    tesela_status status = grids_expand(search, next, left, err);
    if (status != TESELA_E_INVALID || *left) return status;
  }
}

/* After a conflict with the first grids: try other grids until it is resolved. TESELA_OK: found, and the layouts are
 * set. *tried receives the number of tries; *left: untried grids remain. */
static tesela_status grids_try(tesela_kernel_program *program, bool late, int64_t *tried, bool *left,
                               tesela_error *err) {
  grids_search search = {.program = program, .n = 1};
  int64_t room = TESELA_KERNEL_GRID_TENSORS / (int64_t)program->n_tensors;
  if (grids_that_matter(program) == 0) return TESELA_E_INVALID;
  search.order =
      tesela__alloc(&program->allocator, program->n_steps * sizeof *search.order, alignof(int32_t));
  if (!search.order) {
    program->conflict.found = false;
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for other grids of warps");
  }
  search.most = (int32_t)tesela__min(TESELA_KERNEL_GRIDS, room);
  search.run[0] = (grids_run){.parent = -1};
  grids_note(&search, &search.run[0], late);
  tesela_status status = grids_search_all(&search, left, err);
  tesela__release(&program->allocator, search.order);
  *tried = search.n;
  program->conflict.found = status == TESELA_E_INVALID;
  return status;
}

tesela_status tesela_kernel_program_infer(tesela_kernel_program *program, tesela_error *err) {
  TESELA__NEED(err, program);
  int64_t tried = 1;
  bool late, left = false;
  for (size_t s = 0; s < program->n_steps; s++) program->step[s].grid = 0;
  program->quiet = true;
  tesela_status status = tesela__infer_once(program, &late, err);
  if (program->conflict.found) status = grids_try(program, late, &tried, &left, err);
  program->quiet = false;
  if (!program->conflict.found) return status;
  for (size_t s = 0; s < program->n_steps; s++) program->step[s].grid = 0;
  status = tesela__infer_once(program, &late, err); /* again, to explain the conflict */
  program->conflict.grids_tried = tried;
  program->conflict.grids_left = left;
  return status;
}
