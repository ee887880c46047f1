/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_none.c - only the C library, as in WebAssembly: one thread, files read into memory and written from it.
 *
 * A file that is replaced keeps neither owner nor mode, links are not followed, and nothing is synced: standard C has
 * no functions for these.
 */
#include "base/os.h"

#ifdef TESELA_OS_NONE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { READ_BLOCK = 1 << 16, PATH_BYTES = 4096, TRIES = 100 };

/* ---- threads: none ---- */

int32_t tesela__cpu_count(void) { return 1; }
int64_t tesela__cache_bytes(int32_t level) { return level == 2 ? TESELA__USUAL_L2 : TESELA__USUAL_L3; }

void tesela__run_on_threads(int32_t threads, int32_t n, void (*chunk)(void *data, int32_t i), void *data) {
  (void)threads;
  for (int32_t i = 0; i < n; i++) chunk(data, i);
}

bool tesela__thread_start(tesela__thread *thread, void *(*body)(void *data), void *data) {
  (void)thread, (void)body, (void)data;
  return false;
}

void tesela__thread_join(tesela__thread thread) { (void)thread; }
uintptr_t tesela__thread_self(void) { return 1; }

int64_t tesela__clock_ns(void) {
  struct timespec now = {0, 0};
  timespec_get(&now, TIME_UTC);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void tesela__sleep_ns(int64_t ns) { (void)ns; }

bool tesela__lock_init(tesela__lock *lock) { return lock != NULL; }
void tesela__lock_take(tesela__lock *lock) { (void)lock; }
void tesela__lock_give(tesela__lock *lock) { (void)lock; }
void tesela__lock_destroy(tesela__lock *lock) { (void)lock; }

/* ---- memory ---- */

void *tesela__os_alloc(size_t size, size_t align) {
  if (align <= alignof(max_align_t)) return malloc(size);
  return size > SIZE_MAX - align ? NULL : aligned_alloc(align, (size + align - 1) / align * align);
}

void tesela__os_release(void *memory) { free(memory); }

int64_t tesela__resident_bytes(void) { return -1; }

void tesela__drop_pages(const void *memory, int64_t bytes, bool written) {
  (void)memory, (void)bytes, (void)written;
}

/* ---- files ---- */

static tesela_status fail_file(tesela_error *err, tesela_reason reason) {
  if (errno == ENOMEM) return tesela__refuse(err, TESELA_E_MEMORY, reason, "no memory for the file");
  return tesela__refuse(err, TESELA_E_IO, reason, "%s",
                        errno ? strerror(errno) : "cannot be read or written");
}

/* Read all bytes of a stream, into memory of malloc, since no allocator is known when they are released. */
static tesela_status read_all(FILE *file, uint8_t **data, int64_t *bytes, tesela_error *err) {
  size_t capacity = 0, length = 0, n;
  uint8_t *memory = NULL;
  do {
    if (capacity - length < READ_BLOCK) {
      uint8_t *more =
          capacity > PTRDIFF_MAX / 2 - READ_BLOCK ? NULL : realloc(memory, capacity * 2 + READ_BLOCK);
      if (!more) {
        free(memory);
        return tesela__refuse(err, TESELA_E_MEMORY, TESELA_REASON_NONE, "no memory for more than %zu bytes",
                              length);
      }
      memory = more;
      capacity = capacity * 2 + READ_BLOCK;
    }
    errno = 0;
    n = fread(memory + length, 1, capacity - length, file);
    length += n;
  } while (n > 0);
  if (ferror(file)) {
    free(memory);
    return fail_file(err, TESELA_REASON_PATH);
  }
  if (length == 0) free(memory);
  *data = length > 0 ? memory : NULL;
  *bytes = (int64_t)length;
  return TESELA_OK;
}

tesela_status tesela__mapping_open(tesela__mapping *mapping, const char *path,
                                   const tesela_allocator *allocator, tesela_error *err) {
  (void)allocator;
  uint8_t *data = NULL;
  *mapping = (tesela__mapping){NULL, 0, -1};
  errno = 0;
  FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  if (!file) return fail_file(err, TESELA_REASON_PATH);
  tesela_status status = read_all(file, &data, &mapping->bytes, err);
  mapping->data = data;
  if (file != stdin) fclose(file);
  return status;
}

tesela_status tesela__mapping_read(const tesela__mapping *mapping, int64_t at, void *to, int64_t n,
                                   tesela_error *err) {
  (void)err;
  memcpy(to, mapping->data + at, (size_t)n);
  return TESELA_OK;
}

void tesela__mapping_close(tesela__mapping *mapping) {
  free((void *)(uintptr_t)mapping->data);
  *mapping = (tesela__mapping){NULL, 0, -1};
}

struct tesela__output {
  tesela_allocator allocator;
  char path[PATH_BYTES]; /* "-": standard output */
  uint8_t *data;
  int64_t size;
  char *unfinished; /* the temporary name while it exists, else "" */
  char own_unfinished[PATH_BYTES];
};

tesela_status tesela__output_create(tesela__output **out, const char *path, int64_t bytes, char *unfinished,
                                    bool only_files, const tesela_allocator *allocator, uint8_t **data,
                                    tesela_error *err) {
  size_t length = strlen(path);
  *out = NULL;
  if (only_files && (strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "is not a regular file, which it must be here");
  errno = length == 0 ? ENOENT : ENAMETOOLONG;
  if (length == 0 || length >= PATH_BYTES) return fail_file(err, TESELA_REASON_PATH);
  tesela__output *made = tesela__alloc(allocator, sizeof *made, alignof(tesela__output));
  if (!made) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory");
  memset(made, 0, sizeof *made);
  made->allocator = *allocator;
  made->size = bytes;
  made->unfinished = unfinished ? unfinished : made->own_unfinished;
  *made->unfinished = '\0';
  memcpy(made->path, path, length + 1);
  made->data = tesela__alloc(allocator, (uint64_t)bytes, 64);
  if (!made->data) {
    tesela__release(allocator, made);
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for %" PRId64 " bytes", bytes);
  }
  memset(made->data, 0, (size_t)bytes);
  *data = made->data;
  *out = made;
  return TESELA_OK;
}

static bool put_bytes(FILE *file, const tesela__output *out) {
  errno = 0;
  return fwrite(out->data, 1, (size_t)out->size, file) == (size_t)out->size && fflush(file) == 0;
}

/* Create a file with a new name beside out->path; NULL: errno is set. */
static FILE *open_beside(tesela__output *out) {
  const char *slash = strrchr(out->path, '/');
  int folder = slash ? (int)(slash + 1 - out->path) : 0;
  unsigned long seed = (unsigned long)tesela__clock_ns();
  for (int i = 0; i < TRIES; i++, seed = seed * 69069 + 1) {
    int length = snprintf(out->unfinished, PATH_BYTES, "%.*s.%.200s.%06lx.tesela", folder, out->path,
                          out->path + folder, seed >> 4 & 0xffffff);
    errno = ENAMETOOLONG;
    if (length < 0 || length >= PATH_BYTES) break;
    errno = 0;
    FILE *file = fopen(out->unfinished, "wbx");
    if (file) return file;
    if (errno != EEXIST) break;
  }
  *out->unfinished = '\0';
  return NULL;
}

tesela_status tesela__output_finish(tesela__output *out, tesela_error *err) {
  if (strcmp(out->path, "-") == 0)
    return put_bytes(stdout, out) ? TESELA_OK : fail_file(err, TESELA_REASON_NONE);
  FILE *file = open_beside(out);
  if (!file) return fail_file(err, TESELA_REASON_PATH);
  bool done = put_bytes(file, out);
  int reason = errno;
  if (fclose(file) != 0 && done) done = false, reason = errno;
  errno = reason;
  if (!done) return fail_file(err, TESELA_REASON_NONE);
  if (rename(out->unfinished, out->path) != 0) return fail_file(err, TESELA_REASON_PATH);
  *out->unfinished = '\0';
  return TESELA_OK;
}

void tesela__output_close(tesela__output *out) {
  if (!out) return;
  if (*out->unfinished) remove(out->unfinished);
  tesela_allocator allocator = out->allocator;
  tesela__release(&allocator, out->data);
  tesela__release(&allocator, out);
}
#endif
