/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file.h - tensors in files, for reading: raw bytes, .npy, .safetensors. The format is found from the first
 * bytes, not from the name.
 *
 *   tensor_file *file;
 *   tensor t;
 *   int status = tensor_file_open(cli, path, &file);
 *   if (status == CLI_YES) status = tensor_file_pick(cli, file, &(tensor_says){.layout = from, .option = "--from"}, &t);
 *   ... t.layout, t.data ...
 *   tensor_file_close(file);
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

/* The tensor of an open file that `entry` is; of NULL the one that `says` names, or the only one. */
int tensor_file_read(const cli_context *cli, const tensor_file *file, const tesela_file_tensor *entry,
                     const tensor_says *says, tensor *out);

/* How the command reads tensors, and how it says what went wrong; `layout` is the text that the command line gives. Exit
 * statuses. *own and *err live as long as the reading. */
tensor_reading tensor_said(const cli_context *cli, tesela_target *own, tesela_error *err, int *status);
int tensor_say(const cli_context *cli, const tensor_reading *r, const char *layout, tesela_status status);

/* A LAYOUT, or braces alone (`{1,0:T(8,128)}`), which take type and dims from `of` (NULL: only a whole LAYOUT will do).
 * Returns an exit status after saying what is wrong. `layout` may be NULL. */
int tensor_layout_text(const cli_context *cli, const char *text, const tesela_xla_shape *of,
                       tesela_xla_shape *shape, tesela_layout *layout);

bool tensor_name_ends(const char *name, const char *suffix);

/* Say an error about a file: "model.safetensors: ...". Returns CLI_BAD. */
int tensor_file_wrong(const cli_context *cli, const char *file_name, const char *format, ...)
    TESELA_PRINTF(3, 4);

#endif
