/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_native.h - a tensor from a file as the machine has it, for verbs that look at values.
 */
#ifndef TESELA_CLI_TENSOR_NATIVE_H
#define TESELA_CLI_TENSOR_NATIVE_H

#include "tensor_file.h"

typedef struct tensor_native {
  tensor tensor;
  uint8_t
      *swapped; /* the data with the bytes of each number reversed, if the file has them in the other order */
  const uint8_t *data; /* place 0, in this machine's order */
} tensor_native;

/* The tensor of an open file that `entry` is; of NULL the one that `says` names, or the only one. Returns an exit status
 * after saying why; then there is nothing to free. */
int tensor_native_read(const cli_context *cli, const tensor_file *file, const tesela_file_tensor *entry,
                       const tensor_says *says, tensor_native *t);
void tensor_native_free(tensor_native *t);

/* Does a verb that looks at values go through the tensors of a file: several, and none is named? */
bool tensor_native_goes_through(const tensor_file *file, const tensor_says *says);

#endif
