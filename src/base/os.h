/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os.h - what the library needs from the operating system: threads, locks, the clock, memory, files.
 *
 * Only os_*.c know a system; a test checks this. Only one family of files is not empty: os_posix*.c, os_windows*.c, or
 * os_none.c, which needs only standard C and has no threads (-DTESELA_OS_NONE chooses it anywhere).
 */
#ifndef TESELA_SRC_OS_H
#define TESELA_SRC_OS_H

#include "base/base.h"

#if defined(__wasi__) && !defined(TESELA_OS_NONE)
#define TESELA_OS_NONE 1
#endif
#if defined(TESELA_OS_NONE)
#define TESELA__OS_WINDOWS 0
#define TESELA__OS_POSIX 0
#elif defined(_WIN32)
#define TESELA__OS_WINDOWS 1
#define TESELA__OS_POSIX 0
#else
#define TESELA__OS_WINDOWS 0
#define TESELA__OS_POSIX 1
#endif

/* ---- threads ---- */

/* CPUs that this process may use, at least 1; asked once. */
int32_t tesela__cpu_count(void);

/* Bytes of a core's cache of level 2, or for level 3 of the last cache, which cores share; a usual size if the system does not know.
 * Asked once. */
int64_t tesela__cache_bytes(int32_t level);
enum { TESELA__USUAL_L2 = 1 << 20, TESELA__USUAL_L3 = 16 << 20 };

/* Call chunk(data, i) once for each 0 <= i < n on up to `threads` threads, the caller's included, and return after the
 * last. Chunk 0 is the caller's. Threads end before the call returns; a thread that cannot be started leaves its chunks
 * to the others. */
void tesela__run_on_threads(int32_t threads, int32_t n, void (*chunk)(void *data, int32_t i), void *data);

/* A thread in addition to the caller's, until it returns from body. It does not receive signals to the process. */
typedef struct tesela__thread {
  uintptr_t id;
} tesela__thread;
bool tesela__thread_start(tesela__thread *thread, void *(*body)(void *data), void *data);
void tesela__thread_join(tesela__thread thread);

/* A number of the calling thread that no other thread has at the same time. */
uintptr_t tesela__thread_self(void);

/* A monotonic clock, in nanoseconds. */
int64_t tesela__clock_ns(void);

void tesela__sleep_ns(int64_t ns); /* less than a second */

/* A lock. It must not be moved. */
typedef struct tesela__lock {
  alignas(max_align_t) unsigned char room[64];
} tesela__lock;
bool tesela__lock_init(tesela__lock *lock); /* false: no memory */
void tesela__lock_take(tesela__lock *lock);
void tesela__lock_give(tesela__lock *lock);
void tesela__lock_destroy(tesela__lock *lock);

/* ---- memory ---- */

/* As malloc, for any alignment that is a power of two; NULL without memory. */
void *tesela__os_alloc(size_t size, size_t align);
void tesela__os_release(void *memory);

/* Bytes of this process in memory; -1 if unknown. */
int64_t tesela__resident_bytes(void);

/* Release the pages of a mapped file that this process has in memory; their content stays in the file. Written pages go to the
 * system for writing. */
void tesela__drop_pages(const void *memory, int64_t bytes, bool written);

/* ---- files: errors are TESELA_E_IO, those of the path itself with TESELA_REASON_PATH, or TESELA_E_MEMORY ---- */

/* A file in memory, for reading. */
typedef struct tesela__mapping {
  const uint8_t *data; /* NULL if it is empty */
  int64_t bytes;
  intptr_t handle;
} tesela__mapping;

/* Map the file `path`, "-" for standard input. Anything but a regular file at its beginning is first written to a file without
 * a name in TMPDIR (/var/tmp), and that is mapped. */
tesela_status tesela__mapping_open(tesela__mapping *mapping, const char *path,
                                   const tesela_allocator *allocator, tesela_error *err);
void tesela__mapping_close(tesela__mapping *mapping);
/* Read bytes of the file from byte `at` on, without touching where they are mapped: the process gets no pages for them, and if another
 * process has truncated the file it is an error (TESELA_E_IO). */
tesela_status tesela__mapping_read(const tesela__mapping *mapping, int64_t at, void *to, int64_t n,
                                   tesela_error *err);
static inline tesela_status tesela__mapping_short(const tesela__mapping *mapping, int64_t at,
                                                  tesela_error *err) {
  return tesela__fail(err, TESELA_E_IO, at,
                      "the source was truncated while it was read: it has %" PRId64
                      " bytes; expected %" PRId64,
                      at, mapping->bytes);
}

/* A file that appears complete or not at all; include/tesela/file.h describes how. */
typedef struct tesela__output tesela__output;

/* Begin a file of `bytes` bytes at path; *data: memory to write them to. `unfinished` and `only_files` as in
 * tesela_file_write_options. */
tesela_status tesela__output_create(tesela__output **out, const char *path, int64_t bytes, char *unfinished,
                                    bool only_files, const tesela_allocator *allocator, uint8_t **data,
                                    tesela_error *err);
/* Write bytes to where `to` is mapped, without touching that: for many bytes it takes less time, as the process gets no pages for them. */
tesela_status tesela__output_write(tesela__output *out, uint8_t *to, const void *bytes, int64_t n,
                                   tesela_error *err);
/* These bytes will not change: the system may begin to write them to the disk, which is not waited for. */
void tesela__output_begin_sync(tesela__output *out, int64_t at, int64_t bytes);
/* After all is written: give the file its name, or send it to its stream. TESELA_E_STOPPED: the reader is closed. */
tesela_status tesela__output_finish(tesela__output *out, tesela_error *err);
/* Discard the file, unless it is finished; release `out`. NULL is allowed. */
void tesela__output_close(tesela__output *out);

/* Begin a partial file of `bytes` bytes: it is named ".NAME.partial.tesela" beside path from the start, and remains if
 * this process ends or is killed. It has the bytes of the output, then a record, which is text. A file whose record
 * begins with `first` is continued: *continued is set, and the bytes are those of the earlier process. Any other file
 * starts with zeros. With `first` NULL nothing is continued, and closing removes the file unless it is held.
 * TESELA_E_IO if another process writes it; TESELA_E_UNSUPPORTED for a path that is not a regular file. */
tesela_status tesela__partial_create(tesela__output **out, const char *path, int64_t bytes, const char *first,
                                     bool only_files, const tesela_allocator *allocator, uint8_t **data,
                                     bool *continued, tesela_error *err);
/* Read up to `length` bytes of the record from `at` on; returns their number. */
int64_t tesela__partial_recall(const tesela__output *out, int64_t at, char *text, int64_t length);
/* Sync all bytes to the disk; then replace the record from `at` on by `text`. */
tesela_status tesela__partial_note(tesela__output *out, int64_t at, const char *text, int64_t length,
                                   tesela_error *err);
/* Sync all bytes to the disk; the file keeps its partial name after it is closed. */
tesela_status tesela__partial_hold(tesela__output *out, tesela_error *err);
/* Reopen a held file of `bytes` bytes, to finish it; `removes`: tesela__output_close removes an unfinished one. */
tesela_status tesela__partial_open(tesela__output **out, const char *path, int64_t bytes, bool removes,
                                   bool only_files, const tesela_allocator *allocator, tesela_error *err);

/* Sync all bytes of an output to the disk, and read them from there next time, if the system can do that. */
tesela_status tesela__output_reread(tesela__output *out, tesela_error *err);

#endif
