/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_tile.c - the ops about moving tiles: access, vector_width, bank_conflicts, ldmatrix, swizzle, convert, infer.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"
#include "tile_json.h"

/* ---- fields --------------------------------------------------------------------------------------------------- */

/* A register layout, and the type of its text. */
static tesela_status read_register(tesela_request *q, const tesela_value *text, const char *source,
                                   tesela_register *out, tile_type *type) {
  const tesela_layout_read_options options = request_reading(q, NULL);
  tesela_any_layout any;
  tesela_status status = request_read(q, text, "register", &any);
  if (status != TESELA_OK) return status;
  *out = any.registers;
  return tile_read_type(tesela_value_text(text), tesela_value_length(text), &options, source, type, q->err);
}

static tesela_status take_register(tesela_request *q, const char *field, tesela_register *out,
                                   tile_type *type) {
  const tesela_value *text = tesela_request_get(q, field);
  return read_register(q, text, field, out, type);
}

static tesela_status take_memory(tesela_request *q, const char *field, tesela_tile_memory *out,
                                 tile_type *type) {
  const tesela_value *text = tesela_request_get(q, field);
  const tesela_layout_read_options options = request_reading(q, NULL);
  tesela_status status =
      tile_read_memory(tesela_value_text(text), tesela_value_length(text), &options, out, q->err);
  if (status != TESELA_OK) return status;
  return tile_read_type(tesela_value_text(text), tesela_value_length(text), &options, field, type, q->err);
}

/* The width of the elements: of the field dtype, else of the type of the texts. */
static tesela_status take_bits(tesela_request *q, const tile_type *type, int32_t *bits) {
  const tesela_value *value = tesela_request_get(q, "dtype");
  *bits = type->bits;
  if (!value && *bits > 0) return TESELA_OK;
  if (!value)
    return tesela_request_fail(q, TESELA_E_INVALID, -1,
                               "missing field dtype: the layouts have no element type of their own");
  const char *name = tesela_value_text(value);
  tesela_dtype dtype = tesela_dtype_find(name, strlen(name));
  if (tesela_dtype_bits(dtype) > 0) return tile_type_bits(type, dtype, "dtype", bits, q->err);
  if (*name == '\0')
    return tesela_request_fail(q, TESELA_E_SYNTAX, -1, "missing element type; expected one such as f16");
  const char *near = tile_near_dtype(name);
  return tesela_request_fail(q, TESELA_E_SYNTAX, -1, "unknown element type '%.40s'%s%s%s", name,
                             near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* An optional field, 1 to `most`; 0 if it is missing. */
static tesela_status take_number(tesela_request *q, const char *field, int32_t most, int32_t *number) {
  const tesela_value *value = tesela_request_get(q, field);
  int64_t given = tesela_value_int(value);
  if (value && (given < 1 || given > most))
    return tesela_request_fail(q, TESELA_E_RANGE, -1, "%s is %" PRId64 "; expected 1 to %" PRId32, field,
                               given, most);
  *number = (int32_t)given;
  return TESELA_OK;
}

/* Steps of a search; 0: the field is missing. */
static tesela_status take_steps(tesela_request *q, int64_t *steps) {
  const tesela_value *value = tesela_request_get(q, "max_steps");
  *steps = tesela_value_int(value);
  return !value || *steps > 0 ? TESELA_OK
                              : tesela_request_fail(q, TESELA_E_RANGE, -1,
                                                    "max_steps is %" PRId64 "; expected 1 or more", *steps);
}

static tesela_status take_machine(tesela_request *q, tesela_access_machine *machine) {
  *machine = (tesela_access_machine){0};
  tesela_status status = take_number(q, "warp", TESELA_ACCESS_WARP, &machine->warp);
  if (status == TESELA_OK) status = take_number(q, "banks", 128, &machine->banks);
  if (status == TESELA_OK) status = take_number(q, "bank_bytes", 128, &machine->bank_bytes);
  return status;
}

/* The fields of access and of its parts. */
typedef struct tile_request {
  tesela_register registers;
  tesela_tile_memory memory;
  tesela_access_machine machine;
  int32_t bits;
  int64_t vector;
} tile_request;

static tesela_status take_request(tesela_request *q, tile_request *r) {
  tile_type type = {.bits = 0};
  tesela_status status = take_register(q, "register", &r->registers, &type);
  if (status == TESELA_OK) status = take_memory(q, "memory", &r->memory, &type);
  if (status == TESELA_OK) status = take_bits(q, &type, &r->bits);
  if (status == TESELA_OK) status = take_machine(q, &r->machine);
  if (status != TESELA_OK) return status;
  r->vector = tesela_value_int(tesela_request_get(q, "vector"));
  q->field = NULL;
  return TESELA_OK;
}

/* ---- access, and its parts vector_width, bank_conflicts, ldmatrix ----------------------------------------------- */

enum { WIDTH = 1, COST = 2 };

static tesela_status answer_access(tesela_request *q, int parts) {
  tile_request r;
  tesela_vector_width width;
  tesela_access_cost cost;
  tesela_ldmatrix plan;
  tesela_status status = take_request(q, &r);
  bool both = parts == (WIDTH | COST) && status == TESELA_OK && r.memory.space == TESELA_TILE_SHARED;
  if (status == TESELA_OK && parts & WIDTH)
    status = tesela_vector_width_of(&r.registers, &r.memory, r.bits, &r.machine, &width, q->err);
  if (status == TESELA_OK && parts & COST)
    status = tesela_access_cost_of(&r.registers, &r.memory, r.bits, r.vector, &r.machine, &cost, q->err);
  if (status == TESELA_OK && both)
    status = tile_ldmatrix(&r.registers, &r.memory, r.bits, &r.machine, &plan, q->err);
  if (status != TESELA_OK) return status;
  if (parts & WIDTH) tile_json_width(q->out, &width);
  if (parts & COST) tile_json_cost(q->out, &cost);
  if (!both) return TESELA_OK;
  tesela_put_key_object(q->out, "ldmatrix");
  tile_json_ldmatrix(q->out, &plan);
  tesela_put_end(q->out);
  return TESELA_OK;
}

tesela_status op_access(tesela_request *q) { return answer_access(q, WIDTH | COST); }
tesela_status op_vector_width(tesela_request *q) { return answer_access(q, WIDTH); }
tesela_status op_bank_conflicts(tesela_request *q) { return answer_access(q, COST); }

tesela_status op_ldmatrix(tesela_request *q) {
  tile_request r;
  tesela_ldmatrix plan;
  tesela_status status = take_request(q, &r);
  if (status == TESELA_OK) status = tesela_ldmatrix_of(&r.registers, &r.memory, r.bits, &plan, q->err);
  if (status == TESELA_OK) tile_json_ldmatrix(q->out, &plan);
  return status;
}

/* ---- swizzle ------------------------------------------------------------------------------------------------------ */

enum { SWIZZLE_USES = 4096 }; /* bounds memory */

/* The uses in the fields writes and reads, lists of expressions; ldmatrix may do those of reads. All have the width `vector`. */
static tesela_status take_uses(tesela_request *q, tesela_register *layouts, tesela_access_use *uses,
                               tile_type *type) {
  static const char *const fields[] = {"writes", "reads"};
  const int64_t vector = tesela_value_int(tesela_request_get(q, "vector"));
  tesela_status status = TESELA_OK;
  size_t n = 0;
  for (int f = 0; f < 2; f++) {
    const tesela_value *list = tesela_request_get(q, fields[f]);
    for (size_t i = 0; i < tesela_value_size(list) && status == TESELA_OK; i++, n++) {
      const tesela_value *text = tesela_value_at(list, i);
      status = read_register(q, text, fields[f], &layouts[n], type);
      uses[n] = (tesela_access_use){.registers = &layouts[n],
                                    .vector = vector,
                                    .ldmatrix = f == 1 && tesela_request_flag(q, "ldmatrix")};
    }
  }
  return status;
}

tesela_status op_swizzle(tesela_request *q) {
  size_t n =
      tesela_value_size(tesela_request_get(q, "writes")) + tesela_value_size(tesela_request_get(q, "reads"));
  tesela_synthesis found;
  tesela_access_machine machine;
  tesela_synthesis_options options = {.progress = tesela_request_progress, .progress_user = q};
  tile_type type = {.bits = 0};
  int32_t bits = 0;
  tesela_status status = take_machine(q, &machine);
  if (status == TESELA_OK) status = take_steps(q, &options.max_steps);
  if (status != TESELA_OK) return status;
  if (n == 0 || n > SWIZZLE_USES)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "writes and reads have %zu layouts; expected 1 to %d",
                               n, SWIZZLE_USES);
  tesela_register *layouts = malloc(n * sizeof *layouts);
  tesela_access_use *uses = calloc(n, sizeof *uses);
  status = layouts && uses ? take_uses(q, layouts, uses, &type)
                           : tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory");
  if (status == TESELA_OK) status = take_bits(q, &type, &bits);
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

tesela_status op_convert(tesela_request *q) {
  tesela_register dst, src;
  tesela_exchange *plan;
  int32_t bits, warp = 0;
  int64_t max_steps = 0;
  tile_type type = {.bits = 0};
  tesela_status status = take_register(q, "from", &src, &type);
  if (status == TESELA_OK) status = take_register(q, "to", &dst, &type);
  if (status == TESELA_OK) status = take_bits(q, &type, &bits);
  if (status == TESELA_OK) status = take_number(q, "warp", TESELA_ACCESS_WARP, &warp);
  if (status == TESELA_OK) status = take_steps(q, &max_steps);
  if (status != TESELA_OK) return status;
  const char *through = tesela_value_text(tesela_request_get(q, "through"));
  tesela_exchange_options options = {.warp = warp,
                                     .no_shuffle = through && strcmp(through, "shared") == 0,
                                     .no_shared = through && strcmp(through, "shuffle") == 0,
                                     .max_steps = max_steps,
                                     .progress = tesela_request_progress,
                                     .progress_user = q};
  q->field = NULL;
  status = tesela_exchange_create(&plan, &dst, &src, bits, &options, NULL, q->err);
  if (status != TESELA_OK) return status;
  const char *cuda = tesela_value_text(tesela_value_get(q->value, "cuda"));
  q->field = cuda ? "cuda" : NULL;
  status = tile_json_exchange(q->out, plan, cuda, q->err);
  tesela_exchange_destroy(plan);
  return status;
}

/* ---- infer -------------------------------------------------------------------------------------------------------- */

tesela_status op_infer(tesela_request *q) {
  const tesela_value *text = tesela_request_get(q, "program");
  tesela_kernel_program *program = NULL;
  tesela_status status = tesela_kernel_program_create(&program, tesela_value_text(text),
                                                      tesela_value_length(text), NULL, q->err);
  if (status == TESELA_OK) status = tesela_kernel_program_infer(program, q->err);
  if (program && tesela_kernel_program_conflict(program)->found) status = TESELA_OK; /* that is an answer */
  if (status == TESELA_OK) tile_json_program(q->out, program, q->err->message);
  tesela_kernel_program_destroy(program);
  return status;
}
