/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_arena.c - the memory planner on problems with a known answer, or on CSV files.
 *
 *   bench_arena                      rectangles cut into buffers: the least peak is the height of the rectangle; and networks,
 *                                    forward and backward
 *   bench_arena FOLDER [CAPACITY]    every *.csv of a folder, such as the challenging ones of MiniMalloc (CAPACITY 1048576)
 *
 * Every plan is checked before its row is printed. Goals: 100 cut buffers reach the least peak; the CSV files fit in
 * their capacity within a few seconds each.
 */
#include <dirent.h>
#include <inttypes.h>
#include <string.h>

#include <tesela/tesela.h>

#include "timing.h"

enum { MOST_FILES = 256 };

typedef struct outcome {
  tesela_status status;
  tesela_arena_facts facts;
  double ms;
} outcome;

static void must(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "bench_arena: %s\n", what);
  exit(1);
}

/* Plan a copy and check it. */
static outcome plan(int32_t n, const tesela_arena_buffer *made, int64_t capacity, bool first_fit) {
  outcome o = {.status = TESELA_OK};
  tesela_arena_options options = {.capacity = capacity, .first_fit = first_fit};
  tesela_arena_buffer *b = malloc((size_t)(n + 1) * sizeof *b);
  must(b != NULL, "no memory");
  memcpy(b, made, (size_t)n * sizeof *b);
  double start = bench_now();
  o.status = tesela_arena_plan(n, b, &options, &o.facts, NULL);
  o.ms = (bench_now() - start) / 1e6;
  must(o.status == TESELA_OK || o.status == TESELA_E_LIMIT, "no plan");
  if (o.status == TESELA_OK)
    must(tesela_arena_check(n, b, o.facts.peak, NULL, NULL) == TESELA_OK, "a wrong plan");
  free(b);
  return o;
}

/* ---- rectangles -------------------------------------------------------------------------------------------- */

static uint64_t chance = 1;

static int64_t below(int64_t n) {
  chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int64_t)((chance >> 24) % (uint64_t)n);
}

/* Cut any piece in two, in time or in bytes, until there are n; then mix them. */
static void cut(int32_t n, int64_t steps, int64_t height, tesela_arena_buffer *b) {
  b[0] = (tesela_arena_buffer){.upper = steps, .size = height, .offset = TESELA_ARENA_FREE};
  for (int32_t m = 1; m < n;) {
    tesela_arena_buffer *x = &b[below(m)];
    b[m] = *x;
    if (below(2) && x->upper - x->lower > 1) {
      x->upper = b[m++].lower = x->lower + 1 + below(x->upper - x->lower - 1);
    } else if (x->size > 1) {
      b[m].size = 1 + below(x->size - 1);
      x->size -= b[m++].size;
    }
  }
  for (int32_t i = n; i-- > 1;) {
    int64_t j = below(i + 1);
    tesela_arena_buffer moved = b[i];
    b[i] = b[j];
    b[j] = moved;
  }
}

static void rectangles(void) {
  static tesela_arena_buffer b[100000];
  static const int32_t sizes[] = {100, 1000, 10000, 100000};
  printf("%-10s %8s %10s %12s %10s %8s %10s\n", "cut into", "seed", "least", "first fit", "peak", "proven",
         "ms");
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (uint64_t seed = 1; seed <= 3; seed++) {
      chance = seed;
      cut(sizes[k], 10 * sizes[k], 1 << 20, b);
      outcome naive = plan(sizes[k], b, 0, true), best = plan(sizes[k], b, 0, false);
      printf("%-10" PRId32 " %8" PRIu64 " %10d %11.3fx %9.3fx %8s %10.1f\n", sizes[k], seed, 1 << 20,
             (double)naive.facts.peak / (1 << 20), (double)best.facts.peak / (1 << 20),
             best.facts.proven ? "yes" : "no", best.ms);
      if (sizes[k] == 100) bench_figure("arena.cut_100_ratio", (double)best.facts.peak / (1 << 20));
    }
}

/* ---- networks ---------------------------------------------------------------------------------------------- */

/* A network of some layers, forward and backward: each has two activations that live until its gradients are made, in widths that
 * vary, and in both directions some temporaries that live a few steps; its gradient lives until the next one's is made. */
static int32_t network(int32_t layers, tesela_arena_buffer *b) {
  enum { STEPS = 8 };
  int64_t end = 2 * (int64_t)STEPS * layers, width = 64;
  int32_t n = 0;
  for (int32_t k = 0; k < layers; k++) {
    int64_t forth = (int64_t)STEPS * k, back = end - forth - STEPS;
    if (below(6) == 0) width = 16 << below(5);
    b[n++] = (tesela_arena_buffer){.lower = forth + 1, .upper = back + 3, .size = 1024 * width};
    b[n++] =
        (tesela_arena_buffer){.lower = forth + 4, .upper = back + 6, .size = 1024 * (width / 2 + below(64))};
    b[n++] = (tesela_arena_buffer){.lower = back + 2, .upper = back + STEPS + 4, .size = 1024 * width};
    for (int32_t t = 0; t < 6; t++) {
      int64_t from = (t % 2 ? back : forth) + below(STEPS);
      b[n++] = (tesela_arena_buffer){
          .lower = from, .upper = from + 1 + below(6), .size = 256 * (1 + below(4 * width))};
    }
  }
  for (int32_t i = 0; i < n; i++) b[i].offset = TESELA_ARENA_FREE;
  return n;
}

static void networks(void) {
  static tesela_arena_buffer b[9 * 12000];
  static const int32_t layers[] = {12, 100, 1000, 12000};
  printf("\n%-10s %8s %12s %12s %10s %8s %10s\n", "layers", "buffers", "bound", "first fit", "peak", "proven",
         "ms");
  for (size_t k = 0; k < sizeof layers / sizeof *layers; k++) {
    chance = 1;
    int32_t n = network(layers[k], b);
    outcome naive = plan(n, b, 0, true), best = plan(n, b, 0, false);
    printf("%-10" PRId32 " %8" PRId32 " %12" PRId64 " %11.3fx %9.3fx %8s %10.1f\n", layers[k], n,
           best.facts.bound, (double)naive.facts.peak / (double)best.facts.bound,
           (double)best.facts.peak / (double)best.facts.bound, best.facts.proven ? "yes" : "no", best.ms);
  }
}

/* ---- files ------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void run_file(const char *folder, const char *name, int64_t capacity) {
  static char text[1 << 24];
  char path[4096];
  tesela_arena_buffer *b;
  tesela_error err;
  int32_t n;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  must(file != NULL, path);
  size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  if (tesela_arena_read_csv(text, length, &b, &n, NULL, &err) != TESELA_OK) {
    printf("%-16s byte %" PRId64 ": %s\n", name, err.at, err.message);
    return;
  }
  outcome best = plan(n, b, 0, false);
  printf("%-16s %7" PRId32 " %12" PRId64 " %12" PRId64 " %12" PRId64 "%s %9" PRId64 " %8.0f", name, n,
         best.facts.live, best.facts.first_fit, best.facts.peak, best.facts.proven ? "*" : " ",
         best.facts.effort, best.ms);
  if (capacity > 0) {
    outcome fits = plan(n, b, capacity, false);
    printf("   %-4s", fits.status == TESELA_OK ? "yes" : "no");
    if (fits.status == TESELA_OK) printf(" %9" PRId64, fits.facts.effort);
    if (fits.status != TESELA_OK) printf(" %9s", "-");
    printf(" %8.0f", fits.ms);
  }
  printf("\n");
  fflush(stdout);
  tesela_arena_free(b, NULL);
}

static void run_folder(const char *folder, int64_t capacity) {
  static char *names[MOST_FILES];
  size_t n = 0;
  DIR *dir = opendir(folder);
  must(dir != NULL, folder);
  for (struct dirent *entry; n < MOST_FILES && (entry = readdir(dir));) {
    size_t length = strlen(entry->d_name);
    if (length < 4 || strcmp(entry->d_name + length - 4, ".csv") != 0) continue;
    names[n] = malloc(length + 1);
    must(names[n] != NULL, "no memory");
    memcpy(names[n++], entry->d_name, length + 1);
  }
  closedir(dir);
  qsort(names, n, sizeof *names, by_name);
  printf("%-16s %7s %12s %12s %12s %10s %8s   %s\n", "file", "buffers", "live", "first fit", "peak (* least)",
         "steps", "ms", capacity > 0 ? "fits     steps       ms" : "");
  for (size_t k = 0; k < n; k++) {
    run_file(folder, names[k], capacity);
    free(names[k]);
  }
}

int main(int argc, char **argv) {
  if (argc > 1) {
    run_folder(argv[1], argc > 2 ? strtoll(argv[2], NULL, 10) : 0);
  } else {
    rectangles();
    networks();
  }
  return 0;
}
