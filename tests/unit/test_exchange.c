/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_exchange.c - plans that turn one register layout into another: right, of the cheapest kind, with fewest rounds.
 *
 * The result that a conversion must have comes from the mode lists, by support_exchange.c. The kind, the unit and the bound of rounds
 * are found again here by their definitions, from lists of all registers. That no plan of words of several units has fewer
 * rounds than is said: test_exchange_fewest.c.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_exchange.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

enum { MOST = 1 << 14 };

/* ---- what must be, by definition ------------------------------------------------------------------------------ */

/* All registers of one side: element of (thread, local), and where a thread has an element, -1 for nowhere. */
typedef struct side {
  int64_t threads, locals, elements;
  int64_t *element, *local_of;
} side;

static side list_side(const tesela_register *layout) {
  side s = {.threads = layout->spatial_size, .locals = layout->local_size, .elements = 1};
  for (int32_t m = 0; m < layout->n_modes; m++) s.elements *= layout->mode_shape[m];
  s.element = malloc((size_t)(s.threads * s.locals) * sizeof *s.element);
  s.local_of = malloc((size_t)(s.threads * s.elements) * sizeof *s.local_of);
  for (int64_t i = 0; i < s.threads * s.elements; i++) s.local_of[i] = -1;
  for (int64_t t = 0; t < s.threads; t++)
    for (int64_t l = 0; l < s.locals; l++) {
      int64_t e = exchange_element(layout, t, l);
      s.element[t * s.locals + l] = e;
      s.local_of[t * s.elements + e] = l;
    }
  return s;
}

static void drop_side(side *s) {
  free(s->element);
  free(s->local_of);
}

static int64_t where(const side *s, int64_t thread, int64_t e) {
  return thread < s->threads ? s->local_of[thread * s->elements + e] : -1;
}

static bool in_warp(const side *src, int64_t thread, int64_t e, int32_t warp) {
  for (int64_t t = thread / warp * warp; t < (thread / warp + 1) * warp; t++)
    if (where(src, t, e) >= 0) return true;
  return false;
}

static tesela_exchange_kind cheapest_kind(const side *dst, const side *src, int32_t warp) {
  bool nothing = true, permute = true;
  for (int64_t t = 0; t < dst->threads; t++)
    for (int64_t l = 0; l < dst->locals; l++) {
      int64_t e = dst->element[t * dst->locals + l], own = where(src, t, e);
      nothing = nothing && own == l;
      permute = permute && own >= 0;
      if (!in_warp(src, t, e, warp)) return TESELA_EXCHANGE_SHARED;
    }
  return nothing ? TESELA_EXCHANGE_NOTHING : permute ? TESELA_EXCHANGE_PERMUTE : TESELA_EXCHANGE_SHUFFLE;
}

/* Both layouts have the same modes: digits of 2 of a mode that is local in both go together, wherever they are. */
static int64_t best_unit(const tesela_register *dst, const tesela_register *src, int32_t bits) {
  int64_t unit = 1;
  for (int32_t i = 0; i < dst->n_local; i++)
    for (int32_t k = 0; k < src->n_local; k++)
      for (int64_t n = dst->mode_shape[dst->local_modes[i]];
           dst->local_modes[i] == src->local_modes[k] && n % 2 == 0 && 2 * unit * bits <= 32; n /= 2)
        unit *= 2;
  return unit;
}

static bool same_registers(const side *s, int64_t a, int64_t b) {
  return memcmp(s->element + a * s->locals, s->element + b * s->locals,
                (size_t)s->locals * sizeof *s->element) == 0;
}

/* The lower bound of one unit a round, from lists: what a lane takes; what lanes that hold the same must give to others, a lane one a round. */
static int64_t round_bound(const side *dst, const side *src, int64_t u, int32_t warp) {
  int64_t bound = 0;
  for (int64_t t = 0; t < dst->threads; t++) {
    int64_t takes = 0;
    for (int64_t l = 0; l < dst->locals; l++) takes += where(src, t, dst->element[t * dst->locals + l]) < 0;
    if (takes / u > bound) bound = takes / u;
  }
  for (int64_t s = 0; s < src->threads; s++) {
    int64_t twins = 0, gives = 0, start = s / warp * warp, end = start + warp;
    for (int64_t t = start; t < end && t < src->threads; t++) twins += same_registers(src, s, t);
    for (int64_t l = 0; l < src->locals; l++) {
      bool taken = false;
      int64_t e = src->element[s * src->locals + l];
      for (int64_t t = start; t < end && t < dst->threads; t++)
        taken = taken || (where(dst, t, e) >= 0 && where(src, t, e) < 0);
      gives += taken;
    }
    if ((gives / u + twins - 1) / twins > bound) bound = (gives / u + twins - 1) / twins;
  }
  return bound;
}

static bool copies_in_a_warp(const side *s, int32_t warp) {
  for (int64_t a = 0; a < s->threads; a++)
    for (int64_t b = a + 1; b < s->threads && b / warp == a / warp; b++)
      if (same_registers(s, a, b)) return true;
  return false;
}

/* ---- checks of one plan ----------------------------------------------------------------------------------------- */

/* Units are a permutation of the registers, on both sides. */
static void check_units(const tesela_exchange *plan, const char *text) {
  tesela_exchange_facts facts = tesela_exchange_facts_of(plan);
  for (int of_src = 0; of_src < 2; of_src++) {
    int64_t units = of_src ? facts.src_units : facts.dst_units, local;
    static unsigned char seen[MOST];
    memset(seen, 0, sizeof seen);
    for (int64_t u = 0; u < units; u++)
      for (int64_t k = 0; k < facts.unit; k++) {
        OK(tesela_exchange_register_of(plan, of_src, u, k, &local, &e_));
        if (local < 0 || local >= units * facts.unit || seen[local]++)
          fail_msg("a register in two units: %s", text);
      }
    assert_int_equal(tesela_exchange_register_of(plan, of_src, units, 0, &local, NULL), TESELA_E_RANGE);
    assert_int_equal(tesela_exchange_register_of(plan, of_src, 0, facts.unit, &local, NULL), TESELA_E_RANGE);
  }
}

/* Words of several units: who takes says from whom, and the phases of a thread do not go back. */
static void check_phases(const tesela_exchange *plan, const char *text) {
  tesela_exchange_facts facts = tesela_exchange_facts_of(plan);
  for (int64_t t = 0; t < facts.threads; t++) {
    int64_t phase = 0;
    for (int64_t round = 0; round < facts.rounds; round++) {
      tesela_exchange_step step;
      OK(tesela_exchange_step_of(plan, round, t, &step, &e_));
      if (step.thread != t || (step.into < 0 ? step.from != t : step.from == t))
        fail_msg("a step of another thread, or one that takes from itself: %s", text);
      if (step.phase >= facts.phases || (step.phase >= 0 && step.phase < phase))
        fail_msg("a phase after a later one: %s", text);
      if (step.phase >= 0) phase = step.phase;
    }
  }
}

/* What steps and moves say must fit together: each register of dst is written once. */
static void check_steps(const tesela_exchange *plan, const tesela_register *dst, const char *text) {
  tesela_exchange_facts facts = tesela_exchange_facts_of(plan);
  static unsigned char written[MOST];
  memset(written, 0, sizeof written);
  if (facts.parts > 1) {
    check_phases(plan, text);
    return;
  }
  for (int64_t t = 0; t < dst->spatial_size; t++)
    for (int64_t u = 0; u < facts.dst_units; u++) {
      int64_t from;
      OK(tesela_exchange_move_of(plan, t, u, &from, &e_));
      written[t * facts.dst_units + u] = from >= 0;
    }
  for (int64_t round = 0; round < facts.rounds; round++)
    for (int64_t t = 0; t < facts.threads; t++) {
      tesela_exchange_step step;
      OK(tesela_exchange_step_of(plan, round, t, &step, &e_));
      if (step.thread != t || (step.into < 0 && step.from != t))
        fail_msg("a step of another thread: %s", text);
      if (step.into >= 0 && (step.from == t || written[t * facts.dst_units + step.into]++))
        fail_msg("taken from itself, or twice: %s", text);
    }
  for (int64_t i = 0; i < dst->spatial_size * facts.dst_units; i++)
    if (facts.kind != TESELA_EXCHANGE_SHARED && !written[i]) fail_msg("a unit left out: %s", text);
}

typedef struct tally {
  int64_t kinds[4], gaps, shuffles, exact, packed;
} tally;

static void check_facts(const tesela_exchange *plan, const tesela_register *dst, const tesela_register *src,
                        int32_t bits, int32_t warp, tally *sum, const char *text) {
  tesela_exchange_facts facts = tesela_exchange_facts_of(plan);
  side d = list_side(dst), s = list_side(src);
  tesela_exchange_kind kind = cheapest_kind(&d, &s, warp);
  if (facts.kind != kind) fail_msg("kind %d, not %d: %s", (int)facts.kind, (int)kind, text);
  int64_t unit = best_unit(dst, src, bits);
  if (facts.unit != unit) fail_msg("unit %" PRId64 ", not %" PRId64 ": %s", facts.unit, unit, text);
  assert_int_equal(facts.words, (unit * bits + 31) / 32);
  assert_int_equal(facts.src_units, src->local_size / unit);
  assert_int_equal(facts.dst_units, dst->local_size / unit);
  assert_int_equal(facts.threads, d.threads > s.threads ? d.threads : s.threads);
  assert_int_equal(tesela_exchange_memory(plan) != NULL, kind == TESELA_EXCHANGE_SHARED);
  sum->kinds[kind]++;
  if (kind == TESELA_EXCHANGE_SHUFFLE) {
    int64_t bound = round_bound(&d, &s, unit, warp);
    bool exact = !copies_in_a_warp(&d, warp);
    bool whole = unit * bits % 32 == 0; /* else what `bound` counts may go several to a word */
    int64_t full = (bound * unit * bits + 31) / 32 / facts.words;
    if (facts.least_rounds < full || facts.least_rounds > bound || (whole && facts.least_rounds != bound))
      fail_msg("bound %" PRId64 ", not %" PRId64 " to %" PRId64 ": %s", facts.least_rounds, full, bound,
               text);
    if (facts.rounds < facts.least_rounds || (exact && facts.rounds > bound) ||
        (facts.parts == 1 && facts.rounds < bound))
      fail_msg("%" PRId64 " rounds, bound %" PRId64 ": %s", facts.rounds, bound, text);
    sum->shuffles++;
    sum->exact += exact;
    sum->packed += facts.parts > 1;
    if (facts.rounds > facts.least_rounds) sum->gaps++;
  } else {
    assert_int_equal(facts.rounds, 0);
  }
  drop_side(&d);
  drop_side(&s);
}

static void random_pairs_convert_by_definition(void **state) {
  (void)state;
  static const int32_t widths[] = {4, 8, 16, 32, 64, 1, 24, 128};
  static const int32_t warps[] = {0, 0, 0, 64, 8, 12, 1};
  exchange_random r = {first_seed()};
  tally sum = {{0}, 0, 0, 0, 0};
  for (int i = 0; i < 1500; i++) {
    tesela_register dst, src;
    tesela_exchange_options options = {.warp = warps[exchange_below(&r, 7)]};
    int32_t bits = widths[exchange_below(&r, 8)], warp = options.warp ? options.warp : 32;
    exchange_pair(&r, warp, &dst, &src);
    if (dst.spatial_size * dst.local_size > MOST || src.spatial_size * src.local_size > MOST) continue;
    const char *text = exchange_text(&dst, &src, bits);
    tesela_exchange *plan;
    OK(tesela_exchange_create(&plan, &dst, &src, bits, &options, NULL, &e_));
    check_facts(plan, &dst, &src, bits, warp, &sum, text);
    check_units(plan, text);
    check_steps(plan, &dst, text);
    bool right;
    tesela_error err;
    if (exchange_convert(plan, &dst, &src, bits, &right, &err) != TESELA_OK)
      fail_msg("%s: %s", err.message, text);
    if (!right) fail_msg("wrong values: %s", text);
    if (!exchange_follow(plan, &dst, &src)) fail_msg("its answers are another plan: %s", text);
    tesela_exchange_destroy(plan);
  }
  printf("nothing %" PRId64 ", permute %" PRId64 ", shuffle %" PRId64 ", shared %" PRId64 "; of %" PRId64
         " shuffles %" PRId64 " above the bound, %" PRId64 " without copies in dst, %" PRId64 " packed\n",
         sum.kinds[0], sum.kinds[1], sum.kinds[2], sum.kinds[3], sum.shuffles, sum.gaps, sum.exact,
         sum.packed);
  assert_true(sum.packed > 20);
  for (int k = 0; k < 4; k++) assert_true(sum.kinds[k] > 20); /* no kind is left untested */
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void kinds_rounds_and_units_of_known_pairs(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int32_t bits, warp;
    int64_t modes[5];
    struct {
      int32_t n_spatial, n_local;
      int64_t spatial[4], local[4];
    } src, dst;
    tesela_exchange_kind kind;
    int64_t unit, rounds, least, moves;
  } rows[] = {
      {"the same",
       16,
       0,
       {4, 8, 4},
       {2, 1, {0, 1}, {2}},
       {2, 1, {0, 1}, {2}},
       TESELA_EXCHANGE_NOTHING,
       2,
       0,
       0,
       0},
      {"registers reordered, one lane",
       32,
       0,
       {2, 32, 2},
       {1, 2, {1}, {0, 2}},
       {1, 2, {1}, {2, 0}},
       TESELA_EXCHANGE_PERMUTE,
       1,
       0,
       0,
       4},
      {"local(2).spatial(32) to spatial(32).local(2)",
       32,
       0,
       {2, 16, 2},
       {2, 1, {1, 2}, {0}},
       {2, 1, {0, 1}, {2}},
       TESELA_EXCHANGE_SHUFFLE,
       1,
       2,
       2,
       1},
      {"the other way",
       32,
       0,
       {2, 16, 2},
       {2, 1, {0, 1}, {2}},
       {2, 1, {1, 2}, {0}},
       TESELA_EXCHANGE_SHUFFLE,
       1,
       2,
       2,
       1},
      {"two bits of lane and register swapped: half stays",
       32,
       0,
       {4, 8, 4},
       {2, 1, {0, 1}, {2}},
       {2, 1, {2, 1}, {0}},
       TESELA_EXCHANGE_SHUFFLE,
       1,
       3,
       3,
       1},
      {"the same in bytes: two to lane ^ 1, then two to the other pair",
       8,
       0,
       {4, 8, 4},
       {2, 1, {0, 1}, {2}},
       {2, 1, {2, 1}, {0}},
       TESELA_EXCHANGE_SHUFFLE,
       1,
       2,
       2,
       1},
      /* Of R words of two halves, R at most bring one straight from where it was; the other 31 - R count twice: R >= 21. */
      {"rows to columns of halves: 8 rounds to lane ^ 1, then 15",
       16,
       0,
       {32, 32},
       {1, 1, {0}, {1}},
       {1, 1, {1}, {0}},
       TESELA_EXCHANGE_SHUFFLE,
       1,
       23,
       21,
       1},
      /* Likewise 62 - R <= 4 R: 13. */
      {"rows to columns of bytes: 6 rounds among four lanes, then 7",
       8,
       0,
       {32, 32},
       {1, 1, {0}, {1}},
       {1, 1, {1}, {0}},
       TESELA_EXCHANGE_SHUFFLE,
       1,
       13,
       13,
       1},
      {"one lane has all bytes, each gets its own: all take 8 words",
       8,
       0,
       {32},
       {0, 1, {0}, {0}},
       {1, 0, {0}, {0}},
       TESELA_EXCHANGE_SHUFFLE,
       1,
       8,
       8,
       1},
      {"every lane gets all bytes: 1, 1, then 7 words of four",
       8,
       0,
       {32},
       {1, 0, {0}, {0}},
       {1, 1, {-32}, {0}},
       TESELA_EXCHANGE_SHUFFLE,
       1,
       9,
       9,
       1},
      {"bytes in words that stay whole",
       8,
       0,
       {4, 8, 4},
       {2, 1, {0, 1}, {2}},
       {2, 1, {1, 0}, {2}},
       TESELA_EXCHANGE_SHUFFLE,
       4,
       1,
       1,
       1},
      {"64 bits",
       64,
       0,
       {4, 8, 2},
       {2, 1, {0, 1}, {2}},
       {2, 1, {1, 0}, {2}},
       TESELA_EXCHANGE_SHUFFLE,
       1,
       2,
       2,
       2},
      {"every lane gets all",
       32,
       0,
       {32},
       {1, 0, {0}, {0}},
       {1, 1, {-32}, {0}},
       TESELA_EXCHANGE_SHUFFLE,
       1,
       31,
       31,
       1},
      {"one lane has all, every lane gets all",
       32,
       0,
       {32},
       {0, 1, {0}, {0}},
       {1, 1, {-32}, {0}},
       TESELA_EXCHANGE_SHUFFLE,
       1,
       32,
       32,
       32},
      {"one lane has all, each gets its own",
       32,
       0,
       {32},
       {0, 1, {0}, {0}},
       {1, 0, {0}, {0}},
       TESELA_EXCHANGE_SHUFFLE,
       1,
       31,
       31,
       1},
      {"across warps",
       32,
       0,
       {4, 32},
       {2, 0, {0, 1}, {0}},
       {2, 0, {1, 0}, {0}},
       TESELA_EXCHANGE_SHARED,
       1,
       0,
       0,
       0},
      {"across warps of 32, within one of 64",
       32,
       64,
       {2, 32},
       {2, 0, {0, 1}, {0}},
       {2, 0, {1, 0}, {0}},
       TESELA_EXCHANGE_SHUFFLE,
       1,
       1,
       1,
       1},
      {"copies in both: a thread takes what it keeps",
       32,
       0,
       {4, 8},
       {2, 1, {-4, 1}, {0}},
       {2, 0, {0, 1}, {0}},
       TESELA_EXCHANGE_PERMUTE,
       1,
       0,
       0,
       1},
      {"8x8 tiles transposed, two of them: one half of each makes a word",
       16,
       0,
       {2, 4, 2, 4, 2},
       {3, 2, {1, 2, 3}, {0, 4}},
       {3, 2, {3, 4, 1}, {0, 2}},
       TESELA_EXCHANGE_SHUFFLE,
       2,
       2,
       2,
       1},
      {"registers reordered within a word",
       8,
       0,
       {32, 2, 2},
       {1, 2, {0}, {1, 2}},
       {1, 2, {0}, {2, 1}},
       TESELA_EXCHANGE_PERMUTE,
       4,
       0,
       0,
       1},
      {"a mode of 3",
       32,
       0,
       {3, 5, 3},
       {2, 1, {0, 1}, {2}},
       {2, 1, {2, 1}, {0}},
       TESELA_EXCHANGE_SHUFFLE,
       1,
       2,
       2,
       1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int32_t n = 0;
    while (n < 5 && rows[i].modes[n]) n++;
    tesela_register dst, src;
    exchange_layout(&src, n, rows[i].modes, rows[i].src.n_spatial, rows[i].src.spatial, rows[i].src.n_local,
                    rows[i].src.local);
    exchange_layout(&dst, n, rows[i].modes, rows[i].dst.n_spatial, rows[i].dst.spatial, rows[i].dst.n_local,
                    rows[i].dst.local);
    tesela_exchange_options options = {.warp = rows[i].warp};
    tesela_exchange *plan;
    OK(tesela_exchange_create(&plan, &dst, &src, rows[i].bits, &options, NULL, &e_));
    tesela_exchange_facts f = tesela_exchange_facts_of(plan);
    if (f.kind != rows[i].kind || f.unit != rows[i].unit || f.rounds != rows[i].rounds ||
        f.least_rounds != rows[i].least || f.moves != rows[i].moves)
      fail_msg("%s: kind %d, unit %" PRId64 ", rounds %" PRId64 ", least %" PRId64 ", moves %" PRId64,
               rows[i].name, (int)f.kind, f.unit, f.rounds, f.least_rounds, f.moves);
    bool right;
    OK(exchange_convert(plan, &dst, &src, rows[i].bits, &right, &e_));
    if (!right) fail_msg("%s: wrong values", rows[i].name);
    tesela_exchange_destroy(plan);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kinds_rounds_and_units_of_known_pairs),
      cmocka_unit_test(random_pairs_convert_by_definition),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
