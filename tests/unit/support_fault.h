/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_fault.h - an allocator that refuses memory on request, and counts pieces that were not released.
 *
 *   fault f = {.countdown = n};
 *   tesela_allocator allocator = fault_allocator(&f);
 *   ... create and destroy with it ...
 *   assert_int_equal(f.live, 0);
 */
#ifndef UNIT_SUPPORT_FAULT_H
#define UNIT_SUPPORT_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/base.h>

typedef struct fault {
  int64_t countdown;  /* allocations that succeed; below 0: all */
  int64_t live;       /* pieces not yet released */
  bool once;          /* only one allocation fails; else all later ones fail, too */
  bool dirty;         /* fill memory with 0xa5; valgrind then takes it for written */
  bool weigh;         /* count bytes; alignments up to that of max_align_t. Set before the first allocation */
  size_t limit;       /* refuse pieces of more bytes, without a countdown; 0: no limit */
  size_t bytes, most; /* live bytes, and their maximum */
} fault;

/* Uses *f until the last release. Not for several threads. Fails the test if the machine has no memory left. */
tesela_allocator fault_allocator(fault *f);

#endif
