/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_xla.c - the ops that say what an XLA shape is, program and choose, and info and parse, which take any layout.
 */
#include <inttypes.h>
#include <string.h>

#include "device.h"
#include "expression.h"
#include "query.h"

/* ---- info -------------------------------------------------------------------------------------------------
 */

static void put_digit(json_writer *out, const tesela_layout *layout, const tesela_digit *digit) {
  const char *source = digit->source == TESELA_REPLICA ? "replica"
                       : digit->source == TESELA_HOLE  ? "hole"
                       : digit->source < layout->rank  ? "dim"
                                                       : "join";
  jw_object(out);
  jw_put_str(out, "source", source);
  if (digit->source >= 0)
    jw_put_int(out, "index", digit->source < layout->rank ? digit->source : digit->source - layout->rank);
  jw_put_int(out, "step", digit->step);
  jw_put_int(out, "extent", digit->extent);
  if (digit->join >= 0) {
    jw_put_int(out, "join", digit->join);
    jw_put_int(out, "weight", digit->stride);
  } else {
    jw_put_int(out, "stride", digit->stride);
    jw_put_str(out, "axis", layout->axis[digit->axis].name);
  }
  jw_end(out);
}

/* A list of the bits that are set. */
static void put_dims(json_writer *out, uint32_t dims) {
  jw_list(out);
  for (int d = 0; d < 32; d++)
    if (dims >> d & 1) jw_int(out, d);
  jw_end(out);
}

static void put_pad(json_writer *out, const tesela_xla_pad *pad) {
  static const char *const kinds[] = {
      [TESELA_XLA_PAD_TILE] = "tile", [TESELA_XLA_PAD_TAIL] = "tail", [TESELA_XLA_PAD_WIDTH] = "width"};
  jw_object(out);
  jw_put_str(out, "kind", kinds[pad->kind]);
  if (pad->kind == TESELA_XLA_PAD_TILE) {
    jw_put_int(out, "level", pad->level);
    jw_put_int(out, "entry", pad->entry);
    jw_put_int(out, "from_end", pad->from_end);
    jw_key(out, "dims");
    put_dims(out, pad->dims);
  }
  jw_put_int(out, "tile", pad->tile);
  jw_put_int(out, "extent", pad->extent);
  jw_put_int(out, "padded", pad->padded);
  jw_end(out);
}

static void put_shape(json_writer *out, const char *name, const tesela_xla_shape *shape) {
  jw_key(out, name);
  tesela_writer to = jw_text_begin(out);
  tesela_xla_print(shape, true, &to, NULL);
  jw_text_end(out);
}

static void put_sizes(json_writer *out, const tesela_xla_shape *shape, const tesela_xla_sizes *sizes) {
  jw_key(out, "shape");
  jw_ints(out, shape->rank, shape->dim);
  jw_put_int(out, "rank", shape->rank);
  jw_put_str(out, "dtype", tesela_dtype_name(shape->dtype));
  jw_put_int(out, "bits", sizes->bits_per_element);
  jw_put_int(out, "logical_elements", sizes->logical_elements);
  jw_put_int(out, "logical_bytes", sizes->logical_bytes);
  jw_put_int(out, "elements", sizes->elements);
  jw_put_int(out, "bytes", sizes->bytes);
  jw_put_int(out, "allocated_bytes", sizes->allocated_bytes);
  jw_key(out, "expansion");
  jw_real(out, sizes->expansion);
}

static void put_digits(json_writer *out, const tesela_layout *layout) {
  jw_key(out, "digits");
  jw_list(out);
  for (int32_t i = 0; i < layout->n_active; i++) put_digit(out, layout, &layout->digit[i]);
  jw_end(out);
}

static tesela_status put_info(query *q, const tesela_xla_shape *shape, const tesela_layout *layout) {
  enum { PADS = TESELA_XLA_MAX_TILE_NUMBERS + 2 };
  tesela_xla_sizes sizes;
  tesela_xla_pad pad[PADS];
  int64_t bounds[TESELA_MAX_DIGITS];
  int32_t n_bounds = 0, n_pads = 0;
  tesela_status status = tesela_xla_size(shape, &sizes, q->err);
  if (status == TESELA_OK)
    status = tesela_xla_bounds(shape, shape->layout.n_tiles, bounds, &n_bounds, q->err);
  if (status == TESELA_OK) status = tesela_xla_padding(shape, PADS, pad, &n_pads, q->err);
  if (status != TESELA_OK) return status;
  put_sizes(q->out, shape, &sizes);
  put_shape(q->out, "canonical", shape);
  put_digits(q->out, layout);
  jw_key(q->out, "bounds");
  jw_ints(q->out, n_bounds, bounds);
  jw_key(q->out, "padding");
  jw_list(q->out);
  for (int32_t i = 0; i < n_pads && i < PADS; i++) put_pad(q->out, &pad[i]);
  jw_end(q->out);
  return TESELA_OK;
}

tesela_status query_op_info(query *q) {
  tesela_any_layout any;
  tesela_layout layout;
  tesela_status status = query_any(q, "layout", &any, &layout);
  if (status != TESELA_OK) return status;
  if (any.kind == TESELA_KIND_XLA) return put_info(q, &any.shape, &layout);
  jw_put_str(q->out, "kind", tesela_kind_name(any.kind));
  jw_put_int(q->out, "rank", layout.rank);
  if (any.kind == TESELA_KIND_DEVICE)
    status = device_put(q->out, &any.device, NULL, q->err);
  else if (any.kind == TESELA_KIND_REGISTER)
    expression_put_register(q->out, &any.registers, NULL);
  else if (any.kind != TESELA_KIND_RELATION)
    expression_put_memory(q->out, &any.memory);
  if (status == TESELA_OK) put_digits(q->out, &layout);
  return status;
}

/* ---- parse ------------------------------------------------------------------------------------------------
 */

static void put_kept(json_writer *out, const tesela_xla_tree *tree) {
  uint32_t kept = 0;
  for (int32_t i = 0; i < tesela_xla_tree_count(tree); i++) {
    tesela_xla_node node = tesela_xla_tree_node(tree, i);
    if (node.shape) kept |= tesela_xla_kept(node.shape);
  }
  jw_key(out, "kept");
  jw_list(out);
  for (int bit = 0; bit < 32; bit++)
    if (kept >> bit & 1) jw_str(out, tesela_xla_kept_text((uint32_t)1 << bit));
  jw_end(out);
}

/* What was read and has no place in the shape; a strict reader notes nothing else. */
static void put_dropped(json_writer *out, const tesela_xla_repairs *repairs) {
  bool levels = false;
  for (int32_t i = 0; i < repairs->count && i < TESELA_XLA_MAX_REPAIRS; i++)
    levels = levels || strncmp(repairs->repair[i].what, "D(", 2) == 0;
  jw_key(out, "dropped");
  jw_list(out);
  if (levels) jw_str(out, "D: dim level types");
  jw_end(out);
}

static void put_repairs(json_writer *out, const tesela_xla_repairs *repairs) {
  jw_put_int(out, "n_repairs", repairs->count);
  jw_key(out, "repairs");
  jw_list(out);
  for (int32_t i = 0; i < repairs->count && i < TESELA_XLA_MAX_REPAIRS; i++) {
    jw_object(out);
    jw_put_int(out, "at", repairs->repair[i].at);
    jw_put_str(out, "what", repairs->repair[i].what);
    jw_end(out);
  }
  jw_end(out);
}

/* A layout that is not in XLA's notation; nothing of it is dropped, nothing mended. */
static tesela_status parse_other(query *q, const char *text, size_t length, const char *notation) {
  tesela_any_layout any;
  const tesela_layout_read_options options = {.notation = notation, .flags = q->flags};
  tesela_status status = tesela_layout_read(text, length, &options, &any, q->err);
  if (status != TESELA_OK) return status;
  jw_put_str(q->out, "kind", tesela_kind_name(any.kind));
  jw_key(q->out, "printed");
  tesela_writer to = jw_text_begin(q->out);
  status = tesela_any_print(&any, &to, q->err);
  jw_text_end(q->out);
  jw_key(q->out, "kept");
  jw_list(q->out);
  jw_end(q->out);
  put_dropped(q->out, &any.repairs);
  if (q->flags & TESELA_XLA_LENIENT) put_repairs(q->out, &any.repairs);
  return status;
}

enum { PARSE_ARRAYS = 50000 }; /* a tree has about 2 KiB for each */

/* Has the text no more arrays than max_arrays? Each has a bracket. */
static tesela_status check_arrays(query *q, const char *text, size_t length) {
  const json_t *field = query_get(q, "max_arrays");
  int64_t most = field ? json_integer_value(field) : PARSE_ARRAYS, n = 0;
  for (size_t i = 0; i < length; i++) n += text[i] == '[';
  if (most < 1) return query_fail(q, TESELA_E_RANGE, -1, "max_arrays is %" PRId64 "; it is 1 or more", most);
  q->field = "text";
  if (n <= most) return TESELA_OK;
  return query_fail(q, TESELA_E_LIMIT, -1, "the text has %" PRId64 " arrays; max_arrays is %" PRId64, n,
                    most);
}

static tesela_status parse_xla(query *q, const char *text, size_t length, size_t used) {
  tesela_xla_tree *tree = NULL;
  tesela_xla_repairs repairs = {0};
  tesela_status status = check_arrays(q, text, length);
  if (status != TESELA_OK) return status;
  status = tesela_xla_tree_create(&tree, text + used, length - used, q->flags, NULL, &repairs, q->err);
  if (status != TESELA_OK && q->err->at >= 0) q->err->at += (int64_t)used;
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < repairs.count && i < TESELA_XLA_MAX_REPAIRS; i++)
    repairs.repair[i].at += (int64_t)used;
  jw_key(q->out, "printed");
  tesela_writer to = jw_text_begin(q->out);
  status = tesela_xla_tree_print(tree, true, &to, q->err);
  jw_text_end(q->out);
  put_kept(q->out, tree);
  put_dropped(q->out, &repairs);
  if (q->flags & TESELA_XLA_LENIENT) put_repairs(q->out, &repairs);
  tesela_xla_tree_destroy(tree);
  return status;
}

tesela_status query_op_parse(query *q) {
  size_t used;
  const tesela_notation *found;
  const char *notation = json_string_value(query_get(q, "notation"));
  const json_t *field = query_get(q, "text");
  const char *text = json_string_value(field);
  size_t length = json_string_length(field);
  tesela_status status = tesela_notation_find(text, length, &found, &used, q->err);
  if (status != TESELA_OK) return status;
  if (strcmp(found->name, "xla") == 0 && (!notation || strcmp(notation, "xla") == 0))
    return parse_xla(q, text, length, used);
  return parse_other(q, text, length, notation);
}

/* ---- program, choose --------------------------------------------------------------------------------------
 */

static void put_step(json_writer *out, const tesela_program *program, int32_t i) {
  static const struct {
    const char *op, *numbers;
  } kinds[] = {[TESELA_STEP_TRANSPOSE] = {"transpose", "permutation"},
               [TESELA_STEP_PAD] = {"pad", "amounts"},
               [TESELA_STEP_RESHAPE] = {"reshape", "sizes"}};
  const tesela_step *step = &program->step[i];
  int32_t rank;
  const int64_t *shape = tesela_program_shape(program, i + 1, &rank);
  jw_object(out);
  jw_put_str(out, "op", kinds[step->kind].op);
  jw_put_int(out, "level", step->level);
  jw_key(out, kinds[step->kind].numbers);
  jw_ints(out, step->rank, &program->number[step->first]);
  jw_key(out, "shape");
  jw_ints(out, rank, shape);
  jw_end(out);
}

tesela_status query_op_program(query *q) {
  tesela_xla_shape shape;
  tesela_program program;
  tesela_status status = query_layout(q, "layout", &shape, NULL);
  if (status == TESELA_OK) status = tesela_xla_program(&shape, &program, q->err);
  if (status != TESELA_OK) return status;
  jw_key(q->out, "steps");
  jw_list(q->out);
  for (int32_t i = 0; i < program.n_steps; i++) put_step(q->out, &program, i);
  jw_end(q->out);
  return TESELA_OK;
}

tesela_status query_op_choose(query *q) {
  static const struct {
    const char *field;
    uint32_t option;
  } flags[] = {{"alternative_16bit", TESELA_XLA_CHOOSE_ALTERNATIVE_16BIT},
               {"large_tile", TESELA_XLA_CHOOSE_LARGE_TILE},
               {"early_tpu", TESELA_XLA_CHOOSE_EARLY_TPU},
               {"argument", TESELA_XLA_CHOOSE_ARGUMENT}};
  tesela_xla_shape shape;
  uint32_t options = 0;
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
    if (query_flag(q, flags[i].field)) options |= flags[i].option;
  tesela_status status = query_layout(q, "shape", &shape, NULL);
  if (status == TESELA_OK) status = tesela_xla_choose(&shape, options, q->err);
  if (status == TESELA_OK) put_shape(q->out, "layout", &shape);
  return status;
}
