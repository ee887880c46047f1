/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_levels.c - what one tile level does, in a sentence.
 *
 * The bounds that a level meets are followed from the first level on, so that each knows which dims it
 * belongs to, how many elements along them one step of it is, and whether it counts tiles. For
 * bf16[20,200]{1,0:T(8,128)(2,1)}:
 *
 *   level 1 meets   dim 0 (20)   dim 1 (200)
 *   level 2 meets   dim 0 in steps of 8 (3)   dim 1 in steps of 128 (2)   dim 0 (8)   dim 1 (128)
 *                   and pairs the last but one: two neighbours along dim 0 become neighbours in memory
 */
#include <inttypes.h>
#include <string.h>

#include "show/show.h"

typedef struct bound {
  int64_t extent;
  int64_t step;  /* elements along the dim for one step; 0: of joined dims, not one number */
  uint32_t dims; /* that feed it; 0: a leading one */
  bool counts;   /* it counts first-level tiles */
  bool top;      /* nothing of its one dim is counted above it */
} bound;

typedef struct bounds {
  int32_t n;
  bound at[TESELA_MAX_DIGITS];
} bounds;

/* Bounds that one entry of a tile joins and splits. */
typedef struct group {
  bound whole; /* joined */
  int32_t n;   /* how many were joined */
  int64_t tile;
} group;

typedef struct level_groups {
  const tesela_xla_layout *layout;
  int32_t n;
  group at[TESELA_XLA_MAX_TILE_NUMBERS];
} level_groups;

static int64_t tiles_of(const group *g) {
  return g->whole.extent / g->tile + (g->whole.extent % g->tile != 0);
}

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
static void groups_of(const tesela_xla_shape *shape, int32_t level, level_groups *groups) {
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

void show_padded_dims(const tesela_xla_shape *shape, int64_t *dims) {
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

/* ---- words ------------------------------------------------------------------------------------------- */

static bool acts(const group *g) { return g->tile > 1 || g->n > 1; }

static void add_sizes(show_text *out, const level_groups *groups, bool counts) {
  for (int32_t g = 0, said = 0; g < groups->n; g++) {
    if (groups->n > 2 && !counts && !acts(&groups->at[g]) && groups->at[g].whole.dims == 0) continue;
    show_add(out, "%s%" PRId64, said++ ? " x " : "", counts ? tiles_of(&groups->at[g]) : groups->at[g].tile);
  }
}

static void add_name(show_text *out, const level_groups *groups, const bound *b) {
  if (b->dims)
    show_add_joined(out, groups->layout, b->dims);
  else
    show_add(out, "a leading one");
}

static void add_pads(show_text *out, const level_groups *groups) {
  const char *before = "; ";
  for (int32_t g = 0; g < groups->n; g++) {
    const group *at = &groups->at[g];
    if (at->whole.extent % at->tile == 0) continue;
    show_add(out, "%s", before);
    add_name(out, groups, &at->whole);
    show_add(out, ": %" PRId64 " -> %" PRId64, at->whole.extent, tiles_of(at) * at->tile);
    before = ", ";
  }
}

/* "dims 0 and 1"; "dims 0*1 and 2" where dims are joined. */
static void add_names(show_text *out, const level_groups *groups) {
  bool dims = true;
  for (int32_t g = 0; g < groups->n; g++) dims = dims && groups->at[g].whole.dims != 0;
  if (dims && groups->n > 1) show_add(out, "dims ");
  for (int32_t g = 0; g < groups->n; g++) {
    show_text name = {.length = 0};
    const char *text = name.text;
    add_name(&name, groups, &groups->at[g].whole);
    if (g > 0) show_add(out, g + 1 < groups->n ? ", " : " and ");
    if (dims && groups->n > 1) text = strchr(text, ' ') + 1;
    show_add(out, "%s%s", text, groups->at[g].whole.counts ? " (tiles)" : "");
  }
}

static void say_tiles(const level_groups *groups, show_text *out) {
  show_add(out, "tiles of ");
  add_sizes(out, groups, false);
  show_add(out, " over ");
  add_names(out, groups);
  show_add(out, ", ");
  add_sizes(out, groups, true);
  show_add(out, " of them");
}

/* Elements that a level makes neighbours: those of one group, when all groups behind it have tiles of 1. */
static const group *neighbours_of(const level_groups *groups) {
  const group *found = NULL;
  for (int32_t g = 0; g < groups->n; g++) {
    if (!acts(&groups->at[g])) continue;
    if (found) return NULL;
    found = &groups->at[g];
  }
  return found == &groups->at[groups->n - 1] ? NULL : found;
}

static void say_neighbours(const level_groups *groups, const group *g, int64_t bits, show_text *out) {
  if (g->whole.dims == 0) {
    show_add(out, "one of %" PRId64 " neighbours in memory holds an element", g->tile);
    return;
  }
  if (g->tile == 2)
    show_add(out, "pairs");
  else
    show_add(out, "groups of %" PRId64, g->tile);
  show_add(out, " along ");
  add_name(out, groups, &g->whole);
  if (g->whole.step > 1) show_add(out, ", %" PRId64 " apart,", g->whole.step);
  show_add(out, " become neighbours in memory");
  if (g->tile <= 32 && g->tile * bits == 32) show_add(out, ": together a 32-bit word");
  if (g->whole.counts) show_add(out, "; %" PRId64 " tiles are interleaved", g->tile);
}

static void say_blocks(const level_groups *groups, show_text *out) {
  int32_t acting = 0, last = groups->n - 1;
  for (int32_t g = 0; g < groups->n; g++) acting += acts(&groups->at[g]);
  if (acting == 0) {
    show_add(out, "changes nothing");
  } else if (acting == 1 && acts(&groups->at[last])) {
    show_add(out, "%s pieces of %" PRId64 ", %" PRId64 " of them",
             groups->at[last].whole.counts ? "tiles in" : "inside each tile,", groups->at[last].tile,
             tiles_of(&groups->at[last]));
  } else {
    show_add(out, "blocks of ");
    add_sizes(out, groups, false);
    show_add(out, " over ");
    add_names(out, groups);
    show_add(out, ", ");
    add_sizes(out, groups, true);
    show_add(out, " of them");
  }
}

/* "(2,*,128)" */
static void add_tile(const tesela_xla_layout *layout, int32_t level, show_text *out) {
  const int64_t *entry = layout->tile;
  for (int32_t k = 0; k < level; k++) entry += layout->tile_rank[k];
  for (int32_t e = 0; e < layout->tile_rank[level]; e++) {
    show_add(out, e == 0 ? "(" : ",");
    if (entry[e] == TESELA_XLA_COMBINE)
      show_add(out, "*");
    else
      show_add(out, "%" PRId64, entry[e]);
  }
  show_add(out, ")");
}

void show_level(const tesela_xla_shape *shape, int32_t level, show_text *out) {
  level_groups groups;
  groups_of(shape, level, &groups);
  const group *neighbours = neighbours_of(&groups);
  int64_t bits = shape->layout.element_bits;
  if (bits == 0) bits = 8 * tesela_dtype_bytes(shape->dtype);
  add_tile(&shape->layout, level, out);
  show_add(out, ": ");
  if (level == 0)
    say_tiles(&groups, out);
  else if (neighbours)
    say_neighbours(&groups, neighbours, bits, out);
  else
    say_blocks(&groups, out);
  add_pads(out, &groups);
}
