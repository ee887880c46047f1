/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any.c - a layout in any notation: the table of notations, their names and the kinds of layout. any_read.c and any_value.c read,
 * lower and print through its rows.
 */
#include "notation/any.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"

/* ---- the rows ----------------------------------------------------------------------------------------------- */

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

enum { ANY_ROWS = sizeof any_rows / sizeof any_rows[0] };

/* Targets of tesela_translate beside the rows: tiles, which the row register reads, too. */
static const tesela__notation_row any_targets[] = {
    {.facts = {.name = "shared", .words = "a tile in shared memory", .written = true},
     .read = tesela__any_read_expression,
     .write = tesela__write_shared},
    {.facts = {.name = "global", .words = "a tile in global memory", .written = true},
     .read = tesela__any_read_expression,
     .write = tesela__write_global},
};

const tesela__notation_row *tesela__notation_rows(int32_t *n) {
  *n = ANY_ROWS;
  return any_rows;
}

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
  const char *name, *words;
} any_kinds[] = {
#define TESELA__ROW(symbol, value, name, words) {name, words},
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

/* ---- names -------------------------------------------------------------------------------------------------- */

void tesela__notation_names(bool written, char *out, size_t room) {
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

const char *tesela__notation_name(const void *user, int32_t i) {
  (void)user;
  return i < ANY_ROWS ? any_rows[i].facts.name : NULL;
}

tesela_status tesela__fail_target(const char *name, tesela_error *err) {
  char names[TESELA__NOTATION_NAMES];
  const char *near = tesela_nearest(name, strlen(name), tesela__notation_name, NULL);
  tesela__notation_names(true, names, sizeof names);
  if (near && strcmp(near, name) != 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "unknown notation '%.40s'; did you mean %s?", name,
                        near);
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "%s notation '%.40s'; expected %s, shared or global",
                      tesela__notation_row_of(name) ? "cannot write the" : "unknown", name, names);
}
