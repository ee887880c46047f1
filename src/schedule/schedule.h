/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - a module of scheduled HLO text: instructions in the order in which they run, the lives of their arrays, and the
 * bytes that are alive at each instant.
 *
 *   schedule_finish.c      a module from its first line to its peaks
 *   schedule_store.c       room for lists; instructions by name
 *   schedule_read.c        lines -> computations and instructions
 *   schedule_attributes.c  operands and attributes of an instruction
 *   schedule_shape.c       shapes -> nodes: arrays, and tables of tuples
 *   schedule_opcodes.c     what an opcode does with memory
 *   schedule_in_place.c    the parameters that a fused computation writes into, or may
 *   schedule_walk.c        all computations in the order in which they run: values and their lives
 *   schedule_values.c      values: made, used, paired
 *   schedule_async.c       computations that run beside others
 *   schedule_results.c     the values that an instruction of one kind defines or passes on
 *   schedule_buffers.c     values that share memory -> buffers
 *   schedule_order.c       instructions after their operands
 *   schedule_live.c        bytes alive at each instant, the peaks
 *
 * A value is an array that an instruction defines; it lives from that instant to its last use. tuple, get-tuple-element, bitcast
 * and the like pass values on. Values share a buffer where an instruction writes in place, and around a loop: its init, its
 * parameter, its root and its result. What a branch of a conditional gets in a faster memory lives to its last use in that branch,
 * as compilers give that memory away; in the main memory, where they do not, to the end of the conditional. A buffer takes its bytes at the instants at which one of its values lives.
 *
 * Time counts instructions. A `while` puts its condition and its body before itself, a `conditional` its branches, a `call` and a
 * `call-start` its computation. No function recurses: a stack of frames is on the heap, and a text that calls in a circle is refused.
 */
#ifndef TESELA_SRC_SCHEDULE_H
#define TESELA_SRC_SCHEDULE_H

#include "base/spans.h"

enum {
  TESELA__SCHEDULE_MOST = 1 << 22,  /* instructions, operands, shape nodes and such of a module */
  TESELA__SCHEDULE_STEPS = 1 << 24, /* instants, values and places of values in the walk */
  TESELA__SCHEDULE_GRANULE = 512,   /* bytes: the least piece of the main memory; more if scalars take more */
  TESELA__SCHEDULE_POINTER = 4,     /* bytes of an entry of a tuple's table */
  TESELA__SCHEDULE_SPACES = 256,    /* S(-128) to S(127) */
  TESELA__SCHEDULE_AFTER_BRANCHES =
      INT32_MAX - 1, /* the instant at which a conditional ends, while its branches are walked */
};

typedef enum tesela__schedule_op {
  TESELA__OP_ORDINARY,    /* all arrays of the result are new */
  TESELA__OP_ELEMENTWISE, /* the same; may write over an operand that dies */
  TESELA__OP_IN_PLACE,    /* writes into operand 0 */
  TESELA__OP_VIEW,        /* operand 0 */
  TESELA__OP_TUPLE,
  TESELA__OP_MEMBER, /* get-tuple-element */
  TESELA__OP_PARAMETER,
  TESELA__OP_CONSTANT,
  TESELA__OP_WHILE,
  TESELA__OP_CONDITIONAL,
  TESELA__OP_CALL,
  TESELA__OP_FUSION,
  TESELA__OP_COPY_START, /* (destination, source, context) */
  TESELA__OP_START, /* (operands, destination, context...); with a callee it runs that: call-start, async-start */
  TESELA__OP_CONCAT,     /* custom-call ConcatBitcast: its operands, side by side in memory */
  TESELA__OP_SEND,       /* (operand, context, token) */
  TESELA__OP_DONE,       /* member 1 of the start */
  TESELA__OP_DONE_FIRST, /* member 0 of the start: copy-done */
  TESELA__OP_RECV_DONE,  /* (member 0 of the start, token) */
} tesela__schedule_op;

typedef enum tesela__node_kind {
  TESELA__NODE_ARRAY,
  TESELA__NODE_TABLE,   /* of a tuple */
  TESELA__NODE_NOTHING, /* token, opaque */
  TESELA__NODE_UNKNOWN, /* without a size: `?`, or unreadable */
} tesela__node_kind;

/* A node of a shape, in preorder; `n` nodes with those below it. */
typedef struct tesela__schedule_node {
  int64_t bytes;
  int32_t n;
  uint32_t text; /* where it starts in the text of its shape */
  int8_t space;
  uint8_t kind;
} tesela__schedule_node;

typedef struct tesela__schedule_shape {
  uint64_t hash;
  uint32_t text, length;
  int32_t first, n;          /* nodes */
  int32_t member, n_members; /* of a tuple: in tesela__schedule.member, where each starts among its nodes */
} tesela__schedule_shape;

typedef struct tesela__schedule_instruction {
  uint32_t name;
  int32_t source; /* in tesela__schedule.source; 0 where it is not kept */
  int32_t shape;
  int32_t operand, n_operands; /* in tesela__schedule.operand */
  int32_t callee, n_callees;
  int32_t alias, n_aliases;
  int32_t
      number; /* of get-tuple-element and parameter; of others in a fused computation the parameter whose memory it is, or -1 */
  int32_t env; /* place of its nodes among those of its computation */
  uint32_t line;
  uint8_t op; /* tesela__schedule_op */
  bool loop;  /* a fusion of kind kLoop or kInput */
  bool known; /* the compiler has listed all aliases */
  bool over;  /* of a fused computation: written in place */
} tesela__schedule_instruction;

/* The line of the user's program that an instruction comes from: both in tesela__schedule.text. */
typedef struct tesela__schedule_origin {
  uint32_t op_name, location;
} tesela__schedule_origin;

/* The result's array `output` shares memory with operand `operand`. */
typedef struct tesela__schedule_alias {
  int32_t operand, output;
} tesela__schedule_alias;

typedef struct tesela__schedule_computation {
  uint64_t hash;
  uint32_t name, name_length;
  int32_t first, n, root; /* instructions; root: one of them, or -1 */
  int32_t n_nodes, n_parameters;
  int32_t reuse,
      n_reuses; /* in tesela__schedule.reuse: of each array of the root the parameter in its memory, or -1 */
  bool active;  /* is being walked */
  bool read;    /* its reuses are known */
} tesela__schedule_computation;

/* Of an array of a fused computation's root: the parameter that it overwrites; else -1, or -2 - p where parameter p may share. */
typedef int32_t tesela__schedule_reuse;

typedef enum tesela__value_role {
  TESELA__VALUE_TEMPORARY,
  TESELA__VALUE_ARGUMENT,
  TESELA__VALUE_CONSTANT,
  TESELA__VALUE_TABLE,
  TESELA__VALUE_PASSED, /* a loop's or branch's parameter, a result of a branch: the bytes of others */
} tesela__value_role;

typedef struct tesela__schedule_value {
  int64_t bytes;
  int32_t from, to;
  int32_t same;   /* itself, or the value that it is */
  int32_t buffer; /* itself, or another value of its buffer */
  int32_t instruction, node;
  int8_t space;
  uint8_t role;
  bool output; /* a result of the program */
} tesela__schedule_value;

typedef enum tesela__pair_kind {
  TESELA__PAIR_ALIAS,
  TESELA__PAIR_DYING,  /* only if nothing else of a's buffer lives after it, and the bytes are equal */
  TESELA__PAIR_BRANCH, /* b is what a branch gets of a: a itself if that is used after the conditional began, or kept by the caller */
} tesela__pair_kind;

/* `b` can be in the memory of `a` if `a` is not used after instant `at`. */
typedef struct tesela__schedule_pair {
  int32_t a, b, at;
  uint8_t kind; /* tesela__pair_kind */
} tesela__schedule_pair;

/* A computation that a start runs: the values and pairs that it made. */
typedef struct tesela__schedule_async {
  int32_t start;            /* its instruction */
  int32_t value, end_value; /* end_value: -1 while it is being walked */
  int32_t pair, end_pair;
} tesela__schedule_async;

typedef struct tesela__schedule_buffer {
  int64_t bytes;
  int32_t first, n; /* values in tesela__schedule.order, by `from` */
  int32_t largest;  /* its value */
  int32_t inside;   /* buffer whose memory it uses while that is idle, or -1 */
  int8_t space;
  bool argument, output, constant, table;
} tesela__schedule_buffer;

typedef struct tesela__schedule_peak {
  int8_t space;
  int64_t bytes;
  int32_t at;                              /* instant */
  int64_t arguments, outputs, temporaries; /* bytes; temporaries: at `at` */
} tesela__schedule_peak;

/* An aliased pair of input_output_alias: leaf arrays of result and parameter, as nodes. */
typedef struct tesela__schedule_donation {
  int32_t result[8], n_result, parameter, path[8], n_path;
} tesela__schedule_donation;

typedef struct tesela__schedule_frame {
  int32_t computation, next; /* the next instruction, from 0 */
  int32_t env;               /* its place in tesela__schedule.env */
  int32_t caller;            /* instruction that called, or -1 */
  int32_t parameters;        /* while, conditional: the place of what the computation that runs gets */
  int32_t stage;             /* of the instruction that is calling: 0, 1, ... */
  int32_t pairs;             /* conditional: the number of pairs as its first branch began */
  int32_t branch_pairs;      /* the same of the branch that runs */
} tesela__schedule_frame;

typedef struct tesela__schedule_entry { /* of the table of names */
  int32_t instruction;
  uint32_t hash;
} tesela__schedule_entry;

typedef struct tesela__schedule {
  tesela_allocator memory;
  const char *broken; /* why there is no peak; static text; NULL: none so far */
  int64_t broken_line;
  bool inside; /* a computation is open */
  int32_t entry;
  int64_t granule; /* bytes: the least piece of the main memory, as scalars have it */
  int64_t largest; /* bytes of the largest array so far */
  char *text;      /* starts with an empty text */
  size_t n_text, cap_text;
  tesela__schedule_node *node;
  size_t n_nodes, cap_nodes;
  int32_t *member;
  size_t n_members, cap_members;
  tesela__schedule_shape *shape;
  size_t n_shapes, cap_shapes;
  tesela__schedule_instruction *instruction;
  size_t n_instructions, cap_instructions;
  tesela__schedule_computation *computation;
  size_t n_computations, cap_computations;
  int32_t *operand;
  size_t n_operands, cap_operands;
  uint64_t *callee; /* hash; after the text the computation */
  size_t n_callees, cap_callees;
  tesela__schedule_alias *alias;
  size_t n_aliases, cap_aliases;
  tesela__schedule_origin *source; /* starts with one without text */
  size_t n_sources, cap_sources;
  tesela__schedule_reuse *reuse;
  size_t n_reuses, cap_reuses;
  tesela__schedule_donation *donation;
  size_t n_donations, cap_donations;
  tesela__schedule_entry *names; /* hash tables */
  int32_t *shapes;
  size_t names_size, shapes_size;
  /* the walk */
  tesela__schedule_frame *frame;
  size_t n_frames, cap_frames;
  int32_t *env; /* values */
  size_t n_env, cap_env;
  tesela__schedule_value *value;
  size_t n_values, cap_values;
  tesela__schedule_pair *pair;
  size_t n_pairs, cap_pairs;
  tesela__schedule_async *async; /* without a -done so far */
  size_t n_asyncs, cap_asyncs;
  int64_t work, most_work; /* places touched */
  int32_t *instant;        /* its instruction */
  size_t n_instants, cap_instants;
  /* the answer */
  int32_t *order;
  tesela__schedule_buffer *buffer;
  size_t n_buffers;
  tesela__schedule_peak *peak; /* S(0) first */
  size_t n_peaks, cap_peaks;
} tesela__schedule;

/* All functions that return bool return false only when memory ran out. */

/* ---- schedule_finish.c, schedule_read.c, schedule_store.c ------------------------------------------------------------------------------------------ */

/* A module with is_scheduled=true; NULL: no memory. `header` is its line, with input_output_alias. */
tesela__schedule *tesela__schedule_open(const tesela_allocator *memory, tesela__span header);
void tesela__schedule_close(tesela__schedule *schedule); /* NULL is allowed */
bool tesela__schedule_computation_begin(tesela__schedule *schedule, tesela__span name, bool entry,
                                        int64_t line);
void tesela__schedule_computation_end(tesela__schedule *schedule);
/* `rest` starts at the operands. */
bool tesela__schedule_add(tesela__schedule *schedule, tesela__span name, tesela__span shape,
                          tesela__span opcode, tesela__span rest, bool root, int64_t line);
/* Is the last instruction's result at least a thousandth of the largest array so far? Then it may matter at the peak, and where it comes
 * from is kept. */
bool tesela__schedule_matters(tesela__schedule *schedule);
bool tesela__schedule_source(tesela__schedule *schedule, tesela__span op_name, tesela__span location);
/* The peaks of a module that was read whole; on return schedule->broken says why there are none, or is NULL. */
bool tesela__schedule_finish(tesela__schedule *schedule);
static inline bool tesela__schedule_break(tesela__schedule *schedule, int64_t line, const char *why) {
  if (!schedule->broken) {
    schedule->broken = why;
    schedule->broken_line = line;
  }
  return true;
}
/* Room for `more` items; `false`: no memory. More than `most` in all breaks the schedule, so check `broken`. */
bool tesela__schedule_room(tesela__schedule *schedule, void *items, size_t size, size_t *capacity, size_t n,
                           size_t more, size_t most);
bool tesela__schedule_text(tesela__schedule *schedule, tesela__span text, uint32_t *at);
/* The number of an instruction of the open computation, or -1. */
int32_t tesela__schedule_find(const tesela__schedule *schedule, tesela__span name);
/* Make room for another name. */
bool tesela__schedule_grow_names(tesela__schedule *schedule);
/* The entry of a name in the table, that of the instruction to come if there is none; NULL if one is taken. */
tesela__schedule_entry *tesela__schedule_new_name(const tesela__schedule *schedule, tesela__span name);

/* ---- schedule_attributes.c ------------------------------------------------------------------------------------ */

bool tesela__schedule_operands(tesela__schedule *schedule, tesela__schedule_instruction *to,
                               tesela__span *rest);
bool tesela__schedule_attributes(tesela__schedule *schedule, tesela__schedule_instruction *to,
                                 tesela__span opcode, tesela__span rest);
/* input_output_alias={ {0}: (0, {}, may-alias), {1}: (2, {}, must-alias) } of a module's header. */
bool tesela__schedule_donations(tesela__schedule *schedule, tesela__span header);

/* ---- schedule_shape.c ----------------------------------------------------------------------------------------- */

/* Tables get their bytes: whole pieces of the size that scalars have in the module. */
void tesela__schedule_size_tables(tesela__schedule *schedule);
/* The number of a shape; -1 with `broken` set if it cannot be read. */
bool tesela__schedule_find_shape(tesela__schedule *schedule, tesela__span text, int64_t line,
                                 int32_t *number);
static inline const tesela__schedule_node *tesela__schedule_nodes(const tesela__schedule *schedule,
                                                                  const tesela__schedule_instruction *of) {
  return &schedule->node[schedule->shape[of->shape].first];
}
static inline int32_t tesela__schedule_n_nodes(const tesela__schedule *schedule,
                                               const tesela__schedule_instruction *of) {
  return schedule->shape[of->shape].n;
}
/* Where member `number` of a tuple starts among its nodes, or -1. */
static inline int32_t tesela__schedule_member(const tesela__schedule *schedule,
                                              const tesela__schedule_shape *shape, int32_t number) {
  return number >= 0 && number < shape->n_members ? schedule->member[shape->member + number] : -1;
}

/* ---- schedule_opcodes.c --------------------------------------------------------------------------------------- */

tesela__schedule_op tesela__schedule_op_of(tesela__span opcode);

/* ---- schedule_in_place.c -------------------------------------------------------------------------------------- */

bool tesela__schedule_find_reuses(tesela__schedule *schedule);

/* ---- schedule_async.c ----------------------------------------------------------------------------------------- */

static inline bool tesela__schedule_is_async(const tesela__schedule_instruction *is) {
  return is->op == TESELA__OP_START && is->n_callees == 1;
}
/* Before and after the computation of a start is walked. */
bool tesela__schedule_async_begin(tesela__schedule *schedule, int32_t start);
void tesela__schedule_async_end(tesela__schedule *schedule, int32_t start);
/* The -done of a start, given as its operand, runs; its operands are not used yet. */
void tesela__schedule_async_done(tesela__schedule *schedule, int32_t start);

/* ---- schedule_walk.c, schedule_values.c, schedule_results.c ---------------------------------------------------------------------- */

bool tesela__schedule_walk(tesela__schedule *schedule);
/* A new value in the next place of `env`. */
bool tesela__schedule_define(tesela__schedule *schedule, int32_t place, int32_t instruction, int32_t node,
                             tesela__value_role role);
/* What a branch gets, in a place of `env` that has the value of before the conditional: outside the main memory its own value, alive to
 * its last use there. */
bool tesela__schedule_define_in_branch(tesela__schedule *schedule, int32_t place);
bool tesela__schedule_pair_up(tesela__schedule *schedule, int32_t a, int32_t b, int32_t at,
                              tesela__pair_kind kind);
/* What a computation writes in place by its own end, those of the pairs from <= i < end whose `a` is not used later so far, may be
 * used by others until an instant: by what runs beside it, or by another branch, as only one runs. */
void tesela__schedule_pairs_wait(tesela__schedule *schedule, int32_t from, int32_t end, int32_t until);
/* All branches ended, now: so do the waits for that. */
void tesela__schedule_pairs_after_branches(tesela__schedule *schedule, int32_t from);
/* The values of an instruction that calls nothing; its places in env start at `place`, those of its computation at `env`. */
bool tesela__schedule_result(tesela__schedule *schedule, int32_t instruction, int32_t env);
/* All values in `n` places of env are used at `at`. */
void tesela__schedule_use(tesela__schedule *schedule, int32_t place, int32_t n, int32_t at);
static inline int32_t tesela__schedule_same(tesela__schedule *schedule, int32_t value) {
  tesela__schedule_value *values = schedule->value;
  while (values[value].same != value) {
    values[value].same = values[values[value].same].same;
    value = values[value].same;
  }
  return value;
}

/* ---- schedule_buffers.c, schedule_order.c, schedule_live.c ---------------------------------------------------------------------- */

bool tesela__schedule_join(tesela__schedule *schedule);
/* The place of each instruction among all, in the order of schedule_order.c; NULL: no memory. */
int32_t *tesela__schedule_post_order(const tesela__schedule *schedule);
bool tesela__schedule_measure(tesela__schedule *schedule);
typedef struct tesela__schedule_span {
  int32_t from, to; /* both included */
} tesela__schedule_span;

/* The next span of a buffer's life from its value *i on; overlapping lives are one span. */
bool tesela__schedule_next_span(const tesela__schedule *schedule, const tesela__schedule_buffer *buffer,
                                int32_t *i, tesela__schedule_span *span);
/* The bytes of temporaries in a memory space at each of n_instants instants, and the bytes of arguments and results, which are
 * there always. Returns false if the space has no buffer. */
bool tesela__schedule_timeline(const tesela__schedule *schedule, int space, int64_t *bytes,
                               int64_t *arguments, int64_t *outputs);
/* Is a value of the buffer alive at an instant? */
bool tesela__schedule_alive(const tesela__schedule *schedule, const tesela__schedule_buffer *buffer,
                            int32_t at);

#endif
