/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_view_random.c - views of random bases against the definition, index by index: places, feeds, the verdict on
 * lanes, agreement with sticks along every dim, and refusals.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support_device_view.h"
#include "support_seed.h"

static drawn_base base;
static tesela_host_view view;
static int64_t place[VIEW_ELEMENTS], lane[VIEW_ELEMENTS], n_elements;
static int64_t asked, unknown, counts[4], agreements[4], refused[2];

#define CHECK(condition, ...)        \
  do {                               \
    if (!(condition)) {              \
      view_print_case(&base, &view); \
      fail_msg(__VA_ARGS__);         \
    }                                \
  } while (0)

static void index_of(int64_t number, int64_t *index) {
  for (int32_t d = view.rank - 1; d >= 0; d--) {
    index[d] = number % view.shape[d];
    number /= view.shape[d];
  }
}

static int64_t number_of(const int64_t *index) {
  int64_t number = 0;
  for (int32_t d = 0; d < view.rank; d++) number = number * view.shape[d] + index[d];
  return number;
}

/* ---- the verdict by definition ------------------------------------------------------------------------------- */

static bool lane_is(int32_t dim, int64_t constant) {
  int64_t index[TESELA_MAX_RANK];
  for (int64_t e = 0; e < n_elements; e++) {
    index_of(e, index);
    if (lane[e] != ((dim < 0 ? 0 : index[dim]) + constant) % base.layout.lanes) return false;
  }
  return true;
}

static tesela_lane expected_lane(int32_t *dim, int64_t *offset) {
  *dim = -1;
  *offset = n_elements ? lane[0] : 0;
  bool found = n_elements == 0 || lane_is(-1, *offset);
  for (int32_t d = 0; d < view.rank && !found; d++)
    if (lane_is(d, *offset)) {
      found = true;
      *dim = d;
    }
  if (found) return *offset ? TESELA_LANE_OFFSET : TESELA_LANE_CLEAN;
  *offset = 0;
  return TESELA_LANE_MIXED;
}

static tesela_agreement expected_agreement(int32_t dim, int64_t lanes) {
  bool aligned = dim >= 0, broadcast = true;
  int64_t index[TESELA_MAX_RANK];
  for (int64_t e = 0; e < n_elements; e++) {
    broadcast = broadcast && lane[e] == 0;
    if (dim < 0) continue;
    index_of(e, index);
    int64_t at = index[dim], r = base.layout.lanes;
    if (lane[e] != at % r) aligned = false;
    index[dim] = at - at % r;
    int64_t whole = number_of(index);
    if (place[e] - lane[e] != place[whole] - lane[whole]) aligned = false;
    index[dim] = at - at % lanes;
    if (place[e] != place[number_of(index)]) broadcast = false;
  }
  return aligned ? TESELA_AGREE_ALIGNED : broadcast ? TESELA_AGREE_BROADCAST : TESELA_AGREE_NOT;
}

/* ---- checks -------------------------------------------------------------------------------------------------- */

static void check_places(const tesela_device_view *got) {
  int64_t index[TESELA_MAX_RANK], at;
  CHECK(got->first == (n_elements ? place[0] : -1), "first is %" PRId64, got->first);
  for (int64_t e = 0; e < n_elements; e++) {
    index_of(e, index);
    CHECK(tesela_layout_place_of(&got->layout, index, &at, NULL) == TESELA_OK, "no place");
    CHECK(at == place[e], "element %" PRId64 " at %" PRId64 ", not %" PRId64, e, at, place[e]);
    if (!got->plain) continue;
    at = got->first;
    for (int32_t k = 0; k < got->n_feeds; k++) {
      const tesela_view_feed *f = &got->feed[k];
      at += index[f->view_dim] / f->step % f->extent * f->stride;
    }
    CHECK(at == place[e], "feeds take element %" PRId64 " to %" PRId64 ", not %" PRId64, e, at, place[e]);
  }
}

static void check_verdicts(const tesela_device_view *got) {
  int32_t dim;
  int64_t offset;
  tesela_lane want = expected_lane(&dim, &offset);
  asked++;
  counts[want]++;
  if (got->lane == TESELA_LANE_UNKNOWN)
    unknown++;
  else
    CHECK(got->lane == want &&
              (want == TESELA_LANE_MIXED || (got->lane_dim == dim && got->lane_offset == offset)),
          "lane %s, dim %d, offset %" PRId64 "; expected %s, %d, %" PRId64, tesela_lane_name(got->lane),
          (int)got->lane_dim, got->lane_offset, tesela_lane_name(want), (int)dim, offset);
  const int64_t lanes[4] = {1, base.layout.lanes, 2 * base.layout.lanes,
                            base.layout.lanes > 3 ? base.layout.lanes / 2 : 3};
  for (int32_t d = -1; d < view.rank; d++)
    for (int k = 0; k < 4; k++) {
      tesela_agreement agrees = tesela_device_view_agrees(got, &base.layout, d, lanes[k]),
                       right = expected_agreement(d, lanes[k]);
      if (d < 0 && n_elements == 0) right = TESELA_AGREE_BROADCAST;
      asked++;
      agreements[right]++;
      if (agrees == TESELA_AGREE_UNKNOWN)
        unknown++;
      else
        CHECK(agrees == right, "dim %d, lanes %" PRId64 ": %d; expected %d", (int)d, lanes[k], (int)agrees,
              (int)right);
    }
}

static void check_refusal(tesela_status status, int64_t first_outside, int64_t first_gap,
                          const tesela_error *err) {
  int64_t index[TESELA_MAX_RANK];
  char text[200] = "(";
  if (first_outside >= 0) {
    CHECK(status == TESELA_E_RANGE, "status %d for a view that reaches outside", (int)status);
    index_of(first_outside, index);
    for (int32_t d = 0; d < view.rank; d++)
      snprintf(text + strlen(text), sizeof text - strlen(text), d ? ",%" PRId64 : "%" PRId64, index[d]);
    snprintf(text + strlen(text), sizeof text - strlen(text), ")");
    CHECK(strstr(err->message, text) != NULL, "the first outside is %s: %s", text, err->message);
    refused[0]++;
  } else {
    CHECK(status == TESELA_E_INVALID, "status %d for element %" PRId64 " in a gap", (int)status, first_gap);
    refused[1]++;
  }
}

static void check_case(void) {
  int64_t index[TESELA_MAX_RANK], outside = -1, gap = -1;
  n_elements = 1;
  for (int32_t d = 0; d < view.rank; d++) n_elements *= view.shape[d];
  for (int64_t e = 0; e < n_elements; e++) {
    index_of(e, index);
    int64_t offset = view.offset;
    for (int32_t d = 0; d < view.rank; d++) offset += index[d] * view.stride[d];
    if ((offset < 0 || offset >= base.span) && outside < 0) outside = e;
    if (!view_element_by_definition(&base, &view, index, &place[e], &lane[e]) && gap < 0) gap = e;
  }
  static tesela_device_view got;
  tesela_error err = {.message = ""};
  memset(&got, 0x5a, sizeof got);
  tesela_status status =
      tesela_device_view_of(&got, &base.layout, base.row_major ? NULL : base.stride, &view, &err);
  if (outside >= 0 || gap >= 0) {
    check_refusal(status, outside, gap, &err);
    unsigned char *bytes = (unsigned char *)&got;
    for (size_t i = 0; i < sizeof got; i++) CHECK(bytes[i] == 0x5a, "written to after a refusal");
    return;
  }
  CHECK(status == TESELA_OK, "refused: %s", err.message);
  check_places(&got);
  check_verdicts(&got);
}

static void random_views(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  int64_t trials = 6000;
  for (int64_t t = 0; t < trials; t++) {
    if (t % 4 == 0) view_draw_base(&seed, &base);
    view_draw_view(&seed, &base, &view);
    check_case();
  }
  printf("lanes: clean %" PRId64 ", offset %" PRId64 ", mixed %" PRId64 "; aligned %" PRId64
         ", broadcast %" PRId64 ", neither %" PRId64 "; refused: outside %" PRId64 ", gap %" PRId64
         "; unknown %" PRId64 " of %" PRId64 "\n",
         counts[0], counts[1], counts[2], agreements[0], agreements[1], agreements[2], refused[0], refused[1],
         unknown, asked);
  assert_true(unknown * 100 < asked);
  assert_true(counts[0] && counts[1] && counts[2] && agreements[0] && agreements[1] && agreements[2]);
  assert_true(refused[0] && refused[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_views)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
