/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks_parts.c - the parts of a layout as blocks, and dims at any multiples of these.
 *
 * Part by part from the smallest stride on: when all further parts are the last ones of their dims, at multiples of the places so far,
 * those are the outer dims; else the next part is a block.
 */
#include "base/base.h"
#include "notation/memory/blocks.h"

/* Are the parts from i on outer dims? */
static bool parts_are_outer(const tesela__parts *parts, int32_t i, int64_t size) {
  for (; i < parts->n; i++)
    if (!parts->part[i].top || parts->part[i].stride % size != 0) return false;
  return true;
}

/* The dim of a block that fills a gap: one without further parts, at best without any. -1: all have some. */
static int32_t parts_gap_dim(const tesela__parts *parts, int32_t from, int32_t rank) {
  int32_t best = -1;
  bool least = false;
  for (int32_t d = 0; d < rank; d++) {
    bool further = false, any = false;
    for (int32_t i = 0; i < parts->n; i++) {
      if (parts->part[i].dim != d) continue;
      any = true;
      further = further || i >= from || parts->part[i].stride == 0;
    }
    if (further || (best >= 0 && (any || least))) continue;
    best = d;
    least = !any;
  }
  return best;
}

bool tesela__fit_tiled(void *user, const tesela__parts *parts, int32_t rank, const int64_t *shape) {
  tesela__tiled *t = user;
  int64_t done[TESELA_MAX_RANK], gap;
  tesela__dim_part below = {.top = false};
  tesela__inner_block inner[TESELA__MAX_BLOCKS];
  int32_t n = 0, i = 0;
  (void)shape;
  t->size = 1;
  for (int32_t d = 0; d < rank; d++) {
    t->strides[d] = 0;
    done[d] = 1;
  }
  while (i < parts->n && parts->part[i].stride == 0)
    if (parts->part[i++].dim < 0 || !parts->part[i - 1].top) return false;
  for (; !parts_are_outer(parts, i, t->size); i++) {
    const tesela__dim_part *part = &parts->part[i];
    if (part->dim < 0 || part->step != done[part->dim]) return false;
    if (!tesela__close_gap(n > 0 ? &below : NULL, t->size, part->stride, &gap)) return false;
    if (n > 0) inner[n - 1].extent = below.extent;
    if (gap > 1) {
      int32_t d = parts_gap_dim(parts, i, rank);
      if (d < 0 || n == TESELA__MAX_BLOCKS) return false;
      inner[n++] = (tesela__inner_block){d, gap};
    }
    if (n == TESELA__MAX_BLOCKS) return false;
    inner[n++] = (tesela__inner_block){part->dim, part->extent};
    below = *part;
    done[part->dim] = part->top ? 0 : part->step * part->extent; /* a step of the dim */
    if (!tesela__mul(part->stride, part->extent, &t->size)) return false;
  }
  for (; i < parts->n; i++) {
    if (parts->part[i].dim < 0 || parts->part[i].step != done[parts->part[i].dim]) return false;
    t->strides[parts->part[i].dim] = parts->part[i].stride;
  }
  t->blocks = (tesela__blocks){.rank = rank, .n = n};
  for (int32_t d = 0; d < rank; d++) t->blocks.order[d] = d;
  for (int32_t k = 0; k < n; k++) t->blocks.inner[k] = inner[n - 1 - k];
  return true;
}

bool tesela__tiled_strides(tesela__tiled *t, const int64_t *shape) {
  int64_t outer[TESELA_MAX_RANK];
  bool empty = false;
  for (int32_t d = 0; d < t->blocks.rank; d++) {
    outer[d] = shape[d];
    empty = empty || shape[d] == 0;
  }
  for (int32_t i = t->blocks.n - 1; i >= 0; i--)
    outer[t->blocks.inner[i].dim] =
        tesela__ceil_div(outer[t->blocks.inner[i].dim], t->blocks.inner[i].extent);
  for (int32_t d = t->blocks.rank - 1; d >= 0; d--) {
    int64_t next = t->size;
    if (d + 1 < t->blocks.rank && !tesela__mul(t->strides[d + 1], tesela__max(outer[d + 1], 1), &next))
      return false;
    if (empty || outer[d] < 2) t->strides[d] = next;
  }
  return true;
}
