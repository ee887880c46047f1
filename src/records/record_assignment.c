/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_assignment.c - the compiler's buffer assignment as text.
 *
 *   BufferAssignment:
 *   allocation 7: size 201392128, color 1, parameter 2, shape |f32[8]| at ShapeIndex {}, maybe-live-out, preallocated-temp:
 *    value: <49 fusion.8{0} @1> (size=134217728,offset=65536): f32[4096,8192]{1,0:T(8,128)S(1)}
 *   Total bytes used: 604045828 (576.06MiB)
 *   Used values: ...
 *
 * Older ones have an address before the size, "allocation 0: 0x5580, size 4", or name a value as "fusion.8[0](#49 @1)". Their values
 * stand in the same file, those of newer ones in another.
 */
#include "records/records.h"

static bool has(tesela__span line, const char *word) { return tesela__find(line, word) != NULL; }

/* The number after a word, or -1. */
static int64_t number_after(tesela__span line, const char *word) {
  const char *p = tesela__find(line, word), *end = line.text + line.n;
  int64_t number = -1;
  if (!p) return -1;
  p += strlen(word);
  return tesela__record_number(&p, end, &number) ? number : -1;
}

/* Without what stands between bars: shapes, which may hold any word. */
static tesela__span words_of(tesela__span line, char room[400]) {
  size_t n = 0;
  bool inside = false;
  for (size_t i = 0; i < line.n && n < 399; i++) {
    if (line.text[i] == '|') inside = !inside;
    if (!inside) room[n++] = line.text[i];
  }
  return (tesela__span){room, n};
}

static bool read_allocation(tesela__record_file *file, tesela__span line) {
  const char *p = line.text + strlen("allocation "), *end = line.text + line.n;
  char room[400];
  int64_t number, space;
  if (!tesela__record_number(&p, end, &number) || p == end || *p != ':')
    return tesela__record_break(file, "allocation NUMBER: size BYTES, ...");
  tesela__span words = words_of(tesela__from(line, p + 1), room);
  int64_t bytes = number_after(words, " size ");
  if (bytes < 0) return tesela__record_break(file, "an allocation's size");
  tesela_record_allocation *to = tesela__record_more(file->records, &file->program->allocation, sizeof *to);
  if (!to) return false;
  space = number_after(words, ", color ");
  *to = (tesela_record_allocation){.number = number,
                                   .bytes = bytes,
                                   .space = space > 0 && space < 128 ? (int32_t)space : 0,
                                   .live_out = has(words, "maybe-live-out"),
                                   .parameter = number_after(words, ", parameter ")};
  to->use = has(words, "preallocated-temp") ? TESELA_RECORD_TEMPORARY
            : to->parameter >= 0            ? TESELA_RECORD_PARAMETER
            : has(words, "constant")        ? TESELA_RECORD_CONSTANT
            : has(words, "thread-local")    ? TESELA_RECORD_THREAD_LOCAL
            : to->live_out                  ? TESELA_RECORD_RESULT
                                            : TESELA_RECORD_OTHER;
  return true;
}

/* "<49 fusion.8{0} (phi) @1>" or "fusion.8[0](#49 @1)" to id, name and member; false if it is neither. */
static bool read_name(tesela__span text, int64_t *id, tesela__span *name, tesela__span *member,
                      int32_t *carried) {
  const char *p = text.text, *end = text.text + text.n;
  bool angle = p < end && *p == '<';
  if (angle && (p++, !tesela__record_number(&p, end, id) || p == end || *p++ != ' ')) return false;
  const char *start = p;
  p = tesela__skip_name(p, end);
  *name = tesela__between(start, p);
  start = p;
  if (p < end && *p == (angle ? '{' : '[')) {
    const char *close = memchr(p, angle ? '}' : ']', (size_t)(end - p));
    if (!close) return false;
    p = close + 1;
  }
  *member = tesela__between(start, p);
  if (name->n == 0) return false;
  *carried = angle ? tesela__looking_at(p, end, " (phi)") : -1;
  if (angle) return true;
  return end - p > 2 && p[0] == '(' && p[1] == '#' && (p += 2, tesela__record_number(&p, end, id));
}

/* "[0,1]" of older texts as "{0,1}". */
static bool copy_member(tesela_records *records, tesela__span member, const char **to) {
  char room[64];
  if (member.n > 0 && member.text[0] == '[' && member.n < sizeof room) {
    memcpy(room, member.text, member.n);
    room[0] = '{';
    room[member.n - 1] = '}';
    member.text = room;
  }
  if (member.n == 2 && member.text[0] == '{' && member.text == room) member.n = 0; /* [] is the whole value */
  *to = tesela__record_text(records, member);
  return *to != NULL;
}

static bool read_value(tesela__record_file *file, tesela__span line) {
  const char *end = line.text + line.n, *size = tesela__find(line, " (size="), *p = size;
  tesela__span name, member;
  int64_t id = -1, bytes, offset;
  int32_t carried = -1;
  bool fits = size && read_name(tesela__between(line.text, size), &id, &name, &member, &carried);
  if (fits) p = size + strlen(" (size=");
  fits = fits && tesela__record_number(&p, end, &bytes) && tesela__looking_at(p, end, ",offset=");
  if (fits) p += strlen(",offset=");
  fits = fits && tesela__record_number(&p, end, &offset) && tesela__looking_at(p, end, "): ");
  if (!fits) return tesela__record_break(file, "value: <ID NAME @COLOUR> (size=BYTES,offset=BYTES): SHAPE");
  if (file->program->allocation.n == 0) return tesela__record_break(file, "an allocation before its values");
  size_t last = file->program->allocation.n - 1;
  tesela_record_buffer *to = tesela__record_more(file->records, &file->program->buffer, sizeof *to);
  if (!to) return false;
  *to = (tesela_record_buffer){.id = id,
                               .allocation = (int64_t)last,
                               .offset = offset,
                               .bytes = bytes,
                               .stored_bytes = -1,
                               .from = -1,
                               .to = -1,
                               .carried = carried,
                               .planned_offset = -1};
  to->space = ((const tesela_record_allocation *)file->program->allocation.items)[last].space;
  to->instruction = tesela__record_text(file->records, name);
  to->shape = tesela__record_text(file->records, tesela__from(line, p + 3));
  to->op_name = to->location = "";
  return to->instruction && to->shape && copy_member(file->records, member, &to->member);
}

/* The total ends the assignment, or starts the file of its values. */
static void read_total(tesela__record_file *file, tesela__span line) {
  static const char words[] = "Total bytes used: ";
  const char *end = line.text + line.n, *p = line.text + strlen(words);
  int64_t total;
  if (tesela__looking_at(line.text, end, words) && tesela__record_number(&p, end, &total))
    file->program->told.total_bytes = total;
}

bool tesela__record_assignment(tesela__record_file *file) {
  tesela__span line;
  while (tesela__record_next_line(file, &line)) {
    const char *end = line.text + line.n, *p = tesela__skip_blanks(line.text, end);
    tesela__span text = tesela__from(line, p);
    bool fits = true;
    read_total(file, line);
    if (tesela__looking_at(p, end, "allocation ")) {
      fits = read_allocation(file, text);
    } else if (tesela__looking_at(p, end, "value: ")) {
      fits = read_value(file, tesela__from(line, p + strlen("value: ")));
    } else if (tesela__find(text, "](#") && tesela__find(text, " (size=")) {
      fits = read_value(file, text);
    } else if (tesela__looking_at(p, end, "Used values:")) {
      return tesela__record_values(file);
    }
    if (!fits) return false;
  }
  return true;
}

bool tesela__record_values(tesela__record_file *file) {
  static const char from[] = "from instruction: ";
  tesela__span line;
  while (tesela__record_next_line(file, &line)) {
    const char *end = line.text + line.n, *p = tesela__skip_blanks(line.text, end);
    read_total(file, line);
    if (tesela__looking_at(p, end, from) &&
        !tesela__record_instruction_line(file, tesela__from(line, p + strlen(from))))
      return false;
  }
  return true;
}
