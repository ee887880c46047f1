/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axe.h - the axes of Axe.
 */
#ifndef TESELA_SRC_AXE_H
#define TESELA_SRC_AXE_H

#include "notation/memory/memory.h"

enum { /* numbers of names */
       TESELA__AXE_CLUSTER = 3,
       TESELA__AXE_TX = 6,
       TESELA__AXE_WARP = 7,
       TESELA__AXE_LANE = 8,
       TESELA__AXE_TID = 10,
       TESELA__AXE_M = 12,
       TESELA__AXE_NAMES = 18
};

/* The name of an axis, NULL after the last. */
const char *tesela__axe_name(int32_t i);

/* The axes of a layout that uses some of Axe's, in their order, with tesela's names. */
typedef struct tesela__axe_order {
  int32_t n, axis[TESELA_MAX_AXES];
  const char *name[TESELA_MAX_AXES];
} tesela__axe_order;
void tesela__axe_axes(const bool *used, tesela__axe_order *order);

#endif
