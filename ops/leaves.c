/* SPDX-License-Identifier: Apache-2.0 */
/* leaves.c - see leaves.h. */
#include "leaves.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_PATH = 32 };

bool number_members(tuple *t) {
  t->count = tesela_xla_tree_count(t->tree);
  t->member = calloc((size_t)t->count * 2, sizeof *t->member);
  if (!t->member) return false;
  int32_t *seen = t->member + t->count;
  for (int32_t i = 1; i < t->count; i++) t->member[i] = seen[tesela_xla_tree_node(t->tree, i).parent]++;
  return true;
}

/* The members that lead to a node, the last MAX_PATH of them. */
static void path_of(const tuple *t, int32_t node, show_text *path) {
  int32_t members[MAX_PATH], n = 0;
  for (; node > 0 && n < MAX_PATH; node = tesela_xla_tree_node(t->tree, node).parent)
    members[n++] = t->member[node];
  path->length = 0;
  path->text[0] = '\0';
  if (node > 0) show_add(path, "..,");
  while (n-- > 0) show_add(path, "%" PRId32 "%s", members[n], n > 0 ? "," : "");
}

bool next_leaf(const tuple *t, int32_t *node, leaf *out) {
  for (; *node < t->count; ++*node) {
    out->shape = tesela_xla_tree_node(t->tree, *node).shape;
    if (!out->shape) continue;
    path_of(t, *node, &out->path);
    out->sized = show_facts_of(out->shape, &out->facts, NULL) == TESELA_OK;
    ++*node;
    return true;
  }
  return false;
}
