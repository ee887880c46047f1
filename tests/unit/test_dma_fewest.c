/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dma_fewest.c - the fewest nests, found by trying all lists, against the claims of a transfer.
 *
 * The elements are those of the definition (device_oracle.h), at most 10. A nest is what dma.h says: an offset and loops on both
 * sides that name elements of the transfer, none twice; in merged form loops stand by decreasing device stride, and the limits are those of
 * device.h. Every nest is made, one loop inside the other, and every set of elements gets the fewest nests that split it.
 */
#include "support_dma.h"
#include "support_seed.h"

enum { CASES = 1500, MOST = 10 };

typedef struct pair {
  int64_t device, host;
} pair;

/* A transfer of few elements and all its nests. */
typedef struct small {
  int n;
  pair element[MOST];
  int64_t bytes;
  tesela_dma_limits limits;
  bool is_nest[1 << MOST];
} small;

typedef struct loops {
  int n;
  int64_t range[MOST], stride[MOST];
} loops;

/* Elements of a burst: loops from the innermost one out, as long as each goes on where those inside end and max_burst is kept. */
static int64_t burst_of(const loops *l, int64_t most) {
  int64_t run = 1;
  for (int k = l->n - 1; k >= 0 && l->stride[k] == run; k--) {
    if (most && run * l->range[k] > most) break;
    run *= l->range[k];
  }
  return run;
}

static bool keeps(const small *s, const loops *l, int64_t start) {
  const tesela_dma_limits *limits = &s->limits;
  int64_t most = limits->max_burst / s->bytes;
  if (limits->max_dims && l->n > limits->max_dims) return false;
  for (int k = 0; k < l->n; k++) {
    if (limits->max_extent && l->range[k] > limits->max_extent) return false;
    if (limits->alignment && k + 1 < l->n && l->stride[k] * s->bytes % limits->alignment) return false;
    if (most && k + 1 == l->n && l->stride[k] == 1 && l->range[k] > most) return false;
  }
  if (limits->alignment && start * s->bytes % limits->alignment) return false;
  return burst_of(l, most) * s->bytes >= limits->min_burst;
}

static int find(const small *s, pair at) {
  for (int k = 0; k < s->n; k++)
    if (s->element[k].device == at.device && s->element[k].host == at.host) return k;
  return -1;
}

/* All nests from element `first` that have the loops of `l`, which name `named`, and more inside. */
static void make_nests(small *s, loops *l, int first, const int *named, int n_named) {
  int set = 0;
  for (int k = 0; k < n_named; k++) set |= 1 << named[k];
  if (keeps(s, l, s->element[first].device)) s->is_nest[set] = true;
  for (int to = 0; to < s->n; to++) {
    pair step = {s->element[to].device - s->element[first].device,
                 s->element[to].host - s->element[first].host};
    if (step.device <= 0 || (l->n > 0 && step.device >= l->stride[l->n - 1])) continue;
    int all[MOST], n = n_named;
    memcpy(all, named, sizeof *named * (size_t)n_named);
    for (int64_t range = 2;; range++) {
      bool inside = n + n_named <= s->n;
      for (int k = 0; k < n_named && inside; k++) {
        const pair *from = &s->element[named[k]];
        int at =
            find(s, (pair){from->device + (range - 1) * step.device, from->host + (range - 1) * step.host});
        for (int i = 0; i < n && inside; i++) inside = all[i] != at;
        inside = inside && at >= 0;
        all[n + k] = at;
      }
      if (!inside) break;
      n += n_named;
      l->range[l->n] = range, l->stride[l->n] = step.device;
      l->n++;
      make_nests(s, l, first, all, n);
      l->n--;
    }
  }
}

/* The fewest nests that split all elements; more than MOST: none do. */
static int fewest(small *s) {
  static int best[1 << MOST];
  loops none = {0};
  memset(s->is_nest, 0, sizeof s->is_nest);
  for (int k = 0; k < s->n; k++) make_nests(s, &none, k, &k, 1);
  best[0] = 0;
  for (int set = 1; set < 1 << s->n; set++) {
    best[set] = MOST + 1;
    for (int part = set; part; part = (part - 1) & set)
      if (s->is_nest[part] && best[set & ~part] + 1 < best[set]) best[set] = best[set & ~part] + 1;
  }
  return best[(1 << s->n) - 1];
}

/* ---- cases ---- */

/* Up to 3 host dims with steps that hardly divide each other, device dims in any order. */
static void random_uneven(dma_case *c, uint64_t seed) {
  uint64_t state = seed, *r = &state;
  struct oracle_device *d = &c->oracle;
  *c = (dma_case){.seed = seed, .oracle = {.rank = 1 + (int)dma_below(r, 3)}};
  for (int dim = 0; dim < d->rank; dim++) {
    int64_t step = 1, rest = d->shape[dim] = 1 + dma_below(r, 12);
    int first = d->n;
    for (int64_t k = 1 + dma_below(r, 4); k > 0; k--, step += 1 + dma_below(r, 3))
      d->dim[d->n++] = (struct oracle_device_dim){dim, step, 0, 0};
    for (int k = d->n - 1; k >= first; k--) {
      d->dim[k].extent = (rest - 1) / d->dim[k].step + 1;
      rest = rest < d->dim[k].step ? rest : d->dim[k].step;
    }
  }
  for (int k = d->n - 1; k > 0; k--) {
    int at = (int)dma_below(r, k + 1);
    struct oracle_device_dim other = d->dim[k];
    d->dim[k] = d->dim[at], d->dim[at] = other;
  }
  dma_case_layout(c, -1, 1 << dma_below(r, 3));
  int64_t pitch = 1 + dma_below(r, 2);
  for (int dim = d->rank - 1; dim >= 0; dim--) {
    c->stride[dim] = dma_below(r, 6) ? pitch : dma_below(r, 2) ? -pitch : 0;
    pitch = pitch * d->shape[dim] + dma_below(r, 2);
  }
}

/* A box of at most MOST elements, each copy counted. */
static void small_box(dma_case *c, uint64_t *r) {
  for (int d = 0; d < c->oracle.rank; d++) {
    c->size[d] = c->oracle.shape[d];
    c->start[d] = 0;
  }
  for (;;) {
    int64_t n = oracle_device_copies(&c->oracle);
    int longest = 0;
    for (int d = 0; d < c->oracle.rank; d++) {
      n *= c->size[d];
      if (c->size[d] > c->size[longest]) longest = d;
    }
    if (n <= MOST || c->size[longest] < 2) break;
    c->size[longest] -= 1 + dma_below(r, c->size[longest] / 2);
    c->start[longest] = dma_below(r, c->oracle.shape[longest] - c->size[longest] + 1);
  }
}

static void random_limits(tesela_dma_limits *limits, int64_t bytes, uint64_t *r) {
  *limits = (tesela_dma_limits){0};
  if (dma_below(r, 2)) limits->max_dims = (int32_t)(1 + dma_below(r, 3));
  if (dma_below(r, 2)) limits->max_extent = 1 + dma_below(r, 5);
  if (dma_below(r, 4) == 0) limits->max_burst = bytes * (1 + dma_below(r, 4));
  if (dma_below(r, 4) == 0) limits->alignment = bytes * (1 + dma_below(r, 3));
  if (dma_below(r, 6) == 0) limits->min_burst = bytes * (1 + dma_below(r, 2));
}

/* What moves, or the places that are left, by the definition; false if it is nothing or too much. */
static bool small_of(small *s, const dma_case *c, bool padding) {
  dma_map map;
  dma_map_begin(&map, c->layout.places);
  bool apart = dma_map_expected(&map, c, !padding, false);
  s->n = 0, s->bytes = c->layout.host.device_bits / 8;
  for (int64_t p = 0; p < map.places && s->n <= MOST; p++) {
    if (padding == (map.times[p] > 0)) continue;
    if (s->n < MOST) s->element[s->n] = (pair){p, padding ? 0 : map.host[p]};
    s->n++;
  }
  dma_map_end(&map);
  return apart && s->n > 0 && s->n <= MOST;
}

typedef struct tally {
  int64_t lists, proven, fewest, refused, cannot;
} tally;

static void check(small *s, const dma_case *c, tesela_dma_options options, tally *t) {
  tesela_error error = {.message = ""};
  tesela_dma *dma = NULL;
  int count = fewest(s);
  options.limits = &s->limits;
  if (!options.padding) options.box_start = c->start, options.box_size = c->size;
  tesela_status status = tesela_dma_create(&dma, &c->layout, c->stride, c->offset, &options, &error);
  if (status != TESELA_OK) {
    assert_int_equal(status, TESELA_E_UNSUPPORTED);
    t->refused++, t->cannot += count > MOST;
    return;
  }
  tesela_dma_facts facts = tesela_dma_facts_of(dma);
  if (facts.bound > count || count > facts.n_nests)
    fail_msg("seed %" PRIu64 "%s%s: at least %d nests, %d found; the fewest are %d", c->seed,
             options.padding ? ", padding" : "", options.plain ? ", plain" : "", facts.bound, facts.n_nests,
             count);
  t->lists++, t->proven += facts.bound == facts.n_nests, t->fewest += facts.n_nests == count;
  if (facts.n_nests > count && getenv("DMA_SHOW"))
    printf("seed %" PRIu64 ": %d nests, bound %d, fewest %d of %d\n", c->seed, facts.n_nests, facts.bound,
           count, s->n);
  tesela_dma_destroy(dma);
}

static void claims_hold_against_all_lists(void **state) {
  (void)state;
  static small s;
  tally merged = {0}, limited = {0}, plain = {0}, padding = {0};
  for (uint64_t seed = first_seed(); seed < first_seed() + CASES; seed++) {
    uint64_t other = ~seed, *r = &other;
    dma_case c;
    if (seed % 3)
      random_uneven(&c, seed);
    else
      dma_case_random(&c, seed, seed % 2);
    small_box(&c, r);
    s.limits = (tesela_dma_limits){0};
    if (small_of(&s, &c, false)) {
      check(&s, &c, (tesela_dma_options){0}, &merged);
      check(&s, &c, (tesela_dma_options){.plain = true}, &plain);
      random_limits(&s.limits, s.bytes, r);
      check(&s, &c, (tesela_dma_options){0}, &limited);
    }
    s.limits = (tesela_dma_limits){0};
    if (small_of(&s, &c, true)) check(&s, &c, (tesela_dma_options){.padding = true}, &padding);
  }
  const struct {
    const char *name;
    const tally *t;
  } rows[] = {{"merged", &merged}, {"plain", &plain}, {"within limits", &limited}, {"padding", &padding}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    printf("%-13s %" PRId64 " lists, %" PRId64 " proven, %" PRId64 " the fewest; %" PRId64
           " refused, %" PRId64 " of them because no list does\n",
           rows[i].name, rows[i].t->lists, rows[i].t->proven, rows[i].t->fewest, rows[i].t->refused,
           rows[i].t->cannot);
  assert_true(merged.lists > CASES / 2 && limited.lists > CASES / 4 && padding.lists > CASES / 50);
  assert_int_equal(merged.proven, merged.lists); /* and so the fewest */
  assert_int_equal(limited.proven, limited.lists);
  assert_int_equal(limited.refused, limited.cannot);
  assert_int_equal(padding.proven, padding.lists);
}

/* Places {2,3} of digit 4 and {4} of digit 6 are one loop of 3. */
static void nests_that_no_digit_range_makes_are_found(void **state) {
  (void)state;
  dma_case c = {.oracle = {.rank = 1,
                           .shape = {7},
                           .n = 4,
                           .dim = {{0, 2, 2, 0}, {0, 6, 3, 0}, {0, 4, 2, 0}, {0, 1, 2, 0}}},
                .stride = {2}};
  dma_case_layout(&c, -1, 1);
  tesela_dma *dma = NULL;
  DMA_OK(tesela_dma_create(&dma, &c.layout, c.stride, 0, NULL, &e_));
  tesela_dma_facts facts = tesela_dma_facts_of(dma);
  assert_int_equal(facts.n_nests, 2);
  assert_int_equal(facts.bound, 2);
  assert_int_equal(facts.digit_bound, 3);
  tesela_dma_destroy(dma);
}

/* The same with blocks of 1000: joined without trying lists, and still proven, as the places are not their own mirror image. */
static void nests_of_many_elements_are_joined(void **state) {
  (void)state;
  dma_case c = {
      .oracle =
          {.rank = 1,
           .shape = {7000},
           .n = 5,
           .dim = {{0, 2000, 2, 0}, {0, 6000, 3, 0}, {0, 4000, 2, 0}, {0, 1000, 2, 0}, {0, 1, 1000, 0}}},
      .stride = {2}};
  dma_case_layout(&c, -1, 1);
  tesela_dma *dma = NULL;
  DMA_OK(tesela_dma_create(&dma, &c.layout, c.stride, 0, NULL, &e_));
  tesela_dma_facts facts = tesela_dma_facts_of(dma);
  assert_int_equal(facts.n_nests, 2);
  assert_int_equal(facts.bound, 2);
  tesela_dma_destroy(dma);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(claims_hold_against_all_lists),
      cmocka_unit_test(nests_that_no_digit_range_makes_are_found),
      cmocka_unit_test(nests_of_many_elements_are_joined),
  };
  return cmocka_run_group_tests_name("dma_fewest", tests, NULL, NULL);
}
