/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_file_write.c - tensors written into files in other layouts: what stands in them, byte by byte, from places that the test
 * itself works out; what is left of a file when something fails; progress; memory that runs out.
 */
#include "support_fault.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <tesela/file.h>

static char folder[] = "/tmp/tesela-write-XXXXXX";
static char path_of_output[64];

static int make_folder(void **state) {
  (void)state;
  if (!mkdtemp(folder)) return -1;
  snprintf(path_of_output, sizeof path_of_output, "%s/out", folder);
  return 0;
}

static int drop_folder(void **state) {
  (void)state;
  unlink(path_of_output);
  return rmdir(folder); /* fails if anything is left in it */
}

static size_t read_output(uint8_t *data, size_t room) {
  FILE *f = fopen(path_of_output, "rb");
  assert_non_null(f);
  size_t n = fread(data, 1, room, f);
  fclose(f);
  return n;
}

/* u16[2,3], 1 to 6 row-major, in memory of the test. */
static const uint8_t values[] = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0};

static tesela_file *open_values(tesela_file_info *info) {
  tesela_file *file;
  assert_int_equal(tesela_file_open_memory(&file, values, sizeof values, NULL, NULL), TESELA_OK);
  tesela_file_describe(file, info);
  return file;
}

static tesela_layout strided(int64_t a, int64_t b) {
  tesela_layout layout;
  assert_int_equal(
      tesela_layout_strided(&layout, TESELA_U16, 16, 2, (int64_t[]){2, 3}, (int64_t[]){a, b}, 0, NULL),
      TESELA_OK);
  return layout;
}

/* ---- what is written ---- */

static void a_raw_file_has_the_places(void **state) {
  (void)state;
  static const uint8_t want[] = {1, 0, 4, 0, 0xee, 0xff, 2, 0, 5, 0, 0xee, 0xff, 3, 0, 6, 0};
  tesela_layout from = strided(3, 1), to = strided(1, 3);
  tesela_file_info info;
  tesela_file *file = open_values(&info);
  tesela_file_item item = {.tensor = info.tensor, .from = &from, .to = &to, .fill_value = {0xee, 0xff}};
  tesela_file_write_options options = {.plan.fill = TESELA_FILL_VALUE};
  tesela_file_written written;
  uint8_t got[64];
  int64_t bytes;
  tesela_error err = {.message = ""};
  if (tesela_file_write(path_of_output, TESELA_FILE_RAW, 1, &item, &options, &written, &bytes, &err) !=
      TESELA_OK)
    fail_msg("%s", err.message);
  assert_int_equal(read_output(got, sizeof got), bytes);
  assert_int_equal(written.bytes, bytes);
  assert_int_equal(written.offset, 0);
  assert_string_equal(written.type, "");
  assert_true(*written.plan);
  for (int64_t p = 0; p < bytes / 2; p++) /* gaps between digits are not the layout's: zeros */
    if (p % 3 < 2) assert_memory_equal(got + 2 * p, want + 2 * p, 2);
  tesela_file_close(file);
}

static void npy_and_safetensors_come_back(void **state) {
  (void)state;
  tesela_layout from = strided(3, 1), to[] = {strided(3, 1), strided(1, 2)};
  tesela_file_info info, back;
  tesela_file *file = open_values(&info), *again;
  for (int k = 0; k < 2; k++) {
    tesela_file_item item = {.tensor = info.tensor, .from = &from, .to = &to[k]};
    assert_int_equal(tesela_file_write(path_of_output, TESELA_FILE_NPY, 1, &item, NULL, NULL, NULL, NULL),
                     TESELA_OK);
    assert_int_equal(tesela_file_open(&again, path_of_output, NULL, NULL), TESELA_OK);
    tesela_file_describe(again, &back);
    assert_true(back.format == TESELA_FILE_NPY && back.tensor->fortran == (k == 1) &&
                back.tensor->bytes == 12);
    for (int64_t i = 0; i < 6; i++) {
      int64_t place = k == 0 ? i : i % 3 * 2 + i / 3;
      assert_memory_equal(back.tensor->data + 2 * place, values + 2 * i, 2);
    }
    assert_int_equal((back.tensor->data - back.data) % 64, 0);
    tesela_file_close(again);
  }
  tesela_file_item items[] = {
      {.name = "odd \"\\\n\x01", .tensor = info.tensor, .from = &from, .to = &to[1], .layout = "the layout"},
      {.name = "plain", .tensor = info.tensor, .from = &from, .to = &to[0], .layout = "not kept"}};
  assert_int_equal(
      tesela_file_write(path_of_output, TESELA_FILE_SAFETENSORS, 2, items, NULL, NULL, NULL, NULL),
      TESELA_OK);
  assert_int_equal(tesela_file_open(&again, path_of_output, NULL, NULL), TESELA_OK);
  tesela_file_describe(again, &back);
  assert_int_equal(back.n_tensors, 2);
  assert_int_equal(back.n_texts, 1);
  assert_string_equal(back.tensor[0].name, items[0].name);
  assert_string_equal(back.tensor[0].layout, "the layout");
  assert_true(back.tensor[0].rank == 1 && back.tensor[0].shape[0] == 6 && back.tensor[0].dtype == TESELA_U16);
  assert_true(back.tensor[1].rank == 2 && !back.tensor[1].layout);
  assert_memory_equal(back.tensor[1].data, values, sizeof values);
  /* what stays as it is, with its text; the file that is read is the one that is replaced */
  tesela_file_item as_is = {.name = items[0].name, .tensor = &back.tensor[0]};
  tesela_file_write_options options = {.source = again};
  assert_int_equal(
      tesela_file_write(path_of_output, TESELA_FILE_SAFETENSORS, 1, &as_is, &options, NULL, NULL, NULL),
      TESELA_OK);
  tesela_file_close(again);
  assert_int_equal(tesela_file_open(&again, path_of_output, NULL, NULL), TESELA_OK);
  tesela_file_describe(again, &back);
  assert_true(back.n_tensors == 1 && back.n_texts == 1);
  assert_string_equal(back.tensor[0].layout, "the layout");
  assert_int_equal(back.tensor[0].data[2], 4);
  tesela_file_close(again);
  tesela_file_close(file);
}

/* No elements, and rank 0. */
static void empty_and_single_tensors(void **state) {
  (void)state;
  for (int32_t rank = 0; rank < 2; rank++) {
    tesela_layout layout;
    tesela_file *file, *again;
    tesela_file_info info;
    assert_int_equal(tesela_layout_strided(&layout, TESELA_U8, 8, rank, (int64_t[]){0}, NULL, 0, NULL),
                     TESELA_OK);
    assert_int_equal(tesela_file_open_memory(&file, "x", 1 - rank, NULL, NULL), TESELA_OK);
    tesela_file_describe(file, &info);
    for (int format = TESELA_FILE_RAW; format <= TESELA_FILE_SAFETENSORS; format++) {
      tesela_file_item item = {.name = "x", .tensor = info.tensor, .from = &layout, .to = &layout};
      int64_t bytes;
      assert_int_equal(
          tesela_file_write(path_of_output, (tesela_file_format)format, 1, &item, NULL, NULL, &bytes, NULL),
          TESELA_OK);
      assert_int_equal(tesela_file_open(&again, path_of_output, NULL, NULL), TESELA_OK);
      tesela_file_info back;
      tesela_file_describe(again, &back);
      assert_true((int)back.format == format && back.bytes == bytes && back.tensor->bytes == 1 - rank);
      tesela_file_close(again);
    }
    tesela_file_close(file);
  }
}

/* ---- what is refused, and what is left then ---- */

static int stop(void *user, int64_t done, int64_t total) {
  (void)done;
  (void)total;
  ++*(int *)user;
  return 1;
}

static int refuse(void *user) {
  uint8_t got[8];
  assert_int_equal(read_output(got, sizeof got), 3); /* the name is still the old file's */
  ++*(int *)user;
  return 1;
}

static void what_fails_leaves_the_old_file(void **state) {
  (void)state;
  enum { LARGE = 4096 };
  int64_t shape[] = {LARGE, LARGE};
  uint8_t *large = calloc(LARGE, LARGE), got[8];
  tesela_layout from, to;
  tesela_file *file;
  tesela_file_info info;
  tesela_error err;
  char unfinished[TESELA_FILE_PATH];
  int calls = 0;
  assert_non_null(large);
  assert_int_equal(tesela_layout_strided(&from, TESELA_U8, 8, 2, shape, NULL, 0, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_strided(&to, TESELA_U8, 8, 2, shape, (int64_t[]){1, LARGE}, 0, NULL),
                   TESELA_OK);
  assert_int_equal(tesela_file_open_memory(&file, large, LARGE * LARGE, NULL, NULL), TESELA_OK);
  tesela_file_describe(file, &info);
  FILE *old = fopen(path_of_output, "wb");
  assert_non_null(old);
  fputs("old", old);
  fclose(old);
  tesela_file_item item = {.tensor = info.tensor, .from = &from, .to = &to};
  tesela_file_write_options options = {
      .plan = {.threads = 1, .solver = TESELA_SOLVER_GATHER}, .progress = stop, .progress_user = &calls};
  options.unfinished = unfinished;
  assert_int_equal(tesela_file_write(path_of_output, TESELA_FILE_RAW, 1, &item, &options, NULL, NULL, &err),
                   TESELA_E_STOPPED);
  assert_int_equal(calls, 1);
  assert_string_equal(unfinished, "");
  int readies = 0;
  options = (tesela_file_write_options){.ready = refuse, .ready_user = &readies};
  assert_int_equal(tesela_file_write(path_of_output, TESELA_FILE_RAW, 1, &item, &options, NULL, NULL, &err),
                   TESELA_E_STOPPED);
  assert_int_equal(readies, 1);
  options = (tesela_file_write_options){.plan.transform = TESELA_TRANSFORM_SPLIT};
  assert_int_not_equal(
      tesela_file_write(path_of_output, TESELA_FILE_RAW, 1, &item, &options, NULL, NULL, &err), TESELA_OK);
  assert_int_equal(read_output(got, sizeof got), 3);
  assert_memory_equal(got, "old", 3);
  tesela_file_close(file);
  free(large);
}

static void wrong_requests_are_refused(void **state) {
  (void)state;
  tesela_layout from = strided(3, 1), gaps = strided(1, 3), four, device;
  tesela_file_info info;
  tesela_file *file = open_values(&info);
  tesela_file_item twice[2], item = {.name = "x", .tensor = info.tensor, .from = &from, .to = &gaps};
  tesela_file_write_options options = {.plan.memory_bytes = 1000};
  tesela_error err;
  char type[16];
  assert_int_equal(tesela_layout_strided(&four, TESELA_S4, 4, 1, (int64_t[]){4}, NULL, 0, NULL), TESELA_OK);
  device = four;
#define REFUSED(status, says, ...)                                              \
  do {                                                                          \
    assert_int_equal(tesela_file_write(__VA_ARGS__, NULL, NULL, &err), status); \
    if (!strstr(err.message, says)) fail_msg("%s", err.message);                \
  } while (0)
  REFUSED(TESELA_E_UNSUPPORTED, "row-major or column-major", path_of_output, TESELA_FILE_NPY, 1, &item, NULL);
  REFUSED(TESELA_E_INVALID, "needs its layout as text", path_of_output, TESELA_FILE_SAFETENSORS, 1, &item,
          NULL);
  REFUSED(TESELA_E_INVALID, "one tensor; found 2", path_of_output, TESELA_FILE_RAW, 2, twice, NULL);
  REFUSED(TESELA_E_INVALID, "one tensor; found 0", path_of_output, TESELA_FILE_NPY, 0, NULL, NULL);
  REFUSED(TESELA_E_RANGE, "1 MiB or more", path_of_output, TESELA_FILE_RAW, 1, &item, &options);
  REFUSED(TESELA_E_INVALID, "argument path is NULL", NULL, TESELA_FILE_RAW, 1, &item, NULL);
  REFUSED(TESELA_E_INVALID, "argument items is NULL", path_of_output, TESELA_FILE_RAW, 1, NULL, NULL);
  item.to = NULL;
  REFUSED(TESELA_E_INVALID, "an item needs", path_of_output, TESELA_FILE_RAW, 1, &item, NULL);
  item.from = NULL;
  REFUSED(TESELA_E_UNSUPPORTED, "of its own format", path_of_output, TESELA_FILE_NPY, 1, &item, NULL);
  item.from = &four;
  item.to = &device;
  REFUSED(TESELA_E_MISMATCH, "12 bytes; its layout needs 2", path_of_output, TESELA_FILE_RAW, 1, &item, NULL);
  item.from = item.to = &from;
  twice[0] = twice[1] = item;
  REFUSED(TESELA_E_INVALID, "two tensors are named x", path_of_output, TESELA_FILE_SAFETENSORS, 2, twice,
          NULL);
  item.name = "__metadata__";
  REFUSED(TESELA_E_INVALID, "cannot be named __metadata__", path_of_output, TESELA_FILE_SAFETENSORS, 1, &item,
          NULL);
  item.from = NULL;
  REFUSED(TESELA_E_INVALID, "cannot be named __metadata__", path_of_output, TESELA_FILE_SAFETENSORS, 1, &item,
          NULL);
  item.from = &from;
  REFUSED(TESELA_E_IO, "No such file", "/no/such/folder/x", TESELA_FILE_RAW, 1, &item, NULL);
  assert_int_equal(err.reason, TESELA_REASON_PATH);
  REFUSED(TESELA_E_IO, "directory", folder, TESELA_FILE_RAW, 1, &item, NULL);
  assert_true(tesela_file_type(TESELA_FILE_NPY, TESELA_BF16, type) && strcmp(type, "<V2") == 0);
  assert_true(tesela_file_type(TESELA_FILE_SAFETENSORS, TESELA_F8E4M3FN, type) &&
              strcmp(type, "F8_E4M3") == 0);
  assert_true(!tesela_file_type(TESELA_FILE_SAFETENSORS, TESELA_S4, type) && !*type);
  tesela_file_close(file);
}

/* Without only_files a link is followed; with it a link, a pipe, a folder and a descriptor are refused and stay. */
static void only_files_may_be_written(void **state) {
  (void)state;
  tesela_layout layout = strided(3, 1);
  tesela_file_info info;
  tesela_file *file = open_values(&info);
  const tesela_file_item item = {.tensor = info.tensor, .from = &layout, .to = &layout};
  const tesela_file_write_options options = {.only_files = true};
  char link[80], pipe[80], dangling[80];
  uint8_t got[32];
  struct stat st;
  tesela_error err;
  snprintf(link, sizeof link, "%s/link", folder);
  snprintf(pipe, sizeof pipe, "%s/pipe", folder);
  snprintf(dangling, sizeof dangling, "%s/dangling", folder);
  assert_int_equal(tesela_file_write(path_of_output, TESELA_FILE_RAW, 1, &item, &options, NULL, NULL, &err),
                   TESELA_OK);
  assert_int_equal(symlink("out", link), 0);
  assert_int_equal(symlink("none", dangling), 0);
  assert_int_equal(mkfifo(pipe, 0600), 0);
  const char *const paths[] = {link, dangling, pipe, folder, "-", "/dev/stdout", "/dev/fd/1", "/dev/null"};
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
    REFUSED(TESELA_E_UNSUPPORTED, "is not a regular file", paths[i], TESELA_FILE_RAW, 1, &item, &options);
  assert_true(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
  assert_int_equal(tesela_file_write(link, TESELA_FILE_RAW, 1, &item, NULL, NULL, NULL, &err), TESELA_OK);
  assert_true(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
  assert_int_equal(read_output(got, sizeof got), sizeof values);
  assert_memory_equal(got, values, sizeof values);
  assert_int_equal(unlink(link) | unlink(pipe) | unlink(dangling), 0);
  tesela_file_close(file);
}

/* ---- memory ---- */

/* Bounded or not, the same bytes; the caller's own memory, which is not a file, is never released. */
static void a_bound_changes_nothing(void **state) {
  (void)state;
  enum { A = 1500, B = 1100 };
  uint32_t *source = malloc(4 * A * B), *got = malloc(4 * A * B);
  tesela_layout from, to;
  tesela_file *file;
  tesela_file_info info;
  assert_true(source && got);
  for (uint32_t i = 0; i < A * B; i++) source[i] = i * 2654435761u;
  assert_int_equal(tesela_layout_strided(&from, TESELA_U32, 32, 2, (int64_t[]){A, B}, NULL, 0, NULL),
                   TESELA_OK);
  assert_int_equal(
      tesela_layout_strided(&to, TESELA_U32, 32, 2, (int64_t[]){A, B}, (int64_t[]){1, A}, 0, NULL),
      TESELA_OK);
  assert_int_equal(tesela_file_open_memory(&file, source, 4 * A * B, NULL, NULL), TESELA_OK);
  tesela_file_describe(file, &info);
  tesela_file_item item = {.tensor = info.tensor, .from = &from, .to = &to};
  tesela_file_write_options options = {.plan = {.memory_bytes = 1 << 20, .threads = 2}, .source = file};
  assert_int_equal(tesela_file_write(path_of_output, TESELA_FILE_RAW, 1, &item, &options, NULL, NULL, NULL),
                   TESELA_OK);
  assert_int_equal(read_output((uint8_t *)got, 4 * A * B), 4 * A * B);
  for (uint32_t i = 0; i < A * B; i++)
    if (source[i] != i * 2654435761u || got[i % B * A + i / B] != source[i]) fail_msg("element %" PRIu32, i);
  tesela_file_close(file);
  free(source);
  free(got);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  tesela_layout from = strided(3, 1), to = strided(1, 2);
  tesela_file_info info;
  tesela_file *file = open_values(&info);
  uint8_t got[512];
  for (int format = TESELA_FILE_RAW; format <= TESELA_FILE_SAFETENSORS; format++)
    for (int64_t n = 0;; n++) {
      fault f = {.countdown = n, .dirty = true};
      tesela_allocator allocator = fault_allocator(&f);
      tesela_file_item item = {
          .name = "x", .tensor = info.tensor, .from = &from, .to = &to, .layout = "text"};
      tesela_file_write_options options = {.allocator = &allocator};
      tesela_error err;
      unlink(path_of_output);
      tesela_status status =
          tesela_file_write(path_of_output, (tesela_file_format)format, 1, &item, &options, NULL, NULL, &err);
      assert_int_equal(f.live, 0);
      if (status == TESELA_OK) break;
      assert_int_equal(status, TESELA_E_MEMORY);
      assert_int_not_equal(access(path_of_output, F_OK), 0);
      assert_true(n < 50);
    }
  assert_true(read_output(got, sizeof got) > 12);
  tesela_file_close(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_raw_file_has_the_places),  cmocka_unit_test(npy_and_safetensors_come_back),
      cmocka_unit_test(empty_and_single_tensors),   cmocka_unit_test(what_fails_leaves_the_old_file),
      cmocka_unit_test(wrong_requests_are_refused), cmocka_unit_test(only_files_may_be_written),
      cmocka_unit_test(a_bound_changes_nothing),    cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
