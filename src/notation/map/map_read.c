/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_read.c - reads index arithmetic: names, then a sum for each axis, then what flips bits.
 */
#include "notation/map/map.h"

static tesela_status map_limit(const tesela__map_text *m, int32_t n, int32_t most, const char *what) {
  if (n < most) return TESELA_OK;
  return tesela__read_fail(&m->reader, TESELA_E_LIMIT, m->reader.at, "more than %" PRId32 " %s", most, what);
}

/* The name of an axis. */
static tesela_status map_use(tesela__map_text *m, const tesela__map_name **name) {
  tesela__reader *r = &m->reader;
  size_t length = tesela__read_word(r);
  if (length == 0) return tesela__read_unexpected(r, "the name of an axis", "");
  *name = tesela__map_find(m, r->at, length);
  if (!*name || (*name)->kind != TESELA__MAP_AXIS)
    return tesela__read_unknown(r, TESELA_E_INVALID, r->at, length, "axis", "", NULL, "an axis of this text");
  r->at += length;
  return TESELA_OK;
}

static const tesela__map_operator map_operators[] = {{"+", TESELA__MAP_ADD},      {"-", TESELA__MAP_SUBTRACT},
                                                     {"*", TESELA__MAP_MULTIPLY}, {"/", TESELA__MAP_DIVIDE},
                                                     {"%", TESELA__MAP_MODULO},   {"^", TESELA__MAP_XOR},
                                                     {NULL, TESELA__MAP_OPEN}};

/* ---- declarations ---- */

static tesela_status map_extent(tesela__map_text *m, int64_t least, int64_t *extent) {
  tesela_status status = tesela__read_expect(&m->reader, ':', "and its extent");
  return status == TESELA_OK ? tesela__read_integer(&m->reader, "an extent", least, INT64_MAX, extent)
                             : status;
}

static tesela_status map_dims(tesela__map_text *m) {
  tesela_status status = TESELA_OK;
  int c = tesela__read_peek(&m->reader);
  if (c == ')' || c == ';') return TESELA_OK;
  do {
    status = map_limit(m, m->n_dims, TESELA_MAX_RANK, "dims");
    if (status == TESELA_OK)
      status = tesela__map_declare(m, TESELA__MAP_DIM, m->n_dims, "the name of a dim or ')'");
    if (status == TESELA_OK) status = map_extent(m, 0, &m->shape[m->n_dims++]);
  } while (status == TESELA_OK && tesela__read_take(&m->reader, ','));
  return status;
}

static tesela_status map_copies(tesela__map_text *m) {
  tesela_status status = TESELA_OK;
  do {
    status = map_limit(m, m->n_copies, TESELA_MAX_DIGITS, "copies");
    if (status == TESELA_OK)
      status = tesela__map_declare(m, TESELA__MAP_COPY, m->n_copies, "the name of a copy");
    if (status == TESELA_OK) status = map_extent(m, 1, &m->copies[m->n_copies++]);
  } while (status == TESELA_OK && tesela__read_take(&m->reader, ','));
  return status;
}

/* A sum is known to those after it, not to itself. */
static tesela_status map_named_sum(tesela__map_text *m) {
  int32_t number = m->n_sums, name = m->n_names;
  tesela_status status = map_limit(m, number, TESELA_MAX_JOINS, "sums");
  if (status == TESELA_OK)
    status = tesela__map_declare(m, TESELA__MAP_SUM, number, "the name of a sum, or copies");
  if (status == TESELA_OK) status = tesela__read_expect(&m->reader, '=', "and the sum");
  if (status != TESELA_OK) return status;
  tesela__map_name declared = m->name[name];
  m->n_names--;
  status = tesela__map_expression(m, map_operators);
  m->name[m->n_names++] = declared;
  if (status == TESELA_OK) status = tesela__map_keep_sum(m);
  m->name[m->n_names - 1].number = m->n_sums - 1; /* those that are divided in it come before */
  if (status != TESELA_OK) return status;
  m->sum_at[m->n_sums - 1] = declared.at;
  m->named_sums |= UINT32_C(1) << (m->n_sums - 1);
  return status;
}

static tesela_status map_arguments(tesela__map_text *m) {
  tesela__reader *r = &m->reader;
  tesela_status status = tesela__read_expect(r, '(', "after map");
  if (status == TESELA_OK) status = map_dims(m);
  while (status == TESELA_OK && tesela__read_take(r, ';'))
    status = m->n_sums == 0 && m->n_copies == 0 && tesela__read_take_text(r, "copies") ? map_copies(m)
                                                                                       : map_named_sum(m);
  return status == TESELA_OK ? tesela__read_expect(r, ')', "after the dims") : status;
}

/* "of f32", "of s4 in 8 bits", "of 16 bits" */
static tesela_status map_type(tesela__map_text *m) {
  tesela__reader *r = &m->reader;
  int64_t bits = m->bits;
  if (!tesela__read_take_text(r, "of")) return TESELA_OK;
  size_t length = tesela__read_word(r);
  tesela_status status = TESELA_OK;
  if (length > 0) {
    m->dtype = tesela_dtype_find(r->text + r->at, length);
    if (m->dtype == TESELA_DTYPE_NONE)
      return tesela__read_unknown(r, TESELA_E_SYNTAX, r->at, length, "element type", "",
                                  tesela_dtype_suggest(r->text + r->at, length), "a type such as f32");
    r->at += length;
    bits = 8 * tesela_dtype_bytes(m->dtype);
    if (bits == 0)
      return tesela__read_fail(r, TESELA_E_UNSUPPORTED, r->at - length,
                               "a type without elements has no places");
    if (!tesela__read_take_text(r, "in")) {
      m->bits = (int32_t)bits;
      return TESELA_OK;
    }
  }
  status = tesela__read_integer(r, "a number of bits", 1, 1024, &bits);
  m->bits = (int32_t)bits;
  if (status == TESELA_OK && !tesela__read_take_text(r, "bits"))
    status = tesela__read_unexpected(r, "bits", "");
  return status;
}

/* ---- axes ---- */

static tesela_status map_axis(tesela__map_text *m) {
  tesela__reader *r = &m->reader;
  int32_t a = m->n_axes;
  tesela_status status = map_limit(m, a, TESELA_MAX_AXES, "axes");
  if (status == TESELA_OK) status = tesela__map_declare(m, TESELA__MAP_AXIS, a, "the name of an axis");
  if (status != TESELA_OK) return status;
  const tesela__map_name *name = &m->name[m->n_names - 1];
  m->axis_at[a] = name->at;
  if (name->length >= TESELA_AXIS_NAME)
    return tesela__read_fail(r, TESELA_E_LIMIT, name->at, "an axis name of %zu bytes; expected at most %d",
                             name->length, TESELA_AXIS_NAME - 1);
  memcpy(m->axis_name[a], r->text + name->at, name->length);
  m->axis_name[a][name->length] = '\0';
  status = tesela__read_expect(r, '[', "and the places of the axis");
  if (status == TESELA_OK)
    status = tesela__read_integer(r, "a number of places", 0, INT64_MAX, &m->axis_extent[a]);
  if (status == TESELA_OK) status = tesela__read_expect(r, ']', "after the places");
  if (status == TESELA_OK) status = tesela__read_expect(r, ':', "and a sum");
  m->n_axes++;
  if (status == TESELA_OK) status = tesela__map_expression(m, map_operators);
  if (status == TESELA_OK) status = tesela__map_keep_on_axis(m, 0, a, 1);
  m->n_values = 0;
  return status;
}

/* The exponent of a power of two. */
static tesela_status map_power(tesela__map_text *m, const char *what, int32_t *power) {
  int64_t n;
  tesela__reader *r = &m->reader;
  (void)tesela__read_peek(r);
  size_t at = r->at;
  tesela_status status = tesela__read_integer(r, what, 1, INT64_C(1) << 61, &n);
  if (status != TESELA_OK) return status;
  if ((n & (n - 1)) != 0)
    return tesela__read_fail(r, TESELA_E_INVALID, at, "%" PRId64 " is not a power of 2", n);
  *power = __builtin_ctzll((uint64_t)n);
  return TESELA_OK;
}

/* [N "*"] AXIS ["/" N] "%" N, its axis part in parentheses or not. */
static tesela_status map_flip(tesela__map_text *m, int32_t to) {
  tesela__reader *r = &m->reader;
  const tesela__map_name *name = NULL;
  int32_t weight = 0, divisor = 0, count = 0;
  tesela_status status = TESELA_OK;
  if (tesela__read_integer_next(r)) {
    status = map_power(m, "a power of 2", &weight);
    if (status == TESELA_OK) status = tesela__read_expect(r, '*', "after the number");
  }
  bool inside = status == TESELA_OK && tesela__read_take(r, '(');
  size_t at = r->at;
  if (status == TESELA_OK) status = map_use(m, &name);
  if (status == TESELA_OK && tesela__read_take(r, '/')) status = map_power(m, "a divisor", &divisor);
  if (status == TESELA_OK) status = tesela__read_expect(r, '%', "and a power of 2: how many bits are read");
  if (status == TESELA_OK) status = map_power(m, "a modulus", &count);
  if (status == TESELA_OK && inside) status = tesela__read_expect(r, ')', "after the modulus");
  if (status != TESELA_OK) return status;
  if (divisor + count > 62 || weight + count > 62)
    return tesela__read_fail(r, TESELA_E_RANGE, at, "bit %" PRId32 " of a place; expected 0 to 61",
                             (divisor > weight ? divisor : weight) + count - 1);
  for (int32_t k = 0; k < count; k++) m->flip[name->number][divisor + k][to] ^= (uint64_t)1 << (weight + k);
  return TESELA_OK;
}

/* AXIS "^=" flips; TESELA_OK and *found false for another text. */
static tesela_status map_stage(tesela__map_text *m, bool *found) {
  tesela__reader *r = &m->reader;
  size_t length = tesela__read_word(r), start = r->at, at = start + length;
  while (at < r->length && (r->text[at] == ' ' || r->text[at] == '\t')) at++;
  *found = length > 0 && at + 1 < r->length && r->text[at] == '^' && r->text[at + 1] == '=';
  if (!*found) return TESELA_OK;
  const tesela__map_name *name;
  m->stage_at = start;
  tesela_status status = map_use(m, &name);
  if (status == TESELA_OK) r->at = at + 2;
  do {
    if (status == TESELA_OK) status = map_flip(m, name->number);
  } while (status == TESELA_OK && tesela__read_take(r, '^'));
  return status;
}

static tesela_status map_places(tesela__map_text *m) {
  tesela__reader *r = &m->reader;
  tesela_status status = TESELA_OK;
  bool stages = false;
  if (!tesela__read_take_text(r, "->")) return tesela__read_unexpected(r, "'->'", "");
  if (tesela__read_peek(r) < 0) return TESELA_OK;
  do {
    bool stage = false;
    status = map_stage(m, &stage);
    if (status == TESELA_OK && !stage && stages)
      return tesela__read_unexpected(r, "a name and '^='", "; axes come before what flips their bits");
    if (status == TESELA_OK && !stage) status = map_axis(m);
    stages = stages || stage;
  } while (status == TESELA_OK && tesela__read_take(r, ';'));
  if (status == TESELA_OK && tesela__read_peek(r) >= 0)
    status = tesela__read_unexpected(r, "';' or the end", "");
  return status;
}

void tesela__map_begin(tesela__map_text *m, const tesela__reader *r) {
  memset(m, 0, offsetof(tesela__map_text, name));
  m->reader = *r;
  m->dtype = TESELA_DTYPE_NONE;
  m->bits = 8;
}

static tesela_status map_read(tesela__map_text *m, const void *user) {
  (void)user;
  if (!tesela__read_take_text(&m->reader, "map")) return tesela__read_unexpected(&m->reader, "map(", "");
  tesela_status status = map_arguments(m);
  if (status == TESELA_OK) status = map_type(m);
  return status == TESELA_OK ? map_places(m) : status;
}

tesela_status tesela__map_make(const tesela__reader *r, tesela__map_reading read, const void *user,
                               tesela_layout *out, tesela_error *err) {
  tesela_status first = TESELA_OK;
  for (int way = 0; way < 4; way++) {
    tesela__map_text m;
    tesela_error *to = way == 0 ? err : NULL;
    tesela__map_begin(&m, r);
    m.reader.err = to;
    m.as_written = way & 1;
    m.parities = way & 2;
    tesela_status status = read(&m, user);
    if (status == TESELA_OK) status = tesela__map_finish(&m, out, to);
    if (way == 0) first = status;
    if (status == TESELA_OK || first != TESELA_E_UNSUPPORTED) return status;
  }
  return first;
}

tesela_status tesela_map_parse(tesela_layout *layout, const char *text, size_t length, tesela_error *err) {
  TESELA__NEED(err, layout, text);
  const tesela__reader r = {.text = text,
                            .length = length,
                            .blanks = TESELA__BLANKS_TEXT,
                            .word = TESELA__BYTE_NAME,
                            .glue = TESELA__BYTE_LETTER | TESELA__BYTE_DOT};
  return tesela__map_make(&r, map_read, NULL, layout, err);
}
