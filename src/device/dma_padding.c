/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_padding.c - the places without an element, as boxes.
 *
 * The device strides split a place greedily, as steps split a coordinate, with a last stride of 1 if it is missing. If
 * each stride exceeds the reach of the smaller ones, an element's place splits into exactly its digits. So the places
 * of [0, places) are boxes (dma_cut.c), minus the boxes of the elements, digit by digit:
 *
 *   f16[1000,200]    strides 64000, 64, 1    {0..3} {0..999} {0..63} minus {0..2} {0..999} {0..63} and {3} {0..999} {0..7}
 *                                            = {3} {0..999} {8..63}
 *
 * Strides that interleave (3 and 2, say) are refused.
 */
#include "device/dma.h"

enum { DMA_TAKEN = 4096, DMA_LEFT = 1 << 16 };

typedef struct dma_stride {
  int64_t stride, count; /* digits that occur */
  int32_t dim, digit;    /* digit: number in the digits of the elements; -1: only value 0 */
} dma_stride;

/* Insert by decreasing stride. */
static void dma_stride_add(dma_stride *list, int32_t *n, dma_stride stride) {
  int32_t at = (*n)++;
  for (; at > 0 && list[at - 1].stride < stride.stride; at--) list[at] = list[at - 1];
  list[at] = stride;
}

static bool dma_apart(const dma_stride *list, int32_t n) {
  int64_t reach = 0;
  for (int32_t k = n - 1; k >= 0; k--) {
    if (list[k].stride <= reach) return false;
    reach += (list[k].count - 1) * list[k].stride; /* fits: tesela__dma_digits has summed up more */
  }
  return true;
}

/* The strides in use, and in plain form those of other device dims that do not overlap. false: strides in use
 * overlap. */
static bool dma_strides(dma_stride *list, int32_t *n, const tesela__dma_digit_list *digits,
                        const tesela__dma_boxes *taken, const tesela_device_layout *layout, bool plain) {
  *n = 0;
  for (int32_t k = 0; k < digits->n; k++) {
    int64_t count = 1;
    for (size_t i = 0; i < taken->n; i++) {
      const int64_t *box = tesela__dma_box(taken, i);
      count = tesela__max(count, box[k] + box[digits->n + k]);
    }
    dma_stride_add(list, n, (dma_stride){digits->digit[k].device, count, digits->digit[k].dim, k});
  }
  if (!dma_apart(list, *n)) return false;
  for (int32_t j = 0; plain && j < layout->n_dims; j++) {
    bool there = layout->dim[j].extent < 2 || layout->dim[j].stride < 1;
    for (int32_t k = 0; k < *n && !there; k++)
      there = list[k].dim == j || list[k].stride == layout->dim[j].stride;
    if (there) continue;
    dma_stride more[TESELA__DMA_DIGITS];
    int32_t n_more = *n;
    memcpy(more, list, sizeof *list * (size_t)*n);
    dma_stride_add(more, &n_more, (dma_stride){layout->dim[j].stride, 1, j, -1});
    if (!dma_apart(more, n_more)) continue;
    memcpy(list, more, sizeof *list * (size_t)n_more);
    *n = n_more;
  }
  if (*n == 0 || list[*n - 1].stride > 1) dma_stride_add(list, n, (dma_stride){1, 1, -1, -1});
  return true;
}

/* Subtract `hole` from every box. false: no memory. Digits are cut in the order 0 .. width-1, or in reverse. */
static bool dma_take(tesela__dma_boxes *boxes, const int64_t *hole, bool backwards,
                     const tesela_allocator *allocator) {
  int32_t width = boxes->width;
  size_t kept = 0, before = boxes->n;
  for (size_t i = 0; i < before; i++) {
    int64_t rest[2 * TESELA__DMA_DIGITS];
    memcpy(rest, tesela__dma_box(boxes, i), 2 * (size_t)width * sizeof *rest);
    bool meets = true;
    for (int32_t k = 0; k < width && meets; k++)
      meets = rest[k] < hole[k] + hole[width + k] && hole[k] < rest[k] + rest[width + k];
    if (!meets) {
      memmove(tesela__dma_box(boxes, kept++), rest, 2 * (size_t)width * sizeof *rest);
      continue;
    }
    for (int32_t step = 0; step < width; step++) {
      int32_t k = backwards ? width - 1 - step : step;
      int64_t start = rest[k], end = start + rest[width + k], low = hole[k], high = low + hole[width + k];
      if (start < low) {
        rest[width + k] = low - start;
        if (!tesela__dma_box_add(boxes, rest, rest + width, allocator)) return false;
        start = low;
      }
      if (high < end) {
        rest[k] = high, rest[width + k] = end - high;
        if (!tesela__dma_box_add(boxes, rest, rest + width, allocator)) return false;
        end = high;
      }
      rest[k] = start, rest[width + k] = end - start;
    }
  }
  memmove(tesela__dma_box(boxes, kept), tesela__dma_box(boxes, before),
          (boxes->n - before) * 2 * (size_t)width * sizeof(int64_t));
  boxes->n -= before - kept;
  return true;
}

/* `left` receives `all` minus every box of `taken`. */
static tesela_status dma_take_all(tesela__dma_boxes *left, const tesela__dma_boxes *all,
                                  const tesela__dma_boxes *taken, bool backwards,
                                  const tesela_allocator *allocator, tesela_error *err) {
  left->width = all->width, left->n = 0;
  bool fine = true;
  for (size_t i = 0; i < all->n && fine; i++)
    fine =
        tesela__dma_box_add(left, tesela__dma_box(all, i), tesela__dma_box(all, i) + all->width, allocator);
  for (size_t i = 0; i < taken->n && fine; i++) {
    fine = dma_take(left, tesela__dma_box(taken, i), backwards, allocator);
    if (left->n > DMA_LEFT)
      return tesela__fail(err, TESELA_E_LIMIT, -1, "padding splits into more than %d pieces", DMA_LEFT);
  }
  if (!fine) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for nests over padding");
  tesela__dma_join_boxes(left);
  return TESELA_OK;
}

/* Translate the boxes of the elements to the digits of places. */
static tesela_status dma_translate(tesela__dma_boxes *out, const tesela__dma_boxes *taken,
                                   const dma_stride *list, int32_t n, int32_t n_digits,
                                   const tesela_allocator *allocator, tesela_error *err) {
  int64_t start[TESELA__DMA_DIGITS], count[TESELA__DMA_DIGITS];
  out->width = n;
  for (size_t i = 0; i < taken->n; i++) {
    const int64_t *box = tesela__dma_box(taken, i);
    for (int32_t k = 0; k < n; k++) {
      start[k] = list[k].digit < 0 ? 0 : box[list[k].digit];
      count[k] = list[k].digit < 0 ? 1 : box[n_digits + list[k].digit];
    }
    if (!tesela__dma_box_add(out, start, count, allocator))
      return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for nests over padding");
  }
  return TESELA_OK;
}

static int dma_by_start(const void *x, const void *y, int32_t n) {
  const int64_t *a = x, *b = y;
  for (int32_t k = 0; k < n; k++)
    if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
  return 0;
}

/* Sort few boxes by place; many keep their order. */
static void dma_order(tesela__dma_boxes *boxes) {
  size_t bytes = 2 * (size_t)boxes->width * sizeof(int64_t);
  for (size_t i = 1; i < boxes->n && boxes->n <= DMA_TAKEN; i++) {
    int64_t box[2 * TESELA__DMA_DIGITS];
    size_t at = i;
    memcpy(box, tesela__dma_box(boxes, i), bytes);
    for (; at > 0 && dma_by_start(tesela__dma_box(boxes, at - 1), box, boxes->width) > 0; at--)
      memcpy(tesela__dma_box(boxes, at), tesela__dma_box(boxes, at - 1), bytes);
    memcpy(tesela__dma_box(boxes, at), box, bytes);
  }
}

/* The boxes of [0, places) outside of `held`: the fewer of two orders of cutting digits. */
static tesela_status dma_complement(tesela__dma_boxes *boxes, int32_t *bound, const dma_stride *list,
                                    int32_t n, const tesela__dma_boxes *held, int64_t places,
                                    const tesela_allocator *allocator, tesela_error *err) {
  int64_t step[TESELA__DMA_DIGITS];
  tesela__dma_boxes all = {0}, other = {0};
  tesela__dma_bounds bounds;
  for (int32_t k = 0; k < n; k++) step[k] = list[k].stride;
  tesela_status status = tesela__dma_cut(&all, &bounds, n, step, 0, places, allocator, err);
  if (status == TESELA_OK) status = dma_take_all(boxes, &all, held, false, allocator, err);
  if (status == TESELA_OK) status = dma_take_all(&other, &all, held, true, allocator, err);
  if (status == TESELA_OK && other.n < boxes->n) {
    tesela__dma_boxes less = other;
    other = *boxes, *boxes = less;
  }
  tesela__dma_space space = {n, step, 0, places, held};
  if (status == TESELA_OK) status = tesela__dma_bound(&bounds, &space, boxes, allocator, err);
  if (status == TESELA_OK) *bound = bounds.least;
  tesela__release(allocator, all.at);
  tesela__release(allocator, other.at);
  return status;
}

tesela_status tesela__dma_padding(tesela__dma_boxes *boxes, int32_t *bound, tesela__dma_digit_list *digits,
                                  const tesela__dma_boxes *taken, const tesela_device_layout *layout,
                                  bool plain, const tesela_allocator *allocator, tesela_error *err) {
  dma_stride list[TESELA__DMA_DIGITS];
  tesela__dma_boxes held = {0};
  int32_t n = 0;
  *bound = 0;
  if (taken->n > DMA_TAKEN)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "padding around more than %d nests of elements", DMA_TAKEN);
  if (!dma_strides(list, &n, digits, taken, layout, plain))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "cannot find the places that no element uses: device strides interleave");
  tesela_status status = dma_translate(&held, taken, list, n, digits->n, allocator, err);
  if (status == TESELA_OK && layout->places > 0)
    status = dma_complement(boxes, bound, list, n, &held, layout->places, allocator, err);
  boxes->width = n;
  if (status == TESELA_OK) dma_order(boxes);
  tesela__release(allocator, held.at);
  if (status != TESELA_OK) return status;
  digits->n = n;
  digits->device_offset = digits->host_offset = 0;
  for (int32_t k = 0; k < n; k++) digits->digit[k] = (tesela__dma_digit){0, list[k].stride, 0, list[k].dim};
  return TESELA_OK;
}
