/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_xla.c - the ops parse, program and choose.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"

/* ---- parse ------------------------------------------------------------------------------------------------
 */

static void put_kept(tesela_sink *out, const tesela_xla_tree *tree) {
  uint32_t kept = 0;
  for (int32_t i = 0; i < tesela_xla_tree_count(tree); i++) {
    tesela_xla_node node = tesela_xla_tree_node(tree, i);
    if (node.shape) kept |= tesela_xla_kept(node.shape);
  }
  tesela_put_key_list(out, "kept");
  for (int bit = 0; bit < 32; bit++)
    if (kept >> bit & 1) tesela_put_text(out, tesela_xla_kept_text((uint32_t)1 << bit));
  tesela_put_end(out);
}

/* What was read and is not part of the shape; a strict reader notes nothing else. */
static void put_dropped(tesela_sink *out, const tesela_xla_repairs *repairs) {
  bool levels = false;
  for (int32_t i = 0; i < repairs->count && i < TESELA_XLA_MAX_REPAIRS; i++)
    levels = levels || strncmp(repairs->repair[i].what, "D(", 2) == 0;
  tesela_put_key_list(out, "dropped");
  if (levels) tesela_put_text(out, "D: dim level types");
  tesela_put_end(out);
}

static void put_repairs(tesela_sink *out, const tesela_xla_repairs *repairs) {
  tesela_put_key_int(out, "n_repairs", repairs->count);
  tesela_put_key_list(out, "repairs");
  for (int32_t i = 0; i < repairs->count && i < TESELA_XLA_MAX_REPAIRS; i++) {
    tesela_put_object(out);
    tesela_put_key_int(out, "at", repairs->repair[i].at);
    tesela_put_key_text(out, "what", repairs->repair[i].what);
    tesela_put_end(out);
  }
  tesela_put_end(out);
}

/* A layout that is not in XLA's notation; nothing is dropped or repaired. */
static tesela_status parse_other(tesela_request *q, const char *text, size_t length, const char *notation) {
  tesela_any_layout any;
  const tesela_layout_read_options options = request_reading(q, notation);
  tesela_status status = tesela_layout_read(text, length, &options, &any, q->err);
  if (status != TESELA_OK) return status;
  tesela_put_key_text(q->out, "kind", tesela_kind_name(any.kind));
  tesela_writer to = tesela_put_key_begin(q->out, "printed");
  status = tesela_any_print(&any, &to, q->err);
  tesela_put_text_end(q->out);
  tesela_put_key_list(q->out, "kept");
  tesela_put_end(q->out);
  put_dropped(q->out, &any.repairs);
  if (q->flags & TESELA_XLA_LENIENT) put_repairs(q->out, &any.repairs);
  return status;
}

enum { PARSE_ARRAYS = 50000 }; /* a tree has about 2 KiB for each */

/* Does the text have at most max_arrays arrays? Each has a bracket. */
static tesela_status check_arrays(tesela_request *q, const char *text, size_t length) {
  const tesela_value *field = tesela_request_get(q, "max_arrays");
  int64_t most = field ? tesela_value_int(field) : PARSE_ARRAYS, n = 0;
  for (size_t i = 0; i < length; i++) n += text[i] == '[';
  if (most < 1)
    return tesela_request_fail(q, TESELA_E_RANGE, -1, "max_arrays is %" PRId64 "; expected 1 or more", most);
  q->field = "text";
  if (n <= most) return TESELA_OK;
  return ops_over(q->err, TESELA_REASON_MAX_ARRAYS,
                  "the text has %" PRId64 " arrays; expected %" PRId64 " or fewer", n, most);
}

static tesela_status parse_xla(tesela_request *q, const char *text, size_t length, size_t used) {
  tesela_xla_tree *tree = NULL;
  tesela_xla_repairs repairs = {0};
  tesela_status status = check_arrays(q, text, length);
  if (status != TESELA_OK) return status;
  status = tesela_xla_tree_create(&tree, text + used, length - used, q->flags, NULL, &repairs, q->err);
  if (status != TESELA_OK && q->err->at >= 0) q->err->at += (int64_t)used;
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < repairs.count && i < TESELA_XLA_MAX_REPAIRS; i++)
    repairs.repair[i].at += (int64_t)used;
  tesela_writer to = tesela_put_key_begin(q->out, "printed");
  status = tesela_xla_tree_print(tree, true, &to, q->err);
  tesela_put_text_end(q->out);
  put_kept(q->out, tree);
  put_dropped(q->out, &repairs);
  if (q->flags & TESELA_XLA_LENIENT) put_repairs(q->out, &repairs);
  tesela_xla_tree_destroy(tree);
  return status;
}

tesela_status op_parse(tesela_request *q) {
  size_t used;
  const tesela_notation *found;
  const char *notation = tesela_value_text(tesela_request_get(q, "notation"));
  const tesela_value *field = tesela_request_get(q, "text");
  const char *text = tesela_value_text(field);
  size_t length = tesela_value_length(field);
  tesela_status status = notation ? request_check_notation(q, "notation") : TESELA_OK;
  if (status != TESELA_OK) return status;
  q->field = "text";
  status = tesela_notation_find(text, length, &found, &used, q->err);
  if (status != TESELA_OK) return status;
  const bool array = strcmp(found->name, "xla") == 0 && !q->reading->array;
  if (array && (!notation || strcmp(notation, "xla") == 0)) return parse_xla(q, text, length, used);
  return parse_other(q, text, length, notation);
}

/* ---- program, choose --------------------------------------------------------------------------------------
 */

static void put_step(tesela_sink *out, const tesela_program *program, int32_t i) {
  static const struct {
    const char *op, *numbers;
  } kinds[] = {[TESELA_STEP_TRANSPOSE] = {"transpose", "permutation"},
               [TESELA_STEP_PAD] = {"pad", "amounts"},
               [TESELA_STEP_RESHAPE] = {"reshape", "sizes"}};
  const tesela_step *step = &program->step[i];
  int32_t rank;
  const int64_t *shape = tesela_program_shape(program, i + 1, &rank);
  tesela_put_object(out);
  tesela_put_key_text(out, "op", kinds[step->kind].op);
  tesela_put_key_int(out, "level", step->level);
  tesela_put_key_ints(out, kinds[step->kind].numbers, step->rank, &program->number[step->first]);
  tesela_put_key_ints(out, "shape", rank, shape);
  tesela_put_end(out);
}

tesela_status op_program(tesela_request *q) {
  tesela_xla_shape shape;
  tesela_program program;
  tesela_status status = request_layout(q, "layout", &shape, NULL);
  if (status == TESELA_OK) status = tesela_xla_program(&shape, &program, q->err);
  if (status != TESELA_OK) return status;
  tesela_put_key_list(q->out, "steps");
  for (int32_t i = 0; i < program.n_steps; i++) put_step(q->out, &program, i);
  tesela_put_end(q->out);
  return TESELA_OK;
}

tesela_status op_choose(tesela_request *q) {
  static const struct {
    const char *field;
    uint32_t option;
  } flags[] = {{"alternative_16bit", TESELA_XLA_CHOOSE_ALTERNATIVE_16BIT},
               {"large_tile", TESELA_XLA_CHOOSE_LARGE_TILE},
               {"early_tpu", TESELA_XLA_CHOOSE_EARLY_TPU},
               {"argument", TESELA_XLA_CHOOSE_ARGUMENT},
               {"order", TESELA_XLA_CHOOSE_ORDER}};
  const char *target = tesela_value_text(tesela_request_get(q, "target"));
  tesela_xla_shape shape;
  uint32_t options =
      target && (strcmp(target, "v2") == 0 || strcmp(target, "v3") == 0) ? TESELA_XLA_CHOOSE_EARLY_TPU : 0;
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
    if (tesela_request_flag(q, flags[i].field)) options |= flags[i].option;
  tesela_status status = request_layout(q, "shape", &shape, NULL);
  if (status == TESELA_OK) status = tesela_xla_choose(&shape, options, q->err);
  if (status == TESELA_OK) request_put_shape(q->out, "layout", &shape);
  return status;
}
