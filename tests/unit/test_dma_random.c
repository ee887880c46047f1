/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dma_random.c - nests of random transfers, interpreted, against the map of every element by the definition.
 *
 * Layouts have nested steps, even and uneven, several of equal size, padding, gaps, dims in any order of strides, replicated and
 * synthetic dims; hosts are permuted, gapped, broadcast, reversed, shifted. TESELA_SEED sets the first seed.
 */
#include "support_dma.h"
#include "support_seed.h"

enum { CASES = 2000, SMALL_CELLS = 12 };

static tesela_dma *make(const dma_case *c, const tesela_dma_options *options, const char *what) {
  tesela_dma *dma = NULL;
  tesela_error error = {.message = ""};
  if (tesela_dma_create(&dma, &c->layout, c->stride, c->offset, options, &error) != TESELA_OK)
    fail_msg("%s, seed %" PRIu64 ": %s", what, c->seed, error.message);
  return dma;
}

/* Merged nests have no loops of one iteration and none that continues the next one; strides decrease. */
static void check_merged(const dma_case *c, const tesela_dma *dma) {
  const tesela_nest *nest;
  for (int32_t k = 0; (nest = tesela_dma_nest(dma, k)) != NULL; k++)
    for (int32_t i = 0; i < nest->n; i++) {
      if (nest->range[i] < 2) fail_msg("seed %" PRIu64 ": a loop of %" PRId64, c->seed, nest->range[i]);
      if (i == 0) continue;
      if (nest->device_stride[i] >= nest->device_stride[i - 1]) fail_msg("seed %" PRIu64 ": order", c->seed);
      if (nest->device_stride[i] * nest->range[i] == nest->device_stride[i - 1] &&
          nest->host_stride[i] * nest->range[i] == nest->host_stride[i - 1])
        fail_msg("seed %" PRIu64 ": loops that are one", c->seed);
    }
}

/* Plain nests: a loop per device dim in order, host strides by the owner. */
static void check_plain(const dma_case *c, const tesela_dma *dma) {
  const tesela_nest *nest;
  for (int32_t k = 0; (nest = tesela_dma_nest(dma, k)) != NULL; k++) {
    assert_int_equal(nest->n, c->oracle.n);
    for (int32_t j = 0; j < nest->n; j++) {
      const struct oracle_device_dim *dim = &c->oracle.dim[j];
      assert_int_equal(nest->device_stride[j], dim->stride);
      assert_int_equal(nest->host_stride[j], dim->dim < 0 ? 0 : dim->step * c->stride[dim->dim]);
    }
  }
}

/* Runs of places one after the other, in the order of the loops. */
static int64_t count_runs(const tesela_dma *dma, bool innermost_first) {
  int64_t runs = 0, last = -2;
  const tesela_nest *nest;
  for (int32_t k = 0; (nest = tesela_dma_nest(dma, k)) != NULL; k++) {
    int64_t index[TESELA_DEVICE_DIMS] = {0}, zero[TESELA_DEVICE_DIMS] = {0}, range[TESELA_DEVICE_DIMS];
    for (int32_t i = 0; i < nest->n; i++) range[i] = nest->range[innermost_first ? nest->n - 1 - i : i];
    last = -2;
    do {
      int64_t place = nest->device_offset;
      for (int32_t i = 0; i < nest->n; i++)
        place += index[i] * nest->device_stride[innermost_first ? nest->n - 1 - i : i];
      runs += place != last + 1;
      last = place;
    } while (oracle_device_next(nest->n, zero, range, index));
  }
  return runs;
}

/* Does each loop step over all that the loops inside it span, and leave a gap unless they are one run? Otherwise a run may go on by
 * chance where a loop starts again. */
static bool strides_nest(const tesela_dma *dma, bool innermost_first) {
  const tesela_nest *nest;
  for (int32_t k = 0; (nest = tesela_dma_nest(dma, k)) != NULL; k++) {
    int64_t reach = 0, elements = 1;
    for (int32_t i = 0; i < nest->n; i++) {
      int32_t at = innermost_first ? i : nest->n - 1 - i;
      if (nest->device_stride[at] <= reach + (elements <= reach)) return false;
      reach += (nest->range[at] - 1) * nest->device_stride[at];
      elements *= nest->range[at];
    }
  }
  return true;
}

static void check_facts(const dma_case *c, const tesela_dma *dma, const dma_map *map, bool innermost_first,
                        bool padding) {
  tesela_dma_facts facts = tesela_dma_facts_of(dma);
  int64_t bytes = c->layout.host.device_bits / 8;
  if (facts.bound > facts.n_nests || (facts.n_nests > 0) != (facts.bound > 0))
    fail_msg("seed %" PRIu64 ": bound %d of %d", c->seed, facts.bound, facts.n_nests);
  assert_int_equal(facts.elements, map->named);
  int64_t runs = count_runs(dma, innermost_first);
  if (facts.bursts < runs || (!padding && facts.bursts != runs && strides_nest(dma, innermost_first)))
    fail_msg("seed %" PRIu64 ": %" PRId64 " bursts, %" PRId64 " runs", c->seed, facts.bursts, runs);
  if (facts.bursts == 0) return;
  assert_int_equal(facts.burst_bytes, facts.elements * bytes / facts.bursts);
  assert_true(facts.least_burst_bytes <= facts.burst_bytes && facts.burst_bytes <= facts.most_burst_bytes);
}

static void transfers_move_what_the_definition_says(void **state) {
  (void)state;
  int64_t lists = 0, tight = 0, fewer = 0;
  for (uint64_t s = first_seed(); s < first_seed() + CASES; s++) {
    dma_case c;
    dma_case_random(&c, s, false);
    for (int way = 0; way < 4; way++) {
      bool boxed = way >= 2, plain = way % 2 == 1, reversed = s % 3 == 0;
      tesela_dma_options options = {.plain = plain, .innermost_first = reversed};
      if (boxed) options.box_start = c.start, options.box_size = c.size;
      dma_map found, expected;
      dma_map_begin(&found, c.layout.places);
      dma_map_begin(&expected, c.layout.places);
      assert_true(dma_map_expected(&expected, &c, boxed, false));
      tesela_dma *dma = make(&c, &options, "transfer");
      dma_map_run(&found, dma, "transfer", s);
      dma_map_check_same(&found, &expected, "transfer", s);
      if (!plain && !reversed) check_merged(&c, dma);
      if (plain && !reversed) check_plain(&c, dma);
      if (!plain) check_facts(&c, dma, &found, reversed, false);
      tesela_dma_facts facts = tesela_dma_facts_of(dma);
      static int32_t merged;
      if (!plain)
        merged = facts.n_nests;
      else if (merged > facts.n_nests)
        fail_msg("seed %" PRIu64 ": merged form has more nests", s);
      else
        fewer += merged < facts.n_nests;
      lists++, tight += facts.bound == facts.n_nests || facts.digit_bound >= facts.n_nests;
      if (facts.bound < facts.n_nests && getenv("DMA_SHOW"))
        printf("seed %" PRIu64 " way %d: %d nests, bound %d\n", s, way, facts.n_nests, facts.bound);
      tesela_dma_destroy(dma);
      dma_map_end(&found);
      dma_map_end(&expected);
    }
  }
  printf("%" PRId64 " of %" PRId64 " lists meet their bound; merging saves nests in %" PRId64 "\n", tight,
         lists, fewer);
  assert_true(tight * 100 >= lists * 99);
}

static void padding_is_what_elements_leave(void **state) {
  (void)state;
  int64_t lists = 0, tight = 0;
  for (uint64_t s = first_seed(); s < first_seed() + CASES; s++) {
    dma_case c;
    dma_case_random(&c, s, false);
    dma_map held;
    dma_map_begin(&held, c.layout.places);
    dma_map_expected(&held, &c, false, false);
    for (int way = 0; way < 2; way++) {
      tesela_dma_options options = {
          .plain = way == 1, .padding = true, .direction = s % 2 ? TESELA_DMA_TO_HOST : 0};
      tesela_dma *dma = make(&c, &options, "padding");
      dma_map found;
      dma_map_begin(&found, c.layout.places);
      dma_map_run(&found, dma, "padding", s);
      for (int64_t p = 0; p < found.places; p++)
        if (found.times[p] + held.times[p] != 1 || (found.times[p] && found.host[p] != 0))
          fail_msg("padding, seed %" PRIu64 ": place %" PRId64 " named %d times, holds %d", s, p,
                   found.times[p], held.times[p]);
      if (way == 0) check_merged(&c, dma);
      if (way == 0) check_facts(&c, dma, &found, false, true);
      tesela_dma_facts facts = tesela_dma_facts_of(dma);
      assert_true(facts.bound <= facts.n_nests);
      lists++, tight += facts.bound == facts.n_nests || facts.digit_bound >= facts.n_nests;
      if (facts.bound < facts.n_nests && getenv("DMA_SHOW"))
        printf("padding way %d: %d nests, bound %d\n", way, facts.n_nests, facts.bound);
      tesela_dma_destroy(dma);
      dma_map_end(&found);
    }
    dma_map_end(&held);
  }
  printf("%" PRId64 " of %" PRId64 " lists over padding meet their bound\n", tight, lists);
  assert_true(tight * 100 >= lists * 75);
}

/* To host: one copy is read; refused exactly if two elements share a place of the host. */
static void to_host_writes_no_element_twice(void **state) {
  (void)state;
  int64_t refused = 0;
  for (uint64_t s = first_seed(); s < first_seed() + CASES; s++) {
    dma_case c;
    dma_case_random(&c, s, false);
    tesela_dma_options options = {.direction = TESELA_DMA_TO_HOST, .box_start = c.start, .box_size = c.size};
    dma_map found, expected;
    dma_map_begin(&found, c.layout.places);
    dma_map_begin(&expected, c.layout.places);
    dma_map_expected(&expected, &c, true, true);
    int64_t low = 0, high = 0;
    for (int64_t p = 0; p < expected.places; p++) {
      if (!expected.times[p]) continue;
      low = expected.host[p] < low ? expected.host[p] : low;
      high = expected.host[p] > high ? expected.host[p] : high;
    }
    uint8_t *written = calloc((size_t)(high - low) + 1, 1);
    bool meet = false;
    for (int64_t p = 0; p < expected.places; p++)
      if (expected.times[p]) meet |= written[expected.host[p] - low]++ != 0;
    free(written);
    tesela_dma *dma = NULL;
    tesela_error error = {.message = ""};
    tesela_status status = tesela_dma_create(&dma, &c.layout, c.stride, c.offset, &options, &error);
    if (status != (meet ? TESELA_E_UNSUPPORTED : TESELA_OK))
      fail_msg("to host, seed %" PRIu64 ": elements %s, but %s", s, meet ? "meet" : "are apart",
               error.message);
    if (meet) assert_non_null(strstr(error.message, "share a place"));
    refused += meet;
    if (dma) {
      dma_map_run(&found, dma, "to host", s);
      dma_map_check_same(&found, &expected, "to host", s);
    }
    tesela_dma_destroy(dma);
    dma_map_end(&found);
    dma_map_end(&expected);
  }
  printf("to host: %" PRId64 " of %d refused\n", refused, CASES);
  assert_true(refused > CASES / 200);
}

/* Device strides at random: what is accepted names no place twice, what is refused has elements that meet. */
static void elements_that_meet_are_refused(void **state) {
  (void)state;
  int64_t refused = 0, padded = 0, unsettled = 0;
  for (uint64_t s = first_seed(); s < first_seed() + CASES; s++) {
    dma_case c;
    dma_case_random(&c, s, true);
    dma_map found, expected;
    dma_map_begin(&found, c.layout.places);
    dma_map_begin(&expected, c.layout.places);
    bool apart = dma_map_expected(&expected, &c, false, false);
    tesela_dma *dma = NULL;
    tesela_error error = {.message = ""};
    tesela_status status = tesela_dma_create(&dma, &c.layout, c.stride, c.offset, NULL, &error);
    if (status != (apart ? TESELA_OK : TESELA_E_UNSUPPORTED))
      fail_msg("seed %" PRIu64 ": elements are %sapart, but %s", s, apart ? "" : "not ", error.message);
    refused += !apart;
    if (dma) {
      dma_map_run(&found, dma, "interleaved", s);
      dma_map_check_same(&found, &expected, "interleaved", s);
    }
    tesela_dma_destroy(dma);
    dma = NULL;
    tesela_dma_options options = {.padding = true};
    status = tesela_dma_create(&dma, &c.layout, c.stride, c.offset, &options, &error);
    if (status == TESELA_OK) {
      dma_map rest;
      dma_map_begin(&rest, c.layout.places);
      dma_map_run(&rest, dma, "interleaved padding", s);
      for (int64_t p = 0; p < rest.places; p++) assert_int_equal(rest.times[p] + expected.times[p], 1);
      dma_map_end(&rest);
      padded++;
    } else {
      assert_int_equal(status, TESELA_E_UNSUPPORTED);
      unsettled += apart;
    }
    tesela_dma_destroy(dma);
    dma_map_end(&found);
    dma_map_end(&expected);
  }
  printf("random strides: %" PRId64 " of %d meet; padding told for %" PRId64 ", not for %" PRId64
         " that are apart\n",
         refused, CASES, padded, unsettled);
  assert_true(refused > CASES / 20 && refused < CASES);
}

/* ---- the fewest boxes, by trying all ---------------------------------------------------------------------- */

/* The fewest disjoint boxes of digits that are exactly the cells, n <= SMALL_CELLS: over subsets of what is left. */
static int fewest(int n, int width, int64_t digit[][ORACLE_DEVICE_DIMS]) {
  static int best[1 << SMALL_CELLS];
  static int box[1 << SMALL_CELLS];
  int n_boxes = 0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) { /* the box that two cells span, if all of it are cells */
      int64_t volume = 1;
      int inside = 0, count = 0;
      bool ordered = true;
      for (int w = 0; w < width; w++) {
        ordered &= digit[i][w] <= digit[k][w];
        volume *= digit[k][w] - digit[i][w] + 1;
      }
      if (!ordered) continue;
      for (int x = 0; x < n; x++) {
        bool in = true;
        for (int w = 0; w < width; w++) in &= digit[i][w] <= digit[x][w] && digit[x][w] <= digit[k][w];
        if (in) inside |= 1 << x, count++;
      }
      if (count == volume) box[n_boxes++] = inside;
    }
  best[0] = 0;
  for (int set = 1; set < 1 << n; set++) {
    int first = set & -set;
    best[set] = n;
    for (int b = 0; b < n_boxes; b++)
      if ((box[b] & first) && (box[b] & ~set) == 0 && best[set & ~box[b]] + 1 < best[set])
        best[set] = best[set & ~box[b]] + 1;
  }
  return best[(1 << n) - 1];
}

/* Four steps that hardly divide each other. */
static void random_uneven(struct oracle_device *d, int dim, uint64_t *r) {
  int64_t step = 1, rest = d->shape[dim] = 1 + dma_below(r, 40);
  int first = d->n;
  for (int k = 0; k < 4; k++, step += 1 + dma_below(r, 4))
    d->dim[d->n++] = (struct oracle_device_dim){dim, step, 0, 0};
  for (int k = d->n - 1; k >= first; k--) {
    d->dim[k].extent = (rest - 1) / d->dim[k].step + 1;
    rest = rest < d->dim[k].step ? rest : d->dim[k].step;
  }
}

static void counts_and_bounds_enclose_the_fewest(void **state) {
  (void)state;
  int64_t least = 0, tight = 0, all = 0;
  for (uint64_t s = first_seed(); s < first_seed() + 3 * CASES; s++) {
    uint64_t state_ = s, *r = &state_;
    dma_case c = {.seed = s, .oracle = {.rank = 1 + (int)dma_below(r, 2)}};
    int64_t digit[SMALL_CELLS][ORACLE_DEVICE_DIMS], index[2], cells = 1;
    int n = 0;
    for (int d = 0; d < c.oracle.rank; d++) {
      random_uneven(&c.oracle, d, r);
      int64_t most = SMALL_CELLS / cells < c.oracle.shape[d] ? SMALL_CELLS / cells : c.oracle.shape[d];
      c.size[d] = 1 + dma_below(r, most);
      c.start[d] = dma_below(r, c.oracle.shape[d] - c.size[d] + 1);
      index[d] = c.start[d];
      c.stride[d] = d ? 1 : 1000;
      cells *= c.size[d];
    }
    dma_case_layout(&c, -1, 2);
    do assert_int_equal(oracle_device_digits(&c.oracle, index, digit[n++]), 0);
    while (oracle_device_next(c.oracle.rank, c.start, c.size, index));
    int count = fewest(n, c.oracle.n, digit);
    tesela_dma_options options = {.plain = true, .box_start = c.start, .box_size = c.size};
    tesela_dma *dma = make(&c, &options, "small");
    tesela_dma_facts facts = tesela_dma_facts_of(dma);
    if (facts.bound > facts.digit_bound || facts.digit_bound > count || facts.n_nests < count)
      fail_msg("small, seed %" PRIu64 ": bound %d, of digits %d, fewest %d, nests %d", s, facts.bound,
               facts.digit_bound, count, facts.n_nests);
    all++, least += facts.n_nests == count, tight += facts.digit_bound == count;
    tesela_dma_destroy(dma);
  }
  printf("small: %" PRId64 " of %" PRId64 " are the fewest, %" PRId64 " bounds are\n", least, all, tight);
  assert_true(least * 1000 >= all * 995);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(transfers_move_what_the_definition_says),
      cmocka_unit_test(padding_is_what_elements_leave),
      cmocka_unit_test(to_host_writes_no_element_twice),
      cmocka_unit_test(elements_that_meet_are_refused),
      cmocka_unit_test(counts_and_bounds_enclose_the_fewest),
  };
  return cmocka_run_group_tests_name("dma_random", tests, NULL, NULL);
}
