/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear_value.c - linear layouts as values: checks, elimination.
 */
#include "linear/linear.h"

/* ---- checks --------------------------------------------------------------------------------------------------- */

static tesela_status linear_check_dims(const tesela_linear_dim *dim, int32_t n, const char *what,
                                       const char *side, tesela_error *err) {
  int64_t bits = 0;
  if (n < 0 || n > TESELA_LINEAR_DIMS)
    return tesela__fail(err, TESELA_E_RANGE, -1, "%s has %" PRId32 " %s; expected 0 to %d", what, n, side,
                        TESELA_LINEAR_DIMS);
  for (int32_t i = 0; i < n; i++) {
    if (!memchr(dim[i].name, 0, TESELA_LINEAR_NAME) || dim[i].name[0] == 0)
      return tesela__fail(err, TESELA_E_INVALID, -1, "%s: name %" PRId32 " of the %s has no bytes, or no end",
                          what, i, side);
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
