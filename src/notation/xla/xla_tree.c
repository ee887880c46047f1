/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_tree.c - text <-> trees of shapes.
 *
 * The text is read twice: first to check and count, then to fill memory that is allocated in one piece. So a wrong text
 * allocates nothing, and a correct one no more than its nodes need.
 */
#include "notation/xla/xla_tree.h"

#include "notation/xla/xla_print.h"
#include "notation/xla/xla_read.h"
#include "xla/xla_shape_tree.h"

/* ---- building ---- */

tesela__xla_builder tesela__xla_builder_make(tesela_xla_tree *tree) {
  return (tesela__xla_builder){.tree = tree, .open = -1};
}

/* Add a node; a tuple becomes the open one. */
static tesela_status xla_add_node(tesela__xla_reader *reader, tesela__xla_builder *builder, bool tuple) {
  int32_t n = builder->n_nodes;
  if (n == INT32_MAX)
    return tesela__fail(reader->in.err, TESELA_E_LIMIT, (int64_t)reader->in.at, "more than %d nodes",
                        INT32_MAX);
  builder->n_nodes++;
  builder->n_leaves += !tuple;
  if (!builder->tree) return TESELA_OK;
  tesela__xla_node *all = builder->tree->node, *node = &all[n];
  *node = (tesela__xla_node){TESELA_XLA_TUPLE, builder->open, n + 1, 0, 0, -1};
  if (builder->open >= 0) node->member = all[builder->open].n_members++;
  if (tuple) {
    builder->open = n;
  } else {
    node->leaf = builder->n_leaves - 1;
    node->kind = builder->tree->leaf[node->leaf].kind;
  }
  return TESELA_OK;
}

static void xla_close_node(tesela__xla_builder *builder) {
  if (!builder->tree) return;
  tesela__xla_node *node = &builder->tree->node[builder->open];
  node->next = builder->n_nodes;
  builder->open = node->parent;
}

tesela_status tesela__xla_build(tesela__xla_reader *reader, tesela__xla_builder *builder) {
  tesela_xla_shape spare; /* for a leaf that is only counted */
  reader->place = TESELA__XLA_MEMBER;
  for (;;) {
    tesela__xla_event event;
    bool room = builder->tree && builder->n_leaves < builder->tree->n_leaves;
    tesela_status status =
        tesela__xla_next(reader, room ? &builder->tree->leaf[builder->n_leaves] : &spare, &event);
    if (status != TESELA_OK || event == TESELA__XLA_END) return status;
    if (event == TESELA__XLA_CLOSE)
      xla_close_node(builder);
    else
      status = xla_add_node(reader, builder, event == TESELA__XLA_OPEN);
    if (status != TESELA_OK) return status;
  }
}

tesela_status tesela__xla_build_tuple(tesela__xla_reader *reader, tesela__xla_builder *builder, char close,
                                      tesela__xla_member_read *read, void *user) {
  bool more = !tesela__read_take(&reader->in, close);
  tesela_status status = xla_add_node(reader, builder, true);
  while (status == TESELA_OK && more) {
    status = read(reader, user);
    if (status == TESELA_OK) status = tesela__xla_build(reader, builder);
    if (status == TESELA_OK) status = tesela__xla_more(reader, close, &more);
  }
  if (status == TESELA_OK) xla_close_node(builder);
  return status;
}

/* ---- reading ---- */

typedef tesela_status xla_tree_read(tesela__xla_reader *reader, tesela__xla_builder *builder);

static tesela_status xla_read_one(tesela__xla_reader *reader, tesela__xla_builder *builder) {
  tesela_status status = tesela__xla_build(reader, builder);
  return status == TESELA_OK ? tesela__xla_end(reader, "the shape") : status;
}

static tesela_status xla_no_name(tesela__xla_reader *reader, void *user) {
  (void)reader;
  (void)user;
  return TESELA_OK;
}

static tesela_status xla_read_list(tesela__xla_reader *reader, tesela__xla_builder *builder) {
  tesela_status status = tesela__read_expect(&reader->in, '{', "of a list of shapes");
  if (status == TESELA_OK) status = tesela__xla_build_tuple(reader, builder, '}', xla_no_name, NULL);
  return status == TESELA_OK ? tesela__xla_end(reader, "the list") : status;
}

static tesela_status xla_create_tree(tesela_xla_tree **tree, xla_tree_read *read, const char *text,
                                     size_t length, int32_t flags, const tesela_allocator *allocator,
                                     tesela_xla_repairs *repairs, tesela_error *err) {
  tesela_xla_repairs noted;
  tesela__xla_builder count = tesela__xla_builder_make(NULL);
  tesela__xla_reader reader = tesela__xla_reader_make(text, length, flags, &noted, err);
  tesela_status status = read(&reader, &count);
  if (status != TESELA_OK) return status;
  tesela_xla_tree *made = tesela__xla_tree_alloc(allocator, count.n_nodes, count.n_leaves);
  if (!made)
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a tree of %" PRId32 " nodes", count.n_nodes);
  tesela__xla_builder fill = tesela__xla_builder_make(made);
  reader = tesela__xla_reader_make(text, length, flags, NULL, NULL);
  read(&reader, &fill); /* the same text, so it cannot fail */
  tesela__xla_repairs_copy(repairs, &noted);
  *tree = made;
  return TESELA_OK;
}

tesela_status tesela_xla_tree_create(tesela_xla_tree **tree, const char *text, size_t length, int32_t flags,
                                     const tesela_allocator *allocator, tesela_xla_repairs *repairs,
                                     tesela_error *err) {
  TESELA__NEED(err, tree);
  TESELA__NEED_LIST(err, text, length);
  return xla_create_tree(tree, xla_read_one, text, length, flags, allocator, repairs, err);
}

tesela_status tesela_xla_tree_create_list(tesela_xla_tree **tree, const char *text, size_t length,
                                          int32_t flags, const tesela_allocator *allocator,
                                          tesela_xla_repairs *repairs, tesela_error *err) {
  TESELA__NEED(err, tree);
  TESELA__NEED_LIST(err, text, length);
  return xla_create_tree(tree, xla_read_list, text, length, flags, allocator, repairs, err);
}

/* ---- printing ---- */

void tesela__xla_put_node(tesela__sink *sink, const tesela_xla_tree *tree, int32_t first, bool with_layout) {
  int32_t open = -1, end = tree->node[first].next;
  for (int32_t i = first; i <= end; i++) {
    for (; open >= first && tree->node[open].next == i; open = tree->node[open].parent)
      tesela__putc(sink, ')');
    if (i == end) return;
    const tesela__xla_node *node = &tree->node[i];
    if (i > first) tesela__xla_put_separator(sink, node->member);
    if (node->leaf >= 0) {
      tesela__xla_put_shape(sink, &tree->leaf[node->leaf], with_layout);
      continue;
    }
    tesela__putc(sink, '(');
    open = i;
  }
}

tesela_status tesela_xla_tree_print(const tesela_xla_tree *tree, bool with_layout, const tesela_writer *to,
                                    tesela_error *err) {
  TESELA__NEED(err, tree, to);
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  tesela__xla_put_node(&sink, tree, 0, with_layout);
  return tesela__sink_finish(&sink, err);
}
