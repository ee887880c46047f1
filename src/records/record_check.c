/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_check.c - where records of one program do not say the same, with figures.
 */
#include "records/records.h"

enum { GRANULE = 512, LARGE_GRANULE = 4096 }; /* least allocations: most, and some for collectives */

/* The text of a member of a tuple shape, by an index such as "{1,0}"; an empty text if there is none. */
static tesela__span member_shape(tesela__span shape, const char *member) {
  static const tesela__span none = {"", 0};
  const char *p = shape.text, *end = shape.text + shape.n;
  int64_t number;
  for (const char *m = member; *m && *m != '}';) {
    m++; /* the brace or a comma */
    if (*m == '}') break;
    const char *m_end = m + strlen(m);
    if (!tesela__record_number(&m, m_end, &number) || p == end || *p != '(') return none;
    int depth = 0;
    for (p++; p < end && (number > 0 || *p == ' '); p++) {
      depth += (*p == '(' || *p == '{' || *p == '[') - (*p == ')' || *p == '}' || *p == ']');
      if (depth < 0) return none;
      if (*p == ',' && depth == 0) number--;
    }
    while (p < end && *p == ' ') p++;
    if (end - p > 2 && p[0] == '/' && p[1] == '*') { /* the comment index=5 */
      tesela__span rest = tesela__between(p, end);
      p = tesela__find(rest, "*/");
      p = p ? p + 2 : end;
    }
  }
  const char *start = p;
  p = tesela__skip_array(start, end);
  return p ? tesela__between(start, p) : none;
}

/* The bytes of a shape, -1 for a tuple or a shape that cannot be measured. */
static int64_t bytes_of(const char *text) {
  tesela_xla_shape shape;
  tesela_xla_sizes sizes;
  if (text[0] == '(' || text[0] == '\0') return -1;
  if (tesela_xla_parse(text, strlen(text), TESELA_XLA_STRICT, &shape, NULL, NULL) != TESELA_OK) return -1;
  return tesela_xla_size(&shape, &sizes, NULL) == TESELA_OK ? sizes.allocated_bytes : -1;
}

static int64_t whole(int64_t bytes, int64_t granule) {
  return bytes > INT64_MAX - granule ? bytes : (bytes + granule - 1) / granule * granule;
}

static bool check_made(tesela_records *records, tesela__record_program *program,
                       const tesela_record_buffer *buffer) {
  const tesela__record_instruction *made = tesela__record_instruction_find(program, buffer->instruction);
  if ((!made || made->proto) && program->told.kinds & 1u << TESELA_RECORD_HLO)
    return tesela__record_differ(records, program, TESELA_RECORD_UNNAMED,
                                 "the HLO text has no instruction %.80s of the buffer assignment",
                                 buffer->instruction);
  if (!made || buffer->shape[0] == '(' || buffer->shape[0] == '\0') return true;
  tesela__span shape = member_shape(tesela__text(made->shape), buffer->member);
  if (shape.n == 0 || (shape.n == strlen(buffer->shape) && memcmp(shape.text, buffer->shape, shape.n) == 0))
    return true;
  return tesela__record_differ(records, program, TESELA_RECORD_LAYOUT,
                               "%.60s%.20s is %.80s in the buffer assignment and %.*s in the HLO text",
                               buffer->instruction, buffer->member, buffer->shape,
                               (int)tesela__min((int64_t)shape.n, 80), shape.text);
}

static bool check_record(tesela_records *records, tesela__record_program *program,
                         tesela_record_buffer *buffer) {
  const tesela_record_allocation *in =
      &((const tesela_record_allocation *)program->allocation.items)[buffer->allocation];
  bool fits = true;
  buffer->stored_bytes = bytes_of(buffer->shape);
  if (buffer->offset > in->bytes || buffer->bytes > in->bytes - buffer->offset)
    fits = tesela__record_differ(
        records, program, TESELA_RECORD_OUTSIDE,
        "%.60s%.20s ends at %" PRId64 " + %" PRId64 "; its allocation %" PRId64 " has %" PRId64 " bytes",
        buffer->instruction, buffer->member, buffer->offset, buffer->bytes, in->number, in->bytes);
  if (fits && buffer->stored_bytes >= 0 && buffer->bytes != buffer->stored_bytes &&
      buffer->bytes != whole(buffer->stored_bytes, GRANULE) &&
      buffer->bytes != whole(buffer->stored_bytes, LARGE_GRANULE))
    fits = tesela__record_differ(records, program, TESELA_RECORD_SIZE,
                                 "%.60s%.20s takes %" PRId64 " bytes; its shape %.80s takes %" PRId64,
                                 buffer->instruction, buffer->member, buffer->bytes, buffer->shape,
                                 buffer->stored_bytes);
  if (fits && program->range.n > 0 && in->use == TESELA_RECORD_TEMPORARY && buffer->from < 0)
    fits = tesela__record_differ(
        records, program, TESELA_RECORD_UNSCHEDULED,
        "%.60s%.20s of %" PRId64
        " bytes has no live range; it counts as alive from the first instant to the last",
        buffer->instruction, buffer->member, buffer->bytes);
  return fits && check_made(records, program, buffer);
}

static bool check_totals(tesela_records *records, tesela__record_program *program) {
  const tesela_record_program *told = &program->told;
  const tesela_record_space *space = program->space.items;
  const tesela__record_total *total = program->total.items;
  bool fits = true;
  if (program->allocation.n == 0) return true;
  if (told->total_bytes >= 0 && told->total_bytes != told->sum_bytes)
    fits = tesela__record_differ(records, program, TESELA_RECORD_TOTAL,
                                 "the buffer assignment has %" PRId64
                                 " bytes in all; its allocations have %" PRId64,
                                 told->total_bytes, told->sum_bytes);
  for (size_t i = 0; fits && i < program->space.n; i++)
    if (space[i].printed_bytes >= 0 && space[i].printed_bytes != space[i].needs_bytes)
      fits = tesela__record_differ(records, program, TESELA_RECORD_SPACE,
                                   "memory space %" PRId32 ": the memory usage report has %" PRId64
                                   " bytes, the buffer assignment %" PRId64,
                                   space[i].space, space[i].printed_bytes, space[i].needs_bytes);
  for (size_t i = 0; fits && i < program->total.n; i++)
    if (total[i].space < 0 && total[i].bytes != told->sum_bytes)
      fits = tesela__record_differ(records, program, TESELA_RECORD_SPACE,
                                   "the memory usage report has %" PRId64
                                   " bytes in all, the buffer assignment %" PRId64,
                                   total[i].bytes, told->sum_bytes);
  return fits;
}

bool tesela__record_check(tesela_records *records, tesela__record_program *program) {
  tesela_record_buffer *buffer = program->buffer.items;
  bool fits = check_totals(records, program);
  for (size_t i = 0; fits && i < program->buffer.n; i++) fits = check_record(records, program, &buffer[i]);
  return fits;
}
