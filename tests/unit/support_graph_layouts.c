/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_graph_layouts.c - random layouts for the buffers of a program, and the places of elements by definition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device_oracle.h"
#include "support_graph_random.h"

enum { RANK = TESELA_GRAPH_RANK };

/* Tiles of tiles, with copies and holes between them; the last dim is lanes of some host dim. */
static bool tiled_layout(tesela_device_layout *layout, const tesela_device_host *host, uint64_t *state) {
  tesela_device_dim dim[TESELA_DEVICE_DIMS];
  int32_t n = 0, stick = (int32_t)random_below(state, host->rank);
  int64_t lanes = host->stick_bytes * 8 / host->device_bits;
  for (int32_t d = 0; d < host->rank; d++) {
    int64_t extent = host->shape[d], step = d == stick ? lanes : 1, blocks = (extent + step - 1) / step;
    int64_t t = 1 + random_below(state, 4);
    if (t > 1 && random_below(state, 2)) {
      dim[n++] = (tesela_device_dim){(blocks + t - 1) / t + random_below(state, 2), step * t, 0, d};
      dim[n++] = (tesela_device_dim){t, step, 0, d};
    } else {
      dim[n++] = (tesela_device_dim){blocks + random_below(state, 2), step, 0, d};
    }
  }
  if (random_below(state, 4) == 0) dim[n++] = (tesela_device_dim){2, 0, 0, TESELA_DIM_REPLICATED};
  if (random_below(state, 4) == 0) dim[n++] = (tesela_device_dim){3, 0, 0, TESELA_DIM_SYNTHETIC};
  for (int32_t i = n - 1; i > 0; i--) {
    int32_t k = (int32_t)random_below(state, i + 1);
    tesela_device_dim swap = dim[i];
    dim[i] = dim[k], dim[k] = swap;
  }
  dim[n++] = (tesela_device_dim){lanes, 1, 0, stick};
  return tesela_device_from_dims(layout, host, n, dim, false, 1, NULL) == TESELA_OK;
}

void random_layout(tesela_device_layout *layout, const tesela_target *target, tesela_dtype dtype,
                   int32_t rank, const int64_t *shape, uint64_t *state) {
  tesela_device_host host;
  tesela_device_padding padding = {{0}};
  int32_t order[RANK + 1], n = rank;
  tesela_error err;
  if (tesela_device_host_of(&host, target, dtype, rank, shape, &err) != TESELA_OK)
    fail_msg("%s", err.message);
  for (int32_t d = 0; d < rank; d++) {
    int32_t k = (int32_t)random_below(state, d + 1);
    order[d] = order[k];
    order[k] = d;
    if (random_below(state, 4) == 0) padding.to[d] = shape[d] + random_below(state, 9);
  }
  int64_t kind = random_below(state, 7);
  if (rank > 0 && kind == 0 && tiled_layout(layout, &host, state)) return;
  if (rank == 0 || kind == 1) {
    int32_t stick =
        rank == 0 || random_below(state, 3) == 0 ? TESELA_STICK_SPARSE : (int32_t)random_below(state, rank);
    if (tesela_device_with_stick(layout, &host, target, stick, &err) != TESELA_OK)
      fail_msg("%s", err.message);
    return;
  }
  if (kind == 2) order[n++] = TESELA_STICK_SPARSE;
  static const tesela_order orders[] = {TESELA_ORDER_GENERIC, TESELA_ORDER_STICK_OUTER,
                                        TESELA_ORDER_INNER_PAIR, TESELA_ORDER_GENERIC_JAN26};
  if (tesela_device_from_order(layout, &host, orders[random_below(state, 4)], NULL, n, order,
                               random_below(state, 3) ? NULL : &padding, &err) != TESELA_OK)
    fail_msg("%s", err.message);
}

void random_program_layouts(random_program *p, uint64_t *state) {
  for (int32_t k = 0; k < tesela_graph_count(p->graph); k++) {
    const tesela_node *node = tesela_graph_node(p->graph, k);
    if (node->buffer != k) continue;
    tesela_device_layout layout;
    random_layout(&layout, &p->target, node->dtype, node->rank, node->shape, state);
    /* sometimes results like their operand, so that they can share places */
    for (int32_t o = 0; o < node->n_operands && random_below(state, 2); o++) {
      const tesela_node *from =
          tesela_graph_node(p->graph, tesela_graph_node(p->graph, node->operand[o])->buffer);
      tesela_device_layout like;
      if (!from->layout || from->rank != node->rank ||
          from->layout->host.device_bits != layout.host.device_bits ||
          memcmp(from->shape, node->shape, sizeof node->shape) != 0)
        continue;
      like = *from->layout;
      like.host.dtype = node->dtype;
      like.host.device_dtype = node->dtype;
      layout = like;
    }
    tesela_error err;
    if (tesela_graph_set_layout(p->graph, k, &layout, &err) != TESELA_OK) fail_msg("%s", err.message);
  }
}

/* ---- the places of elements ------------------------------------------------------------------------------------ */

int64_t random_place(const tesela_device_layout *layout, const int64_t *index, int64_t copy,
                     int64_t *copies) {
  struct oracle_device d = {.rank = layout->host.rank, .n = layout->n_dims};
  for (int32_t i = 0; i < layout->host.rank; i++) d.shape[i] = layout->host.shape[i];
  for (int32_t j = 0; j < layout->n_dims; j++)
    d.dim[j] = (struct oracle_device_dim){layout->dim[j].dim, layout->dim[j].step, layout->dim[j].extent,
                                          layout->dim[j].stride};
  if (copies) *copies = oracle_device_copies(&d);
  return oracle_device_place(&d, index, copy);
}

void random_buffer_index(const tesela_graph *graph, int32_t node, const int64_t *index,
                         int64_t *buffer_index) {
  const tesela_node *of = tesela_graph_node(graph, node), *buffer = tesela_graph_node(graph, of->buffer);
  int64_t element = of->offset;
  for (int32_t d = 0; d < of->rank; d++) element += index[d] * of->stride[d];
  for (int32_t d = buffer->rank - 1; d >= 0; d--) {
    buffer_index[d] = element % buffer->shape[d];
    element /= buffer->shape[d];
  }
}

bool random_operand_index(const tesela_graph *graph, int32_t node, int32_t k, const int64_t *iteration,
                          int64_t looked_up, int64_t *index) {
  tesela_index by[RANK];
  tesela_iteration it;
  assert_int_equal(tesela_graph_iteration(graph, node, &it, NULL), TESELA_OK);
  const tesela_node *of = tesela_graph_node(graph, node),
                    *x = k < 0 ? of : tesela_graph_node(graph, of->operand[k]);
  if (k >= 0) assert_int_equal(tesela_graph_operand_index(graph, node, k, by, NULL), TESELA_OK);
  for (int32_t d = 0; d < x->rank; d++) {
    int64_t t = 0;
    if (k < 0) {
      t = it.result[d] < 0 ? 0 : iteration[it.result[d]];
    } else {
      t = by[d].start + (by[d].dim[0] == TESELA_INDEX_LOOKUP ? looked_up : 0);
      for (int32_t i = 0; i < 2; i++)
        if (by[d].dim[i] >= 0) t += by[d].factor[i] * iteration[by[d].dim[i]];
      if (t < 0 || t % by[d].divide != 0) return false;
      t /= by[d].divide;
    }
    if (t >= x->shape[d]) return false;
    index[d] = t;
  }
  return true;
}
