/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate.h - declarations that the files of propagation share.
 *
 *   propagate_family.c           which layouts a buffer can have, prices of moves between them, hints
 *   propagate_view.c             an operand in terms of its operator's indices; its lanes for each layout, cached
 *   propagate_need.c             the rules: which layouts of an operand are compatible with which stick of the result
 *   propagate_copies.c           views that may be copied before an operand; labels that the copies allow
 *   propagate_suits.c            the cost of an operand where it is read
 *   propagate_operator.c         operators, their edges and results
 *   propagate_share.c            which operands read the same copies
 *   propagate_states.c           variables of an assignment problem: candidates, and sets of copies
 *   propagate_places.c           where an operand is available: a candidate of its buffer, or a copy of a view
 *   propagate_model.c            the program, or its first nodes, as such a problem; its solution
 *   propagate_solve.c            solving it; the first operator without a layout; queries
 *   propagate_outputs.c          every stick that an output has in one of the cheapest plans
 *   propagate_explain.c          why
 *   propagate_explain_failure.c  why not
 *   propagate_explain_words.c    words of both
 *   apply.c                      the program with its moves
 *   materialise.c                the program with its copies alone
 *
 * A *candidate* is a layout that a buffer can have: one for each stick dim, one element per stick, and a given layout of
 * another kind. Sets of candidates are bit sets. A *label* is the place of the result's stick: its dim, or the rank for one
 * element per stick. Each operand is judged alone for each label, so a program consists of pairs of choices: the stick of a
 * result and the layout of an operand's buffer.
 */
#ifndef TESELA_SRC_GRAPH_PROPAGATE_H
#define TESELA_SRC_GRAPH_PROPAGATE_H

#include <tesela/device.h>
#include <tesela/propagate.h>

#include "solve/assign/assign.h"
#include "graph/program/graph.h"

enum {
  TESELA__CANDIDATES = TESELA_GRAPH_RANK + 2, /* dims, one element per stick, a given layout */
  TESELA__LABELS = TESELA_GRAPH_RANK + 1,
};

/* Candidates, or labels, as bits. */
typedef uint32_t tesela__sticks;

static inline tesela__sticks tesela__stick_bit(int32_t k) { return (tesela__sticks)1 << k; }
/* The set of the first n. */
static inline tesela__sticks tesela__stick_bits(int32_t n) {
  return (tesela__sticks)(((uint64_t)1 << n) - 1);
}

/* A hash table of list entries: a slot holds the entry's number + 1, or 0 if it is free. */
typedef struct tesela__slots {
  int32_t *slot;
  size_t n;
} tesela__slots;

/* The candidates of all buffers with the same type and shape. */
typedef struct tesela__family {
  uint64_t hash;
  int32_t node;   /* the first of them */
  int32_t given;  /* candidate of a given layout that is not in sticks, or -1; such a family has one buffer */
  int32_t n;      /* candidates */
  int32_t preset; /* candidate of the default layout */
  int32_t rank;
  int32_t stick[TESELA__CANDIDATES];
  int64_t lanes;
  int64_t most;                 /* the most expensive move */
  tesela_device_layout *layout; /* of each candidate */
  int64_t *price;               /* [from * n + to], -1: not a possible move */
} tesela__family;

/* A view of a buffer. */
typedef struct tesela__buffer_view {
  int32_t rank;
  int64_t offset, shape[TESELA_GRAPH_RANK], stride[TESELA_GRAPH_RANK];
} tesela__buffer_view;

/* The tesela_agreement of a view for each candidate and view dim; at [rank] for one element per stick. */
typedef struct tesela__agreements {
  uint64_t hash;
  int32_t family;
  int64_t lanes;
  tesela__buffer_view view;
  bool unknown; /* at least one agreement is unknown */
  uint8_t how[TESELA__CANDIDATES][TESELA_GRAPH_RANK + 1];
} tesela__agreements;

/* An operand in terms of its operator's indices: a view each of whose dims, the *axes*, belongs to one index. */
typedef struct tesela__operand_axes {
  tesela__buffer_view view;            /* the elements that are used */
  int32_t of_label[TESELA_GRAPH_RANK]; /* result dim -> axis, or -1 */
  int32_t label_of[TESELA_GRAPH_RANK]; /* axis -> result dim, or -1 */
  int32_t dim[TESELA_GRAPH_RANK];      /* axis -> dim of the operand tensor (the first of them) */
  bool plain[TESELA_GRAPH_RANK];  /* its index is that of the iteration, from `position` in steps of `step` */
  bool folded[TESELA_GRAPH_RANK]; /* a contracted (summed) dim */
  int64_t position[TESELA_GRAPH_RANK], step[TESELA_GRAPH_RANK];
  int32_t lookup;   /* axis that is looked up, or -1 */
  uint32_t windows; /* bit r: result dim r moves a window along a dim of the operand */
  bool empty;       /* no element is read */
  bool apart;       /* unknown relation of its dims to the result's: an unknown operator, another shape */
} tesela__operand_axes;

/* A view that may be copied before its readers; equal views of one value count as one. */
typedef struct tesela__copyable {
  int32_t node;          /* the first such view */
  int32_t value, before; /* before: the previous one of the same value */
  int32_t family;        /* of the copy */
  int32_t slot, by;      /* its last slot, or -1; the holder of that slot */
  int64_t *price; /* [candidate of the buffer * n of the family + candidate], -1: not a possible copy */
  int64_t most;   /* the highest price, or -1 */
} tesela__copyable;

/* For each label, the candidates of a buffer, or of copies of a view, that are compatible with an operand. */
typedef struct tesela__suits {
  tesela__sticks need[TESELA__LABELS]; /* candidates that meet the operand's need */
  tesela__sticks follow
      [TESELA__LABELS]; /* candidates whose lanes survive at the label; all of them if the result does not follow this operand */
} tesela__suits;

/* An operand read from a copy of a view. */
typedef struct tesela__way {
  int32_t copy;
  int32_t
      slot; /* ways of one slot share copies: with shared copies all of a view, else those of a view with one holder */
  tesela__suits suits;
} tesela__way;

/* An operand with a need. */
typedef struct tesela__edge {
  int32_t node, operand, buffer;
  int32_t value; /* node whose value of the buffer is read: the buffer, or the node that wrote it in place */
  int32_t
      holder; /* from 1; edges of one holder share copies of the value. 0: with shared copies all readers of the buffer's first value share, else none does */
  bool movable, unknown;
  bool follows;         /* the result's stick is where this operand's lanes survive */
  int64_t price;        /* of an unmet need; -1: the need is hard */
  int64_t follow_price; /* the same for a result that does not follow */
  tesela_need need;
  tesela__suits suits;       /* candidates of the buffer */
  int32_t first_way, n_ways; /* copies of views instead */
} tesela__edge;

/* An operator with a result. */
typedef struct tesela__operator {
  int32_t node, buffer;
  int32_t first, n;   /* edges */
  tesela__sticks may; /* possible labels of the result */
  int64_t price;      /* of another label; -1: not possible */
  bool mode; /* the label is not that of the buffer's candidate: a result in place, or with a given layout */
  bool same; /* an operand must have the layout of operand 0 */
  tesela__sticks under[TESELA__LABELS]; /* if mode: candidates of the buffer that give a label */
} tesela__operator;

/* A value whose copies several edges share: with shared copies each value of a buffer but the first; without, a value that an
 * operator reads more than once through the same view. */
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
  int32_t *family;         /* of each node that is a buffer, else -1 */
  tesela__sticks *allowed; /* candidates of each node that is a buffer */
  int64_t *prefer;         /* [node * TESELA__CANDIDATES + candidate]; NULL: no preferences */

  int32_t n_families, n_agreements, n_edges, n_operators, n_holders, n_moves, n_copyables, n_slots, n_ways;
  size_t family_capacity, agreement_capacity, edge_capacity, operator_capacity, holder_capacity;
  size_t copyable_capacity, way_capacity;
  tesela__family *families;
  tesela__agreements *agreements;
  tesela__slots family_slots, agreement_slots;
  tesela__edge *edge;
  tesela__operator *operator_; /* in the order of the nodes */
  tesela__holder *holder;
  tesela__copyable *copyable;
  tesela__way *way;
  int32_t *last_copyable; /* if options.copies: of each node that is a value, else -1 */
  tesela_device_view *scratch;

  int32_t *chosen;      /* candidate of each buffer, or -1 */
  tesela__sticks *best; /* if all_sticks: candidates in one of the cheapest plans */
  tesela_move *move;    /* of the edges that need one, in the order of the nodes */
  int32_t *edge_move;   /* of each edge, or -1 */
};

static inline const tesela__family *tesela__family_of(const tesela_propagation *p, int32_t buffer) {
  return &p->families[p->family[buffer]];
}
/* The label of a candidate for the buffer itself; -1 for a given layout. */
static inline int32_t tesela__label_of(const tesela__family *family, int32_t candidate) {
  if (candidate == family->given) return -1;
  return family->stick[candidate] == TESELA_STICK_SPARSE ? family->rank : family->stick[candidate];
}

/* ---- propagate_family.c ---- */

/* Does a layout with this stick have one element per stick (no stick dim, or one of extent 1)? False for tensors of at most one
 * element, which have no other layout. */
bool tesela__stick_is_sparse(int32_t rank, const int64_t *shape, int32_t stick);
bool tesela__family_sparse(const tesela__family *family, int32_t candidate);
/* Families of all buffers, the candidates of each, preferences. */
tesela_status tesela__propagate_families(tesela_propagation *p, tesela_error *err);
/* Double the slots when a list grows to n entries; false: no memory. hash: of entry k. */
bool tesela__slots_room(tesela__slots *slots, const tesela_allocator *allocator, int32_t n,
                        uint64_t (*hash)(const tesela_propagation *p, int32_t k),
                        const tesela_propagation *p);
/* A step of FNV-1a, over 64-bit words. */
uint64_t tesela__propagate_hash(uint64_t hash, int64_t word);
/* The family for copies of a node's tensor. TESELA_E_UNSUPPORTED if the target has no layouts for it. */
tesela_status tesela__family_of_copy(tesela_propagation *p, int32_t node, int32_t *number, tesela_error *err);
/* The candidate with a stick, or -1. */
int32_t tesela__family_candidate(const tesela__family *family, int32_t stick);

/* ---- propagate_view.c ---- */

/* Does operand k of an unknown operator have another shape than the result? Then the relation of their dims is unknown. */
bool tesela__operand_apart(const tesela_graph *graph, const tesela_node *node, int32_t k);
/* The axes of operand k of a node. */
tesela_status tesela__operand_axes_of(const tesela_graph *graph, int32_t node, int32_t k,
                                      const tesela_iteration *iteration, tesela__operand_axes *axes,
                                      tesela_error *err);
/* The same for a tensor in place of the operand, of the same shape but seen through another view. */
tesela_status tesela__operand_axes_on(const tesela_graph *graph, int32_t node, int32_t k,
                                      const tesela_node *tensor, const tesela_iteration *iteration,
                                      tesela__operand_axes *axes, tesela_error *err);
/* The number of the agreements of a view of a buffer with sticks of `lanes`; computed once. */
tesela_status tesela__agreements_of(tesela_propagation *p, int32_t family, const tesela__buffer_view *view,
                                    int64_t lanes, int32_t *number, tesela_error *err);

/* ---- propagate_need.c ---- */

/* An operator whose operands are judged. */
typedef struct tesela__need_operator {
  tesela_propagation *p;
  const tesela_node *node;
  int32_t number;
  tesela_iteration iteration;
  int64_t lanes;        /* of the result, 0 without one */
  bool survives;        /* the result's stick is where the lanes of operand 0 survive */
  int64_t follow_price; /* of a result that does not follow; -1: it must follow */
  const tesela_node
      *seen;           /* the operand is read from a copy, through this view of it; NULL: from its buffer */
  int32_t seen_family; /* of the copy */
} tesela__need_operator;

/* Does a need depend on the relation of the operand's dims to the result's? */
bool tesela__need_follows(tesela_need need);
/* Fill edge->suits. */
tesela_status tesela__need_judge(const tesela__need_operator *op, const tesela_rule *rule, tesela__edge *edge,
                                 tesela_error *err);

/* ---- propagate_copies.c ---- */

/* An order of views: 0 if both nodes show the same elements of their buffers. Ignores the stride of a dim of extent 1. */
int tesela__compare_views(const tesela_node *a, const tesela_node *b);
/* Add the copies that the last edge can read instead. */
tesela_status tesela__propagate_copies(const tesela__need_operator *op, const tesela_rule *rule,
                                       tesela_error *err);

/* ---- propagate_suits.c ---- */

/* The price of unmet needs for an operand that reads a candidate. */
tesela__cost tesela__suits_cost(const tesela__edge *edge, const tesela__suits *suits, int32_t label,
                                int32_t candidate);
/* Candidates worth a move: they meet all hard needs and at least one need. label -1: no label. */
tesela__sticks tesela__suits_useful(const tesela__edge *edge, const tesela__suits *suits, int32_t label);
/* The same for any label. */
tesela__sticks tesela__suits_of_any(const tesela__edge *edge, const tesela__suits *suits);
/* The cost of having an operand in a candidate: 0, or a move. */
tesela__cost tesela__suits_reach(const tesela__family *family, int32_t from, bool moves, int32_t to);
/* The least cost of reading an operand that is in `from`, moved or not; *best is the candidate that is read. */
tesela__cost tesela__suits_meet(const tesela__edge *edge, const tesela__family *family, int32_t from,
                                bool moves, int32_t label, int32_t *best);
/* The same for a value that is available in a set of candidates; of equal costs `from`, if it is not -1, then the default
 * layout. */
tesela__cost tesela__suits_had(const tesela__edge *edge, const tesela__family *family, int32_t from,
                               tesela__sticks set, int32_t label, int32_t *best);

/* ---- propagate_operator.c ---- */

/* Does a hint forbid moves of an operand? */
bool tesela__move_forbidden(const tesela_graph *graph, int32_t node, int32_t operand);
/* Operators and edges of the whole program. */
tesela_status tesela__propagate_needs(tesela_propagation *p, tesela_error *err);

/* ---- propagate_share.c ---- */

/* Holders of the edges, slots of the ways. */
tesela_status tesela__propagate_share(tesela_propagation *p, tesela_error *err);

/* ---- propagate_model.c ---- */

typedef struct tesela__model_state {
  int32_t candidate;     /* or label, or place */
  tesela__sticks copies; /* candidates in which a value, or copies of a view, are available */
} tesela__model_state;

typedef struct tesela__model_variable {
  int32_t first, n; /* states */
} tesela__model_variable;

typedef struct tesela__model {
  tesela__assign *problem;
  tesela_allocator allocator;
  int32_t n_variables, n_states;
  size_t variable_capacity, state_capacity, cost_capacity;
  tesela__model_variable *variable;
  tesela__model_state *state;
  tesela__cost *cost;   /* scratch memory */
  int32_t *of_buffer;   /* assignment variable of each node that is a buffer */
  int32_t *of_operator; /* assignment variable of each operator's label */
  int32_t
      *of_first; /* assignment variable of the place of operand 0, for each operator with `same`; else -1 */
  int32_t *
      of_set; /* assignment variable of the candidates in which a value is available; for each buffer, then for each holder; or -1 */
  int32_t *uses;          /* edges that may move, for each buffer; then for each holder */
  tesela__sticks *useful; /* the candidates they may move to */
  int32_t *of_copy;   /* for each slot: assignment variable of the copies, if several edges may read them */
  int32_t *copy_uses; /* such edges */
  tesela__sticks *copy_useful;
  int32_t *of_place; /* assignment variable of the place where an edge reads; or -1 */
  bool capped;       /* some sets of copies are left out */
  int32_t *answer;   /* state of each variable */
  tesela__assigned result;
} tesela__model;

/* The part of the program to model, and how. */
typedef struct tesela__model_part {
  int32_t nodes;    /* number of nodes, from the first */
  int32_t from, to; /* the operands of the last node that count; the others have no needs */
  bool moves;       /* operands may be moved */
  bool ties;        /* of equal costs, default layouts win */
  bool apart;       /* each operand pays for its own copy, even if copies are shared */
} tesela__model_part;

/* One unit of move price in a cost; smaller amounts are preferences between equal costs. */
#define TESELA__MOVE_UNIT ((int64_t)1 << 20)

static inline tesela__model_part tesela__model_whole(const tesela_propagation *p) {
  return (tesela__model_part){
      .nodes = p->count, .to = INT32_MAX, .moves = p->options.mode == TESELA_PROPAGATE_AUTO};
}
/* Build the problem. The caller frees the model, after a failure too. */
tesela_status tesela__model_build(tesela__model *model, const tesela_propagation *p,
                                  const tesela__model_part *part, tesela_error *err);
/* The limit on the steps of a search. */
int64_t tesela__model_effort(const tesela_propagation *p);
/* Solve the problem; fixed: NULL, or a state for each variable, -1 for any. */
tesela_status tesela__model_answer(tesela__model *model, const tesela_propagation *p, const int32_t *fixed,
                                   tesela_error *err);
/* Build and solve. The caller frees the model, after a failure too. */
tesela_status tesela__model_solve(tesela__model *model, const tesela_propagation *p,
                                  const tesela__model_part *part, tesela_error *err);
void tesela__model_free(tesela__model *model);
/* A solution's candidate of a buffer, label of an operator, and place where operand `edge` is read: a candidate that it is
 * moved to (its buffer's own: no move), or a copy (propagate_places.c). */
int32_t tesela__model_candidate(const tesela__model *model, int32_t buffer);
int32_t tesela__model_label(const tesela__model *model, const tesela_propagation *p, int32_t op);
int32_t tesela__model_target(const tesela__model *model, const tesela_propagation *p, int32_t op,
                             int32_t edge, bool moves);

/* ---- propagate_places.c ---- */

/* The places of an edge have numbers: first the candidates of its buffer, then those of the copies of each way. */
typedef struct tesela__place {
  int32_t way;       /* -1: the buffer */
  int32_t candidate; /* of the buffer, or of the copy */
} tesela__place;

int32_t tesela__place_count(const tesela_propagation *p, const tesela__edge *edge);
tesela__place tesela__place_at(const tesela_propagation *p, const tesela__edge *edge, int32_t place);
const tesela_device_layout *tesela__place_layout(const tesela_propagation *p, const tesela__edge *edge,
                                                 int32_t place);
/* The price of unmet needs for an edge that reads a place. */
tesela__cost tesela__place_cost(const tesela_propagation *p, const tesela__edge *edge, int32_t place,
                                int32_t label);
/* The cost of a copy of a buffer in `from`; 0 if copies are shared: their variable pays. */
tesela__cost tesela__place_copy_cost(const tesela__model *m, const tesela_propagation *p,
                                     const tesela__edge *edge, int32_t place, int32_t from);
/* The cheapest copy that is compatible with a label (-1: any copy), if it is cheaper than *least; then *least and *place
 * receive it. */
void tesela__place_cheapest_copy(const tesela_propagation *p, const tesela__edge *edge, int32_t label,
                                 int32_t from, tesela__cost *least, int32_t *place);
/* Count the copies that an edge may read, if copies are shared. */
void tesela__model_count_copies(tesela__model *m, const tesela_propagation *p, const tesela__edge *edge);
/* Does an edge share copies that it can read? */
bool tesela__model_shares_copies(const tesela__model *m, const tesela_propagation *p,
                                 const tesela__edge *edge);
/* Connect the variable of an edge's place to that of the copies; false: no memory. */
bool tesela__model_tie_copies(tesela__model *m, const tesela_propagation *p, const tesela__edge *edge,
                              int32_t place);

/* ---- propagate_states.c: false for no memory ---- */

/* Begin a variable; push its states next. */
bool tesela__model_begin(tesela__model *m, int32_t *variable);
/* Add a state to the last variable. */
bool tesela__model_push(tesela__model *m, int32_t candidate, tesela__sticks copies, tesela__cost cost);
bool tesela__model_end(tesela__model *m);
/* Room for n costs in m->cost. */
bool tesela__model_costs(tesela__model *m, size_t n);
/* The assignment variable of the candidates in which value `number` of a buffer is available, created on first use. */
bool tesela__model_sets(tesela__model *m, const tesela_propagation *p, int32_t number, int32_t buffer,
                        int32_t *variable);

/* ---- propagate_solve.c ---- */

/* The move of an operand from a candidate of its buffer to a place, and its price, whoever pays it. */
tesela_move tesela__propagate_move(const tesela_propagation *p, const tesela__edge *edge, int32_t from,
                                   int32_t place);

/* Is a node a fallback of which only shapes are known, since no rule has its opcode? */
bool tesela__propagate_unknown(const tesela_propagation *p, const tesela_node *node);

/* ---- propagate_outputs.c ---- */

/* options.all_sticks: p->best receives the candidates of the outputs that do not raise the cost. */
tesela_status tesela__propagate_outputs(tesela_propagation *p, tesela_error *err);

/* ---- apply.c ---- */

typedef enum tesela__apply_part {
  TESELA__APPLY_ALL,               /* moves and layouts */
  TESELA__APPLY_COPIES,            /* copies of views only; nothing if propagation failed */
  TESELA__APPLY_COPIES_AND_SPARSE, /* and moves to and from one element per stick */
} tesela__apply_part;

/* The program with the layouts and moves found, or with a part of them. */
tesela_status tesela__graph_apply(tesela_graph **out, const tesela_propagation *p, tesela__apply_part part,
                                  tesela_error *err);

/* ---- propagate_explain_words.c ---- */

typedef struct tesela__explain {
  const tesela_propagation *p;
  tesela__sink sink;
  tesela__model before; /* the nodes before the operator */
  int32_t op;           /* number of the operator without a layout */
  size_t name_width, type_width;
} tesela__explain;

void tesela__explain_stick(tesela__sink *sink, int32_t stick);
/* "f16[4,8]", cut if too long; its length. */
size_t tesela__explain_type(const tesela_node *node, char text[160]);
void tesela__explain_padded(tesela__sink *sink, const char *text, size_t length, size_t width);

/* ---- propagate_explain_failure.c ---- */

tesela_status tesela__explain_failure(tesela__explain *x, tesela_error *err);

#endif
