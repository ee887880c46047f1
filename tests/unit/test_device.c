/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device.c - device layouts: the published arrangements by hand, sizes, formats, refusals.
 */
#include "support_device.h"

/* The table of device.md a3, each row written out: 100 elements a dim, 64 lanes, so 2 blocks. */
static void published_arrangements(void **state) {
  (void)state;
  static const struct {
    tesela_order order;
    int32_t n;
    int32_t dim_order[6];
    int32_t rank;
    const char *dims;
  } rows[] = {
      {TESELA_ORDER_GENERIC, 0, {0}, 0, "-1:0:1 -1:0:64"},
      {TESELA_ORDER_GENERIC, 1, {0}, 1, "0:64:2 0:1:64"},
      {TESELA_ORDER_GENERIC, 2, {0, 1}, 2, "1:64:2 0:1:100 1:1:64"},
      {TESELA_ORDER_GENERIC, 2, {1, 0}, 2, "0:64:2 1:1:100 0:1:64"},
      {TESELA_ORDER_GENERIC, 3, {0, 1, 2}, 3, "1:1:100 2:64:2 0:1:100 2:1:64"},
      {TESELA_ORDER_GENERIC, 4, {0, 1, 2, 3}, 4, "1:1:100 2:1:100 3:64:2 0:1:100 3:1:64"},
      {TESELA_ORDER_GENERIC, 5, {0, 1, 2, 3, 4}, 5, "1:1:100 2:1:100 3:1:100 4:64:2 0:1:100 4:1:64"},
      {TESELA_ORDER_GENERIC, 2, {0, -1}, 1, "-1:0:1 0:1:100 -1:0:64"},
      {TESELA_ORDER_GENERIC, 3, {0, 1, -1}, 2, "1:1:100 -1:0:1 0:1:100 -1:0:64"},
      {TESELA_ORDER_GENERIC_JAN26, 4, {0, 1, 2, 3}, 4, "0:1:100 3:64:2 1:1:100 2:1:100 3:1:64"},
      {TESELA_ORDER_GENERIC_JAN26, 3, {0, 1, 2}, 3, "1:1:100 2:64:2 0:1:100 2:1:64"},
      {TESELA_ORDER_STICK_OUTER, 1, {0}, 1, "0:64:2 0:1:64"},
      {TESELA_ORDER_STICK_OUTER, 3, {0, 1, 2}, 3, "2:64:2 0:1:100 1:1:100 2:1:64"},
      {TESELA_ORDER_STICK_OUTER, 4, {3, 0, 1, 2}, 4, "2:64:2 3:1:100 0:1:100 1:1:100 2:1:64"},
      {TESELA_ORDER_INNER_PAIR, 1, {0}, 1, "0:64:2 0:1:64"},
      {TESELA_ORDER_INNER_PAIR, 2, {0, 1}, 2, "1:64:2 0:1:100 1:1:64"},
      {TESELA_ORDER_INNER_PAIR, 4, {0, 1, 2, 3}, 4, "0:1:100 1:1:100 3:64:2 2:1:100 3:1:64"},
  };
  static const int64_t shape[] = {100, 100, 100, 100, 100, 100};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_device_layout layout;
    tesela_device_host host = device_host(rows[i].rank, shape, 16, 128);
    OK(tesela_device_from_order(&layout, &host, rows[i].order, NULL, rows[i].n, rows[i].dim_order, NULL,
                                &e_));
    assert_string_equal(device_text(&layout), rows[i].dims);
    assert_int_equal(layout.stick_dims, 1);
    assert_int_equal(layout.format,
                     layout.dim[layout.n_dims - 1].dim < 0 ? TESELA_STICKS_SPARSE : TESELA_STICKS_DENSE);
  }
}

/* 40 x 50 in tiles of 32x32 made of faces of 16x16: rows of 16 lanes. */
static void tiles_of_faces(void **state) {
  (void)state;
  const tesela_target *tiles = tesela_target_find("tiles");
  tesela_device_layout layout;
  OK(tesela_device_default(&layout, tiles, TESELA_F16, 3, (const int64_t[]){3, 40, 50}, &e_));
  assert_string_equal(device_text(&layout), "0:1:3 1:32:2 2:32:2 1:16:2 2:16:2 1:1:16 2:1:16");
  assert_int_equal(layout.places, 3 * 2 * 2 * 1024);
  assert_int_equal(layout.host.device_bits, 32);
  OK(tesela_device_default(&layout, tiles, TESELA_F32, 1, (const int64_t[]){50}, &e_));
  assert_string_equal(device_text(&layout), "-1:0:1 0:32:2 -1:0:2 0:16:2 -1:0:16 0:1:16");
  /* a stick of two rows: the last rows are cut */
  tesela_target wide = *tiles;
  wide.stick_bytes = 128;
  OK(tesela_device_default(&layout, &wide, TESELA_F32, 2, (const int64_t[]){40, 50}, &e_));
  assert_string_equal(device_text(&layout), "0:32:2 1:32:2 0:16:2 1:16:2 0:2:8 0:1:2 1:1:16");
  assert_int_equal(layout.stick_dims, 2);
  assert_int_equal(tesela_device_stick(&layout), -2);
  /* a stick of half a row */
  wide.stick_bytes = 32;
  OK(tesela_device_default(&layout, &wide, TESELA_F32, 2, (const int64_t[]){40, 50}, &e_));
  assert_string_equal(device_text(&layout), "0:32:2 1:32:2 0:16:2 1:16:2 0:1:16 1:8:2 1:1:8");
  wide.stick_bytes = 96; /* 24 lanes do not make rows of 16 */
  assert_int_equal(tesela_device_default(&layout, &wide, TESELA_F32, 2, (const int64_t[]){40, 50}, NULL),
                   TESELA_E_INVALID);
}

/* ---- sizes, formats ------------------------------------------------------------------------------------------------ */

static void allocations(void **state) {
  (void)state;
  const tesela_target *spyre = tesela_target_find("spyre");
  static const struct {
    tesela_dtype dtype;
    int32_t rank;
    int64_t shape[2], device_bytes, host_bytes, allocation;
  } rows[] = {
      {TESELA_F16, 2, {1000, 200}, 512000, 400000, 512000},
      {TESELA_S64, 1, {64}, 256, 512, 512}, /* s32 on the device: the host has more bytes */
      {TESELA_PRED, 1, {64}, 128, 64, 128}, /* a 16-bit float */
      {TESELA_F32, 0, {0}, 128, 4, 128},
      {TESELA_F32, 1, {0}, 0, 0, 0},
      {TESELA_S8, 1, {129}, 256, 129, 256},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_device_layout layout;
    tesela_device_sizes sizes;
    OK(tesela_device_default(&layout, spyre, rows[i].dtype, rows[i].rank, rows[i].shape, &e_));
    OK(tesela_device_sizes_of(&layout, spyre, &sizes, &e_));
    assert_int_equal(sizes.device_bytes, rows[i].device_bytes);
    assert_int_equal(sizes.host_bytes, rows[i].host_bytes);
    assert_int_equal(sizes.allocation_bytes, rows[i].allocation);
    assert_int_equal(sizes.sticks * 128, rows[i].device_bytes);
  }
}

static void formats_say_what_lanes_hold(void **state) {
  (void)state;
  tesela_device_layout layout;
  tesela_device_host host = device_host(2, (const int64_t[]){1000, 2}, 16, 128);
  OK(tesela_device_from_order(&layout, &host, TESELA_ORDER_GENERIC, NULL, 2, (const int32_t[]){0, 1}, NULL,
                              &e_));
  OK(tesela_device_set_format(&layout, TESELA_STICKS_PAIR, &e_));
  assert_int_equal(layout.format, TESELA_STICKS_PAIR);
  assert_int_equal(tesela_device_set_format(&layout, TESELA_STICKS_SPARSE, NULL), TESELA_E_INVALID);
  assert_int_equal(layout.format, TESELA_STICKS_PAIR);
  host.shape[1] = 3;
  OK(tesela_device_from_order(&layout, &host, TESELA_ORDER_GENERIC, NULL, 2, (const int32_t[]){0, 1}, NULL,
                              &e_));
  assert_int_equal(tesela_device_set_format(&layout, TESELA_STICKS_PAIR, NULL), TESELA_E_INVALID);
}

static void two_elements_of_one_dim_have_two_strides(void **state) {
  (void)state; /* so no strides say it: the reason for all this */
  tesela_device_layout layout;
  tesela_layout core;
  int64_t place[4];
  OK(tesela_device_default(&layout, tesela_target_find("spyre"), TESELA_F16, 2, (const int64_t[]){1000, 200},
                           &e_));
  OK(tesela_device_to_layout(&layout, &core, &e_));
  for (int64_t k = 0; k < 2; k++) {
    OK(tesela_layout_place_of(&core, (const int64_t[]){0, 62 + k}, &place[k], &e_));
    OK(tesela_layout_place_of(&core, (const int64_t[]){0, 63 + k}, &place[2 + k], &e_));
  }
  assert_int_equal(place[2] - place[0], 1);
  assert_int_equal(place[3] - place[1], 64000 - 63);
}

/* ---- refusals ------------------------------------------------------------------------------------------------------- */

static void refusals(void **state) {
  (void)state;
  tesela_device_layout layout, before;
  memset(&layout, 7, sizeof layout);
  before = layout;
  tesela_device_host host = device_host(2, (const int64_t[]){30, 100}, 16, 128);
  static const struct {
    tesela_device_dim dims[3];
    bool strided;
    int32_t stick_dims;
    tesela_status status;
    const char *says;
  } rows[] = {
      {{{1, 64, 0, 1}, {30, 1, 0, 0}, {64, 1, 0, 1}},
       false,
       1,
       TESELA_E_INVALID,
       "coordinate 64 has no place"},
      {{{2, 64, 0, 1}, {29, 1, 0, 0}, {64, 1, 0, 1}},
       false,
       1,
       TESELA_E_INVALID,
       "coordinate 29 has no place"},
      {{{2, 64, 0, 1}, {30, 1, 0, 1}, {64, 1, 0, 1}}, false, 1, TESELA_E_INVALID, "no device dim"},
      {{{2, 64, 0, 1}, {15, 2, 0, 0}, {64, 1, 0, 1}}, false, 1, TESELA_E_INVALID, "no device dim of step 1"},
      {{{2, 64, 0, 1}, {30, 1, 0, 0}, {32, 1, 0, 1}},
       false,
       1,
       TESELA_E_INVALID,
       "coordinate 32 has no place"},
      {{{2, 64, 0, 1}, {30, 1, 0, 0}, {65, 1, 0, 1}}, false, 1, TESELA_E_INVALID, "64 lanes"},
      {{{2, 64, 0, 1}, {30, 1, 0, 0}, {64, 1, 0, 1}}, false, 4, TESELA_E_RANGE, "stick dims"},
      {{{2, 64, 0, 2}, {30, 1, 0, 0}, {64, 1, 0, 1}}, false, 1, TESELA_E_RANGE, "host dim 2"},
      {{{2, 0, 0, 1}, {30, 1, 0, 0}, {64, 1, 0, 1}}, false, 1, TESELA_E_RANGE, "step 0"},
      {{{-1, 64, 0, 1}, {30, 1, 0, 0}, {64, 1, 0, 1}}, false, 1, TESELA_E_RANGE, "extent -1"},
      {{{2, 64, 1000, 1}, {30, 1, 64, 0}, {64, 1, 1, 1}}, true, 1, TESELA_E_INVALID, "could share a place"},
      {{{2, 64, 64, 1}, {30, 1, 64, 0}, {64, 1, 1, 1}}, true, 1, TESELA_E_INVALID, "same stride"},
      {{{2, 64, 4000, 1}, {30, 1, 128, 0}, {64, 1, 2, 1}}, true, 1, TESELA_E_INVALID, "in a stick"},
      {{{2, 64, -4000, 1}, {30, 1, 128, 0}, {64, 1, 1, 1}}, true, 1, TESELA_E_RANGE, "stride -4000"},
      {{{INT64_MAX / 2, 64, 0, 1}, {30, 1, 0, 0}, {64, 1, 0, 1}}, false, 1, TESELA_E_OVERFLOW, "64 bits"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_error err = {.message = ""};
    tesela_status status =
        tesela_device_from_dims(&layout, &host, 3, rows[i].dims, rows[i].strided, rows[i].stick_dims, &err);
    if (status != rows[i].status || !strstr(err.message, rows[i].says))
      fail_msg("row %zu: %s %s", i, tesela_status_code(status), err.message);
    assert_memory_equal(&layout, &before, sizeof layout);
    assert_int_equal(
        tesela_device_from_dims(&layout, &host, 3, rows[i].dims, rows[i].strided, rows[i].stick_dims, NULL),
        status);
  }
  static const struct {
    int32_t n, dim_order[4];
    tesela_status status;
  } orders[] = {{2, {1, 1}, TESELA_E_INVALID},    {1, {0}, TESELA_E_INVALID},
                {2, {0, 2}, TESELA_E_RANGE},      {2, {0, -1}, TESELA_E_RANGE},
                {3, {0, 1, 1}, TESELA_E_INVALID}, {4, {0, 1, -1, -1}, TESELA_E_INVALID}};
  for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
    assert_int_equal(tesela_device_from_order(&layout, &host, TESELA_ORDER_GENERIC, NULL, orders[i].n,
                                              orders[i].dim_order, NULL, NULL),
                     orders[i].status);
  assert_int_equal(tesela_device_from_order(&layout, &host, TESELA_ORDER_TILES, NULL, 2,
                                            (const int32_t[]){0, 1}, NULL, NULL),
                   TESELA_E_INVALID);
  assert_memory_equal(&layout, &before, sizeof layout);
}

/* Given strides with gaps, and dims that are not by decreasing stride. */
static void strides_with_gaps(void **state) {
  (void)state;
  tesela_device_layout layout;
  tesela_device_host host = device_host(2, (const int64_t[]){30, 100}, 16, 128);
  const tesela_device_dim dims[] = {{2, 64, 128, 1}, {30, 1, 256, 0}, {64, 1, 1, 1}};
  OK(tesela_device_from_dims(&layout, &host, 3, dims, true, 1, &e_));
  assert_int_equal(layout.places, 29 * 256 + 128 + 64);
  device_agrees(&layout);
}

/* Without elements the dims outside one of extent 0 have stride 0; the layout is empty all the same. */
static void replicas_of_nothing(void **state) {
  (void)state;
  tesela_device_layout layout;
  tesela_layout core;
  tesela_device_host host = device_host(1, (const int64_t[]){0}, 16, 128);
  const tesela_device_dim dims[] = {{2, 0, 0, -2}, {0, 64, 0, 0}, {64, 1, 0, 0}};
  OK(tesela_device_from_dims(&layout, &host, 3, dims, false, 1, &e_));
  OK(tesela_device_to_layout(&layout, &core, &e_));
  assert_int_equal(core.axis[0].extent, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(published_arrangements),
      cmocka_unit_test(tiles_of_faces),
      cmocka_unit_test(allocations),
      cmocka_unit_test(formats_say_what_lanes_hold),
      cmocka_unit_test(two_elements_of_one_dim_have_two_strides),
      cmocka_unit_test(refusals),
      cmocka_unit_test(strides_with_gaps),
      cmocka_unit_test(replicas_of_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
