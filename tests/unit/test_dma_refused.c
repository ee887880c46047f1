/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dma_refused.c - nests of empty, huge and rank-32 tensors, refusals, allocations that fail.
 *
 * Expected nests come from tests/vectors/spyre_seed_examples.json (the id says which case) or by hand from
 * the definition.
 */
#include "support_dma_rows.h"
#include "support_fault.h"

/* ---- odd and huge ------------------------------------------------------------------------------------------- */

static void empty_tensors_have_no_nests(void **state) {
  (void)state;
  dma_case c = dma_sticks(0, 200, 64);
  tesela_dma *dma = dma_make(&c, NULL);
  tesela_dma_facts facts = tesela_dma_facts_of(dma);
  assert_int_equal(facts.n_nests + facts.bound + facts.elements + facts.bursts + facts.burst_bytes, 0);
  dma_check_text(dma, -1, "");
  tesela_dma_destroy(dma);
  c.layout.places = 300; /* all of it padding */
  for (int plain = 0; plain < 2; plain++) {
    dma = dma_make(&c, &(tesela_dma_options){.padding = true, .plain = plain == 1});
    assert_int_equal(tesela_dma_facts_of(dma).elements, 300);
    tesela_dma_destroy(dma);
  }
  c = dma_sticks(10, 200, 64);
  dma = dma_make(&c, &(tesela_dma_options){.box_start = (int64_t[]){10, 0}, .box_size = (int64_t[]){0, 200}});
  assert_int_equal(tesela_dma_facts_of(dma).n_nests, 0);
  tesela_dma_destroy(dma);
}

static void size_costs_nothing(void **state) {
  (void)state;
  const int64_t tera = (int64_t)1 << 40;
  dma_case c = dma_sticks(tera, 200, 64);
  tesela_dma *dma = dma_make(&c, NULL);
  const tesela_nest *rest = tesela_dma_nest(dma, 1);
  assert_int_equal(tesela_dma_facts_of(dma).n_nests, 2);
  assert_int_equal(tesela_dma_facts_of(dma).elements, 200 * tera);
  assert_int_equal(tesela_dma_facts_of(dma).bursts, 1 + tera);
  assert_true(rest->n == 2 && rest->range[0] == tera && rest->range[1] == 8);
  assert_true(rest->device_offset == 3 * 64 * tera && rest->host_offset == 192);
  tesela_dma_destroy(dma);
  dma = dma_make(&c, &(tesela_dma_options){.padding = true});
  assert_int_equal(tesela_dma_facts_of(dma).n_nests, 1);
  assert_int_equal(tesela_dma_facts_of(dma).elements, 56 * tera);
  tesela_dma_destroy(dma);
  c.stride[0] = (int64_t)1 << 55;
  tesela_dma *none = NULL;
  assert_int_equal(tesela_dma_create(&none, &c.layout, c.stride, 0, NULL, NULL), TESELA_E_OVERFLOW);
  c.stride[0] = 200;
  assert_int_equal(tesela_dma_create(&none, &c.layout, c.stride, INT64_MAX - 5, NULL, NULL),
                   TESELA_E_OVERFLOW);
  c.layout.dim[1].stride = INT64_MAX / 1000;
  assert_int_equal(tesela_dma_create(&none, &c.layout, c.stride, 0, NULL, NULL), TESELA_E_OVERFLOW);
  assert_null(none);
}

/* 32 dims of 2: outermost first on both sides one loop; device dims the other way round, one loop each. */
static void rank_32(void **state) {
  (void)state;
  for (int turned = 0; turned < 2; turned++) {
    tesela_device_layout layout = {.host = {.rank = 32, .bits = 16, .device_bits = 16}, .n_dims = 48};
    for (int j = 0; j < 32; j++) {
      layout.host.shape[j] = 2;
      layout.dim[j] = (tesela_device_dim){2, 1, (int64_t)1 << (31 - j), turned ? 31 - j : j};
    }
    for (int j = 32; j < 48; j++) layout.dim[j] = (tesela_device_dim){1, 0, 1, TESELA_DIM_SYNTHETIC};
    layout.places = (int64_t)1 << 32;
    tesela_dma *dma = NULL;
    DMA_OK(tesela_dma_create(&dma, &layout, NULL, 0, NULL, &e_));
    const tesela_nest *nest = tesela_dma_nest(dma, 0);
    assert_int_equal(tesela_dma_facts_of(dma).n_nests, 1);
    assert_int_equal(nest->n, turned ? 32 : 1);
    assert_int_equal(nest->range[0], turned ? 2 : layout.places);
    tesela_dma_destroy(dma);
    DMA_OK(tesela_dma_create(&dma, &layout, NULL, 0, &(tesela_dma_options){.plain = true}, &e_));
    assert_int_equal(tesela_dma_nest(dma, 0)->n, 48);
    tesela_dma_destroy(dma);
  }
}

/* ---- refusals ----------------------------------------------------------------------------------------------- */

static void check_refused(const char *name, const dma_case *c, const tesela_dma_options *options,
                          tesela_status expected, const char *words) {
  tesela_dma *dma = NULL;
  tesela_error error = {.message = ""};
  tesela_status status = tesela_dma_create(&dma, &c->layout, c->stride, c->offset, options, &error);
  if (status != expected || !strstr(error.message, words) || dma)
    fail_msg("%s: status %d, \"%s\"; expected %d, \"%s\"", name, status, error.message, expected, words);
  assert_int_equal(tesela_dma_create(&dma, &c->layout, c->stride, c->offset, options, NULL), expected);
}

static void what_cannot_be_is_refused(void **state) {
  (void)state;
  dma_case good = dma_sticks(10, 200, 64), c;
  tesela_dma_options to_host = {.direction = TESELA_DMA_TO_HOST}, none = {.padding = false};
  check_refused("box start", &good,
                &(tesela_dma_options){.box_start = (int64_t[]){0, 201}, .box_size = (int64_t[]){1, 1}},
                TESELA_E_RANGE, "box_start[1] is 201");
  check_refused("box size", &good,
                &(tesela_dma_options){.box_start = (int64_t[]){0, 100}, .box_size = (int64_t[]){1, 101}},
                TESELA_E_RANGE, "box_size[1] is 101");
  check_refused("box of padding", &good,
                &(tesela_dma_options){.padding = true, .box_start = (int64_t[]){0, 0}}, TESELA_E_UNSUPPORTED,
                "not to a box");
  check_refused("direction", &good, &(tesela_dma_options){.direction = (tesela_dma_direction)2},
                TESELA_E_RANGE, "direction is 2");
  c = good, c.stride[0] = 0;
  check_refused("broadcast", &c, &to_host, TESELA_E_UNSUPPORTED, "10 elements share a place");
  c = good, c.stride[0] = 199;
  check_refused("rows overlap", &c, &to_host, TESELA_E_UNSUPPORTED, "two elements share a place");
  c = good, c.layout.dim[1].stride = 0;
  check_refused("device stride 0", &c, &none, TESELA_E_UNSUPPORTED, "same place");
  c = good, c.layout.dim[1].stride = 63;
  check_refused("sticks overlap", &c, &none, TESELA_E_UNSUPPORTED, "same place");
  c = good, c.layout.dim[0].extent = 3;
  check_refused("too few blocks", &c, &none, TESELA_E_INVALID, "coordinate 192 of host dim 1 has no place");
  c = good, c.layout.dim[1].dim = TESELA_DIM_SYNTHETIC;
  check_refused("a dim without places", &c, &none, TESELA_E_INVALID, "no device dim has step 1");
  c = good, c.layout.places = 2503; /* the last element is at 3*640 + 9*64 + 7 */
  check_refused("too few places", &c, &none, TESELA_E_INVALID, "place 2503");
  c = good, c.layout.n_dims = TESELA_DEVICE_DIMS + 1;
  check_refused("device dims", &c, &none, TESELA_E_RANGE, "n_dims is 49");
  c = good, c.layout.host.rank = -1;
  check_refused("rank", &c, &none, TESELA_E_RANGE, "rank is -1");
  c = good, c.layout.host.shape[0] = -1;
  check_refused("extent", &c, &none, TESELA_E_RANGE, "shape[0] is -1");
  c = good, c.layout.dim[2].step = 0;
  check_refused("step", &c, &none, TESELA_E_RANGE, "step 0");
  c = good, c.layout.dim[2].dim = 2;
  check_refused("host dim", &c, &none, TESELA_E_RANGE, "host dim 2");
  c = good, c.layout.host.device_bits = 4;
  check_refused("bits", &c, &none, TESELA_E_RANGE, "device_bits is 4");
}

/* Steps like Fibonacci numbers, and a box inside: 16 * 16 * 18 * 18 * 18 staircases are refused, not built. */
static void too_many_nests_are_refused(void **state) {
  (void)state;
  dma_case c = {.oracle = {.rank = 5}};
  int64_t start[5], size[5];
  for (int d = 0; d < 5; d++) {
    int n = d < 2 ? 9 : 10;
    int64_t a = 1, b = 2;
    for (int j = n - 1; j >= 0; j--) {
      c.oracle.dim[c.oracle.n + j] = (struct oracle_device_dim){d, a, 2, 0};
      int64_t next = a + b;
      a = b, b = next;
    }
    c.oracle.n += n;
    c.oracle.shape[d] = a - 1, start[d] = 1, size[d] = a - 4, c.stride[d] = 1;
  }
  dma_case_layout(&c, -1, 2);
  check_refused("staircase", &c, &(tesela_dma_options){.box_start = start, .box_size = size}, TESELA_E_LIMIT,
                "more than 1048576 nests");
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

static void an_allocation_may_fail(void **state) {
  (void)state;
  dma_case c = {
      .oracle = {.rank = 2,
                 .shape = {20, 130},
                 .n = 5,
                 .dim = {{1, 95, 2, 0}, {1, 16, 2, 0}, {0, 1, 20, 0}, {1, 30, 4, 0}, {1, 1, 16, 0}}},
      .stride = {130, 1}};
  dma_case_layout(&c, -1, 2);
  static const tesela_dma_limits limits = {.max_dims = 2, .max_extent = 8};
  for (int way = 0; way < 4; way++)
    for (long n = 0;; n++) {
      fault f = {.countdown = n, .once = true};
      tesela_allocator allocator = fault_allocator(&f);
      tesela_dma_options options = {
          .padding = way & 1, .limits = way & 2 ? &limits : NULL, .allocator = &allocator};
      int64_t start[] = {0, 3}, size[] = {20, 120};
      if (!options.padding) options.box_start = start, options.box_size = size;
      tesela_dma *dma = NULL;
      tesela_status status = tesela_dma_create(&dma, &c.layout, c.stride, 0, &options, NULL);
      tesela_dma_destroy(dma);
      assert_int_equal(f.live, 0);
      if (status == TESELA_OK) {
        assert_true(n > 4);
        break;
      }
      assert_int_equal(status, TESELA_E_MEMORY);
      assert_null(dma);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(empty_tensors_have_no_nests),
      cmocka_unit_test(size_costs_nothing),
      cmocka_unit_test(rank_32),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(too_many_nests_are_refused),
      cmocka_unit_test(an_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
