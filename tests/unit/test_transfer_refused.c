/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_transfer_refused.c - transfers by rows: every type of the targets, small and empty tensors, overlap,
 * dumps with a mistake, refusals, allocations that fail.
 */
#include "support_fault.h"
#include "support_transfer.h"

/* ---- a dump with a mistake -------------------------------------------------------------------------------------- */

static void a_dump_with_a_mistake(void **state) {
  (void)state;
  tesela_device_layout layout = transfer_rows(TESELA_F16, 16, TESELA_F16, 16, 6, 100);
  static uint16_t host[600], device[768];
  tesela_transfer *transfer = NULL;
  tesela_misplaced m;
  for (int i = 0; i < 600; i++) host[i] = (uint16_t)(i + 1);
  OK(tesela_transfer_to_device(&transfer, &layout, NULL, 0, NULL, &e_));
  OK(tesela_transfer_run(transfer, device, host, NULL, &e_));
  tesela_transfer_destroy(transfer);
  for (int c = 0; c < 64; c++) { /* sticks (2, 64..) and (4, 64..) are swapped: 36 columns each */
    uint16_t swap = device[384 + 2 * 64 + c];
    device[384 + 2 * 64 + c] = device[384 + 4 * 64 + c];
    device[384 + 4 * 64 + c] = swap;
  }
  OK(tesela_transfer_verify(&layout, device, sizeof device, NULL, 0, host, &m, NULL, NULL, &e_));
  assert_false(m.same);
  assert_int_equal(m.n_different, 72);
  assert_int_equal(m.index[0], 2);
  assert_int_equal(m.index[1], 64);
  assert_int_equal(m.place, 384 + 2 * 64);
  assert_true(m.have_source);
  assert_int_equal(m.source[0], 4);
  assert_int_equal(m.source[1], 64);
  assert_int_equal(m.found[0] | m.found[1] << 8, 465);
  assert_int_equal(m.expected[0] | m.expected[1] << 8, 265);
  assert_false(m.is_padding_value);
  tesela_error err = {.message = ""};
  assert_int_equal(tesela_transfer_verify(&layout, NULL, sizeof device, NULL, 0, host, &m, NULL, NULL, NULL),
                   TESELA_E_INVALID);
  assert_int_equal(
      tesela_transfer_verify(&layout, device, sizeof device, NULL, 0, NULL, &m, NULL, NULL, NULL),
      TESELA_E_INVALID);
  assert_int_equal(tesela_transfer_verify(&layout, device, 1535, NULL, 0, host, &m, NULL, NULL, &err),
                   TESELA_E_RANGE);
  assert_string_equal(err.message, "the dump has 1535 bytes; the layout needs 1536");
  assert_int_equal(m.n_different, 72); /* unchanged */
}

/* ---- every type of the targets ---------------------------------------------------------------------------------- */

/* Zeros and ones of each type come back from the default layout, and from one per stick. */
static void every_type_of_the_targets(void **state) {
  (void)state;
  const int64_t shape[3] = {3, 33, 70};
  static unsigned char host[3 * 33 * 70 * 8], back[sizeof host], device[3 * 33 * 70 * 128 + 4096 * 64];
  int types = 0;
  for (int32_t t = 0; tesela_target_at(t); t++)
    for (int32_t k = 0; k < tesela_target_at(t)->n_types; k++) {
      const tesela_target *target = tesela_target_at(t);
      tesela_dtype dtype = target->type[k].host;
      tesela_device_layout layouts[2];
      tesela_misplaced m;
      size_t bytes = (size_t)tesela_dtype_bytes(dtype);
      OK(tesela_device_default(&layouts[0], target, dtype, 3, shape, &e_));
      OK(tesela_device_with_stick(&layouts[1], &layouts[0].host, target,
                                  target->sparse ? TESELA_STICK_SPARSE : 1, &e_));
      uint16_t one16 = dtype == TESELA_F16 ? 0x3c00 : 0x3f80; /* or bf16 */
      float one32 = 1;
      memset(host, 0, sizeof host);
      for (size_t e = 0; e < 3 * 33 * 70; e += 1 + e % 3) {
        memset(host + e * bytes, 0, bytes);
        host[e * bytes] = 1;
        if (dtype == TESELA_F16 || dtype == TESELA_BF16) memcpy(host + e * bytes, &one16, 2);
        if (dtype == TESELA_F32) memcpy(host + e * bytes, &one32, 4);
        if (dtype == TESELA_F8E4M3FN || dtype == TESELA_F8E5M2)
          host[e] = dtype == TESELA_F8E5M2 ? 0x3c : 0x38;
      }
      for (int side = 0; side < 2; side++) {
        tesela_transfer *to = NULL, *from = NULL;
        int64_t dump = layouts[side].places * layouts[side].host.device_bits / 8;
        assert_true(dump <= (int64_t)sizeof device);
        OK(tesela_transfer_to_device(&to, &layouts[side], NULL, 0, NULL, &e_));
        OK(tesela_transfer_to_host(&from, &layouts[side], NULL, 0, NULL, &e_));
        memset(device, 0xee, sizeof device);
        memset(back, 0xdd, sizeof back);
        OK(tesela_transfer_run(to, device, host, NULL, &e_));
        OK(tesela_transfer_run(from, back, device, NULL, &e_));
        if (memcmp(back, host, 3 * 33 * 70 * bytes) != 0)
          fail_msg("%s on %s differs", tesela_dtype_name(dtype), target->name);
        OK(tesela_transfer_verify(&layouts[side], device, dump, NULL, 0, host, &m, NULL, NULL, &e_));
        assert_true(m.same);
        tesela_transfer_destroy(to);
        tesela_transfer_destroy(from);
        types++;
      }
    }
  assert_true(types >= 32);
}

/* ---- small and empty -------------------------------------------------------------------------------------------- */

static void small_and_empty(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int32_t rank;
    int64_t shape[3];
    int32_t order[4], n;
    int64_t bytes;
  } rows[] = {
      {"rank 0", 0, {0}, {TESELA_STICK_SPARSE}, 1, 128},
      {"one element", 1, {1}, {0}, 1, 128},
      {"no element", 2, {5, 0}, {0, 1}, 2, 0},
      {"no row", 2, {0, 5}, {0, 1}, 2, 0},
      {"ones", 3, {1, 1, 1}, {2, 1, 0}, 3, 128},
      {"one per stick", 1, {3}, {0, TESELA_STICK_SPARSE}, 2, 384},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_device_layout layout;
    tesela_device_host host = transfer_host(TESELA_F32, 32, TESELA_F32, 32, rows[i].rank, rows[i].shape);
    tesela_transfer *transfer = NULL;
    tesela_transfer_options options = {.pad = TESELA_PAD_PLUS_INF};
    float values[4] = {1, 2, 3, 4}, back[4] = {9, 9, 9, 9};
    uint32_t device[100];
    tesela_misplaced m;
    transfer_layout(&layout, &host, rows[i].order, rows[i].n);
    int64_t elements = 1;
    for (int32_t d = 0; d < rows[i].rank; d++) elements *= rows[i].shape[d];
    memset(device, 0x66, sizeof device);
    OK(tesela_transfer_to_device(&transfer, &layout, NULL, 0, &options, &e_));
    OK(tesela_transfer_run(transfer, device, values, NULL, &e_));
    assert_int_equal(tesela_transfer_facts_of(transfer).bytes_written, rows[i].bytes);
    tesela_transfer_destroy(transfer);
    for (int64_t p = 0; p < 100; p++) {
      uint32_t want = p * 4 < rows[i].bytes ? 0x7f800000 : 0x66666666;
      if (p % 32 == 0 && p / 32 < elements) memcpy(&want, &values[p / 32], 4);
      if (device[p] != want) fail_msg("%s: place %" PRId64 " is %" PRIx32, rows[i].name, p, device[p]);
    }
    OK(tesela_transfer_to_host(&transfer, &layout, NULL, 0, NULL, &e_));
    OK(tesela_transfer_run(transfer, back, device, NULL, &e_));
    tesela_transfer_destroy(transfer);
    for (int64_t e = 0; e < 4; e++) assert_true(back[e] == (e < elements ? values[e] : 9));
    OK(tesela_transfer_verify(&layout, device, sizeof device, NULL, 0, values, &m, NULL, NULL, &e_));
    assert_true(m.same);
  }
}

/* ---- over itself ------------------------------------------------------------------------------------------------ */

static void in_place_from_the_same_address(void **state) {
  (void)state;
  tesela_device_layout layout = transfer_rows(TESELA_F32, 32, TESELA_F32, 32, 70, 70);
  static uint32_t buffer[3 * 70 * 32], apart[3 * 70 * 32];
  tesela_transfer *transfer = NULL;
  for (uint32_t i = 0; i < 4900; i++) buffer[i] = i;
  OK(tesela_transfer_to_device(&transfer, &layout, NULL, 0, NULL, &e_));
  memcpy(apart, buffer, sizeof apart);
  OK(tesela_transfer_run(transfer, buffer, buffer, NULL, &e_));
  for (uint32_t r = 0; r < 70; r++)
    for (uint32_t c = 0; c < 70; c++) apart[c / 32 * 70 * 32 + r * 32 + c % 32] = r * 70 + c;
  assert_memory_equal(buffer, apart, sizeof apart); /* padding keeps what was there */
  tesela_transfer_destroy(transfer);
}

/* Rows backwards, of every second element, from the last row on; the device's order begins in the middle of them. */
static void host_strides_below_0(void **state) {
  (void)state;
  tesela_device_layout layout = transfer_rows(TESELA_F32, 32, TESELA_F32, 32, 7, 10);
  const int64_t strides[2] = {-40, 2};
  static uint32_t buffer[600], want[600];
  tesela_transfer *transfer = NULL;
  for (uint32_t i = 0; i < 600; i++) buffer[i] = want[i] = i;
  OK(tesela_transfer_to_device(&transfer, &layout, strides, 300, NULL, &e_));
  OK(tesela_transfer_run(transfer, buffer + 200, buffer, NULL, &e_));
  tesela_transfer_destroy(transfer);
  for (uint32_t r = 0; r < 7; r++)
    for (uint32_t c = 0; c < 10; c++) want[200 + r * 32 + c] = 300 - 40 * r + 2 * c;
  assert_memory_equal(buffer, want, sizeof buffer);
  for (uint32_t i = 0; i < 600; i++) buffer[i] = want[i] = i; /* and back, elements between untouched */
  OK(tesela_transfer_to_host(&transfer, &layout, strides, 300, NULL, &e_));
  OK(tesela_transfer_run(transfer, buffer, buffer + 200, NULL, &e_));
  tesela_transfer_destroy(transfer);
  for (uint32_t r = 0; r < 7; r++)
    for (uint32_t c = 0; c < 10; c++) want[300 - 40 * r + 2 * c] = 200 + r * 32 + c;
  assert_memory_equal(buffer, want, sizeof buffer);
}

static int stop(void *user, int64_t done, int64_t total) {
  (void)user, (void)done, (void)total;
  return 1;
}

static void progress_stops_a_transfer(void **state) {
  (void)state;
  tesela_device_layout layout = transfer_rows(TESELA_F32, 32, TESELA_F32, 32, 4096, 2048);
  tesela_transfer *transfer = NULL;
  tesela_transfer_options options = {.threads = 1};
  tesela_run_options run = {.progress = stop};
  unsigned char *host = calloc(4096 * 2048, 4), *device = calloc(4096 * 2048, 4);
  assert_true(host && device);
  OK(tesela_transfer_to_device(&transfer, &layout, NULL, 0, &options, &e_));
  assert_int_equal(tesela_transfer_run(transfer, device, host, &run, NULL), TESELA_E_STOPPED);
  tesela_transfer_destroy(transfer);
  free(host);
  free(device);
}

/* ---- refusals, allocations -------------------------------------------------------------------------------------- */

static void refusals(void **state) {
  (void)state;
  tesela_device_layout rows = transfer_rows(TESELA_F16, 16, TESELA_F16, 16, 6, 100),
                       more = transfer_rows(TESELA_F16, 16, TESELA_F16, 16, 6, 101),
                       odd = transfer_rows(TESELA_F16, 16, TESELA_S32, 32, 6, 100);
  tesela_transfer *transfer = NULL;
  tesela_transfer_options options = {.threads = -1};
  const int64_t shared[2] = {0, 1}, huge[2] = {INT64_MAX, 1};
  tesela_transfer_destroy(NULL);
  assert_int_equal(tesela_transfer_to_host(&transfer, &rows, shared, 0, NULL, NULL), TESELA_E_UNSUPPORTED);
  assert_int_equal(tesela_transfer_to_device(&transfer, &odd, NULL, 0, NULL, NULL), TESELA_E_UNSUPPORTED);
  assert_int_equal(tesela_transfer_to_device(&transfer, &rows, huge, 0, NULL, NULL), TESELA_E_OVERFLOW);
  assert_int_equal(tesela_transfer_to_device(&transfer, &rows, NULL, -1, NULL, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_transfer_to_device(&transfer, &rows, NULL, 0, &options, NULL), TESELA_E_RANGE);
  assert_int_equal(tesela_transfer_between(&transfer, &rows, &more, NULL, NULL), TESELA_E_MISMATCH);
  assert_null(transfer);
  OK(tesela_transfer_to_device(&transfer, &rows, shared, 0, NULL,
                               &e_)); /* rows that share their places can be read */
  tesela_transfer_destroy(transfer);
}

/* Makes, runs over itself and verifies, with the given allocator. */
static tesela_status all_of_it(const tesela_device_layout *layout, const tesela_allocator *allocator) {
  static uint16_t host[600], device[1024];
  tesela_transfer *transfer = NULL;
  tesela_transfer_options options = {.pad = TESELA_PAD_ZERO, .allocator = allocator};
  tesela_misplaced m;
  for (uint16_t i = 0; i < 600; i++) device[i] = host[i] = i;
  tesela_status status = tesela_transfer_to_device(&transfer, layout, NULL, 0, &options, NULL);
  assert_true((status == TESELA_OK) == (transfer != NULL));
  if (status == TESELA_OK) status = tesela_transfer_run(transfer, device, device, NULL, NULL);
  tesela_transfer_destroy(transfer);
  if (status == TESELA_OK)
    status = tesela_transfer_verify(layout, device, sizeof device, NULL, 0, host, &m, NULL, allocator, NULL);
  if (status == TESELA_OK) assert_true(m.same);
  return status;
}

static void allocations_that_fail(void **state) {
  (void)state;
  tesela_device_layout layout = transfer_rows(TESELA_F16, 16, TESELA_F16, 16, 6, 100);
  for (long n = 0;; n++) {
    fault f = {.countdown = n, .once = true};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_status status = all_of_it(&layout, &allocator);
    assert_int_equal(f.live, 0);
    if (status == TESELA_OK) {
      assert_true(n > 4);
      break;
    }
    assert_int_equal(status, TESELA_E_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_dump_with_a_mistake),
      cmocka_unit_test(every_type_of_the_targets),
      cmocka_unit_test(small_and_empty),
      cmocka_unit_test(in_place_from_the_same_address),
      cmocka_unit_test(host_strides_below_0),
      cmocka_unit_test(progress_stops_a_transfer),
      cmocka_unit_test(refusals),
      cmocka_unit_test(allocations_that_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
