/* SPDX-License-Identifier: Apache-2.0 */
/* same_tuple.c - see same_tuple.h. */
#include "same_tuple.h"

#include <inttypes.h>
#include <stdio.h>

enum { MAX_PATH = 32 };

/* The members that lead to a node, the last MAX_PATH of them. */
void same_name_member(same_comparison *c) {
  int32_t members[MAX_PATH], n = 0, node = c->node;
  const tesela_xla_tree *tree = c->a.tree;
  for (; node > 0 && n < MAX_PATH; node = tesela_xla_tree_node(tree, node).parent) {
    members[n] = 0;
    for (int32_t i = tesela_xla_tree_node(tree, node).parent + 1; i < node;
         i = tesela_xla_tree_node(tree, i).next)
      members[n]++;
    n++;
  }
  size_t used = (size_t)snprintf(c->member, SAME_PATH, "%s", node > 0 ? "..," : "");
  while (n-- > 0)
    used +=
        (size_t)snprintf(c->member + used, SAME_PATH - used, "%" PRId32 "%s", members[n], n > 0 ? "," : "");
}

static const char *noun(const tesela_xla_node *node) {
  if (node->kind == TESELA_XLA_TUPLE) return "a tuple";
  if (node->kind == TESELA_XLA_TOKEN) return "a token";
  return node->kind == TESELA_XLA_OPAQUE ? "an opaque" : "an array";
}

static bool is_array(const tesela_xla_node *node) {
  return node->kind == TESELA_XLA_ARRAY || node->kind == TESELA_XLA_BUFFER;
}

/* Are both of one kind, tuples of one length? Otherwise c->d has the reason. */
static bool same_structure(same_comparison *c, const tesela_xla_node *a, const tesela_xla_node *b) {
  c->d = (tesela_difference){.same = a->kind == b->kind || (is_array(a) && is_array(b))};
  if (!c->d.same)
    snprintf(c->d.reason, sizeof c->d.reason, "%s in a, %s in b", noun(a), noun(b));
  else if (a->kind == TESELA_XLA_TUPLE && a->n_members != b->n_members) {
    c->d.same = false;
    snprintf(c->d.reason, sizeof c->d.reason, "%" PRId32 " member%s in a, %" PRId32 " in b", a->n_members,
             a->n_members == 1 ? "" : "s", b->n_members);
  }
  c->d.same_extent = c->d.same;
  return c->d.same;
}

/* Put the member before the message. */
static tesela_status fail_member(same_comparison *c, const char *of, tesela_error *err) {
  char text[sizeof err->message];
  if (!same_is_tuple(c)) return err->status;
  same_name_member(c);
  snprintf(text, sizeof text, "%s", err->message);
  snprintf(err->message, sizeof err->message, "member {%.60s}%s: %.150s", c->member, of, text);
  err->at = -1;
  return err->status;
}

static tesela_status compare_arrays(same_comparison *c, const tesela_xla_shape *a, const tesela_xla_shape *b,
                                    tesela_error *err) {
  tesela_difference *d = &c->d;
  if (tesela_xla_to_layout(a, &c->a.layout, err) != TESELA_OK) return fail_member(c, " of A", err);
  if (tesela_xla_to_layout(b, &c->b.layout, err) != TESELA_OK) return fail_member(c, " of B", err);
  if (tesela_layout_compare(&c->a.layout, &c->b.layout, d, err) != TESELA_OK) return fail_member(c, "", err);
  if (d->have_index && (tesela_layout_place_of(&c->a.layout, d->index, &c->a.place, err) != TESELA_OK ||
                        tesela_layout_place_of(&c->b.layout, d->index, &c->b.place, err) != TESELA_OK))
    return fail_member(c, "", err);
  return TESELA_OK;
}

bool same_is_tuple(const same_comparison *c) {
  return tesela_xla_tree_node(c->a.tree, 0).kind == TESELA_XLA_TUPLE ||
         tesela_xla_tree_node(c->b.tree, 0).kind == TESELA_XLA_TUPLE;
}

tesela_status same_compare_trees(same_comparison *c, tesela_error *err) {
  bool same_size = true;
  tesela_status status = TESELA_OK;
  c->d.same = true;
  for (int32_t i = 0; i < tesela_xla_tree_count(c->a.tree) && status == TESELA_OK && c->d.same; i++) {
    tesela_xla_node a = tesela_xla_tree_node(c->a.tree, i), b = tesela_xla_tree_node(c->b.tree, i);
    c->node = i;
    if (same_structure(c, &a, &b) && is_array(&a)) status = compare_arrays(c, a.shape, b.shape, err);
    same_size = same_size && c->d.same_extent;
  }
  if (!c->d.same && same_is_tuple(c)) same_name_member(c);
  c->d.same_extent = same_size;
  return status;
}
