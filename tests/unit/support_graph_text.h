/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_graph_text.h - programs as lines for tests, and round trips through HLO text.
 */
#ifndef TESELA_TESTS_SUPPORT_GRAPH_TEXT_H
#define TESELA_TESTS_SUPPORT_GRAPH_TEXT_H

#include <tesela/tesela.h>

/* One line per node: name class fn opcode dtype[shape](operands) and attributes. */
void graph_describe(const tesela_graph *graph, char *text, size_t room);
/* Are nodes a and b equal in all fields? Otherwise *what names one that differs. */
bool graph_same_node(const tesela_node *a, const tesela_node *b, const char **what);
/* Print as HLO text, read it, compare node by node; fails the test under this name. */
void graph_round_trip(const tesela_graph *graph, const char *name);

#endif
