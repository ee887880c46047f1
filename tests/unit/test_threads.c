/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_threads.c - chunks on threads: each runs once, whoever runs it, and nothing outlives the call.
 *
 * What changes the process (affinity, limits, user) happens in a child.
 */
#define _GNU_SOURCE 1 /* sched_setaffinity */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "relayout/plan.h"

enum { MOST = 3000 };

/* ---- counting --------------------------------------------------------------------------------------------- */

typedef struct tally {
  atomic_int ran[MOST];
  int plain[MOST];    /* written without atomics: what is read after the call must be ordered by it */
  atomic_int outside; /* chunks with an invalid number */
  pthread_t caller;
  atomic_int first_elsewhere; /* chunk 0 ran on another thread */
  int n;
} tally;

static tally *new_tally(int n) {
  tally *t = calloc(1, sizeof *t);
  assert_non_null(t);
  t->n = n;
  t->caller = pthread_self();
  return t;
}

static void count_chunk(void *data, int32_t i) {
  tally *t = data;
  if (i < 0 || i >= t->n) {
    atomic_fetch_add(&t->outside, 1);
    return;
  }
  atomic_fetch_add(&t->ran[i], 1);
  t->plain[i] = i + 1;
  if (i == 0 && !pthread_equal(pthread_self(), t->caller)) atomic_store(&t->first_elsewhere, 1);
}

/* Did each chunk run once? No assertion, so that a child can ask as well. */
static bool each_ran_once(const tally *t) {
  for (int i = 0; i < t->n; i++)
    if (atomic_load(&t->ran[i]) != 1 || t->plain[i] != i + 1) return false;
  return atomic_load(&t->outside) == 0;
}

static void each_chunk_runs_once(void **state) {
  (void)state;
  static const int many[] = {100, 1023, 1024, 1025, MOST};
  for (int k = 0; k <= 64 + (int)(sizeof many / sizeof many[0]); k++) {
    int n = k <= 64 ? k : many[k - 65];
    tally *t = new_tally(n);
    tesela__run_chunks(NULL, n, count_chunk, t);
    if (!each_ran_once(t)) fail_msg("%d chunks: not each ran once", n);
    assert_int_equal(atomic_load(&t->first_elsewhere), 0);
    free(t);
  }
}

/* ---- executors -------------------------------------------------------------------------------------------- */

static int executor_calls;

static void run_backwards(void *user, int32_t n, void (*chunk)(void *data, int32_t i), void *data) {
  assert_ptr_equal(user, &executor_calls);
  executor_calls++;
  for (int32_t i = n - 1; i >= 0; i--) chunk(data, i);
}

typedef struct pool_job {
  void (*chunk)(void *data, int32_t i);
  void *data;
  int32_t first, n;
} pool_job;

static void *pool_thread(void *argument) {
  const pool_job *job = argument;
  for (int32_t i = job->first; i < job->n; i += 3) job->chunk(job->data, i);
  return NULL;
}

/* Three threads of the program's own take every third chunk. */
static void run_on_pool(void *user, int32_t n, void (*chunk)(void *data, int32_t i), void *data) {
  pthread_t thread[3];
  pool_job job[3];
  (void)user;
  for (int k = 0; k < 3; k++) {
    job[k] = (pool_job){chunk, data, k, n};
    assert_int_equal(pthread_create(&thread[k], NULL, pool_thread, &job[k]), 0);
  }
  for (int k = 0; k < 3; k++) assert_int_equal(pthread_join(thread[k], NULL), 0);
}

static void executors_run_the_chunks(void **state) {
  (void)state;
  const tesela_executor backwards = {run_backwards, &executor_calls}, pool = {run_on_pool, NULL};
  for (int n = 1; n <= 64; n++) {
    tally *a = new_tally(n), *b = new_tally(n);
    executor_calls = 0;
    tesela__run_chunks(&backwards, n, count_chunk, a);
    assert_int_equal(executor_calls, n > 1); /* one chunk needs no other thread */
    tesela__run_chunks(&pool, n, count_chunk, b);
    if (!each_ran_once(a) || !each_ran_once(b)) fail_msg("%d chunks: not each ran once", n);
    free(a);
    free(b);
  }
}

/* ---- signals ---------------------------------------------------------------------------------------------- */

typedef struct signal_look {
  pthread_t caller;
  atomic_int looked; /* chunks that ran on a thread that was started */
  atomic_int wrong, ended;
  sigset_t before; /* of the caller */
} signal_look;

static void look_at_signals(void *data, int32_t i) {
  signal_look *look = data;
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  if (pthread_equal(pthread_self(), look->caller)) {
    bool same = sigismember(&now, SIGUSR1) == sigismember(&look->before, SIGUSR1) &&
                sigismember(&now, SIGTERM) == sigismember(&look->before, SIGTERM);
    if (!same) atomic_fetch_add(&look->wrong, 1);
    for (int wait = 0; i == 0 && wait < 10000 && atomic_load(&look->looked) == 0; wait++)
      nanosleep(&(struct timespec){0, 1000000}, NULL); /* leave the others something to do */
    return;
  }
  static const int blocked[] = {SIGUSR1, SIGTERM, SIGINT, SIGALRM, SIGCHLD},
                   open[] = {SIGBUS, SIGSEGV, SIGFPE};
  for (size_t k = 0; k < sizeof blocked / sizeof blocked[0]; k++)
    if (!sigismember(&now, blocked[k])) atomic_fetch_add(&look->wrong, 1);
  for (size_t k = 0; k < sizeof open / sizeof open[0]; k++)
    if (sigismember(&now, open[k])) atomic_fetch_add(&look->wrong, 1);
  atomic_fetch_add(&look->looked, 1);
  nanosleep(&(struct timespec){0, 20000000}, NULL); /* the caller is done by now, and must wait */
  atomic_fetch_add(&look->ended, 1);
}

static void signals_go_to_the_program(void **state) {
  (void)state;
  signal_look look = {.caller = pthread_self()};
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, NULL, &look.before);
  assert_false(sigismember(&look.before, SIGUSR1));
  tesela__run_chunks(NULL, 4, look_at_signals, &look);
  assert_true(atomic_load(&look.looked) > 0);
  assert_int_equal(atomic_load(&look.ended), atomic_load(&look.looked));
  assert_int_equal(atomic_load(&look.wrong), 0);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  for (int s = 1; s <= SIGSYS; s++) assert_int_equal(sigismember(&after, s), sigismember(&look.before, s));
}

/* ---- in a child ------------------------------------------------------------------------------------------- */

enum { CHILD_FINE, CHILD_WRONG, CHILD_CANNOT = 77 };

/* What the child returns; it leaves no output, not even a report of the test framework. */
static int in_child(int (*body)(void)) {
  int status;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) _exit(body());
  assert_int_equal(waitpid(child, &status, 0), child);
  if (!WIFEXITED(status)) fail_msg("the child ended by signal %d", WTERMSIG(status));
  return WEXITSTATUS(status);
}

static int child_runs_chunks(void) {
  tally *t = new_tally(64);
  tesela__run_chunks(NULL, 64, count_chunk, t);
  bool fine = each_ran_once(t);
  free(t);
  return fine ? CHILD_FINE : CHILD_WRONG;
}

static void a_forked_child_runs_chunks(void **state) {
  (void)state;
  assert_int_equal(in_child(child_runs_chunks), CHILD_FINE);
  assert_int_equal(child_runs_chunks(), CHILD_FINE); /* and the parent, having forked */
  assert_int_equal(in_child(child_runs_chunks), CHILD_FINE);
}

static void *do_nothing(void *argument) { return argument; }

/* A user without the right to more processes; threads count as such. */
static int child_without_threads(void) {
  pthread_t probe;
  if (geteuid() == 0 && setuid(65534) != 0) return CHILD_CANNOT;
  if (setrlimit(RLIMIT_NPROC, &(struct rlimit){0, 0}) != 0) return CHILD_CANNOT;
  if (pthread_create(&probe, NULL, do_nothing, NULL) == 0) {
    pthread_join(probe, NULL);
    return CHILD_CANNOT;
  }
  return child_runs_chunks();
}

static void the_caller_runs_what_no_thread_could_be_had_for(void **state) {
  (void)state;
  int result = in_child(child_without_threads);
  if (result == CHILD_CANNOT) skip();
  assert_int_equal(result, CHILD_FINE);
}

/* ---- the machine ------------------------------------------------------------------------------------------ */

static int child_on_one_cpu(void) {
#ifdef CPU_COUNT
  cpu_set_t all, one;
  size_t cpu = 0;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return CHILD_CANNOT;
  while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &all)) cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) return CHILD_CANNOT;
  if (tesela__cpu_count() != 1) return CHILD_WRONG;
  (void)sched_setaffinity(0, sizeof all, &all);
  return tesela__cpu_count() == 1 ? CHILD_FINE : CHILD_WRONG; /* asked once */
#else
  return CHILD_CANNOT;
#endif
}

/* Before any test that asks, since the answer is kept. */
static void cpus_are_those_the_process_may_use(void **state) {
  (void)state;
  int result = in_child(child_on_one_cpu);
  if (result == CHILD_CANNOT) skip();
  assert_int_equal(result, CHILD_FINE);
#ifdef CPU_COUNT
  cpu_set_t set;
  assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
  assert_int_equal(tesela__cpu_count(), CPU_COUNT(&set));
#endif
}

/* Linux's list says "32768K"; without a list sysconf, and without that a guess. */
static int64_t listed_cache(int level) {
  int64_t bytes = 0;
  int last = 2;
  for (int i = 0; i < 16; i++) {
    char path[100], type[20] = "";
    int of = 0;
    long kib = 0;
    static const char *const names[] = {"level", "type", "size"};
    for (int k = 0; k < 3; k++) {
      snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", i, names[k]);
      FILE *file = fopen(path, "r");
      if (!file) continue;
      const int read = k == 0   ? fscanf(file, "%d", &of)
                       : k == 1 ? fscanf(file, "%19s", type)
                                : fscanf(file, "%ldK", &kib);
      fclose(file);
      if (read != 1) kib = 0;
    }
    if (kib > 0 && type[0] != 'I' && (level == 2 ? of == 2 : of >= last)) {
      bytes = (int64_t)kib * 1024;
      if (level == 3) last = of;
    }
  }
  return bytes;
}

static void the_cache_is_what_the_system_says(void **state) {
  (void)state;
  for (int level = 2; level <= 3; level++) {
    int64_t bytes = listed_cache(level);
#ifdef _SC_LEVEL3_CACHE_SIZE
    if (bytes <= 0) bytes = sysconf(level == 2 ? _SC_LEVEL2_CACHE_SIZE : _SC_LEVEL3_CACHE_SIZE);
#endif
    if (bytes <= 0) bytes = level == 2 ? 1 << 20 : 16 << 20;
    assert_true(tesela__cache_bytes(level) == bytes);
    assert_true(tesela__cache_bytes(level) == bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cpus_are_those_the_process_may_use),
      cmocka_unit_test(the_cache_is_what_the_system_says),
      cmocka_unit_test(each_chunk_runs_once),
      cmocka_unit_test(executors_run_the_chunks),
      cmocka_unit_test(signals_go_to_the_program),
      cmocka_unit_test(a_forked_child_runs_chunks),
      cmocka_unit_test(the_caller_runs_what_no_thread_could_be_had_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
