/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_fault.h - an allocator that refuses memory on request, and counts what was not given back.
 *
 *   fault f = {.countdown = n};
 *   tesela_allocator allocator = fault_allocator(&f);
 *   ... what was made and destroyed with it ...
 *   assert_int_equal(f.live, 0);
 */
#ifndef UNIT_SUPPORT_FAULT_H
#define UNIT_SUPPORT_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/base.h>

typedef struct fault {
  int64_t countdown; /* allocations that succeed; below 0: all */
  int64_t live;      /* pieces that were not given back */
  bool once;         /* after the one that is refused, all succeed; else none does */
  bool dirty;        /* what is given is filled with 0xa5, which valgrind takes for written */
  bool weigh;   /* count the bytes; alignments up to that of max_align_t. Set before the first allocation */
  size_t limit; /* pieces of more bytes are refused, and the countdown stands still; 0: none */
  size_t bytes, most; /* live, and the most there were */
} fault;

/* Uses *f as long as it lives. Not for several threads at once. The test fails if the machine has no memory left. */
tesela_allocator fault_allocator(fault *f);

#endif
