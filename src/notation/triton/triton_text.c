/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triton_text.c - a text of Triton: an encoding, a layout of Gluon, a tensor type, an alias; aliases from the text itself and from
 * a file.
 *
 *   tensor<128x64xf16, #ttg.slice<{dim = 1, parent = #mma}>>      #mma = #ttg.nvidia_mma<{..}> is in the definitions
 *
 * Slices and operands are read from the outside in, without recursion.
 */
#include <stdio.h>

#include "notation/triton/triton.h"

enum { TRITON_HOPS = 64 }; /* aliases and parents followed in one text */

typedef struct triton_source {
  tesela__reader reader; /* of the text or of the definitions */
  const char *text, *definitions;
  size_t length, definitions_length;
  size_t alias_at; /* in the text: the alias that led into the definitions */
  int32_t hops;
} triton_source;

static tesela__reader triton_reader(const char *text, size_t length, tesela_error *err) {
  return (tesela__reader){
      .text = text, .length = length, .err = err, .blanks = TESELA__BLANKS_LOOSE, .word = TESELA__BYTE_NAME};
}

/* ---- definitions ---- */

/* The end of the alias at `at`: letters, digits, _, $, . and - after '#'. */
static size_t triton_alias_end(const char *text, size_t length, size_t at) {
  for (at++; at < length; at++)
    if (!tesela__byte_is(text[at], TESELA__BYTE_NAME | TESELA__BYTE_DOT) && text[at] != '$') break;
  return at;
}

static size_t triton_skip_line_blanks(const char *text, size_t length, size_t at) {
  while (at < length && (text[at] == ' ' || text[at] == '\t')) at++;
  return at;
}

/* Is `#name =` at the start of a line? Then *name_end and *value are set. */
static bool triton_is_definition(const char *text, size_t length, size_t at, size_t *name_end,
                                 size_t *value) {
  if (at >= length || text[at] != '#') return false;
  *name_end = triton_alias_end(text, length, at);
  *value = triton_skip_line_blanks(text, length, *name_end);
  if (*value >= length || text[*value] != '=') return false;
  *value = triton_skip_line_blanks(text, length, *value + 1);
  return true;
}

/* The value of an alias; false if the text does not define it. */
static bool triton_find_definition(const char *text, size_t length, const char *name, size_t name_length,
                                   size_t *value) {
  for (size_t line = 0, name_end; line < length;) {
    size_t at = triton_skip_line_blanks(text, length, line);
    if (triton_is_definition(text, length, at, &name_end, value) && name_end - at == name_length &&
        memcmp(text + at, name, name_length) == 0)
      return true;
    const char *end = memchr(text + line, '\n', length - line);
    line = end ? (size_t)(end - text) + 1 : length;
  }
  return false;
}

/* Move the reader to the value of the alias that is next. */
static tesela_status triton_follow(triton_source *s, size_t length) {
  tesela__reader *r = &s->reader;
  const char *name = r->text + r->at;
  size_t value = 0;
  if (++s->hops > TRITON_HOPS)
    return tesela__read_fail(r, TESELA_E_INVALID, r->at, "the definition of '%.*s' needs itself",
                             length < 40 ? (int)length : 40, name);
  if (r->text == s->text) s->alias_at = r->at;
  if (triton_find_definition(s->text, s->length, name, length, &value)) {
    *r = triton_reader(s->text, s->length, r->err);
  } else if (s->definitions &&
             triton_find_definition(s->definitions, s->definitions_length, name, length, &value)) {
    *r = triton_reader(s->definitions, s->definitions_length, r->err);
  } else {
    return tesela__read_fail(r, TESELA_E_INVALID, r->at, "'%.*s' is not defined%s",
                             length < 40 ? (int)length : 40, name,
                             s->definitions ? " in the definitions" : "; a file may define it");
  }
  r->at = value;
  return TESELA_OK;
}

/* ---- one encoding and what is around it ---- */

/* The length of the dialect's part of "#ttg.blocked"; 0 for an alias. */
static size_t triton_dialect(const char *text, size_t length) {
  static const char *const dialects[] = {"#ttg.", "#ttng.", "#triton_gpu.", "#triton_nvidia_gpu.", "#gluon."};
  for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
    size_t n = strlen(dialects[i]);
    if (length > n && memcmp(text, dialects[i], n) == 0) return n;
  }
  return 0;
}

/* The name at the reader: its kind, or the value of the alias. *found is false after an alias. */
static tesela_status triton_name(triton_source *s, bool *python, bool *found, tesela__triton_kind *kind) {
  tesela__reader *r = &s->reader;
  int c = tesela__read_peek(r);
  size_t start = r->at, end = start, word;
  *found = false;
  *python = c != '#';
  if (c == '#') {
    end = triton_alias_end(r->text, r->length, r->at);
    size_t dialect = triton_dialect(r->text + start, end - start);
    if (dialect == 0) return triton_follow(s, end - start);
    r->at = start + dialect;
  } else {
    r->word |= TESELA__BYTE_DOT;
    end = start + tesela__read_word(r);
    r->word = TESELA__BYTE_NAME;
    if (end == start) return tesela__read_unexpected(r, "an encoding, #ttg.blocked<..>", "");
    for (word = start; word < end; word++)
      if (r->text[word] == '.') r->at = word + 1;
  }
  *found = true;
  tesela_status status = tesela__triton_kind_of(r, end - r->at, *python, kind);
  r->at = end;
  return status;
}

/* Put the fields of a slice or of an operand around what is inside. */
static tesela_status triton_around(const tesela__reader *r, size_t at, const tesela__triton *read,
                                   tesela__triton *out) {
  if (out->operand >= 0)
    return tesela__read_fail(r, TESELA_E_INVALID, at,
                             "the parent of an operand is blocked, nvidia_mma, amd_mfma or amd_wmma");
  if (read->kind == TESELA__TRITON_DOT) {
    out->operand = (int32_t)read->number[TESELA__TRITON_OPERAND];
    out->k_width = read->number[TESELA__TRITON_K_WIDTH];
    if (out->operand > 1)
      return tesela__read_fail(r, TESELA_E_RANGE, at, "opIdx is %" PRId32 "; expected 0 or 1", out->operand);
    return TESELA_OK;
  }
  if (out->n_slices == TESELA__TRITON_NESTED)
    return tesela__read_fail(r, TESELA_E_LIMIT, at, "more than %d slices around each other",
                             TESELA__TRITON_NESTED);
  out->slice[out->n_slices++] = read->number[TESELA__TRITON_DIM];
  return TESELA_OK;
}

/* What is inside slices and operands: registers; operands have four kinds of parents. */
static tesela_status triton_inside(const tesela__reader *r, size_t at, const tesela__triton *of) {
  bool matrix =
      of->kind == TESELA__TRITON_MMA || of->kind == TESELA__TRITON_MFMA || of->kind == TESELA__TRITON_WMMA;
  if (of->operand >= 0 && !matrix && of->kind != TESELA__TRITON_BLOCKED)
    return tesela__read_fail(r, TESELA_E_INVALID, at,
                             "the parent of an operand is blocked, nvidia_mma, amd_mfma or amd_wmma");
  if (of->n_slices > 0 && !matrix && of->kind != TESELA__TRITON_BLOCKED && of->kind != TESELA__TRITON_LINEAR)
    return tesela__read_fail(r, TESELA_E_INVALID, at, "the parent of a slice is an encoding in registers");
  return TESELA_OK;
}

static tesela_status triton_encoding(triton_source *s, tesela__triton *out, size_t *end) {
  tesela__reader *r = &s->reader;
  bool top = true; /* no parent was followed: *end is the end of what is read now */
  memset(out, 0, sizeof *out);
  out->operand = -1;
  for (*end = 0;;) {
    const char *in = r->text;
    bool python = false, found = false;
    tesela__triton_kind kind;
    size_t at = (tesela__read_peek(r), r->at);
    tesela_status status = triton_name(s, &python, &found, &kind);
    if (status != TESELA_OK) return status;
    if (!found) { /* an alias ends where its name ends */
      if (top && in == s->text && *end == 0) *end = triton_alias_end(in, s->length, at);
      continue;
    }
    tesela__triton read;
    tesela__attribute_field parent = {0, 0, 0, 0};
    memset(&read, 0, sizeof read);
    read.kind = kind;
    read.operand = -1;
    bool wraps = kind == TESELA__TRITON_SLICE || kind == TESELA__TRITON_DOT;
    if (!wraps) { /* keep what is around it */
      read.n_slices = out->n_slices;
      memcpy(read.slice, out->slice, sizeof read.slice);
      read.operand = out->operand;
      read.k_width = out->k_width;
    }
    status = tesela__triton_fields(r, python, &read, &parent);
    if (status == TESELA_OK && top && *end == 0) *end = r->at;
    top = false;
    if (status == TESELA_OK && wraps) status = triton_around(r, at, &read, out);
    if (status != TESELA_OK) return status;
    if (wraps) {
      r->at = parent.at;
      continue;
    }
    *out = read;
    status = triton_inside(r, at, out);
    if (status == TESELA_OK) status = tesela__triton_check(out, r->err);
    if (status != TESELA_OK && r->err && r->err->at < 0) r->err->at = (int64_t)at;
    return status;
  }
}

/* ---- types ---- */

/* f16, i32, ui8, !tt.ptr<f32>: an element of tensor<..>. */
static tesela_status triton_element(tesela__reader *r, tesela__triton_text *out) {
  static const char *const integers[] = {"i1", "i8", "i16", "i32", "i64", "si8", "si16", "si32", "si64"};
  static const tesela_dtype types[] = {TESELA_PRED, TESELA_S8,  TESELA_S16, TESELA_S32, TESELA_S64,
                                       TESELA_S8,   TESELA_S16, TESELA_S32, TESELA_S64};
  size_t end, start = r->at;
  for (end = start; end < r->length && r->text[end] != ',' && r->text[end] != '>'; end++) continue;
  out->array.dtype = TESELA_DTYPE_NONE;
  if (end - start > 4 && memcmp(r->text + start, "!tt.", 4) == 0) { /* !tt.ptr<f32>: 64 bits */
    out->bits = 64;
    while (r->at < r->length && r->text[r->at] != '<') r->at++;
    tesela__attribute skipped = {.n = 0};
    r->at++;
    return tesela__attribute_read(r, '>', &skipped);
  }
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (tesela__same_word(r->text + start, end - start, integers[i])) out->array.dtype = types[i];
  if (out->array.dtype == TESELA_DTYPE_NONE) {
    tesela_status status = tesela_dtype_read(r->text + start, end - start, &out->array.dtype, r->err);
    if (status != TESELA_OK && r->err) r->err->at = (int64_t)start;
    if (status != TESELA_OK) return status;
  }
  out->bits = 8 * tesela_dtype_bytes(out->array.dtype);
  r->at = end;
  return TESELA_OK;
}

/* "128x64x": extents until something else comes. */
static tesela_status triton_extents(tesela__reader *r, int64_t *extent, int32_t *n, bool all) {
  for (*n = 0;;) {
    int64_t value = 0;
    size_t at = r->at;
    while (r->at < r->length && r->text[r->at] >= '0' && r->text[r->at] <= '9' && value < INT64_MAX / 16)
      value = 10 * value + (r->text[r->at++] - '0');
    if (r->at == at && r->at < r->length && r->text[r->at] == '?')
      return tesela__read_fail(r, TESELA_E_UNSUPPORTED, at,
                               "extents that are known at run time, '?', are not read");
    if (r->at == at) return TESELA_OK;
    if (*n == TESELA__TRITON_RANK)
      return tesela__read_fail(r, TESELA_E_LIMIT, at, "more than %d dims", TESELA__TRITON_RANK);
    extent[(*n)++] = value;
    if (r->at < r->length && r->text[r->at] == 'x')
      r->at++;
    else
      return all ? TESELA_OK : tesela__read_unexpected(r, "'x'", "");
  }
}

/* After the encoding of !ttg.memdesc<..>: the memory space, mutable, the shape of the allocation. */
static tesela_status triton_memdesc_end(tesela__reader *r, const tesela_xla_shape *array) {
  tesela_status status = TESELA_OK;
  bool more = false;
  for (status = tesela__read_more(r, '>', false, &more); status == TESELA_OK && more;
       status = tesela__read_more(r, '>', false, &more)) {
    int64_t extent[TESELA__TRITON_RANK];
    int32_t n = 0;
    int c = tesela__read_peek(r);
    size_t at = r->at;
    if (c == '#') {
      r->at = triton_alias_end(r->text, r->length, r->at);
    } else if (tesela__read_word(r) > 0) {
      r->at += tesela__read_word(r);
    } else {
      status = triton_extents(r, extent, &n, true);
      if (status == TESELA_OK && n == 0) status = tesela__read_unexpected(r, "a memory space", "");
      for (int32_t d = 0; status == TESELA_OK && d < array->rank; d++)
        if (n < array->rank || extent[n - array->rank + d] != array->dim[d])
          status =
              tesela__read_fail(r, TESELA_E_UNSUPPORTED, at, "a part of a larger allocation is not read");
    }
    if (status != TESELA_OK) return status;
  }
  return status;
}

/* tensor<128x64xf16, #e>, !ttg.memdesc<128x64xf16, #e, #smem, mutable> */
static tesela_status triton_type(triton_source *s, bool memdesc, tesela__triton_text *out) {
  tesela__reader *r = &s->reader;
  size_t end = 0;
  out->has_array = true;
  tesela_status status = tesela__read_expect(r, '<', "");
  if (status == TESELA_OK) status = triton_extents(r, out->array.dim, &out->array.rank, false);
  if (status == TESELA_OK) status = triton_element(r, out);
  if (status == TESELA_OK && tesela__read_peek(r) != ',')
    return tesela__read_unexpected(r, "',' and an encoding", "");
  if (status != TESELA_OK) return status;
  r->at++;
  status = triton_encoding(s, &out->encoding, &end);
  if (status != TESELA_OK) return status;
  *r = triton_reader(s->text, s->length, r->err);
  r->at = end;
  return memdesc ? triton_memdesc_end(r, &out->array) : tesela__read_expect(r, '>', "");
}

/* ---- the text ---- */

/* Move past definitions at the start of the text; the last one is the layout if nothing follows. */
static void triton_skip_definitions(triton_source *s) {
  tesela__reader *r = &s->reader;
  size_t name_end, value;
  while (tesela__read_peek(r) == '#' && triton_is_definition(r->text, r->length, r->at, &name_end, &value)) {
    int64_t depth = 0;
    size_t at = value;
    for (; at < r->length && (depth > 0 || r->text[at] != '\n'); at++) {
      char c = r->text[at];
      depth += c == '(' || c == '[' || c == '{' || c == '<';
      depth -= c == ')' || c == ']' || c == '}' || c == '>';
    }
    r->at = at;
    if (tesela__read_peek(r) < 0) {
      r->at = value;
      return;
    }
  }
}

/* A position in the definitions becomes a line and a column; the alias in the text is the position of the error. */
static void triton_place_error(const triton_source *s, tesela_error *err) {
  int64_t line = 1, column = 1;
  if (!err || !s->definitions || s->reader.text != s->definitions) return;
  for (int64_t i = 0; i < err->at; i++) {
    column = s->definitions[i] == '\n' ? 1 : column + 1;
    line += s->definitions[i] == '\n';
  }
  char message[2 * sizeof err->message];
  snprintf(message, sizeof message, "line %" PRId64 ", column %" PRId64 " of the definitions: %s", line,
           column, err->message);
  err->at = (int64_t)s->alias_at;
  memcpy(err->message, message, sizeof err->message - 1);
  err->message[sizeof err->message - 1] = '\0';
}

tesela_status tesela__triton_parse(const char *text, size_t length, const char *definitions,
                                   size_t definitions_length, tesela__triton_text *out, tesela_error *err) {
  tesela_error ignored;
  triton_source s = {.text = text,
                     .length = length,
                     .definitions = definitions,
                     .definitions_length = definitions ? definitions_length : 0};
  size_t end = 0;
  out->has_array = false;
  out->bits = 0;
  s.reader = triton_reader(text, length, err ? err : &ignored);
  tesela__reader *r = &s.reader;
  triton_skip_definitions(&s);
  (void)tesela__read_peek(r);
  bool memdesc = tesela__read_take_text(r, "!ttg.memdesc") || tesela__read_take_text(r, "!tt.memdesc") ||
                 tesela__read_take_text(r, "!triton_gpu.memdesc");
  tesela_status status;
  if (memdesc || tesela__read_take_text(r, "tensor")) {
    status = triton_type(&s, memdesc, out);
    end = r->at;
  } else {
    status = triton_encoding(&s, &out->encoding, &end);
  }
  if (status != TESELA_OK) {
    triton_place_error(&s, err);
    return status;
  }
  *r = triton_reader(text, length, r->err);
  r->at = end;
  return tesela__read_peek(r) < 0 ? TESELA_OK : tesela__read_unexpected(r, "the end of the text", "");
}
