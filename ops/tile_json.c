/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_json.c - answers about tiles as fields of a JSON object.
 */
#include "tile_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "problem_side.h"
#include "request.h"

void tile_json_width(tesela_sink *j, const tesela_vector_width *width) {
  tesela_put_key_int(j, "elements", width->elements);
  tesela_put_key_int(j, "bytes", width->bytes);
  tesela_put_key_int(j, "per_thread", width->per_thread);
  tesela_put_key_int(j, "dim", width->dim);
  tesela_put_key_int(j, "renamed_elements", width->renamed_elements);
}

void tile_json_cost(tesela_sink *j, const tesela_access_cost *cost) {
  tesela_put_key_int(j, "vector_elements", cost->vector_elements);
  tesela_put_key_int(j, "vector_bytes", cost->vector_bytes);
  tesela_put_key_int(j, "instructions", cost->instructions);
  tesela_put_key_int(j, "phases", cost->phases);
  tesela_put_key_int(j, "wavefronts", cost->wavefronts);
  tesela_put_key_int(j, "conflicts", cost->conflicts);
  tesela_put_key_int(j, "worst", cost->worst);
  tesela_put_key_int(j, "worst_warp", cost->worst_warp);
  tesela_put_key_int(j, "worst_instruction", cost->worst_instruction);
  tesela_put_key_int(j, "worst_phase", cost->worst_phase);
  tesela_put_key_int(j, "sectors", cost->sectors);
  tesela_put_key_int(j, "least_sectors", cost->least_sectors);
  tesela_put_key_int(j, "lines", cost->lines);
}

void tile_json_ldmatrix(tesela_sink *j, const tesela_ldmatrix *plan) {
  tesela_put_key_bool(j, "applies", plan->applies);
  if (!plan->applies) {
    tesela_put_key_text(j, "why_not", plan->why_not);
    return;
  }
  tesela_put_key_bool(j, "transposed", plan->transposed);
  tesela_put_key_int(j, "tiles", plan->tiles);
  tesela_put_key_int(j, "instructions_per_warp", plan->instructions);
  tesela_put_key_int(j, "warps", plan->warps);
  tesela_put_key_int(j, "wavefronts", plan->cost.wavefronts);
  tesela_put_key_int(j, "conflicts", plan->cost.conflicts);
}

tesela_status tile_ldmatrix(const tesela_register *registers, const tesela_tile_memory *memory, int32_t bits,
                            const tesela_access_machine *machine, tesela_ldmatrix *out, tesela_error *err) {
  if ((machine->warp == 0 || machine->warp == 32) && (machine->banks == 0 || machine->banks == 32) &&
      (machine->bank_bytes == 0 || machine->bank_bytes == 4))
    return tesela_ldmatrix_of(registers, memory, bits, out, err);
  *out = (tesela_ldmatrix){.why_not = "it needs warps of 32 and 32 banks of 4 bytes"};
  return TESELA_OK;
}

static void put_memory(tesela_sink *j, const char *name, const tesela_tile_memory *memory) {
  tesela_writer to = tesela_put_key_begin(j, name);
  tesela_tile_memory_print(memory, &to, NULL);
  tesela_put_text_end(j);
}

bool tile_cute(const tesela_tile_memory *memory, tesela_buffer *text) {
  const tesela_any_layout any = {.kind = TESELA_KIND_SHARED, .memory = *memory};
  const tesela_writer to = tesela_buffer_writer(text);
  tesela_translation t;
  return tesela_translate(&any, "cute", &to, &t, NULL) == TESELA_OK && t.verdict == TESELA_EXACT &&
         text->length < text->capacity;
}

void tile_json_synthesis(tesela_sink *j, const tesela_synthesis *found) {
  char room[2048];
  tesela_buffer cute = {room, sizeof room, 0};
  put_memory(j, "memory", &found->memory);
  tesela_put_key(j, "cute");
  tile_cute(&found->memory, &cute) ? tesela_put_text(j, room) : tesela_put_null(j);
  tesela_put_key_int(j, "wavefronts", found->wavefronts);
  tesela_put_key_int(j, "least", found->least);
  tesela_put_key_int(j, "row_major", found->plain);
  tesela_put_key_int(j, "instructions", found->instructions);
  tesela_put_key_int(j, "candidates", found->candidates);
}

/* Fields of the object that is open. */
static void put_facts(tesela_sink *j, const tesela_exchange_facts *f) {
  static const char *const kinds[] = {"nothing", "permute", "shuffle", "shared"};
  tesela_put_key_text(j, "kind", kinds[f->kind]);
  tesela_put_key_int(j, "bits", f->bits);
  tesela_put_key_int(j, "unit", f->unit);
  tesela_put_key_int(j, "threads", f->threads);
  tesela_put_key_int(j, "rounds", f->rounds);
  tesela_put_key_int(j, "least_rounds", f->least_rounds);
  tesela_put_key_int(j, "parts", f->parts);
  tesela_put_key_int(j, "phases", f->phases);
  tesela_put_key_int(j, "permutes", f->permutes);
  tesela_put_key_int(j, "moves", f->moves);
  tesela_put_key_int(j, "shared_bytes", f->shared_bytes);
  tesela_put_key_int(j, "wavefronts", f->wavefronts);
}

tesela_status tile_json_exchange(tesela_sink *j, const tesela_exchange *plan, const char *cuda,
                                 tesela_error *err) {
  tesela_exchange_facts facts = tesela_exchange_facts_of(plan);
  put_facts(j, &facts);
  if (tesela_exchange_memory(plan)) put_memory(j, "memory", tesela_exchange_memory(plan));
  tesela_writer to = tesela_put_key_begin(j, "plan");
  tesela_exchange_print(plan, &to, NULL);
  tesela_put_text_end(j);
  if (!cuda) return TESELA_OK;
  to = tesela_put_key_begin(j, "cuda");
  tesela_status status = tesela_codegen_exchange_cuda(plan, cuda, &to, err);
  tesela_put_text_end(j);
  return status;
}

static void put_registers(tesela_sink *j, const char *name, const tesela_register *layout) {
  tesela_put_key(j, name);
  if (!layout) {
    tesela_put_null(j);
    return;
  }
  tesela_writer to = tesela_put_text_begin(j);
  tesela_register_print(layout, &to, NULL);
  tesela_put_text_end(j);
}

static void put_tensor(tesela_sink *j, const tesela_tensor *t) {
  static const char *const spaces[] = {"register", "shared", "global"};
  tesela_put_object(j);
  tesela_put_key_text(j, "name", t->name);
  tesela_put_key_text(j, "space", spaces[t->space]);
  tesela_put_key_text(j, "dtype", tesela_dtype_name(t->dtype));
  tesela_put_key_ints(j, "shape", t->rank, t->shape);
  if (t->memory)
    put_memory(j, "layout", t->memory);
  else
    put_registers(j, "layout", t->registers);
  tesela_put_key_text(j, "rule", t->rule);
  tesela_put_key_int(j, "line", t->line);
  tesela_put_end(j);
}

/* What a conversion costs, or the compatible layout in memory. */
static void put_repair(tesela_sink *j, const tesela_kernel_conflict *c) {
  tesela_put_key(j, "repair");
  if (!c->repairable) {
    tesela_put_null(j);
    return;
  }
  tesela_put_object(j);
  if (c->is_access) {
    tesela_put_key_text(j, "kind", "memory");
    tesela_put_key_text(j, "tensor", c->tensor);
    put_memory(j, "memory", &c->would_do);
    tesela_put_key_bool(j, "every_access", c->would_do_for_all);
  } else {
    put_facts(j, &c->repair);
  }
  tesela_put_end(j);
}

static void put_conflict(tesela_sink *j, const tesela_kernel_conflict *c, const char *message) {
  tesela_put_key_object(j, "conflict");
  tesela_put_key_text(j, "message", message);
  tesela_put_key_int(j, "line", c->line);
  tesela_put_key_int(j, "at", c->at);
  tesela_put_key_text(j, "operation", c->operation);
  tesela_put_key_text(j, "tensor", c->tensor);
  tesela_put_key_text(j, "other", c->other);
  tesela_put_key_bool(j, "is_result", c->is_result);
  tesela_put_key_text(j, "why", c->why);
  put_registers(j, "has", &c->has);
  put_registers(j, "needs", c->is_access ? NULL : &c->needs);
  if (c->is_access) put_memory(j, "memory", &c->memory);
  tesela_put_key(j, "thread");
  c->have_index ? tesela_put_int(j, c->thread) : tesela_put_null(j);
  tesela_put_key(j, "index");
  c->have_index ? tesela_put_ints(j, c->needs.rank, c->index) : tesela_put_null(j);
  put_repair(j, c);
  tesela_put_key_int(j, "grids_tried", c->grids_tried);
  tesela_put_key_bool(j, "grids_left", c->grids_left);
  tesela_put_end(j);
}

void tile_json_program(tesela_sink *j, const tesela_kernel_program *program, const char *message) {
  const tesela_kernel_conflict *conflict = tesela_kernel_program_conflict(program);
  tesela_put_key_bool(j, "consistent", !conflict->found);
  tesela_put_key_list(j, "tensors");
  for (int32_t i = 0; i < tesela_kernel_program_count(program); i++) {
    tesela_tensor t = tesela_kernel_program_tensor(program, i);
    put_tensor(j, &t);
  }
  tesela_put_end(j);
  if (conflict->found) put_conflict(j, conflict, message);
}

const char *tile_near_dtype(const char *name) {
  const char *near = tesela_dtype_suggest(name, strlen(name));
  return near && tesela_dtype_bits(tesela_dtype_find(near, strlen(near))) > 0 ? near : NULL;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

/* The type that a text itself gives its elements. A kind before it, as in shared: f32[4,8]{1,0}, would lose the type. */
static tile_type type_of_text(const char *text, size_t length, const tesela_layout_read_options *options,
                              const char *source) {
  tesela_layout_read_options own = *options;
  const tile_type unknown = {.dtype = TESELA_DTYPE_NONE};
  const tesela_notation *notation;
  tesela_any_layout any;
  tesela_layout layout;
  tesela_xla_shape array;
  size_t used;
  own.dtype = TESELA_DTYPE_NONE;
  if (own.array) {
    array = *own.array;
    array.dtype = TESELA_DTYPE_NONE;
    own.array = &array;
  }
  if (tesela_notation_find(text, length, &notation, &used, NULL) != TESELA_OK) return unknown;
  own.notation = notation->name;
  if (tesela_layout_read(text + used, length - used, &own, &any, NULL) != TESELA_OK ||
      tesela_any_to_layout(&any, &layout, NULL) != TESELA_OK || problem_lacks_type(&layout))
    return unknown;
  return (tile_type){layout.dtype, layout.bits, source};
}

enum { TYPE_NAME = 48 };

/* "f32", "s4 in 8 bits", "16 bits". */
static const char *type_name(const tile_type *type, char *name) {
  const bool typed = type->dtype != TESELA_DTYPE_NONE, usual = type->bits == tesela_dtype_bits(type->dtype);
  if (!typed)
    snprintf(name, TYPE_NAME, "%" PRId32 " bits", type->bits);
  else if (usual)
    snprintf(name, TYPE_NAME, "%s", tesela_dtype_name(type->dtype));
  else
    snprintf(name, TYPE_NAME, "%s in %" PRId32 " bits", tesela_dtype_name(type->dtype), type->bits);
  return name;
}

tesela_status tile_read_type(const char *text, size_t length, const tesela_layout_read_options *options,
                             const char *source, tile_type *type, tesela_error *err) {
  const tile_type own = type_of_text(text, length, options, source);
  char name[TYPE_NAME], before[TYPE_NAME];
  const bool both = own.dtype != TESELA_DTYPE_NONE && type->dtype != TESELA_DTYPE_NONE;
  if (own.bits > 0 && type->bits > 0 && (own.bits != type->bits || (both && own.dtype != type->dtype)))
    return ops_fail(err, TESELA_E_MISMATCH, -1, "%s has elements of %s, but %s of %s", source,
                    type_name(&own, name), type->source, type_name(type, before));
  if (own.bits > 0 && type->dtype == TESELA_DTYPE_NONE) *type = own;
  return TESELA_OK;
}

tesela_status tile_type_bits(const tile_type *type, tesela_dtype dtype, const char *name, int32_t *bits,
                             tesela_error *err) {
  const bool typed = type->dtype != TESELA_DTYPE_NONE;
  char own[TYPE_NAME];
  *bits = type->bits > 0 ? type->bits : tesela_dtype_bits(dtype);
  if (type->bits == 0 || (typed ? dtype == type->dtype : tesela_dtype_bits(dtype) == type->bits))
    return TESELA_OK;
  return ops_fail(err, TESELA_E_MISMATCH, -1, "%s is %s, but %s has elements of %s", name,
                  tesela_dtype_name(dtype), type->source, type_name(type, own));
}

tesela_status tile_read_memory(const char *text, size_t length, const tesela_layout_read_options *options,
                               tesela_tile_memory *out, tesela_error *err) {
  tesela_layout_read_options memory = *options;
  tesela_any_layout any;
  memory.as = memory.notation = NULL;
  tesela_status status = tesela_layout_read(text, length, &memory, &any, err);
  if (status == TESELA_OK && any.kind == TESELA_KIND_REGISTER)
    return ops_fail(err, TESELA_E_MISMATCH, 0, "expected a tile in memory, found %s",
                    tesela_kind_words(any.kind));
  memory.notation = "shared"; /* other notations of a tile */
  if (status == TESELA_OK && any.kind != TESELA_KIND_SHARED && any.kind != TESELA_KIND_GLOBAL)
    status = tesela_layout_read(text, length, &memory, &any, err);
  if (status == TESELA_OK) *out = any.memory;
  return status;
}
