/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triton_check.c - the fields of an encoding: lengths, powers of two, instructions that exist; older fields become newer ones.
 */
#include <stdio.h>

#include "notation/triton/triton.h"

static tesela_status triton_check_length(const tesela__triton *of, tesela__triton_list list, const char *name,
                                         int32_t n, tesela_error *err) {
  if (of->n_list[list] == n) return TESELA_OK;
  return tesela__fail(err, TESELA_E_INVALID, -1, "%s has %" PRId32 " number%s; expected %" PRId32, name,
                      of->n_list[list], of->n_list[list] == 1 ? "" : "s", n);
}

static tesela_status triton_check_powers(const tesela__triton *of, tesela__triton_list list, const char *name,
                                         tesela_error *err) {
  for (int32_t i = 0; i < of->n_list[list]; i++)
    if (!tesela__triton_is_power(of->list[list][i]))
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "%s[%" PRId32 "] is %" PRId64 "; expected a power of two", name, i,
                          of->list[list][i]);
  return TESELA_OK;
}

/* A list of one power of two per dim. */
static tesela_status triton_check_counts(const tesela__triton *of, tesela__triton_list list, const char *name,
                                         tesela_error *err) {
  tesela_status status = triton_check_length(of, list, name, of->rank, err);
  return status == TESELA_OK ? triton_check_powers(of, list, name, err) : status;
}

static tesela_status triton_check_power(const tesela__triton *of, tesela__triton_number number,
                                        const char *name, tesela_error *err) {
  if (!(of->has_number >> number & 1) || tesela__triton_is_power(of->number[number])) return TESELA_OK;
  return tesela__fail(err, TESELA_E_INVALID, -1, "%s is %" PRId64 "; expected a power of two", name,
                      of->number[number]);
}

/* Each dim once. */
static tesela_status triton_check_order(const tesela__triton *of, tesela__triton_list list, const char *name,
                                        tesela_error *err) {
  tesela_status status = triton_check_length(of, list, name, of->rank, err);
  uint32_t seen = 0;
  for (int32_t i = 0; status == TESELA_OK && i < of->rank; i++) {
    int64_t d = of->list[list][i];
    if (d >= of->rank || (seen >> d & 1))
      return tesela__fail(err, TESELA_E_INVALID, -1, "%s is not an order of %" PRId32 " dim%s", name,
                          of->rank, of->rank == 1 ? "" : "s");
    seen |= UINT32_C(1) << d;
  }
  return status;
}

/* ---- blocks ---- */

/* CTAsPerCGA, CTASplitNum and CTAOrder as bases. */
static tesela_status triton_check_older_blocks(tesela__triton *of, tesela_error *err) {
  static const struct {
    tesela__triton_list list;
    const char *name;
  } fields[] = {{TESELA__TRITON_CTAS, "CTAsPerCGA"}, {TESELA__TRITON_CTA_SPLIT, "CTASplitNum"}};
  const int64_t *ctas = of->list[TESELA__TRITON_CTAS], *split = of->list[TESELA__TRITON_CTA_SPLIT];
  tesela_status status = TESELA_OK;
  int32_t n = 0;
  for (int i = 0; i < 2 && status == TESELA_OK; i++)
    status = triton_check_counts(of, fields[i].list, fields[i].name, err);
  if (status == TESELA_OK) status = triton_check_order(of, TESELA__TRITON_CTA_ORDER, "CTAOrder", err);
  for (int32_t i = 0; status == TESELA_OK && i < of->rank; i++) {
    int32_t d = (int32_t)of->list[TESELA__TRITON_CTA_ORDER][i];
    if (split[d] > ctas[d])
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "CTASplitNum[%" PRId32 "] is %" PRId64 "; expected at most CTAsPerCGA[%" PRId32
                          "], %" PRId64,
                          d, split[d], d, ctas[d]);
    for (int64_t k = 1; k < ctas[d]; k *= 2) {
      if (n == TESELA_LINEAR_BITS)
        return tesela__fail(err, TESELA_E_LIMIT, -1, "more than 62 bits of blocks");
      of->bases[TESELA__TRITON_BLOCK][n++][d] = k < split[d] ? k : 0;
    }
  }
  of->n_bases[TESELA__TRITON_BLOCK] = n;
  return status;
}

static tesela_status triton_check_blocks(tesela__triton *of, tesela_error *err) {
  const uint32_t older = UINT32_C(1) << TESELA__TRITON_CTAS | UINT32_C(1) << TESELA__TRITON_CTA_SPLIT |
                         UINT32_C(1) << TESELA__TRITON_CTA_ORDER;
  if ((of->has_list & older) == 0) return TESELA_OK;
  if (of->n_bases[TESELA__TRITON_BLOCK] > 0)
    return tesela__fail(err, TESELA_E_INVALID, -1, "blocks are given twice, by CGALayout and by CTAsPerCGA");
  return triton_check_older_blocks(of, err);
}

/* ---- bases ---- */

static tesela_status triton_check_bases(const tesela__triton *of, tesela_error *err) {
  /* linear layouts, and tiles of WMMA in registers and warps, may have any bases */
  bool free = of->kind == TESELA__TRITON_LINEAR || of->kind == TESELA__TRITON_SHARED_LINEAR;
  for (int32_t in = 0; in < TESELA__TRITON_INS; in++)
    for (int32_t k = 0; k < of->n_bases[in]; k++)
      for (int32_t d = 0; d < of->rank; d++)
        if (of->bases[in][k][d] != 0 && !tesela__triton_is_power(of->bases[in][k][d]) && !free &&
            (of->kind != TESELA__TRITON_WMMA || in == TESELA__TRITON_BLOCK))
          return tesela__fail(err, TESELA_E_INVALID, -1,
                              "a basis moves dim %" PRId32 " by %" PRId64 "; expected 0 or a power of two", d,
                              of->bases[in][k][d]);
  return TESELA_OK;
}

/* ---- instructions ---- */

static tesela_status triton_check_mma(tesela__triton *of, tesela_error *err) {
  const int64_t *shape = of->list[TESELA__TRITON_INSTR_SHAPE];
  int32_t n = of->n_list[TESELA__TRITON_INSTR_SHAPE];
  if (of->n_list[TESELA__TRITON_VERSIONS] > 0)
    of->number[TESELA__TRITON_VERSION] = of->list[TESELA__TRITON_VERSIONS][0];
  int64_t version = of->number[TESELA__TRITON_VERSION];
  if (version != 2 && version != 3)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "tesela reads nvidia_mma of versions 2 (mma) and 3 (wgmma), not %" PRId64, version);
  if (of->rank < 2) return tesela__fail(err, TESELA_E_INVALID, -1, "nvidia_mma needs at least 2 dims");
  tesela_status status =
      triton_check_length(of, TESELA__TRITON_INSTR_SHAPE, "instrShape", version == 3 ? 3 : of->rank, err);
  if (status == TESELA_OK) status = triton_check_powers(of, TESELA__TRITON_INSTR_SHAPE, "instrShape", err);
  if (status != TESELA_OK) return status;
  int64_t rows = version == 3 ? shape[0] : shape[n - 2], cols = version == 3 ? shape[1] : shape[n - 1];
  if ((rows != 16 && rows != 8) || cols < 8 || (version == 2 && cols != 8) || (version == 3 && rows != 16))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "instrShape is %" PRId64 "x%" PRId64 "; expected %s",
                        rows, cols, version == 3 ? "16xN, N at least 8" : "16x8 or 8x8");
  for (int32_t d = 0; version == 2 && d + 2 < of->rank; d++)
    if (shape[d] != 1)
      return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "instrShape[%" PRId32 "] is %" PRId64 "; expected 1",
                          d, shape[d]);
  if (version == 3 && of->operand == 1)
    return tesela__fail(err, TESELA_E_INVALID, -1, "opIdx is 1; wgmma has only operand 0 in registers");
  if (of->operand >= 0 && of->k_width == 0)
    return tesela__fail(err, TESELA_E_INVALID, -1, "kWidth is missing for an operand of nvidia_mma");
  return TESELA_OK;
}

static tesela_status triton_check_mfma(tesela__triton *of, tesela_error *err) {
  const int64_t *shape = of->list[TESELA__TRITON_INSTR_SHAPE];
  int32_t n = of->n_list[TESELA__TRITON_INSTR_SHAPE];
  int64_t element = of->number[TESELA__TRITON_ELEMENT_BITS];
  if (n != 2 && n != 3) return triton_check_length(of, TESELA__TRITON_INSTR_SHAPE, "instrShape", 3, err);
  if (of->rank != 2 && of->rank != 3)
    return tesela__fail(err, TESELA_E_INVALID, -1, "amd_mfma has 2 or 3 dims, not %" PRId32, of->rank);
  bool square = shape[0] == shape[1] && (shape[0] == 16 || shape[0] == 32);
  bool flat = (shape[0] == 64 && shape[1] == 4) || (shape[0] == 4 && shape[1] == 64);
  if (!square && !flat)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "instrShape is %" PRId64 "x%" PRId64 "; expected 32x32, 16x16, 64x4 or 4x64",
                        shape[0], shape[1]);
  if (shape[0] == 64 && !of->number[TESELA__TRITON_TRANSPOSED] && of->operand < 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "amd_mfma of 64x4 is read only with isTransposed = true");
  if (element != 0 && element != 32 && element != 64)
    return tesela__fail(err, TESELA_E_INVALID, -1, "elementBitWidth is %" PRId64 "; expected 32 or 64",
                        element);
  if (flat && element == 64)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "amd_mfma of 64x4 has elements of 32 bits");
  if (of->operand >= 0 && of->k_width == 0)
    return tesela__fail(err, TESELA_E_INVALID, -1, "kWidth is missing for an operand of amd_mfma");
  return of->n_list[TESELA__TRITON_TILES_PER_WARP] > 0
             ? triton_check_counts(of, TESELA__TRITON_TILES_PER_WARP, "tilesPerWarp", err)
             : TESELA_OK;
}

/* warpsPerCTA and tilesPerWarp of older texts as ctaLayout. */
static tesela_status triton_check_older_wmma(tesela__triton *of, tesela_error *err) {
  int64_t tiles[TESELA__TRITON_RANK];
  tesela_status status;
  if (of->rank == 0) of->rank = of->n_list[TESELA__TRITON_WARPS_PER_CTA];
  status = triton_check_counts(of, TESELA__TRITON_WARPS_PER_CTA, "warpsPerCTA", err);
  if (status == TESELA_OK && of->n_list[TESELA__TRITON_TILES_PER_WARP] > 0)
    status = triton_check_counts(of, TESELA__TRITON_TILES_PER_WARP, "tilesPerWarp", err);
  for (int32_t d = of->rank - 1; status == TESELA_OK && d >= 0; d--) {
    tiles[d] = of->n_list[TESELA__TRITON_TILES_PER_WARP] > 0 ? of->list[TESELA__TRITON_TILES_PER_WARP][d] : 1;
    for (int64_t k = 1; k < tiles[d] * of->list[TESELA__TRITON_WARPS_PER_CTA][d]; k *= 2) {
      int32_t in = k < tiles[d] ? TESELA__TRITON_REGISTER : TESELA__TRITON_WARP;
      if (of->n_bases[in] == TESELA_LINEAR_BITS)
        return tesela__fail(err, TESELA_E_LIMIT, -1, "more than 62 bits");
      of->bases[in][of->n_bases[in]++][d] = k;
    }
  }
  return status;
}

static tesela_status triton_check_wmma(tesela__triton *of, tesela_error *err) {
  int64_t *shape = of->list[TESELA__TRITON_INSTR_SHAPE], version = of->number[TESELA__TRITON_VERSION];
  tesela_status status = TESELA_OK;
  if (of->has_list >> TESELA__TRITON_WARPS_PER_CTA & 1) status = triton_check_older_wmma(of, err);
  if (of->n_list[TESELA__TRITON_INSTR_SHAPE] == 0) {
    for (int i = 0; i < 3; i++) shape[i] = 16;
    of->n_list[TESELA__TRITON_INSTR_SHAPE] = 3;
  }
  if (status == TESELA_OK) status = triton_check_length(of, TESELA__TRITON_INSTR_SHAPE, "instrShape", 3, err);
  if (status == TESELA_OK) status = triton_check_powers(of, TESELA__TRITON_INSTR_SHAPE, "instrShape", err);
  if (status != TESELA_OK) return status;
  if (version < 1 || version > 3)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "tesela reads amd_wmma of versions 1 to 3, not %" PRId64, version);
  if (of->rank == 1) return tesela__fail(err, TESELA_E_INVALID, -1, "amd_wmma needs at least 2 dims");
  if ((shape[0] != 16 && (shape[0] != 32 || version != 3)) || shape[1] != 16)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "instrShape is %" PRId64 "x%" PRId64 "; expected 16x16%s", shape[0], shape[1],
                        version == 3 ? " or 32x16" : "");
  if (of->operand >= 0 && of->k_width == 0)
    return tesela__fail(err, TESELA_E_INVALID, -1, "kWidth is missing for an operand of amd_wmma");
  return TESELA_OK;
}

/* ---- memory ---- */

/* hasLeadingOffset of older texts: tiles of nvmma_shared. */
static tesela_status triton_check_swizzled(tesela__triton *of, tesela_error *err) {
  int64_t vec = of->number[TESELA__TRITON_VEC], per = of->number[TESELA__TRITON_PER_PHASE],
          most = of->number[TESELA__TRITON_MAX_PHASE];
  tesela_status status = triton_check_order(of, TESELA__TRITON_ORDER, "order", err);
  if (status == TESELA_OK) status = triton_check_power(of, TESELA__TRITON_VEC, "vec", err);
  if (status == TESELA_OK) status = triton_check_power(of, TESELA__TRITON_PER_PHASE, "perPhase", err);
  if (status == TESELA_OK) status = triton_check_power(of, TESELA__TRITON_MAX_PHASE, "maxPhase", err);
  if (status != TESELA_OK || !of->number[TESELA__TRITON_LEADING]) return status;
  if (per * most != 8 || most == 1 || vec < 2 || vec > 16 || of->rank != 2)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "hasLeadingOffset is read for 2 dims, perPhase * maxPhase = 8 and a vec of 2 to 16");
  of->kind = TESELA__TRITON_NVMMA;
  of->number[TESELA__TRITON_SWIZZLE_BYTES] = 16 * most;
  of->number[TESELA__TRITON_ELEMENT_BITS] = 128 / vec;
  of->number[TESELA__TRITON_TRANSPOSED] = of->list[TESELA__TRITON_ORDER][0] == 0;
  return TESELA_OK;
}

static tesela_status triton_check_nvmma(tesela__triton *of, tesela_error *err) {
  int64_t bytes = of->number[TESELA__TRITON_SWIZZLE_BYTES], element = of->number[TESELA__TRITON_ELEMENT_BITS];
  if (bytes != 0 && bytes != 32 && bytes != 64 && bytes != 128)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "swizzlingByteWidth is %" PRId64 "; expected 0, 32, 64 or 128", bytes);
  if (element != 8 && element != 16 && element != 32 && element != 64)
    return tesela__fail(err, TESELA_E_INVALID, -1, "elementBitWidth is %" PRId64 "; expected 8, 16, 32 or 64",
                        element);
  if (of->number[TESELA__TRITON_FP4] && (bytes != 128 || element != 8))
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "fp4Padded needs a swizzle of 128 bytes and elements of 8 bits");
  if (of->rank == 1 && bytes != 0)
    return tesela__fail(err, TESELA_E_INVALID, -1, "a swizzle needs at least 2 dims");
  return TESELA_OK;
}

static tesela_status triton_check_padded(tesela__triton *of, tesela_error *err) {
  tesela_status status = TESELA_OK;
  bool order = of->has_list >> TESELA__TRITON_ORDER & 1,
       offset = of->has_bases >> TESELA__TRITON_REGISTER & 1;
  if (order == offset)
    return tesela__fail(err, TESELA_E_INVALID, -1, "expected either offset and block, or order and shape");
  if (order) status = triton_check_order(of, TESELA__TRITON_ORDER, "order", err);
  for (int32_t i = 0; status == TESELA_OK && i < of->n_pairs; i++) {
    if (!tesela__triton_is_power(of->interval[i]) || !tesela__triton_is_power(of->padding[i]))
      return tesela__fail(err, TESELA_E_INVALID, -1, "%" PRId64 ":+%" PRId64 " are not powers of two",
                          of->interval[i], of->padding[i]);
    for (int32_t k = 0; k < i; k++)
      if (of->interval[k] == of->interval[i])
        return tesela__fail(err, TESELA_E_INVALID, -1, "the interval %" PRId64 " is given twice",
                            of->interval[i]);
  }
  return status;
}

static tesela_status triton_check_tensor_memory(tesela__triton *of, tesela_error *err) {
  if (of->n_list[TESELA__TRITON_BLOCK_SHAPE] > 0) {
    tesela_status status = triton_check_length(of, TESELA__TRITON_BLOCK_SHAPE, "block", 2, err);
    if (status != TESELA_OK) return status;
    of->number[TESELA__TRITON_BLOCK_M] = of->list[TESELA__TRITON_BLOCK_SHAPE][0];
    of->number[TESELA__TRITON_BLOCK_N] = of->list[TESELA__TRITON_BLOCK_SHAPE][1];
  }
  if (of->number[TESELA__TRITON_BLOCK_M] != 64 && of->number[TESELA__TRITON_BLOCK_M] != 128)
    return tesela__fail(err, TESELA_E_INVALID, -1, "blockM is %" PRId64 "; expected 64 or 128",
                        of->number[TESELA__TRITON_BLOCK_M]);
  if (!tesela__triton_is_power(of->number[TESELA__TRITON_BLOCK_N]))
    return tesela__fail(err, TESELA_E_INVALID, -1, "blockN is %" PRId64 "; expected a power of two",
                        of->number[TESELA__TRITON_BLOCK_N]);
  return triton_check_power(of, TESELA__TRITON_COL_STRIDE, "colStride", err);
}

/* ---- all ---- */

/* The rank, of the bases or of a list of one number per dim. */
static void triton_check_rank(tesela__triton *of) {
  static const tesela__triton_list of_rank[] = {TESELA__TRITON_SIZE_PER_THREAD, TESELA__TRITON_WARPS_PER_CTA,
                                                TESELA__TRITON_ORDER, TESELA__TRITON_SHAPE};
  if (of->kind == TESELA__TRITON_TENSOR_MEMORY || of->kind == TESELA__TRITON_SCALES) of->rank = 2;
  for (size_t i = 0; of->rank == 0 && i < sizeof of_rank / sizeof of_rank[0]; i++)
    of->rank = of->n_list[of_rank[i]];
  if (of->rank == 0) of->rank = (int32_t)tesela__min(of->number[TESELA__TRITON_OF_RANK], TESELA__TRITON_RANK);
  if (of->rank == 0 && of->kind == TESELA__TRITON_NVMMA) of->rank = 2; /* Triton's default */
}

tesela_status tesela__triton_check(tesela__triton *of, tesela_error *err) {
  tesela_status status = TESELA_OK;
  triton_check_rank(of);
  switch (of->kind) {
  case TESELA__TRITON_BLOCKED:
    status = triton_check_counts(of, TESELA__TRITON_SIZE_PER_THREAD, "sizePerThread", err);
    if (status == TESELA_OK)
      status = triton_check_counts(of, TESELA__TRITON_THREADS_PER_WARP, "threadsPerWarp", err);
    if (status == TESELA_OK)
      status = triton_check_counts(of, TESELA__TRITON_WARPS_PER_CTA, "warpsPerCTA", err);
    if (status == TESELA_OK) status = triton_check_order(of, TESELA__TRITON_ORDER, "order", err);
    if (status == TESELA_OK && of->operand >= 0 && of->rank < 2)
      status = tesela__fail(err, TESELA_E_INVALID, -1, "an operand of a dot has at least 2 dims");
    break;
  case TESELA__TRITON_MMA:
  case TESELA__TRITON_MFMA:
    status = triton_check_counts(of, TESELA__TRITON_WARPS_PER_CTA, "warpsPerCTA", err);
    if (status == TESELA_OK)
      status = of->kind == TESELA__TRITON_MMA ? triton_check_mma(of, err) : triton_check_mfma(of, err);
    break;
  case TESELA__TRITON_WMMA:
    status = triton_check_wmma(of, err);
    break;
  case TESELA__TRITON_SWIZZLED:
  case TESELA__TRITON_ROTATING:
    status = triton_check_swizzled(of, err);
    break;
  case TESELA__TRITON_NVMMA:
    status = triton_check_nvmma(of, err);
    break;
  case TESELA__TRITON_PADDED:
    status = triton_check_padded(of, err);
    break;
  case TESELA__TRITON_TENSOR_MEMORY:
    status = triton_check_tensor_memory(of, err);
    break;
  default:
    break;
  }
  if (status == TESELA_OK && of->operand >= 0 && of->k_width != 0 && !tesela__triton_is_power(of->k_width))
    status = tesela__fail(err, TESELA_E_INVALID, -1, "kWidth is %" PRId64 "; expected a power of two",
                          of->k_width);
  if (status == TESELA_OK) status = triton_check_blocks(of, err);
  return status == TESELA_OK ? triton_check_bases(of, err) : status;
}
