/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dma.c - nests by rows: published cases, the two forms, printing.
 *
 * Expected nests come from tests/vectors/spyre_seed_examples.json (the id says which case) or by hand from
 * the definition.
 */
#include "support_dma_rows.h"

/* ---- published cases ---------------------------------------------------------------------------------------- */

static const struct {
  const char *id;
  int rank;
  int64_t shape[6], stride[6], offset;
  int n;
  int64_t dim[7][3]; /* host dim, step, extent */
  int64_t places;
  int n_nests;
  struct {
    int64_t range[7], device[7], host[7], device_offset, host_offset;
  } nest[6];
} published[] = {
    {"SL006",
     4,
     {15, 3, 17, 5},
     {3, 1, 225, 45},
     0,
     5,
     {{1, 1, 3}, {3, 1, 8}, {2, 16, 2}, {0, 1, 15}, {2, 1, 16}},
     11520,
     2,
     {{{3, 5, 1, 15, 16}, {3840, 480, 240, 16, 1}, {1, 45, 3600, 3, 225}, 0, 0},
      {{3, 5, 1, 15, 1}, {3840, 480, 240, 16, 1}, {1, 45, 3600, 3, 225}, 240, 3600}}},
    {"SL011",
     6,
     {32, 32, 2, 1, 1, 1},
     {576, 2, 55296, 192, 55296, 0},
     0,
     7,
     {{4, 1, 1}, {0, 1, 32}, {2, 1, 2}, {1, 1, 32}, {3, 32, 1}, {5, 1, 3}, {3, 1, 32}},
     196608,
     1,
     {{{1, 32, 2, 32, 1, 1, 1},
       {196608, 6144, 3072, 96, 96, 32, 1},
       {55296, 576, 55296, 2, 6144, 0, 192},
       0,
       0}}},
    {"SL025",
     2,
     {16, 17},
     {1, 16},
     0,
     4,
     {{1, 4, 5}, {0, 32, 1}, {1, 1, 4}, {0, 1, 32}},
     640,
     2,
     {{{4, 1, 4, 16}, {128, 128, 32, 1}, {64, 32, 16, 1}, 0, 0},
      {{1, 1, 1, 16}, {128, 128, 32, 1}, {64, 32, 16, 1}, 512, 256}}},
    {"SL028",
     2,
     {17, 17},
     {1, 17},
     0,
     4,
     {{1, 8, 3}, {0, 4, 5}, {0, 1, 4}, {1, 1, 8}},
     480,
     4,
     {{{2, 4, 4, 8}, {160, 32, 8, 1}, {136, 4, 1, 17}, 0, 0},
      {{1, 4, 4, 1}, {160, 32, 8, 1}, {136, 4, 1, 17}, 320, 272},
      {{2, 1, 1, 8}, {160, 32, 8, 1}, {136, 4, 1, 17}, 128, 16},
      {{1, 1, 1, 1}, {160, 32, 8, 1}, {136, 4, 1, 17}, 448, 288}}},
    {"SL032",
     2,
     {20, 130},
     {130, 1},
     0,
     5,
     {{1, 95, 2}, {1, 16, 2}, {0, 1, 20}, {1, 30, 4}, {1, 1, 16}},
     5120,
     6,
     {{{1, 1, 20, 3, 16}, {2560, 1280, 64, 16, 1}, {95, 16, 130, 30, 1}, 0, 0},
      {{1, 1, 20, 3, 14}, {2560, 1280, 64, 16, 1}, {95, 16, 130, 30, 1}, 1280, 16},
      {{1, 1, 20, 1, 5}, {2560, 1280, 64, 16, 1}, {95, 16, 130, 30, 1}, 48, 90},
      {{1, 1, 20, 1, 16}, {2560, 1280, 64, 16, 1}, {95, 16, 130, 30, 1}, 2560, 95},
      {{1, 1, 20, 1, 14}, {2560, 1280, 64, 16, 1}, {95, 16, 130, 30, 1}, 3840, 111},
      {{1, 1, 20, 1, 5}, {2560, 1280, 64, 16, 1}, {95, 16, 130, 30, 1}, 2576, 125}}},
    {"SL034",
     3,
     {20, 7, 45},
     {315, 45, 1},
     0,
     6,
     {{2, 1, 45}, {0, 1, 20}, {1, 4, 2}, {1, 2, 2}, {1, 16, 1}, {1, 1, 16}},
     57600,
     3,
     {{{45, 20, 1, 2, 1, 2}, {1280, 64, 32, 16, 16, 1}, {1, 315, 180, 90, 720, 45}, 0, 0},
      {{45, 20, 1, 1, 1, 2}, {1280, 64, 32, 16, 16, 1}, {1, 315, 180, 90, 720, 45}, 32, 180},
      {{45, 20, 1, 1, 1, 1}, {1280, 64, 32, 16, 16, 1}, {1, 315, 180, 90, 720, 45}, 48, 270}}},
    {"SL035", 0, {0}, {0}, 0, 2, {{-1, 0, 1}, {-1, 0, 64}}, 64, 1, {{{1, 1}, {64, 1}, {0, 0}, 0, 0}}},
    {"SL041",
     2,
     {30, 40},
     {40, 1},
     0,
     4,
     {{1, 1, 40}, {-1, 0, 1}, {0, 1, 30}, {-1, 0, 64}},
     76800,
     1,
     {{{40, 1, 30, 1}, {1920, 1920, 64, 1}, {1, 0, 40, 0}, 0, 0}}},
    {"SL045",
     2,
     {70, 3},
     {3, 1},
     0,
     3,
     {{1, 64, 1}, {0, 1, 96}, {1, 1, 64}},
     6144,
     1,
     {{{1, 70, 3}, {6144, 64, 1}, {64, 3, 1}, 0, 0}}},
    {"RFC2",
     2,
     {1000, 200},
     {200, 1},
     0,
     3,
     {{1, 64, 4}, {0, 1, 1000}, {1, 1, 64}},
     256000,
     2,
     {{{3, 1000, 64}, {64000, 64, 1}, {64, 200, 1}, 0, 0},
      {{1, 1000, 8}, {64000, 64, 1}, {64, 200, 1}, 192000, 192}}},
};

static void plain_nests_of_published_cases(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
    dma_case c = {.oracle = {.rank = published[i].rank, .n = published[i].n}};
    memcpy(c.oracle.shape, published[i].shape, sizeof published[i].shape);
    for (int j = 0; j < c.oracle.n; j++)
      c.oracle.dim[j] = (struct oracle_device_dim){(int)published[i].dim[j][0], published[i].dim[j][1],
                                                   published[i].dim[j][2], 0};
    dma_case_layout(&c, -1, 2);
    assert_int_equal(c.layout.places, published[i].places);
    tesela_dma *dma = NULL;
    tesela_dma_options options = {.plain = true};
    DMA_OK(tesela_dma_create(&dma, &c.layout, published[i].stride, published[i].offset, &options, &e_));
    tesela_dma_facts facts = tesela_dma_facts_of(dma);
    if (facts.n_nests != published[i].n_nests || facts.digit_bound != published[i].n_nests)
      fail_msg("%s: %d nests, bound %d", published[i].id, facts.n_nests, facts.digit_bound);
    for (int k = 0; k < facts.n_nests; k++) {
      const tesela_nest *nest = tesela_dma_nest(dma, k);
      size_t bytes = (size_t)c.oracle.n * sizeof(int64_t);
      if (nest->n != c.oracle.n || memcmp(nest->range, published[i].nest[k].range, bytes) != 0 ||
          memcmp(nest->device_stride, published[i].nest[k].device, bytes) != 0 ||
          memcmp(nest->host_stride, published[i].nest[k].host, bytes) != 0 ||
          nest->device_offset != published[i].nest[k].device_offset ||
          nest->host_offset != published[i].nest[k].host_offset)
        fail_msg("%s: nest %d differs", published[i].id, k);
    }
    assert_null(tesela_dma_nest(dma, -1));
    assert_null(tesela_dma_nest(dma, facts.n_nests));
    tesela_dma_destroy(dma);
  }
}

/* ---- forms and texts ---------------------------------------------------------------------------------------- */

static void the_example_of_the_rfc_prints_exactly(void **state) {
  (void)state;
  dma_case c = dma_sticks(1024, 256, 64);
  tesela_dma *dma = dma_make(&c, NULL);
  dma_check_text(dma, 0, "((4, 1024, 64), (65536, 64, 1), (64, 256, 1))");
  dma_check_text(dma, -1,
                 "for (i0 = 0; i0 < 4; i0++)\n"
                 "  for (i1 = 0; i1 < 1024; i1++)\n"
                 "    for (i2 = 0; i2 < 64; i2++)\n"
                 "      device[i0 * 65536 + i1 * 64 + i2] = host[i0 * 64 + i1 * 256 + i2];\n");
  tesela_dma_facts facts = tesela_dma_facts_of(dma);
  assert_int_equal(facts.elements, 262144);
  assert_int_equal(facts.bursts, 1); /* rows of a block follow each other, and so do blocks */
  assert_int_equal(facts.burst_bytes, 524288);
  tesela_dma_destroy(dma);
  dma = dma_make(&c, &(tesela_dma_options){.innermost_first = true, .direction = TESELA_DMA_TO_HOST});
  dma_check_text(dma, 0, "((64, 1024, 4), (1, 64, 65536), (1, 256, 64))");
  dma_check_text(dma, -1,
                 "for (i0 = 0; i0 < 4; i0++)\n"
                 "  for (i1 = 0; i1 < 1024; i1++)\n"
                 "    for (i2 = 0; i2 < 64; i2++)\n"
                 "      host[i0 * 64 + i1 * 256 + i2] = device[i0 * 65536 + i1 * 64 + i2];\n");
  tesela_dma_destroy(dma);
}

static void partial_sticks_print_with_offsets(void **state) {
  (void)state;
  dma_case c = dma_sticks(1000, 200, 64);
  tesela_dma *dma = dma_make(&c, NULL);
  tesela_dma_facts facts = tesela_dma_facts_of(dma);
  assert_int_equal(facts.n_nests, 2);
  assert_int_equal(facts.bound, 2);
  assert_int_equal(facts.bursts, 1 + 1000);
  assert_int_equal(facts.least_burst_bytes, 16);
  assert_int_equal(facts.most_burst_bytes, 384000);
  assert_int_equal(facts.burst_bytes, 200000 * 2 / 1001);
  dma_check_text(dma, -1,
                 "for (i0 = 0; i0 < 3; i0++)\n"
                 "  for (i1 = 0; i1 < 1000; i1++)\n"
                 "    for (i2 = 0; i2 < 64; i2++)\n"
                 "      device[i0 * 64000 + i1 * 64 + i2] = host[i0 * 64 + i1 * 200 + i2];\n"
                 "for (i0 = 0; i0 < 1000; i0++)\n"
                 "  for (i1 = 0; i1 < 8; i1++)\n"
                 "    device[192000 + i0 * 64 + i1] = host[192 + i0 * 200 + i1];\n");
  tesela_dma_destroy(dma);
  dma = dma_make(&c, &(tesela_dma_options){.padding = true});
  dma_check_text(dma, -1,
                 "for (i0 = 0; i0 < 1000; i0++)\n"
                 "  for (i1 = 0; i1 < 56; i1++)\n"
                 "    device[192008 + i0 * 64 + i1] = fill;\n");
  tesela_dma_destroy(dma);
  c.stride[0] = -200, c.stride[1] = -1, c.offset = 199999; /* everything backwards */
  dma = dma_make(&c, &(tesela_dma_options){.direction = TESELA_DMA_TO_HOST});
  dma_check_text(dma, 0, "((3, 1000, 64), (64000, 64, 1), (-64, -200, -1))");
  dma_check_text(dma, 1, "((1000, 8), (64, 1), (-200, -1))");
  tesela_dma_destroy(dma);
  c.stride[0] = 0, c.stride[1] = -1, c.offset = 199; /* one row for all, backwards */
  dma = dma_make(&c, &(tesela_dma_options){.box_start = (int64_t[]){5, 190}, .box_size = (int64_t[]){2, 2}});
  dma_check_text(
      dma, -1,
      "for (i0 = 0; i0 < 2; i0++)\n"
      "  for (i1 = 0; i1 < 2; i1++)\n"
      "    device[128382 + i0 * 64 + i1] = host[9 - i1];\n"); /* block 2, row 5, lane 62: 128000 + 320 + 62 */
  tesela_dma_destroy(dma);
}

static void loops_that_continue_on_both_sides_are_one(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int64_t rows, columns, lanes, stride[2], box[4];
    const char *first;
    int32_t n_nests;
  } rows[] = {
      {"one row of sticks", 1, 200, 64, {200, 1}, {0, 0, 1, 200}, "((200,), (1,), (1,))", 1},
      {"one row, lanes backwards", 1, 200, 64, {200, -1}, {0, 0, 1, 200}, "((200,), (1,), (-1,))", 1},
      {"a stick per row, row-major", 1000, 64, 64, {64, 1}, {0, 0, 1000, 64}, "((64000,), (1,), (1,))", 1},
      {"a stick per row, rows apart",
       1000,
       64,
       64,
       {65, 1},
       {0, 0, 1000, 64},
       "((1000, 64), (64, 1), (65, 1))",
       1},
      {"all broadcast", 1000, 64, 64, {0, 0}, {0, 0, 1000, 64}, "((64000,), (1,), (0,))", 1},
      {"rows of a box", 1000, 64, 64, {64, 1}, {10, 0, 20, 64}, "((1280,), (1,), (1,))", 1},
      {"columns of a box", 1000, 64, 64, {64, 1}, {10, 1, 20, 63}, "((20, 63), (64, 1), (64, 1))", 1},
      {"one element", 1000, 200, 64, {200, 1}, {999, 199, 1, 1}, "((), (), ())", 1},
      {"a box over three blocks", 10, 200, 64, {200, 1}, {0, 60, 10, 70}, "((10, 64), (64, 1), (200, 1))", 3},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    dma_case c = dma_sticks(rows[i].rows, rows[i].columns, rows[i].lanes);
    memcpy(c.stride, rows[i].stride, sizeof rows[i].stride);
    tesela_dma_options options = {.box_start = rows[i].box, .box_size = rows[i].box + 2};
    tesela_dma *dma = dma_make(&c, &options);
    tesela_dma_facts facts = tesela_dma_facts_of(dma);
    if (facts.n_nests != rows[i].n_nests || facts.digit_bound != rows[i].n_nests)
      fail_msg("%s: %d nests, bound %d", rows[i].name, facts.n_nests, facts.digit_bound);
    dma_check_text(dma, 0, rows[i].first);
    tesela_dma_destroy(dma);
  }
}

static void a_scalar_has_no_loops(void **state) {
  (void)state;
  dma_case c = {.oracle = {.rank = 0, .n = 2, .dim = {{-1, 0, 1, 0}, {-1, 0, 64, 0}}}, .offset = 7};
  dma_case_layout(&c, -1, 2);
  tesela_dma *dma = NULL;
  DMA_OK(tesela_dma_create(&dma, &c.layout, NULL, 7, NULL, &e_));
  dma_check_text(dma, -1, "device[0] = host[7];\n");
  dma_check_text(dma, 0, "((), (), ())");
  tesela_dma_destroy(dma);
  dma = dma_make(&c, &(tesela_dma_options){.padding = true});
  dma_check_text(dma, -1, "for (i0 = 0; i0 < 63; i0++)\n  device[1 + i0] = fill;\n");
  tesela_dma_destroy(dma);
}

static int stop(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
  return 1;
}

static void a_writer_may_stop(void **state) {
  (void)state;
  dma_case c = dma_sticks(10, 200, 64);
  tesela_dma *dma = dma_make(&c, NULL);
  tesela_writer to = {stop, NULL};
  assert_int_equal(tesela_dma_print(dma, &to, NULL), TESELA_E_STOPPED);
  assert_int_equal(tesela_dma_print_tuples(tesela_dma_nest(dma, 0), &to, NULL), TESELA_E_STOPPED);
  tesela_dma_destroy(dma);
  tesela_dma_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_nests_of_published_cases),
      cmocka_unit_test(the_example_of_the_rfc_prints_exactly),
      cmocka_unit_test(partial_sticks_print_with_offsets),
      cmocka_unit_test(loops_that_continue_on_both_sides_are_one),
      cmocka_unit_test(a_scalar_has_no_loops),
      cmocka_unit_test(a_writer_may_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
