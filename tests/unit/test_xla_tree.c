/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_tree.c - texts with tuples: nodes, printing, refusals, depth, sizes, copies, memory that runs out.
 */
#include "support_fault.h"
#include "support_xla.h"

enum { LONG = 4096 };

/* ---- helpers ---- */

static tesela_status create(tesela_xla_tree **tree, const char *text, size_t length, int32_t flags,
                            tesela_xla_repairs *repairs, tesela_error *err) {
  char *copy = malloc(length ? length : 1);
  assert_non_null(copy);
  memcpy(copy, text, length);
  tesela_status status = tesela_xla_tree_create(tree, copy, length, flags, NULL, repairs, err);
  free(copy);
  return status;
}

static tesela_xla_tree *tree_of(const char *text) {
  tesela_xla_tree *tree = NULL;
  tesela_error err = {.message = ""};
  if (create(&tree, text, strlen(text), 0, NULL, &err) != TESELA_OK) fail_msg("%s: %s", text, err.message);
  return tree;
}

static void print(const tesela_xla_tree *tree, bool with_layout, char text[LONG]) {
  tesela_buffer buffer = {text, LONG, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  OK(tesela_xla_tree_print(tree, with_layout, &to, &e_));
  assert_true(buffer.length < LONG);
}

static void same(const char *name, const char *got, const char *want) {
  if (strcmp(got, want) != 0) fail_msg("%s: '%s', not '%s'", name, got, want);
}

/* ---- reading and printing ---- */

static const struct {
  const char *text, *printed, *without_layout;
} printed_rows[] = {
    /* vector rows */
    {"(f32[2], (s32[], pred[3]))", "(f32[2]{0}, (s32[], pred[3]{0}))", "(f32[2], (s32[], pred[3]))"},
    {"(f32[],f32[],f32[],f32[],f32[],f32[])", "(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])",
     "(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])"},
    /* others */
    {"f32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0:T(2,2)}", "f32[3,5]"},
    {"()", "()", "()"},
    {" ( ( ) , ( ) ) ", "((), ())", "((), ())"},
    {"(((f32[2])))", "(((f32[2]{0})))", "(((f32[2])))"},
    {"(token[],opaque[],b(f32[2]{0:T(2)}))", "(token[], opaque[], b(f32[2]{0:T(2)}))",
     "(token[], opaque[], b(f32[2]))"},
    {"(f32[] /*index=1*/, // rest\n f32[])", "(f32[], f32[])", "(f32[], f32[])"},
    {"(s8[],s8[],s8[],s8[],s8[],(),s8[],s8[],s8[],s8[],(s8[],s8[],s8[],s8[],s8[],u8[]),s8[])",
     "(s8[], s8[], s8[], s8[], s8[], /*index=5*/(), s8[], s8[], s8[], s8[], "
     "/*index=10*/(s8[], s8[], s8[], s8[], s8[], /*index=5*/u8[]), s8[])",
     "(s8[], s8[], s8[], s8[], s8[], /*index=5*/(), s8[], s8[], s8[], s8[], "
     "/*index=10*/(s8[], s8[], s8[], s8[], s8[], /*index=5*/u8[]), s8[])"},
};

static void tuples_are_read_and_printed(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof printed_rows / sizeof printed_rows[0]; i++) {
    char text[LONG], again[LONG];
    tesela_xla_tree *tree = tree_of(printed_rows[i].text);
    print(tree, true, text);
    same(printed_rows[i].text, text, printed_rows[i].printed);
    print(tree, false, again);
    same(printed_rows[i].text, again, printed_rows[i].without_layout);
    tesela_xla_tree_destroy(tree);
    tree = tree_of(text);
    print(tree, true, again);
    same(text, again, text);
    tesela_xla_tree_destroy(tree);
  }
}

static void nodes_stand_in_reading_order(void **state) {
  (void)state;
  static const struct {
    tesela_xla_kind kind;
    int32_t parent, next, n_members;
    tesela_dtype dtype;
  } rows[] = {
      {TESELA_XLA_TUPLE, -1, 7, 3, TESELA_DTYPE_NONE}, {TESELA_XLA_ARRAY, 0, 2, 0, TESELA_F32},
      {TESELA_XLA_TUPLE, 0, 6, 3, TESELA_DTYPE_NONE},  {TESELA_XLA_BUFFER, 2, 4, 0, TESELA_S32},
      {TESELA_XLA_TUPLE, 2, 5, 0, TESELA_DTYPE_NONE},  {TESELA_XLA_TOKEN, 2, 6, 0, TESELA_TOKEN},
      {TESELA_XLA_OPAQUE, 0, 7, 0, TESELA_OPAQUE},
  };
  tesela_xla_tree *tree = tree_of("(f32[2], (b(s32[]), (), token[]), opaque[])");
  assert_int_equal(tesela_xla_tree_count(tree), 7);
  for (int32_t i = 0; i < 7; i++) {
    tesela_xla_node node = tesela_xla_tree_node(tree, i);
    AGREE("node", node.kind, rows[i].kind);
    AGREE("node", node.parent, rows[i].parent);
    AGREE("node", node.next, rows[i].next);
    AGREE("node", node.n_members, rows[i].n_members);
    AGREE("node", node.shape != NULL, rows[i].kind != TESELA_XLA_TUPLE);
    if (node.shape) AGREE("node", node.shape->dtype, rows[i].dtype);
  }
  tesela_xla_tree_destroy(tree);
  tesela_xla_tree_destroy(NULL);
}

static void flags_and_repairs_reach_the_leaves(void **state) {
  (void)state;
  static const char text[] = "(F32[2], (f32[3,5]{1,0:T(2,2}, bf16[4],), )";
  tesela_xla_repairs repairs;
  tesela_xla_tree *tree;
  char printed[LONG];
  OK(create(&tree, text, strlen(text), TESELA_XLA_LENIENT | TESELA_XLA_KEEP_BARE, &repairs, &e_));
  print(tree, true, printed);
  same(text, printed, "(f32[2], (f32[3,5]{1,0:T(2,2)}, bf16[4]))");
  assert_int_equal(repairs.count, 4);
  assert_int_equal(repairs.repair[0].at, 1);
  assert_int_equal(repairs.repair[1].at, 28);
  assert_int_equal(repairs.repair[2].at, 38);
  assert_int_equal(repairs.repair[3].at, 40);
  tesela_xla_tree_destroy(tree);
}

/* ---- refusing ---- */

static const struct {
  const char *text;
  tesela_status status;
  int64_t at;
  const char *fragment;
} refused_rows[] = {
    {"", TESELA_E_SYNTAX, 0, "the end of the text"},
    {"(", TESELA_E_SYNTAX, 1, "the end of the text"},
    {"(f32[2]", TESELA_E_SYNTAX, 7, "expected ',' or ')'"},
    {"(f32[2],)", TESELA_E_SYNTAX, 8, "an element type"},
    {"(,f32[2])", TESELA_E_SYNTAX, 1, "','"},
    {"(f32[2] f32[3])", TESELA_E_SYNTAX, 8, "'f32'"},
    {"(f32[2]))", TESELA_E_SYNTAX, 8, "')'"},
    {"(){0}", TESELA_E_SYNTAX, 2, "'{'"},
    {"(f32[2], f32[3,5]{0,0})", TESELA_E_INVALID, 20, "twice"},
    {"((((f32[2]{0:S(300)}))))", TESELA_E_RANGE, 15, "S(300)"},
    {"(f32[2]{}, f32[2])", TESELA_E_SYNTAX, 7, "'{'"},
    {"f32[2], f32[3]", TESELA_E_SYNTAX, 6, "','"},
    {"(f32[2]}", TESELA_E_SYNTAX, 7, "'}'"},
    {"b((f32[2]))", TESELA_E_INVALID, 2, "a single array"},
};

static void wrong_tuples_are_refused_with_their_byte(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused_rows / sizeof refused_rows[0]; i++) {
    const char *text = refused_rows[i].text;
    tesela_xla_tree *tree = NULL;
    tesela_error err = {.message = ""};
    tesela_status status = create(&tree, text, strlen(text), 0, NULL, &err);
    if (status != refused_rows[i].status || err.at != refused_rows[i].at ||
        !strstr(err.message, refused_rows[i].fragment) || tree)
      fail_msg("%s: %s at %" PRId64 ": %s", text, tesela_status_code(status), err.at, err.message);
  }
}

static void tuples_nest_as_deep_as_the_limit(void **state) {
  (void)state;
  enum { MOST = TESELA_XLA_MAX_DEPTH };
  char *text = malloc(2 * (MOST + 1) + 5);
  assert_non_null(text);
  for (size_t depth = MOST; depth <= MOST + 1; depth++) {
    tesela_xla_tree *tree = NULL;
    tesela_error err = {.message = ""};
    memset(text, '(', depth);
    memcpy(text + depth, "f32[]", 5);
    memset(text + depth + 5, ')', depth);
    tesela_status status = create(&tree, text, 2 * depth + 5, 0, NULL, &err);
    AGREE("status", status, depth == MOST ? TESELA_OK : TESELA_E_LIMIT);
    if (status == TESELA_OK) {
      char *printed = malloc(2 * depth + 6);
      assert_non_null(printed);
      tesela_buffer buffer = {printed, 2 * depth + 6, 0};
      tesela_writer to = tesela_buffer_writer(&buffer);
      OK(tesela_xla_tree_print(tree, true, &to, &e_));
      assert_int_equal(buffer.length, 2 * depth + 5);
      assert_memory_equal(printed, text, buffer.length);
      free(printed);
    } else {
      AGREE("byte of the first parenthesis too many", err.at, MOST);
      assert_non_null(strstr(err.message, "8192"));
    }
    tesela_xla_tree_destroy(tree);
  }
  free(text);
}

static void tuples_cut_anywhere_are_answered(void **state) {
  (void)state;
  static const char text[] =
      "/*a*/(f32[2]{0:T(2)}, ((), (b(s4[3,?]{0,1:T(8,*,128)E(4)SC(1:1)}) // b\n, token[])), opaque[])";
  for (size_t length = 0; length < sizeof text - 1; length++)
    for (int32_t flags = 0; flags < 4; flags++) {
      tesela_xla_tree *tree = NULL;
      tesela_error err = {.at = -7, .message = ""};
      tesela_status status = create(&tree, text, length, flags, NULL, &err);
      if (status == TESELA_OK || tree || err.at < 0 || err.at > (int64_t)length)
        fail_msg("%zu bytes, flags %d: %s at %" PRId64, length, flags, tesela_status_code(status), err.at);
    }
  tesela_xla_tree_destroy(tree_of(text));
}

/* ---- many leaves ---- */

static void a_wide_tuple_is_read(void **state) {
  (void)state;
  enum { WIDE = 5000 };
  char *text = malloc(WIDE * 32);
  assert_non_null(text);
  size_t n = 0;
  text[n++] = '(';
  for (int i = 0; i < WIDE; i++) n += (size_t)snprintf(text + n, 32, "%sf32[%d]{0}", i == 0 ? "" : ",", i);
  text[n++] = ')';
  tesela_xla_tree *tree = NULL;
  OK(create(&tree, text, n, 0, NULL, &e_));
  assert_int_equal(tesela_xla_tree_count(tree), WIDE + 1);
  for (int32_t i = 0; i < WIDE; i++) AGREE("dim", tesela_xla_tree_node(tree, i + 1).shape->dim[0], i);
  int64_t bytes = 0, allocated = 0;
  OK(tesela_xla_tree_bytes(tree, &bytes, &allocated, &e_));
  AGREE("4 * (0 + 1 + ... + 4999)", bytes, 4 * (int64_t)WIDE * (WIDE - 1) / 2);
  AGREE("without padding both are the same", allocated, bytes);
  tesela_xla_tree_destroy(tree);
  free(text);
}

static void the_bytes_of_a_tree_are_those_of_its_arrays(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_status status;
    int64_t bytes, allocated;
  } rows[] = {
      {"()", TESELA_OK, 0, 0},
      {"(token[], opaque[])", TESELA_OK, 0, 0},
      {"f32[3,5]{1,0:T(2,2)}", TESELA_OK, 96, 96},
      {"(f32[3,5]{1,0:T(2,2)}, (b(s8[3]), f32[3]{0:L(8)}))", TESELA_OK, 96 + 3 + 32, 96 + 3 + 12},
      {"(f32[8,8]{1,0:T(4,4)(3,1)}, pred[0,7])", TESELA_OK, 384, 256},
      {"(f32[2], f32[?])", TESELA_E_UNSUPPORTED, 0, 0},
      {"(s8[4611686018427387904], s8[4611686018427387904])", TESELA_E_OVERFLOW, 0, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_xla_tree *tree = tree_of(rows[i].text);
    int64_t bytes = -1, allocated = -1;
    tesela_error err = {.message = ""};
    tesela_status status = tesela_xla_tree_bytes(tree, &bytes, &allocated, &err);
    AGREE(rows[i].text, status, rows[i].status);
    AGREE(rows[i].text, bytes, status == TESELA_OK ? rows[i].bytes : -1);
    AGREE(rows[i].text, allocated, status == TESELA_OK ? rows[i].allocated : -1);
    tesela_xla_tree_destroy(tree);
  }
}

static void trees_are_equal_leaf_by_leaf(void **state) {
  (void)state;
  static const struct {
    const char *a, *b;
    uint32_t ignore;
    bool equal;
  } rows[] = {
      {"(f32[2], (s32[]))", "(f32[2]{0},(s32[]))", 0, true},
      {"(f32[2], (s32[]))", "(f32[2], s32[])", 0, false},
      {"(f32[2], s32[])", "(f32[2], s32[], s32[])", 0, false},
      {"((), ())", "((()))", 0, false},
      {"f32[2]", "(f32[2])", 0, false},
      {"(f32[2]{0:T(2)})", "(f32[2]{0})", 0, false},
      {"(f32[2]{0:T(2)})", "(f32[2]{0})", TESELA_XLA_IGNORE_TILES, true},
      {"(f32[2,3]{0,1:T(2)S(1)})", "(f32[2,3]{0,1:L(3)})", TESELA_XLA_ORDER_ONLY, true},
      {"(f32[2,3]{0,1})", "(f32[2,3]{1,0})", TESELA_XLA_ORDER_ONLY, false},
      {"(token[])", "(opaque[])", 0, false},
      {"(f32[2])", "(b(f32[2]))", 0, false},
      {"(f32[<=2])", "(f32[2])", TESELA_XLA_ORDER_ONLY, false},
      {"(f32[<=2])", "(f32[2])", TESELA_XLA_IGNORE_DYNAMIC, true},
      {"(f32[?])", "(f32[2])", TESELA_XLA_IGNORE_DYNAMIC, false},
      {"(f32[2]{0:T(2)}, s8[3])", "(f32[2]{0:S(1)}, s8[3])", TESELA_XLA_ORDER_IF_UNTILED, true},
      {"(f32[2]{0:T(2)}, s8[3])", "(f32[2], s8[3]{0:T(4)})", TESELA_XLA_ORDER_IF_UNTILED, false},
      {"(f32[2,3]{0,1:T(2)})", "(f32[2,3]{1,0})", TESELA_XLA_ORDER_IF_UNTILED, false},
      {"()", "()", TESELA_XLA_ORDER_IF_UNTILED, true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_xla_tree *a = tree_of(rows[i].a), *b = tree_of(rows[i].b);
    bool equal = !rows[i].equal;
    OK(tesela_xla_tree_equal(a, b, rows[i].ignore, &equal, &e_));
    AGREE(rows[i].a, equal, rows[i].equal);
    OK(tesela_xla_tree_equal(b, a, rows[i].ignore, &equal, &e_));
    AGREE(rows[i].a, equal, rows[i].equal);
    tesela_xla_tree_destroy(a);
    tesela_xla_tree_destroy(b);
  }
}

/* ---- new trees ---- */

static void a_tree_says_what_its_leaves_have(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool all, any, bits;
  } rows[] = {
      {"()", true, false, false},
      {"(token[], opaque[])", true, false, false},
      {"(f32[2], s8[3])", false, false, false},
      {"(f32[2]{0}, s8[3])", false, true, false},
      {"(f32[2]{0}, (s32[], token[]))", true, true, false},
      {"(b(s4[2]{0:E(4)}), s8[3])", false, true, true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_xla_tree *tree = NULL;
    OK(create(&tree, rows[i].text, strlen(rows[i].text), TESELA_XLA_KEEP_BARE, NULL, &e_));
    AGREE(rows[i].text, tesela_xla_tree_has_layout(tree), rows[i].all);
    AGREE(rows[i].text, tesela_xla_tree_has_any_layout(tree), rows[i].any);
    AGREE(rows[i].text, tesela_xla_tree_has_element_bits(tree), rows[i].bits);
    tesela_xla_tree_destroy(tree);
  }
}

static void layouts_are_defaulted_and_cleared(void **state) {
  (void)state;
  static const char text[] = "(f32[2,3]{0,1:T(2)S(1)}, (s32[], token[]), b(s8[4]{0:L(8)}))";
  char printed[LONG];
  tesela_xla_tree *tree = tree_of(text), *made = NULL;
  OK(tesela_xla_tree_with_default_layouts(&made, tree, NULL, &e_));
  print(made, true, printed);
  same("default", printed, "(f32[2,3]{1,0}, (s32[], token[]), b(s8[4]{0}))");
  tesela_xla_tree_destroy(made);
  OK(tesela_xla_tree_clear_layouts(&made, tree, NULL, &e_));
  print(made, true, printed);
  same("cleared", printed, "(f32[2,3], (s32[], token[]), b(s8[4]))");
  for (int32_t i = 0; i < tesela_xla_tree_count(made); i++) {
    tesela_xla_node node = tesela_xla_tree_node(made, i);
    if (node.shape)
      AGREE("a scalar keeps its empty one", node.shape->has_layout, node.shape->dtype == TESELA_S32);
    if (node.shape) OK(tesela_xla_validate(node.shape, &e_));
  }
  tesela_xla_tree_destroy(made);
  print(tree, true, printed);
  same("the old tree", printed, text);
  tesela_xla_tree_destroy(tree);
}

static void layouts_are_copied_between_trees(void **state) {
  (void)state;
  static const struct {
    const char *shapes, *layouts, *printed; /* printed NULL: refused */
    tesela_status status;
  } rows[] = {
      {"(f32[2,3], s8[4])", "(bf16[8,9]{0,1:T(2)S(1)}, u8[7]{0:L(8)})",
       "(f32[2,3]{0,1:T(2)S(1)}, s8[4]{0:L(8)})", TESELA_OK},
      {"(f32[2]{0:T(2)}, token[], ())", "(f32[3], token[], ())", "(f32[2]{0}, token[], ())", TESELA_OK},
      {"(f32[2,3])", "(f32[2])", NULL, TESELA_E_MISMATCH},
      {"(f32[2])", "f32[2]", NULL, TESELA_E_MISMATCH},
      {"(f32[2], ())", "(f32[2])", NULL, TESELA_E_MISMATCH},
      {"(f32[])", "(token[])", NULL, TESELA_E_MISMATCH},
      {"(f32[2])", "(f32[8]{0:SC(0:4)})", NULL, TESELA_E_RANGE},
      {"(s8[4611686018427387904])", "(s8[8]{0:E(16)})", NULL, TESELA_E_OVERFLOW},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_xla_tree *shapes = tree_of(rows[i].shapes), *layouts = tree_of(rows[i].layouts), *made = NULL;
    tesela_error err = {.message = ""};
    char printed[LONG];
    tesela_status status = tesela_xla_tree_copy_layouts(&made, shapes, layouts, NULL, &err);
    if (status != rows[i].status)
      fail_msg("%s: %s: %s", rows[i].layouts, tesela_status_code(status), err.message);
    AGREE(rows[i].layouts, made != NULL, status == TESELA_OK);
    if (made) print(made, true, printed);
    if (made) same(rows[i].layouts, printed, rows[i].printed);
    tesela_xla_tree_destroy(made);
    tesela_xla_tree_destroy(shapes);
    tesela_xla_tree_destroy(layouts);
  }
}

/* ---- memory that runs out ---- */

static const char fault_text[] = "(f32[2,3]{0,1:T(2)}, (s32[], (), token[]))";
static tesela_xla_tree *fault_tree;

static tesela_status make_from_text(tesela_xla_tree **out, const tesela_allocator *allocator) {
  return tesela_xla_tree_create(out, fault_text, strlen(fault_text), 0, allocator, NULL, NULL);
}

static tesela_status make_default(tesela_xla_tree **out, const tesela_allocator *allocator) {
  return tesela_xla_tree_with_default_layouts(out, fault_tree, allocator, NULL);
}

static tesela_status make_clear(tesela_xla_tree **out, const tesela_allocator *allocator) {
  return tesela_xla_tree_clear_layouts(out, fault_tree, allocator, NULL);
}

static tesela_status make_copy(tesela_xla_tree **out, const tesela_allocator *allocator) {
  return tesela_xla_tree_copy_layouts(out, fault_tree, fault_tree, allocator, NULL);
}

static void no_memory_is_an_answer(void **state) {
  (void)state;
  static tesela_status (*const makers[])(tesela_xla_tree **, const tesela_allocator *) = {
      make_from_text, make_default, make_clear, make_copy};
  fault_tree = tree_of(fault_text);
  for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
    for (long n = 0;; n++) {
      fault f = {.countdown = n}; /* the allocation after n good ones fails */
      tesela_allocator allocator = fault_allocator(&f);
      tesela_xla_tree *tree = NULL;
      tesela_status status = makers[i](&tree, &allocator);
      if (status == TESELA_OK) {
        assert_int_equal(f.live, 1);
        tesela_xla_tree_destroy(tree);
        assert_int_equal(f.live, 0);
        assert_true(n > 0);
        break;
      }
      assert_int_equal(status, TESELA_E_MEMORY);
      assert_null(tree);
      assert_int_equal(f.live, 0);
    }
  tesela_xla_tree_destroy(fault_tree);
}

static void a_wrong_text_takes_no_memory(void **state) {
  (void)state;
  static const char text[] = "(f32[2],f32[2],f32[2],f32[2],f32[2],f32[2],f32[2],f32[2.0])";
  fault f = {.countdown = 0, .once = true};
  tesela_allocator allocator = fault_allocator(&f);
  tesela_xla_tree *tree = NULL;
  assert_int_equal(tesela_xla_tree_create(&tree, text, strlen(text), 0, &allocator, NULL, NULL),
                   TESELA_E_SYNTAX);
  assert_int_equal(f.countdown, 0); /* none was asked for */
}

static void refused_copies_give_their_memory_back(void **state) {
  (void)state;
  fault f = {.countdown = 10};
  tesela_allocator allocator = fault_allocator(&f);
  tesela_xla_tree *shapes = tree_of("(f32[2])"), *layouts = tree_of("(f32[8]{0:SC(0:4)})"), *made = NULL;
  assert_int_equal(tesela_xla_tree_copy_layouts(&made, shapes, layouts, &allocator, NULL), TESELA_E_RANGE);
  assert_null(made);
  assert_int_equal(f.live, 0);
  tesela_xla_tree_destroy(shapes);
  tesela_xla_tree_destroy(layouts);
}

static int stop_at_once(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
  return 1;
}

static void a_writer_can_stop_the_print(void **state) {
  (void)state;
  tesela_xla_tree *tree = tree_of("(f32[2], ())");
  tesela_writer to = {stop_at_once, NULL};
  assert_int_equal(tesela_xla_tree_print(tree, true, &to, NULL), TESELA_E_STOPPED);
  tesela_xla_tree_destroy(tree);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tuples_are_read_and_printed),
      cmocka_unit_test(nodes_stand_in_reading_order),
      cmocka_unit_test(flags_and_repairs_reach_the_leaves),
      cmocka_unit_test(wrong_tuples_are_refused_with_their_byte),
      cmocka_unit_test(tuples_nest_as_deep_as_the_limit),
      cmocka_unit_test(tuples_cut_anywhere_are_answered),
      cmocka_unit_test(a_wide_tuple_is_read),
      cmocka_unit_test(the_bytes_of_a_tree_are_those_of_its_arrays),
      cmocka_unit_test(trees_are_equal_leaf_by_leaf),
      cmocka_unit_test(a_tree_says_what_its_leaves_have),
      cmocka_unit_test(layouts_are_defaulted_and_cleared),
      cmocka_unit_test(layouts_are_copied_between_trees),
      cmocka_unit_test(no_memory_is_an_answer),
      cmocka_unit_test(a_wrong_text_takes_no_memory),
      cmocka_unit_test(refused_copies_give_their_memory_back),
      cmocka_unit_test(a_writer_can_stop_the_print),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
