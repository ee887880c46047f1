/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_native.h - values of tensors in files: as the machine has them, compared, and against a dump of device memory.
 */
#ifndef TESELA_OPS_TENSOR_NATIVE_H
#define TESELA_OPS_TENSOR_NATIVE_H

#include <tesela/device.h>

#include "tensor.h"

typedef struct tensor_native {
  tensor tensor;
  uint8_t
      *swapped; /* the data with the bytes of each number reversed, if the file has them in the other order */
  const uint8_t *data; /* place 0, in this machine's order */
} tensor_native;

/* As tensor_read. After a failure there is nothing to free. */
tesela_status tensor_native_read(tensor_reading *r, const tensor_file *file, const tesela_file_tensor *entry,
                                 const tensor_says *says, tensor_native *t);
void tensor_native_free(tensor_native *t);

/* The digest of the values as 32 hexadecimal digits. */
tesela_status tensor_digest(tensor_reading *r, const tensor_file *file, const tensor_native *t, char hex[33]);

/* Two files and what the caller gives about them. */
typedef struct tensor_pair {
  const tensor_file *a, *b;
  tensor_says says_a, says_b;
} tensor_pair;

typedef struct tensor_comparison {
  tensor_native a, b;
  tesela_values_difference d;
  int64_t elements;
} tensor_comparison;

/* Are all tensors compared, by name? Else the two that are named, or the only ones. */
bool tensor_pair_all(const tensor_pair *p);

/* Iterate over the names in either file; *i starts at 0. *a and *b receive the tensors with that name, NULL where a file lacks
 * it. Returns false after the last name. */
bool tensor_pair_next(const tensor_pair *p, int64_t *i, const tesela_file_tensor **a,
                      const tesela_file_tensor **b);

/* Entries as in tensor_native_read. After a failure there is nothing to free. */
tesela_status tensor_compare(tensor_reading *r, const tensor_pair *p, const tesela_file_tensor *a,
                             const tesela_file_tensor *b, tensor_comparison *c);
void tensor_comparison_free(tensor_comparison *c);

/* Does a dump of device memory hold, in that layout, the tensor of `host` that the fields from and tensor of r->q give? */
tesela_status tensor_verify(tensor_reading *r, const tesela_device_layout *layout, const tensor_file *dump,
                            const tensor_file *host, tesela_misplaced *misplaced);

#endif
