/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_write.c - buffers as CSV text that tesela_arena_read_csv reads back to the same.
 */
#include "solve/arena/arena.h"

/* The length of an id that can be written and read back, else 0. */
static size_t arena_csv_id_length(const char *id) {
  const char *end = memchr(id, '\0', TESELA_ARENA_ID);
  uint32_t character;
  size_t length = end ? (size_t)(end - id) : 0;
  for (size_t k = 0, width; k < length; k += width) {
    width = tesela_utf8_character(id + k, length - k, &character);
    if (width == 0 || ((unsigned char)id[k] < ' ' && id[k] != '\t') || id[k] == 0x7F) return 0;
  }
  return length;
}

/* An id with a comma, a quote or spaces around it is written in quotes. */
static void arena_csv_put_id(tesela__sink *sink, const char *id, size_t length) {
  bool spaced = id[0] == ' ' || id[0] == '\t' || id[length - 1] == ' ' || id[length - 1] == '\t';
  if (!spaced && !memchr(id, ',', length) && !memchr(id, '"', length)) {
    tesela__put(sink, id, length);
    return;
  }
  tesela__putc(sink, '"');
  for (size_t k = 0; k < length; k++) {
    if (id[k] == '"') tesela__putc(sink, '"');
    tesela__putc(sink, id[k]);
  }
  tesela__putc(sink, '"');
}

tesela_status tesela_arena_write_csv(int32_t n, const tesela_arena_buffer *buffers, const tesela_writer *to,
                                     tesela_error *err) {
  TESELA__NEED(err, to);
  TESELA__NEED_LIST(err, buffers, n);
  tesela__sink sink;
  bool aligned = false, weighted = false;
  for (int32_t i = 0; i < n; i++) {
    if (arena_csv_id_length(buffers[i].id) == 0)
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "the id of buffer %" PRId32
                          " is empty, not terminated within %d bytes, not UTF-8 or has control characters",
                          i, TESELA_ARENA_ID);
    aligned = aligned || buffers[i].alignment > 1;
    weighted = weighted || buffers[i].weight != 0;
  }
  tesela__sink_init(&sink, to);
  tesela__puts(&sink, "id,lower,upper,size");
  if (aligned) tesela__puts(&sink, ",alignment");
  if (weighted) tesela__puts(&sink, ",weight");
  tesela__puts(&sink, ",offset\n");
  for (int32_t i = 0; i < n; i++) {
    const tesela_arena_buffer *b = &buffers[i];
    arena_csv_put_id(&sink, b->id, arena_csv_id_length(b->id));
    tesela__putf(&sink, ",%" PRId64 ",%" PRId64 ",%" PRId64, b->lower, b->upper, b->size);
    if (aligned) tesela__putf(&sink, ",%" PRId64, b->alignment > 1 ? b->alignment : 1);
    if (weighted) tesela__putf(&sink, ",%" PRId64, b->weight);
    tesela__putf(&sink, ",%" PRId64 "\n", b->offset);
  }
  return tesela__sink_finish(&sink, err);
}
