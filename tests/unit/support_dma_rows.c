/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_dma_rows.c - see support_dma_rows.h.
 */
#include "support_dma_rows.h"

tesela_dma *dma_make(const dma_case *c, const tesela_dma_options *options) {
  tesela_dma *dma = NULL;
  DMA_OK(tesela_dma_create(&dma, &c->layout, c->stride, c->offset, options, &e_));
  return dma;
}

dma_case dma_sticks(int64_t rows, int64_t columns, int64_t lanes) {
  dma_case c = {
      .oracle = {.rank = 2,
                 .shape = {rows, columns},
                 .n = 3,
                 .dim = {{1, lanes, (columns + lanes - 1) / lanes, 0}, {0, 1, rows, 0}, {1, 1, lanes, 0}}},
      .stride = {columns, 1}};
  dma_case_layout(&c, -1, 2);
  return c;
}

void dma_check_text(const tesela_dma *dma, int32_t nest, const char *expected) {
  char text[1024];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  if (nest < 0)
    DMA_OK(tesela_dma_print(dma, &to, &e_));
  else
    DMA_OK(tesela_dma_print_tuples(tesela_dma_nest(dma, nest), &to, &e_));
  assert_string_equal(text, expected);
}
