/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_hlo_run.h - random modules of one instruction, read and run; the test has the expected result.
 */
#ifndef TESELA_TESTS_SUPPORT_HLO_RUN_H
#define TESELA_TESTS_SUPPORT_HLO_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tesela/tesela.h>

enum { HLO_RANK = 8, HLO_MOST = 1 << 14, HLO_TENSORS = 4 };

/* A tensor of whole numbers, row-major. */
typedef struct hlo_tensor {
  int32_t rank;
  int64_t shape[HLO_RANK];
  int64_t at[HLO_MOST];
} hlo_tensor;

/* A module under construction. */
typedef struct hlo_case {
  uint64_t state;  /* of the random numbers */
  char text[8192]; /* the root instruction, without name and shape */
  size_t length;
  const char *in_front, *lines; /* computations; instructions before the root; or NULL */
  int32_t n;                    /* parameters p0, p1, ..: f32, except `indices` */
  hlo_tensor in[HLO_TENSORS], want;
  bool index[HLO_TENSORS], want_index; /* s32 */
} hlo_case;

int64_t hlo_below(hlo_case *c, int64_t n);
int64_t hlo_count(const hlo_tensor *t);
/* The next index of a shape, row-major. False after the last, with all indices 0 again. */
bool hlo_step(int32_t rank, const int64_t *shape, int64_t *index);
int64_t *hlo_at(hlo_tensor *t, const int64_t *index);
bool hlo_inside(const hlo_tensor *t, const int64_t *index);
/* Small whole numbers. */
void hlo_fill(hlo_case *c, hlo_tensor *t, int64_t below);
void hlo_put(hlo_case *c, const char *format, ...);
/* `key={1,2}` */
void hlo_put_list(hlo_case *c, const char *key, int32_t n, const int32_t *list);
/* 0 .. n-1 in random order. */
void hlo_shuffle(hlo_case *c, int32_t n, int32_t *list);

/* Read the module and run it on plain and, with layouts, on tiled tensors: the result must be c->want, without a
 * fallback, and the program must survive a round trip through HLO text. `name` and `number` are for messages. */
void hlo_check(hlo_case *c, const char *name, uint64_t number);

#endif
