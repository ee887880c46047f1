/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_xla_text.c - any bytes as XLA text. First byte: flags; the rest: the text.
 *
 * No reader crashes; an error names a byte of the text and is one line; what is accepted passes the gate, and what
 * is printed reads as the same text again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/tesela.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Texts longer than this are cut when printed; the comparison is then left out. */
enum { LONGEST = 1 << 16 };

static void require(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_xla_text: %s\n", what);
  abort();
}

static void check_error(const tesela_error *err, tesela_status status, size_t length) {
  require(err->status == status, "the error has another status than the call");
  require(err->at >= 0 && err->at <= (int64_t)length, "the error is outside the text");
  require(err->message[0] != '\0' && !strchr(err->message, '\n'), "the message is not one line");
}

static void check_repairs(const tesela_xla_repairs *repairs, size_t length) {
  require(repairs->count >= 0, "a negative number of repairs");
  for (int32_t i = 0; i < repairs->count && i < TESELA_XLA_MAX_REPAIRS; i++) {
    const tesela_xla_repair *repair = &repairs->repair[i];
    require(repair->at >= 0 && repair->at < (int64_t)length, "a repair is outside the text");
    require(repair->what[0] != '\0' && memchr(repair->what, '\0', sizeof repair->what),
            "a repair without words");
  }
}

static void check_shape(const char *text, size_t length, int32_t flags) {
  static char printed[LONGEST], again[LONGEST];
  tesela_xla_shape shape, reread;
  tesela_xla_repairs repairs;
  tesela_error err;
  size_t used = 0;
  tesela_status status = tesela_xla_parse(text, length, flags, &shape, &repairs, &err);
  if (status != TESELA_OK) {
    check_error(&err, status, length);
    status = tesela_xla_parse_prefix(text, length, flags, &shape, &used, &repairs, &err);
    if (status != TESELA_OK) return;
  }
  check_repairs(&repairs, length);
  require(used <= length, "a prefix longer than the text");
  require(tesela_xla_validate(&shape, &err) == TESELA_OK, "an accepted shape is not valid");
  tesela_buffer buffer = {printed, sizeof printed, 0}, second = {again, sizeof again, 0};
  tesela_writer to = tesela_buffer_writer(&buffer), to_second = tesela_buffer_writer(&second);
  require(tesela_xla_print(&shape, true, &to, &err) == TESELA_OK, "an accepted shape does not print");
  if (buffer.length >= sizeof printed) return;
  flags &= TESELA_XLA_KEEP_BARE;
  require(tesela_xla_parse(printed, buffer.length, flags, &reread, NULL, &err) == TESELA_OK,
          "a print is refused");
  require(tesela_xla_shape_equal(&shape, &reread, 0), "a print reads as another shape");
  require(tesela_xla_print(&reread, true, &to_second, &err) == TESELA_OK, "a reread shape does not print");
  require(strcmp(printed, again) == 0, "a print prints differently");
}

static void check_layout(const char *text, size_t length, int32_t flags) {
  static char printed[LONGEST], again[LONGEST];
  tesela_xla_layout layout, reread;
  tesela_xla_repairs repairs;
  tesela_error err;
  tesela_status status = tesela_xla_parse_layout(text, length, flags, &layout, &repairs, &err);
  if (status != TESELA_OK) {
    check_error(&err, status, length);
    return;
  }
  check_repairs(&repairs, length);
  tesela_buffer buffer = {printed, sizeof printed, 0}, second = {again, sizeof again, 0};
  tesela_writer to = tesela_buffer_writer(&buffer), to_second = tesela_buffer_writer(&second);
  require(tesela_xla_print_layout(&layout, &to, &err) == TESELA_OK, "an accepted layout does not print");
  flags &= TESELA_XLA_KEEP_BARE; /* for the shape in P(...) */
  status = tesela_xla_parse_layout(printed, buffer.length, flags, &reread, NULL, &err);
  require(status == TESELA_OK, "a printed layout is refused");
  require(tesela_xla_layout_equal(&layout, &reread, 0), "a print reads as another layout");
  require(tesela_xla_print_layout(&reread, &to_second, &err) == TESELA_OK, "a reread layout does not print");
  require(strcmp(printed, again) == 0, "a printed layout prints differently");
}

static void check_tree(const char *text, size_t length, int32_t flags) {
  static char printed[LONGEST];
  tesela_xla_tree *tree = NULL, *reread = NULL;
  tesela_xla_repairs repairs;
  tesela_error err;
  bool equal = false;
  tesela_status status = tesela_xla_tree_create(&tree, text, length, flags, NULL, &repairs, &err);
  if (status != TESELA_OK) {
    require(tree == NULL, "a refused text made a tree");
    check_error(&err, status, length);
    return;
  }
  check_repairs(&repairs, length);
  tesela_buffer buffer = {printed, sizeof printed, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  require(tesela_xla_tree_print(tree, true, &to, &err) == TESELA_OK, "an accepted tree does not print");
  if (buffer.length < sizeof printed) {
    flags &= TESELA_XLA_KEEP_BARE;
    status = tesela_xla_tree_create(&reread, printed, buffer.length, flags, NULL, NULL, &err);
    require(status == TESELA_OK, "a printed tree is refused");
    require(tesela_xla_tree_equal(tree, reread, 0, &equal, &err) == TESELA_OK && equal,
            "a print reads as another tree");
  }
  tesela_xla_tree_destroy(tree);
  tesela_xla_tree_destroy(reread);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  int32_t flags = data[0] & (TESELA_XLA_LENIENT | TESELA_XLA_KEEP_BARE);
  char *text = malloc(size); /* of just its size: ASan sees a read past the end */
  if (!text) return 0;
  memcpy(text, data + 1, size - 1);
  text[size - 1] = (char)0xFF;
  char *exact = realloc(text, size > 1 ? size - 1 : 1);
  if (!exact) abort();
  check_shape(exact, size - 1, flags);
  check_layout(exact, size - 1, flags);
  check_tree(exact, size - 1, flags);
  free(exact);
  return 0;
}
