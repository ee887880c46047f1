/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_exchange.h - random pairs of register layouts, and the expected result of a conversion between them.
 *
 * The definition uses only the mode lists: the digits of a thread and a local id, as modes, are the row-major number of
 * the element over mode_shape.
 */
#ifndef TESELA_TEST_SUPPORT_EXCHANGE_H
#define TESELA_TEST_SUPPORT_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include <tesela/tesela.h>

typedef struct exchange_random {
  uint64_t state;
} exchange_random;

int64_t exchange_below(exchange_random *r, int64_t n); /* 0 .. n-1 */

/* The row-major number of the element at (thread, local), by definition. */
int64_t exchange_element(const tesela_register *layout, int64_t thread, int64_t local);

/* Two layouts of one shape, of a random kind: unrelated; the same threads; the same warps of `warp`; with or without
 * copies; powers of two or not. */
void exchange_pair(exchange_random *r, int32_t warp, tesela_register *dst, tesela_register *src);

/* The bytes of all registers, made from their element's number: src, or the expected dst. The caller frees. */
unsigned char *exchange_values(const tesela_register *layout, int32_t bits, size_t *bytes);

/* A layout of one dim, from its lists. */
void exchange_layout(tesela_register *out, int32_t n, const int64_t *modes, int32_t n_spatial,
                     const int64_t *spatial, int32_t n_local, const int64_t *local);

/* Run a plan on the values of src; *right: dst has the expected bytes. */
tesela_status exchange_convert(const tesela_exchange *plan, const tesela_register *dst,
                               const tesela_register *src, int32_t bits, bool *right, tesela_error *err);

/* The same with the plan's phases, rounds and words, in a loop here; a plan through shared memory counts as right. */
bool exchange_follow(const tesela_exchange *plan, const tesela_register *dst, const tesela_register *src);

/* The pair in one line, for messages. In static memory. */
const char *exchange_text(const tesela_register *dst, const tesela_register *src, int32_t bits);

#endif
