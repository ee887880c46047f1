/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expression.c - register layouts and tiles in memory as JSON.
 */
#include "expression.h"

#include <tesela/access.h>

#include <inttypes.h>
#include <string.h>

static tesela_status too_many(const char *what, int64_t n, tesela_error *err) {
  *err = (tesela_error){.status = TESELA_E_LIMIT, .at = -1};
  snprintf(err->message, sizeof err->message, "%" PRId64 " %s are more than the %" PRId64 " that are listed",
           n, what, EXPRESSION_LIST);
  return err->status;
}

bool expression_next(int32_t rank, const int64_t *shape, int64_t *index) {
  for (int32_t d = rank - 1; d >= 0; d--) {
    if (++index[d] < shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

/* ---- register layouts ------------------------------------------------------------------------------------- */

static void put_ints32(json_writer *j, const char *name, int32_t n, const int32_t *numbers) {
  jw_key(j, name);
  jw_list(j);
  for (int32_t i = 0; i < n; i++) jw_int(j, numbers[i]);
  jw_end(j);
}

static void put_ints(json_writer *j, const char *name, int32_t n, const int64_t *numbers) {
  jw_key(j, name);
  jw_ints(j, n, numbers);
}

/* Sixteen digits; null where the fingerprint would take too long. */
static void put_hash(json_writer *j, const tesela_register *layout) {
  char text[24];
  uint64_t hash;
  bool known = tesela_register_hash(layout, &hash, NULL) == TESELA_OK;
  if (known) snprintf(text, sizeof text, "%016" PRIx64, hash);
  jw_put_str(j, "mapping_hash", known ? text : NULL);
}

/* "spatial_shape", "local_shape": extents of the digits; "grouped_modes": for each dim the numbers of its modes. */
static void put_shapes(json_writer *j, const tesela_register *layout) {
  jw_key(j, "spatial_shape");
  jw_list(j);
  for (int32_t i = 0; i < layout->n_spatial; i++) {
    int64_t mode = layout->spatial_modes[i];
    jw_int(j, mode < 0 ? -mode : layout->mode_shape[mode]);
  }
  jw_end(j);
  jw_key(j, "local_shape");
  jw_list(j);
  for (int32_t i = 0; i < layout->n_local; i++) jw_int(j, layout->mode_shape[layout->local_modes[i]]);
  jw_end(j);
  jw_key(j, "grouped_modes");
  jw_list(j);
  for (int32_t d = 0, m = 0; d < layout->rank; d++) {
    jw_list(j);
    for (int64_t rest = layout->shape[d]; rest > 1 && m < layout->n_modes; m++) {
      rest /= layout->mode_shape[m];
      jw_int(j, m);
    }
    jw_end(j);
  }
  jw_end(j);
}

void expression_put_register(json_writer *j, const tesela_register *layout, const char *expression) {
  put_ints(j, "shape", layout->rank, layout->shape);
  put_ints(j, "mode_shape", layout->n_modes, layout->mode_shape);
  put_ints(j, "spatial_modes", layout->n_spatial, layout->spatial_modes);
  put_ints32(j, "local_modes", layout->n_local, layout->local_modes);
  put_shapes(j, layout);
  jw_put_int(j, "spatial_size", layout->spatial_size);
  jw_put_int(j, "local_size", layout->local_size);
  jw_put_int(j, "copies", tesela_register_copies(layout));
  put_hash(j, layout);
  jw_key(j, "text");
  tesela_writer to = jw_text_begin(j);
  tesela_register_print(layout, &to, NULL);
  jw_text_end(j);
  jw_key(j, "expression");
  if (expression) {
    jw_str(j, expression);
    return;
  }
  to = jw_text_begin(j);
  tesela_register_print_expression(layout, &to, NULL);
  jw_text_end(j);
}

/* A list of the threads, ascending: the copies in their order, and the local id. */
static tesela_status put_threads(json_writer *j, const tesela_register *layout, const int64_t *index,
                                 int64_t *local, tesela_error *err) {
  int64_t thread = 0;
  tesela_status status = tesela_register_get_local(layout, index, local, err);
  jw_list(j);
  for (int64_t k = 0; k < tesela_register_copies(layout) && status == TESELA_OK; k++) {
    status = tesela_register_get_spatial(layout, index, k, &thread, err);
    if (status == TESELA_OK) jw_int(j, thread);
  }
  jw_end(j);
  return status;
}

tesela_status expression_check_copies(const tesela_register *layout, tesela_error *err) {
  int64_t copies = tesela_register_copies(layout);
  return copies > EXPRESSION_LIST ? too_many("threads of one element", copies, err) : TESELA_OK;
}

tesela_status expression_put_place(json_writer *j, const tesela_register *layout, const int64_t *index,
                                   tesela_error *err) {
  int64_t local = 0;
  tesela_status status = expression_check_copies(layout, err);
  if (status != TESELA_OK) return status;
  jw_key(j, "threads");
  status = put_threads(j, layout, index, &local, err);
  jw_put_int(j, "local", local);
  return status;
}

tesela_status expression_put_table(json_writer *j, const tesela_register *layout, tesela_error *err) {
  int64_t index[TESELA_MAX_RANK] = {0}, local = 0;
  int64_t all = layout->spatial_size * layout->local_size; /* a layout's fit */
  tesela_status status = TESELA_OK;
  if (all > EXPRESSION_LIST) return too_many("registers of all threads", all, err);
  jw_key(j, "table");
  jw_object(j);
  do {
    char name[TESELA_MAX_RANK * 21] = "";
    size_t used = 0;
    for (int32_t d = 0; d < layout->rank; d++)
      used += (size_t)snprintf(name + used, sizeof name - used, "%s%" PRId64, d > 0 ? "," : "", index[d]);
    jw_key(j, name);
    jw_list(j);
    status = put_threads(j, layout, index, &local, err);
    jw_int(j, local);
    jw_end(j);
  } while (status == TESELA_OK && expression_next(layout->rank, layout->shape, index));
  jw_end(j);
  return status;
}

tesela_status expression_print_place(const tesela_register *layout, const int64_t *index,
                                     const tesela_writer *to, tesela_error *err) {
  char text[32];
  int64_t copies = tesela_register_copies(layout), number = 0;
  tesela_status status = expression_check_copies(layout, err);
  if (status != TESELA_OK) return status;
  int stopped = copies > 1 ? to->write(to->user, "[", 1) : 0;
  for (int64_t k = 0; k < copies && status == TESELA_OK && stopped == 0; k++) {
    status = tesela_register_get_spatial(layout, index, k, &number, err);
    int n = snprintf(text, sizeof text, "%s%" PRId64, k > 0 ? ", " : "", number);
    stopped = to->write(to->user, text, (size_t)n);
  }
  if (status == TESELA_OK) status = tesela_register_get_local(layout, index, &number, err);
  int n = snprintf(text, sizeof text, "%s: %" PRId64, copies > 1 ? "]" : "", number);
  if (stopped == 0) to->write(to->user, text, (size_t)n);
  return status;
}

/* ---- tiles in memory -------------------------------------------------------------------------------------- */

void expression_put_memory(json_writer *j, const tesela_tile_memory *memory) {
  jw_put_str(j, "space", memory->space == TESELA_TILE_SHARED ? "shared" : "global");
  put_ints(j, "shape", memory->rank, memory->shape);
  put_ints(j, "mode_shape", memory->n_modes, memory->mode_shape);
  put_ints(j, "mode_strides", memory->n_modes, memory->mode_strides);
  jw_put_int(j, "offset", memory->offset);
  jw_put_int(j, "size", memory->size);
  jw_key(j, "swizzle");
  if (memory->swizzle.bits > 0) {
    jw_object(j);
    jw_put_int(j, "base", memory->swizzle.base);
    jw_put_int(j, "bits", memory->swizzle.bits);
    jw_put_int(j, "shift", memory->swizzle.shift);
    jw_end(j);
  } else {
    jw_null(j);
  }
  jw_key(j, "text");
  tesela_writer to = jw_text_begin(j);
  tesela_tile_memory_print(memory, &to, NULL);
  jw_text_end(j);
}

/* ---- fragments -------------------------------------------------------------------------------------------- */

const tesela_fragment *expression_fragment(const char *text, size_t length) {
  const tesela_fragment *entry = NULL;
  const tesela_notation *notation;
  size_t used;
  if (tesela_notation_find(text, length, &notation, &used, NULL) != TESELA_OK) return NULL;
  text += used;
  length -= used;
  while (length > 0 && strchr(" \t\r\n", text[0]) && text[0] != '\0') text++, length--;
  while (length > 0 && strchr(" \t\r\n", text[length - 1]) && text[length - 1] != '\0') length--;
  return tesela_fragment_find(text, length, NULL, &entry, NULL) == TESELA_OK ? entry : NULL;
}

bool expression_warp(const cli_context *cli, const char *text, size_t length, int64_t *warp) {
  const tesela_fragment *entry = expression_fragment(text, length);
  return cli_integer(cli, "warp", 1, TESELA_ACCESS_WARP, entry && entry->threads == 64 ? 64 : 32, warp);
}

void expression_put_fragment(json_writer *j, const tesela_fragment *entry) {
  jw_put_str(j, "name", entry->name);
  jw_put_str(j, "family", entry->family);
  jw_put_str(j, "instruction", entry->instruction);
  jw_put_str(j, "types", entry->types);
  jw_put_str(j, "operand", entry->operand);
  jw_put_str(j, "axes", entry->axes);
  jw_put_str(j, "block", entry->block);
  jw_put_str(j, "row", entry->row);
  jw_put_str(j, "col", entry->col);
  jw_put_str(j, "since", entry->since);
  jw_put_str(j, "note", entry->note);
  jw_put_int(j, "bits", entry->bits);
  jw_put_int(j, "threads", entry->threads);
  jw_put_int(j, "n_step", entry->n_step);
  jw_put_int(j, "n_max", entry->n_max);
}
