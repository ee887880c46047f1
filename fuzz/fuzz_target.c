/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_target.c - any bytes as a target file.
 *
 * The reader does not crash; an error names a byte of the text and is one line. What is accepted is consistent, prints, and
 * what is printed reads back and prints the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/tesela.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 1 << 14 }; /* 64 rules, 40 types and the other keys have room */

static void require(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_target: %s\n", what);
  abort();
}

static void print(const tesela_target *target, char text[LONGEST]) {
  tesela_error err;
  tesela_buffer buffer = {text, LONGEST, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  require(tesela_target_print(target, &to, &err) == TESELA_OK, "an accepted target does not print");
  require(buffer.length < LONGEST, "a printed target is too long");
}

static void check_target(const tesela_target *target) {
  static char text[LONGEST], again[LONGEST];
  tesela_target back;
  tesela_error err;
  require(tesela_target_check(target, &err) == TESELA_OK, "an accepted target is not consistent");
  print(target, text);
  require(tesela_target_read(&back, text, strlen(text), &err) == TESELA_OK, "a printed target is refused");
  print(&back, again);
  require(strcmp(text, again) == 0, "a printed target reads as another one");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size ? size : 1); /* of just its size: ASan sees a read past the end */
  tesela_target target;
  tesela_error err;
  if (!text) return 0;
  if (size > 0) memcpy(text, data, size);
  tesela_status status = tesela_target_read(&target, text, size, &err);
  if (status == TESELA_OK) {
    check_target(&target);
  } else {
    require(err.status == status, "the error has another status than the call");
    require(err.at >= 0 && err.at <= (int64_t)size, "the error is outside the text");
    require(err.message[0] != '\0' && !strchr(err.message, '\n'), "the message is not one line");
  }
  free(text);
  return 0;
}
