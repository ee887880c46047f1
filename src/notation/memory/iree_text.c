/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iree_text.c - encodings of IREE that say where elements are; others are refused by name.
 *
 *   #iree_encoding.layout<[#iree_cpu.vmvx_encoding_resolver<configuration = {encoding_info =
 *       {innerDimsPos = [0, 1], innerTileSizes = [8, 4], outerDimsPerm = [1, 0]}}>]>         linalg.pack
 *   #iree_encoding.padding<[0, 64]>          row-major with 64 elements after each row
 *   #iree_encoding.packed_storage            row-major, bits of i1 side by side
 */
#include "base/base.h"
#include "notation/memory/memory.h"

/* Row-major with padding at the end of each dim. */
static tesela_status iree_padding(tesela__reader *r, const tesela_xla_shape *array, tesela_dtype dtype,
                                  int32_t bits, tesela_layout *out) {
  int64_t padding[TESELA_MAX_RANK], strides[TESELA_MAX_RANK], next = 1, padded;
  int32_t n;
  size_t begin = r->at;
  if (memchr(r->text + r->at, '?', r->length - r->at))
    return tesela__read_fail(r, TESELA_E_UNSUPPORTED, begin, "'?' is known at run time only; write a number");
  tesela_status status = tesela__read_integers(r, '[', false, "a number of elements", TESELA_E_OVERFLOW,
                                               TESELA_MAX_RANK, padding, &n);
  if (status == TESELA_OK) status = tesela__read_expect(r, '>', "after the padding");
  if (status == TESELA_OK) status = tesela__text_end(r);
  if (status != TESELA_OK) return status;
  if (n != array->rank)
    return tesela__read_fail(r, TESELA_E_MISMATCH, begin,
                             "padding of %" PRId32 " dims; the array has %" PRId32, n, array->rank);
  for (int32_t d = n - 1; d >= 0; d--) {
    strides[d] = next;
    if (padding[d] < 0)
      return tesela__read_fail(r, TESELA_E_RANGE, begin, "a padding is %" PRId64, padding[d]);
    if (!tesela__add(array->dim[d], padding[d], &padded) || !tesela__mul(next, tesela__max(padded, 1), &next))
      return tesela__read_fail(r, TESELA_E_OVERFLOW, begin, "the padded array does not fit in 64 bits");
  }
  return tesela_layout_strided(out, dtype, bits, array->rank, array->dim, strides, 0, r->err);
}

tesela_status tesela__iree_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                tesela_any_layout *out, tesela_error *err) {
  tesela__reader r = {
      .text = text, .length = length, .err = err, .blanks = TESELA__BLANKS_TEXT, .word = TESELA__BYTE_NAME};
  int32_t bits;
  const tesela_xla_shape *array;
  tesela_dtype dtype = tesela__given_dtype(options, &bits);
  tesela_status status = tesela__memory_array(options, -1, "the encoding", &array, err);
  if (status != TESELA_OK) return status;
  out->kind = TESELA_KIND_RELATION;
  if (tesela__read_take_text(&r, "#iree_encoding.padding<"))
    return iree_padding(&r, array, dtype, bits, &out->relation);
  if (tesela__read_take_text(&r, "#iree_encoding.packed_storage")) {
    status = tesela__text_end(&r);
    if (status != TESELA_OK) return status;
    if (dtype != TESELA_DTYPE_NONE && dtype != TESELA_PRED)
      return tesela__fail(err, TESELA_E_MISMATCH, 0, "packed storage is of pred; the type is %s",
                          tesela_dtype_name(dtype));
    return tesela_layout_strided(&out->relation, TESELA_PRED, 1, array->rank, array->dim, NULL, 0, err);
  }
  return tesela__pack_read(text, length, options, out, err);
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

typedef struct iree_writing {
  bool pack;
  int32_t rank;
  int64_t padding[TESELA_MAX_RANK];
  tesela__blocks
      blocks; /* inner[] from the fastest tile on, order[] from the fastest dim on, until all are known */
} iree_writing;

/* Row-major, each dim with padding at its end. */
static bool iree_fit_padding(iree_writing *w, const tesela__parts *parts, const int64_t *shape) {
  int32_t below = -1, last = w->rank;
  for (int32_t d = 0; d < w->rank; d++) w->padding[d] = 0;
  for (int32_t i = 0; i < parts->n; i++) {
    const tesela__dim_part *part = &parts->part[i];
    if (part->dim < 0 || part->dim >= last || !part->top || part->step != 1) return false;
    if (below >= 0) {
      int64_t stride = parts->part[i - 1].stride, extent = part->stride / stride;
      if (part->stride % stride != 0 || extent < shape[below]) return false;
      w->padding[below] = extent - shape[below];
    } else if (part->stride > 1) {
      if (part->dim == w->rank - 1) return false;
      w->padding[w->rank - 1] = part->stride - shape[w->rank - 1];
    }
    below = last = part->dim;
  }
  return true;
}

static bool iree_tile(iree_writing *w, bool *tiled, int32_t dim, int64_t extent) {
  if (tiled[dim] || w->blocks.n == TESELA__MAX_BLOCKS) return false;
  tiled[dim] = true;
  w->blocks.inner[w->blocks.n++] = (tesela__inner_block){dim, extent};
  return true;
}

/* Tiles of some dims, then the dims. Only a tile may be larger than its dim, so gaps are in tiles. */
static bool iree_fit_tiles(iree_writing *w, const tesela__parts *parts) {
  tesela__dim_part part[2 * TESELA__MAX_PARTS];
  bool tiled[TESELA_MAX_RANK] = {false}, has[TESELA_MAX_RANK] = {false}, ordered[TESELA_MAX_RANK] = {false};
  int32_t n = 0, tiles = 0, n_order = 0, spare = w->rank - 1;
  int64_t size = 1, gap;
  w->blocks = (tesela__blocks){.rank = w->rank};
  for (int32_t i = 0; i < parts->n; i++)
    if (parts->part[i].dim >= 0) has[parts->part[i].dim] = true;
  for (int32_t i = 0; i < parts->n; i++) { /* the last part that has to be a tile */
    const tesela__dim_part *next = &parts->part[i];
    tesela__dim_part *below = n > 0 ? &part[n - 1] : NULL, plain = below ? *below : (tesela__dim_part){0};
    if (next->dim < 0) return false;
    plain.top = plain.top && plain.step == 1; /* a coarser part has no padding of its own */
    int64_t extent = plain.extent;
    if (!tesela__close_gap(below ? &plain : NULL, size, next->stride, &gap)) return false;
    if (below) below->extent = plain.extent;
    if (below && plain.extent != extent) tiles = n;
    while (gap > 1 && spare >= 0 && has[spare]) spare--;
    if (gap > 1 && spare < 0) return false;
    if (gap > 1) part[n++] = (tesela__dim_part){spare--, 0, 1, gap, size, true};
    part[n++] = *next;
    if (gap > 1) tiles = n - 1;
    if (!next->top) tiles = n;
    if (!tesela__mul(next->stride, next->extent, &size)) return false;
  }
  for (int32_t i = 0; i < n; i++) {
    int32_t d = part[i].dim;
    if (i < tiles ? part[i].step != 1 || !iree_tile(w, tiled, d, part[i].extent) : ordered[d] || !part[i].top)
      return false;
    if (i < tiles) continue;
    ordered[d] = true;
    w->blocks.order[n_order++] = d;
  }
  for (int32_t d = w->rank - 1; d >= 0; d--) /* dims that are whole tiles */
    if (!ordered[d]) w->blocks.order[n_order++] = d;
  return true;
}

static bool iree_fit(void *user, const tesela__parts *parts, int32_t rank, const int64_t *shape) {
  iree_writing *w = user;
  w->rank = rank;
  w->pack = false;
  if (iree_fit_padding(w, parts, shape)) return true;
  w->pack = true;
  return iree_fit_tiles(w, parts);
}

static void iree_put_info(tesela__sink *sink, const tesela__blocks *blocks) {
  tesela__puts(sink,
               "#iree_encoding.layout<[#iree_cpu.cpu_encoding_resolver<configuration = {encoding_info = "
               "{innerDimsPos = [");
  for (int32_t i = blocks->n - 1; i >= 0; i--)
    tesela__putf(sink, "%" PRId32 "%s", blocks->inner[i].dim, i > 0 ? ", " : "");
  tesela__puts(sink, "], innerTileSizes = [");
  for (int32_t i = blocks->n - 1; i >= 0; i--)
    tesela__putf(sink, "%" PRId64 "%s", blocks->inner[i].extent, i > 0 ? ", " : "");
  tesela__puts(sink, "], outerDimsPerm = [");
  for (int32_t k = blocks->rank - 1; k >= 0; k--)
    tesela__putf(sink, "%" PRId32 "%s", blocks->order[k], k > 0 ? ", " : "");
  tesela__puts(sink, "]}}>]>");
}

tesela_status tesela__iree_write(const tesela_layout *layout, const tesela_writer *to,
                                 tesela_translation *answer, tesela_error *err) {
  iree_writing w = {.rank = 0};
  tesela__sink sink;
  if (layout->n_axes != 1)
    return tesela__impossible(answer, "an encoding places elements on one axis; the layout has %" PRId32,
                              layout->n_axes);
  bool bits = layout->dtype == TESELA_PRED && layout->bits == 1;
  tesela_status status = tesela__find_parts(layout, "encoding", 0, iree_fit, &w, layout->shape, answer, err);
  if (status == TESELA_OK && answer->verdict == TESELA_IMPOSSIBLE)
    return tesela__blocks_refuse(
        layout, "encoding",
        "no encoding: neither padding of rows nor one tile of each dim gives these places", answer, err);
  if (status != TESELA_OK) return status;
  bool dense = !w.pack;
  for (int32_t d = 0; d < w.rank; d++) dense = dense && w.padding[d] == 0;
  if (bits && !dense) return tesela__impossible(answer, "bits side by side are row-major without padding");
  tesela__sink_init(&sink, to);
  if (bits) {
    tesela__puts(&sink, "#iree_encoding.packed_storage");
  } else if (w.pack) {
    iree_put_info(&sink, &w.blocks);
  } else {
    tesela__puts(&sink, "#iree_encoding.padding<[");
    for (int32_t d = 0; d < w.rank; d++) tesela__putf(&sink, "%s%" PRId64, d ? ", " : "", w.padding[d]);
    tesela__puts(&sink, "]>");
  }
  return tesela__sink_finish(&sink, err);
}
