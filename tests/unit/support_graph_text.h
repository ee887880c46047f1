/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_graph_text.h - programs as lines for tests, and the way through HLO text and back.
 */
#ifndef TESELA_TESTS_SUPPORT_GRAPH_TEXT_H
#define TESELA_TESTS_SUPPORT_GRAPH_TEXT_H

#include <tesela/tesela.h>

/* A line for each node: name class fn opcode dtype[shape](operands) and attributes. */
void graph_describe(const tesela_graph *graph, char *text, size_t room);
/* Are nodes a and b equal in all fields? Else *what says which differs. */
bool graph_same_node(const tesela_node *a, const tesela_node *b, const char **what);
/* Print as HLO text, read it, compare node by node; fails the test under this name. */
void graph_round_trip(const tesela_graph *graph, const char *name);

#endif
