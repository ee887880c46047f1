/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_profile.c - the programs in a profile, "host.xplane.pb": an XSpace whose planes have events; in the plane of metadata each
 * event is a program, and one of its numbers or texts is an HloProto.
 *
 * Fields of tsl's xplane.proto: space 1 planes; plane 2 name, 4 metadata of events and 5 of stats, both maps (1 key, 2 value); of an
 * event 5 stats; of a stat 1 id, 2 name; a stat 1 id, 6 bytes. What happened when, field 3 of a plane, is skipped as a whole.
 */
#include "records/record_proto.h"

static const char stat_name[] = "Hlo Proto";

/* Field `number` of a message, the first; false if it is not there. */
static bool wire_field(tesela__wire message, uint32_t number, tesela__wire_field *field) {
  while (tesela__wire_next(&message, field))
    if (field->number == number) return true;
  return false;
}

/* The value of an entry of a map. */
static bool enter_map(const tesela__wire *plane, const tesela__wire_field *entry, tesela__wire *value) {
  tesela__wire_field field;
  if (!wire_field(tesela__wire_inside(plane, entry), 2, &field)) return false;
  *value = tesela__wire_inside(plane, &field);
  return true;
}

/* The number that a plane gives to the stat of programs; false: it has none. */
static bool find_stat(tesela__wire plane, uint64_t *id) {
  tesela__wire_field entry, field;
  tesela__wire stat;
  while (tesela__wire_next(&plane, &entry)) {
    if (entry.number != 5 || !enter_map(&plane, &entry, &stat) || !wire_field(stat, 2, &field)) continue;
    if (field.type != TESELA__WIRE_BYTES || field.n != sizeof stat_name - 1 ||
        memcmp(field.bytes, stat_name, field.n) != 0)
      continue;
    *id = wire_field(stat, 1, &field) ? field.value : 0;
    return true;
  }
  return false;
}

/* The HloProtos of an event. */
static bool read_event(tesela__record_file *file, tesela__wire *event, uint64_t id) {
  tesela__wire_field field, number, bytes;
  while (tesela__wire_next(event, &field)) {
    if (field.number != 5) continue;
    tesela__wire stat = tesela__wire_inside(event, &field);
    if (!wire_field(stat, 1, &number) || number.value != id || !wire_field(stat, 6, &bytes)) continue;
    tesela__wire proto = tesela__wire_inside(event, &bytes);
    if (!tesela__record_open(file, TESELA_RECORD_PROFILE) || !tesela__record_proto_in(file, &proto))
      return false;
  }
  return true;
}

static bool read_plane(tesela__record_file *file, tesela__wire *plane) {
  tesela__wire_field entry;
  tesela__wire event;
  uint64_t id;
  if (!find_stat(*plane, &id)) {
    while (tesela__wire_next(plane, &entry)) continue; /* its damage is said, too */
    return true;
  }
  while (tesela__wire_next(plane, &entry)) {
    if (entry.number != 4 || !enter_map(plane, &entry, &event)) continue;
    if (!read_event(file, &event, id)) return false;
    tesela__wire_after(plane, &event);
  }
  return true;
}

bool tesela__record_profile(tesela__record_file *file) {
  const unsigned char *start = (const unsigned char *)file->rest.text;
  tesela__wire space = {.start = start, .p = start, .end = start + file->rest.n};
  tesela__wire_field field;
  bool fits = true;
  while (fits && tesela__wire_next(&space, &field)) {
    if (field.number != 1) continue;
    tesela__wire plane = tesela__wire_inside(&space, &field);
    fits = read_plane(file, &plane);
    tesela__wire_after(&space, &plane);
  }
  if (!fits || !space.wrong) return fits;
  return (file->program || tesela__record_open(file, TESELA_RECORD_PROFILE)) &&
         tesela__record_break_at(file, &space);
}

/* ---- beside the text ---------------------------------------------------------------------------------------- */

static bool compare_instructions(tesela_records *records, tesela__record_program *to,
                                 const tesela__record_program *from) {
  const tesela__record_instruction *made = from->instruction.items;
  bool fits = true;
  for (size_t i = 0; fits && i < from->instruction.n; i++) {
    const tesela__record_instruction *other = tesela__record_instruction_find(to, made[i].name);
    if (other && !other->proto)
      fits = tesela__record_compare_shapes(records, to, made[i].name, made[i].shape, other->shape);
  }
  return fits;
}

static void swap_lists(tesela__list *a, tesela__list *b) {
  tesela__list kept = *a;
  *a = *b;
  *b = kept;
}

bool tesela__record_compare_profile(tesela_records *records, tesela__record_program *to,
                                    tesela__record_program *from) {
  to->told.kinds |= from->told.kinds;
  if (!compare_instructions(records, to, from)) return false;
  bool alone = to->proto_allocation.n == 0;
  swap_lists(&to->proto_allocation, &from->proto_allocation);
  swap_lists(&to->proto_buffer, &from->proto_buffer);
  if (alone) return true; /* compared when the program is finished */
  bool fits = to->allocation.n == 0 || tesela__record_compare_proto(records, to);
  swap_lists(&to->proto_allocation, &from->proto_allocation);
  swap_lists(&to->proto_buffer, &from->proto_buffer);
  return fits;
}
