/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_seed.h - where a random test begins, and how far it goes. It begins at the number that the environment gives as
 * TESELA_SEED, or at a fixed one.
 *
 * Never at the clock: the result of a run of the tests depends on the source alone. `make soak` gives other numbers.
 */
#ifndef TESELA_TESTS_SUPPORT_SEED_H
#define TESELA_TESTS_SUPPORT_SEED_H

#include <stdbool.h>
#include <stdint.h>

/* TESELA_SEED, decimal or 0x.., or the fallback; printed, so that a run that fails names it. Any other text
 * ends the program with a message and a status that is not 0. */
uint64_t test_seed(uint64_t fallback);

/* The same with the fallback of most tests. */
uint64_t first_seed(void);

/* Is this a slow build or run (sanitizers, valgrind, TESELA_SLOW set), in which loops are cut down? */
bool slow_run(void);

#endif
