/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_register_rows.c - register layouts by rows: what every function makes of small cases, digit by digit, and every
 * refusal with its status and reason.
 *
 * Layouts are written "shape | mode_shape | spatial_modes | local_modes". Expected lists are worked out by hand from the
 * definitions in register.h.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_register.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

/* ---- reading rows ------------------------------------------------------------------------------------------------- */

/* Integers up to the next '|' or the end. */
static int32_t read_list(const char **text, int64_t *list) {
  int32_t n = 0;
  char *end;
  while (**text != '\0' && **text != '|') {
    list[n] = strtoll(*text, &end, 10);
    n += end != *text;
    *text = end + (end == *text || *end == ',');
  }
  *text += **text == '|';
  return n;
}

static register_lists lists_of_text(const char *text) {
  register_lists l;
  memset(&l, 0, sizeof l);
  l.rank = read_list(&text, l.shape);
  l.n_modes = read_list(&text, l.mode_shape);
  l.n_spatial = read_list(&text, l.spatial_modes);
  l.n_local = read_list(&text, l.local_modes);
  return l;
}

static tesela_register layout_of_text(const char *text) {
  tesela_register layout;
  register_lists lists = lists_of_text(text);
  OK(reg_make(&layout, &lists, true, &e_));
  return layout;
}

/* Exactly these lists? */
static bool has_lists(const tesela_register *layout, const char *text) {
  tesela_register expected = layout_of_text(text);
  return reg_equal(layout, &expected) && tesela_register_identical(layout, &expected);
}

static tesela_register filled(void) {
  tesela_register out;
  memset(&out, 0xA5, sizeof out);
  return out;
}

static bool is_filled(const void *object, size_t size) {
  const unsigned char *byte = object;
  for (size_t i = 0; i < size; i++)
    if (byte[i] != 0xA5) return false;
  return true;
}

/* ---- four lists ----------------------------------------------------------------------------------------------------- */

static void lists_are_made_and_reduced(void **state) {
  (void)state;
  static const struct {
    const char *lists, *reduced;
  } rows[] = {
      {"|||", "|||"},
      {"|1,1|0|1", "|||"},
      {"1|1||0", "1|||"},
      {"1,1|||", "1,1|||"},
      {"6,12|3,2,4,3|1,3|0,2", "6,12|3,2,4,3|1,3|0,2"},
      {"4,6|2,2,3,2|0,2|3,1", "4,6|2,2,3,2|0,2|3,1"},
      {"6|2,3|0,1|", "6|6|0|"},
      {"6|2,3|1,0|", "6|2,3|1,0|"},
      {"6|2,3|0|1", "6|2,3|0|1"},
      {"8|2,2,2||0,1,2", "8|8||0"},
      {"8|2,2,2|0,1|2", "8|4,2|0|1"},
      {"8|2,2,2|1,2,0|", "8|2,4|1,0|"},
      {"2,3|2,3|0,1|", "2,3|2,3|0,1|"},                    /* never across dims */
      {"12,1,6|3,4,1,2,3|0,1,2,3,4|", "12,1,6|12,6|0,1|"}, /* a mode of 1 goes, then neighbours join */
      {"6|2,1,3|0,1,2|", "6|6|0|"},                        /* the 1 stood between them */
      {"6|2,1,3|0,2|1", "6|6|0|"},                         /* .. or in the other list */
      {"6|2,3|0,-2,1|", "6|2,3|0,-2,1|"},                  /* a replica keeps them apart */
      {"6|2,3|0,-1,1|", "6|2,3|0,-1,1|"},                  /* even one of 1 */
      {"4|4|-2,-3,0|", "4|4|-2,-3,0|"},                    /* replicas stay as spelt */
      {"4|1,2,1,2,1|0,1,2|3,4", "4|2,2|0|1"},
      {"1,1,4,1|4||0", "1,1,4,1|4||0"},
      {"5,1|1,5|0|1", "5,1|5||0"},
      {"|1|-3,0|", "||-3|"},
      {"6|2,1,3|0,2|", "6|6|0|"}, /* a mode of 1 may be left out */
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_register made;
    register_lists lists = lists_of_text(rows[i].lists);
    OK(reg_make(&made, &lists, false, &e_));
    if (!has_lists(&made, rows[i].reduced)) fail_msg("%s: %s", rows[i].lists, reg_text(&made));
    tesela_register raw = layout_of_text(rows[i].lists), reduced;
    tesela_register_reduced(&reduced, &raw);
    if (!has_lists(&reduced, rows[i].reduced)) fail_msg("%s: %s", rows[i].lists, reg_text(&reduced));
  }
}

static void lists_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *lists;
    tesela_status status;
    tesela_reason reason;
  } rows[] = {
      {"0|||", TESELA_E_RANGE, TESELA_REASON_SHAPE_NOT_POSITIVE},
      {"-4|4|0|", TESELA_E_RANGE, TESELA_REASON_SHAPE_NOT_POSITIVE},
      {"2,0|2|0|", TESELA_E_RANGE, TESELA_REASON_SHAPE_NOT_POSITIVE},
      {"6|0,6|0,1|", TESELA_E_RANGE, TESELA_REASON_MODE_NOT_POSITIVE},
      {"6|-2,-3|0,1|", TESELA_E_RANGE, TESELA_REASON_MODE_NOT_POSITIVE},
      {"6|5|0|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"6|2|0|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"6|2,3,2|0,1,2|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"6|12|0|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"2,3|6|0|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"2,3|3,2|0,1|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"6|||", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"|2|0|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"1|2|0|", TESELA_E_INVALID, TESELA_REASON_MODE_DOES_NOT_FIT_SHAPE},
      {"6|3,2|0,0|1", TESELA_E_INVALID, TESELA_REASON_MODE_USED_TWICE},
      {"6|3,2|0|1,1", TESELA_E_INVALID, TESELA_REASON_MODE_USED_TWICE},
      {"6|3,2|0,1|1", TESELA_E_INVALID, TESELA_REASON_MODE_USED_TWICE},
      {"6|1,6|0,1|0", TESELA_E_INVALID, TESELA_REASON_MODE_USED_TWICE},
      {"6|3,2|0|", TESELA_E_INVALID, TESELA_REASON_MODE_NOT_PLACED},
      {"6|6||", TESELA_E_INVALID, TESELA_REASON_MODE_NOT_PLACED},
      {"6|6|-6|", TESELA_E_INVALID, TESELA_REASON_MODE_NOT_PLACED},
      {"6|3,2|0,4|", TESELA_E_RANGE, TESELA_REASON_SPATIAL_MODE_OUT_OF_RANGE},
      {"6|3,2|0,1,2|", TESELA_E_RANGE, TESELA_REASON_SPATIAL_MODE_OUT_OF_RANGE},
      {"6|3,2|9223372036854775807|", TESELA_E_RANGE, TESELA_REASON_SPATIAL_MODE_OUT_OF_RANGE},
      {"|| 0|", TESELA_E_RANGE, TESELA_REASON_SPATIAL_MODE_OUT_OF_RANGE},
      {"6|3,2|0|2", TESELA_E_RANGE, TESELA_REASON_LOCAL_MODE_OUT_OF_RANGE},
      {"6|3,2|0|-1", TESELA_E_RANGE, TESELA_REASON_LOCAL_MODE_OUT_OF_RANGE},
      {"6|3,2|0|4294967297", TESELA_E_RANGE, TESELA_REASON_LOCAL_MODE_OUT_OF_RANGE}, /* 1 + 2^32 */
      {"6|3,2|0|-4294967295", TESELA_E_RANGE, TESELA_REASON_LOCAL_MODE_OUT_OF_RANGE},
      {"4|4|-4611686018427387904,0|", TESELA_E_OVERFLOW, TESELA_REASON_NONE},
      {"4|4|-9223372036854775808,0|", TESELA_E_OVERFLOW, TESELA_REASON_NONE},
      {"1|1|-9223372036854775808|0", TESELA_E_OVERFLOW, TESELA_REASON_NONE},
      {"4294967296,4294967296|4294967296,4294967296|0|1", TESELA_E_OVERFLOW, TESELA_REASON_NONE},
      {"2|2|-4611686018427387904|0", TESELA_E_OVERFLOW,
       TESELA_REASON_NONE}, /* threads fit, times registers not */
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (int raw = 0; raw < 2; raw++) {
      tesela_register out = filled();
      tesela_error err = {.message = ""};
      register_lists lists = lists_of_text(rows[i].lists);
      tesela_status status = reg_make(&out, &lists, raw, &err);
      if (status != rows[i].status || err.status != status || err.reason != rows[i].reason ||
          err.message[0] == '\0')
        fail_msg("%s: status %d, reason %s: %s", rows[i].lists, (int)status, tesela_reason_code(err.reason),
                 err.message);
      if (!is_filled(&out, sizeof out)) fail_msg("%s: out changed", rows[i].lists);
      assert_int_equal(reg_make(&out, &lists, raw, NULL), status);
    }
}

/* ---- operations --------------------------------------------------------------------------------------------------------- */

typedef struct row {
  relation_kind kind;
  const char *list; /* "shape" or "dims", then " ; ranks"; keepdims is a '+' in front */
  int64_t number;
  const char *a, *b, *result; /* layouts; result NULL: refused */
  tesela_reason reason;
} row;

static relation_op op_of_row(const row *r) {
  relation_op op = {.kind = r->kind, .number = r->number, .keepdims = r->list[0] == '+'};
  const char *text = r->list + op.keepdims;
  op.n = read_list(&text, op.list);
  op.ranked = *text != '\0';
  if (op.ranked) (void)read_list(&text, op.ranks);
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
    {RELATION_DIVIDE, "", 0, "12|12|0|", "1,1,4|4|0|", "3|3|0|", 0},
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
    tesela_register a = r->a ? layout_of_text(r->a) : filled(), b = r->b ? layout_of_text(r->b) : filled();
    tesela_register out = filled();
    tesela_error err = {.message = ""};
    char what[64];
    (void)snprintf(what, sizeof what, "row %zu, %s", i, relation_op_name(r->kind));
    seen[r->kind] = true;
    tesela_status status = reg_call(&out, &op, &a, &b, &err);
    if (r->result) {
      if (status != TESELA_OK) fail_msg("%s: %s", what, err.message);
      if (!has_lists(&out, r->result)) fail_msg("%s: %s, expected %s", what, reg_text(&out), r->result);
    } else {
      reg_expect_refused(status, &err, (uint32_t)1 << r->reason, what);
      if (!is_filled(&out, sizeof out)) fail_msg("%s: out changed", what);
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
    tesela_register layout = layout_of_text(cases[i].layout), out = filled();
    tesela_error err = {.message = ""};
    const char *text = cases[i].shape;
    int64_t shape[LISTS_MOST];
    int32_t rank = read_list(&text, shape);
    tesela_status status = tesela_register_with_shape(&out, &layout, rank, shape, &err);
    if (cases[i].result) {
      if (status != TESELA_OK) fail_msg("%s: %s", cases[i].layout, err.message);
      if (!has_lists(&out, cases[i].result)) fail_msg("%s: %s", cases[i].layout, reg_text(&out));
      OK(tesela_register_with_shape(&layout, &layout, rank, shape, &e_));
      assert_true(reg_equal(&layout, &out));
    } else {
      reg_expect_refused(status, &err, (uint32_t)1 << cases[i].reason, cases[i].layout);
      assert_true(is_filled(&out, sizeof out));
      assert_int_equal(tesela_register_with_shape(&out, &layout, rank, shape, NULL), status);
    }
  }
}

/* ---- forms, equality ------------------------------------------------------------------------------------------------ */

static void canonical_forms(void **state) {
  (void)state;
  static const char *const forms[][2] = {
      {"4|4|-2,-1,-3,0|", "4|4|-6,0|"},  {"6|2,3|0,-1,1|", "6|6|0|"}, {"6|2,3|0,-2,-2,1|", "6|2,3|0,-4,1|"},
      {"6|2,3|-1,0,-1,1,-1|", "6|6|0|"}, {"||-1,-1|", "|||"},         {"4|2,2|0,-2|1", "4|2,2|0,-2|1"},
  };
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    tesela_register layout = layout_of_text(forms[i][0]), canonical;
    tesela_register_canonical(&canonical, &layout);
    if (!has_lists(&canonical, forms[i][1])) fail_msg("%s: %s", forms[i][0], reg_text(&canonical));
    assert_true(tesela_register_same(&layout, &canonical));
    tesela_register_canonical(&layout, &layout);
    assert_true(tesela_register_identical(&layout, &canonical));
  }
  static const struct {
    const char *a, *b;
    bool identical, same;
  } pairs[] = {
      {"6|2,3|0,1|", "6|6|0|", false, true},
      {"6|6|0|", "6|6|0|", true, true},
      {"6|6|0|", "6|6||0", false, false},
      {"2,3|2,3|0,1|", "6|6|0|", false, false},
      {"2,3|2,3|0,1|", "2,3|2,3|1,0|", false, false},
      {"4|4|-2,-3,0|", "4|4|-3,-2,0|", false, true},
      {"4|4|-2,0|", "4|4|0,-2|", false, false},
      {"4|4|0|", "4|4|0,-1|", false, true},
      {"1,4|4|0|", "4|4|0|", false, false},
      {"4|4|-2,0|", "4|4|-3,0|", false, false},
      {"2,1|1,2|1|0", "2,1|2|0|", false, true},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    tesela_register a = layout_of_text(pairs[i].a), b = layout_of_text(pairs[i].b);
    if (tesela_register_identical(&a, &b) != pairs[i].identical ||
        tesela_register_same(&a, &b) != pairs[i].same || tesela_register_same(&b, &a) != pairs[i].same)
      fail_msg("%s and %s", pairs[i].a, pairs[i].b);
  }
}

/* ---- asking --------------------------------------------------------------------------------------------------------- */

static void questions_outside_are_refused(void **state) {
  (void)state;
  tesela_register layout = layout_of_text("4,6|2,2,3,2|-2,0,2|3,1"); /* 12 threads, 4 registers, 2 copies */
  static const int64_t outside[][2] = {{4, 0}, {0, 6}, {-1, 0}, {0, -1}, {INT64_MIN, 0}, {0, INT64_MAX}};
  int64_t thread = 77, local = 78, index[2] = {79, 80};
  bool holds = true;
  tesela_error err;
  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
    assert_int_equal(tesela_register_get_spatial(&layout, outside[i], 0, &thread, &err), TESELA_E_RANGE);
    assert_int_equal(tesela_register_get_local(&layout, outside[i], &local, &err), TESELA_E_RANGE);
    assert_int_equal(tesela_register_locate_at(&layout, outside[i], 0, &holds, &err), TESELA_E_RANGE);
    assert_int_equal(tesela_register_get_local(&layout, outside[i], &local, NULL), TESELA_E_RANGE);
  }
  static const int64_t copies[] = {-1, 2, INT64_MIN, INT64_MAX}, threads[] = {-1, 12, INT64_MIN, INT64_MAX},
                       locals[] = {-1, 4, INT64_MIN, INT64_MAX};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(tesela_register_get_spatial(&layout, (int64_t[]){1, 1}, copies[i], &thread, &err),
                     TESELA_E_RANGE);
    assert_int_equal(tesela_register_get_global(&layout, threads[i], 0, index, &err), TESELA_E_RANGE);
    assert_int_equal(tesela_register_get_global(&layout, 0, locals[i], index, &err), TESELA_E_RANGE);
    assert_int_equal(tesela_register_locate_at(&layout, (int64_t[]){1, 1}, threads[i], &holds, NULL),
                     TESELA_E_RANGE);
  }
  assert_true(thread == 77 && local == 78 && index[0] == 79 && index[1] == 80 && holds);
  assert_true(err.reason == TESELA_REASON_NONE && err.status == TESELA_E_RANGE && err.message[0] != '\0');
  tesela_register point = layout_of_text("||-3|");
  OK(tesela_register_get_spatial(&point, NULL, 2, &thread, &e_));
  OK(tesela_register_get_local(&point, NULL, &local, &e_));
  OK(tesela_register_get_global(&point, 1, 0, index, &e_));
  assert_true(thread == 2 && local == 0 && index[0] == 79);
}

static void covers_by_rows(void **state) {
  (void)state;
  static const struct {
    const char *have, *need;
    bool covers;
  } pairs[] = {
      {"8|4,2|0|1", "8|2,4|1|0", false}, /* the example of the header */
      {"4|4|-3,0|", "4|4|0|", true},     /* fewer threads */
      {"4|4|0|", "4|4|-3,0|", false},    /* threads that are not there */
      {"4|4||0", "4|4||0", true},
      {"4|4|-4|0", "4|4|0|", true}, /* all have all */
      {"4|4|0|", "4|4|-4|0", false},
      {"6|2,3|0|1", "6|3,2|0|1", false},
      {"6|6|-2|0", "6|2,3|0|1", true},
      {"2,3|2,3|0|1", "2,3|2,3|0,1|", false},   /* thread 3 of 2 */
      {"2,3|2,3|-3,0|1", "2,3|2,3|1,0|", true}, /* thread 3*.. + row has its row */
      {"|||", "|||", true},
      {"||-2|", "|||", true},
      {"|||", "||-2|", false},
      {"12|12|-2,0|", "12|12|0|", true},
      {"12|3,4|-5,0|1", "12|3,2,2|-5,0|2,1", true}, /* another register does not matter */
  };
  bool covers = false;
  tesela_error err;
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    tesela_register have = layout_of_text(pairs[i].have), need = layout_of_text(pairs[i].need);
    OK(tesela_register_covers(&have, &need, &covers, &e_));
    if (covers != pairs[i].covers) fail_msg("%s covers %s: %d", pairs[i].have, pairs[i].need, covers);
  }
  covers = true;
  tesela_register a = layout_of_text("2,3|2,3|0,1|"), b = layout_of_text("6|6|0|"),
                  c = layout_of_text("1,6|6|0|");
  assert_int_equal(tesela_register_covers(&a, &b, &covers, &err), TESELA_E_MISMATCH);
  assert_int_equal(tesela_register_covers(&b, &c, &covers, &err), TESELA_E_MISMATCH);
  assert_int_equal(tesela_register_covers(&c, &b, &covers, NULL), TESELA_E_MISMATCH);
  assert_true(covers && err.status == TESELA_E_MISMATCH && err.message[0] != '\0');
}

/* ---- a layout that another program filled in -------------------------------------------------------------------------- */

static void check_finds_what_was_changed(void **state) {
  (void)state;
  const tesela_register good = layout_of_text("4,6|2,2,3,2|-2,0,2|3,1");
  tesela_error err;
  OK(tesela_register_check(&good, &e_));
  struct {
    tesela_register layout;
    tesela_status status;
    tesela_reason reason;
  } bad[16];
  size_t n = 0;
#define BAD(change, wants, why)            \
  do {                                     \
    bad[n].layout = good;                  \
    bad[n].layout.change;                  \
    bad[n].status = wants;                 \
    bad[n++].reason = TESELA_REASON_##why; \
  } while (0)
  BAD(rank = 33, TESELA_E_LIMIT, NONE);
  BAD(rank = -1, TESELA_E_LIMIT, NONE);
  BAD(n_modes = 65, TESELA_E_LIMIT, NONE);
  BAD(n_spatial = 65, TESELA_E_LIMIT, NONE);
  BAD(n_local = -1, TESELA_E_LIMIT, NONE);
  BAD(spatial_size = 6, TESELA_E_INVALID, NONE);
  BAD(local_size = 8, TESELA_E_INVALID, NONE);
  BAD(shape[0] = 0, TESELA_E_RANGE, SHAPE_NOT_POSITIVE);
  BAD(mode_shape[1] = 0, TESELA_E_RANGE, MODE_NOT_POSITIVE);
  BAD(mode_shape[1] = 3, TESELA_E_INVALID, MODE_DOES_NOT_FIT_SHAPE);
  BAD(spatial_modes[1] = 4, TESELA_E_RANGE, SPATIAL_MODE_OUT_OF_RANGE);
  BAD(local_modes[1] = -2, TESELA_E_RANGE, LOCAL_MODE_OUT_OF_RANGE);
  BAD(local_modes[1] = 0, TESELA_E_INVALID, MODE_USED_TWICE);
  BAD(n_local = 1, TESELA_E_INVALID, MODE_NOT_PLACED);
  BAD(spatial_modes[0] = INT64_MIN, TESELA_E_OVERFLOW, NONE);
#undef BAD
  for (size_t i = 0; i < n; i++) {
    tesela_status status = tesela_register_check(&bad[i].layout, &err);
    if (status != bad[i].status || err.reason != bad[i].reason)
      fail_msg("%zu: status %d, reason %s: %s", i, (int)status, tesela_reason_code(err.reason), err.message);
    assert_int_equal(tesela_register_check(&bad[i].layout, NULL), status);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_are_made_and_reduced),
      cmocka_unit_test(lists_are_refused),
      cmocka_unit_test(operations_make_what_they_say),
      cmocka_unit_test(with_shape_keeps_modes),
      cmocka_unit_test(canonical_forms),
      cmocka_unit_test(questions_outside_are_refused),
      cmocka_unit_test(covers_by_rows),
      cmocka_unit_test(check_finds_what_was_changed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
