/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relayout_solvers.c - each solver on the kinds of copies it is for, and around its edges.
 *
 * A row names a solver that must apply to its pair; asked for, it must be what the largest piece uses, and right for
 * extents around a base (multiples of blocks, one more, one less), on every instruction set, streamed or not, with the
 * base addresses at any phase of a cache line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support_relayout.h"
#include "support_seed.h"

typedef struct row {
  const char *name;
  tesela_solver solver;
  int32_t bits, rank;
  int64_t shape[4];
  const char *dst, *src; /* digits, see support_relayout.h */
} row;

static const row rows[] = {
    {"all bytes in one run", TESELA_SOLVER_MEMCPY, 32, 2, {16, 33}, "0 1", "0 1"},
    {"one run, whatever the order", TESELA_SOLVER_MEMCPY, 16, 3, {5, 8, 16}, "2 0 1", "2 0 1"},
    {"one run out of a sub-view", TESELA_SOLVER_MEMCPY, 8, 2, {1, 100}, "0 1 +3", "0@200 1@1 +77"},
    {"nibbles in one run", TESELA_SOLVER_MEMCPY, 4, 2, {16, 32}, "0 1", "0 1"},
    {"rows of another pitch", TESELA_SOLVER_ROWS, 32, 2, {33, 64}, "0@80 1@1", "0 1"},
    {"rows out of another pitch", TESELA_SOLVER_ROWS, 8, 2, {33, 100}, "0 1", "0@131 1@1 +5"},
    {"rows in another order", TESELA_SOLVER_ROWS, 64, 3, {8, 9, 16}, "1 0 2", "0 1 2"},
    {"rows backwards", TESELA_SOLVER_ROWS, 16, 2, {17, 32}, "0 1", "0@-32 1@1 +512"},
    {"one row again and again", TESELA_SOLVER_ROWS, 16, 2, {17, 32}, "0 1", "0@0 1@1"},
    {"rows of tiles", TESELA_SOLVER_ROWS, 32, 2, {32, 256}, "0/8 1/128 0 1", "0 1"},
    {"rows of nibbles", TESELA_SOLVER_ROWS, 4, 2, {32, 256}, "0/8 1/128 0 1", "0 1"},
    {"rows of bits", TESELA_SOLVER_ROWS, 1, 2, {32, 256}, "0/8 1/128 0 1", "0 1"},
    {"rows of sticks", TESELA_SOLVER_ROWS, 16, 2, {32, 192}, "1/64 0 1", "0 1"},
    {"transpose of bytes", TESELA_SOLVER_TRANSPOSE, 8, 2, {128, 192}, "1 0", "0 1"},
    {"transpose of 2 bytes", TESELA_SOLVER_TRANSPOSE, 16, 2, {96, 160}, "1 0", "0 1"},
    {"transpose of 4 bytes", TESELA_SOLVER_TRANSPOSE, 32, 2, {64, 96}, "1 0", "0 1"},
    {"transpose of 8 bytes", TESELA_SOLVER_TRANSPOSE, 64, 2, {48, 80}, "1 0", "0 1"},
    {"transpose of 16 bytes", TESELA_SOLVER_TRANSPOSE, 128, 2, {32, 48}, "1 0", "0 1"},
    {"transpose into a pitch", TESELA_SOLVER_TRANSPOSE, 32, 2, {64, 96}, "1@101 0@1 +7", "0@100 1@1 +3"},
    {"transpose in the middle of others",
     TESELA_SOLVER_TRANSPOSE,
     32,
     4,
     {3, 32, 5, 48},
     "2 3 0 1",
     "0 1 2 3"},
    {"transpose into tiles", TESELA_SOLVER_TRANSPOSE, 32, 2, {64, 256}, "0/8 1/128 0 1", "1 0"},
    {"transpose of tiles", TESELA_SOLVER_TRANSPOSE, 32, 2, {128, 128}, "1/8 0/128 1 0", "0/8 1/128 0 1"},
    {"transpose of sticks", TESELA_SOLVER_TRANSPOSE, 16, 2, {128, 128}, "0/64 1 0", "1/64 0 1"},
    {"transpose of rows backwards", TESELA_SOLVER_TRANSPOSE, 32, 2, {64, 96}, "1 0", "0@-96 1@1 +6048"},
    {"transpose of every third", TESELA_SOLVER_TRANSPOSE, 16, 2, {96, 160}, "1 0", "0@480 1@3 +2"},
    {"transpose of every second byte", TESELA_SOLVER_TRANSPOSE, 8, 2, {130, 70}, "1 0", "0@150 1@2"},
    {"transpose of a reversed dim", TESELA_SOLVER_TRANSPOSE, 32, 2, {64, 96}, "1 0", "0@96 1@-1 +95"},
    {"transpose of every fourth backwards",
     TESELA_SOLVER_TRANSPOSE,
     64,
     2,
     {40, 48},
     "1 0",
     "0@200 1@-4 +199"},
    {"channels last to blocks", TESELA_SOLVER_TRANSPOSE, 32, 3, {2, 32, 100}, "0 1/16 2 1", "0 1 2"},
    {"two rows of bf16", TESELA_SOLVER_INTERLEAVE, 16, 2, {64, 128}, "0/2 1 0", "0 1"},
    {"four rows of bytes", TESELA_SOLVER_INTERLEAVE, 8, 2, {64, 128}, "0/4 1 0", "0 1"},
    {"three rows of f32", TESELA_SOLVER_INTERLEAVE, 32, 2, {3, 400}, "1 0", "0 1"},
    {"eight rows of bytes", TESELA_SOLVER_INTERLEAVE, 8, 2, {8, 500}, "1 0", "0 1"},
    {"five rows of f64", TESELA_SOLVER_INTERLEAVE, 64, 2, {5, 100}, "1 0", "0 1"},
    {"pairs in tiles", TESELA_SOLVER_INTERLEAVE, 16, 2, {32, 256}, "0/8 1/128 0/2 1 0", "0 1"},
    {"pairs of f32 out of pairs", TESELA_SOLVER_DEINTERLEAVE, 32, 2, {32, 128}, "0 1", "0/2 1 0"},
    {"bf16 out of pairs", TESELA_SOLVER_DEINTERLEAVE, 16, 2, {64, 128}, "0 1", "0/2 1 0"},
    {"bytes out of fours", TESELA_SOLVER_DEINTERLEAVE, 8, 2, {64, 128}, "0 1", "0/4 1 0"},
    {"three colours", TESELA_SOLVER_DEINTERLEAVE, 8, 2, {3, 1000}, "0 1", "1 0"},
    {"seven of them", TESELA_SOLVER_DEINTERLEAVE, 16, 2, {7, 200}, "0 1", "1 0"},
    {"pairs out of tiles", TESELA_SOLVER_DEINTERLEAVE, 16, 2, {32, 256}, "0 1", "0/8 1/128 0/2 1 0"},
    {"nibbles transposed", TESELA_SOLVER_BITS, 4, 2, {128, 192}, "1 0", "0 1"},
    {"2 bits transposed", TESELA_SOLVER_BITS, 2, 2, {128, 192}, "1 0", "0 1"},
    {"bits transposed", TESELA_SOLVER_BITS, 1, 2, {128, 256}, "1 0", "0 1"},
    {"nibbles of tiles transposed", TESELA_SOLVER_BITS, 4, 2, {64, 128}, "1/8 0/32 1 0", "0/8 1/32 0 1"},
    {"nibbles with pitches", TESELA_SOLVER_BITS, 4, 2, {64, 96}, "1@70 0@1", "0@110 1@1"},
    {"bits out of bytes at any bit", TESELA_SOLVER_BITS, 1, 3, {3, 64, 150}, "0 1 2", "0 1/16 2/32 1 2"},
    {"pairs of 2 bits that stay together", TESELA_SOLVER_BITS, 2, 3, {67, 90, 2}, "1 0 2", "0 1 2"},
    {"bits, a dim in the runs of both sides", TESELA_SOLVER_BITS, 1, 3, {16, 200, 48}, "2 1 0", "0 1 2"},
    {"nibbles out of tiles of short rows", TESELA_SOLVER_BITS, 4, 2, {4096, 32}, "1 0", "0/32 1/8 0 1"},
    {"2 bits out of tiles of short rows", TESELA_SOLVER_BITS, 2, 3, {3, 64, 256}, "0 1 2", "0 1/8 2/16 2 1"},
    {"2 bits to tiles of tiles", TESELA_SOLVER_BITS, 2, 3, {50, 16, 96}, "0 1/2 2/16 1 2", "2 0 1"},
    {"nibbles of odd rows", TESELA_SOLVER_BITS, 4, 3, {259, 3, 277}, "2 1 0", "0 1 2"},
    {"bytes into tiles of 2 x 2", TESELA_SOLVER_BITS, 8, 2, {64, 128}, "1/2 0/2 1 0", "0 1"},
    {"bytes into tiles of 3 x 5", TESELA_SOLVER_BITS, 8, 2, {60, 120}, "1/3 0/5 1 0", "0 1"},
    {"2 bytes out of tiles of tiles", TESELA_SOLVER_BITS, 16, 3, {3, 16, 48}, "0 1 2", "0 1/8 2/2 1/2 2 1"},
    {"4 bytes, three dims in another order", TESELA_SOLVER_BITS, 32, 4, {16, 52, 3, 2}, "1 3 0 2", "0 1 2 3"},
    {"every third of 8 bytes, transposed", TESELA_SOLVER_BITS, 64, 2, {64, 96}, "1 0", "0@300 1@3 +1"},
    {"16 bytes into tiles", TESELA_SOLVER_BITS, 128, 2, {32, 48}, "1/2 0/4 0 1", "0 1"},
    {"element by element", TESELA_SOLVER_STRIDED, 32, 2, {33, 65}, "1 0", "0 1"},
    {"every third", TESELA_SOLVER_STRIDED, 16, 1, {500}, "0@3", "0@5"},
    {"reversed", TESELA_SOLVER_STRIDED, 8, 1, {500}, "0", "0@-1 +499"},
    {"every second byte", TESELA_SOLVER_STRIDED, 8, 1, {5000}, "0", "0@2"},
    {"every fifth f32, rows apart", TESELA_SOLVER_STRIDED, 32, 2, {30, 301}, "0 1", "0@1600 1@5 +3"},
    {"to every third", TESELA_SOLVER_STRIDED, 8, 1, {5000}, "0@3", "0"},
    {"to every second backwards", TESELA_SOLVER_STRIDED, 32, 1, {700}, "0@-2 +1398", "0"},
    {"rows of 2 bytes reversed", TESELA_SOLVER_STRIDED, 16, 2, {40, 200}, "0 1", "0@200 1@-1 +199"},
    {"nibbles reversed", TESELA_SOLVER_STRIDED, 4, 1, {501}, "0", "0@-1 +500"},
    {"one value everywhere", TESELA_SOLVER_STRIDED, 64, 2, {30, 20}, "0 1", "0@0 1@0"},
    {"splits that do not nest", TESELA_SOLVER_GATHER, 32, 2, {50, 60}, "0/7 1 0", "0/5 1 0"},
    {"tiles that do not nest", TESELA_SOLVER_GATHER, 32, 2, {50, 60}, "0/8 1/16 0 1", "0/6 1/10 0 1"},
    {"tiles of bytes that do not nest", TESELA_SOLVER_GATHER, 8, 2, {70, 90}, "0/8 1/32 0 1", "0/6 1/20 0 1"},
    {"tiles of 2 bytes that do not nest",
     TESELA_SOLVER_GATHER,
     16,
     2,
     {50, 60},
     "0/8 1/16 0/2 1 0",
     "0/6 1/10 0 1"},
    {"tiles of 16 bytes that do not nest",
     TESELA_SOLVER_GATHER,
     128,
     2,
     {30, 40},
     "0/8 1/16 0 1",
     "0/6 1/10 0 1"},
    {"tiles of nibbles that do not nest",
     TESELA_SOLVER_GATHER,
     4,
     2,
     {50, 60},
     "0/8 1/16 0 1",
     "0/6 1/10 0 1"},
    {"tiles of bits that do not nest", TESELA_SOLVER_GATHER, 1, 2, {50, 60}, "1/8 0/16 1 0", "0/6 1/10 0 1"},
    {"transposed tiles that do not nest",
     TESELA_SOLVER_GATHER,
     32,
     2,
     {90, 140},
     "1/8 0/16 1 0",
     "0/6 1/10 0 1"},
    {"transposed tiles of 8 bytes in replicas",
     TESELA_SOLVER_GATHER,
     64,
     2,
     {50, 60},
     "r3 1/8 0/16 1 0",
     "0/6 1/10 0 1"},
    {"tiles that do not nest, of three dims",
     TESELA_SOLVER_GATHER,
     8,
     3,
     {17, 23, 31},
     "1/3 2/4 0/5 1 2 0",
     "2/3 0/4 1/5 0 2 1"},
    {"five planes of bytes", TESELA_SOLVER_PERMUTE, 8, 2, {5, 1300}, "1 0", "0 1"},
    {"five planes out of bytes", TESELA_SOLVER_PERMUTE, 8, 2, {1300, 5}, "1 0", "0 1"},
    {"records of 4 x 6", TESELA_SOLVER_PERMUTE, 32, 3, {40, 4, 6}, "0 2 1", "0 1 2"},
    {"records of 3 into rows of 8", TESELA_SOLVER_PERMUTE, 32, 2, {200, 3}, "0 1/8 1", "0 1"},
    {"rows of 3 bytes out of 7", TESELA_SOLVER_PERMUTE, 8, 2, {500, 3}, "0 1", "0@7 1@1 +3"},
    {"rows of 3 bytes reversed into 7",
     TESELA_SOLVER_PERMUTE,
     8,
     2,
     {500, 3},
     "0@7 1@1 +3",
     "0@-3 1@1 +1497"},
    {"rows of 5 halves", TESELA_SOLVER_PERMUTE, 16, 3, {9, 64, 5}, "1 0 2", "0 1 2"},
    {"pairs in fours", TESELA_SOLVER_PERMUTE, 16, 2, {40, 200}, "0/4 1/8 0/2 1 0", "0 1"},
    {"bytes out of fours of 16",
     TESELA_SOLVER_PERMUTE,
     8,
     2,
     {48, 256},
     "0/16 1/16 0 1",
     "0/8 1/128 0/4 1 0"},
    {"bytes to fours of 16 that are apart",
     TESELA_SOLVER_PERMUTE,
     8,
     2,
     {384, 48},
     "1/8 0/16 1 0",
     "0/128 1/16 0 1"},
    {"planes of pairs that begin in one line and end in the next",
     TESELA_SOLVER_PERMUTE,
     32,
     3,
     {6, 400, 2},
     "1@16 0@2 2@1",
     "0@832 1@2 2@1 +1"},
    {"columns of 2 x 4", TESELA_SOLVER_PERMUTE, 64, 4, {4, 2, 90, 6}, "3 2 1 0", "0 2 3 1"},
    {"pairs of nibbles out of three", TESELA_SOLVER_PERMUTE, 4, 3, {700, 3, 2}, "0 2 1", "0 1 2"},
    {"five planes of bits", TESELA_SOLVER_PERMUTE, 1, 2, {5, 5003}, "1 0", "0 1"},
    {"three rows of 2 bits out of rows of 15", TESELA_SOLVER_PERMUTE, 2, 3, {9, 3, 1001}, "0 2 1", "0 1 2"},
    {"nibbles of 7 into padded tiles", TESELA_SOLVER_PERMUTE, 4, 2, {800, 7}, "0/4 1/8 0/2 1 0", "0 1"},
    {"2 bits out of padded tiles", TESELA_SOLVER_PERMUTE, 2, 3, {32, 9, 16}, "0 1 2", "1/8 2/128 0 2 1"},
    {"2 bits into tiles, some lines all padding",
     TESELA_SOLVER_PERMUTE,
     2,
     2,
     {35, 2137},
     "0/16 1/128 0/8 1 0",
     "0 1"},
    {"bits to rows at any bit", TESELA_SOLVER_PERMUTE, 1, 2, {55, 1991}, "0 1", "0/64 1/64 0 1"},
    {"bits backwards, shifted", TESELA_SOLVER_PERMUTE, 1, 2, {6, 3000}, "1@7 0@1 +3", "0@-3001 1@1 +15010"},
    {"gather of what is regular", TESELA_SOLVER_GATHER, 8, 2, {50, 60}, "1 0", "0 1"},
    {"gather of nibbles into tiles", TESELA_SOLVER_GATHER, 4, 2, {50, 60}, "0/8 1/16 0 1", "1 0"},
};

static void make(const row *r, const int64_t *shape, pair *p) {
  *p = (pair){.fill = TESELA_FILL_VALUE};
  memset(p->fill_value, 0x66, sizeof p->fill_value);
  assert_true(layout_of_digits(&p->dst, TESELA_DTYPE_NONE, r->bits, r->rank, shape, r->dst));
  assert_true(layout_of_digits(&p->src, TESELA_DTYPE_NONE, r->bits, r->rank, shape, r->src));
}

static void run(const row *r, const bench *b, const trial *t, bool must_apply) {
  char reason[REASON], how[PAIR_TEXT], what[PAIR_TEXT];
  tesela_plan_info info;
  if (!run_bench(b, t, &info, reason)) {
    trial_text(t, how);
    pair_text(&b->p, what);
    print_error("%s\n%s\n", what, how);
    fail_msg("%s: %s", r->name, reason);
  }
  if (must_apply && info.solver != r->solver)
    fail_msg("%s: %s does it, not %s", r->name, tesela_solver_name(info.solver),
             tesela_solver_name(r->solver));
}

/* The row as it stands must use its solver, at each phase of a line, on each instruction set. */
static void test_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    pair p;
    bench b;
    make(&rows[i], rows[i].shape, &p);
    assert_true(make_bench(&b, &p, i));
    for (int isa = TESELA_ISA_BEST; isa <= TESELA_ISA_AVX512; isa++) {
      if (!tesela_isa_available((tesela_isa)isa)) continue;
      trial t = {.options = {.solver = rows[i].solver, .isa = (tesela_isa)isa, .threads = 1}, .at_end = true};
      run(&rows[i], &b, &t, true);
      t.at_end = false;
      for (int phase = 0; phase < 64; phase += slow_run() ? 21 : 7) {
        t.dst_shift = (uint8_t)phase;
        t.src_shift = (uint8_t)(phase * 5 % 64);
        t.options.shuffle = (uint64_t)phase; /* tiles and kinds of stores at random */
        run(&rows[i], &b, &t, phase == 0);
      }
    }
    free_bench(&b);
  }
}

/* Its neighbours: an extent more or less. The solver may give parts to others; all must be right. */
static void test_neighbours(void **state) {
  (void)state;
  uint64_t random = 99;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (int k = 0; k < (slow_run() ? 2 : 12); k++) {
      int64_t shape[4];
      pair p;
      bench b;
      for (int d = 0; d < rows[i].rank; d++) {
        shape[d] = rows[i].shape[d] - (int64_t)(mixed(&random) % 4);
        if (shape[d] < 1) shape[d] = 1;
      }
      make(&rows[i], shape, &p);
      assert_true(make_bench(&b, &p, i));
      for (int j = 0; j < 3; j++) {
        trial t;
        draw_trial(&random, &t);
        t.options.solver = j < 2 ? rows[i].solver : TESELA_SOLVER_ANY;
        run(&rows[i], &b, &t, false);
      }
      free_bench(&b);
    }
}

/* Small matrices side by side, each of which becomes its transpose: r x c numbers of `bits` on both sides. */
static const struct {
  const char *kernel;
  int32_t bits;
  int64_t r, c;
} mixes[] = {
    {"mix2x2x8", 8, 2, 2},   {"mix2x4x8", 8, 2, 4},   {"mix4x2x8", 8, 4, 2},   {"mix2x8x8", 8, 2, 8},
    {"mix8x2x8", 8, 8, 2},   {"mix4x4x8", 8, 4, 4},   {"mix2x2x16", 16, 2, 2}, {"mix2x4x16", 16, 2, 4},
    {"mix4x2x16", 16, 4, 2}, {"mix2x2x32", 32, 2, 2},
};

/* Does the plan for this ISA say that it uses a kernel of this name? */
static bool uses(const pair *p, const char *kernel, tesela_isa isa) {
  const tesela_plan_options options = {.isa = isa};
  char text[8000];
  tesela_buffer words = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&words);
  tesela_plan *plan = NULL;
  assert_int_equal(tesela_plan_create(&plan, &p->dst, &p->src, &options, NULL), TESELA_OK);
  assert_int_equal(tesela_plan_explain(plan, &to, NULL), TESELA_OK);
  tesela_plan_destroy(plan);
  return strstr(text, kernel);
}

/* The matrices one after another (`other` false) or transposed themselves; `less`: partial ones at both edges. */
static void check_mix(size_t i, bool other, int64_t less) {
  char dst[40], src[40];
  int64_t r = mixes[i].r, c = mixes[i].c, shape[2] = {r * 40 - less, c * 24 - less};
  snprintf(src, sizeof src, "0/%d 1/%d 0 1", (int)r, (int)c);
  snprintf(dst, sizeof dst, other ? "1/%d 0/%d 1 0" : "0/%d 1/%d 1 0", (int)(other ? c : r),
           (int)(other ? r : c));
  row mixed_row = {mixes[i].kernel, TESELA_SOLVER_ANY, mixes[i].bits, 2, {0}, dst, src};
  pair p;
  bench b;
  make(&mixed_row, shape, &p);
  if (!uses(&p, mixes[i].kernel, TESELA_ISA_BEST)) fail_msg("%s is not used", mixes[i].kernel);
  assert_true(make_bench(&b, &p, i));
  for (int isa = TESELA_ISA_BEST; isa <= TESELA_ISA_AVX512; isa++)
    for (uint64_t k = 0; k < 3; k++) {
      if (!tesela_isa_available((tesela_isa)isa)) continue;
      trial t = {.options = {.isa = (tesela_isa)isa, .threads = 1, .shuffle = k}, .at_end = k == 0};
      t.dst_shift = t.src_shift = (uint8_t)(k * 3);
      run(&mixed_row, &b, &t, false);
    }
  free_bench(&b);
}

static void test_mixes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++)
    for (int64_t less = 0; less < 2; less++) {
      check_mix(i, false, less);
      check_mix(i, true, less);
    }
}

/* Several short loops that change places, or partial tiles between others: tiles in buffers with several passes, by estimate in
 * plain C; what has a faster kernel may go another way. */
static void test_passes(void **state) {
  static const struct {
    const char *words;
    row row;
  } passing[] = {
      {"in two passes",
       {"bytes into tiles of 2 x 2", TESELA_SOLVER_ANY, 8, 2, {128, 256}, "1/2 0/2 1 0", "0 1"}},
      {"in two passes",
       {"the same of odd extents", TESELA_SOLVER_ANY, 8, 2, {1001, 703}, "1/2 0/2 1 0", "0 1"}},
      {"in two passes",
       {"bytes, dims of 2 apart", TESELA_SOLVER_ANY, 8, 4, {64, 2, 128, 2}, "2 0 3 1", "0 1 2 3"}},
      {"in two passes",
       {"bytes into tiles of 3 x 5", TESELA_SOLVER_ANY, 8, 2, {300, 500}, "1/3 0/5 1 0", "0 1"}},
      {"2 boxes together",
       {"12 bits in tiles of 2 x 8", TESELA_SOLVER_ANY, 1, 2, {4001, 12}, "0/2 1/8 0 1", "0 1"}},
      {"2 boxes together",
       {"several such", TESELA_SOLVER_ANY, 1, 3, {3, 1001, 12}, "0 1/2 2/8 1 2", "0 1 2"}},
      {"2 boxes together",
       {"11 elements of 2 bits", TESELA_SOLVER_ANY, 2, 2, {3003, 11}, "0/4 1/4 0 1", "0 1"}},
      {"2 boxes together", {"39 nibbles", TESELA_SOLVER_ANY, 4, 2, {1026, 39}, "0/4 1/32 0 1", "0 1"}},
      {"4 boxes together",
       {"partial tiles of two dims", TESELA_SOLVER_ANY, 1, 3, {1500, 7, 11}, "0 1/4 2/8 1 2", "0 1 2"}},
      {"2 boxes together",
       {"tiles of 2 x 8 to 12 bits", TESELA_SOLVER_ANY, 1, 2, {4001, 12}, "0 1", "0/2 1/8 0 1"}},
      {"2 boxes together",
       {"back to several such", TESELA_SOLVER_ANY, 1, 3, {3, 1001, 12}, "0 1 2", "0 1/2 2/8 1 2"}},
      {"2 boxes together",
       {"back to 11 elements of 2 bits", TESELA_SOLVER_ANY, 2, 2, {3003, 11}, "0 1", "0/4 1/4 0 1"}},
      {"2 boxes together",
       {"back to 39 nibbles", TESELA_SOLVER_ANY, 4, 2, {1026, 39}, "0 1", "0/4 1/32 0 1"}},
      {"4 boxes together",
       {"from partial tiles of two dims", TESELA_SOLVER_ANY, 1, 3, {1500, 7, 11}, "0 1 2", "0 1/4 2/8 1 2"}},
  };
  (void)state;
  for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++) {
    pair p;
    bench b;
    make(&passing[i].row, passing[i].row.shape, &p);
    if (!uses(&p, passing[i].words, TESELA_ISA_C))
      fail_msg("%s: not %s", passing[i].row.name, passing[i].words);
    assert_true(make_bench(&b, &p, i));
    for (int isa = TESELA_ISA_BEST; isa <= TESELA_ISA_AVX512; isa++)
      for (uint64_t k = 0; k < 3; k++) {
        if (!tesela_isa_available((tesela_isa)isa)) continue;
        trial t = {.options = {.isa = (tesela_isa)isa, .threads = 1 + (int32_t)k, .shuffle = k},
                   .at_end = k == 0};
        t.dst_shift = t.src_shift = (uint8_t)(k * 3);
        run(&passing[i].row, &b, &t, false);
      }
    free_bench(&b);
  }
}

/* Several pieces that have parts of the same lines go past the cache by the gather; a piece that writes its padding along stays one. */
static void test_shared_lines(void **state) {
  static const struct {
    bool gathers;
    row row;
  } shared[] = {
      {true,
       {"bytes in tiles of 20 x 20 to 32 x 2",
        TESELA_SOLVER_ANY,
        8,
        3,
        {2000, 28, 273},
        "0 1/32 2/2 1 2",
        "0 1/20 2/20 1 2"}},
      {true,
       {"bytes in tiles of 3 x 20 to 7 x 50",
        TESELA_SOLVER_ANY,
        8,
        3,
        {60000, 4, 48},
        "0 1/7 2/50 1 2",
        "0 1/3 2/20 1 2"}},
      {false,
       {"pairs of bytes before padding", TESELA_SOLVER_ANY, 8, 3, {400, 6119, 2}, "0 1/32 2/8 1 2", "0 1 2"}},
  };
  (void)state;
  for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
    pair p;
    bench b;
    make(&shared[i].row, shared[i].row.shape, &p);
    if (uses(&p, "by tables of offsets", TESELA_ISA_BEST) != shared[i].gathers)
      fail_msg("%s: %s", shared[i].row.name, shared[i].gathers ? "not by the gather" : "by the gather");
    assert_true(make_bench(&b, &p, i));
    for (int32_t threads = 1; threads <= 3; threads += 2)
      run(&shared[i].row, &b, &(trial){.options = {.threads = threads}, .at_end = threads == 1}, false);
    free_bench(&b);
  }
}

/* The gather uses tables wherever both sides are sums, and then threads; elements that share bytes have one. */
static void test_tables(void **state) {
  (void)state;
  static const struct {
    const char *words;
    int32_t bits, threads;
    const char *dst, *src;
  } gathers[] = {
      {"by tables of offsets", 32, 3, "0/8 1/16 0 1", "0/6 1/10 0 1"},
      {"by tables of offsets", 4, 1, "0/8 1/16 0 1", "0/6 1/10 0 1"},
  };
  for (size_t i = 0; i < sizeof gathers / sizeof gathers[0]; i++) {
    const row r = {"tables", TESELA_SOLVER_ANY, gathers[i].bits, 2, {0}, gathers[i].dst, gathers[i].src};
    const int64_t shape[2] = {2000, 3000};
    const tesela_plan_options options = {.threads = 3};
    tesela_plan *plan = NULL;
    tesela_plan_info info;
    pair p;
    make(&r, shape, &p);
    if (!uses(&p, gathers[i].words, TESELA_ISA_BEST)) fail_msg("row %zu is not done %s", i, gathers[i].words);
    assert_int_equal(tesela_plan_create(&plan, &p.dst, &p.src, &options, NULL), TESELA_OK);
    tesela_plan_describe(plan, &info);
    assert_int_equal(info.threads, gathers[i].threads);
    tesela_plan_destroy(plan);
  }
}

/* Of 16 channels 6 have data, and a transpose writes the padding with its rows: then the gather is of no use. */
static void test_mostly_padding(void **state) {
  (void)state;
  const row r = {"channels", TESELA_SOLVER_ANY, 8, 3, {0}, "0 1/16 2 1", "0 1 2"};
  const int64_t shape[3] = {8, 6, 562320};
  tesela_plan *plan = NULL;
  tesela_plan_info info;
  pair p;
  make(&r, shape, &p);
  assert_int_equal(tesela_plan_create(&plan, &p.dst, &p.src, NULL, NULL), TESELA_OK);
  tesela_plan_describe(plan, &info);
  assert_true(info.solver != TESELA_SOLVER_GATHER);
  tesela_plan_destroy(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),           cmocka_unit_test(test_tables),
      cmocka_unit_test(test_neighbours),     cmocka_unit_test(test_mixes),
      cmocka_unit_test(test_passes),         cmocka_unit_test(test_shared_lines),
      cmocka_unit_test(test_mostly_padding),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
