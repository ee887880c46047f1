/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_size.c - bytes by the definition and as XLA counts, padding by cause, strides, split sizes.
 * Sizes of random shapes against the oracle: test_xla_lower.c.
 */
#include <math.h>

#include "support_seed.h"
#include "support_xla.h"

/* ---- sizes ---- */

static const struct {
  const char *name, *shape;
  int64_t elements, logical, unpadded, bytes, allocated;
} size_rows[] = {
    {"figure 1", "f32[3,5]{1,0:T(2,2)}", 24, 60, 60, 96, 96},
    {"a scalar fills a tile", "u32[]{:T(128)}", 128, 4, 4, 512, 512},
    {"a scalar without tiles", "f32[]", 1, 4, 4, 4, 4},
    {"every level pads", "f32[8,8]{1,0:T(4,4)(3,1)}", 96, 256, 256, 384, 256},
    {"the allocator sees one tile", "bf16[]{:T(512)(2,1)}", 1024, 2, 2, 2048, 1024},
    {"and no L without a tile", "f32[3]{0:L(8)}", 8, 12, 12, 32, 12},
    {"L after the tiles", "f32[201,8]{1,0:T(8)L(1024)}", 2048, 6432, 6432, 8192, 8192},
    {"combined dims", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", 12432, 49280, 49280, 49728, 49728},
    {"no elements", "f32[4,0]{1,0:T(8,128)L(1024)}", 0, 0, 0, 0, 0},
    {"none beside a large dim", "f32[0,9223372036854775807]{1,0}", 0, 0, 0, 0, 0},
    {"E rounds up once", "s4[3]{0:E(3)}", 3, 2, 3, 2, 2},
    {"a nibble takes a byte", "s4[11,6]{1,0}", 66, 66, 66, 66, 66},
    {"and half of one with E(4)", "s4[3,3]{1,0:T(2,2)E(4)}", 16, 5, 9, 8, 8},
    {"pred of 4 bytes", "pred[40,200]{1,0:T(8,128)E(32)}", 10240, 8000, 8000, 40960, 40960},
    {"pred of 1 bit", "pred[40,200]{1,0:T(32,128)(32,1)E(1)}", 16384, 1000, 8000, 2048, 2048},
    {"a share that fills a tile", "s32[6]{0:T(128)S(1)SC(0:3)}", 128, 24, 24, 512, 512},
    {"a share of 9 of 20 rows", "s8[15,20,10]{0,1,2:T(1)SC(0:3)(1:4,13)}", 3000, 3000, 3000, 3000, 945},
    {"no share without a tile", "s32[6]{0:SC(0:3)}", 6, 24, 24, 24, 24},
    {"a bound counts", "s32[<=4096]{0:T(8)M(1024)}", 4096, 16384, 16384, 16384, 16384},
};

static void test_sizes(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof size_rows / sizeof size_rows[0]; r++) {
    tesela_xla_shape shape = shape_of(size_rows[r].shape);
    tesela_xla_sizes sizes;
    OK(tesela_xla_size(&shape, &sizes, &e_));
    AGREE(size_rows[r].name, sizes.elements, size_rows[r].elements);
    AGREE(size_rows[r].name, sizes.logical_bytes, size_rows[r].logical);
    AGREE(size_rows[r].name, sizes.unpadded_bytes, size_rows[r].unpadded);
    AGREE(size_rows[r].name, sizes.bytes, size_rows[r].bytes);
    AGREE(size_rows[r].name, sizes.allocated_bytes, size_rows[r].allocated);
    double expansion =
        size_rows[r].logical == 0 ? 1 : (double)size_rows[r].bytes / (double)size_rows[r].logical;
    assert_true(fabs(sizes.expansion - expansion) < 1e-12 * expansion);
  }
}

static void test_large(void **state) {
  (void)state;
  tesela_xla_shape flowpm =
      shape_of("s32[8388608,8,4]{2,1,0:T(8,128)}"); /* flowpm issue 27: 1 GiB becomes 32 */
  tesela_xla_shape most =
      shape_of("f32[2305843009213693000]{0}"); /* 2^63 bytes - 3808: more bits than int64 counts */
  tesela_xla_sizes sizes;
  OK(tesela_xla_size(&flowpm, &sizes, &e_));
  AGREE("flowpm", sizes.bytes, INT64_C(34359738368));
  AGREE("flowpm", sizes.unpadded_bytes, 1073741824);
  assert_true(fabs(sizes.expansion - 32) < 1e-12);
  OK(tesela_xla_size(&most, &sizes, &e_));
  AGREE("most", sizes.bytes, INT64_C(9223372036854772000));
  AGREE("most", sizes.logical_bytes, INT64_C(9223372036854772000));
  AGREE("most", sizes.allocated_bytes, INT64_C(9223372036854772000));
}

static void test_no_size(void **state) {
  (void)state;
  static const struct {
    const char *name, *shape, *says;
  } rows[] = {
      {"a token has no size", "token[]", "token"},
      {"an opaque has no size", "opaque[]", "opaque"},
      {"an unbounded dim has none", "f32[3,?]{1,0}", "dim 1 is ?"},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_xla_shape shape = shape_of(rows[r].shape);
    tesela_xla_sizes sizes = {.bytes = 77};
    tesela_error err;
    AGREE(rows[r].name, tesela_xla_size(&shape, &sizes, &err), TESELA_E_UNSUPPORTED);
    if (!strstr(err.message, rows[r].says)) fail_msg("%s: %s", rows[r].name, err.message);
    AGREE("a failure changes nothing", sizes.bytes, 77);
  }
}

/* ---- padding ---- */

/* Each pad: level.entry, position from the end, dims, extent before and after, tile. */
static const struct {
  const char *name, *shape, *pads;
} pad_rows[] = {
    {"no tile, no padding", "f32[20,200]{1,0}", ""},
    {"a tile that fits", "f32[24,256]{1,0:T(8,128)}", ""},
    {"both dims", "f32[20,200]{1,0:T(8,128)}", "0.0 @1 dims 1: 20->24 (8); 0.1 @0 dims 2: 200->256 (128); "},
    {"the order decides", "f32[20,200]{0,1:T(8,128)}", "0.1 @0 dims 1: 20->128 (128); "},
    {"the second level", "f32[8,8]{1,0:T(4,4)(3,1)}", "1.0 @1 dims 1: 4->6 (3); "},
    {"a leading one has no dim", "f32[8]{0:T(2,8)}", "0.0 @1 dims 0: 1->2 (2); "},
    {"combined dims", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", "0.4 @0 dims 24: 110->111 (3); "},
    {"the first of them", "f32[3,5,7]{2,1,0:T(*,2,7)}", "0.1 @1 dims 3: 15->16 (2); "},
    {"L", "f32[3,6]{1,0:T(2,2)L(32)}", "0.0 @1 dims 1: 3->4 (2); tail dims 3: 24->32 (32); "},
    {"E widens", "pred[8,128]{1,0:T(8,128)E(32)}", "width dims 0: 8->32 (32); "},
    {"E that narrows", "s4[8,128]{1,0:T(8,128)E(4)}", ""},
    {"dims of 0 stay 0", "f32[0,5]{1,0:T(2,2)L(32)}", "0.1 @0 dims 2: 5->6 (2); "},
};

static void write_pads(int32_t n, const tesela_xla_pad *pad, char text[TEXT]) {
  size_t used = 0;
  text[0] = '\0';
  for (int32_t i = 0; i < n; i++) {
    char where[64] = "tail";
    if (pad[i].kind == TESELA_XLA_PAD_WIDTH) strcpy(where, "width");
    if (pad[i].kind == TESELA_XLA_PAD_TILE)
      snprintf(where, sizeof where, "%" PRId32 ".%" PRId32 " @%" PRId32, pad[i].level, pad[i].entry,
               pad[i].from_end);
    else
      AGREE(where, pad[i].level == -1 && pad[i].entry == -1 && pad[i].from_end == -1, true);
    used += (size_t)snprintf(text + used, TEXT - used,
                             "%s dims %" PRIu32 ": %" PRId64 "->%" PRId64 " (%" PRId64 "); ", where,
                             pad[i].dims, pad[i].extent, pad[i].padded, pad[i].tile);
  }
}

static void test_padding(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof pad_rows / sizeof pad_rows[0]; r++) {
    tesela_xla_shape shape = shape_of(pad_rows[r].shape);
    tesela_xla_pad pads[3], first[1];
    char text[TEXT], alone[TEXT], expected[TEXT];
    int32_t n, counted;
    OK(tesela_xla_padding(&shape, 3, pads, &n, &e_));
    write_pads(n, pads, text);
    if (strcmp(text, pad_rows[r].pads) != 0) fail_msg("%s: %s", pad_rows[r].name, text);
    OK(tesela_xla_padding(&shape, 1, first, &counted, &e_));
    AGREE("counted beyond the capacity", counted, n);
    write_pads(n > 0, first, alone);
    write_pads(n > 0, pads, expected);
    assert_string_equal(alone, expected);
    OK(tesela_xla_padding(&shape, 0, NULL, &counted, &e_));
    AGREE("counted only", counted, n);
  }
}

/* The factors of all pads multiply to the whole expansion. */
static void test_padding_product(void **state) {
  (void)state;
  enum { PADS = 80, SEEDS = 20000 };
  int64_t tiles = 0, tails = 0, widths = 0;
  for (uint64_t k = 0; k < SEEDS; k++) {
    struct oracle_array array;
    const char *type;
    char text[TEXT];
    tesela_xla_pad pads[PADS];
    int32_t n;
    oracle_random(first_seed() + k, ORACLE_RANDOM_ELEMENTS, &array, &type);
    if (oracle_count(&array) == 0) continue;
    oracle_print(&array, type, text, sizeof text);
    tesela_xla_shape shape = shape_of_array(&array, type);
    int64_t natural =
        array.e_bits != 0 && array.e_bits < 8 * array.type_bytes ? array.e_bits : 8 * array.type_bytes;
    double want = (double)oracle_elements(&array) * (double)array.bits /
                  (double)(oracle_count(&array) * natural),
           got = 1;
    OK(tesela_xla_padding(&shape, PADS, pads, &n, &e_));
    assert_true(n <= PADS);
    for (int32_t i = 0; i < n; i++) {
      AGREE(text, pads[i].padded % pads[i].tile, 0);
      AGREE(text, pads[i].extent > 0 && pads[i].extent < pads[i].padded, true);
      if (pads[i].kind != TESELA_XLA_PAD_WIDTH)
        AGREE(text, pads[i].padded - pads[i].extent < pads[i].tile, true);
      got *= (double)pads[i].padded / (double)pads[i].extent;
      tiles += pads[i].kind == TESELA_XLA_PAD_TILE;
      tails += pads[i].kind == TESELA_XLA_PAD_TAIL;
      widths += pads[i].kind == TESELA_XLA_PAD_WIDTH;
    }
    if (fabs(got - want) > 1e-9 * want) fail_msg("%s: the factors make %.12g, not %.12g", text, got, want);
  }
  assert_true(tiles > 500 && tails > 500 && widths > 500);
}

/* Shares of random arrays with split configs. */
static void test_random_splits(void **state) {
  (void)state;
  int cut = 0;
  for (uint64_t k = 0; k < 5000; k++) {
    struct oracle_array array;
    struct oracle_split splits[2];
    const char *type;
    char text[TEXT];
    int n = 0;
    tesela_xla_sizes sizes;
    oracle_random(first_seed() + k, ORACLE_RANDOM_ELEMENTS, &array, &type);
    oracle_print(&array, type, text, sizeof text);
    tesela_xla_shape shape = shape_of_array(&array, type);
    for (int p = array.rank - 1; p >= 0 && n < 2; p--) {
      int64_t extent = array.dim[array.minor_to_major[array.rank - 1 - p]];
      if (extent < 4) continue;
      splits[n] = (struct oracle_split){p, 2, {1 + (int64_t)k % 2, extent - 1}};
      shape.layout.split[n] = (tesela_xla_split){p, 2, 2 * n};
      for (int i = 0; i < 2; i++) shape.layout.split_point[2 * n + i] = splits[n].cut[i];
      n++;
    }
    shape.layout.n_splits = n;
    shape.layout.n_split_points = 2 * n;
    OK(tesela_xla_size(&shape, &sizes, &e_));
    AGREE(text, sizes.allocated_bytes, oracle_allocated_bytes(&array, splits, n));
    AGREE(text, sizes.bytes, oracle_bytes(&array));
    cut += sizes.allocated_bytes < sizes.bytes;
  }
  assert_true(cut > 500);
}

/* ---- strides, splits, packing ---- */

static const struct {
  const char *name, *shape;
  tesela_status status;
  int64_t strides[3];
} stride_rows[] = {
    {"row-major", "f32[3,5,7]{2,1,0}", TESELA_OK, {140, 28, 4}},
    {"column-major", "f32[3,5,7]{0,1,2}", TESELA_OK, {4, 12, 60}},
    {"E of whole bytes", "pred[3,5,7]{2,1,0:E(32)}", TESELA_OK, {140, 28, 4}},
    {"E of a nibble", "s4[3,5,7]{2,1,0:E(4)}", TESELA_E_UNSUPPORTED, {0}},
    {"tiles that move elements", "f32[3,5,7]{2,1,0:T(2,2)}", TESELA_E_UNSUPPORTED, {0}},
    {"tiles that pad rows", "f32[3,5,7]{2,1,0:T(1,8)}", TESELA_E_UNSUPPORTED, {0}},
    {"tiles that move nothing", "f32[3,8,128]{2,1,0:T(8,128)}", TESELA_OK, {4096, 512, 4}},
    {"tiles that only pad at the end", "f32[1,3,128]{2,1,0:T(8,128)}", TESELA_OK, {1536, 512, 4}},
    {"a dim of 0", "f32[3,0,7]{2,1,0}", TESELA_OK, {0, 28, 4}},
    {"a token", "token[]", TESELA_E_UNSUPPORTED, {0}},
};

static void test_byte_strides(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof stride_rows / sizeof stride_rows[0]; r++) {
    tesela_xla_shape shape = shape_of(stride_rows[r].shape);
    int64_t strides[3] = {0};
    AGREE(stride_rows[r].name, tesela_xla_byte_strides(&shape, strides, NULL), stride_rows[r].status);
    for (int d = 0; d < 3; d++) AGREE(stride_rows[r].name, strides[d], stride_rows[r].strides[d]);
  }
}

static void test_splits(void **state) {
  (void)state;
  static const int64_t part[3] = {150, 90, 70};
  tesela_xla_shape shape = shape_of("s8[150,200,100]{0,1,2:SC(0:30)(1:40,130)}");
  int64_t size, elements;
  for (int32_t d = 0; d < 3; d++) {
    OK(tesela_xla_max_split_size(&shape, d, &size, &e_));
    AGREE("largest part", size, part[d]);
  }
  OK(tesela_xla_max_split_elements(&shape, &elements, &e_));
  AGREE("largest share", elements, 945000);
  assert_int_equal(tesela_xla_max_split_size(&shape, 3, &size, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_xla_max_split_size(&shape, -1, &size, NULL), TESELA_E_RANGE);
}

static void test_packed_factor(void **state) {
  (void)state;
  static const struct {
    const char *shape;
    int64_t factor;
  } rows[] = {
      {"bf16[1024]{0:T(1024)(128)(2,1)}", 2},
      {"s8[4096]{0:T(1024)(128)(4,1)}", 4},
      {"bf16[20,200]{1,0:T(8,128)(2,1)}", 1},
      {"f32[1024]{0:T(1024)}", 1},
      {"bf16[1024]{0:T(1024)(128)(2)}", 1},
      {"bf16[1024]{0:T(1024)(128)(*,2)}", 1},
      {"token[]", 1},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_xla_shape shape = shape_of(rows[r].shape);
    AGREE(rows[r].shape, tesela_xla_packed_factor(&shape), rows[r].factor);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes),           cmocka_unit_test(test_large),
      cmocka_unit_test(test_no_size),         cmocka_unit_test(test_padding),
      cmocka_unit_test(test_padding_product), cmocka_unit_test(test_byte_strides),
      cmocka_unit_test(test_splits),          cmocka_unit_test(test_random_splits),
      cmocka_unit_test(test_packed_factor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
