/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_lines.c - records of which every line is read alone.
 *
 *   live ranges              "    12:fusion.9", then "    fusion.8{0}:5-10"
 *   memory usage reports     "Memory Space: vmem (color=1)" and "Total bytes: 503382528 (480.06MiB)"; older ones "Total bytes used: 786452"
 *   memory space assignment  tables in CSV: buffers, their places in faster memory, the schedule that the instants number
 *   HLO text                 instructions: their shapes, operations and source lines
 */
#include "records/records.h"

/* ---- live ranges ------------------------------------------------------------------------------------------ */

static bool read_instant(tesela__record_file *file, tesela__list *list, tesela__span line) {
  const char *end = line.text + line.n, *p = tesela__skip_blanks(line.text, end);
  int64_t number;
  if (!tesela__record_number(&p, end, &number) || p == end || (*p != ':' && *p != ',') ||
      number != (int64_t)list->n)
    return tesela__record_break(file, "the next instant and its instruction");
  const char **to = tesela__record_more(file->records, list, sizeof *to);
  if (!to) return false;
  *to = tesela__record_text(file->records, tesela__from(line, p + 1));
  return *to != NULL;
}

static bool read_range(tesela__record_file *file, tesela__span line) {
  const char *end = line.text + line.n, *p = tesela__skip_blanks(line.text, end), *name = p;
  tesela__record_range range;
  p = tesela__skip_name(p, end);
  tesela__span text = tesela__between(name, p), member;
  const char *close = p < end && *p == '{' ? memchr(p, '}', (size_t)(end - p)) : NULL;
  member = tesela__between(p, close ? close + 1 : p);
  p = close ? close + 1 : end;
  bool fits = text.n > 0 && p < end && *p++ == ':' && tesela__record_number(&p, end, &range.from) &&
              p < end && *p++ == '-' && tesela__record_number(&p, end, &range.to) && p == end &&
              range.from <= range.to;
  if (!fits) return tesela__record_break(file, "NAME{INDEX}:FROM-TO");
  tesela__record_program *program = file->program;
  tesela__record_range *to = tesela__record_more(file->records, &program->range, sizeof *to);
  if (!to) return false;
  range.name = tesela__record_text(file->records, text);
  range.member = tesela__record_text(file->records, member);
  *to = range;
  if (!range.name || !range.member) {
    program->range.n--;
    return false;
  }
  return tesela__record_index(file->records, &program->ranges, &program->range, tesela__record_range_name);
}

bool tesela__record_live_range(tesela__record_file *file) {
  enum { NONE, INSTANTS, RANGES } part = NONE;
  tesela__span line;
  while (tesela__record_next_line(file, &line)) {
    if (tesela__find(line, "InstructionSequence:"))
      part = INSTANTS;
    else if (tesela__find(line, "BufferLiveRange:"))
      part = RANGES;
    else if (tesela__find(line, "Live ranges at "))
      return true;
    else if (line.n > 0 && part == INSTANTS && !read_instant(file, &file->program->instant, line))
      return false;
    else if (line.n > 0 && part == RANGES && !read_range(file, line))
      return false;
  }
  return true;
}

/* ---- memory usage reports --------------------------------------------------------------------------------- */

bool tesela__record_usage(tesela__record_file *file) {
  tesela__span line;
  int64_t space = -1; /* -1: an older report, of all spaces */
  while (tesela__record_next_line(file, &line)) {
    const char *end = line.text + line.n, *p = tesela__find(line, "(color=");
    if (tesela__looking_at(line.text, end, "Memory Space: ")) {
      p = p ? p + strlen("(color=") : end;
      if (!tesela__record_number(&p, end, &space) || space > 127)
        return tesela__record_break(file, "Memory Space: NAME (color=NUMBER)");
      continue;
    }
    bool used = tesela__looking_at(line.text, end, "Total bytes used: ");
    if (!used && !tesela__looking_at(line.text, end, "Total bytes: ")) continue;
    p = line.text + strlen(used ? "Total bytes used: " : "Total bytes: ");
    tesela__record_total *to = tesela__record_more(file->records, &file->program->total, sizeof *to);
    if (!to) return false;
    *to = (tesela__record_total){.space = (int32_t)space, .exact = true};
    if (!tesela__record_number(&p, end, &to->bytes)) {
      file->program->total.n--;
      return tesela__record_break(file, "a total in bytes");
    }
  }
  return true;
}

/* ---- memory space assignment ------------------------------------------------------------------------------ */

/* The next field of a line of CSV, which may be in quotes; false at its end. */
static bool next_column(tesela__span *line, tesela__span *field) {
  const char *p = line->text, *end = line->text + line->n;
  if (!p || p > end || line->n == 0) return false;
  if (*p == '"') {
    const char *close = memchr(p + 1, '"', (size_t)(end - p - 1));
    if (!close) return false;
    *field = tesela__between(p + 1, close);
    p = close + 1;
  } else {
    const char *comma = memchr(p, ',', (size_t)(end - p));
    *field = tesela__between(p, comma ? comma : end);
    p = comma ? comma : end;
  }
  *line = tesela__between(p < end && *p == ',' ? p + 1 : p, end);
  return true;
}

static bool next_number(tesela__span *line, int64_t *number) {
  tesela__span field;
  if (!next_column(line, &field)) return false;
  const char *p = field.text, *end = field.text + field.n;
  return tesela__record_number(&p, end, number) && p == end;
}

static bool after_header(tesela__record_file *file, tesela__span *line) {
  while (tesela__record_next_line(file, line))
    if (line->n > 0 && !tesela__find(*line, "buffer_id,") && !tesela__find(*line, "time,instruction_name"))
      return true;
  return false;
}

/* The name of a buffer is kept as a range from and to its number: 38,"<38 b.1>",... */
bool tesela__record_space_buffers(tesela__record_file *file) {
  tesela__span line, name;
  int64_t id;
  while (after_header(file, &line)) {
    if (!next_number(&line, &id) || !next_column(&line, &name))
      return tesela__record_break(file, "a buffer's number and name");
    const char *end = name.text + name.n, *blank = memchr(name.text, ' ', name.n);
    const char *start = blank ? blank + 1 : name.text;
    tesela__record_range *to = tesela__record_more(file->records, &file->program->space_name, sizeof *to);
    if (!to) return false;
    to->from = to->to = id;
    to->member = "";
    to->name = tesela__record_text(file->records, tesela__between(start, tesela__skip_name(start, end)));
    if (!to->name) return false;
  }
  return true;
}

bool tesela__record_space_allocations(tesela__record_file *file) {
  tesela__span line;
  while (after_header(file, &line)) {
    tesela_record_stay stay = {.buffer = "", .first = "", .last = ""};
    if (!next_number(&line, &stay.id) || !next_number(&line, &stay.bytes) ||
        !next_number(&line, &stay.offset) || !next_number(&line, &stay.from) || !next_number(&line, &stay.to))
      return tesela__record_break(file, "a buffer's number, size, offset, first and last instant");
    tesela_record_stay *to = tesela__record_more(file->records, &file->program->stay, sizeof *to);
    if (!to) return false;
    *to = stay;
  }
  return true;
}

bool tesela__record_space_schedule(tesela__record_file *file) {
  tesela__span line;
  while (after_header(file, &line))
    if (!read_instant(file, &file->program->space_instant, line)) return false;
  return true;
}

/* ---- HLO text --------------------------------------------------------------------------------------------- */

bool tesela__record_instruction_line(tesela__record_file *file, tesela__span line) {
  tesela__record_program *program = file->program;
  tesela_records *records = file->records;
  tesela__instruction read;
  char room[600];
  if (!tesela__hlo_prefixed(line, &read) || read.name.n == 0) return true;
  tesela__record_instruction made = {
      tesela__record_text(records, read.name), tesela__record_text(records, read.shape),
      tesela__record_text(records, tesela__hlo_metadata(read.rest, "op_name")),
      tesela__record_text(records, tesela__hlo_location(&program->frames, read.rest, room, sizeof room)),
      false};
  if (!made.name || !made.shape || !made.op_name || !made.location) return false;
  tesela__record_instruction *other = tesela__record_instruction_find(program, made.name);
  if (other) { /* of the HloProto, or of the values of a buffer assignment */
    bool fits =
        !other->proto || tesela__record_compare_shapes(records, program, made.name, other->shape, made.shape);
    *other = made;
    return fits;
  }
  tesela__record_instruction *to = tesela__record_more(records, &program->instruction, sizeof *to);
  if (!to) return false;
  *to = made;
  return tesela__record_index(records, &program->instructions, &program->instruction,
                              tesela__record_instruction_name);
}

bool tesela__record_hlo(tesela__record_file *file) {
  tesela__record_program *program = file->program;
  tesela__span line;
  while (tesela__record_next_line(file, &line)) {
    bool is_row = false;
    const char *end = line.text + line.n;
    if (tesela__looking_at(line.text, end, "HloModule ")) {
      const char *name = line.text + strlen("HloModule ");
      program->told.name =
          tesela__record_text(file->records, tesela__between(name, tesela__skip_name(name, end)));
      if (!program->told.name) return false;
      continue;
    }
    if (!tesela__frames_line(&program->frames, &file->records->text, &file->records->allocator, line,
                             &is_row))
      return false;
    if (!is_row && line.n > 0 && tesela__is_blank(line.text[0]) &&
        !tesela__record_instruction_line(file, line))
      return false;
  }
  return true;
}
