/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.c - register layouts to load and store elements of less than a byte.
 *
 * Such elements move together, even if some threads then have no elements. A thread gets the smallest block, fastest
 * modes of the memory first, that it can load and store: 2, 4 or 8 elements of the fastest mode, or all of it and 2, 4
 * or 8 of the next, and so on. The blocks are distributed over the threads in turn.
 */
#include "infer/infer_state.h"

#include "gpu/access/access.h"

/* Modes of memory by descending stride; those of stride 0 first. */
static void blocks_order(const tesela_tile_memory *memory, int32_t *order) {
  for (int32_t m = 0; m < memory->n_modes; m++) {
    uint64_t stride = (uint64_t)memory->mode_strides[m] - 1; /* 0: the largest */
    int32_t at = m;
    for (; at > 0 && (uint64_t)memory->mode_strides[order[at - 1]] - 1 < stride; at--)
      order[at] = order[at - 1];
    order[at] = m;
  }
}

/* Distribute blocks over the threads: `block` is the part of each mode of the memory that stays in one thread. The rest
 * of the modes goes to threads if their number divides it, fastest first, and what remains is local. False for too many
 * modes. */
static bool blocks_deal(const tesela_kernel_program *program, const tesela_tile_memory *memory,
                        const int32_t *order, const int64_t *block, tesela_register *out) {
  int64_t spatial_part[TESELA_REGISTER_MODES], mode_shape[TESELA_REGISTER_MODES];
  int64_t spatial[TESELA_REGISTER_MODES + 1], local[TESELA_REGISTER_MODES], left = program->threads;
  int32_t first[TESELA_REGISTER_MODES], n = 0, n_spatial = 0, n_local = 0;
  for (int32_t k = memory->n_modes - 1; k >= 0; k--) {
    int32_t m = order[k];
    spatial_part[m] = tesela__gcd(left, memory->mode_shape[m] / block[m]);
    left /= spatial_part[m];
  }
  for (int32_t m = 0; m < memory->n_modes; m++) { /* rest, threads, block */
    if (n + 3 > TESELA_REGISTER_MODES) return false;
    first[m] = n;
    mode_shape[n++] = memory->mode_shape[m] / block[m] / spatial_part[m];
    mode_shape[n++] = spatial_part[m];
    mode_shape[n++] = block[m];
  }
  if (left > 1) spatial[n_spatial++] = -left;
  for (int32_t k = 0; k < memory->n_modes; k++) {
    spatial[n_spatial++] = first[order[k]] + 1;
    local[n_local++] = first[order[k]];
  }
  for (int32_t k = 0; k < memory->n_modes; k++) local[n_local++] = first[order[k]] + 2;
  if (tesela_register_make(out, memory->rank, memory->shape, n, mode_shape, n_spatial, spatial, n_local,
                           local, NULL) != TESELA_OK)
    return false;
  tesela_register_canonical(out, out);
  return true;
}

bool tesela__infer_memory_blocks(const tesela_kernel_program *program, const tesela_tile_memory *memory,
                                 int32_t bits, tesela_register *out, int64_t *vector) {
  int64_t block[TESELA_REGISTER_MODES];
  int32_t order[TESELA_REGISTER_MODES];
  blocks_order(memory, order);
  for (int32_t m = 0; m < memory->n_modes; m++) block[m] = 1;
  for (int32_t k = memory->n_modes - 1; k >= 0; k--) {
    int64_t extent = memory->mode_shape[order[k]];
    for (int64_t n = 2; n <= 16; n *= 2) { /* 16: all of it */
      block[order[k]] = n < 16 ? n : extent;
      if (extent % block[order[k]] == 0 && blocks_deal(program, memory, order, block, out) &&
          tesela__access_possible(out, memory, bits, vector, NULL) == TESELA_OK)
        return true;
    }
  }
  return false;
}
