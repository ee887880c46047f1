/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_relayout.c - any bytes as two layouts of one shape, a fill, a transform, and a way to run; against the oracle.
 *
 * The last byte chooses how to run; the rest is what draw_pair of the tests makes a pair from, where missing bytes
 * count as 0 and mean the simplest case, so every input is a pair and a shorter one is a simpler one. A plan that is
 * refused must be one that may be; a plan that runs must leave exactly the bytes that the oracle says, no others.
 */
#include "../tests/unit/support_pages.c"
#include "../tests/unit/support_relayout_run.c"

#include "../tests/oracle/relayout_oracle.c"
#include "../tests/oracle/relayout_values.c"
#include "../tests/unit/support_relayout_draw.c"
#include "../tests/unit/support_relayout_text.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_FUZZED = 3000 }; /* elements */

static void give_up(const bench *b, const trial *t, const char *reason) {
  static char text[PAIR_TEXT];
  pair_text(&b->p, text);
  fprintf(stderr, "%s\n", text);
  trial_text(t, text);
  fprintf(stderr, "  %s\n  %s\n", text, reason);
  abort();
}

static trial trial_of(unsigned how) {
  trial t = {.options = {.threads = 1 + (int32_t)(how & 1) * 2, .shuffle = how >> 3}, .at_end = how & 2};
  t.options.isa = how & 4 ? TESELA_ISA_BEST : TESELA_ISA_C;
  t.dst_shift = (uint8_t)(how & 63);
  t.src_shift = (uint8_t)(how * 5 & 63);
  t.options.solver = how % 7 == 3 ? (tesela_solver)(1 + how / 7 % TESELA_SOLVER_GATHER) : TESELA_SOLVER_ANY;
  return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  draws d = {data, size - 1, 0};
  trial t = trial_of(data[size - 1]);
  char reason[REASON] = "";
  pair p;
  bench b;
  draw_pair(&d, MOST_FUZZED, true, &p);
  if (!make_bench(&b, &p, 1)) return 0;
  if (!run_bench(&b, &t, NULL, reason) || !run_round_trip(&b, &t, reason)) give_up(&b, &t, reason);
  free_bench(&b);
  return 0;
}
