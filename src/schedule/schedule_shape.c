/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_shape.c - the shape of an instruction as nodes in preorder, each distinct text once.
 *
 *   (f32[8,128]{1,0}, (s32[], token[]))     table 5, array, table 3, array, nothing
 */
#include <tesela/xla.h>

#include "schedule/schedule.h"

enum { SCHEDULE_DEPTH = 64 }; /* of tuples in tuples */

static bool schedule_add_node(tesela__schedule *s, tesela__schedule_node node) {
  if (!tesela__schedule_room(s, &s->node, sizeof *s->node, &s->cap_nodes, s->n_nodes, 1,
                             TESELA__SCHEDULE_MOST))
    return false;
  if (!s->broken) s->node[s->n_nodes++] = node;
  return true;
}

/* An array: its bytes, in the main memory as whole granules. */
static tesela__schedule_node schedule_array(tesela__schedule *s, tesela__span text) {
  tesela__schedule_node node = {.n = 1, .kind = TESELA__NODE_UNKNOWN};
  tesela_xla_shape shape;
  tesela_xla_sizes sizes;
  if (tesela_xla_parse(text.text, text.n, TESELA_XLA_KEEP_BARE, &shape, NULL, NULL) != TESELA_OK) return node;
  node.space = (int8_t)shape.layout.memory_space;
  if (shape.kind == TESELA_XLA_TOKEN || shape.kind == TESELA_XLA_OPAQUE) {
    node.kind = TESELA__NODE_NOTHING;
    return node;
  }
  if (tesela_xla_size(&shape, &sizes, NULL) != TESELA_OK || sizes.allocated_bytes > INT64_MAX / 4)
    return node;
  node.kind = TESELA__NODE_ARRAY;
  node.bytes = sizes.allocated_bytes;
  if (node.space == 0 && shape.rank == 0 && shape.layout.n_tiles > 0)
    s->granule = tesela__max(s->granule, node.bytes);
  if (node.space == 0)
    node.bytes = tesela__ceil_div(node.bytes, TESELA__SCHEDULE_GRANULE) * TESELA__SCHEDULE_GRANULE;
  return node;
}

/* After a comment or blanks. */
static const char *schedule_skip(const char *p, const char *end) {
  for (;;) {
    p = tesela__skip_blanks(p, end);
    if (!tesela__looking_at(p, end, "/*")) return p;
    while (p < end && !tesela__looking_at(p, end, "*/")) p++;
    p = p < end ? p + 2 : p;
  }
}

static void schedule_end_table(tesela__schedule *s, size_t at, int64_t members) {
  s->node[at].bytes = members * TESELA__SCHEDULE_POINTER;
  s->node[at].n = (int32_t)(s->n_nodes - at);
}

void tesela__schedule_size_tables(tesela__schedule *s) {
  int64_t piece = tesela__max(s->granule, TESELA__SCHEDULE_GRANULE);
  for (size_t i = 0; i < s->n_nodes; i++) {
    tesela__schedule_node *node = &s->node[i];
    if (node->kind == TESELA__NODE_TABLE)
      node->bytes = tesela__max(1, tesela__ceil_div(node->bytes, piece)) * piece;
  }
}

/* Another member of the tuple that is open; of the outermost one its place is kept. */
static bool schedule_add_member(tesela__schedule *s, size_t first, int depth, int64_t *members) {
  if (depth == 0) return true;
  members[depth - 1]++;
  if (depth > 1) return true;
  if (!tesela__schedule_room(s, &s->member, sizeof *s->member, &s->cap_members, s->n_members, 1,
                             TESELA__SCHEDULE_MOST))
    return false;
  if (!s->broken) s->member[s->n_members++] = (int32_t)(s->n_nodes - first);
  return true;
}

static bool schedule_read_shape(tesela__schedule *s, tesela__span text, int64_t line) {
  const char *p = text.text, *end = text.text + text.n;
  size_t open[SCHEDULE_DEPTH], first = s->n_nodes;
  int64_t members[SCHEDULE_DEPTH];
  int depth = 0;
  do {
    p = schedule_skip(p, end);
    if (p < end && *p == '(') {
      if (depth == SCHEDULE_DEPTH) return tesela__schedule_break(s, line, "tuples are nested too deeply");
      if (!schedule_add_member(s, first, depth, members)) return false;
      members[depth] = 0;
      open[depth++] = s->n_nodes;
      if (!schedule_add_node(s, (tesela__schedule_node){
                                    .n = 1, .kind = TESELA__NODE_TABLE, .text = (uint32_t)(p - text.text)}))
        return false;
      p++;
    } else if (p < end && *p == ')') {
      if (depth == 0) break;
      depth--;
      schedule_end_table(s, open[depth], members[depth]);
      p++;
    } else if (p < end && *p == ',' && depth > 0) {
      p++;
    } else {
      const char *array = p;
      p = tesela__skip_array(p, end);
      if (!p) return tesela__schedule_break(s, line, "a shape cannot be read");
      if (!schedule_add_member(s, first, depth, members)) return false;
      tesela__schedule_node node = schedule_array(s, tesela__between(array, p));
      node.text = (uint32_t)(array - text.text);
      if (!schedule_add_node(s, node)) return false;
    }
    if (s->broken) return true;
  } while (depth > 0 && p < end);
  if (depth > 0 || schedule_skip(p, end) != end)
    return tesela__schedule_break(s, line, "a shape cannot be read");
  return true;
}

static bool schedule_grow_shapes(tesela__schedule *s) {
  if (s->shapes && s->n_shapes < s->shapes_size / 2) return true;
  size_t size = s->shapes ? s->shapes_size * 2 : 256;
  int32_t *table = tesela__alloc(&s->memory, size * sizeof *table, alignof(int32_t));
  if (!table) return false;
  memset(table, 0xff, size * sizeof *table);
  tesela__release(&s->memory, s->shapes);
  s->shapes = table;
  s->shapes_size = size;
  for (size_t i = 0; i < s->n_shapes; i++) {
    size_t at = (size_t)s->shape[i].hash & (size - 1);
    while (table[at] >= 0) at = (at + 1) & (size - 1);
    table[at] = (int32_t)i;
  }
  return true;
}

bool tesela__schedule_find_shape(tesela__schedule *s, tesela__span text, int64_t line, int32_t *number) {
  uint64_t hash = tesela__text_hash(text.text, text.n);
  if (!schedule_grow_shapes(s)) return false;
  size_t at = (size_t)hash & (s->shapes_size - 1);
  for (; s->shapes[at] >= 0; at = (at + 1) & (s->shapes_size - 1)) {
    const tesela__schedule_shape *shape = &s->shape[s->shapes[at]];
    if (shape->hash != hash || shape->length != text.n ||
        memcmp(s->text + shape->text, text.text, text.n) != 0)
      continue;
    *number = s->shapes[at];
    return true;
  }
  *number = -1;
  tesela__schedule_shape shape = {.hash = hash,
                                  .length = (uint32_t)text.n,
                                  .first = (int32_t)s->n_nodes,
                                  .member = (int32_t)s->n_members};
  if (!tesela__schedule_text(s, text, &shape.text) || (!s->broken && !schedule_read_shape(s, text, line)))
    return false;
  if (!tesela__schedule_room(s, &s->shape, sizeof *s->shape, &s->cap_shapes, s->n_shapes, 1,
                             TESELA__SCHEDULE_MOST))
    return false;
  if (s->broken) return true;
  shape.n = (int32_t)s->n_nodes - shape.first;
  shape.n_members = (int32_t)s->n_members - shape.member;
  s->shapes[at] = *number = (int32_t)s->n_shapes;
  s->shape[s->n_shapes++] = shape;
  return true;
}
