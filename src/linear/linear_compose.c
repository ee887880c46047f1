/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear_compose.c - products, composition and inverses of linear layouts.
 */
#include "linear/linear.h"

static tesela_status linear_check_both(const tesela_linear *a, const tesela_linear *b, tesela_error *err) {
  tesela_status status = tesela__linear_check(a, "layout a", err);
  return status == TESELA_OK ? tesela__linear_check(b, "layout b", err) : status;
}

/* ---- product -------------------------------------------------------------------------------------------------- */

/* The dims of both in one order, with the bits of both; those of a first where the orders leave a choice. */
static tesela_status linear_merge(const tesela_linear_dim *a, int32_t n_a, const tesela_linear_dim *b,
                                  int32_t n_b, tesela_linear_dim *out, int32_t *n, tesela_error *err) {
  int32_t i = 0, k = 0;
  for (*n = 0; i < n_a || k < n_b; ++*n) {
    bool in_b = i < n_a && tesela__linear_find(b, n_b, a[i].name) >= 0;
    bool in_a = k < n_b && tesela__linear_find(a, n_a, b[k].name) >= 0;
    if (*n == TESELA_LINEAR_DIMS)
      return tesela__fail(err, TESELA_E_LIMIT, -1, "more than %d dims", TESELA_LINEAR_DIMS);
    if (i < n_a && !in_b) {
      out[*n] = a[i++];
    } else if (k < n_b && !in_a) {
      out[*n] = b[k++];
    } else if (i < n_a && k < n_b && strcmp(a[i].name, b[k].name) == 0) {
      out[*n] = a[i++];
      out[*n].bits += b[k++].bits;
    } else {
      return tesela__fail(err, TESELA_E_MISMATCH, -1, "the dims of both layouts are in different orders");
    }
  }
  return TESELA_OK;
}

/* Where the bits of a dim of a factor are in the product: above the bits of the factor before it. */
static void linear_place_factor(const tesela_linear_dim *dim, int32_t n, const tesela_linear_dim *below,
                                int32_t n_below, const tesela_linear_dim *all, int32_t n_all, int32_t *at) {
  for (int32_t i = 0, bit = 0; i < n; i++) {
    int32_t under = tesela__linear_find(below, n_below, dim[i].name);
    int32_t base = tesela__bits_of(all, tesela__linear_find(all, n_all, dim[i].name));
    for (int32_t k = 0; k < dim[i].bits; k++) at[bit++] = base + k + (under >= 0 ? below[under].bits : 0);
  }
}

static void linear_add_factor(const tesela_linear *a, const tesela_linear *below, tesela_linear *out) {
  int32_t in_at[TESELA_LINEAR_BITS], out_at[TESELA_LINEAR_BITS], n = tesela__bits_of(a->in, a->n_ins);
  linear_place_factor(a->in, a->n_ins, below->in, below->n_ins, out->in, out->n_ins, in_at);
  linear_place_factor(a->out, a->n_outs, below->out, below->n_outs, out->out, out->n_outs, out_at);
  for (int32_t k = 0; k < n; k++) out->basis[in_at[k]] = tesela__linear_move(a->basis[k], out_at);
}

tesela_status tesela_linear_product(const tesela_linear *a, const tesela_linear *b, tesela_linear *out,
                                    tesela_error *err) {
  TESELA__NEED(err, a, b, out);
  static const tesela_linear nothing = {.n_ins = 0};
  tesela_linear c = nothing;
  tesela_status status = linear_check_both(a, b, err);
  if (status == TESELA_OK) status = linear_merge(a->in, a->n_ins, b->in, b->n_ins, c.in, &c.n_ins, err);
  if (status == TESELA_OK) status = linear_merge(a->out, a->n_outs, b->out, b->n_outs, c.out, &c.n_outs, err);
  if (status == TESELA_OK) status = tesela__linear_check(&c, "the product", err);
  if (status != TESELA_OK) return status;
  linear_add_factor(a, &nothing, &c);
  linear_add_factor(b, a, &c);
  *out = c;
  return TESELA_OK;
}

/* ---- composition ---------------------------------------------------------------------------------------------- */

/* Each dim is among the others, in any order, and not larger. */
static tesela_status linear_fits_in(const tesela_linear_dim *dim, int32_t n, const tesela_linear_dim *other,
                                    int32_t n_other, const char *of, tesela_error *err) {
  if (n != n_other)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "layout a has %" PRId32 " outputs; layout b has %" PRId32 " %s", n, n_other, of);
  for (int32_t i = 0; i < n; i++) {
    int32_t with = tesela__linear_find(other, n_other, dim[i].name);
    if (with < 0)
      return tesela__fail(err, TESELA_E_MISMATCH, -1, "output %s of layout a is not among the %s of layout b",
                          dim[i].name, of);
    if (dim[i].bits > other[with].bits)
      return tesela__fail(err, TESELA_E_MISMATCH, -1,
                          "output %s of layout a has 2^%" PRId32
                          " values, that of the %s of layout b 2^%" PRId32,
                          dim[i].name, dim[i].bits, of, other[with].bits);
  }
  return TESELA_OK;
}

tesela_status tesela_linear_compose(const tesela_linear *a, const tesela_linear *b, tesela_linear *out,
                                    tesela_error *err) {
  TESELA__NEED(err, a, b, out);
  int32_t at[TESELA_LINEAR_BITS];
  tesela_status status = linear_check_both(a, b, err);
  if (status == TESELA_OK) status = linear_fits_in(a->out, a->n_outs, b->in, b->n_ins, "inputs", err);
  if (status != TESELA_OK) return status;
  tesela_linear c = *b;
  c.n_ins = a->n_ins;
  memcpy(c.in, a->in, sizeof c.in);
  memset(c.basis, 0, sizeof c.basis);
  tesela__linear_match(a->out, a->n_outs, b->in, b->n_ins, at);
  for (int32_t k = 0; k < tesela__bits_of(a->in, a->n_ins); k++)
    c.basis[k] = tesela__linear_word(b->basis, tesela__linear_move(a->basis[k], at));
  *out = c;
  return TESELA_OK;
}

/* ---- inverses ------------------------------------------------------------------------------------------------- */

static tesela_status linear_refuse_onto(tesela_error *err, const char *what) {
  return tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_NOT_SURJECTIVE, "%s", what);
}

/* The output bits that all bases touch but those of one input, bits first to first + n - 1; words are moved by `at` if not NULL. */
static uint64_t linear_touched(const tesela_linear *a, int32_t first, int32_t n, const int32_t *at) {
  uint64_t touched = 0;
  for (int32_t k = 0; k < tesela__bits_of(a->in, a->n_ins); k++)
    if (k < first || k >= first + n) touched |= at ? tesela__linear_move(a->basis[k], at) : a->basis[k];
  return touched;
}

/* Of the inputs of a, those with an input of the same name and bases in b, whose output bits no other input of a or b touches. Words of
 * outputs of a are moved to b. */
static uint32_t linear_equal_ins(const tesela_linear *a, const tesela_linear *b, const int32_t *at) {
  uint32_t equal = 0;
  for (int32_t i = 0, bit = 0; i < a->n_ins; bit += a->in[i++].bits) {
    int32_t with = tesela__linear_find(b->in, b->n_ins, a->in[i].name), n = a->in[i].bits;
    if (with < 0 || n != b->in[with].bits) continue;
    int32_t base = tesela__bits_of(b->in, with), k = 0;
    uint64_t own = 0;
    for (; k < n && tesela__linear_move(a->basis[bit + k], at) == b->basis[base + k]; k++)
      own |= b->basis[base + k];
    if (k == n && (own & (linear_touched(a, bit, n, at) | linear_touched(b, base, n, NULL))) == 0)
      equal |= (uint32_t)1 << i;
  }
  return equal;
}

/* b(c(x)) = a(x), with the inputs in `equal` mapped to themselves; -1, or the input bit of a that has no solution. */
static int32_t linear_solve(const tesela_linear *a, const tesela_linear *b, const int32_t *at, uint32_t equal,
                            tesela_linear *c) {
  tesela__echelon e;
  int32_t to[TESELA_LINEAR_BITS], n = tesela__bits_of(b->in, b->n_ins);
  uint64_t column[TESELA__COLUMNS] = {0}, spared = 0;
  tesela__linear_match(a->in, a->n_ins, b->in, b->n_ins, to);
  for (int32_t i = 0, bit = 0; i < a->n_ins; bit += a->in[i++].bits)
    for (int32_t k = 0; k < a->in[i].bits && equal >> i & 1; k++) spared |= (uint64_t)1 << to[bit + k];
  for (int32_t k = 0; k < n; k++) column[k] = spared >> k & 1 ? 0 : b->basis[k]; /* 0 is never a pivot */
  tesela__eliminate(n, column, &e);
  for (int32_t i = 0, bit = 0; i < a->n_ins; i++)
    for (int32_t k = 0; k < a->in[i].bits; k++, bit++) {
      if (equal >> i & 1)
        c->basis[bit] = (uint64_t)1 << to[bit];
      else if (tesela__reduce(&e, tesela__linear_move(a->basis[bit], at), &c->basis[bit]) != 0)
        return bit;
    }
  return -1;
}

tesela_status tesela_linear_invert_and_compose(const tesela_linear *a, const tesela_linear *b,
                                               tesela_linear *out, tesela_linear_example *example,
                                               tesela_error *err) {
  TESELA__NEED(err, a, b, out);
  int32_t at[TESELA_LINEAR_BITS];
  tesela_linear c = {.n_ins = 0};
  tesela_status status = linear_check_both(a, b, err);
  if (status == TESELA_OK) status = linear_fits_in(a->out, a->n_outs, b->out, b->n_outs, "outputs", err);
  if (status != TESELA_OK) return status;
  c.n_ins = a->n_ins;
  c.n_outs = b->n_ins;
  memcpy(c.in, a->in, sizeof c.in);
  memcpy(c.out, b->in, sizeof c.out);
  tesela__linear_match(a->out, a->n_outs, b->out, b->n_outs, at);
  int32_t failed = linear_solve(a, b, at, linear_equal_ins(a, b, at), &c);
  if (failed >= 0) {
    if (example) *example = (tesela_linear_example){.have_in = false};
    tesela__linear_show_in(example, a, (uint64_t)1 << failed);
    tesela__linear_show_out(example, a, a->basis[failed]);
    return linear_refuse_onto(err, "layout b lacks an output of layout a");
  }
  *out = c;
  return TESELA_OK;
}

/* TESELA_OK, or the smallest output of no input. */
static tesela_status linear_need_onto(const tesela_linear *a, tesela_linear_example *example,
                                      tesela_error *err) {
  tesela__echelon e;
  uint64_t combo;
  tesela__eliminate(tesela__bits_of(a->in, a->n_ins), a->basis, &e);
  for (int32_t k = 0; k < tesela__bits_of(a->out, a->n_outs); k++) {
    if (tesela__reduce(&e, (uint64_t)1 << k, &combo) == 0) continue;
    if (example) *example = (tesela_linear_example){.have_in = false};
    tesela__linear_show_out(example, a, (uint64_t)1 << k);
    return linear_refuse_onto(err, "the linear layout is not onto its outputs");
  }
  return TESELA_OK;
}

tesela_status tesela_linear_pseudoinvert(const tesela_linear *a, tesela_linear *out,
                                         tesela_linear_example *example, tesela_error *err) {
  TESELA__NEED(err, a, out);
  tesela_status status = tesela__linear_check(a, "the linear layout", err);
  if (status == TESELA_OK) status = linear_need_onto(a, example, err);
  if (status != TESELA_OK) return status;
  tesela_linear identity = *a;
  identity.n_ins = a->n_outs;
  memcpy(identity.in, a->out, sizeof identity.in);
  for (int32_t k = 0; k < tesela__bits_of(a->out, a->n_outs); k++) identity.basis[k] = (uint64_t)1 << k;
  return tesela_linear_invert_and_compose(&identity, a, out, example, err);
}

tesela_status tesela_linear_invert(const tesela_linear *a, tesela_linear *out, tesela_linear_example *example,
                                   tesela_error *err) {
  TESELA__NEED(err, a, out);
  tesela__echelon e;
  tesela_status status = tesela__linear_check(a, "the linear layout", err);
  if (status != TESELA_OK) return status;
  tesela__eliminate(tesela__bits_of(a->in, a->n_ins), a->basis, &e);
  if (e.n_kernel > 0) {
    if (example) *example = (tesela_linear_example){.have_in = false};
    tesela__linear_show_in(example, a, e.kernel[0]);
    tesela__linear_show_out(example, a, 0);
    return tesela__refuse(err, TESELA_E_UNSUPPORTED, TESELA_REASON_NOT_INJECTIVE,
                          "the linear layout has no inverse: another input than 0 gives 0");
  }
  return tesela_linear_pseudoinvert(a, out, example, err);
}
