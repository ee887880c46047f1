/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_register_rows.c - operations on register layouts by rows: what each makes of small cases, digit by
 * digit, and every refusal with its status and reason.
 *
 * Layouts are written "shape | mode_shape | spatial_modes | local_modes". Expected lists are worked out by
 * hand from the definitions in register.h.
 */
#include "support_register_rows.h"

/* ---- operations --------------------------------------------------------------------------------------------------------- */

typedef struct row {
  relation_kind kind;
  const char *list; /* "shape" or "dims", then " ; ranks"; keepdims is a leading '+' */
  int64_t number;
  const char *a, *b, *result; /* layouts; result NULL: refused */
  tesela_reason reason;
} row;

static relation_op op_of_row(const row *r) {
  relation_op op = {.kind = r->kind, .number = r->number, .keepdims = r->list[0] == '+'};
  const char *text = r->list + op.keepdims;
  op.n = rows_list(&text, op.list);
  op.ranked = *text != '\0';
  if (op.ranked) (void)rows_list(&text, op.ranks);
  return op;
}

#define R(symbol) TESELA_REASON_##symbol
static const row rows[] = {
    {RELATION_SPATIAL, "2,3", 0, 0, 0, "2,3|2,3|0,1|", 0},
    {RELATION_SPATIAL, "2,3|1,0", 0, 0, 0, "2,3|2,3|1,0|", 0},
    {RELATION_SPATIAL, "2,3,4|1,2,0", 0, 0, 0, "2,3,4|2,3,4|2,0,1|", 0},
    {RELATION_SPATIAL, "", 0, 0, 0, "|||", 0},
    {RELATION_SPATIAL, "1,4,1", 0, 0, 0, "1,4,1|4|0|", 0},
    {RELATION_SPATIAL, "3,0", 0, 0, 0, 0, R(SHAPE_NOT_POSITIVE)},
    {RELATION_SPATIAL, "3|1", 0, 0, 0, 0, R(RANKS_OUT_OF_RANGE)},
    {RELATION_SPATIAL, "3,2|0,-1", 0, 0, 0, 0, R(RANKS_OUT_OF_RANGE)},
    {RELATION_SPATIAL, "2,2|1,1", 0, 0, 0, 0, R(RANKS_DUPLICATE)},
    {RELATION_LOCAL, "3,4", 0, 0, 0, "3,4|3,4||0,1", 0},
    {RELATION_LOCAL, "2,2,3|2,0,1", 0, 0, 0, "2,2,3|2,2,3||1,2,0", 0},
    {RELATION_LOCAL, "-1", 0, 0, 0, 0, R(SHAPE_NOT_POSITIVE)},
    {RELATION_LOCAL, "2,2|0,2", 0, 0, 0, 0, R(RANKS_OUT_OF_RANGE)},
    {RELATION_LOCAL, "2,2,2|0,1,0", 0, 0, 0, 0, R(RANKS_DUPLICATE)},
    {RELATION_COLUMN_SPATIAL, "2,3", 0, 0, 0, "2,3|2,3|1,0|", 0},
    {RELATION_COLUMN_SPATIAL, "2,0", 0, 0, 0, 0, R(SHAPE_NOT_POSITIVE)},
    {RELATION_COLUMN_LOCAL, "3,2,2", 0, 0, 0, "3,2,2|3,2,2||2,1,0", 0},
    {RELATION_COLUMN_LOCAL, "0", 0, 0, 0, 0, R(SHAPE_NOT_POSITIVE)},
    {RELATION_REPLICATED, "3", 2, 0, 0, "3|3|-2|0", 0},
    {RELATION_REPLICATED, "2,4", 3, 0, 0, "2,4|2,4|-3|0,1", 0},
    {RELATION_REPLICATED, "", 5, 0, 0, "||-5|", 0},
    {RELATION_REPLICATED, "2", 0, 0, 0, 0, R(WORKERS_NOT_POSITIVE)},
    {RELATION_REPLICATED, "2", -3, 0, 0, 0, R(WORKERS_NOT_POSITIVE)},
    {RELATION_REPLICATED, "2,0", 3, 0, 0, 0, R(SHAPE_NOT_POSITIVE)},
    {RELATION_AUTO_LOCAL_SPATIAL, "8,4", 16, 0, 0, "8,4|2,4,4|1,2|0", 0},
    {RELATION_AUTO_LOCAL_SPATIAL, "4,4", 64, 0, 0, "4,4|4,4|-4,0,1|", 0},
    {RELATION_AUTO_LOCAL_SPATIAL, "4,9", 6, 0, 0, "4,9|2,2,3,3|1,3|0,2", 0},
    {RELATION_AUTO_LOCAL_SPATIAL, "4,4", 1, 0, 0, "4,4|4,4||0,1", 0},
    {RELATION_AUTO_LOCAL_SPATIAL, "", 7, 0, 0, "||-7|", 0},
    {RELATION_AUTO_LOCAL_SPATIAL, "4,4", 10, 0, 0, 0, R(THREADS_DO_NOT_FIT)},
    {RELATION_AUTO_LOCAL_SPATIAL, "4,4", 24, 0, 0, 0, R(THREADS_DO_NOT_FIT)},
    {RELATION_AUTO_LOCAL_SPATIAL, "4,4", 0, 0, 0, 0, R(WORKERS_NOT_POSITIVE)},
    {RELATION_AUTO_LOCAL_SPATIAL, "4,4", -16, 0, 0, 0, R(WORKERS_NOT_POSITIVE)},
    {RELATION_AUTO_LOCAL_SPATIAL, "4,-4", 16, 0, 0, 0, R(SHAPE_NOT_POSITIVE)},

    {RELATION_SQUEEZE, "0", 0, "1,5|5|0|", 0, "5|5|0|", 0},
    {RELATION_SQUEEZE, "-1,0", 0, "1,5,1|5||0", 0, "5|5||0", 0},
    {RELATION_SQUEEZE, "0", 0, "1|||", 0, "|||", 0},
    {RELATION_SQUEEZE, "", 0, "1,5|5|0|", 0, "1,5|5|0|", 0},
    {RELATION_SQUEEZE, "0", 0, "1,5|1,5|1,0|", 0, "5|5|0|", 0},
    {RELATION_SQUEEZE, "0", 0, "2,5|2,5|0,1|", 0, 0, R(DIM_NOT_ONE)},
    {RELATION_SQUEEZE, "2", 0, "1,5|5|0|", 0, 0, R(DIM_OUT_OF_RANGE)},
    {RELATION_SQUEEZE, "-3", 0, "1,5|5|0|", 0, 0, R(DIM_OUT_OF_RANGE)},
    {RELATION_SQUEEZE, "0", 0, "|||", 0, 0, R(DIM_OUT_OF_RANGE)},
    {RELATION_SQUEEZE, "0,-2", 0, "1,5|5|0|", 0, 0, R(DIM_DUPLICATE)},
    {RELATION_UNSQUEEZE, "0,2", 0, "3|3|0|", 0, "1,3,1|3|0|", 0},
    {RELATION_UNSQUEEZE, "1", 0, "2,3|2,3||1,0", 0, "2,1,3|2,3||1,0", 0},
    {RELATION_UNSQUEEZE, "-1,-3", 0, "3|3|0|", 0, "1,3,1|3|0|", 0},
    {RELATION_UNSQUEEZE, "0", 0, "||-2|", 0, "1||-2|", 0},
    {RELATION_UNSQUEEZE, "4", 0, "3|3|0|", 0, 0, R(DIM_OUT_OF_RANGE)},
    {RELATION_UNSQUEEZE, "2", 0, "3|3|0|", 0, 0, R(DIM_OUT_OF_RANGE)},
    {RELATION_UNSQUEEZE, "-3", 0, "3|3|0|", 0, 0, R(DIM_OUT_OF_RANGE)},
    {RELATION_UNSQUEEZE, "1,-2", 0, "3|3|0|", 0, 0, R(DIM_DUPLICATE)},
    {RELATION_PERMUTE, "1,0", 0, "4,3|2,2,3|0,2|1", 0, "3,4|3,2,2|1,0|2", 0},
    {RELATION_PERMUTE, "1,2,0", 0, "2,3,4|2,3,4||0,1,2", 0, "3,4,2|3,4,2||2,0,1", 0},
    {RELATION_PERMUTE, "-1,0", 0, "2,3|2,3|0,-2|1", 0, "3,2|3,2|1,-2|0", 0},
    {RELATION_PERMUTE, "", 0, "||-2|", 0, "||-2|", 0},
    {RELATION_PERMUTE, "0", 0, "2,3|2,3||0,1", 0, 0, R(DIMS_LENGTH)},
    {RELATION_PERMUTE, "0,1,2", 0, "2,3|2,3||0,1", 0, 0, R(DIMS_LENGTH)},
    {RELATION_PERMUTE, "1,1", 0, "2,3|2,3||0,1", 0, 0, R(DIM_DUPLICATE)},
    {RELATION_PERMUTE, "1,-1", 0, "2,3|2,3||0,1", 0, 0, R(DIM_DUPLICATE)},
    {RELATION_PERMUTE, "0,2", 0, "2,3|2,3||0,1", 0, 0, R(DIM_OUT_OF_RANGE)},
    {RELATION_RESHAPE, "3,2", 0, "2,3|2,3||0,1", 0, "3,2|3,2||0,1", 0},
    {RELATION_RESHAPE, "6,2", 0, "12|3,4|0|1", 0, "6,2|3,2,2|0|1,2", 0},
    {RELATION_RESHAPE, "24", 0, "4,6|4,6||1,0", 0, "24|4,6||1,0", 0},
    {RELATION_RESHAPE, "8,3", 0, "4,6|4,6|0|1", 0, "8,3|4,2,3|0|1,2", 0},
    {RELATION_RESHAPE, "1,6,1", 0, "2,3|2,3|0,1|", 0, "1,6,1|6|0|", 0},
    {RELATION_RESHAPE, "", 0, "1,1||-2|", 0, "||-2|", 0},
    {RELATION_RESHAPE, "4,3", 0, "12|3,4|0|1", 0, 0, R(RESHAPE_NOT_REPRESENTABLE)},
    {RELATION_RESHAPE, "3,2", 0, "2,3|2,3||1,0", 0, 0, R(RESHAPE_NOT_REPRESENTABLE)},
    {RELATION_RESHAPE, "4,3", 0, "2,5|2,5||0,1", 0, 0, R(RESHAPE_SIZE_MISMATCH)},
    {RELATION_RESHAPE, "", 0, "2|2||0", 0, 0, R(RESHAPE_SIZE_MISMATCH)},
    {RELATION_RESHAPE, "-2,-3", 0, "2,3|2,3||0,1", 0, 0, R(SHAPE_NOT_POSITIVE)},
    {RELATION_FLATTEN, "1,2", 0, "2,3,4|2,3,4||0,1,2", 0, "2,12|2,12||0,1", 0},
    {RELATION_FLATTEN, "0,-1", 0, "2,3,4|2,3,4|2,1,0|", 0, "24|2,3,4|2,1,0|", 0},
    {RELATION_FLATTEN, "-3,-2", 0, "2,3,4|2,3,4|0,1,2|", 0, "6,4|6,4|0,1|", 0},
    {RELATION_FLATTEN, "1,1", 0, "2,3|2,3|0,1|", 0, "2,3|2,3|0,1|", 0},
    {RELATION_FLATTEN, "0,-1", 0, "||-2|", 0, "1||-2|", 0},
    {RELATION_FLATTEN, "1,0", 0, "2,3|2,3|0,1|", 0, 0, R(DIM_OUT_OF_RANGE)},
    {RELATION_FLATTEN, "0,2", 0, "2,3|2,3|0,1|", 0, 0, R(DIM_OUT_OF_RANGE)},
    {RELATION_FLATTEN, "-3,1", 0, "2,3|2,3|0,1|", 0, 0, R(DIM_OUT_OF_RANGE)},
    {RELATION_FLATTEN, "0,-3", 0, "2,3|2,3|0,1|", 0, 0, R(DIM_OUT_OF_RANGE)},

    {RELATION_COMPOSE, "", 0, "3,4|3,4||0,1", "2,3|2,3|0,1|", "6,12|3,2,4,3|1,3|0,2", 0},
    {RELATION_COMPOSE, "", 0, "2,3|2,3|0,1|", "3,4|3,4||0,1", "6,12|2,3,3,4|0,2|1,3", 0},
    {RELATION_COMPOSE, "", 0, "5|5|0|", "2,2|2,2||0,1", "2,10|2,5,2|1|0,2", 0},
    {RELATION_COMPOSE, "", 0, "2,2|2,2||0,1", "5|5|0|", "2,10|2,2,5|2|0,1", 0},
    {RELATION_COMPOSE, "", 0, "3|3|0|", "4|4|0|", "12|12|0|", 0},
    {RELATION_COMPOSE, "", 0, "2|2|-2,0|", "3|3||0", "6|2,3|-2,0|1", 0},
    {RELATION_COMPOSE, "", 0, "2|2|0,-2|", "3|3|-3,0|", "6|2,3|0,-2,-3,1|", 0},
    {RELATION_COMPOSE, "", 0, "|||", "4,2|4,2|1|0", "4,2|4,2|1|0", 0},
    {RELATION_CONCAT, "", 0, "3|3|0|", "2,2|2,2||1,0", "3,2,2|3,2,2|0|2,1", 0},
    {RELATION_CONCAT, "", 0, "2|2|-2|0", "3|3|0|", "2,3|2,3|-2,1|0", 0},
    {RELATION_CONCAT, "", 0, "||-2|", "|||", "||-2|", 0},
    {RELATION_REPEAT_TO, "16,8", 0, "8,4|8,4|0,1|", 0, "16,8|2,8,2,4|1,3|0,2", 0},
    {RELATION_REPEAT_TO, "3,4", 0, "2|2|0|", 0, "3,4|3,2,2|2|0,1", 0},
    {RELATION_REPEAT_TO, "8,4", 0, "8,4|8,4|0,1|", 0, "8,4|8,4|0,1|", 0},
    {RELATION_REPEAT_TO, "16,6", 0, "8,4|8,4|0,1|", 0, 0, R(NOT_REPEATABLE)},
    {RELATION_REPEAT_TO, "32", 0, "8,4|8,4|0,1|", 0, 0, R(NOT_REPEATABLE)},

    {RELATION_DIVIDE, "", 0, "12|12|0|", "4|4|0|", "3|3|0|", 0},
    {RELATION_DIVIDE, "", 0, "6,8|3,2,2,4|0,2|1,3", "2,4|2,4||0,1", "3,2|3,2|0,1|", 0},
    {RELATION_DIVIDE, "", 0, "4,8|2,2,4,2|2,0|3,1", "2,2|2,2||1,0", "2,4|2,4|1,0|", 0},
    {RELATION_DIVIDE, "", 0, "4|4|-6,0|", "2|2|-2,0|", 0, R(NOT_DIVISIBLE)},
    {RELATION_DIVIDE, "", 0, "2|2|0,-6|", "||-2|", "2|2|0,-3|", 0},
    {RELATION_DIVIDE, "", 0, "2|2|0,-2,-3|", "||-6|", "2|2|0|", 0},
    {RELATION_DIVIDE, "", 0, "2|2|0,-4,-3|", "||-6|", "2|2|0,-2|", 0},
    {RELATION_DIVIDE, "", 0, "1,1,12|12|0|", "4|4|0|", "1,1,3|3|0|", 0},
    {RELATION_DIVIDE, "", 0, "12|12|0|", "1,1,4|4|0|", 0, R(NOT_DIVISIBLE)},
    {RELATION_DIVIDE, "", 0, "|||", "1|||", 0, R(NOT_DIVISIBLE)},
    {RELATION_DIVIDE, "", 0, "6|6|0|", "3|3||0", 0, R(NOT_DIVISIBLE)},
    {RELATION_DIVIDE, "", 0, "6|6|0|", "4|4|0|", 0, R(NOT_DIVISIBLE)},
    {RELATION_DIVIDE, "", 0, "4,6|4,6|0,1|", "3,2|3,2|0,1|", 0, R(NOT_DIVISIBLE)},
    {RELATION_DIVIDE, "", 0, "6|6|0|", "2,3|2,3|0,1|", 0, R(NOT_DIVISIBLE)},
    {RELATION_LEFT_DIVIDE, "", 0, "12|12|0|", "4|4|0|", "3|3|0|", 0},
    {RELATION_LEFT_DIVIDE, "", 0, "12|2,6|1|0", "4|2,2|1|0", "3|3|0|", 0},
    {RELATION_LEFT_DIVIDE, "", 0, "2|2|-6,0|", "||-2|", "2|2|-3,0|", 0},
    {RELATION_LEFT_DIVIDE, "", 0, "6,8|2,3,2,4|0,2|1,3", "2,2|2,2|0,1|", "3,4|3,4||0,1", 0},
    {RELATION_LEFT_DIVIDE, "", 0, "6,8|2,3,2,4|0,2|1,3", "3,4|3,4||0,1", 0, R(NOT_LEFT_DIVISIBLE)},
    {RELATION_LEFT_DIVIDE, "", 0, "6|6|0|", "3|3||0", 0, R(NOT_LEFT_DIVISIBLE)},

    {RELATION_REDUCE, "0", 0, "3,4|3,4|0,1|", 0, "4|4|-3,0|", 0},
    {RELATION_REDUCE, "+1", 0, "4,3|4,3|0,1|", 0, "4,1|4|0,-3|", 0},
    {RELATION_REDUCE, "0", 0, "4,6|2,2,3,2|0,2|1,3", 0, "6|3,2|-2,0|1", 0},
    {RELATION_REDUCE, "1", 0, "3,5|3,5||0,1", 0, "3|3||0", 0},
    {RELATION_REDUCE, "0,2", 0, "2,3,2|2,3,2|2,1,0|", 0, "3|3|-2,0,-2|", 0},
    {RELATION_REDUCE, "-1", 0, "3,4|3,4|0,1|", 0, "3|3|0,-4|", 0},
    {RELATION_REDUCE, "1,0", 0, "3,4|3,4|0|1", 0, "||-3|", 0},
    {RELATION_REDUCE, "", 0, "3,4|3,4|0|1", 0, "3,4|3,4|0|1", 0},
    {RELATION_REDUCE, "2", 0, "4,3|4,3|0,1|", 0, 0, R(DIM_OUT_OF_RANGE)},
    {RELATION_REDUCE, "-3", 0, "4,3|4,3|0,1|", 0, 0, R(DIM_OUT_OF_RANGE)},
    {RELATION_REDUCE, "0,-2", 0, "4,3|4,3|0,1|", 0, 0, R(DIM_DUPLICATE)},
    {RELATION_REDUCE_TO, "1,5", 0, "3,5|3,5|0,1|", 0, "1,5|5|-3,0|", 0},
    {RELATION_REDUCE_TO, "6,1", 0, "6,8|2,3,2,4|0,2|1,3", 0, "6,1|2,3|0,-2|1", 0},
    {RELATION_REDUCE_TO, "5", 0, "3,5|3,5|0,1|", 0, "5|5|-3,0|", 0},
    {RELATION_REDUCE_TO, "", 0, "3,5|3,5|0|1", 0, "||-3|", 0},
    {RELATION_REDUCE_TO, "2,5", 0, "3,5|3,5|0,1|", 0, 0, R(NOT_BROADCASTABLE)},
    {RELATION_REDUCE_TO, "3", 0, "3,5|3,5|0,1|", 0, 0, R(NOT_BROADCASTABLE)},
    {RELATION_REDUCE_TO, "1,3,5", 0, "3,5|3,5|0,1|", 0, 0, R(NOT_BROADCASTABLE)},
};
#undef R

static void operations_make_what_they_say(void **state) {
  (void)state;
  bool seen[RELATION_KINDS] = {false};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const row *r = &rows[i];
    relation_op op = op_of_row(r);
    tesela_register a = r->a ? rows_layout(r->a) : rows_filled(),
                    b = r->b ? rows_layout(r->b) : rows_filled();
    tesela_register out = rows_filled();
    tesela_error err = {.message = ""};
    char what[64];
    (void)snprintf(what, sizeof what, "row %zu, %s", i, relation_op_name(r->kind));
    seen[r->kind] = true;
    tesela_status status = reg_call(&out, &op, &a, &b, &err);
    if (r->result) {
      if (status != TESELA_OK) fail_msg("%s: %s", what, err.message);
      if (!rows_has_lists(&out, r->result)) fail_msg("%s: %s, expected %s", what, reg_text(&out), r->result);
    } else {
      reg_expect_refused(status, &err, (uint32_t)1 << r->reason, what);
      if (!rows_is_filled(&out, sizeof out)) fail_msg("%s: out changed", what);
    }
    assert_int_equal(reg_call(&out, &op, &a, &b, NULL), status);
  }
  for (int kind = 0; kind < RELATION_KINDS; kind++) assert_true(seen[kind]);
}

static void with_shape_keeps_modes(void **state) {
  (void)state;
  static const struct {
    const char *layout, *shape, *result;
    tesela_reason reason;
  } cases[] = {
      {"2,3|2,3|0,1|", "6", "6|2,3|0,1|", 0},
      {"2,3|2,3|0,1|", "1,2,1,3,1", "1,2,1,3,1|2,3|0,1|", 0},
      {"12|3,4|0|1", "3,4", "3,4|3,4|0|1", 0},
      {"1||-2|", "", "||-2|", 0},
      {"12|3,4|0|1", "4,3", NULL, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"12|3,4|0|1", "6,2", NULL, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"12|3,4|0|1", "3", NULL, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"12|3,4|0|1", "3,8", NULL, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"12|3,4|0|1", "12,0", NULL, TESELA_REASON_SHAPE_NOT_POSITIVE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tesela_register layout = rows_layout(cases[i].layout), out = rows_filled();
    tesela_error err = {.message = ""};
    const char *text = cases[i].shape;
    int64_t shape[LISTS_MOST];
    int32_t rank = rows_list(&text, shape);
    tesela_status status = tesela_register_with_shape(&out, &layout, rank, shape, &err);
    if (cases[i].result) {
      if (status != TESELA_OK) fail_msg("%s: %s", cases[i].layout, err.message);
      if (!rows_has_lists(&out, cases[i].result)) fail_msg("%s: %s", cases[i].layout, reg_text(&out));
      OK(tesela_register_with_shape(&layout, &layout, rank, shape, &e_));
      assert_true(reg_equal(&layout, &out));
    } else {
      reg_expect_refused(status, &err, (uint32_t)1 << cases[i].reason, cases[i].layout);
      assert_true(rows_is_filled(&out, sizeof out));
      assert_int_equal(tesela_register_with_shape(&out, &layout, rank, shape, NULL), status);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operations_make_what_they_say),
      cmocka_unit_test(with_shape_keeps_modes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
