/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_kernels.h - random cases for kernels, and two arenas between inaccessible pages. Test programs that include
 * this fill `want` with the expected bytes and call check_dst.
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
extern unsigned char before[ARENA];          /* contents of dst_arena and want after reset_dst */
extern unsigned char want[ARENA];
extern uint64_t kernel_seed; /* see support_seed.h */

int set_up_arenas(void **unused); /* for cmocka_run_group_tests */
void fill_src(void);              /* random bytes in src_arena */
void protect_src(bool on);        /* `on`: writing it is a fault */
void reset_dst(void);

uint64_t next(void);             /* 64 random bits */
int64_t below(int64_t n);        /* 0 <= it < n */
int64_t draw_size(int64_t most); /* 1 to `most`; often short, or round plus or minus one */
int64_t place(int64_t size); /* a start for `size` bytes: at the begin or the end of an arena, or anywhere */

/* Fail unless dst_arena is equal to `want`. */
void check_dst(const tesela__kernel *kernel, const char *what);

typedef void try_fn(const tesela__kernel *);
/* Run `trials` trials with every kernel of the kinds `first` to `last` that this CPU can run. */
void try_kinds(tesela__kernel_kind first, tesela__kernel_kind last, try_fn *try, int trials);

#endif
