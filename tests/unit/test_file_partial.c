/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_file_partial.c - outputs that are continued, held, verified; indices of shards; memory that runs out. The command's tests kill
 * processes (test_pack_resume.py) and flip bytes (test_pack_verify.py).
 */
#include "support_fault.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <tesela/file.h>

static char folder[] = "/tmp/tesela-partial-XXXXXX";
static char out[64], partial[80], in[64];

static int make_folder(void **state) {
  (void)state;
  if (!mkdtemp(folder)) return -1;
  snprintf(out, sizeof out, "%s/out", folder);
  snprintf(in, sizeof in, "%s/in", folder);
  snprintf(partial, sizeof partial, "%s/.out.partial.tesela", folder);
  return 0;
}

static int drop_folder(void **state) {
  (void)state;
  unlink(out);
  unlink(in);
  return rmdir(folder); /* fails if anything is left in it */
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

static size_t read_file(const char *path, uint8_t *data, size_t room) {
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  size_t n = fread(data, 1, room, f);
  fclose(f);
  return n;
}

static void write_text(const char *path, const char *text) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
  fclose(f);
}

/* Three tensors of u8[2,3] in one file; each becomes column-major in tiles of its own, with fill 9. */
enum { TENSORS = 3, PLACES = 8 };
static uint8_t values[TENSORS * 6];

typedef struct three {
  tesela_file *file[TENSORS];
  tesela_layout from, to;
  tesela_file_item item[TENSORS];
  tesela_file_write_options options;
  tesela_file_written written[TENSORS];
  int64_t bytes;
  int64_t calls, stop_at;
} three;

static int stop_later(void *user, int64_t done, int64_t total) {
  three *t = user;
  assert_true(done >= 0 && done <= total);
  return ++t->calls == t->stop_at;
}

static void begin(three *t) {
  static const char *const names[] = {"a", "b", "c"};
  *t = (three){.options = {.plan = {.fill = TESELA_FILL_VALUE, .threads = 1}, .resume = true}};
  t->options.progress = stop_later;
  t->options.progress_user = t;
  assert_int_equal(tesela_layout_strided(&t->from, TESELA_U8, 8, 2, (int64_t[]){2, 3}, NULL, 0, NULL),
                   TESELA_OK);
  assert_int_equal(
      tesela_layout_strided(&t->to, TESELA_U8, 8, 2, (int64_t[]){2, 3}, (int64_t[]){1, 3}, 0, NULL),
      TESELA_OK);
  for (int i = 0; i < TENSORS; i++) {
    tesela_file_info info;
    assert_int_equal(tesela_file_open_memory(&t->file[i], values + 6 * i, 6, NULL, NULL), TESELA_OK);
    tesela_file_describe(t->file[i], &info);
    t->item[i] = (tesela_file_item){.name = names[i],
                                    .tensor = info.tensor,
                                    .from = &t->from,
                                    .to = &t->to,
                                    .layout = "text",
                                    .fill_value = {9}};
  }
}

static void end(three *t) {
  for (int i = 0; i < TENSORS; i++) tesela_file_close(t->file[i]);
}

static tesela_status write_three(three *t, tesela_error *err) {
  t->calls = 0;
  return tesela_file_write(out, TESELA_FILE_SAFETENSORS, TENSORS, t->item, &t->options, t->written, &t->bytes,
                           err);
}

/* Element (i,j) is at place i + 3j of 8; the places between digits are not the layout's and hold 0. */
static void check_output(const three *t) {
  uint8_t got[1024];
  assert_int_equal(read_file(out, got, sizeof got), t->bytes);
  for (int k = 0; k < TENSORS; k++) {
    assert_int_equal(t->written[k].bytes, PLACES);
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 3; j++)
        assert_int_equal(got[t->written[k].offset + i + 3 * j], values[6 * k + 3 * i + j]);
  }
  assert_false(is_there(partial));
}

/* A stop leaves the partial file; what was copied and recorded by then is kept. */
static void a_stop_is_continued(void **state) {
  (void)state;
  three t;
  tesela_error err;
  begin(&t);
  unlink(out);
  for (int64_t n = 1;; n++) {
    t.stop_at = n;
    const tesela_status status = write_three(&t, &err);
    if (status == TESELA_OK) break;
    assert_int_equal(status, TESELA_E_STOPPED);
    assert_true(is_there(partial) && !is_there(out));
    assert_true(n < 100);
  }
  check_output(&t);
  end(&t);
}

static void held_files_are_published_or_discarded(void **state) {
  (void)state;
  three t;
  tesela_error err;
  uint8_t got[1024];
  begin(&t);
  write_text(out, "old");
  t.options.hold = true;
  for (int resume = 0; resume < 2; resume++) {
    t.options.resume = resume;
    assert_int_equal(write_three(&t, &err), TESELA_OK);
    assert_int_equal(read_file(out, got, sizeof got), 3);
    assert_true(is_there(partial));
    assert_int_equal(tesela_file_discard(out, true, &err), TESELA_OK);
    assert_false(is_there(partial));
  }
  assert_int_equal(tesela_file_discard(out, true, &err), TESELA_E_IO);
  assert_int_equal(tesela_file_publish(out, 10, true, &err), TESELA_E_IO);
  assert_int_equal(write_three(&t, &err), TESELA_OK);
  assert_int_equal(tesela_file_publish(out, t.bytes + 10000, true, &err),
                   TESELA_E_IO); /* longer than it is */
  assert_true(is_there(partial));
  assert_int_equal(tesela_file_publish(out, -1, true, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_file_publish("-", 1, false, &err), TESELA_E_UNSUPPORTED);
  for (int k = 0; k < TENSORS; k++) assert_false(t.written[k].resumed);
  assert_int_equal(write_three(&t, &err), TESELA_OK); /* once more: all is there */
  for (int k = 0; k < TENSORS; k++) assert_true(t.written[k].resumed);
  assert_int_equal(tesela_file_publish(out, t.bytes, true, &err), TESELA_OK);
  check_output(&t);
  end(&t);
}

static void a_dry_run_verifies_what_is_there(void **state) {
  (void)state;
  three t;
  tesela_error err;
  bool differs = false;
  begin(&t);
  t.options.verify = true;
  assert_int_equal(write_three(&t, &err), TESELA_OK);
  check_output(&t);
  t.options.dry_run = true;
  t.options.differs = &differs;
  assert_int_equal(write_three(&t, &err), TESELA_OK);
  assert_false(differs);
  values[7] ^= 1; /* element (0,1) of b, at place 3 */
  assert_int_equal(write_three(&t, &err), TESELA_E_MISMATCH);
  assert_true(differs);
  if (!strstr(err.message, "tensor b: element (0,1), at place 3, is 0x")) fail_msg("%s", err.message);
  values[7] ^= 1;
  unlink(out);
  assert_int_equal(write_three(&t, &err), TESELA_E_IO); /* there is no output */
  t.options.verify = false;
  assert_int_equal(write_three(&t, &err), TESELA_OK);
  assert_false(is_there(out) || is_there(partial));
  for (int k = 0; k < TENSORS; k++) assert_true(*t.written[k].plan);
  end(&t);
}

static void every_allocation_of_a_partial_file_may_fail(void **state) {
  (void)state;
  for (int64_t n = 0;; n++) {
    fault f = {.countdown = n, .dirty = true};
    tesela_allocator allocator = fault_allocator(&f);
    three t;
    tesela_error err;
    begin(&t);
    t.options.allocator = &allocator;
    t.options.verify = true;
    unlink(out);
    tesela_status status = write_three(&t, &err);
    assert_int_equal(f.live, 0);
    if (status == TESELA_OK) check_output(&t);
    end(&t);
    if (status == TESELA_OK) break;
    assert_int_equal(status, TESELA_E_MEMORY);
    assert_false(is_there(out));
    assert_true(n < 100);
  }
}

/* ---- indices ---- */

static const char index_text[] = "{\"metadata\": {\"total_size\": 12, \"x\": [1]}, \"weight_map\": {\"b\": "
                                 "\"2\", \"a\": \"1\", \"c\\u00e9\": \"1\"}}\n";

static void an_index_is_read_and_written(void **state) {
  (void)state;
  tesela_file_index *index;
  tesela_file_index_info info;
  uint8_t got[1024];
  tesela_error err;
  write_text(in, index_text);
  assert_int_equal(tesela_file_index_open(&index, in, NULL, &err), TESELA_OK);
  tesela_file_index_describe(index, &info);
  assert_true(info.n_shards == 2 && info.n_tensors == 3);
  assert_string_equal(info.shard[0].name, "1");
  assert_string_equal(info.shard[1].name, "2");
  assert_true(info.shard[0].first == 0 && info.shard[0].n == 2 && info.shard[1].first == 2 &&
              info.shard[1].n == 1);
  assert_string_equal(info.tensor[0], "a");
  assert_string_equal(info.tensor[1], "c\xc3\xa9");
  assert_string_equal(info.tensor[2], "b");
  assert_int_equal(tesela_file_index_write(index, out, 1234567, NULL, NULL, &err), TESELA_OK);
  const size_t n = read_file(out, got, sizeof got);
  const char *at = strstr(index_text, "12,");
  assert_int_equal(n, sizeof index_text - 1 + 5);
  assert_memory_equal(got, index_text, (size_t)(at - index_text));
  assert_memory_equal(got + (at - index_text), "1234567", 7);
  assert_memory_equal(got + (at - index_text) + 7, at + 2, strlen(at + 2));
  assert_int_equal(tesela_file_index_write(index, out, -1, NULL, NULL, &err), TESELA_E_RANGE);
  tesela_file *raw;
  assert_int_equal(tesela_file_open_memory(&raw, "x", 1, NULL, NULL), TESELA_OK);
  assert_int_equal(tesela_file_index_check(index, 2, raw, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_file_index_check(index, 0, raw, &err), TESELA_E_MISMATCH);
  assert_string_equal(err.message, "lacks tensor a, which the index lists for it");
  tesela_file_close(raw);
  tesela_file_index_close(index);
  tesela_file_index_close(NULL);
}

static void an_index_without_a_size_stays_as_it_is(void **state) {
  (void)state;
  static const char text[] = "{\"weight_map\": {\"b\": \"2\"}, \"metadata\": null}";
  tesela_file_index *index;
  uint8_t got[256];
  write_text(in, text);
  assert_int_equal(tesela_file_index_open(&index, in, NULL, NULL), TESELA_OK);
  assert_int_equal(tesela_file_index_write(index, out, 5, NULL, NULL, NULL), TESELA_OK);
  assert_int_equal(read_file(out, got, sizeof got), sizeof text - 1);
  assert_memory_equal(got, text, sizeof text - 1);
  tesela_file_index_close(index);
}

/* Every prefix of a text, and every allocation. */
static void an_index_that_is_cut_or_without_memory(void **state) {
  (void)state;
  char text[sizeof index_text];
  tesela_file_index *index;
  for (size_t n = 0; n < sizeof index_text - 2; n++) { /* without the newline it is whole */
    memcpy(text, index_text, n);
    text[n] = '\0';
    write_text(in, text);
    const tesela_status status = tesela_file_index_open(&index, in, NULL, NULL);
    assert_true(status == TESELA_E_SYNTAX || status == TESELA_E_INVALID);
  }
  write_text(in, index_text);
  for (int64_t n = 0;; n++) {
    fault f = {.countdown = n, .dirty = true};
    tesela_allocator allocator = fault_allocator(&f);
    const tesela_file_options options = {.allocator = &allocator};
    const tesela_status status = tesela_file_index_open(&index, in, &options, NULL);
    if (status == TESELA_OK) tesela_file_index_close(index);
    assert_int_equal(f.live, 0);
    if (status == TESELA_OK) break;
    assert_int_equal(status, TESELA_E_MEMORY);
    assert_true(n < 20);
  }
}

int main(void) {
  for (int i = 0; i < TENSORS * 6; i++) values[i] = (uint8_t)(i + 20);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stop_is_continued),
      cmocka_unit_test(held_files_are_published_or_discarded),
      cmocka_unit_test(a_dry_run_verifies_what_is_there),
      cmocka_unit_test(every_allocation_of_a_partial_file_may_fail),
      cmocka_unit_test(an_index_is_read_and_written),
      cmocka_unit_test(an_index_without_a_size_stays_as_it_is),
      cmocka_unit_test(an_index_that_is_cut_or_without_memory),
  };
  return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
