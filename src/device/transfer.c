/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer.c - moves tensors between host and device order, and between device layouts, by a relayout plan; handles
 * types, padding, integers that do not fit, and overlapping buffers.
 */
#include "device/transfer.h"

struct tesela_transfer {
  tesela_allocator allocator;
  tesela_plan *plan;
  tesela_layout src;
  bool looks; /* src is searched for integers that do not fit */
  tesela__look look;
  tesela_transfer_facts facts;
};

tesela_status tesela__transfer_host_layout(const tesela_device_host *host, const int64_t *strides,
                                           int64_t offset, tesela_layout *out, tesela_error *err) {
  return tesela_layout_strided(out, host->dtype, host->bits, host->rank, host->shape, strides, offset, err);
}

/* ---- creation ------------------------------------------------------------------------------------------------ */

static tesela_status transfer_plan_options(tesela_plan_options *plan, const tesela_transfer_options *options,
                                           const tesela_layout *dst, const tesela_layout *src,
                                           tesela_error *err) {
  *plan = (tesela_plan_options){
      .fill = TESELA_FILL_LEAVE, .threads = options->threads, .allocator = options->allocator};
  if (dst->dtype != src->dtype || dst->bits != src->bits) plan->transform = TESELA_TRANSFORM_CONVERT;
  if (options->pad == TESELA_PAD_LEAVE) return TESELA_OK;
  plan->fill = options->pad == TESELA_PAD_ZERO ? TESELA_FILL_ZERO : TESELA_FILL_VALUE;
  return tesela__transfer_pad_bits(options->pad, options->value, dst->dtype, dst->bits, plan->fill_value,
                                   err);
}

static tesela_status transfer_make(tesela_transfer **out, const tesela_layout *dst, const tesela_layout *src,
                                   const tesela_transfer_options *options, tesela_error *err) {
  tesela_plan_options plan_options;
  tesela_plan *plan = NULL;
  tesela_status status = transfer_plan_options(&plan_options, options, dst, src, err);
  if (status == TESELA_OK) status = tesela_plan_create(&plan, dst, src, &plan_options, err);
  if (status != TESELA_OK) return status;
  tesela_allocator allocator = tesela__allocator(options->allocator);
  tesela_transfer *made = tesela__alloc(&allocator, sizeof *made, alignof(tesela_transfer));
  if (!made) {
    tesela_plan_destroy(plan);
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a transfer of %zu bytes", sizeof *made);
  }
  *made = (tesela_transfer){.allocator = allocator, .plan = plan, .src = *src};
  tesela_transfer_facts *facts = &made->facts;
  tesela_plan_describe(plan, &facts->plan);
  made->look = (tesela__look){.src = &made->src, .to = dst->dtype, .threads = facts->plan.threads};
  made->looks =
      !options->lossy && tesela__transfer_narrows(src->dtype, dst->dtype, &made->look.low, &made->look.high);
  if (made->looks) status = tesela__look_make(&made->look, &made->allocator, err);
  if (status != TESELA_OK) {
    tesela_transfer_destroy(made);
    return status;
  }
  facts->elements = 1;
  for (int32_t d = 0; d < dst->rank; d++) facts->elements *= dst->shape[d]; /* fits: tesela_layout_begin */
  facts->bytes_read = facts->plan.bytes_read;
  facts->bytes_written = facts->plan.bytes_written;
  facts->src_bytes = facts->plan.src_bytes;
  facts->dst_bytes = facts->plan.dst_bytes;
  *out = made;
  return TESELA_OK;
}

static const tesela_transfer_options transfer_defaults;

tesela_status tesela_transfer_to_device(tesela_transfer **out, const tesela_device_layout *layout,
                                        const int64_t *host_strides, int64_t host_offset,
                                        const tesela_transfer_options *options, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_CLEAR(err, options);
  tesela_layout host, device;
  tesela_status status = tesela__transfer_host_layout(&layout->host, host_strides, host_offset, &host, err);
  if (status == TESELA_OK) status = tesela_device_to_layout(layout, &device, err);
  if (status != TESELA_OK) return status;
  return transfer_make(out, &device, &host, options ? options : &transfer_defaults, err);
}

tesela_status tesela_transfer_to_host(tesela_transfer **out, const tesela_device_layout *layout,
                                      const int64_t *host_strides, int64_t host_offset,
                                      const tesela_transfer_options *options, tesela_error *err) {
  TESELA__NEED(err, out, layout);
  TESELA__NEED_CLEAR(err, options);
  tesela_layout host, device;
  tesela_transfer_options no_fill = options ? *options : transfer_defaults;
  no_fill.pad = TESELA_PAD_LEAVE; /* a host tensor has no padding */
  tesela_status status = tesela__transfer_host_layout(&layout->host, host_strides, host_offset, &host, err);
  if (status == TESELA_OK) status = tesela_device_to_layout(layout, &device, err);
  return status == TESELA_OK ? transfer_make(out, &host, &device, &no_fill, err) : status;
}

tesela_status tesela_transfer_between(tesela_transfer **out, const tesela_device_layout *dst,
                                      const tesela_device_layout *src, const tesela_transfer_options *options,
                                      tesela_error *err) {
  TESELA__NEED(err, out, dst, src);
  TESELA__NEED_CLEAR(err, options);
  tesela_layout to, from;
  tesela_status status = tesela_device_to_layout(dst, &to, err);
  if (status == TESELA_OK) status = tesela_device_to_layout(src, &from, err);
  return status == TESELA_OK ? transfer_make(out, &to, &from, options ? options : &transfer_defaults, err)
                             : status;
}

void tesela_transfer_destroy(tesela_transfer *transfer) {
  if (!transfer) return;
  tesela_allocator allocator = transfer->allocator;
  tesela_plan_destroy(transfer->plan);
  tesela__release(&allocator, transfer->look.box);
  tesela__release(&allocator, transfer);
}

tesela_transfer_facts tesela_transfer_facts_of(const tesela_transfer *transfer) {
  if (!transfer) return (tesela_transfer_facts){0};
  return transfer->facts;
}

/* ---- running ------------------------------------------------------------------------------------------------- */

static bool transfer_overlaps(const tesela_transfer *transfer, const void *dst, const void *src) {
  uintptr_t to = (uintptr_t)dst, from = (uintptr_t)src;
  if (transfer->facts.src_bytes == 0 || transfer->facts.dst_bytes == 0) return false;
  return to < from ? from - to < (uintptr_t)transfer->facts.dst_bytes
                   : to - from < (uintptr_t)transfer->facts.src_bytes;
}

/* The lowest byte of src that is read: earlier bytes need not exist. */
static int64_t transfer_first_byte(const tesela_layout *src) {
  int64_t first = src->axis[0].offset;
  for (int32_t i = 0; i < src->n_active; i++)
    if (src->digit[i].axis >= 0 && src->digit[i].stride < 0)
      first += (src->digit[i].extent - 1) * src->digit[i].stride; /* fits: tesela_layout_finish */
  return first * src->bits / 8;
}

tesela_status tesela_transfer_run(const tesela_transfer *transfer, void *dst, const void *src,
                                  const tesela_run_options *options, tesela_error *err) {
  TESELA__NEED(err, transfer);
  TESELA__NEED_LIST(err, dst, transfer->facts.dst_bytes);
  TESELA__NEED_LIST(err, src, transfer->facts.src_bytes);
  TESELA__NEED_CLEAR(err, options);
  TESELA__NEED_ROOM(err, transfer->facts.dst_bytes);
  TESELA__NEED_ROOM(err, transfer->facts.src_bytes);
  tesela_status status = TESELA_OK;
  if (transfer->looks)
    status = tesela__look_run(&transfer->look, src, options ? options->executor : NULL, err);
  if (status != TESELA_OK) return status;
  if (!transfer_overlaps(transfer, dst, src)) return tesela_plan_run(transfer->plan, dst, src, options, err);
  int64_t bytes = transfer->facts.src_bytes, first = transfer_first_byte(&transfer->src);
  unsigned char *copy = tesela__alloc(&transfer->allocator, (uint64_t)bytes, 64);
  if (!copy)
    return tesela__fail(err, TESELA_E_MEMORY, -1,
                        "no memory for a copy of the %" PRId64 " bytes of src, which dst overlaps", bytes);
  memcpy(copy + first, (const unsigned char *)src + first, (size_t)(bytes - first));
  status = tesela_plan_run(transfer->plan, dst, copy, options, err);
  tesela__release(&transfer->allocator, copy);
  return status;
}
