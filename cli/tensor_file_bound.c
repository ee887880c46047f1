/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file_bound.c - keep the mapped pages of two files that are copied within a bound.
 */
#include "tensor_file_bound.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tensor_file_map.h"

#define LOOK_NS 500000

/* Bytes of the process in memory, the second number of statm in pages; -1 if it does not say. */
static int64_t resident(int statm) {
  char text[128];
  ssize_t n = statm >= 0 ? pread(statm, text, sizeof text - 1, 0) : -1;
  if (n <= 0) return -1;
  text[n] = '\0';
  char *end;
  strtoll(text, &end, 10);
  return strtoll(end, NULL, 10) * sysconf(_SC_PAGESIZE);
}

static void look(const tensor_bound *bound) {
  int64_t now = resident(bound->statm);
  if (now >= 0 && now - bound->resident_before <= bound->bytes / 2) return;
  tensor_drop_pages(bound->in, bound->in_bytes, false);
  tensor_drop_pages(bound->out, bound->out_bytes, true);
}

static void *keep(void *data) {
  tensor_bound *bound = data;
  const struct timespec pause = {0, LOOK_NS};
  while (!atomic_load(&bound->ended)) {
    look(bound);
    nanosleep(&pause, NULL);
  }
  return NULL;
}

/* ---- chunks -------------------------------------------------------------------------------------------- */

typedef struct chunk_run {
  const tensor_bound *bound;
  int32_t n;
  void (*chunk)(void *data, int32_t i);
  void *data;
  atomic_int next; /* the first chunk that nobody has taken */
} chunk_run;

static void *take(void *data) {
  chunk_run *run = data;
  for (int32_t i; (i = atomic_fetch_add(&run->next, 1)) < run->n;) {
    run->chunk(run->data, i);
    look(run->bound);
  }
  return NULL;
}

void tensor_bound_run(void *user, int32_t n, void (*chunk)(void *data, int32_t i), void *data) {
  enum { MOST = 64 };
  const tensor_bound *bound = user;
  chunk_run run = {bound, n, chunk, data, 0};
  pthread_t thread[MOST];
  int32_t started = 0;
  sigset_t stops, before;
  sigfillset(&stops); /* signals are for the main thread, but for those of a mapped file */
  sigdelset(&stops, SIGBUS);
  sigdelset(&stops, SIGSEGV);
  pthread_sigmask(SIG_SETMASK, &stops, &before);
  while (started < MOST && started < bound->threads - 1 &&
         pthread_create(&thread[started], NULL, take, &run) == 0)
    started++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  take(&run);
  for (int32_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
}

/* ---- begin, end ---------------------------------------------------------------------------------------- */

bool tensor_bound_begin(tensor_bound *bound, int64_t bytes, const void *in, int64_t in_bytes, const void *out,
                        int64_t out_bytes) {
  *bound = (tensor_bound){
      .bytes = bytes, .in = in, .in_bytes = in_bytes, .out = out, .out_bytes = out_bytes, .statm = -1};
  if (bytes == 0) return true;
  bound->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  bound->resident_before = resident(bound->statm);
  sigset_t all, before;
  sigfillset(&all); /* signals are for the main thread */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bound->runs = pthread_create(&bound->thread, NULL, keep, bound) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!bound->runs && bound->statm >= 0) close(bound->statm);
  return bound->runs;
}

void tensor_bound_end(tensor_bound *bound) {
  if (!bound->runs) return;
  atomic_store(&bound->ended, true);
  pthread_join(bound->thread, NULL);
  if (bound->statm >= 0) close(bound->statm);
  bound->runs = false;
}
