/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_dma_rows.h - cases and nests written by hand.
 */
#ifndef TESELA_TESTS_SUPPORT_DMA_ROWS_H
#define TESELA_TESTS_SUPPORT_DMA_ROWS_H

#include "support_dma.h"

tesela_dma *dma_make(const dma_case *c, const tesela_dma_options *options);

/* A case of rank 2 in sticks along dim 1: blocks, rows, lanes. */
dma_case dma_sticks(int64_t rows, int64_t columns, int64_t lanes);
void dma_check_text(const tesela_dma *dma, int32_t nest, const char *expected);

#endif
