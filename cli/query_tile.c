/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_tile.c - the ops about moving tiles: vector_width, bank_conflicts, ldmatrix, swizzle, convert, infer.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "query.h"
#include "tile_input.h"
#include "tile_json.h"

/* ---- fields --------------------------------------------------------------------------------------------------- */

static tesela_status read_register(query *q, const json_t *text, tesela_register *out) {
  const tesela_layout_read_options options = {.notation = "register"};
  tesela_any_layout any;
  tesela_status status =
      tesela_layout_read(json_string_value(text), json_string_length(text), &options, &any, q->err);
  if (status == TESELA_OK) *out = any.registers;
  return status;
}

static tesela_status take_register(query *q, const char *field, tesela_register *out) {
  const json_t *text = query_get(q, field);
  return read_register(q, text, out);
}

static tesela_status take_memory(query *q, const char *field, tesela_tile_memory *out) {
  const json_t *text = query_get(q, field);
  const tesela_layout_read_options options = {0};
  tesela_any_layout any;
  tesela_status status =
      tesela_layout_read(json_string_value(text), json_string_length(text), &options, &any, q->err);
  if (status != TESELA_OK) return status;
  if (any.kind != TESELA_KIND_SHARED && any.kind != TESELA_KIND_GLOBAL)
    return query_fail(q, TESELA_E_MISMATCH, 0, "expected a tile in memory, found %s",
                      tesela_kind_words(any.kind));
  *out = any.memory;
  return TESELA_OK;
}

static tesela_status take_bits(query *q, int32_t *bits) {
  const char *name = json_string_value(query_get(q, "dtype"));
  tesela_dtype dtype = tesela_dtype_find(name, strlen(name));
  *bits = tesela_dtype_bits(dtype);
  if (*bits > 0) return TESELA_OK;
  if (*name == '\0') return query_fail(q, TESELA_E_SYNTAX, -1, "the type of elements is empty; f16 is one");
  const char *near = tile_input_near_dtype(name);
  return query_fail(q, TESELA_E_SYNTAX, -1, "%.40s is no type of elements%s%s%s", name,
                    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* An optional field, 1 to `most`; 0 if it is not there. */
static tesela_status take_number(query *q, const char *field, int32_t most, int32_t *number) {
  const json_t *value = query_get(q, field);
  int64_t given = json_integer_value(value);
  if (value && (given < 1 || given > most))
    return query_fail(q, TESELA_E_RANGE, -1, "%s is %" PRId64 "; 1 to %" PRId32 " is allowed", field, given,
                      most);
  *number = (int32_t)given;
  return TESELA_OK;
}

/* Steps of a search; 0: the field is not there. */
static tesela_status take_steps(query *q, int64_t *steps) {
  const json_t *value = query_get(q, "max_steps");
  *steps = json_integer_value(value);
  return !value || *steps > 0
             ? TESELA_OK
             : query_fail(q, TESELA_E_RANGE, -1, "max_steps is %" PRId64 "; it is 1 or more", *steps);
}

static tesela_status take_machine(query *q, tesela_access_machine *machine) {
  *machine = (tesela_access_machine){0};
  tesela_status status = take_number(q, "warp", TESELA_ACCESS_WARP, &machine->warp);
  if (status == TESELA_OK) status = take_number(q, "banks", 128, &machine->banks);
  if (status == TESELA_OK) status = take_number(q, "bank_bytes", 128, &machine->bank_bytes);
  return status;
}

/* What vector_width, bank_conflicts and ldmatrix are asked about. */
typedef struct tile_request {
  tesela_register registers;
  tesela_tile_memory memory;
  tesela_access_machine machine;
  int32_t bits;
  int64_t vector;
} tile_request;

static tesela_status take_request(query *q, tile_request *r) {
  tesela_status status = take_register(q, "register", &r->registers);
  if (status == TESELA_OK) status = take_memory(q, "memory", &r->memory);
  if (status == TESELA_OK) status = take_bits(q, &r->bits);
  if (status == TESELA_OK) status = take_machine(q, &r->machine);
  if (status != TESELA_OK) return status;
  r->vector = json_integer_value(query_get(q, "vector"));
  q->field = NULL;
  return TESELA_OK;
}

/* ---- vector_width, bank_conflicts, ldmatrix -------------------------------------------------------------------- */

tesela_status query_op_vector_width(query *q) {
  tile_request r;
  tesela_vector_width width;
  tesela_status status = take_request(q, &r);
  if (status == TESELA_OK)
    status = tesela_vector_width_of(&r.registers, &r.memory, r.bits, &r.machine, &width, q->err);
  if (status == TESELA_OK) tile_json_width(q->out, &width);
  return status;
}

tesela_status query_op_bank_conflicts(query *q) {
  tile_request r;
  tesela_access_cost cost;
  tesela_status status = take_request(q, &r);
  if (status == TESELA_OK)
    status = tesela_access_cost_of(&r.registers, &r.memory, r.bits, r.vector, &r.machine, &cost, q->err);
  if (status == TESELA_OK) tile_json_cost(q->out, &cost);
  return status;
}

tesela_status query_op_ldmatrix(query *q) {
  tile_request r;
  tesela_ldmatrix plan;
  tesela_status status = take_request(q, &r);
  if (status == TESELA_OK) status = tesela_ldmatrix_of(&r.registers, &r.memory, r.bits, &plan, q->err);
  if (status == TESELA_OK) tile_json_ldmatrix(q->out, &plan);
  return status;
}

/* ---- swizzle ------------------------------------------------------------------------------------------------------ */

/* The uses in the fields writes and reads, lists of expressions; those of reads may be done by ldmatrix. */
static tesela_status take_uses(query *q, tesela_register *layouts, tesela_access_use *uses) {
  static const char *const fields[] = {"writes", "reads"};
  tesela_status status = TESELA_OK;
  size_t n = 0;
  for (int f = 0; f < 2; f++) {
    const json_t *list = query_get(q, fields[f]);
    for (size_t i = 0; i < json_array_size(list) && status == TESELA_OK; i++, n++) {
      const json_t *text = json_array_get(list, i);
      status = read_register(q, text, &layouts[n]);
      uses[n] =
          (tesela_access_use){.registers = &layouts[n], .ldmatrix = f == 1 && query_flag(q, "ldmatrix")};
    }
  }
  return status;
}

tesela_status query_op_swizzle(query *q) {
  size_t n = json_array_size(query_get(q, "writes")) + json_array_size(query_get(q, "reads"));
  tesela_synthesis found;
  tesela_access_machine machine;
  tesela_synthesis_options options = {0};
  int32_t bits;
  tesela_status status = take_bits(q, &bits);
  if (status == TESELA_OK) status = take_machine(q, &machine);
  if (status == TESELA_OK) status = take_steps(q, &options.max_steps);
  if (status != TESELA_OK) return status;
  if (n == 0 || n > 64)
    return query_fail(q, TESELA_E_INVALID, -1, "writes and reads have %zu layouts; 1 to 64", n);
  tesela_register *layouts = malloc(n * sizeof *layouts);
  tesela_access_use *uses = calloc(n, sizeof *uses);
  status = layouts && uses ? take_uses(q, layouts, uses) : query_fail(q, TESELA_E_MEMORY, -1, "no memory");
  if (status == TESELA_OK) {
    q->field = NULL;
    status = tesela_synthesize((int32_t)n, uses, bits, &options, &machine, &found, q->err);
  }
  free(layouts);
  free(uses);
  if (status == TESELA_OK) tile_json_synthesis(q->out, &found);
  return status;
}

/* ---- convert ------------------------------------------------------------------------------------------------------ */

tesela_status query_op_convert(query *q) {
  tesela_register dst, src;
  tesela_exchange *plan;
  int32_t bits, warp = 0;
  int64_t max_steps = 0;
  tesela_status status = take_register(q, "from", &src);
  if (status == TESELA_OK) status = take_register(q, "to", &dst);
  if (status == TESELA_OK) status = take_bits(q, &bits);
  if (status == TESELA_OK) status = take_number(q, "warp", TESELA_ACCESS_WARP, &warp);
  if (status == TESELA_OK) status = take_steps(q, &max_steps);
  if (status != TESELA_OK) return status;
  const char *through = json_string_value(query_get(q, "through"));
  tesela_exchange_options options = {.warp = warp,
                                     .no_shuffle = through && strcmp(through, "shared") == 0,
                                     .no_shared = through && strcmp(through, "shuffle") == 0,
                                     .max_steps = max_steps};
  q->field = NULL;
  status = tesela_exchange_create(&plan, &dst, &src, bits, &options, NULL, q->err);
  if (status != TESELA_OK) return status;
  const char *cuda = json_string_value(json_object_get(q->request, "cuda"));
  q->field = cuda ? "cuda" : NULL;
  status = tile_json_exchange(q->out, plan, cuda, q->err);
  tesela_exchange_destroy(plan);
  return status;
}

/* ---- infer -------------------------------------------------------------------------------------------------------- */

tesela_status query_op_infer(query *q) {
  const json_t *text = query_get(q, "program");
  tesela_kernel_program *program = NULL;
  tesela_status status =
      tesela_kernel_program_create(&program, json_string_value(text), json_string_length(text), NULL, q->err);
  if (status == TESELA_OK) status = tesela_kernel_program_infer(program, q->err);
  if (status == TESELA_OK) tile_json_program(q->out, program);
  tesela_kernel_program_destroy(program);
  return status;
}
