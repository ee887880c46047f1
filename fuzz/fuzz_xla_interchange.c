/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_xla_interchange.c - any bytes as a list of shapes, a program shape, a layout mode, or JAX's layout text.
 *
 * First byte: flags; the rest: the text. No reader crashes, an error names a byte of the text, and what is printed is
 * read again and printed the same.
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
  fprintf(stderr, "fuzz_xla_interchange: %s\n", what);
  abort();
}

static bool accepted(tesela_status status, const tesela_error *err, size_t length) {
  if (status == TESELA_OK) return true;
  require(err->status == status && err->at <= (int64_t)length, "the error is outside the text");
  require(err->message[0] != '\0' && !strchr(err->message, '\n'), "the message is not one line");
  return false;
}

static char first[LONGEST], second[LONGEST];

static void check_list(const char *text, size_t length, int32_t flags) {
  tesela_xla_tree *tree;
  tesela_error err;
  if (accepted(tesela_xla_tree_create_list(&tree, text, length, flags, NULL, NULL, &err), &err, length))
    tesela_xla_tree_destroy(tree);
}

static void check_program_shape(const char *text, size_t length, int32_t flags) {
  tesela_xla_program_shape *program, *again;
  tesela_error err;
  tesela_status status = tesela_xla_program_shape_create(&program, text, length, flags, NULL, NULL, &err);
  if (!accepted(status, &err, length)) return;
  tesela_buffer one = {first, sizeof first, 0}, two = {second, sizeof second, 0};
  tesela_writer to = tesela_buffer_writer(&one), to_second = tesela_buffer_writer(&two);
  require(tesela_xla_program_shape_print(program, true, &to, &err) == TESELA_OK,
          "a program shape does not print");
  if (one.length < sizeof first) {
    flags &= TESELA_XLA_KEEP_BARE; /* shapes without braces stay so */
    status = tesela_xla_program_shape_create(&again, first, one.length, flags, NULL, NULL, &err);
    require(status == TESELA_OK, "a printed program shape is refused");
    require(tesela_xla_program_shape_print(again, true, &to_second, &err) == TESELA_OK,
            "it does not print again");
    require(strcmp(first, second) == 0, "a program shape prints differently");
    tesela_xla_program_shape_destroy(again);
  }
  tesela_xla_program_shape_destroy(program);
}

static void check_mode(const char *text, size_t length, int32_t flags) {
  tesela_xla_layout_mode mode, again;
  tesela_error err;
  tesela_status status = tesela_xla_parse_layout_mode(text, length, flags, &mode, NULL, &err);
  if (!accepted(status, &err, length)) return;
  tesela_buffer one = {first, sizeof first, 0};
  tesela_writer to = tesela_buffer_writer(&one);
  require(tesela_xla_print_layout_mode(&mode, &to, &err) == TESELA_OK, "a layout mode does not print");
  status = tesela_xla_parse_layout_mode(first, one.length, TESELA_XLA_STRICT, &again, NULL, &err);
  require(status == TESELA_OK, "a printed layout mode is refused");
}

static void check_jax(const char *text, size_t length) {
  tesela_xla_layout layout, again;
  tesela_error err;
  if (!accepted(tesela_xla_parse_jax(text, length, &layout, &err), &err, length)) return;
  tesela_buffer one = {first, sizeof first, 0};
  tesela_writer to = tesela_buffer_writer(&one);
  uint32_t lost;
  if (tesela_xla_print_jax(&layout, &to, &lost, &err) != TESELA_OK) return;
  require(tesela_xla_parse_jax(first, one.length, &again, &err) == TESELA_OK,
          "a printed JAX layout is refused");
  require(tesela_xla_layout_equal(&layout, &again, lost), "a JAX layout reads as another");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  const char *text = (const char *)data + 1;
  int32_t flags = data[0] & (TESELA_XLA_LENIENT | TESELA_XLA_KEEP_BARE);
  check_list(text, size - 1, flags);
  check_program_shape(text, size - 1, flags);
  check_mode(text, size - 1, flags);
  check_jax(text, size - 1);
  return 0;
}
