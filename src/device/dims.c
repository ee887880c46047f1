/* SPDX-License-Identifier: Apache-2.0 */
/* dims.c - a device layout from its device dims; checks that every element gets its own place. */
#include <string.h>

#include "device/device.h"

tesela__device_chain tesela__device_chain_of(int32_t n_dims, const tesela_device_dim *dims,
                                             int32_t host_dim) {
  tesela__device_chain chain = {0};
  for (int32_t j = 0; j < n_dims; j++) {
    if (dims[j].dim != host_dim) continue;
    int32_t at = chain.n++;
    for (; at > 0 && dims[chain.dim[at - 1]].step < dims[j].step; at--) chain.dim[at] = chain.dim[at - 1];
    chain.dim[at] = j;
  }
  return chain;
}

/* A host dim split along its chain. */
typedef struct dims_rest {
  int64_t rest, least; /* the range that remains; the smallest coordinate without a place */
  int32_t small;       /* the device dim that is too small for it, or -1 */
} dims_rest;

/* A coordinate below a digit's step has digit 0 there, so the smallest coordinate without a place is step * extent of a
 * digit that is too small. `ones`: dims of extent 1 are digits, too. */
static dims_rest dims_follow(const tesela_device_dim *dims, const tesela__device_chain *chain, int64_t size,
                             bool ones, int64_t reached[TESELA_DEVICE_DIMS]) {
  dims_rest left = {.rest = size, .least = INT64_MAX, .small = -1};
  for (int32_t k = 0; k < chain->n; k++) {
    const tesela_device_dim *dim = &dims[chain->dim[k]];
    bool digit = ones || dim->extent != 1;
    reached[chain->dim[k]] = digit ? tesela__ceil_div(left.rest, dim->step) : 1;
    int64_t first;
    if (reached[chain->dim[k]] > dim->extent && tesela__mul(dim->step, dim->extent, &first) &&
        first < left.least) {
      left.least = first;
      left.small = chain->dim[k];
    }
    if (digit) left.rest = tesela__min(left.rest, dim->step);
  }
  return left;
}

/* Check that every coordinate of a host dim has digits. Device dims of extent 1 are not digits; but if the others are
 * not enough, they count, so that the message can name one: the blocks of a dim that needs more than one block. */
static tesela_status dims_check_chain(const tesela_device_host *host, int32_t host_dim, int32_t n_dims,
                                      const tesela_device_dim *dims, int64_t reached[TESELA_DEVICE_DIMS],
                                      tesela_error *err) {
  tesela__device_chain chain = tesela__device_chain_of(n_dims, dims, host_dim);
  dims_rest left = dims_follow(dims, &chain, host->shape[host_dim], false, reached);
  if (left.small < 0 && left.rest <= 1) return TESELA_OK;
  left = dims_follow(dims, &chain, host->shape[host_dim], true, reached);
  int32_t small = left.small;
  if (small >= 0)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "device dim %d (step %lld, extent %lld) is too small for host dim %d of %lld: "
                        "coordinate %lld has no place",
                        small, (long long)dims[small].step, (long long)dims[small].extent, host_dim,
                        (long long)host->shape[host_dim], (long long)left.least);
  return tesela__fail(
      err, TESELA_E_INVALID, -1, "host dim %d of %lld has %s: coordinates 0 and 1 would share a place",
      host_dim, (long long)host->shape[host_dim], chain.n == 0 ? "no device dim" : "no device dim of step 1");
}

static tesela_status dims_check_ranges(const tesela_device_host *host, int32_t n_dims,
                                       const tesela_device_dim *dims, bool strided, tesela_error *err) {
  if (n_dims < 1 || n_dims > TESELA_DEVICE_DIMS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "%d device dims; expected 1 to %d", n_dims,
                        TESELA_DEVICE_DIMS);
  for (int32_t j = 0; j < n_dims; j++) {
    if (dims[j].dim < TESELA_DIM_REPLICATED || dims[j].dim >= host->rank)
      return tesela__fail(err, TESELA_E_RANGE, -1,
                          "device dim %d has host dim %d; expected 0 to %d, -1 or -2", j, dims[j].dim,
                          host->rank - 1);
    if (dims[j].extent < 0)
      return tesela__fail(err, TESELA_E_RANGE, -1, "device dim %d has extent %lld; expected 0 or more", j,
                          (long long)dims[j].extent);
    if (dims[j].dim >= 0 && dims[j].step < 1)
      return tesela__fail(err, TESELA_E_RANGE, -1, "device dim %d has step %lld; expected 1 or more", j,
                          (long long)dims[j].step);
    if (strided && dims[j].stride < 0)
      return tesela__fail(err, TESELA_E_RANGE, -1, "device dim %d has stride %lld; expected 0 or more", j,
                          (long long)dims[j].stride);
  }
  return TESELA_OK;
}

static tesela_status dims_row_major(tesela_device_layout *layout, tesela_error *err) {
  int64_t stride = 1;
  for (int32_t j = layout->n_dims; j-- > 0;) {
    layout->dim[j].stride = stride;
    if (!tesela__mul(stride, layout->dim[j].extent, &stride))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of places does not fit in 64 bits");
  }
  layout->places = stride;
  return TESELA_OK;
}

/* Given strides: count places up to the last digit of each dim, and check that digits in use do not meet. */
static tesela_status dims_strided(tesela_device_layout *layout, const int64_t *reached, tesela_error *err) {
  int64_t last = 0;
  bool empty = false;
  for (int32_t j = 0; j < layout->n_dims; j++) {
    int64_t span;
    empty = empty || layout->dim[j].extent == 0;
    if (layout->dim[j].extent > 0 && (!tesela__mul(layout->dim[j].extent - 1, layout->dim[j].stride, &span) ||
                                      !tesela__add(last, span, &last) || last == INT64_MAX))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of places does not fit in 64 bits");
  }
  layout->places = empty ? 0 : last + 1;
  int64_t room = 1, before = -1; /* by increasing stride: each stride is at least the room below it */
  for (int32_t done = 0; done < layout->n_dims; done++) {
    int32_t next = -1;
    for (int32_t j = layout->n_dims; j-- > 0;) { /* the inner of equal strides first */
      int64_t stride = layout->dim[j].stride, extent = reached[j];
      if (extent > 1 && stride > before && (next < 0 || stride < layout->dim[next].stride)) next = j;
      if (extent > 1 && next >= 0 && next != j && stride == layout->dim[next].stride)
        return tesela__fail(err, TESELA_E_INVALID, -1, "device dims %d and %d have the same stride %lld", j,
                            next, (long long)stride);
    }
    if (next < 0) break;
    before = layout->dim[next].stride;
    if (before < room)
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "device dim %d has stride %lld; expected %lld or more, the places of the dims "
                          "below it: elements could share a place",
                          next, (long long)before, (long long)room);
    room += (reached[next] - 1) * before; /* stays below `places` */
  }
  return TESELA_OK;
}

static tesela_status dims_check_sticks(tesela_device_layout *layout, tesela_error *err) {
  int64_t product = 1, stride = 1;
  if (layout->stick_dims < 1 || layout->stick_dims > layout->n_dims)
    return tesela__fail(err, TESELA_E_RANGE, -1, "%d stick dims; expected 1 to %d", layout->stick_dims,
                        layout->n_dims);
  bool sparse = true;
  for (int32_t k = 0; k < layout->stick_dims; k++) {
    const tesela_device_dim *dim = &layout->dim[layout->n_dims - 1 - k];
    sparse = sparse && dim->dim == TESELA_DIM_SYNTHETIC;
    if (dim->extent > 1 && dim->stride != stride)
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "device dim %d has stride %lld; expected %lld in a stick", layout->n_dims - 1 - k,
                          (long long)dim->stride, (long long)stride);
    stride = product = dim->extent <= layout->lanes ? product * dim->extent : layout->lanes + 1;
    if (product > layout->lanes) break;
  }
  if (product != layout->lanes)
    return tesela__fail(
        err, TESELA_E_INVALID, -1,
        "the last %d device dim%s do%s not multiply to the %lld lanes of a stick of %lld bytes",
        layout->stick_dims, layout->stick_dims == 1 ? "" : "s", layout->stick_dims == 1 ? "es" : "",
        (long long)layout->lanes, (long long)layout->host.stick_bytes);
  layout->format = sparse ? TESELA_STICKS_SPARSE : TESELA_STICKS_DENSE;
  return TESELA_OK;
}

tesela_status tesela_device_from_dims(tesela_device_layout *layout, const tesela_device_host *host,
                                      int32_t n_dims, const tesela_device_dim *dims, bool strided,
                                      int32_t stick_dims, tesela_error *err) {
  TESELA__NEED(err, layout, host);
  TESELA__NEED_LIST(err, dims, n_dims);
  tesela_device_layout made;
  memset(&made, 0, sizeof made);
  made.host = *host;
  for (int32_t d = host->rank < 0 ? 0 : host->rank; d < TESELA_MAX_RANK; d++) made.host.shape[d] = 0;
  made.n_dims = n_dims;
  made.stick_dims = stick_dims;
  tesela_status status = tesela__device_check_host(host, &made.lanes, err);
  if (status == TESELA_OK) status = dims_check_ranges(host, n_dims, dims, strided, err);
  if (status != TESELA_OK) return status;
  memcpy(made.dim, dims, (size_t)n_dims * sizeof *dims);
  int64_t reached[TESELA_DEVICE_DIMS] = {0}, elements;
  status = tesela__device_elements(host, &elements, err);
  for (int32_t d = 0; status == TESELA_OK && d < host->rank; d++)
    status = dims_check_chain(host, d, n_dims, made.dim, reached, err);
  for (int32_t j = 0; status == TESELA_OK && j < n_dims; j++) {
    if (made.dim[j].dim < 0) {
      made.dim[j].step = 0;
      reached[j] = made.dim[j].dim == TESELA_DIM_REPLICATED ? made.dim[j].extent : 1;
      if (made.dim[j].extent == 0 && elements > 0)
        status =
            tesela__fail(err, TESELA_E_INVALID, -1, "device dim %d has extent 0: no element has a place", j);
    }
  }
  if (status == TESELA_OK) status = strided ? dims_strided(&made, reached, err) : dims_row_major(&made, err);
  if (status == TESELA_OK) status = dims_check_sticks(&made, err);
  if (status == TESELA_OK) *layout = made;
  return status;
}
