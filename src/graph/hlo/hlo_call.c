/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_call.c - a walk over a computation; calls and fusions are walked in place, with a frame of their own.
 */
#include "graph/hlo/hlo.h"

tesela_status tesela__hlo_walk(tesela__hlo_build *b, int32_t number, tesela__hlo_frame *frame,
                               tesela__hlo_value *root) {
  const tesela__hlo_computation *c = &b->module->computation[number];
  tesela__hlo_frame *caller = b->frame;
  tesela_status status = TESELA_OK;
  frame->computation = c;
  frame->value =
      tesela__alloc(&b->allocator, (uint64_t)c->n * sizeof *frame->value, alignof(tesela__hlo_value));
  if (!frame->value)
    return tesela__fail(b->err, TESELA_E_MEMORY, -1, "no memory for the values of a computation");
  b->frame = frame;
  for (int32_t i = 0; i < c->n; i++) frame->value[i].node = TESELA__HLO_UNSET;
  if (frame->depth == 0) status = tesela__hlo_inputs_first(b);
  for (int32_t i = 0; i < c->n && status == TESELA_OK; i++)
    if (frame->value[i].node == TESELA__HLO_UNSET)
      status = b->value(b, &b->module->instruction[c->first + i], &frame->value[i]);
  if (status == TESELA_OK) *root = frame->value[c->root - c->first];
  tesela__release(&b->allocator, frame->value);
  b->frame = caller;
  return status;
}

tesela_status tesela__hlo_call(tesela__hlo_build *b, const tesela__hlo_instruction *in,
                               tesela__hlo_value *out) {
  const tesela__hlo_module *m = b->module;
  tesela__hlo_span word = tesela__hlo_attribute(m, in, "calls");
  if (word.at == 0) word = tesela__hlo_attribute(m, in, "to_apply");
  char shown[TESELA__HLO_SHOWN];
  int32_t number = word.at == 0 ? -1 : tesela__hlo_module_find(m, word), ignored;
  if (number < 0)
    return tesela__hlo_fail(b, in, TESELA_E_INVALID, "it calls %s, which is not a computation",
                            word.n == 0 ? "nothing" : tesela__hlo_shown(m->text, word, shown));
  if (b->frame->depth >= TESELA__HLO_DEPTH)
    return tesela__hlo_fail(b, in, TESELA_E_LIMIT, "calls nest deeper than %d", TESELA__HLO_DEPTH);
  tesela__hlo_frame *frame =
      tesela__alloc(&b->allocator, sizeof *frame + (uint64_t)in->n_operands * sizeof(tesela__hlo_value),
                    alignof(tesela__hlo_frame));
  if (!frame) return tesela__fail(b->err, TESELA_E_MEMORY, -1, "no memory for a call");
  *frame = (tesela__hlo_frame){.depth = b->frame->depth + 1, .n_arguments = in->n_operands};
  tesela__hlo_value *argument = (tesela__hlo_value *)(frame + 1);
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < in->n_operands && status == TESELA_OK; k++) {
    if (tesela__hlo_value_of(b, in, k)->node == TESELA__HLO_CONSTANT)
      status = tesela__hlo_operand(b, in, k, &ignored);
    argument[k] = *tesela__hlo_value_of(b, in, k);
  }
  frame->argument = argument;
  size_t n = strlen(b->frame->prefix);
  bool root =
      n > 0 && in == &m->instruction[b->frame->computation->root]; /* it has the caller's name already */
  frame->too_long = b->frame->too_long || (!root && n + in->name.n + 2 > sizeof frame->prefix);
  if (!frame->too_long) {
    memcpy(frame->prefix, b->frame->prefix, n);
    if (!root) {
      memcpy(frame->prefix + n, m->text + in->name.at, in->name.n);
      n += in->name.n;
      frame->prefix[n++] = '.';
    }
    frame->prefix[n] = '\0';
  }
  if (status == TESELA_OK) status = tesela__hlo_walk(b, number, frame, out);
  if (status == TESELA_OK) b->facts.inlined++;
  tesela__release(&b->allocator, frame);
  return status;
}
