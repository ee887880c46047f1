/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dma_limits.c - nests within the limits of an engine: each limit kept, the same elements moved, or an error that names one.
 */
#include "support_dma.h"
#include "support_seed.h"

enum { CASES = 4000 };

static dma_case sticks(int64_t rows, int64_t columns) {
  dma_case c = {.oracle = {.rank = 2,
                           .shape = {rows, columns},
                           .n = 3,
                           .dim = {{1, 64, (columns + 63) / 64, 0}, {0, 1, rows, 0}, {1, 1, 64, 0}}},
                .stride = {columns, 1}};
  dma_case_layout(&c, -1, 2);
  return c;
}

/* f16[rows,columns] in sticks of 64: how many nests, or which words of the error. */
static void limits_by_rows(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int64_t rows, columns;
    tesela_dma_limits limits;
    int32_t n_nests;
    const char *words;
  } rows[] = {
      {"no limits", 1000, 200, {0}, 2, NULL},
      {"three loops", 1000, 200, {.max_dims = 3}, 2, NULL},
      {"blocks unrolled", 1000, 200, {.max_dims = 2}, 4, NULL},
      {"rows unrolled too", 10, 200, {.max_dims = 1}, 40, NULL},
      {"one nest too many", 10, 200, {.max_dims = 1, .max_nests = 39}, 0, "max_nests is 39"},
      {"just enough nests", 10, 200, {.max_dims = 1, .max_nests = 40}, 40, NULL},
      {"1000 rows are 4 x 250", 1000, 200, {.max_extent = 250}, 2, NULL},
      {"1009 rows are 4 x 252 and 1", 1009, 256, {.max_extent = 253}, 2, NULL},
      {"no loop for the split: 4 nests of rows, 16 for blocks",
       1000,
       256,
       {.max_dims = 2, .max_extent = 250},
       16,
       NULL},
      {"sticks are aligned", 1000, 200, {.alignment = 128}, 2, NULL},
      {"sticks are not aligned to 256", 1000, 256, {.alignment = 256}, 0, "alignment is 256 bytes"},
      {"the last stick has 16 bytes", 1000, 200, {.min_burst = 17}, 0, "min_burst is 17 bytes"},
      {"16 bytes will do", 1000, 200, {.min_burst = 16}, 2, NULL},
      {"sticks follow each other", 1000, 256, {.min_burst = 512000}, 1, NULL},
      {"64 lanes in two halves", 1000, 256, {.max_burst = 64}, 1, NULL},
      {"64 lanes are 2 x 24 and 16", 1000, 256, {.max_burst = 48, .max_dims = 4, .alignment = 16}, 1, NULL},
      {"pieces of 48 bytes and 32", 1000, 256, {.max_burst = 48, .min_burst = 32, .alignment = 16}, 1, NULL},
      {"3 lanes in bursts of 2", 1, 3, {.max_burst = 4}, 2, NULL},
      {"3 lanes one by one: every second one is a loop", 1, 3, {.max_burst = 2}, 2, NULL},
      {"bursts of nothing", 1000, 256, {.max_burst = 1}, 0, "max_burst is 1 bytes, but an element has 2"},
      {"bursts that are both",
       1000,
       256,
       {.max_burst = 64, .min_burst = 66},
       0,
       "min_burst is 66 bytes and max_burst 64"},
      {"halves are not aligned", 1000, 256, {.max_burst = 64, .alignment = 128}, 0, "max_burst is 64 bytes"},
      {"negative", 1000, 256, {.max_extent = -1}, 0, "max_extent is -1"},
      {"every element its own", 2, 70, {.max_extent = 1}, 140, NULL},
      {"more than there may be", 2000000, 70, {.max_extent = 1}, 0, "nests (max_nests)"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    dma_case c = sticks(rows[i].rows, rows[i].columns);
    tesela_dma *dma = NULL;
    tesela_error error = {.message = ""};
    tesela_dma_options options = {.limits = &rows[i].limits};
    tesela_status status = tesela_dma_create(&dma, &c.layout, c.stride, 0, &options, &error);
    if (rows[i].words) {
      if (status == TESELA_OK || !strstr(error.message, rows[i].words))
        fail_msg("%s: %d, \"%s\"", rows[i].name, status, error.message);
      continue;
    }
    if (status != TESELA_OK) fail_msg("%s: %s", rows[i].name, error.message);
    if (tesela_dma_facts_of(dma).n_nests != rows[i].n_nests)
      fail_msg("%s: %d nests, expected %d", rows[i].name, tesela_dma_facts_of(dma).n_nests, rows[i].n_nests);
    tesela_dma_destroy(dma);
  }
}

/* The loops of a nest that run more than once, outermost first. */
static int32_t real_loops(const tesela_nest *nest, bool innermost_first, int32_t *loop) {
  int32_t n = 0;
  for (int32_t i = 0; i < nest->n; i++) {
    int32_t k = innermost_first ? nest->n - 1 - i : i;
    if (nest->range[k] > 1) loop[n++] = k;
  }
  return n;
}

/* Elements from place to place without a gap, from the start of a nest on, while its loops run. */
static int64_t first_run(const tesela_nest *nest, const int32_t *loop, int32_t n) {
  int64_t index[TESELA_DEVICE_DIMS] = {0}, zero[TESELA_DEVICE_DIMS] = {0}, range[TESELA_DEVICE_DIMS], run = 0,
          place;
  for (int32_t i = 0; i < n; i++) range[i] = nest->range[loop[i]];
  do {
    place = 0;
    for (int32_t i = 0; i < n; i++) place += index[i] * nest->device_stride[loop[i]];
  } while (place == run && (run++, oracle_device_next(n, zero, range, index)));
  return run;
}

static void check_kept(const dma_case *c, const tesela_dma *dma, const tesela_dma_limits *limits,
                       bool innermost_first) {
  const tesela_nest *nest;
  int64_t bytes = c->layout.host.device_bits / 8;
  for (int32_t k = 0; (nest = tesela_dma_nest(dma, k)) != NULL; k++) {
    int32_t loop[TESELA_DEVICE_DIMS], n = real_loops(nest, innermost_first, loop);
    bool kept = !limits->max_dims || nest->n <= limits->max_dims;
    for (int32_t i = 0; i < n; i++) {
      kept &= !limits->max_extent || nest->range[loop[i]] <= limits->max_extent;
      kept &=
          i == n - 1 || !limits->alignment || nest->device_stride[loop[i]] * bytes % limits->alignment == 0;
    }
    kept &= !limits->alignment || nest->device_offset * bytes % limits->alignment == 0;
    kept &= first_run(nest, loop, n) * bytes >= limits->min_burst;
    if (n > 0 && limits->max_burst && nest->device_stride[loop[n - 1]] == 1)
      kept &= nest->range[loop[n - 1]] * bytes <= limits->max_burst;
    if (!kept) {
      char text[400];
      tesela_buffer buffer = {text, sizeof text, 0};
      tesela_writer to = tesela_buffer_writer(&buffer);
      tesela_dma_print_tuples(nest, &to, NULL);
      fail_msg("seed %" PRIu64 ": nest %d %s breaks a limit: dims %d extent %" PRId64 " alignment %" PRId64
               " burst %" PRId64 " to %" PRId64 ", %" PRId64 " bytes",
               c->seed, k, text, limits->max_dims, limits->max_extent, limits->alignment, limits->min_burst,
               limits->max_burst, bytes);
    }
  }
  tesela_dma_facts facts = tesela_dma_facts_of(dma);
  assert_true(!limits->max_nests || facts.n_nests <= limits->max_nests);
  assert_true(facts.bound <= facts.n_nests);
  if (facts.n_nests == 0) return;
  assert_true(facts.least_burst_bytes >= limits->min_burst);
  assert_true(!limits->max_burst || facts.most_burst_bytes <= limits->max_burst);
}

/* Does the message name a limit that is set? */
static bool names_limit(const char *message, const tesela_dma_limits *limits) {
  return (limits->max_dims && strstr(message, "max_dims")) ||
         (limits->max_extent && strstr(message, "max_extent")) ||
         (limits->alignment && strstr(message, "alignment")) ||
         (limits->min_burst && strstr(message, "min_burst")) ||
         (limits->max_burst && strstr(message, "max_burst")) ||
         (limits->max_nests && strstr(message, "max_nests"));
}

static void random_limits_are_kept(void **state) {
  (void)state;
  int64_t refused = 0, cut = 0;
  for (uint64_t s = first_seed(); s < first_seed() + CASES; s++) {
    dma_case c;
    dma_case_random(&c, s, false);
    uint64_t other = ~s, *r = &other;
    int64_t bytes = c.layout.host.device_bits / 8;
    tesela_dma_limits limits = {0};
    if (dma_below(r, 2)) limits.max_dims = (int32_t)(1 + dma_below(r, 4));
    if (dma_below(r, 2)) limits.max_extent = 1 + dma_below(r, 12);
    if (dma_below(r, 4) == 0) limits.max_burst = bytes + dma_below(r, 20);
    bool mendable = true; /* loops, extents and long bursts can always be cut */
    if (dma_below(r, 4) == 0) limits.alignment = 1 << dma_below(r, 5), mendable = false;
    if (dma_below(r, 4) == 0) limits.min_burst = 1 + dma_below(r, 12), mendable = false;
    if (dma_below(r, 6) == 0) limits.max_nests = 1 + dma_below(r, 30), mendable = false;
    tesela_dma_options options = {.limits = &limits,
                                  .plain = dma_below(r, 2),
                                  .innermost_first = dma_below(r, 2),
                                  .padding = dma_below(r, 4) == 0};
    bool boxed = !options.padding && dma_below(r, 2);
    if (boxed) options.box_start = c.start, options.box_size = c.size;
    dma_map found, expected;
    dma_map_begin(&found, c.layout.places);
    dma_map_begin(&expected, c.layout.places);
    dma_map_expected(&expected, &c, boxed, false);
    for (int64_t p = 0; p < expected.places && options.padding; p++) {
      expected.times[p] = !expected.times[p];
      expected.host[p] = 0;
    }
    tesela_dma *dma = NULL;
    tesela_error error = {.message = ""};
    tesela_status status = tesela_dma_create(&dma, &c.layout, c.stride, c.offset, &options, &error);
    if (status == TESELA_OK) {
      tesela_dma *whole = NULL;
      dma_map_run(&found, dma, "limits", s);
      dma_map_check_same(&found, &expected, "limits", s);
      assert_int_equal(tesela_dma_facts_of(dma).elements, found.named);
      check_kept(&c, dma, &limits, options.innermost_first);
      options.limits = NULL;
      DMA_OK(tesela_dma_create(&whole, &c.layout, c.stride, c.offset, &options, &e_));
      cut += tesela_dma_facts_of(dma).n_nests > tesela_dma_facts_of(whole).n_nests;
      tesela_dma_destroy(whole);
    } else if (status != TESELA_E_UNSUPPORTED || mendable || !names_limit(error.message, &limits)) {
      fail_msg("limits, seed %" PRIu64 ": %s", s, error.message);
    }
    refused += status != TESELA_OK;
    tesela_dma_destroy(dma);
    dma_map_end(&found);
    dma_map_end(&expected);
  }
  printf("limits: %" PRId64 " of %d refused, %" PRId64 " cut into more nests\n", refused, CASES, cut);
  assert_true(cut > CASES / 10 && refused < CASES / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits_by_rows),
      cmocka_unit_test(random_limits_are_kept),
  };
  return cmocka_run_group_tests_name("dma_limits", tests, NULL, NULL);
}
