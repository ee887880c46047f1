/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_digits.c - the digits of a transfer: the digits of a device layout that vary, their host dims, and merged loops.
 *
 * A device dim whose digit is always 0 is left out here: blocks of a dim that fits one, the inner of two dims with
 * equal steps, synthetic dims. Two digits are one if they continue each other on both sides:
 *
 *   within a host dim      (64, stride 64) (1, stride 1)        the block dim steps 64 lanes and 64 places: one digit
 *   between host dims      h[0] = 64, h[1] = 1, size 64         first the two host dims become one, then as above
 */
#include "device/dma.h"

static tesela_status dma_check_dims(const tesela_device_layout *layout, tesela_error *err) {
  if (layout->n_dims < 0 || layout->n_dims > TESELA_DEVICE_DIMS)
    return tesela__fail(err, TESELA_E_RANGE, -1, "n_dims is %" PRId32 "; expected 0 to %d", layout->n_dims,
                        TESELA_DEVICE_DIMS);
  if (layout->host.rank < 0 || layout->host.rank > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_RANGE, -1, "rank is %" PRId32 "; expected 0 to %d", layout->host.rank,
                        TESELA_MAX_RANK);
  if (layout->host.device_bits < 8 || layout->host.device_bits % 8)
    return tesela__fail(err, TESELA_E_RANGE, -1, "device_bits is %" PRId32 "; expected whole bytes",
                        layout->host.device_bits);
  for (int32_t d = 0; d < layout->host.rank; d++)
    if (layout->host.shape[d] < 0)
      return tesela__fail(err, TESELA_E_RANGE, -1, "shape[%" PRId32 "] is %" PRId64 "; expected 0 or more", d,
                          layout->host.shape[d]);
  for (int32_t j = 0; j < layout->n_dims; j++) {
    const tesela_device_dim *dim = &layout->dim[j];
    if (dim->dim < TESELA_DIM_REPLICATED || dim->dim >= layout->host.rank)
      return tesela__fail(err, TESELA_E_RANGE, -1,
                          "device dim %" PRId32 " has host dim %" PRId32 "; the rank is %" PRId32, j,
                          dim->dim, layout->host.rank);
    if (dim->extent < 0 || dim->stride < 0 || (dim->dim >= 0 && dim->step < 1))
      return tesela__fail(err, TESELA_E_RANGE, -1,
                          "device dim %" PRId32 " has extent %" PRId64 ", step %" PRId64 ", stride %" PRId64
                          "; expected extents and strides of 0 or more, steps of 1 or more",
                          j, dim->extent, dim->step, dim->stride);
  }
  return TESELA_OK;
}

/* Device dims of host dim d with digits (extent above 1): largest step first, equal steps outer first. */
static int32_t dma_owned(const tesela_device_layout *layout, int32_t d, int8_t list[TESELA_DEVICE_DIMS]) {
  int32_t n = 0;
  for (int32_t j = 0; j < layout->n_dims; j++) {
    if (layout->dim[j].dim != d || layout->dim[j].extent == 1) continue;
    int32_t at = n++;
    for (; at > 0 && layout->dim[list[at - 1]].step < layout->dim[j].step; at--) list[at] = list[at - 1];
    list[at] = (int8_t)j;
  }
  return n;
}

/* The chain of host dim d with all its coordinates; only digits that vary. */
static tesela_status dma_chain_of(tesela__dma_digit_list *out, tesela__dma_chain *chain,
                                  const tesela_device_layout *layout, int32_t d, int64_t unit,
                                  tesela_error *err) {
  int8_t list[TESELA_DEVICE_DIMS];
  int64_t size = layout->host.shape[d], rest = size; /* digits so far leave 0 .. rest-1 */
  *chain = (tesela__dma_chain){.lo = 0, .hi = size, .size = size, .unit = unit};
  int32_t n = dma_owned(layout, d, list);
  for (int32_t k = 0; k < n; k++) {
    const tesela_device_dim *dim = &layout->dim[list[k]];
    int64_t most = (rest - 1) / dim->step;
    if (most >= dim->extent)
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "coordinate %" PRId64 " of host dim %" PRId32
                          " has no place: device dim %d has %" PRId64 " digits of step %" PRId64,
                          dim->extent ? dim->extent * dim->step : 0, d, list[k], dim->extent, dim->step);
    if (most > 0) {
      chain->digit[chain->n++] = (int8_t)out->n;
      out->digit[out->n++] = (tesela__dma_digit){dim->step, dim->stride, dim->step * unit, list[k]};
    }
    rest = tesela__min(rest, dim->step);
  }
  if (rest > 1)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "coordinate 1 of host dim %" PRId32 " has no place: no device dim has step 1", d);
  return TESELA_OK;
}

/* A chain with one coordinate becomes an offset. */
static void dma_fix(tesela__dma_digit_list *out, const tesela__dma_chain *chain, int64_t at) {
  for (int32_t k = 0; k < chain->n; k++) {
    const tesela__dma_digit *digit = &out->digit[chain->digit[k]];
    out->device_offset += at / digit->step * digit->device;
    at %= digit->step;
  }
}

/* Of two consecutive digits of a chain, does the outer one continue the inner one on the device? */
static bool dma_continues(const tesela__dma_digit *outer, int64_t outer_step,
                          const tesela__dma_digit *inner) {
  int64_t places;
  return outer_step % inner->step == 0 && tesela__mul(outer_step / inner->step, inner->device, &places) &&
         places == outer->device;
}

static void dma_fuse_within(tesela__dma_digit_list *out, tesela__dma_chain *chain) {
  for (int32_t k = 0; k + 1 < chain->n;) {
    const tesela__dma_digit *outer = &out->digit[chain->digit[k]];
    if (!dma_continues(outer, outer->step, &out->digit[chain->digit[k + 1]])) {
      k++;
      continue;
    }
    for (int32_t i = k; i + 1 < chain->n; i++) chain->digit[i] = chain->digit[i + 1];
    chain->n--;
    if (k > 0) k--;
  }
}

/* Merge `outer` into `inner` if both sides continue; the caller then drops `outer`. */
static bool dma_fuse_between(tesela__dma_digit_list *out, const tesela__dma_chain *outer,
                             tesela__dma_chain *inner) {
  int64_t pitch, lo, hi, size;
  if (inner->lo != 0 || inner->hi != inner->size) return false;
  if (!tesela__mul(inner->size, inner->unit, &pitch) || pitch != outer->unit) return false;
  if (!dma_continues(&out->digit[outer->digit[outer->n - 1]], inner->size, &out->digit[inner->digit[0]]))
    return false;
  if (!tesela__mul(outer->size, inner->size, &size)) return false;
  lo = outer->lo * inner->size, hi = outer->hi * inner->size; /* <= size */
  for (int32_t k = inner->n - 1; k >= 0; k--) inner->digit[k + outer->n] = inner->digit[k];
  for (int32_t k = 0; k < outer->n; k++) {
    inner->digit[k] = outer->digit[k];
    out->digit[outer->digit[k]].step *= inner->size; /* <= size */
  }
  inner->n += outer->n, inner->lo = lo, inner->hi = hi, inner->size = size;
  return true;
}

static void dma_fuse(tesela__dma_digit_list *out) {
  for (int32_t c = 0; c < out->n_chains; c++) dma_fuse_within(out, &out->chain[c]);
  for (bool again = true; again;) {
    again = false;
    for (int32_t a = 0; a < out->n_chains && !again; a++)
      for (int32_t b = 0; b < out->n_chains && !again; b++) {
        if (a == b || !dma_fuse_between(out, &out->chain[a], &out->chain[b])) continue;
        dma_fuse_within(out, &out->chain[b]);
        for (int32_t c = a; c + 1 < out->n_chains; c++) out->chain[c] = out->chain[c + 1];
        out->n_chains--;
        again = true;
      }
  }
}

/* Renumber the digits of all chains: merged digits and those that never vary are in no chain. */
static void dma_number(tesela__dma_digit_list *out) {
  tesela__dma_digit kept[TESELA__DMA_DIGITS];
  int32_t n = 0;
  for (int32_t c = 0; c < out->n_chains; c++)
    for (int32_t k = 0; k < out->chain[c].n; k++) {
      kept[n] = out->digit[out->chain[c].digit[k]];
      out->chain[c].digit[k] = (int8_t)n++;
    }
  memcpy(out->digit, kept, sizeof kept[0] * (size_t)n);
  out->n = n;
}

/* The strides of the host; checks that all offsets fit. */
static tesela_status dma_host(int64_t stride[TESELA_MAX_RANK], const tesela_device_host *host,
                              const int64_t *strides, int64_t offset, tesela_error *err) {
  int64_t low = tesela__min(offset, 0), high = tesela__max(offset, 0), pitch = 1, reach;
  for (int32_t d = host->rank - 1; d >= 0; d--) {
    stride[d] = strides ? strides[d] : pitch;
    if (!tesela__mul(pitch, host->shape[d], &pitch) && !strides) goto overflow;
    if (!tesela__mul(host->shape[d] - 1, stride[d], &reach)) goto overflow;
    if (!tesela__add(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) goto overflow;
  }
  if (!tesela__sub(high, low, &reach)) goto overflow;
  return TESELA_OK;
overflow:
  return tesela__fail(err, TESELA_E_OVERFLOW, -1, "offsets of the host tensor do not fit in 64 bits");
}

static tesela_status dma_box_of(int64_t *lo, int64_t *hi, const tesela_device_host *host, int32_t d,
                                const tesela_dma_options *options, tesela_error *err) {
  int64_t start = options->box_start ? options->box_start[d] : 0;
  if (start < 0 || start > host->shape[d])
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "box_start[%" PRId32 "] is %" PRId64 "; expected 0 to %" PRId64, d, start,
                        host->shape[d]);
  int64_t size = options->box_size ? options->box_size[d] : host->shape[d] - start;
  if (size < 0 || size > host->shape[d] - start)
    return tesela__fail(err, TESELA_E_RANGE, -1,
                        "box_size[%" PRId32 "] is %" PRId64 "; from %" PRId64 " on, expected 0 to %" PRId64,
                        d, size, start, host->shape[d] - start);
  *lo = start, *hi = start + size;
  return TESELA_OK;
}

/* Each replicated dim becomes a chain, unless only the first copy moves; synthetic dims need only digit 0. */
static tesela_status dma_free_dims(tesela__dma_digit_list *out, const tesela_device_layout *layout,
                                   bool first_copy, tesela_error *err) {
  for (int32_t j = 0; j < layout->n_dims; j++) {
    const tesela_device_dim *dim = &layout->dim[j];
    if (dim->dim >= 0) continue;
    if (dim->extent < 1)
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "device dim %" PRId32 " has extent 0, but the tensor has elements", j);
    if (dim->dim == TESELA_DIM_SYNTHETIC || dim->extent == 1 || first_copy) continue;
    tesela__dma_chain *chain = &out->chain[out->n_chains++];
    *chain = (tesela__dma_chain){.lo = 0, .hi = dim->extent, .size = dim->extent, .unit = 0, .n = 1};
    chain->digit[0] = (int8_t)out->n;
    out->digit[out->n++] = (tesela__dma_digit){1, dim->stride, 0, j};
  }
  return TESELA_OK;
}

/* Check that the place of the largest digits fits 64 bits: later sums of device offsets need no checks. */
static tesela_status dma_check_places(const tesela__dma_digit_list *digits, tesela_error *err) {
  int64_t last = 0;
  for (int32_t c = 0; c < digits->n_chains; c++) {
    int64_t rest = digits->chain[c].size, reach;
    for (int32_t k = 0; k < digits->chain[c].n; k++) {
      const tesela__dma_digit *digit = &digits->digit[digits->chain[c].digit[k]];
      if (!tesela__mul((rest - 1) / digit->step, digit->device, &reach) || !tesela__add(last, reach, &last))
        return tesela__fail(err, TESELA_E_OVERFLOW, -1, "device places do not fit in 64 bits");
      rest = tesela__min(rest, digit->step);
    }
  }
  return TESELA_OK;
}

tesela_status tesela__dma_digits(tesela__dma_digit_list *out, const tesela_device_layout *layout,
                                 const int64_t *host_strides, int64_t host_offset,
                                 const tesela_dma_options *options, bool fuse, tesela_error *err) {
  int64_t unit[TESELA_MAX_RANK];
  out->n = out->n_chains = 0;
  out->device_offset = 0, out->host_offset = host_offset, out->empty = false;
  tesela_status status = dma_check_dims(layout, err);
  if (status != TESELA_OK) return status;
  const tesela_device_host *host = &layout->host;
  int64_t lo[TESELA_MAX_RANK], hi[TESELA_MAX_RANK];
  bool none = false;
  for (int32_t d = 0; d < host->rank; d++) {
    status = dma_box_of(&lo[d], &hi[d], host, d, options, err);
    if (status != TESELA_OK) return status;
    out->empty |= lo[d] == hi[d];
    none |= host->shape[d] == 0;
  }
  if (none) return TESELA_OK;
  status = dma_host(unit, host, host_strides, host_offset, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < host->rank; d++) {
    tesela__dma_chain *chain = &out->chain[out->n_chains];
    status = dma_chain_of(out, chain, layout, d, unit[d], err);
    if (status != TESELA_OK) return status;
    out->n_chains += chain->n > 0;
    if (chain->n > 0) chain->lo = lo[d], chain->hi = hi[d];
  }
  status = dma_free_dims(out, layout, options->direction == TESELA_DMA_TO_HOST && !options->padding, err);
  if (status == TESELA_OK) status = dma_check_places(out, err);
  if (status != TESELA_OK || out->empty) return status;
  int32_t n = 0;
  for (int32_t c = 0; c < out->n_chains; c++) {
    const tesela__dma_chain *chain = &out->chain[c];
    if (chain->hi - chain->lo > 1) {
      if (n != c) out->chain[n] = *chain;
      n++;
      continue;
    }
    dma_fix(out, chain, chain->lo);
    out->host_offset += chain->lo * chain->unit;
  }
  out->n_chains = n;
  if (fuse) dma_fuse(out);
  dma_number(out);
  return TESELA_OK;
}
