/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decompress.c - gzip data by zlib, zstd data by libzstd, as streams. The build says which of them are there.
 */
#include "decompress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "system.h"

#ifdef TESELA_ZLIB
#include <zlib.h>
#endif
#ifdef TESELA_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

enum { BLOCK = 64 * 1024, FIRST = 4096 };

typedef struct form form;

struct decompress {
  int fd;
  bool begun, at_end; /* the first bytes were looked at; fd is at its end */
  bool inside;        /* between the start and the end of a member */
  const form *form;   /* NULL: as it is */
  int64_t taken;      /* bytes read from fd */
  size_t at, n;       /* the bytes of `block` that wait */
#ifdef TESELA_ZLIB
  z_stream zlib;
#endif
#ifdef TESELA_ZSTD
  ZSTD_DStream *zstd;
#endif
  unsigned char block[BLOCK];
};

static int64_t fail(const decompress *from, tesela_error *err, tesela_status status, const char *format, ...)
    TESELA_PRINTF(4, 5);

static int64_t fail(const decompress *from, tesela_error *err, tesela_status status, const char *format,
                    ...) {
  va_list args;
  va_start(args, format);
  tesela_error_fill(err, status, from ? from->taken - (int64_t)(from->n - from->at) : -1, format, args);
  va_end(args);
  return -1;
}

/* What fd has, or 0 at its end; -1 with *err. */
static int64_t read_fd(decompress *from, void *to, size_t n, tesela_error *err) {
  int64_t got = system_read(from->fd, to, n);
  if (got < 0) return fail(NULL, err, TESELA_E_IO, "%s", strerror(errno));
  from->taken += got;
  from->at_end = got == 0;
  return got;
}

/* More bytes to `block`, which is empty. */
static int64_t fill_block(decompress *from, tesela_error *err) {
  int64_t n = read_fd(from, from->block, BLOCK, err);
  from->at = 0;
  from->n = n > 0 ? (size_t)n : 0;
  return n;
}

/* ---- forms of compressed data ---------------------------------------------------------------------------- */

struct form {
  const char *start; /* the first bytes of a member */
  size_t n;
  const char *name, *ending;
  bool padded; /* zeros may stand at the end */
  bool (*open)(decompress *from);
  /* Some bytes of `block` to some of `to`; < 0: err says why. `inside` becomes false at the end of a member. */
  int64_t (*step)(decompress *from, void *to, size_t n, tesela_error *err);
  void (*close)(decompress *from);
};

#ifdef TESELA_ZLIB
static bool open_gzip(decompress *from) {
  from->zlib = (z_stream){.next_in = NULL};
  return inflateInit2(&from->zlib, 15 + 16) == Z_OK; /* the largest window, gzip's header */
}

static int64_t step_gzip(decompress *from, void *to, size_t n, tesela_error *err) {
  z_stream *z = &from->zlib;
  if (!from->inside) inflateReset(z);
  from->inside = true;
  z->next_in = from->block + from->at;
  z->avail_in = (unsigned)(from->n - from->at);
  z->next_out = to;
  z->avail_out = (unsigned)(n < BLOCK ? n : BLOCK);
  int got = inflate(z, Z_NO_FLUSH);
  from->at = from->n - z->avail_in;
  if (got == Z_STREAM_END) from->inside = false;
  if (got == Z_MEM_ERROR) return fail(from, err, TESELA_E_MEMORY, "no memory");
  if (got != Z_OK && got != Z_STREAM_END && got != Z_BUF_ERROR)
    return fail(from, err, TESELA_E_INVALID, "%s", z->msg ? z->msg : "damaged data");
  return (char *)z->next_out - (char *)to;
}

static void close_gzip(decompress *from) { inflateEnd(&from->zlib); }
#endif

#ifdef TESELA_ZSTD
static bool open_zstd(decompress *from) { return (from->zstd = ZSTD_createDStream()) != NULL; }

static int64_t step_zstd(decompress *from, void *to, size_t n, tesela_error *err) {
  ZSTD_inBuffer in = {from->block, from->n, from->at};
  ZSTD_outBuffer out = {to, n, 0};
  size_t got = ZSTD_decompressStream(from->zstd, &out, &in);
  from->at = in.pos;
  from->inside = got != 0;
  if (ZSTD_isError(got) && ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
    return fail(from, err, TESELA_E_MEMORY, "no memory");
  if (ZSTD_isError(got)) return fail(from, err, TESELA_E_INVALID, "%s", ZSTD_getErrorName(got));
  return (int64_t)out.pos;
}

static void close_zstd(decompress *from) {
  ZSTD_freeDStream(from->zstd);
  from->zstd = NULL;
}
#endif

static const form forms[] = {
#ifdef TESELA_ZLIB
    {"\x1f\x8b", 2, "gzip", ".gz", true, open_gzip, step_gzip, close_gzip},
#endif
#ifdef TESELA_ZSTD
    {"\x28\xb5\x2f\xfd", 4, "zstd", ".zst", false, open_zstd, step_zstd, close_zstd},
#endif
    {"", 0, "", "", false, NULL, NULL, NULL}, /* the end */
};

/* The form of compressed data that starts so; NULL: none. */
static const form *form_of(const unsigned char *bytes, size_t n) {
  for (const form *it = forms; it->n > 0; it++)
    if (n >= it->n && memcmp(bytes, it->start, it->n) == 0) return it;
  return NULL;
}

size_t decompress_name(const char *name) {
  size_t n = strlen(name);
  for (const form *it = forms; it->n > 0; it++) {
    size_t m = strlen(it->ending);
    if (n > m && strcmp(name + n - m, it->ending) == 0) return n - m;
  }
  return n;
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

decompress *decompress_create(void) { return calloc(1, sizeof(decompress)); }

void decompress_begin(decompress *from, int fd) {
  if (from->form) from->form->close(from);
  from->form = NULL;
  from->fd = fd;
  from->begun = from->at_end = from->inside = false;
  from->taken = 0;
  from->at = from->n = 0;
}

void decompress_destroy(decompress *from) {
  if (!from) return;
  decompress_begin(from, -1);
  free(from);
}

/* Look at the first bytes; a pipe may give them one by one. Returns -1 with *err. */
static int64_t begin(decompress *from, tesela_error *err) {
  from->begun = true;
  while (from->n < FIRST && !from->at_end) {
    int64_t n = read_fd(from, from->block + from->n, BLOCK - from->n, err);
    if (n < 0) return -1;
    from->n += (size_t)n;
  }
  const form *found = form_of(from->block, from->n);
  if (found && !found->open(from)) return fail(NULL, err, TESELA_E_MEMORY, "no memory");
  from->form = found;
  from->inside = found != NULL;
  return 0;
}

/* Bytes that wait, then fd itself. */
static int64_t read_plain(decompress *from, void *to, size_t n, tesela_error *err) {
  size_t waiting = from->n - from->at;
  if (waiting == 0) return from->at_end ? 0 : read_fd(from, to, n, err);
  if (waiting > n) waiting = n;
  memcpy(to, from->block + from->at, waiting);
  from->at += waiting;
  return (int64_t)waiting;
}

/* What follows the last member, zeros at most: 0 at the end of the file, -1 with *err. */
static int64_t skip_padding(decompress *from, tesela_error *err) {
  do {
    while (from->at < from->n && from->block[from->at] == 0) from->at++;
    if (from->at < from->n)
      return fail(from, err, TESELA_E_INVALID, "other data after the end of the %s data", from->form->name);
    if (fill_block(from, err) < 0) return -1;
  } while (!from->at_end);
  return 0;
}

/* One step; 0 at the end of the file. */
static int64_t read_form(decompress *from, void *to, size_t n, tesela_error *err) {
  for (;;) {
    if (from->at == from->n && !from->at_end && fill_block(from, err) < 0) return -1;
    bool last = from->at == from->n; /* what is decompressed may still wait inside the library */
    if (last && !from->inside) return 0;
    if (!from->inside && from->form->padded && from->block[from->at] != (unsigned char)from->form->start[0])
      return skip_padding(from, err);
    int64_t got = from->form->step(from, to, n, err);
    if (got != 0) return got;
    if (last && from->inside)
      return fail(from, err, TESELA_E_INVALID, "the %s data ends before its last block", from->form->name);
  }
}

int64_t decompress_read(decompress *from, void *to, size_t n, tesela_error *err) {
  if (!from->begun && begin(from, err) < 0) return -1;
  if (!from->form) return read_plain(from, to, n, err);
  size_t done = 0;
  for (int64_t got = 1; got > 0 && done < n; done += (size_t)got) {
    got = read_form(from, (char *)to + done, n - done, err);
    if (got < 0) return -1;
  }
  return (int64_t)done;
}
