/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_propagate_soft.c - soft rules beside hard ones: what is paid for a need does not buy the result out of following its
 * operand, nor the other way round.
 *
 * By rows, and for random prices against a search over all layouts of two results and all moves before them.
 * TESELA_SEED says where to begin.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_propagate.h"
#include "support_seed.h"

static void target_of(const char *rules, tesela_target *target) {
  char text[1000];
  int n = snprintf(text, sizeof text, "target t\nlike spyre\n%s", rules);
  OK(tesela_target_read(target, text, (size_t)n, &e_));
}

/* ---- by rows ---- */

#define LAST "rule fallback \"all-reduce\" all needs last costs "
#define FOLLOWS "rule fallback \"all-reduce\" result is survives costs "
#define ASKS_NOTHING "rule fallback \"all-reduce\" all needs any\n"

enum { ANY = -9 };

/* a is 8192 elements in either stick. `hint`: the stick that o must have. */
static const struct {
  const char *what, *rules, *program;
  int hint;
  bool share, copies;
  int64_t strict, moved; /* cost without and with moves, -1: no layout */
  int stick;             /* with moves */
} rows[] = {
    {"a need that is paid for: the result follows", LAST "9\n",
     "a = input f16[128,64] 0; o = keeps f16[128,64] a", ANY, false, false, 9, 9, 0},
    {"nor may it lie elsewhere for that price", LAST "9\n",
     "a = input f16[128,64] 0; o = keeps f16[128,64] a", 1, false, false, -1, 8192, 1},
    {"a move is cheaper", LAST "9000\n", "a = input f16[128,64] 0; o = keeps f16[128,64] a", ANY, false,
     false, 9000, 8192, 1},
    {"a move for the result, and the need is paid for", LAST "9\n",
     "a = input f16[128,64] 1; o = keeps f16[128,64] a", 0, false, false, -1, 8201, 0},
    {"a result that need not follow", ASKS_NOTHING FOLLOWS "9\n",
     "a = input f16[128,64] 0; o = keeps f16[128,64] a", 1, false, false, 9, 9, 1},
    {"what it costs is no price of a hard need", FOLLOWS "9\n",
     "a = input f16[128,64] 0; o = keeps f16[128,64] a", 1, false, false, -1, 8192, 1},
    {"both are paid for", LAST "9\n" FOLLOWS "20\n", "a = input f16[128,64] 0; o = keeps f16[128,64] a", 1,
     false, false, 29, 29, 1},
    {"a sum whose result need not follow", "rule reduce result is survives costs 7\n",
     "a = input f16[128,64] 0; o = keep a 1", -1, false, false, 7, 7, -1},
    {"two that pay", LAST "9\n", "a = input f16[128,64] 0; o = keeps f16[128,64] a; p = keeps f16[128,64] a",
     ANY, true, false, 18, 18, 0},
    {"two that share a move", LAST "5000\n",
     "a = input f16[128,64] 0; o = keeps f16[128,64] a; p = keeps f16[128,64] a", ANY, true, false, 10000,
     8192, 1},
    {"two with other layouts than their operand's", LAST "9\n",
     "a = input f16[128,64] 1; o = keeps f16[128,64] a; p = keeps f16[128,64] a", 0, true, false, -1, 8201,
     0},
    /* x in stick 2: 9216 elements to move; r copied to stick 1: 9216; to stick 0: 12800 */
    {"a view that no lanes survive in", LAST "9\n",
     "x = input f16[72,2,50] 2; r = reshape x 72,100; o = keeps f16[72,100] r", ANY, false, false, -1, 9225,
     0},
    {"a copy of it meets the need, too", LAST "9\n",
     "x = input f16[72,2,50] 2; r = reshape x 72,100; o = keeps f16[72,100] r", ANY, false, true, 9216, 9216,
     1},
    {"a copy for the result, and the need is paid for", LAST "9\n",
     "x = input f16[72,2,50] 2; r = reshape x 72,100; o = keeps f16[72,100] r", 0, false, true, 12809, 9225,
     0},
    {"copies that are shared", LAST "9\n",
     "x = input f16[72,2,50] 2; r = reshape x 72,100; o = keeps f16[72,100] r; p = keeps f16[72,100] r", 0,
     true, true, 12800 + 9 + 9, 9225 + 9, 0},
};

static void prices_by_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tesela_target target;
    target_of(rows[i].rules, &target);
    tesela_graph *g = prog_graph_of(rows[i].program);
    if (rows[i].hint != ANY) prog_add_hint(g, TESELA_HINT_REQUIRE, "o", rows[i].hint, -1, 0);
    for (int moves = 0; moves < 2; moves++) {
      tesela_propagate_options options = {.mode = moves ? TESELA_PROPAGATE_AUTO : TESELA_PROPAGATE_STRICT,
                                          .share = rows[i].share,
                                          .copies = rows[i].copies};
      tesela_propagation *p = prog_propagate(g, &target, options);
      tesela_propagate_facts facts = tesela_propagation_facts_of(p);
      int64_t cost = facts.ok ? facts.cost : -1, want = moves ? rows[i].moved : rows[i].strict;
      int32_t stick = ANY;
      if (facts.ok && moves) OK(tesela_propagation_stick(p, tesela_graph_find(g, "o"), &stick, &e_));
      if (cost != want || (moves && stick != rows[i].stick) || !facts.proven)
        fail_msg("%s, %s moves: cost %" PRId64 " in stick %" PRId32 "; it is %" PRId64 " in %d", rows[i].what,
                 moves ? "with" : "without", cost, stick, want, rows[i].stick);
      tesela_propagation_destroy(p);
    }
    tesela_graph_destroy(g);
  }
}

/* ---- by search ---- */

enum { STICKS = 3, SPARSE = 2, ROUNDS = 400 };
static const int64_t FORBIDDEN = INT64_MAX / 8;

typedef struct trial {
  int of_a, need, stick[2]; /* stick[]: required of the results, -1: any */
  int64_t price, follow;    /* -1: hard */
  bool share, moves;
} trial;

static const char *const needs[] = {"any", "last", "result", "clean"};

static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  return (z ^ z >> 27) >> 16;
}

/* What a result in a stick pays for its operand in `c`. */
static int64_t pays(const trial *t, int stick, int c) {
  bool met = t->need == 0 || t->need == 3 || (t->need == 1 ? c == 1 : c == stick);
  int64_t sum = 0;
  if (!met) sum = t->price < 0 ? FORBIDDEN : t->price;
  if (c != stick) sum += t->follow < 0 ? FORBIDDEN : t->follow;
  return sum;
}

/* The least cost over the sticks of both results and where each operand is read. a is f16[70,130] in sticks of 64; moves go from
 * stick dims to stick dims. */
static int64_t search(const trial *t) {
  static const int64_t places[STICKS] = {2 * 130 * 64, 70 * 3 * 64, 70 * 130 * 64};
  int64_t best = FORBIDDEN;
  for (int code = 0; code < STICKS * STICKS * STICKS * STICKS; code++) {
    const int stick[2] = {code % 3, code / 3 % 3}, at[2] = {code / 9 % 3, code / 27};
    int64_t sum = 0;
    for (int k = 0; k < 2; k++) {
      bool can = at[k] == t->of_a || (t->moves && at[k] != SPARSE && t->of_a != SPARSE);
      bool there = at[k] == t->of_a || (k == 1 && t->share && at[1] == at[0]);
      if (!can || (t->stick[k] >= 0 && t->stick[k] != stick[k])) sum += FORBIDDEN;
      sum += pays(t, stick[k], at[k]) + (there ? 0 : places[t->of_a]);
      if (sum >= FORBIDDEN) break;
    }
    if (sum < best) best = sum;
  }
  return best;
}

static void check_trial(const trial *t) {
  char text[300], rules[300], price[40] = "";
  tesela_target target;
  if (t->price >= 0) snprintf(price, sizeof price, " costs %" PRId64, t->price);
  int n =
      snprintf(rules, sizeof rules, "rule fallback \"all-reduce\" all needs %s%s\n", needs[t->need], price);
  if (t->follow >= 0) snprintf(rules + n, sizeof rules - (size_t)n, FOLLOWS "%" PRId64 "\n", t->follow);
  target_of(rules, &target);
  snprintf(text, sizeof text, "a = input f16[70,130] %s; o = keeps f16[70,130] a; p = keeps f16[70,130] a",
           t->of_a == SPARSE ? "-"
           : t->of_a         ? "1"
                             : "0");
  tesela_graph *g = prog_graph_of(text);
  for (int k = 0; k < 2; k++)
    if (t->stick[k] >= 0)
      prog_add_hint(g, TESELA_HINT_REQUIRE, k ? "p" : "o",
                    t->stick[k] == SPARSE ? TESELA_STICK_SPARSE : t->stick[k], -1, 0);
  tesela_propagate_options options = {.mode = t->moves ? TESELA_PROPAGATE_AUTO : TESELA_PROPAGATE_STRICT,
                                      .share = t->share};
  tesela_propagation *p = prog_propagate(g, &target, options);
  tesela_propagate_facts facts = tesela_propagation_facts_of(p);
  int64_t want = search(t);
  if (facts.ok != (want < FORBIDDEN) || (facts.ok && (facts.cost != want || !facts.proven)))
    fail_msg("%s%s; o %d, p %d, share %d, moves %d: cost %" PRId64 ", it is %" PRId64, rules, text,
             t->stick[0], t->stick[1], t->share, t->moves, facts.ok ? facts.cost : -1,
             want < FORBIDDEN ? want : -1);
  tesela_propagation_destroy(p);
  tesela_graph_destroy(g);
}

static void prices_by_search(void **state) {
  (void)state;
  uint64_t r = test_seed(71);
  for (int i = 0; i < ROUNDS; i++) {
    static const int64_t prices[] = {-1, 0, 9, 6000, 9000, 14000, 20000, 40000};
    trial t = {.of_a = (int)(next_random(&r) % STICKS),
               .need = (int)(next_random(&r) % 4),
               .price = prices[next_random(&r) % 8],
               .follow = prices[next_random(&r) % 8],
               .share = next_random(&r) % 2,
               .moves = next_random(&r) % 4 > 0};
    for (int k = 0; k < 2; k++) t.stick[k] = (int)(next_random(&r) % (STICKS + 1)) - 1;
    check_trial(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prices_by_rows),
      cmocka_unit_test(prices_by_search),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
