/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_transfer_convert.c - transfers that change types, of sizes that leave the caches (where stores go past them and threads share
 * the work): every byte of both sides against the definition of the layout, at unaligned addresses.
 * And the look through integers that may not fit: which one is named, and that nothing is written.
 *
 * Values are small whole numbers, which all types here say exactly; rounding is the kernels' test.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_seed.h"

static uint64_t state;

static int64_t draw(int64_t n) { /* 0 <= it < n; splitmix64 */
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return (int64_t)((z ^ z >> 31) % (uint64_t)n);
}

#define OK(call)                                                               \
  do {                                                                         \
    tesela_error e_ = {.message = ""};                                         \
    if ((call) != TESELA_OK) fail_msg("%s: %s, " #call, __func__, e_.message); \
  } while (0)

/* ---- by definition ------------------------------------------------------------------------------------------------ */

/* -100 to 100 in a type; of pred whether it is 0, of unsigned ones its size. */
static void put(unsigned char *at, tesela_dtype dtype, int32_t bits, int64_t x) {
  float number = (float)x;
  uint32_t code;
  memcpy(&code, &number, 4);
  tesela_dtype_family family = tesela_dtype_family_of(dtype);
  if (dtype == TESELA_BF16) code >>= 16;
  if (dtype == TESELA_F16 && x) /* exponent of bias 127 to one of 15; the fraction's upper 10 bits */
    code = (code >> 16 & 0x8000) | ((code >> 23 & 255) - 112) << 10 | (code >> 13 & 0x3ff);
  if (family == TESELA_FAMILY_SIGNED) memcpy(at, &x, (size_t)bits / 8);
  if (family == TESELA_FAMILY_UNSIGNED) x = x < 0 ? -x : x, memcpy(at, &x, (size_t)bits / 8);
  if (family == TESELA_FAMILY_BOOL) at[0] = x != 0;
  if (family == TESELA_FAMILY_FLOAT) memcpy(at, &code, (size_t)bits / 8);
}

/* On the device pred is 1 or 0. */
static int64_t on_device(tesela_dtype host, int64_t x) { return host == TESELA_PRED ? x != 0 : x; }

static int64_t device_place(const tesela_device_layout *layout, int64_t row, int64_t col) {
  int64_t place = 0;
  for (int32_t j = 0; j < layout->n_dims; j++) {
    const tesela_device_dim *d = &layout->dim[j];
    if (d->dim >= 0) place += (d->dim == 0 ? row : col) / d->step % d->extent * d->stride;
  }
  return place;
}

typedef struct convert_case {
  const char *target;
  tesela_dtype host, device;
  int32_t bits, device_bits;
  int64_t rows, cols, pitch; /* of the host, in elements */
  int32_t stick, threads;
  int64_t host_at, device_at; /* bytes after the start of a cache line where the buffers begin */
} convert_case;

static const convert_case cases[] = {
    {"tiles", TESELA_BF16, TESELA_F32, 16, 32, 1504, 2624, 2624, 1, 1, 0, 0},
    {"tiles", TESELA_BF16, TESELA_F32, 16, 32, 1501, 2603, 2605, 1, 3, 2, 4},
    {"tiles", TESELA_F16, TESELA_F32, 16, 32, 1700, 2600, 2608, 0, 2, 32, 64},
    {"tiles", TESELA_S8, TESELA_S32, 8, 32, 1999, 2111, 2111, 1, 1, 1, 0},
    {"tiles", TESELA_PRED, TESELA_F32, 8, 32, 1984, 2112, 2112, 1, 2, 0, 1},
    {"spyre", TESELA_BF16, TESELA_F16, 16, 16, 2048, 3072, 3072, 1, 1, 0, 0},
    {"spyre", TESELA_BF16, TESELA_F16, 16, 16, 2047, 3001, 3003, 1, 2, 6, 0},
    {"spyre", TESELA_BF16, TESELA_F16, 16, 16, 2040, 3008, 3008, 0, 1, 0, 16},
    {"spyre", TESELA_S64, TESELA_S32, 64, 32, 1024, 2048, 2048, 1, 2, 0, 0},
    {"spyre", TESELA_S64, TESELA_S32, 64, 32, 1023, 2017, 2018, 1, 1, 3, 32},
    {"spyre", TESELA_U64, TESELA_U32, 64, 32, 1000, 2008, 2008, 0, 3, 8, 0},
    {"spyre", TESELA_PRED, TESELA_F16, 8, 16, 2400, 3200, 3200, 1, 1, 0, 0},
};

static unsigned char *buffer(size_t bytes, int byte) {
  unsigned char *at = malloc(bytes);
  assert_non_null(at);
  memset(at, byte, bytes);
  return at;
}

static void check_image(const unsigned char *got, const unsigned char *want, size_t bytes, const char *what,
                        const convert_case *c) {
  if (memcmp(got, want, bytes) == 0) return;
  size_t at = 0;
  while (got[at] == want[at]) at++;
  fail_msg("%s %s as %s [%" PRId64 ",%" PRId64 "], %" PRId32 " threads, %s: byte %zu is %02x, not %02x",
           c->target, tesela_dtype_name(c->host), tesela_dtype_name(c->device), c->rows, c->cols, c->threads,
           what, at, got[at], want[at]);
}

static void set_types(tesela_device_layout *layout, tesela_dtype host, int32_t bits, tesela_dtype device,
                      int32_t device_bits) {
  layout->host.dtype = host;
  layout->host.bits = bits;
  layout->host.device_dtype = device;
  layout->host.device_bits = device_bits;
}

static void run_convert_case(const convert_case *c) {
  tesela_device_layout layout;
  const tesela_target *target = tesela_target_find(c->target);
  int64_t shape[2] = {c->rows, c->cols}, strides[2] = {c->pitch, 1};
  tesela_dtype like = c->device_bits == 16 ? TESELA_F16 : TESELA_F32; /* as wide on the device */
  OK(tesela_device_default(&layout, target, like, 2, shape, &e_));
  OK(tesela_device_with_stick(&layout, &layout.host, target, c->stick, &e_));
  set_types(&layout, c->host, c->bits, c->device, c->device_bits);
  int64_t bytes = c->bits / 8, device_bytes = c->device_bits / 8;
  size_t host_size = (size_t)(c->rows * c->pitch * bytes + c->host_at + 128);
  size_t device_size = (size_t)(layout.places * device_bytes + c->device_at + 128);
  unsigned char *host = buffer(host_size, 0x5a), *host_want = buffer(host_size, 0x5a);
  unsigned char *device = buffer(device_size, 0xa5), *device_want = buffer(device_size, 0xa5);
  for (int64_t row = 0; row < c->rows; row++)
    for (int64_t col = 0; col < c->cols; col++) {
      int64_t x = draw(201) - 100;
      if (c->host == TESELA_PRED) x = x > 0;
      put(host_want + c->host_at + (row * c->pitch + col) * bytes, c->host, c->bits, x);
      put(device_want + c->device_at + device_place(&layout, row, col) * device_bytes, c->device,
          c->device_bits, on_device(c->host, x));
    }
  tesela_transfer *to, *back;
  tesela_transfer_options options = {.threads = c->threads};
  OK(tesela_transfer_to_device(&to, &layout, strides, 0, &options, &e_));
  OK(tesela_transfer_to_host(&back, &layout, strides, 0, &options, &e_));
  OK(tesela_transfer_run(to, device + c->device_at, host_want + c->host_at, NULL, &e_));
  check_image(device, device_want, device_size, "to the device", c);
  OK(tesela_transfer_run(back, host + c->host_at, device_want + c->device_at, NULL, &e_));
  check_image(host, host_want, host_size, "to the host", c);
  tesela_transfer_destroy(to);
  tesela_transfer_destroy(back);
  free(host), free(host_want), free(device), free(device_want);
}

static void test_large_conversions(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) run_convert_case(&cases[i]);
}

/* ---- integers that do not fit --------------------------------------------------------------------------------------- */

static const struct {
  tesela_dtype from, to;
  int32_t bits, to_bits;
  int64_t low, high; /* fit */
} narrow[] = {
    {TESELA_S64, TESELA_S32, 64, 32, INT32_MIN, INT32_MAX},
    {TESELA_S32, TESELA_S8, 32, 8, -128, 127},
    {TESELA_S32, TESELA_S16, 32, 16, -32768, 32767},
    {TESELA_U64, TESELA_U32, 64, 32, 0, UINT32_MAX},
    {TESELA_U32, TESELA_U8, 32, 8, 0, 255},
};

/* Every number of every length of a row, just inside and just outside, among numbers that fit. */
static void test_limits(void **unused) {
  (void)unused;
  for (size_t t = 0; t < sizeof narrow / sizeof narrow[0]; t++)
    for (int64_t n = 1; n <= 70; n += n < 20 ? 1 : 7) {
      tesela_device_layout layout;
      tesela_transfer *to;
      int64_t bytes = narrow[t].bits / 8, data[80], outside[] = {narrow[t].high + 1, narrow[t].low - 1};
      unsigned char host[80 * 8], device[1024], before[1024];
      OK(tesela_device_default(&layout, tesela_target_find("spyre"), TESELA_F32, 1, &n, &e_));
      set_types(&layout, narrow[t].from, narrow[t].bits, narrow[t].to, narrow[t].to_bits);
      OK(tesela_transfer_to_device(&to, &layout, NULL, 0, NULL, &e_));
      for (int64_t i = 0; i < n; i++) {
        data[i] = draw(2) ? narrow[t].high : narrow[t].low;
        memcpy(host + i * bytes, &data[i], (size_t)bytes);
      }
      OK(tesela_transfer_run(to, device, host, NULL, &e_));
      memset(device, 0x77, sizeof device);
      memcpy(before, device, sizeof device);
      for (int64_t i = 0; i < n; i++)
        for (int32_t k = 0; k < (narrow[t].low ? 2 : 1); k++) {
          tesela_error err = {.message = ""};
          char says[40];
          memcpy(host + i * bytes, &outside[k], (size_t)bytes);
          assert_int_equal(tesela_transfer_run(to, device, host, NULL, &err), TESELA_E_RANGE);
          snprintf(says, sizeof says, "element (%" PRId64 ") is %" PRId64 ";", i, outside[k]);
          if (!strstr(err.message, says)) fail_msg("%s, not: %s", err.message, says);
          assert_memory_equal(device, before, sizeof device);
          memcpy(host + i * bytes, &data[i], (size_t)bytes);
        }
      tesela_transfer_destroy(to);
    }
}

/* Of two that do not fit the first in the order of the indices is named, however the host tensor lies in memory. */
static void test_first_is_named(void **unused) {
  (void)unused;
  enum { ROWS = 611, COLS = 1009, SIZE = ROWS * COLS };
  static const struct {
    int64_t strides[2], offset;
  } hosts[] = {
      {{COLS, 1}, 0}, {{1, ROWS}, 0}, {{-COLS, 1}, (ROWS - 1) * COLS}, {{1, -ROWS}, (COLS - 1) * ROWS}};
  int64_t shape[2] = {ROWS, COLS}, *host = calloc(SIZE, sizeof *host);
  assert_non_null(host);
  tesela_device_layout layout;
  OK(tesela_device_default(&layout, tesela_target_find("spyre"), TESELA_S64, 2, shape, &e_));
  size_t device_size = (size_t)(layout.places * 4);
  unsigned char *device = buffer(device_size, 0x31), *before = buffer(device_size, 0x31);
  for (size_t h = 0; h < sizeof hosts / sizeof hosts[0]; h++)
    for (int32_t threads = 1; threads <= 4; threads++) {
      tesela_transfer *to;
      tesela_transfer_options options = {.threads = threads};
      OK(tesela_transfer_to_device(&to, &layout, hosts[h].strides, hosts[h].offset, &options, &e_));
      for (int i = 0; i < 6; i++) {
        int64_t row[2], col[2], *at[2];
        for (int k = 0; k < 2; k++) {
          row[k] = draw(ROWS), col[k] = draw(COLS);
          at[k] = &host[hosts[h].offset + row[k] * hosts[h].strides[0] + col[k] * hosts[h].strides[1]];
          *at[k] = (int64_t)1 << 31;
        }
        int first = row[0] * COLS + col[0] <= row[1] * COLS + col[1] ? 0 : 1;
        tesela_error err = {.message = ""};
        char says[60];
        assert_int_equal(tesela_transfer_run(to, device, host, NULL, &err), TESELA_E_RANGE);
        snprintf(says, sizeof says, "element (%" PRId64 ",%" PRId64 ") is 2147483648;", row[first],
                 col[first]);
        if (!strstr(err.message, says)) fail_msg("%s, not: %s", err.message, says);
        assert_memory_equal(device, before, device_size);
        *at[0] = *at[1] = 0;
      }
      tesela_transfer_destroy(to);
    }
  free(host), free(device), free(before);
}

/* A host tensor of few places said many times; and garbage in padding, which holds no element. */
static void test_what_is_looked_at(void **unused) {
  (void)unused;
  int64_t shape[2] = {70, 45}, none[2] = {0, 1}, host[45] = {0}, n = 70;
  int32_t device[4096];
  int8_t bytes[70];
  tesela_device_layout layout;
  tesela_transfer *transfer;
  tesela_error err = {.message = ""};
  OK(tesela_device_default(&layout, tesela_target_find("spyre"), TESELA_S64, 2, shape, &e_));
  assert_true(layout.places <= 4096 * 2);
  int32_t *room = calloc((size_t)layout.places, sizeof *room);
  assert_non_null(room);
  OK(tesela_transfer_to_device(&transfer, &layout, none, 0, NULL, &e_));
  OK(tesela_transfer_run(transfer, room, host, NULL, &e_));
  host[44] = INT64_MIN;
  assert_int_equal(tesela_transfer_run(transfer, room, host, NULL, &err), TESELA_E_RANGE);
  assert_non_null(strstr(err.message, "element (0,44) is -9223372036854775808"));
  tesela_transfer_destroy(transfer);
  free(room);
  OK(tesela_device_default(&layout, tesela_target_find("tiles"), TESELA_S8, 1, &n, &e_));
  assert_true(layout.places > n && layout.places <= 4096);
  for (int i = 0; i < 4096; i++) device[i] = 1000;
  OK(tesela_transfer_to_host(&transfer, &layout, NULL, 0, NULL, &e_));
  for (int64_t i = 0; i < n; i++) {
    int64_t place = 0;
    for (int32_t j = 0; j < layout.n_dims; j++)
      if (layout.dim[j].dim == 0)
        place += i / layout.dim[j].step % layout.dim[j].extent * layout.dim[j].stride;
    device[place] = (int32_t)(i - 35);
  }
  OK(tesela_transfer_run(transfer, bytes, device, NULL, &e_));
  for (int64_t i = 0; i < n; i++) assert_int_equal(bytes[i], i - 35);
  tesela_transfer_destroy(transfer);
}

int main(void) {
  state = test_seed(1811);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_large_conversions),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_first_is_named),
      cmocka_unit_test(test_what_is_looked_at),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
