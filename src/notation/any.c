/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any.c - a layout in any notation: the table of notations; finds the notation of a text, and reads, lowers and prints
 * through its row.
 *
 *   " device: f16[8] stick()"   ->   blanks, the name of a kind or a notation, the text
 *   "f32[3,5] Layout(..)"       ->   the array, for notations that need one, the text
 */
#include "notation/any.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/reader.h"
#include "notation/device/device_read.h"

/* ---- the rows ----------------------------------------------------------------------------------------------- */

enum { ANY_XLA, ANY_EXPRESSION = 3, ANY_DEVICE }; /* rows for texts that no row claims */

/* any.h documents the fields of a row. Rows without kinds are only recognised, for messages. */
static const tesela__notation_row any_rows[] = {
    {.facts = {"xla", "an XLA layout", "f32[3,5]{1,0:T(2,2)}", 0, TESELA__KIND(TESELA_KIND_XLA), true},
     .looks_like = tesela__looks_xla,
     .read = tesela__any_read_xla,
     .print = tesela__any_print_xla,
     .to_layout = tesela__any_relate_xla,
     .write = tesela__write_xla},
    {.facts = {"jax", "a JAX layout", "f32[3,5] Layout(major_to_minor=(0, 1), tiling=((2, 2),))",
               TESELA_NEEDS_ARRAY, TESELA__KIND(TESELA_KIND_XLA), true},
     .looks_like = tesela__looks_jax,
     .read = tesela__any_read_jax,
     .print = tesela__any_print_jax,
     .to_layout = tesela__any_relate_xla,
     .write = tesela__write_jax},
    {.facts = {"tpu", "the layout that a TPU chooses", "f32[300,12] tpu(v5e)", TESELA_NEEDS_ARRAY,
               TESELA__KIND(TESELA_KIND_XLA), false},
     .looks_like = tesela__looks_tpu,
     .read = tesela__any_read_tpu,
     .print = tesela__any_print_xla,
     .to_layout = tesela__any_relate_xla},
    {.facts = {"register", "a register layout or a tile in memory", "local(3, 4).spatial(2, 3)", 0,
               TESELA__KIND(TESELA_KIND_REGISTER) | TESELA__KIND(TESELA_KIND_SHARED) |
                   TESELA__KIND(TESELA_KIND_GLOBAL),
               true},
     .looks_like = tesela__looks_expression,
     .read = tesela__any_read_expression,
     .print = tesela__any_print_expression,
     .to_layout = tesela__any_relate_expression,
     .write = tesela__write_register},
    {.facts = {"device", "a device layout", "f16[1000,200] stick(dim_order=[0,1])", TESELA_NEEDS_TARGET,
               TESELA__KIND(TESELA_KIND_DEVICE), true},
     .looks_like = tesela__looks_device,
     .read = tesela__any_read_device,
     .print = tesela__any_print_device,
     .to_layout = tesela__any_relate_device,
     .write = tesela__write_device},
    {.facts = {"map", "index arithmetic", "map(d0:3, d1:5) of f32 -> memory[15]: 5*d0 + d1", 0,
               TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_map,
     .read = tesela__any_read_map,
     .write = tesela__map_write},
    {.facts = {"cute", "a CuTe layout", "(4,8):(8,1)", TESELA_TAKES_ARRAY, TESELA__KIND(TESELA_KIND_RELATION),
               true},
     .looks_like = tesela__looks_cute,
     .read = tesela__any_read_cute,
     .write = tesela__cute_write},
    {.facts = {"triton", "a Triton layout", "f32[32,16] #ttg.blocked<{sizePerThread = [1, 4], ..}>",
               TESELA_NEEDS_ARRAY | TESELA_TAKES_ARRAY, TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_triton,
     .read = tesela__triton_read,
     .write = tesela__triton_write},
    {.facts = {"onednn", "a oneDNN tag", "f32[2,32,7,7] nChw16c", TESELA_NEEDS_ARRAY,
               TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_onednn,
     .read = tesela__onednn_read,
     .write = tesela__onednn_write},
    {.facts = {"verbose", "a tensor of a oneDNN verbose line",
               "onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:acdb::f0 "
               "dst_f32::blocked:abcd::f0,,,2x3x4x5,0.1",
               TESELA_TAKES_ARRAY, TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_verbose,
     .read = tesela__verbose_read,
     .write = tesela__verbose_write},
    {.facts = {"mlir", "an MLIR layout", "memref<4x8xf32, strided<[8, 1]>>", TESELA_TAKES_ARRAY,
               TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_mlir,
     .read = tesela__mlir_read,
     .write = tesela__mlir_write},
    {.facts = {"pack", "a linalg.pack line",
               "linalg.pack %a inner_dims_pos = [1] inner_tiles = [8] into %b : tensor<4x16xf32> -> "
               "tensor<4x2x8xf32>",
               TESELA_TAKES_ARRAY, TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_pack,
     .read = tesela__pack_read,
     .write = tesela__pack_write},
    {.facts = {"tvm", "a TVM layout", "f32[2,32,7,7] NCHW16c", TESELA_NEEDS_ARRAY,
               TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_tvm,
     .read = tesela__tvm_read,
     .write = tesela__tvm_write},
    {.facts = {"torch", "a size and stride of PyTorch", "torch.Size([2, 3]) (3, 1)", TESELA_TAKES_ARRAY,
               TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_torch,
     .read = tesela__torch_read,
     .write = tesela__torch_write},
    {.facts = {"mosaic", "a Mosaic layout", "bf16[64,128] #tpu.tiled<(8,128)(2,1),[1,1]>", TESELA_NEEDS_ARRAY,
               TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_mosaic,
     .read = tesela__mosaic_read,
     .write = tesela__mosaic_write},
    {.facts = {"iree", "an IREE encoding", "f32[4,64] #iree_encoding.padding<[0, 64]>", TESELA_NEEDS_ARRAY,
               TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_iree,
     .read = tesela__iree_read,
     .write = tesela__iree_write},
    {.facts = {"xegpu", "an XeGPU layout", "#xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>",
               TESELA_NEEDS_ARRAY, TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_xegpu,
     .read = tesela__xegpu_read,
     .write = tesela__xegpu_write},
    {.facts = {"mosaicgpu", "a Mosaic GPU layout",
               "TiledLayout(tiling=Tiling(tiles=((64, 8), (16, 8), (8, 8), (2,))), warp_dims=(-7,), "
               "lane_dims=(-3, -2), vector_dim=-1)",
               TESELA_NEEDS_ARRAY, TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_mosaicgpu,
     .read = tesela__mosaicgpu_read,
     .write = tesela__mosaicgpu_write},
    {.facts = {"affine_map", "an affine map of MLIR",
               "f32[64,64] affine_map<(d0, d1) -> (d0 floordiv 8, d1, d0 mod 8)>", TESELA_NEEDS_ARRAY,
               TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_affine_map,
     .read = tesela__affine_map_read,
     .write = tesela__affine_map_write},
    {.facts = {"index_map", "an index map of TVM", "f32[64,64] lambda i, j: (i // 8, j, i % 8)",
               TESELA_NEEDS_ARRAY, TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_index_map,
     .read = tesela__index_map_read,
     .write = tesela__index_map_write},
    {.facts = {"c", "C code", "static inline int64_t place(int64_t d0) {..}", 0, 0, true},
     .looks_like = tesela__looks_code,
     .write = tesela__c_write},
    {.facts = {"cuda", "CUDA code", "static __host__ __device__ int64_t place(int64_t d0) {..}", 0, 0, true},
     .looks_like = tesela__looks_code,
     .write = tesela__cuda_write},
    {.facts = {"axe", "an Axe layout", "S[(128, 256) : (1@TLane, 1@TCol)] + R[2 : 4@warpid] + 5@m",
               TESELA_TAKES_ARRAY, TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_axe,
     .read = tesela__axe_read,
     .print = tesela__axe_print_any,
     .write = tesela__axe_write},
    {.facts = {"numpy", "a NumPy expression", "f32[4,6] x.reshape(2, 2, 3, 2).transpose(0, 2, 1, 3)",
               TESELA_NEEDS_ARRAY, TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_numpy,
     .read = tesela__numpy_read,
     .write = tesela__numpy_write},
    {.facts = {"einops", "an einops pattern", "f32[2,12,3] b (h w) c -> b h w c h=4", TESELA_NEEDS_ARRAY,
               TESELA__KIND(TESELA_KIND_RELATION), true},
     .looks_like = tesela__looks_einops,
     .read = tesela__einops_read,
     .write = tesela__einops_write},
};

enum { ANY_ROWS = sizeof any_rows / sizeof any_rows[0], ANY_NAMES = 256 };

/* Targets of tesela_translate beside the rows: tiles, which the row register reads, too. */
static const tesela__notation_row any_targets[] = {
    {.facts = {.name = "shared", .words = "a tile in shared memory", .written = true},
     .read = tesela__any_read_expression,
     .write = tesela__write_shared},
    {.facts = {.name = "global", .words = "a tile in global memory", .written = true},
     .read = tesela__any_read_expression,
     .write = tesela__write_global},
};

const tesela__notation_row *tesela__notation_row_of(const char *name) {
  for (int i = 0; i < ANY_ROWS; i++)
    if (strcmp(any_rows[i].facts.name, name) == 0) return &any_rows[i];
  for (size_t i = 0; i < sizeof any_targets / sizeof any_targets[0]; i++)
    if (strcmp(any_targets[i].facts.name, name) == 0) return &any_targets[i];
  return NULL;
}

const tesela_notation *tesela_notation_at(int32_t i) {
  return i >= 0 && i < ANY_ROWS ? &any_rows[i].facts : NULL;
}

/* ---- kinds -------------------------------------------------------------------------------------------------- */

static const struct {
  tesela_kind kind;
  const char *name, *words;
} any_kinds[] = {
#define TESELA__ROW(symbol, value, name, words) {symbol, name, words},
    TESELA_KIND_MAP(TESELA__ROW)
#undef TESELA__ROW
};

enum { ANY_KINDS = sizeof any_kinds / sizeof any_kinds[0] };

const char *tesela_kind_name(tesela_kind kind) {
  return kind >= 1 && (int)kind <= ANY_KINDS ? any_kinds[kind - 1].name : NULL;
}

const char *tesela_kind_words(tesela_kind kind) {
  return kind >= 1 && (int)kind <= ANY_KINDS ? any_kinds[kind - 1].words : NULL;
}

/* ---- the request -------------------------------------------------------------------------------------------- */

/* A kind or a notation, requested by its name. */
typedef struct any_wanted {
  const char *name; /* NULL: no request */
  const char *words;
  tesela_kind kind; /* 0: any */
  const tesela__notation_row *row;
} any_wanted;

static bool any_is_word(const char *word, const char *text, size_t length) {
  return strlen(word) == length && memcmp(word, text, length) == 0;
}

/* The notations that tesela reads, or writes: "xla, jax, register, device". */
static void any_list_names(bool written, char *out, size_t room) {
  size_t n = 0;
  for (int i = 0; i < ANY_ROWS; i++)
    if ((written ? any_rows[i].facts.written : any_rows[i].read != NULL) && n < room)
      n += (size_t)snprintf(out + n, room - n, "%s%s", n ? ", " : "", any_rows[i].facts.name);
}

int tesela__notation_claims(const char *text, size_t length) {
  int claims = 0;
  for (int i = 0; i < ANY_ROWS; i++) claims += any_rows[i].looks_like(text, length);
  return claims;
}

static const char *any_name(const void *user, int32_t i) {
  (void)user;
  return i < ANY_ROWS ? any_rows[i].facts.name : NULL;
}

tesela_status tesela__fail_target(const char *name, tesela_error *err) {
  char names[ANY_NAMES];
  const char *near = tesela_nearest(name, strlen(name), any_name, NULL);
  any_list_names(true, names, sizeof names);
  if (near && strcmp(near, name) != 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "unknown notation '%.40s'; did you mean %s?", name,
                        near);
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%s notation '%.40s'; expected %s, shared or global",
                      tesela__notation_row_of(name) ? "cannot write the" : "unknown", name, names);
}

static tesela_status any_find_wanted(const char *name, size_t length, int64_t at, any_wanted *wanted,
                                     tesela_error *err) {
  char names[ANY_NAMES];
  for (int k = 0; k < ANY_KINDS; k++)
    if (any_is_word(any_kinds[k].name, name, length)) {
      *wanted = (any_wanted){any_kinds[k].name, any_kinds[k].words, any_kinds[k].kind, NULL};
      return TESELA_OK;
    }
  for (int i = 0; i < ANY_ROWS; i++)
    if (any_is_word(any_rows[i].facts.name, name, length)) {
      *wanted = (any_wanted){any_rows[i].facts.name, any_rows[i].facts.words, (tesela_kind)0, &any_rows[i]};
      return TESELA_OK;
    }
  const char *near = tesela_nearest(name, length, any_name, NULL);
  any_list_names(false, names, sizeof names);
  return tesela__fail(err, TESELA_E_UNSUPPORTED, at, "unknown notation '%.*s'; %s%s%s",
                      length < 40 ? (int)length : 40, name, near ? "did you mean " : "expected ",
                      near ? near : names, near ? "?" : ", shared or global");
}

static bool any_allows(const any_wanted *wanted, const tesela__notation_row *row) {
  if (wanted->row) return row == wanted->row;
  return wanted->kind == 0 || (row->facts.kinds >> wanted->kind & 1) != 0;
}

/* ---- the notation of a text --------------------------------------------------------------------------------- */

/* A text and its parts. */
typedef struct any_text {
  const char *text; /* without leading blanks, after an optional `name:` */
  size_t length, used;
  size_t trimmed; /* length without trailing blanks */
  size_t at;      /* offset in the whole text */
  size_t array;   /* bytes of an array before the layout */
  any_wanted named, demanded;
} any_text;

static bool any_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static tesela_status any_split(const char *text, size_t length, const char *demanded, any_text *t,
                               tesela_error *err) {
  size_t at = 0, n = 0;
  tesela_status status = TESELA_OK;
  *t = (any_text){.text = text, .length = length};
  if (demanded) status = any_find_wanted(demanded, strlen(demanded), -1, &t->demanded, err);
  if (status != TESELA_OK) return status;
  while (at < length && any_blank(text[at])) at++;
  while (at + n < length && ((text[at + n] >= 'a' && text[at + n] <= 'z') || text[at + n] == '_')) n++;
  if (n > 0 && at + n < length && text[at + n] == ':') {
    bool tensor = tesela__looks_verbose(text + at, length - at); /* src:f32::blocked:abcd::f0 */
    status = any_find_wanted(text + at, n, (int64_t)at, &t->named, tensor ? NULL : err);
    if (status == TESELA_OK || !tensor) t->used = at + n + 1;
    if (tensor) status = TESELA_OK;
    for (at = t->used > at ? t->used : at; at < length && any_blank(text[at]);) at++;
  }
  t->text = text + at;
  t->at = at;
  t->length = t->trimmed = length - at;
  while (t->trimmed > 0 && any_blank(t->text[t->trimmed - 1])) t->trimmed--;
  t->array = tesela__array_before(t->text, t->trimmed);
  return status;
}

static size_t any_array_before(const tesela__notation_row *row, const any_text *t) {
  return row->facts.needs & (TESELA_NEEDS_ARRAY | TESELA_TAKES_ARRAY) ? t->array : 0;
}

static bool any_claims(const tesela__notation_row *row, const any_text *t) {
  size_t skip = any_array_before(row, t);
  return row->looks_like(t->text + skip, t->trimmed - skip);
}

static tesela_status any_find_row(const any_text *t, const tesela__notation_row **row, tesela_error *err) {
  const tesela__notation_row *claim[2] = {NULL, NULL}, *other = NULL, *allowed = NULL;
  int n = 0;
  for (int i = ANY_ROWS - 1; i >= 0; i--) { /* backwards: `other` and `allowed` end as the first */
    bool may = any_allows(&t->named, &any_rows[i]) && any_allows(&t->demanded, &any_rows[i]);
    if (may) allowed = &any_rows[i];
    if (!any_claims(&any_rows[i], t)) continue;
    if (!may) other = &any_rows[i];
    if (may && n < 2) claim[n++] = &any_rows[i];
  }
  if (n == 2)
    return tesela__fail(err, TESELA_E_INVALID, (int64_t)t->at,
                        "ambiguous: %s or %s; write %s: or %s: before it", claim[1]->facts.words,
                        claim[0]->facts.words, claim[1]->facts.name, claim[0]->facts.name);
  if (n == 1)
    *row = claim[0];
  else if (other)
    *row = other;
  else if (allowed && (t->named.name || t->demanded.name))
    *row = allowed;
  else
    *row = &any_rows[tesela__device_near(t->text, t->trimmed)       ? ANY_DEVICE
                     : tesela__near_expression(t->text, t->trimmed) ? ANY_EXPRESSION
                                                                    : ANY_XLA];
  return TESELA_OK;
}

tesela_status tesela_notation_find(const char *text, size_t length, const tesela_notation **notation,
                                   size_t *used, tesela_error *err) {
  TESELA__NEED(err, notation);
  TESELA__NEED_LIST(err, text, length);
  any_text t;
  const tesela__notation_row *row;
  tesela_status status = any_split(text, length, NULL, &t, err);
  if (status == TESELA_OK) status = any_find_row(&t, &row, err);
  if (status != TESELA_OK) return status;
  *notation = &row->facts;
  if (used) *used = t.used;
  return TESELA_OK;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

/* Shift positions found in a part of a text, so that they count from the start of the whole text. */
static tesela_status any_shift(tesela_status status, size_t by, tesela_xla_repairs *repairs,
                               tesela_error *err) {
  if (status != TESELA_OK && err && err->at >= 0) err->at += (int64_t)by;
  for (int32_t i = 0; status == TESELA_OK && i < repairs->count && i < TESELA_XLA_MAX_REPAIRS; i++)
    repairs->repair[i].at += (int64_t)by;
  return status;
}

/* Can a layout of this row satisfy the request? A device layout may become an XLA layout, both a tile in memory, a relation any of the
 * other kinds. */
static bool any_can_be(const any_wanted *wanted, const tesela__notation_row *row) {
  const bool device = row->facts.kinds == TESELA__KIND(TESELA_KIND_DEVICE);
  const bool memory = device || row->facts.kinds == TESELA__KIND(TESELA_KIND_XLA);
  return any_allows(wanted, row) || row->facts.kinds == TESELA__KIND(TESELA_KIND_RELATION) ||
         (wanted->kind == TESELA_KIND_XLA && device) ||
         ((wanted->kind == TESELA_KIND_SHARED || wanted->kind == TESELA_KIND_GLOBAL) && memory);
}

static tesela_status any_refuse(const any_text *t, const any_wanted *wanted, const char *words,
                                tesela_error *err) {
  if (wanted == &t->named)
    return tesela__fail(err, TESELA_E_MISMATCH, (int64_t)t->at, "this is %s, but %s: expects %s", words,
                        wanted->name, wanted->words);
  return tesela__fail(err, TESELA_E_MISMATCH, (int64_t)t->at, "expected %s, found %s", wanted->words, words);
}

static tesela_status any_check_row(const any_text *t, const tesela__notation_row *row, bool array,
                                   tesela_error *err) {
  const any_wanted *wanted[] = {&t->named, &t->demanded};
  if (!row->read) {
    char names[ANY_NAMES];
    any_list_names(false, names, sizeof names);
    return tesela__fail(err, TESELA_E_UNSUPPORTED, (int64_t)t->at,
                        "this is %s (%s), which tesela does not read yet; it reads %s", row->facts.words,
                        row->facts.name, names);
  }
  for (int i = 0; i < 2; i++)
    if (!any_can_be(wanted[i], row)) return any_refuse(t, wanted[i], row->facts.words, err);
  if (!array && (row->facts.needs & (TESELA_NEEDS_ARRAY | TESELA_TAKES_ARRAY)) == TESELA_NEEDS_ARRAY)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, (int64_t)t->at, "%s needs type and dims before it: %s",
                        row->facts.words, row->facts.example);
  return TESELA_OK;
}

/* Convert the layout to the requested kind, or refuse it. */
static tesela_status any_check_kind(const any_text *t, tesela_any_layout *any, tesela_error *err) {
  const any_wanted *wanted[] = {&t->named, &t->demanded};
  for (int i = 0; i < 2; i++) {
    if (wanted[i]->kind == 0 || wanted[i]->kind == any->kind) continue;
    if (!tesela__any_may_become(any, wanted[i]->kind))
      return any_refuse(t, wanted[i], tesela_kind_words(any->kind), err);
    tesela_status status = tesela__any_become(any, wanted[i]->kind, err);
    if (status != TESELA_OK && err && err->at < 0) err->at = (int64_t)t->at;
    if (status != TESELA_OK) return status;
    any->notation = &any_rows[any->kind == TESELA_KIND_XLA ? ANY_XLA : ANY_EXPRESSION].facts;
  }
  return TESELA_OK;
}

/* The bytes of a value that its kind uses: the head and one member. */
static size_t any_bytes(const tesela_any_layout *any) {
  size_t bytes = 0;
  switch (any->kind) {
  case TESELA_KIND_XLA:
    bytes = sizeof any->shape;
    break;
  case TESELA_KIND_REGISTER:
    bytes = sizeof any->registers;
    break;
  case TESELA_KIND_SHARED:
  case TESELA_KIND_GLOBAL:
    bytes = sizeof any->memory;
    break;
  case TESELA_KIND_DEVICE:
    bytes = sizeof any->device;
    break;
  case TESELA_KIND_RELATION:
    bytes = sizeof any->relation;
    break;
  }
  return offsetof(tesela_any_layout, shape) + bytes;
}

/* "f32[3,5]", or "[3,5]" without a type. */
static tesela_status any_read_array(const char *text, size_t length, int32_t flags, tesela_xla_shape *array,
                                    tesela_xla_repairs *repairs, tesela_error *err) {
  tesela__reader r = {.text = text, .length = length, .err = err};
  if (text[0] != '[') return tesela_xla_parse(text, length, flags, array, repairs, err);
  *array = (tesela_xla_shape){.dtype = TESELA_DTYPE_NONE};
  tesela_status status = tesela__read_integers(&r, '[', false, "an extent", TESELA_E_OVERFLOW,
                                               TESELA_MAX_RANK, array->dim, &array->rank);
  for (int32_t d = 0; status == TESELA_OK && d < array->rank; d++)
    if (array->dim[d] < 0) status = tesela__fail(err, TESELA_E_RANGE, 0, "an extent is below 0");
  return status;
}

tesela_status tesela_layout_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                 tesela_any_layout *out, tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, text, length);
  TESELA__NEED_CLEAR(err, options);
  tesela_layout_read_options given =
      options ? *options : (tesela_layout_read_options){.flags = TESELA_XLA_STRICT};
  const tesela__notation_row *row = NULL;
  tesela_any_layout any; /* *out keeps its value on failure */
  tesela_xla_shape array;
  any_text t;
  any.repairs.count = 0;
  tesela_status status = any_split(text, length, given.notation, &t, err);
  if (status == TESELA_OK) status = any_find_row(&t, &row, err);
  if (status != TESELA_OK) return status;
  size_t skip = any_array_before(row, &t);
  status = any_check_row(&t, row, given.array || skip > 0, err);
  if (status == TESELA_OK && skip > 0) {
    status = any_shift(any_read_array(t.text, skip, given.flags, &array, &any.repairs, err), t.at,
                       &any.repairs, err);
    given.array = &array;
  }
  if (status != TESELA_OK) return status;
  any.notation = &row->facts;
  status = row->read(t.text + skip, t.length - skip, &given, &any, err);
  status = any_shift(status, t.at + skip, &any.repairs, err);
  if (status == TESELA_OK) status = any_check_kind(&t, &any, err);
  if (status == TESELA_OK) memcpy(out, &any, any_bytes(&any));
  return status;
}
