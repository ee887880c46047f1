/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.c - protobuf's wire format: keys, variable-length numbers, bytes with a length.
 */
#include "records/wire.h"

static bool wrong_at(tesela__wire *wire, const unsigned char *p, const char *why) {
  wire->wrong = why;
  wire->at = p - wire->start;
  return false;
}

static bool read_varint(tesela__wire *wire, uint64_t *value) {
  const unsigned char *start = wire->p;
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (wire->p == wire->end) return wrong_at(wire, start, "a number that does not end");
    unsigned char byte = *wire->p++;
    if (shift == 63 && byte > 1) return wrong_at(wire, start, "a number of more than 64 bits");
    *value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return wrong_at(wire, start, "a number of more than 10 bytes");
}

bool tesela__wire_next(tesela__wire *wire, tesela__wire_field *field) {
  for (;;) {
    const unsigned char *start = wire->p;
    uint64_t key, n;
    if (wire->wrong || wire->p == wire->end || !read_varint(wire, &key)) return false;
    if (key >> 3 == 0 || key >> 3 > 536870911)
      return wrong_at(wire, start, "a field number outside 1 to 2^29 - 1");
    *field = (tesela__wire_field){.number = (uint32_t)(key >> 3), .type = (int)(key & 7)};
    switch (field->type) {
    case TESELA__WIRE_NUMBER:
      return read_varint(wire, &field->value);
    case TESELA__WIRE_BYTES:
      if (!read_varint(wire, &n)) return false;
      if (n > (uint64_t)(wire->end - wire->p))
        return wrong_at(wire, start, "a field that ends after its message");
      field->bytes = wire->p;
      field->n = (size_t)n;
      wire->p += n;
      return true;
    case 1:
    case 5:
      n = field->type == 1 ? 8 : 4;
      if (n > (uint64_t)(wire->end - wire->p))
        return wrong_at(wire, start, "a field that ends after its message");
      wire->p += n;
      break;
    default:
      return wrong_at(wire, start, "a group or an unknown wire type");
    }
  }
}

tesela__wire tesela__wire_inside(const tesela__wire *wire, const tesela__wire_field *field) {
  bool bytes = field->type == TESELA__WIRE_BYTES;
  const unsigned char *p = bytes ? field->bytes : wire->p;
  return (tesela__wire){.start = wire->start, .p = p, .end = bytes ? p + field->n : p};
}

bool tesela__wire_list(tesela__wire *wire, const tesela__wire_field *field, int64_t *list, int most, int *n) {
  tesela__wire inside = tesela__wire_inside(wire, field);
  if (field->type == TESELA__WIRE_NUMBER) {
    if (*n >= most) return wrong_at(wire, wire->p, "a list that is too long");
    list[(*n)++] = (int64_t)field->value;
    return true;
  }
  while (inside.p < inside.end) {
    uint64_t value;
    if (*n >= most) return wrong_at(wire, inside.p, "a list that is too long");
    if (!read_varint(&inside, &value)) return tesela__wire_after(wire, &inside);
    list[(*n)++] = (int64_t)value;
  }
  return true;
}

bool tesela__wire_after(tesela__wire *wire, const tesela__wire *inside) {
  if (!inside->wrong) return true;
  wire->wrong = inside->wrong;
  wire->at = inside->at;
  return false;
}
