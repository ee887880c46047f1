/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mosaic_gpu.c - layouts of Mosaic for GPUs: the registers of a warpgroup.
 *
 *   TiledLayout(tiling=Tiling(tiles=((64, 8), (16, 8), (8, 8), (2,))), warp_dims=(-7,), lane_dims=(-3, -2), vector_dim=-1)
 *
 * The last dims of the array are tiled again and again; of the dims that result, counted from the end, some are the warps and lanes, the
 * first ones most significant, and one the elements of a register. The others number the registers, row-major. Replicated(times=4) is 4
 * copies.
 */
#include "base/base.h"
#include "notation/memory/memory.h"

enum { GPU_TILES = 16, GPU_DIMS = 16, GPU_LANES = 32, GPU_WARPS = 4 };

/* Tiled dims of the warps or lanes. */
typedef struct gpu_dims {
  int64_t dim[GPU_DIMS], copies[GPU_DIMS]; /* copies above 0: no dim */
  int32_t n;
} gpu_dims;

typedef struct gpu_text {
  int64_t tile[GPU_TILES][GPU_DIMS], vector;
  int32_t n[GPU_TILES], n_tiles;
  gpu_dims warps, lanes;
  bool have[4];
} gpu_text;

static tesela_status gpu_tile(tesela__reader *r, gpu_text *t) {
  if (t->n_tiles == GPU_TILES)
    return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d tiles", GPU_TILES);
  size_t begin = r->at;
  int32_t *n = &t->n[t->n_tiles];
  int64_t *tile = t->tile[t->n_tiles];
  tesela_status status =
      tesela__read_integers(r, '(', true, "a tile extent", TESELA_E_OVERFLOW, GPU_DIMS, tile, n);
  if (status != TESELA_OK) return status;
  for (int32_t k = 0; k < *n; k++)
    if (tile[k] < 1)
      return tesela__read_fail(r, TESELA_E_RANGE, begin, "a tile extent is %" PRId64 "; expected 1 or more",
                               tile[k]);
  if (*n == 0 || (t->n_tiles > 0 && *n > t->n[t->n_tiles - 1]))
    return tesela__read_fail(r, TESELA_E_INVALID, begin, "a tile of no dims, or of more than the one before");
  t->n_tiles++;
  return TESELA_OK;
}

/* Tiling(tiles=((64, 8), (16, 8))), or as it is printed for people: Tiling((64, 8)(16, 8)) */
static tesela_status gpu_tiling(tesela__reader *r, gpu_text *t) {
  bool more = true, tuple;
  if (!tesela__read_take_text(r, "fa.Tiling") && !tesela__read_take_text(r, "Tiling"))
    return tesela__read_unexpected(r, "Tiling(", "");
  tesela_status status = tesela__read_expect(r, '(', "after Tiling");
  tuple = tesela__read_take_text(r, "tiles");
  if (status == TESELA_OK && tuple) status = tesela__read_expect(r, '=', "after tiles");
  if (status == TESELA_OK && tuple) status = tesela__read_expect(r, '(', "before the tiles");
  while (status == TESELA_OK && more) {
    status = gpu_tile(r, t);
    if (status == TESELA_OK && tuple)
      status = tesela__read_more(r, ')', true, &more);
    else
      more = tesela__read_peek(r) == '(';
  }
  return status == TESELA_OK ? tesela__read_expect(r, ')', "after the tiles") : status;
}

/* "(-4, Replicated(times=8))" */
static tesela_status gpu_read_dims(tesela__reader *r, gpu_dims *dims) {
  bool more = !tesela__read_take_text(r, "()");
  tesela_status status = more ? tesela__read_expect(r, '(', "before the dims") : TESELA_OK;
  while (status == TESELA_OK && more) {
    if (dims->n == GPU_DIMS)
      return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d dims", GPU_DIMS);
    int32_t i = dims->n++;
    dims->copies[i] = 0;
    if (tesela__read_take_text(r, "fa.Replicated") || tesela__read_take_text(r, "Replicated")) {
      status = tesela__read_expect(r, '(', "after Replicated");
      if (status == TESELA_OK && tesela__read_take_text(r, "times"))
        status = tesela__read_expect(r, '=', "after times");
      if (status == TESELA_OK) status = tesela__read_integer(r, "copies", 1, GPU_LANES, &dims->copies[i]);
      if (status == TESELA_OK) status = tesela__read_expect(r, ')', "after the copies");
    } else {
      status = tesela__read_integer(r, "dim", -GPU_TILES * GPU_DIMS, -1, &dims->dim[i]);
    }
    if (status == TESELA_OK) status = tesela__read_more(r, ')', true, &more);
  }
  return status;
}

static const char *gpu_field_at(int32_t i) {
  static const char *const fields[] = {"tiling", "warp_dims", "lane_dims", "vector_dim", NULL};
  return fields[i];
}

static tesela_status gpu_read(tesela__reader *r, gpu_text *t) {
  bool more = true;
  int32_t field;
  if (!tesela__read_take_text(r, "fa.TiledLayout") && !tesela__read_take_text(r, "TiledLayout"))
    return tesela__read_unexpected(r, "TiledLayout(", "");
  tesela_status status = tesela__read_expect(r, '(', "after TiledLayout");
  while (status == TESELA_OK && more) {
    size_t n = tesela__read_word(r);
    for (field = 0; gpu_field_at(field) && !tesela__same_word(r->text + r->at, n, gpu_field_at(field));)
      field++;
    if (!gpu_field_at(field)) return tesela__read_unknown_of(r, r->at, n, "field", gpu_field_at);
    if (t->have[field])
      return tesela__read_fail(r, TESELA_E_SYNTAX, r->at, "%s is given twice", gpu_field_at(field));
    t->have[field] = true;
    r->at += n;
    status = tesela__read_expect(r, '=', "after the field");
    if (status != TESELA_OK) return status;
    if (field == 0)
      status = gpu_tiling(r, t);
    else if (field == 3)
      status = tesela__read_integer(r, "vector_dim", -GPU_TILES * GPU_DIMS, -1, &t->vector);
    else
      status = gpu_read_dims(r, field == 1 ? &t->warps : &t->lanes);
    if (status == TESELA_OK) status = tesela__read_more(r, ')', true, &more);
  }
  for (field = 0; status == TESELA_OK && field < 4; field++)
    if (!t->have[field])
      return tesela__read_fail(r, TESELA_E_SYNTAX, r->at, "%s is missing", gpu_field_at(field));
  return status == TESELA_OK ? tesela__text_end(r) : status;
}

/* ---- places ------------------------------------------------------------------------------------------------- */

/* The tiled dims as digits. */
typedef struct gpu_tiled {
  tesela_layout *layout;
  int32_t digit[TESELA_MAX_DIGITS], n;
  int32_t inner; /* dims that tiles make, at the end */
  bool used[TESELA_MAX_DIGITS];
  int32_t thread, local;
  tesela_error *err;
} gpu_tiled;

static tesela_status gpu_apply(const gpu_text *t, gpu_tiled *g) {
  for (int32_t i = 0; i < t->n_tiles; i++) {
    if (t->n[i] > g->n)
      return tesela__fail(g->err, TESELA_E_MISMATCH, 0,
                          "the tile has %" PRId32 " dims; the array has %" PRId32, t->n[i], g->n);
    if (g->n + t->n[i] > TESELA_MAX_DIGITS) return tesela__fail(g->err, TESELA_E_LIMIT, 0, "too many tiles");
    for (int32_t k = 0; k < t->n[i]; k++) {
      int32_t digit = g->digit[g->n - t->n[i] + k];
      int64_t extent = g->layout->digit[digit].extent;
      if (extent % t->tile[i][k] != 0)
        return tesela__fail(g->err, TESELA_E_INVALID, 0, "a tile of %" PRId64 " does not divide %" PRId64,
                            t->tile[i][k], extent);
      tesela_status status =
          tesela_layout_split(g->layout, digit, t->tile[i][k], &g->digit[g->n + k], g->err);
      if (status != TESELA_OK) return status;
    }
    g->n += t->n[i];
    g->inner += t->n[i];
  }
  return TESELA_OK;
}

static tesela_status gpu_take(gpu_tiled *g, int64_t dim, const char *what, int32_t *digit) {
  if (dim < -g->inner || g->used[g->n + dim])
    return tesela__fail(g->err, TESELA_E_INVALID, 0, "%s: dim %" PRId64 " is %s", what, dim,
                        dim < -g->inner ? "not a dim of the tiles" : "used twice");
  g->used[g->n + dim] = true;
  *digit = g->digit[g->n + dim];
  return TESELA_OK;
}

/* Warps or lanes: the last dim has the stride `stride`. */
static tesela_status gpu_place_threads(gpu_tiled *g, const gpu_dims *dims, const char *what, int64_t stride,
                                       int64_t size) {
  int64_t product = 1, extent;
  int32_t digit;
  tesela_status status = TESELA_OK;
  for (int32_t i = dims->n - 1; i >= 0 && status == TESELA_OK; i--) {
    if (dims->copies[i] == 1) continue;
    status = dims->copies[i] > 0
                 ? tesela_layout_add_digit(g->layout, TESELA_REPLICA, dims->copies[i], &digit, g->err)
                 : gpu_take(g, dims->dim[i], what, &digit);
    if (status != TESELA_OK) return status;
    extent = g->layout->digit[digit].extent;
    status = tesela_layout_place(g->layout, digit, g->thread, stride * product, g->err);
    if (!tesela__mul(product, tesela__max(extent, 1), &product) || product > size) break;
  }
  if (status == TESELA_OK && product != size)
    status = tesela__fail(g->err, TESELA_E_INVALID, 0, "the %s do not multiply to %" PRId64, what, size);
  return status;
}

static tesela_status gpu_place(const gpu_text *t, gpu_tiled *g) {
  int32_t vector = 0, rest[TESELA_MAX_DIGITS], n = 0;
  int64_t next = 1;
  tesela_status status = tesela_layout_add_axis(g->layout, "thread", &g->thread, g->err);
  if (status == TESELA_OK) status = tesela_layout_add_axis(g->layout, "local", &g->local, g->err);
  if (status == TESELA_OK) status = gpu_place_threads(g, &t->lanes, "lane_dims", 1, GPU_LANES);
  if (status == TESELA_OK) status = gpu_place_threads(g, &t->warps, "warp_dims", GPU_LANES, GPU_WARPS);
  if (status == TESELA_OK) status = gpu_take(g, t->vector, "vector_dim", &vector);
  if (status == TESELA_OK)
    status = tesela_layout_place_row_major(g->layout, 1, &vector, g->local, 1, &next, g->err);
  for (int32_t k = 0; k < g->n; k++)
    if (!g->used[k]) rest[n++] = g->digit[k];
  if (status == TESELA_OK)
    status = tesela_layout_place_row_major(g->layout, n, rest, g->local, next, NULL, g->err);
  return status == TESELA_OK ? tesela_layout_finish(g->layout, g->err) : status;
}

tesela_status tesela__mosaicgpu_read(const char *text, size_t length,
                                     const tesela_layout_read_options *options, tesela_any_layout *out,
                                     tesela_error *err) {
  tesela__reader r = {.text = text,
                      .length = length,
                      .err = err,
                      .blanks = TESELA__BLANKS_TEXT,
                      .word = TESELA__BYTE_NAME | TESELA__BYTE_DOT};
  gpu_text t = {.n_tiles = 0};
  gpu_tiled g = {.layout = &out->relation, .err = err};
  int32_t bits;
  const tesela_xla_shape *array = NULL;
  tesela_dtype dtype = tesela__given_dtype(options, &bits);
  tesela_status status = gpu_read(&r, &t);
  if (status == TESELA_OK) status = tesela__memory_array(options, -1, "the layout", &array, err);
  out->kind = TESELA_KIND_RELATION;
  if (status == TESELA_OK) status = tesela_layout_begin(g.layout, dtype, bits, array->rank, array->dim, err);
  if (status != TESELA_OK) return status;
  for (; g.n < array->rank; g.n++) g.digit[g.n] = g.n;
  status = gpu_apply(&t, &g);
  return status == TESELA_OK ? gpu_place(&t, &g) : status;
}
