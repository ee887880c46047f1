/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xla_edit.c - edits of shapes, each as the text before and the text after.
 */
#include "support_seed.h"
#include "support_xla.h"

/* ---- edits: a shape, what is done to it, the shape it becomes ---- */

typedef struct edit_row {
  const char *name, *before;
  int32_t arg;
  const char *after; /* NULL: refused */
} edit_row;

typedef tesela_status edit_of(tesela_xla_shape *shape, int32_t arg, tesela_error *err);

static void check_edits(const edit_row *row, size_t n, edit_of *edit) {
  for (; n-- > 0; row++) {
    tesela_xla_shape shape = shape_of(row->before);
    tesela_error err = {.message = ""};
    tesela_status status = edit(&shape, row->arg, &err);
    if ((status == TESELA_OK) != (row->after != NULL))
      fail_msg("%s: status %d, %s", row->name, status, err.message);
    AGREE(row->name, err.message[0] != '\0', row->after == NULL);
    check_text(row->name, &shape, row->after ? row->after : row->before);
    OK(tesela_xla_validate(&shape, &e_));
  }
}
#define CHECK_EDITS(rows, edit) check_edits(rows, sizeof(rows) / sizeof(rows)[0], edit)

/* arg: the dim */
static const edit_row delete_rows[] = {
    {"the most major dim", "f32[2,3,5]{2,1,0}", 0, "f32[3,5]{1,0}"},
    {"the middle of the order", "f32[2,3,5]{0,1,2}", 1, "f32[2,5]{0,1}"},
    {"tiles stay", "f32[2,3,5]{1,2,0:T(8,128)}", 0, "f32[3,5]{0,1:T(8,128)}"},
    {"the last dim", "f32[7]{0:T(128)}", 0, "f32[]{:T(128)}"},
    {"dynamic marks move up", "f32[2,<=3,<=5]{2,1,0}", 0, "f32[<=3,<=5]{1,0}"},
    {"and go with their dim", "f32[<=2,3,<=5]{2,1,0}", 2, "f32[<=2,3]{1,0}"},
    {"a split goes with its dim", "s8[8,9,7]{2,1,0:SC(1:3)(2:4,5)}", 1, "s8[8,7]{1,0:SC(1:4,5)}"},
    {"splits name physical dims", "s8[8,9,7]{0,1,2:SC(0:3)(2:4)}", 2, "s8[8,9]{0,1:SC(1:4)}"},
    {"no such dim", "f32[2,3]{1,0}", 2, NULL},
    {"no dim before the first", "f32[2,3]{1,0}", -1, NULL},
    {"a token has no dim", "token[]", 0, NULL},
};

/* arg: the mask */
static const edit_row keep_rows[] = {
    {"dims 0 and 2", "f32[2,3,5,7]{0,3,1,2}", 5, "f32[2,5]{0,1}"},
    {"more than is there", "f32[2,3]{1,0:T(8,128)}", -1, "f32[2,3]{1,0:T(8,128)}"},
    {"nothing", "f32[2,3]{0,1}", 0, "f32[]"},
};

static const edit_row ones_rows[] = {
    {"three ones", "f32[1,2,1,3,1]{4,3,2,1,0:T(8)}", 0, "f32[2,3]{1,0:T(8)}"},
    {"another order", "f32[1,2,1,3]{1,0,2,3}", 0, "f32[2,3]{0,1}"},
    {"only ones", "f32[1,1]{0,1}", 0, "f32[]"},
    {"a zero stays", "f32[0,1]{1,0}", 0, "f32[0]{0}"},
};

/* arg: the permutation, 120 for 1, 2, 0 */
static const edit_row permute_rows[] = {
    {"row-major", "f32[2,3,5]{2,1,0}", 120, "f32[3,5,2]{1,0,2}"},
    {"another order", "f32[2,<=3,5]{0,1,2:T(2)}", 120, "f32[<=3,5,2]{2,0,1:T(2)}"},
    {"splits stay", "s8[2,3,5]{0,1,2:SC(0:2)}", 120, "s8[3,5,2]{2,0,1:SC(0:2)}"},
    {"a dim twice", "f32[2,3,5]{2,1,0}", 110, NULL},
    {"a dim that is not there", "f32[2,3,5]{2,1,0}", 130, NULL},
};

static const edit_row normal_rows[] = {
    {"the order decides", "f32[2,3,5]{0,2,1:T(8,128)}", 0, "f32[3,5,2]{2,1,0:T(8,128)}"},
    {"dynamic marks too", "f32[<=2,3]{0,1}", 0, "f32[3,<=2]{1,0}"},
    {"nothing to do", "f32[2,3]{1,0}", 0, "f32[2,3]{1,0}"},
};

/* arg: the dim */
static const edit_row major_rows[] = {
    {"the most minor dim", "f32[2,3,5]{2,1,0}", 2, "f32[2,3,5]{1,0,2}"},
    {"it is already", "f32[2,3,5]{0,1,2}", 2, "f32[2,3,5]{0,1,2}"},
    {"splits follow their dim", "s8[8,9,7]{2,1,0:SC(0:7)(2:6)}", 2, "s8[8,9,7]{1,0,2:SC(1:7)(0:6)}"},
    {"no such dim", "f32[2,3]{1,0}", 2, NULL},
};

/* arg: the dim */
static const edit_row minor_rows[] = {
    {"the most major dim", "f32[2,3,5]{2,1,0}", 0, "f32[2,3,5]{0,2,1}"},
    {"it is already", "f32[2,3,5]{0,1,2}", 0, "f32[2,3,5]{0,1,2}"},
    {"no such dim", "f32[2,3]{1,0}", -1, NULL},
};

static const edit_row host_rows[] = {
    {"all that is of a device", "s4[9]{0:T(8)L(8)E(4)S(1)SC(0:2)M(8)}", 0, "s4[9]{0:SC(0:2)}"},
    {"the order stays", "f32[2,3]{0,1:T(8,128)}", 0, "f32[2,3]{0,1}"},
    {"a token", "token[]", 0, "token[]"},
};

static const edit_row tile_rows[] = {
    {"tiles alone", "f32[9]{0:T(8)(2)L(8)S(1)}", 0, "f32[9]{0:L(8)S(1)}"},
};

/* arg: pack */
static const edit_row pack_rows[] = {
    {"a nibble", "s4[8,3]{1,0}", 1, "s4[8,3]{1,0:E(4)}"},
    {"six bits", "f6e3m2fn[8]{0}", 1, "f6e3m2fn[8]{0:E(6)}"},
    {"pred is not packed", "pred[8,3]{1,0:E(32)}", 1, "pred[8,3]{1,0}"},
    {"nor is a byte", "s8[8,3]{1,0}", 1, "s8[8,3]{1,0}"},
    {"unpacked", "s4[8,3]{1,0:E(4)}", 0, "s4[8,3]{1,0}"},
};

static tesela_status keep(tesela_xla_shape *shape, int32_t mask, tesela_error *err) {
  return tesela_xla_keep_dims(shape, (uint32_t)mask, err);
}
static tesela_status drop_ones(tesela_xla_shape *shape, int32_t none, tesela_error *err) {
  (void)none;
  return tesela_xla_drop_ones(shape, err);
}
static tesela_status permute(tesela_xla_shape *shape, int32_t digits, tesela_error *err) {
  const int32_t permutation[] = {digits / 100, digits / 10 % 10, digits % 10};
  return tesela_xla_permute_dims(shape, permutation, err);
}
static tesela_status normalize(tesela_xla_shape *shape, int32_t none, tesela_error *err) {
  (void)none;
  return tesela_xla_normalize_order(shape, err);
}
static tesela_status move_to_major(tesela_xla_shape *shape, int32_t dim, tesela_error *err) {
  return tesela_xla_move_to_major(&shape->layout, dim, err);
}
static tesela_status move_to_minor(tesela_xla_shape *shape, int32_t dim, tesela_error *err) {
  return tesela_xla_move_to_minor(&shape->layout, dim, err);
}
static tesela_status to_host(tesela_xla_shape *shape, int32_t none, tesela_error *err) {
  (void)none;
  (void)err;
  tesela_xla_to_host(shape);
  return tesela_xla_is_host(shape) ? TESELA_OK : TESELA_E_INVALID;
}
static tesela_status clear_tiles(tesela_xla_shape *shape, int32_t none, tesela_error *err) {
  (void)none;
  (void)err;
  tesela_xla_clear_tiles(&shape->layout);
  return TESELA_OK;
}
static tesela_status pack(tesela_xla_shape *shape, int32_t on, tesela_error *err) {
  (void)err;
  tesela_xla_update_element_bits(shape, on != 0);
  return TESELA_OK;
}

static void test_edits(void **state) {
  (void)state;
  CHECK_EDITS(delete_rows, tesela_xla_delete_dim);
  CHECK_EDITS(keep_rows, keep);
  CHECK_EDITS(ones_rows, drop_ones);
  CHECK_EDITS(permute_rows, permute);
  CHECK_EDITS(normal_rows, normalize);
  CHECK_EDITS(major_rows, move_to_major);
  CHECK_EDITS(minor_rows, move_to_minor);
  CHECK_EDITS(host_rows, to_host);
  CHECK_EDITS(tile_rows, clear_tiles);
  CHECK_EDITS(pack_rows, pack);
}

static void test_is_host(void **state) {
  (void)state;
  static const struct {
    const char *shape;
    bool host;
  } rows[] = {
      {"f32[3,5]{0,1}", true},   {"f32[3]{0:SC(0:2)}", true}, {"f32[3]{0:T(8)}", false},
      {"f32[3]{0:L(8)}", false}, {"s4[3]{0:E(4)}", false},    {"f32[3]{0:S(1)}", false},
      {"f32[3]{0:M(8)}", false}, {"token[]", true},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tesela_xla_shape shape = shape_of(rows[r].shape);
    AGREE(rows[r].shape, tesela_xla_is_host(&shape), rows[r].host);
  }
}

/* An edit of a shape that was read without braces leaves a valid shape. */
static void test_bare(void **state) {
  (void)state;
  static const char text[] = "s4[2,3,5]";
  tesela_xla_shape shape;
  OK(tesela_xla_parse(text, strlen(text), TESELA_XLA_KEEP_BARE, &shape, NULL, &e_));
  assert_true(tesela_xla_is_host(&shape));
  OK(tesela_xla_delete_dim(&shape, 1, &e_));
  check_text("still bare", &shape, "s4[2,5]");
  OK(tesela_xla_permute_dims(&shape, (const int32_t[]){1, 0}, &e_));
  check_text("the order is not the default any more", &shape, "s4[5,2]{0,1}");
  OK(tesela_xla_parse(text, strlen(text), TESELA_XLA_KEEP_BARE, &shape, NULL, &e_));
  tesela_xla_update_element_bits(&shape, true);
  check_text("E needs braces", &shape, "s4[2,3,5]{2,1,0:E(4)}");
  OK(tesela_xla_validate(&shape, &e_));
}

/* Relabelling moves nothing: element i of the old is element i[permutation] of the new, at the same place. */
static void test_relabelling_keeps_memory(void **state) {
  (void)state;
  for (uint64_t k = 0; k < 500; k++) {
    struct oracle_array array;
    const char *type;
    char text[TEXT];
    int32_t permutation[ORACLE_MAX_RANK];
    tesela_layout layout;
    oracle_random(first_seed() + k, 200, &array, &type);
    oracle_print(&array, type, text, sizeof text);
    tesela_xla_shape shape = shape_of_array(&array, type);
    for (int d = 0; d < array.rank; d++) permutation[d] = (d + 1) % array.rank;
    OK(k % 2 ? tesela_xla_permute_dims(&shape, permutation, &e_) : tesela_xla_normalize_order(&shape, &e_));
    if (k % 2 == 0)
      for (int p = 0; p < array.rank; p++) permutation[p] = array.minor_to_major[array.rank - 1 - p];
    OK(tesela_xla_to_layout(&shape, &layout, &e_));
    for (int64_t number = 0; number < oracle_count(&array); number++) {
      int64_t index[ORACLE_MAX_RANK], moved[ORACLE_MAX_RANK], place;
      assert_int_equal(oracle_index(&array, number, index), 0);
      for (int d = 0; d < array.rank; d++) moved[d] = index[permutation[d]];
      OK(tesela_layout_place_of(&layout, moved, &place, &e_));
      AGREE(text, place, oracle_place(&array, index));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_edits),
      cmocka_unit_test(test_is_host),
      cmocka_unit_test(test_bare),
      cmocka_unit_test(test_relabelling_keeps_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
