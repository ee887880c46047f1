/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_read.c - reads index arithmetic: names, then a sum for each axis, then what flips bits.
 */
#include "notation/map/map.h"

/* ---- names ---- */

static const tesela__map_name *map_find(const tesela__map_text *m, size_t at, size_t length) {
  for (int32_t i = 0; i < m->n_names; i++)
    if (m->name[i].length == length &&
        memcmp(m->reader.text + m->name[i].at, m->reader.text + at, length) == 0)
      return &m->name[i];
  return NULL;
}

/* Read a new name. */
static tesela_status map_declare(tesela__map_text *m, tesela__map_kind kind, int32_t number,
                                 const char *what) {
  tesela__reader *r = &m->reader;
  size_t length = tesela__read_word(r);
  if (length == 0) return tesela__read_unexpected(r, what, "");
  if (map_find(m, r->at, length))
    return tesela__read_fail(r, TESELA_E_INVALID, r->at, "the name '%.*s' is used twice",
                             (int)tesela__min((int64_t)length, 40), r->text + r->at);
  m->name[m->n_names++] = (tesela__map_name){kind, number, r->at, length}; /* fewer than TESELA__MAP_NAMES */
  r->at += length;
  return TESELA_OK;
}

static tesela_status map_limit(const tesela__map_text *m, int32_t n, int32_t most, const char *what) {
  if (n < most) return TESELA_OK;
  return tesela__read_fail(&m->reader, TESELA_E_LIMIT, m->reader.at, "more than %" PRId32 " %s", most, what);
}

/* The name of a dim, a copy or a sum, or of an axis. */
static tesela_status map_use(tesela__map_text *m, bool axis, const tesela__map_name **name) {
  tesela__reader *r = &m->reader;
  size_t length = tesela__read_word(r);
  if (length == 0) return tesela__read_unexpected(r, axis ? "the name of an axis" : "a number or a name", "");
  *name = map_find(m, r->at, length);
  if (!*name || ((*name)->kind == TESELA__MAP_AXIS) != axis)
    return tesela__read_unknown(r, TESELA_E_INVALID, r->at, length, axis ? "axis" : "name", "", NULL,
                                axis ? "an axis of this text" : "a dim, a copy or a sum declared before");
  r->at += length;
  return TESELA_OK;
}

/* ---- sums ---- */

/* x % modulus / divisor, then one more "/ n" or "% n". */
static tesela_status map_apply(tesela__map_text *m, tesela__map_term *term, bool divide, int64_t n) {
  int64_t product;
  if (!tesela__mul(term->divisor, n, &product))
    return tesela__read_fail(&m->reader, TESELA_E_OVERFLOW, m->reader.at,
                             "the divisor does not fit in 64 bits");
  if (divide) {
    term->divisor = product;
    return TESELA_OK;
  }
  while (term->n_moduli > 0 && term->modulus[term->n_moduli - 1] % product == 0) term->n_moduli--;
  if (term->n_moduli > 0 && product >= term->modulus[term->n_moduli - 1])
    return TESELA_OK; /* x is below it */
  if (term->n_moduli == TESELA__MAP_MODULI)
    return tesela__read_fail(&m->reader, TESELA_E_LIMIT, m->reader.at, "more than %d moduli of one name",
                             TESELA__MAP_MODULI);
  term->modulus[term->n_moduli++] = product;
  return TESELA_OK;
}

/* NAME { ("/" | "%") N }, in parentheses or not; factor and target are the caller's. */
static tesela_status map_factor(tesela__map_text *m, tesela__map_term *term) {
  tesela__reader *r = &m->reader;
  const tesela__map_name *name;
  bool inside = tesela__read_take(r, '(');
  tesela_status status;
  (void)tesela__read_peek(r);
  term->at = r->at;
  status = map_use(m, false, &name);
  if (status != TESELA_OK) return status;
  term->kind = name->kind;
  term->number = name->number;
  term->divisor = 1;
  term->n_moduli = 0;
  for (;;) {
    int c = tesela__read_peek(r);
    int64_t n;
    if (inside && c == ')') {
      r->at++;
      inside = false;
      continue;
    }
    if (c != '/' && c != '%') break;
    r->at++;
    status = tesela__read_integer(r, c == '/' ? "a divisor" : "a modulus", 1, INT64_MAX, &n);
    if (status == TESELA_OK) status = map_apply(m, term, c == '/', n);
    if (status != TESELA_OK) return status;
  }
  if (inside) return tesela__read_expect(r, ')', "after the name");
  if (term->kind == TESELA__MAP_COPY && (term->divisor > 1 || term->n_moduli > 0))
    return tesela__read_fail(r, TESELA_E_UNSUPPORTED, term->at,
                             "a copy has no '/' or '%%'; declare one for each part");
  return TESELA_OK;
}

/* [N "*"] factor ["*" N], or N alone, which is added to the constant. */
static tesela_status map_term(tesela__map_text *m, int32_t target, bool negative, int64_t *constant) {
  tesela__reader *r = &m->reader;
  int64_t number = 1, after = 1;
  tesela_status status = TESELA_OK;
  bool counted = tesela__read_integer_next(r), alone = false;
  (void)tesela__read_peek(r);
  size_t at = r->at;
  if (counted) status = tesela__read_integer(r, "a number", 0, INT64_MAX, &number);
  if (status == TESELA_OK && counted) alone = !tesela__read_take(r, '*');
  if (status == TESELA_OK && !alone && m->n_terms == TESELA__MAP_TERMS)
    return map_limit(m, m->n_terms, TESELA__MAP_TERMS, "terms");
  if (status == TESELA_OK && !alone) status = map_factor(m, &m->term[m->n_terms]);
  if (status == TESELA_OK && !alone && tesela__read_take(r, '*'))
    status = tesela__read_integer(r, "a number", 0, INT64_MAX, &after);
  if (status != TESELA_OK) return status;
  if (!tesela__mul(number, negative ? -after : after, &number) ||
      (alone && !tesela__add(*constant, number, constant)))
    return tesela__read_fail(r, TESELA_E_OVERFLOW, at, "the number does not fit in 64 bits");
  if (alone) return TESELA_OK;
  m->term[m->n_terms].factor = number;
  m->term[m->n_terms++].target = target;
  return TESELA_OK;
}

static tesela_status map_sum(tesela__map_text *m, int32_t target, int64_t *constant) {
  *constant = 0;
  bool negative = tesela__read_take(&m->reader, '-');
  for (;;) {
    tesela_status status = map_term(m, target, negative, constant);
    if (status != TESELA_OK) return status;
    negative = tesela__read_take(&m->reader, '-');
    if (!negative && !tesela__read_take(&m->reader, '+')) return TESELA_OK;
  }
}

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
    if (status == TESELA_OK) status = map_declare(m, TESELA__MAP_DIM, m->n_dims, "the name of a dim or ')'");
    if (status == TESELA_OK) status = map_extent(m, 0, &m->shape[m->n_dims++]);
  } while (status == TESELA_OK && tesela__read_take(&m->reader, ','));
  return status;
}

static tesela_status map_copies(tesela__map_text *m) {
  tesela_status status = TESELA_OK;
  do {
    status = map_limit(m, m->n_copies, TESELA_MAX_DIGITS, "copies");
    if (status == TESELA_OK) status = map_declare(m, TESELA__MAP_COPY, m->n_copies, "the name of a copy");
    if (status == TESELA_OK) status = map_extent(m, 1, &m->copies[m->n_copies++]);
  } while (status == TESELA_OK && tesela__read_take(&m->reader, ','));
  return status;
}

/* A sum is known to those after it, not to itself. */
static tesela_status map_named_sum(tesela__map_text *m) {
  int32_t number = m->n_sums, name = m->n_names;
  tesela_status status = map_limit(m, number, TESELA_MAX_JOINS, "sums");
  (void)tesela__read_peek(&m->reader);
  m->sum_at[number < TESELA_MAX_JOINS ? number : 0] = m->reader.at;
  if (status == TESELA_OK) status = map_declare(m, TESELA__MAP_SUM, number, "the name of a sum, or copies");
  if (status == TESELA_OK) status = tesela__read_expect(&m->reader, '=', "and the sum");
  if (status != TESELA_OK) return status;
  tesela__map_name declared = m->name[name];
  m->n_names--;
  status = map_sum(m, number, &m->sum[number]);
  m->name[m->n_names++] = declared;
  m->n_sums++;
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
  if (status == TESELA_OK) status = map_declare(m, TESELA__MAP_AXIS, a, "the name of an axis");
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
  if (status == TESELA_OK) status = map_sum(m, -1 - a, &m->axis_offset[a]);
  m->n_axes++;
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
  if (status == TESELA_OK) status = map_use(m, true, &name);
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
  tesela_status status = map_use(m, true, &name);
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

tesela_status tesela_map_parse(tesela_layout *layout, const char *text, size_t length, tesela_error *err) {
  TESELA__NEED(err, layout, text);
  tesela__map_text m;
  memset(&m, 0, offsetof(tesela__map_text, name));
  m.reader = (tesela__reader){.text = text,
                              .length = length,
                              .err = err,
                              .blanks = TESELA__BLANKS_TEXT,
                              .word = TESELA__BYTE_NAME,
                              .glue = TESELA__BYTE_LETTER | TESELA__BYTE_DOT};
  m.dtype = TESELA_DTYPE_NONE;
  m.bits = 8;
  if (!tesela__read_take_text(&m.reader, "map")) return tesela__read_unexpected(&m.reader, "map(", "");
  tesela_status status = map_arguments(&m);
  if (status == TESELA_OK) status = map_type(&m);
  if (status == TESELA_OK) status = map_places(&m);
  return status == TESELA_OK ? tesela__map_lower(&m, layout, err) : status;
}
