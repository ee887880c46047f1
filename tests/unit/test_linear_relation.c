/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_linear_relation.c - linear layouts <-> relations.
 *
 * Places come from the definition, the XOR of bases, for all inputs. Verdicts come from a search over all bases of a linear layout,
 * input bit by input bit; it shares nothing with elimination.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <tesela/linear.h>

#include "support_seed.h"

static uint64_t state_;

static uint64_t draw(uint64_t n) {
  state_ += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = state_;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (z ^ z >> 31) % n;
}

/* ---- linear layouts ------------------------------------------------------------------------------------------- */

static int bits_of(const tesela_linear_dim *dim, int n) {
  int bits = 0;
  for (int i = 0; i < n; i++) bits += dim[i].bits;
  return bits;
}

/* By the definition. */
static uint64_t apply(const tesela_linear *a, uint64_t x) {
  uint64_t y = 0;
  for (int k = 0; x >> k; k++)
    if (x >> k & 1) y ^= a->basis[k];
  return y;
}

static void print_linear(const tesela_linear *a) {
  int k = 0;
  for (int i = 0; i < a->n_ins; i++) {
    printf(" %s", a->in[i].name);
    for (int n = 0; n < a->in[i].bits; n++) printf(" %" PRIx64, a->basis[k++]);
  }
  for (int i = 0; i < a->n_outs; i++) printf("; %s %d", a->out[i].name, a->out[i].bits);
  printf("\n");
}

/* Unit bases in random order, then zeros, repetitions and random words among them. */
static void draw_linear(tesela_linear *a, int ins, int most_bits) {
  static const char *const names[] = {"register", "lane", "warp", "block"};
  *a = (tesela_linear){.n_ins = ins, .n_outs = 1 + (int32_t)draw(3)};
  int outs = 0, n = 0;
  for (int d = 0; d < a->n_outs; d++) {
    snprintf(a->out[d].name, sizeof a->out[d].name, "dim%d", d);
    a->out[d].bits = (int32_t)draw((uint64_t)most_bits / 3 + 1);
    outs += a->out[d].bits;
  }
  for (int i = 0; i < ins; i++) {
    snprintf(a->in[i].name, sizeof a->in[i].name, "%s", ins == 1 ? "offset" : names[i]);
    a->in[i].bits = (int32_t)draw((uint64_t)(most_bits / ins) + 1);
  }
  while (bits_of(a->in, ins) < outs && draw(8)) a->in[draw((uint64_t)ins)].bits++;
  n = bits_of(a->in, ins);
  for (int k = 0; k < n; k++) a->basis[k] = k < outs ? (uint64_t)1 << k : 0;
  for (int k = n - 1; k > 0; k--) {
    int with = (int)draw((uint64_t)k + 1);
    uint64_t kept = a->basis[k];
    a->basis[k] = a->basis[with];
    a->basis[with] = kept;
  }
  for (int flips = (int)draw(2) ? (int)draw(2 * (uint64_t)n + 1) : 0; flips > 0 && n > 1; flips--) {
    int k = (int)draw((uint64_t)n), with = (int)draw((uint64_t)n);
    if (k != with) a->basis[k] ^= a->basis[with];
  }
  if (n > 0 && draw(3) == 0) a->basis[draw((uint64_t)n)] = 0;
}

/* The dims of an output word. */
static void index_of(const tesela_linear *a, uint64_t y, int64_t *index) {
  for (int d = 0; d < a->n_outs; d++) {
    index[d] = (int64_t)(y & (((uint64_t)1 << a->out[d].bits) - 1));
    y >>= a->out[d].bits;
  }
}

static uint64_t word_of_index(const tesela_linear *a, const int64_t *index) {
  uint64_t y = 0;
  for (int d = a->n_outs - 1; d >= 0; d--) y = y << a->out[d].bits | (uint64_t)index[d];
  return y;
}

/* The input word of places on axes. */
static uint64_t word_of_places(const tesela_linear *a, const tesela_layout *layout, const int64_t *place) {
  uint64_t x = 0;
  int base = 0, axis = 0;
  for (int i = 0; i < a->n_ins; i++) {
    if (axis < layout->n_axes &&
        (strcmp(layout->axis[axis].name, a->in[i].name) == 0 || strcmp(a->in[i].name, "offset") == 0))
      x |= (uint64_t)place[axis++] << base;
    base += a->in[i].bits;
  }
  return x;
}

/* Each element is at all inputs that give it, and nowhere else. */
static void check_places(const tesela_linear *a, const tesela_layout *layout, const int64_t *shape) {
  static uint8_t seen[1 << 12];
  int n = bits_of(a->in, a->n_ins);
  uint64_t places = 0;
  int64_t index[TESELA_MAX_RANK] = {0};
  memset(seen, 0, sizeof seen);
  do {
    for (int64_t k = 0; k < tesela_layout_copies(layout); k++) {
      int64_t place[TESELA_MAX_AXES];
      assert_int_equal(tesela_layout_copy_of(layout, index, k, place, NULL), TESELA_OK);
      uint64_t x = word_of_places(a, layout, place);
      assert_true(x >> n == 0);
      if (apply(a, x) != word_of_index(a, index)) {
        print_linear(a);
        fail_msg("place %" PRIu64, x);
      }
      assert_int_equal(seen[x], 0);
      seen[x] = 1;
      places++;
    }
  } while (tesela_index_next(a->n_outs, shape, index));
  uint64_t wanted = 0;
  for (uint64_t x = 0; x >> n == 0; x++) {
    index_of(a, apply(a, x), index);
    wanted += tesela_index_in_bounds(a->n_outs, shape, index);
  }
  assert_int_equal(places, wanted);
}

/* The first element in row-major order that no input gives; false if all are given. */
static bool first_nowhere(const tesela_linear *a, const int64_t *shape, int64_t *index) {
  int n = bits_of(a->in, a->n_ins);
  memset(index, 0, TESELA_MAX_RANK * sizeof *index);
  do {
    bool found = false;
    for (uint64_t x = 0; x >> n == 0 && !found; x++) found = apply(a, x) == word_of_index(a, index);
    if (!found) return true;
  } while (tesela_index_next(a->n_outs, shape, index));
  return false;
}

static void linear_layouts_become_relations(void **state) {
  (void)state;
  int onto = 0, not_onto = 0, part = 0, copied = 0, flipped = 0, tried = slow_run() ? 200 : 2000;
  state_ = first_seed();
  for (int i = 0; i < tried; i++) {
    tesela_linear a;
    tesela_layout layout;
    tesela_error err = {.message = ""};
    int64_t shape[TESELA_MAX_RANK], index[TESELA_MAX_RANK];
    char text[64] = "";
    draw_linear(&a, draw(2) ? 1 : 4, 8);
    for (int d = 0; d < a.n_outs; d++)
      shape[d] = draw(3) ? (int64_t)1 << a.out[d].bits : 1 + (int64_t)draw((uint64_t)1 << a.out[d].bits);
    for (int d = 0; d < a.n_outs; d++) part += shape[d] != (int64_t)1 << a.out[d].bits;
    tesela_status status = tesela_linear_to_layout(&a, TESELA_F32, 32, a.n_outs, shape, &layout, &err);
    if (first_nowhere(&a, shape, index)) {
      not_onto++;
      assert_int_equal(status, TESELA_E_UNSUPPORTED);
      assert_int_equal(err.reason, TESELA_REASON_NOT_SURJECTIVE);
      for (int d = 0; d < a.n_outs; d++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%" PRId64, d ? "," : "(", index[d]);
      if (!strstr(err.message, text)) fail_msg("%s; expected %s", err.message, text);
      continue;
    }
    if (status != TESELA_OK) fail_msg("%s", err.message);
    onto++;
    copied += tesela_layout_copies(&layout) > 1;
    flipped += layout.swizzle.n > 0;
    check_places(&a, &layout, shape);
    for (int axis = 0; axis < layout.n_axes; axis++) assert_true(layout.axis[axis].extent > 0);
    assert_int_equal(layout.n_axes, a.n_ins - (a.n_ins == 4 && a.in[3].bits == 0));
  }
  printf("%d onto, %d not; %d dims cut; %d with copies, %d with XOR\n", onto, not_onto, part, copied,
         flipped);
  assert_true(onto > tried / 10 && not_onto > tried / 10 && copied > tried / 10 && flipped > tried / 10);
}

/* ---- relations ------------------------------------------------------------------------------------------------ */

enum { PLACES = 64 };

/* A relation as a table: the elements in row-major order, and the places of each. */
typedef struct table {
  int64_t elements;
  int n;                   /* input bits */
  int inside;              /* bits of an index, each dim rounded up to bits */
  int64_t owner[PLACES];   /* by input: the element, -1 without one, -2 if two share it */
  uint64_t held[PLACES];   /* by element: a bit of each place */
  uint64_t word[PLACES];   /* by element: its index as an output word */
  int64_t element[PLACES]; /* by output word: the element, -1 for padding */
} table;

static int bits_below(int64_t extent) {
  int bits = 0;
  while ((int64_t)1 << bits < extent) bits++;
  return bits;
}

static void fill_table(const tesela_layout *layout, table *t) {
  int64_t index[TESELA_MAX_RANK] = {0}, place[TESELA_MAX_AXES];
  memset(t, 0, sizeof *t);
  for (int a = 0; a < layout->n_axes; a++) t->n += bits_below(layout->axis[a].extent);
  for (int d = 0; d < layout->rank; d++) t->inside += bits_below(layout->shape[d]);
  assert_true(t->n <= 6 && t->inside <= 6);
  for (int x = 0; x < PLACES; x++) t->owner[x] = t->element[x] = -1;
  do {
    uint64_t word = 0;
    for (int d = 0; d < layout->rank; d++) word = word << bits_below(layout->shape[d]) | (uint64_t)index[d];
    t->word[t->elements] = word;
    t->element[word] = t->elements;
    for (int64_t k = 0; k < tesela_layout_copies(layout); k++) {
      assert_int_equal(tesela_layout_copy_of(layout, index, k, place, NULL), TESELA_OK);
      int x = 0, base = 0;
      for (int a = 0; a < layout->n_axes; a++) {
        x |= (int)place[a] << base;
        base += bits_below(layout->axis[a].extent);
      }
      t->held[t->elements] |= (uint64_t)1 << x;
      t->owner[x] = t->owner[x] == -1 || t->owner[x] == t->elements ? t->elements : -2;
    }
    t->elements++;
  } while (tesela_index_next(layout->rank, layout->shape, index));
}

/* May input x give output y, if only the first `elements` elements count? Those that are at x must be y, and y must be at x. */
static bool may_be(const table *t, int64_t elements, uint64_t x, uint64_t y) {
  int64_t wanted = y >> t->inside == 0 ? t->element[y] : -1;
  if (wanted >= elements) wanted = -1;
  if (wanted >= 0 && !(t->held[wanted] >> x & 1)) return false;
  if (t->owner[x] >= 0) return t->owner[x] >= elements || t->owner[x] == wanted;
  if (t->owner[x] == -1) return wanted < 0;
  for (int64_t e = 0; e < elements; e++)
    if (t->held[e] >> x & 1 && e != wanted) return false;
  return true;
}

/* Are there bases for the inputs from `bit` on? image has the outputs of the inputs below 2^bit. Outputs have the bits of an index and further
 * ones, of which `used` are in use; which dims those extend does not matter, so the next one is as good as any sum with it. */
static bool search(const table *t, int64_t elements, int bit, int used, uint64_t *image) {
  if (bit == t->n) return true;
  uint64_t last = (uint64_t)1 << (t->inside + used), size = (uint64_t)1 << bit;
  for (uint64_t basis = 0; basis <= last; basis++) { /* `last` is the next further bit */
    bool fits = true;
    for (uint64_t x = 0; x < size && fits; x++) {
      image[x | size] = image[x] ^ basis;
      fits = may_be(t, elements, x | size, image[x | size]);
    }
    if (fits && search(t, elements, bit + 1, used + (basis == last), image)) return true;
  }
  return false;
}

static bool linear_exists(const table *t, int64_t elements) {
  uint64_t image[PLACES] = {0};
  return elements == 0 || (may_be(t, elements, 0, 0) && search(t, elements, 0, 0, image));
}

/* Random digits: tiles, gaps, sums that carry, copies, XOR; up to 64 places on one or two axes. */
static bool draw_layout(tesela_layout *layout) {
  int64_t shape[2], room[2];
  int rank = 1 + (int)draw(2), axes = 1 + (int)draw(2);
  bool powers = draw(4) != 0;
  for (int d = 0; d < rank; d++) shape[d] = powers ? (int64_t)1 << draw(4) : 1 + (int64_t)draw(8);
  if (powers && draw(3) == 0) shape[0] = 1 + (int64_t)draw(8);
  if (tesela_layout_begin(layout, TESELA_F32, 32, rank, shape, NULL) != TESELA_OK) return false;
  int32_t digit[16], n = 0, axis;
  for (int a = 0; a < axes; a++) {
    tesela_layout_add_axis(layout, axes == 1 ? "memory" : a ? "local" : "thread", &axis, NULL);
    room[a] = 1;
  }
  for (int d = 0; d < rank; d++) {
    digit[n++] = d;
    for (int splits = (int)draw(3); splits > 0; splits--) {
      int32_t low;
      if (tesela_layout_split(layout, d, powers || draw(3) ? 2 : 3, &low, NULL) != TESELA_OK) return false;
      digit[n++] = low;
    }
  }
  if (draw(4) == 0 &&
      tesela_layout_add_digit(layout, TESELA_REPLICA, draw(4) ? 2 : 3, &digit[n], NULL) == TESELA_OK)
    n++;
  for (int i = n - 1; i > 0; i--) {
    int with = (int)draw((uint64_t)i + 1);
    int32_t kept = digit[i];
    digit[i] = digit[with];
    digit[with] = kept;
  }
  int64_t bad = (int64_t)draw(5);
  for (int i = 0; i < n; i++) {
    int a = (int)draw((uint64_t)axes);
    int64_t stride = room[a];
    if (bad == 0 && draw(2)) stride = 1 + (int64_t)draw(9);
    if (bad == 1 && draw(4) == 0) stride *= 2;
    if (tesela_layout_place(layout, digit[i], a, stride, NULL) != TESELA_OK) return false;
    room[a] *= layout->digit[digit[i]].extent;
    if (powers)
      while (room[a] & (room[a] - 1)) room[a]++;
  }
  if (bad == 2) tesela_layout_set_axis(layout, 0, 1 + (int64_t)draw(3), -1, NULL);
  if (draw(3) == 0)
    tesela_layout_add_swizzle(layout, (tesela_swizzle){0, 1, (int16_t)draw(2), (int16_t)(1 + draw(2))}, NULL);
  if (tesela_layout_finish(layout, NULL) != TESELA_OK) return false;
  int64_t places = 1;
  int bits = 0;
  for (int a = 0; a < axes; a++) {
    int own = 0;
    places *= layout->axis[a].extent;
    while ((int64_t)1 << own < layout->axis[a].extent) own++;
    bits += own;
  }
  return places <= PLACES && bits <= 6;
}

static void check_impossible(const tesela_layout *layout, const table *t, const tesela_translation *answer) {
  int64_t number = 0, number2 = -1, place[TESELA_MAX_AXES];
  if (answer->contradiction == TESELA_CONTRADICTION_NONE) return;
  assert_int_equal(tesela_index_to_number(layout->rank, layout->shape, NULL, answer->index, &number, NULL),
                   TESELA_OK);
  if (!linear_exists(t, number)) fail_msg("%s: an earlier element contradicts", answer->reason);
  if (linear_exists(t, number + 1)) fail_msg("%s: it does not contradict", answer->reason);
  tesela_layout_place_of(layout, answer->index, place, NULL);
  assert_int_equal(answer->place, place[answer->axis]);
  if (answer->contradiction == TESELA_CONTRADICTION_PLACE) {
    assert_true(answer->place != answer->expected);
  } else if (tesela_index_to_number(layout->rank, layout->shape, NULL, answer->index2, &number2, NULL) ==
             TESELA_OK) {
    assert_true((t->held[number] & t->held[number2]) != 0 && number2 < number);
  }
}

static void verdicts_are_those_of_a_search(void **state) {
  (void)state;
  int count[5] = {0}, kinds[TESELA_CONTRADICTION_ELEMENT + 1] = {0}, tried = 0, wanted = slow_run() ? 1500 : 4000;
  state_ = first_seed() + 1;
  while (tried < wanted) {
    static table t;
    tesela_layout layout, back;
    tesela_linear a;
    tesela_translation answer;
    tesela_difference difference;
    tesela_error err = {.message = ""};
    if (!draw_layout(&layout)) continue;
    tried++;
    fill_table(&layout, &t);
    if (tesela_linear_from_layout(&layout, &a, &answer, &err) != TESELA_OK) fail_msg("%s", err.message);
    bool exists = linear_exists(&t, t.elements);
    if (exists != (answer.verdict != TESELA_IMPOSSIBLE))
      fail_msg("case %d: %s, %s, but a search finds %s", tried, tesela_verdict_name(answer.verdict),
               answer.reason, exists ? "one" : "nothing");
    count[answer.verdict]++;
    if (!exists) {
      kinds[answer.contradiction]++;
      check_impossible(&layout, &t, &answer);
      continue;
    }
    assert_int_equal(tesela_linear_to_layout(&a, TESELA_F32, 32, layout.rank, layout.shape, &back, &err),
                     TESELA_OK);
    assert_int_equal(tesela_layout_compare(&layout, &back, &difference, &err), TESELA_OK);
    if (!difference.same) fail_msg("%s", difference.reason);
    int64_t larger = 0, within = 1;
    for (int d = 0; d < layout.rank; d++) {
      assert_int_equal(answer.shape[d], (int64_t)1 << a.out[d].bits);
      larger += answer.shape[d] != layout.shape[d];
    }
    for (int i = 0; i < layout.n_axes; i++)
      within = within && (int64_t)1 << a.in[i].bits <= layout.axis[i].extent;
    assert_int_equal(answer.verdict, !within  ? TESELA_NEEDS_PADDING
                                     : larger ? TESELA_VALID_PART
                                              : TESELA_EXACT);
  }
  printf("%d exact, %d valid part, %d need padding, %d impossible (%d by place, %d shared)\n", count[1],
         count[2], count[3], count[4], kinds[1], kinds[2]);
  for (int v = 1; v <= 4; v++) assert_true(count[v] > tried / 12);
  assert_true(kinds[1] > tried / 20 && kinds[2] > tried / 40);
}

/* ---- by hand -------------------------------------------------------------------------------------------------- */

static tesela_translation strided(int32_t rank, const int64_t *shape, const int64_t *strides,
                                  tesela_linear *a) {
  tesela_layout layout;
  tesela_translation answer = {.rank = 0};
  tesela_error err = {.message = ""};
  if (tesela_layout_strided(&layout, TESELA_F32, 32, rank, shape, strides, 0, &err) != TESELA_OK ||
      tesela_linear_from_layout(&layout, a, &answer, &err) != TESELA_OK)
    fail_msg("%s", err.message);
  return answer;
}

static void examples_and_sizes(void **state) {
  (void)state;
  tesela_linear a;
  tesela_translation answer = strided(2, (int64_t[]){4, 8}, (int64_t[]){9, 1}, &a);
  assert_int_equal(answer.verdict, TESELA_IMPOSSIBLE); /* 9 + 1 is 10, 9 ^ 1 is 8 */
  assert_int_equal(answer.contradiction, TESELA_CONTRADICTION_PLACE);
  assert_true(answer.index[0] == 1 && answer.index[1] == 1 && answer.place == 10 && answer.expected == 8);

  answer = strided(2, (int64_t[]){2, 3}, NULL, &a); /* index2 is padding */
  assert_int_equal(answer.contradiction, TESELA_CONTRADICTION_ELEMENT);
  assert_true(answer.index[0] == 1 && answer.index[1] == 0 && answer.index2[0] == 0 && answer.index2[1] == 3);

  /* 10^12 elements and more: 2^20 rows at a distance of 2^20 + 1 */
  answer = strided(2, (int64_t[]){1 << 20, 1 << 20}, (int64_t[]){1 << 20, 1}, &a);
  assert_int_equal(answer.verdict, TESELA_EXACT);
  assert_true(a.n_ins == 1 && a.in[0].bits == 40 && strcmp(a.in[0].name, "offset") == 0);
  for (int k = 0; k < 40; k++) assert_true(a.basis[k] == (uint64_t)1 << (k < 20 ? k + 20 : k - 20));
  answer = strided(2, (int64_t[]){1 << 20, 1 << 20}, (int64_t[]){(1 << 20) + 1, 1}, &a);
  assert_true(answer.verdict == TESELA_IMPOSSIBLE && answer.index[0] == 1 && answer.index[1] == 1);
  assert_true(answer.place == (1 << 20) + 2 && answer.expected == 1 << 20);
  answer = strided(2, (int64_t[]){1000000, 1000000}, (int64_t[]){1 << 20, 1}, &a);
  assert_int_equal(answer.verdict, TESELA_NEEDS_PADDING);
  answer = strided(1, (int64_t[]){0}, NULL, &a);
  assert_int_equal(answer.verdict, TESELA_NEEDS_PADDING);
  answer = strided(0, NULL, NULL, &a);
  assert_int_equal(answer.verdict, TESELA_EXACT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(linear_layouts_become_relations),
      cmocka_unit_test(verdicts_are_those_of_a_search),
      cmocka_unit_test(examples_and_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
