/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file_write.h - write tensors of one file in other layouts into another: what relayout, pack and unpack share.
 * tesela_file_write does it.
 */
#ifndef TESELA_CLI_TENSOR_FILE_WRITE_H
#define TESELA_CLI_TENSOR_FILE_WRITE_H

#include <tesela/relayout.h>

#include "tensor_file.h"

/* A tensor to be written. */
typedef struct tensor_item {
  const char *name;
  const tesela_file_tensor *entry; /* where it comes from */
  bool as_is;                      /* bytes, type and recorded layout stay */
  tesela_xla_shape to;             /* else: the layout it gets */
} tensor_item;

typedef struct tensor_job {
  const cli_context *cli;
  const tensor_file *in;
  tensor_says says; /* about every item that is not as_is */
  const char *path; /* of the output, "-" for standard output */
  tesela_file_format format;
  tesela_transform transform; /* on the way */
  int64_t n;
  tensor_item *item;
} tensor_job;

/* Is a tensor recorded in another layout than unpack gives it? One that is row-major stays recorded where the file has
 * no type for it. */
bool tensor_is_packed(const tesela_file_tensor *entry);

/* Can the one shape become the other? `what` gave `to`: "--to". Returns an exit status after saying why not. */
int tensor_check_pair(const cli_context *cli, const char *what, const tesela_xla_shape *from,
                      const tesela_xla_shape *to, tesela_transform transform);

/* Is a file of this name expected in a format that is not written here: "x.npz"? */
bool tensor_name_is_foreign(const char *path);

/* The format that a path and --format ask for; false after saying why not. */
bool tensor_output_format(const cli_context *cli, const char *path, tesela_file_format *format);

/* Do it, and with --json say what was done. Returns an exit status after saying why. */
int tensor_write(const tensor_job *job);

#endif
