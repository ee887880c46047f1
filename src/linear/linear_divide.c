/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear_divide.c - parts of linear layouts: quotients and sublayouts.
 */
#include "linear/linear.h"

tesela_status tesela_linear_sublayout(const tesela_linear *a, uint32_t ins, uint32_t outs, tesela_linear *out,
                                      tesela_error *err) {
  TESELA__NEED(err, a, out);
  tesela_linear c = {.n_ins = 0};
  int32_t at[TESELA_LINEAR_BITS], bits = 0;
  tesela_status status = tesela__linear_check(a, "the linear layout", err);
  if (status != TESELA_OK) return status;
  if ((uint64_t)ins >> a->n_ins != 0 || (uint64_t)outs >> a->n_outs != 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "a dim beyond the %" PRId32 " inputs or %" PRId32 " outputs",
                        a->n_ins, a->n_outs);
  for (int32_t i = 0; i < a->n_outs; i++)
    if (outs >> i & 1) c.out[c.n_outs++] = a->out[i];
  tesela__linear_match(a->out, a->n_outs, c.out, c.n_outs, at);
  for (int32_t i = 0, first = 0; i < a->n_ins; first += a->in[i++].bits) {
    if (!(ins >> i & 1)) continue;
    c.in[c.n_ins++] = a->in[i];
    for (int32_t k = 0; k < a->in[i].bits; k++)
      c.basis[bits++] = tesela__linear_move(a->basis[first + k], at);
  }
  *out = c;
  return TESELA_OK;
}

static tesela_status linear_not_divisible(const tesela_linear *a, int32_t bit, tesela_linear_example *example,
                                          const char *what, tesela_error *err) {
  if (example) *example = (tesela_linear_example){.have_in = false};
  if (bit >= 0) {
    tesela__linear_show_in(example, a, (uint64_t)1 << bit);
    tesela__linear_show_out(example, a, a->basis[bit]);
  }
  return tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_NOT_DIVISIBLE, "%s", what);
}

/* The dims of a without the low bits that b has; false: b has a dim that a lacks, or more bits. */
static bool linear_subtract(const tesela_linear_dim *a, int32_t n_a, const tesela_linear_dim *b, int32_t n_b,
                            tesela_linear_dim *out) {
  memcpy(out, a, TESELA_LINEAR_DIMS * sizeof *out);
  for (int32_t i = 0; i < n_b; i++) {
    int32_t with = tesela__linear_find(a, n_a, b[i].name);
    if (with < 0 || b[i].bits > a[with].bits) return false;
    out[with].bits -= b[i].bits;
  }
  return true;
}

/* Which bits of the dims of a are the low bits that b has. */
static uint64_t linear_low_bits_of(const tesela_linear_dim *b, int32_t n_b, const tesela_linear_dim *a,
                                   int32_t n_a) {
  int32_t at[TESELA_LINEAR_BITS];
  tesela__linear_match(b, n_b, a, n_a, at);
  return tesela__linear_move(tesela__low_bits(tesela__bits_of(b, n_b)), at);
}

/* Take the bits of a mask together, the lowest first. */
static uint64_t linear_gather(uint64_t word, uint64_t mask) {
  uint64_t out = 0;
  for (int32_t n = 0; mask != 0; mask &= mask - 1) out |= (word >> __builtin_ctzll(mask) & 1) << n++;
  return out;
}

tesela_status tesela_linear_divide_left(const tesela_linear *a, const tesela_linear *b, tesela_linear *out,
                                        tesela_linear_example *example, tesela_error *err) {
  TESELA__NEED(err, a, b, out);
  static const char what[] = "no layout multiplied by the divisor gives this one";
  int32_t at[TESELA_LINEAR_BITS], in_at[TESELA_LINEAR_BITS], from[TESELA_LINEAR_BITS], n = 0;
  tesela_linear c = {.n_ins = a->n_ins, .n_outs = a->n_outs};
  tesela_status status = tesela__linear_check(a, "layout a", err);
  if (status == TESELA_OK) status = tesela__linear_check(b, "layout b", err);
  if (status != TESELA_OK) return status;
  if (!linear_subtract(a->in, a->n_ins, b->in, b->n_ins, c.in) ||
      !linear_subtract(a->out, a->n_outs, b->out, b->n_outs, c.out))
    return linear_not_divisible(a, -1, example, what, err);
  uint64_t low_ins = linear_low_bits_of(b->in, b->n_ins, a->in, a->n_ins);
  uint64_t low_outs = linear_low_bits_of(b->out, b->n_outs, a->out, a->n_outs);
  uint64_t high_outs = tesela__low_bits(tesela__bits_of(a->out, a->n_outs)) & ~low_outs;
  tesela__linear_match(b->out, b->n_outs, a->out, a->n_outs, at);
  tesela__linear_match(b->in, b->n_ins, a->in, a->n_ins, in_at);
  for (int32_t k = 0; k < tesela__bits_of(b->in, b->n_ins); k++) from[in_at[k]] = k;
  for (int32_t k = 0; k < tesela__bits_of(a->in, a->n_ins); k++) {
    bool of_b = low_ins >> k & 1;
    if (of_b ? a->basis[k] != tesela__linear_move(b->basis[from[k]], at) : (a->basis[k] & low_outs) != 0)
      return linear_not_divisible(a, k, example, what, err);
    if (!of_b) c.basis[n++] = linear_gather(a->basis[k], high_outs);
  }
  *out = c;
  return TESELA_OK;
}

tesela_status tesela_linear_quotient(const tesela_linear *a, int32_t n, const char *const *names,
                                     tesela_linear *out, tesela_linear_example *example, tesela_error *err) {
  TESELA__NEED(err, a, out);
  TESELA__NEED_LIST(err, names, n);
  static const char what[] = "the layout is not the identity on these dims alone";
  uint64_t over_ins = 0, over_outs = 0;
  uint32_t ins = 0, outs = 0;
  int32_t at[TESELA_LINEAR_BITS];
  tesela_status status = tesela__linear_check(a, "the linear layout", err);
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < n; i++) {
    TESELA__NEED(err, names[i]);
    int32_t in = tesela__linear_find(a->in, a->n_ins, names[i]);
    int32_t to = tesela__linear_find(a->out, a->n_outs, names[i]);
    if (in < 0 || to < 0)
      return tesela__fail(err, TESELA_E_INVALID, -1, "'%.15s' is not the name of an input and of an output",
                          names[i]);
    if (a->in[in].bits != a->out[to].bits) return linear_not_divisible(a, -1, example, what, err);
    ins |= (uint32_t)1 << in;
    outs |= (uint32_t)1 << to;
    over_ins |= tesela__low_bits(a->in[in].bits) << tesela__bits_of(a->in, in);
    over_outs |= tesela__low_bits(a->out[to].bits) << tesela__bits_of(a->out, to);
  }
  tesela__linear_match(a->in, a->n_ins, a->out, a->n_outs, at);
  for (int32_t k = 0; k < tesela__bits_of(a->in, a->n_ins); k++) {
    bool trivial = over_ins >> k & 1 ? a->basis[k] == (uint64_t)1 << at[k] : (a->basis[k] & over_outs) == 0;
    if (!trivial) return linear_not_divisible(a, k, example, what, err);
  }
  ins ^= (uint32_t)tesela__low_bits(a->n_ins);
  outs ^= (uint32_t)tesela__low_bits(a->n_outs);
  return tesela_linear_sublayout(a, ins, outs, out, err);
}
