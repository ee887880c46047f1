/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlir_pack.c - a line of linalg.pack or linalg.unpack: the places of the unpacked array in the packed one, which is row-major.
 *
 *   linalg.pack %a outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, 32] into %b
 *       : tensor<128x256xf32> -> tensor<8x16x8x32xf32>
 *
 * encoding_info of IREE has the same numbers as innerDimsPos, innerTileSizes and outerDimsPerm. Outer dim k of the result is dim outer_dims_perm[k] of the array, in tiles; then follow the tiles. Without tensor types the array is before the
 * text.
 */
#include "notation/memory/memory.h"

typedef struct pack_text {
  int64_t perm[TESELA_MAX_RANK], pos[TESELA_MAX_RANK], tiles[TESELA_MAX_RANK];
  int32_t n_perm, n_pos, n_tiles; /* -1: missing */
  tesela_xla_shape type[2];
  int32_t bits, n_types;
  size_t tiles_at;
  bool unpack;
} pack_text;

static tesela_status pack_list(tesela__reader *r, const char *what, int64_t *list, int32_t *n) {
  bool more = true;
  if (*n >= 0) return tesela__read_fail(r, TESELA_E_SYNTAX, r->at, "%s is given twice", what);
  *n = 0;
  tesela_status status = tesela__read_expect(r, '=', "before the list");
  if (status == TESELA_OK) status = tesela__read_expect(r, '[', "before the list");
  if (status == TESELA_OK && tesela__read_take(r, ']')) return TESELA_OK;
  while (status == TESELA_OK && more) {
    int c = tesela__read_peek(r);
    if (c == '%' || c == '?')
      return tesela__read_fail(r, TESELA_E_UNSUPPORTED, r->at,
                               "a value known at run time only; write a number");
    if (*n == TESELA_MAX_RANK)
      return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d dims", TESELA_MAX_RANK);
    status = tesela__read_integer(r, what, 0, INT64_MAX, &list[(*n)++]);
    if (status == TESELA_OK) status = tesela__read_more(r, ']', false, &more);
  }
  return status;
}

/* All pieces in any order; others are ignored. */
static tesela_status pack_parts(tesela__reader *r, pack_text *t) {
  tesela_status status = TESELA_OK;
  while (status == TESELA_OK && tesela__read_peek(r) >= 0) {
    if (tesela__read_take_text(r, "outer_dims_perm") || tesela__read_take_text(r, "outerDimsPerm")) {
      status = pack_list(r, "outer_dims_perm", t->perm, &t->n_perm);
    } else if (tesela__read_take_text(r, "inner_dims_pos") || tesela__read_take_text(r, "innerDimsPos")) {
      status = pack_list(r, "inner_dims_pos", t->pos, &t->n_pos);
    } else if (tesela__read_take_text(r, "inner_tiles") || tesela__read_take_text(r, "innerTileSizes")) {
      t->tiles_at = r->at;
      status = pack_list(r, "inner_tiles", t->tiles, &t->n_tiles);
    } else if (tesela__read_take_text(r, "swizzle")) {
      return tesela__read_fail(r, TESELA_E_UNSUPPORTED, r->at - strlen("swizzle"),
                               "the swizzle of an encoding is not read");
    } else if (tesela__read_take_text(r, "tensor<") || tesela__read_take_text(r, "memref<")) {
      if (t->n_types == 2) return tesela__read_fail(r, TESELA_E_SYNTAX, r->at, "more than two tensor types");
      status = tesela__mlir_type(r, &t->type[t->n_types++], &t->bits);
      if (status == TESELA_OK) status = tesela__read_expect(r, '>', "after the type");
    } else {
      size_t n = tesela__read_word(r);
      t->unpack = t->unpack || (n >= 6 && memcmp(r->text + r->at + n - 6, "unpack", 6) == 0);
      r->at += n > 0 ? n : 1;
    }
  }
  return status;
}

static tesela_status pack_blocks(const tesela__reader *r, const pack_text *t, int32_t rank,
                                 tesela__blocks *blocks) {
  bool seen[TESELA_MAX_RANK] = {false}, tiled[TESELA_MAX_RANK] = {false};
  *blocks = (tesela__blocks){.rank = rank};
  if ((t->n_pos < 0 || t->n_tiles < 0) && r->length > 6 && memcmp(r->text, "#iree_", 6) == 0)
    return tesela__read_fail(
        r, TESELA_E_UNSUPPORTED, 0,
        "this encoding has no places: expected innerDimsPos and innerTileSizes, as after IREE resolved it");
  if (t->n_pos < 0 || t->n_tiles < 0)
    return tesela__read_fail(r, TESELA_E_SYNTAX, r->length,
                             "expected inner_dims_pos = [..] and inner_tiles = [..]");
  if (t->n_pos != t->n_tiles)
    return tesela__read_fail(r, TESELA_E_SYNTAX, t->tiles_at,
                             "%" PRId32 " inner_tiles of %" PRId32 " inner_dims_pos", t->n_tiles, t->n_pos);
  if (t->n_perm > 0 && t->n_perm != rank)
    return tesela__read_fail(r, TESELA_E_MISMATCH, 0,
                             "outer_dims_perm has %" PRId32 " dims; the array has %" PRId32, t->n_perm, rank);
  for (int32_t k = 0; k < rank; k++) {
    int64_t d = t->n_perm > 0 ? t->perm[k] : k;
    if (d >= rank || seen[d])
      return tesela__read_fail(r, TESELA_E_INVALID, 0,
                               "outer_dims_perm is not a permutation of %" PRId32 " dims", rank);
    seen[d] = true;
    blocks->order[k] = (int32_t)d;
  }
  for (int32_t i = 0; i < t->n_pos; i++) {
    if (t->pos[i] >= rank || tiled[t->pos[i]])
      return tesela__read_fail(r, TESELA_E_INVALID, 0, "inner_dims_pos: dim %" PRId64 " is %s", t->pos[i],
                               t->pos[i] >= rank ? "not a dim of the array" : "listed twice");
    if (t->tiles[i] == 0)
      return tesela__read_fail(r, TESELA_E_RANGE, t->tiles_at, "a tile is 0; expected 1 or more");
    tiled[t->pos[i]] = true;
    blocks->inner[blocks->n++] = (tesela__inner_block){(int32_t)t->pos[i], t->tiles[i]};
  }
  return TESELA_OK;
}

/* The shape of the packed array. Returns its rank, or -1 if that is too large. */
static int32_t pack_shape(const tesela__blocks *blocks, const int64_t *shape, int64_t *packed) {
  if (blocks->rank + blocks->n > TESELA_MAX_RANK) return -1;
  for (int32_t k = 0; k < blocks->rank; k++) packed[k] = shape[blocks->order[k]];
  for (int32_t i = 0; i < blocks->n; i++) {
    for (int32_t k = 0; k < blocks->rank; k++)
      if (blocks->order[k] == blocks->inner[i].dim)
        packed[k] = tesela__ceil_div(packed[k], blocks->inner[i].extent);
    packed[blocks->rank + i] = blocks->inner[i].extent;
  }
  return blocks->rank + blocks->n;
}

tesela_status tesela__pack_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                tesela_any_layout *out, tesela_error *err) {
  tesela__reader r = {.text = text,
                      .length = length,
                      .err = err,
                      .blanks = TESELA__BLANKS_TEXT,
                      .word = TESELA__BYTE_NAME | TESELA__BYTE_DOT};
  pack_text t = {.n_perm = -1, .n_pos = -1, .n_tiles = -1, .bits = 8};
  tesela__blocks blocks;
  const tesela_xla_shape *array = NULL;
  int32_t bits;
  int64_t packed[TESELA_MAX_RANK];
  tesela_dtype dtype = tesela__given_dtype(options, &bits);
  tesela_status status = pack_parts(&r, &t);
  if (status != TESELA_OK) return status;
  if (t.n_types == 1)
    return tesela__read_fail(&r, TESELA_E_SYNTAX, length, "expected -> and the type of the result");
  if (t.n_types > 0)
    array = &t.type[t.unpack];
  else
    status = tesela__memory_array(options, -1, "the pack", &array, err);
  if (status == TESELA_OK) status = pack_blocks(&r, &t, array->rank, &blocks);
  if (status != TESELA_OK) return status;
  if (t.n_types > 0) {
    const tesela_xla_shape *result = &t.type[!t.unpack];
    int32_t n = pack_shape(&blocks, array->dim, packed);
    if (n != result->rank || memcmp(packed, result->dim, (size_t)n * sizeof packed[0]) != 0)
      return tesela__fail(err, TESELA_E_MISMATCH, 0, "the packed type is not what the tiles give");
  }
  if (dtype == TESELA_DTYPE_NONE && t.n_types > 0) {
    dtype = array->dtype;
    bits = t.bits;
  }
  out->kind = TESELA_KIND_RELATION;
  status = tesela__blocks_lower(&blocks, dtype, bits, array->dim, NULL, 0, &out->relation, err);
  return status == TESELA_OK ? tesela__memory_valid(options, &out->relation, err) : status;
}

static void pack_print_list(tesela__sink *sink, const char *word, const tesela__blocks *blocks, int which) {
  int32_t n = which == 0 ? blocks->rank : blocks->n;
  tesela__puts(sink, word);
  for (int32_t i = 0; i < n; i++) {
    if (i) tesela__puts(sink, ", ");
    tesela__put_int(sink, which == 0   ? blocks->order[i]
                          : which == 1 ? blocks->inner[i].dim
                                       : blocks->inner[i].extent);
  }
  tesela__puts(sink, "]");
}

static void pack_print_type(tesela__sink *sink, int32_t n, const int64_t *shape, const char *type) {
  tesela__puts(sink, "tensor<");
  for (int32_t d = 0; d < n; d++) tesela__putf(sink, "%" PRId64 "x", shape[d]);
  tesela__putf(sink, "%s>", type);
}

tesela_status tesela__pack_write(const tesela_layout *layout, const tesela_writer *to,
                                 tesela_translation *answer, tesela_error *err) {
  tesela__blocks blocks;
  tesela__sink sink;
  char text[16];
  const char *type = tesela__mlir_print_type(layout, text);
  bool tiled[TESELA_MAX_RANK] = {false}, ordered = true, padded = false;
  int64_t packed[TESELA_MAX_RANK];
  tesela_status status = tesela__blocks_find(layout, "pack", &blocks, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  for (int32_t i = 0; i < blocks.n; i++) {
    if (tiled[blocks.inner[i].dim])
      return tesela__impossible(answer,
                                "dim %" PRId32 " needs several tiles; linalg.pack has one for each dim",
                                blocks.inner[i].dim);
    tiled[blocks.inner[i].dim] = true;
    padded = padded || layout->shape[blocks.inner[i].dim] % blocks.inner[i].extent != 0;
  }
  int32_t n = pack_shape(&blocks, layout->shape, packed);
  if (n < 0)
    return tesela__impossible(answer, "the packed array would have more than %d dims", TESELA_MAX_RANK);
  for (int32_t k = 0; k < blocks.rank; k++) ordered = ordered && blocks.order[k] == k;
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, "linalg.pack %source");
  if (padded) tesela__putf(&sink, " padding_value(%%pad : %s)", type);
  if (!ordered) pack_print_list(&sink, " outer_dims_perm = [", &blocks, 0);
  pack_print_list(&sink, " inner_dims_pos = [", &blocks, 1);
  pack_print_list(&sink, " inner_tiles = [", &blocks, 2);
  tesela__puts(&sink, " into %dest : ");
  pack_print_type(&sink, layout->rank, layout->shape, type);
  tesela__puts(&sink, " -> ");
  pack_print_type(&sink, n, packed, type);
  return tesela__sink_finish(&sink, err);
}
