/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_outputs.c - every stick that an output has in one of the cheapest plans.
 *
 * If the problem is eliminated exactly, its tables give the least cost of each choice; else each choice is fixed and solved.
 */
#include "graph/propagate/propagate.h"

/* Mark the candidates of the outputs in a solution as cheap as the plan. */
static void outputs_mark(tesela_propagation *p, const tesela__model *model) {
  if (!model->result.feasible || model->result.cost.elements > p->facts.cost) return;
  for (int32_t k = 0; k < p->count; k++)
    if (p->best[k] != 0) p->best[k] |= tesela__stick_bit(tesela__model_candidate(model, k));
}

/* Fix each candidate of an output that `least` leaves open, and solve. fixed: -1 for each variable. */
static tesela_status outputs_try(tesela_propagation *p, tesela__model *model, const tesela__cost *least,
                                 int32_t *fixed, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < p->count; k++) {
    if (p->best[k] == 0) continue;
    const tesela__model_variable *v = &model->variable[model->of_buffer[k]];
    for (int32_t i = 0; i < v->n && status == TESELA_OK; i++) {
      if (p->best[k] >> model->state[v->first + i].candidate & 1) continue;
      if (least[v->first + i].elements > p->facts.cost) continue;
      fixed[model->of_buffer[k]] = i;
      status = tesela__model_answer(model, p, fixed, err);
      if (status == TESELA_OK) outputs_mark(p, model);
      if (status == TESELA_OK && !model->result.proven) return TESELA_OK; /* the others would take as long */
    }
    fixed[model->of_buffer[k]] = -1;
  }
  return status;
}

/* The same in one step, from the least cost of each state. */
static void outputs_take(tesela_propagation *p, const tesela__model *model, const tesela__cost *least) {
  for (int32_t k = 0; k < p->count; k++) {
    if (p->best[k] == 0) continue;
    const tesela__model_variable *v = &model->variable[model->of_buffer[k]];
    for (int32_t i = v->first; i < v->first + v->n; i++)
      if (least[i].elements <= p->facts.cost) p->best[k] |= tesela__stick_bit(model->state[i].candidate);
  }
}

tesela_status tesela__propagate_outputs(tesela_propagation *p, tesela_error *err) {
  tesela__model model;
  tesela__model_part part = tesela__model_whole(p);
  bool exact = false;
  for (int32_t k = 0; k < p->count; k++) {
    const tesela_node *node = tesela_graph_node(p->graph, k);
    if (node->output && p->chosen[node->buffer] >= 0)
      p->best[node->buffer] = tesela__stick_bit(p->chosen[node->buffer]);
  }
  tesela_status status = tesela__model_build(&model, p, &part, err);
  uint64_t states = (uint64_t)model.n_states + 1, variables = (uint64_t)model.n_variables + 1;
  tesela__cost *least = tesela__alloc(&p->allocator, states * sizeof *least, alignof(tesela__cost));
  int32_t *fixed = tesela__alloc(&p->allocator, variables * sizeof *fixed, alignof(int32_t));
  if (status == TESELA_OK && !(least && fixed))
    status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the sticks of outputs");
  for (size_t v = 0; v < variables && fixed; v++) fixed[v] = -1;
  if (status == TESELA_OK &&
      tesela__assign_least(model.problem, tesela__model_effort(p), least, &exact) != TESELA_OK)
    status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the sticks of outputs");
  if (status == TESELA_OK && exact) outputs_take(p, &model, least);
  if (status == TESELA_OK && !exact) status = outputs_try(p, &model, least, fixed, err);
  tesela__release(&p->allocator, least);
  tesela__release(&p->allocator, fixed);
  tesela__model_free(&model);
  return status;
}
