/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file.h - tensors in files, for reading: raw bytes, .npy, .safetensors. The format is found from the first
 * bytes, not from the name.
 *
 * If a file shrinks while it is mapped, or its device fails, the process says so, removes its unfinished output and exits
 * with CLI_FAILED (tensor_signals.c).
 *
 * Whatever a file holds, a function here says what is wrong with it and returns CLI_BAD; it never reads outside the
 * file. Every message names the file.
 */
#ifndef TESELA_CLI_TENSOR_FILE_H
#define TESELA_CLI_TENSOR_FILE_H

#include "main/options.h"
#include "tensor.h"

/* Open a file, "-" for standard input. Returns an exit status after saying why; then *file is NULL. */
int tensor_file_open(const cli_context *cli, const char *path, tensor_file **file);
void tensor_file_close(tensor_file *file); /* NULL is fine */

/* How the command reads tensors, and how it says what went wrong; `layout` is the text that the command line gives. Exit
 * statuses. *own and *err live as long as the reading. */
tensor_reading tensor_said(const cli_context *cli, tesela_target *own, tesela_error *err, int *status);
int tensor_say(const cli_context *cli, const tensor_reading *r, const char *layout, tesela_status status);

#endif
