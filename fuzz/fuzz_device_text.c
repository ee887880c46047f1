/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_device_text.c - any bytes as a device layout.
 *
 * No reader crashes; an error names a byte of the text and is one line. What is accepted prints in the notations that can say
 * it, and each of them reads back as the same fields; what is said in XLA's notation is the same relation.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/tesela.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 1 << 14 }; /* 48 device dims of three numbers of 20 digits have room */

static bool is_device(const char *text, size_t length) {
  const tesela_notation *notation;
  return tesela_notation_find(text, length, &notation, NULL, NULL) == TESELA_OK &&
         strcmp(notation->name, "device") == 0;
}

static void require(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_device_text: %s\n", what);
  abort();
}

static void check_notation(const tesela_device_layout *layout, tesela_device_notation notation) {
  static char text[LONGEST];
  tesela_device_layout again;
  tesela_error err;
  tesela_device_text_options options = {.host = &layout->host};
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_status status = tesela_device_print(layout, notation, &to, &err);
  bool typed = tesela_dtype_bytes(layout->host.dtype) > 0;
  require(notation != TESELA_DEVICE_SHORT || !typed || status == TESELA_OK, "no short form");
  require(status == TESELA_OK || status == TESELA_E_UNSUPPORTED || status == TESELA_E_OVERFLOW,
          "another refusal");
  if (status != TESELA_OK) return;
  require(buffer.length < sizeof text, "a printed layout is too long");
  require(is_device(text, buffer.length), "a printed layout does not look like one");
  require(tesela_device_parse(&again, text, buffer.length, notation == TESELA_DEVICE_SHORT ? NULL : &options,
                              &err) == TESELA_OK,
          "a printed layout is refused");
  require(tesela_device_equal(layout, &again), "a printed layout reads as another one");
}

static void check_xla(const tesela_device_layout *layout) {
  tesela_xla_layout xla;
  tesela_xla_shape shape;
  tesela_layout left, right;
  tesela_difference difference;
  if (tesela_device_to_xla(layout, &xla, NULL) != TESELA_OK || layout->host.device_dtype == TESELA_DTYPE_NONE)
    return;
  require(tesela_xla_shape_make(&shape, layout->host.device_dtype, layout->host.rank, layout->host.shape,
                                &xla, NULL) == TESELA_OK &&
              tesela_xla_to_layout(&shape, &right, NULL) == TESELA_OK &&
              tesela_device_to_layout(layout, &left, NULL) == TESELA_OK &&
              tesela_layout_compare(&left, &right, &difference, NULL) == TESELA_OK && difference.same,
          "XLA says something else");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size ? size : 1); /* of just its size: ASan sees a read past the end */
  tesela_device_layout layout;
  tesela_error err;
  if (!text) return 0;
  if (size > 0) memcpy(text, data, size);
  (void)is_device(text, size);
  tesela_status status = tesela_device_parse(&layout, text, size, NULL, &err);
  if (status == TESELA_OK) {
    for (int n = TESELA_DEVICE_SHORT; n <= TESELA_DEVICE_STRIDE_MAP; n++)
      check_notation(&layout, (tesela_device_notation)n);
    check_xla(&layout);
  } else {
    require(err.status == status, "the error has another status than the call");
    require(err.at >= 0 && err.at <= (int64_t)size, "the error is outside the text");
    require(err.message[0] != '\0' && !strchr(err.message, '\n'), "the message is not one line");
  }
  free(text);
  return 0;
}
