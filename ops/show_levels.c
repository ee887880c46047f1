/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_levels.c - what one tile level does, in a sentence.
 */
#include <inttypes.h>
#include <string.h>

#include "levels.h"
#include "show_facts.h"

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

/* Elements that a level makes neighbours: those of one group, when all groups after it have tiles of 1. */
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
