/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops_print_place.c - names, places and conditions in the text of loops.
 */
#include <math.h>
#include <stdio.h>

#include "graph/loops/loops_print.h"

void tesela__print_line(tesela__print *s) {
  tesela__putc(s->sink, '\n');
  for (int32_t i = 0; i < s->depth; i++) tesela__puts(s->sink, "  ");
}

/* A block after the loops, or on a line of its own without loops. */
void tesela__print_open(tesela__print *s) {
  if (s->depth > 0) {
    tesela__puts(s->sink, " {");
    return;
  }
  tesela__print_line(s);
  tesela__putc(s->sink, '{');
  s->depth = 1;
}

/* ---- names -------------------------------------------------------------------------------------------------- */

/* Is it an identifier of C, other than the words in use here and than v with a number? */
static bool print_is_identifier(const char *name) {
  static const char *const taken[] = {
      "at",       "i",      "auto",   "break",    "case",   "char",  "const",    "continue", "default",
      "do",       "double", "else",   "enum",     "extern", "float", "for",      "goto",     "greatest",
      "if",       "inline", "int",    "int64_t",  "least",  "long",  "register", "restrict", "return",
      "short",    "signed", "sizeof", "static",   "struct", "sum",   "switch",   "typedef",  "union",
      "unsigned", "value",  "void",   "volatile", "while"};
  size_t length = strlen(name), digits = strspn(name + (length > 0), "0123456789");
  if (length == 0 || length > 63 || (name[0] >= '0' && name[0] <= '9')) return false;
  if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != length) return false;
  if (digits > 0 && digits == length - 1 && strchr("vcr", name[0])) return false;
  if (strncmp(name, "line", 4) == 0 && strspn(name + 4, "0123456789") == length - 4) return false;
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
    if (strcmp(taken[i], name) == 0) return false;
  const char *tail = strstr(name, "_reverse");
  if (tail && tail[8] == '\0') length = (size_t)(tail - name); /* suffix of a function along a dim */
  return tesela_fn_find(name, length) < 0;
}

static void print_name(tesela__print *s, int32_t buffer) {
  const char *name = tesela_graph_node(s->graph, buffer)->name;
  if (print_is_identifier(name))
    tesela__puts(s->sink, name);
  else
    tesela__putf(s->sink, "v%" PRId32, buffer);
}

/* ---- places and conditions ---------------------------------------------------------------------------------- */

/* The value of an iteration dim times `by`, added to a sum. */
void tesela__print_dim(tesela__print *s, int32_t dim, int64_t by, tesela__terms_sum *sum) {
  for (int32_t l = 0; l < s->loops.n; l++)
    if (s->loops.loop[l].dim == dim)
      tesela__terms_add(&s->text, sum, s->counter[l], s->loops.loop[l].step * by);
}

/* The text before a condition: "if (" for the first one on a line of its own. */
static void print_before_condition(tesela__print *s, bool any, bool line) {
  if (any) {
    tesela__puts(s->sink, " && ");
  } else if (line) {
    tesela__print_line(s);
    tesela__puts(s->sink, "if (");
  }
}

static void print_condition(tesela__print *s, bool *any, bool line, const tesela__terms_sum *sum,
                            const char *relation, int64_t number) {
  print_before_condition(s, *any, line);
  *any = true;
  tesela__terms_put(&s->text, sum, s->sink);
  tesela__puts(s->sink, relation);
  tesela__put_int(s->sink, number);
}

/* "if (..)" for counters beyond their dims, of loops from .. to-1. Returns whether it was printed. */
bool tesela__print_inside(tesela__print *s, int32_t from, int32_t to) {
  bool any = false;
  for (int32_t i = 0; i < s->loops.iteration.n; i++) {
    bool here = false;
    for (int32_t l = from; l < to; l++) here = here || s->loops.loop[l].dim == i;
    tesela__terms_sum sum = {.constant = 0};
    int64_t low, high;
    tesela__print_dim(s, i, 1, &sum);
    tesela__terms_range(&s->text, &sum, &low, &high);
    if (!here || high < s->loops.iteration.extent[i]) continue;
    print_condition(s, &any, true, &sum, " < ", s->loops.iteration.extent[i]);
  }
  if (any) tesela__putc(s->sink, ')');
  return any;
}

/* The conditions under which the operand has an element at an iteration inside the dims, with `line` as "if (..)" on a line of
 * its own; false: it always has one, and nothing is printed. */
bool tesela__print_exists(tesela__print *s, const tesela__op_tensor *tensor, bool line) {
  bool any = false;
  for (int32_t d = 0; d < tensor->rank; d++) {
    const tesela_index *index = &tensor->index[d];
    tesela__terms_sum sum = {.constant = index->start};
    int64_t low = index->start, high = index->start;
    if (index->dim[0] == TESELA_INDEX_LOOKUP) continue;
    for (int32_t i = 0; i < 2; i++) {
      if (index->dim[i] < 0) continue;
      int64_t span =
          (s->loops.iteration.extent[index->dim[i]] - 1) * index->factor[i]; /* windows fit int64 */
      *(span < 0 ? &low : &high) += span;
      tesela__print_dim(s, index->dim[i], index->factor[i], &sum);
    }
    int64_t end = tensor->shape[d] > 0 ? (tensor->shape[d] - 1) * index->divide + 1 : 0;
    if (low < 0) print_condition(s, &any, line, &sum, " >= ", 0);
    if (high >= end) print_condition(s, &any, line, &sum, " < ", end);
    if (index->divide > 1 && (high > low || low % index->divide != 0)) {
      print_before_condition(s, any, line);
      any = true;
      tesela__putc(s->sink, '(');
      tesela__terms_put(&s->text, &sum, s->sink);
      tesela__putf(s->sink, ")%%%" PRId64 " == 0", index->divide);
    }
  }
  if (any && line) tesela__putc(s->sink, ')');
  return any;
}

bool tesela__print_tensor(tesela__print *s, int32_t k, tesela__op_tensor *tensor) {
  if (s->status == TESELA_OK) s->status = tesela__op_tensor_of(s->graph, s->number, k, false, tensor, s->err);
  return s->status == TESELA_OK;
}

void tesela__print_at(tesela__print *s, int32_t buffer, const tesela__terms_sum *sum) {
  print_name(s, buffer);
  tesela__putc(s->sink, '[');
  tesela__terms_put(&s->text, sum, s->sink);
  tesela__putc(s->sink, ']');
}

/* "a[...]" for a tensor; the result's copies have counters of their own. */
void tesela__print_element(tesela__print *s, const tesela__op_tensor *tensor, bool result) {
  tesela_layout place;
  int64_t before;
  bool looked_up = tesela__op_tensor_looked_up(tensor);
  int64_t extra = looked_up ? tensor->shape[s->node->dim[0]] : -1;
  tesela_op_loops loops = s->loops; /* an empty fold still has a result */
  for (int32_t l = 0; l < loops.n; l++) loops.loop[l].extent = tesela__max(loops.loop[l].extent, 1);
  s->status = tesela__loop_place(&loops, tensor, extra, &place, &before, s->err);
  if (s->status != TESELA_OK) return;
  if (looked_up) s->text.atom[s->counter[s->loops.n]].most = tesela__max(extra - 1, 0);
  tesela__terms_sum sum;
  tesela__terms_place(&s->text, &place, s->counter, &sum);
  sum.constant -= before;
  for (int32_t i = place.n_mapped, r = 0; i < place.n_active && result; i++) {
    if (place.digit[i].source != TESELA_REPLICA) continue;
    tesela__print_line(s);
    tesela__putf(s->sink, "for (int64_t r%" PRId32 " = 0; r%" PRId32 " < %" PRId64 "; r%" PRId32 "++)", r, r,
                 place.digit[i].extent, r);
    s->depth++;
    tesela__terms_add(&s->text, &sum, tesela__terms_counter(&s->text, 'r', r, place.digit[i].extent),
                      place.digit[i].stride);
    r++;
  }
  if (result) tesela__print_line(s);
  if (s->text.full) {
    s->status = tesela__fail(s->err, TESELA_E_LIMIT, -1, "a place of %.80s has too many terms to be printed",
                             s->node->name);
    return;
  }
  if (result) s->written = sum;
  tesela__print_at(s, tensor->buffer, &sum);
}

void tesela__print_operand(tesela__print *s, int32_t k) {
  tesela__op_tensor tensor;
  if (tesela__print_tensor(s, k, &tensor)) tesela__print_element(s, &tensor, false);
}

/* "t1[...] = " */
void tesela__print_result(tesela__print *s) {
  tesela__op_tensor tensor;
  if (tesela__print_tensor(s, -1, &tensor)) tesela__print_element(s, &tensor, true);
  tesela__puts(s->sink, " = ");
}

void tesela__print_number(tesela__print *s, double value) {
  if (isnan(value))
    tesela__puts(s->sink, "NAN");
  else if (isinf(value))
    tesela__puts(s->sink, value < 0 ? "-INFINITY" : "INFINITY");
  else
    tesela__putf(s->sink, "%.17g", value);
}
