/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layout_large.c - layouts too large for a table: elements at random, runs, and numbers that do not fit in 64 bits.
 * The recipes (support_recipe.h) are read in 128 bits.
 */
#include "support_recipe.h"
#include "support_seed.h"

/* ---- large numbers ------------------------------------------------------------------------------------------ */

static const taste large = {(int64_t)1 << 40, (wide)1 << 58, 7, ANY};
static const taste large_joined = {(int64_t)1 << 40, (wide)1 << 58, 4, JOINED};

static void random_index(const recipe *r, int64_t *index) {
  for (int d = 0; d < r->rank; d++) {
    int64_t n = r->shape[d], choice = recipe_below(4);
    index[d] = choice == 0   ? 0
               : choice == 1 ? n - 1
               : choice == 2 ? recipe_below(n < 64 ? n : 64)
                             : recipe_below(n);
  }
}

/* An element before `bound` in row-major order; false without one. */
static bool random_index_before(const recipe *r, const int64_t *bound, int64_t *index) {
  int d = r->rank - 1;
  for (int tries = 0; tries < 8; tries++) {
    d = (int)recipe_below(r->rank);
    if (bound[d] > 0) break;
  }
  if (bound[d] == 0) return false;
  random_index(r, index);
  for (int i = 0; i < d; i++) index[i] = bound[i];
  index[d] = recipe_one_in(2) ? bound[d] - 1 : recipe_below(bound[d]);
  return true;
}

static void check_points(const recipe *r, const tesela_layout *layout) {
  for (int times = 0; times < 24; times++) {
    int64_t index[4], place[MOST_AXES], back[4];
    wide want[MOST_AXES];
    bool padding, zero = true;
    random_index(r, index);
    recipe_place(r, index, NULL, want);
    OK(r, tesela_layout_place_of(layout, index, place, &e_));
    for (int a = 0; a < r->n_axes; a++)
      if (place[a] != want[a]) fail_msg("place on axis %d: %" PRId64 "%s", a, place[a], recipe_text(r));
    tesela_status status = tesela_layout_element_at(layout, place, back, &padding, NULL);
    if (status != TESELA_E_UNSUPPORTED || !recipe_overlaps(r)) /* else it may be so */
      AGREE(r, "status of a place", status, TESELA_OK);
    if (status != TESELA_OK) continue;
    AGREE(r, "padding where an element is", padding, false);
    for (int x = 0; x < r->n; x++)
      if (recipe_is_leaf(r, x) && r->node[x].stride == 0 && recipe_value(r, x, index, NULL) != 0)
        zero = false;
    for (int d = 0; d < r->rank && zero; d++) AGREE(r, "element", back[d], index[d]);
    int64_t again[MOST_AXES];
    OK(r, tesela_layout_place_of(layout, back, again, &e_));
    if (recipe_copies(r) == 1)
      for (int a = 0; a < r->n_axes; a++) AGREE(r, "place of the element", again[a], place[a]);
  }
}

/* The first difference differs, and no sampled element before it does. */
static void check_first_difference(const recipe *a, const recipe *b, const tesela_difference *difference) {
  wide pa[MOST_AXES], pb[MOST_AXES];
  bool differs = false;
  recipe_place(a, difference->index, NULL, pa);
  recipe_place(b, difference->index, NULL, pb);
  for (int k = 0; k < a->n_axes; k++) differs = differs || pa[k] != pb[k];
  if (!differs) fail_msg("no difference there%s%s", recipe_text(a), recipe_text(b));
  for (int times = 0; times < 1000 && a->rank > 0; times++) {
    int64_t index[4];
    if (!random_index_before(a, difference->index, index)) return;
    recipe_place(a, index, NULL, pa);
    recipe_place(b, index, NULL, pb);
    for (int k = 0; k < a->n_axes; k++)
      if (pa[k] != pb[k]) fail_msg("not the first difference%s%s", recipe_text(a), recipe_text(b));
  }
}

static void large_layouts_are_answered_at_once(void **state) {
  (void)state;
  static recipe r, other;
  static tesela_layout layout, form, changed;
  static tesela_walk walk;
  static tesela_scan scan;
  int64_t undecided = 0, compared = 0;
  for (uint64_t i = 0; i < recipe_seeds(); i++) {
    tesela_difference difference;
    recipe_seed(first_seed() + i);
    recipe_draw(&r, &large);
    for (int d = 0; d < r.rank; d++)
      if (r.shape[d] == 0) r.shape[d] = 1;
    if (recipe_build(&r, &layout, NULL) != TESELA_OK) continue;
    check_points(&r, &layout);
    (void)tesela_walk_begin(&walk, &layout, NULL);
    (void)tesela_scan_begin(&scan, &layout, NULL);
    OK(&r, tesela_layout_canonical(&layout, &form, &e_));
    compared++;
    tesela_status status = tesela_layout_compare(&layout, &form, &difference, NULL);
    if (status == TESELA_OK) AGREE(&r, "the form is the same", difference.same, true);
    undecided += status != TESELA_OK;
    other = r;
    int leaf[MOST_NODES], n = recipe_leaves(&other, leaf);
    if (n == 0) continue;
    int x = leaf[recipe_below(n)];
    other.node[x].stride += recipe_one_in(2) ? 1 : -1;
    if (!recipe_moves(&r, x) || recipe_is_free(&r, x, TESELA_REPLICA)) continue;
    for (int a = 0; a < r.n_axes; a++) other.extent[a] = -1;
    if (recipe_build(&other, &changed, NULL) != TESELA_OK) continue;
    bool reached = r.node[recipe_root(&r, x)].kind == DIM; /* a part of a join may still never move */
    compared++;
    status = tesela_layout_compare(&layout, &changed, &difference, NULL);
    undecided += status != TESELA_OK;
    if (status != TESELA_OK) continue;
    if (reached) AGREE(&r, "a changed stride is the same", difference.same, false);
    if (difference.have_index) check_first_difference(&r, &other, &difference);
  }
  printf("large comparisons: %" PRId64 ", %" PRId64 " undecided\n", compared, undecided);
}

/* Element number at a place, -1 for padding. */
static int64_t element_number(const recipe *r, const tesela_layout *layout, int64_t place) {
  int64_t index[4];
  bool padding;
  OK(r, tesela_layout_element_at(layout, &place, index, &padding, &e_));
  return padding ? -1 : recipe_number(r, index);
}

/* Some places of the run are as it says, and the one after it is not. */
static void check_large_run(const recipe *r, const tesela_layout *layout, int64_t place) {
  tesela_run run;
  int64_t first = element_number(r, layout, place), extent = layout->axis[0].extent;
  OK(r, tesela_layout_run(layout, place, &run, &e_));
  AGREE(r, "run padding", run.padding, first < 0);
  AGREE(r, "run length", run.length >= 1 && run.length <= extent - place, true);
  for (int64_t times = 0; times < 8; times++) {
    int64_t k = times == 0 ? run.length - 1 : times == 1 ? 0 : recipe_below(run.length);
    AGREE(r, "element of a run", element_number(r, layout, place + k), first < 0 ? -1 : first + k * run.step);
  }
  if (place + run.length == extent) return;
  int64_t behind = element_number(r, layout, place + run.length);
  bool goes_on = first < 0 ? behind < 0 : behind >= 0 && behind == first + run.length * run.step;
  AGREE(r, "a run that goes on", goes_on, false);
}

/* Without joins a run is found in a few steps, whatever the extents are. */
static void large_runs_are_found_at_once(void **state) {
  (void)state;
  static recipe r;
  static tesela_layout layout;
  for (uint64_t i = 0; i < recipe_seeds(); i++) {
    bool joins = false;
    recipe_seed(first_seed() + i);
    recipe_draw(&r, i % 2 ? &large_joined : &large);
    for (int x = 0; x < r.n; x++) joins = joins || r.node[x].kind == JOIN;
    if (joins || r.n_axes != 1 || recipe_is_swizzled(&r) || recipe_copies(&r) > 1 || recipe_overlaps(&r))
      continue;
    if (recipe_build(&r, &layout, NULL) != TESELA_OK || layout.axis[0].extent == 0) continue;
    for (int times = 0; times < 8; times++) {
      int64_t index[4], place = recipe_below(layout.axis[0].extent);
      if (times % 2 && !recipe_is_empty(&r)) {
        random_index(&r, index);
        OK(&r, tesela_layout_place_of(&layout, index, &place, &e_));
        if (place + 1 < layout.axis[0].extent) place += recipe_below(2);
      }
      check_large_run(&r, &layout, place);
    }
  }
}

/* ---- too large ---------------------------------------------------------------------------------------------- */

/* Is there a number in the recipe that does not fit? The extents of the joins, what a split pads to, the elements,
   and the places. */
static bool does_not_fit(const recipe *r) {
  wide elements = 1, low, high;
  for (int d = 0; d < r->rank; d++) {
    elements *= r->shape[d] > 0 ? r->shape[d] : 1;
    if (elements > INT64_MAX) return true;
  }
  for (int x = 0; x < r->n; x++) {
    wide extent = recipe_extent(r, x), step = 1;
    for (int i = x; i != recipe_root(r, x); i = r->node[i].of)
      if (r->node[i].kind == HIGH) step *= r->node[i].by;
    if (step * (extent > 0 ? extent : 1) > INT64_MAX) return true;
  }
  for (int a = 0; a < r->n_axes; a++) {
    recipe_span(r, a, &low, &high);
    if (low < INT64_MIN || high >= INT64_MAX || high - low > INT64_MAX) return true;
  }
  wide copies = 1;
  for (int x = 0; x < r->n; x++)
    if (recipe_is_leaf(r, x) && recipe_is_free(r, x, TESELA_REPLICA)) {
      copies *= recipe_extent(r, x);
      if (copies > INT64_MAX) return true;
    }
  return false;
}

static int64_t huge_number(void) { return (int64_t)(recipe_bits() >> (1 + recipe_below(62))); }

/* Numbers of any size, in recipes of any kind: a layout that is right, or a refusal that has a reason. */
static void numbers_that_do_not_fit_are_refused(void **state) {
  (void)state;
  static recipe r;
  static tesela_layout layout;
  int64_t accepted = 0, refused = 0;
  for (uint64_t i = 0; i < 4 * recipe_seeds(); i++) {
    int64_t shape[4];
    recipe_seed(first_seed() + i);
    int32_t rank = (int32_t)recipe_below(4);
    for (int32_t d = 0; d < rank; d++) shape[d] = recipe_one_in(2) ? 1 + recipe_below(5) : huge_number();
    recipe_begin(&r, rank, shape);
    r.n_axes = 1 + (int)recipe_below(2);
    bool fits = true; /* past 2^63 nothing goes on: products of two such numbers fit in `wide`, no others */
    for (int64_t steps = recipe_below(5); steps > 0 && fits; steps--) {
      int leaf[MOST_NODES], n = recipe_leaves(&r, leaf);
      if (n > 0 && recipe_one_in(2))
        recipe_add_split(&r, leaf[recipe_below(n)],
                         1 + (recipe_one_in(2) ? recipe_below(9) : huge_number() / 2));
      else if (n > 1 && recipe_one_in(2) && !recipe_is_free(&r, leaf[0], TESELA_REPLICA) &&
               !recipe_is_free(&r, leaf[1], TESELA_REPLICA))
        recipe_add_join(&r, 2, leaf, 0, 0);
      else
        recipe_add_node(&r, (node){.kind = FREE,
                                   .of = recipe_one_in(2) ? TESELA_HOLE : TESELA_REPLICA,
                                   .by = 1 + huge_number() / 2});
      for (int x = 0; x < r.n; x++) fits = fits && recipe_extent(&r, x) <= INT64_MAX;
    }
    for (int x = 0; x < r.n; x++) {
      r.node[x].axis = (int)recipe_below(r.n_axes);
      r.node[x].stride = recipe_one_in(3)   ? (int64_t)recipe_bits()
                         : recipe_one_in(2) ? 1 + recipe_below(4)
                                            : -1 - recipe_below(4);
      if (recipe_one_in(2)) r.node[x].stride = r.node[x].stride / ((int64_t)1 << recipe_below(62));
      if (recipe_one_in(8)) r.node[x].stride = recipe_one_in(2) ? INT64_MIN : INT64_MAX;
      if (recipe_extent(&r, x) > INT64_MAX) r.node[x].stride = 1;
    }
    for (int a = 0; a < r.n_axes; a++) {
      r.offset[a] = recipe_one_in(3)   ? 0
                    : recipe_one_in(8) ? INT64_MIN
                    : recipe_one_in(2) ? huge_number()
                                       : INT64_MAX - recipe_below(4);
      r.extent[a] = recipe_one_in(2) ? -1 : huge_number();
    }
    if (recipe_one_in(8)) recipe_draw_swizzle(&r);
    tesela_error err;
    tesela_status status = recipe_build(&r, &layout, &err);
    bool replica_cut = false;
    for (int x = 0; x < r.n; x++)
      if (r.node[x].kind == HIGH && recipe_is_free(&r, x, TESELA_REPLICA) &&
          recipe_extent(&r, r.node[x].of) % r.node[x].by != 0)
        replica_cut = true;
    if (status == TESELA_OK) {
      if (!recipe_is_empty(&r) && does_not_fit(&r)) fail_msg("accepted%s", recipe_text(&r));
      accepted++;
      int64_t sizes_place[MOST_AXES] = {0}, index[4];
      bool padding;
      tesela_run run;
      tesela_sizes sizes;
      tesela_difference difference;
      (void)tesela_layout_copies(&layout);
      (void)tesela_layout_sizes(&layout, &sizes, NULL);
      (void)tesela_layout_element_at(&layout, sizes_place, index, &padding, NULL);
      for (int a = 0; a < r.n_axes; a++) sizes_place[a] = layout.axis[a].extent - 1;
      (void)tesela_layout_element_at(&layout, sizes_place, index, &padding, NULL);
      if (recipe_is_empty(&r) && layout.axis[0].extent > 0) (void)tesela_layout_run(&layout, 0, &run, NULL);
      (void)tesela_layout_compare(&layout, &layout, &difference, NULL);
      if (!recipe_is_empty(&r)) check_points(&r, &layout);
    } else {
      refused++;
      if (status == TESELA_E_OVERFLOW && !recipe_is_swizzled(&r) && !does_not_fit(&r))
        fail_msg("%s%s", err.message, recipe_text(&r));
      if (status != TESELA_E_OVERFLOW && status != TESELA_E_RANGE &&
          !(status == TESELA_E_INVALID && (replica_cut || recipe_status(&r) == TESELA_E_INVALID)))
        fail_msg("%d: %s%s", status, err.message, recipe_text(&r));
    }
  }
  printf("accepted %" PRId64 ", refused %" PRId64 "\n", accepted, refused);
  assert_true(accepted > 0 && refused > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_layouts_are_answered_at_once),
      cmocka_unit_test(large_runs_are_found_at_once),
      cmocka_unit_test(numbers_that_do_not_fit_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
