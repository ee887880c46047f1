/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relayout_padding.c - padding that follows rows, which the pieces of elements write, and what must not be written.
 *
 * A row is a copy whose dst has padding after its rows, in all of the ways that end rows: within a tile, within a line, at the last
 * tile, after single elements. Each runs with every fill, for elements of 1 bit to 16 bytes, on every instruction set, with 1 to 4
 * threads, streamed or not, from buffers that begin after or end at an inaccessible page. The oracle lists all places of dst by the
 * definition, so bytes outside of the layout's places must be as before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support_relayout.h"
#include "support_seed.h"

typedef struct row {
  const char *name;
  int32_t rank;
  int64_t shape[4];
  const char *dst, *src; /* digits, see support_relayout.h */
} row;

static const row rows[] = {
    {"channels to blocks of 16, 3 in the last", 3, {2, 35, 113}, "0 1/16 2 1", "0 1 2"},
    {"one channel in a block of 4", 3, {2, 1, 300}, "0 1/4 2 1", "0 1 2"},
    {"three channels in a block of 4", 3, {2, 3, 300}, "0 1/4 2 1", "0 1 2"},
    {"three channels in a block of 8", 3, {2, 3, 301}, "0 1/8 2 1", "0 1 2"},
    {"three channels in a block of 64", 3, {1, 3, 77}, "0 1/64 2 1", "0 1 2"},
    {"five channels in a block of 300", 3, {1, 5, 37}, "0 1/300 2 1", "0 1 2"},
    {"channels last to blocks", 3, {2, 70, 35}, "0 2/16 1 2", "0 1 2"},
    {"rows to tiles of 4 by 4", 2, {63, 61}, "0/4 1/4 0 1", "0 1"},
    {"columns to tiles of 4 by 4", 2, {63, 61}, "0/4 1/4 0 1", "1 0"},
    {"columns to tiles of 16 by 16", 2, {63, 95}, "0/16 1/16 0 1", "1 0"},
    {"rows to tiles of 8 by 128", 2, {61, 317}, "0/8 1/128 0 1", "0 1"},
    {"columns to tiles of 8 by 128", 2, {61, 317}, "0/8 1/128 0 1", "1 0"},
    {"rows to transposed tiles", 2, {61, 93}, "1/8 0/32 1 0", "0 1"},
    {"transposed tiles to tiles", 2, {61, 93}, "0/8 1/32 0 1", "1/8 0/32 1 0"},
    {"pairs of rows, the last alone", 2, {31, 129}, "0/2 1 0", "0 1"},
    {"fours of rows in tiles, the last one short", 2, {30, 130}, "0/8 1/128 0/4 1 0", "0 1"},
    {"rows in a hole", 2, {40, 61}, "0 1/5 1(8)", "0 1"},
    {"rows of 13 in 16, transposed", 2, {13, 500}, "1 0(16)", "0 1"},
    {"rows of 3 in 5, transposed", 2, {3, 400}, "1 0(5)", "0 1"},
    {"two rows of tiles of 4 in 8", 3, {3, 2, 300}, "0 1/8 2/128 1/4 2 1", "0 1 2"},
    {"four rows in packs of 8", 3, {3, 4, 300}, "0 1/8 2/128 2 1", "0 1 2"},
    {"two rows in packs of 8, many columns", 2, {2, 2604}, "0/8 1/4 1 0", "0 1"},
    {"7 of 8, rows that begin at any bit", 3, {5, 71, 7}, "0 1/32 2/8 1 2", "0 1 2"},
    {"short rows in wide ones, the last tile short", 2, {70, 52}, "0/8 1/256 0 1", "0 1"},
    {"columns to tiles of 32 by 32", 3, {40, 37, 30}, "0 1/32 2/32 1 2", "1 2 0"},
    {"tiles of 4 by 4, all dims short", 4, {3, 5, 14, 19}, "0 1 2/4 3/4 2 3", "0 1 2 3"},
    {"rows read backwards, transposed", 2, {61, 93}, "1/4 0/16 1 0", "0@93 1@-1 +92"},
    {"rows of 13 in 16, transposed in replicas", 2, {13, 100}, "r3 1 0(16)", "0 1"},
    {"rows of 13 in 16, of every second", 2, {13, 300}, "1 0(16)", "0@600 1@2"},
    {"rows of 13 in 16, of every third backwards", 2, {13, 200}, "1 0(16)", "0@600 1@-3 +597"},
    {"single elements in holes of 4", 1, {700}, "0 h4", "0"},
    {"rows before a pitch", 3, {3, 13, 100}, "0@2000 2@20 1(16)@1", "0 1 2"},
    {"an offset and places behind", 2, {13, 100}, "1@16 0(14)@1 +3 =1700", "0 1"},
    {"rows at a pitch of a page", 2, {45, 130}, "1/4 0/16 1 0", "0@4096 1@1"},
    {"short rows that follow each other", 3, {24, 6, 70}, "2 0 1", "0 2 1"},
    {"short rows of a transpose, in another order", 4, {6, 5, 7, 33}, "3 1 0 2", "0 1 2 3"},
};

static const int32_t widths[] = {8, 16, 32, 64, 128, 4, 2, 1};

static bool make(const row *r, const int64_t *shape, int32_t bits, tesela_fill fill, pair *p) {
  *p = (pair){.fill = fill};
  for (size_t i = 0; i < sizeof p->fill_value; i++) p->fill_value[i] = (uint8_t)(0x31 + 7 * i);
  return layout_of_digits(&p->dst, TESELA_DTYPE_NONE, bits, r->rank, shape, r->dst) &&
         layout_of_digits(&p->src, TESELA_DTYPE_NONE, bits, r->rank, shape, r->src);
}

static void run(const row *r, const bench *b, const trial *t) {
  char reason[REASON], how[PAIR_TEXT], what[PAIR_TEXT];
  if (run_bench(b, t, NULL, reason)) return;
  trial_text(t, how);
  pair_text(&b->p, what);
  print_error("%s\n%s\n", what, how);
  fail_msg("%s: %s", r->name, reason);
}

/* On the instruction set with 1 to 4 threads in turn, at both ends of a page; then tiles, stores and solvers at random. */
static void run_isa(const row *r, const bench *b, tesela_isa isa, uint64_t *random) {
  static int n;
  for (int k = 0; k < 2; k++, n++) {
    trial t = {.options = {.isa = isa, .threads = 1 + n / 2 % 4}, .at_end = n / 8 % 2};
    if (k == 1) t.dst_shift = (uint8_t)(mixed(random) % 64);
    if (k == 1) t.src_shift = (uint8_t)(mixed(random) % 64);
    if (k == 1) t.options.shuffle = mixed(random) | 1;
    run(r, b, &t);
  }
}

static void test_fills(void **state) {
  static const tesela_fill fills[] = {TESELA_FILL_ZERO, TESELA_FILL_VALUE, TESELA_FILL_LEAVE};
  uint64_t random = first_seed();
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
      for (int f = 0; f < 3; f++) {
        pair p;
        bench b;
        assert_true(make(&rows[i], rows[i].shape, widths[w], fills[f], &p));
        assert_true(make_bench(&b, &p, mixed(&random)));
        for (int isa = TESELA_ISA_BEST; isa <= TESELA_ISA_AVX512; isa++)
          if (tesela_isa_available((tesela_isa)isa) &&
              (isa == TESELA_ISA_BEST || fills[f] == TESELA_FILL_VALUE))
            run_isa(&rows[i], &b, (tesela_isa)isa, &random);
        free_bench(&b);
      }
}

/* Other extents, so that rows end elsewhere. */
static void test_extents(void **state) {
  uint64_t random = first_seed() + 1;
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (int k = 0; k < (slow_run() ? 2 : 8); k++) {
      int64_t shape[4] = {0};
      pair p;
      bench b;
      for (int d = 0; d < rows[i].rank; d++)
        shape[d] = 1 + (int64_t)(mixed(&random) % (uint64_t)rows[i].shape[d]);
      assert_true(make(&rows[i], shape, widths[mixed(&random) % (sizeof widths / sizeof widths[0])],
                       TESELA_FILL_VALUE, &p));
      if (!make_bench(&b, &p, mixed(&random))) continue;
      trial t;
      for (int n = 0; n < 4; n++) {
        draw_trial(&random, &t);
        run(&rows[i], &b, &t);
      }
      free_bench(&b);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fills), cmocka_unit_test(test_extents)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
