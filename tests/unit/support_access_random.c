/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_access_random.c - random tiles: register layouts and memories that agree on nothing, or on much.
 */
#include "support_access.h"
#include "support_seed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t oracle_state;

int64_t access_random(int64_t n) {
  oracle_state ^= oracle_state << 13;
  oracle_state ^= oracle_state >> 7;
  oracle_state ^= oracle_state << 17;
  return (int64_t)(oracle_state >> 11) % n;
}

void access_random_start(void) {
  oracle_state = first_seed() * UINT64_C(0x9e3779b97f4a7c15) + 88172645463325252;
  if (oracle_state == 0) oracle_state = 1;
}

int32_t access_random_shape(int64_t *shape, int64_t most, bool power) {
  static const int64_t extents[] = {1, 2, 4, 8, 16, 32, 3, 6, 12, 5, 24, 7};
  int32_t rank = (int32_t)access_random(4);
  if (access_random(3) > 0) rank = 2;
  int64_t left = most;
  for (int32_t d = 0; d < rank; d++) {
    do shape[d] = extents[access_random(power ? 6 : 12)];
    while (shape[d] > left);
    left /= shape[d];
  }
  return rank;
}

/* Append random factors of a number to `out`, which has n; returns the new n. */
static int32_t random_factors(int64_t extent, int64_t *out, int32_t n) {
  while (extent > 1) {
    int64_t factor;
    do factor = 2 + access_random(extent - 1);
    while (extent % factor != 0);
    out[n++] = factor;
    extent /= factor;
  }
  return n;
}

void access_random_registers(tesela_register *out, int32_t rank, const int64_t *shape, int64_t threads_more) {
  int64_t modes[TESELA_REGISTER_MODES], spatial[TESELA_REGISTER_MODES], local[TESELA_REGISTER_MODES];
  int32_t n = 0, n_spatial = 0, n_local = 0;
  for (int32_t d = 0; d < rank; d++) n = random_factors(shape[d], modes, n);
  for (int32_t m = 0; m < n; m++) {
    int64_t *list = access_random(2) ? spatial : local;
    int32_t *count = list == spatial ? &n_spatial : &n_local;
    int32_t at = (int32_t)access_random(*count + 1);
    if (access_random(2)) at = *count; /* often in order */
    memmove(list + at + 1, list + at, (size_t)(*count - at) * sizeof *list);
    list[at] = m;
    ++*count;
  }
  while (threads_more > 1 && access_random(3) == 0) {
    int64_t copies = 1 + access_random(3);
    spatial[n_spatial++] = -copies;
    threads_more /= copies + 1;
  }
  tesela_error err;
  tesela_status status =
      access_random(2)
          ? tesela_register_make(out, rank, shape, n, modes, n_spatial, spatial, n_local, local, &err)
          : tesela_register_make_raw(out, rank, shape, n, modes, n_spatial, spatial, n_local, local, &err);
  if (status != TESELA_OK) {
    fprintf(stderr, "random registers: %s\n", err.message);
    abort();
  }
}

void access_random_memory(tesela_tile_memory *out, int32_t rank, const int64_t *shape) {
  tesela_tile_memory m = {.space = TESELA_TILE_SHARED, .rank = rank};
  int32_t order[TESELA_REGISTER_MODES];
  bool whole = access_random(2), swizzled = access_random(2);
  for (int32_t d = 0; d < rank; d++) {
    m.shape[d] = shape[d];
    if (whole)
      m.mode_shape[m.n_modes++] = shape[d];
    else
      m.n_modes = random_factors(shape[d], m.mode_shape, m.n_modes);
  }
  for (int32_t i = 0; i < m.n_modes; i++) { /* fastest mode first */
    int32_t at = access_random(3) ? 0 : (int32_t)access_random(i + 1);
    memmove(order + at + 1, order + at, (size_t)(i - at) * sizeof *order);
    order[at] = i;
  }
  int64_t stride = 1;
  for (int32_t i = 0; i < m.n_modes; i++) {
    m.mode_strides[order[i]] = access_random(40) ? stride : stride / 2;
    stride *= m.mode_shape[order[i]];
    if (access_random(6) == 0) stride += access_random(4);
  }
  m.offset = access_random(4) ? 0 : access_random(40);
  if (swizzled) {
    m.swizzle.bits = 1 + (int32_t)access_random(4);
    m.swizzle.base = (int32_t)access_random(5);
    m.swizzle.shift = m.swizzle.bits + (int32_t)access_random(4);
    if (access_random(5) == 0) m.swizzle.shift = -m.swizzle.shift;
  }
  m.size = (m.offset + 2 * stride + 1) * 4096; /* above all places, swizzled or not */
  *out = m;
}
