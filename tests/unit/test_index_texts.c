/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_index_texts.c - layouts as index expressions of other languages, and back.
 *
 * The oracle is a small evaluator of expressions, written here. Random layouts are written and each text is evaluated at
 * every element; random texts are read and the layout must have the places that the evaluator says, or be refused.
 */
#include "support_recipe.h"
#include "support_seed.h"

enum { TEXT = 1 << 18, RESULTS = 64 };

static char text_of[TEXT];

/* ---- the evaluator ------------------------------------------------------------------------------------------ */

typedef struct eval {
  const char *at;
  int n; /* names */
  char name[8][12];
  int64_t value[8];
} eval;

static void blanks(eval *e) {
  while (*e->at == ' ' || *e->at == '\n') e->at++;
}

static bool takes(eval *e, const char *token) {
  blanks(e);
  size_t n = strlen(token);
  if (strncmp(e->at, token, n) != 0) return false;
  e->at += n;
  return true;
}

static void must(eval *e, const char *token) {
  if (!takes(e, token)) fail_msg("no %s at %.40s in %s", token, e->at, text_of);
}

static int64_t expression(eval *e, int level);

static int64_t operand(eval *e) {
  int64_t value;
  if (takes(e, "-")) return -operand(e);
  if (takes(e, "(")) {
    value = expression(e, 0);
    must(e, ")");
    return value;
  }
  if (takes(e, "T.int64(")) {
    value = operand(e);
    must(e, ")");
    return value;
  }
  blanks(e);
  if (*e->at >= '0' && *e->at <= '9') return strtoll(e->at, (char **)(uintptr_t)&e->at, 10);
  size_t n = strspn(e->at, "abcdefghijklmnopqrstuvwxyz0123456789");
  for (int i = 0; i < e->n; i++)
    if (strlen(e->name[i]) == n && strncmp(e->name[i], e->at, n) == 0) {
      e->at += n;
      return e->value[i];
    }
  fail_msg("no name at %.40s in %s", e->at, text_of);
  return 0;
}

static int64_t floor_of(int64_t a, int64_t b) {
  if (b <= 0) fail_msg("a division by %" PRId64 " in %s", b, text_of);
  return a / b - (a % b < 0);
}

/* Levels as in Python: ^, &, shifts, sums, products. */
static int64_t expression(eval *e, int level) {
  if (level == 5) return operand(e);
  int64_t a = expression(e, level + 1);
  for (;;) {
    if (level == 0 && takes(e, "^"))
      a ^= expression(e, 1);
    else if (level == 1 && takes(e, "&"))
      a &= expression(e, 2);
    else if (level == 2 && takes(e, "<<"))
      a *= (int64_t)1 << expression(e, 3);
    else if (level == 2 && takes(e, ">>"))
      a = floor_of(a, (int64_t)1 << expression(e, 3));
    else if (level == 3 && takes(e, "+"))
      a += expression(e, 4);
    else if (level == 3 && takes(e, "-"))
      a -= expression(e, 4);
    else if (level == 4 && (takes(e, "//") || takes(e, "floordiv")))
      a = floor_of(a, operand(e));
    else if (level == 4 && takes(e, "ceildiv"))
      a = -floor_of(-a, operand(e));
    else if (level == 4 && (takes(e, "%") || takes(e, "mod"))) {
      int64_t b = operand(e);
      a -= floor_of(a, b) * b;
    } else if (level == 4 && takes(e, "*"))
      a *= operand(e);
    else
      return a;
  }
}

/* The results of a text at an index, and the numbers of those that begin an axis. */
static int results_at(const char *text, int rank, const int64_t *index, int64_t *result, int *begins,
                      int *n_begins) {
  eval e = {.at = text};
  bool affine = takes(&e, "affine_map<("), closed;
  if (!affine) must(&e, "lambda");
  for (int d = 0; d < rank; d++) {
    if (d > 0) must(&e, ",");
    blanks(&e);
    size_t n = strspn(e.at, "abcdefghijklmnopqrstuvwxyz0123456789");
    memcpy(e.name[d], e.at, n);
    e.at += n;
    e.value[d] = index[d];
  }
  e.n = rank;
  must(&e, affine ? ")" : ":");
  if (affine) must(&e, "->");
  int n = 0;
  *n_begins = 0;
  const char *close = affine ? ")" : "]";
  bool list = takes(&e, affine ? "(" : "[");
  for (closed = list && takes(&e, close); !closed;) {
    if (list && takes(&e, "IndexMap.AXIS_SEPARATOR"))
      begins[(*n_begins)++] = n;
    else
      result[n++] = expression(&e, 0);
    assert_true(n < RESULTS);
    closed = !list || !takes(&e, ",");
  }
  if (list && n > 0) must(&e, close);
  if (affine) must(&e, ">");
  blanks(&e);
  if (*e.at) fail_msg("%s after the text %s", e.at, text);
  return n;
}

/* ---- written ------------------------------------------------------------------------------------------------ */

static const tesela_notation *notation_of(const char *name) {
  const tesela_notation *notation;
  for (int32_t i = 0; (notation = tesela_notation_at(i)) != NULL; i++)
    if (strcmp(notation->name, name) == 0) return notation;
  fail_msg("no notation %s", name);
  return NULL;
}

static tesela_any_layout any_of(const tesela_layout *layout) {
  static tesela_any_layout any;
  any.kind = TESELA_KIND_RELATION;
  any.notation = notation_of("map");
  any.relation = *layout;
  return any;
}

static tesela_status write_as(const tesela_layout *layout, const char *notation, tesela_translation *answer,
                              tesela_error *err) {
  tesela_any_layout any = any_of(layout);
  tesela_buffer buffer = {text_of, sizeof text_of, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_status status = tesela_translate(&any, notation, &to, answer, err);
  if (buffer.length >= sizeof text_of) fail_msg("a text of %zu bytes", buffer.length);
  text_of[buffer.length] = '\0';
  return status;
}

/* The places of all elements by the evaluator are those of the table. */
static void check_written(const table *t, const tesela_translation *answer, const char *notation) {
  static int64_t result[MOST_ROWS][RESULTS];
  int64_t index[4], extent[RESULTS] = {0};
  int n = 0, begins[RESULTS], n_begins = 0, n_axes = t->r.n_axes;
  for (int64_t e = 0; e < t->n_elements; e++) {
    recipe_index(&t->r, e, index);
    n = results_at(text_of, t->r.rank, index, result[e], begins, &n_begins);
    for (int k = 0; k < n; k++)
      if (result[e][k] >= extent[k]) extent[k] = result[e][k] + 1;
  }
  for (int64_t e = 0; e < t->n_elements; e++) {
    int64_t place[MOST_AXES] = {0};
    for (int k = 0; k < n; k++) {
      int a = n_axes > 1 ? k : 0;
      place[a] = place[a] * (n_axes > 1 ? 1 : extent[k]) + result[e][k];
    }
    if (n_axes > 1 && n != n_axes) fail_msg("%d results: %s%s", n, text_of, recipe_text(&t->r));
    if (table_key(n_axes, place) != t->first[e]) {
      recipe_index(&t->r, e, index);
      fail_msg("%s: element %" PRId64 ": %s%s", notation, e, text_of, recipe_text(&t->r));
    }
  }
  assert_true((n_axes == 1) == (answer->as[0] == '\0'));
}

static void check_read_back(const table *t, const tesela_translation *answer, const char *notation) {
  static tesela_any_layout any;
  tesela_xla_shape array = {.dtype = t->layout.dtype, .rank = t->r.rank};
  tesela_error err = {.message = ""};
  for (int d = 0; d < t->r.rank; d++) array.dim[d] = t->r.shape[d];
  tesela_layout_read_options options = {
      .notation = notation, .array = &array, .as = answer->as[0] ? answer->as : NULL};
  if (tesela_layout_read(text_of, strlen(text_of), &options, &any, &err) != TESELA_OK)
    fail_msg("%s at %d: %s", err.message, (int)err.at, text_of);
  for (int64_t e = 0; e < t->n_elements; e++) {
    int64_t index[4], place[TESELA_MAX_AXES] = {0};
    recipe_index(&t->r, e, index);
    OK(&t->r, tesela_layout_place_of(&any.relation, index, place, &e_));
    if (table_key(t->r.n_axes, place) != t->first[e])
      fail_msg("read back: %s%s", text_of, recipe_text(&t->r));
  }
}

static void written_texts_give_the_places(void **state) {
  (void)state;
  static table t;
  static const taste *const tastes[] = {&recipe_small, &recipe_plain, &recipe_joined};
  static const char *const notations[] = {"affine_map", "index_map"};
  int64_t exact = 0, impossible = 0, limits = 0, several = 0, flips = 0;
  uint64_t seeds = recipe_seeds() / (slow_run() ? 10 : 1);
  for (uint64_t i = 0; i < seeds; i++) {
    table_draw(&t, first_seed() + i, tastes[i % 3]);
    for (int k = 0; k < 2; k++) {
      tesela_translation answer;
      tesela_error err = {.message = ""};
      tesela_status status = write_as(&t.layout, notations[k], &answer, &err);
      bool copies = false;
      for (int64_t e = 0; e < t.n_elements; e++) copies = copies || t.n_keys[e] > 1;
      if (status == TESELA_E_LIMIT) {
        limits++;
        continue;
      }
      if (status != TESELA_OK) {
        tesela_any_layout any = any_of(&t.layout);
        tesela_buffer buffer = {text_of, sizeof text_of, 0};
        tesela_writer to = tesela_buffer_writer(&buffer);
        any.notation = notation_of(notations[k]);
        (void)tesela_any_print(&any, &to, NULL);
        fail_msg("%s: %s: %s%s", notations[k], err.message, text_of, recipe_text(&t.r));
      }
      AGREE(&t.r, "verdict", answer.verdict, copies ? TESELA_IMPOSSIBLE : TESELA_EXACT);
      if (copies) {
        AGREE(&t.r, "contradiction", answer.contradiction, TESELA_CONTRADICTION_PLACE);
        assert_true(answer.place != answer.expected);
        impossible++;
        continue;
      }
      check_written(&t, &answer, notations[k]);
      check_read_back(&t, &answer, notations[k]);
      exact++;
      several += t.r.n_axes > 1;
      flips += t.swizzled;
    }
  }
  printf("%" PRId64 " exact (%" PRId64 " of several axes, %" PRId64 " with XOR), %" PRId64
         " impossible, %" PRId64 " too long\n",
         exact, several, flips, impossible, limits);
  assert_true(impossible * 10 > exact && exact > impossible && several > 0 && flips > 0 &&
              limits * 100 <= exact);
}

/* ---- read --------------------------------------------------------------------------------------------------- */

typedef struct writing {
  char *at, *end;
  int rank;
} writing;

static void say(writing *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(w->at, (size_t)(w->end - w->at), format, args);
  va_end(args);
  assert_true(n >= 0 && n < w->end - w->at);
  w->at += n;
}

/* A random expression over d0 .. in Python's spelling. */
static void random_expression(writing *w, int depth) {
  static const char *const powers[] = {"1", "2", "4", "8", "16"};
  int64_t choice = depth == 0 ? recipe_below(2) : recipe_below(12);
  if (choice < 2 && (choice == 1 || depth > 0 || recipe_one_in(3))) {
    if (w->rank > 0 && choice == 1)
      say(w, "d%d", (int)recipe_below(w->rank));
    else
      say(w, "%d", (int)recipe_below(9));
    return;
  }
  if (choice < 2) {
    if (w->rank > 0)
      say(w, "d%d", (int)recipe_below(w->rank));
    else
      say(w, "3");
    return;
  }
  bool inside = !recipe_one_in(4);
  if (inside) say(w, "(");
  if (choice >= 10 && recipe_one_in(2)) say(w, "-");
  random_expression(w, depth - 1);
  switch (choice) {
  case 2:
  case 3:
    say(w, " // %d", 1 + (int)recipe_below(9));
    break;
  case 4:
    say(w, " %% %d", 1 + (int)recipe_below(9));
    break;
  case 5:
    say(w, " * %d", (int)recipe_below(9));
    break;
  case 6:
    say(w, recipe_one_in(2) ? " & 3" : " >> 1");
    break;
  case 7:
    say(w, " ^ ");
    random_expression(w, depth - 1);
    break;
  case 8:
    say(w, " * %s", powers[recipe_below(5)]);
    break;
  case 9:
    say(w, " - ");
    random_expression(w, depth - 1);
    break;
  default:
    say(w, " + ");
    random_expression(w, depth - 1);
  }
  if (inside) say(w, ")");
}

/* What is read has the places that the evaluator says. */
static void read_texts_give_the_places(void **state) {
  (void)state;
  int64_t read = 0, refused = 0, negative = 0, xors = 0;
  uint64_t n = recipe_seeds() * (slow_run() ? 2 : 15);
  for (uint64_t i = 0; i < n; i++) {
    recipe_seed(first_seed() + i);
    writing w = {text_of, text_of + sizeof text_of, (int)recipe_below(4)};
    tesela_xla_shape array = {.rank = w.rank};
    int64_t elements = 1;
    for (int d = 0; d < w.rank; d++) elements *= array.dim[d] = 1 + recipe_below(recipe_one_in(2) ? 4 : 17);
    say(&w, "lambda ");
    for (int d = 0; d < w.rank; d++) say(&w, d ? ", d%d" : "d%d", d);
    say(&w, ": ");
    random_expression(&w, 1 + (int)recipe_below(4));
    static tesela_any_layout any;
    tesela_error err = {.message = ""};
    const tesela_layout_read_options options = {.notation = "index_map", .array = &array};
    tesela_status status = tesela_layout_read(text_of, strlen(text_of), &options, &any, &err);
    if (status == TESELA_E_RANGE) negative++;
    if (status != TESELA_OK && status != TESELA_E_UNSUPPORTED && status != TESELA_E_RANGE &&
        status != TESELA_E_LIMIT)
      fail_msg("%s: %s", err.message, text_of);
    refused += status == TESELA_E_UNSUPPORTED || status == TESELA_E_LIMIT;
    if (status != TESELA_OK) continue;
    read++;
    xors += strchr(text_of, '^') != NULL;
    recipe r = {.rank = w.rank};
    memcpy(r.shape, array.dim, sizeof r.shape);
    for (int64_t e = 0; e < elements; e++) {
      int64_t index[4], place, result[RESULTS];
      int begins[RESULTS], n_begins;
      recipe_index(&r, e, index);
      (void)results_at(text_of, w.rank, index, result, begins, &n_begins);
      assert_int_equal(tesela_layout_place_of(&any.relation, index, &place, NULL), TESELA_OK);
      if (place != result[0])
        fail_msg("element %" PRId64 " at %" PRId64 ", not %" PRId64 ": %s", e, place, result[0], text_of);
    }
  }
  printf("%" PRId64 " read (%" PRId64 " with XOR), %" PRId64 " refused, %" PRId64 " maybe below 0\n", read,
         xors, refused, negative);
  assert_true(read * 10 > (int64_t)n && xors > 0);
}

/* ---- examples ----------------------------------------------------------------------------------------------- */

typedef struct example {
  const char *text;
  int64_t index[4], place;
} example;

static void examples_have_their_places(void **state) {
  (void)state;
  static const example rows[] = {
      /* 25 blocks of columns are 2 of 128; (9,130): block 1*2+1, in it row 1, column 2 */
      {"f32[20,200] affine_map<(d0, d1) -> (d0 floordiv 8, d1 floordiv 128, d0 mod 8, d1 mod 128)>",
       {9, 130},
       ((1 * 2 + 1) * 8 + 1) * 128 + 2},
      {"f32[3,5] #map = affine_map<(row, col) -> (row * 8 + col + 4)>", {2, 3}, 23},
      {"f32[3,5] affine_map<(row, col) -> (row ceildiv 2, col)>", {1, 3}, 8},
      {"f32[2,32,3,5] lambda n, c, h, w: (n, c // 16, h, w, c % 16)",
       {1, 17, 2, 4},
       (((1 * 2 + 1) * 3 + 2) * 5 + 4) * 16 + 1},
      {"f32[6,8] T.index_map(lambda i, j: (i // T.int64(2), j, i % T.int64(2)))", {3, 5}, 1 * 16 + 5 * 2 + 1},
      {"f32[6,8] tvm.tir.IndexMap.from_func(lambda i, j: [j, i], ndim=2, index_dtype=\"int32\")", {3, 5}, 33},
      {"f16[8,64] lambda i, j: 64*i + (j ^ ((i & 7) << 3))", {3, 17}, 192 + (17 ^ 24)},
      {"f16[8,64] lambda i, j: (64*i + j) ^ ((64*i + j) // 64 % 8 * 8)", {3, 17}, 192 + (17 ^ 24)},
      {"f16[40,40] lambda i, j: (40*i + j) ^ ((40*i + j) // 64 % 8 * 8)", {39, 38}, 1598 ^ 1598 / 64 % 8 * 8},
      {"[9] lambda i: (i + 3) // 4 * 100 + (i + 3) % 4", {6}, 201},
      {"[9] lambda i: (i - 3) // 4 * 100 + 100 + (i - 3) % 4", {1}, 2},
      /* remainders by 16 are an extent of 16, though there are 3 channels */
      {"f32[2,3,4] lambda n, c, w: (n, c // 16, w, c % 16)", {1, 2, 3}, (1 * 4 + 3) * 16 + 2},
      {"f32[3] affine_map<(d0) -> (d0 mod 16, d0 floordiv 16)>", {2}, 2},
      {"f32[3,5] affine_map<(d0, d1) -> (d1, d0 mod 4 * 2 + 1, 0)>", {2, 4}, 4 * 8 + 5},
      {"[] lambda : ()", {0}, 0},
      {"[7] lambda i: ()", {0}, 0},
      {"[7] affine_map<(d0) -> (7)>", {0}, 7},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    static tesela_any_layout any;
    tesela_error err = {.message = ""};
    int64_t place = -1;
    if (tesela_layout_read(rows[i].text, strlen(rows[i].text), NULL, &any, &err) != TESELA_OK)
      fail_msg("%s: %s", rows[i].text, err.message);
    assert_string_equal(any.relation.axis[0].name, "memory");
    assert_int_equal(tesela_layout_place_of(&any.relation, rows[i].index, &place, NULL), TESELA_OK);
    if (place != rows[i].place) fail_msg("%s: %" PRId64 ", not %" PRId64, rows[i].text, place, rows[i].place);
  }
}

static void texts_are_written_plainly(void **state) {
  (void)state;
  static const char *const rows[][3] = {
      {"f32[3,5]{1,0:T(2,2)}", "affine_map",
       "affine_map<(d0, d1) -> (d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2)>"},
      {"f32[3,5]{1,0:T(2,2)}", "index_map", "lambda d0, d1: [d0 // 2, d1 // 2, d0 % 2, d1 % 2]"},
      {"f32[3,5]{0,1}", "index_map", "lambda d0, d1: [d1, d0]"},
      {"map(d0:3, d1:5) -> memory[24]: 8*d0 + d1 + 2", "affine_map",
       "affine_map<(d0, d1) -> (d0 * 8 + d1 + 2)>"},
      {"map(d0:5) -> memory[5]: 4 - d0", "index_map", "lambda d0: [4 - d0]"},
      {"map(d0:8, d1:64) -> memory[512]: 64*d0 + d1; memory ^= 8*(memory/64%8)", "index_map",
       "lambda d0, d1: [(64 * d0 + d1) ^ 8 * d0]"},
      {"map(d0:2, d1:2) -> memory[4]: 2*d0 + d1; memory ^= memory/2%2", "affine_map",
       "affine_map<(d0, d1) -> ((d1 + d0) mod 2 + d0 * 2)>"},
      {"local(2).spatial(4)", "index_map", "lambda d0: [d0 % 4, IndexMap.AXIS_SEPARATOR, d0 // 4]"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    static tesela_any_layout any;
    static tesela_layout layout;
    tesela_translation answer;
    tesela_error err = {.message = ""};
    if (tesela_layout_read(rows[i][0], strlen(rows[i][0]), NULL, &any, &err) != TESELA_OK ||
        tesela_any_to_layout(&any, &layout, &err) != TESELA_OK ||
        write_as(&layout, rows[i][1], &answer, &err) != TESELA_OK)
      fail_msg("%s: %s", rows[i][0], err.message);
    assert_string_equal(text_of, rows[i][2]);
  }
}

static void mistakes_are_said_with_their_place(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_status status;
    int at;
    const char *message;
  } rows[] = {
      {"f32[9] affine_map<(d0)[s0] -> (d0 + s0)>", TESELA_E_UNSUPPORTED, 23, "symbols"},
      {"f32[9] affine_map<(d0, d1) -> (d0)>", TESELA_E_MISMATCH, 22, "more dims than the array, which has 1"},
      {"f32[9,9] affine_map<(d0) -> (d0)>", TESELA_E_MISMATCH, 24, "1 dims; the array has 2"},
      {"f32[9] affine_map<(d0) -> (d1)>", TESELA_E_INVALID, 27,
       "unknown name 'd1'; expected a dim declared before"},
      {"f32[9] affine_map<(d0) -> (d0 floordiv 0)>", TESELA_E_RANGE, 39, "a divisor is 0; expected 1 to"},
      {"f32[9] affine_map<(d0) -> (d0 * d0)>", TESELA_E_UNSUPPORTED, 30, "a product of two names"},
      {"f32[9] affine_map<(d0) -> (d0)", TESELA_E_SYNTAX, 30, "expected '>' after the results"},
      {"f32[9] affine_map<(d0) -> (d0 - 1)>", TESELA_E_RANGE, 27, "may be -1; expected 0 or more"},
      {"f32[9] lambda i: i + j", TESELA_E_INVALID, 21, "unknown name 'j'"},
      {"f32[9] lambda i: i / 2", TESELA_E_SYNTAX, 19, "expected an operator or the end, found '/'"},
      {"f32[9] lambda i, j: i", TESELA_E_MISMATCH, 16, "more names than the array has dims, 1"},
      {"f32[9] T.index_map(lambda i: i, inverse_index_map=lambda i: i)", TESELA_E_UNSUPPORTED, 32,
       "an argument after"},
      {"f32[9] lambda i: (i // 2", TESELA_E_SYNTAX, 24, "expected an operator or ')'"},
      {"f32[9] lambda i: i ^ 1", TESELA_E_UNSUPPORTED, 21, "XOR with a number"},
      {"f32[9,9] lambda i, j: i ^ j", TESELA_E_UNSUPPORTED, -9,
       "XOR of bits that the place does not determine"},
      {"lambda i: i", TESELA_E_UNSUPPORTED, 0, "needs type and dims before it"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    static tesela_any_layout any;
    tesela_error err = {.message = "", .at = -7};
    tesela_status status = tesela_layout_read(rows[i].text, strlen(rows[i].text), NULL, &any, &err);
    if (status != rows[i].status || (rows[i].at != -9 && err.at != rows[i].at) ||
        !strstr(err.message, rows[i].message))
      fail_msg("%s: status %d at %d: %s", rows[i].text, status, (int)err.at, err.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(written_texts_give_the_places), cmocka_unit_test(read_texts_give_the_places),
      cmocka_unit_test(examples_have_their_places), cmocka_unit_test(texts_are_written_plainly),
      cmocka_unit_test(mistakes_are_said_with_their_place)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
