/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_recipe_check.c - the library's answers about a recipe, compared with its table; see support_recipe.h.
 */
#include "support_recipe.h"

/* ---- elements and places ----------------------------------------------------------------------------------- */

static void check_axes(const table *t) {
  const recipe *r = &t->r;
  AGREE(r, "axes", t->layout.n_axes, r->n_axes);
  for (int a = 0; a < r->n_axes; a++) {
    wide low, high, extent = r->extent[a];
    recipe_span(r, a, &low, &high);
    if (extent < 0) extent = recipe_is_empty(r) ? 0 : high + 1;
    bool swizzled = false;
    for (int s = 0; s < r->n_swizzles; s++) swizzled = swizzled || r->swizzle[s].axis == a;
    for (int k = 0; k < r->n_bits; k++) swizzled = swizzled || r->bit[k].axis == a;
    if (!swizzled) AGREE(r, "places of an axis", t->layout.axis[a].extent, extent);
  }
}

static void check_elements(const table *t) {
  const recipe *r = &t->r;
  int64_t index[4], place[MOST_AXES], copy[MOST_NODES] = {0};
  wide want[MOST_AXES];
  AGREE(r, "copies", tesela_layout_copies(&t->layout), t->n_copies);
  for (int64_t e = 0; e < t->n_elements; e++) {
    recipe_index(r, e, index);
    OK(r, tesela_layout_place_of(&t->layout, index, place, &e_));
    AGREE(r, "place", table_key(r->n_axes, place), t->first[e]);
    for (int64_t k = 0; k < t->n_copies; k++) {
      recipe_copy_values(r, k, copy);
      recipe_place(r, index, copy, want);
      OK(r, tesela_layout_copy_of(&t->layout, index, k, place, &e_));
      for (int a = 0; a < r->n_axes; a++) AGREE(r, "copy", place[a], want[a]);
    }
    AGREE(r, "one copy too many", tesela_layout_copy_of(&t->layout, index, t->n_copies, place, NULL),
          TESELA_E_RANGE);
  }
}

static void check_places(const table *t) {
  const recipe *r = &t->r;
  for (int64_t p = 0; p < t->n_places; p++) {
    int64_t place[MOST_AXES], index[4];
    bool padding;
    table_place(&t->layout, p, place);
    tesela_status status = tesela_layout_element_at(&t->layout, place, index, &padding, NULL);
    AGREE(r, "status of a place", status, t->overlap ? TESELA_E_UNSUPPORTED : TESELA_OK);
    if (t->overlap) continue;
    AGREE(r, "padding", padding, t->count[p] == 0);
    if (padding) continue;
    AGREE(r, "elements that answer for a place", t->answers[p], 1);
    AGREE(r, "element", recipe_number(r, index), t->answer[p]);
    OK(r, tesela_layout_elements(&t->layout, 1, place, index, NULL, &e_));
    AGREE(r, "element of a row", recipe_number(r, index), t->answer[p]);
  }
  if (r->n_axes == 0) return;
  int64_t outside[MOST_AXES] = {0};
  bool padding;
  outside[0] = t->layout.axis[0].extent;
  AGREE(r, "outside", tesela_layout_element_at(&t->layout, outside, outside, &padding, NULL), TESELA_E_RANGE);
}

static void check_batches(const table *t) {
  static int64_t indices[MOST_ROWS * 4], places[MOST_ROWS];
  const recipe *r = &t->r;
  for (int64_t e = 0; e < t->n_elements; e++) recipe_index(r, t->n_elements - 1 - e, indices + e * r->rank);
  for (int a = 0; a < r->n_axes; a++) {
    OK(r, tesela_layout_places(&t->layout, a, t->n_elements, indices, places, &e_));
    for (int64_t e = 0; e < t->n_elements; e++) {
      int64_t key = t->first[t->n_elements - 1 - e];
      for (int b = r->n_axes - 1; b > a; b--) key /= AXIS_BASE;
      AGREE(r, "place of a row", places[e], key % AXIS_BASE);
    }
  }
}

/* The leaves that splits make of a dim, including those that are parts of joins. */
static void check_sizes(const table *t) {
  const recipe *r = &t->r;
  tesela_sizes sizes;
  OK(r, tesela_layout_sizes(&t->layout, &sizes, &e_));
  AGREE(r, "elements", sizes.logical_elements, t->n_elements);
  AGREE(r, "bits", sizes.bits, t->n_places * 8);
  AGREE(r, "places", sizes.elements, t->n_places);
  for (int d = 0; d < r->rank; d++) {
    int64_t padded, want = 1;
    for (int x = 0; x < r->n; x++) {
      bool split = false;
      for (int i = x + 1; i < r->n; i++) split = split || (r->node[i].kind == HIGH && r->node[i].of == x);
      if (!split && recipe_root(r, x) == d) want *= (int64_t)recipe_extent(r, x);
    }
    OK(r, tesela_layout_padded_extent(&t->layout, d, &padded, &e_));
    AGREE(r, "padded extent", padded, want);
  }
}

/* ---- iteration ---------------------------------------------------------------------------------------------- */

static void check_walk(const table *t) {
  static tesela_walk walk;
  const recipe *r = &t->r;
  tesela_status want = r->n_axes != 1 || t->swizzled ? TESELA_E_UNSUPPORTED : TESELA_OK;
  AGREE(r, "walk", tesela_walk_begin(&walk, &t->layout, NULL), want);
  if (want != TESELA_OK) return;
  int64_t e = 0;
  for (; walk.more; tesela_walk_next(&walk), e++) {
    AGREE(r, "walk index", recipe_number(r, walk.index), e);
    AGREE(r, "walk place", walk.place, t->first[e]);
  }
  AGREE(r, "walk length", e, t->n_elements);
}

/* Does each place have one answer, on one axis? */
static tesela_status status_by_places(const table *t) {
  bool none = t->r.n_axes != 1 || t->swizzled || t->overlap || t->n_copies != 1;
  return none ? TESELA_E_UNSUPPORTED : TESELA_OK;
}

static void check_scan(const table *t) {
  static tesela_scan scan;
  const recipe *r = &t->r;
  AGREE(r, "scan", tesela_scan_begin(&scan, &t->layout, NULL), status_by_places(t));
  if (status_by_places(t) != TESELA_OK) return;
  int64_t p = 0;
  for (; scan.more; tesela_scan_next(&scan), p++) {
    AGREE(r, "scan place", scan.place, p);
    AGREE(r, "scan element", scan.padding ? -1 : recipe_number(r, scan.index), t->answer[p]);
  }
  AGREE(r, "scan length", p, t->n_places);
}

/* The definition: the largest n for which element numbers increase by one fixed step, or all are padding. */
static tesela_run run_by_definition(const table *t, int64_t place) {
  const int64_t *image = t->answer;
  tesela_run run = {1, 1, image[place] < 0};
  if (run.padding) {
    run.step = 0;
    while (place + run.length < t->n_places && image[place + run.length] < 0) run.length++;
    return run;
  }
  if (place + 1 < t->n_places && image[place + 1] >= 0) run.step = image[place + 1] - image[place];
  while (place + run.length < t->n_places && image[place + run.length] >= 0 &&
         image[place + run.length] == image[place] + run.length * run.step)
    run.length++;
  return run;
}

static void check_runs(const table *t) {
  const recipe *r = &t->r;
  for (int64_t p = 0; p < t->n_places; p++) {
    tesela_run run, want = run_by_definition(t, p);
    AGREE(r, "run", tesela_layout_run(&t->layout, p, &run, NULL), status_by_places(t));
    if (status_by_places(t) != TESELA_OK) return;
    AGREE(r, "run padding", run.padding, want.padding);
    AGREE(r, "run length", run.length, want.length);
    AGREE(r, "run step", run.step, want.step);
  }
}

/* ---- form --------------------------------------------------------------------------------------------------- */

bool recipe_same_digits(const tesela_layout *a, const tesela_layout *b) {
  if (a->n_digits != b->n_digits || a->n_joins != b->n_joins) return false;
  for (int i = 0; i < a->n_digits; i++) {
    const tesela_digit *x = &a->digit[i], *y = &b->digit[i];
    if (x->extent != y->extent || x->step != y->step || x->stride != y->stride || x->source != y->source ||
        x->axis != y->axis || x->join != y->join)
      return false;
  }
  for (int a_ = 0; a_ < a->n_axes; a_++)
    if (a->axis[a_].offset != b->axis[a_].offset) return false;
  return true;
}

void recipe_check_relation(const recipe *r, const tesela_layout *layout, int64_t n, const int64_t *keys,
                           const int *n_keys, bool must_invert) {
  static int64_t found[MOST_COPIES], filled[MOST_PLACES];
  static table view;
  int64_t index[4], place[MOST_AXES], n_places = 1, taken = 0, held = 0;
  view.r = *r;
  view.r.n_axes = layout->n_axes;
  view.layout = *layout;
  view.n_copies = tesela_layout_copies(layout);
  view.n_elements = n;
  view.overlap = false;
  view.swizzled = layout->swizzle.n > 0;
  for (int64_t e = 0; e < n; e++) {
    int n_found = 0;
    recipe_index(r, e, index);
    for (int64_t k = view.n_copies - 1; k >= 0; k--) {
      OK(r, tesela_layout_copy_of(layout, index, k, place, &e_));
      view.first[e] = table_key(layout->n_axes, place);
      table_add_key(found, &n_found, view.first[e]);
    }
    AGREE(r, "number of places", n_found, n_keys[e]);
    for (int k = 0; k < n_found; k++) AGREE(r, "place of an element", found[k], keys[e * MOST_COPIES + k]);
  }
  check_walk(&view);
  for (int a = 0; a < layout->n_axes; a++) n_places *= layout->axis[a].extent;
  if (n_places > MOST_PLACES) return;
  for (int64_t p = 0; p < n_places; p++) filled[p] = 0;
  for (int64_t e = 0; e < n; e++)
    for (int k = 0; k < n_keys[e]; k++)
      taken += filled[table_place_number(layout, keys[e * MOST_COPIES + k])]++ == 0;
  view.n_places = n_places;
  for (int64_t p = 0; p < n_places; p++) {
    bool padding, here = false;
    table_place(layout, p, place);
    tesela_status status = tesela_layout_element_at(layout, place, index, &padding, NULL);
    if (status == TESELA_E_UNSUPPORTED && !must_invert) return;
    AGREE(r, "status of a place", status, TESELA_OK);
    held += !padding;
    view.answer[p] = padding ? -1 : recipe_number(r, index);
    if (padding) continue;
    for (int k = 0; k < n_keys[view.answer[p]]; k++)
      here = here || table_place_number(layout, keys[view.answer[p] * MOST_COPIES + k]) == p;
    AGREE(r, "the element is at the place", here, true);
  }
  AGREE(r, "places that hold something", held, taken);
  check_scan(&view);
  check_runs(&view);
}

static void check_canonical(const table *t) {
  static tesela_layout form, again;
  OK(&t->r, tesela_layout_canonical(&t->layout, &form, &e_));
  recipe_check_relation(&t->r, &form, t->n_elements, &t->key[0][0], t->n_keys, !t->overlap);
  for (int a = 0; a < t->r.n_axes; a++)
    AGREE(&t->r, "extent of the canonical form", form.axis[a].extent, t->layout.axis[a].extent);
  OK(&t->r, tesela_layout_canonical(&form, &again, &e_));
  AGREE(&t->r, "the same form again", recipe_same_digits(&form, &again), true);
  tesela_difference difference;
  OK(&t->r, tesela_layout_compare(&t->layout, &form, &difference, &e_));
  AGREE(&t->r, "the form is the same", difference.same && difference.same_extent, true);
}

void recipe_check_all(const table *t) {
  check_axes(t);
  check_elements(t);
  check_places(t);
  check_batches(t);
  check_sizes(t);
  check_walk(t);
  check_scan(t);
  check_runs(t);
  check_canonical(t);
}

/* ---- equality ----------------------------------------------------------------------------------------------- */

recipe_tally recipe_told;

static bool is_simple(const recipe *r) {
  for (int x = 0; x < r->n; x++)
    if (r->node[x].kind == JOIN) return false;
  return !recipe_is_swizzled(r) && !recipe_overlaps(r);
}

void recipe_check_comparison(const table *a, const table *b) {
  tesela_difference difference;
  tesela_error err;
  bool alike = a->r.rank == b->r.rank && a->r.n_axes == b->r.n_axes && a->r.bits == b->r.bits;
  for (int d = 0; d < a->r.rank && alike; d++) alike = a->r.shape[d] == b->r.shape[d];
  int64_t first = -1;
  for (int64_t e = 0; alike && e < a->n_elements && first < 0; e++)
    if (a->n_keys[e] != b->n_keys[e] ||
        memcmp(a->key[e], b->key[e], (size_t)a->n_keys[e] * sizeof a->key[e][0]) != 0)
      first = e;
  tesela_status status = tesela_layout_compare(&a->layout, &b->layout, &difference, &err);
  if (status == TESELA_E_UNSUPPORTED) {
    recipe_told.undecided++;
    recipe_told.undecided_simple += is_simple(&a->r) && is_simple(&b->r);
    return;
  }
  bool same = alike && first < 0;
  if (status != TESELA_OK || difference.same != same || difference.have_index != (first >= 0) ||
      (first >= 0 && recipe_number(&a->r, difference.index) != first))
    fail_msg("compare: status %d, same %d, first %" PRId64 "; not same %d, first %" PRId64 "%s%s", status,
             difference.same, difference.have_index ? recipe_number(&a->r, difference.index) : -1, same,
             first, recipe_text(&a->r), recipe_text(&b->r));
  bool same_extent = a->layout.n_axes == b->layout.n_axes;
  for (int k = 0; k < a->layout.n_axes && same_extent; k++)
    same_extent = a->layout.axis[k].extent == b->layout.axis[k].extent;
  AGREE(&a->r, "same extent", difference.same_extent, same_extent);
  if ((difference.reason[0] == '\0') != same) fail_msg("reason: %s%s", difference.reason, recipe_text(&a->r));
  recipe_told.same += same;
  recipe_told.differ += !same;
}

bool table_realize(table *t) {
  tesela_error err;
  tesela_status status = recipe_build(&t->r, &t->layout, &err), want = recipe_status(&t->r);
  if (recipe_is_swizzled(&t->r) && status == TESELA_E_RANGE) return false;
  if (status != want) fail_msg("finish: %d (%s), not %d%s", status, err.message, want, recipe_text(&t->r));
  if (status != TESELA_OK) return false;
  for (int a = 0; a < t->r.n_axes; a++)
    if (t->layout.axis[a].extent >= AXIS_BASE) return false;
  table_elements(t);
  return true;
}
