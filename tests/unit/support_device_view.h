/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_device_view.h - device layouts and views drawn at random, and what a view is by definition.
 *
 * The definition: an element of the base lies where its digits say, greedily by decreasing step; its lane is the number that
 * the digits of the stick dims form; a view's index names the element whose creation offset it has.
 */
#ifndef UNIT_SUPPORT_DEVICE_VIEW_H
#define UNIT_SUPPORT_DEVICE_VIEW_H

#include <tesela/device.h>

enum { VIEW_STORAGE = 60000, VIEW_ELEMENTS = 4000 };

typedef struct drawn_base {
  tesela_device_layout layout;
  bool row_major;
  int64_t stride[TESELA_MAX_RANK]; /* as it was created */
  int64_t span;
  int32_t element[VIEW_STORAGE]; /* row-major number of the element at each offset, -1: gap */
} drawn_base;

uint64_t view_draw(uint64_t *state, uint64_t n); /* 0 .. n-1 */

/* A base of at most VIEW_STORAGE places of storage. */
void view_draw_base(uint64_t *state, drawn_base *base);

/* Lanes, sticks and device dims for the host shape in `layout`, whose other fields are zeros: elements of 16 bits. */
void view_draw_layout(uint64_t *state, tesela_device_layout *layout);

/* A view by permute, slice, expand and reshape; now and then one of strides drawn freely. It may reach outside. */
void view_draw_view(uint64_t *state, const drawn_base *base, tesela_host_view *view);

/* The same of any size, and never outside; of the base only shape, strides and lanes are looked at. */
void view_draw_large_view(uint64_t *state, const drawn_base *base, tesela_host_view *view);

/* Place and lane of an element by its index, by definition. */
int64_t view_place_by_definition(const tesela_device_layout *layout, const int64_t *index, int64_t *lane);

/* Place and lane of an index of the view; false: it reaches no element. */
bool view_element_by_definition(const drawn_base *base, const tesela_host_view *view, const int64_t *index,
                                int64_t *place, int64_t *lane);

void view_print_case(const drawn_base *base, const tesela_host_view *view);

#endif
