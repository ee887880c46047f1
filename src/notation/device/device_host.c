/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_host.c - checks which fields of a text go together, and finds the host side.
 *
 * The host side comes from the text, else from the caller, else from the fields:
 *
 *   dim_map     the shape that fills the device dims: blocks * lanes. Steps: lanes 1, blocks the lanes, other dims 1.
 *   tuples      the storage, one dim up to the last element that the nest reaches
 *   stride_map  undetermined: 64 may be a step of 64 along one dim or of 1 along another
 *
 * Without a type its width follows from the lanes of a stick.
 */
#include "notation/device/device_read.h"

int64_t tesela__device_at(const tesela__device_building *b, tesela__device_field field) {
  return (int64_t)(tesela__device_has(b->text, field) ? b->text->at[field] : b->text->form_at);
}

tesela_status tesela__device_placed(const tesela__device_building *b, tesela_status status, int64_t at) {
  if (status != TESELA_OK && b->err) b->err->at = at;
  return status;
}

/* ---- fields that do not go together ---- */

static tesela_status device_check_pairs(const tesela__device_building *b) {
  static const struct {
    tesela__device_field field, other;
    bool needs; /* needs the other; else excludes it */
    const char *message;
  } pairs[] = {
      {TESELA__DEVICE_DIMS, TESELA__DEVICE_DIM_ORDER, false, "dims and dim_order exclude each other"},
      {TESELA__DEVICE_DIMS, TESELA__DEVICE_ORDER, false, "dims and order exclude each other"},
      {TESELA__DEVICE_DIMS, TESELA__DEVICE_PAD_TO, false,
       "dims has its own extents; pad_to goes with dim_order"},
      {TESELA__DEVICE_DIMS, TESELA__DEVICE_DEVICE_SIZE, false,
       "dims has its own extents; dims and device_size exclude each other"},
      {TESELA__DEVICE_DEVICE_SIZE, TESELA__DEVICE_DIM_ORDER, false,
       "device_size and stride_map exclude dim_order"},
      {TESELA__DEVICE_DEVICE_SIZE, TESELA__DEVICE_ORDER, false, "device_size and stride_map exclude order"},
      {TESELA__DEVICE_DEVICE_SIZE, TESELA__DEVICE_PAD_TO, false,
       "device_size includes padding; pad_to goes with dim_order"},
      {TESELA__DEVICE_STICK_DIMS, TESELA__DEVICE_DIMS, true,
       "stick_dims counts entries of dims, which is missing"},
      {TESELA__DEVICE_STRIDE_MAP, TESELA__DEVICE_DEVICE_SIZE, true, "stride_map needs device_size"},
      {TESELA__DEVICE_DIM_MAP, TESELA__DEVICE_DEVICE_SIZE, true, "dim_map needs device_size"},
      {TESELA__DEVICE_DIM_MAP, TESELA__DEVICE_STRIDE_MAP, false, "dim_map and stride_map exclude each other"},
      {TESELA__DEVICE_NUM_STICK_DIMS, TESELA__DEVICE_DIM_MAP, true, "num_stick_dims goes with dim_map"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    if (!tesela__device_has(b->text, pairs[i].field) ||
        tesela__device_has(b->text, pairs[i].other) == pairs[i].needs)
      continue;
    return tesela__fail(b->err, TESELA_E_INVALID, tesela__device_at(b, pairs[i].field), "%s",
                        pairs[i].message);
  }
  bool sizes = tesela__device_has(b->text, TESELA__DEVICE_DEVICE_SIZE);
  bool owners = tesela__device_has(b->text, TESELA__DEVICE_DIM_MAP) ||
                tesela__device_has(b->text, TESELA__DEVICE_STRIDE_MAP);
  if (sizes && !owners)
    return tesela__fail(
        b->err, TESELA_E_INVALID, tesela__device_at(b, TESELA__DEVICE_DEVICE_SIZE), "device_size needs %s",
        b->text->form == TESELA__DEVICE_FORM_PRINTED ? "dim_map or stride_map" : "stride_map");
  if (!sizes && b->text->form == TESELA__DEVICE_FORM_PRINTED)
    return tesela__fail(b->err, TESELA_E_INVALID, (int64_t)b->text->form_at, "missing device_size");
  if (!sizes && !tesela__device_has(b->text, TESELA__DEVICE_DIMS) &&
      tesela__device_has(b->text, TESELA__DEVICE_DEVICE_STRIDES))
    return tesela__fail(b->err, TESELA_E_INVALID, tesela__device_at(b, TESELA__DEVICE_DEVICE_STRIDES),
                        "device_strides needs dims or device_size");
  return TESELA_OK;
}

static tesela_status device_check_length(const tesela__device_building *b, tesela__device_field field,
                                         int32_t n, const char *name, int32_t wanted, const char *of) {
  if (!tesela__device_has(b->text, field) || n == wanted) return TESELA_OK;
  return tesela__fail(b->err, TESELA_E_INVALID, tesela__device_at(b, field),
                      "%s has %" PRId32 " entries, %s %" PRId32, name, n, of, wanted);
}

static tesela_status device_check_lengths(const tesela__device_building *b) {
  const tesela__device_text *text = b->text;
  bool dims = tesela__device_has(text, TESELA__DEVICE_DIMS);
  int32_t n = dims ? text->n_dims : text->size.n;
  const char *of = dims ? "dims" : "device_size";
  tesela_status status =
      device_check_length(b, TESELA__DEVICE_DEVICE_STRIDES, text->strides.n, "device_strides", n, of);
  if (status == TESELA_OK)
    status = device_check_length(b, TESELA__DEVICE_STRIDE_MAP, text->stride_map.n, "stride_map", n, of);
  if (status == TESELA_OK)
    status = device_check_length(b, TESELA__DEVICE_DIM_MAP, text->dim_map.n, "dim_map", n, of);
  if (status == TESELA_OK &&
      (text->stick_dims < 1 || text->stick_dims > TESELA_DEVICE_DIMS || (n > 0 && text->stick_dims > n))) {
    bool printed = tesela__device_has(text, TESELA__DEVICE_NUM_STICK_DIMS);
    return tesela__fail(
        b->err, TESELA_E_RANGE,
        tesela__device_at(b, printed ? TESELA__DEVICE_NUM_STICK_DIMS : TESELA__DEVICE_STICK_DIMS),
        "%" PRId64 " stick dims; expected 1 to %" PRId32, text->stick_dims, n);
  }
  return status;
}

static tesela_status device_check_map(const tesela__device_building *b) {
  for (int32_t j = 0; j < b->text->dim_map.n; j++) {
    int64_t d = b->text->dim_map.number[j];
    if (d >= TESELA_DIM_REPLICATED && d < TESELA_MAX_RANK) continue;
    return tesela__fail(b->err, TESELA_E_RANGE, tesela__device_at(b, TESELA__DEVICE_DIM_MAP),
                        "dim_map[%" PRId32 "] is %" PRId64
                        "; expected 0 to %d, -1 (synthetic) or -2 (replicated)",
                        j, d, TESELA_MAX_RANK - 1);
  }
  return TESELA_OK;
}

tesela_status tesela__device_check(const tesela__device_building *b) {
  tesela_status status = device_check_pairs(b);
  if (status == TESELA_OK) status = device_check_lengths(b);
  return status == TESELA_OK ? device_check_map(b) : status;
}

/* ---- the host side ---- */

/* The text's target, else the caller's, else spyre; with the text's stick bytes, if given. */
static tesela_status device_find_target(tesela__device_building *b) {
  const tesela__device_text *text = b->text;
  b->target = b->options->target ? b->options->target : tesela_target_at(0);
  if (tesela__device_has(text, TESELA__DEVICE_TARGET)) b->target = text->target;
  if (!tesela__device_has(text, TESELA__DEVICE_STICK)) return TESELA_OK;
  if (text->stick < 1 || text->stick > (1 << 20))
    return tesela__fail(b->err, TESELA_E_RANGE, tesela__device_at(b, TESELA__DEVICE_STICK),
                        "a stick of %" PRId64 " bytes; expected 1 to 1048576", text->stick);
  b->own = *b->target;
  b->own.stick_bytes = text->stick;
  b->target = &b->own;
  return TESELA_OK;
}

/* device_dtype and device_bits of the text override the target. */
static tesela_status device_set_type(tesela__device_building *b, bool given) {
  const tesela__device_text *text = b->text;
  bool type = tesela__device_has(text, TESELA__DEVICE_DEVICE_DTYPE),
       bits = tesela__device_has(text, TESELA__DEVICE_DEVICE_BITS);
  if (type) b->host.device_dtype = text->device_dtype;
  if (type) b->host.device_bits = 8 * tesela_dtype_bytes(text->device_dtype);
  if (bits) {
    int64_t at_least = type || given ? 8 * tesela_dtype_bytes(b->host.device_dtype) : 8;
    if (text->device_bits < at_least || text->device_bits % 8 != 0 || text->device_bits > 1024)
      return tesela__fail(b->err, TESELA_E_RANGE, tesela__device_at(b, TESELA__DEVICE_DEVICE_BITS),
                          "%" PRId64 " bits for an element; expected a multiple of 8 from %" PRId64
                          " to 1024",
                          text->device_bits, at_least);
    b->host.device_bits = (int32_t)text->device_bits;
  }
  int64_t bytes = b->host.device_bits / 8;
  if (bytes > 0 && b->host.stick_bytes % bytes != 0)
    return tesela__fail(b->err, TESELA_E_INVALID,
                        tesela__device_at(b, bits ? TESELA__DEVICE_DEVICE_BITS : TESELA__DEVICE_DEVICE_DTYPE),
                        "elements of %" PRId64 " bytes do not fill a stick of %" PRId64, bytes,
                        b->host.stick_bytes);
  return TESELA_OK;
}

/* Bits of an element of unknown type: bits of a stick / lanes. */
static tesela_status device_guess_bits(tesela__device_building *b) {
  const tesela__device_list *size = &b->text->size;
  int64_t lanes = 1, bits = b->target->stick_bytes * 8;
  for (int32_t j = (int32_t)(size->n - b->text->stick_dims); j < size->n; j++)
    if (j < 0 || !tesela__mul(lanes, size->number[j], &lanes)) lanes = 0;
  if (lanes >= 1 && bits % lanes == 0 &&
      (bits / lanes == 8 || bits / lanes == 16 || bits / lanes == 32 || bits / lanes == 64)) {
    b->host.bits = b->host.device_bits = (int32_t)(bits / lanes);
    return TESELA_OK;
  }
  return tesela__fail(b->err, TESELA_E_UNSUPPORTED, tesela__device_at(b, TESELA__DEVICE_DEVICE_SIZE),
                      "the element type is missing, and %" PRId64 " lanes in %" PRId64
                      " bytes do not determine it; write type and shape first, f16[1000,200]",
                      lanes, b->target->stick_bytes);
}

static tesela_status device_host_in_front(tesela__device_building *b) {
  const tesela__device_text *text = b->text;
  tesela_status status =
      tesela_device_host_of(&b->host, b->target, text->dtype, text->rank, text->shape, b->err);
  if (status == TESELA_E_UNSUPPORTED && tesela__device_has(text, TESELA__DEVICE_DEVICE_DTYPE)) {
    /* the target does not store the type, but the text gives a device type */
    b->host = (tesela_device_host){.dtype = text->dtype,
                                   .bits = 8 * tesela_dtype_bytes(text->dtype),
                                   .stick_bytes = b->target->stick_bytes,
                                   .rank = text->rank};
    for (int32_t d = 0; d < text->rank; d++) b->host.shape[d] = text->shape[d];
    status = TESELA_OK;
  }
  return tesela__device_placed(b, status, (int64_t)text->host_at);
}

/* The host side of three tuples: one dim up to the last element that the nest reaches. */
static tesela_status device_storage(tesela__device_building *b) {
  int64_t last = 0, reach;
  b->host.rank = 1;
  for (int32_t j = 0; j < b->text->size.n; j++) {
    int64_t range = b->text->size.number[j], stride = b->text->stride_map.number[j];
    if (range < 1 || stride < 0)
      return tesela__fail(
          b->err, TESELA_E_UNSUPPORTED,
          tesela__device_at(b, range < 1 ? TESELA__DEVICE_DEVICE_SIZE : TESELA__DEVICE_STRIDE_MAP),
          "%s %" PRId64 " needs the host shape; write it first, f16[1000,200]",
          range < 1 ? "a range of" : "a host stride of", range < 1 ? range : stride);
    if (!tesela__mul(range - 1, stride, &reach) || !tesela__add(last, reach, &last) || last == INT64_MAX)
      return tesela__fail(b->err, TESELA_E_OVERFLOW, tesela__device_at(b, TESELA__DEVICE_STRIDE_MAP),
                          "the nest reaches beyond 2^63 host elements");
  }
  b->host.shape[0] = last + 1;
  return TESELA_OK;
}

/* The host shape of a dim_map: the product of the extents of each host dim's device dims. */
static tesela_status device_shape_of_map(tesela__device_building *b) {
  const tesela__device_text *text = b->text;
  bool seen[TESELA_MAX_RANK] = {false};
  int32_t rank = 0;
  for (int32_t j = 0; j < text->dim_map.n; j++) {
    int64_t d = text->dim_map.number[j];
    if (d < 0) continue; /* its range has been checked */
    if (!seen[d]) b->host.shape[d] = 1;
    seen[d] = true;
    if (d >= rank) rank = (int32_t)d + 1;
    if (text->size.number[j] < 0 || !tesela__mul(b->host.shape[d], text->size.number[j], &b->host.shape[d]))
      return tesela__fail(b->err, text->size.number[j] < 0 ? TESELA_E_RANGE : TESELA_E_OVERFLOW,
                          tesela__device_at(b, TESELA__DEVICE_DEVICE_SIZE),
                          "device dim %" PRId32 " has extent %" PRId64 "; %s", j, text->size.number[j],
                          "expected 0 or more, and a product per host dim that fits in 64 bits");
  }
  for (int32_t d = 0; d < rank; d++)
    if (!seen[d])
      return tesela__fail(
          b->err, TESELA_E_UNSUPPORTED, tesela__device_at(b, TESELA__DEVICE_DIM_MAP),
          "host dim %" PRId32
          " is not in dim_map, so its extent is unknown; write the host shape first, f16[1000,200]",
          d);
  b->host.rank = rank;
  return TESELA_OK;
}

static tesela_status device_without_host(tesela__device_building *b) {
  const tesela__device_text *text = b->text;
  b->host = (tesela_device_host){.stick_bytes = b->target->stick_bytes};
  tesela_status status;
  if (text->form == TESELA__DEVICE_FORM_TUPLES)
    status = device_storage(b);
  else if (tesela__device_has(text, TESELA__DEVICE_DIM_MAP))
    status = device_shape_of_map(b);
  else
    return tesela__fail(b->err, TESELA_E_UNSUPPORTED, (int64_t)text->form_at,
                        "%s needs the host shape; write it first, %s",
                        text->form == TESELA__DEVICE_FORM_SHORT ? "stick(...)" : "stride_map",
                        text->form == TESELA__DEVICE_FORM_SHORT ? "f16[1000,200] stick(dim_order=[0,1])"
                                                                : "f16[1000,200] SpyreTensorLayout(...)");
  if (status != TESELA_OK) return status;
  if (!tesela__device_has(text, TESELA__DEVICE_DEVICE_DTYPE)) return device_guess_bits(b);
  b->host.dtype = text->device_dtype;
  b->host.bits = 8 * tesela_dtype_bytes(text->device_dtype);
  return TESELA_OK;
}

tesela_status tesela__device_find_host(tesela__device_building *b) {
  tesela_status found = device_find_target(b);
  if (found != TESELA_OK) return found;
  bool known = b->text->have_host || b->options->host;
  tesela_status status = TESELA_OK;
  if (b->text->have_host) {
    status = device_host_in_front(b);
  } else if (b->options->host) {
    const tesela_device_host *host = b->options->host;
    b->host = *host;
    if (tesela__device_has(b->text, TESELA__DEVICE_TARGET))
      status = tesela__device_placed(
          b, tesela_device_host_of(&b->host, b->target, host->dtype, host->rank, host->shape, b->err),
          tesela__device_at(b, TESELA__DEVICE_TARGET));
    if (tesela__device_has(b->text, TESELA__DEVICE_STICK)) b->host.stick_bytes = b->target->stick_bytes;
  } else {
    status = device_without_host(b);
  }
  return status == TESELA_OK ? device_set_type(b, known) : status;
}
