/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlir_memref.c - MLIR's memref with its layout, or a layout alone.
 *
 *   memref<4x8xf32>      memref<4x8xf32, strided<[16, 1], offset: 4>, 3>      f32[4,8] strided<[16, 1], offset: 4>
 */
#include "notation/memory/memory.h"

typedef struct memref_layout {
  bool strided;
  int64_t stride[TESELA_MAX_RANK], offset;
  int32_t n;
  size_t map, map_end; /* "affine_map<..>"; 0 without it */
  size_t tiled;        /* after "#tpu.tiled<"; 0 without it */
} memref_layout;

static tesela_status memref_dynamic(tesela__reader *r) {
  return tesela__read_fail(r, TESELA_E_UNSUPPORTED, r->at, "'?' is known at run time only; write a number");
}

/* "[16, 1], offset: 4>" after "strided<". */
static tesela_status memref_strided(tesela__reader *r, memref_layout *m) {
  bool more = true;
  m->strided = true;
  m->n = 0;
  tesela_status status = tesela__read_expect(r, '[', "before the strides");
  if (status == TESELA_OK && tesela__read_take(r, ']')) more = false;
  while (status == TESELA_OK && more) {
    if (tesela__read_peek(r) == '?') return memref_dynamic(r);
    if (m->n == TESELA_MAX_RANK)
      return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d dims", TESELA_MAX_RANK);
    status = tesela__read_any_integer(r, "a stride", TESELA_E_OVERFLOW, &m->stride[m->n++]);
    if (status == TESELA_OK) status = tesela__read_more(r, ']', false, &more);
  }
  if (status == TESELA_OK && tesela__read_take(r, ',')) {
    if (!tesela__read_take_text(r, "offset")) return tesela__read_unexpected(r, "offset", "");
    status = tesela__read_expect(r, ':', "after offset");
    if (status == TESELA_OK && tesela__read_peek(r) == '?') return memref_dynamic(r);
    if (status == TESELA_OK) status = tesela__read_any_integer(r, "an offset", TESELA_E_OVERFLOW, &m->offset);
  }
  return status == TESELA_OK ? tesela__read_expect(r, '>', "after the strides") : status;
}

/* A memory space: 3, "name", #gpu.address_space<workgroup>. Other attributes may be layouts. */
static tesela_status memref_space(tesela__reader *r) {
  static const char *const spaces[] = {"#gpu.address_space",    "#tpu.memory_space",
                                       "#hal.descriptor_type",  "#spirv.storage_class",
                                       "#amdgpu.address_space", "#xegpu.memory_space"};
  bool known = tesela__read_peek(r) != '#';
  for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
    size_t n = strlen(spaces[i]);
    known = known || (r->length - r->at > n && memcmp(r->text + r->at, spaces[i], n) == 0);
  }
  if (!known) return tesela__read_unexpected(r, "strided<..>, #tpu.tiled<..> or a memory space", "");
  int32_t depth = 0;
  size_t begin = r->at;
  for (; r->at < r->length && (depth > 0 || (r->text[r->at] != '>' && r->text[r->at] != ',')); r->at++) {
    if (r->text[r->at] == '<') depth++;
    if (r->text[r->at] == '>') depth--;
  }
  return r->at > begin ? TESELA_OK : tesela__read_unexpected(r, "a layout or a memory space", "");
}

/* Move past the ">" of an affine map; "->" is in it. */
static tesela_status memref_map_end(tesela__reader *r) {
  for (; r->at < r->length; r->at++)
    if (r->text[r->at] == '>' && r->text[r->at - 1] != '-') {
      r->at++;
      return TESELA_OK;
    }
  return tesela__read_unexpected(r, "'>' after the map", "");
}

static tesela_status memref_body(tesela__reader *r, tesela_xla_shape *array, int32_t *bits,
                                 memref_layout *m) {
  tesela_status status = tesela__mlir_type(r, array, bits);
  if (status == TESELA_OK && tesela__read_take(r, ',')) {
    if (tesela__read_take_text(r, "strided<")) {
      status = memref_strided(r, m);
    } else if (tesela__read_take_text(r, "affine_map<")) {
      m->map = r->at - strlen("affine_map<");
      status = memref_map_end(r);
      m->map_end = r->at;
    } else if (tesela__read_take_text(r, "#tpu.tiled<")) {
      m->tiled = r->at;
      const char *close = memchr(r->text + r->at, '>', r->length - r->at);
      if (!close) return tesela__read_unexpected(r, "#tpu.tiled<(8,128),[2,1]>", "");
      r->at = (size_t)(close - r->text) + 1;
    } else {
      return memref_space(r);
    }
    if (status == TESELA_OK && tesela__read_take(r, ',')) status = memref_space(r);
  }
  return status;
}

tesela_status tesela__mlir_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                tesela_any_layout *out, tesela_error *err) {
  tesela__reader r = {
      .text = text, .length = length, .err = err, .blanks = TESELA__BLANKS_TEXT, .word = TESELA__BYTE_NAME};
  memref_layout m = {.strided = false};
  tesela_xla_shape array;
  int32_t bits = 8, given;
  tesela_dtype dtype = tesela__given_dtype(options, &given);
  tesela_status status = TESELA_OK;
  if (tesela__read_take_text(&r, "memref<")) {
    status = memref_body(&r, &array, &bits, &m);
    if (status == TESELA_OK) status = tesela__read_expect(&r, '>', "after the memref");
    if (dtype == TESELA_DTYPE_NONE)
      dtype = array.dtype;
    else
      bits = given;
  } else if (tesela__read_take_text(&r, "strided<")) {
    const tesela_xla_shape *outside;
    status = memref_strided(&r, &m);
    if (status == TESELA_OK) status = tesela__memory_array(options, m.n, "the strided layout", &outside, err);
    if (status == TESELA_OK) array = *outside;
    bits = given;
  } else {
    return tesela__read_unexpected(&r, "memref<4x8xf32> or strided<[8, 1]>", "");
  }
  if (status == TESELA_OK) status = tesela__text_end(&r);
  if (status != TESELA_OK) return status;
  if (m.strided && m.n != array.rank)
    return tesela__fail(err, TESELA_E_MISMATCH, 0, "%" PRId32 " strides of %" PRId32 " dims", m.n,
                        array.rank);
  out->kind = TESELA_KIND_RELATION;
  if (m.map > 0) {
    tesela_layout_read_options inner = *options;
    array.dtype = dtype;
    inner.array = &array;
    status = tesela__affine_map_read(text + m.map, m.map_end - m.map, &inner, out, err);
    if (status != TESELA_OK && err && err->at >= 0) err->at += (int64_t)m.map;
    return status == TESELA_OK ? tesela__memory_valid(options, &out->relation, err) : status;
  }
  r.at = m.tiled;
  if (m.tiled > 0)
    status = tesela__tpu_tiled(&r, &array, dtype, bits, &out->relation);
  else
    status = tesela_layout_strided(&out->relation, dtype, bits, array.rank, array.dim,
                                   m.strided ? m.stride : NULL, m.offset, err);
  return status == TESELA_OK ? tesela__memory_valid(options, &out->relation, err) : status;
}

tesela_status tesela__mlir_write(const tesela_layout *layout, const tesela_writer *to,
                                 tesela_translation *answer, tesela_error *err) {
  int64_t strides[TESELA_MAX_RANK], offset, next = 1;
  bool row_major = true;
  char type[16];
  tesela__sink sink;
  tesela_status status = tesela__strided_find(layout, strides, &offset, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  for (int32_t d = layout->rank - 1; d >= 0; d--) {
    row_major = row_major && (strides[d] == next || layout->shape[d] < 2);
    if (!tesela__mul(next, tesela__max(layout->shape[d], 1), &next)) row_major = false;
  }
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, "memref<");
  for (int32_t d = 0; d < layout->rank; d++) tesela__putf(&sink, "%" PRId64 "x", layout->shape[d]);
  tesela__puts(&sink, tesela__mlir_print_type(layout, type));
  if (!row_major || offset != 0) {
    tesela__puts(&sink, ", strided<[");
    for (int32_t d = 0; d < layout->rank; d++) tesela__putf(&sink, "%s%" PRId64, d ? ", " : "", strides[d]);
    tesela__puts(&sink, "]");
    if (offset != 0) tesela__putf(&sink, ", offset: %" PRId64, offset);
    tesela__puts(&sink, ">");
  }
  tesela__puts(&sink, ">");
  return tesela__sink_finish(&sink, err);
}
