/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expression.c - register layouts and tiles in memory as JSON.
 */
#include "expression.h"

#include <tesela/access.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static tesela_status too_many(const char *what, int64_t n, tesela_error *err) {
  *err = (tesela_error){.status = TESELA_E_LIMIT, .at = -1};
  snprintf(err->message, sizeof err->message, "%" PRId64 " %s; expected %" PRId64 " or fewer to list them", n,
           what, EXPRESSION_LIST);
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

static void put_ints32(tesela_sink *j, const char *name, int32_t n, const int32_t *numbers) {
  tesela_put_key_list(j, name);
  for (int32_t i = 0; i < n; i++) tesela_put_int(j, numbers[i]);
  tesela_put_end(j);
}

static void put_ints(tesela_sink *j, const char *name, int32_t n, const int64_t *numbers) {
  tesela_put_key_ints(j, name, n, numbers);
}

/* Sixteen digits; null where the fingerprint would take too long. */
static void put_hash(tesela_sink *j, const tesela_register *layout) {
  char text[24];
  uint64_t hash;
  bool known = tesela_register_hash(layout, &hash, NULL) == TESELA_OK;
  if (known) snprintf(text, sizeof text, "%016" PRIx64, hash);
  tesela_put_key_text(j, "mapping_hash", known ? text : NULL);
}

/* "spatial_shape", "local_shape": extents of the digits; "grouped_modes": for each dim the numbers of its modes. */
static void put_shapes(tesela_sink *j, const tesela_register *layout) {
  tesela_put_key_list(j, "spatial_shape");
  for (int32_t i = 0; i < layout->n_spatial; i++) {
    int64_t mode = layout->spatial_modes[i];
    tesela_put_int(j, mode < 0 ? -mode : layout->mode_shape[mode]);
  }
  tesela_put_end(j);
  tesela_put_key_list(j, "local_shape");
  for (int32_t i = 0; i < layout->n_local; i++) tesela_put_int(j, layout->mode_shape[layout->local_modes[i]]);
  tesela_put_end(j);
  tesela_put_key_list(j, "grouped_modes");
  for (int32_t d = 0, m = 0; d < layout->rank; d++) {
    tesela_put_list(j);
    for (int64_t rest = layout->shape[d]; rest > 1 && m < layout->n_modes; m++) {
      rest /= layout->mode_shape[m];
      tesela_put_int(j, m);
    }
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

void expression_put_register(tesela_sink *j, const tesela_register *layout, const char *expression) {
  put_ints(j, "shape", layout->rank, layout->shape);
  put_ints(j, "mode_shape", layout->n_modes, layout->mode_shape);
  put_ints(j, "spatial_modes", layout->n_spatial, layout->spatial_modes);
  put_ints32(j, "local_modes", layout->n_local, layout->local_modes);
  put_shapes(j, layout);
  tesela_put_key_int(j, "spatial_size", layout->spatial_size);
  tesela_put_key_int(j, "local_size", layout->local_size);
  tesela_put_key_int(j, "copies", tesela_register_copies(layout));
  put_hash(j, layout);
  tesela_writer to = tesela_put_key_begin(j, "text");
  tesela_register_print(layout, &to, NULL);
  tesela_put_text_end(j);
  tesela_put_key(j, "expression");
  if (expression) {
    tesela_put_text(j, expression);
    return;
  }
  to = tesela_put_text_begin(j);
  tesela_register_print_expression(layout, &to, NULL);
  tesela_put_text_end(j);
}

/* A list of the threads, ascending: the copies in their order, and the local id. */
static tesela_status put_threads(tesela_sink *j, const tesela_register *layout, const int64_t *index,
                                 int64_t *local, tesela_error *err) {
  int64_t thread = 0;
  tesela_status status = tesela_register_get_local(layout, index, local, err);
  tesela_put_list(j);
  for (int64_t k = 0; k < tesela_register_copies(layout) && status == TESELA_OK; k++) {
    status = tesela_register_get_spatial(layout, index, k, &thread, err);
    if (status == TESELA_OK) tesela_put_int(j, thread);
  }
  tesela_put_end(j);
  return status;
}

tesela_status expression_check_copies(const tesela_register *layout, tesela_error *err) {
  int64_t copies = tesela_register_copies(layout);
  return copies > EXPRESSION_LIST ? too_many("threads of one element", copies, err) : TESELA_OK;
}

tesela_status expression_put_place(tesela_sink *j, const tesela_register *layout, const int64_t *index,
                                   tesela_error *err) {
  int64_t local = 0;
  tesela_status status = expression_check_copies(layout, err);
  if (status != TESELA_OK) return status;
  tesela_put_key(j, "threads");
  status = put_threads(j, layout, index, &local, err);
  tesela_put_key_int(j, "local", local);
  return status;
}

tesela_status expression_put_table(tesela_sink *j, const tesela_register *layout, tesela_error *err) {
  int64_t index[TESELA_MAX_RANK] = {0}, local = 0;
  int64_t all = layout->spatial_size * layout->local_size; /* a layout's fit */
  tesela_status status = TESELA_OK;
  if (all > EXPRESSION_LIST) return too_many("registers of all threads", all, err);
  tesela_put_key_object(j, "table");
  do {
    char name[TESELA_MAX_RANK * 21] = "";
    size_t used = 0;
    for (int32_t d = 0; d < layout->rank; d++)
      used += (size_t)snprintf(name + used, sizeof name - used, "%s%" PRId64, d > 0 ? "," : "", index[d]);
    tesela_put_key_list(j, name);
    status = put_threads(j, layout, index, &local, err);
    tesela_put_int(j, local);
    tesela_put_end(j);
  } while (status == TESELA_OK && expression_next(layout->rank, layout->shape, index));
  tesela_put_end(j);
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

void expression_put_memory(tesela_sink *j, const tesela_tile_memory *memory) {
  tesela_put_key_text(j, "space", memory->space == TESELA_TILE_SHARED ? "shared" : "global");
  put_ints(j, "shape", memory->rank, memory->shape);
  put_ints(j, "mode_shape", memory->n_modes, memory->mode_shape);
  put_ints(j, "mode_strides", memory->n_modes, memory->mode_strides);
  tesela_put_key_int(j, "offset", memory->offset);
  tesela_put_key_int(j, "size", memory->size);
  tesela_put_key(j, "swizzle");
  if (memory->swizzle.bits > 0) {
    tesela_put_object(j);
    tesela_put_key_int(j, "base", memory->swizzle.base);
    tesela_put_key_int(j, "bits", memory->swizzle.bits);
    tesela_put_key_int(j, "shift", memory->swizzle.shift);
    tesela_put_end(j);
  } else {
    tesela_put_null(j);
  }
  tesela_writer to = tesela_put_key_begin(j, "text");
  tesela_tile_memory_print(memory, &to, NULL);
  tesela_put_text_end(j);
}

/* ---- fragments -------------------------------------------------------------------------------------------- */

const tesela_fragment *expression_fragment_entry(const char *text, size_t length) {
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

void expression_put_fragment(tesela_sink *j, const tesela_fragment *entry) {
  tesela_put_key_text(j, "name", entry->name);
  tesela_put_key_text(j, "family", entry->family);
  tesela_put_key_text(j, "instruction", entry->instruction);
  tesela_put_key_text(j, "types", entry->types);
  tesela_put_key_text(j, "operand", entry->operand);
  tesela_put_key_text(j, "axes", entry->axes);
  tesela_put_key_text(j, "block", entry->block);
  tesela_put_key_text(j, "row", entry->row);
  tesela_put_key_text(j, "col", entry->col);
  tesela_put_key_text(j, "since", entry->since);
  tesela_put_key_text(j, "note", entry->note);
  tesela_put_key_int(j, "bits", entry->bits);
  tesela_put_key_int(j, "threads", entry->threads);
  tesela_put_key_int(j, "n_step", entry->n_step);
  tesela_put_key_int(j, "n_max", entry->n_max);
}
