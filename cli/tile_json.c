/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_json.c - answers about tiles as fields of a JSON object.
 */
#include "tile_json.h"

void tile_json_width(json_writer *j, const tesela_vector_width *width) {
  jw_put_int(j, "elements", width->elements);
  jw_put_int(j, "bytes", width->bytes);
  jw_put_int(j, "per_thread", width->per_thread);
  jw_put_int(j, "dim", width->dim);
  jw_put_int(j, "renamed_elements", width->renamed_elements);
}

void tile_json_cost(json_writer *j, const tesela_access_cost *cost) {
  jw_put_int(j, "vector_elements", cost->vector_elements);
  jw_put_int(j, "vector_bytes", cost->vector_bytes);
  jw_put_int(j, "instructions", cost->instructions);
  jw_put_int(j, "phases", cost->phases);
  jw_put_int(j, "wavefronts", cost->wavefronts);
  jw_put_int(j, "conflicts", cost->conflicts);
  jw_put_int(j, "worst", cost->worst);
  jw_put_int(j, "worst_warp", cost->worst_warp);
  jw_put_int(j, "worst_instruction", cost->worst_instruction);
  jw_put_int(j, "worst_phase", cost->worst_phase);
  jw_put_int(j, "sectors", cost->sectors);
  jw_put_int(j, "least_sectors", cost->least_sectors);
  jw_put_int(j, "lines", cost->lines);
}

void tile_json_ldmatrix(json_writer *j, const tesela_ldmatrix *plan) {
  jw_put_bool(j, "applies", plan->applies);
  if (!plan->applies) {
    jw_put_str(j, "why_not", plan->why_not);
    return;
  }
  jw_put_bool(j, "transposed", plan->transposed);
  jw_put_int(j, "tiles", plan->tiles);
  jw_put_int(j, "instructions_per_warp", plan->instructions);
  jw_put_int(j, "warps", plan->warps);
  jw_put_int(j, "wavefronts", plan->cost.wavefronts);
  jw_put_int(j, "conflicts", plan->cost.conflicts);
}

static void put_memory(json_writer *j, const char *name, const tesela_tile_memory *memory) {
  jw_key(j, name);
  tesela_writer to = jw_text_begin(j);
  tesela_tile_memory_print(memory, &to, NULL);
  jw_text_end(j);
}

void tile_json_synthesis(json_writer *j, const tesela_synthesis *found) {
  put_memory(j, "memory", &found->memory);
  jw_put_int(j, "wavefronts", found->wavefronts);
  jw_put_int(j, "least", found->least);
  jw_put_int(j, "row_major", found->plain);
  jw_put_int(j, "instructions", found->instructions);
  jw_put_int(j, "candidates", found->candidates);
}

/* Fields of the object that is open. */
static void put_facts(json_writer *j, const tesela_exchange_facts *f) {
  static const char *const kinds[] = {"nothing", "permute", "shuffle", "shared"};
  jw_put_str(j, "kind", kinds[f->kind]);
  jw_put_int(j, "bits", f->bits);
  jw_put_int(j, "unit", f->unit);
  jw_put_int(j, "threads", f->threads);
  jw_put_int(j, "rounds", f->rounds);
  jw_put_int(j, "least_rounds", f->least_rounds);
  jw_put_int(j, "parts", f->parts);
  jw_put_int(j, "phases", f->phases);
  jw_put_int(j, "permutes", f->permutes);
  jw_put_int(j, "moves", f->moves);
  jw_put_int(j, "shared_bytes", f->shared_bytes);
  jw_put_int(j, "wavefronts", f->wavefronts);
}

tesela_status tile_json_exchange(json_writer *j, const tesela_exchange *plan, const char *cuda,
                                 tesela_error *err) {
  tesela_exchange_facts facts = tesela_exchange_facts_of(plan);
  put_facts(j, &facts);
  if (tesela_exchange_memory(plan)) put_memory(j, "memory", tesela_exchange_memory(plan));
  jw_key(j, "plan");
  tesela_writer to = jw_text_begin(j);
  tesela_exchange_print(plan, &to, NULL);
  jw_text_end(j);
  if (!cuda) return TESELA_OK;
  jw_key(j, "cuda");
  to = jw_text_begin(j);
  tesela_status status = tesela_codegen_exchange_cuda(plan, cuda, &to, err);
  jw_text_end(j);
  return status;
}

static void put_registers(json_writer *j, const char *name, const tesela_register *layout) {
  jw_key(j, name);
  if (!layout) {
    jw_null(j);
    return;
  }
  tesela_writer to = jw_text_begin(j);
  tesela_register_print(layout, &to, NULL);
  jw_text_end(j);
}

static void put_tensor(json_writer *j, const tesela_tensor *t) {
  static const char *const spaces[] = {"register", "shared", "global"};
  jw_object(j);
  jw_put_str(j, "name", t->name);
  jw_put_str(j, "space", spaces[t->space]);
  jw_put_str(j, "dtype", tesela_dtype_name(t->dtype));
  jw_key(j, "shape");
  jw_ints(j, t->rank, t->shape);
  if (t->memory)
    put_memory(j, "layout", t->memory);
  else
    put_registers(j, "layout", t->registers);
  jw_put_str(j, "rule", t->rule);
  jw_put_int(j, "line", t->line);
  jw_end(j);
}

/* What a conversion costs, or the layout in memory that would do. */
static void put_repair(json_writer *j, const tesela_kernel_conflict *c) {
  jw_key(j, "repair");
  if (!c->repairable) {
    jw_null(j);
    return;
  }
  jw_object(j);
  if (c->is_access) {
    jw_put_str(j, "kind", "memory");
    jw_put_str(j, "tensor", c->tensor);
    put_memory(j, "memory", &c->would_do);
    jw_put_bool(j, "every_access", c->would_do_for_all);
  } else {
    put_facts(j, &c->repair);
  }
  jw_end(j);
}

static void put_conflict(json_writer *j, const tesela_kernel_conflict *c) {
  jw_key(j, "conflict");
  jw_object(j);
  jw_put_int(j, "line", c->line);
  jw_put_int(j, "at", c->at);
  jw_put_str(j, "operation", c->operation);
  jw_put_str(j, "tensor", c->tensor);
  jw_put_str(j, "other", c->other);
  jw_put_bool(j, "is_result", c->is_result);
  jw_put_str(j, "why", c->why);
  put_registers(j, "has", &c->has);
  put_registers(j, "needs", c->is_access ? NULL : &c->needs);
  if (c->is_access) put_memory(j, "memory", &c->memory);
  jw_key(j, "thread");
  c->have_index ? jw_int(j, c->thread) : jw_null(j);
  jw_key(j, "index");
  c->have_index ? jw_ints(j, c->needs.rank, c->index) : jw_null(j);
  put_repair(j, c);
  jw_put_int(j, "grids_tried", c->grids_tried);
  jw_put_bool(j, "grids_left", c->grids_left);
  jw_end(j);
}

void tile_json_program(json_writer *j, const tesela_kernel_program *program) {
  jw_key(j, "tensors");
  jw_list(j);
  for (int32_t i = 0; i < tesela_kernel_program_count(program); i++) {
    tesela_tensor t = tesela_kernel_program_tensor(program, i);
    put_tensor(j, &t);
  }
  jw_end(j);
  const tesela_kernel_conflict *conflict = tesela_kernel_program_conflict(program);
  if (conflict->found) put_conflict(j, conflict);
}
