/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layout_view.c - views of layouts against their definition: the element at an index of the view is where the table
 * (support_recipe.h) has the element at the index that the view selects.
 */
#include "support_recipe.h"
#include "support_seed.h"

/* A view under test: its layout, and for each of its elements the element of the base. */
typedef struct selection {
  int32_t rank;
  int64_t shape[8], n_elements;
  int64_t element[2 * MOST_ROWS];
} selection;

static void select_start(const table *base, selection *s) {
  s->rank = base->r.rank;
  for (int d = 0; d < s->rank; d++) s->shape[d] = base->r.shape[d];
  s->n_elements = base->n_elements;
  for (int64_t e = 0; e < s->n_elements; e++) s->element[e] = e;
}

static int64_t numbers(int32_t rank, const int64_t *shape) {
  int64_t n = 1;
  for (int32_t d = 0; d < rank; d++) n *= shape[d];
  return n;
}

static void index_of(const selection *s, int64_t number, int64_t *index) {
  for (int d = s->rank - 1; d >= 0; d--) {
    index[d] = number % s->shape[d];
    number /= s->shape[d];
  }
}

static int64_t number_of(const selection *s, const int64_t *index) {
  int64_t number = 0;
  for (int d = 0; d < s->rank; d++) number = number * s->shape[d] + index[d];
  return number;
}

/* ---- one view by the library, and the same by the definition ------------------------------------------------ */

static bool view_permute(const recipe *r, selection *s, tesela_layout *layout) {
  int32_t order[8];
  int64_t from[8], to[8];
  selection old = *s;
  for (int d = 0; d < s->rank; d++) {
    int k = (int)recipe_below(d + 1);
    order[d] = order[k];
    order[k] = d;
  }
  for (int d = 0; d < s->rank; d++) s->shape[d] = old.shape[order[d]];
  for (int64_t e = 0; e < s->n_elements; e++) {
    index_of(s, e, to);
    for (int d = 0; d < s->rank; d++) from[order[d]] = to[d];
    s->element[e] = old.element[number_of(&old, from)];
  }
  OK(r, tesela_layout_permute(layout, order, layout, &e_));
  return true;
}

static bool view_slice(const recipe *r, selection *s, tesela_layout *layout) {
  if (s->rank == 0) return false;
  int dim = (int)recipe_below(s->rank);
  int64_t extent = s->shape[dim], index[8], start = recipe_below(extent + 1), step = 1 + recipe_below(3);
  if (recipe_one_in(3)) step = -step;
  int64_t most = start == extent ? 0 : (step > 0 ? extent - 1 - start : start) / llabs(step) + 1;
  int64_t length = recipe_one_in(8) ? recipe_below(most + 1) : most;
  selection old = *s;
  s->shape[dim] = length;
  s->n_elements = numbers(s->rank, s->shape);
  for (int64_t e = 0; e < s->n_elements; e++) {
    index_of(s, e, index);
    index[dim] = start + step * index[dim];
    s->element[e] = old.element[number_of(&old, index)];
  }
  OK(r, tesela_layout_slice(layout, dim, start, length, step, layout, &e_));
  return true;
}

static bool view_ones(const recipe *r, selection *s, tesela_layout *layout) {
  int dim = (int)recipe_below(s->rank + 1);
  if (dim < s->rank && s->shape[dim] == 1) {
    OK(r, tesela_layout_squeeze(layout, dim, layout, &e_));
    s->rank--;
    for (int d = dim; d < s->rank; d++) s->shape[d] = s->shape[d + 1];
    return true;
  }
  if (s->rank == 6) return false;
  OK(r, tesela_layout_unsqueeze(layout, dim, layout, &e_));
  for (int d = s->rank++; d > dim; d--) s->shape[d] = s->shape[d - 1];
  s->shape[dim] = 1;
  return true;
}

static bool view_expand(const recipe *r, selection *s, tesela_layout *layout) {
  int64_t extent = recipe_below(4), index[8];
  int dim = s->rank == 0 ? 0 : (int)recipe_below(s->rank);
  if (s->rank == 0 || s->shape[dim] != 1 || s->n_elements * extent > MOST_ROWS) return false;
  selection old = *s;
  s->shape[dim] = extent;
  s->n_elements *= extent;
  for (int64_t e = 0; e < s->n_elements; e++) {
    index_of(s, e, index);
    index[dim] = 0;
    s->element[e] = old.element[number_of(&old, index)];
  }
  OK(r, tesela_layout_expand(layout, dim, extent, layout, &e_));
  return true;
}

/* Into a random factorization, ones included. */
static bool view_reshape(const recipe *r, selection *s, tesela_layout *layout) {
  int64_t left = s->n_elements;
  s->rank = left == 1 ? (int32_t)recipe_below(3) : 1 + (int32_t)recipe_below(5);
  for (int d = 0; d < s->rank; d++) {
    s->shape[d] = left == 0 ? recipe_below(3) : d + 1 == s->rank ? left : recipe_divisor(left);
    if (left > 0) left /= s->shape[d];
  }
  if (s->n_elements == 0 && s->rank > 0) s->shape[recipe_below(s->rank)] = 0;
  OK(r, tesela_layout_reshape(layout, s->rank, s->shape, layout, &e_));
  return true;
}

/* ---- the checks ---------------------------------------------------------------------------------------------- */

static void check_view(const table *base, const selection *s, const tesela_layout *layout) {
  const recipe *r = &base->r;
  int64_t index[8], place[MOST_AXES], back[8], copies = tesela_layout_copies(layout);
  static int64_t found[MOST_COPIES];
  AGREE(r, "rank", layout->rank, s->rank);
  for (int d = 0; d < s->rank; d++) AGREE(r, "extent", layout->shape[d], s->shape[d]);
  for (int a = 0; a < r->n_axes; a++) AGREE(r, "places", layout->axis[a].extent, base->layout.axis[a].extent);
  for (int64_t e = 0; e < s->n_elements; e++) {
    int n = 0;
    index_of(s, e, index);
    for (int64_t k = 0; k < copies; k++) {
      OK(r, tesela_layout_copy_of(layout, index, k, place, &e_));
      table_add_key(found, &n, table_key(r->n_axes, place));
    }
    AGREE(r, "number of places", n, base->n_keys[s->element[e]]);
    for (int k = 0; k < n; k++) AGREE(r, "place", found[k], base->key[s->element[e]][k]);
    bool padding;
    OK(r, tesela_layout_place_of(layout, index, place, &e_));
    if (tesela_layout_element_at(layout, place, back, &padding, NULL) != TESELA_OK) continue;
    AGREE(r, "a place of an element", padding, false);
    if (padding) continue;
    bool here = false; /* of several elements at a place any may answer */
    for (int k = 0, b = (int)s->element[number_of(s, back)]; k < base->n_keys[b]; k++)
      here = here || base->key[b][k] == table_key(r->n_axes, place);
    AGREE(r, "an element of the place", here, true);
  }
}

/* No other place has an element. */
static void check_rest(const table *base, const selection *s, const tesela_layout *layout) {
  static bool taken[MOST_PLACES];
  int64_t index[8], place[MOST_AXES];
  for (int64_t p = 0; p < base->n_places; p++) taken[p] = false;
  for (int64_t e = 0; e < s->n_elements; e++)
    for (int k = 0; k < base->n_keys[s->element[e]]; k++)
      taken[table_place_number(&base->layout, base->key[s->element[e]][k])] = true;
  for (int64_t p = 0; p < base->n_places; p++) {
    bool padding;
    table_place(layout, p, place);
    if (tesela_layout_element_at(layout, place, index, &padding, NULL) != TESELA_OK) return;
    AGREE(&base->r, "padding", padding, !taken[p]);
  }
}

static void views_follow_the_definition(void **state) {
  (void)state;
  static bool (*const views[])(const recipe *, selection *, tesela_layout *) = {
      view_permute, view_slice, view_slice, view_ones, view_expand, view_reshape, view_reshape};
  static table base;
  static selection s;
  static tesela_layout layout, again, before;
  int64_t made = 0, joined = 0;
  const taste *const tastes[] = {&recipe_small, &recipe_plain, &recipe_joined};
  for (uint64_t i = 0; i < recipe_seeds(); i++) {
    table_draw(&base, first_seed() + i, tastes[i % 3]);
    layout = base.layout;
    select_start(&base, &s);
    for (int64_t n = 1 + recipe_below(4); n > 0; n--) {
      if (!views[recipe_below(sizeof views / sizeof views[0])](&base.r, &s, &layout)) continue;
      check_view(&base, &s, &layout);
      check_rest(&base, &s, &layout);
      made++;
    }
    before = layout;
    OK(&base.r, tesela_layout_canonical(&before, &layout, &e_));
    OK(&base.r, tesela_layout_canonical(&layout, &again, &e_));
    AGREE(&base.r, "the same form again", recipe_same_digits(&layout, &again), true);
    joined += layout.n_joins > 0;
  }
  printf("%" PRId64 " views; %" PRId64 " of the last ones have joins\n", made, joined);
  assert_true(made > (int64_t)recipe_seeds());
}

/* ---- forms: what needs no join gets none --------------------------------------------------------------------- */

static tesela_layout tiled(int64_t rows,
                           int64_t columns) { /* columns in sticks of 64, stick columns outermost */
  tesela_layout layout;
  int32_t lane, axis;
  const int64_t shape[2] = {rows, columns};
  assert_int_equal(tesela_layout_begin(&layout, TESELA_F16, 16, 2, shape, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_split(&layout, 1, 64, &lane, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_add_axis(&layout, "memory", &axis, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_place(&layout, 1, axis, rows * 64, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_place(&layout, 0, axis, 64, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_place(&layout, lane, axis, 1, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_finish(&layout, NULL), TESELA_OK);
  return layout;
}

static void whole_sticks_need_no_join(void **state) {
  (void)state;
  static const struct {
    int32_t dim;
    int64_t start, length, step;
    int32_t joins;
    int64_t offset;
  } rows[] = {
      {1, 128, 70, 1, 0, 2 * 100 * 64}, /* starts with a stick */
      {1, 10, 20, 1, 0, 10},            /* inside of a stick */
      {1, 70, 50, 1, 0, 100 * 64 + 6},  /* inside of another one */
      {1, 10, 64, 1, 1, 10},            /* across two */
      {1, 64, 3, 64, 0, 100 * 64},      /* lane 0 of three */
      {1, 65, 3, 64, 0, 100 * 64 + 1},  /* lane 1 */
      {1, 4, 90, 2, 1, 4},              /* every second, from lane 4 on */
      {1, 0, 100, 2, 0, 0},             /* every second */
      {0, 99, 100, -1, 0, 99 * 64},     /* rows backwards: one step */
      {0, 7, 30, 3, 0, 7 * 64},
  };
  tesela_layout base = tiled(100, 200), view;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_int_equal(
        tesela_layout_slice(&base, rows[i].dim, rows[i].start, rows[i].length, rows[i].step, &view, NULL),
        TESELA_OK);
    if (view.n_joins != rows[i].joins ||
        view.axis[0].offset + (view.n_joins > 0 ? view.join[0].offset : 0) != rows[i].offset)
      fail_msg("row %zu: %d joins, offset %" PRId64, i, (int)view.n_joins, view.axis[0].offset);
  }
  const int64_t flat[1] = {100 * 192}, cut[4] = {10, 10, 3, 64}, across[2] = {192, 100};
  base = tiled(100, 192);
  assert_int_equal(tesela_layout_reshape(&base, 4, cut, &view, NULL), TESELA_OK);
  assert_int_equal(view.n_joins, 0);
  assert_int_equal(tesela_layout_reshape(&base, 1, flat, &view, NULL), TESELA_OK);
  assert_int_equal(view.n_joins, 0);
  assert_int_equal(tesela_layout_reshape(&base, 2, across, &view, NULL), TESELA_OK);
  assert_int_equal(view.n_joins, 1); /* 100 and 64 do not divide each other */
}

static void what_cannot_be_is_refused(void **state) {
  (void)state;
  tesela_layout base = tiled(3, 5), view, open;
  const int32_t twice[2] = {1, 1}, beyond[2] = {0, 2};
  const int64_t shape[TESELA_MAX_RANK + 1] = {4, 4}, negative[2] = {-3, -5}, five[1] = {5};
  tesela_error err;
  memset(&view, 7, sizeof view);
  const tesela_layout before = view;
  assert_int_equal(tesela_layout_permute(&base, twice, &view, &err), TESELA_E_INVALID);
  assert_string_equal(err.message, "the order lists dim 1 twice");
  assert_int_equal(tesela_layout_permute(&base, beyond, &view, &err), TESELA_E_RANGE);
  assert_string_equal(err.message, "dim is 2; expected 0 to 1");
  assert_int_equal(tesela_layout_reshape(&base, 2, shape, &view, &err), TESELA_E_MISMATCH);
  assert_string_equal(err.message, "the new shape has 16 elements; the layout has 15");
  assert_int_equal(tesela_layout_reshape(&base, 2, negative, &view, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_layout_reshape(&base, TESELA_MAX_RANK + 1, shape, &view, &err), TESELA_E_LIMIT);
  assert_int_equal(tesela_layout_slice(&base, 1, 0, 5, 0, &view, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_layout_slice(&base, 1, 1, 5, 1, &view, &err), TESELA_E_RANGE);
  assert_string_equal(err.message, "a slice of 5 elements from 1 by 1 leaves dim 1, whose extent is 5");
  assert_int_equal(tesela_layout_slice(&base, 1, 1, 3, -1, &view, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_layout_slice(&base, 1, 1, 2, INT64_MAX, &view, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_layout_slice(&base, 1, 5, 1, 1, &view, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_layout_slice(&base, 2, 0, 1, 1, &view, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_layout_slice(&base, 0, 0, -1, 1, &view, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_layout_squeeze(&base, 1, &view, &err), TESELA_E_INVALID);
  assert_string_equal(err.message, "dim 1 has extent 5; only a dim of extent 1 can be removed");
  assert_int_equal(tesela_layout_expand(&base, 0, 4, &view, &err), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_unsqueeze(&base, 3, &view, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_layout_begin(&open, TESELA_F32, 32, 1, five, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_squeeze(&open, 0, &view, &err), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_shift(&open, 0, -1, &(int32_t){0}, &err), TESELA_E_RANGE);
  assert_int_equal(tesela_layout_shift(&open, 0, INT64_MAX - 4, &(int32_t){0}, &err), TESELA_E_OVERFLOW);
  assert_int_equal(tesela_layout_shift(&open, 1, 1, &(int32_t){0}, &err), TESELA_E_RANGE);
  assert_memory_equal(&view, &before, sizeof view);
  const int64_t large[2] = {1, INT64_C(1) << 40};
  assert_int_equal(tesela_layout_strided(&base, TESELA_S8, 8, 2, large, NULL, 0, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_expand(&base, 0, INT64_C(1) << 40, &view, &err), TESELA_E_OVERFLOW);
}

/* The example of the header: 5 elements from lane 3 on, in sticks of 4. */
static void a_shift_comes_before_the_split(void **state) {
  (void)state;
  tesela_layout layout;
  int32_t digit = 0, lane, axis;
  const int64_t five[1] = {5};
  assert_int_equal(tesela_layout_begin(&layout, TESELA_F32, 32, 1, five, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_shift(&layout, 0, 3, &digit, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_split(&layout, digit, 4, &lane, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_add_axis(&layout, "memory", &axis, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_place(&layout, digit, axis, 100, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_place(&layout, lane, axis, 1, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_finish(&layout, NULL), TESELA_OK);
  for (int64_t x = 0; x < 5; x++) {
    int64_t place, back;
    bool padding;
    assert_int_equal(tesela_layout_place_of(&layout, &x, &place, NULL), TESELA_OK);
    assert_int_equal(place, (x + 3) / 4 * 100 + (x + 3) % 4);
    assert_int_equal(tesela_layout_element_at(&layout, &place, &back, &padding, NULL), TESELA_OK);
    assert_true(!padding && back == x);
  }
}

/* Strides exist exactly if the differences from element 0 to its neighbours give every place of the table. */
static void strides_are_found_where_they_are(void **state) {
  (void)state;
  static table t;
  static const taste *const tastes[] = {&recipe_plain, &recipe_small, &recipe_joined};
  int64_t found = 0, refused = 0;
  for (uint64_t i = 0; i < recipe_seeds(); i++) {
    table_draw(&t, first_seed() + i, tastes[i % 3]);
    int64_t strides[4], offset = 0, want[4], index[4];
    if (recipe_one_in(3)) { /* the strides of a dim, moved into its digits */
      t.r.n = t.r.rank;
      for (int x = 0; x < t.r.n; x++) t.r.node[x].stride = recipe_below(9);
      for (int a = 0; a < t.r.n_axes; a++) t.r.extent[a] = -1, t.r.offset[a] = recipe_below(3);
      recipe_respell(&t.r);
      if (!table_realize(&t)) continue;
    }
    bool strided = t.r.n_axes == 1;
    for (int64_t e = 0; e < t.n_elements && strided; e++) strided = t.n_keys[e] == 1;
    if (t.n_elements > 0 && t.n_copies != 1) strided = false;
    for (int d = 0; d < t.r.rank && strided; d++) {
      int64_t next = 1;
      for (int k = d + 1; k < t.r.rank; k++) next *= t.r.shape[k];
      want[d] = t.n_elements > 0 && t.r.shape[d] > 1 ? t.first[next] - t.first[0] : 0;
    }
    for (int64_t e = 0; e < t.n_elements && strided; e++) {
      int64_t place = t.first[0];
      recipe_index(&t.r, e, index);
      for (int d = 0; d < t.r.rank; d++) place += index[d] * want[d];
      strided = place == t.first[e];
    }
    tesela_status status = tesela_layout_to_strided(&t.layout, strides, &offset, NULL);
    AGREE(&t.r, "strides", status, strided ? TESELA_OK : TESELA_E_UNSUPPORTED);
    for (int d = 0; d < t.r.rank && strided; d++) AGREE(&t.r, "stride", strides[d], want[d]);
    if (strided && t.n_elements > 0) AGREE(&t.r, "offset", offset, t.first[0]);
    found += strided;
    refused += !strided;
  }
  printf("%" PRId64 " with strides, %" PRId64 " without\n", found, refused);
  assert_true(found > 0 && refused > 0);
  tesela_layout base = tiled(3, 100);
  int64_t strides[2] = {7, 7}, offset = 7;
  tesela_error err;
  assert_int_equal(tesela_layout_to_strided(&base, strides, &offset, &err), TESELA_E_UNSUPPORTED);
  assert_string_equal(err.message,
                      "no strides: element (0,64) is at place 192; the elements before it give 64");
  assert_true(strides[0] == 7 && offset == 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(views_follow_the_definition), cmocka_unit_test(whole_sticks_need_no_join),
      cmocka_unit_test(what_cannot_be_is_refused), cmocka_unit_test(a_shift_comes_before_the_split),
      cmocka_unit_test(strides_are_found_where_they_are)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
