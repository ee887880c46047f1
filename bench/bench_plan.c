/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_plan.c - what a relayout costs apart from moving bytes: making a plan, finding it in a cache, running it on
 * a tensor that lies in the first cache; and the speed of the path that takes any layout, element by element.
 *
 * Medians of BENCH_ROUNDS rounds of a loop, in ns a call, beside the goal.
 */
#include <inttypes.h>
#include <string.h>

#include <tesela/tesela.h>

#include "race.h"
#include "timing.h"

enum { BUFFER_BYTES = 64 << 20, CACHED = 16 };

typedef struct plan_case {
  tesela_layout dst, src;
  tesela_plan_options options;
  tesela_plan *plan;
  tesela_plan_cache *cache;
  tesela_layout cached[CACHED];
} plan_case;

static unsigned char *dst_buffer, *src_buffer;

static void make_layout(const char *text, tesela_layout *layout) {
  tesela_xla_shape shape;
  tesela_error err;
  if (tesela_xla_parse(text, strlen(text), TESELA_XLA_STRICT, &shape, NULL, &err) != TESELA_OK ||
      tesela_xla_to_layout(&shape, layout, &err) != TESELA_OK)
    race_fail("%s: %s", text, err.message);
}

static tesela_plan *plan_of(const plan_case *c) {
  tesela_plan *plan;
  tesela_error err;
  if (tesela_plan_create(&plan, &c->dst, &c->src, &c->options, &err) != TESELA_OK)
    race_fail("no plan: %s", err.message);
  return plan;
}

/* Median ns of one call of work(data). */
static double median_ns(void (*work)(plan_case *), plan_case *c) {
  double times[BENCH_ROUNDS];
  int repeat = 1;
  for (double ns = 0; ns < 1e6; repeat *= 2) {
    double start = bench_now();
    for (int i = 0; i < repeat; i++) work(c);
    ns = bench_now() - start;
  }
  for (int r = 0; r < BENCH_ROUNDS; r++) {
    double start = bench_now();
    for (int i = 0; i < repeat; i++) work(c);
    times[r] = (bench_now() - start) / repeat;
  }
  return race_median(times, BENCH_ROUNDS);
}

static void print_line(const char *figure, const char *what, double ns, double goal, const char *note) {
  printf("  %-72s %10.1f ns", what, ns);
  if (goal > 0) printf("  goal %7.4g", goal);
  printf("  %s\n", note);
  if (goal > 0) bench_figure(figure, ns / goal);
}

/* ---- running small tensors --------------------------------------------------------------------------------------- */

static void run_plan(plan_case *c) { tesela_plan_run(c->plan, dst_buffer, src_buffer, NULL, NULL); }

static void bench_small_runs(void) {
  static const struct {
    const char *src, *dst;
    double goal_ns;
  } small[] = {
      {"f32[16,16]{1,0}", "f32[16,16]{0,1}", 60},
      {"f32[64,64]{1,0}", "f32[64,64]{0,1}", 350},
      {"f32[8,128]{1,0}", "f32[8,128]{1,0:T(8,128)}", 0},
      {"bf16[16,128]{1,0}", "bf16[16,128]{1,0:T(8,128)(2,1)}", 0},
      {"f32[13,37]{1,0}", "f32[13,37]{1,0:T(8,128)}", 0},
      {"f32[3,5]{1,0}", "f32[3,5]{0,1}", 0},
  };
  printf("run of a prepared plan\n");
  for (size_t k = 0; k < sizeof small / sizeof small[0]; k++) {
    static plan_case c;
    char what[128];
    make_layout(small[k].src, &c.src);
    make_layout(small[k].dst, &c.dst);
    c.plan = plan_of(&c);
    snprintf(what, sizeof what, "%s -> %s", small[k].src, small[k].dst);
    print_line("plan.run_of_goal", what, median_ns(run_plan, &c), small[k].goal_ns, race_plan_line(c.plan));
    tesela_plan_destroy(c.plan);
  }
}

/* ---- making plans ------------------------------------------------------------------------------------------------ */

static void create_plan(plan_case *c) { tesela_plan_destroy(plan_of(c)); }

static void bench_creation(void) {
  static const char *const pairs[][2] = {
      {"bf16[1000,2000]{1,0:T(8,128)(2,1)}", "bf16[1000,2000]{0,1:T(8,128)(2,1)}"},
      {"bf16[30,1000,2000]{2,1,0:T(8,128)(2,1)}", "bf16[30,1000,2000]{1,2,0:T(16,128)(2,1)}"},
      {"f32[6,30,100,200]{3,2,1,0:T(8,128)}", "f32[6,30,100,200]{1,3,0,2:T(8,128)}"},
      {"bf16[6,5,30,100,200]{4,3,2,1,0:T(8,128)(2,1)}", "bf16[6,5,30,100,200]{2,4,0,1,3:T(8,128)(2,1)}"},
      {"f32[6,5,4,30,10,200]{5,4,3,2,1,0:T(8,128)}", "f32[6,5,4,30,10,200]{1,3,5,4,2,0:T(8,128)}"},
      {"f32[6,5,4,3,30,10,20]{6,5,4,3,2,1,0:T(8,128)}", "f32[6,5,4,3,30,10,20]{0,1,2,3,4,5,6:T(8,128)}"},
      {"bf16[6,5,4,3,2,30,10,20]{7,6,5,4,3,2,1,0:T(8,128)(2,1)}",
       "bf16[6,5,4,3,2,30,10,20]{2,3,0,1,4,6,5,7:T(8,128)(2,1)}"},
      {"f32[1000,2000]{1,0}", "f32[1000,2000]{0,1}"},
  };
  printf("creation of a plan, and destruction\n");
  for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
    static plan_case c;
    char what[128];
    make_layout(pairs[k][0], &c.src);
    make_layout(pairs[k][1], &c.dst);
    c.plan = plan_of(&c);
    snprintf(what, sizeof what, "%s -> %s", pairs[k][0], strchr(pairs[k][1], '{'));
    print_line("plan.create_of_goal", what, median_ns(create_plan, &c), 5000, race_plan_line(c.plan));
    tesela_plan_destroy(c.plan);
  }
}

/* ---- the cache --------------------------------------------------------------------------------------------------- */

static void get_first(plan_case *c) {
  tesela_plan *plan;
  if (tesela_plan_cache_get(c->cache, &plan, &c->cached[0], &c->src, &c->options, NULL) != TESELA_OK)
    race_fail("no plan in the cache");
  tesela_plan_destroy(plan);
}

static void get_all(plan_case *c) {
  for (int i = 0; i < CACHED; i++) {
    tesela_plan *plan;
    if (tesela_plan_cache_get(c->cache, &plan, &c->cached[i], &c->src, &c->options, NULL) != TESELA_OK)
      race_fail("no plan in the cache");
    tesela_plan_destroy(plan);
  }
}

static void bench_cache(void) {
  static plan_case c;
  char text[64];
  int64_t hits, misses;
  if (tesela_plan_cache_create(&c.cache, 2 * CACHED, NULL, NULL) != TESELA_OK) race_fail("no cache");
  make_layout("f32[1000,2000]{1,0:T(8,128)}", &c.src);
  for (int i = 0; i < CACHED; i++) {
    snprintf(text, sizeof text, "f32[1000,2000]{0,1:T(8,%d)}", 128 * (i + 1));
    make_layout(text, &c.cached[i]);
  }
  printf("hit in a cache, and giving it back\n");
  get_all(&c);
  print_line("plan.cache_of_goal", "f32[1000,2000]{1,0:T(8,128)} -> {0,1:T(8,128)}, always the same",
             median_ns(get_first, &c), 150, "");
  print_line("plan.cache_of_goal", "16 layouts in turn", median_ns(get_all, &c) / CACHED, 150, "");
  tesela_plan_cache_count(c.cache, &hits, &misses);
  if (misses != CACHED) race_fail("%" PRId64 " misses, %d expected", misses, CACHED);
  tesela_plan_cache_destroy(c.cache);
}

/* ---- element by element ------------------------------------------------------------------------------------------ */

static void bench_gather(void) {
  static const char *const pairs[][2] = {
      {"f32[2048,2048]{1,0}", "f32[2048,2048]{0,1}"},
      {"f32[2048,2048]{1,0:T(8,128)}", "f32[2048,2048]{0,1:T(8,128)}"},
      {"bf16[2048,2048]{1,0}", "bf16[2048,2048]{1,0:T(8,128)(2,1)}"},
      {"f32[2047,2045]{1,0:T(8,128)}", "f32[2047,2045]{0,1:T(8,128)}"},
      {"f32[3001,201]{1,0:T(6,100)}", "f32[3001,201]{0,1:T(7,30)}"},
  };
  printf("solver gather: ns an element\n");
  for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
    static plan_case c = {.options = {.solver = TESELA_SOLVER_GATHER, .threads = 1}};
    char what[128];
    tesela_sizes sizes;
    make_layout(pairs[k][0], &c.src);
    make_layout(pairs[k][1], &c.dst);
    tesela_layout_sizes(&c.src, &sizes, NULL);
    c.plan = plan_of(&c);
    snprintf(what, sizeof what, "%s -> %s", pairs[k][0], strchr(pairs[k][1], '{'));
    print_line("plan.gather_of_goal", what, median_ns(run_plan, &c) / (double)sizes.logical_elements,
               k < 3 ? 3.33 : 0, race_plan_line(c.plan));
    tesela_plan_destroy(c.plan);
  }
}

int main(void) {
  dst_buffer = race_buffer(BUFFER_BYTES);
  src_buffer = race_buffer(BUFFER_BYTES);
  race_fill(src_buffer, BUFFER_BYTES);
  bench_small_runs();
  bench_creation();
  bench_cache();
  bench_gather();
  return 0;
}
