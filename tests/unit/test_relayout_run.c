/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relayout_run.c - running a plan: overlap, executors, progress and stopping, several threads, after a fork.
 *
 * What a copy must give is known from make_bench (support_relayout.h); here it is run in ways of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support_relayout.h"
#include "support_seed.h"

static pair pair_of(int32_t bits, int64_t rows, int64_t columns, const char *dst, const char *src) {
  int64_t shape[2] = {rows, columns};
  pair p = {.fill = TESELA_FILL_ZERO};
  assert_true(layout_of_digits(&p.dst, TESELA_DTYPE_NONE, bits, 2, shape, dst));
  assert_true(layout_of_digits(&p.src, TESELA_DTYPE_NONE, bits, 2, shape, src));
  return p;
}

static tesela_plan *plan_of(const pair *p, tesela_plan_options options) {
  tesela_plan *plan = NULL;
  tesela_error err = {.message = ""};
  if (tesela_plan_create(&plan, &p->dst, &p->src, &options, &err) != TESELA_OK) fail_msg("%s", err.message);
  return plan;
}

static void *memory(int64_t bytes) {
  void *m = malloc((size_t)bytes + 1);
  if (!m) fail_msg("%s", "no memory");
  return m;
}

/* ---- overlap ------------------------------------------------------------------------------------------- */

static void test_overlap_is_refused(void **state) {
  (void)state;
  pair p = pair_of(32, 20, 30, "0/8 1/8 0 1", "1 0");
  tesela_plan *plan = plan_of(&p, (tesela_plan_options){.threads = 1});
  tesela_plan_info info;
  tesela_plan_describe(plan, &info);
  int64_t dst_bytes = 24 * 32 * 4, src_bytes = 20 * 30 * 4, all = dst_bytes + 2 * src_bytes;
  assert_int_equal(info.dst_bytes, dst_bytes);
  assert_int_equal(info.src_bytes, src_bytes);
  unsigned char *buffer = memory(all);
  for (int64_t at = 0; at <= dst_bytes + src_bytes; at += at == 0 || at == src_bytes - 1 ? 1 : 2399) {
    const int64_t dst_at = src_bytes; /* src moves over it from before it to after it */
    bool apart = at + src_bytes <= dst_at || at >= dst_at + dst_bytes;
    tesela_error err = {.message = ""};
    memset(buffer, 0x3c, (size_t)all);
    tesela_status status = tesela_plan_run(plan, buffer + dst_at, buffer + at, NULL, &err);
    assert_int_equal(status, apart ? TESELA_OK : TESELA_E_INVALID);
    for (int64_t i = 0; !apart && i < all; i++) assert_int_equal(buffer[i], 0x3c);
    if (!apart) assert_true(err.message[0] != '\0');
  }
  assert_int_equal(tesela_plan_run(plan, buffer + src_bytes, buffer, NULL, NULL), TESELA_OK);
  assert_int_equal(tesela_plan_run(plan, buffer + src_bytes, buffer + 1, NULL, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_plan_run(plan, buffer, buffer + dst_bytes, NULL, NULL), TESELA_OK);
  assert_int_equal(tesela_plan_run(plan, buffer, buffer + dst_bytes - 1, NULL, NULL), TESELA_E_INVALID);
  free(buffer);
  tesela_plan_destroy(plan);
}

/* ---- one plan, several threads ------------------------------------------------------------------------- */

enum { RUNNERS = 4 };

typedef struct runner {
  const bench *b;
  const tesela_plan *plan;
  unsigned char *dst;
  bool ok;
} runner;

static void *run_often(void *argument) {
  runner *r = argument;
  r->ok = true;
  for (int i = 0; i < 8 && r->ok; i++) {
    memcpy(r->dst, r->b->before, (size_t)r->b->dst_bytes);
    r->ok = tesela_plan_run(r->plan, r->dst, r->b->data, NULL, NULL) == TESELA_OK &&
            memcmp(r->dst, r->b->expected, (size_t)r->b->dst_bytes) == 0;
  }
  return NULL;
}

static void share(const pair *p, tesela_plan_options options) {
  pthread_t thread[RUNNERS];
  runner runners[RUNNERS];
  bench b;
  assert_true(make_bench(&b, p, 5));
  tesela_plan *plan = plan_of(p, options);
  for (int i = 0; i < RUNNERS; i++) {
    runners[i] = (runner){&b, plan, memory(b.dst_bytes), false};
    assert_int_equal(pthread_create(&thread[i], NULL, run_often, &runners[i]), 0);
  }
  for (int i = 0; i < RUNNERS; i++) {
    assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_true(runners[i].ok);
    free(runners[i].dst);
  }
  tesela_plan_destroy(plan);
  free_bench(&b);
}

static void test_a_plan_is_shared(void **state) {
  (void)state;
  pair tiles = pair_of(16, 203, 300, "0/8 1/128 0/2 1 0", "1 0"),
       odd = pair_of(8, 99, 301, "0/7 1 0", "0/5 1 0");
  share(&tiles, (tesela_plan_options){.threads = 1});
  share(&tiles, (tesela_plan_options){.threads = 3, .shuffle = 12});
  share(&odd, (tesela_plan_options){.threads = 2, .solver = TESELA_SOLVER_GATHER});
}

/* A copy large enough for threads, whose planner was not told to be random. */
static void test_large_copy_by_threads(void **state) {
  (void)state;
  int64_t rows = slow_run() ? 150 : 1501;
  pair p = pair_of(32, rows, 1203, "0/8 1/128 0 1", "1 0");
  p.fill = TESELA_FILL_VALUE;
  bench b;
  char reason[REASON];
  tesela_plan_info info;
  assert_true(make_bench(&b, &p, 9));
  for (int32_t threads = 1; threads <= 5; threads++) {
    trial t = {.options = {.threads = threads}, .dst_shift = (uint8_t)(threads * 4)};
    if (!run_bench(&b, &t, &info, reason)) fail_msg("%d threads: %s", threads, reason);
    if (!slow_run()) assert_int_equal(info.threads > 1, threads > 1); /* 14 MiB are moved */
  }
  free_bench(&b);
}

/* With a bound on memory, long loops are cut into windows; what remains of them are parts of their own. */
static void test_windows(void **state) {
  (void)state;
  static const int64_t shapes[][2] = {{2100, 37}, {37, 2100}, {1024, 33}, {1025, 1027}, {65, 4096}};
  static const int32_t widths[] = {8, 32, 4, 128};
  for (int i = 0; i < (slow_run() ? 2 : 5); i++)
    for (int w = 0; w < 4; w++) {
      pair p = pair_of(widths[w], shapes[i][0], shapes[i][1], i % 2 ? "0/8 1/128 0 1" : "1 0",
                       i % 2 ? "1 0" : "0 1");
      bench b;
      assert_true(make_bench(&b, &p, 3));
      for (uint64_t seed = 0; seed < 6; seed++) {
        trial t = {.options = {.threads = 1 + (int32_t)seed % 2, .shuffle = seed / 2}, .at_end = true};
        char reason[REASON];
        t.options.memory_bytes = seed % 2 ? 1 : 1 << 20;
        if (!run_bench(&b, &t, NULL, reason))
          fail_msg("[%" PRId64 ",%" PRId64 "], %d bits: %s", shapes[i][0], shapes[i][1], widths[w], reason);
      }
      free_bench(&b);
    }
}

/* ---- stack --------------------------------------------------------------------------------------------- */

enum { PAINTED = 1 << 20, PAINT = 0x6d };

static void *run_on_painted(void *argument) {
  runner *r = argument;
  r->ok = tesela_plan_run(r->plan, r->dst, r->b->data, NULL, NULL) == TESELA_OK;
  return NULL;
}

/* Bytes of stack that a thread takes from its start to its end. */
static int64_t stack_of(void *(*body)(void *), void *argument, unsigned char *stack) {
  pthread_t thread;
  pthread_attr_t attributes;
  int64_t unused = 0;
  memset(stack, PAINT, PAINTED);
  assert_int_equal(pthread_attr_init(&attributes), 0);
  assert_int_equal(pthread_attr_setstack(&attributes, stack, PAINTED), 0);
  assert_int_equal(pthread_create(&thread, &attributes, body, argument), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  pthread_attr_destroy(&attributes);
  while (unused < PAINTED && stack[unused] == PAINT) unused++;
  return PAINTED - unused;
}

static void *run_nothing(void *argument) { return argument; }

static void check_stack(const pair *p, tesela_plan_options options, unsigned char *stack, int64_t idle) {
  bench b;
  tesela_plan_info info;
  assert_true(make_bench(&b, p, 5));
  tesela_plan *plan = plan_of(p, options);
  runner r = {&b, plan, memory(b.dst_bytes), false};
  tesela_plan_describe(plan, &info);
  int64_t used = stack_of(run_on_painted, &r, stack) - idle;
  assert_true(r.ok);
  if (used > TESELA_PLAN_STACK || (info.scratch_bytes == 0 && used > TESELA_PLAN_STACK / 2))
    fail_msg("%" PRId64 " bytes of stack; scratch_bytes is %" PRId64, used, info.scratch_bytes);
  free(r.dst);
  tesela_plan_destroy(plan);
  free_bench(&b);
}

/* What the stack needs is a promise of optimized code: other code keeps every vector of a kernel in memory, and sanitizers and
   valgrind have frames of their own. */
static void test_stack(void **state) {
  (void)state;
#ifdef __OPTIMIZE__
  const bool optimized = true;
#else
  const bool optimized = false;
#endif
  if (!optimized || slow_run()) return;
  unsigned char *stack = aligned_alloc(1 << 16, PAINTED);
  assert_non_null(stack);
  int64_t idle = stack_of(run_nothing, NULL, stack);
  pair pairs[] = {
      pair_of(16, 203, 300, "0/8 1/128 0/2 1 0", "1 0"),
      pair_of(8, 199, 301, "0/7 1 0", "0/5 1 0"),
      pair_of(4, 200, 300, "1 0", "0 1"),
      pair_of(32, 203, 301, "1 0", "0 1"),
      pair_of(32, 203, 301, "0@310 1@1 +3", "0 1"),
      pair_of(1, 203, 301, "0/8 1/128 0 1", "1 0"),
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    for (uint64_t seed = 0; seed < 40; seed++)
      check_stack(&pairs[i], (tesela_plan_options){.threads = 1, .shuffle = seed}, stack, idle);
  pairs[3].transform = TESELA_TRANSFORM_SWAP;
  for (uint64_t seed = 0; seed < 40; seed++)
    check_stack(&pairs[3],
                (tesela_plan_options){.threads = 1, .shuffle = seed, .transform = TESELA_TRANSFORM_SWAP},
                stack, idle);
  free(stack);
}

/* ---- executors ----------------------------------------------------------------------------------------- */

enum { MOST_CHUNKS = 64 };

typedef struct counting {
  int calls, most;
  int count[MOST_CHUNKS];
} counting;

static void count_chunks(void *user, int32_t n, void (*chunk)(void *data, int32_t i), void *data) {
  counting *c = user;
  c->calls++;
  if (n > c->most) c->most = n;
  assert_true(n >= 1 && n <= MOST_CHUNKS);
  for (int32_t i = n - 1; i >= 0; i--) {
    c->count[i]++;
    chunk(data, i);
  }
}

static void test_executor_gets_the_chunks(void **state) {
  (void)state;
  int64_t rows = slow_run() ? 150 : 1501;
  pair p = pair_of(32, rows, 1203, "0/8 1/128 0 1", "1 0");
  bench b;
  assert_true(make_bench(&b, &p, 9));
  tesela_plan *plan = plan_of(&p, (tesela_plan_options){.threads = 4, .shuffle = slow_run() ? 2 : 0});
  unsigned char *dst = memory(b.dst_bytes);
  memcpy(dst, b.before, (size_t)b.dst_bytes);
  counting c = {.calls = 0};
  tesela_executor executor = {count_chunks, &c};
  tesela_run_options options = {.executor = &executor};
  tesela_plan_info info;
  tesela_plan_describe(plan, &info);
  assert_int_equal(tesela_plan_run(plan, dst, b.data, &options, NULL), TESELA_OK);
  assert_memory_equal(dst, b.expected, (size_t)b.dst_bytes);
  if (info.threads > 1) {
    assert_true(c.calls >= 1);
    assert_int_equal(c.most, info.threads);
  }
  for (int i = 0; i < c.most; i++) assert_int_equal(c.count[i], c.calls);
  free(dst);
  tesela_plan_destroy(plan);
  free_bench(&b);
}

typedef struct one_chunk {
  void (*chunk)(void *data, int32_t i);
  void *data;
  int32_t i;
} one_chunk;

static void *run_chunk(void *argument) {
  one_chunk *c = argument;
  c->chunk(c->data, c->i);
  return NULL;
}

/* Every chunk on a thread of its own, none on the caller's. */
static void run_elsewhere(void *user, int32_t n, void (*chunk)(void *data, int32_t i), void *data) {
  pthread_t thread[MOST_CHUNKS];
  one_chunk chunks[MOST_CHUNKS];
  (void)user;
  for (int32_t i = 0; i < n; i++) {
    chunks[i] = (one_chunk){chunk, data, i};
    if (pthread_create(&thread[i], NULL, run_chunk, &chunks[i]) != 0) abort();
  }
  for (int32_t i = 0; i < n; i++) pthread_join(thread[i], NULL);
}

/* ---- progress ------------------------------------------------------------------------------------------ */

typedef struct watch {
  pthread_t caller;
  int calls, stop_at; /* the call that asks to stop; 0: none */
  int64_t done, total;
  const char *wrong;
} watch;

static int on_progress(void *user, int64_t done, int64_t total) {
  watch *w = user;
  if (!pthread_equal(w->caller, pthread_self())) w->wrong = "called from another thread";
  if (w->calls > 0 && done < w->done) w->wrong = "goes back";
  if (w->calls > 0 && total != w->total) w->wrong = "another total";
  if (done < 0 || done > total) w->wrong = "more than all";
  if (w->stop_at > 0 && w->calls >= w->stop_at) w->wrong = "called again after it asked to stop";
  w->done = done;
  w->total = total;
  return ++w->calls == w->stop_at;
}

/* Copies more and more until progress is called; then asks to stop. */
static void watch_copies(tesela_plan_options options, bool elsewhere) {
  tesela_executor executor = {run_elsewhere, NULL};
  for (int64_t rows = 2048;; rows *= 2) {
    pair p = pair_of(8, rows, 4099, "1 0", "0 1");
    tesela_plan *plan = plan_of(&p, options);
    unsigned char *dst = memory(rows * 4099), *src = memory(rows * 4099);
    watch w = {.caller = pthread_self()};
    tesela_run_options how = {
        .executor = elsewhere ? &executor : NULL, .progress = on_progress, .progress_user = &w};
    memset(src, 7, (size_t)(rows * 4099));
    assert_int_equal(tesela_plan_run(plan, dst, src, &how, NULL), TESELA_OK);
    if (w.wrong) fail_msg("progress: %s", w.wrong);
    for (int64_t i = 0; i < rows * 4099; i += 4093) assert_int_equal(dst[i], 7);
    bool called = w.calls > 0;
    if (called) {
      w = (watch){.caller = pthread_self(), .stop_at = 1};
      tesela_error err = {.message = ""};
      tesela_status status = tesela_plan_run(plan, dst, src, &how, &err);
      if (w.wrong) fail_msg("progress: %s", w.wrong);
      assert_int_equal(status, w.calls > 0 ? TESELA_E_STOPPED : TESELA_OK);
      if (w.calls > 0) assert_true(err.message[0] != '\0');
    }
    free(dst);
    free(src);
    tesela_plan_destroy(plan);
    if (called || elsewhere) return;
    if (rows > 1 << 16) fail_msg("%s", "256 MiB are copied and progress is never called");
  }
}

static void test_progress(void **state) {
  (void)state;
  if (slow_run()) return; /* how often progress is called depends on time */
  watch_copies((tesela_plan_options){.threads = 1, .solver = TESELA_SOLVER_STRIDED}, false);
  watch_copies((tesela_plan_options){.threads = 1}, false);
  watch_copies((tesela_plan_options){.threads = 2, .solver = TESELA_SOLVER_STRIDED}, false);
  watch_copies((tesela_plan_options){.threads = 2, .solver = TESELA_SOLVER_STRIDED}, true);
  watch_copies((tesela_plan_options){.solver = TESELA_SOLVER_GATHER}, false);
}

/* ---- a process that forks ------------------------------------------------------------------------------ */

static void test_forked_child(void **state) {
  (void)state;
  pair p = pair_of(16, 203, 300, "0/8 1/128 0/2 1 0", "1 0");
  bench b;
  assert_true(make_bench(&b, &p, 5));
  tesela_plan *plan = plan_of(&p, (tesela_plan_options){.threads = 4, .shuffle = 3});
  unsigned char *dst = memory(b.dst_bytes);
  runner here = {&b, plan, dst, false};
  (void)run_often(&here);
  assert_true(here.ok);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    (void)run_often(&here);
    _exit(here.ok ? 0 : 1);
  }
  (void)run_often(&here);
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(here.ok && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  free(dst);
  tesela_plan_destroy(plan);
  free_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_overlap_is_refused),
      cmocka_unit_test(test_a_plan_is_shared),
      cmocka_unit_test(test_large_copy_by_threads),
      cmocka_unit_test(test_executor_gets_the_chunks),
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_stack),
      cmocka_unit_test(test_progress),
      cmocka_unit_test(test_forked_child),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
