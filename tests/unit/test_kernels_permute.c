/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kernels_permute.c - permutes of bytes and of bits with every kernel that this CPU can run, against loops written from the contracts
 * in kernels.h. Arenas as in test_kernels_rows.c; TESELA_SEED sets the seed.
 */
#include "support_kernels.h"
#include "support_seed.h"

enum { MOST_BLOCKS = 21, LINES = 3, BLOCK = LINES * 64, REACH = 200, TRIALS = 1500 };

/* ---- bytes -------------------------------------------------------------------------------------------------- */

/* A pick of nothing yet, whose stretch is sometimes read whole. */
static void draw_pick(tesela__line_pick *pick, uint32_t stretch) {
  *pick = (tesela__line_pick){.from = below(REACH)};
  memset(pick->index, TESELA__NO_BYTE, sizeof pick->index);
  if (below(2)) pick->read = stretch == 64 ? ~(uint64_t)0 : ((uint64_t)1 << stretch) - 1;
}

/* Lines of dst one after another, each with a few picks of disjoint bytes from anywhere. */
static void try_permute(const tesela__kernel *kernel) {
  enum { PICKS = 4 };
  static tesela__line_pick pick[LINES * PICKS];
  tesela__picked_line line[LINES];
  uint8_t fill[64];
  const bool filled = below(2), stream = below(2);
  const int32_t n_lines = 1 + (int32_t)below(LINES);
  int64_t dst_off[MOST_BLOCKS], src_off[MOST_BLOCKS], count = 1 + below(MOST_BLOCKS);
  const uint32_t stretch = (uint32_t)kernel->block;
  for (int i = 0; i < 64; i++) fill[i] = (uint8_t)below(256);
  for (int32_t i = 0, n = 0; i < n_lines; i++) {
    line[i] = (tesela__picked_line){.to = i * 64, .first = n, .n = (int32_t)below(PICKS + 1)};
    n += line[i].n;
    for (int32_t k = line[i].first; k < n; k++) draw_pick(&pick[k], stretch);
    for (int b = 0; b < 64 && line[i].n; b++) {
      if (below(8) == 0) continue;
      tesela__line_pick *p = &pick[line[i].first + below(line[i].n)];
      p->index[b] = (uint8_t)below(stretch);
      p->read |= (uint64_t)1 << p->index[b];
      p->write |= (uint64_t)1 << b;
      line[i].write |= (uint64_t)1 << b;
    }
    if (filled) line[i].write = below(2) ? ~(uint64_t)0 : line[i].write | 0xff;
  }
  const int64_t at = place(BLOCK * MOST_BLOCKS), base = below(2) ? at / 64 * 64 : at;
  reset_dst();
  for (int64_t r = 0; r < count; r++) {
    dst_off[r] = (count - 1 - r) * BLOCK;
    src_off[r] = place(REACH + 64);
    for (int32_t i = 0; i < n_lines; i++)
      for (int b = 0; b < 64; b++) {
        unsigned char *to = &want[base + dst_off[r] + i * 64 + b];
        if (filled && line[i].write >> b & 1) *to = fill[b];
        for (int32_t k = line[i].first; k < line[i].first + line[i].n; k++)
          if (pick[k].write >> b & 1) *to = src_arena[src_off[r] + pick[k].from + pick[k].index[b]];
      }
  }
  const tesela__rows rows = {.n = 1,
                             .stores = stream ? TESELA__PAST_CACHE : TESELA__TO_CACHE,
                             .permute = {line, pick, NULL, n_lines, filled ? fill : NULL}};
  ((tesela__rows_fn *)kernel->fn)(&rows, dst_arena + base, dst_off, src_arena, src_off, count);
  tesela__fence();
  check_dst(kernel, stream ? "stream" : "cached");
}

/* ---- bits --------------------------------------------------------------------------------------------------- */

enum { ROUNDS = 3, PICKS_OF_ROUND = 3 };

typedef struct bits_case {
  tesela__picked_line line[LINES];
  tesela__bit_round round[LINES * (ROUNDS + 1)];
  tesela__line_pick pick[LINES * ROUNDS * PICKS_OF_ROUND];
  int32_t n_lines, n_rounds, n_picks;
  bool filled;
  uint8_t fill[64];
} bits_case;

/* Picks of disjoint bytes, some of none; any shifts. */
static void draw_round(bits_case *c, tesela__bit_round *round, uint8_t *own, uint32_t stretch) {
  *round = (tesela__bit_round){.first = c->n_picks, .n = (int32_t)below(PICKS_OF_ROUND + 1)};
  c->n_picks += round->n;
  for (int32_t k = 0; k < round->n; k++) draw_pick(&c->pick[round->first + k], stretch);
  for (int b = 0; b < 64; b++) {
    round->shift[b] = (uint8_t)below(64);
    round->mask[b] = below(4) ? 0 : (uint8_t)below(256);
    own[b] |= round->mask[b];
    if (round->n == 0 || below(8) == 0) continue;
    tesela__line_pick *p = &c->pick[round->first + below(round->n)];
    p->index[b] = (uint8_t)below(stretch);
    p->read |= (uint64_t)1 << p->index[b];
    p->write |= (uint64_t)1 << b;
  }
}

/* A line keeps the bits that no round has, or has them filled (0 without a fill value). */
static void draw_line(bits_case *c, tesela__picked_line *line, int32_t number, uint32_t stretch) {
  uint8_t own[64] = {0};
  *line = (tesela__picked_line){
      .to = number * 64, .first = c->n_rounds, .n = (int32_t)below(ROUNDS + 1), .keeps = below(2)};
  for (int32_t r = 0; r < line->n; r++) draw_round(c, &c->round[c->n_rounds++], own, stretch);
  memcpy(c->round[c->n_rounds++].mask, own, sizeof own);
  line->write = below(3) == 0 ? ~(uint64_t)0 : next() | next();
}

/* Bit `bit` of byte `at` after a round, or -1: the round does not have it. */
static int bit_of_round(const bits_case *c, const tesela__bit_round *round, const unsigned char *src, int at,
                        int bit) {
  if (!(round->mask[at] >> bit & 1)) return -1;
  const int from = (round->shift[at] + bit) % 64, byte = at / 8 * 8 + from / 8;
  for (int32_t k = round->first; k < round->first + round->n; k++)
    if (c->pick[k].write >> byte & 1) return src[c->pick[k].from + c->pick[k].index[byte]] >> from % 8 & 1;
  return 0;
}

static void expect_line(const bits_case *c, const tesela__picked_line *line, unsigned char *to,
                        const unsigned char *src) {
  for (int at = 0; at < 64; at++) {
    if (!(line->write >> at & 1)) continue;
    for (int bit = 0; bit < 8; bit++) {
      const bool own = c->round[line->first + line->n].mask[at] >> bit & 1;
      int value = c->filled ? c->fill[at] >> bit & 1 : 0;
      if (line->keeps && !own) value = to[at] >> bit & 1;
      for (int32_t r = line->first; r < line->first + line->n; r++) {
        const int found = bit_of_round(c, &c->round[r], src, at, bit);
        if (found >= 0) value = found;
      }
      to[at] = (unsigned char)((to[at] & ~(1 << bit)) | value << bit);
    }
  }
}

static void try_permute_bits(const tesela__kernel *kernel) {
  static bits_case c;
  const bool stream = below(2);
  int64_t dst_off[MOST_BLOCKS], src_off[MOST_BLOCKS], count = 1 + below(MOST_BLOCKS);
  c.n_rounds = c.n_picks = 0;
  c.n_lines = 1 + (int32_t)below(LINES);
  c.filled = below(2);
  for (int i = 0; i < 64; i++) c.fill[i] = (uint8_t)below(256);
  for (int32_t i = 0; i < c.n_lines; i++) draw_line(&c, &c.line[i], i, (uint32_t)kernel->block);
  const int64_t at = place(BLOCK * MOST_BLOCKS), base = below(2) ? at / 64 * 64 : at;
  reset_dst();
  for (int64_t r = 0; r < count; r++) {
    dst_off[r] = (count - 1 - r) * BLOCK;
    src_off[r] = place(REACH + 64);
    for (int32_t i = 0; i < c.n_lines; i++)
      expect_line(&c, &c.line[i], want + base + dst_off[r] + c.line[i].to, src_arena + src_off[r]);
  }
  const tesela__rows rows = {.n = 1,
                             .stores = stream ? TESELA__PAST_CACHE : TESELA__TO_CACHE,
                             .permute = {c.line, c.pick, c.round, c.n_lines, c.filled ? c.fill : NULL}};
  ((tesela__rows_fn *)kernel->fn)(&rows, dst_arena + base, dst_off, src_arena, src_off, count);
  tesela__fence();
  check_dst(kernel, stream ? "stream" : "cached");
}

/* ---- tests -------------------------------------------------------------------------------------------------- */

static void try_each(tesela__kernel_kind kind, try_fn *try) {
  fill_src();
  protect_src(true);
  try_kinds(kind, kind, try, slow_run() ? TRIALS / 10 : TRIALS);
}

static void test_bytes(void **unused) {
  (void)unused;
  try_each(TESELA__K_PERMUTE, try_permute);
}

static void test_bits(void **unused) {
  (void)unused;
  try_each(TESELA__K_PERMUTE_BITS, try_permute_bits);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes), cmocka_unit_test(test_bits)};
  return cmocka_run_group_tests_name("kernels_permute", tests, set_up_arenas, NULL);
}
