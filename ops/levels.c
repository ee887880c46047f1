/* SPDX-License-Identifier: Apache-2.0 */
/* levels.c - see levels.h. */
#include "levels.h"

#include <string.h>

int64_t tiles_of(const group *g) { return g->whole.extent / g->tile + (g->whole.extent % g->tile != 0); }

/* ---- following the bounds ---------------------------------------------------------------------------- */

static void physical_bounds(const tesela_xla_shape *shape, bounds *out) {
  out->n = shape->rank;
  for (int32_t p = 0; p < shape->rank; p++) {
    int32_t dim = tesela_xla_major(&shape->layout, p);
    out->at[p] = (bound){shape->dim[dim], 1, (uint32_t)1 << dim, false, true};
  }
}

static void join_into(bound *whole, int32_t n, const bound *next) {
  if (n == 0) {
    *whole = *next;
    return;
  }
  if (next->dims) whole->step = whole->dims ? 0 : next->step;
  whole->dims |= next->dims;
  whole->extent *= next->extent;
  whole->counts = whole->counts && next->counts;
  whole->top = false;
}

/* Leading ones for a tile with more entries than bounds, then the groups; `all` keeps what the tile leaves
 * alone. */
static void group_bounds(bounds *all, int32_t n_entries, const int64_t *entry, level_groups *groups) {
  int32_t ones = n_entries > all->n ? n_entries - all->n : 0;
  for (int32_t i = all->n - 1; i >= 0 && ones > 0; i--) all->at[i + ones] = all->at[i];
  for (int32_t i = 0; i < ones; i++) all->at[i] = (bound){1, 1, 0, false, false};
  all->n += ones;
  int32_t first = all->n - n_entries;
  groups->n = 0;
  group open = {.n = 0};
  for (int32_t i = 0; i < n_entries; i++) {
    join_into(&open.whole, open.n++, &all->at[first + i]);
    if (entry[i] == TESELA_XLA_COMBINE) continue;
    open.tile = entry[i];
    groups->at[groups->n++] = open;
    open = (group){.n = 0};
  }
  all->n = first;
}

static void split_groups(bounds *all, const level_groups *groups, int32_t level) {
  for (int32_t g = 0; g < groups->n; g++) {
    bound tiles = groups->at[g].whole;
    tiles.extent = tiles_of(&groups->at[g]);
    tiles.step *= groups->at[g].tile; /* padded sizes were checked */
    tiles.counts = level == 0;
    all->at[all->n++] = tiles;
  }
  for (int32_t g = 0; g < groups->n; g++) {
    bound inside = groups->at[g].whole;
    inside.extent = groups->at[g].tile;
    inside.counts = inside.top = false;
    all->at[all->n++] = inside;
  }
}

/* The groups of a level, with all levels before it done. */
void groups_of(const tesela_xla_shape *shape, int32_t level, level_groups *groups) {
  groups->layout = &shape->layout;
  const int64_t *entry = shape->layout.tile;
  bounds all;
  physical_bounds(shape, &all);
  for (int32_t k = 0; k <= level; k++) {
    group_bounds(&all, shape->layout.tile_rank[k], entry, groups);
    split_groups(&all, groups, k);
    entry += shape->layout.tile_rank[k];
  }
}

/* Where a level pads the first count of a dim, the dim grows. */
static void grow_dims(const level_groups *groups, int64_t *dims) {
  for (int32_t g = 0; g < groups->n; g++) {
    const group *at = &groups->at[g];
    int64_t padded = tiles_of(at) * at->tile;
    if (!at->whole.top || padded == at->whole.extent) continue;
    for (int32_t d = 0; d < TESELA_MAX_RANK; d++)
      if (at->whole.dims == (uint32_t)1 << d) dims[d] = padded * at->whole.step;
  }
}

void levels_padded_dims(const tesela_xla_shape *shape, int64_t *dims) {
  const int64_t *entry = shape->layout.tile;
  level_groups groups;
  bounds all;
  for (int32_t d = 0; d < shape->rank; d++) dims[d] = shape->dim[d];
  physical_bounds(shape, &all);
  for (int32_t k = 0; k < shape->layout.n_tiles; k++) {
    group_bounds(&all, shape->layout.tile_rank[k], entry, &groups);
    grow_dims(&groups, dims);
    split_groups(&all, &groups, k);
    entry += shape->layout.tile_rank[k];
  }
}
