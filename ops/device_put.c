/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_put.c - a device layout as text in each notation, and its fields.
 */
#include "device_put.h"

#include <string.h>

#include "json_device.h"

static bool stores_so(const tesela_target *target, const tesela_device_host *host) {
  tesela_target_type type;
  return target->stick_bytes == host->stick_bytes &&
         tesela_target_type_of(target, host->dtype, &type, NULL, NULL) == TESELA_OK &&
         type.device == host->device_dtype && type.device_bits == host->device_bits;
}

const tesela_target *device_target_of(const tesela_device_host *host, const tesela_target *given) {
  const tesela_target *target;
  bool untyped = host->dtype == TESELA_DTYPE_NONE;
  if (given && (untyped ? given->stick_bytes == host->stick_bytes : stores_so(given, host))) return given;
  for (int32_t k = 0; (target = tesela_target_at(k)) != NULL; k++)
    if (stores_so(target, host)) return target;
  return NULL;
}

tesela_status device_print(const tesela_device_layout *layout, tesela_device_notation notation,
                           char text[DEVICE_TEXT], tesela_error *err) {
  tesela_buffer buffer = {text, DEVICE_TEXT, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_status status = tesela_device_print(layout, notation, &to, err);
  if (status != TESELA_OK) text[0] = '\0';
  return status;
}

void device_print_xla(const tesela_device_layout *layout, char text[DEVICE_TEXT]) {
  tesela_xla_layout said;
  tesela_xla_shape shape;
  tesela_buffer buffer = {text, DEVICE_TEXT, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  const tesela_device_host *host = &layout->host;
  text[0] = '\0';
  if (host->device_dtype == TESELA_DTYPE_NONE || tesela_device_to_xla(layout, &said, NULL) != TESELA_OK ||
      tesela_xla_shape_make(&shape, host->device_dtype, host->rank, host->shape, &said, NULL) != TESELA_OK ||
      tesela_xla_print(&shape, true, &to, NULL) != TESELA_OK)
    text[0] = '\0';
}

void device_headline(const tesela_device_layout *layout, char text[DEVICE_TEXT]) {
  static const tesela_device_notation order[] = {TESELA_DEVICE_SHORT, TESELA_DEVICE_PRINTED,
                                                 TESELA_DEVICE_DIM_MAP, TESELA_DEVICE_STRIDE_MAP,
                                                 TESELA_DEVICE_TUPLES};
  for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
    if (device_print(layout, order[i], text, NULL) == TESELA_OK) return;
  strcpy(text, "a device layout");
}

int64_t device_room(const tesela_device_layout *layout, int32_t dim) {
  int64_t room = 1;
  for (int32_t j = 0; j < layout->n_dims; j++)
    if (layout->dim[j].dim == dim && __builtin_mul_overflow(room, layout->dim[j].extent, &room))
      return INT64_MAX;
  return room;
}

static void put_dims(tesela_sink *j, const tesela_device_layout *layout) {
  tesela_put_key_list(j, "dims");
  for (int32_t k = 0; k < layout->n_dims; k++) {
    const tesela_device_dim *dim = &layout->dim[k];
    tesela_put_object(j);
    tesela_put_key_int(j, "dim", dim->dim);
    tesela_put_key_int(j, "step", dim->step);
    tesela_put_key_int(j, "extent", dim->extent);
    tesela_put_key_int(j, "stride", dim->stride);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

static void put_notations(tesela_sink *j, const tesela_device_layout *layout) {
  static const char *const names[] = {[TESELA_DEVICE_SHORT] = "short",
                                      [TESELA_DEVICE_TUPLES] = "tuples",
                                      [TESELA_DEVICE_PRINTED] = "printed",
                                      [TESELA_DEVICE_DIM_MAP] = "dim_map",
                                      [TESELA_DEVICE_STRIDE_MAP] = "stride_map"};
  char text[DEVICE_TEXT];
  tesela_put_key(j, "notations"); /* null: the notation cannot express the layout */
  tesela_put_object(j);
  for (int n = TESELA_DEVICE_SHORT; n <= TESELA_DEVICE_STRIDE_MAP; n++) {
    bool said = device_print(layout, (tesela_device_notation)n, text, NULL) == TESELA_OK;
    tesela_put_key_text(j, names[n], said ? text : NULL);
  }
  device_print_xla(layout, text);
  tesela_put_key_text(j, "xla", text[0] ? text : NULL);
  tesela_put_end(j);
}

static void put_sizes(tesela_sink *j, const tesela_device_sizes *sizes) {
  tesela_put_key_int(j, "elements", sizes->elements);
  tesela_put_key_int(j, "places", sizes->places);
  tesela_put_key_int(j, "padding", sizes->padding);
  tesela_put_key_int(j, "sticks", sizes->sticks);
  tesela_put_key_int(j, "host_bytes", sizes->host_bytes);
  tesela_put_key_int(j, "device_bytes", sizes->device_bytes);
  tesela_put_key_int(j, "allocation_bytes", sizes->allocation_bytes);
}

tesela_status device_put(tesela_sink *j, const tesela_device_layout *layout, const tesela_target *target,
                         tesela_error *err) {
  static const char *const formats[] = {
#define TESELA__ROW(symbol, value, name, text) name,
      TESELA_STICK_FORMAT_MAP(TESELA__ROW)
#undef TESELA__ROW
  };
  const tesela_device_host *host = &layout->host;
  char text[DEVICE_TEXT];
  tesela_device_sizes sizes;
  target = device_target_of(host, target);
  tesela_status status = tesela_device_sizes_of(layout, target, &sizes, err);
  if (status != TESELA_OK) return status;
  device_headline(layout, text);
  tesela_put_key_text(j, "text", text);
  tesela_put_key_text(j, "type", tesela_dtype_name(host->dtype));
  tesela_put_key_ints(j, "shape", host->rank, host->shape);
  tesela_put_key_int(j, "bits", host->bits);
  tesela_put_key_text(j, "device_type", tesela_dtype_name(host->device_dtype));
  tesela_put_key_int(j, "device_bits", host->device_bits);
  tesela_put_key_text(j, "target", target ? target->name : NULL);
  tesela_put_key_int(j, "stick_bytes", host->stick_bytes);
  tesela_put_key_int(j, "lanes", layout->lanes);
  tesela_put_key_int(j, "stick_dims", layout->stick_dims);
  tesela_put_key_text(j, "format", formats[layout->format]);
  json_device_put_lists(j, layout, NULL);
  put_dims(j, layout);
  put_sizes(j, &sizes);
  put_notations(j, layout);
  return TESELA_OK;
}
