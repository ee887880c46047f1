/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_access.c - what questions about tile accesses cost: the cost of one access, the search for a layout in shared
 * memory.
 *
 * Medians of BENCH_ROUNDS rounds of a loop, in us a call, beside the goal.
 */
#include <inttypes.h>
#include <string.h>

#include <tesela/tesela.h>

#include "race.h"
#include "timing.h"

typedef struct access_case {
  const char *name, *write, *read; /* registers */
  int32_t bits;
  int64_t vector;
  bool ldmatrix;
  double cost_us, search_us; /* goals, 0: none */
} access_case;

/* A case as it runs. */
typedef struct access_run {
  const access_case *of;
  tesela_register registers[2];
  tesela_tile_memory memory;
  tesela_access_cost cost;
  tesela_synthesis found;
} access_run;

static const access_case cases[] = {
    {"128x128 f32, transpose, 128 threads", "local(32,1).spatial(4,32).local(1,4)",
     "spatial(128,1).local(1,128)", 32, 0, false, 1e3, 1e5},
    {"128x128 f16, 16 bytes and ldmatrix", "local(16,1).spatial(8,16).local(1,8)",
     "spatial(4,1).local(4,16).spatial(8,4).local(1,2)", 16, 0, true, 1e3, 1e5},
    {"128x128 f8, single elements", "spatial(4,32).local(32,4)", "spatial(32,4).local(4,32)", 8, 1, false,
     1e3, 1e5},
    {"96x96 f32, no powers of two", "spatial(4,32).local(24,3)", "spatial(32,4).local(3,24)", 32, 1, false,
     1e3, 1e5},
    {"120x104 f16, none at all", "spatial(40,13).local(3,8)", "spatial(60,4).local(2,26)", 16, 0, false, 1e3,
     1e5},
    {"256x192 f16", "local(32,1).spatial(8,24).local(1,8)", "spatial(32,6).local(8,32)", 16, 0, false, 0, 0},
    {"384x288 f16, 16 bytes and ldmatrix", "local(48,1).spatial(8,36).local(1,8)",
     "spatial(4,1).local(12,36).spatial(8,4).local(1,2)", 16, 0, true, 0, 0},
    {"384x288 f16, transpose", "local(48,1).spatial(8,36).local(1,8)", "spatial(48,6).local(8,48)", 16, 0,
     false, 0, 0},
    {"32x32 f32, transpose, one warp", "spatial(1,32).local(32,1)", "spatial(32,1).local(1,32)", 32, 1, false,
     0, 0},
};

static void make_registers(const char *text, tesela_register *out) {
  tesela_error err;
  if (tesela_register_parse(text, strlen(text), out, &err) != TESELA_OK)
    race_fail("%s: %s", text, err.message);
}

static void count(access_run *c) {
  if (tesela_access_cost_of(&c->registers[1], &c->memory, c->of->bits, c->of->vector, NULL, &c->cost, NULL) !=
      TESELA_OK)
    race_fail("%s: no cost", c->of->name);
}

static void search(access_run *c) {
  tesela_error err;
  tesela_access_use uses[2] = {{&c->registers[0], c->of->vector, false, 1},
                               {&c->registers[1], c->of->vector, c->of->ldmatrix, 1}};
  if (tesela_synthesize(2, uses, c->of->bits, NULL, NULL, &c->found, &err) != TESELA_OK)
    race_fail("%s: %s", c->of->name, err.message);
}

/* Median us of one call of work(data). */
static double median_us(void (*work)(access_run *), access_run *c) {
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
    times[r] = (bench_now() - start) / repeat / 1e3;
  }
  return race_median(times, BENCH_ROUNDS);
}

static void print_line(const char *what, double us, double goal) {
  printf("  %-8s %10.1f us", what, us);
  if (goal > 0) printf("  goal %8.0f", goal);
}

int main(void) {
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    static access_run run;
    access_run *c = &run;
    c->of = &cases[k];
    make_registers(c->of->write, &c->registers[0]);
    make_registers(c->of->read, &c->registers[1]);
    if (tesela_tile_memory_row_major(&c->memory, TESELA_TILE_SHARED, 2, c->registers[0].shape, NULL) !=
        TESELA_OK)
      race_fail("%s: no tile", c->of->name);
    printf("%s\n", c->of->name);
    print_line("cost", median_us(count, c), c->of->cost_us);
    printf("  %" PRId64 " instructions, %" PRId64 " wavefronts\n", c->cost.instructions, c->cost.wavefronts);
    print_line("search", median_us(search, c), c->of->search_us);
    const tesela_tile_swizzle *z = &c->found.memory.swizzle;
    printf("  %" PRId64 " candidates: %" PRId64 " wavefronts (least %" PRId64 ", plain %" PRId64
           "), Swizzle(base=%d, bits=%d, shift=%d), %" PRId64 " elements\n",
           c->found.candidates, c->found.wavefronts, c->found.least, c->found.plain, z->base, z->bits,
           z->shift, c->found.memory.size);
  }
  return 0;
}
