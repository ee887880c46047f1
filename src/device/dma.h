/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma.h - shared by the dma files: digits, chains, boxes.
 *
 *   digits    the device dims whose digit varies, as (step, device stride, host stride)
 *   chain     the digits of one host dim, steps strictly decreasing down to 1, and the coordinates [lo, hi) that move
 *   boxes     products of digit ranges. Greedy splitting makes the digits of [lo, hi) a staircase; boxes tile it
 *
 *   200 in blocks of 64    digits (64, ..) (1, ..)    [0,200)  =  {0,1,2} x {0..63}  +  {3} x {0..7}
 *
 * A tuple of digits is that of a coordinate if and only if the rest after each digit is below the digit's step; then
 * this is true of every smaller tuple. So a box from tuple a to tuple b is in [lo, hi) if and only if b is the tuple of
 * a coordinate below hi, and a's coordinate is not below lo: a test in O(digits) for any sizes.
 */
#ifndef TESELA_SRC_DEVICE_DMA_H
#define TESELA_SRC_DEVICE_DMA_H

#include "base/base.h"

#include <tesela/device.h>

enum {
  TESELA__DMA_DIGITS = TESELA_DEVICE_DIMS + 1, /* plus one for single places between the strides */
  TESELA__DMA_CHAINS = TESELA_MAX_RANK + TESELA_DEVICE_DIMS,
  TESELA__DMA_NESTS = 1 << 20, /* with any limits */
};

/* The maximum number of nests. */
static inline int64_t tesela__dma_most(const tesela_dma_limits *limits) {
  return limits && limits->max_nests ? tesela__min(limits->max_nests, TESELA__DMA_NESTS) : TESELA_DMA_NESTS;
}

typedef struct tesela__dma_digit {
  int64_t step;         /* coordinates of the chain per digit */
  int64_t device, host; /* places and host elements per digit */
  int32_t dim;          /* its device dim, or -1 */
} tesela__dma_digit;

typedef struct tesela__dma_chain {
  int64_t lo, hi, size; /* coordinates that move, out of `size` */
  int64_t unit;         /* host elements per coordinate */
  int32_t n;
  int8_t digit[TESELA__DMA_DIGITS]; /* numbers in tesela__dma_digit_list, steps decreasing */
} tesela__dma_chain;

typedef struct tesela__dma_digit_list {
  int32_t n, n_chains;
  bool empty;                         /* nothing moves */
  int64_t device_offset, host_offset; /* with all digits 0, including dims that never move */
  tesela__dma_digit digit[TESELA__DMA_DIGITS];
  tesela__dma_chain chain[TESELA__DMA_CHAINS]; /* host dims in order, then replicated dims */
} tesela__dma_digit_list;

/* Box k: `width` starts, then `width` counts. */
typedef struct tesela__dma_boxes {
  int32_t width;
  size_t n, capacity;
  int64_t *at;
} tesela__dma_boxes;

static inline int64_t *tesela__dma_box(const tesela__dma_boxes *boxes, size_t k) {
  return boxes->at + k * 2 * (size_t)boxes->width;
}

typedef struct tesela__dma_list {
  const tesela_allocator *allocator;
  tesela_nest *nest;
  size_t n, capacity;
  int64_t most; /* maximum of n: tesela__dma_most */
} tesela__dma_list;

/* digits: those of a layout and a host. `fuse`: merge digits that continue each other on both sides. */
tesela_status tesela__dma_digits(tesela__dma_digit_list *out, const tesela_device_layout *layout,
                                 const int64_t *host_strides, int64_t host_offset,
                                 const tesela_dma_options *options, bool fuse, tesela_error *err);

bool tesela__dma_box_add(tesela__dma_boxes *boxes, const int64_t *start, const int64_t *count,
                         const tesela_allocator *allocator);
void tesela__dma_join_boxes(tesela__dma_boxes *boxes); /* join adjacent boxes until no two are adjacent */

/* The space for boxes: tuples of [lo, hi) outside of `taken` (may be NULL). */
typedef struct tesela__dma_space {
  int32_t n;
  const int64_t *step;
  int64_t lo, hi;
  const tesela__dma_boxes *taken;
} tesela__dma_space;
/* Is the box from tuple a up to tuple b, both included, inside the space? */
bool tesela__dma_inside(const tesela__dma_space *space, const int64_t *a, const int64_t *b);

/* Lower bounds for the boxes of a tiling; for few boxes a full search may also replace them by fewer. `apart`: the size
 * of a set of tuples of which no two fit into one box; a product of spaces has the product of the sizes. `least`: no
 * tiling of this space has fewer boxes. A product with another space needs at least `least` times the other's
 * `apart`. */
typedef struct tesela__dma_bounds {
  int32_t apart, least;
} tesela__dma_bounds;
tesela_status tesela__dma_bound(tesela__dma_bounds *bounds, const tesela__dma_space *space,
                                tesela__dma_boxes *boxes, const tesela_allocator *allocator,
                                tesela_error *err);
tesela_status tesela__dma_search(int32_t *least, const tesela__dma_space *space, tesela__dma_boxes *boxes,
                                 int32_t n_own, const int64_t *own, const tesela_allocator *allocator,
                                 tesela_error *err);

/* boxes: tile the tuples of [lo, hi) for steps that decrease to 1, n >= 1, lo < hi; in the order of their first
 * coordinates. Boxes start empty; the caller releases them, also after a failure. */
tesela_status tesela__dma_cut(tesela__dma_boxes *boxes, tesela__dma_bounds *bounds, int32_t n,
                              const int64_t *step, int64_t lo, int64_t hi, const tesela_allocator *allocator,
                              tesela_error *err);

/* overlap: check that no place is in boxes over `digits` twice; that a transfer has no host element twice. Else, or if
 * it cannot be decided, TESELA_E_UNSUPPORTED. */
tesela_status tesela__dma_check_device(const tesela__dma_digit_list *digits, const tesela__dma_boxes *all,
                                       tesela_error *err);
tesela_status tesela__dma_check_host(const tesela__dma_digit_list *digits, tesela_error *err);

/* padding: the places of [0, places) outside of `taken`, boxes over `digits`. *digits becomes the digits of the
 * result. */
tesela_status tesela__dma_padding(tesela__dma_boxes *boxes, int32_t *bound, tesela__dma_digit_list *digits,
                                  const tesela__dma_boxes *taken, const tesela_device_layout *layout,
                                  bool plain, const tesela_allocator *allocator, tesela_error *err);

/* limits: append `nest` to the list, cut until it meets them. */
tesela_status tesela__dma_check_limits(const tesela_dma_limits *limits, tesela_error *err);
tesela_status tesela__dma_legalise(tesela__dma_list *list, const tesela_nest *nest,
                                   const tesela_dma_limits *limits, int64_t bytes, tesela_error *err);
/* Fail: more than `most` nests. */
tesela_status tesela__dma_too_many(int64_t most, tesela_error *err);
tesela_status tesela__dma_add(tesela__dma_list *list, const tesela_nest *nest, tesela_error *err);
/* Contiguous device elements of the innermost loops, at most `most` (0: any number). */
int64_t tesela__dma_burst(const tesela_nest *nest, int64_t most);

/* Does a nest meet the limits (except max_nests)? */
bool tesela__dma_keeps(const tesela_nest *nest, const tesela_dma_limits *limits, int64_t bytes);

/* nest: add a loop at a position, or sorted by decreasing device stride; merge loops that continue each other on both
 * sides. */
void tesela__dma_add_loop(tesela_nest *nest, int32_t at, int64_t range, int64_t device, int64_t host);
void tesela__dma_sort_loop(tesela_nest *nest, int64_t range, int64_t device, int64_t host);
void tesela__dma_remove_loop(tesela_nest *nest, int32_t k);
void tesela__dma_coalesce(tesela_nest *nest);
int64_t tesela__dma_elements(const tesela_nest *nest);
/* Are n nests few enough to test all pairs? */
bool tesela__dma_few(size_t n);
/* Join pairs of nests whose union is a nest until no pair remains; not for many nests. Loops have decreasing
 * strides. */
void tesela__dma_join_nests(tesela__dma_list *list);
/* A lower bound for lists of nests with any strides over the same elements: 0, 1, or 2 if a corner lacks its mirror
 * image. */
int32_t tesela__dma_least(const tesela__dma_list *list);

/* fewest: do the nests together have few enough elements to try all lists? */
bool tesela__dma_is_small(const tesela__dma_list *list);
/* Replace such a list by one with fewer nests that meet the limits, if one exists. *kept: the given nests meet the
 * limits; if not, any list that does counts as fewer, and *kept becomes true if one exists. *least grows if all lists
 * were tried. */
tesela_status tesela__dma_fewest(tesela__dma_list *list, bool *kept, int32_t *least,
                                 const tesela_dma_limits *limits, int64_t bytes, tesela_error *err);

/* reduce: turn `boxes`, a few nests without limits, into nests within the limits and, in merged form, fewer. `out`
 * starts empty. No list that meets the limits has fewer than *least. */
tesela_status tesela__dma_reduce(tesela__dma_list *out, int32_t *least, const tesela__dma_list *boxes,
                                 const tesela_dma_options *options, int64_t bytes, tesela_error *err);

/* A list with its facts, for printing. */
struct tesela_dma {
  tesela_allocator allocator;
  tesela__dma_list list;
  tesela_dma_facts facts;
  tesela_dma_direction direction;
  bool innermost_first, padding;
};

#endif
