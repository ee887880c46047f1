/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_divide.c - divisions and products of CuTe layouts by a layout or a tiler.
 *
 * Division: A composed with (B, complement of B in the size of A). Product: (A, complement of A composed with B). A tiler does this
 * mode by mode. The other forms only order the modes of the result.
 */
#include "cute/cute_algebra.h"
#include "cute/cute_value.h"

static bool cute_fits(bool fit, tesela_status *status, tesela_error *err) {
  if (!fit) *status = tesela__cute_too_many(err);
  return fit;
}

/* (a, b) as two modes. */
static bool cute_make_pair(const tesela_cute *a, const tesela_cute *b, tesela_cute *out) {
  memset(out, 0, sizeof *out);
  return tesela__cute_append(out, a) && tesela__cute_append(out, b) && tesela__cute_close(out);
}

/* The offset and the swizzle of a layout. */
static void cute_keep_outer(const tesela_cute *from, tesela_cute *out) {
  out->offset = from->offset;
  out->bits = from->bits;
  out->base = from->base;
  out->shift = from->shift;
}

static void cute_drop_outer(tesela_cute *out) {
  out->offset = 0;
  out->bits = out->base = out->shift = 0;
}

/* ---- one layout by another ---- */

/* Some B(i) is `size` or more: the first such i. */
static tesela_status cute_too_large(const tesela_cute *b, int64_t size, tesela_cute_counter *counter,
                                    tesela_error *err) {
  int64_t others = 0, index = 0, value = 0, weight = 1; /* others: what the leaves before i can add */
  for (int32_t i = 0; i < b->n; i++) {
    others += (b->extent[i] - 1) * b->stride[i];
    weight *= b->extent[i];
  }
  for (int32_t i = b->n - 1; i >= 0; i--) {
    others -= (b->extent[i] - 1) * b->stride[i];
    weight /= b->extent[i];
    const int64_t lacking = size - value - others;
    if (lacking <= 0 || b->stride[i] == 0) continue;
    const int64_t digit = tesela__ceil_div(lacking, b->stride[i]);
    value += digit * b->stride[i];
    index += digit * weight;
  }
  *counter = (tesela_cute_counter){
      .given = true, .index = index, .index2 = -1, .value = value, .expected = size - 1};
  return tesela__refuse(err, TESELA_E_RANGE, TESELA_REASON_SIZE,
                        "coordinate %" PRId64 " of the divisor is %" PRId64 "; the layout ends at %" PRId64,
                        index, value, size - 1);
}

static tesela_status cute_divide_one(const tesela_cute *a, const tesela_cute *b, tesela_cute *out,
                                     tesela_cute_counter *counter, tesela_error *err) {
  tesela_cute rest, both;
  int64_t least, most;
  const int64_t size = tesela_cute_size(a);
  tesela_status status = tesela__cute_plain(b, false, "the divisor", err);
  if (status == TESELA_OK) status = tesela__cute_no_offset(b, "the divisor", err);
  if (status != TESELA_OK) return status;
  tesela__cute_reach(b, &least, &most);
  if (least < 0) return tesela__cute_below_zero(b, counter, err);
  if (most >= size) return cute_too_large(b, size, counter, err);
  status = tesela__cute_complement(b, size, &rest, counter, err);
  if (status == TESELA_OK && cute_fits(cute_make_pair(b, &rest, &both), &status, err))
    status = tesela__cute_compose(a, &both, out, counter, err);
  return status;
}

static tesela_status cute_multiply_one(const tesela_cute *a, const tesela_cute *b, tesela_cute *out,
                                       tesela_cute_counter *counter, tesela_error *err) {
  tesela_cute block = *a, rest, tiles;
  int64_t size;
  cute_drop_outer(&block);
  tesela_status status = tesela__cute_plain(b, false, "the right layout", err);
  if (status == TESELA_OK) status = tesela__cute_no_offset(b, "the right layout", err);
  if (status == TESELA_OK && !tesela__mul(tesela_cute_size(a), tesela_cute_cosize(b), &size))
    status = tesela__fail(err, TESELA_E_OVERFLOW, -1, "the size of the product exceeds 64 bits");
  if (status == TESELA_OK) status = tesela__cute_complement(&block, size, &rest, counter, err);
  if (status == TESELA_OK) status = tesela__cute_compose(&rest, b, &tiles, counter, err);
  if (status == TESELA_OK && cute_fits(cute_make_pair(&block, &tiles, out), &status, err))
    cute_keep_outer(a, out);
  return status;
}

/* ---- by mode ---- */

typedef tesela_status cute_one(const tesela_cute *a, const tesela_cute *b, tesela_cute *out,
                               tesela_cute_counter *counter, tesela_error *err);

/* A pair of 1:0 and the mode, as of a mode that a zipped division leaves as it is. */
static bool cute_make_unsplit(const tesela_cute *mode, tesela_cute *out) {
  tesela_cute one;
  tesela__cute_leaf(&one, 1, 0);
  return cute_make_pair(&one, mode, out);
}

static tesela_status cute_check_tiler(const tesela_cute *a, const tesela_cute_tiler *tiler,
                                      tesela_error *err) {
  int32_t first[TESELA_CUTE_LEAVES + 1];
  if (!tiler->by_mode) return TESELA_OK;
  const int32_t rank = tesela__cute_top_modes(a, first);
  if (tiler->n < 0 || tiler->n > TESELA_CUTE_TILE || tiler->n > rank)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "the tiler has %" PRId32 " modes; the layout has %" PRId32, tiler->n, rank);
  return TESELA_OK;
}

/* Each mode of a with its mode of the tiler. `zip`: modes 0 of the results become one mode, modes 1 and all others the second. */
static tesela_status cute_by_modes(cute_one *one, bool zip, const tesela_cute *a,
                                   const tesela_cute_tiler *tiler, tesela_cute *out,
                                   tesela_cute_counter *counter, tesela_error *err) {
  int32_t first[TESELA_CUTE_LEAVES + 1];
  const int32_t rank = tesela__cute_top_modes(a, first);
  tesela_cute front, back, mode, split, part;
  tesela_status status = TESELA_OK;
  memset(&front, 0, sizeof front);
  memset(&back, 0, sizeof back);
  for (int32_t k = 0; k < rank && status == TESELA_OK; k++) {
    tesela__cute_mode(a, k, &mode);
    const bool keep = k >= tiler->n || (tiler->keep >> k & 1) != 0;
    if (!keep) {
      status = one(&mode, &tiler->mode[k], &split, counter, err);
      if (status != TESELA_OK) counter->mode = k;
    }
    if (status != TESELA_OK) break;
    if (!zip) {
      (void)cute_fits(tesela__cute_append(&front, keep ? &mode : &split), &status, err);
    } else if (k >= tiler->n) {
      (void)cute_fits(tesela__cute_append(&back, &mode), &status, err);
    } else if (cute_fits(!keep || cute_make_unsplit(&mode, &split), &status, err)) {
      tesela__cute_mode(&split, 0, &part);
      bool fit = tesela__cute_append(&front, &part);
      tesela__cute_mode(&split, 1, &part);
      (void)cute_fits(fit && tesela__cute_append(&back, &part), &status, err);
    }
  }
  if (status != TESELA_OK) return status;
  if (!zip)
    *out = front;
  else if (!cute_fits(tesela__cute_close(&front) && tesela__cute_close(&back) &&
                          tesela__cute_append(&front, &back),
                      &status, err))
    return status;
  else
    *out = front;
  if (cute_fits(tesela__cute_close(out), &status, err)) cute_keep_outer(a, out);
  return status;
}

/* Tiled: mode 0, then the modes of mode 1; flat: the modes of both. */
static bool cute_unzip(const tesela_cute *zipped, bool flat, tesela_cute *out) {
  tesela_cute part, made;
  memset(&made, 0, sizeof made);
  tesela__cute_mode(zipped, 0, &part);
  if (!(flat ? tesela__cute_splice(&made, &part) : tesela__cute_append(&made, &part))) return false;
  tesela__cute_mode(zipped, 1, &part);
  if (!tesela__cute_splice(&made, &part) || !tesela__cute_close(&made)) return false;
  cute_keep_outer(zipped, &made);
  *out = made;
  return true;
}

/* Mode k of both modes of a pair as mode k; `raked`: of the second first. */
static bool cute_interleave(const tesela_cute *product, bool raked, tesela_cute *out) {
  tesela_cute side[2], part, both, made;
  int32_t first[TESELA_CUTE_LEAVES + 1];
  tesela__cute_mode(product, raked, &side[0]);
  tesela__cute_mode(product, !raked, &side[1]);
  const int32_t rank = tesela__cute_top_modes(&side[0], first);
  memset(&made, 0, sizeof made);
  for (int32_t k = 0; k < rank; k++) {
    memset(&both, 0, sizeof both);
    tesela__cute_mode(&side[0], k, &part);
    bool fit = tesela__cute_append(&both, &part);
    tesela__cute_mode(&side[1], k, &part);
    if (!fit || !tesela__cute_append(&both, &part) || !tesela__cute_close(&both) ||
        !tesela__cute_append(&made, &both))
      return false;
  }
  if (!tesela__cute_close(&made)) return false;
  cute_keep_outer(product, &made);
  *out = made;
  return true;
}

/* Modes 1:0 at the end, up to `rank`; the result is a tuple. */
static bool cute_pad_modes(const tesela_cute *a, int32_t rank, tesela_cute *out) {
  tesela_cute one, made;
  int32_t first[TESELA_CUTE_LEAVES + 1];
  const int32_t n = tesela__cute_top_modes(a, first);
  memset(&made, 0, sizeof made);
  tesela__cute_leaf(&one, 1, 0);
  if (!tesela__cute_splice(&made, a)) return false;
  for (int32_t k = n; k < rank; k++)
    if (!tesela__cute_append(&made, &one)) return false;
  cute_keep_outer(a, &made);
  *out = made;
  return tesela__cute_close(out);
}

static tesela_status cute_interleaved_product(const tesela_cute *a, const tesela_cute *b, bool raked,
                                              tesela_cute *out, tesela_cute_counter *counter,
                                              tesela_error *err) {
  int32_t first[TESELA_CUTE_LEAVES + 1];
  tesela_cute block, tiles, product;
  tesela_status status = tesela__cute_check(b, err);
  if (status != TESELA_OK) return status;
  const int32_t n_a = tesela__cute_top_modes(a, first), n_b = tesela__cute_top_modes(b, first);
  const int32_t rank = n_a > n_b ? n_a : n_b;
  if (!cute_fits(cute_pad_modes(a, rank, &block) && cute_pad_modes(b, rank, &tiles), &status, err))
    return status;
  status = cute_multiply_one(&block, &tiles, &product, counter, err);
  if (status == TESELA_OK) (void)cute_fits(cute_interleave(&product, raked, out), &status, err);
  return status == TESELA_OK && raked ? tesela_cute_coalesce(out, rank, out, err) : status;
}

/* ---- functions of cute.h ---- */

static tesela_status cute_begin(const tesela_cute *a, const tesela_cute_tiler *tiler,
                                tesela_cute_counter *counter, tesela_error *err) {
  *counter = (tesela_cute_counter){.given = false};
  counter->mode = -1;
  tesela_status status = tesela__cute_plain(a, true, "the layout", err);
  return status == TESELA_OK ? cute_check_tiler(a, tiler, err) : status;
}

tesela_status tesela_cute_compose_tiler(const tesela_cute *a, const tesela_cute_tiler *tiler,
                                        tesela_cute *out, tesela_cute_counter *counter, tesela_error *err) {
  TESELA__NEED(err, a, tiler, out);
  tesela_cute_counter unused, *where = counter ? counter : &unused;
  tesela_cute made;
  tesela_status status = cute_begin(a, tiler, where, err);
  if (status != TESELA_OK) return status;
  status = tiler->by_mode ? cute_by_modes(tesela_cute_compose, false, a, tiler, &made, where, err)
                          : tesela_cute_compose(a, &tiler->mode[0], &made, where, err);
  if (status == TESELA_OK) *out = made;
  return status;
}

static tesela_status cute_in_form(cute_one *one, tesela_cute_form form, const tesela_cute *a,
                                  const tesela_cute_tiler *tiler, tesela_cute *out,
                                  tesela_cute_counter *counter, tesela_error *err) {
  const bool logical = form == TESELA_CUTE_LOGICAL;
  tesela_cute made;
  tesela_status status = cute_begin(a, tiler, counter, err);
  if (status != TESELA_OK) return status;
  status = tiler->by_mode ? cute_by_modes(one, !logical, a, tiler, &made, counter, err)
                          : one(a, &tiler->mode[0], &made, counter, err);
  if (status == TESELA_OK && (form == TESELA_CUTE_TILED || form == TESELA_CUTE_FLAT))
    (void)cute_fits(cute_unzip(&made, form == TESELA_CUTE_FLAT, &made), &status, err);
  if (status == TESELA_OK) *out = made;
  return status;
}

tesela_status tesela_cute_divide(tesela_cute_form form, const tesela_cute *a, const tesela_cute_tiler *tiler,
                                 tesela_cute *out, tesela_cute_counter *counter, tesela_error *err) {
  TESELA__NEED(err, a, tiler, out);
  tesela_cute_counter unused, *where = counter ? counter : &unused;
  if (form < TESELA_CUTE_LOGICAL || form > TESELA_CUTE_FLAT)
    return tesela_error_outside(err, -1, "form", -1, form, TESELA_CUTE_LOGICAL, TESELA_CUTE_FLAT);
  return cute_in_form(cute_divide_one, form, a, tiler, out, where, err);
}

tesela_status tesela_cute_product(tesela_cute_form form, const tesela_cute *a, const tesela_cute_tiler *tiler,
                                  tesela_cute *out, tesela_cute_counter *counter, tesela_error *err) {
  TESELA__NEED(err, a, tiler, out);
  tesela_cute_counter unused, *where = counter ? counter : &unused;
  tesela_cute made;
  if (form < TESELA_CUTE_LOGICAL || form > TESELA_CUTE_RAKED)
    return tesela_error_outside(err, -1, "form", -1, form, TESELA_CUTE_LOGICAL, TESELA_CUTE_RAKED);
  if (form <= TESELA_CUTE_FLAT) return cute_in_form(cute_multiply_one, form, a, tiler, out, where, err);
  tesela_status status = cute_begin(a, tiler, where, err);
  if (status == TESELA_OK && tiler->by_mode)
    status = tesela__fail(err, TESELA_E_INVALID, -1, "expected a layout, found a tiler");
  if (status == TESELA_OK)
    status = cute_interleaved_product(a, &tiler->mode[0], form == TESELA_CUTE_RAKED, &made, where, err);
  if (status == TESELA_OK) *out = made;
  return status;
}

tesela_status tesela_cute_tile_to_shape(const tesela_cute *block, int32_t n, const int64_t *shape,
                                        const int64_t *order, tesela_cute *out, tesela_cute_counter *counter,
                                        tesela_error *err) {
  TESELA__NEED(err, block, out);
  TESELA__NEED_LIST(err, shape, n);
  tesela_cute_counter unused, *where = counter ? counter : &unused;
  tesela_cute padded, mode, tiles, made;
  int32_t first[TESELA_CUTE_LEAVES + 1];
  int64_t stride = 1;
  bool placed[TESELA_CUTE_LEAVES] = {false};
  *where = (tesela_cute_counter){.given = false};
  tesela_status status = tesela__cute_plain(block, true, "the block", err);
  if (status != TESELA_OK) return status;
  const int32_t rank = tesela__cute_top_modes(block, first);
  if (n < 1 || n < rank || n > TESELA_CUTE_LEAVES)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "the shape has %" PRId32 " extents; the block has %" PRId32 " modes", n, rank);
  if (!cute_fits(cute_pad_modes(block, n, &padded), &status, err)) return status;
  memset(&tiles, 0, sizeof tiles);
  for (int32_t k = 0; k < n; k++) {
    if (shape[k] < 1) return tesela_error_outside(err, -1, "shape", k, shape[k], 1, INT64_MAX);
    tesela__cute_mode(&padded, k, &mode);
    tiles.extent[k] = tesela__ceil_div(shape[k], tesela_cute_size(&mode));
  }
  tiles.n = n;
  for (int32_t i = 0; i < n; i++) { /* the smallest order that is left is next */
    int32_t next = -1;
    for (int32_t k = 0; k < n; k++)
      if (!placed[k] && (next < 0 || (order && order[k] < order[next]))) next = k;
    placed[next] = true;
    tiles.stride[next] = tiles.extent[next] == 1 ? 0 : stride;
    if (!tesela__mul(stride, tiles.extent[next], &stride))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the tiles exceed 64 bits");
  }
  (void)tesela__cute_close(&tiles);
  status = cute_interleaved_product(&padded, &tiles, false, &made, where, err);
  if (status == TESELA_OK) *out = made;
  return status;
}
