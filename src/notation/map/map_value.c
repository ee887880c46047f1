/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_value.c - values of index expressions: sums of terms on a stack, and what operators make of them.
 *
 * A sum that is divided becomes a sum with a number (a join of the layout), and the quotient a term of it. The parts of a
 * divided sum that are multiples of the divisor are divided alone: (16*i + j) / 16 is i + j/16.
 *
 * The terms of the values are the first ones of m->term, in the order of the stack; kept terms are the last ones.
 */
#include "layout/layout.h"
#include "notation/map/map.h"

/* ---- numbers and terms ---- */

static int64_t value_quotient(int64_t a, int64_t b) { return a / b - (a % b < 0); } /* b > 0 */

static tesela_status value_overflow(const tesela__map_text *m, size_t at) {
  return tesela__read_fail(&m->reader, TESELA_E_OVERFLOW, at, "the number does not fit in 64 bits");
}

/* The greatest value of x % moduli / divisor. */
static int64_t term_high(const tesela__map_text *m, const tesela__map_term *term) {
  int64_t high = 1;
  if (term->kind == TESELA__MAP_DIM) high = m->shape[term->number] - 1;
  if (term->kind == TESELA__MAP_COPY) high = m->copies[term->number] - 1;
  if (term->kind == TESELA__MAP_SUM) high = m->sum_high[term->number];
  for (int32_t i = 0; i < term->n_moduli; i++) high = tesela__min(high, term->modulus[i] - 1);
  return tesela__max(high, 0) / term->divisor;
}

static bool same_part(const tesela__map_term *a, const tesela__map_term *b) {
  bool same =
      a->kind == b->kind && a->number == b->number && a->divisor == b->divisor && a->n_moduli == b->n_moduli;
  for (int32_t i = 0; same && i < a->n_moduli; i++) same = a->modulus[i] == b->modulus[i];
  return same;
}

tesela_status tesela__map_apply(const tesela__map_text *m, tesela__map_term *term, bool divide, int64_t n) {
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

/* ---- the stack ---- */

static tesela__map_value *value_top(tesela__map_text *m) { return &m->value[m->n_values - 1]; }

static int32_t value_terms(const tesela__map_text *m) { /* of all values */
  return m->n_values ? m->value[m->n_values - 1].first + m->value[m->n_values - 1].n : 0;
}

static tesela_status value_room(const tesela__map_text *m, int32_t n, size_t at) {
  if (value_terms(m) + n + m->n_kept <= TESELA__MAP_TERMS) return TESELA_OK;
  return tesela__read_fail(&m->reader, TESELA_E_LIMIT, at, "more than %d terms", TESELA__MAP_TERMS);
}

/* Add up equal terms of the value on top, drop those with factor 0, and set its range. */
static tesela_status value_settle(tesela__map_text *m) {
  tesela__map_value *v = value_top(m);
  tesela__map_term *term = &m->term[v->first];
  int32_t n = 0;
  for (int32_t i = 0; i < v->n; i++) {
    int32_t k = 0;
    while (k < n && !same_part(&term[k], &term[i])) k++;
    if (k == n)
      term[n++] = term[i];
    else if (!tesela__add(term[k].factor, term[i].factor, &term[k].factor))
      return value_overflow(m, v->at);
  }
  v->n = 0;
  for (int32_t i = 0; i < n; i++)
    if (term[i].factor != 0) term[v->n++] = term[i];
  v->low = v->high = v->constant;
  for (int32_t i = 0; i < v->n; i++) {
    int64_t reach, *bound = term[i].factor < 0 ? &v->low : &v->high;
    if (!tesela__mul(term_high(m, &term[i]), term[i].factor, &reach) || !tesela__add(*bound, reach, bound))
      return value_overflow(m, v->at);
  }
  return TESELA_OK;
}

tesela_status tesela__map_push_number(tesela__map_text *m, int64_t number, size_t at) {
  if (m->n_values == TESELA__MAP_VALUES)
    return tesela__read_fail(&m->reader, TESELA_E_LIMIT, at, "more than %d operands", TESELA__MAP_VALUES);
  int32_t first = value_terms(m);
  m->value[m->n_values++] = (tesela__map_value){first, 0, number, number, number, number, true, at};
  return TESELA_OK;
}

tesela_status tesela__map_push_term(tesela__map_text *m, const tesela__map_term *term, size_t at) {
  tesela_status status = tesela__map_push_number(m, 0, at);
  if (status == TESELA_OK) status = value_room(m, 1, at);
  if (status != TESELA_OK) return status;
  m->term[value_top(m)->first] = *term;
  value_top(m)->n = 1;
  value_top(m)->fixed = false;
  tesela_status settled = value_settle(m);
  value_top(m)->most = value_top(m)->high;
  return settled;
}

tesela_status tesela__map_push_name(tesela__map_text *m, tesela__map_kind kind, int32_t number, size_t at) {
  tesela__map_term term = {.kind = kind, .number = number, .factor = 1, .divisor = 1, .at = at};
  return tesela__map_push_term(m, &term, at);
}

/* ---- kept terms ---- */

/* Add terms to the kept ones, the last of which is the first in the order of the text. There is room. */
static tesela__map_term *value_keep(tesela__map_text *m, const tesela__map_term *term, int32_t n,
                                    int32_t target) {
  for (int32_t i = 0; i < n; i++) {
    m->term[TESELA__MAP_TERMS - ++m->n_kept] = term[i];
    m->term[TESELA__MAP_TERMS - m->n_kept].target = target;
  }
  return &m->term[TESELA__MAP_TERMS - m->n_kept];
}

/* The sum of these terms, with any constant; or -1. */
static int32_t value_find_sum(const tesela__map_text *m, const tesela__map_term *term, int32_t n) {
  for (int32_t j = 0; j < m->n_sums; j++) {
    int32_t found = 0, parts = 0;
    for (int32_t k = TESELA__MAP_TERMS - m->n_kept; k < TESELA__MAP_TERMS; k++) {
      if (m->term[k].target != j) continue;
      parts++;
      for (int32_t i = 0; i < n; i++)
        found += same_part(&m->term[k], &term[i]) && m->term[k].factor == term[i].factor;
    }
    if (found == n && parts == n) return j;
  }
  return -1;
}

/* The last n terms of the value on top, plus `constant`, as a sum with a number. */
static tesela_status value_make_sum(tesela__map_text *m, int32_t n, int64_t constant, int64_t high,
                                    int32_t *sum) {
  tesela__map_value *v = value_top(m);
  for (int32_t i = v->first + v->n - n; i < v->first + v->n; i++)
    if (m->term[i].kind == TESELA__MAP_PARITY || m->term[i].kind == TESELA__MAP_COPY)
      return tesela__read_fail(&m->reader, TESELA_E_UNSUPPORTED, v->at,
                               m->term[i].kind == TESELA__MAP_COPY
                                   ? "a copy is a term of an axis, not of a sum that is divided"
                                   : "an XOR that is divided or XORed with a sum");
  if (m->n_sums == TESELA_MAX_JOINS)
    return tesela__read_fail(&m->reader, TESELA_E_LIMIT, v->at, "more than %d sums", TESELA_MAX_JOINS);
  tesela_status status = value_room(m, n, v->at);
  if (status != TESELA_OK) return status;
  *sum = m->n_sums++;
  m->sum[*sum] = constant;
  m->sum_high[*sum] = high;
  m->sum_at[*sum] = v->at;
  (void)value_keep(m, &m->term[v->first + v->n - n], n, *sum);
  v->n -= n;
  return TESELA_OK;
}

tesela_status tesela__map_keep_sum(tesela__map_text *m) {
  tesela__map_value *v = value_top(m);
  int32_t sum;
  tesela_status status = value_make_sum(m, v->n, v->constant, v->high, &sum);
  if (status == TESELA_OK) m->n_values--;
  return status;
}

tesela_status tesela__map_keep_on_axis(tesela__map_text *m, int32_t v, int32_t axis, int64_t scale) {
  const tesela__map_value *value = &m->value[v];
  int32_t n = value->n, sum = n > 1 ? value_find_sum(m, &m->term[value->first], n) : -1;
  int64_t constant = value->constant;
  tesela__map_term whole = {
      .kind = TESELA__MAP_SUM, .number = sum, .factor = 1, .divisor = 1, .at = value->at};
  tesela_status status = value_room(m, n, value->at);
  if (status != TESELA_OK) return status;
  if (sum >= 0 && !tesela__sub(constant, m->sum[sum], &constant)) return value_overflow(m, value->at);
  if (sum >= 0) n = 1; /* a sum that is divided elsewhere, whole */
  tesela__map_term *kept = value_keep(m, sum >= 0 ? &whole : &m->term[value->first], n, -1 - axis);
  for (int32_t i = 0; i < n; i++)
    if (!tesela__mul(kept[i].factor, scale, &kept[i].factor)) return value_overflow(m, value->at);
  if (!tesela__mul(constant, scale, &constant) ||
      !tesela__add(m->axis_offset[axis], constant, &m->axis_offset[axis]))
    return value_overflow(m, value->at);
  return TESELA_OK;
}

/* ---- quotients and remainders ---- */

/* Replace the last term of the value on top, x, with x / n or x % n. */
static tesela_status value_apply(tesela__map_text *m, bool divide, int64_t n) {
  tesela__map_value *v = value_top(m);
  tesela__map_term *term = &m->term[v->first + v->n - 1];
  int64_t high = term_high(m, term);
  if (term->kind == TESELA__MAP_COPY)
    return tesela__read_fail(&m->reader, TESELA_E_UNSUPPORTED, term->at,
                             "a copy has no '/' or '%%'; declare one for each part");
  if (high < n && divide) v->n--;
  if (high < n) return TESELA_OK;
  if (term->kind == TESELA__MAP_PARITY) return TESELA_OK; /* high < n for n > 1 */
  return tesela__map_apply(m, term, divide, n);
}

/* Replace the last k terms and a rest r of the constant with their quotient or remainder. */
static tesela_status value_divide_rest(tesela__map_text *m, int32_t k, int64_t r, bool divide, int64_t n) {
  tesela__map_value *v = value_top(m);
  tesela__map_term *last = &m->term[v->first + v->n - 1];
  int64_t low = r, high = r, shift = 0;
  for (int32_t i = 0; i < k; i++) { /* within the range of the value: no overflow */
    int64_t reach = term_high(m, last - i) * last[-i].factor;
    *(reach < 0 ? &low : &high) += reach;
  }
  if (k == 1 && last->factor > 0 && r >= 0 && r < last->factor && n % last->factor == 0 && !m->as_written) {
    int64_t factor = last->factor; /* f*x + r, n = f*m: x / m, f * (x % m) + r */
    last->factor = divide ? 1 : factor;
    if (!divide) v->constant += r;
    return value_apply(m, divide, n / factor);
  }
  if (low >= 0 && high < n && !m->as_written) { /* 0, or itself */
    if (divide) v->n -= k;
    if (!divide) v->constant += r;
    return TESELA_OK;
  }
  if (k == 1 && last->factor == 1 && r == 0) return value_apply(m, divide, n);
  int32_t sum = value_find_sum(m, last - k + 1, k);
  int64_t more = 0;
  if (sum >= 0 && tesela__sub(m->sum[sum], r, &more) && more % n == 0) {
    shift = more / n;
    v->n -= k;
  } else {
    if (low < 0) shift = -value_quotient(low, n);
    if (!tesela__mul(shift, n, &more) || !tesela__add(r, more, &more) || !tesela__add(high, more - r, &high))
      return value_overflow(m, v->at);
    tesela_status status = value_make_sum(m, k, more, high, &sum);
    if (status != TESELA_OK) return status;
  }
  m->term[v->first + v->n++] = (tesela__map_term){.kind = TESELA__MAP_SUM,
                                                  .number = sum,
                                                  .factor = 1,
                                                  .divisor = 1,
                                                  .at = v->at}; /* k > 0: there is room */
  if (divide) v->constant -= shift;
  return value_apply(m, divide, n);
}

/* A value of other terms becomes one sum, whose bits are known. It is the value on top. */
static tesela_status value_as_sum(tesela__map_text *m) {
  tesela__map_value *v = value_top(m);
  int32_t sum = value_find_sum(m, &m->term[v->first], v->n);
  if (v->low < 0)
    return tesela__read_fail(&m->reader, TESELA_E_RANGE, v->at,
                             "an operand of XOR may be %" PRId64 "; expected 0 or more", v->low);
  if (v->n == 0) return tesela__read_fail(&m->reader, TESELA_E_UNSUPPORTED, v->at, "XOR with a number");
  if (sum >= 0 && m->sum[sum] == v->constant) {
    v->n = 0;
  } else {
    tesela_status status = value_make_sum(m, v->n, v->constant, v->high, &sum);
    if (status != TESELA_OK) return status;
  }
  m->term[v->first] =
      (tesela__map_term){.kind = TESELA__MAP_SUM, .number = sum, .factor = 1, .divisor = 1, .at = v->at};
  v->n = 1;
  v->constant = 0;
  return value_settle(m);
}

static bool value_is_multiple(const tesela__map_text *m, const tesela__map_term *term, int64_t n) {
  return !m->as_written && term->factor % n == 0;
}

/* The value on top / n or % n. Its multiples of n come first, then the rest. */
static tesela_status value_divide(tesela__map_text *m, bool divide, int64_t n, size_t at) {
  tesela__map_value *v = value_top(m);
  tesela__map_term *term = &m->term[v->first];
  int32_t multiples = 0;
  if (n == 1 && divide && m->as_written && v->n > 0 && (v->n > 1 || v->constant != 0 || term->factor != 1))
    return value_as_sum(m);
  if (n == 1) {
    if (!divide) v->n = 0;
    if (!divide) v->constant = 0;
    return value_settle(m);
  }
  for (int32_t i = 0; i < v->n; i++) {
    if (!value_is_multiple(m, &term[i], n)) continue;
    tesela__map_term moved = term[i];
    if (divide) moved.factor /= n;
    memmove(&term[multiples + 1], &term[multiples], (size_t)(i - multiples) * sizeof *term);
    term[multiples++] = moved;
  }
  if (!divide) {
    memmove(term, &term[multiples], (size_t)(v->n - multiples) * sizeof *term);
    v->n -= multiples;
    multiples = 0;
  }
  int64_t quotient = value_quotient(v->constant, n), rest = v->constant - quotient * n;
  bool whole = m->as_written && v->n > multiples; /* the constant stays in the sum */
  v->constant = divide && !whole ? quotient : 0;
  tesela_status status = TESELA_OK;
  if (v->n > multiples)
    status = value_divide_rest(m, v->n - multiples, whole ? quotient * n + rest : rest, divide, n);
  else if (!divide)
    v->constant = rest;
  v = value_top(m);
  v->at = at;
  return status == TESELA_OK ? value_settle(m) : status;
}

/* ---- XOR ---- */

static bool value_is_power(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

/* The bits that a term with a power of 2 as factor has in a sum. */
static uint64_t term_bits(const tesela__map_text *m, const tesela__map_term *term) {
  uint64_t high = (uint64_t)term_high(m, term), mask = 0;
  for (; high; high >>= 1) mask = mask << 1 | 1;
  return mask * (uint64_t)term->factor; /* the range of the value fits */
}

/* Does each term of a value have its own bits? *mask: all of them. */
static bool value_is_fields(const tesela__map_text *m, const tesela__map_value *v, uint64_t *mask) {
  *mask = 0;
  if (v->constant != 0) return false;
  for (int32_t i = v->first; i < v->first + v->n; i++) {
    if (!value_is_power(m->term[i].factor)) return false;
    uint64_t bits = term_bits(m, &m->term[i]);
    if (*mask & bits) return false;
    *mask |= bits;
  }
  return true;
}

/* Bits from .. from + n - 1 of a term as the terms's x. */
static tesela_status term_cut(const tesela__map_text *m, tesela__map_term *term, int32_t from, int32_t n) {
  tesela_status status = TESELA_OK;
  int64_t high = term_high(m, term);
  if (from > 0) status = tesela__map_apply(m, term, true, INT64_C(1) << from);
  if (status == TESELA_OK && high >> from >> n > 0)
    status = tesela__map_apply(m, term, false, INT64_C(1) << n);
  return status;
}

/* Bit `bit` of the sum, which a term has, as a set of bits of names. */
static tesela_status value_source(tesela__map_text *m, const tesela__map_term *term, int32_t bit,
                                  uint64_t *set) {
  tesela__map_term one = *term;
  if (term->kind == TESELA__MAP_PARITY) {
    *set ^= m->parity[term->number];
    return TESELA_OK;
  }
  tesela_status status = term_cut(m, &one, bit - __builtin_ctzll((uint64_t)term->factor), 1);
  one.factor = 0;
  for (int32_t i = 0; i < m->n_bits && status == TESELA_OK; i++)
    if (same_part(&m->bit[i], &one)) {
      *set ^= (uint64_t)1 << i;
      return TESELA_OK;
    }
  if (status != TESELA_OK) return status;
  if (m->n_bits == TESELA__MAP_BITS)
    return tesela__read_fail(&m->reader, TESELA_E_LIMIT, term->at, "XOR of more than %d bits",
                             TESELA__MAP_BITS);
  *set ^= (uint64_t)1 << m->n_bits;
  m->bit[m->n_bits++] = one;
  return TESELA_OK;
}

/* Append a term to those after all values. */
static tesela_status value_append(tesela__map_text *m, const tesela__map_term *term, int32_t *end) {
  if (*end + m->n_kept >= TESELA__MAP_TERMS)
    return tesela__read_fail(&m->reader, TESELA_E_LIMIT, term->at, "more than %d terms", TESELA__MAP_TERMS);
  m->term[(*end)++] = *term;
  return TESELA_OK;
}

static tesela_status value_append_parity(tesela__map_text *m, uint64_t set, int64_t factor, size_t at,
                                         int32_t *end) {
  if (set == 0) return TESELA_OK;
  if (m->n_parities == TESELA__MAP_PARITIES)
    return tesela__read_fail(&m->reader, TESELA_E_LIMIT, at, "more than %d bits that are XORs",
                             TESELA__MAP_PARITIES);
  tesela__map_term parity = {
      .kind = TESELA__MAP_PARITY, .number = m->n_parities, .factor = factor, .divisor = 1, .at = at};
  m->parity[m->n_parities++] = set;
  return value_append(m, &parity, end);
}

/* Append the runs of bits of a value that are not among `both`: as terms. */
static tesela_status value_append_rest(tesela__map_text *m, const tesela__map_value *v, uint64_t both,
                                       int32_t *end) {
  tesela_status status = TESELA_OK;
  for (int32_t i = v->first; i < v->first + v->n; i++) {
    uint64_t left = term_bits(m, &m->term[i]) & ~both;
    int32_t zero = __builtin_ctzll((uint64_t)m->term[i].factor);
    while (left && status == TESELA_OK) {
      int32_t from = __builtin_ctzll(left), n = 0;
      while (from + n < 64 && left >> (from + n) & 1) n++;
      tesela__map_term term = m->term[i];
      if (term.kind != TESELA__MAP_PARITY) status = term_cut(m, &term, from - zero, n);
      term.factor = INT64_C(1) << from;
      if (status == TESELA_OK) status = value_append(m, &term, end);
      left &= ~((((uint64_t)1 << n) - 1) << from); /* n < 64 */
    }
  }
  return status;
}

/* Append a bit that is the XOR of those of two values. */
static tesela_status value_xor_bit(tesela__map_text *m, const tesela__map_value *a,
                                   const tesela__map_value *b, int32_t bit, int32_t *end) {
  uint64_t set = 0;
  tesela_status status = TESELA_OK;
  for (int32_t i = a->first; i < b->first + b->n && status == TESELA_OK; i++)
    if (term_bits(m, &m->term[i]) >> bit & 1) status = value_source(m, &m->term[i], bit, &set);
  return status == TESELA_OK ? value_append_parity(m, set, INT64_C(1) << bit, b->at, end) : status;
}

static tesela_status value_xor(tesela__map_text *m, size_t at) {
  uint64_t mask_a, mask_b;
  tesela__map_value b = *value_top(m), a;
  tesela_status status = TESELA_OK;
  m->n_values--;
  if (b.n == 0 && value_top(m)->n == 0 && b.constant >= 0 && value_top(m)->constant >= 0) {
    value_top(m)->constant ^= b.constant;
    return value_settle(m);
  }
  if (!value_is_fields(m, value_top(m), &mask_a)) {
    /* the terms of b follow: put them after those of the sum */
    tesela__map_term kept[TESELA__MAP_BITS];
    if (b.n > TESELA__MAP_BITS)
      return tesela__read_fail(&m->reader, TESELA_E_LIMIT, at, "XOR of more than %d terms", TESELA__MAP_BITS);
    memcpy(kept, &m->term[b.first], (size_t)b.n * sizeof *kept);
    status = value_as_sum(m);
    b.first = value_terms(m);
    memcpy(&m->term[b.first], kept, (size_t)b.n * sizeof *kept);
  }
  m->value[m->n_values++] = b;
  if (status == TESELA_OK && !value_is_fields(m, &b, &mask_b)) status = value_as_sum(m);
  if (status != TESELA_OK) return status;
  b = m->value[m->n_values - 1];
  a = m->value[m->n_values - 2];
  (void)value_is_fields(m, &a, &mask_a);
  (void)value_is_fields(m, &b, &mask_b);
  /* the bits of the one with more bits, and all bits of the other one as XORs: they may be of the same names */
  bool swap = __builtin_popcountll(mask_b) > __builtin_popcountll(mask_a);
  uint64_t flips = swap ? mask_a : mask_b;
  int32_t begin = value_terms(m), end = begin;
  status = value_append_rest(m, swap ? &b : &a, flips, &end);
  for (int32_t bit = 0; bit < 63 && status == TESELA_OK; bit++)
    if (flips >> bit & 1) status = value_xor_bit(m, &a, &b, bit, &end);
  if (status != TESELA_OK) return status;
  memmove(&m->term[a.first], &m->term[begin], (size_t)(end - begin) * sizeof *m->term);
  m->n_values--;
  value_top(m)->n = end - begin;
  value_top(m)->at = at;
  return value_settle(m);
}

/* The remainder by 2 of a sum is the XOR of the lowest bits of the terms with odd factors. As written: of a sum of bits. */
static bool value_is_parity(const tesela__map_text *m, const tesela__map_value *v) {
  bool bits = true;
  for (int32_t i = v->first; i < v->first + v->n; i++) bits = bits && term_high(m, &m->term[i]) <= 1;
  return v->n > 0 && v->constant % 2 == 0 && (bits || (v->n > 1 && !m->as_written));
}

static tesela_status value_parity(tesela__map_text *m) {
  tesela__map_value *v = value_top(m);
  int32_t end = v->first + v->n, begin = end;
  uint64_t set = 0;
  tesela_status status = TESELA_OK;
  for (int32_t i = v->first; i < begin && status == TESELA_OK; i++) {
    if (m->term[i].factor % 2 == 0) continue;
    m->term[i].factor = 1;
    status = value_source(m, &m->term[i], 0, &set);
  }
  if (status == TESELA_OK) status = value_append_parity(m, set, 1, v->at, &end);
  if (status != TESELA_OK) return status;
  v->constant = 0;
  v->n = end - begin;
  if (v->n > 0) m->term[v->first] = m->term[begin];
  return value_settle(m);
}

/* ---- operators ---- */

static tesela_status value_add(tesela__map_text *m) {
  tesela__map_value *b = value_top(m), *a = b - 1;
  if (!tesela__add(a->constant, b->constant, &a->constant)) return value_overflow(m, b->at);
  a->n += b->n; /* its terms follow */
  m->n_values--;
  return value_settle(m);
}

static tesela_status value_scale(tesela__map_text *m, int64_t by) {
  tesela__map_value *v = value_top(m);
  bool fits = tesela__mul(v->constant, by, &v->constant);
  for (int32_t i = v->first; i < v->first + v->n && fits; i++)
    fits = tesela__mul(m->term[i].factor, by, &m->term[i].factor);
  return fits ? value_settle(m) : value_overflow(m, v->at);
}

static tesela_status value_multiply(tesela__map_text *m, size_t at) {
  tesela__map_value *b = value_top(m), *a = b - 1;
  if (a->n > 0 && b->n > 0)
    return tesela__read_fail(&m->reader, TESELA_E_UNSUPPORTED, at,
                             "a product of two names; expected a number on one side");
  int64_t by = b->n > 0 ? a->constant : b->constant;
  if (b->n > 0) {
    b->at = a->at;
    *a = *b;
  }
  m->n_values--;
  return value_scale(m, by);
}

/* The right operand as a number from `least` to `most`; pops it. */
static tesela_status value_number(tesela__map_text *m, const char *what, int64_t least, int64_t most,
                                  int64_t *number) {
  const tesela__map_value *b = value_top(m);
  if (b->n > 0)
    return tesela__read_fail(&m->reader, TESELA_E_UNSUPPORTED, b->at,
                             "%s that depends on a name; expected a number", what);
  if (b->constant < least || b->constant > most)
    return tesela__read_fail(&m->reader, TESELA_E_RANGE, b->at,
                             "%s is %" PRId64 "; expected %" PRId64 " to %" PRId64, what, b->constant, least,
                             most);
  *number = b->constant;
  m->n_values--;
  return TESELA_OK;
}

static tesela_status value_quotients(tesela__map_text *m, tesela__map_operation operation, size_t at) {
  int64_t n = 0;
  tesela_status status = TESELA_OK;
  switch (operation) {
  case TESELA__MAP_AND:
    status = value_number(m, "a mask", 0, INT64_MAX - 1, &n);
    if (status == TESELA_OK && (n & (n + 1)) != 0)
      status = tesela__read_fail(&m->reader, TESELA_E_UNSUPPORTED, at,
                                 "the mask %" PRId64 "; expected a power of 2 less 1", n);
    return status == TESELA_OK ? value_divide(m, false, n + 1, at) : status;
  case TESELA__MAP_RIGHT:
    status = value_number(m, "a shift", 0, 62, &n);
    return status == TESELA_OK ? value_divide(m, true, INT64_C(1) << n, at) : status;
  case TESELA__MAP_LEFT:
    status = value_number(m, "a shift", 0, 62, &n);
    return status == TESELA_OK ? value_scale(m, INT64_C(1) << n) : status;
  default:
    break;
  }
  status = value_number(m, operation == TESELA__MAP_MODULO ? "a modulus" : "a divisor", 1, INT64_MAX, &n);
  if (status != TESELA_OK) return status;
  if (operation == TESELA__MAP_MODULO && n == 2 && m->parities && value_is_parity(m, value_top(m)))
    return value_parity(m);
  if (operation == TESELA__MAP_DIVIDE_UP) { /* (x + n - 1) / n */
    if (!tesela__add(value_top(m)->constant, n - 1, &value_top(m)->constant)) return value_overflow(m, at);
    status = value_settle(m);
  }
  return status == TESELA_OK ? value_divide(m, operation != TESELA__MAP_MODULO, n, at) : status;
}

/* The greatest value of the result if every remainder by n may be n - 1; INT64_MAX if it does not fit. */
static int64_t value_most(const tesela__map_value *a, const tesela__map_value *b,
                          tesela__map_operation operation) {
  int64_t n = b->constant, most = INT64_MAX;
  bool fits = true;
  switch (operation) {
  case TESELA__MAP_NEGATE:
    return a->low == INT64_MIN ? INT64_MAX : -a->low;
  case TESELA__MAP_ADD:
    fits = tesela__add(a->most, b->most, &most);
    break;
  case TESELA__MAP_SUBTRACT:
    fits = tesela__sub(a->most, b->low, &most);
    break;
  case TESELA__MAP_MULTIPLY:
    if (a->n == 0) n = a->constant;
    if (a->n == 0) a = b;
    fits = tesela__mul(n < 0 ? a->low : a->most, n, &most);
    break;
  case TESELA__MAP_LEFT:
    fits = n >= 0 && n < 63 && tesela__mul(a->most, INT64_C(1) << n, &most);
    break;
  case TESELA__MAP_RIGHT:
    return n >= 0 && n < 63 ? a->most >> n : a->most;
  case TESELA__MAP_DIVIDE:
    return n > 0 ? value_quotient(a->most, n) : a->most;
  case TESELA__MAP_DIVIDE_UP:
    return n > 0 ? value_quotient(a->most, n) + (a->most % n != 0) : a->most;
  case TESELA__MAP_MODULO:
    return n - 1;
  case TESELA__MAP_AND:
    return n;
  default:
    return 0;
  }
  return fits ? most : INT64_MAX;
}

static tesela_status value_operate(tesela__map_text *m, tesela__map_operation operation, size_t at) {
  tesela_status status;
  switch (operation) {
  case TESELA__MAP_NEGATE:
    return value_scale(m, -1);
  case TESELA__MAP_ADD:
    return value_add(m);
  case TESELA__MAP_SUBTRACT:
    status = value_scale(m, -1);
    return status == TESELA_OK ? value_add(m) : status;
  case TESELA__MAP_MULTIPLY:
    return value_multiply(m, at);
  case TESELA__MAP_XOR:
    return value_xor(m, at);
  default:
    return value_quotients(m, operation, at);
  }
}

tesela_status tesela__map_operate(tesela__map_text *m, tesela__map_operation operation, size_t at) {
  const tesela__map_value *b = value_top(m), *a = operation == TESELA__MAP_NEGATE ? b : b - 1;
  int64_t most = value_most(a, b, operation);
  bool fixed = a->fixed && b->fixed;
  tesela_status status = value_operate(m, operation, at);
  if (status != TESELA_OK) return status;
  tesela__map_value *v = value_top(m);
  v->fixed = fixed;
  v->most = fixed ? v->high : tesela__max(most, v->high);
  return TESELA_OK;
}
