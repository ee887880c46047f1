/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place_fill.c - fill the padding of dst, after all elements have been moved.
 *
 * The boxes of padding are the same as in plans. If boxes cannot separate padding from elements, or would be too many,
 * one box has all places that the digits reach, and each of them is tested for padding.
 */
#include "relayout/in_place.h"
#include "relayout/tile.h"

typedef struct padding_fill {
  tesela__in_place *run;
  bool ask;    /* test each place for padding */
  int64_t end; /* one after the last tested place, or 0 */
} padding_fill;

static void write_pattern(const tesela__in_place *run, int64_t place, int64_t n) {
  const uint8_t *pattern = run->plan->fill_pattern;
  const int32_t bits = run->dst->bits;
  if (n <= 0) return;
  if (bits >= 8) {
    tesela__fill_row(run->buffer + place * (bits / 8), n * (bits / 8), pattern);
    return;
  }
  tesela__mover mover = tesela__mover_of(run->plan);
  tesela__move(&mover, n, run->buffer, place * bits, bits, pattern, 0, 0);
}

static bool holds_padding(const tesela_layout *dst, int64_t place) {
  int64_t index[TESELA_MAX_RANK];
  bool padding = false;
  (void)tesela_layout_element_at(dst, &place, index, &padding, NULL);
  return padding;
}

/* Fill n neighbouring places, numbered before the swizzle. */
static bool fill_places(padding_fill *fill, int64_t first, int64_t n) {
  const tesela_layout *dst = fill->run->dst;
  if (!fill->ask) {
    write_pattern(fill->run, first, n);
    return tesela__in_place_go_on(fill->run, 1 + n * dst->bits / 8192);
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t place = tesela__swizzle(dst, first + i);
    fill->end = tesela__max(fill->end, place + 1);
    if (holds_padding(dst, place)) write_pattern(fill->run, place, 1);
    if (!tesela__in_place_go_on(fill->run, 1)) return false;
  }
  return true;
}

static bool fill_loops(padding_fill *fill, const tesela__box *box, int32_t i, int64_t bit) {
  int64_t bits = fill->run->dst->bits;
  if (i == box->n_loops) return fill_places(fill, bit / bits, 1);
  const tesela__loop *loop = &box->loop[i];
  if (i == box->n_loops - 1 && loop->ds == bits) return fill_places(fill, bit / bits, loop->n);
  for (int64_t k = 0; k < loop->n; k++)
    if (!fill_loops(fill, box, i + 1, bit + k * loop->ds)) return false;
  return true;
}

static bool fill_box(void *data, tesela__box *box) { return fill_loops(data, box, 0, box->dst); }

bool tesela__in_place_fill(tesela__in_place *run) {
  const tesela_layout *dst = &run->plan->dst;
  padding_fill fill = {.run = run};
  if (run->plan->fill == TESELA_FILL_LEAVE) return true;
  if (!tesela__padding_boxes(dst, false, &fill.ask, fill_box, &fill) &&
      (run->stopped || !tesela__padding_boxes(dst, true, &fill.ask, fill_box, &fill)))
    return false;
  if (dst->swizzle.n > 0) { /* boxes do not give its end, but all places were tested */
    int64_t end = tesela__max(fill.end, dst->axis[0].offset);
    write_pattern(run, end, dst->axis[0].extent - end);
  }
  return true;
}
