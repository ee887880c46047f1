/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layout_read.c - any layout text: its notation, its value, refusals.
 *
 * Places are computed by hand from the definitions; corpora are those of the fuzzers and of the documents: what one reader takes
 * must be claimed by the row of that reader, and no text by two.
 */
#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tesela/notation.h>
#include <tesela/xla.h>

/* ---- which notation ----------------------------------------------------------------------------------------- */

static const struct {
  const char *notation, *text;
} begins[] = {
    {"xla", "f32[3,5]{1,0:T(2,2)}"},
    {"xla", " f32 [3,5] "},
    {"xla", "{1,0:T(8,128)}"},
    {"xla", "{}"},
    {"xla", "((f32[3], s32[]), pred[2]{0})"},
    {"xla", "token[]"},
    {"xla", "xla: f32[3,5]{1,0}"},
    {"jax", "Layout(major_to_minor=(0, 1), tiling=((8, 128),))"},
    {"jax", "f32[3,5] Layout(major_to_minor=(0, 1))"},
    {"jax", "bf16[8]DeviceLocalLayout((0,))"},
    {"jax", "f32[3] jax.experimental.layout.Layout(major_to_minor=(0,))"},
    {"jax", "Format(Layout(major_to_minor=(0, 1)), SingleDeviceSharding(device=CpuDevice(id=0)))"},
    {"register", "local(3, 4).spatial(2, 3)"},
    {"register", "(spatial(2) * local(3))"},
    {"register", "mma.m16n8k16.f16.A"},
    {"register", "shared_row_major(8, 64)"},
    {"register", "RegisterLayout(shape=[4], mode_shape=[4], spatial_modes=[0], local_modes=[])"},
    {"device", "((4, 1000, 64), (64000, 64, 1), (64, 200, 1))"},
    {"device", "f16[1000,200] ((4, 1000, 64), (64000, 64, 1), (64, 200, 1))"},
    {"device", "f16[1000,200] stick(dim_order=[0,1])"},
    {"device", "stick()"},
    {"device", "torch.spyre.SpyreTensorLayout(device_size=[4,1000,64], dim_map=[1,0,1])"},
    {"cute", "(4,8):(8,1)"},
    {"cute", "(_4,_8):(_8,_1)"},
    {"cute", "((2,2),(4,2)):((4,16),(1,8))"},
    {"cute", "((2, 2), (4, 2)) : ((4, 16), (1, 8))"},
    {"cute", "8:1"},
    {"cute", "(4,):(1,)"},
    {"cute", "f32[4,8] (4,8):(8,1)"},
    {"cute", "Layout<Shape<_4,_8>,Stride<_8,_1>>"},
    {"cute", "Swizzle<3,3,3> o 0 o (8,64):(64,1)"},
    {"cute", "Sw<2,1,2> o 0 o (4,8):(8,1)"},
    {"cute", "SW_2_1_2 o 0 o (4,8):(8,1)"},
    {"cute", "composition(Swizzle<2,1,2>{}, Layout<Shape<_4,_8>>{})"},
    {"cute", "make_layout(make_shape(4, 8), make_stride(8, 1))"},
    {"triton",
     "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>"},
    {"triton", "#triton_gpu.shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>"},
    {"triton", "#ttg.linear<{register = [[0, 1]], lane = [[0, 2]], warp = [], block = []}>"},
    {"triton", "#linear"},
    {"triton", "#A1"},
    {"triton", "tensor<32x16xf16, #AL>"},
    {"triton", "!ttg.memdesc<32x16xf16, #shared, #smem, mutable>"},
    {"triton", "[16] #ttg.slice<{dim = 0, parent = #blocked}>"},
    {"triton",
     "f32[32] BlockedLayout(size_per_thread=[1], threads_per_warp=[32], warps_per_cta=[1], order=[0])"},
    {"triton", "ttgl.SwizzledSharedLayout(1, 1, 1, [1, 0])"},
    {"triton", "#gluon.auto_encoding"},
    {"triton", "ttgl.AutoLayout()"},
    {"triton", "#blocked1 = #ttg.blocked<{order = [0]}>"},
    {"onednn", "nChw16c"},
    {"onednn", "aBcd16b"},
    {"onednn", "ABcd16b16a4b"},
    {"onednn", "acdb"},
    {"onednn", "OIhw16i16o4i"},
    {"onednn", "nhwc"},
    {"verbose", "onednn_verbose,v1,primitive,exec,cpu,reorder,x,undef,src_f32::blocked:ab::f0,,,2x3,1"},
    {"verbose",
     "dst dnnl_verbose,exec,cpu,reorder,x,undef,src_f32::blocked:ab:f0 dst_f32::blocked:ba:f0,,,2x3,1"},
    {"verbose", "f32[2,3] src_f32::blocked:ab::f0"},
    {"axe", "S[(128, 256) : (1@TLane, 1@TCol)] + R[2 : 4@warpid] + 5@m"},
    {"axe", "T.TileLayout(T.S[8:1])"},
    {"iree", "f32[20,40] #iree_encoding.padding<[0, 64]>"},
    {"iree", "#iree_encoding.layout<[#iree_cpu.vmvx_encoding_resolver<configuration = {encoding_info = "
             "{innerDimsPos = [0], "
             "innerTileSizes = [8], outerDimsPerm = [0]}}>]>"},
    {"xegpu", "#xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>"},
    {"mosaic", "bf16[32,256] #tpu.tiled<(8,128)(2,1),[2,1]>"},
    {"mosaic", "#tpu.vpad<\"32,{0,3},(8,128)\">"},
    {"mosaicgpu",
     "TiledLayout(tiling=Tiling(tiles=((64, 8),)), warp_dims=(-2,), lane_dims=(-1,), vector_dim=-1)"},
    {"axe", "f32[8,4] S[32:1]"},
    {"mlir", "memref<4x8xf32, strided<[8, 1]>>"},
    {"mlir", "strided<[8, 1], offset: 4>"},
    {"affine_map", "affine_map<(d0, d1) -> (d0 floordiv 8, d1 mod 128)>"},
    {"affine_map", "#map = affine_map<(d0) -> (d0)>"},
    {"affine_map", "#map = affine_map<(d0) -> (d0)>"},
    {"pack", "linalg.pack %src inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %dst"},
    {"pack", "inner_dims_pos = [0, 1] inner_tiles = [8, 4]"},
    {"pack", "tensor.pack %a inner_dims_pos = [1] inner_tiles = [2] into %b"},
    {"tvm", "NCHW16c"},
    {"tvm", "OHWI16i64o2i"},
    {"tvm", "NCHW"},
    {"index_map", "lambda n, c, h, w: (n, c // 16, h, w, c % 16)"},
    {"index_map", "T.index_map(lambda i: (i // 4, i % 4))"},
    {"torch", "torch.Size([2, 3]) (3, 1)"},
    {"torch", "size=(2, 3), stride=(3, 1)"},
    {"torch", "(2, 3) (3, 1)"},
    {"torch", "(2, 3), (3, 1)"},
    {"cute", "smem_ptr[16b](0x7f0000000400) o (8,64):(64,1)"},
    {"cute", "Sw<3,4,3>_smem_ptr[16b](0x7f0000000400) o (8,64):(64,1)"},
    {"iree",
     "#iree_encoding.encoding<operand_index = 0, user_indexing_maps = [affine_map<(d0, d1) -> (d0)>]>"},
    {"einops", "b (h w) c -> b h w c"},
    {"einops", "b (h w) c -> b h w c h=4, w=2"},
    {"einops", "rearrange(x, 'b (h w) c -> b h w c', h=4)"},
    {"numpy", "x.reshape(2, 3).T"},
    {"numpy", "f32[3,5] np.pad(x, ((0, 1), (0, 1)))"},
    {"numpy", "x[..., ::-1]"},
    {"numpy", "(lambda i, j: 5 * i + j)(*np.indices((3, 5)))"},
    {"index_map", "tvm.tir.IndexMap.from_func(lambda i: i)"},
    {"einops", "batch (h w) c -> batch h w c"},
    {"einops", "repeat (h w) -> repeat h w"},
    {"einops", "(h p1) (w p2) c -> h w (p1 p2 c)"},
    /* of texts without a notation: who says best what is wrong */
    {"xla", "g32[3]"},
    {"xla", ""},
    {"register", "spatal(3, 4)"},
    {"device", "f16[8] stik()"},
};

static const tesela_notation *found(const char *text, size_t *used) {
  const tesela_notation *notation = NULL;
  tesela_error err;
  if (tesela_notation_find(text, strlen(text), &notation, used, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  return notation;
}

static void texts_tell_their_notation(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
    if (strcmp(found(begins[i].text, NULL)->name, begins[i].notation) != 0)
      fail_msg("%s is %s, not %s", begins[i].text, found(begins[i].text, NULL)->name, begins[i].notation);
}

static void a_name_before_the_text_demands(void **state) {
  (void)state;
  size_t used = 99;
  assert_string_equal(found("  device: f16[8] stick()", &used)->name, "device");
  assert_int_equal(used, 9);
  assert_string_equal(found("f32[3]", &used)->name, "xla");
  assert_int_equal(used, 0);
  assert_string_equal(found("onednn:AB16b16a", &used)->name, "onednn");
  assert_string_equal(found("tvm:AB16b16a", &used)->name, "tvm");
  assert_int_equal(used, 4);
}

static void kinds_and_notations_have_names(void **state) {
  (void)state;
  int32_t n = 0;
  for (const tesela_notation *row; (row = tesela_notation_at(n)) != NULL; n++) {
    for (int32_t k = 0; k < n; k++) assert_string_not_equal(row->name, tesela_notation_at(k)->name);
    if (row->kinds != 0 || !row->written) /* code is not read */
      assert_string_equal(found(row->example, NULL)->name, row->name);
  }
  assert_true(n > 12);
  assert_null(tesela_notation_at(-1));
  assert_string_equal(tesela_kind_name(TESELA_KIND_SHARED), "shared");
  assert_string_equal(tesela_kind_words(TESELA_KIND_DEVICE), "a device layout");
  assert_null(tesela_kind_name((tesela_kind)0));
  assert_null(tesela_kind_words((tesela_kind)7));
}

/* ---- what is read ------------------------------------------------------------------------------------------- */

static tesela_any_layout read_any(const char *text, const tesela_layout_read_options *options) {
  tesela_any_layout any;
  tesela_error err;
  if (tesela_layout_read(text, strlen(text), options, &any, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  return any;
}

static tesela_layout relation(const tesela_any_layout *any) {
  tesela_layout layout;
  tesela_error err;
  if (tesela_any_to_layout(any, &layout, &err) != TESELA_OK) fail_msg("%s", err.message);
  return layout;
}

static void places_are_those_of_the_definition(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_kind kind;
    int64_t index[2], place[2];
  } rows[] = {
      {"f32[3,5]{1,0:T(2,2)}", TESELA_KIND_XLA, {2, 3}, {17}}, /* tile (1,1) of 2x3: 4*4, (0,1) in it */
      {"f32[3,5] Layout(major_to_minor=(1, 0))", TESELA_KIND_XLA, {2, 3}, {11}}, /* 3*3 + 2 */
      {"f32[3,5] Layout(major_to_minor=(0, 1), tiling=((2, 2),))", TESELA_KIND_XLA, {2, 3}, {17}},
      {"jax: f32[3,5] Layout((0, 1)) ", TESELA_KIND_XLA, {2, 3}, {13}},
      {"f32[3,5] Format(layout=Layout(major_to_minor=(1, 0)), sharding=NamedSharding(mesh=Mesh('x': 2), "
       "spec=PartitionSpec('x',)))",
       TESELA_KIND_XLA,
       {2, 3},
       {11}},
      {"f32[3,5] Format(Layout((1, 0)))", TESELA_KIND_XLA, {2, 3}, {11}},
      {"(3, 5) (5, 1)", TESELA_KIND_RELATION, {2, 3}, {13}},
      {"gmem_ptr[32b](0x7f33) o (8,64):(64,1)", TESELA_KIND_RELATION, {2, 3}, {131}},
      /* byte 144 has bits 4 and 7; the swizzle flips bit 4 by bit 7: byte 128 */
      {"Sw<3,4,3> o smem_ptr[16b](0x7f0000000400) o (_8,_64):(_64,_1)", TESELA_KIND_RELATION, {1, 8}, {64}},
      {"Sw<3,4,3>_smem_ptr[16b](0x7f0000000400) o (_8,_64):(_64,_1)", TESELA_KIND_RELATION, {1, 8}, {64}},
      /* a TPU's argument is {0,1:T(8,128)}: 3 tiles of columns, and (2,3) in the tile of 8 x 128 */
      {"f32[300,12] tpu(v5e)", TESELA_KIND_XLA, {2, 3}, {3 * 128 + 2}},
      {"tpu: f32[300,12] tpu", TESELA_KIND_XLA, {2, 3}, {3 * 128 + 2}},
      {"shared_row_major(8, 64)", TESELA_KIND_SHARED, {3, 17}, {209}}, /* 3*64 + 17 */
      {"global: global_row_major(8, 64)", TESELA_KIND_GLOBAL, {3, 17}, {209}},
      {"f16[1000,200] stick(dim_order=[0,1])", TESELA_KIND_DEVICE, {3, 70}, {64198}}, /* 64000 + 3*64 + 6 */
      {"xla: f16[1000,200] stick(dim_order=[0,1])", TESELA_KIND_XLA, {3, 70}, {64198}},
      {"local(3, 4).spatial(2, 3)",
       TESELA_KIND_REGISTER,
       {5, 7},
       {4, 10}}, /* thread 1*3 + 1, register 2*4 + 2 */
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *text = rows[i].text;
    tesela_any_layout any = read_any(text, NULL);
    tesela_layout layout = relation(&any);
    int64_t place[TESELA_MAX_AXES] = {0};
    assert_int_equal(any.kind, rows[i].kind);
    assert_int_equal(tesela_layout_place_of(&layout, rows[i].index, place, NULL), TESELA_OK);
    if (place[0] != rows[i].place[0] || (layout.n_axes > 1 && place[1] != rows[i].place[1]))
      fail_msg("%s: place %" PRId64 " %" PRId64, text, place[0], place[1]);
  }
}

/* Read, printed and read again: the same kind and the same relation. */
static void what_is_printed_reads_back(void **state) {
  (void)state;
  static const char *const texts[] = {
      "f32[3,5]{0,1:T(2,2)}",
      "f32[3,5] Layout(major_to_minor=(1, 0), tiling=((2, 2), (2, 1)))",
      "local(3, 4).spatial(2, 3)",
      "shared_row_major(8, 64)",
      "f16[1000,200] stick(dim_order=[1,0])",
      "f16[1000,200] ((4, 1000, 64), (64000, 64, 1), (64, 200, 1))",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    char text[2048];
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    tesela_difference d;
    tesela_any_layout any = read_any(texts[i], NULL);
    assert_int_equal(tesela_any_print(&any, &to, NULL), TESELA_OK);
    tesela_any_layout again = read_any(text, NULL);
    tesela_layout a = relation(&any), b = relation(&again);
    assert_int_equal(again.kind, any.kind);
    assert_string_equal(again.notation->name, any.notation->name);
    assert_int_equal(tesela_layout_compare(&a, &b, &d, NULL), TESELA_OK);
    if (!d.same || !d.same_extent) fail_msg("%s is printed as %s", texts[i], text);
  }
}

static tesela_xla_shape array_of(const char *text) {
  tesela_xla_shape shape;
  assert_int_equal(tesela_xla_parse(text, strlen(text), 0, &shape, NULL, NULL), TESELA_OK);
  return shape;
}

/* Type and dims of the caller; those that stand before the text count more. */
static void the_caller_gives_the_array(void **state) {
  (void)state;
  static const struct {
    const char *text, *same;
  } rows[] = {
      {"{1,0:T(8,128)}", "bf16[32,256]{1,0:T(8,128)}"},
      {"xla:{0,1}", "bf16[32,256]{0,1}"},
      {"Layout(major_to_minor=(1, 0))", "bf16[32,256]{0,1}"},
      {"f32[3,5] Layout(major_to_minor=(1, 0))", "f32[3,5]{0,1}"},
      {"f32[3,5]", "f32[3,5]{1,0}"},
      /* chosen by compilers for these TPUs: tests/data/tpu_tiles.tsv, tpu_orders.tsv */
      {"tpu", "bf16[32,256]{1,0:T(8,128)(2,1)}"},
      {"tpu(tpu7x)", "bf16[32,256]{1,0:T(8,128)(2,1)}"},
      {"s32[64,31,12,7] tpu(v5e)", "s32[64,31,12,7]{0,1,3,2:T(8,128)}"},
      {"bf16[5,65,2] tpu", "bf16[5,65,2]{1,2,0:T(2,128)(2,1)}"},
      {"f32[300] tpu(v5e)", "f32[300]{0:T(512)}"},
      {"f32[] tpu", "f32[]{:T(128)}"},
      {"stick(dim_order=[0,1])", "bf16[32,256] stick(dim_order=[0,1])"},
      {"stick(target=tiles)", "bf16[32,256] stick(target=tiles)"},
  };
  tesela_xla_shape array = array_of("bf16[32,256]{0,1}");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_difference d;
    tesela_any_layout any = read_any(rows[i].text, &(tesela_layout_read_options){.array = &array});
    tesela_any_layout same = read_any(rows[i].same, NULL);
    tesela_layout a = relation(&any), b = relation(&same);
    assert_int_equal(any.kind, same.kind);
    assert_int_equal(a.dtype, b.dtype);
    assert_int_equal(tesela_layout_compare(&a, &b, &d, NULL), TESELA_OK);
    if (!d.same || !d.same_extent) fail_msg("%s is not %s", rows[i].text, rows[i].same);
  }
}

/* f16[100,200] in sticks of 64 bytes, 32 lanes: (3,70) is 2 blocks of 100 sticks on, in stick 3, lane 6. */
static void texts_name_targets_of_the_caller(void **state) {
  (void)state;
  static const char text[] = "target mine\nlike spyre\nstick 64\n", other[] = "target spare\nlike tiles\n";
  tesela_target targets[2];
  assert_int_equal(tesela_target_read(&targets[0], other, strlen(other), NULL), TESELA_OK);
  assert_int_equal(tesela_target_read(&targets[1], text, strlen(text), NULL), TESELA_OK);
  const tesela_layout_read_options many = {.device = {.targets = targets, .n_targets = 2}};
  const tesela_layout_read_options one = {.device = {.target = &targets[1]}};
  const tesela_layout_read_options *const ways[] = {&many, &one, &one};
  static const char *const texts[] = {"f16[100,200] stick(target=mine)", "f16[100,200] stick(target=mine)",
                                      "f16[100,200] stick()"};
  for (size_t i = 0; i < 3; i++) {
    tesela_any_layout any = read_any(texts[i], ways[i]);
    tesela_layout layout = relation(&any);
    int64_t place[TESELA_MAX_AXES];
    assert_int_equal(tesela_layout_place_of(&layout, (const int64_t[]){3, 70}, place, NULL), TESELA_OK);
    assert_int_equal(place[0], 2 * 100 * 32 + 3 * 32 + 6);
  }
  tesela_any_layout any;
  tesela_error err;
  assert_int_equal(tesela_layout_read(texts[0], strlen(texts[0]), NULL, &any, &err), TESELA_E_SYNTAX);
  assert_int_equal(read_any("f16[100,200] stick(target=tiles)", &many).kind, TESELA_KIND_DEVICE);
}

/* ---- what is refused ---------------------------------------------------------------------------------------- */

static void refusals_say_what_and_where(void **state) {
  (void)state;
  static const struct {
    const char *text, *notation;
    tesela_status status;
    int64_t at;
    const char *message;
  } rows[] = {
      {"f32[3,5]", "device", TESELA_E_MISMATCH, 0, "expected a device layout, found an XLA layout"},
      {"local(3)", "xla", TESELA_E_MISMATCH, 0,
       "expected an XLA layout, found a register layout or a tile in memory"},
      {"shared_row_major(2, 2)", "register", TESELA_E_MISMATCH, 0,
       "expected a register layout, found a tile in shared memory"},
      {"shared: local(3)", NULL, TESELA_E_MISMATCH, 8,
       "this is a register layout, but shared: expects a tile in shared memory"},
      {"register: f32[3]", NULL, TESELA_E_MISMATCH, 10,
       "this is an XLA layout, but register: expects a register layout"},
      {"jax: f32[3]", NULL, TESELA_E_MISMATCH, 5, "this is an XLA layout, but jax: expects a JAX layout"},
      {"device: f32[3]{0}", "xla", TESELA_E_MISMATCH, 8,
       "this is an XLA layout, but device: expects a device layout"},
      {"foo: f32[3]", NULL, TESELA_E_UNSUPPORTED, 0,
       "unknown notation 'foo'; expected xla, jax, tpu, register, device, map, "},
      {"f32[3]", "foo", TESELA_E_UNSUPPORTED, -1, "unknown notation 'foo'"},
      {"Layout(major_to_minor=(0, 1))", NULL, TESELA_E_UNSUPPORTED, 0,
       "a JAX layout needs type and dims before it: f32[3,5] Layout("},
      {"f32[3] Layout(major_to_minor=(0, 1))", NULL, TESELA_E_MISMATCH, 7,
       "the layout orders 2 dims; the array has 1"},
      {"f32[3,5] Layout(major_to_minor=(0, x))", NULL, TESELA_E_SYNTAX, 35, "expected a number"},
      {"f32[3,5] Format(Layout((1, 0)), Sharding(", NULL, TESELA_E_SYNTAX, 41,
       "expected ')' after the sharding"},
      {"f32[8] ttgl.AutoLayout()", NULL, TESELA_E_UNSUPPORTED, 12, "tesela does not read AutoLayout"},
      {"Sw<3,4,3> o smem_ptr[16b](0x7f0000000200) o (8,64):(64,1)", NULL, TESELA_E_UNSUPPORTED, 12,
       "the address is not a multiple of 1024 bytes"},
      {"f32[3,5] jax.Layout(major_to_minor=(0, x))", NULL, TESELA_E_SYNTAX, 39, "expected a number"},
      {"f32[3,5] tpu(v9)", NULL, TESELA_E_INVALID, 13, "unknown TPU 'v9'; expected v2, v3"},
      {"f32[3,5] tpu(v5e", NULL, TESELA_E_SYNTAX, 16, "expected ')'"},
      {"f32[3,5] tpu(v5e) x", NULL, TESELA_E_SYNTAX, 18, "expected the end of the text"},
      {"tpu(v2)", NULL, TESELA_E_UNSUPPORTED, 0, "needs type and dims before it: f32[300,12] tpu(v5e)"},
      {"f32[5,5] (4,8):(8,1)", NULL, TESELA_E_MISMATCH, 9, "mode 0 has 4 coordinates; the array has 5"},
      {"cute: anything", NULL, TESELA_E_SYNTAX, 6, "expected an extent, found 'anything'"},
      {"(4,8):(8,1)", "xla", TESELA_E_UNSUPPORTED, 0, "XLA needs an element type"},
      {"f32[2,2] (2,2):(3,5)", "xla", TESELA_E_UNSUPPORTED, 0, "no XLA layout expresses it"},
      {"AB16b16a", NULL, TESELA_E_INVALID, 0,
       "ambiguous: a oneDNN tag or a TVM layout; write onednn: or tvm: before it"},
      {"g32[3]", NULL, TESELA_E_SYNTAX, 0, "unknown element type"},
      {"xla: {1,0:T(8,128)}", NULL, TESELA_E_SYNTAX, 5,
       "expected type and dims before the layout, such as f32[3,5]{1,0}, found '{'"},
      {"{1,0:T(8,128)}", NULL, TESELA_E_SYNTAX, 0, "expected type and dims before the layout"},
      {"}", NULL, TESELA_E_SYNTAX, 0, "expected an element type, such as f32, found '}'"},
      {"xla:f32[3", NULL, TESELA_E_SYNTAX, 9, "the end of the text"},
      {"device: f16[8] stick(order=generik)", NULL, TESELA_E_SYNTAX, 27, "did you mean generic?"},
      {"(f32[3], f32[4])", NULL, TESELA_E_UNSUPPORTED, 0, "tuple"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_any_layout any, before;
    tesela_error err = {.at = -7};
    memset(&any, 0x5A, sizeof any);
    memcpy(&before, &any, sizeof any);
    const tesela_layout_read_options options = {.notation = rows[i].notation};
    tesela_status status = tesela_layout_read(rows[i].text, strlen(rows[i].text), &options, &any, &err);
    if (status != rows[i].status || err.at != rows[i].at || !strstr(err.message, rows[i].message))
      fail_msg("%s: status %d at %" PRId64 ": %s", rows[i].text, status, err.at, err.message);
    assert_memory_equal(&any, &before, sizeof any);
    assert_int_equal(tesela_layout_read(rows[i].text, strlen(rows[i].text), &options, &any, NULL), status);
  }
}

/* Every notation that is not read is named by every text of it, whatever is demanded. */
static void other_notations_are_named(void **state) {
  (void)state;
  static const char *const demands[] = {NULL, "xla", "register", "device"};
  for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
    for (size_t k = 0; k < sizeof demands / sizeof demands[0]; k++) {
      char name[32];
      tesela_any_layout any;
      tesela_error err;
      if (found(begins[i].text, NULL)->kinds != 0) continue;
      const tesela_layout_read_options options = {.notation = demands[k]};
      assert_int_equal(tesela_layout_read(begins[i].text, strlen(begins[i].text), &options, &any, &err),
                       TESELA_E_UNSUPPORTED);
      snprintf(name, sizeof name, "(%s), which tesela does not", begins[i].notation);
      if (!strstr(err.message, name)) fail_msg("%s: %s", begins[i].text, err.message);
    }
}

/* ---- corpora ------------------------------------------------------------------------------------------------ */

typedef struct counts {
  int64_t texts, taken, ties;
} counts;

/* Who takes a text, by the readers themselves: no more than one of them, and its row claims it. */
static void check_text(const char *text, size_t length, counts *c) {
  static tesela_expression expression; /* not on the stack: large */
  const tesela_notation *notation;
  tesela_device_layout device;
  tesela_xla_layout layout;
  tesela_xla_tree *tree = NULL;
  tesela_error err;
  c->texts++;
  tesela_status status = tesela_notation_find(text, length, &notation, NULL, &err);
  bool takes[4] = {
      tesela_xla_tree_create(&tree, text, length, TESELA_XLA_LENIENT, NULL, NULL, NULL) == TESELA_OK ||
          tesela_xla_parse_layout(text, length, TESELA_XLA_STRICT, &layout, NULL, NULL) == TESELA_OK,
      tesela_xla_parse_jax(text, length, &layout, NULL) == TESELA_OK,
      tesela_expression_parse(text, length, &expression, NULL) == TESELA_OK,
      tesela_device_parse(&device, text, length, NULL, NULL) == TESELA_OK};
  static const char *const names[] = {"xla", "jax", "register", "device"};
  tesela_xla_tree_destroy(tree);
  int n = 0;
  for (int i = 0; i < 4; i++) {
    if (!takes[i]) continue;
    n++;
    if (status != TESELA_OK || strcmp(notation->name, names[i]) != 0)
      fail_msg("%s takes %.*s, which is %s", names[i], (int)length, text,
               status == TESELA_OK ? notation->name : err.message);
  }
  c->taken += n;
  if (n > 1) fail_msg("%d readers take %.*s", n, (int)length, text);
  if (status != TESELA_E_INVALID) return;
  c->ties++;
  if (memchr(text, '(', length) || memchr(text, '[', length)) /* only tags and TVM's strings may tie */
    fail_msg("%.*s: %s", (int)length, text, err.message);
}

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  size_t room = 1 << 20;
  char *text = malloc(room);
  assert_non_null(text);
  *length = fread(text, 1, room, file);
  fclose(file);
  return text;
}

static void check_folder(const char *source, const char *folder, counts *c) {
  char path[4096];
  size_t length;
  snprintf(path, sizeof path, "%s/fuzz/corpus/%s", source, folder);
  DIR *dir = opendir(path);
  if (!dir) fail_msg("no folder %s", path);
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    snprintf(path, sizeof path, "%s/fuzz/corpus/%s/%s", source, folder, entry->d_name);
    char *text = entry->d_name[0] == '.' ? NULL : read_file(path, &length);
    if (!text) continue;
    check_text(text, length, c);
    for (size_t at = 0, n; at < length; at += n + 1) { /* and line by line */
      const char *end = memchr(text + at, '\n', length - at);
      n = end ? (size_t)(end - text) - at : length - at;
      check_text(text + at, n, c);
    }
    free(text);
  }
  closedir(dir);
}

/* Whatever stands between quotes of one sort on one line. */
static void check_quoted(const char *source, const char *name, char quote, counts *c) {
  char path[4096];
  size_t length;
  snprintf(path, sizeof path, "%s/%s", source, name);
  char *text = read_file(path, &length);
  if (!text) fail_msg("no file %s", path);
  for (size_t i = 0; i < length; i++) {
    if (text[i] != quote) continue;
    size_t end = i + 1;
    while (end < length && text[end] != quote && text[end] != '\n') end++;
    if (end < length && text[end] == quote) check_text(text + i + 1, end - i - 1, c);
    i = end;
  }
  free(text);
}

static void no_two_notations_claim_a_text(void **state) {
  (void)state;
  static const char *const folders[] = {"xla_text",  "xla_interchange", "register_text", "device_text",
                                        "arena_csv", "graph_hlo",       "infer",         "query",
                                        "relayout",  "report",          "target"};
  static const char *const documents[] = {"README.md",
                                          "docs/concepts.md",
                                          "docs/device.md",
                                          "docs/glossary.md",
                                          "docs/notations.md",
                                          "docs/query.md",
                                          "docs/quickstart.md",
                                          "docs/register.md",
                                          "docs/relayout.md",
                                          "docs/xla.md",
                                          "examples/matmul.kernel",
                                          "tests/vectors/spyre_seed_examples.json",
                                          "tests/vectors/tilus_seed_examples.json",
                                          "tests/vectors/xla_seed_examples.json"};
  const char *source = getenv("TESELA_SOURCE");
  counts c = {0};
  if (!source) source = "../..";
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) check_folder(source, folders[i], &c);
  for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
    check_quoted(source, documents[i], '"', &c);
    check_quoted(source, documents[i], '\'', &c);
    check_quoted(source, documents[i], '`', &c);
  }
  print_message("%" PRId64 " texts, %" PRId64 " read, %" PRId64 " ties\n", c.texts, c.taken, c.ties);
  assert_true(c.texts > 1000 && c.taken > 200);
}

/* Any beginning of any text, and every byte of it changed: refused or read, never more. */
static void any_bytes_are_answered(void **state) {
  (void)state;
  static const char others[] = "(){}[]<>,:;#._-*'\" 0aZ\x80\n";
  for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
    size_t length = strlen(begins[i].text);
    char *text = malloc(length + 1);
    tesela_any_layout any;
    for (size_t n = 0; n <= length; n++) {
      memcpy(text, begins[i].text, length);
      char *cut = malloc(n > 0 ? n : 1); /* so that a sanitizer sees a byte too many */
      memcpy(cut, text, n);
      (void)tesela_layout_read(cut, n, NULL, &any, NULL);
      free(cut);
      for (size_t k = 0; n < length && k < sizeof others; k++) {
        text[n] = others[k];
        tesela_error err = {.at = -1};
        if (tesela_layout_read(text, length, NULL, &any, &err) != TESELA_OK)
          assert_true(err.at <= (int64_t)length);
      }
    }
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_tell_their_notation),
      cmocka_unit_test(a_name_before_the_text_demands),
      cmocka_unit_test(kinds_and_notations_have_names),
      cmocka_unit_test(places_are_those_of_the_definition),
      cmocka_unit_test(what_is_printed_reads_back),
      cmocka_unit_test(the_caller_gives_the_array),
      cmocka_unit_test(texts_name_targets_of_the_caller),
      cmocka_unit_test(refusals_say_what_and_where),
      cmocka_unit_test(other_notations_are_named),
      cmocka_unit_test(no_two_notations_claim_a_text),
      cmocka_unit_test(any_bytes_are_answered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
