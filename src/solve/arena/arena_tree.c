/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena_tree.c - disjoint spans of bytes by their start, and the first one of a size: a treap that knows the longest span
 *          below each node.
 *
 * Ranks are a fixed pseudo-random sequence, so that equal calls build equal trees. No recursion: nodes know their parent.
 * Every operation is O(log n) expected.
 */
#include "solve/arena/arena.h"

bool tesela__arena_tree_open(tesela__arena_tree *tree, int32_t most, const tesela_allocator *memory) {
  *tree = (tesela__arena_tree){.root = -1, .spare = -1, .seed = 2463534242u};
  tree->node = tesela__alloc(memory, (uint64_t)most * sizeof *tree->node, alignof(tesela__arena_span));
  return tree->node != NULL;
}

static void span_refresh(tesela__arena_tree *tree, int32_t x) {
  tesela__arena_span *s = &tree->node[x];
  s->longest = s->end - s->start;
  if (s->left >= 0) s->longest = tesela__max(s->longest, tree->node[s->left].longest);
  if (s->right >= 0) s->longest = tesela__max(s->longest, tree->node[s->right].longest);
}

static void span_refresh_up(tesela__arena_tree *tree, int32_t x) {
  for (; x >= 0; x = tree->node[x].up) span_refresh(tree, x);
}

/* Replace x by `y` (may be -1) under its parent. */
static void span_replace(tesela__arena_tree *tree, int32_t x, int32_t y) {
  int32_t up = tree->node[x].up;
  if (up < 0)
    tree->root = y;
  else if (tree->node[up].left == x)
    tree->node[up].left = y;
  else
    tree->node[up].right = y;
  if (y >= 0) tree->node[y].up = up;
}

/* Rotate x above its parent. */
static void span_lift(tesela__arena_tree *tree, int32_t x) {
  tesela__arena_span *s = tree->node;
  int32_t p = s[x].up, moved;
  span_replace(tree, p, x);
  if (s[p].left == x) {
    moved = s[p].left = s[x].right;
    s[x].right = p;
  } else {
    moved = s[p].right = s[x].left;
    s[x].left = p;
  }
  if (moved >= 0) s[moved].up = p;
  s[p].up = x;
  span_refresh(tree, p);
  span_refresh(tree, x);
}

int32_t tesela__arena_tree_insert(tesela__arena_tree *tree, int64_t start, int64_t end, int32_t item) {
  int32_t x = tree->spare, up = -1;
  if (x >= 0)
    tree->spare = tree->node[x].up;
  else
    x = tree->used++;
  tree->seed ^= tree->seed << 13;
  tree->seed ^= tree->seed >> 17;
  tree->seed ^= tree->seed << 5;
  for (int32_t y = tree->root; y >= 0;) {
    up = y;
    y = start < tree->node[y].start ? tree->node[y].left : tree->node[y].right;
  }
  tree->node[x] = (tesela__arena_span){start, end, end - start, up, -1, -1, item, tree->seed};
  if (up < 0)
    tree->root = x;
  else if (start < tree->node[up].start)
    tree->node[up].left = x;
  else
    tree->node[up].right = x;
  while (tree->node[x].up >= 0 && tree->node[tree->node[x].up].rank < tree->node[x].rank) span_lift(tree, x);
  span_refresh_up(tree, x);
  return x;
}

void tesela__arena_tree_remove(tesela__arena_tree *tree, int32_t node) {
  tesela__arena_span *s = tree->node;
  while (s[node].left >= 0 && s[node].right >= 0)
    span_lift(tree, s[s[node].left].rank > s[s[node].right].rank ? s[node].left : s[node].right);
  int32_t up = s[node].up;
  span_replace(tree, node, s[node].left >= 0 ? s[node].left : s[node].right);
  span_refresh_up(tree, up);
  s[node].up = tree->spare;
  tree->spare = node;
}

int32_t tesela__arena_tree_before(const tesela__arena_tree *tree, int64_t at) {
  int32_t found = -1;
  for (int32_t x = tree->root; x >= 0;) {
    if (tree->node[x].start <= at) {
      found = x;
      x = tree->node[x].right;
    } else {
      x = tree->node[x].left;
    }
  }
  return found;
}

/* The nearest ancestor with x in its left subtree. */
static int32_t span_above(const tesela__arena_tree *tree, int32_t x) {
  int32_t up = tree->node[x].up;
  while (up >= 0 && tree->node[up].right == x) {
    x = up;
    up = tree->node[x].up;
  }
  return up;
}

int32_t tesela__arena_tree_next(const tesela__arena_tree *tree, int32_t node) {
  int32_t x = node < 0 ? tree->root : tree->node[node].right;
  if (node >= 0 && x < 0) return span_above(tree, node);
  while (x >= 0 && tree->node[x].left >= 0) x = tree->node[x].left;
  return x;
}

int32_t tesela__arena_tree_fit(const tesela__arena_tree *tree, int32_t node, int64_t size) {
  const tesela__arena_span *s = tree->node;
  int32_t below = node < 0 ? tree->root : s[node].right;
  for (;;) {
    while (below >= 0 && s[below].longest >= size) {
      if (s[below].left >= 0 && s[s[below].left].longest >= size)
        below = s[below].left;
      else if (s[below].end - s[below].start >= size)
        return below;
      else
        below = s[below].right;
    }
    node = node < 0 ? -1 : span_above(tree, node);
    if (node < 0 || s[node].end - s[node].start >= size) return node;
    below = s[node].right;
  }
}
