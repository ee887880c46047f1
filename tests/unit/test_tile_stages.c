/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tile_stages.c - tiles in memory of relations with extents up to some 1000: the verdict is that of a search through all stages on a
 * table of all elements, and few stages are compared.
 *
 * TESELA_SEEDS: relations of each class (default: 200, 100 in slow runs).
 */
#include "gpu/memory/tile_stages.h"
#include "support_seed.h"
#include "support_xla.h"

enum { TABLE = 1024, MOST_EXACT = 16 };

static uint64_t random_state;

static int64_t below(int64_t n) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (int64_t)((random_state >> 11) % (uint64_t)n);
}

static int64_t runs(void) {
  const char *text = getenv("TESELA_SEEDS");
  if (text) return strtoll(text, NULL, 10);
  return slow_run() ? 100 : 200;
}

typedef enum stage_class { PLAIN, ONE_STAGE, TWO_STAGES, MATRIX, N_CLASSES } stage_class;

/* Digits that cut the dims evenly or not, in any order, with gaps, and the stages of the class. */
static bool draw(stage_class kind, int64_t most, tesela_layout *layout) {
  int32_t rank = 1 + (int32_t)below(3), digit[16], n, axis;
  int64_t shape[3], elements = 1, stride = 1;
  bool even = below(2) == 0;
  for (int32_t d = 0; d < rank; d++) {
    shape[d] = 1 + below(rank == 1 ? most : 140);
    if (below(3) == 0) shape[d] = INT64_C(1) << below(8);
    while (elements * shape[d] > most) shape[d] = (shape[d] + 1) / 2;
    elements *= shape[d];
  }
  OK(tesela_layout_begin(layout, TESELA_F16, 16, rank, shape, &e_));
  OK(tesela_layout_add_axis(layout, "memory", &axis, &e_));
  for (n = 0; n < rank; n++) digit[n] = n;
  for (int64_t k = below(5); k > 0; k--) {
    int32_t from = (int32_t)below(n);
    int64_t extent = layout->digit[digit[from]].extent, t = 1 + below(9);
    while (even && extent % t != 0) t = 1 + below(9);
    OK(tesela_layout_split(layout, digit[from], t, &digit[n++], &e_));
  }
  for (int32_t i = n - 1; i > 0; i--) {
    int32_t k = (int32_t)below(i + 1), x = digit[i];
    digit[i] = digit[k];
    digit[k] = x;
  }
  for (int32_t k = n - 1; k >= 0; k--) {
    if (below(5) == 0) stride += below(6);
    OK(tesela_layout_place(layout, digit[k], axis, stride, &e_));
    stride *= layout->digit[digit[k]].extent;
  }
  if (below(4) == 0) OK(tesela_layout_set_axis(layout, axis, below(9), -1, &e_));
  for (int k = 0; k < (kind == TWO_STAGES ? 2 : kind == MATRIX ? 4 : kind == ONE_STAGE); k++) {
    int16_t bits = (int16_t)(1 + below(kind == MATRIX ? 1 : 3));
    tesela_swizzle stage = {0, bits, (int16_t)below(4), (int16_t)(bits + below(4))};
    if (below(3) == 0) stage.shift = (int16_t)-stage.shift;
    OK(tesela_layout_add_swizzle(layout, stage, &e_));
  }
  return tesela_layout_finish(layout, NULL) == TESELA_OK;
}

/* ---- the search --------------------------------------------------------------------------------------------- */

static int64_t turned(int32_t bits, int32_t base, int32_t shift, int64_t x) {
  int64_t mask = (INT64_C(1) << bits) - 1;
  return shift >= 0 ? x ^ (x >> (base + shift) & mask) << base : x ^ (x >> base & mask) << (base - shift);
}

/* Are the values of the elements sums of what even digits of each dim add? */
static bool is_sum(int32_t rank, const int64_t *shape, int64_t n, const int64_t *value) {
  static int64_t sum[TABLE];
  int64_t inner = n;
  for (int64_t e = 0; e < n; e++) sum[e] = value[0];
  for (int32_t d = 0; d < rank; d++) {
    int64_t step = 1, add[TABLE];
    inner /= shape[d];
    for (int64_t x = 0; x < shape[d]; x++) add[x] = value[x * inner] - value[0];
    for (int64_t x = 1; x < shape[d]; x++) {
      if (add[x] < 0) return false;
      if (x == 1 || add[x] == add[x % step] + x / step * add[step]) continue;
      if (x % step != 0 || shape[d] % x != 0) return false;
      step = x; /* the digits below it are in add[x % step] */
    }
    for (int64_t e = 0; e < n; e++) sum[e] += add[e / inner % shape[d]];
  }
  return memcmp(sum, value, (size_t)n * sizeof sum[0]) == 0;
}

/* Is there a tile with a stage within the bits of the places? */
static bool search(const tesela_layout *layout) {
  static int64_t place[TABLE], value[TABLE];
  int64_t index[TESELA_MAX_RANK] = {0}, n = 0;
  int32_t top = 0;
  do OK(tesela_layout_place_of(layout, index, &place[n++], &e_));
  while (tesela_index_next(layout->rank, layout->shape, index));
  while ((layout->axis[0].extent - 1) >> top > 0) top++;
  if (is_sum(layout->rank, layout->shape, n, place)) return true;
  for (int32_t bits = 1; 2 * bits <= top; bits++)
    for (int32_t shift = -top; shift <= top; shift++) {
      int32_t distance = shift < 0 ? -shift : shift;
      for (int32_t base = 0; distance >= bits && base + distance + bits <= top; base++) {
        for (int64_t e = 0; e < n; e++) value[e] = turned(bits, base, shift, place[e]);
        if (is_sum(layout->rank, layout->shape, n, value)) return true;
      }
    }
  return false;
}

/* ---- tests --------------------------------------------------------------------------------------------------- */

static void no_tile_of_hundreds_of_elements_is_missed(void **state) {
  (void)state;
  static const char *const names[] = {"plain", "one stage", "two stages", "matrix"};
  random_state = first_seed() * 2 + 1;
  for (int kind = 0; kind < N_CLASSES; kind++) {
    int64_t rates[2] = {0}, most = 0;
    while (rates[0] + rates[1] < runs()) {
      tesela_layout layout;
      tesela_translation answer = {.verdict = TESELA_EXACT};
      tesela_tile_memory tile;
      int64_t exact;
      if (!draw((stage_class)kind, 700, &layout)) continue;
      OK(tesela__untile(&layout, TESELA_TILE_SHARED, &tile, &answer, &exact, &e_));
      AGREE(names[kind], answer.verdict != TESELA_IMPOSSIBLE, search(&layout));
      rates[answer.verdict != TESELA_IMPOSSIBLE]++;
      if (exact > most) most = exact;
    }
    printf("%s: %" PRId64 " tiles, %" PRId64 " impossible; at most %" PRId64 " stages compared\n",
           names[kind], rates[1], rates[0], most);
    assert_true(most <= MOST_EXACT);
    assert_true(40 * rates[1] > rates[0] && 40 * rates[0] > rates[1]);
  }
}

/* Some 10^4 stages; all but a few are excluded by a few elements. */
static void few_stages_of_large_layouts_are_compared(void **state) {
  (void)state;
  int64_t most = 0, undecided = 0;
  random_state = first_seed() * 2 + 3;
  for (int64_t i = 0; i < runs(); i++) {
    tesela_layout layout;
    tesela_translation answer = {.verdict = TESELA_EXACT};
    tesela_tile_memory tile;
    int64_t exact;
    if (!draw((stage_class)below(N_CLASSES), INT64_C(1) << (8 + below(33)), &layout)) continue;
    tesela_status status = tesela__untile(&layout, TESELA_TILE_SHARED, &tile, &answer, &exact, NULL);
    assert_true(status == TESELA_OK || status == TESELA_E_UNSUPPORTED || status == TESELA_E_LIMIT);
    undecided += status != TESELA_OK;
    if (exact > most) most = exact;
  }
  printf("%" PRId64 " undecided; at most %" PRId64 " stages compared\n", undecided, most);
  assert_true(most <= MOST_EXACT);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_tile_of_hundreds_of_elements_is_missed),
                                     cmocka_unit_test(few_stages_of_large_layouts_are_compared)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
