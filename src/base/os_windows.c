/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_windows.c - threads, locks, the clock and memory of Windows. As in os_posix.c, threads end with the call, and take
 * chunks from a counter.
 */
#include "base/os_windows.h"

#if TESELA__OS_WINDOWS
#include <malloc.h>
#include <psapi.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
  MOST_THREADS = 1023,    /* most threads to start: with the caller, one for each of 1024 chunks */
  THREAD_STACK = 2 << 20, /* TESELA_PLAN_STACK, and room for the C library */
  MOST_CACHES = 256
};

_Static_assert(sizeof(SRWLOCK) <= sizeof(tesela__lock), "a lock fits");
_Static_assert(sizeof(HANDLE) <= sizeof(uintptr_t), "a thread fits its number");

int32_t tesela__cpu_count(void) {
  DWORD_PTR own = 0, all = 0;
  int32_t n = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &own, &all))
    for (; own; own &= own - 1) n++;
  return n > 0 ? n : 1;
}

int64_t tesela__cache_bytes(int32_t level) {
  SYSTEM_LOGICAL_PROCESSOR_INFORMATION of[MOST_CACHES];
  DWORD bytes = sizeof of;
  if (GetLogicalProcessorInformation(of, &bytes))
    for (size_t i = 0; i < bytes / sizeof of[0]; i++)
      if (of[i].Relationship == RelationCache && of[i].Cache.Level == level) return of[i].Cache.Size;
  return level == 2 ? TESELA__USUAL_L2 : TESELA__USUAL_L3;
}

/* ---- chunks ---- */

typedef struct chunk_queue {
  void (*chunk)(void *data, int32_t i);
  void *data;
  int32_t n;
  atomic_int next; /* the first free chunk; up to n plus the number of threads */
} chunk_queue;

static DWORD WINAPI take_chunks(void *argument) {
  chunk_queue *queue = argument;
  for (;;) {
    int32_t i = atomic_fetch_add_explicit(&queue->next, 1, memory_order_relaxed);
    if (i >= queue->n) return 0;
    queue->chunk(queue->data, i);
  }
}

static HANDLE start_thread(LPTHREAD_START_ROUTINE body, void *data) {
  return CreateThread(NULL, THREAD_STACK, body, data, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
}

static void join_thread(HANDLE thread) {
  WaitForSingleObject(thread, INFINITE);
  CloseHandle(thread);
}

void tesela__run_on_threads(int32_t threads, int32_t n, void (*chunk)(void *data, int32_t i), void *data) {
  if (n < 1) return;
  chunk_queue queue = {.chunk = chunk, .data = data, .n = n};
  HANDLE thread[MOST_THREADS];
  int32_t most = (int32_t)tesela__min(tesela__min(threads, n) - 1, MOST_THREADS), started = 0;
  atomic_init(&queue.next, 1);
  while (started < most && (thread[started] = start_thread(take_chunks, &queue))) started++;
  chunk(data, 0);
  (void)take_chunks(&queue);
  for (int32_t i = 0; i < started; i++) join_thread(thread[i]);
}

typedef struct started_body {
  void *(*body)(void *data);
  void *data;
} started_body;

static DWORD WINAPI run_body(void *argument) {
  started_body own = *(started_body *)argument;
  free(argument);
  (void)own.body(own.data);
  return 0;
}

bool tesela__thread_start(tesela__thread *thread, void *(*body)(void *data), void *data) {
  started_body *own = malloc(sizeof *own);
  if (!own) return false;
  *own = (started_body){body, data};
  HANDLE started = start_thread(run_body, own);
  if (!started) free(own);
  thread->id = (uintptr_t)started;
  return started != NULL;
}

void tesela__thread_join(tesela__thread thread) { join_thread((HANDLE)thread.id); }

uintptr_t tesela__thread_self(void) { return GetCurrentThreadId(); }

int64_t tesela__clock_ns(void) {
  LARGE_INTEGER now, second;
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&second);
  return now.QuadPart / second.QuadPart * 1000000000 +
         now.QuadPart % second.QuadPart * 1000000000 / second.QuadPart;
}

void tesela__sleep_ns(int64_t ns) { Sleep((DWORD)tesela__ceil_div(ns, 1000000)); }

/* ---- locks ---- */

static SRWLOCK *lock_of(tesela__lock *lock) { return (SRWLOCK *)(void *)lock->room; }

bool tesela__lock_init(tesela__lock *lock) {
  InitializeSRWLock(lock_of(lock));
  return true;
}
void tesela__lock_take(tesela__lock *lock) { AcquireSRWLockExclusive(lock_of(lock)); }
void tesela__lock_give(tesela__lock *lock) { ReleaseSRWLockExclusive(lock_of(lock)); }
void tesela__lock_destroy(tesela__lock *lock) { (void)lock; }

/* ---- memory ---- */

void *tesela__os_alloc(size_t size, size_t align) {
  return _aligned_malloc(size, align < alignof(max_align_t) ? alignof(max_align_t) : align);
}

void tesela__os_release(void *memory) { _aligned_free(memory); }

int64_t tesela__resident_bytes(void) {
  PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
  return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)
             ? (int64_t)counters.WorkingSetSize
             : -1;
}

/* Pages that are unlocked without having been locked leave the working set. */
void tesela__drop_pages(const void *memory, int64_t bytes, bool written) {
  if (!memory || bytes == 0) return;
  if (written) FlushViewOfFile(memory, (SIZE_T)bytes);
  VirtualUnlock((void *)(uintptr_t)memory, (SIZE_T)bytes);
}
#endif
