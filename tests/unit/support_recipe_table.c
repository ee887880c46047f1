/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_recipe_table.c - tables of the elements and places of a recipe, and random recipes; see support_recipe.h.
 */
#include "support_recipe.h"

/* ---- the table --------------------------------------------------------------------------------------------- */

int64_t table_key(int n_axes, const int64_t *place) {
  int64_t key = 0;
  for (int a = 0; a < n_axes; a++) key = key * AXIS_BASE + place[a];
  return key;
}

void table_add_key(int64_t *keys, int *n, int64_t key) {
  int at = 0;
  while (at < *n && keys[at] < key) at++;
  if (at < *n && keys[at] == key) return;
  assert_true(*n < MOST_COPIES);
  for (int i = *n; i > at; i--) keys[i] = keys[i - 1];
  keys[at] = key;
  ++*n;
}

void table_elements(table *t) {
  const recipe *r = &t->r;
  int64_t index[4], copy[MOST_NODES] = {0}, place[MOST_AXES];
  wide at[MOST_AXES];
  t->n_elements = (int64_t)recipe_elements(r);
  t->n_copies = recipe_copies(r);
  t->swizzled = recipe_is_swizzled(r);
  for (int64_t e = 0; e < t->n_elements; e++) {
    recipe_index(r, e, index);
    t->n_keys[e] = 0;
    for (int64_t k = t->n_copies - 1; k >= 0; k--) {
      recipe_copy_values(r, k, copy);
      recipe_place(r, index, copy, at);
      for (int a = 0; a < r->n_axes; a++) place[a] = (int64_t)at[a];
      t->first[e] = table_key(r->n_axes, place);
      table_add_key(t->key[e], &t->n_keys[e], t->first[e]);
    }
  }
}

void table_place(const tesela_layout *layout, int64_t number, int64_t *place) {
  for (int a = layout->n_axes - 1; a >= 0; a--) {
    place[a] = number % layout->axis[a].extent;
    number /= layout->axis[a].extent;
  }
}

int64_t table_place_number(const tesela_layout *layout, int64_t key) {
  int64_t number = 0;
  for (int a = 0; a < layout->n_axes; a++) {
    int64_t base = 1;
    for (int b = a + 1; b < layout->n_axes; b++) base *= AXIS_BASE;
    number = number * layout->axis[a].extent + key / base % AXIS_BASE;
  }
  return number;
}

/* The overlap flags of finish against the table: never set for nested strides; if not set, each place has one answer;
 * if set and decided, and the values of each digit are distinct, some place has several answers. */
static void check_overlap(table *t) {
  const recipe *r = &t->r;
  bool undecided = false, shared = false, joins = false;
  t->overlap = false;
  for (int a = 0; a < r->n_axes; a++) {
    t->overlap = t->overlap || t->layout.axis[a].overlap;
    undecided = undecided || t->layout.axis[a].undecided;
  }
  for (int j = 0; j < t->layout.n_joins; j++) {
    t->overlap = t->overlap || t->layout.join[j].overlap;
    undecided = undecided || t->layout.join[j].undecided;
    joins = true;
  }
  for (int64_t p = 0; p < t->n_places; p++) shared = shared || t->answers[p] > 1;
  for (int64_t e = 0; e < t->n_elements; e++) shared = shared || t->n_keys[e] < t->n_copies;
  if (recipe_is_empty(r)) shared = false;
  AGREE(r, "overlap of nested strides", t->overlap && !recipe_overlaps(r), false);
  AGREE(r, "a shared place without overlap", shared && !t->overlap, false);
  AGREE(r, "overlap without a shared place", t->overlap && !undecided && !shared, false);
  AGREE(r, "not decided without joins", undecided && !joins, false);
}

void table_places(table *t) {
  const recipe *r = &t->r;
  int64_t index[4];
  t->n_places = 1;
  for (int a = 0; a < r->n_axes; a++) t->n_places *= t->layout.axis[a].extent;
  assert_true(t->n_places <= MOST_PLACES);
  for (int64_t p = 0; p < t->n_places; p++) t->count[p] = t->answers[p] = 0, t->answer[p] = -1;
  for (int64_t e = 0; e < t->n_elements; e++) {
    bool zero = true;
    recipe_index(r, e, index);
    for (int x = 0; x < r->n; x++)
      if (recipe_is_leaf(r, x) && r->node[x].stride == 0 && recipe_value(r, x, index, NULL) != 0)
        zero = false;
    for (int k = 0; k < t->n_keys[e]; k++) {
      int64_t p = table_place_number(&t->layout, t->key[e][k]);
      assert_true(p >= 0 && p < t->n_places);
      t->count[p]++;
      if (!zero) continue;
      t->answer[p] = e;
      t->answers[p]++;
    }
  }
  check_overlap(t);
}

/* ---- random recipes ----------------------------------------------------------------------------------------- */

/* Number of places of all leaves if they are dense. */
static wide room_of(const recipe *r) {
  wide room = 1;
  for (int x = 0; x < r->n; x++)
    if (recipe_is_leaf(r, x) && recipe_extent(r, x) > 0) room *= recipe_extent(r, x);
  return room;
}

const taste recipe_small = {7, 700, 6, ANY}, recipe_plain = {7, 700, 5, SIMPLE},
            recipe_joined = {7, 700, 8, JOINED};

/* Large numbers of all magnitudes. */
static int64_t extent_like(const taste *like) {
  if (like->most_extent < 1000) return recipe_below(like->most_extent + 1);
  int64_t n = (int64_t)1 << recipe_below(41);
  return recipe_one_in(3) ? n : 1 + recipe_below(n);
}

static void random_step(recipe *r, const taste *like) {
  int leaf[MOST_NODES], n = recipe_leaves(r, leaf), choice = (int)recipe_below(10);
  recipe before = *r;
  if (r->n + 3 > MOST_NODES) return;
  if (choice < 5 && n > 0) {
    int x = leaf[recipe_below(n)];
    int64_t t =
        like->most_extent > 1000 ? 1 + extent_like(like) : 1 + recipe_below(recipe_one_in(4) ? 12 : 4);
    if ((like->form == SIMPLE || recipe_is_free(r, x, TESELA_REPLICA)) && recipe_extent(r, x) % t != 0)
      return;
    if (like->form == SIMPLE && recipe_extent(r, x) < t) return;
    recipe_add_split(r, x, t);
  } else if (choice < 8 && n > 0 && like->form != SIMPLE) {
    int part[MOST_PARTS], parts = 0, want = 1 + (int)recipe_below(MOST_PARTS);
    for (int i = 0; i < want && n > 0; i++) {
      int k = (int)recipe_below(n);
      if (!recipe_is_free(r, leaf[k], TESELA_REPLICA)) part[parts++] = leaf[k];
      leaf[k] = leaf[--n];
    }
    if (parts > 0) recipe_add_join(r, parts, part, 0, 0);
    if (parts == 1 && recipe_one_in(2)) r->node[r->n - 1].more = 1 + recipe_below(5);
  } else {
    int which = like->form == JOINED || recipe_one_in(2) ? TESELA_HOLE : TESELA_REPLICA;
    recipe_add_node(r, (node){.kind = FREE, .of = which, .by = 1 + recipe_below(4)});
  }
  if (room_of(r) > like->most_room || recipe_copies(r) > 24) *r = before;
}

/* Strides of one axis: dense, with gaps, backwards, broadcast, overlapping. */
static void random_strides(recipe *r, int axis, const taste *like) {
  int leaf[MOST_NODES], n = 0;
  bool gaps = recipe_one_in(3), negative = recipe_one_in(4), zeros = recipe_one_in(5),
       overlap = like->form == ANY && recipe_one_in(8);
  wide stride = 1, low, high;
  for (int x = 0; x < r->n; x++)
    if (recipe_is_leaf(r, x) && r->node[x].axis == axis) leaf[n++] = x;
  while (n > 0) {
    int k = (int)recipe_below(n), x = leaf[k];
    bool replica = recipe_is_free(r, x, TESELA_REPLICA);
    leaf[k] = leaf[--n];
    int64_t own = overlap ? recipe_below(5) : (int64_t)stride;
    if (zeros && recipe_one_in(3)) own = 0;
    if (replica && own == 0) own = 1;
    r->node[x].stride = negative && recipe_one_in(2) ? -own : own;
    if (own != 0 && recipe_extent(r, x) > 0) stride *= recipe_extent(r, x);
    if (gaps && recipe_one_in(2)) stride += recipe_below(3);
  }
  r->offset[axis] = 0;
  r->extent[axis] = -1;
  recipe_span(r, axis, &low, &high);
  r->offset[axis] = (int64_t)-low + (recipe_one_in(3) ? recipe_below(4) : 0);
  if (recipe_one_in(4))
    r->extent[axis] = (int64_t)(high - low) + r->offset[axis] + (int64_t)low + 1 + recipe_below(5);
  if (recipe_is_empty(r) && recipe_one_in(2))
    r->offset[axis] = -recipe_below(9), r->extent[axis] = recipe_below(9);
}

void recipe_draw_swizzle(recipe *r) {
  int16_t axis = (int16_t)recipe_below(r->n_axes), bits = (int16_t)(1 + recipe_below(2)),
          base = (int16_t)recipe_below(3);
  int16_t shift = (int16_t)(bits + recipe_below(2));
  wide low, high;
  r->swizzle[r->n_swizzles++] =
      (tesela_swizzle){axis, bits, base, recipe_one_in(3) ? (int16_t)-shift : shift};
  recipe_span(r, axis, &low, &high);
  int64_t power = (int64_t)1 << (base + shift + bits);
  while (power <= high && power < (int64_t)1 << 61) power *= 2;
  r->extent[axis] = recipe_one_in(2) ? power : -1;
}

/* A random matrix with an inverse: the identity, columns added to each other and exchanged. */
void recipe_draw_matrix(recipe *r) {
  int n = (int)recipe_below(MOST_BITS + 1);
  for (int tries = 0; tries < 40 && r->n_bits < n; tries++) {
    tesela_axis_bit bit = {(int16_t)recipe_below(r->n_axes), (int16_t)recipe_below(6)};
    bool known = false;
    for (int k = 0; k < r->n_bits; k++)
      known = known || (r->bit[k].axis == bit.axis && r->bit[k].bit == bit.bit);
    if (known) continue;
    r->image[r->n_bits] = (uint64_t)1 << r->n_bits;
    r->bit[r->n_bits++] = bit;
    r->extent[bit.axis] = -1;
  }
  for (int64_t times = r->n_bits > 1 ? recipe_below(12) : 0; times > 0; times--) {
    int a = (int)recipe_below(r->n_bits), b = (int)recipe_below(r->n_bits);
    uint64_t column = r->image[a];
    if (a == b) continue;
    r->image[a] = recipe_one_in(3) ? r->image[b] : column ^ r->image[b];
    if (r->image[a] == r->image[b]) r->image[b] = column;
  }
}

void recipe_begin(recipe *r, int32_t rank, const int64_t *shape) {
  memset(r, 0, sizeof *r);
  r->rank = rank;
  r->bits = 8;
  for (int32_t d = 0; d < rank; d++) {
    r->shape[d] = shape[d];
    (void)recipe_add_node(r, (node){.kind = DIM, .of = d});
  }
}

void recipe_draw_parts(recipe *r, int n_axes, const taste *like) {
  int64_t steps = recipe_below(like->most_steps + 1);
  for (int64_t s = 0; s < steps; s++) random_step(r, like);
  r->n_axes = n_axes;
  for (int x = 0; x < r->n; x++) r->node[x].axis = (int)recipe_below(n_axes);
  for (int a = 0; a < n_axes; a++) random_strides(r, a, like);
  if (like->form == ANY && recipe_one_in(8)) recipe_draw_swizzle(r);
  if (like->form == ANY && recipe_one_in(16)) recipe_draw_swizzle(r);
  if (like->form == ANY && n_axes > 0 && recipe_one_in(8)) recipe_draw_matrix(r);
  if (r->n_swizzles == 2 && r->swizzle[0].axis == r->swizzle[1].axis) r->extent[r->swizzle[0].axis] = -1;
}

static void random_shape(int32_t *rank, int64_t *shape, const taste *like) {
  wide room = 1;
  *rank = (int32_t)recipe_below(5);
  for (int32_t d = 0; d < *rank; d++) {
    do shape[d] = extent_like(like);
    while (room * shape[d] > like->most_room / 2);
    if (shape[d] == 0 && !recipe_one_in(3)) shape[d] = 1;
    if (shape[d] > 0) room *= shape[d];
  }
}

int recipe_draw_axes(void) { return recipe_one_in(2) ? 1 : 1 + (int)recipe_below(MOST_AXES); }

void recipe_draw(recipe *r, const taste *like) {
  int32_t rank;
  int64_t shape[4];
  random_shape(&rank, shape, like);
  recipe_begin(r, rank, shape);
  recipe_draw_parts(r, like->form == JOINED ? 1 : recipe_draw_axes(), like);
}

void table_draw(table *t, uint64_t seed, const taste *like) {
  recipe_seed(seed);
  for (;;) {
    recipe_draw(&t->r, like);
    wide room = 1, low, high;
    for (int a = 0; a < t->r.n_axes; a++) {
      recipe_span(&t->r, a, &low, &high);
      wide places = t->r.extent[a] > high ? t->r.extent[a] : high + 1;
      for (int s = 0; s < t->r.n_swizzles; s++) /* an upper bound of its effect */
        if (t->r.swizzle[s].axis == a) places = places * 2 + 128;
      if (t->r.n_bits > 0) places = places * 2 + 64;
      room *= places > 0 ? places : 1;
    }
    if (room <= MOST_PLACES) break;
  }
  OK(&t->r, recipe_build(&t->r, &t->layout, &e_));
  table_elements(t);
  table_places(t);
}
