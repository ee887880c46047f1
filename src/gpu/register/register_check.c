/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_check.c - checks of the lists of a register layout, and of dims in arguments.
 */
#include "gpu/register/register.h"

/* ---- extents and dims --------------------------------------------------------------------------------------- */

tesela_status tesela__check_extents(int32_t rank, const int64_t *shape, int64_t *elements,
                                    tesela_error *err) {
  int64_t product = 1;
  if (rank < 0 || rank > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "the rank is %" PRId32 "; expected 0 to %d", rank,
                        TESELA_MAX_RANK);
  for (int32_t d = 0; d < rank; d++)
    if (shape[d] < 1)
      return tesela__refuse(err, TESELA_E_RANGE, TESELA_REASON_SHAPE_NOT_POSITIVE,
                            "extent %" PRId32 " of the shape is %" PRId64 "; expected 1 or more", d,
                            shape[d]);
  for (int32_t d = 0; d < rank; d++)
    if (!tesela__mul(product, shape[d], &product))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of elements does not fit in 64 bits");
  *elements = product;
  return TESELA_OK;
}

tesela_status tesela__dims(int32_t rank, int32_t n, const int64_t *dims, uint32_t *bits, int32_t *order,
                           tesela_error *err) {
  uint32_t seen = 0;
  for (int32_t i = 0; i < n; i++) {
    int64_t d = dims[i] < 0 ? dims[i] + rank : dims[i];
    if (d < 0 || d >= rank)
      return tesela__refuse(err, TESELA_E_RANGE, TESELA_REASON_DIM_OUT_OF_RANGE,
                            "dim %" PRId64 " is out of range; the rank is %" PRId32, dims[i], rank);
    if (seen >> d & 1)
      return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_DIM_DUPLICATE,
                            "dim %" PRId64 " is listed twice", d);
    seen |= UINT32_C(1) << d;
    if (order) order[i] = (int32_t)d;
  }
  *bits = seen;
  return TESELA_OK;
}

/* ---- modes -------------------------------------------------------------------------------------------------- */

tesela_status tesela__modes_of_dims(int32_t rank, const int64_t *shape, int32_t n_modes,
                                    const int64_t *mode_shape, int32_t *first, tesela_error *err) {
  int32_t m = 0;
  for (int32_t d = 0; d < rank; d++) {
    int64_t left = shape[d];
    first[d] = m;
    for (; m < n_modes && (left > 1 || mode_shape[m] == 1); left /= mode_shape[m++])
      if (left % mode_shape[m] != 0)
        return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE,
                              "mode %" PRId32 " is %" PRId64 "; it must divide %" PRId64
                              ", the rest of the %" PRId64 " of dim %" PRId32,
                              m, mode_shape[m], left, shape[d], d);
    if (left > 1)
      return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE,
                            "the modes end with %" PRId64 " left of the %" PRId64 " of dim %" PRId32, left,
                            shape[d], d);
  }
  first[rank] = m;
  while (m < n_modes && mode_shape[m] == 1) m++; /* rank 0 */
  if (m < n_modes)
    return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE,
                          "mode %" PRId32 " is %" PRId64 ", but earlier modes cover all dims", m,
                          mode_shape[m]);
  first[rank] = m;
  return TESELA_OK;
}

void tesela__register_dims(const tesela_register *layout, int32_t *first) {
  int32_t m = 0;
  for (int32_t d = 0; d < layout->rank; d++) {
    first[d] = m;
    for (int64_t have = 1; m < layout->n_modes && (have < layout->shape[d] || layout->mode_shape[m] == 1);
         m++)
      have *= layout->mode_shape[m];
  }
  first[layout->rank] = layout->n_modes;
}

/* ---- lists -------------------------------------------------------------------------------------------------- */

static tesela_status check_counts(const tesela_register *layout, tesela_error *err) {
  const struct {
    const char *name;
    int32_t n;
  } counts[] = {{"mode_shape", layout->n_modes},
                {"spatial_modes", layout->n_spatial},
                {"local_modes", layout->n_local}};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    if (counts[i].n < 0 || counts[i].n > TESELA_REGISTER_MODES)
      return tesela__fail(err, TESELA_E_LIMIT, -1, "%s has %" PRId32 " entries; expected 0 to %d",
                          counts[i].name, counts[i].n, TESELA_REGISTER_MODES);
  for (int32_t m = 0; m < layout->n_modes; m++)
    if (layout->mode_shape[m] < 1)
      return tesela__refuse(err, TESELA_E_RANGE, TESELA_REASON_MODE_NOT_POSITIVE,
                            "mode %" PRId32 " is %" PRId64 "; expected 1 or more", m, layout->mode_shape[m]);
  return TESELA_OK;
}

/* Record that a list contains mode m. */
static tesela_status place_mode(uint64_t *placed, int32_t m, tesela_error *err) {
  if (*placed >> m & 1)
    return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_MODE_USED_TWICE,
                          "mode %" PRId32 " is listed twice in spatial_modes and local_modes", m);
  *placed |= UINT64_C(1) << m;
  return TESELA_OK;
}

static tesela_status check_lists(const tesela_register *layout, tesela_error *err) {
  uint64_t placed = 0;
  int32_t n = layout->n_modes;
  tesela_status status = TESELA_OK;
  for (int32_t i = 0; i < layout->n_spatial && status == TESELA_OK; i++) {
    int64_t mode = layout->spatial_modes[i];
    if (mode >= n)
      return tesela__refuse(err, TESELA_E_RANGE, TESELA_REASON_SPATIAL_MODE_OUT_OF_RANGE,
                            "spatial_modes lists mode %" PRId64 "; there are %" PRId32, mode, n);
    if (mode >= 0) status = place_mode(&placed, (int32_t)mode, err);
  }
  for (int32_t i = 0; i < layout->n_local && status == TESELA_OK; i++) {
    int32_t mode = layout->local_modes[i];
    if (mode < 0 || mode >= n)
      return tesela__refuse(err, TESELA_E_RANGE, TESELA_REASON_LOCAL_MODE_OUT_OF_RANGE,
                            "local_modes lists mode %" PRId32 "; there are %" PRId32, mode, n);
    status = place_mode(&placed, mode, err);
  }
  for (int32_t m = 0; m < n && status == TESELA_OK; m++)
    if (!(placed >> m & 1) && layout->mode_shape[m] > 1)
      return tesela__refuse(err, TESELA_E_INVALID, TESELA_REASON_MODE_NOT_PLACED,
                            "mode %" PRId32 " (extent %" PRId64
                            ") is in neither spatial_modes nor local_modes",
                            m, layout->mode_shape[m]);
  return status;
}

tesela_status tesela__register_sizes(tesela_register *layout, tesela_error *err) {
  int64_t threads = 1, registers = 1, both;
  bool fits = true;
  for (int32_t i = 0; i < layout->n_spatial && fits; i++) {
    int64_t mode = layout->spatial_modes[i];
    fits = mode >= 0 ? tesela__mul(threads, layout->mode_shape[mode], &threads)
                     : tesela__sub(0, mode, &mode) && tesela__mul(threads, mode, &threads);
  }
  for (int32_t i = 0; i < layout->n_local && fits; i++)
    fits = tesela__mul(registers, layout->mode_shape[layout->local_modes[i]], &registers);
  if (!fits || !tesela__mul(threads, registers, &both))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "threads times registers do not fit in 64 bits");
  layout->spatial_size = threads;
  layout->local_size = registers;
  return TESELA_OK;
}

tesela_status tesela__register_accept(tesela_register *layout, tesela_error *err) {
  int64_t elements;
  int32_t first[TESELA_MAX_RANK + 1];
  tesela_status status = tesela__check_extents(layout->rank, layout->shape, &elements, err);
  if (status == TESELA_OK) status = check_counts(layout, err);
  if (status == TESELA_OK)
    status =
        tesela__modes_of_dims(layout->rank, layout->shape, layout->n_modes, layout->mode_shape, first, err);
  if (status == TESELA_OK) status = check_lists(layout, err);
  return status == TESELA_OK ? tesela__register_sizes(layout, err) : status;
}

tesela_status tesela_register_check(const tesela_register *layout, tesela_error *err) {
  TESELA__NEED(err, layout);
  tesela_register copy = *layout;
  tesela_status status = tesela__register_accept(&copy, err);
  if (status != TESELA_OK) return status;
  if (copy.spatial_size != layout->spatial_size || copy.local_size != layout->local_size)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "the lists give %" PRId64 " threads and %" PRId64
                        " registers, but the sizes are %" PRId64 " and %" PRId64,
                        copy.spatial_size, copy.local_size, layout->spatial_size, layout->local_size);
  return TESELA_OK;
}
