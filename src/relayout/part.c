/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.c - cut two layouts of one shape into parts that fit in buffers.
 *
 * A dim is cut at the multiples of a size where that cuts no digit of either side: with one digit of each side the part has some of
 * its values, with the digits above one value, with those below all. So the places of a part are again a sum of digits, and a part's
 * layout has these digits with the strides of its buffer.
 *
 *   dim 1 of f32[1000,900]{1,0:T(8,128)}, digits of steps 128 and 1: sizes 128 n, of n tiles; or 64, 32, ..., within a tile
 *
 * The sizes are halved until the buffers fit, each time along the dim where that leaves the longest stretches. That takes two stretches for
 * each part of a dim; a transpose gets parts that are about square, whose stretches on both sides grow with the root of the memory.
 *
 * Padding of dst belongs to the part before it. Nothing is cut where padding would be left over, where elements of other parts lie
 * within a stretch of dst, or across the bytes of narrow elements.
 */
#include "relayout/part.h"

enum {
  PART_READ = 4096,   /* bytes that take as long to move as a stretch takes to begin: of the source */
  PART_WRITE = 32768, /* of the output, whose pages are new */
  PART_NEAR = 2048,   /* stretches that are so close, and not shorter than the gap, are one with it */
  PART_FACTORS = 64,
  PART_TRIES = 8,
  PART_ROUND = 16 /* sizes are rounded by up to this part of them */
};

/* The indices of a part in each dim: from a multiple of the size on, up to `size` of them. */
typedef struct part_range {
  const int64_t *size;
  int64_t at[TESELA_MAX_RANK], n[TESELA_MAX_RANK];
} part_range;

/* ---- a range of a dim -------------------------------------------------------------------------------------- */

/* The digit of a chain whose values a range of `size` limits: the first whose step is not larger, or -1. */
static int32_t part_digit(const tesela_layout *layout, tesela__chain chain, int64_t size) {
  for (int32_t i = 0; i < chain.n; i++)
    if (layout->digit[chain.first + i].step <= size) return i;
  return -1;
}

/* Have the digits before i, and i itself, no values without elements that would be in no part? */
static bool part_keeps_padding(const tesela_digit *digit, int32_t i, int64_t extent, int64_t size) {
  int64_t whole;
  if (!tesela__mul(tesela__ceil_div(extent, size), size, &whole)) return false;
  if (i == 0) return digit[0].extent <= whole / digit[0].step;
  for (int32_t j = 0; j <= i; j++)
    if (digit[j].extent != tesela__ceil_div(j == 0 ? extent : digit[j - 1].step, digit[j].step)) return false;
  return whole % digit[0].step == 0;
}

/* Can a dim be cut at the multiples of `size`? */
static bool part_cuts(const tesela_layout *layout, int32_t dim, int64_t size, bool dst) {
  const tesela__chain chain = tesela__chain_of(layout, dim);
  const tesela_digit *digit = &layout->digit[chain.first];
  const int32_t i = part_digit(layout, chain, size);
  if (i < 0 || size % digit[i].step != 0) return false;
  for (int32_t j = 0; j < chain.n; j++)
    if (digit[j].axis < 0) return false;
  for (int32_t j = 1; j <= i; j++)
    if (digit[j - 1].step % (j == i ? size : digit[j].step) != 0) return false;
  return !dst || part_keeps_padding(digit, i, layout->shape[dim], size);
}

/* Limit a dim of a part's layout to the range from index `at` on: n indices, and in dst room for up to `size`. False: a part would begin
 * within a byte. */
static bool part_limit(tesela_layout *part, int32_t dim, const part_range *range, bool dst) {
  const tesela__chain chain = tesela__chain_of(part, dim);
  const int64_t size = range->size[dim], n = range->n[dim];
  const int32_t i = part_digit(part, chain, size);
  tesela_digit *digit = &part->digit[chain.first];
  const int64_t left = i == 0 ? digit[0].extent - range->at[dim] / digit[0].step : digit[i].extent;
  digit[i].extent = tesela__min(left, tesela__ceil_div(dst ? size : n, digit[i].step));
  if (size / digit[i].step * digit[i].stride * part->bits % 8 != 0) return false;
  for (int32_t j = 0; j < i; j++) {
    digit[j].extent = 1;
    if (digit[j].stride * part->bits % 8 != 0) return false;
  }
  part->shape[dim] = n;
  return true;
}

/* Places from index 0 of a dim to index `at`, a multiple of the size it is cut at. */
static int64_t part_offset(const tesela_layout *layout, int32_t dim, int64_t at) {
  const tesela__chain chain = tesela__chain_of(layout, dim);
  int64_t places = 0;
  for (int32_t i = 0; i < chain.n; i++) {
    const tesela_digit *digit = &layout->digit[chain.first + i];
    places += at / digit->step * digit->stride;
    at %= digit->step;
  }
  return places;
}

/* ---- one side ---------------------------------------------------------------------------------------------- */

/* The places of a part so far, digit by digit, those with the shortest strides first. */
typedef struct part_places {
  const tesela_layout *layout;
  tesela__part_side *side;
  int64_t file, buffer; /* places from the first to the last, of both */
  int64_t stretch;
  bool whole; /* all digits so far have all their values */
} part_places;

static int64_t part_size(int64_t x) { return x < 0 ? -x : x; }

/* Distance of stretches in a buffer: lines, but not of a power of two, where all stretches would share a few sets of the cache. */
static int64_t part_pitch(int64_t places, int32_t bits) {
  int64_t bytes = tesela__ceil_div(places * bits, 8);
  bytes = tesela__ceil_div(bytes, TESELA__LINE) * TESELA__LINE;
  if (bytes % 1024 == 0) bytes += TESELA__LINE;
  return bytes * 8 / bits;
}

static int64_t part_near(const part_places *p) {
  return tesela__min(PART_NEAR, p->stretch * p->layout->bits / 8);
}

/* Add a digit. False: dst cannot be cut so. */
static bool part_add(part_places *p, tesela_digit *digit, bool dst) {
  const int64_t step = part_size(digit->stride), more = (digit->extent - 1) * step;
  const bool meets = step < p->file;
  if (dst && meets) return false;
  if (!dst && meets && p->side->n_loops > 0) { /* one stretch of all */
    for (int32_t i = 0; i < p->side->layout.n_active; i++)
      p->side->layout.digit[i].stride = p->layout->digit[i].stride;
    p->side->n_loops = 0;
    p->stretch = p->file;
  }
  const int64_t gap = (step - p->stretch) * p->layout->bits / 8;
  if (p->side->n_loops == 0 && (step <= p->stretch || (gap <= part_near(p) && (!dst || p->whole)))) {
    p->stretch += more;
    p->file = p->buffer = p->stretch;
  } else {
    if (p->side->n_loops == 0) p->buffer = part_pitch(p->stretch, p->layout->bits);
    if (step * p->layout->bits % 8 != 0) return false;
    p->side->loop[p->side->n_loops++] =
        (tesela__part_loop){digit->extent, step * p->layout->bits / 8, p->buffer * p->layout->bits / 8};
    digit->stride = digit->stride < 0 ? -p->buffer : p->buffer;
    p->file += more;
    p->buffer *= digit->extent;
  }
  return true;
}

static void part_turn_loops(tesela__part_side *side) {
  for (int32_t i = 0, j = side->n_loops - 1; i < j; i++, j--) {
    const tesela__part_loop loop = side->loop[i];
    side->loop[i] = side->loop[j];
    side->loop[j] = loop;
  }
}

/* The part of a range. False: this side cannot be cut so. */
static bool part_side(const tesela_layout *layout, const part_range *range, bool dst,
                      tesela__part_side *side) {
  part_places p = {layout, side, 1, 1, 1, true};
  tesela_layout *part = &side->layout;
  int64_t before = 0; /* places before index 0 */
  *part = *layout;
  side->n_loops = 0;
  bool cut = false;
  for (int32_t d = 0; d < layout->rank; d++) {
    if (range->size[d] >= layout->shape[d]) continue;
    if (!part_limit(part, d, range, dst)) return false;
    cut = true;
  }
  for (int32_t k = layout->n_active - 1; k >= 0; k--) {
    tesela_digit *digit = &part->digit[layout->by_place[k]];
    if (digit->axis < 0) continue;
    if (digit->stride < 0) before += (digit->extent - 1) * -digit->stride;
    if (digit->extent > 1 && digit->stride != 0 && !part_add(&p, digit, dst)) return false;
    p.whole = p.whole && digit->extent == layout->digit[layout->by_place[k]].extent;
  }
  const int64_t bits = layout->bits, first = (layout->axis[0].offset - before) * bits;
  if (first % 8 != 0 || ((cut || side->n_loops > 0) && p.stretch * bits % 8 != 0)) return false;
  side->begin = first / 8;
  side->stretch = tesela__ceil_div(p.stretch * bits, 8);
  side->bytes = side->n_loops > 0 ? p.buffer * bits / 8 : side->stretch;
  part_turn_loops(side);
  part->axis[0].offset = 0;
  for (int32_t i = 0; i < part->n_active; i++)
    if (part->digit[i].axis >= 0 && part->digit[i].stride < 0)
      part->axis[0].offset += (part->digit[i].extent - 1) * -part->digit[i].stride;
  part->axis[0].extent = -1;
  part->finished = false;
  return tesela_layout_finish(part, NULL) == TESELA_OK;
}

/* ---- sizes ------------------------------------------------------------------------------------------------- */

static int64_t part_stretch_count(const tesela__part_side *side) {
  int64_t n = 1;
  for (int32_t i = 0; i < side->n_loops; i++) n *= side->loop[i].n;
  return n;
}

/* Bytes of the buffers of the first part, and the time that its stretches take for each element; false: it cannot be cut so. */
static bool part_try(const tesela__copy_parts *parts, tesela__part_kind *room, int64_t *bytes, double *cost) {
  part_range range = {.size = parts->size};
  double elements = 1;
  for (int32_t d = 0; d < parts->dst.rank; d++) {
    range.n[d] = tesela__min(parts->size[d], parts->dst.shape[d]);
    elements *= (double)range.n[d];
  }
  if (!part_side(&parts->dst, &range, true, &room->dst) || !part_side(&parts->src, &range, false, &room->src))
    return false;
  *bytes = room->dst.bytes + room->src.bytes;
  *cost = ((double)part_stretch_count(&room->dst) * PART_WRITE +
           (double)part_stretch_count(&room->src) * PART_READ + (double)*bytes) /
          elements;
  return true;
}

static bool part_cuts_both(const tesela__copy_parts *parts, int32_t dim, int64_t size) {
  return part_cuts(&parts->dst, dim, size, true) && part_cuts(&parts->src, dim, size, false);
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
  return part_size(parts->dst.digit[tesela__chain_of(&parts->dst, dim).first].stride);
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
    part_range range = {.size = parts->size};
    memcpy(range.n, parts->size, sizeof range.n);
    for (int32_t k = 0; k < parts->n_cut; k++) {
      const int32_t d = parts->cut[k];
      if (i >> k & 1) range.at[d] = (part_count(parts, d) - 1) * parts->size[d];
      range.n[d] = tesela__min(parts->size[d], parts->dst.shape[d] - range.at[d]);
    }
    kind->plan = NULL;
    if (!part_side(&parts->dst, &range, true, &kind->dst) ||
        !part_side(&parts->src, &range, false, &kind->src))
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
    to += part_offset(&parts->dst, d, at * parts->size[d]);
    from += part_offset(&parts->src, d, at * parts->size[d]);
  }
  *dst = parts->kind[kind].dst.begin + to * parts->dst.bits / 8;
  *src = parts->kind[kind].src.begin + from * parts->src.bits / 8;
  return &parts->kind[kind];
}

tesela_status tesela__part_stretches(const tesela__part_side *side, int64_t at,
                                     tesela_status (*move)(void *data, int64_t file, int64_t buffer,
                                                           int64_t bytes),
                                     void *data) {
  int64_t count[TESELA_MAX_DIGITS] = {0}, buffer = 0;
  for (int32_t i = 0; i >= 0;) {
    const tesela_status status = move(data, at, buffer, side->stretch);
    if (status != TESELA_OK) return status;
    for (i = side->n_loops - 1; i >= 0; i--) {
      const tesela__part_loop *loop = &side->loop[i];
      at += loop->file;
      buffer += loop->buffer;
      if (++count[i] < loop->n) break;
      at -= loop->n * loop->file;
      buffer -= loop->n * loop->buffer;
      count[i] = 0;
    }
  }
  return TESELA_OK;
}
