/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race.c - contestants in turn, the two yardsticks, and the buffers they share.
 */
#include "race.h"

#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>

#include "nt_copy.h"
#include "timing.h"

enum {
  RACE_MOST_THREADS = 64,
  RACE_TURN_NS = 1000 * 1000,
  RACE_WARM_NS = 4 * RACE_TURN_NS,
  RACE_LEAST_SPLIT = 4 << 20
};

void race_fail(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  exit(1);
}

/* ---- timing ---------------------------------------------------------------------------------------------------- */

double race_median(const double *values, int n) {
  double sorted[RACE_MOST_ROUNDS];
  memcpy(sorted, values, (size_t)n * sizeof *values);
  qsort(sorted, (size_t)n, sizeof *sorted, bench_order);
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static clockid_t race_clock = CLOCK_MONOTONIC;

void race_by_processor(void) { race_clock = CLOCK_THREAD_CPUTIME_ID; }

static double race_now(void) {
  struct timespec t;
  clock_gettime(race_clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double turn(const racer *r, int repeat) {
  double start = race_now();
  for (int i = 0; i < repeat; i++) r->run(r->data);
  return (race_now() - start) / repeat;
}

void race(racer **racers, int n, int rounds) {
  int repeat[BENCH_MOST];
  bool warms[BENCH_MOST];
  if (n > BENCH_MOST || rounds > RACE_MOST_ROUNDS || rounds < 1) race_fail("race: too many rounds or racers");
  for (int i = 0; i < n; i++) {
    double once = turn(racers[i], 1);
    if (once < RACE_TURN_NS) once = turn(racers[i], 8); /* what it costs once the data is near */
    warms[i] = once < RACE_WARM_NS;
    repeat[i] = once < RACE_TURN_NS ? (int)(RACE_TURN_NS / (once + 1)) + 1 : 1;
  }
  for (int r = 0; r < rounds; r++)
    for (int i = 0; i < n; i++) {
      if (warms[i]) turn(racers[i], 1);
      racers[i]->ns[r] = turn(racers[i], repeat[i]);
    }
}

double race_ns(const racer *a, int rounds) { return race_median(a->ns, rounds); }

double race_gbs(const racer *a, int rounds) { return a->bytes / race_ns(a, rounds); }

double race_ratio(const racer *a, const racer *b, int rounds) {
  double ratio[RACE_MOST_ROUNDS];
  for (int r = 0; r < rounds; r++) ratio[r] = (a->bytes / a->ns[r]) / (b->bytes / b->ns[r]);
  return race_median(ratio, rounds);
}

/* ---- the yardsticks -------------------------------------------------------------------------------------------- */

typedef struct race_chunk {
  unsigned char *dst;
  const unsigned char *src;
  size_t bytes;
} race_chunk;

static void *memcpy_chunk(void *data) {
  race_chunk *c = data;
  memcpy(c->dst, c->src, c->bytes);
  return NULL;
}

static void *nt_copy_chunk(void *data) {
  race_chunk *c = data;
  nt_copy(c->dst, c->src, c->bytes);
  return NULL;
}

/* The last chunk is the caller's own, and little is not split at all, as in a run of a plan. */
static void in_chunks(const race_copy *copy, void *(*work)(void *)) {
  pthread_t thread[RACE_MOST_THREADS];
  race_chunk chunk[RACE_MOST_THREADS];
  int n = copy->bytes < RACE_LEAST_SPLIT ? 1 : copy->threads;
  size_t each = copy->bytes / (size_t)n & ~(size_t)4095;
  for (int i = 0; i < n; i++) {
    size_t first = (size_t)i * each;
    chunk[i] = (race_chunk){copy->dst + first, copy->src + first, i == n - 1 ? copy->bytes - first : each};
    if (i < n - 1 && pthread_create(&thread[i], NULL, work, &chunk[i])) race_fail("no thread to be had");
  }
  work(&chunk[n - 1]);
  for (int i = 0; i < n - 1; i++) pthread_join(thread[i], NULL);
}

void race_memcpy(void *copy) { in_chunks(copy, memcpy_chunk); }

void race_nt_copy(void *copy) { in_chunks(copy, nt_copy_chunk); }

void race_run_plan(void *plan) {
  race_plan *p = plan;
  tesela_error err;
  if (tesela_plan_run(p->plan, p->dst, p->src, NULL, &err) != TESELA_OK) race_fail("run: %s", err.message);
}

/* ---- buffers --------------------------------------------------------------------------------------------------- */

void *race_buffer(size_t bytes) {
  void *buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (buffer == MAP_FAILED) race_fail("no memory for a buffer of %zu bytes", bytes);
#ifdef MADV_HUGEPAGE
  madvise(buffer, bytes, MADV_HUGEPAGE);
#endif
  memset(buffer, 1, bytes); /* a value other than 0, so that no page is shared */
  return buffer;
}

void race_fill(void *buffer, size_t bytes) {
  uint64_t state = 0x9e3779b97f4a7c15u;
  unsigned char *at = buffer;
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    memcpy(at + i, &state, 8);
  }
}

/* ---- the line of a plan ---------------------------------------------------------------------------------------- */

const char *race_plan_line(const tesela_plan *plan) {
  static char line[256];
  tesela_buffer buffer = {line, sizeof line, 0};
  tesela_writer writer = tesela_buffer_writer(&buffer);
  line[0] = '\0';
  tesela_plan_print(plan, &writer, NULL);
  line[strcspn(line, "\n")] = '\0';
  return line;
}
