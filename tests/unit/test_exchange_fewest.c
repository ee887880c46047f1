/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_exchange_fewest.c - small conversions: are the claims of fewest rounds true?
 *
 * Random pairs of up to 8 lanes and 4 registers, of 8, 16 and 32 bits. Where a plan says that none has fewer rounds, a search
 * tries to find one that has: of all plans in which a round is one 32-bit shuffle, each lane offers one word of any
 * elements it has by then and takes the word of one lane, elements going by way of other lanes too. It shares no code with the
 * library: it goes backwards from what lanes must have at the end, over all choices of round and lane for each element, until
 * a plan stands or no choice is left. Where the choices are too many it gives up, and is counted.
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

enum { LANES = 8, REGISTERS = 4, ROUNDS = 12, GOALS = 4096, STEPS = 60000 };

/* ---- the search ----------------------------------------------------------------------------------------------- */

/* Pieces of elements by number, as bits of a mask: what each lane has at first and must have at the end. */
typedef struct problem {
  int lanes, room; /* pieces in a word */
  uint64_t has[LANES], needs[LANES];
} problem;

typedef struct goal { /* a lane has a piece before this round */
  int lane, piece, round;
} goal;

typedef struct search {
  const problem *p;
  int rounds, n_goals, from[ROUNDS][LANES]; /* -1: not chosen */
  uint64_t word[ROUNDS][LANES];             /* what a lane offers */
  goal goals[GOALS];
  int64_t steps;
} search;

static int count(uint64_t x) {
  int n = 0;
  for (; x; x &= x - 1) n++;
  return n;
}

/* A lane gets the piece before the round, as far as is chosen. */
static bool arranged(const search *s, goal g) {
  if (s->p->has[g.lane] >> g.piece & 1) return true;
  for (int r = 0; r < g.round; r++)
    if (s->from[r][g.lane] >= 0 && (s->word[r][s->from[r][g.lane]] >> g.piece & 1)) return true;
  return false;
}

/* What a lane still misses has room in the words it can take. */
static bool has_room(const search *s, int lane) {
  uint64_t missing = s->p->needs[lane] & ~s->p->has[lane];
  int room = 0;
  for (int r = 0; r < s->rounds; r++) {
    int from = s->from[r][lane];
    if (from >= 0) missing &= ~s->word[r][from];
    room += s->p->room - (from >= 0 ? count(s->word[r][from]) : 0);
  }
  return count(missing) <= room;
}

static bool all_have_room(const search *s) {
  for (int lane = 0; lane < s->p->lanes; lane++)
    if (!has_room(s, lane)) return false;
  return true;
}

static bool solve(search *s);

/* Let a lane take the piece in round r from another, and go on. */
static bool take(search *s, goal g, int r, int from) {
  int before = s->from[r][g.lane], n = s->n_goals;
  uint64_t word = s->word[r][from];
  if (r == 0 && !(s->p->has[from] >> g.piece & 1)) return false;
  if (!(word >> g.piece & 1)) {
    if (count(word) == s->p->room) return false;
    s->word[r][from] |= UINT64_C(1) << g.piece;
    s->goals[s->n_goals++] = (goal){from, g.piece, r};
  }
  s->from[r][g.lane] = from;
  bool found = s->n_goals < GOALS && all_have_room(s) && solve(s);
  if (found) return true;
  s->n_goals = n;
  s->word[r][from] = word;
  s->from[r][g.lane] = before;
  return false;
}

static bool solve(search *s) {
  if (++s->steps > STEPS || s->n_goals == 0) return s->n_goals == 0;
  goal g = s->goals[--s->n_goals];
  bool found = false;
  if (arranged(s, g)) {
    found = solve(s);
  } else {
    for (int r = 0; r < g.round && !found; r++)
      for (int from = 0; from < s->p->lanes && !found; from++)
        if (from != g.lane && (s->from[r][g.lane] < 0 || s->from[r][g.lane] == from))
          found = take(s, g, r, from);
  }
  if (!found) s->goals[s->n_goals++] = g; /* as it was */
  return found;
}

/* 1: so many rounds do; 0: they do not; -1: not known. */
static int can_do(const problem *p, int rounds) {
  static search s;
  s.p = p;
  s.rounds = rounds;
  s.n_goals = 0;
  s.steps = 0;
  memset(s.from, 0xff, sizeof s.from);
  memset(s.word, 0, sizeof s.word);
  for (int piece = 0; piece < 64; piece++)
    for (int lane = 0; lane < p->lanes; lane++)
      if (p->needs[lane] & ~p->has[lane] & UINT64_C(1) << piece)
        s.goals[s.n_goals++] = (goal){lane, piece, rounds};
  if (s.n_goals == 0) return 1;
  if (rounds == 0 || !all_have_room(&s)) return 0;
  return solve(&s) ? 1 : s.steps > STEPS ? -1 : 0;
}

/* The search finds what is known: a word to each of three lanes; four 16-bit elements turned by two lanes that gather. */
static void the_search_knows_small_cases(void **state) {
  (void)state;
  problem turn = {4, 2, {0}, {0}};
  for (int lane = 0; lane < 4; lane++)
    for (int k = 0; k < 4; k++) {
      turn.has[lane] |= UINT64_C(1) << (4 * lane + k);
      turn.needs[lane] |= UINT64_C(1) << (4 * k + lane);
    }
  assert_int_equal(can_do(&turn, 1), 0);
  assert_int_equal(can_do(&turn, 2), 1);
  turn.room = 1;
  assert_int_equal(can_do(&turn, 2), 0);
  assert_int_equal(can_do(&turn, 3), 1);
  problem gather = {4, 4, {1, 2, 4, 8}, {15, 15, 15, 15}}; /* doubling */
  assert_int_equal(can_do(&gather, 1), 0);
  assert_int_equal(can_do(&gather, 2), 1);
  problem scatter = {4, 2, {15, 0, 0, 0}, {1, 2, 4, 8}}; /* two take one word, each its part of it */
  assert_int_equal(can_do(&scatter, 1), 0);
  assert_int_equal(can_do(&scatter, 2), 1);
}

/* ---- small pairs ---------------------------------------------------------------------------------------------------- */

typedef struct pair {
  tesela_register dst, src;
} pair;

/* Digits into lanes as far as they go, with copies now and then; the rest into registers. */
static bool draw_side(exchange_random *r, int32_t n, const int64_t *digit, tesela_register *out) {
  int64_t spatial[16], local[16], lanes = 1, registers = 1;
  int32_t order[8], n_spatial = 0, n_local = 0;
  for (int32_t i = 0; i < n; i++) order[i] = i;
  for (int32_t i = n - 1; i > 0; i--) {
    int32_t k = (int32_t)exchange_below(r, i + 1), keep = order[i];
    order[i] = order[k];
    order[k] = keep;
  }
  for (int32_t i = 0; i < n; i++) {
    int64_t d = digit[order[i]];
    if (exchange_below(r, 12) == 0 && lanes * 2 <= LANES) {
      spatial[n_spatial++] = -2;
      lanes *= 2;
    }
    bool to_lanes = lanes * d <= LANES && (registers * d > REGISTERS || exchange_below(r, 5) < 3);
    if (to_lanes) {
      spatial[n_spatial++] = order[i];
      lanes *= d;
    } else {
      local[n_local++] = order[i];
      registers *= d;
    }
  }
  if (registers > REGISTERS) return false;
  exchange_layout(out, n, digit, n_spatial, spatial, n_local, local);
  return true;
}

static void draw_pair(exchange_random *r, pair *out) {
  static const int64_t primes[] = {2, 2, 2, 2, 3, 5};
  for (;;) {
    int64_t digit[6], all = 1;
    int32_t n = (int32_t)exchange_below(r, 5) + 1, powers = (int32_t)exchange_below(r, 3);
    for (int32_t i = 0; i < n; i++) all *= digit[i] = primes[exchange_below(r, powers ? 4 : 6)];
    if (all <= LANES * REGISTERS && draw_side(r, n, digit, &out->src) && draw_side(r, n, digit, &out->dst))
      return;
  }
}

/* Elements as pieces, each of so many bits. */
static void make_problem(const pair *q, int32_t bits, int32_t piece, problem *p) {
  int64_t each = bits / piece;
  *p = (problem){.room = 32 / piece};
  p->lanes = (int)(q->src.spatial_size > q->dst.spatial_size ? q->src.spatial_size : q->dst.spatial_size);
  for (int side = 0; side < 2; side++) {
    const tesela_register *layout = side ? &q->src : &q->dst;
    uint64_t *masks = side ? p->has : p->needs;
    for (int64_t t = 0; t < layout->spatial_size; t++)
      for (int64_t l = 0; l < layout->local_size; l++)
        masks[t] |= ((UINT64_C(1) << each) - 1) << (exchange_element(layout, t, l) * each);
  }
}

/* As many rounds as one unit in each would need: what a lane takes, what lanes that hold the same give. */
static int64_t one_unit_a_round(const problem *p, int64_t unit) {
  int64_t most = 0;
  for (int lane = 0; lane < p->lanes; lane++) {
    uint64_t given = 0;
    int64_t twins = 0, takes = count(p->needs[lane] & ~p->has[lane]) / unit;
    for (int k = 0; k < p->lanes; k++) {
      twins += p->has[k] == p->has[lane];
      given |= p->needs[k] & ~p->has[k] & p->has[lane];
    }
    int64_t gives = (count(given) / unit + twins - 1) / twins;
    most = takes > most ? takes : most;
    most = gives > most ? gives : most;
  }
  return most;
}

typedef struct tally {
  int64_t shuffles, claims, proved, open, better, missed, missed_open, once, kept;
} tally;

static void check_pair(const pair *q, int32_t bits, tally *sum) {
  tesela_exchange *plan;
  tesela_exchange_options options = {.warp = LANES};
  const char *text = exchange_text(&q->dst, &q->src, bits);
  OK(tesela_exchange_create(&plan, &q->dst, &q->src, bits, &options, NULL, &e_));
  tesela_exchange_facts facts = tesela_exchange_facts_of(plan);
  bool right;
  OK(exchange_convert(plan, &q->dst, &q->src, bits, &right, &e_));
  if (!right) fail_msg("wrong values: %s", text);
  tesela_exchange_destroy(plan);
  if (facts.kind != TESELA_EXCHANGE_SHUFFLE) return;
  problem p;
  make_problem(q, bits, bits, &p);
  bool claims = facts.rounds == facts.least_rounds;
  int64_t once = one_unit_a_round(&p, facts.unit);
  sum->shuffles++;
  sum->claims += claims;
  int less = can_do(&p, (int)facts.rounds - 1);
  if (claims) {
    if (less == 1) fail_msg("%" PRId64 " rounds are not the fewest: %s", facts.rounds, text);
    sum->proved += less == 0;
    sum->open += less < 0;
    if (bits == 16 && count(p.needs[0] | p.has[0]) <= 4) { /* elements may be cut in bytes */
      problem bytes;
      make_problem(q, bits, 8, &bytes);
      if (can_do(&bytes, (int)facts.rounds - 1) == 1) fail_msg("bytes do with less: %s", text);
    }
  } else {
    sum->better += less == 1;
    sum->missed += less == 0;
    sum->missed_open += less < 0;
    if (getenv("TESELA_SHOW"))
      printf("%s: %" PRId64 " rounds, at least %" PRId64 ", %s\n", text, facts.rounds, facts.least_rounds,
             less == 1   ? "fewer do"
             : less == 0 ? "fewest"
                         : "open");
  }
  if (once == facts.rounds && less == 0 && facts.unit * bits < 32) { /* was said, and so it is */
    sum->once++;
    sum->kept += claims;
  }
}

static void no_claim_is_refuted(void **state) {
  (void)state;
  exchange_random r = {first_seed()};
  tally all = {0};
  for (int32_t bits = 8; bits <= 32; bits *= 2) {
    tally sum = {0};
    for (int i = 0; i < 1500; i++) {
      pair q;
      draw_pair(&r, &q);
      check_pair(&q, bits, &sum);
    }
    printf("%" PRId32 " bits: %" PRId64 " shuffles, %" PRId64 " claims, %" PRId64 " proved, %" PRId64
           " not decided; of the others %" PRId64 " have a better plan, %" PRId64 " have none, %" PRId64
           " not decided; %" PRId64 " of %" PRId64 " that one unit a round serves best are claimed\n",
           bits, sum.shuffles, sum.claims, sum.proved, sum.open, sum.better, sum.missed, sum.missed_open,
           sum.kept, sum.once);
    assert_true(100 * sum.kept >=
                99 * sum.once); /* the bound is short of a few if the number of lanes is not a power of two */
    all.proved += sum.proved;
    all.open += sum.open;
  }
  assert_true(all.proved > 500 && all.proved > 9 * all.open);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_search_knows_small_cases),
      cmocka_unit_test(no_claim_is_refuted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
