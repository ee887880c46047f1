/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops_print.c - the loops of an operator as source text: the statements of each class of operators.
 */
#include "graph/loops/loops_print.h"

/* ---- loops -------------------------------------------------------------------------------------------------- */

static void print_loops(tesela__print *s, int32_t from, int32_t to) {
  for (int32_t l = from; l < to; l++) {
    tesela__print_line(s);
    tesela__putf(s->sink, "for (int64_t c%" PRId32 " = 0; c%" PRId32 " < %" PRId64 "; c%" PRId32 "++)", l, l,
                 s->loops.loop[l].extent, l);
    s->depth++;
  }
  if (tesela__print_inside(s, from, to)) s->depth++;
}

/* fn(a[..], b[..]) */
static void print_call(tesela__print *s, tesela_fn fn, const char *first, int32_t from, int32_t to) {
  tesela__putf(s->sink, "%s(", tesela_fn_name(fn));
  if (first) tesela__puts(s->sink, first);
  for (int32_t k = from; k < to; k++) {
    if (k > from || first) tesela__puts(s->sink, ", ");
    tesela__print_operand(s, k);
  }
  tesela__putc(s->sink, ')');
}

static void print_assignment(tesela__print *s) {
  tesela__print_result(s);
  if (s->node->op == TESELA_OP_POINTWISE) {
    print_call(s, s->node->fn, NULL, 0, s->node->n_operands);
  } else if (s->node->op == TESELA_OP_CONSTANT) {
    tesela__print_number(s, s->node->value);
    tesela__terms_sum sum = {.constant = 0};
    if (s->node->n_dims > 0) tesela__print_dim(s, s->node->dim[0], 1, &sum);
    if (sum.n > 0) tesela__puts(s->sink, " + ");
    if (sum.n > 0) tesela__terms_put(&s->text, &sum, s->sink);
  } else {
    tesela__print_operand(s, 0);
  }
  tesela__putc(s->sink, ';');
}

/* cat, pad, write: the last operand that has an element. */
static void print_pieces(tesela__print *s) {
  tesela__op_tensor tensor;
  int32_t least = s->node->in_place ? 1 : 0;
  if (s->node->in_place && tesela__print_tensor(s, 1, &tensor)) {
    s->depth += tesela__print_exists(s, &tensor, true);
    tesela__print_result(s);
    tesela__print_operand(s, 1);
    tesela__putc(s->sink, ';');
    return;
  }
  tesela__print_result(s);
  bool open = true;
  for (int32_t k = s->node->n_operands - 1; k >= least && open; k--) {
    if (!tesela__print_tensor(s, k, &tensor)) return;
    open = tesela__print_exists(s, &tensor, false);
    if (open) tesela__puts(s->sink, " ? ");
    tesela__print_element(s, &tensor, false);
    if (s->status != TESELA_OK) return;
    if (open && (k > least || s->node->op == TESELA_OP_PAD))
      tesela__puts(s->sink, " : ");
    else if (open)
      tesela__puts(s->sink, " : 0"); /* not reached: the pieces cover the result */
  }
  if (open && s->node->op == TESELA_OP_PAD) tesela__print_number(s, s->node->value);
  tesela__putc(s->sink, ';');
}

static void print_gather(tesela__print *s) {
  tesela__print_open(s);
  tesela__print_line(s);
  tesela__puts(s->sink, "int64_t i = ");
  tesela__print_operand(s, 1);
  tesela__putc(s->sink, ';');
  int32_t depth = s->depth;
  tesela__print_result(s);
  tesela__print_operand(s, 0);
  tesela__putc(s->sink, ';');
  s->depth = depth - 1;
  tesela__print_line(s);
  tesela__putc(s->sink, '}');
}

/* Is it a fold of operand 0 alone? */
static bool print_folds_one(const tesela__print *s) {
  return s->node->op == TESELA_OP_REDUCE || s->node->op == TESELA_OP_POOL;
}

/* The initial value of a fold. */
static const char *print_first(const tesela__print *s) {
  switch (print_folds_one(s) ? s->node->fn : TESELA_FN_SUM) {
  case TESELA_FN_PROD:
    return "1";
  case TESELA_FN_MAX:
    return "least";
  case TESELA_FN_MIN:
    return "greatest";
  case TESELA_FN_AND:
    return "-1";
  default:
    return "0";
  }
}

/* The element starts as that of operand 0; then each value with its index is stored or added. */
static void print_scatter(tesela__print *s) {
  tesela__terms_sum sum = {.constant = 0};
  tesela__print_open(s);
  int32_t depth = s->depth;
  if (!s->node->in_place) print_assignment(s);
  s->depth = depth;
  print_loops(s, s->n_outer, s->loops.n);
  tesela__print_dim(s, s->node->dim[0], 1, &sum);
  tesela__print_line(s);
  tesela__puts(s->sink, "if (");
  tesela__print_operand(s, 1);
  tesela__puts(s->sink, " == ");
  tesela__terms_put(&s->text, &sum, s->sink);
  tesela__putc(s->sink, ')');
  s->depth++;
  tesela__print_result(s);
  if (s->node->fn == TESELA_FN_ADD) {
    tesela__puts(s->sink, "add(");
    tesela__print_at(s, s->node->buffer, &s->written);
    tesela__puts(s->sink, ", ");
  }
  tesela__print_operand(s, 2);
  tesela__puts(s->sink, s->node->fn == TESELA_FN_ADD ? ");" : ";");
  s->depth = depth - 1;
  tesela__print_line(s);
  tesela__putc(s->sink, '}');
}

/* The statement inside the folded loops. */
static void print_step(tesela__print *s) {
  tesela_fn fn = s->node->fn;
  if (s->node->op == TESELA_OP_CONV2D || s->node->op == TESELA_OP_POOL) { /* a window over the border */
    tesela__op_tensor tensor;
    if (!tesela__print_tensor(s, 0, &tensor)) return;
    s->depth += tesela__print_exists(s, &tensor, true);
  }
  tesela__print_line(s);
  if (print_folds_one(s)) {
    tesela__puts(s->sink, "sum = ");
    print_call(s,
               fn == TESELA_FN_SUM || fn == TESELA_FN_MEAN ? TESELA_FN_ADD
               : fn == TESELA_FN_PROD                      ? TESELA_FN_MUL
                                                           : fn,
               "sum", 0, 1);
  } else {
    tesela__puts(s->sink, "sum = add(sum, ");
    print_call(s, TESELA_FN_MUL, NULL, 0, 2);
    tesela__putc(s->sink, ')');
  }
  tesela__putc(s->sink, ';');
}

static void print_fold(tesela__print *s) {
  tesela__print_open(s);
  int32_t depth = s->depth;
  tesela__print_line(s);
  tesela__putf(s->sink, "value sum = %s;", print_first(s));
  print_loops(s, s->n_outer, s->loops.n);
  print_step(s);
  s->depth = depth;
  tesela__print_result(s);
  if (s->node->op == TESELA_OP_REDUCE && s->node->fn == TESELA_FN_MEAN) {
    int64_t count = 1;
    for (int32_t i = 0; i < s->loops.iteration.n; i++) {
      bool stays = false;
      for (int32_t d = 0; d < s->node->rank; d++) stays = stays || s->loops.iteration.result[d] == i;
      if (!stays) count *= s->loops.iteration.extent[i]; /* elements of the operand: the graph checked it */
    }
    tesela__putf(s->sink, "div(sum, %" PRId64 ");", count);
  } else {
    tesela__puts(s->sink, "sum;");
  }
  s->depth = depth - 1;
  tesela__print_line(s);
  tesela__putc(s->sink, '}');
}

/* "line", or "line1" if there are several. */
static void print_line_name(tesela__print *s, int32_t k) {
  tesela__puts(s->sink, "line");
  if (s->node->n_operands > 1) tesela__put_int(s->sink, k);
}

/* Read the line of each operand, then write one element of the result. */
static void print_along(tesela__print *s) {
  int32_t dim = s->node->rank; /* the dim of the line */
  int64_t extent = s->loops.iteration.extent[dim];
  tesela__terms_sum at = {.constant = 0}, element = {.constant = 0};
  tesela__print_open(s);
  int32_t depth = s->depth;
  for (int32_t k = 0; k < s->node->n_operands; k++) {
    tesela__print_line(s);
    tesela__puts(s->sink, "value ");
    print_line_name(s, k);
    tesela__putf(s->sink, "[%" PRId64 "];", extent);
  }
  print_loops(s, s->n_outer, s->loops.n);
  bool block = s->node->n_operands > 1 && s->depth > depth;
  if (block) tesela__puts(s->sink, " {");
  tesela__print_dim(s, dim, 1, &at);
  for (int32_t k = 0; k < s->node->n_operands; k++) {
    tesela__print_line(s);
    print_line_name(s, k);
    tesela__putc(s->sink, '[');
    tesela__terms_put(&s->text, &at, s->sink);
    tesela__puts(s->sink, "] = ");
    tesela__print_operand(s, k);
    tesela__putc(s->sink, ';');
  }
  if (block) {
    s->depth--;
    tesela__print_line(s);
    tesela__putc(s->sink, '}');
  }
  s->depth = depth;
  tesela__print_result(s);
  tesela__putf(s->sink, "%s%s(", tesela_fn_name(s->node->fn), s->node->reverse ? "_reverse" : "");
  for (int32_t k = 0; k < s->node->n_operands; k++) {
    print_line_name(s, k);
    tesela__puts(s->sink, ", ");
  }
  tesela__print_dim(s, s->node->dim[0], 1, &element);
  tesela__putf(s->sink, "%" PRId64 ", ", extent);
  tesela__terms_put(&s->text, &element, s->sink);
  tesela__puts(s->sink, ");");
  s->depth = depth - 1;
  tesela__print_line(s);
  tesela__putc(s->sink, '}');
}

static void print_body(tesela__print *s) {
  switch (s->node->op) {
  case TESELA_OP_REDUCE:
  case TESELA_OP_MATMUL:
  case TESELA_OP_CONV2D:
  case TESELA_OP_POOL:
    print_fold(s);
    break;
  case TESELA_OP_SCATTER:
    print_scatter(s);
    break;
  case TESELA_OP_GATHER:
    print_gather(s);
    break;
  case TESELA_OP_ALONG:
    print_along(s);
    break;
  case TESELA_OP_CAT:
  case TESELA_OP_PAD:
  case TESELA_OP_WRITE:
    print_pieces(s);
    break;
  default:
    print_assignment(s);
  }
}

tesela_status tesela_graph_print_loops(const tesela_graph *graph, int32_t node, const tesela_writer *to,
                                       tesela_error *err) {
  TESELA__NEED(err, graph, to);
  tesela__print s = {.graph = graph, .number = node, .err = err};
  tesela_status status = tesela_graph_loops(graph, node, &s.loops, err);
  if (status != TESELA_OK) return status;
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  s.sink = &sink;
  s.node = tesela_graph_node(graph, node);
  for (int32_t l = 0; l < s.loops.n; l++) {
    s.counter[l] = tesela__terms_counter(&s.text, 'c', l, s.loops.loop[l].extent);
    s.n_outer += !s.loops.loop[l].folded;
  }
  s.counter[s.loops.n] = tesela__terms_counter(&s.text, 'i', -1, 1);
  tesela__putf(&sink, "// %.100s = %s", s.node->name, tesela_op_name(s.node->op));
  if (s.node->fn != TESELA_FN_NONE) tesela__putf(&sink, " %s", tesela_fn_name(s.node->fn));
  print_loops(&s, 0, s.n_outer);
  print_body(&s);
  tesela__putc(&sink, '\n');
  return s.status == TESELA_OK ? tesela__sink_finish(&sink, err) : s.status;
}
