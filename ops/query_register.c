/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_register.c - the ops about register layouts, tiles in memory and fragments, and the op show.
 */
#include <inttypes.h>
#include <string.h>

#include <tesela/draw.h>

#include "device_put.h"
#include "expression.h"
#include "request.h"
#include "picture.h"

static tesela_status too_many(tesela_request *q, const char *what) {
  return tesela_request_fail(q, TESELA_E_LIMIT, -1, "too many %s; expected %" PRId64 " or fewer to list them",
                             what, EXPRESSION_LIST);
}

/* The field expr, with or without a prefix like register:, of that kind; NULL: any. */
static tesela_status read_expr(tesela_request *q, const char *kind, tesela_any_layout *any) {
  return request_read(q, tesela_request_get(q, "expr"), kind, any);
}

/* ---- register --------------------------------------------------------------------------------------------- */

tesela_status op_register(tesela_request *q) {
  tesela_any_layout any;
  tesela_status status = read_expr(q, "register", &any);
  if (status != TESELA_OK) return status;
  expression_put_register(q->out, &any.registers, NULL);
  return tesela_request_flag(q, "table") ? expression_put_table(q->out, &any.registers, q->err) : TESELA_OK;
}

tesela_status op_locate_at(tesela_request *q) {
  tesela_any_layout any;
  int64_t index[TESELA_MAX_RANK];
  bool holds = false;
  tesela_status status = read_expr(q, "register", &any);
  if (status != TESELA_OK) return status;
  int64_t thread = tesela_value_int(tesela_request_get(q, "thread"));
  if (thread < 0 || thread >= any.registers.spatial_size)
    return tesela_error_outside(q->err, -1, "thread", -1, thread, 0, any.registers.spatial_size - 1);
  const tesela_value *list = tesela_request_get(q, "index");
  if (tesela_value_size(list) != (size_t)any.registers.rank)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "index has %zu coordinates; expected %" PRId32,
                               tesela_value_size(list), any.registers.rank);
  for (int32_t d = 0; d < any.registers.rank; d++)
    index[d] = tesela_value_int(tesela_value_at(list, (size_t)d));
  status = tesela_register_locate_at(&any.registers, index, thread, &holds, q->err);
  if (status == TESELA_OK) tesela_put_key_bool(q->out, "holds", holds);
  return status;
}

/* ---- shared ------------------------------------------------------------------------------------------------ */

static tesela_status put_all_offsets(tesela_request *q, const tesela_tile_memory *memory) {
  int64_t index[TESELA_MAX_RANK] = {0}, elements = 1, place;
  for (int32_t d = 0; d < memory->rank; d++)
    if (__builtin_mul_overflow(elements, memory->shape[d], &elements) || elements > EXPRESSION_LIST)
      return too_many(q, "elements");
  do {
    tesela_status status = tesela_tile_memory_place(memory, index, &place, q->err);
    if (status != TESELA_OK) return status;
    tesela_put_int(q->out, place);
  } while (expression_next(memory->rank, memory->shape, index));
  return TESELA_OK;
}

static tesela_status put_offsets(tesela_request *q, const tesela_tile_memory *memory,
                                 const tesela_value *indices) {
  for (size_t i = 0; i < tesela_value_size(indices); i++) {
    int64_t index[TESELA_MAX_RANK], place;
    tesela_status status =
        request_index(q, memory->rank, memory->shape, tesela_value_at(indices, i), (int64_t)i, index);
    if (status == TESELA_OK) status = tesela_tile_memory_place(memory, index, &place, q->err);
    if (status != TESELA_OK) return status;
    tesela_put_int(q->out, place);
  }
  return TESELA_OK;
}

tesela_status op_shared(tesela_request *q) {
  tesela_any_layout any;
  tesela_status status = read_expr(q, NULL, &any);
  if (status != TESELA_OK) return status;
  if (any.kind != TESELA_KIND_SHARED && any.kind != TESELA_KIND_GLOBAL)
    return tesela_request_fail(q, TESELA_E_MISMATCH, -1, "expected a tile in memory, found %s",
                               tesela_kind_words(any.kind));
  expression_put_memory(q->out, &any.memory);
  const tesela_value *indices = tesela_request_get(q, "indices");
  tesela_put_key_list(q->out, "offsets");
  status = indices ? put_offsets(q, &any.memory, indices) : put_all_offsets(q, &any.memory);
  tesela_put_end(q->out);
  return status;
}

/* ---- fragment ---------------------------------------------------------------------------------------------- */

/* "lane_elements": for each lane its elements in order. */
static tesela_status put_lanes(tesela_request *q, const tesela_register *layout) {
  if (layout->spatial_size * layout->local_size > EXPRESSION_LIST) return too_many(q, "elements");
  tesela_put_key_list(q->out, "lane_elements");
  for (int64_t lane = 0; lane < layout->spatial_size; lane++) {
    tesela_put_list(q->out);
    for (int64_t i = 0; i < layout->local_size; i++) {
      int64_t index[TESELA_MAX_RANK];
      tesela_status status = tesela_register_get_global(layout, lane, i, index, q->err);
      if (status != TESELA_OK) return status;
      tesela_put_ints(q->out, layout->rank, index);
    }
    tesela_put_end(q->out);
  }
  tesela_put_end(q->out);
  return TESELA_OK;
}

/* "names": all names of an entry. */
static void put_entry_names(tesela_sink *out, int32_t entry) {
  char name[TESELA_FRAGMENT_NAME];
  tesela_put_key_list(out, "names");
  for (int32_t k = 0; tesela_fragment_name(entry, k, name, NULL); k++) tesela_put_text(out, name);
  tesela_put_end(out);
}

tesela_status op_fragment(tesela_request *q) {
  tesela_register layout;
  const tesela_fragment *entry;
  const tesela_value *name = tesela_request_get(q, "name");
  tesela_status status =
      tesela_fragment_find(tesela_value_text(name), tesela_value_length(name), &layout, &entry, q->err);
  if (status != TESELA_OK) return status;
  expression_put_fragment(q->out, entry);
  put_entry_names(q->out, (int32_t)(entry - tesela_fragments(NULL)));
  expression_put_register(q->out, &layout, entry->n_max == 0 ? entry->expression : NULL);
  tesela_put_key_int(q->out, "elements_per_lane", layout.local_size);
  return tesela_request_flag(q, "table") ? put_lanes(q, &layout) : TESELA_OK;
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

static tesela_status show_table(tesela_request *q, const tesela_register *layout) {
  const tesela_value *style = tesela_request_get(q, "format"), *by = tesela_request_get(q, "by");
  tesela_draw_register_options options = {.style = tesela_value_text(style), .header = true};
  options.by_thread = by && strcmp(tesela_value_text(by), "thread") == 0;
  if (options.style && (strcmp(options.style, "csv") == 0 || strcmp(options.style, "json") == 0))
    options.header = false;
  q->field = "format";
  tesela_writer to = tesela_put_key_begin(q->out, "text");
  tesela_status status = tesela_draw_register(layout, &options, &to, q->err);
  tesela_put_text_end(q->out);
  if (status == TESELA_E_LIMIT) q->field = "layout";
  return status;
}

static tesela_status show_grid(tesela_request *q, const tesela_any_layout *any, tesela_layout *layout) {
  tesela_draw_options options = {.width = 0};
  int64_t tile[TESELA_MAX_RANK];
  tesela_status status = TESELA_OK;
  if (any->kind == TESELA_KIND_XLA) {
    status = picture_of_xla(&any->shape, layout, tile, q->err);
    options.shape = any->shape.dim;
    options.tile = tile;
  }
  if (any->kind == TESELA_KIND_DEVICE) {
    status = picture_of_device(&any->device, layout, tile, q->err);
    options.shape = any->device.host.shape;
    options.tile = tile;
  }
  if (status != TESELA_OK) return status;
  tesela_put_key(q->out, "text");
  unended u = {tesela_put_text_begin(q->out), false};
  tesela_writer to = {write_unended, &u};
  status = tesela_draw_grid(layout, &options, &to, q->err);
  tesela_put_text_end(q->out);
  return status;
}

tesela_status op_show(tesela_request *q) {
  tesela_any_layout any;
  tesela_layout layout;
  tesela_status status = request_any(q, "layout", &any, &layout);
  if (status != TESELA_OK) return status;
  if (any.kind == TESELA_KIND_REGISTER) return show_table(q, &any.registers);
  if (tesela_request_get(q, "format") || tesela_request_get(q, "by"))
    return tesela_request_fail(q, TESELA_E_UNSUPPORTED, -1, "field %s: expected a register layout, found %s",
                               q->field, tesela_kind_words(any.kind));
  q->field = "layout";
  return show_grid(q, &any, &layout);
}
