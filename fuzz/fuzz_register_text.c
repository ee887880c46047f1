/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_register_text.c - any bytes as a layout expression.
 *
 * No reader crashes; an error names a byte of the text and is one line. What is accepted prints with all its fields,
 * and reads back as the same fields; printed as a chain it reads back as the same relation.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/tesela.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 1 << 14 }; /* 64 modes of 19 digits and their names have room */

static bool is_register(const char *text, size_t length) {
  const tesela_notation *notation;
  return tesela_notation_find(text, length, &notation, NULL, NULL) == TESELA_OK &&
         strcmp(notation->name, "register") == 0;
}

static void require(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_register_text: %s\n", what);
  abort();
}

static void check_error(const tesela_error *err, tesela_status status, size_t length) {
  require(err->status == status, "the error has another status than the call");
  require(err->at >= 0 && err->at <= (int64_t)length, "the error is outside the text");
  require(err->message[0] != '\0' && !strchr(err->message, '\n'), "the message is not one line");
}

static void check_registers(const tesela_register *layout) {
  static char text[LONGEST];
  tesela_register again;
  tesela_error err;
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  require(tesela_register_check(layout, &err) == TESELA_OK, "an accepted layout is not valid");
  require(tesela_register_print(layout, &to, &err) == TESELA_OK, "an accepted layout does not print");
  require(buffer.length < sizeof text, "a printed layout is too long");
  require(is_register(text, buffer.length), "a printed layout does not look like one");
  require(tesela_register_parse(text, buffer.length, &again, &err) == TESELA_OK,
          "a printed layout is refused");
  require(tesela_register_identical(layout, &again), "a printed layout reads as another one");
  buffer.length = 0;
  require(tesela_register_print_expression(layout, &to, &err) == TESELA_OK, "no expression is printed");
  require(buffer.length < sizeof text, "a printed expression is too long");
  require(tesela_register_parse(text, buffer.length, &again, &err) == TESELA_OK,
          "a printed chain is refused");
  require(tesela_register_same(layout, &again), "a printed chain reads as another layout");
}

static void check_memory(const tesela_tile_memory *layout) {
  static char text[LONGEST];
  tesela_tile_memory again;
  tesela_error err;
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  require(tesela_tile_memory_print(layout, &to, &err) == TESELA_OK, "an accepted tile does not print");
  require(buffer.length < sizeof text, "a printed tile is too long");
  require(tesela_tile_memory_parse(text, buffer.length, &again, &err) == TESELA_OK,
          "a printed tile is refused");
  require(layout->space == again.space && layout->rank == again.rank && layout->n_modes == again.n_modes &&
              layout->offset == again.offset && layout->size == again.size &&
              layout->swizzle.base == again.swizzle.base && layout->swizzle.bits == again.swizzle.bits &&
              layout->swizzle.shift == again.swizzle.shift,
          "a printed tile reads as another one");
  for (int32_t d = 0; d < layout->rank; d++)
    require(layout->shape[d] == again.shape[d], "a printed tile reads with another shape");
  for (int32_t m = 0; m < layout->n_modes; m++)
    require(layout->mode_shape[m] == again.mode_shape[m] && layout->mode_strides[m] == again.mode_strides[m],
            "a printed tile reads with other modes");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size ? size : 1); /* of just its size: ASan sees a read past the end */
  tesela_expression value;
  tesela_error err;
  if (!text) return 0;
  if (size > 0) memcpy(text, data, size);
  (void)is_register(text, size);
  tesela_status status = tesela_expression_parse(text, size, &value, &err);
  if (status != TESELA_OK)
    check_error(&err, status, size);
  else if (value.kind == TESELA_EXPRESSION_REGISTER)
    check_registers(&value.registers);
  else
    check_memory(&value.memory);
  free(text);
  return 0;
}
