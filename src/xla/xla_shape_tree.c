/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_shape_tree.c - shapes with tuples: nodes in reading order, each with its parent and the end of its subtree.
 *
 *   (f32[2], (s32[]))    0 tuple    1 f32[2]    2 tuple    3 s32[]
 *              parent     -1         0           0          2
 *              next        4         2           4          4
 *
 * Each function is one pass over the list. A tree never changes; an edit makes a new tree.
 */
#include "xla/xla_shape_tree.h"

#include "base/base.h"
#include "xla/validate.h"

/* ---- memory ---- */

tesela_xla_tree *tesela__xla_tree_alloc(const tesela_allocator *allocator, int32_t n_nodes,
                                        int32_t n_leaves) {
  tesela_allocator from = tesela__allocator(allocator);
  size_t leaves_at = sizeof(tesela_xla_tree);
  uint64_t nodes_at = leaves_at + (uint64_t)n_leaves * sizeof(tesela_xla_shape);
  char *block =
      tesela__alloc(&from, nodes_at + (uint64_t)n_nodes * sizeof(tesela__xla_node), alignof(max_align_t));
  if (!block) return NULL;
  tesela_xla_tree *tree = (tesela_xla_tree *)(void *)block;
  tree->allocator = from;
  tree->n_nodes = n_nodes;
  tree->n_leaves = n_leaves;
  tree->leaf = (tesela_xla_shape *)(void *)(block + leaves_at);
  tree->node = (tesela__xla_node *)(void *)(block + nodes_at);
  return tree;
}

void tesela_xla_tree_destroy(tesela_xla_tree *tree) {
  if (!tree) return;
  tesela_allocator allocator = tree->allocator;
  tesela__release(&allocator, tree);
}

/* ---- reading ---------- */

int32_t tesela_xla_tree_count(const tesela_xla_tree *tree) { return tree ? tree->n_nodes : 0; }

tesela_xla_node tesela_xla_tree_node(const tesela_xla_tree *tree, int32_t i) {
  if (!tree) return (tesela_xla_node){0};
  const tesela__xla_node *node = &tree->node[i];
  return (tesela_xla_node){.kind = node->kind,
                           .parent = node->parent,
                           .next = node->next,
                           .n_members = node->n_members,
                           .shape = node->leaf < 0 ? NULL : &tree->leaf[node->leaf]};
}

static bool xla_has_elements(const tesela_xla_shape *shape) {
  return shape->kind == TESELA_XLA_ARRAY || shape->kind == TESELA_XLA_BUFFER;
}

tesela_status tesela_xla_tree_bytes(const tesela_xla_tree *tree, int64_t *bytes, int64_t *allocated,
                                    tesela_error *err) {
  TESELA__NEED(err, tree, bytes, allocated);
  int64_t sum = 0, sum_allocated = 0;
  for (int32_t i = 0; i < tree->n_leaves; i++) {
    tesela_xla_sizes sizes;
    if (!xla_has_elements(&tree->leaf[i])) continue;
    tesela_status status = tesela_xla_size(&tree->leaf[i], &sizes, err);
    if (status != TESELA_OK) return status;
    if (!tesela__add(sum, sizes.bytes, &sum) ||
        !tesela__add(sum_allocated, sizes.allocated_bytes, &sum_allocated))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the bytes of all %" PRId32 " leaves exceed 64 bits",
                          tree->n_leaves);
  }
  *bytes = sum;
  *allocated = sum_allocated;
  return TESELA_OK;
}

/* Are the tuples the same, ignoring leaves? Otherwise *at is the first node that differs. */
static bool xla_same_structure(const tesela_xla_tree *a, const tesela_xla_tree *b, int32_t *at) {
  int32_t n = a->n_nodes < b->n_nodes ? a->n_nodes : b->n_nodes;
  for (*at = 0; *at < n; (*at)++) {
    const tesela__xla_node *x = &a->node[*at], *y = &b->node[*at];
    if ((x->leaf < 0) != (y->leaf < 0) || x->n_members != y->n_members) return false;
  }
  return a->n_nodes == b->n_nodes;
}

/* ---- leaves by kind ------------ */

typedef bool xla_leaf_test(const tesela_xla_shape *shape);

static bool xla_leaf_has_layout(const tesela_xla_shape *shape) { return shape->has_layout; }
static bool xla_leaf_lacks_layout(const tesela_xla_shape *shape) { return !shape->has_layout; }
static bool xla_leaf_has_bits(const tesela_xla_shape *shape) { return shape->layout.element_bits != 0; }
static bool xla_leaf_has_tiles(const tesela_xla_shape *shape) { return shape->layout.n_tiles > 0; }

static bool xla_any_leaf(const tesela_xla_tree *tree, xla_leaf_test *test) {
  for (int32_t i = 0; i < tree->n_leaves; i++)
    if (xla_has_elements(&tree->leaf[i]) && test(&tree->leaf[i])) return true;
  return false;
}

bool tesela_xla_tree_has_layout(const tesela_xla_tree *tree) {
  return tree && !xla_any_leaf(tree, xla_leaf_lacks_layout);
}
bool tesela_xla_tree_has_any_layout(const tesela_xla_tree *tree) {
  return tree && xla_any_leaf(tree, xla_leaf_has_layout);
}
bool tesela_xla_tree_has_element_bits(const tesela_xla_tree *tree) {
  return tree && xla_any_leaf(tree, xla_leaf_has_bits);
}

/* ---- comparison ---- */

tesela_status tesela_xla_tree_equal(const tesela_xla_tree *a, const tesela_xla_tree *b, uint32_t ignore,
                                    bool *equal, tesela_error *err) {
  TESELA__NEED(err, a, b, equal);
  int32_t at;
  (void)err;
  if (ignore & TESELA_XLA_ORDER_IF_UNTILED) { /* ORDER_IF_UNTILED applies to the whole tree */
    bool tiled = xla_any_leaf(a, xla_leaf_has_tiles) && xla_any_leaf(b, xla_leaf_has_tiles);
    ignore &= ~(uint32_t)TESELA_XLA_ORDER_IF_UNTILED;
    if (!tiled) ignore |= TESELA_XLA_ORDER_ONLY;
  }
  *equal = xla_same_structure(a, b, &at);
  for (int32_t i = 0; *equal && i < a->n_leaves; i++)
    *equal = tesela_xla_shape_equal(&a->leaf[i], &b->leaf[i], ignore);
  return TESELA_OK;
}

/* ---- new trees from old ones ---- */

static tesela_xla_tree *tree_clone(const tesela_xla_tree *tree, const tesela_allocator *allocator,
                                   tesela_error *err) {
  tesela_xla_tree *clone = tesela__xla_tree_alloc(allocator, tree->n_nodes, tree->n_leaves);
  if (!clone) {
    tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a tree of %" PRId32 " nodes", tree->n_nodes);
    return NULL;
  }
  memcpy(clone->node, tree->node, (size_t)tree->n_nodes * sizeof *tree->node);
  for (int32_t i = 0; i < tree->n_leaves; i++) tesela__xla_shape_copy(&clone->leaf[i], &tree->leaf[i]);
  return clone;
}

static tesela_status tree_plain(tesela_xla_tree **out, const tesela_xla_tree *tree, bool has_layout,
                                const tesela_allocator *allocator, tesela_error *err) {
  tesela_xla_tree *clone = tree_clone(tree, allocator, err);
  if (!clone) return TESELA_E_MEMORY;
  for (int32_t i = 0; i < clone->n_leaves; i++) {
    tesela_xla_shape *shape = &clone->leaf[i];
    if (!xla_has_elements(shape)) continue;
    shape->has_layout = has_layout || shape->rank == 0; /* f32[] prints the same with and without a layout */
    tesela__xla_layout_default(&shape->layout, shape->rank);
  }
  *out = clone;
  return TESELA_OK;
}

tesela_status tesela_xla_tree_with_default_layouts(tesela_xla_tree **out, const tesela_xla_tree *tree,
                                                   const tesela_allocator *allocator, tesela_error *err) {
  TESELA__NEED(err, out, tree);
  return tree_plain(out, tree, true, allocator, err);
}

tesela_status tesela_xla_tree_clear_layouts(tesela_xla_tree **out, const tesela_xla_tree *tree,
                                            const tesela_allocator *allocator, tesela_error *err) {
  TESELA__NEED(err, out, tree);
  return tree_plain(out, tree, false, allocator, err);
}

/* Copy the layout of `from` to a leaf; `leaf` is its number, for errors. */
static tesela_status xla_take_layout(tesela_xla_shape *to, const tesela_xla_shape *from, int32_t leaf,
                                     tesela_error *err) {
  tesela__xla_fault fault;
  tesela_error why;
  if (xla_has_elements(to) != xla_has_elements(from) || to->rank != from->rank)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "leaf %" PRId32 " has %" PRId32 " dims here and %" PRId32
                        " in the tree of layouts, or is not an array",
                        leaf, to->rank, from->rank);
  to->has_layout = from->has_layout;
  tesela__xla_layout_copy(&to->layout, &from->layout);
  tesela_status status = tesela__xla_check_shape(to, &fault, &why);
  return status == TESELA_OK ? status
                             : tesela__fail(err, status, -1, "leaf %" PRId32 ": %s", leaf, why.message);
}

tesela_status tesela_xla_tree_copy_layouts(tesela_xla_tree **out, const tesela_xla_tree *shapes,
                                           const tesela_xla_tree *layouts, const tesela_allocator *allocator,
                                           tesela_error *err) {
  TESELA__NEED(err, out, shapes, layouts);
  int32_t at;
  if (!xla_same_structure(shapes, layouts, &at))
    return tesela__fail(err, TESELA_E_MISMATCH, -1, "the tuples differ, first at node %" PRId32, at);
  tesela_xla_tree *clone = tree_clone(shapes, allocator, err);
  if (!clone) return TESELA_E_MEMORY;
  tesela_status status = TESELA_OK;
  for (int32_t i = 0; i < clone->n_leaves && status == TESELA_OK; i++)
    status = xla_take_layout(&clone->leaf[i], &layouts->leaf[i], i, err);
  if (status != TESELA_OK) {
    tesela_xla_tree_destroy(clone);
    return status;
  }
  *out = clone;
  return TESELA_OK;
}
