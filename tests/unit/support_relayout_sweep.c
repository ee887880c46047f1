/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_relayout_sweep.c - many random pairs, each run in several ways; a failure is minimized and printed.
 *
 * A pair is a function of some bytes. Minimizing it makes the bytes smaller, as long as the same trial still fails for
 * the same kind of reason.
 */
#include "support_relayout.h"
#include "support_seed.h"

void draw_trial(uint64_t *state, trial *out) {
  static const tesela_isa isas[] = {TESELA_ISA_BEST, TESELA_ISA_C, TESELA_ISA_NEON, TESELA_ISA_AVX2,
                                    TESELA_ISA_AVX512};
  *out = (trial){.at_end = mixed(state) % 2};
  tesela_isa isa = isas[mixed(state) % 5];
  out->options.isa = tesela_isa_available(isa) ? isa : TESELA_ISA_BEST;
  out->options.threads = 1 + (int32_t)(mixed(state) % 5);
  if (mixed(state) % 4 != 0) out->options.shuffle = mixed(state) | 1;
  if (mixed(state) % 4 == 0)
    out->options.solver = (tesela_solver)(1 + mixed(state) % (uint64_t)TESELA_SOLVER_PERMUTE);
  if (mixed(state) % 8 == 0) out->options.memory_bytes = mixed(state) % 2 ? 1 : 4096 << mixed(state) % 6;
  if (mixed(state) % 4 != 0) {
    out->dst_shift = (uint8_t)(mixed(state) % 64);
    out->src_shift = (uint8_t)(mixed(state) % 64);
  }
  out->executor = mixed(state) % 4 == 0;
}

/* ---- minimizing ---------------------------------------------------------------------------------------- */

typedef struct failure {
  uint8_t bytes[DRAW_BYTES];
  uint64_t seed;
  trial t;
  char reason[REASON];
} failure;

/* Does the pair of these bytes fail for a reason with the same beginning? */
static bool fails(const sweep *s, const failure *f, const trial *t, pair *p, char reason[REASON]) {
  draws d = {f->bytes, DRAW_BYTES, 0};
  bench b;
  draw_pair(&d, s->most, s->transforms, p);
  if (!make_bench(&b, p, f->seed)) return false;
  bool ok = run_bench(&b, t, NULL, reason) && (!s->round_trip || run_round_trip(&b, t, reason));
  free_bench(&b);
  return !ok && strncmp(reason, f->reason, 8) == 0;
}

static void simplify_trial(const sweep *s, failure *f) {
  pair p;
  char reason[REASON];
  for (int step = 0; step < 7; step++) {
    trial simpler = f->t;
    if (step == 0) simpler.options.shuffle = 0;
    if (step == 1) simpler.options.threads = 1;
    if (step == 2) simpler.options.solver = TESELA_SOLVER_ANY;
    if (step == 3) simpler.options.isa = TESELA_ISA_C;
    if (step == 4) simpler.options.memory_bytes = 0;
    if (step == 5) simpler.executor = false;
    if (step == 6) simpler.at_end = false, simpler.dst_shift = simpler.src_shift = 0;
    if (fails(s, f, &simpler, &p, reason)) f->t = simpler;
  }
}

static void simplify_bytes(const sweep *s, failure *f) {
  pair p;
  char reason[REASON];
  bool smaller = true;
  for (int round = 0; round < 4 && smaller; round++) {
    smaller = false;
    for (size_t i = 0; i < DRAW_BYTES; i++) {
      uint8_t old = f->bytes[i], tries[] = {0, 1, (uint8_t)(old / 2), (uint8_t)(old - 1)};
      for (int k = 0; k < 4 && f->bytes[i] == old; k++) {
        if (tries[k] >= old) continue;
        f->bytes[i] = tries[k];
        if (fails(s, f, &f->t, &p, reason))
          smaller = true;
        else
          f->bytes[i] = old;
      }
    }
  }
}

static void report(const sweep *s, failure *f) {
  char text[PAIR_TEXT], reason[REASON] = "";
  pair p;
  fprintf(stderr, "\nTESELA_SEED=%" PRIu64 " TESELA_SEEDS=1 fails: %s; the smallest pair found:\n", f->seed,
          f->reason);
  simplify_trial(s, f);
  simplify_bytes(s, f);
  (void)fails(s, f, &f->t, &p, reason);
  pair_text(&p, text);
  fprintf(stderr, "%s\n", text);
  trial_text(&f->t, text);
  fprintf(stderr, "  %s\n  %s\n", text, reason);
}

/* ---- the sweep ----------------------------------------------------------------------------------------- */

/* One pair, determined by `seed`. */
static bool sweep_pair(sweep *s, uint64_t seed) {
  failure f = {.seed = seed};
  uint64_t state = seed;
  for (size_t i = 0; i < DRAW_BYTES; i++) f.bytes[i] = (uint8_t)(mixed(&state) >> 24);
  draws d = {f.bytes, DRAW_BYTES, 0};
  pair p;
  bench b;
  draw_pair(&d, s->most, s->transforms, &p);
  if (!make_bench(&b, &p, seed)) return true;
  for (int k = 0; k < s->n_trials; k++) {
    tesela_plan_info used;
    f.t = (trial){.options = {.threads = 1}, .at_end = true};
    if (k > 0) draw_trial(&state, &f.t);
    if (!run_bench(&b, &f.t, &used, f.reason) || (s->round_trip && !run_round_trip(&b, &f.t, f.reason))) {
      free_bench(&b);
      report(s, &f);
      return false;
    }
    s->used[used.solver]++;
    s->refused += used.solver == TESELA_SOLVER_ANY;
  }
  free_bench(&b);
  return true;
}

bool sweep_run(sweep *s) {
  const char *seeds = getenv("TESELA_SEEDS");
  const uint64_t first = test_seed(s->seed);
  const int n = seeds ? atoi(seeds) : s->n_pairs;
  for (int i = 0; i < n; i++)
    if (!sweep_pair(s, first + (uint64_t)i)) return false;
  return true;
}
