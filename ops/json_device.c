/* SPDX-License-Identifier: Apache-2.0 */
/* json_device.c - device layouts from JSON. */
#include "json_device.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tesela/notation.h>

#include "request.h"

/* ---- targets and hosts ------------------------------------------------------------------------------------------ */

bool json_device_target(const jr_object *in, const char *name, int64_t stick_bytes, tesela_target *target) {
  if (!name && !in->target)
    return tesela_target_plain(target, stick_bytes > 0 ? stick_bytes : 128, in->err) == TESELA_OK;
  /* The request's own target: found by its name, or described by the text. */
  bool own = in->target && (!name || strpbrk(name, " \n") || strcmp(name, in->target->name) == 0);
  const tesela_target *found = own ? in->target : tesela_target_find(name);
  if (!found) return ops_unknown_target(in->err, name, in->target) == TESELA_OK;
  *target = *found;
  if (stick_bytes > 0) target->stick_bytes = stick_bytes;
  return tesela_target_check(target, in->err) == TESELA_OK;
}

bool json_device_dtype(const jr_object *in, tesela_dtype *dtype) {
  const char *name;
  if (!jr_text(in, "dtype", NULL, &name)) return false;
  *dtype = name ? tesela_dtype_find(name, strlen(name)) : TESELA_DTYPE_NONE;
  if (!name || tesela_dtype_bytes(*dtype) > 0) return true;
  const char *near = tesela_dtype_suggest(name, strlen(name));
  if (near && tesela_dtype_bytes(tesela_dtype_find(near, strlen(near))) == 0) near = NULL; /* token */
  return jr_fail(in, TESELA_E_INVALID, "%s.dtype: unknown element type '%.40s'%s%s%s", in->name, name,
                 near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* Type, width and sticks: of a target's type, or elem_bytes on both sides. */
static bool device_types(const jr_object *in, tesela_target *target, tesela_device_host *host) {
  const char *name;
  int64_t elem_bytes, stick_bytes;
  tesela_target_type type;
  if (!jr_text(in, "target", NULL, &name) || !json_device_dtype(in, &host->dtype) ||
      !jr_int_in(in, "elem_bytes", 0, 1, 128, &elem_bytes) ||
      !jr_int_in(in, "stick_bytes", 0, 1, 1 << 20, &stick_bytes) ||
      !json_device_target(in, name, stick_bytes, target))
    return false;
  host->stick_bytes = target->stick_bytes;
  if (host->dtype == TESELA_DTYPE_NONE) {
    host->bits = host->device_bits = 8 * (int32_t)(elem_bytes > 0 ? elem_bytes : 2);
    return true;
  }
  if (tesela_target_type_of(target, host->dtype, &type, NULL, in->err) != TESELA_OK) return false;
  host->bits = 8 * tesela_dtype_bytes(host->dtype);
  host->device_dtype = type.device;
  host->device_bits = type.device_bits;
  if (elem_bytes > 0 && 8 * elem_bytes != host->bits)
    return jr_fail(in, TESELA_E_INVALID, "elem_bytes is %" PRId64 "; expected %" PRId32 " for %s", elem_bytes,
                   host->bits / 8, tesela_dtype_name(host->dtype));
  return true;
}

/* Does the target have tensors of this rank? */
static bool device_rank(const jr_object *in, const tesela_target *target, int32_t rank) {
  if (rank <= target->max_rank) return true;
  return jr_fail(in, TESELA_E_LIMIT, "rank %" PRId32 "; expected 0 to %" PRId32 " for target %s", rank,
                 target->max_rank, target->name);
}

/* strides (default: row-major) and offset of a tensor. */
static bool device_strides(const jr_object *in, int32_t rank, const int64_t *shape, int64_t *strides,
                           int64_t *offset) {
  int32_t n;
  int64_t stride = 1;
  if (!jr_ints(in, "strides", false, TESELA_MAX_RANK, &n, strides) || !jr_int(in, "offset", 0, offset))
    return false;
  if (n >= 0 && n != rank)
    return jr_fail(in, TESELA_E_INVALID, "%s has %" PRId32 " strides; expected %" PRId32, in->name, n, rank);
  for (int32_t d = rank; n < 0 && d-- > 0;) {
    strides[d] = stride;
    if (__builtin_mul_overflow(stride, shape[d] > 0 ? shape[d] : 1, &stride))
      return jr_fail(in, TESELA_E_OVERFLOW, "the row-major strides of %s do not fit in 64 bits", in->name);
  }
  return true;
}

static bool device_sizes(const jr_object *in, int32_t *rank, int64_t *shape, int64_t *strides,
                         int64_t *offset) {
  return jr_ints(in, "size", true, TESELA_MAX_RANK, rank, shape) &&
         device_strides(in, *rank, shape, strides, offset);
}

/* ---- layouts ---------------------------------------------------------------------------------------------------- */

/* pad_to: {"0": 96} */
static bool device_padding(const jr_object *in, int32_t rank, tesela_device_padding *padding) {
  jr_object pads;
  memset(padding, 0, sizeof *padding);
  if (!jr_member(in, "pad_to", false, &pads)) return false;
  for (size_t k = 0; k < tesela_value_size(pads.value); k++) {
    const char *name = tesela_value_at(pads.value, k)->name;
    char number[16];
    int32_t dim = 0;
    do snprintf(number, sizeof number, "%" PRId32, dim);
    while (strcmp(number, name) != 0 && ++dim < rank);
    if (dim >= rank || rank == 0)
      return jr_fail(in, TESELA_E_RANGE,
                     "pad_to has dim '%.20s'; expected one of the %" PRId32 " dims of the tensor", name,
                     rank);
    if (!jr_int(&pads, name, 0, &padding->to[dim])) return false;
  }
  return true;
}

static bool device_from_order(const jr_object *in, const tesela_target *target,
                              const tesela_device_host *host, tesela_device_layout *layout) {
  int64_t list[TESELA_MAX_RANK + 1];
  int32_t n, dim_order[TESELA_MAX_RANK + 1];
  const char *style;
  tesela_device_padding padding;
  if (!jr_ints(in, "dim_order", false, TESELA_MAX_RANK + 1, &n, list) ||
      !jr_text(in, "style", NULL, &style) || !device_padding(in, host->rank, &padding))
    return false;
  int32_t order = style ? tesela_order_find(style, strlen(style)) : (int32_t)target->order;
  if (order < 0)
    return jr_fail(in, TESELA_E_INVALID,
                   "%s.style is %.40s; expected generic, stick_outer, inner_pair, generic_jan26 or tiles",
                   in->name, style);
  for (int32_t k = 0; k < n; k++) {
    if (list[k] < -1 || list[k] >= TESELA_MAX_RANK)
      return jr_fail(in, TESELA_E_RANGE,
                     "dim_order[%" PRId32 "] is %" PRId64 "; the tensor has %" PRId32 " dims", k, list[k],
                     host->rank);
    dim_order[k] = (int32_t)list[k];
  }
  for (int32_t k = 0; n < 0 && k < host->rank; k++) dim_order[k] = k;
  return tesela_device_from_order(layout, host, (tesela_order)order, target, n < 0 ? host->rank : n,
                                  dim_order, &padding, in->err) == TESELA_OK;
}

/* dims: [[host dim, step, extent], ...], with stick_dims and device_strides */
static bool device_from_dims(const jr_object *in, const tesela_device_host *host,
                             tesela_device_layout *layout) {
  const tesela_value *list;
  int64_t stick_dims, strides[TESELA_DEVICE_DIMS];
  int32_t n_strides;
  tesela_device_dim dims[TESELA_DEVICE_DIMS];
  if (!jr_list(in, "dims", true, &list) ||
      !jr_int_in(in, "stick_dims", 1, 1, TESELA_DEVICE_DIMS, &stick_dims) ||
      !jr_ints(in, "device_strides", false, TESELA_DEVICE_DIMS, &n_strides, strides))
    return false;
  size_t n = tesela_value_size(list);
  if (n > TESELA_DEVICE_DIMS)
    return jr_fail(in, TESELA_E_LIMIT, "%s has %zu dims; expected %d or fewer", in->name, n,
                   TESELA_DEVICE_DIMS);
  if (n_strides >= 0 && (size_t)n_strides != n)
    return jr_fail(in, TESELA_E_INVALID, "device_strides has %" PRId32 " numbers; expected %zu", n_strides,
                   n);
  for (size_t k = 0; k < n; k++) {
    const tesela_value *triple = tesela_value_at(list, k);
    int64_t value[3];
    for (size_t i = 0; i < 3; i++) {
      if (tesela_value_size(triple) != 3 || !tesela_value_is(tesela_value_at(triple, i), TESELA_VALUE_INT))
        return jr_fail(in, TESELA_E_INVALID, "dims[%zu]: expected [host dim, step, extent]", k);
      value[i] = tesela_value_int(tesela_value_at(triple, i));
    }
    if (value[0] < -2 || value[0] >= TESELA_MAX_RANK)
      return jr_fail(in, TESELA_E_RANGE,
                     "dims[%zu] has host dim %" PRId64 "; the tensor has %" PRId32 " dims", k, value[0],
                     host->rank);
    dims[k] = (tesela_device_dim){value[2], value[1], n_strides >= 0 ? strides[k] : 0, (int32_t)value[0]};
  }
  return tesela_device_from_dims(layout, host, (int32_t)n, dims, n_strides >= 0, (int32_t)stick_dims,
                                 in->err) == TESELA_OK;
}

static bool device_from_map(const jr_object *in, const tesela_device_host *host, const int64_t *host_strides,
                            tesela_device_layout *layout) {
  int64_t size[TESELA_DEVICE_DIMS], map[TESELA_DEVICE_DIMS];
  int32_t n, m;
  if (!jr_ints(in, "device_size", true, TESELA_DEVICE_DIMS, &n, size) ||
      !jr_ints(in, "stride_map", true, TESELA_DEVICE_DIMS, &m, map))
    return false;
  if (n != m)
    return jr_fail(in, TESELA_E_INVALID,
                   "stride_map has %" PRId32 " numbers; expected %" PRId32 ", as device_size has", m, n);
  return tesela_device_from_stride_map(layout, host, host_strides, n, size, map, in->err) == TESELA_OK;
}

static bool device_layout_of(const jr_object *in, const tesela_target *target, const tesela_device_host *host,
                             const int64_t *host_strides, tesela_device_layout *layout) {
  const char *kind;
  if (!jr_text(in, "kind",
               jr_has(in, "dims")         ? "dims"
               : jr_has(in, "stride_map") ? "stride_map"
                                          : "dim_order",
               &kind))
    return false;
  if (strcmp(kind, "dim_order") == 0)
    return jr_done(in, "kind|dim_order|style|pad_to|size|strides|offset|dtype") &&
           device_from_order(in, target, host, layout);
  if (strcmp(kind, "dims") == 0)
    return jr_done(in, "kind|dims|stick_dims|device_strides|size|strides|offset|dtype") &&
           device_from_dims(in, host, layout);
  if (strcmp(kind, "stride_map") == 0)
    return jr_done(in, "kind|device_size|stride_map|size|strides|offset|dtype") &&
           device_from_map(in, host, host_strides, layout);
  return jr_fail(in, TESELA_E_INVALID, "%s.kind is %.40s; expected dim_order, dims or stride_map", in->name,
                 kind);
}

/* A text repeats the host tensor: it must be the same. */
static bool device_text_agrees(const jr_object *in, const tesela_device_host *host,
                               const tesela_device_host *said) {
  bool same = said->rank == host->rank;
  for (int32_t d = 0; same && d < host->rank; d++) same = said->shape[d] == host->shape[d];
  if (!same) return jr_fail(in, TESELA_E_INVALID, "the shape in the layout differs from host.size");
  if (host->dtype != TESELA_DTYPE_NONE && said->dtype != host->dtype)
    return jr_fail(in, TESELA_E_INVALID, "the layout is for %s; dtype is %s",
                   said->dtype != TESELA_DTYPE_NONE ? tesela_dtype_name(said->dtype) : "no type",
                   tesela_dtype_name(host->dtype));
  if (jr_has(in, "elem_bytes") && said->bits != host->bits)
    return jr_fail(in, TESELA_E_INVALID,
                   "the layout is for elements of %" PRId32 " bits; elem_bytes is %" PRId32, said->bits,
                   host->bits / 8);
  return true;
}

bool json_device_read(const jr_object *in, json_device *out) {
  tesela_target target;
  tesela_device_host host;
  jr_object size, layout;
  memset(&host, 0, sizeof host);
  const tesela_value *text = tesela_value_get(in->value, "layout");
  bool is_text = tesela_value_is(text, TESELA_VALUE_TEXT);
  if (!jr_member(in, "host", !is_text, &size) || !jr_done(&size, "size|strides|offset") ||
      !device_types(in, &target, &host))
    return false;
  bool whole = is_text && !jr_has(&size, "size"); /* the text has the shape */
  if (!whole && (!device_sizes(&size, &host.rank, host.shape, out->host_strides, &out->host_offset) ||
                 !device_rank(in, &target, host.rank)))
    return false;
  if (is_text) {
    tesela_any_layout any;
    const tesela_layout_read_options options = {
        .notation = "device",
        .device = {.target = whole && !jr_has(in, "stick_bytes") ? in->target : &target,
                   .host = whole ? NULL : &host,
                   .host_strides = whole ? NULL : out->host_strides,
                   .targets = in->target,
                   .n_targets = in->target != NULL}};
    if (tesela_layout_read(tesela_value_text(text), tesela_value_length(text), &options, &any, in->err) !=
        TESELA_OK)
      return false;
    const tesela_device_host *said = &any.device.host;
    out->layout = any.device;
    if (!whole) return device_text_agrees(in, &host, said);
    host.rank = said->rank;
    memcpy(host.shape, said->shape, sizeof host.shape);
    return device_strides(&size, said->rank, said->shape, out->host_strides, &out->host_offset) &&
           device_text_agrees(in, &host, said);
  }
  return jr_member(in, "layout", true, &layout) &&
         device_layout_of(&layout, &target, &host, out->host_strides, &out->layout);
}

bool json_device_read_base(const jr_object *in, json_device *out) {
  tesela_target target;
  tesela_device_host host;
  jr_object base;
  memset(&host, 0, sizeof host);
  return jr_member(in, "base", true, &base) &&
         device_sizes(&base, &host.rank, host.shape, out->host_strides, &out->host_offset) &&
         device_types(in, &target, &host) && device_rank(in, &target, host.rank) &&
         device_layout_of(&base, &target, &host, out->host_strides, &out->layout);
}

bool json_device_view(const jr_object *view, tesela_host_view *out) {
  return jr_done(view, "size|strides|offset") &&
         device_sizes(view, &out->rank, out->shape, out->stride, &out->offset);
}
