/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_work.h - a program on its way from text to a graph with layouts and moves: what the verb graph and the operations graph_assign,
 * graph_plan and graph_run share.
 */
#ifndef TESELA_OPS_GRAPH_WORK_H
#define TESELA_OPS_GRAPH_WORK_H

#include <tesela/ops.h>
#include <tesela/propagate.h>

#include "graph_check.h"

typedef struct graph_work {
  tesela_graph *graph;
  tesela_target target;
  tesela_propagation *layouts;
  tesela_graph *placed; /* with layouts and moves */
} graph_work;

/* Read HLO text, or JSON, which begins with a brace. The target is `named`, else that of the program, else `otherwise`; both may be
 * NULL: spyre for HLO text, plain sticks for JSON. */
tesela_status graph_work_read(graph_work *work, const char *text, size_t length, const tesela_target *named,
                              const tesela_target *otherwise, tesela_error *err);
/* Find layouts; to materialise is to copy views, and if that is not enough, to move to and from one element per stick. */
tesela_status graph_work_lay_out(graph_work *work, tesela_propagate_options options, bool materialise,
                                 tesela_error *err);
void graph_work_free(graph_work *work);
/* The node of that name; false if it is unknown. */
bool graph_work_node(const tesela_graph *graph, const char *name, int32_t *node, tesela_error *err);

/* query_program.c: what the verb graph and the operations graph_assign, graph_loops, graph_plan and graph_run do with a request. The
 * program is read, laid out, and answered so far: "placed" and what comes with it. *placed: there are layouts. */
tesela_status request_place_program(tesela_request *q, graph_work *work, bool *placed);
tesela_propagate_options request_propagate_options(tesela_request *q);
tesela_status request_plan_memory(tesela_request *q, const graph_work *work, tesela_graph_memory **memory);
/* The list of buffers in the field csv; *buffers is to be freed, after a failure too. */
tesela_status request_plan_csv(tesela_request *q, tesela_arena_buffer **buffers, int32_t *n,
                               tesela_arena_facts *facts);
/* *c is zeros before, and freed with graph_check_free. */
tesela_status request_run_program(tesela_request *q, const graph_work *work, graph_check *c);

/* query_graph.c: the copies of a propagation, its other facts, its moves. */
void graph_put_copies(tesela_sink *j, const tesela_propagate_facts *facts);
void graph_put_facts(tesela_sink *j, const tesela_propagate_facts *facts);
void graph_put_moves(tesela_sink *j, const tesela_graph *graph, const tesela_propagation *p);

/* "f16[128,256]"; "16bit[3]" without a type. Cut to what fits. */
#define GRAPH_TYPE_TEXT 160
const char *graph_type_text(tesela_dtype dtype, int32_t bits, int32_t rank, const int64_t *shape,
                            char text[GRAPH_TYPE_TEXT]);
/* "outside", "scratchpad" or "arena". */
const char *graph_place_where(const tesela_graph_place *place);
/* query_graph.c: the facts of an arena, as members of the object that is open. */
void arena_put_facts(tesela_sink *j, const tesela_arena_facts *facts);

/* graph_padding_put.c: what padding is, for tables and for answers. */
enum { PADDING_TEXT = 32 };
const char *padding_text(const tesela_padding_state *state, char text[PADDING_TEXT]);
extern const char *const padding_fills[]; /* by tesela_pad */
/* A buffer with padding and the number of its padding places; NULL: without padding. */
const tesela_node *padding_row(const graph_work *work, int32_t k, int64_t *places);
/* Fills for the inputs, to free; NULL: *err has the reason. */
tesela_padding_fill *padding_suggested(const graph_work *work, const tesela_padding *padding, int32_t *fine,
                                       tesela_error *err);
/* Members of the object that is open. */
tesela_status graph_padding_put(tesela_sink *j, const graph_work *work, tesela_error *err);

#endif
