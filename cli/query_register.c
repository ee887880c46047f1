/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_register.c - the ops about register layouts, tiles in memory and fragments, and the op show.
 */
#include <inttypes.h>
#include <string.h>

#include <tesela/draw.h>

#include "device.h"
#include "expression.h"
#include "query.h"
#include "show/show.h"

static tesela_status too_many(query *q, const char *what) {
  return query_fail(q, TESELA_E_LIMIT, -1, "there are more %s than the %" PRId64 " that are listed", what,
                    EXPRESSION_LIST);
}

/* The field expr, a prefix like register: allowed; of that kind, NULL: any. */
static tesela_status read_expr(query *q, const char *kind, tesela_any_layout *any) {
  const json_t *field = query_get(q, "expr");
  const tesela_layout_read_options options = {.notation = kind};
  return tesela_layout_read(json_string_value(field), json_string_length(field), &options, any, q->err);
}

/* ---- register --------------------------------------------------------------------------------------------- */

tesela_status query_op_register(query *q) {
  tesela_any_layout any;
  tesela_status status = read_expr(q, "register", &any);
  if (status != TESELA_OK) return status;
  expression_put_register(q->out, &any.registers, NULL);
  return query_flag(q, "table") ? expression_put_table(q->out, &any.registers, q->err) : TESELA_OK;
}

tesela_status query_op_locate_at(query *q) {
  tesela_any_layout any;
  int64_t index[TESELA_MAX_RANK];
  bool holds = false;
  tesela_status status = read_expr(q, "register", &any);
  if (status != TESELA_OK) return status;
  int64_t thread = json_integer_value(query_get(q, "thread"));
  if (thread < 0 || thread >= any.registers.spatial_size)
    return tesela_error_outside(q->err, -1, "thread", -1, thread, 0, any.registers.spatial_size - 1);
  const json_t *list = query_get(q, "index");
  if (json_array_size(list) != (size_t)any.registers.rank)
    return query_fail(q, TESELA_E_INVALID, -1, "index has %zu coordinates; the rank is %" PRId32,
                      json_array_size(list), any.registers.rank);
  for (int32_t d = 0; d < any.registers.rank; d++)
    index[d] = json_integer_value(json_array_get(list, (size_t)d));
  status = tesela_register_locate_at(&any.registers, index, thread, &holds, q->err);
  if (status == TESELA_OK) jw_put_bool(q->out, "holds", holds);
  return status;
}

/* ---- shared ------------------------------------------------------------------------------------------------ */

static tesela_status put_all_offsets(query *q, const tesela_tile_memory *memory) {
  int64_t index[TESELA_MAX_RANK] = {0}, elements = 1, place;
  for (int32_t d = 0; d < memory->rank; d++)
    if (__builtin_mul_overflow(elements, memory->shape[d], &elements) || elements > EXPRESSION_LIST)
      return too_many(q, "elements");
  do {
    tesela_status status = tesela_tile_memory_place(memory, index, &place, q->err);
    if (status != TESELA_OK) return status;
    jw_int(q->out, place);
  } while (expression_next(memory->rank, memory->shape, index));
  return TESELA_OK;
}

static tesela_status put_offsets(query *q, const tesela_tile_memory *memory, const json_t *indices) {
  for (size_t i = 0; i < json_array_size(indices); i++) {
    int64_t index[TESELA_MAX_RANK], place;
    tesela_status status = query_index(q, memory->rank, memory->shape, json_array_get(indices, i), i, index);
    if (status == TESELA_OK) status = tesela_tile_memory_place(memory, index, &place, q->err);
    if (status != TESELA_OK) return status;
    jw_int(q->out, place);
  }
  return TESELA_OK;
}

tesela_status query_op_shared(query *q) {
  tesela_any_layout any;
  tesela_status status = read_expr(q, NULL, &any);
  if (status != TESELA_OK) return status;
  if (any.kind != TESELA_KIND_SHARED && any.kind != TESELA_KIND_GLOBAL)
    return query_fail(q, TESELA_E_MISMATCH, -1, "expected a tile in memory, found %s",
                      tesela_kind_words(any.kind));
  expression_put_memory(q->out, &any.memory);
  const json_t *indices = query_get(q, "indices");
  jw_key(q->out, "offsets");
  jw_list(q->out);
  status = indices ? put_offsets(q, &any.memory, indices) : put_all_offsets(q, &any.memory);
  jw_end(q->out);
  return status;
}

/* ---- fragment ---------------------------------------------------------------------------------------------- */

/* "lane_elements": for each lane its elements in order. */
static tesela_status put_lanes(query *q, const tesela_register *layout) {
  if (layout->spatial_size * layout->local_size > EXPRESSION_LIST) return too_many(q, "elements");
  jw_key(q->out, "lane_elements");
  jw_list(q->out);
  for (int64_t lane = 0; lane < layout->spatial_size; lane++) {
    jw_list(q->out);
    for (int64_t i = 0; i < layout->local_size; i++) {
      int64_t index[TESELA_MAX_RANK];
      tesela_status status = tesela_register_get_global(layout, lane, i, index, q->err);
      if (status != TESELA_OK) return status;
      jw_ints(q->out, layout->rank, index);
    }
    jw_end(q->out);
  }
  jw_end(q->out);
  return TESELA_OK;
}

tesela_status query_op_fragment(query *q) {
  tesela_register layout;
  const tesela_fragment *entry;
  const json_t *name = query_get(q, "name");
  tesela_status status =
      tesela_fragment_find(json_string_value(name), json_string_length(name), &layout, &entry, q->err);
  if (status != TESELA_OK) return status;
  expression_put_fragment(q->out, entry);
  expression_put_register(q->out, &layout, entry->n_max == 0 ? entry->expression : NULL);
  jw_put_int(q->out, "elements_per_lane", layout.local_size);
  return query_flag(q, "table") ? put_lanes(q, &layout) : TESELA_OK;
}

/* ---- show -------------------------------------------------------------------------------------------------- */

/* A writer that keeps a newline back until something follows. */
typedef struct unended {
  tesela_writer to;
  bool newline;
} unended;

static int write_unended(void *user, const char *text, size_t length) {
  unended *u = user;
  if (length == 0) return 0;
  if (u->newline && u->to.write(u->to.user, "\n", 1) != 0) return 1;
  u->newline = text[length - 1] == '\n';
  return u->to.write(u->to.user, text, length - u->newline);
}

static tesela_status show_table(query *q, const tesela_register *layout) {
  const json_t *style = query_get(q, "format"), *by = query_get(q, "by");
  tesela_draw_register_options options = {.style = json_string_value(style), .header = true};
  options.by_thread = by && strcmp(json_string_value(by), "thread") == 0;
  if (options.style && (strcmp(options.style, "csv") == 0 || strcmp(options.style, "json") == 0))
    options.header = false;
  q->field = "format";
  jw_key(q->out, "text");
  tesela_writer to = jw_text_begin(q->out);
  tesela_status status = tesela_draw_register(layout, &options, &to, q->err);
  jw_text_end(q->out);
  if (status == TESELA_E_LIMIT) q->field = "layout";
  return status;
}

static tesela_status show_grid(query *q, const tesela_any_layout *any, tesela_layout *layout) {
  tesela_draw_options options = {.width = 0};
  int64_t tile[TESELA_MAX_RANK];
  tesela_status status = TESELA_OK;
  if (any->kind == TESELA_KIND_XLA) {
    status = show_picture_of(&any->shape, layout, tile, q->err);
    options.shape = any->shape.dim;
    options.tile = tile;
  }
  if (any->kind == TESELA_KIND_DEVICE) {
    status = device_picture_of(&any->device, layout, tile, q->err);
    options.shape = any->device.host.shape;
    options.tile = tile;
  }
  if (status != TESELA_OK) return status;
  jw_key(q->out, "text");
  unended u = {jw_text_begin(q->out), false};
  tesela_writer to = {write_unended, &u};
  status = tesela_draw_grid(layout, &options, &to, q->err);
  jw_text_end(q->out);
  return status;
}

tesela_status query_op_show(query *q) {
  tesela_any_layout any;
  tesela_layout layout;
  tesela_status status = query_any(q, "layout", &any, &layout);
  if (status != TESELA_OK) return status;
  if (any.kind == TESELA_KIND_REGISTER) return show_table(q, &any.registers);
  if (query_get(q, "format") || query_get(q, "by"))
    return query_fail(q, TESELA_E_UNSUPPORTED, -1, "the field %s is for register layouts; this is %s",
                      q->field, tesela_kind_words(any.kind));
  q->field = "layout";
  return show_grid(q, &any, &layout);
}
