/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_arena_csv.c - any bytes as CSV of buffers. First byte: what is done with them.
 *
 * What was read can be written and read again to the same; what was planned, with a little effort, is right by the check; an
 * error names a byte of the text.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/tesela.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_arena_csv: %s\n", what);
  abort();
}

static void write_and_read(const tesela_arena_buffer *b, int32_t n) {
  size_t room = (size_t)n * 400 + 200;
  char *text = malloc(room);
  require(text != NULL, "no memory");
  tesela_buffer out = {text, room, 0};
  tesela_writer to = tesela_buffer_writer(&out);
  tesela_arena_buffer *again = NULL;
  int32_t m = -1;
  require(tesela_arena_write_csv(n, b, &to, NULL) == TESELA_OK && out.length < room,
          "what was read is not written");
  require(tesela_arena_read_csv(text, out.length, &again, &m, NULL, NULL) == TESELA_OK && m == n,
          "not read again");
  for (int32_t i = 0; i < n; i++)
    require(strcmp(b[i].id, again[i].id) == 0 && b[i].lower == again[i].lower &&
                b[i].upper == again[i].upper && b[i].size == again[i].size &&
                b[i].offset == again[i].offset && b[i].weight == again[i].weight &&
                (b[i].alignment ? b[i].alignment : 1) == (again[i].alignment ? again[i].alignment : 1),
            "read again, but another one");
  tesela_arena_free(again, NULL);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  const char *text = (const char *)data + 1;
  tesela_arena_buffer *b = NULL;
  tesela_arena_facts facts;
  tesela_error err = {.at = -2};
  int32_t n = -1;
  if (tesela_arena_read_csv(text, size - 1, &b, &n, NULL, &err) != TESELA_OK) {
    require(err.at >= 0 && err.at <= (int64_t)size - 1 && err.message[0] != '\0', "an error without a place");
    require(b == NULL && n == -1, "out parameters changed");
    return 0;
  }
  write_and_read(b, n);
  tesela_arena_options options = {
      .capacity = data[0] & 1 ? data[0] : 0, .effort = 200, .first_fit = data[0] & 2, .spill = data[0] & 4};
  if (tesela_arena_plan(n, b, &options, &facts, NULL) == TESELA_OK) {
    require(tesela_arena_check(n, b, options.capacity, NULL, NULL) == TESELA_OK, "a wrong plan");
    require(facts.bound <= facts.peak && facts.live <= facts.bound, "bounds");
  }
  tesela_arena_free(b, NULL);
  return 0;
}
