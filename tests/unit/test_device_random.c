/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_random.c - device layouts at random, against the definition; sticks moved, layouts bound to
 * other hosts. TESELA_SEED sets the seed.
 */
#include "support_device.h"
#include "support_relayout.h"
#include "support_seed.h"

static void random_orders(void **state) {
  (void)state;
  const tesela_target *tiles = tesela_target_find("tiles");
  for (int i = 0; i < (slow_run() ? 100 : 2000); i++) {
    tesela_device_host host = device_draw_host();
    tesela_device_padding padding = {{0}};
    tesela_device_layout layout;
    tesela_target small = *tiles;
    int32_t order[6];
    for (int32_t d = 0; d < host.rank; d++) {
      order[d] = d;
      if (device_between(0, 3) == 0) padding.to[d] = host.shape[d] + device_between(0, 5);
    }
    device_shuffle(host.rank, order);
    int32_t n = host.rank;
    if (device_between(0, 4) == 0) order[n++] = TESELA_STICK_SPARSE;
    tesela_order which = (tesela_order)device_between(0, 4);
    if (which == TESELA_ORDER_TILES) {
      int64_t lanes = host.stick_bytes * 8 / host.device_bits;
      small.tile[1][0] = 2;
      small.tile[1][1] = lanes;
      small.tile[0][0] = 4;
      small.tile[0][1] = 2 * lanes;
    }
    OK(tesela_device_from_order(&layout, &host, which, &small, n, order, &padding, &e_));
    device_agrees(&layout);
    assert_true(tesela_device_equal(&layout, &layout));
  }
}

/* Digits of any steps: refused exactly if an element has no place, or two have one. */
static void random_dims(void **state) {
  (void)state;
  int made = 0, refused = 0;
  for (int i = 0; i < (slow_run() ? 300 : 6000); i++) {
    tesela_device_host host = device_draw_host();
    tesela_device_dim dims[24];
    tesela_device_layout layout;
    int32_t n = 0;
    for (int32_t d = 0; d < host.rank; d++) {
      int64_t steps = device_between(0, 2);
      for (int64_t k = 0; k < steps && n < 16; k++) {
        int64_t step = device_between(1, 12);
        dims[n++] = (tesela_device_dim){device_between(1, host.shape[d] / step + 2), step, 0, d};
      }
      if (device_between(0, 9) > 0)
        dims[n++] = (tesela_device_dim){device_between(1, 12) > 2 ? host.shape[d] + 1 : device_between(1, 9),
                                        1, 0, d};
    }
    if (device_between(0, 3) == 0)
      dims[n++] = (tesela_device_dim){device_between(1, 3), 0, 0, (int32_t)device_between(-2, -1)};
    for (int32_t k = n; k-- > 1;) {
      int32_t other = (int32_t)device_between(0, k);
      tesela_device_dim kept = dims[k];
      dims[k] = dims[other];
      dims[other] = kept;
    }
    dims[n++] = (tesela_device_dim){host.stick_bytes * 8 / host.device_bits, 0, 0, TESELA_DIM_SYNTHETIC};
    int64_t stride = 1; /* row-major, for the oracle */
    for (int32_t j = n; j-- > 0; stride *= dims[j].extent) dims[j].stride = stride;
    struct oracle_device oracle = device_oracle_of(&host, n, dims);
    int64_t index[ORACLE_DEVICE_RANK] = {0}, start[ORACLE_DEVICE_RANK] = {0},
            elements = device_elements(&host);
    bool fine = true, *taken = calloc((size_t)stride + 1, sizeof *taken);
    for (int64_t e = 0; e < elements && fine; e++) {
      int64_t place = oracle_device_place(&oracle, index, 0);
      fine = place >= 0 && !taken[place];
      if (fine) taken[place] = true;
      oracle_device_next(host.rank, start, host.shape, index);
    }
    free(taken);
    tesela_error err = {.message = ""};
    tesela_status status = tesela_device_from_dims(&layout, &host, n, dims, false, 1, &err);
    if (elements == 0) continue;
    if (fine != (status == TESELA_OK))
      fail_msg("dims %d: %s, but %s", i, err.message, fine ? "fine" : "not fine");
    if (fine) device_agrees(&layout);
    made += fine;
    refused += !fine;
  }
  assert_true(made > 10 && refused > 10);
}

/* ---- sticks moved -------------------------------------------------------------------------------------------------- */

static void restick_swaps_two_dims(void **state) {
  (void)state;
  tesela_device_host host = device_host(3, (const int64_t[]){10, 20, 130}, 16, 128);
  tesela_device_layout layout, moved, back, expected;
  OK(tesela_device_from_order(&layout, &host, TESELA_ORDER_GENERIC, NULL, 3, (const int32_t[]){0, 1, 2}, NULL,
                              &e_));
  OK(tesela_device_restick(&moved, &layout, 1, &e_)); /* SR002 of tests/vectors/spyre_seed_examples.json */
  assert_string_equal(device_text(&moved), "2:1:130 1:64:1 0:1:10 1:1:64");
  assert_int_equal(layout.places, 38400);
  assert_int_equal(moved.places, 83200);
  OK(tesela_device_restick(&back, &moved, 2, &e_));
  assert_true(tesela_device_equal(&back, &layout));
  OK(tesela_device_restick(&back, &layout, 2, &e_));
  assert_true(tesela_device_equal(&back, &layout));
  /* from one element per stick: the dim takes the synthetic one's place */
  OK(tesela_device_from_order(&layout, &host, TESELA_ORDER_GENERIC, NULL, 4, (const int32_t[]){0, 1, 2, -1},
                              NULL, &e_));
  OK(tesela_device_restick(&moved, &layout, 2, &e_));
  OK(tesela_device_from_order(&expected, &host, TESELA_ORDER_GENERIC, NULL, 3, (const int32_t[]){0, 1, 2},
                              NULL, &e_));
  assert_int_equal(moved.places, expected.places);
  assert_int_equal(tesela_device_stick(&moved), 2);
  device_agrees(&moved);
  assert_int_equal(tesela_device_restick(&moved, &layout, 3, NULL), TESELA_E_RANGE);
  OK(tesela_device_default(&layout, tesela_target_find("tiles"), TESELA_F32, 2, (const int64_t[]){40, 50},
                           &e_));
  assert_int_equal(tesela_device_restick(&moved, &layout, 0, NULL), TESELA_E_UNSUPPORTED);
}

/* A structure bound to other extents is the layout made for them. */
static void the_ends_of_64_bits(void **state) {
  (void)state;
  tesela_device_layout layout, moved;
  /* the last place is 2^63 - 1: there are 2^63 of them */
  tesela_device_host host = device_host(1, (const int64_t[]){3}, 16, 128);
  tesela_device_dim dims[3] = {{(int64_t)1 << 57, 0, 64, TESELA_DIM_SYNTHETIC}, {64, 1, 1, 0}};
  assert_int_equal(tesela_device_from_dims(&layout, &host, 2, dims, true, 1, NULL), TESELA_E_OVERFLOW);
  dims[0].extent--;
  OK(tesela_device_from_dims(&layout, &host, 2, dims, true, 1, &e_));
  assert_true(layout.places == INT64_MAX - 63);
  /* without elements the blocks are not counted, and 2^62 of them have 2^68 lanes */
  host = device_host(2, (const int64_t[]){0, 5}, 16, 128);
  const tesela_device_dim empty[] = {{(int64_t)1 << 62, 64, 0, 1}, {0, 1, 0, 0}, {64, 1, 0, 1}};
  OK(tesela_device_from_dims(&layout, &host, 3, empty, false, 1, &e_));
  assert_int_equal(tesela_device_restick(&moved, &layout, 0, NULL), TESELA_E_OVERFLOW);
}

static void the_dim_in_the_lanes(void **state) {
  (void)state;
  static const struct {
    tesela_device_dim lanes[2];
    int32_t stick;
  } rows[] = {
      {{{1, 1, 0, 1}, {64, 1, 0, 0}}, 0}, /* a single lane does not make dim 1 a stick dim */
      {{{64, 1, 0, 0}, {1, 1, 0, 1}}, 0},
      {{{2, 32, 0, 0}, {32, 1, 0, 0}}, 0},
      {{{2, 1, 0, 1}, {32, 1, 0, 0}}, -2},
      {{{2, 0, 0, TESELA_DIM_SYNTHETIC}, {32, 0, 0, TESELA_DIM_SYNTHETIC}}, TESELA_STICK_SPARSE},
      {{{2, 0, 0, TESELA_DIM_REPLICATED}, {32, 1, 0, 0}}, -2},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tesela_device_layout layout;
    tesela_device_host host = device_host(2, (const int64_t[]){50, 9}, 16, 128);
    tesela_device_dim dims[] = {{9, 1, 0, 1}, {50, 1, 0, 0}, rows[i].lanes[0], rows[i].lanes[1]};
    OK(tesela_device_from_dims(&layout, &host, 4, dims, false, 2, &e_));
    assert_int_equal(tesela_device_stick(&layout), rows[i].stick);
  }
  /* sticks of one lane */
  tesela_device_layout layout;
  tesela_device_host host = device_host(1, (const int64_t[]){5}, 1024, 128);
  OK(tesela_device_from_order(&layout, &host, TESELA_ORDER_GENERIC, NULL, 1, (const int32_t[]){0}, NULL,
                              &e_));
  assert_int_equal(tesela_device_stick(&layout), 0);
}

static void rebinding(void **state) {
  (void)state;
  for (int i = 0; i < (slow_run() ? 50 : 500); i++) {
    tesela_device_host host = device_draw_host(), other;
    tesela_device_layout layout, bound, expected;
    int32_t order[6], n = host.rank;
    for (int32_t d = 0; d < host.rank; d++) order[d] = d;
    device_shuffle(host.rank, order);
    if (device_between(0, 3) == 0) order[n++] = TESELA_STICK_SPARSE;
    tesela_order which = (tesela_order)device_between(0, 3);
    other = host;
    for (int32_t d = 0; d < host.rank; d++) other.shape[d] = device_between(1, 20);
    OK(tesela_device_from_order(&layout, &host, which, NULL, n, order, NULL, &e_));
    if (device_elements(&host) == 0) continue; /* strides of 0 */
    OK(tesela_device_from_order(&expected, &other, which, NULL, n, order, NULL, &e_));
    OK(tesela_device_rebind(&bound, &layout, other.shape, &e_));
    if (!tesela_device_equal(&bound, &expected)) fail_msg("%s", device_text(&bound));
  }
}

int main(void) {
  device_begin(first_seed());
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_orders),          cmocka_unit_test(random_dims),
      cmocka_unit_test(restick_swaps_two_dims), cmocka_unit_test(the_ends_of_64_bits),
      cmocka_unit_test(the_dim_in_the_lanes),   cmocka_unit_test(rebinding),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
