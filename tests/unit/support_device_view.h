/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_device_view.h - random device layouts and views, and what a view is by definition.
 *
 * The definition: the digits of an element of the base, greedily by decreasing step, give its place; its lane is the
 * number formed by the digits of the stick dims; an index of a view names the element with its offset at creation.
 */
#ifndef UNIT_SUPPORT_DEVICE_VIEW_H
#define UNIT_SUPPORT_DEVICE_VIEW_H

#include <tesela/device.h>

enum { VIEW_STORAGE = 60000, VIEW_ELEMENTS = 4000 };

typedef struct drawn_base {
  tesela_device_layout layout;
  bool row_major;
  int64_t stride[TESELA_MAX_RANK]; /* at creation */
  int64_t span;
  int32_t element[VIEW_STORAGE]; /* row-major number of the element at each offset, or -1 for a gap */
} drawn_base;

uint64_t view_draw(uint64_t *state, uint64_t n); /* 0 .. n-1 */

/* A base of at most VIEW_STORAGE places of storage. */
void view_draw_base(uint64_t *state, drawn_base *base);

/* Lanes, sticks and device dims for the host shape in `layout`, whose other fields are zeros: elements of 16 bits. */
void view_draw_layout(uint64_t *state, tesela_device_layout *layout);

/* A view by permute, slice, expand and reshape; sometimes one with random strides. It may reach outside. */
void view_draw_view(uint64_t *state, const drawn_base *base, tesela_host_view *view);

/* The same of any size, and never outside; only shape, strides and lanes of the base are used. */
void view_draw_large_view(uint64_t *state, const drawn_base *base, tesela_host_view *view);

/* Place and lane of an element by its index, by definition. */
int64_t view_place_by_definition(const tesela_device_layout *layout, const int64_t *index, int64_t *lane);

/* Place and lane of an index of the view; false if it reaches no element. */
bool view_element_by_definition(const drawn_base *base, const tesela_host_view *view, const int64_t *index,
                                int64_t *place, int64_t *lane);

void view_print_case(const drawn_base *base, const tesela_host_view *view);

#endif
