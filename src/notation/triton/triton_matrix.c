/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triton_matrix.c - the accumulators and operands of matrix instructions: NVIDIA's mma and wgmma, AMD's MFMA and WMMA.
 *
 * Each describes the tile of one warp in bits, from the lowest up; then the warps, then further tiles in registers. M and N are
 * the last two dims of an accumulator, M and K or K and N those of an operand.
 *
 * Source: PTX ISA 9.0, 9.7.14 and 9.7.15 (fragments of mma and wgmma); AMD Matrix Instruction Calculator (CDNA, RDNA);
 * TritonGPUAttrDefs.td of Triton 3.9.
 */
#include "notation/triton/triton.h"

/* The dims of a matrix, and the one that the instruction sums over, which is -1 for an accumulator. */
typedef struct matrix {
  int32_t row, col, inner, outer; /* outer: the other dim of an operand */
} matrix;

static matrix matrix_of(const tesela__triton *of) {
  matrix m = {of->rank - 2, of->rank - 1, -1, -1};
  if (of->operand >= 0) {
    m.inner = of->operand == 0 ? m.col : m.row;
    m.outer = of->operand == 0 ? m.row : m.col;
  }
  return m;
}

/* Warps along one dim, in registers all of the dim that is summed over. */
static void matrix_warps(const tesela__triton *of, const matrix *m, int32_t dim, tesela__triton_bits *bits) {
  int64_t count = of->list[TESELA__TRITON_WARPS_PER_CTA][dim];
  if (dim == m->inner)
    tesela__triton_zeros(bits, TESELA__TRITON_WARP, count);
  else
    tesela__triton_push(bits, TESELA__TRITON_WARP, dim, count);
}

/* Further tiles: along the dim that is summed over first, else along the columns; dims before the matrix last. */
static void matrix_finish(const tesela__triton *of, const matrix *m, const int64_t *shape,
                          tesela__triton_bits *bits) {
  int64_t order[TESELA__TRITON_RANK];
  for (int32_t i = 0; i < of->rank; i++) order[i] = of->rank - 1 - i;
  if (m->inner == m->row) {
    order[0] = m->row;
    order[1] = m->col;
  }
  /* blocks split what an operand of MFMA sums over, but not of the others */
  tesela__triton_finish(bits, of, shape, order, of->kind == TESELA__TRITON_MFMA ? -1 : m->inner);
}

/* ---- NVIDIA ---- */

/* A fragment of 8 rows of 4 lanes: an accumulator has 2 neighbours in a lane, an operand kWidth, twice. */
static void matrix_mma(const tesela__triton *of, const int64_t *shape, tesela__triton_bits *bits) {
  matrix m = matrix_of(of);
  const int64_t *instr = of->list[TESELA__TRITON_INSTR_SHAPE];
  bool hopper = of->number[TESELA__TRITON_VERSION] == 3;
  int64_t rows = hopper ? instr[0] : instr[of->rank - 2], cols = hopper ? instr[1] : instr[of->rank - 1];
  int32_t along = m.inner < 0 ? m.col : m.inner, across = m.inner < 0 ? m.row : m.outer;
  tesela__triton_push(bits, TESELA__TRITON_REGISTER, along, m.inner < 0 ? 2 : of->k_width);
  tesela__triton_push(bits, TESELA__TRITON_LANE, along, 4);
  tesela__triton_push(bits, TESELA__TRITON_LANE, across, 8);
  if (across == m.row) tesela__triton_push(bits, TESELA__TRITON_REGISTER, across, rows / 8);
  if (m.inner < 0)
    tesela__triton_push(bits, TESELA__TRITON_REGISTER, along, cols / 8);
  else if (rows == 16)
    tesela__triton_push(bits, TESELA__TRITON_REGISTER, along, 2);
  for (int32_t i = 0; i < of->rank; i++) matrix_warps(of, &m, hopper ? i : of->rank - 1 - i, bits);
  matrix_finish(of, &m, shape, bits);
}

/* ---- AMD ---- */

/* Tiles of one warp along a dim, then warps; with `all` further tiles of the whole array. */
static void matrix_tiles(const tesela__triton *of, const matrix *m, int32_t dim, const int64_t *shape,
                         bool all, tesela__triton_bits *bits) {
  if (dim != m->inner && of->n_list[TESELA__TRITON_TILES_PER_WARP] > 0)
    tesela__triton_push(bits, TESELA__TRITON_REGISTER, dim, of->list[TESELA__TRITON_TILES_PER_WARP][dim]);
  matrix_warps(of, m, dim, bits);
  if (all)
    tesela__triton_push(bits, TESELA__TRITON_REGISTER, dim,
                        shape[dim] / tesela__min(bits->size[dim], shape[dim]));
}

static void matrix_mfma(const tesela__triton *of, const int64_t *shape, tesela__triton_bits *bits) {
  matrix m = matrix_of(of);
  const int64_t *instr = of->list[TESELA__TRITON_INSTR_SHAPE];
  bool transposed = of->number[TESELA__TRITON_TRANSPOSED] != 0;
  if (m.inner < 0) {
    int32_t along = transposed ? m.col : m.row, across = transposed ? m.row : m.col;
    int64_t length = instr[transposed], lanes = instr[!transposed];
    int64_t run = of->number[TESELA__TRITON_ELEMENT_BITS] == 64 ? 1 : 4; /* neighbours in a lane */
    tesela__triton_push(bits, TESELA__TRITON_REGISTER, along, run);
    tesela__triton_push(bits, TESELA__TRITON_LANE, across, lanes);
    tesela__triton_push(bits, TESELA__TRITON_LANE, along, 64 / lanes);
    tesela__triton_push(bits, TESELA__TRITON_REGISTER, along, length / (run * (64 / lanes)));
  } else {
    int64_t lanes = instr[of->operand];
    tesela__triton_push(bits, TESELA__TRITON_REGISTER, m.inner, of->k_width);
    tesela__triton_push(bits, TESELA__TRITON_LANE, m.outer, lanes);
    tesela__triton_push(bits, TESELA__TRITON_LANE, m.inner, 64 / lanes);
    tesela__triton_push(bits, TESELA__TRITON_REGISTER, m.inner, lanes / tesela__min(instr[0], instr[1]));
    tesela__triton_push(bits, TESELA__TRITON_REGISTER, m.inner,
                        shape[m.inner] / tesela__min(bits->size[m.inner], shape[m.inner]));
  }
  for (int32_t d = of->rank - 1; d >= 0; d--) matrix_tiles(of, &m, d, shape, d == m.col && m.inner < 0, bits);
  matrix_finish(of, &m, shape, bits);
}

/* ctaLayout: bases in units of tiles; those of an operand have no part along the dim that is summed over. */
static void matrix_cta(const tesela__triton *of, const matrix *m, tesela__triton_bits *bits) {
  int64_t unit[TESELA__TRITON_RANK], extent[TESELA__TRITON_RANK], more[TESELA__TRITON_RANK];
  for (int32_t d = 0; d < of->rank; d++) unit[d] = d == m->inner ? 0 : bits->size[d];
  for (int32_t k = 0; k < of->n_bases[TESELA__TRITON_REGISTER]; k++) {
    bool moves = false;
    for (int32_t d = 0; d < of->rank; d++)
      moves = moves || of->bases[TESELA__TRITON_REGISTER][k][d] * unit[d] != 0;
    if (moves)
      tesela__triton_basis(bits, TESELA__TRITON_REGISTER, of->bases[TESELA__TRITON_REGISTER][k], unit);
  }
  for (int32_t k = 0; k < of->n_bases[TESELA__TRITON_WARP]; k++)
    tesela__triton_basis(bits, TESELA__TRITON_WARP, of->bases[TESELA__TRITON_WARP][k], unit);
  tesela__triton_extents(of->rank, of->n_bases[TESELA__TRITON_REGISTER], of->bases[TESELA__TRITON_REGISTER],
                         extent);
  tesela__triton_extents(of->rank, of->n_bases[TESELA__TRITON_WARP], of->bases[TESELA__TRITON_WARP], more);
  for (int32_t d = 0; d < of->rank; d++)
    if (d != m->inner) bits->size[d] *= tesela__max(extent[d], more[d]);
}

static void matrix_wmma(const tesela__triton *of, const int64_t *shape, tesela__triton_bits *bits) {
  matrix m = matrix_of(of);
  const int64_t *instr = of->list[TESELA__TRITON_INSTR_SHAPE];
  bool transposed = of->number[TESELA__TRITON_TRANSPOSED] != 0,
       first = of->number[TESELA__TRITON_VERSION] == 1;
  if (m.inner < 0) {
    int32_t along = transposed ? m.col : m.row, across = transposed ? m.row : m.col;
    if (!first) tesela__triton_push(bits, TESELA__TRITON_REGISTER, along, 8);
    tesela__triton_push(bits, TESELA__TRITON_LANE, across, 16);
    tesela__triton_push(bits, TESELA__TRITON_LANE, along, 2);
    tesela__triton_push(bits, TESELA__TRITON_REGISTER, along, instr[0] / bits->size[along]);
  } else {
    int64_t outer = instr[of->operand ^ (transposed ? 1 : 0)];
    tesela__triton_push(bits, TESELA__TRITON_REGISTER, m.inner, of->k_width);
    tesela__triton_push(bits, TESELA__TRITON_LANE, m.outer, 16);
    if (first)
      tesela__triton_zeros(bits, TESELA__TRITON_LANE, 2);
    else
      tesela__triton_push(bits, TESELA__TRITON_LANE, m.inner, 2);
    if (!first)
      tesela__triton_push(bits, TESELA__TRITON_REGISTER, m.inner,
                          instr[2] / tesela__min(instr[2], bits->size[m.inner]));
    tesela__triton_push(bits, TESELA__TRITON_REGISTER, m.outer, outer / 16);
  }
  matrix_cta(of, &m, bits);
  matrix_finish(of, &m, shape, bits);
}

void tesela__triton_matrix(const tesela__triton *of, const int64_t *shape, tesela__triton_bits *bits) {
  if (of->kind == TESELA__TRITON_MMA)
    matrix_mma(of, shape, bits);
  else if (of->kind == TESELA__TRITON_MFMA)
    matrix_mfma(of, shape, bits);
  else
    matrix_wmma(of, shape, bits);
}
