/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_seed.h - the first seed of random tests, and how long they run. The seed is TESELA_SEED, or fixed.
 *
 * Never the clock: the result of a run of the tests depends on the source alone. `make soak` sets other seeds.
 */
#ifndef TESELA_TESTS_SUPPORT_SEED_H
#define TESELA_TESTS_SUPPORT_SEED_H

#include <stdbool.h>
#include <stdint.h>

/* TESELA_SEED, decimal or 0x.., or the fallback; printed, so a failing run shows it. Any other text ends the program
 * with a message and a nonzero status. */
uint64_t test_seed(uint64_t fallback);

/* The same with the fallback of most tests. */
uint64_t first_seed(void);

/* Is this a slow build or run (sanitizers, valgrind, TESELA_SLOW set), in which loops are shortened? */
bool slow_run(void);

#endif
