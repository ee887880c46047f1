/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_stride_maps.c - device layouts from stride maps: at random, by hand, against all ways to read
 * them, at the limits. TESELA_SEED sets the seed.
 */
#include "support_device.h"
#include "support_relayout.h"
#include "support_seed.h"

/* The stride map of a layout reads back to the same relation, unless it can be read in two ways. */
static void random_stride_maps(void **state) {
  (void)state;
  int read = 0, ambiguous = 0;
  for (int i = 0; i < (slow_run() ? 100 : 3000); i++) {
    tesela_device_host host = device_draw_host();
    tesela_device_layout layout, back;
    int32_t order[5];
    int64_t strides[5], stride = 1, map[TESELA_DEVICE_DIMS], size[TESELA_DEVICE_DIMS];
    for (int32_t d = 0; d < host.rank; d++) order[d] = d;
    if (device_elements(&host) == 0) continue;
    device_shuffle(host.rank, order);
    for (int32_t k = host.rank; k-- > 0;) { /* the host's dims in another order, with gaps */
      strides[order[k]] = stride;
      stride *= host.shape[order[k]] + device_between(0, 1);
    }
    device_shuffle(host.rank, order);
    OK(tesela_device_from_order(&layout, &host, (tesela_order)device_between(0, 3), NULL, host.rank, order,
                                NULL, &e_));
    OK(tesela_device_stride_map(&layout, strides, map, &e_));
    for (int32_t j = 0; j < layout.n_dims; j++) size[j] = layout.dim[j].extent;
    tesela_error err = {.message = ""};
    tesela_status status =
        tesela_device_from_stride_map(&back, &host, strides, layout.n_dims, size, map, &err);
    if (status == TESELA_E_UNSUPPORTED) {
      ambiguous++;
      continue;
    }
    if (status != TESELA_OK) fail_msg("%s: %s", device_text(&layout), err.message);
    tesela_layout a, b;
    tesela_difference difference;
    OK(tesela_device_to_layout(&layout, &a, &e_));
    OK(tesela_device_to_layout(&back, &b, &e_));
    OK(tesela_layout_compare(&a, &b, &difference, &e_));
    if (!difference.same) fail_msg("%s: %s", device_text(&layout), difference.reason);
    read++;
  }
  print_message("%d stride maps read back, %d can be read in two ways\n", read, ambiguous);
  assert_true(read > 50 && ambiguous < read / 4);
}

static void stride_maps_by_hand(void **state) {
  (void)state;
  tesela_device_layout layout;
  tesela_device_host host = device_host(2, (const int64_t[]){1000, 200}, 16, 128);
  OK(tesela_device_from_stride_map(&layout, &host, NULL, 3, (const int64_t[]){4, 1000, 64},
                                   (const int64_t[]){64, 200, 1}, &e_));
  assert_string_equal(device_text(&layout), "1:64:4 0:1:1000 1:1:64");
  host = device_host(1, (const int64_t[]){90}, 16, 128);
  OK(tesela_device_from_stride_map(&layout, &host, NULL, 3, (const int64_t[]){2, 3, 64},
                                   (const int64_t[]){45, 15, 1}, &e_));
  assert_string_equal(device_text(&layout), "0:45:2 0:15:3 0:1:64");
  /* 0 is a replica, unless a host dim has stride 0 */
  host = device_host(1, (const int64_t[]){64}, 16, 128);
  OK(tesela_device_from_stride_map(&layout, &host, NULL, 2, (const int64_t[]){3, 64}, (const int64_t[]){0, 1},
                                   &e_));
  assert_string_equal(device_text(&layout), "-2:0:3 0:1:64");
  host = device_host(2, (const int64_t[]){5, 100}, 16, 128);
  OK(tesela_device_from_stride_map(&layout, &host, (const int64_t[]){1, 0}, 3, (const int64_t[]){2, 5, 64},
                                   (const int64_t[]){0, 1, 0}, &e_));
  assert_string_equal(device_text(&layout), "1:64:2 0:1:5 1:1:64");
  /* a device dim of extent 1 takes no digit, whatever its step: one element per stick, as published */
  host = device_host(1, (const int64_t[]){60}, 16, 128);
  OK(tesela_device_from_stride_map(&layout, &host, NULL, 6, (const int64_t[]){1, 1, 1, 1, 60, 64},
                                   (const int64_t[]){1, 1, 1, 64, 1, 1}, &e_));
  assert_string_equal(device_text(&layout), "0:1:1 0:1:1 0:1:1 0:64:1 0:1:60 0:1:64");
  device_agrees(&layout);
  OK(tesela_device_from_stride_map(&layout, &host, NULL, 3, (const int64_t[]){1, 1, 64},
                                   (const int64_t[]){2, 1, 1}, &e_));
  device_agrees(&layout);
  tesela_error err;
  assert_int_equal(tesela_device_from_stride_map(&layout, &host, NULL, 3, (const int64_t[]){1, 1, 64},
                                                 (const int64_t[]){1, 1, 2}, &err),
                   TESELA_E_INVALID); /* no other dim counts single elements */
  /* both dims have stride 1: 1 can be either */
  host = device_host(2, (const int64_t[]){8, 8}, 16, 128);
  assert_int_equal(tesela_device_from_stride_map(&layout, &host, (const int64_t[]){1, 1}, 2,
                                                 (const int64_t[]){8, 64}, (const int64_t[]){1, 1}, &err),
                   TESELA_E_UNSUPPORTED);
  assert_non_null(strstr(err.message, "ambiguous"));
}

/* Where all elements lie if the entries are read in one way: row-major places of greedy digits, by the definition. False if a
 * coordinate has no digits. */
static bool places_of_reading(const tesela_device_host *host, int32_t n, const int64_t *size,
                              const int32_t *owner, const int64_t *step, int64_t *places) {
  for (int64_t e = 0; e < device_elements(host); e++) {
    int64_t index[3], rest = e, place = 0, digit[5] = {0};
    for (int32_t d = host->rank; d-- > 0; rest /= host->shape[d]) index[d] = rest % host->shape[d];
    for (int32_t d = 0; d < host->rank; d++)
      for (int64_t s = 18; s > 0;
           s--) /* the largest step first; of equal ones the outer dim; none of extent 1 */
        for (int32_t j = 0; j < n; j++)
          if (owner[j] == d && step[j] == s && size[j] > 1) {
            digit[j] = index[d] / s;
            index[d] %= s;
          }
    for (int32_t d = 0; d < host->rank; d++)
      if (index[d] != 0) return false;
    for (int32_t j = 0; j < n; j++) {
      if (digit[j] >= size[j]) return false;
      place = place * size[j] + digit[j];
    }
    places[e] = place;
  }
  return true;
}

/* All ways to read small stride maps, against the one that is found: none, one (in any number of words), or several. */
static void stride_maps_in_all_readings(void **state) {
  (void)state;
  int none = 0, one = 0, several = 0;
  for (int i = 0; i < (slow_run() ? 300 : 20000); i++) {
    int64_t shape[3], strides[3], size[5], map[5], step[5], first[64], places[64];
    int32_t rank = (int32_t)device_between(1, 3), n = (int32_t)device_between(2, 5), owner[5], ways = 0;
    for (int32_t d = 0; d < rank; d++) {
      shape[d] = device_between(2, 4);
      strides[d] = device_between(1, 6);
    }
    for (int32_t j = 0; j < n; j++) {
      size[j] = j + 1 == n ? 4 : device_between(1, 4);
      map[j] = strides[device_between(0, rank - 1)] * device_between(1, 3);
    }
    tesela_device_host host = device_host(rank, shape, 8, 4);
    for (int64_t way = 0, all = 1024; way < all; way++) { /* two bits for the owner of each device dim */
      bool fits = way < (int64_t)1 << 2 * n;
      for (int32_t j = 0; fits && j < n; j++) {
        owner[j] = (int32_t)(way >> 2 * j & 3);
        fits = owner[j] < rank && map[j] % strides[owner[j]] == 0;
        step[j] = fits ? map[j] / strides[owner[j]] : 0;
      }
      if (!fits || !places_of_reading(&host, n, size, owner, step, places)) continue;
      size_t bytes = (size_t)device_elements(&host) * sizeof *places;
      if (ways == 0) memcpy(first, places, bytes);
      if (ways == 0 || memcmp(first, places, bytes) != 0) ways++;
    }
    tesela_device_layout layout;
    tesela_error err = {.message = ""};
    tesela_status status = tesela_device_from_stride_map(&layout, &host, strides, n, size, map, &err);
    tesela_status expected = ways == 0 ? TESELA_E_INVALID : ways == 1 ? TESELA_OK : TESELA_E_UNSUPPORTED;
    if (status != expected) fail_msg("case %d: %d ways, %d %s", i, ways, (int)status, err.message);
    *(ways == 0 ? &none : ways == 1 ? &one : &several) += 1;
    tesela_layout lowered;
    if (status != TESELA_OK) continue;
    OK(tesela_device_to_layout(&layout, &lowered, &e_));
    for (int64_t e = 0; e < device_elements(&host); e++) {
      int64_t index[3], rest = e, place[TESELA_MAX_AXES];
      for (int32_t d = rank; d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
      OK(tesela_layout_place_of(&lowered, index, place, &e_));
      if (place[0] != first[e]) fail_msg("case %d: element %" PRId64 " at %" PRId64, i, e, place[0]);
    }
  }
  print_message("stride maps: %d without a reading, %d with one, %d with several\n", none, one, several);
  assert_true(none > 50 && one > 10 && (slow_run() || several > 10));
}

/* Entries that are a multiple of all strides, numbers at the ends of 64 bits, dims without elements. */
static void stride_maps_at_the_limits(void **state) {
  (void)state;
  tesela_device_layout layout;
  tesela_error err;
  int64_t shape[32], size[33], map[33];
  for (int32_t d = 0; d < 32; d++) shape[d] = 2;
  for (int32_t d = 0; d < 32; d++) {
    size[d] = d < 31 ? 2 : 64;
    map[d] = (int64_t)1 << (31 - d);
  }
  tesela_device_host host = device_host(32, shape, 16, 128);
  OK(tesela_device_from_stride_map(&layout, &host, NULL, 32, size, map, &e_));
  for (int32_t d = 0; d < 32; d++) assert_int_equal(layout.dim[d].dim, d);
  host = device_host(1, (const int64_t[]){4}, 16, 128);
  const int64_t backwards[] = {-1}, few[] = {1, 64}, ends[] = {INT64_MIN, -1};
  assert_int_equal(tesela_device_from_stride_map(&layout, &host, backwards, 2, few, ends, &err),
                   TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "stride_map[0]"));
  host = device_host(2, (const int64_t[]){0, 100}, 16, 128);
  OK(tesela_device_from_stride_map(&layout, &host, NULL, 3, (const int64_t[]){2, 0, 64},
                                   (const int64_t[]){64, 100, 1}, &e_));
  assert_int_equal(layout.places, 0);
}

int main(void) {
  device_begin(first_seed());
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_stride_maps),
      cmocka_unit_test(stride_maps_by_hand),
      cmocka_unit_test(stride_maps_in_all_readings),
      cmocka_unit_test(stride_maps_at_the_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
