/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_padding.h - a program of a test, laid out for spyre, and assertions about its padding.
 */
#ifndef TESELA_TESTS_SUPPORT_PADDING_H
#define TESELA_TESTS_SUPPORT_PADDING_H

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

#include "support_graph_build.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

/* Of the current test; pad_begin() and pad_end() are its set-up and tear-down. */
extern tesela_graph *pad_graph;
extern tesela_padding *pad_padding;
extern const tesela_target *pad_target;
extern const tesela_padding_fill pad_leave;
int pad_begin(void **unused);
int pad_end(void **unused);
int32_t pad_input(const char *name, const char *shape, int32_t stick);
int32_t pad_add(tesela_node_spec spec, int32_t stick);
int32_t pad_unary(tesela_fn fn, int32_t x, int32_t stick);
int32_t pad_binary(tesela_fn fn, int32_t x, int32_t y, int32_t stick);
int32_t pad_reduce(tesela_fn fn, int32_t x, int32_t dim, int32_t stick);
int32_t pad_scalar(double value);

#define FILL(name) ((const tesela_padding_fill[]){{TESELA_PAD_##name, 0}})

/* Analyse the program again. */
void pad_look(const tesela_padding_fill *fill, tesela_padding_fill copy);

/* Assert the padding of a node. */
void pad_holds(int32_t node, double value);
void pad_is(int32_t node, tesela_padding_kind kind);

typedef struct want {
  int32_t node, operand, dim;
  int64_t from, to;
  double needed;
  tesela_padding_kind found;
  tesela_padding_verdict verdict;
} want;

/* Assert that these are all reads of padding. */
#define READS(...) pad_reads((int32_t)(sizeof((want[]){__VA_ARGS__}) / sizeof(want)), (want[]){__VA_ARGS__})
void pad_reads(int32_t n, const want *wanted);

#endif
