/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_ldmatrix.c - can ldmatrix (or stmatrix) load a register tile, and what do its row reads cost?
 *
 * A tile of 8 rows of 16 bytes is an atom: 8 rows x E columns, E = 16 bytes of elements, in 32 lanes. The registers
 * must be q * atom. Each row of each atom is one read of 16 bytes, so the reads are a tile access themselves:
 *
 *   rows = q * spatial(8,1).local(1,E)     thread 8 * warp + r reads row r; local ids E*j .. E*j + E-1 are atom j
 *
 * ldmatrix applies exactly if vectors of E elements fit that access; a phase is 8 threads of it. The same holds for
 * .trans, whose atom column_spatial(4,8).local(2,1) is also stored as 8 rows of 8 elements.
 */
#include <stdio.h>

#include "gpu/access/access.h"

/* ---- atoms ------------------------------------------------------------------------------------------------------ */

/* In the order in which they are tried. */
static const struct ldmatrix_atom {
  const char *name;
  int32_t bits;
  bool transposed;
  int64_t spatial[2], local[2];
} ldmatrix_atoms[] = {
    {"spatial(8,4).local(1,4)", 8, false, {8, 4}, {1, 4}},
    {"spatial(8,4).local(1,2)", 16, false, {8, 4}, {1, 2}},
    {"spatial(8,4)", 32, false, {8, 4}, {1, 1}},
    {"column_spatial(4,8).local(2,1)", 16, true, {4, 8}, {2, 1}},
};

static void ldmatrix_two(tesela_register *out, const int64_t *spatial, bool column, const int64_t *local) {
  tesela_register inner;
  static const int64_t reversed[2] = {1, 0};
  (void)tesela_register_spatial(out, 2, spatial, column ? reversed : NULL, NULL);
  (void)tesela_register_local(&inner, 2, local, NULL, NULL);
  (void)tesela_register_compose(out, out, &inner, NULL); /* fixed small shapes: cannot fail */
}

bool tesela__ldmatrix_rows(const tesela_register *registers, int32_t bits, bool *transposed,
                           tesela_register *quotient, tesela_register *rows, char *why, size_t room) {
  const char *tried[2] = {NULL, NULL};
  int32_t n = 0;
  if (registers->rank != 2) {
    snprintf(why, room, "the tile has rank %" PRId32 "; ldmatrix moves tiles of rank 2", registers->rank);
    return false;
  }
  for (size_t i = 0; i < sizeof ldmatrix_atoms / sizeof ldmatrix_atoms[0]; i++) {
    const struct ldmatrix_atom *atom = &ldmatrix_atoms[i];
    tesela_register small;
    if (atom->bits != bits) continue;
    tried[n++] = atom->name;
    ldmatrix_two(&small, atom->spatial, atom->transposed, atom->local);
    if (tesela_register_divide(quotient, registers, &small, NULL) != TESELA_OK) continue;
    ldmatrix_two(&small, (const int64_t[]){TESELA__LDMATRIX_ROWS, 1}, false,
                 (const int64_t[]){1, 128 / bits});
    *transposed = atom->transposed;
    return tesela_register_compose(rows, quotient, &small, NULL) == TESELA_OK;
  }
  if (n == 0)
    snprintf(why, room, "elements of %" PRId32 " bits; ldmatrix moves elements of 8, 16 or 32 bits", bits);
  else
    snprintf(why, room, "the registers are not a multiple of %s%s%s", tried[0], n == 2 ? " or " : "",
             n == 2 ? tried[1] : "");
  return false;
}

/* ---- the plan --------------------------------------------------------------------------------------------------- */

/* Describe the first row that ldmatrix cannot load. */
static void ldmatrix_fault(tesela_ldmatrix *plan, const tesela__access *rows, int64_t elements) {
  int64_t thread = 0, local = 0, index[TESELA_MAX_RANK] = {0};
  (void)tesela__access_follow(rows, elements, &thread, &local);
  int64_t row = thread % TESELA__LDMATRIX_ROWS, warp = thread / TESELA__LDMATRIX_ROWS;
  (void)tesela_register_get_global(&plan->quotient, warp, local / elements, index, NULL);
  snprintf(plan->why_not, sizeof plan->why_not,
           "from (%" PRId64 ",%" PRId64 ") on, %" PRId64
           " elements are not 16 contiguous bytes at a multiple of 16",
           index[0] * TESELA__LDMATRIX_ROWS + row, index[1] * elements, elements);
}

/* The registers are quotient * atom. Do the rows fit, and what do they cost? */
static tesela_status ldmatrix_fill(tesela_ldmatrix *plan, const tesela_register *rows_of,
                                   const tesela_tile_memory *memory, int32_t bits, tesela_error *err) {
  tesela_access_machine full;
  tesela__access rows;
  int64_t elements = TESELA__LDMATRIX_ROW_BYTES * 8 / bits;
  (void)tesela__access_machine(&(tesela_access_machine){.warp = TESELA__LDMATRIX_ROWS}, &full, NULL);
  tesela_status status = tesela__access_make(&rows, rows_of, memory, bits, &full, err);
  if (status != TESELA_OK) return status;
  if (!tesela__access_fits(&rows, elements)) {
    ldmatrix_fault(plan, &rows, elements);
    return TESELA_OK;
  }
  int64_t tiles = tesela__gcd(plan->quotient.local_size, 4);
  tesela__access_phase phase =
      tesela__access_phase_of(&full, TESELA__LDMATRIX_ROW_BYTES, TESELA__LDMATRIX_ROWS);
  tesela_access_cost *cost = &plan->cost;
  tesela__access_count(&rows, &phase, &full, elements, cost);
  cost->worst_phase = cost->worst_instruction % tiles;
  cost->worst_instruction /= tiles;
  cost->instructions /= tiles;
  cost->sectors = cost->least_sectors = cost->lines = 0; /* shared memory only */
  plan->tiles = (int32_t)tiles;
  plan->instructions = (int32_t)(plan->quotient.local_size / tiles); /* at most TESELA_ACCESS_LIMIT */
  plan->warps = plan->quotient.spatial_size;
  plan->applies = true;
  return TESELA_OK;
}

tesela_status tesela_ldmatrix_of(const tesela_register *registers, const tesela_tile_memory *memory,
                                 int32_t bits, tesela_ldmatrix *plan, tesela_error *err) {
  TESELA__NEED(err, registers, memory, plan);
  tesela_access_machine full;
  tesela__access whole;
  tesela_ldmatrix made = {.applies = false};
  tesela_register rows;
  (void)tesela__access_machine(NULL, &full, NULL);
  tesela_status status =
      tesela__access_make(&whole, registers, memory, bits, &full, err); /* only for its errors */
  if (status != TESELA_OK) return status;
  (void)tesela_register_spatial(&made.quotient, 0, NULL, NULL, NULL);
  if (memory->space != TESELA_TILE_SHARED)
    snprintf(made.why_not, sizeof made.why_not, "the tile is in global memory; ldmatrix reads shared memory");
  else if (tesela__ldmatrix_rows(registers, bits, &made.transposed, &made.quotient, &rows, made.why_not,
                                 sizeof made.why_not))
    status = ldmatrix_fill(&made, &rows, memory, bits, err);
  if (status == TESELA_OK) *plan = made;
  return status;
}

tesela_status tesela_ldmatrix_place(const tesela_ldmatrix *plan, const tesela_tile_memory *memory,
                                    int64_t warp, int32_t k, int32_t lane, int64_t *place,
                                    tesela_error *err) {
  TESELA__NEED(err, plan, memory, place);
  if (!plan->applies)
    return tesela__fail(err, TESELA_E_INVALID, -1, "ldmatrix does not apply: %s", plan->why_not);
  if (warp < 0 || warp >= plan->warps)
    return tesela__fail(err, TESELA_E_RANGE, -1, "warp is %" PRId64 "; expected 0 to %" PRId64, warp,
                        plan->warps - 1);
  if (k < 0 || k >= plan->instructions)
    return tesela__fail(err, TESELA_E_RANGE, -1, "instruction is %" PRId32 "; expected 0 to %" PRId32, k,
                        plan->instructions - 1);
  if (lane < 0 || lane >= TESELA__LDMATRIX_LANES)
    return tesela__fail(err, TESELA_E_RANGE, -1, "lane is %" PRId32 "; expected 0 to 31", lane);
  int64_t index[TESELA_MAX_RANK];
  int32_t tile = lane / TESELA__LDMATRIX_ROWS % plan->tiles;
  tesela_status status =
      tesela_register_get_global(&plan->quotient, warp, (int64_t)k * plan->tiles + tile, index, err);
  if (status != TESELA_OK) return status;
  index[0] = index[0] * TESELA__LDMATRIX_ROWS + lane % TESELA__LDMATRIX_ROWS;
  index[1] *= plan->cost.vector_elements;
  return tesela_tile_memory_place(memory, index, place, err);
}
