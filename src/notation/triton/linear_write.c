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

enum { TRITON_LANES = 32 };

/* The axes of registers as Triton has them. Warps of fewer lanes only if there are fewer threads. */
static tesela_status triton_write_axes(const tesela_layout *layout, tesela_layout *out, tesela_error *err) {
  int64_t lanes = 1;
  for (int32_t a = 0; a < layout->n_axes; a++)
    if (strcmp(layout->axis[a].name, "thread") == 0)
      while (lanes < TRITON_LANES && lanes < layout->axis[a].extent) lanes *= 2;
  return tesela__axes_to_lanes(layout, lanes, out, err);
}

static bool triton_write_known(const tesela_layout *layout, bool *shared) {
  *shared = layout->n_axes >= 1 && strcmp(layout->axis[0].name, "memory") == 0 &&
            (layout->n_axes == 1 || (layout->n_axes == 2 && strcmp(layout->axis[1].name, "block") == 0));
  return *shared || tesela__axes_are_threads(layout) || tesela__axes_are_lanes(layout);
}

tesela_status tesela__triton_write(const tesela_layout *layout, const tesela_writer *to,
                                   tesela_translation *answer, tesela_error *err) {
  tesela_layout lanes;
  tesela_linear linear;
  tesela_translation found;
  tesela__sink sink;
  bool shared;
  int64_t places = answer->places;
  if (!triton_write_known(layout, &shared))
    return tesela__impossible(answer, "Triton's layouts have registers, lanes and warps, or one memory");
  if (layout->rank == 0) return tesela__impossible(answer, "Triton's layouts have at least one dim");
  tesela_status status = tesela_linear_from_layout(layout, &linear, answer, err);
  answer->places = places;
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  status = triton_write_axes(layout, &lanes, err);
  if (status == TESELA_E_UNSUPPORTED)
    return tesela__impossible(answer, "the threads do not divide into warps");
  if (status == TESELA_OK) status = tesela_linear_from_layout(&lanes, &linear, &found, err);
  if (status != TESELA_OK) return status;
  memcpy(answer->shape, found.shape, sizeof answer->shape);
  tesela__sink_init(&sink, to);
  tesela__linear_put_attribute(&sink, &linear, shared);
  return tesela__sink_finish(&sink, err);
}
