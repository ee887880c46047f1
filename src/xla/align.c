/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align.c - the layout that makes a reshape free.
 *
 * The reshape is cut into stretches of dims with equal numbers of elements. A stretch with one input dim can be
 * anywhere in memory. One with several is flat only if these are adjacent in memory, in logical order; otherwise no
 * order of the output keeps every element in place. The output gets its stretches in the order of the input's, the dims
 * of each in logical order:
 *
 *   [3,8,5,7,11]{3,2,1,0,4} -> [4,3,2,7,5,11]   stretches (3,8|4,3,2) (5,7|7,5) (11|11), in memory 3rd 1st 2nd
 *                                               so {4,3,2,1,0,5}
 *
 * Dims of 1 can have any position. It matters only if tiles cover them, so two are tried: beside their neighbours, and
 * before all others.
 */
#include "base/base.h"
#include "xla/validate.h"
#include "xla/xla.h"

static int32_t stretch_of(const tesela__xla_stretches *flat, int32_t in_dim) {
  int32_t s = 0;
  while (in_dim >= flat->in_end[s]) s++;
  return s;
}

static int32_t first_dim(const int32_t *end, int32_t s) { return s == 0 ? 0 : end[s - 1]; }

/* The next input dim in physical order whose extent is not 1, or -1 at the end; advances *p. */
static int32_t next_dim(const tesela_xla_shape *in, int32_t *p) {
  while (*p < in->rank) {
    int32_t d = tesela_xla_major(&in->layout, (*p)++);
    if (in->dim[d] != 1) return d;
  }
  return -1;
}

/* The stretches in physical order, most major first; false if one of them is not flat. */
static bool order_stretches(const tesela_xla_shape *in, const tesela__xla_stretches *flat, int32_t *order) {
  int32_t p = 0;
  for (int32_t n = 0; n < flat->n; n++) {
    int32_t dim = next_dim(in, &p), s = stretch_of(flat, dim);
    for (int32_t d = first_dim(flat->in_end, s); d < flat->in_end[s]; d++) {
      if (in->dim[d] == 1) continue;
      if (d != dim) return false;
      bool last = true;
      for (int32_t later = d + 1; later < flat->in_end[s]; later++) last = last && in->dim[later] == 1;
      if (!last) dim = next_dim(in, &p);
    }
    order[n] = s;
  }
  return true;
}

/* The output's dims, most major first; with `ones_in_front` dims of 1 come before all others. */
static void order_dims(const tesela_xla_shape *out, const tesela__xla_stretches *flat, const int32_t *order,
                       bool ones_in_front, int32_t *major_to_minor) {
  int32_t n = 0;
  for (int32_t d = 0; d < out->rank; d++)
    if ((ones_in_front && out->dim[d] == 1) || flat->n == 0) major_to_minor[n++] = d;
  for (int32_t k = 0; k < flat->n; k++)
    for (int32_t d = first_dim(flat->out_end, order[k]); d < flat->out_end[order[k]]; d++)
      if (!ones_in_front || out->dim[d] != 1) major_to_minor[n++] = d;
}

/* The output with that order and, if `like` is not NULL, its attributes except split configs: their physical dims no
 * longer exist. */
static tesela_status aligned_shape(const tesela_xla_shape *out, const int32_t *major_to_minor,
                                   const tesela_xla_layout *like, tesela_xla_shape *made, tesela_error *err) {
  tesela_xla_layout order;
  tesela_status status = tesela_xla_layout_make_major_to_minor(&order, out->rank, major_to_minor, err);
  if (status != TESELA_OK) return status;
  tesela__xla_shape_copy(made, out);
  made->has_layout = true;
  tesela__xla_layout_copy(&made->layout, like ? like : &order);
  made->layout.rank = out->rank;
  made->layout.n_splits = made->layout.n_split_points = 0;
  for (int32_t i = 0; i < out->rank; i++) made->layout.minor_to_major[i] = order.minor_to_major[i];
  return tesela_xla_validate(made, err);
}

tesela_status tesela_xla_align(const tesela_xla_shape *in, tesela_xla_shape *out, bool order_only,
                               bool *aligned, tesela_error *err) {
  TESELA__NEED(err, in, out, aligned);
  tesela__xla_stretches flat = {.n = 0};
  tesela_xla_shape made;
  int64_t elements;
  int32_t order[TESELA_MAX_RANK], major_to_minor[TESELA_MAX_RANK];
  bool stays = false;
  tesela_status status = tesela__xla_check_reshape(in, out, &elements, err);
  if (status != TESELA_OK) return status;
  if (elements > 0) tesela__xla_find_stretches(in, out, &flat);
  bool found = order_stretches(in, &flat, order);
  for (int turn = 0; turn < 2 && found && !stays && status == TESELA_OK; turn++) {
    order_dims(out, &flat, order, turn == 1, major_to_minor);
    status = aligned_shape(out, major_to_minor, order_only ? NULL : &in->layout, &made, err);
    if (status == TESELA_OK) status = tesela_xla_reshape_is_bitcast(in, &made, order_only, &stays, err);
  }
  if (status != TESELA_OK) return status;
  if (stays) tesela__xla_shape_copy(out, &made);
  *aligned = stays;
  return TESELA_OK;
}
