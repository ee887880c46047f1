/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dma.c - nests by rows: published cases, the two forms, printing, huge and odd tensors, refusals, memory.
 *
 * Expected nests come from tests/vectors/spyre_seed_examples.json (the id says which case) or by hand from the definition.
 */
#include "support_dma.h"

static tesela_dma *make(const dma_case *c, const tesela_dma_options *options) {
  tesela_dma *dma = NULL;
  DMA_OK(tesela_dma_create(&dma, &c->layout, c->stride, c->offset, options, &e_));
  return dma;
}

/* A case of rank 2 in sticks along dim 1: blocks, rows, lanes. */
static dma_case sticks(int64_t rows, int64_t columns, int64_t lanes) {
  dma_case c = {
      .oracle = {.rank = 2,
                 .shape = {rows, columns},
                 .n = 3,
                 .dim = {{1, lanes, (columns + lanes - 1) / lanes, 0}, {0, 1, rows, 0}, {1, 1, lanes, 0}}},
      .stride = {columns, 1}};
  dma_case_layout(&c, -1, 2);
  return c;
}

static void check_text(const tesela_dma *dma, int32_t nest, const char *expected) {
  char text[1024];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  if (nest < 0)
    DMA_OK(tesela_dma_print(dma, &to, &e_));
  else
    DMA_OK(tesela_dma_print_tuples(tesela_dma_nest(dma, nest), &to, &e_));
  assert_string_equal(text, expected);
}

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
    if (facts.n_nests != published[i].n_nests || facts.bound != published[i].n_nests)
      fail_msg("%s: %d nests, bound %d", published[i].id, facts.n_nests, facts.bound);
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
  dma_case c = sticks(1024, 256, 64);
  tesela_dma *dma = make(&c, NULL);
  check_text(dma, 0, "((4, 1024, 64), (65536, 64, 1), (64, 256, 1))");
  check_text(dma, -1,
             "for (i0 = 0; i0 < 4; i0++)\n"
             "  for (i1 = 0; i1 < 1024; i1++)\n"
             "    for (i2 = 0; i2 < 64; i2++)\n"
             "      device[i0 * 65536 + i1 * 64 + i2] = host[i0 * 64 + i1 * 256 + i2];\n");
  tesela_dma_facts facts = tesela_dma_facts_of(dma);
  assert_int_equal(facts.elements, 262144);
  assert_int_equal(facts.bursts, 1); /* rows of a block follow each other, and so do blocks */
  assert_int_equal(facts.burst_bytes, 524288);
  tesela_dma_destroy(dma);
  dma = make(&c, &(tesela_dma_options){.innermost_first = true, .direction = TESELA_DMA_TO_HOST});
  check_text(dma, 0, "((64, 1024, 4), (1, 64, 65536), (1, 256, 64))");
  check_text(dma, -1,
             "for (i0 = 0; i0 < 4; i0++)\n"
             "  for (i1 = 0; i1 < 1024; i1++)\n"
             "    for (i2 = 0; i2 < 64; i2++)\n"
             "      host[i0 * 64 + i1 * 256 + i2] = device[i0 * 65536 + i1 * 64 + i2];\n");
  tesela_dma_destroy(dma);
}

static void partial_sticks_print_with_offsets(void **state) {
  (void)state;
  dma_case c = sticks(1000, 200, 64);
  tesela_dma *dma = make(&c, NULL);
  tesela_dma_facts facts = tesela_dma_facts_of(dma);
  assert_int_equal(facts.n_nests, 2);
  assert_int_equal(facts.bound, 2);
  assert_int_equal(facts.bursts, 1 + 1000);
  assert_int_equal(facts.least_burst_bytes, 16);
  assert_int_equal(facts.most_burst_bytes, 384000);
  assert_int_equal(facts.burst_bytes, 200000 * 2 / 1001);
  check_text(dma, -1,
             "for (i0 = 0; i0 < 3; i0++)\n"
             "  for (i1 = 0; i1 < 1000; i1++)\n"
             "    for (i2 = 0; i2 < 64; i2++)\n"
             "      device[i0 * 64000 + i1 * 64 + i2] = host[i0 * 64 + i1 * 200 + i2];\n"
             "for (i0 = 0; i0 < 1000; i0++)\n"
             "  for (i1 = 0; i1 < 8; i1++)\n"
             "    device[192000 + i0 * 64 + i1] = host[192 + i0 * 200 + i1];\n");
  tesela_dma_destroy(dma);
  dma = make(&c, &(tesela_dma_options){.padding = true});
  check_text(dma, -1,
             "for (i0 = 0; i0 < 1000; i0++)\n"
             "  for (i1 = 0; i1 < 56; i1++)\n"
             "    device[192008 + i0 * 64 + i1] = fill;\n");
  tesela_dma_destroy(dma);
  c.stride[0] = -200, c.stride[1] = -1, c.offset = 199999; /* everything backwards */
  dma = make(&c, &(tesela_dma_options){.direction = TESELA_DMA_TO_HOST});
  check_text(dma, 0, "((3, 1000, 64), (64000, 64, 1), (-64, -200, -1))");
  check_text(dma, 1, "((1000, 8), (64, 1), (-200, -1))");
  tesela_dma_destroy(dma);
  c.stride[0] = 0, c.stride[1] = -1, c.offset = 199; /* one row for all, backwards */
  dma = make(&c, &(tesela_dma_options){.box_start = (int64_t[]){5, 190}, .box_size = (int64_t[]){2, 2}});
  check_text(
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
    dma_case c = sticks(rows[i].rows, rows[i].columns, rows[i].lanes);
    memcpy(c.stride, rows[i].stride, sizeof rows[i].stride);
    tesela_dma_options options = {.box_start = rows[i].box, .box_size = rows[i].box + 2};
    tesela_dma *dma = make(&c, &options);
    tesela_dma_facts facts = tesela_dma_facts_of(dma);
    if (facts.n_nests != rows[i].n_nests || facts.bound != rows[i].n_nests)
      fail_msg("%s: %d nests, bound %d", rows[i].name, facts.n_nests, facts.bound);
    check_text(dma, 0, rows[i].first);
    tesela_dma_destroy(dma);
  }
}

static void a_scalar_has_no_loops(void **state) {
  (void)state;
  dma_case c = {.oracle = {.rank = 0, .n = 2, .dim = {{-1, 0, 1, 0}, {-1, 0, 64, 0}}}, .offset = 7};
  dma_case_layout(&c, -1, 2);
  tesela_dma *dma = NULL;
  DMA_OK(tesela_dma_create(&dma, &c.layout, NULL, 7, NULL, &e_));
  check_text(dma, -1, "device[0] = host[7];\n");
  check_text(dma, 0, "((), (), ())");
  tesela_dma_destroy(dma);
  dma = make(&c, &(tesela_dma_options){.padding = true});
  check_text(dma, -1, "for (i0 = 0; i0 < 63; i0++)\n  device[1 + i0] = fill;\n");
  tesela_dma_destroy(dma);
}

static int stop(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
  return 1;
}

static void a_writer_may_stop(void **state) {
  (void)state;
  dma_case c = sticks(10, 200, 64);
  tesela_dma *dma = make(&c, NULL);
  tesela_writer to = {stop, NULL};
  assert_int_equal(tesela_dma_print(dma, &to, NULL), TESELA_E_STOPPED);
  assert_int_equal(tesela_dma_print_tuples(tesela_dma_nest(dma, 0), &to, NULL), TESELA_E_STOPPED);
  tesela_dma_destroy(dma);
  tesela_dma_destroy(NULL);
}

/* ---- odd and huge ------------------------------------------------------------------------------------------- */

static void empty_tensors_have_no_nests(void **state) {
  (void)state;
  dma_case c = sticks(0, 200, 64);
  tesela_dma *dma = make(&c, NULL);
  tesela_dma_facts facts = tesela_dma_facts_of(dma);
  assert_int_equal(facts.n_nests + facts.bound + facts.elements + facts.bursts + facts.burst_bytes, 0);
  check_text(dma, -1, "");
  tesela_dma_destroy(dma);
  c.layout.places = 300; /* all of it padding */
  for (int plain = 0; plain < 2; plain++) {
    dma = make(&c, &(tesela_dma_options){.padding = true, .plain = plain == 1});
    assert_int_equal(tesela_dma_facts_of(dma).elements, 300);
    tesela_dma_destroy(dma);
  }
  c = sticks(10, 200, 64);
  dma = make(&c, &(tesela_dma_options){.box_start = (int64_t[]){10, 0}, .box_size = (int64_t[]){0, 200}});
  assert_int_equal(tesela_dma_facts_of(dma).n_nests, 0);
  tesela_dma_destroy(dma);
}

static void size_costs_nothing(void **state) {
  (void)state;
  const int64_t tera = (int64_t)1 << 40;
  dma_case c = sticks(tera, 200, 64);
  tesela_dma *dma = make(&c, NULL);
  const tesela_nest *rest = tesela_dma_nest(dma, 1);
  assert_int_equal(tesela_dma_facts_of(dma).n_nests, 2);
  assert_int_equal(tesela_dma_facts_of(dma).elements, 200 * tera);
  assert_int_equal(tesela_dma_facts_of(dma).bursts, 1 + tera);
  assert_true(rest->n == 2 && rest->range[0] == tera && rest->range[1] == 8);
  assert_true(rest->device_offset == 3 * 64 * tera && rest->host_offset == 192);
  tesela_dma_destroy(dma);
  dma = make(&c, &(tesela_dma_options){.padding = true});
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
  dma_case good = sticks(10, 200, 64), c;
  tesela_dma_options to_host = {.direction = TESELA_DMA_TO_HOST}, none = {.padding = false};
  check_refused("box start", &good,
                &(tesela_dma_options){.box_start = (int64_t[]){0, 201}, .box_size = (int64_t[]){1, 1}},
                TESELA_E_RANGE, "box_start[1] is 201");
  check_refused("box size", &good,
                &(tesela_dma_options){.box_start = (int64_t[]){0, 100}, .box_size = (int64_t[]){1, 101}},
                TESELA_E_RANGE, "box_size[1] is 101");
  check_refused("box of padding", &good,
                &(tesela_dma_options){.padding = true, .box_start = (int64_t[]){0, 0}}, TESELA_E_UNSUPPORTED,
                "no box");
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

typedef struct fault {
  long countdown, live;
} fault;

static void *fault_alloc(void *user, size_t size, size_t align) {
  fault *f = user;
  (void)align;
  if (f->countdown-- == 0) return NULL;
  f->live++;
  return malloc(size);
}

static void fault_release(void *user, void *memory) {
  ((fault *)user)->live--;
  free(memory);
}

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
      fault f = {.countdown = n};
      tesela_allocator allocator = {&f, fault_alloc, fault_release};
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
      cmocka_unit_test(plain_nests_of_published_cases),
      cmocka_unit_test(the_example_of_the_rfc_prints_exactly),
      cmocka_unit_test(partial_sticks_print_with_offsets),
      cmocka_unit_test(loops_that_continue_on_both_sides_are_one),
      cmocka_unit_test(a_scalar_has_no_loops),
      cmocka_unit_test(a_writer_may_stop),
      cmocka_unit_test(empty_tensors_have_no_nests),
      cmocka_unit_test(size_costs_nothing),
      cmocka_unit_test(rank_32),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(too_many_nests_are_refused),
      cmocka_unit_test(an_allocation_may_fail),
  };
  return cmocka_run_group_tests_name("dma", tests, NULL, NULL);
}
