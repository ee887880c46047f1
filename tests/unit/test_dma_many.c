/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dma_many.c - more nests than the engine takes: refused before they are made.
 *
 * f16[3,3,..,3] in blocks of 2 each way: of every dim one whole block and one half, so 2^rank nests, for no product of ranges of
 * digits has elements of both.
 */
#include "support_dma.h"
#include "support_fault.h"

enum { RANK = 12, NESTS = 1 << RANK };

static void blocks_of_two(tesela_device_layout *layout) {
  tesela_device_host host = {.dtype = TESELA_F16,
                             .device_dtype = TESELA_F16,
                             .bits = 16,
                             .device_bits = 16,
                             .stick_bytes = 128,
                             .rank = RANK};
  tesela_device_dim dim[2 * RANK] = {{0}};
  for (int32_t d = 0; d < RANK; d++) {
    host.shape[d] = 3;
    dim[d] = (tesela_device_dim){.dim = d, .step = 2, .extent = 2};
    dim[RANK + d] = (tesela_device_dim){.dim = d, .step = 1, .extent = 2};
  }
  DMA_OK(tesela_device_from_dims(layout, &host, 2 * RANK, dim, false, 6, &e_));
}

static void too_many_are_not_made(void **state) {
  (void)state;
  tesela_device_layout layout;
  blocks_of_two(&layout);
  fault f = {.countdown = -1, .weigh = true};
  tesela_allocator counting = fault_allocator(&f);
  tesela_dma_limits limits = {.max_nests = NESTS};
  tesela_dma_options options = {.limits = &limits, .allocator = &counting};
  tesela_dma *dma = NULL;
  DMA_OK(tesela_dma_create(&dma, &layout, NULL, 0, &options, &e_));
  assert_int_equal(tesela_dma_facts_of(dma).n_nests, NESTS);
  tesela_dma_destroy(dma);
  assert_int_equal(f.bytes, 0);
  assert_true(f.most >= NESTS * sizeof(tesela_nest));
  for (limits.max_nests = 1; limits.max_nests < NESTS; limits.max_nests = 2 * limits.max_nests + 1) {
    tesela_error err = {.message = ""};
    char says[60];
    f.most = 0;
    assert_int_equal(tesela_dma_create(&dma, &layout, NULL, 0, &options, &err), TESELA_E_UNSUPPORTED);
    snprintf(says, sizeof says, "max_nests is %" PRId64 "; ", limits.max_nests);
    if (!strstr(err.message, says)) fail_msg("%s, not: %s", err.message, says);
    assert_int_equal(f.bytes, 0);
    assert_true(f.most < 64 << 10); /* the nests are 5 MB */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(too_many_are_not_made)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
