/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triton_bits.c - the bases of an encoding, built bit by bit: each dim is covered from its lowest bit up.
 *
 *   push(register, dim 1, 2), push(lane, dim 1, 4): register [[0,1]], lane [[0,2],[0,4]], and dim 1 is covered up to 8
 */
#include "notation/triton/triton.h"

/* A new basis of zeros. */
static int64_t *triton_new(tesela__triton_bits *bits, tesela__triton_in in) {
  if (bits->n[in] == TESELA_LINEAR_BITS) {
    bits->full = true;
    return NULL;
  }
  int64_t *basis = bits->basis[in][bits->n[in]++];
  memset(basis, 0, sizeof bits->basis[in][0]);
  return basis;
}

void tesela__triton_push(tesela__triton_bits *bits, tesela__triton_in in, int32_t dim, int64_t count) {
  for (; count > 1; count /= 2) {
    int64_t *basis = triton_new(bits, in);
    if (!basis) return;
    basis[dim] = bits->size[dim];
    bits->size[dim] *= 2;
  }
}

void tesela__triton_zeros(tesela__triton_bits *bits, tesela__triton_in in, int64_t count) {
  for (; count > 1; count /= 2) (void)triton_new(bits, in);
}

void tesela__triton_basis(tesela__triton_bits *bits, tesela__triton_in in, const int64_t *basis,
                          const int64_t *units) {
  int64_t *made = triton_new(bits, in);
  for (int32_t d = 0; made && d < bits->rank; d++) made[d] = basis[d] * units[d];
}

void tesela__triton_extents(int32_t rank, int32_t n, const int64_t basis[][TESELA__TRITON_RANK],
                            int64_t *extent) {
  for (int32_t d = 0; d < rank; d++) {
    extent[d] = 1;
    for (int32_t k = 0; k < n; k++)
      while (extent[d] <= basis[k][d]) extent[d] *= 2;
  }
}

void tesela__triton_block_shape(const tesela__triton *of, const int64_t *shape, int32_t without,
                                int64_t *block) {
  tesela__triton_extents(of->rank, of->n_bases[TESELA__TRITON_BLOCK], of->bases[TESELA__TRITON_BLOCK], block);
  for (int32_t d = 0; d < of->rank; d++)
    block[d] = d == without ? shape[d] : tesela__max(shape[d] / block[d], 1);
}

void tesela__triton_cut(tesela__triton_bits *bits, int32_t dim, int64_t extent) {
  for (; bits->size[dim] > extent; bits->size[dim] /= 2)
    for (int32_t in = 0; in < TESELA__TRITON_INS; in++)
      for (int32_t k = 0; k < bits->n[in]; k++)
        if (bits->basis[in][k][dim] >= bits->size[dim] / 2) bits->basis[in][k][dim] = 0;
}

void tesela__triton_drop_copies(tesela__triton_bits *bits, uint64_t keep) {
  static const int64_t zero[TESELA__TRITON_RANK] = {0};
  int32_t kept = 0;
  for (int32_t k = 0; k < bits->n[TESELA__TRITON_REGISTER]; k++) {
    int64_t(*basis)[TESELA__TRITON_RANK] = bits->basis[TESELA__TRITON_REGISTER];
    if (!(keep >> k & 1) && memcmp(basis[k], zero, (size_t)bits->rank * sizeof zero[0]) == 0) continue;
    if (kept != k) memcpy(basis[kept], basis[k], sizeof basis[k]);
    kept++;
  }
  bits->n[TESELA__TRITON_REGISTER] = kept;
}

void tesela__triton_finish(tesela__triton_bits *bits, const tesela__triton *of, const int64_t *shape,
                           const int64_t *order, int32_t without) {
  int64_t block[TESELA__TRITON_RANK], unit[TESELA__TRITON_RANK];
  tesela__triton_block_shape(of, shape, without, block);
  for (int32_t i = 0; i < bits->rank; i++) {
    int32_t d = (int32_t)order[i];
    tesela__triton_push(bits, TESELA__TRITON_REGISTER, d, block[d] / tesela__min(bits->size[d], block[d]));
    tesela__triton_cut(bits, d, block[d]);
  }
  for (int32_t d = 0; d < bits->rank; d++) unit[d] = d == without ? 0 : block[d];
  for (int32_t k = 0; k < of->n_bases[TESELA__TRITON_BLOCK]; k++) {
    tesela__triton_basis(bits, TESELA__TRITON_BLOCK, of->bases[TESELA__TRITON_BLOCK][k], unit);
    for (int32_t d = 0; !bits->full && d < bits->rank; d++)
      if (bits->basis[TESELA__TRITON_BLOCK][k][d] >= shape[d]) bits->basis[TESELA__TRITON_BLOCK][k][d] = 0;
  }
}
