/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device.c - device layouts: the published arrangements by hand, random ones against the definition
 * (tests/oracle/device_oracle.c), refusals, sizes, targets, names.
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

#include "device_oracle.h"
#include "support_relayout.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

static uint64_t seed;

static uint64_t random_bits(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}

static int64_t between(int64_t low, int64_t high) {
  return low + (int64_t)(random_bits() % (uint64_t)(high - low + 1));
}

static tesela_device_host host_of(int32_t rank, const int64_t *shape, int32_t bits, int64_t stick_bytes) {
  tesela_device_host host;
  memset(&host, 0, sizeof host);
  host.bits = host.device_bits = bits;
  host.stick_bytes = stick_bytes;
  host.rank = rank;
  for (int32_t d = 0; d < rank; d++) host.shape[d] = shape[d];
  return host;
}

/* "dim:step:extent dim:step:extent": the device dims of a layout, as text. */
static const char *text_of(const tesela_device_layout *layout) {
  static char text[2048];
  size_t used = 0;
  for (int32_t j = 0; j < layout->n_dims; j++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId32 ":%" PRId64 ":%" PRId64,
                             j ? " " : "", layout->dim[j].dim, layout->dim[j].step, layout->dim[j].extent);
  return text;
}

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
    tesela_device_host host = host_of(rows[i].rank, shape, 16, 128);
    OK(tesela_device_from_order(&layout, &host, rows[i].order, NULL, rows[i].n, rows[i].dim_order, NULL,
                                &e_));
    assert_string_equal(text_of(&layout), rows[i].dims);
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
  assert_string_equal(text_of(&layout), "0:1:3 1:32:2 2:32:2 1:16:2 2:16:2 1:1:16 2:1:16");
  assert_int_equal(layout.places, 3 * 2 * 2 * 1024);
  assert_int_equal(layout.host.device_bits, 32);
  OK(tesela_device_default(&layout, tiles, TESELA_F32, 1, (const int64_t[]){50}, &e_));
  assert_string_equal(text_of(&layout), "-1:0:1 0:32:2 -1:0:2 0:16:2 -1:0:16 0:1:16");
  /* a stick of two rows: the last rows are cut */
  tesela_target wide = *tiles;
  wide.stick_bytes = 128;
  OK(tesela_device_default(&layout, &wide, TESELA_F32, 2, (const int64_t[]){40, 50}, &e_));
  assert_string_equal(text_of(&layout), "0:32:2 1:32:2 0:16:2 1:16:2 0:2:8 0:1:2 1:1:16");
  assert_int_equal(layout.stick_dims, 2);
  assert_int_equal(tesela_device_stick(&layout), -2);
  /* a stick of half a row */
  wide.stick_bytes = 32;
  OK(tesela_device_default(&layout, &wide, TESELA_F32, 2, (const int64_t[]){40, 50}, &e_));
  assert_string_equal(text_of(&layout), "0:32:2 1:32:2 0:16:2 1:16:2 0:1:16 1:8:2 1:1:8");
  wide.stick_bytes = 96; /* 24 lanes are no rows of 16 */
  assert_int_equal(tesela_device_default(&layout, &wide, TESELA_F32, 2, (const int64_t[]){40, 50}, NULL),
                   TESELA_E_INVALID);
}

/* ---- random layouts against the definition ---------------------------------------------------------------------- */

static struct oracle_device oracle_of(const tesela_device_host *host, int32_t n,
                                      const tesela_device_dim *dims) {
  struct oracle_device oracle = {.rank = host->rank, .n = n};
  for (int32_t d = 0; d < host->rank; d++) oracle.shape[d] = host->shape[d];
  for (int32_t j = 0; j < n; j++)
    oracle.dim[j] = (struct oracle_device_dim){dims[j].dim, dims[j].step, dims[j].extent, dims[j].stride};
  return oracle;
}

static int64_t elements_of(const tesela_device_host *host) {
  int64_t elements = 1;
  for (int32_t d = 0; d < host->rank; d++) elements *= host->shape[d];
  return elements;
}

/* Every element where the definition has it; elements and padding fill the places. */
static void agrees_with_definition(const tesela_device_layout *layout) {
  struct oracle_device oracle = oracle_of(&layout->host, layout->n_dims, layout->dim);
  int64_t index[ORACLE_DEVICE_RANK] = {0}, start[ORACLE_DEVICE_RANK] = {0}, place, used = 0;
  int64_t copies = oracle_device_copies(&oracle), elements = elements_of(&layout->host);
  tesela_layout core;
  tesela_device_sizes sizes;
  bool *taken = calloc((size_t)layout->places + 1, sizeof *taken);
  OK(tesela_device_to_layout(layout, &core, &e_));
  assert_int_equal(core.axis[0].extent, layout->places);
  assert_int_equal(tesela_layout_copies(&core), copies);
  for (int64_t e = 0; e < elements; e++) {
    for (int64_t k = 0; k < copies; k++) {
      OK(tesela_layout_copy_of(&core, index, k, &place, &e_));
      int64_t expected = oracle_device_place(&oracle, index, k);
      if (place != expected)
        fail_msg("%s: place %" PRId64 ", not %" PRId64, text_of(layout), place, expected);
      assert_true(place >= 0 && place < layout->places && !taken[place]);
      taken[place] = true;
      used++;
    }
    oracle_device_next(layout->host.rank, start, layout->host.shape, index);
  }
  OK(tesela_device_sizes_of(layout, NULL, &sizes, &e_));
  if (elements > 0) assert_int_equal(sizes.padding, layout->places - used);
  free(taken);
}

static tesela_device_host random_host(void) {
  static const int64_t extents[] = {1, 1, 2, 3, 5, 7, 8, 9, 16, 17};
  int64_t shape[5];
  int32_t rank = (int32_t)between(0, 5);
  for (int32_t d = 0; d < rank; d++) shape[d] = extents[between(0, rank > 3 ? 5 : 9)];
  if (rank > 0 && between(0, 40) == 0) shape[between(0, rank - 1)] = 0;
  return host_of(rank, shape, 8 << between(0, 3), (int64_t)8 << between(0, 3));
}

static void shuffle(int32_t n, int32_t *list) {
  for (int32_t k = n; k-- > 1;) {
    int32_t other = (int32_t)between(0, k), kept = list[k];
    list[k] = list[other];
    list[other] = kept;
  }
}

static void random_orders(void **state) {
  (void)state;
  const tesela_target *tiles = tesela_target_find("tiles");
  for (int i = 0; i < (slow_run() ? 100 : 2000); i++) {
    tesela_device_host host = random_host();
    tesela_device_padding padding = {{0}};
    tesela_device_layout layout;
    tesela_target small = *tiles;
    int32_t order[6];
    for (int32_t d = 0; d < host.rank; d++) {
      order[d] = d;
      if (between(0, 3) == 0) padding.to[d] = host.shape[d] + between(0, 5);
    }
    shuffle(host.rank, order);
    int32_t n = host.rank;
    if (between(0, 4) == 0) order[n++] = TESELA_STICK_SPARSE;
    tesela_order which = (tesela_order)between(0, 4);
    if (which == TESELA_ORDER_TILES) {
      int64_t lanes = host.stick_bytes * 8 / host.device_bits;
      small.tile[1][0] = 2;
      small.tile[1][1] = lanes;
      small.tile[0][0] = 4;
      small.tile[0][1] = 2 * lanes;
    }
    OK(tesela_device_from_order(&layout, &host, which, &small, n, order, &padding, &e_));
    agrees_with_definition(&layout);
    assert_true(tesela_device_equal(&layout, &layout));
  }
}

/* Digits of any steps: refused exactly if an element has no place, or two have one. */
static void random_dims(void **state) {
  (void)state;
  int made = 0, refused = 0;
  for (int i = 0; i < (slow_run() ? 300 : 6000); i++) {
    tesela_device_host host = random_host();
    tesela_device_dim dims[24];
    tesela_device_layout layout;
    int32_t n = 0;
    for (int32_t d = 0; d < host.rank; d++) {
      int64_t steps = between(0, 2);
      for (int64_t k = 0; k < steps && n < 16; k++) {
        int64_t step = between(1, 12);
        dims[n++] = (tesela_device_dim){between(1, host.shape[d] / step + 2), step, 0, d};
      }
      if (between(0, 9) > 0)
        dims[n++] = (tesela_device_dim){between(1, 12) > 2 ? host.shape[d] + 1 : between(1, 9), 1, 0, d};
    }
    if (between(0, 3) == 0) dims[n++] = (tesela_device_dim){between(1, 3), 0, 0, (int32_t)between(-2, -1)};
    for (int32_t k = n; k-- > 1;) {
      int32_t other = (int32_t)between(0, k);
      tesela_device_dim kept = dims[k];
      dims[k] = dims[other];
      dims[other] = kept;
    }
    dims[n++] = (tesela_device_dim){host.stick_bytes * 8 / host.device_bits, 0, 0, TESELA_DIM_SYNTHETIC};
    int64_t stride = 1; /* row-major, for the oracle */
    for (int32_t j = n; j-- > 0; stride *= dims[j].extent) dims[j].stride = stride;
    struct oracle_device oracle = oracle_of(&host, n, dims);
    int64_t index[ORACLE_DEVICE_RANK] = {0}, start[ORACLE_DEVICE_RANK] = {0}, elements = elements_of(&host);
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
    if (fine) agrees_with_definition(&layout);
    made += fine;
    refused += !fine;
  }
  assert_true(made > 10 && refused > 10);
}

/* The stride map of a layout reads back to the same relation, unless it can be read in two ways. */
static void random_stride_maps(void **state) {
  (void)state;
  int read = 0, ambiguous = 0;
  for (int i = 0; i < (slow_run() ? 100 : 3000); i++) {
    tesela_device_host host = random_host();
    tesela_device_layout layout, back;
    int32_t order[5];
    int64_t strides[5], stride = 1, map[TESELA_DEVICE_DIMS], size[TESELA_DEVICE_DIMS];
    for (int32_t d = 0; d < host.rank; d++) order[d] = d;
    if (elements_of(&host) == 0) continue;
    shuffle(host.rank, order);
    for (int32_t k = host.rank; k-- > 0;) { /* the host's dims in another order, with gaps */
      strides[order[k]] = stride;
      stride *= host.shape[order[k]] + between(0, 1);
    }
    shuffle(host.rank, order);
    OK(tesela_device_from_order(&layout, &host, (tesela_order)between(0, 3), NULL, host.rank, order, NULL,
                                &e_));
    OK(tesela_device_stride_map(&layout, strides, map, &e_));
    for (int32_t j = 0; j < layout.n_dims; j++) size[j] = layout.dim[j].extent;
    tesela_error err = {.message = ""};
    tesela_status status =
        tesela_device_from_stride_map(&back, &host, strides, layout.n_dims, size, map, &err);
    if (status == TESELA_E_UNSUPPORTED) {
      ambiguous++;
      continue;
    }
    if (status != TESELA_OK) fail_msg("%s: %s", text_of(&layout), err.message);
    tesela_layout a, b;
    tesela_difference difference;
    OK(tesela_device_to_layout(&layout, &a, &e_));
    OK(tesela_device_to_layout(&back, &b, &e_));
    OK(tesela_layout_compare(&a, &b, &difference, &e_));
    if (!difference.same) fail_msg("%s: %s", text_of(&layout), difference.reason);
    read++;
  }
  print_message("%d stride maps read back, %d can be read in two ways\n", read, ambiguous);
  assert_true(read > 50 && ambiguous < read / 4);
}

static void stride_maps_by_hand(void **state) {
  (void)state;
  tesela_device_layout layout;
  tesela_device_host host = host_of(2, (const int64_t[]){1000, 200}, 16, 128);
  OK(tesela_device_from_stride_map(&layout, &host, NULL, 3, (const int64_t[]){4, 1000, 64},
                                   (const int64_t[]){64, 200, 1}, &e_));
  assert_string_equal(text_of(&layout), "1:64:4 0:1:1000 1:1:64");
  host = host_of(1, (const int64_t[]){90}, 16, 128);
  OK(tesela_device_from_stride_map(&layout, &host, NULL, 3, (const int64_t[]){2, 3, 64},
                                   (const int64_t[]){45, 15, 1}, &e_));
  assert_string_equal(text_of(&layout), "0:45:2 0:15:3 0:1:64");
  /* 0 is a replica, unless a host dim has stride 0 */
  host = host_of(1, (const int64_t[]){64}, 16, 128);
  OK(tesela_device_from_stride_map(&layout, &host, NULL, 2, (const int64_t[]){3, 64}, (const int64_t[]){0, 1},
                                   &e_));
  assert_string_equal(text_of(&layout), "-2:0:3 0:1:64");
  host = host_of(2, (const int64_t[]){5, 100}, 16, 128);
  OK(tesela_device_from_stride_map(&layout, &host, (const int64_t[]){1, 0}, 3, (const int64_t[]){2, 5, 64},
                                   (const int64_t[]){0, 1, 0}, &e_));
  assert_string_equal(text_of(&layout), "1:64:2 0:1:5 1:1:64");
  /* both dims have stride 1: 1 can be either */
  host = host_of(2, (const int64_t[]){8, 8}, 16, 128);
  tesela_error err;
  assert_int_equal(tesela_device_from_stride_map(&layout, &host, (const int64_t[]){1, 1}, 2,
                                                 (const int64_t[]){8, 64}, (const int64_t[]){1, 1}, &err),
                   TESELA_E_UNSUPPORTED);
  assert_non_null(strstr(err.message, "both fit"));
}

/* Where all elements lie if the entries are read in one way: row-major places of greedy digits, by the definition. False if a
 * coordinate has no digits. */
static bool places_of_reading(const tesela_device_host *host, int32_t n, const int64_t *size,
                              const int32_t *owner, const int64_t *step, int64_t *places) {
  for (int64_t e = 0; e < elements_of(host); e++) {
    int64_t index[3], rest = e, place = 0, digit[5] = {0};
    for (int32_t d = host->rank; d-- > 0; rest /= host->shape[d]) index[d] = rest % host->shape[d];
    for (int32_t d = 0; d < host->rank; d++)
      for (int64_t s = 18; s > 0; s--) /* the largest step first; of equal ones the outer dim */
        for (int32_t j = 0; j < n; j++)
          if (owner[j] == d && step[j] == s) {
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
    int32_t rank = (int32_t)between(1, 3), n = (int32_t)between(2, 5), owner[5], ways = 0;
    for (int32_t d = 0; d < rank; d++) {
      shape[d] = between(2, 4);
      strides[d] = between(1, 6);
    }
    for (int32_t j = 0; j < n; j++) {
      size[j] = j + 1 == n ? 4 : between(1, 4);
      map[j] = strides[between(0, rank - 1)] * between(1, 3);
    }
    tesela_device_host host = host_of(rank, shape, 8, 4);
    for (int64_t way = 0, all = 1024; way < all; way++) { /* two bits for the owner of each device dim */
      bool fits = way < (int64_t)1 << 2 * n;
      for (int32_t j = 0; fits && j < n; j++) {
        owner[j] = (int32_t)(way >> 2 * j & 3);
        fits = owner[j] < rank && map[j] % strides[owner[j]] == 0;
        step[j] = fits ? map[j] / strides[owner[j]] : 0;
      }
      if (!fits || !places_of_reading(&host, n, size, owner, step, places)) continue;
      size_t bytes = (size_t)elements_of(&host) * sizeof *places;
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
    for (int64_t e = 0; e < elements_of(&host); e++) {
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
  tesela_device_host host = host_of(32, shape, 16, 128);
  OK(tesela_device_from_stride_map(&layout, &host, NULL, 32, size, map, &e_));
  for (int32_t d = 0; d < 32; d++) assert_int_equal(layout.dim[d].dim, d);
  host = host_of(1, (const int64_t[]){4}, 16, 128);
  const int64_t backwards[] = {-1}, few[] = {1, 64}, ends[] = {INT64_MIN, -1};
  assert_int_equal(tesela_device_from_stride_map(&layout, &host, backwards, 2, few, ends, &err),
                   TESELA_E_INVALID);
  assert_non_null(strstr(err.message, "stride_map[0]"));
  host = host_of(2, (const int64_t[]){0, 100}, 16, 128);
  OK(tesela_device_from_stride_map(&layout, &host, NULL, 3, (const int64_t[]){2, 0, 64},
                                   (const int64_t[]){64, 100, 1}, &e_));
  assert_int_equal(layout.places, 0);
}

/* ---- sticks moved -------------------------------------------------------------------------------------------------- */

static void restick_swaps_two_dims(void **state) {
  (void)state;
  tesela_device_host host = host_of(3, (const int64_t[]){10, 20, 130}, 16, 128);
  tesela_device_layout layout, moved, back, expected;
  OK(tesela_device_from_order(&layout, &host, TESELA_ORDER_GENERIC, NULL, 3, (const int32_t[]){0, 1, 2}, NULL,
                              &e_));
  OK(tesela_device_restick(&moved, &layout, 1, &e_)); /* SR002 of tests/vectors/spyre_seed_examples.json */
  assert_string_equal(text_of(&moved), "2:1:130 1:64:1 0:1:10 1:1:64");
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
  agrees_with_definition(&moved);
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
  tesela_device_host host = host_of(1, (const int64_t[]){3}, 16, 128);
  tesela_device_dim dims[3] = {{(int64_t)1 << 57, 0, 64, TESELA_DIM_SYNTHETIC}, {64, 1, 1, 0}};
  assert_int_equal(tesela_device_from_dims(&layout, &host, 2, dims, true, 1, NULL), TESELA_E_OVERFLOW);
  dims[0].extent--;
  OK(tesela_device_from_dims(&layout, &host, 2, dims, true, 1, &e_));
  assert_true(layout.places == INT64_MAX - 63);
  /* without elements the blocks are not counted, and 2^62 of them have 2^68 lanes */
  host = host_of(2, (const int64_t[]){0, 5}, 16, 128);
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
      {{{1, 1, 0, 1}, {64, 1, 0, 0}}, 0}, /* one lane of dim 1 is none */
      {{{64, 1, 0, 0}, {1, 1, 0, 1}}, 0},
      {{{2, 32, 0, 0}, {32, 1, 0, 0}}, 0},
      {{{2, 1, 0, 1}, {32, 1, 0, 0}}, -2},
      {{{2, 0, 0, TESELA_DIM_SYNTHETIC}, {32, 0, 0, TESELA_DIM_SYNTHETIC}}, TESELA_STICK_SPARSE},
      {{{2, 0, 0, TESELA_DIM_REPLICATED}, {32, 1, 0, 0}}, -2},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tesela_device_layout layout;
    tesela_device_host host = host_of(2, (const int64_t[]){50, 9}, 16, 128);
    tesela_device_dim dims[] = {{9, 1, 0, 1}, {50, 1, 0, 0}, rows[i].lanes[0], rows[i].lanes[1]};
    OK(tesela_device_from_dims(&layout, &host, 4, dims, false, 2, &e_));
    assert_int_equal(tesela_device_stick(&layout), rows[i].stick);
  }
  /* sticks of one lane */
  tesela_device_layout layout;
  tesela_device_host host = host_of(1, (const int64_t[]){5}, 1024, 128);
  OK(tesela_device_from_order(&layout, &host, TESELA_ORDER_GENERIC, NULL, 1, (const int32_t[]){0}, NULL,
                              &e_));
  assert_int_equal(tesela_device_stick(&layout), 0);
}

static void rebinding(void **state) {
  (void)state;
  for (int i = 0; i < (slow_run() ? 50 : 500); i++) {
    tesela_device_host host = random_host(), other;
    tesela_device_layout layout, bound, expected;
    int32_t order[6], n = host.rank;
    for (int32_t d = 0; d < host.rank; d++) order[d] = d;
    shuffle(host.rank, order);
    if (between(0, 3) == 0) order[n++] = TESELA_STICK_SPARSE;
    tesela_order which = (tesela_order)between(0, 3);
    other = host;
    for (int32_t d = 0; d < host.rank; d++) other.shape[d] = between(1, 20);
    OK(tesela_device_from_order(&layout, &host, which, NULL, n, order, NULL, &e_));
    if (elements_of(&host) == 0) continue; /* strides of 0 */
    OK(tesela_device_from_order(&expected, &other, which, NULL, n, order, NULL, &e_));
    OK(tesela_device_rebind(&bound, &layout, other.shape, &e_));
    if (!tesela_device_equal(&bound, &expected)) fail_msg("%s", text_of(&bound));
  }
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
  tesela_device_host host = host_of(2, (const int64_t[]){1000, 2}, 16, 128);
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
  tesela_device_host host = host_of(2, (const int64_t[]){30, 100}, 16, 128);
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
      {{{2, 64, 1000, 1}, {30, 1, 64, 0}, {64, 1, 1, 1}}, true, 1, TESELA_E_INVALID, "could meet"},
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
  tesela_device_host host = host_of(2, (const int64_t[]){30, 100}, 16, 128);
  const tesela_device_dim dims[] = {{2, 64, 128, 1}, {30, 1, 256, 0}, {64, 1, 1, 1}};
  OK(tesela_device_from_dims(&layout, &host, 3, dims, true, 1, &e_));
  assert_int_equal(layout.places, 29 * 256 + 128 + 64);
  agrees_with_definition(&layout);
}

/* Without elements the dims outside one of extent 0 have stride 0; the layout is empty all the same. */
static void replicas_of_nothing(void **state) {
  (void)state;
  tesela_device_layout layout;
  tesela_layout core;
  tesela_device_host host = host_of(1, (const int64_t[]){0}, 16, 128);
  const tesela_device_dim dims[] = {{2, 0, 0, -2}, {0, 64, 0, 0}, {64, 1, 0, 0}};
  OK(tesela_device_from_dims(&layout, &host, 3, dims, false, 1, &e_));
  OK(tesela_device_to_layout(&layout, &core, &e_));
  assert_int_equal(core.axis[0].extent, 0);
}

/* ---- targets, names -------------------------------------------------------------------------------------------------- */

static void targets(void **state) {
  (void)state;
  tesela_target_type type;
  int64_t lanes;
  const tesela_target *spyre = tesela_target_find("spyre");
  assert_null(tesela_target_find("spire"));
  assert_null(tesela_target_at(2));
  assert_null(tesela_target_at(-1));
  for (int32_t k = 0; tesela_target_at(k); k++) OK(tesela_target_check(tesela_target_at(k), &e_));
  /* lanes by the device's type: the table of device.md a1 */
  static const struct {
    tesela_dtype host, device;
    int64_t lanes;
  } rows[] = {{TESELA_F16, TESELA_F16, 64}, {TESELA_BF16, TESELA_F16, 64}, {TESELA_PRED, TESELA_F16, 64},
              {TESELA_F32, TESELA_F32, 32}, {TESELA_S64, TESELA_S32, 32},  {TESELA_S32, TESELA_S32, 32},
              {TESELA_S8, TESELA_S8, 128},  {TESELA_U8, TESELA_U32, 32}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    OK(tesela_target_type_of(spyre, rows[i].host, &type, &lanes, &e_));
    assert_int_equal(type.device, rows[i].device);
    assert_int_equal(lanes, rows[i].lanes);
  }
  assert_int_equal(tesela_target_type_of(spyre, TESELA_F64, &type, NULL, NULL), TESELA_E_UNSUPPORTED);
  assert_int_equal(tesela_target_type_of(spyre, TESELA_DTYPE_NONE, &type, NULL, NULL), TESELA_E_UNSUPPORTED);
  tesela_target plain;
  assert_int_equal(tesela_target_plain(&plain, 0, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_target_plain(&plain, (1 << 20) + 1, NULL), TESELA_E_RANGE);
  OK(tesela_target_plain(&plain, 256, &e_));
  OK(tesela_target_check(&plain, &e_));
  OK(tesela_target_type_of(&plain, TESELA_C128, &type, &lanes, &e_));
  assert_int_equal(lanes, 16);
  tesela_device_host host;
  int64_t shape[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  assert_int_equal(tesela_device_host_of(&host, spyre, TESELA_F16, 7, shape, NULL), TESELA_E_LIMIT);
  shape[1] = -1;
  assert_int_equal(tesela_device_host_of(&host, spyre, TESELA_F16, 2, shape, NULL), TESELA_E_RANGE);
  shape[0] = shape[1] = (int64_t)1 << 40;
  assert_int_equal(tesela_device_host_of(&host, spyre, TESELA_F16, 2, shape, NULL), TESELA_E_OVERFLOW);
}

static void targets_that_contradict(void **state) {
  (void)state;
  tesela_target good = *tesela_target_find("tiles"), bad;
#define BAD(change, expected)                                    \
  do {                                                           \
    bad = good;                                                  \
    change;                                                      \
    assert_int_equal(tesela_target_check(&bad, NULL), expected); \
  } while (0)
  BAD(bad.name[0] = '\0', TESELA_E_INVALID);
  BAD(memset(bad.name, 'x', sizeof bad.name), TESELA_E_INVALID);
  BAD(bad.stick_bytes = 0, TESELA_E_RANGE);
  BAD(bad.alignment = 0, TESELA_E_RANGE);
  BAD(bad.max_rank = TESELA_MAX_RANK + 1, TESELA_E_RANGE);
  BAD(bad.order = (tesela_order)9, TESELA_E_RANGE);
  BAD(bad.order = TESELA_ORDER_GENERIC, TESELA_E_INVALID); /* with tiles */
  BAD(bad.n_tiles = 0, TESELA_E_RANGE);
  BAD(bad.tile[1][0] = 0, TESELA_E_RANGE);
  BAD(bad.tile[1][0] = 12, TESELA_E_INVALID);
  BAD(bad.cores = -1, TESELA_E_RANGE);
  BAD(bad.dma.max_burst = -1, TESELA_E_RANGE);
  BAD(bad.n_types = TESELA_TARGET_TYPES + 1, TESELA_E_RANGE);
  BAD(bad.type[1].host = bad.type[0].host, TESELA_E_INVALID);
  BAD(bad.type[1].device_bits = 12, TESELA_E_RANGE);
  BAD(bad.type[1].device_bits = 8, TESELA_E_RANGE);
  BAD(bad.n_rules = TESELA_TARGET_RULES + 1, TESELA_E_RANGE);
  BAD((bad.n_rules = 1, bad.rule[0].operand = -3), TESELA_E_RANGE);
#undef BAD
}

static void names_and_back(void **state) {
  (void)state;
  for (int32_t k = 0; tesela_order_name((tesela_order)k); k++)
    assert_int_equal(
        tesela_order_find(tesela_order_name((tesela_order)k), strlen(tesela_order_name((tesela_order)k))), k);
  for (int32_t k = 0; tesela_op_name((tesela_op)k); k++)
    assert_int_equal(tesela_op_find(tesela_op_name((tesela_op)k), strlen(tesela_op_name((tesela_op)k))), k);
  for (int32_t k = 0; tesela_fn_name((tesela_fn)k); k++)
    assert_int_equal(tesela_fn_find(tesela_fn_name((tesela_fn)k), strlen(tesela_fn_name((tesela_fn)k))), k);
  for (int32_t k = 0; tesela_need_name((tesela_need)k); k++)
    assert_int_equal(
        tesela_need_find(tesela_need_name((tesela_need)k), strlen(tesela_need_name((tesela_need)k))), k);
  for (int32_t k = 0; tesela_yield_name((tesela_yield)k); k++)
    assert_int_equal(
        tesela_yield_find(tesela_yield_name((tesela_yield)k), strlen(tesela_yield_name((tesela_yield)k))), k);
  assert_string_equal(tesela_op_name(TESELA_OP_MATMUL), "matmul");
  assert_int_equal(tesela_op_find("matmulx", 6), TESELA_OP_MATMUL);
  assert_int_equal(tesela_op_find("matmulx", 7), -1);
  assert_null(tesela_op_name((tesela_op)-1));
  assert_int_equal(tesela_fn_operands(TESELA_FN_SELECT), 3);
  assert_int_equal(tesela_fn_operands(TESELA_FN_SUM), 0);
  assert_int_equal(tesela_fn_operands((tesela_fn)1000), -1);
}

int main(void) {
  const char *text = getenv("TESELA_SEED");
  seed = text ? strtoull(text, NULL, 10) : 20261121;
  seed = seed ? seed : 1;
  print_message("TESELA_SEED=%" PRIu64 "\n", seed);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(published_arrangements),
      cmocka_unit_test(tiles_of_faces),
      cmocka_unit_test(random_orders),
      cmocka_unit_test(random_dims),
      cmocka_unit_test(random_stride_maps),
      cmocka_unit_test(stride_maps_by_hand),
      cmocka_unit_test(stride_maps_in_all_readings),
      cmocka_unit_test(stride_maps_at_the_limits),
      cmocka_unit_test(the_ends_of_64_bits),
      cmocka_unit_test(the_dim_in_the_lanes),
      cmocka_unit_test(restick_swaps_two_dims),
      cmocka_unit_test(rebinding),
      cmocka_unit_test(allocations),
      cmocka_unit_test(formats_say_what_lanes_hold),
      cmocka_unit_test(two_elements_of_one_dim_have_two_strides),
      cmocka_unit_test(refusals),
      cmocka_unit_test(strides_with_gaps),
      cmocka_unit_test(replicas_of_nothing),
      cmocka_unit_test(targets),
      cmocka_unit_test(targets_that_contradict),
      cmocka_unit_test(names_and_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
