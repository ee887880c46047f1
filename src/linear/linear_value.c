/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear_value.c - linear layouts as values: checks, elimination.
 */
#include "linear/linear.h"

/* ---- checks --------------------------------------------------------------------------------------------------- */

/* A letter, then letters, digits and _: all texts and JSON take it. */
static bool linear_is_name(const char *name) {
  int32_t n = 0;
  for (; n < TESELA_LINEAR_NAME && name[n]; n++) {
    bool letter = (name[n] >= 'a' && name[n] <= 'z') || (name[n] >= 'A' && name[n] <= 'Z') || name[n] == '_';
    if (!letter && (n == 0 || name[n] < '0' || name[n] > '9')) return false;
  }
  return n > 0 && n < TESELA_LINEAR_NAME;
}

static tesela_status linear_check_dims(const tesela_linear_dim *dim, int32_t n, const char *what,
                                       const char *side, tesela_error *err) {
  int64_t bits = 0;
  if (n < 0 || n > TESELA_LINEAR_DIMS)
    return tesela__fail(err, TESELA_E_RANGE, -1, "%s has %" PRId32 " %s; expected 0 to %d", what, n, side,
                        TESELA_LINEAR_DIMS);
  for (int32_t i = 0; i < n; i++) {
    if (!linear_is_name(dim[i].name))
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "%s: name %" PRId32 " of the %s is not 1 to %d letters, digits and _", what, i,
                          side, TESELA_LINEAR_NAME - 1);
    if (dim[i].bits < 0 || dim[i].bits > TESELA_LINEAR_BITS)
      return tesela__fail(err, TESELA_E_RANGE, -1, "%s: %s has %" PRId32 " bits; expected 0 to %d", what,
                          dim[i].name, dim[i].bits, TESELA_LINEAR_BITS);
    for (int32_t k = 0; k < i; k++)
      if (strcmp(dim[i].name, dim[k].name) == 0)
        return tesela__fail(err, TESELA_E_INVALID, -1, "%s: the name %s is repeated in the %s", what,
                            dim[i].name, side);
    bits += dim[i].bits;
  }
  if (bits > TESELA_LINEAR_BITS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "%s: the %s have %" PRId64 " bits; expected at most %d",
                        what, side, bits, TESELA_LINEAR_BITS);
  return TESELA_OK;
}

tesela_status tesela__linear_check(const tesela_linear *a, const char *what, tesela_error *err) {
  tesela_status status = linear_check_dims(a->in, a->n_ins, what, "inputs", err);
  if (status == TESELA_OK) status = linear_check_dims(a->out, a->n_outs, what, "outputs", err);
  if (status != TESELA_OK) return status;
  int32_t outs = tesela__bits_of(a->out, a->n_outs), ins = tesela__bits_of(a->in, a->n_ins);
  for (int32_t k = 0; k < ins; k++)
    if (a->basis[k] >> outs != 0)
      return tesela__fail(err, TESELA_E_RANGE, -1, "%s: basis %" PRId32 " is outside the outputs", what, k);
  return TESELA_OK;
}

/* ---- elimination ---------------------------------------------------------------------------------------------- */

uint64_t tesela__reduce(const tesela__echelon *e, uint64_t word, uint64_t *combo) {
  uint64_t used = 0, left = word;
  for (int32_t i = 0; i < e->n; i++)
    if (word >> e->bit[i] & 1) { /* no word has the bit of another */
      left ^= e->word[i];
      used ^= e->combo[i];
    }
  *combo = used;
  return left;
}

void tesela__eliminate(int32_t n, const uint64_t *column, tesela__echelon *e) {
  e->n = e->n_kernel = 0;
  for (int32_t k = 0; k < n; k++) {
    uint64_t combo, word = tesela__reduce(e, column[k], &combo);
    combo ^= (uint64_t)1 << k;
    if (word == 0) {
      e->kernel_column[e->n_kernel] = k;
      e->kernel[e->n_kernel++] = combo;
      continue;
    }
    int32_t bit = __builtin_ctzll(word);
    for (int32_t i = 0; i < e->n; i++)
      if (e->word[i] >> bit & 1) {
        e->word[i] ^= word;
        e->combo[i] ^= combo;
      }
    e->word[e->n] = word;
    e->combo[e->n] = combo;
    e->bit[e->n] = bit;
    e->column[e->n++] = k;
  }
}

/* ---- dims ----------------------------------------------------------------------------------------------------- */

int32_t tesela__linear_find(const tesela_linear_dim *dim, int32_t n, const char *name) {
  for (int32_t i = 0; i < n; i++)
    if (strcmp(dim[i].name, name) == 0) return i;
  return -1;
}

void tesela__linear_set(tesela_linear_dim *dim, const char *name, int32_t bits) {
  size_t length = strlen(name);
  memset(dim->name, 0, sizeof dim->name);
  if (length < sizeof dim->name) memcpy(dim->name, name, length);
  dim->bits = bits;
}

void tesela__linear_values(const tesela_linear_dim *dim, int32_t n, uint64_t word, int64_t *values) {
  for (int32_t i = 0; i < n; i++) {
    values[i] = (int64_t)(word & tesela__low_bits(dim[i].bits));
    word >>= dim[i].bits;
  }
}

void tesela__linear_show_in(tesela_linear_example *example, const tesela_linear *a, uint64_t word) {
  if (!example) return;
  example->have_in = true;
  tesela__linear_values(a->in, a->n_ins, word, example->in);
}

void tesela__linear_show_out(tesela_linear_example *example, const tesela_linear *a, uint64_t word) {
  if (!example) return;
  example->have_out = true;
  tesela__linear_values(a->out, a->n_outs, word, example->out);
}

void tesela__linear_match(const tesela_linear_dim *dim, int32_t n, const tesela_linear_dim *other,
                          int32_t n_other, int32_t *at) {
  for (int32_t i = 0, bit = 0; i < n; i++) {
    int32_t with = tesela__linear_find(other, n_other, dim[i].name), base = tesela__bits_of(other, with);
    for (int32_t k = 0; k < dim[i].bits; k++) at[bit++] = with >= 0 && k < other[with].bits ? base + k : -1;
  }
}

uint64_t tesela__linear_move(uint64_t word, const int32_t *at) {
  uint64_t moved = 0;
  for (; word != 0; word &= word - 1) {
    int32_t to = at[__builtin_ctzll(word)];
    if (to >= 0) moved |= (uint64_t)1 << to;
  }
  return moved;
}

/* ---- small layouts, values ------------------------------------------------------------------------------------ */

static tesela_status linear_power(const char *what, int64_t value, int32_t *bits, tesela_error *err) {
  if (value < 1 || (value & (value - 1)) != 0 || value > (int64_t)1 << TESELA_LINEAR_BITS)
    return tesela__fail(err, TESELA_E_RANGE, -1, "%s is %" PRId64 "; expected a power of two up to 2^%d",
                        what, value, TESELA_LINEAR_BITS);
  *bits = __builtin_ctzll((uint64_t)value);
  return TESELA_OK;
}

/* A layout of one input and one output with zero bases. */
static tesela_status linear_make_1d(const char *in, int32_t in_bits, const char *out_name, int32_t out_bits,
                                    tesela_linear *a, tesela_error *err) {
  *a = (tesela_linear){.n_ins = 1, .n_outs = 1};
  tesela__linear_set(&a->in[0], in, in_bits);
  tesela__linear_set(&a->out[0], out_name, out_bits);
  return tesela__linear_check(a, "the linear layout", err);
}

tesela_status tesela_linear_strided_1d(int64_t size, int64_t stride, const char *in, const char *out_name,
                                       tesela_linear *out, tesela_error *err) {
  TESELA__NEED(err, in, out_name, out);
  tesela_linear a;
  int32_t bits = 0, shift = 0;
  tesela_status status = linear_power("the size", size, &bits, err);
  if (status == TESELA_OK) status = linear_power("the stride", stride, &shift, err);
  if (status == TESELA_OK) status = linear_make_1d(in, bits, out_name, bits + shift, &a, err);
  if (status != TESELA_OK) return status;
  for (int32_t k = 0; k < bits; k++) a.basis[k] = (uint64_t)stride << k;
  *out = a;
  return TESELA_OK;
}

tesela_status tesela_linear_zeros_1d(int64_t size, const char *in, const char *out_name, int64_t out_size,
                                     tesela_linear *out, tesela_error *err) {
  TESELA__NEED(err, in, out_name, out);
  tesela_linear a;
  int32_t bits = 0, out_bits = 0;
  tesela_status status = linear_power("the size", size, &bits, err);
  if (status == TESELA_OK) status = linear_power("the number of outputs", out_size, &out_bits, err);
  if (status == TESELA_OK) status = linear_make_1d(in, bits, out_name, out_bits, &a, err);
  if (status == TESELA_OK) *out = a;
  return status;
}

tesela_status tesela_linear_apply(const tesela_linear *a, const int64_t *in, int64_t *out,
                                  tesela_error *err) {
  TESELA__NEED(err, a);
  TESELA__NEED_LIST(err, in, a->n_ins);
  TESELA__NEED_LIST(err, out, a->n_outs);
  tesela_status status = tesela__linear_check(a, "the linear layout", err);
  if (status != TESELA_OK) return status;
  uint64_t word = 0;
  for (int32_t i = 0, base = 0; i < a->n_ins; base += a->in[i++].bits) {
    if (in[i] < 0 || in[i] >> a->in[i].bits != 0)
      return tesela_error_outside(err, -1, a->in[i].name, -1, in[i], 0, ((int64_t)1 << a->in[i].bits) - 1);
    word |= (uint64_t)in[i] << base;
  }
  tesela__linear_values(a->out, a->n_outs, tesela__linear_word(a->basis, word), out);
  return TESELA_OK;
}

/* ---- facts ---------------------------------------------------------------------------------------------------- */

static bool linear_same_dims(const tesela_linear_dim *a, int32_t n_a, const tesela_linear_dim *b, int32_t n_b,
                             bool sizes) {
  if (n_a != n_b) return false;
  for (int32_t i = 0; i < n_a; i++)
    if (strcmp(a[i].name, b[i].name) != 0 || (sizes && a[i].bits != b[i].bits)) return false;
  return true;
}

bool tesela_linear_equal(const tesela_linear *a, const tesela_linear *b, bool ignore_sizes) {
  if (!a || !b || tesela__linear_check(a, "", NULL) != TESELA_OK ||
      tesela__linear_check(b, "", NULL) != TESELA_OK)
    return false;
  int32_t at[TESELA_LINEAR_BITS], n = tesela__bits_of(a->in, a->n_ins);
  if (!linear_same_dims(a->in, a->n_ins, b->in, b->n_ins, true) ||
      !linear_same_dims(a->out, a->n_outs, b->out, b->n_outs, !ignore_sizes))
    return false;
  tesela__linear_match(a->out, a->n_outs, b->out, b->n_outs, at);
  for (int32_t k = 0; k < n; k++) {
    uint64_t moved = tesela__linear_move(a->basis[k], at);
    if (moved != b->basis[k] || __builtin_popcountll(moved) != __builtin_popcountll(a->basis[k]))
      return false;
  }
  return true;
}

int32_t tesela_linear_rank(const tesela_linear *a) {
  tesela__echelon e;
  if (!a || tesela__linear_check(a, "", NULL) != TESELA_OK) return 0;
  tesela__eliminate(tesela__bits_of(a->in, a->n_ins), a->basis, &e);
  return e.n;
}

bool tesela_linear_is_zero(const tesela_linear *a) {
  uint64_t any = 0;
  if (!a || tesela__linear_check(a, "", NULL) != TESELA_OK) return true;
  for (int32_t k = 0; k < tesela__bits_of(a->in, a->n_ins); k++) any |= a->basis[k];
  return any == 0;
}

tesela_status tesela_linear_free_variable_masks(const tesela_linear *a, int64_t *masks, tesela_error *err) {
  TESELA__NEED(err, a, masks);
  tesela__echelon e;
  uint64_t word = 0;
  tesela_status status = tesela__linear_check(a, "the linear layout", err);
  if (status != TESELA_OK) return status;
  tesela__eliminate(tesela__bits_of(a->in, a->n_ins), a->basis, &e);
  for (int32_t i = 0; i < e.n_kernel; i++) word |= (uint64_t)1 << e.kernel_column[i];
  tesela__linear_values(a->in, a->n_ins, word, masks);
  return TESELA_OK;
}

int64_t tesela_linear_num_consecutive_in_out(const tesela_linear *a) {
  if (!a || tesela__linear_check(a, "", NULL) != TESELA_OK || a->n_ins == 0 || a->n_outs == 0) return 1;
  int32_t n = 0, bits = tesela__bits_of(a->in, a->n_ins);
  uint64_t others = 0;
  while (n < a->in[0].bits && n < a->out[0].bits && a->basis[n] == (uint64_t)1 << n) n++;
  for (int32_t k = n; k < bits; k++) others |= a->basis[k] & tesela__low_bits(a->out[0].bits);
  return (int64_t)1 << (others == 0 ? n : (int32_t)tesela__min(n, __builtin_ctzll(others)));
}

tesela_status tesela_linear_make(tesela_linear *out, int32_t n_ins, const tesela_linear_dim *ins,
                                 int32_t n_outs, const tesela_linear_dim *outs, const int64_t *bases,
                                 tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, ins, n_ins);
  TESELA__NEED_LIST(err, outs, n_outs);
  tesela_linear a = {.n_ins = n_ins, .n_outs = n_outs};
  if (n_ins < 0 || n_ins > TESELA_LINEAR_DIMS || n_outs < 0 || n_outs > TESELA_LINEAR_DIMS)
    return tesela__fail(err, TESELA_E_LIMIT, -1,
                        "%" PRId32 " inputs and %" PRId32 " outputs; expected 0 to %d", n_ins, n_outs,
                        TESELA_LINEAR_DIMS);
  for (int32_t i = 0; i < n_ins; i++) a.in[i] = ins[i];
  for (int32_t i = 0; i < n_outs; i++) a.out[i] = outs[i];
  for (int32_t i = 0; i < n_outs; i++) a.out[i].bits = (int32_t)tesela__max(a.out[i].bits, 0);
  tesela_status status = tesela__linear_check(&a, "the linear layout", err);
  if (status != TESELA_OK) return status;
  int32_t n = tesela__bits_of(a.in, n_ins);
  TESELA__NEED_LIST(err, bases, n * n_outs);
  for (int32_t k = 0; k < n * n_outs; k++) {
    tesela_linear_dim *dim = &a.out[k % n_outs];
    if (bases[k] < 0 || bases[k] >> TESELA_LINEAR_BITS != 0)
      return tesela_error_outside(err, -1, dim->name, -1, bases[k], 0,
                                  (int64_t)tesela__low_bits(TESELA_LINEAR_BITS));
    while (outs[k % n_outs].bits < 0 && bases[k] >> dim->bits != 0) dim->bits++;
    if (bases[k] >> dim->bits != 0)
      return tesela_error_outside(err, -1, dim->name, -1, bases[k], 0, ((int64_t)1 << dim->bits) - 1);
  }
  status = tesela__linear_check(&a, "the linear layout", err);
  if (status != TESELA_OK) return status;
  for (int32_t k = 0; k < n; k++)
    for (int32_t i = 0, base = 0; i < n_outs; base += a.out[i++].bits)
      a.basis[k] |= (uint64_t)bases[k * n_outs + i] << base;
  *out = a;
  return TESELA_OK;
}
