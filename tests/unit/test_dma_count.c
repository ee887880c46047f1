/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dma_count.c - the number of nests that is known before any is made is the number that is made: so many are allowed, one fewer
 * is refused, and the refusal says it. Random transfers, whole ones and boxes, merged and plain, in both directions.
 */
#include "support_dma.h"
#include "support_seed.h"

enum { CASES = 8000 };

static tesela_status make(const dma_case *c, const tesela_dma_options *options, int64_t *nests,
                          tesela_error *err) {
  tesela_dma *dma = NULL;
  tesela_status status = tesela_dma_create(&dma, &c->layout, c->stride, c->offset, options, err);
  if (status == TESELA_OK) *nests = tesela_dma_facts_of(dma).n_nests;
  tesela_dma_destroy(dma);
  return status;
}

/* Returns whether there was a number to refuse. */
static bool check_count(const dma_case *c, tesela_dma_options options) {
  tesela_dma_limits limits = {0};
  tesela_error err = {.message = ""};
  int64_t nests = -1, again = -1;
  char says[120];
  tesela_status free_status = make(c, &options, &nests, &err);
  if (free_status != TESELA_OK) { /* elements of a host that share a place: with limits, too */
    assert_int_equal(options.direction, TESELA_DMA_TO_HOST);
    return false;
  }
  options.limits = &limits;
  limits.max_nests = nests > 0 ? nests : 1;
  if (make(c, &options, &again, &err) != TESELA_OK || again != nests)
    fail_msg("seed %" PRIu64 ": %" PRId64 " nests, of as many allowed %" PRId64 ": %s", c->seed, nests, again,
             err.message);
  if (nests < 2) return false;
  limits.max_nests = nests - 1;
  assert_int_equal(make(c, &options, &again, &err), TESELA_E_UNSUPPORTED);
  snprintf(says, sizeof says, "max_nests is %" PRId64 "; the list found has %" PRId64 " nests", nests - 1,
           nests);
  if (!strstr(err.message, says)) fail_msg("seed %" PRIu64 ": %s, not: %s", c->seed, err.message, says);
  return true;
}

static void count_is_exact(void **unused) {
  (void)unused;
  const uint64_t first = test_seed(31);
  int refused = 0;
  for (uint64_t seed = first; seed < first + CASES; seed++) {
    dma_case c;
    dma_case_random(&c, seed, false);
    tesela_dma_options options = {.plain = seed & 1, .padding = seed % 8 == 6};
    if (seed & 2) options.direction = TESELA_DMA_TO_HOST;
    if (seed & 4 && !options.padding) options.box_start = c.start, options.box_size = c.size;
    refused += check_count(&c, options);
  }
  assert_true(refused > CASES / 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(count_is_exact)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
