/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_padding_oracle.h - whole-stick execution by definition, for small programs of f64 or s32 and bool.
 *
 * Every buffer is all its places, padding included, and starts as garbage. An operator computes every place that digits
 * of the device dims reach, with indices that exceed extents, and reads its operands at such indices; where there is no
 * place, it reads garbage. Views are followed one by one, by the definition of each.
 */
#ifndef TESELA_TESTS_SUPPORT_PADDING_ORACLE_H
#define TESELA_TESTS_SUPPORT_PADDING_ORACLE_H

#include <tesela/tesela.h>

typedef union pad_number {
  double f;
  int64_t i;
} pad_number;

typedef struct pad_memory {
  pad_number *at; /* of each place; NULL for a node without a buffer */
  bool *element;  /* does the place hold an element? */
} pad_memory;

typedef struct pad_oracle {
  const tesela_graph *graph;
  const tesela_padding *padding;
  const tesela_padding_fill *fill; /* of inputs */
  tesela_padding_fill copied;
  uint64_t state;
  bool masked; /* folds stop at extents; otherwise they continue if all reads of the operator are FINE */
  pad_memory *memory;
  bool unsupported;    /* an unknown type or function */
  int64_t known, fine; /* number of compared places, and of compared elements of folds */
  char failure[512];   /* the fault; empty if all is right */
} pad_oracle;

/* Run the program and check every claim of `padding`. */
void pad_oracle_run(pad_oracle *o);

#endif
