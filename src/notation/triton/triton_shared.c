/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triton_shared.c - encodings of shared memory and of tensor memory: the bits of an offset (a row and a column) as bits of the
 * element.
 *
 * Source: TritonGPUAttrDefs.td and TritonNvidiaGPUAttrDefs.td of Triton 3.9; PTX ISA 9.0, 9.7.15.5 (shared memory of wgmma) and
 * 9.7.16.2 (tensor memory).
 */
#include "notation/triton/triton.h"

static const tesela__triton_in shared_offset = TESELA__TRITON_REGISTER, shared_row = TESELA__TRITON_REGISTER,
                               shared_col = TESELA__TRITON_LANE;

static const int64_t shared_ones[TESELA__TRITON_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};

/* ---- swizzled ---- */

/* The columns of a row are exchanged by a XOR with its phase. */
static int64_t shared_phase(const tesela__triton *of, int64_t row) {
  int64_t per = of->number[TESELA__TRITON_PER_PHASE], most = of->number[TESELA__TRITON_MAX_PHASE];
  int64_t phase = row / per % most;
  if (of->kind == TESELA__TRITON_ROTATING) phase ^= row / per / most % most;
  return phase * of->number[TESELA__TRITON_VEC];
}

static void shared_swizzled(const tesela__triton *of, const int64_t *block, tesela__triton_bits *bits) {
  const int64_t *order = of->list[TESELA__TRITON_ORDER];
  int32_t col = (int32_t)order[0], row = of->rank > 1 ? (int32_t)order[1] : 0;
  tesela__triton_push(bits, shared_offset, col, block[col]);
  for (int64_t r = 1; of->rank > 1 && r < block[row]; r *= 2) {
    int64_t basis[TESELA__TRITON_RANK] = {0};
    basis[row] = r;
    basis[col] = shared_phase(of, r) % block[col];
    tesela__triton_basis(bits, shared_offset, basis, shared_ones);
    bits->size[row] *= 2;
  }
  for (int32_t i = 2; i < of->rank; i++)
    tesela__triton_push(bits, shared_offset, (int32_t)order[i], block[order[i]]);
}

/* ---- NVIDIA's matrices ---- */

/* The matrix of an array: its dims from the slowest to the fastest; rows times columns is the array. */
typedef struct shared_matrix {
  int32_t dim[TESELA__TRITON_RANK];
  int64_t rows, cols;
} shared_matrix;

static void shared_as_matrix(const tesela__triton *of, const int64_t *block, shared_matrix *m) {
  bool transposed = of->number[TESELA__TRITON_TRANSPOSED] != 0;
  int64_t others = 1;
  for (int32_t i = 0; i < of->rank; i++) m->dim[i] = transposed ? (i + 1) % of->rank : i;
  for (int32_t d = 0; d + 1 < of->rank; d++) others *= block[d];
  m->rows = transposed ? block[of->rank - 1] : others;
  m->cols = transposed ? others : block[of->rank - 1];
}

/* Add the offset bit of (row, col). */
static void shared_at(const tesela__triton *of, const int64_t *block, const shared_matrix *m, int64_t row,
                      int64_t col, tesela__triton_bits *bits) {
  int64_t basis[TESELA__TRITON_RANK], number = row * m->cols + col;
  for (int32_t i = of->rank - 1; i >= 0; i--) {
    basis[m->dim[i]] = number % block[m->dim[i]];
    number /= block[m->dim[i]];
  }
  tesela__triton_basis(bits, shared_offset, basis, shared_ones);
}

/* Tiles of 8 rows, as wide as the swizzle, below each other in boxes of at most 256 elements along a dim, which one TMA copy
 * moves; then further boxes. */
static tesela_status shared_nvmma(const tesela__triton *of, const int64_t *block, tesela__triton_bits *bits,
                                  tesela_error *err) {
  int64_t bytes = of->number[TESELA__TRITON_SWIZZLE_BYTES], element = of->number[TESELA__TRITON_ELEMENT_BITS];
  bool fp4 = of->number[TESELA__TRITON_FP4] != 0, transposed = of->number[TESELA__TRITON_TRANSPOSED] != 0;
  int64_t vec = fp4 ? 8 : 128 / element, tile = bytes == 0 ? 256 : bytes / 16 * vec;
  int64_t box[TESELA__TRITON_RANK];
  shared_matrix m = {{0}, 1, 1};
  if (of->rank > 2 && transposed && bytes == 0)
    return tesela__fail(
        err, TESELA_E_UNSUPPORTED, -1,
        "tesela does not read nvmma_shared of %" PRId32 " dims, transposed and without a swizzle", of->rank);
  for (int32_t d = 0; d < of->rank; d++)
    box[d] = tesela__min(block[d], d == (transposed ? 0 : of->rank - 1) ? tile : 256);
  shared_as_matrix(of, box, &m);
  if (bytes > 0 && (m.rows < 8 || m.cols < tile))
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "a swizzle of %" PRId64 " bytes needs a matrix of 8 rows of %" PRId64
                        " elements or more; found %" PRId64 "x%" PRId64,
                        bytes, tile, m.rows, m.cols);
  for (int64_t c = 1; c < tesela__min(m.cols, tile); c *= 2) {
    if (fp4 && c == vec) tesela__triton_zeros(bits, shared_offset, 2);
    shared_at(of, box, &m, 0, c, bits);
  }
  for (int64_t r = 1; r < m.rows; r *= 2)
    shared_at(of, box, &m, r, bytes > 0 && r < 8 ? r * bytes / 128 * vec : 0, bits);
  for (int64_t c = tile; c < m.cols; c *= 2) shared_at(of, box, &m, 0, c, bits);
  for (int32_t i = 0; i < of->rank; i++) {
    int32_t d = bytes > 0 ? i : of->rank - 1 - i;
    bits->size[d] = box[d];
    tesela__triton_push(bits, shared_offset, d, block[d] / box[d]);
  }
  return TESELA_OK;
}

/* ---- tensor memory ---- */

/* 128 rows. With blockM 64 each 16 rows of an array are 32 rows apart; the next block is in the rows between. */
static void shared_tensor(const tesela__triton *of, const int64_t *block, int32_t element_bits,
                          tesela__triton_bits *bits) {
  int64_t n = tesela__min(of->number[TESELA__TRITON_BLOCK_N], block[1]);
  int64_t stride = tesela__max(of->number[TESELA__TRITON_COL_STRIDE], 1);
  if (of->number[TESELA__TRITON_UNPACKED]) stride = 32 / element_bits;
  if (of->number[TESELA__TRITON_FP4]) stride *= 2;
  tesela__triton_zeros(bits, shared_col, stride);
  if (of->number[TESELA__TRITON_BLOCK_M] == 128) {
    tesela__triton_push(bits, shared_row, 0, 128);
    tesela__triton_push(bits, shared_col, 1, n);
  } else if (of->number[TESELA__TRITON_TWO_CTAS]) {
    tesela__triton_push(bits, shared_row, 0, 64);
    tesela__triton_push(bits, shared_col, 1, n / 2);
    tesela__triton_push(bits, shared_row, 1, n > 1 ? 2 : 1);
  } else {
    tesela__triton_push(bits, shared_row, 0, 16);
    tesela__triton_zeros(bits, shared_row, 2);
    tesela__triton_push(bits, shared_row, 0, 4);
    tesela__triton_push(bits, shared_col, 1, n);
    int32_t next = block[0] > 64 ? 0 : 1;
    if (bits->size[next] < block[next]) {
      bits->basis[shared_row][4][next] = bits->size[next];
      bits->size[next] *= 2;
    }
  }
  for (int32_t d = 0; d < 2; d++)
    tesela__triton_push(bits, shared_col, d, block[d] / tesela__min(bits->size[d], block[d]));
}

/* Scales of block matrices: 32 rows of 4, in 4 copies. */
static void shared_scales(const int64_t *block, tesela__triton_bits *bits) {
  tesela__triton_push(bits, shared_row, 0, 32);
  tesela__triton_zeros(bits, shared_row, 4);
  tesela__triton_push(bits, shared_col, 1, 4);
  tesela__triton_push(bits, shared_col, 0, 2);
  for (int32_t d = 0; d < 2; d++)
    tesela__triton_push(bits, shared_col, d, block[d] / tesela__min(bits->size[d], block[d]));
}

/* ---- bases in the text ---- */

static tesela_status shared_given(const tesela__triton *of, const int64_t *shape, const int64_t *block,
                                  tesela__triton_bits *bits, tesela_error *err) {
  const int64_t *order = of->list[TESELA__TRITON_ORDER];
  int64_t extent[TESELA__TRITON_RANK];
  for (int32_t k = 0; k < of->n_bases[shared_offset]; k++)
    tesela__triton_basis(bits, shared_offset, of->bases[shared_offset][k], shared_ones);
  tesela__triton_extents(of->rank, of->n_bases[shared_offset], of->bases[shared_offset], bits->size);
  if (of->has_list >> TESELA__TRITON_ORDER & 1)
    for (int32_t i = 0; i < of->rank; i++)
      tesela__triton_push(bits, shared_offset, (int32_t)order[i], block[order[i]]);
  tesela__triton_extents(of->rank, of->n_bases[TESELA__TRITON_BLOCK], of->bases[TESELA__TRITON_BLOCK],
                         extent);
  for (int32_t d = 0; d < of->rank; d++)
    if (tesela__max(bits->size[d], extent[d]) != shape[d])
      return tesela__fail(err, TESELA_E_MISMATCH, -1,
                          "the bases cover %" PRId64 " elements of dim %" PRId32 "; the array has %" PRId64,
                          tesela__max(bits->size[d], extent[d]), d, shape[d]);
  for (int32_t k = 0; k < of->n_bases[TESELA__TRITON_BLOCK]; k++)
    tesela__triton_basis(bits, TESELA__TRITON_BLOCK, of->bases[TESELA__TRITON_BLOCK][k], shared_ones);
  return TESELA_OK;
}

tesela_status tesela__triton_memory(const tesela__triton *of, const int64_t *shape, int32_t element_bits,
                                    tesela__triton_bits *bits, tesela_error *err) {
  int64_t block[TESELA__TRITON_RANK], order[TESELA__TRITON_RANK];
  tesela_status status = TESELA_OK;
  if (of->kind == TESELA__TRITON_PADDED || of->kind == TESELA__TRITON_SHARED_LINEAR) {
    tesela__triton_block_shape(of, shape, -1, block);
    return shared_given(of, shape, block, bits, err);
  }
  tesela__triton_block_shape(of, shape, -1, block);
  if (of->kind == TESELA__TRITON_TENSOR_MEMORY) {
    if (block[0] < of->number[TESELA__TRITON_BLOCK_M])
      return tesela__fail(err, TESELA_E_MISMATCH, -1,
                          "blockM is %" PRId64 "; a block of the array has %" PRId64 " rows",
                          of->number[TESELA__TRITON_BLOCK_M], block[0]);
    shared_tensor(of, block, element_bits, bits);
  } else if (of->kind == TESELA__TRITON_SCALES) {
    shared_scales(block, bits);
  } else if (of->kind == TESELA__TRITON_NVMMA) {
    status = shared_nvmma(of, block, bits, err);
  } else {
    shared_swizzled(of, block, bits);
  }
  for (int32_t d = 0; d < of->rank; d++) order[d] = d;
  if (status == TESELA_OK) tesela__triton_finish(bits, of, shape, order, -1);
  return status;
}
