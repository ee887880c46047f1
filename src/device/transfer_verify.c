/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer_verify.c - compares a dump of device memory with the host tensor.
 *
 * The host tensor is converted to the device's type, dense and row-major. Then both are compared once in row-major
 * order; after a difference, the dense tensor is searched for the value found at the first one.
 */
#include "device/transfer.h"

#include <tesela/relayout.h>

/* The host tensor in the device's type, row-major. */
static tesela_status verify_expected(const tesela_device_layout *layout, const int64_t *host_strides,
                                     int64_t host_offset, const void *host, const tesela_run_options *run,
                                     const tesela_allocator *allocator, tesela_layout *dense,
                                     unsigned char **values, tesela_error *err) {
  tesela_layout from;
  tesela_plan *plan = NULL;
  tesela_sizes sizes;
  const tesela_device_host *h = &layout->host;
  tesela_status status = tesela__transfer_host_layout(h, host_strides, host_offset, &from, err);
  if (status == TESELA_OK)
    status = tesela_layout_strided(dense, h->device_dtype, h->device_bits, h->rank, h->shape, NULL, 0, err);
  if (status == TESELA_OK) status = tesela_layout_sizes(dense, &sizes, err);
  if (status != TESELA_OK) return status;
  TESELA__NEED_LIST(err, host, sizes.bytes);
  tesela_plan_options options = {.fill = TESELA_FILL_LEAVE, .allocator = allocator};
  if (h->dtype != h->device_dtype || h->bits != h->device_bits) options.transform = TESELA_TRANSFORM_CONVERT;
  status = tesela_plan_create(&plan, dense, &from, &options, err);
  if (status != TESELA_OK) return status;
  *values = tesela__alloc(allocator, (uint64_t)sizes.bytes, 64);
  if (*values)
    status = tesela_plan_run(plan, *values, host, run, err);
  else
    status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the %" PRId64 " bytes of the tensor",
                          sizes.bytes);
  tesela_plan_destroy(plan);
  if (status == TESELA_OK) return TESELA_OK;
  tesela__release(allocator, *values);
  *values = NULL;
  return status;
}

/* The first element, row-major, whose bits are m->found. false: stopped by run->progress. */
static bool verify_find_source(const tesela_layout *dense, const unsigned char *values,
                               const tesela_run_options *run, tesela_misplaced *m) {
  size_t bytes = (size_t)dense->bits / 8;
  int64_t elements = 1;
  for (int32_t d = 0; d < dense->rank; d++) elements *= dense->shape[d];
  int64_t e = 0;
  for (; e < elements && memcmp(values + (size_t)e * bytes, m->found, bytes) != 0; e++)
    if (e % (1 << 20) == 0 && run && run->progress && run->progress(run->progress_user, e, elements) != 0)
      return false;
  m->have_source = e < elements;
  for (int32_t d = dense->rank - 1; d >= 0 && m->have_source; d--) {
    m->source[d] = e % dense->shape[d];
    e /= dense->shape[d];
  }
  return true;
}

tesela_status tesela_transfer_verify(const tesela_device_layout *layout, const void *dump, int64_t dump_bytes,
                                     const int64_t *host_strides, int64_t host_offset, const void *host,
                                     tesela_misplaced *misplaced, const tesela_run_options *options,
                                     const tesela_allocator *allocator, tesela_error *err) {
  TESELA__NEED(err, layout, misplaced);
  TESELA__NEED_CLEAR(err, options);
  TESELA__NEED_LIST(err, dump, dump_bytes);
  tesela_layout device, dense;
  tesela_sizes sizes;
  unsigned char *values = NULL;
  tesela_allocator memory = tesela__allocator(allocator);
  tesela_status status = tesela_device_to_layout(layout, &device, err);
  if (status == TESELA_OK) status = tesela_layout_sizes(&device, &sizes, err);
  if (status != TESELA_OK) return status;
  if (dump_bytes < sizes.bytes)
    return tesela__fail(err, TESELA_E_RANGE, -1, "the dump has %" PRId64 " bytes; the layout needs %" PRId64,
                        dump_bytes, sizes.bytes);
  status = verify_expected(layout, host_strides, host_offset, host, options, &memory, &dense, &values, err);
  if (status != TESELA_OK) return status;
  tesela_values_difference difference;
  status = tesela_values_compare(&dense, values, &device, dump, &difference, options, err);
  if (status == TESELA_OK) {
    tesela_misplaced m = {.same = difference.same, .n_different = difference.n_different, .place = -1};
    if (!m.same) {
      m.place = difference.place_b;
      memcpy(m.index, difference.index, sizeof m.index);
      memcpy(m.expected, difference.a, sizeof m.expected);
      memcpy(m.found, difference.b, sizeof m.found);
      m.is_padding_value = true;
      for (size_t i = 0; i < sizeof m.found; i++) m.is_padding_value = m.is_padding_value && m.found[i] == 0;
      if (!verify_find_source(&dense, values, options, &m)) status = tesela__fail_stopped(err);
    }
    if (status == TESELA_OK) *misplaced = m;
  }
  tesela__release(&memory, values);
  return status;
}
