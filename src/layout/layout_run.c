/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout_run.c - the run from a place: neighbouring places whose elements have one fixed step, or that are all padding.
 *
 * The digits of the axis are an odometer over its places, the smallest stride fastest; a digit with a negative stride
 * counts down. The run grows by the largest blocks that provably continue it, without a test of each place:
 *
 *   elements   all values of some levels and the rest of the values of the next, if these levels are dense and their
 *              elements increase evenly
 *   padding    the rest of the values of a level, if 0 in all faster ones is not an element either (larger digits never
 *              turn padding into an element); and places without values
 *
 * Places of interleaved strides do not form an odometer: they are tried one by one, at most MOST_BLOCKS.
 *
 * Blocks grow and shrink as a carry does, so their number is about twice the number of digits. With a join, a block is
 * only a run of the fastest digit, so there may be more, up to MOST_BLOCKS.
 */
#include "layout/layout.h"

enum { MOST_BLOCKS = 1 << 20 };

/* The digit of the smallest stride on the axis, or NULL. */
static const tesela_digit *fastest(const tesela_layout *layout) {
  for (int32_t i = layout->n_active - 1; i >= 0; i--) {
    const tesela_digit *digit = &layout->digit[layout->by_place[i]];
    if (digit->axis >= 0) return digit; /* the joins follow the axes */
  }
  return NULL;
}

/* The part of join j with the smallest weight, or NULL. */
static const tesela_digit *lightest_part(const tesela_layout *layout, int32_t j) {
  for (int32_t i = layout->n_active - 1; i >= 0; i--) {
    const tesela_digit *digit = &layout->digit[layout->by_place[i]];
    if (digit->join == j) return digit;
  }
  return NULL;
}

int64_t tesela__places_without_carry(const tesela_layout *layout, const int64_t *q, const int64_t *value,
                                     int32_t *dim, int64_t *step) {
  const tesela_digit *digit = fastest(layout);
  *dim = -1;
  *step = 0;
  if (!digit || (digit->stride != 1 && digit->stride != -1) || digit->source < 0) return 1;
  bool down = digit->stride < 0;
  int64_t left = INT64_MAX;
  for (;;) {
    int64_t at = q[digit - layout->digit];
    int32_t coordinate = digit->source;
    tesela__chain chain = tesela__chain_of(layout, coordinate);
    int64_t limit = tesela__coordinate_extent(layout, coordinate), rest = value[coordinate];
    left = tesela__min(left, down ? at + 1 : digit->extent - at);
    for (const tesela_digit *d = &layout->digit[chain.first]; d <= digit && !down; d++) {
      left = tesela__min(left, tesela__ceil_div(limit - rest, digit->step));
      limit = d->step;
      rest %= d->step;
    }
    *step = down ? -digit->step : digit->step;
    if (coordinate < layout->rank) break;
    const tesela_digit *part = lightest_part(layout, coordinate - layout->rank);
    if (!part || part->source < 0 || (part->stride != digit->step && part->stride != -digit->step)) return 1;
    down = down != (part->stride < 0);
    digit = part;
  }
  *dim = digit->source;
  return left;
}

/* ---- the levels of the odometer ---------------------------------------------------------------------------- */

typedef struct level {
  const tesela_digit *digit;
  int32_t number; /* of the digit */
  bool down;      /* the digit counts down as the places go up */
  int64_t size;   /* places per value */
  int64_t at;     /* number of its values before the current place */
  int64_t base;   /* the place where at is 0 */
  int64_t next;   /* the first place after all its values */
} level;

typedef struct odometer {
  const tesela_layout *layout;
  int64_t weight[TESELA_MAX_RANK]; /* element numbers per unit of each dim */
  int32_t n;
  level level[TESELA_MAX_DIGITS]; /* fastest first */
  int64_t lowest;                 /* the place where all levels are at 0 */
  int64_t q[TESELA_MAX_DIGITS];   /* values of the digits at the place; parts of joins are at 0 in padding */
  int64_t value[TESELA__MAX_COORDINATES];
} odometer;

static void odometer_init(odometer *o, const tesela_layout *layout) {
  int64_t weight = 1;
  o->layout = layout;
  for (int32_t d = layout->rank - 1; d >= 0; d--) {
    o->weight[d] = weight;
    weight *= layout->shape[d];
  }
  o->n = 0;
  o->lowest = layout->axis[0].offset;
  for (int32_t i = layout->n_active - 1; i >= 0; i--) {
    int32_t number = layout->by_place[i];
    const tesela_digit *digit = &layout->digit[number];
    if (digit->axis < 0 || digit->stride == 0) continue;
    bool down = digit->stride < 0;
    if (down) o->lowest += (digit->extent - 1) * digit->stride;
    o->level[o->n++] = (level){
        .digit = digit, .number = number, .down = down, .size = down ? -digit->stride : digit->stride};
  }
}

/* The content of a place: true and the number of the element, or false for padding. */
static bool look(odometer *o, int64_t place, int64_t *element) {
  bool here = tesela__locate(o->layout, &place, o->q, o->value);
  *element = 0;
  for (int32_t d = 0; d < o->layout->rank && here; d++) *element += o->value[d] * o->weight[d];
  for (int32_t i = 0; i < o->layout->n_active && !here; i++) o->q[i] = 0;
  return here;
}

/* Set the levels to a place. Returns 0; if no values give this place, the distance to the next place that some give. */
static int64_t set_levels(odometer *o, int64_t place) {
  int64_t base = o->lowest, next = o->layout->axis[0].extent;
  if (place < base) return base - place;
  for (int32_t k = o->n - 1; k >= 0; k--) {
    level *l = &o->level[k];
    l->at = (place - base) / l->size;
    if (l->at >= l->digit->extent) return next - place;
    l->base = base;
    l->next = next;
    o->q[l->number] = l->down ? l->digit->extent - 1 - l->at : l->at;
    base += l->at * l->size;
    if (l->at + 1 < l->digit->extent) next = base + l->size;
  }
  return place == base ? 0 : next - place;
}

/* How much the digits of a coordinate up to number `last` may grow before its value is padding; -1 if it is padding
 * already. */
static int64_t slack(const tesela_layout *layout, int32_t coordinate, const int64_t *q, int32_t last) {
  tesela__chain chain = tesela__chain_of(layout, coordinate);
  int64_t sum = 0, least = INT64_MAX;
  for (int32_t i = chain.first + chain.n - 1; i >= chain.first; i--) {
    int64_t limit =
        i > chain.first ? layout->digit[i - 1].step : tesela__coordinate_extent(layout, coordinate);
    sum += q[i] * layout->digit[i].step; /* fits, as in put_together of map.c */
    if (sum >= limit) return -1;
    if (i <= last) least = tesela__min(least, limit - 1 - sum);
  }
  return least;
}

/* Do the digits alone show that this is padding? (The parts of a join may show more.) */
static bool is_padding(const tesela_layout *layout, const int64_t *q) {
  for (int32_t c = 0; c < tesela__n_coordinates(layout); c++)
    if (slack(layout, c, q, -1) < 0) return true;
  for (int32_t i = layout->n_mapped; i < layout->n_active; i++)
    if (q[i] != 0) return true; /* a hole */
  return false;
}

/* The values of the digits with all levels below k at one end of their range. */
static void with_faster(const odometer *o, int32_t k, bool highest, int64_t *q) {
  for (int32_t i = 0; i < o->layout->n_active; i++) q[i] = o->q[i];
  for (int32_t i = 0; i < k; i++) q[o->level[i].number] = highest ? o->level[i].digit->extent - 1 : 0;
}

/* ---- blocks ------------------------------------------------------------------------------------------------ */

/* The number of values of level k, from the current one on, for which all values of all faster levels are elements. */
static int64_t whole_values(const odometer *o, int32_t k) {
  const level *l = &o->level[k];
  int64_t q[TESELA_MAX_DIGITS];
  with_faster(o, k, true, q);
  if (is_padding(o->layout, q)) return 0;
  if (l->down) return q[l->number] + 1;
  return tesela__min(slack(o->layout, l->digit->source, q, l->number) / l->digit->step + 1,
                     l->digit->extent - q[l->number]);
}

/* The number of places from here on with elements that increase by `step`: at least 1, this place. */
static int64_t element_block(odometer *o, int64_t place, int64_t step) {
  int64_t best = 1, size = 1, rise;
  (void)set_levels(o, place); /* returns 0: the place has an element */
  if (o->n > 0 && o->level[0].digit->source >= o->layout->rank) {
    int64_t move;
    int32_t dim;
    int64_t left = tesela__places_without_carry(o->layout, o->q, o->value, &dim, &move);
    return dim >= 0 && move * o->weight[dim] == step ? left : 1;
  }
  for (int32_t k = 0; k < o->n; k++) {
    const level *l = &o->level[k];
    int32_t d = l->digit->source;
    if (l->size != size || d < 0 || d >= o->layout->rank) break; /* a gap, a hole, or a join */
    int64_t own = l->digit->step * o->weight[d];
    if (!tesela__mul(step, size, &rise) || rise != (l->down ? -own : own)) break; /* uneven from here on */
    int64_t values = whole_values(o, k);
    if (values > 0) best = values * size;
    if (l->at != 0) break; /* slower levels need this one at its start */
    size *= l->digit->extent;
  }
  return best;
}

/* The first value of level k with only padding from there on, for all values of faster levels; beyond its extent: no
 * value. */
static int64_t padded_from(const odometer *o, int32_t k) {
  const level *l = &o->level[k];
  int64_t q[TESELA_MAX_DIGITS];
  with_faster(o, k, false, q);
  q[l->number] = 0;
  if (is_padding(o->layout, q)) return 0;
  if (l->digit->source < 0) return 1;
  return slack(o->layout, l->digit->source, q, l->number) / l->digit->step + 1;
}

/* The number of padding places from here on: at least 1, this place. */
static int64_t padding_block(odometer *o, int64_t place) {
  int64_t gap = set_levels(o, place);
  if (gap > 0) return gap;
  for (int32_t k = o->n - 1; k >= 0; k--) {
    const level *l = &o->level[k];
    int64_t from = padded_from(o, k), q = o->q[l->number];
    if (q < from) continue;
    int64_t values = l->down ? q - from + 1 : l->digit->extent - q;
    if (l->at + values == l->digit->extent) return l->next - place;
    return l->base + (l->at + values) * l->size - place;
  }
  return 1;
}

tesela_status tesela_layout_run(const tesela_layout *layout, int64_t place, tesela_run *run,
                                tesela_error *err) {
  TESELA__NEED(err, layout, run);
  tesela_status status = tesela__check_plain(layout, true, "a run", err);
  if (status == TESELA_OK) status = tesela__check_place(layout, &place, err);
  if (status != TESELA_OK) return status;
  int64_t extent = layout->axis[0].extent, first, element, rise;
  if (tesela__is_empty(layout)) {
    *run = (tesela_run){extent - place, 0, true};
    return TESELA_OK;
  }
  tesela_layout simple; /* with fewer joins and longer digits */
  if (layout->n_joins > 0) {
    status = tesela_layout_canonical(layout, &simple, err);
    if (status != TESELA_OK) return status;
    layout = &simple;
  }
  odometer o;
  odometer_init(&o, layout);
  bool padding = !look(&o, place, &first);
  tesela_run found = {0, padding ? 0 : 1, padding};
  if (!padding && place + 1 < extent && look(&o, place + 1, &element)) found.step = element - first;
  for (int64_t at = place, blocks = 0; at < extent; at = place + found.length, blocks++) {
    bool here = look(&o, at, &element);
    if (here == padding) break;
    if (here && (!tesela__mul(found.length, found.step, &rise) || element - first != rise)) break;
    if (blocks == MOST_BLOCKS)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                          "the run from place %" PRId64 " has more than %d pieces", place, MOST_BLOCKS);
    if (layout->axis[0].interleaved)
      found.length++;
    else
      found.length += padding ? padding_block(&o, at) : element_block(&o, at, found.step);
  }
  *run = found;
  return TESELA_OK;
}
