/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.c - cut two layouts of one shape into parts that fit in buffers.
 *
 * The sizes are halved until the buffers fit, each time along the dim where that leaves the longest stretches. That takes two stretches for
 * each part of a dim; a transpose gets parts that are about square, whose stretches on both sides grow with the root of the memory.
 */
#include "relayout/part.h"

enum {
  PART_READ = 4096,   /* bytes that take as long to move as a stretch takes to begin: of the source */
  PART_WRITE = 32768, /* of the output, whose pages are new */
  PART_FACTORS = 64,
  PART_TRIES = 8,
  PART_ROUND = 16 /* sizes are rounded by up to this part of them */
};

/* ---- sizes ------------------------------------------------------------------------------------------------- */

static int64_t part_stretch_count(const tesela__part_side *side) {
  int64_t n = 1;
  for (int32_t i = 0; i < side->n_loops; i++) n *= side->loop[i].n;
  return n;
}

/* Bytes of the buffers of the first part, and the time that its stretches take for each element; false: it cannot be cut so. */
static bool part_try(const tesela__copy_parts *parts, tesela__part_kind *room, int64_t *bytes, double *cost) {
  tesela__part_range range = {.size = parts->size};
  double elements = 1;
  for (int32_t d = 0; d < parts->dst.rank; d++) {
    range.n[d] = tesela__min(parts->size[d], parts->dst.shape[d]);
    elements *= (double)range.n[d];
  }
  if (!tesela__part_find_side(&parts->dst, &range, true, &room->dst) ||
      !tesela__part_find_side(&parts->src, &range, false, &room->src))
    return false;
  *bytes = room->dst.bytes + room->src.bytes;
  *cost = ((double)part_stretch_count(&room->dst) * PART_WRITE +
           (double)part_stretch_count(&room->src) * PART_READ + (double)*bytes) /
          elements;
  return true;
}

static bool part_cuts_both(const tesela__copy_parts *parts, int32_t dim, int64_t size) {
  return tesela__part_cuts(&parts->dst, dim, size, true) && tesela__part_cuts(&parts->src, dim, size, false);
}

/* The next smaller size at which a dim can be cut; 0: none. */
static int64_t part_smaller(const tesela__copy_parts *parts, int32_t dim, int64_t size) {
  const tesela_layout *side[] = {&parts->dst, &parts->src};
  int64_t all = 1; /* a multiple of the largest steps */
  for (int i = 0; i < 2 && all > 0; i++) {
    const tesela__chain chain = tesela__chain_of(side[i], dim);
    if (chain.n == 0) return 0;
    const int64_t step = side[i]->digit[chain.first].step;
    if (!tesela__mul(all, step / tesela__gcd(all, step), &all)) all = 0;
  }
  int64_t half = tesela__ceil_div(size, 2), unit = tesela__max(all, 1);
  while (unit <= half / PART_ROUND && unit < PART_READ)
    unit *= 2; /* stretches that begin with pages and lines */
  half = all > 0 ? tesela__ceil_div(half, unit) * unit : size;
  if (half < size && part_cuts_both(parts, dim, half)) return half;
  for (int64_t f = 1; f <= PART_FACTORS; f++) {
    if (all % f == 0 && all > 0 && all / f < size && part_cuts_both(parts, dim, all / f)) return all / f;
    if (size % f == 0 && f > 1 && part_cuts_both(parts, dim, size / f)) return size / f;
  }
  return 0;
}

/* Make the sizes smaller until the buffers have up to `most` bytes. False: they cannot. `room` is for trials. */
static bool part_choose(tesela__copy_parts *parts, int64_t most, tesela__part_kind *room) {
  int64_t bytes, n_cut = 0;
  double cost;
  if (!part_try(parts, room, &bytes, &cost)) return false;
  while (bytes > most) {
    int64_t best_size = 0;
    double best = 0;
    int32_t best_dim = -1;
    for (int32_t d = 0; d < parts->dst.rank; d++) {
      const int64_t before = parts->size[d], next = part_smaller(parts, d, before);
      if (next == 0 || (before == parts->dst.shape[d] && n_cut == TESELA__PART_DIMS)) continue;
      parts->size[d] = next;
      const bool can = part_try(parts, room, &bytes, &cost);
      parts->size[d] = before;
      if (!can || (best_dim >= 0 && cost >= best)) continue;
      best = cost;
      best_dim = d;
      best_size = next;
    }
    if (best_dim < 0) return false;
    n_cut += parts->size[best_dim] == parts->dst.shape[best_dim];
    parts->size[best_dim] = best_size;
    (void)part_try(parts, room, &bytes, &cost);
  }
  return true;
}

/* ---- all parts --------------------------------------------------------------------------------------------- */

/* The largest step of a dim in dst. */
static int64_t part_dst_step(const tesela__copy_parts *parts, int32_t dim) {
  const int64_t stride = parts->dst.digit[tesela__chain_of(&parts->dst, dim).first].stride;
  return stride < 0 ? -stride : stride;
}

static int64_t part_count(const tesela__copy_parts *parts, int32_t dim) {
  return tesela__ceil_div(parts->dst.shape[dim], parts->size[dim]);
}

static void part_order(tesela__copy_parts *parts) {
  parts->n = 1;
  for (int32_t d = 0; d < parts->dst.rank; d++) {
    if (parts->size[d] >= parts->dst.shape[d]) continue;
    int32_t k = parts->n_cut++;
    for (; k > 0 && part_dst_step(parts, d) > part_dst_step(parts, parts->cut[k - 1]); k--)
      parts->cut[k] = parts->cut[k - 1];
    parts->cut[k] = d;
    parts->n *= part_count(parts, d);
  }
}

/* Find the sides of all kinds, and the bytes of the largest buffers. */
static bool part_set_kinds(tesela__copy_parts *parts) {
  parts->dst_bytes = parts->src_bytes = 0;
  for (int32_t i = 0; i < 1 << parts->n_cut; i++) {
    tesela__part_kind *kind = &parts->kind[i];
    tesela__part_range range = {.size = parts->size};
    memcpy(range.n, parts->size, sizeof range.n);
    for (int32_t k = 0; k < parts->n_cut; k++) {
      const int32_t d = parts->cut[k];
      if (i >> k & 1) range.at[d] = (part_count(parts, d) - 1) * parts->size[d];
      range.n[d] = tesela__min(parts->size[d], parts->dst.shape[d] - range.at[d]);
    }
    kind->plan = NULL;
    if (!tesela__part_find_side(&parts->dst, &range, true, &kind->dst) ||
        !tesela__part_find_side(&parts->src, &range, false, &kind->src))
      return false;
    parts->dst_bytes = tesela__max(parts->dst_bytes, kind->dst.bytes);
    parts->src_bytes = tesela__max(parts->src_bytes, kind->src.bytes);
  }
  return true;
}

/* Choose sizes and set the kinds; the last parts of a dim may need longer buffers than the first: then again with less memory. False:
 * there are no such parts. */
static bool part_set(tesela__copy_parts *parts, int64_t most) {
  int64_t goal = most;
  for (int i = 0; i < PART_TRIES && goal > 0; i++) {
    parts->n_cut = 0;
    memcpy(parts->size, parts->dst.shape, sizeof parts->size);
    if (!part_choose(parts, goal, &parts->kind[0])) return false;
    part_order(parts);
    if (!part_set_kinds(parts)) return false;
    const int64_t bytes = parts->dst_bytes + parts->src_bytes;
    if (bytes <= most) return true;
    goal = tesela__min(goal - 1, goal / 2 + goal / 4);
  }
  return false;
}

static tesela_status part_make_plans(tesela__copy_parts *parts, const tesela_plan_options *options,
                                     tesela_error *err) {
  tesela_plan_options own = *options;
  tesela_status status = TESELA_OK;
  own.allocator = &parts->allocator;
  own.threads = 1;
  for (int32_t i = 0; i < 1 << parts->n_cut && status == TESELA_OK; i++) {
    tesela__part_kind *kind = &parts->kind[i];
    status = tesela_plan_create(&kind->plan, &kind->dst.layout, &kind->src.layout, &own, err);
  }
  if (status != TESELA_E_UNSUPPORTED) return status;
  parts->n = 0; /* a solver that is required applies to the whole, not to each part */
  return TESELA_OK;
}

/* Does dst end with places that no digit reaches, and that are to be filled? */
static bool part_has_tail(const tesela_layout *dst, tesela_fill fill) {
  int64_t end = dst->axis[0].offset + 1;
  for (int32_t i = 0; i < dst->n_active; i++)
    if (dst->digit[i].axis >= 0 && dst->digit[i].stride > 0)
      end += (dst->digit[i].extent - 1) * dst->digit[i].stride;
  return fill == TESELA_FILL_VALUE && end < dst->axis[0].extent;
}

tesela_status tesela__copy_parts_find(tesela__copy_parts *parts, const tesela_layout *dst,
                                      const tesela_layout *src, int64_t most,
                                      const tesela_plan_options *options, const tesela_allocator *allocator,
                                      tesela_error *err) {
  parts->allocator = *allocator;
  parts->n = parts->dst_bytes = parts->src_bytes = 0;
  parts->n_cut = 0;
  parts->kind = NULL;
  if (dst->axis[0].interleaved || dst->swizzle.n > 0 || src->swizzle.n > 0 || tesela__is_empty(dst) ||
      part_has_tail(dst, options->fill))
    return TESELA_OK;
  parts->dst = *dst;
  parts->src = *src;
  const uint64_t bytes = ((uint64_t)1 << TESELA__PART_DIMS) * sizeof *parts->kind;
  parts->kind = tesela__alloc(allocator, bytes, alignof(tesela__part_kind));
  if (!parts->kind) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the parts of a copy");
  if (part_set(parts, most)) return part_make_plans(parts, options, err);
  parts->n = parts->n_cut = 0;
  parts->kind[0].plan = NULL;
  return TESELA_OK;
}

void tesela__copy_parts_free(tesela__copy_parts *parts) {
  for (int32_t i = 0; parts->kind && i < 1 << parts->n_cut; i++) tesela_plan_destroy(parts->kind[i].plan);
  tesela__release(&parts->allocator, parts->kind);
  parts->kind = NULL;
  parts->n = 0;
}

const tesela__part_kind *tesela__part_at(const tesela__copy_parts *parts, int64_t i, int64_t *dst,
                                         int64_t *src) {
  int32_t kind = 0;
  int64_t to = 0, from = 0;
  for (int32_t k = parts->n_cut - 1; k >= 0; k--) {
    const int32_t d = parts->cut[k];
    const int64_t count = part_count(parts, d), at = i % count;
    i /= count;
    if (at == count - 1) kind |= 1 << k;
    to += tesela__part_offset(&parts->dst, d, at * parts->size[d]);
    from += tesela__part_offset(&parts->src, d, at * parts->size[d]);
  }
  *dst = parts->kind[kind].dst.begin + to * parts->dst.bits / 8;
  *src = parts->kind[kind].src.begin + from * parts->src.bits / 8;
  return &parts->kind[kind];
}
