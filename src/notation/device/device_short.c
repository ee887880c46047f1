/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_short.c - device layouts in the short form: f16[1000,200] stick(dim_order=[0,1]).
 *
 * Tries in turn: an order of dims, from where each arrangement puts them; the same with padded dims; the device dims
 * themselves. Prints the first that gives the layout.
 */
#include "notation/device/device_read.h"

/* ---- pieces of all forms ---- */

void tesela__device_put_list(tesela__sink *sink, const char *between, int32_t n, const int64_t *number) {
  for (int32_t i = 0; i < n; i++) {
    if (i > 0) tesela__puts(sink, between);
    tesela__put_int(sink, number[i]);
  }
}

void tesela__device_put_host(tesela__sink *sink, const tesela_device_host *host) {
  tesela__puts(sink, tesela_dtype_name(host->dtype));
  tesela__putc(sink, '[');
  tesela__device_put_list(sink, ",", host->rank, host->shape);
  tesela__putc(sink, ']');
}

/* ---- types: from a target, else as fields ---- */

static bool device_target_says(const tesela_device_host *host, const tesela_target *target, bool stick) {
  tesela_device_host made;
  return tesela_device_host_of(&made, target, host->dtype, host->rank, host->shape, NULL) == TESELA_OK &&
         made.device_dtype == host->device_dtype && made.bits == host->bits &&
         made.device_bits == host->device_bits && (!stick || made.stick_bytes == host->stick_bytes);
}

/* Set target and stick bytes, and the device type if no target stores the host's type that way. */
static void device_short_types(const tesela_device_host *host, tesela__device_text *text) {
  const tesela_target *target;
  for (int32_t exact = 1; exact >= 0; exact--) {
    for (int32_t k = 0; (target = tesela_target_at(k)) != NULL; k++) {
      if (!device_target_says(host, target, exact == 1)) continue;
      text->target = target;
      if (k > 0) tesela__device_say(text, TESELA__DEVICE_TARGET);
      if (!exact) tesela__device_say(text, TESELA__DEVICE_STICK);
      text->stick = host->stick_bytes;
      return;
    }
  }
  text->target = tesela_target_at(0);
  text->device_dtype = host->device_dtype;
  text->device_bits = host->device_bits;
  text->stick = host->stick_bytes;
  tesela__device_say(text, TESELA__DEVICE_DEVICE_DTYPE);
  if (host->device_bits != 8 * tesela_dtype_bytes(host->device_dtype))
    tesela__device_say(text, TESELA__DEVICE_DEVICE_BITS);
  if (host->stick_bytes != text->target->stick_bytes) tesela__device_say(text, TESELA__DEVICE_STICK);
}

/* ---- the order of the dims ---- */

/* The dim_order of an arrangement: host dims from the leading device dims, then the stick dim. */
static void device_short_order(const tesela_device_layout *layout, tesela_order order, int32_t n,
                               tesela__device_list *dim_order) {
  int32_t front[TESELA_DEVICE_DIMS], m = 0; /* host dims of the device dims other than blocks and lanes */
  int32_t blocks = order == TESELA_ORDER_STICK_OUTER || n < 2      ? 0
                   : order == TESELA_ORDER_GENERIC_JAN26 && n == 4 ? 1
                                                                   : n - 2;
  int32_t stick = layout->dim[layout->n_dims - 1].dim;
  for (int32_t j = 0; j < layout->n_dims - 1 && m < n - 1; j++)
    if (order == TESELA_ORDER_TILES || j != blocks) front[m++] = layout->dim[j].dim;
  bool turned = order == TESELA_ORDER_GENERIC ||
                (order == TESELA_ORDER_GENERIC_JAN26 && n != 4); /* dim_order[0] comes last */
  dim_order->n = n;
  for (int32_t k = 0; k < m; k++) dim_order->number[k] = turned ? front[(k + m - 1) % m] : front[k];
  if (n > 0) dim_order->number[n - 1] = stick;
}

/* The extent of each host dim on the device, with its padding. */
static void device_short_padding(const tesela_device_layout *layout, tesela__device_text *text) {
  text->padding = (tesela_device_padding){{0}};
  for (int32_t j = 0; j < layout->n_dims; j++) {
    const tesela_device_dim *dim = &layout->dim[j];
    int64_t whole;
    if (dim->dim < 0 || !tesela__mul(dim->step, dim->extent, &whole)) continue;
    if (whole > text->padding.to[dim->dim]) text->padding.to[dim->dim] = whole;
  }
}

/* Drop extents that the arrangement gives without pad_to. */
static void device_trim_padding(const tesela_device_layout *layout, tesela__device_text *text) {
  for (int32_t d = 0; d < layout->host.rank; d++) {
    int64_t to = text->padding.to[d];
    if (to == 0) continue;
    text->padding.to[d] = 0;
    if (!tesela__device_says(text, layout)) text->padding.to[d] = to;
  }
}

static bool device_short_ordered(const tesela_device_layout *layout, tesela__device_text *text) {
  bool sparse = layout->dim[layout->n_dims - 1].dim == TESELA_DIM_SYNTHETIC;
  int32_t rank = layout->host.rank, n = rank + (sparse && rank > 0);
  tesela__device_say(text, TESELA__DEVICE_DIM_ORDER);
  for (int32_t padded = 0; padded < 2; padded++) {
    if (padded) tesela__device_say(text, TESELA__DEVICE_PAD_TO);
    for (int32_t o = -1; tesela_order_name((tesela_order)tesela__max(o, 0)); o++) { /* -1: the target's */
      bool own = o < 0;
      text->order = own ? text->target->order : (tesela_order)o;
      text->seen &= ~((uint32_t)1 << TESELA__DEVICE_ORDER);
      if (!own) tesela__device_say(text, TESELA__DEVICE_ORDER);
      if (text->order == TESELA_ORDER_TILES && layout->host.rank == 1) n = rank;
      device_short_order(layout, text->order, n, &text->dim_order);
      if (padded) device_short_padding(layout, text);
      if (!tesela__device_says(text, layout)) continue;
      if (padded) device_trim_padding(layout, text);
      return true;
    }
  }
  uint32_t none = ((uint32_t)1 << TESELA__DEVICE_DIM_ORDER) | ((uint32_t)1 << TESELA__DEVICE_ORDER) |
                  ((uint32_t)1 << TESELA__DEVICE_PAD_TO);
  text->seen &= ~none;
  return false;
}

/* ---- the device dims themselves ---- */

static bool device_short_dims(const tesela_device_layout *layout, tesela__device_text *text) {
  int64_t stride = 1;
  bool row_major = true;
  for (int32_t j = layout->n_dims - 1; j >= 0; j--) {
    row_major = row_major && layout->dim[j].stride == stride;
    if (!tesela__mul(stride, layout->dim[j].extent, &stride)) row_major = false;
    text->strides.number[j] = layout->dim[j].stride;
  }
  tesela__device_say(text, TESELA__DEVICE_DIMS);
  text->n_dims = text->strides.n = layout->n_dims;
  memcpy(text->dim, layout->dim, sizeof text->dim);
  text->stick_dims = layout->stick_dims;
  if (layout->stick_dims != 1) tesela__device_say(text, TESELA__DEVICE_STICK_DIMS);
  if (!row_major) tesela__device_say(text, TESELA__DEVICE_DEVICE_STRIDES);
  return tesela__device_says(text, layout);
}

/* ---- printing ---- */

/* A separator, the name of a field and `=`, if the field is present. */
static bool device_put_name(tesela__sink *sink, const tesela__device_text *text, tesela__device_field field,
                            const char *name, bool *any) {
  if (!tesela__device_has(text, field)) return false;
  if (*any) tesela__puts(sink, ", ");
  *any = true;
  tesela__puts(sink, name);
  tesela__putc(sink, '=');
  return true;
}

static void device_put_pads(tesela__sink *sink, const tesela_device_padding *padding) {
  bool any = false;
  tesela__putc(sink, '{');
  for (int32_t d = 0; d < TESELA_MAX_RANK; d++) {
    if (padding->to[d] == 0) continue;
    tesela__putf(sink, "%s%" PRId32 ":%" PRId64, any ? "," : "", d, padding->to[d]);
    any = true;
  }
  tesela__putc(sink, '}');
}

static void device_put_dims(tesela__sink *sink, int32_t n, const tesela_device_dim *dims) {
  tesela__putc(sink, '[');
  for (int32_t j = 0; j < n; j++)
    tesela__putf(sink, "%s(%" PRId32 ",%" PRId64 ",%" PRId64 ")", j > 0 ? "," : "", dims[j].dim, dims[j].step,
                 dims[j].extent);
  tesela__putc(sink, ']');
}

static void device_put_numbers(tesela__sink *sink, const tesela__device_list *list) {
  tesela__putc(sink, '[');
  tesela__device_put_list(sink, ",", list->n, list->number);
  tesela__putc(sink, ']');
}

static void device_put_short(tesela__sink *sink, const tesela__device_text *text) {
  bool any = false;
  tesela__puts(sink, " stick(");
  if (device_put_name(sink, text, TESELA__DEVICE_DIM_ORDER, "dim_order", &any))
    device_put_numbers(sink, &text->dim_order);
  if (device_put_name(sink, text, TESELA__DEVICE_DIMS, "dims", &any))
    device_put_dims(sink, text->n_dims, text->dim);
  if (device_put_name(sink, text, TESELA__DEVICE_STICK_DIMS, "stick_dims", &any))
    tesela__put_int(sink, text->stick_dims);
  if (device_put_name(sink, text, TESELA__DEVICE_DEVICE_STRIDES, "device_strides", &any))
    device_put_numbers(sink, &text->strides);
  if (device_put_name(sink, text, TESELA__DEVICE_ORDER, "order", &any))
    tesela__puts(sink, tesela_order_name(text->order));
  if (device_put_name(sink, text, TESELA__DEVICE_TARGET, "target", &any))
    tesela__puts(sink, text->target->name);
  if (device_put_name(sink, text, TESELA__DEVICE_STICK, "stick", &any)) tesela__put_int(sink, text->stick);
  if (device_put_name(sink, text, TESELA__DEVICE_DEVICE_DTYPE, "device_dtype", &any))
    tesela__puts(sink, tesela_dtype_name(text->device_dtype));
  if (device_put_name(sink, text, TESELA__DEVICE_DEVICE_BITS, "device_bits", &any))
    tesela__put_int(sink, text->device_bits);
  if (device_put_name(sink, text, TESELA__DEVICE_PAD_TO, "pad_to", &any))
    device_put_pads(sink, &text->padding);
  tesela__putc(sink, ')');
}

tesela_status tesela__device_print_short(const tesela_device_layout *layout, tesela__sink *sink,
                                         tesela_error *err) {
  const tesela_device_host *host = &layout->host;
  tesela__device_text text = {.form = TESELA__DEVICE_FORM_SHORT, .stick_dims = 1};
  if (tesela_dtype_bytes(host->dtype) == 0 || tesela_dtype_bytes(host->device_dtype) == 0 ||
      host->bits != 8 * tesela_dtype_bytes(host->dtype))
    return tesela__fail(
        err, TESELA_E_UNSUPPORTED, -1,
        "the short form begins with the type of the host tensor; this layout has only element widths");
  device_short_types(host, &text);
  text.have_host = true;
  text.dtype = host->dtype;
  text.rank = host->rank;
  memcpy(text.shape, host->shape, sizeof text.shape);
  if (!device_short_ordered(layout, &text) && !device_short_dims(layout, &text))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "the short form cannot express this layout");
  tesela__device_put_host(sink, host);
  device_put_short(sink, &text);
  return TESELA_OK;
}
