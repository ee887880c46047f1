/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file_write.h - write tensors of one file in other layouts into another: what relayout, pack and unpack share.
 *
 * What a file can hold: raw bytes one tensor in any layout; .npy one without padding, in the order of its dims or the
 * reverse; .safetensors any number, and a layout that is not row-major is recorded in its metadata (safetensors.h).
 */
#ifndef TESELA_CLI_TENSOR_FILE_WRITE_H
#define TESELA_CLI_TENSOR_FILE_WRITE_H

#include "tensor_file_copy.h"

/* A tensor to be written. */
typedef struct tensor_item {
  const char *name;
  const tensor_entry *entry; /* where it comes from */
  bool as_is;                /* bytes, type and recorded layout stay */
  tesela_xla_shape to;       /* else: the layout it gets */
} tensor_item;

typedef struct tensor_job {
  const cli_context *cli;
  const tensor_file *in;
  tensor_says says; /* about every item that is not as_is */
  const char *path; /* of the output, "-" for standard output */
  tensor_format format;
  const char *fill;           /* --fill */
  tesela_transform transform; /* on the way */
  int64_t n;
  tensor_item *item;
} tensor_job;

/* Is a tensor recorded in another layout than unpack gives it? One that is row-major stays recorded where the file has
 * no type for it. */
bool tensor_is_packed(const tensor_entry *entry);

/* Can the one shape become the other? `what` gave `to`: "--to". Returns an exit status after saying why not. */
int tensor_check_pair(const cli_context *cli, const char *what, const tesela_xla_shape *from,
                      const tesela_xla_shape *to, tesela_transform transform);

/* Is a file of this name expected in a format that is not written here: "x.npz"? */
bool tensor_name_is_foreign(const char *path);

/* The format that a path and --format ask for; false after saying why not. */
bool tensor_output_format(const cli_context *cli, const char *path, tensor_format *format);

/* The type of elements that have their ordinary width; NULL if .safetensors has none. */
const char *tensor_type_in_safetensors(const tesela_xla_shape *shape, const tesela_layout *layout);

/* Are the elements row-major, or with `fortran` the reverse, and is nothing else there? */
bool tensor_is_dense(const tesela_layout *layout, bool fortran);

/* Do it, and with --json say what was done. Returns an exit status after saying why. */
int tensor_write(const tensor_job *job);

#endif
