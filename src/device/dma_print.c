/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_print.c - nests as source text and as three tuples.
 */
#include "device/dma.h"

/* One side of a move: device[192000 + i0 * 64000 + i1]. Loop variables are numbered from the outermost. */
static void dma_put_side(tesela__sink *sink, const char *name, int64_t offset, const int64_t *stride,
                         const tesela_nest *nest, bool innermost_first) {
  bool some = false;
  tesela__puts(sink, name);
  tesela__putc(sink, '[');
  if (offset != 0) {
    tesela__put_int(sink, offset);
    some = true;
  }
  for (int32_t i = 0; i < nest->n; i++) {
    int64_t step = stride[innermost_first ? nest->n - 1 - i : i];
    if (step == 0) continue;
    if (some)
      tesela__puts(sink, step < 0 ? " - " : " + ");
    else if (step < 0)
      tesela__putc(sink, '-');
    tesela__putf(sink, "i%" PRId32, i);
    if (step != 1 && step != -1)
      tesela__putf(sink, " * %" PRIu64, step < 0 ? 0 - (uint64_t)step : (uint64_t)step);
    some = true;
  }
  if (!some) tesela__putc(sink, '0');
  tesela__putc(sink, ']');
}

tesela_status tesela_dma_print(const tesela_dma *dma, const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, dma, to);
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  for (size_t k = 0; k < dma->list.n; k++) {
    const tesela_nest *nest = &dma->list.nest[k];
    for (int32_t i = 0; i < nest->n; i++) {
      int64_t range = nest->range[dma->innermost_first ? nest->n - 1 - i : i];
      tesela__putf(&sink, "%*sfor (i%" PRId32 " = 0; i%" PRId32 " < %" PRId64 "; i%" PRId32 "++)\n",
                   2 * (int)i, "", i, i, range, i);
    }
    tesela__putf(&sink, "%*s", 2 * (int)nest->n, "");
    bool to_host = dma->direction == TESELA_DMA_TO_HOST && !dma->padding;
    if (to_host) {
      dma_put_side(&sink, "host", nest->host_offset, nest->host_stride, nest, dma->innermost_first);
      tesela__puts(&sink, " = ");
    }
    dma_put_side(&sink, "device", nest->device_offset, nest->device_stride, nest, dma->innermost_first);
    if (dma->padding)
      tesela__puts(&sink, " = fill");
    else if (!to_host) {
      tesela__puts(&sink, " = ");
      dma_put_side(&sink, "host", nest->host_offset, nest->host_stride, nest, dma->innermost_first);
    }
    tesela__puts(&sink, ";\n");
  }
  return tesela__sink_finish(&sink, err);
}

static void dma_put_tuple(tesela__sink *sink, int32_t n, const int64_t *number) {
  tesela__putc(sink, '(');
  for (int32_t i = 0; i < n; i++) {
    if (i > 0) tesela__putc(sink, ' ');
    tesela__put_int(sink, number[i]);
    if (i + 1 < n || n == 1) tesela__putc(sink, ',');
  }
  tesela__putc(sink, ')');
}

tesela_status tesela_dma_print_tuples(const tesela_nest *nest, const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, nest, to);
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  tesela__putc(&sink, '(');
  dma_put_tuple(&sink, nest->n, nest->range);
  tesela__puts(&sink, ", ");
  dma_put_tuple(&sink, nest->n, nest->device_stride);
  tesela__puts(&sink, ", ");
  dma_put_tuple(&sink, nest->n, nest->host_stride);
  tesela__putc(&sink, ')');
  return tesela__sink_finish(&sink, err);
}
