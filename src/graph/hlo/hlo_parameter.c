/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_parameter.c - parameters: inputs of the entry computation; in other computations, operands of the call.
 *
 * Inputs have the order of parameter numbers. If the text has another order (as in scheduled programs), all inputs come first;
 * otherwise each has its position in the text.
 */
#include <stdlib.h>

#include "graph/hlo/hlo.h"

/* Is the device layout of the shape the one in the text? Types on the device may be narrower; only places count. */
static bool hlo_is_stick(const tesela_target *target, const tesela_device_host *host,
                         const tesela_xla_shape *shape, int32_t stick) {
  tesela_device_layout device;
  tesela_layout wanted, said;
  tesela_difference difference;
  tesela_xla_shape typed = *shape;
  if (tesela_device_with_stick(&device, host, target, stick, NULL) != TESELA_OK) return false;
  typed.dtype = device.host.device_dtype;
  typed.layout.element_bits = 0;
  typed.layout.memory_space = 0;
  return tesela_device_to_layout(&device, &wanted, NULL) == TESELA_OK &&
         tesela_xla_to_layout(&typed, &said, NULL) == TESELA_OK &&
         tesela_layout_compare(&wanted, &said, &difference, NULL) == TESELA_OK && difference.same &&
         wanted.axis[0].extent == said.axis[0].extent;
}

int32_t tesela__hlo_stick(const tesela_target *target, const tesela_xla_shape *shape) {
  tesela_device_host host;
  if (!target || shape->layout.n_tiles == 0 || shape->kind != TESELA_XLA_ARRAY ||
      tesela_device_host_of(&host, target, shape->dtype, shape->rank, shape->dim, NULL) != TESELA_OK)
    return TESELA_STICK_FREE;
  for (int32_t stick = shape->rank - 1; stick >= TESELA_STICK_SPARSE; stick--)
    if (hlo_is_stick(target, &host, shape, stick)) return stick;
  return TESELA_STICK_FREE;
}

tesela_status tesela__hlo_input(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                tesela__hlo_value *out) {
  if (in->tuple) {
    *out = (tesela__hlo_value){.node = TESELA__HLO_ARGUMENTS};
    return TESELA_OK;
  }
  if (b->dtype == TESELA_TOKEN) return TESELA_OK; /* without memory: a fallback */
  tesela_xla_shape shape;
  tesela_status status = tesela__hlo_array(b, in, &shape);
  if (status != TESELA_OK) return status;
  tesela_node_spec spec = {.op = TESELA_OP_INPUT,
                           .dtype = b->dtype,
                           .rank = b->rank,
                           .shape = b->shape,
                           .stick = tesela__hlo_stick(b->target, &shape)};
  return tesela__hlo_add(b, in, NULL, &spec, &out->node);
}

tesela_status tesela__hlo_parameter(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                                    tesela__hlo_value *out) {
  int64_t number;
  if (!tesela__hlo_integer(b->module->text, in->inside, &number) || number < 0)
    return tesela__hlo_fail(b, in, TESELA_E_SYNTAX, "parameter(number) needs a number of 0 or more");
  if (b->frame->depth == 0) return tesela__hlo_input(b, in, out);
  if (number >= b->frame->n_arguments)
    return tesela__hlo_fail(b, in, TESELA_E_INVALID,
                            "parameter %" PRId64 ", but the call has %" PRId32 " operands", number,
                            b->frame->n_arguments);
  *out = b->frame->argument[number];
  return TESELA_OK;
}

/* ---- order ---- */

typedef struct hlo_numbered {
  int64_t number;
  int32_t instruction;
} hlo_numbered;

static int hlo_by_number(const void *a, const void *b) {
  const hlo_numbered *x = a, *y = b;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return x->instruction < y->instruction ? -1 : x->instruction > y->instruction;
}

/* The parameters of a computation; *sorted: they are in the order of their numbers. */
static int32_t hlo_collect(const tesela__hlo_module *m, const tesela__hlo_computation *c, hlo_numbered *list,
                           bool *sorted) {
  int32_t n = 0;
  int64_t before = -1;
  *sorted = true;
  for (int32_t i = c->first; i < c->first + c->n; i++) {
    int64_t number;
    if (!tesela__hlo_same(m->text, m->instruction[i].opcode, "parameter") ||
        !tesela__hlo_integer(m->text, m->instruction[i].inside, &number))
      continue;
    if (number < before) *sorted = false;
    before = number;
    if (list) list[n] = (hlo_numbered){number, i};
    n++;
  }
  return n;
}

tesela_status tesela__hlo_inputs_first(tesela__hlo_build *b) {
  const tesela__hlo_module *m = b->module;
  const tesela__hlo_computation *c = b->frame->computation;
  bool sorted;
  int32_t n = hlo_collect(m, c, NULL, &sorted);
  if (sorted) return TESELA_OK;
  hlo_numbered *list = tesela__alloc(&b->allocator, (uint64_t)n * sizeof *list, alignof(hlo_numbered));
  if (!list) return tesela__fail(b->err, TESELA_E_MEMORY, -1, "no memory for parameters");
  hlo_collect(m, c, list, &sorted);
  qsort(list, (size_t)n, sizeof *list, hlo_by_number);
  tesela_status status = TESELA_OK;
  for (int32_t i = 0; i < n && status == TESELA_OK; i++)
    status =
        b->value(b, &m->instruction[list[i].instruction], &b->frame->value[list[i].instruction - c->first]);
  tesela__release(&b->allocator, list);
  return status;
}
