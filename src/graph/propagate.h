/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate.h - what the files of propagation share.
 *
 *   propagate_family.c           which layouts a buffer can have, what a move between two of them costs, hints
 *   propagate_view.c             how an operand lies under the indices of its operator; its lanes for each layout, remembered
 *   propagate_need.c             the rules: which layouts of an operand suit which stick of the result
 *   propagate_operator.c         operators, their edges and results
 *   propagate_states.c           variables of an assignment problem: candidates, and sets of copies
 *   propagate_model.c            the program, or its first nodes, as such a problem, and back
 *   propagate.c                  solving it; the first operator that cannot be; questions
 *   propagate_explain.c          why
 *   propagate_explain_failure.c  why not
 *   apply.c                      the program with its moves
 *
 * A *candidate* is a layout a buffer can have: one for each stick dim, one element per stick, and a layout that was given
 * and is none of these. Sets of candidates are bits. A *label* says where the result's stick is: its dim, or its rank for
 * one element per stick. Operands are judged one by one for each label, so that a program is pairs of choices: the stick of a
 * result and the layout of an operand's buffer.
 */
#ifndef TESELA_SRC_GRAPH_PROPAGATE_H
#define TESELA_SRC_GRAPH_PROPAGATE_H

#include <tesela/device_view.h>
#include <tesela/propagate.h>

#include "assign/assign.h"
#include "graph/graph.h"

enum {
  TESELA__CANDIDATES = TESELA_GRAPH_RANK + 2, /* dims, one per stick, given */
  TESELA__LABELS = TESELA_GRAPH_RANK + 1,
};

/* Candidates, or labels, as bits. */
typedef uint32_t tesela__sticks;

static inline tesela__sticks tesela__stick_bit(int32_t k) { return (tesela__sticks)1 << k; }
/* The first n. */
static inline tesela__sticks tesela__stick_bits(int32_t n) {
  return (tesela__sticks)(((uint64_t)1 << n) - 1);
}

/* What hashed lists have in common: slots of number + 1, 0 is free. */
typedef struct tesela__slots {
  int32_t *slot;
  size_t n;
} tesela__slots;

/* The candidates of all buffers of one type and shape. */
typedef struct tesela__family {
  uint64_t hash;
  int32_t node;   /* the first of them */
  int32_t given;  /* candidate that is no other's stick, -1: none; such a family has one buffer */
  int32_t n;      /* candidates */
  int32_t preset; /* candidate of the default layout */
  int32_t rank;
  int32_t stick[TESELA__CANDIDATES];
  int64_t lanes;
  int64_t most;                 /* the dearest move */
  tesela_device_layout *layout; /* of each candidate */
  int64_t *price;               /* [from * n + to], -1: there is no such move */
} tesela__family;

/* A view of a buffer. */
typedef struct tesela__buffer_view {
  int32_t rank;
  int64_t offset, shape[TESELA_GRAPH_RANK], stride[TESELA_GRAPH_RANK];
} tesela__buffer_view;

/* tesela_agreement of a view for each candidate and view dim; at [rank] of one element per stick. */
typedef struct tesela__agreements {
  uint64_t hash;
  int32_t family;
  int64_t lanes;
  tesela__buffer_view view;
  bool unknown; /* one of them is */
  uint8_t how[TESELA__CANDIDATES][TESELA_GRAPH_RANK + 1];
} tesela__agreements;

/* An operand under the indices of its operator: a view whose dims, *axes*, each go with one of them. */
typedef struct tesela__operand_axes {
  tesela__buffer_view view;            /* the elements that are used */
  int32_t of_label[TESELA_GRAPH_RANK]; /* result dim -> axis, -1: none */
  int32_t label_of[TESELA_GRAPH_RANK]; /* axis -> result dim, -1: none */
  int32_t dim[TESELA_GRAPH_RANK];      /* axis -> dim of the operand tensor, the first */
  bool plain[TESELA_GRAPH_RANK];       /* its index is the iteration's, from `position` in steps of `step` */
  bool folded[TESELA_GRAPH_RANK];      /* of a dim that is summed over */
  int64_t position[TESELA_GRAPH_RANK], step[TESELA_GRAPH_RANK];
  int32_t lookup; /* axis that is looked up, -1: none */
  bool empty;     /* nothing is ever read */
} tesela__operand_axes;

/* An operand that needs something. */
typedef struct tesela__edge {
  int32_t node, operand, buffer;
  int32_t value; /* node of the buffer's value that is read: the buffer, or what wrote in place */
  int32_t
      holder; /* with shared copies: 0 those of the buffer's first value, else number of another one's, from 1 */
  bool movable, unknown;
  int64_t price; /* -1: the need is hard; else what it costs not to meet it */
  tesela_need need;
  tesela__sticks legal[TESELA__LABELS]; /* candidates of the buffer that suit a label */
} tesela__edge;

/* An operator with a result. */
typedef struct tesela__operator {
  int32_t node, buffer;
  int32_t first, n;   /* edges */
  tesela__sticks may; /* labels the result can have */
  int64_t price;      /* of another label; -1: none */
  bool mode;          /* the label is not that of the buffer's candidate: in place, or a given layout */
  bool same;          /* an operand must lie as operand 0 */
  tesela__sticks under[TESELA__LABELS]; /* mode: candidates of the buffer that give a label */
} tesela__operator;

/* Values of buffers whose copies are shared among themselves only: all but the first of a buffer. */
typedef struct tesela__holder {
  int32_t buffer, value;
} tesela__holder;

struct tesela_propagation {
  tesela_allocator allocator;
  const tesela_graph *graph;
  tesela_target target;
  tesela_propagate_options options;
  tesela_propagate_facts facts;

  int32_t count;           /* nodes */
  int32_t *family;         /* of each node that is a buffer, -1 */
  tesela__sticks *allowed; /* candidates of each node that is a buffer */
  int64_t *prefer;         /* [node * TESELA__CANDIDATES + candidate]; NULL: no preferences */

  int32_t n_families, n_agreements, n_edges, n_operators, n_holders, n_moves;
  size_t family_capacity, agreement_capacity, edge_capacity, operator_capacity, holder_capacity;
  tesela__family *families;
  tesela__agreements *agreements;
  tesela__slots family_slots, agreement_slots;
  tesela__edge *edge;
  tesela__operator *operator_; /* in the order of the nodes */
  tesela__holder *holder;
  tesela_device_view *scratch;

  int32_t *chosen;      /* candidate of each buffer; -1 */
  tesela__sticks *best; /* all_sticks: candidates in some cheapest plan */
  tesela_move *move;    /* edges that need one, in the order of the nodes */
  int32_t *edge_move;   /* of each edge, -1 */
};

static inline const tesela__family *tesela__family_of(const tesela_propagation *p, int32_t buffer) {
  return &p->families[p->family[buffer]];
}
/* The label of a candidate as a buffer's own; -1 for a given layout. */
static inline int32_t tesela__label_of(const tesela__family *family, int32_t candidate) {
  if (candidate == family->given) return -1;
  return family->stick[candidate] == TESELA_STICK_SPARSE ? family->rank : family->stick[candidate];
}

/* ---- propagate_family.c ---- */

/* Families of all buffers, what each may be, preferences. */
tesela_status tesela__propagate_families(tesela_propagation *p, tesela_error *err);
/* Double the slots of a hashed list as it grows to n; false: no memory. hash: of entry k. */
bool tesela__slots_room(tesela__slots *slots, const tesela_allocator *allocator, int32_t n,
                        uint64_t (*hash)(const tesela_propagation *p, int32_t k),
                        const tesela_propagation *p);
/* FNV-1a over words. */
uint64_t tesela__propagate_hash(uint64_t hash, int64_t word);
/* Candidate with a stick, -1 if there is none. */
int32_t tesela__family_candidate(const tesela__family *family, int32_t stick);

/* ---- propagate_view.c ---- */

/* How operand k of a node lies under its operator's indices. */
tesela_status tesela__operand_axes_of(const tesela_graph *graph, int32_t node, int32_t k,
                                      const tesela_iteration *iteration, tesela__operand_axes *axes,
                                      tesela_error *err);
/* The number of the agreements of a view of a buffer with sticks of `lanes`; computed once. */
tesela_status tesela__agreements_of(tesela_propagation *p, int32_t family, const tesela__buffer_view *view,
                                    int64_t lanes, int32_t *number, tesela_error *err);

/* ---- propagate_need.c ---- */

/* An operator while its operands are judged. */
typedef struct tesela__need_operator {
  tesela_propagation *p;
  const tesela_node *node;
  int32_t number;
  tesela_iteration iteration;
  int64_t lanes; /* of the result, 0 without one */
  bool survives; /* the result's stick follows operand 0 */
} tesela__need_operator;

/* Fill edge->legal. */
tesela_status tesela__need_judge(const tesela__need_operator *op, const tesela_rule *rule, tesela__edge *edge,
                                 tesela_error *err);

/* ---- propagate_operator.c ---- */

/* Does a hint forbid to move an operand? */
bool tesela__move_forbidden(const tesela_graph *graph, int32_t node, int32_t operand);
/* Operators and edges of the whole program. */
tesela_status tesela__propagate_needs(tesela_propagation *p, tesela_error *err);

/* ---- propagate_model.c ---- */

typedef struct tesela__model_state {
  int32_t candidate; /* or label */
  tesela__sticks copies;
} tesela__model_state;

typedef struct tesela__model_variable {
  int32_t first, n; /* states */
  bool shares;      /* states are candidates with the copies that are made */
} tesela__model_variable;

typedef struct tesela__model {
  tesela__assign *problem;
  tesela_allocator allocator;
  int32_t n_variables, n_states;
  size_t variable_capacity, state_capacity, cost_capacity;
  tesela__model_variable *variable;
  tesela__model_state *state;
  tesela__cost *cost;   /* scratch */
  int32_t *of_buffer;   /* variable of each node that is a buffer */
  int32_t *of_operator; /* variable of the label of each operator */
  int32_t *of_first;    /* variable of where operand 0 lies for each operator with `same`; -1 */
  int32_t *of_holder;
  int32_t *uses;          /* edges that may move, for each buffer; then for each holder */
  tesela__sticks *useful; /* what they may move to */
  bool capped;            /* not all sets of copies are there */
  int32_t *answer;        /* state of each variable */
  tesela__assigned result;
} tesela__model;

/* Which part of the program, and how. */
typedef struct tesela__model_part {
  int32_t nodes;    /* the first so many */
  int32_t from, to; /* operands of the last of them that count; others need nothing */
  int32_t buffer;   /* this buffer must be in `allowed`; -1 */
  tesela__sticks allowed;
  bool moves; /* operands may be moved */
  bool ties;  /* among equals default layouts */
  bool apart; /* each operand pays its own copy, also where copies are shared */
} tesela__model_part;

/* Costs count moves in units of this; below it are preferences among equals. */
#define TESELA__MOVE_UNIT ((int64_t)1 << 20)

static inline tesela__model_part tesela__model_whole(const tesela_propagation *p) {
  return (tesela__model_part){
      .nodes = p->count, .to = INT32_MAX, .buffer = -1, .moves = p->options.mode == TESELA_PROPAGATE_AUTO};
}
/* Build and solve. The model must be freed also after a failure. */
tesela_status tesela__model_solve(tesela__model *model, const tesela_propagation *p,
                                  const tesela__model_part *part, tesela_error *err);
void tesela__model_free(tesela__model *model);
/* The candidate a solved model gives a buffer, the label it gives an operator, and where operand `edge` is moved to (its
 * buffer's own candidate: nowhere). */
int32_t tesela__model_candidate(const tesela__model *model, int32_t buffer);
int32_t tesela__model_label(const tesela__model *model, const tesela_propagation *p, int32_t op);
int32_t tesela__model_target(const tesela__model *model, const tesela_propagation *p, int32_t op,
                             int32_t edge, bool moves);

/* ---- propagate_states.c: false for no memory ---- */

/* Begin a variable; its states are pushed until it ends. */
bool tesela__model_begin(tesela__model *m, bool shares, int32_t *variable);
/* Add a state to the variable that was begun last. */
bool tesela__model_push(tesela__model *m, int32_t candidate, tesela__sticks copies, tesela__cost cost);
/* A candidate with every set of up to `most` useful copies. */
bool tesela__model_push_copies(tesela__model *m, const tesela__family *family, int32_t candidate,
                               tesela__sticks useful, int32_t most, tesela__cost cost);
bool tesela__model_end(tesela__model *m);
/* Room for n costs in m->cost. */
bool tesela__model_costs(tesela__model *m, size_t n);
/* How many copies a state may have so that there are not too many states; m->capped if they are not enough. */
int32_t tesela__model_most_copies(tesela__model *m, const tesela__family *family, tesela__sticks allowed,
                                  tesela__sticks useful, int32_t uses);

/* ---- propagate_explain.c ---- */

typedef struct tesela__explain {
  const tesela_propagation *p;
  tesela__sink sink;
  tesela__model before; /* the nodes before the operator */
  int32_t op;           /* number of the operator that fails */
  size_t name_width, type_width;
} tesela__explain;

void tesela__explain_stick(tesela__sink *sink, int32_t stick);
/* "f16[4,8]", cut if too long; its length. */
size_t tesela__explain_type(const tesela_node *node, char text[160]);
void tesela__explain_padded(tesela__sink *sink, const char *text, size_t length, size_t width);

/* ---- propagate_explain_failure.c ---- */

tesela_status tesela__explain_failure(tesela__explain *x, tesela_error *err);

#endif
