/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_decompress.c - any bytes as a file that may be compressed, read in pieces: the first byte says how long they are.
 *
 * What was read in pieces is what is read at once, up to the call that fails; an error names a byte of the file.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decompress.h"

enum { MOST = 1 << 20 /* bytes that are read */ };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_decompress: %s\n", what);
  abort();
}

/* Up to MOST bytes in pieces; returns how many came before the end or an error, *failed says which. */
static size_t read_all(decompress *from, FILE *file, size_t piece, size_t size, uint8_t *to, bool *failed) {
  tesela_error err;
  size_t n = 0;
  int64_t more = 0;
  rewind(file);
  require(lseek(fileno(file), 0, SEEK_SET) == 0, "cannot seek");
  decompress_begin(from, fileno(file));
  for (; n < MOST; n += (size_t)more) {
    const size_t wanted = piece < MOST - n ? piece : MOST - n;
    more = decompress_read(from, to + n, wanted, &err);
    require(more <= (int64_t)wanted, "more than was asked for");
    if (more <= 0) break;
  }
  *failed = more < 0;
  require(!*failed || (err.at >= -1 && err.at <= (int64_t)size && err.message[0]),
          "an error without a place");
  return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static uint8_t whole[MOST], pieces[MOST];
  if (size == 0) return 0;
  FILE *file = tmpfile();
  decompress *from = decompress_create();
  bool failed, failed_too;
  require(file && from, "no file");
  require(fwrite(data + 1, 1, size - 1, file) == size - 1 && fflush(file) == 0, "cannot write");
  const size_t n = read_all(from, file, MOST, size - 1, whole, &failed);
  const size_t m = read_all(from, file, 4096 + (size_t)data[0], size - 1, pieces, &failed_too);
  require(failed == failed_too && (failed || n == m), "another end in pieces");
  require(memcmp(whole, pieces, n < m ? n : m) == 0, "other bytes in pieces");
  decompress_destroy(from);
  fclose(file);
  return 0;
}
