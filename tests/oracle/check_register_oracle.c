/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_register_oracle.c - an interface of the oracle of register layouts for other programs.
 *
 * An input line is a program for a stack of layouts, its words separated by blanks:
 *
 *   lists RANK shape.. N mode_shape.. N spatial_modes.. N local_modes..
 *   NAME N list.. RANKED ranks.. NUMBER KEEPDIMS      an operation, RANKED 0 or 1, ranks only for 1
 *
 * The answer is one line: "ok RANK shape.. THREADS LOCALS HASH", or "refused REASON..".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "register_oracle.h"

enum { DEPTH = 64 };

static int64_t next_int(void) {
  const char *word = strtok(NULL, " \n");
  if (!word) exit(2);
  return strtoll(word, NULL, 10);
}

static int32_t next_list(int64_t *list) {
  int64_t n = next_int();
  if (n < 0 || n > LISTS_MOST) exit(2);
  for (int64_t i = 0; i < n; i++) list[i] = next_int();
  return (int32_t)n;
}

static uint32_t run_lists(relation *out) {
  register_lists lists;
  memset(&lists, 0, sizeof lists);
  lists.rank = next_list(lists.shape);
  lists.n_modes = next_list(lists.mode_shape);
  lists.n_spatial = next_list(lists.spatial_modes);
  lists.n_local = next_list(lists.local_modes);
  uint32_t faults = register_lists_faults(&lists);
  if (!faults) relation_of_lists(out, &lists);
  return faults;
}

static void read_op(relation_op *op, relation_kind kind) {
  *op = (relation_op){.kind = kind};
  op->n = next_list(op->list);
  op->ranked = next_int() != 0;
  for (int32_t i = 0; op->ranked && i < op->n; i++) op->ranks[i] = next_int();
  op->number = next_int();
  op->keepdims = next_int() != 0;
}

/* Execute one word on the stack; returns the new depth. */
static int step(const char *word, relation *stack, int depth, uint32_t *refused) {
  relation result;
  int operands = 0;
  if (strcmp(word, "lists") == 0) {
    *refused = run_lists(&result);
  } else {
    relation_op op;
    int kind = 0;
    while (kind < RELATION_KINDS && strcmp(word, relation_op_name((relation_kind)kind)) != 0) kind++;
    if (kind == RELATION_KINDS) exit(2);
    read_op(&op, (relation_kind)kind);
    operands = relation_op_operands(op.kind);
    if (operands > depth) exit(2);
    *refused = relation_apply(&result, &op, operands > 0 ? &stack[depth - operands] : NULL,
                              operands > 1 ? &stack[depth - 1] : NULL);
  }
  if (*refused) return depth;
  for (int i = 0; i < operands; i++) relation_free(&stack[--depth]);
  if (depth == DEPTH) exit(2);
  stack[depth] = result;
  return depth + 1;
}

static void answer(const relation *r, uint32_t refused) {
  static const struct {
    int32_t value;
    const char *code;
  } reasons[] = {
#define ROW(symbol, value, code, text) {value, code},
      TESELA_REASON_MAP(ROW)
#undef ROW
  };
  if (!refused) {
    printf("ok %" PRId32, r->rank);
    for (int32_t d = 0; d < r->rank; d++) printf(" %" PRId64, r->shape[d]);
    printf(" %" PRId64 " %" PRId64 " %016" PRIx64 "\n", r->threads, r->locals, relation_fnv(r));
    return;
  }
  printf("refused");
  for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
    if (reasons[i].value < 32 && (refused >> reasons[i].value & 1)) printf(" %s", reasons[i].code);
  printf("\n");
}

int main(void) {
  static char line[1 << 16];
  while (fgets(line, sizeof line, stdin)) {
    relation stack[DEPTH];
    int depth = 0;
    uint32_t refused = 0;
    for (const char *word = strtok(line, " \n"); word && !refused; word = strtok(NULL, " \n"))
      depth = step(word, stack, depth, &refused);
    if (depth < 1 && !refused) return 2;
    answer(depth > 0 ? &stack[depth - 1] : NULL, refused);
    while (depth > 0) relation_free(&stack[--depth]);
  }
  return 0;
}
