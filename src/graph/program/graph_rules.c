/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_rules.c - requirements of operators on the layouts of their operands: the default table of every target.
 *
 * A target adds its own rows to these. Of the rows that fit an operand, the most specific one counts: an opcode before none,
 * then a function before none, then an operand number before all, then a target's row before one of this table, then the first.
 *
 * Source: the propagation rules of the prototype, read as conditions on lanes: device.md (b) of the reference.
 */
#include <string.h>

#include "base/base.h"
#include <tesela/graph.h>

enum { RULE_ALL = TESELA_RULE_ALL, RULE_RESULT = TESELA_RULE_RESULT };

/* clang-format off */
#define RULE_KEEPS(opcode) \
    {TESELA_OP_FALLBACK,  TESELA_FN_NONE, RULE_ALL,    TESELA_NEED_RESULT,     TESELA_YIELD_ANY,      -1, opcode}, \
    {TESELA_OP_FALLBACK,  TESELA_FN_NONE, RULE_RESULT, TESELA_NEED_ANY,        TESELA_YIELD_SURVIVES, -1, opcode}

static const tesela_rule rule_table[] = {
    /* operator           function        operand      need                    yield                  price, opcode */
    {TESELA_OP_INPUT,     TESELA_FN_NONE, RULE_RESULT, TESELA_NEED_ANY,        TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_CONSTANT,  TESELA_FN_NONE, RULE_RESULT, TESELA_NEED_ANY,        TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_POINTWISE, TESELA_FN_NONE, RULE_ALL,    TESELA_NEED_RESULT,     TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_REDUCE,    TESELA_FN_NONE, RULE_ALL,    TESELA_NEED_CLEAN,      TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_REDUCE,    TESELA_FN_NONE, RULE_RESULT, TESELA_NEED_ANY,        TESELA_YIELD_SURVIVES, -1, ""},
    {TESELA_OP_REDUCE,    TESELA_FN_PROD, RULE_ALL,    TESELA_NEED_UNFOLDED,   TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_MATMUL,    TESELA_FN_NONE, 0,           TESELA_NEED_CONTRACTED, TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_MATMUL,    TESELA_FN_NONE, 1,           TESELA_NEED_COLUMN,     TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_MATMUL,    TESELA_FN_NONE, RULE_RESULT, TESELA_NEED_ANY,        TESELA_YIELD_COLUMN,   -1, ""},
    {TESELA_OP_CONV2D,    TESELA_FN_NONE, 0,           TESELA_NEED_CONTRACTED, TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_CONV2D,    TESELA_FN_NONE, 1,           TESELA_NEED_COLUMN,     TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_CONV2D,    TESELA_FN_NONE, RULE_RESULT, TESELA_NEED_ANY,        TESELA_YIELD_COLUMN,   -1, ""},
    {TESELA_OP_POOL,      TESELA_FN_NONE, RULE_ALL,    TESELA_NEED_RESULT,     TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_GATHER,    TESELA_FN_NONE, 0,           TESELA_NEED_NOT_INDEXED, TESELA_YIELD_ANY,     -1, ""},
    {TESELA_OP_SCATTER,   TESELA_FN_NONE, 0,           TESELA_NEED_NOT_INDEXED, TESELA_YIELD_ANY,     -1, ""},
    {TESELA_OP_SCATTER,   TESELA_FN_NONE, 2,           TESELA_NEED_RESULT,     TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_SCATTER,   TESELA_FN_NONE, RULE_RESULT, TESELA_NEED_ANY,        TESELA_YIELD_TARGET,   -1, ""},
    {TESELA_OP_CAT,       TESELA_FN_NONE, RULE_ALL,    TESELA_NEED_SEAM,       TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_PAD,       TESELA_FN_NONE, 0,           TESELA_NEED_SEAM,       TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_WRITE,     TESELA_FN_NONE, 0,           TESELA_NEED_RESULT,     TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_WRITE,     TESELA_FN_NONE, 1,           TESELA_NEED_SEAM,       TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_WRITE,     TESELA_FN_NONE, RULE_RESULT, TESELA_NEED_ANY,        TESELA_YIELD_TARGET,   -1, ""},
    {TESELA_OP_CLONE,     TESELA_FN_NONE, RULE_RESULT, TESELA_NEED_ANY,        TESELA_YIELD_DEFAULT,  -1, ""},
    {TESELA_OP_MOVE,      TESELA_FN_NONE, RULE_RESULT, TESELA_NEED_ANY,        TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_ALONG,     TESELA_FN_NONE, 0,           TESELA_NEED_UNFOLDED,   TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_ALONG,     TESELA_FN_NONE, RULE_ALL,    TESELA_NEED_RESULT,     TESELA_YIELD_ANY,      -1, ""},
    {TESELA_OP_ALONG,     TESELA_FN_NONE, RULE_RESULT, TESELA_NEED_ANY,        TESELA_YIELD_SURVIVES, -1, ""},
    {TESELA_OP_FALLBACK,  TESELA_FN_NONE, RULE_RESULT, TESELA_NEED_ANY,        TESELA_YIELD_DEFAULT,  -1, ""},
    /* collectives of one tensor: the result has the layout of the operand */
    RULE_KEEPS("all-reduce"),
    RULE_KEEPS("all-reduce-start"),
    RULE_KEEPS("all-reduce-done"),
    RULE_KEEPS("collective-broadcast"),
    RULE_KEEPS("collective-permute"),
    /* parts of a layer norm: sums over whole sticks, one element (or pair) per stick; a scale of those; the norm itself */
    {TESELA_OP_FALLBACK,  TESELA_FN_NONE, 0,           TESELA_NEED_LAST,       TESELA_YIELD_ANY,      -1, "exx2"},
    {TESELA_OP_FALLBACK,  TESELA_FN_NONE, RULE_RESULT, TESELA_NEED_ANY,        TESELA_YIELD_SPARSE,   -1, "exx2"},
    RULE_KEEPS("layernormscale"),
    {TESELA_OP_FALLBACK,  TESELA_FN_NONE, 0,           TESELA_NEED_LAST,       TESELA_YIELD_ANY,      -1, "layernormnorm"},
    {TESELA_OP_FALLBACK,  TESELA_FN_NONE, RULE_RESULT, TESELA_NEED_ANY,        TESELA_YIELD_SURVIVES, -1, "layernormnorm"},
    {TESELA_OP_POINTWISE, TESELA_FN_FUSED, 0,          TESELA_NEED_LAST,       TESELA_YIELD_ANY,      -1, "layernormnorm"},
    {TESELA_OP_POINTWISE, TESELA_FN_FUSED, RULE_RESULT, TESELA_NEED_ANY,       TESELA_YIELD_SURVIVES, -1, "layernormnorm"},
};
#undef RULE_KEEPS
/* clang-format on */

enum { RULE_ROWS = sizeof rule_table / sizeof *rule_table };

/* The rule without a matching row: indices of gather and scatter, operands of a clone, views. */
static const tesela_rule rule_none = {
    .operand = RULE_ALL, .need = TESELA_NEED_ANY, .yield = TESELA_YIELD_ANY, .price = -1};

const tesela_rule *tesela_rule_at(int32_t k) {
  return k >= 0 && k < (int32_t)RULE_ROWS ? &rule_table[k] : NULL;
}

/* How specific a row is for an operand, or -1 if it does not match. */
static int rule_fits(const tesela_rule *row, tesela_op op, tesela_fn fn, const char *opcode,
                     int32_t operand) {
  if (row->op != op || (row->fn != TESELA_FN_NONE && row->fn != fn)) return -1;
  bool named = row->opcode[0] != '\0';
  if (named && (!opcode || strcmp(row->opcode, opcode) != 0)) return -1;
  bool all = row->operand == TESELA_RULE_ALL && operand >= 0;
  if (!all && row->operand != operand) return -1;
  return (named ? 4 : 0) + (row->fn != TESELA_FN_NONE ? 2 : 0) + (all ? 0 : 1);
}

static const tesela_rule *rule_find(const tesela_target *target, tesela_op op, tesela_fn fn,
                                    const char *opcode, int32_t operand) {
  const tesela_rule *best = &rule_none;
  int best_fits = -1;
  for (int32_t k = 0; target != NULL && k < target->n_rules; k++) {
    int fits = rule_fits(&target->rule[k], op, fn, opcode, operand);
    if (fits > best_fits) best = &target->rule[k], best_fits = fits;
  }
  for (int32_t k = 0; k < (int32_t)RULE_ROWS; k++) {
    int fits = rule_fits(&rule_table[k], op, fn, opcode, operand);
    if (fits > best_fits) best = &rule_table[k], best_fits = fits;
  }
  return best;
}

const tesela_rule *tesela_rule_of(const tesela_target *target, tesela_op op, tesela_fn fn, int32_t operand) {
  return rule_find(target, op, fn, NULL, operand);
}

const tesela_rule *tesela_rule_of_node(const tesela_target *target, const tesela_node *node,
                                       int32_t operand) {
  if (!node) return NULL;
  return rule_find(target, node->op, node->fn, node->opcode, operand);
}
