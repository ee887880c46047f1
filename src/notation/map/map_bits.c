/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_bits.c - terms that are XORs of bits become a bit matrix over the places.
 *
 * The places without these terms have some of the bits already. The others get bits of the place that only XORs set: by
 * elimination, so that the matrix has an inverse. At the end each bit is looked for where the matrix expects it.
 */
#include "layout/layout.h"
#include "notation/map/map.h"

/* ---- bits of a place ---- */

tesela__bit_kind tesela__bit_of_place(const tesela_layout *layout, int32_t axis, int32_t k, int32_t *digit,
                                      int32_t *of) {
  const int64_t unit = INT64_C(1) << k;
  int64_t low = layout->axis[axis].offset & (unit - 1); /* what smaller bits add up to */
  bool found = false;
  if (layout->axis[axis].offset & unit) return TESELA__BIT_MIXED;
  for (int32_t i = 0; i < layout->n_active; i++) {
    const tesela_digit *d = &layout->digit[i];
    if (d->axis != axis || d->stride == 0 || d->source == TESELA_HOLE) continue;
    int32_t zeros = __builtin_ctzll((uint64_t)d->stride);
    int64_t most = d->extent - 1, reach;
    if (zeros > k) continue;
    if (d->stride < 0) return TESELA__BIT_MIXED;
    if (d->stride == INT64_C(1) << zeros) {
      int32_t bit = k - zeros;
      if (most >> bit != 0) {
        if (found) return TESELA__BIT_MIXED;
        found = true;
        *digit = i;
        *of = bit;
      }
      most = tesela__min(most, (INT64_C(1) << bit) - 1);
    }
    if (!tesela__mul(most, d->stride, &reach) || !tesela__add(low, reach, &low)) return TESELA__BIT_MIXED;
  }
  if (low >= unit) return TESELA__BIT_MIXED;
  return found ? TESELA__BIT_DIGIT : TESELA__BIT_ZERO;
}

/* ---- from terms to a matrix ---- */

typedef struct map_solver {
  tesela__map_text *m;
  int32_t n_rows; /* bits of places that are XORs */
  tesela_axis_bit row[TESELA__MAP_BITS];
  uint64_t set[TESELA__MAP_BITS]; /* of each row: its operands */
  tesela_axis_bit
      bit[TESELA__MAP_BITS]; /* where each operand is a bit of the place; axis -1: nowhere, it is always 0 */
  int32_t pivot[TESELA__MAP_BITS]; /* the row that has an operand alone, or -1 */
} map_solver;

static tesela_status solver_fail(const map_solver *s, tesela_status status, size_t at, const char *message) {
  return tesela__read_fail(&s->m->reader, status, at, "%s", message);
}

/* Take the parities from the terms into rows. */
static tesela_status solver_rows(map_solver *s) {
  tesela__map_text *m = s->m;
  int32_t kept = 0;
  s->n_rows = 0;
  for (int32_t t = 0; t < m->n_terms; t++) {
    const tesela__map_term *term = &m->term[t];
    if (term->kind != TESELA__MAP_PARITY) {
      m->term[kept++] = *term;
      continue;
    }
    if (s->n_rows == TESELA__MAP_BITS)
      return solver_fail(s, TESELA_E_LIMIT, term->at, "more than 64 bits of places are XORs");
    if (term->factor <= 0 || (term->factor & (term->factor - 1)) != 0 || term->factor >> 62 != 0)
      return solver_fail(s, TESELA_E_UNSUPPORTED, term->at, "an XOR at a stride that is not a power of 2");
    tesela_axis_bit row = {(int16_t)(-1 - term->target), (int16_t)__builtin_ctzll((uint64_t)term->factor)};
    for (int32_t i = 0; i < s->n_rows; i++)
      if (s->row[i].axis == row.axis && s->row[i].bit == row.bit)
        return solver_fail(s, TESELA_E_UNSUPPORTED, term->at, "a sum of two XORs with the same bits");
    s->row[s->n_rows] = row;
    s->set[s->n_rows++] = m->parity[term->number];
  }
  m->n_terms = kept;
  return TESELA_OK;
}

/* Add a term for each operand, so that it becomes a digit; at first with factor 0. */
static tesela_status solver_terms(map_solver *s) {
  tesela__map_text *m = s->m;
  if (m->n_terms + m->n_bits > TESELA__MAP_TERMS)
    return solver_fail(s, TESELA_E_LIMIT, m->reader.at, "too many terms");
  for (int32_t i = 0; i < m->n_bits; i++) {
    m->term[m->n_terms] = m->bit[i];
    m->term[m->n_terms].factor = 0;
    m->term[m->n_terms++].target = -1;
  }
  return TESELA_OK;
}

/* The digit of a coordinate with this step; or -1: it is always 0. */
static int32_t solver_digit(const map_solver *s, const tesela_layout *layout, const tesela__map_term *term) {
  int32_t coordinate = term->kind == TESELA__MAP_DIM ? term->number : layout->rank + term->number;
  (void)s;
  for (int32_t i = 0; i < layout->n_active; i++)
    if (layout->digit[i].source == coordinate && layout->digit[i].step == term->divisor) return i;
  return -1;
}

/* Where each operand is in the places of the other terms: stride 0 and a new bit, by elimination over the rows. */
static tesela_status solver_place(map_solver *s, const tesela_layout *plain) {
  tesela__map_text *m = s->m;
  uint64_t column[TESELA__MAP_BITS]; /* of an operand with a pivot: its rows, reduced */
  for (int32_t i = 0; i < m->n_bits; i++) {
    const tesela__map_term *term = &m->bit[i];
    int32_t d = solver_digit(s, plain, term);
    s->pivot[i] = -1;
    s->bit[i].axis = -1;
    if (d < 0) continue;
    const tesela_digit *digit = &plain->digit[d];
    if (digit->axis < 0)
      return solver_fail(s, TESELA_E_UNSUPPORTED, term->at, "an operand of XOR is in a sum that is divided");
    if (digit->stride != 0) { /* verified at the end */
      if (digit->stride < 0 || (digit->stride & (digit->stride - 1)) != 0)
        return solver_fail(s, TESELA_E_UNSUPPORTED, term->at, "an operand of XOR is not a bit of the place");
      s->bit[i] = (tesela_axis_bit){digit->axis, (int16_t)__builtin_ctzll((uint64_t)digit->stride)};
      continue;
    }
    uint64_t rows = 0;
    for (int32_t r = 0; r < s->n_rows; r++) rows |= (s->set[r] >> i & 1) << r;
    for (int32_t k = 0; k < i; k++)
      if (s->pivot[k] >= 0 && rows >> s->pivot[k] & 1) rows ^= column[k];
    if (rows == 0)
      return solver_fail(s, TESELA_E_UNSUPPORTED, term->at, "XOR of bits that the place does not determine");
    column[i] = rows;
    s->pivot[i] = __builtin_ctzll(rows);
    s->bit[i] = s->row[s->pivot[i]];
  }
  return TESELA_OK;
}

/* The flips of bit i of the list: all rows that it is an operand of, itself excepted. */
static void solver_flips(map_solver *s) {
  tesela__map_text *m = s->m;
  for (int32_t i = 0; i < m->n_bits; i++) {
    if (s->bit[i].axis < 0) continue;
    uint64_t *flip = m->flip[s->bit[i].axis][s->bit[i].bit];
    for (int32_t r = 0; r < s->n_rows; r++)
      if (s->set[r] >> i & 1) flip[s->row[r].axis] ^= (uint64_t)1 << s->row[r].bit;
    if (s->pivot[i] >= 0) flip[s->bit[i].axis] ^= (uint64_t)1 << s->bit[i].bit; /* not kept */
  }
}

/* Are all operands the bits that the matrix reads, and are the other rows 0 before it? */
static tesela_status solver_check(const map_solver *s, const tesela_layout *base) {
  const tesela__map_text *m = s->m;
  int32_t digit = -1, of = -1;
  for (int32_t i = 0; i < m->n_bits; i++) {
    if (s->bit[i].axis < 0) continue;
    if (tesela__bit_of_place(base, s->bit[i].axis, s->bit[i].bit, &digit, &of) != TESELA__BIT_DIGIT ||
        of != 0 || digit != solver_digit(s, base, &m->bit[i]) || base->digit[digit].extent != 2)
      return solver_fail(s, TESELA_E_UNSUPPORTED, m->bit[i].at,
                         "an operand of XOR is not a bit of the place");
  }
  for (int32_t r = 0; r < s->n_rows; r++) {
    bool pivot = false;
    for (int32_t i = 0; i < m->n_bits; i++) pivot = pivot || s->pivot[i] == r;
    if (!pivot && tesela__bit_of_place(base, s->row[r].axis, s->row[r].bit, &digit, &of) != TESELA__BIT_ZERO)
      return solver_fail(s, TESELA_E_UNSUPPORTED, m->reader.at,
                         "an XOR and a sum that carries have a bit in common");
  }
  return TESELA_OK;
}

static tesela_status solve_parities(tesela__map_text *m, tesela_layout *out, tesela_error *err) {
  tesela_layout layout;
  map_solver s;
  s.m = m;
  tesela_status status = solver_rows(&s);
  int32_t operands = m->n_terms;
  if (status == TESELA_OK) status = solver_terms(&s);
  if (status == TESELA_OK) status = tesela__map_lower(m, &layout, err);
  if (status == TESELA_OK) status = solver_place(&s, &layout);
  for (int32_t i = 0; i < m->n_bits && status == TESELA_OK; i++)
    if (s.pivot[i] >= 0) {
      m->term[operands + i].factor = INT64_C(1) << s.bit[i].bit;
      m->term[operands + i].target = -1 - s.bit[i].axis;
    }
  if (status == TESELA_OK) status = tesela__map_lower(m, &layout, err);
  if (status == TESELA_OK) status = solver_check(&s, &layout);
  if (status != TESELA_OK) return status;
  solver_flips(&s);
  return tesela__map_lower(m, out, err);
}

/* Remove sum j and its terms; later ones get the number before. */
static void finish_drop_sum(tesela__map_text *m, int32_t j) {
  int32_t kept = 0;
  for (int32_t t = 0; t < m->n_terms; t++) {
    if (m->term[t].target == j) continue;
    m->term[kept] = m->term[t];
    m->term[kept].target -= m->term[t].target > j;
    m->term[kept].number -= m->term[t].kind == TESELA__MAP_SUM && m->term[t].number > j;
    kept++;
  }
  m->n_terms = kept;
  for (int32_t i = 0; i < m->n_bits; i++)
    m->bit[i].number -= m->bit[i].kind == TESELA__MAP_SUM && m->bit[i].number > j;
  for (int32_t k = j; k + 1 < m->n_sums; k++) {
    m->sum[k] = m->sum[k + 1];
    m->sum_at[k] = m->sum_at[k + 1];
    m->sum_high[k] = m->sum_high[k + 1];
  }
  m->named_sums = (m->named_sums & ((UINT32_C(1) << j) - 1)) | (m->named_sums >> j >> 1) << j;
  m->n_sums--;
}

/* Remove bits that are operands of dropped XORs alone. */
static void finish_drop_bits(tesela__map_text *m) {
  uint64_t used = 0;
  int32_t kept = 0;
  for (int32_t t = 0; t < m->n_terms; t++)
    if (m->term[t].kind == TESELA__MAP_PARITY) used |= m->parity[m->term[t].number];
  for (int32_t i = 0; i < m->n_bits; i++) {
    if (!(used >> i & 1)) continue;
    m->bit[kept] = m->bit[i];
    for (int32_t p = 0; p < m->n_parities; p++)
      m->parity[p] = (m->parity[p] & ~((uint64_t)1 << kept)) | (m->parity[p] >> i & 1) << kept;
    kept++;
  }
  m->n_bits = kept;
}

/* Sums whose quotients were dropped are not declared, and not used. */
static void finish_drop_sums(tesela__map_text *m) {
  for (int32_t j = m->n_sums - 1; j >= 0; j--) {
    bool used = m->named_sums >> j & 1;
    for (int32_t t = 0; t < m->n_terms; t++)
      used = used || (m->term[t].kind == TESELA__MAP_SUM && m->term[t].number == j);
    for (int32_t i = 0; i < m->n_bits; i++)
      used = used || (m->bit[i].kind == TESELA__MAP_SUM && m->bit[i].number == j);
    if (!used) finish_drop_sum(m, j);
  }
}

tesela_status tesela__map_finish(tesela__map_text *m, tesela_layout *out, tesela_error *err) {
  tesela_layout layout;
  bool parities = false;
  m->n_terms = m->n_kept;
  memmove(m->term, &m->term[TESELA__MAP_TERMS - m->n_terms], (size_t)m->n_terms * sizeof *m->term);
  for (int32_t i = 0; i < m->n_terms / 2; i++) {
    tesela__map_term last = m->term[m->n_terms - 1 - i];
    m->term[m->n_terms - 1 - i] = m->term[i];
    m->term[i] = last;
  }
  m->n_kept = m->n_values = 0;
  finish_drop_bits(m);
  finish_drop_sums(m);
  for (int32_t t = 0; t < m->n_terms; t++) parities = parities || m->term[t].kind == TESELA__MAP_PARITY;
  tesela_status status = parities ? solve_parities(m, &layout, err) : tesela__map_lower(m, &layout, err);
  return status == TESELA_OK ? tesela_layout_canonical(&layout, out, err) : status;
}
