/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_transfer.c - transfers by rows: the worked re-sticks of tests/vectors/spyre_seed_examples.json
 * (SR001, SR002), what padding receives, integers that do not fit.
 */
#include "support_transfer.h"

/* ---- the worked re-sticks --------------------------------------------------------------------------------------- */

static uint64_t hash_place(uint64_t hash, int64_t place) {
  for (int b = 0; b < 8; b++) hash = (hash ^ ((uint64_t)place >> 8 * b & 255)) * 0x100000001b3u;
  return hash;
}

/* Source places are the values that are moved, so the pairs are read from the result; 0xffff is padding. */
static void worked_resticks(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int32_t rank;
    int64_t shape[3];
    int32_t order[3], stick;
    int64_t size[4], read, written;
    uint64_t hash;
  } rows[] = {
      {"SR001", 2, {300, 128}, {0, 1}, 0, {5, 128, 64}, 38400, 40960, 0x9c156686abe68405},
      {"SR002", 3, {10, 20, 130}, {0, 1, 2}, 1, {130, 1, 10, 64}, 38400, 83200, 0x4963c27128e60aa5},
  };
  static uint16_t src[40000], dst[90000];
  static int64_t at[40000];
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_device_layout from, to;
    tesela_device_host host = transfer_host(TESELA_F16, 16, TESELA_F16, 16, rows[i].rank, rows[i].shape);
    tesela_transfer *transfer = NULL;
    tesela_transfer_options options = {.pad = TESELA_PAD_VALUE, .value = -(double)NAN};
    transfer_layout(&from, &host, rows[i].order, rows[i].rank);
    OK(tesela_device_restick(&to, &from, rows[i].stick, &e_));
    for (int32_t j = 0; j < to.n_dims; j++) assert_int_equal(to.dim[j].extent, rows[i].size[j]);
    assert_int_equal(from.places, rows[i].read);
    assert_int_equal(to.places, rows[i].written);
    for (int64_t p = 0; p < from.places; p++) src[p] = (uint16_t)p;
    memset(dst, 0x11, sizeof dst);
    OK(tesela_transfer_between(&transfer, &to, &from, &options, &e_));
    OK(tesela_transfer_run(transfer, dst, src, NULL, &e_));
    tesela_transfer_destroy(transfer);
    for (int64_t p = 0; p < 40000; p++) at[p] = -1;
    for (int64_t p = 0; p < to.places; p++)
      if (dst[p] != 0xfe00) at[dst[p]] = p;
    assert_int_equal(dst[to.places], 0x1111);
    tesela_layout layout;
    int64_t index[3] = {0}, place;
    uint64_t hash = 0xcbf29ce484222325u;
    OK(tesela_device_to_layout(&from, &layout, &e_));
    do {
      OK(tesela_layout_place_of(&layout, index, &place, &e_));
      hash = hash_place(hash_place(hash, place), at[place]);
    } while (tesela_index_next(layout.rank, layout.shape, index));
    if (hash != rows[i].hash) fail_msg("%s: %" PRIx64, rows[i].name, hash);
  }
}

/* ---- padding ---------------------------------------------------------------------------------------------------- */

static void padding_values(void **state) {
  (void)state;
  const double inf = INFINITY, nan = NAN;
  const struct {
    const char *name;
    tesela_dtype dtype;
    int32_t bits;
    tesela_pad pad;
    double value;
    tesela_status status;
    uint64_t code;
  } rows[] = {
      {"f16 zero", TESELA_F16, 16, TESELA_PAD_ZERO, 9, TESELA_OK, 0},
      {"f16 -inf", TESELA_F16, 16, TESELA_PAD_MINUS_INF, 0, TESELA_OK, 0xfc00},
      {"f16 +inf", TESELA_F16, 16, TESELA_PAD_PLUS_INF, 0, TESELA_OK, 0x7c00},
      {"f16 1.1", TESELA_F16, 16, TESELA_PAD_VALUE, 1.1, TESELA_OK, 0x3c66},
      {"f16 -0", TESELA_F16, 16, TESELA_PAD_VALUE, -0.0, TESELA_OK, 0x8000},
      {"f16 2^-24", TESELA_F16, 16, TESELA_PAD_VALUE, 1.0 / 16777216, TESELA_OK, 1},
      {"f16 2^-25 is a tie", TESELA_F16, 16, TESELA_PAD_VALUE, 1.0 / 33554432, TESELA_OK, 0},
      {"f16 1 + 2^-11 + 2^-40: rounded once", TESELA_F16, 16, TESELA_PAD_VALUE,
       1 + 1.0 / 2048 + 1.0 / 1099511627776, TESELA_OK, 0x3c01},
      {"f16 65519", TESELA_F16, 16, TESELA_PAD_VALUE, 65519, TESELA_OK, 0x7bff},
      {"f16 65520", TESELA_F16, 16, TESELA_PAD_VALUE, 65520, TESELA_E_RANGE, 0},
      {"f16 inf as a value", TESELA_F16, 16, TESELA_PAD_VALUE, -inf, TESELA_OK, 0xfc00},
      {"f16 NaN", TESELA_F16, 16, TESELA_PAD_VALUE, nan, TESELA_OK, 0x7e00},
      {"bf16 -inf", TESELA_BF16, 16, TESELA_PAD_MINUS_INF, 0, TESELA_OK, 0xff80},
      {"bf16 1 + 2^-8 is a tie", TESELA_BF16, 16, TESELA_PAD_VALUE, 1 + 1.0 / 256, TESELA_OK, 0x3f80},
      {"f32 0.1", TESELA_F32, 32, TESELA_PAD_VALUE, 0.1, TESELA_OK, 0x3dcccccd},
      {"f32 1e39", TESELA_F32, 32, TESELA_PAD_VALUE, 1e39, TESELA_E_RANGE, 0},
      {"f32 1e-45 is the smallest", TESELA_F32, 32, TESELA_PAD_VALUE, 1e-45, TESELA_OK, 1},
      {"f64 0.1", TESELA_F64, 64, TESELA_PAD_VALUE, 0.1, TESELA_OK, 0x3fb999999999999a},
      {"f8e5m2 -inf", TESELA_F8E5M2, 8, TESELA_PAD_MINUS_INF, 0, TESELA_OK, 0xfc},
      {"f8e4m3fn has no infinity", TESELA_F8E4M3FN, 8, TESELA_PAD_MINUS_INF, 0, TESELA_E_UNSUPPORTED, 0},
      {"f8e4m3fn -448", TESELA_F8E4M3FN, 8, TESELA_PAD_VALUE, -448, TESELA_OK, 0xfe},
      {"f8e4m3fn 500", TESELA_F8E4M3FN, 8, TESELA_PAD_VALUE, 500, TESELA_E_RANGE, 0},
      {"s8 least", TESELA_S8, 8, TESELA_PAD_MINUS_INF, 0, TESELA_OK, 0x80},
      {"s8 greatest", TESELA_S8, 8, TESELA_PAD_PLUS_INF, 0, TESELA_OK, 0x7f},
      {"s8 -2.5 to even", TESELA_S8, 8, TESELA_PAD_VALUE, -2.5, TESELA_OK, 0xfe},
      {"s8 -3.5 to even", TESELA_S8, 8, TESELA_PAD_VALUE, -3.5, TESELA_OK, 0xfc},
      {"s8 -128.4", TESELA_S8, 8, TESELA_PAD_VALUE, -128.4, TESELA_OK, 0x80},
      {"s8 127.5", TESELA_S8, 8, TESELA_PAD_VALUE, 127.5, TESELA_E_RANGE, 0},
      {"s8 NaN", TESELA_S8, 8, TESELA_PAD_VALUE, nan, TESELA_E_RANGE, 0},
      {"s32 least", TESELA_S32, 32, TESELA_PAD_MINUS_INF, 0, TESELA_OK, 0x80000000},
      {"s32 -7", TESELA_S32, 32, TESELA_PAD_VALUE, -7, TESELA_OK, 0xfffffff9},
      {"u32 greatest", TESELA_U32, 32, TESELA_PAD_PLUS_INF, 0, TESELA_OK, 0xffffffff},
      {"u32 -1", TESELA_U32, 32, TESELA_PAD_VALUE, -1, TESELA_E_RANGE, 0},
      {"s64 2^63", TESELA_S64, 64, TESELA_PAD_VALUE, 9223372036854775808.0, TESELA_E_RANGE, 0},
      {"s64 -2^63", TESELA_S64, 64, TESELA_PAD_VALUE, -9223372036854775808.0, TESELA_OK, 0x8000000000000000},
      {"u64 2^63", TESELA_U64, 64, TESELA_PAD_VALUE, 9223372036854775808.0, TESELA_OK, 0x8000000000000000},
      {"pred least", TESELA_PRED, 8, TESELA_PAD_MINUS_INF, 0, TESELA_OK, 0},
      {"pred 1", TESELA_PRED, 8, TESELA_PAD_VALUE, 1, TESELA_OK, 1},
      {"pred 2", TESELA_PRED, 8, TESELA_PAD_VALUE, 2, TESELA_E_RANGE, 0},
      {"c64 has no least", TESELA_C64, 64, TESELA_PAD_MINUS_INF, 0, TESELA_E_UNSUPPORTED, 0},
      {"no such pad", TESELA_F16, 16, (tesela_pad)5, 0, TESELA_E_RANGE, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_device_layout layout =
        transfer_rows(rows[i].dtype, rows[i].bits, rows[i].dtype, rows[i].bits, 1, 1);
    tesela_transfer_options options = {.pad = rows[i].pad, .value = rows[i].value};
    tesela_transfer *transfer = NULL;
    tesela_error err = {.message = ""};
    tesela_status status = tesela_transfer_to_device(&transfer, &layout, NULL, 0, &options, &err);
    if (status != rows[i].status) fail_msg("%s: status %d, %s", rows[i].name, (int)status, err.message);
    if (status != TESELA_OK) {
      assert_null(transfer);
      assert_true(err.message[0]);
      continue;
    }
    unsigned char host[8], device[128];
    memset(host, 0x55, sizeof host);
    memset(device, 0xa5, sizeof device);
    OK(tesela_transfer_run(transfer, device, host, NULL, &e_));
    tesela_transfer_destroy(transfer);
    int32_t bytes = rows[i].bits / 8;
    for (int32_t p = 0; p < 128 / bytes; p++) {
      uint64_t code = 0;
      memcpy(&code, device + p * bytes, (size_t)bytes);
      uint64_t want = p ? rows[i].code : 0x5555555555555555u >> (64 - rows[i].bits);
      if (code != want) fail_msg("%s: place %d is %" PRIx64 ", not %" PRIx64, rows[i].name, p, code, want);
    }
  }
}

/* f16[1000,200]: the partial sticks of 8 leave 56 lanes a row; the last one ends the tensor. */
static void padding_is_counted(void **state) {
  (void)state;
  tesela_device_layout layout = transfer_rows(TESELA_F16, 16, TESELA_F16, 16, 1000, 200);
  tesela_transfer *transfer = NULL;
  tesela_transfer_options options = {.pad = TESELA_PAD_ZERO};
  OK(tesela_transfer_to_device(&transfer, &layout, NULL, 0, &options, &e_));
  tesela_transfer_facts facts = tesela_transfer_facts_of(transfer);
  assert_int_equal(facts.elements, 200000);
  assert_int_equal(facts.bytes_read, 400000);
  assert_int_equal(facts.bytes_written, 512000);
  assert_int_equal(facts.dst_bytes, 512000);
  assert_int_equal(facts.src_bytes, 400000);
  tesela_transfer_destroy(transfer);
  OK(tesela_transfer_to_device(&transfer, &layout, NULL, 0, NULL, &e_));
  assert_int_equal(tesela_transfer_facts_of(transfer).bytes_written, 400000);
  tesela_transfer_destroy(transfer);
}

/* ---- integers that do not fit ----------------------------------------------------------------------------------- */

static void integers_that_do_not_fit(void **state) {
  (void)state;
  tesela_device_layout layout = transfer_rows(TESELA_S64, 64, TESELA_S32, 32, 3, 40);
  int64_t host[120], back[120];
  int32_t device[256], before[256];
  tesela_transfer *transfer = NULL;
  tesela_transfer_options lossy = {.lossy = true};
  tesela_error err = {.message = ""};
  for (int i = 0; i < 120; i++) host[i] = i % 2 ? INT32_MAX : INT32_MIN;
  memset(device, 0x77, sizeof device);
  memcpy(before, device, sizeof device);
  OK(tesela_transfer_to_device(&transfer, &layout, NULL, 0, NULL, &e_));
  host[85] = (int64_t)INT32_MAX + 1;
  host[119] = (int64_t)INT32_MIN - 1;
  assert_int_equal(tesela_transfer_run(transfer, device, host, NULL, &err), TESELA_E_RANGE);
  assert_string_equal(err.message, "element (2,5) is 2147483648; s32 holds -2147483648 to 2147483647");
  assert_memory_equal(device, before, sizeof device);
  host[85] = 0;
  assert_int_equal(tesela_transfer_run(transfer, device, host, NULL, &err), TESELA_E_RANGE);
  assert_string_equal(err.message, "element (2,39) is -2147483649; s32 holds -2147483648 to 2147483647");
  host[119] = 7;
  OK(tesela_transfer_run(transfer, device, host, NULL, &e_));
  assert_int_equal(device[0], INT32_MIN); /* generic: blocks, rows, lanes; 40 columns are 2 blocks of 32 */
  assert_int_equal(device[96 + 2 * 32 + 7], 7);
  tesela_transfer_destroy(transfer);
  OK(tesela_transfer_to_host(&transfer, &layout, NULL, 0, NULL, &e_));
  OK(tesela_transfer_run(transfer, back, device, NULL, &e_));
  assert_memory_equal(back, host, sizeof host);
  tesela_transfer_destroy(transfer);
  OK(tesela_transfer_to_device(&transfer, &layout, NULL, 0, &lossy, &e_));
  host[0] = 0x100000005;
  OK(tesela_transfer_run(transfer, device, host, NULL, &e_));
  assert_int_equal(device[0], 5);
  tesela_transfer_destroy(transfer);
}

/* Types narrower on the host: what a device computed may not fit. Rows: type, a value, whether it fits. */
static void integers_that_do_not_fit_the_host(void **state) {
  (void)state;
  static const struct {
    tesela_dtype host, device;
    int32_t bits;
    uint32_t value;
    bool fits;
    const char *text;
  } rows[] = {
      {TESELA_S8, TESELA_S32, 8, 0xffffff80, true, ""},
      {TESELA_S8, TESELA_S32, 8, 0xffffff7f, false, "element (1,2) is -129; s8 holds -128 to 127"},
      {TESELA_S8, TESELA_S32, 8, 128, false, "element (1,2) is 128; s8 holds -128 to 127"},
      {TESELA_U8, TESELA_U32, 8, 255, true, ""},
      {TESELA_U8, TESELA_U32, 8, 0xffffffff, false, "element (1,2) is 4294967295; u8 holds 0 to 255"},
      {TESELA_S16, TESELA_S32, 16, 0x8000, false, "element (1,2) is 32768; s16 holds -32768 to 32767"},
      {TESELA_U16, TESELA_U32, 16, 0x10000, false, "element (1,2) is 65536; u16 holds 0 to 65535"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_device_layout layout = transfer_rows(rows[i].host, rows[i].bits, rows[i].device, 32, 2, 3);
    uint32_t device[64] = {0};
    unsigned char host[16] = {0};
    tesela_transfer *transfer = NULL;
    tesela_error err = {.message = ""};
    device[32 + 2] = rows[i].value;
    OK(tesela_transfer_to_host(&transfer, &layout, NULL, 0, NULL, &e_));
    tesela_status status = tesela_transfer_run(transfer, host, device, NULL, &err);
    if (status != (rows[i].fits ? TESELA_OK : TESELA_E_RANGE) || strcmp(err.message, rows[i].text) != 0)
      fail_msg("row %zu: status %d, %s", i, (int)status, err.message);
    tesela_transfer_destroy(transfer);
  }
  tesela_device_layout wide = transfer_rows(TESELA_U64, 64, TESELA_U32, 32, 1, 1);
  uint64_t huge = ~(uint64_t)0;
  uint32_t device[32];
  tesela_transfer *transfer = NULL;
  tesela_error err = {.message = ""};
  OK(tesela_transfer_to_device(&transfer, &wide, NULL, 0, NULL, &e_));
  assert_int_equal(tesela_transfer_run(transfer, device, &huge, NULL, &err), TESELA_E_RANGE);
  assert_string_equal(err.message, "element (0,0) is 18446744073709551615; u32 holds 0 to 4294967295");
  tesela_transfer_destroy(transfer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(worked_resticks),
      cmocka_unit_test(padding_values),
      cmocka_unit_test(padding_is_counted),
      cmocka_unit_test(integers_that_do_not_fit),
      cmocka_unit_test(integers_that_do_not_fit_the_host),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
