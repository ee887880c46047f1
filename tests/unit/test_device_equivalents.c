/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_equivalents.c - the same layouts in other notations: each row has the device dims and the place of an
 * element as that notation's own definition gives it, written out as a formula.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

/* oneDNN nChw16c, TVM NCHW16c: blocks of 16 channels, the block innermost. [2,35,3,5] */
static int64_t blocked_nchw16c(const int64_t *i) {
  return (((i[0] * 3 + i[1] / 16) * 3 + i[2]) * 5 + i[3]) * 16 + i[1] % 16;
}

/* oneDNN OIhw16i16o: a tile of 16 x 16, out channels fastest. [32,48,3,3] */
static int64_t blocked_oihw16i16o(const int64_t *i) {
  return ((((i[0] / 16 * 3 + i[1] / 16) * 3 + i[2]) * 3 + i[3]) * 16 + i[1] % 16) * 16 + i[0] % 16;
}

/* cuBLASLt COL32: columns in groups of 32, each group row by row. [70,100] */
static int64_t col32(const int64_t *i) { return i[1] / 32 * (70 * 32) + i[0] * 32 + i[1] % 32; }

/* channels_last: strides of an NCHW tensor whose memory is NHWC. [2,8,3,5] */
static int64_t channels_last(const int64_t *i) { return ((i[0] * 3 + i[2]) * 5 + i[3]) * 8 + i[1]; }

/* MLIR tensor.pack inner_dims_pos = [0, 1] inner_tiles = [8, 32] outer_dims_perm = [1, 0]. [20,70] */
static int64_t mlir_pack(const int64_t *i) {
  return ((i[1] / 32 * 3 + i[0] / 8) * 8 + i[0] % 8) * 32 + i[1] % 32;
}

/* CuTe (1000,(64,4)):(64,(1,64000)): the second coordinate is split with the first mode fastest. */
static int64_t cute(const int64_t *i) { return i[0] * 64 + i[1] % 64 * 1 + i[1] / 64 * 64000; }

/* Halide and TVM: split(x, xo, xi, 16); split(y, yo, yi, 4); reorder(xo, yo, yi, xi), xi innermost. [9,40] */
static int64_t halide(const int64_t *i) {
  return ((i[1] / 16 * 3 + i[0] / 4) * 4 + i[0] % 4) * 16 + i[1] % 16;
}

/* A linear layout over bits: rows bits 1 2 4 8 -> 64 128 256 512, columns 1..32 -> themselves, 64 -> 1024. [16,128] */
static int64_t linear_over_bits(const int64_t *i) {
  int64_t place = 0;
  for (int b = 0; b < 4; b++)
    if (i[0] >> b & 1) place ^= (int64_t)64 << b;
  for (int b = 0; b < 6; b++)
    if (i[1] >> b & 1) place ^= (int64_t)1 << b;
  return i[1] >> 6 & 1 ? place ^ 1024 : place;
}

/* The RFC's rows of sticks, as the affine map of an MLIR memref: (d0, d1) -> (d1 floordiv 64, d0, d1 mod 64). */
static int64_t affine_map(const int64_t *i) { return (i[1] / 64 * 30 + i[0]) * 64 + i[1] % 64; }

static const struct {
  const char *name;
  int64_t shape[4];
  int32_t rank, n, stick_dims, stick_bytes; /* elements of 2 bytes */
  tesela_device_dim dims[6];                /* extent, step, stride, host dim */
  int64_t (*place)(const int64_t *index);
  const char *xla; /* the same as an XLA layout, NULL: none is given */
} rows[] = {
    {"nChw16c",
     {2, 35, 3, 5},
     4,
     5,
     1,
     32,
     {{2, 1, 0, 0}, {3, 16, 0, 1}, {3, 1, 0, 2}, {5, 1, 0, 3}, {16, 1, 0, 1}},
     blocked_nchw16c,
     "f16[2,35,3,5]{3,2,1,0:T(16,1,1)}"},
    {"OIhw16i16o",
     {32, 48, 3, 3},
     4,
     6,
     1,
     32,
     {{2, 16, 0, 0}, {3, 16, 0, 1}, {3, 1, 0, 2}, {3, 1, 0, 3}, {16, 1, 0, 1}, {16, 1, 0, 0}},
     blocked_oihw16i16o,
     "f16[32,48,3,3]{3,2,1,0:T(16,16,1,1)(16,1,1,1)}"},
    {"COL32",
     {70, 100},
     2,
     3,
     1,
     64,
     {{4, 32, 0, 1}, {70, 1, 0, 0}, {32, 1, 0, 1}},
     col32,
     "f16[70,100]{0,1:T(32,1)}"},
    {"channels_last",
     {2, 8, 3, 5},
     4,
     4,
     1,
     16,
     {{2, 1, 0, 0}, {3, 1, 0, 2}, {5, 1, 0, 3}, {8, 1, 0, 1}},
     channels_last,
     "f16[2,8,3,5]{1,3,2,0}"},
    {"tensor.pack",
     {20, 70},
     2,
     4,
     1,
     64,
     {{3, 32, 0, 1}, {3, 8, 0, 0}, {8, 1, 0, 0}, {32, 1, 0, 1}},
     mlir_pack,
     "f16[20,70]{0,1:T(32,8)(32,1)}"},
    {"CuTe",
     {1000, 200},
     2,
     3,
     1,
     128,
     {{4, 64, 0, 1}, {1000, 1, 0, 0}, {64, 1, 0, 1}},
     cute,
     "f16[1000,200]{0,1:T(64,1)}"},
    {"split and reorder",
     {9, 40},
     2,
     4,
     1,
     32,
     {{3, 16, 0, 1}, {3, 4, 0, 0}, {4, 1, 0, 0}, {16, 1, 0, 1}},
     halide,
     NULL},
    {"linear over bits",
     {16, 128},
     2,
     3,
     1,
     128,
     {{2, 64, 0, 1}, {16, 1, 0, 0}, {64, 1, 0, 1}},
     linear_over_bits,
     "f16[16,128]{0,1:T(64,1)}"},
    {"affine map",
     {30, 100},
     2,
     3,
     1,
     128,
     {{2, 64, 0, 1}, {30, 1, 0, 0}, {64, 1, 0, 1}},
     affine_map,
     "f16[30,100]{0,1:T(64,1)}"},
};

static void places_are_those_of_the_notation(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    tesela_device_host host;
    tesela_device_layout layout;
    tesela_layout core;
    tesela_error err = {.message = ""};
    int64_t index[4] = {0}, place;
    memset(&host, 0, sizeof host);
    host.dtype = host.device_dtype = TESELA_F16;
    host.bits = host.device_bits = 16;
    host.stick_bytes = rows[k].stick_bytes;
    host.rank = rows[k].rank;
    memcpy(host.shape, rows[k].shape, sizeof rows[k].shape);
    if (tesela_device_from_dims(&layout, &host, rows[k].n, rows[k].dims, false, rows[k].stick_dims, &err) ||
        tesela_device_to_layout(&layout, &core, &err))
      fail_msg("%s: %s", rows[k].name, err.message);
    for (bool more = true; more;) {
      assert_int_equal(tesela_layout_place_of(&core, index, &place, NULL), TESELA_OK);
      if (place != rows[k].place(index))
        fail_msg("%s: %" PRId64 ", not %" PRId64, rows[k].name, place, rows[k].place(index));
      int32_t d = host.rank;
      while (d-- > 0 && ++index[d] == host.shape[d]) index[d] = 0;
      more = d >= 0;
    }
  }
}

static void and_those_of_an_xla_layout(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    tesela_xla_shape shape;
    tesela_layout core;
    int64_t index[4] = {0}, place;
    tesela_error err = {.message = ""};
    if (!rows[k].xla) continue;
    if (tesela_xla_parse(rows[k].xla, strlen(rows[k].xla), TESELA_XLA_STRICT, &shape, NULL, &err) ||
        tesela_xla_to_layout(&shape, &core, &err))
      fail_msg("%s: %s", rows[k].xla, err.message);
    for (bool more = true; more;) {
      assert_int_equal(tesela_layout_place_of(&core, index, &place, NULL), TESELA_OK);
      if (place != rows[k].place(index))
        fail_msg("%s: %" PRId64 ", not %" PRId64, rows[k].xla, place, rows[k].place(index));
      int32_t d = shape.rank;
      while (d-- > 0 && ++index[d] == shape.dim[d]) index[d] = 0;
      more = d >= 0;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_are_those_of_the_notation),
      cmocka_unit_test(and_those_of_an_xla_layout),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
