/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meeting.c - the items that live together with one, without lists of pairs: those are too many for large problems.
 *
 * Items are in the order of their first section. Those that begin while item i lives are adjacent; of the items before them, a
 * tree over blocks of items with the last section of each part finds those that still live. O(found + blocks with a found
 * item).
 */
#include "solve/arena/arena.h"

enum { MEETING_BLOCK = 16, MEETING_DEPTH = 20 }; /* 2^20 items are 2^16 blocks */

bool tesela__arena_meeting_open(tesela__arena_problem *a) {
  int32_t blocks = a->n / MEETING_BLOCK + 1;
  for (a->n_leaves = 1; a->n_leaves < blocks;) a->n_leaves *= 2;
  a->latest = tesela__alloc(&a->memory, 2 * (uint64_t)a->n_leaves * sizeof *a->latest, alignof(int32_t));
  a->list = tesela__alloc(&a->memory, ((uint64_t)a->n + 1) * sizeof *a->list, alignof(int32_t));
  if (!a->latest || !a->list) return false;
  memset(a->latest, 0, 2 * (size_t)a->n_leaves * sizeof *a->latest);
  for (int32_t i = 0; i < a->n; i++) {
    int32_t *leaf = &a->latest[a->n_leaves + i / MEETING_BLOCK];
    if (a->item[i].last > *leaf) *leaf = a->item[i].last;
  }
  for (int32_t x = a->n_leaves; x-- > 1;) {
    int32_t left = a->latest[2 * x], right = a->latest[2 * x + 1];
    a->latest[x] = left > right ? left : right;
  }
  return true;
}

typedef struct meeting_part {
  int32_t node, from, blocks; /* node of the tree; its first block; their number */
} meeting_part;

int32_t tesela__arena_meeting(tesela__arena_problem *a, int32_t i) {
  int32_t first = a->item[i].first, begin = a->start[first], end = a->start[a->item[i].last];
  int32_t n = 0, depth = 0, *list = a->list;
  meeting_part stack[MEETING_DEPTH + 2];
  stack[depth++] = (meeting_part){1, 0, a->n_leaves};
  while (depth > 0) {
    meeting_part p = stack[--depth];
    if (a->latest[p.node] <= first || p.from * MEETING_BLOCK >= begin) continue;
    if (p.blocks > 1) {
      int32_t half = p.blocks / 2;
      stack[depth++] = (meeting_part){2 * p.node + 1, p.from + half, half};
      stack[depth++] = (meeting_part){2 * p.node, p.from, half};
      continue;
    }
    int32_t j = p.from * MEETING_BLOCK, stop = j + MEETING_BLOCK < begin ? j + MEETING_BLOCK : begin;
    for (; j < stop; j++)
      if (a->item[j].last > first) list[n++] = j;
  }
  for (int32_t j = begin; j < end; j++)
    if (j != i) list[n++] = j;
  return n;
}
