/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_touch.c - what memory leaves of the speed of a copy to a transpose: loops that load the lines of src and store those of dst,
 * tile after tile, and do nothing with them.
 *
 * A tile has `in` bytes of each of its rows of src and `out` bytes of each of its rows of dst. For each matrix all of 36 loops run once: three
 * sizes of both, tiles along rows of src or of dst, the next tile prefetched while lines are loaded or also while they are stored. The
 * fastest then runs in turn with the plan and the non-temporal copy. The fastest one of once is not always the fastest, so the limit may
 * be somewhat higher.
 *
 * Only whole lines on both sides. Needs x86-64 with AVX2; exit status 77 elsewhere.
 */
#include <inttypes.h>

#include "nt_copy.h"
#include "race.h"
#include "timing.h"

enum { BUFFER_BYTES = 136 << 20, ROUNDS = 9, LINE = 64 };

typedef struct matrix {
  int64_t rows, columns, width; /* of src; of an element in bytes */
} matrix;

static const matrix cases[] = {
    {8192, 8192, 1},  {8192, 8064, 1}, {64, 1048576, 1}, {1048576, 64, 1}, {11584, 5824, 1}, {8192, 4096, 2},
    {5824, 5792, 2},  {65536, 544, 2}, {8192, 4096, 4},  {7264, 4640, 4},  {64, 262144, 4},  {262144, 64, 4},
    {16384, 1040, 4}, {4096, 4096, 8}, {5792, 2904, 8},  {131072, 64, 8},  {4096, 2080, 16}, {2048, 4096, 16},
};

typedef struct touch {
  matrix m;
  int64_t in, out; /* bytes of a tile in a row of src, in a row of dst */
  bool along_src, spread;
  unsigned char *dst;
  const unsigned char *src;
} touch;

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

/* Lines that are prefetched, one after the other, of the tile that comes next. */
typedef struct ahead {
  const unsigned char *row;
  int64_t in, pitch, at, left;
} ahead;

static inline void fetch_one(ahead *next) {
  if (next->left == 0) return;
  next->left--;
  _mm_prefetch((const char *)next->row + next->at, _MM_HINT_T1);
  next->at += LINE;
  if (next->at < next->in) return;
  next->at = 0;
  next->row += next->pitch;
}

/* The place and the extents of tile t. */
typedef struct tile {
  int64_t row, column, rows, columns;
} tile;

static inline tile tile_at(const touch *of, int64_t t) {
  const int64_t rows = of->out / of->m.width, columns = of->in / of->m.width;
  const int64_t down = (of->m.rows + rows - 1) / rows, across = (of->m.columns + columns - 1) / columns;
  const int64_t i = of->along_src ? t / across : t % down, j = of->along_src ? t % across : t / down;
  tile x = {i * rows, j * columns, rows, columns};
  if (x.row + rows > of->m.rows) x.rows = of->m.rows - x.row;
  if (x.column + columns > of->m.columns) x.columns = of->m.columns - x.column;
  return x;
}

__attribute__((target("avx2"))) static void touch_run(void *data) {
  const touch *of = data;
  const int64_t width = of->m.width, in_pitch = of->m.columns * width, out_pitch = of->m.rows * width;
  const int64_t rows = of->out / width, columns = of->in / width;
  const int64_t n = ((of->m.rows + rows - 1) / rows) * ((of->m.columns + columns - 1) / columns);
  __m256i all = _mm256_setzero_si256();
  for (int64_t t = 0; t < n; t++) {
    const tile x = tile_at(of, t), y = tile_at(of, t + 1 < n ? t + 1 : t);
    const unsigned char *from = of->src + x.row * in_pitch + x.column * width;
    unsigned char *to = of->dst + x.column * out_pitch + x.row * width;
    ahead next = {of->src + y.row * in_pitch + y.column * width, y.columns * width, in_pitch, 0, 0};
    next.left = y.rows * y.columns * width / LINE;
    for (int64_t i = 0; i < x.rows; i++)
      for (int64_t at = 0; at < x.columns * width; at += LINE) {
        const unsigned char *line = from + i * in_pitch + at;
        if (!of->spread || (at / LINE + i) % 2) fetch_one(&next);
        all = _mm256_xor_si256(all, _mm256_loadu_si256((const __m256i *)(const void *)line));
        all = _mm256_xor_si256(all, _mm256_loadu_si256((const __m256i *)(const void *)(line + 32)));
      }
    for (int64_t j = 0; j < x.columns; j++)
      for (int64_t at = 0; at < x.rows * width; at += LINE) {
        fetch_one(&next);
        _mm256_stream_si256((__m256i *)(void *)(to + j * out_pitch + at), all);
        _mm256_stream_si256((__m256i *)(void *)(to + j * out_pitch + at + 32), all);
      }
  }
  _mm_sfence();
}

static bool can_touch(void) { return __builtin_cpu_supports("avx2"); }

#else

static void touch_run(void *data) { (void)data; }
static bool can_touch(void) { return false; }

#endif

static touch fastest(touch base) {
  static const int64_t sizes[] = {64, 256, 1024};
  touch best = base;
  double least = 0;
  for (int k = 0; k < 36; k++) {
    touch one = base;
    one.in = sizes[k % 3], one.out = sizes[k / 3 % 3];
    one.along_src = k / 9 % 2, one.spread = k / 18;
    const double start = bench_now();
    touch_run(&one);
    const double ns = bench_now() - start;
    if (k == 0 || ns < least) least = ns, best = one;
  }
  return best;
}

static tesela_plan *plan_of(const matrix *m) {
  const int64_t shape[2] = {m->rows, m->columns}, to[2] = {1, m->rows}, from[2] = {m->columns, 1};
  tesela_layout dst, src;
  tesela_plan *plan;
  tesela_error err;
  const tesela_plan_options options = {.threads = 1};
  const int32_t bits = (int32_t)(8 * m->width);
  if (tesela_layout_strided(&dst, 0, bits, 2, shape, to, 0, &err) != TESELA_OK ||
      tesela_layout_strided(&src, 0, bits, 2, shape, from, 0, &err) != TESELA_OK ||
      tesela_plan_create(&plan, &dst, &src, &options, &err) != TESELA_OK)
    race_fail("%s", err.message);
  return plan;
}

int main(void) {
  if (!can_touch()) {
    fprintf(stderr, "bench_touch needs x86-64 with AVX2\n");
    return 77;
  }
  unsigned char *to = race_buffer(BUFFER_BYTES), *from = race_buffer(BUFFER_BYTES);
  race_fill(from, BUFFER_BYTES);
  race_by_processor();
  printf("  %-4s %-18s %7s %7s %8s %8s  %s\n", "bits", "src, transposed", "plan", "loop", "of loop",
         "loop/NT", "the loop: bytes of a row of src x of dst");
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    const matrix *m = &cases[k];
    const int64_t bytes = m->rows * m->columns * m->width;
    if (bytes > BUFFER_BYTES) race_fail("[%" PRId64 ",%" PRId64 "]: too large", m->rows, m->columns);
    tesela_plan *plan = plan_of(m);
    touch best = fastest((touch){.m = *m, .dst = to, .src = from});
    race_plan run = {plan, to, from};
    race_copy copy = {to, from, (size_t)bytes, 1};
    const double counted = 2.0 * (double)bytes;
    racer own = {race_run_plan, &run, counted, {0}}, loop = {touch_run, &best, counted, {0}};
    racer nt = {race_nt_copy, &copy, counted, {0}};
    racer *all[] = {&own, &loop, &nt};
    race(all, 3, ROUNDS);
    char shape[40];
    snprintf(shape, sizeof shape, "[%" PRId64 ",%" PRId64 "]", m->rows, m->columns);
    printf("  %-4d %-18s %7.1f %7.1f %8.2f %8.2f  %" PRId64 " x %" PRId64 ", along %s%s\n",
           (int)(8 * m->width), shape, race_gbs(&own, ROUNDS), race_gbs(&loop, ROUNDS),
           race_ratio(&own, &loop, ROUNDS), race_ratio(&loop, &nt, ROUNDS), best.in, best.out,
           best.along_src ? "src" : "dst", best.spread ? ", prefetch spread" : "");
    bench_figure("touch.plan_of_loop", race_ratio(&own, &loop, ROUNDS));
    bench_figure("touch.loop_of_nt", race_ratio(&loop, &nt, ROUNDS));
    fflush(stdout);
    tesela_plan_destroy(plan);
  }
  return 0;
}
