/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_kernels.h - random cases for kernels, and two arenas whose ends are followed by memory that may not be
 * touched. Test programs that include this say what has to be in `want` and call check_dst.
 */
#ifndef UNIT_SUPPORT_KERNELS_H
#define UNIT_SUPPORT_KERNELS_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/kernels.h"

enum { ARENA = 1 << 16 };

extern unsigned char *dst_arena, *src_arena; /* ARENA bytes each, guarded on both sides */
extern unsigned char before[ARENA];          /* what reset_dst leaves in dst_arena and want */
extern unsigned char want[ARENA];
extern uint64_t kernel_seed; /* see support_seed.h */

int set_up_arenas(void **unused); /* for cmocka_run_group_tests */
void fill_src(void);              /* new numbers in src_arena */
void protect_src(bool on);        /* whether writing it is a fault */
void reset_dst(void);

uint64_t next(void);             /* 64 random bits */
int64_t below(int64_t n);        /* 0 <= it < n */
int64_t draw_size(int64_t most); /* 1 to `most`: short ones, and round ones give or take one, come up often */
int64_t
place(int64_t size); /* where `size` bytes go in an arena: flush against its end or its begin, or somewhere */

/* Fail unless all of dst_arena is as `want` says. */
void check_dst(const tesela__kernel *kernel, const char *what);

typedef void try_fn(const tesela__kernel *);
/* `trials` times with every kernel of the kinds from `first` to `last` that this CPU can run. */
void try_kinds(tesela__kernel_kind first, tesela__kernel_kind last, try_fn *try, int trials);

#endif
