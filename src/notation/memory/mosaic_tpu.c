/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mosaic_tpu.c - attributes of Mosaic for TPUs.
 *
 *   #tpu.tiled<(8,128)(2,1),[16,1]>     memory: the last dims in tiles, tiles in tiles; strides of the outer dims, in tiles
 *   #tpu.vpad<"32,{0,3},(8,128)">       vector registers: mosaic_vpad.c. Written where no tiles are found
 */
#include "base/base.h"
#include "notation/memory/memory.h"

enum { TPU_TILE_RANK = 8, TPU_TILES = 16 };

/* ---- tiled -------------------------------------------------------------------------------------------------- */

typedef struct tpu_tiled {
  int64_t tile[TPU_TILES][TESELA_MAX_RANK], stride[TESELA_MAX_RANK];
  int32_t n_tiles, n[TPU_TILES], n_strides;
} tpu_tiled;

/* "(8,128)(2,1),[16,1]>" */
static tesela_status tpu_read_tiled(tesela__reader *r, tpu_tiled *t) {
  tesela_status status = TESELA_OK;
  t->n_tiles = 0;
  while (status == TESELA_OK && tesela__read_peek(r) == '(') {
    size_t begin = r->at;
    if (t->n_tiles == TPU_TILES)
      return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d tiles", TPU_TILES);
    int32_t *n = &t->n[t->n_tiles];
    status = tesela__read_integers(r, '(', false, "a tile extent", TESELA_E_OVERFLOW, TPU_TILE_RANK,
                                   t->tile[t->n_tiles], n);
    for (int32_t k = 0; k < *n && status == TESELA_OK; k++)
      if (t->tile[t->n_tiles][k] < 1)
        status =
            tesela__read_fail(r, TESELA_E_RANGE, begin, "a tile extent is %" PRId64 "; expected 1 or more",
                              t->tile[t->n_tiles][k]);
    if (status == TESELA_OK && (*n == 0 || (t->n_tiles > 0 && *n > t->n[t->n_tiles - 1])))
      status = tesela__read_fail(r, TESELA_E_UNSUPPORTED, begin, "a tile of more dims than the one before");
    t->n_tiles++;
  }
  if (status == TESELA_OK) status = tesela__read_expect(r, ',', "after the tiles");
  if (status == TESELA_OK)
    status = tesela__read_integers(r, '[', false, "a stride in tiles", TESELA_E_OVERFLOW, TESELA_MAX_RANK,
                                   t->stride, &t->n_strides);
  if (status == TESELA_OK && t->n_tiles > 0 && t->n[0] > t->n_strides)
    status = tesela__read_fail(r, TESELA_E_MISMATCH, r->at,
                               "the tile has %" PRId32 " dims, the strides %" PRId32, t->n[0], t->n_strides);
  return status == TESELA_OK ? tesela__read_expect(r, '>', "after the strides") : status;
}

static tesela_status tpu_lower_tiled(const tpu_tiled *t, const tesela_xla_shape *array, tesela_dtype dtype,
                                     int32_t bits, tesela_layout *out, tesela_error *err) {
  int32_t digit[TESELA_MAX_DIGITS], n = 0, axis, rank = array->rank;
  int64_t size = 1, stride;
  tesela_status status = tesela_layout_begin(out, dtype, bits, rank, array->dim, err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(out, "memory", &axis, err);
  for (int32_t d = 0; d < rank; d++) digit[n++] = d;
  for (int32_t i = 0; i < t->n_tiles && status == TESELA_OK; i++) {
    if (n + t->n[i] > TESELA_MAX_DIGITS) return tesela__fail(err, TESELA_E_LIMIT, 0, "too many tiles");
    for (int32_t k = 0; k < t->n[i] && i > 0; k++) { /* Mosaic's dialect aborts otherwise */
      int64_t extent = out->digit[digit[n - t->n[i] + k]].extent;
      if (extent % t->tile[i][k] != 0)
        return tesela__fail(err, TESELA_E_INVALID, 0,
                            "a tile of %" PRId64 " does not divide %" PRId64 " of the tile before it",
                            t->tile[i][k], extent);
    }
    for (int32_t k = 0; k < t->n[i] && status == TESELA_OK; k++)
      status = tesela_layout_split(out, digit[n - t->n[i] + k], t->tile[i][k], &digit[n + k], err);
    n += t->n[i];
  }
  if (status == TESELA_OK)
    status = tesela_layout_place_row_major(out, n - rank, digit + rank, axis, 1, &size, err);
  for (int32_t d = 0; d < rank && status == TESELA_OK; d++)
    status = tesela__mul(t->stride[d], size, &stride)
                 ? tesela_layout_place(out, d, axis, stride, err)
                 : tesela__fail(err, TESELA_E_OVERFLOW, 0, "a stride does not fit in 64 bits");
  return status == TESELA_OK ? tesela_layout_finish(out, err) : status;
}

tesela_status tesela__tpu_tiled(tesela__reader *r, const tesela_xla_shape *array, tesela_dtype dtype,
                                int32_t bits, tesela_layout *out) {
  tpu_tiled t;
  tesela_status status = tpu_read_tiled(r, &t);
  if (status == TESELA_OK && t.n_strides != array->rank)
    status = tesela__read_fail(r, TESELA_E_MISMATCH, 0, "%" PRId32 " strides of %" PRId32 " dims",
                               t.n_strides, array->rank);
  return status == TESELA_OK ? tpu_lower_tiled(&t, array, dtype, bits, out, r->err) : status;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

tesela_status tesela__mosaic_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                  tesela_any_layout *out, tesela_error *err) {
  tesela__reader r = {
      .text = text, .length = length, .err = err, .blanks = TESELA__BLANKS_TEXT, .word = TESELA__BYTE_NAME};
  int32_t bits;
  const tesela_xla_shape *array;
  tesela_dtype dtype = tesela__given_dtype(options, &bits);
  tesela_status status = tesela__memory_array(options, -1, "the attribute", &array, err);
  out->kind = TESELA_KIND_RELATION;
  if (status != TESELA_OK) return status;
  if (tesela__read_take_text(&r, "#tpu.tiled<")) {
    status = tesela__tpu_tiled(&r, array, dtype, bits, &out->relation);
  } else if (tesela__read_take_text(&r, "#tpu.vpad<")) {
    status = tesela__tpu_vpad(&r, array, dtype, &out->relation);
  } else {
    return tesela__read_unexpected(&r, "#tpu.tiled<..> or #tpu.vpad<..>", "");
  }
  return status == TESELA_OK ? tesela__text_end(&r) : status;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

/* Inner blocks as tiles in tiles: each level has the blocks up to one whose dim is not after the one before, and its tile is the product of all
 * blocks from there on. */
static bool tpu_tiles_of(const tesela__blocks *blocks, tpu_tiled *t) {
  for (int32_t i = 0; i < blocks->n;) {
    int64_t product[TESELA_MAX_RANK];
    int32_t first = blocks->rank - 1;
    if (t->n_tiles == TPU_TILES) return false;
    for (int32_t d = 0; d < blocks->rank; d++) product[d] = 1;
    for (int32_t k = i; k < blocks->n; k++) {
      product[blocks->inner[k].dim] *= blocks->inner[k].extent;
      if (blocks->inner[k].dim < first) first = blocks->inner[k].dim;
    }
    if (blocks->rank - first > TPU_TILE_RANK) return false;
    for (int32_t d = first; d < blocks->rank; d++) t->tile[t->n_tiles][d - first] = product[d];
    t->n[t->n_tiles++] = blocks->rank - first;
    for (i++; i < blocks->n && blocks->inner[i].dim > blocks->inner[i - 1].dim;) i++;
  }
  if (t->n_tiles == 0) {
    t->tile[0][0] = 1;
    t->n[t->n_tiles++] = 1;
  }
  return true;
}

static tesela_status tpu_print(const tpu_tiled *t, const tesela_writer *to, tesela_error *err) {
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, "#tpu.tiled<");
  for (int32_t i = 0; i < t->n_tiles; i++) {
    for (int32_t k = 0; k < t->n[i]; k++) tesela__putf(&sink, "%c%" PRId64, k ? ',' : '(', t->tile[i][k]);
    tesela__putc(&sink, ')');
  }
  for (int32_t d = 0; d < t->n_strides; d++) tesela__putf(&sink, "%s%" PRId64, d ? "," : ",[", t->stride[d]);
  tesela__puts(&sink, "]>");
  return tesela__sink_finish(&sink, err);
}

typedef struct tpu_writing {
  tesela__tiled found;
  tpu_tiled text;
} tpu_writing;

static bool tpu_fit(void *user, const tesela__parts *parts, int32_t rank, const int64_t *shape) {
  tpu_writing *w = user;
  w->text = (tpu_tiled){.n_strides = rank};
  if (!tesela__fit_tiled(&w->found, parts, rank, shape) || !tpu_tiles_of(&w->found.blocks, &w->text))
    return false;
  if (!tesela__tiled_strides(&w->found, shape)) return false;
  for (int32_t d = 0; d < rank; d++) w->text.stride[d] = w->found.strides[d] / w->found.size;
  return true;
}

tesela_status tesela__mosaic_write(const tesela_layout *layout, const tesela_writer *to,
                                   tesela_translation *answer, tesela_error *err) {
  tpu_writing w = {.found = {.size = 1}};
  if (layout->n_axes != 1)
    return tesela__impossible(answer, "tiles place elements on one axis; the layout has %" PRId32,
                              layout->n_axes);
  if (layout->rank == 0) return tesela__impossible(answer, "tiles need a dim; the layout has none");
  tesela_status status =
      tesela__find_parts(layout, "tiles", TESELA__PARTS_SHARED, tpu_fit, &w, layout->shape, answer, err);
  if (status != TESELA_OK) return status;
  return answer->verdict == TESELA_IMPOSSIBLE ? tesela__tpu_write_vpad(layout, to, answer, err)
                                              : tpu_print(&w.text, to, err);
}
