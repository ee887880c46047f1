/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mosaic_tpu.c - attributes of Mosaic for TPUs.
 *
 *   #tpu.tiled<(8,128)(2,1),[16,1]>     memory: the last dims in tiles, tiles in tiles; strides of the outer dims, in tiles
 *   #tpu.vpad<"32,{0,3},(8,128)">       vector registers of 8 x 128 x 32 bits: width, where the first element is, tile of the last two dims
 *
 * Registers of vpad are numbered row-major, like their sublanes, lanes and the elements in 32 bits; `*` is a copy in each sublane or lane;
 * -1 and -2 are implicit dims of extent 1.
 */
#include "base/base.h"
#include "notation/memory/memory.h"

enum { TPU_SUBLANES = 8, TPU_LANES = 128, TPU_TILE_RANK = 8, TPU_TILES = 16 };

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

/* ---- vpad --------------------------------------------------------------------------------------------------- */

typedef struct tpu_vpad {
  int64_t bits, offset[2], tile[2]; /* offset -1: copies */
  bool minor, second_minor;         /* implicit */
} tpu_vpad;

static tesela_status tpu_read_vpad(tesela__reader *r, tpu_vpad *v) {
  tesela_status status = TESELA_OK;
  *v = (tpu_vpad){.bits = 0};
  if (tesela__read_take_text(r, "none"))
    return tesela__read_fail(r, TESELA_E_UNSUPPORTED, r->at - 4, "the value is not in vector registers");
  status = tesela__read_integer(r, "width", 1, 32, &v->bits);
  if (status == TESELA_OK && (v->bits & (v->bits - 1)) != 0)
    status = tesela__read_fail(r, TESELA_E_RANGE, r->at,
                               "the width is %" PRId64 "; expected 1, 2, 4, 8, 16 or 32", v->bits);
  if (status == TESELA_OK) status = tesela__read_expect(r, ',', "after the width");
  if (status == TESELA_OK) status = tesela__read_expect(r, '{', "before the offsets");
  for (int k = 0; k < 2 && status == TESELA_OK; k++) {
    v->offset[k] = -1;
    if (!tesela__read_take(r, '*')) status = tesela__read_integer(r, "offset", 0, INT32_MAX, &v->offset[k]);
    if (status == TESELA_OK) status = tesela__read_expect(r, k ? '}' : ',', "after the offset");
  }
  if (status == TESELA_OK) status = tesela__read_expect(r, ',', "after the offsets");
  if (status == TESELA_OK) status = tesela__read_expect(r, '(', "before the tile");
  for (int k = 0; k < 2 && status == TESELA_OK; k++) {
    status = tesela__read_integer(r, "tile extent", 1, INT32_MAX, &v->tile[k]);
    if (status == TESELA_OK) status = tesela__read_expect(r, k ? ')' : ',', "after the tile extent");
  }
  while (status == TESELA_OK && tesela__read_take(r, ',')) {
    int64_t dim;
    status = tesela__read_integer(r, "implicit dim", -2, -1, &dim);
    if (status == TESELA_OK) *(dim == -1 ? &v->minor : &v->second_minor) = true;
  }
  return status;
}

static tesela_status tpu_check_vpad(const tesela__reader *r, const tpu_vpad *v) {
  int64_t packing = 32 / v->bits;
  if (v->tile[1] != TPU_LANES || v->tile[0] % packing != 0 || TPU_SUBLANES * packing % v->tile[0] != 0)
    return tesela__read_fail(r, TESELA_E_UNSUPPORTED, 0,
                             "tiles of %" PRId64 "x%" PRId64
                             " are not read; expected 128 columns, and rows that fill 32 bits "
                             "and divide the %" PRId64 " rows of a register",
                             v->tile[0], v->tile[1], TPU_SUBLANES * packing);
  for (int k = 0; k < 2; k++) {
    int64_t slice = k ? TPU_LANES * (TPU_SUBLANES * packing / v->tile[0]) : v->tile[0];
    if (v->offset[k] >= slice)
      return tesela__read_fail(r, TESELA_E_RANGE, 0, "an offset is %" PRId64 "; expected 0 to %" PRId64,
                               v->offset[k], slice - 1);
  }
  return TESELA_OK;
}

/* The digit of one of the last two dims: implicit ones are holes of extent 1, `*` is a replica over the whole register. */
static tesela_status tpu_vpad_dim(const tpu_vpad *v, int which, bool implicit, int32_t dim, int64_t slice,
                                  tesela_layout *out, int32_t *digit, tesela_error *err) {
  if (!implicit && v->offset[which] < 0 && out->shape[dim] != 1)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, 0,
                        "copies along a dim of %" PRId64 " elements: `*` is read for dims of extent 1",
                        out->shape[dim]);
  if (v->offset[which] < 0) {
    if (slice == 1) return tesela_layout_add_digit(out, TESELA_HOLE, 1, digit, err);
    return tesela_layout_add_digit(out, TESELA_REPLICA, slice, digit, err);
  }
  if (!implicit) return tesela_layout_shift(out, dim, v->offset[which], digit, err);
  return tesela_layout_add_digit(out, TESELA_HOLE, 1, digit, err);
}

static tesela_status tpu_lower_vpad(const tpu_vpad *v, const tesela_xla_shape *array, tesela_dtype dtype,
                                    tesela_layout *out, tesela_error *err) {
  int64_t packing = 32 / v->bits, tiles = TPU_SUBLANES * packing / v->tile[0],
          size = TPU_SUBLANES * TPU_LANES * packing;
  int64_t next = 1, first = 0;
  bool implicit[2] = {v->second_minor, v->minor};
  int32_t rank = array->rank, n = rank - !v->minor - !v->second_minor, axis = 0, grid[TESELA_MAX_RANK + 2],
          n_grid = 0;
  int32_t digit[2], part[4] = {0};
  if (n < 0)
    return tesela__fail(err, TESELA_E_MISMATCH, 0, "the layout is of %d dims or more; the array has %" PRId32,
                        2 - v->minor - v->second_minor, rank);
  tesela_status status = tesela_layout_begin(out, dtype, (int32_t)v->bits, rank, array->dim, err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(out, "memory", &axis, err);
  for (int32_t d = 0; d < n; d++) grid[n_grid++] = d;
  for (int k = 0; k < 2 && status == TESELA_OK; k++) {
    int32_t dim = k == 0 ? n : n + !v->second_minor;
    int64_t slice = k == 0 ? v->tile[0] : tiles * TPU_LANES, stride[2], extent[2];
    status = tpu_vpad_dim(v, k, implicit[k], dim, slice, out, &digit[k], err);
    if (status != TESELA_OK) return status;
    /* in a register: rows of 32 bits, elements in these; tiles, lanes */
    extent[0] = k == 0 ? v->tile[0] / packing : tiles;
    extent[1] = k == 0 ? packing : TPU_LANES;
    stride[0] = k == 0 ? TPU_LANES * packing : v->tile[0] * TPU_LANES;
    stride[1] = k == 0 ? 1 : packing;
    if (v->offset[k] < 0 || implicit[k]) { /* at the offset, or everywhere */
      int64_t at = tesela__max(v->offset[k], 0);
      first += at / extent[1] * stride[0] + at % extent[1] * stride[1];
      if (v->offset[k] >= 0 || slice == 1) {
        status = tesela_layout_place(out, digit[k], axis, 1, err);
      } else {
        if (extent[1] > 1 && extent[0] > 1)
          status = tesela_layout_split(out, digit[k], extent[1], &part[0], err);
        if (status == TESELA_OK && extent[1] > 1 && extent[0] > 1)
          status = tesela_layout_place(out, part[0], axis, stride[1], err);
        if (status == TESELA_OK)
          status = tesela_layout_place(out, digit[k], axis, extent[0] > 1 ? stride[0] : stride[1], err);
      }
      if (status == TESELA_OK && !implicit[k]) status = tesela_layout_place(out, dim, axis, 1, err);
      continue;
    }
    status = tesela_layout_split(out, digit[k], slice, &part[0], err);
    if (status == TESELA_OK) status = tesela_layout_split(out, part[0], extent[1], &part[1], err);
    if (status == TESELA_OK) status = tesela_layout_place(out, part[0], axis, stride[0], err);
    if (status == TESELA_OK) status = tesela_layout_place(out, part[1], axis, stride[1], err);
    grid[n_grid++] = digit[k];
  }
  if (status == TESELA_OK) status = tesela_layout_place_row_major(out, n_grid, grid, axis, size, &next, err);
  if (status == TESELA_OK) /* whole registers */
    status = tesela_layout_set_axis(out, axis, first, next, err);
  return status == TESELA_OK ? tesela_layout_finish(out, err) : status;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

tesela_status tesela__mosaic_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                  tesela_any_layout *out, tesela_error *err) {
  tesela__reader r = {
      .text = text, .length = length, .err = err, .blanks = TESELA__BLANKS_TEXT, .word = TESELA__BYTE_NAME};
  tpu_vpad v;
  int32_t bits;
  const tesela_xla_shape *array;
  tesela_dtype dtype = tesela__given_dtype(options, &bits);
  tesela_status status = tesela__memory_array(options, -1, "the attribute", &array, err);
  out->kind = TESELA_KIND_RELATION;
  if (status != TESELA_OK) return status;
  if (tesela__read_take_text(&r, "#tpu.tiled<")) {
    status = tesela__tpu_tiled(&r, array, dtype, bits, &out->relation);
  } else if (tesela__read_take_text(&r, "#tpu.vpad<")) {
    status = tesela__read_expect(&r, '"', "before the width");
    if (status == TESELA_OK) status = tpu_read_vpad(&r, &v);
    if (status == TESELA_OK) status = tesela__read_expect(&r, '"', "after the layout");
    if (status == TESELA_OK) status = tesela__read_expect(&r, '>', "after the layout");
    if (status == TESELA_OK) status = tpu_check_vpad(&r, &v);
    if (status == TESELA_OK && dtype != TESELA_DTYPE_NONE && tesela_dtype_bits(dtype) != v.bits &&
        dtype != TESELA_PRED)
      status = tesela__fail(err, TESELA_E_MISMATCH, 0,
                            "the layout is of %" PRId64 " bits; the type %s has %" PRId32, v.bits,
                            tesela_dtype_name(dtype), tesela_dtype_bits(dtype));
    if (status == TESELA_OK) status = tpu_lower_vpad(&v, array, dtype, &out->relation, err);
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

/* Strides in tiles; a dim of one tile has that of a row-major array. */
static void tpu_strides_of(const tesela_layout *layout, const tesela__blocks *blocks, const int64_t *strides,
                           tpu_tiled *t) {
  int64_t size = 1, outer[TESELA_MAX_RANK];
  t->n_strides = layout->rank;
  for (int32_t d = 0; d < layout->rank; d++) outer[d] = layout->shape[d];
  for (int32_t i = 0; i < blocks->n; i++) size *= blocks->inner[i].extent;
  for (int32_t i = blocks->n - 1; i >= 0; i--)
    outer[blocks->inner[i].dim] = tesela__ceil_div(outer[blocks->inner[i].dim], blocks->inner[i].extent);
  for (int32_t d = layout->rank - 1; d >= 0; d--) {
    int64_t next = 1;
    if (d + 1 < layout->rank && !tesela__mul(t->stride[d + 1], tesela__max(outer[d + 1], 1), &next)) next = 1;
    t->stride[d] = outer[d] < 2 ? next : strides[d] / size;
  }
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

tesela_status tesela__mosaic_write(const tesela_layout *layout, const tesela_writer *to,
                                   tesela_translation *answer, tesela_error *err) {
  int64_t strides[TESELA_MAX_RANK], origin[TESELA_MAX_RANK] = {0}, place = 0, elements = 1;
  tesela__blocks blocks = {.rank = layout->rank};
  tpu_tiled t = {.n_tiles = 0};
  tesela_xla_shape array = {.rank = layout->rank};
  tesela_layout tiled;
  tesela_difference difference = {.same = true};
  char text[64];
  bool found = true;
  if (layout->n_axes != 1)
    return tesela__impossible(answer, "tiles place elements on one axis; the layout has %" PRId32,
                              layout->n_axes);
  if (layout->rank == 0) return tesela__impossible(answer, "tiles need a dim; the layout has none");
  if (tesela_layout_copies(layout) != 1)
    return tesela__impossible(answer, "tiles give each element one place; the layout gives it %" PRId64,
                              tesela_layout_copies(layout));
  for (int32_t d = 0; d < layout->rank; d++) {
    array.dim[d] = layout->shape[d];
    elements = layout->shape[d] == 0 ? 0 : elements;
    strides[d] = 1;
  }
  tesela_status status = elements == 0 ? TESELA_OK : tesela_layout_place_of(layout, origin, &place, err);
  if (status == TESELA_OK && place != 0) {
    answer->contradiction = TESELA_CONTRADICTION_PLACE;
    answer->place = place;
    return tesela__impossible(answer, "tiles have no offset: element 0 is at %" PRId64, place);
  }
  if (status == TESELA_OK && elements > 0)
    status = tesela__blocks_with_strides(layout, &blocks, strides, &found, err);
  if (status != TESELA_OK) return status;
  if (!found)
    return tesela__impossible(answer,
                              "no tiles: some dim does not begin again at a multiple of the tile before");
  if (!tpu_tiles_of(&blocks, &t))
    return tesela__impossible(answer, "the layout needs more than %d tiles, or tiles of more than %d dims",
                              TPU_TILES, TPU_TILE_RANK);
  tpu_strides_of(layout, &blocks, strides, &t);
  status = tpu_lower_tiled(&t, &array, layout->dtype, layout->bits, &tiled, err);
  if (status != TESELA_OK) return status;
  memcpy(tiled.axis[0].name, layout->axis[0].name, sizeof tiled.axis[0].name);
  if (elements > 0) status = tesela_layout_compare(layout, &tiled, &difference, err);
  if (status != TESELA_OK) return status;
  if (!difference.same)
    return tesela__impossible(answer, "no tiles: element %s is elsewhere than its neighbours require",
                              tesela__blocks_index(difference.index, layout->rank, text));
  return tpu_print(&t, to, err);
}
