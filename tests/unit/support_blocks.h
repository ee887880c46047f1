/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_blocks.h - can dims, each with one block at most, give the places of all elements? A search through all orders and sizes of
 * blocks, for tests that refute "impossible".
 */
#ifndef UNIT_SUPPORT_BLOCKS_H
#define UNIT_SUPPORT_BLOCKS_H

#include "support_forms.h"

typedef struct blocks_rules {
  bool blocks;  /* a dim may have one: its last digit, of any size */
  bool after;   /* blocks may be outside dims */
  bool ordered; /* the dims are in their order */
  bool larger;  /* a dim may have more values than the array */
} blocks_rules;

bool blocks_exist(const form_table *t, blocks_rules rules);

#endif
