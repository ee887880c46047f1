/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_propagate.h - small programs as text, as graphs of the library, and propagated by exhaustive search.
 *
 * A program is statements `name = operator operands numbers`, separated by newlines or ;
 *
 *   a = input f16[256,128] 1        stick 1; - is one element per stick, ? any
 *   k = constant f16[8,8]           s = fallback f16[4] a b
 *   t = pw a b                      u = cast f32 a             (pw: neg of one, add of two, unknown of more)
 *   r = sum a 0,1   q = keep a 1    (keepdim)                  p = prod a 1
 *   s = sort a 1 4   i = rank a 1 4   c = cum a 1   u = line a b 1 4      along dim 1, 4 elements left; line is unknown
 *   r = keeps f16[8,4] a   s = stats f16[8,1] a   n = norm f16[8,4] a b   fallbacks: all-reduce, exx2, layernormnorm
 *   m = matmul a b                  c = cat 0 a b c
 *   g = gather e i 0                w = scatter x i v 0        in place: scatter! x i v 0
 *   p = pad x 1,0 0,2 1,1           w = write x piece 0,4 1,1  in place: write! x piece 0,4 1,1
 *   v = permute a 1,0 | reshape a 4,2 | squeeze a 0 | unsqueeze a 1 | expand a 4,8 | slice a 1 start length step
 *   k = clone a                   m = move a
 */
#ifndef SUPPORT_PROPAGATE_H
#define SUPPORT_PROPAGATE_H

#include <tesela/tesela.h>

enum { PROG_STATEMENTS = 40, PROG_RANK = 6, PROG_OPERANDS = 8, PROG_FREE = -3, PROG_SPARSE = -1 };

typedef struct prog_statement {
  char name[24], op[16];
  bool in_place;
  int n_in, in[PROG_OPERANDS];
  int n_lists, n_list[4];
  int64_t list[4][PROG_RANK];
  tesela_dtype dtype; /* input, constant, fallback, cast */
  int rank;
  int64_t shape[PROG_RANK];
  int stick; /* input */
} prog_statement;

typedef struct prog {
  int n;
  prog_statement s[PROG_STATEMENTS];
} prog;

/* Read a program; fails the test if it is malformed. */
void prog_read(prog *p, const char *text);
/* The graph; node numbers are statement numbers. */
tesela_status prog_graph(const prog *p, tesela_graph **graph, tesela_error *err);
tesela_status prog_graph_in(const prog *p, tesela_graph **graph, const tesela_allocator *allocator,
                            tesela_error *err);
int prog_find(const prog *p, const char *name);

/* ---- tests of the library; any failure fails the test ---- */

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

extern const tesela_propagate_options prog_automatic, prog_strictly;
const tesela_target *prog_spyre(void);
tesela_graph *prog_graph_of(const char *text);
tesela_propagation *prog_propagate(const tesela_graph *graph, const tesela_target *target,
                                   tesela_propagate_options options);
void prog_add_hint(tesela_graph *graph, tesela_hint_kind kind, const char *name, int32_t stick,
                   int32_t operand, int64_t price);
/* Propagates; checks success, the cost, the number of copies, and the stick of a node (-9: not checked). */
void prog_check(const tesela_graph *graph, const tesela_target *target, tesela_propagate_options options,
                bool ok, int64_t cost, int32_t moves, const char *name, int32_t stick);

/* ---- exhaustive search: support_propagate_oracle.c ---- */

typedef struct prog_hint {
  tesela_hint_kind kind;
  int node, stick, operand;
  int64_t price;
} prog_hint;

typedef struct prog_options {
  int64_t stick_bytes;
  bool moves, share, spread, compact;
  int n_hints;
  prog_hint hint[8];
  int n_outputs, output[PROG_STATEMENTS];
} prog_options;

typedef struct prog_answer {
  bool ok;
  int error; /* the first statement without a possible layout */
  int64_t cost, moves;
  unsigned sticks[PROG_STATEMENTS]; /* of each output: bit stick + 1 */
} prog_answer;

/* By definition: element by element, over all layouts and moves. Only for small extents. */
void prog_search(const prog *p, const prog_options *options, prog_answer *answer);

#endif
