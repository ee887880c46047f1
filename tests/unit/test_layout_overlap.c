/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layout_overlap.c - strides that do not nest: which layouts put two elements at one place, and which element is at a
 * place, against all elements one by one. All small lists of digits, random ones with splits, holes and replicas, two digits of
 * any size by number theory, and the undecided ones. TESELA_SEED sets the seed.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>
#include <tesela/layout.h>

#include "support_relayout.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

enum { MOST = 4096 };

static struct { int64_t nested, interleaved, shared; } seen;

static uint64_t state;

static int64_t below(int64_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int64_t)(state % (uint64_t)n);
}

/* Row-major, as an odometer; false after the last index. */
static bool advance(const tesela_layout *layout, int64_t *index) {
  for (int32_t d = layout->rank - 1; d >= 0; d--) {
    if (++index[d] < layout->shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

static const char *text_of(const tesela_layout *layout) {
  static char text[1024];
  size_t n = 0;
  for (int32_t i = 0; i < layout->n_digits; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%d: %" PRId64 " step %" PRId64 " stride %" PRId64 "; ",
                          layout->digit[i].source, layout->digit[i].extent, layout->digit[i].step,
                          layout->digit[i].stride);
  return text;
}

/* The layout against its elements: where each place has one, overlap is not said and all places answer; else it is said. */
static void check(const tesela_layout *layout) {
  static int64_t element[MOST];
  static tesela_scan scan;
  int64_t index[4] = {0}, place, number = 0, places = layout->axis[0].extent;
  int64_t copies = tesela_layout_copies(layout);
  bool shared = false, padding;
  assert_true(places <= MOST);
  for (int64_t p = 0; p < places; p++) element[p] = -1;
  do {
    for (int64_t k = 0; k < copies; k++) {
      OK(tesela_layout_copy_of(layout, index, k, &place, &e_));
      shared = shared || element[place] >= 0;
      element[place] = number;
    }
    number++;
  } while (advance(layout, index));
  if (layout->axis[0].overlap != shared || layout->axis[0].undecided)
    fail_msg("%s: overlap %d, shared %d", text_of(layout), layout->axis[0].overlap, shared);
  *(shared ? &seen.shared : layout->axis[0].interleaved ? &seen.interleaved : &seen.nested) += 1;
  for (place = 0; place < places; place++) {
    tesela_status status = tesela_layout_element_at(layout, &place, index, &padding, NULL);
    assert_int_equal(status, shared ? TESELA_E_UNSUPPORTED : TESELA_OK);
    if (shared) return;
    number = 0;
    for (int32_t d = 0; d < layout->rank && !padding; d++) number = number * layout->shape[d] + index[d];
    if ((padding ? -1 : number) != element[place])
      fail_msg("%s: place %" PRId64 " has element %" PRId64, text_of(layout), place, element[place]);
  }
  if (copies > 1) return;
  OK(tesela_scan_begin(&scan, layout, &e_));
  for (place = 0; scan.more; tesela_scan_next(&scan), place++) {
    number = 0;
    for (int32_t d = 0; d < layout->rank; d++) number = number * layout->shape[d] + scan.index[d];
    if ((scan.padding ? -1 : number) != element[place]) fail_msg("%s: scan", text_of(layout));
  }
  assert_int_equal(place, places);
  for (place = 0; place < places;
       place++) { /* a run: as far as numbers go up by one step, or padding goes on */
    tesela_run run;
    OK(tesela_layout_run(layout, place, &run, &e_));
    int64_t length = 1, step = place + 1 < places ? element[place + 1] - element[place] : 0;
    while (place + length < places &&
           (element[place] < 0
                ? element[place + length] < 0
                : element[place + length] >= 0 && element[place + length] - element[place] == length * step))
      length++;
    if (run.length != length || run.padding != (element[place] < 0))
      fail_msg("%s: run of %" PRId64 " from %" PRId64, text_of(layout), run.length, place);
  }
}

static void all_small_lists(void **unused) {
  (void)unused;
  memset(&seen, 0, sizeof seen);
  for (int32_t rank = 1; rank <= 3; rank++) {
    int64_t most_stride = rank == 3 ? 7 : 12, shape[3], stride[3], lists = 1;
    for (int32_t d = 0; d < rank; d++) lists *= 4 * (2 * most_stride + 1);
    for (int64_t list = 0; list < lists; list++) {
      tesela_layout layout;
      int64_t rest = list, offset = 0;
      bool fits = true;
      for (int32_t d = 0; d < rank; d++) {
        shape[d] = 1 + rest % 4;
        rest /= 4;
        stride[d] = rest % (2 * most_stride + 1) - most_stride;
        rest /= 2 * most_stride + 1;
        if (stride[d] < 0) offset -= (shape[d] - 1) * stride[d];
        fits = fits && stride[d] != 0 && (rank < 3 || stride[d] > 0 || d == 1);
      }
      if (!fits || (rank == 3 && slow_run() && below(8) != 0)) continue;
      OK(tesela_layout_strided(&layout, TESELA_F32, 32, rank, shape, stride, offset, &e_));
      check(&layout);
    }
  }
  print_message("small lists: %" PRId64 " nested, %" PRId64 " interleaved, %" PRId64 " overlap\n",
                seen.nested, seen.interleaved, seen.shared);
  assert_true(seen.interleaved > 100 && seen.shared > 1000);
}

/* Dims split once or twice, steps that need not divide, holes and replicas, all on one axis with any strides. */
static void random_digits(void **unused) {
  (void)unused;
  memset(&seen, 0, sizeof seen);
  for (int times = slow_run() ? 2000 : 40000; times > 0; times--) {
    tesela_layout layout;
    int64_t shape[2] = {1 + below(7), 1 + below(7)}, offset = 0;
    int32_t axis, digit[8], n = 2;
    OK(tesela_layout_begin(&layout, TESELA_F32, 32, 2, shape, &e_));
    OK(tesela_layout_add_axis(&layout, "memory", &axis, &e_));
    digit[0] = 0, digit[1] = 1;
    for (int32_t cuts = (int32_t)below(3); cuts > 0; cuts--, n++)
      OK(tesela_layout_split(&layout, digit[below(n)], 1 + below(4), &digit[n], &e_));
    if (below(3) == 0) OK(tesela_layout_add_digit(&layout, TESELA_HOLE, 1 + below(3), &digit[n++], &e_));
    if (below(3) == 0) OK(tesela_layout_add_digit(&layout, TESELA_REPLICA, 1 + below(3), &digit[n++], &e_));
    for (int32_t i = 0; i < n; i++) {
      int64_t stride = (1 + below(14)) * (below(4) == 0 ? -1 : 1);
      OK(tesela_layout_place(&layout, digit[i], axis, stride, &e_));
      if (stride < 0) offset -= (layout.digit[digit[i]].extent - 1) * stride;
    }
    OK(tesela_layout_set_axis(&layout, axis, offset, -1, &e_));
    OK(tesela_layout_finish(&layout, &e_));
    check(&layout);
  }
  print_message("random digits: %" PRId64 " nested, %" PRId64 " interleaved, %" PRId64 " overlap\n",
                seen.nested, seen.interleaved, seen.shared);
  assert_true(seen.interleaved > 50 && seen.shared > 200);
}

static int64_t gcd(int64_t a, int64_t b) { return b == 0 ? a : gcd(b, a % b); }

/* Two digits share a place exactly if each has as many values as the other's stride needs to meet it. */
static void two_digits_of_any_size(void **unused) {
  (void)unused;
  int64_t shared = 0, unique = 0;
  for (int times = slow_run() ? 500 : 20000; times > 0; times--) {
    tesela_layout layout;
    int64_t size = (int64_t)1 << (2 + below(27)), shape[2], stride[2], index[2], back[2], place;
    for (int d = 0; d < 2; d++) {
      shape[d] = 2 + below(size);
      stride[d] = (1 + below(size)) * (below(3) == 0 ? 1 + below(6) : 1);
    }
    int64_t g = gcd(stride[0], stride[1]);
    bool meet = stride[1] / g < shape[0] && stride[0] / g < shape[1], padding;
    OK(tesela_layout_strided(&layout, TESELA_F32, 32, 2, shape, stride, 0, &e_));
    assert_false(layout.axis[0].undecided);
    assert_int_equal(layout.axis[0].overlap, meet);
    *(meet ? &shared : &unique) += 1;
    for (int k = 0; k < 4 && !meet; k++) {
      for (int d = 0; d < 2; d++) index[d] = below(shape[d]);
      OK(tesela_layout_place_of(&layout, index, &place, &e_));
      OK(tesela_layout_element_at(&layout, &place, back, &padding, &e_));
      assert_false(padding);
      assert_memory_equal(back, index, sizeof index);
    }
  }
  print_message("two digits: %" PRId64 " share places, %" PRId64 " do not\n", shared, unique);
  assert_true(shared > 20 && unique > 20);
}

/* Strides that no small differences bring together, and too many values to try: refused as not decided, or right. */
static void what_is_not_decided_is_said_so(void **unused) {
  (void)unused;
  int64_t undecided = 0;
  for (int times = 60; times > 0; times--) {
    tesela_layout layout;
    tesela_error err = {.message = ""};
    int64_t shape[10], stride[10], index[10] = {0}, place, back[10];
    bool padding;
    for (int d = 0; d < 10; d++) {
      shape[d] = 3 + below(4);
      stride[d] = ((int64_t)1 << 40) + below((int64_t)1 << 40);
    }
    OK(tesela_layout_strided(&layout, TESELA_F32, 32, 10, shape, stride, 0, &e_));
    for (int d = 0; d < 10; d++) index[d] = below(shape[d]);
    OK(tesela_layout_place_of(&layout, index, &place, &e_));
    tesela_status status = tesela_layout_element_at(&layout, &place, back, &padding, &err);
    assert_int_equal(layout.axis[0].undecided, status != TESELA_OK && layout.axis[0].overlap &&
                                                   strstr(err.message, "cannot decide") != NULL);
    if (status == TESELA_OK) assert_memory_equal(back, index, sizeof index);
    undecided += layout.axis[0].undecided;
  }
  assert_true(undecided > 0);
  tesela_layout layout; /* a join with a broadcast inside: neighbours meet, if both are of elements */
  tesela_error err = {.message = ""};
  int32_t axis, joined, low;
  int64_t place = 0, index[2];
  bool padding;
  OK(tesela_layout_begin(&layout, TESELA_F32, 32, 2, (const int64_t[]){3, 4}, &e_));
  OK(tesela_layout_add_axis(&layout, "memory", &axis, &e_));
  OK(tesela_layout_join(&layout, 2, (const int32_t[]){0, 1}, &joined, &e_));
  OK(tesela_layout_split(&layout, joined, 2, &low, &e_));
  OK(tesela_layout_place(&layout, joined, axis, 1, &e_));
  OK(tesela_layout_place(&layout, low, axis, 0, &e_));
  OK(tesela_layout_finish(&layout, &e_));
  assert_int_equal(tesela_layout_element_at(&layout, &place, index, &padding, &err), TESELA_E_UNSUPPORTED);
  assert_non_null(strstr(err.message, "cannot decide"));
}

/* A relayout to interleaved strides copies every element; one to strides that share places is refused. */
static void relayout_to_interleaved_strides(void **unused) {
  (void)unused;
  tesela_layout dst, src;
  tesela_plan *plan;
  tesela_error err = {.message = ""};
  const int64_t shape[] = {3, 2};
  uint8_t to[8], from[6] = {10, 11, 20, 21, 30, 31};
  OK(tesela_layout_strided(&dst, TESELA_U8, 8, 2, shape, (const int64_t[]){2, 3}, 0, &e_));
  OK(tesela_layout_strided(&src, TESELA_U8, 8, 2, shape, NULL, 0, &e_));
  OK(tesela_plan_create(&plan, &dst, &src, NULL, &e_));
  memset(to, 0xee, sizeof to);
  OK(tesela_plan_run(plan, to, from, NULL, &e_));
  assert_memory_equal(to, ((const uint8_t[]){10, 0xee, 20, 11, 30, 21, 0xee, 31}), 8);
  tesela_plan_destroy(plan);
  OK(tesela_layout_strided(&dst, TESELA_U8, 8, 2, shape, (const int64_t[]){1, 2}, 0, &e_));
  assert_int_equal(tesela_plan_create(&plan, &dst, &src, NULL, &err), TESELA_E_UNSUPPORTED);
  assert_string_equal(err.message, "elements of dst share places: (0,1) and (2,0) are both at 2");
}

int main(void) {
  state = first_seed() * 2 + 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_small_lists),
      cmocka_unit_test(random_digits),
      cmocka_unit_test(two_digits_of_any_size),
      cmocka_unit_test(what_is_not_decided_is_said_so),
      cmocka_unit_test(relayout_to_interleaved_strides),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
