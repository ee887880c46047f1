/* SPDX-License-Identifier: Apache-2.0 */
/* picture.c - see picture.h. */
#include "picture.h"

#include "levels.h"

/* First-level tile of each dim, that of the joined dims for each of them; 0: not tiled. */
static void first_tiles(const tesela_xla_layout *layout, int64_t *tile) {
  int32_t n = layout->n_tiles > 0 ? layout->tile_rank[0] : 0;
  int64_t size = 0;
  for (int32_t d = 0; d < layout->rank; d++) tile[d] = 0;
  for (int32_t e = n - 1, p = 0; e >= 0 && p < layout->rank; e--, p++) {
    if (layout->tile[e] != TESELA_XLA_COMBINE) size = layout->tile[e];
    tile[tesela_xla_minor(layout, p)] = size;
  }
}

tesela_status picture_of_xla(const tesela_xla_shape *shape, tesela_layout *layout, int64_t *tile,
                             tesela_error *err) {
  tesela_xla_shape padded = *shape;
  padded.dynamic = 0;
  first_tiles(&shape->layout, tile);
  levels_padded_dims(shape, padded.dim);
  return tesela_xla_to_layout(&padded, layout, err);
}

/* Room for more elements of a dim in its device dims: what its largest step counts. */
static int64_t whole_extent(const tesela_device_layout *layout, int32_t d, int64_t *step) {
  int64_t whole = layout->host.shape[d];
  *step = 1;
  for (int32_t j = 0; j < layout->n_dims; j++) {
    const tesela_device_dim *dim = &layout->dim[j];
    int64_t extent;
    if (dim->dim != d || __builtin_mul_overflow(dim->step, dim->extent, &extent)) continue;
    if (extent > whole) whole = extent;
    if (dim->extent > 1 && dim->step > *step) *step = dim->step;
  }
  return whole;
}

tesela_status picture_of_device(const tesela_device_layout *layout, tesela_layout *drawn, int64_t *tile,
                                tesela_error *err) {
  tesela_device_layout whole = *layout;
  for (int32_t d = 0; d < layout->host.rank; d++) {
    int64_t step;
    whole.host.shape[d] = whole_extent(layout, d, &step);
    tile[d] = step > 1 ? step : 0;
  }
  /* A larger tensor may have elements without a place, where the steps do not divide each other: then the padding that no
     digit reaches is not drawn. */
  if (tesela_device_from_dims(&whole, &whole.host, layout->n_dims, layout->dim, true, layout->stick_dims,
                              NULL) != TESELA_OK ||
      whole.places != layout->places)
    return tesela_device_to_layout(layout, drawn, err);
  return tesela_device_to_layout(&whole, drawn, err);
}
