/* SPDX-License-Identifier: Apache-2.0 */
/* propagate_layout.c - the layout of a buffer for each stick it can have. */
#include "graph/propagate/propagate.h"

tesela_status tesela_propagation_layout(const tesela_propagation *p, int32_t node, int32_t stick,
                                        tesela_device_layout *layout, tesela_error *err) {
  TESELA__NEED(err, p, layout);
  const tesela_node *tensor = tesela_graph_node(p->graph, node);
  if (tensor == NULL || node >= p->count || p->family[tensor->buffer] < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "node %d has no buffer with a layout", node);
  const tesela__family *family = tesela__family_of(p, tensor->buffer);
  int32_t chosen = p->chosen[tensor->buffer]; /* a given layout may have the stick of another candidate */
  if (chosen >= 0 && family->stick[chosen] == stick) {
    *layout = family->layout[chosen];
    return TESELA_OK;
  }
  for (int32_t k = 0; k < family->n; k++)
    if (family->stick[k] == stick) {
      *layout = family->layout[k];
      return TESELA_OK;
    }
  return tesela__fail(err, TESELA_E_RANGE, -1, "%s has no layout with stick %d", tensor->name, stick);
}
