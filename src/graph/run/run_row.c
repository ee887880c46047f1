/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_row.c - reading and writing the elements of an operand, a row at a time: their marks, their codes, their values.
 */
#include "graph/run/run.h"

/* ---- marks ---- */

/* The number of elements that were last written for another buffer. */
static int64_t tensor_unmarked(const tesela__run *run, const tesela__run_tensor *tensor, int64_t n,
                               tesela__run_places places) {
  int32_t each = tensor->buffer->width / run->grain, own = tensor->id + 1;
  const int32_t *mark = tensor->buffer->mark;
  int64_t wrong = 0;
  for (int64_t j = 0; j < n; j++) {
    int64_t place = tesela__run_place(&places, j);
    int32_t different = 0;
    for (int32_t i = 0; i < each && place >= 0; i++) different |= mark[place * each + i] ^ own;
    wrong += different != 0;
  }
  return wrong;
}

static void tensor_mark(const tesela__run *run, const tesela__run_tensor *tensor, int64_t n,
                        tesela__run_places places, int64_t shift) {
  int32_t each = tensor->buffer->width / run->grain, own = tensor->id + 1;
  int32_t *mark = tensor->buffer->mark + shift * each;
  for (int64_t j = 0; j < n; j++)
    for (int32_t i = 0; i < each; i++) mark[tesela__run_place(&places, j) * each + i] = own;
}

void tesela__run_passed(tesela__run *run, const tesela__run_tensor *to, tesela__run_places to_places,
                        const tesela__run_tensor *from, tesela__run_places from_places, int64_t n) {
  run->facts.poison_read += tensor_unmarked(run, from, n, from_places);
  for (int64_t k = -1; k < to->n_copies; k++) tensor_mark(run, to, n, to_places, k < 0 ? 0 : to->copy[k]);
}

/* ---- codes ---- */

/* Most elements have one mark, which is tested or set in the same loop. */
#define TENSOR_GET(type)                               \
  for (int64_t j = 0; j < n; j++) {                    \
    type code = 0;                                     \
    if (places.list && places.list[j] < 0) {           \
      v[j].i = 0;                                      \
      continue;                                        \
    }                                                  \
    int64_t place = tesela__run_place(&places, j);     \
    memcpy(&code, bytes + place * width, sizeof code); \
    wrong += single && mark[place] != own;             \
    v[j].i = (int64_t)code;                            \
  }                                                    \
  break;

#define TENSOR_GET_ALL                                \
  switch (tesela__run_bytes(tensor->buffer->dtype)) { \
  case 1:                                             \
    TENSOR_GET(uint8_t)                               \
  case 2:                                             \
    TENSOR_GET(uint16_t)                              \
  case 4:                                             \
    TENSOR_GET(uint32_t)                              \
  default:                                            \
    TENSOR_GET(uint64_t)                              \
  }

void tesela__run_get(tesela__run *run, const tesela__run_tensor *tensor, int64_t n, tesela__run_places places,
                     tesela__run_value *v) {
  const uint8_t *bytes = tensor->buffer->bytes;
  const int32_t *mark = tensor->buffer->mark, own = tensor->id + 1;
  int64_t width = tensor->buffer->width, wrong = 0;
  bool single = width == run->grain;
  if (!single) wrong = tensor_unmarked(run, tensor, n, places);
  if (!places.list) { /* explicit for the compiler */
    places.list = NULL;
    TENSOR_GET_ALL
  } else {
    TENSOR_GET_ALL
  }
  run->facts.poison_read += wrong;
}

#define TENSOR_PUT(type)                               \
  for (int64_t j = 0; j < n; j++) {                    \
    type code = (type)v[j].i;                          \
    int64_t place = tesela__run_place(&places, j);     \
    memcpy(bytes + place * width, &code, sizeof code); \
    if (single) mark[place] = own;                     \
  }                                                    \
  break;

/* Write one place of each element, `shift` from its first. */
static void tensor_put(const tesela__run *run, const tesela__run_tensor *tensor, int64_t shift, int64_t n,
                       tesela__run_places places, const tesela__run_value *v) {
  int64_t width = tensor->buffer->width, needed = tesela__run_bytes(tensor->buffer->dtype);
  bool single = width == run->grain;
  uint8_t *bytes = tensor->buffer->bytes + shift * width;
  int32_t *mark = tensor->buffer->mark + shift, own = tensor->id + 1;
  if (!single) tensor_mark(run, tensor, n, places, shift);
  for (int64_t j = 0; j < n && width > needed; j++)
    memset(bytes + tesela__run_place(&places, j) * width + needed, 0, (size_t)(width - needed));
  switch (needed) {
  case 1:
    TENSOR_PUT(uint8_t)
  case 2:
    TENSOR_PUT(uint16_t)
  case 4:
    TENSOR_PUT(uint32_t)
  default:
    TENSOR_PUT(uint64_t)
  }
}

void tesela__run_put(tesela__run *run, const tesela__run_tensor *tensor, int64_t n, tesela__run_places places,
                     const tesela__run_value *v) {
  for (int64_t k = -1; k < tensor->n_copies; k++)
    tensor_put(run, tensor, k < 0 ? 0 : tensor->copy[k], n, places, v);
}

/* ---- values ---- */

void tesela__run_read_row(tesela__run *run, const tesela__run_tensor *tensor, int64_t n,
                          tesela__run_places places, tesela__run_class class, tesela__run_value *v) {
  const tesela__run_buffer *buffer = tensor->buffer;
  tesela__run_get(run, tensor, n, places, v);
  tesela__run_decode(buffer->dtype, n, v);
  if (buffer->dtype != buffer->host)
    tesela__run_convert_row(buffer->class, tesela__run_class_of(buffer->dtype), n, v);
  tesela__run_convert_row(class, buffer->class, n, v);
}

tesela_status tesela__run_write_row(tesela__run *run, const tesela__run_tensor *tensor, int64_t n,
                                    tesela__run_places places, tesela__run_class class, tesela__run_value *v,
                                    tesela_error *err) {
  const tesela__run_buffer *buffer = tensor->buffer;
  tesela__run_round_row(buffer->host, class, n, v);
  if (buffer->dtype != buffer->host) {
    int64_t fit = tesela__run_fit(buffer->dtype, buffer->class, n, v);
    if (fit < n)
      return tesela__fail(
          err, TESELA_E_RANGE, -1, "%.80s: value %" PRId64 " does not fit %s, the type on the device",
          tesela_graph_node(run->graph, tensor->at.node)->name, v[fit].i, tesela_dtype_name(buffer->dtype));
    tesela__run_round_row(buffer->dtype, buffer->class, n, v);
  }
  tesela__run_encode(buffer->dtype, n, v);
  tesela__run_put(run, tensor, n, places, v);
  return TESELA_OK;
}

tesela_status tesela__run_pass_row(tesela__run *run, const tesela__run_tensor *to,
                                   tesela__run_places to_places, const tesela__run_tensor *from,
                                   tesela__run_places from_places, int64_t n, tesela__run_value *v,
                                   tesela_error *err) {
  const tesela__run_buffer *dst = to->buffer, *src = from->buffer;
  if (dst->host != src->host || dst->dtype != src->dtype) {
    tesela__run_read_row(run, from, n, from_places, src->class, v);
    return tesela__run_write_row(run, to, n, to_places, src->class, v, err);
  }
  tesela__run_get(run, from, n, from_places, v);
  tesela__run_put(run, to, n, to_places, v);
  return TESELA_OK;
}

tesela__run_value tesela__run_read(tesela__run *run, const tesela__run_tensor *tensor, int64_t place) {
  tesela__run_value value;
  tesela__run_read_row(run, tensor, 1, (tesela__run_places){.first = place}, tensor->buffer->class, &value);
  return value;
}

tesela_status tesela__run_write(tesela__run *run, const tesela__run_tensor *tensor, int64_t place,
                                tesela__run_class class, tesela__run_value value, tesela_error *err) {
  return tesela__run_write_row(run, tensor, 1, (tesela__run_places){.first = place}, class, &value, err);
}

tesela_status tesela__run_pass(tesela__run *run, const tesela__run_tensor *to, int64_t to_place,
                               const tesela__run_tensor *from, int64_t from_place, tesela_error *err) {
  tesela__run_value value;
  return tesela__run_pass_row(run, to, (tesela__run_places){.first = to_place}, from,
                              (tesela__run_places){.first = from_place}, 1, &value, err);
}
