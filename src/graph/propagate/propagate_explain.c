/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_explain.c - why a program has its layouts: price, bound, and the price of each edge.
 */
#include "graph/propagate/propagate.h"

typedef struct explain_columns {
  size_t node, operand, buffer, way;
} explain_columns;

static size_t explain_way_text(const tesela_move *move, char text[64]) {
  tesela_buffer buffer = {text, 64, 0};
  tesela_writer writer = tesela_buffer_writer(&buffer);
  tesela__sink sink;
  tesela__sink_init(&sink, &writer);
  if (move->view >= 0)
    tesela__puts(&sink, "a copy");
  else
    tesela__explain_stick(&sink, move->from);
  tesela__puts(&sink, " -> ");
  tesela__explain_stick(&sink, move->to);
  tesela__sink_finish(&sink, NULL);
  return buffer.length;
}

static void explain_row(tesela__explain *x, const explain_columns *width, const char *node,
                        const char *operand, const char *buffer, const char *way, const char *price) {
  tesela__puts(&x->sink, "  ");
  tesela__explain_padded(&x->sink, node, strlen(node), width->node + 2);
  tesela__explain_padded(&x->sink, operand, strlen(operand), width->operand + 2);
  tesela__explain_padded(&x->sink, buffer, strlen(buffer), width->buffer + 2);
  tesela__explain_padded(&x->sink, way, strlen(way), width->way + 2);
  tesela__puts(&x->sink, price);
  tesela__putc(&x->sink, '\n');
}

static void explain_number(char text[64], int64_t value) {
  tesela_buffer buffer = {text, 64, 0};
  tesela_writer writer = tesela_buffer_writer(&buffer);
  tesela__sink sink;
  tesela__sink_init(&sink, &writer);
  tesela__put_int(&sink, value);
  tesela__sink_finish(&sink, NULL);
}

/* The source of a move: a buffer, or a view. */
static const char *explain_moved(const tesela_propagation *p, const tesela_move *move) {
  return tesela_graph_node(p->graph, move->view >= 0 ? move->view : move->buffer)->name;
}

static void explain_table(tesela__explain *x) {
  const tesela_propagation *p = x->p;
  explain_columns width = {4, 7, 6, 10};
  char way[64], number[64], price[64];
  for (int32_t k = 0; k < p->n_moves; k++) {
    size_t node = strlen(tesela_graph_node(p->graph, p->move[k].node)->name);
    size_t buffer = strlen(explain_moved(p, &p->move[k]));
    size_t length = explain_way_text(&p->move[k], way);
    if (node > width.node) width.node = node;
    if (buffer > width.buffer) width.buffer = buffer;
    if (length > width.way) width.way = length;
  }
  explain_row(x, &width, "node", "operand", "buffer", "from -> to", "price");
  for (int32_t k = 0; k < p->n_moves; k++) {
    const tesela_move *move = &p->move[k];
    explain_way_text(move, way);
    explain_number(number, move->operand);
    explain_number(price, move->price);
    bool shared = move->shared >= 0;
    explain_row(x, &width, tesela_graph_node(p->graph, move->node)->name, number, explain_moved(p, move), way,
                shared ? "0, the copy exists" : price);
  }
}

/* The proven bound, and the part of the program that it covers. */
static void explain_bound(tesela__explain *x) {
  const tesela_propagation *p = x->p;
  const tesela_propagate_facts *facts = &p->facts;
  int32_t first = 0;
  tesela__putf(&x->sink, "\nbound %" PRId64 ": %s", facts->bound,
               facts->proven ? "no plan is cheaper" : "the search ended before the cost was proven minimal");
  if (facts->unknown > 0) {
    while (!tesela__propagate_unknown(p, tesela_graph_node(p->graph, first))) first++;
    const tesela_node *node = tesela_graph_node(p->graph, first);
    tesela__putf(&x->sink, " for the %" PRId32 " operator%s considered", facts->operators,
                 facts->operators == 1 ? "" : "s");
    tesela__putf(&x->sink, "\nnot considered: %" PRId32 " operator%s without rules (%.60s = %.40s%s)",
                 facts->unknown, facts->unknown == 1 ? "" : "s", node->name,
                 node->opcode ? node->opcode : "fallback", facts->unknown == 1 ? "" : ", ..");
  }
  tesela__putc(&x->sink, '\n');
}

static void explain_answer(tesela__explain *x, bool proof) {
  const tesela_propagate_facts *facts = &x->p->facts;
  tesela__putf(&x->sink, "cost %" PRId64 ": %" PRId64 " elements in %" PRId32 " move%s", facts->cost,
               facts->moved, facts->n_moves, facts->n_moves == 1 ? "" : "s");
  if (facts->n_copies > 0)
    tesela__putf(&x->sink, ", %" PRId64 " in %" PRId32 " cop%s of views", facts->copied, facts->n_copies,
                 facts->n_copies == 1 ? "y" : "ies");
  if (facts->cost != facts->moved + facts->copied)
    tesela__putf(&x->sink, ", %" PRId64 " for unmet needs and preferences",
                 facts->cost - facts->moved - facts->copied);
  explain_bound(x);
  tesela__putf(&x->sink, "%" PRId32 " buffers, %" PRId32 " of them left to the search\n", facts->buffers,
               facts->core);
  if (proof && x->p->n_moves > 0) explain_table(x);
}

tesela_status tesela_propagation_explain(const tesela_propagation *p, bool proof, const tesela_writer *to,
                                         tesela_error *err) {
  TESELA__NEED(err, p, to);
  tesela__explain x = {.p = p, .before = {.allocator = p->allocator}};
  tesela_status status = TESELA_OK;
  tesela__sink_init(&x.sink, to);
  if (p->facts.ok)
    explain_answer(&x, proof);
  else
    status = tesela__explain_failure(&x, err);
  tesela__model_free(&x.before);
  return status == TESELA_OK ? tesela__sink_finish(&x.sink, err) : status;
}
