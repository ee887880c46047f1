/* SPDX-License-Identifier: Apache-2.0 */
/* support_propagate.c - programs as text, as graphs of the library, and helpers of the tests. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_propagate.h"

int prog_find(const prog *p, const char *name) {
  for (int k = 0; k < p->n; k++)
    if (strcmp(p->s[k].name, name) == 0) return k;
  return -1;
}

static int read_list(const char *text, int64_t *list) {
  int n = 0;
  for (const char *at = text;; at++) {
    char *end;
    if (n == PROG_RANK) fail_msg("too many numbers: %s", text);
    list[n] = strtoll(at, &end, 10);
    if (end != at) n++;
    if (end == at && *at != '\0') fail_msg("no number: %s", text);
    if (*end != ',') return n;
    at = end;
  }
}

/* f16[4,8], or a bare type. */
static void read_type(prog_statement *s, const char *word) {
  const char *open = strchr(word, '[');
  s->dtype = tesela_dtype_find(word, open ? (size_t)(open - word) : strlen(word));
  if (s->dtype == TESELA_DTYPE_NONE) fail_msg("no type: %s", word);
  s->rank = 0;
  if (open && open[1] != ']') {
    char inside[64];
    snprintf(inside, sizeof inside, "%.*s", (int)strcspn(open + 1, "]"), open + 1);
    s->rank = read_list(inside, s->shape);
  }
}

static bool is_typed(const char *op) {
  return strcmp(op, "input") == 0 || strcmp(op, "constant") == 0 || strcmp(op, "fallback") == 0 ||
         strcmp(op, "cast") == 0 || strcmp(op, "keeps") == 0 || strcmp(op, "stats") == 0 ||
         strcmp(op, "norm") == 0;
}

static void read_word(prog *p, prog_statement *s, int position, const char *word) {
  if (position == 0) {
    snprintf(s->op, sizeof s->op, "%s", word);
    size_t length = strlen(s->op);
    s->in_place = s->op[length - 1] == '!';
    if (s->in_place) s->op[length - 1] = '\0';
  } else if (position == 1 && is_typed(s->op)) {
    read_type(s, word);
  } else if (strcmp(s->op, "input") == 0) {
    s->stick = word[0] == '?' ? PROG_FREE : word[0] == '-' ? PROG_SPARSE : atoi(word);
  } else if (prog_find(p, word) >= 0) {
    s->in[s->n_in++] = prog_find(p, word);
  } else {
    if (s->n_lists == 4) fail_msg("too many lists: %s", word);
    s->n_list[s->n_lists] = read_list(word, s->list[s->n_lists]);
    s->n_lists++;
  }
}

void prog_read(prog *p, const char *text) {
  memset(p, 0, sizeof *p);
  for (const char *at = text; *at;) {
    size_t length = strcspn(at, ";\n");
    char line[256], *save = NULL;
    snprintf(line, sizeof line, "%.*s", (int)length, at);
    at += length + (at[length] != '\0');
    char *word = strtok_r(line, " ", &save);
    if (!word) continue;
    if (p->n == PROG_STATEMENTS) fail_msg("too many statements");
    prog_statement *s = &p->s[p->n];
    snprintf(s->name, sizeof s->name, "%s", word);
    word = strtok_r(NULL, " ", &save);
    if (!word || strcmp(word, "=") != 0) fail_msg("no = behind %s", s->name);
    for (int position = 0; (word = strtok_r(NULL, " ", &save)) != NULL; position++)
      read_word(p, s, position, word);
    p->n++;
  }
}

/* ---- as a graph ---- */

static const struct {
  const char *word;
  tesela_op op;
  tesela_fn fn;
  const char *opcode;
} words[] = {
    {"prod", TESELA_OP_REDUCE, TESELA_FN_PROD, NULL},
    {"sort", TESELA_OP_ALONG, TESELA_FN_SORT, NULL},
    {"rank", TESELA_OP_ALONG, TESELA_FN_ARGSORT, NULL},
    {"cum", TESELA_OP_ALONG, TESELA_FN_CUMSUM, NULL},
    {"line", TESELA_OP_ALONG, TESELA_FN_FUSED, "median"},
    {"keeps", TESELA_OP_FALLBACK, TESELA_FN_NONE, "all-reduce"},
    {"stats", TESELA_OP_FALLBACK, TESELA_FN_NONE, "exx2"},
    {"norm", TESELA_OP_FALLBACK, TESELA_FN_NONE, "layernormnorm"},
    {"input", TESELA_OP_INPUT, TESELA_FN_NONE, NULL},
    {"constant", TESELA_OP_CONSTANT, TESELA_FN_NONE, NULL},
    {"pw", TESELA_OP_POINTWISE, TESELA_FN_FUSED, NULL},
    {"cast", TESELA_OP_POINTWISE, TESELA_FN_COPY, NULL},
    {"sum", TESELA_OP_REDUCE, TESELA_FN_SUM, NULL},
    {"keep", TESELA_OP_REDUCE, TESELA_FN_SUM, NULL},
    {"matmul", TESELA_OP_MATMUL, TESELA_FN_NONE, NULL},
    {"gather", TESELA_OP_GATHER, TESELA_FN_NONE, NULL},
    {"scatter", TESELA_OP_SCATTER, TESELA_FN_NONE, NULL},
    {"cat", TESELA_OP_CAT, TESELA_FN_NONE, NULL},
    {"pad", TESELA_OP_PAD, TESELA_FN_NONE, NULL},
    {"write", TESELA_OP_WRITE, TESELA_FN_NONE, NULL},
    {"clone", TESELA_OP_CLONE, TESELA_FN_NONE, NULL},
    {"move", TESELA_OP_MOVE, TESELA_FN_NONE, NULL},
    {"fallback", TESELA_OP_FALLBACK, TESELA_FN_NONE, NULL},
    {"permute", TESELA_OP_PERMUTE, TESELA_FN_NONE, NULL},
    {"reshape", TESELA_OP_RESHAPE, TESELA_FN_NONE, NULL},
    {"squeeze", TESELA_OP_SQUEEZE, TESELA_FN_NONE, NULL},
    {"unsqueeze", TESELA_OP_UNSQUEEZE, TESELA_FN_NONE, NULL},
    {"expand", TESELA_OP_EXPAND, TESELA_FN_NONE, NULL},
    {"slice", TESELA_OP_SLICE, TESELA_FN_NONE, NULL},
};

/* The spec of a statement; `dims` and `operand` are its buffers. */
static void spec_of(const prog_statement *s, tesela_node_spec *spec, int32_t *operand, int32_t *dims) {
  *spec = (tesela_node_spec){.name = s->name, .dtype = s->dtype, .in_place = s->in_place};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i].word, s->op) == 0) {
      spec->op = words[i].op;
      spec->fn = words[i].fn;
      spec->opcode = words[i].opcode;
    }
  if (spec->op == TESELA_OP_INPUT && strcmp(s->op, "input") != 0) fail_msg("no operator: %s", s->op);
  bool plain = spec->op == TESELA_OP_POINTWISE && spec->fn == TESELA_FN_FUSED;
  if (plain && s->n_in < 3) spec->fn = s->n_in == 1 ? TESELA_FN_NEG : TESELA_FN_ADD;
  for (int k = 0; k < s->n_in; k++) operand[k] = s->in[k];
  spec->operand = operand;
  spec->n_operands = s->n_in;
  spec->rank = s->rank;
  spec->shape = s->shape;
  spec->stick = s->stick;
  spec->keepdim = strcmp(s->op, "keep") == 0;
  spec->value = 1;
  bool dims_first =
      spec->op == TESELA_OP_REDUCE || spec->op == TESELA_OP_GATHER || spec->op == TESELA_OP_SCATTER ||
      spec->op == TESELA_OP_CAT || spec->op == TESELA_OP_PERMUTE || spec->op == TESELA_OP_SQUEEZE ||
      spec->op == TESELA_OP_UNSQUEEZE || spec->op == TESELA_OP_SLICE || spec->op == TESELA_OP_ALONG;
  if (dims_first && s->n_lists > 0) {
    spec->n_dims = s->n_list[0];
    for (int k = 0; k < s->n_list[0]; k++) dims[k] = (int32_t)s->list[0][k];
    spec->dims = dims;
  }
  if (spec->op == TESELA_OP_RESHAPE || spec->op == TESELA_OP_EXPAND) {
    spec->rank = s->n_list[0];
    spec->shape = s->list[0];
  }
  if (spec->op == TESELA_OP_SLICE) {
    spec->start = s->list[1];
    spec->length = s->list[2];
    spec->step = s->list[3];
  }
  if (spec->op == TESELA_OP_ALONG && s->n_lists > 1) spec->length = s->list[1];
  if (spec->op == TESELA_OP_PAD) {
    spec->low = s->list[0];
    spec->high = s->list[1];
    spec->step = s->n_lists > 2 ? s->list[2] : NULL;
  }
  if (spec->op == TESELA_OP_WRITE) {
    spec->start = s->list[0];
    spec->step = s->n_lists > 1 ? s->list[1] : NULL;
  }
}

tesela_status prog_graph_in(const prog *p, tesela_graph **graph, const tesela_allocator *allocator,
                            tesela_error *err) {
  tesela_graph *made = NULL;
  tesela_status status = tesela_graph_create(&made, allocator, err);
  for (int k = 0; k < p->n && status == TESELA_OK; k++) {
    tesela_node_spec spec;
    int32_t operand[PROG_OPERANDS], dims[PROG_RANK], node;
    spec_of(&p->s[k], &spec, operand, dims);
    status = tesela_graph_add(made, &spec, &node, err);
    if (status == TESELA_OK && node != k) fail_msg("node %d is not %d", (int)node, k);
  }
  if (status != TESELA_OK) {
    tesela_graph_destroy(made);
    return status;
  }
  *graph = made;
  return TESELA_OK;
}

tesela_status prog_graph(const prog *p, tesela_graph **graph, tesela_error *err) {
  return prog_graph_in(p, graph, NULL, err);
}

/* ---- tests of the library ---- */

const tesela_target *prog_spyre(void) { return tesela_target_find("spyre"); }

tesela_graph *prog_graph_of(const char *text) {
  prog p;
  tesela_graph *graph;
  prog_read(&p, text);
  OK(prog_graph(&p, &graph, &e_));
  return graph;
}

tesela_propagation *prog_propagate(const tesela_graph *graph, const tesela_target *target,
                                   tesela_propagate_options options) {
  tesela_propagation *p;
  OK(tesela_graph_propagate(&p, graph, target, &options, &e_));
  return p;
}

const tesela_propagate_options prog_automatic = {.mode = TESELA_PROPAGATE_AUTO}, prog_strictly = {0};

void prog_add_hint(tesela_graph *graph, tesela_hint_kind kind, const char *name, int32_t stick,
                   int32_t operand, int64_t price) {
  tesela_hint h = {kind, tesela_graph_find(graph, name), stick, operand, price};
  OK(tesela_graph_hint(graph, &h, &e_));
}

void prog_check(const tesela_graph *graph, const tesela_target *target, tesela_propagate_options options,
                bool ok, int64_t cost, int32_t moves, const char *name, int32_t stick) {
  tesela_propagation *p = prog_propagate(graph, target, options);
  tesela_propagate_facts facts = tesela_propagation_facts_of(p);
  int32_t found = -9;
  if (facts.ok && stick != -9) OK(tesela_propagation_stick(p, tesela_graph_find(graph, name), &found, &e_));
  if (facts.ok != ok || facts.cost != cost || facts.n_moves != moves || found != stick)
    fail_msg("ok %d, cost %" PRId64 ", %d moves, %s in stick %d", facts.ok, facts.cost, (int)facts.n_moves,
             name, (int)found);
  tesela_propagation_destroy(p);
}
