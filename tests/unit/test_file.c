/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_file.c - tensors in files, read: bytes made by hand, whole, cut at every byte and wrong in every field; and files that
 * become shorter while they are read.
 */
#include "support_fault.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <tesela/file.h>

enum { ROOM = 1 << 16 };

typedef struct bytes {
  uint8_t data[ROOM];
  int64_t n;
} bytes;

static void add(bytes *b, const void *data, size_t n) {
  assert_true(b->n + (int64_t)n <= ROOM);
  memcpy(b->data + b->n, data, n);
  b->n += (int64_t)n;
}

/* A .npy of version 1: the dict, then n bytes 0, 1, 2, ... */
static bytes npy(const char *dict, int n) {
  bytes b = {.n = 0};
  size_t length = strlen(dict);
  add(&b, "\x93NUMPY\x01\x00", 8);
  add(&b, (uint8_t[]){(uint8_t)length, (uint8_t)(length >> 8)}, 2);
  add(&b, dict, length);
  for (int i = 0; i < n; i++) add(&b, &(uint8_t){(uint8_t)i}, 1);
  return b;
}

/* A .safetensors: the header, then n bytes 0, 1, 2, ... */
static bytes safetensors(const char *header, int n) {
  bytes b = {.n = 0};
  uint64_t length = strlen(header);
  for (int i = 0; i < 8; i++) add(&b, &(uint8_t){(uint8_t)(length >> 8 * i)}, 1);
  add(&b, header, length);
  for (int i = 0; i < n; i++) add(&b, &(uint8_t){(uint8_t)i}, 1);
  return b;
}

/* Opened from an own piece of just these bytes, so that a sanitizer sees each byte too far. */
static tesela_status open_bytes(const bytes *b, int64_t n, tesela_file **file, uint8_t **piece,
                                const tesela_file_options *options, tesela_error *err) {
  *file = NULL;
  *piece = malloc((size_t)n + (n == 0));
  assert_non_null(*piece);
  memcpy(*piece, b->data, (size_t)n);
  return tesela_file_open_memory(file, *piece, n, options, err);
}

static const char TENSORS[] =
    "{\"__metadata__\":{\"format\":\"pt\",\"tesela.layout.b\":\"bf16[2,2]{0,1}\"},"
    "\"a\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[8,16]},"
    "\"b\":{\"dtype\":\"BF16\",\"shape\":[4],\"data_offsets\":[0,8],\"more\":[1.5e3,{\"x\":null}]},"
    "\"\\u00e4\\ud83d\\ude00\\n\":{\"shape\":[],\"data_offsets\":[16,17],\"dtype\":\"Q7\"} , "
    "\"none\":{\"dtype\":\"I64\",\"shape\":[0,3],\"data_offsets\":[17,17]}}  ";

/* ---- what is there ---- */

static void a_raw_file_is_its_bytes(void **state) {
  (void)state;
  bytes b = {.data = "abc", .n = 3};
  tesela_file *file;
  uint8_t *piece;
  tesela_file_info info;
  tesela_layout layout;
  for (int64_t n = 0; n <= 3; n += 3) {
    assert_int_equal(open_bytes(&b, n, &file, &piece, NULL, NULL), TESELA_OK);
    tesela_file_describe(file, &info);
    assert_int_equal(info.format, TESELA_FILE_RAW);
    assert_int_equal(info.n_tensors, 1);
    assert_int_equal(info.tensor->rank, -1);
    assert_int_equal(info.tensor->bytes, n);
    assert_string_equal(info.tensor->name, "");
    assert_true(tesela_file_find(file, "") == info.tensor && !tesela_file_find(file, "x"));
    assert_int_equal(tesela_file_layout(info.tensor, TESELA_F32, &layout, NULL), TESELA_E_INVALID);
    tesela_file_close(file);
    free(piece);
  }
  tesela_file_close(NULL);
}

static void npy_headers_are_read(void **state) {
  (void)state;
  static const struct {
    const char *dict;
    tesela_dtype dtype;
    int32_t bits, rank;
    int64_t shape[3];
    bool fortran, swapped;
    int bytes;
  } rows[] = {
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }  \n",
       TESELA_F32,
       32,
       2,
       {3, 5},
       false,
       false,
       60},
      {"{'shape':(2,),'fortran_order':True,\"descr\":'>u2'}", TESELA_U16, 16, 1, {2}, true, true, 4},
      {"{'descr': '|b1', 'fortran_order': False, 'shape': ()}", TESELA_PRED, 8, 0, {0}, false, false, 1},
      {"{'descr': '<c16', 'fortran_order': False, 'shape': (0, 9)}",
       TESELA_C128,
       128,
       2,
       {0, 9},
       false,
       false,
       0},
      {"{'descr': '|V2', 'fortran_order': False, 'shape': (2L, 1L, 3L)}",
       TESELA_DTYPE_NONE,
       16,
       3,
       {2, 1, 3},
       false,
       false,
       12},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    bytes b = npy(rows[i].dict, rows[i].bytes + 3);
    tesela_file *file;
    uint8_t *piece;
    tesela_file_info info;
    tesela_error err = {.message = ""};
    if (open_bytes(&b, b.n, &file, &piece, NULL, &err) != TESELA_OK)
      fail_msg("%s: %s", rows[i].dict, err.message);
    tesela_file_describe(file, &info);
    const tesela_file_tensor *t = info.tensor;
    assert_int_equal(info.format, TESELA_FILE_NPY);
    assert_int_equal(info.bytes_after, 3);
    assert_int_equal(t->dtype, rows[i].dtype);
    assert_int_equal(t->bits, rows[i].bits);
    assert_int_equal(t->rank, rows[i].rank);
    assert_memory_equal(t->shape, rows[i].shape, (size_t)t->rank * sizeof t->shape[0]);
    assert_true(t->fortran == rows[i].fortran && t->swapped == rows[i].swapped);
    assert_int_equal(t->bytes, rows[i].bytes);
    assert_int_equal(t->data[0], 0);
    tesela_file_close(file);
    free(piece);
  }
}

static void safetensors_headers_are_read(void **state) {
  (void)state;
  bytes b = safetensors(TENSORS, 17);
  tesela_file *file;
  uint8_t *piece;
  tesela_file_info info;
  tesela_error err = {.message = ""};
  if (open_bytes(&b, b.n, &file, &piece, NULL, &err) != TESELA_OK) fail_msg("%s", err.message);
  tesela_file_describe(file, &info);
  const tesela_file_tensor *t = info.tensor;
  assert_int_equal(info.format, TESELA_FILE_SAFETENSORS);
  assert_int_equal(info.n_tensors, 4);
  assert_int_equal(info.n_texts, 2);
  assert_string_equal(info.text[0].key, "format");
  assert_string_equal(info.text[0].value, "pt");
  assert_string_equal(t[0].name, "a");
  assert_string_equal(t[0].type, "F32");
  assert_int_equal(t[0].data[0], 8);
  assert_null(t[0].layout);
  assert_string_equal(t[1].layout, "bf16[2,2]{0,1}");
  assert_int_equal(t[1].dtype, TESELA_BF16);
  assert_string_equal(t[2].name, "\xc3\xa4\xf0\x9f\x98\x80\n");
  assert_true(t[2].dtype == TESELA_DTYPE_NONE && t[2].bits == 0 && t[2].rank == 0 && t[2].bytes == 1);
  assert_true(t[3].rank == 2 && t[3].shape[0] == 0 && t[3].bytes == 0);
  for (int i = 0; i < 4; i++) assert_true(tesela_file_find(file, t[i].name) == &t[i]);
  assert_null(tesela_file_find(file, "c"));
  assert_null(tesela_file_find(file, ""));
  tesela_file_close(file);
  free(piece);
}

static void layouts_are_those_of_the_header(void **state) {
  (void)state;
  tesela_file_tensor t = {.bits = 16, .rank = 3, .shape = {2, 3, 4}};
  tesela_layout layout;
  tesela_error err;
  int64_t place;
  assert_int_equal(tesela_file_layout(&t, TESELA_DTYPE_NONE, &layout, &err), TESELA_E_INVALID);
  assert_int_equal(tesela_file_layout(&t, TESELA_F32, &layout, &err), TESELA_E_MISMATCH);
  for (int fortran = 0; fortran < 2; fortran++) {
    t.fortran = fortran;
    assert_int_equal(tesela_file_layout(&t, TESELA_BF16, &layout, &err), TESELA_OK);
    assert_int_equal(tesela_layout_place_of(&layout, (int64_t[]){1, 2, 3}, &place, NULL), TESELA_OK);
    assert_int_equal(place, 23);
    assert_int_equal(tesela_layout_place_of(&layout, (int64_t[]){1, 0, 2}, &place, NULL), TESELA_OK);
    assert_int_equal(place, fortran ? 1 + 2 * 6 : 12 + 2);
  }
}

/* ---- what is wrong ---- */

static void wrong_headers_are_refused(void **state) {
  (void)state;
#define T(fields) "{\"x\":{" fields "}}"
#define U8(shape, offsets) "\"dtype\":\"U8\",\"shape\":" shape ",\"data_offsets\":" offsets
  static const struct {
    const char *header; /* of a .safetensors with 8 bytes after it */
    tesela_status status;
    const char *says;
    int64_t at; /* in the header; -1: not looked at */
  } rows[] = {
      {T(U8("[8]", "[0,8]")) "x", TESELA_E_SYNTAX, "more than one value", 53},
      {"{\"x\":}", TESELA_E_SYNTAX, "expected a value", 5},
      {"{\"x\":tru}", TESELA_E_SYNTAX, "expected a value", 5},
      {"{\"x\":01}", TESELA_E_SYNTAX, "expected a value", 5},
      {"{\"x\":1.}", TESELA_E_SYNTAX, "expected a value", 5},
      {"{\"x\":1e}", TESELA_E_SYNTAX, "expected a value", 5},
      {"{\"x\" 1}", TESELA_E_SYNTAX, "expected a colon", 5},
      {"{\"x\":1 \"y\":1}", TESELA_E_SYNTAX, "expected a comma or }", 7},
      {"{\"x\":1,}", TESELA_E_SYNTAX, "expected a string", 7},
      {"{\"x\":[1,]}", TESELA_E_SYNTAX, "expected a value", 8},
      {"{\"x\":[1 2]}", TESELA_E_SYNTAX, "expected a comma or ]", 8},
      {"{\"x", TESELA_E_SYNTAX, "an unterminated string", 1},
      {"{\"\\x\":1}", TESELA_E_SYNTAX, "an escape unknown to JSON", 2},
      {"{\"\\u12g4\":1}", TESELA_E_SYNTAX, "an escape unknown to JSON", 2},
      {"{\"\\ud800\":1}", TESELA_E_SYNTAX, "unpaired surrogate", 2},
      {"{\"\\ud800\\u0041\":1}", TESELA_E_SYNTAX, "unpaired surrogate", 2},
      {"{\"\\udc00\":1}", TESELA_E_SYNTAX, "unpaired surrogate", 2},
      {"{\"\\u0000\":1}", TESELA_E_SYNTAX, "NUL in a string", 2},
      {"{\"\n\":1}", TESELA_E_SYNTAX, "a control character in a string", 2},
      {"{\"\xc0\xaf\":1}", TESELA_E_SYNTAX, "a byte that is not UTF-8", 2},
      {"{\"\xed\xa0\x80\":1}", TESELA_E_SYNTAX, "a byte that is not UTF-8", 2},
      {"{\"x\":1,\"y\":2,\"x\":3}", TESELA_E_INVALID, "duplicate object key x", -1},
      {"{\"__metadata__\":{\"c\":\"d\",\"e\":\"f\"},\"__metadata__\":{}}", TESELA_E_INVALID,
       "duplicate object key __metadata__", -1},
      {"{\"__metadata__\":{},\"__metad\\u0061ta__\":{\"a\":\"b\"}}", TESELA_E_INVALID, "duplicate object key",
       -1},
      {"{\"__metadata__\":{\"a\":\"b\",\"a\":\"b\"}}", TESELA_E_INVALID, "duplicate object key a", -1},
      {"{\"__metadata__\":{\"a\":1}}", TESELA_E_INVALID, "__metadata__ a is not a string", -1},
      {"{\"__metadata__\":1}", TESELA_E_INVALID, "__metadata__ is not an object of strings", 16},
      {T("\"dtype\":\"U8\"," U8("[8]", "[0,8]")), TESELA_E_INVALID, "duplicate object key dtype", -1},
      {T(U8("[7]", "[0,8]")), TESELA_E_INVALID, "do not match its shape and dtype", 5},
      {T(U8("[7]", "[0,7]")), TESELA_E_INVALID, "1 bytes after the last tensor", -1},
      {T(U8("[7]", "[1,8]")), TESELA_E_INVALID, "has unused bytes before it", -1},
      {T(U8("[9]", "[0,9]")), TESELA_E_INVALID, "outside the file", 5},
      {T(U8("[9223372036854775807,2]", "[0,8]")), TESELA_E_INVALID, "does not fit in 64 bits", 5},
      {T(U8("[9223372036854775808]", "[0,8]")), TESELA_E_SYNTAX, "an integer is too large", 28},
      {T(U8("[8.0]", "[0,8]")), TESELA_E_INVALID, "not a list of at most 32 extents", 5},
      {T(U8("8", "[0,8]")), TESELA_E_INVALID, "not a list of at most 32 extents", 5},
      {T(U8("[8]", "[0]")), TESELA_E_INVALID, "not two numbers", 5},
      {T(U8("[8]", "[-0,8]")), TESELA_E_INVALID, "not two numbers", 5},
      {T("\"shape\":[8],\"data_offsets\":[0,8]"), TESELA_E_INVALID, "has no dtype", 5},
      {"{\"\x1b[31m\":1}", TESELA_E_SYNTAX, "control character", 2},
      {"{\"\\u001b[31m\":1}", TESELA_E_INVALID, "tensor \\x1b[31m is not an object", -1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    bytes b = safetensors(rows[i].header, 8);
    tesela_file *file;
    uint8_t *piece;
    tesela_error err = {.at = -1, .message = "read"};
    tesela_status status = open_bytes(&b, b.n, &file, &piece, NULL, &err);
    if (status != rows[i].status || !strstr(err.message, rows[i].says) ||
        (rows[i].at >= 0 && err.at != rows[i].at + 8))
      fail_msg("%s: %s, %s (byte %" PRId64 ")", rows[i].header, tesela_status_code(status), err.message,
               err.at);
    assert_null(file);
    free(piece);
  }
}

/* Whatever the length: no byte after it is read (valgrind and the sanitizers look), and a cut tensor is never a whole one. */
static void every_cut_is_refused(void **state) {
  (void)state;
  bytes whole[] = {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }", 60),
                   safetensors(TENSORS, 17)};
  for (int k = 0; k < 2; k++)
    for (int64_t n = 0; n < whole[k].n; n++) {
      tesela_file *file;
      uint8_t *piece;
      tesela_file_info info;
      tesela_status status = open_bytes(&whole[k], n, &file, &piece, NULL, NULL);
      if (status == TESELA_OK) { /* only so short that nothing says what it is */
        tesela_file_describe(file, &info);
        assert_true(info.format == TESELA_FILE_RAW && n < 10);
      }
      tesela_file_close(file);
      free(piece);
    }
}

/* Each byte changed in turn to each of some others: read or refused, never beyond the bytes. */
static void changed_bytes_do_no_harm(void **state) {
  (void)state;
  static const char others[] = "\0\"{}[]:,\\9-\xff"
                               "e";
  bytes whole[] = {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }", 60),
                   safetensors(TENSORS, 17)};
  int64_t n_read = 0;
  for (int k = 0; k < 2; k++)
    for (int64_t at = 0; at < whole[k].n; at++)
      for (size_t i = 0; i < sizeof others - 1; i++) {
        bytes b = whole[k];
        tesela_file *file;
        uint8_t *piece;
        b.data[at] = (uint8_t)others[i];
        n_read += open_bytes(&b, b.n, &file, &piece, NULL, NULL) == TESELA_OK;
        tesela_file_close(file);
        free(piece);
      }
  assert_true(n_read > 100);
}

static void limits_hold(void **state) {
  (void)state;
  bytes b = safetensors(TENSORS, 17);
  tesela_file *file;
  uint8_t *piece;
  tesela_error err;
  fault f = {.countdown = -1, .weigh = true};
  tesela_allocator allocator = fault_allocator(&f);
  tesela_file_options options = {.max_header = 2000, .allocator = &allocator};
  assert_int_equal(open_bytes(&b, b.n, &file, &piece, &options, &err), TESELA_E_LIMIT);
  assert_non_null(strstr(err.message, "max_header is 2000"));
  assert_true(f.live == 0 && f.most < 2000);
  free(piece);
  options.max_header = 4000;
  assert_int_equal(open_bytes(&b, b.n, &file, &piece, &options, &err), TESELA_OK);
  assert_true(f.most < 4000 + 1000); /* the file itself besides */
  tesela_file_close(file);
  assert_int_equal(f.live, 0);
  free(piece);
  b = safetensors("{}", 0);
  memcpy(b.data, "\x01\xe1\xf5\x05", 4); /* 100,000,001 */
  assert_int_equal(open_bytes(&b, b.n, &file, &piece, NULL, &err), TESELA_E_LIMIT);
  free(piece);
  b = npy("{}", 0);
  memcpy(b.data + 6, "\x02\x00\x01\x00\x10\x00", 6); /* version 2, 1 MiB and a byte */
  assert_int_equal(open_bytes(&b, b.n, &file, &piece, NULL, &err), TESELA_E_LIMIT);
  free(piece);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  bytes whole[] = {{.data = "abc", .n = 3},
                   npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }", 60),
                   safetensors(TENSORS, 17)};
  for (int k = 0; k < 3; k++)
    for (int64_t n = 0;; n++) {
      fault f = {.countdown = n, .dirty = true};
      tesela_allocator allocator = fault_allocator(&f);
      tesela_file *file;
      uint8_t *piece;
      tesela_error err;
      tesela_status status = open_bytes(&whole[k], whole[k].n, &file, &piece,
                                        &(tesela_file_options){.allocator = &allocator}, &err);
      if (status != TESELA_OK) assert_int_equal(status, TESELA_E_MEMORY);
      tesela_file_close(file);
      free(piece);
      assert_int_equal(f.live, 0);
      if (status == TESELA_OK) break;
      assert_true(n < 20);
    }
}

/* ---- files ---- */

static void paths_that_cannot_be_opened(void **state) {
  (void)state;
  tesela_file *file = NULL;
  tesela_error err;
  assert_int_equal(tesela_file_open(&file, "/no/such/file", NULL, &err), TESELA_E_IO);
  assert_int_equal(err.reason, TESELA_REASON_PATH);
  assert_string_equal(err.message, strerror(ENOENT));
  assert_int_equal(tesela_file_open(&file, "/", NULL, &err), TESELA_E_IO);
  assert_int_equal(err.reason, TESELA_REASON_PATH);
  assert_int_equal(tesela_file_open(&file, NULL, NULL, &err), TESELA_E_INVALID);
  assert_int_equal(tesela_file_open(NULL, "x", NULL, &err), TESELA_E_INVALID);
  assert_int_equal(tesela_file_open_memory(&file, NULL, 1, NULL, &err), TESELA_E_INVALID);
  assert_int_equal(tesela_file_open_memory(&file, "", -1, NULL, &err), TESELA_E_RANGE);
  assert_null(file);
}

static void shrunk(int number) {
  (void)number;
  _exit(77);
}

/* As file.h says: SIGBUS, which is the program's own, and no other harm. */
static void a_file_that_shrinks(void **state) {
  (void)state;
  char path[] = "/tmp/tesela-shrinks-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(ftruncate(fd, 1 << 20), 0);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    tesela_file *file;
    tesela_file_info info;
    signal(SIGBUS, shrunk);
    if (tesela_file_open(&file, path, NULL, NULL) != TESELA_OK) _exit(1);
    tesela_file_describe(file, &info);
    if (info.bytes != 1 << 20 || ftruncate(fd, 0) != 0) _exit(2);
    volatile const uint8_t *last = info.data + (1 << 20) - 1;
    _exit(*last == 0 ? 3 : 4);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 77);
  close(fd);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_raw_file_is_its_bytes),      cmocka_unit_test(npy_headers_are_read),
      cmocka_unit_test(safetensors_headers_are_read), cmocka_unit_test(layouts_are_those_of_the_header),
      cmocka_unit_test(wrong_headers_are_refused),    cmocka_unit_test(every_cut_is_refused),
      cmocka_unit_test(changed_bytes_do_no_harm),     cmocka_unit_test(limits_hold),
      cmocka_unit_test(every_allocation_may_fail),    cmocka_unit_test(paths_that_cannot_be_opened),
      cmocka_unit_test(a_file_that_shrinks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
