/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_read.c - buffers from CSV text: a header line that names columns, then one line per buffer.
 *
 * Fields may be in double quotes, with "" for a quote inside; a quoted field ends on its line. A row is read field by
 * field straight into a buffer, so lines have no length limit. Equal ids are found by a hash table at the end.
 */
#include "solve/arena/arena.h"

typedef enum arena_csv_column {
  ARENA_CSV_ID,
  ARENA_CSV_LOWER,
  ARENA_CSV_UPPER,
  ARENA_CSV_SIZE,
  ARENA_CSV_ALIGNMENT,
  ARENA_CSV_OFFSET,
  ARENA_CSV_WEIGHT,
  ARENA_CSV_HINT,
  ARENA_CSV_GAPS,
  ARENA_CSV_COLUMNS,
} arena_csv_column;

/* name, column, amount added to the value. The first name of a column is its own; the first four columns are required. */
static const struct {
  const char *name;
  arena_csv_column column;
  int64_t add;
} arena_csv_names[] = {
    {"id", ARENA_CSV_ID, 0},         {"lower", ARENA_CSV_LOWER, 0},         {"upper", ARENA_CSV_UPPER, 0},
    {"size", ARENA_CSV_SIZE, 0},     {"alignment", ARENA_CSV_ALIGNMENT, 0}, {"offset", ARENA_CSV_OFFSET, 0},
    {"weight", ARENA_CSV_WEIGHT, 0}, {"hint", ARENA_CSV_HINT, 0},           {"gaps", ARENA_CSV_GAPS, 0},
    {"buffer", ARENA_CSV_ID, 0},     {"buffer_id", ARENA_CSV_ID, 0},        {"begin", ARENA_CSV_LOWER, 0},
    {"start", ARENA_CSV_LOWER, 0},   {"end", ARENA_CSV_UPPER, 1},
};

typedef struct arena_csv_field {
  const char *text; /* within the input, without quotes and the spaces around it */
  size_t length, at;
  bool quoted, last; /* last: of its line */
} arena_csv_field;

typedef struct arena_csv_reader {
  const char *text;
  size_t length, at;
  int64_t line; /* from 1 */
  arena_csv_column column[ARENA_CSV_COLUMNS];
  int64_t upper_add;
  int32_t n_columns;
  tesela_allocator memory;
  tesela_arena_buffer *buffer;
  size_t *place; /* the byte of each buffer's id */
  size_t n, most, most_places;
  tesela_error *err;
} arena_csv_reader;

#define ARENA_CSV_FAIL(r, status, at, ...) tesela__fail((r)->err, status, (int64_t)(at), __VA_ARGS__)

/* ---- fields ------------------------------------------------------------------------------------------------ */

static bool arena_csv_is_space(char c) { return c == ' ' || c == '\t'; }

static bool arena_csv_at_line_end(const arena_csv_reader *r) {
  if (r->at >= r->length || r->text[r->at] == '\n') return true;
  return r->text[r->at] == '\r' && (r->at + 1 == r->length || r->text[r->at + 1] == '\n');
}

static void arena_csv_skip_spaces(arena_csv_reader *r) {
  while (r->at < r->length && arena_csv_is_space(r->text[r->at])) r->at++;
}

/* Past the end of the line. */
static void arena_csv_end_line(arena_csv_reader *r) {
  if (r->at < r->length && r->text[r->at] == '\r') r->at++;
  if (r->at < r->length) r->at++;
  r->line++;
}

/* The bytes of a field up to its end: a comma or the end of the line, or the closing quote. */
static tesela_status arena_csv_scan(arena_csv_reader *r, bool quoted) {
  while (!arena_csv_at_line_end(r)) {
    char c = r->text[r->at];
    uint32_t character;
    size_t width = tesela_utf8_character(r->text + r->at, r->length - r->at, &character);
    if (quoted && c == '"') {
      if (r->at + 1 >= r->length || r->text[r->at + 1] != '"') return TESELA_OK;
      r->at++;
    } else if (!quoted && (c == ',' || c == '"')) {
      break;
    }
    if (width == 0 || ((unsigned char)c < ' ' && c != '\t') || c == 0x7F)
      return ARENA_CSV_FAIL(r, TESELA_E_SYNTAX, r->at, "byte 0x%02X in line %" PRId64 " is %s",
                            (unsigned)(unsigned char)c, r->line,
                            width == 0 ? "not UTF-8" : "a control character");
    r->at += width;
  }
  if (quoted)
    return ARENA_CSV_FAIL(r, TESELA_E_SYNTAX, r->at, "line %" PRId64 " ends inside quotes", r->line);
  return TESELA_OK;
}

/* Read one field and what ends it. */
static tesela_status arena_csv_next(arena_csv_reader *r, arena_csv_field *field) {
  arena_csv_skip_spaces(r);
  field->quoted = r->at < r->length && r->text[r->at] == '"';
  if (field->quoted) r->at++;
  field->at = r->at;
  field->text = r->text + r->at;
  tesela_status status = arena_csv_scan(r, field->quoted);
  if (status != TESELA_OK) return status;
  field->length = r->at - field->at;
  if (field->quoted) r->at++;
  while (!field->quoted && field->length > 0 && arena_csv_is_space(field->text[field->length - 1]))
    field->length--;
  arena_csv_skip_spaces(r);
  field->last = arena_csv_at_line_end(r);
  if (field->last) return TESELA_OK;
  if (r->text[r->at] != ',')
    return ARENA_CSV_FAIL(r, TESELA_E_SYNTAX, r->at,
                          "line %" PRId64 " has text after a field; expected a comma", r->line);
  r->at++;
  return TESELA_OK;
}

/* The bytes of a field that a message shows: up to 32, whole characters. */
static int arena_csv_shown(const arena_csv_field *f) {
  size_t n = f->length < 32 ? f->length : 32;
  while (n > 0 && n < f->length && ((unsigned char)f->text[n] & 0xC0) == 0x80) n--;
  return (int)n;
}

/* ---- the header -------------------------------------------------------------------------------------------- */

static tesela_status arena_csv_name(arena_csv_reader *r, const arena_csv_field *f) {
  size_t k = 0, n = sizeof arena_csv_names / sizeof *arena_csv_names;
  while (k < n && (strlen(arena_csv_names[k].name) != f->length ||
                   memcmp(arena_csv_names[k].name, f->text, f->length) != 0))
    k++;
  if (k == n)
    return ARENA_CSV_FAIL(r, TESELA_E_SYNTAX, f->at,
                          "unknown column '%.*s'; expected id, lower (start, begin), upper (end), size, "
                          "alignment, offset, weight, hint or gaps",
                          arena_csv_shown(f), f->text);
  for (int32_t c = 0; c < r->n_columns; c++)
    if (r->column[c] == arena_csv_names[k].column)
      return ARENA_CSV_FAIL(r, TESELA_E_SYNTAX, f->at, "column '%s' is given twice",
                            arena_csv_names[r->column[c]].name);
  r->column[r->n_columns++] = arena_csv_names[k].column;
  if (arena_csv_names[k].column == ARENA_CSV_UPPER) r->upper_add = arena_csv_names[k].add;
  return TESELA_OK;
}

static tesela_status arena_csv_header(arena_csv_reader *r) {
  arena_csv_field field = {.last = false};
  unsigned seen = 0;
  size_t start = r->at;
  while (!field.last) {
    tesela_status status = arena_csv_next(r, &field);
    if (status == TESELA_OK) status = arena_csv_name(r, &field);
    if (status != TESELA_OK) return status;
    seen |= 1u << r->column[r->n_columns - 1];
  }
  for (arena_csv_column c = ARENA_CSV_ID; c <= ARENA_CSV_SIZE; c++)
    if (!(seen >> c & 1u))
      return ARENA_CSV_FAIL(r, TESELA_E_SYNTAX, start, "the header has no column '%s'",
                            arena_csv_names[c].name);
  arena_csv_end_line(r);
  return TESELA_OK;
}

/* ---- rows -------------------------------------------------------------------------------------------------- */

static tesela_status arena_csv_number(arena_csv_reader *r, const arena_csv_field *f, const char *name,
                                      int64_t *out) {
  size_t k = f->length > 0 && (f->text[0] == '-' || f->text[0] == '+');
  bool minus = k && f->text[0] == '-', fits = true;
  int64_t value = 0;
  if (k == f->length)
    return ARENA_CSV_FAIL(r, TESELA_E_SYNTAX, f->at, "%s in line %" PRId64 " is not a number: '%.*s'", name,
                          r->line, arena_csv_shown(f), f->text);
  for (; k < f->length; k++) {
    if (f->text[k] < '0' || f->text[k] > '9')
      return ARENA_CSV_FAIL(r, TESELA_E_SYNTAX, f->at + k, "%s in line %" PRId64 " is not a number: '%.*s'",
                            name, r->line, arena_csv_shown(f), f->text);
    int digit = f->text[k] - '0';
    fits = fits && tesela__mul(value, 10, &value) && tesela__add(value, minus ? -digit : digit, &value);
  }
  if (!fits)
    return ARENA_CSV_FAIL(r, TESELA_E_SYNTAX, f->at, "%s in line %" PRId64 " does not fit in 64 bits: '%.*s'",
                          name, r->line, arena_csv_shown(f), f->text);
  *out = value;
  return TESELA_OK;
}

static tesela_status arena_csv_id(arena_csv_reader *r, const arena_csv_field *f, tesela_arena_buffer *b) {
  size_t n = 0;
  for (size_t k = 0; k < f->length; k++) {
    if (n == TESELA_ARENA_ID - 1)
      return ARENA_CSV_FAIL(r, TESELA_E_SYNTAX, f->at,
                            "the id in line %" PRId64 " has %zu bytes; expected at most %d", r->line,
                            f->length, TESELA_ARENA_ID - 1);
    b->id[n++] = f->text[k];
    if (f->quoted && f->text[k] == '"') k++;
  }
  if (n > 0) return TESELA_OK;
  return ARENA_CSV_FAIL(r, TESELA_E_SYNTAX, f->at, "the id in line %" PRId64 " is empty", r->line);
}

static tesela_status arena_csv_value(arena_csv_reader *r, arena_csv_column column, const arena_csv_field *f,
                                     tesela_arena_buffer *b) {
  int64_t hint;
  if (column == ARENA_CSV_ID) return arena_csv_id(r, f, b);
  if (column == ARENA_CSV_GAPS) {
    if (f->length == 0) return TESELA_OK;
    return ARENA_CSV_FAIL(r, TESELA_E_UNSUPPORTED, f->at,
                          "line %" PRId64
                          " has gaps '%.*s', but a buffer lives at all steps from its lower to its upper",
                          r->line, arena_csv_shown(f), f->text);
  }
  int64_t *to = column == ARENA_CSV_LOWER       ? &b->lower
                : column == ARENA_CSV_UPPER     ? &b->upper
                : column == ARENA_CSV_SIZE      ? &b->size
                : column == ARENA_CSV_ALIGNMENT ? &b->alignment
                : column == ARENA_CSV_OFFSET    ? &b->offset
                : column == ARENA_CSV_WEIGHT    ? &b->weight
                                                : &hint;
  tesela_status status = arena_csv_number(r, f, arena_csv_names[column].name, to);
  if (status != TESELA_OK) return status;
  int64_t least = column == ARENA_CSV_OFFSET ? TESELA_ARENA_SPILLED : 0;
  if ((to == &b->size || to == &b->alignment || to == &b->offset || to == &b->weight) && *to < least)
    return ARENA_CSV_FAIL(r, TESELA_E_RANGE, f->at,
                          "%s in line %" PRId64 " is %" PRId64 "; expected %" PRId64 " or more",
                          arena_csv_names[column].name, r->line, *to, least);
  if (column == ARENA_CSV_UPPER && !tesela__add(*to, r->upper_add, to))
    return ARENA_CSV_FAIL(r, TESELA_E_SYNTAX, f->at, "upper in line %" PRId64 " does not fit in 64 bits",
                          r->line);
  return TESELA_OK;
}

static tesela_status arena_csv_row(arena_csv_reader *r) {
  tesela_arena_buffer b = {.offset = TESELA_ARENA_FREE};
  arena_csv_field field = {.last = false};
  size_t start = r->at, id_at = 0;
  for (int32_t c = 0; !field.last; c++) {
    tesela_status status = arena_csv_next(r, &field);
    if (status != TESELA_OK) return status;
    if (c >= r->n_columns || (field.last && c + 1 < r->n_columns))
      return ARENA_CSV_FAIL(r, TESELA_E_SYNTAX, field.at,
                            "line %" PRId64 " has %s fields than the %" PRId32 " of the header", r->line,
                            c >= r->n_columns ? "more" : "fewer", r->n_columns);
    if (r->column[c] == ARENA_CSV_ID) id_at = field.at;
    status = arena_csv_value(r, r->column[c], &field, &b);
    if (status != TESELA_OK) return status;
  }
  if (b.upper < b.lower)
    return ARENA_CSV_FAIL(r, TESELA_E_RANGE, start,
                          "line %" PRId64 ": alive from %" PRId64 " to %" PRId64
                          "; expected upper of at least lower",
                          r->line, b.lower, b.upper);
  if (r->n == TESELA__ARENA_BUFFERS)
    return ARENA_CSV_FAIL(r, TESELA_E_LIMIT, start, "line %" PRId64 " exceeds %d buffers", r->line,
                          TESELA__ARENA_BUFFERS);
  void *buffers = r->buffer, *places = r->place;
  bool grown = tesela__grow(&r->memory, &buffers, sizeof b, &r->most, r->n + 1) &&
               tesela__grow(&r->memory, &places, sizeof id_at, &r->most_places, r->n + 1);
  r->buffer = buffers;
  r->place = places;
  if (!grown) return ARENA_CSV_FAIL(r, TESELA_E_MEMORY, -1, "no memory for %zu buffers", r->n + 1);
  r->place[r->n] = id_at;
  r->buffer[r->n++] = b;
  arena_csv_end_line(r);
  return TESELA_OK;
}

/* ---- ids --------------------------------------------------------------------------------------------------- */

static tesela_status arena_csv_find_twice(arena_csv_reader *r) {
  size_t size = 16, mask;
  while (size < 2 * r->n) size *= 2;
  mask = size - 1;
  int32_t *table = tesela__alloc(&r->memory, size * sizeof *table, alignof(int32_t));
  if (!table) return ARENA_CSV_FAIL(r, TESELA_E_MEMORY, -1, "no memory for %zu ids", r->n);
  for (size_t k = 0; k < size; k++) table[k] = -1;
  tesela_status status = TESELA_OK;
  for (size_t i = 0; i < r->n && status == TESELA_OK; i++) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *c = r->buffer[i].id; *c; c++)
      hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    size_t k = (size_t)(hash ^ hash >> 32) & mask;
    for (; table[k] >= 0 && status == TESELA_OK; k = (k + 1) & mask)
      if (strcmp(r->buffer[table[k]].id, r->buffer[i].id) == 0)
        status =
            ARENA_CSV_FAIL(r, TESELA_E_INVALID, r->place[i], "id '%s' is given twice: at bytes %zu and %zu",
                           r->buffer[i].id, r->place[table[k]], r->place[i]);
    table[k] = (int32_t)i;
  }
  tesela__release(&r->memory, table);
  return status;
}

tesela_status tesela_arena_read_csv(const char *text, size_t length, tesela_arena_buffer **buffers,
                                    int32_t *n, const tesela_allocator *allocator, tesela_error *err) {
  TESELA__NEED(err, buffers, n);
  TESELA__NEED_LIST(err, text, length);
  arena_csv_reader r = {
      .text = text, .length = length, .line = 1, .memory = tesela__allocator(allocator), .err = err};
  tesela_status status = TESELA_OK;
  if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) r.at = 3;
  while (r.at < length && status == TESELA_OK) {
    arena_csv_skip_spaces(&r);
    if (arena_csv_at_line_end(&r))
      arena_csv_end_line(&r);
    else
      status = r.n_columns == 0 ? arena_csv_header(&r) : arena_csv_row(&r);
  }
  if (status == TESELA_OK && r.n_columns == 0)
    status = ARENA_CSV_FAIL(&r, TESELA_E_SYNTAX, length, "missing header line: id,lower,upper,size");
  if (status == TESELA_OK) status = arena_csv_find_twice(&r);
  if (status == TESELA_OK && !r.buffer)
    r.buffer = tesela__alloc(&r.memory, sizeof *r.buffer, alignof(tesela_arena_buffer));
  if (status == TESELA_OK && !r.buffer)
    status = ARENA_CSV_FAIL(&r, TESELA_E_MEMORY, -1, "no memory for an empty list");
  tesela__release(&r.memory, r.place);
  if (status != TESELA_OK) {
    tesela__release(&r.memory, r.buffer);
    return status;
  }
  *buffers = r.buffer;
  *n = (int32_t)r.n;
  return TESELA_OK;
}

void tesela_arena_free(tesela_arena_buffer *buffers, const tesela_allocator *allocator) {
  tesela_allocator memory = tesela__allocator(allocator);
  tesela__release(&memory, buffers);
}
