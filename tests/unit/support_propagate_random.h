/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_propagate_random.h - random programs, made statement by statement; those that the graph refuses are left out.
 */
#ifndef TESELA_TESTS_SUPPORT_PROPAGATE_RANDOM_H
#define TESELA_TESTS_SUPPORT_PROPAGATE_RANDOM_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_propagate.h"

enum { TEXT = 3000, STICK_BYTES = 8 };

typedef struct prog_maker {
  uint64_t state;
  char text[TEXT];
  prog p;
  tesela_graph *graph;
  int names, operators;
  int flavour; /* 0: anything; 1: many pieces, also repeated ones; 2: many writes in place and moves */
} prog_maker;

int prog_below(prog_maker *m, int n);
bool prog_chance(prog_maker *m, int percent);
const tesela_node *prog_node(const prog_maker *m, int k);
void prog_draw(prog_maker *m, uint64_t seed);

#endif
