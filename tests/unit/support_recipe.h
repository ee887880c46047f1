/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_recipe.h - layouts of any kind by recipes, read twice.
 *
 * A random *recipe* is a list of steps that make a layout: dims, splits, joins, shifts, replicas, holes, strides, offsets,
 * swizzles. It is read twice:
 *
 *   recipe_build()   with the builder functions of the library
 *   recipe_value()   as an expression, literally: x div t, x mod t, a * extent(b) + b, x + t, sum of digit * stride, XOR
 *
 * The second reading does not use the digits of the first. It gives a table of all elements and all their places, and
 * the table gives all expected values. If numbers are too large for a table, single elements are checked, in 128 bits.
 *
 * TESELA_SEED sets the first seed, TESELA_SEEDS their number. A failure prints the recipe.
 */
#ifndef TESELA_TESTS_SUPPORT_RECIPE_H
#define TESELA_TESTS_SUPPORT_RECIPE_H

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

enum {
  MOST_NODES = 40,   /* coordinates in a recipe, with parts */
  MOST_PARTS = 3,    /* parts of a join */
  MOST_AXES = 3,     /* axes */
  MOST_BITS = 6,     /* bits of a matrix */
  MOST_COPIES = 64,  /* places of one element */
  MOST_ROWS = 2400,  /* elements in a table */
  MOST_PLACES = 4000 /* places in a table */
};

__extension__ typedef __int128 wide;

typedef enum kind { DIM, HIGH, LOW, JOIN, FREE } kind;

/* One coordinate. LOW directly follows HIGH: together they are one split. */
typedef struct node {
  kind kind;
  int of;                  /* DIM: the dim; HIGH, LOW: the split node; FREE: TESELA_REPLICA or TESELA_HOLE */
  int64_t by;              /* HIGH, LOW: the divisor; FREE: the extent */
  int n, part[MOST_PARTS]; /* JOIN: its parts, most significant first */
  int64_t more;            /* JOIN of one part: what is added to it */
  int axis;                /* of a leaf */
  int64_t stride;
} node;

typedef struct recipe {
  int32_t rank, bits;
  int64_t shape[4];
  int n, n_axes, n_swizzles;
  node node[MOST_NODES];
  int64_t offset[MOST_AXES], extent[MOST_AXES]; /* extent -1: the smallest */
  tesela_swizzle swizzle[2];
  int n_bits; /* of a bit matrix after them */
  tesela_axis_bit bit[MOST_BITS];
  uint64_t image[MOST_BITS];
} recipe;

/* ---- random numbers ------------------------------------------------------------------------------------- */

void recipe_seed(uint64_t seed);
uint64_t recipe_seeds(void); /* number of seeds per test */
uint64_t recipe_bits(void);
int64_t recipe_below(int64_t n);
bool recipe_one_in(int64_t n);

/* ---- recipes -------------------------------------------------------------------------------------------- */

wide recipe_extent(const recipe *r, int x);

/* A leaf is a coordinate that is placed on an axis. */
bool recipe_is_leaf(const recipe *r, int x);

/* The dim, join or free digit that contains a node. */
int recipe_root(const recipe *r, int x);
bool recipe_is_free(const recipe *r, int x, int which);

/* The numbers of all leaves; returns how many. */
int recipe_leaves(const recipe *r, int *leaf);
int recipe_add_node(recipe *r, node added);

/* Both parts inherit the axis, with strides that keep every place. Returns HIGH; LOW is the next node. */
int recipe_add_split(recipe *r, int x, int64_t t);
int recipe_add_join(recipe *r, int n, const int *part, int axis, int64_t stride);
char *recipe_text(const recipe *r);

#define OK(r, call)                                                                   \
  do {                                                                                \
    tesela_error e_ = {.message = ""};                                                \
    if ((call) != TESELA_OK) fail_msg("%s: %s%s", #call, e_.message, recipe_text(r)); \
  } while (0)

#define AGREE(r, what, got, want)                                                                         \
  do {                                                                                                    \
    int64_t got_ = (int64_t)(got), want_ = (int64_t)(want);                                               \
    if (got_ != want_) fail_msg("%s: %" PRId64 ", not %" PRId64 "%s", what, got_, want_, recipe_text(r)); \
  } while (0)

/* ---- the two readings ----------------------------------------------------------------------------------- */

tesela_status recipe_build(const recipe *r, tesela_layout *layout, tesela_error *err);

/* The value of a node at an element, with the values `copy` for replicas, by node. */
wide recipe_value(const recipe *r, int x, const int64_t *index, const int64_t *copy);
void recipe_place(const recipe *r, const int64_t *index, const int64_t *copy, wide *place);
/* Swizzle the places on all axes. */
void recipe_swizzle(const recipe *r, wide *place);
bool recipe_is_swizzled(const recipe *r);
bool recipe_is_empty(const recipe *r);
wide recipe_elements(const recipe *r);
void recipe_index(const recipe *r, int64_t number, int64_t *index);
int64_t recipe_number(const recipe *r, const int64_t *index);
int64_t recipe_copies(const recipe *r);

/* The k-th values of the replicas, row-major in the order of their digits. */
void recipe_copy_values(const recipe *r, int64_t k, int64_t *copy);

/* Lowest and highest place before a swizzle, over all values of the leaves. */
void recipe_span(const recipe *r, int axis, wide *low, wide *high);

/* Can the leaf have a value other than 0? Its value is x mod room div unit, with x the value of its root. */
bool recipe_moves(const recipe *r, int x);

/* As defined in the header: a digit that does not step over all the smaller ones. */
bool recipe_overlaps(const recipe *r);

/* The expected status of finish. */
tesela_status recipe_status(const recipe *r);

/* ---- the table ------------------------------------------------------------------------------------------ */

enum { AXIS_BASE = 1 << 20 }; /* a place on all axes as one number that does not depend on the extents */

typedef struct table {
  recipe r;
  tesela_layout layout;
  int64_t n_elements, n_places, n_copies;
  int64_t first[MOST_ROWS];            /* key of the first place of each element */
  int64_t key[MOST_ROWS][MOST_COPIES]; /* all keys, sorted, without duplicates */
  int n_keys[MOST_ROWS];
  int64_t count[MOST_PLACES];   /* elements at a place (row-major over the axes) */
  int64_t answer[MOST_PLACES];  /* of those, the one with 0 in digits of stride 0; or -1 */
  int64_t answers[MOST_PLACES]; /* number of elements with that */
  bool overlap, swizzled;
} table;

int64_t table_key(int n_axes, const int64_t *place);
void table_add_key(int64_t *keys, int *n, int64_t key);

/* The places of all elements by the definition, without the library. */
void table_elements(table *t);
void table_place(const tesela_layout *layout, int64_t number, int64_t *place);
int64_t table_place_number(const tesela_layout *layout, int64_t key);

/* The elements at each place of the axes. */
void table_places(table *t);

/* The layout of a recipe and its table of elements; false without one. */
bool table_realize(table *t);

/* ---- random recipes ------------------------------------------------------------------------------------- */

typedef struct taste {
  int64_t most_extent; /* of a dim and of a split */
  wide most_room;
  int most_steps;
  enum { ANY, SIMPLE, JOINED } form; /* SIMPLE: exact splits, no joins, swizzles or overlap */
} taste;                             /* JOINED: one axis, no replicas, swizzles or overlap */

extern const taste recipe_small, recipe_plain, recipe_joined;

void recipe_begin(recipe *r, int32_t rank, const int64_t *shape);
void recipe_draw_parts(recipe *r, int n_axes, const taste *like);
int recipe_draw_axes(void);
void recipe_draw(recipe *r, const taste *like);
void recipe_draw_swizzle(recipe *r);
void recipe_draw_matrix(recipe *r);

/* A random recipe whose axes are small enough for a table, with its layout and its table. */
void table_draw(table *t, uint64_t seed, const taste *like);

/* ---- other spellings ------------------------------------------------------------------------------------ */

int64_t recipe_divisor(int64_t n);

/* Reverse replicas, and change their order. */
void recipe_respell_replicas(recipe *r, const int *leaf, int n);
void recipe_respell(recipe *r);

/* Change one thing; mostly this changes the relation. */
void recipe_change(recipe *r);

/* ---- checks --------------------------------------------------------------------------------------------- */

typedef struct recipe_tally {
  int64_t same, differ, undecided, undecided_simple;
} recipe_tally;

extern recipe_tally recipe_told; /* the results in recipe_check_comparison() */

bool recipe_same_digits(const tesela_layout *a, const tesela_layout *b);

/* Check that the sets of places are the same, that each place gives an element there, and that inverses agree. */
void recipe_check_relation(const recipe *r, const tesela_layout *layout, int64_t n, const int64_t *keys,
                           const int *n_keys, bool must_invert);
void recipe_check_all(const table *t);
void recipe_check_comparison(const table *a, const table *b);

#endif
