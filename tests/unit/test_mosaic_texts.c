/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mosaic_texts.c - attributes of Mosaic, IREE and XeGPU against the arithmetic of their definition; refusals.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <tesela/notation.h>

#include "support_seed.h"

static uint64_t state_of_random;

static int64_t below(int64_t n) {
  state_of_random ^= state_of_random << 13;
  state_of_random ^= state_of_random >> 7;
  state_of_random ^= state_of_random << 17;
  return (int64_t)(state_of_random >> 11) % n;
}

static tesela_layout read_layout(const char *text) {
  tesela_any_layout any;
  tesela_error err = {.message = ""};
  if (tesela_layout_read(text, strlen(text), NULL, &any, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  return any.relation;
}

/* One of -1, -2, both or no implicit dims; offsets; all widths: vregs are row-major, like the sublanes, lanes and elements in them. */
static void vector_registers_are_the_formula(void **state) {
  (void)state;
  state_of_random = first_seed();
  for (int n = 0; n < (slow_run() ? 100 : 1000); n++) {
    int64_t bits = INT64_C(8) << below(3), packing = 32 / bits, rows = packing << below(4),
            tiles = 8 * packing / rows;
    int64_t shape[3] = {1 + below(3), 1 + below(40), 1 + below(300)},
            offset[2] = {below(rows), below(128 * tiles)};
    int implicit = (int)below(4); /* bit 0: minor, bit 1: second minor */
    if (tiles == 0) continue;
    if (implicit & 1) shape[2] = 1;
    if (implicit & 2) shape[1] = 1;
    static const char *const types[] = {"s8", "bf16", "", "f32"};
    int64_t dims[3];
    int rank = 0;
    dims[rank++] = shape[0];
    if (!(implicit & 2)) dims[rank++] = shape[1];
    if (!(implicit & 1)) dims[rank++] = shape[2];
    char text[256];
    int at = sprintf(text, "%s[", types[bits / 8 - 1]);
    for (int d = 0; d < rank; d++) at += sprintf(text + at, "%s%" PRId64, d ? "," : "", dims[d]);
    sprintf(text + at, "] #tpu.vpad<\"%" PRId64 ",{%" PRId64 ",%" PRId64 "},(%" PRId64 ",128)%s%s\">", bits,
            offset[0], offset[1], rows, implicit & 2 ? ",-2" : "", implicit & 1 ? ",-1" : "");
    tesela_layout layout = read_layout(text);
    int64_t down = (shape[1] + offset[0] + rows - 1) / rows;
    int64_t right = (shape[2] + offset[1] + 128 * tiles - 1) / (128 * tiles), size = 1024 * packing;
    assert_int_equal(layout.axis[0].extent, shape[0] * down * right * size);
    int64_t index[TESELA_MAX_RANK] = {0};
    do {
      int64_t x[3] = {index[0], 0, 0}, place;
      int d = 1;
      if (!(implicit & 2)) x[1] = index[d++];
      if (!(implicit & 1)) x[2] = index[d++];
      int64_t r = x[1] + offset[0], c = x[2] + offset[1];
      int64_t want = ((x[0] * down + r / rows) * right + c / (128 * tiles)) * size +
                     c / 128 % tiles * rows * 128 + r % rows / packing * 128 * packing + c % 128 * packing +
                     r % packing;
      assert_int_equal(tesela_layout_place_of(&layout, index, &place, NULL), TESELA_OK);
      if (place != want) fail_msg("%s: place %" PRId64 ", not %" PRId64, text, place, want);
    } while (tesela_index_next(rank, dims, index));
  }
}

/* `*`: in all sublanes, or in all lanes, of each register. */
static void copies_are_everywhere(void **state) {
  (void)state;
  tesela_layout rows = read_layout("bf16[2,1,200] #tpu.vpad<\"16,{*,3},(16,128)\">");
  tesela_layout columns = read_layout("bf16[20,1] #tpu.vpad<\"16,{1,*},(8,128)\">");
  tesela_layout one = read_layout("f32[5] #tpu.vpad<\"32,{0,*},(8,128),-1\">");
  assert_int_equal(tesela_layout_copies(&rows), 16);
  assert_int_equal(tesela_layout_copies(&columns), 256);
  assert_int_equal(tesela_layout_copies(&one), 128);
  for (int64_t k = 0; k < 256; k++) {
    int64_t place, c = 130 + 3;
    const int64_t row[] = {1, 0, 130}, column[] = {9, 0}, last[] = {4};
    bool seen[3] = {false, false, false};
    for (int64_t j = 0; j < 256; j++) {
      if (j < 16 && k < 16) {
        assert_int_equal(tesela_layout_copy_of(&rows, row, j, &place, NULL), TESELA_OK);
        seen[0] = seen[0] || place == 2 * 2048 + c / 128 * 2048 + k / 2 * 256 + c % 128 * 2 + k % 2;
      }
      assert_int_equal(tesela_layout_copy_of(&columns, column, j, &place, NULL), TESELA_OK);
      seen[1] = seen[1] || place == 10 / 8 * 2048 + k / 128 * 1024 + 10 % 8 / 2 * 256 + k % 128 * 2 + 10 % 2;
      if (j < 128 && k < 128) {
        assert_int_equal(tesela_layout_copy_of(&one, last, j, &place, NULL), TESELA_OK);
        seen[2] = seen[2] || place == 4 * 128 + k;
      }
    }
    assert_true((k >= 16 || seen[0]) && seen[1] && (k >= 128 || seen[2]));
  }
}

/* Tiles of a register are XLA's, with the elements of 32 bits as a second tile. */
static void layouts_are_those_of_xla(void **state) {
  (void)state;
  static const char *const same[][2] = {
      {"f32[20,200] #tpu.vpad<\"32,{0,0},(8,128)\">", "f32[20,200]{1,0:T(8,128)}"},
      {"bf16[32,256] #tpu.vpad<\"16,{0,0},(16,128)\">", "bf16[32,256]{1,0:T(16,128)(2,1)}"},
      {"bf16[20,200] #tpu.tiled<(8,128)(2,1),[2,1]>", "bf16[20,200]{1,0:T(8,128)(2,1)}"},
      {"memref<20x200xbf16, #tpu.tiled<(8,128)(2,1),[2,1]>, #tpu.memory_space<vmem>>",
       "bf16[20,200]{1,0:T(8,128)(2,1)}"},
      {"f32[20,40] #iree_encoding.layout<[#iree_cpu.vmvx_encoding_resolver<configuration = {encoding_info = "
       "{innerDimsPos = [0, 1], "
       "innerTileSizes = [8, 4], outerDimsPerm = [1, 0]}}>]>",
       "f32[20,40] linalg.pack %a outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, 4] into "
       "%b"},
      {"f32[20,40] #iree_encoding.padding<[0, 64]>", "f32[20,40] strided<[104, 1]>"},
      {"pred[20,40] #iree_encoding.packed_storage",
       "map(i:20, j:40) of pred in 1 bits -> memory[800]: 40*i + j"},
      {"memref<20x200xf32, affine_map<(d0, d1) -> (d1, d0)>, 3>", "f32[20,200]{0,1}"},
      {"memref<4x8xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1 floordiv 4, d0 mod 2, d1 mod 4)>>",
       "f32[4,8]{1,0:T(2,4)}"},
      {"f32[64,8] TiledLayout(tiling=Tiling((64, 8)(16, 8)(8, 8)(2,)), warp_dims=(-7,), lane_dims=(-3, -2), "
       "vector_dim=-1)",
       "f32[64,8] TiledLayout(tiling=Tiling(tiles=((64, 8), (16, 8), (8, 8), (1, 2))), warp_dims=(-8,), "
       "lane_dims=(-4, -3,), "
       "vector_dim=-1)"},
  };
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
    tesela_any_layout any, other;
    tesela_layout a, b;
    tesela_difference difference;
    assert_int_equal(tesela_layout_read(same[i][0], strlen(same[i][0]), NULL, &any, NULL), TESELA_OK);
    assert_int_equal(tesela_layout_read(same[i][1], strlen(same[i][1]), NULL, &other, NULL), TESELA_OK);
    assert_int_equal(tesela_any_to_layout(&any, &a, NULL), TESELA_OK);
    assert_int_equal(tesela_any_to_layout(&other, &b, NULL), TESELA_OK);
    assert_int_equal(tesela_layout_compare(&a, &b, &difference, NULL), TESELA_OK);
    if (!difference.same) fail_msg("%s: %s", same[i][0], difference.reason);
  }
}

/* The accumulator of wgmma, 64 x 8: PTX puts (row, column) in thread 32*(row/16) + 4*(row%8) + column/2. */
static void fragments_are_the_formula(void **state) {
  (void)state;
  tesela_layout layout =
      read_layout("f32[128,16] TiledLayout(tiling=Tiling(tiles=((64, 8), (16, 8), (8, 8), (2,))), "
                  "warp_dims=(-7,), lane_dims=(-3, -2), vector_dim=-1)");
  tesela_layout copied = read_layout("f32[64] TiledLayout(tiling=Tiling(tiles=((64,), (16,), (8,), (1,))), "
                                     "warp_dims=(-4,), lane_dims=(-2, Replicated(times=4)), vector_dim=-1)");
  int64_t place[2];
  for (int64_t i = 0; i < 128; i++)
    for (int64_t j = 0; j < 16; j++) {
      assert_int_equal(tesela_layout_place_of(&layout, (int64_t[]){i, j}, place, NULL), TESELA_OK);
      assert_int_equal(place[0], 32 * (i % 64 / 16) + 4 * (i % 8) + j % 8 / 2);
      assert_int_equal(place[1], 8 * (i / 64) + 4 * (j / 8) + 2 * (i % 16 / 8) + j % 2);
    }
  assert_int_equal(tesela_layout_copies(&copied), 4);
  for (int64_t i = 0; i < 64; i++)
    for (int64_t k = 0; k < 4; k++) {
      assert_int_equal(tesela_layout_copy_of(&copied, &i, k, place, NULL), TESELA_OK);
      assert_int_equal(place[0], 32 * (i / 16) + 4 * (i % 8) + k);
      assert_int_equal(place[1], i % 16 / 8);
    }
}

/* Element (i, j) of 16 x 64: lane (i/2)%4 + 4 * ((j/4)%8) with the first dim fastest, and what the lane keeps, 4 x 8, row-major. */
static void lanes_are_the_formula(void **state) {
  (void)state;
  tesela_layout first =
      read_layout("f16[16,64] #xegpu.layout<lane_layout = [4, 8], lane_data = [2, 4], order = [0, 1]>");
  tesela_layout last = read_layout("f16[16,64] #xegpu.layout<lane_layout = [4, 8], lane_data = [2, 4]>");
  for (int64_t i = 0; i < 16; i++)
    for (int64_t j = 0; j < 64; j++) {
      int64_t place[2], own = 8 * (i / 8 * 2 + i % 2) + j / 32 * 4 + j % 4;
      assert_int_equal(tesela_layout_place_of(&first, (int64_t[]){i, j}, place, NULL), TESELA_OK);
      assert_int_equal(place[0], i / 2 % 4 + 4 * (j / 4 % 8));
      assert_int_equal(place[1], own);
      assert_int_equal(tesela_layout_place_of(&last, (int64_t[]){i, j}, place, NULL), TESELA_OK);
      assert_int_equal(place[0], 8 * (i / 2 % 4) + j / 4 % 8);
      assert_int_equal(place[1], own);
    }
}

static const struct {
  const char *text;
  tesela_status status;
  int64_t at;
  const char *message;
} refused[] = {
    {"#tpu.tiled<(8,128),[1,1]>", TESELA_E_UNSUPPORTED, 0, "a Mosaic layout needs type and dims before it"},
    {"[8,128] #tpu.tiled<(8,128),[1]>", TESELA_E_MISMATCH, 30, "the tile has 2 dims, the strides 1"},
    {"[8] #tpu.tiled<(8),[1,1]>", TESELA_E_MISMATCH, 4, "2 strides of 1 dims"},
    {"[8,128] #tpu.tiled<(8)(2,1),[1,1]>", TESELA_E_UNSUPPORTED, 22,
     "a tile of more dims than the one before"},
    {"[8,128] #tpu.tiled<(8,128)(3,1),[1,1]>", TESELA_E_INVALID, 8,
     "a tile of 3 does not divide 8 of the tile before it"},
    {"[8,128] #tpu.tiled<(0,128),[1,1]>", TESELA_E_RANGE, 19, "a tile extent is 0"},
    {"[8,128] #tpu.vpad<\"none\">", TESELA_E_UNSUPPORTED, 19, "the value is not in vector registers"},
    {"[8,128] #tpu.vpad<\"12,{0,0},(8,128)\">", TESELA_E_RANGE, 21, "the width is 12"},
    {"[8,128] #tpu.vpad<\"32,{8,0},(8,128)\">", TESELA_E_RANGE, 8, "an offset is 8; expected 0 to 7"},
    {"[8,128] #tpu.vpad<\"32,{*,0},(8,128)\">", TESELA_E_UNSUPPORTED, 8, "copies along a dim of 8 elements"},
    {"[8,128] #tpu.vpad<\"32,{0,0},(8,64)\">", TESELA_E_UNSUPPORTED, 8, "tiles of 8x64 are not read"},
    {"bf16[8,128] #tpu.vpad<\"32,{0,0},(8,128)\">", TESELA_E_MISMATCH, 12,
     "the layout is of 32 bits; the type bf16 has 16"},
    {"[4,4] #iree_encoding.encoding<operand_index = 0>", TESELA_E_UNSUPPORTED, 6,
     "this encoding has no places"},
    {"[4,4] #iree_encoding.padding<[0, ?]>", TESELA_E_UNSUPPORTED, 29, "'?' is known at run time only"},
    {"[4,4] #iree_encoding.padding<[0]>", TESELA_E_MISMATCH, 29, "padding of 1 dims; the array has 2"},
    {"f32[4] #iree_encoding.packed_storage", TESELA_E_MISMATCH, 7,
     "packed storage is of pred; the type is f32"},
    {"[8] #iree_gpu.r<encoding_info = {innerDimsPos = [0], innerTileSizes = [8], swizzle = {permutation = "
     "[0]}}>",
     TESELA_E_UNSUPPORTED, 75, "the swizzle of an encoding is not read"},
    {"[8,16] #xegpu.layout<sg_layout = [1, 1]>", TESELA_E_UNSUPPORTED, 21, "sg_layout is not read"},
    {"[8,16] #xegpu.layout<lane_layout = [1, 16]>", TESELA_E_SYNTAX, 43, "lane_data is missing"},
    {"[8,16] #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 2]>", TESELA_E_INVALID, 7,
     "16 lanes of 2 elements do not divide dim 1 of 16"},
    {"[64,8] TiledLayout(tiling=Tiling(tiles=((64, 8),)), warp_dims=(-2,), lane_dims=(-1,))", TESELA_E_SYNTAX,
     -1, "vector_dim is missing"},
    {"[64,8] TiledLayout(tilin=Tiling(tiles=((64, 8),)))", TESELA_E_SYNTAX, 19,
     "unknown field 'tilin'; did you mean tiling?"},
    {"[64,8] TiledLayout(tiling=Tiling(tiles=((64, 8), (16, 8), (8, 8), (2,))), warp_dims=(-7,), "
     "lane_dims=(-3, -3), "
     "vector_dim=-1)",
     TESELA_E_INVALID, 7, "lane_dims: dim -3 is used twice"},
    {"[64,8] TiledLayout(tiling=Tiling(tiles=((64, 8), (16, 8), (8, 8), (2,))), warp_dims=(-7,), "
     "lane_dims=(-3,), "
     "vector_dim=-1)",
     TESELA_E_INVALID, 7, "the lane_dims do not multiply to 32"},
    {"[63,8] TiledLayout(tiling=Tiling(tiles=((64, 8), (16, 8), (8, 8), (2,))), warp_dims=(-7,), "
     "lane_dims=(-3, -2), "
     "vector_dim=-1)",
     TESELA_E_INVALID, 7, "a tile of 64 does not divide 63"},
    {"[64] TiledLayout(tiling=Tiling(tiles=((64, 8), (2,))), warp_dims=(-3,), lane_dims=(-2,), "
     "vector_dim=-1)",
     TESELA_E_MISMATCH, 5, "the tile has 2 dims; the array has 1"},
};

static void refusals_say_what_and_where(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    tesela_any_layout any;
    tesela_error err = {.message = ""};
    tesela_status status = tesela_layout_read(refused[i].text, strlen(refused[i].text), NULL, &any, &err);
    if (status != refused[i].status || (refused[i].at >= 0 && err.at != refused[i].at) ||
        !strstr(err.message, refused[i].message))
      fail_msg("%s: status %d at %d: %s", refused[i].text, status, (int)err.at, err.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vector_registers_are_the_formula),
      cmocka_unit_test(copies_are_everywhere),
      cmocka_unit_test(layouts_are_those_of_xla),
      cmocka_unit_test(fragments_are_the_formula),
      cmocka_unit_test(lanes_are_the_formula),
      cmocka_unit_test(refusals_say_what_and_where),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
