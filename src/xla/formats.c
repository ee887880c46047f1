/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats.c - the seven formats of XLA's tiled-layout document, in its order.
 */
#include "xla/xla.h"

#include "base/base.h"

static const tesela_xla_format xla_formats[] = {
    {.name = "untiled",
     .example = "f32[3,5]{1,0}",
     .tiles = "",
     .use = "Row-major or column-major by the order of the dims; every other format builds on it."},
    {.name = "8x128",
     .example = "f32[20,200]{1,0:T(8,128)}",
     .tiles = "T(8,128)",
     .use = "The usual format for 32-bit types: a tile of 8 rows of 128 elements fills a vector register."},
    {.name = "small tile",
     .example = "f32[3,200]{1,0:T(4,128)}",
     .tiles = "T(4,128)",
     .use = "1x128, 2x128 or 4x128 when the second most minor dim is short, for less padding."},
    {.name = "16-bit",
     .example = "bf16[20,200]{1,0:T(8,128)(2,1)}",
     .tiles = "T(8,128)(2,1)",
     .use = "Two elements of a column are adjacent and share a 32-bit word."},
    {.name = "alternative 16-bit",
     .example = "bf16[20,200]{1,0:T(8,128)(2,1,1,1)}",
     .tiles = "T(8,128)(2,1,1,1)",
     .use = "Elements at the same place of two vertically adjacent tiles share a 32-bit word."},
    {.name = "8-bit",
     .example = "s8[20,200]{1,0:T(8,128)(4,1)}",
     .tiles = "T(8,128)(4,1)",
     .use = "Four elements of a column share a 32-bit word."},
    {.name = "1-bit",
     .example = "pred[40,200]{1,0:T(32,128)(32,1)E(1)}",
     .tiles = "T(32,128)(32,1)",
     .use = "Thirty-two elements of a column share a 32-bit word; an unpacked pred takes one byte or four."},
};

const tesela_xla_format *tesela_xla_formats(int32_t *n) {
  if (n) *n = (int32_t)(sizeof xla_formats / sizeof xla_formats[0]);
  return xla_formats;
}
