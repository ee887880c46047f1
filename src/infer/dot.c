/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dot.c - the matrix product d = a b + c by instructions of one atom: a [m,k], b [k,n], c and d [m,n].
 *
 * A tensor of a dot is q * atom: q gives the warp of each tile, and its position among the registers. A warp computes
 * its tiles of d, so it needs the tiles of a in the same rows and of b in the same columns, for all k, each k tile in
 * its own registers:
 *
 *   a = q_d.reduce_to([m,1]).local(1,k) * A        b = q_d.reduce_to([1,n]).local(k,1) * B        c = q_d * C
 *
 * (m, n, k counted in tiles.) Without known layouts q_d is a grid of warps. A layout of a whose k is not spread over
 * warps nearly determines q_d: warps that share rows of a get columns of d in turn, if they divide them.
 */
#include "infer/infer_state.h"

#include <stdio.h>

/* ---- the tiles ----------------------------------------------------------------------------------------- */

/* The layout of a (side 0) or b (side 1) for a d with `tiles`. */
static tesela_status dot_operand(const tesela__infer_atom *atom, int32_t side, const tesela_register *tiles,
                                 int64_t k_tiles, tesela_register *out) {
  int64_t kept[2] = {side == 0 ? tiles->shape[0] : 1, side == 0 ? 1 : tiles->shape[1]};
  int64_t along[2] = {side == 0 ? 1 : k_tiles, side == 0 ? k_tiles : 1};
  tesela_register part, run;
  tesela_status status = tesela_register_reduce_to(&part, tiles, 2, kept, NULL);
  if (status == TESELA_OK) status = tesela_register_local(&run, 2, along, NULL, NULL);
  if (status == TESELA_OK) status = tesela_register_compose(&part, &part, &run, NULL);
  if (status == TESELA_OK)
    status = tesela_register_compose(out, &part, side == 0 ? &atom->a : &atom->b, NULL);
  return status;
}

/* The tiles of d from those of a (side 0) or b (side 1), dims (own, other): each replica becomes tiles of the other dim
 * if it divides the remaining ones; tiles that remain at the end are local. Fails if k is spread over warps. */
static tesela_status dot_tiles_from(const tesela_register *q, int32_t side, int64_t others,
                                    tesela_register *out) {
  int64_t mode_shape[TESELA_REGISTER_MODES], spatial[TESELA_REGISTER_MODES], local[TESELA_REGISTER_MODES];
  int32_t n_modes, n_local = 0;
  int64_t rest = others;
  tesela_register own;
  tesela_status status = tesela_register_reduce(&own, q, 1, &(int64_t){1 - side}, false, NULL);
  if (status != TESELA_OK) return status;
  if (tesela_register_copies(&own) != tesela_register_copies(q)) return TESELA_E_UNSUPPORTED;
  if (own.n_modes + own.n_spatial + 1 > TESELA_REGISTER_MODES) return TESELA_E_LIMIT;
  n_modes = own.n_modes;
  memcpy(mode_shape, own.mode_shape, (size_t)n_modes * sizeof *mode_shape);
  for (int32_t i = 0; i < own.n_spatial; i++) {
    spatial[i] = own.spatial_modes[i];
    if (spatial[i] >= 0 || rest % spatial[i] != 0) continue;
    mode_shape[n_modes] = -spatial[i];
    rest /= -spatial[i];
    spatial[i] = n_modes++;
  }
  if (side == 1) local[n_local++] = n_modes; /* rows are slower than columns */
  for (int32_t i = 0; i < own.n_local; i++) local[n_local++] = own.local_modes[i];
  if (side == 0) local[n_local++] = n_modes;
  mode_shape[n_modes++] = rest;
  status = tesela_register_make(out, 2, (const int64_t[]){own.shape[0], others}, n_modes, mode_shape,
                                own.n_spatial, spatial, n_local, local, NULL);
  if (status != TESELA_OK || side == 0) return status;
  return tesela_register_permute(out, out, 2, (const int64_t[]){1, 0}, NULL);
}

/* A grid of warps over the tiles of d: replicas.spatial(rows, columns).local(rest). */
static tesela_status dot_grid(int64_t replicas, int64_t rows, int64_t columns, int64_t m, int64_t n,
                              tesela_register *out) {
  tesela_register warps, rest;
  tesela_status status = tesela_register_replicated(out, 2, (const int64_t[]){1, 1}, replicas, NULL);
  if (status == TESELA_OK)
    status = tesela_register_spatial(&warps, 2, (const int64_t[]){rows, columns}, NULL, NULL);
  if (status == TESELA_OK)
    status = tesela_register_local(&rest, 2, (const int64_t[]){m / rows, n / columns}, NULL, NULL);
  if (status == TESELA_OK) status = tesela_register_compose(out, out, &warps, NULL);
  if (status == TESELA_OK) status = tesela_register_compose(out, out, &rest, NULL);
  if (status == TESELA_OK) tesela_register_canonical(out, out); /* drops a replica of 1 */
  return status;
}

/* A dot: its tensors, its atom, its extents in tiles. */
typedef struct dot_parts {
  tesela__infer_tensor *d, *side[2], *c; /* c: NULL without it */
  const tesela__infer_atom *atom;
  int64_t m, n, k, warps;
} dot_parts;

static dot_parts dot_of(const tesela_kernel_program *program, const tesela__infer_step *step) {
  const tesela__infer_atom *atom = &program->atom[step->atom];
  dot_parts dot = {.d = tesela__infer_arg(program, step, 0),
                   .side = {tesela__infer_arg(program, step, 1), tesela__infer_arg(program, step, 2)},
                   .c = step->n > 3 ? tesela__infer_arg(program, step, 3) : NULL,
                   .atom = atom,
                   .warps = program->threads / atom->c.spatial_size};
  dot.m = dot.d->shape[0] / atom->c.shape[0];
  dot.n = dot.d->shape[1] / atom->c.shape[1];
  dot.k = dot.side[0]->shape[1] / atom->a.shape[1];
  return dot;
}

/* Grids of warps in the order of preference: fewest registers for a and b, then most rows, then most columns. */
typedef struct dot_choice {
  int64_t registers, rows, columns;
} dot_choice;

static bool dot_before(const dot_choice *a, const dot_choice *b) {
  if (a->registers != b->registers) return a->registers < b->registers;
  return a->rows != b->rows ? a->rows > b->rows : a->columns > b->columns;
}

/* Find the first grid after `last` (NULL: of all): rows and columns of warps that share the tiles evenly; the other
 * warps hold copies. Returns the number of all grids. */
static int32_t dot_next_grid(const dot_parts *dot, const dot_choice *last, dot_choice *next) {
  int32_t n = 0;
  next->registers = -1;
  for (int64_t rows = tesela__min(dot->warps, dot->m); rows >= 1; rows--) {
    if (dot->warps % rows != 0 || dot->m % rows != 0) continue;
    for (int64_t columns = tesela__min(dot->warps / rows, dot->n); columns >= 1; columns--) {
      if (dot->warps / rows % columns != 0 || dot->n % columns != 0) continue;
      const dot_choice one = {
          /* fits: at most the elements of a and b */
          dot->m / rows * dot->atom->a.local_size + dot->n / columns * dot->atom->b.local_size, rows,
          columns};
      n++;
      if ((!last || dot_before(last, &one)) && (next->registers < 0 || dot_before(&one, next))) *next = one;
    }
  }
  return n;
}

/* The grid that a step gives, or that it chose by number. */
static dot_choice dot_chosen(const dot_parts *dot, const tesela__infer_step *step) {
  dot_choice last, next;
  if (step->keys & TESELA__INFER_KEY_WARPS) return (dot_choice){0, step->warps[0], step->warps[1]};
  (void)dot_next_grid(dot, NULL, &next);
  for (int32_t i = 0; i < step->grid; i++) {
    last = next;
    (void)dot_next_grid(dot, &last, &next);
  }
  return next;
}

static tesela_status dot_best_grid(const dot_parts *dot, const tesela__infer_step *step,
                                   tesela_register *out) {
  dot_choice grid = dot_chosen(dot, step);
  return dot_grid(dot->warps / grid.rows / grid.columns, grid.rows, grid.columns, dot->m, dot->n, out);
}

int32_t tesela__infer_dot_grids(const tesela_kernel_program *program, const tesela__infer_step *step) {
  dot_choice first;
  dot_parts dot = dot_of(program, step);
  return step->keys & TESELA__INFER_KEY_WARPS ? 1 : dot_next_grid(&dot, NULL, &first);
}

/* ---- rules --------------------------------------------------------------------------------------------- */

/* The tiles of d, from its own layout or that of c. */
static bool dot_known_tiles(const dot_parts *dot, tesela_register *tiles) {
  if (dot->d->registers && tesela_register_divide(tiles, dot->d->registers, &dot->atom->c, NULL) == TESELA_OK)
    return true;
  return dot->c && dot->c->registers &&
         tesela_register_divide(tiles, dot->c->registers, &dot->atom->c, NULL) == TESELA_OK;
}

static tesela_status dot_give_result(tesela_kernel_program *program, const tesela__infer_step *step,
                                     const dot_parts *dot, const tesela_register *tiles, const char *rule,
                                     bool *gave, tesela_error *err) {
  tesela_register layout;
  tesela_status status = TESELA_OK;
  if (tesela_register_compose(&layout, tiles, &dot->atom->c, NULL) != TESELA_OK) return TESELA_OK;
  if (!dot->d->registers) status = tesela__infer_give(program, dot->d, &layout, step, gave, err, "%s", rule);
  if (status == TESELA_OK && dot->c && !dot->c->registers)
    status = tesela__infer_give(program, dot->c, &layout, step, gave, err, "accumulator of %s", dot->d->name);
  return status;
}

static tesela_status dot_give_operands(tesela_kernel_program *program, const tesela__infer_step *step,
                                       const dot_parts *dot, const tesela_register *tiles, bool *gave,
                                       tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t side = 0; side < 2 && status == TESELA_OK; side++) {
    tesela_register layout;
    if (dot->side[side]->registers) continue;
    if (dot_operand(dot->atom, side, tiles, dot->k, &layout) != TESELA_OK) continue;
    status = tesela__infer_give(program, dot->side[side], &layout, step, gave, err, "operand %s of %s",
                                side == 0 ? "A" : "B", dot->d->name);
  }
  return status;
}

static tesela_status dot_from_result(tesela_kernel_program *program, const tesela__infer_step *step,
                                     const dot_parts *dot, bool *gave, tesela_error *err) {
  tesela_register tiles;
  if (!dot_known_tiles(dot, &tiles)) return TESELA_OK;
  tesela_status status = dot_give_result(program, step, dot, &tiles, "as its accumulator", gave, err);
  return status != TESELA_OK ? status : dot_give_operands(program, step, dot, &tiles, gave, err);
}

/* Without other information, or with d and c in layouts that no instruction makes: unknown tensors still get layouts,
 * so that the check can explain the fault. */
static tesela_status dot_from_grid(tesela_kernel_program *program, tesela__infer_step *step,
                                   const dot_parts *dot, bool *gave, tesela_error *err) {
  tesela_register tiles;
  char rule[100] = "grid of warps as written";
  dot_choice grid = dot_chosen(dot, step);
  if (dot_known_tiles(dot, &tiles) || dot_best_grid(dot, step, &tiles) != TESELA_OK) return TESELA_OK;
  if (!(step->keys & TESELA__INFER_KEY_WARPS)) snprintf(rule, sizeof rule, "grid of warps chosen");
  if (step->grid > 0)
    snprintf(rule, sizeof rule, "grid of warps chosen, [%" PRId64 ", %" PRId64 "] after a conflict",
             grid.rows, grid.columns);
  step->decided = ++program->n_decided; /* before the layouts that depend on it */
  tesela_status status = dot_give_result(program, step, dot, &tiles, rule, gave, err);
  if (!*gave) step->decided = 0, program->n_decided--;
  return *gave || status != TESELA_OK ? status : dot_give_operands(program, step, dot, &tiles, gave, err);
}

/* Does the other side, if known, fit these tiles? */
static bool dot_fits_other(const dot_parts *dot, int32_t other, const tesela_register *tiles) {
  tesela_register needs;
  bool covers = true;
  if (!dot->side[other]->registers) return true;
  return dot_operand(dot->atom, other, tiles, dot->k, &needs) == TESELA_OK &&
         tesela_register_covers(dot->side[other]->registers, &needs, &covers, NULL) == TESELA_OK && covers;
}

/* From a, or from b: the first one that fits the other; if neither does, from a. */
static tesela_status dot_from_operand(tesela_kernel_program *program, const tesela__infer_step *step,
                                      const dot_parts *dot, bool *gave, tesela_error *err) {
  tesela_register q, tiles, best;
  int32_t found = -1;
  if (dot->d->registers || (dot->c && dot->c->registers)) return TESELA_OK;
  for (int32_t side = 0; side < 2; side++) {
    if (!dot->side[side]->registers) continue;
    const tesela_register *atom = side == 0 ? &dot->atom->a : &dot->atom->b;
    if (tesela_register_divide(&q, dot->side[side]->registers, atom, NULL) != TESELA_OK) continue;
    if (dot_tiles_from(&q, side, side == 0 ? dot->n : dot->m, &tiles) != TESELA_OK) continue;
    bool fits = dot_fits_other(dot, 1 - side, &tiles);
    if (found >= 0 && !fits) continue;
    best = tiles;
    found = side;
    if (fits) break;
  }
  if (found < 0) return TESELA_OK;
  return dot_give_result(program, step, dot, &best, found == 0 ? "from operand A" : "from operand B", gave,
                         err);
}

tesela_status tesela__infer_rule_dot(tesela_kernel_program *program, tesela__infer_step *step,
                                     tesela__infer_level level, bool *gave, tesela_error *err) {
  dot_parts dot = dot_of(program, step);
  if (level == TESELA__INFER_DOT_GRID) return dot_from_grid(program, step, &dot, gave, err);
  if (level != TESELA__INFER_DOT) return TESELA_OK;
  tesela_status status = dot_from_result(program, step, &dot, gave, err);
  return *gave || status != TESELA_OK ? status : dot_from_operand(program, step, &dot, gave, err);
}

/* ---- check --------------------------------------------------------------------------------------------- */

/* Check that each warp has its tiles, and that the tensor consists of whole fragments. */
static tesela_status dot_demand(tesela_kernel_program *program, const tesela__infer_step *step,
                                const tesela_register *atom, tesela__infer_clash *clash, tesela_error *err) {
  tesela_register q;
  tesela_status status = tesela__infer_demand(program, step, clash, err);
  if (status != TESELA_OK || tesela_register_divide(&q, &clash->has, atom, NULL) == TESELA_OK) return status;
  clash->why = "each thread has its elements, but its registers are not whole fragments of the instruction";
  return tesela__infer_refuse(program, step, clash, err);
}

tesela_status tesela__infer_check_dot(tesela_kernel_program *program, const tesela__infer_step *step,
                                      tesela_error *err) {
  dot_parts dot = dot_of(program, step);
  tesela_register tiles;
  tesela__infer_clash clash = {.tensor = dot.d, .other = dot.side[0]};
  tesela_status status = TESELA_OK;
  if (tesela_register_divide(&tiles, dot.d->registers, &dot.atom->c, NULL) != TESELA_OK) {
    clash.is_result = true;
    clash.needs = *dot.d->registers;
    clash.why = "the instruction leaves its result as whole fragments";
    if (!dot_known_tiles(&dot, &tiles)) status = dot_best_grid(&dot, step, &tiles);
    if (status == TESELA_OK) status = tesela_register_compose(&clash.has, &tiles, &dot.atom->c, err);
    return status != TESELA_OK ? status : tesela__infer_refuse(program, step, &clash, err);
  }
  clash.other = dot.d;
  for (int32_t side = 0; side < 2 && status == TESELA_OK; side++) {
    clash.tensor = dot.side[side];
    clash.has = *clash.tensor->registers;
    clash.why = side == 0 ? "a warp needs the rows of A for its tiles"
                          : "a warp needs the columns of B for its tiles";
    status = dot_operand(dot.atom, side, &tiles, dot.k, &clash.needs);
    if (status != TESELA_OK)
      return tesela__fail(err, status, step->at, "line %" PRId64 ": the layout %s needs is too large",
                          step->line, clash.tensor->name);
    status = dot_demand(program, step, side == 0 ? &dot.atom->a : &dot.atom->b, &clash, err);
  }
  if (status != TESELA_OK || !dot.c) return status;
  clash.tensor = dot.c;
  clash.has = *dot.c->registers;
  clash.needs = *dot.d->registers;
  clash.why = "a warp needs the accumulators of its tiles";
  return dot_demand(program, step, &dot.atom->c, &clash, err);
}
