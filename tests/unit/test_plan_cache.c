/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_plan_cache.c - the cache of plans: what is found, what is dropped, who owns what, and threads.
 *
 * Expected hits come from a list kept by the test, in the order of last use. TESELA_SEED sets the seed.
 */
#include <stdatomic.h>

#include "base/os.h"
#include "support_fault.h"
#include "support_xla.h"
#include "support_seed.h"

/* ---- questions -------------------------------------------------------------------------------------------- */

typedef struct question {
  tesela_layout dst, src;
  tesela_plan_options options;
} question;

static tesela_layout strided(int32_t bits, int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride,
                             int64_t offset) {
  tesela_layout layout;
  const int64_t shape[] = {rows, cols}, strides[] = {row_stride, col_stride};
  OK(tesela_layout_strided(&layout, TESELA_DTYPE_NONE, bits, 2, shape, strides, offset, &e_));
  return layout;
}

/* Transpose rows x (rows + 1) elements of 32 bits; another size for another question. */
static question numbered(int n) {
  int64_t rows = n + 1, cols = n + 2;
  return (question){.dst = strided(32, rows, cols, 1, rows, 0), .src = strided(32, rows, cols, cols, 1, 0)};
}

static tesela_plan *get(tesela_plan_cache *cache, const question *q) {
  tesela_plan *plan = NULL;
  OK(tesela_plan_cache_get(cache, &plan, &q->dst, &q->src, &q->options, &e_));
  assert_non_null(plan);
  return plan;
}

static tesela_plan_cache *new_cache(int32_t capacity, const tesela_allocator *allocator) {
  tesela_plan_cache *cache = NULL;
  OK(tesela_plan_cache_create(&cache, capacity, allocator, &e_));
  assert_non_null(cache);
  return cache;
}

static void check_count(tesela_plan_cache *cache, int64_t hits, int64_t misses) {
  int64_t h, m;
  tesela_plan_cache_count(cache, &h, &m);
  AGREE("hits", h, hits);
  AGREE("misses", m, misses);
}

/* Does the plan copy what the question says? By one element: (0, 1), and the places of the two sides. */
static void check_runs(const tesela_plan *plan, const question *q) {
  int64_t index[] = {0, 1}, to, from;
  tesela_plan_info info;
  tesela_plan_describe(plan, &info);
  unsigned char *dst = calloc(1, (size_t)info.dst_bytes), *src = calloc(1, (size_t)info.src_bytes);
  assert_true(dst && src);
  OK(tesela_layout_place_of(&q->dst, index, &to, &e_));
  OK(tesela_layout_place_of(&q->src, index, &from, &e_));
  memcpy(src + from * 4, "kept", 4);
  OK(tesela_plan_run(plan, dst, src, NULL, &e_));
  assert_memory_equal(dst + to * 4, "kept", 4);
  free(dst);
  free(src);
}

/* ---- finding ---------------------------------------------------------------------------------------------- */

static void a_hit_is_the_same_plan(void **state) {
  (void)state;
  tesela_plan_cache *cache = new_cache(4, NULL);
  question q = numbered(5), again = numbered(5);
  tesela_plan *first = get(cache, &q), *second = get(cache, &again), *third = NULL;
  assert_ptr_equal(first, second);
  OK(tesela_plan_cache_get(cache, &third, &q.dst, &q.src, NULL, &e_)); /* NULL and zeros ask for the same */
  assert_ptr_equal(first, third);
  check_count(cache, 2, 1);
  tesela_plan_cache_count(cache, NULL, NULL);
  check_runs(first, &q);
  tesela_plan_destroy(first);
  tesela_plan_destroy(second);
  check_runs(third, &q);
  tesela_plan_destroy(third);
  third = get(cache, &q); /* the cache has it still */
  check_runs(third, &q);
  check_count(cache, 3, 1);
  tesela_plan_destroy(third);
  tesela_plan_cache_destroy(cache);
}

/* f32[4,6] with the rows split by 2, the rows of tiles `pitch` places apart. */
static tesela_layout split_rows(int64_t pitch) {
  tesela_layout layout;
  const int64_t shape[] = {4, 6};
  int32_t lo, axis;
  OK(tesela_layout_begin(&layout, TESELA_DTYPE_NONE, 32, 2, shape, &e_));
  OK(tesela_layout_split(&layout, 0, 2, &lo, &e_));
  OK(tesela_layout_add_axis(&layout, "memory", &axis, &e_));
  OK(tesela_layout_place(&layout, 0, axis, pitch, &e_));
  OK(tesela_layout_place(&layout, lo, axis, 1, &e_));
  OK(tesela_layout_place(&layout, 1, axis, 2, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  return layout;
}

/* The dims joined and split by `t`; row-major as a whole. */
static tesela_layout joined(int64_t t) {
  tesela_layout layout;
  const int64_t shape[] = {4, 6};
  const int32_t dims[] = {0, 1};
  int32_t both, lo, axis;
  OK(tesela_layout_begin(&layout, TESELA_DTYPE_NONE, 32, 2, shape, &e_));
  OK(tesela_layout_join(&layout, 2, dims, &both, &e_));
  OK(tesela_layout_split(&layout, both, t, &lo, &e_));
  OK(tesela_layout_add_axis(&layout, "memory", &axis, &e_));
  OK(tesela_layout_place_row_major(&layout, 2, (const int32_t[]){both, lo}, axis, 1, NULL, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  return layout;
}

/* 4x6 row-major from `offset` on, of `extent` places, and with a swizzle if shift is not 0. */
static tesela_layout with_axis(int64_t offset, int64_t extent, int16_t shift) {
  tesela_layout layout;
  const int64_t shape[] = {4, 6};
  int32_t axis;
  OK(tesela_layout_begin(&layout, TESELA_DTYPE_NONE, 32, 2, shape, &e_));
  OK(tesela_layout_add_axis(&layout, "memory", &axis, &e_));
  OK(tesela_layout_place_row_major(&layout, 2, (const int32_t[]){0, 1}, axis, 1, NULL, &e_));
  OK(tesela_layout_set_axis(&layout, axis, offset, extent, &e_));
  if (shift) OK(tesela_layout_add_swizzle(&layout, (tesela_swizzle){(int16_t)axis, 1, 0, shift}, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  return layout;
}

/* Questions about 4x6 elements; no two are the same. Returns how many. */
static int all_different(question *q) {
  question base = {.dst = strided(32, 4, 6, 1, 4, 0), .src = strided(32, 4, 6, 6, 1, 0)};
  int n = 0;
  q[n++] = base;
  q[n++] = (question){.dst = base.src, .src = base.dst};
  q[n++] = (question){.dst = base.src, .src = base.src};
  q[n++] = (question){.dst = strided(32, 3, 8, 1, 3, 0), .src = strided(32, 3, 8, 8, 1, 0)};
  q[n++] = (question){.dst = strided(16, 4, 6, 1, 4, 0), .src = strided(16, 4, 6, 6, 1, 0)};
  const tesela_layout other[] = {
      strided(32, 4, 6, 1, 5, 0),
      strided(32, 4, 6, 1, 4, 1),
      strided(32, 4, 6, 8, 1, 0),
      split_rows(12),
      split_rows(16),
      joined(8),
      joined(4),
      with_axis(0, 32, 0),
      with_axis(0, 33, 0),
      with_axis(1, 33, 0),
      with_axis(0, 32, 2),
      with_axis(0, 32, -2),
  };
  for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
    q[n++] = (question){.dst = other[i], .src = base.src};
    q[n++] = (question){.dst = base.dst, .src = other[i]};
  }
  q[n] = base;
  q[n].dst.dtype = q[n].src.dtype = TESELA_F32;
  n++;
#define OPTION(field, value) (q[n] = base, q[n].options.field = (value), n++)
  OPTION(fill, TESELA_FILL_LEAVE);
  OPTION(fill, TESELA_FILL_VALUE);
  for (int byte = 0; byte < 4; byte++) {
    OPTION(fill, TESELA_FILL_VALUE);
    q[n - 1].options.fill_value[byte] = 1;
  }
  OPTION(threads, 1);
  OPTION(threads, 2);
  OPTION(isa, TESELA_ISA_C);
  OPTION(solver, TESELA_SOLVER_GATHER);
  OPTION(memory_bytes, INT64_C(1) << 40);
  OPTION(memory_bytes, 1 << 20);
  OPTION(shuffle, 1);
  OPTION(shuffle, UINT64_C(1) << 63);
#undef OPTION
  q[n] = q[0];
  q[n].dst.dtype = q[n].src.dtype = TESELA_S32;
  q[n].options.transform = TESELA_TRANSFORM_SWAP;
  n++;
  return n;
}

static void no_two_questions_share_a_plan(void **state) {
  (void)state;
  static question q[80];
  static tesela_plan *plan[80];
  tesela_plan_cache *cache = new_cache(80, NULL);
  int n = all_different(q);
  assert_true(n <= 80);
  for (int i = 0; i < n; i++) plan[i] = get(cache, &q[i]);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      if (plan[i] == plan[k]) fail_msg("questions %d and %d got one plan", k, i);
  check_count(cache, 0, n);
  for (int i = 0; i < n; i++) {
    tesela_plan *again = get(cache, &q[i]);
    if (again != plan[i]) fail_msg("question %d got another plan when asked again", i);
    tesela_plan_destroy(again);
    tesela_plan_destroy(plan[i]);
  }
  check_count(cache, n, n);
  tesela_plan_cache_destroy(cache);
}

/* What a layout does not use may hold anything. */
static void unused_parts_do_not_count(void **state) {
  (void)state;
  tesela_plan_cache *cache = new_cache(4, NULL);
  question q = {.dst = with_axis(0, 32, 2), .src = strided(32, 4, 6, 6, 1, 0)}, other;
  memset(&other, 0xa5, sizeof other);
  const tesela_layout *from[] = {&q.dst, &q.src};
  tesela_layout *to[] = {&other.dst, &other.src};
  for (int side = 0; side < 2; side++) {
    tesela_layout kept = *from[side];
    tesela_layout *l = to[side];
    memset(&kept.shape[kept.rank], 0xa5, sizeof kept.shape - (size_t)kept.rank * sizeof kept.shape[0]);
    memset(&kept.join[kept.n_joins], 0xa5, sizeof kept.join - (size_t)kept.n_joins * sizeof kept.join[0]);
    memset(&kept.axis[kept.n_axes], 0xa5, sizeof kept.axis - (size_t)kept.n_axes * sizeof kept.axis[0]);
    memset(&kept.swizzle.image[kept.swizzle.n], 0xa5,
           sizeof kept.swizzle.image - (size_t)kept.swizzle.n * sizeof kept.swizzle.image[0]);
    memset(&kept.digit[kept.n_digits], 0xa5,
           sizeof kept.digit - (size_t)kept.n_digits * sizeof kept.digit[0]);
    *l = kept;
  }
  other.options = (tesela_plan_options){0};
  memset(other.options.fill_value, 0xa5, sizeof other.options.fill_value); /* zeros are filled */
  tesela_plan *a = get(cache, &q), *b = get(cache, &other);
  assert_ptr_equal(a, b);
  tesela_plan_destroy(a);
  tesela_plan_destroy(b);
  q.options.fill = other.options.fill = TESELA_FILL_VALUE;
  memcpy(other.options.fill_value, q.options.fill_value,
         4); /* the bytes after the element are not part of it */
  a = get(cache, &q);
  b = get(cache, &other);
  assert_ptr_equal(a, b);
  tesela_plan_destroy(a);
  tesela_plan_destroy(b);
  check_count(cache, 2, 2);
  tesela_plan_cache_destroy(cache);
}

/* ---- dropping --------------------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *x) { /* splitmix64 */
  uint64_t z = *x += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* Numbers of questions, the one used last first. */
typedef struct model {
  int n, capacity, number[64];
} model;

static bool model_use(model *m, int number) {
  int at = 0;
  while (at < m->n && m->number[at] != number) at++;
  bool hit = at < m->n;
  if (!hit) at = m->n < m->capacity ? m->n++ : m->n - 1;
  memmove(&m->number[1], &m->number[0], (size_t)at * sizeof m->number[0]);
  m->number[0] = number;
  return hit;
}

static void the_one_not_used_for_the_longest_time_goes(void **state) {
  (void)state;
  enum { KEYS = 40, STEPS = 3000 };
  static question q[KEYS];
  uint64_t random = first_seed();
  for (int i = 0; i < KEYS; i++) q[i] = numbered(i);
  for (int capacity = 1; capacity <= 33; capacity = capacity * 2 - (capacity > 2)) {
    model m = {.capacity = capacity};
    fault f = {.countdown = -1};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_plan_cache *cache = new_cache(capacity, &allocator);
    int64_t hits = 0;
    for (int step = 0; step < STEPS; step++) {
      /* few keys often, many now and then */
      int range = next_random(&random) % 4 == 0 ? KEYS : capacity + 1;
      int number = (int)(next_random(&random) % (uint64_t)(range < KEYS ? range : KEYS));
      hits += model_use(&m, number);
      tesela_plan *plan = get(cache, &q[number]);
      tesela_plan_destroy(plan);
      int64_t h, misses;
      tesela_plan_cache_count(cache, &h, &misses);
      if (h != hits || misses != step + 1 - hits)
        fail_msg("capacity %d, seed %" PRIu64 ", step %d: %" PRId64 " hits, not %" PRId64, capacity,
                 first_seed(), step, h, hits);
    }
    tesela_plan_cache_destroy(cache);
    assert_int_equal(f.live, 0);
  }
}

static void plans_outlive_the_cache(void **state) {
  (void)state;
  fault f = {.countdown = -1};
  tesela_allocator allocator = fault_allocator(&f);
  question a = numbered(7), b = numbered(8);
  tesela_plan_cache *cache = new_cache(1, &allocator);
  tesela_plan *first = get(cache, &a), *second = get(cache, &b); /* drops the first */
  check_runs(first, &a);
  tesela_plan_cache_destroy(cache);
  check_runs(first, &a);
  check_runs(second, &b);
  assert_true(f.live > 0);
  tesela_plan_destroy(first);
  tesela_plan_destroy(second);
  assert_int_equal(f.live, 0);
}

/* ---- refusals --------------------------------------------------------------------------------------------- */

static void capacity_has_a_range(void **state) {
  (void)state;
  static const int32_t outside[] = {INT32_MIN, -1, 0, 65537, INT32_MAX};
  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
    tesela_plan_cache *cache = NULL;
    tesela_error err;
    AGREE("status", tesela_plan_cache_create(&cache, outside[i], NULL, &err), TESELA_E_RANGE);
    assert_null(cache);
  }
  tesela_plan_cache_destroy(new_cache(1, NULL));
  tesela_plan_cache_destroy(new_cache(65536, NULL));
  tesela_plan_cache_destroy(NULL);
}

static void what_cannot_be_planned_is_not_kept(void **state) {
  (void)state;
  fault f = {.countdown = -1};
  tesela_allocator allocator = fault_allocator(&f);
  tesela_plan_cache *cache = new_cache(2, &allocator);
  question good = numbered(3), bad = {.dst = good.dst, .src = numbered(4).src};
  int64_t live = f.live;
  tesela_plan *plan = NULL;
  tesela_error err;
  for (int i = 0; i < 3; i++)
    AGREE("shapes", tesela_plan_cache_get(cache, &plan, &bad.dst, &bad.src, NULL, &err), TESELA_E_MISMATCH);
  check_count(cache, 0, 3);
  tesela_layout unfinished;
  const int64_t shape[] = {4, 5};
  OK(tesela_layout_begin(&unfinished, TESELA_DTYPE_NONE, 32, 2, shape, &e_));
  AGREE("dst", tesela_plan_cache_get(cache, &plan, &unfinished, &good.src, NULL, &err), TESELA_E_INVALID);
  AGREE("src", tesela_plan_cache_get(cache, &plan, &good.dst, &unfinished, NULL, &err), TESELA_E_INVALID);
  assert_null(plan);
  assert_int_equal(f.live, live);
  tesela_plan_cache_destroy(cache);
  assert_int_equal(f.live, 0);
}

/* Each allocation fails once: of the cache, of a plan, and when one is dropped for another. */
static void memory_may_run_out(void **state) {
  (void)state;
  const question q[] = {numbered(1), numbered(2), numbered(3)};
  for (long n = 0;; n++) {
    fault f = {.countdown = n};
    tesela_allocator allocator = fault_allocator(&f);
    tesela_plan_cache *cache = NULL;
    tesela_plan *plan[3] = {NULL, NULL, NULL};
    tesela_status status = tesela_plan_cache_create(&cache, 2, &allocator, NULL);
    int got = 0;
    while (status == TESELA_OK && got < 3) {
      status = tesela_plan_cache_get(cache, &plan[got], &q[got].dst, &q[got].src, NULL, NULL);
      if (status == TESELA_OK) check_runs(plan[got], &q[got]);
      if (status == TESELA_OK) got++;
    }
    for (int i = 0; i < 3; i++) assert_int_equal(plan[i] != NULL, i < got);
    if (status != TESELA_OK) AGREE("status", status, TESELA_E_MEMORY);
    f.countdown = -1;
    if (cache && got < 3) { /* and the cache works on */
      plan[got] = get(cache, &q[got]);
      check_runs(plan[got], &q[got]);
    }
    for (int i = 0; i < 3; i++) tesela_plan_destroy(plan[i]);
    tesela_plan_cache_destroy(cache);
    assert_int_equal(f.live, 0);
    if (status == TESELA_OK) break;
  }
}

/* ---- threads ---------------------------------------------------------------------------------------------- */

enum { HAMMER_KEYS = 12, HAMMER_STEPS = 4000, HAMMERS = 6 };

static question hammer_question[HAMMER_KEYS];
static int64_t hammer_bytes[HAMMER_KEYS]; /* of dst: tells whose plan it is */
static atomic_long live_pieces;

static void *counting_alloc(void *user, size_t size, size_t align) {
  (void)user;
  (void)align;
  atomic_fetch_add(&live_pieces, 1);
  return malloc(size);
}

static void counting_release(void *user, void *memory) {
  (void)user;
  atomic_fetch_sub(&live_pieces, 1);
  free(memory);
}

typedef struct hammer {
  tesela_plan_cache *cache;
  uint64_t random;
  long wrong;
} hammer;

static void *hammer_thread(void *argument) {
  hammer *h = argument;
  tesela_plan *held[4] = {NULL, NULL, NULL, NULL};
  for (int step = 0; step < HAMMER_STEPS; step++) {
    int number = (int)(next_random(&h->random) % HAMMER_KEYS), slot = step % 4;
    const question *q = &hammer_question[number];
    tesela_plan_destroy(held[slot]);
    held[slot] = NULL;
    tesela_plan_info info = {.dst_bytes = -1};
    if (tesela_plan_cache_get(h->cache, &held[slot], &q->dst, &q->src, &q->options, NULL) == TESELA_OK)
      tesela_plan_describe(held[slot], &info);
    if (info.dst_bytes != hammer_bytes[number]) h->wrong++;
  }
  for (int slot = 0; slot < 4; slot++) tesela_plan_destroy(held[slot]);
  return NULL;
}

static void many_threads_use_one_cache(void **state) {
  (void)state;
  const tesela_allocator allocator = {NULL, counting_alloc, counting_release};
  for (int i = 0; i < HAMMER_KEYS; i++) {
    hammer_question[i] = numbered(i);
    hammer_bytes[i] = (i + 1) * (i + 2) * 4;
  }
  for (int32_t capacity = 1; capacity <= 16; capacity *= 4) {
    tesela_plan_cache *cache = new_cache(capacity, &allocator);
    tesela__thread thread[HAMMERS];
    hammer h[HAMMERS];
    for (int i = 0; i < HAMMERS; i++) {
      h[i] = (hammer){cache, first_seed() + (uint64_t)i, 0};
      assert_true(tesela__thread_start(&thread[i], hammer_thread, &h[i]));
    }
    for (int i = 0; i < HAMMERS; i++) {
      tesela__thread_join(thread[i]);
      assert_int_equal(h[i].wrong, 0);
    }
    int64_t hits, misses;
    tesela_plan_cache_count(cache, &hits, &misses);
    AGREE("each was counted", hits + misses, HAMMERS * HAMMER_STEPS);
    if (capacity >= HAMMER_KEYS) assert_true(misses >= HAMMER_KEYS && misses <= HAMMER_KEYS * HAMMERS);
    tesela_plan_cache_destroy(cache);
    assert_int_equal(atomic_load(&live_pieces), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_hit_is_the_same_plan),
      cmocka_unit_test(no_two_questions_share_a_plan),
      cmocka_unit_test(unused_parts_do_not_count),
      cmocka_unit_test(the_one_not_used_for_the_longest_time_goes),
      cmocka_unit_test(plans_outlive_the_cache),
      cmocka_unit_test(capacity_has_a_range),
      cmocka_unit_test(what_cannot_be_planned_is_not_kept),
      cmocka_unit_test(memory_may_run_out),
      cmocka_unit_test(many_threads_use_one_cache),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
