/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_recipe.c - recipes of layouts: their parts, and their two readings; see support_recipe.h.
 */
#include "support_recipe.h"

uint64_t recipe_seeds(void) {
  const char *text = getenv("TESELA_SEEDS");
  return text ? strtoull(text, NULL, 10) : 2000;
}

/* ---- random numbers --------------------------------------------------------------------------------------- */

static uint64_t random_state;

void recipe_seed(uint64_t seed) { random_state = seed; }

uint64_t recipe_bits(void) { /* splitmix64 */
  uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

int64_t recipe_below(int64_t n) { return (int64_t)(recipe_bits() % (uint64_t)n); }
bool recipe_one_in(int64_t n) { return recipe_below(n) == 0; }

wide recipe_extent(const recipe *r, int x) {
  const node *at = &r->node[x];
  if (at->kind == DIM) return r->shape[at->of];
  if (at->kind == FREE || at->kind == LOW) return at->by;
  if (at->kind == HIGH) return (recipe_extent(r, at->of) + at->by - 1) / at->by;
  wide extent = 1;
  for (int p = 0; p < at->n; p++) extent *= recipe_extent(r, at->part[p]);
  return extent + at->more;
}

bool recipe_is_leaf(const recipe *r, int x) {
  for (int i = x + 1; i < r->n; i++) {
    if ((r->node[i].kind == HIGH || r->node[i].kind == LOW) && r->node[i].of == x) return false;
    for (int p = 0; r->node[i].kind == JOIN && p < r->node[i].n; p++)
      if (r->node[i].part[p] == x) return false;
  }
  return true;
}

int recipe_root(const recipe *r, int x) {
  while (r->node[x].kind == HIGH || r->node[x].kind == LOW) x = r->node[x].of;
  return x;
}

bool recipe_is_free(const recipe *r, int x, int which) {
  x = recipe_root(r, x);
  return r->node[x].kind == FREE && r->node[x].of == which;
}

int recipe_leaves(const recipe *r, int *leaf) {
  int n = 0;
  for (int x = 0; x < r->n; x++)
    if (recipe_is_leaf(r, x)) leaf[n++] = x;
  return n;
}

int recipe_add_node(recipe *r, node added) {
  assert_true(r->n < MOST_NODES);
  r->node[r->n] = added;
  return r->n++;
}

int recipe_add_split(recipe *r, int x, int64_t t) {
  node old = r->node[x];
  int high =
      recipe_add_node(r, (node){.kind = HIGH, .of = x, .by = t, .axis = old.axis, .stride = old.stride * t});
  (void)recipe_add_node(r, (node){.kind = LOW, .of = x, .by = t, .axis = old.axis, .stride = old.stride});
  return high;
}

int recipe_add_join(recipe *r, int n, const int *part, int axis, int64_t stride) {
  node joined = {.kind = JOIN, .n = n, .axis = axis, .stride = stride};
  for (int p = 0; p < n; p++) joined.part[p] = part[p];
  return recipe_add_node(r, joined);
}

char *recipe_text(const recipe *r) {
  static char text[2][4000], nothing[] = "";
  if (!r) return nothing;
  static int turn;
  char *out = text[turn ^= 1], *end = out + sizeof text[0], *at = out;
#define SAY(...) \
  if (at < end) at += snprintf(at, (size_t)(end - at), __VA_ARGS__)
  SAY("\n  [");
  for (int d = 0; d < r->rank; d++) SAY("%s%" PRId64, d ? "," : "", r->shape[d]);
  SAY("]");
  for (int x = r->rank; x < r->n; x++) {
    const node *i = &r->node[x];
    if (i->kind == HIGH) SAY("; n%d,n%d = n%d by %" PRId64, x, x + 1, i->of, i->by);
    if (i->kind == FREE) SAY("; n%d = %s %" PRId64, x, i->of == TESELA_HOLE ? "hole" : "replica", i->by);
    if (i->kind == JOIN) SAY("; n%d =", x);
    for (int p = 0; i->kind == JOIN && p < i->n; p++) SAY(" %sn%d", p ? "* " : "", i->part[p]);
    if (i->kind == JOIN && i->more > 0) SAY(" + %" PRId64, i->more);
  }
  for (int a = 0; a < r->n_axes; a++) {
    SAY("; axis %d:", a);
    for (int x = 0; x < r->n; x++)
      if (recipe_is_leaf(r, x) && r->node[x].axis == a)
        SAY(" n%d(%" PRId64 ")*%" PRId64, x, (int64_t)recipe_extent(r, x), r->node[x].stride);
    SAY(" +%" PRId64 " of %" PRId64, r->offset[a], r->extent[a]);
  }
  for (int s = 0; s < r->n_swizzles; s++)
    SAY("; swizzle %d %d %d %d", r->swizzle[s].axis, r->swizzle[s].bits, r->swizzle[s].base,
        r->swizzle[s].shift);
  for (int k = 0; k < r->n_bits; k++)
    SAY("; bit %d of axis %d -> %" PRIx64, r->bit[k].bit, r->bit[k].axis, r->image[k]);
#undef SAY
  return out;
}

/* ---- the first reading: with the library ------------------------------------------------------------------- */

tesela_status recipe_build(const recipe *r, tesela_layout *layout, tesela_error *err) {
  int32_t digit[MOST_NODES], parts[MOST_PARTS], axis;
  char name[TESELA_AXIS_NAME];
  tesela_status status = tesela_layout_begin(layout, TESELA_DTYPE_NONE, r->bits, r->rank, r->shape, err);
  for (int x = 0; x < r->n && status == TESELA_OK; x++) {
    const node *at = &r->node[x];
    if (at->kind == DIM) digit[x] = at->of;
    if (at->kind == FREE) status = tesela_layout_add_digit(layout, at->of, at->by, &digit[x], err);
    if (at->kind == HIGH) {
      digit[x] = digit[at->of];
      status = tesela_layout_split(layout, digit[x], at->by, &digit[x + 1], err);
    }
    for (int p = 0; at->kind == JOIN && p < at->n; p++) parts[p] = digit[at->part[p]];
    if (at->kind == JOIN)
      status = at->more > 0 ? tesela_layout_shift(layout, parts[0], at->more, &digit[x], err)
                            : tesela_layout_join(layout, at->n, parts, &digit[x], err);
  }
  for (int a = 0; a < r->n_axes && status == TESELA_OK; a++) {
    snprintf(name, sizeof name, "%c", (char)('a' + a));
    status = tesela_layout_add_axis(layout, name, &axis, err);
    if (status == TESELA_OK) status = tesela_layout_set_axis(layout, axis, r->offset[a], r->extent[a], err);
  }
  for (int x = 0; x < r->n && status == TESELA_OK; x++)
    if (recipe_is_leaf(r, x))
      status = tesela_layout_place(layout, digit[x], r->node[x].axis, r->node[x].stride, err);
  for (int s = 0; s < r->n_swizzles && status == TESELA_OK; s++)
    status = tesela_layout_add_swizzle(layout, r->swizzle[s], err);
  if (status == TESELA_OK) status = tesela_layout_add_bit_matrix(layout, r->n_bits, r->bit, r->image, err);
  return status == TESELA_OK ? tesela_layout_finish(layout, err) : status;
}

/* ---- the second reading: by the definition ----------------------------------------------------------------- */

wide recipe_value(const recipe *r, int x, const int64_t *index, const int64_t *copy) {
  const node *at = &r->node[x];
  if (recipe_is_free(r, x, TESELA_REPLICA)) return copy ? copy[x] : 0;
  if (at->kind == DIM) return index[at->of];
  if (at->kind == FREE) return 0;
  if (at->kind == HIGH) return recipe_value(r, at->of, index, copy) / at->by;
  if (at->kind == LOW) return recipe_value(r, at->of, index, copy) % at->by;
  wide sum = 0;
  for (int p = 0; p < at->n; p++)
    sum = sum * recipe_extent(r, at->part[p]) + recipe_value(r, at->part[p], index, copy);
  return sum + at->more;
}

void recipe_place(const recipe *r, const int64_t *index, const int64_t *copy, wide *place) {
  for (int a = 0; a < r->n_axes; a++) place[a] = r->offset[a];
  for (int x = 0; x < r->n; x++)
    if (recipe_is_leaf(r, x)) place[r->node[x].axis] += recipe_value(r, x, index, copy) * r->node[x].stride;
  recipe_swizzle(r, place);
}

void recipe_swizzle(const recipe *r, wide *place) {
  for (int s = 0; s < r->n_swizzles; s++) {
    const tesela_swizzle *w = &r->swizzle[s];
    wide p = place[w->axis], mask = ((wide)1 << w->bits) - 1;
    place[w->axis] = w->shift >= 0 ? p ^ (p >> (w->base + w->shift) & mask) << w->base
                                   : p ^ (p >> w->base & mask) << (w->base - w->shift);
  }
  uint64_t sum = 0;
  for (int k = 0; k < r->n_bits; k++)
    if (place[r->bit[k].axis] >> r->bit[k].bit & 1) sum ^= r->image[k];
  for (int k = 0; k < r->n_bits; k++) {
    wide one = (wide)1 << r->bit[k].bit, *at = &place[r->bit[k].axis];
    *at = sum >> k & 1 ? *at | one : *at & ~one;
  }
}

/* Swizzles are sums of what they make of each bit. */
bool recipe_is_swizzled(const recipe *r) {
  for (int a = 0; a < r->n_axes; a++)
    for (int k = 0; k < 62; k++) {
      wide place[MOST_AXES] = {0};
      place[a] = (wide)1 << k;
      recipe_swizzle(r, place);
      for (int b = 0; b < r->n_axes; b++)
        if (place[b] != (b == a ? (wide)1 << k : 0)) return true;
    }
  return false;
}

bool recipe_is_empty(const recipe *r) {
  for (int d = 0; d < r->rank; d++)
    if (r->shape[d] == 0) return true;
  return false;
}

wide recipe_elements(const recipe *r) {
  wide n = 1;
  for (int d = 0; d < r->rank; d++) n *= r->shape[d];
  return n;
}

void recipe_index(const recipe *r, int64_t number, int64_t *index) {
  for (int d = r->rank - 1; d >= 0; d--) {
    index[d] = number % r->shape[d];
    number /= r->shape[d];
  }
}

int64_t recipe_number(const recipe *r, const int64_t *index) {
  int64_t number = 0;
  for (int d = 0; d < r->rank; d++) number = number * r->shape[d] + index[d];
  return number;
}

int64_t recipe_copies(const recipe *r) {
  int64_t copies = 1;
  for (int x = 0; x < r->n; x++)
    if (recipe_is_leaf(r, x) && recipe_is_free(r, x, TESELA_REPLICA)) copies *= (int64_t)recipe_extent(r, x);
  return copies;
}

/* The library's number of the digit: a split keeps the old number for HIGH; LOW, joins and add_digit get new ones. */
static int number_of_digit(const recipe *r, int x) {
  if (r->node[x].kind == HIGH) return number_of_digit(r, r->node[x].of);
  int n = 0;
  for (int i = 0; i < x; i++) n += r->node[i].kind != HIGH;
  return n;
}

void recipe_copy_values(const recipe *r, int64_t k, int64_t *copy) {
  bool done[MOST_NODES] = {false};
  for (;;) { /* from the last digit to the first */
    int last = -1;
    for (int x = 0; x < r->n; x++)
      if (!done[x] && recipe_is_leaf(r, x) && recipe_is_free(r, x, TESELA_REPLICA) &&
          (last < 0 || number_of_digit(r, x) > number_of_digit(r, last)))
        last = x;
    if (last < 0) return;
    done[last] = true;
    copy[last] = k % (int64_t)recipe_extent(r, last);
    k /= (int64_t)recipe_extent(r, last);
  }
}

void recipe_span(const recipe *r, int axis, wide *low, wide *high) {
  *low = *high = r->offset[axis];
  for (int x = 0; x < r->n; x++) {
    if (!recipe_is_leaf(r, x) || r->node[x].axis != axis || recipe_extent(r, x) == 0) continue;
    wide reach = (recipe_extent(r, x) - 1) * r->node[x].stride;
    *(reach < 0 ? low : high) += reach;
  }
}

bool recipe_moves(const recipe *r, int x) {
  int root = recipe_root(r, x);
  wide unit = 1, room = recipe_extent(r, root);
  if (r->node[root].kind == FREE) return false;
  int path[MOST_NODES], n = 0;
  for (int i = x; i != root; i = r->node[i].of) path[n++] = i;
  while (n-- > 0) {
    const node *at = &r->node[path[n]];
    if (at->kind == HIGH)
      unit *= at->by;
    else if (room > unit * at->by)
      room = unit * at->by;
  }
  return room > unit;
}

bool recipe_overlaps(const recipe *r) {
  for (int x = 0; x < r->n && !recipe_is_empty(r); x++) {
    wide size = r->node[x].stride < 0 ? -(wide)r->node[x].stride : r->node[x].stride, smaller = 0;
    if (!recipe_is_leaf(r, x) || recipe_extent(r, x) <= 1) continue;
    if (size == 0 && r->node[recipe_root(r, x)].kind == JOIN && recipe_moves(r, x)) return true;
    for (int y = 0; y < r->n; y++) {
      wide other = r->node[y].stride < 0 ? -(wide)r->node[y].stride : r->node[y].stride;
      if (y == x || !recipe_is_leaf(r, y) || r->node[y].axis != r->node[x].axis || recipe_extent(r, y) <= 1)
        continue;
      if (other < size || (other == size && y < x)) smaller += (recipe_extent(r, y) - 1) * other;
    }
    if (size > 0 && size <= smaller) return true;
  }
  return false;
}

tesela_status recipe_status(const recipe *r) {
  wide low, high;
  for (int x = 0; x < r->n; x++)
    if (recipe_is_leaf(r, x) && recipe_is_free(r, x, TESELA_REPLICA) && recipe_extent(r, x) > 1 &&
        r->node[x].stride == 0)
      return TESELA_E_INVALID;
  for (int a = 0; a < r->n_axes && !recipe_is_empty(r); a++) {
    recipe_span(r, a, &low, &high);
    if (low < 0 || (r->extent[a] >= 0 && high >= r->extent[a])) return TESELA_E_RANGE;
  }
  return TESELA_OK;
}
