/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_index_numpy.c - NumPy expressions and einops patterns against arrays that are moved element by element.
 *
 * A random chain of reshape, transpose, pad, ... is applied to an array of element numbers, and written as text: what is read must
 * have each element at its position in the last array. Texts written for random layouts are run in the same way.
 */
#include "support_recipe.h"
#include "support_seed.h"

enum { DIMS = 12, CELLS = 6000 };

/* An array in row-major order; padding is -1. */
typedef struct array {
  int n;
  int64_t extent[DIMS];
  int64_t cell[CELLS];
} array;

static int64_t cells(const array *a) {
  int64_t n = 1;
  for (int k = 0; k < a->n; k++) n *= a->extent[k];
  return n;
}

static void begin(array *a, int n, const int64_t *extent) {
  a->n = n;
  for (int k = 0; k < n; k++) a->extent[k] = extent[k];
  assert_true(cells(a) <= CELLS);
  for (int64_t i = 0; i < cells(a); i++) a->cell[i] = i;
}

/* Cell x of the new array is the cell of the old one that `from` says, or padding. */
static void remake(array *a, int n, const int64_t *extent,
                   bool (*from)(const array *old, const int64_t *index, const int64_t *data, int64_t *at),
                   const int64_t *data) {
  static array old;
  old = *a;
  a->n = n;
  for (int k = 0; k < n; k++) a->extent[k] = extent[k];
  assert_true(cells(a) <= CELLS);
  for (int64_t i = 0; i < cells(a); i++) {
    int64_t index[DIMS], at[DIMS], left = i, number = 0;
    for (int k = n - 1; k >= 0; k--) {
      index[k] = left % a->extent[k];
      left /= a->extent[k];
    }
    bool inside = from(&old, index, data, at);
    for (int k = 0; k < old.n; k++) number = number * old.extent[k] + at[k];
    a->cell[i] = inside ? old.cell[number] : -1;
  }
}

static bool permuted(const array *old, const int64_t *index, const int64_t *order, int64_t *at) {
  for (int k = 0; k < old->n; k++) at[order[k]] = index[k];
  return true;
}

static void transpose(array *a, const int64_t *order) {
  int64_t extent[DIMS];
  for (int k = 0; k < a->n; k++) extent[k] = a->extent[order[k]];
  remake(a, a->n, extent, permuted, order);
}

static bool padded(const array *old, const int64_t *index, const int64_t *before, int64_t *at) {
  bool inside = true;
  for (int k = 0; k < old->n; k++) {
    at[k] = index[k] - before[k];
    inside = inside && at[k] >= 0 && at[k] < old->extent[k];
  }
  for (int k = 0; k < old->n && !inside; k++) at[k] = 0;
  return inside;
}

static void pad(array *a, const int64_t *before, const int64_t *after) {
  int64_t extent[DIMS];
  for (int k = 0; k < a->n; k++) extent[k] = before[k] + a->extent[k] + after[k];
  remake(a, a->n, extent, padded, before);
}

static bool flipped(const array *old, const int64_t *index, const int64_t *flip, int64_t *at) {
  for (int k = 0; k < old->n; k++) at[k] = flip[k] ? old->extent[k] - 1 - index[k] : index[k];
  return true;
}

static void reshape(array *a, int n, const int64_t *extent) {
  int64_t before = cells(a);
  a->n = n;
  for (int k = 0; k < n; k++) a->extent[k] = extent[k];
  assert_int_equal(cells(a), before);
}

/* ---- read --------------------------------------------------------------------------------------------------- */

static char text_of[1 << 16], *end_of;

static void say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  end_of += vsnprintf(end_of, (size_t)(text_of + sizeof text_of - end_of), format, args);
  va_end(args);
  assert_true(end_of < text_of + sizeof text_of);
}

static void say_list(int n, const int64_t *number) {
  for (int k = 0; k < n; k++) say(k ? ", %" PRId64 : "%" PRId64, number[k]);
}

/* Extents of as many elements, at most 6. */
static int random_shape(int64_t elements, int64_t *extent) {
  int n = 1 + (int)recipe_below(5);
  for (int k = 0; k < n - 1; k++) {
    int64_t divisor = 1 + recipe_below(8);
    while (elements % divisor != 0) divisor--;
    extent[k] = divisor;
    elements /= divisor;
  }
  extent[n - 1] = elements;
  return n;
}

static void random_order(int n, int64_t *order) {
  for (int k = 0; k < n; k++) order[k] = k;
  for (int k = n - 1; k > 0; k--) {
    int64_t i = recipe_below(k + 1), keep = order[k];
    order[k] = order[i];
    order[i] = keep;
  }
}

static void random_method(array *a) {
  int64_t order[DIMS], other[DIMS], flip[DIMS] = {0};
  int n;
  switch (recipe_below(9)) {
  case 0:
  case 1:
    n = random_shape(cells(a), order);
    bool guess = recipe_one_in(3) && cells(a) > 0;
    reshape(a, n, order);
    if (guess) order[recipe_below(n)] = -1;
    say(recipe_one_in(2) ? ".reshape((" : ".reshape([");
    bool square = end_of[-1] == '[';
    say_list(n, order);
    say(square ? "])" : n == 1 ? ",))" : "))");
    break;
  case 2:
  case 3:
    random_order(a->n, order);
    transpose(a, order);
    if (a->n == 0) break;
    say(".transpose(");
    for (int k = 0; k < a->n && recipe_one_in(4); k++) order[k] -= a->n; /* from the end */
    say_list(a->n, order);
    say(")");
    break;
  case 4:
    for (int k = 0; k < a->n; k++) order[k] = a->n - 1 - k;
    transpose(a, order);
    say(recipe_one_in(2) ? ".T" : ".transpose()");
    break;
  case 5:
    if (a->n == 0) break;
    random_order(a->n, order);
    for (int k = 0; k < a->n; k++) other[k] = k;
    other[order[0]] = order[a->n - 1];
    other[order[a->n - 1]] = order[0];
    say(".swapaxes(%" PRId64 ", %" PRId64 ")", order[0], order[a->n - 1]);
    transpose(a, other);
    break;
  case 6:
    if (a->n == 0) break;
    say("[");
    for (int k = 0; k < a->n; k++) {
      flip[k] = recipe_one_in(2);
      say("%s%s", k ? ", " : "", flip[k] ? "::-1" : ":");
    }
    say("]");
    remake(a, a->n, a->extent, flipped, flip);
    break;
  case 7:
    if (a->n + 1 > 6) break;
    n = (int)recipe_below(2);
    say(n ? "[..., None]" : "[None, ...]");
    for (int k = 0; k < a->n; k++) order[k + !n] = a->extent[k];
    order[n ? a->n : 0] = 1;
    reshape(a, a->n + 1, order);
    break;
  default:
    say(recipe_one_in(2) ? ".ravel()" : ".flatten()");
    order[0] = cells(a);
    reshape(a, 1, order);
  }
}

/* np.pad( .. , ((before, after), ..)) around the text so far. */
static void random_pad(array *a) {
  int64_t before[DIMS], after[DIMS], n = 1;
  for (int k = 0; k < a->n; k++) {
    before[k] = recipe_one_in(3) ? recipe_below(3) : 0;
    after[k] = recipe_below(3);
    n *= before[k] + a->extent[k] + after[k];
  }
  if (a->n == 0 || n > CELLS) return;
  memmove(text_of + 7, text_of, (size_t)(end_of - text_of) + 1);
  memcpy(text_of, "np.pad(", 7);
  end_of += 7;
  say(", (");
  for (int k = 0; k < a->n; k++) say("%s(%" PRId64 ", %" PRId64 ")", k ? ", " : "", before[k], after[k]);
  say(a->n == 1 ? ",))" : "))");
  pad(a, before, after);
}

/* Is each element at its cell? The last array has no other places. */
static void check(const tesela_layout *layout, const array *last, int64_t elements) {
  recipe r = {.rank = layout->rank};
  memcpy(r.shape, layout->shape, sizeof r.shape);
  for (int64_t e = 0; e < elements; e++) {
    int64_t index[4], place;
    recipe_index(&r, e, index);
    assert_int_equal(tesela_layout_place_of(layout, index, &place, NULL), TESELA_OK);
    if (place < 0 || place >= cells(last) || last->cell[place] != e)
      fail_msg("element %" PRId64 " at %" PRId64 ": %s", e, place, text_of);
  }
}

static void chains_are_read(void **state) {
  (void)state;
  static array a;
  int64_t read = 0, refused = 0, pads = 0;
  uint64_t n = recipe_seeds() * (slow_run() ? 1 : 5);
  for (uint64_t i = 0; i < n; i++) {
    recipe_seed(first_seed() + i);
    tesela_xla_shape shape = {.rank = (int32_t)recipe_below(4)};
    for (int d = 0; d < shape.rank; d++) shape.dim[d] = 1 + recipe_below(recipe_one_in(3) ? 12 : 5);
    begin(&a, shape.rank, shape.dim);
    int64_t elements = cells(&a);
    end_of = text_of;
    say("x");
    for (int64_t k = 1 + recipe_below(5); k > 0; k--)
      if (recipe_one_in(5))
        random_pad(&a);
      else
        random_method(&a);
    static tesela_any_layout any;
    tesela_error err = {.message = ""};
    const tesela_layout_read_options options = {.notation = "numpy", .array = &shape};
    tesela_status status = tesela_layout_read(text_of, strlen(text_of), &options, &any, &err);
    if (status == TESELA_E_UNSUPPORTED) {
      refused++;
      continue;
    }
    if (status != TESELA_OK) fail_msg("%s at %d: %s", err.message, (int)err.at, text_of);
    read++;
    pads += strstr(text_of, "np.pad") != NULL;
    check(&any.relation, &a, elements);
  }
  printf("%" PRId64 " read (%" PRId64 " with padding), %" PRId64 " refused\n", read, pads, refused);
  assert_true(refused * 20 < read && pads > 0);
}

/* Random groups on both sides: the left one splits the dims, the right one is any order of the names. */
static void patterns_are_read(void **state) {
  (void)state;
  static array a;
  for (uint64_t i = 0; i < recipe_seeds(); i++) {
    recipe_seed(first_seed() + i);
    tesela_xla_shape shape = {.rank = (int32_t)recipe_below(4)};
    int64_t extent[DIMS], order[DIMS];
    int n = 0, unknown[4];
    end_of = text_of;
    for (int d = 0; d < shape.rank; d++) {
      int parts = 1 + (int)recipe_below(d == 2 ? 2 : 3);
      bool group = parts > 1 || recipe_one_in(3);
      shape.dim[d] = 1;
      say(group ? "(" : "");
      unknown[d] = n + (int)recipe_below(parts);
      for (int k = 0; k < parts; k++, n++) {
        extent[n] = 1 + recipe_below(n < 3 ? 4 : 2);
        shape.dim[d] *= extent[n];
        say(k ? " a%d" : "a%d", n);
      }
      say(group ? ") " : " ");
    }
    say("->");
    random_order(n, order);
    bool open = false;
    for (int k = 0; k < n; k++) {
      bool close = open && recipe_one_in(2), opens = !open && recipe_one_in(3);
      say(opens ? " (a%d" : " a%d", (int)order[k]);
      if (close) say(")");
      open = (open || opens) && !close;
    }
    if (open) say(")");
    for (int k = 0; k < n; k++) {
      bool skip = false;
      for (int d = 0; d < shape.rank; d++) skip = skip || (unknown[d] == k && recipe_one_in(2));
      if (!skip) say(recipe_one_in(2) ? " a%d=%d" : ", a%d=%d", k, (int)extent[k]);
    }
    begin(&a, n, extent);
    int64_t elements = cells(&a);
    transpose(&a, order);
    static tesela_any_layout any;
    tesela_error err = {.message = ""};
    const tesela_layout_read_options options = {.notation = "einops", .array = &shape};
    if (tesela_layout_read(text_of, strlen(text_of), &options, &any, &err) != TESELA_OK)
      fail_msg("%s at %d: %s", err.message, (int)err.at, text_of);
    assert_int_equal(any.relation.axis[0].extent, elements);
    check(&any.relation, &a, elements);
  }
}

/* ---- written ------------------------------------------------------------------------------------------------ */

static int64_t number(const char **at) {
  int64_t value = strtoll(*at, (char **)(uintptr_t)at, 10);
  *at += strspn(*at, ", ");
  return value;
}

/* Run what the library writes: pad, reshape, transpose, ravel. */
static void run(array *a, const char *at) {
  int64_t list[DIMS], after[DIMS];
  int n = 0;
  if (strncmp(at, "np.pad(x, (", 11) == 0) {
    for (at += 11; *at == '('; at += strspn(at, "), "), n++) {
      at++;
      list[n] = number(&at);
      after[n] = number(&at);
    }
    assert_int_equal(n, a->n);
    pad(a, list, after);
  } else {
    assert_int_equal(*at++, 'x');
  }
  while (strcmp(at, ".ravel()") != 0) {
    bool order = strncmp(at, ".transpose(", 11) == 0;
    if (!order && strncmp(at, ".reshape(", 9) != 0) fail_msg("%s in %s", at, text_of);
    at += order ? 11 : 9;
    for (n = 0; *at != ')';) {
      assert_true(n < DIMS);
      list[n++] = number(&at);
    }
    at++;
    if (order)
      transpose(a, list);
    else
      reshape(a, n, list);
  }
}

static void layouts_are_written(void **state) {
  (void)state;
  static table t;
  static array a;
  static tesela_any_layout any;
  static const taste *const tastes[] = {&recipe_small, &recipe_plain, &recipe_joined};
  int64_t chains = 0, places = 0, impossible = 0;
  for (int32_t i = 0; tesela_notation_at(i); i++)
    if (strcmp(tesela_notation_at(i)->name, "map") == 0) any.notation = tesela_notation_at(i);
  for (uint64_t i = 0; i < recipe_seeds(); i++) {
    table_draw(&t, first_seed() + i, tastes[i % 3]);
    tesela_buffer buffer = {text_of, sizeof text_of, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    tesela_translation answer;
    any.kind = TESELA_KIND_RELATION;
    any.relation = t.layout;
    OK(&t.r, tesela_translate(&any, "numpy", &to, &answer, &e_)); /* reads it back, as do the tests above */
    text_of[buffer.length] = '\0';
    if (answer.verdict == TESELA_IMPOSSIBLE) {
      impossible++;
      continue;
    }
    AGREE(&t.r, "verdict", answer.verdict, TESELA_EXACT);
    if (text_of[0] == '(') {
      places++;
      continue;
    }
    chains++;
    begin(&a, t.r.rank, t.r.shape);
    run(&a, text_of);
    for (int64_t p = 0; p < cells(&a); p++)
      if (a.cell[p] >= 0) AGREE(&t.r, "place", t.first[a.cell[p]], p);
  }
  printf("%" PRId64 " as chains, %" PRId64 " as places, %" PRId64 " impossible\n", chains, places,
         impossible);
  assert_true(chains * 10 > places && impossible > 0);
}

static void mistakes_are_said_with_their_place(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_status status;
    int at;
    const char *message;
  } rows[] = {
      {"f32[4,4] x.reshape(2, 9)", TESELA_E_MISMATCH, 24, "a shape of 18 elements; the array has 16"},
      {"numpy: f32[4,4] x.transpoze(1, 0)", TESELA_E_SYNTAX, 18,
       "unknown method 'transpoze'; did you mean transpose?"},
      {"numpy: f32[4,4] x.reshape((((2, 8)", TESELA_E_SYNTAX, 28, "expected a number, found '('"},
      {"numpy: f32[4,4] x[1:3]", TESELA_E_UNSUPPORTED, 18, "an index that leaves out elements"},
      {"numpy: f32[4,4] x[1:3, :]", TESELA_E_UNSUPPORTED, 18, "an index that leaves out elements"},
      {"f32[4,4] x.transpose(0, 0)", TESELA_E_INVALID, 26, "expected each dim once"},
      {"f32[4,4] x.transpose(0, 5)", TESELA_E_RANGE, 26, "dim 5; the array has 2 here"},
      {"f32[4,4] x.T.y", TESELA_E_SYNTAX, 13, "unknown method 'y'"},
      {"f32[4,4] (lambda i, j: i)(*np.indices((4, 5)))", TESELA_E_MISMATCH, 46,
       "another shape than the array's"},
      {"f32[4,6] h w -> w", TESELA_E_UNSUPPORTED, 9, "a name of the left side alone"},
      {"f32[4,6] h w -> w h c", TESELA_E_INVALID, 20, "the length of 'c' is not given"},
      {"f32[4,6] (a b) w -> a b w", TESELA_E_INVALID, 12, "the length of 'b' is not given"},
      {"f32[4,6] (a b) w -> a b w b=3", TESELA_E_MISMATCH, 29,
       "the lengths of dim 0 are 3 together; its extent is 4"},
      {"f32[4,6] h -> h", TESELA_E_MISMATCH, 13, "1 dims; the array has 2"},
      {"f32[4,6] h h -> h", TESELA_E_INVALID, 11, "the name 'h' is used twice"},
      {"f32[4,6] ... w -> w ...", TESELA_E_UNSUPPORTED, 9, "'...'"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    static tesela_any_layout any;
    tesela_error err = {.message = "", .at = -7};
    tesela_status status = tesela_layout_read(rows[i].text, strlen(rows[i].text), NULL, &any, &err);
    if (status != rows[i].status || err.at != rows[i].at || !strstr(err.message, rows[i].message))
      fail_msg("%s: status %d at %d: %s", rows[i].text, status, (int)err.at, err.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chains_are_read), cmocka_unit_test(patterns_are_read),
                                     cmocka_unit_test(layouts_are_written),
                                     cmocka_unit_test(mistakes_are_said_with_their_place)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
