/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear_write.c - any relation in Triton's notation: registers as #ttg.linear, shared memory as #ttg.shared_linear.
 *
 * Extents become powers of two, as Triton's are. Every place of an encoding holds an element or padding, so places that hold nothing
 * need a larger array.
 */
#include "linear/linear.h"
#include "notation/any.h"
#include "notation/triton/linear_text.h"

enum { TRITON_LANE_BITS = 5 };

/* Threads and local ids as Triton has them: the low bits of a thread are its lane. */
static tesela_status triton_write_lanes(tesela_linear *a, tesela_error *err) {
  int32_t thread = tesela__linear_find(a->in, a->n_ins, "thread");
  if (thread < 0) return TESELA_OK;
  const int32_t order[] = {1 - thread, thread}, bits = a->in[thread].bits;
  tesela_linear_dim dims[3];
  tesela__linear_set(&dims[0], "register", a->in[1 - thread].bits);
  tesela__linear_set(&dims[1], "lane", bits < TRITON_LANE_BITS ? bits : TRITON_LANE_BITS);
  tesela__linear_set(&dims[2], "warp", bits - dims[1].bits);
  tesela_status status = tesela_linear_transpose(a, false, order, a, err);
  return status == TESELA_OK ? tesela_linear_reshape(a, false, 3, dims, a, err) : status;
}

static bool triton_write_known(const tesela_layout *layout, bool *shared) {
  *shared = layout->n_axes >= 1 && strcmp(layout->axis[0].name, "memory") == 0 &&
            (layout->n_axes == 1 || (layout->n_axes == 2 && strcmp(layout->axis[1].name, "block") == 0));
  return *shared || tesela__axes_are_threads(layout) || tesela__axes_are_lanes(layout);
}

tesela_status tesela__triton_write(const tesela_layout *layout, const tesela_writer *to,
                                   tesela_translation *answer, tesela_error *err) {
  tesela_linear linear;
  tesela__sink sink;
  bool shared;
  if (!triton_write_known(layout, &shared))
    return tesela__impossible(answer, "Triton's layouts have registers, lanes and warps, or one memory");
  if (layout->rank == 0) return tesela__impossible(answer, "Triton's layouts have at least one dim");
  tesela_status status = tesela_linear_from_layout(layout, &linear, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  status = triton_write_lanes(&linear, err);
  if (status != TESELA_OK) return status;
  tesela__sink_init(&sink, to);
  tesela__linear_put_attribute(&sink, &linear, shared);
  return tesela__sink_finish(&sink, err);
}
