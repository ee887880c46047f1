/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_native.c - a tensor from a file as the machine has it.
 */
#include "tensor_native.h"

#include <inttypes.h>
#include <stdlib.h>

#include "main/say.h"

/* A copy with the bytes of each number reversed; both halves of a complex one are numbers. */
static uint8_t *swap(const tensor *t) {
  int64_t width = t->layout.bits / 8;
  if (tesela_dtype_family_of(t->layout.dtype) == TESELA_FAMILY_COMPLEX) width /= 2;
  uint8_t *copy = malloc(t->bytes > 0 ? (size_t)t->bytes : 1);
  for (int64_t i = 0; copy && i + width <= t->bytes; i += width)
    for (int64_t b = 0; b < width; b++) copy[i + b] = t->data[i + width - 1 - b];
  return copy;
}

int tensor_native_read(const cli_context *cli, const tensor_file *file, const tesela_file_tensor *entry,
                       const tensor_says *says, tensor_native *t) {
  *t = (tensor_native){0};
  int status = entry ? tensor_file_read(cli, file, entry, says, &t->tensor)
                     : tensor_file_pick(cli, file, says, &t->tensor);
  if (status != CLI_YES) return status;
  t->data = t->tensor.data;
  if (!t->tensor.swapped) return CLI_YES;
  t->data = t->swapped = swap(&t->tensor);
  if (t->swapped) return CLI_YES;
  say_error(cli, "no memory for %" PRId64 " bytes", t->tensor.bytes);
  return CLI_FAILED;
}

void tensor_native_free(tensor_native *t) {
  free(t->swapped);
  *t = (tensor_native){0};
}

bool tensor_native_goes_through(const tensor_file *file, const tensor_says *says) {
  return file->info.n_tensors > 1 && !says->name;
}
