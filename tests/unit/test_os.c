/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_os.c - what base/os.h promises, on every system: chunks on threads, locks, the clock, aligned memory, files.
 *
 * It uses standard C and os.h alone, so that it runs wherever the library does. test_threads.c and test_file*.c test what
 * POSIX systems add.
 */
#include <stdatomic.h>

#include <tesela/file.h>

#include "base/os.h"
#include "support_xla.h"

static tesela_error err;

/* ---- threads ---- */

enum { CHUNKS = 300 };

typedef struct counts {
  atomic_int ran[CHUNKS];
  tesela__lock lock;
  int64_t sum; /* under the lock */
} counts;

static void count_chunk(void *data, int32_t i) {
  counts *c = data;
  atomic_fetch_add(&c->ran[i], 1);
  for (int k = 0; k < 100; k++) {
    tesela__lock_take(&c->lock);
    c->sum += i;
    tesela__lock_give(&c->lock);
  }
}

static void each_chunk_runs_once(void **state) {
  (void)state;
  static counts c;
  assert_true(tesela__cpu_count() >= 1);
  for (int32_t threads = 0; threads <= 9; threads++) {
    memset(c.ran, 0, sizeof c.ran);
    c.sum = 0;
    assert_true(tesela__lock_init(&c.lock));
    tesela__run_on_threads(threads, CHUNKS, count_chunk, &c);
    for (int i = 0; i < CHUNKS; i++) assert_int_equal(atomic_load(&c.ran[i]), 1);
    assert_int_equal(c.sum, 100 * (CHUNKS * (CHUNKS - 1) / 2));
    tesela__lock_destroy(&c.lock);
  }
}

static uintptr_t other_self;

static void *tell_self(void *data) {
  other_self = tesela__thread_self();
  return data;
}

static void a_thread_has_a_number_of_its_own(void **state) {
  (void)state;
  tesela__thread thread;
  if (!tesela__thread_start(&thread, tell_self, NULL)) {
#ifdef TESELA_OS_NONE
    return;
#else
    fail_msg("a thread cannot be started");
#endif
  }
  tesela__thread_join(thread);
  assert_true(other_self != tesela__thread_self());
}

/* ---- the clock ---- */

/* The clock does not jump back, and sleeping takes time of it. */
static void the_clock_goes_forward(void **state) {
  (void)state;
  int64_t first = tesela__clock_ns(), last = first;
  for (int i = 0; i < 1000; i++) {
    int64_t now = tesela__clock_ns();
    assert_true(now >= last);
    last = now;
  }
  tesela__sleep_ns(3000000);
#ifndef TESELA_OS_NONE
  assert_true(tesela__clock_ns() - first >= 1000000);
#endif
}

/* ---- memory ---- */

static void memory_is_aligned(void **state) {
  (void)state;
  for (size_t align = 1; align <= 4096; align *= 2)
    for (size_t size = 1; size < 5000; size = size * 3 + 1) {
      unsigned char *memory = tesela__os_alloc(size, align);
      assert_non_null(memory);
      assert_int_equal((uintptr_t)memory % align, 0);
      memset(memory, 0x5a, size);
      tesela__os_release(memory);
    }
  assert_true(tesela__cache_bytes(2) > 0 && tesela__cache_bytes(3) > 0);
  assert_true(tesela__resident_bytes() == -1 || tesela__resident_bytes() > 0);
}

/* Sizes are 64 bits whatever a size_t has: what cannot be addressed is NULL, not a piece of what is left of the number. */
static void sizes_never_wrap(void **state) {
  (void)state;
  const tesela_allocator own = tesela__allocator(NULL);
  static const uint64_t sizes[] = {
    UINT64_C(1) << 63,
    UINT64_MAX,
    (UINT64_C(1) << 63) + 4096,
#if SIZE_MAX == UINT32_MAX
    UINT64_C(1) << 31,
    UINT64_C(1) << 32,
    (UINT64_C(1) << 32) + 1,
    (UINT64_C(1) << 32) + 4096
#endif
  };
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    for (size_t align = 1; align <= 64; align *= 64) assert_null(tesela__alloc(&own, sizes[i], align));
  void *items = NULL;
  size_t capacity = 0;
  assert_false(tesela__grow(&own, &items, 16, &capacity, UINT64_C(1) << 60));
  assert_false(tesela__grow(&own, &items, 1, &capacity, UINT64_C(1) << 63));
#if SIZE_MAX == UINT32_MAX
  assert_false(tesela__grow(&own, &items, 16, &capacity, UINT64_C(1) << 28));
  assert_false(tesela__grow(&own, &items, 1, &capacity, (UINT64_C(1) << 32) + 1));
#endif
  assert_null(items);
  assert_int_equal(capacity, 0);
}

/* Buffers of 2^31 and 2^32 bytes and a little more, which a pointer of 32 bits cannot count. Nothing of them is touched. */
static void large_buffers_are_refused(void **state) {
  (void)state;
#if SIZE_MAX == UINT32_MAX
  static const int64_t sizes[] = {INT64_C(1) << 31, INT64_C(1) << 32, (INT64_C(1) << 32) + 64,
                                  INT64_C(1) << 40};
  static unsigned char dst[64], src[64];
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    for (int32_t bits = 4; bits <= 64; bits *= 2) {
      const int64_t shape[] = {sizes[i] * 8 / bits / 2, 2};
      tesela_layout rows, columns;
      tesela_plan *plan;
      tesela_values_difference difference;
      uint8_t digest[16];
      const tesela_plan_options measured = {.effort = TESELA_EFFORT_MEASURE};
      OK(tesela_layout_strided(&rows, TESELA_DTYPE_NONE, bits, 2, shape, (const int64_t[]){2, 1}, 0, &e_));
      OK(tesela_layout_strided(&columns, TESELA_DTYPE_NONE, bits, 2, shape, (const int64_t[]){1, shape[0]}, 0,
                               &e_));
      OK(tesela_plan_create(&plan, &columns, &rows, NULL, &e_));
      assert_int_equal(tesela_plan_run(plan, dst, src, NULL, &err), TESELA_E_LIMIT);
      assert_int_equal(tesela_plan_run_in_place(plan, dst, NULL, NULL, &err), TESELA_E_LIMIT);
      tesela_plan_destroy(plan);
      assert_int_equal(tesela_plan_create(&plan, &columns, &rows, &measured, &err), TESELA_E_MEMORY);
      assert_int_equal(tesela_values_compare(&rows, src, &columns, dst, &difference, NULL, &err),
                       TESELA_E_LIMIT);
      assert_int_equal(tesela_values_digest(&rows, src, digest, NULL, &err), TESELA_E_LIMIT);
    }
#endif
}

/* ---- files ---- */

static const char PATH[] = "test_os.out";

static void write_file(const char *path, int64_t n, int first) {
  const tesela_allocator own = tesela__allocator(NULL);
  tesela__output *out;
  uint8_t *data;
  OK(tesela__output_create(&out, path, n, NULL, false, &own, &data, &e_));
  for (int64_t i = 0; i < n; i++) {
    assert_int_equal(data[i], 0);
    data[i] = (uint8_t)(first + i);
  }
  OK(tesela__output_finish(out, &e_));
  tesela__output_close(out);
}

static void expect_file(const char *path, int64_t n, int first) {
  const tesela_allocator own = tesela__allocator(NULL);
  tesela__mapping mapping;
  OK(tesela__mapping_open(&mapping, path, &own, &e_));
  assert_int_equal(mapping.bytes, n);
  assert_true((mapping.data != NULL) == (n > 0));
  for (int64_t i = 0; i < n; i++)
    if (mapping.data[i] != (uint8_t)(first + i)) fail_msg("byte %" PRId64 " differs", i);
  tesela__drop_pages(mapping.data, mapping.bytes, false);
  for (int64_t i = 0; i < n; i += 4096) assert_int_equal(mapping.data[i], (uint8_t)(first + i));
  tesela__mapping_close(&mapping);
}

/* What is written is read, whatever bytes it has: no text mode changes a line end. An old file is replaced. */
static void a_file_is_written_and_read(void **state) {
  (void)state;
  static const int64_t sizes[] = {0, 1, 255, 4096, 70000, 1000003, 3};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    write_file(PATH, sizes[i], (int)i * 7);
    expect_file(PATH, sizes[i], (int)i * 7);
  }
  assert_int_equal(remove(PATH), 0);
}

/* Until it is finished nothing has the name, and what is given up leaves nothing. */
static void a_file_appears_when_it_is_whole(void **state) {
  (void)state;
  const tesela_allocator own = tesela__allocator(NULL);
  static char unfinished[TESELA_FILE_PATH];
  tesela__output *out;
  uint8_t *data;
  remove(PATH);
  OK(tesela__output_create(&out, PATH, 10, unfinished, true, &own, &data, &e_));
  memset(data, 1, 10);
  FILE *early = fopen(PATH, "rb");
  assert_null(early);
  tesela__output_close(out);
  assert_string_equal(unfinished, "");
  early = fopen(PATH, "rb");
  assert_null(early);
  write_file(PATH, 5, 0);
  OK(tesela__output_create(&out, PATH, 10, unfinished, true, &own, &data, &e_));
  tesela__output_close(out);
  expect_file(PATH, 5, 0);
  assert_int_equal(remove(PATH), 0);
}

static void bad_paths_are_refused(void **state) {
  (void)state;
  const tesela_allocator own = tesela__allocator(NULL);
  tesela__mapping mapping;
  tesela__output *out;
  uint8_t *data;
  assert_int_equal(tesela__mapping_open(&mapping, "test_os.absent", &own, &err), TESELA_E_IO);
  assert_int_equal(err.reason, TESELA_REASON_PATH);
  tesela__mapping_close(&mapping);
  assert_int_equal(tesela__mapping_open(&mapping, ".", &own, &err), TESELA_E_IO);
  tesela__mapping_close(&mapping);
  tesela_status status = tesela__output_create(&out, "test_os.absent/x", 3, NULL, false, &own, &data, &err);
  if (status == TESELA_OK) {
    status = tesela__output_finish(out, &err);
    tesela__output_close(out);
  }
  assert_int_equal(status, TESELA_E_IO);
  assert_int_equal(err.reason, TESELA_REASON_PATH);
  assert_int_equal(tesela__output_create(&out, "-", 3, NULL, true, &own, &data, &err), TESELA_E_UNSUPPORTED);
  assert_null(out);
}

/* A partial file is held and then gets its name, or the system has none and all that needs one is refused. */
static void a_partial_file_is_held_or_refused(void **state) {
  (void)state;
  const tesela_allocator own = tesela__allocator(NULL);
  tesela__output *out;
  uint8_t *data;
  bool continued;
  const tesela_status status =
      tesela__partial_create(&out, PATH, 10, NULL, true, &own, &data, &continued, &err);
#if TESELA__OS_POSIX
  assert_int_equal(status, TESELA_OK);
  memset(data, 1, 10);
  OK(tesela__partial_hold(out, &e_));
  tesela__output_close(out);
  OK(tesela_file_publish(PATH, 10, true, &e_));
  assert_int_equal(remove(PATH), 0);
#else
  assert_int_equal(status, TESELA_E_UNSUPPORTED);
  assert_null(out);
  assert_int_equal(tesela_file_publish(PATH, 10, true, &err), TESELA_E_UNSUPPORTED);
  assert_int_equal(tesela_file_discard(PATH, true, &err), TESELA_E_UNSUPPORTED);
#endif
}

/* The public way: a layout of a .npy becomes another, and is read back. */
static void a_tensor_is_written_and_read(void **state) {
  (void)state;
  static const char path[] = "test_os.npy";
  uint8_t raw[24];
  tesela_file *file;
  tesela_file_info info;
  tesela_layout from, to;
  const int64_t shape[] = {2, 3};
  for (int i = 0; i < 24; i++) raw[i] = (uint8_t)(i * 11);
  OK(tesela_layout_strided(&from, TESELA_F32, 32, 2, shape, (const int64_t[]){3, 1}, 0, &e_));
  OK(tesela_layout_strided(&to, TESELA_F32, 32, 2, shape, (const int64_t[]){1, 2}, 0, &e_));
  OK(tesela_file_open_memory(&file, raw, sizeof raw, NULL, &e_));
  tesela_file_describe(file, &info);
  tesela_file_item item = {.tensor = &info.tensor[0], .from = &from, .to = &to};
  OK(tesela_file_write(path, TESELA_FILE_NPY, 1, &item, NULL, NULL, NULL, &e_));
  tesela_file_close(file);
  OK(tesela_file_open(&file, path, NULL, &e_));
  tesela_file_describe(file, &info);
  assert_int_equal(info.format, TESELA_FILE_NPY);
  assert_true(info.tensor[0].fortran);
  assert_int_equal(info.tensor[0].bytes, 24);
  for (int r = 0; r < 2; r++)
    for (int c = 0; c < 3; c++)
      assert_memory_equal(info.tensor[0].data + 4 * (c * 2 + r), raw + 4 * (r * 3 + c), 4);
  tesela_file_close(file);
  assert_int_equal(remove(path), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_chunk_runs_once),
      cmocka_unit_test(a_thread_has_a_number_of_its_own),
      cmocka_unit_test(the_clock_goes_forward),
      cmocka_unit_test(memory_is_aligned),
      cmocka_unit_test(sizes_never_wrap),
      cmocka_unit_test(large_buffers_are_refused),
      cmocka_unit_test(a_file_is_written_and_read),
      cmocka_unit_test(a_file_appears_when_it_is_whole),
      cmocka_unit_test(bad_paths_are_refused),
      cmocka_unit_test(a_partial_file_is_held_or_refused),
      cmocka_unit_test(a_tensor_is_written_and_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
