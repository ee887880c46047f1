/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_posix.c - threads, locks, the clock and memory of POSIX systems: facts about the machine, and threads that live no
 * longer than one call.
 *
 * No pool is kept, so that a process may fork at any time and needs no cleanup. Starting and joining a
 * thread costs about 20 us; the callers start none for less than a millisecond of work.
 *
 * Threads take chunks from a counter: a late or slow thread runs fewer, and one that cannot be started leaves its chunk
 * to the others. The calling thread always runs chunk 0.
 */
/* For sched_getaffinity. It works only before the first header, so src/tesela.c has it at its top, too. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "base/os.h"

#if TESELA__OS_POSIX
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
  MOST_THREADS = 1023,    /* most threads to start: with the caller, one for each of 1024 chunks */
  THREAD_STACK = 2 << 20, /* TESELA_PLAN_STACK, and room for the C library and for instrumented builds */
  GUESSED_CACHE = 16 << 20
};

_Static_assert(sizeof(pthread_t) <= sizeof(uintptr_t), "a thread fits its number");
_Static_assert(sizeof(pthread_mutex_t) <= sizeof(tesela__lock), "a lock fits");

static int32_t count_cpus(void) {
#ifdef CPU_COUNT
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
#endif
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n > INT32_MAX ? INT32_MAX : (int32_t)n;
}

int32_t tesela__cpu_count(void) {
  static _Atomic int32_t known; /* 0: unknown yet; concurrent callers find the same number */
  int32_t n = atomic_load_explicit(&known, memory_order_relaxed);
  if (n == 0) atomic_store_explicit(&known, n = count_cpus(), memory_order_relaxed);
  return n;
}

/* ---- caches, from Linux's list of those of the first CPU; sysconf reports the sum over a whole socket in some virtual machines */

/* The first characters of a file, up to its first blank; "" without one. */
static void read_cache_fact(int32_t i, const char *name, char text[16]) {
  char path[80];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", (int)i, name);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t n = file < 0 ? 0 : read(file, text, 15);
  if (file >= 0) close(file);
  text[n > 0 ? n : 0] = '\0';
  text[strcspn(text, " \n")] = '\0';
}

static int64_t listed_cache_bytes(int32_t level) {
  enum { MOST_CACHES = 16 };
  int64_t bytes = 0, highest = 2;
  for (int32_t i = 0; i < MOST_CACHES; i++) {
    char own[16], type[16], size[16], *unit;
    read_cache_fact(i, "level", own);
    if (!own[0]) break;
    read_cache_fact(i, "type", type);
    read_cache_fact(i, "size", size);
    const int64_t of = strtol(own, NULL, 10), n = strtol(size, &unit, 10);
    if (strcmp(type, "Instruction") == 0 || n <= 0 || (level == 2 ? of != 2 : of < highest)) continue;
    if (level > 2) highest = of;
    bytes = *unit == 'K' ? n << 10 : *unit == 'M' ? n << 20 : n;
  }
  return bytes;
}

static int64_t ask_cache_bytes(int32_t level) {
  int64_t bytes = listed_cache_bytes(level);
#ifdef _SC_LEVEL3_CACHE_SIZE
  if (bytes <= 0) bytes = sysconf(level == 2 ? _SC_LEVEL2_CACHE_SIZE : _SC_LEVEL3_CACHE_SIZE);
#endif
  return bytes > 0 ? bytes : level == 2 ? TESELA__USUAL_L2 : TESELA__USUAL_L3;
}

int64_t tesela__cache_bytes(int32_t level) {
  static _Atomic int64_t known[2];
  _Atomic int64_t *of = &known[level > 2];
  int64_t bytes = atomic_load_explicit(of, memory_order_relaxed);
  if (bytes == 0) atomic_store_explicit(of, bytes = ask_cache_bytes(level), memory_order_relaxed);
  return bytes;
}

/* ---- chunks ----------------------------------------------------------------------------------------------- */

typedef struct chunk_queue {
  void (*chunk)(void *data, int32_t i);
  void *data;
  int32_t n;
  atomic_int next; /* the first free chunk; up to n plus the number of threads */
} chunk_queue;

static void *take_chunks(void *argument) {
  chunk_queue *queue = argument;
  for (;;) {
    int32_t i = atomic_fetch_add_explicit(&queue->next, 1, memory_order_relaxed);
    if (i >= queue->n) return NULL;
    queue->chunk(queue->data, i);
  }
}

/* Signals to the process are for the program's own threads. Signals that a thread causes itself, such as SIGBUS in a mapped
 * file, must reach it. Returns whether to restore *old. */
static bool block_signals(sigset_t *old) {
  static const int own[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV};
  sigset_t all;
  sigfillset(&all);
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) sigdelset(&all, own[i]);
  return pthread_sigmask(SIG_SETMASK, &all, old) == 0;
}

/* Start up to n threads, which inherit the signal mask. Returns their number. */
static int32_t start_threads(void *(*body)(void *data), void *data, int32_t n, pthread_t *thread) {
  pthread_attr_t attributes;
  sigset_t old;
  int32_t started = 0;
  if (pthread_attr_init(&attributes) != 0) return 0;
  bool blocked = block_signals(&old);
  if (pthread_attr_setstacksize(&attributes, THREAD_STACK) == 0)
    while (started < n && pthread_create(&thread[started], &attributes, body, data) == 0) started++;
  if (blocked) (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
  (void)pthread_attr_destroy(&attributes);
  return started;
}

void tesela__run_on_threads(int32_t threads, int32_t n, void (*chunk)(void *data, int32_t i), void *data) {
  if (n < 1) return;
  chunk_queue queue = {.chunk = chunk, .data = data, .n = n};
  atomic_init(&queue.next, 1);
  pthread_t thread[MOST_THREADS];
  int32_t most = threads < n ? threads - 1 : n - 1;
  int32_t started =
      most > 0 ? start_threads(take_chunks, &queue, most < MOST_THREADS ? most : MOST_THREADS, thread) : 0;
  chunk(data, 0);
  (void)take_chunks(&queue);
  for (int32_t i = 0; i < started; i++) (void)pthread_join(thread[i], NULL);
}

bool tesela__thread_start(tesela__thread *thread, void *(*body)(void *data), void *data) {
  pthread_t started;
  if (start_threads(body, data, 1, &started) == 0) return false;
  thread->id = 0;
  memcpy(&thread->id, &started, sizeof started);
  return true;
}

void tesela__thread_join(tesela__thread thread) {
  pthread_t started;
  memcpy(&started, &thread.id, sizeof started);
  (void)pthread_join(started, NULL);
}

uintptr_t tesela__thread_self(void) {
  pthread_t self = pthread_self();
  uintptr_t id = 0;
  memcpy(&id, &self, sizeof self);
  return id;
}

int64_t tesela__clock_ns(void) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void tesela__sleep_ns(int64_t ns) {
  const struct timespec pause = {0, (long)ns};
  nanosleep(&pause, NULL);
}

/* ---- locks ---- */

static pthread_mutex_t *mutex_of(tesela__lock *lock) { return (pthread_mutex_t *)(void *)lock->room; }

bool tesela__lock_init(tesela__lock *lock) { return pthread_mutex_init(mutex_of(lock), NULL) == 0; }
void tesela__lock_take(tesela__lock *lock) { pthread_mutex_lock(mutex_of(lock)); }
void tesela__lock_give(tesela__lock *lock) { pthread_mutex_unlock(mutex_of(lock)); }
void tesela__lock_destroy(tesela__lock *lock) { pthread_mutex_destroy(mutex_of(lock)); }

/* ---- memory ---- */

void *tesela__os_alloc(size_t size, size_t align) {
  if (align <= alignof(max_align_t)) return malloc(size);
  return size > SIZE_MAX - align ? NULL : aligned_alloc(align, (size + align - 1) / align * align);
}

void tesela__os_release(void *memory) { free(memory); }

/* The second number of statm, in pages. */
int64_t tesela__resident_bytes(void) {
  char text[128], *end;
  int statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  ssize_t n = statm >= 0 ? read(statm, text, sizeof text - 1) : -1;
  if (statm >= 0) close(statm);
  if (n <= 0) return -1;
  text[n] = '\0';
  strtoll(text, &end, 10);
  return strtoll(end, NULL, 10) * sysconf(_SC_PAGESIZE);
}

void tesela__drop_pages(const void *memory, int64_t bytes, bool written) {
  void *pages = (void *)(uintptr_t)memory;
  if (!memory || bytes == 0) return;
  if (written) msync(pages, (size_t)bytes, MS_ASYNC);
  madvise(pages, (size_t)bytes, MADV_DONTNEED);
}
#endif
