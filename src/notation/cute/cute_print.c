/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cute_print.c - a CuTe layout as text: ((2,2),(4,2)):((4,16),(1,8)).
 */
#include "cute/cute_value.h"

static void cute_put_stride(tesela__sink *sink, const tesela_cute *cute, int32_t i) {
  if (cute->extent[i] == 1) {
    tesela__putc(sink, '0');
    return;
  }
  tesela__put_int(sink, cute->stride[i]);
  for (int32_t k = 0; k < cute->n_path[i]; k++) tesela__putf(sink, "@%u", (unsigned)cute->path[i][k]);
}

/* The extents, or the strides, in their brackets. */
static void cute_put_tuple(tesela__sink *sink, const tesela_cute *cute, bool strides) {
  if (cute->n == 0) tesela__puts(sink, "()");
  for (int32_t i = 0; i < cute->n; i++) {
    if (i > 0) tesela__putc(sink, ',');
    for (int32_t k = 0; k < cute->open[i]; k++) tesela__putc(sink, '(');
    if (strides)
      cute_put_stride(sink, cute, i);
    else
      tesela__put_int(sink, cute->extent[i]);
    for (int32_t k = 0; k < cute->close[i]; k++) tesela__putc(sink, ')');
  }
}

tesela_status tesela_cute_print(const tesela_cute *cute, const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, cute, to);
  tesela__sink sink;
  if (tesela__cute_check(cute, err) != TESELA_OK) return TESELA_E_INVALID;
  tesela__sink_init(&sink, to);
  if (cute->bits > 0)
    tesela__putf(&sink, "Sw<%" PRId32 ",%" PRId32 ",%" PRId32 "> o %" PRId64 " o ", cute->bits, cute->base,
                 cute->shift, cute->offset);
  else if (cute->offset != 0)
    tesela__putf(&sink, "Sw<0,0,0> o %" PRId64 " o ", cute->offset);
  cute_put_tuple(&sink, cute, false);
  tesela__putc(&sink, ':');
  cute_put_tuple(&sink, cute, true);
  return tesela__sink_finish(&sink, err);
}
