/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_device.h - device layouts, views and nests in JSON: what query, dma and graph read and print.
 */
#ifndef TESELA_CLI_JSON_DEVICE_H
#define TESELA_CLI_JSON_DEVICE_H

#include <tesela/device.h>

#include <tesela/ops.h>
#include "json_read.h"

/* A host tensor and its layout on the device. */
typedef struct json_device {
  tesela_device_layout layout;
  int64_t host_strides[TESELA_MAX_RANK], host_offset;
} json_device;

/* A target by name, or one with sticks of `stick_bytes` (0: 128) and every type as on the host. */
bool json_device_target(const jr_object *in, const char *name, int64_t stick_bytes, tesela_target *target);

/* The member dtype, by name; TESELA_DTYPE_NONE without one. */
bool json_device_dtype(const jr_object *in, tesela_dtype *dtype);

/* The members host {"size","strides","offset"}, elem_bytes, stick_bytes, dtype, target and layout of a request. layout is a
 * text for that host, or one that has the shape where host has no size; or an object of one of the kinds dim_order, dims,
 * stride_map. */
bool json_device_read(const jr_object *in, json_device *out);

/* As json_device_read, from base {"size","strides","offset","dim_order","style", ...}: host and layout in one. */
bool json_device_read_base(const jr_object *in, json_device *out);

/* {"size","strides","offset"}; strides default to row-major. */
bool json_device_view(const jr_object *view, tesela_host_view *out);

/* device_size, device_strides, dim_map, stride_map (null: it does not fit 64 bits; host_strides NULL: row-major). */
void json_device_put_lists(tesela_sink *j, const tesela_device_layout *layout, const int64_t *host_strides);

/* device_size, device_strides, dim_map, stride_map, dims, stick_elems, device_elems, device_bytes, padding_elems. */
tesela_status json_device_put_layout(tesela_sink *j, const tesela_device_layout *layout,
                                     const int64_t *host_strides, tesela_error *err);

/* [{"ranges", "device_strides", "host_strides", "device_offset", "host_offset"}]. JSON_DEVICE_NESTS: most that the response to
 * a query has. */
#define JSON_DEVICE_NESTS (1 << 16)
void json_device_put_nests(tesela_sink *j, const tesela_dma *dma);

/* The hash of where every element lies, in row-major order: FNV-1a 64 over the 8-byte little-endian places, in hexadecimal.
 * With `second`, over the pairs of places in both. More than JSON_DEVICE_HASH_LIMIT elements: null. */
#define JSON_DEVICE_HASH_LIMIT ((int64_t)1 << 24)
void json_device_put_hash(tesela_sink *j, const char *name, const tesela_layout *layout,
                          const tesela_layout *second);

#endif
