/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout_oracle.c - the places of all elements, and the image of dst after a copy; see the header.
 *
 * Slow on purpose: maps each element separately and enumerates all combinations of digit values.
 */
#include "relayout_oracle.h"

#include <stdlib.h>
#include <string.h>

enum { COORDINATES = TESELA_MAX_RANK + TESELA_MAX_JOINS };

int64_t relayout_bytes(int64_t end, int32_t bits) { return (end * bits + 7) / 8; }

/* ---- one element --------------------------------------------------------------------------------------- */

/* Of one axis: the XOR of the images of the bits that are set. */
static int64_t swizzled(const tesela_layout *layout, int64_t place) {
  int64_t sum = 0;
  for (int bit = 0; bit < 62; bit++)
    if (place >> bit & 1)
      sum ^= bit < layout->swizzle.n ? (int64_t)layout->swizzle.image[bit] : (int64_t)1 << bit;
  return sum;
}

/* The digits of one coordinate: quotients by decreasing step, each of the previous remainder; 0 for extent 1. */
static void take_apart(const tesela_layout *layout, int32_t coordinate, int64_t x, int64_t *value) {
  int64_t last_step = INT64_MAX;
  for (;;) {
    int32_t next = -1;
    for (int32_t i = 0; i < layout->n_digits; i++) {
      const tesela_digit *digit = &layout->digit[i];
      if (digit->source != coordinate || digit->extent == 1 || digit->step >= last_step) continue;
      if (next < 0 || digit->step > layout->digit[next].step) next = i;
    }
    if (next < 0) return;
    last_step = layout->digit[next].step;
    value[next] = x / last_step;
    x %= last_step;
  }
}

/* The place of an element before any swizzle, with all replicas 0. */
static int64_t plain_place(const tesela_layout *layout, const int64_t *index) {
  int64_t value[TESELA_MAX_DIGITS] = {0}, place = layout->axis[0].offset;
  for (int32_t d = 0; d < layout->rank; d++) take_apart(layout, d, index[d], value);
  for (int32_t j = 0; j < layout->n_joins; j++) { /* a join comes after its parts */
    int64_t x = layout->join[j].offset;
    for (int32_t i = 0; i < layout->n_digits; i++)
      if (layout->digit[i].join == j) x += value[i] * layout->digit[i].stride;
    take_apart(layout, layout->rank + j, x, value);
  }
  for (int32_t i = 0; i < layout->n_digits; i++)
    if (layout->digit[i].axis == 0) place += value[i] * layout->digit[i].stride;
  return place;
}

/* ---- enumeration --------------------------------------------------------------------------------------- */

/* Digits that advance like an odometer, and the sum of value * stride. */
typedef struct odometer {
  int32_t n;
  int32_t digit[TESELA_MAX_DIGITS];
  int64_t value[TESELA_MAX_DIGITS];
  int64_t sum;
} odometer;

/* The next combination; all 0 again after the last. */
static void turn(odometer *o, const tesela_layout *layout) {
  for (int32_t i = o->n - 1; i >= 0; i--) {
    const tesela_digit *digit = &layout->digit[o->digit[i]];
    o->sum += digit->stride;
    if (++o->value[i] < digit->extent) return;
    o->sum -= digit->stride * digit->extent;
    o->value[i] = 0;
  }
}

/* The digits on the axis, or only its replicas. *count: combinations of their values; -1: too many. */
static odometer odometer_of(const tesela_layout *layout, bool replicas, int64_t *count) {
  odometer o = {.n = 0};
  bool none = false;
  *count = 1;
  for (int32_t i = 0; i < layout->n_digits; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (digit->axis != 0 || (replicas && digit->source != TESELA_REPLICA)) continue;
    if (digit->extent == 1 || (digit->stride == 0 && digit->extent > 0)) continue; /* adds no places */
    o.digit[o.n++] = i;
    none |= digit->extent == 0;
    if (*count > 0 && digit->extent > RELAYOUT_MOST_PLACES / *count) *count = -1;
    if (*count > 0) *count *= digit->extent;
  }
  if (none) *count = 0;
  return o;
}

static void next_index(const tesela_layout *layout, int64_t *index) {
  for (int32_t d = layout->rank - 1; d >= 0; d--) {
    if (++index[d] < layout->shape[d]) return;
    index[d] = 0;
  }
}

/* ---- the map ------------------------------------------------------------------------------------------- */

static int64_t elements_of(const tesela_layout *layout) {
  int64_t n = 1;
  for (int32_t d = 0; d < layout->rank; d++)
    if (layout->shape[d] == 0) return 0;
  for (int32_t d = 0; d < layout->rank; d++) {
    if (layout->shape[d] > RELAYOUT_MOST_PLACES / n) return -1;
    n *= layout->shape[d];
  }
  return n;
}

static void list_places(relayout_map *map, const tesela_layout *layout) {
  int64_t index[TESELA_MAX_RANK] = {0}, count, *out = map->place;
  odometer copies = odometer_of(layout, true, &count);
  for (int64_t e = 0; e < map->n_elements; e++, next_index(layout, index)) {
    int64_t plain = plain_place(layout, index);
    for (int64_t k = 0; k < map->n_copies; k++, turn(&copies, layout)) {
      *out = swizzled(layout, plain + copies.sum);
      if (*out >= map->end) map->end = *out + 1;
      out++;
    }
  }
}

/* Padding: places that digits reach without an element, and all after the last place that they reach. */
static bool list_kinds(relayout_map *map, const tesela_layout *layout) {
  int64_t count, last = layout->axis[0].offset - 1;
  odometer all = odometer_of(layout, false, &count);
  if (count < 0) return false;
  for (int64_t i = 0; i < count; i++, turn(&all, layout)) {
    int64_t place = swizzled(layout, layout->axis[0].offset + all.sum);
    map->kind[place] = RELAYOUT_PADDING;
    if (place > last) last = place;
  }
  for (int64_t place = last + 1; place < map->n_places; place++) map->kind[place] = RELAYOUT_PADDING;
  for (int64_t i = 0; i < map->n_elements * map->n_copies; i++) {
    if (map->kind[map->place[i]] == RELAYOUT_ELEMENT) map->collide = true;
    map->kind[map->place[i]] = RELAYOUT_ELEMENT;
  }
  for (int64_t place = 0; place < map->n_places; place++) {
    if (map->kind[place] != RELAYOUT_GAP) map->end_padded = place + 1;
    map->n_padding += map->kind[place] == RELAYOUT_PADDING;
  }
  return true;
}

bool relayout_map_make(relayout_map *map, const tesela_layout *layout, bool kinds) {
  *map = (relayout_map){.n_places = layout->axis[0].extent, .n_elements = elements_of(layout)};
  (void)odometer_of(layout, true, &map->n_copies);
  if (map->n_elements < 0 || map->n_copies < 1 || map->n_elements > RELAYOUT_MOST_PLACES / map->n_copies)
    return false;
  if (kinds && map->n_places > RELAYOUT_MOST_PLACES) return false;
  map->place = malloc((size_t)(map->n_elements * map->n_copies + 1) * sizeof *map->place);
  map->kind = kinds ? calloc((size_t)map->n_places + 1, 1) : NULL;
  if (map->place && (map->kind || !kinds)) {
    list_places(map, layout);
    if (!kinds || list_kinds(map, layout)) return true;
  }
  relayout_map_free(map);
  return false;
}

void relayout_map_free(relayout_map *map) {
  free(map->place);
  free(map->kind);
  *map = (relayout_map){0};
}

/* ---- the image ----------------------------------------------------------------------------------------- */

void relayout_get(const unsigned char *image, int64_t place, int32_t bits, unsigned char value[16]) {
  memset(value, 0, 16);
  if (bits >= 8)
    memcpy(value, image + place * (bits / 8), (size_t)bits / 8);
  else
    value[0] = (unsigned char)(image[place * bits / 8] >> place * bits % 8 & ((1 << bits) - 1));
}

void relayout_put(unsigned char *image, int64_t place, int32_t bits, const unsigned char value[16]) {
  if (bits >= 8) {
    memcpy(image + place * (bits / 8), value, (size_t)bits / 8);
    return;
  }
  int shift = (int)(place * bits % 8), ones = ((1 << bits) - 1) << shift;
  unsigned char *byte = image + place * bits / 8;
  *byte = (unsigned char)((*byte & ~ones) | ((value[0] << shift) & ones));
}

void relayout_image(const relayout_map *dst, const tesela_layout *dst_layout, const relayout_map *src,
                    const tesela_layout *src_layout, const tesela_plan_options *options,
                    unsigned char *dst_image, const unsigned char *src_image) {
  static const unsigned char zero[16] = {0};
  const unsigned char *fill = options->fill == TESELA_FILL_VALUE ? options->fill_value : zero;
  unsigned char in[16], out[16];
  for (int64_t place = 0; place < dst->n_places && options->fill != TESELA_FILL_LEAVE; place++)
    if (dst->kind[place] == RELAYOUT_PADDING) relayout_put(dst_image, place, dst_layout->bits, fill);
  for (int64_t e = 0; e < dst->n_elements; e++) {
    relayout_get(src_image, src->place[e * src->n_copies], src_layout->bits, in);
    relayout_value(options->transform, dst_layout, src_layout, in, out);
    for (int64_t k = 0; k < dst->n_copies; k++)
      relayout_put(dst_image, dst->place[e * dst->n_copies + k], dst_layout->bits, out);
  }
}
