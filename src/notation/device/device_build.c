/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_build.c - from the fields of a text to a device layout, through the constructors of device.h.
 *
 * A dim_map has no steps. Lanes get step 1, the other device dim of their host dim counts blocks of lanes, and all
 * others get step 1. A host dim with several device dims in the stick, or several outside it, is refused.
 */
#include "notation/device/device_read.h"

/* ---- dim_map ---- */

/* Device dims from the innermost outwards: a step is the product of the inner extents of the same host dim. */
static tesela_status device_map_dims(const tesela__device_building *b, tesela_device_dim *dims) {
  const tesela__device_text *text = b->text;
  int64_t inner[TESELA_MAX_RANK];
  int32_t cuts[2][TESELA_MAX_RANK] = {{0}}; /* number of device dims above 1: outside the stick, inside */
  for (int32_t d = 0; d < TESELA_MAX_RANK; d++) inner[d] = 1;
  for (int32_t j = text->size.n - 1; j >= 0; j--) {
    int32_t d = (int32_t)text->dim_map.number[j];
    bool lane = j >= text->size.n - text->stick_dims;
    dims[j] = (tesela_device_dim){.dim = d, .extent = text->size.number[j], .step = d < 0 ? 0 : inner[d]};
    if (d < 0 || dims[j].extent == 1) continue;
    if (++cuts[lane][d] > 1)
      return tesela__fail(
          b->err, TESELA_E_UNSUPPORTED, tesela__device_at(b, TESELA__DEVICE_DIM_MAP),
          "host dim %" PRId32
          " has several device dims %s the stick, and dim_map does not give their steps; stride_map does",
          d, lane ? "in" : "outside");
    if (dims[j].extent < 0 || !tesela__mul(inner[d], dims[j].extent, &inner[d]))
      return tesela__fail(b->err, dims[j].extent < 0 ? TESELA_E_RANGE : TESELA_E_OVERFLOW,
                          tesela__device_at(b, TESELA__DEVICE_DEVICE_SIZE),
                          "device dim %" PRId32 " has extent %" PRId64 "; %s", j, dims[j].extent,
                          "expected 0 or more, and a product per host dim that fits in 64 bits");
    if (inner[d] == 0) inner[d] = 1; /* no elements, so steps do not matter */
  }
  return TESELA_OK;
}

/* ---- constructors ---- */

/* A layout of these device dims, with the text's device_strides if given. Errors point at `field`. */
static tesela_status device_with_strides(const tesela__device_building *b, int32_t n, tesela_device_dim *dims,
                                         int32_t stick_dims, tesela__device_field field,
                                         tesela_device_layout *layout) {
  bool strided = tesela__device_has(b->text, TESELA__DEVICE_DEVICE_STRIDES);
  for (int32_t j = 0; j < n; j++) dims[j].stride = strided ? b->text->strides.number[j] : 0;
  tesela_status status = tesela_device_from_dims(layout, &b->host, n, dims, strided, stick_dims, b->err);
  return tesela__device_placed(b, status, tesela__device_at(b, field));
}

static tesela_status device_from_map(const tesela__device_building *b, tesela_device_layout *layout) {
  tesela_device_dim dims[TESELA_DEVICE_DIMS];
  tesela_status status = device_map_dims(b, dims);
  if (status != TESELA_OK) return status;
  return device_with_strides(b, b->text->size.n, dims, (int32_t)b->text->stick_dims, TESELA__DEVICE_DIM_MAP,
                             layout);
}

static tesela_status device_from_strides(const tesela__device_building *b, tesela_device_layout *layout) {
  const tesela__device_text *text = b->text;
  tesela_device_dim dims[TESELA_DEVICE_DIMS];
  tesela_device_layout made;
  tesela_status status =
      tesela_device_from_stride_map(&made, &b->host, b->options->host_strides, text->size.n,
                                    text->size.number, text->stride_map.number, b->err);
  if (status != TESELA_OK)
    return tesela__device_placed(b, status, tesela__device_at(b, TESELA__DEVICE_STRIDE_MAP));
  bool same = true;
  for (int32_t j = 0; j < text->strides.n; j++) same = same && made.dim[j].stride == text->strides.number[j];
  if (!same) {
    memcpy(dims, made.dim, sizeof dims);
    status = device_with_strides(b, made.n_dims, dims, made.stick_dims, TESELA__DEVICE_DEVICE_STRIDES, &made);
  }
  if (status == TESELA_OK) *layout = made;
  return status;
}

/* Without a host shape: the storage is the only host dim. */
static tesela_status device_from_storage(const tesela__device_building *b, tesela_device_layout *layout) {
  tesela_device_dim dims[TESELA_DEVICE_DIMS];
  const tesela__device_text *text = b->text;
  for (int32_t j = 0; j < text->size.n; j++) {
    int64_t step = text->stride_map.number[j];
    dims[j] = (tesela_device_dim){
        .dim = step == 0 ? TESELA_DIM_REPLICATED : 0, .extent = text->size.number[j], .step = step};
  }
  return device_with_strides(b, text->size.n, dims, 1, TESELA__DEVICE_DEVICE_SIZE, layout);
}

static tesela_status device_from_order(const tesela__device_building *b, tesela_device_layout *layout) {
  const tesela__device_text *text = b->text;
  int32_t order[TESELA_DEVICE_DIMS], n = b->host.rank;
  bool given = tesela__device_has(text, TESELA__DEVICE_DIM_ORDER);
  for (int32_t i = 0; i < n; i++) order[i] = i;
  if (given) n = text->dim_order.n;
  for (int32_t i = 0; given && i < n; i++) {
    int64_t d = text->dim_order.number[i];
    if (d < TESELA_STICK_SPARSE || d >= TESELA_MAX_RANK)
      return tesela__fail(b->err, TESELA_E_RANGE, tesela__device_at(b, TESELA__DEVICE_DIM_ORDER),
                          "dim_order[%" PRId32 "] is %" PRId64 "; expected 0 to %" PRId32
                          ", or -1 at the end",
                          i, d, b->host.rank - 1);
    order[i] = (int32_t)d;
  }
  for (int32_t d = b->host.rank; d < TESELA_MAX_RANK; d++)
    if (text->padding.to[d] != 0)
      return tesela__fail(b->err, TESELA_E_RANGE, tesela__device_at(b, TESELA__DEVICE_PAD_TO),
                          "pad_to names host dim %" PRId32 " of a tensor of rank %" PRId32, d, b->host.rank);
  tesela_order arrangement = tesela__device_has(text, TESELA__DEVICE_ORDER) ? text->order : b->target->order;
  tesela_status status = tesela_device_from_order(
      layout, &b->host, arrangement, b->target, n, order,
      tesela__device_has(text, TESELA__DEVICE_PAD_TO) ? &text->padding : NULL, b->err);
  return tesela__device_placed(b, status,
                               tesela__device_at(b, given ? TESELA__DEVICE_DIM_ORDER : TESELA__DEVICE_ORDER));
}

static tesela_status device_check_format(const tesela__device_building *b,
                                         const tesela_device_layout *layout) {
  static const char *const names[] = {
#define TESELA__ROW(symbol, value, name, text) name,
      TESELA_STICK_FORMAT_MAP(TESELA__ROW)
#undef TESELA__ROW
  };
  if (!tesela__device_has(b->text, TESELA__DEVICE_FORMAT) || b->text->format == layout->format)
    return TESELA_OK;
  return tesela__fail(b->err, TESELA_E_INVALID, tesela__device_at(b, TESELA__DEVICE_FORMAT),
                      "format is %s, but these device dims make sticks that are %s", names[b->text->format],
                      names[layout->format]);
}

tesela_status tesela__device_build(const tesela__device_text *text, const tesela_device_text_options *options,
                                   tesela_device_layout *layout, tesela_error *err) {
  tesela__device_building b = {.text = text, .options = options, .err = err};
  tesela_device_layout made;
  tesela_status status = tesela__device_check(&b);
  if (status == TESELA_OK) status = tesela__device_find_host(&b);
  if (status != TESELA_OK) return status;
  bool known = text->have_host || options->host;
  if (tesela__device_has(text, TESELA__DEVICE_DIM_MAP)) {
    status = device_from_map(&b, &made);
  } else if (tesela__device_has(text, TESELA__DEVICE_STRIDE_MAP)) {
    status = known ? device_from_strides(&b, &made) : device_from_storage(&b, &made);
  } else if (tesela__device_has(text, TESELA__DEVICE_DIMS)) {
    tesela_device_dim dims[TESELA_DEVICE_DIMS];
    memcpy(dims, text->dim, sizeof dims);
    status =
        device_with_strides(&b, text->n_dims, dims, (int32_t)text->stick_dims, TESELA__DEVICE_DIMS, &made);
  } else {
    status = device_from_order(&b, &made);
  }
  if (status == TESELA_OK) status = device_check_format(&b, &made);
  if (status == TESELA_OK) *layout = made;
  return status;
}

bool tesela__device_says(const tesela__device_text *text, const tesela_device_layout *layout) {
  tesela_device_layout read;
  tesela_device_text_options options = {.host = &layout->host};
  return tesela__device_build(text, &options, &read, NULL) == TESELA_OK && tesela_device_equal(&read, layout);
}
