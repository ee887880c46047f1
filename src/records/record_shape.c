/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_shape.c - a ShapeProto as the text that XLA prints for it. Of a tuple the member that an index names; no recursion.
 */
#include "records/record_proto.h"

static bool read_tile(tesela__wire *wire, const tesela__wire_field *field, tesela_xla_layout *layout) {
  tesela__wire inside = tesela__wire_inside(wire, field);
  tesela__wire_field part;
  int n = layout->n_tile_numbers;
  if (layout->n_tiles >= TESELA_XLA_MAX_TILES) return false;
  while (tesela__wire_next(&inside, &part))
    if (part.number == 1 && !tesela__wire_list(&inside, &part, layout->tile, TESELA_XLA_MAX_TILE_NUMBERS, &n))
      break;
  if (!tesela__wire_after(wire, &inside)) return false;
  layout->tile_rank[layout->n_tiles++] = n - layout->n_tile_numbers;
  layout->n_tile_numbers = n;
  return true;
}

static bool read_layout(tesela__wire *wire, const tesela__wire_field *field, tesela_xla_layout *layout) {
  tesela__wire inside = tesela__wire_inside(wire, field);
  tesela__wire_field part;
  int64_t order[TESELA_MAX_RANK];
  int n = 0;
  bool known = true;
  while (known && tesela__wire_next(&inside, &part)) {
    int64_t value = (int64_t)part.value;
    switch (part.number) {
    case 1:
      known = tesela__wire_list(&inside, &part, order, TESELA_MAX_RANK, &n);
      break;
    case 6:
      known = read_tile(&inside, &part, layout);
      break;
    case 7:
      layout->element_bits = value;
      break;
    case 8:
      layout->memory_space = value >= -128 && value <= 127 ? (int32_t)value : 0;
      break;
    case 10:
    case 17:
      known = false;
      break; /* a physical shape; split configs: their text is not made here */
    case 11:
      layout->index_type = (tesela_dtype)(value & 127);
      break;
    case 12:
      layout->pointer_type = (tesela_dtype)(value & 127);
      break;
    case 15:
      layout->metadata_bytes = value;
      break;
    case 16:
      layout->tail = value > 0 ? value : 1;
      break;
    default:
      break;
    }
  }
  layout->rank = n;
  for (int i = 0; i < n; i++) layout->minor_to_major[i] = (int32_t)order[i];
  return tesela__wire_after(wire, &inside) && known;
}

/* The message of member `number` of a tuple. */
static bool enter_tuple(tesela__wire *shape, int64_t number) {
  tesela__wire_field part;
  while (tesela__wire_next(shape, &part))
    if (part.number == 4 && number-- == 0) {
      *shape = tesela__wire_inside(shape, &part);
      return true;
    }
  return false;
}

static int write_text(void *user, const char *text, size_t length) {
  tesela__proto_text *to = user;
  if (length > sizeof to->text - 1 - to->n) return 1;
  memcpy(to->text + to->n, text, length);
  to->n += length;
  to->text[to->n] = '\0';
  return 0;
}

bool tesela__proto_shape(tesela__wire *wire, const int64_t *index, int n_index, bool *is_tuple,
                         tesela__proto_text *text) {
  tesela_xla_shape shape;
  tesela__wire inside = *wire;
  tesela__wire_field part;
  int n = 0, n_dynamic = 0;
  int64_t dynamic[TESELA_MAX_RANK];
  memset(&shape, 0, sizeof shape);
  shape.layout.tail = 1;
  *is_tuple = false;
  text->n = 0;
  text->text[0] = '\0';
  for (int i = 0; i < n_index; i++)
    if (!enter_tuple(&inside, index[i])) return tesela__wire_after(wire, &inside);
  bool known = true;
  while (known && tesela__wire_next(&inside, &part)) {
    if (part.number == 2) {
      *is_tuple = part.value == 13;
      shape.dtype = part.value < 64 ? (tesela_dtype)part.value : TESELA_DTYPE_NONE;
    } else if (part.number == 3) {
      known = tesela__wire_list(&inside, &part, shape.dim, TESELA_MAX_RANK, &n);
    } else if (part.number == 5) {
      shape.has_layout = true;
      known = read_layout(&inside, &part, &shape.layout);
    } else if (part.number == 6) {
      known = tesela__wire_list(&inside, &part, dynamic, TESELA_MAX_RANK, &n_dynamic);
    }
  }
  if (!tesela__wire_after(wire, &inside)) return false;
  for (int i = 0; i < n_dynamic && i < n; i++) shape.dynamic |= dynamic[i] ? UINT32_C(1) << i : 0;
  shape.rank = n;
  shape.kind = shape.dtype == TESELA_TOKEN    ? TESELA_XLA_TOKEN
               : shape.dtype == TESELA_OPAQUE ? TESELA_XLA_OPAQUE
                                              : TESELA_XLA_ARRAY;
  if (!known || *is_tuple) return true;
  tesela_writer to = {write_text, text};
  if (tesela_xla_print(&shape, true, &to, NULL) != TESELA_OK) text->n = 0;
  text->text[text->n] = '\0';
  return true;
}
