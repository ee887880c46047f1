/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels_table.c - the table of kernels: one line each in kernels.inc.
 */
#include "kernels/kernels.h"

#define TESELA__TYPE_TESELA__K_COPY tesela__rows_fn
#define TESELA__TYPE_TESELA__K_INTERLEAVE tesela__rows_fn
#define TESELA__TYPE_TESELA__K_DEINTERLEAVE tesela__rows_fn
#define TESELA__TYPE_TESELA__K_STRIDED tesela__rows_fn
#define TESELA__TYPE_TESELA__K_STRIDED_BITS tesela__rows_fn
#define TESELA__TYPE_TESELA__K_COPY_BITS tesela__rows_fn
#define TESELA__TYPE_TESELA__K_SLICE tesela__rows_fn
#define TESELA__TYPE_TESELA__K_PERMUTE tesela__rows_fn
#define TESELA__TYPE_TESELA__K_PERMUTE_BITS tesela__rows_fn
#define TESELA__TYPE_TESELA__K_UNSLICE tesela__rows_fn
#define TESELA__TYPE_TESELA__K_TRANSPOSE tesela__transpose_fn
#define TESELA__TYPE_TESELA__K_CONVERT tesela__convert_fn
#define TESELA__TYPE_TESELA__K_BIT_BLOCK tesela__bit_block_fn
#define TESELA__TYPE_TESELA__K_BIT_TRANSPOSE tesela__bit_transpose_fn
#define TESELA__TYPE_TESELA__K_STREAM tesela__stream_fn
#define TESELA__TYPE_TESELA__K_STREAM_ROWS tesela__stream_rows_fn

#define TESELA__KERNEL(fn, isa, kind, width, k, block) extern TESELA__TYPE_##kind fn;
#define TESELA__CONVERTER(fn, isa, width) \
  extern tesela__convert_fn fn;           \
  extern tesela__rows_fn fn##_rows;
#include "kernels/kernels.inc"
#undef TESELA__KERNEL
#undef TESELA__CONVERTER

static const tesela__kernel kernel_table[] = {
#define TESELA__KERNEL(fn, isa, kind, width, k, block) \
  {#fn, (tesela__any_fn *)fn, isa, kind, width, k, block, NULL},
#define TESELA__CONVERTER(fn, isa, width) \
  {#fn, (tesela__any_fn *)fn, isa, TESELA__K_CONVERT, width, 0, 0, fn##_rows},
#include "kernels/kernels.inc"
#undef TESELA__KERNEL
#undef TESELA__CONVERTER
};

const tesela__kernel *tesela__kernels(int32_t *n) {
  *n = (int32_t)(sizeof kernel_table / sizeof kernel_table[0]);
  return kernel_table;
}

const tesela__kernel *tesela__kernel_find(tesela__kernel_kind kind, int32_t width, int32_t k, unsigned isa) {
  for (size_t i = sizeof kernel_table / sizeof kernel_table[0];
       i-- > 0;) { /* the last one that suits is the best */
    const tesela__kernel *row = &kernel_table[i];
    if (row->kind == kind && row->width == width && (row->k == 0 || row->k == k) && !(row->isa & ~isa))
      return row;
  }
  return NULL;
}

void tesela__fence(void) {
#if TESELA__X86
  __builtin_ia32_sfence();
#endif
}
