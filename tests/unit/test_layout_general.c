/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layout_general.c - the core against the definition, for layouts of any kind.
 *
 * A random *recipe* says how a layout comes about: dims, splits, joins, replicas, holes, strides, offsets, swizzles.
 * It is followed twice:
 *
 *   build()   with the builder functions of the library
 *   value()   as an expression, read literally: x div t, x mod t, a * extent(b) + b, sum of digit * stride, XOR
 *
 * The second reading never looks at the digits of the first. From it comes a table of all elements and all their
 * places, and from the table everything that is expected. Where numbers are too large for a table, single elements
 * are looked at, in 128 bits.
 *
 * TESELA_SEED sets the first seed, TESELA_SEEDS their number. A failure prints the recipe.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "layout/profile.h"

enum {
  SEEDS = 2000,
  MOST_NODES = 40,   /* coordinates and parts of a recipe */
  MOST_PARTS = 3,    /* parts of a join */
  MOST_AXES = 3,     /* axes */
  MOST_COPIES = 64,  /* places of one element */
  MOST_ROWS = 2400,  /* elements in a table */
  MOST_PLACES = 4000 /* places in a table */
};

__extension__ typedef __int128 wide;

static uint64_t first_seed(void) {
  const char *text = getenv("TESELA_SEED");
  return text ? strtoull(text, NULL, 10) : 20261121;
}

static uint64_t seeds(void) {
  const char *text = getenv("TESELA_SEEDS");
  return text ? strtoull(text, NULL, 10) : SEEDS;
}

/* ---- random numbers --------------------------------------------------------------------------------------- */

static uint64_t random_state;

static uint64_t random_bits(void) { /* splitmix64 */
  uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static int64_t below(int64_t n) { return (int64_t)(random_bits() % (uint64_t)n); }
static bool one_in(int64_t n) { return below(n) == 0; }

/* ---- recipes ---------------------------------------------------------------------------------------------- */

typedef enum kind { DIM, HIGH, LOW, JOIN, FREE } kind;

/* One coordinate. HIGH and LOW follow each other: together they are one split. */
typedef struct node {
  kind kind;
  int of;     /* DIM: the dim; HIGH, LOW: the node that is split; FREE: TESELA_REPLICA or TESELA_HOLE */
  int64_t by; /* HIGH, LOW: what it is split by; FREE: its extent */
  int n, part[MOST_PARTS]; /* JOIN: its parts, most significant first */
  int axis;                /* where it goes, if nothing takes it apart or joins it */
  int64_t stride;
} node;

typedef struct recipe {
  int32_t rank, bits;
  int64_t shape[4];
  int n, n_axes, n_swizzles;
  node node[MOST_NODES];
  int64_t offset[MOST_AXES], extent[MOST_AXES]; /* extent -1: whatever is needed */
  tesela_swizzle swizzle[2];
} recipe;

static wide extent_of(const recipe *r, int x) {
  const node *at = &r->node[x];
  if (at->kind == DIM) return r->shape[at->of];
  if (at->kind == FREE || at->kind == LOW) return at->by;
  if (at->kind == HIGH) return (extent_of(r, at->of) + at->by - 1) / at->by;
  wide extent = 1;
  for (int p = 0; p < at->n; p++) extent *= extent_of(r, at->part[p]);
  return extent;
}

/* A leaf is a coordinate that goes to an axis. */
static bool is_leaf(const recipe *r, int x) {
  for (int i = x + 1; i < r->n; i++) {
    if ((r->node[i].kind == HIGH || r->node[i].kind == LOW) && r->node[i].of == x) return false;
    for (int p = 0; r->node[i].kind == JOIN && p < r->node[i].n; p++)
      if (r->node[i].part[p] == x) return false;
  }
  return true;
}

/* The dim, join or free digit of which a node is a part. */
static int root_of(const recipe *r, int x) {
  while (r->node[x].kind == HIGH || r->node[x].kind == LOW) x = r->node[x].of;
  return x;
}

static bool is_free(const recipe *r, int x, int which) {
  x = root_of(r, x);
  return r->node[x].kind == FREE && r->node[x].of == which;
}

/* The numbers of all leaves; how many there are. */
static int leaves(const recipe *r, int *leaf) {
  int n = 0;
  for (int x = 0; x < r->n; x++)
    if (is_leaf(r, x)) leaf[n++] = x;
  return n;
}

static int add_node(recipe *r, node added) {
  assert_true(r->n < MOST_NODES);
  r->node[r->n] = added;
  return r->n++;
}

/* Both parts inherit the place; the strides are what makes the split change nothing. Returns HIGH; LOW follows. */
static int add_split(recipe *r, int x, int64_t t) {
  node old = r->node[x];
  int high = add_node(r, (node){.kind = HIGH, .of = x, .by = t, .axis = old.axis, .stride = old.stride * t});
  (void)add_node(r, (node){.kind = LOW, .of = x, .by = t, .axis = old.axis, .stride = old.stride});
  return high;
}

static int add_join(recipe *r, int n, const int *part, int axis, int64_t stride) {
  node joined = {.kind = JOIN, .n = n, .axis = axis, .stride = stride};
  for (int p = 0; p < n; p++) joined.part[p] = part[p];
  return add_node(r, joined);
}

static char *describe(const recipe *r) {
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
  }
  for (int a = 0; a < r->n_axes; a++) {
    SAY("; axis %d:", a);
    for (int x = 0; x < r->n; x++)
      if (is_leaf(r, x) && r->node[x].axis == a)
        SAY(" n%d(%" PRId64 ")*%" PRId64, x, (int64_t)extent_of(r, x), r->node[x].stride);
    SAY(" +%" PRId64 " of %" PRId64, r->offset[a], r->extent[a]);
  }
  for (int s = 0; s < r->n_swizzles; s++)
    SAY("; swizzle %d %d %d %d", r->swizzle[s].axis, r->swizzle[s].bits, r->swizzle[s].base,
        r->swizzle[s].shift);
#undef SAY
  return out;
}

#define OK(r, call)                                                                \
  do {                                                                             \
    tesela_error e_ = {.message = ""};                                             \
    if ((call) != TESELA_OK) fail_msg("%s: %s%s", #call, e_.message, describe(r)); \
  } while (0)

#define AGREE(r, what, got, want)                                                                      \
  do {                                                                                                 \
    int64_t got_ = (int64_t)(got), want_ = (int64_t)(want);                                            \
    if (got_ != want_) fail_msg("%s: %" PRId64 ", not %" PRId64 "%s", what, got_, want_, describe(r)); \
  } while (0)

/* ---- the first reading: with the library ------------------------------------------------------------------- */

static tesela_status build(const recipe *r, tesela_layout *layout, tesela_error *err) {
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
    if (at->kind == JOIN) status = tesela_layout_join(layout, at->n, parts, &digit[x], err);
  }
  for (int a = 0; a < r->n_axes && status == TESELA_OK; a++) {
    snprintf(name, sizeof name, "%c", (char)('a' + a));
    status = tesela_layout_add_axis(layout, name, &axis, err);
    if (status == TESELA_OK) status = tesela_layout_set_axis(layout, axis, r->offset[a], r->extent[a], err);
  }
  for (int x = 0; x < r->n && status == TESELA_OK; x++)
    if (is_leaf(r, x))
      status = tesela_layout_place(layout, digit[x], r->node[x].axis, r->node[x].stride, err);
  for (int s = 0; s < r->n_swizzles && status == TESELA_OK; s++)
    status = tesela_layout_add_swizzle(layout, r->swizzle[s], err);
  return status == TESELA_OK ? tesela_layout_finish(layout, err) : status;
}

/* ---- the second reading: by the definition ----------------------------------------------------------------- */

/* What a node is at an element; replicas count `copy`, by node. */
static wide value(const recipe *r, int x, const int64_t *index, const int64_t *copy) {
  const node *at = &r->node[x];
  if (is_free(r, x, TESELA_REPLICA)) return copy ? copy[x] : 0;
  if (at->kind == DIM) return index[at->of];
  if (at->kind == FREE) return 0;
  if (at->kind == HIGH) return value(r, at->of, index, copy) / at->by;
  if (at->kind == LOW) return value(r, at->of, index, copy) % at->by;
  wide sum = 0;
  for (int p = 0; p < at->n; p++) sum = sum * extent_of(r, at->part[p]) + value(r, at->part[p], index, copy);
  return sum;
}

static void place_of(const recipe *r, const int64_t *index, const int64_t *copy, wide *place) {
  for (int a = 0; a < r->n_axes; a++) place[a] = r->offset[a];
  for (int x = 0; x < r->n; x++)
    if (is_leaf(r, x)) place[r->node[x].axis] += value(r, x, index, copy) * r->node[x].stride;
  for (int s = 0; s < r->n_swizzles; s++) {
    const tesela_swizzle *w = &r->swizzle[s];
    wide p = place[w->axis], mask = ((wide)1 << w->bits) - 1;
    place[w->axis] = w->shift >= 0 ? p ^ (p >> (w->base + w->shift) & mask) << w->base
                                   : p ^ (p >> w->base & mask) << (w->base - w->shift);
  }
}

static bool is_empty(const recipe *r) {
  for (int d = 0; d < r->rank; d++)
    if (r->shape[d] == 0) return true;
  return false;
}

static wide elements_of(const recipe *r) {
  wide n = 1;
  for (int d = 0; d < r->rank; d++) n *= r->shape[d];
  return n;
}

static void index_of(const recipe *r, int64_t number, int64_t *index) {
  for (int d = r->rank - 1; d >= 0; d--) {
    index[d] = number % r->shape[d];
    number /= r->shape[d];
  }
}

static int64_t number_of(const recipe *r, const int64_t *index) {
  int64_t number = 0;
  for (int d = 0; d < r->rank; d++) number = number * r->shape[d] + index[d];
  return number;
}

static int64_t copies_of(const recipe *r) {
  int64_t copies = 1;
  for (int x = 0; x < r->n; x++)
    if (is_leaf(r, x) && is_free(r, x, TESELA_REPLICA)) copies *= (int64_t)extent_of(r, x);
  return copies;
}

/* The number the library gave the digit: a split keeps the old one for HIGH; LOW, a join and add_digit take a new one. */
static int number_of_digit(const recipe *r, int x) {
  if (r->node[x].kind == HIGH) return number_of_digit(r, r->node[x].of);
  int n = 0;
  for (int i = 0; i < x; i++) n += r->node[i].kind != HIGH;
  return n;
}

/* The k-th values of the replicas, row-major in the order of their digits. */
static void copy_values(const recipe *r, int64_t k, int64_t *copy) {
  bool done[MOST_NODES] = {false};
  for (;;) { /* from the last digit to the first */
    int last = -1;
    for (int x = 0; x < r->n; x++)
      if (!done[x] && is_leaf(r, x) && is_free(r, x, TESELA_REPLICA) &&
          (last < 0 || number_of_digit(r, x) > number_of_digit(r, last)))
        last = x;
    if (last < 0) return;
    done[last] = true;
    copy[last] = k % (int64_t)extent_of(r, last);
    k /= (int64_t)extent_of(r, last);
  }
}

/* Lowest and highest place before a swizzle, over all values of the leaves. */
static void span_of(const recipe *r, int axis, wide *low, wide *high) {
  *low = *high = r->offset[axis];
  for (int x = 0; x < r->n; x++) {
    if (!is_leaf(r, x) || r->node[x].axis != axis || extent_of(r, x) == 0) continue;
    wide reach = (extent_of(r, x) - 1) * r->node[x].stride;
    *(reach < 0 ? low : high) += reach;
  }
}

/* Can the leaf be anything but 0? It counts in units of `unit` what is left below `room`. */
static bool moves(const recipe *r, int x) {
  int root = root_of(r, x);
  wide unit = 1, room = extent_of(r, root);
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

/* As the header means it: a digit that does not step over all the smaller ones. */
static bool overlaps(const recipe *r) {
  for (int x = 0; x < r->n && !is_empty(r); x++) {
    wide size = r->node[x].stride < 0 ? -(wide)r->node[x].stride : r->node[x].stride, smaller = 0;
    if (!is_leaf(r, x) || extent_of(r, x) <= 1) continue;
    if (size == 0 && r->node[root_of(r, x)].kind == JOIN && moves(r, x)) return true;
    for (int y = 0; y < r->n; y++) {
      wide other = r->node[y].stride < 0 ? -(wide)r->node[y].stride : r->node[y].stride;
      if (y == x || !is_leaf(r, y) || r->node[y].axis != r->node[x].axis || extent_of(r, y) <= 1) continue;
      if (other < size || (other == size && y < x)) smaller += (extent_of(r, y) - 1) * other;
    }
    if (size > 0 && size <= smaller) return true;
  }
  return false;
}

/* What finish has to say. */
static tesela_status expected_status(const recipe *r) {
  wide low, high;
  for (int x = 0; x < r->n; x++)
    if (is_leaf(r, x) && is_free(r, x, TESELA_REPLICA) && extent_of(r, x) > 1 && r->node[x].stride == 0)
      return TESELA_E_INVALID;
  for (int a = 0; a < r->n_axes && !is_empty(r); a++) {
    span_of(r, a, &low, &high);
    if (low < 0 || (r->extent[a] >= 0 && high >= r->extent[a])) return TESELA_E_RANGE;
  }
  return TESELA_OK;
}

/* ---- the table --------------------------------------------------------------------------------------------- */

enum { AXIS_BASE = 1 << 20 }; /* a place on all axes as one number, the same for layouts of other extents */

static int64_t key_of(int n_axes, const int64_t *place) {
  int64_t key = 0;
  for (int a = 0; a < n_axes; a++) key = key * AXIS_BASE + place[a];
  return key;
}

typedef struct table {
  recipe r;
  tesela_layout layout;
  int64_t n_elements, n_places, n_copies;
  int64_t first[MOST_ROWS];            /* key of the first place of each element */
  int64_t key[MOST_ROWS][MOST_COPIES]; /* all of them, sorted, the same one once */
  int n_keys[MOST_ROWS];
  int64_t count[MOST_PLACES];   /* elements at a place (row-major over the axes) */
  int64_t answer[MOST_PLACES];  /* the one with 0 where strides are 0; -1: none */
  int64_t answers[MOST_PLACES]; /* how many say so of themselves */
  bool overlap;
} table;

static void add_key(int64_t *keys, int *n, int64_t key) {
  int at = 0;
  while (at < *n && keys[at] < key) at++;
  if (at < *n && keys[at] == key) return;
  assert_true(*n < MOST_COPIES);
  for (int i = *n; i > at; i--) keys[i] = keys[i - 1];
  keys[at] = key;
  ++*n;
}

/* The places of all elements by the definition; no library in it. */
static void tabulate_elements(table *t) {
  const recipe *r = &t->r;
  int64_t index[4], copy[MOST_NODES] = {0}, place[MOST_AXES];
  wide at[MOST_AXES];
  t->n_elements = (int64_t)elements_of(r);
  t->n_copies = copies_of(r);
  for (int64_t e = 0; e < t->n_elements; e++) {
    index_of(r, e, index);
    t->n_keys[e] = 0;
    for (int64_t k = t->n_copies - 1; k >= 0; k--) {
      copy_values(r, k, copy);
      place_of(r, index, copy, at);
      for (int a = 0; a < r->n_axes; a++) place[a] = (int64_t)at[a];
      t->first[e] = key_of(r->n_axes, place);
      add_key(t->key[e], &t->n_keys[e], t->first[e]);
    }
  }
}

static void place_at(const tesela_layout *layout, int64_t number, int64_t *place) {
  for (int a = layout->n_axes - 1; a >= 0; a--) {
    place[a] = number % layout->axis[a].extent;
    number /= layout->axis[a].extent;
  }
}

static int64_t place_number(const tesela_layout *layout, int64_t key) {
  int64_t number = 0;
  for (int a = 0; a < layout->n_axes; a++) {
    int64_t base = 1;
    for (int b = a + 1; b < layout->n_axes; b++) base *= AXIS_BASE;
    number = number * layout->axis[a].extent + key / base % AXIS_BASE;
  }
  return number;
}

/* What is at each place of the axes as they are. */
static void tabulate_places(table *t) {
  const recipe *r = &t->r;
  int64_t index[4];
  t->n_places = 1;
  for (int a = 0; a < r->n_axes; a++) t->n_places *= t->layout.axis[a].extent;
  assert_true(t->n_places <= MOST_PLACES);
  for (int64_t p = 0; p < t->n_places; p++) t->count[p] = t->answers[p] = 0, t->answer[p] = -1;
  for (int64_t e = 0; e < t->n_elements; e++) {
    bool zero = true;
    index_of(r, e, index);
    for (int x = 0; x < r->n; x++)
      if (is_leaf(r, x) && r->node[x].stride == 0 && value(r, x, index, NULL) != 0) zero = false;
    for (int k = 0; k < t->n_keys[e]; k++) {
      int64_t p = place_number(&t->layout, t->key[e][k]);
      assert_true(p >= 0 && p < t->n_places);
      t->count[p]++;
      if (!zero) continue;
      t->answer[p] = e;
      t->answers[p]++;
    }
  }
  t->overlap = overlaps(r);
}

/* ---- random recipes ----------------------------------------------------------------------------------------- */

/* Places of all leaves if they lie densely. */
static wide room_of(const recipe *r) {
  wide room = 1;
  for (int x = 0; x < r->n; x++)
    if (is_leaf(r, x) && extent_of(r, x) > 0) room *= extent_of(r, x);
  return room;
}

typedef struct taste {
  int64_t most_extent; /* of a dim and of a split */
  wide most_room;
  int most_steps;
  enum { ANY, SIMPLE, JOINED } form; /* SIMPLE: splits that divide, no joins, swizzles and overlap */
} taste;                             /* JOINED: one axis, no replicas, swizzles and overlap */

static const taste small = {7, 700, 6, ANY}, plain = {7, 700, 5, SIMPLE}, joined = {7, 700, 8, JOINED};

/* Large numbers of all magnitudes. */
static int64_t extent_like(const taste *like) {
  if (like->most_extent < 1000) return below(like->most_extent + 1);
  int64_t n = (int64_t)1 << below(41);
  return one_in(3) ? n : 1 + below(n);
}

static void random_step(recipe *r, const taste *like) {
  int leaf[MOST_NODES], n = leaves(r, leaf), choice = (int)below(10);
  recipe before = *r;
  if (r->n + 3 > MOST_NODES) return;
  if (choice < 5 && n > 0) {
    int x = leaf[below(n)];
    int64_t t = like->most_extent > 1000 ? 1 + extent_like(like) : 1 + below(one_in(4) ? 12 : 4);
    if ((like->form == SIMPLE || is_free(r, x, TESELA_REPLICA)) && extent_of(r, x) % t != 0) return;
    if (like->form == SIMPLE && extent_of(r, x) < t) return;
    add_split(r, x, t);
  } else if (choice < 8 && n > 0 && like->form != SIMPLE) {
    int part[MOST_PARTS], parts = 0, want = 1 + (int)below(MOST_PARTS);
    for (int i = 0; i < want && n > 0; i++) {
      int k = (int)below(n);
      if (!is_free(r, leaf[k], TESELA_REPLICA)) part[parts++] = leaf[k];
      leaf[k] = leaf[--n];
    }
    if (parts > 0) add_join(r, parts, part, 0, 0);
  } else {
    int which = like->form == JOINED || one_in(2) ? TESELA_HOLE : TESELA_REPLICA;
    add_node(r, (node){.kind = FREE, .of = which, .by = 1 + below(4)});
  }
  if (room_of(r) > like->most_room || copies_of(r) > 24) *r = before;
}

/* Strides of one axis: dense, with gaps, backwards, broadcast, overlapping. */
static void random_strides(recipe *r, int axis, const taste *like) {
  int leaf[MOST_NODES], n = 0;
  bool gaps = one_in(3), negative = one_in(4), zeros = one_in(5), overlap = like->form == ANY && one_in(8);
  wide stride = 1, low, high;
  for (int x = 0; x < r->n; x++)
    if (is_leaf(r, x) && r->node[x].axis == axis) leaf[n++] = x;
  while (n > 0) {
    int k = (int)below(n), x = leaf[k];
    bool replica = is_free(r, x, TESELA_REPLICA);
    leaf[k] = leaf[--n];
    int64_t own = overlap ? below(5) : (int64_t)stride;
    if (zeros && one_in(3)) own = 0;
    if (replica && own == 0) own = 1;
    r->node[x].stride = negative && one_in(2) ? -own : own;
    if (own != 0 && extent_of(r, x) > 0) stride *= extent_of(r, x);
    if (gaps && one_in(2)) stride += below(3);
  }
  r->offset[axis] = 0;
  r->extent[axis] = -1;
  span_of(r, axis, &low, &high);
  r->offset[axis] = (int64_t)-low + (one_in(3) ? below(4) : 0);
  if (one_in(4)) r->extent[axis] = (int64_t)(high - low) + r->offset[axis] + (int64_t)low + 1 + below(5);
  if (is_empty(r) && one_in(2)) r->offset[axis] = -below(9), r->extent[axis] = below(9);
}

static void random_swizzle(recipe *r) {
  int16_t axis = (int16_t)below(r->n_axes), bits = (int16_t)(1 + below(2)), base = (int16_t)below(3);
  int16_t shift = (int16_t)(bits + below(2));
  wide low, high;
  r->swizzle[r->n_swizzles++] = (tesela_swizzle){axis, bits, base, one_in(3) ? (int16_t)-shift : shift};
  span_of(r, axis, &low, &high);
  int64_t power = (int64_t)1 << (base + shift + bits);
  while (power <= high && power < (int64_t)1 << 61) power *= 2;
  r->extent[axis] = one_in(2) ? power : -1;
}

static void begin_recipe(recipe *r, int32_t rank, const int64_t *shape) {
  memset(r, 0, sizeof *r);
  r->rank = rank;
  r->bits = 8;
  for (int32_t d = 0; d < rank; d++) {
    r->shape[d] = shape[d];
    (void)add_node(r, (node){.kind = DIM, .of = d});
  }
}

static void random_parts_and_places(recipe *r, int n_axes, const taste *like) {
  int64_t steps = below(like->most_steps + 1);
  for (int64_t s = 0; s < steps; s++) random_step(r, like);
  r->n_axes = n_axes;
  for (int x = 0; x < r->n; x++) r->node[x].axis = (int)below(n_axes);
  for (int a = 0; a < n_axes; a++) random_strides(r, a, like);
  if (like->form == ANY && one_in(8)) random_swizzle(r);
  if (like->form == ANY && one_in(16)) random_swizzle(r);
  if (r->n_swizzles == 2 && r->swizzle[0].axis == r->swizzle[1].axis) r->extent[r->swizzle[0].axis] = -1;
}

static void random_shape(int32_t *rank, int64_t *shape, const taste *like) {
  wide room = 1;
  *rank = (int32_t)below(5);
  for (int32_t d = 0; d < *rank; d++) {
    do shape[d] = extent_like(like);
    while (room * shape[d] > like->most_room / 2);
    if (shape[d] == 0 && !one_in(3)) shape[d] = 1;
    if (shape[d] > 0) room *= shape[d];
  }
}

static int random_axes(void) { return one_in(2) ? 1 : 1 + (int)below(MOST_AXES); }

static void random_recipe(recipe *r, const taste *like) {
  int32_t rank;
  int64_t shape[4];
  random_shape(&rank, shape, like);
  begin_recipe(r, rank, shape);
  random_parts_and_places(r, like->form == JOINED ? 1 : random_axes(), like);
}

/* A random recipe whose axes are small enough for a table, with its layout and its table. */
static void draw(table *t, uint64_t seed, const taste *like) {
  random_state = seed;
  for (;;) {
    random_recipe(&t->r, like);
    wide room = 1, low, high;
    for (int a = 0; a < t->r.n_axes; a++) {
      span_of(&t->r, a, &low, &high);
      wide places = t->r.extent[a] > high ? t->r.extent[a] : high + 1;
      for (int s = 0; s < t->r.n_swizzles; s++) /* an upper bound of what it adds */
        if (t->r.swizzle[s].axis == a) places = places * 2 + 128;
      room *= places > 0 ? places : 1;
    }
    if (room <= MOST_PLACES) break;
  }
  OK(&t->r, build(&t->r, &t->layout, &e_));
  tabulate_elements(t);
  tabulate_places(t);
}

/* ---- elements and places ----------------------------------------------------------------------------------- */

static void check_axes(const table *t) {
  const recipe *r = &t->r;
  AGREE(r, "axes", t->layout.n_axes, r->n_axes);
  for (int a = 0; a < r->n_axes; a++) {
    wide low, high, extent = r->extent[a];
    span_of(r, a, &low, &high);
    if (extent < 0) extent = is_empty(r) ? 0 : high + 1;
    bool swizzled = false;
    for (int s = 0; s < r->n_swizzles; s++) swizzled = swizzled || r->swizzle[s].axis == a;
    if (!swizzled) AGREE(r, "places of an axis", t->layout.axis[a].extent, extent);
  }
}

static void check_elements(const table *t) {
  const recipe *r = &t->r;
  int64_t index[4], place[MOST_AXES], copy[MOST_NODES] = {0};
  wide want[MOST_AXES];
  AGREE(r, "copies", tesela_layout_copies(&t->layout), t->n_copies);
  for (int64_t e = 0; e < t->n_elements; e++) {
    index_of(r, e, index);
    OK(r, tesela_layout_place_of(&t->layout, index, place, &e_));
    AGREE(r, "place", key_of(r->n_axes, place), t->first[e]);
    for (int64_t k = 0; k < t->n_copies; k++) {
      copy_values(r, k, copy);
      place_of(r, index, copy, want);
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
    place_at(&t->layout, p, place);
    tesela_status status = tesela_layout_element_at(&t->layout, place, index, &padding, NULL);
    AGREE(r, "status of a place", status, t->overlap ? TESELA_E_UNSUPPORTED : TESELA_OK);
    if (t->overlap) continue;
    AGREE(r, "padding", padding, t->count[p] == 0);
    if (padding) continue;
    AGREE(r, "elements that answer for a place", t->answers[p], 1);
    AGREE(r, "element", number_of(r, index), t->answer[p]);
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
  for (int64_t e = 0; e < t->n_elements; e++) index_of(r, t->n_elements - 1 - e, indices + e * r->rank);
  for (int a = 0; a < r->n_axes; a++) {
    OK(r, tesela_layout_places(&t->layout, a, t->n_elements, indices, places, &e_));
    for (int64_t e = 0; e < t->n_elements; e++) {
      int64_t key = t->first[t->n_elements - 1 - e];
      for (int b = r->n_axes - 1; b > a; b--) key /= AXIS_BASE;
      AGREE(r, "place of a row", places[e], key % AXIS_BASE);
    }
  }
}

/* The leaves that splits alone make of a dim, those that go into joins too. */
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
      if (!split && root_of(r, x) == d) want *= (int64_t)extent_of(r, x);
    }
    OK(r, tesela_layout_padded_extent(&t->layout, d, &padded, &e_));
    AGREE(r, "padded extent", padded, want);
  }
}

/* ---- iteration ---------------------------------------------------------------------------------------------- */

static void check_walk(const table *t) {
  static tesela_walk walk;
  const recipe *r = &t->r;
  tesela_status want = r->n_axes != 1 || r->n_swizzles > 0 ? TESELA_E_UNSUPPORTED : TESELA_OK;
  AGREE(r, "walk", tesela_walk_begin(&walk, &t->layout, NULL), want);
  if (want != TESELA_OK) return;
  int64_t e = 0;
  for (; walk.more; tesela_walk_next(&walk), e++) {
    AGREE(r, "walk index", number_of(r, walk.index), e);
    AGREE(r, "walk place", walk.place, t->first[e]);
  }
  AGREE(r, "walk length", e, t->n_elements);
}

/* Has each place one answer, on one axis? */
static tesela_status status_by_places(const table *t) {
  bool none = t->r.n_axes != 1 || t->r.n_swizzles > 0 || t->overlap || t->n_copies != 1;
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
    AGREE(r, "scan element", scan.padding ? -1 : number_of(r, scan.index), t->answer[p]);
  }
  AGREE(r, "scan length", p, t->n_places);
}

/* The definition: the largest n for which element numbers go up by one step, or all is padding. */
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

static bool same_digits(const tesela_layout *a, const tesela_layout *b) {
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

/* The same sets of places; at each place an element that is there; and the ways through them agree with that. */
static void check_relation(const recipe *r, const tesela_layout *layout, int64_t n, const int64_t *keys,
                           const int *n_keys, bool must_invert) {
  static int64_t found[MOST_COPIES], filled[MOST_PLACES];
  static table view;
  int64_t index[4], place[MOST_AXES], n_places = 1, taken = 0, held = 0;
  view.r = *r;
  view.r.n_axes = layout->n_axes;
  view.r.n_swizzles = layout->n_swizzles;
  view.layout = *layout;
  view.n_copies = tesela_layout_copies(layout);
  view.n_elements = n;
  view.overlap = false;
  for (int64_t e = 0; e < n; e++) {
    int n_found = 0;
    index_of(r, e, index);
    for (int64_t k = view.n_copies - 1; k >= 0; k--) {
      OK(r, tesela_layout_copy_of(layout, index, k, place, &e_));
      view.first[e] = key_of(layout->n_axes, place);
      add_key(found, &n_found, view.first[e]);
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
      taken += filled[place_number(layout, keys[e * MOST_COPIES + k])]++ == 0;
  view.n_places = n_places;
  for (int64_t p = 0; p < n_places; p++) {
    bool padding, here = false;
    place_at(layout, p, place);
    tesela_status status = tesela_layout_element_at(layout, place, index, &padding, NULL);
    if (status == TESELA_E_UNSUPPORTED && !must_invert) return;
    AGREE(r, "status of a place", status, TESELA_OK);
    held += !padding;
    view.answer[p] = padding ? -1 : number_of(r, index);
    if (padding) continue;
    for (int k = 0; k < n_keys[view.answer[p]]; k++)
      here = here || place_number(layout, keys[view.answer[p] * MOST_COPIES + k]) == p;
    AGREE(r, "the element is at the place", here, true);
  }
  AGREE(r, "places that hold something", held, taken);
  check_scan(&view);
  check_runs(&view);
}

static void check_canonical(const table *t) {
  static tesela_layout form, again;
  OK(&t->r, tesela_layout_canonical(&t->layout, &form, &e_));
  check_relation(&t->r, &form, t->n_elements, &t->key[0][0], t->n_keys, !t->overlap);
  for (int a = 0; a < t->r.n_axes; a++)
    AGREE(&t->r, "extent of the canonical form", form.axis[a].extent, t->layout.axis[a].extent);
  OK(&t->r, tesela_layout_canonical(&form, &again, &e_));
  AGREE(&t->r, "the same form again", same_digits(&form, &again), true);
  tesela_difference difference;
  OK(&t->r, tesela_layout_compare(&t->layout, &form, &difference, &e_));
  AGREE(&t->r, "the form is the same", difference.same && difference.same_extent, true);
}

static void check_all(const table *t) {
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

static void everything_follows_the_definition(void **state) {
  (void)state;
  static table t;
  for (uint64_t i = 0; i < 2 * seeds(); i++) {
    draw(&t, first_seed() + i, i % 2 ? &joined : &small);
    check_all(&t);
  }
}

/* ---- other words for the same ------------------------------------------------------------------------------- */

static int64_t divisor_of(int64_t n) {
  if (n < 1) return 1;
  for (int tries = 0; tries < 8; tries++) {
    int64_t t = 1 + below(n < 16 ? n : 16);
    if (n % t == 0) return t;
  }
  return n;
}

/* A split whose parts go where the whole went. */
static void respell_split(recipe *r, int x) {
  int64_t extent = (int64_t)extent_of(r, x), t = divisor_of(extent);
  if (one_in(2) && r->node[x].stride >= 0 && !is_free(r, x, TESELA_REPLICA)) {
    t = 1 + below(5);
    r->extent[r->node[x].axis] = -1;
  }
  add_split(r, x, t);
}

/* Two digits that lie one in the other: joined. */
static void respell_neighbours(recipe *r, const int *leaf, int n) {
  for (int tries = 0; tries < 16; tries++) {
    int x = leaf[below(n)], y = leaf[below(n)];
    if (x == y || r->node[x].axis != r->node[y].axis || is_free(r, x, TESELA_REPLICA) ||
        is_free(r, y, TESELA_REPLICA) || r->node[x].stride != r->node[y].stride * extent_of(r, y))
      continue;
    add_join(r, 2, (const int[]){x, y}, r->node[x].axis, r->node[y].stride);
    return;
  }
}

/* Join some digits and take them apart again. */
static void respell_round_trip(recipe *r, int *leaf, int n) {
  int part[MOST_PARTS], parts = 0, want = 1 + (int)below(MOST_PARTS);
  for (int i = 0; i < want && n > 0; i++) {
    int k = (int)below(n);
    if (!is_free(r, leaf[k], TESELA_REPLICA) && extent_of(r, leaf[k]) > 0) part[parts++] = leaf[k];
    leaf[k] = leaf[--n];
  }
  if (parts == 0) return;
  int whole = add_join(r, parts, part, r->node[part[0]].axis, r->node[part[0]].stride);
  for (int p = parts - 1; p > 0; p--) {
    int high = add_split(r, whole, (int64_t)extent_of(r, part[p]));
    r->node[high + 1].axis = r->node[part[p]].axis;
    r->node[high + 1].stride = r->node[part[p]].stride;
    r->node[high].axis = r->node[part[0]].axis;
    r->node[high].stride = r->node[part[0]].stride;
    whole = high;
  }
}

/* Replicas the other way round, and in another order. */
static void respell_replicas(recipe *r, const int *leaf, int n) {
  int other = -1;
  for (int i = 0; i < n; i++) {
    node *at = &r->node[leaf[i]];
    if (!is_free(r, leaf[i], TESELA_REPLICA)) continue;
    if (one_in(2)) {
      r->offset[at->axis] += (int64_t)(extent_of(r, leaf[i]) - 1) * at->stride;
      at->stride = -at->stride;
    }
    if (at->kind != FREE) continue;
    if (other >= 0) {
      node swap = r->node[other];
      r->node[other] = *at;
      *at = swap;
    }
    other = leaf[i];
  }
}

static void respell(recipe *r) {
  for (int64_t times = 1 + below(3); times > 0; times--) {
    int leaf[MOST_NODES], n = leaves(r, leaf);
    if (n == 0 || r->n + 6 > MOST_NODES) return;
    switch (below(4)) {
    case 0:
      respell_split(r, leaf[below(n)]);
      break;
    case 1:
      respell_neighbours(r, leaf, n);
      break;
    case 2:
      respell_round_trip(r, leaf, n);
      break;
    default:
      respell_replicas(r, leaf, n);
      break;
    }
  }
}

/* One thing else; mostly another relation. */
static void change(recipe *r) {
  int leaf[MOST_NODES], n = leaves(r, leaf), x = (int)below(r->n > 0 ? r->n : 1);
  wide low, high;
  if (n > 0 && one_in(3)) {
    node *at = &r->node[leaf[below(n)]];
    at->stride += one_in(2) ? 1 : at->stride;
  } else if (n > 1 && one_in(3)) {
    node *a = &r->node[leaf[below(n)]], *b = &r->node[leaf[below(n)]];
    int64_t stride = a->stride;
    a->stride = b->stride;
    b->stride = stride;
  } else if (r->n > 0 && (r->node[x].kind == HIGH || r->node[x].kind == LOW)) {
    int high_part = r->node[x].kind == HIGH ? x : x - 1;
    int64_t t = r->node[x].by + (one_in(2) ? 1 : -1);
    if (t >= 1 && !is_free(r, x, TESELA_REPLICA)) r->node[high_part].by = r->node[high_part + 1].by = t;
  } else if (r->n > 0 && r->node[x].kind == JOIN) {
    int *a = &r->node[x].part[0], *b = &r->node[x].part[r->node[x].n - 1], swap = *a;
    *a = *b;
    *b = swap;
  } else if (r->n_axes > 0) {
    r->offset[below(r->n_axes)]++;
  }
  for (int a = 0; a < r->n_axes; a++) {
    span_of(r, a, &low, &high);
    if (low < 0) r->offset[a] += (int64_t)-low;
    r->extent[a] = -1;
  }
}

/* ---- equality ----------------------------------------------------------------------------------------------- */

static struct { int64_t same, differ, undecided, undecided_simple; } told;

static bool is_simple(const recipe *r) {
  for (int x = 0; x < r->n; x++)
    if (r->node[x].kind == JOIN) return false;
  return r->n_swizzles == 0 && !overlaps(r);
}

static void check_comparison(const table *a, const table *b) {
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
    told.undecided++;
    told.undecided_simple += is_simple(&a->r) && is_simple(&b->r);
    return;
  }
  bool same = alike && first < 0;
  if (status != TESELA_OK || difference.same != same || difference.have_index != (first >= 0) ||
      (first >= 0 && number_of(&a->r, difference.index) != first))
    fail_msg("compare: status %d, same %d, first %" PRId64 "; not same %d, first %" PRId64 "%s%s", status,
             difference.same, difference.have_index ? number_of(&a->r, difference.index) : -1, same, first,
             describe(&a->r), describe(&b->r));
  bool same_extent = a->layout.n_axes == b->layout.n_axes;
  for (int k = 0; k < a->layout.n_axes && same_extent; k++)
    same_extent = a->layout.axis[k].extent == b->layout.axis[k].extent;
  AGREE(&a->r, "same extent", difference.same_extent, same_extent);
  if ((difference.reason[0] == '\0') != same) fail_msg("reason: %s%s", difference.reason, describe(&a->r));
  told.same += same;
  told.differ += !same;
}

/* The layout of a recipe and its table of elements; false if there is none. */
static bool realize(table *t) {
  tesela_error err;
  tesela_status status = build(&t->r, &t->layout, &err), want = expected_status(&t->r);
  if (t->r.n_swizzles > 0 && status == TESELA_E_RANGE) return false;
  if (status != want) fail_msg("finish: %d (%s), not %d%s", status, err.message, want, describe(&t->r));
  if (status != TESELA_OK) return false;
  for (int a = 0; a < t->r.n_axes; a++)
    if (t->layout.axis[a].extent >= AXIS_BASE) return false;
  tabulate_elements(t);
  return true;
}

static void comparison_agrees_with_enumeration(void **state) {
  (void)state;
  static table a, b, c;
  memset(&told, 0, sizeof told);
  for (uint64_t i = 0; i < seeds(); i++) {
    draw(&a, first_seed() + i, i % 4 == 0 ? &plain : i % 4 == 1 ? &joined : &small);
    check_comparison(&a, &a);
    b.r = a.r;
    respell(&b.r);
    if (realize(&b)) {
      check_comparison(&a, &b);
      check_comparison(&b, &a);
    }
    for (int k = 0; k < 3; k++) {
      c.r = k ? b.r : a.r;
      change(&c.r);
      if (!realize(&c)) continue;
      check_comparison(&a, &c);
      check_comparison(&c, &b);
    }
    begin_recipe(&c.r, a.r.rank, a.r.shape);
    random_parts_and_places(&c.r, a.r.n_axes, &small);
    if (realize(&c)) check_comparison(&a, &c);
    random_recipe(&c.r, &small);
    if (realize(&c)) check_comparison(&a, &c);
  }
  int64_t all = told.same + told.differ + told.undecided;
  printf("comparisons: %" PRId64 " same, %" PRId64 " different, %" PRId64 " undecided\n", told.same,
         told.differ, told.undecided);
  assert_int_equal(told.undecided_simple, 0);
  assert_true(told.undecided * 100 < all);
  assert_true(told.same * 10 > all && told.differ * 10 > all);
}

/* Splits that divide and no join: equal relations have equal digits. */
static void equal_simple_relations_have_equal_digits(void **state) {
  (void)state;
  static table a, b;
  static tesela_layout form_a, form_b;
  int64_t same = 0, differ = 0;
  for (uint64_t i = 0; i < seeds(); i++) {
    draw(&a, first_seed() + i, &plain);
    b.r = a.r;
    for (int times = 0; times < 2; times++) {
      int leaf[MOST_NODES], n = leaves(&b.r, leaf);
      if (n == 0) break;
      int x = leaf[below(n)];
      if (extent_of(&b.r, x) > 0) add_split(&b.r, x, divisor_of((int64_t)extent_of(&b.r, x)));
      respell_replicas(&b.r, leaf, 0);
    }
    if (one_in(2)) {
      int x = (int)below(b.r.n + 1);
      if (x < b.r.n) b.r.node[x].stride += 1 + below(3);
    }
    if (!realize(&b) || overlaps(&b.r)) continue;
    bool equal = true;
    for (int64_t e = 0; e < a.n_elements; e++)
      equal = equal && a.n_keys[e] == b.n_keys[e] &&
              memcmp(a.key[e], b.key[e], (size_t)a.n_keys[e] * sizeof a.key[e][0]) == 0;
    OK(&a.r, tesela_layout_canonical(&a.layout, &form_a, &e_));
    OK(&b.r, tesela_layout_canonical(&b.layout, &form_b, &e_));
    if (is_empty(&a.r)) continue; /* the offsets of empty axes say nothing */
    if (same_digits(&form_a, &form_b) != equal)
      fail_msg("equal %d%s%s", equal, describe(&a.r), describe(&b.r));
    same += equal;
    differ += !equal;
  }
  assert_true(same > 0 && differ > 0);
}

/* The profiles that comparison rests on, against enumeration: many that are equal, or differ late. */
static void profiles_differ_where_enumeration_says(void **state) {
  (void)state;
  int64_t equal = 0;
  random_state = first_seed();
  for (uint64_t i = 0; i < 20 * seeds(); i++) {
    tesela__profile f[2] = {{.n = 0}, {.n = 0}};
    int64_t n = 1 + below(120), offset = one_in(8) ? below(3) : 0, want = TESELA__EQUAL;
    for (int side = 0; side < 2; side++) {
      int64_t slope = 1 + below(2);
      for (int64_t step = 1; step < 60 && f[side].n < 5; step += 1 + below(one_in(2) ? 3 : 30)) {
        for (int32_t k = f[side].n++; k > 0; k--) {
          f[side].step[k] = f[side].step[k - 1];
          f[side].stride[k] = f[side].stride[k - 1];
        }
        f[side].step[0] = step;
        f[side].stride[0] = one_in(3) ? below(4) : slope * step;
      }
    }
    if (one_in(2)) { /* the same but for one digit, or none */
      f[1] = f[0];
      int32_t k = (int32_t)below(f[1].n);
      if (k > 0 && one_in(2) && f[1].step[k - 1] + 1 < (k > 1 ? f[1].step[k - 2] : 100))
        f[1].step[k - 1]++;
      else
        f[1].stride[k] += below(2);
    }
    for (int64_t x = 0; x < n && want < 0; x++) {
      int64_t sum[2] = {0, offset};
      for (int side = 0; side < 2; side++)
        for (int32_t k = 0, rest = (int32_t)x; k < f[side].n; k++) {
          sum[side] += rest / f[side].step[k] * f[side].stride[k];
          rest %= (int32_t)f[side].step[k];
        }
      if (sum[0] != sum[1]) want = x;
    }
    int64_t got = tesela__profile_difference(&f[0], &f[1], n, (uint64_t)offset);
    if (got != want)
      fail_msg("profiles, seed %" PRIu64 ", number %" PRIu64 ": %" PRId64 ", not %" PRId64, first_seed(), i,
               got, want);
    equal += want < 0;
  }
  assert_true(equal > (int64_t)seeds());
}

/* ---- composition -------------------------------------------------------------------------------------------- */

/* A shape of at least n elements. */
static void shape_for(int64_t n, int32_t *rank, int64_t *shape) {
  if (n < 1) n = 1;
  *rank = 1 + (int32_t)below(3);
  for (int32_t d = 0; d < *rank; d++) {
    shape[d] = d + 1 < *rank ? 1 + below(n < 7 ? n : 7) : n + below(3);
    n = (n + shape[d] - 1) / shape[d];
  }
}

/* The table of the composition, element by element. */
static void tabulate_both(const table *outer, const table *inner, table *both) {
  both->r = inner->r;
  both->r.n_axes = outer->r.n_axes;
  both->n_elements = inner->n_elements;
  for (int64_t e = 0; e < inner->n_elements; e++) {
    int64_t middle = inner->first[e];
    both->n_keys[e] = outer->n_keys[middle];
    memcpy(both->key[e], outer->key[middle], sizeof both->key[e]);
  }
}

static void composition_agrees_with_its_definition(void **state) {
  (void)state;
  static table inner, outer, both, others;
  memset(&told, 0, sizeof told);
  int64_t tried = 0;
  for (uint64_t i = 0; i < 2 * seeds(); i++) {
    int32_t rank;
    int64_t shape[4];
    draw(&inner, first_seed() + i, i % 2 ? &joined : &small);
    if (inner.r.n_axes > 1 && !one_in(4)) continue;
    int64_t places = inner.layout.axis[0].extent;
    if (places > MOST_ROWS / 4) continue;
    shape_for(one_in(8) ? 1 + places / 2 : places, &rank, shape);
    begin_recipe(&outer.r, rank, shape);
    random_parts_and_places(&outer.r, random_axes(), &small);
    if (one_in(16)) outer.r.bits = 16;
    if (elements_of(&outer.r) > MOST_ROWS || !realize(&outer)) continue;
    bool fits = inner.r.n_axes == 1 && inner.r.n_swizzles == 0 && inner.n_copies == 1 &&
                places <= outer.n_elements && inner.r.bits == outer.r.bits;
    tesela_error err;
    tesela_status status = tesela_layout_compose(&outer.layout, &inner.layout, &both.layout, &err);
    if (status != (fits ? TESELA_OK : TESELA_E_MISMATCH))
      fail_msg("compose: %d (%s)%s%s", status, err.message, describe(&outer.r), describe(&inner.r));
    if (!fits) continue;
    tried++;
    tabulate_both(&outer, &inner, &both);
    for (int a = 0; a < both.layout.n_axes; a++)
      AGREE(&outer.r, "extent", both.layout.axis[a].extent, outer.layout.axis[a].extent);
    check_relation(&inner.r, &both.layout, inner.n_elements, &both.key[0][0], both.n_keys, false);
    change(&outer.r); /* and compared to the composition with another one */
    if (!realize(&outer)) continue;
    OK(&inner.r, tesela_layout_compose(&outer.layout, &inner.layout, &others.layout, &e_));
    tabulate_both(&outer, &inner, &others);
    check_comparison(&both, &others);
  }
  printf("compared compositions: %" PRId64 " same, %" PRId64 " different, %" PRId64 " undecided\n", told.same,
         told.differ, told.undecided);
  assert_true(tried > (int64_t)seeds() / 10 && told.undecided * 100 <= tried);
}

static void composition_is_associative(void **state) {
  (void)state;
  static table inner, middle, outer;
  static tesela_layout low, high, left, right;
  int64_t tried = 0, undecided = 0;
  for (uint64_t i = 0; i < seeds(); i++) {
    int32_t rank;
    int64_t shape[4];
    tesela_difference difference;
    draw(&inner, first_seed() + i, &joined);
    if (inner.layout.axis[0].extent > 100) continue;
    shape_for(inner.layout.axis[0].extent, &rank, shape);
    begin_recipe(&middle.r, rank, shape);
    random_parts_and_places(&middle.r, 1, &joined);
    if (build(&middle.r, &middle.layout, NULL) != TESELA_OK || middle.layout.axis[0].extent > 600) continue;
    shape_for(middle.layout.axis[0].extent, &rank, shape);
    begin_recipe(&outer.r, rank, shape);
    random_parts_and_places(&outer.r, random_axes(), &small);
    if (build(&outer.r, &outer.layout, NULL) != TESELA_OK) continue;
    OK(&inner.r, tesela_layout_compose(&middle.layout, &inner.layout, &low, &e_));
    OK(&inner.r, tesela_layout_compose(&outer.layout, &low, &left, &e_));
    OK(&inner.r, tesela_layout_compose(&outer.layout, &middle.layout, &high, &e_));
    OK(&inner.r, tesela_layout_compose(&high, &inner.layout, &right, &e_));
    tried++;
    tesela_status status = tesela_layout_compare(&left, &right, &difference, NULL);
    undecided += status != TESELA_OK;
    if (status == TESELA_OK && !difference.same)
      fail_msg("not associative%s%s%s", describe(&outer.r), describe(&middle.r), describe(&inner.r));
  }
  printf("threefold compositions: %" PRId64 ", %" PRId64 " undecided\n", tried, undecided);
  assert_true(tried > 0 && undecided * 100 <= tried);
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

static void row(recipe *r, int32_t rank, const int64_t *shape) {
  begin_recipe(r, rank, shape);
  r->n_axes = 1;
  r->extent[0] = -1;
}

static void stride_is(recipe *r, int x, int64_t stride) { r->node[x].stride = stride; }

static void split_replica(recipe *r) {
  row(r, 1, (const int64_t[]){3});
  int copies = add_node(r, (node){.kind = FREE, .of = TESELA_REPLICA, .by = 6, .stride = 3});
  add_split(r, copies, 2);
  stride_is(r, 0, 1);
}

static void one_slope(recipe *r) { /* 3, 2, 1 take 3 apart as 1, 0, 0; 2, 1 as 1, 1 */
  row(r, 1, (const int64_t[]){5});
  add_split(r, add_split(r, 0, 3) + 1, 2);
  stride_is(r, 4, 7);
}

static void still_join(recipe *r) {
  row(r, 1, (const int64_t[]){6});
  int high = add_split(r, 0, 2);
  stride_is(r, high + 1, 1);
  add_join(r, 1, &high, 0, 0);
}

static void
broadcast_join(recipe *r) { /* values 0 1 2 4 6; place 1 is v = 4, and v = 3, with 0 in its place, is none */
  row(r, 1, (const int64_t[]){5});
  int high = add_split(r, 0, 4);
  int low = add_split(r, add_join(r, 2, (const int[]){high + 1, high}, 0, 0), 3) + 1;
  stride_is(r, low - 1, 1);
}

static void no_element(recipe *r) {
  row(r, 2, (const int64_t[]){0, 3});
  stride_is(r, 0, INT64_MIN);
  stride_is(r, 1, -1);
  r->offset[0] = -2;
  r->extent[0] = 5;
}

static void hole_in_place(recipe *r) { /* the part for 8, 16, ... is always 0, and may have a stride of 0 */
  row(r, 1, (const int64_t[]){3});
  stride_is(r, add_split(r, 0, 2), 2);
  add_split(r, 1, 4);
  stride_is(r, 2, 1);
  stride_is(r, 3, 0);
  stride_is(r, 4, 2);
}

static void twice_too_high(recipe *r) { /* 3 in tiles of 8, in tiles of 4: room for 8 */
  row(r, 1, (const int64_t[]){3});
  add_split(r, add_split(r, 0, 8) + 1, 4);
  stride_is(r, 1, 8);
  stride_is(r, 3, 4);
  stride_is(r, 4, 1);
}

static void swizzled_24(recipe *r) {
  row(r, 2, (const int64_t[]){3, 8});
  stride_is(r, 0, 8);
  stride_is(r, 1, 1);
  r->swizzle[r->n_swizzles++] = (tesela_swizzle){0, 2, 1, 2};
  r->extent[0] = 24;
}

static void backwards_in_gaps(recipe *r) {
  row(r, 2, (const int64_t[]){4, 5});
  add_split(r, 1, 3);
  stride_is(r, 0, -1);
  stride_is(r, 2, -10);
  stride_is(r, 3, 31);
  r->offset[0] = 14;
}

/* [2,3,4] as one coordinate split by 5, and with the middle dim broadcast: first apart at number 4. */
static void joined_by_5(recipe *r) {
  row(r, 3, (const int64_t[]){2, 3, 4});
  int high = add_split(r, add_join(r, 3, (const int[]){0, 1, 2}, 0, 0), 5);
  stride_is(r, high, 6);
  stride_is(r, high + 1, 1);
}

static void middle_broadcast(recipe *r) {
  row(r, 3, (const int64_t[]){2, 3, 4});
  stride_is(r, 0, 14);
  stride_is(r, 2, 1);
}

/* {0,1} + {0,1} = {0,1,2} */
static void two_and_two_copies(recipe *r) {
  row(r, 0, NULL);
  add_node(r, (node){.kind = FREE, .of = TESELA_REPLICA, .by = 2, .stride = 1});
  add_node(r, (node){.kind = FREE, .of = TESELA_REPLICA, .by = 2, .stride = 1});
}

static void three_copies(recipe *r) {
  row(r, 0, NULL);
  add_node(r, (node){.kind = FREE, .of = TESELA_REPLICA, .by = 3, .stride = 1});
}

static void rows_compare_as_enumeration_says(void **state) {
  (void)state;
  static table a, b;
  static const struct {
    void (*a)(recipe *r), (*b)(recipe *r);
  } rows[] = {
      {joined_by_5, middle_broadcast}, {two_and_two_copies, three_copies}, {split_replica, split_replica}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    rows[i].a(&a.r);
    rows[i].b(&b.r);
    assert_true(realize(&a) && realize(&b));
    check_comparison(&a, &b);
    check_comparison(&b, &a);
  }
  assert_int_equal(told.undecided, 0);
}

static void rows_follow_the_definition(void **state) {
  (void)state;
  static table t;
  static const struct {
    const char *name;
    void (*make)(recipe *r);
  } rows[] = {
      {"a replica that is split keeps all its copies", split_replica},
      {"one slope over uneven steps is not one digit", one_slope},
      {"a join that adds nothing still takes its part", still_join},
      {"a broadcast join has no single answer", broadcast_join},
      {"an array without elements is padding wherever it would be", no_element},
      {"a part that is always 0 may have no stride", hole_in_place},
      {"parts that are always 0 take room", twice_too_high},
      {"24 swizzled places fit in 24", swizzled_24},
      {"runs go backwards too", backwards_in_gaps},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    print_message("%s\n", rows[i].name);
    rows[i].make(&t.r);
    OK(&t.r, build(&t.r, &t.layout, &e_));
    tabulate_elements(&t);
    tabulate_places(&t);
    check_all(&t);
  }
}

static void builder_refuses_what_it_cannot_say(void **state) {
  (void)state;
  tesela_layout layout;
  int32_t copies, more, other, axis;
  memset(&layout, 0, sizeof layout); /* it is compared as bytes */
  OK(NULL, tesela_layout_begin(&layout, TESELA_F32, 32, 2, (const int64_t[]){4, 6}, &e_));
  OK(NULL, tesela_layout_add_axis(&layout, "memory", &axis, &e_));
  OK(NULL, tesela_layout_add_digit(&layout, TESELA_REPLICA, (int64_t)1 << 40, &copies, &e_));
  assert_int_equal(tesela_layout_split(&layout, copies, 3, &other, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_join(&layout, 1, &copies, &other, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_join(&layout, 2, (const int32_t[]){1, 1}, &other, NULL), TESELA_E_INVALID);
  OK(NULL, tesela_layout_add_digit(&layout, TESELA_REPLICA, (int64_t)1 << 40, &more, &e_));
  for (int32_t digit = 0; digit < 4; digit++) OK(NULL, tesela_layout_place(&layout, digit, axis, 1, &e_));
  tesela_error err;
  assert_int_equal(tesela_layout_finish(&layout, &err), TESELA_E_OVERFLOW); /* 2^80 copies in 2^41 places */
  assert_string_equal(err.message, "the number of copies does not fit in 64 bits");
  OK(NULL, tesela_layout_strided(&layout, TESELA_F32, 32, 1, (const int64_t[]){4}, NULL, 0, &e_));
  tesela_layout before = layout;
  assert_int_equal(tesela_layout_split(&layout, 0, 2, &other, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_join(&layout, 1, (const int32_t[]){0}, &other, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_place(&layout, 0, 0, 1, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_add_digit(&layout, TESELA_HOLE, 2, &other, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_add_axis(&layout, "more", &other, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_set_axis(&layout, 0, 7, -1, NULL), TESELA_E_INVALID);
  assert_int_equal(tesela_layout_add_swizzle(&layout, (tesela_swizzle){0, 1, 0, 1}, NULL), TESELA_E_INVALID);
  assert_memory_equal(&layout, &before, sizeof layout);
}

/* ---- large numbers ------------------------------------------------------------------------------------------ */

static const taste large = {(int64_t)1 << 40, (wide)1 << 58, 7, ANY};
static const taste large_joined = {(int64_t)1 << 40, (wide)1 << 58, 4, JOINED};

static void random_index(const recipe *r, int64_t *index) {
  for (int d = 0; d < r->rank; d++) {
    int64_t n = r->shape[d], choice = below(4);
    index[d] = choice == 0 ? 0 : choice == 1 ? n - 1 : choice == 2 ? below(n < 64 ? n : 64) : below(n);
  }
}

/* An element before `bound` in row-major order; false if there is none. */
static bool random_index_before(const recipe *r, const int64_t *bound, int64_t *index) {
  int d = r->rank - 1;
  for (int tries = 0; tries < 8; tries++) {
    d = (int)below(r->rank);
    if (bound[d] > 0) break;
  }
  if (bound[d] == 0) return false;
  random_index(r, index);
  for (int i = 0; i < d; i++) index[i] = bound[i];
  index[d] = one_in(2) ? bound[d] - 1 : below(bound[d]);
  return true;
}

static void check_points(const recipe *r, const tesela_layout *layout) {
  for (int times = 0; times < 24; times++) {
    int64_t index[4], place[MOST_AXES], back[4];
    wide want[MOST_AXES];
    bool padding, zero = true;
    random_index(r, index);
    place_of(r, index, NULL, want);
    OK(r, tesela_layout_place_of(layout, index, place, &e_));
    for (int a = 0; a < r->n_axes; a++)
      if (place[a] != want[a]) fail_msg("place on axis %d: %" PRId64 "%s", a, place[a], describe(r));
    tesela_status status = tesela_layout_element_at(layout, place, back, &padding, NULL);
    AGREE(r, "status of a place", status, overlaps(r) ? TESELA_E_UNSUPPORTED : TESELA_OK);
    if (status != TESELA_OK) continue;
    AGREE(r, "padding where an element is", padding, false);
    for (int x = 0; x < r->n; x++)
      if (is_leaf(r, x) && r->node[x].stride == 0 && value(r, x, index, NULL) != 0) zero = false;
    for (int d = 0; d < r->rank && zero; d++) AGREE(r, "element", back[d], index[d]);
    int64_t again[MOST_AXES];
    OK(r, tesela_layout_place_of(layout, back, again, &e_));
    if (copies_of(r) == 1)
      for (int a = 0; a < r->n_axes; a++) AGREE(r, "place of the element", again[a], place[a]);
  }
}

/* The first difference differs, and no sampled element before it does. */
static void check_first_difference(const recipe *a, const recipe *b, const tesela_difference *difference) {
  wide pa[MOST_AXES], pb[MOST_AXES];
  bool differs = false;
  place_of(a, difference->index, NULL, pa);
  place_of(b, difference->index, NULL, pb);
  for (int k = 0; k < a->n_axes; k++) differs = differs || pa[k] != pb[k];
  if (!differs) fail_msg("no difference there%s%s", describe(a), describe(b));
  for (int times = 0; times < 1000 && a->rank > 0; times++) {
    int64_t index[4];
    if (!random_index_before(a, difference->index, index)) return;
    place_of(a, index, NULL, pa);
    place_of(b, index, NULL, pb);
    for (int k = 0; k < a->n_axes; k++)
      if (pa[k] != pb[k]) fail_msg("not the first difference%s%s", describe(a), describe(b));
  }
}

static void large_layouts_are_answered_at_once(void **state) {
  (void)state;
  static recipe r, other;
  static tesela_layout layout, form, changed;
  static tesela_walk walk;
  static tesela_scan scan;
  int64_t undecided = 0, compared = 0;
  for (uint64_t i = 0; i < seeds(); i++) {
    tesela_difference difference;
    random_state = first_seed() + i;
    random_recipe(&r, &large);
    for (int d = 0; d < r.rank; d++)
      if (r.shape[d] == 0) r.shape[d] = 1;
    if (build(&r, &layout, NULL) != TESELA_OK) continue;
    check_points(&r, &layout);
    (void)tesela_walk_begin(&walk, &layout, NULL);
    (void)tesela_scan_begin(&scan, &layout, NULL);
    OK(&r, tesela_layout_canonical(&layout, &form, &e_));
    compared++;
    tesela_status status = tesela_layout_compare(&layout, &form, &difference, NULL);
    if (status == TESELA_OK) AGREE(&r, "the form is the same", difference.same, true);
    undecided += status != TESELA_OK;
    other = r;
    int leaf[MOST_NODES], n = leaves(&other, leaf);
    if (n == 0) continue;
    int x = leaf[below(n)];
    other.node[x].stride += one_in(2) ? 1 : -1;
    if (!moves(&r, x) || is_free(&r, x, TESELA_REPLICA)) continue;
    for (int a = 0; a < r.n_axes; a++) other.extent[a] = -1;
    if (build(&other, &changed, NULL) != TESELA_OK) continue;
    bool reached = r.node[root_of(&r, x)].kind == DIM; /* a part of a join may still never move */
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
  return padding ? -1 : number_of(r, index);
}

/* Some places of the run are as it says, and the one behind it is not. */
static void check_large_run(const recipe *r, const tesela_layout *layout, int64_t place) {
  tesela_run run;
  int64_t first = element_number(r, layout, place), extent = layout->axis[0].extent;
  OK(r, tesela_layout_run(layout, place, &run, &e_));
  AGREE(r, "run padding", run.padding, first < 0);
  AGREE(r, "run length", run.length >= 1 && run.length <= extent - place, true);
  for (int64_t times = 0; times < 8; times++) {
    int64_t k = times == 0 ? run.length - 1 : times == 1 ? 0 : below(run.length);
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
  for (uint64_t i = 0; i < seeds(); i++) {
    bool joins = false;
    random_state = first_seed() + i;
    random_recipe(&r, i % 2 ? &large_joined : &large);
    for (int x = 0; x < r.n; x++) joins = joins || r.node[x].kind == JOIN;
    if (joins || r.n_axes != 1 || r.n_swizzles > 0 || copies_of(&r) > 1 || overlaps(&r)) continue;
    if (build(&r, &layout, NULL) != TESELA_OK || layout.axis[0].extent == 0) continue;
    for (int times = 0; times < 8; times++) {
      int64_t index[4], place = below(layout.axis[0].extent);
      if (times % 2 && !is_empty(&r)) {
        random_index(&r, index);
        OK(&r, tesela_layout_place_of(&layout, index, &place, &e_));
        if (place + 1 < layout.axis[0].extent) place += below(2);
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
    wide extent = extent_of(r, x), step = 1;
    for (int i = x; i != root_of(r, x); i = r->node[i].of)
      if (r->node[i].kind == HIGH) step *= r->node[i].by;
    if (step * (extent > 0 ? extent : 1) > INT64_MAX) return true;
  }
  for (int a = 0; a < r->n_axes; a++) {
    span_of(r, a, &low, &high);
    if (low < INT64_MIN || high >= INT64_MAX || high - low > INT64_MAX) return true;
  }
  wide copies = 1;
  for (int x = 0; x < r->n; x++)
    if (is_leaf(r, x) && is_free(r, x, TESELA_REPLICA)) {
      copies *= extent_of(r, x);
      if (copies > INT64_MAX) return true;
    }
  return false;
}

static int64_t huge_number(void) { return (int64_t)(random_bits() >> (1 + below(62))); }

/* Numbers of any size, in recipes of any kind: a layout that is right, or a refusal that has a reason. */
static void numbers_that_do_not_fit_are_refused(void **state) {
  (void)state;
  static recipe r;
  static tesela_layout layout;
  int64_t accepted = 0, refused = 0;
  for (uint64_t i = 0; i < 4 * seeds(); i++) {
    int64_t shape[4];
    random_state = first_seed() + i;
    int32_t rank = (int32_t)below(4);
    for (int32_t d = 0; d < rank; d++) shape[d] = one_in(2) ? 1 + below(5) : huge_number();
    begin_recipe(&r, rank, shape);
    r.n_axes = 1 + (int)below(2);
    bool fits = true; /* past 2^63 nothing goes on: products of two such numbers fit in `wide`, no others */
    for (int64_t steps = below(5); steps > 0 && fits; steps--) {
      int leaf[MOST_NODES], n = leaves(&r, leaf);
      if (n > 0 && one_in(2))
        add_split(&r, leaf[below(n)], 1 + (one_in(2) ? below(9) : huge_number() / 2));
      else if (n > 1 && one_in(2) && !is_free(&r, leaf[0], TESELA_REPLICA) &&
               !is_free(&r, leaf[1], TESELA_REPLICA))
        add_join(&r, 2, leaf, 0, 0);
      else
        add_node(&r, (node){.kind = FREE,
                            .of = one_in(2) ? TESELA_HOLE : TESELA_REPLICA,
                            .by = 1 + huge_number() / 2});
      for (int x = 0; x < r.n; x++) fits = fits && extent_of(&r, x) <= INT64_MAX;
    }
    for (int x = 0; x < r.n; x++) {
      r.node[x].axis = (int)below(r.n_axes);
      r.node[x].stride = one_in(3) ? (int64_t)random_bits() : one_in(2) ? 1 + below(4) : -1 - below(4);
      if (one_in(2)) r.node[x].stride = r.node[x].stride / ((int64_t)1 << below(62));
      if (one_in(8)) r.node[x].stride = one_in(2) ? INT64_MIN : INT64_MAX;
      if (extent_of(&r, x) > INT64_MAX) r.node[x].stride = 1;
    }
    for (int a = 0; a < r.n_axes; a++) {
      r.offset[a] = one_in(3) ? 0 : one_in(8) ? INT64_MIN : one_in(2) ? huge_number() : INT64_MAX - below(4);
      r.extent[a] = one_in(2) ? -1 : huge_number();
    }
    if (one_in(8)) random_swizzle(&r);
    tesela_error err;
    tesela_status status = build(&r, &layout, &err);
    bool replica_cut = false;
    for (int x = 0; x < r.n; x++)
      if (r.node[x].kind == HIGH && is_free(&r, x, TESELA_REPLICA) &&
          extent_of(&r, r.node[x].of) % r.node[x].by != 0)
        replica_cut = true;
    if (status == TESELA_OK) {
      if (!is_empty(&r) && does_not_fit(&r)) fail_msg("accepted%s", describe(&r));
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
      if (is_empty(&r) && layout.axis[0].extent > 0) (void)tesela_layout_run(&layout, 0, &run, NULL);
      (void)tesela_layout_compare(&layout, &layout, &difference, NULL);
      if (!is_empty(&r)) check_points(&r, &layout);
    } else {
      refused++;
      if (status == TESELA_E_OVERFLOW && r.n_swizzles == 0 && !does_not_fit(&r))
        fail_msg("%s%s", err.message, describe(&r));
      if (status != TESELA_E_OVERFLOW && status != TESELA_E_RANGE &&
          !(status == TESELA_E_INVALID && (replica_cut || expected_status(&r) == TESELA_E_INVALID)))
        fail_msg("%d: %s%s", status, err.message, describe(&r));
    }
  }
  printf("accepted %" PRId64 ", refused %" PRId64 "\n", accepted, refused);
  assert_true(accepted > 0 && refused > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_follow_the_definition),
      cmocka_unit_test(rows_compare_as_enumeration_says),
      cmocka_unit_test(builder_refuses_what_it_cannot_say),
      cmocka_unit_test(everything_follows_the_definition),
      cmocka_unit_test(comparison_agrees_with_enumeration),
      cmocka_unit_test(equal_simple_relations_have_equal_digits),
      cmocka_unit_test(profiles_differ_where_enumeration_says),
      cmocka_unit_test(composition_agrees_with_its_definition),
      cmocka_unit_test(composition_is_associative),
      cmocka_unit_test(large_layouts_are_answered_at_once),
      cmocka_unit_test(large_runs_are_found_at_once),
      cmocka_unit_test(numbers_that_do_not_fit_are_refused),
  };
  printf("seed %" PRIu64 " (TESELA_SEED)\n", first_seed());
  return cmocka_run_group_tests(tests, NULL, NULL);
}
