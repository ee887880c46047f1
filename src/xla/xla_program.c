/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_program.c - a shape as transpose, pad and reshape of the dense row-major array.
 *
 *   order     transpose   the dims, most major first
 *   level k   reshape     leading ones, `*` joins
 *             pad         each tiled bound up to a multiple of its tile
 *             reshape     each tiled bound to (tiles, tile)
 *             transpose   tile counts first, then tile extents
 *   tail      reshape, pad   the flat array up to a multiple of L
 */
#include "xla/xla.h"

#include "base/base.h"

static tesela_status add_order(const tesela_xla_shape *shape, tesela_program *program, tesela_error *err) {
  int64_t dim[TESELA_MAX_RANK];
  for (int32_t p = 0; p < shape->rank; p++) dim[p] = tesela_xla_major(&shape->layout, p);
  return tesela_program_add(program, TESELA_STEP_TRANSPOSE, TESELA_LEVEL_ORDER, shape->rank, dim, err);
}

/* Pad each joined bound of a group to a multiple of its tile. */
static tesela_status add_level_pad(const tesela__xla_bounds *joined, const tesela__xla_level *plan,
                                   tesela_program *program, tesela_error *err) {
  int64_t pad[TESELA_MAX_DIGITS] = {0};
  for (int32_t g = 0; g < plan->n_groups; g++) {
    int64_t rest = joined->extent[plan->untouched + g] % plan->group[g].tile;
    pad[plan->untouched + g] = rest == 0 ? 0 : plan->group[g].tile - rest;
  }
  return tesela_program_add(program, TESELA_STEP_PAD, plan->level, joined->n, pad, err);
}

/* Reshape to (tiles, tile) (tiles, tile) ..., then transpose the tile counts first. `split` has the bounds after the
 * level. */
static tesela_status add_level_split(const tesela__xla_bounds *split, const tesela__xla_level *plan,
                                     tesela_program *program, tesela_error *err) {
  int64_t extent[TESELA_MAX_DIGITS], from[TESELA_MAX_DIGITS];
  for (int32_t i = 0; i < split->n; i++) {
    int32_t tiled = i - plan->untouched, group = tiled % plan->n_groups, part = tiled / plan->n_groups;
    from[i] = tiled < 0 ? i : plan->untouched + 2 * group + part;
    extent[from[i]] = split->extent[i];
  }
  tesela_status status = tesela_program_add(program, TESELA_STEP_RESHAPE, plan->level, split->n, extent, err);
  if (status != TESELA_OK) return status;
  return tesela_program_add(program, TESELA_STEP_TRANSPOSE, plan->level, split->n, from, err);
}

static tesela_status add_level(tesela__xla_bounds *bounds, const tesela__xla_level *plan,
                               tesela_program *program, tesela_error *err) {
  tesela_status status = tesela__xla_bounds_join(bounds, plan, err);
  if (status == TESELA_OK)
    status = tesela_program_add(program, TESELA_STEP_RESHAPE, plan->level, bounds->n, bounds->extent, err);
  if (status == TESELA_OK) status = add_level_pad(bounds, plan, program, err);
  if (status != TESELA_OK) return status;
  tesela__xla_bounds_split(bounds, plan);
  return add_level_split(bounds, plan, program, err);
}

static tesela_status add_tail(const tesela_xla_shape *shape, tesela_program *program, tesela_error *err) {
  int64_t elements = tesela_program_elements(program), rest = elements % shape->layout.tail;
  if (rest == 0) return TESELA_OK;
  int64_t pad = shape->layout.tail - rest;
  tesela_status status =
      tesela_program_add(program, TESELA_STEP_RESHAPE, shape->layout.n_tiles, 1, &elements, err);
  if (status != TESELA_OK) return status;
  return tesela_program_add(program, TESELA_STEP_PAD, shape->layout.n_tiles, 1, &pad, err);
}

tesela_status tesela_xla_program(const tesela_xla_shape *shape, tesela_program *program, tesela_error *err) {
  TESELA__NEED(err, shape, program);
  tesela_program built;
  tesela__xla_bounds bounds;
  tesela_status status = tesela__xla_check_sized(shape, err);
  if (status == TESELA_OK) status = tesela_program_begin(&built, shape->rank, shape->dim, err);
  if (status == TESELA_OK) status = add_order(shape, &built, err);
  if (status != TESELA_OK) return status;
  built.n_levels = shape->layout.n_tiles;
  tesela__xla_bounds_begin(shape, &bounds);
  for (int32_t k = 0; k < shape->layout.n_tiles && status == TESELA_OK; k++) {
    tesela__xla_level plan;
    tesela__xla_level_of(&shape->layout, k, bounds.n, &plan);
    status = add_level(&bounds, &plan, &built, err);
  }
  if (status == TESELA_OK) status = add_tail(shape, &built, err);
  if (status == TESELA_OK) *program = built;
  return status;
}
