/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_compare.c - comparison of layouts and shapes field by field, and a matching hash.
 *
 * As in XLA's Layout::Equal, M is never compared. Layouts with different fields can still be the same relation;
 * tesela_layout_compare decides that.
 */
#include "xla/xla.h"

#include "base/base.h"

static bool same_tiles(const tesela_xla_layout *a, const tesela_xla_layout *b) {
  if (a->n_tiles != b->n_tiles || a->n_tile_numbers != b->n_tile_numbers) return false;
  for (int32_t k = 0; k < a->n_tiles; k++)
    if (a->tile_rank[k] != b->tile_rank[k]) return false;
  for (int32_t i = 0; i < a->n_tile_numbers; i++)
    if (a->tile[i] != b->tile[i]) return false;
  return true;
}

static bool same_split(const tesela_xla_layout *a, const tesela_xla_split *in_a, const tesela_xla_layout *b,
                       const tesela_xla_split *in_b) {
  if (in_a->dim != in_b->dim || in_a->n_points != in_b->n_points) return false;
  for (int32_t k = 0; k < in_a->n_points; k++)
    if (a->split_point[in_a->first + k] != b->split_point[in_b->first + k]) return false;
  return true;
}

static bool same_splits(const tesela_xla_layout *a, const tesela_xla_layout *b) {
  if (a->n_splits != b->n_splits) return false;
  for (int32_t s = 0; s < a->n_splits; s++)
    if (!same_split(a, &a->split[s], b, &b->split[s])) return false;
  return true;
}

static bool same_order(const tesela_xla_layout *a, const tesela_xla_layout *b) {
  if (a->rank != b->rank) return false;
  for (int32_t i = 0; i < a->rank; i++)
    if (a->minor_to_major[i] != b->minor_to_major[i]) return false;
  return true;
}

static bool same_tail(const tesela_xla_layout *a, const tesela_xla_layout *b) { return a->tail == b->tail; }
static bool same_index_type(const tesela_xla_layout *a, const tesela_xla_layout *b) {
  return a->index_type == b->index_type;
}
static bool same_pointer_type(const tesela_xla_layout *a, const tesela_xla_layout *b) {
  return a->pointer_type == b->pointer_type;
}
static bool same_element_bits(const tesela_xla_layout *a, const tesela_xla_layout *b) {
  return a->element_bits == b->element_bits;
}
static bool same_space(const tesela_xla_layout *a, const tesela_xla_layout *b) {
  return a->memory_space == b->memory_space;
}
static bool same_physical(const tesela_xla_layout *a, const tesela_xla_layout *b) {
  return strcmp(a->physical, b->physical) == 0;
}

static const struct {
  uint32_t ignored_by; /* 0: always compared */
  bool (*same)(const tesela_xla_layout *a, const tesela_xla_layout *b);
} equal_parts[] = {
    {0, same_order},
    {TESELA_XLA_IGNORE_TILES, same_tiles},
    {TESELA_XLA_IGNORE_TAIL, same_tail},
    {TESELA_XLA_IGNORE_INDEX_TYPE, same_index_type},
    {TESELA_XLA_IGNORE_POINTER_TYPE, same_pointer_type},
    {TESELA_XLA_IGNORE_ELEMENT_BITS, same_element_bits},
    {TESELA_XLA_IGNORE_SPACE, same_space},
    {TESELA_XLA_IGNORE_SPLITS, same_splits},
    {TESELA_XLA_IGNORE_PHYSICAL, same_physical},
};

bool tesela_xla_layout_equal(const tesela_xla_layout *a, const tesela_xla_layout *b, uint32_t ignore) {
  if (!a || !b) return false;
  bool order_only = (ignore & TESELA_XLA_ORDER_IF_UNTILED) && (a->n_tiles == 0 || b->n_tiles == 0);
  if (order_only) ignore |= TESELA_XLA_ORDER_ONLY;
  for (size_t i = 0; i < sizeof equal_parts / sizeof equal_parts[0]; i++)
    if ((equal_parts[i].ignored_by & ignore) == 0 && !equal_parts[i].same(a, b)) return false;
  return true;
}

bool tesela_xla_shape_equal(const tesela_xla_shape *a, const tesela_xla_shape *b, uint32_t ignore) {
  if (!a || !b) return false;
  if (a->kind != b->kind || a->dtype != b->dtype || a->rank != b->rank) return false;
  if (a->dynamic != b->dynamic && (ignore & TESELA_XLA_IGNORE_DYNAMIC) == 0) return false;
  for (int32_t d = 0; d < a->rank; d++)
    if (a->dim[d] != b->dim[d]) return false;
  if (a->has_layout != b->has_layout) return false;
  return !a->has_layout || tesela_xla_layout_equal(&a->layout, &b->layout, ignore);
}

/* ---- hash ---- */

/* FNV-1a over the eight bytes of a number, lowest first. */
static uint64_t hash_number(uint64_t hash, int64_t number) {
  for (int32_t shift = 0; shift < 64; shift += 8) {
    hash ^= (uint64_t)number >> shift & 0xFF;
    hash *= UINT64_C(0x100000001B3);
  }
  return hash;
}

uint64_t tesela_xla_layout_hash(const tesela_xla_layout *layout) {
  if (!layout) return 0;
  uint64_t hash = hash_number(UINT64_C(0xCBF29CE484222325), layout->rank);
  for (int32_t i = 0; i < layout->rank; i++) hash = hash_number(hash, layout->minor_to_major[i]);
  hash = hash_number(hash, layout->n_tiles);
  for (int32_t k = 0; k < layout->n_tiles; k++) hash = hash_number(hash, layout->tile_rank[k]);
  for (int32_t i = 0; i < layout->n_tile_numbers; i++) hash = hash_number(hash, layout->tile[i]);
  const int64_t rest[] = {layout->tail,         layout->index_type,   layout->pointer_type,
                          layout->element_bits, layout->memory_space, layout->n_splits};
  for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++) hash = hash_number(hash, rest[i]);
  for (int32_t s = 0; s < layout->n_splits; s++) {
    const tesela_xla_split *split = &layout->split[s];
    hash = hash_number(hash_number(hash, split->dim), split->n_points);
    for (int32_t k = 0; k < split->n_points; k++)
      hash = hash_number(hash, layout->split_point[split->first + k]);
  }
  return hash;
}
