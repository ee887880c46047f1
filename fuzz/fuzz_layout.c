/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_layout.c - any bytes as a layout in any notation.
 *
 * First byte: bit 0 reads leniently, bit 1 gives an array for texts without one; the rest is the text. The reader does not
 * crash, an error names a byte of the text, a layout that was read has the notation that tesela_notation_find names, and its
 * print is read again as the same layout.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/tesela.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 1 << 16 }; /* longer prints are cut, and not read again */

static void require(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_layout: %s\n", what);
  abort();
}

static char first[LONGEST], second[LONGEST];

/* Returns the length, 0 for what has no print or a longer one. */
static size_t print(const tesela_any_layout *any, char text[LONGEST]) {
  tesela_buffer buffer = {text, LONGEST, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_error err;
  tesela_status status = tesela_any_print(any, &to, &err);
  require(status == TESELA_OK || status == TESELA_E_UNSUPPORTED, "a layout that was read does not print");
  return status == TESELA_OK && buffer.length < LONGEST ? buffer.length : 0;
}

static void expect_same_places(const tesela_any_layout *a, const tesela_any_layout *b) {
  tesela_layout of_a, of_b;
  tesela_status status = tesela_any_to_layout(a, &of_a, NULL);
  require(tesela_any_to_layout(b, &of_b, NULL) == status, "only one of a layout and its print has places");
  if (status != TESELA_OK) return;
  tesela_difference info;
  status = tesela_layout_compare(&of_a, &of_b, &info, NULL);
  require(status != TESELA_OK || info.same, "a print has other places");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  const char *text = (const char *)data + 1;
  size_t length = size - 1;
  static const tesela_xla_shape array = {.dtype = TESELA_BF16, .rank = 2, .dim = {32, 256}};
  tesela_layout_read_options options = {
      .flags = data[0] & 1 ? TESELA_XLA_LENIENT | TESELA_XLA_KEEP_BARE : TESELA_XLA_STRICT,
      .array = data[0] & 2 ? &array : NULL,
  };
  static tesela_any_layout any, again;
  tesela_error err;
  tesela_status status = tesela_layout_read(text, length, &options, &any, &err);
  if (status != TESELA_OK) {
    require(err.status == status && err.at <= (int64_t)length, "the error is outside the text");
    require(err.message[0] != '\0' && !strchr(err.message, '\n'), "the message is not one line");
    return 0;
  }
  const tesela_notation *notation;
  require(tesela_notation_find(text, length, &notation, NULL, &err) == TESELA_OK, "read, but of no notation");
  require(notation->kinds >> any.kind & 1, "a notation gives a kind that it does not name");

  size_t n = print(&any, first);
  if (n == 0) return 0;
  options.array = NULL; /* a print has its array */
  require(tesela_layout_read(first, n, &options, &again, &err) == TESELA_OK, "a print is refused");
  require(again.kind == any.kind, "a print is of another kind");
  require(print(&again, second) == n && memcmp(first, second, n) == 0, "a layout prints differently");
  expect_same_places(&any, &again);
  return 0;
}
