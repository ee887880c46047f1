/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axes.c - the axes of register layouts: thread and local, or register, lane, warp and block.
 *
 *   thread = lane + lanes * warp        local = register
 */
#include "layout/layout.h"
#include "notation/any.h"

enum { AXES_MOST = 8 };

static int32_t axis_find(const tesela_layout *layout, const char *name) {
  for (int32_t a = 0; a < layout->n_axes; a++)
    if (strcmp(layout->axis[a].name, name) == 0) return a;
  return -1;
}

bool tesela__axes_are_lanes(const tesela_layout *layout) {
  int32_t block = axis_find(layout, "block");
  return layout->n_axes == 3 + (block >= 0) && axis_find(layout, "register") >= 0 &&
         axis_find(layout, "lane") >= 0 && axis_find(layout, "warp") >= 0;
}

bool tesela__axes_are_threads(const tesela_layout *layout) {
  return layout->n_axes == 2 && axis_find(layout, "thread") >= 0 && axis_find(layout, "local") >= 0;
}

/* Where the places of an old axis go: onto axis[0] up to `below` places, further ones onto axis[1]; or all, with below 0,
 * onto axis[0] at a stride. */
typedef struct axes_move {
  int32_t axis[2];
  int64_t below, stride;
} axes_move;

static int axes_log2(int64_t n) {
  int bits = 0;
  while (n > 1 && n % 2 == 0) {
    n /= 2;
    bits++;
  }
  return n == 1 ? bits : -1;
}

/* Cut a digit that reaches across `below` places into two. */
static tesela_status axes_cut(tesela_layout *out, int32_t i, int64_t below, tesela_error *err) {
  tesela_digit *digit = &out->digit[i];
  int64_t t = digit->stride > 0 && below % digit->stride == 0 ? below / digit->stride : 0;
  if (t == 0 || digit->extent % t != 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "the threads do not divide into warps of %" PRId64 " lanes: a stride of %" PRId64
                        " places crosses them",
                        below, digit->stride);
  if (out->n_digits == TESELA_MAX_DIGITS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d digits", TESELA_MAX_DIGITS);
  tesela_digit low = *digit;
  low.extent = t;
  out->digit[out->n_digits++] = low;
  digit->extent /= t;
  digit->stride *= t;
  if (digit->source >= 0) digit->step *= t;
  return TESELA_OK;
}

/* Put the digits of the old axis on the new ones. */
static tesela_status axes_move_digits(tesela_layout *out, int32_t old, const axes_move *move,
                                      tesela_error *err) {
  int64_t low = move->below > 0 ? out->axis[old].offset % move->below : 0;
  tesela_status status = TESELA_OK;
  for (int32_t i = 0; i < out->n_digits && status == TESELA_OK; i++) {
    tesela_digit *digit = &out->digit[i];
    if (digit->axis != old) continue;
    int64_t reach = digit->stride * (digit->extent - 1);
    if (digit->extent > 1 && move->below > 0 && digit->stride < move->below && reach >= move->below)
      status = axes_cut(out, i, move->below, err);
    if (status != TESELA_OK || digit->extent < 2 || move->below == 0) continue;
    reach = digit->stride * (digit->extent - 1);
    if (digit->stride < 0 || (digit->stride >= move->below && digit->stride % move->below != 0) ||
        (digit->stride < move->below && (low += reach) >= move->below))
      status = tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                            "the threads do not divide into warps of %" PRId64 " lanes", move->below);
  }
  return status;
}

/* The XOR stage with each bit on its new axis. */
static tesela_status axes_move_swizzle(const tesela_layout *layout, const axes_move *move, tesela_layout *out,
                                       tesela_error *err) {
  tesela_axis_bit bit[64];
  int32_t n = 0;
  for (int32_t a = 0; a < layout->n_axes; a++)
    for (int32_t k = 0; k < layout->swizzle.width[a]; k++) {
      int at = axes_log2(move[a].below > 0 ? move[a].below : move[a].stride);
      if (at < 0)
        return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "a swizzle needs powers of two of threads");
      if (move[a].below > 0)
        bit[n++] = (tesela_axis_bit){(int16_t)move[a].axis[k >= at], (int16_t)(k >= at ? k - at : k)};
      else
        bit[n++] = (tesela_axis_bit){(int16_t)move[a].axis[0], (int16_t)(k + at)};
    }
  return tesela_layout_add_bit_matrix(out, n, bit, layout->swizzle.image, err);
}

/* The layout on other axes. move[a] of each old axis; `axis` has name, offset and extent of the new ones. */
static tesela_status axes_regroup(const tesela_layout *layout, const axes_move *move, int32_t n_axes,
                                  const tesela_axis *axis, tesela_layout *out, tesela_error *err) {
  tesela_layout moved = *layout;
  tesela_status status = TESELA_OK;
  moved.finished = false;
  for (int32_t a = 0; a < layout->n_axes && status == TESELA_OK; a++)
    status = axes_move_digits(&moved, a, &move[a], err);
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < moved.n_digits; i++) {
    tesela_digit *digit = &moved.digit[i];
    if (digit->axis < 0) continue;
    const axes_move *to = &move[digit->axis];
    bool high = to->below > 0 && digit->stride >= to->below;
    digit->axis = (int16_t)to->axis[high];
    digit->stride = high ? digit->stride / to->below : digit->stride * tesela__max(to->stride, 1);
  }
  moved.n_axes = n_axes;
  for (int32_t a = 0; a < n_axes; a++) moved.axis[a] = axis[a];
  moved.swizzle.n = 0;
  memset(&moved.swizzle, 0, sizeof moved.swizzle);
  if (layout->swizzle.n > 0) status = axes_move_swizzle(layout, move, &moved, err);
  if (status == TESELA_OK) status = tesela_layout_finish(&moved, err);
  if (status == TESELA_OK) *out = moved;
  return status;
}

tesela_status tesela__axes_to_threads(const tesela_layout *layout, tesela_layout *out, tesela_error *err) {
  if (!tesela__axes_are_lanes(layout)) {
    *out = *layout;
    return TESELA_OK;
  }
  int32_t at[] = {axis_find(layout, "register"), axis_find(layout, "lane"), axis_find(layout, "warp"),
                  axis_find(layout, "block")};
  const tesela_axis *lane = &layout->axis[at[1]], *warp = &layout->axis[at[2]];
  if (at[3] >= 0 && layout->axis[at[3]].extent != 1)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "the layout spans %" PRId64 " blocks; threads and local ids are of one block",
                        layout->axis[at[3]].extent);
  tesela_axis axis[3] = {{.name = "thread"}, {.name = "local"}};
  axes_move move[AXES_MOST] = {{{0, 0}, 0, 0}};
  int64_t high = 0;
  if (!tesela__mul(warp->extent, lane->extent, &axis[0].extent) ||
      !tesela__mul(warp->offset, lane->extent, &high))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of threads does not fit in 64 bits");
  axis[0].offset = lane->offset + high;
  axis[1].offset = layout->axis[at[0]].offset;
  axis[1].extent = layout->axis[at[0]].extent;
  move[at[0]] = (axes_move){{1, 1}, 0, 1};
  move[at[1]] = (axes_move){{0, 0}, 0, 1};
  move[at[2]] = (axes_move){{0, 0}, 0, lane->extent};
  if (at[3] >= 0) move[at[3]] = (axes_move){{0, 0}, 0, 1}; /* its only place is 0 */
  return axes_regroup(layout, move, 2, axis, out, err);
}

tesela_status tesela__axes_to_lanes(const tesela_layout *layout, int64_t lanes, tesela_layout *out,
                                    tesela_error *err) {
  if (!tesela__axes_are_threads(layout)) {
    *out = *layout;
    return TESELA_OK;
  }
  int32_t thread = axis_find(layout, "thread"), local = axis_find(layout, "local");
  int64_t threads = layout->axis[thread].extent, offset = layout->axis[thread].offset;
  tesela_axis axis[3] = {{.name = "register"}, {.name = "lane"}, {.name = "warp"}};
  axes_move move[AXES_MOST] = {{{0, 0}, 0, 0}};
  axis[0].offset = layout->axis[local].offset;
  axis[0].extent = layout->axis[local].extent;
  axis[1].offset = offset % lanes;
  axis[1].extent = lanes;
  axis[2].offset = offset / lanes;
  axis[2].extent = (threads + lanes - 1) / lanes;
  move[local] = (axes_move){{0, 0}, 0, 1};
  move[thread] = (axes_move){{1, 2}, lanes, 1};
  return axes_regroup(layout, move, 3, axis, out, err);
}
